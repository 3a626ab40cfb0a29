/* collectives.c: collective ops and kernels; see collectives.h. */
#include "collectives.h"

#include "../format/hlo.h"
#include "async_ops.h"
#include "events.h"
#include "shape.h"

/* One occurrence on one device. */
typedef struct {
    const Plane *plane;
    Slice name;
    const char *kind;
    uint64_t program_id;
    bool has_program;
    int64_t start_ps, duration_ps;
} Instance;

typedef struct {
    Collectives *result;
    LIST(Instance) instances;
} Making;

/* ---- kinds ---- */

static const char *kind_of_op(Slice text)
{
    static const char *const kinds[] = {"all-reduce",           "all-gather",        "reduce-scatter", "collective-permute",
                                        "collective-broadcast", "ragged-all-to-all", "all-to-all"};
    for (size_t i = 0; i < COUNT(kinds); i++)
        if (slice_starts(text, kinds[i])) return kinds[i];
    return NULL;
}

/* By the name of a kernel of NCCL or RCCL. */
static const char *kind_of_kernel(Slice name)
{
    static const struct {
        const char *part, *kind;
    } kinds[] = {{"AllReduce", "all-reduce"},
                 {"AllGather", "all-gather"},
                 {"ReduceScatter", "reduce-scatter"},
                 {"Broadcast", "collective-broadcast"},
                 {"SendRecv", "collective-permute"},
                 {"AllToAll", "all-to-all"},
                 {"Reduce", "reduce"}};
    for (size_t i = 0; i < COUNT(kinds); i++)
        if (slice_contains(name, kinds[i].part)) return kinds[i].kind;
    return NULL;
}

static const Fact *fact_of(const EventMeta *meta, enum KnownStat known)
{
    for (size_t i = 0; i < meta->n_facts; i++)
        if (meta->facts[i].known == known) return &meta->facts[i].fact;
    return NULL;
}

static bool program_of(const EventMeta *meta, uint64_t *id)
{
    const Fact *f = fact_of(meta, STAT_PROGRAM_ID);
    if (!f || (f->type != TYPE_INT64 && f->type != TYPE_UINT64)) return false;
    return *id = f->natural, true;
}

/* ---- occurrences ---- */

static void add_instance(Making *m, Instance instance, ProfErr *err)
{
    Instance *place = PUSH(m->instances);
    if (place)
        *place = instance;
    else
        prof_nomem(err);
}

static void add_async(Making *m, Run *run, Host *only, ProfErr *err)
{
    const AsyncOps *all = run_async_ops(run, only, err);
    for (size_t i = 0; all && i < all->n_ops && !err->code; i++) {
        const AsyncOp *op = &all->ops[i];
        bool gpu = op->plane->kind == PLANE_GPU;
        Instance found = {op->plane, op->op, gpu ? kind_of_kernel(op->op) : kind_of_op(op->op), 0, false, op->start_ps, op->duration_ps};
        if (!found.kind || !op->done || event_meta_facts(op->plane, (EventMeta *)op->start, err)) continue;
        found.has_program = program_of(op->start, &found.program_id);
        add_instance(m, found, err);
    }
}

typedef struct {
    const char *kind; /* NULL: no collective of one part */
    uint64_t program_id;
    bool has_program;
} Meaning;

static Meaning meaning_of(const Plane *plane, EventMeta *meta, ProfErr *err)
{
    Meaning found = {0};
    if (!meta->has_stats || event_meta_facts(plane, meta, err)) return found;
    const Fact *category = fact_of(meta, STAT_HLO_CATEGORY);
    Slice name = slice_of(meta->display_name);
    if (!category || category->type != TYPE_STR || slice_contains(name, "-start") || slice_contains(name, "-done")) return found;
    found.kind = kind_of_op(slice_of(category->text));
    found.has_program = program_of(meta, &found.program_id);
    return found;
}

