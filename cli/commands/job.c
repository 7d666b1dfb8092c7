/* job.c - where the operands of `run` come from.
 *
 * A file keeps its own order. One that is stored in the other order than the problem's is its own
 * transpose there: op is turned round and the leading dimension stays.
 *
 * Arrays multiply as in NumPy: one of one dimension is a row of A or a column of B, whose dimension
 * D lacks; one of three dimensions is a batch, and a single matrix serves for all of it by stride
 * 0.
 */
#include "commands/job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "files/layout.h"
#include "options/setup.h"
#include "support/exit_status.h"
#include "support/message.h"
#include "support/random.h"

static int file_fault(const file_error_t *err) {
    return message_fail(err->exit_status, "%s", err->message);
}

/* ---- types ---- */

/* s32 is the type of no operand, but every s32 is an f64. */
static tcgemm_dtype_t operand_dtype(tcgemm_dtype_t dtype) {
    return dtype == TCGEMM_DTYPE_S32 ? TCGEMM_DTYPE_F64 : dtype;
}

/* What a file of this dtype and another one multiply as, if nobody says: 0 if nothing does. */
static tcgemm_type_t deduced_type(tcgemm_dtype_t a, tcgemm_dtype_t b) {
    static const tcgemm_type_t preferred[] = {
        TCGEMM_F16_F32, TCGEMM_BF16_F32, TCGEMM_F32_F32,  TCGEMM_F64_F64,  TCGEMM_S8_S32,
        TCGEMM_U8_S32,  TCGEMM_U8S8_S32, TCGEMM_S8U8_S32, TCGEMM_E4M3_F32, TCGEMM_E5M2_F32,
        TCGEMM_S4_S32,  TCGEMM_B1_S32,   TCGEMM_U4_S32,
    };
    for (size_t i = 0; i < sizeof preferred / sizeof preferred[0]; ++i) {
        const tcgemm_type_info_t *info = tcgemm_type_info(preferred[i]);
        if (info->a == operand_dtype(a) && info->b == operand_dtype(b))
            return preferred[i];
    }
    return (tcgemm_type_t)0;
}

static int choose_type(job_t *job) {
    const settings_t *s = job->settings;
    if (s->type)
        return setup_type(s, s->type, &job->problem.type);
    job->problem.type = TCGEMM_F32_F32;
    if (!job->from_files)
        return CLI_OK;
    job->problem.type = deduced_type(job->files[0].dtype, job->files[1].dtype);
    if (job->problem.type != 0)
        return CLI_OK;
    return message_fail(CLI_BAD_FILE,
                        "%s holds %s and %s holds %s: no type multiplies these, so give --type",
                        s->files[0], tcgemm_dtype_name(job->files[0].dtype), s->files[1],
                        tcgemm_dtype_name(job->files[1].dtype));
}

/* ---- files ---- */

/* What a conversion has cost, in a note; integers must not change at all. */
static int tell_loss(const matrix_t *before, const matrix_t *after, const char *name) {
    matrix_loss_t loss;
    char text[160] = "";
    const char *to = tcgemm_dtype_name(after->dtype);
    matrix_compare(before, after, &loss);
    if (before->whole && loss.inexact > 0) {
        char index[64];
        matrix_index_text(before, loss.index, index, sizeof index);
        return message_fail(CLI_BAD_FILE, "%s: element %s is %.17g, which %s does not hold", name,
                            index, loss.value, to);
    }
    const struct {
        int64_t count;
        const char *what;
    } parts[] = {
        {loss.clipped, "clipped"}, {loss.overflowed, "overflowed"}, {loss.nans, "NaN lost"}};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; ++i)
        if (parts[i].count > 0)
            (void)snprintf(text + strlen(text), sizeof text - strlen(text), "%s%lld %s",
                           *text ? ", " : ": ", (long long)parts[i].count, parts[i].what);
    message_note("%s: converted from %s to %s, to nearest, ties to even%s", name,
                 before->whole ? before->dtype_text : tcgemm_dtype_name(before->dtype), to, text);
    return CLI_OK;
}

