/* job.c - where the operands of `run` come from.
 *
 * A file keeps its own order. One that is stored in the other order than the problem's is its own
 * transpose there: op is turned round and the leading dimension stays. */
#include "commands/job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "files/layout.h"
#include "options/setup.h"
#include "support/exit_status.h"
#include "support/message.h"

static int file_fault(const file_error_t *err) {
    return message_fail(err->exit_status, "%s", err->message);
}

/* ---- types ---- */

/* What a file of this dtype and another one multiply as, if nobody says: 0 if nothing does. */
static tcgemm_type_t deduced_type(tcgemm_dtype_t a, tcgemm_dtype_t b) {
    static const tcgemm_type_t preferred[] = {
        TCGEMM_F16_F32, TCGEMM_BF16_F32, TCGEMM_F32_F32,  TCGEMM_F64_F64,  TCGEMM_S8_S32,
        TCGEMM_U8_S32,  TCGEMM_U8S8_S32, TCGEMM_S8U8_S32, TCGEMM_E4M3_F32, TCGEMM_E5M2_F32,
        TCGEMM_S4_S32,  TCGEMM_B1_S32,   TCGEMM_U4_S32,
    };
    for (size_t i = 0; i < sizeof preferred / sizeof preferred[0]; ++i) {
        const tcgemm_type_info_t *info = tcgemm_type_info(preferred[i]);
        if (info->a == a && info->b == b)
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
    if (before->whole && loss.inexact > 0)
        return message_fail(CLI_BAD_FILE,
                            "%s: element [%lld][%lld] is %.17g, which %s does not hold", name,
                            (long long)loss.row, (long long)loss.col, loss.value, to);
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

static int check_fit(const job_t *job) {
    const settings_t *s = job->settings;
    const matrix_t *a = &job->files[0];
    const matrix_t *b = &job->files[1];
    const matrix_t *c = &job->files[2];
    const int64_t inner_a = s->trans_a ? a->rows : a->cols;
    const int64_t inner_b = s->trans_b ? b->cols : b->rows;
    if (inner_a != inner_b)
        return message_fail(
            CLI_BAD_FILE, "%s%s is %lld x %lld and %s%s is %lld x %lld: %lld and %lld do not fit",
            s->files[0], s->trans_a ? " transposed" : "",
            (long long)(s->trans_a ? a->cols : a->rows), (long long)inner_a, s->files[1],
            s->trans_b ? " transposed" : "", (long long)inner_b,
            (long long)(s->trans_b ? b->rows : b->cols), (long long)inner_a, (long long)inner_b);
    if (s->c && (c->rows != job->problem.m || c->cols != job->problem.n))
        return message_fail(CLI_BAD_FILE,
                            "%s is %lld x %lld, but the product of %s and %s is %lld x %lld", s->c,
                            (long long)c->rows, (long long)c->cols, s->files[0], s->files[1],
                            (long long)job->problem.m, (long long)job->problem.n);
    return CLI_OK;
}

/* An operand whose file has the other order is read as its transpose. */
static tcgemm_op_t op_of(const matrix_t *matrix, tcgemm_order_t order, bool transposed) {
    return (matrix->order != order) != transposed ? TCGEMM_OP_T : TCGEMM_OP_N;
}

static int shape_from_files(job_t *job) {
    const settings_t *s = job->settings;
    const matrix_t *a = &job->files[0];
    const matrix_t *b = &job->files[1];
    tcgemm_problem_t *p = &job->problem;
    p->m = s->trans_a ? a->cols : a->rows;
    p->k = s->trans_a ? a->rows : a->cols;
    p->n = s->trans_b ? b->rows : b->cols;
    p->op_a = op_of(a, p->order, s->trans_a);
    p->op_b = op_of(b, p->order, s->trans_b);
    p->lda = a->ld;
    p->ldb = b->ld;
    return check_fit(job);
}

/* C in the order of the problem, with a tight leading dimension: a copy where the file differs. */
static int place_c(job_t *job) {
    const matrix_t *file = &job->files[2];
    const layout_t c = layout_of(&job->problem, 'C');
    if (file->order == c.order && (file->ld == c.ld || c.lines <= 1)) {
        job->c = file->data;
        return CLI_OK;
    }
    const size_t size = (size_t)tcgemm_dtype_bits(c.dtype) / 8;
    char *copy = job->blocks[1] = workload_allocate(c.bytes);
    if (!copy)
        return message_fail(CLI_NO_MEMORY, "no memory for C (%zu bytes)", c.bytes);
    for (int64_t line = 0; line < c.lines; ++line)
        for (int64_t i = 0; i < c.length; ++i) {
            const int64_t from = file->order == c.order ? line * file->ld + i : i * file->ld + line;
            memcpy(copy + (size_t)(line * c.ld + i) * size,
                   (const char *)file->data + (size_t)from * size, size);
        }
    job->c = copy;
    return CLI_OK;
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
        return message_usage("run", "--batch and --pad are for random data");
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
    const tcgemm_status_t checked = tcgemm_problem_check(&job->problem);
    if (checked != TCGEMM_STATUS_OK)
        return message_library(checked);
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

/* ---- the job ---- */

int job_create(job_t *job, const settings_t *settings) {
    *job = (job_t){.settings = settings, .from_files = settings->num_files > 0};
    job->problem = tcgemm_problem(TCGEMM_F32_F32, 0, 0, 0);
    setup_problem(settings, &job->problem);
    return job->from_files ? create_from_files(job) : create_random(job);
}

void job_free(job_t *job) {
    for (int i = 0; i < 3; ++i)
        matrix_free(&job->files[i]);
    workload_free(&job->random);
    free(job->blocks[0]);
    free(job->blocks[1]);
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
    print_view_t view = {operand, x.dtype, x.order, x.rows, x.cols, x.ld, x.batch, x.stride, data};
    if (job->from_files && operand <= 'B') {
        const matrix_t *file = &job->files[operand - 'A'];
        view.order = file->order;
        view.rows = file->rows;
        view.cols = file->cols;
        view.ld = file->ld;
    }
    return view;
}
