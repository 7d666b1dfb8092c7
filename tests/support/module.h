/* module.h - modules of emulated kernels, which tests open by themselves. */
#ifndef TCGEMM_TESTS_MODULE_H
#define TCGEMM_TESTS_MODULE_H

/* The module at that place below the build (TCGEMM_BUILD_DIR, or build): "tests/emulate-golden.so".
 * NULL, having said why. */
void *module_of_build(const char *place);

/* The kernels of sm_90: in the folder TCGEMM_EMULATOR, or those of the build. */
void *module_of_sm90(void);

#endif
