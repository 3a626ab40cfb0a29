// SPDX-License-Identifier: Apache-2.0
/* dcn.c: transfers between slices; see dcn.h. */
#include "dcn.h"
#include "../../base/search.h"

#include "../../format/hlo.h"
#include "../../base/sort.h"
#include "../../store/event_stats.h"
#include "../../store/events.h"
#include "../../store/event_values.h"
#include "../../format/shape.h"
#include "../../format/wire.h"

enum TransferOp { OP_NONE, OP_SEND, OP_SEND_DONE, OP_RECV, OP_RECV_DONE };

/* An instruction as the program describes it; by event metadata and program. */
typedef struct {
    bool read;
    uint64_t program_id;
    enum TransferOp op;
    int64_t channel;
    const Text *rendezvous, *type; /* NULL if it has no such attribute */
    int64_t bytes;
} Instruction;

/* An event `device_<core>_gid_<rendezvous>` of the host, for a transfer of the host's first core.
 */
typedef struct {
    const Text *rendezvous;
    int64_t begin_ns, end_ns;
} HostEvent;

/* A transfer that has started but not ended. */
typedef struct {
    int64_t key; /* address of the rendezvous text */
    const Text *rendezvous, *type, *send_op;
    bool group_known;
    int64_t group_size;
    int64_t start_ns;
    uint64_t overlap_base_ns; /* duration of all ops until then, at its start */
    uint64_t stall_ns, send_ps, send_done_ps, recv_ps;
    size_t
        /* index of the next one in DcnBuilder.host_events, where those of a rendezvous are
           consecutive */
        host_event;
} State;

typedef struct {
    int64_t channel;
    const Text *rendezvous;
} Channel;

typedef struct {
    uint64_t begin_ps, end_ps;
    const EventMeta *meta;
} Module;

typedef struct {
    DcnCollectives *result;
    Host *host;
    Plane *plane;
    Instruction *instructions; /* by index of event metadata */
    LIST(State) states;
    LIST(Channel) channels;
    LIST(Module) modules;
    LIST(HostEvent) host_events; /* sorted by rendezvous, then time */
    HashTable state_ids, channel_ids;
    size_t module;     /* index of the current module; SIZE_MAX before the first */
    uint64_t steps;    /* bounds the search for modules */
    uint64_t total_ns; /* total duration of all transfer ops */
    bool cut;
} DcnBuilder;

/* ---- programs ---- */

static const Text *intern(DcnBuilder *m, const void *bytes, size_t n, ProfErr *err)
{
    const Text *t = text_intern(&m->result->texts, &m->result->arena, bytes, n);
    if (!t) prof_nomem(err);
    return t;
}

static const Text *attribute(DcnBuilder *m, const Xla__HloInstructionProto *i, const char *name,
                             ProfErr *err)
{
    const Xla__FrontendAttributes *all = i->more->frontend_attributes;
    for (size_t k = 0; all && k < all->n_map; k++)
        if (all->map[k]->key && !strcmp(all->map[k]->key, name)) {
            const char *value = all->map[k]->value ? all->map[k]->value : "";
            return intern(m, value, strlen(value), err);
        }
    return NULL;
}

static enum TransferOp transfer_op(const char *opcode)
{
    if (!strcmp(opcode, "send")) return OP_SEND;
    if (!strcmp(opcode, "send-done")) return OP_SEND_DONE;
    if (!strcmp(opcode, "recv")) return OP_RECV;
    return strcmp(opcode, "recv-done") ? OP_NONE : OP_RECV_DONE;
}

static int64_t result_bytes(const Xla__ShapeProto *shape)
{
    if (!shape) return 0;
    if (shape->element_type != XLA_TUPLE) {
        ShapeSizes sizes = shape_sizes(shape);
        return sizes.known ? sizes.bytes : 0;
    }
    int64_t sum = 0;
    for (size_t i = 0; i < shape->n_tuple_shapes; i++) {
        int64_t bytes = shape_unpadded_bytes(shape->tuple_shapes[i]);
        if (bytes > 0) sum = add_saturated(sum, bytes);
    }
    return sum;
}

