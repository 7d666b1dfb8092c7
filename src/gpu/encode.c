/* encode.c - see encode.h. */
#include "gpu/encode.h"

#include <string.h>

#include "base/num.h"
#include "gpu/launch.h"

enum { PIECE = 16 }; /* bytes of a wide load */

static uint32_t is_transposed(const tcgemm_operand_t *x) {
    return x->col_stride == 1 ? 0 : 1;
}

static const void *advance(const void *pointer, tcgemm_dtype_t dtype, int64_t elements) {
    return pointer ? (const char *)pointer + elements * tcgemm_dtype_bits(dtype) / 8 : NULL;
}

static void *resolve(const tcgemm_view_t *view, const tcgemm_call_t *call, void *workspace) {
    switch (view->home) {
    case TCGEMM_HOME_A:
        return (void *)(uintptr_t)call->a;
    case TCGEMM_HOME_B:
        return (void *)(uintptr_t)call->b;
    case TCGEMM_HOME_D:
        return call->d;
    case TCGEMM_HOME_WORKSPACE:
    default:
        return (char *)workspace + view->offset;
    }
}

/* ---- how wide a kernel may load ---- */

static uint32_t whole_pieces(uint32_t vector, const tcgemm_operand_t *x, int64_t length) {
    return vector >= PIECE &&
           (x->padded || length * tcgemm_dtype_bits(x->dtype) % (8 * PIECE) == 0);
}

/* Works out vector_a .. vector_d, whole_a and whole_b of a product or reduction. */
static void set_alignment(const tcgemm_step_t *step, tcgemm_gpu_args_t *x) {
    const tcgemm_operand_t *a = &step->a.at;
    const tcgemm_operand_t *b = &step->b.at;
    const tcgemm_dtype_t d = step->d.at.dtype;
    if (step->kind == TCGEMM_STEP_PRODUCT) {
        x->vector_a = tcgemm_gpu_alignment(x->a, a->dtype, x->a_trans ? x->k : x->m, x->lda,
                                           x->batch, x->stride_a);
        x->vector_b = tcgemm_gpu_alignment(x->b, b->dtype, x->b_trans ? x->n : x->k, x->ldb,
                                           x->batch, x->stride_b);
        x->whole_a = whole_pieces(x->vector_a, a, x->a_trans ? x->m : x->k);
        x->whole_b = whole_pieces(x->vector_b, b, x->b_trans ? x->k : x->n);
    }
    x->vector_c = tcgemm_gpu_alignment(x->c, d, x->m, x->ldc, x->batch, x->stride_c);
    x->vector_d = tcgemm_gpu_alignment(x->d, d, x->m, x->ldd, x->batch * x->splits.by, x->stride_d);
}

/* The step's rows and columns of what it reads and writes. */
static void take_area(const tcgemm_step_t *step, tcgemm_gpu_args_t *x) {
    const tcgemm_area_t *area = &step->area;
    const tcgemm_dtype_t d = step->d.at.dtype;
    x->m = area->rows;
    x->n = area->cols;
    if (step->kind == TCGEMM_STEP_PRODUCT) {
        x->a = advance(x->a, step->a.at.dtype, area->row * step->a.at.row_stride);
        x->b = advance(x->b, step->b.at.dtype, area->col * step->b.at.col_stride);
    }
    if (step->d.home == TCGEMM_HOME_WORKSPACE)
        return;
    x->c = advance(x->c, d, area->row * x->ldc + area->col);
    x->d = (void *)(uintptr_t)advance(x->d, d, area->row * x->ldd + area->col);
}

/* ---- operands that threads gather ---- */

/* One line of an operand whose elements lie side by side is a row as well as a column, so that a
 * box can bring what the row may gather. (Of the other one the kernel knows how it lies.) */
static void straighten(const tcgemm_step_t *step, tcgemm_gpu_args_t *x) {
    if (step->kind != TCGEMM_STEP_PRODUCT)
        return;
    const tcgemm_gpu_row_t *row = step->kernel->gpu;
    if (tcgemm_gpu_may_gather(row, false) && x->m == 1 && x->a_trans && x->lda == 1) {
        x->a_trans = 0;
        x->lda = x->k;
    }
    if (tcgemm_gpu_may_gather(row, true) && x->n == 1 && !x->b_trans && x->ldb == 1) {
        x->b_trans = 1;
        x->ldb = x->k;
    }
}

static void set_gathering(const tcgemm_step_t *step, tcgemm_gpu_args_t *x) {
    if (step->kind != TCGEMM_STEP_PRODUCT)
        return;
    const tcgemm_gpu_row_t *row = step->kernel->gpu;
    x->gathers = tcgemm_gpu_gathers(row, false, !x->a_trans, x->vector_a) ||
                 tcgemm_gpu_gathers(row, true, x->b_trans, x->vector_b);
}