static int convert_file(matrix_t *matrix, tcgemm_dtype_t to, const char *name) {
    if (matrix->dtype == to)
        return CLI_OK;
    matrix_t converted;
    file_error_t err;
    if (!matrix_convert(matrix, to, &converted, &err))
        return file_fault(&err);
    const int status = tell_loss(matrix, &converted, name);
    matrix_free(matrix);
    *matrix = converted;
    return status;
}

/* What --a-dtype and its like, and --type, say of operand 0, 1 or 2. */
static array_hint_t hint_of(const settings_t *s, int operand) {
    static const tcgemm_dtype_t choices[] = {
        [ELEMENTS_BF16] = TCGEMM_DTYPE_BF16, [ELEMENTS_E4M3] = TCGEMM_DTYPE_E4M3,
        [ELEMENTS_E5M2] = TCGEMM_DTYPE_E5M2, [ELEMENTS_INT4] = TCGEMM_DTYPE_S4,
        [ELEMENTS_UINT4] = TCGEMM_DTYPE_U4,
    };
    array_hint_t hint = {0};
    tcgemm_type_t type;
    const int said = operand == 0 ? s->a_dtype : operand == 1 ? s->b_dtype : s->c_dtype;
    if (said != ELEMENTS_NOT_SAID)
        hint.said = choices[said];
    if (s->type && tcgemm_type_from_name(s->type, &type) == TCGEMM_STATUS_OK) {
        const tcgemm_type_info_t *info = tcgemm_type_info(type);
        hint.wanted = operand == 0 ? info->a : operand == 1 ? info->b : info->d;
    }
    return hint;
}

static int load_files(job_t *job) {
    const settings_t *s = job->settings;
    const char *const names[3] = {s->files[0], s->files[1], s->c};
    for (int i = 0; i < 3; ++i) {
        file_error_t err;
        matrix_t *const file = &job->files[i];
        const array_hint_t hint = hint_of(s, i);
        if (names[i] && !matrix_load(names[i], &hint, file, &err))
            return file_fault(&err);
        if (names[i] && file->taken)
            message_note("%s: '%s' taken for %s", names[i], file->dtype_text,
                         tcgemm_dtype_name(file->dtype));
    }
    return CLI_OK;
}

/* ---- shapes ---- */

enum { SHAPE_TEXT = 96 };

/* "2 x 3", with its last two dimensions exchanged if it is transposed. */
static const char *shape_text(const matrix_t *matrix, bool transposed, char text[SHAPE_TEXT]) {
    array_shape_t shape = {.num_dims = matrix->num_dims};
    memcpy(shape.dims, matrix->dims, sizeof matrix->dims);
    const int n = shape.num_dims;
    if (transposed && n >= 2) {
        shape.dims[n - 1] = matrix->dims[n - 2];
        shape.dims[n - 2] = matrix->dims[n - 1];
    }
    return array_shape_text(&shape, text, SHAPE_TEXT);
}

/* Of D: without that of an operand of one dimension. */
static int num_matrix_dims(const job_t *job) {
    return 2 - (job->files[0].num_dims == 1) - (job->files[1].num_dims == 1);
}

static bool is_batched(const job_t *job) {
    return job->from_files ? job->files[0].num_dims == 3 || job->files[1].num_dims == 3
                           : job->problem.batch != 1;
}

/* The dimensions of D as an array. */
static void set_result_dims(const job_t *job, matrix_t *d) {
    const tcgemm_problem_t *p = &job->problem;
    d->num_dims = 0;
    if (is_batched(job))
        d->dims[d->num_dims++] = p->batch;
    if (job->files[0].num_dims != 1)
        d->dims[d->num_dims++] = p->m;
    if (job->files[1].num_dims != 1)
        d->dims[d->num_dims++] = p->n;
}

static int check_vectors(const job_t *job) {
    const settings_t *s = job->settings;
    const bool transposed[2] = {s->trans_a, s->trans_b};
    for (int i = 0; i < 2; ++i)
        if (transposed[i] && job->files[i].num_dims == 1)
            return message_fail(CLI_BAD_FILE,
                                "%s has one dimension, which --trans-%c cannot transpose",
                                s->files[i], "ab"[i]);
    return CLI_OK;
}

