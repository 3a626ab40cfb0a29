// SPDX-License-Identifier: Apache-2.0
/* hlo_groups.c: see hlo_groups.h. */
#include "hlo_groups.h"

/* ---- numbers in a shape, transposed ---- */

static bool is_sound(Iota *iota)
{
    bool used[MAX_GROUP_RANK] = {false};
    iota->count = 1;
    for (int i = 0; i < iota->n; i++) {
        int64_t axis = iota->order[i];
        if (iota->dims[i] <= 0 ||
            __builtin_mul_overflow(iota->count, iota->dims[i], &iota->count) || axis < 0 ||
            axis >= iota->n || used[axis])
            return false;
        used[axis] = true;
    }
    return iota->n > 0;
}

static int64_t iota_number(const Iota *iota, int64_t position)
{
    int64_t index[MAX_GROUP_RANK] = {0}, number = 0;
    for (int i = iota->n; i-- > 0;) {
        int64_t axis = iota->order[i];
        index[axis] = position % iota->dims[axis], position /= iota->dims[axis];
    }
    for (int i = 0; i < iota->n; i++) number = number * iota->dims[i] + index[i];
    return number;
}

static int64_t iota_position(const Iota *iota, int64_t number)
{
    int64_t index[MAX_GROUP_RANK] = {0}, position = 0;
    for (int i = iota->n; i-- > 0;) index[i] = number % iota->dims[i], number /= iota->dims[i];
    for (int i = 0; i < iota->n; i++)
        position = position * iota->dims[iota->order[i]] + index[iota->order[i]];
    return position;
}

/* ---- groups along axes of a mesh ---- */

typedef struct {
    int64_t axis, before, size; /* `before`: the product of the parts of the axis before this one */
    bool grouped;
} AxisPart;
typedef struct {
    const Xla__MeshAxesReplicaGroupListProto *list;
    AxisPart parts[MAX_GROUP_RANK];
    int n;
    /* of the parts that a group runs along */
    int64_t order[MAX_GROUP_RANK], size;
    int n_grouped;
} Mesh;

/* Where the part of an axis that a group runs along begins and ends, as `before` counts. */
static bool range_of(const Mesh *m, const Xla__AxisRefProto *ref, int64_t *from, int64_t *to)
{
    const Xla__AxisRefProto__SubAxis *part = ref->sub_axis_info;
    if (ref->mesh_axis_index < 0 || (uint64_t)ref->mesh_axis_index >= m->list->mesh->n_axes)
        return false;
    *from = part ? part->pre_size : 1;
    *to = part ? 0 : m->list->mesh->axes[ref->mesh_axis_index]->size;
    return !part || !__builtin_mul_overflow(part->pre_size, part->size, to);
}

/* Cuts an axis wherever a part that a group runs along begins or ends. */
static bool cut_axis(Mesh *m, int64_t axis)
{
    int64_t size = m->list->mesh->axes[axis]->size, before = 1, next;
    for (; before < size; before = next) {
        next = size;
        for (size_t i = 0; i < m->list->n_axes; i++) {
            int64_t cut[2];
            if (!range_of(m, m->list->axes[i], &cut[0], &cut[1])) return false;
            if (m->list->axes[i]->mesh_axis_index != axis) continue;
            for (int k = 0; k < 2; k++)
                if (cut[k] > before && cut[k] < next) next = cut[k];
        }
        if (next % before || m->n == MAX_GROUP_RANK) return false;
        m->parts[m->n++] = (AxisPart){axis, before, next / before, false};
    }
    return size > 0;
}

/* Finds the parts that a group runs along, in the order in which it lists them. */
static bool find_grouped(Mesh *m)
{
    m->size = 1;
    for (size_t i = 0; i < m->list->n_axes; i++) {
        int64_t from, to, size = 1;
        if (!range_of(m, m->list->axes[i], &from, &to) || from < 1) return false;
        for (int k = 0; k < m->n; k++) {
            AxisPart *p = &m->parts[k];
            if (p->axis != m->list->axes[i]->mesh_axis_index || p->before < from || p->before >= to)
                continue;
            if (p->grouped) return false;
            p->grouped = true, size *= p->size;
            m->order[m->n_grouped++] = k;
        }
        if (size != to / from || __builtin_mul_overflow(m->size, size, &m->size)) return false;
    }
    return true;
}

