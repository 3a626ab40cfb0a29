// SPDX-License-Identifier: Apache-2.0
/* step_events.c: classifies the events of GPUs and host threads for steps; see step_parts.h.
 *
 * As in XProf, a GPU's event is a copy, a collective or a computation by its name. XProf recognises
 * copies only by names that older profilers wrote (MEMCPYHtoD), and treats MemcpyH2D as a
 * computation. The actual type is kept beside XProf's. */
#include "compile_events.h"

#include "../../base/nest.h"
#include "../../base/search.h"
#include "../grouping/event_types.h"
#include "../ops/kernel_names.h"
#include "../../store/lines.h"
#include "step_parts.h"
#include "../device/work_kind.h"

uint32_t group_number(const GroupList *groups, int64_t id, uint32_t *last)
{
    if (*last != NO_GROUP && groups->ids[*last] == id) return *last;
    size_t low = LOWER_BOUND(i, 0, groups->n, groups->ids[i] < id);
    return low < groups->n && groups->ids[low] == id ? (*last = (uint32_t)low) : NO_GROUP;
}

static uint32_t number_of_event(const StepBuild *b, int64_t id, uint32_t *last)
{
    return b->by_time ? 0 : group_number(&b->groups, id, last);
}

void marker_add(Marker *marker, uint64_t begin_ps, uint64_t duration_ps)
{
    if (!marker->there || duration_ps > marker->duration_ps)
        *marker = (Marker){begin_ps, duration_ps, true};
}

void line_spans_free(LineSpans *s)
{
    prof_free(s->spans);
    prof_free(s->markers);
    prof_free(s->transfers);
    *s = (LineSpans){0};
}

static bool add_span(LineSpans *s, int64_t start_ps, int64_t duration_ps, uint32_t group,
                     enum StepType type, enum StepType actual, unsigned bits)
{
    if (!GROW(s->spans, s->n, s->capacity)) return false;
    s->spans[s->n++] = (SpanRef){start_ps, duration_ps, group,
                                 (uint32_t)type | (uint32_t)actual << SPAN_ACTUAL_SHIFT | bits};
    return true;
}

static bool add_marker(LineSpans *s, LineMarker marker)
{
    if (!GROW(s->markers, s->n_markers, s->marker_capacity)) return false;
    s->markers[s->n_markers++] = marker;
    return true;
}

/* ---- GPUs ---- */

typedef struct {
    StepBuild *build;
    Plane *plane;
    StatFilter filter;
    uint16_t *kinds; /* by event metadata; GPUs: types as in SpanRef.at, and HALF; host threads: see
                        host_kind() */
    LineSpans *spans;
    bool has_device; /* for host threads: the host has devices */
    bool is_staged;  /* input pipelines mark their stages */
    bool has_ops;    /* for host threads: they run ops of programs, on a host without devices */
    LIST(uint64_t) produced; /* contexts that stages produce */
    HashTable by_context;    /* index of `produced` */
} PlaneRead;

enum { HALF = 1 << 14, DECIDED = 1 << 15 };
/* Actual type of a memset, or of a copy whose places are not in its name. Counts as a copy between
 * devices, and in no number of copies. */
enum { OTHER_TRANSFER = N_STEP_TYPES };

