/* explain_files.c - --html FILE and --svg FOLDER. */
#include "explain/explain_files.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commands/cli.h"
#include "files/output_file.h"
#include "support/message.h"

static int picture_path(const settings_t *s, explain_picture_t picture,
                        char path[OUTPUT_NAME_SIZE]) {
    const int length =
        snprintf(path, OUTPUT_NAME_SIZE, "%s/%s.svg", s->svg, explain_picture_name(picture));
    if (length < OUTPUT_NAME_SIZE)
        return CLI_OK;
    return message_fail(CLI_BAD_FILE, "%s: the name is too long", s->svg);
}

/* A folder that is not there yet is made when there is something to put into it. */
int explain_files_check(const settings_t *s) {
    int status = s->html ? output_check(s->html, s->force) : CLI_OK;
    const bool has_folder = s->svg && access(s->svg, F_OK) == 0;
    for (explain_picture_t i = 0; has_folder && i < NUM_PICTURES && status == CLI_OK; ++i) {
        char path[OUTPUT_NAME_SIZE];
        status = picture_path(s, i, path);
        if (status == CLI_OK)
            status = output_check(path, s->force);
    }
    return status;
}

static int write_page(const explain_facts_t *f) {
    output_t output;
    int status = output_open(&output, f->settings->html);
    if (status != CLI_OK)
        return status;
    const bool good = explain_html(f, output.stream);
    status = output_close(&output, good);
    return good ? status : message_fail(CLI_NO_MEMORY, "no memory for the page");
}

static int write_picture(const explain_facts_t *f, explain_picture_t picture) {
    char path[OUTPUT_NAME_SIZE];
    output_t output;
    int status = picture_path(f->settings, picture, path);
    if (status == CLI_OK)
        status = output_open(&output, path);
    if (status != CLI_OK)
        return status;
    explain_svg(f, picture, output.stream);
    return output_close(&output, true);
}

static int write_pictures(const explain_facts_t *f) {
    const char *const folder = f->settings->svg;
    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        return message_fail(CLI_BAD_FILE, "%s: %s", folder, strerror(errno));
    int status = CLI_OK;
    for (explain_picture_t i = 0; i < NUM_PICTURES && status == CLI_OK; ++i)
        status = write_picture(f, i);
    return status;
}

int explain_files_write(const explain_facts_t *f) {
    const int status = f->settings->svg ? write_pictures(f) : CLI_OK;
    return status == CLI_OK && f->settings->html ? write_page(f) : status;
}
