// SPDX-License-Identifier: Apache-2.0
/* enclosing.h: during which run of a module, and in which step, an op of a TensorCore ran; and self times in whole ns.
 *
 * XProf's Events DB walks the ops (line 3 of the core) and the modules (line 2) or steps (line 1) together, both as they are
 * stored: where the module in hand does not include the op, it takes the next one that is not over when the op begins, unless
 * that begins after the op's end. Where modules overlap, or lines are not stored by time, that is not the same as looking for
 * one that includes. */
#ifndef PROF_ENCLOSING_H
#define PROF_ENCLOSING_H

#include "events.h"

enum Enclosing { IN_STEP, IN_MODULE };
/* For each event of the line its event's ordinal in the run + 1, 0 where none includes it. A line that is not the ops of a
 * TensorCore gives NULL without an error; NULL with err set: no memory or unreadable. Valid as long as the run. */
const uint64_t *line_enclosing(Line *line, enum Enclosing which, ProfErr *err);

/* Times as the Events DB has them: whole ns, by way of floating point, which has Unix times to 256 ns only. Negative offsets and
 * durations are 2^64 ps too large. */
static inline double unsigned_ns(int64_t ps) { return (double)(uint64_t)ps / 1000; }
static inline int64_t whole_ns(double ns) { return ns >= 0x1p63 ? INT64_MAX : ns < -0x1p63 ? INT64_MIN : (int64_t)ns; }
static inline int64_t event_start_ns(const Line *line, const EventAt *e)
{
    int64_t offset_ps;
    if (__builtin_sub_overflow(e->start_ps, line->start_ps, &offset_ps)) offset_ps = e->start_ps;
    return whole_ns((double)line->timestamp_ns + unsigned_ns(offset_ps));
}
static inline int64_t event_duration_ns(const EventAt *e) { return whole_ns(unsigned_ns(e->duration_ps)); }
static inline int64_t event_end_ns(const Line *line, const EventAt *e) { return whole_ns((double)event_start_ns(line, e) + unsigned_ns(e->duration_ps)); }

/* Self times as the Events DB has them, for each event of a line: its duration in ns without those of the events nested
 * directly inside, found by start and end in whole ns and in stored order. NULL with err set. Valid as long as the run. */
const int64_t *line_self_ns(Line *line, ProfErr *err);

#endif
