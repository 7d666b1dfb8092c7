/* svg.c - the vocabulary of the drawings. */
#include "explain/svg.h"

#include <stdarg.h>
#include <string.h>

enum { TEXT_SIZE = 512 };

static const double smallest_font = 9;
static const double line_height = 1.42; /* of the font's size */

/* Classes are scoped to .tcgemm, since a page holds several drawings. In the dark scheme tints
 * become shades. */
static const char *const style =
    ".tcgemm text{font-family:system-ui,-apple-system,'Segoe UI',Helvetica,Arial,'DejaVu Sans',"
    "sans-serif;fill:#1c2128}"
    ".tcgemm .t{font-size:18px;font-weight:600}.tcgemm .l{font-size:14px}"
    ".tcgemm .n{font-size:12.5px;fill:#4d5661}.tcgemm .s{font-size:11px;fill:#4d5661}"
    ".tcgemm .g{font-size:11.5px}"
    ".tcgemm .none{fill:none}.tcgemm .paper{fill:#fff}.tcgemm .box{fill:#eef1f4}"
    ".tcgemm .a{fill:#cfe6f6}.tcgemm .a2{fill:#7cc0ea}.tcgemm .b{fill:#fbe3b5}"
    ".tcgemm .b2{fill:#f3b94b}.tcgemm .d{fill:#cdebdf}.tcgemm .d2{fill:#72cdac}"
    ".tcgemm .r0{fill:#8fcbf0}.tcgemm .r1{fill:#f7cb78}.tcgemm .r2{fill:#86d3b8}"
    ".tcgemm .r3{fill:#f0a584}.tcgemm .r4{fill:#dfb2cf}.tcgemm .r5{fill:#f3e98c}"
    ".tcgemm .w0{fill:#e3f1fb}.tcgemm .w1{fill:#b9dbf2}.tcgemm .w2{fill:#86bde2}"
    ".tcgemm .w3{fill:#4f97c9}.tcgemm .w4{fill:#246ea6}.tcgemm .w5{fill:#0a4274}"
    ".tcgemm .line{stroke:#aab2bc;stroke-width:1}.tcgemm .ink{stroke:#1c2128;stroke-width:1.6}"
    ".tcgemm .sa{stroke:#0072b2;stroke-width:2}.tcgemm .sb{stroke:#b26a00;stroke-width:2}"
    ".tcgemm .sd{stroke:#007a5a;stroke-width:2}.tcgemm .sv{stroke:#c2410c;stroke-width:2.4}"
    ".tcgemm .fv{fill:#c2410c}.tcgemm .fink{fill:#1c2128}.tcgemm .fline{fill:#aab2bc}"
    ".tcgemm .fa{fill:#0072b2}.tcgemm .fb{fill:#b26a00}.tcgemm .fd{fill:#007a5a}"
    ".tcgemm .faint{opacity:.5}"
    ".tcgemm .dash{stroke-dasharray:5 4}.tcgemm .thick{stroke-width:3}"
    ".tcgemm .thin{stroke-width:.7}.tcgemm .hatch{stroke:#8a94a0;stroke-width:1.3}"
    "@media(prefers-color-scheme:dark){"
    ".tcgemm text{fill:#e8ecf1}.tcgemm .n,.tcgemm .s{fill:#aab4c0}"
    ".tcgemm .paper{fill:#12161c}.tcgemm .box{fill:#222932}"
    ".tcgemm .a{fill:#123c57}.tcgemm .a2{fill:#1f77b0}.tcgemm .b{fill:#4b3407}"
    ".tcgemm .b2{fill:#a06a08}.tcgemm .d{fill:#0d3f31}.tcgemm .d2{fill:#0b6b4f}"
    ".tcgemm .r0{fill:#1a5f91}.tcgemm .r1{fill:#845605}.tcgemm .r2{fill:#0a6a4e}"
    ".tcgemm .r3{fill:#94401a}.tcgemm .r4{fill:#7b4570}.tcgemm .r5{fill:#686112}"
    ".tcgemm .w0{fill:#0d2233}.tcgemm .w1{fill:#123c5b}.tcgemm .w2{fill:#1b5c88}"
    ".tcgemm .w3{fill:#2f83b8}.tcgemm .w4{fill:#67b0dc}.tcgemm .w5{fill:#bfe2f7}"
    ".tcgemm .line{stroke:#4b5663}.tcgemm .ink{stroke:#e8ecf1}"
    ".tcgemm .sa{stroke:#56b4e9}.tcgemm .sb{stroke:#e69f00}.tcgemm .sd{stroke:#35c79a}"
    ".tcgemm .sv{stroke:#ff8a4c}.tcgemm .fv{fill:#ff8a4c}.tcgemm .fink{fill:#e8ecf1}"
    ".tcgemm .fline{fill:#4b5663}"
    ".tcgemm .fa{fill:#56b4e9}.tcgemm .fb{fill:#e69f00}.tcgemm .fd{fill:#35c79a}"
    ".tcgemm .hatch{stroke:#7b8794}}";