/* Returns the instruction of an op in the module that it runs in; NULL if unknown. */
static const Instruction *find_instruction(DcnBuilder *m, const Module *module,
                                           const EventMeta *meta, ProfErr *err)
{
    Instruction *found = &m->instructions[meta - m->plane->event_metas];
    uint64_t id;
    if (!hlo_program_id(module->meta->name, &id)) return NULL;
    if (found->read && found->program_id == id) return found->op ? found : NULL;
    *found = (Instruction){.read = true, .program_id = id};
    const HloModule *program = hlo_program(m->host, id, err);
    const Xla__HloInstructionProto *i =
        program ? hlo_find(program, meta->display_name->text, meta->display_name->n_bytes) : NULL;
    if (!i) return NULL;
    found->op = transfer_op(i->opcode ? i->opcode : "");
    found->channel = i->more->rare->channel_id;
    found->bytes = result_bytes(i->shape);
    found->rendezvous = attribute(m, i, "_xla_host_transfer_rendezvous", err);
    found->type = attribute(m, i, "_xla_megascale_transfer_type", err);
    return !err->code && found->op ? found : NULL;
}

/* ---- modules ---- */

static void read_modules(DcnBuilder *m, ProfErr *err)
{
    Line *line = NULL;
    for (size_t i = 0; i < m->plane->n_lines && !line; i++)
        if (m->host->lines[m->plane->first_line + i].named == NAME_MODULES)
            line = &m->host->lines[m->plane->first_line + i];
    if (!line) return;
    EventReader reader;
    EventAt at;
    event_reader_open(&reader, line, 0, err);
    while (!err->code && event_reader_next(&reader, &at)) {
        Module *place = PUSH(m->modules);
        if (place)
            *place = (Module){(uint64_t)at.start_ps,
                              (uint64_t)at.start_ps + (uint64_t)at.duration_ps, at.meta};
        else
            prof_nomem(err);
    }
    event_reader_close(&reader);
    m->steps = 1000000 + 64 * (uint64_t)m->modules.n;
}

static bool includes(const Module *module, uint64_t begin_ps, uint64_t end_ps)
{
    return module->begin_ps <= begin_ps && end_ps <= module->end_ps;
}

/* Finds the module that is running. Like XProf it searches forward from the current module only. */
static const Module *find_module(DcnBuilder *m, uint64_t begin_ps, uint64_t end_ps)
{
    if (m->module != SIZE_MAX && includes(&m->modules.items[m->module], begin_ps, end_ps))
        return &m->modules.items[m->module];
    for (size_t i = m->module + 1; i < m->modules.n; i++) {
        const Module *module = &m->modules.items[i];
        if (!m->steps--) {
            m->steps = 0;
            m->cut = true;
            return NULL;
        }
        if (module->begin_ps > end_ps) break;
        if (module->end_ps < begin_ps) continue;
        m->module = i;
        if (includes(module, begin_ps, end_ps)) return module;
    }
    return NULL;
}

/* ---- groups ---- */

/* Returns the group size in a DcnCollectiveInfoProto: endpoint_groups 2 {endpoints 1},
 * one_to_one_groups 3. */
static int64_t info_group_size(const uint8_t *p, const uint8_t *end)
{
    int64_t n_endpoints = 0;
    bool first = true;
    Field f;
    while (p && p < end && (p = wire_field(p, end, &f))) {
        if (f.number == 3 && f.type == WIRE_BYTES) return 1;
        if (f.number != 2 || f.type != WIRE_BYTES || !first) continue;
        first = false;
        const uint8_t *q = f.bytes, *group_end = q + f.value;
        Field endpoint;
        while (q && q < group_end && (q = wire_field(q, group_end, &endpoint)))
            n_endpoints += endpoint.number == 1 && endpoint.type == WIRE_BYTES;
    }
    return n_endpoints;
}

static int64_t group_size(DcnBuilder *m, const EventMeta *meta, ProfErr *err)
{
    if (!meta->has_stats) return 0;
    MetaBytes bytes = {0};
    meta_bytes_read(&bytes, m->host, meta, err);
    StatIter stats = stat_iter_of_meta(&bytes);
    int64_t size = 0;
    Stat stat;
    while (stat_iter_next(&stats, &stat)) {
        const StatMeta *known = stat_meta(m->plane, stat.id);
        if (!known || known->known != STAT_DCN_INFO || stat.type != TYPE_BYTES) continue;
        size = info_group_size(stat.bytes, stat.bytes + stat.n_bytes);
        break;
    }
    meta_bytes_free(&bytes);
    return size;
}

