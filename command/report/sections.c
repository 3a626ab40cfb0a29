// SPDX-License-Identifier: Apache-2.0
/* sections.c: the content of a report: a list of sections, each with figures; see page.h. */
#include "page.h"

/* The last arguments are the SQL of a table, or the name of a chart's table, and further fields. */
#define TABLE(title_, table_, keys_, rows_, ...)                                                   \
    {                                                                                              \
        .shape = SHAPE_TABLE, .title = title_, .table = table_, .keys = keys_, .rows = rows_,      \
        .sql = __VA_ARGS__                                                                         \
    }
#define CHART(chart_, ...)                                                                         \
    {                                                                                              \
        .shape = SHAPE_CHART, .chart = &(chart_), .table = __VA_ARGS__                             \
    }

/* clang-format off */
const Section sections[] = {
    {"summary", "Summary", NULL, {
        {.shape = SHAPE_CARDS, .title = "Key figures", .table = "kpi", .rows = 1, .sql =
            "SELECT step_time_ms AS \"step time|ms\",\n"
            "    step_time_deviation_percent AS \"deviation of steps|%\",\n"
            "    step_count AS \"complete steps|\",\n"
            "    input_percent AS \"waiting for input|% of steps\",\n"
            "    kernel_launch_percent AS \"launching kernels|% of steps\",\n"
            "    device_busy_percent AS \"devices busy|%\",\n"
            "    compute_percent AS \"computing|%\",\n"
            "    exposed_communication_percent AS \"communication not hidden|%\",\n"
            "    duty_cycle_percent AS \"duty cycle|%\",\n"
            "    mfu_percent AS \"MFU|% of peak\",\n"
            "    flops_utilization_percent AS \"FLOPs of steps|% of peak\",\n"
            "    peak_memory_mib AS \"peak memory|MiB\"\n"
            "FROM kpi(?1)",
            .none = "every key figure is unknown",
            .limit = "% of peak", .above_limit = "A share of the peak is above 100 %: the file "
                "overestimates the operations, or the peak is too low."}}},
    {"advice", "What to do",
        "Findings that cost 5 % of the time or more, most expensive first. A cost is an upper "
        "bound of what can be saved. Costs of different findings can overlap, and ops that run on "
        "several streams or threads at once add up.", {
        {.shape = SHAPE_ADVICE, .title = "Advice", .table = "advice", .keys = 1, .rows = 20, .sql =
            "SELECT rule, cost_percent, finding, evidence, action, query FROM advice(?1)\n"
            "WHERE status = 'finding' ORDER BY rank LIMIT ?2",
            .none = "no rule of advice found a cost of 5 % of the time or more"}}},
    {"steps", "Steps",
        "A triangle marks a step of more than 1.3 times the median. Pale steps are the first and "
        "last, which statistics leave out; an arrow means that a step is longer than the axis. A "
        "bar is as long as the step on its longest core, its parts are averages of the cores, and "
        "the rest is time in none of them.", {
        CHART(step_chart, "steps"),
        TABLE("Slowest steps", "steps", 1, 10,
            "SELECT row_number() OVER (ORDER BY duration_ms DESC) AS rank,\n"
            "    coalesce(name || ' (' || step || ')', step) AS step,\n"
            "    duration_ms AS \"duration (ms)\",\n"
            "    device_compute_ms_actual AS \"computing (ms)\",\n"
            "    device_collectives_ms_actual AS \"collectives (ms)\",\n"
            "    input_ms_actual AS \"input (ms)\", kernel_launch_ms_actual AS \"launch (ms)\",\n"
            "    host_compute_ms_actual AS \"host (ms)\", bottleneck\n"
            "FROM steps(?1) WHERE dropped = 0 ORDER BY duration_ms DESC LIMIT ?2")}},
    {"time", "Where the time goes",
        "Widths are times. A click or Enter zooms, a second one or Escape zooms out.", {
        CHART(scope_icicle, "time_by_scope", .none = "no op is in a named scope"),
        CHART(op_icicle, "op_profile", .none = "no work of a device belongs to an op"),
        TABLE("Lines of the program", "time_by_source_line", 2, 15,
            "SELECT user_file AS file, user_line AS line, user_function AS function,\n"
            "    self_us / 1e3 AS \"self time (ms)\", percent AS \"share %\", scope\n"
            "FROM time_by_source_line(?1) WHERE user_file IS NOT NULL\n"
            "ORDER BY self_us DESC LIMIT ?2",
            .none = "no op has a line of the user's own program")}},
    {"ops", "Ops and kernels", "A click on a heading sorts.", {
        TABLE("Ops by self time", "top_ops", 2, 25,
            "SELECT short_name AS op, place, self_time_us / 1e3 AS \"self time (ms)\",\n"
            "    self_time_percent AS \"share %\", occurrences, avg_time_us AS \"average (µs)\",\n"
            "    max_time_us AS \"longest (µs)\"\n"
            "FROM top_ops(?1, ?2) ORDER BY rank"),
        TABLE("GPU kernels", "top_kernels", 1, 25,
            "SELECT short_name AS kernel, total_duration_us / 1e3 AS \"time (ms)\",\n"
            "    percent AS \"share %\", occurrences, avg_duration_us AS \"average (µs)\",\n"
            "    max_duration_us AS \"longest (µs)\",\n"
            "    CASE uses_tensorcore WHEN 1 THEN 'yes' WHEN 0 THEN 'no' END AS \"tensor cores\",\n"
            "    op_name AS op\n"
            "FROM top_kernels(?1, ?2) ORDER BY rank")}},
    {"roofline", "Roofline",
        "Each point is an op; its area grows with its time. The roof is the highest rate that the "
        "device allows: the slope is the bandwidth of its memory, the level part its peak FLOP "
        "rate. An op far below the roof is limited by something else.", {
        CHART(roofline_chart, "roofline", .none =
            "no op has both a FLOP rate and an operational intensity"),
        TABLE("Ops and their limits", "roofline", 1, 20,
            "SELECT operation AS op, category, total_self_time_us / 1e3 AS \"self time (ms)\",\n"
            "    self_time_fraction * 100 AS \"share %\",\n"
            "    model_gflops AS \"rate (GFLOP/s)\",\n"
            "    hbm_operational_intensity AS \"FLOP/byte\",\n"
            "    roofline_efficiency_fraction * 100 AS \"of its roof (%)\",\n"
            "    bound_by AS \"limited by\"\n"
            "FROM roofline(?1) WHERE record = 'Total' AND rank > 0 AND include_infeed_outfeed = 1\n"
            "    AND hbm_operational_intensity > 0 ORDER BY total_self_time_us DESC LIMIT ?2",
            .none = "no op has an operational intensity",
            .limit = "of its roof", .above_limit = "An op is above its roof: the file "
                "overestimates its operations or bytes, or it is an asynchronous transfer.")}},
    {"input", "Input pipeline", NULL, {
        TABLE("Verdict", "input_pipeline", 0, 1,
            "SELECT CASE input_verdict_actual WHEN 'host' THEN 'input bound'\n"
            "        WHEN 'both' THEN 'partly or perhaps input bound'\n"
            "        WHEN 'device' THEN 'not input bound'\n"
            "        ELSE input_verdict_actual END AS verdict,\n"
            "    input_percent_actual AS \"input %\",\n"
            "    output_percent_actual AS \"output %\", input_statement AS statement\n"
            "FROM input_pipeline(?1) LIMIT ?2"),
        TABLE("Time of the host's input", "input_breakdown", 1, 10,
            "SELECT category AS part, time_us / 1e3 AS \"time (ms)\",\n"
            "    fraction * 100 AS \"share %\", advice\n"
            "FROM input_breakdown(?1) WHERE time_us > 0 ORDER BY time_us DESC LIMIT ?2",
            .none = "no part of the input takes time"),
        TABLE("Ops of the input pipeline", "input_ops", 1, 15,
            "SELECT operation AS op, category, total_self_time_ms AS \"self time (ms)\",\n"
            "    self_time_fraction * 100 AS \"share %\",\n"
            "    total_time_ms AS \"total (ms)\", occurrences\n"
            "FROM input_ops(?1) ORDER BY total_self_time_ms DESC LIMIT ?2")}},
    {"memory", "Memory", NULL, {
        CHART(memory_chart, "memory_over_time"),
        CHART(heap_chart, "heap_timeline"),
        TABLE("What makes up the memory peak", "peak_holders", 3, 25,
            "SELECT peak_of AS \"peak of\", kind, coalesce(tf_op, hlo_op) AS holder,\n"
            "    size_mib AS \"size (MiB)\", percent AS \"share %\", shape, holders AS buffers\n"
            "FROM peak_holders(?1, ?2) ORDER BY rank"),
        TABLE("Programs", "peak_memory", 1, 10,
            "SELECT hlo_module AS program, peak_mib AS \"peak (MiB)\",\n"
            "    parameters_mib AS \"parameters (MiB)\", outputs_mib AS \"outputs (MiB)\",\n"
            "    temporaries_mib AS \"temporaries (MiB)\", padding_mib AS \"padding (MiB)\",\n"
            "    peak_op AS \"op at the peak\"\n"
            "FROM peak_memory(?1, ?2)")}},
    {"communication", "Communication",
        "Communication is exposed while its device does not compute.", {
        TABLE("Devices", "device_time", 2, 32,
            "SELECT host, plane AS device, busy_percent AS \"busy %\",\n"
            "    computing_percent AS \"computing %\",\n"
            "    communicating_percent AS \"communicating %\",\n"
            "    exposed_communication_percent AS \"exposed %\",\n"
            "    exposed_transfer_percent AS \"exposed transfers %\", idle_percent AS \"idle %\"\n"
            "FROM device_time(?1) WHERE span_ps IS NOT NULL LIMIT ?2",
            .none = "no device has work"),
        TABLE("Collectives and transfers by exposed time", "exposed_communication", 2, 20,
            "SELECT op, kind, exposed_us / 1e3 AS \"exposed (ms)\",\n"
            "    total_us / 1e3 AS \"total (ms)\",\n"
            "    exposed_percent AS \"exposed %\", wait_us / 1e3 AS \"waiting (ms)\",\n"
            "    occurrences,\n"
            "    gibps AS \"rate (GiB/s)\", overlapped_by AS \"overlapped by\"\n"
            "FROM exposed_communication(?1) ORDER BY exposed_us DESC LIMIT ?2"),
        TABLE("Collectives between slices over the data-center network", "dcn_collectives", 1, 20,
            "SELECT rendezvous_name AS rendezvous, transfer_type AS type,\n"
            "    occurrences AS transfers, net_tx_bytes AS \"sent by one (bytes)\",\n"
            "    observed_duration_ms AS \"duration (ms)\", slack_time_ms AS \"slack (ms)\",\n"
            "    stall_duration_ms AS \"stall (ms)\",\n"
            "    total_stall_ms AS \"stalls of all (ms)\"\n"
            "FROM dcn_collectives(?1) ORDER BY total_stall_ms DESC LIMIT ?2")}},
    {"idle", "Idle devices", NULL, {
        TABLE("What the host did meanwhile", "idle_causes", 2, 15,
            "SELECT cause, name, idle_us / 1e3 AS \"idle (ms)\", idle_percent AS \"share %\",\n"
            "    device_count AS devices, python_frame AS \"Python frame\"\n"
            "FROM idle_causes(?1) ORDER BY idle_us DESC LIMIT ?2")}},
    {"compiles", "Compilations", NULL, {
        TABLE("Functions", "recompilations", 1, 15,
            "SELECT function, compilation_count AS compilations, program_count AS programs,\n"
            "    duration_us / 1e3 AS \"time (ms)\", differs\n"
            "FROM recompilations(?1) ORDER BY duration_us DESC LIMIT ?2"),
        TABLE("Longest compilations", "compilations", 2, 10,
            "SELECT function, hlo_module AS program, duration_us / 1e3 AS \"time (ms)\",\n"
            "    tracing_us / 1e3 AS \"tracing (ms)\", start_us / 1e3 AS \"at (ms)\", step\n"
            "FROM compilations(?1) ORDER BY duration_us DESC LIMIT ?2")}},
    {"serving", "Model server", NULL, {
        TABLE("Models", "inference_models", 1, 20,
            "SELECT model, request_count AS requests, average_latency_ms AS \"latency (ms)\",\n"
            "    request_throughput AS \"requests/s\", batch_count AS batches,\n"
            "    average_batch_latency_ms AS \"batch latency (ms)\"\n"
            "FROM inference_models(?1) WHERE request_count > 0 OR batch_count > 0 LIMIT ?2",
            .none = "no model has requests or batches"),
        TABLE("Latency", "inference_latency", 1, 20,
            "SELECT percentile, total_ms AS \"total (ms)\", host_ms_actual AS \"host (ms)\",\n"
            "    device_ms_actual AS \"device (ms)\",\n"
            "    communication_ms_actual AS \"communication (ms)\"\n"
            "FROM inference_latency(?1) LIMIT ?2")}},
    {"hosts", "Hosts", NULL, {
        TABLE("Hosts and their files", "hosts", 1, 64,
            "SELECT host, hostname, event_count AS events,\n"
            "    size_bytes / 1e6 AS \"file (MB)\", damage\n"
            "FROM hosts(?1) LIMIT ?2"),
        TABLE("Cores and hosts that slow others down", "stragglers", 2, 20,
            "WITH s AS MATERIALIZED (SELECT * FROM stragglers(?1))\n"
            "SELECT host, plane AS core, step_ms AS \"step (ms)\", own_ms AS \"own time (ms)\",\n"
            "    over_median_ms AS \"over the median (ms)\",\n"
            "    waited_ms AS \"waited (ms)\", straggler\n"
            "FROM s WHERE (SELECT count(*) FROM s) > 1\n"
            "ORDER BY over_median_ms DESC LIMIT ?2",
            .none = "the run has one core: no other to compare with")}},
    {"problems", "Problems of the file", NULL, {
        TABLE("What was lost, repaired or is doubtful", "prof_issues", 2, 50,
            "SELECT severity, code, message, count, host FROM prof_issues(?1)\n"
            "WHERE code <> 'nothing_to_show' ORDER BY CASE severity WHEN 'error' THEN 0\n"
            "    WHEN 'warning' THEN 1 ELSE 2 END LIMIT ?2",
            .longest = 4000, .none = "nothing was lost or repaired, and nothing is doubtful")}},
};
/* clang-format on */
const int n_sections = (int)COUNT(sections);
