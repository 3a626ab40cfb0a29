// SPDX-License-Identifier: Apache-2.0
/* host_ops.c: op metrics of the host's threads.
 *
 * These events are ops: those with a tf.data stage, those whose name is a framework op's, and those
 * with a stat tf_op. Their starts and ends are processed by time alone, as in XProf, so ends that
 * coincide lose ops: if a parent is stored before a child that ends at the same time, only the
 * parent is recorded, and all ops around it are lost. XProf sorts the lines on which a thread
 * pool's region ended: there the outer op comes first. */
#include "../../base/list.h"
#include "../../base/interrupt.h"
#include "../grouping/event_types.h"
#include "../../base/sort.h"
#include "../../store/lines.h"
#include "op_build.h"

/* ---- which events are ops ---- */

typedef struct {
    int64_t key; /* stage id or event metadata id, which share one number space */
    uint64_t id; /* id of the record */
    const Text *name, *type;
} Known;

typedef struct {
    OpBuild *build;
    Plane *plane;
    StatFilter filter;
    bool has_stages, own_eager, has_regions;
    Known *known;
    size_t n_known, capacity;
    HashTable index;
    uint32_t
        *known_of_meta; /* index in `known` + 1, by event metadata; 0: its name is not an op's */
    OpMetricsDb *lines; /* one for each line of the plane */
} HostJob;

static const Known *find_known(const HostJob *job, int64_t key)
{
    int64_t i = id_find(&job->index, job->known, sizeof *job->known, key);
    return i < 0 ? NULL : &job->known[i];
}

static int add_known(HostJob *job, int64_t key, uint64_t id, Slice name, Slice type, ProfErr *err)
{
    if (find_known(job, key)) return PROF_OK;
    if (!GROW(job->known, job->n_known, job->capacity)) return prof_nomem(err);
    const Text *n = op_text(job->build, name, err), *t = n ? op_text(job->build, type, err) : NULL;
    if (!t) return err->code;
    job->known[job->n_known] = (Known){key, id, n, t};
    if (!id_add(&job->index, job->known, sizeof *job->known, job->n_known)) return prof_nomem(err);
    job->n_known++;
    return PROF_OK;
}

static int add_named(HostJob *job, const EventMeta *meta, ProfErr *err)
{
    TfOp op = tf_op_parse(slice_of(meta->name));
    return op.category == OP_UNKNOWN ? PROF_OK : add_known(job, meta->id, 0, op.name, op.type, err);
}

typedef struct {
    bool has_stage, has_category;
    int64_t stage;
    Slice category;
    Stat tf_op; /* TYPE_NONE if there is none */
} HostFacts;

/* Reads the stats of an event. The first of a name counts. */
static HostFacts host_facts(const HostJob *job, const EventAt *e)
{
    HostFacts facts = {0};
    StatIter stats = stat_iter_of_event(e);
    Stat stat;
    unsigned known;
    while (stat_iter_next_wanted(&stats, &job->filter, &known, &stat)) {
        if (known == STAT_STAGE_ID && !facts.has_stage)
            facts.has_stage = true, facts.stage = stat_int(&stat);
        if (known == STAT_STAGE_CATEGORY && !facts.has_category)
            facts.has_category = true, facts.category = stat_text(job->plane, &stat);
        if (known == STAT_TF_OP && facts.tf_op.type == TYPE_NONE) facts.tf_op = stat;
    }
    return facts;
}

/* Lists the keys of ops. The first event with a key decides what it is. Without stages, any event
 * of a metadata may be used. */
