// SPDX-License-Identifier: Apache-2.0
/* memory_profile.c: reads the events of allocators, and finds their peaks and what was live then;
 * see memory_profile.h. */
#include "memory_profile.h"

#include "../../base/list.h"
#include "../../base/interrupt.h"
#include "../../base/parallel.h"
#include "../../base/search.h"
#include "../../base/sort.h"
#include "../../base/std_sort.h"
#include "../../store/event_stats.h"
#include "../../store/events.h"
#include "../../store/lines.h"
#include "../grouping/grouping.h"

#include <inttypes.h>
#include <stdio.h>

const char *const special_memory_names[] = {NULL, "unused", "stack"};

static int64_t in_use(const MemoryEvent *e) { return add_wrapped(e->heap_bytes, e->stack_bytes); }

static const Text *intern(MemoryProfile *profile, Slice text, ProfErr *err)
{
    pthread_mutex_lock(&profile->lock);
    const Text *t = slice_intern(&profile->texts, &profile->arena, text, err);
    pthread_mutex_unlock(&profile->lock);
    return t;
}

/* Returns the interned text of a stat; `before` is that of the event before, which is often equal.
 */
static const Text *intern_stat(MemoryProfile *profile, const Plane *plane, const Stat *stat,
                               const Text *before, ProfErr *err)
{
    Slice text = stat_text(plane, stat);
    if (!before->repaired && before->n_bytes == text.n && !memcmp(before->text, text.text, text.n))
        return before;
    return intern(profile, text, err);
}

/* ---- reading ---- */

static const Text *make_data_type(MemoryProfile *profile, int64_t value, ProfErr *err)
{
    static const char *const names[] = {
        "INVALID",
        "float",
        "double",
        "int32",
        "uint8",
        "int16",
        "int8",
        "string",
        "complex64",
        "int64",
        "bool",
        "qint8",
        "quint8",
        "qint32",
        "bfloat16",
        "qint16",
        "quint16",
        "uint16",
        "complex128",
        "half",
        "resource",
        "variant",
        "uint32",
        "uint64",
        "float8_e5m2",
        "float8_e4m3fn",
        "float8_e4m3fnuz",
        "float8_e4m3b11fnuz",
        "float8_e5m2fnuz",
        "int4",
        "uint4",
    };
    enum { REFERENCES = 100 }; /* types above this are references to the type minus this */
    int32_t number = (int32_t)(uint32_t)value;
    const char *suffix = "";
    if (number > REFERENCES) number -= REFERENCES, suffix = "_ref";
    char text[64];
    if (number >= 0 && (size_t)number < COUNT(names))
        snprintf(text, sizeof text, "%s%s", names[number], suffix);
    else
        snprintf(text, sizeof text, "unknown dtype enum (%" PRId32 ")%s", number, suffix);
    return intern(profile, slice_of_string(text), err);
}

/* Returns TensorFlow's name of a data type. */
static const Text *data_type_text(MemoryProfile *profile, int64_t value, ProfErr *err)
{
    if ((uint64_t)value >= N_DATA_TYPES) return make_data_type(profile, value, err);
    _Atomic(const Text *) *known = &profile->data_types[value];
    const Text *text = atomic_load(known);
    if (!text) atomic_store(known, text = make_data_type(profile, value, err));
    return text;
}

