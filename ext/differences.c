// SPDX-License-Identifier: Apache-2.0
/* differences.c: the table prof_differences: where a column shows XProf's number although it is known to be wrong, and where
 * the right one stands.
 *
 *   SELECT "column", actual, xprof FROM prof_differences WHERE table_name = 'kernel_stats'; */
#include "prof.h"
SQLITE_EXTENSION_INIT3

typedef struct {
    const char *table, *column, *actual, *xprof, *truth;
} Difference;

#define DETAILS "knows the kernel_details of today's CUDA alone: 0 registers and bytes, 1,1,1 blocks and 0 % for others (ROCm, CUDA until 2023)"
#define SPELLINGS "every spelling of kernel_details that profilers have used; NULL where unknown or not the same for all kernels of the row"

#define NARROW "counts 8 and 4 bit operations as a half and a quarter, to compare with the peak of 16 bit ones"
#define ALL_OPERATIONS "each operation as one"
#define KERNELS "counts every kernel of an op as an execution of it, though one execution may start several"
#define EXECUTIONS "kernels in a row on a stream are one execution of their op"
#define NO_LIBRARIES                                                                                                                                           \
    "on GPUs counts 0 for cuBLAS calls by their older names, attention and solvers, once for every kernel of an op, and sine, exp and their like by the "      \
    "cycles that one GPU (sm_86) takes"
#define WITH_LIBRARIES "what the program's instruction needs, calls of libraries too, times occurrences_actual"
#define FRACTION_LABEL "shows a fraction (0..1) under a label that says %"
#define WELL_NAMED "the same number, named for what it is"
#define COPIES_COMPUTE "takes copies by the names of today's profilers (MemcpyH2D) for computations"

#define FORGETS_HOST                                                                                                                                           \
    "forgets what host threads did beside a device and most ops of programs that they run, and takes copies by the names of today's profilers (MemcpyH2D) "    \
    "for computations; knows no steps of Keras 3"
#define WITH_HOST                                                                                                                                              \
    "host threads count too, and copies by every name; at each moment the most important activity; of a TensorCore what it did while the step lasted. "        \
    "Without a device the same with ops of programs in the steps in whose time they run"
#define COMPILES_NEVER "knows no event of a compiler: 0, and compiling is host compute"
#define COMPILERS "events of JAX's, XLA's, TPU's and TensorFlow's compilers by their names; NULL on TPU and without host threads"

#define OWN_MARKS "does not know the steps that frameworks mark in a way of their own (Keras 3), and then has no verdict"

#define STEP_SHARES "counts a TPU's all-reduces twice, forgets host threads beside a GPU and copies by today's names, and knows no steps of Keras 3"
#define STEP_SHARES_ACTUAL "of the steps as long as they were, with host threads and all copies; of marked steps the time in which host threads wait for input"
#define NO_GPUS "takes every server's device for a TPU, and so has no time of a GPU's"
#define WITH_GPUS "kernels, other work and copies of GPUs count as programs and transfers do"

#define UNREPAIRED "finds no program in its Events DB if the file calls the stat HLO Proto (libtpu 0.0.37) or numbers the metadata otherwise: NULL"
#define REPAIRED "that of the instruction, found by program_id and hlo_op"

