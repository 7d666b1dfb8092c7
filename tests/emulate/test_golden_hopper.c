/* The models of boxes and wgmma against the hardware: what a GPU gave (golden/<name>.hopper,
 * written by record_hopper.cu) is what the emulator gives. Boxes and whole numbers bit by bit
 * (where one has a NaN, so has the other); other products within the bound of docs/numerics.md.
 * Without a recording the models are held to arithmetic alone: whole numbers in every product.
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
#include "emulate/golden_hopper.h"
#include "support/module.h"

static void *module;
static char folder[4096];
static uint8_t a[HOPPER_BYTES] __attribute__((aligned(256)));
static uint8_t b[HOPPER_BYTES] __attribute__((aligned(256)));
static uint32_t out[HOPPER_WORDS];

/* ---- the models ---- */

static tcgemm_tensor_map_t map_of(const tcgemm_tensor_t *t) {
    tcgemm_tensor_map_t map;
    memset(&map, 0, sizeof map);
    memcpy(map.opaque, t, sizeof *t);
    return map;
}

static void run(const char *name, tcgemm_tensor_args_t *args) {
    tcgemm_emulate_run_fn *go;
    void *const door = dlsym(module, TCGEMM_EMULATE_RUN);
    assert_non_null(door);
    memcpy(&go, &door, sizeof go);
    args->args.d = out;
    tcgemm_emulate_launch_t launch = {
        .struct_size = sizeof launch,
        .kernel = dlsym(module, name),
        .parameters = args,
        .parameter_bytes = sizeof *args,
        .grid = 1,
        .block = HOPPER_THREADS,
        .smem_bytes = HOPPER_SMEM,
    };
    assert_non_null(launch.kernel);
    memset(out, 0, sizeof out);
    assert_int_equal(go(&launch), 0);
    if (launch.num_faults)
        fail_msg("%s: %s", name, launch.fault);
}

static void run_box(int i, int round) {
    const hopper_box_t *box = &hopper_boxes[i];
    tcgemm_tensor_args_t x;
    memset(&x, 0, sizeof x);
    hopper_fill(box->element, i, round, a);
    const tcgemm_tensor_t t = hopper_tensor_of_box(box, a);
    x.a = map_of(&t);
    x.args.m = box->lines * box->items;
    x.args.lda = box->at[0];
    x.args.ldb = box->at[1];
    x.args.ldc = box->at[2];
    run("golden_box", &x);
}

static void run_product(int i) {
    const hopper_product_t *p = &hopper_products[i];
    tcgemm_tensor_args_t x;
    memset(&x, 0, sizeof x);
    const tcgemm_tensor_t left = hopper_tensor_of_operand(p->a, p->a_mn, 64, a);
    const tcgemm_tensor_t right = hopper_tensor_of_operand(p->b, p->b_mn, p->n, b);
    x.a = map_of(&left);
    x.b = map_of(&right);
    run(p->name, &x);
}

static void fill_product(int i, int round) {
    hopper_fill(hopper_products[i].a, 100 + i, round, a);
    hopper_fill(hopper_products[i].b, 200 + i, round, b);
}

/* ---- arithmetic, element by element ---- */

static double value_of(hopper_element_t element, const uint8_t *data, uint32_t at) {
    uint32_t bits = 0;
    const uint32_t bytes = hopper_bytes_of(element);
    memcpy(&bits, data + (size_t)at * bytes, bytes);
    switch (element) {
    case HOPPER_F16:
        return (double)tcgemm_f32_of_f16((uint16_t)bits);
    case HOPPER_BF16:
        return (double)tcgemm_f32_of_bf16((uint16_t)bits);
    case HOPPER_E4M3:
        return (double)tcgemm_f32_of_e4m3((uint8_t)bits);
    case HOPPER_E5M2:
        return (double)tcgemm_f32_of_e5m2((uint8_t)bits);
    case HOPPER_S8:
        return (int8_t)bits;
    case HOPPER_U8:
        return bits;
    default:
        return (double)tcgemm_f32_of_bits(bits & 0xFFFFE000u);
    }
}

/* Register r of thread t: what it is, and the sum of the sizes of its terms. */
static double sum_of(const hopper_product_t *p, uint32_t t, uint32_t r, double *size) {
    const uint32_t i = t / 32 * 16 + t % 32 / 4 + r / 2 % 2 * 8;
    const uint32_t j = r / 4 * 8 + t % 4 * 2 + r % 2;
    const uint32_t k = p->a_mn || p->b_mn ? 64 : 128 / hopper_bytes_of(p->a);
    double sum = (t * 7 + r * 3) % 16;
    *size = sum;
    for (uint32_t q = 0; q < k; ++q) {
        const double term = value_of(p->a, a, p->a_mn ? q * 64 + i : i * k + q) *
                            value_of(p->b, b, p->b_mn ? q * p->n + j : j * k + q);
        sum += term;
        *size += fabs(term);
    }
    return sum;
}

static bool is_integer(const hopper_product_t *p) {
    return p->a == HOPPER_S8 || p->a == HOPPER_U8;
}

