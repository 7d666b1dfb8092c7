/* stg.cuh - the host model of src/gpu/ptx/stg.cuh: stores like any other. */
#ifndef TCGEMM_PTX_STG_CUH
#define TCGEMM_PTX_STG_CUH

template <int BYTES>
static __forceinline__ void tcgemm_stg(void *to, const uint32_t (&words)[BYTES / 4]) {
    if constexpr (BYTES == 16)
        *(uint4 *)to = make_uint4(words[0], words[1], words[2], words[3]);
    else
        *(uint2 *)to = make_uint2(words[0], words[1]);
}

#endif
