// SPDX-License-Identifier: Apache-2.0
/* inference_host.c: finds the requests and batches of one host; see inference.h.
 *
 * The events of /host:CPU are read once. Those whose names matter for requests are kept, and the
 * span of each group. Requests and batches are then created from them, and each event is assigned
 * to the requests that it belongs to: that of its group and those of the group's parents. Therefore
 * a batch's time counts for all requests in it. */
#include "inference_parts.h"
#include "../../base/search.h"

#include "../../format/hlo.h"
#include "../../base/sort.h"
#include "../../store/event_stats.h"
#include "../../store/events.h"
#include "../../store/event_values.h"
#include "../steps/step_parts.h"

#include <inttypes.h>
#include <stdio.h>

static const char *const kind_names[KIND_OTHER] = {
    "BatchingSessionRun",
    "TfrtModelRun",
    "ServingModelRun",
    "SessionRun",
    "RunGraph",
    "ProcessBatch",
    "OrbaxServing::ProcessBatch",
    "ScheduleWithSplit",
    "ScheduleWithoutSplit",
    "ScheduleWithEagerSplit",
    "ASBSQueue::Schedule",
    "ReadHbm",
    "TransferD2HRequest",
    "WriteHbm",
    "TransferH2DRequest",
    "TransferPreprocessedH2DRequest",
    "tpu::System::TransferToDevice=>IssueEvent",
    "tpu::System::TransferToDevice=>IssueEvent=>Done",
    "tpu::System::TransferFromDevice=>IssueEvent",
    "tpu::System::TransferFromDevice=>IssueEvent=>Done",
    "TPUPartitionedCallOp-ExecuteLocal",
    "TPUPartitionedCallOp-ExecuteRemote",
    "TPUPartitionedCallOp-InitializeVarOnTPU",
    "tpu::System::Execute",
    "DoEnqueueProgram",
    "DoEnqueueContinuationProgram",
    "CompleteCallbacks",
    "ConcatInputTensors",
    "OrbaxServing::ConcatInputBuffers",
    "MergeInputTensors",
    "BrainSessionRun",
    "Linearize",
    "Delinearize",
    "TransferBufferFromDevice-FastPath",
};

/* ---- groups ---- */

GroupSpan *inference_group(InferenceBuilder *m, int64_t id)
{
    if (m->last_group < m->groups.n && m->groups.items[m->last_group].id == id)
        return &m->groups.items[m->last_group];
    int64_t found = id_find(&m->ids, m->groups.items, sizeof *m->groups.items, id);
    if (found < 0) return NULL;
    m->last_group = (size_t)found;
    return &m->groups.items[found];
}

static GroupSpan *make_group(InferenceBuilder *m, int64_t id, ProfErr *err)
{
    GroupSpan *group = inference_group(m, id);
    if (group) return group;
    group = PUSH(m->groups);
    if (!group) {
        prof_nomem(err);
        return NULL;
    }
    *group = (GroupSpan){.id = id};
    m->last_group = m->groups.n - 1;
    if (!id_add(&m->ids, m->groups.items, sizeof *m->groups.items, m->last_group)) {
        prof_nomem(err);
        return NULL;
    }
    return group;
}

/* Returns the group in the host's grouping; NULL if the file's own groups are used. */
static const Group *grouped(const InferenceBuilder *m, int64_t id)
{
    if (m->grouping->by != GROUPED_HERE || id < 0 || (uint64_t)id >= m->grouping->n_groups)
        return NULL;
    return &m->grouping->groups[id];
}

/* ---- reading /host:CPU ---- */

const Text *inference_intern(InferenceBuilder *m, Slice text, ProfErr *err)
{
    const Text *t = text_intern(&m->result->texts, &m->result->arena, text.text, text.n);
    if (!t) prof_nomem(err);
    return t;
}

