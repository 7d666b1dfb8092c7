/* peer_table.c - the rows of peer_table.h. */
#include "bench/peer_table.h"

#define COUNT(x) (sizeof(x) / sizeof *(x))

static const peer_routine_t cblas[] = {
    {TCGEMM_F32_F32, CALL_FLOAT, "cblas_sgemm", "sgemm"},
    {TCGEMM_F64_F64, CALL_DOUBLE, "cblas_dgemm", "dgemm"},
};

static const peer_routine_t openblas[] = {
    {TCGEMM_F32_F32, CALL_FLOAT, "cblas_sgemm", "sgemm"},
    {TCGEMM_F64_F64, CALL_DOUBLE, "cblas_dgemm", "dgemm"},
    {TCGEMM_BF16_F32, CALL_FLOAT, "cblas_sbgemm", "sbgemm"},
    {TCGEMM_F16_F32, CALL_FLOAT, "cblas_shgemm", "shgemm"},
};

/* The first factor of gemm_s8u8s32 is signed and the second not, read by columns; by rows it is the
 * other way round. */
static const peer_routine_t mkl[] = {
    {TCGEMM_F32_F32, CALL_FLOAT, "cblas_sgemm", "sgemm"},
    {TCGEMM_F64_F64, CALL_DOUBLE, "cblas_dgemm", "dgemm"},
    {TCGEMM_BF16_F32, CALL_FLOAT, "cblas_gemm_bf16bf16f32", "gemm_bf16bf16f32"},
    {TCGEMM_F16_F32, CALL_FLOAT, "cblas_gemm_f16f16f32", "gemm_f16f16f32"},
    {TCGEMM_F16_F16, CALL_HALF, "cblas_hgemm", "hgemm"},
    {TCGEMM_U8S8_S32, CALL_OFFSETS, "cblas_gemm_s8u8s32", "gemm_s8u8s32"},
    {TCGEMM_S8U8_S32, CALL_OFFSETS, "cblas_gemm_s8u8s32", "gemm_s8u8s32"},
    {TCGEMM_E4M3_F32, CALL_FLOAT, "cblas_gemm_e4m3e4m3f32", "gemm_e4m3e4m3f32"},
    {TCGEMM_E5M2_F32, CALL_FLOAT, "cblas_gemm_e5m2e5m2f32", "gemm_e5m2e5m2f32"},
};

static const peer_routine_t onednn[] = {
    {TCGEMM_F32_F32, CALL_DNNL_MATMUL, "dnnl_primitive_execute", "matmul f32"},
    {TCGEMM_F32_F32, CALL_DNNL, "dnnl_sgemm", "sgemm"},
    {TCGEMM_F64_F64, CALL_DNNL_MATMUL, "dnnl_primitive_execute", "matmul f64"},
    {TCGEMM_BF16_F32, CALL_DNNL_MATMUL, "dnnl_primitive_execute", "matmul bf16"},
    {TCGEMM_BF16_BF16, CALL_DNNL_MATMUL, "dnnl_primitive_execute", "matmul bf16"},
    {TCGEMM_F16_F32, CALL_DNNL_MATMUL, "dnnl_primitive_execute", "matmul f16"},
    {TCGEMM_F16_F16, CALL_DNNL_MATMUL, "dnnl_primitive_execute", "matmul f16"},
    {TCGEMM_S8_S32, CALL_DNNL_MATMUL, "dnnl_primitive_execute", "matmul s8"},
    {TCGEMM_S8_S32, CALL_DNNL_BYTES, "dnnl_gemm_s8s8s32", "gemm_s8s8s32"},
    {TCGEMM_U8S8_S32, CALL_DNNL_MATMUL, "dnnl_primitive_execute", "matmul u8s8"},
    {TCGEMM_U8S8_S32, CALL_DNNL_BYTES, "dnnl_gemm_u8s8s32", "gemm_u8s8s32"},
    {TCGEMM_E4M3_F32, CALL_DNNL_MATMUL, "dnnl_primitive_execute", "matmul e4m3"},
    {TCGEMM_E5M2_F32, CALL_DNNL_MATMUL, "dnnl_primitive_execute", "matmul e5m2"},
};

const peer_library_t peer_libraries[] = {
    {
        .name = "openblas",
        .files = {"libopenblas.so.0", "libopenblas.so"},
        .package = "Debian: libopenblas0-pthread",
        .mark = "openblas_get_config",
        .prefix = "",
        .suffix = "",
        .set_threads = "openblas_set_num_threads",
        .version = "openblas_get_config",
        .routines = openblas,
        .num_routines = COUNT(openblas),
    },
    {
        .name = "scipy-openblas",
        .files = {"libscipy_openblas.so"},
        .package = "PyPI: scipy-openblas32",
        .mark = "scipy_openblas_get_config",
        .prefix = "scipy_",
        .suffix = "",
        .set_threads = "openblas_set_num_threads",
        .version = "openblas_get_config",
        .routines = openblas,
        .num_routines = COUNT(openblas),
    },
    {
        .name = "scipy-openblas64",
        .files = {"libscipy_openblas64_.so"},
        .package = "PyPI: scipy-openblas64",
        .mark = "scipy_openblas_get_config64_",
        .prefix = "scipy_",
        .suffix = "64_",
        .long_sizes = true,
        .set_threads = "openblas_set_num_threads",
        .version = "openblas_get_config",
        .routines = openblas,
        .num_routines = COUNT(openblas),
    },
    {
        .name = "blis",
        .files = {"libblis.so.4", "libblis.so"},
        .package = "Debian: libblis4-pthread",
        .mark = "bli_info_get_version_str",
        .prefix = "",
        .suffix = "",
        .set_threads = "bli_thread_set_num_threads",
        .threads = THREADS_LONG,
        .version = "bli_info_get_version_str",
        .routines = cblas,
        .num_routines = COUNT(cblas),
    },
    {
        .name = "onednn",
        .files = {"libdnnl.so.3", "libdnnl.so.2", "libdnnl.so"},
        .package = "Debian: libdnnl2",
        .mark = "dnnl_version",
        .prefix = "",
        .suffix = "",
        .set_threads = "omp_set_num_threads",
        .version = "dnnl_version",
        .version_kind = VERSION_DNNL,
        .routines = onednn,
        .num_routines = COUNT(onednn),
    },
    {
        .name = "mkl",
        .files = {"libmkl_rt.so.3", "libmkl_rt.so.2", "libmkl_rt.so"},
        .package = "PyPI: mkl",
        .mark = "MKL_Get_Version_String",
        .prefix = "",
        .suffix = "",
        .set_threads = "MKL_Set_Num_Threads",
        .version = "MKL_Get_Version_String",
        .version_kind = VERSION_BUFFER,
        .routines = mkl,
        .num_routines = COUNT(mkl),
    },
    {
        .mark = "cblas_sgemm",
        .prefix = "",
        .suffix = "",
        .set_threads = "omp_set_num_threads",
        .version_kind = VERSION_NONE,
        .routines = cblas,
        .num_routines = COUNT(cblas),
    },
};

const size_t num_peer_libraries = COUNT(peer_libraries);
