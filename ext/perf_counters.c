// SPDX-License-Identifier: Apache-2.0
/* perf_counters.c: the tables perf_counters, utilization and kernel_utilization: hardware counters
 * of devices, and the utilization of a TPU's units that follows from them.
 *
 *   SELECT counter, value FROM perf_counters('logs') WHERE chip = 0 AND sample = 0 AND value > 0;
 *   SELECT sample, name, 100.0 * achieved / peak AS percent
 *     FROM utilization('logs') WHERE peak > 0;
 *   SELECT device_id, sample, value
 *     FROM kernel_utilization('logs') WHERE metric = 'mxu_utilization'; */
#include "../loader/analysis/counters/tpu_counters.h"

#include "prof.h"
SQLITE_EXTENSION_INIT3

/* State of perf_counters and utilization. */
typedef struct {
    const PerfCounters *all;
    size_t sample, nth; /* nth: counter of the sample, or row of its chip */
} SampleAt;

static const CounterSample *sample_at(const SampleAt *at) { return &at->all->samples[at->sample]; }

static bool open_samples(RowCursor *c, SampleAt *at)
{
    if (!c->started) at->all = host_perf_counters(c->host, &c->err);
    at->nth += c->started;
    return at->all;
}

/* ---- perf_counters ---- */

#define PERF_COUNTERS_COLUMNS(C)                                                                   \
    C(PC_RUN, RUN_DOC)                                                                             \
    C(PC_HOST, HOST_DOC)                                                                           \
    C(PC_CHIP, "chip", "INTEGER", NULL,                                                            \
      "global_chip_id of the device, or its device_id; NULL if the plane records neither (XProf "  \
      "omits these planes)",                                                                       \
      "perf_counters Chip")                                                                        \
    C(PC_KERNEL, "kernel", "TEXT", NULL, "name of the counter's line", "perf_counters Kernel")     \
    C(PC_SAMPLE, "sample", "INTEGER", NULL,                                                        \
      "id of the counter's line; all counters of a line were read together",                       \
      "perf_counters Sample")                                                                      \
    C(PC_COUNTER, "counter", "TEXT", NULL, "name of the counter's event, in lower case",           \
      "perf_counters Counter")                                                                     \
    C(PC_VALUE, "value", "INTEGER", NULL,                                                          \
      "value of the counter as XProf reads it: 0 unless stored as an integer, modulo 2^64 if "     \
      "negative, decimal TEXT from 2^63 on; NULL if only the metadata has the value, which XProf " \
      "omits",                                                                                     \
      "perf_counters Value")                                                                       \
    C(PC_DESCRIPTION, "description", "TEXT", NULL,                                                 \
      "what the counter counts; NULL if the file has no description",                              \
      "performance_counter_description")                                                           \
    C(PC_SETS, "counter_set", "TEXT", NULL,                                                        \
      "names of the sets that the counter belongs to; NULL if the file names none",                \
      "performance_counter_sets")                                                                  \
    C(PC_ACTUAL, "value_actual", "", NULL,                                                         \
      "value of the counter as stored, integer or real; NULL if it is not a number",               \
      "counter_value")                                                                             \
    C(PC_NUMBER, "counter_id", "INTEGER", NULL,                                                    \
      "number of the counter, or the id of the event's metadata", "performance_counter_id")        \
    C(PC_PLANE, PLANE_ID_DOC)                                                                      \
    C(PC_LINE, LINE_ID_DOC)                                                                        \
    C(PC_EVENT, EVENT_ID_DOC)                                                                      \
    C(PC_SOURCE, SOURCE_DOC)
enum { PERF_COUNTERS_COLUMNS(COLUMN_ENUM) };
static const Column perf_counters_columns[] = {PERF_COUNTERS_COLUMNS(COLUMN_DOC)};

static bool perf_counters_next(RowCursor *c)
{
    SampleAt *at = c->state;
    if (!open_samples(c, at)) return false;
    for (; at->sample < at->all->n; at->sample++, at->nth = 0)
        if (at->nth < sample_at(at)->n) {
            c->place = sample_at(at)->counters[at->nth].event;
            return true;
        }
    return false;
}

static void result_lower(sqlite3_context *ctx, const Text *text)
{
    char *lower = sqlite3_malloc64((sqlite3_uint64)text->n_bytes + 1);
    if (!lower) {
        sqlite3_result_error_nomem(ctx);
        return;
    }
    for (uint32_t i = 0; i < text->n_bytes; i++)
        lower[i] = (char)(text->text[i] >= 'A' && text->text[i] <= 'Z' ? text->text[i] + 'a' - 'A'
                                                                       : text->text[i]);
    sqlite3_result_text64(ctx, lower, text->n_bytes, sqlite3_free, SQLITE_UTF8);
}

