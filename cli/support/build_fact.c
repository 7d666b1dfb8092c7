/* build_fact.c - looks a line up in tcgemm_build_info(). */
#include "support/build_fact.h"

#include <stdio.h>
#include <string.h>

#include "tcgemm/tcgemm.h"

void build_fact(const char *name, char *value, size_t size) {
    const size_t length = strlen(name);
    (void)snprintf(value, size, "unknown");
    for (const char *line = tcgemm_build_info(); line && *line;) {
        const size_t end = strcspn(line, "\n");
        if (strncmp(line, name, length) == 0 && line[length] == ' ') {
            const char *at = line + length;
            at += strspn(at, " ");
            (void)snprintf(value, size, "%.*s", (int)(line + end - at), at);
            return;
        }
        line += end + (line[end] == '\n');
    }
}
