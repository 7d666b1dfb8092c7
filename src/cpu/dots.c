/* dots.c - see dots.h: the few rows, or columns, are packed beside each other as `x`, then units of
 * lines are multiplied.
 *
 *     lines along k     each is read once, beside some others, against all rows of x
 *     lines across k    rows of memory hold an element of each line: some rows at a time go down k,
 *                       the unit's sums come and go
 *
 *              x                lines along k                lines across k
 *            k ->                   k ->                     line ->
 *        row |x x x x|        line  |. . . . .|          k   |. . . . . . .|
 *                                   |. . . . .|          v   |. . . . . . .|
 *
 * The steps of k are those of tiles (gemm.c), and a unit is computed by one thread, so that the
 * bits of D depend neither on the number of threads nor on who did what.
 */
#include "cpu/dots.h"

#include <stdatomic.h>
#include <string.h>

#include "base/dtype.h"
#include "base/num.h"
#include "cpu/packing.h"
#include "cpu/panel.h"
#include "host/features.h"
#include "host/pool.h"

/* Elements of k of an item of x; the fewest rows of bytes that lines along k are transposed for. */
enum { X_OF_ITEM = 512, LEAST_QUADS = 8 };

/* ---- the workspace ---- */

/* Bytes as lanes of four, or rows of them one behind the other. (Matrix tiles take any signs.) */
static bool is_of_quads(const struct tcgemm_plan *plan) {
    return tcgemm_dots_are_integers(plan) && plan->cpu.dots_in_lanes &&
           plan->kernel->cpu->x_bytes == 1 && !tcgemm_is_matrix(plan->kernel->cpu);
}

static bool is_of_bytes(const struct tcgemm_plan *plan) {
    return tcgemm_dots_are_integers(plan) && !plan->cpu.dots_in_lanes;
}

/* Rows of x from `row` on that are packed beside each other. */
static int width_of_x(const struct tcgemm_plan *plan, int row) {
    const int most = tcgemm_dots_at_a_time(plan);
    int width = 1;
    if (plan->cpu.dots_in_lanes && tcgemm_is_matrix(plan->kernel->cpu))
        width = most;
    else if (is_of_quads(plan) && !plan->cpu.across)
        width = LEAST_QUADS;
    while (width < most && width < tcgemm_dots_few(plan) - row)
        width *= 2;
    return width;
}

/* ---- bytes: rows of x one behind the other, and their terms (ukernel.h) ---- */

static int64_t rows_of_bytes(const struct tcgemm_plan *plan) {
    const int64_t few = tcgemm_dots_few(plan);
    return few <= 2 ? few : round_up(few, 4);
}

static int64_t k_stride_of_x(const struct tcgemm_plan *plan) {
    const tcgemm_canonical_t *g = &plan->g;
    return plan->cpu.dots == TCGEMM_DOTS_ROWS ? g->a.col_stride : g->b.row_stride;
}

static bool x_is_across(const struct tcgemm_plan *plan) {
    return k_stride_of_x(plan) != 1;
}

/* ---- rows of bytes or, for `inner`, of numbers, one behind the other ---- */

static bool has_rows(const struct tcgemm_plan *plan) {
    return plan->cpu.inner || is_of_bytes(plan);
}

/* Whole vectors and one more, so that rows do not share a set of the first-level cache. */
static int64_t pitch_of_rows(const struct tcgemm_plan *plan) {
    enum { VECTOR = 64 };
    const tcgemm_cpu_ukernel_t *u = plan->kernel->cpu;
    const int element = plan->cpu.inner ? tcgemm_sum_bytes(u) : u->x_bytes;
    return round_up(plan->g.k * element, VECTOR) + VECTOR;
}

/* The rows are there already, or one panel of them: numbers of the sums' type that are not to be
 * rounded, along k, or side by side and without gaps as many as a panel has. */
static bool x_is_in_place(const struct tcgemm_plan *plan) {
    const tcgemm_canonical_t *g = &plan->g;
    const bool is_rows = plan->cpu.dots == TCGEMM_DOTS_ROWS;
    const int64_t few = tcgemm_dots_few(plan);
    const int64_t line_stride = is_rows ? g->a.row_stride : g->b.col_stride;
    const int64_t k_stride = k_stride_of_x(plan);
    if (g->type->type == TCGEMM_TF32_F32 ||
        (is_rows ? g->a.dtype : g->b.dtype) != g->type->accumulator)
        return false;
    const bool is_panel = !plan->cpu.dots_in_lanes && few <= tcgemm_dots_at_a_time(plan) &&
                          few == width_of_x(plan, 0) && line_stride == 1 && k_stride == few;
    return k_stride == 1 ? plan->cpu.inner || few == 1 : is_panel && !plan->cpu.inner;
}

