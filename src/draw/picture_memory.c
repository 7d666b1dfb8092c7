/* picture_memory.c - the levels of memory from the outside in, what moves between them in the
 * whole product, and how often each byte is used. */
#include <math.h>
#include <string.h>

#include "draw/picture.h"

enum { MAX_MEMORIES = TCGEMM_MAX_LEVELS + 1 };

static const double top = 84, memory_height = 66, gap = 34;
static const double left = 36, widest = 330, narrowest = 206;
static const double text_x = 396, text_width = PICTURE_WIDTH - 396 - 28;

/* A level of the memory hierarchy, and what comes down into it. */
typedef struct memory {
    const char *home;
    char holds[3 * UNITS_SIZE]; /* its size, or whose */
    const tcgemm_analysis_level_t *level;
    double a_bytes, b_bytes; /* that come in, in the whole product */
    bool at_least;           /* a lower bound: whatever caches do, this has to pass */
} memory_t;

typedef struct hierarchy {
    int count;
    memory_t memories[MAX_MEMORIES];
} hierarchy_t;

static void capacity_of(const tcgemm_analysis_t *f, const tcgemm_analysis_level_t *level,
                        memory_t *s) {
    char text[UNITS_SIZE];
    char more[UNITS_SIZE];
    const tcgemm_analysis_machine_t *m = &f->machine;
    if (strcmp(s->home, "shared memory") == 0)
        (void)snprintf(s->holds, sizeof s->holds, "%s of %s a block",
                       units_bytes((double)f->info.smem_bytes, text),
                       units_bytes((double)m->smem_block_bytes, more));
    else if (strcmp(s->home, "registers") == 0 && m->is_gpu)
        (void)snprintf(s->holds, sizeof s->holds, "%d of 32 bits a thread",
                       f->info.registers_per_thread);
    else if (strcmp(s->home, "L2") == 0 && m->l2_bytes > 0)
        (void)snprintf(s->holds, sizeof s->holds, "%s", units_bytes((double)m->l2_bytes, text));
    else if (strcmp(s->home, "tensor core") == 0)
        (void)snprintf(s->holds, sizeof s->holds, "%.0f multiply-adds a clock and SM",
                       m->macs_per_clock);
    else if (level)
        (void)snprintf(s->holds, sizeof s->holds, "a %s", level->tile.name);
}

static void add_memory(const tcgemm_analysis_t *f, hierarchy_t *h, const char *home,
                       const tcgemm_analysis_level_t *level, bool at_least) {
    memory_t *s = &h->memories[h->count++];
    const double batch = (double)f->problem.batch;
    *s = (memory_t){.home = home, .level = level, .at_least = at_least};
    s->a_bytes = at_least ? batch * (double)f->info.a_bytes : level ? level->a_bytes : 0;
    s->b_bytes = at_least ? batch * (double)f->info.b_bytes : level ? level->b_bytes : 0;
    capacity_of(f, level, s);
}

/* Where A and B of a level lie by themselves: not in the L2 cache of a GPU, which all blocks share
 * and which stands by itself, not in shared memory that D has taken, and of two levels in registers
 * in those of the inner one. */
static bool has_memory(const tcgemm_analysis_t *f, int level) {
    const char *const home = f->levels[level].tile.home;
    if (level + 1 < f->num_levels && strcmp(f->levels[level + 1].tile.home, home) == 0)
        return false;
    if (!f->machine.is_gpu)
        return true;
    return strcmp(home, "L2") != 0 &&
           !(tcgemm_picture_keeps_d(f) && strcmp(home, "shared memory") == 0);
}

static hierarchy_t hierarchy_of(const tcgemm_analysis_t *f) {
    hierarchy_t h = {.count = 0};
    char text[UNITS_SIZE];
    add_memory(f, &h, "memory", NULL, true);
    if (f->machine.bandwidth > 0)
        (void)snprintf(h.memories[0].holds, sizeof h.memories[0].holds, "%.0f GB/s%s",
                       f->machine.bandwidth * 1e-9,
                       f->machine.bandwidth_is_measured ? ", measured by a copy" : "");
    else
        (void)snprintf(h.memories[0].holds, sizeof h.memories[0].holds, "bandwidth not measured");
    if (f->machine.is_gpu)
        add_memory(f, &h, "L2", NULL, true);
    for (int i = 1; i < f->num_levels && h.count < MAX_MEMORIES; ++i)
        if (has_memory(f, i))
            add_memory(f, &h, f->levels[i].tile.home, &f->levels[i], false);
    if (h.count == 1) {
        add_memory(f, &h, "registers", NULL, true);
        (void)snprintf(h.memories[1].holds, sizeof h.memories[1].holds, "%s",
                       tcgemm_picture_plural(1, "element", text));
    }
    return h;
}

/* ---- drawing ---- */

static tcgemm_picture_box_t box_of(const hierarchy_t *h, int index) {
    const double step = h->count > 1 ? (widest - narrowest) / (h->count - 1) : 0;
    const double w = widest - step * index;
    return (tcgemm_picture_box_t){left + (widest - w) / 2, top + index * (memory_height + gap), w,
                                  memory_height};
}

/* Arrows as thick as the logarithm of what passes. */
static double thickness(double bytes) {
    return bytes > 1 ? fmin(3 + 1.5 * log10(bytes), 26) : 3;
}

