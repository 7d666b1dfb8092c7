/* emulator_module.c - finds and opens the emulator (src/emulate), which is no part of the library:
 * it is large, and needed for simulations alone. */
#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "gpu/launch.h"
#include "sim/emulated.h"

#ifndef TCGEMM_EMULATOR_DIR /* from the folder of an installed program */
#define TCGEMM_EMULATOR_DIR "../lib/tcgemm"
#endif

/* The architectures that modules are built for: the newest that is not newer than the device, or
 * the one after it, if that is too old for the row (sm_89: what the row has there it has on sm_90).
 */
static const int archs[] = {90, 80, 75};
enum { NUM_ARCHS = sizeof archs / sizeof archs[0] };

static int arch_of(const struct tcgemm_plan *plan) {
    const int least = plan->kernel->gpu->min_cc;
    const int cc = plan->device ? plan->device->cc : least;
    int i = 0;
    while (i < NUM_ARCHS - 1 && archs[i] > cc && archs[i + 1] >= least)
        ++i;
    return i;
}

/* ---- where modules may lie ---- */

/* The folder of a file, without its last slash; "" if the name has none. */
static void folder_of(const char *file, char *folder, size_t size) {
    const char *slash = strrchr(file, '/');
    const int length = slash ? (int)(slash - file) : 0;
    (void)snprintf(folder, size, "%.*s", length, file);
}

static void *open_in(const char *folder, const char *below, int arch) {
    char path[PATH_MAX + 64];
    (void)snprintf(path, sizeof path, "%s/%s/emulate-sm%d.so", folder, below, arch);
    return access(path, R_OK) == 0 ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
}

/* Below the folder of the library or of the program: as built, or as installed. */
static void *open_near(const char *folder, int arch) {
    static const char *const places[] = {"emulate", "tcgemm", "../src/emulate", "../../src/emulate",
                                         TCGEMM_EMULATOR_DIR};
    void *module = NULL;
    for (size_t i = 0; i < sizeof places / sizeof places[0] && !module && *folder; ++i)
        module = open_in(folder, places[i], arch);
    return module;
}

static void *open_module(int arch) {
    char folder[PATH_MAX];
    const char *own = getenv("TCGEMM_EMULATOR");
    if (own && *own)
        return open_in(own, ".", arch);
    static const char here;
    Dl_info info;
    void *module = NULL;
    if (dladdr(&here, &info) && info.dli_fname) {
        folder_of(info.dli_fname, folder, sizeof folder);
        module = open_near(folder, arch);
    }
    char program[PATH_MAX];
    const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (!module && length > 0) {
        program[length] = '\0';
        folder_of(program, folder, sizeof folder);
        module = open_near(folder, arch);
    }
    return module;
}

/* ---- the door ---- */

static tcgemm_status_t module_of(const struct tcgemm_plan *plan, void **module) {
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    static void *modules[NUM_ARCHS];
    const int i = arch_of(plan);
    (void)pthread_mutex_lock(&mutex);
    if (!modules[i])
        modules[i] = open_module(archs[i]);
    *module = modules[i];
    (void)pthread_mutex_unlock(&mutex);
    TCGEMM_RETURN_IF(!*module, TCGEMM_STATUS_UNSUPPORTED,
                     "the data path of a GPU kernel needs the emulator, and emulate-sm%d.so is "
                     "neither beside the library nor in the folder that TCGEMM_EMULATOR names",
                     archs[i]);
    return TCGEMM_STATUS_OK;
}

tcgemm_status_t tcgemm_emulated_find(const struct tcgemm_plan *plan, const tcgemm_step_t *step,
                                     tcgemm_emulated_kernel_t *found) {
    void *module;
    char entry[TCGEMM_ENTRY_CHARS];
    const char *file;
    TCGEMM_FORWARD(module_of(plan, &module));
    TCGEMM_RETURN_IF(!tcgemm_gpu_entry(plan, step, entry, &file), TCGEMM_STATUS_UNSUPPORTED,
                     "kernel %s has no counterpart for a column-major product of mixed signs",
                     plan->kernel->name);
    void *const run = dlsym(module, TCGEMM_EMULATE_RUN);
    memcpy(&found->run, &run, sizeof run);
    found->kernel = dlsym(module, entry);
    TCGEMM_RETURN_IF(!run || !found->kernel, TCGEMM_STATUS_UNSUPPORTED,
                     "the emulator has no kernel %s", entry);
    return TCGEMM_STATUS_OK;
}

tcgemm_status_t tcgemm_emulated_check(const struct tcgemm_plan *plan) {
    const tcgemm_steps_t *const lists[] = {&plan->steps, &plan->if_unaligned};
    tcgemm_emulated_kernel_t found;
    for (int l = 0; l < 2; ++l)
        for (int i = 0; i < lists[l]->count; ++i)
            TCGEMM_FORWARD(tcgemm_emulated_find(plan, &lists[l]->step[i], &found));
    return TCGEMM_STATUS_OK;
}
