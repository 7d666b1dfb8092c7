/* expand.c - which steps a product on a GPU takes: the model decides among
 *
 *     rows that no wide load can take are packed first, one operand or both, or are read as they
 * are (a kernel that fetches by tensor maps cannot read them, nor, but for 16 bit, those where k is
 * not contiguous, nor can that of FP8 by mma.sync: they are packed, turned round on the way);
 * operands of types that are computed in a wider one are widened while they are packed; k is split
 * where D has too few tiles for the SMs, and the parts are added up in order; so is the k of the
 * tail, the last rows or columns of D, where the last round of tiles would leave SMs idle. Where
 * blocks wait for boxes of an operand that is not packed, two of them may fetch B together.
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
static const double seconds_a_part = 5e-9; /* of a reduction, beside its bytes; on an H200 */
/* Of resident blocks, to try a split for. */
static const double waves[] = {0.25, 0.5, 1.0, 2.0, 3.0};
/* A tail is tried for products that take so long and whose rounds could do so much more. */
static const double least_seconds_of_tail = 20e-6;
static const double least_idle = 1.05;
/* It saves less than the model says where the clock follows the power of the tensor cores: while
 * the last round leaves SMs idle, the others are faster. So such a plan counts for so much longer.
 */
static const double heat_of_tail = 1.035;
/* Small tiles of 16 bits and more read more bytes for each product, which costs power: up to 5 % of
 * the time where products take so long, the more the longer a program multiplies
 * (bench/results/notes.md, "Small tiles are hot"). So they, too, count for longer. */
static const double heat_of_small_tile = 1.03;
static const double least_seconds_of_heat = 50e-6;
enum { SMALL_TILE = 128 * 128 }; /* elements of D */

/* The last rows (columns) of D, whose k is in parts of its own. */
typedef struct tail {
    int64_t lines; /* 0: there is none */
    bool is_columns;
    int64_t splits, split_k;
} tail_t;

