// SPDX-License-Identifier: Apache-2.0
/* collectives.c: collective ops and kernels; see collectives.h. */
#include "collectives.h"

#include <math.h>

#include "../../format/hlo.h"
#include "../../base/interrupt.h"
#include "../../base/search.h"
#include "../../base/sort.h"
#include "../../base/parallel.h"
#include "async_pairs.h"
#include "collective_waits.h"
#include "../device/devices.h"
#include "../program/instruction_text.h"
#include "../../format/shape.h"

/* The collectives of one device. */
typedef struct {
    AsyncPlane of;
    LIST(CollectiveInstance) instances;
    const AsyncShared *last; /* the op that was looked up last */
    bool last_counts;
} PlaneInstances;

typedef struct {
    Collectives *result;
    const DeviceCapabilities *devices;
    bool over_hosts; /* all hosts of the run are included */
} CollectivesBuilder;

/* ---- kinds ---- */

static const char *kind_of_op(Slice text)
{
    static const char *const kinds[] = {
        "all-reduce",           "all-gather",        "reduce-scatter", "collective-permute",
        "collective-broadcast", "ragged-all-to-all", "all-to-all"};
    for (size_t i = 0; i < COUNT(kinds); i++)
        if (slice_starts(text, kinds[i])) return kinds[i];
    return NULL;
}

/* Returns the kind of a kernel of NCCL or RCCL, by its name. */
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

/* Returns the kind of a collective by category, opcode or name; the HLO instruction of a kernel is
 * not known yet. NULL for other ops, and for transfers between two devices. */
static const char *kind_of(const AsyncShared *op)
{
    if (op->plane->kind == PLANE_GPU) return kind_of_kernel(op->op);
    const char *kind = op->category ? kind_of_op(slice_of(op->category)) : NULL;
    if (!kind) kind = kind_of_op(instruction_opcode(slice_of(op->start->name)));
    return kind ? kind : kind_of_op(op->op);
}

static bool add_instance(void *context, const AsyncOp *run, ProfErr *err)
{
    PlaneInstances *p = context;
    const AsyncShared *op = run->shared;
    if (p->last != op)
        p->last = op, p->last_counts = op->kind == WORK_COLLECTIVE && op->done && kind_of(op);
    if (!p->last_counts) return true;
    CollectiveInstance *place = PUSH(p->instances);
    if (!place) {
        prof_nomem(err);
        return false;
    }
    *place = (CollectiveInstance){op, run->start_ps, run->duration_ps};
    return true;
}

static void plane_task(void *context, size_t i, ProfErr *err)
{
    PlaneInstances *p = &((PlaneInstances *)context)[i];
    const AsyncVisitor add = {p, add_instance};
    uint8_t *kinds = plane_work_kinds(p->of.plane, err);
    if (kinds) visit_device_ops(&p->of, kinds, true, &add, err);
    prof_free(kinds);
}

/* ---- rows ---- */

/* Compares two occurrences: 0 if they belong to one op, on any hosts. */
static int compare_ops(const AsyncShared *x, const AsyncShared *y)
{
    if (x == y) return 0;
    if (x->has_program != y->has_program) return x->has_program ? 1 : -1;
    if (x->program_id != y->program_id) return ORDER(x->program_id, y->program_id);
    int order = slice_order(x->op, y->op);
    return order ? order : slice_order(x->hlo_op, y->hlo_op);
}

static int by_op(const void *a, const void *b)
{
    const CollectiveInstance *x = a, *y = b;
    int order = compare_ops(x->op, y->op);
    if (order) return order;
    if (x->op->plane != y->op->plane) return ORDER(x->op->plane->plane_id, y->op->plane->plane_id);
    if (x->start_ps != y->start_ps) return ORDER(x->start_ps, y->start_ps);
    return ORDER(x->duration_ps, y->duration_ps);
}

/* Returns the bytes of the operands, without padding. */
static int64_t operand_bytes(const HloModule *module, const Xla__HloInstructionProto *i)
{
    int64_t sum = 0;
    for (size_t k = 0; k < i->n_operand_ids; k++) {
        const Xla__HloInstructionProto *operand = hlo_instruction(module, i->operand_ids[k]);
        ShapeSizes sizes =
            operand && operand->shape ? shape_sizes(operand->shape) : (ShapeSizes){0};
        if (!sizes.known) return -1;
        sum = add_saturated(sum, sizes.bytes);
    }
    return i->n_operand_ids ? sum : -1;
}

/* Returns the collective's instruction in its program; for a generic asynchronous op, the
 * instruction that it wraps. NULL if the program is unknown or has no instruction of this name. */
