// SPDX-License-Identifier: Apache-2.0
/* convert.c: a spool's records become items on lines; see convert.h.
 *
 * Three sorts, each of them outside memory where it must be: ranges and API calls by thread and
 * time, so that each call knows the ranges around it; calls and device work by correlation id, so
 * that each knows the other; everything by line and time, for timeline.c. */
#define _GNU_SOURCE
#include "convert.h"
#include "../base/search.h"

#include "timeline.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    MOST_OPEN = 1 << 16,
    MOST_THREADS = 1 << 16,
    MOST_LINKS = 1 << 12,
    GROUP_CALLS = 8,
    DEEPEST_PATH = 64,
    OPEN_CHAINS = 1 << 12
};
#define EARLIEST_BEFORE_START ((uint64_t)3600 * 1000000000u)
#define LONGEST ((uint64_t)100 * 86400 * 1000000000u) /* a session's picoseconds fit int64 */

typedef struct {
    uint32_t thread, domain;
    uint64_t range;
    bool is_push;
    uint32_t
        outer; /* index + 1 of the one opened before in the same chain, or of the next free one */
    Item item;
} OpenRange;

typedef struct {
    Timeline t;
    Sorter *threads, *groups;
    uint32_t *name_of_text; /* spool's text id - 1 to name, 0: not asked yet */
    size_t n_name_of_text;
    OpenRange *open; /* n_open used so far; of them those from free_open on are free */
    size_t n_open, open_capacity;
    uint32_t free_open,
        chains[OPEN_CHAINS]; /* index + 1; a chain begins with the range opened last */
    size_t launch_capacity, device_capacity, thread_capacity, link_capacity;
    uint32_t *launch_slots;
    size_t n_launch_slots;
    uint32_t shape_launch[MAX_SHAPES],
        shape_block; /* launches of the shapes of the block being read */
    struct {
        uint32_t device, context, line;
    } contexts[MAX_CONTEXTS];
    uint32_t n_contexts;
    uint64_t order;
    uint64_t *step_starts; /* of all steps, sorted once they are read */
    size_t n_step_starts, step_capacity;
    bool by_steps; /* recorded for --from-step or --steps */
    char step_range[256];
} Converter;

/* ---- names and tables ---- */

static uint32_t name_of(Converter *c, uint64_t text_id)
{
    if (!text_id || text_id > c->t.reader.n_texts) return 0;
    if (text_id > c->n_name_of_text) {
        size_t wanted = c->t.reader.n_texts + 1024;
        uint32_t *grown = prof_alloc(wanted * sizeof *grown);
        if (!grown) return prof_nomem(c->t.err), 0;
        if (c->n_name_of_text) memcpy(grown, c->name_of_text, c->n_name_of_text * sizeof *grown);
        prof_free(c->name_of_text);
        c->name_of_text = grown, c->n_name_of_text = wanted;
    }
    uint32_t *name = &c->name_of_text[text_id - 1];
    if (!*name) *name = name_id(&c->t.names, spool_text_of(&c->t.reader, text_id)->text, c->t.err);
    return *name;
}

static Device *device_of(Converter *c, uint64_t device)
{
    if (device >= MAX_DEVICES) return NULL;
    Timeline *t = &c->t;
    while (t->n_devices <= device) {
        if (!GROW(t->devices, t->n_devices, c->device_capacity)) return prof_nomem(t->err), NULL;
        t->devices[t->n_devices++] = (Device){0};
    }
    return &t->devices[device];
}

/* The line of a stream: streams of a device's first context have their own ids, the others' are
 * moved apart. */
static uint64_t stream_line(Converter *c, uint64_t device, uint64_t context, uint64_t stream)
{
    uint32_t line = 0, i = 0;
    for (; i < c->n_contexts &&
           !(c->contexts[i].device == device && c->contexts[i].context == context);
         i++)
        line += c->contexts[i].device == device;
    if (i == c->n_contexts && i < MAX_CONTEXTS) {
        c->contexts[i].device = (uint32_t)device, c->contexts[i].context = (uint32_t)context,
        c->contexts[i].line = line;
        c->n_contexts++;
    }
    line = i < c->n_contexts ? c->contexts[i].line : MAX_CONTEXTS;
    return (device + 1) << PLANE_SHIFT | (uint64_t)line << 32 | (stream & UINT32_MAX);
}

static uint64_t hash_launch(const Launch *l)
{
    uint32_t words[sizeof *l / sizeof(uint32_t)];
    uint64_t h = 0;
    memcpy(words, l, sizeof words);
    for (size_t i = 0; i < COUNT(words); i++)
        h = (h ^ words[i]) * 0x9e3779b97f4a7c15u, h ^= h >> 31;
    return h;
}