/* ---- numbers ---- */

/* Bytes of an element of x packed, and elements of a row: of tiles whole lanes. */
static int x_element_bytes(const struct tcgemm_plan *plan) {
    const tcgemm_cpu_ukernel_t *u = plan->kernel->cpu;
    return plan->cpu.dots_in_lanes ? u->lane_bytes / u->ku : tcgemm_sum_bytes(u);
}

static int64_t x_steps(const struct tcgemm_plan *plan) {
    return plan->cpu.dots_in_lanes ? round_up(plan->g.k, plan->kernel->cpu->ku) : plan->g.k;
}

/* Rows of x and those that fill up the last of its panels. */
static int64_t widths_of_x(const struct tcgemm_plan *plan) {
    int64_t widths = 0;
    for (int row = 0; row < tcgemm_dots_few(plan); row += tcgemm_dots_at_a_time(plan))
        widths += width_of_x(plan, row);
    return widths;
}

/* Terms of each item of x, by whoever packs it, if an item is some elements of k. */
static int64_t terms_of_item(const struct tcgemm_plan *plan) {
    return is_of_quads(plan)                        ? widths_of_x(plan)
           : is_of_bytes(plan) && x_is_across(plan) ? rows_of_bytes(plan)
                                                    : 0;
}

static int64_t x_bytes(const struct tcgemm_plan *plan) {
    if (x_is_in_place(plan))
        return 0;
    if (has_rows(plan))
        return (is_of_bytes(plan) ? rows_of_bytes(plan) : tcgemm_dots_few(plan)) *
               pitch_of_rows(plan);
    return widths_of_x(plan) * x_steps(plan) * x_element_bytes(plan);
}

/* Of all items, or of bytes one for each row. */
static int64_t term_bytes(const struct tcgemm_plan *plan) {
    const int64_t terms = ceil_div(plan->g.k, X_OF_ITEM) * terms_of_item(plan);
    const int64_t rows = is_of_bytes(plan) ? rows_of_bytes(plan) : 0;
    return (terms > rows ? terms : rows) * (int64_t)sizeof(uint32_t);
}

/* Bytes of the sums of a unit of lines across k: of whole vectors. */
static size_t partials_of_lines(const struct tcgemm_plan *plan) {
    const tcgemm_cpu_ukernel_t *u = plan->kernel->cpu;
    const int64_t rows = round_up(tcgemm_dots_few(plan), u->dots_width);
    return tcgemm_align64(rows * round_up(plan->cpu.lines, TCGEMM_LINES_ACROSS) *
                          tcgemm_sum_bytes(u));
}

/* The same of those that become f16 or bf16. */
static size_t sums_of_lines(const struct tcgemm_plan *plan) {
    const int64_t bytes = tcgemm_dots_few(plan) * plan->cpu.lines * (int64_t)sizeof(float);
    return plan->cpu.direct_output ? 0 : tcgemm_align64(bytes);
}

/* Of an item. */
static int threads_of(const struct tcgemm_plan *plan) {
    return plan->cpu.split_batch ? 1 : plan->num_threads;
}

/* Of the units of a few rows times lines each thread has a share, a line of memory for it. */
typedef struct share {
    _Alignas(64) atomic_int_fast64_t num_taken;
} share_t;

/* Offsets of what lies behind x. */
typedef struct dots_layout {
    size_t terms, partials, shares, end;
} dots_layout_t;

static dots_layout_t layout_of(const struct tcgemm_plan *plan) {
    const size_t threads = (size_t)threads_of(plan);
    const size_t each = partials_of_lines(plan) + sums_of_lines(plan);
    dots_layout_t l = {.terms = tcgemm_align64(x_bytes(plan))};
    l.partials = l.terms + tcgemm_align64(term_bytes(plan));
    l.shares = l.partials + (plan->cpu.across ? threads * each : 0);
    l.end = l.shares + (threads > 1 ? threads * sizeof(share_t) : 0);
    return l;
}

size_t tcgemm_dots_bytes(const struct tcgemm_plan *plan) {
    return layout_of(plan).end;
}

/* ---- the run ---- */

/* Streams of lines across k that are read side by side: as many as prefetchers follow, or as have
 * room in the first-level cache. */
enum { CROWDED_STEPS = TCGEMM_STEPS_ACROSS / 2 };
enum { MOST_DOTS = 32, MOST_X = 32 };

typedef struct dots_run {
    const struct tcgemm_plan *plan;
    const tcgemm_call_t *call;
    tcgemm_dots_t whole;  /* of line 0 on, all steps */
    tcgemm_pack_t pack_x; /* and x, as it comes ... */
    char *x;              /* ... and packed: some rows after the others */
    uint32_t *terms;      /* of bytes */
    char *partials;       /* of lines across k: of each thread's unit, and behind them its sums */
    share_t *shares;      /* of the threads, if there are several */
    atomic_bool *is_special; /* a bf16 subnormal was found in x */
    int num_rows;            /* of x */
    int64_t num_lines;
    int d_bytes, sum_bytes;
    int phase;
} dots_run_t;

