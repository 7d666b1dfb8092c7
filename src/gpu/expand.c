/* expand.c - which steps a product on a GPU takes: the model decides among
 *
 *     rows that no wide load can take are packed first, one operand or both, or are read as they
 * are (a kernel that fetches by tensor maps cannot read them, nor, but for most of 16 bit, those
 * where k is not contiguous, nor can that of FP8 by mma.sync: they are packed, turned round on the
 * way); operands of types that are computed in a wider one are widened while they are packed; k is
 * split where D has too few tiles for the SMs, and the parts are added up in order; so is the k of
 * the tail, the last rows or columns of D, where the last round of tiles would leave SMs idle.
 * Where blocks wait for boxes of an operand that is not packed, two of them may fetch B together.
 *
 * Both only for families that know how (gpu_row.h). Nothing that is measured at run time has a say:
 * the same problem takes the same steps on the same kind of GPU.
 */
#include "gpu/expand.h"

#include <math.h>
#include <string.h>

#include "base/dtype.h"
#include "base/num.h"
#include "gpu/launch.h"
#include "gpu/measured.h"
#include "gpu/model.h"
#include "gpu/tensor_map.h"

enum {
    PIECE = 16,        /* bytes of a wide load */
    BOUNDARY = 256,    /* bytes between the parts of a workspace */
    LEAST_BLOCKS = 4,  /* of k in a part */
    MOST_SPLITS = 512, /* parts of k */
    MOST_ROUNDS = 24,  /* of tiles, to try a tail for */
    PARTIAL_BYTES = 4  /* least bytes of a partial sum */
};
static const double most_partial_bytes = 512e6;
/* Of resident blocks, to try a split for. */
static const double waves[] = {0.25, 0.5, 1.0, 2.0, 3.0};
/* Of parts that boxes bring, fewer take less than the model says, which has their products alone to
 * go by (bench/results/notes.md, "Fewer parts"): down to so many eighths of them are taken where it
 * promises at most so much more. Not of one tile, whose sums are soon added up. */
static const double worth_fewer_parts = 1.07;
enum { LEAST_EIGHTHS = 5 };
/* A tail is tried for products that take so long and whose rounds could do so much more. */
static const double least_seconds_of_tail = 20e-6;
static const double least_idle = 1.05;
/* It saves less than the model says where the clock follows the power of the tensor cores: while
 * the last round leaves SMs idle, the others are faster. So such a plan counts for so much longer.
 */
static const double heat_of_tail = 1.05;

/* The last rows (columns) of D, whose k is in parts of its own. */
typedef struct tail {
    int64_t lines; /* 0: there is none */
    bool is_columns;
    int64_t splits, split_k;
} tail_t;

typedef struct choice {
    unsigned packs; /* TCGEMM_OPERAND_A, _B */
    int64_t splits, split_k;
    int ranks; /* of a cluster, that share each part */
    bool in_pairs;
    tail_t tail;
    double seconds;
} choice_t;

static int64_t bytes_of(tcgemm_dtype_t dtype) {
    return tcgemm_bits_of_dtype(dtype) / 8;
}

/* ---- packing ---- */

/* A is m x k, B is k x n: whether k lies along its rows in memory. */
static bool has_k_rows(const tcgemm_operand_t *x, bool is_b) {
    return (x->col_stride == 1) != is_b;
}

static bool needs_turning(const tcgemm_kernel_t *row, const tcgemm_operand_t *x, bool is_b) {
    return !tcgemm_gpu_takes_layout(row->gpu, is_b, has_k_rows(x, is_b));
}

/* Makes the operand that of a packed copy: rows on 16-byte boundaries (of 128 bytes where boxes are
 * fetched), of the same layout or, if the kernel wants that, with k contiguous; in the dtype that
 * its code reads. */
static void pack(const tcgemm_kernel_t *row, bool is_b, int64_t rows, int64_t cols,
                 tcgemm_operand_t *x) {
    const bool in_rows = (x->col_stride == 1) != needs_turning(row, x, is_b);
    const int64_t length = in_rows ? cols : rows, lines = in_rows ? rows : cols;
    if (tcgemm_gpu_widens(row->gpu))
        x->dtype = tcgemm_type_info(row->gpu->code)->a;
    const int boundary = row->gpu->tensor_maps ? TCGEMM_TENSOR_ROW : PIECE;
    const int64_t pitch = round_up_to_power(length, boundary / (int)bytes_of(x->dtype));
    x->row_stride = in_rows ? pitch : 1;
    x->col_stride = in_rows ? 1 : pitch;
    if (x->batch_stride)
        x->batch_stride = lines * pitch;
    x->padded = true;
}

static int64_t packed_elements(const tcgemm_operand_t *p, int64_t rows, int64_t cols,
                               int64_t batch) {
    const int64_t item = tcgemm_operand_lines(p, rows, cols) * tcgemm_operand_ld(p);
    return item * (p->batch_stride ? batch : 1);
}

