// SPDX-License-Identifier: Apache-2.0
/* main.c: profsql: answers questions about a profile on the command line.
 *
 *   profsql logs                       one screen
 *   profsql logs top_kernels --n 20    a table or canned query
 *
 * The words determine what is done: a verb, or runs followed by a question. */
#define _GNU_SOURCE
#include "diff.h"
#include "export.h"
#include "export_trace.h"
#include "help.h"
#include "nearest.h"
#include "programs.h"
#include "report/report.h"
#include "one_screen.h"
#include "select.h"
#include "wrong_turns.h"
#include "wrong_words.h"

#include <fcntl.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#ifndef PROFSQL_COMMAND_VERSION
#define PROFSQL_COMMAND_VERSION "unknown"
#endif

typedef struct {
    Database database;
    Catalog catalog;
    Options options;
} Command;

/* ---- verbs ---- */

static int show_run(Command *c, char **runs)
{
    if (!options_allow(&c->options, 0, false, "the screen of a run")) {
        complain("its parts are tables: profsql RUN kpi, top_ops, recommendations or prof_issues");
        return STATUS_USAGE;
    }
    if (!database_attach(&c->database, runs[0])) return STATUS_FAILED;
    return one_screen(&c->database);
}

static int do_diff(Command *c, char **words, int n)
{
    if (!options_allow(&c->options, 0, false, "diff")) {
        complain("its parts are queries: profsql A B compare_ops, compare_steps, ...");
        return STATUS_USAGE;
    }
    if (n != 2) {
        complain("diff compares two runs: profsql diff A B");
        return STATUS_USAGE;
    }
    if (!database_attach(&c->database, words[0]) || !database_attach(&c->database, words[1]))
        return STATUS_FAILED;
    return diff(&c->database);
}

enum { TAKES_QUERY = TAKES_FORMAT | TAKES_OUTPUT | TAKES_SELECTION };

static int do_list(Command *c, char **words, int n)
{
    if (n > 1) {
        complain("list searches one folder: profsql list FOLDER");
        return STATUS_USAGE;
    }
    if (!options_allow(&c->options, TAKES_QUERY, false, "list")) return STATUS_USAGE;
    const char *texts[2] = {n ? words[0] : "."};
    if (n && path_is_missing(words[0])) {
        wrong_run(&c->database, words[0], "");
        return STATUS_FAILED;
    }
    long long n_rows = 0;
    int status = select_from(&c->database, &c->catalog,
                             "SELECT name, host_count AS hosts, round(size_bytes / 1e6, 3) AS "
                             "megabytes, datetime(modified_unix_ns / 1000000000, 'unixepoch') AS "
                             "modified_utc, path FROM prof_find(?1)",
                             texts, &c->options, &n_rows);
    if (status == STATUS_OK && !n_rows && c->options.where)
        note("no run matches --where %s", c->options.where);
    else if (status == STATUS_OK && !n_rows && !c->options.limit)
        note("%s: no *.xplane.pb in this folder or below; give the log dir that the profiler wrote "
             "to",
             texts[0]);
    return status;
}

static int do_tables(Command *c, char **words, int n)
{
    if (n > 1) {
        complain("tables takes one word or name");
        return STATUS_USAGE;
    }
    if (!options_allow(&c->options, TAKES_QUERY, false, "tables")) return STATUS_USAGE;
    const Entry *entry = n ? catalog_find(&c->catalog, words[0]) : NULL;
    if (entry) return help_table(&c->database, entry);
    return help_tables(&c->database, &c->catalog, n ? words[0] : NULL, &c->options);
}

static int do_shell(Command *c, char **words, int n)
{
    if (!options_allow(&c->options, 0, false, "shell")) return STATUS_USAGE;
    if (!n) {
        complain("which run? profsql shell RUN");
        return STATUS_USAGE;
    }
    if (!database_attach_all(&c->database, words, n)) return STATUS_FAILED;
    return run_shell(&c->database);
}

static int do_export(Command *c, char **words, int n)
{
    const Options *o = &c->options;
    unsigned takes =
        o->trace ? TAKES_FORCE | TAKES_TRACE : TAKES_FORCE | TAKES_TABLES | TAKES_TRACE;
    if (!options_allow(o, takes, false, o->trace ? "export of a trace" : "export"))
        return STATUS_USAGE;
    if (n < 2) {
        complain("export needs a run and a file: profsql export RUN out.db");
        return STATUS_USAGE;
    }
    if (!o->trace && o->used & TAKES_TRACE) {
        complain(
            "--from, --to and --lines choose events of a trace: add --format perfetto or chrome");
        return STATUS_USAGE;
    }
    if (o->trace && n != 2) {
        complain("a trace is of one run: profsql export RUN %s --format %s", words[n - 1],
                 o->trace);
        return STATUS_USAGE;
    }
    if (!database_attach_all(&c->database, words, n - 1)) return STATUS_FAILED;
    if (o->trace) return export_trace(&c->database, words[n - 1], o);
    return export_to(&c->database, &c->catalog, words[n - 1], &c->options);
}

