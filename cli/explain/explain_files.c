/* explain_files.c - --html FILE and --svg FOLDER. */
#include "explain/explain_files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files/output_file.h"
#include "support/exit_status.h"
#include "support/message.h"

static int picture_path(const settings_t *s, int picture, char path[OUTPUT_NAME_SIZE]) {
    const int length =
        snprintf(path, OUTPUT_NAME_SIZE, "%s/%s.svg", s->svg, tcgemm_picture_name(picture));
    if (length < OUTPUT_NAME_SIZE)
        return CLI_OK;
    return message_fail(CLI_BAD_FILE, "%s: the name is too long", s->svg);
}

/* A folder that is not there yet is made when there is something to put into it. */
int explain_files_check(const settings_t *s) {
    int status = s->html ? output_check(s->html, s->force) : CLI_OK;
    const bool has_folder = s->svg && access(s->svg, F_OK) == 0;
    for (int i = 0; has_folder && i < tcgemm_picture_count() && status == CLI_OK; ++i) {
        char path[OUTPUT_NAME_SIZE];
        status = picture_path(s, i, path);
        if (status == CLI_OK)
            status = output_check(path, s->force);
    }
    return status;
}

static int write_drawing(const explain_facts_t *f, tcgemm_format_t format, const char *picture,
                         const char *path) {
    output_t output;
    char *const text = explain_draw(f, format, picture);
    if (!text)
        return message_fail(CLI_NO_MEMORY, "no memory for %s", path);
    int status = output_open(&output, path);
    if (status == CLI_OK) {
        (void)fputs(text, output.stream);
        status = output_close(&output, true);
    }
    free(text);
    return status;
}

static int write_picture(const explain_facts_t *f, int picture) {
    char path[OUTPUT_NAME_SIZE];
    const int status = picture_path(f->settings, picture, path);
    if (status != CLI_OK)
        return status;
    return write_drawing(f, TCGEMM_FORMAT_SVG, tcgemm_picture_name(picture), path);
}

static int write_pictures(const explain_facts_t *f) {
    const char *const folder = f->settings->svg;
    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        return message_fail(CLI_BAD_FILE, "%s: %s", folder, strerror(errno));
    int status = CLI_OK;
    for (int i = 0; i < tcgemm_picture_count() && status == CLI_OK; ++i)
        status = write_picture(f, i);
    return status;
}

int explain_files_write(const explain_facts_t *f) {
    const settings_t *const s = f->settings;
    const int status = s->svg ? write_pictures(f) : CLI_OK;
    if (status != CLI_OK || !s->html)
        return status;
    return write_drawing(f, TCGEMM_FORMAT_HTML, NULL, s->html);
}
