/* shared.cuh - static shared memory, by a word that the emulator can take differently: there a
 * variable of a function would be each thread's own (src/emulate/device). */
#ifndef TCGEMM_PTX_SHARED_CUH
#define TCGEMM_PTX_SHARED_CUH

#define TCGEMM_SHARED_ARRAY(type, name, count) __shared__ type name[count]

#endif