/* Of the operand, once, and of its copy. */
static double moved_bytes(const tcgemm_operand_t *x, const tcgemm_operand_t *p, int64_t rows,
                          int64_t cols, int64_t batch) {
    return (double)(packed_elements(p, rows, cols, batch) *
                    (bytes_of(x->dtype) + bytes_of(p->dtype)));
}

/* Whether a copy could be read faster than the operand itself. */
static bool is_narrow(const tcgemm_kernel_t *row, const tcgemm_operand_t *x, int64_t rows,
                      int64_t cols) {
    if (row->gpu->tensor_maps)
        return tcgemm_operand_ld(x) * bytes_of(x->dtype) % (TCGEMM_TENSOR_ROW / 2) != 0;
    const int64_t length = tcgemm_operand_length(x, rows, cols);
    return tcgemm_gpu_row_alignment(x) < PIECE || length * bytes_of(x->dtype) % PIECE != 0;
}

/* Whether the kernel cannot read the operand, rows x cols, but from a copy. */
static bool must_pack(const tcgemm_kernel_t *row, const tcgemm_operand_t *x, bool is_b,
                      int64_t rows, int64_t cols) {
    if (tcgemm_gpu_widens(row->gpu))
        return true;
    if (tcgemm_gpu_takes_any_rows(row->gpu, is_b))
        return false;
    if (row->gpu->whole_rows && !x->padded && is_narrow(row, x, rows, cols))
        return true;
    return needs_turning(row, x, is_b) ||
           (row->gpu->tensor_maps && tcgemm_gpu_row_alignment(x) < PIECE);
}

/* Whether a kernel that need not may yet be faster with a copy. */
static bool may_pack(const tcgemm_kernel_t *row, const tcgemm_operand_t *x, bool is_b, int64_t rows,
                     int64_t cols) {
    return (row->gpu->pads_rows || row->gpu->tensor_maps) &&
           !tcgemm_gpu_takes_any_rows(row->gpu, is_b) && is_narrow(row, x, rows, cols);
}

/* The operand for pointers that are not on a 16-byte boundary: as if its rows were not. */
static void spoil(tcgemm_operand_t *x) {
    if (x->col_stride == 1)
        x->row_stride |= 1;
    else
        x->col_stride |= 1;
}

/* Whether one kernel packs A and B: then one launch does. */
static bool packs_alike(const tcgemm_kernel_t *row, const tcgemm_canonical_t *g) {
    return bytes_of(g->a.dtype) == bytes_of(g->b.dtype) &&
           (g->a.dtype == g->b.dtype || !tcgemm_gpu_widens(row->gpu)) &&
           needs_turning(row, &g->a, false) == needs_turning(row, &g->b, true);
}

/* Of a step that packs so many bytes, read and written. */
static double step_seconds(double bytes, bool joins, const tcgemm_device_t *device) {
    return joins ? tcgemm_gpu_copy_seconds(bytes, device) : tcgemm_gpu_move_seconds(bytes, device);
}

/* What the choice is about, and what all of its ways to pack have in common. Sets of operands are
 * of TCGEMM_OPERAND_A and _B. */
typedef struct task {
    const tcgemm_kernel_t *row;
    const tcgemm_canonical_t *g;
    const tcgemm_device_t *device;
    unsigned must, may;        /* be packed; others for which that may be worth it */
    bool joins;                /* the packing of B that of A */
    tcgemm_canonical_t copies; /* the problem with all of these packed, ... */
    double a_bytes, b_bytes;   /* ... which moves so many */
} task_t;

static void set_task(const tcgemm_kernel_t *row, const tcgemm_canonical_t *g,
                     const tcgemm_device_t *device, task_t *t) {
    const bool a = must_pack(row, &g->a, false, g->m, g->k);
    const bool b = must_pack(row, &g->b, true, g->k, g->n);
    t->row = row;
    t->g = g;
    t->device = device;
    t->must = (a ? TCGEMM_OPERAND_A : 0) | (b ? TCGEMM_OPERAND_B : 0);
    t->may = (!a && may_pack(row, &g->a, false, g->m, g->k) ? TCGEMM_OPERAND_A : 0) |
             (!b && may_pack(row, &g->b, true, g->k, g->n) ? TCGEMM_OPERAND_B : 0);
    t->joins = packs_alike(row, g);
    t->copies = *g;
    t->a_bytes = t->b_bytes = 0.0;
    if ((t->must | t->may) & TCGEMM_OPERAND_A) {
        pack(row, false, g->m, g->k, &t->copies.a);
        t->a_bytes = moved_bytes(&g->a, &t->copies.a, g->m, g->k, g->batch);
    }
    if ((t->must | t->may) & TCGEMM_OPERAND_B) {
        pack(row, true, g->k, g->n, &t->copies.b);
        t->b_bytes = moved_bytes(&g->b, &t->copies.b, g->k, g->n, g->batch);
    }
}

