// SPDX-License-Identifier: Apache-2.0
/* facts.h: what an event's stats say, by the accessor rules of XProf: its own stats first, then its metadata's. */
#ifndef PROF_FACTS_H
#define PROF_FACTS_H

#include "../run.h"

typedef struct {
    Fact by_stat[N_KNOWN_STATS];
    Arena texts; /* of the event's own text stats */
} EventFacts;
/* Reads the facts of the event at `position`. The first stat of a name counts. Forgets what was there before. */
int event_facts_read(EventFacts *facts, const Plane *plane, EventMeta *meta, uint64_t position, Window *window, ProfErr *err);
void event_facts_free(EventFacts *facts);

/* An int64 or uint64 stat as a number (IntOrUint); false when there is none or it is of another type. */
bool fact_integer(const Fact *fact, int64_t *value);

/* Name of the program's entry in the host's /host:metadata, as module(id); NULL: there is none. */
const Text *program_entry_name(const Host *host, int64_t program_id);

/* Events by correlation id, built at first use: pairs ordered by id, then event. */
typedef struct Correlated {
    uint64_t correlation_id, event;
} Correlated;
const Correlated *run_correlation(Run *run, size_t *n, ProfErr *err);

/* Device-clock self times of a line: duration without the direct children's, by the device's own times, nested as
 * XProf's op tools do; INT64_MIN where an event has none. NULL with err set on failure. One value an event. */
const int64_t *line_device_self(Line *line, ProfErr *err);

#endif