/* Reads a stat of an event. If several name the allocator, the last counts. */
static void read_stat(MemoryProfile *profile, const Plane *plane, MemoryEvent *e,
                      const MemoryEvent *before, unsigned known, const Stat *stat, ProfErr *err)
{
    char number[24];
    switch (known) {
    case STAT_ALLOCATOR_NAME:
        e->allocator = intern_stat(profile, plane, stat, before->allocator, err);
        break;
    case STAT_INDEX_ON_HOST:
    case STAT_DEVICE_ORDINAL:
        snprintf(number, sizeof number, "%" PRId64, stat_int(stat));
        e->allocator = intern(profile, slice_of_string(number), err);
        break;
    case STAT_BYTES_RESERVED: e->stack_bytes = stat_int(stat); break;
    case STAT_BYTES_ALLOCATED: e->heap_bytes = stat_int(stat); break;
    case STAT_BYTES_AVAILABLE: e->free_bytes = stat_int(stat); break;
    case STAT_FRAGMENTATION: e->fragmentation = stat_double(stat); break;
    case STAT_PEAK_BYTES_IN_USE: e->peak_bytes = stat_int(stat); break;
    case STAT_REQUESTED_BYTES: e->requested_bytes = stat_int(stat); break;
    case STAT_ALLOCATION_BYTES: e->allocation_bytes = stat_int(stat); break;
    case STAT_ADDRESS: e->address = (uint64_t)stat_int(stat); break;
    case STAT_TF_OP: e->tf_op = intern_stat(profile, plane, stat, before->tf_op, err); break;
    case STAT_REGION_TYPE:
        e->region_type = intern_stat(profile, plane, stat, before->region_type, err);
        break;
    case STAT_DATA_TYPE: e->data_type = data_type_text(profile, stat_int(stat), err); break;
    case STAT_SHAPE: e->shape = intern_stat(profile, plane, stat, before->shape, err); break;
    case STAT_GROUP_ID: e->group = stat_int(stat); break;
    default: break;
    }
}

enum { NOT_MEMORY, ALLOCATION, FREE };
static int kind_of(const EventMeta *meta)
{
    if (!strcmp(meta->name->text, "MemoryAllocation")) return ALLOCATION;
    return strcmp(meta->name->text, "MemoryDeallocation") ? NOT_MEMORY : FREE;
}

/* Reads the events of one plane. */
typedef struct {
    MemoryProfile *profile;
    Plane *plane;
    StatFilter filter;
    uint8_t *kinds; /* by index of event metadata */
    size_t
        *firsts; /* by line: how many of its events are of allocators; later, the first of them */
} MemoryReader;

static Line *line_at(const MemoryReader *r, size_t i)
{
    return &r->plane->host->lines[r->plane->first_line + i];
}

static void count_line(void *context, size_t i, ProfErr *err)
{
    MemoryReader *r = context;
    Line *line = line_at(r, i);
    Window window = {.file = &line->plane->host->file};
    ChunkValues *values = prof_buffer(sizeof *values);
    if (!values) prof_nomem(err);
    for (size_t k = 0; k < line->n_chunks && !err->code; k++) {
        const Chunk *chunk = &line->chunks[k];
        if (chunk_read(line, chunk, CHUNK_METAS, values, &window, err)) break;
        for (uint32_t e = 0; e < chunk->n_events; e++)
            r->firsts[i] += r->kinds[chunk_meta(values, e)] != NOT_MEMORY;
    }
    window_free(&window);
    prof_free(values);
}

/* Fills in an event. `before` is one of the same line, or the event itself. */
static void read_event(const MemoryReader *r, const EventAt *at, int kind, MemoryEvent *e,
                       const MemoryEvent *before, Window *window, ProfErr *err)
{
    StatIter stats = stat_iter_read(window, at, err);
    unsigned known;
    Stat stat;
    *e = (MemoryEvent){.event = at->event,
                       .turn = at->event,
                       .start_ps = at->start_ps,
                       .line_time_ps = at->offset_ps,
                       .duration_ps = at->duration_ps,
                       .group = -1,
                       .is_free = kind == FREE};
    e->allocator = e->tf_op = e->region_type = e->data_type = e->shape = empty_text;
    while (!err->code && stat_iter_next_wanted(&stats, &r->filter, &known, &stat))
        read_stat(r->profile, r->plane, e, before, known, &stat, err);
}

static void read_line(void *context, size_t i, ProfErr *err)
{
    const MemoryReader *r = context;
    MemoryEvent *first = r->profile->events + r->firsts[i], *e = first;
    Window window = {.file = &r->plane->host->file};
    EventReader reader;
    EventAt at;
    event_reader_open(&reader, line_at(r, i), 0, err);
    while (!err->code && event_reader_next(&reader, &at)) {
        int kind = r->kinds[at.meta - r->plane->event_metas];
        if (!kind) continue;
        read_event(r, &at, kind, e, e == first ? e : e - 1, &window, err);
        e++;
    }
    event_reader_close(&reader);
    window_free(&window);
}

