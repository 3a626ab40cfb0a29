// SPDX-License-Identifier: Apache-2.0
/* xprof_events_row.h: a row of the table xprof_events, and the data for its columns. For the files
 * xprof_events.c, xprof_events_row.c and xprof_events_args.c. */
#ifndef PROF_XPROF_EVENTS_ROW_H
#define PROF_XPROF_EVENTS_ROW_H

#include "../loader/analysis/grouping/grouping.h"
#include "../loader/store/event_stats.h"
#include "../loader/store/events.h"
#include "xprof_events_hlo.h"
#include "prof.h"

/* XProf treats lines of a GPU called XLA Modules and XLA Ops (AT_GPU_MODULE, AT_GPU_OP) like those
 * of a TPU, without nesting. */
enum Place {
    AT_NONE,
    AT_HOST,
    AT_GPU,
    AT_CUSTOM,
    AT_GPU_MODULE,
    AT_GPU_OP,
    AT_STEP,
    AT_MODULE,
    AT_OP,
    AT_OVERLAY,
    AT_TC_OVERLAY,
    AT_TPU
};
/* Returns whether the metadata's stats count, and whether flops and bytes have columns. */
static inline bool shows_metadata(enum Place place) { return place >= AT_CUSTOM; }
static inline bool on_gpu(enum Place place)
{
    return place == AT_GPU || place == AT_GPU_MODULE || place == AT_GPU_OP;
}

/* Stats that have a column of their own, or that identify the HLO instruction. */
enum KeptStat {
    KEPT_CORRELATION,
    KEPT_FLOW,
    KEPT_SOURCE,
    KEPT_DETAILS,
    KEPT_TF_OP,
    KEPT_HLO_OP,
    KEPT_MODULE,
    KEPT_PROGRAM,
    KEPT_SHAPES,
    KEPT_FLOPS,
    KEPT_BYTES,
    N_KEPT
};

/* What a host's rows are read from. */
typedef struct {
    EventReader reader;
    EventAt event;
    bool reading, has_stats, has_detail; /* a line is open; `kept` is valid; `detail` is valid */
    Line *line;
    size_t n_lines; /* lines of the host that were visited */
    enum Place place;
    const Plane *cpu;
    const Grouping *grouping;
    MetaBytes meta;    /* of the event's metadata, if the table shows its stats for this place */
    Stat kept[N_KEPT]; /* TYPE_NONE: no such stat */
    bool has_stat[N_KEPT];
    HloDetails hlo;
    const HloDetail *detail; /* NULL: the event has no instruction */
    EventFinder finder;
} EventsRows;

static inline uint64_t index_of(const EventsRows *r)
{
    return r->event.event - r->line->first_event;
}

/* Returns where XProf shows a line. cpu: the host's plane from events_cpu_plane(). */
enum Place events_place(const Line *line, const Plane *cpu);
const Plane *events_cpu_plane(const Host *host);

/* Returns a walk over the metadata's stats, which do not count everywhere. False with c->err set.
 */
bool meta_stats(RowCursor *c, EventsRows *r, StatIter *stats);
/* Returns a stat; NULL if the event does not have it. */
const Stat *kept_stat(RowCursor *c, EventsRows *r, enum KeptStat which);
/* Returns the text of a stat; empty if there is none. */
Slice kept_text(RowCursor *c, EventsRows *r, enum KeptStat which);
/* Returns whether a kernel's text is empty, which XProf shows as NULL. */
bool is_empty_text(RowCursor *c, EventsRows *r, enum KeptStat which);

/* Returns the event's group, or whether it ran eagerly; -1 if unknown. Sets r->grouping. */
int64_t grouped_value(RowCursor *c, EventsRows *r, bool eager);

/* Writes the column trace_args. */
void args_column(RowCursor *c, EventsRows *r, sqlite3_context *ctx);

#endif
