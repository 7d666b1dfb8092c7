/* plot_html.c - the SVG stands in the page itself; colours follow the reader's light or dark. */
#include "plot/plot_html.h"

#include <stdlib.h>
#include <string.h>

static const char head[] =
    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>";

static const char style[] =
    "</title>\n<style>\n"
    ":root { color-scheme: light dark; }\n"
    "body { font: 15px/1.5 sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem; }\n"
    "figure { margin: 0; padding: 0.5rem; background: #fff; border: 1px solid #8886;\n"
    "         border-radius: 6px; overflow-x: auto; }\n"
    "svg { display: block; max-width: 100%; height: auto; margin: auto; }\n"
    "div { overflow-x: auto; }\n"
    "h1 { font-size: 1.3rem; }\n"
    "table { border-collapse: collapse; font-size: 13px; font-variant-numeric: tabular-nums; "
    "margin: 1rem 0; }\n"
    "th, td { padding: 0.15rem 0.6rem; text-align: left; white-space: nowrap;\n"
    "         border-bottom: 1px solid #8884; }\n"
    "th.n, td.n { text-align: right; }\n"
    "</style>\n</head>\n<body>\n";

static void escaped(const char *text, FILE *out) {
    for (; *text; ++text) {
        if (*text == '<')
            (void)fputs("&lt;", out);
        else if (*text == '&')
            (void)fputs("&amp;", out);
        else if (*text == '"')
            (void)fputs("&quot;", out);
        else
            (void)putc(*text, out);
    }
}

static void element(const char *tag, const char *text, FILE *out) {
    if (*text) {
        (void)fprintf(out, "<%s>", tag);
        escaped(text, out);
        (void)fprintf(out, "</%s>\n", tag);
    }
}

/* A line of gnuplot's, which calls every drawing "Gnuplot", and its parts by number where a reader
 * who points at them wants the names of the series; without the blanks at its end. */
static void copy_line(const chart_t *chart, const char *line, FILE *out) {
    static const char part[] = "<title>gnuplot_plot_";
    const char *number = strstr(line, part);
    if (strncmp(line, "<title>Gnuplot</title>", 22) == 0) {
        element("title", chart->title, out);
    } else if (number) {
        const size_t index = strtoul(number + strlen(part), NULL, 10) - 1;
        (void)fprintf(out, "%.*s\n", (int)(number - line), line);
        if (index < chart->num_series)
            element("title", chart->series[index].label, out);
    } else {
        size_t length = strlen(line);
        while (length > 0 && strchr(" \t\n", line[length - 1]))
            --length;
        (void)fwrite(line, 1, length, out);
        (void)putc('\n', out);
    }
}

bool plot_svg_write(const chart_t *chart, FILE *svg, FILE *out) {
    char *line = NULL;
    size_t size = 0;
    bool found = false;
    rewind(svg);
    while (getline(&line, &size, svg) >= 0) {
        found = found || strncmp(line, "<svg", 4) == 0;
        copy_line(chart, line, out);
    }
    free(line);
    return found;
}

/* From the <svg> element on; a page of HTML has no XML declaration in its middle, and needs no
 * names of XML's spaces, which look like links. */
static bool copy_inline(const chart_t *chart, FILE *svg, FILE *out) {
    char *line = NULL;
    size_t size = 0;
    bool found = false;
    rewind(svg);
    while (getline(&line, &size, svg) >= 0) {
        if (!found && strncmp(line, "<svg", 4) == 0) {
            (void)fputs("<svg role=\"img\" aria-label=\"", out);
            escaped(chart->title, out);
            (void)fputs("\"\n", out);
            found = true;
        } else if (found && !strstr(line, "xmlns")) {
            copy_line(chart, line, out);
        }
    }
    free(line);
    return found;
}

static void heading(const char *name, bool number, FILE *out) {
    (void)fprintf(out, "<th%s>%s</th>", number ? " class=\"n\"" : "", name);
}

static void text_cell(const char *text, FILE *out) {
    (void)fputs("<td>", out);
    escaped(text, out);
    (void)fputs("</td>", out);
}

static void number_cell(double value, const char *format, FILE *out) {
    (void)fputs("<td class=\"n\">", out);
    if (value > 0)
        (void)fprintf(out, format, value);
    (void)fputs("</td>", out);
}

static void write_row(const chart_t *chart, const plot_row_t *row, bool peers, FILE *out) {
    (void)fputs("<tr>", out);
    text_cell(tcgemm_type_info(row->type)->name, out);
    text_cell(row->ops, out);
    number_cell((double)row->m, "%.0f", out);
    number_cell((double)row->n, "%.0f", out);
    number_cell((double)row->k, "%.0f", out);
    text_cell(row->kernel, out);
    number_cell((double)row->threads, "%.0f", out);
    number_cell(row->seconds, "%.4g", out);
    number_cell(row->ours.spread * 100, "%.1f", out);
    number_cell(row->ours.rate / chart->unit, "%.4g", out);
    number_cell(row->peak > 0 ? 100 * row->ours.rate / row->peak : 0, "%.1f", out);
    if (peers) {
        text_cell(row->theirs.rate > 0 ? row->peer : "", out);
        number_cell(row->theirs.rate / chart->unit, "%.4g", out);
        number_cell(row->ratio, "%.3f", out);
    }
    (void)fputs("</tr>\n", out);
}

static void write_table(const chart_t *chart, const plot_data_t *data, FILE *out) {
    static const char *const names[] = {"type",   "ops",     "m",        "n",       "k",
                                        "kernel", "threads", "median s", "spread %"};
    char peers[PLOT_LABEL_SIZE];
    plot_label_peers(data, peers);
    (void)fputs("<div><table>\n<thead><tr>", out);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i)
        heading(names[i], i > 1 && i != 5, out);
    heading(chart->unit_name, true, out);
    heading("% of peak", true, out);
    if (*peers) {
        heading("peer", false, out);
        heading(chart->unit_name, true, out);
        heading("ratio", true, out);
    }
    (void)fputs("</tr></thead>\n<tbody>\n", out);
    for (size_t i = 0; i < data->count; ++i)
        write_row(chart, &data->rows[i], *peers, out);
    (void)fputs("</tbody>\n</table></div>\n", out);
}

bool plot_html_write(const chart_t *chart, const plot_data_t *data, FILE *svg, FILE *out) {
    (void)fputs(head, out);
    escaped(chart->title, out);
    (void)fputs(style, out);
    element("h1", chart->title, out);
    (void)fputs("<figure>\n", out);
    const bool drawn = copy_inline(chart, svg, out);
    (void)fputs("</figure>\n", out);
    write_table(chart, data, out);
    element("p", chart->footers[0], out);
    element("p", chart->footers[1], out);
    (void)fputs("</body>\n</html>\n", out);
    return drawn;
}