static int do_report(Command *c, char **words, int n)
{
    const Options *o = &c->options;
    if (!options_allow(o, TAKES_OUTPUT | TAKES_FORCE | TAKES_AGAINST, false, "report"))
        return STATUS_USAGE;
    if (n != 1) {
        complain("report is about one run: profsql report RUN [--against BASE]");
        return STATUS_USAGE;
    }
    if (!database_attach_all(&c->database, words, 1)) return STATUS_FAILED;
    if (o->against && !database_attach_all(&c->database, (char *[]){(char *)o->against}, 1))
        return STATUS_FAILED;
    return report(&c->database, o->output, o->force);
}

static const struct {
    const char *name;
    int (*run)(Command *c, char **words, int n);
} verbs[] = {
    {"diff", do_diff},   {"list", do_list},     {"tables", do_tables},
    {"shell", do_shell}, {"export", do_export}, {"report", do_report},
};

/* ---- runs and a question ---- */

/* Returns SQL after comments and spaces. */
static const char *skip_comments(const char *sql)
{
    for (;;) {
        const char *end = NULL;
        sql += strspn(sql, " \t\r\n");
        if (!strncmp(sql, "--", 2)) end = strchr(sql, '\n');
        if (!strncmp(sql, "/*", 2) && (end = strstr(sql + 2, "*/"))) end++;
        if (!end) return sql;
        sql = end + 1;
    }
}

/* Returns whether a word is SQL: a keyword such as SELECT, followed by a character that a name
 * cannot contain. */
static bool is_sql(const char *word)
{
    static const char *const starts[] = {"SELECT", "WITH",   "VALUES", "EXPLAIN",
                                         "PRAGMA", "CREATE", "ATTACH", "INSERT",
                                         "UPDATE", "DELETE", "DROP"};
    word = skip_comments(word);
    size_t n = strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
    for (size_t i = 0; i < COUNT(starts); i++)
        if (n == strlen(starts[i]) && !strncasecmp(word, starts[i], n) && word[n] &&
            word[n] != '/' && word[n] != '.')
            return true;
    return false;
}

static int query(Command *c, const Entry *entry, char **runs, int n)
{
    if (!options_allow(&c->options, TAKES_QUERY, true, entry->name)) return STATUS_USAGE;
    if (entry_takes_path(entry) && n > 1) {
        complain("%s takes one folder", entry->name);
        return STATUS_USAGE;
    }
    if (entry_takes_path(entry))
        return select_table(&c->database, &c->catalog, entry, &c->options, n ? runs[0] : ".");
    if (!database_attach_all(&c->database, runs, n)) return STATUS_FAILED;
    return select_table(&c->database, &c->catalog, entry, &c->options, NULL);
}

static int answer_sql(Command *c, const char *sql, char **runs, int n)
{
    if (!options_allow(&c->options, TAKES_FORMAT | TAKES_OUTPUT, false, "SQL")) {
        complain("SQL has WHERE, ORDER BY and LIMIT itself: 'SELECT ... LIMIT 10'");
        return STATUS_USAGE;
    }
    if (!database_attach_all(&c->database, runs, n)) return STATUS_FAILED;
    return select_sql(&c->database, &c->catalog, sql, &c->options);
}

static int one_word(Command *c, char **words)
{
    const Entry *entry = catalog_find(&c->catalog, words[0]);
    if (is_sql(words[0]) && !path_exists(words[0])) return answer_sql(c, words[0], NULL, 0);
    if (!entry || path_exists(words[0])) return show_run(c, words);
    if (!entry->n_sources || entry_takes_path(entry)) return query(c, entry, NULL, 0);
    const char *runs = entry->n_sources == 2 ? "A B" : "RUN";
    complain("%s is a table or query: of which run? profsql %s %s", entry->name, runs, entry->name);
    return STATUS_USAGE;
}

static int several_words(Command *c, char **words, int n)
{
    const char *last = words[n - 1];
    const Entry *entry = catalog_find(&c->catalog, last);
    if (entry) return query(c, entry, words, n - 1);
    if (is_sql(last)) return answer_sql(c, last, words, n - 1);
    wrong_question(&c->database, &c->catalog, words, n);
    return STATUS_USAGE;
}

