// SPDX-License-Identifier: Apache-2.0
/* tpu_counters.c: reads performance counters of devices and computes utilizations; see
 * tpu_counters.h. */
#include "tpu_counters.h"
#include "../../base/search.h"

#include "../../base/sort.h"
#include "../../store/event_stats.h"
#include "../../store/events.h"
#include "../../store/event_values.h"

#include <math.h>

/* ---- the rows of each chip ---- */

#define GIB 1073741824.0
#define ICI_BYTES_PER_CYCLE (294947368421.05 / 1e9)
#define ROW(core, kind, name, unit, peak, ...) {core, kind, name, unit, peak, {__VA_ARGS__}},
#define ONE(weight, counter)                                                                       \
    {                                                                                              \
        weight, counter, 1, 0, 1, 0                                                                \
    }
#define RUN(weight, first, n, step)                                                                \
    {                                                                                              \
        weight, first, 1, 0, n, step                                                               \
    }
#define GRID(weight, first, rows, row_step, n, step)                                               \
    {                                                                                              \
        weight, first, rows, row_step, n, step                                                     \
    }

static const UtilizationRow v6e_rows[] = {
#define V6E_ROWS
#include "tpu_counters.def"
#undef V6E_ROWS
};
static const UtilizationRow v7x_rows[] = {
#define V7X_ROWS
#include "tpu_counters.def"
};

static const struct {
    const char *device_type;
    const UtilizationRow *rows;
    size_t n_rows;
} chips[] = {
    [CHIP_OTHER] = {"", NULL, 0},
    [CHIP_V6E] = {"TPU v6 Lite", v6e_rows, COUNT(v6e_rows)},
    [CHIP_V7X] = {"TPU v7x", v7x_rows, COUNT(v7x_rows)},
};

const UtilizationRow *utilization_rows(enum CounterChip chip, size_t *n)
{
    *n = chips[chip].n_rows;
    return chips[chip].rows;
}

static uint64_t counter_value(const CounterSample *sample, uint64_t number, bool whole)
{
    size_t low = LOWER_BOUND(i, 0, sample->n_values, sample->values[i].number < number);
    if (low == sample->n_values || sample->values[low].number != number) return 0;
    return whole ? sample->values[low].sum : sample->values[low].last;
}

static uint64_t term_sum(const CounterSample *sample, const CounterTerm *term, bool whole)
{
    uint64_t sum = 0;
    for (int row = 0; row < term->rows; row++)
        for (int i = 0; i < term->n; i++)
            sum += counter_value(sample,
                                 (uint64_t)term->first + (uint64_t)row * (uint64_t)term->row_step +
                                     (uint64_t)(i * term->step),
                                 whole);
    return sum;
}

static bool is_whole(double weight) { return weight == floor(weight); }

/* Computes a sum of products. As in XProf, products with integer weights and their sums wrap at
 * 2^64. */
static double terms_value(const CounterSample *sample, const CounterTerm *terms, size_t n,
                          bool whole)
{
    uint64_t u64 = 0;
    double real = 0;
    for (size_t i = 0; i < n && terms[i].n; i++) {
        uint64_t sum = term_sum(sample, &terms[i], whole);
        if (is_whole(terms[i].weight))
            u64 += (uint64_t)terms[i].weight * sum;
        else
            real += terms[i].weight * (double)sum;
    }
    return real + (double)u64;
}

double utilization_achieved(const CounterSample *sample, const UtilizationRow *row, bool whole)
{
    return terms_value(sample, row->achieved, COUNT(row->achieved), whole);
}

/* Returns the peak of a row. XProf divides cycles by the cycles of one instruction in integers. */
static double peak_of(const UtilizationRow *row, double peak)
{
    return *row->unit == 'i' ? floor(peak) : peak;
}

double utilization_peak(const CounterSample *sample, const UtilizationRow *row, bool whole)
{
    return peak_of(row, terms_value(sample, &row->peak, 1, whole));
}

static bool has_cycles(const CounterSample *sample, const UtilizationRow *row)
{
    return terms_value(sample, &row->peak, 1, false) != 0;
}

bool utilization_shown(const CounterSample *sample, const UtilizationRow *row)
{
    if (row->kind == SPARSECORE) return true;
    if (!has_cycles(sample, row)) return false;
    while (row->kind == HBM_RATIO) row--; /* the row with the bytes comes before their ratios */
    return has_cycles(sample, row);
}

/* ---- kernel utilization ---- */

