/* fuzz_npy.c - any bytes as an .npy file: either a sound view or a printable sentence. */
#include <stdlib.h>
#include <string.h>

#include "files/npy.h"

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
    const size_t element_bytes = array_view_element_bytes(view);
    require(element_bytes > 0);
    require(view->num_dims >= 1 && view->num_dims <= 3);
    require(view->batch >= 0 && view->rows >= 0 && view->cols >= 0);
    require(view->offset <= num_bytes && view->num_bytes == num_bytes - view->offset);
    require((size_t)view->batch * (size_t)view->rows * (size_t)view->cols * element_bytes ==
            view->num_bytes);
}

/* What is accepted, once written by us, must be accepted again and mean the same. */
static void check_again(const array_view_t *view, const array_hint_t *hint) {
    uint8_t header[NPY_MAX_WRITTEN_HEADER];
    const array_shape_t shape = array_view_shape(view);
    const size_t length = npy_write_header(header, view->dtype, &shape, view->order);
    if (view->num_bytes > 4096 || view->coding != ELEMENT_PLAIN)
        return;
    uint8_t *file = calloc(1, length + view->num_bytes);
    require(file != NULL);
    memcpy(file, header, length);
    array_view_t again;
    file_error_t err;
    require(npy_parse(file, length + view->num_bytes, "fuzz", hint, &again, &err));
    require(again.dtype == view->dtype && again.order == view->order && !again.big_endian);
    require(again.num_dims == view->num_dims && again.batch == view->batch &&
            again.rows == view->rows && again.cols == view->cols);
    free(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t num_bytes) {
    const array_hint_t hints[] = {{0},
                                  {.said = TCGEMM_DTYPE_E5M2},
                                  {.wanted = TCGEMM_DTYPE_S4},
                                  {.wanted = TCGEMM_DTYPE_BF16}};
    for (size_t i = 0; i < sizeof hints / sizeof hints[0]; i++) {
        array_view_t view;
        file_error_t err;
        if (npy_parse(bytes, num_bytes, "fuzz", &hints[i], &view, &err)) {
            check_view(&view, num_bytes);
            check_again(&view, &hints[i]);
        } else {
            check_message(&err);
        }
    }
    return 0;
}