static void result_actual(sqlite3_context *ctx, const PerfCounter *counter)
{
    if (counter->type == TYPE_DOUBLE) sqlite3_result_double(ctx, counter->real);
    if (counter->type == TYPE_INT64) sqlite3_result_int64(ctx, (sqlite3_int64)counter->u64);
    if (counter->type == TYPE_UINT64) result_u64(ctx, counter->u64);
}

static void perf_counters_column(RowCursor *c, sqlite3_context *ctx, int column)
{
    const SampleAt *at = c->state;
    const CounterSample *sample = sample_at(at);
    const PerfCounter *counter = &sample->counters[at->nth];
    switch (column) {
    case PC_CHIP:
        if (sample->has_chip_id) sqlite3_result_int64(ctx, sample->chip_id);
        break;
    case PC_KERNEL: result_text(ctx, sample->line->name); break;
    case PC_SAMPLE: sqlite3_result_int64(ctx, sample->line->proto_id); break;
    case PC_COUNTER: result_lower(ctx, counter->meta->name); break;
    case PC_VALUE:
        if (!counter->of_metadata) result_u64(ctx, counter->type == TYPE_DOUBLE ? 0 : counter->u64);
        break;
    case PC_DESCRIPTION: result_text(ctx, counter->description); break;
    case PC_SETS: result_text(ctx, counter->sets); break;
    case PC_ACTUAL: result_actual(ctx, counter); break;
    case PC_NUMBER: result_u64(ctx, counter->number); break;
    case PC_PLANE: sqlite3_result_int64(ctx, sample->line->plane->plane_id); break;
    case PC_LINE: sqlite3_result_int64(ctx, sample->line->line_id); break;
    case PC_EVENT: sqlite3_result_int64(ctx, (sqlite3_int64)counter->event); break;
    default: break;
    }
}

static const RowSource perf_counters_rows = {
    .next = perf_counters_next,
    .state_bytes = sizeof(SampleAt),
    .column = perf_counters_column,
    .nothing = "no event on a device has a counter (stat counter_value)",
    .needs = NEED_EVENTS};
const Table perf_counters_table = {"perf_counters",
                                   "one hardware counter in one sample, in file order",
                                   perf_counters_columns,
                                   COUNT(perf_counters_columns),
                                   &row_table_module,
                                   &perf_counters_rows,
                                   3000,
                                   "0.1.0",
                                   "SELECT chip, counter, value FROM perf_counters"};

/* ---- utilization ---- */

#define UTILIZATION_COLUMNS(C)                                                                     \
    C(UT_RUN, RUN_DOC)                                                                             \
    C(UT_HOST, HOST_DOC)                                                                           \
    C(UT_HOST_INDEX, "host_index", "INTEGER", NULL,                                                \
      "index of the host in the source; XProf shows only the first host",                          \
      "utilization_viewer host")                                                                   \
    C(UT_DEVICE, "device", "INTEGER", NULL,                                                        \
      "device_id of the plane; NULL if the plane does not record it (XProf omits these planes)",   \
      "utilization_viewer device")                                                                 \
    C(UT_SAMPLE, "sample", "INTEGER", NULL, "id of the sample's line",                             \
      "utilization_viewer sample")                                                                 \
    C(UT_NODE, "node", "INTEGER", NULL, "core of the chip", "utilization_viewer node")             \
    C(UT_NAME, "name", "TEXT", NULL, "hardware unit and its kind of work",                         \
      "utilization_viewer name")                                                                   \
    C(UT_ACHIEVED, "achieved", "REAL", "see unit", "amount of work that the unit did",             \
      "utilization_viewer achieved")                                                               \
    C(UT_PEAK, "peak", "REAL", "see unit",                                                         \
      "largest amount of work possible in the same time; 0 if the core did not run",               \
      "utilization_viewer peak")                                                                   \
    C(UT_UNIT, "unit", "TEXT", NULL,                                                               \
      "unit of achieved and peak: cycles, instructions, bytes, or percent (bytes of both)",        \
      "utilization_viewer unit")                                                                   \
    C(UT_FRACTION, "utilization_fraction", "REAL", "fraction",                                     \
      "achieved / peak; above 1 if counters are inconsistent; NULL if peak is 0", "libprofsql")    \
    C(UT_KERNEL, "kernel", "TEXT", NULL, "name of the sample's line", "XLine.name")                \
    C(UT_DEVICE_TYPE, "device_type", "TEXT", NULL,                                                 \
      "type of the device: TPU v6 Lite or TPU v7x, the only types whose units XProf supports",     \
      "device_type_string")                                                                        \
    C(UT_LINE, LINE_ID_DOC)                                                                        \
    C(UT_SOURCE, SOURCE_DOC)