static double two_decimals(double x)
{
    double hundredfold = round(x * 100);
    return isfinite(hundredfold) ? hundredfold / 100 : x;
}

/* Returns the cycles of the sample: the maximum over its TensorCores. */
static double tensorcore_cycles(const CounterSample *sample, const UtilizationRow *rows, size_t n)
{
    double most = 0;
    for (size_t i = 0; i < n; i++) {
        if (rows[i].kind != TENSORCORE) continue;
        double cycles = (double)counter_value(sample, rows[i].peak.first, true);
        if (cycles > most) most = cycles;
    }
    return most;
}

typedef struct {
    const char *name;
    double achieved, peak;
} MetricSum;

static MetricSum *metric_sum(MetricSum *sums, size_t *n, const char *name)
{
    for (size_t i = 0; i < *n; i++)
        if (!strcmp(sums[i].name, name)) return &sums[i];
    sums[*n] = (MetricSum){.name = name};
    return &sums[(*n)++];
}

/* Adds a row. A core without cycles uses the cycles of the other core. */
static void add_row(const CounterSample *sample, const UtilizationRow *row, double cycles,
                    MetricSum *sums, size_t *n)
{
    double peak = utilization_peak(sample, row, true);
    if (row->kind == TENSORCORE && !peak) peak = peak_of(row, row->peak.weight * cycles);
    if (!peak || (row->kind == HBM_RATIO && !utilization_shown(sample, row))) return;
    MetricSum *sum =
        metric_sum(sums, n, row->kind == HBM ? "HBM Bandwidth Utilization" : row->name);
    sum->achieved += utilization_achieved(sample, row, true), sum->peak += peak;
}

static void add_metric(KernelUtilization *u, const char *name, double value)
{
    u->metrics[u->n++] = (KernelMetric){name, two_decimals(value)};
}

void kernel_utilization(const CounterSample *sample, KernelUtilization *u)
{
    /* Rows that are shown as the unit's own values. */
    static const struct {
        const char *row, *metric;
    } mxu[] = {{"MXU BF16", "MXU BF16"},
               {"MXU E4M3 + E5M2", "MXU FP8"},
               {"MXU I4", "MXU Int4"},
               {"MXU I8", "MXU Int8"}};
    MetricSum sums[MOST_KERNEL_METRICS];
    size_t n_sums = 0, n;
    const UtilizationRow *rows = utilization_rows(sample->chip, &n);
    double cycles = tensorcore_cycles(sample, rows, n), mxu_sums[COUNT(mxu)] = {0}, mxu_total = 0;
    for (size_t i = 0; i < n; i++) add_row(sample, &rows[i], cycles, sums, &n_sums);
    *u = (KernelUtilization){.duration_us = cycles / (sample->chip == CHIP_V7X ? 1.9e3 : 1.75e3)};
    add_metric(u, "mxu_utilization", 0);
    for (size_t k = 0; k < COUNT(mxu); k++) add_metric(u, mxu[k].metric, 0);
    for (size_t i = 0; i < n_sums; i++) {
        double percent = sums[i].achieved / sums[i].peak * 100;
        size_t k = 0;
        while (k < COUNT(mxu) && strcmp(sums[i].name, mxu[k].row)) k++;
        if (k < COUNT(mxu))
            mxu_sums[k] = sums[i].achieved, mxu_total += sums[i].achieved;
        else if (!strcmp(sums[i].name, "Avg MXU Busy"))
            u->mxu_percent = two_decimals(percent), u->mxu_is_anomaly = percent > 100;
        else
            add_metric(u, sums[i].name, percent > 100 ? 100 : percent);
    }
    u->metrics[0].value = u->mxu_percent;
    for (size_t k = 0; k < COUNT(mxu) && mxu_total; k++)
        u->metrics[k + 1].value = two_decimals(mxu_sums[k] / mxu_total * 100);
}

/* ---- reading ---- */

static const Text *intern(PerfCounters *all, const Plane *plane, const Stat *stat, ProfErr *err)
{
    Slice text = stat_text(plane, stat);
    const Text *t = text_intern(&all->texts, &all->arena, text.text, text.n);
    if (!t) prof_nomem(err);
    return t;
}

typedef struct {
    PerfCounter counter;
    bool has_value, has_number;
} Reading;

/* Reads a stat of a counter. The event's stats come before its metadata's; the first with a name
 * counts. */