static const Text *model_text(InferenceBuilder *m, const Plane *plane, const Stat *stat,
                              ProfErr *err)
{
    char number[32];
    if (stat->type != TYPE_INT64 && stat->type != TYPE_UINT64)
        return inference_intern(m, stat_text(plane, stat), err);
    snprintf(number, sizeof number, stat->type == TYPE_INT64 ? "%" PRId64 : "%" PRIu64, stat->u64);
    return inference_intern(m, slice_of_string(number), err);
}

/* Reads a stat of an event. The event's own stats come before its metadata's; the first of a name
 * counts. */
static void read_stat(InferenceBuilder *m, const Plane *plane, Seen *seen, unsigned known,
                      const Stat *stat, ProfErr *err)
{
    static const uint8_t bits[N_KNOWN_STATS] = {
        [STAT_MODEL_ID] = SAID_MODEL,         [STAT_BATCH_TASK_SIZE] = SAID_SIZE,
        [STAT_PADDING_AMOUNT] = SAID_PADDING, [STAT_PADDED_BATCH] = SAID_PADDED,
        [STAT_CONSUMER] = SAID_CONTEXT,       [STAT_SHAPE] = SAID_SHAPE,
        [STAT_LAYOUT] = SAID_LAYOUT,          [STAT_ROOT] = SAID_ROOT};
    if (!bits[known] || seen->said & bits[known]) return;
    seen->said |= bits[known];
    switch (known) {
    case STAT_MODEL_ID: seen->model = model_text(m, plane, stat, err); break;
    case STAT_BATCH_TASK_SIZE: seen->size = (int32_t)(uint32_t)stat_int(stat); break;
    case STAT_PADDING_AMOUNT: seen->padding = (int32_t)(uint32_t)stat_int(stat); break;
    case STAT_PADDED_BATCH: seen->padded = (int32_t)(uint32_t)stat_int(stat); break;
    case STAT_CONSUMER: seen->context = stat_int(stat); break;
    case STAT_SHAPE: seen->shape = inference_intern(m, stat_text(plane, stat), err); break;
    case STAT_LAYOUT: seen->layout = inference_intern(m, stat_text(plane, stat), err); break;
    default: {
        int64_t root = stat_int(stat);
        seen->user_root =
            root == -1 || (root == 1 && starts_with(seen->name->text, "ModelServerRequest_"));
        break;
    }
    }
}

static void read_stats(InferenceBuilder *m, const StatFilter *filter, const EventAt *at, Seen *seen,
                       ProfErr *err)
{
    StatIter stats = stat_iter_of_event(at);
    unsigned known;
    Stat stat;
    while (!err->code && stat_iter_next_wanted(&stats, filter, &known, &stat))
        read_stat(m, filter->plane, seen, known, &stat, err);
    if (err->code || !at->meta->has_stats || event_meta_values(filter->plane, at->meta, err))
        return;
    for (size_t i = 0; i < at->meta->n_facts && !err->code; i++) {
        const KnownValue *f = &at->meta->facts[i];
        stat = (Stat){.type = f->fact.type, .u64 = f->fact.u64};
        if (stat.type == TYPE_STR)
            stat.bytes = (const uint8_t *)f->fact.text->text, stat.n_bytes = f->fact.text->n_bytes;
        read_stat(m, filter->plane, seen, f->known, &stat, err);
    }
}

static void read_event(InferenceBuilder *m, const StatFilter *filter, const EventAt *at,
                       uint8_t kind, ProfErr *err)
{
    int64_t id = event_group(m->grouping, at->event);
    if (id == -1) return;
    GroupSpan *group = make_group(m, id, err);
    if (!group) return;
    Seen seen = {.group = id,
                 .start_ps = (uint64_t)at->start_ps,
                 .event = at->event,
                 .kind = kind,
                 .name = at->meta->name};
    seen.end_ps = seen.start_ps + (uint64_t)at->duration_ps;
    if (group->begin_ps == 0 || seen.start_ps < group->begin_ps) group->begin_ps = seen.start_ps;
    if (seen.end_ps > group->end_ps) group->end_ps = seen.end_ps;
    read_stats(m, filter, at, &seen, err);
    if (err->code || (kind == KIND_OTHER && !seen.user_root)) return;
    Seen *place = PUSH(m->seen);
    if (!place)
        prof_nomem(err);
    else
        *place = seen;
}

