// SPDX-License-Identifier: Apache-2.0
/* text_buffer.h: builds a text piece by piece.
 *
 * The functions that add text do not return errors: if memory runs out or the limit is reached,
 * they drop the rest and set a flag. Check the flags at the end. A buffer starts as {0}. */
#ifndef PROF_TEXT_BUFFER_H
#define PROF_TEXT_BUFFER_H

#include "base.h"

typedef struct {
    char *text; /* ends in a NUL byte; NULL until something is added */
    size_t n_bytes, capacity;
    size_t limit;   /* most bytes to hold; 0: no limit */
    bool cut;       /* the limit was reached and text was dropped */
    bool no_memory; /* memory ran out and text was dropped */
} TextBuffer;

/* Append bytes, a text that ends in a NUL byte, one byte, or a decimal number. */
void text_add_bytes(TextBuffer *out, const char *bytes, size_t n_bytes);
void text_add(TextBuffer *out, const char *text);
void text_add_char(TextBuffer *out, char c);
void text_add_integer(TextBuffer *out, int64_t value);
/* Appends a printf text, cut after 399 bytes. */
void text_add_format(TextBuffer *out, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Like snprintf, for numbers: prints a decimal point in every locale, by turning each comma of the
 * result into a point. Unlike SQLite's printf, it rounds ties to even as the C library does. */
int print_real(char *room, size_t n_bytes, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Appends a number like printf's %.*g, with a decimal point in every locale. */
void text_add_real(TextBuffer *out, double value, int digits);
/* Appends bytes with C escapes: \" \' \\ \n \r \t, and octal for all else that is not printable
 * ASCII. */
void text_add_escaped(TextBuffer *out, const char *bytes, size_t n_bytes);

/* Empties the buffer and clears its flags. Keeps its memory. */
static inline void text_clear(TextBuffer *out)
{
    out->n_bytes = 0, out->cut = out->no_memory = false;
}
/* Frees the text. The buffer is empty, with the same limit, and can be reused. */
void text_free(TextBuffer *out);

#endif
