// SPDX-License-Identifier: Apache-2.0
/* numbered_texts.h: byte strings, each kept once and numbered from 0 in the order of addition. */
#ifndef PROF_NUMBERED_TEXTS_H
#define PROF_NUMBERED_TEXTS_H

#include "list.h"

typedef struct {
    const char *text;
    size_t n_bytes;
} NumberedText;

/* Starts as {0}. */
typedef struct {
    LIST(NumberedText) texts;
    HashTable by_text;
} NumberedTexts;

#define NO_NUMBER SIZE_MAX

/* Returns the number of the text with these bytes; NO_NUMBER if it was not added. */
size_t numbered_find(const NumberedTexts *texts, const char *text, size_t n_bytes);
/* Copies a text that is not there yet to the arena, and returns its number. NO_NUMBER if memory
 * runs out. */
size_t numbered_add(NumberedTexts *texts, Arena *arena, const char *text, size_t n_bytes);
/* Frees the numbers, but not the texts: they belong to the arena. */
void numbered_free(NumberedTexts *texts);

#endif
