// SPDX-License-Identifier: Apache-2.0
/* pairs.c: finds the rows of a run and its baseline that belong together; see page.h. */
#include "page.h"

#include "../../loader/base/numbered_texts.h"
#include "../../loader/base/text_buffer.h"

/* Writes the keys of a row as one text. */
static void write_keys(TextBuffer *out, const ChartData *data, size_t row, int n_keys)
{
    text_clear(out);
    text_add(out, "");
    for (size_t k = 0; k < (size_t)n_keys; k++) {
        const ChartCell *cell = chart_cell(data, row, k);
        text_add_integer(out, cell->text ? (int64_t)cell->n_bytes : -1);
        text_add_char(out, ' ');
        if (cell->text) text_add_bytes(out, cell->text, cell->n_bytes);
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
static bool add_base(Keys *keys, const ChartData *base, int n_keys)
{
    for (size_t i = base->n_rows; i--;) {
        write_keys(&keys->text, base, i, n_keys);
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

static bool find_run(Keys *keys, const ChartData *run, int n_keys, long *pairs)
{
    for (size_t i = 0; i < run->n_rows; i++) {
        write_keys(&keys->text, run, i, n_keys);
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
    ok = ok && add_base(&keys, base, figure->keys) && find_run(&keys, run, figure->keys, pairs);
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
