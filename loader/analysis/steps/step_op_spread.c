// SPDX-License-Identifier: Apache-2.0
/* step_op_spread.c: statistics of ops over steps; see step_op_spread.h.
 *
 * The index brings the rows of an op together, so that an op's statistics take one pass over its
 * own rows: an op that runs in few steps costs little, however many steps there are. */
#include "step_op_spread.h"

#include "../../base/interrupt.h"
#include "../../base/sort.h"

#include <math.h>

/* ---- the index ---- */

/* Groups the rows by op: a counting sort. */
static int index_rows(StepOpIndex *index, ProfErr *err)
{
    const StepOps *ops = index->ops;
    index->first = prof_alloc((ops->n_ops + 2) * sizeof *index->first);
    index->rows = prof_buffer(ops->n * sizeof *index->rows);
    if (!index->first || !index->rows) return prof_nomem(err);
    for (size_t i = 0; i < ops->n; i++) index->first[ops->rows[i].op + 2]++;
    for (size_t i = 2; i <= ops->n_ops; i++) index->first[i] += index->first[i - 1];
    for (size_t i = 0; i < ops->n; i++)
        index->rows[index->first[ops->rows[i].op + 1]++] = (uint32_t)i;
    return interrupt_poll(ops->n, err);
}

static void measure_steps(StepOpIndex *index)
{
    const StepDb *db = index->ops->steps;
    double total = 0;
    uint64_t least = UINT64_MAX, most = 0;
    for (size_t i = 0; i < db->n_steps; i++) {
        const Step *step = &db->steps[i];
        if (step->duration_ps > db->steps[index->longest].duration_ps) index->longest = i;
        if (step->dropped) continue;
        index->n_complete++;
        total += (double)step->duration_ps;
        if (step->duration_ps < least) least = step->duration_ps;
        if (step->duration_ps > most) most = step->duration_ps;
    }
    for (size_t i = 0; i < db->n_steps; i++) {
        double duration = (double)db->steps[i].duration_ps;
        index->over[i] = duration - total / (double)index->n_complete;
        if (!db->steps[i].dropped && most > least)
            index->squares += index->over[i] * index->over[i];
    }
}

static void release_index(void *result)
{
    StepOpIndex *index = result;
    prof_free(index->rows);
    prof_free(index->first);
    prof_free(index->over);
    prof_free(index);
}

static void *make_index(Run *run, Host *only, ProfErr *err)
{
    const StepOps *ops = run_step_ops(run, only, err);
    StepOpIndex *index = ops ? prof_alloc(sizeof *index) : NULL;
    if (!index) {
        prof_nomem(err);
        return NULL;
    }
    index->ops = ops;
    index->over = prof_alloc(ops->steps->n_steps * sizeof *index->over);
    if (!index->over) prof_nomem(err);
    if (!err->code && !index_rows(index, err)) measure_steps(index);
    if (err->code) release_index(index), index = NULL;
    return index;
}

const StepOpIndex *run_step_op_index(Run *run, Host *only, ProfErr *err)
{
    static const Analysis analysis = {make_index, release_index, NEEDS_ONE_HOST_AT_A_TIME};
    return run_analysis(run, only, &analysis, err);
}

/* ---- medians ---- */

/* Returns the value at a place of the ordered list of n values and n_zeros zeros. `values` is in
 * order, its first n_below are below 0. */
static double value_at(const double *values, size_t n_below, size_t n_zeros, size_t place)
{
    if (place < n_below) return values[place];
    return place < n_below + n_zeros ? 0 : values[place - n_zeros];
}

/* Returns the median of n values, which it sorts, and n_zeros zeros; NAN if there is none. */
static double median(double *values, size_t n, size_t n_zeros)
{
    size_t all = n + n_zeros, n_below = 0;
    if (!all) return NAN;
    sort_array(values, n, sizeof *values, by_double);
    while (n_below < n && values[n_below] < 0) n_below++;
    return (value_at(values, n_below, n_zeros, (all - 1) / 2) +
            value_at(values, n_below, n_zeros, all / 2)) /
           2;
}

double other_steps_median(const StepOpIndex *index, size_t chosen, ProfErr *err)
{
    const StepDb *db = index->ops->steps;
    double *durations = prof_buffer(db->n_steps * sizeof *durations), found = NAN;
    size_t n = 0;
    if (!durations) {
        prof_nomem(err);
        return NAN;
    }
    for (size_t i = 0; i < db->n_steps; i++)
        if (i != chosen && !db->steps[i].dropped) durations[n++] = (double)db->steps[i].duration_ps;
    found = median(durations, n, 0);
    prof_free(durations);
    interrupt_poll(n, err);
    return found;
}

