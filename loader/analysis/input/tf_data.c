// SPDX-License-Identifier: Apache-2.0
/* tf_data.c: analyses the input pipelines of tf.data; see tf_data.h. */
#include "tf_data.h"

#include "../../base/interrupt.h"
#include "../../base/search.h"
#include "../../base/sort.h"
#include "../../store/event_stats.h"
#include "../../store/events.h"
#include "../grouping/grouping.h"

enum { SLOW_PS = 50000000, MOST_LEVELS = 100 };

enum Kind { KIND_NONE, KIND_ITERATOR, KIND_PRODUCE, KIND_CONSUME };

/* An event of an iterator. */
typedef struct {
    uint32_t iterator; /* index; NO_ITERATOR if it has no id */
    uint64_t event;
    int64_t start_ps, duration_ps;
    size_t first_child, n_children;
    bool is_root;
} Node;
#define NO_ITERATOR UINT32_MAX

/* An element that passes between threads: its producer or its consumer. */
typedef struct {
    int64_t iterator_id, element_id; /* iterator_id: of the iterator that consumes it */
    uint32_t node;
} Handover;

typedef struct {
    uint32_t from, to;
} Edge;

/* The role of an event on a line. */
typedef struct {
    enum Kind kind;
    uint32_t node; /* for KIND_ITERATOR */
    bool has_element, has_parent_id;
    int64_t element_id, parent_id;
} Seen;

typedef struct {
    TfData *result;
    Host *host;
    const Grouping *grouping;
    LIST(Node) nodes;
    LIST(Handover) produced, consumed;
    LIST(Edge) edges;
    LIST(int64_t) device_ids;
    HashTable ids;
    uint32_t *slots; /* by iterator: index in the parts of the current call + 1 */
    uint64_t budget; /* limits edges and visits, because the pipelines of a hostile file could be
                        endless */
    bool cut;
} TfDataBuilder;

/* ---- names ---- */

static const char *last_part(const char *name)
{
    const char *found = name;
    for (const char *p = name; (p = strstr(p, "::")); p += 2) found = p + 2;
    return found;
}

static bool is_one_of(const char *name, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!strcmp(name, names[i])) return true;
    return false;
}

static bool is_async(const char *name)
{
    static const char *const names[] = {
        "Prefetch",    "ParallelInterleave",       "ParallelMap",  "ParseExample", "MapAndBatch",
        "DataService", "LegacyParallelInterleave", "ParallelBatch"};
    return is_one_of(name, names, COUNT(names));
}

/* Returns whether a name is that of an asynchronous dataset. Names end with a version, such as
 * ParallelMapV2. */
static bool is_async_version(const char *name)
{
    char plain[32];
    size_t n = strlen(name);
    while (n && name[n - 1] >= '0' && name[n - 1] <= '9') n--;
    if (n == strlen(name) || n < 2 || name[n - 1] != 'V' || n > sizeof plain) return is_async(name);
    memcpy(plain, name, n - 1);
    plain[n - 1] = 0;
    return is_async(plain);
}

static enum Kind kind_of(const char *name)
{
    static const char *const makers[] = {"Prefetch",    "ParallelInterleave", "ParallelMap",
                                         "MapAndBatch", "ParseExample",       "ParallelBatch"};
    if (starts_with(name, "Iterator::")) return KIND_ITERATOR;
    for (size_t i = 0; i < COUNT(makers); i++) {
        size_t n = strlen(makers[i]);
        if (strncmp(name, makers[i], n)) continue;
        if (!strcmp(name + n, "Produce")) return KIND_PRODUCE;
        if (!strcmp(name + n, "Consume")) return KIND_CONSUME;
    }
    return KIND_NONE;
}

static bool is_root(const char *name)
{
    int n = 1;
    for (const char *p = name; (p = strstr(p, "::")); p += 2) n++;
    return n == 2;
}

