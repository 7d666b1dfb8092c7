/* destination.c - a rename would replace a link by a file, and 0600 by what the umask leaves. */
#include "files/destination.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_LINKS = 40 }; /* as the kernel has it */

/* The link at `out` is replaced by what it says, which is relative to its own folder. */
static bool follow(char out[PATH_MAX], const char *said) {
    const char *slash = strrchr(out, '/');
    const int folder = said[0] == '/' || !slash ? 0 : (int)(slash - out) + 1;
    char joined[PATH_MAX];
    const int length = snprintf(joined, sizeof joined, "%.*s%s", folder, out, said);
    if (length < 0 || length >= PATH_MAX) {
        errno = ENAMETOOLONG;
        return false;
    }
    memcpy(out, joined, (size_t)length + 1);
    return true;
}

bool destination_resolve(const char *path, char out[PATH_MAX]) {
    char said[PATH_MAX];
    out[0] = '\0';
    if (!follow(out, path))
        return false;
    for (int links = 0; links < MAX_LINKS; ++links) {
        const ssize_t length = readlink(out, said, sizeof said - 1);
        if (length < 0)
            return true; /* no link, or not there: whoever opens it will say what is wrong */
        said[length] = '\0';
        if (!follow(out, said))
            return false;
    }
    errno = ELOOP;
    return false;
}

void destination_keep_mode(int fd, const char *path) {
    struct stat st;
    if (stat(path, &st) == 0 && S_ISREG(st.st_mode))
        (void)fchmod(fd, st.st_mode & (S_IRWXU | S_IRWXG | S_IRWXO));
}