static void read_line(InferenceBuilder *m, const StatFilter *filter, const uint8_t *kinds,
                      Line *line, ProfErr *err)
{
    EventReader reader;
    EventAt at;
    event_reader_open_for(&reader, line, &filter->wanted, err);
    while (!err->code && event_reader_next(&reader, &at))
        read_event(m, filter, &at, kinds[at.meta - line->plane->event_metas], err);
    event_reader_close(&reader);
}

/* Finds the kind of each event metadata. Returns whether there may be requests or batches. */
static bool read_kinds(const Plane *plane, uint8_t *kinds)
{
    bool any = false;
    for (size_t i = 0; i < plane->n_event_metas; i++) {
        uint8_t k = 0;
        while (k < KIND_OTHER && strcmp(plane->event_metas[i].name->text, kind_names[k])) k++;
        kinds[i] = k;
        any |= k < KIND_SCHEDULE;
    }
    return any || plane_declares(plane, STAT_ROOT);
}

ORDER_BY_TWO(by_kind, Seen, kind, event)

static void read_plane(InferenceBuilder *m, Plane *plane, ProfErr *err)
{
    static const enum KnownStat wanted[] = {
        STAT_MODEL_ID, STAT_BATCH_TASK_SIZE, STAT_PADDING_AMOUNT, STAT_PADDED_BATCH,
        STAT_CONSUMER, STAT_SHAPE,           STAT_LAYOUT,         STAT_ROOT};
    uint8_t *kinds = prof_alloc(plane->n_event_metas);
    StatFilter filter = {0};
    if (!kinds)
        prof_nomem(err);
    else if (read_kinds(plane, kinds) &&
             !stat_filter_open(&filter, plane, wanted, COUNT(wanted), err))
        for (size_t i = 0; i < plane->n_lines && !err->code; i++)
            read_line(m, &filter, kinds, &plane->host->lines[plane->first_line + i], err);
    stat_filter_close(&filter);
    prof_free(kinds);
    if (err->code) return;
    sort_array(m->seen.items, m->seen.n, sizeof *m->seen.items, by_kind);
    for (size_t i = 0, k = 0; k <= N_KINDS; k++) {
        while (i < m->seen.n && m->seen.items[i].kind < k) i++;
        m->first[k] = i;
    }
}

/* ---- models ---- */

/* Returns the index of a model, adding it if necessary; -1 for one without a name. */
static int model_index(InferenceBuilder *m, const Text *model, ProfErr *err)
{
    enum { MOST_MODELS = 1000 };
    if (!model || !model->n_bytes) return -1;
    for (size_t i = 0; i < m->result->models.n; i++)
        if (m->result->models.items[i] == model) return (int)i;
    if (m->result->models.n == MOST_MODELS) {
        m->result->cut = true;
        return -1;
    }
    const Text **place = PUSH(m->result->models);
    if (!place) {
        prof_nomem(err);
        return -1;
    }
    *place = model;
    return (int)m->result->models.n - 1;
}

static const Text *group_model(InferenceBuilder *m, int64_t id)
{
    const GroupSpan *group = inference_group(m, id);
    return group ? group->model : NULL;
}

static void find_models(InferenceBuilder *m, ProfErr *err)
{
    static const enum Kind kinds[] = {KIND_SESSION_RUN, KIND_TFRT_RUN, KIND_SERVING_RUN};
    for (size_t k = 0; k < COUNT(kinds); k++) EACH_SEEN(s, kinds[k], kinds[k] + 1)
    if (s->model) inference_group(m, s->group)->model = s->model;
    EACH_SEEN(s, 0, N_KINDS)
    if (s->user_root && s->model) inference_group(m, s->group)->model = s->model;
}

