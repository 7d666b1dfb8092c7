/* packing.c - see packing.h. */
#include "cpu/packing.h"

#include "cpu/panel.h"

static bool is_signed_input(tcgemm_dtype_t dtype) {
    return dtype == TCGEMM_DTYPE_S8 || dtype == TCGEMM_DTYPE_S4;
}

tcgemm_signs_t tcgemm_signs_of(const tcgemm_canonical_t *g, tcgemm_family_t family) {
    tcgemm_signs_t x = {.a_is_signed = is_signed_input(g->a.dtype),
                        .b_is_signed = is_signed_input(g->b.dtype)};
    if (family == TCGEMM_FAMILY_U8S8) {
        x.za = is_signed_input(g->a.dtype) ? 128 : 0;
        x.zb = g->b.dtype == TCGEMM_DTYPE_U8 ? 128 : 0; /* a u4 fits in an s8 as it is */
        x.flip_a = (uint8_t)x.za;
        x.flip_b = (uint8_t)x.zb;
        x.use_a_terms = x.zb != 0;
        x.use_b_terms = x.za != 0;
    } else if (family == TCGEMM_FAMILY_I8X4 && x.a_is_signed != x.b_is_signed) {
        x.za = x.a_is_signed ? 0 : 0u - 128u;
        x.zb = x.b_is_signed ? 0 : 128;
        x.flip_a = (uint8_t)x.za;
        x.flip_b = (uint8_t)x.zb;
        x.use_a_terms = x.zb != 0;
        x.use_b_terms = x.za != 0;
        x.a_is_signed = x.b_is_signed = true;
    } else if (family == TCGEMM_FAMILY_B1 && (g->flags & TCGEMM_FLAG_XOR)) {
        x.use_a_terms = x.use_b_terms = true;
    }
    return x;
}

tcgemm_pack_t tcgemm_pack_of_a(const tcgemm_canonical_t *g, tcgemm_family_t family,
                               const tcgemm_signs_t *signs, const void *source, int64_t offset,
                               const tcgemm_cpu_block_t *block) {
    return (tcgemm_pack_t){
        .source = source,
        .dtype = g->a.dtype,
        .round_to_tf32 = g->type->type == TCGEMM_TF32_F32,
        .origin = offset + block->row * g->a.row_stride + block->k * g->a.col_stride,
        .line_stride = g->a.row_stride,
        .k_stride = g->a.col_stride,
        .k = block->ks,
        .flip = signs->flip_a,
        .sum_is_signed = family == TCGEMM_FAMILY_I8X4,
        .sum_factor = family == TCGEMM_FAMILY_B1 ? 1u : signs->zb,
        .sum_offset = 0,
    };
}

tcgemm_pack_t tcgemm_pack_of_b(const tcgemm_canonical_t *g, tcgemm_family_t family,
                               const tcgemm_signs_t *signs, const void *source, int64_t offset,
                               const tcgemm_cpu_block_t *block) {
    return (tcgemm_pack_t){
        .source = source,
        .dtype = g->b.dtype,
        .round_to_tf32 = g->type->type == TCGEMM_TF32_F32,
        .origin = offset + block->k * g->b.row_stride + block->col * g->b.col_stride,
        .line_stride = g->b.col_stride,
        .k_stride = g->b.row_stride,
        .k = block->ks,
        .is_b = true,
        .flip = signs->flip_b,
        .sum_is_signed = true,
        .sum_factor = family == TCGEMM_FAMILY_B1 ? 1u : 0u - signs->za,
        .sum_offset = 0u - (uint32_t)block->ks * signs->za * signs->zb,
    };
}

int tcgemm_panels_at_once(const tcgemm_cpu_ukernel_t *u, const tcgemm_pack_t *pack) {
    const bool is_avx2 = tcgemm_is_avx2(u);
    if (pack->is_b || pack->k_stride == 1 || !(tcgemm_can_copy(u) || is_avx2))
        return 1;
    /* Panels of AVX2 are half as many lines, so twice as many of f32 fill two lines of memory; its
     * bytes are not packed as they are. */
    switch (u->family) {
    case TCGEMM_FAMILY_F32:
        return is_avx2 ? 8 : 4;
    case TCGEMM_FAMILY_F64:
        return 4;
    case TCGEMM_FAMILY_BF16:
        return pack->dtype == TCGEMM_DTYPE_BF16 ? 4 : 1;
    case TCGEMM_FAMILY_U8S8:
        return !is_avx2 && tcgemm_dtype_bits(pack->dtype) == 8 ? 8 : 1;
    default:
        return 1;
    }
}

tcgemm_call_t tcgemm_item_output(const tcgemm_canonical_t *g, const tcgemm_call_t *call,
                                 int64_t item) {
    const int bytes = tcgemm_dtype_bits(g->type->d) / 8;
    tcgemm_call_t one = *call;
    one.d = tcgemm_element_at(call->d, item * g->stride_d, bytes);
    if (call->c)
        one.c = tcgemm_element_at(call->c, item * g->stride_c, bytes);
    return one;
}
