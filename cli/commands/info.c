/* info.c - the machine and its peaks. */
#include "commands/info.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "options/setup.h"
#include "support/exit_status.h"
#include "support/message.h"
#include "support/progress.h"
#include "tcgemm/tcgemm.h"

static const table_column_t columns[] = {
    {"type", "type", TABLE_LEFT, 0, TABLE_EVERYWHERE},
    {"theoretical_gflops", "theoretical GFLOP/s", TABLE_RIGHT, 4, TABLE_EVERYWHERE},
    {"measured_gflops", "measured GFLOP/s", TABLE_RIGHT, 4, TABLE_EVERYWHERE},
    {"measured_fraction", "measured / theoretical", TABLE_RIGHT, 3, TABLE_EVERYWHERE},
};

void info_version(void) {
    (void)fputs(tcgemm_build_info(), stdout);
}

static void add_peak(table_t *table, tcgemm_type_t type, double theoretical, double measured) {
    table_text(table, tcgemm_type_info(type)->name);
    if (theoretical > 0)
        table_real(table, theoretical * 1e-9);
    else
        table_empty(table);
    table_real(table, measured * 1e-9);
    if (theoretical > 0)
        table_real(table, measured / theoretical);
    else
        table_empty(table);
}

static json_t *peak_data(tcgemm_type_t type, double theoretical, double measured) {
    return json_pack("{s:s, s:o, s:f}", "type", tcgemm_type_info(type)->name, "theoretical_gflops",
                     theoretical > 0 ? json_real(theoretical * 1e-9) : json_null(),
                     "measured_gflops", measured * 1e-9);
}

/* Measures every type into both forms. */
static int measure(const settings_t *s, int threads, table_t *table, json_t *peaks) {
    tcgemm_type_t types[SETUP_MAX_TYPES];
    int count;
    int status = setup_types(s, types, &count);
    progress_begin("measuring peaks", 0);
    for (int i = 0; i < count && status == CLI_OK; ++i) {
        double theoretical = 0;
        double measured = 0;
        const tcgemm_status_t done =
            tcgemm_measure_peak(types[i], threads, &theoretical, &measured);
        if (done == TCGEMM_STATUS_OK) {
            add_peak(table, types[i], theoretical, measured);
            (void)json_array_append_new(peaks, peak_data(types[i], theoretical, measured));
        } else {
            status = message_library(done);
        }
        progress_set((i + 1.0) / count);
    }
    progress_end();
    return status;
}

static void cache_text(const char *name, size_t bytes) {
    if (bytes > 0)
        (void)printf("%-13s%zu KiB\n", name, bytes / 1024);
    else
        (void)printf("%-13sunknown\n", name);
}

static int gpu_facts(int index, tcgemm_device_info_t *gpu) {
    gpu->struct_size = sizeof *gpu;
    const tcgemm_status_t status = tcgemm_device_get_info(index, gpu);
    return status == TCGEMM_STATUS_OK ? CLI_OK : message_library(status);
}

/* The peak of every type, how it comes about - SMs x operations per clock and SM x clock - and what
 * is measured of it with operands in registers. */
static void gpu_peaks_text(int index, const tcgemm_device_info_t *g) {
    (void)printf("%-13speaks in theory: SMs x operations a clock x clock; and as measured\n", "");
    for (int t = 1; t <= tcgemm_type_count() && t < TCGEMM_MAX_TYPES; ++t) {
        double measured;
        if (g->peak[t] <= 0)
            continue;
        (void)printf("%-13s  %-10s %d x %6.0f x %.3f GHz = %8.2f TFLOP/s", "",
                     tcgemm_type_info((tcgemm_type_t)t)->name, g->num_sms,
                     g->peak[t] / g->num_sms / g->clock_hz, g->clock_hz * 1e-9, g->peak[t] * 1e-12);
        if (tcgemm_device_measure_peak(index, (tcgemm_type_t)t, &measured) == TCGEMM_STATUS_OK &&
            measured > 0)
            (void)printf(", %8.2f", measured * 1e-12);
        (void)printf("\n");
    }
}

static void gpus_text(void) {
    if (tcgemm_device_count() == 0)
        (void)printf("%-13snone: %s\n", "GPUs", tcgemm_device_reason());
    for (int i = 0; i < tcgemm_device_count(); ++i) {
        tcgemm_device_info_t g;
        if (gpu_facts(i, &g) != CLI_OK)
            continue;
        (void)printf("GPU %-9d%s, compute capability %d.%d, %d kernels for it\n", i, g.name,
                     g.cc_major, g.cc_minor, g.num_kernels);
        (void)printf("%-13s%d SMs, up to %.3f GHz; L2 %zu KiB; memory %zu MiB, %.0f GB/s\n", "",
                     g.num_sms, g.clock_hz * 1e-9, g.l2_bytes / 1024, g.memory_bytes >> 20,
                     g.bandwidth * 1e-9);
        (void)printf("%-13sshared memory %zu KiB an SM, %zu KiB a block; %d registers an SM\n", "",
                     g.smem_sm_bytes / 1024, g.smem_block_bytes / 1024, g.registers_per_sm);
        gpu_peaks_text(i, &g);
    }
}

