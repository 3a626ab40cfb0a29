/* host_steps.c: the steps of one host; see steps.h and step_parts.h. */
#include "step_parts.h"

/* ---- which groups there are ---- */

static int by_id(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

static int add_group(GroupList *list, int64_t id, int64_t *last, ProfErr *err)
{
    if (id < 0 || id == *last) return PROF_OK;
    if (!GROW(list->ids, list->n, list->capacity)) return prof_nomem(err);
    list->ids[list->n++] = *last = id;
    return PROF_OK;
}

static void settle(GroupList *list)
{
    size_t n = 0;
    if (list->n) qsort(list->ids, list->n, sizeof *list->ids, by_id);
    for (size_t i = 0; i < list->n; i++)
        if (!i || list->ids[i] != list->ids[n - 1]) list->ids[n++] = list->ids[i];
    list->n = n;
}

/* What lines repeat is forgotten now and then, the later the more there is. */
enum { SETTLE_FROM = 1 << 16 };

static int collect_line(StepBuild *b, const Line *line, ProfErr *err)
{
    const LineGroups *groups = line_groups(b->grouping, line);
    int64_t last = -1;
    for (size_t c = 0; groups->groups && c < line->n_chunks && !err->code; c++) {
        const Packed *packed = &groups->groups[c];
        for (uint32_t i = 0; i < line->chunks[c].n_events && !err->code; i++) {
            if (i && !packed->width) break; /* all of one group */
            add_group(&b->groups, packed_at(packed, i), &last, err);
        }
        if (b->groups.n > b->n_settled) {
            settle(&b->groups);
            b->n_settled = 2 * b->groups.n + SETTLE_FROM;
        }
    }
    for (size_t i = 0; i < groups->n_regions && !err->code; i++) add_group(&b->groups, groups->regions[i].group, &last, err);
    for (size_t i = 0; groups->merged && i < groups->n_steps && !err->code; i++) add_group(&b->groups, groups->steps[i].group, &last, err);
    return err->code;
}

static int collect_groups(StepBuild *b, ProfErr *err)
{
    for (size_t i = 0; i < b->host->n_lines && !err->code; i++) collect_line(b, &b->host->lines[i], err);
    settle(&b->groups);
    if (!err->code && !(b->facts = prof_alloc(b->groups.n * sizeof *b->facts))) prof_nomem(err);
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
                       .n_collectives = f->n_collectives,
                       .xprof_all_reduce_ps = f->xprof_all_reduce_ps,
                       .host_spoke = f->host_spoke,
                       .host_input_ps = f->host_input_ps};
    const char *named = group_name(b->grouping, step->group); /* the grouping may go before the steps */
    const Text *name = named ? text_intern(&s->texts->texts, &s->texts->arena, (const uint8_t *)named, strlen(named)) : NULL;
    if (named && !name) return NULL;
    step->name = name ? name->text : f->name;
    memcpy(step->transfers, f->transfers, sizeof step->transfers);
    return step;
}

/* XProf takes the first and the last of more than five for incomplete. */
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

/* Keras 3 marks steps with events that XProf does not group by. They are listed, and count where XProf finds no others
 * and only for what is actual (input.h). */
static bool is_foreign_step(const Text *name) { return slice_starts(slice_of(name), "Profiled batch"); }

static int add_foreign_steps(StepBuild *b, ProfErr *err)
{
    const Plane *plane = host_plane(b->host, "/host:CPU");
    bool any = false;
    for (size_t k = 0; plane && k < plane->n_event_metas && !any; k++) any = is_foreign_step(plane->event_metas[k].name);
    for (size_t i = 0; any && i < plane->n_lines && !err->code; i++) {
        Line *line = &b->host->lines[plane->first_line + i];
        EventReader reader;
        EventAt e;
        event_reader_open(&reader, line, 0, err);
        while (event_reader_next(&reader, &e)) {
            if (!is_foreign_step(e.meta->name)) continue;
            HostSteps *s = b->steps;
            if (!GROW(s->steps, s->n_steps, s->step_capacity)) {
                prof_nomem(err);
                break;
            }
            s->steps[s->n_steps++] = (HostStep){.group = -1,
                                                .name = e.meta->name->text,
                                                .begin_ps = (uint64_t)e.start_ps,
                                                .duration_ps = (uint64_t)e.duration_ps,
                                                .dropped = STEP_OUTSIDE_XPROF};
        }
        event_reader_close(&reader);
    }
    return err->code;
}

