// SPDX-License-Identifier: Apache-2.0
/* launches.c: finds the launch of each kernel; see launches.h.
 *
 * Events that do not contain the start of a launch are dropped when they are read. The others are
 * visited once, by start. If an event starts later and ends no earlier than another, it is the
 * inner one of the two for all later launches. So the events that still matter are a stack, in
 * which later ones end earlier. */
#include "launches.h"

#include "../../base/interrupt.h"
#include "../../base/list.h"
#include "../../base/search.h"
#include "../../base/sort.h"
#include "../../store/event_values.h"
#include "../../store/events.h"
#include "../../store/lines.h"

/* An event that contains the start of a launch. */
typedef struct {
    int64_t start_ps, end_ps, place; /* place: as in Moment */
    const Line *line;
    LaunchContext event;
} Container;

/* The calls and the work of one line. */
typedef struct {
    LIST(Launch) calls;      /* on a host line: its events with a correlation id, in stored order */
    LIST(LaunchedWork) work; /* on a device line; .launch is not set yet */
    LIST(uint64_t) ids;      /* correlation ids of `work` */
    LIST(Container) containers;
} LineLaunches;

/* The start of a launch. Its containers have the same place: process, or line. */
typedef struct {
    int64_t place, start_ps, end_ps;
    uint32_t launch;
} Moment;

typedef struct {
    Host *host;
    LineLaunches *lines;
    Launches *result;
    int64_t last_end_ps; /* of the work of all devices; INT64_MIN if there is none */
    Moment *moments;     /* by place, then by start */
    size_t n_moments;
} LaunchesBuilder;

bool is_python_frame(const EventMeta *meta) { return meta->name->text[0] == '$'; }

/* ---- events with a correlation id ---- */

static void add_event(LineLaunches *out, const Line *line, const EventAt *e, bool has_id,
                      uint64_t id, ProfErr *err)
{
    if (line->plane->kind == PLANE_HOST) {
        Launch *call = has_id ? PUSH(out->calls) : NULL;
        if (call)
            *call = (Launch){id, e->event, e->meta, e->start_ps, e->duration_ps, line, {0}, {0}};
        if (has_id && !call) prof_nomem(err);
        return;
    }
    /* also without an id: it occupies the stream */
    LaunchedWork *work = PUSH(out->work);
    uint64_t *own = work ? PUSH(out->ids) : NULL;
    if (!own) {
        prof_nomem(err);
        return;
    }
    *work = (LaunchedWork){line, e->event, e->meta, e->start_ps, e->duration_ps, INT64_MIN, has_id};
    *own = id;
}

/* Reads the ids and times of a line: on a device line, of all events. */
static void read_line(LaunchesBuilder *m, size_t i, ProfErr *err)
{
    Line *line = &m->host->lines[i];
    IntegerReader reader;
    EventAt e;
    bool has_id;
    int64_t id = 0;
    integer_reader_open(&reader, line, STAT_CORRELATION_ID, err);
    while (integer_reader_next(&reader, &e, &has_id, &id) && !err->code)
        if (e.occurrences < 0) add_event(&m->lines[i], line, &e, has_id, (uint64_t)id, err);
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
    if (x->correlation_id != y->correlation_id)
        return x->correlation_id < y->correlation_id ? -1 : 1;
    return BY_START_THEN_LONGEST(x, y, start_ps, duration_ps, event);
}

static void join_calls(LaunchesBuilder *m, ProfErr *err)
{
    Launches *all = m->result;
    size_t n = 0;
    for (size_t i = 0; i < m->host->n_lines; i++) n += m->lines[i].calls.n;
    all->launches = prof_buffer(n * sizeof *all->launches);
    if (!all->launches) {
        prof_nomem(err);
        return;
    }
    for (size_t i = 0; i < m->host->n_lines; i++) {
        if (m->lines[i].calls.n)
            memcpy(&all->launches[all->n_launches], m->lines[i].calls.items,
                   m->lines[i].calls.n * sizeof *all->launches);
        all->n_launches += m->lines[i].calls.n;
    }
    sort_array(all->launches, n, sizeof *all->launches, by_id);
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        if (!kept || all->launches[kept - 1].correlation_id != all->launches[i].correlation_id)
            all->launches[kept++] = all->launches[i];
    all->n_launches = kept;
}

