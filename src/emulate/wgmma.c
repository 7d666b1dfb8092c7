/* wgmma.c - products of warpgroups: groups, operands in shared memory, accumulators in registers.
 * PTX ISA, "wgmma.mma_async", "Matrix descriptor"; gpu/ptx/wgmma.cuh has the same in brief.
 *
 * A warpgroup's products that are under way form a list. They are carried out, in order, when the
 * first warp waits for their group; every warp receives its rows of the sums when it has waited
 * itself. As in product.c, terms are exact, their sum in f64 is rounded once an instruction; but
 * the sums of FP8 are as short as those of the hardware (short_sum.c).
 */
#include <string.h>

#include "base/dtype.h"
#include "emulate/async.h"

enum {
    ROWS = 64,
    MAX_N = 256,
    STEP = 32,     /* bytes of k */
    FRAGMENT = 16, /* bytes of a thread's registers of an operand */
    MAX_FLYING = 64,
    ATOM = 1024,
    NUM_WARPGROUPS = MAX_WARPS / WARPGROUP,
    IN_WARPGROUP = WARPGROUP * LANES,
    REGISTERS = 65536 /* of an SM */
};

typedef struct product {
    tcgemm_emulate_wgmma_t x;
    uint32_t group;
    int sums;
    bool is_read; /* its operands are here (of registers: from the start) */
    uint8_t a[ROWS][STEP], b[MAX_N][STEP];
} product_t;

typedef struct sums {
    uint32_t group; /* the last that adds to them */
    union {
        float f[ROWS][MAX_N];
        uint32_t u[ROWS][MAX_N];
    } v;
} sums_t;

typedef struct warpgroup {
    int num_flying;
    uint32_t registers; /* of a thread, as setmaxnreg has it; 0: as it began */
    product_t flying[MAX_FLYING];
    sums_t sums[MAX_SUMS];
} warpgroup_t;

static warpgroup_t warpgroups[MAX_RANKS][NUM_WARPGROUPS];

/* Of the block in hand. */
static warpgroup_t *own_warpgroups(void) {
    return warpgroups[own_rank()];
}

static warpgroup_t *warpgroup_of(const thread_t *thread) {
    return &own_warpgroups()[thread->warp / WARPGROUP];
}

void tcgemm_wgmma_reset(void) {
    for (int i = 0; i < NUM_WARPGROUPS; ++i)
        own_warpgroups()[i].num_flying = 0, own_warpgroups()[i].registers = 0;
}

/* ---- operands ---- */

/* The 128-byte swizzle, by the bits of the address. */
static uint32_t swizzled(uint32_t at) {
    return at ^ (at >> 7 & 7) << 4;
}

typedef struct operand {
    uint32_t at, next, group; /* bytes; as tcgemm_wgmma_operand has them */
} operand_t;

static operand_t operand_of(uint64_t descriptor) {
    if (descriptor >> 62 != 1 || (descriptor >> 49 & 7) != 0)
        tcgemm_machine_fault("a wgmma's operand is not in the 128-byte swizzle");
    return (operand_t){(uint32_t)(descriptor & 0x3FFF) << 4,
                       (uint32_t)(descriptor >> 16 & 0x3FFF) << 4,
                       (uint32_t)(descriptor >> 32 & 0x3FFF) << 4};
}

/* Where 16 bytes of it lie: of row `row` the `half` of 32 bytes of k; or where m (n) is contiguous,
 * of step `k` the eight from `row` on. */
static uint32_t place_of_k(const operand_t *x, uint32_t row, uint32_t half) {
    return swizzled(x->at + row / 8 * x->group + row % 8 * LINE + 16 * half);
}
static uint32_t place_of_mn(const operand_t *x, uint32_t row, uint32_t k) {
    return swizzled(x->at + row / 64 * x->next + k / 8 * x->group + k % 8 * LINE + row % 64 * 2);
}