const char *tf_data_suggestion(const char *name)
{
    static const char *const sources[] = {"TFRecord",       "SSTable",
                                          "RecordIO",       "Spanner",
                                          "TFColumn",       "SleepwalkRemoteDataset",
                                          "TextLine",       "StitchedTimelineDataset",
                                          "DateKeyDataset", "CapacitorProto",
                                          "LMDB",           "ExternalDataset",
                                          "PearModel",      "FixedLengthRecordV2",
                                          "FromTensor",     "TensorSlice",
                                          "Generator",      "SyntheticDatasetOp"};
    static const char *const remote[] = {"GuzzlerDataGuzzlerRemoteDataset", "ReverbDataset",
                                         "DatasetSampleGame", "Courier", "ReverbEpisodeDataset"};
    static const char *const parallel[] = {"Map", "Interleave"};
    static const char *const serial[] = {"Filter", "Batch", "Unbatch"};
    if (is_one_of(name, sources, COUNT(sources))) return "slow source";
    if (!strcmp(name, "DataService")) return "data service";
    if (is_one_of(name, remote, COUNT(remote))) return "slow remote source";
    if (is_one_of(name, parallel, COUNT(parallel))) return "transformation with a parallel version";
    if (is_one_of(name, serial, COUNT(serial))) return "transformation without a parallel version";
    return "other";
}

/* ---- reading ---- */

static uint32_t iterator_of(TfDataBuilder *m, int64_t id, const Seen *seen, const Text *name,
                            ProfErr *err)
{
    TfData *r = m->result;
    int64_t at = id_find(&m->ids, r->iterators.items, sizeof *r->iterators.items, id);
    if (at >= 0) return (uint32_t)at;
    TfDataIterator *place = PUSH(r->iterators);
    if (!place) {
        prof_nomem(err);
        return NO_ITERATOR;
    }
    *place = (TfDataIterator){.id = id,
                              .parent_id = seen->parent_id,
                              .has_parent = seen->has_parent_id,
                              .long_name = name,
                              .name = last_part(name->text)};
    place->is_async = is_async(place->name), place->is_async_actual = is_async_version(place->name);
    if (!id_add(&m->ids, r->iterators.items, sizeof *r->iterators.items, r->iterators.n - 1)) {
        prof_nomem(err);
        return NO_ITERATOR;
    }
    return (uint32_t)r->iterators.n - 1;
}

/* Adds an event. An id that is not an integer is ignored. */
static void add_event(TfDataBuilder *m, const StatFilter *filter, const EventAt *at, Seen *seen,
                      ProfErr *err)
{
    StatIter stats = stat_iter_of_event(at);
    bool has_id = false;
    int64_t id = 0;
    unsigned known;
    Stat stat;
    while (stat_iter_next_wanted(&stats, filter, &known, &stat)) {
        if (stat.type != TYPE_INT64 && stat.type != TYPE_UINT64) continue;
        int64_t value = (int64_t)stat_int_or_uint(&stat);
        if (known == STAT_STEP_ID && !has_id) has_id = true, id = value;
        if (known == STAT_ITERATOR_PARENT && !seen->has_parent_id)
            seen->has_parent_id = true, seen->parent_id = value;
        if (known == STAT_ELEMENT_ID && !seen->has_element)
            seen->has_element = true, seen->element_id = value;
    }
    if (seen->kind != KIND_ITERATOR) return;
    Node *node = PUSH(m->nodes);
    if (!node || m->nodes.n >= UINT32_MAX) {
        prof_nomem(err);
        return;
    }
    seen->node = (uint32_t)m->nodes.n - 1;
    *node = (Node){.iterator = NO_ITERATOR,
                   .event = at->event,
                   .start_ps = at->start_ps,
                   .duration_ps = at->duration_ps};
    if (!has_id) return;
    node->iterator = iterator_of(m, id, seen, at->meta->name, err);
    node->is_root = is_root(at->meta->name->text);
    if (!seen->has_parent_id || strcmp(at->meta->name->text, "Iterator::Prefetch::Generator"))
        return;
    int64_t *device = PUSH(m->device_ids);
    if (device)
        *device = seen->parent_id;
    else
        prof_nomem(err);
}

static void add_handover(TfDataBuilder *m, bool produced, Handover handover, ProfErr *err)
{
    Handover *place = produced ? PUSH(m->produced) : PUSH(m->consumed);
    if (place)
        *place = handover;
    else
        prof_nomem(err);
}

static void add_edge(TfDataBuilder *m, uint32_t from, uint32_t to, ProfErr *err)
{
    Edge *place = m->budget ? PUSH(m->edges) : NULL;
    if (place)
        *place = (Edge){from, to}, m->budget--;
    else if (m->budget)
        prof_nomem(err);
    else
        m->cut = true;
}

