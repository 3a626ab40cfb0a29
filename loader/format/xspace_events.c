// SPDX-License-Identifier: Apache-2.0
/* xspace_events.c: reads the events of a line into packed chunks; see xspace.h and xspace_parts.h.
 */
#include "../base/interrupt.h"
#include "cursor.h"
#include "xspace_parts.h"

#define TAG(number, type) ((number) << 3 | (type))

/* ---- one event ---- */

typedef struct {
    Line *line;
    Arena *arena;
    uint32_t n;
    uint64_t span_start, span_end;
    int64_t last_offset, last_duration;
    StatSet chunk_stats; /* of the events in the current chunk */
    ChunkValues *values;
    struct StatValues {
        uint8_t types[N_STAT_COLUMNS][CHUNK_EVENTS];
        int64_t values[N_STAT_COLUMNS][CHUNK_EVENTS];
    } * stats;       /* types: 0 from the current event on */
    TextTable texts; /* texts of tf_op, in the arena */
    uint64_t text_bytes;
    bool texts_lost;   /* there were too many, or memory ran out */
    unsigned repeated; /* bits 1 << enum StatColumnName: an event of the current chunk has the stat
                          twice, or without a value */
} ChunkMaker;

const enum KnownStat stat_column_stats[N_STAT_COLUMNS] = {
    [STAT_COLUMN_GROUP] = STAT_GROUP_ID,
    [STAT_COLUMN_EAGER] = STAT_IS_EAGER,
    [STAT_COLUMN_DEVICE_OFFSET] = STAT_DEVICE_OFFSET_PS,
    [STAT_COLUMN_DEVICE_DURATION] = STAT_DEVICE_DURATION_PS,
    [STAT_COLUMN_TF_OP] = STAT_TF_OP,
};
/* By known stat: its column + 1; 0 if it has none. */
static const uint8_t column_of_stat[N_KNOWN_STATS] = {
    [STAT_GROUP_ID] = STAT_COLUMN_GROUP + 1,
    [STAT_IS_EAGER] = STAT_COLUMN_EAGER + 1,
    [STAT_DEVICE_OFFSET_PS] = STAT_COLUMN_DEVICE_OFFSET + 1,
    [STAT_DEVICE_DURATION_PS] = STAT_COLUMN_DEVICE_DURATION + 1,
    [STAT_TF_OP] = STAT_COLUMN_TF_OP + 1,
};

/* Keeps the text of a tf_op stat. The texts of a line take at most half of its size; if there are
 * more, the line has no column of them. */
static int64_t keep_text(ChunkMaker *m, const Stat *stat)
{
    size_t n_texts = m->texts.n_texts;
    const Text *text = NULL;
    if (!m->texts_lost && m->text_bytes + stat->n_bytes <= m->line->span.n_bytes / 2)
        text = text_intern(&m->texts, m->arena, stat->bytes, stat->n_bytes);
    if (m->texts.n_texts > n_texts) m->text_bytes += sizeof *text + text->n_bytes;
    m->texts_lost |= !text;
    return (int64_t)(intptr_t)text;
}

/* Stores a stat that has a column. `value` is the byte after its id. The first stat of an event
 * counts. */
static void keep_stat(ChunkMaker *m, unsigned known, const uint8_t *p, const uint8_t *value,
                      const uint8_t *end)
{
    Stat stat;
    enum StatColumnName column = (enum StatColumnName)(column_of_stat[known] - 1);
    if (m->stats->types[column][m->n]) {
        m->repeated |= 1u << column;
        return;
    }
    if (!stat_number(value, end, 0, &stat) &&
        (!stat_parse(p, end, &stat) || stat_known(m->line->plane, stat.id) != known))
        return;
    /* there, but without a value: the message has to be read */
    if (!stat.type) m->repeated |= 1u << column;
    m->stats->types[column][m->n] = (uint8_t)stat.type;
    m->stats->values[column][m->n] =
        column == STAT_COLUMN_TF_OP && stat.type == TYPE_STR ? keep_text(m, &stat) : stat.integer;
}

/* Returns the known stat of a message in any form; STAT_UNKNOWN if it is unknown or not a stat. */
static unsigned stat_of_any(const Plane *plane, const uint8_t *p, const uint8_t *end)
{
    Stat stat;
    return stat_parse(p, end, &stat) ? stat_known(plane, stat.id) : STAT_UNKNOWN;
}

/* Records which stat a message is. Fast for one that starts with an id of one or two bytes, as
 * nearly all do. */
