/* grouping_scan.c: one pass over the stats of each line: how its events nest, and marks for those that matter to grouping. */
#include "../parallel.h"
#include "events.h"
#include "grouping_parts.h"

static const enum KnownStat wanted[] = {
    STAT_CORRELATION_ID, STAT_PRODUCER_TYPE, STAT_PRODUCER,  STAT_CONSUMER_TYPE, STAT_CONSUMER,       STAT_CONSUMER_PROCESS, STAT_ROOT,
    STAT_ASYNC,          STAT_STEP_ID,       STAT_ITERATION, STAT_STEP_NUM,      STAT_GRAPH_TYPE,     STAT_IS_FUNCTION,      STAT_REQUEST_ID,
    STAT_QUEUE_ADDRESS,  STAT_RUN_ID,        STAT_QUEUE_ID,  STAT_CORE_TYPE,     STAT_DEVICE_ORDINAL,
};

/* ---- planes ---- */

static bool starts_with(const char *s, const char *prefix) { return !strncmp(s, prefix, strlen(prefix)); }

/* Planes of sub-processes have a stat process_id; contexts are then of that process. */
static bool read_process(ForestPlane *fp, const Plane *plane, ProfErr *err)
{
    bool declared = false;
    for (size_t i = 0; i < plane->n_stat_metas; i++) declared |= plane->stat_metas[i].known == STAT_PROCESS_ID;
    Window window = {.file = &plane->host->file};
    for (size_t i = 0; i < plane->n_stats && declared && !fp->has_process && !err->code; i++) {
        size_t n;
        Stat stat;
        const uint8_t *p = event_message(&window, plane->stat_offsets[i], &n, err);
        if (!p || !stat_parse(p, p + n, &stat)) continue;
        const StatMeta *meta = stat_meta(plane, stat.id);
        if (!meta || meta->known != STAT_PROCESS_ID) continue;
        fp->has_process = true, fp->process = stat_int_or_uint(&stat);
    }
    window_free(&window);
    return !err->code;
}

static bool prepare_plane(ForestPlane *fp, const Plane *plane, ProfErr *err)
{
    const char *name = plane->name->text;
    fp->is_tpu = starts_with(name, "/device:TPU:");
    fp->is_host = !strcmp(name, "/host:CPU");
    fp->device = plane->kind == PLANE_TENSORCORE ? strtoll(name + strlen("/device:TPU:"), NULL, 10) : -1;
    if (!plane->n_events) return true;
    if (!read_process(fp, plane, err) || stat_filter_open(&fp->filter, plane, wanted, COUNT(wanted), err)) return false;
    if (!(fp->types = prof_alloc(plane->n_event_metas))) return prof_nomem(err), false;
    for (size_t i = 0; i < plane->n_event_metas; i++) {
        /* an op's HLO text never names a framework op */
        fp->types[i] = (uint8_t)(fp->is_tpu ? event_type_named(plane->event_metas[i].name) : event_type(plane->event_metas[i].name));
    }
    return true;
}

static bool is_steps_line(const Line *line) { return !strcmp(line->name->text, "Steps") || !strcmp(line->name->text, "Sparse Core Steps"); }
static bool is_modules_line(const Line *line) { return !strcmp(line->name->text, "XLA Modules") || !strcmp(line->name->text, "Sparse Core Modules"); }

/* /device:TPU:N or /device:TPU:N SparseCore K */
static bool is_core(const Plane *plane)
{
    const char *s = plane->name->text + strlen("/device:TPU:");
    size_t digits = strspn(s, "0123456789");
    if (plane->kind == PLANE_TENSORCORE) return true;
    if (!digits || !starts_with(s + digits, " SparseCore ")) return false;
    s += digits + strlen(" SparseCore ");
    digits = strspn(s, "0123456789");
    return digits && !s[digits];
}

/* The line that groups a TPU's events: its steps, or where it has none its modules; the last of several. */
static const Line *grouping_line(const Plane *plane)
{
    const Line *lines = plane->host->lines + plane->first_line, *steps = NULL, *modules = NULL;
    for (size_t i = 0; i < plane->n_lines && is_core(plane); i++) {
        if (!lines[i].n_events) continue;
        if (is_steps_line(&lines[i])) steps = &lines[i];
        if (is_modules_line(&lines[i])) modules = &lines[i];
    }
    return steps ? steps : modules;
}