static void read_lines(MemoryReader *r, ProfErr *err)
{
    static const enum KnownStat wanted[] = {
        STAT_ALLOCATOR_NAME,  STAT_INDEX_ON_HOST,    STAT_DEVICE_ORDINAL, STAT_BYTES_RESERVED,
        STAT_BYTES_ALLOCATED, STAT_BYTES_AVAILABLE,  STAT_FRAGMENTATION,  STAT_PEAK_BYTES_IN_USE,
        STAT_REQUESTED_BYTES, STAT_ALLOCATION_BYTES, STAT_ADDRESS,        STAT_TF_OP,
        STAT_REGION_TYPE,     STAT_DATA_TYPE,        STAT_SHAPE,          STAT_GROUP_ID};
    Plane *plane = r->plane;
    MemoryProfile *profile = r->profile;
    const Line *lines = line_at(r, 0);
    if (parallel_lines(lines, plane->n_lines, count_line, r, err)) return;
    for (size_t i = 0; i < plane->n_lines; i++) {
        size_t n = r->firsts[i];
        r->firsts[i] = profile->n_events, profile->n_events += n;
    }
    if (!(profile->events = prof_buffer(profile->n_events * sizeof *profile->events)))
        prof_nomem(err);
    else if (!stat_filter_open(&r->filter, plane, wanted, COUNT(wanted), err))
        parallel_lines(lines, plane->n_lines, read_line, r, err);
    stat_filter_close(&r->filter);
}

static void read_plane(MemoryProfile *profile, Plane *plane, ProfErr *err)
{
    MemoryReader r = {.profile = profile,
                      .plane = plane,
                      .kinds = prof_alloc(plane->n_event_metas),
                      .firsts = prof_alloc(plane->n_lines * sizeof *r.firsts)};
    bool any = false;
    if (!r.kinds || !r.firsts) prof_nomem(err);
    for (size_t i = 0; i < plane->n_event_metas && !err->code; i++)
        any |= (r.kinds[i] = (uint8_t)kind_of(&plane->event_metas[i])) != NOT_MEMORY;
    if (any) read_lines(&r, err);
    prof_free(r.kinds);
    prof_free(r.firsts);
}

/* Reads the first plane with this name, as XProf does; never those of sub-processes. */
static void read_host(MemoryProfile *profile, Host *host, ProfErr *err)
{
    const Plane *shown = host_find_plane(host, PREFIX_HOST_THREADS);
    for (size_t i = 0; i < host->n_planes && !err->code; i++) {
        Plane *plane = &host->planes[i];
        if (plane == shown) {
            read_plane(profile, plane, err);
            continue;
        }
        size_t m = 0;
        while (m < plane->n_declared && !kind_of(&plane->event_metas[m])) m++;
        if (m < plane->n_declared)
            host_issue_in_file(
                host, "info", "memory_events_elsewhere", plane->event_metas[m].span.offset, 0,
                plane,
                "the memory tables show the allocators of /host:CPU, as XProf does; those "
                "of plane %s are only in trace_events",
                plane->name->text);
    }
}

/* ---- steps ---- */

static int by_start_then_longest(const void *a, const void *b)
{
    const MemoryEvent *x = *(MemoryEvent *const *)a, *y = *(MemoryEvent *const *)b;
    return BY_START_THEN_LONGEST(x, y, line_time_ps, duration_ps, event);
}

/* Numbers the events in the order in which XProf reads them: it sorts the lines to which it adds
 * regions of thread pools. */
static int sort_turns(MemoryEvent *events, size_t n, ProfErr *err)
{
    MemoryEvent **sorted = prof_alloc(n * sizeof *sorted);
    if (!sorted) return prof_nomem(err);
    for (size_t i = 0; i < n; i++) sorted[i] = &events[i];
    sort_array(sorted, n, sizeof *sorted, by_start_then_longest);
    for (size_t i = 0; i < n; i++) sorted[i]->turn = events[i].event;
    prof_free(sorted);
    return PROF_OK;
}