/* One dimension as a column. */
static void stand_up(matrix_t *vector) {
    vector->rows = vector->cols;
    vector->cols = vector->ld = 1;
}

/* An operand whose file has the other order is read as its transpose. */
static tcgemm_op_t op_of(const matrix_t *matrix, tcgemm_order_t order, bool transposed) {
    return (matrix->order != order) != transposed ? TCGEMM_OP_T : TCGEMM_OP_N;
}

static int check_inner(const job_t *job) {
    const settings_t *s = job->settings;
    const matrix_t *a = &job->files[0];
    const matrix_t *b = &job->files[1];
    const int64_t inner_a = s->trans_a ? a->rows : a->cols;
    const int64_t inner_b = s->trans_b ? b->cols : b->rows;
    char text_a[SHAPE_TEXT];
    char text_b[SHAPE_TEXT];
    if (inner_a == inner_b)
        return CLI_OK;
    return message_fail(CLI_BAD_FILE, "%s%s is %s and %s%s is %s: %lld and %lld do not fit",
                        s->files[0], s->trans_a ? " transposed" : "",
                        shape_text(a, s->trans_a, text_a), s->files[1],
                        s->trans_b ? " transposed" : "", shape_text(b, s->trans_b, text_b),
                        (long long)inner_a, (long long)inner_b);
}

/* Several matrices meet as many, or one that serves for all. */
static int set_batch(job_t *job) {
    const settings_t *s = job->settings;
    const matrix_t *a = &job->files[0];
    const matrix_t *b = &job->files[1];
    tcgemm_problem_t *p = &job->problem;
    if (a->batch != b->batch && a->batch != 1 && b->batch != 1)
        return message_fail(CLI_BAD_FILE,
                            "%s holds %lld matrices and %s holds %lld: as many, or one, would fit",
                            s->files[0], (long long)a->batch, s->files[1], (long long)b->batch);
    p->batch = a->batch != 1 ? a->batch : b->batch;
    p->stride_a = a->batch == p->batch ? a->stride : 0;
    p->stride_b = b->batch == p->batch ? b->stride : 0;
    return CLI_OK;
}

static int shape_from_files(job_t *job) {
    const settings_t *s = job->settings;
    const matrix_t *a = &job->files[0];
    const matrix_t *b = &job->files[1];
    tcgemm_problem_t *p = &job->problem;
    int status = check_vectors(job);
    if (status != CLI_OK)
        return status;
    if (b->num_dims == 1)
        stand_up(&job->files[1]);
    p->m = s->trans_a ? a->cols : a->rows;
    p->k = s->trans_a ? a->rows : a->cols;
    p->n = s->trans_b ? b->rows : b->cols;
    p->op_a = op_of(a, p->order, s->trans_a);
    p->op_b = op_of(b, p->order, s->trans_b);
    p->lda = a->ld;
    p->ldb = b->ld;
    status = check_inner(job);
    return status == CLI_OK ? set_batch(job) : status;
}

/* ---- C and D ---- */

/* Where element (i, j) of item t of C lies in its file. */
typedef struct steps {
    int64_t t, i, j;
} steps_t;

/* C has the dimensions of D, those of one item, or of a batch of one. */
static int check_c(const job_t *job) {
    const tcgemm_problem_t *p = &job->problem;
    const settings_t *s = job->settings;
    const matrix_t *c = &job->files[2];
    matrix_t d = {0};
    set_result_dims(job, &d);
    const int num_dims = num_matrix_dims(job);
    const bool batched = c->num_dims == num_dims + 1;
    bool good = batched || c->num_dims == num_dims;
    for (int i = 0; good && i < num_dims; ++i)
        good = c->dims[c->num_dims - 1 - i] == d.dims[d.num_dims - 1 - i];
    if (good && batched)
        good = c->dims[0] == 1 || (c->dims[0] == p->batch && is_batched(job));
    char of_c[SHAPE_TEXT];
    char of_d[SHAPE_TEXT];
    if (good)
        return CLI_OK;
    return message_fail(CLI_BAD_FILE, "%s is %s, but the product of %s and %s is %s", s->c,
                        shape_text(c, false, of_c), s->files[0], s->files[1],
                        shape_text(&d, false, of_d));
}