static inline void note_stat(ChunkMaker *m, const uint8_t *p, const uint8_t *end, StatSet *set)
{
    const Plane *plane = m->line->plane;
    const uint8_t *value = end;
    unsigned known;
    if (end - p >= 3 && *p == TAG(1, WIRE_VARINT) && (p[1] & p[2]) < 0x80) {
        unsigned wide = p[1] >> 7;
        value = p + 2 + wide;
        known = stat_known(plane, (p[1] & 0x7f) | (p[2] & -wide) << 7);
    } else {
        known = stat_of_any(plane, p, end);
    }
    stat_set_add(set, known);
    if (column_of_stat[known]) keep_stat(m, known, p, value, end);
}

/* Records consecutive stats, the first at p, in *stats. Returns the byte after the last; NULL if
 * one is cut off. */
static inline const uint8_t *note_stats(ChunkMaker *m, const uint8_t *p, const uint8_t *end,
                                        StatSet *stats)
{
    StatSet set = *stats;
    do {
        uint64_t n_bytes;
        p = wire_varint(p + 1, end, &n_bytes);
        if (!p || n_bytes > (uint64_t)(end - p)) return NULL;
        if (m) note_stat(m, p, p + n_bytes, &set);
        p += n_bytes;
    } while (p < end && *p == TAG(4, WIRE_BYTES));
    *stats = set;
    return p;
}

/* Parses an event. If there is a maker, records the event's stats with it and in *stats. Bytes up
 * to `limit` may be read: those after `end` do not count, but let varints be read faster. */
static inline bool parse(const uint8_t *p, const uint8_t *end, const uint8_t *limit, Event *event,
                         ChunkMaker *m, StatSet *stats)
{
    *event = (Event){0};
    while (p < end) {
        uint64_t value = 0;
        switch (*p) {
        case TAG(1, WIRE_VARINT):
            p = wire_varint(p + 1, limit, &value);
            event->metadata_id = (int64_t)value;
            break;
        case TAG(2, WIRE_VARINT):
            p = wire_wide_varint(p + 1, limit, &value);
            event->offset_ps = (int64_t)value, event->aggregated = false;
            break;
        case TAG(3, WIRE_VARINT):
            p = wire_wide_varint(p + 1, limit, &value);
            event->duration_ps = (int64_t)value;
            break;
        case TAG(5, WIRE_VARINT):
            p = wire_wide_varint(p + 1, limit, &value);
            event->n_occurrences = (int64_t)value, event->offset_ps = 0, event->aggregated = true;
            break;
        case TAG(4, WIRE_BYTES): p = note_stats(m, p, end, stats); break;
        default: { /* unknown, or a tag in more bytes than it needs */
            Field field;
            if (!(p = wire_field(p, end, &field))) return false;
            if (field.number == 4 && field.type == WIRE_BYTES && m)
                note_stat(m, field.bytes, field.bytes + field.value, stats);
            if (field.type != WIRE_VARINT) break;
            if (field.number == 1) event->metadata_id = (int64_t)field.value;
            if (field.number == 2)
                event->offset_ps = (int64_t)field.value, event->aggregated = false;
            if (field.number == 3) event->duration_ps = (int64_t)field.value;
            if (field.number == 5)
                event->n_occurrences = (int64_t)field.value, event->offset_ps = 0,
                event->aggregated = true;
        }
        }
        if (!p || p > end) return false;
    }
    if (!event->aggregated) event->n_occurrences = 0;
    return true;
}

bool event_parse(const uint8_t *p, const uint8_t *end, Event *event)
{
    StatSet none = {0};
    return parse(p, end, end, event, NULL, &none);
}

/* Returns the index of an event's metadata; that of the entry after the declared ones if it is not
 * declared. */
static inline uint32_t meta_of(const Plane *plane, int64_t id)
{
    if ((uint64_t)id < plane->n_meta_ids)
        return plane->meta_of_id[id] ? plane->meta_of_id[id] - 1 : (uint32_t)plane->n_declared;
    int64_t declared = id_find(&plane->event_ids, plane->event_metas, sizeof(EventMeta), id);
    return declared < 0 ? (uint32_t)plane->n_declared : (uint32_t)declared;
}

/* Adds an event's stats to those of its metadata. Lines of a plane are read in parallel, but soon
 * no stat is new. */
static inline void add_stats(ChunkMaker *m, EventMeta *meta, const StatSet *set)
{
    for (size_t i = 0; i < STAT_SET_WORDS; i++) {
        uint64_t stats = set->bits[i];
        m->chunk_stats.bits[i] |= stats;
        if (stats & ~atomic_load_explicit(&meta->event_stats[i], memory_order_relaxed))
            atomic_fetch_or_explicit(&meta->event_stats[i], stats, memory_order_relaxed);
    }
}

