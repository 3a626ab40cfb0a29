// SPDX-License-Identifier: Apache-2.0
/* perfetto.c: writes a trace as Perfetto's protobuf messages (perfetto/protos/perfetto/trace).
 *
 *   Trace { repeated TracePacket packet = 1; }
 *   TracePacket { clock_snapshot 6, timestamp 8, trusted_packet_sequence_id 10, track_event 11,
 *                 interned_data 12, sequence_flags 13, track_descriptor 60 }
 *   TrackEvent { debug_annotations 4, type 9, name_iid 10, track_uuid 11, name 23,
 *                counter_value 30, double_counter_value 44, flow_ids 47 }
 *
 * All packets belong to one sequence. Each part of the trace clears its state first. A text is
 * written once in a part and then referred to by number: names of events, names of arguments, and
 * text values of arguments. When TEXTS_BYTES of texts have numbers, later texts are written where
 * they are used.
 *
 * Both ends of a flow have its id in flow_ids: viewers draw an arrow from each event of an id to
 * the next in time. With terminating_flow_ids, all consumers except the first would be lost. */
#include "trace_writer.h"

#include "../base/numbered_texts.h"
#include "../base/varint.h"

enum { SEQUENCE = 1, TEXTS_BYTES = 16 << 20, MIN_TEXT = 4 };
enum { CLOCK_REALTIME_ID = 1, CLOCK_BOOTTIME_ID = 6 };
enum { SLICE_BEGIN = 1, SLICE_END = 2, COUNTER = 4 };
enum { STATE_CLEARED = 1, NEEDS_STATE = 2 };
enum { ORDER_EXPLICIT = 3, MERGE_NONE = 2, MERGE_BY_KEY = 3 };

enum { EVENT_NAMES, ARG_NAMES, ARG_VALUES, N_TEXTS }; /* lists of InternedData */
static const uint32_t interned_fields[N_TEXTS] = {2, 3, 29};

/* A message that is being built. */
typedef LIST(uint8_t) Message;

/* Numbers of recent texts. Looking there first saves a hash of all bytes of a text. */
enum { N_HINTS = 1024, N_VALUE_HINTS = 4096 };
/* Of the text at an address. */
typedef struct {
    const char *text;
    uint32_t iid; /* 0: unused */
} Hint;
/* Of the name that the events of a metadata entry share. */
typedef struct {
    const void *of; /* SharedArgs.of */
    uint32_t iid;
} NameHint;
/* Of the text that a TYPE_REF value stands for. */
typedef struct {
    const Plane *plane;
    uint64_t ref;
    uint32_t iid; /* 0: unused */
} RefHint;

typedef struct {
    NumberedTexts texts[N_TEXTS]; /* a text's iid is its number + 1 */
    Hint event_hints[N_HINTS], arg_hints[N_HINTS];
    NameHint name_hints[N_HINTS];
    RefHint ref_hints[N_HINTS];
    uint32_t value_hints[N_VALUE_HINTS]; /* iid of a value, by value_sample(); 0: none */
    bool cleared; /* the part's first packet, which clears the state, is written */
    Arena arena;
    Message event, interned, nested;
} State;

/* ---- fields ---- */

static uint8_t *more_room(TraceWriter *w, Message *m, size_t n)
{
    while (m->capacity < m->n + n)
        if (!prof_grow(&m->items, m->capacity, &m->capacity, 1)) {
            w->no_memory = true;
            return NULL;
        }
    return m->items + m->n;
}

static inline uint8_t *room(TraceWriter *w, Message *m, size_t n)
{
    return m->capacity < m->n + n ? more_room(w, m, n) : m->items + m->n;
}

static void add_bytes(TraceWriter *w, Message *m, const void *bytes, size_t n)
{
    uint8_t *p = room(w, m, n);
    if (p && n) memcpy(p, bytes, n), m->n += n;
}

/* Inline, because the fields are constants, whose bytes are then constants too. */
static inline __attribute__((always_inline)) void add_varint(TraceWriter *w, Message *m,
                                                             uint32_t field, uint64_t value)
{
    uint8_t *p = room(w, m, 2 * VARINT_BYTES);
    if (p) m->n = (size_t)(put_varint(put_varint(p, field << 3), value) - m->items);
}

static void add_fixed(TraceWriter *w, Message *m, uint32_t field, uint64_t bits)
{
    uint8_t *p = room(w, m, VARINT_BYTES + 8);
    if (!p) return;
    p = put_varint(p, field << 3 | 1);
    memcpy(p, &bits, 8);
    m->n = (size_t)(p + 8 - m->items);
}

static void add_double(TraceWriter *w, Message *m, uint32_t field, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, 8);
    add_fixed(w, m, field, bits);
}

