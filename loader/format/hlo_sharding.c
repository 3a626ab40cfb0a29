// SPDX-License-Identifier: Apache-2.0
/* hlo_sharding.c: writes shardings and groups of devices as in HLO text.
 *
 *   {replicated}  {maximal device=1}  {devices=[2,4]<=[8] last_tile_dim_replicate}
 *   {{replicated}, {manual}}  {mesh['a'=2,'b'=4], [{'a'}, {?}], replicated={'b'}}
 *   {single_device[device_id=1]}  {mesh['a'=2], unreduced=max}
 *   {{0,1},{2,3}}  [4,2]<=[2,4]T(1,0)  mesh['a'=2] {'a'}
 *
 * XLA normalizes shardings before it stores them. One that is not normalized is written as it is
 * stored. */
#include "hlo_groups.h"
#include "hlo_writer.h"

enum { SHARDING_REPLICATED, SHARDING_MAXIMAL, SHARDING_TUPLE, SHARDING_OTHER };

void hlo_write_integers(TextBuffer *out, const int64_t *values, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (i) text_add_char(out, ',');
        text_add_integer(out, values[i]);
    }
}

/* Appends "<=[2,4]T(1,0)": 0, 1, 2 ... in the shape [2,4], transposed. */
static void write_iota(TextBuffer *out, const int64_t *reshape, size_t n_reshape,
                       const int32_t *transpose, size_t n_transpose)
{
    text_add(out, "<=[");
    hlo_write_integers(out, reshape, n_reshape);
    text_add_char(out, ']');
    if (n_reshape < 2) return;
    text_add(out, "T(");
    for (size_t i = 0; i < n_transpose; i++) text_add_format(out, i ? ",%d" : "%d", transpose[i]);
    text_add_char(out, ')');
}

/* ---- meshes ---- */

static void write_mesh(TextBuffer *out, const Xla__MeshProto *mesh)
{
    text_add(out, "mesh[");
    for (size_t i = 0; mesh && i < mesh->n_axes; i++) {
        text_add(out, i ? ",'" : "'");
        text_add(out, mesh->axes[i]->name);
        text_add_format(out, "'=%lld", (long long)mesh->axes[i]->size);
    }
    text_add_char(out, ']');
    if (!mesh || (!mesh->iota_transform && !mesh->n_device_ids)) return;
    text_add(out, ", device_ids=(");
    if (mesh->iota_transform) {
        text_add_char(out, '[');
        hlo_write_integers(out, mesh->iota_transform->reshape_dims,
                           mesh->iota_transform->n_reshape_dims);
        text_add(out, "]T(");
        hlo_write_integers(out, mesh->iota_transform->transpose_perm,
                           mesh->iota_transform->n_transpose_perm);
        text_add_char(out, ')');
    } else {
        hlo_write_integers(out, mesh->device_ids, mesh->n_device_ids);
    }
    text_add_char(out, ')');
}

/* Appends an axis "'a'", or a part of one "'a':(2)4". */
static void write_axis(TextBuffer *out, const Xla__MeshProto *mesh, const Xla__AxisRefProto *axis)
{
    int64_t i = axis->mesh_axis_index;
    text_add_char(out, '\'');
    if (mesh && i >= 0 && (uint64_t)i < mesh->n_axes) text_add(out, mesh->axes[i]->name);
    text_add_char(out, '\'');
    const Xla__AxisRefProto__SubAxis *part = axis->sub_axis_info;
    if (part) text_add_format(out, ":(%lld)%lld", (long long)part->pre_size, (long long)part->size);
}

static void write_axes(TextBuffer *out, const Xla__MeshProto *mesh, Xla__AxisRefProto *const *axes,
                       size_t n, const char *between)
{
    for (size_t i = 0; i < n; i++) {
        if (i) text_add(out, between);
        write_axis(out, mesh, axes[i]);
    }
}

