// SPDX-License-Identifier: Apache-2.0
/* describe.c: chooses the name and the stats of an event, as XProf reads them; see timeline.h. */
#define _GNU_SOURCE
#include "timeline.h"

#include "../base/marker.h"

#include <stdio.h>

/* In XLA's order; the bits of Description.type_bit. */
const char *const stream_types[] = {"MemcpyH2D",     "MemcpyD2H", "MemcpyD2D", "MemcpyP2P",
                                    "MemcpyOther",   "Compute",   "Memset",    "Overhead",
                                    "UnifiedMemory", "CudaGraph", NULL};
enum {
    TYPE_H2D,
    TYPE_D2H,
    TYPE_D2D,
    TYPE_P2P,
    TYPE_OTHER_COPY,
    TYPE_COMPUTE,
    TYPE_MEMSET,
    TYPE_OVERHEAD,
    TYPE_UNIFIED,
    TYPE_GRAPH
};

enum { STATS = 4 }; /* number of the field in XEvent */

static void ref(Description *d, enum XStatId stat, uint32_t name)
{
    if (!name) return;
    for (size_t i = 0; i < COUNT(d->refs); i++)
        if (!d->refs[i] || d->refs[i] == name) {
            d->refs[i] = name;
            small_stat_ref(&d->stats, STATS, stat, FIRST_REF + (uint64_t)name);
            return;
        }
}

static void find_occupancy(const Timeline *t, const Launch *l, LaunchText *text)
{
    const Device *device = l->device < t->n_devices ? &t->devices[l->device] : NULL;
    uint64_t x = l->block[0], y = l->block[1], z = l->block[2];
    text->occupancy = -1;
    if (!device || !device->known || x > 1 << 16 || y > 1 << 16 || z > 1 << 16) return;
    const Record *r = &device->record;
#define LIMIT(field) (uint32_t) record_get(r, FIELD_##field)
    SmLimits sm = {LIMIT(MAJOR),
                   LIMIT(MINOR),
                   LIMIT(WARP),
                   LIMIT(WARPS_PER_SM),
                   LIMIT(BLOCKS_PER_SM),
                   LIMIT(REGISTERS_PER_SM),
                   LIMIT(SHARED_PER_SM),
                   LIMIT(THREADS_PER_BLOCK),
                   LIMIT(REGISTERS_PER_BLOCK)};
    BlockNeeds needs = {l->registers, (uint64_t)l->static_shared + l->dynamic_shared};
    uint32_t blocks;
    text->occupancy = occupancy_percent(&sm, x * y * z, needs);
    text->best_block = occupancy_best_block(&sm, needs, &blocks);
    text->best_grid = blocks * LIMIT(PROCESSORS);
#undef LIMIT
}

/* ---- operations ---- */

/* Returns the path from the last marker with a title on; empty if there is none. */
static Slice last_marker(const char *path, const char *title)
{
    const char *found = "";
    for (const char *p = path; (p = strstr(p, title)); p++) found = p;
    return slice_of_string(found);
}

static uint32_t name_of_value(Timeline *t, Slice text)
{
    return text.n ? name_id_format(&t->names, t->err, "%.*s", (int)text.n, text.text) : 0;
}

/* Returns the # that ends the arguments that start here, ":#KEY=VALUE,...#" at the end of a range;
 * NULL if these are not arguments: programs may name their ranges "loss:#1". */
static const char *end_of_arguments(const char *p)
{
    if (p[0] != ':' || p[1] != '#' || !marker_key(slice_of_string(p), 2)) return NULL;
    const char *end = strchr(p + 2, '#');
    return end && (!end[1] || end[1] == '/') ? end : NULL;
}

/* Returns the name of the op for a path of ranges. XLA's markers of compilation are reduced to
 * their titles: with module and pass, each of them would be an op. */
static uint32_t name_of_path(Timeline *t, const char *path)
{
    size_t n = 0, n_path = strlen(path);
    char *op = prof_buffer(n_path + 1);
    if (!op) {
        prof_nomem(t->err);
        return 0;
    }
    for (const char *p = path; *p; p++) {
        const char *end = end_of_arguments(p);
        if (end)
            p = end;
        else
            op[n++] = *p;
    }
    uint32_t id = name_id_format(&t->names, t->err, "%.*s:NVTX", (int)n, op);
    prof_free(op);
    return id;
}