/* Sets the groups of events from the host's grouping. */
static void find_groups(MemoryProfile *profile, Host *host, ProfErr *err)
{
    const Grouping *grouping = err->code || !profile->n_events ? NULL : host_grouping(host, err);
    if (!grouping || grouping->by != GROUPED_HERE) return;
    for (size_t i = 0, n; i < profile->n_events && !err->code; i += n) {
        const Line *line = run_line_of_event(host->run, profile->events[i].event);
        for (n = 0; i + n < profile->n_events && !interrupt_poll(1, err) &&
                    profile->events[i + n].event < line->first_event + line->n_events;
             n++) {
            MemoryEvent *e = &profile->events[i + n];
            int64_t group = event_step_group(grouping, e->event);
            if (group != -1) e->group = group;
        }
        if (line_groups(grouping, line)->n_regions) sort_turns(&profile->events[i], n, err);
    }
}

/* ---- order ---- */

static int by_name(const void *a, const void *b)
{
    return text_order(((const MemoryAllocator *)a)->name, ((const MemoryAllocator *)b)->name);
}

static int by_turn(const void *a, const void *b)
{
    const MemoryEvent *x = *(MemoryEvent *const *)a, *y = *(MemoryEvent *const *)b;
    return ORDER(x->turn, y->turn);
}

static int by_true_time(const void *a, const void *b)
{
    const MemoryEvent *x = *(MemoryEvent *const *)a, *y = *(MemoryEvent *const *)b;
    if (x->start_ps != y->start_ps) return ORDER(x->start_ps, y->start_ps);
    return ORDER(x->event, y->event);
}

static bool earlier_in_line(const void *a, const void *b)
{
    return ((const MemoryEvent *)a)->line_time_ps < ((const MemoryEvent *)b)->line_time_ps;
}
static int by_line_time(const void *a, const void *b)
{
    const MemoryEvent *x = *(MemoryEvent *const *)a, *y = *(MemoryEvent *const *)b;
    return earlier_in_line(y, x) - earlier_in_line(x, y);
}

/* Sorts the events of an allocator as XProf does. Its std::sort matters only where times are equal;
 * `scratch` has room for the events. */
static void sort_by_line_time(MemoryAllocator *a, MemoryEvent **scratch)
{
    memcpy(scratch, a->events, a->n_events * sizeof *scratch);
    sort_array(scratch, a->n_events, sizeof *scratch, by_line_time);
    for (size_t i = 1; i < a->n_events; i++)
        if (scratch[i - 1]->line_time_ps == scratch[i]->line_time_ps) {
            std_sort((void **)a->events, a->n_events, earlier_in_line);
            return;
        }
    memcpy(a->events, scratch, a->n_events * sizeof *scratch);
}

/* ---- live memory by address ---- */

typedef struct {
    uint64_t address;
    MemoryEvent *event; /* NULL: nothing is live there now */
} Address;
typedef struct {
    LIST(Address) addresses;
    HashTable by_address;
} AddressMap;

/* Empties the map and makes room for n addresses. */
static bool map_clear(AddressMap *map, size_t n, ProfErr *err)
{
    map->addresses.n = 0;
    hash_clear(&map->by_address);
    return hash_reserve(&map->by_address, n) || (prof_nomem(err), false);
}

/* Returns where the event of an address is kept; it is NULL for an address that was not seen. */
static MemoryEvent **map_at(AddressMap *map, uint64_t address)
{
    uint64_t hash = hash64(address);
    HASH_EACH(i, &map->by_address, hash)
        if (map->addresses.items[i].address == address) return &map->addresses.items[i].event;
    hash_add_reserved(&map->by_address, hash, map->addresses.n); /* map_clear() made room */
    Address *made = &map->addresses.items[map->addresses.n++];
    *made = (Address){address, NULL};
    return &made->event;
}