/* ---- the host's events ---- */

/* Returns the rendezvous in an event's name. The last five digits before it are the core's number
 * on its host. n is 0 if the event is not of the first core. */
static Slice host_event_rendezvous(Slice name)
{
    static const char prefix[] = "device_", middle[] = "_gid_";
    const Slice none = {"", 0};
    size_t at = sizeof prefix - 1, first = at;
    if (!slice_starts(name, prefix)) return none;
    while (at < name.n && name.text[at] >= '0' && name.text[at] <= '9') at++;
    if (at - first < 6 || memcmp(name.text + at - 5, "00000", 5) != 0) return none;
    Slice rest = {name.text + at, name.n - at};
    if (!slice_starts(rest, middle)) return none;
    return (Slice){rest.text + sizeof middle - 1, rest.n - (sizeof middle - 1)};
}

static int by_rendezvous(const void *a, const void *b)
{
    const HostEvent *x = a, *y = b;
    if (x->rendezvous != y->rendezvous)
        return ORDER((uintptr_t)x->rendezvous, (uintptr_t)y->rendezvous);
    return ORDER(x->begin_ns, y->begin_ns);
}

/* Converts a start time so that ops and the host's events are comparable. */
static int64_t time_ns(const Line *line, int64_t start_ps)
{
    int64_t offset_ps = (int64_t)((uint64_t)start_ps - (uint64_t)line->start_ps);
    return (int64_t)((uint64_t)line->timestamp_ns + (uint64_t)(offset_ps / 1000));
}

static void read_host_line(DcnBuilder *m, Line *line, const Text *const *rendezvous, ProfErr *err)
{
    EventReader reader;
    EventAt at;
    event_reader_open(&reader, line, 0, err);
    while (!err->code && event_reader_next(&reader, &at)) {
        const Text *of = rendezvous[at.meta - line->plane->event_metas];
        HostEvent *event = of ? PUSH(m->host_events) : NULL;
        int64_t begin_ns = time_ns(line, at.start_ps);
        if (event)
            *event = (HostEvent){of, begin_ns, add_saturated(begin_ns, at.duration_ps / 1000)};
        if (of && !event) prof_nomem(err);
    }
    event_reader_close(&reader);
}

static void read_host(DcnBuilder *m, ProfErr *err)
{
    for (size_t p = 0; p < m->host->n_planes && !err->code; p++) {
        Plane *plane = &m->host->planes[p];
        if (*plane->name->text != '/' ||
            (plane->kind != PLANE_HOST && plane->kind != PLANE_METADATA))
            continue;
        const Text **rendezvous = prof_alloc(plane->n_event_metas * sizeof *rendezvous);
        bool any = false;
        if (!rendezvous) prof_nomem(err);
        for (size_t i = 0; i < plane->n_event_metas && !err->code; i++) {
            Slice name = host_event_rendezvous(slice_of(plane->event_metas[i].name));
            if (name.n) any |= (rendezvous[i] = intern(m, name.text, name.n, err)) != NULL;
        }
        for (size_t i = 0; any && i < plane->n_lines && !err->code; i++)
            read_host_line(m, &m->host->lines[plane->first_line + i], rendezvous, err);
        prof_free((void *)rendezvous);
    }
    sort_array(m->host_events.items, m->host_events.n, sizeof *m->host_events.items, by_rendezvous);
}

static size_t first_host_event(const DcnBuilder *m, const Text *rendezvous)
{
    size_t low = LOWER_BOUND(i, 0, m->host_events.n,
                             (uintptr_t)m->host_events.items[i].rendezvous < (uintptr_t)rendezvous);
    return low;
}

/* Returns the first event of the rendezvous that starts during the transfer. Each event belongs to
 * one transfer. */
static const HostEvent *next_host_event(const DcnBuilder *m, State *s, int64_t begin_ns,
                                        int64_t end_ns)
{
    while (s->host_event < m->host_events.n &&
           m->host_events.items[s->host_event].rendezvous == s->rendezvous) {
        const HostEvent *event = &m->host_events.items[s->host_event];
        if (event->begin_ns > end_ns) return NULL;
        s->host_event++;
        if (event->begin_ns >= begin_ns) return event;
    }
    return NULL;
}

