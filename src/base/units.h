/* units.h - numbers as people read them: thousands, seconds, bytes and rates. Each writes into
 * `text` and returns it.
 *
 * Header only: the tool's tables and the library's pictures share the words, and nothing is called
 * from one in the other.
 */
#ifndef TCGEMM_BASE_UNITS_H
#define TCGEMM_BASE_UNITS_H

#include <stdio.h>

enum { UNITS_SIZE = 64 };

/* 12345678 -> "12 345 678"; from 1e18 on "1.235e+20". */
static inline const char *units_grouped(double number, char text[UNITS_SIZE]) {
    char digits[UNITS_SIZE];
    if (number >= 1e18) {
        (void)snprintf(text, UNITS_SIZE, "%.4g", number);
        return text;
    }
    const int length = snprintf(digits, sizeof digits, "%.0f", number);
    char *to = text;
    for (int i = 0; i < length; ++i) {
        if (i > 0 && (length - i) % 3 == 0)
            *to++ = ' ';
        *to++ = digits[i];
    }
    *to = '\0';
    return text;
}

/* "1.234 s", "1.234 ms", "1.2 us"; below that "12.3 ns". */
static inline const char *units_seconds(double seconds, char text[UNITS_SIZE]) {
    if (seconds >= 1)
        (void)snprintf(text, UNITS_SIZE, "%.3f s", seconds);
    else if (seconds >= 1e-3)
        (void)snprintf(text, UNITS_SIZE, "%.3f ms", seconds * 1e3);
    else if (seconds >= 1e-7 || seconds <= 0)
        (void)snprintf(text, UNITS_SIZE, "%.1f us", seconds * 1e6);
    else
        (void)snprintf(text, UNITS_SIZE, "%.3g ns", seconds * 1e9);
    return text;
}

/* "512 bytes", "144.0 KiB", "1.5 GiB". */
static inline const char *units_bytes(double bytes, char text[UNITS_SIZE]) {
    static const char *const names[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    int unit = -1;
    for (; bytes >= 1024 && unit < 5; ++unit)
        bytes /= 1024;
    if (unit < 0)
        (void)snprintf(text, UNITS_SIZE, "%.0f byte%s", bytes, bytes == 1 ? "" : "s");
    else
        (void)snprintf(text, UNITS_SIZE, "%.*f %s", bytes < 100, bytes, names[unit]);
    return text;
}

/* "85.2 TOP/s", "1.24 GFLOP/s", "512 FLOP/s": operations a second of integers or of floats. */
static inline const char *units_rate(double rate, int is_integer, char text[UNITS_SIZE]) {
    const char *const name = is_integer ? "OP/s" : "FLOP/s";
    static const char *const prefixes[] = {"", "k", "M", "G", "T"};
    int prefix = 0;
    double value = rate;
    for (; value >= 1000 && prefix < 4; ++prefix)
        value /= 1000;
    const int digits = value < 10 ? 2 : value < 1000 ? 1 : 0;
    (void)snprintf(text, UNITS_SIZE, "%.*f %s%s", digits, value, prefixes[prefix], name);
    return text;
}

/* What bounds a product with these floors, in seconds. Neither the memory nor the peak does where
 * the product is so small that both floors together are lost in the time it takes. */
static inline const char *units_bound(double multiply_floor, double memory_floor, double predicted,
                                      int is_gpu) {
    if (multiply_floor + memory_floor < 0.01 * predicted)
        return is_gpu ? "the launch" : "the call";
    return memory_floor > multiply_floor ? "the memory" : "the peak";
}

#endif
