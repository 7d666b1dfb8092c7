/* neon_pack.c - packing for all kernels of Arm: that of pack_tmpl.h, and panels with lanes of 8
 * bytes for the small matrix products, four bf16 or eight bytes of a line.
 *
 * Two lanes, of two lines that are neighbours, are then one operand of BFMMLA or SMMLA as they lie.
 */
#define PACK_ISA neon
#include "cpu/kernels/pack_tmpl.h"

bool tcgemm_pack_neon_i8x4(const tcgemm_pack_t *pack, int64_t first, int lines, int width,
                           void *panel, uint32_t *terms) {
    return tcgemm_pack_neon_u8s8(pack, first, lines, width, panel, terms);
}

/* Lanes that were converted line by line. */
static void transpose_lanes(uint64_t converted[][CHUNK], int lines, int64_t steps, void *panel,
                            int width) {
    const double *rows[MAX_WIDTH];
    for (int line = 0; line < lines; ++line)
        rows[line] = (const double *)(const void *)converted[line];
    transpose_f64(rows, lines, steps, panel, width);
}

bool tcgemm_pack_neon_i8x8(const tcgemm_pack_t *pack, int64_t first, int lines, int width,
                           void *panel, uint32_t *terms) {
    uint8_t *const out = panel;
    const int64_t num_steps = (pack->k + 7) / 8;
    (void)terms;
    clear_missing_lines(panel, 8, num_steps, lines, width);
    if (pack->k_stride != 1) {
        uint8_t part[8][MAX_WIDTH];
        for (int64_t q = 0; q < num_steps; ++q) {
            for (int64_t h = 0; h < 8; ++h) {
                if (8 * q + h < pack->k)
                    convert_bytes(pack, line_start(pack, first, 8 * q + h), lines, part[h]);
                else
                    memset(part[h], 0, sizeof part[h]);
            }
            uint8_t *const step = out + q * width * 8;
            for (int line = 0; line < lines; ++line)
                for (int h = 0; h < 8; ++h)
                    step[8 * line + h] = part[h][line];
        }
        return false;
    }
    uint64_t converted[MAX_WIDTH][CHUNK];
    for (int64_t q = 0; q < num_steps; q += CHUNK) {
        const int64_t steps = min_i64(CHUNK, num_steps - q);
        const int64_t count = min_i64(8 * CHUNK, pack->k - 8 * q);
        for (int line = 0; line < lines; ++line) {
            uint8_t *const row = (uint8_t *)converted[line];
            convert_bytes(pack, line_start(pack, first + line, 8 * q), count, row);
            memset(row + count, 0, (size_t)(8 * steps - count));
        }
        transpose_lanes(converted, lines, steps, out + q * width * 8, width);
    }
    return false;
}

bool tcgemm_pack_neon_bf16x4(const tcgemm_pack_t *pack, int64_t first, int lines, int width,
                             void *panel, uint32_t *terms) {
    uint16_t *const out = panel;
    const int64_t num_steps = (pack->k + 3) / 4;
    bool subnormal = false;
    (void)terms;
    clear_missing_lines(panel, 8, num_steps, lines, width);
    if (pack->k_stride != 1) {
        uint16_t part[4][MAX_WIDTH];
        for (int64_t q = 0; q < num_steps; ++q) {
            for (int64_t h = 0; h < 4; ++h) {
                if (4 * q + h < pack->k)
                    subnormal |=
                        convert_bf16(pack, line_start(pack, first, 4 * q + h), lines, part[h]);
                else
                    memset(part[h], 0, sizeof part[h]);
            }
            uint16_t *const step = out + q * width * 4;
            for (int line = 0; line < lines; ++line)
                for (int h = 0; h < 4; ++h)
                    step[4 * line + h] = part[h][line];
        }
        return subnormal;
    }
    uint64_t converted[MAX_WIDTH][CHUNK];
    for (int64_t q = 0; q < num_steps; q += CHUNK) {
        const int64_t steps = min_i64(CHUNK, num_steps - q);
        const int64_t count = min_i64(4 * CHUNK, pack->k - 4 * q);
        for (int line = 0; line < lines; ++line) {
            uint16_t row[4 * CHUNK];
            subnormal |= convert_bf16(pack, line_start(pack, first + line, 4 * q), count, row);
            memset(row + count, 0, (size_t)(4 * steps - count) * sizeof *row);
            memcpy(converted[line], row, (size_t)steps * sizeof converted[line][0]);
        }
        transpose_lanes(converted, lines, steps, out + q * width * 4, width);
    }
    return subnormal;
}
