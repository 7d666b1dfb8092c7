/* setup.c - from words to types, sizes, contexts and problems. */
#include "options/setup.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/exit_status.h"
#include "support/message.h"

enum { MAX_TEXT_BYTES = 1 << 24 };

static const char *command_name(const settings_t *s) {
    return command_table[s->command].name;
}

int setup_type(const settings_t *s, const char *name, tcgemm_type_t *type) {
    if (tcgemm_type_from_name(name, type) == TCGEMM_STATUS_OK)
        return CLI_OK;
    return message_usage(command_name(s), "%s", tcgemm_last_error());
}

static int add_type(const settings_t *s, const char *name, tcgemm_type_t types[SETUP_MAX_TYPES],
                    int *count) {
    if (*count == SETUP_MAX_TYPES)
        return message_usage(command_name(s), "--type lists more than %d types", SETUP_MAX_TYPES);
    const int status = setup_type(s, name, &types[*count]);
    *count += status == CLI_OK;
    return status;
}

int setup_types(const settings_t *s, tcgemm_type_t types[SETUP_MAX_TYPES], int *count) {
    *count = 0;
    if (!s->type || strcmp(s->type, "all") == 0) {
        for (int i = 1; i <= tcgemm_type_count() && i <= SETUP_MAX_TYPES; ++i)
            types[(*count)++] = (tcgemm_type_t)i;
        return CLI_OK;
    }
    int status = CLI_OK;
    char name[64];
    for (int i = 0; status == CLI_OK; ++i) {
        const char *at = s->type;
        for (int skip = 0; skip < i && at; ++skip) {
            at = strchr(at, ',');
            at = at ? at + 1 : NULL;
        }
        if (!at)
            break;
        (void)snprintf(name, sizeof name, "%.*s", (int)strcspn(at, ","), at);
        status = add_type(s, name, types, count);
    }
    return status;
}

int setup_size(const settings_t *s, const char *option, const char *text, int64_t *value) {
    size_list_t list;
    char why[SIZES_ERROR_SIZE];
    if (!sizes_parse_list(text, strlen(text), &list, why))
        return message_usage(command_name(s), "%s: %s", option, why);
    const bool one = list.count == 1;
    *value = list.values[0];
    sizes_free_list(&list);
    return one ? CLI_OK
               : message_usage(command_name(s), "%s: '%s' is a list, one size is needed", option,
                               text);
}

static int three_sizes(const settings_t *s, size_shape_t *shape) {
    if (!s->m || !s->n || !s->k)
        return message_usage(command_name(s), "-m, -n and -k are needed, or --shape, or %s",
                             s->command == COMMAND_EXPLAIN ? "M N K" : "A and B");
    int status = setup_size(s, "-m", s->m, &shape->m);
    if (status == CLI_OK)
        status = setup_size(s, "-n", s->n, &shape->n);
    if (status == CLI_OK)
        status = setup_size(s, "-k", s->k, &shape->k);
    return status;
}

int setup_shape(const settings_t *s, size_shape_t *shape) {
    *shape = (size_shape_t){0};
    if (!s->shape)
        return three_sizes(s, shape);
    if (s->m || s->n || s->k)
        return message_usage(command_name(s), "--shape takes the place of -m, -n and -k");
    size_shapes_t shapes;
    char why[SIZES_ERROR_SIZE];
    if (!sizes_parse_shapes(s->shape, strlen(s->shape), &shapes, why))
        return message_usage(command_name(s), "--shape: %s", why);
    const bool one = shapes.count == 1;
    *shape = shapes.values[0];
    sizes_free_shapes(&shapes);
    return one ? CLI_OK
               : message_usage(command_name(s), "--shape: '%s' is a list, one shape is needed",
                               s->shape);
}

int setup_threads(const settings_t *s, int *threads) {
    int64_t number = 0;
    const int status = s->threads ? setup_size(s, "--threads", s->threads, &number) : CLI_OK;
    if (status != CLI_OK)
        return status;
    if (number > TCGEMM_MAX_THREADS)
        return message_usage(command_name(s), "--threads is %lld, more than %d", (long long)number,
                             TCGEMM_MAX_THREADS);
    *threads = (int)number;
    return CLI_OK;
}