/* ---- transfers ---- */

static State *find_state(DcnBuilder *m, const Text *rendezvous, ProfErr *err)
{
    int64_t key = (int64_t)(intptr_t)rendezvous,
            at = id_find(&m->state_ids, m->states.items, sizeof *m->states.items, key);
    if (at >= 0) return &m->states.items[at];
    State *state = PUSH(m->states);
    if (!state) {
        prof_nomem(err);
        return NULL;
    }
    *state = (State){.host_event = first_host_event(m, rendezvous),
                     .key = key,
                     .rendezvous = rendezvous,
                     .type = empty_text,
                     .send_op = empty_text,
                     .overlap_base_ns = m->total_ns};
    if (!id_add(&m->state_ids, m->states.items, sizeof *m->states.items, m->states.n - 1)) {
        prof_nomem(err);
        return NULL;
    }
    return state;
}

/* Returns the rendezvous of an op: its own, which its channel then gets too, else its channel's.
 * NULL if there is none. */
static const Text *rendezvous_of(DcnBuilder *m, const Instruction *i, ProfErr *err)
{
    int64_t at = id_find(&m->channel_ids, m->channels.items, sizeof *m->channels.items, i->channel);
    if (!i->rendezvous) return at >= 0 ? m->channels.items[at].rendezvous : NULL;
    if (at < 0) {
        Channel *channel = PUSH(m->channels);
        if (!channel) {
            prof_nomem(err);
            return NULL;
        }
        at = (int64_t)m->channels.n - 1;
        *channel = (Channel){.channel = i->channel};
        if (!id_add(&m->channel_ids, m->channels.items, sizeof *m->channels.items, (size_t)at)) {
            prof_nomem(err);
            return NULL;
        }
    }
    return m->channels.items[at].rendezvous = i->rendezvous;
}

static uint64_t sent_bytes(int64_t bytes, int64_t group_size, const Text *type)
{
    if (!group_size) return 0;
    double b = (double)bytes, g = (double)group_size, sent = 0;
    if (!strcmp(type->text, "ONE_TO_ONE")) sent = g * b;
    if (!strcmp(type->text, "ALL_GATHER")) sent = (g - 1) * b / g;
    if (!strcmp(type->text, "ALL_REDUCE")) sent = 2 * ((g - 1) / g) * b;
    if (!strcmp(type->text, "ALL_TO_ALL")) sent = (g - 1) / g * b;
    if (!strcmp(type->text, "REDUCE_SCATTER")) sent = b * (g - 1);
    return sent >= 0x1p63 ? INT64_MAX : (uint64_t)sent;
}

static DcnCollective *find_collective(DcnCollectives *all, const Text *rendezvous, ProfErr *err)
{
    int64_t key = (int64_t)(intptr_t)rendezvous,
            at = id_find(&all->ids, all->collectives.items, sizeof *all->collectives.items, key);
    if (at >= 0) return &all->collectives.items[at];
    DcnCollective *c = PUSH(all->collectives);
    if (!c) {
        prof_nomem(err);
        return NULL;
    }
    *c = (DcnCollective){.key = key, .rendezvous = rendezvous};
    if (!id_add(&all->ids, all->collectives.items, sizeof *all->collectives.items,
                all->collectives.n - 1)) {
        prof_nomem(err);
        return NULL;
    }
    return c;
}

typedef struct {
    const EventMeta *meta;
    int64_t start_ns;
    uint64_t duration_ns, duration_ps;
} OpAt;

