// SPDX-License-Identifier: Apache-2.0
/* parent_events.h: the module and the step in which an op of a TensorCore ran, and self times in
 * ns, both as in XProf's Events DB.
 *
 * XProf walks over the ops (line 3 of the core) and over the modules (line 2) or steps (line 1)
 * together, each in stored order. If the current module does not include the op, XProf moves to the
 * next one that ends after the op starts, unless that starts after the op's end. If modules
 * overlap, or lines are not stored by time, the result differs from a search for a module that
 * includes the op. */
#ifndef PROF_PARENT_EVENTS_H
#define PROF_PARENT_EVENTS_H

#include "../../store/events.h"

enum ParentKind { PARENT_STEP, PARENT_MODULE };
/* Returns for each event of the line the ordinal + 1 of the step or module that includes it; 0 if
 * none does. NULL without err set if the line is not the op line of a TensorCore. */
const uint64_t *line_parent_events(Line *line, enum ParentKind which, ProfErr *err);

/* Times in the Events DB: integer ns that were computed in floating point, so Unix times are only
 * exact to 256 ns. Negative offsets and durations are too large by 2^64 ps. */
static inline double unsigned_ns(int64_t ps) { return (double)(uint64_t)ps / 1000; }
static inline int64_t whole_ns(double ns)
{
    if (ns >= 0x1p63) return INT64_MAX;
    return ns < -0x1p63 ? INT64_MIN : (int64_t)ns;
}
static inline int64_t event_start_ns(const Line *line, const EventAt *e)
{
    int64_t offset_ps;
    if (__builtin_sub_overflow(e->start_ps, line->start_ps, &offset_ps)) offset_ps = e->start_ps;
    return whole_ns((double)line->timestamp_ns + unsigned_ns(offset_ps));
}
static inline int64_t event_duration_ns(const EventAt *e)
{
    return whole_ns(unsigned_ns(e->duration_ps));
}
static inline int64_t event_end_ns(const Line *line, const EventAt *e)
{
    return whole_ns((double)event_start_ns(line, e) + unsigned_ns(e->duration_ps));
}

/* Returns the Events DB's self time of each event of a line: its duration in ns without those of
 * the events nested directly inside. Nesting is decided by start and end in ns, in stored order. */
const int64_t *line_self_ns(Line *line, ProfErr *err);

#endif