static uint16_t gpu_kind(const Text *name)
{
    static const struct {
        const char *prefix;
        enum StepType type;
    } actual[] = {
        {"MEMCPYHToD", TIME_HOST_TO_DEVICE},
        {"MemcpyH2D", TIME_HOST_TO_DEVICE},
        {"MEMCPYDToH", TIME_DEVICE_TO_HOST},
        {"MemcpyD2H", TIME_DEVICE_TO_HOST},
        {"MEMCPYDToD", TIME_DEVICE_TO_DEVICE},
        {"MemcpyD2D", TIME_DEVICE_TO_DEVICE},
        {"MemcpyP2P", TIME_DEVICE_TO_DEVICE},
        {"MEMCPYPToP", TIME_DEVICE_TO_DEVICE},
        {"MEMCPYHToH", TIME_HOST_TO_HOST},
        {"MemcpyH2H", TIME_HOST_TO_HOST},
        {"CopyHostToDevice", TIME_HOST_TO_DEVICE},
        {"CopyDeviceToHost", TIME_DEVICE_TO_HOST},
        {"CopyDeviceToDevice", TIME_DEVICE_TO_DEVICE},
        {"Unified memory HtoD", TIME_HOST_TO_DEVICE},
        {"Unified memory DtoH", TIME_DEVICE_TO_HOST},
        {"nccl", TIME_COLLECTIVES},
        {"rccl", TIME_COLLECTIVES},
    };
    Slice s = slice_of(name);
    TfOp op = tf_op_parse(s);
    uint16_t kind = DECIDED;
    switch (op.category) {
    case OP_MEMCPY_HTOD: kind |= TIME_HOST_TO_DEVICE; break;
    case OP_MEMCPY_DTOH: kind |= TIME_DEVICE_TO_HOST; break;
    case OP_MEMCPY_DTOD: kind |= TIME_DEVICE_TO_DEVICE; break;
    default:
        if (slice_starts_ignoring_case(s, "nccl"))
            kind |= TIME_COLLECTIVES;
        else if (slice_contains(s, "half") || slice_contains(s, "fp16"))
            kind |= HALF;
        break;
    }
    for (size_t i = 0; i < COUNT(actual); i++)
        if (slice_starts_ignoring_case(s, actual[i].prefix))
            return kind | (uint16_t)(actual[i].type << SPAN_ACTUAL_SHIFT);
    return kind;
}

enum StepType gpu_event_type(const Text *name)
{
    uint16_t kind = gpu_kind(name);
    enum StepType type = kind & SPAN_TYPE, actual = kind >> SPAN_ACTUAL_SHIFT & 0x3f;
    if (actual) return actual;
    return type ? type : TIME_COMPUTE_32;
}

static bool add_transfer(LineSpans *s, uint32_t group, enum StepType type, const EventAt *e,
                         Slice details)
{
    enum StepTransfer kind;
    switch (type) {
    case TIME_HOST_TO_DEVICE: kind = TRANSFER_HOST_TO_DEVICE; break;
    case TIME_DEVICE_TO_HOST: kind = TRANSFER_DEVICE_TO_HOST; break;
    case TIME_DEVICE_TO_DEVICE: kind = TRANSFER_DEVICE_TO_DEVICE; break;
    default: return true;
    }
    LineTransfer *t = NULL;
    uint64_t bytes;
    for (size_t back = 1; back <= N_STEP_TRANSFERS && back <= s->n_transfers && !t; back++) {
        LineTransfer *before = &s->transfers[s->n_transfers - back];
        if (before->group == group && before->kind == kind) t = before;
    }
    if (!t) {
        if (!GROW(s->transfers, s->n_transfers, s->transfer_capacity)) return false;
        t = &s->transfers[s->n_transfers++];
        *t = (LineTransfer){.group = group, .kind = kind};
    }
    t->what.count++, t->what.ps += (uint64_t)e->duration_ps,
        t->what.bytes += copy_bytes(details, &bytes) ? bytes : 0;
    return true;
}

static bool add_gpu_event(PlaneRead *r, LineSpans *out, const EventAt *e, uint32_t group)
{
    bool correlated = false;
    Slice shape = {"", 0}, details = {"", 0};
    Stat stat;
    unsigned known;
    StatIter stats = stat_iter_of_event(e);
    while (stat_iter_next_wanted(&stats, &r->filter, &known, &stat)) {
        if (known == STAT_CORRELATION_ID) correlated = stat_int(&stat) >= 0;
        if (known == STAT_SHAPE) shape = stat_text(r->plane, &stat);
        if (known == STAT_MEMCPY_DETAILS) details = stat_text(r->plane, &stat);
    }
    uint16_t *kind = &r->kinds[e->meta - r->plane->event_metas];
    bool half = shape.n ? slice_contains(shape, "half") : (*kind & HALF) != 0;
    enum StepType type = *kind & SPAN_TYPE, actual = *kind >> SPAN_ACTUAL_SHIFT & 0x3f,
                  compute = half ? TIME_COMPUTE_16 : TIME_COMPUTE_32;
    bool other_transfer = (*kind >> SPAN_ACTUAL_SHIFT & 0x3f) == OTHER_TRANSFER;
    if (!type) type = compute;
    if (!actual) actual = compute;
    if (other_transfer)
        actual = TIME_DEVICE_TO_DEVICE;
    else if (correlated && !add_transfer(out, group, actual, e, details))
        return false;
    return add_span(out, e->start_ps, e->duration_ps, group, type, actual,
                    correlated ? SPAN_COUNTS : 0);
}