static int collect_known(HostJob *job, ProfErr *err)
{
    if (!job->has_stages) {
        for (size_t i = 0; i < job->plane->n_declared && !err->code; i++)
            add_named(job, &job->plane->event_metas[i], err);
        return err->code;
    }
    bool *seen = prof_alloc(job->plane->n_event_metas);
    if (!seen) return prof_nomem(err);
    for (size_t l = 0; l < job->plane->n_lines && !err->code; l++) {
        EventReader reader;
        EventAt e;
        event_reader_open_for(&reader, &job->build->host->lines[job->plane->first_line + l],
                              &job->filter.wanted, err);
        while (event_reader_next(&reader, &e)) {
            if (!e.meta->name->n_bytes) continue;
            HostFacts facts = host_facts(job, &e);
            size_t meta = (size_t)(e.meta - job->plane->event_metas);
            if (facts.has_stage) {
                if (facts.has_category)
                    add_known(job, facts.stage, (uint64_t)facts.stage, slice_of(e.meta->name),
                              facts.category, err);
            } else if (!seen[meta]) {
                seen[meta] = true;
                add_named(job, e.meta, err);
            }
        }
        event_reader_close(&reader);
    }
    prof_free(seen);
    return err->code;
}

static int index_by_meta(HostJob *job, ProfErr *err)
{
    if (!(job->known_of_meta = prof_alloc(job->plane->n_event_metas * sizeof *job->known_of_meta)))
        return prof_nomem(err);
    for (size_t i = 0; i < job->plane->n_declared; i++) {
        const Known *known = find_known(job, job->plane->event_metas[i].id);
        if (known) job->known_of_meta[i] = (uint32_t)(known - job->known) + 1;
    }
    return PROF_OK;
}

/* ---- one line ----
 * Starts and ends are processed by time; at equal times in the order of the ops, a start before its
 * own end. If events are stored by time, this is done while reading, with the pending ends in a
 * heap; otherwise after sorting all of them. */

/* Ops with the same name and id. */
typedef struct {
    uint64_t id;
    const Text *name, *type;
    uint32_t record; /* index in the db + 1; 0: not recorded yet */
    bool is_enqueue;
} OpKind;

typedef struct {
    uint64_t op; /* index on the line */
    uint64_t begin_ps, children_ps;
    uint32_t kind;
    bool is_eager;
} OpenOp;

typedef struct {
    uint64_t ps, op;
} End;

typedef struct {
    OpenOp op;
    uint64_t end_ps;
} TimedOp;

typedef struct {
    uint64_t ps;
    size_t op; /* index in `ops` */
    bool is_end;
} Mark;

typedef struct {
    const Text *text;
    uint32_t kind; /* index + 1 */
} TfOpKind;

typedef struct {
    HostJob *job;
    OpMetricsDb *db;
    /* by_start_then_longest: the events have to be sorted that way */
    bool in_order, by_start_then_longest;
    bool inner_came_first;
    OpKind *kinds;
    size_t n_kinds, kind_capacity;
    uint32_t *kind_of_known; /* index + 1 */
    LIST(TfOpKind) tf_ops;
    HashTable by_text; /* of tf_op texts, by address */
    TextTable texts;   /* for tf_op stats that are not references */
    Arena arena;
    OpenOp *stack;
    size_t n_open, stack_capacity;
    End *ends; /* heap, the earliest end on top */
    size_t n_ends, end_capacity;
    TimedOp *ops; /* all ops, if they are not in order */
    size_t n_ops, op_capacity;
    uint64_t first_ps, last_ps, n_recorded;
    int64_t begin_ps, duration_ps; /* of the latest op */
    uint64_t infeed_begin_ps, infeed_duration_ps;
    bool infeed_seen;
} LineSweep;