static void read_stat(PerfCounters *all, const Plane *plane, Reading *r, unsigned known,
                      const Stat *stat, bool of_metadata, ProfErr *err)
{
    bool integer = stat->type == TYPE_INT64 || stat->type == TYPE_UINT64;
    switch (known) {
    case STAT_COUNTER_VALUE:
        if (r->has_value) break;
        r->has_value = true, r->counter.of_metadata = of_metadata, r->counter.type = stat->type;
        if (stat->type == TYPE_DOUBLE)
            r->counter.real = stat->number;
        else
            r->counter.u64 = integer ? stat->u64 : 0;
        break;
    case STAT_COUNTER_ID:
        if (!r->has_number && integer) r->has_number = true, r->counter.number = stat->u64;
        break;
    case STAT_COUNTER_DESCRIPTION:
        if (!r->counter.description) r->counter.description = intern(all, plane, stat, err);
        break;
    case STAT_COUNTER_SETS:
        if (!r->counter.sets) r->counter.sets = intern(all, plane, stat, err);
        break;
    default: break;
    }
}

static Stat stat_of_fact(const StatValue *fact)
{
    Stat stat = {.type = fact->type, .u64 = fact->u64};
    if (fact->type == TYPE_STR)
        stat.bytes = (const uint8_t *)fact->text->text, stat.n_bytes = fact->text->n_bytes;
    return stat;
}

static void add_event(PerfCounters *all, const StatFilter *filter, const EventAt *at, ProfErr *err)
{
    const Plane *plane = filter->plane;
    Reading r = {
        .counter = {.event = at->event, .meta = at->meta, .number = (uint64_t)at->meta->id}};
    StatIter stats = stat_iter_of_event(at);
    unsigned known;
    Stat stat;
    while (!err->code && stat_iter_next_wanted(&stats, filter, &known, &stat))
        read_stat(all, plane, &r, known, &stat, false, err);
    if (err->code || event_meta_values(plane, at->meta, err)) return;
    for (size_t i = 0; i < at->meta->n_facts && !err->code; i++) {
        stat = stat_of_fact(&at->meta->facts[i].fact);
        read_stat(all, plane, &r, at->meta->facts[i].known, &stat, true, err);
    }
    if (!r.has_value || err->code) return;
    if (!GROW(all->counters, all->n_counters, all->counter_capacity)) {
        prof_nomem(err);
        return;
    }
    all->counters[all->n_counters++] = r.counter;
}

static void read_line(PerfCounters *all, const StatFilter *filter, const CounterSample *of_plane,
                      Line *line, ProfErr *err)
{
    size_t before = all->n_counters;
    EventReader reader;
    EventAt at;
    event_reader_open_for(&reader, line, &filter->wanted, err);
    while (!err->code && event_reader_next(&reader, &at)) add_event(all, filter, &at, err);
    event_reader_close(&reader);
    if (err->code || all->n_counters == before) return;
    if (!GROW(all->samples, all->n, all->capacity)) {
        prof_nomem(err);
        return;
    }
    CounterSample *sample = &all->samples[all->n++];
    *sample = *of_plane;
    sample->line = line, sample->n = all->n_counters - before;
}

/* Reads the plane's stats that describe the device. The first with a name counts. */
static void read_device(PerfCounters *all, CounterSample *device, const Plane *plane, ProfErr *err)
{
    Window window = {.file = &plane->host->file};
    for (size_t i = 0; i < plane->n_stats && !err->code; i++) {
        Stat stat;
        const StatMeta *meta =
            plane_stat(plane, i, &window, &stat, err) ? stat_meta(plane, stat.id) : NULL;
        if (!meta) continue;
        bool integer = stat.type == TYPE_INT64 || stat.type == TYPE_UINT64;
        if (!strcmp(meta->name->text, "global_chip_id") && integer && !device->has_chip_id)
            device->has_chip_id = true, device->chip_id = stat.integer;
        else if (!strcmp(meta->name->text, "device_id") && integer && !device->has_device_id)
            device->has_device_id = true, device->device_id = stat.integer;
        else if (!strcmp(meta->name->text, "device_type_string") && !device->device_type)
            device->device_type = intern(all, plane, &stat, err);
    }
    window_free(&window);
    if (!device->has_chip_id && device->has_device_id)
        device->has_chip_id = true, device->chip_id = device->device_id;
    if (!device->has_device_id) device->device_id = plane_core_number(plane);
    if (!device->device_type || plane->kind == PLANE_GPU) return;
    for (size_t i = CHIP_OTHER + 1; i < COUNT(chips); i++)
        if (!strcmp(device->device_type->text, chips[i].device_type))
            device->chip = (enum CounterChip)i;
}

