// SPDX-License-Identifier: Apache-2.0
/* tpu_counters.h: performance counters of devices, and the utilization that XProf computes from a
 * TPU's.
 *
 * Each line of a device's plane with counters is one sample. Each of its events is a counter (stat
 * performance_counter_id, else the event's metadata id) with its value (stat counter_value). */
#ifndef PROF_TPU_COUNTERS_H
#define PROF_TPU_COUNTERS_H

#include "../../run.h"

/* One counter of one sample. */
typedef struct {
    uint64_t event; /* ordinal in the run */
    const EventMeta *meta;
    uint64_t number;
    const Text *description, *sets; /* as in the file; NULL if missing */
    enum StatType type;             /* type of the value */
    bool of_metadata; /* the value is a stat of the metadata, shared by all its events */
    union {
        double real;
        uint64_t u64;
    };
} PerfCounter;

/* The counters with one number. */
typedef struct {
    /* Last value and sum of all the sample's counters with this number. The sum wraps as in
     * XProf. */
    uint64_t number, last, sum;
} CounterSum;

enum CounterChip { CHIP_OTHER, CHIP_V6E, CHIP_V7X };

/* The counters of one line. */
typedef struct {
    const Line *line;
    const Text *device_type; /* NULL: the plane does not contain it */
    enum CounterChip chip;
    bool has_chip_id, has_device_id;
    int64_t chip_id;   /* global_chip_id, else device_id */
    int64_t device_id; /* the number in the plane's name if !has_device_id */
    const PerfCounter *counters;
    size_t n;
    const CounterSum *values; /* by number; empty if the chip is unknown */
    size_t n_values;
} CounterSample;

typedef struct {
    CounterSample *samples; /* in file order */
    size_t n, capacity;
    PerfCounter *counters;
    size_t n_counters, counter_capacity;
    CounterSum *values;
    size_t n_values;
    TextTable texts;
    Arena arena;
} PerfCounters;

/* Returns the counters of all devices of a host. */
const PerfCounters *host_perf_counters(Host *host, ProfErr *err);

/* ---- the utilization viewer ---- */

enum UtilizationKind { TENSORCORE, HBM, HBM_RATIO, SPARSECORE };
/* weight x the sum over `rows` x `n` counters with the numbers first + row * row_step + i * step.
 */
typedef struct {
    double weight;
    uint32_t first;
    int rows, row_step, n, step;
} CounterTerm;
/* A row of the utilization viewer: an achieved value and its peak. */
typedef struct {
    int core;
    enum UtilizationKind kind;
    const char *name, *unit;
    CounterTerm peak, achieved[3];
} UtilizationRow;

/* Returns the rows of a chip, in XProf's order. */
const UtilizationRow *utilization_rows(enum CounterChip chip, size_t *n);
/* Return the achieved and the peak value of a row. If several counters have one number, the last
 * counts or, if `whole`, their sum (as in XProf's kernel utilization). */
double utilization_achieved(const CounterSample *sample, const UtilizationRow *row, bool whole);
double utilization_peak(const CounterSample *sample, const UtilizationRow *row, bool whole);
/* Returns whether XProf shows the row. XProf leaves out TensorCores and HBM without cycles, because
 * their core did not run. */
bool utilization_shown(const CounterSample *sample, const UtilizationRow *row);

/* ---- kernel utilization: the metrics of one sample, over all its cores ---- */

typedef struct {
    const char *name;
    double value; /* percent, rounded to two decimals */
} KernelMetric;
enum { MOST_KERNEL_METRICS = 64 };
/* The metrics of one sample. */
typedef struct {
    double duration_us, mxu_percent;
    bool mxu_is_anomaly; /* above 100 percent */
    KernelMetric metrics[MOST_KERNEL_METRICS];
    size_t n;
} KernelUtilization;
/* Computes the metrics of a sample. */
void kernel_utilization(const CounterSample *sample, KernelUtilization *u);

#endif
