// SPDX-License-Identifier: Apache-2.0
/* differences.c: the table prof_differences: columns that contain XProf's number although it is
 * known to be wrong, and the columns with the correct one.
 *
 *   SELECT "column", actual, xprof FROM prof_differences WHERE table_name = 'kernel_stats'; */
#include "prof.h"
SQLITE_EXTENSION_INIT3

typedef struct {
    const char *table, *column, *actual, *xprof, *truth;
} Difference;

#define DETAILS                                                                                    \
    "reads only the kernel_details of current CUDA profilers; for others (ROCm, CUDA until 2023) " \
    "it shows 0 registers and bytes, 1,1,1 blocks and 0 %"
#define SPELLINGS                                                                                  \
    "every known format of kernel_details; NULL if unknown or if the kernels of the row differ"

#define NARROW                                                                                     \
    "counts an 8-bit operation as a half and a 4-bit operation as a quarter, to compare with the " \
    "peak of 16-bit operations"
#define ALL_OPERATIONS "every operation counts as one"
#define KERNELS                                                                                    \
    "counts every kernel of an op as one execution, though one execution can start several "       \
    "kernels"
#define EXECUTIONS "consecutive kernels of an op on a stream count as one execution"
#define NO_LIBRARIES                                                                               \
    "on GPUs counts 0 for attention, solvers and the older names of cuBLAS calls; counts the "     \
    "cost of an op once for every kernel; counts sine, exp and similar functions by the cycles "   \
    "that they take on one GPU (sm_86)"
#define WITH_LIBRARIES                                                                             \
    "what the program's instruction needs, including library calls, times occurrences_actual"
#define FRACTION_LABEL "shows a fraction (0..1) under a label with %"
#define WELL_NAMED "the same number under a name that gives its unit"
#define COPIES_COMPUTE                                                                             \
    "treats copies as computation if they have the names of current profilers (MemcpyH2D)"

#define FORGETS_HOST                                                                               \
    "ignores host threads if there is a device, and most ops of the programs that host threads "   \
    "run; treats copies as computation if they have the names of current profilers (MemcpyH2D); "  \
    "does not recognize the steps of Keras 3"
#define WITH_HOST                                                                                  \
    "host threads count too, and copies under all names; each moment counts for the most "         \
    "important activity; a TensorCore counts with what it did during the step. Without a device, " \
    "ops of programs count in the steps during which they run"
#define COMPILES_NEVER                                                                             \
    "recognizes no events of compilers: it shows 0, and compiling counts as host compute"
#define COMPILERS                                                                                  \
    "events of the compilers of JAX, XLA, TPUs and TensorFlow, recognized by name; NULL on a "     \
    "TPU, and if there are no host threads"

#define OWN_MARKS                                                                                  \
    "does not recognize the steps that some frameworks mark in their own way (Keras 3), and then " \
    "gives no verdict"

#define STEP_SHARES                                                                                \
    "counts all-reduces of a TPU twice; ignores host threads if there is a GPU, and copies with "  \
    "the names of current profilers; does not recognize the steps of Keras 3"
#define STEP_SHARES_ACTUAL                                                                         \
    "share of the full length of the steps, with host threads and all copies; for marked steps, "  \
    "the time in which host threads wait for input"
#define NO_GPUS "treats the device of every server as a TPU, and so counts no time of a GPU"
#define WITH_GPUS "kernels, other work and copies of GPUs count like programs and transfers"

/* Of a request, which can end before its device does. */
#define BEYOND NO_GPUS "; counts what goes on before the start or after the end of the request"
#define WITHIN WITH_GPUS ", while the request lasts"

#define FIRST_BATCH                                                                                \
    "ends a request that was split over several batches with the batch of the smallest number"
#define LAST_BATCH "the request ends with the last of its batches"

#define UNREPAIRED                                                                                 \
    "shows NULL, because its Events DB finds no program if the file names the stat HLO Proto "     \
    "(libtpu 0.0.37) or numbers the metadata differently"
#define REPAIRED "value of the instruction with this program_id and hlo_op"

