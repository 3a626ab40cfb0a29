// SPDX-License-Identifier: Apache-2.0
/* one_screen.c: shows a run on one screen; see one_screen.h. Each part is written as soon as it is
 * known. */
#define _GNU_SOURCE
#include "one_screen.h"

#include "screen.h"
#include "text.h"

#include <stdlib.h>
#include <string.h>

enum { OPS = 6, ADVICE = 5, ISSUES = 3, LONGEST_ISSUE = 200 };

static const char *plural(long long n, const char *word)
{
    return keep_text("%lld %s%s", n, word, n == 1 ? "" : "s");
}

/* Returns the run as a word for commands that the user can copy. */
static const char *given_word(const Database *d) { return shell_word(d->runs[0].given); }

static void what_it_is(Database *d, Screen *s)
{
    screen_paragraph(s, BOLD, "", database_run_text(&d->runs[0]));
    sqlite3_stmt *stmt = ask(d,
                             "SELECT device_type, device_count, host_count, event_count, "
                             "duration_ps / 1e12, datetime(start_unix_ns / 1000000000, 'unixepoch')"
                             " FROM prof_runs(?1)",
                             d->runs[0].label, NULL);
    if (next_row(d, stmt)) {
        const char *line = plural(sqlite3_column_int64(stmt, 2), "host");
        if (sqlite3_column_int(stmt, 1))
            line = keep_text("%s %s, %s", column_text(stmt, 1), column_text(stmt, 0), line);
        else if (*column_text(stmt, 0))
            line = keep_text("%s, %s", column_text(stmt, 0), line);
        line = keep_text("%s, %s", line, plural(sqlite3_column_int64(stmt, 3), "event"));
        if (sqlite3_column_type(stmt, 4) != SQLITE_NULL)
            line = keep_text("%s in %.3g s", line, sqlite3_column_double(stmt, 4));
        if (*column_text(stmt, 5)) line = keep_text("%s, %s UTC", line, column_text(stmt, 5));
        screen_paragraph(s, PLAIN, NULL, line);
    }
    sqlite3_finalize(stmt);
}

static int column_named(sqlite3_stmt *stmt, const char *name)
{
    for (int i = 0; i < sqlite3_column_count(stmt); i++)
        if (!strcmp(sqlite3_column_name(stmt, i), name)) return i;
    return 0;
}

static const char *remark_of(sqlite3_stmt *stmt, const char *column)
{
    if (!strcmp(column, "step_time_ms")) {
        int deviation = column_named(stmt, "step_time_deviation_percent");
        const char *steps =
            plural(sqlite3_column_int64(stmt, column_named(stmt, "step_count")), "step");
        if (sqlite3_column_type(stmt, deviation) == SQLITE_NULL) return keep_text(" (%s)", steps);
        return keep_text(" (%s, deviation %.1f %%)", steps, sqlite3_column_double(stmt, deviation));
    }
    if (!strcmp(column, "peak_memory_mib"))
        return keep_text(" (%s)", column_text(stmt, column_named(stmt, "peak_memory_of")));
    return "";
}

/* Writes the step time without steps that compile, because the average includes them. */
static void steady_time(Database *d, Screen *s)
{
    sqlite3_stmt *stmt =
        ask(d, "SELECT median_ms, steps FROM steady_steps(?1) WHERE compiling_steps",
            d->runs[0].label, NULL);
    if (next_row(d, stmt))
        screen_line(s, "    not compiling  %12.3f ms (median of %s)",
                    sqlite3_column_double(stmt, 0), plural(sqlite3_column_int64(stmt, 1), "step"));
    sqlite3_finalize(stmt);
}

