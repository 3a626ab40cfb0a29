// SPDX-License-Identifier: Apache-2.0
/* reader.c: a format of our own, added to the list of formats, is read like any other.
 *
 * A file of the toy format starts with "toy" and has an event on each further line: name, start and
 * duration in us. */
#define _GNU_SOURCE
#include "../../loader/reader.h"
#include "../../loader/base/varint.h"
#include "check.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int sqlite3_profsql_init(sqlite3 *db, char **message, const void *api);

/* ---- the translation ---- */

typedef struct {
    uint8_t bytes[4096];
    size_t n;
} Message;

static void number(Message *m, unsigned field, uint64_t value)
{
    m->n = (size_t)(put_varint(put_varint(m->bytes + m->n, field << 3), value) - m->bytes);
}

static void nested(Message *m, unsigned field, const void *bytes, size_t n)
{
    uint8_t *to = put_varint(put_varint(m->bytes + m->n, field << 3 | 2), n);
    memcpy(to, bytes, n);
    m->n = (size_t)(to - m->bytes) + n;
}

/* Adds an event to the line, and its name to the plane. */
static void add_event(Message *plane, Message *line, unsigned id, const char *name,
                      unsigned start_us, unsigned duration_us)
{
    Message event = {.n = 0}, meta = {.n = 0}, entry = {.n = 0};
    number(&event, 1, id), number(&event, 2, start_us * UINT64_C(1000000)),
        number(&event, 3, duration_us * UINT64_C(1000000));
    nested(line, 4, event.bytes, event.n);
    number(&meta, 1, id), nested(&meta, 2, name, strlen(name));
    number(&entry, 1, id), nested(&entry, 2, meta.bytes, meta.n);
    nested(plane, 4, entry.bytes, entry.n);
}

static int translate(const File *file, int fd, ProfErr *err)
{
    char text[4096] = "", name[64];
    Message space = {.n = 0}, plane = {.n = 0}, line = {.n = 0};
    unsigned id = 0, start, duration;
    if (file->n_bytes >= sizeof text || file_read(file, 0, text, (size_t)file->n_bytes, err))
        return err->code;
    if (strncmp(text, "toy\n", 4) != 0)
        return prof_fail(err, PROF_FORMAT, 0, "%s: is no toy", file->path);
    nested(&plane, 2, "/host:CPU", 9);
    nested(&line, 2, "thread", 6);
    for (const char *row = text + 4; sscanf(row, "%63s %u %u", name, &start, &duration) == 3;
         row = strchr(row, '\n') + 1)
        add_event(&plane, &line, ++id, name, start, duration);
    nested(&plane, 3, line.bytes, line.n);
    nested(&space, 1, plane.bytes, plane.n);
    if (write(fd, space.bytes, space.n) != (ssize_t)space.n)
        prof_fail(err, PROF_IO, 0, "%s: cannot be written", file->path);
    return err->code;
}

static const char *const suffixes[] = {".toy.txt", NULL};
static const Reader toy_reader = {.name = "toy", .suffixes = suffixes, .translate = translate};

/* ---- asking ---- */

/* The first column of the first row; "" if there is none. To be freed. */
static char *ask(sqlite3 *db, const char *sql)
{
    char **rows = NULL, *message = NULL;
    int n_rows = 0, n_columns = 0;
    if (sqlite3_get_table(db, sql, &rows, &n_rows, &n_columns, &message)) return message;
    char *answer = sqlite3_mprintf("%s", n_rows && rows[n_columns] ? rows[n_columns] : "");
    sqlite3_free_table(rows);
    return answer;
}

static void check_answer(sqlite3 *db, const char *folder, const char *what, const char *sql,
                         const char *want)
{
    char *full = sqlite3_mprintf(sql, folder), *got = ask(db, full);
    check(got && !strcmp(got, want), what);
    if (got && strcmp(got, want) != 0) printf("  %s\n", got);
    sqlite3_free(full);
    sqlite3_free(got);
}

static void put(const char *folder, const char *name, const char *text)
{
    char *path = sqlite3_mprintf("%s/%s", folder, name);
    FILE *f = fopen(path, "w");
    if (!f || fputs(text, f) < 0 || fclose(f)) abort();
    sqlite3_free(path);
}

int main(void)
{
    static const Reader *list[] = {&xspace_reader, &hlo_reader, &toy_reader, NULL};
    char folder[] = "/tmp/reader.XXXXXX", *message = NULL;
    sqlite3 *db = NULL;
    readers = list;
    if (!mkdtemp(folder) || sqlite3_open(":memory:", &db) ||
        sqlite3_profsql_init(db, &message, NULL))
        abort();
    put(folder, "worker-1.toy.txt", "toy\nload 10 30\nstep 50 20\n");
    put(folder, "notes", "toy\nonce 1 2\n");
    put(folder, "other.toy.txt", "no such thing\n");

    check_answer(db, folder, "its suffix names the host",
                 "SELECT host FROM hosts('%s/worker-1.toy.txt')", "worker-1");
    check_answer(db, folder, "its name is the format",
                 "SELECT format FROM hosts('%s/worker-1.toy.txt')", "toy");
    check_answer(db, folder, "events",
                 "SELECT group_concat(name || ' ' || start_ps || ' ' || duration_ps) FROM "
                 "trace_events('%s/worker-1.toy.txt')",
                 "load 10000000 30000000,step 50000000 20000000");
    check_answer(db, folder, "analyses", "SELECT operation FROM top_ops('%s/worker-1.toy.txt', 1)",
                 "load");
    check_answer(db, folder, "by content, without the suffix",
                 "SELECT name FROM trace_events('%s/notes')", "once");
    char *path = sqlite3_mprintf("%s/other.toy.txt", folder),
         *sql = sqlite3_mprintf("SELECT * FROM lines('%s')", path), *got = ask(db, sql);
    check(got && strstr(got, "is no toy"), "another file's error is the reader's");
    sqlite3_free(got), sqlite3_free(sql), sqlite3_free(path);
    sqlite3_close(db);
    char *clean = sqlite3_mprintf("rm -rf '%s'", folder);
    check(!system(clean), "cleaned up");
    sqlite3_free(clean);
    return finish();
}
