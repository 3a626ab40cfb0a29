// SPDX-License-Identifier: Apache-2.0
/* op_metrics.h: sums of the ops of a run: XProf's OpStats databases, in exact picoseconds.
 *
 * A database has one record for each op, which is identified by its program and its name. There is
 * one database for the host's threads, one for the devices' cores (GPU kernels, or HLO ops of
 * TensorCores with SparseCore ops as their children), and one that sums the devices' by framework
 * op. Several cores, devices and hosts are merged in order.
 *
 * There are two clocks. time_ps and self_ps are what XProf's op tools sum: device time if the file
 * has it. event_time_ps and event_self_ps are the events' durations, which XProf's Events DB and
 * command line sum. Without device times they are equal. Sums wrap at 2^64, as in XProf. */
#ifndef PROF_OP_METRICS_H
#define PROF_OP_METRICS_H

#include "../../run.h"
#include "../../base/tf_op.h"

typedef struct OpMetricsDb OpMetricsDb;

enum MemoryOperation { MEMORY_UNKNOWN, MEMORY_READ, MEMORY_WRITE };
enum { SPACE_HBM = 1, SPACE_CMEM = 2, SPACE_VMEM = 3 };
/* Bytes that an op reads from or writes to a memory space. */
typedef struct {
    uint32_t operation; /* enum MemoryOperation */
    uint64_t space, bytes;
} MemoryAccess;

enum CoreType { CORE_UNKNOWN, CORE_TENSORCORE, CORE_SPARSECORE };
/* As XProf prints them: empty, TensorCore, SparseCore. */
extern const char *const core_type_names[];

/* Sums over all occurrences of an op. Texts are empty if unknown. */
typedef struct {
    uint64_t program_id; /* for a tf.data stage of the host database, the stage's id */
    bool has_program;    /* program_id is known; a program's id can be 0 */
    const Text *name;
    /* full name of the framework op */
    const Text *category, *provenance, *long_name /* HLO text */, *deduplicated_name;
    const Text *source_file, *source_stack;
    int32_t source_line; /* -1: looked up but unknown (GPU); 0: none */
    uint32_t occurrences, n_cores;
    bool is_eager, autotuned, has_energy;
    bool has_source; /* its source was looked up, even if it is unknown */
    enum CoreType core_type;
    uint64_t time_ps, self_ps, min_ps, normalized_ps;
    uint64_t event_time_ps, event_self_ps;
    /* Floating point operations of all occurrences: as the device counts them, and as the model
     * does. */
    double flops, model_flops;
    uint64_t bytes_accessed, dma_stall_ps;
    /* Corrected values, without what XProf's sums miss or count twice; see the table hlo_ops. Not
     * set for fused instructions, host ops and framework ops. */
    uint64_t executions, bytes_actual; /* bytes_actual: only if has_actual_bytes */
    uint64_t kernels_ps;               /* GPU: time of the op's own kernels; 0 if it has none */
    double flops_actual, model_flops_actual; /* NaN: unknown */
    bool has_actual_bytes;
    double energy_j;
    MemoryAccess *memory;
    size_t n_memory;
    /* Fused instructions, or the ops of an offloaded SparseCore program; NULL if there are none. */
    OpMetricsDb *children;
    /* For ops of steps: its metadata, if op_stats_name() may have another name for it; else NULL */
    const EventMeta *meta;
} OpMetrics;

struct OpMetricsDb {
    OpMetrics *ops; /* in the order in which they were added */
    size_t n_ops;
    uint64_t total_ps;            /* measured span, summed over cores or threads */
    uint64_t total_op_ps;         /* sum of self_ps without IDLE */
    uint64_t normalized_total_ps; /* total_ps at the default clock rate */
    uint64_t idle_ps, busy_ps;    /* duty cycle of the TPU chips */
    /* The same without custom calls whose work is unknown (XProf's high confidence). */
    uint64_t sure_idle_ps, sure_busy_ps;
    /* Host: total duration of the InfeedEnqueue ops except the last of each thread, and from the
     * start of one to the start of the next. */
    uint64_t infeed_duration_ps, infeed_interval_ps;
    size_t capacity;
    HashTable by_name; /* by program_id and name; only of ops from op_db_at() */
};

/* The op of events whose metadata has another name than the op. */
typedef struct {
    const EventMeta *meta;
    const Text *name;
} RenamedOp;