/* Every column that ends in _actual is here. */
static const Difference differences[] = {
    {"kernel_stats", "registers_per_thread", "registers_per_thread_actual", DETAILS, SPELLINGS},
    {"kernel_stats", "shared_memory_bytes", "shared_memory_bytes_actual", DETAILS, SPELLINGS},
    {"kernel_stats", "block_dim", "block_dim_actual", DETAILS, SPELLINGS},
    {"kernel_stats", "grid_dim", "grid_dim_actual", DETAILS, SPELLINGS},
    {"kernel_stats", "occupancy_percent", "occupancy_percent_actual", "shows the first kernel's for all kernels of the row, and 0 for unknown",
     "NULL where unknown or not the same for all kernels of the row"},
    {"kernel_stats", "kernel_uses_tensorcore", "kernel_uses_tensorcore_actual",
     "has a list of names from before Hopper (no wgmma, cutlass, nvjet, fused attention), counts FMA kernels of cuBLAS's xmma family, and none without "
     "device_vendor",
     "the list with those names, without the FMA kernels, and for unknown vendors; by name still"},
    {"kernel_stats", "op_is_tensorcore_eligible", "op_is_tensorcore_eligible_actual",
     "says no for a kernel of an HLO op that runs on tensor cores without a framework op, and for ops that it does not read",
     "yes also where tensor cores run it, and by op_name_actual"},
    {"kernel_stats", "op_name", "op_name_actual", "does not read the stats annotation and level 0, which name the op in files until 2023",
     "read where tf_op and hlo_op give none"},
    {"tf_ops", "tensorcore_utilization_fraction", "tensorcore_utilization_fraction_actual",
     "counts the kernels of its list of names among the thousand longest reports; 0 also for no kernel",
     "all kernels, by kernel_uses_tensorcore_actual; NULL without kernels"},
    {"tf_ops", "operation", "kernel_time_by_op.operation",
     "has no rows for kernels and copies whose op stands in the stats annotation and level 0 (until 2023)", "the query reads those stats too"},
    {"tf_ops", "normalized_gflops", "tf_ops.model_gflops", NARROW, ALL_OPERATIONS},
    {"hlo_ops", "normalized_gflops", "hlo_ops.model_gflops", NARROW, ALL_OPERATIONS},
    {"hlo_ops", "flops", "hlo_ops.model_flops", NARROW, ALL_OPERATIONS},
    {"hlo_ops", "occurrences", "occurrences_actual", KERNELS, EXECUTIONS},
    {"hlo_ops", "flops", "flops_actual", NO_LIBRARIES, "model_flops_actual, 8 and 4 bit operations as a half and a quarter"},
    {"hlo_ops", "model_flops", "model_flops_actual", NO_LIBRARIES, WITH_LIBRARIES},
    {"hlo_ops", "bytes_accessed", "bytes_accessed_actual", NO_LIBRARIES, "those of an execution, calls of libraries too, times occurrences_actual"},
    {"op_metrics", "occurrences", "occurrences_actual", KERNELS, EXECUTIONS},
    {"op_metrics", "flops", "flops_actual", NO_LIBRARIES, "model_flops_actual, 8 and 4 bit operations as a half and a quarter"},
    {"op_metrics", "model_flops", "model_flops_actual", NO_LIBRARIES, WITH_LIBRARIES},
    {"op_metrics", "bytes_accessed", "bytes_accessed_actual", NO_LIBRARIES, "those of an execution, calls of libraries too, times occurrences_actual"},
    {"roofline", "flops", "flops_actual", NO_LIBRARIES " and leaves out what an event of a TPU says of itself", "those of hlo_ops, summed"},
    {"roofline", "model_gflops", "model_flops_actual", NO_LIBRARIES, "operations, not a rate: those of hlo_ops, summed"},
    {"op_metrics", "flops", "op_metrics.model_flops", NARROW, ALL_OPERATIONS},
    {"op_profile", "bf16_flops", "op_profile.raw_flops", NARROW, ALL_OPERATIONS},
    {"roofline", "normalized_gflops", "roofline.model_gflops", NARROW, ALL_OPERATIONS},
    {"roofline", "flops", "flops_utilization_by_step.flops", "has rows of zeros for the steps of a GPU, whose ops it does not keep by step",
     "kernels of the step times the operations of their ops; NULL where unknown"},
    {"hlo_instructions", "flops", "model_flops_actual",
     "on GPUs counts sine, exp and their like by the cycles that one GPU (sm_86) takes, whatever runs them, "
     "and 0 for most calls of libraries",
     "what the instruction needs: none for sine, exp and their like"},
    {"tf_stats", "Measured Memory BW (GBytes/Sec)", "tf_ops.memory_bw_gibps", "shows GiB/s under a label that says GB/s", WELL_NAMED},
    {"tf_stats", "Normalized FLOP Rate (FLOPs/s)", "tf_ops.normalized_gflops", "shows GFLOP/s under a label that says FLOP/s", WELL_NAMED},
    {"tf_stats", "Total self-time on Device (%)", "tf_ops.device_self_time_fraction", FRACTION_LABEL, WELL_NAMED},
    {"tf_stats", "Cumulative total-self time on Device (%)", "tf_ops.device_cumulative_self_time_fraction", FRACTION_LABEL, WELL_NAMED},
    {"tf_stats", "Total self-time on Host (%)", "tf_ops.host_self_time_fraction", FRACTION_LABEL, WELL_NAMED},
    {"tf_stats", "Cumulative total-self time on Host (%)", "tf_ops.host_cumulative_self_time_fraction", FRACTION_LABEL, WELL_NAMED},
    {"input_pipeline", "step_count", "step_count_actual", OWN_MARKS, "those marked steps, where there are no others"},
    {"input_pipeline", "input_percent", "input_percent_actual", STEP_SHARES, STEP_SHARES_ACTUAL},
    {"input_pipeline", "input_verdict", "input_verdict_actual", STEP_SHARES, "XProf's thresholds on input_percent_actual"},
    {"input_pipeline", "output_percent", "output_percent_actual", STEP_SHARES, STEP_SHARES_ACTUAL},
    {"input_pipeline", "compute_percent", "compute_percent_actual", STEP_SHARES, STEP_SHARES_ACTUAL},
    {"input_pipeline", "kernel_launch_percent", "kernel_launch_percent_actual", STEP_SHARES, STEP_SHARES_ACTUAL},
    {"input_pipeline", "kernel_launch_verdict", "kernel_launch_verdict_actual", STEP_SHARES, "XProf's thresholds on kernel_launch_percent_actual"},
    {"input_pipeline", "collectives_percent", "collectives_percent_actual", STEP_SHARES, STEP_SHARES_ACTUAL},
    {"input_pipeline", "all_others_percent", "all_others_percent_actual", STEP_SHARES, STEP_SHARES_ACTUAL},
    {"inference_requests", "device_compute_ps", "device_compute_ps_actual", NO_GPUS, WITH_GPUS},
    {"inference_requests", "write_to_device_ps", "write_to_device_ps_actual", NO_GPUS, WITH_GPUS},
    {"inference_requests", "read_from_device_ps", "read_from_device_ps_actual", NO_GPUS, WITH_GPUS},
    {"inference_batches", "device_compute_ps", "device_compute_ps_actual", NO_GPUS, WITH_GPUS},
    {"inference_latency", "host_ms", "host_ms_actual", NO_GPUS, WITH_GPUS},
    {"inference_latency", "device_ms", "device_ms_actual", NO_GPUS, WITH_GPUS},
    {"inference_latency", "communication_ms", "communication_ms_actual", NO_GPUS, WITH_GPUS},
    {"perf_counters", "value", "value_actual", "reads 0 for a counter stored as a double, and a negative one modulo 2^64", "the value as it is stored"},
    {"dcn_collectives", "recv_stall_ms", "recv_stall_ms_actual", "divides the duration by a million once too often, which leaves next to nothing",
     "the duration"},
    {"kernel_utilization", "kernel_name", "kernel_name_actual", "has the one name default_kernel", "the name of the line"},
    {"memory_allocators", "lifetime_peak_bytes", "lifetime_peak_bytes_actual", "takes what the last event says of the peak", "the largest that any event says"},
    {"memory_allocators", "peak_line_time_ps", "peak_time_ps", "takes times from the start of each line, though lines begin at different times",
     "from the session's start"},
    {"memory_events", "line_time_ps", "time_ps", "orders the events of all lines by their times from the start of each line",
     "from the session's start; match_event_id and live_until_ps follow it"},
    {"memory_events", "step", "group_id", "gives an event of no step the number after the last step's", "NULL where there is no step"},
    {"memory_active", "occurrences", "live_allocations.allocations", "counts only what the step of the peak allocated, and calls the rest unused",
     "the query counts all that the profile saw allocated and not freed"},
    {"buffer_allocations", "shape", "shape_actual",
     "takes the last number of a shape index one level down, so that a part of a nested tuple gets another part's shape or the whole's", "the whole index"},
    {"buffer_allocations", "unpadded_bytes", "unpadded_bytes_actual", "goes by that shape, and takes the bits to which a layout widens elements for data",
     "by shape_actual, elements of their own width"},
    {"buffer_allocations", "padding_bytes", "padding_bytes_actual", "subtracts unpadded_bytes", "subtracts unpadded_bytes_actual"},
    {"memory_peaks", "peak_unpadded_mib", "buffer_allocations.unpadded_bytes_actual", "adds those sizes up, and for parameters and outputs the padded ones",
     "summed where live_at_peak"},
    {"roofline_properties", "value", "devices.peak_flops_per_second",
     "reads peaks that are stored as integers as 0, and forgets CMEM, VMEM and megacore when it merges hosts",
     "devices shows each device as its plane describes it"},
    {"op_profile", "hbm_bytes", "roofline.hbm_bytes", "computes bytes from a rate in floating point, to the fifteenth digit", "the integer sums"},
    {"op_profile", "num_children", NULL, "counts the children of a pruned node after it pruned them",
     "op_profile(source, group_by, include_idle, 0) has all nodes"},
    {"tf_ops", "occurrences", "op_metrics.occurrences", "takes the most occurrences of any kernel or HLO op of a framework op for the op's own",
     "op_metrics has each kernel's and HLO op's"},
    {"op_metrics", "occurrences", NULL, "loses ops of a thread that cross each other or end with an op inside them, and what is open around them",
     "prof_issues (host_ops_lost) says how many; event_totals sums all events"},
    {"op_metrics", "occurrences", "event_totals.occurrences", "counts an allocation or free that names an op for an occurrence of it, of no length",
     "event_totals counts the events of a name"},
    {"op_metrics", "name", "trace_events.name", "takes an event for a stage of tf.data where that stage's id is the number of the event's metadata",
     "each event's own"},
    {"op_metrics", "program_id", "trace_events.program_id", "counts kernels of one HLO op in a row, in one group, for the program of the first",
     "each kernel's own"},
    {"op_metrics", "parent", NULL, "mixes the programs that TensorCores offload to SparseCores of one id",
     "prof_issues (sparsecore_programs_mixed) says where"},
    {"op_metrics_totals", "total_ps", NULL,
     "measures a GPU from the smallest to the largest time from the start of each line, though lines may begin at different times",
     "trace_events has times from the session's start"},
    {"op_metrics_totals", "compute_16bit_ps", "compute_16bit_ps_actual", COPIES_COMPUTE, "without them"},
    {"op_metrics_totals", "compute_32bit_ps", "compute_32bit_ps_actual", COPIES_COMPUTE, "without them"},
    {"timeline", "duration_ps", "trace_events.duration_ps", "draws scopes and ops that last as long as the one around them shorter, by a nanosecond a level",
     "that of the events below"},
    {"timeline", "flow_in", "trace_events.correlation_id", "joins all events whose correlation_id is of type int64, which it reads as 0",
     "equal on one host for what belongs together"},
    {"timeline", "args", "event_stats.value", "shows step_idle_time_ps of the step before where a step of a TPU has none", "what the file holds"},
    {"steps", "device_compute_ms", "device_compute_ms_actual", FORGETS_HOST, WITH_HOST},
    {"steps", "device_to_device_ms", "device_to_device_ms_actual", FORGETS_HOST, WITH_HOST},
    {"steps", "device_collectives_ms", "device_collectives_ms_actual", FORGETS_HOST, WITH_HOST},
    {"steps", "host_compute_ms", "host_compute_ms_actual", FORGETS_HOST, WITH_HOST},
    {"steps", "kernel_launch_ms", "kernel_launch_ms_actual", FORGETS_HOST, WITH_HOST},
    {"steps", "input_ms", "input_ms_actual", FORGETS_HOST, WITH_HOST},
    {"steps", "output_ms", "output_ms_actual", FORGETS_HOST, WITH_HOST},
    {"steps", "compilation_ms", "compilation_ms_actual", COMPILES_NEVER, COMPILERS},
    {"steps", "all_others_ms", "all_others_ms_actual", FORGETS_HOST, WITH_HOST},
    {"core_steps", "device_compute_us", "device_compute_us_actual", FORGETS_HOST, WITH_HOST},
    {"core_steps", "device_to_device_us", "device_to_device_us_actual", FORGETS_HOST, WITH_HOST},
    {"core_steps", "device_collectives_us", "device_collectives_us_actual", FORGETS_HOST, WITH_HOST},
    {"core_steps", "host_compute_us", "host_compute_us_actual", FORGETS_HOST, WITH_HOST},
    {"core_steps", "kernel_launch_us", "kernel_launch_us_actual", FORGETS_HOST, WITH_HOST},
    {"core_steps", "input_us", "input_us_actual", FORGETS_HOST, WITH_HOST},
    {"core_steps", "output_us", "output_us_actual", FORGETS_HOST, WITH_HOST},
    {"core_steps", "compilation_us", "compilation_us_actual", COMPILES_NEVER, COMPILERS},
    {"core_steps", "all_others_us", "all_others_us_actual", FORGETS_HOST, WITH_HOST},
    {"core_steps", "bottleneck", "bottleneck_actual", FORGETS_HOST, WITH_HOST},
    {"core_steps", "chip_id", "chip_id_actual", "never fills it: 0", "as core_details of the device says; NULL where it does not"},
    {"step_breakdown", "duration_ps", "duration_ps_actual", FORGETS_HOST, WITH_HOST},
    {"Events", "start_ns", "trace_events.start_ps",
     "goes by way of floating point, which has Unix times to 256 ns; an event that starts before its line is 2^64 ps late", "exact"},
    {"Events", "end_ns", "trace_events.end_ps",
     "goes by way of floating point, which has Unix times to 256 ns; after a negative offset or duration 2^64 ps too late", "exact"},
    {"Events", "tf_op_name", "hlo_instructions.tf_op", UNREPAIRED, REPAIRED},
    {"Events", "tf_op_type", "hlo_instructions.op_type", UNREPAIRED, REPAIRED},
    {"Events", "input_tensors", "hlo_instructions.expression", UNREPAIRED, REPAIRED},
    {"Events", "output_tensors", "hlo_instructions.shape", UNREPAIRED, REPAIRED},
    {"Events", "hlo_fingerprint", "hlo_instructions.fingerprint", UNREPAIRED, REPAIRED},
    {"tf_data_iterators", "is_async", "is_async_actual", "knows iterators that work ahead by their first names alone (ParallelMap, not ParallelMapV2)",
     "later versions too"},
    {"Events", "self_time_ns", "trace_events.self_ps", "takes nothing off for nested events but on TPUs", "without what nests in it, on every line"},
    {"hlo_ops", "bound_by", NULL, "puts HBM traffic over the peak of shared memory to find Shm/L1", "no profiler reports shared memory traffic"},
    {"roofline", "bound_by", NULL, "puts HBM traffic over the peak of shared memory to find Shm/L1", "no profiler reports shared memory traffic"},
};

