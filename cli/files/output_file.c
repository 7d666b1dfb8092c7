/* output_file.c - temporary file in the same folder, data, rename. */
#include "files/output_file.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files/destination.h"
#include "support/exit_status.h"
#include "support/interrupt.h"
#include "support/message.h"

int output_open(output_t *output, const char *path) {
    output->path = path;
    if (!destination_resolve(path, output->place))
        return message_fail(CLI_BAD_FILE, "%s: %s", path, strerror(errno));
    const int length = snprintf(output->temporary, sizeof output->temporary, "%s.%ld.part",
                                output->place, (long)getpid());
    if (length < 0 || (size_t)length >= sizeof output->temporary)
        return message_fail(CLI_BAD_FILE, "%s: the name is too long", path);
    interrupt_guard(output->temporary);
    output->stream = fopen(output->temporary, "w+xe");
    if (output->stream) {
        destination_keep_mode(fileno(output->stream), output->place);
        return CLI_OK;
    }
    const int reason = errno;
    interrupt_guard(NULL);
    return message_fail(CLI_BAD_FILE, "%s: %s", path, strerror(reason));
}

int output_close(output_t *output, bool good) {
    const bool wanted = good;
    good = !ferror(output->stream) && good;
    good = fclose(output->stream) == 0 && good;
    good = good && rename(output->temporary, output->place) == 0;
    const int reason = errno;
    if (!good)
        (void)unlink(output->temporary);
    interrupt_guard(NULL);
    if (good || !wanted)
        return CLI_OK; /* whoever did not want it has told why */
    return message_fail(CLI_BAD_FILE, "%s: %s", output->path, strerror(reason));
}

int output_check(const char *path, bool force) {
    struct stat found;
    if (lstat(path, &found) == 0 && !S_ISREG(found.st_mode) && !S_ISLNK(found.st_mode))
        return message_fail(CLI_BAD_FILE, "%s: is not a file that could be replaced", path);
    if (!force && lstat(path, &found) == 0) /* not access(), which follows a dangling link */
        return message_fail(CLI_BAD_FILE, "%s: exists already; give --force to overwrite it", path);
    output_t probe;
    const int status = output_open(&probe, path);
    return status == CLI_OK ? output_close(&probe, false) : status;
}