/* Returns whether the line already has two computations of the group. Then one of them starts
 * before the last event of the group, so the step computes. */
static bool has_enough(const LineSpans *s, uint32_t group)
{
    size_t n = 0;
    for (const SpanRef *span = s->spans + s->n; n < 2 && span > s->spans; n++) {
        span--;
        if (span->line != group || !(span->at & SPAN_COUNTS) || span_type(span) < TIME_COMPUTE_32)
            break;
    }
    return n == 2;
}

/* context: an array with an entry for each plane of the host. */
static void read_gpu_line(void *context, size_t i, ProfErr *err)
{
    PlaneRead *r = context;
    StepBuild *b = r->build;
    Line *line = &b->host->lines[i];
    LineSpans *out = &r->spans[i];
    r += line->plane - b->host->planes;
    const LineGroups *groups = line_groups(b->grouping, line);
    bool steps = (uint32_t)line->proto_id == 0xdeadbeef;
    if (b->by_time ? line->derived : !groups->groups || (line->derived && !steps)) return;
    EventReader reader;
    EventAt e;
    uint32_t last = NO_GROUP, full = NO_GROUP, group;
    if (steps)
        event_reader_open(&reader, line, 0, err);
    else
        event_reader_open_for(&reader, line, &r->filter.wanted, err);
    for (uint64_t nth = 0; event_reader_next(&reader, &e); nth++) {
        if ((group = number_of_event(b, nth_group(groups, nth), &last)) == NO_GROUP ||
            group == full)
            continue;
        bool good = steps ? add_marker(out, (LineMarker){group, true, (uint64_t)e.start_ps,
                                                         (uint64_t)e.duration_ps, NULL})
                          : add_gpu_event(r, out, &e, group);
        if (!good) {
            prof_nomem(err);
            break;
        }
        if (b->is_outline && has_enough(out, group)) full = group;
    }
    event_reader_close(&reader);
}

static int open_gpu_plane(PlaneRead *r, ProfErr *err)
{
    static const enum KnownStat wanted[] = {STAT_CORRELATION_ID, STAT_SHAPE, STAT_MEMCPY_DETAILS};
    if (!(r->kinds = prof_alloc(r->plane->n_event_metas * sizeof *r->kinds)))
        return prof_nomem(err);
    uint8_t *work = plane_work_kinds(r->plane, err);
    for (size_t i = 0; work && i < r->plane->n_event_metas; i++) {
        r->kinds[i] = gpu_kind(r->plane->event_metas[i].name);
        if (work[i] == WORK_TRANSFER && !(r->kinds[i] >> SPAN_ACTUAL_SHIFT & 0x3f))
            r->kinds[i] |= OTHER_TRANSFER << SPAN_ACTUAL_SHIFT;
    }
    prof_free(work);
    return err->code ? err->code
                     : stat_filter_open(&r->filter, r->plane, wanted, COUNT(wanted), err);
}

void read_gpu_planes(StepBuild *build, LineSpans *spans, ProfErr *err)
{
    Host *host = build->host;
    PlaneRead *planes = prof_alloc(host->n_planes * sizeof *planes);
    if (!planes) prof_nomem(err);
    for (size_t i = 0; i < host->n_planes && !err->code; i++) {
        planes[i] = (PlaneRead){.build = build, .plane = &host->planes[i], .spans = spans};
        if (planes[i].plane->kind == PLANE_GPU) open_gpu_plane(&planes[i], err);
    }
    if (!err->code) parallel_lines_of(host, PLANE_GPU, read_gpu_line, planes, err);
    for (size_t i = 0; planes && i < host->n_planes; i++) {
        stat_filter_close(&planes[i].filter);
        prof_free(planes[i].kinds);
    }
    prof_free(planes);
}

/* ---- host threads ---- */

/* The kind of an event by its name: the type of a span, or one of these. HOST_PREPARES: with a
 * device, it prepares work for it. HOST_COMPILES: computing for XProf, actually compiling. */
