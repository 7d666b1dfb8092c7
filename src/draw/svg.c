/* svg.c - the vocabulary of the drawings. */
#include "draw/svg.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { TEXT_SIZE = 512 };

static const double smallest_font = 9;
static const double line_height = 1.42; /* of the font's size */

/* '@' stands for the class that a drawing's rules are scoped to, since a page holds several and has
 * styles of its own. In the dark scheme tints become shades. */
static const char *const light_rules =
    "@ text{font-family:system-ui,-apple-system,'Segoe UI',Helvetica,Arial,'DejaVu Sans',"
    "sans-serif;fill:#1c2128}"
    "@ .t{font-size:18px;font-weight:600}@ .l{font-size:14px}"
    "@ .n{font-size:12.5px;fill:#4d5661}@ .s{font-size:11px;fill:#4d5661}"
    "@ .g{font-size:11.5px}"
    "@ .none{fill:none}@ .paper{fill:#fff}@ .box{fill:#eef1f4}"
    "@ .a{fill:#cfe6f6}@ .a2{fill:#7cc0ea}@ .b{fill:#fbe3b5}"
    "@ .b2{fill:#f3b94b}@ .d{fill:#cdebdf}@ .d2{fill:#72cdac}"
    "@ .r0{fill:#8fcbf0}@ .r1{fill:#f7cb78}@ .r2{fill:#86d3b8}"
    "@ .r3{fill:#f0a584}@ .r4{fill:#dfb2cf}@ .r5{fill:#f3e98c}"
    "@ .w0{fill:#e3f1fb}@ .w1{fill:#b9dbf2}@ .w2{fill:#86bde2}"
    "@ .w3{fill:#4f97c9}@ .w4{fill:#246ea6}@ .w5{fill:#0a4274}"
    "@ .line{stroke:#aab2bc;stroke-width:1}@ .ink{stroke:#1c2128;stroke-width:1.6}"
    "@ .sa{stroke:#0072b2;stroke-width:2}@ .sb{stroke:#b26a00;stroke-width:2}"
    "@ .sd{stroke:#007a5a;stroke-width:2}@ .sv{stroke:#c2410c;stroke-width:2.4}"
    "@ .fv{fill:#c2410c}@ .fink{fill:#1c2128}@ .fline{fill:#aab2bc}"
    "@ .fa{fill:#0072b2}@ .fb{fill:#b26a00}@ .fd{fill:#007a5a}"
    "@ .faint{opacity:.5}"
    "@ .dash{stroke-dasharray:5 4}@ .thick{stroke-width:3}"
    "@ .thin{stroke-width:.7}@ .hatch{stroke:#8a94a0;stroke-width:1.3}";
static const char *const dark_rules =
    "@ text{fill:#e8ecf1}@ .n,@ .s{fill:#aab4c0}"
    "@ .paper{fill:#12161c}@ .box{fill:#222932}"
    "@ .a{fill:#123c57}@ .a2{fill:#1f77b0}@ .b{fill:#4b3407}"
    "@ .b2{fill:#a06a08}@ .d{fill:#0d3f31}@ .d2{fill:#0b6b4f}"
    "@ .r0{fill:#1a5f91}@ .r1{fill:#845605}@ .r2{fill:#0a6a4e}"
    "@ .r3{fill:#94401a}@ .r4{fill:#7b4570}@ .r5{fill:#686112}"
    "@ .w0{fill:#0d2233}@ .w1{fill:#123c5b}@ .w2{fill:#1b5c88}"
    "@ .w3{fill:#2f83b8}@ .w4{fill:#67b0dc}@ .w5{fill:#bfe2f7}"
    "@ .line{stroke:#4b5663}@ .ink{stroke:#e8ecf1}"
    "@ .sa{stroke:#56b4e9}@ .sb{stroke:#e69f00}@ .sd{stroke:#35c79a}"
    "@ .sv{stroke:#ff8a4c}@ .fv{fill:#ff8a4c}@ .fink{fill:#e8ecf1}"
    "@ .fline{fill:#4b5663}"
    "@ .fa{fill:#56b4e9}@ .fb{fill:#e69f00}@ .fd{fill:#35c79a}"
    "@ .hatch{stroke:#7b8794}";

