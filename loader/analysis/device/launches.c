// SPDX-License-Identifier: Apache-2.0
/* launches.c: finds the launch of each kernel; see launches.h. */
#include "launches.h"

#include "../../base/interrupt.h"
#include "../../base/list.h"
#include "../../base/search.h"
#include "../../base/sort.h"
#include "../../store/event_values.h"
#include "../../store/events.h"
#include "../../store/lines.h"

/* The calls and the work of one line. */
typedef struct {
    LIST(Launch) calls; /* on a host line: its events with a correlation id, in stored order */
    /* On a device line, in Launches.work. Until find_launches(), `launch` says whether it has a
     * correlation id, and `free_ps` is that id. */
    LaunchedWork *work;
    size_t n_work;
} LineLaunches;

typedef struct {
    Host *host;
    LineLaunches *lines;
    Launches *result;
    int64_t last_end_ps; /* of the work of all devices; INT64_MIN if there is none */
} LaunchesBuilder;

/* ---- events with a correlation id ---- */

/* Reads the ids and times of a line: on a device line, also of events without an id, which occupy
 * the stream. */
static void read_line(LaunchesBuilder *m, size_t i, ProfErr *err)
{
    Line *line = &m->host->lines[i];
    LineLaunches *out = &m->lines[i];
    bool calls = line->plane->kind == PLANE_HOST;
    int64_t covered_ps = INT64_MIN, id = 0;
    IntegerReader reader;
    EventAt e;
    bool has_id;
    integer_reader_open(&reader, line, STAT_CORRELATION_ID, err);
    while (integer_reader_next(&reader, &e, &has_id, &id) && !err->code) {
        if (e.occurrences >= 0) continue;
        if (!calls) {
            out->work[out->n_work++] =
                (LaunchedWork){line, e.event, e.meta, e.start_ps, e.duration_ps, id, has_id};
            continue;
        }
        Launch *call = has_id ? PUSH(out->calls) : NULL;
        if (call)
            *call = (Launch){(uint64_t)id,
                             e.event,
                             e.start_ps,
                             e.duration_ps,
                             line,
                             (uint32_t)(e.meta - line->plane->event_metas),
                             e.start_ps >= covered_ps};
        else if (has_id)
            prof_nomem(err);
        int64_t end_ps = add_saturated(e.start_ps, e.duration_ps > 0 ? e.duration_ps : 0);
        if (end_ps > covered_ps) covered_ps = end_ps;
    }
    integer_reader_close(&reader);
}

static bool has_calls(const Line *line)
{
    return line->plane->kind == PLANE_HOST && !line->derived && line->n_events &&
           plane_declares(line->plane, STAT_CORRELATION_ID);
}
static bool has_work(const Line *line)
{
    return line->plane->kind == PLANE_GPU && !line->derived && line->n_events &&
           plane_declares(line->plane, STAT_CORRELATION_ID);
}

static void read_line_with_ids(void *context, size_t i, ProfErr *err)
{
    LaunchesBuilder *m = context;
    const Line *line = &m->host->lines[i];
    if (has_calls(line) || has_work(line)) read_line(m, i, err);
}

/* ---- launches ---- */

/* Sorts calls: of those with one id, the first counts; of several that start together, the longest.
 */
static int by_id(const void *a, const void *b)
{
    const Launch *x = a, *y = b;
    if (x->correlation_id != y->correlation_id) return ORDER(x->correlation_id, y->correlation_id);
    return BY_START_THEN_LONGEST(x, y, start_ps, duration_ps, event);
}

static void join_calls(LaunchesBuilder *m, ProfErr *err)
{
    Launches *all = m->result;
    size_t n = 0;
    for (size_t i = 0; i < m->host->n_lines; i++) n += m->lines[i].calls.n;
    all->launches = prof_buffer(n * sizeof *all->launches);
    all->calls = prof_buffer(n * sizeof *all->calls);
    if (!all->launches || !all->calls) {
        prof_nomem(err);
        return;
    }
    for (size_t i = 0; i < m->host->n_lines; i++)
        for (size_t k = 0; k < m->lines[i].calls.n; k++) {
            all->calls[all->n_calls++] = m->lines[i].calls.items[k].event;
            all->launches[all->n_launches++] = m->lines[i].calls.items[k];
        }
    sort_array(all->launches, n, sizeof *all->launches, by_id);
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        if (!kept || all->launches[kept - 1].correlation_id != all->launches[i].correlation_id)
            all->launches[kept++] = all->launches[i];
    all->n_launches = kept;
}

const Launch *launch_of(const Launches *all, uint64_t correlation_id)
{
    const Launch *launches = all->launches;
    size_t at = LOWER_BOUND(i, 0, all->n_launches, launches[i].correlation_id < correlation_id);
    return at < all->n_launches && launches[at].correlation_id == correlation_id ? &launches[at]
                                                                                 : NULL;
}

static int by_start_of_work(const void *a, const void *b)
{
    const LaunchedWork *x = a, *y = b;
    return BY_START_THEN_LONGEST(x, y, start_ps, duration_ps, event);
}