/* Returns the model of a user's request that names none: that of its batches, if they agree. */
static int model_of_children(InferenceBuilder *m, const Group *group, ProfErr *err)
{
    int all = -1;
    bool same = true;
    for (size_t i = 0; i < group->n_children && !err->code; i++) {
        int model = model_index(m, group_model(m, group->children[i]), err);
        if (all == -1)
            all = model;
        else if (model != all)
            same = false;
    }
    return same ? all : -1;
}

/* ---- requests and batches ---- */

/* Returns the model of one of a request's batches. XProf uses the first one of a hash table, whose
 * order depends on all tables created before it. */
static int model_of_first_batch(InferenceBuilder *m, const Group *group, ProfErr *err)
{
    if (!group->n_children) return 0;
    const Text *model = group_model(m, group->children[0]);
    for (size_t i = 1; i < group->n_children; i++)
        if (group_model(m, group->children[i]) != model) {
            host_issue(m->host, "info", "request_of_several_models", m->result,
                       "a request with batches of several models counts for the model of the first "
                       "batch; XProf uses any of them");
            break;
        }
    return model_index(m, model, err);
}

/* Copies ids, because the grouping is freed with the events of its host. */
static const int64_t *keep_ids(InferenceBuilder *m, const int64_t *ids, size_t n, ProfErr *err)
{
    int64_t *kept = n ? arena_alloc(&m->result->arena, n * sizeof *kept) : NULL;
    if (n && !kept) prof_nomem(err);
    return kept ? memcpy(kept, ids, n * sizeof *kept) : NULL;
}

static void add_request(InferenceBuilder *m, int64_t id, bool batching, bool of_user, ProfErr *err)
{
    GroupSpan *group = inference_group(m, id);
    if (group->is_batch || group->request) return;
    InferenceRequest *r = PUSH(m->result->requests);
    if (!r || m->result->requests.n > UINT32_MAX / 2) {
        prof_nomem(err);
        return;
    }
    *r = (InferenceRequest){
        .host = m->host, .id = id, .start_ps = group->begin_ps, .end_ps = group->end_ps};
    group->request = (uint32_t)m->result->requests.n;
    const Text *model = group->model;
    const Group *known = grouped(m, id);
    if (!known) return; /* XProf leaves it with the first model */
    r->batches = keep_ids(m, known->children, known->n_children, err),
    r->n_batches = r->batches ? known->n_children : 0;
    if (batching) {
        r->model = model_of_first_batch(m, known, err);
    } else if (of_user && !model) {
        if (known->n_children) r->model = model_of_children(m, known, err);
    } else {
        r->model = model_index(m, model, err);
    }
}

static void add_requests(InferenceBuilder *m, ProfErr *err)
{
    EACH_SEEN(s, KIND_BATCH, KIND_SCHEDULE) inference_group(m, s->group)->is_batch = true;
    enum Kind kind = KIND_BATCHING_RUN;
    while (kind < KIND_SESSION_RUN && m->first[kind] == m->first[kind + 1]) kind++;
    EACH_SEEN(s, kind, kind == KIND_SESSION_RUN ? KIND_RUN_GRAPH + 1 : kind + 1)
    add_request(m, s->group, kind == KIND_BATCHING_RUN, false, err);
    EACH_SEEN(s, 0, N_KINDS)
    if (s->user_root) add_request(m, s->group, false, true, err);
}