static void choose_roles(Forest *f, const Plane *plane)
{
    const ForestPlane *fp = &f->planes[plane - f->host->planes];
    const Line *groups_by = fp->is_tpu ? grouping_line(plane) : NULL;
    for (size_t i = 0; i < plane->n_lines; i++) {
        ForestLine *fl = &f->lines[plane->first_line + i];
        fl->line = &f->host->lines[plane->first_line + i];
        if (!fl->line->n_events) continue;
        fl->role = !fp->is_tpu ? ROLE_THREAD : fl->line == groups_by ? ROLE_STEPS : groups_by ? ROLE_LENDER : ROLE_NONE;
    }
}

/* ---- the stats of one event ---- */

typedef struct {
    Number by_stat[N_KNOWN_STATS];
    uint64_t seen[(N_KNOWN_STATS + 63) / 64], repeated[(N_KNOWN_STATS + 63) / 64];
} Numbers;

static bool has(const Numbers *n, enum KnownStat known) { return n->seen[known / 64] >> (known % 64) & 1; }
static int64_t int_of(const Numbers *n, enum KnownStat known) { return has(n, known) ? number_int(n->by_stat[known]) : 0; }
static uint64_t natural_of(const Numbers *n, enum KnownStat known) { return has(n, known) ? number_natural(n->by_stat[known]) : 0; }

static void put(Numbers *n, enum KnownStat known, enum StatType type, uint64_t bits)
{
    n->by_stat[known] = (Number){type, bits};
    n->seen[known / 64] |= (uint64_t)1 << (known % 64);
}

/* XProf loops over these, so that the last counts; of the others it takes the first. */
static bool last_counts(unsigned known) { return (known >= STAT_PRODUCER_TYPE && known <= STAT_ROOT) || known == STAT_ASYNC; }

static bool read_numbers(Numbers *n, const StatFilter *filter, const EventAt *e)
{
    memset(n->seen, 0, sizeof n->seen);
    memset(n->repeated, 0, sizeof n->repeated);
    Stat stat;
    unsigned known;
    bool any = false;
    for (const uint8_t *p = e->message, *end = p + e->n_bytes; (p = stat_filter_next(filter, p, end, 4, &known, &stat)); any = true) {
        if (has(n, known)) n->repeated[known / 64] |= (uint64_t)1 << (known % 64);
        if (last_counts(known) || !has(n, known)) put(n, known, stat.type, stat.natural);
    }
    return any;
}

/* ---- what XProf adds to old files ---- */

/* XProf overwrites the first stat of a name; a later one still counts. */
static void overwrite(Numbers *n, enum KnownStat known, int64_t value)
{
    if (!(last_counts(known) && n->repeated[known / 64] >> (known % 64) & 1)) put(n, known, TYPE_INT64, (uint64_t)value);
}

static uint64_t join(uint64_t id, uint64_t part) { return mix64(id * 31 + part); }

static void connect(Numbers *n, bool produces, int64_t type, uint64_t id)
{
    overwrite(n, produces ? STAT_PRODUCER_TYPE : STAT_CONSUMER_TYPE, type);
    overwrite(n, produces ? STAT_PRODUCER : STAT_CONSUMER, (int64_t)id);
}

static uint64_t launch_id(const Numbers *n, uint64_t device)
{
    return join(join(join(device + 1, natural_of(n, STAT_QUEUE_ID)), natural_of(n, STAT_RUN_ID)), natural_of(n, STAT_CORE_TYPE));
}

static void preprocess(Numbers *n, enum EventType type)
{
    enum { RUN_ID_MASK = (1 << 27) - 1 };
    switch (type) {
    case EVENT_PROCESS_BATCH: overwrite(n, STAT_ROOT, 2); break;
    case EVENT_BATCHING_SESSION_RUN: overwrite(n, STAT_ROOT, 1); break;
    case EVENT_EXECUTOR_PROCESS:
    case EVENT_TPU_EXECUTE_OP:
        if (has(n, STAT_STEP_ID) && has(n, STAT_ITERATION))
            connect(n, type == EVENT_EXECUTOR_PROCESS, CONTEXT_LEGACY, join(join(1, natural_of(n, STAT_STEP_ID)), natural_of(n, STAT_ITERATION)));
        break;
    case EVENT_ENQUEUE_REQUEST:
    case EVENT_QUEUED_REQUEST:
        if (has(n, STAT_REQUEST_ID) && has(n, STAT_QUEUE_ADDRESS))
            connect(n, type == EVENT_ENQUEUE_REQUEST, CONTEXT_TPU_STREAM, join(join(1, natural_of(n, STAT_REQUEST_ID)), natural_of(n, STAT_QUEUE_ADDRESS)));
        break;
    case EVENT_ENQUEUE_PROGRAM:
    case EVENT_ENQUEUE_CONTINUATION:
    case EVENT_COMPLETE_CALLBACKS:
        if (!has(n, STAT_RUN_ID)) break;
        overwrite(n, STAT_RUN_ID, (int64_t)(natural_of(n, STAT_RUN_ID) & RUN_ID_MASK));
        if (type != EVENT_ENQUEUE_CONTINUATION && has(n, STAT_DEVICE_ORDINAL) && has(n, STAT_QUEUE_ID))
            connect(n, type == EVENT_ENQUEUE_PROGRAM, CONTEXT_TPU_LAUNCH, launch_id(n, natural_of(n, STAT_DEVICE_ORDINAL)));
        break;
    default: break;
    }
}

