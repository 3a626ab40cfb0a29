// SPDX-License-Identifier: Apache-2.0
/* grouping.c: combines the parts into the grouping of a host; see grouping.h and grouping_parts.h.
 */
#include "../../base/parallel.h"
#include "../../base/sort.h"
#include "../../store/events.h"
#include "grouping_parts.h"
#include "../../store/lines.h"

/* The grouping that host_grouping() returns, and the memory that it refers to. */
typedef struct {
    Grouping grouping;
    LineGroups *lines;
    Arena *line_arenas; /* one for each line, because lines are packed in parallel */
    Arena arena;
    TextTable texts;
    bool as_written;
} Result;

/* ---- the kind of the file ---- */

static enum GroupedBy grouped_by(const Host *host, bool as_written)
{
    bool all = !as_written;
    for (size_t i = 0; i < host->n_planes && all; i++)
        all =
            !is_host_or_device(&host->planes[i]) || plane_declares(&host->planes[i], STAT_GROUP_ID);
    if (all) return GROUPED_BY_FILE;
    for (size_t i = 0; i < host->n_planes; i++)
        for (size_t k = 0; k < host->planes[i].n_declared; k++)
            if (event_type_named(host->planes[i].event_metas[k].name) == EVENT_LOOP_OP)
                return GROUPED_BY_NOTHING;
    return GROUPED_HERE;
}

/* ---- stats in the file ---- */

typedef struct {
    int64_t types[CHUNK_EVENTS], stats[CHUNK_EVENTS]; /* as in the file */
    int64_t values[CHUNK_EVENTS], own[CHUNK_EVENTS];
} FileValues;

/* Returns the value of an event's stat as XProf's accessors read it. Where XProf asks for a signed
 * group, as on GPUs, only an int64 counts. */
static int64_t file_value(enum StatColumnName column, bool only_signed, int64_t type, int64_t value)
{
    if (column == STAT_COLUMN_EAGER) return type == TYPE_INT64 && value;
    return type == TYPE_INT64 || (type == TYPE_UINT64 && !only_signed) ? value : 0;
}

/* Fills in a chunk's values from the file where grouping found none. False if the file has none
 * either. */
static bool read_file_values(const Chunk *chunk, enum StatColumnName column, bool is_gpu,
                             const Packed *found, FileValues *v)
{
    bool any = false;
    packed_read(&chunk->stat_columns[column].types, v->types, chunk->n_events);
    packed_read(&chunk->stat_columns[column].values, v->stats, chunk->n_events);
    for (uint32_t i = 0; i < chunk->n_events; i++) {
        v->values[i] = found ? packed_at(found, i) : -1;
        v->own[i] = v->types[i] && v->values[i] < 0;
        if (v->own[i])
            any = true, v->values[i] = file_value(column, is_gpu, v->types[i], v->stats[i]);
    }
    return any;
}

/* Returns whether the file's column can be used unchanged for the groups of a chunk. */
static bool serves_as_it_is(const StatColumn *file, enum StatColumnName column)
{
    return column == STAT_COLUMN_GROUP && !file->types.width && file->types.base == TYPE_INT64;
}

/* Adds the events' own group_id or is_eager where *found has no value (NULL: nowhere). *own is set
 * to which values come from the file; NULL if none do. */
static bool read_file_column(const Line *line, enum StatColumnName column, const Packed **found,
                             const Packed **own, Arena *arena)
{
    Packed *values = arena_alloc(arena, line->n_chunks * sizeof *values),
           *owned = arena_alloc(arena, line->n_chunks * sizeof *owned);
    FileValues *v = prof_buffer(sizeof *v);
    bool any = false, memory = values && owned && v;
    for (size_t c = 0; c < line->n_chunks && memory; c++) {
        const Chunk *chunk = &line->chunks[c];
        const StatColumn *file = &chunk->stat_columns[column];
        const Packed *before = *found ? &(*found)[c] : NULL;
        values[c] = before ? *before : (Packed){.base = -1};
        if (!stat_set_has(&chunk->stats, stat_column_stats[column])) continue;
        if (!before) owned[c] = file->types;
        if (!before && serves_as_it_is(file, column)) {
            values[c] = file->values, any = true;
        } else if (read_file_values(chunk, column, line->plane->kind == PLANE_GPU, before, v)) {
            any = true;
            memory = packed_make(&values[c], arena, v->values, chunk->n_events) &&
                     (!before || packed_make(&owned[c], arena, v->own, chunk->n_events));
        }
    }
    prof_free(v);
    if (any && memory) *found = values, *own = owned;
    return memory;
}

