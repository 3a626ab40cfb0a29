// SPDX-License-Identifier: Apache-2.0
/* collective_groups.c: finds which devices exchange data in a collective; see collective_groups.h.
 */
#include "collective_groups.h"

#include "../program/instruction_text.h"

static bool add_entry(CollectiveGroups *g, int64_t id, int64_t other)
{
    GroupEntry *entry = PUSH(g->entries);
    if (entry) *entry = (GroupEntry){id, other};
    return entry != NULL;
}

/* Returns what the ids in an instruction's groups are, by XLA's rules. */
static enum GroupIds ids_of(const char *kind, bool has_channel, bool is_global)
{
    bool reduces = !strcmp(kind, "all-reduce") || !strcmp(kind, "all-gather") ||
                   !strcmp(kind, "reduce-scatter");
    if (!has_channel) return IDS_REPLICA;
    if (!reduces) return IDS_PARTITION;
    return is_global ? IDS_DEVICE : IDS_REPLICA_AND_PARTITIONS;
}

static void set_array(CollectiveGroups *g, bool is_sound)
{
    g->form = is_sound ? GROUPS_ARRAY : GROUPS_UNKNOWN, g->size = is_sound ? g->array.size : 0;
}

/* ---- from an instruction ---- */

static bool add_groups(CollectiveGroups *g, Xla__ReplicaGroup *const *groups, size_t n)
{
    g->form = GROUPS_LIST, g->size = n ? (int64_t)groups[0]->n_replica_ids : 0;
    for (size_t i = 0; i < n; i++) {
        if ((int64_t)groups[i]->n_replica_ids != g->size) g->size = 0;
        for (size_t k = 0; k < groups[i]->n_replica_ids; k++)
            if (!add_entry(g, groups[i]->replica_ids[k], (int64_t)i)) return false;
    }
    return true;
}

bool groups_read(CollectiveGroups *g, const HloModule *module, const Xla__HloInstructionProto *i,
                 const char *kind)
{
    const Xla__CollectiveDeviceListProto *list = i->more->rare->collective_device_list;
    *g = (CollectiveGroups){
        .ids = ids_of(kind, i->more->rare->channel_id > 0, i->more->rare->use_global_device_ids),
        .assignment = module->proto->hlo_module->device_assignment};
    if (!strcmp(kind, "collective-permute")) {
        g->form = GROUPS_PAIRS;
        for (size_t k = 0; k < i->more->rare->n_source_target_pairs; k++)
            if (!add_entry(g, i->more->rare->source_target_pairs[k]->source,
                           i->more->rare->source_target_pairs[k]->target))
                return false;
        return true;
    }
    if (i->more->rare->n_replica_groups)
        return add_groups(g, i->more->rare->replica_groups, i->more->rare->n_replica_groups);
    if (list && list->n_replica_groups)
        return add_groups(g, list->replica_groups, list->n_replica_groups);
    if (i->more->rare->iota_collective_device_list || i->more->rare->mesh_axes_replica_group_list ||
        (list && list->iota_replica_group_list))
        set_array(g, group_array_read(&g->array, i));
    else
        g->form = GROUPS_ALL;
    return true;
}

/* ---- from text ---- */

/* Reads the next number of a text and moves *at after it. */
static bool next_number(const char **at, const char *end, int64_t *number)
{
    const char *p = *at, *start;
    while (p < end && (*p < '0' || *p > '9')) p++;
    for (start = p; p < end && *p >= '0' && *p <= '9';) p++;
    *at = p;
    return p > start && p - start < 19 &&
           slice_integer((Slice){start, (size_t)(p - start)}, number);
}

/* "{{0,1},{2,3}}" */
static bool read_list(CollectiveGroups *g, Slice text)
{
    int64_t group = -1, n = 0, number;
    bool equal = true;
    for (const char *at = text.text + 1, *end = text.text + text.n; at < end;) {
        if (*at == '{') group++, n = 0;
        if (*at == '}' && !group) g->size = n;
        /* the list itself ends with a second brace, which must change nothing */
        if (*at == '}') equal &= n == g->size, n = g->size;
        if (*at < '0' || *at > '9') {
            at++;
            continue;
        }
        if (!next_number(&at, end, &number)) break;
        if (!add_entry(g, number, group)) return false;
        n++;
    }
    if (!equal) g->size = 0;
    g->form = g->entries.n ? GROUPS_LIST : GROUPS_ALL;
    return true;
}

/* "{{0,1},{1,0}}" */
static bool read_pairs(CollectiveGroups *g, Slice text)
{
    int64_t source, target;
    const char *at = text.text, *end = at + text.n;
    g->form = GROUPS_PAIRS;
    while (next_number(&at, end, &source) && next_number(&at, end, &target))
        if (!add_entry(g, source, target)) return false;
    return true;
}

