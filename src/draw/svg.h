/* svg.h - vector drawings: shapes, and text that fits.
 *
 * Colours are classes, so that a drawing may follow the reader's light or dark scheme, alone or
 * inside a page. The palette is that of Okabe and Ito (colour-blind safe), in tints that text is
 * legible on:
 *
 *     fills    paper, box, a, b, d (operands and result), a2, b2, d2 (the chosen part of them),
 *              none, h (hatched: outside the matrix), r0 .. r5 (rounds), w0 .. w5 (early .. late)
 *     strokes  line, ink, sa, sb, sd; dash besides
 *     both     of them in one word list: "a line"
 */
#ifndef TCGEMM_DRAW_SVG_H
#define TCGEMM_DRAW_SVG_H

#include <stdbool.h>

#include "base/text.h"
#include "tcgemm/tcgemm.h"

/* What the drawings of one page have in common. */
typedef struct tcgemm_svg_canvas {
    tcgemm_text_t *out;
    tcgemm_scheme_t scheme;
    int width;       /* of a drawing, in pixels; 0: as many as it has units */
    const char *id;  /* begins all ids; "": none */
    bool is_compact; /* the page brings the style, and fine detail is left out */
} tcgemm_svg_canvas_t;

typedef struct tcgemm_svg {
    tcgemm_text_t *out;
    const tcgemm_svg_canvas_t *canvas;
    double width, height;
} tcgemm_svg_t;

/* Notes are paler, for words beside shapes; figures are for text on a fill. */
typedef enum svg_font { SVG_TITLE, SVG_LABEL, SVG_NOTE, SVG_SMALL, SVG_FIGURE } tcgemm_svg_font_t;
typedef enum svg_anchor { SVG_START, SVG_MIDDLE, SVG_END } tcgemm_svg_anchor_t;

/* The style sheet of all drawings, whose hatching is that of the drawing `name`: each drawing
 * brings it, except on a compact canvas, where the page writes it once. */
void tcgemm_svg_style(const tcgemm_svg_canvas_t *canvas, const char *name);

/* `name` begins the ids of the drawing. Title (for a screen reader and on the drawing) and one line
 * below it. */
void tcgemm_svg_begin(tcgemm_svg_t *svg, const tcgemm_svg_canvas_t *canvas, const char *name,
                      double width, double height, const char *title, const char *caption);
void tcgemm_svg_end(const tcgemm_svg_t *svg);

void tcgemm_svg_rect(const tcgemm_svg_t *svg, const char *classes, double x, double y, double w,
                     double h, double radius);
void tcgemm_svg_line(const tcgemm_svg_t *svg, const char *classes, double x1, double y1, double x2,
                     double y2);
/* With a head at its end. */
void tcgemm_svg_arrow(const tcgemm_svg_t *svg, const char *classes, double x1, double y1, double x2,
                      double y2);
void tcgemm_svg_circle(const tcgemm_svg_t *svg, const char *classes, double x, double y,
                       double radius);

/* One path of many rectangles or lines: open, add, close. */
void tcgemm_svg_path_begin(const tcgemm_svg_t *svg, const char *classes);
void tcgemm_svg_path_rect(const tcgemm_svg_t *svg, double x, double y, double w, double h);
void tcgemm_svg_path_line(const tcgemm_svg_t *svg, double x1, double y1, double x2, double y2);
void tcgemm_svg_path_end(const tcgemm_svg_t *svg);

/* Text with its baseline at y. Wider than `room` it is set smaller, and at the smallest size cut
 * short. */
void tcgemm_svg_text(const tcgemm_svg_t *svg, tcgemm_svg_font_t font, tcgemm_svg_anchor_t anchor,
                     double x, double y, double room, const char *format, ...)
    __attribute__((format(printf, 7, 8)));

/* The same, turned by 90 degrees to read upwards, centred on (x, y). */
void tcgemm_svg_text_up(const tcgemm_svg_t *svg, tcgemm_svg_font_t font, double x, double y,
                        double room, const char *format, ...) __attribute__((format(printf, 6, 7)));

/* Words in lines of `room`, the first at y. Returns the baseline of the line after the last. */
double tcgemm_svg_paragraph(const tcgemm_svg_t *svg, tcgemm_svg_font_t font, double x, double y,
                            double room, const char *format, ...)
    __attribute__((format(printf, 6, 7)));

/* An upper estimate of a text's width in a sans-serif face of that size. */
double tcgemm_svg_text_width(const char *text, double size);

double tcgemm_svg_font_size(tcgemm_svg_font_t font);

/* Writes text with &, <, > and " as entities. */
void tcgemm_svg_escape(tcgemm_text_t *out, const char *text);

#endif