int setup_device(const settings_t *s, int *device) {
    *device = TCGEMM_DEVICE_AUTO;
    if (!s->device || strcmp(s->device, "auto") == 0)
        return CLI_OK;
    *device = TCGEMM_DEVICE_CPU;
    if (strcmp(s->device, "cpu") == 0)
        return CLI_OK;
    char *end;
    errno = 0;
    const long number = strtol(s->device, &end, 10);
    if (errno || *end || end == s->device || number < 0 || number > 65535)
        return message_usage(command_name(s), "--device is '%s', not auto, cpu or a GPU's number",
                             s->device);
    *device = (int)number;
    return CLI_OK;
}

bool setup_known_gpu(const char *name, tcgemm_device_info_t *gpu) {
    gpu->struct_size = sizeof *gpu;
    for (int i = 0; i < tcgemm_known_gpu_count(); ++i)
        if (tcgemm_known_gpu_get_info(i, gpu) == TCGEMM_STATUS_OK && strcmp(gpu->name, name) == 0)
            return true;
    return false;
}

int setup_context_on(int device, int threads, tcgemm_context_t **context) {
    tcgemm_context_options_t options = tcgemm_context_options();
    options.device = device;
    options.num_threads = threads;
    *context = NULL;
    const tcgemm_status_t made = tcgemm_context_create(&options, context);
    return made == TCGEMM_STATUS_OK ? CLI_OK : message_library(made);
}

int setup_context(const settings_t *s, int threads, tcgemm_context_t **context) {
    int device;
    *context = NULL;
    const int status = setup_device(s, &device);
    return status == CLI_OK ? setup_context_on(device, threads, context) : status;
}

void setup_problem(const settings_t *s, tcgemm_problem_t *problem) {
    problem->order = (tcgemm_order_t)s->order;
    problem->op_a = s->trans_a ? TCGEMM_OP_T : TCGEMM_OP_N;
    problem->op_b = s->trans_b ? TCGEMM_OP_T : TCGEMM_OP_N;
    problem->batch = s->batch;
    problem->flags = (s->xor ? TCGEMM_FLAG_XOR : 0) |
                     (s->f16_accumulate ? TCGEMM_FLAG_F16_ACCUMULATE : 0) |
                     (s->fast_accumulate ? TCGEMM_FLAG_FAST_ACCUMULATE : 0) |
                     (s->reproducible ? TCGEMM_FLAG_REPRODUCIBLE : 0) |
                     (s->beta != 0.0 ? TCGEMM_FLAG_ADDS_C : 0);
}

int setup_read_text(const char *path, char **text, size_t *length) {
    *text = NULL;
    FILE *file = fopen(path, "re");
    if (!file)
        return message_fail(CLI_BAD_FILE, "%s: %s", path, strerror(errno));
    size_t capacity = 1 << 16;
    size_t used = 0;
    char *buffer = malloc(capacity);
    while (buffer && used < MAX_TEXT_BYTES) {
        const size_t now = fread(buffer + used, 1, capacity - used, file);
        used += now;
        if (now == 0)
            break;
        if (used == capacity) {
            char *more = realloc(buffer, capacity *= 2);
            if (!more)
                free(buffer);
            buffer = more;
        }
    }
    const bool failed = ferror(file) != 0;
    const int reason = errno;
    (void)fclose(file);
    *text = buffer;
    *length = used;
    if (!buffer)
        return message_fail(CLI_NO_MEMORY, "%s: no memory to read it", path);
    if (!failed && used < MAX_TEXT_BYTES)
        return CLI_OK;
    free(buffer);
    *text = NULL;
    return failed ? message_fail(CLI_BAD_FILE, "%s: %s", path, strerror(reason))
                  : message_fail(CLI_BAD_FILE, "%s: longer than 16 MiB", path);
}