static const Xla__HloInstructionProto *find_instruction(const HloModule *module, Slice name)
{
    const Xla__HloInstructionProto *i = module ? hlo_find(module, name.text, name.n) : NULL;
    if (!i || !starts_with(i->opcode, "async-") || !i->more->n_called_computation_ids) return i;
    const Xla__HloComputationProto *called =
        hlo_computation(module, i->more->called_computation_ids[0]);
    return called ? hlo_instruction(module, called->root_id) : NULL;
}

static bool describe(Collective *c, const AsyncShared *op, CollectiveGroups *groups, ProfErr *err)
{
    Slice name = op->hlo_op.n ? op->hlo_op : op->op;
    const HloModule *module =
        c->has_program ? hlo_program(c->plane->host, c->program_id, err) : NULL;
    const Xla__HloInstructionProto *i = find_instruction(module, name);
    const char *kind = i ? kind_of_op(slice_of_string(i->opcode)) : NULL;
    if (kind) c->kind = kind, c->bytes = operand_bytes(module, i);
    if (c->bytes < 0) c->bytes = op->bytes_moved;
    bool sound = kind ? groups_read(groups, module, i, kind)
                      : groups_read_text(groups, slice_of(op->start->name), c->kind);
    if (!sound) {
        prof_nomem(err);
        return false;
    }
    c->group_size = groups_size(groups);
    return !err->code;
}

/* ---- waiting ---- */

/* Returns the number of a device among all that run programs together; -1 if unknown. Without the
 * stat core_details, the numbers are known only if the run has a single host. */
static int64_t device_number(const CollectivesBuilder *m, const Plane *plane,
                             const CollectiveGroups *groups)
{
    const DeviceCapabilities *all = m->devices;
    size_t n_planes = 0;
    int64_t number = -1;
    size_t first = LOWER_BOUND(i, 0, all->n_devices,
                               all->devices[i].plane->plane_id < plane->host->first_plane);
    for (size_t i = first; i < all->n_devices && all->devices[i].plane->host == plane->host; i++) {
        const Device *d = &all->devices[i];
        if (d->plane == plane && d->global_core_id >= 0) return d->global_core_id;
        n_planes += d->plane->kind == plane->kind;
    }
    const char *last = strrchr(plane->name->text, ':');
    if (plane->host->run->n_hosts > 1 || groups_device_count(groups) > (int64_t)n_planes || !last ||
        !slice_integer(slice_of_string(last + 1), &number))
        return -1;
    return number;
}

/* Computes the waits of the devices; rows[i] belongs to devices[i]. */
static void add_waits(const CollectivesBuilder *m, CollectiveDevice *devices, Collective *rows,
                      size_t n, const CollectiveGroups *groups, ProfErr *err)
{
    if (collective_waits(devices, n, groups, m->over_hosts, err)) return;
    for (size_t i = 0; i < n; i++)
        rows[i].wait = devices[i].on_host, rows[i].wait_of_all = devices[i].of_all;
}

static size_t count_plane(const CollectiveInstance *instances, size_t n)
{
    size_t i = 1;
    while (i < n && instances[i].op->plane == instances->op->plane) i++;
    return i;
}

static void sum_instances(Collective *c, const CollectiveInstance *instances, size_t n)
{
    c->min_ps = INT64_MAX, c->max_ps = INT64_MIN, c->occurrences = n;
    for (size_t i = 0; i < n; i++) {
        int64_t ps = instances[i].duration_ps;
        c->total_ps += (uint64_t)ps;
        if (ps < c->min_ps) c->min_ps = ps;
        if (ps > c->max_ps) c->max_ps = ps;
    }
}

/* Adds the rows of one op, one for each plane. */
static void add_op(CollectivesBuilder *m, const CollectiveInstance *instances, size_t n,
                   ProfErr *err)
{
    size_t first = m->result->collectives.n;
    CollectiveGroups groups = {0};
    LIST(CollectiveDevice) devices = {0};
    for (size_t i = 0, end; i < n && !err->code; i = end) {
        const AsyncShared *of = instances[i].op;
        end = i + count_plane(&instances[i], n - i);
        Collective *c = PUSH(m->result->collectives);
        CollectiveDevice *device = c ? PUSH(devices) : NULL;
        if (!device) {
            prof_nomem(err);
            break;
        }
        *c = (Collective){.plane = of->plane,
                          .name = of->op,
                          .kind = kind_of(of),
                          .program_id = of->program_id,
                          .has_program = of->has_program,
                          .bytes = -1};
        c->hlo_op = of->plane->kind == PLANE_GPU ? of->hlo_op : of->op;
        sum_instances(c, &instances[i], end - i);
        groups_free(&groups);
        if (!describe(c, of, &groups, err)) break;
        *device = (CollectiveDevice){
            .plane = of->plane,
            .instances = &instances[i],
            .n = end - i,
            .has_groups = groups.form != GROUPS_UNKNOWN,
            .place = groups_place(&groups, device_number(m, of->plane, &groups))};
    }
    if (!err->code)
        add_waits(m, devices.items, &m->result->collectives.items[first], devices.n, &groups, err);
    groups_free(&groups);
    prof_free(devices.items);
}