/* ---- one op ---- */

/* An op in one step, on all hosts. */
typedef struct StepSum {
    uint64_t n;
    double self;
} StepSum;

static bool has_scratch(StepOpScratch *scratch, size_t n_steps)
{
    if (scratch->selfs) return true;
    if (!scratch->sums) scratch->sums = prof_alloc(n_steps * sizeof *scratch->sums);
    if (!scratch->places) scratch->places = prof_buffer(n_steps * sizeof *scratch->places);
    if (scratch->sums && scratch->places)
        scratch->selfs = prof_buffer(n_steps * sizeof *scratch->selfs);
    return scratch->selfs;
}

void step_op_scratch_free(StepOpScratch *scratch)
{
    prof_free(scratch->sums);
    prof_free(scratch->places);
    prof_free(scratch->selfs);
}

/* Returns whether a's readable name comes after b's in byte order. */
static bool name_is_later(const EventMeta *a, const EventMeta *b)
{
    const Text *x = a->display_name->n_bytes ? a->display_name : a->name,
               *y = b->display_name->n_bytes ? b->display_name : b->name;
    size_t n = x->n_bytes < y->n_bytes ? x->n_bytes : y->n_bytes;
    int order = memcmp(x->text, y->text, n);
    return order ? order > 0 : x->n_bytes > y->n_bytes;
}

/* Sums the op's rows by step. Returns the number of steps. */
static size_t sum_by_step(const StepOpIndex *index, size_t op, size_t chosen,
                          StepOpScratch *scratch, StepOpSpread *out)
{
    size_t n = 0;
    for (size_t i = index->first[op]; i < index->first[op + 1]; i++) {
        const StepOp *row = &index->ops->rows[index->rows[i]];
        StepSum *sum = &scratch->sums[row->place];
        if (!sum->n) scratch->places[n++] = row->place;
        sum->n += row->n;
        sum->self += (double)row->self_ps;
        if (row->place != chosen && index->ops->steps->steps[row->place].dropped) continue;
        if (!out->meta || (row->meta != out->meta && name_is_later(row->meta, out->meta)))
            out->meta = row->meta;
    }
    return n;
}

/* Returns the sample standard deviation of the self time. */
static double deviation(const StepOpIndex *index, const StepOpScratch *scratch, size_t n,
                        const StepOpSpread *op)
{
    double squares = (double)(index->n_complete - op->n_steps) * op->average * op->average;
    for (size_t i = 0; i < n; i++) {
        double difference = scratch->sums[scratch->places[i]].self - op->average;
        if (!index->ops->steps->steps[scratch->places[i]].dropped)
            squares += difference * difference;
    }
    return index->n_complete > 1 ? sqrt(squares / (double)(index->n_complete - 1)) : NAN;
}

int step_op_spread(const StepOpIndex *index, size_t op, size_t chosen, StepOpScratch *scratch,
                   StepOpSpread *out, ProfErr *err)
{
    const Step *steps = index->ops->steps->steps;
    *out = (StepOpSpread){.key = &index->ops->ops[op]};
    if (!has_scratch(scratch, index->ops->steps->n_steps)) return prof_nomem(err);
    size_t n = sum_by_step(index, op, chosen, scratch, out);
    double total = 0, covariance = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t place = scratch->places[i];
        const StepSum *sum = &scratch->sums[place];
        if (place == chosen) out->n_chosen = sum->n, out->self_chosen = sum->self;
        if (steps[place].dropped) continue;
        out->n_steps++;
        total += sum->self, covariance += sum->self * index->over[place];
        if (place != chosen) scratch->selfs[out->n_others++] = sum->self;
    }
    out->average = total / (double)index->n_complete;
    out->stddev = deviation(index, scratch, n, out);
    out->percent = index->squares > 0 ? 100 * covariance / index->squares : NAN;
    bool chosen_counts = chosen < index->ops->steps->n_steps && !steps[chosen].dropped;
    size_t n_without = index->n_complete - chosen_counts - out->n_others;
    out->median = median(scratch->selfs, out->n_others, n_without);
    for (size_t i = 0; i < n; i++) scratch->sums[scratch->places[i]] = (StepSum){0};
    return interrupt_poll(n, err);
}