/* A scheme that is asked for has a class of its own: it may stand beside another one in a page. */
static const char *const scheme_classes[] = {"tcgemm", "tcgemm-light", "tcgemm-dark"};

static void put_rules(const tcgemm_svg_canvas_t *canvas, const char *rules) {
    for (const char *at = rules; *at;) {
        const size_t length = strcspn(at, "@");
        tcgemm_text_put_bytes(canvas->out, at, length);
        at += length;
        if (*at == '@') {
            tcgemm_text_add(canvas->out, ".%s", scheme_classes[canvas->scheme]);
            ++at;
        }
    }
}

void tcgemm_svg_style(const tcgemm_svg_canvas_t *canvas, const char *name) {
    tcgemm_text_put(canvas->out, "<style>");
    put_rules(canvas, light_rules);
    if (canvas->scheme == TCGEMM_SCHEME_AUTO)
        tcgemm_text_put(canvas->out, "@media(prefers-color-scheme:dark){");
    if (canvas->scheme != TCGEMM_SCHEME_LIGHT)
        put_rules(canvas, dark_rules);
    tcgemm_text_add(canvas->out, "%s.%s .h{fill:url(#%s%s-hatch)}</style>\n",
                    canvas->scheme == TCGEMM_SCHEME_AUTO ? "}" : "", scheme_classes[canvas->scheme],
                    canvas->id, name);
}

void tcgemm_svg_escape(tcgemm_text_t *out, const char *text) {
    for (; *text; ++text) {
        switch (*text) {
        case '&':
            tcgemm_text_put(out, "&amp;");
            break;
        case '<':
            tcgemm_text_put(out, "&lt;");
            break;
        case '>':
            tcgemm_text_put(out, "&gt;");
            break;
        case '"':
            tcgemm_text_put(out, "&quot;");
            break;
        default:
            tcgemm_text_char(out, *text);
        }
    }
}

/* ---- the drawing as a whole ---- */

static void write_pattern(const tcgemm_svg_canvas_t *canvas, const char *name) {
    tcgemm_text_add(canvas->out,
                    "<defs><pattern id=\"%s%s-hatch\" width=\"7\" height=\"7\" "
                    "patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\">"
                    "<path class=\"hatch\" d=\"M0 0V7\"/></pattern></defs>\n",
                    canvas->id, name);
}

void tcgemm_svg_begin(tcgemm_svg_t *svg, const tcgemm_svg_canvas_t *canvas, const char *name,
                      double width, double height, const char *title, const char *caption) {
    const double scale = canvas->width > 0 ? canvas->width / width : 1;
    tcgemm_text_t *const out = canvas->out;
    *svg = (tcgemm_svg_t){.out = out, .canvas = canvas, .width = width, .height = height};
    tcgemm_text_add(out,
                    "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"%s\" role=\"img\" "
                    "viewBox=\"0 0 %g %g\" width=\"%g\" height=\"%g\" "
                    "aria-labelledby=\"%s%s-title %s%s-desc\">\n<title id=\"%s%s-title\">",
                    scheme_classes[canvas->scheme], width, height, width * scale, height * scale,
                    canvas->id, name, canvas->id, name, canvas->id, name);
    tcgemm_svg_escape(out, title);
    tcgemm_text_add(out, "</title>\n<desc id=\"%s%s-desc\">", canvas->id, name);
    tcgemm_svg_escape(out, caption);
    tcgemm_text_put(out, "</desc>\n");
    if (!canvas->is_compact)
        tcgemm_svg_style(canvas, name);
    write_pattern(canvas, name);
    tcgemm_svg_rect(svg, "paper", 0, 0, width, height, 10);
    tcgemm_svg_text(svg, SVG_TITLE, SVG_START, 28, 38, width - 56, "%s", title);
    tcgemm_svg_text(svg, SVG_NOTE, SVG_START, 28, 60, width - 56, "%s", caption);
}

