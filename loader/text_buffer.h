// SPDX-License-Identifier: Apache-2.0
/* text_buffer.h: text that is put together piece by piece.
 *
 * Adding never fails visibly: when memory ends or the limit is reached the rest is dropped and the buffer says so. */
#ifndef PROF_TEXT_BUFFER_H
#define PROF_TEXT_BUFFER_H

#include "base.h"

typedef struct {
    char *text; /* with a NUL behind it; NULL until something was added */
    size_t n_bytes, capacity;
    size_t limit;   /* the most bytes to hold, 0: no limit */
    bool cut;       /* the limit was reached */
    bool no_memory; /* memory ended: the text is not whole */
} TextBuffer;

void text_add_bytes(TextBuffer *out, const char *bytes, size_t n_bytes);
void text_add(TextBuffer *out, const char *text);
void text_add_char(TextBuffer *out, char c);
void text_add_integer(TextBuffer *out, int64_t value);
void text_add_format(TextBuffer *out, const char *format, ...) __attribute__((format(printf, 2, 3))); /* up to 400 bytes */
/* snprintf of numbers with a decimal point whatever the program's locale has. SQLite's own printf rounds ties in another way. */
int print_real(char *room, size_t n_bytes, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* As printf's %.*g, with a decimal point whatever the program's locale has. */
void text_add_real(TextBuffer *out, double value, int digits);
/* C escapes: \" \' \\ \n \r \t, and octal for what is not printable ASCII. */
void text_add_escaped(TextBuffer *out, const char *bytes, size_t n_bytes);

/* Empties it; keeps its memory. */
static inline void text_clear(TextBuffer *out) { out->n_bytes = 0, out->cut = out->no_memory = false; }
void text_free(TextBuffer *out);

#endif