static void read_line(Making *m, Line *line, const Meaning *meanings, ProfErr *err)
{
    EventReader reader;
    EventAt at;
    event_reader_open(&reader, line, 0, err);
    while (!err->code && event_reader_next(&reader, &at)) {
        const Meaning *meaning = &meanings[at.meta - line->plane->event_metas];
        if (!meaning->kind || at.occurrences >= 0) continue;
        add_instance(
            m, (Instance){line->plane, slice_of(at.meta->display_name), meaning->kind, meaning->program_id, meaning->has_program, at.start_ps, at.duration_ps},
            err);
    }
    event_reader_close(&reader);
}

static void add_plane(Making *m, Plane *plane, ProfErr *err)
{
    Meaning *meanings = prof_alloc(plane->n_event_metas * sizeof *meanings);
    bool any = false;
    if (!meanings) prof_nomem(err);
    for (size_t i = 0; meanings && i < plane->n_declared && !err->code; i++) {
        meanings[i] = meaning_of(plane, &plane->event_metas[i], err);
        any |= meanings[i].kind != NULL;
    }
    for (size_t i = 0; any && i < plane->n_lines && !err->code; i++) {
        Line *line = &plane->host->lines[plane->first_line + i];
        if (line->kind == LINE_OPS && !line->derived) read_line(m, line, meanings, err);
    }
    prof_free(meanings);
}

/* ---- rows ---- */

static int compare_slices(Slice a, Slice b)
{
    int order = memcmp(a.text, b.text, a.n < b.n ? a.n : b.n);
    return order ? order : (a.n > b.n) - (a.n < b.n);
}

/* Do two occurrences belong to one op of one host? */
static int compare_ops(const Instance *x, const Instance *y)
{
    if (x->plane->host != y->plane->host) return x->plane->host < y->plane->host ? -1 : 1;
    if (x->has_program != y->has_program) return x->has_program ? 1 : -1;
    if (x->program_id != y->program_id) return x->program_id < y->program_id ? -1 : 1;
    return compare_slices(x->name, y->name);
}

static int by_op(const void *a, const void *b)
{
    const Instance *x = a, *y = b;
    int order = compare_ops(x, y);
    if (order) return order;
    if (x->plane != y->plane) return x->plane < y->plane ? -1 : 1;
    if (x->start_ps != y->start_ps) return x->start_ps < y->start_ps ? -1 : 1;
    return x->duration_ps < y->duration_ps ? -1 : x->duration_ps > y->duration_ps;
}

static int64_t first_group(size_t n_groups, Xla__ReplicaGroup *const *groups) { return n_groups ? (int64_t)groups[0]->n_replica_ids : 0; }

static int64_t group_size(const Xla__HloInstructionProto *i)
{
    const Xla__CollectiveDeviceListProto *list = i->collective_device_list;
    if (i->n_replica_groups) return first_group(i->n_replica_groups, i->replica_groups);
    if (list && list->iota_replica_group_list) return list->iota_replica_group_list->num_devices_per_group;
    if (list && list->n_replica_groups) return first_group(list->n_replica_groups, list->replica_groups);
    return i->iota_collective_device_list ? i->iota_collective_device_list->num_devices_per_group : 0;
}

/* What the operands hold, without padding. */
static int64_t operand_bytes(const HloModule *module, const Xla__HloInstructionProto *i)
{
    int64_t sum = 0;
    for (size_t k = 0; k < i->n_operand_ids; k++) {
        const Xla__HloInstructionProto *operand = hlo_instruction(module, i->operand_ids[k]);
        ShapeSizes sizes = operand && operand->shape ? shape_sizes(operand->shape) : (ShapeSizes){0};
        if (!sizes.known) return -1;
        sum = add_saturated(sum, sizes.bytes);
    }
    return i->n_operand_ids ? sum : -1;
}

static void describe(Collective *c, ProfErr *err)
{
    const HloModule *module = c->has_program ? hlo_program(c->plane->host, c->program_id, err) : NULL;
    const Xla__HloInstructionProto *i = module ? hlo_find(module, c->name.text, c->name.n) : NULL;
    if (!i) return;
    int64_t size = group_size(i);
    c->group_size = size > 0 ? size : 0, c->bytes = operand_bytes(module, i);
}

static uint64_t count_plane(const Instance *instances, size_t n)
{
    size_t i = 1;
    while (i < n && instances[i].plane == instances->plane) i++;
    return i;
}