static int by_start_of_work(const void *a, const void *b)
{
    const LaunchedWork *x = a, *y = b;
    return BY_START_THEN_LONGEST(x, y, start_ps, duration_ps, event);
}

/* Finds the launch of each event of a line. Before that, `launch` says whether it has an id. */
static void find_launches(LaunchesBuilder *m, LineLaunches *line, ProfErr *err)
{
    const Launches *all = m->result;
    for (size_t i = 0; i < line->work.n; i++) {
        LaunchedWork *work = &line->work.items[i];
        uint64_t id = line->ids.items[i];
        size_t at = LOWER_BOUND(k, 0, all->n_launches, all->launches[k].correlation_id < id);
        bool found = work->launch && at < all->n_launches && all->launches[at].correlation_id == id;
        work->launch = found ? (uint32_t)at : UINT32_MAX;
    }
    sort_array(line->work.items, line->work.n, sizeof *line->work.items, by_start_of_work);
    int64_t free_ps = INT64_MIN;
    for (size_t i = 0; i < line->work.n; i++) {
        LaunchedWork *work = &line->work.items[i];
        int64_t end = add_saturated(work->start_ps, work->duration_ps);
        work->free_ps = free_ps;
        if (end > free_ps) free_ps = end;
    }
    if (free_ps > m->last_end_ps) m->last_end_ps = free_ps;
    interrupt_poll(0, err);
}

static void join_work(LaunchesBuilder *m, ProfErr *err)
{
    Launches *all = m->result;
    size_t n = 0;
    for (size_t i = 0; i < m->host->n_lines && !err->code; i++) {
        find_launches(m, &m->lines[i], err);
        for (size_t k = 0; k < m->lines[i].work.n; k++)
            n += m->lines[i].work.items[k].launch != UINT32_MAX;
    }
    if (!err->code && !(all->work = prof_buffer(n * sizeof *all->work))) prof_nomem(err);
    for (size_t i = 0; i < m->host->n_lines && !err->code; i++) {
        for (size_t k = 0; k < m->lines[i].work.n; k++)
            if (m->lines[i].work.items[k].launch != UINT32_MAX)
                all->work[all->n_work++] = m->lines[i].work.items[k];
        prof_free(m->lines[i].work.items);
        prof_free(m->lines[i].ids.items);
        m->lines[i].work.items = NULL, m->lines[i].ids.items = NULL;
    }
}

/* ---- launches without work ---- */

static int by_address(const void *a, const void *b)
{
    uintptr_t x = (uintptr_t) * (const EventMeta *const *)a,
              y = (uintptr_t) * (const EventMeta *const *)b;
    return (x > y) - (x < y);
}

/* Returns the names of calls that launched the work, sorted by address. NULL if memory runs out. */
static const EventMeta **names_of_launches(const Launches *all)
{
    const EventMeta **names = prof_buffer(all->n_work * sizeof *names);
    for (size_t i = 0; names && i < all->n_work; i++)
        names[i] = all->launches[all->work[i].launch].meta;
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
        if (!names && !(names = names_of_launches(all))) {
            prof_nomem(err);
        } else if (bsearch(&l->meta, names, all->n_work, sizeof *names, by_address)) {
            n++;
            if (l->start_ps > last_ps) last_ps = l->start_ps;
        }
    }
    prof_free(names);
    if (n && !err->code)
        host_issue(m->host, "warning", "launches_without_work", 0, 0, m->host->lines,
                   "what the last %llu launch%s started on GPUs is missing, %.3f ms long: the "
                   "profiler dropped it, for example because its limit of events was reached "
                   "(JAX: advanced_configuration, gpu_max_activity_api_events). Steps and shares "
                   "of GPUs cover only the time before",
                   (unsigned long long)n, n == 1 ? "" : "es",
                   (double)(last_ps - m->last_end_ps) / 1e9);
}

