// SPDX-License-Identifier: Apache-2.0
/* derived_line.c: a derived line whose first event had no memory is an error, not a line without
 * events. */
#include "../../loader/analysis/viewer/derived_parts.h"
#include "check.h"

static int n_given; /* allocations that are still given */
static void *some_memory(uint64_t n_bytes) { return n_given-- > 0 ? calloc(1, n_bytes) : NULL; }
static void *more(void *old, uint64_t n_bytes)
{
    return n_given-- > 0 ? realloc(old, n_bytes) : NULL;
}

/* The error of a line of 3 events, each with a stat, that has memory for n allocations while they
 * are added, and for all later ones unless `late`. 0: the line is whole. */
static int error_of_line(int n, bool late)
{
    Derivation d = {0};
    Plane plane = {0};
    LineMaker maker;
    ProfErr err = {0};
    n_given = n;
    line_open(&maker, &plane, 1, "line", LINE_OTHER);
    for (int i = 0; i < 3; i++) {
        uint32_t e = line_add(&maker, &(DerivedEvent){10 * i, 5, -1, 0});
        line_add_stat(&maker, e, DERIVED_ASYNC, (StatValue){.type = TYPE_INT64, .integer = 1});
    }
    if (!late) n_given = 1000;
    line_end(&d, &maker, &err);
    bool kept = d.lines.n == 1 && d.lines.items[0].events.n == 3 && d.lines.items[0].stats.n == 3;
    for (size_t i = 0; i < d.lines.n; i++) {
        packed_rows_free(&d.lines.items[i].events);
        packed_rows_free(&d.lines.items[i].stats);
    }
    prof_free(d.lines.items);
    return kept && !err.code ? 0 : err.code ? err.code : -1;
}

int main(void)
{
    prof_use_memory((ProfMemory){some_memory, more, free});
    check(error_of_line(1000, false) == 0, "a line with memory");
    check(error_of_line(0, false) == PROF_NOMEM, "no memory for the first event");
    check(error_of_line(1, false) == PROF_NOMEM, "no memory for the first stat");
    check(error_of_line(2, true) == PROF_NOMEM, "no memory at the end");
    Derivation d = {0};
    Plane plane = {0};
    LineMaker maker;
    ProfErr err = {0};
    line_open(&maker, &plane, 1, "line", LINE_OTHER);
    check(line_end(&d, &maker, &err) && !d.lines.n, "a line without events is left out");
    return finish();
}
