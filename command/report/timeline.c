// SPDX-License-Identifier: Apache-2.0
/* timeline.c: writes the events of a page; see page.h.
 *
 * The longest events of each line are in the page individually, a million in all if they are not
 * too many bytes. For the others, it has the share of each part of the time that they take. The
 * events are read three times from an Arrow stream: first their lengths are counted, to find the
 * longest; then the events are selected whose arguments and flows the page has; then all are
 * written, compressed by zlib and encoded in base64, which page.js unpacks: for each line a column
 * of starts, durations, names, depths and ids, then everything else as JSON. Numbers of columns are
 * varints as in protobuf; starts and ids are zigzag differences from the previous event. That is
 * half as many bytes as events in JSON, and faster to write and to read. Times are in ns from the
 * start of the session, as in SQL and in `profsql export --from`.
 *
 * With a baseline, the page has the events of both runs, and each run gets half of every limit but
 * that of lines. */
#include "page.h"

#include "../../ext/profsql_arrow.h"
#include "../../loader/base/numbered_texts.h"
#include "../../loader/base/search.h"
#include "../../loader/base/varint.h"

#include <math.h>
#include <pthread.h>
#include <string.h>
#include <zlib.h>

/* Limits of a page. */
enum { EVENTS = 1000000, DETAILS = 1200, DETAIL_BYTES = 2 << 20, LINES = 300 };
/* Compressed. With more, fewer events are written, but not less than LEAST_EVENTS. */
enum { PACKED_BYTES = 2300000, LEAST_EVENTS = 100000 };
enum { BUCKETS = 64 * 8, PARTS = 400, LONGEST_ARGS = 6000, LONGEST_NAME = 200 };
enum { NAMES_BYTES = 3 << 19 }; /* for all names; later ones are left out */
/* A pass reads as many of the columns as it needs. */
enum {
    LINE,
    START,
    DURATION,
    N_TIMES,
    EVENT = N_TIMES,
    N_CHOSEN_BY,
    DEPTH = N_CHOSEN_BY,
    N_DEPTHS,
    NAME = N_DEPTHS,
    N_ALL
};
enum { CELL_START, CELL_DURATION, CELL_NAME, CELL_DEPTH, CELL_EVENT, N_CELLS };
static const char *const columns[] = {"line_id",  "start_ps", "duration_ps",
                                      "event_id", "depth",    "short_name"};

/* Selects events of a line: those in buckets above `least`, and in `least` every `every`-th one. */
typedef struct {
    int least;
    uint64_t every, seen;
} Choice;

/* A line of the run. */
typedef struct {
    bool shown, device;
    const char *plane, *name;
    uint64_t n;
    double time_ps;   /* time in its outermost events; only if there are too many lines */
    uint32_t *counts; /* number of events by bucket of their duration; NULL: it has no events */
    Choice events, details;
} LineInfo;

typedef struct {
    int64_t line, event, start_ps, duration_ps, depth;
    const char *name;
    size_t n_name;
} Event;

typedef struct {
    Page *page;
    int run;
    LineInfo *lines;
    int64_t n_lines;
    int n_eligible; /* lines that are shown if they are not too many */
    int64_t first_ps, last_ps;
    int64_t least_of[BUCKETS + 1];       /* least duration of each bucket, in ps */
    int8_t bucket_by_bits[32];           /* of 32 to 63: bucket after that of 32 */
    double part_ps;                      /* length of a part of the time */
    LIST(int64_t) ids;                   /* of the events with details, ascending */
    int64_t without_from, without_until; /* events of a range that have none */
    /* For writing: */
    TextBuffer cells[N_CELLS]; /* columns of the line, as they are in the page */
    TextBuffer json, packed;
    z_stream zip;
    uint64_t n_line, n_cell_bytes; /* events of the line in the page; bytes of all columns */
    NumberedTexts names;
    Arena arena;
    int64_t line, last_start, last_event;
    uint64_t n_left;
    double parts[PARTS];
    bool any_line, no_memory;
} Timeline;