static uint32_t launch_id(Converter *c, const Launch *l)
{
    Timeline *t = &c->t;
    if ((t->n_launches + 1) * 2 > c->n_launch_slots) {
        size_t n = c->n_launch_slots ? c->n_launch_slots * 2 : 1024;
        uint32_t *slots = prof_alloc(n * sizeof *slots);
        if (!slots) return prof_nomem(t->err), 0;
        for (size_t i = 0; i < t->n_launches; i++) {
            size_t slot = hash_launch(&t->launches[i]) & (n - 1);
            while (slots[slot]) slot = (slot + 1) & (n - 1);
            slots[slot] = (uint32_t)i + 1;
        }
        prof_free(c->launch_slots);
        c->launch_slots = slots, c->n_launch_slots = n;
    }
    size_t slot = hash_launch(l) & (c->n_launch_slots - 1);
    for (; c->launch_slots[slot]; slot = (slot + 1) & (c->n_launch_slots - 1))
        if (!memcmp(&t->launches[c->launch_slots[slot] - 1], l, sizeof *l))
            return c->launch_slots[slot] - 1;
    if (!GROW(t->launches, t->n_launches, c->launch_capacity)) return prof_nomem(t->err), 0;
    t->launches[t->n_launches++] = *l;
    c->launch_slots[slot] = (uint32_t)t->n_launches;
    return (uint32_t)t->n_launches - 1;
}

static uint32_t u32_of(const Record *r, enum RecordField field)
{
    return (uint32_t)record_get(r, field);
}

/* A kernel's launch, made once a shape of the block. */
static uint32_t launch_of(Converter *c, const Record *r)
{
    const SpoolReader *reader = &c->t.reader;
    if (c->shape_block != reader->n_blocks)
        memset(c->shape_launch, 0, sizeof c->shape_launch), c->shape_block = reader->n_blocks;
    if (c->shape_launch[reader->shape]) return c->shape_launch[reader->shape] - 1;
    Launch l = {
        u32_of(r, FIELD_DEVICE),
        u32_of(r, FIELD_REGISTERS),
        u32_of(r, FIELD_STATIC_SHARED),
        u32_of(r, FIELD_DYNAMIC_SHARED),
        {u32_of(r, FIELD_GRID_X), u32_of(r, FIELD_GRID_Y), u32_of(r, FIELD_GRID_Z)},
        {u32_of(r, FIELD_BLOCK_X), u32_of(r, FIELD_BLOCK_Y), u32_of(r, FIELD_BLOCK_Z)},
        {u32_of(r, FIELD_CLUSTER_X), u32_of(r, FIELD_CLUSTER_Y), u32_of(r, FIELD_CLUSTER_Z)}};
    uint32_t id = launch_id(c, &l);
    c->shape_launch[reader->shape] = id + 1;
    return id;
}

static void name_thread(Converter *c, uint32_t thread, uint32_t name)
{
    Timeline *t = &c->t;
    for (size_t i = 0; i < t->n_threads; i++)
        if (t->threads[i].thread == thread) {
            t->threads[i].name = name;
            return;
        }
    if (t->n_threads >= MOST_THREADS) return;
    if (!GROW(t->threads, t->n_threads, c->thread_capacity)) {
        prof_nomem(t->err);
        return;
    }
    t->threads[t->n_threads].thread = thread, t->threads[t->n_threads++].name = name;
}

/* ---- orders ---- */

static int compare_u64(uint64_t a, uint64_t b) { return a < b ? -1 : a > b; }

int by_line_and_time(const void *a, const void *b)
{
    const Item *x = a, *y = b;
    int d = compare_u64(x->line, y->line);
    if (!d) d = compare_u64(x->start, y->start);
    if (!d) d = compare_u64(y->end, x->end);
    return d ? d : compare_u64(x->order, y->order);
}

static int group_rank(const Item *item)
{
    switch (item->kind) {
    case REC_RUNTIME: return 0;
    case REC_DRIVER: return 1;
    case REC_EVENT:
    case REC_EXTERNAL: return 2;
    default: return 3;
    }
}

/* By correlation id: calls, runtime calls before the driver calls inside; what is known of them;
 * the work that they caused. */
static int by_group(const void *a, const void *b)
{
    const Item *x = a, *y = b;
    int d = compare_u64(x->correlation, y->correlation);
    if (!d) d = group_rank(x) - group_rank(y);
    if (!d) d = compare_u64(x->start, y->start);
    return d ? d : compare_u64(x->order, y->order);
}

/* ---- reading the spool ---- */

