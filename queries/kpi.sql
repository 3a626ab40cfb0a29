-- How well did the run do, in one row?
-- parameter source = NULL: a label, file, run folder or log dir; all attached runs without it
-- column run TEXT: the run
-- column hardware TEXT: UNKNOWN_HARDWARE, CPU_ONLY, GPU or TPU
-- column device_count INTEGER: GPUs, TensorCores and SparseCores
-- column step_count INTEGER: complete steps, or those that a framework marks where XProf finds none
-- column step_time_ms REAL [ms]: how long such a step takes, on average; NULL without any
-- column step_time_deviation_percent REAL [percent]: sample deviation of that, by the average; NULL for fewer than two steps
-- column input_percent REAL [percent 0..100]: time of the steps that goes to input; NULL without steps
-- column input_verdict TEXT: host: input bound, both: partly or perhaps, device: not, unknown: no steps
-- column compute_percent REAL [percent 0..100]: time of the steps in which devices compute; NULL without devices
-- column collectives_percent REAL [percent 0..100]: time of the steps that goes to collectives; NULL without devices
-- column device_busy_percent REAL [percent 0..100]: time in which a device works, on average: of GPUs by the time from their host's first event on one to the last; of TPUs in ops, by the lines' spans; NULL without devices
-- column duty_cycle_percent REAL [percent 0..100]: time in which the chips compute; NULL off TPU
-- column flops_utilization_percent REAL [percent]: operations by the devices' peak, over the steps, beyond 100 where the file overstates what ops cost; NULL when either is unknown
-- column kernel_launch_percent REAL [percent 0..100]: time of the steps that goes to launching kernels; NULL on TPU and without devices
-- column peak_memory_mib REAL [MiB]: the most memory in use at once: what an allocator saw, else what the compiler planned for a program; NULL where neither is known
-- column peak_memory_of TEXT: that allocator, or that program; NULL: none
WITH device AS MATERIALIZED (
    SELECT run, count(*) AS n FROM temp.devices(:source) GROUP BY run
), totals AS MATERIALIZED (
    SELECT run, CASE WHEN total_ps > 0 THEN 100.0 * total_op_ps / total_ps END AS busy, CASE WHEN busy_ps + idle_ps > 0 THEN 100.0 * busy_ps / (busy_ps + idle_ps) END AS duty
    FROM temp.op_metrics_totals(:source)
    WHERE side = 'device'
), gpu AS MATERIALIZED (
    SELECT run, host, plane, interval_union(start_ps, duration_ps) AS busy, min(start_ps) AS first, max(end_ps) AS last
    FROM temp.trace_events(:source)
    WHERE plane_kind = 'gpu' AND NOT derived AND abs(1.0 * start_ps) < 3e18 AND duration_ps < 3e18 -- none of real ones lasts a month
    GROUP BY run, host, plane
), of_host AS (
    SELECT run, sum(1.0 * busy) AS busy, 1.0 * count(*) * (max(last) - min(first)) AS span FROM gpu GROUP BY run, host
), gpus AS MATERIALIZED (
    SELECT run, CASE WHEN sum(span) > 0 THEN 100.0 * sum(busy) / sum(span) END AS busy FROM of_host GROUP BY run
), flops AS MATERIALIZED (
    SELECT run, CASE WHEN sum(duration_ms) > 0 THEN sum(utilization_percent * duration_ms) / sum(duration_ms) END AS used
    FROM temp.flops_utilization_by_step(:source)
    WHERE utilization_percent IS NOT NULL
    GROUP BY run
), marked AS MATERIALIZED (
    SELECT run, avg(duration_ms) AS ms, stddev(duration_ms) AS deviation FROM temp.steps(:source) WHERE outside_xprof GROUP BY run
), allocator AS MATERIALIZED (
    SELECT run, CASE WHEN allocator GLOB '[0-9]*' THEN 'allocator ' ELSE '' END || allocator AS name, max(profile_peak_bytes) / 1048576.0 AS mib FROM temp.memory_allocators(:source) GROUP BY run
), program AS MATERIALIZED (
    SELECT run, hlo_module AS name, max(peak_heap_mib) AS mib
    FROM temp.memory_peaks(:source)
    WHERE memory_space = 0 AND run NOT IN (SELECT run FROM allocator)
    GROUP BY run
)
SELECT i.run, i.hardware, coalesce(d.n, 0), i.step_count_actual, coalesce(i.step_time_ms_average, m.ms),
       CASE WHEN i.step_time_ms_average > 0 THEN 100.0 * i.step_time_ms_deviation / i.step_time_ms_average WHEN m.ms > 0 THEN 100.0 * m.deviation / m.ms END,
       i.input_percent_actual, i.input_verdict_actual, CASE WHEN d.n THEN i.compute_percent_actual END, CASE WHEN d.n THEN i.collectives_percent_actual END,
       coalesce(g.busy, CASE WHEN i.hardware = 'TPU' THEN t.busy END),
       CASE WHEN i.hardware = 'TPU' THEN t.duty END, f.used, CASE WHEN d.n THEN i.kernel_launch_percent_actual END,
       coalesce(a.mib, p.mib), coalesce(a.name, p.name)
FROM temp.input_pipeline(:source) AS i LEFT JOIN device AS d ON d.run = i.run LEFT JOIN totals AS t ON t.run = i.run LEFT JOIN gpus AS g ON g.run = i.run LEFT JOIN flops AS f ON f.run = i.run
     LEFT JOIN marked AS m ON m.run = i.run LEFT JOIN allocator AS a ON a.run = i.run LEFT JOIN program AS p ON p.run = i.run
ORDER BY i.run