/* ---- a scan ---- */

typedef struct {
    int64_t start_ps, end_ps;
    uint32_t at;
} Open;

typedef struct {
    Forest *forest;
    ForestLine *line;
    const ForestPlane *plane;
    LIST(Open) open;
    Numbers numbers;
    int64_t ids[CHUNK_EVENTS], correlations[CHUNK_EVENTS]; /* of the chunk in hand */
    size_t n_in_hand;
    bool any_in_hand;
    bool region_open;
    int64_t region_start_ps;
} Scan;

static bool start_nesting(ForestLine *fl)
{
    size_t n = (size_t)fl->line->n_events + fl->regions.n;
    fl->parent = prof_alloc(n * sizeof *fl->parent);
    fl->end = prof_alloc(n * sizeof *fl->end);
    if (!fl->parent || !fl->end) return false;
    for (size_t i = 0; i < n; i++) fl->end[i] = (uint32_t)i + 1;
    return true;
}

static bool nest(Scan *s, uint32_t at, int64_t start_ps, int64_t end_ps)
{
    ForestLine *fl = s->line;
    while (s->open.n) {
        const Open *top = &s->open.items[s->open.n - 1];
        if (top->start_ps <= start_ps && end_ps <= top->end_ps) break;
        if (fl->end) fl->end[top->at] = at;
        s->open.n--;
    }
    if (s->open.n) {
        if (!fl->parent && !start_nesting(fl)) return false;
        fl->parent[at] = s->open.items[s->open.n - 1].at + 1;
    }
    Open *top = PUSH(s->open);
    if (!top) return false;
    *top = (Open){start_ps, end_ps, at};
    return true;
}

static void end_nesting(Scan *s, uint32_t n)
{
    for (size_t i = 0; i < s->open.n; i++)
        if (s->line->end) s->line->end[s->open.items[i].at] = n;
    s->open.n = 0;
}

/* A hash of what an id of a context is unique in: its type and a process. What has a producer's id is of its plane's process
 * where that is known, other consumers of the one that they name; programs are launched from any. */
static uint32_t scope_of(const Scan *s, bool produces)
{
    const Numbers *n = &s->numbers;
    int32_t type = (int32_t)int_of(n, produces ? STAT_PRODUCER_TYPE : STAT_CONSUMER_TYPE);
    bool launch = (int32_t)int_of(n, STAT_PRODUCER_TYPE) == CONTEXT_TPU_LAUNCH || (int32_t)int_of(n, STAT_CONSUMER_TYPE) == CONTEXT_TPU_LAUNCH;
    bool named = has(n, STAT_CONSUMER_PROCESS) && !(has(n, STAT_PRODUCER) && s->plane->has_process);
    uint64_t process = named ? natural_of(n, STAT_CONSUMER_PROCESS) : s->plane->process;
    if (launch || !(named || s->plane->has_process)) return (uint32_t)type;
    return (uint32_t)(mix64(process + 1) * 31) + (uint32_t)type;
}

static bool mark_context(Scan *s, uint32_t at, bool produces, const EventAt *e)
{
    ForestLine *fl = s->line;
    ContextMark mark = {at, scope_of(s, produces), natural_of(&s->numbers, produces ? STAT_PRODUCER : STAT_CONSUMER)};
    if (fl->role == ROLE_LENDER) {
        LentMark *lent = PUSH(fl->lent);
        if (lent) *lent = (LentMark){mark, produces, e->start_ps, add_saturated(e->start_ps, e->duration_ps)};
        return lent != NULL;
    }
    ContextMark *place = produces ? PUSH(fl->produced) : PUSH(fl->consumed);
    if (place) *place = mark;
    return place != NULL;
}

