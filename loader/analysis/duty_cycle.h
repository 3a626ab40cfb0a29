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

/* The ops of one line, each on or off duty: what counts at any moment is the innermost op. */
typedef struct {
    PsSpan span;
    uint64_t from; /* not told yet from here on */
    bool on_duty;
} DutyOp;
typedef struct {
    DutyOp *open;
    size_t n, capacity;
    SpanList active;
} DutyLine;
bool duty_line_add(DutyLine *line, PsSpan span, bool on_duty); /* false: no memory, as below */
bool duty_line_end(DutyLine *line);
void duty_line_free(DutyLine *line);

/* What one core was seen doing. */
typedef struct {
    int64_t chip;
    SpanList active;
    Hull measured;
} CoreDuty;

/* Adds the busy and idle time of the chips to *busy_ps and *idle_ps: a chip is busy while any of its cores is. The
 * cores are reordered and their lists used up. */
int duty_cycle(CoreDuty *cores, size_t n_cores, uint64_t *busy_ps, uint64_t *idle_ps, ProfErr *err);

#endif
