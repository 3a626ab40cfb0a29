// SPDX-License-Identifier: Apache-2.0
/* trace_viewer.c: tracks, names and arguments of the trace viewer; see trace_viewer.h. */
#include "trace_viewer.h"
#include "../../base/search.h"

#include "../../base/sort.h"
#include "../../base/text_buffer.h"
#include "../grouping/event_context.h"

#include <math.h>
#include <stdio.h>

/* Data of a plane that is needed to draw its events. */
struct ViewerPlane {
    ContextPlane context;
    uint8_t *types; /* by event metadata: enum EventType by name alone */
    Track track;    /* of its lines, without the thread */
};

typedef struct {
    TraceViewer viewer;
    struct ViewerPlane *planes;
} EventResult;

typedef struct {
    TraceViewer viewer;
    Track *lines, *derived_lines;
} Result;

/* ---- tracks ---- */

/* Sorts planes: /host:CPU first, in file order, then those of sub-processes by name. */
static int by_host_name(const void *a, const void *b)
{
    const Plane *x = *(Plane *const *)a, *y = *(Plane *const *)b;
    if (x->is_prefix != y->is_prefix) return x->is_prefix ? -1 : 1;
    int c = strcmp(x->name->text, y->name->text);
    if (c) return c;
    return ORDER(x, y);
}

/* Numbers the processes by kind: devices from 1, custom planes from 501, hosts from 701. If there
 * are GPUs, XProf does not draw TPUs. */
static bool number_planes(const Host *host, struct ViewerPlane *planes)
{
    enum { FIRST_DEVICE = 1, FIRST_CUSTOM = 501, FIRST_HOST = 701 };
    const Plane **hosts = prof_alloc(host->n_planes * sizeof *hosts);
    size_t n_hosts = 0;
    bool has_gpus = false;
    if (!hosts) return false;
    for (size_t i = 0; i < host->n_planes; i++) has_gpus |= host->planes[i].kind == PLANE_GPU;
    for (size_t i = 0; i < host->n_planes; i++) {
        const Plane *plane = &host->planes[i];
        if (has_gpus ? plane->kind == PLANE_GPU : is_tpu(plane))
            planes[i].track =
                (Track){true, (uint32_t)((uint64_t)plane->proto_id + FIRST_DEVICE), 0};
        else if (plane->prefix == PREFIX_CUSTOM)
            planes[i].track =
                (Track){true, (uint32_t)((uint64_t)plane->proto_id + FIRST_CUSTOM), 0};
        else if (plane->prefix == PREFIX_HOST_THREADS)
            hosts[n_hosts++] = plane;
    }
    sort_array(hosts, n_hosts, sizeof *hosts, by_host_name);
    for (size_t i = 0; i < n_hosts; i++)
        planes[hosts[i] - host->planes].track = (Track){true, FIRST_HOST + (int64_t)i, 0};
    prof_free(hosts);
    return true;
}

static void number_lines(Result *r)
{
    const Host *host = r->viewer.host;
    const DerivedLines *derived = r->viewer.derived;
    const struct ViewerPlane *planes = r->viewer.planes;
    for (size_t i = 0; i < host->n_lines; i++) {
        const Line *line = &host->lines[i];
        int64_t shown = derived->line_display_ids ? derived->line_display_ids[i] : 0;
        if (!shown) shown = line->display_id ? line->display_id : line->proto_id;
        r->lines[i] = planes[line->plane - host->planes].track;
        r->lines[i].tid = (uint32_t)shown;
    }
    for (size_t i = 0; i < derived->n_lines; i++) {
        const DerivedLine *line = &derived->lines[i];
        r->derived_lines[i] = planes[line->plane - host->planes].track;
        r->derived_lines[i].tid = (uint32_t)(line->display_id ? line->display_id : line->id);
    }
}

bool viewer_draws(const TraceViewer *d, const Plane *plane)
{
    return d->planes[plane - d->host->planes].track.drawn;
}

/* ---- making ---- */

static void event_viewer_release(void *result)
{
    EventResult *r = result;
    for (size_t i = 0; r->planes && i < r->viewer.host->n_planes; i++) {
        context_plane_close(&r->planes[i].context);
        prof_free(r->planes[i].types);
    }
    prof_free(r->planes);
    prof_free(r);
}

