// SPDX-License-Identifier: Apache-2.0
/* steps.h: what each step of a run spent its time on, as in XProf's step database.
 *
 * A step is a group of events (grouping.h), with the time that its markers span. Its time is split
 * for each core:
 *   - generic: all GPUs of a host are one core, and so are the threads of a host without devices.
 *     Each moment counts as the most important activity then (enum StepType, rising), so types add
 *     up to the step's duration;
 *   - TensorCore: self times of its ops by category;
 *   - SparseCore: busy or idle.
 *
 * Steps of several hosts are aligned by time, cut to those that all hosts have, and numbered from
 * 0. */
#ifndef PROF_STEPS_H
#define PROF_STEPS_H

#include "../device/cover.h"
#include "../device/devices.h"
#include "../ops/op_metrics.h"

/* What a generic core did, by increasing priority. */
enum StepType {
    TIME_UNKNOWN,
    TIME_HOST_COMPUTE,
    TIME_HOST_COMPILE,
    TIME_HOST_TO_HOST,
    TIME_HOST_TO_DEVICE,
    TIME_HOST_PREPARE,
    TIME_COLLECTIVES,
    TIME_WAIT_INPUT,
    TIME_DEVICE_TO_DEVICE,
    TIME_DEVICE_TO_HOST,
    TIME_COMPUTE_32,
    TIME_COMPUTE_16,
    TIME_WAIT_DEVICE, /* current profilers write neither this one nor the next */
    TIME_WAIT_HOST,
    N_STEP_TYPES,
};
/* As XProf spells them: UNKNOWN_TIME, ... */
extern const char *const step_type_names[N_STEP_TYPES];

/* Categories that XProf's pages show for a step, in their order. */
enum StepCategory {
    STEP_DEVICE_COMPUTE,
    STEP_DEVICE_TO_DEVICE,
    STEP_COLLECTIVES,
    STEP_HOST_COMPUTE,
    STEP_KERNEL_LAUNCH,
    STEP_INPUT,
    STEP_OUTPUT,
    STEP_COMPILATION,
    STEP_ALL_OTHERS,
    N_STEP_CATEGORIES,
};
extern const char *const step_category_names[N_STEP_CATEGORIES]; /* "Device compute", ... */

/* Core ids of SparseCores start here. When XProf sums the ops of a step, it treats a TensorCore
 * with an id from here on as a SparseCore. */
enum { SPARSECORE_IDS = 1000000 };

enum StepCoreKind { STEP_CORE_GENERIC, STEP_CORE_TENSOR, STEP_CORE_SPARSE };

/* Time of one category. */
typedef struct {
    const Text *category; /* category of an HLO op; IDLE if no op ran */
    uint64_t ps;
} StepShare;

/* One step on one core. Times count from the session start of the core's host. */
typedef struct {
    /* 1 for all GPUs or threads of the host, else the TPU core's id. With several hosts, 1000 x the
     * host's index in the run is added. */
    uint32_t core_id;
    enum StepCoreKind kind;
    const Host *host;
    const Plane *plane; /* plane of a TPU core, else NULL */
    uint64_t begin_ps, duration_ps;
    /* Generic: time by enum StepType; NULL if XProf does not recognise the step. The step has a
     * type if its bit in `types` is set, even if the time is 0. */
    const uint64_t *type_ps;
    unsigned types;
    /* Generic: like type_ps, but including the host's threads, with copies recognised by all names
     * that profilers use, and with compiling. TensorCore: what it did during the step. NULL: the
     * same as type_ps or shares. */
    const uint64_t *actual_ps;
    bool has_threads; /* events of host threads are recorded */
    /* TensorCore: time by category, ordered by category name, as in XProf's step database. */
    const StepShare *shares;
    size_t n_shares;
    uint64_t total_ps; /* the step's duration, or the sum of self times if that is longer */
    /* Part of IDLE that XProf treats as waiting for input, because of what the host did. It is
     * moved from IDLE to infeed. */
    uint64_t input_ps;
    uint64_t busy_ps; /* SparseCore: time in which it was busy */
} StepCore;

enum StepTransfer {
    TRANSFER_HOST_TO_DEVICE,
    TRANSFER_DEVICE_TO_HOST,
    TRANSFER_DEVICE_TO_DEVICE,
    N_STEP_TRANSFERS
};
/* Transfers of one kind. */
typedef struct {
    uint64_t count, ps, bytes; /* bytes: 0 if the profiler does not report them */
} StepTransfers;