/* ---- containers of a launch ---- */

static int by_moment(const void *a, const void *b)
{
    const Moment *x = a, *y = b;
    if (x->place != y->place) return x->place < y->place ? -1 : 1;
    return (x->start_ps > y->start_ps) - (x->start_ps < y->start_ps);
}

/* Lists the starts of calls that launched something, sorted. */
static void list_moments(LaunchesBuilder *m, ProfErr *err)
{
    const Launches *all = m->result;
    bool *wanted = prof_alloc(all->n_launches);
    m->moments = prof_buffer(all->n_launches * sizeof *m->moments);
    if (!wanted || !m->moments) prof_nomem(err);
    for (size_t i = 0; i < all->n_work && !err->code; i++) wanted[all->work[i].launch] = true;
    for (size_t i = 0; i < all->n_launches && !err->code; i++) {
        const Launch *l = &all->launches[i];
        if (wanted[i])
            m->moments[m->n_moments++] =
                (Moment){l->line->plane->process_id, l->start_ps,
                         add_saturated(l->start_ps, l->duration_ps), (uint32_t)i};
    }
    prof_free(wanted);
    if (!err->code) sort_array(m->moments, m->n_moments, sizeof *m->moments, by_moment);
}

static bool contains_start(const LaunchesBuilder *m, const Container *c)
{
    const Moment from = {c->place, c->start_ps, 0, 0};
    size_t at = LOWER_BOUND(i, 0, m->n_moments, by_moment(&m->moments[i], &from) < 0);
    return at < m->n_moments && m->moments[at].place == c->place &&
           m->moments[at].start_ps <= c->end_ps;
}

static void read_containers(void *context, size_t i, ProfErr *err)
{
    LaunchesBuilder *m = context;
    LineLaunches *out = &m->lines[i];
    Line *line = &m->host->lines[i];
    if (line->plane->kind != PLANE_HOST || line->derived) return;
    EventReader reader;
    EventAt e;
    size_t call = 0;
    event_reader_open(&reader, line, 0, err);
    while (event_reader_next(&reader, &e)) {
        bool is_call = call < out->calls.n && out->calls.items[call].event == e.event;
        call += is_call;
        Container c = {e.start_ps,
                       add_saturated(e.start_ps, e.duration_ps),
                       line->plane->process_id,
                       line,
                       {e.event, e.meta}};
        if (is_call || e.occurrences >= 0 || !contains_start(m, &c)) continue;
        Container *place = PUSH(out->containers);
        if (!place) {
            prof_nomem(err);
            break;
        }
        *place = c;
    }
    event_reader_close(&reader);
}

static int by_opening(const void *a, const void *b)
{
    const Container *x = a, *y = b;
    if (x->place != y->place) return x->place < y->place ? -1 : 1;
    return BY_START_THEN_LONGEST(x, y, start_ps, end_ps, event.event);
}

/* Containers of one kind that have started, the innermost last. Each ends before those below it. */
typedef LIST(const Container *) Open;

static bool open_container(Open *open, const Container *c)
{
    while (open->n && (open->items[open->n - 1]->end_ps <= c->end_ps ||
                       open->items[open->n - 1]->place != c->place))
        open->n--;
    const Container **place = PUSH(*open);
    if (place) *place = c;
    return place != NULL;
}

static LaunchContext innermost(const Open *open, const Moment *moment)
{
    size_t n = LOWER_BOUND(i, 0, open->n, open->items[i]->end_ps >= moment->end_ps);
    bool found = n && open->items[n - 1]->place == moment->place;
    return found ? open->items[n - 1]->event : (LaunchContext){0};
}

