// SPDX-License-Identifier: Apache-2.0
/* op_profile.c: builds the op profile tree; see op_profile.h.
 *
 * The result depends on XProf's order of steps: ops are added in the order of the database; the
 * children of each node are counted, sorted by a partial sort, which moves equal children, and
 * pruned; then groups of duplicates get names. Because a profile's texts may nest without limit,
 * the tree has at most MOST_SCOPES levels of provenance. Fused ops nest in at most 64 levels
 * (fused_ops.c, op_metadata.c). */
#define _GNU_SOURCE
#include "op_profile.h"

#include "../../format/hlo.h"
#include "../../base/list.h"
#include "../../base/std_sort.h"

const char *const profile_kind_names[] = {"root",     "program",    "provenance",
                                          "category", "duplicates", "op"};

enum { MOST_SCOPES = 500 };

typedef struct {
    OpProfile *profile;
    const ProfileOptions *options;
    Run *run;
    Host *only;
    ProfErr *err;
    size_t n_nodes, most_nodes;
    LIST(ProfileNode *) children; /* created by child() */
    HashTable by_key;             /* of `children`: by parent, kind, and name or program */
} Builder;

/* ---- nodes ---- */

/* Returns how many nodes take twice the size of the files and 64 MB. Two bytes of a scope can be a
 * node. */
static size_t most_nodes(const Run *run)
{
    enum { FLOOR_BYTES = 64 << 20, BYTES_IN_LISTS = 32 };
    return (size_t)(2 * run->size_bytes + FLOOR_BYTES) / (sizeof(ProfileNode) + BYTES_IN_LISTS);
}

static ProfileNode *new_node(Builder *b, ProfileNode *parent, enum ProfileKind kind, Slice name)
{
    if (b->n_nodes == b->most_nodes) {
        prof_fail(b->err, PROF_FORMAT, 0,
                  "%s: its op profile has more than %zu nodes; is it the right file?", b->run->path,
                  b->most_nodes);
        return NULL;
    }
    ProfileNode *node = arena_alloc(&b->profile->arena, sizeof *node);
    if (!node) {
        prof_nomem(b->err);
        return NULL;
    }
    *node = (ProfileNode){.parent = parent, .kind = kind, .name = name};
    b->n_nodes++;
    if (!parent) return node;
    if (parent->last_added)
        parent->last_added->next = node;
    else
        parent->first_added = node;
    parent->last_added = node, parent->n_added++;
    return node;
}

static uint64_t node_hash(const ProfileNode *parent, enum ProfileKind kind, Slice name,
                          uint64_t program_id)
{
    uint64_t h = hash64((uint64_t)(uintptr_t)parent + (uint64_t)kind);
    return hash64(hash64(h ^ program_id) ^ text_hash(name.text, name.n));
}

/* Returns the child of a kind and name, created if it is missing. NULL with err set. */
static ProfileNode *child(Builder *b, ProfileNode *parent, enum ProfileKind kind, Slice name,
                          uint64_t program_id)
{
    if (!parent) return NULL;
    uint64_t hash = node_hash(parent, kind, name, program_id);
    HASH_EACH(i, &b->by_key, hash) {
        ProfileNode *n = b->children.items[i];
        if (n->parent == parent && n->kind == kind && n->program_id == program_id &&
            n->name.n == name.n && !memcmp(n->name.text, name.text, name.n))
            return n;
    }
    ProfileNode *node = new_node(b, parent, kind, name);
    if (!node) return NULL;
    ProfileNode **place = PUSH_KEYED(b->children, &b->by_key, hash);
    if (!place) {
        prof_nomem(b->err);
        return NULL;
    }
    node->program_id = program_id;
    return *place = node;
}

/* ---- sums ---- */

static void add_memory(ProfileNode *node, const OpMetrics *op)
{
    for (size_t i = 0; i < op->n_memory; i++) {
        const MemoryAccess *m = &op->memory[i];
        bool hbm = m->space == SPACE_HBM;
        if (m->operation == MEMORY_READ)
            *(hbm ? &node->hbm_read_bytes : &node->chip_read_bytes) += m->bytes;
        if (m->operation == MEMORY_WRITE)
            *(hbm ? &node->hbm_write_bytes : &node->chip_write_bytes) += m->bytes;
    }
}