static bool prepare_plane(struct ViewerPlane *dp, const Plane *plane, ProfErr *err)
{
    if (!context_plane_open(&dp->context, plane, err)) return false;
    if (!(dp->types = prof_alloc(plane->n_event_metas))) {
        prof_nomem(err);
        return false;
    }
    for (size_t i = 0; i < plane->n_event_metas; i++)
        dp->types[i] = (uint8_t)event_type_named(plane->event_metas[i].name);
    return true;
}

static void *event_viewer_make(Run *run, Host *only, ProfErr *err)
{
    Host *host = only ? only : &run->hosts[0];
    EventResult *r = prof_alloc(sizeof *r);
    if (!r) {
        prof_nomem(err);
        return NULL;
    }
    TraceViewer *d = &r->viewer;
    d->host = host;
    d->grouping = host_grouping(host, err);
    d->names = d->grouping ? host_derived_names(host, err) : NULL;
    if (d->names) {
        d->planes = r->planes = prof_alloc(host->n_planes * sizeof *r->planes);
        if (!r->planes || !number_planes(host, r->planes)) prof_nomem(err);
    }
    for (size_t i = 0; i < host->n_planes && !err->code; i++)
        prepare_plane(&r->planes[i], &host->planes[i], err);
    if (!err->code) return r;
    event_viewer_release(r);
    return NULL;
}

const TraceViewer *host_event_viewer(Host *host, ProfErr *err)
{
    static const Analysis analysis = {event_viewer_make, event_viewer_release, NEEDS_ALL_HOSTS};
    const EventResult *r = run_analysis(host->run, host, &analysis, err);
    return r ? &r->viewer : NULL;
}

static void trace_viewer_release(void *result)
{
    Result *r = result;
    prof_free(r->lines);
    prof_free(r->derived_lines);
    prof_free(r);
}

/* Derives lines first, because their names are then known. */
static void *trace_viewer_make(Run *run, Host *only, ProfErr *err)
{
    Host *host = only ? only : &run->hosts[0];
    const DerivedLines *derived = host_derived(host, err);
    const TraceViewer *events = derived ? host_event_viewer(host, err) : NULL;
    Result *r = events ? prof_alloc(sizeof *r) : NULL;
    if (!r) {
        if (events) prof_nomem(err);
        return NULL;
    }
    r->viewer = *events;
    r->viewer.derived = derived;
    r->viewer.lines = r->lines = prof_alloc(host->n_lines * sizeof *r->lines);
    r->viewer.derived_lines = r->derived_lines =
        prof_alloc(derived->n_lines * sizeof *r->derived_lines);
    if (r->lines && r->derived_lines) {
        number_lines(r);
        return r;
    }
    prof_nomem(err);
    trace_viewer_release(r);
    return NULL;
}

const TraceViewer *host_trace_viewer(Host *host, ProfErr *err)
{
    static const Analysis analysis = {trace_viewer_make, trace_viewer_release, NEEDS_ALL_HOSTS};
    const Result *r = run_analysis(host->run, host, &analysis, err);
    return r ? &r->viewer : NULL;
}

/* ---- names ---- */

static enum EventType type_of(const TraceViewer *d, const Plane *plane, const EventMeta *meta)
{
    return (enum EventType)d->planes[plane - d->host->planes].types[meta - plane->event_metas];
}

bool viewer_shows(const TraceViewer *d, const Line *line, const EventMeta *meta)
{
    return type_of(d, line->plane, meta) != EVENT_INTERNAL;
}

static const Text *display_name(const TraceViewer *d, const Plane *plane, const EventMeta *meta)
{
    const DerivedPlane *derived =
        d->names->planes ? &d->names->planes[plane - d->host->planes] : NULL;
    size_t i = (size_t)(meta - plane->event_metas);
    if (derived && i < derived->n_metas && derived->metas[i].file == meta)
        return derived->metas[i].display_name;
    return meta->display_name;
}