/* ---- what XProf computes ---- */

static void find_peak(MemoryAllocator *a)
{
    for (size_t i = 0; i < a->n_events; i++) {
        const MemoryEvent *e = a->events[i];
        *(e->is_free ? &a->n_frees : &a->n_allocations) += 1;
        a->last_peak_bytes = e->peak_bytes;
        if (!i || e->peak_bytes > a->max_peak_bytes) a->max_peak_bytes = e->peak_bytes;
        if (in_use(e) < a->peak_bytes) continue;
        a->peak = e, a->peak_bytes = in_use(e),
        a->capacity_bytes = add_wrapped(a->peak_bytes, e->free_bytes);
    }
}

/* Sets the steps of events. An ungrouped event gets the number after the last group's. */
static void fill_steps(MemoryAllocator *a)
{
    int64_t last = -1;
    for (size_t i = 0; i < a->n_events; i++) {
        MemoryEvent *e = a->events[i];
        e->step = e->group == -1 ? add_wrapped(last, 1) : e->group;
        if (e->group != -1) last = e->group;
    }
}

/* Marks the first and the last event of each step. `events` is sorted by session time. */
static void mark_steps(const MemoryAllocator *a, MemoryEvent *const *events, AddressMap *map,
                       ProfErr *err)
{
    if (!map_clear(map, a->n_events, err)) return;
    for (size_t i = 0; i < a->n_events; i++) {
        MemoryEvent **last = map_at(map, (uint64_t)events[i]->step);
        if (*last)
            (*last)->last_of_step = false;
        else
            events[i]->first_of_step = true;
        events[i]->last_of_step = true;
        *last = events[i];
    }
}

/* Copies the description of an allocation to its free, which records little. */
static void describe_frees(MemoryAllocator *a, AddressMap *map, ProfErr *err)
{
    if (!map_clear(map, a->n_events, err)) return;
    for (size_t i = 0; i < a->n_events; i++) {
        MemoryEvent *e = a->events[i], **live = map_at(map, e->address);
        if (!e->is_free) {
            if (!*live) *live = e;
        } else if (*live) {
            e->tf_op = (*live)->tf_op, e->region_type = (*live)->region_type,
            e->data_type = (*live)->data_type, e->shape = (*live)->shape;
            *live = NULL;
        }
    }
}

static int64_t negative(int64_t x) { return (int64_t)(0 - (uint64_t)x); }

/* The order in which XProf shows live memory: the largest first. */
static int compare_active(const ActiveMemory *x, const ActiveMemory *y)
{
    if (x->allocation_bytes != y->allocation_bytes)
        return ORDER(negative(x->allocation_bytes), negative(y->allocation_bytes));
    if (x->requested_bytes != y->requested_bytes)
        return ORDER(negative(x->requested_bytes), negative(y->requested_bytes));
    int order = text_order(x->tf_op, y->tf_op);
    if (!order) order = text_order(x->region_type, y->region_type);
    if (!order) order = text_order(x->data_type, y->data_type);
    return order ? order : text_order(x->shape, y->shape);
}

static int by_size(const void *a, const void *b)
{
    const ActiveMemory *x = a, *y = b;
    int order = compare_active(x, y);
    if (order || !x->event || !y->event) return order ? order : !x->event - !y->event;
    return ORDER(x->event->event, y->event->event);
}

static void add_special(MemoryProfile *profile, MemoryAllocator *a, enum SpecialMemory special,
                        int64_t bytes, const char *op, const char *region, ProfErr *err)
{
    const Text *tf_op = intern(profile, slice_of_string(op), err),
               *region_type = intern(profile, slice_of_string(region), err);
    const Text *data_type = data_type_text(profile, 0, err),
               *shape = intern(profile, slice_of_string("unknown"), err);
    a->active[a->n_active++] = (ActiveMemory){.special = special,
                                              .requested_bytes = bytes,
                                              .allocation_bytes = bytes,
                                              .occurrences = 1,
                                              .tf_op = tf_op,
                                              .region_type = region_type,
                                              .data_type = data_type,
                                              .shape = shape};
}