/* Connects an event with the one that directly includes it. */
static void link_event(TfDataBuilder *m, Seen *seen, Seen *parent, ProfErr *err)
{
    if (seen->kind == KIND_ITERATOR && parent->kind == KIND_ITERATOR) {
        add_edge(m, parent->node, seen->node, err);
    } else if (seen->kind == KIND_ITERATOR && parent->kind == KIND_PRODUCE && parent->has_element) {
        /* XProf reads only the first one, but a batch requests each of its elements. */
        if (seen->has_parent_id)
            add_handover(m, true, (Handover){seen->parent_id, parent->element_id, seen->node}, err);
    } else if (seen->kind == KIND_CONSUME && parent->kind == KIND_ITERATOR && seen->has_element) {
        const Node *node = &m->nodes.items[parent->node];
        if (node->iterator != NO_ITERATOR)
            add_handover(m, false,
                         (Handover){m->result->iterators.items[node->iterator].id, seen->element_id,
                                    parent->node},
                         err);
    }
}

static void read_line(TfDataBuilder *m, const StatFilter *filter, const uint8_t *kinds, Line *line,
                      ProfErr *err)
{
    const NestingChunk *nesting = line->n_events ? line_nesting(line, err) : NULL;
    Seen *seen = nesting ? prof_buffer((size_t)line->n_events * sizeof *seen) : NULL;
    if (!seen) {
        if (nesting) prof_nomem(err);
        return;
    }
    EventReader reader;
    EventAt at;
    bool any = false;
    event_reader_open_for(&reader, line, &filter->wanted, err);
    for (uint64_t i = 0; !err->code && event_reader_next(&reader, &at); i++) {
        seen[i] = (Seen){.kind = kinds[at.meta - line->plane->event_metas]};
        if (seen[i].kind) any = true, add_event(m, filter, &at, &seen[i], err);
    }
    event_reader_close(&reader);
    for (uint64_t i = 0; any && i < line->n_events && !err->code; i++) {
        if (i % CHUNK_EVENTS == 0 && interrupt_poll(CHUNK_EVENTS, err)) break;
        if (!seen[i].kind) continue;
        int64_t distance =
            packed_at(&nesting[i / CHUNK_EVENTS].columns[NEST_PARENT], (size_t)(i % CHUNK_EVENTS));
        uint64_t parent = i - (uint64_t)distance;
        if (distance && parent < line->n_events) link_event(m, &seen[i], &seen[parent], err);
    }
    prof_free(seen);
}

static void read_plane(TfDataBuilder *m, Plane *plane, ProfErr *err)
{
    static const enum KnownStat wanted[] = {STAT_STEP_ID, STAT_ITERATOR_PARENT, STAT_ELEMENT_ID};
    uint8_t *kinds = prof_alloc(plane->n_event_metas);
    StatFilter filter = {0};
    bool any = false;
    if (!kinds) prof_nomem(err);
    for (size_t i = 0; kinds && i < plane->n_event_metas; i++)
        any |= (kinds[i] = (uint8_t)kind_of(plane->event_metas[i].name->text)) == KIND_ITERATOR;
    if (any && !stat_filter_open(&filter, plane, wanted, COUNT(wanted), err))
        for (size_t i = 0; i < plane->n_lines && !err->code; i++)
            read_line(m, &filter, kinds, &m->host->lines[plane->first_line + i], err);
    stat_filter_close(&filter);
    prof_free(kinds);
}

/* ---- children ---- */

static int by_element(const void *a, const void *b)
{
    const Handover *x = a, *y = b;
    if (x->iterator_id != y->iterator_id) return ORDER(x->iterator_id, y->iterator_id);
    if (x->element_id != y->element_id) return ORDER(x->element_id, y->element_id);
    return ORDER(x->node, y->node);
}

static void join_threads(TfDataBuilder *m, ProfErr *err)
{
    sort_array(m->produced.items, m->produced.n, sizeof *m->produced.items, by_element);
    for (size_t i = 0; i < m->consumed.n && !interrupt_poll(4, err) && !m->cut; i++) {
        const Handover *want = &m->consumed.items[i];
        Handover before = {.iterator_id = want->iterator_id, .element_id = want->element_id};
        size_t low =
            LOWER_BOUND(k, 0, m->produced.n, by_element(&m->produced.items[k], &before) < 0);
        for (; low < m->produced.n && !m->cut && !interrupt_poll(1, err); low++) {
            const Handover *p = &m->produced.items[low];
            if (p->iterator_id != want->iterator_id || p->element_id != want->element_id) break;
            add_edge(m, want->node, p->node, err);
        }
    }
}

