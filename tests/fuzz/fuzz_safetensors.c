/* fuzz_safetensors.c - any bytes as a .safetensors file: either a sound view or a sentence. */
#include <stdlib.h>
#include <string.h>

#include "files/safetensors.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t num_bytes);

static void require(bool holds) {
    if (!holds)
        abort();
}

static void check_message(const file_error_t *err) {
    require(err->exit_status == FILE_EXIT_BAD_FILE || err->exit_status == FILE_EXIT_NO_MEMORY);
    require(memchr(err->message, '\0', sizeof err->message) != NULL);
    require(strncmp(err->message, "fuzz: ", 6) == 0);
    for (const char *p = err->message; *p; p++)
        require((unsigned char)*p >= 0x20 && *p != 0x7F);
}

static void check_view(const array_view_t *view, size_t num_bytes) {
    const size_t element_bytes = (size_t)tcgemm_dtype_bits(view->dtype) / 8;
    require(element_bytes > 0);
    require(view->num_dims >= 1 && view->num_dims <= 3);
    require(view->batch >= 0 && view->rows >= 0 && view->cols >= 0);
    require(view->offset <= num_bytes && view->num_bytes <= num_bytes - view->offset);
    require((size_t)view->batch * (size_t)view->rows * (size_t)view->cols * element_bytes ==
            view->num_bytes);
    require(!view->big_endian && view->order == TCGEMM_ROW_MAJOR);
}

static void try_tensor(const uint8_t *bytes, size_t num_bytes, const char *tensor, bool sound) {
    array_view_t view;
    file_error_t err;
    if (safetensors_parse(bytes, num_bytes, "fuzz", tensor, &view, &err)) {
        require(sound); /* one tensor can only be read from a file that is sound as a whole */
        check_view(&view, num_bytes);
    } else {
        check_message(&err);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t num_bytes) {
    char text[64];
    file_error_t err;
    const bool sound = safetensors_list(bytes, num_bytes, "fuzz", text, sizeof text, &err);
    if (sound)
        require(memchr(text, '\0', sizeof text) != NULL);
    else
        check_message(&err);
    try_tensor(bytes, num_bytes, NULL, sound);
    try_tensor(bytes, num_bytes, "a", sound);
    return 0;
}
