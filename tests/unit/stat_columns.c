// SPDX-License-Identifier: Apache-2.0
/* stat_columns.c: do the columns of stats say what the messages of the events say? Of the profiles
 * named, else of all in tests/data and of events made here: with a stat twice, without a sound one,
 * cut off, and with more texts than a line keeps. */
#define _GNU_SOURCE
#include "../../loader/store/events.h"
#include "check.h"
#include "profiles.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static size_t n_kept[N_STAT_COLUMNS], n_left[N_STAT_COLUMNS];

typedef struct {
    Stat first;
    unsigned n;
} Told;

static Told told_by_message(const Plane *plane, const EventAt *e, enum KnownStat known)
{
    Told told = {.first.type = TYPE_NONE};
    Stat stat;
    StatIter stats = stat_iter_of_event(e);
    while (stat_iter_next(&stats, &stat))
        if (stat_known(plane, stat.id) == known && !told.n++) told.first = stat;
    return told;
}

static bool agrees(const Plane *plane, const EventAt *e, enum StatColumnName column,
                   const Told *told)
{
    Stat stat = event_stat(e, column);
    if (stat.type != told->first.type) return false;
    if (column == STAT_COLUMN_TF_OP && stat.type == TYPE_STR) {
        const Text *text =
            event_stat_text(plane, &stat); /* as all texts: repaired where it is not UTF-8 */
        return text->repaired || (text->n_bytes == told->first.n_bytes &&
                                  !memcmp(text->text, told->first.bytes, text->n_bytes));
    }
    bool number = stat.type == TYPE_INT64 || stat.type == TYPE_UINT64 || stat.type == TYPE_DOUBLE ||
                  stat.type == TYPE_REF;
    return !number || stat.integer == told->first.integer;
}

static bool line_agrees(Line *line, ProfErr *err)
{
    bool good = true;
    EventReader reader;
    EventAt e;
    event_reader_open(&reader, line, EVENT_STATS, err);
    while (event_reader_next(&reader, &e))
        for (int c = 0; c < N_STAT_COLUMNS; c++) {
            Told told = told_by_message(line->plane, &e, stat_column_stats[c]);
            bool kept = event_column_kept(&e, (enum StatColumnName)c);
            if (kept)
                good &= agrees(line->plane, &e, (enum StatColumnName)c, &told) &&
                        (told.n < 2 || c <= STAT_COLUMN_EAGER);
            if (told.n) ++*(kept ? &n_kept[c] : &n_left[c]);
        }
    event_reader_close(&reader);
    return good;
}

static void compare(const char *path)
{
    ProfErr err = {0};
    char what[2000];
    Run *run = run_open(path, &(RunOptions){.n_threads = 2}, &err);
    bool good = true;
    if (!run) return;
    for (uint32_t i = 0; i < run->n_lines; i++) good &= line_agrees(run->lines[i], &err);
    snprintf(what, sizeof what, "%s: columns and messages agree %s", path, err.text);
    check(good && !err.code, what);
    run_unref(run);
}

/* ---- events made here ---- */

typedef struct {
    uint8_t bytes[1 << 20];
    size_t n;
} Bytes;

static void put(Bytes *to, const void *bytes, size_t n)
{
    memcpy(to->bytes + to->n, bytes, n);
    to->n += n;
}

/* A field of bytes; a length of up to 2^21 in three bytes. */
static void put_field(Bytes *to, unsigned number, const void *bytes, size_t n)
{
    uint8_t head[] = {(uint8_t)(number << 3 | WIRE_BYTES), (uint8_t)(n | 0x80),
                      (uint8_t)(n >> 7 | 0x80), (uint8_t)(n >> 14)};
    put(to, head, sizeof head);
    put(to, bytes, n);
}

/* A stat metadata of id 1: tf_op; and an XSpace of one line with these events. */
static void compare_events(const char *what, const Bytes *events)
{
    static Bytes line, plane, space;
    static const uint8_t entry[] = {0x08, 0x01, 0x12, 0x09, 0x08, 0x01, 0x12,
                                    0x05, 't',  'f',  '_',  'o',  'p'};
    char path[] = "/tmp/stat_columns.XXXXXX";
    line.n = plane.n = space.n = 0;
    put(&line, events->bytes, events->n);
    put_field(&plane, 2, "/host:CPU", 9);
    put_field(&plane, 3, line.bytes, line.n);
    put_field(&plane, 5, entry, sizeof entry);
    put_field(&space, 1, plane.bytes, plane.n);
    int file = mkstemp(path);
    check(file >= 0 && write(file, space.bytes, space.n) == (ssize_t)space.n, what);
    close(file);
    for (int c = 0; c < N_STAT_COLUMNS; c++) n_kept[c] = n_left[c] = 0;
    compare(path);
    unlink(path);
}

static void put_event(Bytes *events, size_t n_stats, const char *text, bool cut)
{
    Bytes *event = calloc(1, sizeof *event);
    static const uint8_t head[] = {0x08, 0x01, 0x10, 0x05, 0x18, 0x02}, broken[] = {0x22, 0x7f};
    put(event, head, sizeof head);
    for (size_t i = 0; i < n_stats; i++) {
        uint8_t stat[200] = {0x08, 0x01, 0x2a, (uint8_t)strlen(text)};
        memcpy(stat + 4, text, strlen(text));
        put_field(event, 4, stat, 4 + strlen(text));
    }
    if (cut) put(event, broken, sizeof broken);
    put_field(events, 4, event->bytes, event->n);
    free(event);
}

static void compare_made(void)
{
    static Bytes events;
    put_event(&events, 1, "a:A", false), put_event(&events, 1, "b:B", true),
        put_event(&events, 0, "", false), put_event(&events, 1, "", false);
    compare_events("an event is cut off", &events);
    check(n_kept[STAT_COLUMN_TF_OP] == 2 && !n_left[STAT_COLUMN_TF_OP],
          "what a broken event said is forgotten");
    put_event(&events, 2, "c:C", false);
    compare_events("a stat stands twice in an event", &events);
    check(!n_kept[STAT_COLUMN_TF_OP] && n_left[STAT_COLUMN_TF_OP] == 3,
          "a stat that an event has twice has no column");
    events.n = 0;
    for (int i = 0; i < 3000; i++) {
        char text[100];
        snprintf(text, sizeof text, "%060d:Op", i);
        put_event(&events, 1, text, false);
    }
    compare_events("all texts differ", &events);
    check(n_left[STAT_COLUMN_TF_OP] > 1000 &&
              n_kept[STAT_COLUMN_TF_OP] + n_left[STAT_COLUMN_TF_OP] == 3000,
          "too many texts have no column");
}

int main(int n_args, char **args)
{
    each_profile(n_args, args, compare);
    for (int c = 0; c < N_STAT_COLUMNS && n_args == 1; c++)
        check(n_kept[c] > 10, known_stat_names[stat_column_stats[c]]);
    for (int c = 0; c < N_STAT_COLUMNS && n_args > 1; c++)
        printf("%s: %zu kept, %zu left\n", known_stat_names[stat_column_stats[c]], n_kept[c],
               n_left[c]);
    if (n_args == 1) compare_made();
    return finish();
}
