/* enclosing.h: during which run of a module, and in which step, an op of a TensorCore ran; and self times in whole ns.
 *
 * XProf's Events DB walks the ops (line 3 of the core) and the modules (line 2) or steps (line 1) together, both as they are
 * stored: while the module in hand does not include the op and the next one begins before the op's end, it takes the next.
 * Modules inside others do not count. Where modules overlap, or lines are not stored by time, that is not the same as looking
 * for one that includes. */
#ifndef PROF_ENCLOSING_H
#define PROF_ENCLOSING_H

#include "../run.h"

enum Enclosing { IN_STEP, IN_MODULE };
/* For each event of the line its event's ordinal in the run + 1, 0 where none includes it. A line that is not the ops of a
 * TensorCore gives NULL without an error; NULL with err set: no memory or unreadable. Valid as long as the run. */
const uint64_t *line_enclosing(Line *line, enum Enclosing which, ProfErr *err);

/* Self times as the Events DB has them, for each event of a line: its duration in ns without those of the events nested
 * directly inside, found by start and end in whole ns and in stored order. NULL with err set. Valid as long as the run. */
const int64_t *line_self_ns(Line *line, ProfErr *err);

#endif
