/* bench_output.c - rows on the screen and in a file, each whole before the next is measured. */
#include "bench/bench_output.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "support/exit_status.h"
#include "support/message.h"
#include "support/progress.h"

void bench_output_begin(bench_output_t *output, const settings_t *settings, size_t append_after) {
    *output = (bench_output_t){.settings = settings,
                               .path = settings->resume ? settings->resume : settings->csv,
                               .append_after = append_after};
}

static int fault(const bench_output_t *output) {
    return message_fail(CLI_BAD_FILE, "%s: %s", output->path, strerror(errno));
}

/* A line that was not finished when a run was killed goes away. */
static int open_csv(bench_output_t *output) {
    const settings_t *s = output->settings;
    const int how = s->resume || s->force ? O_CREAT : O_CREAT | O_EXCL;
    const int fd = open(output->path, O_WRONLY | O_CLOEXEC | how,
                        S_IRUSR | S_IWUSR | S_IRGRP | S_IWGRP | S_IROTH | S_IWOTH);
    if (fd < 0)
        return fault(output);
    const off_t kept = (off_t)output->append_after;
    output->csv =
        ftruncate(fd, kept) == 0 && lseek(fd, kept, SEEK_SET) == kept ? fdopen(fd, "w") : NULL;
    if (output->csv)
        return CLI_OK;
    const int status = fault(output);
    (void)close(fd);
    return status;
}

static int write_csv(bench_output_t *output, table_t *table) {
    const bool resumed = output->append_after > 0;
    const int status = output->csv ? CLI_OK : open_csv(output);
    if (status != CLI_OK)
        return status;
    if (output->num_written == 0 && !resumed)
        (void)table_write_heading(table, TABLE_FORMAT_CSV, output->csv);
    if (!table_write_rows(table, TABLE_FORMAT_CSV, output->num_written, output->csv))
        return message_fail(CLI_NO_MEMORY, "no memory for the table");
    return ferror(output->csv) || fflush(output->csv) != 0 ? fault(output) : CLI_OK;
}

int bench_output_rows(bench_output_t *output, table_t *table) {
    const settings_t *s = output->settings;
    int status = CLI_OK;
    if (!s->quiet && s->format != TABLE_FORMAT_JSON) {
        progress_clear();
        if (output->num_written == 0)
            table_write_heading(table, (table_format_t)s->format, stdout);
        if (!table_write_rows(table, (table_format_t)s->format, output->num_written, stdout))
            return message_fail(CLI_NO_MEMORY, "no memory for the table");
        if (fflush(stdout) != 0) /* told by whoever ends the tool */
            status = CLI_BAD_FILE;
    }
    if (output->path && status == CLI_OK)
        status = write_csv(output, table);
    output->num_written = table_num_rows(table);
    return status;
}

int bench_output_close(bench_output_t *output) {
    FILE *csv = output->csv;
    output->csv = NULL;
    return csv && fclose(csv) != 0 ? fault(output) : CLI_OK;
}
