// SPDX-License-Identifier: Apache-2.0
/* text.h: UTF-8 of unknown origin, for terminals and files. */
#ifndef COMMAND_TEXT_H
#define COMMAND_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NOT_UTF8 UINT32_MAX

/* Returns the length in bytes of the character at s, of which n > 0 bytes are there. If the bytes
 * are not UTF-8, *character is NOT_UTF8 and the length 1. */
size_t text_decode(const char *s, size_t n, uint32_t *character);

/* Returns a copy that a terminal shows as one line: control characters, and bytes that are not
 * UTF-8, are escaped as \n, \x1b or \u0085. With `lines`, line ends stay. The caller frees it. */
char *text_clean(const char *s, size_t n, bool lines);

/* Returns the columns that a clean text takes on a terminal. */
int text_width(const char *clean);

/* Returns a copy of a clean text that takes at most `width` columns. Template arguments and
 * parameters of C++ functions are removed first, then the middle. The caller frees it. */
char *text_shorten(const char *clean, int width);

/* Returns the start of a clean text, up to `width` columns, ending in dots if it is longer. The
 * caller frees it. */
char *text_start(const char *clean, int width);

/* Writes the shortest decimal text that reads back as the same number. It contains a point or
 * exponent. */
void text_of_real(double value, char out[40]);
/* Writes six digits, for people. */
void text_of_real_short(double value, char out[40]);

#endif