static void how_well(Database *d, Screen *s)
{
    screen_heading(s, "How well it did");
    sqlite3_stmt *stmt = ask(d, "SELECT * FROM kpi(?1)", d->runs[0].label, NULL);
    int n_shown = 0;
    if (next_row(d, stmt))
        for (int i = 0; i < n_facts; i++) {
            int column = column_named(stmt, facts[i].column);
            if (sqlite3_column_type(stmt, column) == SQLITE_NULL) continue;
            double value = sqlite3_column_double(stmt, column);
            screen_line(s, "  %-18s %10.*f %s%s", facts[i].label,
                        facts[i].unit[0] == '%' || value >= 100 ? 1 : 3, value, facts[i].unit,
                        remark_of(stmt, facts[i].column));
            if (!strcmp(facts[i].column, "step_time_ms")) steady_time(d, s);
            n_shown++;
        }
    sqlite3_finalize(stmt);
    if (!n_shown) screen_paragraph(s, PLAIN, NULL, "unknown: the file has no step and no device");
}

static void write_op(Screen *s, sqlite3_stmt *stmt)
{
    const char *name = column_text(stmt, 3);
    bool narrow = s->width < 60; /* there is no room for the occurrences */
    int room = narrow ? s->width - 26 : s->width - 38;
    char *clean = text_clean(name, strlen(name), false),
         *shorter = text_shorten(*clean ? clean : "(no name)", room > 12 ? room : 12);
    screen_line(s, "  %5.1f %% %11.3f ms%s  %s", sqlite3_column_double(stmt, 0),
                sqlite3_column_double(stmt, 1),
                narrow ? "" : keep_text(" %9s x", column_text(stmt, 2)), shorter);
    free(shorter);
    free(clean);
}

/* Writes the memory of HLO programs, which have no times. */
static void programs(Database *d, Screen *s)
{
    sqlite3_stmt *stmt = ask(
        d, "SELECT hlo_module, peak_mib, parameters_mib, temporaries_mib FROM peak_memory(?1, 5)",
        d->runs[0].label, NULL);
    int n = 0;
    for (; next_row(d, stmt); n++)
        screen_line(s, "  %10.3f MiB at the peak of %s", sqlite3_column_double(stmt, 1),
                    column_text(stmt, 0));
    sqlite3_finalize(stmt);
    if (!n) screen_paragraph(s, PLAIN, NULL, "nothing: the file has no event of an operation");
}

static void what_took_time(Database *d, Screen *s)
{
    screen_heading(s, "What took the time");
    sqlite3_stmt *stmt =
        ask(d,
            "SELECT self_time_percent, self_time_us / 1e3, occurrences, short_name "
            "|| iif(count(*) OVER (PARTITION BY short_name) > 1, "
            "coalesce(' of ' || hlo_module, ''), '') FROM top_ops(?1, ?2) ORDER BY rank",
            d->runs[0].label, NULL);
    if (stmt) sqlite3_bind_int(stmt, 2, OPS);
    int n = 0;
    for (; next_row(d, stmt); n++) write_op(s, stmt);
    sqlite3_finalize(stmt);
    if (!n) programs(d, s);
}

static enum Colour colour_of(const char *severity)
{
    if (!strcmp(severity, "error")) return RED;
    return !strcmp(severity, "warning") ? YELLOW : PLAIN;
}

/* Shortens names of ops, which can be longer than the screen is wide. */
static const char *with_short_words(const Screen *s, const char *text)
{
    const char *all = "";
    char *words = text_clean(text, strlen(text), false);
    for (char *rest = words, *word; (word = strsep(&rest, " "));) {
        char *shorter = text_shorten(word, s->width - 2);
        all = keep_text("%s%s%s", all, *all ? " " : "", shorter);
        free(shorter);
    }
    free(words);
    return all;
}

