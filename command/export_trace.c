// SPDX-License-Identifier: Apache-2.0
/* export_trace.c: writes traces; see export_trace.h. */
#define _GNU_SOURCE
#include "export_trace.h"

#include "../ext/trace_export.h"
#include "new_file.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    FILE *file;
    char *lines; /* comma-separated names and patterns; NULL: all lines */
    char *found; /* 1 at the first byte of each item of `lines` that is a line */
} Target;

static bool write_bytes(void *context, const void *bytes, size_t n_bytes)
{
    const Target *to = context;
    return fwrite(bytes, 1, n_bytes, to->file) == n_bytes;
}

/* Returns the length of a name, if the list goes on with it; else 0. */
static size_t starts_with_name(const char *list, const char *name)
{
    size_t n = strlen(name);
    return !strncmp(list, name, n) && (!list[n] || list[n] == ',') ? n : 0;
}

/* Returns whether the list has the line: its own name, its plane's, or both with a / between, or a
 * pattern of one. A name may have commas. Notes which items of the list are names. */
static bool wants_line(void *context, const char *plane, const char *line)
{
    Target *to = context;
    char *both = NULL;
    bool wanted = false;
    if (asprintf(&both, "%s/%s", plane, line) < 0) abort();
    const char *const names[] = {line, plane, both};
    for (char *item = to->lines, *end; item; item = *end ? end + 1 : NULL) {
        char comma = *(end = strchrnul(item, ','));
        for (size_t i = 0; i < COUNT(names); i++) {
            size_t n = starts_with_name(item, names[i]);
            *end = 0;
            if (!n && !fnmatch(item, names[i], 0)) n = (size_t)(end - item);
            *end = comma;
            memset(to->found + (item - to->lines), 1, n);
            wanted |= n > 0;
        }
    }
    free(both);
    return wanted;
}

/* Notes which items of the list are no line. Returns whether any is one. */
static bool note_missing(Database *d, const Target *to)
{
    bool any = false;
    for (const char *item = to->lines; item;) {
        const char *end = strchrnul(item, ',');
        if (to->found[item - to->lines])
            any = true;
        else
            note("no line has the name '%.*s': profsql %s lines lists them", (int)(end - item),
                 item, shell_word(d->runs[0].given));
        item = *end ? end + 1 : NULL;
    }
    return any;
}

/* Reads a time with a unit, in ps. */
static bool read_time(const char *option, const char *text, int64_t *ps)
{
    static const struct {
        const char *name;
        double ps;
    } units[] = {{"ps", 1}, {"ns", 1e3}, {"us", 1e6}, {"", 1e6}, {"ms", 1e9}, {"s", 1e12}};
    if (!text) return true;
    char *unit;
    double value = strtod(text, &unit);
    unit += strspn(unit, " ");
    for (size_t i = 0; unit != text && i < COUNT(units); i++) {
        double time = value * units[i].ps;
        if (strcmp(units[i].name, unit) != 0 || !(time >= -9e18 && time <= 9e18)) continue;
        *ps = (int64_t)time;
        return true;
    }
    complain("%s cannot be '%s': it is a time since the start of the session, in us or with its "
             "unit, such as 12.5ms",
             option, text);
    return false;
}

static bool write_trace(Database *d, Target *to, const char *name, const Options *options,
                        TraceOptions *chosen, TraceTotals *totals)
{
    char *message = NULL;
    chosen->write = write_bytes, chosen->context = to;
    chosen->wants_line = to->lines ? wants_line : NULL;
    int rc = prof_export_trace(d->db, d->runs[0].label, options->trace, chosen, totals, &message);
    bool ok = rc == SQLITE_OK && !fflush(to->file);
    bool says = !ok && !database_is_ending();
    if (says && rc != SQLITE_OK && !ferror(to->file))
        complain("%s", message ? message : sqlite3_errstr(rc));
    else if (says)
        complain("%s: cannot be written: %s", name, strerror(errno));
    sqlite3_free(message);
    return ok;
}

/* Notes why the trace has no event of the lines that were found: the time, which counts from the
 * start of the session, or there is none. */
static void explain_no_event(Database *d, const Options *options)
{
    sqlite3_stmt *stmt =
        ask(d, "SELECT min(start_ps) / 1e9, max(end_ps) / 1e9 FROM trace_events(?1)",
            d->runs[0].label, NULL);
    if (!next_row(d, stmt) || sqlite3_column_type(stmt, 0) == SQLITE_NULL)
        note("the run has no event");
    else if (!options->from && !options->to)
        note("these lines have no event");
    else
        note("no event of %s is in this time; the run has events from %.6gms to %.6gms",
             options->lines ? "such lines" : "the run", sqlite3_column_double(stmt, 0),
             sqlite3_column_double(stmt, 1));
    sqlite3_finalize(stmt);
}

static void describe(const char *name, const TraceTotals *totals)
{
    note("wrote %s: %llu events of %llu lines, %.1f MB", name, (unsigned long long)totals->n_events,
         (unsigned long long)totals->n_lines, (double)totals->n_bytes / 1e6);
    if (totals->n_cut)
        note("%llu events end early in the trace: more than 64 of their line run at once",
             (unsigned long long)totals->n_cut);
}

/* Rejects a file name with the suffix of another format. */
static bool check_name(const char *path, const char *format)
{
    static const char *const others[] = {".db",  ".sqlite", ".sqlite3", ".csv",
                                         ".txt", ".md",     ".html",    NULL};
    if (!new_file_has_suffix(path, others)) return true;
    complain("%s: --format %s writes a trace: name it FILE.%s", path, format,
             strcmp(format, "chrome") ? "pftrace" : "json");
    return false;
}

int export_trace(Database *d, const char *path, const Options *options)
{
    NewFile file = {0};
    TraceTotals totals;
    TraceOptions chosen = {.from_ps = INT64_MIN, .to_ps = INT64_MAX};
    Target to = {.file = stdout};
    bool named = strcmp(path, "-") != 0;
    if (!read_time("--from", options->from, &chosen.from_ps) ||
        !read_time("--to", options->to, &chosen.to_ps) || !check_name(path, options->trace))
        return STATUS_USAGE;
    if (chosen.from_ps > chosen.to_ps) {
        complain("--from %s is after --to %s", options->from, options->to);
        return STATUS_USAGE;
    }
    if (options->lines) {
        size_t n_bytes = strlen(options->lines) + 2;
        to.lines = keep_text("%s", options->lines);
        to.found = memset(keep_alloc(n_bytes), 0, n_bytes);
    }
    if (named && !new_file_open(&file, path, options->force)) return STATUS_FAILED;
    if (named && !(to.file = fopen(file.part, "w"))) {
        complain("%s: cannot be written: %s", path, strerror(errno));
        new_file_close(&file, false);
        return STATUS_FAILED;
    }
    const char *name = named ? path : "standard output";
    bool ok = write_trace(d, &to, name, options, &chosen, &totals);
    if (named && fclose(to.file) && ok) complain("%s: cannot be written", path), ok = false;
    if (named) ok = new_file_close(&file, ok);
    if (ok) describe(name, &totals);
    bool any = !ok || !to.lines || note_missing(d, &to);
    if (ok && any && !totals.n_events) explain_no_event(d, options);
    return ok ? STATUS_OK : STATUS_FAILED;
}
