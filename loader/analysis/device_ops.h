// SPDX-License-Identifier: Apache-2.0
/* device_ops.h: summing the events of a TPU core's op lines, nested by the device's clock and by the profiler's.
 *
 * Internal to op metrics. Each line is summed by event metadata; what the metadata says of the op is read once and put
 * together with the sums afterwards. */
#ifndef PROF_DEVICE_OPS_H
#define PROF_DEVICE_OPS_H

#include "op_build.h"

/* Unsigned as XProf's: a span whose end lies before its begin includes nothing. */
typedef struct {
    uint64_t begin, end;
} PsSpan;
static inline bool span_includes(PsSpan a, PsSpan b) { return a.begin <= b.begin && b.end <= a.end; }

/* The smallest span around others. */
typedef struct {
    uint64_t begin, end;
    bool any;
} Hull;
void hull_add(Hull *hull, PsSpan span);

/* What one event says of its op. */
typedef struct {
    PsSpan event, device; /* device: by its own clock, where the event has it, else the event's */
    bool has_scale, has_energy, has_core_id, has_start_id;
    bool has_tf_op, tf_op_is_empty, is_async, names_all_reduce;
    uint64_t min_ps, dma_stall_ps;
    double scale, energy_j;
    uint64_t flops, model_flops;
    bool has_flops, has_model_flops, flops_positive, model_flops_positive; /* positive: by the low 32 bits, as XProf looks at them */
    /* which program a core offloaded: 0 where XProf reads another integer type than the one written */
    uint64_t core_id_unsigned, start_id_unsigned, start_id_signed;
} OpFacts;
extern const enum KnownStat op_fact_stats[];
extern const size_t n_op_fact_stats;
OpFacts op_facts(const StatFilter *filter, const EventAt *e);
static inline bool is_positive_int32(uint64_t x) { return (x & UINT32_MAX) && !(x & 0x80000000u); }

/* What the events of one metadata sum to. */
typedef struct {
    const EventMeta *meta;
    uint32_t occurrences;
    bool has_energy;
    bool offloads; /* its first event offloaded the program below to a SparseCore */
    uint64_t offload_core_id, offload_start_id, n_events;
    uint64_t time_ps, self_ps, min_ps, normalized_ps, event_time_ps, event_self_ps, dma_stall_ps;
    double energy_j;
    double own_flops, own_model_flops; /* of the n_own occurrences that have operations of their own */
    uint64_t n_own, executions;        /* executions: occurrences that do not wrap */
} OpSums;

typedef struct {
    PsSpan span;
    uint32_t sums; /* position */
} OpenSpan;
typedef struct {
    OpenSpan *open;
    size_t n, capacity;
} OpStack;

typedef struct {
    const Plane *plane;
    OpSums *sums; /* in order of first occurrence */
    size_t n, capacity;
    uint32_t *index; /* of an event metadata in sums, + 1; made on first use */
    OpStack device, event;
} OpSummer;
/* Adds an event; its position in sums, or -1 with err set. default_scale: of events without a Time Scale Multiplier; 0: their
 * normalized time is not known. */
int64_t op_summer_add(OpSummer *s, const EventMeta *meta, int64_t occurrences, const OpFacts *facts, double default_scale, ProfErr *err);
/* What comes next does not lie inside what came before. */
void op_summer_close_spans(OpSummer *s);
void op_summer_free(OpSummer *s);

/* The events of a line in stored order, or sorted by begin, the longer first, as XProf sorts the lines of files that it
 * groups; the filter's stats are to be found in them or in columns. take() returns false to stop. */
int each_event(Line *line, const StatFilter *filter, bool sorted, bool (*take)(void *context, const EventAt *e, ProfErr *err), void *context, ProfErr *err);

/* ---- ops out of sums ---- */

/* Collects sums by (program_id, symbol_id) of their metadata. */
typedef struct SymbolOps SymbolOps;
SymbolOps *symbol_ops_new(OpBuild *build, Plane *plane, enum CoreType core, ProfErr *err);
/* The op's position, or -1: without err the metadata has no key and the sums are dropped. */
int64_t symbol_ops_add(SymbolOps *ops, const OpSums *sums, ProfErr *err);
/* Offloaded programs ran under the op, NULL: none; the first count, and must outlive symbol_ops_finish(). */
void symbol_ops_offload(SymbolOps *ops, int64_t position, const OpMetricsDb *programs);
/* Completes the ops into db, by program and name, and adds their totals. */
int symbol_ops_finish(SymbolOps *ops, OpMetricsDb *db, ProfErr *err);
void symbol_ops_free(SymbolOps *ops);

/* ---- SparseCores ---- */

/* What SparseCores ran for the TensorCores: by the two ids of the modules. */
typedef struct {
    struct OffloadedPrograms {
        uint64_t core_id, start_id;
        const Plane *plane; /* the last with ops of them: XProf forgets those before; NULL: none */
        OpMetricsDb db;
    } * programs;
    size_t n, capacity;
} SparseCores;
/* Of all SparseCore planes of the host. To be freed even on failure. */
int sparsecore_ops(OpBuild *build, SparseCores *sparse, ProfErr *err);
const OpMetricsDb *offloaded_programs(const SparseCores *sparse, uint64_t core_id, uint64_t start_id); /* NULL: none */
void sparsecores_free(SparseCores *sparse);

#endif