/* ---- the order of tiles, and what leaves the L2 first ---- */

/* Of an operand beside which D is small, and which one block reads, or few side by side: nobody
 * will want it again, and what else is in the L2 may stay. Where D is larger it costs (measured:
 * bench/results/notes.md, "What leaves the L2 first"). */
static bool leaves_first(double bytes, double bytes_of_d, int64_t readers) {
    enum { MOST_READERS = 4, TIMES_D = 4, TIMES_D_READ_AGAIN = 16 };
    const double times = readers == 1 ? TIMES_D : TIMES_D_READ_AGAIN;
    return readers <= MOST_READERS && bytes >= times * bytes_of_d;
}

static double bytes_of(tcgemm_dtype_t dtype, int64_t lines, int64_t length, int64_t batch) {
    return (double)lines * (double)length * (double)batch * tcgemm_dtype_bits(dtype) / 8.0;
}

/* As gpu_args.h has it, of so many rows and columns of tiles. */
static uint32_t leaves_of_l2(const tcgemm_step_t *step, const tcgemm_gpu_args_t *x, int64_t rows,
                             int64_t cols) {
    enum { A = 1, B = 2 };
    const double a = bytes_of(step->a.at.dtype, x->m, x->k, x->batch);
    const double b = bytes_of(step->b.at.dtype, x->k, x->n, x->batch);
    const double d = bytes_of(step->d.at.dtype, x->m, x->n, x->batch * x->splits.by);
    const bool a_is_shared = x->batch > 1 && x->stride_a == 0; /* by all items */
    const bool b_is_shared = x->batch > 1 && x->stride_b == 0;
    return (!a_is_shared && leaves_first(a, d, cols) ? A : 0u) |
           (!b_is_shared && leaves_first(b, d, rows) ? B : 0u);
}

static void set_tiles(const tcgemm_step_t *step, tcgemm_gpu_args_t *x) {
    if (step->kind != TCGEMM_STEP_PRODUCT)
        return;
    const uint32_t of_pair = step->in_pairs ? 2 : 1;
    const int64_t rows = tcgemm_gpu_tile_rows(step, x->m);
    const int64_t cols = ceil_div(x->n, step->kernel->gpu->bn);
    x->raster = tcgemm_raster_of((uint32_t)rows / of_pair, (uint32_t)cols,
                                 step->gpu.raster_group / of_pair);
    x->leaves_l2 = leaves_of_l2(step, x, rows, cols);
}

/* ---- scalars ---- */

static void set_scalars(tcgemm_dtype_t scalar, double alpha, double beta, tcgemm_gpu_args_t *x) {
    switch (scalar) {
    case TCGEMM_DTYPE_F64:
        x->alpha.f64 = alpha;
        x->beta.f64 = beta;
        break;
    case TCGEMM_DTYPE_F32:
        x->alpha.f32 = (float)alpha;
        x->beta.f32 = (float)beta;
        break;
    default:
        x->alpha.s32 = tcgemm_integer_scalar(alpha);
        x->beta.s32 = tcgemm_integer_scalar(beta);
        break;
    }
}

/* ---- steps ---- */

static tcgemm_gpu_args_t encode_d(const struct tcgemm_plan *plan, const tcgemm_call_t *call) {
    const tcgemm_canonical_t *g = &plan->g;
    tcgemm_gpu_args_t x;
    memset(&x, 0, sizeof x);
    x.m = g->m;
    x.n = g->n;
    x.k = g->k;
    x.c = call->c;
    x.d = call->d;
    x.ldc = g->ldc;
    x.ldd = g->ldd;
    x.stride_c = g->stride_c;
    x.stride_d = g->stride_d;
    x.batch = g->batch;
    x.flags = g->flags;
    x.splits = tcgemm_divisor_of(1);
    x.split_k = g->k;
    set_scalars(g->type->scalar, call->alpha, call->beta, &x);
    return x;
}

static tcgemm_gpu_args_t encode_product(const struct tcgemm_plan *plan, const tcgemm_step_t *step,
                                        const tcgemm_call_t *call, void *workspace) {
    tcgemm_gpu_args_t x = encode_d(plan, call);
    x.a = resolve(&step->a, call, workspace);
    x.b = resolve(&step->b, call, workspace);
    x.a_trans = is_transposed(&step->a.at);
    x.b_trans = is_transposed(&step->b.at);
    x.lda = tcgemm_operand_ld(&step->a.at);
    x.ldb = tcgemm_operand_ld(&step->b.at);
    x.stride_a = step->a.at.batch_stride;
    x.stride_b = step->b.at.batch_stride;
    x.splits = tcgemm_divisor_of((uint32_t)step->splits);
    x.split_k = step->split_k;
    x.streams_a = step->kernel->gpu->streams == TCGEMM_STREAMS_A;
    if (step->d.home == TCGEMM_HOME_WORKSPACE) { /* sums as they are */
        x.c = NULL;
        x.d = resolve(&step->d, call, workspace);
        x.ldc = x.ldd = step->d.at.row_stride;
        x.stride_c = x.stride_d = step->d.at.batch_stride;
        set_scalars(plan->g.type->scalar, 1.0, 0.0, &x);
    }
    return x;
}