/* Writes the findings of advice. Rules without a finding are only counted. */
static void what_to_do(Database *d, Screen *s)
{
    screen_heading(s, "What to do about it");
    sqlite3_stmt *stmt =
        ask(d,
            "SELECT status, cost_percent >= 20, finding || coalesce(' (' || evidence || ')', '') "
            "|| ' ' || action FROM advice(?1) WHERE status <> 'not checked' ORDER BY rank",
            d->runs[0].label, NULL);
    int n_findings = 0, n_checked = 0;
    for (; next_row(d, stmt); n_checked++) {
        if (strcmp(column_text(stmt, 0), "finding")) continue;
        if (n_findings++ < ADVICE)
            screen_paragraph(s, sqlite3_column_int(stmt, 1) ? RED : YELLOW, "- ",
                             with_short_words(s, column_text(stmt, 2)));
    }
    sqlite3_finalize(stmt);
    if (!n_checked) screen_paragraph(s, PLAIN, NULL, "unknown: the file has no times");
    if (n_checked && !n_findings)
        screen_paragraph(s, PLAIN, NULL, "no checked rule takes 5 % of the time");
    if (!n_checked) return;
    screen_line(s, "  %d rule%s checked; all of them:", n_checked,
                n_checked == 1 ? " was" : "s were");
    screen_whole_line(s, "  %s %s advice", own_word(), given_word(d));
}

/* Returns the start of a text, up to a word, if it is long. */
static const char *start_of(const char *text)
{
    if (strlen(text) <= LONGEST_ISSUE) return text;
    int n = LONGEST_ISSUE;
    while (n && text[n] != ' ') n--;
    return keep_text("%.*s ...", n ? n : LONGEST_ISSUE, text);
}

/* Writes the losses, and of which hosts, if not of the entire run. XProf's remark that it has no
 * steps is left out if we have some. Reasons for empty tables are left out: they appear when such a
 * table is queried. How to list other runs is shown as a command. */
static void what_is_missing(Database *d, Screen *s)
{
    screen_heading(s, "What is missing or doubtful");
    sqlite3_stmt *stmt =
        ask(d,
            "WITH issue AS (SELECT severity, iif(code = 'newest_run', printf('newest by name of %d "
            "runs in the log dir; the others: %s', count + 1, ?2), message) AS message, "
            "min(rowid) AS place, min(host) AS host, "
            "count(DISTINCT iif(code IN ('newest_run', 'no_common_steps', 'xprof_steps'), NULL, "
            "host)) AS n, (SELECT count(*) FROM hosts(?1)) AS n_hosts "
            "FROM prof_issues(?1) WHERE code <> 'nothing_to_show' AND NOT "
            "(code = 'xprof_steps' AND (SELECT step_count FROM kpi(?1)) > 0) GROUP BY 1, 2) "
            "SELECT severity, CASE WHEN n IN (0, n_hosts) THEN '' WHEN n = 1 THEN host || ': ' "
            "ELSE n || ' of ' || n_hosts || ' hosts: ' END || message FROM issue ORDER BY "
            "CASE severity WHEN 'error' THEN 0 WHEN 'warning' THEN 1 ELSE 2 END, place",
            d->runs[0].label, keep_text("%s list %s", own_word(), given_word(d)));
    int n = 0;
    bool cut = false;
    for (; next_row(d, stmt); n++) {
        const char *message = column_text(stmt, 1), *start = start_of(message);
        cut |= start != message || n >= ISSUES;
        if (n < ISSUES) screen_paragraph(s, colour_of(column_text(stmt, 0)), "- ", start);
    }
    sqlite3_finalize(stmt);
    if (!n) screen_paragraph(s, PLAIN, NULL, "nothing");
    if (cut) screen_whole_line(s, "  all of them: %s %s prof_issues", own_word(), given_word(d));
}

static void what_next(const Database *d, Screen *s)
{
    screen_heading(s, "More");
    screen_whole_line(s, "  %s %s top_ops --n 50", own_word(), given_word(d));
    screen_whole_line(s, "  %s tables WORD finds other questions: steps, memory, ...", own_word());
}

int one_screen(Database *d)
{
    Screen s;
    if (!screen_open(&s)) return STATUS_FAILED;
    what_it_is(d, &s);
    what_took_time(d, &s);
    how_well(d, &s);
    what_to_do(d, &s);
    what_is_missing(d, &s);
    what_next(d, &s);
    return sink_close(&s.sink, true) && !d->failed ? STATUS_OK : STATUS_FAILED;
}
