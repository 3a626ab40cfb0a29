// SPDX-License-Identifier: Apache-2.0
/* pairs.c: finds the rows of a run and its baseline that belong together; see page.h. */
#include "page.h"

#include "../../loader/base/numbered_texts.h"
#include "../../loader/base/text_buffer.h"

#include <string.h>

bool hosts_paired(Page *page)
{
    sqlite3_stmt *stmt = ask(
        page->d,
        "WITH a AS MATERIALIZED (SELECT host FROM hosts(?1)), b AS MATERIALIZED (SELECT host FROM "
        "hosts(?2)), m AS (SELECT host, row_number() OVER (ORDER BY host) AS i FROM a WHERE host "
        "NOT IN b), n AS (SELECT host, row_number() OVER (ORDER BY host) AS i FROM b WHERE host "
        "NOT IN a) SELECT n.host, m.host FROM m JOIN n USING (i)",
        page->d->runs[0].label, page->d->runs[1].label, NULL);
    if (!stmt) return false;
    int rc = chart_rows_read(stmt, &page->hosts);
    if (rc != SQLITE_OK) complain_of_query(page->d);
    sqlite3_finalize(stmt);
    return rc == SQLITE_OK;
}

/* Returns the name of the run's host that belongs to a host of the baseline. */
static const char *host_of_run(const Page *page, const char *host)
{
    const ChartData *hosts = &page->hosts.data;
    for (size_t i = 0; i < hosts->n_rows; i++)
        if (!strcmp(chart_cell(hosts, i, 0)->text, host)) return chart_cell(hosts, i, 1)->text;
    return host;
}

/* Returns the part of a device's name that starts with its number. */
static const char *number_of_device(const char *name)
{
    const char *number = name + strcspn(name, "0123456789");
    return *number ? number : name;
}

/* Returns what a key is compared by. */
static const char *key_of(const Page *page, const char *column, const char *text, bool of_base)
{
    if (!strcmp(column, "host")) return of_base ? host_of_run(page, text) : text;
    if (!strcmp(column, "device") || !strcmp(column, "core")) return number_of_device(text);
    return text;
}

/* Rows of one of the runs. */
typedef struct {
    const Page *page;
    const ChartData *data;
    int n_keys;
    bool of_base;
} KeyedRows;

/* Writes the keys of a row as one text. */
static void write_keys(TextBuffer *out, const KeyedRows *rows, size_t row)
{
    text_clear(out);
    text_add(out, "");
    for (size_t k = 0; k < (size_t)rows->n_keys; k++) {
        const ChartCell *cell = chart_cell(rows->data, row, k);
        const char *key =
            cell->text ? key_of(rows->page, rows->data->columns[k], cell->text, rows->of_base)
                       : NULL;
        text_add_integer(out, key ? (int64_t)strlen(key) : -1);
        text_add_char(out, ' ');
        if (key) text_add(out, key);
    }
}

/* `next`: next row of the baseline with the same keys; `first`: first one that has no row of the
 * run yet, by the number of its keys; -1: none. */
typedef struct {
    NumberedTexts keys;
    Arena arena;
    TextBuffer text;
    long *next, *first;
} Keys;

/* From the last row to the first, so that those with the same keys are listed in order. */
static bool add_base(Keys *keys, const KeyedRows *base)
{
    for (size_t i = base->data->n_rows; i--;) {
        write_keys(&keys->text, base, i);
        if (keys->text.no_memory) return false;
        size_t n = numbered_find(&keys->keys, keys->text.text, keys->text.n_bytes);
        long next = n == NO_NUMBER ? -1 : keys->first[n];
        if (n == NO_NUMBER)
            n = numbered_add(&keys->keys, &keys->arena, keys->text.text, keys->text.n_bytes);
        if (n == NO_NUMBER) return false;
        keys->next[i] = next, keys->first[n] = (long)i;
    }
    return true;
}

static bool find_run(Keys *keys, const KeyedRows *run, long *pairs)
{
    for (size_t i = 0; i < run->data->n_rows; i++) {
        write_keys(&keys->text, run, i);
        if (keys->text.no_memory) return false;
        size_t n = numbered_find(&keys->keys, keys->text.text, keys->text.n_bytes);
        if (n == NO_NUMBER || keys->first[n] < 0) continue;
        pairs[keys->first[n]] = (long)i;
        keys->first[n] = keys->next[keys->first[n]];
    }
    return true;
}

long *rows_paired(Page *page, const Figure *figure, const ChartData *run, const ChartData *base)
{
    size_t n = base->n_rows;
    long *pairs = prof_alloc((n + 1) * sizeof *pairs);
    Keys keys = {.next = prof_alloc((n + 1) * sizeof *pairs),
                 .first = prof_alloc((n + 1) * sizeof *pairs)};
    bool ok = pairs && keys.next && keys.first;
    for (size_t i = 0; ok && i < n; i++) pairs[i] = -1;
    ok = ok && add_base(&keys, &(KeyedRows){page, base, figure->keys, true}) &&
         find_run(&keys, &(KeyedRows){page, run, figure->keys, false}, pairs);
    if (!ok) {
        complain("out of memory");
        page->failed = true;
        prof_free(pairs);
        pairs = NULL;
    }
    prof_free(keys.next);
    prof_free(keys.first);
    numbered_free(&keys.keys);
    arena_free(&keys.arena);
    text_free(&keys.text);
    return pairs;
}