/* Returns the part of a limit that each run gets. */
static uint64_t part_of(const Timeline *t, int limit)
{
    return (uint64_t)(limit / t->page->n_runs);
}

static const char *label_of(const Timeline *t) { return t->page->d->runs[t->run].label; }

/* ---- the stream ---- */

static int64_t integer_at(const struct ArrowArray *column, int64_t i)
{
    return ((const int64_t *)column->buffers[1])[i];
}

static void read_name(const struct ArrowArray *column, int64_t i, Event *e)
{
    const struct ArrowArray *texts = column->dictionary;
    int32_t code = ((const int32_t *)column->buffers[1])[i];
    const int32_t *offsets = texts->buffers[1];
    bool known = !column->buffers[0] || (((const uint8_t *)column->buffers[0])[i / 8] >> i % 8 & 1);
    if (!known || code < 0 || code >= texts->length) return;
    e->name = (const char *)texts->buffers[2] + offsets[code];
    e->n_name = (size_t)(offsets[code + 1] - offsets[code]);
}

static inline Event read_event(const struct ArrowArray *batch, int64_t i, size_t n_columns)
{
    struct ArrowArray **c = batch->children;
    Event e = {.line = integer_at(c[LINE], i),
               .start_ps = integer_at(c[START], i),
               .duration_ps = integer_at(c[DURATION], i),
               .name = ""};
    if (n_columns > EVENT) e.event = integer_at(c[EVENT], i);
    if (n_columns > DEPTH) e.depth = integer_at(c[DEPTH], i);
    if (n_columns > NAME) read_name(c[NAME], i, &e);
    return e;
}

/* Batches that another thread reads while the events of earlier ones are packed, which takes about
 * as long. */
enum { AHEAD = 4 };
typedef struct {
    struct ArrowArrayStream stream;
    struct ArrowArray batches[AHEAD]; /* batch number n is batches[n % AHEAD] */
    pthread_t thread;
    bool beside; /* there is a thread */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    size_t n_read, n_taken;
    bool ended, failed;
} Ahead;

static void *read_ahead(void *context)
{
    Ahead *a = context;
    pthread_mutex_lock(&a->lock);
    while (!a->ended) {
        while (a->n_read - a->n_taken == AHEAD) pthread_cond_wait(&a->changed, &a->lock);
        struct ArrowArray *batch = &a->batches[a->n_read % AHEAD];
        pthread_mutex_unlock(&a->lock);
        bool failed = a->stream.get_next(&a->stream, batch);
        pthread_mutex_lock(&a->lock);
        a->failed = failed;
        a->ended = failed || !batch->release;
        a->n_read += !a->ended;
        pthread_cond_signal(&a->changed);
    }
    pthread_mutex_unlock(&a->lock);
    return NULL;
}

/* Starts reading. Only a connection that SQLite locks may be used by another thread. */
static void ahead_start(Ahead *a, sqlite3 *db)
{
    pthread_mutex_init(&a->lock, NULL);
    pthread_cond_init(&a->changed, NULL);
    a->beside = sqlite3_db_mutex(db) && !pthread_create(&a->thread, NULL, read_ahead, a);
}

/* Returns false after the last batch, or after a failure. */
static bool ahead_next(Ahead *a, struct ArrowArray *batch)
{
    if (!a->beside) {
        a->failed = a->stream.get_next(&a->stream, batch);
        return !a->failed && batch->release;
    }
    pthread_mutex_lock(&a->lock);
    while (a->n_read == a->n_taken && !a->ended) pthread_cond_wait(&a->changed, &a->lock);
    bool any = a->n_read > a->n_taken;
    if (any) *batch = a->batches[a->n_taken++ % AHEAD];
    pthread_cond_signal(&a->changed);
    pthread_mutex_unlock(&a->lock);
    return any;
}

/* All batches were taken. */
static void ahead_end(Ahead *a)
{
    if (a->beside) pthread_join(a->thread, NULL);
    pthread_mutex_destroy(&a->lock);
    pthread_cond_destroy(&a->changed);
    a->stream.release(&a->stream);
}

