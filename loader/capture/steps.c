// SPDX-License-Identifier: Apache-2.0
/* steps.c: finds the ranges that are steps, and the work of other threads that belongs to them; see
 * timeline.h.
 *
 * Readers find a step's launches by nesting, on the thread that runs the step. A program may run a
 * part of the step on another thread, as PyTorch runs the backward pass. So if exactly one step is
 * open, it gets the work of threads that have no steps of their own. Otherwise no step gets it.
 * XProf follows work across threads from a producer to the consumers that have its type and id, and
 * to everything inside them: the step is written as a producer, and the outermost events of the
 * other thread as its consumers. */
#include "timeline.h"

#include "../base/search.h"

#include <stdlib.h>

enum { STATS = 4 };              /* number of the field in XEvent */
enum { THREAD_POOL_EVENT = 15 }; /* one of XProf's context types */

typedef struct {
    uint64_t time;
    size_t range;
    bool opens;
} StepChange;

static int compare_ranges(const StepRange *a, const StepRange *b)
{
    int d = ORDER(a->line, b->line);
    if (!d) d = ORDER(a->start, b->start);
    if (!d) d = ORDER(b->end, a->end);
    return d ? d : ORDER(a->order, b->order);
}

static int by_line(const void *a, const void *b) { return compare_ranges(a, b); }

static int by_value(const void *a, const void *b)
{
    return ORDER(*(const uint64_t *)a, *(const uint64_t *)b);
}

/* At equal times, ends come before starts. */
static int by_time(const void *a, const void *b)
{
    const StepChange *x = a, *y = b;
    int d = ORDER(x->time, y->time);
    return d ? d : x->opens - y->opens;
}

void steps_add(Steps *s, const Item *range, ProfErr *err)
{
    if (!GROW(s->ranges, s->n, s->capacity)) {
        prof_nomem(err);
        return;
    }
    s->ranges[s->n++] = (StepRange){range->line, range->start, range->end, range->order, 0, 0};
}

/* Lists when steps open and close. A step inside another one of its line is a part of it. */
static size_t list_changes(const Steps *s, StepChange *changes)
{
    size_t n = 0;
    uint64_t line = UINT64_MAX, open_until = 0;
    for (size_t i = 0; i < s->n; i++) {
        const StepRange *range = &s->ranges[i];
        if (range->line != line) line = range->line, open_until = 0;
        if (range->end <= open_until || range->end == range->start) continue;
        open_until = range->end;
        changes[n++] = (StepChange){range->start, i, true};
        changes[n++] = (StepChange){range->end, i, false};
    }
    return n;
}

static void find_alone(Steps *s, const StepChange *changes, size_t n, ProfErr *err)
{
    size_t n_open = 0, sum = 0; /* sum: of the indexes of open steps; for a single one, its index */
    for (size_t i = 0; i + 1 < n; i++) {
        const StepChange *change = &changes[i];
        if (change->opens)
            n_open++, sum += change->range;
        else
            n_open--, sum -= change->range;
        if (n_open != 1 || change->time == change[1].time) continue;
        if (!GROW(s->alone, s->n_alone, s->alone_capacity)) {
            prof_nomem(err);
            return;
        }
        s->alone[s->n_alone++] = (StepAlone){change->time, change[1].time, sum};
    }
}

void steps_close(Steps *s, ProfErr *err)
{
    if (!s->n || err->code) return;
    StepChange *changes = prof_alloc(2 * s->n * sizeof *changes);
    s->starts = prof_alloc(s->n * sizeof *s->starts);
    if (changes && s->starts) {
        for (size_t i = 0; i < s->n; i++) s->starts[i] = s->ranges[i].start;
        qsort(s->starts, s->n, sizeof *s->starts, by_value);
        qsort(s->ranges, s->n, sizeof *s->ranges, by_line);
        size_t n = list_changes(s, changes);
        qsort(changes, n, sizeof *changes, by_time);
        find_alone(s, changes, n, err);
    } else {
        prof_nomem(err);
    }
    prof_free(changes);
}

size_t steps_before(const Steps *s, uint64_t start)
{
    return LOWER_BOUND(i, 0, s->n, s->starts[i] < start);
}

StepRange *steps_find(const Steps *s, const Item *range)
{
    StepRange wanted = {range->line, range->start, range->end, range->order, 0, 0};
    size_t at = LOWER_BOUND(i, 0, s->n, compare_ranges(&s->ranges[i], &wanted) < 0);
    return at < s->n && !compare_ranges(&s->ranges[at], &wanted) ? &s->ranges[at] : NULL;
}

bool steps_on_line(const Steps *s, uint64_t line)
{
    size_t at = LOWER_BOUND(i, 0, s->n, s->ranges[i].line < line);
    return at < s->n && s->ranges[at].line == line;
}

StepRange *steps_only(const Steps *s, uint64_t start, uint64_t end)
{
    size_t at = LOWER_BOUND(i, 0, s->n_alone, s->alone[i].end <= start);
    if (at == s->n_alone || start < s->alone[at].start || end > s->alone[at].end) return NULL;
    return &s->ranges[s->alone[at].range];
}

static void add_stats(const Steps *s, const StepRange *step, bool produces, Description *d)
{
    small_stat_int(&d->stats, STATS, produces ? XS_PRODUCER_TYPE : XS_CONSUMER_TYPE,
                   THREAD_POOL_EVENT);
    small_stat_int(&d->stats, STATS, produces ? XS_PRODUCER : XS_CONSUMER, step - s->ranges + 1);
}

/* A call belongs to the step in which it starts. A range that extends beyond the step does not;
 * what is inside it is examined separately. */
void steps_describe(const Steps *s, const Item *item, uint64_t *joined_until, Description *d)
{
    bool is_range = item->kind == REC_PUSH,
         is_call = item->kind == REC_RUNTIME || item->kind == REC_DRIVER;
    const StepRange *step = NULL;
    if (!s->n_alone || (!is_range && !is_call)) return;
    if (is_range && item->amount) {
        step = steps_find(s, item);
        if (step && step->has_work) add_stats(s, step, true, d);
        return;
    }
    if (item->line >= SPECIAL_LINE || item->start < *joined_until || steps_on_line(s, item->line))
        return;
    step = steps_only(s, item->start, is_call ? item->start : item->end);
    if (!step || !step->is_root || !step->has_work) return;
    add_stats(s, step, false, d);
    *joined_until = item->end;
}

void steps_free(Steps *s)
{
    prof_free(s->ranges);
    prof_free(s->starts);
    prof_free(s->alone);
}