const char *viewer_value(const Plane *plane, const Stat *value, char room[VIEWER_ROOM],
                         size_t *n_bytes)
{
    const Text *text = value->type == TYPE_REF ? stat_ref_text(plane, value->u64) : NULL;
    *n_bytes = text ? text->n_bytes : value->n_bytes;
    if (value->type == TYPE_STR || text) return text ? text->text : (const char *)value->bytes;
    switch (value->type) {
    case TYPE_INT64: snprintf(room, VIEWER_ROOM, "%lld", (long long)value->integer); break;
    case TYPE_UINT64: snprintf(room, VIEWER_ROOM, "%llu", (unsigned long long)value->u64); break;
    case TYPE_DOUBLE:
        print_real(room, VIEWER_ROOM, "%g", value->number != value->number ? NAN : value->number);
        break;
    default: snprintf(room, VIEWER_ROOM, "<opaque bytes>"); break;
    }
    *n_bytes = strlen(room);
    return room;
}

/* ---- arguments ---- */

/* Returns whether XProf hides the stat. */
static bool is_internal(const char *name, size_t n)
{
    switch (n) {
    case 2: return !memcmp(name, "_c", 2) || !memcmp(name, "_p", 2) || !memcmp(name, "_r", 2);
    case 3: return !memcmp(name, "_ct", 3) || !memcmp(name, "_pt", 3);
    case 5: return !memcmp(name, "flops", 5);
    case 9: return !memcmp(name, "symbol_id", 9);
    case 10: return !memcmp(name, "program_id", 10);
    default: return false;
    }
}

static bool add_arg(ViewerEvent *out, const char *name, size_t n_name, const Stat *value)
{
    if (value->type == TYPE_NONE || is_internal(name, n_name)) return true;
    ViewerArg *arg = PUSH(out->own);
    if (arg) *arg = (ViewerArg){name, n_name, *value, (uint32_t)out->own.n};
    return arg != NULL;
}

static bool add_text(ViewerEvent *out, const char *name, const char *text, size_t n)
{
    return add_arg(out, name, strlen(name),
                   &(Stat){.type = TYPE_STR, .bytes = (const uint8_t *)text, .n_bytes = n});
}

static bool add_integer(ViewerEvent *out, const char *name, int64_t value)
{
    return add_arg(out, name, strlen(name), &(Stat){.type = TYPE_INT64, .integer = value});
}

/* Sets a number as XProf does: in the event's first stat of the name. If there are several, the
 * last is shown, which stays unchanged. */
static bool set_integer(ViewerEvent *out, const char *name, int64_t value)
{
    size_t n = strlen(name), n_there = 0;
    for (size_t i = 0; i < out->own.n; i++)
        n_there += out->own.items[i].n_name == n && !memcmp(out->own.items[i].name, name, n);
    return n_there > 1 || add_integer(out, name, value);
}

static bool add_stat(ViewerEvent *out, const Stat *stat)
{
    const StatMeta *meta = stat_meta(out->plane, stat->id);
    const Text *name = meta ? meta->name : empty_text;
    if (out->first_stat.type == TYPE_NONE) out->first_stat = *stat;
    if (meta && meta->known == STAT_STEP_NAME && stat->type != TYPE_NONE)
        out->name = viewer_value(out->plane, stat, out->room, &out->n_name);
    return add_arg(out, name->text, name->n_bytes, stat);
}

static bool add_stats(ViewerEvent *out, StatIter stats)
{
    Stat stat;
    while (stat_iter_next(&stats, &stat))
        if (!add_stat(out, &stat)) return false;
    return true;
}

static int compare_names(const ViewerArg *x, const ViewerArg *y)
{
    return slice_order((Slice){x->name, x->n_name}, (Slice){y->name, y->n_name});
}

static int by_name(const void *a, const void *b)
{
    const ViewerArg *x = a, *y = b;
    int c = compare_names(x, y);
    if (c) return c;
    return x->order < y->order ? 1 : -1; /* the last comes first */
}

/* The order of the arguments of one metadata entry's events whose own arguments have certain names.
 * Nearly all events of an entry have the same names in the same order, so they need not be sorted
 * again. Names are compared by address: equal addresses are equal names. */