static dots_run_t dots_of(const struct tcgemm_plan *plan, const tcgemm_call_t *call,
                          char *workspace, atomic_bool *is_special) {
    const tcgemm_canonical_t *g = &plan->g;
    const tcgemm_cpu_block_t all = {.rows = g->m, .cols = g->n, .ks = g->k};
    const tcgemm_signs_t signs = {0};
    const bool is_double = g->type->accumulator == TCGEMM_DTYPE_F64;
    const bool is_rows = plan->cpu.dots == TCGEMM_DOTS_ROWS;
    const tcgemm_operand_t *lines = is_rows ? &g->b : &g->a;
    dots_run_t run = {
        .plan = plan,
        .call = call,
        .whole = {.dtype = lines->dtype,
                  .rounds_to_tf32 = g->type->type == TCGEMM_TF32_F32,
                  .fetches =
                      plan->cpu.fetches && !(plan->cpu.across && tcgemm_cpu_fetches_rows_itself()),
                  .is_crowded = plan->cpu.is_crowded,
                  .is_roomy = plan->cpu.is_roomy,
                  .is_spread = plan->cpu.is_spread,
                  .steps = g->k,
                  .lines = is_rows ? call->b : call->a,
                  .line_stride = is_rows ? lines->col_stride : lines->row_stride,
                  .k_stride = is_rows ? lines->row_stride : lines->col_stride,
                  .d = call->d,
                  .c = call->c,
                  .d_row = is_rows ? g->ldd : 1,
                  .c_row = is_rows ? g->ldc : 1,
                  .d_line = is_rows ? 1 : g->ldd,
                  .c_line = is_rows ? 1 : g->ldc,
                  .x_pitch = pitch_of_rows(plan)},
        .pack_x = is_rows ? tcgemm_pack_of_a(g, TCGEMM_FAMILY_F32, &signs, call->a, 0, &all)
                          : tcgemm_pack_of_b(g, TCGEMM_FAMILY_F32, &signs, call->b, 0, &all),
        .x = workspace,
        .terms = (uint32_t *)(void *)(workspace + layout_of(plan).terms),
        .partials = workspace + layout_of(plan).partials,
        .shares = (share_t *)(void *)(workspace + layout_of(plan).shares),
        .is_special = is_special,
        .num_rows = (int)tcgemm_dots_few(plan),
        .num_lines = tcgemm_dots_lines(plan),
        .d_bytes = tcgemm_dtype_bits(g->type->d) / 8,
        .sum_bytes = is_double ? 8 : 4,
    };
    if (tcgemm_dots_are_integers(plan)) {
        const bool x_is_signed = run.pack_x.dtype == TCGEMM_DTYPE_S8;
        run.pack_x.sum_is_signed = x_is_signed;
        run.whole.alpha.s32 = tcgemm_integer_scalar(call->alpha);
        run.whole.beta.s32 = tcgemm_integer_scalar(call->beta);
        run.whole.x_is_signed = x_is_signed;
        const bool lines_are_signed = lines->dtype == TCGEMM_DTYPE_S8;
        const bool widens = plan->kernel->cpu->x_bytes == 2; /* and wants s8 beside x */
        const bool flips = widens ? !lines_are_signed : x_is_signed == lines_are_signed;
        run.whole.flip = flips ? 0x80 : 0;
        run.pack_x.sum_factor = !flips ? 0 : x_is_signed && !widens ? 0u - 128u : 128u;
        run.whole.term = run.terms;
    } else if (is_double) {
        run.whole.alpha.f64 = call->alpha;
        run.whole.beta.f64 = call->beta;
    } else {
        run.whole.alpha.f32 = (float)call->alpha;
        run.whole.beta.f32 = (float)call->beta;
    }
    for (int i = 0; threads_of(plan) > 1 && i < threads_of(plan); ++i)
        atomic_init(&run.shares[i].num_taken, 0);
    run.pack_x.is_b = true; /* as tiles want it, whose second operand it is; others do not mind */
    if (x_is_in_place(plan)) {
        run.x = tcgemm_element_at(run.pack_x.source, 0, run.sum_bytes);
        run.whole.x_pitch = run.pack_x.line_stride * run.sum_bytes;
        run.phase = 1;
    }
    return run;
}

static int64_t items_of_x(const dots_run_t *run) {
    return is_of_bytes(run->plan) && !x_is_across(run->plan)
               ? rows_of_bytes(run->plan)
               : ceil_div(run->whole.steps, X_OF_ITEM);
}

