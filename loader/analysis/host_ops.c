/* host_ops.c: op metrics of the host's threads.
 *
 * What counts as an op on a thread: an event with a tf.data stage, an event whose name is a framework op's, and any event
 * with a tf_op stat. Their begins and ends are swept in order of time alone, so ends that coincide lose ops: of a parent
 * stored before a child that ends at the same moment, only the parent is recorded, and all ops around it are lost. XProf
 * counts so, and so do we. */
#include "op_build.h"

/* ---- which events are ops ---- */

typedef struct {
    int64_t key; /* stage id or event metadata id: they share one space */
    uint64_t id; /* of the record */
    const Text *name, *type;
} Known;

typedef struct {
    OpBuild *build;
    Plane *plane;
    StatFilter filter;
    bool has_stages;
    Known *known;
    size_t n_known, capacity;
    IdTable index;
    OpMetricsDb *lines; /* one a line of the plane */
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
    Slice category, tf_op;
} HostFacts;

/* The first stat of a name counts. */
static HostFacts host_facts(const HostJob *job, const EventAt *e)
{
    HostFacts facts = {0};
    const uint8_t *p = e->message, *end = p + e->n_bytes;
    Stat stat;
    unsigned known;
    bool has_tf_op = false;
    while ((p = stat_filter_next(&job->filter, p, end, 4, &known, &stat))) {
        if (known == STAT_STAGE_ID && !facts.has_stage) facts.has_stage = true, facts.stage = stat_int(&stat);
        if (known == STAT_STAGE_CATEGORY && !facts.has_category) facts.has_category = true, facts.category = stat_text(job->plane, &stat);
        if (known == STAT_TF_OP && !has_tf_op) has_tf_op = true, facts.tf_op = stat_text(job->plane, &stat);
    }
    return facts;
}

