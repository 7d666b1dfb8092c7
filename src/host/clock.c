/* clock.c - see clock.h. */
#include "host/clock.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "host/affinity.h"
#include "host/cpuid.h"
#include "host/textfile.h"

/* ---- what is told ---- */

double tcgemm_clock_of_brand(const char *brand) {
    const char *unit = strstr(brand, "GHz");
    double scale = 1e9;
    if (!unit) {
        unit = strstr(brand, "MHz");
        scale = 1e6;
    }
    if (!unit)
        return 0.0;
    const char *number = unit;
    while (number > brand && strchr("0123456789. ", number[-1]))
        --number;
    /* By hand: strtod reads "2.60" as 2 where the locale writes a comma. */
    double value = 0.0;
    double digit = 1.0;
    bool is_fraction = false;
    for (; number < unit; ++number) {
        if (*number == '.')
            is_fraction = true;
        if (*number < '0' || *number > '9')
            continue;
        digit /= is_fraction ? 10.0 : 1.0;
        value = is_fraction ? value + digit * (*number - '0') : 10.0 * value + (*number - '0');
    }
    return scale * value;
}

/* A file of this processor's cpufreq, which holds kHz; 0 if there is none. */
static double hz_of_sysfs(const char *name) {
    char path[128];
    char text[32];
    (void)snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cpufreq/%s",
                   tcgemm_first_cpu(), name);
    return tcgemm_read_file(path, text, sizeof text) ? 1e3 * (double)strtoll(text, NULL, 10) : 0.0;
}

static double nominal;

static void find_nominal(void) {
    nominal = 1e6 * (double)tcgemm_cpuid()->base_mhz;
    if (nominal <= 0.0)
        nominal = tcgemm_clock_of_brand(tcgemm_cpuid()->brand);
    if (nominal <= 0.0)
        nominal = hz_of_sysfs("base_frequency");
    if (nominal <= 0.0)
        nominal = hz_of_sysfs("cpuinfo_max_freq");
    if (!(nominal >= 1e8 && nominal <= 1e10)) /* nothing told, or nonsense */
        nominal = 3e9;
}

double tcgemm_nominal_clock_hz(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, find_nominal);
    return nominal;
}

/* ---- what is measured ---- */

enum { ADDITIONS = 20000, FASTEST = 3 }; /* some 10 us a window */
static const double least_seconds = 10e-3;
static const double most_seconds = 20e-3;

/* 0: not yet. No lock, which a child forked meanwhile would wait for without end: threads that
 * measure at the same time all measure well. */
static _Atomic double measured;

/* Cycles a second in one window. */
static double measure_window(void) {
    uint64_t x = 1;
    const double start = now_seconds();
    for (int i = 0; i < ADDITIONS; ++i) {
        x += x ^ (uint64_t)i; /* two dependent cycles */
        __asm__ volatile("" : "+r"(x));
    }
    const double seconds = now_seconds() - start;
    return seconds > 0.0 ? 2.0 * ADDITIONS / seconds : 0.0;
}

/* Keeps the FASTEST highest rates, the highest first. */
static void insert(double rates[FASTEST], double rate) {
    for (int i = 0; i < FASTEST; ++i) {
        if (rate > rates[i]) {
            const double slower = rates[i];
            rates[i] = rate;
            rate = slower;
        }
    }
}

static double measure(double seconds) {
    double rates[FASTEST] = {0.0, 0.0, 0.0};
    double best = 0.0; /* of the windows up to the last change by a percent or more */
    double since = now_seconds();
    const double start = since;
    while (now_seconds() - start < seconds) {
        insert(rates, measure_window());
        /* A window that the clock's own reading cut short is not believed alone. */
        if (rates[FASTEST - 1] > 1.01 * best) {
            best = rates[FASTEST - 1];
            since = now_seconds();
        } else if (now_seconds() - since > least_seconds) {
            break; /* no faster for so long: the core is at speed */
        }
    }
    return rates[FASTEST - 1];
}

/* The highest frequency that the processor is said to have, with 2 % for its clock generator; no
 * processor has 10 GHz. */
static double highest(void) {
    const double told = 1e6 * (double)tcgemm_cpuid()->max_mhz;
    const double of_sysfs = hz_of_sysfs("cpuinfo_max_freq");
    const double most = told > of_sysfs ? told : of_sysfs;
    return most >= tcgemm_nominal_clock_hz() ? 1.02 * most : 1e10;
}

static double measure_and_keep(void) {
    const double hz = measure(most_seconds);
    const double most = highest();
    const double believed = hz < most ? hz : most;
    double kept = atomic_load(&measured);
    while (believed > kept && !atomic_compare_exchange_weak(&measured, &kept, believed))
        ;
    if (believed > kept)
        kept = believed;
    return kept > 0.0 ? kept : tcgemm_nominal_clock_hz();
}

double tcgemm_clock_hz(void) {
    const double hz = atomic_load(&measured);
    return hz > 0.0 ? hz : measure_and_keep();
}

double tcgemm_clock_again(void) {
    return measure_and_keep();
}
