// SPDX-License-Identifier: Apache-2.0
/* cover.h: a set of times, kept as sorted intervals that do not overlap: [start, end).
 *
 *   Cover cover = {0};
 *   cover_add(&cover, start, end);     in any order; intervals that come in order and touch become one at once
 *   cover_finish(&cover);
 *   cover_length(&cover), cover_common(&cover, &other)
 *   cover_free(&cover); */
#ifndef PROF_COVER_H
#define PROF_COVER_H

#include "../base.h"

typedef struct {
    int64_t start, end;
} Stretch;
typedef struct {
    Stretch *items;
    size_t n, capacity;
    bool unordered; /* some start before the one added before */
} Cover;

bool cover_add(Cover *cover, int64_t start, int64_t end); /* false: no memory */
/* Sorts and unites what was added. Required before the functions that follow. */
void cover_finish(Cover *cover);
/* Adds all intervals of another cover; to be finished again. False: no memory. */
bool cover_add_all(Cover *cover, const Cover *other);
/* Drops what is before `start` and from `end` on. */
void cover_clip(Cover *cover, int64_t start, int64_t end);
uint64_t cover_length(const Cover *cover);
/* How long the times are that both have. */
uint64_t cover_common(const Cover *a, const Cover *b);
void cover_free(Cover *cover);

#endif
