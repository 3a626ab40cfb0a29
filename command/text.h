// SPDX-License-Identifier: Apache-2.0
/* text.h: UTF-8 of unknown origin, for terminals and files. */
#ifndef COMMAND_TEXT_H
#define COMMAND_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NOT_UTF8 UINT32_MAX

/* Length in bytes of the character at s, of which n > 0 bytes are there; *character is NOT_UTF8 and
 * the length 1 if the bytes are not UTF-8. */
size_t text_decode(const char *s, size_t n, uint32_t *character);

/* A copy that a terminal shows as one line: control characters, and bytes that are not UTF-8, are
 * escaped as \n, \x1b or \u0085. With `lines`, ends of lines stay. The caller frees it. */
char *text_clean(const char *s, size_t n, bool lines);

/* Columns that a clean text takes on a terminal. */
int text_width(const char *clean);

/* A copy of a clean text that takes at most `width` columns. Template arguments and parameters of
 * C++ names go first, then the middle. The caller frees it. */
char *text_shorten(const char *clean, int width);

/* A copy of a clean text up to `width` columns; dots end it if it has more. The caller frees it. */
char *text_start(const char *clean, int width);

/* The shortest decimal text that reads back as the same number; it contains a point or exponent. */
void text_of_real(double value, char out[40]);
/* The same with six digits, for people. */
void text_of_real_short(double value, char out[40]);

#endif