/* "[4,2]<=[2,4]T(1,0)" */
static void read_iota_text(CollectiveGroups *g, Slice text)
{
    const char *end = text.text + text.n, *arrow = memchr(text.text, '<', text.n), *at = text.text;
    const char *transposed = arrow ? memchr(arrow, 'T', (size_t)(end - arrow)) : NULL;
    int64_t number;
    Iota *rows = &g->array.places;
    if (!arrow || !next_number(&at, arrow, &g->array.n_groups) ||
        !next_number(&at, arrow, &g->array.size))
        return;
    for (at = arrow; next_number(&at, transposed ? transposed : end, &number);) {
        if (rows->n == MAX_GROUP_RANK) return;
        rows->order[rows->n] = transposed ? -1 : rows->n, rows->dims[rows->n++] = number;
    }
    at = transposed;
    for (int i = 0; transposed && i < rows->n && next_number(&at, end, &number); i++)
        rows->order[i] = number;
    set_array(g, group_array_is_sound(&g->array));
}

bool groups_read_text(CollectiveGroups *g, Slice text, const char *kind)
{
    Slice groups = instruction_attribute(text, "replica_groups"),
          pairs = instruction_attribute(text, "source_target_pairs");
    bool is_global = slice_is(instruction_attribute(text, "use_global_device_ids"), "true");
    *g = (CollectiveGroups){
        .ids = ids_of(kind, instruction_attribute(text, "channel_id").n > 0, is_global)};
    if (pairs.n) return read_pairs(g, pairs);
    if (groups.n && *groups.text == '{') return read_list(g, groups);
    if (groups.n && *groups.text == '[') read_iota_text(g, groups);
    return true;
}

void groups_free(CollectiveGroups *g) { prof_free(g->entries.items); }

/* ---- devices ---- */

static int64_t group_of(const CollectiveGroups *g, int64_t id)
{
    if (g->form == GROUPS_ALL) return 0;
    if (g->form == GROUPS_ARRAY) {
        int64_t position = group_array_position(&g->array, id);
        return position < 0 ? -1 : position / g->array.size;
    }
    for (size_t i = 0; i < g->entries.n; i++) {
        const GroupEntry *e = &g->entries.items[i];
        if (e->id == id || (g->form == GROUPS_PAIRS && e->other == id))
            return g->form == GROUPS_PAIRS ? 0 : e->other;
    }
    return -1;
}

GroupPlace groups_place(const CollectiveGroups *g, int64_t device_id)
{
    GroupPlace place = {.id = device_id};
    const Xla__DeviceAssignmentProto *a = g->assignment;
    if (g->form == GROUPS_ALL && !a) return (GroupPlace){.known = true};
    if (device_id < 0 || g->form == GROUPS_UNKNOWN) return place;
    bool found = !a;
    for (size_t p = 0; a && p < a->n_computation_devices && !found; p++)
        for (size_t r = 0; r < a->computation_devices[p]->n_replica_device_ids && !found; r++) {
            if (a->computation_devices[p]->replica_device_ids[r] != device_id) continue;
            int64_t replica = (int64_t)r, partition = (int64_t)p;
            found = true;
            place.id = g->ids == IDS_PARTITION ? partition : replica;
            if (g->ids == IDS_DEVICE)
                place.id = replica * (int64_t)a->n_computation_devices + partition;
            if (g->ids == IDS_PARTITION) place.apart = replica;
            if (g->ids == IDS_REPLICA) place.apart = partition;
        }
    place.group = found ? group_of(g, place.id) : -1;
    place.known = place.group >= 0;
    return place;
}

int64_t groups_size(const CollectiveGroups *g)
{
    const Xla__DeviceAssignmentProto *a = g->assignment;
    int64_t partitions = a ? (int64_t)a->n_computation_devices : 0,
            replicas = partitions ? (int64_t)a->computation_devices[0]->n_replica_device_ids : 0,
            size;
    bool all = g->form == GROUPS_ALL;
    switch (g->ids) {
    case IDS_REPLICA: return all ? replicas : g->size;
    case IDS_PARTITION: return all ? partitions : g->size;
    case IDS_REPLICA_AND_PARTITIONS:
        if (all) return replicas * partitions;
        return __builtin_mul_overflow(g->size, a ? partitions : 1, &size) ? 0 : size;
    default: return all ? replicas * partitions : g->size;
    }
}

int64_t groups_device_count(const CollectiveGroups *g)
{
    int64_t n = 0;
    const Xla__DeviceAssignmentProto *a = g->assignment;
    for (size_t p = 0; a && p < a->n_computation_devices; p++)
        n += (int64_t)a->computation_devices[p]->n_replica_device_ids;
    for (size_t i = 0; !a && i < g->entries.n; i++) {
        if (g->entries.items[i].id >= n) n = add_saturated(g->entries.items[i].id, 1);
        if (g->form == GROUPS_PAIRS && g->entries.items[i].other >= n)
            n = add_saturated(g->entries.items[i].other, 1);
    }
    return a || g->form != GROUPS_ARRAY ? n : g->array.places.count;
}
