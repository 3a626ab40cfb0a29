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

/* The ops of one line, each on or off duty: what counts at any moment is the innermost op. */
typedef struct {
    PsSpan span;
    uint64_t from; /* not told yet from here on */
    unsigned on_duty;
} DutyOp;
typedef struct {
    DutyOp *open;
    size_t n, capacity;
    SpanList active[N_DUTIES];
} DutyLine;
bool duty_line_add(DutyLine *line, PsSpan span, unsigned on_duty); /* bits 1 << enum Duty; false: no memory, as below */
bool duty_line_end(DutyLine *line);
void duty_line_free(DutyLine *line);

/* What one core was seen doing. */
typedef struct {
    int64_t chip;
    SpanList active[N_DUTIES];
    Hull measured;
} CoreDuty;
bool core_duty_join(CoreDuty *duty, const SpanList active[N_DUTIES], const Hull *measured); /* false: no memory */
void core_duty_free(CoreDuty *duty);

/* Sets the busy and idle time of the chips in db: a chip is busy while any of its cores is. The cores are reordered and
 * their lists used up. */
int duty_cycle(CoreDuty *cores, size_t n_cores, OpMetricsDb *db, ProfErr *err);

#endif
