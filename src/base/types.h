/* types.h - constants of the types, from types.def: for tables that the compiler fills in. */
#ifndef TCGEMM_BASE_TYPES_H
#define TCGEMM_BASE_TYPES_H

#include "tcgemm/tcgemm.h"

/* TCGEMM_ID_f16_f32 is TCGEMM_F16_F32. */
enum {
#define TYPE(ID, name, a, b, accumulator, d, scalar, rate, cpu, bound, along, across, store)       \
    TCGEMM_ID_##name = TCGEMM_##ID,
#include "base/types.def"
};

enum {
#define TYPE(ID, name, a, b, accumulator, d, scalar, rate, cpu, bound, along, across, store)       \
    TCGEMM_COUNTED_##ID,
#include "base/types.def"
    TCGEMM_NUM_TYPES
};

/* Bits of an element of each dtype. */
enum {
    TCGEMM_BITS_F64 = 64,
    TCGEMM_BITS_F32 = 32,
    TCGEMM_BITS_F16 = 16,
    TCGEMM_BITS_BF16 = 16,
    TCGEMM_BITS_E4M3 = 8,
    TCGEMM_BITS_E5M2 = 8,
    TCGEMM_BITS_S32 = 32,
    TCGEMM_BITS_S8 = 8,
    TCGEMM_BITS_U8 = 8,
    TCGEMM_BITS_S4 = 4,
    TCGEMM_BITS_U4 = 4,
    TCGEMM_BITS_B1 = 1
};

/* TCGEMM_INPUT_BITS_f16_f32: of an element of A and B. */
enum {
#define TYPE(ID, name, a, b, accumulator, d, scalar, rate, cpu, bound, along, across, store)       \
    TCGEMM_INPUT_BITS_##name = TCGEMM_BITS_##a,
#include "base/types.def"
};

/* A set of types: bit (type - 1). */
#define TCGEMM_TYPE_BIT(type) (UINT64_C(1) << ((type)-1))
#define TCGEMM_TYPES_ALL      ((UINT64_C(1) << TCGEMM_NUM_TYPES) - 1)

#endif
