// SPDX-License-Identifier: Apache-2.0
/* duty_cycle.h: how long the TPU chips of a host computed, and how long they were idle. */
#ifndef PROF_DUTY_CYCLE_H
#define PROF_DUTY_CYCLE_H

#include "device_ops.h"

/* Sorted, disjoint spans. They may be added in any order; nearly sorted is fastest. */
typedef struct {
    PsSpan *spans;
    size_t n, capacity;
    bool sorted;
} SpanList;
bool span_list_add(SpanList *list, PsSpan span); /* false if memory runs out */
void span_list_free(SpanList *list);

/* How certain it is that an op computes. DUTY_SURE leaves out custom calls whose work is unknown.
 */
enum Duty { DUTY_LIKELY, DUTY_SURE, N_DUTIES };

/* The spans of both duties, in one list as long as they are the same. */
typedef struct {
    SpanList spans[N_DUTIES];
    /* False: both are the same, and only spans[DUTY_LIKELY] is used. */
    bool differ;
} DutySpans;
/* on_duty: bits 1 << enum Duty. This and the following functions return false if memory runs
 * out. */
bool duty_spans_add(DutySpans *active, PsSpan span, unsigned on_duty);
void duty_spans_free(DutySpans *active);

/* The ops of one line, each on or off duty. The innermost op counts at each moment. An op that
 * starts inside another and ends after it closes the other. */
typedef struct {
    PsSpan span;
    uint64_t from; /* the time before this is added */
    unsigned on_duty;
} DutyOp;
typedef struct {
    LIST(DutyOp) open;
    DutySpans active;
    bool failed; /* memory ran out */
} DutyLine;
/* duty_line_add() adds the line's next op. duty_line_end() closes the ops that are still open. The
 * time on duty is in `active`. */
bool duty_line_add(DutyLine *line, PsSpan span, unsigned on_duty);
bool duty_line_end(DutyLine *line);
void duty_line_free(DutyLine *line);

/* The activity of one core. */
typedef struct {
    int64_t chip;
    DutySpans active;
    Hull measured;
} CoreDuty;
/* Moves the spans of a line or another core of the chip to `duty`. */
bool core_duty_join(CoreDuty *duty, DutySpans *active, const Hull *measured);

/* Sets the busy and idle time of the chips in db: a chip is busy while any of its cores is.
 * Reorders the cores and empties their lists. */
int duty_cycle(CoreDuty *cores, size_t n_cores, OpMetricsDb *db, ProfErr *err);

/* Returns whether the line has SparseCore ops, on any plane. A line of a SparseCore may also be
 * named like a TensorCore's. */
bool is_sparse_op_line(const Line *line);
/* Adds the spans in which the SparseCore ops of a plane ran, in the profiler's time. The caller
 * frees the list, also after a failure. */
int sparsecore_busy(const Plane *plane, SpanList *busy, ProfErr *err);

#endif
