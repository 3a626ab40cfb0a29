// SPDX-License-Identifier: Apache-2.0
/* estimates.c: estimates for the planner how many rows a query visits. They come from runs that are
 * open: planning opens no file, and the values of parameters and of other tables are not known yet.
 */
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

bool prof_counts(Prof *prof, sqlite3_index_info *info, int source_term, Counts *counts)
{
    *counts = (Counts){0};
    sqlite3_value *value = NULL;
    if (source_term < 0) {
        for (int i = 0; i < prof->n_attached; i++)
            if (prof->attached[i].run) add_run(counts, prof->attached[i].run);
        return counts->runs > 0;
    }
    if (sqlite3_vtab_rhs_value(info, source_term, &value) != SQLITE_OK ||
        sqlite3_value_type(value) != SQLITE_TEXT)
        return false;
    const Run *run = prof_known_run(prof, (const char *)sqlite3_value_text(value));
    if (run) add_run(counts, run);
    return run != NULL;
}