/* Adds one event message; see parse() for limit. False if it is not an event. */
static inline bool add_event(ChunkMaker *m, const uint8_t *p, const uint8_t *end,
                             const uint8_t *limit, uint64_t position, uint64_t position_after)
{
    Event event;
    uint32_t i = m->n;
    StatSet stats = {0};
    if (!parse(p, end, limit, &event, m->stats ? m : NULL, &stats)) {
        for (int c = 0; c < N_STAT_COLUMNS && m->stats; c++) m->stats->types[c][i] = TYPE_NONE;
        return false;
    }
    uint32_t meta = meta_of(m->line->plane, event.metadata_id);
    if (m->stats) add_stats(m, &m->line->plane->event_metas[meta], &stats);
    m->n++;
    if (!i) m->span_start = position;
    m->span_end = position_after;
    m->values->columns[COL_OFFSET][i] = event.aggregated ? event.n_occurrences : event.offset_ps;
    m->values->columns[COL_DURATION][i] = event.duration_ps;
    m->values->columns[COL_META][i] = meta;
    m->values->columns[COL_POSITION][i] = (int64_t)position;
    m->values->columns[COL_AGGREGATED][i] = event.aggregated;
    if (event.offset_ps < m->last_offset ||
        (event.offset_ps == m->last_offset && event.duration_ps > m->last_duration))
        m->line->ordered = false;
    m->last_offset = event.offset_ps, m->last_duration = event.duration_ps;
    return true;
}

/* ---- a chunk ---- */

/* Copies neighbours' values to events without the stat, so that the column packs well. */
static void fill_gaps(const uint8_t *types, int64_t *values, uint32_t n)
{
    int64_t last = 0;
    for (uint32_t i = n; i-- && !types[i];)
        if (i && types[i - 1]) last = values[i - 1];
    for (uint32_t i = n; i--;) last = values[i] = types[i] ? values[i] : last;
}

/* For chunks whose events have none of the stats. */
static const StatColumn no_stats[N_STAT_COLUMNS];

/* Packs the stat columns of a chunk. group_id and is_eager are always kept; of several in one
 * event, the first counts. The other columns are kept if they are complete and the chunk stays
 * within the memory that chunk_finish() grants, of which n_bytes are used already. */
static int finish_stats(ChunkMaker *m, Chunk *chunk, uint64_t n_bytes, ProfErr *err)
{
    chunk->stats = m->chunk_stats;
    chunk->columns_kept = (1u << N_STAT_COLUMNS) - 1;
    m->chunk_stats = (StatSet){0};
    chunk->stat_columns = no_stats;
    StatColumn *columns = NULL;
    for (int c = 0; c < N_STAT_COLUMNS; c++) {
        uint8_t *types = m->stats->types[c];
        int64_t *values = m->stats->values[c];
        if (!stat_set_has(&chunk->stats, stat_column_stats[c])) continue;
        if (!columns && !(columns = arena_alloc(m->arena, N_STAT_COLUMNS * sizeof *columns)))
            return prof_nomem(err);
        chunk->stat_columns = columns;
        fill_gaps(types, values, m->n);
        ValueRange range = values_range(values, m->n);
        n_bytes += (uint64_t)m->n * (range_width(range) + 1u);
        bool lost = m->repeated >> c & 1 || (c == STAT_COLUMN_TF_OP && m->texts_lost) ||
                    2 * n_bytes > 3 * chunk->span.n_bytes;
        if (lost && c > STAT_COLUMN_EAGER)
            chunk->columns_kept &= (uint8_t) ~(1u << c);
        else if (!packed_make_bytes(&columns[c].types, m->arena, types, m->n) ||
                 !packed_make_of(&columns[c].values, m->arena, values, m->n, range))
            return prof_nomem(err);
        memset(types, TYPE_NONE, m->n);
    }
    chunk->repeats_group = m->repeated >> STAT_COLUMN_GROUP & 1;
    m->repeated = 0;
    return PROF_OK;
}

/* Returns the range of a column. Positions are ascending, so their ends suffice. */
static ValueRange column_range(const ChunkMaker *m, enum ChunkColumn column)
{
    const int64_t *values = m->values->columns[column];
    return column == COL_POSITION ? (ValueRange){values[0], values[m->n - 1]}
                                  : values_range(values, m->n);
}