/* Finds the launch of each event of a line. */
static void find_launches(LaunchesBuilder *m, LineLaunches *line, ProfErr *err)
{
    const Launches *all = m->result;
    int64_t free_ps = INT64_MIN;
    for (size_t i = 0; i < line->n_work; i++) {
        LaunchedWork *work = &line->work[i];
        const Launch *launch = work->launch ? launch_of(all, (uint64_t)work->free_ps) : NULL;
        work->launch = launch ? (uint32_t)(launch - all->launches) : UINT32_MAX;
    }
    sort_array(line->work, line->n_work, sizeof *line->work, by_start_of_work);
    for (size_t i = 0; i < line->n_work; i++) {
        LaunchedWork *work = &line->work[i];
        int64_t end = add_saturated(work->start_ps, work->duration_ps);
        work->free_ps = free_ps;
        if (end > free_ps) free_ps = end;
    }
    if (free_ps > m->last_end_ps) m->last_end_ps = free_ps;
    interrupt_poll(0, err);
}

/* Keeps the work that has a launch. */
static void join_work(LaunchesBuilder *m, ProfErr *err)
{
    Launches *all = m->result;
    for (size_t i = 0; i < m->host->n_lines && !err->code; i++) {
        LineLaunches *line = &m->lines[i];
        find_launches(m, line, err);
        for (size_t k = 0; k < line->n_work; k++)
            if (line->work[k].launch != UINT32_MAX) all->work[all->n_work++] = line->work[k];
    }
}

/* ---- launches without work ---- */

static int by_address(const void *a, const void *b)
{
    uintptr_t x = (uintptr_t) * (const EventMeta *const *)a,
              y = (uintptr_t) * (const EventMeta *const *)b;
    return ORDER(x, y);
}

/* Returns the names of calls that launched the work, sorted by address. NULL if memory runs out. */
static const EventMeta **names_of_launches(const Launches *all)
{
    const EventMeta **names = prof_buffer(all->n_work * sizeof *names);
    for (size_t i = 0; names && i < all->n_work; i++)
        names[i] = launch_meta(&all->launches[all->work[i].launch]);
    if (names) sort_array(names, all->n_work, sizeof *names, by_address);
    return names;
}

/* Records an issue if calls that launch work go on after the end of all work: a profiler that drops
 * events of devices does not say so in the file. */
static void find_lost_work(LaunchesBuilder *m, ProfErr *err)
{
    const Launches *all = m->result;
    const EventMeta **names = NULL;
    uint64_t n = 0;
    int64_t last_ps = m->last_end_ps;
    for (size_t i = 0; i < all->n_launches && all->n_work && !err->code; i++) {
        const Launch *l = &all->launches[i];
        if (l->start_ps <= m->last_end_ps) continue;
        const EventMeta *meta = launch_meta(l);
        if (!names && !(names = names_of_launches(all))) {
            prof_nomem(err);
        } else if (bsearch(&meta, names, all->n_work, sizeof *names, by_address)) {
            n++;
            if (l->start_ps > last_ps) last_ps = l->start_ps;
        }
    }
    prof_free(names);
    if (n && !err->code)
        host_issue(m->host, "warning", "launches_without_work", m->host->lines,
                   "what the last %llu launch%s started on GPUs is missing, %.3f ms long: the "
                   "profiler stopped before the work ended, or its limit of events was reached "
                   "(JAX: advanced_configuration, gpu_max_activity_api_events). Steps and shares "
                   "of GPUs cover only the time before",
                   (unsigned long long)n, n == 1 ? "" : "es",
                   (double)(last_ps - m->last_end_ps) / 1e9);
}

/* ---- the analysis ---- */

static void launches_release(void *result)
{
    Launches *all = result;
    prof_free(all->launches);
    prof_free(all->work);
    prof_free(all->calls);
    prof_free(all);
}

static void find_all(LaunchesBuilder *m, ProfErr *err)
{
    Host *host = m->host;
    size_t n = 0;
    for (size_t i = 0; i < host->n_lines; i++)
        if (has_work(&host->lines[i])) n += host->lines[i].n_events;
    LaunchedWork *work = m->result->work = prof_buffer(n * sizeof *work);
    if (!work) {
        prof_nomem(err);
        return;
    }
    for (size_t i = 0; i < host->n_lines; i++)
        if (has_work(&host->lines[i])) m->lines[i].work = work, work += host->lines[i].n_events;
    if (parallel_lines(host->lines, host->n_lines, read_line_with_ids, m, err)) return;
    join_calls(m, err);
    if (!err->code) join_work(m, err);
    if (!err->code) find_lost_work(m, err);
}

static void *launches_make(Run *run, Host *only, ProfErr *err)
{
    Host *host = only ? only : &run->hosts[0];
    LaunchesBuilder m = {.host = host,
                         .last_end_ps = INT64_MIN,
                         .lines = prof_alloc(host->n_lines * sizeof *m.lines),
                         .result = prof_alloc(sizeof(Launches))};
    if (!m.result || !m.lines) prof_nomem(err);
    if (!err->code) find_all(&m, err);
    for (size_t i = 0; m.lines && i < host->n_lines; i++) prof_free(m.lines[i].calls.items);
    prof_free(m.lines);
    if (err->code && m.result) launches_release(m.result), m.result = NULL;
    return m.result;
}

const Launches *host_launches(Host *host, ProfErr *err)
{
    static const Analysis analysis = {launches_make, launches_release, NEEDS_ONE_HOST_AT_A_TIME};
    return run_analysis(host->run, host, &analysis, err);
}

int64_t launch_delay_ps(const Launches *all, const LaunchedWork *work)
{
    return sub_saturated(work->start_ps, all->launches[work->launch].start_ps);
}
