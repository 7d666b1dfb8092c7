/* version.c - which library this is. */
#include "tcgemm/tcgemm.h"

#include "tcgemm_build_config.h" /* made by the build */

#define TEXT_(x) #x
#define TEXT(x)  TEXT_(x)
#define VERSION                                                                                    \
    TEXT(TCGEMM_VERSION_MAJOR) "." TEXT(TCGEMM_VERSION_MINOR) "." TEXT(TCGEMM_VERSION_PATCH)

int tcgemm_version(void) {
    return 10000 * TCGEMM_VERSION_MAJOR + 100 * TCGEMM_VERSION_MINOR + TCGEMM_VERSION_PATCH;
}

const char *tcgemm_version_string(void) {
    return VERSION;
}

const char *tcgemm_build_info(void) {
    return "tcgemm " VERSION "\n"
           "commit    " TCGEMM_BUILD_COMMIT "\n"
           "compiler  " TCGEMM_BUILD_COMPILER ", " TCGEMM_BUILD_TYPE "\n"
           "cpu       any"
#ifdef TCGEMM_X86
           ", avx2, avx_vnni, avx512 (f, bw, dq, vl), avx512_bf16, avx512_vnni, avx512_vpopcntdq"
           ", amx_bf16, amx_int8, amx_fp16"
#elif defined(TCGEMM_ARM)
           ", neon, dotprod, i8mm, bf16, sve256, sve512"
#endif
           "\n"
           "cuda      " TCGEMM_BUILD_CUDA "\n"
           "licence   MIT\n";
}