static void read_path(Timeline *t, uint32_t path)
{
    const char *text = name_text(&t->names, path);
    Slice module = last_marker(text, "XlaModule:#"), thunk = last_marker(text, "Thunk:#");
    XlaNames names = {0};
    if (module.n) {
        Slice id = marker_value(module, "program_id");
        names.hlo_module = name_of_value(t, marker_value(module, "hlo_module"));
        names.has_program = id.n != 0, names.program_id = id.n ? strtoull(id.text, NULL, 10) : 0;
    }
    if (thunk.n) {
        names.hlo_op = name_of_value(t, marker_value(thunk, "hlo_op"));
        names.tf_op = name_of_value(t, marker_value(thunk, "name"));
    }
    if (!module.n && !thunk.n) names.tf_op = name_of_path(t, text);
    t->path = names, t->last_path = path;
}

/* Adds the stats that all work of a device has. */
static void describe_device_work(Timeline *t, const Item *item, Description *d)
{
    if (item->correlation) small_stat_uint(&d->stats, STATS, XS_CORRELATION, item->correlation);
    if (!t->context_name || t->last_context != item->thread)
        t->context_name = name_id_format(&t->names, t->err, "$$%u", item->thread),
        t->last_context = item->thread;
    ref(d, XS_CONTEXT, t->context_name);
    ref(d, XS_NVTX, item->range);
    if (item->path && t->last_path != item->path) read_path(t, item->path);
    if (item->path) {
        ref(d, XS_TF_OP, t->path.tf_op);
        ref(d, XS_HLO_OP, t->path.hlo_op);
        ref(d, XS_HLO_MODULE, t->path.hlo_module);
        if (t->path.has_program) small_stat_uint(&d->stats, STATS, XS_PROGRAM, t->path.program_id);
    }
    if (item->graph)
        small_stat_uint(&d->stats, STATS, item->kind == REC_GRAPH ? XS_GRAPH_EXEC : XS_GRAPH,
                        item->graph);
    if (item->graph && item->kind != REC_GRAPH)
        small_stat_uint(&d->stats, STATS, XS_GRAPH_NODE, item->node);
}

static const LaunchText *launch_text(Timeline *t, uint32_t id)
{
    LaunchText *text = &t->launch_texts[id];
    const Launch *l = &t->launches[id];
    char cluster[48] = "", percent[32] = "";
    if (text->name) return text;
    find_occupancy(t, l, text);
    if ((uint64_t)l->cluster[0] + l->cluster[1] + l->cluster[2] > 3)
        snprintf(cluster, sizeof cluster, " cluster:%u,%u,%u", l->cluster[0], l->cluster[1],
                 l->cluster[2]);
    if (text->occupancy >= 0) snprintf(percent, sizeof percent, " occ_pct:%g", text->occupancy);
    text->name = name_id_format(
        &t->names, t->err,
        "regs:%u static_shared:%u dynamic_shared:%u grid:%u,%u,%u block:%u,%u,%u%s%s", l->registers,
        l->static_shared, l->dynamic_shared, l->grid[0], l->grid[1], l->grid[2], l->block[0],
        l->block[1], l->block[2], percent, cluster);
    return text;
}

static void describe_kernel(Timeline *t, const Item *item, Description *d)
{
    const LaunchText *text = launch_text(t, item->detail);
    d->name = item->name, d->type_bit = 1u << TYPE_COMPUTE;
    ref(d, XS_KERNEL, text->name);
    if (text->occupancy >= 0) small_stat_double(&d->stats, STATS, XS_OCCUPANCY, text->occupancy);
    if (!text->best_block) return;
    small_stat_int(&d->stats, STATS, XS_MIN_GRID, text->best_grid);
    small_stat_int(&d->stats, STATS, XS_BEST_BLOCK, text->best_block);
}

static const char *memory_kind(unsigned kind)
{
    static const char *const names[] = {"unknown", "pageable", "pinned",        "device",
                                        "array",   "managed",  "device_static", "managed_static"};
    return kind < COUNT(names) ? names[kind] : "unknown";
}

/* Describes a copy. XProf reads memcpy_details in two ways; one splits at ':' and newlines and
 * looks for num_bytes. */