/* Why a group of one host is not a step. */
enum StepDrop {
    STEP_KEPT,
    STEP_NO_MARKER,        /* has no marker, so its duration is unknown */
    STEP_NO_EVENTS,        /* has a marker, but nothing ran in it on some core */
    STEP_NO_TIME,          /* its markers have duration 0 */
    STEP_NO_COMPUTE,       /* no op computed in it */
    STEP_OUTSIDE_XPROF,    /* marked in a way that XProf does not recognise */
    STEP_NOT_ON_ALL_CORES, /* TPU: some cores lack it */
    /* First or last of more than five steps, so it may be incomplete. XProf's pod viewer shows it.
     */
    STEP_FIRST_OR_LAST,
};
/* Executions of one op in one step, on all of a host's TensorCores. */
typedef struct StepOpRecord {
    uint32_t op, occurrences; /* op: position in HostSteps.ops */
    uint64_t time_ps;
} StepOpRecord;
/* A step, or a group that is not one, of one host. */
typedef struct HostStep {
    int64_t group;    /* -1 if none */
    const char *name; /* NULL if none */
    /* For STEP_OUTSIDE_XPROF: the framework's number, or counted from 0. */
    uint32_t number;
    uint64_t begin_ps, duration_ps;
    uint64_t range_begin_ps, range_ps; /* longest marker on host threads, if has_range */
    bool has_range;
    enum StepDrop dropped;
    StepCore *cores; /* with core ids as if the run had no other host */
    size_t n_cores;
    StepTransfers transfers[N_STEP_TRANSFERS];
    uint64_t n_collectives;
    /* All-reduce time of the device with the most. TPU: of ops that name an all-reduce. GPU: of all
     * collectives, minus their lines' start; wraps as in XProf. */
    uint64_t xprof_all_reduce_ps;
    bool host_spoke; /* host threads have events in the step */
    /* Time in which host threads wait for input or copy it to the device. Overlaps count twice. */
    uint64_t host_input_ps;
    const StepOpRecord *ops; /* TPU: executions of its ops */
    size_t n_ops;
    /* In host_steps_with_unknown(): times of generic cores in which no activity counts, in order.
     */
    const Stretch *unknown;
    size_t n_unknown;
} HostStep;

/* The steps of one host. */
typedef struct {
    Host *host;
    bool has_device, is_tpu;
    HostStep *steps; /* by group; steps without a group last */
    size_t n_steps, step_capacity;
    /* GPU: 16-bit and 32-bit computing in all groups, including those that are not steps. */
    uint64_t compute_16bit_ps, compute_32bit_ps;
    uint64_t compute_16bit_ps_actual, compute_32bit_ps_actual;
    OpMetricsDb ops;      /* cost of one occurrence of each TPU op; without an index */
    bool has_infeed;      /* an op reads input, so idle time is not treated as input */
    Arena arena, *arenas; /* arenas: one for each parallel task */
    size_t n_arenas;
    OpStats *texts; /* for the texts */
} HostSteps;

/* A step of the run. */
typedef struct {
    /* XProf's number: the group, or counted from 0 if hosts are merged. */
    uint32_t number;
    const char *name;               /* NULL: none */
    uint64_t begin_ps, duration_ps; /* of its longest core that is not a SparseCore */
    StepCore *cores;                /* by core_id */
    size_t n_cores;
    uint64_t xprof_all_reduce_ps;    /* largest of its hosts */
    const HostStep *const *of_hosts; /* one for each host in StepDb.hosts */
    /* In run_all_steps(): the step is not in run_steps(). */
    bool dropped;
    bool outside_xprof;  /* in run_marked_steps(): cores have only actual_ps */
    int64_t kept_number; /* its number in run_steps(); -1 if it is not in there */
} Step;

/* The steps of a run. */
typedef struct {
    Step *steps; /* by number */
    size_t n_steps;
    /* Hosts whose steps count. If some hosts have devices, those without devices do not. */
    const HostSteps **hosts;
    uint32_t *host_places; /* their indexes in the run, for core ids */
    size_t n_hosts;
    enum Hardware hardware;
    bool merged;          /* steps of several hosts, which XProf numbers from 0 */
    bool drops_ends;      /* a host has further steps, which XProf drops as incomplete */
    bool empty_intersect; /* hosts have steps, but no step in common */
    /* XProf has a database of the ops of complete steps, which may be empty. */
    bool has_complete_steps;
    uint64_t compute_16bit_ps, compute_32bit_ps, compute_16bit_ps_actual, compute_32bit_ps_actual;
    Arena arena;
} StepDb;

/* Returns XProf's step database of all hosts, or of `only`: what its overview, input pipeline and
 * roofline show. */
const StepDb *run_steps(Run *run, Host *only, ProfErr *err);
/* Like run_steps(), but including the steps that it drops as incomplete: what XProf's pod viewer
 * shows. */