static steps_t steps_of_c(const job_t *job) {
    const matrix_t *c = &job->files[2];
    const int num_dims = num_matrix_dims(job);
    const bool batched = c->num_dims == num_dims + 1;
    const bool col_major = c->order == TCGEMM_COL_MAJOR;
    const int64_t row = col_major ? 1 : c->ld;
    const int64_t col = col_major ? c->ld : 1;
    if (num_dims == 2)
        return (steps_t){c->stride, row, col};
    if (num_dims == 1 && batched) /* a row of the file is an item, along m or along n */
        return (steps_t){row, col, col};
    return (steps_t){1, 1, 1};
}

/* Whether the file can serve as it is; sets the stride of C. */
static bool c_fits(job_t *job, const steps_t *steps) {
    tcgemm_problem_t *p = &job->problem;
    const matrix_t *file = &job->files[2];
    const layout_t c = layout_of(p, 'C');
    const bool single = file->num_dims == num_matrix_dims(job) || file->dims[0] == 1;
    p->stride_c = single && !job->settings->in_place ? 0 : p->stride_d;
    const int64_t line = c.order == TCGEMM_ROW_MAJOR ? steps->i : steps->j;
    const int64_t next = c.order == TCGEMM_ROW_MAJOR ? steps->j : steps->i;
    return (next == 1 || c.length <= 1) && (line == c.ld || c.lines <= 1) &&
           (p->batch <= 1 || p->stride_c == 0 || (!single && steps->t == p->stride_c));
}

/* C in the order of the problem, with a tight leading dimension: a copy where the file differs. */
static int place_c(job_t *job) {
    const matrix_t *file = &job->files[2];
    steps_t from = steps_of_c(job);
    if (c_fits(job, &from)) {
        job->c = file->data;
        return CLI_OK;
    }
    if (file->num_dims == num_matrix_dims(job) || file->dims[0] == 1)
        from.t = 0;
    const layout_t c = layout_of(&job->problem, 'C');
    const size_t size = (size_t)tcgemm_dtype_bits(c.dtype) / 8;
    char *copy = job->blocks[1] = workload_allocate(c.bytes);
    if (!copy)
        return message_fail(CLI_NO_MEMORY, "no memory for C (%zu bytes)", c.bytes);
    const bool col_major = c.order == TCGEMM_COL_MAJOR;
    const int64_t items = c.stride == 0 && c.batch > 1 ? 1 : c.batch;
    for (int64_t t = 0; t < items; ++t)
        for (int64_t i = 0; i < c.rows; ++i)
            for (int64_t j = 0; j < c.cols; ++j) {
                const int64_t to = t * c.stride + (col_major ? i + j * c.ld : i * c.ld + j);
                memcpy(copy + (size_t)to * size,
                       (const char *)file->data +
                           (size_t)(t * from.t + i * from.i + j * from.j) * size,
                       size);
            }
    job->c = copy;
    return CLI_OK;
}

/* Items of D follow each other. */
static int check_problem(job_t *job) {
    tcgemm_problem_t *p = &job->problem;
    const int64_t batch = p->batch;
    p->batch = batch < 1 ? batch : 1; /* one item first: its sizes must not overflow */
    tcgemm_status_t status = tcgemm_problem_check(p);
    p->batch = batch;
    if (status == TCGEMM_STATUS_OK && batch > 1)
        p->stride_d = p->m * p->n;
    if (status == TCGEMM_STATUS_OK)
        status = tcgemm_problem_check(p);
    return status == TCGEMM_STATUS_OK ? CLI_OK : message_library(status);
}