/* Records a complete op: adds its time to its record, and its length to the op around it. */
static bool record(LineSweep *s, const OpenOp *open, uint64_t end_ps)
{
    OpKind *kind = &s->kinds[open->kind];
    if (!kind->record) {
        OpMetrics *made = op_db_at(s->db, kind->id, kind->name);
        if (!made) return false;
        made->has_program = kind->id != 0;
        if (!made->category->n_bytes) made->category = kind->type;
        kind->record = (uint32_t)(made - s->db->ops) + 1;
    }
    OpMetrics *op = &s->db->ops[kind->record - 1];
    uint64_t time = end_ps - open->begin_ps, self = time - open->children_ps;
    op->is_eager |= open->is_eager;
    op->occurrences++;
    op->time_ps += time, op->self_ps += self;
    op->event_time_ps += time, op->event_self_ps += self;
    s->db->total_op_ps += self;
    s->n_recorded++;
    if (s->n_open) s->stack[s->n_open - 1].children_ps += time;
    if (kind->is_enqueue) {
        if (s->infeed_seen) {
            s->db->infeed_duration_ps += s->infeed_duration_ps;
            s->db->infeed_interval_ps += open->begin_ps - s->infeed_begin_ps;
        }
        s->infeed_seen = true, s->infeed_begin_ps = open->begin_ps, s->infeed_duration_ps = time;
    }
    return true;
}

static bool begin_op(LineSweep *s, const OpenOp *op)
{
    if (!GROW(s->stack, s->n_open, s->stack_capacity)) return false;
    s->stack[s->n_open++] = *op;
    return true;
}

/* Ends an op. Ops that were opened after it are lost; if it is not open, all open ops are. */
static bool end_op(LineSweep *s, uint64_t op, uint64_t end_ps)
{
    while (s->n_open && s->stack[s->n_open - 1].op != op) s->n_open--;
    if (!s->n_open) return true;
    OpenOp open = s->stack[--s->n_open];
    return record(s, &open, end_ps);
}

static bool is_before(End a, End b) { return a.ps != b.ps ? a.ps < b.ps : a.op < b.op; }

static bool heap_push(LineSweep *s, End end)
{
    if (!GROW(s->ends, s->n_ends, s->end_capacity)) return false;
    size_t i = s->n_ends++;
    for (; i && is_before(end, s->ends[(i - 1) / 2]); i = (i - 1) / 2)
        s->ends[i] = s->ends[(i - 1) / 2];
    s->ends[i] = end;
    return true;
}

static End heap_pop(LineSweep *s)
{
    End top = s->ends[0], last = s->ends[--s->n_ends];
    size_t i = 0;
    for (size_t child; (child = 2 * i + 1) < s->n_ends; i = child) {
        if (child + 1 < s->n_ends && is_before(s->ends[child + 1], s->ends[child])) child++;
        if (!is_before(s->ends[child], last)) break;
        s->ends[i] = s->ends[child];
    }
    s->ends[i] = last;
    return top;
}

/* Processes the ends that come before the start of an op, or all of them. */
static bool end_until(LineSweep *s, const OpenOp *next)
{
    while (s->n_ends && (!next || is_before(s->ends[0], (End){next->begin_ps, next->op}))) {
        End end = heap_pop(s);
        s->last_ps = end.ps;
        if (!end_op(s, end.op, end.ps)) return false;
    }
    return true;
}

static bool add_op(LineSweep *s, const EventAt *e, uint32_t kind, bool is_eager)
{
    s->inner_came_first |=
        s->n_ops &&
        (e->start_ps != s->begin_ps ? e->start_ps < s->begin_ps : e->duration_ps > s->duration_ps);
    s->begin_ps = e->start_ps, s->duration_ps = e->duration_ps;
    OpenOp op = {
        .op = s->n_ops, .begin_ps = (uint64_t)e->start_ps, .kind = kind, .is_eager = is_eager};
    uint64_t end_ps = op.begin_ps + (uint64_t)e->duration_ps;
    if (!s->in_order) {
        if (!GROW(s->ops, s->n_ops, s->op_capacity)) return false;
        s->ops[s->n_ops++] = (TimedOp){op, end_ps};
        return true;
    }
    if (!s->n_ops++) s->first_ps = op.begin_ps;
    return end_until(s, &op) && begin_op(s, &op) && heap_push(s, (End){end_ps, op.op});
}

static int by_time(const void *a, const void *b)
{
    const Mark *x = a, *y = b;
    if (x->ps != y->ps) return ORDER(x->ps, y->ps);
    return x->op != y->op ? ORDER(x->op, y->op) : x->is_end - y->is_end;
}

