/* words.cuh - elements on their way into registers and out of them: words of four bytes, whatever
 * they hold. */
#ifndef TCGEMM_GPU_WORDS_CUH
#define TCGEMM_GPU_WORDS_CUH

#include <stdint.h>
#include <string.h>

#include "gpu/ptx/stg.cuh"

/* BYTES bytes, aligned to as much (more than 16: to 16), into as many words; fewer than four go
 * into the low end of one. */
template <int BYTES>
static __device__ __forceinline__ void tcgemm_load_words(uint32_t *to, const char *from) {
    if constexpr (BYTES > 16) {
        tcgemm_load_words<16>(to, from);
        tcgemm_load_words<BYTES - 16>(to + 4, from + 16);
    } else if constexpr (BYTES == 16) {
        const uint4 v = *(const uint4 *)from;
        to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
    } else if constexpr (BYTES == 8) {
        const uint2 v = *(const uint2 *)from;
        to[0] = v.x, to[1] = v.y;
    } else if constexpr (BYTES == 4) {
        to[0] = *(const uint32_t *)from;
    } else if constexpr (BYTES == 2) {
        to[0] = *(const uint16_t *)from;
    } else {
        to[0] = *(const uint8_t *)from;
    }
}

/* Elements that lie side by side, 8 or 16 bytes, to global memory in one store that stays one. */
template <class Piece>
static __device__ __forceinline__ void tcgemm_store_piece(void *to, const Piece &piece) {
    uint32_t words[sizeof(Piece) / 4];
    memcpy(words, &piece, sizeof words);
    tcgemm_stg<sizeof(Piece)>(to, words);
}

/* Puts an element into its place in an array of words that was zeroed. */
template <int BYTES>
static __device__ __forceinline__ void tcgemm_put_element(uint32_t *words, int byte,
                                                          const char *from) {
    if constexpr (BYTES == 8)
        tcgemm_load_words<8>(words + byte / 4, from);
    else if constexpr (BYTES == 4)
        words[byte / 4] = *(const uint32_t *)from;
    else if constexpr (BYTES == 2)
        words[byte / 4] |= (uint32_t) * (const uint16_t *)from << byte % 4 * 8;
    else
        words[byte / 4] |= (uint32_t) * (const uint8_t *)from << byte % 4 * 8;
}

/* Four bytes of four rows, turned round: to[i] holds byte i of each. */
static __device__ __forceinline__ void tcgemm_turn_bytes(uint32_t to[4], uint32_t r0, uint32_t r1,
                                                         uint32_t r2, uint32_t r3) {
    const uint32_t low01 = __byte_perm(r0, r1, 0x5140), low23 = __byte_perm(r2, r3, 0x5140);
    const uint32_t high01 = __byte_perm(r0, r1, 0x7362), high23 = __byte_perm(r2, r3, 0x7362);
    to[0] = __byte_perm(low01, low23, 0x5410);
    to[1] = __byte_perm(low01, low23, 0x7632);
    to[2] = __byte_perm(high01, high23, 0x5410);
    to[3] = __byte_perm(high01, high23, 0x7632);
}

/* Two halves of a word of four rows likewise. */
static __device__ __forceinline__ void tcgemm_turn_halves(uint2 to[2], uint32_t r0, uint32_t r1,
                                                          uint32_t r2, uint32_t r3) {
    to[0] = make_uint2(__byte_perm(r0, r1, 0x5410), __byte_perm(r2, r3, 0x5410));
    to[1] = make_uint2(__byte_perm(r0, r1, 0x7632), __byte_perm(r2, r3, 0x7632));
}

#endif