/* Grouping writes to the first stat group_id of an event. Where XProf visits all of them, the last
 * that names a group counts; on GPUs, the last. */
static bool read_written(FileValues *v, uint32_t at, const StatFilter *filter, size_t n_groups,
                         const EventAt *e)
{
    Stat stat;
    unsigned known, n = 0;
    bool taken = false;
    StatIter stats = stat_iter_of_event(e);
    for (; stat_iter_next_wanted(&stats, filter, &known, &stat); n++) {
        int64_t value = stat_int(&stat);
        if (!n && v->values[at] >= 0 && !v->own[at]) continue;
        bool is_group = value >= 0 && (uint64_t)value < n_groups;
        if (!is_group && filter->plane->kind != PLANE_GPU) continue;
        taken = true, v->own[at] = is_group, v->values[at] = is_group ? value : -1;
    }
    return taken;
}

/* Reads the last of several stats, even if grouping set another. */
static bool read_last(FileValues *v, uint32_t at, const StatFilter *filter, size_t n_groups,
                      const EventAt *e)
{
    (void)n_groups;
    Stat stat, last = {0};
    unsigned known, n = 0;
    StatIter stats = stat_iter_of_event(e);
    for (; stat_iter_next_wanted(&stats, filter, &known, &stat); n++) last = stat;
    if (n > 1)
        v->own[at] = last.type,
        v->values[at] = file_value(STAT_COLUMN_GROUP, filter->plane->kind == PLANE_GPU, last.type,
                                   last.integer);
    return n > 1;
}

typedef bool TakeGroup(FileValues *v, uint32_t at, const StatFilter *filter, size_t n_groups,
                       const EventAt *e);

/* Reads the events' own stats group_id. */
static bool read_group_stats(Line *line, TakeGroup *take, size_t n_groups, LineGroups *out,
                             Arena *arena, ProfErr *err)
{
    static const enum KnownStat wanted[] = {STAT_GROUP_ID};
    Packed *values = arena_alloc(arena, line->n_chunks * sizeof *values),
           *owned = arena_alloc(arena, line->n_chunks * sizeof *owned);
    FileValues *v = prof_buffer(sizeof *v);
    StatFilter filter = {0};
    EventReader reader;
    EventAt e;
    bool any = false;
    if (!values || !owned || !v) prof_nomem(err);
    if (!err->code) stat_filter_open(&filter, line->plane, wanted, COUNT(wanted), err);
    event_reader_open_for(&reader, line, &filter.wanted, err);
    for (uint64_t at = 0; event_reader_next(&reader, &e); at++) {
        size_t chunk = (size_t)(at / CHUNK_EVENTS);
        uint32_t k = (uint32_t)(at % CHUNK_EVENTS), n = line->chunks[chunk].n_events;
        v->values[k] = out->groups ? packed_at(&out->groups[chunk], k) : -1;
        v->own[k] = out->groups_of_file ? packed_at(&out->groups_of_file[chunk], k) : 0;
        any |= take(v, k, &filter, n_groups, &e);
        if (k + 1 == n && (!packed_make(&values[chunk], arena, v->values, n) ||
                           !packed_make(&owned[chunk], arena, v->own, n)))
            prof_nomem(err);
    }
    event_reader_close(&reader);
    stat_filter_close(&filter);
    prof_free(v);
    if (!err->code && any) out->groups = values, out->groups_of_file = owned;
    return !err->code;
}

