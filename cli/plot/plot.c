/* plot.c - table -> kind -> chart -> script -> gnuplot -> picture. */
#include "plot/plot.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "files/output_file.h"
#include "options/setup.h"
#include "plot/chart.h"
#include "plot/gnuplot.h"
#include "plot/plot_html.h"
#include "plot/plot_kind.h"
#include "plot/plot_script.h"
#include "support/exit_status.h"
#include "support/message.h"

typedef enum picture { PICTURE_NONE, PICTURE_SVG, PICTURE_PNG, PICTURE_HTML } picture_t;

static picture_t picture_of(const char *path) {
    const char *name = strrchr(path, '/');
    const char *dot = strrchr(name ? name : path, '.');
    if (!dot)
        return PICTURE_NONE;
    if (strcmp(dot, ".svg") == 0)
        return PICTURE_SVG;
    if (strcmp(dot, ".png") == 0)
        return PICTURE_PNG;
    return strcmp(dot, ".html") == 0 ? PICTURE_HTML : PICTURE_NONE;
}

int plot_check(const settings_t *s, const char *path) {
    if (picture_of(path) == PICTURE_NONE)
        return message_usage(command_table[s->command].name,
                             "%s: the name of a plot ends in .svg, .png or .html", path);
    const int status = gnuplot_check();
    return status == CLI_OK ? output_check(path, s->force) : status;
}

/* ---- pictures ---- */

static int draw(const chart_t *chart, bool png, FILE *out) {
    char *script = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&script, &length);
    if (!stream)
        return message_fail(CLI_NO_MEMORY, "no memory for the plot");
    plot_script_write(chart, png, stream);
    const bool written = !ferror(stream) && fclose(stream) == 0;
    const int status = written ? gnuplot_run(script, length, out)
                               : message_fail(CLI_NO_MEMORY, "no memory for the plot");
    free(script);
    return status;
}

/* What gnuplot draws is not yet what we write. */
static int draw_text(const chart_t *chart, const plot_data_t *data, picture_t picture, FILE *out) {
    FILE *svg = tmpfile();
    if (!svg)
        return message_fail(CLI_BAD_FILE, "no temporary file for the plot: %s", strerror(errno));
    int status = draw(chart, false, svg);
    if (status == CLI_OK && !(picture == PICTURE_HTML ? plot_html_write(chart, data, svg, out)
                                                      : plot_svg_write(chart, svg, out)))
        status = message_fail(CLI_INTERNAL, "gnuplot has drawn nothing");
    (void)fclose(svg);
    return status;
}

static int write_picture(const chart_t *chart, const plot_data_t *data, const char *path) {
    output_t output;
    int status = output_open(&output, path);
    if (status != CLI_OK)
        return status;
    const picture_t picture = picture_of(path);
    status = picture == PICTURE_PNG ? draw(chart, true, output.stream)
                                    : draw_text(chart, data, picture, output.stream);
    const int closed = output_close(&output, status == CLI_OK);
    return status == CLI_OK ? closed : status;
}

int plot_draw(const settings_t *s, plot_data_t *data, const char *path) {
    plot_choice_t kind;
    int status = plot_kind_choose(data, (plot_choice_t)s->plot_kind, &kind);
    if (status != CLI_OK)
        return status;
    chart_t *chart = malloc(sizeof *chart);
    if (!chart)
        return message_fail(CLI_NO_MEMORY, "no memory for the plot");
    status = chart_create(chart, data, kind);
    if (status == CLI_OK)
        status = write_picture(chart, data, path);
    chart_free(chart);
    free(chart);
    return status;
}

/* ---- the command ---- */

static int read_table(plot_data_t *data, const char *path) {
    char *text;
    size_t length;
    int status = setup_read_text(path, &text, &length);
    if (status != CLI_OK)
        return status;
    status = plot_data_add(data, path, text, length);
    free(text);
    return status;
}

int command_plot(const settings_t *s) {
    if (s->num_files == 0)
        return message_usage("plot", "which table? one or more files of bench --csv");
    if (!s->output)
        return message_usage("plot", "--output is missing: a .svg, .png or .html file");
    plot_data_t data = {0};
    int status = plot_check(s, s->output);
    for (int64_t i = 0; i < s->num_files && status == CLI_OK; ++i)
        status = read_table(&data, s->files[i]);
    if (status == CLI_OK)
        status = plot_data_filter(&data, s);
    if (status == CLI_OK)
        status = plot_draw(s, &data, s->output);
    plot_data_free(&data);
    return status;
}