/* All lines that it is read from: before anything is. */
static void check_operand(const operand_t *x, int mn, uint32_t rows, uint32_t warp,
                          const known_t *known) {
    const size_t end = tcgemm_machine.launch->smem_bytes;
    const uint32_t steps = mn ? STEP / 2 : 2;
    uint32_t last = NUM_LINES;
    for (uint32_t row = 0; row < rows; row += mn ? 8 : 1)
        for (uint32_t step = 0; step < steps; ++step) {
            const uint32_t at = mn ? place_of_mn(x, row, step) : place_of_k(x, row, step);
            if (at + 16 > end) {
                tcgemm_machine_fault("a wgmma reads shared byte %u, but there are %zu", at, end);
                tcgemm_machine_stop();
            }
            if (at / LINE != last && (!mn || row % 64 == 0))
                tcgemm_line_multiply(at / LINE, warp, known);
            last = at / LINE;
        }
}

static void read_operand(uint64_t descriptor, int mn, uint32_t rows, uint8_t to[][STEP]) {
    const operand_t x = operand_of(descriptor);
    const char *memory = tcgemm_emulate_shared;
    for (uint32_t row = 0; !mn && row < rows; ++row)
        for (uint32_t half = 0; half < 2; ++half)
            memcpy(to[row] + 16 * half, memory + place_of_k(&x, row, half), 16);
    for (uint32_t row = 0; mn && row < rows; row += 8)
        for (uint32_t k = 0; k < STEP / 2; ++k) {
            const char *from = memory + place_of_mn(&x, row, k);
            for (uint32_t i = 0; i < 8; ++i)
                memcpy(to[row + i] + 2 * k, from + 2 * i, 2);
        }
}

static void read_operands(product_t *p) {
    if (!p->x.a_registers)
        read_operand(p->x.a, p->x.a_mn, ROWS, p->a);
    read_operand(p->x.b, p->x.b_mn, p->x.n, p->b);
    p->is_read = true;
}

/* ---- arithmetic ---- */

static int bytes_of(tcgemm_emulate_element_t type) {
    return type == TCGEMM_EMULATE_TF32                                 ? 4
           : type == TCGEMM_EMULATE_F16 || type == TCGEMM_EMULATE_BF16 ? 2
                                                                       : 1;
}

static double number_of(tcgemm_emulate_element_t type, const uint8_t *from) {
    uint32_t word = *from;
    if (bytes_of(type) == 2)
        word |= (uint32_t)from[1] << 8;
    else if (bytes_of(type) == 4)
        memcpy(&word, from, sizeof word);
    switch (type) {
    case TCGEMM_EMULATE_F16:
        return (double)tcgemm_f32_of_f16((uint16_t)word);
    case TCGEMM_EMULATE_BF16:
        return (double)tcgemm_f32_of_bf16((uint16_t)word);
    case TCGEMM_EMULATE_TF32: /* the low 13 bits do not count */
        return (double)tcgemm_f32_of_bits(word & 0xFFFFE000u);
    case TCGEMM_EMULATE_E4M3:
        return (double)tcgemm_f32_of_e4m3((uint8_t)word);
    case TCGEMM_EMULATE_E5M2:
        return (double)tcgemm_f32_of_e5m2((uint8_t)word);
    case TCGEMM_EMULATE_S8:
        return (double)(int8_t)word;
    default:
        return (double)word;
    }
}

typedef struct factors {
    double a[ROWS][STEP], b[STEP][MAX_N];
} factors_t;

static void multiply_floats(const factors_t *x, uint32_t n, uint32_t k, float (*sums)[MAX_N]) {
    for (int i = 0; i < ROWS; ++i) {
        double sum[MAX_N];
        for (uint32_t j = 0; j < n; ++j)
            sum[j] = (double)sums[i][j];
        for (uint32_t p = 0; p < k; ++p)
            for (uint32_t j = 0; j < n; ++j)
                sum[j] += x->a[i][p] * x->b[p][j];
        for (uint32_t j = 0; j < n; ++j)
            sums[i][j] = (float)sum[j];
    }
}

