/* textfile.c - see textfile.h. */
#include "host/textfile.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

bool tcgemm_read_file(const char *path, char *text, size_t size) {
    const int saved = errno;
    size_t used = 0;
    ssize_t got = -1;
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file >= 0) {
        do {
            got = read(file, text + used, size - 1 - used);
            if (got > 0)
                used += (size_t)got;
        } while ((got > 0 && used < size - 1) || (got < 0 && errno == EINTR));
        (void)close(file);
    }
    text[used] = '\0';
    errno = saved; /* a caller's product leaves it alone */
    return got >= 0;
}
