/* shared.cuh - the host model of src/gpu/ptx/shared.cuh. */
#ifndef TCGEMM_PTX_SHARED_CUH
#define TCGEMM_PTX_SHARED_CUH

#define TCGEMM_SHARED_ARRAY(type, name, count)                                                     \
    type *const name = (type *)tcgemm_emulate_static_shared(sizeof(type) * (count))

#endif
