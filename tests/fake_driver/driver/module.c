/* module.c - modules, functions and launches.
 *
 * An image is a line of text, written by images.c.in: "fake image of <module>, arch <n>, ptx <0|1>,
 * only <0|1>". It loads where the real driver would load it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake_driver/driver/kernel_args.h"
#include "fake_driver/driver/run_kernel.h"
#include "fake_driver/driver/state.h"

enum { DEFAULT_SMEM = 48 << 10, MAX_NAME = 192, MAX_RANKS = 8 };

struct CUmod_st {
    char name[64];
    int arch;
    CUcontext context;
    bool is_live;
    CUmodule next;
};

struct CUfunc_st {
    char name[MAX_NAME];
    kernel_t kernel;
    CUmodule module;
    size_t smem_limit;
    CUfunction next;
};

struct fake_launch {
    CUfunction function;
    unsigned grid, threads;
    size_t smem;
    kernel_params_t params;
};

static CUmodule modules;
static CUfunction functions;

int fake_count_modules(void) {
    int count = 0;
    for (CUmodule module = modules; module; module = module->next)
        count += module->is_live;
    return count;
}

/* ---- modules ---- */

static CUresult can_load(const fake_gpu_t *gpu, int arch, int is_ptx, int only) {
    const bool runs = is_ptx ? arch <= gpu->cc : arch / 10 == gpu->cc / 10 && arch <= gpu->cc;
    return runs && (!only || arch == gpu->cc) ? CUDA_SUCCESS : CUDA_ERROR_NO_BINARY_FOR_GPU;
}

CUresult cuModuleLoadData(CUmodule *module, const void *image) {
    FAKE_CALL(FAKE_NEEDS_CONTEXT);
    char name[64];
    int arch;
    int is_ptx;
    int only;
    /* NOLINTNEXTLINE(cert-err34-c) */
    if (sscanf(image, "fake image of %63[^,], arch %d, ptx %d, only %d", name, &arch, &is_ptx,
               &only) != 4)
        return CUDA_ERROR_INVALID_IMAGE;
    const CUresult result = can_load(&fake_current()->facts, arch, is_ptx, only);
    if (result != CUDA_SUCCESS)
        return result;
    CUmodule made = calloc(1, sizeof *made);
    if (!made)
        return CUDA_ERROR_OUT_OF_MEMORY;
    memcpy(made->name, name, sizeof name);
    made->arch = arch;
    made->context = fake_current();
    made->is_live = true;
    made->next = modules;
    modules = made;
    *module = made;
    return CUDA_SUCCESS;
}

CUresult cuModuleUnload(CUmodule module) {
    FAKE_CALL(FAKE_NEEDS_CONTEXT);
    module->is_live = false;
    return CUDA_SUCCESS;
}

CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name) {
    FAKE_CALL(FAKE_NEEDS_CONTEXT);
    kernel_t kernel;
    if (!module || !module->is_live || module->context != fake_current())
        return CUDA_ERROR_INVALID_HANDLE;
    if (strlen(name) >= MAX_NAME || !kernel_of_name(name, &kernel) ||
        strcmp(kernel.module, module->name) != 0 || kernel.min_cc > module->arch)
        return CUDA_ERROR_NOT_FOUND;
    for (*function = functions; *function; *function = (*function)->next)
        if ((*function)->module == module && strcmp((*function)->name, name) == 0)
            return CUDA_SUCCESS;
    CUfunction made = calloc(1, sizeof *made);
    if (!made)
        return CUDA_ERROR_OUT_OF_MEMORY;
    (void)snprintf(made->name, sizeof made->name, "%s", name);
    made->kernel = kernel;
    made->module = module;
    made->smem_limit = DEFAULT_SMEM;
    made->next = functions;
    *function = functions = made;
    return CUDA_SUCCESS;
}

/* ---- functions ---- */

static int registers_of(CUfunction function) {
    return function->kernel.registers;
}

CUresult cuFuncGetAttribute(int *value, CUfunction_attribute which, CUfunction function) {
    FAKE_CALL(FAKE_NEEDS_CONTEXT);
    *value = which == CU_FUNC_ATTRIBUTE_NUM_REGS ? registers_of(function) : 0;
    return CUDA_SUCCESS;
}

CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute which, int value) {
    FAKE_CALL(FAKE_NEEDS_CONTEXT);
    if (which != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES || value < 0 ||
        (size_t)value > fake_current()->facts.smem_block_bytes)
        return CUDA_ERROR_INVALID_VALUE;
    function->smem_limit = (size_t)value;
    return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction function, int threads,
                                                     size_t smem) {
    FAKE_CALL(FAKE_NEEDS_CONTEXT);
    const fake_gpu_t *gpu = &fake_current()->facts;
    const int by_threads = (gpu->cc == 75 ? 1024 : 2048) / threads;
    const int by_registers = 65536 / (registers_of(function) * threads);
    const int by_smem = smem ? (int)(gpu->smem_block_bytes / smem) : 32;
    *blocks = by_threads < by_registers ? by_threads : by_registers;
    *blocks = by_smem < *blocks ? by_smem : *blocks;
    if (smem > function->smem_limit)
        *blocks = 0;
    return CUDA_SUCCESS;
}