/* False for what cannot be drawn: it is counted. */
static bool drawable(Converter *c, Item *item)
{
    Timeline *t = &c->t;
    if (!item->end || !item->start) return t->n_unfinished++, false;
    if (item->end < item->start || item->start + EARLIEST_BEFORE_START < t->start_ns ||
        item->end > t->start_ns + LONGEST)
        return t->n_odd++, false;
    if (item->start < t->first_ns) t->first_ns = item->start;
    if (item->end > t->stop_ns) t->stop_ns = item->end;
    item->order = c->order++;
    return true;
}

static void take_device_work(Converter *c, const Record *r)
{
    uint64_t device = record_get(r, FIELD_DEVICE);
    Item item = {.kind = (uint8_t)r->kind,
                 .start = record_get(r, FIELD_START),
                 .end = record_get(r, FIELD_END),
                 .device = (int32_t)device};
    item.correlation = u32_of(r, FIELD_CORRELATION), item.graph = u32_of(r, FIELD_GRAPH),
    item.node = record_get(r, FIELD_GRAPH_NODE);
    item.amount = record_get(r, FIELD_BYTES), item.name = name_of(c, record_get(r, FIELD_NAME));
    if (item.end && item.end < c->t.start_ns)
        return; /* between two captures: not all libraries can be told to stop, see cupti_disable()
                 */
    if (r->kind == REC_GRAPH && device == INT32_MAX) { /* ran on the host */
        item.line = SPECIAL_LINE + HOST_GRAPHS, item.device = -1;
    } else {
        if (!device_of(c, device)) {
            c->t.n_odd++;
            return;
        }
        item.line =
            stream_line(c, device, record_get(r, FIELD_CONTEXT), record_get(r, FIELD_STREAM));
    }
    if (r->kind == REC_KERNEL)
        item.detail = launch_of(c, r), item.thread = u32_of(r, FIELD_CONTEXT);
    if (r->kind == REC_MEMCPY || r->kind == REC_MEMCPY_PEER)
        item.detail = u32_of(r, FIELD_COPY_KIND) << 24 | u32_of(r, FIELD_SOURCE_KIND) << 16 |
                      u32_of(r, FIELD_TARGET_KIND) << 8 | (u32_of(r, FIELD_FLAGS) & 1);
    if (r->kind == REC_MEMCPY_PEER) item.api = u32_of(r, FIELD_TARGET_DEVICE) + 1;
    if (r->kind == REC_MEMSET)
        item.detail = u32_of(r, FIELD_SOURCE_KIND) << 16 | (u32_of(r, FIELD_FLAGS) & 1);
    if (r->kind != REC_KERNEL) item.thread = u32_of(r, FIELD_CONTEXT);
    if (drawable(c, &item)) sorter_add(c->groups, &item, c->t.err);
}

static void take_call(Converter *c, const Record *r)
{
    Item item = {.kind = (uint8_t)r->kind,
                 .start = record_get(r, FIELD_START),
                 .end = record_get(r, FIELD_END),
                 .device = -1};
    item.thread = u32_of(r, FIELD_THREAD), item.line = item.thread,
    item.correlation = u32_of(r, FIELD_CORRELATION);
    item.name = item.api = name_of(c, record_get(r, FIELD_NAME)),
    item.amount = record_get(r, FIELD_RETURN_VALUE);
    if (drawable(c, &item)) sorter_add(c->threads, &item, c->t.err);
}

/* What needs nobody else: goes to its line at once. */
static void take_plain(Converter *c, const Record *r)
{
    Item item = {.kind = (uint8_t)r->kind,
                 .start = record_get(r, FIELD_START),
                 .end = record_get(r, FIELD_END),
                 .device = -1};
    item.correlation = u32_of(r, FIELD_CORRELATION);
    uint64_t device = MAX_DEVICES;
    switch (r->kind) {
    case REC_SYNC:
        item.line = SPECIAL_LINE + HOST_SYNC, item.detail = u32_of(r, FIELD_SYNC_TYPE),
        item.thread = u32_of(r, FIELD_STREAM);
        item.graph = u32_of(r, FIELD_EVENT);
        break;
    case REC_JIT:
        item.line = SPECIAL_LINE + HOST_JIT,
        item.detail = u32_of(r, FIELD_JIT_ENTRY) << 8 | (u32_of(r, FIELD_OPERATION) & 255);
        item.amount = record_get(r, FIELD_BYTES), item.name = name_of(c, record_get(r, FIELD_NAME));
        break;
    case REC_OVERHEAD: /* of a device, a context or stream (device first), or a thread (process
                          first) */
        if (u32_of(r, FIELD_OBJECT_KIND) >= 3) device = record_get(r, FIELD_OBJECT_FIRST);
        item.detail = u32_of(r, FIELD_OVERHEAD_KIND), item.thread = u32_of(r, FIELD_OBJECT_SECOND);
        item.line = device < MAX_DEVICES && device_of(c, device)
                        ? (device + 1) << PLANE_SHIFT | OVERHEAD_STREAM
                        : SPECIAL_LINE + HOST_OVERHEAD;
        break;
    default: /* REC_UNIFIED: transfers and faults of the device that is not the host's side */
        item.detail = u32_of(r, FIELD_COUNTER), item.amount = record_get(r, FIELD_BYTES),
        item.node = record_get(r, FIELD_ADDRESS);
        device = item.detail == 2 || item.detail == 4 ? record_get(r, FIELD_SOURCE_DEVICE)
                                                      : record_get(r, FIELD_TARGET_DEVICE);
        if (!item.end) item.end = item.start;
        item.line = device < MAX_DEVICES && item.detail != 3 && device_of(c, device)
                        ? (device + 1) << PLANE_SHIFT | (UNIFIED_STREAM + item.detail)
                        : SPECIAL_LINE + HOST_UNIFIED;
        break;
    }
    if (drawable(c, &item)) sorter_add(c->t.events, &item, c->t.err);
}

