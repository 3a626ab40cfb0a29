// SPDX-License-Identifier: Apache-2.0
/* host_steps.c: builds the steps of one host; see steps.h and step_parts.h. */
#include "step_parts.h"

#include "../../base/sort.h"

/* ---- the groups of a host ---- */

/* Most ids are small: one bit for each of these, the others in a list. */
enum { MOST_SMALL_IDS = 1 << 24 };
typedef struct {
    StepBuild *build;
    uint64_t *small;
    size_t n_small;
    int64_t last;
} GroupCollector;

static int add_group(GroupCollector *c, int64_t id, ProfErr *err)
{
    GroupList *list = &c->build->groups;
    if (id < 0 || id == c->last) return PROF_OK;
    c->last = id;
    if ((uint64_t)id < c->n_small) {
        c->small[id / 64] |= (uint64_t)1 << (id % 64);
        return PROF_OK;
    }
    if (!GROW(list->ids, list->n, list->capacity)) return prof_nomem(err);
    list->ids[list->n++] = id;
    return PROF_OK;
}

static void sort_unique(GroupList *list)
{
    size_t n = 0;
    sort_int64(list->ids, list->n);
    for (size_t i = 0; i < list->n; i++)
        if (!i || list->ids[i] != list->ids[n - 1]) list->ids[n++] = list->ids[i];
    list->n = n;
}

/* Repetitions in the list are removed when it has grown to this, and later when it has doubled. */
enum { SETTLE_FROM = 1 << 16 };

static void collect_chunks(GroupCollector *c, const Line *line, const Packed *of_chunks,
                           ProfErr *err)
{
    StepBuild *b = c->build;
    for (size_t k = 0; of_chunks && k < line->n_chunks && !err->code; k++) {
        const Packed *packed = &of_chunks[k];
        for (uint32_t i = 0; i < line->chunks[k].n_events && !err->code; i++) {
            if (i && !packed->width) break; /* all events are of one group */
            add_group(c, packed_at(packed, i), err);
        }
        if (b->groups.n > b->n_settled) {
            sort_unique(&b->groups);
            b->n_settled = 2 * b->groups.n + SETTLE_FROM;
        }
    }
}

static int collect_line(GroupCollector *c, const Line *line, ProfErr *err)
{
    const LineGroups *groups = line_groups(c->build->grouping, line);
    if (!groups->of_steps || line->plane->kind != PLANE_HOST)
        collect_chunks(c, line, groups->groups, err);
    collect_chunks(c, line, groups->of_steps, err);
    for (size_t i = 0; i < groups->n_regions && !err->code; i++)
        add_group(c, groups->regions[i].group, err);
    for (size_t i = 0; groups->merged && i < groups->n_steps && !err->code; i++)
        add_group(c, groups->steps[i].group, err);
    return err->code;
}

/* Lists all ids in ascending order; small ids come first. */
static int list_groups(const GroupCollector *c, ProfErr *err)
{
    GroupList *list = &c->build->groups, all = {0};
    sort_unique(list);
    for (size_t i = 0; i < c->n_small / 64; i++)
        all.capacity += (size_t)__builtin_popcountll(c->small[i]);
    all.capacity += list->n;
    if (!(all.ids = prof_buffer(all.capacity * sizeof *all.ids))) return prof_nomem(err);
    for (size_t i = 0; i < c->n_small / 64; i++)
        for (uint64_t bits = c->small[i]; bits; bits &= bits - 1)
            all.ids[all.n++] = (int64_t)(i * 64 + (size_t)__builtin_ctzll(bits));
    if (list->n) memcpy(all.ids + all.n, list->ids, list->n * sizeof *list->ids);
    all.n += list->n;
    prof_free(list->ids);
    *list = all;
    return PROF_OK;
}

static int collect_groups(StepBuild *b, ProfErr *err)
{
    size_t n_small =
        b->host->n_events < MOST_SMALL_IDS ? (size_t)b->host->n_events + 64 : MOST_SMALL_IDS;
    GroupCollector c = {.build = b, .n_small = n_small / 64 * 64, .last = -1};
    if (!(c.small = prof_alloc(c.n_small / 8))) prof_nomem(err);
    for (size_t i = 0; i < b->host->n_lines && !err->code; i++)
        if (!b->is_outline || b->host->lines[i].plane->kind == PLANE_GPU)
            collect_line(&c, &b->host->lines[i], err);
    if (!err->code) list_groups(&c, err);
    if (!err->code && !(b->facts = prof_alloc(b->groups.n * sizeof *b->facts))) prof_nomem(err);
    prof_free(c.small);
    return err->code;
}

