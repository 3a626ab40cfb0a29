// SPDX-License-Identifier: Apache-2.0
/* xprof_events_args.c: the column trace_args of the table xprof_events: the stats without a column
 * of their own; see xprof_events_row.h. */
#include "xprof_events_row.h"
SQLITE_EXTENSION_INIT3

#include <math.h>

/* Values from grouping, which replace the file's own stat; of several, the first. */
enum Grouped { GROUPED_STEP_NAME, GROUPED_GROUP, GROUPED_EAGER, N_GROUPED };
static const enum KnownStat grouped_stats[N_GROUPED] = {STAT_STEP_NAME, STAT_GROUP_ID,
                                                        STAT_IS_EAGER};

typedef struct {
    sqlite3_str *out;
    const Plane *plane;
    enum Place place;
    const char *grouped[N_GROUPED]; /* NULL: grouping has no value */
    bool written[N_GROUPED];
} Args;

static bool has_column(enum Place place, unsigned known)
{
    switch (known) {
    case STAT_CORRELATION_ID:
    case STAT_GROUP_ID: return place == AT_HOST || place == AT_GPU;
    case STAT_FLOW: return place == AT_HOST;
    case STAT_SOURCE: return place != AT_GPU;
    case STAT_TF_OP: return place != AT_HOST;
    case STAT_FLOPS:
    case STAT_BYTES_ACCESSED: return shows_metadata(place);
    case STAT_KERNEL_DETAILS:
    case STAT_HLO_OP:
    case STAT_HLO_MODULE:
    case STAT_PROGRAM_ID:
    case STAT_SHAPE: return place == AT_GPU;
    default: return false;
    }
}

/* Appends a number as XProf prints it: six digits, and 0 below the normal range of a double. */
static void add_real(sqlite3_str *out, double value)
{
    char digits[40];
    if (fpclassify(value) == FP_SUBNORMAL) value = copysign(0, value);
    print_real(digits, sizeof digits, "%g", isnan(value) ? NAN : value);
    sqlite3_str_appendall(out, digits);
}

static bool add_value(sqlite3_str *out, const Plane *plane, const Stat *stat)
{
    switch (stat->type) {
    case TYPE_DOUBLE: add_real(out, stat->number); break;
    case TYPE_UINT64: sqlite3_str_appendf(out, "%llu", (unsigned long long)stat->u64); break;
    case TYPE_INT64: sqlite3_str_appendf(out, "%lld", (long long)stat->integer); break;
    case TYPE_BYTES: sqlite3_str_appendall(out, "<opaque bytes>"); break;
    case TYPE_REF:
        sqlite3_str_append(out, stat_ref_text(plane, stat->u64)->text,
                           (int)stat_ref_text(plane, stat->u64)->n_bytes);
        break;
    case TYPE_STR: {
        char *fixed = sqlite3_malloc64(stat->n_bytes * 3 + 1);
        if (!fixed) return false;
        sqlite3_str_append(out, fixed, (int)utf8_repair(stat->bytes, stat->n_bytes, fixed));
        sqlite3_free(fixed);
        break;
    }
    default: break;
    }
    return true;
}

static void add_name(Args *args, const char *name, size_t n)
{
    if (sqlite3_str_length(args->out)) sqlite3_str_appendchar(args->out, 1, ',');
    sqlite3_str_append(args->out, name, (int)n);
    sqlite3_str_appendchar(args->out, 1, '=');
}

static bool add_args(Args *args, StatIter stats)
{
    Stat stat;
    while (stat_iter_next(&stats, &stat)) {
        const StatMeta *meta = stat_meta(args->plane, stat.id);
        const Text *name = stat_name(args->plane, &stat);
        const char *grouped = NULL;
        if (meta && has_column(args->place, meta->known)) continue;
        for (int i = 0; i < N_GROUPED && meta; i++)
            if (meta->known == grouped_stats[i] && !args->written[i])
                args->written[i] = true, grouped = args->grouped[i];
        add_name(args, name->text, name->n_bytes);
        if (grouped)
            sqlite3_str_appendall(args->out, grouped);
        else if (!add_value(args->out, args->plane, &stat))
            return false;
    }
    return true;
}

/* Returns the group that the event names. If it has several stats group_id, its own group may be
 * another. */
static const Group *group_named_by(const EventsRows *r, int64_t group)
{
    const Grouping *g = r->grouping;
    if (group >= 0 && (uint64_t)group < g->n_groups && g->groups[group].root == r->event.event)
        return &g->groups[group];
    if (r->line->chunks[index_of(r) / CHUNK_EVENTS].repeats_group)
        for (size_t i = 0; i < g->n_groups; i++)
            if (g->groups[i].root == r->event.event) return &g->groups[i];
    return NULL;
}

void args_column(RowCursor *c, EventsRows *r, sqlite3_context *ctx)
{
    char group_digits[24], eager_digits[24];
    int64_t group = grouped_value(c, r, false), eager = grouped_value(c, r, true);
    StatIter shared;
    if (!meta_stats(c, r, &shared) || c->err.code) return;
    const Group *g = group_named_by(r, group);
    Args args = {.out = sqlite3_str_new(NULL), .plane = r->line->plane, .place = r->place};
    if (g && g->explicit) args.grouped[GROUPED_STEP_NAME] = g->name ? g->name : "";
    if (group >= 0)
        args.grouped[GROUPED_GROUP] =
            sqlite3_snprintf(sizeof group_digits, group_digits, "%lld", (long long)group);
    if (eager >= 0)
        args.grouped[GROUPED_EAGER] =
            sqlite3_snprintf(sizeof eager_digits, eager_digits, "%lld", (long long)eager);
    bool memory = add_args(&args, shared) && add_args(&args, stat_iter_of_event(&r->event));
    for (int i = 0; i < N_GROUPED; i++) {
        if (!args.grouped[i] || args.written[i] || has_column(r->place, grouped_stats[i])) continue;
        add_name(&args, known_stat_names[grouped_stats[i]],
                 strlen(known_stat_names[grouped_stats[i]]));
        sqlite3_str_appendall(args.out, args.grouped[i]);
    }
    if (!memory)
        sqlite3_free(sqlite3_str_finish(args.out)), sqlite3_result_error_nomem(ctx);
    else
        result_built(ctx, args.out);
}