static void read_plane(PerfCounters *all, Plane *plane, ProfErr *err)
{
    static const enum KnownStat wanted[] = {STAT_COUNTER_VALUE, STAT_COUNTER_ID,
                                            STAT_COUNTER_DESCRIPTION, STAT_COUNTER_SETS};
    static const enum KnownStat value[] = {STAT_COUNTER_VALUE};
    StatFilter filter = {0}, values = {0};
    if (!stat_filter_open(&values, plane, value, COUNT(value), err) && values.any &&
        !stat_filter_open(&filter, plane, wanted, COUNT(wanted), err)) {
        CounterSample device = {0};
        read_device(all, &device, plane, err);
        for (size_t i = 0; i < plane->n_lines && !err->code; i++)
            read_line(all, &filter, &device, &plane->host->lines[plane->first_line + i], err);
    }
    stat_filter_close(&values);
    stat_filter_close(&filter);
}

/* ---- values of samples ---- */

/* Returns a counter's value as in XProf: an integer that is not negative. */
static uint64_t whole(const PerfCounter *counter)
{
    if (counter->type != TYPE_DOUBLE) return counter->u64;
    if (!(counter->real > 0)) return 0;
    return counter->real >= 0x1p64 ? UINT64_MAX : (uint64_t)counter->real;
}

static int by_number(const void *a, const void *b)
{
    const PerfCounter *x = *(const PerfCounter *const *)a, *y = *(const PerfCounter *const *)b;
    if (x->number != y->number) return ORDER(x->number, y->number);
    return ORDER(x->event, y->event);
}

static bool is_number(const PerfCounter *c)
{
    return c->type == TYPE_DOUBLE || c->type == TYPE_INT64 || c->type == TYPE_UINT64;
}

static void sum_sample(CounterSample *sample, const PerfCounter **sorted, CounterSum *values)
{
    size_t n = 0;
    for (size_t i = 0; i < sample->n; i++)
        if (is_number(&sample->counters[i])) sorted[n++] = &sample->counters[i];
    sort_array(sorted, n, sizeof *sorted, by_number);
    sample->values = values;
    for (size_t i = 0; i < n; i++) {
        if (!i || sorted[i]->number != sorted[i - 1]->number)
            values[sample->n_values++] = (CounterSum){.number = sorted[i]->number};
        CounterSum *sum = &values[sample->n_values - 1];
        sum->last = whole(sorted[i]), sum->sum += sum->last;
    }
}

static void finish(PerfCounters *all, ProfErr *err)
{
    const PerfCounter **sorted = prof_alloc(all->n_counters * sizeof *sorted);
    all->values = prof_alloc(all->n_counters * sizeof *all->values);
    if (!sorted || !all->values) {
        prof_nomem(err);
    } else {
        for (size_t i = 0, first = 0; i < all->n; first += all->samples[i++].n) {
            all->samples[i].counters = &all->counters[first];
            if (all->samples[i].chip != CHIP_OTHER)
                sum_sample(&all->samples[i], sorted, &all->values[first]);
        }
    }
    prof_free(sorted);
}

/* ---- the analysis ---- */

static void perf_counters_release(void *result)
{
    PerfCounters *all = result;
    prof_free(all->samples);
    prof_free(all->counters);
    prof_free(all->values);
    text_table_free(&all->texts);
    arena_free(&all->arena);
    prof_free(all);
}

static void *perf_counters_make(Run *run, Host *only, ProfErr *err)
{
    Host *host = only ? only : &run->hosts[0]; /* a run of one host asks for all hosts */
    PerfCounters *all = prof_alloc(sizeof *all);
    if (!all) {
        prof_nomem(err);
        return NULL;
    }
    for (size_t i = 0; i < host->n_planes && !err->code; i++)
        if (is_tpu(&host->planes[i]) || host->planes[i].kind == PLANE_GPU)
            read_plane(all, &host->planes[i], err);
    if (!err->code && all->n) finish(all, err);
    if (!err->code) return all;
    perf_counters_release(all);
    return NULL;
}

const PerfCounters *host_perf_counters(Host *host, ProfErr *err)
{
    static const Analysis analysis = {perf_counters_make, perf_counters_release, NEEDS_ALL_HOSTS};
    return run_analysis(host->run, host, &analysis, err);
}