static bool read_devices(GroupArray *g, const Xla__MeshProto *mesh)
{
    const Xla__MeshProto__IotaTransform *t = mesh->iota_transform;
    if (!t) {
        g->ids = mesh->n_device_ids ? mesh->device_ids : NULL;
        return !g->ids || (int64_t)mesh->n_device_ids == g->places.count;
    }
    if (t->n_reshape_dims > MAX_GROUP_RANK || t->n_transpose_perm != t->n_reshape_dims)
        return false;
    g->devices.n = (int)t->n_reshape_dims;
    for (int i = 0; i < g->devices.n; i++)
        g->devices.dims[i] = t->reshape_dims[i], g->devices.order[i] = t->transpose_perm[i];
    return is_sound(&g->devices) && g->devices.count == g->places.count;
}

static bool read_mesh(GroupArray *g, const Xla__MeshAxesReplicaGroupListProto *list)
{
    Mesh m = {.list = list};
    if (!list->mesh) return false;
    for (size_t i = 0; i < list->mesh->n_axes; i++)
        if (!cut_axis(&m, (int64_t)i)) return false;
    if (!find_grouped(&m)) return false;
    for (int k = 0; k < m.n; k++) {
        g->places.dims[k] = m.parts[k].size;
        if (!m.parts[k].grouped) g->places.order[g->places.n++] = k;
    }
    for (int k = 0; k < m.n_grouped; k++) g->places.order[g->places.n++] = m.order[k];
    if (!is_sound(&g->places)) return false;
    g->size = m.size, g->n_groups = g->places.count / m.size;
    return read_devices(g, list->mesh);
}

/* ---- rows of numbers ---- */

bool group_array_is_sound(GroupArray *g)
{
    int64_t all;
    return g->n_groups > 0 && g->size > 0 && is_sound(&g->places) &&
           !__builtin_mul_overflow(g->n_groups, g->size, &all) && all == g->places.count;
}

static bool read_rows(GroupArray *g, const Xla__IotaReplicaGroupListProto *list)
{
    if (list->n_iota_reshape_dims > MAX_GROUP_RANK ||
        (list->n_iota_transpose_perm && list->n_iota_transpose_perm != list->n_iota_reshape_dims))
        return false;
    g->n_groups = list->num_replica_groups, g->size = list->num_devices_per_group;
    g->places.n = (int)list->n_iota_reshape_dims;
    for (int i = 0; i < g->places.n; i++) {
        g->places.dims[i] = list->iota_reshape_dims[i];
        g->places.order[i] = list->n_iota_transpose_perm ? list->iota_transpose_perm[i] : i;
    }
    return group_array_is_sound(g);
}

bool group_array_read(GroupArray *g, const Xla__HloInstructionProto *op)
{
    const Xla__HloInstructionRare *rare = op->more->rare;
    const Xla__IotaReplicaGroupListProto *rows = rare->iota_collective_device_list;
    if (!rows && rare->collective_device_list)
        rows = rare->collective_device_list->iota_replica_group_list;
    *g = (GroupArray){0};
    if (rows) return read_rows(g, rows);
    return rare->mesh_axes_replica_group_list && read_mesh(g, rare->mesh_axes_replica_group_list);
}

/* ---- ids ---- */

int64_t group_array_id(const GroupArray *g, int64_t position)
{
    int64_t place = iota_number(&g->places, position);
    if (g->ids) return g->ids[place];
    return g->devices.n ? iota_number(&g->devices, place) : place;
}

/* Returns the place of an id; -1 if there is none. */
static int64_t place_of(const GroupArray *g, int64_t id)
{
    if (!g->ids) {
        if (id < 0 || id >= g->places.count) return -1;
        return g->devices.n ? iota_position(&g->devices, id) : id;
    }
    for (int64_t place = 0; place < g->places.count; place++)
        if (g->ids[place] == id) return place;
    return -1;
}

int64_t group_array_position(const GroupArray *g, int64_t id)
{
    int64_t place = place_of(g, id);
    return place < 0 ? -1 : iota_position(&g->places, place);
}
