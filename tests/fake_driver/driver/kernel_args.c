/* kernel_args.c - see kernel_args.h. */
#include "fake_driver/driver/kernel_args.h"

#include <string.h>

#include "fake_driver/driver/state.h"
#include "gpu/measured.h"
#include "table/table.h"

enum { MOVE_THREADS = 256, PEAK_THREADS = 256 };

/* ---- names ---- */

typedef struct step {
    const char *name;
    kernel_kind_t kind;
    const char *module;
    tcgemm_dtype_t a, d;
    int min_cc;
} step_t;

static const step_t steps[] = {
    {"tcgemm_scale_f64", KERNEL_SCALE, "scale", TCGEMM_DTYPE_F64, TCGEMM_DTYPE_F64, 0},
    {"tcgemm_scale_f32", KERNEL_SCALE, "scale", TCGEMM_DTYPE_F32, TCGEMM_DTYPE_F32, 0},
    {"tcgemm_scale_f16", KERNEL_SCALE, "scale", TCGEMM_DTYPE_F16, TCGEMM_DTYPE_F16, 0},
    {"tcgemm_scale_bf16", KERNEL_SCALE, "scale", TCGEMM_DTYPE_BF16, TCGEMM_DTYPE_BF16, 0},
    {"tcgemm_scale_s32", KERNEL_SCALE, "scale", TCGEMM_DTYPE_S32, TCGEMM_DTYPE_S32, 0},
    {"tcgemm_pack_8", KERNEL_PACK, "pack", TCGEMM_DTYPE_U8, TCGEMM_DTYPE_U8, 0},
    {"tcgemm_pack_16", KERNEL_PACK, "pack", TCGEMM_DTYPE_F16, TCGEMM_DTYPE_F16, 0},
    {"tcgemm_pack_32", KERNEL_PACK, "pack", TCGEMM_DTYPE_S32, TCGEMM_DTYPE_S32, 0},
    {"tcgemm_pack_64", KERNEL_PACK, "pack", TCGEMM_DTYPE_F64, TCGEMM_DTYPE_F64, 0},
    {"tcgemm_widen_e4m3", KERNEL_WIDEN, "pack", TCGEMM_DTYPE_E4M3, TCGEMM_DTYPE_BF16, 0},
    {"tcgemm_widen_e5m2", KERNEL_WIDEN, "pack", TCGEMM_DTYPE_E5M2, TCGEMM_DTYPE_BF16, 0},
    {"tcgemm_turn_8", KERNEL_TURN, "pack", TCGEMM_DTYPE_U8, TCGEMM_DTYPE_U8, 0},
    {"tcgemm_turn_16", KERNEL_TURN, "pack", TCGEMM_DTYPE_F16, TCGEMM_DTYPE_F16, 90},
    {"tcgemm_turn_32", KERNEL_TURN, "pack", TCGEMM_DTYPE_S32, TCGEMM_DTYPE_S32, 0},
    {"tcgemm_reduce_f64", KERNEL_REDUCE, "reduce", TCGEMM_DTYPE_F64, TCGEMM_DTYPE_F64, 0},
    {"tcgemm_reduce_f32", KERNEL_REDUCE, "reduce", TCGEMM_DTYPE_F32, TCGEMM_DTYPE_F32, 0},
    {"tcgemm_reduce_f16", KERNEL_REDUCE, "reduce", TCGEMM_DTYPE_F32, TCGEMM_DTYPE_F16, 0},
    {"tcgemm_reduce_bf16", KERNEL_REDUCE, "reduce", TCGEMM_DTYPE_F32, TCGEMM_DTYPE_BF16, 80},
    {"tcgemm_reduce_s32", KERNEL_REDUCE, "reduce", TCGEMM_DTYPE_S32, TCGEMM_DTYPE_S32, 0},
    {"tcgemm_peak_f16", KERNEL_PEAK, "peak", TCGEMM_DTYPE_F16, TCGEMM_DTYPE_F16, 0},
    {"tcgemm_peak_s8", KERNEL_PEAK, "peak", TCGEMM_DTYPE_S8, TCGEMM_DTYPE_S8, 0},
    {"tcgemm_peak_bf16", KERNEL_PEAK, "peak", TCGEMM_DTYPE_BF16, TCGEMM_DTYPE_BF16, 80},
    {"tcgemm_peak_tf32", KERNEL_PEAK, "peak", TCGEMM_DTYPE_F32, TCGEMM_DTYPE_F32, 80},
    {"tcgemm_peak_f64", KERNEL_PEAK, "peak", TCGEMM_DTYPE_F64, TCGEMM_DTYPE_F64, 0},
    {"tcgemm_peak_f32", KERNEL_PEAK, "peak", TCGEMM_DTYPE_F32, TCGEMM_DTYPE_F32, 0},
};