/* The terms of all items of x become those of the first one. */
static void add_terms(const dots_run_t *run) {
    const int64_t each = terms_of_item(run->plan);
    for (int64_t i = each; i < items_of_x(run) * each; ++i)
        run->terms[i % each] += run->terms[i];
}

/* x is packed, then all lines are multiplied. */
static int64_t next_dots(void *argument) {
    dots_run_t *const run = argument;
    ++run->phase;
    if (run->phase == 2)
        add_terms(run);
    return run->phase == 1   ? items_of_x(run)
           : run->phase == 2 ? ceil_div(run->num_lines, run->plan->cpu.lines)
                             : 0;
}

static int64_t sum_of(const int16_t *numbers, int64_t count) {
    int64_t sum = 0;
    for (int64_t i = 0; i < count; ++i)
        sum += numbers[i];
    return sum;
}

/* What packing to s16 leaves out. */
static uint32_t term_of_s16(const dots_run_t *run, const char *numbers, int64_t count) {
    const uint32_t factor = run->pack_x.sum_factor;
    return factor ? factor * (uint32_t)sum_of((const int16_t *)(const void *)numbers, count) : 0;
}

/* A row of bytes, and what its sums with flipped lines are to be corrected by: those that are s8
 * became 128 more, those that are u8 128 less. */
static void pack_bytes(const dots_run_t *run, int64_t row) {
    const tcgemm_cpu_ukernel_t *u = run->plan->kernel->cpu;
    const tcgemm_dots_t *t = &run->whole;
    char *const to = run->x + row * t->x_pitch;
    memset(to, 0, (size_t)t->x_pitch);
    if (row < run->num_rows)
        (void)u->pack_x(&run->pack_x, row, 1, 1, to, run->terms + row);
    if (u->x_bytes == 2)
        run->terms[row] = term_of_s16(run, to, t->steps);
}

/* `count` numbers that lie `stride` apart. */
static void gather_words(const void *from, int64_t stride, int64_t count, void *to) {
    enum { WORD = 4 }; /* f32, or lanes of bytes */
    for (int64_t p = 0; p < count; ++p)
        memcpy((char *)to + p * WORD, (const char *)from + p * stride * WORD, WORD);
}

static void gather_f64(const double *from, int64_t stride, int64_t count, double *to) {
    for (int64_t p = 0; p < count; ++p)
        to[p] = from[p * stride];
}

/* Some elements of x, from k on. */
static tcgemm_pack_t part_of_x(const dots_run_t *run, int64_t k, int64_t count) {
    tcgemm_pack_t part = run->pack_x;
    part.origin += k * part.k_stride;
    part.k = count;
    return part;
}

/* What lies behind k in rows of bytes counts as zeros, as do rows that fill up the last few. */
static void clear_behind(const dots_run_t *run, int64_t bytes) {
    const int64_t pitch = run->whole.x_pitch;
    for (int64_t row = 0; row < rows_of_bytes(run->plan); ++row) {
        const int64_t used = row < run->num_rows ? bytes : 0;
        memset(run->x + row * pitch + used, 0, (size_t)(pitch - used));
    }
}

/* The same of bytes that lie across k, an item of all rows: packed side by side as words, which are
 * then put where their rows have them. */
static void turn_bytes(const dots_run_t *run, int64_t item) {
    enum { WIDTH = 16, STEPS = 128, WORD = 4 }; /* at a time */
    const tcgemm_cpu_ukernel_t *u = run->plan->kernel->cpu;
    const int64_t rows = rows_of_bytes(run->plan),
                  end = min_i64((item + 1) * X_OF_ITEM, run->whole.steps);
    uint32_t *const all_terms = run->terms + item * rows;
    uint32_t panel[STEPS / 2 * WIDTH], terms[WIDTH];
    memset(all_terms, 0, (size_t)rows * sizeof *all_terms);
    for (int64_t k = item * X_OF_ITEM; k < end; k += STEPS) {
        const tcgemm_pack_t part = part_of_x(run, k, min_i64(STEPS, end - k));
        for (int row = 0; row < run->num_rows; row += WIDTH) {
            const int some = (int)min_i64(WIDTH, run->num_rows - row);
            (void)u->pack_x(&part, row, some, WIDTH, panel, terms);
            for (int i = 0; i < some; ++i) {
                char *const to = run->x + (row + i) * run->whole.x_pitch + k * u->x_bytes;
                gather_words(panel + i, WIDTH, ceil_div(part.k * u->x_bytes, WORD), to);
                all_terms[row + i] += u->x_bytes == 2 ? term_of_s16(run, to, part.k) : terms[i];
            }
        }
    }
    if (end == run->whole.steps)
        clear_behind(run, round_up(end * u->x_bytes, WORD));
}