/* The problem with a set of operands packed, in `own` if it is nowhere yet. */
static const tcgemm_canonical_t *with_packed(const task_t *t, unsigned packs,
                                             tcgemm_canonical_t *own) {
    if (packs == 0)
        return t->g;
    if (packs == (t->must | t->may))
        return &t->copies;
    *own = *t->g;
    if (packs & TCGEMM_OPERAND_A)
        own->a = t->copies.a;
    else
        own->b = t->copies.b;
    return own;
}

static double packing_seconds(const task_t *t, unsigned packs) {
    double seconds = 0.0;
    if (packs & TCGEMM_OPERAND_A)
        seconds += step_seconds(t->a_bytes, false, t->device);
    if (packs & TCGEMM_OPERAND_B)
        seconds += step_seconds(t->b_bytes, packs & TCGEMM_OPERAND_A && t->joins, t->device);
    return seconds;
}

/* ---- areas of D ---- */

static tcgemm_area_t area_of_tail(const tcgemm_canonical_t *g, const tail_t *t) {
    tcgemm_area_t area = {.rows = g->m, .cols = g->n};
    if (t->is_columns)
        area.col = g->n - t->lines, area.cols = t->lines;
    else
        area.row = g->m - t->lines, area.rows = t->lines;
    return area;
}

/* What is not the tail. */
static tcgemm_area_t area_of_rest(const tcgemm_canonical_t *g, const tail_t *t) {
    return (tcgemm_area_t){.rows = t->is_columns ? g->m : g->m - t->lines,
                           .cols = t->is_columns ? g->n - t->lines : g->n};
}

static tcgemm_canonical_t with_area(const tcgemm_canonical_t *g, const tcgemm_area_t *area) {
    tcgemm_canonical_t p = *g;
    p.m = area->rows;
    p.n = area->cols;
    return p;
}

/* ---- parts of k ---- */

/* What each block sees: parts, and the ranks' shares of them, as items of a batch. */
static tcgemm_canonical_t with_parts(const tcgemm_kernel_t *row, const tcgemm_canonical_t *g,
                                     int64_t splits, int64_t split_k, int ranks) {
    tcgemm_canonical_t p = *g;
    if (splits > 1)
        p.flags &= ~TCGEMM_FLAG_ADDS_C; /* it is added to the sum of all */
    p.k = ranks == 1 ? split_k : ceil_div(ceil_div(split_k, row->gpu->bk), ranks) * row->gpu->bk;
    p.batch = g->batch * splits * ranks;
    return p;
}

tcgemm_canonical_t tcgemm_gpu_step_problem(const struct tcgemm_plan *plan,
                                           const tcgemm_step_t *product) {
    const tcgemm_canonical_t area = with_area(&plan->g, &product->area);
    tcgemm_canonical_t g =
        with_parts(product->kernel, &area, product->splits, product->split_k, product->ranks);
    g.a = product->a.at;
    g.b = product->b.at;
    return g;
}

/* The row that writes the sums of a part as they are: for narrow results one of another type. */
static const tcgemm_kernel_t *row_of_sums(const tcgemm_kernel_t *row) {
    const tcgemm_type_info_t *own = tcgemm_type_info(row->gpu->type);
    if (own->d == own->accumulator)
        return row;
    for (int i = 0; i < row->family->num_rows; ++i) {
        const tcgemm_kernel_t *other = &row->family->rows[i];
        const tcgemm_type_info_t *type = tcgemm_type_info(other->gpu->type);
        if (type->a == own->a && type->b == own->b && type->d == own->accumulator &&
            other->gpu == tcgemm_gpu_twin(row, type->type))
            return other;
    }
    return NULL;
}

static int64_t partial_pitch(const tcgemm_canonical_t *g) {
    return round_up(g->n, PIECE / bytes_of(g->type->accumulator));
}

static double partial_bytes(const tcgemm_canonical_t *g, int64_t splits) {
    return (double)splits * (double)g->batch * (double)g->m * (double)partial_pitch(g) *
           (double)bytes_of(g->type->accumulator);
}

static double reduce_seconds(const tcgemm_canonical_t *g, int64_t splits,
                             const tcgemm_device_t *device) {
    const double result = (double)g->batch * (double)g->m * (double)g->n;
    const int64_t matrices = g->flags & TCGEMM_FLAG_ADDS_C ? 2 : 1;
    const double bytes =
        partial_bytes(g, splits) + result * (double)(matrices * bytes_of(g->type->d));
    return tcgemm_gpu_reduce_seconds(bytes, splits, device);
}

/* ---- the choice ---- */

/* Of the product of an area of D. */
static double product_seconds(const tcgemm_kernel_t *row, const tcgemm_canonical_t *g,
                              int64_t splits, int64_t split_k, int ranks, bool in_pairs,
                              const tcgemm_device_t *device) {
    tcgemm_canonical_t parts;
    if (splits > 1 || ranks > 1) {
        parts = with_parts(row, g, splits, split_k, ranks);
        g = &parts;
    }
    return tcgemm_gpu_time(row, g, ranks, in_pairs, device).total;
}

