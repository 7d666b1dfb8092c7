/* arch_smem.h - bytes of shared memory that one block may ask for, by compute capability (CUDA C++
 * Programming Guide, "Compute Capabilities"). For host and device: kernels are stamped by it. */
#ifndef TCGEMM_DEVICE_ARCH_SMEM_H
#define TCGEMM_DEVICE_ARCH_SMEM_H

/* cc: 10 x compute capability */
#define TCGEMM_SMEM_OF_CC(cc)                                                                      \
    ((cc) < 75                                 ? 96 * 1024                                         \
     : (cc) < 80                               ? 64 * 1024                                         \
     : (cc) == 86 || (cc) == 89 || (cc) >= 120 ? 99 * 1024                                         \
     : (cc) < 90                               ? 163 * 1024                                        \
                                               : 227 * 1024)

#endif
