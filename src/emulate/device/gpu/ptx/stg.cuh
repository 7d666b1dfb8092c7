/* stg.cuh - the host model of src/gpu/ptx/stg.cuh: stores like any other. */
#ifndef TCGEMM_PTX_STG_CUH
#define TCGEMM_PTX_STG_CUH

template <int BYTES>
static __forceinline__ void tcgemm_stg(void *to, const uint32_t (&words)[BYTES / 4]) {
    if constexpr (BYTES == 16)
        *(uint4 *)to = make_uint4(words[0], words[1], words[2], words[3]);
    else if constexpr (BYTES == 8)
        *(uint2 *)to = make_uint2(words[0], words[1]);
    else
        *(uint32_t *)to = words[0];
}

template <class Piece> static __forceinline__ void tcgemm_stg_piece(void *to, const Piece &piece) {
    uint32_t words[sizeof(Piece) / 4];
    memcpy(words, &piece, sizeof words);
    tcgemm_stg<sizeof(Piece)>(to, words);
}

#endif