const StepDb *run_all_steps(Run *run, Host *only, ProfErr *err);
/* Returns the steps that XProf does not recognise (STEP_OUTSIDE_XPROF), for hosts that have no
 * others. */
const StepDb *run_marked_steps(Run *run, Host *only, ProfErr *err);
/* Returns run_marked_steps() if run_all_steps() is empty. NULL without err set if it is not. */
const StepDb *run_outside_steps(Run *run, Host *only, ProfErr *err);
/* Returns the steps that the table `steps` shows: those outside XProf if there are any. For a
 * single host, includes the steps that XProf drops; merged hosts have separate numbers. */
const StepDb *run_shown_steps(Run *run, Host *only, ProfErr *err);
/* Like run_steps(), for callers that only need which steps there are, when, and their ops. Faster
 * for hosts with GPUs, because threads are not read: their steps then have no names, no times by
 * type, no transfers, no collectives and nothing from the host. */
const StepDb *run_step_outlines(Run *run, Host *only, ProfErr *err);
/* Returns every group of a host that has steps or events, with the reason if it is not a step. */
const HostSteps *host_steps(Host *host, ProfErr *err);
/* Returns the same steps once more, with HostStep.unknown. */
const HostSteps *host_steps_with_unknown(Host *host, ProfErr *err);
/* Computes run_op_stats() and of_host() of each host, host by host, so that the events of a
 * streaming run are read once. Does nothing if `only` is set. */
int run_ops_and_steps(Run *run, Host *only, const HostSteps *(*of_host)(Host *host, ProfErr *err),
                      ProfErr *err);
/* Like host_steps(), with the limits of run_step_outlines(), and without steps that only occur on
 * threads. Records no issues. */
const HostSteps *host_step_outlines(Host *host, ProfErr *err);
/* Returns whether outlines are cheaper: the host has GPUs and its host_steps() is not computed
 * yet. */
bool has_step_outlines(Host *host);

/* Sums a core's time in ps into XProf's nine categories; zeros for SparseCores. */
void step_categories(const StepCore *core, uint64_t ps[N_STEP_CATEGORIES]);
/* Like step_categories(), from actual_ps. step_tells_compiling() returns whether compiling is
 * known: for cores with threads, not for TPUs. */
void step_actual_categories(const StepCore *core, uint64_t ps[N_STEP_CATEGORIES]);
bool step_tells_compiling(const StepCore *core);
/* Returns the largest category; of equal ones the last by name, as in XProf. */
enum StepCategory step_bottleneck(const uint64_t ps[N_STEP_CATEGORIES]);

/* A TensorCore's step as in XProf's TpuStepBreakdown. */
typedef struct {
    uint64_t infeed_ps, host_outfeed_ps, wait_for_scv0_ps, scv0_transform_ps, scv0_outfeed_ps,
        all_reduce_ps, send_ps, recv_ps, host_send_ps, host_recv_ps,
        /* tc_idle and tc_busy are differences, which wrap as in XProf. */
        megacore_wait_ps, high_flops_ps, tc_idle_ps, tc_busy_ps;
} TensorCoreStep;
/* Returns the breakdown of a TensorCore's step. */
TensorCoreStep tensorcore_step(const StepCore *core);
/* XProf's times of a step over its TensorCores; all 0 if it has none. */
typedef struct {
    uint64_t tc_compute_ps, tc_infeed_ps, tc_outfeed_ps, tc_idle_ps, host_transfer_ps,
        all_reduce_ps, scv0_compute_ps, scv0_infeed_ps;
    /* tc_idle_ps by XProf's own arithmetic, a difference of times in ms. */
    double tc_idle_ms;
    const StepCore *max_infeed; /* core with the most infeed; NULL if there is no TensorCore */
    double infeed_percent_average, infeed_percent_min, infeed_percent_max;
    /* Time on duty, averaged over the TensorCores. */
    uint64_t tc_active_ps;
    uint64_t sc_step_ps, sc_compute_ps, sc_idle_ps; /* of the SparseCores */
    size_t n_tensorcores, n_sparsecores;
} TpuStep;
/* Returns the times of a step. */
TpuStep tpu_step(const Step *step);

/* A summary over steps, as in XProf, with the sample deviation. All are 0 without values; the
 * deviation is 0 if all values are equal. */
typedef struct {
    double average, minimum, maximum, deviation;
    /* What XProf shows for zeros: the smallest double, and NaN for a single 0. */
    double xprof_maximum, xprof_deviation;
} StepSummary;
/* Returns the summary of n values. */
StepSummary step_summary(const double *values, size_t n);

#endif
