// SPDX-License-Identifier: Apache-2.0
/* op_db.c: adding up what hosts and cores say of one op. */
#include "../../loader/analysis/ops/op_build.h"
#include "check.h"

static OpMetrics op(OpMetricsDb *db, Arena *arena, const char *file, int32_t line)
{
    TextTable texts = {0};
    OpMetrics *made = op_db_append(db);
    made->source_file = text_intern(&texts, arena, (const uint8_t *)file, strlen(file));
    made->source_line = line;
    text_table_free(&texts);
    return *made;
}

int main(void)
{
    Arena arena = {0};
    OpMetricsDb db = {0};
    OpMetrics silent = op(&db, &arena, "", 0), other = op(&db, &arena, "a.py", 7), first;
    silent.has_source = other.has_source = true;
    first = silent;
    check(op_merge(&first, &other, &arena, true) && !*first.source_file->text && !first.source_line,
          "two programs of one id, and the first does not know its source: no source of the other");
    other.has_source = false, first = other, other = silent;
    check(op_merge(&first, &other, &arena, true) && first.has_source && !*first.source_file->text,
          "an op that was not asked takes what is known");
    first = silent, other = silent;
    first.occurrences = 2, first.min_ps = 10, first.n_cores = 1, other.occurrences = 3,
    other.min_ps = 4, other.n_cores = 2;
    check(op_merge(&first, &other, &arena, false) && first.occurrences == 5 && first.min_ps == 4 &&
              first.n_cores == 1,
          "sums, the shortest time, cores only where asked");
    op_db_free(&db);
    arena_free(&arena);
    return finish();
}