static void add_header(TraceWriter *w, Message *m, uint32_t field, size_t n_bytes)
{
    uint8_t *p = room(w, m, 2 * VARINT_BYTES);
    if (p) m->n = (size_t)(put_varint(put_varint(p, field << 3 | 2), n_bytes) - m->items);
}

/* Replaces invalid UTF-8, as in the tables. */
static void add_text(TraceWriter *w, Message *m, uint32_t field, const char *text, size_t n)
{
    char *fixed = NULL;
    if (!utf8_valid((const uint8_t *)text, n)) {
        if (!(fixed = prof_buffer(3 * n))) {
            w->no_memory = true;
            return;
        }
        n = utf8_repair((const uint8_t *)text, n, fixed);
    }
    add_header(w, m, field, n);
    add_bytes(w, m, fixed ? fixed : text, n);
    prof_free(fixed);
}

static void add_message(TraceWriter *w, Message *m, uint32_t field, const Message *nested)
{
    add_header(w, m, field, nested->n);
    add_bytes(w, m, nested->items, nested->n);
}

/* ---- packets ---- */

/* Writes a packet with a time (-1: none), the new texts, and `nested` as `field`. */
static void write_packet(TraceWriter *w, int64_t time_ns, uint32_t field, const Message *nested)
{
    State *s = w->state;
    uint8_t head[6 * VARINT_BYTES] = {0}, *p = head, last[2 * VARINT_BYTES] = {0};
    size_t n_last = (size_t)(put_varint(put_varint(last, field << 3 | 2), nested->n) - last);
    if (time_ns >= 0) p = put_varint(put_varint(p, 8 << 3), (uint64_t)time_ns);
    p = put_varint(put_varint(p, 10 << 3), SEQUENCE);
    p = put_varint(put_varint(p, 13 << 3), s->cleared ? NEEDS_STATE : STATE_CLEARED);
    if (s->interned.n) p = put_varint(put_varint(p, 12 << 3 | 2), s->interned.n);
    size_t n_head = (size_t)(p - head);
    /* All of `head` and `last` is copied, because a constant number of bytes is copied faster. */
    uint8_t *q = trace_out_room(&w->out, VARINT_BYTES + 1 + sizeof head + sizeof last);
    p = put_varint(put_varint(q, 1 << 3 | 2), n_head + s->interned.n + n_last + nested->n);
    memcpy(p, head, sizeof head);
    p += n_head;
    if (s->interned.n) {
        w->out.n += (size_t)(p - q);
        trace_out_add(&w->out, s->interned.items, s->interned.n);
        p = q = trace_out_room(&w->out, sizeof last);
    }
    memcpy(p, last, sizeof last);
    w->out.n += (size_t)(p - q) + n_last;
    trace_out_add(&w->out, nested->items, nested->n);
    s->interned.n = 0;
    s->cleared = true;
}

static void add_clock(TraceWriter *w, Message *m, uint32_t id, uint64_t ns)
{
    State *s = w->state;
    s->nested.n = 0;
    add_varint(w, &s->nested, 1, id);
    add_varint(w, &s->nested, 2, ns);
    add_message(w, m, 1, &s->nested);
}

/* ---- texts ---- */

/* Gives a text a number, and adds it to the message of new ones. NO_NUMBER if it has none and has
 * to be written where it is used. */
static size_t number_new(TraceWriter *w, int list, const char *text, size_t n)
{
    State *s = w->state;
    if (s->arena.n_bytes > TEXTS_BYTES) return NO_NUMBER;
    size_t number = numbered_add(&s->texts[list], &s->arena, text, n);
    if (number == NO_NUMBER) {
        w->no_memory = true;
        return NO_NUMBER;
    }
    s->nested.n = 0;
    add_varint(w, &s->nested, 1, number + 1);
    add_text(w, &s->nested, 2, text, n);
    add_message(w, &s->interned, interned_fields[list], &s->nested);
    return number;
}

/* Returns the text's iid; 0 if it has none. */
static uint32_t iid_of(TraceWriter *w, int list, const char *text, size_t n)
{
    size_t number = numbered_find(&((State *)w->state)->texts[list], text, n);
    if (number == NO_NUMBER) number = number_new(w, list, text, n);
    return number == NO_NUMBER ? 0 : (uint32_t)number + 1;
}

static bool has_iid(const State *s, int list, uint32_t iid, const char *text, size_t n)
{
    if (!iid) return false;
    const NumberedText *known = &s->texts[list].texts.items[iid - 1];
    return known->n_bytes == n && !memcmp(known->text, text, n);
}

static Hint *hint_at(Hint hints[N_HINTS], const char *text)
{
    return &hints[(uintptr_t)text / 8 % N_HINTS];
}