static bool read_file_groups(Result *r, size_t i, ProfErr *err)
{
    Line *line = &r->grouping.host->lines[i];
    LineGroups *out = &r->lines[i];
    if (r->as_written) /* is_eager only from grouping */
        return read_group_stats(line, read_written, r->grouping.n_groups, out, &r->line_arenas[i],
                                err);
    bool memory = read_file_column(line, STAT_COLUMN_GROUP, &out->groups, &out->groups_of_file,
                                   &r->line_arenas[i]) &&
                  read_file_column(line, STAT_COLUMN_EAGER, &out->eager, &out->eager_of_file,
                                   &r->line_arenas[i]);
    return memory || (prof_nomem(err), false);
}

/* ---- packing of computed values ---- */

static bool pack_groups(const ForestLine *fl, LineGroups *out, Arena *arena, int64_t *values)
{
    if (!fl->group) return true;
    Packed *groups = arena_alloc(arena, fl->line->n_chunks * sizeof *groups);
    if (!groups) return false;
    for (size_t c = 0; c < fl->line->n_chunks; c++) {
        uint32_t n = fl->line->chunks[c].n_events;
        for (uint32_t i = 0; i < n; i++) {
            size_t event = c * CHUNK_EVENTS + i;
            values[i] = (int64_t)fl->group[fl->place ? fl->place[event] : event] - 1;
        }
        if (!packed_make(&groups[c], arena, values, n)) return false;
    }
    out->groups = groups;
    return true;
}

static bool pack_regions(const ForestLine *fl, LineGroups *out, Arena *arena)
{
    if (!fl->regions.n) return true;
    Region *regions = arena_alloc(arena, fl->regions.n * sizeof *regions);
    if (!regions) return false;
    for (uint32_t at = 0; at < fl->n; at++) {
        if (fl->order[at] < fl->line->n_events) continue;
        Region *region = &regions[out->n_regions++];
        *region = fl->regions.items[fl->order[at] - fl->line->n_events];
        region->group = fl->group ? (int64_t)fl->group[at] - 1 : -1;
    }
    out->regions = regions;
    return true;
}

/* Packs is_eager of framework ops and kernels: 0 unless they are below an EagerExecute event. */
static bool pack_eager(const ForestLine *fl, LineGroups *out, Arena *arena, int64_t *values)
{
    bool any = false;
    if (!fl->correlations) return true;
    Packed *eager = arena_alloc(arena, fl->line->n_chunks * sizeof *eager);
    if (!eager) return false;
    for (size_t c = 0; c < fl->line->n_chunks; c++) {
        uint32_t n = fl->line->chunks[c].n_events;
        for (uint32_t i = 0; i < n; i++) {
            size_t event = c * CHUNK_EVENTS + i;
            bool said = packed_at(&fl->correlations[c], i) >= CORRELATED_KERNEL;
            uint32_t near = said && fl->near ? fl->near[fl->place ? fl->place[event] : event] : 0;
            values[i] = said ? (int64_t)(near & 1) : -1;
            any |= said;
        }
        if (!packed_make(&eager[c], arena, values, n)) return false;
    }
    if (any) out->eager = eager;
    return true;
}

typedef struct {
    Result *result;
    Forest *forest;
} PackJob;

static bool pack_thread(PackJob *job, size_t i, ProfErr *err)
{
    const ForestLine *fl = &job->forest->lines[i];
    LineGroups *out = &job->result->lines[i];
    Arena *arena = &job->result->line_arenas[i];
    int64_t *values = prof_alloc(CHUNK_EVENTS * sizeof *values);
    bool memory = values && pack_regions(fl, out, arena);
    if (memory && job->result->grouping.by == GROUPED_HERE)
        memory = pack_groups(fl, out, arena, values) && pack_eager(fl, out, arena, values);
    if (!memory) prof_nomem(err);
    prof_free(values);
    return !err->code;
}