static void take_memory(Converter *c, const Record *r)
{
    Item item = {.kind = (uint8_t)r->kind,
                 .start = record_get(r, FIELD_START),
                 .end = record_get(r, FIELD_START),
                 .device = -1};
    uint64_t device = record_get(r, FIELD_DEVICE);
    if (!device_of(c, device)) {
        c->t.n_odd++;
        return;
    }
    item.device = (int32_t)device, item.line = device,
    item.correlation = u32_of(r, FIELD_CORRELATION);
    item.amount = record_get(r, FIELD_BYTES), item.node = record_get(r, FIELD_ADDRESS),
    item.detail = u32_of(r, FIELD_OPERATION);
    if (u32_of(r, FIELD_SOURCE_KIND) <= 2 && r->kind == REC_MEMORY)
        item.line |= HOST_MEMORY; /* pageable or pinned memory of the host */
    item.name = name_of(c, record_get(r, FIELD_NAME));
    if (drawable(c, &item)) sorter_add(c->t.memory, &item, c->t.err);
}

/* What is known of a call: joined with it by its correlation id. */
static void take_fact(Converter *c, const Record *r)
{
    Item item = {
        .kind = (uint8_t)r->kind, .correlation = u32_of(r, FIELD_CORRELATION), .order = c->order++};
    if (r->kind == REC_EVENT)
        item.detail = u32_of(r, FIELD_EVENT) + 1, item.graph = u32_of(r, FIELD_STREAM);
    else
        item.node = record_get(r, FIELD_EXTERNAL);
    sorter_add(c->groups, &item, c->t.err);
}

/* One record is several counters of a device, at one moment. */
static void take_environment(Converter *c, const Record *r)
{
    static const uint8_t counters[][5] = {[1] = {COUNTER_SM_CLOCK, COUNTER_MEMORY_CLOCK,
                                                 COUNTER_PCIE_GENERATION, COUNTER_PCIE_LANES,
                                                 COUNTER_THROTTLE},
                                          [2] = {COUNTER_TEMPERATURE},
                                          [3] = {COUNTER_POWER, COUNTER_POWER_LIMIT},
                                          [4] = {COUNTER_FAN}};
    static const enum RecordField samples[] = {FIELD_SAMPLE_1, FIELD_SAMPLE_2, FIELD_SAMPLE_3,
                                               FIELD_SAMPLE_4, FIELD_SAMPLE_5};
    uint64_t kind = record_get(r, FIELD_SAMPLE_KIND), device = record_get(r, FIELD_DEVICE),
             time = record_get(r, FIELD_START);
    if (kind >= COUNT(counters) || !device_of(c, device)) {
        c->t.n_odd++;
        return;
    }
    for (size_t i = 0; i < COUNT(samples) && counters[kind][i]; i++) {
        Item item = {.kind = REC_ENVIRONMENT,
                     .start = time,
                     .end = time,
                     .device = (int32_t)device,
                     .detail = counters[kind][i]};
        item.line = (device + 1) << PLANE_SHIFT | COUNTER_STREAM,
        item.amount = record_get(r, samples[i]);
        if (!drawable(c, &item)) return;
        sorter_add(c->t.events, &item, c->t.err);
    }
}

static void take_sample(Converter *c, const Record *r)
{
    uint64_t device = record_get(r, FIELD_DEVICE), counter = record_get(r, FIELD_COUNTER),
             time = record_get(r, FIELD_START);
    if (counter == COUNTER_NONE || counter >= N_COUNTERS || !device_of(c, device)) {
        c->t.n_odd++;
        return;
    }
    Item item = {.kind = REC_ENVIRONMENT,
                 .start = time,
                 .end = time,
                 .device = (int32_t)device,
                 .detail = (uint32_t)counter};
    item.line = (device + 1) << PLANE_SHIFT | COUNTER_STREAM,
    item.amount = record_get(r, FIELD_VALUE);
    if (drawable(c, &item)) sorter_add(c->t.events, &item, c->t.err);
}