static void finish_transfer(DcnBuilder *m, State *s, const Instruction *i, const OpAt *op,
                            ProfErr *err)
{
    DcnCollective *c = find_collective(m->result, s->rendezvous, err);
    const Text *recv_op =
        c ? intern(m, op->meta->display_name->text, op->meta->display_name->n_bytes, err) : NULL;
    if (!recv_op) return;
    int64_t slack_ns = (int64_t)((uint64_t)op->start_ns - (uint64_t)s->start_ns -
                                 (m->total_ns - s->overlap_base_ns));
    c->occurrences++;
    c->slack_us += (uint64_t)(slack_ns / 1000);
    c->observed_us +=
        (uint64_t)((int64_t)((uint64_t)op->start_ns + op->duration_ns) / 1000 - s->start_ns / 1000);
    c->stall_us += s->stall_ns / 1000;
    c->send_us += s->send_ps / 1000000, c->send_done_us += s->send_done_ps / 1000000,
        c->recv_done_us += op->duration_ps / 1000000;
    c->recv_us += (uint64_t)((double)s->recv_ps / 1e12);
    c->recv_ps += (double)s->recv_ps;
    const HostEvent *on_host =
        next_host_event(m, s, s->start_ns, (int64_t)((uint64_t)op->start_ns + op->duration_ns));
    if (on_host)
        c->host_events++, c->host_stall_ns += (double)on_host->end_ns - (double)op->start_ns;
    c->transfer_type = s->type, c->send_op = s->send_op, c->recv_op = recv_op;
    c->group_size = s->group_size, c->bytes = sent_bytes(i->bytes, s->group_size, s->type);
}

static void visit(DcnBuilder *m, const Instruction *i, const OpAt *op, ProfErr *err)
{
    const Text *rendezvous = rendezvous_of(m, i, err);
    State *s = rendezvous ? find_state(m, rendezvous, err) : NULL;
    if (!s) return;
    s->stall_ns += op->duration_ns;
    switch (i->op) {
    case OP_SEND:
        s->start_ns = op->start_ns, s->overlap_base_ns = m->total_ns, s->stall_ns = op->duration_ns,
        s->send_ps = op->duration_ps;
        s->type = i->type ? i->type : empty_text;
        s->send_op = intern(m, op->meta->display_name->text, op->meta->display_name->n_bytes, err);
        if (!s->group_known) s->group_known = true, s->group_size = group_size(m, op->meta, err);
        break;
    case OP_RECV: s->recv_ps = op->duration_ps; break;
    case OP_SEND_DONE: s->send_done_ps = op->duration_ps; break;
    default:
        if (s->start_ns && !err->code) finish_transfer(m, s, i, op, err);
        break;
    }
    m->total_ns += op->duration_ns;
}

/* ---- reading ---- */

static bool is_transfer(const Plane *plane, EventMeta *meta, ProfErr *err)
{
    if (!meta->has_stats || event_meta_values(plane, meta, err)) return false;
    for (size_t i = 0; i < meta->n_facts; i++)
        if (meta->facts[i].known == STAT_HLO_CATEGORY && meta->facts[i].fact.type == TYPE_STR)
            return strstr(meta->facts[i].fact.text->text, "host send") ||
                   strstr(meta->facts[i].fact.text->text, "host recv");
    return false;
}

static void read_ops(DcnBuilder *m, Line *line, const bool *wanted, ProfErr *err)
{
    EventReader reader;
    EventAt at;
    event_reader_open(&reader, line, 0, err);
    while (!err->code && event_reader_next(&reader, &at)) {
        const Module *module =
            find_module(m, (uint64_t)at.start_ps, (uint64_t)at.start_ps + (uint64_t)at.duration_ps);
        if (!module || !wanted[at.meta - m->plane->event_metas]) continue;
        const Instruction *i = find_instruction(m, module, at.meta, err);
        OpAt op = {at.meta, time_ns(line, at.start_ps), (uint64_t)at.duration_ps / 1000,
                   (uint64_t)at.duration_ps};
        if (i) visit(m, i, &op, err);
    }
    event_reader_close(&reader);
}

static void read_plane(DcnBuilder *m, ProfErr *err)
{
    bool *wanted = prof_alloc(m->plane->n_event_metas * sizeof *wanted), any = false;
    m->instructions = prof_alloc(m->plane->n_event_metas * sizeof *m->instructions);
    if (!wanted || !m->instructions) prof_nomem(err);
    for (size_t i = 0; i < m->plane->n_declared && !err->code; i++)
        any |= wanted[i] = is_transfer(m->plane, &m->plane->event_metas[i], err);
    if (any && !err->code) read_modules(m, err);
    if (any && !err->code) read_host(m, err);
    for (size_t i = 0; any && i < m->plane->n_lines && !err->code; i++) {
        Line *line = &m->host->lines[m->plane->first_line + i];
        if (line->named == NAME_OPS) read_ops(m, line, wanted, err);
    }
    prof_free(wanted);
}

