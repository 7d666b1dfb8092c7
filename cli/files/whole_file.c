/* whole_file.c - mmap, or read into pages that grow. */
#include "files/whole_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FIRST_BYTES = 1 << 20 };

static bool fail_memory(const char *path, file_error_t *err) {
    return file_fail(err, errno == ENOMEM ? FILE_EXIT_NO_MEMORY : FILE_EXIT_BAD_FILE, path,
                     "cannot be mapped: %s", strerror(errno));
}

static bool map(int fd, size_t size, const char *path, whole_file_t *file, file_error_t *err) {
    struct stat st;
    if (size == 0)
        return file_fail(err, FILE_EXIT_BAD_FILE, path, "the file is empty");
    void *bytes = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (bytes == MAP_FAILED)
        return fail_memory(path, err);
    *file = (whole_file_t){bytes, size};
    /* A file that is still being written, or cut, would end in SIGBUS. */
    if (fstat(fd, &st) != 0 || st.st_size != (off_t)size) {
        whole_file_free(file);
        return file_fail(err, FILE_EXIT_BAD_FILE, path, "the file is changing its size");
    }
    return true;
}

/* Reads to the end, into pages of which there are twice as many whenever they are full. `used` may
 * be less than `capacity`. False with errno, the pages still there. */
static bool read_all(int fd, char **pages, size_t *capacity, size_t *used) {
    for (;;) {
        const ssize_t got = read(fd, *pages + *used, *capacity - *used);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return got == 0;
        *used += (size_t)got;
        if (*used < *capacity)
            continue;
        char *more = mremap(*pages, *capacity, 2 * *capacity, MREMAP_MAYMOVE);
        if (more == MAP_FAILED)
            return false;
        *pages = more;
        *capacity *= 2;
    }
}

static bool drain(int fd, const char *path, whole_file_t *file, file_error_t *err) {
    size_t capacity = FIRST_BYTES;
    size_t used = 0;
    char *pages = mmap(NULL, capacity, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED)
        return fail_memory(path, err);
    const bool good = read_all(fd, &pages, &capacity, &used);
    const int why = errno;
    if (good && used > 0) {
        /* The pages behind the last byte go back, so that whoever frees used bytes frees all. */
        char *kept = mremap(pages, capacity, used, 0);
        *file = (whole_file_t){(const uint8_t *)(kept == MAP_FAILED ? pages : kept), used};
        return true;
    }
    (void)munmap(pages, capacity);
    if (good)
        return file_fail(err, FILE_EXIT_BAD_FILE, path, "there is nothing to read");
    return file_fail(err, why == ENOMEM ? FILE_EXIT_NO_MEMORY : FILE_EXIT_BAD_FILE, path,
                     "cannot be read: %s", strerror(why));
}

int whole_file_open(const char *path) {
    return strcmp(path, "-") == 0 ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
                                  : open(path, O_RDONLY | O_CLOEXEC);
}

bool whole_file_take(int fd, const char *path, whole_file_t *file, file_error_t *err) {
    struct stat st;
    bool good = false;
    if (fstat(fd, &st) != 0)
        (void)file_fail(err, FILE_EXIT_BAD_FILE, path, "%s", strerror(errno));
    else if (S_ISDIR(st.st_mode))
        (void)file_fail(err, FILE_EXIT_BAD_FILE, path, "is a directory");
    else if (S_ISREG(st.st_mode) && lseek(fd, 0, SEEK_CUR) == 0)
        good = map(fd, (size_t)st.st_size, path, file, err);
    else
        good = drain(fd, path, file, err);
    (void)close(fd);
    return good;
}

void whole_file_free(whole_file_t *file) {
    (void)munmap((void *)(uintptr_t)file->bytes, file->num_bytes);
}