/* Of the product, or of both. */
static double products_seconds(const task_t *t, const choice_t *c) {
    const tcgemm_kernel_t *const row = t->row;
    const tcgemm_device_t *const device = t->device;
    tcgemm_canonical_t own;
    const tcgemm_canonical_t *const g = with_packed(t, c->packs, &own);
    if (c->tail.lines == 0)
        return product_seconds(row, g, c->splits, c->split_k, c->ranks, c->in_pairs, device);
    const tcgemm_area_t first = area_of_rest(g, &c->tail), last = area_of_tail(g, &c->tail);
    const tcgemm_canonical_t rest = with_area(g, &first), tail = with_area(g, &last);
    return product_seconds(row, &rest, c->splits, c->split_k, c->ranks, c->in_pairs, device) +
           product_seconds(row, &tail, c->tail.splits, c->tail.split_k, 1, false, device);
}

/* Of all other steps. */
static double other_seconds(const task_t *t, const choice_t *c) {
    double seconds = packing_seconds(t, c->packs);
    if (c->splits > 1)
        seconds += reduce_seconds(t->g, c->splits, t->device);
    if (c->tail.lines > 0) {
        const tcgemm_area_t area = area_of_tail(t->g, &c->tail);
        const tcgemm_canonical_t tail = with_area(t->g, &area);
        seconds += reduce_seconds(&tail, c->tail.splits, t->device);
    }
    return seconds;
}

/* Whether the kernel multiplies by tensor cores at their full power. */
static bool is_hot(const tcgemm_kernel_t *row) {
    return row->gpu->type != TCGEMM_F32_F32 && row->gpu->type != TCGEMM_F64_F64;
}

static void try_choice(const task_t *t, choice_t c, choice_t *best) {
    c.seconds = other_seconds(t, &c);
    if (c.seconds + tcgemm_gpu_least_seconds() >= best->seconds)
        return; /* however long the product takes */
    c.seconds += products_seconds(t, &c);
    if (c.tail.lines > 0 && is_hot(t->row))
        c.seconds *= heat_of_tail;
    if (c.seconds < best->seconds)
        *best = c;
}

/* Whether k has blocks for two parts. */
static bool is_deep(const tcgemm_kernel_t *row, const tcgemm_canonical_t *g) {
    return g->k > (2 * (int64_t)LEAST_BLOCKS - 1) * row->gpu->bk;
}

/* Whether k can be split at all. */
static bool splits_k(const tcgemm_kernel_t *row, const tcgemm_canonical_t *g) {
    return row->gpu->splits_k && row->needs != TCGEMM_FLAG_F16_ACCUMULATE && is_deep(row, g) &&
           row_of_sums(row);
}

static double tiles_of(const tcgemm_gpu_row_t *row, const tcgemm_canonical_t *g) {
    return ceil_f64((double)g->m / row->bm) * ceil_f64((double)g->n / row->bn);
}

/* Of so many parts: whole blocks of k. */
static int64_t k_of_part(const tcgemm_gpu_row_t *row, const tcgemm_canonical_t *g, int64_t parts) {
    return ceil_div(ceil_div(g->k, row->bk), parts) * row->bk;
}

/* As many parts as make so many waves of resident blocks. */
static void try_splits(const task_t *t, choice_t *best) {
    const tcgemm_gpu_row_t *const r = t->row->gpu;
    const tcgemm_canonical_t *const g = t->g;
    const double tiles = tiles_of(r, g) * (double)g->batch;
    const double resident = tcgemm_gpu_resident_blocks(r, 1, t->device);
    const int64_t blocks = ceil_div(g->k, r->bk);
    choice_t c = *best; /* unsplit */
    if (tiles >= resident || !splits_k(t->row, g))
        return;
    for (size_t i = 0; i < sizeof waves / sizeof waves[0]; ++i) {
        const int64_t wanted = min_i64((int64_t)(waves[i] * resident / tiles), MOST_SPLITS);
        const int64_t most = min_i64(wanted, blocks / LEAST_BLOCKS);
        const int64_t split_k = most < 2 ? g->k : k_of_part(r, g, most);
        if (split_k == c.split_k)
            continue;
        c.split_k = split_k;
        c.splits = ceil_div(g->k, c.split_k);
        if (c.splits > 1 && partial_bytes(g, c.splits) <= most_partial_bytes)
            try_choice(t, c, best);
    }
}

static void take_fewer_parts(const task_t *t, choice_t *best) {
    const tcgemm_gpu_row_t *const r = t->row->gpu;
    if (!r->tensor_maps || best->splits == 1 || tiles_of(r, t->g) * (double)t->g->batch == 1.0)
        return;
    for (int eighths = LEAST_EIGHTHS; eighths < 8; ++eighths) {
        choice_t c = *best;
        c.split_k = k_of_part(r, t->g, ceil_div(best->splits * eighths, 8));
        c.splits = ceil_div(t->g->k, c.split_k);
        c.seconds = other_seconds(t, &c) + products_seconds(t, &c);
        if (c.splits > 1 && c.seconds <= worth_fewer_parts * best->seconds) {
            *best = c;
            return;
        }
    }
}