/* Inline, because most passes use few fields of an event. */
static inline __attribute__((always_inline)) bool
each_event(Timeline *t, size_t n_columns, void (*visit)(Timeline *t, const Event *e))
{
    Ahead ahead = {0};
    struct ArrowArray batch;
    char *message = NULL;
    sqlite3 *db = t->page->d->db;
    ProfsqlArrowOptions options = {.columns = columns, .n_columns = n_columns};
    if (database_is_ending()) return false;
    bool ok = profsql_arrow_stream(db, label_of(t), "trace_events", &options, &ahead.stream,
                                   &message) == SQLITE_OK;
    if (ok) ahead_start(&ahead, db);
    while (ok && ahead_next(&ahead, &batch)) {
        for (int64_t i = 0; i < batch.length; i++) {
            Event e = read_event(&batch, i, n_columns);
            if (e.line < t->n_lines && t->lines[e.line].shown) visit(t, &e);
        }
        batch.release(&batch);
    }
    if (ok) ahead_end(&ahead);
    ok = ok && !ahead.failed;
    if (!ok && !database_is_ending())
        complain("%s", message ? message : "the events cannot be read");
    sqlite3_free(message);
    return ok;
}

/* ---- selecting events ---- */

/* Eight buckets for each power of two. */
static void divide_durations(Timeline *t)
{
    for (int i = 0; i <= BUCKETS; i++)
        t->least_of[i] = i < 63 * 8 ? (int64_t)ceil(exp2(i / 8.0)) : INT64_MAX;
    for (int i = 0; i < 32; i++) t->bucket_by_bits[i] = (int8_t)(8 * log2((32 + i) / 32.0));
}

/* The six highest bits of a duration leave two buckets, since eight buckets have 32 such values. */
static int bucket_of(const Timeline *t, int64_t duration_ps)
{
    if (duration_ps < 1) return 0;
    int zeros = __builtin_clzll((unsigned long long)duration_ps);
    unsigned bits = (unsigned)((uint64_t)duration_ps << zeros >> 58) & 31;
    int bucket = (63 - zeros) * 8 + t->bucket_by_bits[bits];
    return bucket + (duration_ps >= t->least_of[bucket + 1]);
}

static void count(Timeline *t, const Event *e)
{
    LineInfo *line = &t->lines[e->line];
    int64_t end = add_saturated(e->start_ps, e->duration_ps > 0 ? e->duration_ps : 0);
    if (!line->counts) {
        line->counts = keep_alloc(BUCKETS * sizeof *line->counts);
        memset(line->counts, 0, BUCKETS * sizeof *line->counts);
    }
    line->counts[bucket_of(t, e->duration_ps)]++, line->n++;
    if (e->start_ps < t->first_ps) t->first_ps = e->start_ps;
    if (end > t->last_ps) t->last_ps = end;
}

/* Selects the longest `most` events of a line. */
static Choice choice_of(const LineInfo *line, uint64_t most)
{
    uint64_t above = 0;
    int bucket = BUCKETS;
    while (bucket > 0 && above + line->counts[bucket - 1] <= most) above += line->counts[--bucket];
    uint64_t n = bucket > 0 ? line->counts[bucket - 1] : 0;
    return (Choice){bucket - 1, most > above ? n / (most - above) + 1 : n + 1, 0};
}

/* Returns how many events each line gets so that `room` is used, if all lines with that many get
 * the same number. */