/* Returns the iid of an argument's name; 0 if it has none. An address always has the same name. */
static inline uint32_t iid_of_arg(TraceWriter *w, const ViewerArg *arg)
{
    Hint *hint = hint_at(((State *)w->state)->arg_hints, arg->name);
    if (hint->text != arg->name || !hint->iid)
        *hint = (Hint){arg->name, iid_of(w, ARG_NAMES, arg->name, arg->n_name)};
    return hint->iid;
}

/* Returns the iid of an event's name; 0 if it has none. */
static uint32_t iid_of_name(TraceWriter *w, const ViewerEvent *e)
{
    State *s = w->state;
    if (e->name == e->shared->name) {
        NameHint *hint = &s->name_hints[hash64((uintptr_t)e->shared->of) % N_HINTS];
        if (hint->of != e->shared->of || !hint->iid)
            *hint = (NameHint){e->shared->of, iid_of(w, EVENT_NAMES, e->name, e->n_name)};
        return hint->iid;
    }
    Hint *hint = hint_at(s->event_hints, e->name);
    /* The address may have another name by now. */
    if (hint->text != e->name || !has_iid(s, EVENT_NAMES, hint->iid, e->name, e->n_name))
        *hint = (Hint){e->name, iid_of(w, EVENT_NAMES, e->name, e->n_name)};
    return hint->iid;
}

/* Returns a number that differs for most texts: from their length and some of their bytes. */
static size_t value_sample(const char *text, size_t n)
{
    uint32_t first, middle, last;
    memcpy(&first, text, sizeof first);
    memcpy(&middle, text + (n - MIN_TEXT) / 2, sizeof middle);
    memcpy(&last, text + n - MIN_TEXT, sizeof last);
    return hash64((first ^ (uint64_t)middle << 32) + n + (uint64_t)last * 0x9e3779b1) %
           N_VALUE_HINTS;
}

/* Returns the iid of a value of at least MIN_TEXT bytes; 0 if it has none. */
static uint32_t iid_of_value(TraceWriter *w, const char *text, size_t n)
{
    State *s = w->state;
    uint32_t *hint = &s->value_hints[value_sample(text, n)];
    if (!has_iid(s, ARG_VALUES, *hint, text, n)) *hint = iid_of(w, ARG_VALUES, text, n);
    return *hint;
}

/* ---- the functions of the format ---- */

static bool perfetto_open(TraceWriter *w) { return (w->state = prof_alloc(sizeof(State))); }

static void perfetto_start(TraceWriter *w, int64_t unix_ns)
{
    State *s = w->state;
    s->event.n = 0;
    add_clock(w, &s->event, CLOCK_BOOTTIME_ID, 0);
    if (unix_ns >= 0) add_clock(w, &s->event, CLOCK_REALTIME_ID, (uint64_t)unix_ns);
    add_varint(w, &s->event, 2, CLOCK_BOOTTIME_ID);
    write_packet(w, -1, 6, &s->event);
}

static void perfetto_track(TraceWriter *w, const TraceTrack *track)
{
    State *s = w->state;
    Message *m = &s->event;
    m->n = 0;
    add_varint(w, m, 1, track->id);
    if (track->kind == TRACK_PROCESS) {
        s->nested.n = 0;
        add_varint(w, &s->nested, 1, track->id);
        add_text(w, &s->nested, 6, track->name, track->n_name);
        add_message(w, m, 3, &s->nested);
        add_varint(w, m, 11, ORDER_EXPLICIT);
    } else {
        add_text(w, m, 2, track->name, track->n_name);
        add_varint(w, m, 5, track->process);
        if (track->kind == TRACK_COUNTER) add_header(w, m, 8, 0);
    }
    add_varint(w, m, 12, track->rank);
    if (track->kind == TRACK_LINE || track->kind == TRACK_LANE) {
        add_varint(w, m, 15, MERGE_BY_KEY);
        add_varint(w, m, 17, track->line);
    } else if (track->kind == TRACK_COUNTER) {
        add_varint(w, m, 15, MERGE_NONE);
    }
    write_packet(w, -1, 60, m);
}

/* Returns the iid; 0 if the text is written there. */
static uint32_t add_value(TraceWriter *w, Message *m, const char *text, size_t n)
{
    uint32_t iid = n >= MIN_TEXT ? iid_of_value(w, text, n) : 0;
    if (iid)
        add_varint(w, m, 17, iid);
    else
        add_text(w, m, 6, text, n);
    return iid;
}

