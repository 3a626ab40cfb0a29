// SPDX-License-Identifier: Apache-2.0
/* gaps.c: the table gaps: when a device does nothing between two pieces of work.
 *
 *   SELECT plane, before, after, duration_us
 *     FROM gaps('logs', 10) ORDER BY duration_ps DESC; */
#include "../loader/analysis/device/gaps.h"
#include "../loader/base/interrupt.h"
#include "../loader/base/sort.h"
#include "../loader/store/events.h"

#include "prof.h"
SQLITE_EXTENSION_INIT3

#define BEFORE                                                                                     \
    "that ends at the start of the gap; if there are several, the one that started first, then "   \
    "the first in the file"
#define AFTER                                                                                      \
    "that starts at the end of the gap; if there are several on one line, the one that contains "  \
    "the others (longest, then first in the file); if there are several lines, the one that ends " \
    "first"
#define GAPS_COLUMNS(C)                                                                            \
    C(GA_RUN, RUN_DOC)                                                                             \
    C(GA_HOST, HOST_DOC)                                                                           \
    C(GA_PLANE_ID, PLANE_ID_DOC)                                                                   \
    C(GA_PLANE, PLANE_DOC)                                                                         \
    C(GA_START, "start_ps", "INTEGER", "ps",                                                       \
      "start of the gap, from the session start. Until then the device is busy; ops that wait, "   \
      "such as copy-done, count as busy",                                                          \
      "libprofsql")                                                                                \
    C(GA_START_US, START_US_DOC)                                                                   \
    C(GA_DURATION, "duration_ps", "INTEGER", "ps", "duration of the gap", "libprofsql")            \
    C(GA_DURATION_US, DURATION_US_DOC)                                                             \
    C(GA_BEFORE_EVENT, "before_event_id", "INTEGER", NULL, "event_id of the op " BEFORE,           \
      "libprofsql")                                                                                \
    C(GA_BEFORE, "before", "TEXT", NULL, "name of the op " BEFORE,                                 \
      "XEventMetadata.display_name, else XEventMetadata.name")                                     \
    C(GA_BEFORE_SHORT, "before_short_name", "TEXT", NULL,                                          \
      "readable form of before, as trace_events.short_name", "libprofsql")                         \
    C(GA_AFTER_EVENT, "after_event_id", "INTEGER", NULL, "event_id of the op " AFTER,              \
      "libprofsql")                                                                                \
    C(GA_AFTER, "after", "TEXT", NULL, "name of the op " AFTER,                                    \
      "XEventMetadata.display_name, else XEventMetadata.name")                                     \
    C(GA_AFTER_SHORT, "after_short_name", "TEXT", NULL,                                            \
      "readable form of after, as trace_events.short_name", "libprofsql")                          \
    C(GA_SOURCE, SOURCE_DOC)                                                                       \
    C(GA_N, "n", "INTEGER HIDDEN", NULL,                                                           \
      "number of longest gaps to return for each run; gaps as long as the last of these are "      \
      "included; NULL, the default: all",                                                          \
      "argument 2")
enum { GAPS_COLUMNS(COLUMN_ENUM) };
static const Column gaps_columns[] = {GAPS_COLUMNS(COLUMN_DOC)};

typedef struct {
    uint64_t least; /* least duration of a row */
    const Gaps *all;
    size_t plane, piece; /* the current piece; the row is the gap before it */
} GapsState;

static int longest_first(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return (*x < *y) - (*x > *y);
}

/* Returns the duration of the n-th gap by duration. Whenever there are 2 n, the shorter half is
 * dropped. */
