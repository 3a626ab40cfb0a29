-- SPDX-License-Identifier: Apache-2.0
-- How well did the run perform, in one row?
-- example: SELECT step_time_ms, input_percent, flops_utilization_percent, peak_memory_mib FROM kpi
-- parameter source = NULL: label of an attached run, or path of a file, run folder or log dir; if
--   NULL, all attached runs
-- column run TEXT: name of the run
-- column hardware TEXT: kind of hardware of the run: CPU_ONLY, GPU or TPU; NULL if unknown, as for
--   an HLO dump
-- column device_count INTEGER: number of GPUs, TensorCores and SparseCores (rows of the table
--   devices), with or without work; NULL for a run that has neither a device nor an event
-- column step_count INTEGER: number of complete steps; NULL if no event was recorded
-- column step_time_ms REAL [ms]: average duration of a complete step; NULL without complete steps
-- column step_time_deviation_percent REAL [percent]: sample standard deviation of the step time as
--   a share of the average; NULL for fewer than two steps
-- column input_percent REAL [percent 0..100]: share of the complete steps, over all cores, spent on
--   input (as in host_bound); NULL without steps
-- column input_verdict TEXT: host: input bound, both: partly or perhaps input bound, device: not
--   input bound, unknown: no steps; as in input_bound
-- column active_device_count INTEGER: number of main devices with work; the percentages of a span
--   are shares of their time. Main devices are GPUs and TensorCores, or SparseCores if no GPU or
--   TensorCore has work; NULL if no event was recorded
-- column compute_percent REAL [percent 0..100]: share of the main devices' spans in which they
--   compute, without collectives and transfers (computing_ps of device_time); NULL without devices
--   that work
-- column collectives_percent REAL [percent 0..100]: share of the main devices' spans in which
--   collectives run (communicating_ps of device_time); NULL without devices that work
-- column exposed_communication_percent REAL [percent 0..100]: share of the main devices' spans in
--   which collectives run and the device does not compute; NULL without devices that work
-- column device_busy_percent REAL [percent 0..100]: share of the main devices' spans in which they
--   are busy (busy_ps of device_time); NULL without devices that work
-- column step_device_percent REAL [percent 0..100]: share of the complete steps, over all cores, in
--   which devices work (row devices of host_bound). Unlike device_busy_percent, it leaves out the
--   time before, between and after the steps; NULL without devices or steps
-- column duty_cycle_percent REAL [percent 0..100]: share of time in which the TPU chips compute;
--   NULL if not on TPU
-- column flops_utilization_percent REAL [percent]: operations of the steps as a share of what the
--   devices' peak allows in that time; above 100 if the file overestimates the operations; NULL if
--   either is unknown
-- column mfu_percent REAL [percent]: model operations as a share of what the devices' peak allows
--   in their spans (as in mfu for the run); NULL if either is unknown
-- column kernel_launch_percent REAL [percent 0..100]: share of step time spent on launching
--   kernels; NULL on TPU, and without devices or steps
-- column peak_memory_mib REAL [MiB]: largest memory in use at one time, as recorded by an
--   allocator; without allocator events, as planned by the compiler for a program; NULL if neither
--   is known
-- column peak_memory_of TEXT: name of the allocator or program with this peak ("allocator 0" for
--   one that has a number instead); NULL if neither is known
WITH recorded AS MATERIALIZED (
    SELECT DISTINCT run FROM temp.planes(:source) WHERE event_count > 0
), device AS MATERIALIZED (
    SELECT run, count(*) AS n FROM temp.devices(:source) GROUP BY run
), totals AS MATERIALIZED (
    SELECT run, 100.0 * busy_ps / (busy_ps + idle_ps) AS duty
    FROM (SELECT 1 FROM temp.input_pipeline(:source) WHERE hardware = 'TPU' LIMIT 1)
         CROSS JOIN temp.op_metrics_totals(:source) -- not needed for GPUs
    WHERE side = 'device'
), work AS MATERIALIZED (
    SELECT run, count(span_ps) AS n, sum(1.0 * span_ps) AS span,
           sum(1.0 * busy_ps) AS busy,
           sum(1.0 * computing_ps) AS computing, sum(1.0 * communicating_ps) AS communicating,
           sum(1.0 * exposed_communication_ps) AS exposed
    FROM temp.device_time(:source)
    WHERE is_main
    GROUP BY run
), flops AS MATERIALIZED (
    SELECT run, max(iif(scope = 'run', mfu_percent, NULL)) AS mfu,
           sum(hfu_percent * span_ms) FILTER (WHERE scope = 'step') /
           sum(span_ms) FILTER (WHERE scope = 'step' AND hfu_percent IS NOT NULL) AS used
    FROM temp.mfu(:source)
    GROUP BY run
), input AS MATERIALIZED (
    SELECT run, verdict FROM temp.input_bound(:source)
), bound AS MATERIALIZED (
    SELECT run, percent FROM temp.host_bound(:source) WHERE what = 'devices'
), step AS MATERIALIZED (
    SELECT run, count(*) AS n, avg(duration_ms) AS ms, stddev(duration_ms) AS deviation
    FROM temp.steps(:source)
    WHERE NOT dropped
    GROUP BY run
), allocator AS MATERIALIZED (
    SELECT run, iif(allocator GLOB '[0-9]*', 'allocator ', '') || allocator AS name,
           max(profile_peak_bytes) / 1048576.0 AS mib
    FROM temp.memory_allocators(:source)
    GROUP BY run
), program AS MATERIALIZED (
    SELECT run, hlo_module AS name, max(peak_heap_mib) AS mib
    FROM temp.memory_peaks(:source)
    WHERE memory_space = 0 AND run NOT IN (SELECT run FROM allocator)
    GROUP BY run
)
SELECT i.run,
       CASE WHEN r.run IS NOT NULL OR d.n > 0 THEN nullif(i.hardware, 'UNKNOWN_HARDWARE') END,
       iif(r.run IS NOT NULL, coalesce(d.n, 0), d.n),
       iif(r.run IS NOT NULL, coalesce(m.n, 0), NULL),
       m.ms, 100.0 * m.deviation / m.ms,
       i.input_percent_actual, b.verdict,
       iif(r.run IS NOT NULL, coalesce(w.n, 0), NULL),
       100.0 * w.computing / w.span, 100.0 * w.communicating / w.span, 100.0 * w.exposed / w.span,
       100.0 * w.busy / w.span, CASE WHEN d.n THEN h.percent END,
       CASE WHEN i.hardware = 'TPU' THEN t.duty END, f.used, f.mfu,
       CASE WHEN d.n THEN i.kernel_launch_percent_actual END, coalesce(a.mib, p.mib),
       coalesce(a.name, p.name)
FROM temp.input_pipeline(:source) AS i LEFT JOIN recorded AS r ON r.run = i.run
     LEFT JOIN device AS d ON d.run = i.run LEFT JOIN totals AS t ON t.run = i.run
     LEFT JOIN work AS w ON w.run = i.run LEFT JOIN flops AS f ON f.run = i.run
     LEFT JOIN input AS b ON b.run = i.run LEFT JOIN bound AS h ON h.run = i.run
     LEFT JOIN step AS m ON m.run = i.run
     LEFT JOIN allocator AS a ON a.run = i.run LEFT JOIN program AS p ON p.run = i.run
ORDER BY i.run