enum { N_PLANS = 256, PLAN_OWN = 16, PLAN_ARGS = 48 };
struct ArgPlan {
    const void *of; /* NULL: unused */
    uint8_t n_own, n;
    const char *names[PLAN_OWN]; /* of own arguments, as they are found */
    uint8_t from[PLAN_ARGS];     /* index of an own argument, or n_own + that of a shared one */
};

/* Returns where the plan for the event is or will be; NULL if it gets none. */
static struct ArgPlan *plan_of(ViewerEvent *out)
{
    const struct SharedArgs *shared = out->shared;
    if (!shared || out->own.n > PLAN_OWN || out->own.n + shared->n_args > PLAN_ARGS) return NULL;
    if (!out->plans) out->plans = prof_alloc(N_PLANS * sizeof *out->plans);
    return out->plans ? &out->plans[hash64((uintptr_t)shared->of) % N_PLANS] : NULL;
}

static bool plan_fits(const struct ArgPlan *plan, const ViewerEvent *out)
{
    if (plan->of != out->shared->of || plan->n_own != out->own.n) return false;
    for (size_t i = 0; i < out->own.n; i++)
        if (plan->names[i] != out->own.items[i].name) return false;
    return true;
}

static void start_plan(struct ArgPlan *plan, const ViewerEvent *out)
{
    plan->of = out->shared->of;
    plan->n_own = (uint8_t)out->own.n;
    for (size_t i = 0; i < out->own.n; i++) plan->names[i] = out->own.items[i].name;
}

static void follow_plan(const struct ArgPlan *plan, ViewerEvent *out)
{
    const ViewerArg *own = out->own.items, *shared = out->shared->args;
    for (size_t i = 0; i < plan->n; i++) {
        uint8_t from = plan->from[i];
        out->args.items[i] = from < plan->n_own ? own[from] : shared[from - plan->n_own];
    }
    out->args.n = plan->n;
}

/* Merges the event's arguments with those of its metadata. Of several of one name, the last of the
 * event counts. */
static void sort_args(ViewerEvent *out, struct ArgPlan *plan)
{
    const struct SharedArgs *shared = out->shared;
    size_t n = 0, of_shared = 0, n_shared = shared ? shared->n_args : 0, n_own = out->own.n;
    if (plan) start_plan(plan, out);
    sort_in_place(out->own.items, n_own, sizeof *out->own.items, by_name);
    for (size_t i = 0; i < n_own; i++) {
        const ViewerArg *own = &out->own.items[i];
        if (i && !compare_names(own, own - 1)) continue;
        for (; of_shared < n_shared; of_shared++) {
            int c = compare_names(&shared->args[of_shared], own);
            if (c > 0) break;
            if (c < 0 && plan) plan->from[n] = (uint8_t)(n_own + of_shared);
            if (c < 0) out->args.items[n++] = shared->args[of_shared];
        }
        if (plan) plan->from[n] = (uint8_t)(own->order - 1);
        out->args.items[n++] = *own;
    }
    for (; of_shared < n_shared; of_shared++) {
        if (plan) plan->from[n] = (uint8_t)(n_own + of_shared);
        out->args.items[n++] = shared->args[of_shared];
    }
    out->args.n = n;
    if (plan) plan->n = (uint8_t)n;
}

static bool merge_args(ViewerEvent *out)
{
    struct ArgPlan *plan = plan_of(out);
    size_t n = out->own.n + (out->shared ? out->shared->n_args : 0);
    while (out->args.capacity < n)
        if (!GROW(out->args.items, out->args.capacity, out->args.capacity)) return false;
    if (plan && plan_fits(plan, out))
        follow_plan(plan, out);
    else
        sort_args(out, plan);
    return true;
}

static const ViewerArg *find_arg(const ViewerArg *args, size_t n, const char *name)
{
    for (size_t i = n; i-- > 0;)
        if (args[i].n_name == strlen(name) && !memcmp(args[i].name, name, args[i].n_name))
            return &args[i];
    return NULL;
}

/* ---- what the events of one metadata entry share ---- */