/* Or as many ranks of a cluster as share a tile, which need no other step. Both at once, parts that
 * are clusters' sums, is slower than parts alone (bench/results/notes.md). */
static void try_clusters(const task_t *t, const choice_t *whole, choice_t *best) {
    const int64_t blocks = ceil_div(t->g->k, t->row->gpu->bk);
    choice_t c = *whole;
    c.in_pairs = false;
    for (c.ranks = 2; c.ranks <= t->row->gpu->max_ranks; c.ranks *= 2)
        if (blocks >= (int64_t)c.ranks * LEAST_BLOCKS)
            try_choice(t, c, best);
}

/* The parts of k that give each resident block its share of so many tiles; 1: none. */
static int64_t parts_of_tail(const tcgemm_kernel_t *row, const tcgemm_canonical_t *g, double tiles,
                             double resident) {
    const int64_t most = min_i64(ceil_div(g->k, row->gpu->bk) / LEAST_BLOCKS, MOST_SPLITS);
    for (int wave = 1; wave <= 3; ++wave)
        if (wave * resident >= 2.0 * tiles)
            return min_i64((int64_t)(wave * resident / tiles), most);
    return 1;
}

/* A tail behind as many whole rounds of tiles as there are: rows of tiles, or columns. */
static void try_tail(const task_t *t, choice_t *best) {
    const tcgemm_kernel_t *const row = t->row;
    const tcgemm_canonical_t *const g = t->g;
    const int64_t tiles_m = ceil_div(g->m, row->gpu->bm), tiles_n = ceil_div(g->n, row->gpu->bn);
    const double tiles = (double)tiles_m * (double)tiles_n;
    const double resident = tcgemm_gpu_resident_blocks(row->gpu, 1, t->device);
    const double rounds = floor_f64(tiles / resident);
    const choice_t whole = *best;
    if (whole.ranks > 1 || rounds < 1.0 || rounds > MOST_ROUNDS ||
        (rounds + 1.0) * resident < least_idle * tiles || g->batch > 1 ||
        whole.seconds < least_seconds_of_tail || !splits_k(row, g))
        return;
    for (int is_columns = 0; is_columns < 2; ++is_columns) {
        const int64_t lines = is_columns ? tiles_n : tiles_m,
                      across = is_columns ? tiles_m : tiles_n;
        const int64_t first = (int64_t)(rounds * resident / (double)across);
        if (first < 1 || first >= lines)
            continue;
        const int64_t parts =
            parts_of_tail(row, g, (double)(lines - first) * (double)across, resident);
        choice_t c = whole;
        c.tail.is_columns = is_columns;
        c.tail.lines = is_columns ? g->n - first * row->gpu->bn : g->m - first * row->gpu->bm;
        c.tail.split_k = k_of_part(row->gpu, g, parts);
        c.tail.splits = ceil_div(g->k, c.tail.split_k);
        if (c.tail.splits > 1)
            try_choice(t, c, best);
    }
}

/* Two blocks fetch each block of B together, which is worth while where they wait for boxes. */
static bool may_pair(const task_t *t, const choice_t *c) {
    if (!t->row->gpu->pairs || t->g->m <= t->row->gpu->bm)
        return false;
    tcgemm_canonical_t own;
    return tcgemm_gpu_waits_for_boxes(t->row, with_packed(t, c->packs, &own), t->device);
}

static void try_pairs(const task_t *t, choice_t c, choice_t *best) {
    c.in_pairs = true;
    if (may_pair(t, &c))
        try_choice(t, c, best);
}

static bool is_reproducible(const struct tcgemm_plan *plan) {
    return (plan->g.flags & TCGEMM_FLAG_REPRODUCIBLE) != 0;
}

/* tcgemm_choice_problem: the plan's own, or, where they differ, in `own`. */
static const tcgemm_canonical_t *choice_problem(const struct tcgemm_plan *plan,
                                                tcgemm_canonical_t *own) {
    if (!is_reproducible(plan))
        return &plan->g;
    *own = tcgemm_choice_problem(&plan->g);
    return own;
}

/* Packs neither operand, one or both; blocks in pairs, or each for itself. */
static void choose_packing(const task_t *t, choice_t *best) {
    best->packs = t->must;
    best->in_pairs = false;
    best->seconds = other_seconds(t, best) + products_seconds(t, best);
    const choice_t as_it_is = *best;
    try_pairs(t, as_it_is, best);
    for (unsigned more = 1; more <= t->may; ++more) {
        choice_t c = as_it_is;
        if (more & ~t->may)
            continue;
        c.packs = t->must | more;
        try_choice(t, c, best);
        try_pairs(t, c, best);
    }
}

static choice_t in_one_go(const tcgemm_canonical_t *g) {
    return (choice_t){.splits = 1, .split_k = g->k, .ranks = 1};
}