/* ---- launches ---- */

/* However it is asked for. */
static CUresult launch(CUfunction function, unsigned grid, unsigned ranks, unsigned threads,
                       unsigned smem, CUstream handle, void **params) {
    FAKE_CALL_AS("cuLaunchKernel", FAKE_NEEDS_CONTEXT);
    CUstream stream = fake_stream(handle);
    if (!stream || !function || function->module->context != fake_current())
        return CUDA_ERROR_INVALID_HANDLE;
    if (grid == 0 || grid > INT32_MAX || ranks == 0 || ranks > MAX_RANKS || grid % ranks != 0 ||
        threads == 0 || threads > 1024 || smem > function->smem_limit)
        return CUDA_ERROR_INVALID_VALUE;
    struct fake_launch *const launch = calloc(1, sizeof *launch);
    if (!launch)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *launch =
        (struct fake_launch){.function = function, .grid = grid, .threads = threads, .smem = smem};
    kernel_take_params(&function->kernel, params, &launch->params);
    const char *fault =
        kernel_fault(&function->kernel, &launch->params, grid, ranks, threads, smem);
    if (fault)
        fake_complain("%s: %s", function->name, fault);
    fake_queue_kernel(stream, launch);
    return CUDA_SUCCESS;
}

CUresult cuLaunchKernel(CUfunction function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                        unsigned by, unsigned bz, unsigned smem, CUstream stream, void **params,
                        void **extra) {
    if (gy != 1 || gz != 1 || by != 1 || bz != 1 || extra)
        return CUDA_ERROR_INVALID_VALUE;
    return launch(function, gx, 1, bx, smem, stream, params);
}

/* Launches run one after the other here, so that one which may begin early is like any other, if
 * its kernel waits; and blocks of a cluster are like any others, if the kernel knows clusters of so
 * many. */
CUresult cuLaunchKernelEx(const CUlaunchConfig *x, CUfunction function, void **params,
                          void **extra) {
    unsigned ranks = 1;
    for (unsigned i = 0; i < x->numAttrs; ++i) {
        const CUlaunchAttribute *a = &x->attrs[i];
        if (a->id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION && a->value.clusterDim.y == 1 &&
            a->value.clusterDim.z == 1)
            ranks = a->value.clusterDim.x;
        else if (a->id != CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION)
            return CUDA_ERROR_INVALID_VALUE;
        else if (function && function->kernel.row && !function->kernel.row->waits)
            fake_complain("%s: may begin early and does not wait", function->name);
    }
    if (x->gridDimY != 1 || x->gridDimZ != 1 || x->blockDimY != 1 || x->blockDimZ != 1 || extra)
        return CUDA_ERROR_INVALID_VALUE;
    return launch(function, x->gridDimX, ranks, x->blockDimX, x->sharedMemBytes, x->hStream,
                  params);
}

/* The addresses of the operands become those where their bytes are. False if one is not there. */
static bool reach_operands(CUcontext context, struct fake_launch *launch) {
    kernel_operand_t operands[4];
    const int count = kernel_operands(&launch->function->kernel, &launch->params, operands);
    for (int i = 0; i < count; ++i) {
        const uintptr_t address = (uintptr_t)*operands[i].pointer;
        if (!fake_is_on_device(address) && !fake_is_pinned(address)) {
            fake_complain("%s: %s is no memory of the GPU", launch->function->name,
                          operands[i].name);
            return false;
        }
        void *const data = fake_resolve(context, address, operands[i].bytes, operands[i].name);
        if (!data)
            return false;
        memcpy(operands[i].pointer, &data, sizeof data);
    }
    return true;
}

static double seconds_of(const struct fake_launch *launch) {
    const tcgemm_gpu_args_t *x = &launch->params.product;
    switch (launch->function->kernel.kind) {
    case KERNEL_PEAK:
        return 1e-6 * (double)launch->params.peak.steps;
    case KERNEL_SCALE:
        return 1e-6;
    default:
        return 1e-6 + 1e-12 * (double)x->m * (double)x->n * (double)x->k * (double)x->batch;
    }
}

double fake_run_launch(CUcontext context, struct fake_launch *launch) {
    CUresult fault;
    double seconds = 0.0;
    if (context->lost != CUDA_SUCCESS) {
        free(launch);
        return 0.0;
    }
    if (fake_kernel_faults(&fault)) {
        context->lost = fault;
    } else if (reach_operands(context, launch)) {
        seconds = seconds_of(launch);
        run_kernel(launch->function->name, &launch->params, launch->grid, launch->threads,
                   launch->smem);
    } else {
        context->lost = CUDA_ERROR_ILLEGAL_ADDRESS;
    }
    free(launch);
    return seconds;
}