/* Copies the bytes of the entry, which its arguments point into. */
static bool read_shared_stats(ViewerEvent *out, const Plane *plane, const EventMeta *meta,
                              ProfErr *err)
{
    if (!meta || !meta->has_stats) return true;
    if (!meta_bytes_read(&out->bytes, plane->host, meta, err)) return false;
    MetaBytes kept = out->bytes;
    if (kept.n_bytes && !(kept.bytes = arena_buffer(&out->kept_arena, kept.n_bytes))) return false;
    if (kept.n_bytes) memcpy(kept.bytes, out->bytes.bytes, kept.n_bytes);
    return add_stats(out, stat_iter_of_meta(&kept));
}

/* Copies what read_shared_stats() found. */
static bool keep_shared(ViewerEvent *out, const void *of)
{
    size_t n = out->args.n;
    ViewerArg *args = arena_buffer(&out->kept_arena, n * sizeof *args + 1);
    const char *name = out->name;
    if (name == out->room && (name = arena_buffer(&out->kept_arena, sizeof out->room)))
        memcpy((char *)(uintptr_t)name, out->room, sizeof out->room);
    struct SharedArgs *shared =
        args && name ? PUSH_KEYED(out->kept, &out->kept_by_meta, hash64((uint64_t)(uintptr_t)of))
                     : NULL;
    if (!shared) return false;
    if (n) memcpy(args, out->args.items, n * sizeof *args);
    *shared = (struct SharedArgs){of, name, out->n_name, args, n, out->first_stat};
    return true;
}

static const struct SharedArgs *find_shared(const ViewerEvent *out, const void *of)
{
    uint64_t hash = hash64((uint64_t)(uintptr_t)of);
    HASH_EACH(i, &out->kept_by_meta, hash)
        if (out->kept.items[i].of == of) return &out->kept.items[i];
    return NULL;
}

static void forget_shared(ViewerEvent *out)
{
    out->kept.n = 0;
    hash_clear(&out->kept_by_meta);
    arena_free(&out->kept_arena);
}

/* What is shown of events is named by their metadata: an EventMeta, or a DerivedMeta that has the
 * stats of one of the file. */
typedef struct {
    const void *of;
    const Text *name, *display;
    const EventMeta *file; /* NULL: it has no stats */
} Shown;

static const struct SharedArgs *make_shared(ViewerEvent *out, const Shown *shown, ProfErr *err)
{
    enum { KEPT_BYTES = 32 << 20 };
    const Text *display = shown->display, *name = shown->name;
    if (out->kept_arena.n_bytes > KEPT_BYTES) forget_shared(out);
    out->shared = NULL, out->own.n = 0, out->first_stat = (Stat){0};
    out->name = display->n_bytes ? display->text : name->text;
    out->n_name = display->n_bytes ? display->n_bytes : name->n_bytes;
    if ((display->n_bytes && !add_text(out, "long_name", name->text, name->n_bytes)) ||
        !read_shared_stats(out, out->plane, shown->file, err) || !merge_args(out) ||
        !keep_shared(out, shown->of)) {
        prof_nomem(err);
        return NULL;
    }
    return &out->kept.items[out->kept.n - 1];
}

/* Starts an event: its name, and what its metadata has for all events. */
static bool begin(ViewerEvent *out, const Plane *plane, const Shown *shown, ProfErr *err)
{
    out->plane = plane;
    const struct SharedArgs *shared = find_shared(out, shown->of);
    if (!shared && !(shared = make_shared(out, shown, err))) return false;
    out->shared = shared;
    out->own.n = 0;
    out->has_flow_in = out->has_flow_out = false;
    out->first_stat = shared->first_stat;
    out->name = shared->name, out->n_name = shared->n_name;
    return true;
}

/* ---- flows ---- */

static int64_t flow_id(uint64_t id, uint32_t scope)
{
    return (int64_t)(mix64(id * 31 + mix64(scope)) >> 8);
}

static void set_flow(ViewerEvent *out, bool comes_in, int64_t id)
{
    *(comes_in ? &out->has_flow_in : &out->has_flow_out) = true;
    *(comes_in ? &out->flow_in : &out->flow_out) = id;
}

