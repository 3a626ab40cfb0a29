// SPDX-License-Identifier: Apache-2.0
/* nearest.h: the names that a misspelt word may mean. */
#ifndef COMMAND_NEAREST_H
#define COMMAND_NEAREST_H

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
/* "; nearest: a, b or c", or "" if nothing is near. Kept memory. */
const char *nearest_text(const Nearest *nearest);

#endif