/* ---- steps ---- */

HostStep *add_host_step(StepBuild *b, uint32_t group, size_t n_cores)
{
    HostSteps *s = b->steps;
    const GroupFacts *f = &b->facts[group];
    if (!GROW(s->steps, s->n_steps, s->step_capacity)) return NULL;
    StepCore *cores = n_cores ? arena_alloc(&s->arena, n_cores * sizeof *cores) : NULL;
    if (n_cores && !cores) return NULL;
    HostStep *step = &s->steps[s->n_steps++];
    *step = (HostStep){.group = b->groups.ids[group],
                       .cores = cores,
                       .range_begin_ps = f->host.begin_ps,
                       .range_ps = f->host.duration_ps,
                       .has_range = f->host.there,
                       .n_collectives = f->n_collectives,
                       .xprof_all_reduce_ps = f->xprof_all_reduce_ps,
                       .host_spoke = f->host_spoke,
                       .host_input_ps = f->host_input_ps};
    const char *named =
        /* copied, because the grouping may be freed before the steps */
        group_name(b->grouping, step->group);
    const Text *name =
        named ? text_intern(&s->texts->texts, &s->texts->arena, named, strlen(named)) : NULL;
    if (named && !name) return NULL;
    step->name = name ? name->text : f->name;
    memcpy(step->transfers, f->transfers, sizeof step->transfers);
    return step;
}

bool keep_unknown(StepBuild *b, HostStep *step, const Cover *unknown)
{
    Stretch *kept = arena_buffer(&b->steps->arena, unknown->n * sizeof *kept);
    if (!kept) return false;
    if (unknown->n) memcpy(kept, unknown->items, unknown->n * sizeof *kept);
    step->unknown = kept, step->n_unknown = unknown->n;
    return true;
}

/* Marks the first and last of more than five steps, which XProf drops as incomplete. */
static void drop_ends(HostSteps *s)
{
    HostStep *first = NULL, *last = NULL;
    size_t n = 0;
    for (size_t i = 0; i < s->n_steps; i++) {
        if (s->steps[i].dropped) continue;
        if (!first) first = &s->steps[i];
        last = &s->steps[i];
        n++;
    }
    if (n > 5) first->dropped = last->dropped = STEP_FIRST_OR_LAST;
}

/* ---- reasons for having no steps ---- */

static void report(const HostSteps *s)
{
    size_t n_kept = 0, n_bare = 0, n_marked = 0, n[STEP_FIRST_OR_LAST + 1] = {0};
    for (size_t i = 0; i < s->n_steps; i++) {
        n[s->steps[i].dropped]++;
        n_kept += s->steps[i].dropped == STEP_KEPT,
            n_bare += s->steps[i].dropped == STEP_KEPT && !s->steps[i].n_cores;
        n_marked += s->steps[i].dropped == STEP_OUTSIDE_XPROF && s->steps[i].n_cores;
    }
    if (n_bare)
        host_issue(s->host, "info", "steps_without_cores", s->host,
                   "%zu steps have a duration of 0: steps lists them, step_breakdown and "
                   "core_steps do not",
                   n_bare);
    if (n_kept) return;
    if (!s->host->n_events)
        host_issue(s->host, "info", "no_steps", s->host,
                   "the file has no events, so it has no steps");
    else if (!s->n_steps)
        host_issue(s->host, "info", "no_steps", s->host,
                   "no event belongs to a step: the program has no step markers (train steps of "
                   "TensorFlow, jax.profiler.StepTraceAnnotation), or the profiler did not record "
                   "them; tables of steps have no rows of this host");
    else if (n_marked)
        host_issue(
            s->host, "info", "no_steps", s->host,
            "the only step markers are %zu events `Profiled batch`, which Keras 3 writes and XProf "
            "does not recognize: it shows no steps and no verdicts. The `_actual` columns of "
            "steps, step_breakdown, core_steps (outside_xprof = 1) and input_pipeline use these "
            "steps; input_steps, overview and roofline follow XProf and do not",
            n_marked);
    else
        host_issue(
            s->host, "info", "no_steps", s->host,
            "no group of events is a step: %zu without a marker, %zu without events, %zu with a "
            "marker of duration 0, %zu without computation, %zu with a marker that XProf does not "
            "recognize; tables of steps have no rows of this host, host_steps lists the groups",
            n[STEP_NO_MARKER], n[STEP_NO_EVENTS] + n[STEP_NOT_ON_ALL_CORES], n[STEP_NO_TIME],
            n[STEP_NO_COMPUTE], n[STEP_OUTSIDE_XPROF]);
}

