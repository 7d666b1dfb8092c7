/* plot_label.c - texts are cut where they do not fit; a label is for reading. */
#include "plot/plot_label.h"

#include <stdio.h>
#include <string.h>

void plot_label_append(char text[PLOT_LABEL_SIZE], const char *words) {
    const size_t used = strlen(text);
    if (*words)
        (void)snprintf(text + used, PLOT_LABEL_SIZE - used, "%s%s", used ? ", " : "", words);
}

void plot_label_number(double value, char text[PLOT_LABEL_SIZE]) {
    const int decimals = value < 0.9995 ? 3 : value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
    (void)snprintf(text, PLOT_LABEL_SIZE, "%.*f", decimals, value);
}

static void shape_text(const plot_row_t *row, char text[PLOT_LABEL_SIZE]) {
    const long long m = row->m;
    const long long n = row->n;
    const long long k = row->k;
    if (m == n && n == k)
        (void)snprintf(text, PLOT_LABEL_SIZE, "%lld^3", m);
    else
        (void)snprintf(text, PLOT_LABEL_SIZE, "%lld x %lld x %lld", m, n, k);
}

static void mn_text(const plot_row_t *row, char text[PLOT_LABEL_SIZE]) {
    const long long m = row->m;
    const long long n = row->n;
    if (m == n)
        (void)snprintf(text, PLOT_LABEL_SIZE, "m = n = %lld", m);
    else
        (void)snprintf(text, PLOT_LABEL_SIZE, "m = %lld, n = %lld", m, n);
}

/* Skips "word_" of a kernel's name, where a '-' of the word is a '_' there. */
static const char *skip_word(const char *name, const char *word) {
    const size_t length = strlen(word);
    for (size_t i = 0; i < length; ++i)
        if (name[i] != (word[i] == '-' ? '_' : word[i]))
            return name;
    return name[length] == '_' ? name + length + 1 : name;
}

static const char *kernel_text(const plot_row_t *row) {
    const char *name = skip_word(row->kernel, "gpu");
    name = skip_word(name, row->algo);
    return skip_word(name, tcgemm_type_info(row->type)->name);
}

static void threads_text(const plot_row_t *row, char text[PLOT_LABEL_SIZE]) {
    if (!plot_row_is_gpu(row))
        (void)snprintf(text, PLOT_LABEL_SIZE, "%lld thread%s", (long long)row->threads,
                       row->threads == 1 ? "" : "s");
}

/* One property; "" where it goes without saying. */
static void property_text(const plot_row_t *row, unsigned property, char text[PLOT_LABEL_SIZE]) {
    *text = '\0';
    switch (property) {
    case PROPERTY_TYPE:
        plot_label_append(text, tcgemm_type_info(row->type)->name);
        break;
    case PROPERTY_SHAPE:
        shape_text(row, text);
        break;
    case PROPERTY_MN:
        mn_text(row, text);
        break;
    case PROPERTY_ALGO:
        plot_label_append(text, row->algo);
        break;
    case PROPERTY_KERNEL:
        plot_label_append(text, kernel_text(row));
        break;
    case PROPERTY_LAYOUT:
        if (*row->ops)
            (void)snprintf(text, PLOT_LABEL_SIZE, "%s-major %s",
                           strcmp(row->order, "col") == 0 ? "column" : "row", row->ops);
        break;
    case PROPERTY_BATCH:
        if (row->batch != 1)
            (void)snprintf(text, PLOT_LABEL_SIZE, "batch of %lld", (long long)row->batch);
        break;
    case PROPERTY_THREADS:
        threads_text(row, text);
        break;
    case PROPERTY_COLD:
        plot_label_append(text, row->cold ? "cold operands" : "");
        break;
    case PROPERTY_MACHINE:
        plot_label_append(text, plot_row_machine(row));
        break;
    default:
        break;
    }
}

void plot_label(const plot_row_t *row, unsigned mask, char text[PLOT_LABEL_SIZE]) {
    char words[PLOT_LABEL_SIZE];
    *text = '\0';
    for (unsigned bit = 1; bit <= mask; bit <<= 1)
        if (mask & bit) {
            property_text(row, bit, words);
            plot_label_append(text, words);
        }
}

bool plot_label_same(const plot_row_t *a, const plot_row_t *b, unsigned mask) {
    char one[PLOT_LABEL_SIZE];
    char other[PLOT_LABEL_SIZE];
    plot_label(a, mask, one);
    plot_label(b, mask, other);
    return strcmp(one, other) == 0;
}

bool plot_label_needs_kernel(const plot_data_t *data, unsigned mask) {
    for (size_t i = 0; i < data->count; ++i)
        for (size_t j = 0; j < i; ++j)
            if (strcmp(data->rows[i].kernel, data->rows[j].kernel) != 0 &&
                (data->rows[i].k == data->rows[j].k || !(mask & PROPERTY_SHAPE)) &&
                plot_label_same(&data->rows[i], &data->rows[j], mask))
                return true;
    return false;
}

unsigned plot_label_varying(const plot_data_t *data) {
    unsigned mask = 0;
    for (unsigned bit = 1; bit < PROPERTIES_ALL; bit <<= 1)
        for (size_t i = 1; i < data->count && !(mask & bit); ++i)
            if (!plot_label_same(&data->rows[0], &data->rows[i], bit))
                mask |= bit;
    return mask;
}

void plot_label_types(const plot_data_t *data, char text[PLOT_LABEL_SIZE]) {
    int count = 0;
    *text = '\0';
    for (size_t i = 0; i < data->count; ++i) {
        size_t before = 0;
        while (data->rows[before].type != data->rows[i].type)
            ++before;
        if (before == i && ++count <= 3)
            plot_label_append(text, tcgemm_type_info(data->rows[i].type)->name);
    }
    if (count > 3)
        (void)snprintf(text, PLOT_LABEL_SIZE, "%d types", count);
}

void plot_label_peers(const plot_data_t *data, char text[PLOT_LABEL_SIZE]) {
    const char *first = NULL;
    size_t length = 0;
    for (size_t i = 0; i < data->count; ++i) {
        const char *peer = data->rows[i].peer;
        if (data->rows[i].theirs.rate <= 0)
            continue;
        if (!first) {
            first = peer;
            length = strlen(peer);
        } else if (strcmp(first, peer) != 0 && length > strcspn(first, " ")) {
            length = strcspn(first, " ");
        }
        if (strncmp(first, peer, length) != 0) {
            (void)snprintf(text, PLOT_LABEL_SIZE, "peers");
            return;
        }
    }
    (void)snprintf(text, PLOT_LABEL_SIZE, "%.*s", (int)length, first ? first : "");
}