/* The ways of a task of the plan's choice_problem. */
static choice_t choose_way(const task_t *t, const struct tcgemm_plan *plan) {
    choice_t best = in_one_go(t->g);
    choose_packing(t, &best);
    const choice_t whole = best;
    try_splits(t, &best);
    try_clusters(t, &whole, &best);
    if (!is_reproducible(plan)) /* a row of D would know how many there are */
        try_tail(t, &best);
    return best;
}

static choice_t choose(const tcgemm_kernel_t *row, const struct tcgemm_plan *plan) {
    tcgemm_canonical_t own;
    task_t t;
    set_task(row, choice_problem(plan, &own), plan->device, &t);
    return choose_way(&t, plan);
}

/* The parts of k, which decide the bits, come from the problem that stands for it; the packing,
 * which does not, from the problem itself. */
static choice_t choose_for(const tcgemm_kernel_t *row, const struct tcgemm_plan *plan) {
    tcgemm_canonical_t own;
    task_t t;
    set_task(row, choice_problem(plan, &own), plan->device, &t);
    choice_t best = choose_way(&t, plan);
    take_fewer_parts(&t, &best);
    if (is_reproducible(plan)) {
        set_task(row, &plan->g, plan->device, &t);
        choose_packing(&t, &best);
    }
    return best;
}

/* The same for pointers that are not on a boundary: only the packing is another, for the bits of D
 * do not depend on where the matrices lie. */
static choice_t choose_unaligned(const tcgemm_kernel_t *row, const struct tcgemm_plan *plan,
                                 const choice_t *aligned) {
    tcgemm_canonical_t g = plan->g;
    choice_t c = *aligned;
    spoil(&g.a);
    spoil(&g.b);
    if (tcgemm_operand_ld(&g.a) == tcgemm_operand_ld(&plan->g.a) &&
        tcgemm_operand_ld(&g.b) == tcgemm_operand_ld(&plan->g.b))
        return c;
    task_t t;
    set_task(row, &g, plan->device, &t);
    choice_t packing = is_reproducible(plan) ? c : in_one_go(&g);
    choose_packing(&t, &packing);
    c.packs = packing.packs;
    c.in_pairs = packing.in_pairs;
    return c;
}

/* ---- the steps ---- */

/* Takes so many bytes of the workspace. */
static size_t reserve(tcgemm_steps_t *s, size_t bytes) {
    const size_t at = s->workspace_bytes;
    s->workspace_bytes = (size_t)round_up((int64_t)(at + bytes), BOUNDARY);
    return at;
}

static tcgemm_step_t *append(tcgemm_steps_t *s, tcgemm_step_kind_t kind) {
    tcgemm_step_t *step = &s->step[s->count++];
    step->kind = kind;
    step->splits = 1;
    step->ranks = 1;
    return step;
}

static void add_packing(tcgemm_steps_t *s, const tcgemm_kernel_t *row, tcgemm_step_kind_t kind,
                        tcgemm_view_t *operand, bool joins, const struct tcgemm_plan *plan) {
    const tcgemm_canonical_t *g = &plan->g;
    const bool is_b = kind == TCGEMM_STEP_PACK_B;
    const int64_t rows = is_b ? g->k : g->m, cols = is_b ? g->n : g->k;
    tcgemm_step_t *step = append(s, kind);
    step->a = *operand;
    pack(row, is_b, rows, cols, &operand->at);
    const size_t bytes = (size_t)(packed_elements(&operand->at, rows, cols, plan->g.batch) *
                                  bytes_of(operand->at.dtype));
    operand->home = TCGEMM_HOME_WORKSPACE;
    operand->offset = reserve(s, bytes);
    step->d = *operand;
    step->written_bytes = bytes;
    step->joins = joins;
    step->seconds = step_seconds(moved_bytes(&step->a.at, &operand->at, rows, cols, plan->g.batch),
                                 joins, plan->device);
}

/* The result of the last step, a product, becomes sums in the workspace. */
static void add_reduction(tcgemm_steps_t *s, const struct tcgemm_plan *plan) {
    tcgemm_step_t *const product = &s->step[s->count - 1];
    const tcgemm_canonical_t g = with_area(&plan->g, &product->area);
    const int64_t pitch = partial_pitch(&g);
    tcgemm_step_t *step = append(s, TCGEMM_STEP_REDUCE);
    step->d = product->d;
    step->area = product->area;
    step->written_bytes = product->written_bytes;
    product->written_bytes = (size_t)partial_bytes(&g, product->splits);
    product->d = (tcgemm_view_t){
        .home = TCGEMM_HOME_WORKSPACE,
        .offset = reserve(s, (size_t)partial_bytes(&g, product->splits)),
        .at = {.dtype = g.type->accumulator,
               .row_stride = pitch,
               .col_stride = 1,
               .batch_stride = g.m * pitch},
    };
    step->a = product->d;
    step->splits = product->splits;
    step->seconds = reduce_seconds(&g, product->splits, plan->device);
}