static uint64_t least_duration(const Gaps *all, size_t n, ProfErr *err)
{
    size_t n_gaps = 0, n_kept = 0;
    for (size_t p = 0; p < all->n_planes; p++) n_gaps += all->planes[p].pieces.n;
    if (n >= n_gaps) return 0;
    uint64_t *kept = prof_buffer(2 * n * sizeof *kept), least = 0;
    if (!kept) {
        prof_nomem(err);
        return 0;
    }
    for (size_t p = 0; p < all->n_planes; p++) {
        for (size_t i = 1; i < all->planes[p].pieces.n && !interrupt_poll(1, err); i++) {
            uint64_t duration = gap_before(&all->planes[p].pieces.items[i]);
            if (duration < least) continue;
            kept[n_kept++] = duration;
            if (n_kept < 2 * n) continue;
            sort_array(kept, n_kept, sizeof *kept, longest_first);
            n_kept = n, least = kept[n - 1];
        }
    }
    sort_array(kept, n_kept, sizeof *kept, longest_first);
    if (n_kept >= n) least = kept[n - 1];
    prof_free(kept);
    return least;
}

static bool gaps_open(RowCursor *c)
{
    GapsState *state = c->state;
    sqlite3_int64 n = row_integer_parameter(c, 0, INT64_MAX);
    if (n <= 0 || !(state->all = run_gaps(c->from->run, c->from->only, &c->err))) return false;
    state->least = least_duration(state->all, (size_t)n, &c->err);
    return !c->err.code;
}

static bool gaps_next(RowCursor *c)
{
    GapsState *s = c->state;
    if (!c->started && !gaps_open(c)) return false;
    for (; s->all && s->plane < s->all->n_planes; s->plane++, s->piece = 0) {
        const PlaneGaps *p = &s->all->planes[s->plane];
        if (p->plane->host != c->host || !row_wanted(c, KEY_PLANE_ID, p->plane->plane_id)) continue;
        while (++s->piece < p->pieces.n) {
            const BusyPiece *piece = &p->pieces.items[s->piece];
            if (gap_before(piece) < s->least) continue;
            c->place = piece->first;
            return true;
        }
    }
    return false;
}

static void result_op(RowCursor *c, sqlite3_context *ctx, uint64_t event, bool short_name)
{
    Line *line = run_line_of_event(c->from->run, event);
    const EventMeta *meta = line ? event_meta_at(line, event - line->first_event, &c->err) : NULL;
    if (!meta) return;
    if (short_name && line->plane->kind == PLANE_GPU)
        result_kernel(c, ctx, meta->name);
    else
        result_text(ctx, meta->display_name->n_bytes ? meta->display_name : meta->name);
}

static void gaps_column(RowCursor *c, sqlite3_context *ctx, int column)
{
    const GapsState *s = c->state;
    const PlaneGaps *p = &s->all->planes[s->plane];
    const BusyPiece *after = &p->pieces.items[s->piece], *before = after - 1;
    switch (column) {
    case GA_PLANE_ID: sqlite3_result_int64(ctx, p->plane->plane_id); break;
    case GA_PLANE: result_text(ctx, p->plane->name); break;
    case GA_START:
    case GA_START_US: result_time(ctx, before->end_ps, column == GA_START_US); break;
    case GA_DURATION:
    case GA_DURATION_US: result_span(ctx, gap_before(after), column == GA_DURATION_US); break;
    case GA_BEFORE_EVENT: sqlite3_result_int64(ctx, (sqlite3_int64)before->last); break;
    case GA_AFTER_EVENT: sqlite3_result_int64(ctx, (sqlite3_int64)after->first); break;
    case GA_BEFORE:
    case GA_BEFORE_SHORT: result_op(c, ctx, before->last, column == GA_BEFORE_SHORT); break;
    default: result_op(c, ctx, after->first, column == GA_AFTER_SHORT); break;
    }
}

static double gaps_count(const Counts *counts) { return counts->events / 16; }

static const RowSource gaps_rows = {
    .next = gaps_next,
    .column = gaps_column,
    .state_bytes = sizeof(GapsState),
    .count = gaps_count,
    .reads_events = true,
    .n_parameters = 1,
    .needs = NEED_EVENTS,
    .nothing = "no device (in a run without devices, no process) is idle between two ops"};
const Table gaps_table = {
    "gaps",
    "one gap between two ops of a device; in a run without work on devices, between two ops of a "
    "process",
    gaps_columns,
    COUNT(gaps_columns),
    &row_table_module,
    &gaps_rows,
    1000,
    "0.1.0",
    "SELECT plane, before, after, duration_us FROM gaps WHERE n = 10 ORDER BY duration_ps DESC"};