static void add_work(ProfileNode *node, const OpMetrics *op)
{
    node->flops += op->flops, node->model_flops += op->model_flops;
    add_memory(node, op);
}

/* Adds an op to the root, a program or a scope: its self time and, unless its children have it, its
 * work. */
static void add_self(ProfileNode *node, const OpMetrics *op)
{
    node->time_ps += op->self_ps, node->self_ps += op->self_ps,
        node->normalized_ps += op->normalized_ps;
    if (!op_children_ps(op)) add_work(node, op);
}

/* Adds an op to a category, a group of duplicates or an op. */
static void add_whole(ProfileNode *node, const OpMetrics *op)
{
    node->time_ps += op->time_ps, node->self_ps += op->self_ps,
        node->normalized_ps += op->normalized_ps, node->occurrences += op->occurrences;
    add_work(node, op);
}

/* ---- adding ops ---- */

/* Returns the program of the first host that has it. NULL if none has, or with err set. */
static const HloProgram *first_program(Builder *b, uint64_t program_id)
{
    const HloProgram *program = NULL;
    for (size_t h = 0; h < b->run->n_hosts && !program && !b->err->code; h++) {
        Host *host = &b->run->hosts[h];
        if (!host->readable || (b->only && host != b->only)) continue;
        program = hlo_find_program(host, program_id, b->err);
    }
    return program;
}

/* Returns "module(program id)" of the first host that has the program. */
static Slice program_name(Builder *b, uint64_t program_id)
{
    static const Slice unknown = {"main", 4};
    const HloProgram *program = first_program(b, program_id);
    if (!program) return unknown;
    const Text *name = program->name;
    char *joined = arena_alloc(&b->profile->arena, name->n_bytes + 24);
    if (!joined) {
        prof_nomem(b->err);
        return unknown;
    }
    memcpy(joined, name->text, name->n_bytes);
    char digits[24], *at = digits + sizeof digits;
    *--at = ')';
    do *--at = (char)('0' + program_id % 10);
    while (program_id /= 10);
    *--at = '(';
    size_t n = (size_t)(digits + sizeof digits - at);
    memcpy(joined + name->n_bytes, at, n);
    return (Slice){joined, name->n_bytes + n};
}

/* Returns the node for a provenance: a level for each part of "a/b/c:type" between slashes. */
static ProfileNode *provenance_node(Builder *b, ProfileNode *at, const OpMetrics *op)
{
    Slice rest = slice_of(op->provenance);
    while (rest.n && rest.text[rest.n - 1] == '/') rest.n--;
    for (unsigned level = 0; at && rest.n; level++) {
        const char *slash = level + 1 < MOST_SCOPES ? memchr(rest.text, '/', rest.n) : NULL;
        Slice part = {rest.text, slash ? (size_t)(slash - rest.text) : rest.n};
        rest = slash ? (Slice){slash + 1, rest.n - part.n - 1} : (Slice){rest.text, 0};
        if (!part.n) continue;
        const char *colon = slash ? NULL : memchr(part.text, ':', part.n);
        if (colon)
            part.n =
                (size_t)(colon -
                         part.text); /* ":XLA_Args" becomes a scope without a name, as in XProf */
        at = child(b, at, PROFILE_PROVENANCE, part, 0);
        if (at) add_self(at, op);
    }
    return at;
}

static void add_op_node(Builder *b, ProfileNode *parent, const OpMetrics *op)
{
    ProfileNode *node =
        parent && !b->err->code ? new_node(b, parent, PROFILE_OP, slice_of(op->name)) : NULL;
    if (!node) return;
    node->op = op;
    add_whole(node, op);
    for (size_t i = 0; op->children && i < op->children->n_ops; i++)
        add_op_node(b, node, &op->children->ops[i]);
}