static void add_batches(InferenceBuilder *m, ProfErr *err)
{
    EACH_SEEN(s, KIND_BATCH, KIND_SCHEDULE)
    {
        const Group *known = grouped(m, s->group);
        GroupSpan *group = inference_group(m, s->group);
        if (!known) continue;
        if (!group->batch) {
            InferenceBatch *b = PUSH(m->result->batches);
            if (!b || m->result->batches.n > UINT32_MAX / 2) {
                prof_nomem(err);
                return;
            }
            *b = (InferenceBatch){.host = m->host,
                                  .model = -1,
                                  .id = s->group,
                                  .requests = keep_ids(m, known->parents, known->n_parents, err)};
            b->n_requests = b->requests ? known->n_parents : 0;
            group->batch = (uint32_t)m->result->batches.n;
        }
        InferenceBatch *b = &m->result->batches.items[group->batch - 1];
        b->start_ps = s->start_ps, b->end_ps = s->end_ps;
    }
}

/* ---- assigning events to requests ---- */

static bool may_hand(InferenceBuilder *m)
{
    if (m->budget) {
        m->budget--;
        return true;
    }
    m->result->cut = true;
    return false;
}

static InferenceRequest *request_of(InferenceBuilder *m, int64_t id)
{
    const GroupSpan *group = inference_group(m, id);
    return group && group->request ? &m->result->requests.items[group->request - 1] : NULL;
}

/* Returns the i-th request that an event of a group belongs to: its own, then those of its parents.
 * False: no more. */
static bool next_owner(InferenceBuilder *m, int64_t id, size_t *i, uint32_t *request)
{
    const Group *known = grouped(m, id);
    size_t n = 1 + (known ? known->n_parents : 0);
    while (*i < n) {
        const GroupSpan *group = inference_group(m, *i ? known->parents[*i - 1] : id);
        ++*i;
        if (group && group->request) {
            *request = group->request - 1;
            return may_hand(m);
        }
    }
    return false;
}

static void hand_moment(InferenceBuilder *m, const Seen *s, enum Moment moment, ProfErr *err)
{
    uint32_t request;
    for (size_t i = 0; !err->code && next_owner(m, s->group, &i, &request);) {
        MomentOf *place = PUSH(m->moments);
        if (place)
            *place =
                (MomentOf){request, s->group, s->start_ps, (uint32_t)m->moments.n, (uint8_t)moment};
        else
            prof_nomem(err);
    }
}

/* Assigns a span to the requests of a group. */
static void hand_any_span(InferenceBuilder *m, int64_t group, SpanOf span, ProfErr *err)
{
    for (size_t i = 0; !err->code && next_owner(m, group, &i, &span.owner);) {
        SpanOf *place = PUSH(m->spans);
        if (place)
            *place = span;
        else
            prof_nomem(err);
    }
    const GroupSpan *g = inference_group(m, group);
    if (err->code || !g || !g->batch || span.type != REQUEST_DEVICE) return;
    SpanOf *place = PUSH(m->batch_spans);
    span.owner = g->batch - 1;
    if (place)
        *place = span;
    else
        prof_nomem(err);
}

static void hand_span(InferenceBuilder *m, int64_t group, enum RequestTime type, uint64_t begin_ps,
                      uint64_t end_ps, ProfErr *err)
{
    hand_any_span(m, group, (SpanOf){.type = (uint8_t)type, .begin_ps = begin_ps, .end_ps = end_ps},
                  err);
}

/* ---- transfers ---- */

typedef struct {
    int64_t context;
    const Seen *begin, *done;
} Transfer;

ORDER_BY_TWO(by_context, Transfer, context, begin)

/* Pairs starts and ends of transfers. Of several starts with one context, the last counts; of the
 * ends after it, the last. */