/* The product of an area of D, of operands where `from` has them, and the sum of its parts of k. */
static void add_product(tcgemm_steps_t *s, const struct tcgemm_plan *plan,
                        const tcgemm_kernel_t *row, const tcgemm_step_t *from, tcgemm_area_t area,
                        int64_t splits, int64_t split_k, int ranks, bool in_pairs) {
    tcgemm_step_t *const product = append(s, TCGEMM_STEP_PRODUCT);
    *product = *from;
    product->kernel = splits > 1 ? row_of_sums(row) : row;
    product->area = area;
    product->splits = (int)splits;
    product->split_k = split_k;
    product->ranks = ranks;
    product->in_pairs = in_pairs;
    product->written_bytes = (size_t)((double)plan->g.batch * (double)area.rows *
                                      (double)area.cols * (double)bytes_of(plan->g.type->d));
    const tcgemm_canonical_t seen = tcgemm_gpu_step_problem(plan, product);
    product->seconds = tcgemm_gpu_time(row, &seen, ranks, in_pairs, plan->device).total;
    const uint32_t group = tcgemm_gpu_raster_group(row, &seen, plan->device);
    product->gpu.raster_group = in_pairs ? (group + 1) / 2 * 2 : group;
    product->gpu.registers = tcgemm_gpu_registers_of(row);
    product->gpu.smem_bytes = row->gpu->smem_bytes;
    product->gpu.blocks_per_sm =
        tcgemm_gpu_occupancy(row->gpu, product->gpu.registers, plan->device).blocks;
    product->gpu.grid_blocks = tcgemm_gpu_grid(plan, product, tcgemm_gpu_tiles(plan, product));
    if (splits > 1)
        add_reduction(s, plan);
}

static void set_steps(const struct tcgemm_plan *plan, const tcgemm_kernel_t *row, const choice_t *c,
                      tcgemm_steps_t *s) {
    memset(s, 0, sizeof *s);
    tcgemm_step_t product = tcgemm_whole_product(plan);
    const tcgemm_area_t rest = area_of_rest(&plan->g, &c->tail);
    const bool joins = c->packs & TCGEMM_OPERAND_A && packs_alike(row, &plan->g);
    if (c->packs & TCGEMM_OPERAND_A)
        add_packing(s, row, TCGEMM_STEP_PACK_A, &product.a, false, plan);
    if (c->packs & TCGEMM_OPERAND_B)
        add_packing(s, row, TCGEMM_STEP_PACK_B, &product.b, joins, plan);
    if (c->tail.lines == 0 || (rest.rows > 0 && rest.cols > 0))
        add_product(s, plan, row, &product, rest, c->splits, c->split_k, c->ranks, c->in_pairs);
    if (c->tail.lines > 0)
        add_product(s, plan, row, &product, area_of_tail(&plan->g, &c->tail), c->tail.splits,
                    c->tail.split_k, 1, false);
    for (int i = 0; i < s->count; ++i)
        s->seconds += s->step[i].seconds;
}

/* ---- for families ---- */

bool tcgemm_gpu_fits(const tcgemm_kernel_t *row, const tcgemm_device_t *device) {
    return device && tcgemm_gpu_row_fits(row->gpu, device);
}

bool tcgemm_gpu_takes(const tcgemm_kernel_t *row, const tcgemm_canonical_t *g) {
    const int64_t most = INT32_MAX - 1024; /* a box may begin a tile beyond the end */
    const int64_t rows[] = {tcgemm_operand_ld(&g->a) * bytes_of(g->a.dtype),
                            tcgemm_operand_ld(&g->b) * bytes_of(g->b.dtype),
                            g->a.batch_stride * bytes_of(g->a.dtype),
                            g->b.batch_stride * bytes_of(g->b.dtype)};
    bool good = g->m <= most && g->n <= most && g->k <= most && g->batch <= most;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i)
        good = good && rows[i] < (int64_t)1 << 40;
    return good || !row->gpu->tensor_maps;
}

/* Whether the number of rows of D that the row counts on is one that must not matter. */
static bool must_not_matter(const tcgemm_kernel_t *row, const tcgemm_canonical_t *g) {
    const bool few_are_rows = (row->gpu->streams == TCGEMM_STREAMS_B) != g->swapped;
    return few_are_rows && (g->flags & TCGEMM_FLAG_REPRODUCIBLE) != 0;
}

/* k is counted in 32 bits, a round beyond its end. */
bool tcgemm_gpu_takes_few(const tcgemm_kernel_t *row, const tcgemm_canonical_t *g) {
    const bool are_few =
        row->gpu->streams == TCGEMM_STREAMS_B ? g->m <= row->gpu->bm : g->n <= row->gpu->bn;
    return are_few && g->k < INT32_MAX - 65536 && !must_not_matter(row, g) &&
           tcgemm_gpu_takes(row, g);
}

/* The least of what is packed beside what must be, to any avail: where threads load A and B, the
 * slower one holds up both, and two that are equally slow are packed both or neither. */
