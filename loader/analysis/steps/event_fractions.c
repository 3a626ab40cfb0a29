// SPDX-License-Identifier: Apache-2.0
/* event_fractions.c: computes the fractions of steps that events take; see event_fractions.h. */
#include "event_fractions.h"

#include "../../base/sort.h"
#include "../../store/event_stats.h"
#include "../../store/events.h"
#include "../grouping/grouping.h"
#include "step_parts.h"

#include <math.h>

typedef struct {
    int64_t group;
    uint64_t ps;
} GroupTime;

typedef struct {
    GroupTime *items;
    size_t n, capacity;
} GroupTimes;

typedef struct {
    const Grouping *grouping;
    const Plane *plane;
    StatFilter filter;
    bool *wanted; /* by event metadata */
    bool is_barrier;
    GroupTimes events, steps;
} CoreRead;

static int add_time(GroupTimes *times, int64_t group, uint64_t ps, ProfErr *err)
{
    if (group < 0) return PROF_OK;
    if (!GROW(times->items, times->n, times->capacity)) return prof_nomem(err);
    times->items[times->n++] = (GroupTime){group, ps};
    return PROF_OK;
}

/* Reads the duration in device time. False if the event has none. */
static bool device_duration(const CoreRead *r, const EventAt *e, uint64_t *ps)
{
    StatIter stats = stat_iter_of_event(e);
    unsigned known;
    Stat stat;
    if (!stat_iter_next_wanted(&stats, &r->filter, &known, &stat)) return false;
    *ps = stat.type == TYPE_UINT64 ? stat.u64 : 0;
    return true;
}

static int read_line(CoreRead *r, Line *line, ProfErr *err)
{
    enum { IDLE_BARRIER_PS = 1250 };
    const LineGroups *groups = line_groups(r->grouping, line);
    bool is_steps = line->named == NAME_STEPS;
    EventReader reader;
    EventAt e;
    for (size_t i = 0; is_steps && groups->merged && i < groups->n_steps && !err->code; i++) {
        const MergedStep *s = &groups->steps[i];
        add_time(
            &r->steps, s->group,
            (uint64_t)(s->device_duration_ps != INT64_MIN ? s->device_duration_ps : s->duration_ps),
            err);
    }
    event_reader_open(&reader, line, EVENT_STATS, err);
    for (uint64_t nth = 0; event_reader_next(&reader, &e); nth++) {
        bool counts = r->wanted[e.meta - r->plane->event_metas];
        uint64_t ps = 0;
        if (!counts && (!is_steps || groups->merged)) continue;
        bool says = device_duration(r, &e, &ps);
        bool waits = !r->is_barrier || (ps && ps != IDLE_BARRIER_PS);
        if (counts && says && waits) add_time(&r->events, nth_group(groups, nth), ps, err);
        if (is_steps && !groups->merged)
            add_time(&r->steps, nth_group(groups, nth), says ? ps : (uint64_t)e.duration_ps, err);
        if (err->code) break;
    }
    event_reader_close(&reader);
    return err->code;
}

/* ---- fractions of steps ---- */

ORDER_BY(by_group, GroupTime, group)

/* Merges the times of each group: into their sum, or the longest. */
static void merge_groups(GroupTimes *times, bool sum)
{
    size_t n = 0;
    sort_array(times->items, times->n, sizeof *times->items, by_group);
    for (size_t i = 0; i < times->n; i++) {
        GroupTime t = times->items[i], *last = n ? &times->items[n - 1] : NULL;
        if (!last || last->group != t.group)
            times->items[n++] = t;
        else if (sum)
            last->ps += t.ps;
        else if (t.ps > last->ps)
            last->ps = t.ps;
    }
    times->n = n;
}

