// SPDX-License-Identifier: Apache-2.0
/* hlo_sharding.c: writes shardings and groups of devices as in HLO text.
 *
 *   {replicated}  {maximal device=1}  {devices=[2,4]<=[8] last_tile_dim_replicate}
 *   {{replicated}, {manual}}  {mesh['a'=2,'b'=4], [{'a'}, {?}], replicated={'b'}}
 *   {{0,1},{2,3}}  [4,2]<=[2,4]T(1,0)  mesh['a'=2] {'a'}
 *
 * XLA normalizes shardings before it stores them. One that is not normalized is written as it is
 * stored. */
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

static void write_named(TextBuffer *out, const Xla__NamedShardingProto *s)
{
    static const char *const reductions[] = {", unreduced=", ", unreduced=max", ", unreduced=min"};
    text_add_char(out, '{');
    write_mesh(out, s->mesh);
    if (!s->n_dim_shardings && !s->n_replicated_axes && !s->n_unreduced_axes && !s->n_manual_axes) {
        text_add(out, ", replicated}");
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
    int reduction =
        s->reduction_op >= 0 && s->reduction_op < (int)COUNT(reductions) ? s->reduction_op : 0;
    write_axes_of(out, reductions[reduction], s->mesh, s->unreduced_axes, s->n_unreduced_axes);
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

void hlo_write_replica_groups(TextBuffer *out, const Xla__HloInstructionProto *op)
{
    text_add(out, ", replica_groups=");
    const Xla__IotaReplicaGroupListProto *iota = op->more->rare->iota_collective_device_list;
    const Xla__MeshAxesReplicaGroupListProto *mesh = op->more->rare->mesh_axes_replica_group_list;
    if (iota) {
        text_add_format(out, "[%lld,%lld]", (long long)iota->num_replica_groups,
                        (long long)iota->num_devices_per_group);
        write_iota(out, iota->iota_reshape_dims, iota->n_iota_reshape_dims,
                   iota->iota_transpose_perm, iota->n_iota_transpose_perm);
        return;
    }
    if (mesh) {
        write_mesh(out, mesh->mesh);
        text_add(out, " {");
        write_axes(out, mesh->mesh, mesh->axes, mesh->n_axes, ",");
        text_add_char(out, '}');
        return;
    }
    const Xla__CollectiveDeviceListProto *list =
        op->more->rare->n_replica_groups
            ? NULL
            : op->more->rare->collective_device_list; /* the older field counts first */
    Xla__ReplicaGroup *const *groups = list ? list->replica_groups : op->more->rare->replica_groups;
    size_t n = list ? list->n_replica_groups : op->more->rare->n_replica_groups;
    text_add_char(out, '{');
    for (size_t i = 0; i < n; i++) {
        text_add(out, i ? ",{" : "{");
        hlo_write_integers(out, groups[i]->replica_ids, groups[i]->n_replica_ids);
        text_add_char(out, '}');
    }
    text_add_char(out, '}');
}