static void write_axes_of(TextBuffer *out, const char *what, const Xla__MeshProto *mesh,
                          Xla__AxisRefProto *const *axes, size_t n)
{
    if (!n) return;
    text_add(out, what);
    text_add_char(out, '{');
    write_axes(out, mesh, axes, n, ", ");
    text_add_char(out, '}');
}

/* ", unreduced=max" and the like. */
static const char *reduction_of(const Xla__NamedShardingProto *s, bool whole)
{
    static const char *const parts[] = {", unreduced=", ", unreduced=max", ", unreduced=min"};
    int i = s->reduction_op >= 0 && s->reduction_op < (int)COUNT(parts) ? s->reduction_op : 0;
    return whole && !i ? ", unreduced" : parts[i];
}

/* Whether the axes are all those of the mesh, and none of them only in part. */
static bool is_whole_mesh(const Xla__MeshProto *mesh, Xla__AxisRefProto *const *axes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (axes[i]->sub_axis_info) return false;
    return mesh && n > 0 && n == mesh->n_axes;
}

/* What a sharding is called that treats the whole mesh alike; NULL for others. */
static const char *name_of_whole(const Xla__NamedShardingProto *s)
{
    if (s->n_dim_shardings || s->n_replicated_axes) return NULL;
    if (!s->n_unreduced_axes && !s->n_manual_axes) return ", replicated";
    if (!s->n_manual_axes && is_whole_mesh(s->mesh, s->unreduced_axes, s->n_unreduced_axes))
        return reduction_of(s, true);
    if (!s->n_unreduced_axes && is_whole_mesh(s->mesh, s->manual_axes, s->n_manual_axes))
        return ", manual";
    return NULL;
}

static void write_named(TextBuffer *out, const Xla__NamedShardingProto *s)
{
    if (s->mesh && !s->mesh->n_axes && s->mesh->n_device_ids) {
        text_add_format(out, "{single_device[device_id=%lld]}", (long long)s->mesh->device_ids[0]);
        return;
    }
    text_add_char(out, '{');
    write_mesh(out, s->mesh);
    const char *whole = name_of_whole(s);
    if (whole) {
        text_add(out, whole);
        text_add_char(out, '}');
        return;
    }
    text_add(out, ", [");
    for (size_t i = 0; i < s->n_dim_shardings; i++) {
        const Xla__NamedShardingProto__DimensionSharding *d = s->dim_shardings[i];
        text_add(out, i ? ", {" : "{");
        write_axes(out, s->mesh, d->axes, d->n_axes, ", ");
        if (!d->is_closed) text_add(out, d->n_axes ? ", ?" : "?");
        text_add_char(out, '}');
    }
    text_add_char(out, ']');
    write_axes_of(out, ", replicated=", s->mesh, s->replicated_axes, s->n_replicated_axes);
    write_axes_of(out, reduction_of(s, false), s->mesh, s->unreduced_axes, s->n_unreduced_axes);
    write_axes_of(out, ", manual=", s->mesh, s->manual_axes, s->n_manual_axes);
    text_add_char(out, '}');
}

/* ---- shardings ---- */

static const char *sharding_name(int type)
{
    static const char *const names[] = {"replicated", "maximal", "tuple",    "other",
                                        "manual",     "unknown", "unreduced"};
    return type >= 0 && type < (int)COUNT(names) ? names[type] : "unknown";
}

static void write_tiles(TextBuffer *out, const Xla__OpSharding *s)
{
    text_add(out, "devices=[");
    hlo_write_integers(out, s->tile_assignment_dimensions, s->n_tile_assignment_dimensions);
    text_add_char(out, ']');
    if (s->n_iota_reshape_dims)
        write_iota(out, s->iota_reshape_dims, s->n_iota_reshape_dims, s->iota_transpose_perm,
                   s->n_iota_transpose_perm);
    else
        hlo_write_integers(out, s->tile_assignment_devices, s->n_tile_assignment_devices);
    if (s->replicate_on_last_tile_dim ||
        (s->n_last_tile_dims == 1 && s->last_tile_dims[0] == SHARDING_REPLICATED)) {
        text_add(out, " last_tile_dim_replicate");
        return;
    }
    if (!s->n_last_tile_dims) return;
    text_add(out, " last_tile_dims={");
    for (size_t i = 0; i < s->n_last_tile_dims; i++) {
        if (i) text_add(out, ", ");
        text_add(out, sharding_name(s->last_tile_dims[i]));
    }
    text_add_char(out, '}');
}

