/* units.h - numbers as people read them. Each writes into `text` and returns it. */
#ifndef CLI_UNITS_H
#define CLI_UNITS_H

enum { UNITS_SIZE = 64 };

/* 12345678 -> "12 345 678"; from 1e18 on "1.235e+20". */
const char *units_grouped(double number, char text[UNITS_SIZE]);

/* "1.234 s", "1.234 ms", "1.2 us"; below that "12.3 ns". */
const char *units_seconds(double seconds, char text[UNITS_SIZE]);

/* "512 bytes", "144.0 KiB", "1.5 GiB". */
const char *units_bytes(double bytes, char text[UNITS_SIZE]);

/* "85.2 TOP/s", "1.24 GFLOP/s", "512 FLOP/s": operations a second of integers or of floats. */
const char *units_rate(double rate, int is_integer, char text[UNITS_SIZE]);

#endif