/* Element k of a row of x that is packed as numbers. */
static void *number_of_x(const dots_run_t *run, int64_t row, int64_t k) {
    return run->x + row * run->whole.x_pitch + k * run->sum_bytes;
}

/* Some elements of x as rows of numbers: f16 or bf16 that lie across k, beside each other first. */
static void turn_numbers(const dots_run_t *run, int64_t k, int64_t count) {
    enum { WIDTH = 8, STEPS = 64 }; /* at a time */
    float panel[STEPS * WIDTH];
    for (const int64_t end = k + count; k < end; k += STEPS) {
        const tcgemm_pack_t part = part_of_x(run, k, min_i64(STEPS, end - k));
        for (int row = 0; row < run->num_rows; row += WIDTH) {
            const int rows = (int)min_i64(WIDTH, run->num_rows - row);
            (void)run->plan->kernel->cpu->pack_x(&part, row, rows, WIDTH, panel, NULL);
            for (int i = 0; i < rows; ++i)
                gather_words(panel + i, WIDTH, part.k, number_of_x(run, row + i, k));
        }
    }
}

/* The same of numbers whose steps of k lie side by side: rows that turn.h makes columns. */
static void turn_steps(const dots_run_t *run, int64_t k, int64_t count) {
    const tcgemm_pack_t part = part_of_x(run, k, count);
    tcgemm_dots_t t = {.num_rows = (int)count,
                       .d = number_of_x(run, 0, k),
                       .d_line = run->whole.x_pitch / run->sum_bytes};
    if (run->sum_bytes == 8)
        t.alpha.f64 = 1.0;
    else
        t.alpha.f32 = 1.0F;
    run->plan->kernel->cpu->turn(&t, tcgemm_element_at(part.source, part.origin, run->sum_bytes),
                                 part.k_stride, run->num_rows);
}

/* The same of numbers, wherever they lie, and of f16 and bf16 along k. */
static void copy_numbers(const dots_run_t *run, int64_t k, int64_t count) {
    const tcgemm_pack_t part = part_of_x(run, k, count);
    const bool are_numbers = part.dtype == run->plan->g.type->accumulator;
    for (int row = 0; row < run->num_rows; ++row) {
        void *const to = number_of_x(run, row, k);
        const int64_t at = part.origin + row * part.line_stride;
        if (!are_numbers)
            (void)run->plan->kernel->cpu->pack_x(&part, row, 1, 1, to, NULL);
        else if (run->sum_bytes == 8)
            gather_f64((const double *)part.source + at, part.k_stride, count, to);
        else
            gather_words((const float *)part.source + at, part.k_stride, count, to);
    }
}

/* Elements of an item of x, from k on. */
static int64_t elements_of_item(const dots_run_t *run, int64_t k) {
    return min_i64(X_OF_ITEM, run->whole.steps - k);
}

static void pack_numbers(const dots_run_t *run, int64_t item) {
    const tcgemm_pack_t *x = &run->pack_x;
    const bool are_numbers = x->dtype == run->plan->g.type->accumulator;
    const bool are_copied = x->k_stride == 1 || (are_numbers && x->line_stride != 1);
    const int64_t k = item * X_OF_ITEM, count = elements_of_item(run, k);
    (are_copied ? copy_numbers : are_numbers ? turn_steps : turn_numbers)(run, k, count);
}

static void pack_x(const dots_run_t *run, int64_t item) {
    const struct tcgemm_plan *plan = run->plan;
    const tcgemm_cpu_ukernel_t *u = plan->kernel->cpu;
    tcgemm_pack_fn *const pack_rows = plan->cpu.dots_in_lanes ? u->pack : u->pack_x;
    const int64_t k = item * X_OF_ITEM;
    const tcgemm_pack_t pack = part_of_x(run, k, elements_of_item(run, k));
    for (int row = 0; row < run->num_rows; row += tcgemm_dots_at_a_time(plan)) {
        const int width = width_of_x(plan, row);
        const int rows = (int)min_i64(width, run->num_rows - row);
        char *const panel = run->x + (row * x_steps(plan) + k * width) * x_element_bytes(plan);
        uint32_t *const terms =
            is_of_quads(plan) ? run->terms + item * widths_of_x(plan) + row : NULL;
        if (pack_rows(&pack, row, rows, width, panel, terms))
            atomic_store_explicit(run->is_special, true, memory_order_relaxed);
    }
}

/* D's element of a row of x and a line. */
static char *d_of_line(const dots_run_t *run, int row, int64_t line) {
    const tcgemm_dots_t *t = &run->whole;
    return tcgemm_element_at(t->d, row * t->d_row + line * t->d_line, run->d_bytes);
}

