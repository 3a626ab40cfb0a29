// SPDX-License-Identifier: Apache-2.0
/* nearest.h: suggests the names that a misspelt word may mean. Ignores case and treats - as _. */
#ifndef NEAREST_H
#define NEAREST_H

#include <stdbool.h>
#include <stddef.h>

enum { NEAREST_MAX = 3 };

/* The best candidates for a word so far, best first. */
typedef struct {
    const char *word;
    const char *names[NEAREST_MAX];
    int distances[NEAREST_MAX];
    int n;
} Nearest;

/* Adds `name` if it is close enough and better than the others. The name must outlive `nearest`. */
void nearest_try(Nearest *nearest, const char *name);

/* Returns how many letters to insert, delete, replace or swap to turn a word of n bytes into the
 * name, or into one of the name's words. -1 if that is too many for the word's length. */
int near_distance(const char *word, size_t n, const char *name);
/* Returns whether a text begins with a word of n bytes. */
bool begins_with_word(const char *text, const char *word, size_t n);
/* Returns where a word of n bytes first occurs in a text; NULL if it does not. */
const char *find_word(const char *text, const char *word, size_t n);

#endif
