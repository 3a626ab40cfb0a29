// SPDX-License-Identifier: Apache-2.0
/* program_totals.c: sums the executions of programs; see program_totals.h. */
#include "program_totals.h"

#include "../../base/interrupt.h"
#include "../../base/list.h"
#include "../../base/slice.h"

/* Returns the name that is shown: several texts of a file can show the same one. */
static Slice module_of(const ProgramRun *run)
{
    return slice_without_id(slice_of(run->module ? run->module : empty_text));
}

static bool same_program(const ProgramRun *a, const ProgramRun *b)
{
    if (a->has_program != b->has_program || a->program_id != b->program_id) return false;
    return a->module == b->module || slice_equal(module_of(a), module_of(b));
}

/* Returns the row of a program among those of its device. NULL if memory runs out. */
static ProgramTotal *find_row(ProgramTotals *out, HashTable *by_program, const ProgramRun *run)
{
    Slice module = module_of(run);
    uint64_t hash = hash64(hash64(run->program_id) ^ text_hash(module.text, module.n));
    HASH_EACH(i, by_program, hash)
        if (same_program(out->rows[i].first, run)) return &out->rows[i];
    if (!GROW(out->rows, out->n, out->capacity) || !hash_add(by_program, hash, out->n)) return NULL;
    out->rows[out->n] =
        (ProgramTotal){.first = run, .min_ps = UINT64_MAX, .fewest_kernels = UINT64_MAX};
    return &out->rows[out->n++];
}

/* Adds an execution. edge: 0 if it is the first on its device, 1 if it is the last; else -1. */
static void add_run(ProgramTotal *row, const ProgramRun *run, int edge)
{
    uint64_t ps = time_between(run->start_ps, run->end_ps);
    row->n++;
    row->total_ps += (double)ps;
    if (ps < row->min_ps) row->min_ps = ps;
    if (ps > row->max_ps) row->max_ps = ps;
    if (edge >= 0)
        row->edges[edge] = run;
    else if (run->n_kernels < row->fewest_kernels)
        row->fewest_kernels = run->n_kernels;
}

/* Returns which edge of its device the i-th execution is at, as in add_run(). */
static int edge_of(const ProgramRuns *all, size_t i)
{
    const Plane *plane = all->runs[i].plane;
    if (!i || all->runs[i - 1].plane != plane) return 0;
    return i + 1 == all->n || all->runs[i + 1].plane != plane ? 1 : -1;
}

/* Returns the share of an execution's kernels that the capture shows: below 1 if it has fewer than
 * every execution of the program between the two edges, or without one than that at the other. */
static double shown_share(const ProgramTotal *row, int edge)
{
    const ProgramRun *run = row->edges[edge], *other = row->edges[!edge];
    uint64_t entire = row->fewest_kernels;
    if (entire == UINT64_MAX && other) entire = other->n_kernels;
    if (!run || entire == UINT64_MAX || run->n_kernels >= entire) return 1;
    return (double)run->n_kernels / (double)entire;
}

static void count_shown(ProgramTotal *row)
{
    row->shown = (double)row->n;
    for (int edge = 0; edge < 2; edge++) row->shown -= 1 - shown_share(row, edge);
}

static void program_totals_release(void *result)
{
    ProgramTotals *out = result;
    prof_free(out->rows);
    prof_free(out);
}

static void *program_totals_make(Run *run, Host *only, ProfErr *err)
{
    const ProgramRuns *all = run_program_runs(run, only, err);
    ProgramTotals *out = all ? prof_alloc(sizeof *out) : NULL;
    ProgramTotal *row = NULL;
    HashTable by_program = {0};
    if (!out) {
        prof_nomem(err);
        return NULL;
    }
    for (size_t i = 0; i < all->n && !interrupt_poll(1, err); i++) {
        const ProgramRun *next = &all->runs[i];
        if (row && row->first->plane != next->plane) row = NULL, hash_clear(&by_program);
        if (!row || !same_program(row->first, next)) row = find_row(out, &by_program, next);
        if (row)
            add_run(row, next, edge_of(all, i));
        else
            prof_nomem(err);
    }
    hash_free(&by_program);
    for (size_t i = 0; i < out->n; i++) count_shown(&out->rows[i]);
    if (!err->code) return out;
    program_totals_release(out);
    return NULL;
}

const ProgramTotals *run_program_totals(Run *run, Host *only, ProfErr *err)
{
    static const Analysis analysis = {program_totals_make, program_totals_release,
                                      NEEDS_ONE_HOST_AT_A_TIME};
    return run_analysis(run, only, &analysis, err);
}