static const char *c_of_line(const dots_run_t *run, int row, int64_t line) {
    const tcgemm_dots_t *t = &run->whole;
    return t->c ? tcgemm_element_at(t->c, row * t->c_row + line * t->c_line, run->d_bytes) : NULL;
}

/* Rows of x from `row` on and some lines have their sums: D itself, or `t->d` and its strides,
 * which become f16 or bf16. */
static void finish_dots(const dots_run_t *run, const tcgemm_dots_t *t, int row, int num_rows,
                        int64_t line, int num_lines) {
    const tcgemm_canonical_t *g = &run->plan->g;
    const bool is_direct = run->plan->cpu.direct_output;
    const bool x_is_rows = run->plan->cpu.dots == TCGEMM_DOTS_ROWS;
    if (is_direct && tcgemm_epilogue_is_empty(&run->call->epilogue))
        return;
    const char *const c = c_of_line(run, row, line);
    /* One column without gaps is as good as a row, which vectors take. */
    const bool is_turned = !x_is_rows && run->num_rows == 1 && g->ldd == 1 && (!c || g->ldc == 1);
    const bool is_rows = x_is_rows || is_turned;
    tcgemm_finish_t finish = {
        .dtype = g->type->d,
        .sums = is_direct ? NULL : t->d,
        .ld_sums = is_rows ? t->d_row : t->d_line,
        .c = c,
        .d = d_of_line(run, row, line),
        .ldc = g->ldc,
        .ldd = g->ldd,
        .rows = is_rows ? num_rows : num_lines,
        .cols = is_rows ? num_lines : num_rows,
        .alpha = (float)run->call->alpha,
        .beta = (float)run->call->beta,
        .epilogue = tcgemm_epilogue_at(&run->call->epilogue, run->d_bytes, x_is_rows ? row : line,
                                       x_is_rows ? line : row),
    };
    finish.epilogue.is_of_rows ^= is_turned;
    run->plan->kernel->cpu->finish(&finish);
}

/* To `sums`, which are finished afterwards. */
static void store_sums(const dots_run_t *run, float *sums, int64_t ld_rows, int64_t ld_lines,
                       tcgemm_dots_t *t) {
    const bool is_rows = run->plan->cpu.dots == TCGEMM_DOTS_ROWS;
    t->c = NULL;
    t->d = sums;
    t->alpha.f32 = 1.0F;
    t->d_row = is_rows ? ld_rows : 1;
    t->d_line = is_rows ? 1 : ld_lines;
}

/* The next steps of k are added to D as it is. */
static void continue_sums(const dots_run_t *run, tcgemm_dots_t *t) {
    t->c = t->d;
    t->c_row = t->d_row;
    t->c_line = t->d_line;
    if (run->sum_bytes == 8)
        t->beta.f64 = 1.0;
    else
        t->beta.f32 = 1.0F;
}

/* Rows of x from `row` on, and the element of lines from `line` on, of step k. */
static void place_step(const dots_run_t *run, int row, int64_t line, int64_t k, tcgemm_dots_t *t) {
    const int line_bytes = tcgemm_dtype_bits(run->whole.dtype) / 8;
    if (run->whole.term)
        t->term = run->whole.term + row;
    t->x = run->x + (row * x_steps(run->plan) + k * t->width) * x_element_bytes(run->plan);
    t->lines =
        tcgemm_element_at(run->whole.lines, line * t->line_stride + k * t->k_stride, line_bytes);
}

/* Rows of x that lie apart, from `row` on, times some lines along k, all elements of k at once:
 * integers, in any order, or numbers in lanes of k. */
static void do_rows(const dots_run_t *run, int row, int64_t line, int num_lines) {
    const tcgemm_cpu_ukernel_t *u = run->plan->kernel->cpu;
    float sums[MOST_X * MOST_DOTS];
    tcgemm_dots_t t = run->whole;
    t.num_rows = (int)min_i64(tcgemm_dots_at_a_time(run->plan), run->num_rows - row);
    t.num_lines = num_lines;
    t.x = run->x + row * t.x_pitch;
    if (t.term)
        t.term += row;
    t.lines = tcgemm_element_at(t.lines, line * t.line_stride, tcgemm_dtype_bits(t.dtype) / 8);
    t.c = c_of_line(run, row, line);
    t.d = d_of_line(run, row, line);
    if (!run->plan->cpu.direct_output)
        store_sums(run, sums, MOST_DOTS, run->num_rows == 1 ? 1 : MOST_X, &t);
    (run->plan->cpu.inner ? u->inner : u->dots)(&t);
    finish_dots(run, &t, row, t.num_rows, line, num_lines);
}