static bool find_step(const char *name, kernel_t *kernel) {
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; ++i) {
        if (strcmp(steps[i].name, name) != 0)
            continue;
        kernel->kind = steps[i].kind;
        kernel->module = steps[i].module;
        kernel->a = steps[i].a;
        kernel->d = steps[i].d;
        kernel->registers = 32;
        kernel->min_cc = steps[i].min_cc;
        return true;
    }
    return false;
}

/* True if `name` is "<entry>_nn", "_nt", "_tn" or "_tt". */
static bool is_entry(const char *name, const char *entry, kernel_t *kernel) {
    const size_t length = strlen(entry);
    if (strncmp(name, entry, length) != 0 || strlen(name) != length + 3 || name[length] != '_')
        return false;
    kernel->a_trans = name[length + 1] == 't';
    kernel->b_trans = name[length + 2] == 't';
    return true;
}

bool kernel_of_name(const char *name, kernel_t *kernel) {
    memset(kernel, 0, sizeof *kernel);
    if (find_step(name, kernel))
        return true;
    for (int i = 0; i < tcgemm_num_kernels(); ++i) {
        const tcgemm_gpu_row_t *row = tcgemm_kernel_at(i)->gpu;
        if (!row || !is_entry(name, row->entry, kernel))
            continue;
        const tcgemm_type_info_t *type = tcgemm_type_info(row->code);
        kernel->kind = KERNEL_PRODUCT;
        kernel->module = row->module;
        kernel->row = row;
        kernel->registers = tcgemm_gpu_registers_of(tcgemm_kernel_at(i));
        kernel->a = type->a;
        kernel->b = type->b;
        kernel->d = type->d;
        kernel->min_cc = row->min_cc;
        return true;
    }
    return false;
}

/* A kernel that streams an operand serves two rows: which, and what A and B are, its arguments say;
 * its name, how the large operand lies, which the type's A is. */
kernel_t kernel_as_called(const kernel_t *named, const kernel_params_t *params) {
    const tcgemm_gpu_args_t *x = &params->product;
    kernel_t k = *named;
    if (k.kind != KERNEL_PRODUCT || !k.row->streams)
        return k;
    const tcgemm_streams_t streams = x->streams_a ? TCGEMM_STREAMS_A : TCGEMM_STREAMS_B;
    for (int i = 0; i < tcgemm_num_kernels(); ++i) {
        const tcgemm_gpu_row_t *row = tcgemm_kernel_at(i)->gpu;
        if (row && row->streams == streams && strcmp(row->entry, k.row->entry) == 0)
            k.row = row;
    }
    const uint32_t in_k = k.b_trans; /* _nt: k is contiguous */
    k.a_trans = x->streams_a ? !in_k : x->a_trans;
    k.b_trans = x->streams_a ? x->b_trans : in_k;
    k.a = x->streams_a ? named->a : named->b;
    k.b = x->streams_a ? named->b : named->a;
    return k;
}

/* ---- parameters ---- */

bool kernel_packs(const kernel_t *kernel) {
    return kernel->kind == KERNEL_PACK || kernel->kind == KERNEL_WIDEN ||
           kernel->kind == KERNEL_TURN;
}

void kernel_take_params(const kernel_t *kernel, void *const *array, kernel_params_t *params) {
    memset(params, 0, sizeof *params);
    if (kernel->kind == KERNEL_PEAK) {
        memcpy(&params->peak.steps, array[0], sizeof params->peak.steps);
        memcpy(&params->peak.never, array[1], sizeof(void *));
    } else {
        memcpy(params, array[0],
               kernel_packs(kernel)                      ? sizeof params->packing
               : kernel->row && kernel->row->tensor_maps ? sizeof params->with_maps
                                                         : sizeof params->product);
    }
}

static size_t size_of(tcgemm_dtype_t dtype) {
    return (size_t)tcgemm_dtype_bits(dtype) / 8;
}

