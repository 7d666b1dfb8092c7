/* draw.c - the door: a plan and options in, a drawing out. */
#include <ctype.h>
#include <string.h>

#include "base/error.h"
#include "base/fpmode.h"
#include "base/struct.h"
#include "draw/page.h"
#include "draw/picture.h"

enum { LEAST_WIDTH = 100, MOST_WIDTH = 10000, ID_SIZE = 64 };

/* ---- options ---- */

/* A '-' ends the caller's part of an id. */
static tcgemm_status_t read_id(const char *id, char prefix[ID_SIZE]) {
    prefix[0] = '\0';
    if (!id || !id[0])
        return TCGEMM_STATUS_OK;
    const size_t length = strlen(id);
    TCGEMM_RETURN_IF(length > ID_SIZE - 2, TCGEMM_STATUS_BAD_ARGUMENT,
                     "id has more than %d characters", ID_SIZE - 2);
    for (size_t i = 0; i < length; ++i)
        TCGEMM_RETURN_IF((unsigned char)id[i] >= 0x80 ||
                             (!isalnum((unsigned char)id[i]) && !strchr("-_", id[i])),
                         TCGEMM_STATUS_BAD_ARGUMENT,
                         "id may hold letters, digits, '-' and '_' only");
    memcpy(prefix, id, length);
    memcpy(prefix + length, "-", 2);
    return TCGEMM_STATUS_OK;
}

static tcgemm_status_t read_picture(const char *name, tcgemm_picture_t *picture) {
    *picture = PICTURE_BLOCKS;
    if (!name)
        return TCGEMM_STATUS_OK;
    for (*picture = 0; *picture < NUM_PICTURES; ++*picture)
        if (strcmp(name, tcgemm_picture_name((int)*picture)) == 0)
            return TCGEMM_STATUS_OK;
    return tcgemm_error_set(TCGEMM_STATUS_BAD_ARGUMENT, "no picture is called \"%.40s\"", name);
}

static tcgemm_status_t read_options(const tcgemm_draw_options_t *given, tcgemm_draw_options_t *o) {
    *o = tcgemm_draw_options(TCGEMM_FORMAT_SVG);
    if (given)
        TCGEMM_FORWARD(tcgemm_struct_read(
            "options", given, TCGEMM_STRUCT_END(tcgemm_draw_options_t, format), o, sizeof *o));
    TCGEMM_RETURN_IF(o->format < TCGEMM_FORMAT_JSON || o->format > TCGEMM_FORMAT_HTML_PART,
                     TCGEMM_STATUS_BAD_ARGUMENT, "format is %d: nothing is drawn that way",
                     (int)o->format);
    TCGEMM_RETURN_IF((int)o->scheme < 0 || o->scheme > TCGEMM_SCHEME_DARK,
                     TCGEMM_STATUS_BAD_ARGUMENT, "scheme is %d", (int)o->scheme);
    TCGEMM_RETURN_IF(o->width != 0 && (o->width < LEAST_WIDTH || o->width > MOST_WIDTH),
                     TCGEMM_STATUS_BAD_ARGUMENT, "width is %d, not in %d .. %d", o->width,
                     LEAST_WIDTH, MOST_WIDTH);
    return TCGEMM_STATUS_OK;
}

/* ---- the drawing ---- */

static void draw(const tcgemm_analysis_t *analysis, tcgemm_format_t format,
                 tcgemm_picture_t picture, const tcgemm_svg_canvas_t *canvas) {
    switch (format) {
    case TCGEMM_FORMAT_JSON:
        tcgemm_page_json(analysis, canvas->out);
        break;
    case TCGEMM_FORMAT_HTML:
        tcgemm_page_draw(analysis, canvas->out);
        break;
    case TCGEMM_FORMAT_HTML_PART:
        tcgemm_page_draw_part(analysis, canvas);
        break;
    default:
        tcgemm_picture_draw(analysis, picture, canvas);
    }
}

size_t tcgemm_plan_draw(const tcgemm_plan_t *plan, const tcgemm_draw_options_t *options,
                        char *buffer, size_t size) {
    TCGEMM_DEFAULT_FP_MODES;
    tcgemm_draw_options_t o;
    tcgemm_analysis_t analysis = {.struct_size = sizeof analysis};
    tcgemm_picture_t picture = PICTURE_BLOCKS;
    char prefix[ID_SIZE];
    tcgemm_text_t text;
    if (buffer && size > 0)
        buffer[0] = '\0';
    if (read_options(options, &o) != TCGEMM_STATUS_OK ||
        read_id(o.id, prefix) != TCGEMM_STATUS_OK ||
        read_picture(o.picture, &picture) != TCGEMM_STATUS_OK ||
        tcgemm_plan_analyze(plan, o.analysis, &analysis) != TCGEMM_STATUS_OK)
        return 0;
    tcgemm_text_begin(&text, buffer, size);
    const tcgemm_svg_canvas_t canvas = {.out = &text,
                                        .scheme = o.scheme,
                                        .width = o.width,
                                        .id = prefix,
                                        .is_compact = o.format == TCGEMM_FORMAT_HTML_PART};
    draw(&analysis, o.format, picture, &canvas);
    return tcgemm_text_end(&text);
}
