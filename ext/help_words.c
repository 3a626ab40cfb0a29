// SPDX-License-Identifier: Apache-2.0
/* help_words.c: see help_words.h. prof_help() searches this list and docs/functions.md shows it. */
#include "help_words.h"

#include "prof.h"

const HelpWords help_words[] = {
    {"MFU, HFU, model FLOPS utilization, hardware FLOPS utilization, TFLOPS, FLOPS",
     "mfu, flops_utilization_by_step, kpi, flops_utilization, peak_flops, "
     "hlo_ops.flops_utilization"},
    {"KPI, summary, dashboard, how fast", "kpi, overview, overview_page, capture_summary"},
    {"why slow, advice, hint, what to do", "recommendations, kpi, host_bound, input_bound"},
    {"bottleneck, bound, limited by",
     "host_bound, input_bound, top_wasted, tf_data_pipelines, steps.bottleneck, "
     "hlo_ops.bound_by"},
    {"roofline, arithmetic intensity, operational intensity, compute bound, memory bound",
     "roofline, top_wasted, roofline_flops, arithmetic_intensity, hlo_ops.bound_by"},
    {"step time, iteration, iteration time, throughput, steps per second",
     "steps, step_time_graph, slowest_steps, step_breakdown, kpi.step_time_ms"},
    {"jitter, outlier, slow step", "slowest_steps, kpi.step_time_deviation_percent"},
    {"idle, bubble, gap, stall, pipeline bubble, duty cycle",
     "idle_gaps, program_gaps, time_breakdown, device_time, kpi.device_busy_percent, "
     "kpi.duty_cycle_percent"},
    {"straggler, skew, imbalance, slow host, slow rank",
     "stragglers, collectives, collectives.global_wait_ps, core_steps"},
    {"allreduce, all-reduce, allgather, all-gather, reduce-scatter, all-to-all, NCCL, RCCL, "
     "collective, communication, ICI, NVLink",
     "collectives, exposed_communication, exposed_communication_by_step, device_time, async_ops"},
    {"bus bandwidth, busbw, algbw, algorithm bandwidth, nccl-tests",
     "collectives.bus_gibps, collectives.algorithm_gibps, collectives.message_bytes"},
    {"overlap, exposed, hidden",
     "exposed_communication, time_breakdown, device_time, device_steps, async_ops"},
    {"temporal breakdown, time breakdown, what overlaps what", "time_breakdown, device_time"},
    {"DCN, megascale, multislice, network", "dcn_collectives, dcn_messages, dcn_bursts"},
    {"memcpy, memset, H2D, D2H, D2D, host to device, transfer, copy, PCIe",
     "device_time, exposed_communication, async_ops, device_time.transferring_ps"},
    {"host bound, dispatch, launch overhead, CPU bound",
     "host_bound, launch_latency, launch_delays, idle_gaps"},
    {"annotation, TraceAnnotation, NVTX, range, record_function, named range",
     "range_kernels, launch_delays.annotation, trace_events"},
    {"input bound, data loading, dataloader, data pipeline, infeed",
     "input_bound, input_pipeline, input_ops, input_breakdown, steps.input_ms"},
    {"tf.data, prefetch, dataset, iterator",
     "tf_data_pipelines, tf_data_iterators, tf_data_calls, input_ops"},
    {"retracing, retrace, tracing, tf.function", "tf_functions, tf_functions.tracing_count"},
    {"recompile, recompilation, compile, compilation, compile time, JIT",
     "recompilations, compilations, steps.compilation_ms_actual, tf_functions, hlo_modules"},
    {"jit cache miss, new shape, dynamic shape", "recompilations, compilations"},
    {"eager", "eager_ops, tf_functions"},
    {"layer, module, framework op, op name", "tf_ops, kernel_time_by_op, compare_tf_ops"},
    {"kernel, CUDA, GPU kernel", "top_kernels, kernel_stats, kernel_ops, kernel_time_by_op"},
    {"tensor core, TensorCores, mixed precision, AMP",
     "tensorcore_missed, kernel_ops.kernel_uses_tensorcore"},
    {"MXU, hardware counter", "utilization, kernel_utilization, perf_counters"},
    {"fusion, fused", "fusion_breakdown, hlo_instructions.fusion_kind"},
    {"HLO, XLA, graph, IR", "hlo_text, hlo_instructions, hlo_modules, top_hlo_ops"},
    {"OOM, out of memory, HBM, peak memory, VRAM",
     "peak_memory, largest_buffers, memory_allocators, memory_active, memory_peaks, "
     "kpi.peak_memory_mib"},
    {"leak, allocation, malloc", "live_allocations, allocation_churn, memory_events"},
    {"remat, rematerialization, recompute, checkpointing, gradient checkpointing",
     "remat_candidates, hlo_ops.rematerialization"},
    {"padding, tiling, wasted memory", "padding_waste, padding_efficiency, padded_bytes"},
    {"source line, stack, line of code, traceback",
     "memory_by_source_line, launch_delays.python_stack, hlo_ops.source_line, "
     "hlo_ops.source_stack"},
    {"trace, trace viewer, Perfetto, Chrome trace, timeline", "timeline, trace_events"},
    {"diff, regression, A/B, compare",
     "compare_ops, compare_steps, compare_kernels, compare_hlo_ops, compare_tf_ops"},
    {"latency, percentile, p50, p99, serving, inference",
     "op_percentiles, inference_latency, inference_percentiles, inference_requests, percentile"},
    {"variance, spread, tail, standard deviation", "op_percentiles, stddev"},
    {"batch, batching, batch size", "inference_batches, inference_models"},
    {"power, temperature, clock, throttling", "gpu_samples"},
    {"hardware, accelerator, peak bandwidth", "devices, kpi.hardware, bandwidth_utilization"},
    {"error, warning, empty, no rows, truncated, dropped", "prof_issues, session"},
    {"live, running, now", "profsql_live"},
};
const int n_help_words = COUNT(help_words);