static void multiply_short(const factors_t *x, uint32_t n, uint32_t k, float (*sums)[MAX_N]) {
    tcgemm_machine_multiply_short(&(short_product_t){.a = x->a[0],
                                                     .b = x->b[0],
                                                     .sums = sums[0],
                                                     .rows = ROWS,
                                                     .n = n,
                                                     .k = k,
                                                     .a_pitch = STEP,
                                                     .b_pitch = MAX_N,
                                                     .sums_pitch = MAX_N});
}

/* Sums of whole numbers are exact in f64; they are added modulo 2^32. */
static void multiply_integers(const factors_t *x, uint32_t n, uint32_t k, uint32_t (*sums)[MAX_N]) {
    for (int i = 0; i < ROWS; ++i) {
        double sum[MAX_N] = {0};
        for (uint32_t p = 0; p < k; ++p)
            for (uint32_t j = 0; j < n; ++j)
                sum[j] += x->a[i][p] * x->b[p][j];
        for (uint32_t j = 0; j < n; ++j)
            sums[i][j] += (uint32_t)(int32_t)sum[j];
    }
}

static void multiply(warpgroup_t *g, product_t *p) {
    static factors_t x;
    sums_t *sums = &g->sums[p->sums];
    const int a_bytes = bytes_of(p->x.a_type), b_bytes = bytes_of(p->x.b_type);
    const uint32_t n = p->x.n, k = (uint32_t)(STEP / a_bytes);
    if (!p->is_read)
        read_operands(p);
    for (int i = 0; i < ROWS; ++i)
        for (uint32_t q = 0; q < k; ++q)
            x.a[i][q] = number_of(p->x.a_type, p->a[i] + q * (uint32_t)a_bytes);
    for (uint32_t q = 0; q < k; ++q)
        for (uint32_t j = 0; j < n; ++j)
            x.b[q][j] = number_of(p->x.b_type, p->b[j] + q * (uint32_t)b_bytes);
    if (!p->x.add)
        memset(&sums->v, 0, sizeof sums->v);
    if (p->x.a_type == TCGEMM_EMULATE_S8 || p->x.a_type == TCGEMM_EMULATE_U8)
        multiply_integers(&x, n, k, sums->v.u);
    else if (p->x.a_type == TCGEMM_EMULATE_E4M3 || p->x.a_type == TCGEMM_EMULATE_E5M2)
        multiply_short(&x, n, k, sums->v.f);
    else
        multiply_floats(&x, n, k, sums->v.f);
}

/* ---- accumulators ---- */

/* The word of the sums that register `i` of a thread is. */
static uint32_t *sum_at(sums_t *sums, const thread_t *t, uint32_t i) {
    const uint32_t row = t->warp % WARPGROUP * 16 + t->lane / 4 + i / 2 % 2 * 8;
    return &sums->v.u[row][i / 4 * 8 + t->lane % 4 * 2 + i % 2];
}

static void take_sums(thread_t *t, const void *c, sums_t *sums, uint32_t n) {
    for (uint32_t i = 0; i < n / 2; ++i)
        memcpy(sum_at(sums, t, i), (const char *)c + (size_t)4 * i, 4);
}

static void give_sums(const thread_t *t, accumulators_t *c, sums_t *sums) {
    for (uint32_t i = 0; i < c->bytes / 4; ++i)
        memcpy(c->at + (size_t)4 * i, sum_at(sums, t, i), 4);
    c->is_flying = false;
}

static void touch_fragments(thread_t *self, const char *at, uint32_t size) {
    for (int i = 0; i < self->num_fragments; ++i) {
        fragment_t *f = &self->fragments[i];
        if (at >= f->at + FRAGMENT || at + size <= f->at)
            continue;
        f->is_touched = true;
        if (f->is_flying)
            tcgemm_machine_fault("register %u of an operand is written before the wgmma that reads "
                                 "it is waited for",
                                 (uint32_t)(at - f->at) / 4);
    }
}