static void dcn_release(void *result)
{
    DcnCollectives *all = result;
    prof_free(all->collectives.items);
    hash_free(&all->ids);
    text_table_free(&all->texts);
    arena_free(&all->arena);
    prof_free(all);
}

static void *dcn_make_host(Run *run, Host *only, ProfErr *err)
{
    DcnBuilder m = {.host = only ? only : &run->hosts[0],
                    .result = prof_alloc(sizeof(DcnCollectives)),
                    .module = SIZE_MAX};
    if (!m.result) {
        prof_nomem(err);
        return NULL;
    }
    if ((m.plane = host_first_core(m.host))) read_plane(&m, err);
    if (m.cut)
        host_issue(m.host, "warning", "dcn_cut", m.plane,
                   "modules overlap so much that some network transfers are not listed");
    prof_free(m.instructions);
    prof_free(m.states.items);
    prof_free(m.channels.items);
    prof_free(m.modules.items);
    prof_free(m.host_events.items);
    hash_free(&m.state_ids);
    hash_free(&m.channel_ids);
    if (!err->code) return m.result;
    dcn_release(m.result);
    return NULL;
}

static const DcnCollectives *host_dcn_collectives(Host *host, ProfErr *err)
{
    static const Analysis analysis = {dcn_make_host, dcn_release, NEEDS_ONE_HOST_AT_A_TIME};
    return run_analysis(host->run, host, &analysis, err);
}

/* ---- several hosts ---- */

/* Adds the collectives of a host. As in XProf, the averages of hosts are truncated to integers and
 * weighted by occurrences. */
static void add_host(DcnCollectives *all, const DcnCollectives *of_host, ProfErr *err)
{
    for (size_t i = 0; i < of_host->collectives.n && !err->code; i++) {
        const DcnCollective *h = &of_host->collectives.items[i];
        const Text *rendezvous =
            text_intern(&all->texts, &all->arena, h->rendezvous->text, h->rendezvous->n_bytes);
        DcnCollective *c = rendezvous ? find_collective(all, rendezvous, err) : NULL;
        if (!c) {
            prof_nomem(err);
            return;
        }
        uint64_t n = h->occurrences;
        c->occurrences += n;
        c->slack_us += h->slack_us / n * n, c->observed_us += h->observed_us / n * n,
            c->stall_us += h->stall_us / n * n;
        c->send_us += h->send_us / n * n, c->send_done_us += h->send_done_us / n * n;
        c->recv_us += h->recv_us / n * n, c->recv_done_us += h->recv_done_us / n * n;
        c->recv_ps += h->recv_ps;
        c->host_stall_ns += h->host_stall_ns, c->host_events += h->host_events;
        c->recv_op = h->recv_op, c->send_op = h->send_op, c->transfer_type = h->transfer_type,
        c->bytes = h->bytes, c->group_size = h->group_size;
    }
}

static bool knows_megascale(const Host *host)
{
    const Plane *plane = host_find_plane(host, PREFIX_HOST_THREADS);
    for (size_t i = 0; plane && i < plane->n_declared; i++)
        if (starts_with(plane->event_metas[i].name->text, "MegaScale:")) return true;
    return false;
}

static void *dcn_make(Run *run, Host *only, ProfErr *err)
{
    DcnCollectives *all = prof_alloc(sizeof *all);
    if (!all) {
        prof_nomem(err);
        return NULL;
    }
    all->shown = true;
    for (size_t h = 0; h < run->n_hosts && !err->code; h++) {
        Host *host = &run->hosts[h];
        if (host->reader->is_program || (only && only != host)) continue;
        const DcnCollectives *of_host = host_dcn_collectives(host, err);
        if (of_host) add_host(all, of_host, err);
        all->shown &= knows_megascale(host);
    }
    if (!err->code) return all;
    dcn_release(all);
    return NULL;
}

const DcnCollectives *run_dcn_collectives(Run *run, Host *only, ProfErr *err)
{
    static const Analysis analysis = {dcn_make, dcn_release, NEEDS_ONE_HOST_AT_A_TIME};
    return run_analysis(run, only, &analysis, err);
}
