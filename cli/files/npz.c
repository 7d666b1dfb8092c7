/* npz.c - libzip does the work; what an archive says of itself is doubted before memory is taken.
 */
#include "files/npz.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#if TCGEMM_HAS_LIBZIP
#include <zip.h>
#endif

bool npz_has_magic(const uint8_t *bytes, size_t num_bytes) {
    return num_bytes >= 4 &&
           (memcmp(bytes, "PK\x03\x04", 4) == 0 || memcmp(bytes, "PK\x05\x06", 4) == 0);
}

#if TCGEMM_HAS_LIBZIP

#define SUFFIX ".npy"

/* No deflated byte stands for more (zlib's FAQ). */
enum { MAX_RATIO = 1032 };

typedef struct archive {
    zip_t *zip;
    const char *name;
    file_error_t *err;
} archive_t;

static bool fail(const archive_t *a, const char *what, zip_error_t *error) {
    return file_fail(a->err, FILE_EXIT_BAD_FILE, a->name, "%s: %s", what,
                     zip_error_strerror(error));
}

static bool open_archive(archive_t *a, const whole_file_t *file) {
    zip_error_t error;
    zip_error_init(&error);
    zip_source_t *source = zip_source_buffer_create(file->bytes, file->num_bytes, 0, &error);
    if (source)
        a->zip = zip_open_from_source(source, ZIP_RDONLY, &error);
    if (source && a->zip == NULL)
        zip_source_free(source);
    const bool good = a->zip != NULL || fail(a, "damaged .npz file", &error);
    zip_error_fini(&error);
    return good;
}

/* ---- Which member --------------------------------------------------------------------------- */

/* The bytes of a member's name before ".npy"; 0 if it is no array. */
static size_t array_length(const char *member) {
    const size_t length = member ? strlen(member) : 0;
    const size_t suffix = strlen(SUFFIX);
    return length > suffix && strcmp(member + length - suffix, SUFFIX) == 0 ? length - suffix : 0;
}

static zip_int64_t find(const archive_t *a, const char *wanted, size_t length) {
    const zip_int64_t count = zip_get_num_entries(a->zip, 0);
    for (zip_int64_t i = 0; i < count; i++) {
        const char *member = zip_get_name(a->zip, (zip_uint64_t)i, 0);
        const size_t array = array_length(member);
        if (array > 0 && (array == length || strlen(member) == length) &&
            strncmp(member, wanted, length) == 0)
            return i;
    }
    return -1;
}

/* "a, b, c"; "no arrays". */
static void list(const archive_t *a, char *text, size_t size) {
    const zip_int64_t count = zip_get_num_entries(a->zip, 0);
    size_t used = 0;
    (void)snprintf(text, size, "no arrays");
    for (zip_int64_t i = 0; i < count && used < size; i++) {
        const char *member = zip_get_name(a->zip, (zip_uint64_t)i, 0);
        const size_t array = array_length(member);
        if (array > 0)
            used += (size_t)snprintf(text + used, size - used, "%s%.*s", used ? ", " : "",
                                     (int)(array < 60 ? array : 60), member);
    }
}

static zip_int64_t find_only(const archive_t *a) {
    const zip_int64_t count = zip_get_num_entries(a->zip, 0);
    zip_int64_t found = -1;
    for (zip_int64_t i = 0; i < count; i++) {
        if (array_length(zip_get_name(a->zip, (zip_uint64_t)i, 0)) == 0)
            continue;
        if (found >= 0)
            return -1;
        found = i;
    }
    return found;
}

static bool choose(const archive_t *a, const char *wanted, const char **word, zip_int64_t *index) {
    char names[300];
    *word = NULL;
    *index = wanted ? find(a, wanted, strlen(wanted)) : find_only(a);
    const char *colon = wanted ? strrchr(wanted, ':') : NULL;
    if (*index < 0 && colon) {
        *index = find(a, wanted, (size_t)(colon - wanted));
        *word = colon + 1;
    }
    if (*index >= 0)
        return true;
    list(a, names, sizeof names);
    if (wanted)
        return file_fail(a->err, FILE_EXIT_BAD_FILE, a->name, "no array '%.100s'; it holds %s",
                         wanted, names);
    return file_fail(a->err, FILE_EXIT_BAD_FILE, a->name,
                     "name an array as FILE:ARRAY, for there is not exactly one; it holds %s",
                     names);
}