static int by_plane(const void *a, const void *b)
{
    const Collective *x = a, *y = b;
    if (x->plane->plane_id != y->plane->plane_id)
        return ORDER(x->plane->plane_id, y->plane->plane_id);
    if (x->total_ps != y->total_ps) return ORDER(y->total_ps, x->total_ps);
    if (x->program_id != y->program_id) return ORDER(x->program_id, y->program_id);
    return slice_order(x->name, y->name);
}

static void collectives_release(void *result)
{
    Collectives *all = result;
    prof_free(all->collectives.items);
    prof_free(all);
}

/* Joins the instances of all planes into one array. */
static CollectiveInstance *join(PlaneInstances *planes, size_t n, size_t *n_instances, ProfErr *err)
{
    *n_instances = 0;
    for (size_t i = 0; i < n; i++) *n_instances += planes[i].instances.n;
    if (n == 1) {
        CollectiveInstance *all = planes[0].instances.items;
        planes[0].instances.items = NULL;
        return all;
    }
    CollectiveInstance *all = prof_buffer(*n_instances * sizeof *all), *at = all;
    if (!all) prof_nomem(err);
    for (size_t i = 0; i < n && all; i++) {
        if (planes[i].instances.n)
            memcpy(at, planes[i].instances.items, planes[i].instances.n * sizeof *all);
        at += planes[i].instances.n;
        prof_free(planes[i].instances.items);
        planes[i].instances.items = NULL;
    }
    return all;
}

static void add_collectives(CollectivesBuilder *m, PlaneInstances *planes, size_t n_planes,
                            ProfErr *err)
{
    size_t n;
    CollectiveInstance *instances = join(planes, n_planes, &n, err);
    if (!err->code && n) sort_array(instances, n, sizeof *instances, by_op);
    for (size_t i = 0, k; i < n && !err->code; i = k) {
        for (k = i + 1;
             k < n && !interrupt_due(2) && !compare_ops(instances[i].op, instances[k].op); k++) {
        }
        add_op(m, &instances[i], k - i, err);
    }
    prof_free(instances);
}

static void *collectives_make(Run *run, Host *only, ProfErr *err)
{
    size_t n = 0;
    CollectivesBuilder m = {.result = prof_alloc(sizeof(Collectives)),
                            .devices = run_devices(run, only, err),
                            .over_hosts = !only || run->n_hosts == 1};
    AsyncPlane *devices = list_async_planes(run, only, &n, err);
    PlaneInstances *planes = prof_alloc((n + 1) * sizeof *planes);
    if (!m.result || !planes) prof_nomem(err);
    for (size_t i = 0; i < n && planes; i++) planes[i].of = devices[i];
    if (!err->code) parallel_for(run->n_workers, n, plane_task, planes, err);
    if (!err->code) add_collectives(&m, planes, n, err);
    for (size_t i = 0; i < n && planes; i++) {
        prof_free(planes[i].instances.items);
        shared_free(&planes[i].of.shared);
    }
    prof_free(planes);
    prof_free(devices);
    if (!err->code && m.result->collectives.n)
        sort_array(m.result->collectives.items, m.result->collectives.n,
                   sizeof *m.result->collectives.items, by_plane);
    if (!err->code) return m.result;
    if (m.result) collectives_release(m.result);
    return NULL;
}

int64_t collective_message_bytes(const Collective *c)
{
    int64_t bytes = c->bytes;
    if (bytes < 0 || !strcmp(c->kind, "ragged-all-to-all")) return -1;
    if (strcmp(c->kind, "all-gather")) return bytes;
    bool known = c->group_size > 0 && !__builtin_mul_overflow(bytes, c->group_size, &bytes);
    return known ? bytes : -1;
}

double collective_bus_factor(const Collective *c)
{
    double n = (double)c->group_size, part = n > 0 ? (n - 1) / n : NAN;
    if (!strcmp(c->kind, "all-reduce")) return 2 * part;
    bool is_shared = !strcmp(c->kind, "all-gather") || !strcmp(c->kind, "reduce-scatter") ||
                     !strcmp(c->kind, "all-to-all");
    return is_shared ? part : 1;
}

const Collectives *run_collectives(Run *run, Host *only, ProfErr *err)
{
    static const Analysis analysis = {collectives_make, collectives_release, NEEDS_ALL_HOSTS};
    return run_analysis(run, only, &analysis, err);
}