static tcgemm_gpu_args_t encode_reduction(const struct tcgemm_plan *plan, const tcgemm_step_t *step,
                                          const tcgemm_call_t *call, void *workspace) {
    tcgemm_gpu_args_t x = encode_d(plan, call);
    x.a = resolve(&step->a, call, workspace);
    x.lda = step->a.at.row_stride;
    x.stride_a = step->a.at.batch_stride;
    x.splits = tcgemm_divisor_of((uint32_t)step->splits);
    return x;
}

/* Rows as they lie in memory: m of them, of k elements. */
static tcgemm_gpu_args_t encode_packing(const struct tcgemm_plan *plan, const tcgemm_step_t *step,
                                        const tcgemm_call_t *call, void *workspace) {
    const tcgemm_canonical_t *g = &plan->g;
    const bool is_a = step->kind == TCGEMM_STEP_PACK_A;
    const int64_t rows = is_a ? g->m : g->k;
    const int64_t cols = is_a ? g->k : g->n;
    const tcgemm_operand_t *from = &step->a.at;
    tcgemm_gpu_args_t x;
    memset(&x, 0, sizeof x);
    x.m = tcgemm_operand_lines(from, rows, cols);
    x.k = tcgemm_operand_length(from, rows, cols);
    x.n = x.k;
    x.a = resolve(&step->a, call, workspace);
    x.d = resolve(&step->d, call, workspace);
    x.lda = tcgemm_operand_ld(from);
    x.ldd = tcgemm_operand_ld(&step->d.at);
    x.stride_a = from->batch_stride;
    x.stride_d = step->d.at.batch_stride;
    x.batch = from->batch_stride ? g->batch : 1;
    x.splits = tcgemm_divisor_of(1);
    x.split_k = x.k;
    return x;
}

tcgemm_gpu_args_t tcgemm_gpu_encode(const struct tcgemm_plan *plan, const tcgemm_step_t *step,
                                    const tcgemm_call_t *call, void *workspace) {
    tcgemm_gpu_args_t x = step->kind == TCGEMM_STEP_REDUCE
                              ? encode_reduction(plan, step, call, workspace)
                              : encode_product(plan, step, call, workspace);
    take_area(step, &x);
    straighten(step, &x);
    set_alignment(step, &x);
    set_gathering(step, &x);
    set_tiles(step, &x);
    return x;
}

tcgemm_gpu_shape_t tcgemm_gpu_encode_packing(const struct tcgemm_plan *plan,
                                             const tcgemm_step_t *step, int count,
                                             const tcgemm_call_t *call, void *workspace,
                                             tcgemm_pack_args_t *args) {
    memset(args, 0, sizeof *args);
    args->operand[0] = encode_packing(plan, step, call, workspace);
    tcgemm_gpu_shape_t shape = tcgemm_gpu_shape(plan, step, &args->operand[0]);
    args->first_blocks = (uint32_t)shape.grid;
    if (count > 1) {
        args->operand[1] = encode_packing(plan, step + 1, call, workspace);
        shape.grid += tcgemm_gpu_shape(plan, step + 1, &args->operand[1]).grid;
    }
    return shape;
}

tcgemm_gpu_args_t tcgemm_gpu_encode_scale(const struct tcgemm_plan *plan,
                                          const tcgemm_call_t *call) {
    return encode_d(plan, call);
}

tcgemm_gpu_args_t tcgemm_gpu_part(const tcgemm_step_t *step, const tcgemm_gpu_args_t *whole,
                                  int64_t item, int64_t batch, int64_t row, int64_t m) {
    const tcgemm_dtype_t d = step->d.at.dtype;
    tcgemm_gpu_args_t x = *whole;
    if (batch == whole->batch && m == whole->m) /* as most products are launched */
        return x;
    x.m = m;
    x.batch = batch;
    x.a = advance(x.a, step->a.at.dtype, item * x.stride_a + row * (x.a_trans ? 1 : x.lda));
    x.b = advance(x.b, step->b.at.dtype, item * x.stride_b);
    x.c = advance(x.c, d, item * x.stride_c + row * x.ldc);
    x.d = (void *)(uintptr_t)advance(x.d, d, item * x.splits.by * x.stride_d + row * x.ldd);
    set_alignment(step, &x);
    set_gathering(step, &x);
    set_tiles(step, &x);
    return x;
}