/* The first event of a key decides. Without stages that is one of any metadata, in whatever order. */
static int collect_known(HostJob *job, ProfErr *err)
{
    if (!job->has_stages) {
        for (size_t i = 0; i < job->plane->n_declared && !err->code; i++) add_named(job, &job->plane->event_metas[i], err);
        return err->code;
    }
    bool *seen = prof_alloc(job->plane->n_event_metas);
    if (!seen) return prof_nomem(err);
    for (size_t l = 0; l < job->plane->n_lines && !err->code; l++) {
        EventReader reader;
        EventAt e;
        event_reader_open(&reader, &job->build->host->lines[job->plane->first_line + l], EVENT_STATS, err);
        while (event_reader_next(&reader, &e)) {
            if (!e.meta->name->n_bytes) continue;
            HostFacts facts = host_facts(job, &e);
            size_t meta = (size_t)(e.meta - job->plane->event_metas);
            if (facts.has_stage) {
                if (facts.has_category) add_known(job, facts.stage, (uint64_t)facts.stage, slice_of(e.meta->name), facts.category, err);
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

/* ---- one line ---- */

typedef struct {
    uint64_t ps;
    uint32_t op; /* number of the op on its line */
    bool is_end;
} Mark;

typedef struct {
    uint64_t id;
    const Text *name, *type;
    bool is_eager;
} Occurrence;

typedef struct {
    uint32_t op;
    uint64_t begin_ps, children_ps;
} OpenOp;

typedef struct {
    HostJob *job;
    OpMetricsDb *db;
    Mark *marks;
    size_t n_marks, mark_capacity;
    Occurrence *ops;
    size_t n_ops, op_capacity;
    OpenOp *stack;
    size_t n_open, stack_capacity;
    uint64_t infeed_begin_ps, infeed_duration_ps;
    bool infeed_seen;
} LineSweep;

static bool mark(LineSweep *s, const EventAt *e, Occurrence op)
{
    if (!GROW(s->ops, s->n_ops, s->op_capacity)) return false;
    uint64_t begin = (uint64_t)e->start_ps;
    for (int is_end = 0; is_end < 2; is_end++) {
        if (!GROW(s->marks, s->n_marks, s->mark_capacity)) return false;
        s->marks[s->n_marks++] = (Mark){begin + (is_end ? (uint64_t)e->duration_ps : 0), (uint32_t)s->n_ops, is_end};
    }
    s->ops[s->n_ops++] = op;
    return true;
}

static int mark_tf_op(LineSweep *s, const EventAt *e, Slice text, ProfErr *err)
{
    TfOp op = tf_op_parse(text);
    const Text *name = op_text(s->job->build, op.name, err), *type = name ? op_text(s->job->build, op.type, err) : NULL;
    if (type && !mark(s, e, (Occurrence){0, name, type, false})) prof_nomem(err);
    return err->code;
}

static bool is_eager(const LineGroups *groups, uint64_t nth)
{
    return groups && groups->eager && packed_at(&groups->eager[nth / CHUNK_EVENTS], nth % CHUNK_EVENTS) == 1;
}

static int collect_marks(LineSweep *s, Line *line, ProfErr *err)
{
    HostJob *job = s->job;
    EventReader reader;
    EventAt e;
    const LineGroups *groups = job->build->grouping ? line_groups(job->build->grouping, line) : NULL;
    event_reader_open(&reader, line, job->filter.any ? EVENT_STATS : 0, err);
    while (event_reader_next(&reader, &e) && !err->code) {
        HostFacts facts = {0};
        if (job->filter.any) facts = host_facts(job, &e);
        bool declared = e.meta < job->plane->event_metas + job->plane->n_declared;
        const Known *known = facts.has_stage || declared ? find_known(job, facts.has_stage ? facts.stage : e.meta->id) : NULL;
        if (known && !mark(s, &e, (Occurrence){known->id, known->name, known->type, is_eager(groups, e.event - line->first_event)})) prof_nomem(err);
        if (facts.tf_op.n) mark_tf_op(s, &e, facts.tf_op, err);
    }
    event_reader_close(&reader);
    return err->code;
}

static int by_time(const void *a, const void *b)
{
    const Mark *x = a, *y = b;
    if (x->ps != y->ps) return x->ps < y->ps ? -1 : 1;
    return x->op != y->op ? (x->op < y->op ? -1 : 1) : x->is_end - y->is_end;
}

/* An op is complete: its times go to its record, its length to the op around it. */
static bool record(LineSweep *s, const OpenOp *open, uint64_t end_ps)
{
    const Occurrence *o = &s->ops[open->op];
    OpMetrics *op = op_db_at(s->db, o->id, o->name);
    if (!op) return false;
    uint64_t time = end_ps - open->begin_ps, self = time - open->children_ps;
    if (!op->category->n_bytes) op->category = o->type;
    op->is_eager |= o->is_eager;
    op->occurrences++;
    op->time_ps += time, op->self_ps += self;
    op->event_time_ps += time, op->event_self_ps += self;
    s->db->total_op_ps += self;
    if (s->n_open) s->stack[s->n_open - 1].children_ps += time;
    if (op_is_infeed_enqueue(slice_of(o->type))) {
        if (s->infeed_seen) {
            s->db->infeed_duration_ps += s->infeed_duration_ps;
            s->db->infeed_interval_ps += open->begin_ps - s->infeed_begin_ps;
        }
        s->infeed_seen = true, s->infeed_begin_ps = open->begin_ps, s->infeed_duration_ps = time;
    }
    return true;
}

static int sweep(LineSweep *s, ProfErr *err)
{
    /* marks of one op are pushed together and ops in order: sorted by number, equal times keep the order of pushing */
    if (s->n_marks) qsort(s->marks, s->n_marks, sizeof *s->marks, by_time);
    for (size_t i = 0; i < s->n_marks && !err->code; i++) {
        const Mark *m = &s->marks[i];
        if (!m->is_end) {
            if (!GROW(s->stack, s->n_open, s->stack_capacity)) return prof_nomem(err);
            s->stack[s->n_open++] = (OpenOp){m->op, m->ps, 0};
            continue;
        }
        while (s->n_open && s->stack[s->n_open - 1].op != m->op) s->n_open--;
        if (!s->n_open) continue;
        OpenOp open = s->stack[--s->n_open];
        if (!record(s, &open, m->ps)) return prof_nomem(err);
    }
    return err->code;
}

/* Ops whose begin was taken off the stack by another's end. */
static void report_lost(const LineSweep *s, Line *line)
{
    size_t recorded = 0;
    for (size_t i = 0; i < s->db->n_ops; i++) recorded += s->db->ops[i].occurrences;
    if (recorded < s->n_ops)
        host_issue(line->plane->host, "warning", "host_ops_lost", line->span.offset, 0, line,
                   "ops of a thread cross each other or end together: %zu of %zu are not counted by XProf, nor in the op metrics", s->n_ops - recorded,
                   s->n_ops);
}

static void sweep_line(void *context, size_t i, ProfErr *err)
{
    HostJob *job = context;
    Line *line = &job->build->host->lines[job->plane->first_line + i];
    if (line->derived) return;
    LineSweep s = {.job = job, .db = &job->lines[i]};
    if (!collect_marks(&s, line, err) && !sweep(&s, err)) report_lost(&s, line);
    if (s.n_marks) s.db->total_ps = s.marks[s.n_marks - 1].ps - s.marks[0].ps;
    if (s.db->total_ps < s.db->total_op_ps) s.db->total_ps = s.db->total_op_ps; /* ops that cross each other */
    if (!err->code && !op_db_add_idle(s.db, job->build->stats->idle)) prof_nomem(err);
    prof_free(s.marks);
    prof_free(s.ops);
    prof_free(s.stack);
}

/* ---- the plane ---- */

int host_ops_build(OpBuild *build, ProfErr *err)
{
    static const enum KnownStat wanted[] = {STAT_STAGE_ID, STAT_STAGE_CATEGORY, STAT_TF_OP};
    HostJob job = {.build = build, .plane = host_plane(build->host, "/host:CPU")};
    if (!job.plane) return PROF_OK;
    job.lines = prof_alloc(job.plane->n_lines * sizeof *job.lines);
    if (!job.lines) return prof_nomem(err);
    if (!stat_filter_open(&job.filter, job.plane, wanted, COUNT(wanted), err)) {
        job.has_stages = plane_declares(job.plane, STAT_STAGE_ID);
        if (!collect_known(&job, err)) parallel_for(build->host->run->n_workers, job.plane->n_lines, sweep_line, &job, err);
        for (size_t i = 0; i < job.plane->n_lines && !err->code; i++)
            if (!op_db_merge(&build->stats->host, &job.lines[i], &build->stats->arena, false)) prof_nomem(err);
    }
    for (size_t i = 0; i < job.plane->n_lines; i++) op_db_free(&job.lines[i]);
    stat_filter_close(&job.filter);
    prof_free(job.lines);
    prof_free(job.known);
    prof_free(job.index.slots);
    return err->code;
}
