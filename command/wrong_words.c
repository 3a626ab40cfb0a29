// SPDX-License-Identifier: Apache-2.0
/* wrong_words.c: explains words that are not understood; see wrong_words.h. */
#define _GNU_SOURCE
#include "wrong_words.h"

#include "wrong_turns.h"

#include <fcntl.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

bool path_exists(const char *path) { return !access(path, F_OK); }

/* ---- order ---- */

/* Returns the position of the first word that is a keyword alone, as in SQL without quotes; n if
 * there is none. */
static int bare_keyword(char **words, int n)
{
    int i = 0;
    while (i < n && ((strcasecmp(words[i], "SELECT") != 0 && strcasecmp(words[i], "WITH") != 0) ||
                     path_exists(words[i])))
        i++;
    return i;
}

static bool is_question(const Catalog *catalog, const char *word)
{
    return catalog_find(catalog, word) && !path_exists(word);
}

static void early_question(const Catalog *catalog, const char *run, const char *name,
                           const char *next)
{
    if (is_question(catalog, next))
        complain("one table or query at a time: profsql %s %s, then profsql %s %s", run, name, run,
                 next);
    else if (path_exists(next))
        complain("the runs come first: profsql %s %s %s", run, shell_word(next), name);
    else
        complain("%s: only options follow the table or query: profsql %s %s --limit 3", next, run,
                 name);
}

bool wrong_order(const Catalog *catalog, char **words, int n)
{
    int at = bare_keyword(words, n);
    if (at < n) {
        complain("the shell takes SQL for one word only in quotes: profsql %s 'SELECT ...'",
                 at ? shell_word(words[0]) : "RUN");
        return true;
    }
    for (at = 0; at < n - 1; at++) {
        if (!is_question(catalog, words[at])) continue;
        if (!at)
            complain("the run comes first: profsql %s %s", shell_word(words[1]), words[0]);
        else
            early_question(catalog, shell_word(words[0]), words[at], words[at + 1]);
        return true;
    }
    return false;
}

/* ---- no question ---- */

static const char *missing_one(char **runs, int n)
{
    for (int i = 0; i < n; i++)
        if (!path_exists(runs[i])) return runs[i];
    return NULL;
}

/* Returns whether a text starts with a name, as in "top_ops limit 3". */
static bool starts_with_name(const Catalog *catalog, const char *text)
{
    size_t n = strcspn(text, " ");
    return text[n] && catalog_find(catalog, keep_text("%.*s", (int)n, text));
}

static bool ends_in(const char *text, const char *end)
{
    size_t n = strlen(text), k = strlen(end);
    return n >= k && !strcasecmp(text + n - k, end);
}

void wrong_question(Database *d, const Catalog *catalog, char **words, int n)
{
    const char *last = words[n - 1], *first = shell_word(words[0]);
    if (path_exists(last) && missing_one(words, n))
        wrong_run(d, missing_one(words, n), "");
    else if (ends_in(last, ".sql"))
        complain("%s: profsql shell reads SQL from a file: profsql shell %s < %s", last, first,
                 shell_word(last + (*last == '@')));
    else if (path_exists(last))
        complain("%d runs and no question: profsql diff %s %s, or a table, query or SQL after them",
                 n, first, shell_word(words[1]));
    else if (starts_with_name(catalog, last))
        complain("SQL starts with SELECT or WITH: profsql %s 'SELECT * FROM %s'", first, last);
    else if (!strcmp(last, "-"))
        complain("-: profsql shell reads SQL from standard input: profsql shell %s < FILE.sql",
                 first);
    else if (!last[strspn(last, " \t\r\n")])
        complain("the name of the table or query is empty; profsql tables lists all");
    else if (*last == '.')
        complain("%s: the commands of SQLite's shell are for profsql shell %s", last, first);
    else
        complain("%s: no such table or query%s; profsql tables lists all, and SQL starts with "
                 "SELECT or WITH",
                 last, catalog_nearest(catalog, last));
}