static size_t span(tcgemm_dtype_t dtype, int64_t lines, int64_t length, int64_t ld, int64_t batch,
                   int64_t stride) {
    return (size_t)((batch - 1) * stride + (lines - 1) * ld + length) * size_of(dtype);
}

static int packing_operands(const kernel_t *kernel, tcgemm_pack_args_t *all,
                            kernel_operand_t operands[4]) {
    int count = 0;
    for (int i = 0; i < 2 && all->operand[i].d; ++i) {
        tcgemm_gpu_args_t *const x = &all->operand[i];
        const int64_t lines = kernel->kind == KERNEL_TURN ? x->k : x->m; /* of the copy */
        operands[count++] = (kernel_operand_t){
            "the copy", &x->d, span(kernel->d, lines, x->ldd, x->ldd, x->batch, x->stride_d)};
        operands[count++] =
            (kernel_operand_t){"what is packed", (void **)(uintptr_t)&x->a,
                               span(kernel->a, x->m, x->k, x->lda, x->batch, x->stride_a)};
    }
    return count;
}

int kernel_operands(const kernel_t *named, kernel_params_t *params, kernel_operand_t operands[4]) {
    const kernel_t called = kernel_as_called(named, params);
    const kernel_t *const kernel = &called;
    tcgemm_gpu_args_t *const x = &params->product;
    const int64_t parts = x->batch * x->splits.by;
    int count = 0;
    if (kernel->kind == KERNEL_PEAK)
        return 0;
    if (kernel_packs(kernel))
        return packing_operands(kernel, &params->packing, operands);
    operands[count++] =
        (kernel_operand_t){"D", &x->d,
                           span(kernel->d, x->m, x->n, x->ldd,
                                kernel->kind == KERNEL_PRODUCT ? parts : x->batch, x->stride_d)};
    if (x->c)
        operands[count++] =
            (kernel_operand_t){"C", (void **)(uintptr_t)&x->c,
                               span(kernel->d, x->m, x->n, x->ldc, x->batch, x->stride_c)};
    if (kernel->kind == KERNEL_REDUCE) {
        operands[count++] =
            (kernel_operand_t){"the parts", (void **)(uintptr_t)&x->a,
                               span(kernel->a, x->m, x->n, x->lda, parts, x->stride_a)};
        return count;
    }
    if (kernel->kind != KERNEL_PRODUCT)
        return count;
    operands[count++] =
        (kernel_operand_t){"A", (void **)(uintptr_t)&x->a,
                           span(kernel->a, x->a_trans ? x->k : x->m, x->a_trans ? x->m : x->k,
                                x->lda, x->batch, x->stride_a)};
    operands[count++] =
        (kernel_operand_t){"B", (void **)(uintptr_t)&x->b,
                           span(kernel->b, x->b_trans ? x->n : x->k, x->b_trans ? x->k : x->n,
                                x->ldb, x->batch, x->stride_b)};
    return count;
}

/* ---- what must hold of a launch ---- */

/* True if every row start of every item is a multiple of `bytes`. */
static bool is_aligned(const void *pointer, tcgemm_dtype_t dtype, int64_t lines, int64_t ld,
                       int64_t batch, int64_t stride, uint32_t bytes) {
    for (int64_t t = 0; t < (batch > 1 ? 2 : 1); ++t)
        for (int64_t i = 0; i < (lines > 1 ? 2 : 1); ++i)
            if (((uintptr_t)pointer + (size_t)(t * stride + i * ld) * size_of(dtype)) % bytes != 0)
                return false;
    return bytes > 0;
}

static const char *alignment_fault(const kernel_t *kernel, const tcgemm_gpu_args_t *x) {
    if (!is_aligned(x->a, kernel->a, x->a_trans ? x->k : x->m, x->lda, x->batch, x->stride_a,
                    x->vector_a))
        return "A is less aligned than vector_a says";
    if (!is_aligned(x->b, kernel->b, x->b_trans ? x->n : x->k, x->ldb, x->batch, x->stride_b,
                    x->vector_b))
        return "B is less aligned than vector_b says";
    if (x->c && !is_aligned(x->c, kernel->d, x->m, x->ldc, x->batch, x->stride_c, x->vector_c))
        return "C is less aligned than vector_c says";
    if (!is_aligned(x->d, kernel->d, x->m, x->ldd, x->batch, x->stride_d, x->vector_d))
        return "D is less aligned than vector_d says";
    return NULL;
}

