/* matrix_save.c - writes matrices to files.
 *
 *     check -> temporary file in the same directory -> header -> data -> rename
 *
 * Until the rename the destination is as it was; whatever fails, or interrupts, the temporary file
 * goes away. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "files/destination.h"
#include "files/matrix.h"
#include "files/matrix_spec.h"
#include "files/npy.h"
#include "files/safetensors.h"
#include "support/interrupt.h"

/* ---- The temporary file --------------------------------------------------------------------- */

/* matrix_save_abort may run in a signal handler, on any thread, at any time: the path is complete
 * before the flag is set, and does not change until the flag has been cleared. A path whose file
 * does not exist yet, or no longer, does no harm: the name is nobody else's. */
static char temp_path[PATH_MAX];
static atomic_bool temp_active;
_Static_assert(ATOMIC_BOOL_LOCK_FREE == 2, "signal handlers need lock-free atomics");

void matrix_save_abort(void) {
    const int saved_errno = errno;
    if (atomic_load(&temp_active))
        (void)unlink(temp_path);
    errno = saved_errno;
}

static uint64_t random_bits(void) {
    uint64_t bits;
    if (getrandom(&bits, sizeof bits, GRND_NONBLOCK) == (ssize_t)sizeof bits)
        return bits;
    struct timespec now = {0, 0};
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_nsec << 32 ^ (uint64_t)now.tv_sec ^ (uint64_t)getpid();
}

/* The length of "dir/" in "dir/file"; 0 if the file is in the working directory. */
static int directory_length(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? (int)(slash - path) + 1 : 0;
}

/* Returns a descriptor, or -1 with errno. */
static int open_temp(const char *path) {
    const int length = snprintf(temp_path, sizeof temp_path, "%.*s.tcgemm-%ld-%016" PRIx64 ".tmp",
                                directory_length(path), path, (long)getpid(), random_bits());
    if (length < 0 || (size_t)length >= sizeof temp_path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    interrupt_on_stop(matrix_save_abort);
    atomic_store(&temp_active, true);
    const int fd = open(temp_path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                        S_IRUSR | S_IWUSR | S_IRGRP | S_IWGRP | S_IROTH | S_IWOTH);
    if (fd < 0)
        atomic_store(&temp_active, false);
    return fd;
}

static void drop_temp(void) {
    (void)unlink(temp_path);
    atomic_store(&temp_active, false);
}

/* A rename that fails with EEXIST rather than replace a file, also where the kernel or the file
 * system cannot do it in one step. */
static int rename_without_replacing(const char *from, const char *to) {
    if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
        return 0;
    if (errno != EINVAL && errno != ENOSYS)
        return -1;
    if (link(from, to) != 0)
        return -1;
    (void)unlink(from);
    return 0;
}

/* ---- Bytes ---------------------------------------------------------------------------------- */

/* False with errno. */
static bool write_bytes(int fd, const void *bytes, size_t num_bytes) {
    const uint8_t *at = bytes;
    while (num_bytes > 0) {
        const ssize_t done = write(fd, at, num_bytes);
        if (done < 0) {
            if (errno == EINTR)
                continue;
            return false;
        }
        at += done;
        num_bytes -= (size_t)done;
    }
    return true;
}

/* Stored rows (column-major: columns) of `length` elements that begin `ld` elements apart. */
typedef struct lines {
    const uint8_t *data;
    size_t count, length, ld, element_bytes;
} lines_t;

static bool write_lines(int fd, const lines_t *l) {
    const size_t line_bytes = l->length * l->element_bytes;
    if (l->count == 0 || line_bytes == 0)
        return true;
    if (l->length == l->ld)
        return write_bytes(fd, l->data, l->count * line_bytes);
    for (size_t i = 0; i < l->count; i++)
        if (!write_bytes(fd, l->data + i * l->ld * l->element_bytes, line_bytes))
            return false;
    return true;
}

/* Element `first` + t of every line, line after line, for t < height: `height` rows of the
 * transpose. A line is read in runs of `height` elements, which is what makes this bearable. */
static void gather(const lines_t *l, size_t first, size_t height, uint8_t *buffer) {
    const size_t size = l->element_bytes;
    for (size_t i = 0; i < l->count; i++) {
        const uint8_t *run = l->data + (i * l->ld + first) * size;
        for (size_t t = 0; t < height; t++)
            memcpy(buffer + (t * l->count + i) * size, run + t * size, size);
    }
}

/* For a format that knows row-major order only. */
static bool write_transposed(int fd, const lines_t *l) {
    const size_t row_bytes = l->count * l->element_bytes; /* of the transpose */
    if (row_bytes == 0 || l->length == 0)
        return true;
    const size_t about = (size_t)1 << 20;
    const size_t fitting = row_bytes < about ? about / row_bytes : 1;
    const size_t step = fitting < l->length ? fitting : l->length;
    uint8_t *buffer = malloc(step * row_bytes);
    bool ok = buffer != NULL; /* malloc sets ENOMEM */
    for (size_t first = 0; ok && first < l->length; first += step) {
        const size_t height = l->length - first < step ? l->length - first : step;
        gather(l, first, height, buffer);
        ok = write_bytes(fd, buffer, height * row_bytes);
    }
    const int saved_errno = errno;
    free(buffer);
    errno = saved_errno;
    return ok;
}

/* ---- Checks --------------------------------------------------------------------------------- */

/* What is written in order and keeps its name: "-", the standard output, a pipe, a device. */
static bool is_stream(const char *path) {
    struct stat st;
    return strcmp(path, "-") == 0 ||
           (stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode));
}