static void describe_copy(Timeline *t, const Item *item, Description *d)
{
    static const uint8_t types[] = {
        [1] = TYPE_H2D, [2] = TYPE_D2H, [8] = TYPE_D2D, [10] = TYPE_P2P};
    unsigned kind = item->detail >> 24, type = TYPE_OTHER_COPY;
    if (item->kind == REC_MEMCPY_PEER)
        type = TYPE_P2P;
    else if (kind == 1 || kind == 2 || kind == 8 || kind == 10)
        type = types[kind];
    uint32_t target = item->api ? item->api - 1 : (uint32_t)item->device;
    char details[256];
    snprintf(details, sizeof details,
             "num_bytes:%llu\nkind_src:%s kind_dst:%s size:%llu dest:%u async:%u",
             (unsigned long long)item->amount, memory_kind(item->detail >> 16 & 255),
             memory_kind(item->detail >> 8 & 255), (unsigned long long)item->amount, target,
             item->detail & 1);
    d->name = name_id(&t->names, stream_types[type], t->err), d->type_bit = 1u << type;
    small_stat_text(&d->stats, STATS, XS_MEMCPY, details);
}

static void describe_memset(Timeline *t, const Item *item, Description *d)
{
    char details[128];
    unsigned kind = item->detail >> 16;
    snprintf(details, sizeof details, "kind:%s num_bytes:%llu async:%u", memory_kind(kind),
             (unsigned long long)item->amount, item->detail & 1);
    d->name = name_id_format(&t->names, t->err, "Memset %u", kind), d->type_bit = 1u << TYPE_MEMSET;
    small_stat_text(&d->stats, STATS, XS_MEMSET, details);
}

static void describe_call(Timeline *t, const Item *item, Description *d)
{
    (void)t;
    d->name = item->name;
    if (item->correlation) small_stat_uint(&d->stats, STATS, XS_CORRELATION, item->correlation);
    if (item->device >= 0) small_stat_int(&d->stats, STATS, XS_DEVICE, item->device);
    ref(d, XS_API, item->api);
    if (item->amount) small_stat_uint(&d->stats, STATS, XS_RETURN, item->amount);
    if (item->flags & ITEM_EXTERNAL) small_stat_uint(&d->stats, STATS, XS_EXTERNAL, item->node);
    if (!item->detail) return;
    small_stat_uint(&d->stats, STATS, XS_EVENT, item->detail - 1);
    small_stat_uint(&d->stats, STATS, XS_STREAM, item->graph);
}

static void describe_range(Timeline *t, const Item *item, Description *d)
{
    float four;
    double eight;
    d->name = item->name ? item->name : name_id(&t->names, "NVTX", t->err);
    ref(d, XS_DOMAIN, item->range);
    switch (item->detail) { /* payload types of NVTX */
    case 1:
    case 4:
        small_stat_uint(&d->stats, STATS, XS_PAYLOAD,
                        item->detail == 4 ? (uint32_t)item->node : item->node);
        break;
    case 2: small_stat_int(&d->stats, STATS, XS_PAYLOAD, (int64_t)item->node); break;
    case 5: small_stat_int(&d->stats, STATS, XS_PAYLOAD, (int32_t)(uint32_t)item->node); break;
    case 3:
        memcpy(&eight, &item->node, sizeof eight),
            small_stat_double(&d->stats, STATS, XS_PAYLOAD, eight);
        break;
    case 6:
        memcpy(&four, &item->node, sizeof four),
            small_stat_double(&d->stats, STATS, XS_PAYLOAD, (double)four);
        break;
    default: break;
    }
    if (item->amount) {
        small_stat_int(&d->stats, STATS, XS_ROOT, 1);
        small_stat_int(&d->stats, STATS, XS_STEP, (int64_t)(item->amount - 1));
    }
    if (item->flags & ITEM_UNFINISHED) small_stat_int(&d->stats, STATS, XS_UNFINISHED, 1);
}

/* Returns which stat the value of a counter of unified memory is, by cupti_activity.h. */
static enum XStatId value_of_unified(uint32_t counter)
{
    switch (counter) {
    case 3: return XS_PROGRAM_COUNTER; /* of the instruction that caused the fault */
    case 4: return XS_FAULTS;          /* for the same page */
    case 6: return XS_NONE;            /* throttling */
    default: return XS_BYTES;
    }
}

