// SPDX-License-Identifier: Apache-2.0
/* duty_cycle.h: how long the chips of a host computed, and how long they did not. */
#ifndef PROF_DUTY_CYCLE_H
#define PROF_DUTY_CYCLE_H

#include "device_ops.h"

/* Disjoint spans in order; built from spans that come roughly in order. */
typedef struct {
    PsSpan *spans;
    size_t n, capacity;
    bool sorted;
} SpanList;
bool span_list_add(SpanList *list, PsSpan span); /* false: no memory */
void span_list_free(SpanList *list);

/* How sure it is that an op computes: SURE leaves out custom calls that do no known work. */
enum Duty { DUTY_LIKELY, DUTY_SURE, N_DUTIES };

/* Both duties' spans, one list as long as they are the same. */
typedef struct {
    SpanList spans[N_DUTIES];
    bool differ; /* false: spans[DUTY_SURE] is not kept, it is spans[DUTY_LIKELY] */
} DutySpans;
bool duty_spans_add(DutySpans *active, PsSpan span, unsigned on_duty); /* bits 1 << enum Duty; false: no memory, as below */
void duty_spans_free(DutySpans *active);

/* The ops of one line, each on or off duty: what counts at any moment is the innermost op. An op that starts inside another and ends
 * after it closes it. */
typedef struct {
    PsSpan span;
    uint64_t from; /* not told yet from here on */
    unsigned on_duty;
} DutyOp;
typedef struct {
    DutyOp *open;
    size_t n, capacity;
    DutySpans active;
} DutyLine;
bool duty_line_add(DutyLine *line, PsSpan span, unsigned on_duty);
bool duty_line_end(DutyLine *line);
void duty_line_free(DutyLine *line);

/* What one core was seen doing. */
typedef struct {
    int64_t chip;
    DutySpans active;
    Hull measured;
} CoreDuty;
/* Moves what a line or another core was seen doing to it. */
bool core_duty_join(CoreDuty *duty, DutySpans *active, const Hull *measured);

/* Sets the busy and idle time of the chips in db: a chip is busy while any of its cores is. The cores are reordered and
 * their lists used up. */
int duty_cycle(CoreDuty *cores, size_t n_cores, OpMetricsDb *db, ProfErr *err);

/* A line of SparseCore ops, whatever plane it is on; on a SparseCore also one named as a TensorCore's. */
bool is_sparse_op_line(const Line *line);
/* When ops of a plane's lines of SparseCore ops ran, by the profiler's clock; empty parts are left out. The list is the caller's to free, even on failure. */
int sparsecore_busy(const Plane *plane, SpanList *busy, ProfErr *err);

#endif
