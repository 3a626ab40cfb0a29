// SPDX-License-Identifier: Apache-2.0
/* spool_items.c: turns the records of a spool into items on lines; see converter.h. */
#define _GNU_SOURCE
#include "converter.h"

#include <fnmatch.h>
#include <stdio.h>

enum {
    MOST_OPEN = 1 << 16,
    MOST_THREADS = 1 << 16,
    MOST_LINKS = 1 << 12,
};
#define EARLIEST_BEFORE_START ((uint64_t)3600 * 1000000000u)
/* so that a session's picoseconds fit in int64 */
#define LONGEST ((uint64_t)100 * 86400 * 1000000000u)

/* ---- names and tables ---- */

static uint32_t name_of(Converter *c, uint64_t text_id)
{
    if (!text_id || text_id > c->t.reader.n_texts) return 0;
    if (text_id > c->n_name_of_text) {
        size_t wanted = c->t.reader.n_texts + 1024;
        uint32_t *grown = prof_alloc(wanted * sizeof *grown);
        if (!grown) {
            prof_nomem(c->t.err);
            return 0;
        }
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
        if (!GROW(t->devices, t->n_devices, c->device_capacity)) {
            prof_nomem(t->err);
            return NULL;
        }
        t->devices[t->n_devices++] = (Device){0};
    }
    return &t->devices[device];
}

/* Returns the line of a stream. Streams of a device's first context keep their ids; those of others
 * get ids of their own. */
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
        if (!slots) {
            prof_nomem(t->err);
            return 0;
        }
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
    if (!GROW(t->launches, t->n_launches, c->launch_capacity)) {
        prof_nomem(t->err);
        return 0;
    }
    t->launches[t->n_launches++] = *l;
    c->launch_slots[slot] = (uint32_t)t->n_launches;
    return (uint32_t)t->n_launches - 1;
}

static uint32_t u32_of(const Record *r, enum RecordField field)
{
    return (uint32_t)record_get(r, field);
}

/* Returns a kernel's launch, created once for each shape of the block. */
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

/* ---- reading the spool ---- */

/* Returns whether an item can be shown. If not, it is counted. */
static bool drawable(Converter *c, Item *item)
{
    Timeline *t = &c->t;
    if (!item->end || !item->start) {
        t->n_unfinished++;
        return false;
    }
    if (item->end < item->start || item->start + EARLIEST_BEFORE_START < t->start_ns ||
        item->end > t->start_ns + LONGEST) {
        t->n_odd++;
        return false;
    }
    if (item->start < t->first_ns) t->first_ns = item->start;
    if (item->end > t->stop_ns) t->stop_ns = item->end;
    item->order = c->order++;
    return true;
}

static void add_device_work(Converter *c, const Record *r)
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
        return; /* between two captures: not all libraries can be stopped, see cupti_disable() */
    if (r->kind == REC_GRAPH && device == INT32_MAX) { /* executed on the host */
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

static void add_call(Converter *c, const Record *r)
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

/* Adds an item that needs no other records directly to its line. */
static void add_plain(Converter *c, const Record *r)
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
    case REC_OVERHEAD: /* of a device, a context or stream (device comes first), or a thread
                          (process comes first) */
        if (u32_of(r, FIELD_OBJECT_KIND) >= 3) device = record_get(r, FIELD_OBJECT_FIRST);
        item.detail = u32_of(r, FIELD_OVERHEAD_KIND), item.thread = u32_of(r, FIELD_OBJECT_SECOND);
        item.line = device < MAX_DEVICES && device_of(c, device)
                        ? (device + 1) << PLANE_SHIFT | OVERHEAD_STREAM
                        : SPECIAL_LINE + HOST_OVERHEAD;
        break;
    default: /* REC_UNIFIED: transfers and faults, for the device that is not the host */
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

static void add_memory(Converter *c, const Record *r)
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

/* Adds a fact about a call, which is joined with it by correlation id. */
static void add_fact(Converter *c, const Record *r)
{
    Item item = {
        .kind = (uint8_t)r->kind, .correlation = u32_of(r, FIELD_CORRELATION), .order = c->order++};
    if (r->kind == REC_EVENT)
        item.detail = u32_of(r, FIELD_EVENT) + 1, item.graph = u32_of(r, FIELD_STREAM);
    else
        item.node = record_get(r, FIELD_EXTERNAL);
    sorter_add(c->groups, &item, c->t.err);
}

/* Adds an environment record, which has several counters of a device at one time. */
static void add_environment(Converter *c, const Record *r)
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

static void add_sample(Converter *c, const Record *r)
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

static void add_link(Converter *c, const Record *r)
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

/* Returns whether a range has the name of steps and is not inside another step of its thread and
 * domain. */
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

static void open_range(Converter *c, OpenRange range)
{
    uint32_t i = c->free_open,
             *chain = chain_of(c, range.is_push, range.thread, range.domain, range.range);
    if (is_step(c, &range)) range.item.flags |= ITEM_STEP;
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

/* Removes the range that *link refers to from its chain, and adds its item. */
static void end_range(Converter *c, uint32_t *link, uint64_t end)
{
    uint32_t i = *link;
    OpenRange *open = &c->open[i - 1];
    open->item.end = end;
    if (drawable(c, &open->item)) {
        if (open->item.flags & ITEM_STEP) steps_add(&c->t.steps, &open->item, c->t.err);
        sorter_add(c->threads, &open->item, c->t.err);
    }
    *link = open->outer;
    open->outer = c->free_open, c->free_open = i;
}

static void add_range(Converter *c, const Record *r)
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
        return; /* it started before recording did */
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

static void add_record(Converter *c, const Record *r)
{
    Device *device;
    switch (r->kind) {
    case REC_KERNEL:
    case REC_MEMCPY:
    case REC_MEMCPY_PEER:
    case REC_MEMSET:
    case REC_GRAPH: add_device_work(c, r); break;
    case REC_DRIVER:
    case REC_RUNTIME: add_call(c, r); break;
    case REC_OVERHEAD:
    case REC_SYNC:
    case REC_JIT:
    case REC_UNIFIED: add_plain(c, r); break;
    case REC_ENVIRONMENT: add_environment(c, r); break;
    case REC_SAMPLE: add_sample(c, r); break;
    case REC_EVENT:
    case REC_EXTERNAL: add_fact(c, r); break;
    case REC_NVLINK:
    case REC_PCIE: add_link(c, r); break;
    case REC_MEMORY:
    case REC_POOL: add_memory(c, r); break;
    case REC_PUSH:
    case REC_POP:
    case REC_OPEN:
    case REC_CLOSE:
    case REC_MARK: add_range(c, r); break;
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
    default: break; /* contexts and streams add nothing to the work on them */
    }
}

void convert_records(Converter *c)
{
    Record record;
    c->t.reader.salvage = true;
    while (!c->t.err->code && spool_next(&c->t.reader, &record, c->t.err)) add_record(c, &record);
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