static bool has_sparsecore_child(const OpMetrics *op)
{
    for (size_t i = 0; op->children && i < op->children->n_ops; i++)
        if (op->children->ops[i].core_type == CORE_SPARSECORE) return true;
    return false;
}

static void add_op(Builder *b, ProfileNode *root, const OpMetrics *op)
{
    ProfileNode *at = root;
    bool idle = op_is_idle(op);
    add_self(root, op);
    if (b->options->group != PROFILE_BY_CATEGORY && !idle) {
        at = child(b, root, PROFILE_PROGRAM, (Slice){"", 0},
                   op->program_id); /* gets its name at the end, because the index is by id */
        if (!at) return;
        add_self(at, op);
    }
    if (op_children_ps(op) && !has_sparsecore_child(op)) return;
    if (idle) {
        add_op_node(b, root, op);
        return;
    }
    if (b->options->group == PROFILE_BY_PROVENANCE) at = provenance_node(b, at, op);
    if ((at = child(b, at, PROFILE_CATEGORY, slice_of(op->category), 0))) add_whole(at, op);
    if ((at =
             child(b, at, PROFILE_DUPLICATES,
                   slice_of(op->deduplicated_name->n_bytes ? op->deduplicated_name : op->name), 0)))
        add_whole(at, op);
    add_op_node(b, at, op);
}

/* ---- the children of a node, sorted and pruned ---- */

static bool more_time(const void *a, const void *b)
{
    return (double)((const ProfileNode *)a)->time_ps > (double)((const ProfileNode *)b)->time_ps;
}
static bool more_flops(const void *a, const void *b)
{
    return ((const ProfileNode *)a)->model_flops > ((const ProfileNode *)b)->model_flops;
}

static void list_children(Builder *b, ProfileNode *node)
{
    node->children = arena_alloc(&b->profile->arena, node->n_added * sizeof *node->children);
    if (!node->children) {
        prof_nomem(b->err);
        return;
    }
    for (ProfileNode *c = node->first_added; c; c = c->next) node->children[node->n_children++] = c;
}

/* level: above 0, all children are kept. */
static void sort_and_prune(Builder *b, ProfileNode *node, int level)
{
    if (node->n_added) list_children(b, node);
    if (b->err->code) return;
    node->num_children = node->n_children;
    for (size_t i = 0; i < node->n_children; i++) sort_and_prune(b, node->children[i], level - 1);
    bool all = level > 0 || !b->options->n_children || node->n_children <= b->options->n_children;
    bool fusion = node->op && slice_ends(slice_of(node->op->category), " fusion");
    size_t kept = all ? node->n_children : (size_t)b->options->n_children;
    std_partial_sort((void **)node->children, node->n_children, kept,
                     fusion ? more_flops : more_time);
    node->n_children = kept;
}

/* ---- groups of duplicates ---- */

static void replace_by_child(ProfileNode *node, ProfileNode *only_child)
{
    ProfileNode *parent = node->parent;
    *node = *only_child;
    node->parent = parent;
    for (size_t i = 0; i < node->n_children; i++) node->children[i]->parent = node;
}

/* Names groups, from the root down: a node with nothing but ops below it is a group of duplicates
 * or, if there is only one, that op. */
static void name_groups(ProfileNode *node)
{
    size_t n_ops = 0;
    for (size_t i = 0; i < node->n_children; i++) n_ops += node->children[i]->op != NULL;
    if (node->op || !node->n_children || n_ops < node->n_children) {
        for (size_t i = 0; i < node->n_children; i++) name_groups(node->children[i]);
    } else if (n_ops == 1) {
        replace_by_child(node, node->children[0]);
    } else {
        node->kind = PROFILE_DUPLICATES;
        node->name = node->children[0]->name, node->op = node->children[0]->op;
    }
}

/* ---- the tree ---- */

static void number(OpProfile *profile, ProfileNode *node, unsigned depth)
{
    node->depth = depth, node->place = profile->n_nodes;
    profile->nodes[profile->n_nodes++] = node;
    for (size_t i = 0; i < node->n_children; i++) number(profile, node->children[i], depth + 1);
}