static void measure_chunk(const ChunkMaker *m, Chunk *chunk, const ValueRange *ranges)
{
    const int64_t *offset = m->values->columns[COL_OFFSET],
                  *duration = m->values->columns[COL_DURATION],
                  *aggregated = m->values->columns[COL_AGGREGATED];
    bool any_aggregated = ranges[COL_AGGREGATED].most;
    chunk->min_duration = ranges[COL_DURATION].least,
    chunk->max_duration = ranges[COL_DURATION].most;
    chunk->min_offset = any_aggregated ? INT64_MAX : ranges[COL_OFFSET].least,
    chunk->max_offset = any_aggregated ? INT64_MIN : ranges[COL_OFFSET].most;
    chunk->min_end = INT64_MAX, chunk->max_end = INT64_MIN;
#define WIDEN(min, max, v) ((min) = (v) < (min) ? (v) : (min), (max) = (v) > (max) ? (v) : (max))
    for (uint32_t i = 0; i < m->n; i++) {
        int64_t start = any_aggregated && aggregated[i] ? 0 : offset[i],
                end = add_saturated(start, duration[i]);
        if (any_aggregated) WIDEN(chunk->min_offset, chunk->max_offset, start);
        WIDEN(chunk->min_end, chunk->max_end, end);
    }
}

static int chunk_finish(ChunkMaker *m, ProfErr *err)
{
    if (!m->n) return PROF_OK;
    Line *line = m->line;
    if (!GROW(line->chunks, line->n_chunks, line->chunk_capacity)) return prof_nomem(err);
    Chunk chunk = {
        .n_events = m->n, .span = {m->span_start, m->span_end - m->span_start}, .packed = true};
    ValueRange ranges[N_CHUNK_COLUMNS];
    uint64_t n_bytes = 0;
    for (int c = 0; c < N_CHUNK_COLUMNS; c++) {
        ranges[c] = column_range(m, (enum ChunkColumn)c);
        n_bytes += (uint64_t)m->n * range_width(ranges[c]);
    }
    measure_chunk(m, &chunk, ranges);
    if (ranges[COL_META].most == (int64_t)line->plane->n_declared)
        host_issue_in_file(
            line->plane->host, "warning", "unknown_metadata", m->span_start, 0, line->plane,
            "events use a metadata id that their plane does not declare; their names are empty");
    if (m->n == CHUNK_EVENTS && 2 * n_bytes > 3 * chunk.span.n_bytes)
        chunk.packed = false;
    else
        for (int c = 0; c < N_CHUNK_COLUMNS; c++)
            if (!packed_make_of(&chunk.columns[c], m->arena, m->values->columns[c], m->n,
                                ranges[c]))
                return prof_nomem(err);
    if (finish_stats(m, &chunk, n_bytes, err)) return err->code;
    line->chunks[line->n_chunks++] = chunk;
    line->n_events += m->n;
    m->n = 0;
    return PROF_OK;
}

/* ---- a line ---- */

static int line_field(Line *line, const FileField *f, Window *window, ProfErr *err)
{
    if (f->type == WIRE_VARINT) {
        switch (f->number) {
        case 1: line->proto_id = (int64_t)f->value; break;
        case 3: line->timestamp_ns = (int64_t)f->value; break;
        case 9: line->duration_ps = (int64_t)f->value; break;
        case 10: line->display_id = (int64_t)f->value; break;
        default: break;
        }
    } else if (f->type == WIRE_BYTES && (f->number == 2 || f->number == 11)) {
        const Text *text = xspace_text(line->plane->host, window, f->payload, err);
        if (!text) return err->code;
        *(f->number == 2 ? &line->name : &line->display_name) = text;
    }
    return PROF_OK;
}

