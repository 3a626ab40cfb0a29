// SPDX-License-Identifier: Apache-2.0
/* derived.c: derives the lines of a host, plane by plane, and the launches of its GPUs; see
 * derived.h. */
#define _GNU_SOURCE
#include "derived.h"

#include "../../base/parallel.h"
#include "../../base/sort.h"
#include "derived_parts.h"
#include "../../store/events.h"

#include <stdio.h>

const char *const derived_stat_names[] = {
    [DERIVED_ASYNC] = "_a",
    [DERIVED_AVERAGE_LAUNCH] = "avg_launch_time_us",
    [DERIVED_CORRELATION] = "correlation_id",
    [DERIVED_GRAPH] = "cuda_graph_id",
    [DERIVED_LONGEST_LAUNCH] = "max_launch_time_us",
    [DERIVED_N_LAUNCHES] = "num_launches",
    [DERIVED_RAW_BYTES] = "raw_bytes_accessed",
    [DERIVED_SHAPE] = "shape_with_layout",
};

/* ---- launch stats ---- */

/* The launches of one step on one GPU. */
typedef struct {
    int64_t group;
    uint32_t gpu;
    int64_t start_ps, duration_ps, longest_ps, sum_ps;
    uint64_t n;
} LaunchSum;

typedef struct {
    Derivation *d;
    uint32_t n_gpus;
    LIST(LaunchSum) sums;
    HashTable by_key; /* of sums, by GPU and group */
} LaunchWalk;

static LaunchSum *sum_of(LaunchWalk *w, uint32_t gpu, int64_t group)
{
    uint64_t hash = hash64((uint64_t)group * 1031 + gpu);
    HASH_EACH(i, &w->by_key, hash)
        if (w->sums.items[i].gpu == gpu && w->sums.items[i].group == group)
            return &w->sums.items[i];
    LaunchSum *sum = PUSH_KEYED(w->sums, &w->by_key, hash);
    if (!sum) return NULL;
    *sum = (LaunchSum){.group = group, .gpu = gpu};
    return sum;
}

/* Returns the GPU on which an event launches something; -1 if it launches nothing, or on an unknown
 * GPU. */
static int64_t launched_on(const LaunchWalk *w, const StatFilter *filter, const EventAt *e)
{
    int64_t gpu = -1;
    bool has_gpu = false, correlated = false;
    Stat stat;
    unsigned known;
    StatIter stats = stat_iter_of_event(e);
    while (stat_iter_next_wanted(&stats, filter, &known, &stat)) {
        if (known == STAT_DEVICE_ID)
            gpu = (int64_t)stat_int_or_uint(&stat), has_gpu = true;
        else
            correlated = true;
    }
    return has_gpu && correlated && gpu >= 0 && gpu < w->n_gpus ? gpu : -1;
}

static bool sum_line(LaunchWalk *w, Line *line, const StatFilter *filter, ProfErr *err)
{
    const Packed *groups = step_groups(line_groups(w->d->grouping, line));
    EventReader reader;
    EventAt e;
    event_reader_open_for(&reader, line, &filter->wanted, err);
    for (uint64_t at = 0; groups && event_reader_next(&reader, &e); at++) {
        int64_t group = packed_at(&groups[at / CHUNK_EVENTS], (size_t)(at % CHUNK_EVENTS));
        if (group < 0 || starts_with(e.meta->name->text, "cu"))
            continue; /* driver calls, of which not each is a launch */
        int64_t gpu = launched_on(w, filter, &e);
        if (gpu < 0) continue;
        LaunchSum *sum = sum_of(w, (uint32_t)gpu, group);
        if (!sum) {
            prof_nomem(err);
            break;
        }
        if (!sum->n)
            sum->start_ps = e.start_ps, sum->duration_ps = e.duration_ps;
        else
            span_extend(&sum->start_ps, &sum->duration_ps, e.start_ps, e.duration_ps);
        if (e.duration_ps > sum->longest_ps) sum->longest_ps = e.duration_ps;
        sum->sum_ps = add_saturated(sum->sum_ps, e.duration_ps);
        sum->n++;
    }
    event_reader_close(&reader);
    return !err->code;
}

static bool add_launches(Derivation *d, NameTable *names, LineMaker *maker, const LaunchSum *sum,
                         ProfErr *err)
{
    const char *step = group_name(d->grouping, sum->group);
    if (!step) return true; /* a group from the file, which XProf does not have */
    size_t n = strlen("Launch Stats for ") + strlen(step);
    char *text = prof_alloc(n + 1);
    if (text) stpcpy(stpcpy(text, "Launch Stats for "), step);
    uint32_t meta = text ? names_find(d, names, text, n) : NO_META;
    prof_free(text);
    if (meta == NO_META) {
        prof_nomem(err);
        return false;
    }
    uint32_t e =
        line_add(maker, &(DerivedEvent){sum->start_ps, sum->duration_ps, sum->group, meta});
    double longest_us = (double)sum->longest_ps / 1e6,
           average_us = (double)(sum->sum_ps / (int64_t)sum->n) / 1e6;
    line_add_stat(maker, e, DERIVED_N_LAUNCHES, (StatValue){.type = TYPE_UINT64, .u64 = sum->n});
    line_add_stat(maker, e, DERIVED_LONGEST_LAUNCH,
                  (StatValue){.type = TYPE_DOUBLE, .number = longest_us});
    line_add_stat(maker, e, DERIVED_AVERAGE_LAUNCH,
                  (StatValue){.type = TYPE_DOUBLE, .number = average_us});
    return true;
}