static void build(Builder *b, const OpStats *stats)
{
    static const Slice root_names[] = {
        {"by_program", 10}, {"by_category", 11}, {"by_provenance", 13}};
    static const int kept_levels[] = {2, 1, 100};
    const OpMetricsDb *db = &stats->device;
    ProfileNode *root = new_node(b, NULL, PROFILE_ROOT, root_names[b->options->group]);
    for (size_t i = 0; root && i < db->n_ops && !b->err->code; i++) {
        const OpMetrics *op = &db->ops[i];
        if (slice_starts(slice_of(op->name), "region") ||
            (op_is_idle(op) && !b->options->include_idle))
            continue;
        add_op(b, root, op);
    }
    if (!root || b->err->code) return;
    for (ProfileNode *n = root->first_added; n && !b->err->code; n = n->next)
        if (n->kind == PROFILE_PROGRAM) n->name = program_name(b, n->program_id);
    root->time_ps = b->profile->total_ps =
        b->options->include_idle ? db->total_ps : db->total_op_ps;
    sort_and_prune(b, root, kept_levels[b->options->group]);
    b->profile->nodes = arena_alloc(&b->profile->arena, b->n_nodes * sizeof *b->profile->nodes);
    if (!b->profile->nodes) prof_nomem(b->err);
    if (b->err->code) return;
    name_groups(root);
    number(b->profile, root, 0);
}

OpProfile *op_profile_make(Run *run, Host *only, const ProfileOptions *options, ProfErr *err)
{
    const OpStats *stats = run_op_stats(run, only, err);
    const DeviceCapabilities *devices = stats ? run_devices(run, only, err) : NULL;
    OpProfile *profile = devices ? prof_alloc(sizeof *profile) : NULL;
    if (!profile) {
        prof_nomem(err);
        return NULL;
    }
    profile->peak_gflops = peak_gflops(devices);
    for (int i = 0; i < 3; i++) profile->peak_gibps[i] = peak_gibps(devices, (enum Memory)i);
    Builder b = {.profile = profile,
                 .options = options,
                 .run = run,
                 .only = only,
                 .err = err,
                 .most_nodes = most_nodes(run)};
    build(&b, stats);
    prof_free(b.children.items);
    hash_free(&b.by_key);
    if (err->code) {
        op_profile_free(profile);
        return NULL;
    }
    return profile;
}

void op_profile_free(void *profile)
{
    if (!profile) return;
    arena_free(&((OpProfile *)profile)->arena);
    prof_free(profile);
}

/* ---- values that XProf shows ---- */

static double at_most_one(double x) { return 1 < x ? 1 : x; }

ProfileMetrics profile_metrics(const OpProfile *profile, const ProfileNode *node)
{
    double time = (double)node->time_ps, ns = ps_to_ns(node->time_ps),
           total = (double)profile->total_ps;
    double rate = safe_div(node->flops, ns);
    if (node->normalized_ps) rate *= safe_div(time, (double)node->normalized_ps);
    double utilization = safe_div(rate, profile->peak_gflops), share = safe_div(time, total);
    ProfileMetrics m = {.flops = at_most_one(utilization) * share,
                        .uncapped_flops = utilization * share,
                        .avg_time_ps = safe_div(time, (double)node->occurrences)};
    double gibps[3] = {giga_to_gibi(safe_div((double)node->hbm_read_bytes, ns)) +
                           giga_to_gibi(safe_div((double)node->hbm_write_bytes, ns)),
                       giga_to_gibi(safe_div((double)node->chip_read_bytes, ns)),
                       giga_to_gibi(safe_div((double)node->chip_write_bytes, ns))};
    for (int i = 0; i < 3; i++) {
        m.bandwidth[i] = at_most_one(safe_div(gibps[i], profile->peak_gibps[i]));
        m.bytes[i] = gibi_to_giga(gibps[i]) * ns;
    }
    return m;
}