static void pair_transfers(InferenceBuilder *m, enum Kind begin, enum RequestTime type,
                           ProfErr *err)
{
    Transfer *transfers = prof_alloc((m->first[begin + 1] - m->first[begin]) * sizeof *transfers);
    if (!transfers) {
        prof_nomem(err);
        return;
    }
    size_t n = 0, kept = 0;
    EACH_SEEN(s, begin, begin + 1)
    if (s->said & SAID_CONTEXT) transfers[n++] = (Transfer){.context = s->context, .begin = s};
    sort_array(transfers, n, sizeof *transfers, by_context);
    for (size_t i = 0; i < n; i++)
        if (i + 1 == n || transfers[i + 1].context != transfers[i].context)
            transfers[kept++] = transfers[i];
    EACH_SEEN(s, begin + 1, begin + 2)
    {
        size_t low = LOWER_BOUND(i, 0, kept, transfers[i].context < s->context);
        if (s->said & SAID_CONTEXT && low < kept && transfers[low].context == s->context &&
            transfers[low].begin->start_ps < s->start_ps)
            transfers[low].done = s;
    }
    for (size_t i = 0; i < kept && !err->code; i++)
        if (transfers[i].done)
            hand_span(m, transfers[i].begin->group, type, transfers[i].begin->start_ps,
                      transfers[i].done->end_ps, err);
    prof_free(transfers);
}

/* ---- programs on the device ---- */

/* Returns the group of an event of a module line. If this is the line that groups its TPU's events,
 * XProf's requests use the groups that its events had before overlapping ones got the first's. */
static int64_t module_group(const InferenceBuilder *m, const Line *line, uint64_t event)
{
    const LineGroups *groups = line_groups(m->grouping, line);
    return groups->own ? line_own_group(line, groups, event - line->first_event)
                       : event_step_group(m->grouping, event);
}

static void read_modules(InferenceBuilder *m, Line *line, ProfErr *err)
{
    EventReader reader;
    EventAt at;
    event_reader_open(&reader, line, 0, err);
    while (!err->code && event_reader_next(&reader, &at)) {
        int64_t id = module_group(m, line, at.event);
        if (id == -1) continue;
        hand_span(m, id, REQUEST_DEVICE, (uint64_t)at.start_ps,
                  (uint64_t)at.start_ps + (uint64_t)at.duration_ps, err);
        const GroupSpan *group = inference_group(m, id);
        InferenceBatch *b =
            group && group->batch ? &m->result->batches.items[group->batch - 1] : NULL;
        if (b && !b->has_program) b->has_program = hlo_program_id(at.meta->name, &b->program_id);
    }
    event_reader_close(&reader);
}

static void read_gpu_line(InferenceBuilder *m, Line *line, const uint8_t *types, ProfErr *err)
{
    EventReader reader;
    EventAt at;
    event_reader_open(&reader, line, 0, err);
    while (!err->code && event_reader_next(&reader, &at)) {
        int64_t id = event_group(m->grouping, at.event);
        uint64_t begin_ps = (uint64_t)at.start_ps, end_ps = begin_ps + (uint64_t)at.duration_ps;
        if (id != -1)
            hand_any_span(m, id,
                          (SpanOf){.type = types[at.meta - line->plane->event_metas],
                                   .unseen = true,
                                   .begin_ps = begin_ps,
                                   .end_ps = end_ps},
                          err);
    }
    event_reader_close(&reader);
}

static void read_gpu(InferenceBuilder *m, const Plane *plane, ProfErr *err)
{
    uint8_t *types = prof_alloc(plane->n_event_metas);
    if (!types) prof_nomem(err);
    for (size_t i = 0; types && i < plane->n_event_metas; i++) {
        enum StepType type = gpu_event_type(plane->event_metas[i].name);
        types[i] = type == TIME_HOST_TO_DEVICE ? REQUEST_WRITE : REQUEST_DEVICE;
        if (type == TIME_DEVICE_TO_HOST) types[i] = REQUEST_READ;
    }
    for (size_t i = 0; i < plane->n_lines && !err->code; i++) {
        Line *line = &m->host->lines[plane->first_line + i];
        if (!line->derived) read_gpu_line(m, line, types, err);
    }
    prof_free(types);
}