enum {
    HOST_TYPE = 0xff,
    HOST_MARKER = 1 << 8,
    HOST_IGNORED = 1 << 9,
    HOST_PREPARES = 1 << 10,
    HOST_COMPILES = 1 << 11
};

static uint16_t host_kind(const Text *name)
{
    static const char *const ignored[] = {"EagerExecute", "EagerLocalExecute", "EagerKernelExecute",
                                          "FunctionRun"};
    Slice s = slice_of(name);
    uint16_t type = TIME_HOST_COMPUTE;
    if ((slice_starts(s, "train") || slice_starts(s, "test") || slice_starts(s, "TraceContext")) &&
        !slice_contains(s, "/"))
        return HOST_MARKER;
    for (size_t i = 0; i < COUNT(ignored); i++)
        if (slice_starts(s, ignored[i])) return HOST_IGNORED;
    TfOp op = tf_op_parse(s);
    if (op_is_infeed_enqueue(op.type) || op.category == OP_MEMCPY_HTOD)
        type = TIME_HOST_TO_DEVICE;
    else if (op.category == OP_MEMCPY_HTOH)
        type = TIME_HOST_TO_HOST;
    else if (slice_starts_ignoring_case(s, "IteratorGetNext"))
        type = TIME_WAIT_INPUT;
    else if (is_compile_event(s))
        type |= HOST_COMPILES;
    return slice_starts_ignoring_case(s, "ExecutorState::Process") ? type | HOST_PREPARES : type;
}

typedef struct {
    bool correlated, is_stage, consumes, produces, is_op;
    Slice step_name;
    uint64_t consumer, producer; /* hashes of contexts; 0 if none */
} HostFacts;

static uint64_t context_of(uint64_t type, uint64_t id) { return mix64(mix64(type + 1) ^ id) | 1; }

static HostFacts host_facts(const PlaneRead *r, const EventAt *e)
{
    HostFacts f = {.step_name = {"", 0}};
    uint64_t types[2] = {0}, ids[2] = {0};
    bool has_type[2] = {false, false}, has_id[2] = {false, false};
    Stat stat;
    unsigned known;
    StatIter stats = stat_iter_of_event(e);
    while (stat_iter_next_wanted(&stats, &r->filter, &known, &stat)) switch (known) {
        case STAT_CORRELATION_ID: f.correlated = stat_int(&stat) >= 0; break;
        case STAT_STEP_NAME: f.step_name = stat_text(r->plane, &stat); break;
        case STAT_STAGE_NAME: f.is_stage = stat_text(r->plane, &stat).n > 0; break;
        case STAT_HLO_OP: f.is_op = stat_text(r->plane, &stat).n > 0; break;
        case STAT_PRODUCER_TYPE:
        case STAT_CONSUMER_TYPE:
            has_type[known == STAT_CONSUMER_TYPE] = true,
                              types[known == STAT_CONSUMER_TYPE] = stat_int_or_uint(&stat);
            break;
        default:
            has_id[known == STAT_CONSUMER] = true,
                            ids[known == STAT_CONSUMER] = stat_int_or_uint(&stat);
            break;
        }
    f.produces = has_type[0] && has_id[0], f.consumes = has_type[1] && has_id[1];
    if (f.produces) f.producer = context_of(types[0], ids[0]);
    if (f.consumes) f.consumer = context_of(types[1], ids[1]);
    return f;
}

static bool is_produced(const PlaneRead *r, uint64_t context)
{
    uint64_t hash = hash64(context);
    HASH_EACH(i, &r->by_context, hash)
        if (r->produced.items[i] == context) return true;
    return false;
}

static bool add_context(PlaneRead *r, uint64_t context)
{
    if (is_produced(r, context)) return true;
    uint64_t *made = PUSH_KEYED(r->produced, &r->by_context, hash64(context));
    if (!made) return false;
    *made = context;
    return true;
}

/* Collects the contexts that stages produce, so that stages that consume one are known as parts of
 * others. */
static int collect_contexts(PlaneRead *r, ProfErr *err)
{
    for (size_t i = 0; i < r->plane->n_lines && !err->code; i++) {
        EventReader reader;
        EventAt e;
        event_reader_open_for(&reader, &r->build->host->lines[r->plane->first_line + i],
                              &r->filter.wanted, err);
        while (event_reader_next(&reader, &e)) {
            HostFacts f = host_facts(r, &e);
            if (f.produces && !add_context(r, f.producer)) prof_nomem(err);
        }
        event_reader_close(&reader);
    }
    return err->code;
}