/* Packs the steps of a TPU plane: the events of its grouping line, merged if they are steps. */
static bool pack_steps(PackJob *job, size_t i, MergedStep **steps, size_t *n_steps, ProfErr *err)
{
    const ForestLine *fl = &job->forest->lines[i];
    LineGroups *out = &job->result->lines[i];
    if (!pack_thread(job, i, err) || !tpu_read_steps(fl, steps, err)) return false;
    out->own = out->groups;
    *n_steps = fl->n;
    if (fl->line->kind != LINE_STEPS) return true;
    *n_steps = tpu_merge_steps(*steps, fl->n);
    if (!*n_steps || (*steps)[0].group < 0)
        return true; /* if no event is grouped, XProf keeps them all */
    MergedStep *kept = arena_alloc(&job->result->line_arenas[i], *n_steps * sizeof *kept);
    if (!kept) {
        prof_nomem(err);
        return false;
    }
    out->merged = true, out->n_steps = *n_steps,
    out->steps = memcpy(kept, *steps, *n_steps * sizeof *kept);
    return true;
}

/* Packs the lines of a TPU plane, its grouping line first. */
static bool pack_tpu(PackJob *job, const Plane *plane, ProfErr *err)
{
    const Forest *f = job->forest;
    MergedStep *steps = NULL;
    size_t n_steps = 0, end = plane->first_line + plane->n_lines;
    for (size_t i = plane->first_line; i < end && !err->code; i++)
        if (f->lines[i].role == ROLE_STEPS) pack_steps(job, i, &steps, &n_steps, err);
    /* A grouping line of modules also gets groups like any other line: a module that starts when
     * another ends gets the other's. */
    for (size_t i = plane->first_line; i < end && !err->code; i++)
        if (f->lines[i].role >= ROLE_STEPS && f->lines[i].line->kind != LINE_STEPS &&
            strcmp(f->lines[i].line->name->text, "_counters_"))
            tpu_overlap(&f->lines[i], steps, n_steps, &job->result->lines[i],
                        &job->result->line_arenas[i], err);
    prof_free(steps);
    return !err->code;
}

/* One task for each TPU plane and for each line of other planes. Then adds what only the file's own
 * stats have. */
static void pack_task(void *context, size_t i, ProfErr *err)
{
    PackJob *job = context;
    const Host *host = job->forest->host;
    bool plain = job->forest->as_written;
    if (i < host->n_planes) {
        if (job->forest->planes[i].context.is_tpu && job->result->grouping.by == GROUPED_HERE &&
            !plain)
            pack_tpu(job, &host->planes[i], err);
        return;
    }
    i -= host->n_planes;
    if (job->forest->lines[i].role == ROLE_THREAD ||
        (plain && job->forest->lines[i].role == ROLE_STEPS))
        pack_thread(job, i, err);
}

static void file_task(void *context, size_t i, ProfErr *err)
{
    Result *r = context;
    const Line *line = &r->grouping.host->lines[i];
    if (r->as_written && is_tpu(line->plane)) return;
    if (line->n_events &&
        (plane_declares(line->plane, STAT_GROUP_ID) || plane_declares(line->plane, STAT_IS_EAGER)))
        read_file_groups(r, i, err);
}

/* Packs the last of several stats group_id, which XProf's steps use for host threads and a GPU's
 * streams. Grouping writes to the first, which lines derived from a GPU use. */
static void repeated_task(void *context, size_t i, ProfErr *err)
{
    Result *r = context;
    Line *line = &r->grouping.host->lines[i];
    enum PlaneKind kind = line->plane->kind;
    bool counts = kind == PLANE_HOST || (kind == PLANE_GPU && !line->derived), repeats = false;
    for (size_t c = 0; c < line->n_chunks && counts; c++) repeats |= line->chunks[c].repeats_group;
    LineGroups *groups = &r->lines[i], last = *groups;
    if (repeats && read_group_stats(line, read_last, 0, &last, &r->line_arenas[i], err))
        groups->of_steps = last.groups;
}

/* Packs the groups of a TPU's events for steps: the first, which is an event's own if it has one.
 * XProf adds the one of the step that the event touches. */
