// SPDX-License-Identifier: Apache-2.0
/* xprof_events_row.c: selects the lines of the table xprof_events, and reads stats and groups of
 * its rows; see xprof_events_row.h. */
#include "xprof_events_row.h"
SQLITE_EXTENSION_INIT3

/* ---- the lines in the table ---- */

static const enum Place OF_CORE[] = {
    [1] = AT_STEP,    [2] = AT_MODULE,     [3] = AT_OP,
    [7] = AT_OVERLAY, [8] = AT_TC_OVERLAY, [9] = AT_OVERLAY}; /* by XLine.id */

/* If several planes have this name, the last counts. */
const Plane *events_cpu_plane(const Host *host)
{
    const Plane *found = NULL;
    for (size_t i = 0; i < host->n_planes; i++)
        if (host->planes[i].prefix == PREFIX_HOST_THREADS && host->planes[i].is_prefix)
            found = &host->planes[i];
    return found;
}

static enum Place place_on_gpu(const Line *line)
{
    if (line->derived || line->kind == LINE_COUNTERS) return AT_NONE;
    if (line->named == NAME_MODULES) return AT_GPU_MODULE;
    return line->named == NAME_OPS ? AT_GPU_OP : AT_GPU;
}

enum Place events_place(const Line *line, const Plane *cpu)
{
    const Plane *plane = line->plane;
    if (plane == cpu) return AT_HOST;
    if (plane->kind == PLANE_GPU) return place_on_gpu(line);
    if (is_numbered_core(plane))
        return line->proto_id > 0 && line->proto_id < (int64_t)COUNT(OF_CORE)
                   ? OF_CORE[line->proto_id]
                   : AT_NONE;
    if (plane->prefix == PREFIX_CUSTOM) return AT_CUSTOM;
    return is_tpu(plane) ? AT_TPU : AT_NONE;
}

/* ---- stats ---- */

static void keep_stat(EventsRows *r, const Stat *stat)
{
    static const uint8_t kept_as[N_KNOWN_STATS] = {
        [STAT_CORRELATION_ID] = KEPT_CORRELATION + 1,
        [STAT_FLOW] = KEPT_FLOW + 1,
        [STAT_SOURCE] = KEPT_SOURCE + 1,
        [STAT_KERNEL_DETAILS] = KEPT_DETAILS + 1,
        [STAT_TF_OP] = KEPT_TF_OP + 1,
        [STAT_HLO_OP] = KEPT_HLO_OP + 1,
        [STAT_HLO_MODULE] = KEPT_MODULE + 1,
        [STAT_PROGRAM_ID] = KEPT_PROGRAM + 1,
        [STAT_SHAPE] = KEPT_SHAPES + 1,
        [STAT_FLOPS] = KEPT_FLOPS + 1,
        [STAT_BYTES_ACCESSED] = KEPT_BYTES + 1,
    };
    const StatMeta *meta = stat_meta(r->line->plane, stat->id);
    int kind = meta ? kept_as[meta->known] - 1 : -1;
    bool text = stat->type == TYPE_STR || stat->type == TYPE_REF;
    if (kind < 0) return;
    /* Of several the last counts, even if it is not a text and so names no op or kernel. */
    r->kept[kind] = *stat;
    r->has_stat[kind] =
        text || (kind != KEPT_HLO_OP && kind != KEPT_MODULE && kind != KEPT_DETAILS);
}

bool meta_stats(RowCursor *c, EventsRows *r, StatIter *stats)
{
    *stats = (StatIter){0};
    if (!shows_metadata(r->place)) return true;
    if (!meta_bytes_read(&r->meta, c->host, r->event.meta, &c->err)) return false;
    *stats = stat_iter_of_meta(&r->meta);
    return true;
}

static bool read_stats(RowCursor *c, EventsRows *r)
{
    StatIter shared, own = stat_iter_of_event(&r->event);
    Stat stat;
    if (r->has_stats) return true;
    if (!meta_stats(c, r, &shared)) return false;
    memset(r->has_stat, 0, sizeof r->has_stat);
    while (stat_iter_next(&shared, &stat)) keep_stat(r, &stat);
    while (stat_iter_next(&own, &stat)) keep_stat(r, &stat);
    return r->has_stats = true;
}

const Stat *kept_stat(RowCursor *c, EventsRows *r, enum KeptStat which)
{
    return read_stats(c, r) && r->has_stat[which] ? &r->kept[which] : NULL;
}

Slice kept_text(RowCursor *c, EventsRows *r, enum KeptStat which)
{
    const Stat *stat = kept_stat(c, r, which);
    return stat ? stat_text(r->line->plane, stat) : (Slice){"", 0};
}

bool is_empty_text(RowCursor *c, EventsRows *r, enum KeptStat which)
{
    const Stat *stat = kept_stat(c, r, which);
    return stat && (stat->type == TYPE_STR || stat->type == TYPE_REF) && !kept_text(c, r, which).n;
}

/* ---- groups ---- */

static const Grouping *grouping_of(RowCursor *c, EventsRows *r)
{
    if (r->grouping) return r->grouping;
    Statement s;
    statement_open(&s, row_db(c));
    r->grouping = host_plain_grouping(c->host, &c->err);
    statement_end(&s, &c->err);
    return r->grouping;
}

int64_t grouped_value(RowCursor *c, EventsRows *r, bool eager)
{
    const Grouping *g = grouping_of(c, r);
    const LineGroups *groups = g ? line_groups(g, r->line) : NULL;
    const Packed *packed = NULL;
    if (groups) packed = eager ? groups->eager : groups->groups;
    uint64_t at = index_of(r);
    return packed ? packed_at(&packed[at / CHUNK_EVENTS], (size_t)(at % CHUNK_EVENTS)) : -1;
}
