/* device.c - theoretical rates of NVIDIA GPUs: units x multiply-adds per clock.
 *
 * Figures of the vendor's architecture papers; where a paper has none, that of the neighbouring
 * type is scaled (sm_87's tf32, f64, s4 and b1; b1 of sm_75, 86, 89, 90).
 */
#include "device/facts.h"

static const struct {
    int cc;
    size_t smem; /* per block */
    double macs[TCGEMM_NUM_RATES];
} architectures[] = {
    /*                f16   bf16  tf32   fp8    s8    s4     b1  f64  f32 */
    {70, 96 << 10, {512, 0, 0, 0, 0, 0, 0, 32, 64}},
    {75, 64 << 10, {512, 0, 0, 0, 1024, 2048, 8192, 2, 64}},
    {80, 163 << 10, {1024, 1024, 512, 0, 2048, 4096, 16384, 64, 64}},
    {86, 99 << 10, {512, 512, 256, 0, 1024, 2048, 8192, 2, 128}},
    {87, 163 << 10, {1024, 1024, 512, 0, 2048, 4096, 16384, 64, 128}},
    {89, 99 << 10, {512, 512, 256, 1024, 1024, 2048, 8192, 2, 128}},
    {90, 227 << 10, {2048, 2048, 1024, 4096, 4096, 0, 32768, 128, 128}},
    {100, 227 << 10, {4096, 4096, 2048, 8192, 8192, 0, 0, 64, 128}},
    {103, 227 << 10, {4096, 4096, 2048, 8192, 256, 0, 0, 1, 128}},
    {120, 99 << 10, {512, 512, 256, 1024, 1024, 0, 0, 2, 128}},
};

/* The newest architecture that is not newer than the device's. */
static int find(int cc) {
    int found = 0;
    for (int i = 0; i < (int)(sizeof architectures / sizeof architectures[0]); ++i)
        if (architectures[i].cc <= cc)
            found = i;
    return found;
}

tcgemm_rate_t tcgemm_rate_of(tcgemm_type_t type) {
    switch (type) {
    case TCGEMM_F16_F32:
    case TCGEMM_F16_F16:
        return TCGEMM_RATE_F16;
    case TCGEMM_BF16_F32:
    case TCGEMM_BF16_BF16:
        return TCGEMM_RATE_BF16;
    case TCGEMM_TF32_F32:
        return TCGEMM_RATE_TF32;
    case TCGEMM_E4M3_F32:
    case TCGEMM_E5M2_F32:
    case TCGEMM_E4M3_BF16:
    case TCGEMM_E5M2_BF16:
        return TCGEMM_RATE_FP8;
    case TCGEMM_S8_S32:
    case TCGEMM_U8_S32:
    case TCGEMM_U8S8_S32:
    case TCGEMM_S8U8_S32:
        return TCGEMM_RATE_S8;
    case TCGEMM_S4_S32:
    case TCGEMM_U4_S32:
        return TCGEMM_RATE_S4;
    case TCGEMM_B1_S32:
        return TCGEMM_RATE_B1;
    case TCGEMM_F64_F64:
        return TCGEMM_RATE_F64;
    case TCGEMM_F32_F32:
    default:
        return TCGEMM_RATE_F32;
    }
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