static bool pack_own(const Line *line, LineGroups *out, Arena *arena)
{
    Packed *groups = arena_alloc(arena, line->n_chunks * sizeof *groups);
    int64_t *values = prof_buffer(CHUNK_EVENTS * sizeof *values);
    bool memory = groups && values;
    for (size_t c = 0; c < line->n_chunks && memory; c++) {
        uint32_t n = line->chunks[c].n_events;
        for (uint32_t i = 0; i < n; i++) {
            int64_t own = line_file_group(line, c * CHUNK_EVENTS + i);
            values[i] = own >= 0 ? own : packed_nth(out->groups, c * CHUNK_EVENTS + i);
        }
        memory = packed_make(&groups[c], arena, values, n);
    }
    prof_free(values);
    out->of_steps = groups;
    return memory;
}

/* Leaves out lines that group their plane's events: their groups are the steps. */
static void own_task(void *context, size_t i, ProfErr *err)
{
    Result *r = context;
    const Line *line = &r->grouping.host->lines[i];
    LineGroups *groups = &r->lines[i];
    bool any = false;
    for (size_t c = 0; c < line->n_chunks && is_tpu(line->plane); c++)
        any |= stat_set_has(&line->chunks[c].stats, STAT_GROUP_ID);
    if (any && groups->groups && !groups->own && !pack_own(line, groups, &r->line_arenas[i]))
        prof_nomem(err);
}

static void inherit_task(void *context, size_t i, ProfErr *err)
{
    Result *r = context;
    const Plane *plane = &r->grouping.host->planes[i];
    if (plane->kind == PLANE_GPU &&
        (r->grouping.by == GROUPED_HERE || plane_declares(plane, STAT_GROUP_ID)))
        gpu_inherit(plane, r->lines, r->line_arenas, err);
}

/* ---- the list of groups ---- */

/* Copies the links of group i to `numbers`. Links are sorted by (from, to). */
static size_t links_of(const uint64_t *links, size_t n_links, size_t *at, size_t group,
                       int64_t *numbers)
{
    size_t n = 0;
    for (; *at < n_links && links[*at] >> 32 == group; ++*at)
        numbers[n++] = (int64_t)(uint32_t)links[*at];
    return n;
}

static bool keep_groups(Result *r, Forest *f, ProfErr *err)
{
    size_t n = f->groups.n, n_links = f->links.n, child = 0, parent = 0;
    Group *groups = arena_alloc(&f->arena, n * sizeof *groups);
    int64_t *children = arena_alloc(&f->arena, n_links * sizeof *children),
            *parents = arena_alloc(&f->arena, n_links * sizeof *parents);
    uint64_t *upwards = prof_alloc(n_links * sizeof *upwards);
    if (!groups || !children || !parents || !upwards) {
        prof_free(upwards);
        prof_nomem(err);
        return false;
    }
    for (size_t i = 0; i < n_links; i++)
        upwards[i] = f->links.items[i] << 32 | f->links.items[i] >> 32;
    sort_array(upwards, n_links, sizeof *upwards, by_uint64);
    for (size_t i = 0; i < n; i++) {
        const GroupDraft *draft = &f->groups.items[i];
        const ForestLine *fl = forest_line(f, draft->root);
        groups[i] = (Group){draft->name->text,
                            fl->line->first_event + line_event(fl, draft->root),
                            draft->explicit,
                            parents + parent,
                            children + child,
                            0,
                            0};
        groups[i].n_parents = links_of(upwards, n_links, &parent, i, parents + parent);
        groups[i].n_children = links_of(f->links.items, n_links, &child, i, children + child);
    }
    prof_free(upwards);
    r->grouping.groups = groups, r->grouping.n_groups = n;
    return true;
}

/* ---- making and freeing ---- */

