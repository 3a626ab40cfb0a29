// SPDX-License-Identifier: Apache-2.0
/* dcn_messages.c: reads messages between slices and finds their bursts; see dcn_messages.h. */
#include "dcn_messages.h"

#include "../../base/sort.h"
#include "../../store/event_stats.h"
#include "../../store/events.h"

/* ---- reading ---- */

static void read_stat(DcnMessages *all, const StatFilter *filter, DcnMessage *message,
                      unsigned known, const Stat *stat, int64_t *duration_us, ProfErr *err)
{
    static const uint8_t keys[N_KNOWN_STATS] = {
        [STAT_DCN_SOURCE_SLICE] = DCN_SOURCE_SLICE + 1,
        [STAT_DCN_SOURCE_DEVICE] = DCN_SOURCE_DEVICE + 1,
        [STAT_DCN_DESTINATION_SLICE] = DCN_DESTINATION_SLICE + 1,
        [STAT_DCN_DESTINATION_DEVICE] = DCN_DESTINATION_DEVICE + 1,
        [STAT_DCN_CHUNK] = DCN_CHUNK + 1,
        [STAT_DCN_LOOP] = DCN_LOOP + 1,
        [STAT_PAYLOAD_BYTES] = DCN_BYTES + 1};
    bool number = stat->type == TYPE_INT64 || stat->type == TYPE_UINT64;
    if (known == STAT_DCN_LABEL && !message->label) {
        Slice text = stat_text(filter->plane, stat);
        if (text.n && !(message->label = text_intern(&all->texts, &all->arena, text.text, text.n)))
            prof_nomem(err);
    } else if (known == STAT_DURATION_US && number) {
        *duration_us = stat->integer;
    } else if (keys[known] && number && !(message->known & 1u << (keys[known] - 1))) {
        message->known |= 1u << (keys[known] - 1);
        message->keys[keys[known] - 1] = stat->integer;
    }
}

static enum DcnValidity validity_of(const DcnMessage *m)
{
    const unsigned needed = 1u << DCN_SOURCE_SLICE | 1u << DCN_SOURCE_DEVICE |
                            1u << DCN_DESTINATION_SLICE | 1u << DCN_DESTINATION_DEVICE;
    if (!m->label || (m->known & needed) != needed) return DCN_BAD_KEY;
    if (m->start_ps == m->end_ps) return DCN_CLOCK_SKEW;
    return m->keys[DCN_SOURCE_SLICE] == m->keys[DCN_DESTINATION_SLICE] ? DCN_LOOPBACK : DCN_VALID;
}

static void read_message(DcnMessages *all, const StatFilter *filter, const EventAt *at,
                         ProfErr *err)
{
    const int64_t us = 1000000;
    DcnMessage message = {.event = at->event, .start_ps = at->start_ps, .end_ps = at->start_ps};
    StatIter stats = stat_iter_of_event(at);
    int64_t duration_us = 0;
    unsigned known;
    Stat stat;
    while (!err->code && stat_iter_next_wanted(&stats, filter, &known, &stat))
        read_stat(all, filter, &message, known, &stat, &duration_us, err);
    if (duration_us > 0 && duration_us < INT64_MAX / us)
        message.start_ps = add_saturated(at->start_ps, -duration_us * us);
    message.validity = validity_of(&message);
    DcnMessage *place = err->code ? NULL : PUSH(all->messages);
    if (place)
        *place = message;
    else
        prof_nomem(err);
}

static void read_plane(DcnMessages *all, Host *host, const Plane *plane, ProfErr *err)
{
    static const enum KnownStat wanted[] = {STAT_DCN_LABEL,
                                            STAT_DCN_SOURCE_SLICE,
                                            STAT_DCN_SOURCE_DEVICE,
                                            STAT_DCN_DESTINATION_SLICE,
                                            STAT_DCN_DESTINATION_DEVICE,
                                            STAT_DCN_CHUNK,
                                            STAT_DCN_LOOP,
                                            STAT_DURATION_US,
                                            STAT_PAYLOAD_BYTES};
    bool *is_message = prof_alloc(plane->n_event_metas * sizeof *is_message), any = false;
    StatFilter filter = {0};
    if (!is_message) prof_nomem(err);
    for (size_t i = 0; is_message && i < plane->n_event_metas; i++)
        any |= is_message[i] =
            !strcmp(plane->event_metas[i].name->text, "MegaScale: Communication Transport Receive");
    if (any) stat_filter_open(&filter, plane, wanted, COUNT(wanted), err);
    for (size_t i = 0; any && i < plane->n_lines && !err->code; i++) {
        EventReader reader;
        EventAt at;
        event_reader_open(&reader, &host->lines[plane->first_line + i], EVENT_STATS, err);
        while (!err->code && event_reader_next(&reader, &at))
            if (is_message[at.meta - plane->event_metas]) read_message(all, &filter, &at, err);
        event_reader_close(&reader);
    }
    stat_filter_close(&filter);
    prof_free(is_message);
}

