// SPDX-License-Identifier: Apache-2.0
/* event_values.h: the known stats of single events, by XProf's rules: an event's own stat counts
 * before its metadata's. */
#ifndef PROF_EVENT_VALUES_H
#define PROF_EVENT_VALUES_H

#include "../base/list.h"
#include "../plane.h"
#include "events.h"

/* Converts a stat: a reference becomes the text that it refers to, and texts are interned. Bytes
 * become TYPE_BYTES without a value. False if memory runs out. */
NODISCARD bool stat_value_of(StatValue *fact, const Plane *plane, const Stat *stat,
                             TextTable *texts, Arena *arena);

/* Reads the known stats of an event metadata into meta->facts and meta->n_facts, once. Returns the
 * code in err. May be called from several threads. */
int event_meta_values(const Plane *plane, EventMeta *meta, ProfErr *err);

/* The known stats of one event, each read when it is asked for. Starts as {0}. Freed with
 * event_values_free(). */
typedef struct {
    const Plane *plane;
    EventMeta *meta;
    uint64_t position; /* of the event in the host's file */
    bool own_read;     /* the event's own stats are in `own` and `by_stat` */
    StatSet own;       /* stats of the event itself */
    /* values of `own`; a TYPE_STR has no text until it is asked for */
    StatValue by_stat[N_KNOWN_STATS];
    Arena texts; /* for the texts */
} EventValues;
/* Moves to the event at `position` of the host's file. The values of the event before are no longer
 * valid. */
void event_values_of(EventValues *values, const Plane *plane, EventMeta *meta, uint64_t position);
/* Returns the event's own stat (the first of several), else that of its metadata. TYPE_NONE if it
 * has none, or with err set. The window is that of the host's file. The value is valid until
 * event_values_of(). */
const StatValue *event_values_get(EventValues *values, enum KnownStat known, Window *window,
                                  ProfErr *err);
void event_values_free(EventValues *values);

/* Returns the value of an int64 or uint64 stat, like XProf's IntOrUint. False if it is absent or of
 * another type. */
bool stat_value_integer(const StatValue *fact, int64_t *value);

/* Reads an integer stat of a line's events, with the rule of event_values_get(). Close it in any
 * case. */
typedef struct {
    Line *line;
    EventReader events;
    StatFilter filter;
    enum KnownStat known;
    const EventMeta *last; /* the metadata that was read last, and its stat */
    bool last_has;
    int64_t last_value;
} IntegerReader;
void integer_reader_open(IntegerReader *reader, Line *line, enum KnownStat known, ProfErr *err);
/* Reads the next event, like event_reader_next(), and the stat. *has is false if it has none, or if
 * it is not an integer. */
bool integer_reader_next(IntegerReader *reader, EventAt *at, bool *has, int64_t *value);
void integer_reader_close(IntegerReader *reader);

/* An event with a correlation id. */
typedef struct {
    uint64_t correlation_id, event;
} Correlated;
typedef LIST(Correlated) Correlation;
/* Returns all events with a correlation id, sorted by id, then by event. */
const Correlation *run_correlation(Run *run, ProfErr *err);

/* Returns a self time for each event of a line, in device time: its duration without its direct
 * children's, nested as in XProf's op tools: in order of the events, the device times decide what
 * is inside of what. INT64_MIN if an event has no device times. */
const int64_t *line_device_self(Line *line, ProfErr *err);

#endif