static json_t *gpus_data(void) {
    json_t *gpus = json_array();
    for (int i = 0; i < tcgemm_device_count(); ++i) {
        tcgemm_device_info_t g;
        if (gpu_facts(i, &g) != CLI_OK)
            continue;
        json_t *peaks = json_object();
        json_t *measured = json_object();
        for (int t = 1; t <= tcgemm_type_count(); ++t) {
            const char *name = tcgemm_type_info((tcgemm_type_t)t)->name;
            double peak;
            if (g.peak[t] > 0)
                (void)json_object_set_new(peaks, name, json_real(g.peak[t] * 1e-9));
            if (tcgemm_device_measure_peak(i, (tcgemm_type_t)t, &peak) == TCGEMM_STATUS_OK &&
                peak > 0)
                (void)json_object_set_new(measured, name, json_real(peak * 1e-9));
        }
        (void)json_array_append_new(
            gpus, json_pack("{s:s, s:i, s:i, s:f, s:f, s:I, s:I, s:I, s:I, s:i, s:i, s:o, s:o}",
                            "name", g.name, "cc", 10 * g.cc_major + g.cc_minor, "num_sms",
                            g.num_sms, "clock_hz", g.clock_hz, "bandwidth", g.bandwidth,
                            "memory_bytes", (json_int_t)g.memory_bytes, "l2_bytes",
                            (json_int_t)g.l2_bytes, "smem_sm_bytes", (json_int_t)g.smem_sm_bytes,
                            "smem_block_bytes", (json_int_t)g.smem_block_bytes, "registers_per_sm",
                            g.registers_per_sm, "num_kernels", g.num_kernels, "theoretical_gflops",
                            peaks, "measured_gflops", measured));
    }
    return gpus;
}

static void machine_text(const tcgemm_machine_info_t *machine) {
    (void)printf("%-13s%s\n", "processor", machine->cpu);
    (void)printf("%-13s%d for this process\n", "processors", machine->num_processors);
    (void)printf("%-13s%.3f GHz, measured\n", "clock", machine->clock_hz * 1e-9);
    cache_text("L1 data", machine->l1_bytes);
    cache_text("L2", machine->l2_bytes);
    cache_text("L3", machine->l3_bytes);
    (void)printf("%-13s%s\n", "features", machine->features);
    (void)printf("%-13s%s\n", "kernel set", machine->isa);
    gpus_text();
}

static json_t *machine_data(const tcgemm_machine_info_t *machine, int threads, json_t *peaks) {
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:i, s:f, s:I, s:I, s:I, s:o, s:s, s:i, s:O}",
                     "schema", "tcgemm.info/1", "version", tcgemm_version_string(), "build",
                     tcgemm_build_info(), "cpu", machine->cpu, "features", machine->features, "isa",
                     machine->isa, "num_processors", machine->num_processors, "clock_hz",
                     machine->clock_hz, "l1_bytes", (json_int_t)machine->l1_bytes, "l2_bytes",
                     (json_int_t)machine->l2_bytes, "l3_bytes", (json_int_t)machine->l3_bytes,
                     "gpus", gpus_data(), "gpus_reason", tcgemm_device_reason(), "peak_threads",
                     threads, "peaks", peaks);
}

static bool write_all(const settings_t *s, const tcgemm_machine_info_t *machine, int threads,
                      table_t *table, json_t *peaks) {
    const table_format_t format = (table_format_t)s->format;
    if (format == TABLE_FORMAT_TEXT) {
        machine_text(machine);
        (void)printf("\nPeaks on %d thread%s\n", threads, threads == 1 ? "" : "s");
        return table_write(table, format, "", stdout);
    }
    json_t *data = machine_data(machine, threads, peaks);
    const bool good = data && table_write_facts(data, format, stdout);
    json_decref(data);
    return good;
}

int command_info(const settings_t *s) {
    int threads;
    int status = setup_threads(s, &threads);
    if (status != CLI_OK)
        return status;
    tcgemm_machine_info_t machine = {.struct_size = sizeof machine};
    const tcgemm_status_t told = tcgemm_machine_get_info(&machine);
    if (told != TCGEMM_STATUS_OK)
        return message_library(told);
    if (threads == 0)
        threads = machine.num_processors;
    table_t *table = table_new(columns, sizeof columns / sizeof columns[0]);
    json_t *peaks = json_array();
    status = measure(s, threads, table, peaks);
    if (status == CLI_OK && !write_all(s, &machine, threads, table, peaks))
        status = message_fail(CLI_NO_MEMORY, "no memory for the report");
    json_decref(peaks);
    table_free(table);
    return status;
}