static bool mark_contexts(Scan *s, uint32_t at, const EventAt *e)
{
    const Numbers *n = &s->numbers;
    if (has(n, STAT_PRODUCER_TYPE) && has(n, STAT_PRODUCER) && !mark_context(s, at, true, e)) return false;
    return !has(n, STAT_CONSUMER_TYPE) || !has(n, STAT_CONSUMER) || mark_context(s, at, false, e);
}

static bool mark_root(Scan *s, uint32_t at, enum EventType type, int64_t start_ps)
{
    const Numbers *n = &s->numbers;
    if (!has(n, STAT_ROOT) && type != EVENT_TRACE_CONTEXT) return true;
    RootMark *mark = PUSH(s->line->roots);
    if (!mark) return false;
    *mark = (RootMark){at, has(n, STAT_ROOT) ? (int32_t)int_of(n, STAT_ROOT) : 1, start_ps, has(n, STAT_STEP_ID), int_of(n, STAT_STEP_ID)};
    return true;
}

static bool mark_name(Scan *s, uint32_t at)
{
    const Numbers *n = &s->numbers;
    if (!has(n, STAT_GRAPH_TYPE) && !has(n, STAT_ITERATION) && !has(n, STAT_STEP_NUM)) return true;
    NameMark *mark = PUSH(s->line->names);
    if (!mark) return false;
    *mark = (NameMark){at, has(n, STAT_GRAPH_TYPE), has(n, STAT_ITERATION), has(n, STAT_STEP_NUM), int_of(n, STAT_ITERATION), int_of(n, STAT_STEP_NUM)};
    return true;
}

static bool mark_by_type(Scan *s, uint32_t at, enum EventType type, const EventAt *e)
{
    const Numbers *n = &s->numbers;
    if (type == EVENT_EAGER_EXECUTE) {
        EagerMark *mark = PUSH(s->line->eagers);
        if (!mark) return false;
        *mark = (EagerMark){at, has(n, STAT_IS_FUNCTION) && !int_of(n, STAT_IS_FUNCTION)};
    } else if (type == EVENT_CAPTURED_FUNCTION && has(n, STAT_STEP_ID)) {
        int64_t *step = PUSH(s->line->captured_steps);
        if (!step) return false;
        *step = int_of(n, STAT_STEP_ID);
    } else if ((type == EVENT_EXECUTOR_PROCESS || type == EVENT_GET_NEXT || type == EVENT_GET_NEXT_OPTIONAL) && has(n, STAT_STEP_ID) &&
               has(n, STAT_ITERATION)) {
        IterationMark *mark = PUSH(s->line->iterations);
        if (!mark) return false;
        *mark = (IterationMark){at, type, n->by_stat[STAT_STEP_ID], n->by_stat[STAT_ITERATION], e->start_ps};
    }
    return true;
}

static void note_correlation(Scan *s, size_t i, enum EventType type)
{
    bool untyped = type == EVENT_UNTYPED || type == EVENT_START_REGION || type == EVENT_STOP_REGION, known = has(&s->numbers, STAT_CORRELATION_ID);
    enum Correlation c = NOT_CORRELATED;
    if (untyped && known) c = s->plane->is_host ? CORRELATED_LAUNCH : CORRELATED_KERNEL;
    if (type == EVENT_KERNEL_LAUNCH && known) c = CORRELATED_LAUNCH;
    if (type == EVENT_KERNEL_EXECUTE) c = known ? CORRELATED_KERNEL : ASKS_EAGER;
    if (type == EVENT_TF_OP) c = ASKS_EAGER;
    s->correlations[i] = c;
    s->ids[i] = (int64_t)natural_of(&s->numbers, STAT_CORRELATION_ID);
    s->any_in_hand |= c != NOT_CORRELATED;
}

static bool pack_correlations(Scan *s, uint64_t next_event)
{
    ForestLine *fl = s->line;
    size_t chunk = (size_t)(next_event - 1) / CHUNK_EVENTS, n = (size_t)(next_event - chunk * CHUNK_EVENTS);
    if (!s->any_in_hand) return true;
    if (!fl->correlations) {
        fl->correlations = arena_alloc(&fl->arena, fl->line->n_chunks * sizeof *fl->correlations);
        fl->correlation_ids = arena_alloc(&fl->arena, fl->line->n_chunks * sizeof *fl->correlation_ids);
        if (!fl->correlations || !fl->correlation_ids) return false;
    }
    s->any_in_hand = false;
    return packed_make(&fl->correlations[chunk], &fl->arena, s->correlations, n) && packed_make(&fl->correlation_ids[chunk], &fl->arena, s->ids, n);
}