/* Contains every column whose name ends in _actual. */
static const Difference differences[] = {
    {"kernel_stats", "registers_per_thread", "registers_per_thread_actual", DETAILS, SPELLINGS},
    {"kernel_stats", "shared_memory_bytes", "shared_memory_bytes_actual", DETAILS, SPELLINGS},
    {"kernel_stats", "block_dim", "block_dim_actual", DETAILS, SPELLINGS},
    {"kernel_stats", "grid_dim", "grid_dim_actual", DETAILS, SPELLINGS},
    {"kernel_stats", "occupancy_percent", "occupancy_percent_actual",
     "shows the first kernel's value for all kernels of the row, and 0 if it is unknown",
     "NULL if unknown or if the kernels of the row differ"},
    {"kernel_stats", "kernel_uses_tensorcore", "kernel_uses_tensorcore_actual",
     "goes by a list of kernel names from before Hopper (no wgmma, cutlass, nvjet, fused "
     "attention) that includes FMA kernels of cuBLAS's xmma family and cuDNN's kernels for "
     "depthwise convolutions; counts none if there is no device_vendor",
     "goes by a list of kernel names that has the newer ones and not these, and by the HLO op for "
     "products that XLA compiles with Triton; works without a vendor too"},
    {"kernel_stats", "op_is_tensorcore_eligible", "op_is_tensorcore_eligible_actual",
     "says no for a kernel that runs on tensor cores if its HLO op has no framework op, and for "
     "ops whose names it does not read; yes for all kernels that its list includes, and for "
     "transposes that belong to a convolution or product",
     "goes by kernel_uses_tensorcore_actual, op_name_actual and what the HLO op computes"},
    {"kernel_stats", "op_name", "op_name_actual",
     "does not read the stats annotation and level 0, which contain the op in files until 2023",
     "op from these stats if tf_op and hlo_op have none"},
    {"tf_ops", "tensorcore_utilization_fraction", "tensorcore_utilization_fraction_actual",
     "counts only the kernels in its list of names that are among the thousand longest; shows 0 if "
     "there are no kernels",
     "all kernels, by kernel_uses_tensorcore_actual; NULL if there are no kernels"},
    {"tf_ops", "operation", "kernel_time_by_op.operation",
     "has no rows for kernels and copies whose op is in the stats annotation and level 0 (files "
     "until 2023)",
     "the query kernel_time_by_op reads these stats too"},
    {"tf_ops", "normalized_gflops", "tf_ops.model_gflops", NARROW, ALL_OPERATIONS},
    {"hlo_ops", "normalized_gflops", "hlo_ops.model_gflops", NARROW, ALL_OPERATIONS},
    {"hlo_ops", "flops", "hlo_ops.model_flops", NARROW, ALL_OPERATIONS},
    {"hlo_ops", "occurrences", "occurrences_actual", KERNELS, EXECUTIONS},
    {"hlo_ops", "time_ps", "time_ps_actual",
     "counts the kernels of ops of one name in several programs as those of the first, if they "
     "follow each other in a step of a GPU",
     "time of the op's own kernels"},
    {"hlo_ops", "flops", "flops_actual", NO_LIBRARIES,
     "model_flops_actual, in which an 8-bit operation counts as a half and a 4-bit one as a "
     "quarter"},
    {"hlo_ops", "model_flops", "model_flops_actual", NO_LIBRARIES, WITH_LIBRARIES},
    {"hlo_ops", "bytes_accessed", "bytes_accessed_actual", NO_LIBRARIES,
     "bytes of one execution, including library calls, times occurrences_actual"},
    {"op_metrics", "occurrences", "occurrences_actual", KERNELS, EXECUTIONS},
    {"op_metrics", "flops", "flops_actual", NO_LIBRARIES,
     "model_flops_actual, in which an 8-bit operation counts as a half and a 4-bit one as a "
     "quarter"},
    {"op_metrics", "model_flops", "model_flops_actual", NO_LIBRARIES, WITH_LIBRARIES},
    {"op_metrics", "bytes_accessed", "bytes_accessed_actual", NO_LIBRARIES,
     "bytes of one execution, including library calls, times occurrences_actual"},
    {"roofline", "flops", "flops_actual",
     NO_LIBRARIES "; on TPUs ignores the operations that an event itself records",
     "sum of hlo_ops.flops_actual"},
    {"roofline", "model_gflops", "model_flops_actual", NO_LIBRARIES,
     "operations, not a rate: sum of hlo_ops.model_flops_actual"},
    {"op_metrics", "flops", "op_metrics.model_flops", NARROW, ALL_OPERATIONS},
    {"op_profile", "bf16_flops", "op_profile.raw_flops", NARROW, ALL_OPERATIONS},
    {"roofline", "normalized_gflops", "roofline.model_gflops", NARROW, ALL_OPERATIONS},
    {"roofline", "flops", "flops_utilization_by_step.flops",
     "shows rows of zeros for the steps of a GPU, because it does not keep the ops of a GPU by "
     "step",
     "operations of the op of each kernel in the step, summed; NULL if unknown"},
    {"hlo_instructions", "flops", "model_flops_actual",
     "on any GPU counts sine, exp and similar functions by the cycles that they take on one GPU "
     "(sm_86), and 0 for most library calls",
     "operations that the instruction needs: 0 for sine, exp and similar functions"},
    {"hlo_instructions", "flops", "flops_actual", "as for model_flops_actual",
     "model_flops_actual, in which an 8-bit operation counts as a half and a 4-bit one as a "
     "quarter"},
    {"hlo_instructions", "bytes_accessed", "bytes_accessed_actual",
     "counts 0 for attention, solvers, the older names of cuBLAS calls and custom calls of unknown "
     "work",
     "bytes of operands and results for library calls; NULL if unknown"},
    {"tf_stats", "Measured Memory BW (GBytes/Sec)", "tf_ops.memory_bw_gibps",
     "shows GiB/s under a label that says GB/s", WELL_NAMED},
    {"tf_stats", "Normalized FLOP Rate (FLOPs/s)", "tf_ops.normalized_gflops",
     "shows GFLOP/s under a label that says FLOP/s", WELL_NAMED},
    {"tf_stats", "Total self-time on Device (%)", "tf_ops.device_self_time_fraction",
     FRACTION_LABEL, WELL_NAMED},
    {"tf_stats", "Cumulative total-self time on Device (%)",
     "tf_ops.device_cumulative_self_time_fraction", FRACTION_LABEL, WELL_NAMED},
    {"tf_stats", "Total self-time on Host (%)", "tf_ops.host_self_time_fraction", FRACTION_LABEL,
     WELL_NAMED},
    {"tf_stats", "Cumulative total-self time on Host (%)",
     "tf_ops.host_cumulative_self_time_fraction", FRACTION_LABEL, WELL_NAMED},
    {"input_pipeline", "step_count", "step_count_actual", OWN_MARKS,
     "number of these marked steps, if there are no others"},
    {"input_pipeline", "input_percent", "input_percent_actual", STEP_SHARES, STEP_SHARES_ACTUAL},
    {"input_pipeline", "input_verdict", "input_verdict_actual", STEP_SHARES,
     "XProf's thresholds, applied to input_percent_actual"},
    {"input_pipeline", "output_percent", "output_percent_actual", STEP_SHARES, STEP_SHARES_ACTUAL},
    {"input_pipeline", "compute_percent", "compute_percent_actual", STEP_SHARES,
     STEP_SHARES_ACTUAL},
    {"input_pipeline", "kernel_launch_percent", "kernel_launch_percent_actual", STEP_SHARES,
     STEP_SHARES_ACTUAL},
    {"input_pipeline", "kernel_launch_verdict", "kernel_launch_verdict_actual", STEP_SHARES,
     "XProf's thresholds, applied to kernel_launch_percent_actual"},
    {"input_pipeline", "collectives_percent", "collectives_percent_actual", STEP_SHARES,
     STEP_SHARES_ACTUAL},
    {"input_pipeline", "all_others_percent", "all_others_percent_actual", STEP_SHARES,
     STEP_SHARES_ACTUAL},
    {"inference_requests", "duration_ps", "duration_ps_actual", FIRST_BATCH, LAST_BATCH},
    {"inference_requests", "latency_ms", "latency_ms_actual", FIRST_BATCH, LAST_BATCH},
    {"inference_requests", "batch_formation_ps", "batch_formation_ps_actual", BEYOND, WITHIN},
    {"inference_requests", "host_preprocess_ps", "host_preprocess_ps_actual", NO_GPUS, WITH_GPUS},
    {"inference_requests", "host_runtime_ps", "host_runtime_ps_actual", NO_GPUS, WITH_GPUS},
    {"inference_requests", "host_postprocess_ps", "host_postprocess_ps_actual",
     FIRST_BATCH "; " NO_GPUS, LAST_BATCH "; " WITH_GPUS},
    {"inference_requests", "idle_ps", "idle_ps_actual",
     "counts only the idle time between the first and last activity", "all idle time counts"},
    {"inference_requests", "device_compute_ps", "device_compute_ps_actual", BEYOND, WITHIN},
    {"inference_requests", "write_to_device_ps", "write_to_device_ps_actual", BEYOND, WITHIN},
    {"inference_requests", "read_from_device_ps", "read_from_device_ps_actual", BEYOND, WITHIN},
    {"inference_batches", "device_compute_ps", "device_compute_ps_actual", NO_GPUS, WITH_GPUS},
    {"inference_latency", "host_ms", "host_ms_actual", FIRST_BATCH "; " NO_GPUS,
     LAST_BATCH "; " WITH_GPUS},
    {"inference_latency", "device_ms", "device_ms_actual", BEYOND, WITHIN},
    {"inference_latency", "communication_ms", "communication_ms_actual", BEYOND, WITHIN},
    {"inference_latency", "total_ms", "total_ms_actual", FIRST_BATCH, LAST_BATCH},
    {"inference_latency", "min_ms", "min_ms_actual", FIRST_BATCH, LAST_BATCH},
    {"inference_latency", "max_ms", "max_ms_actual", FIRST_BATCH, LAST_BATCH},
    {"perf_counters", "value", "value_actual",
     "reads 0 for a counter stored as a double, and a negative one modulo 2^64",
     "the value as it is stored"},
    {"dcn_collectives", "recv_stall_ms", "recv_stall_ms_actual",
     "divides the duration by a million once too often, so the result is almost 0",
     "average duration of the recv"},
    {"kernel_utilization", "kernel_name", "kernel_name_actual",
     "shows the name default_kernel in all rows", "name of the line"},
    {"memory_allocators", "lifetime_peak_bytes", "lifetime_peak_bytes_actual",
     "shows the peak that the last event reports", "largest peak that any event reports"},
    {"memory_allocators", "peak_line_time_ps", "peak_time_ps",
     "counts times from the start of each line, though lines start at different times",
     "time from the session start"},
    {"memory_events", "line_time_ps", "time_ps",
     "orders the events of all lines by their times from the start of each line",
     "time from the session start; match_event_id and live_until_ps are based on it"},
    {"memory_events", "step", "group_id",
     "gives an event that belongs to no step the number after the last step",
     "NULL if the event belongs to no step"},
    {"memory_active", "occurrences", "live_allocations.allocations",
     "counts only the allocations of the step with the peak, and names the rest unused",
     "the query live_allocations counts all that was allocated during the profile and not freed"},
    {"buffer_allocations", "shape", "shape_actual",
     "uses only the last number of a shape index, one level down, so that a part of a nested tuple "
     "gets the shape of another part or of the entire tuple",
     "uses all numbers of the shape index"},
    {"buffer_allocations", "unpadded_bytes", "unpadded_bytes_actual",
     "uses the shape in column shape, and counts the bits to which a layout widens elements as "
     "data",
     "size of shape_actual, with elements of their own width"},
    {"buffer_allocations", "padding_bytes", "padding_bytes_actual", "subtracts unpadded_bytes",
     "subtracts unpadded_bytes_actual"},
    {"memory_peaks", "peak_unpadded_mib", "buffer_allocations.unpadded_bytes_actual",
     "sums buffer_allocations.unpadded_bytes, but padded sizes for parameters and outputs",
     "sum of that column where live_at_peak = 1"},
    {"roofline_properties", "value", "devices.peak_flops_per_second",
     "reads peaks that are stored as integers as 0, and loses CMEM, VMEM and megacore when it "
     "merges hosts",
     "devices shows each device as its plane describes it"},
    {"op_profile", "hbm_bytes", "roofline.hbm_bytes",
     "computes the bytes from a rate in floating point, with 15 correct digits",
     "exact integer sums"},
    {"op_profile", "num_children", NULL,
     "counts the children of a pruned node after they were pruned",
     "op_profile(source, group_by, include_idle, 0) has all nodes"},
    {"tf_ops", "occurrences", "op_metrics.occurrences",
     "uses the largest number of occurrences of any kernel or HLO op of a framework op as that of "
     "the framework op",
     "op_metrics has the occurrences of each kernel and HLO op"},
    {"op_metrics", "occurrences", NULL,
     "loses ops of a thread that partially overlap each other, or that end at the same time as an "
     "op inside them, and the ops open around them",
     "prof_issues (host_ops_lost) has their number; event_totals sums all events"},
    {"op_metrics", "occurrences", "event_totals.occurrences",
     "counts an allocation or free that names an op as an occurrence of this op, with duration 0",
     "event_totals counts the events of a name"},
    {"op_metrics", "name", "trace_events.name",
     "treats an event as a stage of tf.data if the id of the stage equals the id of the event's "
     "metadata",
     "name of each event itself"},
    {"op_metrics", "program_id", "trace_events.program_id",
     "counts consecutive kernels of one HLO op and group in the program of the first kernel",
     "program of each kernel itself"},
    {"op_metrics", "parent", NULL,
     "mixes programs with the same id that TensorCores offload to SparseCores",
     "unknown; prof_issues (sparsecore_programs_mixed) lists where this happens"},
    {"op_metrics_totals", "total_ps", NULL,
     "measures a GPU from its smallest to its largest time, each counted from the start of a line, "
     "though lines can start at different times",
     "trace_events has times from the session start"},
    {"op_metrics_totals", "compute_16bit_ps", "compute_16bit_ps_actual", COPIES_COMPUTE,
     "computation without copies"},
    {"op_metrics_totals", "compute_32bit_ps", "compute_32bit_ps_actual", COPIES_COMPUTE,
     "computation without copies"},
    {"timeline", "duration_ps", "trace_events.duration_ps",
     "shortens scopes and ops that last as long as the one around them by 1 ns per level",
     "duration of the events below the scope or op"},
    {"timeline", "flow_in", "trace_events.correlation_id",
     "joins all events whose correlation_id has the type int64, because it reads these as 0",
     "equal for events of one host that belong together"},
    {"timeline", "args", "event_stats.value",
     "shows step_idle_time_ps of the previous step for a TPU step that has none",
     "stats of the event as the file has them"},
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
    {"core_steps", "device_collectives_us", "device_collectives_us_actual", FORGETS_HOST,
     WITH_HOST},
    {"core_steps", "host_compute_us", "host_compute_us_actual", FORGETS_HOST, WITH_HOST},
    {"core_steps", "kernel_launch_us", "kernel_launch_us_actual", FORGETS_HOST, WITH_HOST},
    {"core_steps", "input_us", "input_us_actual", FORGETS_HOST, WITH_HOST},
    {"core_steps", "output_us", "output_us_actual", FORGETS_HOST, WITH_HOST},
    {"core_steps", "compilation_us", "compilation_us_actual", COMPILES_NEVER, COMPILERS},
    {"core_steps", "all_others_us", "all_others_us_actual", FORGETS_HOST, WITH_HOST},
    {"core_steps", "bottleneck", "bottleneck_actual", FORGETS_HOST, WITH_HOST},
    {"core_steps", "chip_id", "chip_id_actual", "never sets it: shows 0",
     "chip in core_details of the device; NULL if it records none"},
    {"step_breakdown", "duration_ps", "duration_ps_actual", FORGETS_HOST, WITH_HOST},
    {"xprof_events", "start_ns", "trace_events.start_ps",
     "computes in floating point, which has Unix times only to 256 ns; an event that starts before "
     "its line is 2^64 ps too late",
     "exact time"},
    {"xprof_events", "end_ns", "trace_events.end_ps",
     "computes in floating point, which has Unix times only to 256 ns; after a negative offset or "
     "duration the time is 2^64 ps too late",
     "exact time"},
    {"xprof_events", "tf_op_name", "hlo_instructions.tf_op", UNREPAIRED, REPAIRED},
    {"xprof_events", "tf_op_type", "hlo_instructions.op_type", UNREPAIRED, REPAIRED},
    {"xprof_events", "input_tensors", "hlo_instructions.expression", UNREPAIRED, REPAIRED},
    {"xprof_events", "output_tensors", "hlo_instructions.shape", UNREPAIRED, REPAIRED},
    {"xprof_events", "hlo_fingerprint", "hlo_instructions.fingerprint", UNREPAIRED, REPAIRED},
    {"tf_data_iterators", "is_async", "is_async_actual",
     "recognizes asynchronous iterators only by their original names (ParallelMap, not "
     "ParallelMapV2)",
     "recognizes later versions too"},
    {"xprof_events", "self_time_ns", "trace_events.self_ps", "subtracts nested events only on TPUs",
     "duration without nested events, on every line"},
    {"hlo_ops", "bound_by", NULL,
     "computes Shm/L1 as HBM traffic over the peak bandwidth of shared memory",
     "unknown: no profiler reports the traffic of shared memory"},
    {"roofline", "bound_by", NULL,
     "computes Shm/L1 as HBM traffic over the peak bandwidth of shared memory",
     "unknown: no profiler reports the traffic of shared memory"},
};