ORDER_BY_TWO(by_from, Edge, from, to)

static void sort_edges(TfDataBuilder *m)
{
    sort_array(m->edges.items, m->edges.n, sizeof *m->edges.items, by_from);
    if (interrupt_due(m->edges.n)) m->edges.n = 0; /* interrupted: the edges may be unsorted */
    for (size_t i = 0; i < m->edges.n; i++) {
        Node *from = &m->nodes.items[m->edges.items[i].from];
        if (!from->n_children++) from->first_child = i;
    }
}

/* ---- calls ---- */

static int64_t overlap(const Node *a, const Node *b)
{
    int64_t end_a = add_saturated(a->start_ps, a->duration_ps),
            end_b = add_saturated(b->start_ps, b->duration_ps);
    int64_t from = a->start_ps > b->start_ps ? a->start_ps : b->start_ps,
            to = end_a < end_b ? end_a : end_b;
    return to > from ? (int64_t)((uint64_t)to - (uint64_t)from) : 0;
}

/* Adds an iterator's event, and everything that it called, to the current call. The depth is at
 * most MOST_LEVELS. */
static void visit(TfDataBuilder *m, const Node *node, size_t first_part, bool blocking, int level,
                  ProfErr *err)
{
    if (node->iterator == NO_ITERATOR || err->code) return;
    if (level > MOST_LEVELS || !m->budget) {
        m->cut = true;
        return;
    }
    m->budget--;
    uint32_t *slot = &m->slots[node->iterator];
    if (!*slot) {
        TfDataPart *place = PUSH(m->result->parts);
        if (!place) {
            prof_nomem(err);
            return;
        }
        *place = (TfDataPart){.iterator = node->iterator, .start_ps = node->start_ps};
        *slot = (uint32_t)(m->result->parts.n - first_part);
    }
    size_t at = first_part + *slot - 1;
    int64_t self_ps = node->duration_ps;
    for (size_t i = 0; i < node->n_children; i++) {
        const Node *child = &m->nodes.items[m->edges.items[node->first_child + i].to];
        int64_t together_ps = overlap(node, child);
        visit(m, child, first_part, blocking && together_ps, level + 1, err);
        self_ps = add_wrapped(self_ps, -together_ps);
    }
    TfDataPart *part = &m->result->parts.items[at];
    if (node->start_ps < part->start_ps) part->start_ps = node->start_ps;
    part->duration_ps = add_wrapped(part->duration_ps, node->duration_ps);
    part->self_ps = add_wrapped(part->self_ps, self_ps);
    part->blocking |= blocking, part->calls++;
}

static void add_call(TfDataBuilder *m, const Node *root, ProfErr *err)
{
    TfData *r = m->result;
    TfDataCall *call = PUSH(r->calls);
    if (!call) {
        prof_nomem(err);
        return;
    }
    *call = (TfDataCall){root->event,
                         root->start_ps,
                         root->duration_ps,
                         event_step_group(m->grouping, root->event),
                         r->parts.n,
                         0,
                         -1,
                         0};
    visit(m, root, call->first_part, true, 0, err);
    call->n_parts = r->parts.n - call->first_part;
    for (size_t i = call->first_part; i < r->parts.n; i++) {
        const TfDataPart *part = &r->parts.items[i];
        m->slots[part->iterator] = 0;
        if (part->blocking && part->self_ps > call->bottleneck_ps)
            call->bottleneck = part->iterator, call->bottleneck_ps = part->self_ps;
    }
}

/* ---- pipelines ---- */

static int by_pipeline(const void *a, const void *b)
{
    const Node *x = *(const Node *const *)a, *y = *(const Node *const *)b;
    if (x->iterator != y->iterator) return ORDER(x->iterator, y->iterator);
    if (x->duration_ps != y->duration_ps) return ORDER(y->duration_ps, x->duration_ps);
    return ORDER(x, y);
}

