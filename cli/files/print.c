/* print.c - every dtype is printed through f64, which holds each of them exactly. */
#include "files/print.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBER_SIZE = 40 };

static bool is_float(tcgemm_dtype_t dtype) {
    return dtype <= TCGEMM_DTYPE_E5M2;
}

/* All elements as f64, or NULL. */
static double *to_doubles(const print_view_t *v) {
    int64_t count = 0;
    const int64_t lines = v->order == TCGEMM_ROW_MAJOR ? v->rows : v->cols;
    const int64_t length = v->order == TCGEMM_ROW_MAJOR ? v->cols : v->rows;
    if (lines > 0 && length > 0 && v->batch > 0)
        count = (v->batch - 1) * v->stride + (lines - 1) * v->ld + length;
    if ((uint64_t)count > SIZE_MAX / sizeof(double))
        return NULL;
    double *values = malloc(count > 0 ? (size_t)count * sizeof *values : 1);
    if (values &&
        tcgemm_convert(TCGEMM_DTYPE_F64, values, v->dtype, v->data, count) != TCGEMM_STATUS_OK) {
        free(values);
        return NULL;
    }
    return values;
}

static double element(const print_view_t *v, const double *values, int64_t t, int64_t i,
                      int64_t j) {
    return values[t * v->stride + (v->order == TCGEMM_ROW_MAJOR ? i * v->ld + j : i + j * v->ld)];
}

static void number_text(tcgemm_dtype_t dtype, double value, char text[NUMBER_SIZE]) {
    if (!is_float(dtype))
        (void)snprintf(text, NUMBER_SIZE, "%.0f", value);
    else
        (void)snprintf(text, NUMBER_SIZE, "%.*g", dtype == TCGEMM_DTYPE_F64 ? 17 : 9, value);
}

static void python_number(tcgemm_dtype_t dtype, double value, char text[NUMBER_SIZE]) {
    if (isnan(value))
        (void)strcpy(text, "float('nan')");
    else if (isinf(value))
        (void)strcpy(text, value > 0 ? "float('inf')" : "float('-inf')");
    else
        number_text(dtype, value, text);
    if (is_float(dtype) && !strpbrk(text, ".e(")) /* "1" would be a whole number in Python */
        (void)strcat(text, ".0");
}

/* One row or one column; without dimensions a number. */
static void python_vector(const print_view_t *v, const double *values, int64_t t, FILE *out) {
    char text[NUMBER_SIZE];
    const int64_t count = v->rows == 1 ? v->cols : v->rows;
    if (v->num_dims > 0)
        (void)putc('[', out);
    for (int64_t e = 0; e < count; ++e) {
        const double value =
            v->rows == 1 ? element(v, values, t, 0, e) : element(v, values, t, e, 0);
        python_number(v->dtype, value, text);
        (void)fprintf(out, "%s%s", e > 0 ? ", " : "", text);
    }
    if (v->num_dims > 0)
        (void)putc(']', out);
}

static void python_matrix(const print_view_t *v, const double *values, int64_t t, int indent,
                          FILE *out) {
    char text[NUMBER_SIZE];
    if (v->num_dims < 2) {
        python_vector(v, values, t, out);
        return;
    }
    (void)putc('[', out);
    for (int64_t i = 0; i < v->rows; ++i) {
        if (i > 0)
            (void)fprintf(out, ",\n%*s", indent, "");
        (void)putc('[', out);
        for (int64_t j = 0; j < v->cols; ++j) {
            python_number(v->dtype, element(v, values, t, i, j), text);
            (void)fprintf(out, "%s%s", j > 0 ? ", " : "", text);
        }
        (void)putc(']', out);
    }
    (void)putc(']', out);
}

bool print_python(const print_view_t *v, FILE *out) {
    double *values = to_doubles(v);
    if (!values)
        return false;
    (void)fprintf(out, "%c = ", v->name);
    if (!v->is_batched) {
        python_matrix(v, values, 0, 5, out);
    } else {
        (void)putc('[', out);
        for (int64_t t = 0; t < v->batch; ++t) {
            if (t > 0)
                (void)fputs(",\n     ", out);
            python_matrix(v, values, t, 6, out);
        }
        (void)putc(']', out);
    }
    (void)putc('\n', out);
    free(values);
    return true;
}

static int widest(const print_view_t *v, const double *values) {
    char text[NUMBER_SIZE];
    int width = 0;
    for (int64_t t = 0; t < v->batch; ++t)
        for (int64_t i = 0; i < v->rows; ++i)
            for (int64_t j = 0; j < v->cols; ++j) {
                number_text(v->dtype, element(v, values, t, i, j), text);
                width = (int)strlen(text) > width ? (int)strlen(text) : width;
            }
    return width;
}

bool print_table(const print_view_t *v, FILE *out) {
    double *values = to_doubles(v);
    if (!values)
        return false;
    const int width = widest(v, values);
    char text[NUMBER_SIZE];
    for (int64_t t = 0; t < v->batch; ++t) {
        (void)fprintf(out, "%c", v->name);
        if (v->batch > 1)
            (void)fprintf(out, "[%lld]", (long long)t);
        (void)fprintf(out, "  %lld x %lld  %s\n", (long long)v->rows, (long long)v->cols,
                      tcgemm_dtype_name(v->dtype));
        for (int64_t i = 0; i < v->rows; ++i) {
            for (int64_t j = 0; j < v->cols; ++j) {
                number_text(v->dtype, element(v, values, t, i, j), text);
                (void)fprintf(out, "  %*s", width, text);
            }
            (void)putc('\n', out);
        }
    }
    free(values);
    return true;
}
