// SPDX-License-Identifier: Apache-2.0
/* nearest.h: the names that a misspelt word may mean. Case does not count, and - is _. */
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

/* Keeps `name`, which must outlive it, if it is near enough and better than others. */
void nearest_try(Nearest *nearest, const char *name);

/* The number of letters to insert, delete, replace or swap that make a word of n bytes a name, or
 * one of the words of the name. -1: too many for its length. */
int near_distance(const char *word, size_t n, const char *name);
/* A byte as names are compared: in small letters, with _ for - and blanks. */
int name_letter(char c);
/* The first place of a word of n bytes in a text; NULL: it is not in it. */
const char *find_word(const char *text, const char *word, size_t n);

#endif