static int64_t tiles(int64_t length, int tile) {
    return (length + tile - 1) / tile;
}

/* The row's own, or so much that an SM holds its share of the grid and no more: of a kernel that
 * may begin before the launch ahead has ended. */
static bool is_smem_of(const tcgemm_gpu_row_t *row, unsigned grid, size_t smem) {
    const fake_gpu_t *gpu = &fake_current()->facts;
    const size_t share = (grid + (unsigned)gpu->num_sms - 1) / (unsigned)gpu->num_sms;
    return smem == row->smem_bytes ||
           (row->waits && smem > row->smem_bytes && (share + 1) * smem > gpu->smem_block_bytes &&
            share * smem <= gpu->smem_block_bytes);
}

static const char *product_fault(const kernel_t *kernel, const tcgemm_gpu_args_t *x, unsigned grid,
                                 unsigned ranks, unsigned threads, size_t smem) {
    const tcgemm_gpu_row_t *row = kernel->row;
    const bool in_pairs = ranks == 2 && row->pairs;
    const int64_t rows = in_pairs ? 2 * tiles(x->m, 2 * row->bm) : tiles(x->m, row->bm);
    const int64_t needed =
        rows * tiles(x->n, row->bn) * x->batch * x->splits.by * (in_pairs ? 1 : (int64_t)ranks);
    if (x->k < 1 || !x->a || !x->b)
        return "a product of nothing";
    if (x->splits.by < 1 || (x->splits.by - 1) * x->split_k >= x->k ||
        x->splits.by * x->split_k < x->k)
        return "the parts of k are not k";
    if (x->raster.cols != tiles(x->n, row->bn) ||
        x->raster.tiles.by != rows / (in_pairs ? 2 : 1) * tiles(x->n, row->bn))
        return "the tiles of the raster are not those of D";
    if (x->splits.by > 1 && (!row->splits_k || x->split_k % row->bk != 0))
        return "a split of k that the kernel does not know";
    if ((x->a_trans != kernel->a_trans && !row->gathers_a) ||
        (x->b_trans != kernel->b_trans && !row->gathers_b))
        return "the kernel is for another layout of A and B";
    if (row->whole_rows && !(x->whole_a && x->whole_b))
        return "rows that are no whole 16-byte pieces, for a kernel that reads no others";
    if (!tcgemm_gpu_takes_layout(row, false, !x->a_trans) && !row->gathers_a)
        return "A does not lie as the row takes it";
    if (!tcgemm_gpu_takes_layout(row, true, x->b_trans) && !row->gathers_b)
        return "B does not lie as the row takes it";
    if (threads != (unsigned)row->threads)
        return "not the threads of the kernel's row";
    if (!is_smem_of(row, grid, smem))
        return "not the shared memory of the kernel's row";
    if (ranks > 1 && !in_pairs && (int)ranks > row->max_ranks)
        return "clusters that the kernel does not know";
    if (row->persistent ? (int64_t)grid > needed : (int64_t)grid != needed)
        return "the grid does not cover the tiles once each";
    return alignment_fault(kernel, x);
}

/* True if the map describes the operand that the arguments do. */
static bool maps(const tcgemm_tensor_map_t *map, const void *base, int64_t lines, int64_t length,
                 int64_t ld, int64_t batch, int64_t stride, int box_lines) {
    tcgemm_tensor_t t;
    memcpy(&t, map, sizeof t);
    const uint64_t items = stride && batch > 1 ? (uint64_t)batch : 1;
    return t.base == base && t.size[0] == (uint64_t)length && t.size[1] == (uint64_t)lines &&
           t.size[2] == items && t.box[0] * t.element_bytes == 128 &&
           t.box[1] == (uint32_t)box_lines && t.box[2] == 1 &&
           (lines == 1 || t.stride[0] == (uint64_t)ld * t.element_bytes) &&
           (items == 1 || t.stride[1] == (uint64_t)stride * t.element_bytes);
}

/* Whether threads bring an operand is what its layout and rows say, of the one that the row may
 * gather. */
static const char *gathering_fault(const tcgemm_gpu_row_t *row, const tcgemm_gpu_args_t *x) {
    const bool a = row->gathers_a && (x->a_trans || x->vector_a < 16);
    const bool b = row->gathers_b && (!x->b_trans || x->vector_b < 16);
    return x->gathers != (a || b) ? "threads gather what a box can bring, or not what it cannot"
                                  : NULL;
}

