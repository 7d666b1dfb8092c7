/* trace.c - see trace.h. Accesses of a warp are gathered into boxes of lines and columns, one for
 * each matrix, and told when the warp turns to something else. */
#include "emulate/trace.h"

#include <stdio.h>
#include <string.h>

enum { MAX_REGIONS = 8, OF_NOBODY = MAX_REGIONS, OF_ZEROS, NUM_BOXES, ZEROS = -1, LANE_SHOWN = 5 };

typedef enum kind { COPY, BOX, LOAD, STORE, SHARED_READ, SHARED_WRITE, NUM_KINDS } kind_t;

/* Lines and columns (bytes) of a matrix that were touched. */
typedef struct box {
    int64_t first_line, last_line, first, end;
    int64_t bytes; /* 0: nothing here */
    int64_t zeros; /* of a copy */
    uint32_t shared_first, shared_end;
} box_t;

typedef struct gathering {
    box_t boxes[NUM_KINDS][NUM_BOXES];
    bool is_empty;
    int64_t products;
    operation_t op;
} gathering_t;

/* Where a word of shared memory comes from; region 0: nobody knows, else one more than its index.
 */
typedef struct origin {
    int32_t region;
    int32_t line, at;
} origin_t;

static gathering_t gatherings[MAX_RANKS][MAX_WARPS];
static origin_t origins[SHARED_ROOM / 4];
static bool is_lane_shown[MAX_REGIONS]; /* in this block */

static gathering_t *gathering_of(uint32_t warp) {
    return &gatherings[own_rank()][warp];
}

static void clear(gathering_t *g) {
    memset(g, 0, sizeof *g);
    g->is_empty = true;
}

/* ---- telling ---- */

static void tell_box(uint32_t warp, kind_t kind, int region, const box_t *b) {
    static const char *const words[] = {
        "asks cp.async for", "asks TMA for", "loads", "stores", "reads", "writes"};
    const tcgemm_emulate_launch_t *launch = tcgemm_machine.launch;
    char what[128], more[64] = "";
    (void)snprintf(what, sizeof what, region == OF_ZEROS ? "zeros" : "what it has worked out");
    if (region < launch->num_regions) {
        const tcgemm_emulate_region_t *x = &launch->regions[region];
        (void)snprintf(what, sizeof what, "%s %s %lld..%lld, %s %lld..%lld", x->name, x->line,
                       (long long)b->first_line, (long long)b->last_line, x->col,
                       (long long)(b->first / x->element_bytes),
                       (long long)((b->end < x->width ? b->end : x->width) / x->element_bytes - 1));
    }
    if ((kind == COPY || kind == BOX) && b->zeros > 0 && b->zeros < b->bytes)
        (void)snprintf(more, sizeof more, " and %lld bytes of zeros", (long long)b->zeros);
    if (kind == LOAD || kind == STORE)
        tcgemm_machine_tell(1, "warp %u %s %s", warp, words[kind], what);
    else
        tcgemm_machine_tell(1, "warp %u %s %s%s; shared memory %u..%u", warp, words[kind], what,
                            more, b->shared_first, b->shared_end - 1);
}

static void flush(uint32_t warp) {
    gathering_t *g = gathering_of(warp);
    if (g->products && g->op == OP_WGMMA)
        tcgemm_machine_tell(1, "warpgroup %u multiplies: %lld x wgmma m64n%u", warp / WARPGROUP,
                            (long long)g->products,
                            tcgemm_machine.block->threads[warp * LANES].request.wgmma.n);
    else if (g->products)
        tcgemm_machine_tell(1, "warp %u multiplies: %lld x mma m%un8k%u", warp,
                            (long long)g->products,
                            tcgemm_machine.block->threads[warp * LANES].request.rows,
                            tcgemm_machine.block->threads[warp * LANES].request.k);
    for (int kind = 0; kind < NUM_KINDS && !g->is_empty; ++kind)
        for (int r = 0; r < NUM_BOXES; ++r)
            if (g->boxes[kind][r].bytes)
                tell_box(warp, (kind_t)kind, r, &g->boxes[kind][r]);
    clear(g);
}

/* The copies alone: at the ends of groups the other lanes are ahead of the last one. */
static void flush_copies(uint32_t warp, kind_t kind) {
    gathering_t *g = gathering_of(warp);
    for (int r = 0; r < NUM_BOXES; ++r)
        if (g->boxes[kind][r].bytes)
            tell_box(warp, kind, r, &g->boxes[kind][r]);
    memset(g->boxes[kind], 0, sizeof g->boxes[kind]);
}

/* ---- gathering ---- */