static uint64_t share(const Timeline *t, uint64_t room)
{
    uint64_t low = 0, high = room;
    while (low < high) {
        uint64_t middle = (low + high + 1) / 2, sum = 0;
        for (int64_t i = 0; i < t->n_lines; i++)
            sum += t->lines[i].n < middle ? t->lines[i].n : middle;
        if (sum <= room)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

static void choose_events(Timeline *t, uint64_t most)
{
    uint64_t events = share(t, most);
    for (int64_t i = 0; i < t->n_lines; i++)
        if (t->lines[i].n) t->lines[i].events = choice_of(&t->lines[i], events);
}

static void choose_details(Timeline *t)
{
    uint64_t details = share(t, part_of(t, DETAILS));
    for (int64_t i = 0; i < t->n_lines; i++)
        if (t->lines[i].n) t->lines[i].details = choice_of(&t->lines[i], details);
}

static bool is_in(const Timeline *t, Choice *choice, const Event *e)
{
    int bucket = bucket_of(t, e->duration_ps);
    return bucket != choice->least ? bucket > choice->least : !(choice->seen++ % choice->every);
}

/* Events come by id, so nearly all are in the same range as the one before. */
static bool has_details(Timeline *t, int64_t event)
{
    if (event >= t->without_from && event < t->without_until) return false;
    size_t at = LOWER_BOUND(i, 0, t->ids.n, t->ids.items[i] < event);
    t->without_from = event;
    t->without_until = at < t->ids.n ? t->ids.items[at] : INT64_MAX;
    return t->without_until == event;
}

static void note_details(Timeline *t, const Event *e)
{
    int64_t *id = is_in(t, &t->lines[e->line].details, e) ? PUSH(t->ids) : NULL;
    if (id) *id = e->event;
}

/* ---- writing ---- */

static void write_base64(FILE *out, const TextBuffer *bytes)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < bytes->n_bytes; i += 3) {
        size_t n = bytes->n_bytes - i < 3 ? bytes->n_bytes - i : 3;
        uint8_t p[3] = {0};
        memcpy(p, bytes->text + i, n);
        const char four[4] = {digits[p[0] >> 2], digits[(p[0] & 3) << 4 | p[1] >> 4],
                              digits[(p[1] & 15) << 2 | p[2] >> 6], digits[p[2] & 63]};
        fwrite(four, 1, n + 1, out);
        fwrite("==", 1, 3 - n, out);
    }
}

static void compress_text(Timeline *t, TextBuffer *text, bool at_end)
{
    uint8_t room[1 << 15];
    t->zip.next_in = (Bytef *)text->text;
    t->zip.avail_in = (uInt)text->n_bytes;
    do {
        t->zip.next_out = room;
        t->zip.avail_out = sizeof room;
        deflate(&t->zip, at_end ? Z_FINISH : Z_NO_FLUSH);
        text_add_bytes(&t->packed, (const char *)room, sizeof room - t->zip.avail_out);
    } while (!t->zip.avail_out);
    t->no_memory |= text->no_memory | t->packed.no_memory;
    text_clear(text);
}

static void add_number(TextBuffer *out, uint64_t value)
{
    uint8_t bytes[VARINT_BYTES];
    text_add_bytes(out, (const char *)bytes, (size_t)(put_varint(bytes, value) - bytes));
}

static void json_text(TextBuffer *out, const char *text, size_t n)
{
    text_add_char(out, '"');
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c == '"' || c == '\\') text_add_char(out, '\\');
        if (c < 0x20)
            text_add_format(out, "\\u%04x", c);
        else
            text_add_char(out, (char)c);
    }
    text_add_char(out, '"');
}

/* Returns the length of a name that is cut between characters. */
static size_t name_bytes(const char *text, size_t n)
{
    if (n <= LONGEST_NAME) return n;
    for (n = LONGEST_NAME; n && ((unsigned char)text[n] & 0xc0) == 0x80;) n--;
    return n;
}

static void json_name(TextBuffer *out, const char *name)
{
    json_text(out, name, name_bytes(name, strlen(name)));
}

static size_t number_of_name(Timeline *t, const char *text, size_t n)
{
    static const char left_out[] = "(name left out: the page has too many names)";
    n = name_bytes(text, n);
    size_t number = numbered_find(&t->names, text, n);
    if (number != NO_NUMBER) return number;
    if (t->arena.n_bytes > part_of(t, NAMES_BYTES) && text != left_out)
        return number_of_name(t, left_out, sizeof left_out - 1);
    number = numbered_add(&t->names, &t->arena, text, n);
    if (number != NO_NUMBER) return number;
    t->no_memory = true;
    return 0;
}

/* Returns the time since the first event's start. With damaged times it may exceed int64. */
static uint64_t since_first(const Timeline *t, int64_t ps)
{
    return (uint64_t)ps - (uint64_t)t->first_ps;
}