static const char *map_fault(const kernel_t *kernel, const kernel_params_t *params,
                             unsigned ranks) {
    const tcgemm_gpu_args_t *x = &params->product;
    const tcgemm_gpu_row_t *row = kernel->row;
    if (!row || !row->tensor_maps)
        return NULL;
    const int lines_of_b = row->pairs && ranks == 2 ? row->bn / 2 : row->bn;
    const char *const gathering = gathering_fault(row, x);
    if (gathering)
        return gathering;
    if (!row->by_warps && !(row->gathers_a && x->gathers) &&
        !maps(&params->with_maps.a, x->a, x->a_trans ? x->k : x->m, x->a_trans ? x->m : x->k,
              x->lda, x->batch, x->stride_a, x->a_trans ? row->bk : row->bm))
        return "the map of A is not that of A";
    if (!row->by_warps && !(row->gathers_b && x->gathers) &&
        !maps(&params->with_maps.b, x->b, x->b_trans ? x->n : x->k, x->b_trans ? x->k : x->n,
              x->ldb, x->batch, x->stride_b, x->b_trans ? lines_of_b : row->bk))
        return "the map of B is not that of B";
    const bool may_leave = row->box_rows > 0 && x->vector_d >= 16 &&
                           x->n * (int64_t)size_of(kernel->d) % 16 == 0 &&
                           (!x->c || (row->boxes_of_c && x->vector_c >= 16));
    if (params->with_maps.has_d != may_leave ||
        (may_leave && !maps(&params->with_maps.d, x->d, x->m, x->n, x->ldd, x->batch * x->splits.by,
                            x->stride_d, row->box_rows)))
        return "the map of D is not that of D";
    const bool may_come = may_leave && x->c;
    if (params->with_maps.has_c != may_come ||
        (may_come && !maps(&params->with_maps.c, x->c, x->m, x->n, x->ldc, x->batch, x->stride_c,
                           row->box_rows)))
        return "the map of C is not that of C";
    return NULL;
}

static const char *packing_fault(const kernel_t *kernel, const tcgemm_pack_args_t *all,
                                 unsigned grid, unsigned threads, size_t smem) {
    const tcgemm_gpu_args_t *x = all->operand;
    if (threads != MOVE_THREADS || smem)
        return "not the threads of kernels that move";
    if (all->first_blocks < 1 || (x[1].d ? all->first_blocks >= grid : all->first_blocks != grid))
        return "an operand to pack that has no blocks, or blocks that have none";
    for (int i = 0; i < 2 && x[i].d; ++i)
        if ((uintptr_t)x[i].d % 16 || x[i].ldd * (int64_t)size_of(kernel->d) % 16)
            return "rows are packed off 16-byte boundaries";
    return NULL;
}

const char *kernel_fault(const kernel_t *named, const kernel_params_t *params, unsigned grid,
                         unsigned ranks, unsigned threads, size_t smem) {
    const kernel_t called = kernel_as_called(named, params);
    const kernel_t *const kernel = &called;
    const tcgemm_gpu_args_t *x = &params->product;
    if (kernel->kind == KERNEL_PEAK)
        return threads != PEAK_THREADS          ? "not the threads of a peak kernel"
               : params->peak.never != NULL     ? "a peak kernel with a place for its sums"
               : params->peak.steps < 1 || smem ? "a peak kernel without steps"
                                                : NULL;
    if (x->m < 1 || x->n < 1 || x->batch < 1 || !x->d)
        return "an empty D";
    if (kernel_packs(kernel))
        return packing_fault(kernel, &params->packing, grid, threads, smem);
    if (kernel->kind == KERNEL_REDUCE && (x->splits.by < 2 || (uintptr_t)x->a % 16))
        return "a sum of one part, or off a 16-byte boundary";
    if (kernel->kind == KERNEL_REDUCE && x->stride_a != x->m * x->lda)
        return "parts whose rows do not follow one another";
    if (kernel->kind != KERNEL_PRODUCT)
        return threads != MOVE_THREADS || smem ? "not the threads of kernels that move" : NULL;
    const char *const fault = map_fault(kernel, params, ranks);
    return fault ? fault : product_fault(kernel, x, grid, ranks, threads, smem);
}