/* Walks the peak's step up to the peak: *unmapped becomes the heap that no allocation in the step
 * explains. The map is left with what is live. Returns how many bytes that is. */
static size_t walk_peak_step(const MemoryAllocator *a, AddressMap *map, int64_t *unmapped,
                             ProfErr *err)
{
    int64_t freed_before = 0;
    size_t n_live = 0;
    *unmapped = a->peak ? a->peak->heap_bytes : 0;
    if (!map_clear(map, a->n_events, err)) return 0;
    for (size_t i = 0; i < a->n_events; i++) {
        MemoryEvent *e = a->events[i];
        if (e->line_time_ps > (a->peak ? a->peak->line_time_ps : 0)) break;
        if (e->step != a->peak_step) continue;
        MemoryEvent **live = map_at(map, e->address);
        if (!e->is_free) {
            n_live += !*live;
            *live = e;
            *unmapped = sub_wrapped(*unmapped, e->allocation_bytes);
            continue;
        }
        if (*live)
            n_live--, *live = NULL;
        else
            freed_before = add_wrapped(freed_before, e->allocation_bytes);
        *unmapped = add_wrapped(*unmapped, e->allocation_bytes);
    }
    *unmapped = sub_wrapped(*unmapped, freed_before);
    return n_live;
}

static void find_active(MemoryProfile *profile, MemoryAllocator *a, AddressMap *map, ProfErr *err)
{
    for (size_t i = 0; i < a->n_events; i++)
        if (in_use(a->events[i]) == a->peak_bytes) a->peak_step = a->events[i]->step;
    int64_t unmapped, stack = a->peak ? a->peak->stack_bytes : 0;
    size_t n_live = walk_peak_step(a, map, &unmapped, err);
    pthread_mutex_lock(&profile->lock);
    a->active = arena_alloc(&profile->arena, (n_live + 2) * sizeof *a->active);
    pthread_mutex_unlock(&profile->lock);
    if (!a->active) {
        prof_nomem(err);
        return;
    }
    for (size_t i = 0; i < map->addresses.n && n_live; i++) {
        const MemoryEvent *e = map->addresses.items[i].event;
        if (!e) continue;
        a->active[a->n_active++] = (ActiveMemory){.event = e,
                                                  .requested_bytes = e->requested_bytes,
                                                  .allocation_bytes = e->allocation_bytes,
                                                  .occurrences = 1,
                                                  .tf_op = e->tf_op,
                                                  .region_type = e->region_type,
                                                  .data_type = e->data_type,
                                                  .shape = e->shape};
    }
    if (unmapped > 0)
        add_special(profile, a, MEMORY_UNUSED, unmapped, "unused preallocated device memory",
                    "persist/dynamic", err);
    if (stack > 0) add_special(profile, a, MEMORY_STACK, stack, "stack", "stack", err);
    if (err->code) return;
    sort_array(a->active, a->n_active, sizeof *a->active, by_size);
    size_t n = 0;
    for (size_t i = 0; i < a->n_active; i++) {
        if (n && !compare_active(&a->active[n - 1], &a->active[i]))
            a->active[n - 1].occurrences++;
        else
            a->active[n++] = a->active[i];
    }
    a->n_active = n;
}

/* ---- corrected values ---- */

/* Links frees with their allocations. `events` is sorted by session time. */
static void match_frees(MemoryAllocator *a, MemoryEvent **events, AddressMap *map, ProfErr *err)
{
    if (!map_clear(map, a->n_events, err)) return;
    for (size_t i = 0; i < a->n_events; i++) {
        MemoryEvent *e = events[i], **live = map_at(map, e->address);
        if (!e->is_free) {
            if (*live) (*live)->reuse = e;
            *live = e;
        } else if (*live) {
            e->match = *live, (*live)->match = e;
            *live = NULL;
        } else {
            a->n_unmatched_frees++;
        }
    }
}