static int place_d(job_t *job) {
    const layout_t d = layout_of(&job->problem, 'D');
    int status = workload_check_memory((double)d.bytes, "the elements of D");
    if (status != CLI_OK)
        return status;
    job->d = job->blocks[0] = workload_allocate(d.bytes);
    if (!job->d)
        return message_fail(CLI_NO_MEMORY, "no memory for D (%zu bytes)", d.bytes);
    job_reset(job);
    return CLI_OK;
}

static int check_file_settings(const settings_t *s) {
    if (s->num_files == 1)
        return message_usage("run", "%s is A, but there is no B", s->files[0]);
    if (s->m || s->n || s->k || s->shape)
        return message_usage("run", "the files have sizes of their own: leave out -m, -n, -k");
    if (s->batch != 1 || s->pad != 0)
        return message_usage("run", "--batch and --pad are for random data: an array of three "
                                    "dimensions is a batch");
    if (s->beta != 0 && !s->c)
        return message_fail(CLI_BAD_FILE, "beta is %g but there is no C: give -c FILE", s->beta);
    if (s->in_place && !s->c)
        return message_usage("run", "--in-place needs a C: give -c FILE");
    return CLI_OK;
}

static int create_from_files(job_t *job) {
    const settings_t *s = job->settings;
    int status = check_file_settings(s);
    if (status == CLI_OK)
        status = load_files(job);
    if (status == CLI_OK)
        status = choose_type(job);
    if (status == CLI_OK)
        status = shape_from_files(job);
    if (status == CLI_OK && s->c)
        status = check_c(job);
    if (status != CLI_OK)
        return status;
    const tcgemm_type_info_t *type = tcgemm_type_info(job->problem.type);
    status = convert_file(&job->files[0], type->a, s->files[0]);
    if (status == CLI_OK)
        status = convert_file(&job->files[1], type->b, s->files[1]);
    if (status == CLI_OK && s->c)
        status = convert_file(&job->files[2], type->d, s->c);
    if (status != CLI_OK)
        return status;
    status = check_problem(job);
    if (status != CLI_OK)
        return status;
    job->a = job->files[0].data;
    job->b = job->files[1].data;
    if (s->c)
        status = place_c(job);
    job->c_before = job->c;
    return status == CLI_OK ? place_d(job) : status;
}

/* ---- random data ---- */

static int create_random(job_t *job) {
    const settings_t *s = job->settings;
    size_shape_t shape;
    if (s->c)
        return message_usage("run", "-c is for A and B from files: a random C is made with --beta");
    int status = choose_type(job);
    if (status == CLI_OK)
        status = setup_shape(s, &shape);
    if (status != CLI_OK)
        return status;
    job->problem.m = shape.m;
    job->problem.n = shape.n;
    job->problem.k = shape.k;
    const tcgemm_status_t placed = layout_place(&job->problem, s->pad);
    if (placed != TCGEMM_STATUS_OK)
        return message_library(placed);
    status =
        workload_create(&job->random, &job->problem, (uint64_t)s->seed, s->beta != 0, s->in_place);
    job->a = job->random.a;
    job->b = job->random.b;
    job->c_before = job->random.c;
    job->c = workload_c(&job->random);
    job->d = job->random.d;
    return status;
}

/* ---- the bias ---- */

static int bias_from_file(job_t *job, tcgemm_dtype_t dtype, void *bias) {
    const char *const name = job->settings->bias;
    const array_hint_t hint = {.wanted = dtype};
    matrix_t *const file = &job->bias_file;
    const int64_t n = job->problem.n;
    char shape[SHAPE_TEXT];
    file_error_t err;
    if (!matrix_load(name, &hint, file, &err))
        return file_fault(&err);
    const bool is_vector = file->batch == 1 && (file->rows == 1 || file->cols == 1);
    if (!is_vector || file->rows * file->cols != n)
        return message_fail(CLI_BAD_FILE,
                            "%s is %s, but a bias has %lld elements, as D has columns", name,
                            shape_text(file, false, shape), (long long)n);
    const int status = convert_file(file, dtype, name);
    if (status != CLI_OK)
        return status;
    const size_t size = (size_t)tcgemm_dtype_bits(dtype) / 8;
    const bool is_contiguous = (file->rows == 1) == (file->order == TCGEMM_ROW_MAJOR);
    const size_t pitch = size * (is_contiguous ? 1 : (size_t)file->ld);
    for (size_t j = 0; j < (size_t)n; ++j)
        memcpy((char *)bias + j * size, (const char *)file->data + j * pitch, size);
    return CLI_OK;
}