/* Tensor cores keep fewer bits of sums of 8-bit floats; the emulator, too, and the same. */
static bool is_short(const hopper_product_t *p) {
    return p->a == HOPPER_E4M3 || p->a == HOPPER_E5M2;
}
static double unit_of(const hopper_product_t *p) {
    return is_short(p) ? 0x1p-13 : 0x1p-23;
}

static double number_of(const hopper_product_t *p, uint32_t word) {
    return is_integer(p) ? (double)(int32_t)word : (double)tcgemm_f32_of_bits(word);
}

/* Registers of a product that are not what they should be, all exactly or within the bound. */
static int count_wrong(const hopper_product_t *p, const uint32_t *words, bool exactly) {
    int wrong = 0;
    for (uint32_t t = 0; t < HOPPER_THREADS; ++t)
        for (uint32_t r = 0; r < p->n / 2; ++r) {
            double size;
            const double sum = sum_of(p, t, r, &size);
            const double got = number_of(p, words[t * (p->n / 2) + r]);
            wrong += !(fabs(got - sum) <= (exactly ? 0 : 16 * unit_of(p) * size));
        }
    return wrong;
}

static void the_models_multiply(void **state) {
    (void)state;
    for (int i = 0; i < HOPPER_NUM_PRODUCTS; ++i)
        for (int round = 0; round < HOPPER_ROUNDS; ++round) {
            const hopper_product_t *p = &hopper_products[i];
            fill_product(i, round);
            run_product(i);
            const int wrong = count_wrong(p, out, round == 0 || is_integer(p));
            if (wrong)
                fail_msg("%s, round %d: %d wrong", p->name, round, wrong);
        }
}

/* ---- the recording ---- */

static bool is_nan(uint32_t bits) {
    return (bits & 0x7FFFFFFFu) > 0x7F800000u;
}

static int compare_box(int i, const uint32_t *wanted) {
    const hopper_box_t *box = &hopper_boxes[i];
    int wrong = 0;
    for (uint32_t w = 0; w < box->lines * box->items * 32; ++w) {
        const bool both = hopper_bytes_of(box->element) == 4 && is_nan(out[w]) && is_nan(wanted[w]);
        if (both || out[w] == wanted[w])
            continue;
        if (wrong++ < 4)
            print_message("box %d, word %u: %08x, the GPU had %08x\n", i, w, out[w], wanted[w]);
    }
    return wrong;
}

static int compare_product(int i, int round, const uint32_t *wanted) {
    const hopper_product_t *p = &hopper_products[i];
    if (round == 0 || is_integer(p) || is_short(p))
        return memcmp(out, wanted, (size_t)64 * p->n * sizeof *out) != 0;
    return count_wrong(p, wanted, false);
}

static int replay_round(int round, FILE *file) {
    static uint32_t wanted[HOPPER_WORDS];
    int wrong = 0;
    for (int i = 0; i < HOPPER_NUM_BOXES; ++i) {
        const size_t words = (size_t)hopper_boxes[i].lines * hopper_boxes[i].items * 32;
        assert_int_equal(fread(wanted, sizeof *wanted, words, file), words);
        run_box(i, round);
        wrong += compare_box(i, wanted);
    }
    for (int i = 0; i < HOPPER_NUM_PRODUCTS; ++i) {
        const size_t words = (size_t)64 * hopper_products[i].n;
        assert_int_equal(fread(wanted, sizeof *wanted, words, file), words);
        fill_product(i, round);
        run_product(i);
        const int here = compare_product(i, round, wanted);
        if (here)
            print_message("%s, round %d: %d wrong\n", hopper_products[i].name, round, here);
        wrong += here;
    }
    return wrong;
}

static void replay(const char *path) {
    char magic[sizeof GOLDEN_HOPPER_MAGIC] = "";
    int wrong = 0;
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fread(magic, 1, sizeof magic - 1, file), sizeof magic - 1);
    assert_string_equal(magic, GOLDEN_HOPPER_MAGIC);
    for (int round = 0; round < HOPPER_ROUNDS; ++round)
        wrong += replay_round(round, file);
    assert_int_equal(fgetc(file), EOF);
    (void)fclose(file);
    assert_int_equal(wrong, 0);
}

static void the_models_do_as_the_gpu_did(void **state) {
    (void)state;
    DIR *all = opendir(folder);
    int ran = 0;
    for (struct dirent *entry; all && (entry = readdir(all)) != NULL;) {
        char path[sizeof folder + sizeof entry->d_name + 1];
        const char *dot = strrchr(entry->d_name, '.');
        if (!dot || strcmp(dot, ".hopper") != 0)
            continue;
        (void)snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        replay(path);
        ++ran;
    }
    if (all)
        (void)closedir(all);
    assert_true(ran > 0); /* tests/emulate/record.sh */
}

int main(void) {
    const char *source = getenv("TCGEMM_SOURCE_DIR");
    module = module_of_build("tests/emulate-golden-hopper.so");
    if (!module)
        return 1;
    (void)snprintf(folder, sizeof folder, "%s/tests/emulate/golden", source ? source : ".");
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_models_multiply),
                                       cmocka_unit_test(the_models_do_as_the_gpu_did)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
