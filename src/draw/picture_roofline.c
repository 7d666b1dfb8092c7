/* picture_roofline.c - operations a second over operations a byte, both logarithmic: the roof
 * of the memory, the roof of the multipliers, and this product. */
#include <math.h>

#include "draw/picture.h"

static const double height = 540;
static const double plot_x = 96, plot_y = 92, plot_w = 560, plot_h = 380;
static const double slope_decades = 1.1; /* of the memory's roof, at least */
static const double side_x = 684, side_width = PICTURE_WIDTH - 684 - 24;

typedef struct plot {
    const tcgemm_svg_t *svg;
    const tcgemm_analysis_t *f;
    double x_low, x_high, y_low, y_high; /* decades: log10 */
    bool is_integer;
    double speed;   /* predicted */
    double ceiling; /* at this product's intensity */
} plot_t;

static double x_of(const plot_t *p, double intensity) {
    return plot_x + (log10(intensity) - p->x_low) / (p->x_high - p->x_low) * plot_w;
}

static double y_of(const plot_t *p, double speed) {
    return plot_y + plot_h - (log10(speed) - p->y_low) / (p->y_high - p->y_low) * plot_h;
}

/* Whole decades around the product and the point where the roofs cross (the ridge point). */
static plot_t plot_of(const tcgemm_svg_t *svg, const tcgemm_analysis_t *f) {
    plot_t p = {.svg = svg, .f = f, .is_integer = f->type->d == TCGEMM_DTYPE_S32};
    const double seconds = f->estimates[0].seconds;
    p.speed = seconds > 0 ? f->flop / seconds : 0;
    p.ceiling = fmin(f->machine.peak, f->intensity * f->machine.bandwidth);
    p.x_low = fmin(floor(log10(fmin(f->intensity, f->balance)) - 0.5),
                   floor(log10(f->balance) - slope_decades));
    p.x_high = ceil(log10(fmax(f->intensity, f->balance)) + 0.5);
    p.y_high = ceil(log10(f->machine.peak) + 0.1);
    const double lowest = fmin(p.ceiling, p.speed > 0 ? p.speed : p.ceiling);
    p.y_low = floor(fmin(log10(lowest) - 0.3, p.y_high - 3));
    return p;
}

/* ---- axes ---- */

/* 10 to that power in words: "0.01", "1", "1000". */
static void decade(int power, char text[UNITS_SIZE]) {
    if (power >= -3 && power <= 4)
        (void)snprintf(text, UNITS_SIZE, "%g", pow(10, power));
    else
        (void)snprintf(text, UNITS_SIZE, "1e%d", power);
}

static void draw_x_axis(const plot_t *p) {
    char text[UNITS_SIZE];
    for (int power = (int)p->x_low; power <= (int)p->x_high; ++power) {
        const double x = x_of(p, pow(10, power));
        tcgemm_svg_line(p->svg, "line thin", x, plot_y, x, plot_y + plot_h);
        decade(power, text);
        tcgemm_svg_text(p->svg, SVG_NOTE, SVG_MIDDLE, x, plot_y + plot_h + 18, 60, "%s", text);
    }
    tcgemm_svg_text(p->svg, SVG_LABEL, SVG_MIDDLE, plot_x + plot_w / 2, plot_y + plot_h + 42,
                    plot_w, "arithmetic intensity, %s a byte of A, B and D",
                    p->is_integer ? "OP" : "FLOP");
}

/* "1 G", "10 T", ... without the unit. */
static void draw_y_axis(const plot_t *p) {
    static const char *const prefixes[] = {"", "k", "M", "G", "T", "P", "E"};
    for (int power = (int)p->y_low; power <= (int)p->y_high; ++power) {
        const double y = y_of(p, pow(10, power));
        const int group = power < 0 ? 0 : power / 3 > 6 ? 6 : power / 3;
        tcgemm_svg_line(p->svg, "line thin", plot_x, y, plot_x + plot_w, y);
        tcgemm_svg_text(p->svg, SVG_NOTE, SVG_END, plot_x - 8, y + 4, 54, "%g %s",
                        pow(10, power - 3 * group), prefixes[group]);
    }
    tcgemm_svg_text_up(p->svg, SVG_LABEL, 34, plot_y + plot_h / 2, plot_h, "%s",
                       p->is_integer ? "integer operations, OP/s" : "throughput, FLOP/s");
}

/* ---- roofs ---- */

static void draw_roofs(const plot_t *p) {
    const tcgemm_analysis_t *f = p->f;
    const double bandwidth = f->machine.bandwidth;
    const double low = pow(10, fmax(p->x_low, p->y_low - log10(bandwidth)));
    const double x = x_of(p, f->balance);
    const double y = y_of(p, f->machine.peak);
    tcgemm_svg_line(p->svg, "sb thick", x_of(p, low), y_of(p, low * bandwidth), x, y);
    tcgemm_svg_line(p->svg, "sa thick", x, y, plot_x + plot_w, y);
    tcgemm_svg_line(p->svg, "line dash", x, y, x, plot_y + plot_h);
    tcgemm_svg_circle(p->svg, "paper ink", x, y, 4);
}

/* Along the slope, turned by its angle. */
static void label_memory_roof(const plot_t *p) {
    const double slope = plot_h / (p->y_high - p->y_low) / (plot_w / (p->x_high - p->x_low));
    const double angle = atan(slope) * 180 / acos(-1);
    const double x1 = x_of(p, p->f->balance);
    const double y1 = y_of(p, p->f->machine.peak);
    const double length =
        fmin((x1 - plot_x) / cos(atan(slope)), (plot_y + plot_h - y1) / sin(atan(slope)));
    const double at = fmin(length / 2, 150);
    const double x = x1 - (at + 6) * cos(atan(slope));
    const double y = y1 + (at + 6) * sin(atan(slope));
    tcgemm_text_add(p->svg->out, "<g transform=\"rotate(%.2f %.1f %.1f)\">\n", -angle, x, y);
    tcgemm_svg_text(p->svg, SVG_NOTE, SVG_MIDDLE, x, y - 8, length - 12, "memory: %.0f GB/s",
                    p->f->machine.bandwidth * 1e-9);
    tcgemm_text_put(p->svg->out, "</g>\n");
}