int xspace_read_line(Line *line, Window *window, Arena *arena, const atomic_bool *stop,
                     atomic_uint_fast64_t *bytes_done, ProfErr *err)
{
    ChunkMaker m = {.line = line,
                    .arena = arena,
                    .last_offset = INT64_MIN,
                    .values = prof_buffer(sizeof *m.values),
                    .stats = prof_buffer(sizeof *m.stats)};
    if (!m.values || !m.stats) prof_nomem(err);
    if (m.stats) memset(m.stats->types, TYPE_NONE, sizeof m.stats->types);
    Host *host = line->plane->host;
    Cursor c = {window, line->span.offset, line->span.offset + line->span.n_bytes};
    while (c.at < c.end && !err->code) {
        uint64_t left = c.end - c.at;
        size_t there;
        const uint8_t *start = window_at(window, c.at, left < 20 ? (size_t)left : 20, &there, err),
                      *p = start;
        if (!p) break;
        const uint8_t *end = p + (there < left ? there : (size_t)left);
        /* Adds complete events in the window, one after another. */
        while (p < end && *p == TAG(4, WIRE_BYTES) && m.n < CHUNK_EVENTS) {
            uint64_t n;
            const uint8_t *message = wire_varint(p + 1, end, &n);
            if (!message || n > (uint64_t)(end - message)) break;
            uint64_t position = c.at + (uint64_t)(p - start);
            if (!add_event(&m, message, message + n, end, position,
                           position + (uint64_t)(message - p) + n))
                xspace_lost(host, line, position, (uint64_t)(message - p) + n, "an event");
            p = message + n;
        }
        if (p > start) {
            c.at += (uint64_t)(p - start);
        } else if (m.n <
                   /* something else, or an event that is not completely in the window */
                   CHUNK_EVENTS) {
            FileField f;
            uint64_t field_at = c.at;
            enum Step step = cursor_next(&c, &f, err);
            if (step == STEP_DAMAGED) {
                xspace_lost(host, line, c.at, c.end - c.at, "a line");
                break;
            }
            if (step == STEP_FAILED) break;
            if (f.type == WIRE_BYTES && f.clipped) {
                xspace_cut(host, line, field_at, f.missing,
                           f.number == 4 ? "an event" : "a field of a line");
                xspace_lost(host, &line->span, field_at, c.end - field_at, "a cut event or field");
                break;
            }
            if (f.number == 4 && f.type == WIRE_BYTES) {
                const uint8_t *message = cursor_payload(window, f.payload, err);
                if (!message) break;
                if (!add_event(&m, message, message + f.payload.n_bytes,
                               message + f.payload.n_bytes, field_at, c.at))
                    xspace_lost(host, line, field_at, c.at - field_at, "an event");
            } else if (line_field(line, &f, window, err)) {
                break;
            }
        }
        if (m.n == CHUNK_EVENTS) {
            chunk_finish(&m, err);
            atomic_fetch_add_explicit(bytes_done, m.span_end - m.span_start, memory_order_relaxed);
            if (atomic_load_explicit(stop, memory_order_relaxed) ||
                interrupt_poll(CHUNK_EVENTS, err))
                break; /* the result is discarded */
        }
    }
    if (!err->code) chunk_finish(&m, err);
    prof_free(m.values);
    prof_free(m.stats);
    text_table_free(&m.texts);
    line_classify(line);
    return err->code;
}

const uint8_t *event_message(Window *window, uint64_t position, size_t *n_bytes, ProfErr *err)
{
    uint64_t left = window->file->n_bytes - position, n;
    size_t there;
    const uint8_t *p = window_at(window, position, left < 20 ? (size_t)left : 20, &there, err);
    if (!p) return NULL;
    const uint8_t *message = wire_header(p, p + there, &n);
    if (!message || n > left - (uint64_t)(message - p)) {
        prof_fail(err, PROF_IO, position,
                  "%s: changed while it was being read; run the query again when it is complete",
                  window->file->path);
        return NULL;
    }
    size_t header = (size_t)(message - p);
    p = window_at(window, position, header + (size_t)n, &there, err);
    *n_bytes = (size_t)n;
    return p ? p + header : NULL;
}

int chunk_read(const Line *line, const Chunk *chunk, unsigned wanted, ChunkValues *values,
               Window *window, ProfErr *err)
{
    if (interrupt_poll(chunk->n_events, err)) return err->code;
    if (chunk->packed) {
        for (int c = 0; c < N_CHUNK_COLUMNS; c++)
            if (wanted >> c & 1)
                packed_read(&chunk->columns[c], values->columns[c], chunk->n_events);
        return PROF_OK;
    }
    Line scratch = {.plane = line->plane, .ordered = true};
    ChunkMaker m = {.line = &scratch, .values = values};
    Cursor c = {window, chunk->span.offset, chunk->span.offset + chunk->span.n_bytes};
    FileField f;
    for (uint64_t at = c.at; cursor_next(&c, &f, err) == STEP_FIELD && m.n < chunk->n_events;
         at = c.at) {
        if (f.number != 4 || f.type != WIRE_BYTES) continue;
        const uint8_t *message = cursor_payload(window, f.payload, err);
        if (!message) break;
        add_event(&m, message, message + f.payload.n_bytes, message + f.payload.n_bytes, at, c.at);
    }
    if (!err->code && m.n != chunk->n_events)
        prof_fail(err, PROF_IO, c.at,
                  "%s: changed while it was being read; run the query again when it is complete",
                  window->file->path);
    return err->code;
}