/* ---- bursts ---- */

typedef struct {
    int64_t ps;
    size_t message;
    bool ends;
} Edge;

/* Sorts edges by time, starts before ends: if one message ends when another starts, the burst
 * continues. */
static int by_time(const void *a, const void *b)
{
    const Edge *x = a, *y = b;
    if (x->ps != y->ps) return ORDER(x->ps, y->ps);
    if (x->ends != y->ends) return x->ends ? 1 : -1;
    return ORDER(x->message, y->message);
}

/* Marks the last messages of a burst. It starts at edges[begin] and ends with edges[end - 1]. */
static void mark_stragglers(DcnMessages *all, const Edge *edges, size_t begin, size_t end)
{
    int n = 0;
    for (size_t i = end; i-- > begin && n < DCN_STRAGGLERS;)
        if (edges[i].ends) all->messages.items[edges[i].message].straggler = ++n;
}

static void add_burst(DcnMessages *all, const Edge *edges, size_t begin, size_t end, ProfErr *err)
{
    DcnBurst *burst = PUSH(all->bursts);
    if (!burst) {
        prof_nomem(err);
        return;
    }
    *burst = (DcnBurst){.start_ps = edges[begin].ps, .end_ps = edges[end - 1].ps};
    uint64_t under_way = 0;
    for (size_t i = begin; i < end; i++) {
        DcnMessage *m = &all->messages.items[edges[i].message];
        if (edges[i].ends) {
            under_way--;
            continue;
        }
        m->burst = all->bursts.n;
        burst->n_messages++;
        if (m->keys[DCN_BYTES] > 0) burst->bytes = add_saturated(burst->bytes, m->keys[DCN_BYTES]);
        if (++under_way > burst->most_at_once) burst->most_at_once = under_way;
    }
    mark_stragglers(all, edges, begin, end);
}

static void find_bursts(DcnMessages *all, ProfErr *err)
{
    Edge *edges = prof_alloc(2 * all->messages.n * sizeof *edges);
    size_t n = 0, under_way = 0, begin = 0;
    if (!edges) prof_nomem(err);
    for (size_t i = 0; edges && i < all->messages.n; i++) {
        const DcnMessage *m = &all->messages.items[i];
        if (m->validity == DCN_VALID)
            edges[n++] = (Edge){m->start_ps, i, false}, edges[n++] = (Edge){m->end_ps, i, true};
    }
    sort_array(edges, n, sizeof *edges, by_time);
    for (size_t i = 0; i < n && !err->code; i++) {
        under_way += edges[i].ends ? (size_t)-1 : 1;
        if (!under_way) add_burst(all, edges, begin, i + 1, err), begin = i + 1;
    }
    prof_free(edges);
}

/* ---- the analysis ---- */

static void dcn_messages_release(void *result)
{
    DcnMessages *all = result;
    prof_free(all->messages.items);
    prof_free(all->bursts.items);
    text_table_free(&all->texts);
    arena_free(&all->arena);
    prof_free(all);
}

static void *dcn_messages_make(Run *run, Host *only, ProfErr *err)
{
    Host *host = only ? only : &run->hosts[0];
    DcnMessages *all = prof_alloc(sizeof *all);
    if (!all) {
        prof_nomem(err);
        return NULL;
    }
    for (size_t i = 0; i < host->n_planes && !err->code; i++)
        if (host->planes[i].kind == PLANE_HOST) read_plane(all, host, &host->planes[i], err);
    if (!err->code) find_bursts(all, err);
    if (!err->code) return all;
    dcn_messages_release(all);
    return NULL;
}

const DcnMessages *host_dcn_messages(Host *host, ProfErr *err)
{
    static const Analysis analysis = {dcn_messages_make, dcn_messages_release, NEEDS_ALL_HOSTS};
    return run_analysis(host->run, host, &analysis, err);
}