static bool is_device(const TfDataBuilder *m, int64_t id)
{
    for (size_t i = 0; i < m->device_ids.n; i++)
        if (m->device_ids.items[i] == id) return true;
    return false;
}

static void add_pipeline(TfDataBuilder *m, const Node *const *roots, size_t n, uint32_t numbers[2],
                         ProfErr *err)
{
    TfDataPipeline p = {.iterator = roots[0]->iterator,
                        .first_call = m->result->calls.n,
                        .n_calls = n,
                        .min_ps = INT64_MAX};
    p.is_device = is_device(m, m->result->iterators.items[p.iterator].id);
    p.number = numbers[p.is_device]++;
    int64_t sum_ps = 0;
    for (size_t i = 0; i < n && !err->code; i++) {
        int64_t ps = roots[i]->duration_ps;
        add_call(m, roots[i], err);
        sum_ps = add_wrapped(sum_ps, ps);
        if (ps < p.min_ps) p.min_ps = ps;
        if (ps > p.max_ps) p.max_ps = ps;
        p.n_slow += ps > SLOW_PS;
    }
    p.avg_ps = sum_ps / (int64_t)n;
    TfDataPipeline *place = PUSH(m->result->pipelines);
    if (place)
        *place = p;
    else
        prof_nomem(err);
}

/* Adds the pipelines. Iterators and pipelines are numbered in the order of their first event. */
static void add_pipelines(TfDataBuilder *m, ProfErr *err)
{
    const Node **roots = prof_alloc(m->nodes.n * sizeof *roots);
    m->slots = prof_alloc(m->result->iterators.n * sizeof *m->slots);
    size_t n = 0, n_devices = 0;
    uint32_t numbers[2] = {0};
    if (!roots || !m->slots) prof_nomem(err);
    sort_int64(m->device_ids.items, m->device_ids.n);
    for (size_t i = 0; i < m->device_ids.n; i++)
        if (!i || m->device_ids.items[i] != m->device_ids.items[i - 1])
            m->device_ids.items[n_devices++] = m->device_ids.items[i];
    m->device_ids.n = n_devices;
    for (size_t i = 0; !err->code && i < m->nodes.n; i++)
        if (m->nodes.items[i].is_root) roots[n++] = &m->nodes.items[i];
    sort_array(roots, n, sizeof *roots, by_pipeline);
    for (size_t i = 0, k; i < n && !err->code; i = k) {
        for (k = i + 1; k < n && roots[k]->iterator == roots[i]->iterator; k++) {
        }
        add_pipeline(m, roots + i, k - i, numbers, err);
    }
    prof_free(roots);
}

/* ---- the analysis ---- */

static void tf_data_release(void *result)
{
    TfData *r = result;
    prof_free(r->iterators.items);
    prof_free(r->pipelines.items);
    prof_free(r->calls.items);
    prof_free(r->parts.items);
    prof_free(r);
}

static void *tf_data_make(Run *run, Host *only, ProfErr *err)
{
    Host *host = only ? only : &run->hosts[0];
    TfDataBuilder m = {.host = host,
                       .result = prof_alloc(sizeof(TfData)),
                       .budget = (4 << 20) + 4 * host->n_events};
    if (!m.result) {
        prof_nomem(err);
        return NULL;
    }
    Plane *plane = host_find_plane(host, PREFIX_HOST_THREADS);
    if (plane) read_plane(&m, plane, err);
    if (!err->code && m.nodes.n && (m.grouping = host_grouping(host, err))) {
        join_threads(&m, err);
        sort_edges(&m);
        if (!err->code) add_pipelines(&m, err);
    }
    if (m.cut)
        host_issue(
            host, "warning", "tf_data_cut", m.result,
            "tf.data iterators call each other so often that some calls could not be followed");
    prof_free(m.nodes.items);
    prof_free(m.produced.items);
    prof_free(m.consumed.items);
    prof_free(m.edges.items);
    prof_free(m.device_ids.items);
    hash_free(&m.ids);
    prof_free(m.slots);
    if (!err->code) return m.result;
    tf_data_release(m.result);
    return NULL;
}

const TfData *host_tf_data(Host *host, ProfErr *err)
{
    static const Analysis analysis = {tf_data_make, tf_data_release, NEEDS_ALL_HOSTS};
    return run_analysis(host->run, host, &analysis, err);
}
