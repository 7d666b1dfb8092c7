/* stream.h - how fast this machine reads and writes its memory. */
#ifndef CLI_STREAM_H
#define CLI_STREAM_H

/* Bytes a second of a[i] = b[i] + s * c[i] (the triad of STREAM: two words read, one written) on
 * arrays well beyond the last cache of `cache_bytes`; the best of some passes. 0 without memory or
 * threads. Takes about a second. */
double stream_bandwidth(int num_threads, double cache_bytes);

#endif