const MemoryEvent *memory_end(const MemoryEvent *e)
{
    if (e->is_free) return NULL;
    return e->match ? e->match : e->reuse;
}

bool memory_live_at_peak(const MemoryEvent *e)
{
    const MemoryEvent *peak = e->owner->peak, *end = memory_end(e);
    if (!peak || e->is_free || by_true_time(&e, &peak) > 0) return false;
    return !end || by_true_time(&end, &peak) > 0;
}

/* `events` is sorted by session time. */
static void explain_peak(MemoryAllocator *a, MemoryEvent *const *events)
{
    if (!a->peak) return;
    const MemoryEvent *first = events[0];
    int64_t change = first->is_free ? negative(first->allocation_bytes) : first->allocation_bytes;
    int64_t live = 0, earlier = sub_wrapped(first->heap_bytes, change);
    for (size_t i = 0; i < a->n_events && by_true_time(&events[i], &a->peak) <= 0; i++) {
        const MemoryEvent *e = events[i];
        if (memory_live_at_peak(e)) live = add_wrapped(live, e->allocation_bytes);
        if (e->is_free && !e->match) earlier = sub_wrapped(earlier, e->allocation_bytes);
    }
    int64_t rest = sub_wrapped(a->peak->heap_bytes, live), most = rest > 0 ? rest : 0;
    if (earlier > most) earlier = most;
    a->earlier_bytes = earlier < 0 ? 0 : earlier;
    a->unknown_bytes = sub_wrapped(rest, a->earlier_bytes);
}

static void analyse(MemoryProfile *profile, MemoryAllocator *a, AddressMap *map,
                    MemoryEvent **scratch, ProfErr *err)
{
    sort_array(a->events, a->n_events, sizeof *a->events, by_turn);
    find_peak(a);
    sort_by_line_time(a, scratch);
    for (size_t i = 0; i < a->n_events; i++) a->events[i]->place = i;
    fill_steps(a);
    memcpy(scratch, a->events, a->n_events * sizeof *scratch);
    sort_array(scratch, a->n_events, sizeof *scratch, by_true_time);
    match_frees(a, scratch, map, err);
    explain_peak(a, scratch);
    mark_steps(a, scratch, map, err);
    describe_frees(a, map, err);
    find_active(profile, a, map, err);
}

static void analyse_task(void *context, size_t i, ProfErr *err)
{
    MemoryProfile *profile = context;
    MemoryAllocator *a = &profile->allocators[i];
    AddressMap map = {.addresses.items = prof_buffer(a->n_events * sizeof *map.addresses.items)};
    MemoryEvent **scratch = prof_buffer(a->n_events * sizeof *scratch);
    if (!map.addresses.items || !scratch)
        prof_nomem(err);
    else if (!interrupt_poll(64, err))
        analyse(profile, a, &map, scratch, err);
    prof_free(map.addresses.items);
    hash_free(&map.by_address);
    prof_free(scratch);
}

/* ---- the analysis ---- */

/* Lists the allocators by name, with their numbers of events. */
static void list_allocators(MemoryProfile *profile, ProfErr *err)
{
    LIST(MemoryAllocator) found = {0};
    HashTable by_text = {0};
    MemoryAllocator *last = NULL;
    for (size_t i = 0; i < profile->n_events && !interrupt_poll(1, err); i++) {
        const Text *name = profile->events[i].allocator;
        uint64_t hash = hash64((uint64_t)(uintptr_t)name);
        if (last && last->name != name) {
            last = NULL;
            HASH_EACH(k, &by_text, hash)
                if (found.items[k].name == name) last = &found.items[k];
        }
        if (!last) {
            if ((last = PUSH_KEYED(found, &by_text, hash)))
                *last = (MemoryAllocator){.name = name};
            else
                prof_nomem(err);
        }
        if (last) last->n_events++;
    }
    sort_array(found.items, found.n, sizeof *found.items, by_name);
    hash_free(&by_text);
    profile->allocators = found.items, profile->n_allocators = found.n;
}

