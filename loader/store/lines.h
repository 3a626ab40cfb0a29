// SPDX-License-Identifier: Apache-2.0
/* lines.h: does the same work for many lines, on all processors, lines with most events first. */
#ifndef PROF_LINES_H
#define PROF_LINES_H

#include "../run.h"

/* A number for each event metadata of a plane. All are 0 between lines: whoever sets one resets it,
 * because clearing all of them for each line would take lines x metadata steps. */
typedef struct {
    uint32_t *numbers;
    size_t n;
} MetaNumbers;
/* Returns the numbers, with room for those of the plane, all 0. Freed with
 * prof_free(m->numbers). */
uint32_t *meta_numbers(MetaNumbers *m, const Plane *plane, ProfErr *err);

/* Records that a line that is not stored by start has too many events to be `done` ("sorted").
 * Returns the code in err. */
int line_too_long(const Line *line, const char *done, ProfErr *err);

/* Work on one line. Called on several threads at once, each with MetaNumbers of its own. */
typedef bool LineWork(Line *line, MetaNumbers *numbers, ProfErr *err);
/* Calls `work` for each line of the run. */
bool run_each_line(Run *run, LineWork *work, ProfErr *err);

/* Calls task(context, i, err) for n lines of one host, on all processors: the i-th line is
 * lines[i]. Lines with most events start first, so that no thread is left with a long one at the
 * end. See parallel_for() for errors and threads. */
int parallel_lines(const Line *lines, size_t n, void (*task)(void *context, size_t i, ProfErr *err),
                   void *context, ProfErr *err);
/* Like parallel_lines(), for the lines of all planes of a kind: the i-th line is host->lines[i].
 * Planes often have one long line each. */
int parallel_lines_of(const Host *host, enum PlaneKind kind,
                      void (*task)(void *context, size_t i, ProfErr *err), void *context,
                      ProfErr *err);
/* Computes line_nesting() of n lines that have it not yet, in parallel. */
int lines_nest(Line **lines, size_t n, ProfErr *err);
/* Like parallel_lines(), for n lines of any hosts. */
int parallel_lines_at(Line *const *lines, size_t n,
                      void (*task)(void *context, size_t i, ProfErr *err), void *context,
                      ProfErr *err);

#endif
