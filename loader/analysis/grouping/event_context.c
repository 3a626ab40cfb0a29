// SPDX-License-Identifier: Apache-2.0
/* event_context.c: reads the contexts of events from their stats; see event_context.h. */
#include "event_context.h"

/* XProf's numbers of the types of contexts. */
enum { CONTEXT_LEGACY = 1, CONTEXT_TPU_STREAM = 11, CONTEXT_TPU_LAUNCH = 12 };

static const enum KnownStat wanted[] = {
    STAT_CORRELATION_ID, STAT_PRODUCER_TYPE,    STAT_PRODUCER,       STAT_CONSUMER_TYPE,
    STAT_CONSUMER,       STAT_CONSUMER_PROCESS, STAT_ROOT,           STAT_ASYNC,
    STAT_STEP_ID,        STAT_ITERATION,        STAT_STEP_NUM,       STAT_GRAPH_TYPE,
    STAT_IS_FUNCTION,    STAT_REQUEST_ID,       STAT_QUEUE_ADDRESS,  STAT_RUN_ID,
    STAT_QUEUE_ID,       STAT_CORE_TYPE,        STAT_DEVICE_ORDINAL,
};

/* ---- planes ---- */

/* Reads a plane's stat process_id, which planes of sub-processes have: contexts then belong to that
 * process. */
static bool read_process(ContextPlane *cp, const Plane *plane, ProfErr *err)
{
    bool declared = plane_declares(plane, STAT_PROCESS_ID);
    Window window = {.file = &plane->host->file};
    for (size_t i = 0; i < plane->n_stats && declared && !cp->has_process && !err->code; i++) {
        Stat stat;
        if (!plane_stat(plane, i, &window, &stat, err)) continue;
        const StatMeta *meta = stat_meta(plane, stat.id);
        if (!meta || meta->known != STAT_PROCESS_ID) continue;
        cp->has_process = true, cp->process = stat_int_or_uint(&stat);
    }
    window_free(&window);
    return !err->code;
}

bool context_plane_open(ContextPlane *cp, const Plane *plane, ProfErr *err)
{
    *cp = (ContextPlane){.is_tpu = is_tpu(plane),
                         .is_host = plane->prefix == PREFIX_HOST_THREADS && plane->is_prefix,
                         .device = is_numbered_core(plane) ? plane_core_number(plane) : -1};
    return read_process(cp, plane, err) &&
           !stat_filter_open(&cp->filter, plane, wanted, COUNT(wanted), err);
}

void context_plane_close(ContextPlane *cp) { stat_filter_close(&cp->filter); }

/* ---- the stats of an event ---- */

static void put(EventNumbers *n, enum KnownStat known, enum StatType type, uint64_t bits)
{
    n->by_stat[known] = (Number){type, bits};
    n->seen[known / 64] |= (uint64_t)1 << (known % 64);
}

/* Returns whether the last of several stats counts. XProf loops over these, but takes the first of
 * others. */
static bool last_counts(unsigned known)
{
    return (known >= STAT_PRODUCER_TYPE && known <= STAT_ROOT) || known == STAT_ASYNC;
}

static bool read_stats(EventNumbers *n, const StatFilter *filter, StatIter stats)
{
    Stat stat;
    unsigned known;
    bool any = false;
    for (; stat_iter_next_wanted(&stats, filter, &known, &stat); any = true) {
        if (numbers_have(n, known)) n->repeated[known / 64] |= (uint64_t)1 << (known % 64);
        if (last_counts(known) || !numbers_have(n, known)) put(n, known, stat.type, stat.u64);
    }
    return any;
}

/* ---- what XProf adds ---- */

/* Overwrites a number as XProf does: it changes the first stat of a name, but a later one still
 * counts. */
static void overwrite(EventNumbers *n, enum KnownStat known, int64_t value)
{
    if (!(last_counts(known) && n->repeated[known / 64] >> (known % 64) & 1))
        put(n, known, TYPE_INT64, (uint64_t)value);
}

static uint64_t join(uint64_t id, uint64_t part) { return mix64(id * 31 + part); }

static uint64_t join_two(const EventNumbers *n, enum KnownStat a, enum KnownStat b)
{
    return join(join(1, numbers_u64(n, a)), numbers_u64(n, b));
}

static void connect(EventNumbers *n, bool produces, int64_t type, uint64_t id)
{
    overwrite(n, produces ? STAT_PRODUCER_TYPE : STAT_CONSUMER_TYPE, type);
    overwrite(n, produces ? STAT_PRODUCER : STAT_CONSUMER, (int64_t)id);
}