void tcgemm_wgmma_touch(const char *at, uint32_t size, bool write) {
    thread_t *self = self_thread();
    if (write)
        touch_fragments(self, at, size);
    for (int i = 0; i < self->num_sums; ++i) {
        accumulators_t *c = &self->sums[i];
        if (at >= c->at + c->bytes || at + size <= c->at)
            continue;
        c->is_touched = true;
        if (c->is_flying)
            tcgemm_machine_fault("accumulator %u is %s before the wgmma that adds to it is waited "
                                 "for",
                                 (uint32_t)(at - c->at) / 4, write ? "written" : "read");
    }
}

/* The place of a thread's accumulators among those that it has: where they are in flight, else
 * where they were, else a free one. */
static int find_sums(const thread_t *t, const char *c) {
    int found = -1;
    for (int i = 0; i < t->num_sums; ++i)
        if (t->sums[i].at == c)
            return i;
    for (int i = 0; i < t->num_sums; ++i)
        if (!t->sums[i].is_flying)
            found = i;
    return t->num_sums < MAX_SUMS ? t->num_sums : found;
}

/* All threads of the warpgroup have their accumulators at the same place of the list. */
static int choose_sums(thread_t *threads, uint32_t n) {
    const int chosen = find_sums(threads, threads[0].request.c_at);
    if (chosen < 0) {
        tcgemm_machine_fault("wgmmas on more than %d sets of accumulators are not modelled",
                             (int)MAX_SUMS);
        tcgemm_machine_stop();
    }
    const bool is_flying = chosen < threads->num_sums && threads->sums[chosen].is_flying;
    for (int i = 0; i < IN_WARPGROUP; ++i) {
        thread_t *t = &threads[i];
        accumulators_t *c = &t->sums[chosen];
        const bool is_new = chosen == t->num_sums || c->at != t->request.c_at;
        if (chosen != find_sums(t, t->request.c_at) || (!is_new && c->is_flying != is_flying)) {
            tcgemm_machine_fault("the warps of a warpgroup have not waited for the same wgmmas");
            tcgemm_machine_stop();
        }
        if (!t->is_fenced || (!is_new && c->is_touched))
            tcgemm_machine_fault("a wgmma without wgmma.fence after thread %u touched the "
                                 "accumulators",
                                 t->index);
        if (is_new)
            *c = (accumulators_t){.at = t->request.c_at};
        c->bytes = 2 * n;
        c->is_touched = false;
        if (chosen == t->num_sums)
            t->num_sums += 1;
    }
    return chosen;
}

static void launch_sums(thread_t *threads, int chosen, const tcgemm_emulate_wgmma_t *x,
                        sums_t *sums) {
    for (int i = 0; i < IN_WARPGROUP; ++i) {
        accumulators_t *c = &threads[i].sums[chosen];
        if (!c->is_flying && x->add)
            take_sums(&threads[i], c->at, sums, x->n);
        if (!c->is_flying)
            memset(c->at, POISON, c->bytes);
        c->is_flying = true;
    }
}

/* ---- operands in registers ---- */

/* Where the thread has it in its list: at its place, or one that is free. */
static fragment_t *find_fragment(thread_t *t, const char *at) {
    fragment_t *free = NULL;
    for (int i = 0; i < t->num_fragments; ++i) {
        if (t->fragments[i].at == at)
            return &t->fragments[i];
        if (!t->fragments[i].is_flying)
            free = &t->fragments[i];
    }
    if (t->num_fragments < MAX_FRAGMENTS)
        free = &t->fragments[t->num_fragments++];
    if (!free) {
        tcgemm_machine_fault("wgmmas on more than %d operands in registers are not modelled",
                             (int)MAX_FRAGMENTS);
        tcgemm_machine_stop();
    }
    *free = (fragment_t){.at = at};
    return free;
}