/* StartRegion with a consumer opens a region, each StopRegion behind it ends one there. */
static bool note_region(Scan *s, enum EventType type, int64_t start_ps)
{
    if (type == EVENT_START_REGION && has(&s->numbers, STAT_CONSUMER)) {
        s->region_open = start_ps != 0;
        s->region_start_ps = start_ps;
    } else if (type == EVENT_STOP_REGION && s->region_open) {
        Region *region = PUSH(s->line->regions);
        if (!region) return false;
        *region = (Region){s->region_start_ps, start_ps, -1};
    }
    return true;
}

static bool take_event(Scan *s, uint32_t at, const EventAt *e)
{
    ForestLine *fl = s->line;
    /* a TPU's names are read only where its events are nodes */
    enum EventType type = fl->role == ROLE_STEPS ? event_type(e->meta->name) : (enum EventType)s->plane->types[e->meta - fl->line->plane->event_metas];
    bool any = s->plane->filter.any && read_numbers(&s->numbers, &s->plane->filter, e), async = false;
    if (!any) memset(s->numbers.seen, 0, sizeof s->numbers.seen);
    if (fl->role != ROLE_THREAD && any && s->plane->device >= 0 && !strcmp(fl->line->name->text, "XLA Modules") && has(&s->numbers, STAT_RUN_ID) &&
        has(&s->numbers, STAT_QUEUE_ID))
        connect(&s->numbers, false, CONTEXT_TPU_LAUNCH, launch_id(&s->numbers, (uint64_t)s->plane->device));
    preprocess(&s->numbers, type);
    any |= type == EVENT_PROCESS_BATCH || type == EVENT_BATCHING_SESSION_RUN;
    if (any && !mark_contexts(s, at, e)) return false;
    if (fl->role == ROLE_LENDER) return true;
    if (any) {
        async = int_of(&s->numbers, STAT_ASYNC) != 0;
        if (!mark_name(s, at) || !mark_by_type(s, at, type, e)) return false;
    }
    if (type == EVENT_EAGER_EXECUTE && !any && !mark_by_type(s, at, type, e)) return false;
    note_correlation(s, at % CHUNK_EVENTS, type);
    if (at % CHUNK_EVENTS == CHUNK_EVENTS - 1 && !pack_correlations(s, (uint64_t)at + 1)) return false;
    if (fl->role == ROLE_STEPS) return true;
    if ((any || type == EVENT_TRACE_CONTEXT) && !mark_root(s, at, type, e->start_ps)) return false;
    if ((type == EVENT_START_REGION || type == EVENT_STOP_REGION) && !note_region(s, type, e->start_ps)) return false;
    if (!async) return nest(s, at, e->start_ps, add_saturated(e->start_ps, e->duration_ps));
    Node *mark = PUSH(fl->asyncs);
    return mark ? *mark = at, true : false;
}

/* ---- a line with regions: sorted, and nested again ---- */

typedef struct {
    uint64_t offset_ps, duration_ps; /* as XProf compares them: what is negative is very large */
    uint32_t event;
} Placed;

static int outer_first(const void *a, const void *b)
{
    const Placed *x = a, *y = b;
    if (x->offset_ps != y->offset_ps) return x->offset_ps < y->offset_ps ? -1 : 1;
    if (x->duration_ps != y->duration_ps) return x->duration_ps > y->duration_ps ? -1 : 1;
    return x->event < y->event ? -1 : x->event > y->event;
}

static Placed placed_at(const Line *line, int64_t start_ps, int64_t duration_ps, uint32_t event)
{
    return (Placed){(uint64_t)start_ps - (uint64_t)line->start_ps, (uint64_t)duration_ps, event};
}