static void take_link(Converter *c, const Record *r)
{
    Timeline *t = &c->t;
    if (t->n_links == MOST_LINKS) return;
    if (!GROW(t->links, t->n_links, c->link_capacity)) {
        prof_nomem(t->err);
        return;
    }
    t->links[t->n_links++] = *r;
}

static uint32_t *chain_of(Converter *c, bool is_push, uint32_t thread, uint32_t domain,
                          uint64_t range)
{
    uint64_t key = is_push ? (uint64_t)thread << 32 | domain : range * 2 + 1;
    return &c->chains[mix64(key * 0x9e3779b97f4a7c15u) & (OPEN_CHAINS - 1)];
}

/* A range of this name that is in no other step of its thread and domain. */
static bool is_step(Converter *c, const OpenRange *range)
{
    if (!*c->step_range ||
        fnmatch(c->step_range, name_text(&c->t.names, range->item.name), FNM_NOESCAPE))
        return false;
    for (uint32_t i = *chain_of(c, range->is_push, range->thread, range->domain, range->range);
         range->is_push && i; i = c->open[i - 1].outer) {
        const OpenRange *outer = &c->open[i - 1];
        if (outer->is_push && outer->thread == range->thread && outer->domain == range->domain &&
            outer->item.flags & ITEM_STEP)
            return false;
    }
    return true;
}

static void note_step(Converter *c, OpenRange *range)
{
    if (!GROW(c->step_starts, c->n_step_starts, c->step_capacity)) {
        prof_nomem(c->t.err);
        return;
    }
    c->step_starts[c->n_step_starts++] = range->item.start;
    range->item.flags |= ITEM_STEP;
}

static void open_range(Converter *c, OpenRange range)
{
    uint32_t i = c->free_open,
             *chain = chain_of(c, range.is_push, range.thread, range.domain, range.range);
    if (is_step(c, &range)) note_step(c, &range);
    if (i) {
        c->free_open = c->open[i - 1].outer;
    } else if (c->n_open >= MOST_OPEN) {
        c->t.n_odd++;
        return;
    } else if (!GROW(c->open, c->n_open, c->open_capacity)) {
        prof_nomem(c->t.err);
        return;
    } else {
        i = (uint32_t)++c->n_open;
    }
    range.outer = *chain;
    c->open[i - 1] = range;
    *chain = i;
}

/* Takes the range that *link stands for out of its chain, and draws it. */
static void end_range(Converter *c, uint32_t *link, uint64_t end)
{
    uint32_t i = *link;
    OpenRange *open = &c->open[i - 1];
    open->item.end = end;
    if (drawable(c, &open->item)) sorter_add(c->threads, &open->item, c->t.err);
    *link = open->outer;
    open->outer = c->free_open, c->free_open = i;
}

static void take_range(Converter *c, const Record *r)
{
    uint32_t thread = u32_of(r, FIELD_THREAD), domain = name_of(c, record_get(r, FIELD_DOMAIN));
    uint64_t range = record_get(r, FIELD_RANGE), time = record_get(r, FIELD_START);
    if (r->kind == REC_POP || r->kind == REC_CLOSE) {
        bool is_pop = r->kind == REC_POP;
        for (uint32_t *link = chain_of(c, is_pop, thread, domain, range); *link;
             link = &c->open[*link - 1].outer) {
            const OpenRange *open = &c->open[*link - 1];
            if (open->is_push == is_pop &&
                (is_pop ? open->thread == thread && open->domain == domain
                        : open->range == range)) {
                end_range(c, link, time);
                return;
            }
        }
        return; /* it began before recording did */
    }
    Item item = {.kind = REC_PUSH,
                 .start = time,
                 .end = time,
                 .thread = thread,
                 .device = -1,
                 .range = domain};
    item.name = name_of(c, record_get(r, FIELD_NAME)), item.node = record_get(r, FIELD_PAYLOAD),
    item.detail = u32_of(r, FIELD_PAYLOAD_TYPE);
    item.line = r->kind == REC_OPEN ? SPECIAL_LINE + HOST_RANGES : thread;
    if (r->kind == REC_MARK) {
        item.kind = REC_MARK;
        if (drawable(c, &item)) sorter_add(c->threads, &item, c->t.err);
    } else {
        open_range(c, (OpenRange){thread, domain, range, r->kind == REC_PUSH, 0, item});
    }
}