static int place_bias(job_t *job) {
    const tcgemm_dtype_t dtype = tcgemm_type_info(job->problem.type)->d;
    const size_t bytes = (size_t)job->problem.n * ((size_t)tcgemm_dtype_bits(dtype) / 8);
    if (!job->settings->bias)
        return CLI_OK;
    void *const bias = job->blocks[2] = workload_allocate(bytes);
    if (!bias)
        return message_fail(CLI_NO_MEMORY, "no memory for the bias (%zu bytes)", bytes);
    job->bias = bias;
    if (strcmp(job->settings->bias, "random") != 0)
        return bias_from_file(job, dtype, bias);
    random_fill(dtype, bias, job->problem.n, (uint64_t)job->settings->seed, 'V');
    return CLI_OK;
}

tcgemm_data_t job_data(const job_t *job) {
    tcgemm_data_t x = tcgemm_data(job->a, job->b, job->d);
    x.alpha.re = job->settings->alpha;
    x.beta.re = job->settings->beta;
    x.c = job->c;
    x.bias = job->bias;
    x.activation = (tcgemm_activation_t)job->settings->activation;
    return x;
}

/* ---- the job ---- */

int job_create(job_t *job, const settings_t *settings) {
    *job = (job_t){.settings = settings, .from_files = settings->num_files > 0};
    job->problem = tcgemm_problem(TCGEMM_F32_F32, 0, 0, 0);
    setup_problem(settings, &job->problem);
    const int status = job->from_files ? create_from_files(job) : create_random(job);
    return status == CLI_OK ? place_bias(job) : status;
}

void job_free(job_t *job) {
    for (int i = 0; i < 3; ++i)
        matrix_free(&job->files[i]);
    workload_free(&job->random);
    matrix_free(&job->bias_file);
    for (int i = 0; i < 3; ++i)
        free(job->blocks[i]);
}

void job_reset(job_t *job) {
    if (!job->from_files) {
        workload_reset(&job->random);
        return;
    }
    const layout_t d = layout_of(&job->problem, 'D');
    if (job->settings->in_place) {
        memcpy(job->d, job->c_before, d.bytes);
        job->c = job->d;
    } else {
        memset(job->d, 0xFF, d.bytes); /* an element that is not written is a NaN or -1 */
    }
}

print_view_t job_view(const job_t *job, char operand) {
    const layout_t x = layout_of(&job->problem, operand);
    const void *data = operand == 'A'   ? job->a
                       : operand == 'B' ? job->b
                       : operand == 'C' ? job->c_before
                                        : job->d;
    print_view_t view = {.name = operand,
                         .dtype = x.dtype,
                         .order = x.order,
                         .num_dims = num_matrix_dims(job),
                         .is_batched = is_batched(job),
                         .rows = x.rows,
                         .cols = x.cols,
                         .ld = x.ld,
                         .batch = x.batch,
                         .stride = x.stride,
                         .data = data};
    if (job->from_files && operand <= 'B') {
        const matrix_t *file = &job->files[operand - 'A'];
        view.order = file->order;
        view.num_dims = file->num_dims == 1 ? 1 : 2;
        view.is_batched = file->num_dims == 3;
        view.rows = file->rows;
        view.cols = file->cols;
        view.ld = file->ld;
        view.batch = file->batch;
        view.stride = file->stride;
    }
    return view;
}

matrix_t job_result(const job_t *job) {
    const layout_t x = layout_of(&job->problem, 'D');
    matrix_t d = {.dtype = x.dtype,
                  .batch = x.batch,
                  .stride = x.stride,
                  .rows = x.rows,
                  .cols = x.cols,
                  .ld = x.ld,
                  .order = x.order,
                  .data = job->d};
    set_result_dims(job, &d);
    return d;
}