/* Returns a time of the session in ns: not later, so that `--from` with it includes the event. */
static int64_t floor_ns(int64_t ps) { return ps / 1000 - (ps % 1000 < 0); }

static void end_line(Timeline *t)
{
    if (t->line < 0) return;
    for (int i = 0; i < N_CELLS; i++) {
        t->n_cell_bytes += t->cells[i].n_bytes;
        compress_text(t, &t->cells[i], false);
    }
    text_add_format(&t->json, ",\"n\":%llu", (unsigned long long)t->n_line);
    if (t->n_left) {
        text_add_format(&t->json, ",\"left\":%llu,\"bins\":[", (unsigned long long)t->n_left);
        for (int i = 0; i < PARTS; i++)
            text_add_format(&t->json, i ? ",%d" : "%d",
                            (int)ceil(fmin(100, 100 * t->parts[i] / t->part_ps)));
        text_add(&t->json, "]");
    }
    text_add(&t->json, "}");
    t->line = -1;
}

static void begin_line(Timeline *t, int64_t line)
{
    end_line(t);
    text_add(&t->json, t->any_line ? ",\n{\"plane\":" : "\n{\"plane\":");
    json_name(&t->json, t->lines[line].plane);
    text_add(&t->json, ",\"name\":");
    json_name(&t->json, t->lines[line].name);
    if (t->lines[line].device) text_add(&t->json, ",\"device\":true");
    memset(t->parts, 0, sizeof t->parts);
    t->line = line, t->any_line = true;
    t->last_start = t->last_event = 0, t->n_left = t->n_line = 0;
}

/* Counts an event that is left out in the part of the time in which it starts. */
static void leave_out(Timeline *t, const Event *e)
{
    double part = (double)since_first(t, e->start_ps) / t->part_ps;
    t->parts[part < PARTS - 1 ? (int)part : PARTS - 1] += (double)e->duration_ps;
    t->n_left++;
}

static void write_event(Timeline *t, const Event *e)
{
    if (e->line != t->line) begin_line(t, e->line);
    if (!is_in(t, &t->lines[e->line].events, e) && !has_details(t, e->event)) {
        leave_out(t, e);
        return;
    }
    int64_t start = floor_ns(e->start_ps);
    int64_t length = e->duration_ps > 0 ? add_saturated(e->duration_ps, 500) / 1000 : 0;
    size_t name = number_of_name(t, e->name, e->n_name);
    add_number(&t->cells[CELL_START], zigzag((uint64_t)start - (uint64_t)t->last_start));
    add_number(&t->cells[CELL_DURATION], (uint64_t)length);
    add_number(&t->cells[CELL_NAME], name);
    add_number(&t->cells[CELL_DEPTH], (uint64_t)e->depth);
    add_number(&t->cells[CELL_EVENT], zigzag((uint64_t)e->event - (uint64_t)t->last_event));
    t->last_start = start, t->last_event = e->event, t->n_line++;
}

/* ---- details of events ---- */

/* Details of the events in ?2, and of those that they launched or that launched them. */
static const char *const details_sql =
    "WITH k AS MATERIALIZED (SELECT value AS event_id FROM json_each(?2)),\n"
    "l AS MATERIALIZED (\n"
    "    SELECT event_id, launch_event_id FROM temp.launch_delays(?1)\n"
    "    WHERE event_id IN k OR launch_event_id IN k LIMIT 4000\n"
    "), i AS MATERIALIZED (\n"
    "    SELECT event_id FROM k UNION SELECT event_id FROM l UNION SELECT launch_event_id FROM l\n"
    ")\n"
    "SELECT t.event_id, t.args, CAST(t.flow_in AS TEXT), CAST(t.flow_out AS TEXT)\n"
    "FROM i CROSS JOIN temp.timeline(?1) AS t ON t.event_id = i.event_id ORDER BY t.event_id";

static const char *ids_as_json(const Timeline *t)
{
    TextBuffer out = {0};
    text_add_char(&out, '[');
    for (size_t i = 0; i < t->ids.n; i++) {
        if (i) text_add_char(&out, ',');
        text_add_integer(&out, t->ids.items[i]);
    }
    text_add_char(&out, ']');
    const char *kept = keep_text("%s", out.text ? out.text : "[]");
    text_free(&out);
    return kept;
}