/* Events around the current one. A stage inside a stage is a part of it. */
typedef struct {
    int64_t start_ps, end_ps;
    bool inside; /* in a stage or a part of one */
} OpenStage;
typedef LIST(OpenStage) Stages;

/* Sets *is_root for a stage that is not part of another. False if memory runs out. */
static bool enter_stage(const PlaneRead *r, Stages *stages, const EventAt *e, const HostFacts *f,
                        bool *is_root)
{
    int64_t end_ps = add_saturated(e->start_ps, e->duration_ps);
    OpenStage *around = NEST_AROUND(*stages, start_ps, end_ps, e->start_ps, end_ps, 0), *opened;
    bool part = (around && around->inside) || (f->consumes && is_produced(r, f->consumer));
    *is_root = f->is_stage && !part;
    if ((opened = PUSH(*stages))) *opened = (OpenStage){e->start_ps, end_ps, part || f->is_stage};
    return opened != NULL;
}

/* Returns the step's name: a stat that grouping adds to the events that open groups. */
static const char *step_name_of(const StepBuild *b, const EventAt *e, int64_t group,
                                const HostFacts *f, ProfErr *err)
{
    const Grouping *g = b->grouping;
    if (group >= 0 && (uint64_t)group < g->n_groups && g->groups[group].root == e->event &&
        g->groups[group].explicit)
        return g->groups[group].name;
    if (!f->step_name.n) return NULL;
    pthread_mutex_lock(&b->host->lock);
    const Text *name = text_intern(&b->steps->texts->texts, &b->steps->texts->arena,
                                   f->step_name.text, f->step_name.n);
    pthread_mutex_unlock(&b->host->lock);
    if (!name) prof_nomem(err);
    return name ? name->text : NULL;
}

/* The last span of a thread that is not nested in another span of its group. */
typedef struct {
    uint32_t group;
    enum StepType actual;
    int64_t start_ps, end_ps;
} OuterSpan;

/* Returns whether a span cannot change the result, so that it is skipped. On a host with devices
 * only actual types count, and of all open spans the most important one. So a span inside one of
 * equal or higher priority changes nothing. That applies to most events of threads. */
static bool is_covered(OuterSpan *cover, const EventAt *e, uint32_t group, enum StepType actual)
{
    int64_t end_ps;
    if (e->duration_ps <= 0 || __builtin_add_overflow(e->start_ps, e->duration_ps, &end_ps))
        return false;
    bool inside =
        cover->group == group && cover->start_ps <= e->start_ps && end_ps <= cover->end_ps;
    if (inside && (actual == cover->actual ||
                   (actual_rank(actual) < actual_rank(cover->actual) && end_ps < cover->end_ps)))
        return true;
    if (!inside) *cover = (OuterSpan){group, actual, e->start_ps, end_ps};
    return false;
}

static int add_host_event(const PlaneRead *r, LineSpans *out, OuterSpan *cover, const EventAt *e,
                          int64_t id, uint32_t group, const HostFacts *f, bool is_root,
                          ProfErr *err)
{
    const char *name = step_name_of(r->build, e, id, f, err);
    uint16_t kind = r->kinds[e->meta - r->plane->event_metas];
    if (kind & HOST_MARKER || name) {
        if (!add_marker(out, (LineMarker){group, true, (uint64_t)e->start_ps,
                                          (uint64_t)e->duration_ps, name}))
            return prof_nomem(err);
        return err->code;
    }
    if (kind & HOST_IGNORED) return err->code;
    enum StepType type = (enum StepType)(kind & HOST_TYPE);
    if (is_root && type == TIME_HOST_COMPUTE) type = TIME_WAIT_INPUT;
    enum StepType actual =
        kind & HOST_COMPILES && type == TIME_HOST_COMPUTE ? TIME_HOST_COMPILE : type;
    if (r->has_device && actual != TIME_HOST_COMPILE && type != TIME_HOST_TO_DEVICE &&
        type != TIME_HOST_TO_HOST && (f->correlated || kind & HOST_PREPARES))
        actual = TIME_HOST_PREPARE;
    if ((r->has_device || r->build->by_time) && type == TIME_HOST_COMPUTE &&
        is_covered(cover, e, group, actual))
        return err->code;
    return add_span(out, e->start_ps, e->duration_ps, group, type, actual, SPAN_HOST | SPAN_COUNTS)
               ? err->code
               : prof_nomem(err);
}

