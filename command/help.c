// SPDX-License-Identifier: Apache-2.0
/* help.c: writes help; see help.h. */
#define _GNU_SOURCE
#include "help.h"

#include "screen.h"
#include "select.h"

#include <string.h>

static const char usage[] =
    "usage: profsql RUN                      one screen: what took the time, and what to do\n"
    "       profsql RUN NAME [OPTION...]     a table or canned query, such as top_kernels\n"
    "       profsql RUN... 'SELECT ...'      SQL; :a is the first run, :b the second\n"
    "       profsql diff RUN RUN             what changed from one run to another\n"
    "       profsql list [FOLDER]            the runs in a folder and below it\n"
    "       profsql tables [WORD]            the tables and queries that match a word\n"
    "       profsql tables NAME              the arguments and columns of one of them\n"
    "       profsql report RUN [--against BASE]       a report to mail: report.html\n"
    "       profsql shell RUN...             sqlite3 with the runs in it\n"
    "       profsql export RUN... FILE.db    a database of plain tables\n"
    "       profsql export RUN FILE --format perfetto|chrome      the events, for a trace viewer\n"
    "       profsql capture ...              records a CUDA program: see profsql-capture --help\n"
    "\n"
    "RUN is a profile (*.xplane.pb), a run folder, a log dir (its newest run) or an HLO dump.\n"
    "\n"
    "  -f, --format FORMAT   table, csv, json, jsonl or markdown; of export: perfetto or chrome\n"
    "  -o, --output FILE     writes to a file: .txt .csv .json .jsonl .md choose the format\n"
    "      --where SQL       only rows that match: --where \"duration_us > 100\"\n"
    "      --order-by SQL    another order: --order-by \"occurrences DESC\"\n"
    "      --columns LIST    only these columns, or expressions: --columns operation,self_time_us\n"
    "      --limit N         at most N rows, or all (a table on the screen ends after 20)\n"
    "      --PARAMETER VALUE an argument of the table or query: --n 20 (-n 20), --kind kernel\n"
    "      --tables LIST     what to export: names separated by commas, or all\n"
    "      --from, --to TIME events to export to a trace: in this time (us, or 12.5ms)\n"
    "      --lines LIST      and on these lines or planes: --lines \"Stream*,/host:CPU\"\n"
    "      --against BASE    a run that a report compares with\n"
    "      --force           lets export and report replace a file\n"
    "  -q, --quiet           only errors on standard error\n"
    "  -h, --help            this text; after a NAME, what it is\n"
    "  -V, --version\n"
    "\n"
    "Exit status: 0 success, also without rows; 1 failure; 2 a wrong command line.\n";

void help_write(FILE *out) { fputs(usage, out); }

/* ---- one table ---- */

static void write_columns(Database *d, Screen *s, const Entry *entry, bool parameters)
{
    sqlite3_stmt *stmt = ask(d,
                             "SELECT \"column\", replace(type, ' HIDDEN', ''), unit, description, "
                             "type LIKE '%HIDDEN' FROM prof_columns WHERE table_name = ?1",
                             entry->name, NULL);
    bool any = false;
    while (next_row(d, stmt)) {
        const char *name = column_text(stmt, 0), *unit = column_text(stmt, 2);
        bool is_parameter = entry_has_parameter(entry, name);
        bool is_source = false;
        for (int i = 0; i < entry->n_sources; i++) is_source |= !strcmp(entry->sources[i], name);
        if (is_source || is_parameter != parameters) continue;
        if (!any) screen_heading(s, parameters ? "Parameters" : "Columns");
        any = true;
        const char *hidden =
            sqlite3_column_int(stmt, 4) && !parameters ? " (only if named in --columns)" : "";
        screen_paragraph(s, BOLD, "  ",
                         keep_text("%s%s %s%s%s%s: %s%s", parameters ? "--" : "", name,
                                   column_text(stmt, 1), *unit ? " [" : "", unit, *unit ? "]" : "",
                                   column_text(stmt, 3), hidden));
    }
    sqlite3_finalize(stmt);
}

int help_table(Database *d, const Entry *entry)
{
    Screen s;
    if (!screen_open(&s)) return STATUS_FAILED;
    static const char *const of_sources[] = {"", "RUN ", "A B "};
    const char *runs = of_sources[entry->n_sources];
    const char *parameters = entry->n_parameters ? " [--PARAMETER VALUE...]" : "";
    screen_paragraph(&s, BOLD, "",
                     keep_text("profsql %s%s%s [OPTION...]", runs, entry->name, parameters));
    screen_paragraph(&s, PLAIN, NULL,
                     keep_text("%s%s", entry->is_query ? "" : "One row: ", entry->what));
    screen_paragraph(&s, PLAIN, NULL, keep_text("SQL: SELECT * FROM %s", entry->signature));
    write_columns(d, &s, entry, true);
    write_columns(d, &s, entry, false);
    return sink_close(&s.sink, true) && !d->failed ? STATUS_OK : STATUS_FAILED;
}

/* ---- all tables ---- */

static const char all_tables[] =
    "SELECT name, kind, description AS what FROM prof_help WHERE kind IN ('table', 'query')";

/* Matches in columns count for their tables. */
static const char matching[] =
    "SELECT t.name, t.kind, t.description AS what, iif(h.kind = 'column', 'column ' || h.name, "
    "h.matched) AS matched FROM (SELECT coalesce(table_name, name) AS owner, min(rank) AS best, * "
    "FROM prof_help(?1) GROUP BY 1) AS h JOIN prof_help AS t ON t.name = h.owner AND t.kind IN "
    "('table', 'query') ORDER BY h.best";

int help_tables(Database *d, const Catalog *catalog, const char *word, const Options *options)
{
    const char *texts[2] = {word ? word : ""};
    long long n = 0;
    int status = select_from(d, catalog, word ? matching : all_tables, texts, options, &n);
    if (status == STATUS_OK && !n && word)
        complain("no table, query or column matches %s; profsql tables lists all", word);
    return status == STATUS_OK && !n && word ? STATUS_FAILED : status;
}