/* Writes the details of an event as JSON. */
static void add_details(sqlite3_stmt *stmt, TextBuffer *out)
{
    static const char too_long[] = "{\"arguments\":\"too long for this page\"}";
    const char *args = (const char *)sqlite3_column_text(stmt, 1);
    text_add_format(out, "%s\"%lld\":{\"a\":", out->n_bytes ? "," : "",
                    (long long)sqlite3_column_int64(stmt, 0));
    if (!args) args = "{}";
    text_add(out, strlen(args) < LONGEST_ARGS ? args : too_long);
    for (int i = 2; i < 4; i++)
        if (sqlite3_column_type(stmt, i) != SQLITE_NULL)
            text_add_format(out, ",\"%s\":\"%s\"", i == 2 ? "i" : "o",
                            (const char *)sqlite3_column_text(stmt, i));
    text_add(out, "}\n");
}

/* Reads the details into `out`. Afterwards ids has all events with details. */
static bool read_details(Timeline *t, TextBuffer *out)
{
    if (!each_event(t, N_CHOSEN_BY, note_details)) return false;
    sqlite3_stmt *stmt = ask(t->page->d, details_sql, label_of(t), ids_as_json(t), NULL);
    t->ids.n = 0;
    while (next_row(t->page->d, stmt) && out->n_bytes < part_of(t, DETAIL_BYTES) && !t->no_memory) {
        int64_t *id = PUSH(t->ids);
        if (id)
            *id = sqlite3_column_int64(stmt, 0), add_details(stmt, out);
        else
            t->no_memory = true;
    }
    sqlite3_finalize(stmt);
    t->no_memory |= out->no_memory;
    return stmt && !t->page->d->failed;
}

static void add_time(Timeline *t, const Event *e)
{
    if (!e->depth && e->duration_ps > 0) t->lines[e->line].time_ps += (double)e->duration_ps;
}

/* Sorts the lines that take most time first. */
static int by_time(const void *a, const void *b)
{
    const LineInfo *x = *(LineInfo *const *)a, *y = *(LineInfo *const *)b;
    if (x->shown != y->shown) return y->shown - x->shown;
    if (x->time_ps != y->time_ps) return x->time_ps < y->time_ps ? 1 : -1;
    return x < y ? -1 : x > y;
}

/* Keeps the lines that take most time. Reads the events once more if there are too many lines. */
static bool choose_lines(Timeline *t)
{
    if (t->n_eligible <= LINES) return true;
    if (!each_event(t, N_DEPTHS, add_time)) return false;
    LineInfo **order = keep_alloc((size_t)t->n_lines * sizeof *order);
    for (int64_t i = 0; i < t->n_lines; i++) order[i] = &t->lines[i];
    qsort(order, (size_t)t->n_lines, sizeof *order, by_time);
    for (int64_t i = LINES; i < t->n_lines; i++) order[i]->shown = false;
    return true;
}

static bool read_lines(Timeline *t)
{
    sqlite3_stmt *stmt =
        ask(t->page->d,
            "SELECT line_id, (SELECT count(*) FROM hosts(?1)) > 1, l.host, l.plane, "
            "coalesce(l.display_name, l.name), p.kind <> 'metadata' AND l.kind <> 'counters' AND "
            "l.event_count > 0, p.kind NOT IN ('host', 'other'), (SELECT max(line_id) + 1 FROM "
            "lines(?1)) FROM lines(?1) AS l JOIN planes(?1) AS p ON p.plane_id = l.plane_id",
            label_of(t), NULL);
    while (next_row(t->page->d, stmt)) {
        if (!t->lines) {
            t->n_lines = sqlite3_column_int64(stmt, 7);
            t->lines = keep_alloc((size_t)t->n_lines * sizeof *t->lines);
            memset(t->lines, 0, (size_t)t->n_lines * sizeof *t->lines);
        }
        const char *plane = column_text(stmt, 3);
        if (sqlite3_column_int(stmt, 1)) plane = keep_text("%s %s", column_text(stmt, 2), plane);
        t->lines[sqlite3_column_int64(stmt, 0)] = (LineInfo){.shown = sqlite3_column_int(stmt, 5),
                                                             .device = sqlite3_column_int(stmt, 6),
                                                             .plane = plane,
                                                             .name = column_text(stmt, 4)};
        t->n_eligible += sqlite3_column_int(stmt, 5);
    }
    sqlite3_finalize(stmt);
    return stmt && !t->page->d->failed;
}