/* ---- the analysis ---- */

static void host_steps_release(void *result)
{
    HostSteps *s = result;
    prof_free(s->steps);
    for (size_t i = 0; i < s->n_arenas; i++) arena_free(&s->arenas[i]);
    prof_free(s->arenas);
    op_db_free(&s->ops);
    if (s->texts) {
        text_table_free(&s->texts->texts);
        arena_free(&s->texts->arena);
        prof_free(s->texts);
    }
    arena_free(&s->arena);
    prof_free(s);
}

static void find_devices(const Host *host, bool *has_device, bool *is_tpu)
{
    *has_device = *is_tpu = false;
    for (size_t i = 0; i < host->n_planes; i++) {
        *is_tpu |= host->planes[i].prefix == PREFIX_TPU;
        *has_device |= host->planes[i].kind == PLANE_GPU;
    }
    *has_device |= *is_tpu;
}

enum Extent { STEPS, OUTLINES, WITH_UNKNOWN };

static int fill(HostSteps *s, enum Extent extent, ProfErr *err)
{
    StepBuild b = {.steps = s,
                   .host = s->host,
                   .grouping = host_grouping(s->host, err),
                   .is_outline = extent == OUTLINES,
                   .keeps_unknown = extent == WITH_UNKNOWN};
    if (!b.grouping) return err->code;
    if (!collect_groups(&b, err)) {
        if (s->is_tpu)
            tpu_steps(&b, err);
        else
            generic_steps(&b, err);
    }
    if (!err->code && !s->is_tpu) drop_ends(s);
    if (!err->code && !b.is_outline) marked_steps(&b, err);
    prof_free(b.groups.ids);
    prof_free(b.facts);
    return err->code;
}

static HostSteps *host_steps_make(Host *host, enum Extent extent, ProfErr *err)
{
    HostSteps *s = prof_alloc(sizeof *s);
    if (!s || !(s->texts = prof_alloc(sizeof *s->texts))) {
        prof_nomem(err);
    } else {
        s->host = host;
        find_devices(host, &s->has_device, &s->is_tpu);
        if (!fill(s, extent, err) && extent == STEPS) report(s);
    }
    if (s && err->code) host_steps_release(s);
    return err->code ? NULL : s;
}

static void *host_steps_make_steps(Run *run, Host *only, ProfErr *err)
{
    return host_steps_make(only ? only : &run->hosts[0], STEPS, err);
}
static void *host_steps_make_outlines(Run *run, Host *only, ProfErr *err)
{
    return host_steps_make(only ? only : &run->hosts[0], OUTLINES, err);
}
static void *host_steps_make_with_unknown(Run *run, Host *only, ProfErr *err)
{
    return host_steps_make(only ? only : &run->hosts[0], WITH_UNKNOWN, err);
}
static const Analysis of_steps = {host_steps_make_steps, host_steps_release,
                                  NEEDS_ONE_HOST_AT_A_TIME},
                      of_outlines = {host_steps_make_outlines, host_steps_release,
                                     NEEDS_ONE_HOST_AT_A_TIME};

const HostSteps *host_steps(Host *host, ProfErr *err)
{
    return run_analysis(host->run, host, &of_steps, err);
}

bool has_step_outlines(Host *host)
{
    bool has_device, is_tpu;
    find_devices(host, &has_device, &is_tpu);
    return has_device && !is_tpu && !run_analysis_made(host->run, host, &of_steps);
}

const HostSteps *host_step_outlines(Host *host, ProfErr *err)
{
    return run_analysis(host->run, host, has_step_outlines(host) ? &of_outlines : &of_steps, err);
}

const HostSteps *host_steps_with_unknown(Host *host, ProfErr *err)
{
    static const Analysis with_unknown = {host_steps_make_with_unknown, host_steps_release,
                                          NEEDS_ONE_HOST_AT_A_TIME};
    return run_analysis(host->run, host, &with_unknown, err);
}
