-- How well did the run do, in one row?
-- parameter source = NULL: a label, file, run folder or log dir; all attached runs without it
-- column run TEXT: the run
-- column hardware TEXT: UNKNOWN_HARDWARE, CPU_ONLY, GPU or TPU
-- column device_count INTEGER: GPUs, TensorCores and SparseCores, also those without work
-- column step_count INTEGER: complete steps
-- column step_time_ms REAL [ms]: how long such a step takes, on average; NULL without any
-- column step_time_deviation_percent REAL [percent]: sample deviation of that, by the average; NULL for fewer than two steps
-- column input_percent REAL [percent 0..100]: share of the complete steps, of all cores together, that goes to input: as in host_bound; NULL without steps
-- column input_verdict TEXT: host: input bound, both: partly or perhaps, device: not, unknown: no steps
-- column active_device_count INTEGER: devices with work: those whose time the percentages of a span are of
-- column compute_percent REAL [percent 0..100]: part of the devices' spans in which they compute (collectives and transfers are not computing), as computing_ps of device_time; NULL without devices that work
-- column collectives_percent REAL [percent 0..100]: part of the devices' spans in which collectives run, as communicating_ps of device_time; NULL without devices that work
-- column exposed_communication_percent REAL [percent 0..100]: part of the devices' spans in which collectives run and the device does not compute; NULL without devices that work
-- column device_busy_percent REAL [percent 0..100]: part of the devices' spans that their work covers, as busy_ps of device_time; NULL without devices that work
-- column duty_cycle_percent REAL [percent 0..100]: time in which the chips compute; NULL off TPU
-- column flops_utilization_percent REAL [percent]: operations by the devices' peak, over the steps, beyond 100 where the file overstates what ops cost; NULL when either is unknown
-- column kernel_launch_percent REAL [percent 0..100]: time of the steps that goes to launching kernels; NULL on TPU and without devices
-- column peak_memory_mib REAL [MiB]: the most memory in use at once: what an allocator saw, else what the compiler planned for a program; NULL where neither is known
-- column peak_memory_of TEXT: that allocator, or that program; NULL: none
WITH device AS MATERIALIZED (
    SELECT run, count(*) AS n FROM temp.devices(:source) GROUP BY run
), totals AS MATERIALIZED (
    SELECT run, CASE WHEN busy_ps + idle_ps > 0 THEN 100.0 * busy_ps / (busy_ps + idle_ps) END AS duty FROM temp.op_metrics_totals(:source) WHERE side = 'device'
), work AS MATERIALIZED (
    SELECT run, count(span_ps) AS n, nullif(sum(1.0 * span_ps), 0) AS span, sum(1.0 * busy_ps) AS busy, sum(1.0 * computing_ps) AS computing,
           sum(1.0 * communicating_ps) AS communicating, sum(1.0 * exposed_communication_ps) AS exposed
    FROM temp.device_time(:source)
    GROUP BY run
), flops AS MATERIALIZED (
    SELECT run, CASE WHEN sum(duration_ms) > 0 THEN sum(utilization_percent * duration_ms) / sum(duration_ms) END AS used
    FROM temp.flops_utilization_by_step(:source)
    WHERE utilization_percent IS NOT NULL
    GROUP BY run
), step AS MATERIALIZED (
    SELECT run, count(*) AS n, avg(duration_ms) AS ms, stddev(duration_ms) AS deviation FROM temp.steps(:source) WHERE NOT dropped GROUP BY run
), allocator AS MATERIALIZED (
    SELECT run, CASE WHEN allocator GLOB '[0-9]*' THEN 'allocator ' ELSE '' END || allocator AS name, max(profile_peak_bytes) / 1048576.0 AS mib FROM temp.memory_allocators(:source) GROUP BY run
), program AS MATERIALIZED (
    SELECT run, hlo_module AS name, max(peak_heap_mib) AS mib
    FROM temp.memory_peaks(:source)
    WHERE memory_space = 0 AND run NOT IN (SELECT run FROM allocator)
    GROUP BY run
)
SELECT i.run, i.hardware, coalesce(d.n, 0), coalesce(m.n, 0), m.ms, 100.0 * m.deviation / nullif(m.ms, 0),
       i.input_percent_actual, i.input_verdict_actual, coalesce(w.n, 0), 100.0 * w.computing / w.span, 100.0 * w.communicating / w.span, 100.0 * w.exposed / w.span,
       100.0 * w.busy / w.span,
       CASE WHEN i.hardware = 'TPU' THEN t.duty END, f.used, CASE WHEN d.n THEN i.kernel_launch_percent_actual END,
       coalesce(a.mib, p.mib), coalesce(a.name, p.name)
FROM temp.input_pipeline(:source) AS i LEFT JOIN device AS d ON d.run = i.run LEFT JOIN totals AS t ON t.run = i.run LEFT JOIN work AS w ON w.run = i.run LEFT JOIN flops AS f ON f.run = i.run
     LEFT JOIN step AS m ON m.run = i.run LEFT JOIN allocator AS a ON a.run = i.run LEFT JOIN program AS p ON p.run = i.run
ORDER BY i.run