static void describe_plain(Timeline *t, const Item *item, Description *d)
{
    static const char *const syncs[] = {"Synchronize", "Event Synchronize", "Stream Wait Event",
                                        "Stream Synchronize", "Context Synchronize"};
    static const char *const overheads[] = {"Driver compiler",
                                            "Buffer flush",
                                            "Instrumentation",
                                            "Resource",
                                            "Runtime triggered module loading",
                                            "Lazy function loading",
                                            "Command buffer full",
                                            "Activity buffer request",
                                            "UVM activity initialization"};
    static const char *const counters[] = {
        "Unified memory",  "Unified memory HtoD", "Unified memory DtoH",
        "CPU page faults", "GPU page faults",     "Thrashing",
        "Throttling",      "Remote map",          "Unified memory DtoD"};
    const char *name;
    if (item->kind == REC_SYNC) {
        name = syncs[item->detail < COUNT(syncs) ? item->detail : 0];
        if (item->detail == 2 || item->detail == 3)
            small_stat_uint(&d->stats, STATS, XS_STREAM, item->thread);
        if (item->detail == 1 || item->detail == 2)
            small_stat_uint(&d->stats, STATS, XS_EVENT, item->graph);
    } else if (item->kind == REC_OVERHEAD) {
        unsigned kind = item->detail >> 16;
        name = item->detail == 1 ? overheads[0] : "Overhead";
        if (kind && kind < COUNT(overheads) && !(item->detail & 0xffff)) name = overheads[kind];
        d->type_bit = 1u << TYPE_OVERHEAD;
    } else {
        name = counters[item->detail < COUNT(counters) ? item->detail : 0];
        d->type_bit = 1u << TYPE_UNIFIED;
        enum XStatId value = value_of_unified(item->detail);
        if (value) small_stat_uint(&d->stats, STATS, value, item->amount);
        small_stat_uint(&d->stats, STATS, XS_ADDRESS, item->node);
    }
    d->name = name_id(&t->names, name, t->err);
    if (item->correlation)
        small_stat_uint(&d->stats, STATS, XS_CAUSE,
                        item->correlation); /* correlation_id would make it a launch */
}

static void describe_counter(Timeline *t, const Item *item, Description *d)
{
    d->name = name_id(&t->names, counter_names[item->detail], t->err);
    small_stat_uint(&d->stats, STATS, XS_COUNTER, item->amount);
}

static void describe_jit(Timeline *t, const Item *item, Description *d)
{
    static const char *const operations[] = {"JIT", "JIT cache load", "JIT cache store",
                                             "JIT compile"},
                             *const entries[] = {"", " (PTX to cubin)", " (NVVM IR to PTX)"};
    unsigned operation = item->detail & 255, entry = item->detail >> 8;
    d->name = name_id_format(&t->names, t->err, "%s%s",
                             operations[operation < COUNT(operations) ? operation : 0],
                             entries[entry < COUNT(entries) ? entry : 0]);
    small_stat_uint(&d->stats, STATS, XS_BYTES, item->amount); /* size of the cache's entry */
    ref(d, XS_CACHE, item->name);
    if (item->correlation) small_stat_uint(&d->stats, STATS, XS_CAUSE, item->correlation);
}

void describe(Timeline *t, const Item *item, Description *d)
{
    d->name = d->type_bit = 0, d->stats.n = 0, d->stats.cut = false;
    memset(d->refs, 0, sizeof d->refs);
    switch (item->kind) {
    case REC_KERNEL: describe_kernel(t, item, d), describe_device_work(t, item, d); break;
    case REC_MEMCPY:
    case REC_MEMCPY_PEER: describe_copy(t, item, d), describe_device_work(t, item, d); break;
    case REC_MEMSET: describe_memset(t, item, d), describe_device_work(t, item, d); break;
    case REC_GRAPH:
        d->name = name_id_format(&t->names, t->err, "CudaGraphExec:%u", item->graph),
        d->type_bit = 1u << TYPE_GRAPH;
        describe_device_work(t, item, d);
        break;
    case REC_DRIVER:
    case REC_RUNTIME: describe_call(t, item, d); break;
    case REC_PUSH:
    case REC_MARK: describe_range(t, item, d); break;
    case REC_ENVIRONMENT: describe_counter(t, item, d); break;
    case REC_JIT: describe_jit(t, item, d); break;
    default: describe_plain(t, item, d); break;
    }
}