#define DIFFERENCES_COLUMNS(C)                                                                                                                                 \
    C(DF_TABLE, "table_name", "TEXT", NULL, "table of the column that shows XProf's value", "libprofsql")                                                      \
    C(DF_COLUMN, "column", "TEXT", NULL, "that column", "libprofsql")                                                                                          \
    C(DF_ACTUAL, "actual", "TEXT", NULL, "column of the same table, or table.column, with the right value; NULL: nothing knows it", "libprofsql")              \
    C(DF_XPROF, "xprof", "TEXT", NULL, "what XProf does", "libprofsql")                                                                                        \
    C(DF_TRUTH, "truth", "TEXT", NULL, "what the right value is made of, or why there is none", "libprofsql")
enum { DIFFERENCES_COLUMNS(COLUMN_ENUM) };
static const Column differences_columns[] = {DIFFERENCES_COLUMNS(COLUMN_DOC)};

static bool differences_next(RowCursor *c) { return (c->place = c->i += c->started) < COUNT(differences); }

static void differences_column(RowCursor *c, sqlite3_context *ctx, int column)
{
    const Difference *d = &differences[c->i];
    const char *const texts[] = {[DF_TABLE] = d->table, [DF_COLUMN] = d->column, [DF_ACTUAL] = d->actual, [DF_XPROF] = d->xprof, [DF_TRUTH] = d->truth};
    if (texts[column]) sqlite3_result_text(ctx, texts[column], -1, SQLITE_STATIC);
}

static const RowSource differences_rows = {.next = differences_next, .column = differences_column, .without_source = true};
const Table prof_differences_table = {"prof_differences",
                                      "one column whose value equals XProf's and is known to be wrong, with the column that is right",
                                      differences_columns,
                                      COUNT(differences_columns),
                                      &row_table_module,
                                      &differences_rows,
                                      20};