static uint64_t launch_id(const EventNumbers *n, uint64_t device)
{
    return join(join(join_two(n, STAT_QUEUE_ID, STAT_RUN_ID), device),
                numbers_u64(n, STAT_CORE_TYPE));
}

static void add_program(EventNumbers *n, enum EventType type)
{
    enum { RUN_ID_MASK = (1 << 27) - 1 };
    if (!numbers_have(n, STAT_RUN_ID)) return;
    overwrite(n, STAT_RUN_ID, (int64_t)(numbers_u64(n, STAT_RUN_ID) & RUN_ID_MASK));
    if (type != EVENT_ENQUEUE_CONTINUATION && numbers_have(n, STAT_DEVICE_ORDINAL) &&
        numbers_have(n, STAT_QUEUE_ID))
        connect(n, type == EVENT_ENQUEUE_PROGRAM, CONTEXT_TPU_LAUNCH,
                launch_id(n, numbers_u64(n, STAT_DEVICE_ORDINAL)));
}

static void complete(EventNumbers *n, enum EventType type)
{
    switch (type) {
    case EVENT_PROCESS_BATCH: overwrite(n, STAT_ROOT, 2); break;
    case EVENT_BATCHING_SESSION_RUN: overwrite(n, STAT_ROOT, 1); break;
    case EVENT_EXECUTOR_PROCESS:
    case EVENT_TPU_EXECUTE_OP:
        if (numbers_have(n, STAT_STEP_ID) && numbers_have(n, STAT_ITERATION))
            connect(n, type == EVENT_EXECUTOR_PROCESS, CONTEXT_LEGACY,
                    join_two(n, STAT_STEP_ID, STAT_ITERATION));
        break;
    case EVENT_ENQUEUE_REQUEST:
    case EVENT_QUEUED_REQUEST:
        if (numbers_have(n, STAT_REQUEST_ID) && numbers_have(n, STAT_QUEUE_ADDRESS))
            connect(n, type == EVENT_ENQUEUE_REQUEST, CONTEXT_TPU_STREAM,
                    join_two(n, STAT_REQUEST_ID, STAT_QUEUE_ADDRESS));
        break;
    case EVENT_ENQUEUE_PROGRAM:
    case EVENT_ENQUEUE_CONTINUATION:
    case EVENT_COMPLETE_CALLBACKS: add_program(n, type); break;
    default: break;
    }
}

bool event_numbers_read(EventNumbers *n, const ContextPlane *cp, const Line *line,
                        enum EventType type, StatIter stats)
{
    if (n->used) memset(n->seen, 0, sizeof n->seen), memset(n->repeated, 0, sizeof n->repeated);
    bool any = n->used = read_stats(n, &cp->filter, stats);
    if (cp->as_written) return any;
    /* An event for the execution of a program on a TPU consumes the program's launch. */
    if (any && cp->device >= 0 && line->named == NAME_MODULES && numbers_have(n, STAT_RUN_ID) &&
        numbers_have(n, STAT_QUEUE_ID))
        connect(n, false, CONTEXT_TPU_LAUNCH, launch_id(n, (uint64_t)cp->device));
    complete(n, type);
    return n->used = any || type == EVENT_PROCESS_BATCH || type == EVENT_BATCHING_SESSION_RUN;
}

bool event_root_level(const EventNumbers *n, enum EventType type, int32_t *level)
{
    *level = numbers_have(n, STAT_ROOT) ? (int32_t)numbers_int(n, STAT_ROOT) : 1;
    return numbers_have(n, STAT_ROOT) || type == EVENT_TRACE_CONTEXT;
}

/* A producer's scope is the process of its plane, if known. Other consumers use the process that
 * they name. Launches of programs match in all processes. */
uint32_t context_scope(const EventNumbers *n, const ContextPlane *cp, bool produces)
{
    int32_t type = context_type(n, produces);
    bool launch =
        context_type(n, true) == CONTEXT_TPU_LAUNCH || context_type(n, false) == CONTEXT_TPU_LAUNCH;
    bool named = numbers_have(n, STAT_CONSUMER_PROCESS) &&
                 !(numbers_have(n, STAT_PRODUCER) && cp->has_process);
    uint64_t process = named ? numbers_u64(n, STAT_CONSUMER_PROCESS) : cp->process;
    if (launch || !(named || cp->has_process)) return (uint32_t)type;
    return (uint32_t)(mix64(process + 1) * 31) + (uint32_t)type;
}
