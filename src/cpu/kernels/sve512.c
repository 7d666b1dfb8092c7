/* sve512.c - kernels for SVE with vectors of 512 bits (A64FX). */
#define SVE_BITS         512
#define SVE_NAME(family) tcgemm_tile_sve512_##family
#include "cpu/kernels/sve_tmpl.h"
