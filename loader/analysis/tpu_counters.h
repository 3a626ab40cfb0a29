// SPDX-License-Identifier: Apache-2.0
/* tpu_counters.h: performance counters of devices, and what XProf makes of those of a TPU.
 *
 * A line of a device's plane is one sample: each of its events is a counter (stat performance_counter_id, else the event's
 * metadata id) with its value (stat counter_value). */
#ifndef PROF_TPU_COUNTERS_H
#define PROF_TPU_COUNTERS_H

#include "../run.h"

/* One counter of one sample. */
typedef struct {
    uint64_t event; /* ordinal in the run */
    const EventMeta *meta;
    uint64_t number;
    const Text *description, *sets; /* as the file has them, NULL: it does not */
    enum StatType type;             /* of the value */
    bool of_metadata;               /* all events of the metadata share the value */
    union {
        double real;
        uint64_t natural;
    };
} PerfCounter;

typedef struct {
    uint64_t number, last, sum; /* of all the sample's counters of this number; XProf's sum wraps */
} CounterSum;

enum CounterChip { CHIP_OTHER, CHIP_V6E, CHIP_V7X };

/* The counters of one line. */
typedef struct {
    const Line *line;
    const Text *device_type; /* NULL: the plane does not say */
    enum CounterChip chip;
    bool has_chip_id, has_device_id;
    int64_t chip_id;   /* global_chip_id, else device_id */
    int64_t device_id; /* without has_device_id the number in the plane's name */
    const PerfCounter *counters;
    size_t n;
    const CounterSum *values; /* by number; none unless the chip is known */
    size_t n_values;
} CounterSample;

typedef struct {
    CounterSample *samples; /* in order of the file */
    size_t n, capacity;
    PerfCounter *counters;
    size_t n_counters, counter_capacity;
    CounterSum *values;
    size_t n_values;
    TextTable texts;
    Arena arena;
} PerfCounters;

/* The counters of all devices of a host. Lives as long as the run. NULL with err set. */
const PerfCounters *host_perf_counters(Host *host, ProfErr *err);

/* ---- the utilization viewer ---- */

enum UtilizationKind { TENSORCORE, HBM, HBM_RATIO, SPARSECORE };
typedef struct {
    double weight;
    uint32_t first;
    int rows, row_step, n, step;
} CounterTerm;
typedef struct {
    int core;
    enum UtilizationKind kind;
    const char *name, *unit;
    CounterTerm peak, achieved[3];
} UtilizationRow;

/* The rows of a chip in XProf's order. */
const UtilizationRow *utilization_rows(enum CounterChip chip, size_t *n);
/* Of counters of one number the last counts, unless `whole` asks for their sum, as XProf's kernel utilization does. */
double utilization_achieved(const CounterSample *sample, const UtilizationRow *row, bool whole);
double utilization_peak(const CounterSample *sample, const UtilizationRow *row, bool whole);
/* XProf leaves rows out whose core did not run: of TensorCores and HBM those without cycles. */
bool utilization_shown(const CounterSample *sample, const UtilizationRow *row);

/* ---- kernel utilization: the metrics of one sample, over all its cores ---- */

typedef struct {
    const char *name;
    double value; /* percent, two decimals */
} KernelMetric;
enum { MOST_KERNEL_METRICS = 64 };
typedef struct {
    double duration_us, mxu_percent;
    bool mxu_is_anomaly; /* more than 100 percent */
    KernelMetric metrics[MOST_KERNEL_METRICS];
    size_t n;
} KernelUtilization;
void kernel_utilization(const CounterSample *sample, KernelUtilization *u);

#endif