void tcgemm_svg_end(const tcgemm_svg_t *svg) {
    tcgemm_text_put(svg->out, "</svg>\n");
}

/* ---- shapes ---- */

void tcgemm_svg_rect(const tcgemm_svg_t *svg, const char *classes, double x, double y, double w,
                     double h, double radius) {
    tcgemm_text_add(svg->out,
                    "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"",
                    classes, x, y, w, h);
    if (radius > 0)
        tcgemm_text_add(svg->out, " rx=\"%g\"", radius);
    tcgemm_text_put(svg->out, "/>\n");
}

void tcgemm_svg_line(const tcgemm_svg_t *svg, const char *classes, double x1, double y1, double x2,
                     double y2) {
    tcgemm_text_add(svg->out, "<path class=\"none %s\" d=\"M%.1f %.1fL%.1f %.1f\"/>\n", classes, x1,
                    y1, x2, y2);
}

void tcgemm_svg_arrow(const tcgemm_svg_t *svg, const char *classes, double x1, double y1, double x2,
                      double y2) {
    const double wing = 5;
    const double dx = x2 > x1 ? 1 : x2 < x1 ? -1 : 0; /* arrows run along an axis */
    const double dy = y2 > y1 ? 1 : y2 < y1 ? -1 : 0;
    tcgemm_text_add(
        svg->out,
        "<path class=\"none %s\" d=\"M%.1f %.1fL%.1f %.1fM%.1f %.1fL%.1f %.1fL%.1f %.1f\"/>\n",
        classes, x1, y1, x2, y2, x2 - wing * dx - wing * dy, y2 - wing * dy - wing * dx, x2, y2,
        x2 - wing * dx + wing * dy, y2 - wing * dy + wing * dx);
}

void tcgemm_svg_circle(const tcgemm_svg_t *svg, const char *classes, double x, double y,
                       double radius) {
    tcgemm_text_add(svg->out, "<circle class=\"%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\"/>\n",
                    classes, x, y, radius);
}

void tcgemm_svg_path_begin(const tcgemm_svg_t *svg, const char *classes) {
    tcgemm_text_add(svg->out, "<path class=\"%s\" d=\"", classes);
}

void tcgemm_svg_path_rect(const tcgemm_svg_t *svg, double x, double y, double w, double h) {
    tcgemm_text_add(svg->out, "M%.1f %.1fh%.1fv%.1fh%.1fz", x, y, w, h, -w);
}

void tcgemm_svg_path_line(const tcgemm_svg_t *svg, double x1, double y1, double x2, double y2) {
    tcgemm_text_add(svg->out, "M%.1f %.1fL%.1f %.1f", x1, y1, x2, y2);
}

void tcgemm_svg_path_end(const tcgemm_svg_t *svg) {
    tcgemm_text_put(svg->out, "\"/>\n");
}

/* ---- text ---- */

static const char *const font_classes[] = {"t", "l", "n", "s", "g"};
static const double font_sizes[] = {18, 14, 12.5, 11, 11.5};

double tcgemm_svg_font_size(tcgemm_svg_font_t font) {
    return font_sizes[font];
}

/* Advances of DejaVu Sans, one of the widest faces, in hundredths of its size. */
static int advance(unsigned char c) {
    if (c >= 0x80)
        return c >= 0xc0 ? 84 : 0; /* the first byte of a UTF-8 sequence stands for all */
    if (strchr("ijl'", c))
        return 28;
    if (strchr(" ,.:;|!()[]/-ftr", c))
        return strchr("ftr()[]", c) ? 41 : 36;
    if (strchr("mwMWGOQ%+=<>@_", c))
        return strchr("mMW%", c) ? 98 : 84;
    return c >= 'A' && c <= 'Z' ? 74 : 64;
}

double tcgemm_svg_text_width(const char *text, double size) {
    int sum = 0;
    for (; *text; ++text)
        sum += advance((unsigned char)*text);
    return sum * size / 100;
}