static void take_record(Converter *c, const Record *r)
{
    Device *device;
    switch (r->kind) {
    case REC_KERNEL:
    case REC_MEMCPY:
    case REC_MEMCPY_PEER:
    case REC_MEMSET:
    case REC_GRAPH: take_device_work(c, r); break;
    case REC_DRIVER:
    case REC_RUNTIME: take_call(c, r); break;
    case REC_OVERHEAD:
    case REC_SYNC:
    case REC_JIT:
    case REC_UNIFIED: take_plain(c, r); break;
    case REC_ENVIRONMENT: take_environment(c, r); break;
    case REC_SAMPLE: take_sample(c, r); break;
    case REC_EVENT:
    case REC_EXTERNAL: take_fact(c, r); break;
    case REC_NVLINK:
    case REC_PCIE: take_link(c, r); break;
    case REC_MEMORY:
    case REC_POOL: take_memory(c, r); break;
    case REC_PUSH:
    case REC_POP:
    case REC_OPEN:
    case REC_CLOSE:
    case REC_MARK: take_range(c, r); break;
    case REC_THREAD:
        name_thread(c, u32_of(r, FIELD_THREAD), name_of(c, record_get(r, FIELD_NAME)));
        break;
    case REC_DEVICE:
        if ((device = device_of(c, record_get(r, FIELD_DEVICE))))
            device->record = *r, device->known = true;
        break;
    case REC_CLOCK:
        if (!c->t.has_clock) c->t.first_clock = *r;
        c->t.last_clock = *r, c->t.has_clock = true;
        break;
    default: break; /* contexts and streams say nothing that the work on them does not */
    }
}

static void read_spool(Converter *c)
{
    Record record;
    c->t.reader.salvage = true;
    while (!c->t.err->code && spool_next(&c->t.reader, &record, c->t.err)) take_record(c, &record);
    const SpoolStatus *status = &c->t.reader.status;
    if (c->t.reader.has_status && status->n_records > c->t.reader.n_read)
        c->t.n_missing = status->n_records - c->t.reader.n_read;
    uint64_t end = c->t.reader.status.stop_unix_ns > c->t.stop_ns ? c->t.reader.status.stop_unix_ns
                                                                  : c->t.stop_ns;
    for (size_t i = 0; i < OPEN_CHAINS; i++)
        while (c->chains[i] && !c->t.err->code) {
            OpenRange *open = &c->open[c->chains[i] - 1];
            open->item.flags |= ITEM_UNFINISHED;
            end_range(c, &c->chains[i], end < open->item.start ? open->item.start : end);
        }
}

/* ---- ranges around calls ---- */

typedef struct {
    uint64_t end;
    uint32_t name, path;
} Around;

static int by_value(const void *a, const void *b)
{
    return compare_u64(*(const uint64_t *)a, *(const uint64_t *)b);
}

/* Steps are numbered by the range's payload where it has an integer, else as they start. Of a
 * window by steps one that did not end in it is none. */
static void number_step(Converter *c, Item *item)
{
    size_t low = LOWER_BOUND(i, 0, c->n_step_starts, c->step_starts[i] < item->start);
    bool beyond = c->t.n_steps_asked && low >= c->t.n_steps_asked;
    bool numbered = item->detail == 1 || item->detail == 2 || item->detail == 4 ||
                    item->detail == 5; /* NVTX's integer payloads */
    if (c->by_steps && (beyond || item->flags & ITEM_UNFINISHED)) return;
    c->t.n_steps++;
    item->amount = (numbered ? item->node : c->t.first_step + low) + 1;
}

/* Calls learn their ranges and go to their groups; ranges go to their lines. */
static void sweep_threads(Converter *c)
{
    Timeline *t = &c->t;
    Around *stack = NULL;
    size_t depth = 0, capacity = 0;
    uint64_t line = UINT64_MAX;
    const Item *next;
    if (c->n_step_starts) qsort(c->step_starts, c->n_step_starts, sizeof *c->step_starts, by_value);
    while ((next = sorter_next(c->threads, t->err))) {
        Item item = *next;
        if (item.line != line) depth = 0, line = item.line;
        while (depth && stack[depth - 1].end <= item.start && stack[depth - 1].end < item.end)
            depth--;
        if (item.kind == REC_PUSH || item.kind == REC_MARK) {
            if (item.flags & ITEM_STEP) number_step(c, &item);
            if (item.kind == REC_PUSH && item.line < SPECIAL_LINE && item.name) {
                const char *text = name_text(&t->names, item.name),
                           *outer = depth ? name_text(&t->names, stack[depth - 1].path) : "";
                bool deep = depth >= DEEPEST_PATH;
                uint32_t path = deep    ? stack[depth - 1].path
                                : depth ? name_id_format(&t->names, t->err, "%s/%s", outer, text)
                                        : item.name;
                if (!GROW(stack, depth, capacity)) {
                    prof_nomem(t->err);
                    break;
                }
                stack[depth++] = (Around){item.end, item.name, path};
            }
            sorter_add(t->events, &item, t->err);
        } else {
            if (depth) item.range = stack[depth - 1].name, item.path = stack[depth - 1].path;
            sorter_add(c->groups, &item, t->err);
        }
    }
    prof_free(stack);
}