static void add_ref(TraceWriter *w, Message *m, const Plane *plane, uint64_t ref)
{
    State *s = w->state;
    RefHint *hint = &s->ref_hints[(ref ^ (uintptr_t)plane / sizeof *plane) % N_HINTS];
    if (hint->iid && hint->ref == ref && hint->plane == plane) {
        add_varint(w, m, 17, hint->iid);
        return;
    }
    const Text *text = stat_ref_text(plane, ref);
    *hint = (RefHint){plane, ref, add_value(w, m, text->text, text->n_bytes)};
}

static void add_argument(TraceWriter *w, Message *m, const ViewerEvent *e, const ViewerArg *arg)
{
    State *s = w->state;
    char number_text[VIEWER_ROOM];
    size_t n, before = m->n;
    uint32_t number = iid_of_arg(w, arg);
    uint8_t *head = room(w, m, 2);
    if (!head) return;
    head[0] = 4 << 3 | 2;
    head[1] = 0; /* a length of one byte; a longer one moves the bytes after it */
    m->n += 2;
    size_t body = m->n;
    if (number)
        add_varint(w, m, 1, number);
    else
        add_text(w, m, 10, arg->name, arg->n_name);
    switch (arg->value.type) {
    case TYPE_INT64: add_varint(w, m, 4, (uint64_t)arg->value.integer); break;
    case TYPE_UINT64: add_varint(w, m, 3, arg->value.u64); break;
    case TYPE_DOUBLE: add_double(w, m, 5, arg->value.number); break;
    case TYPE_REF: add_ref(w, m, e->plane, arg->value.u64); break;
    default: {
        const char *text = viewer_value(e->plane, &arg->value, number_text, &n);
        add_value(w, m, text, n);
    }
    }
    size_t n_body = m->n - body;
    if (w->no_memory) return;
    if (n_body < 0x80) {
        m->items[body - 1] = (uint8_t)n_body;
        return;
    }
    s->nested.n = 0;
    add_bytes(w, &s->nested, m->items + body, n_body);
    m->n = before;
    add_message(w, m, 4, &s->nested);
}

static void perfetto_slice(TraceWriter *w, const TraceSlice *slice)
{
    State *s = w->state;
    Message *m = &s->event;
    const ViewerEvent *e = slice->event;
    m->n = 0;
    add_varint(w, m, 9, SLICE_BEGIN);
    add_varint(w, m, 11, slice->track->id);
    uint32_t name = iid_of_name(w, e);
    if (name)
        add_varint(w, m, 10, name);
    else
        add_text(w, m, 23, e->name, e->n_name);
    if (slice->flow_out) add_fixed(w, m, 47, slice->flow_out);
    if (slice->flow_in && slice->flow_in != slice->flow_out) add_fixed(w, m, 47, slice->flow_in);
    for (size_t i = 0; i < e->args.n; i++) add_argument(w, m, e, &e->args.items[i]);
    write_packet(w, slice->start.ns, 11, m);
}

static void perfetto_end(TraceWriter *w, const TraceTrack *track, TraceTime at)
{
    uint8_t event[4 * VARINT_BYTES], *p = put_varint(put_varint(event, 9 << 3), SLICE_END);
    p = put_varint(put_varint(p, 11 << 3), track->id);
    write_packet(w, at.ns, 11, &(Message){.items = event, .n = (size_t)(p - event)});
}

static void perfetto_counter(TraceWriter *w, const TraceTrack *track, TraceTime at,
                             const Stat *value)
{
    State *s = w->state;
    s->event.n = 0;
    add_varint(w, &s->event, 9, COUNTER);
    add_varint(w, &s->event, 11, track->id);
    if (value->type == TYPE_DOUBLE)
        add_double(w, &s->event, 44, value->number);
    else if (value->type == TYPE_UINT64 && value->u64 > INT64_MAX)
        add_double(w, &s->event, 44, (double)value->u64);
    else
        add_varint(w, &s->event, 30, value->u64);
    write_packet(w, at.ns, 11, &s->event);
}

/* The format has no end. */
static void perfetto_finish(TraceWriter *w) { (void)w; }

static void perfetto_close(TraceWriter *w)
{
    State *s = w->state;
    if (!s) return;
    for (int i = 0; i < N_TEXTS; i++) numbered_free(&s->texts[i]);
    prof_free(s->event.items);
    prof_free(s->interned.items);
    prof_free(s->nested.items);
    arena_free(&s->arena);
    prof_free(s);
    w->state = NULL;
}

const TraceFormat perfetto_format = {.open = perfetto_open,
                                     .start = perfetto_start,
                                     .track = perfetto_track,
                                     .slice = perfetto_slice,
                                     .end = perfetto_end,
                                     .counter = perfetto_counter,
                                     .finish = perfetto_finish,
                                     .close = perfetto_close};
