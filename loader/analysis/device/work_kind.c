// SPDX-License-Identifier: Apache-2.0
/* work_kind.c: the kind of work of a device's event; see work_kind.h. */
#define _GNU_SOURCE
#include "work_kind.h"

#include "../../store/event_values.h"
#include "../program/instruction_text.h"

const char *const work_kind_names[N_WORK_KINDS] = {"compute", "collective", "transfer"};

Slice event_op_name(const EventMeta *meta)
{
    return meta->display_name->n_bytes ? slice_of(meta->display_name)
                                       : instruction_name(slice_of(meta->name));
}

const Text *event_meta_text(const EventMeta *meta, enum KnownStat known)
{
    for (uint16_t i = 0; i < meta->n_facts; i++)
        if (meta->facts[i].known == known && meta->facts[i].fact.type == TYPE_STR)
            return meta->facts[i].fact.text;
    return NULL;
}

bool event_meta_number(const EventMeta *meta, enum KnownStat known, uint64_t *number)
{
    for (uint16_t i = 0; i < meta->n_facts; i++) {
        const StatValue *fact = &meta->facts[i].fact;
        if (meta->facts[i].known == known &&
            (fact->type == TYPE_INT64 || fact->type == TYPE_UINT64)) {
            *number = fact->u64;
            return true;
        }
    }
    return false;
}

/* ---- kinds ---- */

static bool is_collective(Slice word)
{
    static const char *const starts[] = {"all-reduce",       "all-gather",        "reduce-scatter",
                                         "all-to-all",       "ragged-all-to-all", "collective-",
                                         "async-collective-"};
    static const char *const words[] = {"send", "send-done", "recv", "recv-done",
                                        "megacore fusion"};
    for (size_t i = 0; i < COUNT(starts); i++)
        if (slice_starts(word, starts[i])) return true;
    for (size_t i = 0; i < COUNT(words); i++)
        if (slice_is(word, words[i])) return true;
    return false;
}

static bool is_transfer(Slice word)
{
    static const char *const ends[] = {"-start", "-done", "async-update"};
    for (size_t i = 0; i < COUNT(ends); i++)
        if (slice_ends(word, ends[i])) return true;
    return op_is_infeed_or_outfeed(word) || slice_starts(word, "host send") ||
           slice_starts(word, "host recv");
}

static bool is_host_transfer(Slice category, Slice text)
{
    return slice_starts(category, "host ") ||
           (text.n && memmem(text.text, text.n, "is_host_transfer=true", 21));
}

enum WorkKind op_work_kind(Slice category, Slice text, Slice name)
{
    Slice opcode = instruction_opcode(text);
    const char *dot = name.n ? memchr(name.text, '.', name.n) : NULL;
    if (dot) name.n = (size_t)(dot - name.text);
    bool named = !category.n && !opcode.n,
         async = slice_starts(category, "async-") || slice_starts(opcode, "async-");
    if (is_host_transfer(category, text)) return WORK_TRANSFER;
    if (is_collective(category) || is_collective(opcode) ||
        ((named || async) && is_collective(name)))
        return WORK_COLLECTIVE;
    return is_transfer(category) || is_transfer(opcode) || async || (named && is_transfer(name))
               ? WORK_TRANSFER
               : WORK_COMPUTE;
}

bool stream_is_memset(Slice name)
{
    return slice_starts_ignoring_case(name, "memset") || slice_starts(name, "__amd_rocclr_fill");
}

/* Returns whether an event moves pages of unified memory, or waits for them. */
static bool is_migration(Slice name)
{
    static const char *const others[] = {"GPU page faults", "Thrashing", "Throttling",
                                         "Remote map"};
    for (size_t i = 0; i < COUNT(others); i++)
        if (slice_is(name, others[i])) return true;
    return slice_starts(name, "Unified memory");
}

/* Returns the kind of an event on a GPU's stream. */
static enum WorkKind stream_work_kind(Slice name)
{
    static const char *const collectives[] = {"nccl", "rccl"}, *const transfers[] = {
                                                                   "memcpy", "__amd_rocclr_copy"};
    for (size_t i = 0; i < COUNT(collectives); i++)
        if (slice_starts_ignoring_case(name, collectives[i])) return WORK_COLLECTIVE;
    for (size_t i = 0; i < COUNT(transfers); i++)
        if (slice_starts_ignoring_case(name, transfers[i])) return WORK_TRANSFER;
    return stream_is_memset(name) || is_migration(name) ||
                   (slice_starts(name, "Copy") && slice_contains(name, "To"))
               ? WORK_TRANSFER
               : WORK_COMPUTE;
}

static bool events_have(const EventMeta *meta, enum KnownStat known)
{
    return atomic_load_explicit(&meta->event_stats[known / 64], memory_order_relaxed) >>
               (known % 64) &
           1;
}

uint8_t *plane_work_kinds(Plane *plane, ProfErr *err)
{
    uint8_t *kinds = prof_alloc(plane->n_event_metas);
    if (!kinds) prof_nomem(err);
    for (size_t i = 0; kinds && i < plane->n_event_metas && !err->code; i++) {
        EventMeta *meta = &plane->event_metas[i];
        if (plane->kind == PLANE_GPU) {
            kinds[i] = events_have(meta, STAT_MEMCPY_DETAILS)
                           ? WORK_TRANSFER
                           : stream_work_kind(slice_of(meta->name));
        } else if (!event_meta_values(plane, meta, err)) {
            const Text *category = event_meta_text(meta, STAT_HLO_CATEGORY);
            kinds[i] = op_work_kind(slice_of(category ? category : empty_text),
                                    slice_of(meta->name), event_op_name(meta));
        }
    }
    if (!err->code) return kinds;
    prof_free(kinds);
    return NULL;
}