/* Rows and steps of k as gpu/ptx/wgmma.cuh has them. */
static void take_fragments(thread_t *threads, product_t *p) {
    for (int i = 0; i < IN_WARPGROUP; ++i) {
        thread_t *t = &threads[i];
        const uint32_t *a = t->request.wgmma.a_registers;
        fragment_t *f = find_fragment(t, (const char *)a);
        if (f->is_touched)
            tcgemm_machine_fault("a wgmma without wgmma.fence after thread %u wrote an operand's "
                                 "registers",
                                 t->index);
        f->is_flying = true;
        f->is_touched = false;
        f->group = p->group;
        for (uint32_t r = 0; r < FRAGMENT / 4; ++r) {
            const uint32_t row = t->warp % WARPGROUP * 16 + t->lane / 4 + r % 2 * 8;
            memcpy(p->a[row] + 4 * (t->lane % 4) + r / 2 * (STEP / 2), a + r, 4);
        }
    }
}

/* ---- meetings ---- */

static void check_agreement(const thread_t *threads) {
    const machine_t *m = &tcgemm_machine;
    const tcgemm_emulate_wgmma_t *x = &threads[0].request.wgmma;
    for (int i = 1; i < IN_WARPGROUP; ++i) {
        const tcgemm_emulate_wgmma_t *y = &threads[i].request.wgmma;
        const char *what = x->a != y->a || x->b != y->b     ? "operands"
                           : (x->add != 0) != (y->add != 0) ? "what it adds to"
                           : m->block->warps[threads[0].warp].committed !=
                                   m->block->warps[threads[i].warp].committed
                               ? "the groups committed so far"
                               : NULL;
        if (!what)
            continue;
        tcgemm_machine_fault("thread %u and thread %u do not agree on %s of a wgmma",
                             threads[0].index, threads[i].index, what);
        tcgemm_machine_stop();
    }
}

static void count(const tcgemm_emulate_wgmma_t *x) {
    tcgemm_emulate_launch_t *launch = tcgemm_machine.launch;
    const int64_t k = STEP / bytes_of(x->a_type);
    launch->num_products += 1;
    launch->num_macs += ROWS * (int64_t)x->n * k;
    launch->operand_reads += (ROWS + (int64_t)x->n) * k;
    launch->shared_reads += ((x->a_registers ? 0 : ROWS) + (int64_t)x->n) * STEP;
}

void tcgemm_machine_wgmma(thread_t *threads) {
    static known_t known;
    warpgroup_t *g = warpgroup_of(threads);
    const uint32_t warp = threads->warp;
    const tcgemm_emulate_wgmma_t *x = &threads->request.wgmma;
    check_agreement(threads);
    if (g->num_flying == MAX_FLYING) {
        tcgemm_machine_fault("more than %d wgmmas under way are not modelled", (int)MAX_FLYING);
        tcgemm_machine_stop();
    }
    const int chosen = choose_sums(threads, x->n);
    const operand_t b = operand_of(x->b);
    tcgemm_async_common(threads, IN_WARPGROUP, &known);
    if (!x->a_registers) {
        const operand_t a = operand_of(x->a);
        check_operand(&a, x->a_mn, ROWS, warp, &known);
    }
    check_operand(&b, x->b_mn, x->n, warp, &known);
    launch_sums(threads, chosen, x, &g->sums[chosen]);
    product_t *p = &g->flying[g->num_flying++];
    p->x = *x;
    p->sums = chosen;
    p->group = g->sums[chosen].group = tcgemm_machine.block->warps[warp].committed;
    p->is_read = false;
    if (x->a_registers)
        take_fragments(threads, p);
    if (tcgemm_machine_random(2))
        read_operands(p);
    count(x);
}

void tcgemm_machine_wgmma_fence(thread_t *lanes) {
    for (int lane = 0; lane < LANES; ++lane) {
        lanes[lane].is_fenced = true;
        for (int i = 0; i < lanes[lane].num_sums; ++i)
            lanes[lane].sums[i].is_touched = false;
        for (int i = 0; i < lanes[lane].num_fragments; ++i)
            lanes[lane].fragments[i].is_touched = false;
    }
}

void tcgemm_machine_wgmma_commit(thread_t *lanes) {
    tcgemm_machine.block->warps[lanes->warp].committed += 1;
}