enum { UTILIZATION_COLUMNS(COLUMN_ENUM) };
static const Column utilization_columns[] = {UTILIZATION_COLUMNS(COLUMN_DOC)};

static bool utilization_next(RowCursor *c)
{
    SampleAt *at = c->state;
    if (!open_samples(c, at)) return false;
    for (; at->sample < at->all->n; at->sample++, at->nth = 0) {
        const CounterSample *sample = sample_at(at);
        size_t n_rows;
        const UtilizationRow *rows = utilization_rows(sample->chip, &n_rows);
        while (at->nth < n_rows && !utilization_shown(sample, &rows[at->nth])) at->nth++;
        if (at->nth < n_rows) {
            c->place = place_pair(sample->line->line_id, 16, at->nth);
            return true;
        }
    }
    return false;
}

static void utilization_column(RowCursor *c, sqlite3_context *ctx, int column)
{
    const SampleAt *at = c->state;
    const CounterSample *sample = sample_at(at);
    size_t n_rows;
    const UtilizationRow *row = &utilization_rows(sample->chip, &n_rows)[at->nth];
    double peak;
    switch (column) {
    case UT_HOST_INDEX:
        sqlite3_result_int64(ctx, c->from->only ? 0 : c->host - c->from->run->hosts);
        break;
    case UT_DEVICE:
        if (sample->has_device_id) sqlite3_result_int64(ctx, sample->device_id);
        break;
    case UT_SAMPLE: sqlite3_result_int64(ctx, sample->line->proto_id); break;
    case UT_NODE: sqlite3_result_int(ctx, row->core); break;
    case UT_NAME: result_static(ctx, row->name); break;
    case UT_ACHIEVED: sqlite3_result_double(ctx, utilization_achieved(sample, row, false)); break;
    case UT_PEAK: sqlite3_result_double(ctx, utilization_peak(sample, row, false)); break;
    case UT_UNIT: result_static(ctx, row->unit); break;
    case UT_FRACTION:
        if ((peak = utilization_peak(sample, row, false)) > 0)
            sqlite3_result_double(ctx, utilization_achieved(sample, row, false) / peak);
        break;
    case UT_KERNEL: result_text(ctx, sample->line->name); break;
    case UT_DEVICE_TYPE: result_text(ctx, sample->device_type); break;
    case UT_LINE: sqlite3_result_int64(ctx, sample->line->line_id); break;
    default: break;
    }
}

static const RowSource utilization_table_rows = {.next = utilization_next,
                                                 .state_bytes = sizeof(SampleAt),
                                                 .column = utilization_column,
                                                 .nothing =
                                                     "no hardware counters of a TPU v6e or v7x",
                                                 .needs = NEED_EVENTS};
const Table utilization_table = {
    "utilization",
    "one hardware unit of one TPU core in one sample, with its utilization from hardware counters "
    "(v6e, v7x)",
    utilization_columns,
    COUNT(utilization_columns),
    &row_table_module,
    &utilization_table_rows,
    500,
    "0.1.0",
    "SELECT node, name, achieved, peak, utilization_fraction FROM utilization"};

/* ---- kernel_utilization ---- */

