/* list.c - the kernel table. */
#include "commands/list.h"

#include <stdio.h>
#include <string.h>

#include "options/setup.h"
#include "support/exit_status.h"
#include "support/message.h"
#include "tcgemm/tcgemm.h"

static const table_column_t columns[] = {
    {"kernel", "kernel", TABLE_LEFT, 0, TABLE_EVERYWHERE},
    {"algo", "algo", TABLE_LEFT, 0, TABLE_EVERYWHERE},
    {"device", "device", TABLE_LEFT, 0, TABLE_EVERYWHERE},
    {"isa", "isa", TABLE_LEFT, 0, TABLE_EVERYWHERE},
    {"runnable", "runs here", TABLE_LEFT, 0, TABLE_EVERYWHERE},
    {"tile_m", "tile m", TABLE_RIGHT, 0, TABLE_EVERYWHERE},
    {"tile_n", "n", TABLE_RIGHT, 0, TABLE_EVERYWHERE},
    {"tile_k", "k", TABLE_RIGHT, 0, TABLE_EVERYWHERE},
    {"types", "types", TABLE_LEFT, 0, TABLE_EVERYWHERE},
};

static uint64_t bit_of(tcgemm_type_t type) {
    return (uint64_t)1 << (type - 1);
}

/* "all", or the names separated by blanks. */
static void type_names(uint64_t types, char *text, size_t size) {
    const int count = tcgemm_type_count();
    size_t used = 0;
    text[0] = '\0';
    if (types == ((uint64_t)1 << count) - 1) {
        (void)snprintf(text, size, "all");
        return;
    }
    for (int i = 1; i <= count && used < size; ++i)
        if (types & bit_of((tcgemm_type_t)i))
            used += (size_t)snprintf(text + used, size - used, "%s%s", used ? " " : "",
                                     tcgemm_type_info((tcgemm_type_t)i)->name);
}

static void add_row(table_t *table, const tcgemm_kernel_info_t *kernel) {
    char types[512];
    type_names(kernel->types, types, sizeof types);
    table_text(table, kernel->name);
    table_text(table, kernel->algo);
    table_text(table, kernel->device);
    table_text(table, kernel->isa);
    table_truth(table, kernel->runnable != 0);
    table_integer(table, kernel->tile_m);
    table_integer(table, kernel->tile_n);
    table_integer(table, kernel->tile_k);
    table_text(table, types);
}

int command_list(const settings_t *s) {
    tcgemm_type_t types[SETUP_MAX_TYPES];
    int num_types;
    const int status = setup_types(s, types, &num_types);
    if (status != CLI_OK)
        return status;
    uint64_t wanted = 0;
    for (int i = 0; i < num_types; ++i)
        wanted |= bit_of(types[i]);
    table_t *table = table_new(columns, sizeof columns / sizeof columns[0]);
    for (int i = 0; i < tcgemm_kernel_count(); ++i) {
        tcgemm_kernel_info_t kernel = {.struct_size = sizeof kernel};
        if (tcgemm_kernel_get_info(i, &kernel) == TCGEMM_STATUS_OK && (kernel.types & wanted))
            add_row(table, &kernel);
    }
    const bool good = table_write(table, (table_format_t)s->format, "tcgemm.list/1", stdout);
    table_free(table);
    return good ? CLI_OK : message_fail(CLI_NO_MEMORY, "no memory for the table");
}