/* ---- the section ---- */

const Figure timeline_events = {
    .title = "Events",
    .table = "trace_events",
    .none = "the file has no event",
    .sql = "SELECT event_id, plane, line, start_ps, duration_ps, short_name, depth\n"
           "FROM trace_events(?1)\n"
           "WHERE plane_kind <> 'metadata' AND line_kind <> 'counters'"};
static const Figure lines_figure = {
    .shape = SHAPE_TABLE,
    .title = "Lines",
    .table = "lines",
    .keys = 3,
    .rows = 40,
    .sql = "SELECT host, plane, coalesce(display_name, name) AS line, kind, event_count AS events\n"
           "FROM lines(?1) WHERE event_count > 0 ORDER BY event_count DESC LIMIT ?2"};

/* Packs the longest `most` events and the details. */
static bool pack(Timeline *t, uint64_t most, const TextBuffer *details)
{
    numbered_free(&t->names);
    arena_free(&t->arena);
    text_clear(&t->packed);
    t->zip = (z_stream){0};
    t->line = -1, t->any_line = false, t->n_cell_bytes = 0;
    if (deflateInit(&t->zip, 6) != Z_OK) {
        t->no_memory = true;
        return false;
    }
    choose_events(t, most);
    text_add(&t->json, "{\"run\":");
    json_text(&t->json, t->page->d->runs[t->run].given, strlen(t->page->d->runs[t->run].given));
    text_add_format(&t->json, ",\"start\":%lld,\"end\":%lld,\"lines\":[",
                    (long long)floor_ns(t->first_ps), (long long)floor_ns(t->last_ps));
    bool ok = each_event(t, N_ALL, write_event);
    end_line(t);
    text_add(&t->json, "],\n\"names\":[");
    for (size_t i = 0; i < t->names.texts.n; i++) {
        if (i) text_add_char(&t->json, ',');
        json_text(&t->json, t->names.texts.items[i].text, t->names.texts.items[i].n_bytes);
    }
    text_add(&t->json, "],\n\"details\":{");
    if (details->text) text_add_bytes(&t->json, details->text, details->n_bytes);
    text_add(&t->json, "}}\n");
    compress_text(t, &t->json, true);
    deflateEnd(&t->zip);
    return ok && !t->no_memory;
}

static void write_data(Timeline *t)
{
    TextBuffer details = {0};
    uint64_t n = 0, most = part_of(t, EVENTS);
    uint64_t least = part_of(t, LEAST_EVENTS), room = part_of(t, PACKED_BYTES);
    for (int64_t i = 0; i < t->n_lines; i++) n += t->lines[i].n;
    if (n < most) most = n;
    choose_details(t);
    bool ok = !t->no_memory && read_details(t, &details) && pack(t, most, &details);
    while (ok && t->packed.n_bytes > room && most > least) {
        uint64_t fewer = most * 9 / 10 * room / t->packed.n_bytes;
        most = fewer > least ? fewer : least;
        ok = pack(t, most, &details);
    }
    if (!ok) t->page->failed = true;
    fprintf(t->page->out,
            "<script type=\"application/octet-stream\" class=events data-columns=%llu>",
            (unsigned long long)t->n_cell_bytes);
    write_base64(t->page->out, &t->packed);
    fputs("</script>\n", t->page->out);
    text_free(&details);
}

static void write_lines(Page *page)
{
    FigureRows rows;
    if (figure_rows_read(page, &lines_figure, &rows)) {
        fputs("<details><summary>Lines</summary>\n", page->out);
        html_table(page, &lines_figure, &rows);
        html_sql(page, &lines_figure);
        fputs("</details>\n", page->out);
    }
    figure_rows_free(&rows);
}

