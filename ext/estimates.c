/* estimates.c: how much a query will see, for the planner. Counts are those of runs that are open already: no plan opens a
 * file, and what a parameter or another table will name is not known yet. */
#include "prof.h"
SQLITE_EXTENSION_INIT3

static void add_run(Counts *counts, const Run *run)
{
    counts->runs++;
    counts->hosts += (double)run->n_hosts, counts->planes += run->n_planes;
    counts->lines += run->n_lines, counts->events += (double)run->n_events;
    for (size_t h = 0; h < run->n_hosts; h++)
        for (size_t i = 0; i < run->hosts[h].n_planes; i++) {
            counts->metadata += (double)run->hosts[h].planes[i].n_declared;
            counts->stat_metadata += (double)run->hosts[h].planes[i].n_stat_metas;
        }
}

bool prof_counts(Prof *prof, sqlite3_index_info *info, int source_column, Counts *counts)
{
    *counts = (Counts){0};
    bool asked = false;
    for (int i = 0; i < info->nConstraint && !asked; i++) {
        const struct sqlite3_index_constraint *c = &info->aConstraint[i];
        if (c->op != SQLITE_INDEX_CONSTRAINT_EQ || c->iColumn != source_column || !c->usable) continue;
        sqlite3_value *value = NULL;
        asked = true;
        if (sqlite3_vtab_rhs_value(info, i, &value) != SQLITE_OK || sqlite3_value_type(value) != SQLITE_TEXT) return false;
        const Run *run = prof_known_run(prof, (const char *)sqlite3_value_text(value));
        if (run) add_run(counts, run);
    }
    for (int i = 0; i < prof->n_attached && !asked; i++) add_run(counts, prof->attached[i].run);
    return counts->runs > 0;
}