static int by_start_then_longest(const void *a, const void *b)
{
    const TimedOp *x = a, *y = b;
    return BY_START_THEN_LONGEST(x, y, op.begin_ps, end_ps, op.op);
}

static bool sweep_sorted(LineSweep *s)
{
    size_t n = 2 * s->n_ops;
    if (s->by_start_then_longest && n)
        sort_array(s->ops, s->n_ops, sizeof *s->ops, by_start_then_longest);
    for (size_t i = 0; i < s->n_ops; i++) s->ops[i].op.op = i;
    Mark *marks = prof_alloc(n * sizeof *marks);
    if (!marks) return false;
    for (size_t i = 0; i < n; i++)
        marks[i] = (Mark){i % 2 ? s->ops[i / 2].end_ps : s->ops[i / 2].op.begin_ps, i / 2, i % 2};
    sort_array(marks, n, sizeof *marks, by_time);
    bool good = true;
    for (size_t i = 0; i < n && good; i++)
        good = (i % CHUNK_EVENTS || !interrupt_due(CHUNK_EVENTS)) &&
               (marks[i].is_end ? end_op(s, marks[i].op, marks[i].ps)
                                : begin_op(s, &s->ops[marks[i].op].op));
    if (n) s->first_ps = marks[0].ps, s->last_ps = marks[n - 1].ps;
    prof_free(marks);
    return good;
}

/* ---- kinds ---- */

/* Adds a kind. Returns its index + 1; 0 if memory runs out. */
static uint32_t add_kind(LineSweep *s, uint64_t id, const Text *name, const Text *type)
{
    if (!name || !type || !GROW(s->kinds, s->n_kinds, s->kind_capacity)) return 0;
    s->kinds[s->n_kinds++] = (OpKind){
        .id = id, .name = name, .type = type, .is_enqueue = op_is_infeed_enqueue(slice_of(type))};
    return (uint32_t)s->n_kinds;
}

static int add_known_op(LineSweep *s, const EventAt *e, size_t known, bool is_eager, ProfErr *err)
{
    const Known *k = &s->job->known[known];
    uint32_t *kind = &s->kind_of_known[known];
    if (!*kind) *kind = add_kind(s, k->id, k->name, k->type);
    if (!*kind || !add_op(s, e, *kind - 1, is_eager)) prof_nomem(err);
    return err->code;
}

/* Returns the text of an event's stat tf_op, at the same address for equal texts of a chunk; empty
 * if it has none. NULL if memory runs out. */
static const Text *tf_op_of(LineSweep *s, const EventAt *e, const HostFacts *facts)
{
    const Plane *plane = s->job->plane;
    Stat kept = event_stat(e, STAT_COLUMN_TF_OP);
    if (event_column_kept(e, STAT_COLUMN_TF_OP)) return event_stat_text(plane, &kept);
    if (facts->tf_op.type == TYPE_REF) return stat_ref_text(plane, facts->tf_op.u64);
    return facts->tf_op.type == TYPE_STR
               ? text_intern(&s->texts, &s->arena, facts->tf_op.bytes, facts->tf_op.n_bytes)
               : empty_text;
}

/* Returns index + 1 of the kind for a tf_op text; 0 if memory runs out. */
static uint32_t kind_of_tf_op(LineSweep *s, const Text *text, ProfErr *err)
{
    uint64_t hash = hash64((uintptr_t)text);
    HASH_EACH(i, &s->by_text, hash)
        if (s->tf_ops.items[i].text == text) return s->tf_ops.items[i].kind;
    TfOp op = tf_op_parse(slice_of(text));
    const Text *name = op_text(s->job->build, op.name, err),
               *type = name ? op_text(s->job->build, op.type, err) : NULL;
    uint32_t kind = add_kind(s, 0, name, type);
    TfOpKind *made = kind ? PUSH_KEYED(s->tf_ops, &s->by_text, hash) : NULL;
    if (!made) return 0;
    *made = (TfOpKind){text, kind};
    return kind;
}