/* ---- tensor maps ---- */

/* An operand of `lines` rows of `length` elements, in boxes of 128 bytes by `box_lines`. */
static tcgemm_tensor_t tensor_of(const void *base, tcgemm_dtype_t dtype, int64_t lines,
                                 int64_t length, int64_t ld, int64_t batch, int64_t stride,
                                 int box_lines) {
    const int64_t bytes = tcgemm_dtype_bits(dtype) / 8;
    const int64_t row = lines > 1 ? ld * bytes : round_up(length * bytes, PIECE);
    const bool shared = batch == 1 || stride == 0;
    return (tcgemm_tensor_t){
        .base = base,
        .size = {(uint64_t)length, (uint64_t)lines, shared ? 1 : (uint64_t)batch},
        .stride = {(uint64_t)row, (uint64_t)(shared ? row : stride * bytes)},
        .box = {(uint32_t)(TCGEMM_TENSOR_ROW / bytes), (uint32_t)box_lines, 1},
        .element_bytes = (uint16_t)bytes,
    };
}

static bool has_map(const tcgemm_gpu_row_t *row, bool is_b, const tcgemm_gpu_args_t *x) {
    return !row->by_warps && !(tcgemm_gpu_may_gather(row, is_b) && x->gathers);
}

void tcgemm_gpu_tensors(const tcgemm_step_t *step, const tcgemm_gpu_args_t *x, tcgemm_tensor_t *a,
                        tcgemm_tensor_t *b) {
    const tcgemm_gpu_row_t *row = step->kernel->gpu;
    const int bn =
        step->in_pairs ? row->bn / 2 : row->bn; /* each block fetches half of the lines */
    memset(a, 0, sizeof *a);
    memset(b, 0, sizeof *b);
    if (has_map(row, false, x))
        *a = tensor_of(x->a, step->a.at.dtype, x->a_trans ? x->k : x->m, x->a_trans ? x->m : x->k,
                       x->lda, x->batch, x->stride_a, x->a_trans ? row->bk : row->bm);
    if (has_map(row, true, x))
        *b = tensor_of(x->b, step->b.at.dtype, x->b_trans ? x->n : x->k, x->b_trans ? x->k : x->n,
                       x->ldb, x->batch, x->stride_b, x->b_trans ? bn : row->bk);
    a->rounds_to_tf32 = b->rounds_to_tf32 = row->type == TCGEMM_TF32_F32;
}

/* Whether boxes may move rows of C or D: these begin on 16-byte boundaries and maps reach them. */
static bool has_rows_for_boxes(uint32_t vector, int64_t ld, int64_t stride, int64_t bytes) {
    const int64_t most = (int64_t)1 << 40;
    return vector >= PIECE && ld * bytes < most && stride * bytes < most;
}

bool tcgemm_gpu_tensors_of_d(const tcgemm_step_t *step, const tcgemm_gpu_args_t *x,
                             tcgemm_tensor_t *c, tcgemm_tensor_t *d) {
    const tcgemm_dtype_t dtype = step->d.at.dtype;
    const int64_t bytes = tcgemm_dtype_bits(dtype) / 8;
    const int rows = step->kernel->gpu->box_rows;
    memset(c, 0, sizeof *c);
    if (rows == 0 || x->n * bytes % PIECE != 0 ||
        !has_rows_for_boxes(x->vector_d, x->ldd, x->stride_d, bytes))
        return false;
    if (x->c && !(step->kernel->gpu->boxes_of_c &&
                  has_rows_for_boxes(x->vector_c, x->ldc, x->stride_c, bytes)))
        return false;
    *d = tensor_of(x->d, dtype, x->m, x->n, x->ldd, x->batch * x->splits.by, x->stride_d, rows);
    if (x->c)
        *c = tensor_of(x->c, dtype, x->m, x->n, x->ldc, x->batch, x->stride_c, rows);
    return true;
}

const tcgemm_steps_t *tcgemm_gpu_steps_for(const struct tcgemm_plan *plan,
                                           const tcgemm_call_t *call) {
    const tcgemm_gpu_row_t *row = plan->kernel->gpu;
    const uintptr_t a = tcgemm_gpu_takes_any_rows(row, false) ? 0 : (uintptr_t)call->a;
    const uintptr_t b = tcgemm_gpu_takes_any_rows(row, true) ? 0 : (uintptr_t)call->b;
    const uintptr_t places = a | b;
    return plan->if_unaligned.count > 0 && places % PIECE != 0 ? &plan->if_unaligned : &plan->steps;
}