/* The box of the running thread's warp; what came before it in time is told first. */
static box_t *box_of(kind_t kind, int region) {
    const uint32_t warp = tcgemm_machine.self->warp;
    gathering_t *g = gathering_of(warp);
    if (g->products)
        flush(warp);
    g->is_empty = false;
    return &g->boxes[kind][region];
}

static void widen(box_t *b, int64_t line, int64_t at, uint32_t size) {
    const bool is_first = b->bytes == b->zeros;
    b->first_line = is_first || line < b->first_line ? line : b->first_line;
    b->last_line = is_first || line > b->last_line ? line : b->last_line;
    b->first = is_first || at < b->first ? at : b->first;
    b->end = is_first || at + size > b->end ? at + size : b->end;
}

static void widen_shared(box_t *b, uint32_t at, uint32_t size) {
    b->shared_first = b->bytes == 0 || at < b->shared_first ? at : b->shared_first;
    b->shared_end = b->bytes == 0 || at + size > b->shared_end ? at + size : b->shared_end;
    b->bytes += size;
}

static int last_region = -1; /* of the access before this one, and its place */
static int64_t last_line, last_at;

void tcgemm_trace_access(const tcgemm_emulate_region_t *x, int64_t line, int64_t at, uint32_t size,
                         bool write) {
    last_region = (int)(x - tcgemm_machine.launch->regions);
    last_line = line;
    last_at = at;
    if (tcgemm_machine.self->request.op == OP_CP_ASYNC)
        return; /* tcgemm_trace_copy knows more */
    const bool is_box = tcgemm_machine.self->request.op == OP_BOX;
    box_t *b = box_of(write ? STORE : is_box ? BOX : LOAD, last_region);
    widen(b, line, at, size);
    b->bytes += size;
}

void tcgemm_trace_copy(uint32_t to, uint32_t size, uint32_t bytes) {
    if (!tcgemm_machine_is_told())
        return;
    const int region = bytes ? last_region : OF_ZEROS;
    box_t *b = box_of(COPY, region);
    if (bytes)
        widen(b, last_line, last_at, bytes);
    widen_shared(b, to, size);
    b->zeros += size - bytes;
    for (uint32_t i = 0; i < size; i += 4)
        origins[(to + i) / 4] =
            (origin_t){i < bytes ? region + 1 : ZEROS, (int32_t)last_line, (int32_t)(last_at + i)};
}

/* The rows were told of, one by one, by tcgemm_trace_access; all bytes that came of none are zeros.
 */
void tcgemm_trace_box(uint32_t to, uint32_t size) {
    if (!tcgemm_machine_is_told())
        return;
    gathering_t *g = gathering_of(tcgemm_machine.self->warp);
    int region = 0;
    while (region < MAX_REGIONS && g->boxes[BOX][region].bytes == 0)
        ++region;
    box_t *b = box_of(BOX, region < MAX_REGIONS ? region : OF_ZEROS);
    b->zeros = size - b->bytes;
    b->bytes = size;
    b->shared_first = to;
    b->shared_end = to + size;
    flush_copies(tcgemm_machine.self->warp, BOX);
    tcgemm_trace_forget(to, size);
}

void tcgemm_trace_phase(uint32_t at, uint32_t phase) {
    tcgemm_machine_tell(1, "mbarrier at %u: phase %u has ended", at, phase);
}

void tcgemm_trace_shared_read(uint32_t at, uint32_t size) {
    if (!tcgemm_machine_is_told())
        return;
    const origin_t *o = &origins[at / 4];
    box_t *b = box_of(SHARED_READ, o->region > 0   ? o->region - 1
                                   : o->region < 0 ? OF_ZEROS
                                                   : OF_NOBODY);
    if (o->region > 0)
        widen(b, o->line, o->at, size);
    widen_shared(b, at, size);
}

void tcgemm_trace_shared_write(uint32_t at, uint32_t size) {
    if (tcgemm_machine_is_told())
        widen_shared(box_of(SHARED_WRITE, OF_NOBODY), at, size);
}

void tcgemm_trace_forget(uint32_t at, uint32_t size) {
    if (tcgemm_machine_is_told())
        memset(&origins[at / 4], 0, (size + 3) / 4 * sizeof *origins);
}

void tcgemm_trace_commit(void) {
    const thread_t *self = tcgemm_machine.self;
    if (tcgemm_machine_is_told() && self->lane == LANES - 1) {
        flush_copies(self->warp, COPY);
        tcgemm_machine_tell(1, "warp %u commits group %u", self->warp, self->committed - 1);
    }
}

void tcgemm_trace_wait(uint32_t pending) {
    const thread_t *self = tcgemm_machine.self;
    if (tcgemm_machine_is_told() && self->lane == LANES - 1) {
        flush_copies(self->warp, COPY);
        tcgemm_machine_tell(1, "warp %u waits until %u of its %u groups are in flight", self->warp,
                            pending, self->committed);
    }
}

