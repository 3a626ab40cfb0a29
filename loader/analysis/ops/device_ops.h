// SPDX-License-Identifier: Apache-2.0
/* device_ops.h: sums the events of a TPU core's op lines, nested by device time and by the
 * profiler's time. Internal to op metrics.
 *
 * Each line is summed by event metadata. The op's description in the metadata is read once and
 * added to the sums afterwards. */
#ifndef PROF_DEVICE_OPS_H
#define PROF_DEVICE_OPS_H

#include "../../base/list.h"
#include "op_build.h"

/* Unsigned as in XProf: a span that ends before it starts includes nothing. */
typedef struct {
    uint64_t begin, end;
} PsSpan;
/* Returns whether span a includes span b. */
static inline bool span_includes(PsSpan a, PsSpan b)
{
    return a.begin <= b.begin && b.end <= a.end;
}

int by_span_start(const void *a, const void *b); /* of two PsSpan; for sort_array() */

/* The smallest span that includes all added spans. */
typedef struct {
    uint64_t begin, end;
    bool any;
} Hull;
/* Extends the hull to include a span. */
void hull_add(Hull *hull, PsSpan span);

/* The stats of one event that concern its op. */
typedef struct {
    /* device: in device time if the event has it, else equal to `event`. */
    PsSpan event, device;
    bool has_scale, has_energy, has_core_id, has_start_id;
    bool has_tf_op, tf_op_is_empty, is_async, names_all_reduce;
    uint64_t min_ps, dma_stall_ps;
    double scale, energy_j;
    uint64_t flops, model_flops;
    /* flops_positive, model_flops_positive: by the low 32 bits, as in XProf. */
    bool has_flops, has_model_flops, flops_positive, model_flops_positive;
    bool flops_known, model_flops_known; /* the stat is an integer */
    /* The program that a core offloaded. 0 if the file has another integer type than XProf
     * reads. */
    uint64_t core_id_unsigned, start_id_unsigned, start_id_signed;
} OpFacts;
extern const enum KnownStat op_fact_stats[];
extern const size_t n_op_fact_stats;
/* Reads the facts of an event. */
OpFacts op_facts(const StatFilter *filter, const EventAt *e);
static inline bool is_positive_int32(uint64_t x) { return (x & UINT32_MAX) && !(x & 0x80000000u); }

/* Sums of the events of one metadata. */
typedef struct {
    const EventMeta *meta;
    uint32_t occurrences;
    bool has_energy;
    /* Its first event offloaded the program of the following two ids to a SparseCore. */
    bool offloads;
    uint64_t offload_core_id, offload_start_id, n_events;
    uint64_t time_ps, self_ps, min_ps, normalized_ps, event_time_ps, event_self_ps, dma_stall_ps;
    double energy_j;
    double own_flops, own_model_flops; /* of the n_own occurrences with operations of their own */
    uint64_t n_own, executions; /* executions: the occurrences, but without XProf's wrapping */
} OpSums;

/* Packed, because nested ops are open at the same time: up to all ops of a line. */
typedef struct __attribute__((packed, aligned(4))) {
    PsSpan span;
    uint32_t sums; /* index in OpSummer.sums */
} OpenSpan;
typedef LIST(OpenSpan) OpStack;

/* Sums the ops of a line by metadata, and keeps the spans that are open in each clock. Set `plane`,
 * the rest to 0. */
typedef struct {
    const Plane *plane;
    OpSums *sums; /* in the order of their first occurrence */
    size_t n, capacity;
    /* By index of event metadata: index in `sums` + 1. Allocated on first use. */
    uint32_t *index;
    OpStack device, event;
} OpSummer;
/* Adds an event. Returns its index in `sums`; -1 with err set. default_scale is used for events
 * without a Time Scale Multiplier; 0: their normalized time is unknown. */
int64_t op_summer_add(OpSummer *s, const EventMeta *meta, int64_t occurrences, const OpFacts *facts,
                      double default_scale, ProfErr *err);
/* Closes all open spans: later events are not nested in earlier ones. */
void op_summer_close_spans(OpSummer *s);
void op_summer_free(OpSummer *s);

/* Calls take() for each event of a line in stored order or, if `sorted`, by start, longer ones
 * first, as XProf sorts the lines of files that it groups. The wanted stats are in the events'
 * messages or in columns. take() returns false to stop. */
int each_event(Line *line, const StatFilter *filter, bool sorted,
               bool (*take)(void *context, const EventAt *e, ProfErr *err), void *context,
               ProfErr *err);

/* ---- ops from sums ---- */

/* Collects sums by the (program_id, symbol_id) of their metadata. Freed with tpu_op_table_free().
 */
typedef struct TpuOpTable TpuOpTable;
/* Starts a collection for the ops of a plane. */
TpuOpTable *tpu_op_table_new(OpBuild *build, Plane *plane, enum CoreType core, ProfErr *err);
/* Adds sums to their op and returns the op's position. -1 without err set if the metadata has no
 * key: the sums are then dropped. */
int64_t tpu_op_table_add(TpuOpTable *ops, const OpSums *sums, ProfErr *err);
/* Sets the offloaded programs that ran under the op; NULL: none. The first call for an op counts.
 * They must live until tpu_op_table_finish(). */
void symbol_ops_offload(TpuOpTable *ops, int64_t position, const OpMetricsDb *programs);
/* Adds the completed ops to db, by program and name, with their totals. */
int tpu_op_table_finish(TpuOpTable *ops, OpMetricsDb *db, ProfErr *err);
void tpu_op_table_free(TpuOpTable *ops);

/* ---- SparseCores ---- */

/* What SparseCores ran for TensorCores, by the two ids of the modules. */
typedef struct {
    struct OffloadedPrograms {
        uint64_t core_id, start_id;
        /* Last plane with ops of the program, because XProf drops those of earlier planes; NULL if
         * there is none. */
        const Plane *plane;
        OpMetricsDb db;
    } * programs;
    size_t n, capacity;
} SparseCores;
/* Sums all SparseCore planes of the host. Freed with sparsecores_free(), also after a failure. */
int sparsecore_ops(OpBuild *build, SparseCores *sparse, ProfErr *err);
/* NULL if there are none. */
const OpMetricsDb *offloaded_programs(const SparseCores *sparse, uint64_t core_id,
                                      uint64_t start_id);
void sparsecores_free(SparseCores *sparse);

#endif