/* The databases of one host, or of all hosts of a run. */
typedef struct {
    OpMetricsDb host, device;
    OpMetricsDb framework; /* ops of `device`, summed by framework op */
    RenamedOp *renamed;    /* of one host: see op_stats_name() */
    size_t n_renamed, renamed_capacity;
    HashTable renamed_by_meta;
    Arena arena; /* for texts, children and memory breakdowns */
    TextTable texts;
    const Text *idle; /* "IDLE" */
} OpStats;

/* Returns the databases of all hosts together, or of `only`. */
const OpStats *run_op_stats(Run *run, Host *only, ProfErr *err);

/* Returns the name in `device` of the op with an event metadata of a TensorCore, whose own name is
 * `name`: that of the first metadata with its program and symbol. `stats` is of one host. */
const Text *op_stats_name(const OpStats *stats, const EventMeta *meta, const Text *name);
/* Records that an op with this metadata is in `device` under another name. False if memory runs
 * out. */
bool op_stats_rename(OpStats *stats, const EventMeta *meta, const Text *name);

/* ---- reading a database ---- */

/* Returns the op with this program and name; NULL if the database has none. */
const OpMetrics *op_db_find(const OpMetricsDb *db, uint64_t program_id, const char *name,
                            size_t n_bytes);
static inline bool op_is_idle(const OpMetrics *op) { return !strcmp(op->category->text, "IDLE"); }
/* Returns whether the op is computed again to save memory. */
bool op_is_recomputed(const OpMetrics *op);
/* Returns the time in nested ops; wraps as in XProf. */
static inline uint64_t op_children_ps(const OpMetrics *op) { return op->time_ps - op->self_ps; }
/* Returns the indexes of the ops, sorted by self time (longest first), then by name; equal names in
 * the order of XProf's std::sort. NULL if memory runs out. Freed with prof_free(). */
uint32_t *op_db_order(const OpMetricsDb *db);
/* Returns 1 - total_op_ps / total_ps; 1 for an empty database. */
double op_db_idle_fraction(const OpMetricsDb *db);

/* Returns the bytes that the op moves to and from a memory space. operation: enum MemoryOperation,
 * or -1 for all. */
uint64_t op_memory_bytes(const OpMetrics *op, uint64_t space, int operation);
/* Returns HBM bytes as XProf's tables do: from the memory breakdown, or bytes_accessed if there is
 * none. */
uint64_t op_hbm_bytes(const OpMetrics *op);

/* Divides as XProf does: 0 if b is within 1e-10 of 0. */
static inline double safe_div(double a, double b) { return b < 1e-10 && b > -1e-10 ? 0 : a / b; }
static inline double ps_to_ns(uint64_t ps) { return (double)ps / 1e3; }
static inline double ps_to_us(uint64_t ps) { return (double)ps / 1e6; }
#define GIBI_PER_GIGA 1.073741824
static inline double giga_to_gibi(double x) { return x / GIBI_PER_GIGA; }
static inline double gibi_to_giga(double x) { return x * GIBI_PER_GIGA; }

/* ---- building a database ---- */

/* Returns the op with this key. Adds it if it is missing; the name must outlive the database. NULL
 * if memory runs out. The pointer is valid until the next op is added. */
OpMetrics *op_db_at(OpMetricsDb *db, uint64_t program_id, const Text *name);
/* Adds an op without a key, for use as a child: op_db_find() does not find it. NULL if memory runs
 * out. */
OpMetrics *op_db_append(OpMetricsDb *db);
/* Adds bytes to the memory breakdown of an op, which is allocated from the arena. This and the
 * following functions return false if memory runs out. */
bool op_add_memory(OpMetrics *op, Arena *arena, uint32_t operation, uint64_t space, uint64_t bytes);
/* Adds the sums of src to dst, an op with the same key. If dst has no texts or children, it uses
 * those of src, without copying. */
bool op_merge(OpMetrics *dst, const OpMetrics *src, Arena *arena, bool count_cores);
bool op_db_merge(OpMetricsDb *dst, const OpMetricsDb *src, Arena *arena, bool count_cores);
/* Appends the IDLE op: the part of total_ps that is in no op. */
bool op_db_add_idle(OpMetricsDb *db, const Text *idle);
/* Appends all ops of src, without keys. */
bool op_db_append_all(OpMetricsDb *db, const OpMetricsDb *src);
/* Returns a copy in the arena, for use as the children of an op, without an index. NULL if memory
 * runs out. */
OpMetricsDb *op_db_keep(const OpMetricsDb *db, Arena *arena);
void op_db_free(OpMetricsDb *db); /* does not free the children */

#endif