static bool has_events(const Timeline *t) { return t->first_ps < t->last_ps; }

static void write_left_out(const Timeline *t)
{
    if (t->n_eligible <= LINES) return;
    fprintf(t->page->out,
            "<p class=soft>%s%d of %d lines are left out: those whose events take the least "
            "time.</p>\n",
            t->run ? "Baseline: " : "", t->n_eligible - LINES, t->n_eligible);
}

static void write_view(Page *page, const Timeline *base)
{
    fputs("<section id=timeline>\n<h2>Timeline</h2>\n"
          "<noscript><p class=soft>The timeline needs JavaScript; the lines are "
          "below.</p></noscript>\n"
          "<div class=script hidden>\n<p class=soft id=keys>The wheel scrolls. Ctrl with the "
          "wheel, or two fingers, zoom. Dragging moves, a click shows an event. Keys: A and D or "
          "left and right move, W and S or + and - zoom, 0 fits all. N and P: next and previous "
          "event of the row. Up and down: other rows; Page Up and Page Down: other lines.",
          page->out);
    if (has_events(base)) fputs(" The baseline is drawn on the same scale.", page->out);
    fputs(
        "</p>\n"
        "<div class=tools><label>Search <input type=search></label>"
        "<button id=previous type=button>Previous</button><button id=next type=button>Next</button>"
        "<button id=closer type=button aria-label=\"Zoom in\">+</button><button id=wider "
        "type=button aria-label=\"Zoom out\">\xe2\x88\x92</button>"
        "<button id=whole type=button>Fit</button><span id=found role=status></span></div>\n"
        "<div class=timeline><canvas tabindex=0 role=application aria-describedby=keys "
        "aria-label=\"Timeline of events\"></canvas><div></div></div>\n",
        page->out);
    if (page->n_runs > 1) fputs("<h3>Baseline</h3>\n", page->out);
    if (has_events(base))
        fputs("<div class=timeline><canvas tabindex=0 role=application aria-describedby=keys "
              "aria-label=\"Timeline of events, baseline\"></canvas><div></div></div>\n",
              page->out);
    else if (page->n_runs > 1)
        fputs("<p>The baseline has no events.</p>\n", page->out);
    fputs("<p id=printed class=soft></p>\n<div id=event aria-live=polite></div>\n</div>\n",
          page->out);
}

static bool timeline_read(Timeline *t)
{
    t->first_ps = INT64_MAX, t->last_ps = INT64_MIN;
    divide_durations(t);
    bool ok = read_lines(t) && choose_lines(t) && (!t->n_lines || each_event(t, N_TIMES, count));
    t->part_ps = (double)since_first(t, t->last_ps) / PARTS;
    return ok;
}

static void timeline_free(Timeline *t)
{
    for (int i = 0; i < N_CELLS; i++) text_free(&t->cells[i]);
    text_free(&t->json);
    text_free(&t->packed);
    numbered_free(&t->names);
    prof_free(t->ids.items);
    arena_free(&t->arena);
}

bool timeline_write(Page *page)
{
    Timeline runs[2] = {{.page = page}, {.page = page, .run = 1}};
    bool ok = timeline_read(&runs[0]);
    if (ok && page->n_runs > 1 && has_events(&runs[0])) ok = timeline_read(&runs[1]);
    if (ok && has_events(&runs[0])) {
        write_view(page, &runs[1]);
        for (int i = 0; i < 2; i++) write_left_out(&runs[i]);
        for (int i = 0; i < 2; i++)
            if (has_events(&runs[i])) write_data(&runs[i]);
        html_sql(page, &timeline_events);
        write_lines(page);
        fputs("</section>\n", page->out);
    }
    for (int i = 0; i < 2; i++) {
        if (runs[i].no_memory) ok = false;
        timeline_free(&runs[i]);
    }
    if (runs[0].no_memory || runs[1].no_memory) complain("out of memory");
    return ok;
}
