/* report.c - faults and the trace. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "emulate/machine.h"

/* The line is handed on by main, on a stack that the listener's tools know. */
static void hand_on(void) {
    machine_t *m = &tcgemm_machine;
    if (!m->self) {
        m->trace_is_over = m->launch->trace(m->launch->trace_user, m->line) != 0;
        return;
    }
    m->is_telling = true;
    tcgemm_fiber_switch(&m->self->context, m->main_context);
}

void tcgemm_machine_tell(int depth, const char *format, ...) {
    machine_t *m = &tcgemm_machine;
    if (!tcgemm_machine_is_told())
        return;
    const int indent = 2 * depth;
    memset(m->line, ' ', (size_t)indent);
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(m->line + indent, sizeof m->line - (size_t)indent, format, arguments);
    va_end(arguments);
    hand_on();
}

static const char *name_of_file(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

void tcgemm_machine_fault(const char *format, ...) {
    machine_t *m = &tcgemm_machine;
    tcgemm_emulate_launch_t *launch = m->launch;
    if (launch->num_faults++ > 0)
        return;
    int at = snprintf(launch->fault, sizeof launch->fault, "block %u", m->block->index);
    if (m->self)
        at += snprintf(launch->fault + at, sizeof launch->fault - (size_t)at,
                       ", warp %u, lane %u, after %s:%u", m->self->warp, m->self->lane,
                       name_of_file(m->self->file), m->self->line);
    at += snprintf(launch->fault + at, sizeof launch->fault - (size_t)at, ": ");
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(launch->fault + at, sizeof launch->fault - (size_t)at, format, arguments);
    va_end(arguments);
    tcgemm_machine_tell(0, "fault: %s", launch->fault);
}