static void label_peak(const plot_t *p) {
    char text[UNITS_SIZE];
    const double x = x_of(p, p->f->balance);
    const double room = plot_x + plot_w - x - 10;
    tcgemm_svg_text(p->svg, SVG_NOTE, room > 120 ? SVG_START : SVG_END,
                    room > 120 ? x + 10 : plot_x + plot_w - 6, y_of(p, p->f->machine.peak) - 9,
                    room > 120 ? room : 200, "peak: %s",
                    units_rate(p->f->machine.peak, p->is_integer, text));
}

/* ---- this product ---- */

static void draw_product(const plot_t *p) {
    const double x = x_of(p, p->f->intensity);
    const double roof = y_of(p, p->ceiling);
    if (p->speed > 0) {
        const double y = y_of(p, p->speed);
        tcgemm_svg_line(p->svg, "sv dash", x, y, x, plot_y + plot_h);
        tcgemm_svg_line(p->svg, "sv thin", x, roof, x, y);
        tcgemm_svg_circle(p->svg, "paper sv", x, roof, 5);
        tcgemm_svg_circle(p->svg, "fv", x, y, 7);
    } else {
        tcgemm_svg_circle(p->svg, "paper sv", x, roof, 5);
    }
}

static const char *intensity_text(double intensity, char text[UNITS_SIZE]) {
    if (intensity >= 1000)
        return units_grouped(intensity, text);
    (void)snprintf(text, UNITS_SIZE, "%.3g", intensity);
    return text;
}

static double entry(const plot_t *p, double y, const char *about, const char *value) {
    tcgemm_svg_text(p->svg, SVG_NOTE, SVG_START, side_x, y, side_width, "%s", about);
    tcgemm_svg_text(p->svg, SVG_LABEL, SVG_START, side_x, y + 18, side_width, "%s", value);
    return y + 46;
}

static void describe(const plot_t *p) {
    const tcgemm_analysis_t *f = p->f;
    const char *const unit = p->is_integer ? "OP" : "FLOP";
    char text[2 * UNITS_SIZE];
    char rate[UNITS_SIZE];
    double y = plot_y + 14;
    (void)snprintf(text, sizeof text, "%s %s a byte", intensity_text(f->intensity, rate), unit);
    y = entry(p, y, "this product", text);
    (void)snprintf(text, sizeof text, "%s, by the %s", units_rate(p->ceiling, p->is_integer, rate),
                   f->is_memory_bound ? "memory" : "peak");
    tcgemm_svg_circle(p->svg, "paper sv", side_x - 13, y - 4, 5);
    y = entry(p, y, "its ceiling", text);
    if (p->speed > 0) {
        (void)units_rate(p->speed, p->is_integer, text);
        tcgemm_svg_circle(p->svg, "fv", side_x - 13, y - 4, 6);
        y = entry(p, y, "predicted", text);
        (void)snprintf(text, sizeof text, "%.1f %%", 100 * p->speed / p->ceiling);
        y = entry(p, y, "of its ceiling", text);
    }
    (void)snprintf(text, sizeof text, "%s %s a byte", intensity_text(f->balance, rate), unit);
    y = entry(p, y, "the roofs meet at", text);
    if (f->machine.peak_is_measured)
        (void)tcgemm_svg_paragraph(p->svg, SVG_NOTE, side_x, y, side_width,
                                   "The peak was measured on operands in the first cache.");
    else if (f->machine.macs_per_clock > 0)
        (void)tcgemm_svg_paragraph(p->svg, SVG_NOTE, side_x, y, side_width,
                                   "peak = %d %s%s " PICTURE_TIMES
                                   " %.0f multiply-adds a clock " PICTURE_TIMES " 2 " PICTURE_TIMES
                                   " %.3g GHz",
                                   f->machine.num_units, f->machine.is_gpu ? "SM" : "thread",
                                   f->machine.num_units == 1 ? "" : "s", f->machine.macs_per_clock,
                                   f->machine.clock_hz * 1e-9);
}

void tcgemm_picture_roofline(const tcgemm_analysis_t *f, const tcgemm_svg_canvas_t *canvas) {
    if (!(f->flop > 0)) {
        tcgemm_picture_empty(f, PICTURE_ROOFLINE,
                             "Nothing is multiplied: there is no point to draw.", canvas);
        return;
    }
    if (!(f->machine.peak > 0 && f->machine.bandwidth > 0 && f->intensity > 0)) {
        tcgemm_picture_empty(f, PICTURE_ROOFLINE,
                             f->machine.is_gpu || f->intensity <= 0
                                 ? "This machine has no known peak for the type."
                                 : "The peak or the bandwidth of this machine was not measured.",
                             canvas);
        return;
    }
    tcgemm_svg_t svg;
    tcgemm_picture_begin(&svg, canvas, f, PICTURE_ROOFLINE, height);
    const plot_t p = plot_of(&svg, f);
    tcgemm_svg_rect(&svg, "none line", plot_x, plot_y, plot_w, plot_h, 0);
    draw_x_axis(&p);
    draw_y_axis(&p);
    draw_roofs(&p);
    label_memory_roof(&p);
    label_peak(&p);
    draw_product(&p);
    describe(&p);
    tcgemm_svg_end(&svg);
}