static int by_node(const void *a, const void *b)
{
    const Node *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

/* Marks of events move with them. All kinds of marks begin with their node. */
static void move_marks(void *items, size_t n, size_t item_bytes, const uint32_t *place)
{
    for (size_t i = 0; i < n; i++) {
        Node *node = (Node *)((char *)items + i * item_bytes);
        *node = place[*node];
    }
    if (n) qsort(items, n, item_bytes, by_node);
}
#define MOVE(list) move_marks((list).items, (list).n, sizeof *(list).items, fl->place)

static bool read_times(Line *line, Placed *placed, ProfErr *err)
{
    EventReader reader;
    EventAt e;
    uint32_t n = 0;
    event_reader_open(&reader, line, 0, err);
    for (; event_reader_next(&reader, &e); n++) placed[n] = placed_at(line, e.start_ps, e.duration_ps, n);
    event_reader_close(&reader);
    return !err->code;
}

static bool sort_line(Scan *s, ProfErr *err)
{
    ForestLine *fl = s->line;
    uint32_t n_events = (uint32_t)fl->line->n_events, n = n_events + (uint32_t)fl->regions.n;
    prof_free(fl->parent), prof_free(fl->end);
    fl->parent = fl->end = NULL;
    Placed *placed = prof_alloc(n * sizeof *placed);
    fl->order = prof_alloc(n * sizeof *fl->order);
    fl->place = prof_alloc(n * sizeof *fl->place);
    uint8_t *async = prof_alloc(n);
    if (!placed || !fl->order || !fl->place || !async || !start_nesting(fl)) prof_nomem(err);
    if (!err->code && read_times(fl->line, placed, err)) {
        for (size_t i = 0; i < fl->regions.n; i++) {
            const Region *r = &fl->regions.items[i];
            int64_t duration_ps = (int64_t)((uint64_t)r->end_ps - (uint64_t)r->start_ps);
            placed[n_events + i] = placed_at(fl->line, r->start_ps, duration_ps, n_events + (uint32_t)i);
        }
        for (size_t i = 0; i < fl->asyncs.n; i++) async[fl->asyncs.items[i]] = 1;
        qsort(placed, n, sizeof *placed, outer_first);
        for (uint32_t i = 0; i < n; i++) fl->order[i] = placed[i].event, fl->place[placed[i].event] = i;
        for (uint32_t i = 0; i < n && !err->code; i++) {
            int64_t start_ps = (int64_t)((uint64_t)fl->line->start_ps + placed[i].offset_ps);
            if (!async[placed[i].event] && !nest(s, i, start_ps, add_saturated(start_ps, (int64_t)placed[i].duration_ps))) prof_nomem(err);
        }
        end_nesting(s, n);
        MOVE(fl->produced), MOVE(fl->consumed), MOVE(fl->roots), MOVE(fl->iterations), MOVE(fl->eagers), MOVE(fl->names);
    }
    prof_free(placed);
    prof_free(async);
    return !err->code;
}

/* ---- all lines ---- */

/* True when nothing of the line's stats can matter. */
static bool is_silent(const ForestLine *fl, const ForestPlane *fp)
{
    if (fl->role == ROLE_NONE) return true;
    return fl->role == ROLE_LENDER && !fp->filter.any;
}

static void scan_line(void *context, size_t i, ProfErr *err)
{
    Forest *f = context;
    ForestLine *fl = &f->lines[i];
    const ForestPlane *fp = fl->role ? &f->planes[fl->line->plane - f->host->planes] : NULL;
    if (!fp || is_silent(fl, fp)) return;
    Scan *s = prof_alloc(sizeof *s);
    if (!s) {
        prof_nomem(err);
        return;
    }
    s->forest = f, s->line = fl, s->plane = fp;
    EventReader reader;
    EventAt e;
    uint32_t at = 0;
    event_reader_open(&reader, fl->line, fp->filter.any ? EVENT_STATS : 0, err);
    for (; event_reader_next(&reader, &e); at++)
        if (!take_event(s, at, &e)) prof_nomem(err);
    event_reader_close(&reader);
    if (!err->code && at && !pack_correlations(s, at)) prof_nomem(err);
    end_nesting(s, at);
    if (!err->code && fl->regions.n) sort_line(s, err);
    fl->n = fl->role == ROLE_LENDER ? 0 : at + (uint32_t)fl->regions.n;
    prof_free(s->open.items);
    prof_free(s);
}

bool forest_scan(Forest *f, ProfErr *err)
{
    Host *host = f->host;
    for (size_t i = 0; i < host->n_planes; i++) {
        if (!prepare_plane(&f->planes[i], &host->planes[i], err)) return false;
        choose_roles(f, &host->planes[i]);
    }
    enum { FEW_EVENTS = 50000 };
    return !parallel_for(host->n_events < FEW_EVENTS ? 1 : host->run->n_workers, host->n_lines, scan_line, f, err);
}
