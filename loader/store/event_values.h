// SPDX-License-Identifier: Apache-2.0
/* event_values.h: the known stats of single events, by XProf's rules: an event's own stat counts
 * before its metadata's. */
#ifndef PROF_EVENT_VALUES_H
#define PROF_EVENT_VALUES_H

#include "../base/list.h"
#include "../plane.h"

/* Makes a fact of a stat: a ref becomes the text that it refers to, a text is interned. Bytes give
 * TYPE_BYTES without a value. False: no memory. */
NODISCARD bool stat_value_of(StatValue *fact, const Plane *plane, const Stat *stat,
                             TextTable *texts, Arena *arena);

/* Reads the known stats of an event metadata into meta->facts and meta->n_facts, once. Returns the
 * code in err. May be called from several threads. */
int event_meta_values(const Plane *plane, EventMeta *meta, ProfErr *err);

/* The known stats of one event. Starts as {0}, freed with event_values_free(). */
typedef struct {
    StatValue by_stat[N_KNOWN_STATS];
    Arena texts; /* owns the texts of the event's own stats */
} EventValues;
/* Reads the stats of the event at `position` of the host's file and of its metadata. The first stat
 * of a name counts. Overwrites what an earlier call read. */
int event_values_read(EventValues *facts, const Plane *plane, EventMeta *meta, uint64_t position,
                      Window *window, ProfErr *err);
void event_values_free(EventValues *facts);

/* Returns the value of an int64 or uint64 stat, like XProf's IntOrUint. False if it is absent or of
 * another type. */
bool stat_value_integer(const StatValue *fact, int64_t *value);

/* An event with a correlation id. */
typedef struct {
    uint64_t correlation_id, event;
} Correlated;
typedef LIST(Correlated) Correlation;
/* Returns all events with a correlation id, sorted by id, then by event. Computed on first use. */
const Correlation *run_correlation(Run *run, ProfErr *err);

/* Returns a self time for each event of a line, by the device's clock: its duration without
 * those of its direct children, nested as in XProf's op tools. INT64_MIN if an event has no
 * device times. */
const int64_t *line_device_self(Line *line, ProfErr *err);

#endif