static int add_tf_op(LineSweep *s, const EventAt *e, const Text *text, ProfErr *err)
{
    if (!text) return prof_nomem(err);
    if (!text->n_bytes) return PROF_OK;
    uint32_t kind = kind_of_tf_op(s, text, err);
    if (!kind || !add_op(s, e, kind - 1, false)) prof_nomem(err);
    return err->code;
}

/* ---- the walk ---- */

/* Returns whether events start in order, and none ends before it starts or overflows. */
static bool is_in_order(const Line *line)
{
    bool good = line->ordered && line->start_ps >= 0;
    for (size_t i = 0; i < line->n_chunks && good; i++) {
        int64_t end;
        const Chunk *c = &line->chunks[i];
        good = c->min_offset >= 0 && c->min_duration >= 0 && c->max_end < INT64_MAX &&
               !__builtin_add_overflow(line->start_ps, c->max_end, &end);
    }
    return good;
}

static bool is_eager(const LineSweep *s, const EventAt *e, const LineGroups *groups, uint64_t nth)
{
    Stat own = event_stat(e, STAT_COLUMN_EAGER);
    if (s->job->own_eager) return stat_int(&own) != 0;
    return groups && groups->eager &&
           packed_at(&groups->eager[nth / CHUNK_EVENTS], nth % CHUNK_EVENTS) == 1;
}

static int walk(LineSweep *s, Line *line, ProfErr *err)
{
    HostJob *job = s->job;
    EventReader reader;
    EventAt e;
    const LineGroups *groups =
        job->build->grouping ? line_groups(job->build->grouping, line) : NULL;
    event_reader_open_beside_columns(&reader, line, &job->filter.wanted, err);
    while (event_reader_next(&reader, &e) && !err->code) {
        HostFacts facts = {.has_stage = false};
        if (event_has_stats(&e)) facts = host_facts(job, &e);
        size_t known = job->known_of_meta[e.meta - job->plane->event_metas];
        if (facts.has_stage) {
            const Known *stage = find_known(job, facts.stage);
            known = stage ? (size_t)(stage - job->known) + 1 : 0;
        }
        if (known)
            add_known_op(s, &e, known - 1, is_eager(s, &e, groups, e.event - line->first_event),
                         err);
        if (stat_set_has(&e.chunk->stats, STAT_TF_OP) && !err->code)
            add_tf_op(s, &e, tf_op_of(s, &e, &facts), err);
    }
    event_reader_close(&reader);
    if (!err->code && !(s->in_order ? end_until(s, NULL) : sweep_sorted(s))) prof_nomem(err);
    return err->code;
}

static bool declares_regions(const Plane *plane)
{
    unsigned found = 0;
    for (size_t i = 0; i < plane->n_declared; i++) {
        enum EventType type = event_type_named(plane->event_metas[i].name);
        if (type == EVENT_START_REGION) found |= 1;
        if (type == EVENT_STOP_REGION) found |= 2;
    }
    return found == 3;
}

/* Returns whether the line has a StartRegion with a consumer and a StopRegion after it. */
static bool has_region(Line *line, ProfErr *err)
{
    static const enum KnownStat wanted[] = {STAT_CONSUMER};
    bool open = false, ended = false;
    StatFilter filter;
    EventReader reader;
    EventAt e;
    if (stat_filter_open(&filter, line->plane, wanted, COUNT(wanted), err)) return false;
    event_reader_open_for(&reader, line, &filter.wanted, err);
    while (!ended && event_reader_next(&reader, &e)) {
        enum EventType type = event_type_named(e.meta->name);
        StatIter stats = stat_iter_of_event(&e);
        Stat stat;
        unsigned known;
        if (type == EVENT_START_REGION && stat_iter_next_wanted(&stats, &filter, &known, &stat))
            open = e.start_ps != 0;
        ended = type == EVENT_STOP_REGION && open;
    }
    event_reader_close(&reader);
    stat_filter_close(&filter);
    return ended;
}