/* The products of the groups before this one. */
static void finish(warpgroup_t *g, uint32_t end) {
    int done = 0;
    while (done < g->num_flying && g->flying[done].group < end)
        multiply(g, &g->flying[done++]);
    if (done == 0)
        return;
    g->num_flying -= done;
    memmove(g->flying, g->flying + done, (size_t)g->num_flying * sizeof *g->flying);
}

void tcgemm_machine_wgmma_wait(thread_t *lanes) {
    warp_t *warp = &tcgemm_machine.block->warps[lanes->warp];
    warpgroup_t *g = warpgroup_of(lanes);
    const uint32_t pending = lanes->request.k;
    const uint32_t end = warp->committed > pending ? warp->committed - pending : 0;
    warp->waited = end > warp->waited ? end : warp->waited;
    finish(g, end);
    for (int lane = 0; lane < LANES; ++lane) {
        thread_t *t = &lanes[lane];
        known_by(t)->groups[own_rank()][t->warp] = warp->waited;
        for (int i = 0; i < t->num_sums; ++i)
            if (t->sums[i].is_flying && g->sums[i].group < end)
                give_sums(t, &t->sums[i], &g->sums[i]);
        for (int i = 0; i < t->num_fragments; ++i)
            t->fragments[i].is_flying = t->fragments[i].is_flying && t->fragments[i].group >= end;
    }
}

void tcgemm_wgmma_end(const thread_t *thread) {
    for (int i = 0; i < thread->num_sums; ++i)
        if (thread->sums[i].is_flying)
            tcgemm_machine_fault("the thread ends while a wgmma is under way");
}

/* ---- registers ---- */

void tcgemm_machine_setmaxnreg(thread_t *threads) {
    warpgroup_t *g = warpgroup_of(threads);
    const uint32_t wanted = threads->request.k;
    const bool more = threads->request.rows;
    if (wanted % 8 != 0 || wanted < 24 || wanted > 256)
        tcgemm_machine_fault("setmaxnreg of %u registers", wanted);
    if (g->registers && (more ? wanted < g->registers : wanted > g->registers))
        tcgemm_machine_fault("setmaxnreg.%s of %u registers, where a thread has %u",
                             more ? "inc" : "dec", wanted, g->registers);
    g->registers = wanted;
}

/* A block had at its start what an SM has, in eights for each thread. */
void tcgemm_machine_count_registers(void) {
    const machine_t *m = &tcgemm_machine;
    const uint32_t each = REGISTERS / m->launch->block / 8 * 8;
    const uint32_t groups = m->num_warps / WARPGROUP;
    uint32_t sum = 0;
    for (uint32_t i = 0; i < groups; ++i)
        sum += own_warpgroups()[i].registers ? own_warpgroups()[i].registers
               : each < 256                  ? each
                                             : 256;
    if (sum > each * groups)
        tcgemm_machine_fault("the warpgroups ask for %u registers a thread together, of %u", sum,
                             each * groups);
}

/* ---- what kernels call ---- */

void tcgemm_emulate_wgmma(void *c, tcgemm_emulate_wgmma_t x) {
    request_t *r = &self_thread()->request;
    r->c_at = c;
    r->wgmma = x;
    tcgemm_machine_meet(OP_WGMMA);
}

void tcgemm_emulate_wgmma_fence(void) {
    tcgemm_machine_meet(OP_WGMMA_FENCE);
}

void tcgemm_emulate_wgmma_commit(void) {
    tcgemm_machine_meet(OP_WGMMA_COMMIT);
}

void tcgemm_emulate_wgmma_wait(uint32_t pending) {
    self_thread()->request.k = pending;
    tcgemm_machine_meet(OP_WGMMA_WAIT);
}

void tcgemm_emulate_setmaxnreg(uint32_t count, int more) {
    request_t *r = &self_thread()->request;
    r->k = count;
    r->rows = (uint32_t)more;
    tcgemm_machine_meet(OP_SETMAXNREG);
}