/* Steps of k that are summed before D is written: those of tiles, so that the bits are theirs; of
 * integers all. */
static int64_t steps_to_d(const dots_run_t *run) {
    return tcgemm_dots_are_integers(run->plan) ? run->whole.steps : run->plan->cpu.kc;
}

/* Rows of x from `row` on times some lines along k. */
static void do_some_dots(const dots_run_t *run, int row, int64_t line, int num_lines) {
    const tcgemm_cpu_ukernel_t *u = run->plan->kernel->cpu;
    const bool is_direct = run->plan->cpu.direct_output;
    const int64_t kc = steps_to_d(run);
    float sums[MOST_X * MOST_DOTS];
    tcgemm_dots_t t = run->whole;
    t.width = width_of_x(run->plan, row);
    t.num_rows = (int)min_i64(t.width, run->num_rows - row);
    t.num_lines = num_lines;
    t.is_exact = atomic_load_explicit(run->is_special, memory_order_relaxed);
    t.c = c_of_line(run, row, line);
    t.d = d_of_line(run, row, line);
    if (!is_direct)
        store_sums(run, sums, MOST_DOTS, run->num_rows == 1 ? 1 : MOST_X, &t);
    for (int64_t k = 0; k < run->whole.steps; k += kc) {
        t.steps = min_i64(kc, run->whole.steps - k);
        place_step(run, row, line, k, &t);
        (run->plan->cpu.dots_in_lanes ? u->lane_dots : u->dots)(&t);
        continue_sums(run, &t);
    }
    finish_dots(run, &t, row, t.num_rows, line, num_lines);
}

/* Rows of k side by side. In a crowd half as many, where that does not cost more than it gains:
 * sums of long vectors that come and go twice as often. All of them where there is nothing beside
 * one vector of lines, and no other rows of x want what was read. */
static int64_t steps_across(const dots_run_t *run, int num_lines) {
    const tcgemm_cpu_ukernel_t *u = run->plan->kernel->cpu;
    const bool is_wide = tcgemm_is_wide(u);
    const bool is_short = tcgemm_dtype_bits(run->whole.dtype) < 32;
    const bool gains = !is_wide || run->num_rows <= 4 || (run->num_rows > 8 && !is_short);
    const bool in_lanes = run->plan->cpu.dots_in_lanes;
    if (!in_lanes && !tcgemm_is_matrix(u) && num_lines * run->sum_bytes <= tcgemm_vector_bytes(u) &&
        run->num_rows <= tcgemm_dots_at_a_time(run->plan))
        return run->whole.steps;
    return run->whole.is_crowded && gains && !in_lanes ? CROWDED_STEPS : TCGEMM_STEPS_ACROSS;
}

/* Steps k .. k + steps, a few at a time, of all rows of x: what was read for the first of them is
 * in a cache for the others. */
static void add_across(const dots_run_t *run, int64_t line, int64_t k, int64_t steps,
                       char *partials, tcgemm_dots_t *t) {
    const tcgemm_cpu_ukernel_t *u = run->plan->kernel->cpu;
    const int bytes = run->plan->cpu.direct_output ? run->d_bytes : (int)sizeof(float);
    tcgemm_dots_fn *const across = run->plan->cpu.dots_in_lanes ? u->lane_across : u->across;
    char *const d = t->d;
    const char *const c = t->c;
    const int64_t each = steps_across(run, t->num_lines);
    for (int64_t p = 0; p < steps; p += each)
        for (int row = 0; row < run->num_rows; row += tcgemm_dots_at_a_time(run->plan)) {
            t->steps = min_i64(each, steps - p);
            t->width = width_of_x(run->plan, row);
            t->num_rows = (int)min_i64(t->width, run->num_rows - row);
            t->resumes = p > 0;
            t->pauses = p + each < steps;
            t->partial =
                partials + row * round_up(t->num_lines, TCGEMM_LINES_ACROSS) * run->sum_bytes;
            t->d = d + row * t->d_row * bytes;
            t->c = c ? c + row * t->c_row * bytes : NULL;
            t->fetches = run->whole.fetches && row == 0;
            place_step(run, row, line, k + p, t);
            across(t);
        }
    t->d = d;
    t->c = c;
}

/* All rows of x times a unit of lines across k, in the same steps of k. */
static void do_across(const dots_run_t *run, int thread, int64_t line, int num_lines) {
    const struct tcgemm_plan *plan = run->plan;
    const bool is_direct = plan->cpu.direct_output;
    const size_t partials_bytes = partials_of_lines(plan);
    char *const partials = run->partials + (size_t)thread * (partials_bytes + sums_of_lines(plan));
    tcgemm_dots_t t = run->whole;
    t.num_lines = num_lines;
    t.c = c_of_line(run, 0, line);
    t.d = d_of_line(run, 0, line);
    if (!is_direct)
        store_sums(run, (float *)(void *)(partials + partials_bytes), num_lines, run->num_rows, &t);
    t.is_exact = atomic_load_explicit(run->is_special, memory_order_relaxed);
    for (int64_t k = 0; k < run->whole.steps; k += steps_to_d(run)) {
        add_across(run, line, k, min_i64(steps_to_d(run), run->whole.steps - k), partials, &t);
        continue_sums(run, &t);
    }
    finish_dots(run, &t, 0, run->num_rows, line, num_lines);
}