/* The k-th occurrences of planes that have equally many begin when the last of them does; none waits longer than it lasts. */
static void add_waits(const Instance *instances, Collective *rows, size_t n_rows)
{
    uint64_t n = rows[0].occurrences;
    for (size_t r = 1; r < n_rows; r++)
        if (rows[r].occurrences != n) return;
    for (uint64_t k = 0; k < n && n_rows > 1; k++) {
        int64_t last = instances[k].start_ps;
        for (size_t r = 1; r < n_rows; r++)
            if (instances[r * n + k].start_ps > last) last = instances[r * n + k].start_ps;
        for (size_t r = 0; r < n_rows; r++) {
            uint64_t wait_ps = (uint64_t)last - (uint64_t)instances[r * n + k].start_ps, duration_ps = (uint64_t)instances[r * n + k].duration_ps;
            rows[r].wait_ps += wait_ps < duration_ps ? wait_ps : duration_ps;
        }
    }
    for (size_t r = 0; r < n_rows; r++) rows[r].n_peers = (uint32_t)n_rows;
}

/* The rows of one op of one host, one a plane. */
static void take_op(Making *m, const Instance *instances, size_t n, ProfErr *err)
{
    size_t first = m->result->collectives.n;
    for (size_t i = 0; i < n && !err->code;) {
        const Instance *of = &instances[i];
        Collective *c = PUSH(m->result->collectives);
        if (!c) {
            prof_nomem(err);
            return;
        }
        *c = (Collective){
            .plane = of->plane, .name = of->name, .kind = of->kind, .program_id = of->program_id, .has_program = of->has_program, .bytes = -1, .n_peers = 1};
        c->min_ps = INT64_MAX, c->max_ps = INT64_MIN;
        for (size_t end = i + count_plane(of, n - i); i < end; i++) {
            int64_t ps = instances[i].duration_ps;
            c->occurrences++, c->total_ps += (uint64_t)ps;
            if (ps < c->min_ps) c->min_ps = ps;
            if (ps > c->max_ps) c->max_ps = ps;
        }
        describe(c, err);
    }
    if (!err->code) add_waits(instances, &m->result->collectives.items[first], m->result->collectives.n - first);
}

static int by_plane(const void *a, const void *b)
{
    const Collective *x = a, *y = b;
    if (x->plane->plane_id != y->plane->plane_id) return x->plane->plane_id < y->plane->plane_id ? -1 : 1;
    if (x->total_ps != y->total_ps) return x->total_ps > y->total_ps ? -1 : 1;
    if (x->program_id != y->program_id) return x->program_id < y->program_id ? -1 : 1;
    return compare_slices(x->name, y->name);
}

static void release(void *result)
{
    Collectives *all = result;
    prof_free(all->collectives.items);
    prof_free(all);
}

static void *make(Run *run, Host *only, ProfErr *err)
{
    Making m = {.result = prof_alloc(sizeof(Collectives))};
    if (!m.result) return prof_nomem(err), NULL;
    add_async(&m, run, only, err);
    for (size_t h = 0; h < run->n_hosts; h++) {
        Host *host = &run->hosts[h];
        for (size_t i = 0; i < host->n_planes && !err->code; i++)
            if ((!only || only == host) && host->planes[i].kind == PLANE_TENSORCORE) add_plane(&m, &host->planes[i], err);
    }
    if (!err->code && m.instances.n) qsort(m.instances.items, m.instances.n, sizeof *m.instances.items, by_op);
    for (size_t i = 0, k; i < m.instances.n && !err->code; i = k) {
        for (k = i + 1; k < m.instances.n && !compare_ops(&m.instances.items[i], &m.instances.items[k]); k++) {
        }
        take_op(&m, &m.instances.items[i], k - i, err);
    }
    prof_free(m.instances.items);
    if (m.result->collectives.n) qsort(m.result->collectives.items, m.result->collectives.n, sizeof *m.result->collectives.items, by_plane);
    if (!err->code) return m.result;
    release(m.result);
    return NULL;
}

const Collectives *run_collectives(Run *run, Host *only, ProfErr *err)
{
    static const Analysis analysis = {make, release};
    return run_analysis(run, only, &analysis, err);
}