/* Explains a verb after the run, as in "profsql logs report". */
static bool late_verb(char **words, int n)
{
    for (int i = 1; i < n; i++)
        for (size_t k = 0; k < COUNT(verbs); k++) {
            if (strcmp(verbs[k].name, words[i]) != 0 || path_exists(words[i])) continue;
            const char *order = keep_text("profsql %s", words[i]);
            for (int j = 0; j < n; j++)
                if (j != i) order = keep_text("%s %s", order, shell_word(words[j]));
            complain("%s comes first: %s", words[i], order);
            return true;
        }
    return false;
}

/* Returns our verb for a word that other programs use. */
static const char *verb_meant(const char *word)
{
    static const struct {
        const char *word, *meant;
    } others[] = {
        {"compare", "diff A B"},       {"ls", "list FOLDER"},     {"find", "list FOLDER"},
        {"runs", "list FOLDER"},       {"open", "shell RUN"},     {"sqlite3", "shell RUN"},
        {"sql", "RUN 'SELECT ...'"},   {"query", "RUN NAME"},     {"show", "RUN"},
        {"dump", "export RUN out.db"}, {"record", "capture ..."}, {"version", "--version"},
    };
    for (size_t i = 0; i < COUNT(others); i++)
        if (!strcmp(others[i].word, word)) return others[i].meant;
    return NULL;
}

/* Returns whether a word is a misspelt verb, and not a path. */
static bool is_misspelt(const char *word)
{
    Nearest nearest = {.word = word};
    if (path_exists(word) || strpbrk(word, "/. ")) return false;
    if (verb_meant(word)) {
        complain("%s: no such file or folder; perhaps profsql %s", word, verb_meant(word));
        return true;
    }
    for (size_t i = 0; i < COUNT(verbs); i++) nearest_try(&nearest, verbs[i].name);
    if (!nearest.n) return false;
    complain("%s: no such file or folder%s", word, nearest_text(&nearest));
    return true;
}

static int show_help(Command *c)
{
    char **words = c->options.words;
    int n = c->options.n_words;
    const char *last = n ? words[n - 1] : "help";
    const Entry *entry = catalog_find(&c->catalog, last);
    if (entry) return help_table(&c->database, entry);
    bool is_unknown = n > 1 && !strcmp(words[0], "help") && strcmp(last, "help") != 0;
    for (size_t i = 0; i < COUNT(verbs); i++) is_unknown &= strcmp(verbs[i].name, last) != 0;
    if (is_unknown) {
        complain("%s: no such table, query or command%s; profsql tables %s searches their texts",
                 last, catalog_nearest(&c->catalog, last), shell_word(last));
        return STATUS_USAGE;
    }
    help_write(stdout);
    return STATUS_OK;
}

static bool asks_for_help(const Options *o)
{
    if (o->help || !o->n_words) return o->help;
    const char *first = o->words[0], *last = o->words[o->n_words - 1];
    return (!strcmp(first, "help") && !path_exists(first)) ||
           (!strcmp(last, "help") && !path_exists(last));
}

static int run_command(Command *c)
{
    char **words = c->options.words;
    int n = c->options.n_words;
    if (c->options.version) {
        printf("profsql %s\n", PROFSQL_COMMAND_VERSION);
        return STATUS_OK;
    }
    if (asks_for_help(&c->options)) return show_help(c);
    if (!n) {
        help_write(stderr);
        return STATUS_USAGE;
    }
    for (size_t i = 0; i < COUNT(verbs); i++)
        if (!strcmp(verbs[i].name, words[0])) return verbs[i].run(c, words + 1, n - 1);
    if (late_verb(words, n) || wrong_order(&c->catalog, words, n) || is_misspelt(words[0]))
        return STATUS_USAGE;
    return n == 1 ? one_word(c, words) : several_words(c, words, n);
}

/* Opens closed standard descriptors, because otherwise the next file that is opened, such as a
 * profile, would get their number. */
static void keep_standard_descriptors(void)
{
    int fd;
    while ((fd = open("/dev/null", O_RDONLY)) >= 0 && fd <= STDERR_FILENO) continue;
    if (fd > STDERR_FILENO) close(fd);
}

int main(int argc, char **argv)
{
    Command c = {0};
    keep_standard_descriptors();
    setenv("PROFSQL_WARNINGS", "0", 1); /* the command reports it itself */
    setlocale(LC_CTYPE, "");
    if (argc > 1 && !strcmp(argv[1], "capture")) return run_capture(argv + 1);
    if (!database_open(&c.database)) return STATUS_FAILED;
    int status = STATUS_USAGE;
    if (catalog_load(&c.catalog, &c.database) &&
        options_parse(&c.options, &c.catalog, argc, argv)) {
        if (c.options.quiet) notes_off();
        status = run_command(&c);
    }
    database_close(&c.database);
    if ((fflush(stdout) || ferror(stdout)) && status == STATUS_OK) {
        complain("standard output: cannot be written");
        status = STATUS_FAILED;
    }
    return status;
}