static void draw_stream(const tcgemm_svg_t *svg, const memory_t *s, const tcgemm_picture_box_t *b) {
    const double x = b->x + b->w / 2;
    const double y = b->y - gap;
    const double a = thickness(s->a_bytes);
    const double bw = thickness(s->b_bytes);
    tcgemm_svg_rect(svg, "a2", x - 22 - a / 2, y, a, gap, 0);
    tcgemm_svg_rect(svg, "b2", x + 22 - bw / 2, y, bw, gap, 0);
    tcgemm_svg_text(svg, SVG_SMALL, SVG_END, x - 26 - a / 2, y + gap / 2 + 4, 40, "A");
    tcgemm_svg_text(svg, SVG_SMALL, SVG_START, x + 26 + bw / 2, y + gap / 2 + 4, 40, "B");
}

static void describe_stream(const tcgemm_svg_t *svg, const tcgemm_analysis_t *f, const memory_t *s,
                            double y) {
    char a[UNITS_SIZE];
    char b[UNITS_SIZE];
    char sum[UNITS_SIZE];
    const double moved = s->a_bytes + s->b_bytes;
    tcgemm_svg_text(svg, SVG_LABEL, SVG_START, text_x, y, text_width, "%s%s: A %s, B %s",
                    s->at_least ? "at least " : "", units_bytes(moved, sum),
                    units_bytes(s->a_bytes, a), units_bytes(s->b_bytes, b));
    const double reuse = moved > 0 ? f->flop / 2 / moved : 0;
    if (reuse >= 10)
        tcgemm_svg_text(svg, SVG_NOTE, SVG_START, text_x, y + 18, text_width,
                        "%s multiply-adds for each byte", units_grouped(reuse, a));
    else
        tcgemm_svg_text(svg, SVG_NOTE, SVG_START, text_x, y + 18, text_width,
                        "%.2g multiply-adds for each byte", reuse);
}

static void describe_tile(const tcgemm_svg_t *svg, const tcgemm_analysis_level_t *l, double y) {
    char bytes[UNITS_SIZE];
    char a[UNITS_SIZE];
    char b[UNITS_SIZE];
    tcgemm_svg_text(svg, SVG_NOTE, SVG_START, text_x, y, text_width,
                    "%s %lld " PICTURE_TIMES " %lld " PICTURE_TIMES " %lld, %s of A and B a step",
                    l->tile.name, (long long)l->tile.m, (long long)l->tile.n, (long long)l->tile.k,
                    units_bytes(l->tile_bytes, bytes));
    tcgemm_svg_text(svg, SVG_NOTE, SVG_START, text_x, y + 17, text_width,
                    "an element of A comes in %s, one of B %s",
                    tcgemm_picture_plural(l->a_reads, "time", a),
                    tcgemm_picture_plural(l->b_reads, "time", b));
}

static void draw_memory(const tcgemm_svg_t *svg, const tcgemm_analysis_t *f, const hierarchy_t *h,
                        int index) {
    const memory_t *s = &h->memories[index];
    const tcgemm_picture_box_t b = box_of(h, index);
    tcgemm_svg_rect(svg, "box line", b.x, b.y, b.w, b.h, 8);
    tcgemm_svg_text(svg, SVG_LABEL, SVG_MIDDLE, b.x + b.w / 2, b.y + 28, b.w - 12, "%s", s->home);
    tcgemm_svg_text(svg, SVG_NOTE, SVG_MIDDLE, b.x + b.w / 2, b.y + 48, b.w - 12, "%s", s->holds);
    if (index > 0) {
        draw_stream(svg, s, &b);
        tcgemm_svg_line(svg, "line dash", b.x + b.w / 2 + 60, b.y - gap / 2, text_x - 10,
                        b.y - gap / 2);
        describe_stream(svg, f, s, b.y - gap / 2 + 4);
    }
    if (s->level)
        describe_tile(svg, s->level, b.y + 40);
}

/* What lies in memory, and D's way back to it. */
static void describe_memory(const tcgemm_svg_t *svg, const tcgemm_analysis_t *f) {
    char bytes[UNITS_SIZE];
    char time[UNITS_SIZE];
    char way[2 * UNITS_SIZE] = "";
    char d[UNITS_SIZE];
    if (f->memory_floor > 0)
        (void)snprintf(way, sizeof way, "once each way takes %s; ",
                       units_seconds(f->memory_floor, time));
    tcgemm_svg_text(svg, SVG_LABEL, SVG_START, text_x, top + 24, text_width, "A, B%s and D: %s",
                    f->beta != 0 ? ", C" : "", units_bytes(f->bytes, bytes));
    tcgemm_svg_text(svg, SVG_NOTE, SVG_START, text_x, top + 42, text_width,
                    "%sD, %s, is written once%s", way,
                    units_bytes((double)f->problem.batch * (double)f->info.d_bytes, d),
                    tcgemm_picture_keeps_d(f) ? " and waits in shared memory" : "");
}

void tcgemm_picture_memory(const tcgemm_analysis_t *f, const tcgemm_svg_canvas_t *canvas) {
    if (tcgemm_picture_d_is_empty(f) || f->problem.k == 0) {
        tcgemm_picture_empty(f, PICTURE_MEMORY, "Nothing is multiplied: A and B are not read.",
                             canvas);
        return;
    }
    const hierarchy_t h = hierarchy_of(f);
    tcgemm_svg_t svg;
    tcgemm_picture_begin(&svg, canvas, f, PICTURE_MEMORY,
                         top + h.count * memory_height + (h.count - 1) * gap + 30);
    describe_memory(&svg, f);
    for (int i = 0; i < h.count; ++i)
        draw_memory(&svg, f, &h, i);
    tcgemm_svg_end(&svg);
}
