// SPDX-License-Identifier: Apache-2.0
/* lines.h: the same work for each line of a run, on all processors. */
#ifndef PROF_LINES_H
#define PROF_LINES_H

#include "../run.h"

/* A number for each metadata of a plane. Whoever sets one sets it back to 0: clearing them all for each line would cost
 * lines x metadata. */
typedef struct {
    uint32_t *numbers;
    size_t n;
} MetaNumbers;
/* Room for the plane's, all 0; NULL with err set. Freed with prof_free(m->numbers). */
uint32_t *meta_numbers(MetaNumbers *m, const Plane *plane, ProfErr *err);

/* False with err set. Called on several threads at once, each with MetaNumbers of its own. */
typedef bool LineWork(Line *line, MetaNumbers *numbers, ProfErr *err);
bool run_each_line(Run *run, LineWork *work, ProfErr *err);

/* parallel_for() over n lines of a host, the i-th of them lines[i]: those with most events are begun first, so that no thread
 * is left alone with a long one at the end. */
int parallel_lines(const Line *lines, size_t n, void (*task)(void *context, size_t i, ProfErr *err), void *context, ProfErr *err);
/* The same of the lines of all planes of a kind, the i-th host->lines[i]: planes have one long line each, often. */
int parallel_lines_of(const Host *host, enum PlaneKind kind, void (*task)(void *context, size_t i, ProfErr *err), void *context, ProfErr *err);
/* The same of n lines wherever they stand. */
int parallel_lines_at(Line *const *lines, size_t n, void (*task)(void *context, size_t i, ProfErr *err), void *context, ProfErr *err);

#endif