static void forest_free(Forest *f)
{
    for (size_t i = 0; f->lines && i < f->host->n_lines; i++) {
        ForestLine *fl = &f->lines[i];
        void *owned[] = {fl->order,         fl->place,          fl->parent,
                         fl->end,           fl->group,          fl->near,
                         fl->regions.items, fl->produced.items, fl->consumed.items,
                         fl->lent.items,    fl->roots.items,    fl->iterations.items,
                         fl->eagers.items,  fl->names.items,    fl->captured_steps.items,
                         fl->asyncs.items};
        for (size_t k = 0; k < COUNT(owned); k++) prof_free(owned[k]);
        arena_free(&fl->arena);
    }
    for (size_t i = 0; f->planes && i < f->host->n_planes; i++) {
        prof_free(f->planes[i].types);
        context_plane_close(&f->planes[i].context);
    }
    for (int k = 0; k < N_EDGE_KINDS; k++) {
        void *owned[] = {f->edges[k].from, f->edges[k].to, f->edges[k].parent, f->edges[k].first,
                         f->edges[k].children};
        for (size_t i = 0; i < COUNT(owned); i++) prof_free(owned[i]);
    }
    void *owned[] = {f->lines,
                     f->planes,
                     f->contexts.keys.items,
                     f->contexts.slots,
                     f->contexts.first_producer,
                     f->contexts.first_consumer,
                     f->contexts.producers,
                     f->contexts.consumers,
                     f->contexts.produced.items,
                     f->contexts.consumed.items,
                     f->roots.items,
                     f->iterations.items,
                     f->eagers.items,
                     f->names.items,
                     f->captured_steps.items,
                     f->groups.items,
                     f->links.items,
                     f->todo.items};
    for (size_t k = 0; k < COUNT(owned); k++) prof_free(owned[k]);
}

/* Returns whether regions have to be added. */
static bool has_regions(const Host *host)
{
    for (size_t i = 0; i < host->n_planes; i++)
        for (size_t k = 0; k < host->planes[i].n_declared; k++)
            if (event_type_named(host->planes[i].event_metas[k].name) == EVENT_STOP_REGION)
                return true;
    return false;
}

/* Scans the events, adds regions, and groups, unless XProf does not group the file. */
static bool make_forest(Result *r, ProfErr *err)
{
    Host *host = r->grouping.host;
    Forest f = {.host = host, .as_written = r->as_written};
    f.lines = prof_alloc(host->n_lines * sizeof *f.lines);
    f.planes = prof_alloc(host->n_planes * sizeof *f.planes);
    if (!f.lines || !f.planes) prof_nomem(err);
    bool scanned = !err->code && forest_scan(&f, err);
    if (scanned && r->grouping.by == GROUPED_HERE && forest_connect(&f, err) &&
        forest_group(&f, err))
        forest_mark_eager(&f, err);
    PackJob job = {r, &f};
    if (!err->code)
        parallel_for(host->run->n_workers, host->n_planes + host->n_lines, pack_task, &job, err);
    if (!err->code) keep_groups(r, &f, err);
    r->texts = f.texts; /* names of groups */
    forest_free(&f);
    if (err->code)
        arena_free(&f.arena);
    else
        r->arena = f.arena;
    return !err->code;
}

static void grouping_release(void *result)
{
    Result *r = result;
    for (size_t i = 0; r->line_arenas && i < r->grouping.host->n_lines; i++)
        arena_free(&r->line_arenas[i]);
    arena_free(&r->arena);
    text_table_free(&r->texts);
    prof_free(r->lines);
    prof_free(r->line_arenas);
    prof_free(r);
}

static void *grouping_make(Host *host, bool as_written, ProfErr *err)
{
    Result *r = prof_alloc(sizeof *r);
    if (!r) {
        prof_nomem(err);
        return NULL;
    }
    r->grouping.host = host;
    r->as_written = as_written;
    r->lines = prof_alloc(host->n_lines * sizeof *r->lines);
    r->line_arenas = prof_alloc(host->n_lines * sizeof *r->line_arenas);
    r->grouping.lines = r->lines;
    if (!r->lines || !r->line_arenas) prof_nomem(err);
    if (!err->code) {
        r->grouping.by = grouped_by(host, as_written);
        bool regions = r->grouping.by == GROUPED_BY_NOTHING && !as_written && has_regions(host);
        if (r->grouping.by == GROUPED_HERE || regions) make_forest(r, err);
    }
    if (!err->code) parallel_lines(host->lines, host->n_lines, file_task, r, err);
    if (!err->code && r->grouping.by != GROUPED_BY_FILE && !as_written)
        parallel_for(host->run->n_workers, host->n_planes, inherit_task, r, err);
    if (!err->code && !as_written)
        parallel_lines(host->lines, host->n_lines, repeated_task, r, err);
    if (!err->code && r->grouping.by == GROUPED_HERE && !as_written)
        parallel_lines(host->lines, host->n_lines, own_task, r, err);
    if (err->code) {
        grouping_release(r);
        return NULL;
    }
    r->grouping.n_held = r->arena.n_bytes;
    for (size_t i = 0; i < host->n_lines; i++) r->grouping.n_held += r->line_arenas[i].n_bytes;
    return r;
}