/* Keeps the groups that are in both lists, so that their indexes match. */
static void keep_steps(GroupTimes *events, GroupTimes *steps)
{
    size_t n = 0, k = 0;
    for (size_t i = 0; i < events->n; i++) {
        while (k < steps->n && steps->items[k].group < events->items[i].group) k++;
        if (k == steps->n || steps->items[k].group != events->items[i].group || !steps->items[k].ps)
            continue;
        events->items[n] = events->items[i];
        steps->items[n++] = steps->items[k];
    }
    events->n = steps->n = n;
}

static void choose(const GroupTimes *steps, size_t *first, size_t *end)
{
    *first = 0, *end = steps->n;
    if (steps->n > 2) {
        ++*first, --*end;
    } else if (steps->n == 2) {
        double a = (double)steps->items[0].ps, b = (double)steps->items[1].ps;
        *first = a < 0.01 * b;
        *end -= b < 0.01 * a;
    }
}

static int add_core(EventFractions *f, CoreRead *r, ProfErr *err)
{
    size_t first, end;
    merge_groups(&r->events, true);
    merge_groups(&r->steps, false);
    keep_steps(&r->events, &r->steps);
    choose(&r->steps, &first, &end);
    if (first >= end) return PROF_OK;
    float *fractions = arena_alloc(&f->arena, (end - first) * sizeof *fractions);
    if (!fractions) return prof_nomem(err);
    for (size_t i = first; i < end; i++)
        fractions[i - first] =
            (float)((double)r->events.items[i].ps / (double)r->steps.items[i].ps);
    f->cores[f->n_cores++] = (CoreFractions){r->plane, fractions, end - first};
    return PROF_OK;
}

/* ---- cores ---- */

static int read_core(EventFractions *f, Plane *plane, const char *name, ProfErr *err)
{
    static const enum KnownStat stats[] = {STAT_DEVICE_DURATION_PS};
    CoreRead r = {.plane = plane,
                  .is_barrier = !strcmp(name, "barrier-cores"),
                  .wanted = prof_alloc(plane->n_event_metas)};
    bool any = false;
    if (!r.wanted) return prof_nomem(err);
    for (size_t i = 0; i < plane->n_event_metas; i++)
        any |= r.wanted[i] = slice_contains(slice_of(plane->event_metas[i].name), name);
    if (any && !host_load_only(plane->host, err) &&
        (r.grouping = host_grouping(plane->host, err)) &&
        !stat_filter_open(&r.filter, plane, stats, COUNT(stats), err)) {
        for (size_t i = 0; i < plane->n_lines && !err->code; i++)
            read_line(&r, &plane->host->lines[plane->first_line + i], err);
        if (!err->code) add_core(f, &r, err);
    }
    stat_filter_close(&r.filter);
    prof_free(r.wanted);
    prof_free(r.events.items);
    prof_free(r.steps.items);
    return err->code;
}

int event_fractions(Run *run, Host *only, const char *name, EventFractions *out, ProfErr *err)
{
    size_t n = 0;
    *out = (EventFractions){0};
    for (size_t h = 0; h < run->n_hosts; h++) n += run->hosts[h].n_planes;
    if (!(out->cores = prof_alloc(n * sizeof *out->cores))) return prof_nomem(err);
    for (size_t h = 0; h < run->n_hosts; h++) {
        Host *host = &run->hosts[h];
        for (size_t i = 0; i < host->n_planes && !err->code && (!only || only == host); i++)
            if (host->planes[i].kind == PLANE_TENSORCORE)
                read_core(out, &host->planes[i], name, err);
    }
    return err->code;
}

void event_fractions_free(EventFractions *f)
{
    prof_free(f->cores);
    arena_free(&f->arena);
}

/* Sums like XProf, because limits are compared with all digits. */
double average_fraction(const EventFractions *f, const Host *only)
{
    float sum = 0;
    size_t n = 0;
    for (size_t i = 0; i < f->n_cores; i++) {
        if (only && f->cores[i].plane->host != only) continue;
        for (size_t k = 0; k < f->cores[i].n; k++) sum += f->cores[i].fractions[k];
        n += f->cores[i].n;
    }
    return n ? (double)(sum / (float)n) : (double)NAN;
}
