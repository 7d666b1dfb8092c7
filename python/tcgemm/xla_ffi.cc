// xla_ffi.cc - tcgemm as a custom call of XLA, compiled by tcgemm/jax.py against the headers of the JAX that is
// installed: they alone know how that version passes arguments (docs/decisions/0017).
//
// It holds no product of its own: tcgemm_ffi_connect gets the address of the one in tcgemm._core.
#include <cstdint>
#include <string>
#include <string_view>

#include "ffi_call.h"
#include "xla/ffi/api/ffi.h"

namespace ffi = xla::ffi;

static tcpy_ffi_multiply_t *multiply;

extern "C" __attribute__((visibility("default"))) void tcgemm_ffi_connect(void *address) {
    multiply = reinterpret_cast<tcpy_ffi_multiply_t *>(address);
}

// a, b and perhaps c.
static ffi::Error run(ffi::RemainingArgs &inputs, ffi::Result<ffi::AnyBuffer> &d, std::string_view type, double alpha,
                      double beta, bool trans_a, bool trans_b, int32_t device, void *stream) {
    const std::string name(type);
    ffi::AnyBuffer::Dimensions dims[3];
    const void *data[3] = {};
    if (inputs.size() < 2 || inputs.size() > 3)
        return ffi::Error::InvalidArgument("tcgemm takes a, b and perhaps c");
    for (size_t i = 0; i < inputs.size(); ++i) {
        auto buffer = inputs.get<ffi::AnyBuffer>(i);
        if (!buffer)
            return buffer.error();
        dims[i] = buffer->dimensions();
        data[i] = buffer->untyped_data();
        if (dims[i].size() != dims[0].size() || dims[i].size() < 2)
            return ffi::Error::InvalidArgument("tcgemm takes matrices, or batches with as many axes each");
    }
    tcpy_ffi_call_t call = {};
    call.version = TCPY_FFI_VERSION;
    call.device = device;
    call.type = name.c_str();
    call.rank = static_cast<int64_t>(dims[0].size());
    call.a_dims = dims[0].begin();
    call.b_dims = dims[1].begin();
    call.c_dims = inputs.size() == 3 ? dims[2].begin() : nullptr;
    call.a = data[0];
    call.b = data[1];
    call.c = data[2];
    call.d = d->untyped_data();
    call.alpha = alpha;
    call.beta = beta;
    call.trans_a = trans_a;
    call.trans_b = trans_b;
    call.stream = stream;
    if (!multiply)
        return ffi::Error::Internal("tcgemm is not connected");
    const char *const failed = multiply(&call);
    return failed ? ffi::Error::InvalidArgument(failed) : ffi::Error::Success();
}

static ffi::Error on_host(ffi::RemainingArgs inputs, ffi::Result<ffi::AnyBuffer> d, std::string_view type, double alpha,
                          double beta, bool trans_a, bool trans_b) {
    return run(inputs, d, type, alpha, beta, trans_a, trans_b, TCPY_FFI_HOST, nullptr);
}

static ffi::Error on_gpu(void *stream, int32_t device, ffi::RemainingArgs inputs, ffi::Result<ffi::AnyBuffer> d,
                         std::string_view type, double alpha, double beta, bool trans_a, bool trans_b) {
    return run(inputs, d, type, alpha, beta, trans_a, trans_b, device, stream);
}

XLA_FFI_DEFINE_HANDLER_SYMBOL(tcgemm_ffi_on_host, on_host,
                              ffi::Ffi::Bind()
                                  .RemainingArgs()
                                  .Ret<ffi::AnyBuffer>()
                                  .Attr<std::string_view>("type")
                                  .Attr<double>("alpha")
                                  .Attr<double>("beta")
                                  .Attr<bool>("trans_a")
                                  .Attr<bool>("trans_b"));

XLA_FFI_DEFINE_HANDLER_SYMBOL(tcgemm_ffi_on_gpu, on_gpu,
                              ffi::Ffi::Bind()
                                  .Ctx<ffi::PlatformStream<void *>>()
                                  .Ctx<ffi::DeviceOrdinal>()
                                  .RemainingArgs()
                                  .Ret<ffi::AnyBuffer>()
                                  .Attr<std::string_view>("type")
                                  .Attr<double>("alpha")
                                  .Attr<double>("beta")
                                  .Attr<bool>("trans_a")
                                  .Attr<bool>("trans_b"));