#define DIFFERENCES_COLUMNS(C)                                                                     \
    C(DF_TABLE, "table_name", "TEXT", NULL, "table of the column that shows XProf's value",        \
      "libprofsql")                                                                                \
    C(DF_COLUMN, "column", "TEXT", NULL, "column that shows XProf's value", "libprofsql")          \
    C(DF_ACTUAL, "actual", "TEXT", NULL,                                                           \
      "column with the right value, of the same table or as table.column; NULL if there is none",  \
      "libprofsql")                                                                                \
    C(DF_XPROF, "xprof", "TEXT", NULL, "what XProf does wrong", "libprofsql")                      \
    C(DF_TRUTH, "truth", "TEXT", NULL, "what the right value is, or why there is none",            \
      "libprofsql")
enum { DIFFERENCES_COLUMNS(COLUMN_ENUM) };
static const Column differences_columns[] = {DIFFERENCES_COLUMNS(COLUMN_DOC)};

static void differences_list(RowCursor *c, RowList *list)
{
    (void)c;
    *list = ROW_LIST(differences, COUNT(differences));
}

static void differences_column(RowCursor *c, sqlite3_context *ctx, int column)
{
    const Difference *d = c->row;
    const char *const texts[] = {[DF_TABLE] = d->table,
                                 [DF_COLUMN] = d->column,
                                 [DF_ACTUAL] = d->actual,
                                 [DF_XPROF] = d->xprof,
                                 [DF_TRUTH] = d->truth};
    result_static(ctx, texts[column]);
}

static const RowSource differences_rows = {
    .list = differences_list, .column = differences_column, .without_source = true};
const Table prof_differences_table = {
    "prof_differences",
    "one column whose value equals XProf's and is known to be wrong, with the column that is right",
    differences_columns,
    COUNT(differences_columns),
    &row_table_module,
    &differences_rows,
    20,
    "0.1.0",
    "SELECT \"column\", actual, xprof, truth FROM prof_differences WHERE table_name = 'steps'"};