/* The width that a font's text takes: titles are bold. */
static double width_in(tcgemm_svg_font_t font, const char *text, double size) {
    return tcgemm_svg_text_width(text, size) * (font == SVG_TITLE ? 1.1 : 1);
}

/* Cuts the text until it fits in the smallest size, and ends it with dots. */
static void cut_short(tcgemm_svg_font_t font, char *text, double room) {
    size_t length = strlen(text);
    while (length > 3 && width_in(font, text, smallest_font) > room) {
        --length;
        while (length > 3 && ((unsigned char)text[length - 3] & 0xc0) == 0x80)
            --length; /* never within a UTF-8 sequence */
        memcpy(text + length - 3, "...", 4);
    }
}

/* Fits `text` into `room`; returns its size. */
static double fit(tcgemm_svg_font_t font, char *text, double room) {
    const double size = font_sizes[font];
    const double width = width_in(font, text, size);
    if (width <= room)
        return size;
    if (width * smallest_font / size > room) {
        cut_short(font, text, room);
        return smallest_font;
    }
    return size * room / width;
}

static void write_text(const tcgemm_svg_t *svg, tcgemm_svg_font_t font, tcgemm_svg_anchor_t anchor,
                       double x, double y, double room, const char *transform, char *text) {
    static const char *const anchors[] = {"", " text-anchor=\"middle\"", " text-anchor=\"end\""};
    const double size = fit(font, text, room);
    tcgemm_text_add(svg->out, "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\"%s%s", font_classes[font], x,
                    y, anchors[anchor], transform);
    if (size < font_sizes[font])
        tcgemm_text_add(svg->out, " style=\"font-size:%.2fpx\"", size);
    tcgemm_text_char(svg->out, '>');
    tcgemm_svg_escape(svg->out, text);
    tcgemm_text_put(svg->out, "</text>\n");
}

void tcgemm_svg_text(const tcgemm_svg_t *svg, tcgemm_svg_font_t font, tcgemm_svg_anchor_t anchor,
                     double x, double y, double room, const char *format, ...) {
    char text[TEXT_SIZE];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    write_text(svg, font, anchor, x, y, room, "", text);
}

void tcgemm_svg_text_up(const tcgemm_svg_t *svg, tcgemm_svg_font_t font, double x, double y,
                        double room, const char *format, ...) {
    char text[TEXT_SIZE];
    char transform[64];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    (void)snprintf(transform, sizeof transform, " transform=\"rotate(-90 %.1f %.1f)\"", x, y);
    write_text(svg, font, SVG_MIDDLE, x, y, room, transform, text);
}

/* "12 345" is one word. */
static int is_grouping(const char *text, const char *space) {
    return space > text && space[-1] >= '0' && space[-1] <= '9' && space[1] >= '0' &&
           space[1] <= '9';
}

/* The next space that a line may end at; the end of the text if there is none. */
static char *next_break(char *text, char *from) {
    char *at = strchr(from, ' ');
    while (at && is_grouping(text, at))
        at = strchr(at + 1, ' ');
    return at ? at : text + strlen(text);
}

/* The end of the longest run of words that fits into `room`, at least one word. */
static char *line_end(tcgemm_svg_font_t font, char *text, double room) {
    char *end = NULL;
    for (char *at = next_break(text, text);; at = next_break(text, at + 1)) {
        const char kept = *at;
        *at = '\0';
        const int fits = width_in(font, text, font_sizes[font]) <= room;
        *at = kept;
        if (!fits && end)
            return end;
        end = at;
        if (!kept || !fits)
            return end;
    }
}

double tcgemm_svg_paragraph(const tcgemm_svg_t *svg, tcgemm_svg_font_t font, double x, double y,
                            double room, const char *format, ...) {
    char text[TEXT_SIZE];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    for (char *from = text; *from;) {
        char *const end = line_end(font, from, room);
        char *const next = *end ? end + 1 : end;
        *end = '\0';
        write_text(svg, font, SVG_START, x, y, room, "", from);
        y += line_height * font_sizes[font];
        from = next;
    }
    return y;
}