static void *grouping_make_as_tools(Run *run, Host *only, ProfErr *err)
{
    return grouping_make(only ? only : &run->hosts[0], false, err);
}
static void *grouping_make_as_written(Run *run, Host *only, ProfErr *err)
{
    return grouping_make(only ? only : &run->hosts[0], true, err);
}

const Grouping *host_grouping(Host *host, ProfErr *err)
{
    static const Analysis analysis = {grouping_make_as_tools, grouping_release, NEEDS_HOST_EVENTS};
    const Result *r = run_analysis(host->run, host, &analysis, err);
    return r ? &r->grouping : NULL;
}

const Grouping *host_plain_grouping(Host *host, ProfErr *err)
{
    static const Analysis analysis = {grouping_make_as_written, grouping_release,
                                      NEEDS_HOST_EVENTS};
    const Result *r = run_analysis(host->run, host, &analysis, err);
    return r ? &r->grouping : NULL;
}

/* ---- accessors ---- */

enum Given { GIVEN_GROUP, GIVEN_STEP_GROUP, GIVEN_EAGER };

static const Packed *column_of(const LineGroups *groups, enum Given given)
{
    switch (given) {
    case GIVEN_EAGER: return groups->eager;
    case GIVEN_STEP_GROUP: return step_groups(groups);
    default: return groups->groups;
    }
}

static int64_t value_of(const Grouping *g, uint64_t event, enum Given given)
{
    const Line *line = run_line_of_event(g->host->run, event);
    if (!line || line->plane->host != g->host) return -1;
    const Packed *column = column_of(line_groups(g, line), given);
    return packed_nth(column, event - line->first_event);
}

int64_t event_group(const Grouping *g, uint64_t event) { return value_of(g, event, GIVEN_GROUP); }
int64_t event_step_group(const Grouping *g, uint64_t event)
{
    return value_of(g, event, GIVEN_STEP_GROUP);
}
static int64_t file_group(const Line *line, uint64_t i, bool only_signed)
{
    const Chunk *chunk = &line->chunks[i / CHUNK_EVENTS];
    const StatColumn *c = &chunk->stat_columns[STAT_COLUMN_GROUP];
    size_t at = (size_t)(i % CHUNK_EVENTS);
    enum StatType type = stat_set_has(&chunk->stats, STAT_GROUP_ID)
                             ? (enum StatType)packed_at(&c->types, at)
                             : TYPE_NONE;
    return type ? file_value(STAT_COLUMN_GROUP, only_signed, type, packed_at(&c->values, at)) : -1;
}

int64_t line_file_group(const Line *line, uint64_t i)
{
    return file_group(line, i, line->plane->kind == PLANE_GPU);
}
int64_t line_signed_file_group(const Line *line, uint64_t i) { return file_group(line, i, true); }

int64_t line_own_group(const Line *line, const LineGroups *groups, uint64_t i)
{
    return groups->own && i < line->n_events
               ? packed_at(&groups->own[i / CHUNK_EVENTS], (size_t)(i % CHUNK_EVENTS))
               : -1;
}
int event_eager(const Grouping *g, uint64_t event) { return (int)value_of(g, event, GIVEN_EAGER); }

const char *group_name(const Grouping *g, int64_t group)
{
    return group >= 0 && (uint64_t)group < g->n_groups ? g->groups[group].name : NULL;
}
