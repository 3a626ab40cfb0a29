// SPDX-License-Identifier: Apache-2.0
/* cover.h: a set of times, as sorted intervals [start, end) that do not overlap.
 *
 *   Cover cover = {0};
 *   cover_add(&cover, start, end);     in any order; consecutive intervals that touch are joined
 *   cover_finish(&cover);
 *   cover_length(&cover), cover_common(&cover, &other)
 *   cover_free(&cover); */
#ifndef PROF_COVER_H
#define PROF_COVER_H

#include "../../base/base.h"

typedef struct {
    int64_t start, end;
} Stretch;
typedef struct {
    Stretch *items;
    size_t n, capacity;
    bool unordered; /* an interval starts before the one added before it */
} Cover;

/* Adds an interval. False if memory runs out. */
bool cover_add(Cover *cover, int64_t start, int64_t end);
/* Sorts and joins the intervals. Required after adding and before the functions that follow. */
void cover_finish(Cover *cover);
/* Returns the total length. */
uint64_t cover_length(const Cover *cover);
/* Returns the total length of the times that are in at least one of n covers. */
enum { MOST_COVERS = 8 };
uint64_t cover_length_of_all(const Cover *covers, size_t n);
/* Returns the total length of the times that are in both covers. */
uint64_t cover_common(const Cover *a, const Cover *b);
void cover_free(Cover *cover);

#endif
