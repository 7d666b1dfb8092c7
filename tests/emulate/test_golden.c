/* The models against the hardware: what each instruction gave on a GPU (golden/<name>.bin, written
 * by record.cu) is what the emulator gives. Whole numbers, moves and conversions bit by bit;
 * products of floats within the bound of docs/numerics.md for tensor cores, NaN and infinities
 * where they were. Without a recording: skipped.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/dtype.h"
#include "emulate/emulate.h"
#include "emulate/golden.h"
#include "support/module.h"

enum { WORDS = GOLDEN_LANES * GOLDEN_MAX_WORDS };

static void *module;
static char recording[4096];

/* ---- the model ---- */

static void run(int index, const uint32_t *in, uint32_t *out) {
    tcgemm_emulate_run_fn *go;
    void *const door = dlsym(module, TCGEMM_EMULATE_RUN);
    assert_non_null(door);
    memcpy(&go, &door, sizeof go);
    const void *parameters[] = {in, out};
    tcgemm_emulate_launch_t launch = {
        .struct_size = sizeof launch,
        .kernel = dlsym(module, golden_cases[index].name),
        .parameters = parameters,
        .parameter_bytes = sizeof parameters,
        .grid = 1,
        .block = GOLDEN_LANES,
        .smem_bytes = 1024,
    };
    assert_non_null(launch.kernel);
    assert_int_equal(go(&launch), 0);
    if (launch.num_faults)
        fail_msg("%s: %s", golden_cases[index].name, launch.fault);
}

/* ---- comparison ---- */

/* Value `i` of an array of words. */
static double value_of(golden_kind_t kind, const uint32_t *w, int i) {
    double x;
    switch (kind) {
    case GOLDEN_F16:
        return (double)tcgemm_f32_of_f16((uint16_t)(w[i / 2] >> 16 * (i % 2)));
    case GOLDEN_F32:
        return (double)tcgemm_f32_of_bits(w[i]);
    default:
        memcpy(&x, w + (ptrdiff_t)2 * i, sizeof x);
        return x;
    }
}

static double unit_of(golden_kind_t kind) {
    return kind == GOLDEN_F16 ? 0x1p-11 : kind == GOLDEN_F32 ? 0x1p-24 : 0x1p-53;
}

/* `sum` is that of the absolute values of all terms. */
static bool is_near(const golden_case_t *x, double got, double wanted, double sum) {
    if (isnan(wanted) || isinf(wanted))
        return isnan(wanted) ? isnan(got) : got == wanted;
    const double tiny = x->c_kind == GOLDEN_F16 ? 0x1p-24 : 0x1p-149;
    return fabs(got - wanted) <= (2.0 * x->terms + 4.0) * unit_of(x->c_kind) * sum + tiny;
}

/* The input with all signs positive: its result bounds the sums. */
static void without_signs(const golden_case_t *x, uint32_t *in) {
    const int words = golden_in_words(x);
    for (int i = 0; i < GOLDEN_LANES * words; ++i) {
        const bool is_c = i % words < x->c_words;
        const int at = is_c ? i % words : i % words - x->c_words;
        const golden_kind_t kind = is_c ? x->c_kind : x->ab_kind;
        const bool is_low = kind == GOLDEN_F64 && at % 2 == 0;
        in[i] &= kind == GOLDEN_F16 || kind == GOLDEN_BF16 ? 0x7FFF7FFFu
                 : is_low                                  ? 0xFFFFFFFFu
                                                           : 0x7FFFFFFFu;
    }
}

static int compare(int index, int which, const uint32_t *wanted) {
    static uint32_t in[WORDS] __attribute__((aligned(256))), got[WORDS], sums[WORDS];
    const golden_case_t *x = &golden_cases[index];
    const int words = GOLDEN_LANES * x->d_words;
    golden_input(index, which, in);
    run(index, in, got);
    if (x->terms == 0 || x->c_kind == GOLDEN_BYTES)
        return memcmp(got, wanted, (size_t)words * sizeof *got) != 0;
    without_signs(x, in);
    run(index, in, sums);
    const int values = x->c_kind == GOLDEN_F16   ? 2 * words
                       : x->c_kind == GOLDEN_F64 ? words / 2
                                                 : words;
    int wrong = 0;
    for (int i = 0; i < values; ++i)
        wrong += !is_near(x, value_of(x->c_kind, got, i), value_of(x->c_kind, wanted, i),
                          fabs(value_of(x->c_kind, sums, i)));
    return wrong;
}

static bool is_empty(const uint32_t *words, size_t count) {
    for (size_t i = 0; i < count; ++i)
        if (words[i])
            return false;
    return true;
}

static void the_models_do_as_the_gpu_did(void **state) {
    (void)state;
    char magic[sizeof GOLDEN_MAGIC] = "";
    static uint32_t wanted[WORDS];
    FILE *file = fopen(recording, "rb");
    assert_non_null(file);
    assert_int_equal(fread(magic, 1, sizeof magic - 1, file), sizeof magic - 1);
    assert_string_equal(magic, GOLDEN_MAGIC);
    int wrong = 0, absent = 0;
    for (int i = 0; i < GOLDEN_NUM; ++i)
        for (int which = 0; which < GOLDEN_CASES; ++which) {
            const size_t count = GOLDEN_LANES * (size_t)golden_cases[i].d_words;
            assert_int_equal(fread(wanted, sizeof *wanted, count, file), count);
            if (is_empty(wanted, count)) {
                ++absent;
                continue;
            }
            const int here = compare(i, which, wanted);
            if (here)
                print_message("%s, case %d: %d wrong\n", golden_cases[i].name, which, here);
            wrong += here;
        }
    assert_int_equal(fgetc(file), EOF);
    (void)fclose(file);
    assert_int_equal(wrong, 0);
    assert_true(absent <= 3 * GOLDEN_CASES); /* f64 m16n8 before sm_90 */
}

/* ---- which recordings there are ---- */

static int replay(const char *folder) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_models_do_as_the_gpu_did)};
    DIR *all = opendir(folder);
    int ran = 0, failed = 0;
    for (struct dirent *entry; all && (entry = readdir(all)) != NULL;) {
        const char *dot = strrchr(entry->d_name, '.');
        if (!dot || strcmp(dot, ".bin") != 0)
            continue;
        (void)snprintf(recording, sizeof recording, "%s/%s", folder, entry->d_name);
        (void)printf("%s\n", recording);
        failed += cmocka_run_group_tests(tests, NULL, NULL);
        ++ran;
    }
    if (all)
        (void)closedir(all);
    if (ran == 0) {
        (void)printf("skipped: nothing was recorded on a GPU yet (tests/emulate/record.cu)\n");
        return 77;
    }
    return failed;
}

int main(void) {
    const char *source = getenv("TCGEMM_SOURCE_DIR");
    char path[2048];
    module = module_of_build("tests/emulate-golden.so");
    if (!module)
        return 1;
    (void)snprintf(path, sizeof path, "%s/tests/emulate/golden", source ? source : ".");
    return replay(path);
}