static bool check_destination(const char *path, bool overwrite, file_error_t *err) {
    struct stat st;
    if (lstat(path, &st) != 0)
        return true; /* if there is more to it than "not there yet", opening will say so */
    if (S_ISDIR(st.st_mode))
        return file_fail(err, FILE_EXIT_BAD_FILE, path, "is a directory");
    if (!S_ISREG(st.st_mode) && !S_ISLNK(st.st_mode))
        return file_fail(err, FILE_EXIT_BAD_FILE, path, "is not a regular file");
    if (!overwrite)
        return file_fail(err, FILE_EXIT_BAD_FILE, path, "exists already (-f replaces it)");
    return true;
}

static bool check_spec(const char *text, tcgemm_dtype_t dtype, bool overwrite, matrix_spec_t *spec,
                       file_error_t *err) {
    const int bits = tcgemm_dtype_bits(dtype);
    if (!matrix_spec_parse(text, spec, err))
        return false;
    const bool stream = is_stream(spec->path);
    if (spec->kind == FILE_KIND_UNKNOWN && stream)
        spec->kind = FILE_KIND_NPY;
    if (spec->kind != FILE_KIND_NPY && spec->kind != FILE_KIND_SAFETENSORS)
        return file_fail(err, FILE_EXIT_USAGE, spec->path,
                         "the name of an output file ends in .npy or .safetensors");
    if (bits == 0 || bits % 8 != 0)
        return file_fail(err, FILE_EXIT_USAGE, spec->path,
                         "elements of type %s do not fill bytes; files cannot hold them",
                         tcgemm_dtype_name(dtype));
    return stream || check_destination(spec->path, overwrite, err);
}

bool matrix_save_check(const char *text, tcgemm_dtype_t dtype, bool overwrite, file_error_t *err) {
    matrix_spec_t spec;
    if (!check_spec(text, dtype, overwrite, &spec, err))
        return false;
    if (spec.tensor) {
        uint8_t *header;
        size_t header_bytes;
        const array_shape_t none = {.num_dims = 1};
        if (!safetensors_make_header(spec.path, spec.tensor, dtype, &none, &header, &header_bytes,
                                     err))
            return false;
        free(header);
    }
    if (is_stream(spec.path))
        return true;
    char directory[PATH_MAX + 2];
    const int length = directory_length(spec.path);
    snprintf(directory, sizeof directory, "%.*s.", length, spec.path);
    if (access(directory, W_OK | X_OK) != 0)
        return file_fail(err, FILE_EXIT_BAD_FILE, spec.path, "cannot be written: %s",
                         strerror(errno));
    return true;
}

/* ---- The whole ------------------------------------------------------------------------------ */

typedef struct saving {
    matrix_spec_t spec;
    uint8_t *header; /* on the heap */
    size_t header_bytes;
    lines_t lines;
    size_t batch, stride_bytes;
    bool transpose;
} saving_t;