/* Reads a flow in the file: the direction in the lowest two bits, then 56 bits of id. */
static void read_flow(ViewerEvent *out)
{
    const ViewerArg *arg = find_arg(out->own.items, out->own.n, "flow");
    if (!arg) arg = find_arg(out->shared->args, out->shared->n_args, "flow");
    if (!arg || (arg->value.type != TYPE_UINT64 && arg->value.type != TYPE_INT64)) return;
    uint64_t flow = arg->value.u64;
    int64_t id = (int64_t)(flow >> 2 & (((uint64_t)1 << 56) - 1));
    if (flow & 1) set_flow(out, true, id);
    if (flow & 2) set_flow(out, false, id);
}

static bool add_flows(const TraceViewer *d, const Line *line, const EventAt *e, ViewerEvent *out)
{
    enum { CONTEXT_GPU_LAUNCH = 9 };
    const struct ViewerPlane *dp = &d->planes[line->plane - d->host->planes];
    enum EventType type = type_of(d, line->plane, e->meta);
    EventNumbers n;
    n.used = true;
    if (d->grouping->by == GROUPED_BY_FILE ||
        !meta_events_have(e->meta, &dp->context.filter.wanted) ||
        !event_numbers_read(&n, &dp->context, line, type, stat_iter_of_event(e)))
        return true;
    bool any = numbers_have(&n, STAT_CORRELATION_ID);
    if (any)
        set_flow(out, !dp->context.is_host,
                 flow_id(numbers_unsigned(&n, STAT_CORRELATION_ID), CONTEXT_GPU_LAUNCH));
    for (int produces = 0; produces < 2; produces++) {
        if (!has_context(&n, produces)) continue;
        set_flow(out, !produces,
                 flow_id(context_id(&n, produces), context_scope(&n, &dp->context, produces)));
        any = true;
    }
    bool program = type == EVENT_ENQUEUE_PROGRAM || type == EVENT_ENQUEUE_CONTINUATION ||
                   type == EVENT_COMPLETE_CALLBACKS;
    bool once = !(n.repeated[STAT_RUN_ID / 64] >> (STAT_RUN_ID % 64) &
                  1); /* of several, XProf masks the first but shows the last */
    if (program && once && numbers_have(&n, STAT_RUN_ID) &&
        !add_integer(out, "run_id", numbers_int(&n, STAT_RUN_ID)))
        return false;
    return !any || add_integer(out, "flow", out->has_flow_in ? out->flow_in : out->flow_out);
}

/* ---- events ---- */

static bool add_step_name(const TraceViewer *d, int64_t group, ViewerEvent *out)
{
    const char *name = group_name(d->grouping, group);
    if (!name) return true;
    out->name = name, out->n_name = strlen(name);
    return add_text(out, "step_name", name, out->n_name);
}

/* Adds the group and is_eager from grouping. If grouping did not set them, the file's own stats
 * stay. */
static bool add_grouping(const TraceViewer *d, const Line *line, uint64_t index, ViewerEvent *out)
{
    const LineGroups *groups = line_groups(d->grouping, line);
    int64_t group = packed_nth(groups->groups, index), eager = packed_nth(groups->eager, index);
    bool appends = d->planes[line->plane - d->host->planes].context.is_tpu,
         given = group >= 0 && packed_nth(groups->groups_of_file, index) <= 0;
    if (given && !(appends ? add_integer : set_integer)(out, "group_id", group)) return false;
    if (eager >= 0 && packed_nth(groups->eager_of_file, index) <= 0 &&
        !add_integer(out, "is_eager", eager))
        return false;
    if (group < 0 || (uint64_t)group >= d->grouping->n_groups) return true;
    const Group *g = &d->grouping->groups[group];
    return !g->explicit || g->root != line->first_event + index || add_step_name(d, group, out);
}

static bool begin_event(const TraceViewer *d, const Line *line, const EventAt *e, ViewerEvent *out,
                        ProfErr *err)
{
    const Shown shown = {e->meta, e->meta->name, display_name(d, line->plane, e->meta), e->meta};
    if (!begin(out, line->plane, &shown, err)) return false;
    if (!add_stats(out, stat_iter_of_event(e))) {
        prof_nomem(err);
        return false;
    }
    read_flow(out);
    return add_flows(d, line, e, out) ? true : (prof_nomem(err), false);
}