/* ---- why there is nothing to show ---- */

static void report(const HostSteps *s)
{
    size_t n_kept = 0, n[STEP_FIRST_OR_LAST + 1] = {0};
    for (size_t i = 0; i < s->n_steps; i++) n[s->steps[i].dropped]++, n_kept += s->steps[i].dropped == STEP_KEPT;
    if (n_kept || !s->host->n_events) return;
    if (!s->n_steps)
        host_issue(s->host, "info", "no_steps", 0, 0, s->host,
                   "no event belongs to a step: the program has no step markers (train steps of TensorFlow, jax.profiler.StepTraceAnnotation), or the profiler "
                   "did not record them; tables of steps are empty");
    else if (n[STEP_OUTSIDE_XPROF] == s->n_steps)
        host_issue(
            s->host, "info", "no_steps", 0, 0, s->host,
            "the only steps are events `Profiled batch`, which Keras 3 writes and XProf does not group by: host_steps lists them, input_pipeline's actual "
            "columns judge by them, other tables of steps are empty");
    else
        host_issue(
            s->host, "info", "no_steps", 0, 0, s->host,
            "no group of events is a step: %zu without a marker, %zu in which nothing ran, %zu without length, %zu in which nothing was computed; tables of "
            "steps are empty, host_steps lists the groups",
            n[STEP_NO_MARKER], n[STEP_NO_EVENTS] + n[STEP_NOT_ON_ALL_CORES], n[STEP_NO_TIME], n[STEP_NO_COMPUTE]);
}

/* ---- making ---- */

static void release(void *result)
{
    HostSteps *s = result;
    prof_free(s->steps);
    prof_free(s->records);
    op_db_free(&s->ops);
    if (s->texts) {
        text_table_free(&s->texts->texts);
        arena_free(&s->texts->arena);
        prof_free(s->texts);
    }
    arena_free(&s->arena);
    prof_free(s);
}

static void find_devices(HostSteps *s)
{
    for (size_t i = 0; i < s->host->n_planes; i++) {
        s->is_tpu |= s->host->planes[i].kind == PLANE_TENSORCORE;
        s->has_device |= s->host->planes[i].kind == PLANE_GPU;
    }
    s->has_device |= s->is_tpu;
}

static int fill(HostSteps *s, ProfErr *err)
{
    StepBuild b = {.steps = s, .host = s->host, .grouping = host_grouping(s->host, err)};
    if (!b.grouping) return err->code;
    if (!collect_groups(&b, err)) {
        if (s->is_tpu)
            tpu_steps(&b, err);
        else
            generic_steps(&b, err);
    }
    if (!err->code && !s->is_tpu) drop_ends(s);
    if (!err->code) add_foreign_steps(&b, err);
    prof_free(b.groups.ids);
    prof_free(b.facts);
    return err->code;
}

static void *make(Run *run, Host *only, ProfErr *err)
{
    HostSteps *s = prof_alloc(sizeof *s);
    if (!s || !(s->texts = prof_alloc(sizeof *s->texts))) {
        prof_nomem(err);
    } else {
        s->host = only ? only : &run->hosts[0];
        find_devices(s);
        if (!fill(s, err)) report(s);
    }
    if (s && err->code) release(s);
    return err->code ? NULL : s;
}

const HostSteps *host_steps(Host *host, ProfErr *err)
{
    static const Analysis analysis = {make, release};
    return run_analysis_of(host->run, host, &analysis, NEEDS_HOSTS_IN_TURN, err);
}