/* ---- Its bytes ------------------------------------------------------------------------------ */

static bool check_member(const archive_t *a, const zip_stat_t *st) {
    const zip_uint64_t has = ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD;
    const char *member = st->valid & ZIP_STAT_NAME ? st->name : "a member";
    if ((st->valid & has) != has)
        return file_fail(a->err, FILE_EXIT_BAD_FILE, a->name, "'%.100s' has no size", member);
    if (st->valid & ZIP_STAT_ENCRYPTION_METHOD && st->encryption_method != ZIP_EM_NONE)
        return file_fail(a->err, FILE_EXIT_BAD_FILE, a->name, "'%.100s' is encrypted", member);
    if (st->comp_method != ZIP_CM_STORE && st->comp_method != ZIP_CM_DEFLATE)
        return file_fail(a->err, FILE_EXIT_BAD_FILE, a->name,
                         "'%.100s' is compressed by method %d; stored and deflated arrays are read",
                         member, (int)st->comp_method);
    if (st->size == 0 || st->size > SIZE_MAX / 2 || st->size / MAX_RATIO > st->comp_size + 1)
        return file_fail(a->err, FILE_EXIT_BAD_FILE, a->name,
                         "'%.100s' claims %llu bytes, made of %llu", member,
                         (unsigned long long)st->size, (unsigned long long)st->comp_size);
    return true;
}

/* All bytes, and the end behind them, where the checksum is compared. */
static bool read_member(zip_file_t *file, char *pages, size_t size) {
    size_t used = 0;
    char behind;
    while (used < size) {
        const zip_int64_t got = zip_fread(file, pages + used, size - used);
        if (got <= 0)
            return false;
        used += (size_t)got;
    }
    return zip_fread(file, &behind, 1) == 0;
}

static bool unpack(const archive_t *a, zip_int64_t index, whole_file_t *out) {
    zip_stat_t st;
    if (zip_stat_index(a->zip, (zip_uint64_t)index, 0, &st) != 0)
        return fail(a, "damaged .npz file", zip_get_error(a->zip));
    if (!check_member(a, &st))
        return false;
    void *pages = mmap(NULL, st.size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED)
        return file_fail(a->err, FILE_EXIT_NO_MEMORY, a->name, "out of memory for %llu bytes",
                         (unsigned long long)st.size);
    zip_file_t *file = zip_fopen_index(a->zip, (zip_uint64_t)index, 0);
    bool good = file != NULL || fail(a, "damaged .npz file", zip_get_error(a->zip));
    if (file != NULL && !read_member(file, pages, st.size)) {
        zip_error_t *error = zip_file_get_error(file);
        good =
            zip_error_code_zip(error) != ZIP_ER_OK
                ? fail(a, "damaged .npz file", error)
                : file_fail(a->err, FILE_EXIT_BAD_FILE, a->name,
                            "damaged .npz file: '%.100s' has not the size that it claims", st.name);
    }
    if (file != NULL)
        (void)zip_fclose(file);
    if (good)
        *out = (whole_file_t){pages, st.size};
    else
        (void)munmap(pages, st.size);
    return good;
}

bool npz_take(const whole_file_t *file, const char *name, const char *wanted, whole_file_t *out,
              const char **word, file_error_t *err) {
    archive_t a = {.name = name, .err = err};
    zip_int64_t index;
    if (!open_archive(&a, file))
        return false;
    const bool good = choose(&a, wanted, word, &index) && unpack(&a, index, out);
    zip_discard(a.zip);
    return good;
}

#else

bool npz_take(const whole_file_t *archive, const char *name, const char *wanted, whole_file_t *out,
              const char **word, file_error_t *err) {
    (void)archive;
    (void)wanted;
    (void)out;
    (void)word;
    return file_fail(err, FILE_EXIT_BAD_FILE, name,
                     "this tool was built without libzip, so it reads no .npz files");
}

#endif