/* ---- meetings ---- */

/* What lane 5 receives of the first fragment of a matrix in this block. */
static void show_lane(const thread_t *lanes) {
    const bool trans = lanes->request.op == OP_LDMATRIX_TRANS;
    const tcgemm_emulate_launch_t *launch = tcgemm_machine.launch;
    char text[256];
    int length = 0;
    const int one = LANE_SHOWN / 4, two = LANE_SHOWN % 4 * 2;
    const int first = origins[lanes[0].request.b.u[0] / 4].region - 1;
    if (first < 0 || is_lane_shown[first])
        return;
    is_lane_shown[first] = true;
    const tcgemm_emulate_region_t *x = &launch->regions[first];
    for (int j = 0; j < 4; ++j) {
        const uint32_t row = lanes[8 * j + (trans ? two : one)].request.b.u[0];
        const uint32_t at = row + 2u * (uint32_t)(trans ? one : two);
        const origin_t *o = &origins[at / 4];
        if (o->region > 0)
            length += snprintf(text + length, sizeof text - (size_t)length, " word %d (%d, %d)", j,
                               o->line, (o->at + (int32_t)(at % 4)) / x->element_bytes);
        else
            length += snprintf(text + length, sizeof text - (size_t)length, " word %d zero", j);
    }
    tcgemm_machine_tell(2, "ldmatrix%s: lane %d has of %s, as (%s, %s):%s", trans ? ".trans" : "",
                        LANE_SHOWN, x->name, x->line, x->col, text);
}

static void tell_of_groups(const thread_t *lanes) {
    const operation_t op = lanes->request.op;
    const uint32_t warp = lanes->warp;
    if (op == OP_WGMMA_FENCE)
        return;
    flush(warp);
    if (op == OP_WGMMA_COMMIT)
        tcgemm_machine_tell(1, "warp %u commits group %u of wgmma", warp,
                            tcgemm_machine.block->warps[warp].committed - 1);
    else if (op == OP_WGMMA_WAIT)
        tcgemm_machine_tell(1, "warp %u waits until %u of its %u groups of wgmma are in flight",
                            warp, lanes->request.k, tcgemm_machine.block->warps[warp].committed);
    else
        tcgemm_machine_tell(1, "warpgroup %u has %u registers a thread", warp / WARPGROUP,
                            lanes->request.k);
}

void tcgemm_trace_meeting(const thread_t *lanes) {
    if (!tcgemm_machine_is_told())
        return;
    gathering_t *g = gathering_of(lanes->warp);
    const operation_t op = lanes->request.op;
    if (op >= OP_MMA_F32 || op == OP_WGMMA) {
        if (!g->is_empty)
            flush(lanes->warp);
        g->op = op;
        g->products += 1;
    } else if (op == OP_SYNCWARP) {
        flush(lanes->warp);
        tcgemm_machine_tell(1, "warp %u: __syncwarp", lanes->warp);
    } else if (op == OP_LDMATRIX || op == OP_LDMATRIX_TRANS) {
        show_lane(lanes);
    } else if (op != OP_SHFL && op != OP_CLUSTER_ARRIVE && op != OP_CLUSTER_WAIT) {
        tell_of_groups(lanes);
    }
}

void tcgemm_trace_barrier(const thread_t *thread) {
    if (!tcgemm_machine_is_told())
        return;
    const bool ended = tcgemm_machine.block->warps[thread->warp].ended;
    flush(thread->warp);
    tcgemm_machine_tell(1,
                        ended ? "warp %u ends"
                        : thread->request.op == OP_CLUSTER_WAIT
                            ? "warp %u is at the barrier of its cluster"
                            : "warp %u is at __syncthreads",
                        thread->warp);
}

/* ---- blocks ---- */

void tcgemm_trace_begin(void) {
    for (int i = 0; i < MAX_RANKS * MAX_WARPS; ++i)
        clear(&gatherings[i / MAX_WARPS][i % MAX_WARPS]);
}

void tcgemm_trace_block(void) {
    const tcgemm_emulate_launch_t *launch = tcgemm_machine.launch;
    if (!tcgemm_machine_is_told())
        return;
    memset(origins, 0, sizeof origins);
    memset(is_lane_shown, 0, sizeof is_lane_shown);
    tcgemm_machine_tell(0, "block %u of %u, %u threads, %zu bytes of shared memory",
                        tcgemm_machine.block->index, launch->grid, launch->block,
                        launch->smem_bytes);
}

void tcgemm_trace_turn(void) {
    if (tcgemm_machine_is_told())
        tcgemm_machine_tell(0, "block %u goes on", tcgemm_machine.block->index);
}
