/* module.c - see module.h. */
#include "support/module.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

static void *module_in(const char *folder, const char *place) {
    char path[4096];
    (void)snprintf(path, sizeof path, "%s/%s", folder, place);
    void *const module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!module)
        (void)fprintf(stderr, "%s\n", dlerror());
    return module;
}

void *module_of_build(const char *place) {
    const char *build = getenv("TCGEMM_BUILD_DIR");
    return module_in(build ? build : "build", place);
}

void *module_of_sm90(void) {
    const char *folder = getenv("TCGEMM_EMULATOR");
    return folder ? module_in(folder, "emulate-sm90.so")
                  : module_of_build("src/emulate/emulate-sm90.so");
}