#define KERNEL_UTILIZATION_COLUMNS(C)                                                              \
    C(KU_RUN, RUN_DOC)                                                                             \
    C(KU_HOST, HOST_DOC)                                                                           \
    C(KU_DEVICE, "device_id", "INTEGER", NULL,                                                     \
      "device_id of the plane, or the number in the plane's name", "kernel_utilization device_id") \
    C(KU_TYPE, "device_type", "TEXT", NULL,                                                        \
      "type of the device: TPU v6 Lite or TPU v7x, the only types whose units XProf supports",     \
      "kernel_utilization device_type")                                                            \
    C(KU_KERNEL, "kernel_name", "TEXT", NULL, "always default_kernel, the only name in XProf",     \
      "kernel_utilization kernel_name")                                                            \
    C(KU_DURATION, "duration_us", "REAL", "us",                                                    \
      "cycles of the busier TensorCore divided by the chip's clock rate; 0 if unknown",            \
      "kernel_utilization duration_us")                                                            \
    C(KU_METRIC, "metric", "TEXT", NULL,                                                           \
      "name of the metric: mxu_utilization; MXU BF16, MXU FP8, MXU Int4 and MXU Int8 (shares of "  \
      "the matrix units' work); then the units of the table utilization",                          \
      "kernel_utilization other_metrics")                                                          \
    C(KU_VALUE, "value", "REAL", "percent",                                                        \
      "value of the metric over all cores, with two decimals; units are capped at 100, "           \
      "mxu_utilization is not",                                                                    \
      "kernel_utilization")                                                                        \
    C(KU_ANOMALY, "mxu_is_anomaly", "INTEGER", "0 or 1", "1: mxu_utilization is above 100",        \
      "kernel_utilization mxu_is_anomaly")                                                         \
    C(KU_SAMPLE, "sample", "INTEGER", NULL, "id of the sample's line", "XLine.id")                 \
    C(KU_KERNEL_ACTUAL, "kernel_name_actual", "TEXT", NULL,                                        \
      "name of the sample's line; NULL if it has no name", "XLine.name")                           \
    C(KU_PLANE, PLANE_ID_DOC)                                                                      \
    C(KU_LINE, LINE_ID_DOC)                                                                        \
    C(KU_SOURCE, SOURCE_DOC)
enum { KERNEL_UTILIZATION_COLUMNS(COLUMN_ENUM) };
static const Column kernel_utilization_columns[] = {KERNEL_UTILIZATION_COLUMNS(COLUMN_DOC)};

typedef struct {
    SampleAt at;
    const CounterSample *sample; /* the sample whose metrics `metrics` has */
    KernelUtilization metrics;
} KernelUtilizationAt;

static bool kernel_utilization_next(RowCursor *c)
{
    KernelUtilizationAt *state = c->state;
    SampleAt *at = &state->at;
    if (!open_samples(c, at)) return false;
    for (; at->sample < at->all->n; at->sample++, at->nth = 0) {
        const CounterSample *sample = sample_at(at);
        if (sample->chip == CHIP_OTHER) continue;
        if (state->sample != sample) kernel_utilization(sample, &state->metrics);
        state->sample = sample;
        if (at->nth < state->metrics.n) {
            c->place = place_pair(sample->line->line_id, 16, at->nth);
            return true;
        }
    }
    return false;
}

static void kernel_utilization_column(RowCursor *c, sqlite3_context *ctx, int column)
{
    const KernelUtilizationAt *state = c->state;
    const CounterSample *sample = state->sample;
    const KernelUtilization *u = &state->metrics;
    size_t nth = state->at.nth;
    switch (column) {
    case KU_DEVICE: sqlite3_result_int64(ctx, sample->device_id); break;
    case KU_TYPE: result_text(ctx, sample->device_type); break;
    case KU_KERNEL: result_static(ctx, "default_kernel"); break;
    case KU_DURATION: sqlite3_result_double(ctx, u->duration_us); break;
    case KU_METRIC: result_static(ctx, u->metrics[nth].name); break;
    case KU_VALUE: sqlite3_result_double(ctx, u->metrics[nth].value); break;
    case KU_ANOMALY: sqlite3_result_int(ctx, u->mxu_is_anomaly); break;
    case KU_SAMPLE: sqlite3_result_int64(ctx, sample->line->proto_id); break;
    case KU_KERNEL_ACTUAL: result_nonempty(ctx, sample->line->name); break;
    case KU_PLANE: sqlite3_result_int64(ctx, sample->line->plane->plane_id); break;
    case KU_LINE: sqlite3_result_int64(ctx, sample->line->line_id); break;
    default: break;
    }
}

static const RowSource kernel_utilization_rows = {.next = kernel_utilization_next,
                                                  .state_bytes = sizeof(KernelUtilizationAt),
                                                  .column = kernel_utilization_column,
                                                  .nothing =
                                                      "no hardware counters of a TPU v6e or v7x",
                                                  .needs = NEED_EVENTS};
const Table kernel_utilization_table = {
    "kernel_utilization",
    "one metric that XProf computes from one sample of a TPU's hardware counters",
    kernel_utilization_columns,
    COUNT(kernel_utilization_columns),
    &row_table_module,
    &kernel_utilization_rows,
    200,
    "0.1.0",
    "SELECT kernel_name, metric, value FROM kernel_utilization"};