ORDER_BY_TWO(by_group, LaunchSum, gpu, group)

/* Sums the launches of the threads of the first plane named /host:CPU. */
static void derive_launches(Derivation *d, Plane *const *gpus, uint32_t n_gpus, ProfErr *err)
{
    const Plane *plane = host_find_plane(d->host, PREFIX_HOST_THREADS);
    if (!plane || !n_gpus) return;
    static const enum KnownStat wanted[] = {STAT_DEVICE_ID, STAT_CORRELATION_ID};
    LaunchWalk w = {.d = d, .n_gpus = n_gpus};
    StatFilter filter;
    stat_filter_open(&filter, plane, wanted, COUNT(wanted), err);
    for (size_t i = 0; i < plane->n_lines && filter.any && !err->code; i++) {
        Line *line = &d->host->lines[plane->first_line + i];
        if (!line->derived) sum_line(&w, line, &filter, err);
    }
    stat_filter_close(&filter);
    sort_array(w.sums.items, w.sums.n, sizeof *w.sums.items, by_group);
    for (size_t i = 0, next; i < w.sums.n && !err->code; i = next) {
        Plane *gpu = gpus[w.sums.items[i].gpu];
        LineMaker maker;
        line_open(&maker, gpu, DERIVED_LAUNCH_STATS, "Launch Stats", LINE_LAUNCH_STATS);
        for (next = i; next < w.sums.n && w.sums.items[next].gpu == w.sums.items[i].gpu; next++)
            if (!err->code)
                add_launches(d, &d->names[gpu - d->host->planes], &maker, &w.sums.items[next], err);
        line_end(d, &maker, err);
    }
    prof_free(w.sums.items);
    hash_free(&w.by_key);
}

/* ---- the result ---- */

/* A plane whose lines are derived. */
typedef struct {
    Derivation d;
    Plane *plane;
} Part;

typedef struct {
    DerivedLines lines;
    DerivedNames names;
    Derivation d;
    DerivedPlane *planes;
    Part *parts;
    size_t n_parts;
} Result;

static void lines_free(Derivation *d)
{
    for (size_t i = 0; i < d->lines.n; i++) {
        packed_rows_free(&d->lines.items[i].events);
        packed_rows_free(&d->lines.items[i].stats);
    }
    prof_free(d->lines.items);
    d->lines.items = NULL, d->lines.n = 0;
}

static void derived_lines_release(void *result)
{
    Result *r = result;
    for (size_t i = 0; i < r->n_parts; i++) {
        lines_free(&r->parts[i].d);
        arena_free(&r->parts[i].d.arena);
        text_table_free(&r->parts[i].d.texts);
    }
    prof_free(r->parts);
    lines_free(&r->d);
    for (size_t i = 0; r->d.names && i < r->d.host->n_planes; i++) names_close(&r->d.names[i]);
    prof_free(r->d.names);
    prof_free(r->d.display_ids);
    arena_free(&r->d.arena);
    text_table_free(&r->d.texts);
    prof_free(r->planes);
    prof_free(r);
}

ORDER_BY_TWO(by_plane, DerivedLine, plane, id)

static void core_task(void *context, size_t i, ProfErr *err)
{
    Part *part = &((Part *)context)[i];
    derive_tensorcore(&part->d, part->plane, err);
}

static void name_task(void *context, size_t i, ProfErr *err)
{
    Part *part = &((Part *)context)[i];
    name_tensorcore(&part->d, part->plane, err);
}

static uint64_t bytes_of(const Plane *plane)
{
    uint64_t n_bytes = 0;
    for (size_t i = 0; i < plane->n_lines; i++)
        n_bytes += plane->host->lines[plane->first_line + i].span.n_bytes;
    return n_bytes;
}

static void add_parts(Result *r, enum PlaneKind kind)
{
    for (size_t i = 0; i < r->d.host->n_planes; i++)
        if (r->d.host->planes[i].kind == kind) r->parts[r->n_parts++].plane = &r->d.host->planes[i];
}

/* Moves the lines of a part into the result. */
static void take_lines(Derivation *d, Derivation *part, ProfErr *err)
{
    for (size_t i = 0; i < part->lines.n; i++) {
        DerivedLine *line = PUSH(d->lines);
        if (!line) {
            prof_nomem(err);
            return;
        }
        *line = part->lines.items[i];
        part->lines.items[i].events = part->lines.items[i].stats = (PackedRows){0};
    }
}

/* Derives the lines of all planes: those of GPUs one after another, because they ask for programs.
 * Real files derive at most 3 events from each event, which has 20 bytes or more. */
