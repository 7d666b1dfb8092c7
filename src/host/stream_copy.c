/* stream_copy.c - see stream_copy.h. */
#include "host/stream_copy.h"

#include <string.h>

#if defined(__x86_64__)
#include <emmintrin.h>
#include <stdint.h>

enum { LINE = 64 /* bytes of a cache line: the stores of a whole one leave together */ };

void tcgemm_stream_copy(void *restrict to, const void *restrict from, size_t bytes) {
    char *t = to;
    const char *f = from;
    const size_t ahead = (LINE - (uintptr_t)t % LINE) % LINE;
    const size_t head = ahead < bytes ? ahead : bytes;
    memcpy(t, f, head);
    t += head;
    f += head;
    bytes -= head;
    for (; bytes >= LINE; bytes -= LINE, t += LINE, f += LINE)
        for (int i = 0; i < LINE; i += (int)sizeof(__m128i))
            _mm_stream_si128((__m128i *)(void *)(t + i),
                             _mm_loadu_si128((const __m128i *)(const void *)(f + i)));
    _mm_sfence();
    memcpy(t, f, bytes);
}
#else
void tcgemm_stream_copy(void *restrict to, const void *restrict from, size_t bytes) {
    memcpy(to, from, bytes);
}
#endif