static void hand_device_events(InferenceBuilder *m, ProfErr *err)
{
    bool wanted = m->result->requests.n || m->result->batches.n;
    for (size_t i = 0; wanted && i < m->host->n_planes && !err->code; i++) {
        const Plane *plane = &m->host->planes[i];
        if (plane->kind == PLANE_GPU) read_gpu(m, plane, err);
        for (size_t k = 0; plane->kind == PLANE_TENSORCORE && k < plane->n_lines && !err->code;
             k++) {
            Line *line = &m->host->lines[plane->first_line + k];
            if (line->named == NAME_MODULES) read_modules(m, line, err);
        }
    }
}

static void hand_events(InferenceBuilder *m, ProfErr *err)
{
    EACH_SEEN(s, KIND_SCHEDULE, KIND_READ)
    {
        hand_moment(m, s, AT_SCHEDULE, err);
        InferenceRequest *r = request_of(m, s->group);
        if (r && s->said & SAID_SIZE) r->size = s->size;
    }
    EACH_SEEN(s, KIND_READ, KIND_WRITE)
    hand_span(m, s->group, REQUEST_READ, s->start_ps, s->end_ps, err);
    EACH_SEEN(s, KIND_WRITE, KIND_WRITE_BEGIN)
    hand_span(m, s->group, REQUEST_WRITE, s->start_ps, s->end_ps, err);
    if (!err->code) pair_transfers(m, KIND_WRITE_BEGIN, REQUEST_WRITE, err);
    if (!err->code) pair_transfers(m, KIND_READ_BEGIN, REQUEST_READ, err);
    hand_device_events(m, err);
    EACH_SEEN(s, KIND_EXECUTE, KIND_LAUNCH) hand_moment(m, s, AT_EXECUTE, err);
    EACH_SEEN(s, KIND_LAUNCH, KIND_CALLBACK) hand_moment(m, s, AT_LAUNCH, err);
    EACH_SEEN(s, KIND_CALLBACK, KIND_CONCAT) hand_moment(m, s, AT_CALLBACK, err);
    EACH_SEEN(s, KIND_CONCAT, KIND_TENSOR)
    {
        hand_moment(m, s, AT_CONCAT, err);
        const GroupSpan *group = inference_group(m, s->group);
        if (!group->batch || !(s->said & SAID_PADDING) || !(s->said & SAID_PADDED)) continue;
        m->result->batches.items[group->batch - 1].padding = s->padding;
        m->result->batches.items[group->batch - 1].size = s->padded;
    }
}

/* ---- models and delays of batches ---- */

/* XProf uses the batch with the smallest number as first and last; actual_end_ps counts all. */
static void finish_request(InferenceBuilder *m, InferenceRequest *r)
{
    bool is_first = true;
    r->actual_end_ps = r->end_ps;
    for (size_t k = 0; k < r->n_batches; k++) {
        const GroupSpan *group = inference_group(m, r->batches[k]);
        if (!group || !group->batch) continue;
        const InferenceBatch *b = &m->result->batches.items[group->batch - 1];
        if (r->actual_end_ps < b->end_ps) r->actual_end_ps = b->end_ps;
        if (!is_first) continue;
        is_first = false;
        r->delay_ps = (int64_t)(b->start_ps - r->start_ps);
        r->end_ps = r->actual_end_ps;
    }
}

static void finish_batches(InferenceBuilder *m)
{
    for (size_t i = 0; i < m->result->requests.n; i++)
        finish_request(m, &m->result->requests.items[i]);
    for (size_t i = 0; i < m->result->batches.n; i++) {
        InferenceBatch *b = &m->result->batches.items[i];
        const InferenceRequest *first = b->n_requests ? request_of(m, b->requests[0]) : NULL;
        if (first) b->model = first->model;
        first = NULL;
        for (size_t k = 0; k < b->n_requests; k++) {
            const InferenceRequest *r = request_of(m, b->requests[k]);
            if (r && (!first || r->start_ps < first->start_ps)) first = r;
        }
        if (first) b->delay_ps = (int64_t)(b->start_ps - first->start_ps);
    }
}