void hlo_write_sharding(TextBuffer *out, const Xla__OpSharding *s)
{
    if (s->named_sharding) {
        write_named(out, s->named_sharding);
        return;
    }
    text_add_char(out, '{');
    if (s->type == SHARDING_TUPLE) {
        for (size_t i = 0; i < s->n_tuple_shardings; i++) {
            if (i) text_add(out, ", ");
            if (i && i % 5 == 0) text_add_format(out, "/*index=%zu*/", i);
            hlo_write_sharding(out, s->tuple_shardings[i]);
        }
    } else if (s->type == SHARDING_MAXIMAL) {
        text_add_format(out, "maximal device=%lld",
                        s->n_tile_assignment_devices ? (long long)s->tile_assignment_devices[0]
                                                     : 0);
    } else if (s->type == SHARDING_OTHER) {
        write_tiles(out, s);
    } else {
        text_add(out, sharding_name(s->type));
    }
    if (s->is_shard_group)
        text_add_format(out, " shard_%s %lld", s->shard_group_type ? "like" : "as",
                        (long long)s->shard_group_id);
    text_add_char(out, '}');
}

/* ---- groups of replicas ---- */

static void write_array(TextBuffer *out, const GroupArray *groups)
{
    for (int64_t i = 0; i < groups->places.count && !out->cut && !out->no_memory; i++) {
        if (i % groups->size)
            text_add(out, ",");
        else
            text_add(out, i ? "},{" : "{{");
        text_add_integer(out, group_array_id(groups, i));
    }
    text_add(out, "}}");
}

static void write_list(TextBuffer *out, Xla__ReplicaGroup *const *groups, size_t n)
{
    text_add_char(out, '{');
    for (size_t i = 0; i < n; i++) {
        text_add(out, i ? ",{" : "{");
        hlo_write_integers(out, groups[i]->replica_ids, groups[i]->n_replica_ids);
        text_add_char(out, '}');
    }
    text_add_char(out, '}');
}

void hlo_write_replica_groups(const HloWriter *w, const Xla__HloInstructionProto *op)
{
    const Xla__HloInstructionRare *rare = op->more->rare;
    const Xla__IotaReplicaGroupListProto *rows = rare->iota_collective_device_list;
    const Xla__MeshAxesReplicaGroupListProto *mesh = rare->mesh_axes_replica_group_list;
    const Xla__CollectiveDeviceListProto *list =
        rare->n_replica_groups ? NULL : rare->collective_device_list; /* the older field counts */
    GroupArray array;
    text_add(w->out, ", replica_groups=");
    if (w->canonical && (rows || mesh) && group_array_read(&array, op)) {
        write_array(w->out, &array);
    } else if (rows) {
        text_add_format(w->out, "[%lld,%lld]", (long long)rows->num_replica_groups,
                        (long long)rows->num_devices_per_group);
        write_iota(w->out, rows->iota_reshape_dims, rows->n_iota_reshape_dims,
                   rows->iota_transpose_perm, rows->n_iota_transpose_perm);
    } else if (mesh) {
        write_mesh(w->out, mesh->mesh);
        text_add(w->out, " {");
        write_axes(w->out, mesh->mesh, mesh->axes, mesh->n_axes, ",");
        text_add_char(w->out, '}');
    } else {
        write_list(w->out, list ? list->replica_groups : rare->replica_groups,
                   list ? list->n_replica_groups : rare->n_replica_groups);
    }
}