static void free_sweep(LineSweep *s)
{
    prof_free(s->kinds);
    prof_free(s->kind_of_known);
    prof_free(s->tf_ops.items);
    hash_free(&s->by_text);
    prof_free(s->stack);
    prof_free(s->ends);
    prof_free(s->ops);
    text_table_free(&s->texts);
    arena_free(&s->arena);
}

static int sweep(LineSweep *s, Line *line, ProfErr *err)
{
    s->kind_of_known = prof_alloc(s->job->n_known * sizeof *s->kind_of_known);
    return s->kind_of_known ? walk(s, line, err) : prof_nomem(err);
}

/* Processes a line. Derived lines have no ops, but their idle time counts too. */
static void sweep_line(void *context, size_t i, ProfErr *err)
{
    HostJob *job = context;
    Line *line = &job->build->host->lines[job->plane->first_line + i];
    if (line->derived) {
        if (!op_db_add_idle(&job->lines[i], job->build->stats->idle)) prof_nomem(err);
        return;
    }
    LineSweep s = {.job = job, .db = &job->lines[i], .in_order = is_in_order(line)};
    if (!sweep(&s, line, err) && s.inner_came_first && job->has_regions && has_region(line, err)) {
        free_sweep(&s);
        op_db_free(s.db);
        *s.db = (OpMetricsDb){0};
        s = (LineSweep){.job = job, .db = &job->lines[i], .by_start_then_longest = true};
        sweep(&s, line, err);
    }
    if (!err->code && s.n_recorded < s.n_ops)
        host_issue_in_file(line->plane->host, "warning", "host_ops_lost", line->span.offset, 0,
                           line,
                           "ops of a thread partially overlap or end at the same time; XProf and "
                           "op_metrics do not count %llu of %zu",
                           (unsigned long long)(s.n_ops - s.n_recorded), s.n_ops);
    s.db->total_ps = s.last_ps - s.first_ps;
    if (s.db->total_ps < s.db->total_op_ps)
        s.db->total_ps = s.db->total_op_ps; /* ops that partly overlap */
    if (!err->code && !op_db_add_idle(s.db, job->build->stats->idle)) prof_nomem(err);
    free_sweep(&s);
}

/* ---- the plane ---- */

int host_ops_build(OpBuild *build, ProfErr *err)
{
    static const enum KnownStat wanted[] = {STAT_STAGE_ID, STAT_STAGE_CATEGORY, STAT_TF_OP};
    HostJob job = {.build = build,
                   .plane = host_find_plane(build->host, PREFIX_HOST_THREADS),
                   .own_eager = build->grouped};
    if (!job.plane) return PROF_OK;
    job.lines = prof_alloc(job.plane->n_lines * sizeof *job.lines);
    if (!job.lines) return prof_nomem(err);
    if (!stat_filter_open(&job.filter, job.plane, wanted, COUNT(wanted), err)) {
        job.has_stages = plane_declares(job.plane, STAT_STAGE_ID);
        job.has_regions = !build->grouped && declares_regions(job.plane);
        if (!collect_known(&job, err) && !index_by_meta(&job, err))
            parallel_lines(build->host->lines + job.plane->first_line, job.plane->n_lines,
                           sweep_line, &job, err);
        for (size_t i = 0; i < job.plane->n_lines && !err->code; i++)
            if (!op_db_merge(&build->stats->host, &job.lines[i], &build->stats->arena, false))
                prof_nomem(err);
    }
    for (size_t i = 0; i < job.plane->n_lines; i++) op_db_free(&job.lines[i]);
    stat_filter_close(&job.filter);
    prof_free(job.lines);
    prof_free(job.known);
    prof_free(job.known_of_meta);
    hash_free(&job.index);
    return err->code;
}