/* ---- the analysis ---- */

static int by_duration(uint64_t start_x, uint64_t end_x, int64_t id_x, uint64_t start_y,
                       uint64_t end_y, int64_t id_y)
{
    if (end_x - start_x != end_y - start_y) return ORDER(end_x - start_x, end_y - start_y);
    if (start_x != start_y) return ORDER(start_x, start_y);
    return ORDER(id_x, id_y);
}
static int shorter_request(const void *a, const void *b)
{
    const InferenceRequest *x = a, *y = b;
    return by_duration(x->start_ps, x->end_ps, x->id, y->start_ps, y->end_ps, y->id);
}
static int shorter_batch(const void *a, const void *b)
{
    const InferenceBatch *x = a, *y = b;
    return by_duration(x->start_ps, x->end_ps, x->id, y->start_ps, y->end_ps, y->id);
}

static void sort_result(HostInference *result)
{
    size_t n = 0;
    for (size_t i = 0; i < result->requests.n; i++)
        if (result->requests.items[i].end_ps != result->requests.items[i].start_ps)
            result->requests.items[n++] = result->requests.items[i];
    if ((result->requests.n = n))
        sort_array(result->requests.items, n, sizeof *result->requests.items, shorter_request);
    sort_array(result->batches.items, result->batches.n, sizeof *result->batches.items,
               shorter_batch);
}

static void make_parts(InferenceBuilder *m, Plane *plane, ProfErr *err)
{
    read_plane(m, plane, err);
    if (!err->code) find_models(m, err);
    if (!err->code) add_requests(m, err);
    if (!err->code) add_batches(m, err);
    if (!err->code) hand_events(m, err);
    if (!err->code) finish_batches(m);
    if (!err->code) inference_add_spans(m, err);
    if (!err->code) inference_sum_times(m, err);
    if (!err->code) inference_find_patterns(m, err);
    if (!err->code) inference_read_parameters(m, err);
    if (!err->code) sort_result(m->result);
    if (m->result->cut)
        host_issue(m->host, "warning", "inference_cut", m->result,
                   "so many requests share batches or tensors that some of their times could not "
                   "be computed");
}

static void host_inference_release(void *result)
{
    HostInference *h = result;
    prof_free(h->requests.items);
    prof_free(h->batches.items);
    prof_free(h->models.items);
    prof_free(h->parameters.items);
    text_table_free(&h->texts);
    arena_free(&h->arena);
    prof_free(h);
}

static void *host_inference_make(Run *run, Host *only, ProfErr *err)
{
    Host *host = only ? only : &run->hosts[0];
    HostInference *result = prof_alloc(sizeof *result);
    if (!result) {
        prof_nomem(err);
        return NULL;
    }
    InferenceBuilder m = {.result = result, .host = host, .budget = (4 << 20) + 4 * host->n_events};
    Plane *plane = host_find_plane(host, PREFIX_HOST_THREADS);
    if (plane && (m.grouping = host_grouping(host, err))) make_parts(&m, plane, err);
    hash_free(&m.ids);
    prof_free(m.groups.items);
    prof_free(m.seen.items);
    prof_free(m.moments.items);
    prof_free(m.spans.items);
    prof_free(m.batch_spans.items);
    prof_free(m.tensors.items);
    prof_free(m.batch_tensors.items);
    if (!err->code) return result;
    host_inference_release(result);
    return NULL;
}

const HostInference *host_inference(Host *host, ProfErr *err)
{
    static const Analysis analysis = {host_inference_make, host_inference_release,
                                      NEEDS_ONE_HOST_AT_A_TIME};
    return run_analysis(host->run, host, &analysis, err);
}
