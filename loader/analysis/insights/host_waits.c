// SPDX-License-Identifier: Apache-2.0
/* host_waits.c: sums the waits of host threads for devices; see host_waits.h. */
#include "host_waits.h"

#include "../../base/interrupt.h"
#include "../../base/list.h"
#include "../../base/sort.h"
#include "../../store/events.h"
#include "../../store/lines.h"
#include "idle_causes.h"

#include <string.h>

/* ---- names ---- */

/* Returns whether a name is that of a Python function: a frame of a file, or a method of a builtin.
 */
static bool is_frame_of(Slice name, const char *function)
{
    size_t n = strlen(function);
    if (!name.n || *name.text != '$' || name.n < n + 2 || !slice_ends(name, function)) return false;
    char before = name.text[name.n - n - 1];
    return before == ' ' || before == '.';
}

/* Waits for threads of XLA's CPU executor are none. */
static bool is_wait(Slice name)
{
    if (is_frame_of(name, "item") || is_frame_of(name, "tolist")) return true;
    return idle_cause_of(name) == IDLE_WAITING && !slice_contains(name, "(wait for completion)") &&
           !slice_contains(name, "ThreadPool::Await");
}

/* ---- a thread ---- */

typedef struct {
    int64_t start_ps, duration_ps;
    uint64_t event;
    const Text *name;
} Wait;

typedef struct {
    LIST(HostWait) rows;
    LIST(Wait) unordered; /* of a line that is not sorted by start */
    HashTable by_name;
    size_t last; /* index of the row of the wait before */
    bool any;
    int64_t end_ps; /* of the waits before, the latest; only if there is any */
} LineWaits;

typedef struct {
    Host *host;
    bool **waits; /* by plane and event metadata; NULL: none of the plane is a wait */
    LineWaits *of_line;
} Build;

/* Returns the row of a name. NULL if memory runs out. */
static HostWait *find_row(LineWaits *l, const Line *line, const Text *name)
{
    if (l->last < l->rows.n && l->rows.items[l->last].name == name) return &l->rows.items[l->last];
    uint64_t hash = hash64((uint64_t)(uintptr_t)name);
    HASH_EACH(i, &l->by_name, hash)
        if (l->rows.items[i].name == name) return &l->rows.items[l->last = i];
    HostWait *row = PUSH_KEYED(l->rows, &l->by_name, hash);
    if (!row) return NULL;
    *row = (HostWait){.line = line, .name = name};
    l->last = l->rows.n - 1;
    return row;
}

/* Adds a wait, unless it starts within another one. They come by start, the longest first. */
static bool add_wait(LineWaits *l, const Line *line, const Wait *wait)
{
    bool inside = l->any && wait->start_ps < l->end_ps;
    int64_t end_ps = add_saturated(wait->start_ps, wait->duration_ps);
    if (!l->any || end_ps > l->end_ps) l->end_ps = end_ps;
    l->any = true;
    if (inside) return true;
    HostWait *row = find_row(l, line, wait->name);
    if (!row) return false;
    row->n++;
    row->total_ps += (double)wait->duration_ps;
    if (row->n == 1 || wait->duration_ps > row->longest_ps) {
        row->longest = wait->event;
        row->longest_ps = wait->duration_ps, row->longest_start_ps = wait->start_ps;
    }
    return true;
}

static int by_start_then_longest(const void *a, const void *b)
{
    const Wait *x = a, *y = b;
    return BY_START_THEN_LONGEST(x, y, start_ps, duration_ps, event);
}

static void read_line(void *context, size_t i, ProfErr *err)
{
    const Build *b = context;
    Line *line = &b->host->lines[i];
    const bool *waits = b->waits[line->plane - b->host->planes];
    LineWaits *l = &b->of_line[i];
    EventReader reader;
    EventAt e;
    if (line->derived || !waits) return;
    event_reader_open(&reader, line, 0, err);
    while (!err->code && event_reader_next(&reader, &e)) {
        if (!waits[e.meta - line->plane->event_metas] || e.occurrences >= 0) continue;
        Wait wait = {e.start_ps, e.duration_ps, e.event, e.meta->name};
        Wait *later = line->ordered ? NULL : PUSH(l->unordered);
        if (later) *later = wait;
        if (line->ordered ? !add_wait(l, line, &wait) : !later) prof_nomem(err);
    }
    event_reader_close(&reader);
    sort_in_place(l->unordered.items, l->unordered.n, sizeof *l->unordered.items,
                  by_start_then_longest);
    for (size_t k = 0; k < l->unordered.n && !interrupt_poll(1, err); k++)
        if (!add_wait(l, line, &l->unordered.items[k])) prof_nomem(err);
}

/* ---- the analysis ---- */

static void find_waits(Build *b, const Plane *plane, ProfErr *err)
{
    bool any = false, *waits = prof_alloc(plane->n_event_metas * sizeof *waits);
    if (!waits) prof_nomem(err);
    for (size_t i = 0; i < plane->n_event_metas && !interrupt_poll(1, err); i++)
        any |= waits[i] = is_wait(slice_of(plane->event_metas[i].name));
    if (any)
        b->waits[plane - b->host->planes] = waits;
    else
        prof_free(waits);
}

static void join_lines(const Build *b, HostWaits *out, ProfErr *err)
{
    size_t n = 0;
    for (size_t i = 0; i < b->host->n_lines; i++) n += b->of_line[i].rows.n;
    if (!(out->rows = prof_buffer(n * sizeof *out->rows))) {
        prof_nomem(err);
        return;
    }
    for (size_t i = 0; i < b->host->n_lines; i++) {
        const LineWaits *l = &b->of_line[i];
        if (l->rows.n) memcpy(&out->rows[out->n], l->rows.items, l->rows.n * sizeof *out->rows);
        out->n += l->rows.n;
    }
}

static void build_free(Build *b)
{
    for (size_t i = 0; b->of_line && i < b->host->n_lines; i++) {
        prof_free(b->of_line[i].rows.items);
        prof_free(b->of_line[i].unordered.items);
        hash_free(&b->of_line[i].by_name);
    }
    for (size_t i = 0; b->waits && i < b->host->n_planes; i++) prof_free(b->waits[i]);
    prof_free(b->of_line);
    prof_free(b->waits);
}

static void host_waits_release(void *result)
{
    HostWaits *out = result;
    prof_free(out->rows);
    prof_free(out);
}

static void *host_waits_make(Run *run, Host *only, ProfErr *err)
{
    Host *host = only ? only : &run->hosts[0];
    HostWaits *out = prof_alloc(sizeof *out);
    Build b = {.host = host,
               .waits = prof_alloc((host->n_planes + 1) * sizeof *b.waits),
               .of_line = prof_alloc((host->n_lines + 1) * sizeof *b.of_line)};
    if (!out || !b.waits || !b.of_line) prof_nomem(err);
    for (size_t i = 0; i < host->n_planes && host->readable && !err->code; i++)
        if (host->planes[i].kind == PLANE_HOST) find_waits(&b, &host->planes[i], err);
    if (!err->code) parallel_lines_of(host, PLANE_HOST, read_line, &b, err);
    if (!err->code) join_lines(&b, out, err);
    build_free(&b);
    if (!err->code) return out;
    if (out) host_waits_release(out);
    return NULL;
}

const HostWaits *host_waits(Host *host, ProfErr *err)
{
    static const Analysis analysis = {host_waits_make, host_waits_release,
                                      NEEDS_ONE_HOST_AT_A_TIME};
    return run_analysis(host->run, host, &analysis, err);
}