/* Lines that a kernel takes at once: no more than `sums` has room for, and than stay in a cache for
 * the next rows of x. */
static int64_t lines_of_call(const dots_run_t *run) {
    const struct tcgemm_plan *plan = run->plan;
    const int at_once =
        plan->cpu.inner ? tcgemm_inner_at_a_time(plan->kernel->cpu) : tcgemm_dots_at_a_time(plan);
    const bool is_once = run->num_rows <= at_once;
    return is_once && !plan->cpu.dots_in_lanes && plan->cpu.direct_output ? plan->cpu.lines
                                                                          : 128 / run->sum_bytes;
}

/* Lines of one unit, some at a time: those that all rows of x are multiplied by while they are in a
 * cache. */
static void do_along(const dots_run_t *run, int64_t line, int64_t end) {
    const tcgemm_cpu_ukernel_t *u = run->plan->kernel->cpu;
    const bool in_lanes = run->plan->cpu.dots_in_lanes;
    const int64_t each = lines_of_call(run);
    if (in_lanes && u->begin)
        u->begin();
    for (; line < end; line += each)
        for (int row = 0; row < run->num_rows; row += tcgemm_dots_at_a_time(run->plan))
            (has_rows(run->plan) ? do_rows : do_some_dots)(run, row, line,
                                                           (int)min_i64(each, end - line));
    if (in_lanes && u->end)
        u->end();
}

/* A unit of the thread's own share, or of another's where nothing is left of it: from call to call
 * a thread reads the same lines first, which may still be in its caches. There is one for each item
 * of the phase. */
static int64_t take_unit(const dots_run_t *run, int thread, int64_t item) {
    const int threads = threads_of(run->plan);
    const int64_t units = ceil_div(run->num_lines, run->plan->cpu.lines);
    for (int i = 0; threads > 1 && i < threads; ++i) {
        const int owner = (thread + i) % threads;
        const int64_t begin = units * owner / threads, end = units * (owner + 1) / threads;
        atomic_int_fast64_t *const taken = &run->shares[owner].num_taken;
        if (begin + atomic_load_explicit(taken, memory_order_relaxed) >= end)
            continue;
        const int64_t unit = begin + atomic_fetch_add_explicit(taken, 1, memory_order_relaxed);
        if (unit < end)
            return unit;
    }
    return item;
}

static void do_dots(void *argument, int thread, int64_t item) {
    const dots_run_t *const run = argument;
    const int64_t unit = run->phase == 1 ? 0 : take_unit(run, thread, item);
    const int64_t line = unit * run->plan->cpu.lines;
    const int64_t end = min_i64(line + run->plan->cpu.lines, run->num_lines);
    if (run->phase == 1 && is_of_bytes(run->plan))
        (x_is_across(run->plan) ? turn_bytes : pack_bytes)(run, item);
    else if (run->phase == 1)
        (run->plan->cpu.inner ? pack_numbers : pack_x)(run, item);
    else if (run->plan->cpu.across)
        do_across(run, thread, line, (int)(end - line));
    else
        do_along(run, line, end);
}

/* The call of one item. */
static tcgemm_call_t call_of_item(const struct tcgemm_plan *plan, const tcgemm_call_t *call,
                                  int64_t item) {
    const tcgemm_canonical_t *g = &plan->g;
    tcgemm_call_t one = tcgemm_item_output(g, call, item);
    one.a = tcgemm_element_at(call->a, item * g->a.batch_stride, tcgemm_dtype_bits(g->a.dtype) / 8);
    one.b = tcgemm_element_at(call->b, item * g->b.batch_stride, tcgemm_dtype_bits(g->b.dtype) / 8);
    return one;
}

void tcgemm_run_dots(const struct tcgemm_plan *plan, const tcgemm_call_t *call, char *workspace,
                     int64_t first, int64_t end) {
    for (int64_t item = first; item < end; ++item) {
        atomic_bool is_special = false;
        const tcgemm_call_t one = call_of_item(plan, call, item);
        dots_run_t run = dots_of(plan, &one, workspace, &is_special);
        tcgemm_pool_work(threads_of(plan), &(tcgemm_work_t){next_dots, do_dots, &run});
    }
}