bool viewer_event_at(const TraceViewer *d, const Line *line, const EventAt *e, ViewerEvent *out,
                     ProfErr *err)
{
    if (!begin_event(d, line, e, out, err)) return false;
    if (add_grouping(d, line, e->event - line->first_event, out) && merge_args(out)) return true;
    prof_nomem(err);
    return false;
}

bool viewer_event(const TraceViewer *d, Line *line, uint64_t index, ViewerEvent *out, ProfErr *err)
{
    EventAt e;
    return event_find(&out->finder, line, index, EVENT_STATS, &e, err) &&
           viewer_event_at(d, line, &e, out, err);
}

bool viewer_step(const TraceViewer *d, Line *line, const MergedStep *step, ViewerEvent *out,
                 ProfErr *err)
{
    EventAt e;
    if (!event_find(&out->finder, line, step->event - line->first_event, EVENT_STATS, &e, err) ||
        !begin_event(d, line, &e, out, err))
        return false;
    bool memory = set_integer(out, "group_id", step->group) &&
                  set_integer(out, "step_idle_time_ps", step->idle_ps);
    if (memory && step->extended && step->device_start_ps != INT64_MIN)
        memory = set_integer(out, "device_offset_ps", step->device_start_ps) &&
                 set_integer(out, "device_duration_ps", step->device_duration_ps);
    const LineGroups *groups = line_groups(d->grouping, line);
    int64_t eager = packed_nth(groups->eager, step->event - line->first_event);
    if (memory && eager >= 0 &&
        packed_nth(groups->eager_of_file, step->event - line->first_event) <= 0)
        memory = add_integer(out, "is_eager", eager);
    if (memory && add_step_name(d, step->group, out) && merge_args(out)) return true;
    prof_nomem(err);
    return false;
}

bool viewer_region(const TraceViewer *d, Line *line, const Region *region, ViewerEvent *out,
                   ProfErr *err)
{
    static const char name[] = "ThreadpoolListener::Region";
    (void)d;
    if (!begin(out, line->plane, &(Shown){name, empty_text, empty_text, NULL}, err)) return false;
    out->name = name, out->n_name = sizeof name - 1;
    if ((region->group < 0 || add_integer(out, "group_id", region->group)) && merge_args(out))
        return true;
    prof_nomem(err);
    return false;
}

bool viewer_derived(const TraceViewer *d, const DerivedLine *line, size_t event, ViewerEvent *out,
                    ProfErr *err)
{
    const DerivedEvent e = derived_event(line, event);
    const DerivedMeta *meta = &d->derived->planes[line->plane - d->host->planes].metas[e.meta];
    const Shown shown = {meta, meta->name, meta->display_name, meta->file};
    if (!begin(out, line->plane, &shown, err)) return false;
    bool memory = e.group < 0 || add_integer(out, "group_id", e.group);
    if (line->kind == LINE_STEPS) memory &= add_step_name(d, e.group, out);
    size_t low = LOWER_BOUND(i, 0, line->stats.n,
                             (size_t)packed_value(&line->stats, i, DERIVED_STAT_EVENT) < event);
    for (; low < line->stats.n && memory; low++) {
        const DerivedStat stat = derived_stat(line, low);
        if (stat.event != event) break;
        Stat value = {.type = stat.value.type, .u64 = stat.value.u64};
        if (value.type == TYPE_STR)
            value.bytes = (const uint8_t *)stat.value.text->text,
            value.n_bytes = stat.value.text->n_bytes;
        const char *name = derived_stat_names[stat.name];
        memory = add_arg(out, name, strlen(name), &value);
    }
    if (memory && merge_args(out)) return true;
    prof_nomem(err);
    return false;
}

void viewer_event_free(ViewerEvent *event)
{
    event_finder_close(&event->finder);
    meta_bytes_free(&event->bytes);
    prof_free(event->args.items);
    prof_free(event->own.items);
    prof_free(event->plans);
    prof_free(event->kept.items);
    hash_free(&event->kept_by_meta);
    arena_free(&event->kept_arena);
    *event = (ViewerEvent){0};
}