static void derive_planes(Result *r, ProfErr *err)
{
    enum { MORE_EVENTS = 1 << 19 }; /* of all planes together */
    bool cut = false;
    add_parts(r, PLANE_TENSORCORE);
    size_t n_cores = r->n_parts;
    add_parts(r, PLANE_GPU);
    for (size_t i = 0; i < r->n_parts; i++) {
        Part *part = &r->parts[i];
        part->d = r->d;
        part->d.events_left = bytes_of(part->plane) / 4 + MORE_EVENTS / r->n_parts;
    }
    parallel_for(r->d.host->run->n_workers, n_cores, core_task, r->parts, err);
    for (size_t i = n_cores; i < r->n_parts && !err->code; i++)
        derive_gpu(&r->parts[i].d, r->parts[i].plane, err);
    for (size_t i = 0; i < r->n_parts && !err->code; i++) {
        cut |= !r->parts[i].d.events_left;
        take_lines(&r->d, &r->parts[i].d, err);
    }
    if (cut)
        host_issue(r->d.host, "warning", "derived_lines_cut", r,
                   "names of ops have so many levels that some derived events were left out");
}

static void open_planes(Result *r, ProfErr *err)
{
    size_t n = r->d.host->n_planes;
    r->d.names = prof_alloc(n * sizeof *r->d.names);
    r->planes = prof_alloc(n * sizeof *r->planes);
    r->parts = prof_alloc(n * sizeof *r->parts);
    if (!r->d.names || !r->planes || !r->parts) prof_nomem(err);
}

static void list_names(Result *r)
{
    for (size_t i = 0; i < r->d.host->n_planes; i++)
        r->planes[i] = (DerivedPlane){r->d.names[i].metas.items, r->d.names[i].metas.n};
    r->names.planes = r->planes;
}

static void derive(Result *r, ProfErr *err)
{
    Host *host = r->d.host;
    Derivation *d = &r->d;
    d->display_ids = prof_alloc(host->n_lines * sizeof *d->display_ids);
    Plane **gpus = prof_alloc(host->n_planes * sizeof *gpus);
    uint32_t n_gpus = 0;
    open_planes(r, err);
    if (!d->display_ids || !gpus) prof_nomem(err);
    if (!err->code) scopes_read(&d->scopes, host, err);
    if (!err->code) derive_planes(r, err);
    for (size_t i = 0; i < r->n_parts; i++)
        if (r->parts[i].plane->kind == PLANE_GPU) gpus[n_gpus++] = r->parts[i].plane;
    if (!err->code) derive_launches(d, gpus, n_gpus, err);
    prof_free(gpus);
    prof_free(d->scopes.links.items);
    d->scopes = (ScopeTree){0};
    if (err->code) return;
    sort_array(d->lines.items, d->lines.n, sizeof *d->lines.items, by_plane);
    list_names(r);
    r->lines = (DerivedLines){host, d->lines.items, d->lines.n, r->planes, d->display_ids};
}

static bool has_gpu(const Host *host)
{
    bool has = false;
    for (size_t i = 0; i < host->n_planes; i++) has |= host->planes[i].kind == PLANE_GPU;
    return has;
}

static void find_names(Result *r, ProfErr *err)
{
    open_planes(r, err);
    if (err->code) return;
    add_parts(r, PLANE_TENSORCORE);
    for (size_t i = 0; i < r->n_parts; i++) r->parts[i].d = r->d;
    parallel_for(r->d.host->run->n_workers, r->n_parts, name_task, r->parts, err);
    list_names(r);
}

static void *make(Run *run, Host *only, void (*find)(Result *r, ProfErr *err), ProfErr *err)
{
    Host *host = only ? only : &run->hosts[0];
    Result *r = prof_alloc(sizeof *r);
    if (!r) {
        prof_nomem(err);
        return NULL;
    }
    r->d.host = r->lines.host = host;
    r->d.grouping = host_grouping(host, err);
    if (r->d.grouping && r->d.grouping->by != GROUPED_BY_FILE) find(r, err);
    if (!err->code) return r;
    derived_lines_release(r);
    return NULL;
}

static void *derived_lines_make(Run *run, Host *only, ProfErr *err)
{
    return make(run, only, derive, err);
}

static void *derived_names_make(Run *run, Host *only, ProfErr *err)
{
    return make(run, only, find_names, err);
}

static const Analysis lines_analysis = {derived_lines_make, derived_lines_release, NEEDS_ALL_HOSTS};

const DerivedLines *host_derived(Host *host, ProfErr *err)
{
    const Result *r = run_analysis(host->run, host, &lines_analysis, err);
    return r ? &r->lines : NULL;
}

const DerivedNames *host_derived_names(Host *host, ProfErr *err)
{
    static const Analysis names = {derived_names_make, derived_lines_release, NEEDS_ALL_HOSTS};
    bool with_lines = has_gpu(host) || run_analysis_made(host->run, host, &lines_analysis);
    const Result *r = run_analysis(host->run, host, with_lines ? &lines_analysis : &names, err);
    return r ? &r->names : NULL;
}
