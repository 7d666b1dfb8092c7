/* svg.h - vector drawings: shapes, and text that fits.
 *
 * Colours are classes, so that a drawing follows the reader's light or dark scheme, alone or inside
 * a page. The palette is that of Okabe and Ito (colour-blind safe), in tints that text is legible
 * on:
 *
 *     fills    paper, box, a, b, d (operands and result), a2, b2, d2 (the chosen part of them),
 *              none, h (hatched: outside the matrix), r0 .. r5 (rounds), w0 .. w5 (early .. late)
 *     strokes  line, ink, sa, sb, sd; dash besides
 *     both     of them in one word list: "a line"
 */
#ifndef CLI_SVG_H
#define CLI_SVG_H

#include <stdio.h>

typedef struct svg {
    FILE *out;
    const char *name; /* of the drawing: makes its ids unique within a page */
    double width, height;
} svg_t;

/* Notes are paler, for words beside shapes; figures are for text on a fill. */
typedef enum svg_font { SVG_TITLE, SVG_LABEL, SVG_NOTE, SVG_SMALL, SVG_FIGURE } svg_font_t;
typedef enum svg_anchor { SVG_START, SVG_MIDDLE, SVG_END } svg_anchor_t;

/* Title (for a screen reader and on the drawing) and one line below it. */
void svg_begin(svg_t *svg, FILE *out, const char *name, double width, double height,
               const char *title, const char *caption);
void svg_end(const svg_t *svg);

void svg_rect(const svg_t *svg, const char *classes, double x, double y, double w, double h,
              double radius);
void svg_line(const svg_t *svg, const char *classes, double x1, double y1, double x2, double y2);
/* With a head at its end. */
void svg_arrow(const svg_t *svg, const char *classes, double x1, double y1, double x2, double y2);
void svg_circle(const svg_t *svg, const char *classes, double x, double y, double radius);

/* One path of many rectangles or lines: open, add, close. */
void svg_path_begin(const svg_t *svg, const char *classes);
void svg_path_rect(const svg_t *svg, double x, double y, double w, double h);
void svg_path_line(const svg_t *svg, double x1, double y1, double x2, double y2);
void svg_path_end(const svg_t *svg);

/* Text with its baseline at y. Wider than `room` it is set smaller, and at the smallest size cut
 * short. */
void svg_text(const svg_t *svg, svg_font_t font, svg_anchor_t anchor, double x, double y,
              double room, const char *format, ...) __attribute__((format(printf, 7, 8)));

/* The same, turned by 90 degrees to read upwards, centred on (x, y). */
void svg_text_up(const svg_t *svg, svg_font_t font, double x, double y, double room,
                 const char *format, ...) __attribute__((format(printf, 6, 7)));

/* Words in lines of `room`, the first at y. Returns the baseline of the line after the last. */
double svg_paragraph(const svg_t *svg, svg_font_t font, double x, double y, double room,
                     const char *format, ...) __attribute__((format(printf, 6, 7)));

/* An upper estimate of a text's width in a sans-serif face of that size. */
double svg_text_width(const char *text, double size);

double svg_font_size(svg_font_t font);

/* Writes text with &, <, > and " as entities. */
void svg_escape(FILE *out, const char *text);

#endif