typedef struct choice {
    bool pack_a, pack_b;
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

/* The operand in a packed copy: rows on 16-byte boundaries (of 128 bytes where boxes are fetched),
 * of the same layout or, if the kernel wants that, with k contiguous; in the dtype that its code
 * reads. */
static tcgemm_operand_t packed(const tcgemm_kernel_t *row, const tcgemm_operand_t *x, bool is_b,
                               int64_t rows, int64_t cols) {
    const bool turns = needs_turning(row, x, is_b);
    const bool in_rows = (x->col_stride == 1) != turns;
    const int64_t boundary = row->gpu->tensor_maps ? TCGEMM_TENSOR_ROW : PIECE;
    tcgemm_operand_t p = *x;
    if (tcgemm_gpu_widens(row->gpu))
        p.dtype = tcgemm_type_info(row->gpu->code)->a;
    const int64_t pitch = round_up(in_rows ? cols : rows, boundary / bytes_of(p.dtype));
    p.row_stride = in_rows ? pitch : 1;
    p.col_stride = in_rows ? 1 : pitch;
    if (x->batch_stride)
        p.batch_stride = (in_rows ? rows : cols) * pitch;
    p.padded = true;
    return p;
}

static size_t packed_bytes(const tcgemm_operand_t *p, int64_t rows, int64_t cols, int64_t batch) {
    const int64_t item = tcgemm_operand_lines(p, rows, cols) * tcgemm_operand_ld(p);
    return (size_t)(item * (p->batch_stride ? batch : 1) * bytes_of(p->dtype));
}

/* Of the operand, once, and of its copy. */
static double moved_bytes(const tcgemm_operand_t *x, const tcgemm_operand_t *p, int64_t rows,
                          int64_t cols, int64_t batch) {
    const double written = (double)packed_bytes(p, rows, cols, batch);
    return written + written * (double)bytes_of(x->dtype) / (double)bytes_of(p->dtype);
}

/* Whether a copy could be read faster than the operand itself. */
static bool is_narrow(const tcgemm_kernel_t *row, const tcgemm_operand_t *x, int64_t rows,
                      int64_t cols) {
    if (row->gpu->tensor_maps)
        return tcgemm_operand_ld(x) * bytes_of(x->dtype) % (TCGEMM_TENSOR_ROW / 2) != 0;
    const int64_t length = tcgemm_operand_length(x, rows, cols);
    return tcgemm_gpu_alignment(NULL, x->dtype, 2, tcgemm_operand_ld(x), 2, x->batch_stride) <
               PIECE ||
           length * bytes_of(x->dtype) % PIECE != 0;
}

/* Whether the kernel cannot read the operand, rows x cols, but from a copy. */
static bool must_pack(const tcgemm_kernel_t *row, const tcgemm_operand_t *x, bool is_b,
                      int64_t rows, int64_t cols) {
    if (tcgemm_gpu_widens(row->gpu))
        return true;
    if (tcgemm_gpu_may_gather(row->gpu, is_b))
        return false;
    if (row->gpu->whole_rows && !x->padded && is_narrow(row, x, rows, cols))
        return true;
    return needs_turning(row, x, is_b) ||
           (row->gpu->tensor_maps && tcgemm_gpu_alignment(NULL, x->dtype, 2, tcgemm_operand_ld(x),
                                                          2, x->batch_stride) < PIECE);
}

/* The operand for pointers that are not on a 16-byte boundary: as if its rows were not. */
static void spoil(tcgemm_operand_t *x) {
    if (x->col_stride == 1)
        x->row_stride |= 1;
    else
        x->col_stride |= 1;
}

static tcgemm_canonical_t with_packed(const tcgemm_kernel_t *row, const tcgemm_canonical_t *g,
                                      const choice_t *c) {
    tcgemm_canonical_t p = *g;
    if (c->pack_a)
        p.a = packed(row, &g->a, false, g->m, g->k);
    if (c->pack_b)
        p.b = packed(row, &g->b, true, g->k, g->n);
    return p;
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

static double packing_seconds(const tcgemm_kernel_t *row, const tcgemm_canonical_t *g,
                              const choice_t *c, const tcgemm_device_t *device) {
    if (!c->pack_a && !c->pack_b)
        return 0.0;
    const tcgemm_canonical_t p = with_packed(row, g, c);
    double seconds = 0.0;
    if (c->pack_a)
        seconds += step_seconds(moved_bytes(&g->a, &p.a, g->m, g->k, g->batch), false, device);
    if (c->pack_b)
        seconds += step_seconds(moved_bytes(&g->b, &p.b, g->k, g->n, g->batch),
                                c->pack_a && packs_alike(row, g), device);
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
    return (double)splits * seconds_a_part +
           tcgemm_gpu_move_seconds(partial_bytes(g, splits) + result * (double)bytes_of(g->type->d),
                                   device);
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
static double products_seconds(const tcgemm_kernel_t *row, const tcgemm_canonical_t *g,
                               const tcgemm_device_t *device, const choice_t *c) {
    tcgemm_canonical_t copies;
    if (c->pack_a || c->pack_b) {
        copies = with_packed(row, g, c);
        g = &copies;
    }
    if (c->tail.lines == 0)
        return product_seconds(row, g, c->splits, c->split_k, c->ranks, c->in_pairs, device);
    const tcgemm_area_t first = area_of_rest(g, &c->tail), last = area_of_tail(g, &c->tail);
    const tcgemm_canonical_t rest = with_area(g, &first), tail = with_area(g, &last);
    return product_seconds(row, &rest, c->splits, c->split_k, c->ranks, c->in_pairs, device) +
           product_seconds(row, &tail, c->tail.splits, c->tail.split_k, 1, false, device);
}

/* Of all other steps. */
static double other_seconds(const tcgemm_kernel_t *row, const tcgemm_canonical_t *g,
                            const tcgemm_device_t *device, const choice_t *c) {
    double seconds = packing_seconds(row, g, c, device);
    if (c->splits > 1)
        seconds += reduce_seconds(g, c->splits, device);
    if (c->tail.lines > 0) {
        const tcgemm_area_t area = area_of_tail(g, &c->tail);
        const tcgemm_canonical_t tail = with_area(g, &area);
        seconds += reduce_seconds(&tail, c->tail.splits, device);
    }
    return seconds;
}

/* Whether the kernel multiplies by tensor cores at their full power. */
static bool is_hot(const tcgemm_kernel_t *row) {
    return row->gpu->type != TCGEMM_F32_F32 && row->gpu->type != TCGEMM_F64_F64;
}

static bool is_hot_and_small(const tcgemm_kernel_t *row, double seconds) {
    const tcgemm_gpu_row_t *const r = row->gpu;
    return is_hot(row) && r->tensor_maps && r->bm * r->bn <= SMALL_TILE &&
           bytes_of(tcgemm_type_info(r->code)->a) > 1 && seconds > least_seconds_of_heat;
}

static void try_choice(const tcgemm_kernel_t *row, const tcgemm_canonical_t *g,
                       const tcgemm_device_t *device, choice_t c, choice_t *best) {
    c.seconds = other_seconds(row, g, device, &c);
    if (c.seconds + tcgemm_gpu_least_seconds() >= best->seconds)
        return; /* however long the product takes */
    c.seconds += products_seconds(row, g, device, &c);
    if (c.tail.lines > 0 && is_hot(row))
        c.seconds *= heat_of_tail;
    if (c.seconds < best->seconds)
        *best = c;
}

/* Whether k can be split at all. */
static bool splits_k(const tcgemm_kernel_t *row, const tcgemm_canonical_t *g) {
    return row->gpu->splits_k && row->needs != TCGEMM_FLAG_F16_ACCUMULATE &&
           g->k > (2 * (int64_t)LEAST_BLOCKS - 1) * row->gpu->bk && row_of_sums(row);
}

/* As many parts as make so many waves of resident blocks, each whole blocks of k. */
static void try_splits(const tcgemm_kernel_t *row, const tcgemm_canonical_t *g,
                       const tcgemm_device_t *device, choice_t *best) {
    const tcgemm_gpu_row_t *r = row->gpu;
    const double tiles =
        ceil_f64((double)g->m / r->bm) * ceil_f64((double)g->n / r->bn) * (double)g->batch;
    const double resident = tcgemm_gpu_resident_blocks(r, 1, device);
    const int64_t blocks = ceil_div(g->k, r->bk);
    const choice_t whole = *best;
    if (tiles >= resident || !splits_k(row, g))
        return;
    for (size_t i = 0; i < sizeof waves / sizeof waves[0]; ++i) {
        const int64_t wanted = min_i64((int64_t)(waves[i] * resident / tiles), MOST_SPLITS);
        const int64_t most = min_i64(wanted, blocks / LEAST_BLOCKS);
        if (most < 2)
            continue;
        choice_t c = whole;
        c.split_k = ceil_div(blocks, most) * r->bk;
        c.splits = ceil_div(g->k, c.split_k);
        if (c.splits > 1 && partial_bytes(g, c.splits) <= most_partial_bytes)
            try_choice(row, g, device, c, best);
    }
}

/* Or as many ranks of a cluster as share a tile, which need no other step. Both at once, parts that
 * are clusters' sums, is slower than parts alone (bench/results/notes.md). */
static void try_clusters(const tcgemm_kernel_t *row, const tcgemm_canonical_t *g,
                         const tcgemm_device_t *device, const choice_t *whole, choice_t *best) {
    const int64_t blocks = ceil_div(g->k, row->gpu->bk);
    choice_t c = *whole;
    c.in_pairs = false;
    for (c.ranks = 2; c.ranks <= row->gpu->max_ranks; c.ranks *= 2)
        if (blocks >= (int64_t)c.ranks * LEAST_BLOCKS)
            try_choice(row, g, device, c, best);
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
static void try_tail(const tcgemm_kernel_t *row, const tcgemm_canonical_t *g,
                     const tcgemm_device_t *device, choice_t *best) {
    const int64_t tiles_m = ceil_div(g->m, row->gpu->bm), tiles_n = ceil_div(g->n, row->gpu->bn);
    const double tiles = (double)tiles_m * (double)tiles_n;
    const double resident = tcgemm_gpu_resident_blocks(row->gpu, 1, device);
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
        c.tail.split_k = ceil_div(ceil_div(g->k, row->gpu->bk), parts) * row->gpu->bk;
        c.tail.splits = ceil_div(g->k, c.tail.split_k);
        if (c.tail.splits > 1)
            try_choice(row, g, device, c, best);
    }
}

/* Two blocks fetch each block of B together, which is worth while where they wait for boxes. */
static bool may_pair(const tcgemm_kernel_t *row, const tcgemm_canonical_t *g,
                     const tcgemm_device_t *device, const choice_t *c) {
    if (g->m <= row->gpu->bm)
        return false;
    const tcgemm_canonical_t p = with_packed(row, g, c);
    return tcgemm_gpu_waits_for_boxes(row, &p, device);
}

static void try_pairs(const tcgemm_kernel_t *row, const tcgemm_canonical_t *g,
                      const tcgemm_device_t *device, choice_t c, choice_t *best) {
    c.in_pairs = true;
    if (row->gpu->pairs && may_pair(row, g, device, &c))
        try_choice(row, g, device, c, best);
}

/* Packs neither operand, one or both; blocks in pairs, or each for itself. */
static void choose_packing(const tcgemm_kernel_t *row, const tcgemm_canonical_t *g,
                           const tcgemm_device_t *device, choice_t *best) {
    best->pack_a = must_pack(row, &g->a, false, g->m, g->k);
    best->pack_b = must_pack(row, &g->b, true, g->k, g->n);
    best->in_pairs = false;
    best->seconds = other_seconds(row, g, device, best) + products_seconds(row, g, device, best);
    if (!row->gpu->pads_rows && !row->gpu->tensor_maps)
        return;
    const bool a = !tcgemm_gpu_may_gather(row->gpu, false) && is_narrow(row, &g->a, g->m, g->k);
    const bool b = !tcgemm_gpu_may_gather(row->gpu, true) && is_narrow(row, &g->b, g->k, g->n);
    const choice_t as_it_is = *best;
    try_pairs(row, g, device, as_it_is, best);
    for (int which = 1; which < 4; ++which) {
        choice_t c = as_it_is;
        c.pack_a = as_it_is.pack_a || (which & 1) != 0;
        c.pack_b = as_it_is.pack_b || (which & 2) != 0;
        if ((!a && c.pack_a != as_it_is.pack_a) || (!b && c.pack_b != as_it_is.pack_b))
            continue;
        try_choice(row, g, device, c, best);
        try_pairs(row, g, device, c, best);
    }
}

/* The parts of k, which decide the bits, come from the problem that stands for it; the packing,
 * which does not, from the problem itself. */
static choice_t choose(const tcgemm_kernel_t *row, const struct tcgemm_plan *plan,
                       bool pointers_are_aligned) {
    const bool is_reproducible = (plan->g.flags & TCGEMM_FLAG_REPRODUCIBLE) != 0;
    tcgemm_canonical_t g = tcgemm_choice_problem(&plan->g);
    choice_t best = {.splits = 1, .split_k = g.k, .ranks = 1};
    if (!pointers_are_aligned && !is_reproducible) {
        spoil(&g.a);
        spoil(&g.b);
    }
    choose_packing(row, &g, plan->device, &best);
    const choice_t whole = best;
    try_splits(row, &g, plan->device, &best);
    try_clusters(row, &g, plan->device, &whole, &best);
    if (!is_reproducible) /* a row of D would know how many there are */
        try_tail(row, &g, plan->device, &best);
    if (is_hot_and_small(row, best.seconds))
        best.seconds *= heat_of_small_tile;
    return best;
}

static choice_t choose_for(const tcgemm_kernel_t *row, const struct tcgemm_plan *plan,
                           bool pointers_are_aligned) {
    choice_t best = choose(row, plan, pointers_are_aligned);
    if (!(plan->g.flags & TCGEMM_FLAG_REPRODUCIBLE))
        return best;
    tcgemm_canonical_t g = plan->g;
    if (!pointers_are_aligned) {
        spoil(&g.a);
        spoil(&g.b);
    }
    choose_packing(row, &g, plan->device, &best);
    return best;
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
    operand->at = packed(row, &step->a.at, is_b, rows, cols);
    const size_t bytes = packed_bytes(&operand->at, rows, cols, plan->g.batch);
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

static tcgemm_steps_t steps_of(const struct tcgemm_plan *plan, const tcgemm_kernel_t *row,
                               const choice_t *c) {
    tcgemm_steps_t s;
    memset(&s, 0, sizeof s);
    tcgemm_step_t product = tcgemm_single_step(plan, 0.0).step[0];
    const tcgemm_area_t rest = area_of_rest(&plan->g, &c->tail);
    const bool joins = c->pack_a && packs_alike(row, &plan->g);
    if (c->pack_a)
        add_packing(&s, row, TCGEMM_STEP_PACK_A, &product.a, false, plan);
    if (c->pack_b)
        add_packing(&s, row, TCGEMM_STEP_PACK_B, &product.b, joins, plan);
    if (c->tail.lines == 0 || (rest.rows > 0 && rest.cols > 0))
        add_product(&s, plan, row, &product, rest, c->splits, c->split_k, c->ranks, c->in_pairs);
    if (c->tail.lines > 0)
        add_product(&s, plan, row, &product, area_of_tail(&plan->g, &c->tail), c->tail.splits,
                    c->tail.split_k, 1, false);
    for (int i = 0; i < s.count; ++i)
        s.seconds += s.step[i].seconds;
    return s;
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

double tcgemm_gpu_predict(const tcgemm_kernel_t *row, const struct tcgemm_plan *plan,
                          double limit) {
    if (limit < HUGE_VAL) {
        const tcgemm_canonical_t g = tcgemm_choice_problem(&plan->g);
        const double floor = tcgemm_gpu_floor(row, &g, plan->device);
        if (floor > limit)
            return floor;
    }
    return choose(row, plan, true).seconds;
}

void tcgemm_gpu_expand(const tcgemm_kernel_t *row, struct tcgemm_plan *plan) {
    const choice_t c = choose_for(row, plan, true);
    plan->num_threads = plan->max_threads;
    plan->steps = steps_of(plan, row, &c);
    if (!row->gpu->pads_rows && !row->gpu->tensor_maps)
        return;
    choice_t other = choose_for(row, plan, false);
    other.splits = c.splits; /* the bits of D do not depend on where the matrices lie */
    other.split_k = c.split_k;
    other.ranks = c.ranks;
    other.tail = c.tail;
    if (other.pack_a != c.pack_a || other.pack_b != c.pack_b || other.in_pairs != c.in_pairs)
        plan->if_unaligned = steps_of(plan, row, &other);
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
    const choice_t c = {.pack_a = must_pack(whole->kernel, &g->a, false, g->m, g->k),
                        .pack_b = must_pack(whole->kernel, &g->b, true, g->k, g->n),
                        .splits = ceil_div(panel->g.k, product->split_k),
                        .split_k = product->split_k,
                        .ranks = product->ranks,
                        .tail = tail_within(whole, at, panel->g.k)};
    panel->device = whole->device;
    panel->kernel = whole->kernel;
    panel->num_threads = panel->max_threads = whole->num_threads;
    panel->steps = steps_of(panel, whole->kernel, &c);
}