void svg_escape(FILE *out, const char *text) {
    for (; *text; ++text) {
        switch (*text) {
        case '&':
            (void)fputs("&amp;", out);
            break;
        case '<':
            (void)fputs("&lt;", out);
            break;
        case '>':
            (void)fputs("&gt;", out);
            break;
        case '"':
            (void)fputs("&quot;", out);
            break;
        default:
            (void)fputc(*text, out);
        }
    }
}

/* ---- the drawing as a whole ---- */

void svg_begin(svg_t *svg, FILE *out, const char *name, double width, double height,
               const char *title, const char *caption) {
    *svg = (svg_t){.out = out, .name = name, .width = width, .height = height};
    (void)fprintf(out,
                  "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"tcgemm\" role=\"img\" "
                  "viewBox=\"0 0 %g %g\" width=\"%g\" height=\"%g\" "
                  "aria-labelledby=\"%s-title %s-desc\">\n<title id=\"%s-title\">",
                  width, height, width, height, name, name, name);
    svg_escape(out, title);
    (void)fprintf(out, "</title>\n<desc id=\"%s-desc\">", name);
    svg_escape(out, caption);
    (void)fprintf(out,
                  "</desc>\n<style>%s.tcgemm .h{fill:url(#%s-hatch)}</style>\n"
                  "<defs><pattern id=\"%s-hatch\" width=\"7\" height=\"7\" "
                  "patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\">"
                  "<path class=\"hatch\" d=\"M0 0V7\"/></pattern></defs>\n",
                  style, name, name);
    svg_rect(svg, "paper", 0, 0, width, height, 10);
    svg_text(svg, SVG_TITLE, SVG_START, 28, 38, width - 56, "%s", title);
    svg_text(svg, SVG_NOTE, SVG_START, 28, 60, width - 56, "%s", caption);
}

void svg_end(const svg_t *svg) {
    (void)fputs("</svg>\n", svg->out);
}

/* ---- shapes ---- */

void svg_rect(const svg_t *svg, const char *classes, double x, double y, double w, double h,
              double radius) {
    (void)fprintf(svg->out,
                  "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"",
                  classes, x, y, w, h);
    if (radius > 0)
        (void)fprintf(svg->out, " rx=\"%g\"", radius);
    (void)fputs("/>\n", svg->out);
}

void svg_line(const svg_t *svg, const char *classes, double x1, double y1, double x2, double y2) {
    (void)fprintf(svg->out, "<path class=\"none %s\" d=\"M%.1f %.1fL%.1f %.1f\"/>\n", classes, x1,
                  y1, x2, y2);
}

