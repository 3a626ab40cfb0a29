// SPDX-License-Identifier: Apache-2.0
/* op_metrics.h: what the ops of a run sum to: XProf's OpStats databases, exact in picoseconds.
 *
 * A database has one record an op; an op is told by its program and its name. There is one of the host's threads, one of
 * the devices' cores (GPU kernels, or HLO ops of TensorCores with those of SparseCores below them), and the framework's
 * view of the latter. Those of several cores, devices and hosts are merged in order.
 *
 * Two clocks: time_ps and self_ps are what XProf's op tools sum, the device's own clock where the file has it; event_time_ps
 * and event_self_ps are of the events' durations, which XProf's Events DB and command line sum. Without a device clock
 * they are equal. Sums wrap at 2^64, as XProf's do. */
#ifndef PROF_OP_METRICS_H
#define PROF_OP_METRICS_H

#include "../run.h"
#include "tf_op.h"

typedef struct OpMetricsDb OpMetricsDb;

enum MemoryOperation { MEMORY_UNKNOWN, MEMORY_READ, MEMORY_WRITE };
enum { SPACE_HBM = 1, SPACE_CMEM = 2, SPACE_VMEM = 3 };
typedef struct {
    uint32_t operation; /* enum MemoryOperation */
    uint64_t space, bytes;
} MemoryAccess;

enum CoreType { CORE_UNKNOWN, CORE_TENSORCORE, CORE_SPARSECORE };
extern const char *const core_type_names[]; /* as XProf prints them: empty, TensorCore, SparseCore */

typedef struct {
    uint64_t program_id; /* 0: none; of a tf.data stage of the host db: the stage's id */
    const Text *name;
    /* texts are empty where there is none */
    const Text *category, *provenance /* the framework op's full name */, *long_name /* HLO text */, *deduplicated_name;
    const Text *source_file, *source_stack;
    int32_t source_line; /* -1: known to be unknown (GPU); 0: none */
    uint32_t occurrences, n_cores;
    bool is_eager, autotuned, has_energy;
    bool has_source; /* it was asked where it comes from, even if nobody knows */
    enum CoreType core_type;
    uint64_t time_ps, self_ps, min_ps, normalized_ps;
    uint64_t event_time_ps, event_self_ps;
    double flops, model_flops; /* floating operations of all occurrences: as the device counts them, as the model has them */
    uint64_t bytes_accessed, dma_stall_ps;
    /* What XProf's sums miss or count twice: see hlo_ops. Of fused instructions, hosts and frameworks there is none. */
    uint64_t executions, bytes_actual;       /* bytes_actual: if has_actual_bytes */
    double flops_actual, model_flops_actual; /* NaN: not known */
    bool has_actual_bytes;
    double energy_j;
    MemoryAccess *memory;
    size_t n_memory;
    OpMetricsDb *children; /* fused instructions, or the ops of an offloaded SparseCore program; NULL: none */
} OpMetrics;

struct OpMetricsDb {
    OpMetrics *ops; /* in order of insertion */
    size_t n_ops;
    uint64_t total_ps;                               /* the span measured, of all cores or threads together */
    uint64_t total_op_ps;                            /* sum of self_ps without IDLE */
    uint64_t normalized_total_ps;                    /* the same at the default clock */
    uint64_t idle_ps, busy_ps;                       /* duty cycle of the TPU chips */
    uint64_t sure_idle_ps, sure_busy_ps;             /* the same, custom calls of no known work left out: XProf's high confidence */
    uint64_t infeed_duration_ps, infeed_interval_ps; /* host: InfeedEnqueue ops but the last, and from begin to begin */
    size_t capacity, n_slots;
    uint32_t *slots; /* of the index by (program_id, name): position + 1 */
};

/* The ops of one host, or of all hosts of a run together. */
typedef struct {
    OpMetricsDb host, device;
    OpMetricsDb framework; /* of device */
    Arena arena;           /* owns texts, children and breakdowns of memory */
    TextTable texts;
    const Text *idle; /* "IDLE" */
} OpStats;

/* For all hosts of the run together, or for one. Lives as long as the run. NULL with err set. */
const OpStats *run_op_stats(Run *run, Host *only, ProfErr *err);

/* ---- reading a database ---- */

/* The op of this key, NULL when there is none. */
const OpMetrics *op_db_find(const OpMetricsDb *db, uint64_t program_id, const char *name, size_t n_bytes);
static inline bool op_is_idle(const OpMetrics *op) { return !strcmp(op->category->text, "IDLE"); }
/* Time in nested ops; wraps as XProf's. */
static inline uint64_t op_children_ps(const OpMetrics *op) { return op->time_ps - op->self_ps; }
/* Positions of the ops by self time, the longest first, then by name; those of equal name as XProf's std::sort leaves them.
 * NULL: no memory. To be freed with prof_free(). */
uint32_t *op_db_order(const OpMetricsDb *db);
/* 1 - total_op / total; 1 for an empty database. */
double op_db_idle_fraction(const OpMetricsDb *db);

/* Bytes moved in and out of a memory space: operation as enum MemoryOperation, or -1 for all. */
uint64_t op_memory_bytes(const OpMetrics *op, uint64_t space, int operation);
/* HBM bytes as XProf's tables take them: from the breakdown, or bytes_accessed where there is none. */
uint64_t op_hbm_bytes(const OpMetrics *op);

/* Division as in XProf: 0 where b is within 1e-10 of 0. */
static inline double safe_div(double a, double b) { return b < 1e-10 && b > -1e-10 ? 0 : a / b; }
static inline double ps_to_ns(uint64_t ps) { return (double)ps / 1e3; }
static inline double ps_to_us(uint64_t ps) { return (double)ps / 1e6; }
#define GIBI_PER_GIGA 1.073741824
static inline double giga_to_gibi(double x) { return x / GIBI_PER_GIGA; }
static inline double gibi_to_giga(double x) { return x * GIBI_PER_GIGA; }

/* ---- making one ---- */

/* The op of this key, added with its name (which must outlive the db) when it is not there; NULL: no memory. Pointers to
 * ops hold until the next op is added. */
OpMetrics *op_db_at(OpMetricsDb *db, uint64_t program_id, const Text *name);
/* Adds an op without a key, for children: op_db_find() does not see it. NULL: no memory. */
OpMetrics *op_db_append(OpMetricsDb *db);
/* The rest returns false when there is no memory. Breakdowns of memory are taken from the arena. */
bool op_add_memory(OpMetrics *op, Arena *arena, uint32_t operation, uint64_t space, uint64_t bytes);
/* Adds what src sums to dst, an op of the same key; texts and children are borrowed from src where dst has none. */
bool op_merge(OpMetrics *dst, const OpMetrics *src, Arena *arena, bool count_cores);
bool op_db_merge(OpMetricsDb *dst, const OpMetricsDb *src, Arena *arena, bool count_cores);
/* Appends the IDLE op: what of total_ps is in no op. */
bool op_db_add_idle(OpMetricsDb *db, const Text *idle);
/* Appends all ops of src, by no key. */
bool op_db_append_all(OpMetricsDb *db, const OpMetricsDb *src);
/* A copy in the arena to be the children of an op; without an index. NULL: no memory. */
OpMetricsDb *op_db_keep(const OpMetricsDb *db, Arena *arena);
void op_db_free(OpMetricsDb *db); /* not what children hold */

#endif
