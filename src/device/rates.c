/* rates.c - theoretical rates of NVIDIA GPUs: units x multiply-adds per clock.
 *
 * Figures of the vendor's architecture papers; where a paper has none, that of the neighbouring
 * type is scaled (sm_87's tf32, f64, s4 and b1; b1 of sm_75, 86, 89, 90).
 */
#include "device/facts.h"

#include "device/arch_smem.h"

static const struct {
    int cc;
    size_t smem; /* per block */
    double macs[TCGEMM_NUM_RATES];
} architectures[] = {
    /*                f16   bf16  tf32   fp8    s8    s4     b1  f64  f32 */
    {70, TCGEMM_SMEM_OF_CC(70), {512, 0, 0, 0, 0, 0, 0, 32, 64}},
    {75, TCGEMM_SMEM_OF_CC(75), {512, 0, 0, 0, 1024, 2048, 8192, 2, 64}},
    {80, TCGEMM_SMEM_OF_CC(80), {1024, 1024, 512, 0, 2048, 4096, 16384, 64, 64}},
    {86, TCGEMM_SMEM_OF_CC(86), {512, 512, 256, 0, 1024, 2048, 8192, 2, 128}},
    {87, TCGEMM_SMEM_OF_CC(87), {1024, 1024, 512, 0, 2048, 4096, 16384, 64, 128}},
    {89, TCGEMM_SMEM_OF_CC(89), {512, 512, 256, 1024, 1024, 2048, 8192, 2, 128}},
    {90, TCGEMM_SMEM_OF_CC(90), {2048, 2048, 1024, 4096, 4096, 0, 32768, 128, 128}},
    {100, TCGEMM_SMEM_OF_CC(100), {4096, 4096, 2048, 8192, 8192, 0, 0, 64, 128}},
    {103, TCGEMM_SMEM_OF_CC(103), {4096, 4096, 2048, 8192, 256, 0, 0, 1, 128}},
    {120, TCGEMM_SMEM_OF_CC(120), {512, 512, 256, 1024, 1024, 0, 0, 2, 128}},
};

/* The newest architecture that is not newer than the device's. */
static int find(int cc) {
    int found = (int)(sizeof architectures / sizeof architectures[0]) - 1;
    while (found > 0 && architectures[found].cc > cc)
        --found;
    return found;
}

tcgemm_rate_t tcgemm_rate_of(tcgemm_type_t type) {
    static const tcgemm_rate_t rates[] = {
#define TYPE(ID, name, a, b, accumulator, d, scalar, rate, cpu, bound, along, across, store)       \
    [TCGEMM_##ID] = TCGEMM_RATE_##rate,
#include "base/types.def"
    };
    return rates[type];
}

double tcgemm_device_macs(const tcgemm_device_t *device, tcgemm_type_t type) {
    const tcgemm_rate_t rate = tcgemm_rate_of(type);
    const double macs = architectures[find(device->cc)].macs[rate];
    return device->half_rate_f32 && rate <= TCGEMM_RATE_FP8 ? macs / 2 : macs;
}

double tcgemm_device_peak(const tcgemm_device_t *device, tcgemm_type_t type) {
    return 2.0 * tcgemm_device_macs(device, type) * device->num_sms * device->clock_hz;
}

size_t tcgemm_smem_of_cc(int cc) {
    return architectures[find(cc)].smem;
}