void svg_arrow(const svg_t *svg, const char *classes, double x1, double y1, double x2, double y2) {
    const double wing = 5;
    const double dx = x2 > x1 ? 1 : x2 < x1 ? -1 : 0; /* arrows run along an axis */
    const double dy = y2 > y1 ? 1 : y2 < y1 ? -1 : 0;
    (void)fprintf(
        svg->out,
        "<path class=\"none %s\" d=\"M%.1f %.1fL%.1f %.1fM%.1f %.1fL%.1f %.1fL%.1f %.1f\"/>\n",
        classes, x1, y1, x2, y2, x2 - wing * dx - wing * dy, y2 - wing * dy - wing * dx, x2, y2,
        x2 - wing * dx + wing * dy, y2 - wing * dy + wing * dx);
}

void svg_circle(const svg_t *svg, const char *classes, double x, double y, double radius) {
    (void)fprintf(svg->out, "<circle class=\"%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\"/>\n", classes,
                  x, y, radius);
}

void svg_path_begin(const svg_t *svg, const char *classes) {
    (void)fprintf(svg->out, "<path class=\"%s\" d=\"", classes);
}

void svg_path_rect(const svg_t *svg, double x, double y, double w, double h) {
    (void)fprintf(svg->out, "M%.1f %.1fh%.1fv%.1fh%.1fz", x, y, w, h, -w);
}

void svg_path_line(const svg_t *svg, double x1, double y1, double x2, double y2) {
    (void)fprintf(svg->out, "M%.1f %.1fL%.1f %.1f", x1, y1, x2, y2);
}

void svg_path_end(const svg_t *svg) {
    (void)fputs("\"/>\n", svg->out);
}

/* ---- text ---- */

static const char *const font_classes[] = {"t", "l", "n", "s", "g"};
static const double font_sizes[] = {18, 14, 12.5, 11, 11.5};

double svg_font_size(svg_font_t font) {
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

double svg_text_width(const char *text, double size) {
    int sum = 0;
    for (; *text; ++text)
        sum += advance((unsigned char)*text);
    return sum * size / 100;
}

/* The width that a font's text takes: titles are bold. */
static double width_in(svg_font_t font, const char *text, double size) {
    return svg_text_width(text, size) * (font == SVG_TITLE ? 1.1 : 1);
}

/* Cuts the text until it fits in the smallest size, and ends it with dots. */
static void cut_short(svg_font_t font, char *text, double room) {
    size_t length = strlen(text);
    while (length > 3 && width_in(font, text, smallest_font) > room) {
        --length;
        while (length > 3 && ((unsigned char)text[length - 3] & 0xc0) == 0x80)
            --length; /* never within a UTF-8 sequence */
        memcpy(text + length - 3, "...", 4);
    }
}

/* Fits `text` into `room`; returns its size. */
static double fit(svg_font_t font, char *text, double room) {
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

static void write_text(const svg_t *svg, svg_font_t font, svg_anchor_t anchor, double x, double y,
                       double room, const char *turn, char *text) {
    static const char *const anchors[] = {"", " text-anchor=\"middle\"", " text-anchor=\"end\""};
    const double size = fit(font, text, room);
    (void)fprintf(svg->out, "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\"%s%s", font_classes[font], x,
                  y, anchors[anchor], turn);
    if (size < font_sizes[font])
        (void)fprintf(svg->out, " style=\"font-size:%.2fpx\"", size);
    (void)fputc('>', svg->out);
    svg_escape(svg->out, text);
    (void)fputs("</text>\n", svg->out);
}

void svg_text(const svg_t *svg, svg_font_t font, svg_anchor_t anchor, double x, double y,
              double room, const char *format, ...) {
    char text[TEXT_SIZE];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    write_text(svg, font, anchor, x, y, room, "", text);
}

void svg_text_up(const svg_t *svg, svg_font_t font, double x, double y, double room,
                 const char *format, ...) {
    char text[TEXT_SIZE];
    char turn[64];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    (void)snprintf(turn, sizeof turn, " transform=\"rotate(-90 %.1f %.1f)\"", x, y);
    write_text(svg, font, SVG_MIDDLE, x, y, room, turn, text);
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
static char *line_end(svg_font_t font, char *text, double room) {
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

double svg_paragraph(const svg_t *svg, svg_font_t font, double x, double y, double room,
                     const char *format, ...) {
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
