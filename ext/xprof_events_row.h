// SPDX-License-Identifier: Apache-2.0
/* xprof_events_row.h: a row of the table xprof_events, and what its columns are made of. For the
 * files xprof_events.c, xprof_events_row.c and xprof_events_args.c. */
#ifndef PROF_XPROF_EVENTS_ROW_H
#define PROF_XPROF_EVENTS_ROW_H

#include "../loader/analysis/grouping/grouping.h"
#include "../loader/store/event_stats.h"
#include "../loader/store/events.h"
#include "xprof_events_hlo.h"
#include "prof.h"

/* XProf shows lines called XLA Modules and XLA Ops of a GPU (AT_GPU_MODULE, AT_GPU_OP) like those
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
/* Do the metadata's stats count, and flops and bytes have columns? */
static inline bool shows_metadata(enum Place place) { return place >= AT_CUSTOM; }
static inline bool on_gpu(enum Place place)
{
    return place == AT_GPU || place == AT_GPU_MODULE || place == AT_GPU_OP;
}

/* The stats that have a column of their own, or say which HLO instruction it is. */
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

/* What a host's rows are made from. */
typedef struct {
    EventReader reader;
    EventAt event;
    bool reading, has_stats, has_detail; /* a line is open; `kept` is the event's; so is `detail` */
    Line *line;
    size_t n_lines; /* of the host that were looked at */
    enum Place place;
    const Plane *cpu;
    const Grouping *grouping;
    MetaBytes meta;    /* of the event's metadata, if its place shows that */
    Stat kept[N_KEPT]; /* TYPE_NONE: not there */
    bool has_stat[N_KEPT];
    HloDetails hlo;
    const HloDetail *detail; /* NULL: the event has no instruction */
    EventFinder finder;
} EventsRows;

static inline uint64_t index_of(const EventsRows *r)
{
    return r->event.event - r->line->first_event;
}

/* Where XProf shows a line; cpu: the host's plane of this kind, from events_cpu_plane(). */
enum Place events_place(const Line *line, const Plane *cpu);
const Plane *events_cpu_plane(const Host *host);

/* The metadata's stats, which do not count everywhere. False: c->err is set. */
bool meta_stats(RowCursor *c, EventsRows *r, StatIter *stats);
/* The stat, NULL: the event has none. */
const Stat *kept_stat(RowCursor *c, EventsRows *r, enum KeptStat which);
/* Its text; empty if there is none. */
Slice kept_text(RowCursor *c, EventsRows *r, enum KeptStat which);
/* Of kernels XProf shows an empty text as NULL. */
bool is_empty_text(RowCursor *c, EventsRows *r, enum KeptStat which);

/* The event's group, or whether it ran eagerly; -1: unknown. Sets r->grouping. */
int64_t grouped_value(RowCursor *c, EventsRows *r, bool eager);

/* Writes the column trace_args. */
void args_column(RowCursor *c, EventsRows *r, sqlite3_context *ctx);

#endif