/* ---- calls and the work that they caused ---- */

/* Writes a group's calls. Only the outermost keeps the id: readers join with the last host event
 * that has it. */
static void emit_calls(Converter *c, Item *calls, size_t n, const Item *work)
{
    Timeline *t = &c->t;
    for (size_t i = 0; i < n; i++) {
        Item *call = &calls[i];
        const char *api = name_text(&t->names, call->api);
        if (i) call->correlation = 0;
        if (work) call->device = work->device;
        if (!i && work && work->graph && strstr(api, "GraphLaunch"))
            call->name =
                name_id_format(&t->names, t->err, "cuGraphLaunch (CudaGraph:%u)", work->graph);
        else if (!i && work && work->kind == REC_KERNEL && strstr(api, "Launch") &&
                 !strstr(api, "GraphLaunch"))
            call->name =
                work->name; /* as XLA names launches, and XProf's launch statistics want them */
        sorter_add(t->events, call, t->err);
    }
}

static void join_groups(Converter *c)
{
    Timeline *t = &c->t;
    Item calls[GROUP_CALLS], work = {0};
    size_t n_calls = 0;
    bool has_work = false;
    const Item *next;
    while ((next = sorter_next(c->groups, t->err))) {
        Item item = *next;
        if (n_calls && calls[0].correlation != item.correlation)
            emit_calls(c, calls, n_calls, has_work ? &work : NULL), n_calls = 0;
        if (!n_calls) has_work = false;
        if (item.kind == REC_RUNTIME || item.kind == REC_DRIVER) {
            if (!item.correlation || n_calls == GROUP_CALLS) {
                item.correlation = 0;
                sorter_add(t->events, &item, t->err);
            } else {
                calls[n_calls++] = item;
            }
            continue;
        }
        if (item.kind == REC_EVENT || item.kind == REC_EXTERNAL) {
            if (n_calls && item.kind == REC_EVENT)
                calls[0].detail = item.detail, calls[0].graph = item.graph;
            if (n_calls && item.kind == REC_EXTERNAL)
                calls[0].node = item.node, calls[0].flags |= ITEM_EXTERNAL;
            continue;
        }
        if (n_calls) {
            item.range = calls[0].range, item.path = calls[0].path;
            if (!has_work) work = item, has_work = true;
        }
        sorter_add(t->events, &item, t->err);
    }
    if (n_calls && !t->err->code) emit_calls(c, calls, n_calls, has_work ? &work : NULL);
}

/* ---- files ---- */

