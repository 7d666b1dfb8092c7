/* sve256.c - kernels for SVE with vectors of 256 bits (Neoverse V1). */
#define SVE_BITS         256
#define SVE_NAME(family) tcgemm_tile_sve256_##family
#include "cpu/kernels/sve_tmpl.h"