/* Sets the containers of each launch. A container on the launch's own line replaces those of other
 * lines. */
static void visit(LaunchesBuilder *m, const Container *containers, size_t n, bool own_line,
                  ProfErr *err)
{
    Open annotations = {0}, frames = {0};
    size_t at = 0;
    for (size_t i = 0; i < m->n_moments && !err->code; i++) {
        const Moment *moment = &m->moments[i];
        Launch *launch = &m->result->launches[moment->launch];
        for (; at < n && !err->code; at++) {
            const Container *c = &containers[at];
            if (c->place > moment->place ||
                (c->place == moment->place && c->start_ps > moment->start_ps))
                break;
            if (!open_container(is_python_frame(c->event.meta) ? &frames : &annotations, c))
                prof_nomem(err);
        }
        LaunchContext annotation = innermost(&annotations, moment),
                      python = innermost(&frames, moment);
        if (!own_line || annotation.meta || python.meta) launch->annotation = annotation;
        if (!own_line || python.meta) launch->python = python;
        if (interrupt_due(1)) interrupt_poll(0, err);
    }
    prof_free(annotations.items);
    prof_free(frames.items);
}

static void find_contexts(LaunchesBuilder *m, ProfErr *err)
{
    LIST(Container) all = {0};
    for (size_t i = 0; i < m->host->n_lines; i++) all.capacity += m->lines[i].containers.n;
    all.items = prof_buffer(all.capacity * sizeof *all.items);
    if (!all.items) {
        prof_nomem(err);
        return;
    }
    for (size_t i = 0; i < m->host->n_lines; i++) {
        LineLaunches *line = &m->lines[i];
        if (line->containers.n)
            memcpy(&all.items[all.n], line->containers.items,
                   line->containers.n * sizeof *all.items);
        all.n += line->containers.n;
        prof_free(line->containers.items);
        line->containers.items = NULL;
    }
    sort_array(all.items, all.n, sizeof *all.items, by_opening);
    visit(m, all.items, all.n, false, err);
    for (size_t i = 0; i < all.n; i++) all.items[i].place = all.items[i].line - m->host->lines;
    for (size_t i = 0; i < m->n_moments; i++)
        m->moments[i].place = m->result->launches[m->moments[i].launch].line - m->host->lines;
    sort_array(all.items, all.n, sizeof *all.items, by_opening);
    sort_array(m->moments, m->n_moments, sizeof *m->moments, by_moment);
    if (!err->code) visit(m, all.items, all.n, true, err);
    prof_free(all.items);
}

/* ---- the analysis ---- */

static void launches_release(void *result)
{
    Launches *all = result;
    prof_free(all->launches);
    prof_free(all->work);
    prof_free(all);
}

static void find_all(LaunchesBuilder *m, ProfErr *err)
{
    Host *host = m->host;
    if (parallel_lines(host->lines, host->n_lines, read_line_with_ids, m, err)) return;
    join_calls(m, err);
    if (!err->code) join_work(m, err);
    if (!err->code) find_lost_work(m, err);
    if (!err->code) list_moments(m, err);
    if (!err->code && m->n_moments &&
        !parallel_lines(host->lines, host->n_lines, read_containers, m, err))
        find_contexts(m, err);
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
    for (size_t i = 0; m.lines && i < host->n_lines; i++) {
        prof_free(m.lines[i].calls.items);
        prof_free(m.lines[i].work.items);
        prof_free(m.lines[i].ids.items);
        prof_free(m.lines[i].containers.items);
    }
    prof_free(m.lines);
    prof_free(m.moments);
    if (err->code && m.result) launches_release(m.result), m.result = NULL;
    return m.result;
}

const Launches *host_launches(Host *host, ProfErr *err)
{
    static const Analysis analysis = {launches_make, launches_release, NEEDS_ONE_HOST_AT_A_TIME};
    return run_analysis(host->run, host, &analysis, err);
}