static double least_packing(const task_t *t) {
    if (t->may == (TCGEMM_OPERAND_A | TCGEMM_OPERAND_B) && !t->row->gpu->tensor_maps &&
        tcgemm_gpu_row_alignment(&t->g->a) == tcgemm_gpu_row_alignment(&t->g->b))
        return packing_seconds(t, t->may);
    const double a = t->may & TCGEMM_OPERAND_A ? t->a_bytes : HUGE_VAL;
    const double b = t->may & TCGEMM_OPERAND_B ? t->b_bytes : HUGE_VAL;
    return step_seconds(min_f64(a, b), t->must != 0, t->device);
}

/* Each way that choose() tries takes the steps that pack what must be packed, and one of four kinds
 * of products, with what its kind takes more, at its least: two parts of k to be added up, or, of a
 * tail, who knows how little; one operand to be packed. */
double tcgemm_gpu_bound(const tcgemm_kernel_t *row, const struct tcgemm_plan *plan) {
    tcgemm_canonical_t own, own_read;
    task_t t;
    set_task(row, choice_problem(plan, &own), plan->device, &t);
    const tcgemm_gpu_floors_t floors =
        tcgemm_gpu_floors(row, with_packed(&t, t.must, &own_read), t.may != 0, plan->device);
    double other = HUGE_VAL, copied = floors.copied;
    if (is_deep(row, t.g)) {
        const double sums = !row->gpu->splits_k    ? 0.0
                            : floors.may_have_tail ? tcgemm_gpu_reduce_seconds(0.0, 0, t.device)
                                                   : reduce_seconds(t.g, 2, t.device);
        other = sums + floors.shared;
        copied = min_f64(copied, sums + floors.copied_shared);
    }
    if (t.may)
        other = min_f64(other, least_packing(&t) + copied);
    const double packing = packing_seconds(&t, t.must);
    return min_f64(packing + floors.whole, just_below(packing + other));
}

/* Where boxes can bring both operands as they lie, a row whose warps would is none to choose: boxes
 * come three times as fast. */
static double worth(const tcgemm_kernel_t *row, const struct tcgemm_plan *plan) {
    static const double none = 10.0;
    if (!row->gpu->by_warps)
        return 1.0;
    tcgemm_canonical_t own;
    const tcgemm_canonical_t *const g = choice_problem(plan, &own);
    const bool can_come_by_boxes =
        tcgemm_gpu_row_alignment(&g->a) >= PIECE && tcgemm_gpu_row_alignment(&g->b) >= PIECE;
    return can_come_by_boxes ? none : 1.0;
}

double tcgemm_gpu_predict(const tcgemm_kernel_t *row, const struct tcgemm_plan *plan) {
    return choose(row, plan).seconds * worth(row, plan);
}

void tcgemm_gpu_expand(const tcgemm_kernel_t *row, struct tcgemm_plan *plan) {
    const choice_t c = choose_for(row, plan);
    plan->num_threads = plan->max_threads;
    set_steps(plan, row, &c, &plan->steps);
    if (!row->gpu->pads_rows && !row->gpu->tensor_maps)
        return;
    const choice_t other = choose_unaligned(row, plan, &c);
    if (other.packs != c.packs || other.in_pairs != c.in_pairs)
        set_steps(plan, row, &other, &plan->if_unaligned);
}

/* What a panel has of the tail of the whole. */
static tail_t tail_within(const struct tcgemm_plan *whole, const tcgemm_area_t *at, int64_t k) {
    const tcgemm_step_t *const tail = tcgemm_plan_tail(whole);
    tail_t t = {0};
    if (!tail)
        return t;
    t.is_columns = tail->area.row == 0;
    t.lines = t.is_columns ? min_i64(at->cols, at->col + at->cols - tail->area.col)
                           : min_i64(at->rows, at->row + at->rows - tail->area.row);
    t.split_k = tail->split_k;
    t.splits = ceil_div(k, tail->split_k);
    return t.lines > 0 && t.splits > 1 ? t : (tail_t){0};
}

void tcgemm_gpu_expand_like(const struct tcgemm_plan *whole, const tcgemm_area_t *at,
                            struct tcgemm_plan *panel) {
    const tcgemm_step_t *product = tcgemm_plan_product(whole);
    const tcgemm_canonical_t *g = &panel->g;
    const bool a = must_pack(whole->kernel, &g->a, false, g->m, g->k);
    const bool b = must_pack(whole->kernel, &g->b, true, g->k, g->n);
    const choice_t c = {.packs = (a ? TCGEMM_OPERAND_A : 0) | (b ? TCGEMM_OPERAND_B : 0),
                        .splits = ceil_div(panel->g.k, product->split_k),
                        .split_k = product->split_k,
                        .ranks = product->ranks,
                        .tail = tail_within(whole, at, panel->g.k)};
    panel->device = whole->device;
    panel->kernel = whole->kernel;
    panel->num_threads = panel->max_threads = whole->num_threads;
    set_steps(panel, whole->kernel, &c, &panel->steps);
}