static bool make_lines(saving_t *saving, const matrix_t *m, file_error_t *err) {
    const bool col_major = m->order == TCGEMM_COL_MAJOR;
    const int64_t length = col_major ? m->rows : m->cols;
    const int64_t ld = m->ld ? m->ld : length;
    const int64_t element_bytes = tcgemm_dtype_bits(m->dtype) / 8;
    int64_t item;
    int64_t total;
    if (m->rows < 0 || m->cols < 0 || m->batch < 0 || ld < length ||
        __builtin_mul_overflow(col_major ? m->cols : m->rows, ld, &item) ||
        __builtin_mul_overflow(m->stride ? m->stride : item, element_bytes, &item) ||
        __builtin_mul_overflow(item, m->batch, &total))
        return file_fail(err, FILE_EXIT_USAGE, saving->spec.path,
                         "no matrix has the sizes %" PRId64 " x %" PRId64
                         " and the leading dimension %" PRId64,
                         m->rows, m->cols, m->ld);
    saving->batch = (size_t)m->batch;
    saving->stride_bytes = (size_t)item;
    /* Neither format has a word for a batch of column-major matrices. */
    saving->transpose =
        col_major && (saving->spec.kind == FILE_KIND_SAFETENSORS || m->num_dims == 3);
    saving->lines = (lines_t){.data = m->data,
                              .count = (size_t)(col_major ? m->cols : m->rows),
                              .length = (size_t)length,
                              .ld = (size_t)ld,
                              .element_bytes = (size_t)element_bytes};
    return true;
}

static bool make_header(saving_t *saving, const matrix_t *m, file_error_t *err) {
    const matrix_spec_t *spec = &saving->spec;
    array_shape_t shape = {.num_dims = m->num_dims};
    memcpy(shape.dims, m->dims, sizeof m->dims);
    if (spec->kind == FILE_KIND_SAFETENSORS)
        return safetensors_make_header(spec->path, spec->tensor ? spec->tensor : "d", m->dtype,
                                       &shape, &saving->header, &saving->header_bytes, err);
    saving->header = malloc(NPY_MAX_WRITTEN_HEADER);
    if (saving->header == NULL)
        return file_fail(err, FILE_EXIT_NO_MEMORY, spec->path, "out of memory for the header");
    const bool one_matrix = m->num_dims == 2 && m->batch == 1;
    saving->header_bytes = npy_write_header(saving->header, m->dtype, &shape,
                                            one_matrix ? m->order : TCGEMM_ROW_MAJOR);
    return true;
}

static bool fail_writing(const saving_t *saving, file_error_t *err) {
    const int why = errno;
    return file_fail(err, why == ENOMEM ? FILE_EXIT_NO_MEMORY : FILE_EXIT_BAD_FILE,
                     saving->spec.path, "cannot be written: %s", strerror(why));
}

/* Writes and closes the file. False with errno. */
static bool fill(int fd, const saving_t *saving) {
    lines_t lines = saving->lines;
    bool ok = write_bytes(fd, saving->header, saving->header_bytes);
    for (size_t t = 0; ok && t < saving->batch; t++, lines.data += saving->stride_bytes)
        ok = saving->transpose ? write_transposed(fd, &lines) : write_lines(fd, &lines);
    const int saved_errno = errno;
    if (close(fd) != 0)
        return false; /* some file systems report a full disk only here */
    errno = saved_errno;
    return ok;
}

static bool run_stream(const saving_t *saving, file_error_t *err) {
    const char *path = saving->spec.path;
    const int fd = strcmp(path, "-") == 0 ? fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3)
                                          : open(path, O_WRONLY | O_CLOEXEC);
    return fd >= 0 && fill(fd, saving) ? true : fail_writing(saving, err);
}

static bool run_saving(const saving_t *saving, bool overwrite, file_error_t *err) {
    if (is_stream(saving->spec.path))
        return run_stream(saving, err);
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s", saving->spec.path);
    if (overwrite && !destination_resolve(saving->spec.path, path))
        return fail_writing(saving, err);
    const int fd = open_temp(path);
    if (fd < 0)
        return fail_writing(saving, err);
    if (overwrite)
        destination_keep_mode(fd, path);
    const bool ok =
        fill(fd, saving) &&
        (overwrite ? rename(temp_path, path) : rename_without_replacing(temp_path, path)) == 0;
    if (!ok) {
        fail_writing(saving, err);
        drop_temp();
    }
    atomic_store(&temp_active, false);
    return ok;
}

bool matrix_save(const char *spec_text, const matrix_t *matrix, bool overwrite, file_error_t *err) {
    saving_t saving = {.header = NULL};
    const bool ok = check_spec(spec_text, matrix->dtype, overwrite, &saving.spec, err) &&
                    make_lines(&saving, matrix, err) && make_header(&saving, matrix, err) &&
                    run_saving(&saving, overwrite, err);
    free(saving.header);
    return ok;
}