/* Gives each allocator its events, by ordinal. */
static void distribute_events(MemoryProfile *profile, ProfErr *err)
{
    MemoryEvent **at = profile->by_allocator = prof_buffer(profile->n_events * sizeof *at);
    if (!at) prof_nomem(err);
    for (size_t i = 0; i < profile->n_allocators && !err->code; i++) {
        MemoryAllocator *a = &profile->allocators[i];
        a->events = at, at += a->n_events, a->n_events = 0;
    }
    MemoryAllocator *a = profile->allocators;
    for (size_t i = 0; i < profile->n_events && !interrupt_poll(1, err); i++) {
        MemoryEvent *e = &profile->events[i];
        if (a->name != e->allocator)
            a = &profile->allocators[LOWER_BOUND(
                k, 0, profile->n_allocators,
                text_order(profile->allocators[k].name, e->allocator) < 0)];
        e->owner = a;
        a->events[a->n_events++] = e;
    }
}

static void report_unmatched(const MemoryAllocator *a, Host *host)
{
    if (a->n_unmatched_frees)
        host_issue(host, "info", "free_without_allocation", a,
                   "allocator %s: frees without an allocation in the profile: %" PRId64
                   "; how much they freed is unknown",
                   a->name->text, a->n_unmatched_frees);
}

static void analyse_all(MemoryProfile *profile, Host *host, ProfErr *err)
{
    enum { FEW_EVENTS = 50000 }; /* fewer are faster on one thread */
    size_t n_workers = profile->n_events < FEW_EVENTS ? 1 : host->run->n_workers;
    if (!err->code) list_allocators(profile, err);
    if (!err->code) distribute_events(profile, err);
    if (!err->code) parallel_for(n_workers, profile->n_allocators, analyse_task, profile, err);
    for (size_t i = 0; i < profile->n_allocators && !err->code; i++)
        report_unmatched(&profile->allocators[i], host);
}

static void memory_profile_release(void *result)
{
    MemoryProfile *profile = result;
    text_table_free(&profile->texts);
    prof_free(profile->events);
    prof_free(profile->by_allocator);
    prof_free(profile->allocators);
    pthread_mutex_destroy(&profile->lock);
    arena_free(&profile->arena);
    prof_free(profile);
}

static void *memory_profile_make(Run *run, Host *host, ProfErr *err)
{
    if (!host) host = &run->hosts[0]; /* a run of one host asks for all hosts */
    MemoryProfile *profile = prof_alloc(sizeof *profile);
    if (!profile) {
        prof_nomem(err);
        return NULL;
    }
    pthread_mutex_init(&profile->lock, NULL);
    if (host->readable) read_host(profile, host, err);
    find_groups(profile, host, err);
    analyse_all(profile, host, err);
    if (err->code) {
        memory_profile_release(profile);
        return NULL;
    }
    return profile;
}

const MemoryProfile *host_memory_profile(Host *host, ProfErr *err)
{
    static const Analysis analysis = {memory_profile_make, memory_profile_release, NEEDS_ALL_HOSTS};
    return run_analysis(host->run, host, &analysis, err);
}

const MemoryEvent *memory_event(const MemoryProfile *profile, uint64_t event)
{
    size_t low = LOWER_BOUND(i, 0, profile->n_events, profile->events[i].event < event);
    return low < profile->n_events && profile->events[low].event == event ? &profile->events[low]
                                                                          : NULL;
}

bool memory_sampled(const MemoryEvent *event, size_t n_samples, size_t *winner)
{
    const MemoryAllocator *a = event->owner;
    size_t n = a->n_events, place = event->place;
    if (n <= n_samples) return true;
    if (!n_samples) return false;
    size_t width = n / n_samples, n_narrow = n_samples * (width + 1) - n, narrow = n_narrow * width;
    size_t into = place < narrow ? place % width : (place - narrow) % (width + 1),
           end = place - into + width + (place >= narrow);
    if (*winner < place - into || *winner >= end)
        for (size_t i = *winner = place - into; i < end; i++)
            if (in_use(a->events[i]) > in_use(a->events[*winner])) *winner = i;
    return place == *winner;
}