static bool write_profile(Converter *c, const char *folder, char *written, size_t n)
{
    Timeline *t = &c->t;
    char part[4096];
    if (snprintf(part, sizeof part, "%s/.%s.%lld.xplane.pb.part", folder, t->host,
                 (long long)t->pid) >= (int)sizeof part)
        return prof_fail(t->err, PROF_IO, 0, "the path of %s is too long", folder), false;
    int fd = open(part, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (fd < 0)
        return prof_fail(t->err, PROF_IO, 0, "cannot create %s: %s", part, strerror(errno)), false;
    timeline_write(t, fd);
    if (close(fd)) prof_fail(t->err, PROF_IO, 0, "cannot write %s: %s", part, strerror(errno));
    bool named = false;
    for (int with_pid = 0; with_pid < 2 && !named && !t->err->code; with_pid++) {
        char process[32] = "";
        if (with_pid) snprintf(process, sizeof process, ".%lld", (long long)t->pid);
        if (snprintf(written, n, "%s/%s%s.xplane.pb", folder, t->host, process) >= (int)n) break;
        named = !link(part,
                      written); /* unlike rename() it leaves the profile of another process alone */
        if (!named && errno != EEXIST) named = access(written, F_OK) && !rename(part, written);
    }
    if (!named)
        prof_fail(t->err, PROF_IO, 0, "cannot name the profile %s: %s", written, strerror(errno));
    unlink(part);
    return named;
}

static void read_header(Converter *c)
{
    char number[32];
    Timeline *t = &c->t;
    spool_header_value(&t->reader, "host", t->host, sizeof t->host);
    if (!*t->host || strchr(t->host, '/')) strcpy(t->host, "localhost");
    spool_header_value(&t->reader, "pid", number, sizeof number);
    t->pid = strtoll(number, NULL, 10);
    spool_header_value(&t->reader, "start_unix_ns", number, sizeof number);
    t->start_ns = t->first_ns = t->stop_ns = strtoull(number, NULL, 10);
    spool_header_value(&t->reader, "step_range", c->step_range, sizeof c->step_range);
    spool_header_value(&t->reader, "first_step", number, sizeof number);
    c->by_steps = *number != 0, t->first_step = strtoull(number, NULL, 10);
    spool_header_value(&t->reader, "n_steps", number, sizeof number);
    t->n_steps_asked = strtoull(number, NULL, 10);
    t->api_version = t->reader.status.api_version;
    if (t->start_ns > INT64_MAX / 2)
        prof_fail(t->err, PROF_FORMAT, 0, "the spool's header has no time");
}

static void converter_free(Converter *c)
{
    sorter_free(c->threads);
    sorter_free(c->groups);
    sorter_free(c->t.events);
    sorter_free(c->t.memory);
    prof_free(c->name_of_text);
    prof_free(c->open);
    prof_free(c->step_starts);
    prof_free(c->launch_slots);
    prof_free(c->t.launches);
    prof_free(c->t.devices);
    prof_free(c->t.threads);
    prof_free(c->t.links);
    names_free(&c->t.names);
    spool_reader_close(&c->t.reader);
    prof_free(c);
}

/* Alone: two that convert one spool would write one file. */
static void lock_spool(Converter *c, const char *path)
{
    struct stat st;
    if (flock(c->t.reader.fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK)
        prof_fail(c->t.err, PROF_IO, 0,
                  "%s is still being written or converted; stop its process first, or query it "
                  "with profsql_live",
                  path);
    else if (!fstat(c->t.reader.fd, &st) && !st.st_nlink)
        prof_fail(c->t.err, PROF_NOTFOUND, 0, "%s was converted meanwhile", path);
}

#define KEPT_TAIL ".kept.spool"
bool convert_is_kept(const char *path)
{
    size_t n = strlen(path), n_tail = strlen(KEPT_TAIL);
    return n > n_tail && !strcmp(path + n - n_tail, KEPT_TAIL);
}

bool convert_is_of(const char *spool_path, const char *token)
{
    SpoolReader reader;
    ProfErr err = {0};
    char found[64];
    if (spool_open(&reader, spool_path, &err)) return false;
    spool_header_value(&reader, "token", found, sizeof found);
    spool_reader_close(&reader);
    return !strcmp(found, token);
}

/* Its name says that its profile is made: NAME.kept.spool. */
static void keep_spool(const char *path)
{
    char kept[4096];
    size_t n = strlen(path), n_tail = strlen(".spool");
    if (convert_is_kept(path) || n <= n_tail || strcmp(path + n - n_tail, ".spool")) return;
    if (snprintf(kept, sizeof kept, "%.*s" KEPT_TAIL, (int)(n - n_tail), path) < (int)sizeof kept)
        rename(path, kept);
}

int convert_spool(const char *spool_path, const CaptureOptions *options, char *written, size_t n,
                  ProfErr *err)
{
    char folder[4096], profile[4096];
    Converter *c = prof_alloc(sizeof *c);
    if (!c) return prof_nomem(err);
    c->t.err = err, c->t.folder = folder, c->t.reader.fd = -1;
    if (snprintf(folder, sizeof folder, "%s", spool_path) >= (int)sizeof folder)
        prof_fail(err, PROF_IO, 0, "the path of the spool is too long");
    for (int up = 0; up < 2; up++) { /* <run>/.spool/<file> */
        char *slash = strrchr(folder, '/');
        if (slash)
            *slash = 0;
        else
            strcpy(folder, up ? ".." : ".");
    }
    if (!err->code) spool_open(&c->t.reader, spool_path, err);
    if (!err->code) lock_spool(c, spool_path);
    if (!err->code) read_header(c);
    c->threads = sorter_new(sizeof(Item), by_line_and_time, folder),
    c->groups = sorter_new(sizeof(Item), by_group, folder);
    c->t.events = sorter_new(sizeof(Item), by_line_and_time, folder),
    c->t.memory = sorter_new(sizeof(Item), by_line_and_time, folder);
    if (!c->threads || !c->groups || !c->t.events || !c->t.memory) prof_nomem(err);
    if (!err->code) read_spool(c);
    if (!err->code) sweep_threads(c);
    if (!err->code) join_groups(c);
    if (!err->code && write_profile(c, folder, profile, sizeof profile)) {
        if (options->keep_spool) {
            keep_spool(spool_path);
        } else {
            char *slash;
            unlink(spool_path);
            snprintf(folder, sizeof folder, "%s", spool_path);
            if ((slash = strrchr(folder, '/')))
                *slash = 0, rmdir(folder); /* when it was the last */
        }
        if (n) snprintf(written, n, "%s", profile);
    }
    converter_free(c);
    return err->code;
}