static void read_host_line(void *context, size_t i, ProfErr *err)
{
    PlaneRead *r = context;
    StepBuild *b = r->build;
    Line *line = &b->host->lines[r->plane->first_line + i];
    LineSpans *out = &r->spans[i];
    const LineGroups *groups = line_groups(b->grouping, line);
    Stages stages = {0};
    EventReader reader;
    EventAt e;
    OuterSpan cover = {.group = NO_GROUP};
    uint32_t last = NO_GROUP, group;
    if (!groups->groups && !groups->n_regions && !b->by_time && !r->has_ops) return;
    event_reader_open_for(&reader, line, &r->filter.wanted, err);
    for (uint64_t nth = 0; event_reader_next(&reader, &e); nth++) {
        int64_t id = nth_group(groups, nth);
        bool is_root = false, grouped = (group = number_of_event(b, id, &last)) != NO_GROUP;
        if (!grouped && !r->is_staged && !r->has_ops) continue;
        HostFacts f = host_facts(r, &e);
        if (r->is_staged && !enter_stage(r, &stages, &e, &f, &is_root)) prof_nomem(err);
        if (grouped && !err->code) add_host_event(r, out, &cover, &e, id, group, &f, is_root, err);
        if (!grouped && f.is_op &&
            !add_span(out, e.start_ps, e.duration_ps, (uint32_t)b->groups.n, TIME_HOST_COMPUTE,
                      TIME_HOST_COMPUTE, SPAN_HOST))
            prof_nomem(err);
        if (err->code) break;
    }
    event_reader_close(&reader);
    prof_free(stages.items);
    for (size_t k = 0; k < groups->n_regions && !err->code; k++) {
        const Region *region = &groups->regions[k];
        if ((group = number_of_event(b, region->group, &last)) == NO_GROUP) continue;
        int64_t duration = (int64_t)((uint64_t)region->end_ps - (uint64_t)region->start_ps);
        if (!add_span(out, region->start_ps, duration, group, TIME_HOST_COMPUTE, TIME_HOST_COMPUTE,
                      SPAN_HOST | SPAN_COUNTS))
            prof_nomem(err);
    }
}

int read_host_plane(StepBuild *build, Plane *plane, bool has_device, LineSpans *spans, ProfErr *err)
{
    static const enum KnownStat wanted[] = {STAT_CORRELATION_ID, STAT_STEP_NAME,     STAT_HLO_OP,
                                            STAT_STAGE_NAME,     STAT_PRODUCER_TYPE, STAT_PRODUCER,
                                            STAT_CONSUMER_TYPE,  STAT_CONSUMER};
    PlaneRead r = {.build = build,
                   .plane = plane,
                   .spans = spans,
                   .has_device = has_device,
                   .kinds = prof_alloc(plane->n_event_metas * sizeof *r.kinds)};
    if (!r.kinds) return prof_nomem(err);
    for (size_t i = 0; i < plane->n_event_metas; i++) {
        Slice name = slice_of(plane->event_metas[i].name);
        bool aside = build->by_time && (is_foreign_step(name) || slice_starts(name, "$"));
        r.kinds[i] = aside ? HOST_IGNORED : host_kind(plane->event_metas[i].name);
    }
    r.is_staged = plane_declares(plane, STAT_STAGE_NAME);
    r.has_ops = !build->steps->has_device && !build->by_time && plane_declares(plane, STAT_HLO_OP);
    size_t n_wanted = r.has_ops ? 3 : 2;
    if (r.is_staged) n_wanted = COUNT(wanted);
    if (!stat_filter_open(&r.filter, plane, wanted, n_wanted, err) &&
        (!r.is_staged || !collect_contexts(&r, err)))
        parallel_lines(plane->host->lines + plane->first_line, plane->n_lines, read_host_line, &r,
                       err);
    stat_filter_close(&r.filter);
    prof_free(r.kinds);
    prof_free(r.produced.items);
    hash_free(&r.by_context);
    return err->code;
}
