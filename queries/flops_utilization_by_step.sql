-- SPDX-License-Identifier: Apache-2.0
-- How much of the devices' peak FLOP rate did each step use (MFU, HFU)?
-- parameter source = NULL: label of an attached run, or path of a file, run folder or log dir; if
--   NULL, all attached runs
-- needs: events device steps
-- nothing: no step is complete
-- column run TEXT: name of the run
-- column step INTEGER: number of the step, as in the table steps
-- column name TEXT: name of the step; NULL if it has no name
-- column duration_ms REAL [ms]: duration of the step
-- column flops REAL [FLOP]: operations of the step on all devices. An op's hlo_ops.flops_actual is
--   divided evenly over its events (on TPUs, separately for each host). For a program with kernels
--   of CUDA graphs, program_flops.hardware_flops is divided evenly over the program's kernels. Ops
--   with unknown operations count as 0. NULL if the operations of all ops are unknown, if kernels
--   of unknown operations take more than a tenth of the busy time (docs/semantics.md, FLOPS
--   utilization), and in a run with both GPUs and TPUs
-- column model_flops REAL [FLOP]: model operations of the step on all devices, without ops that are
--   computed again; found in the same way as flops; NULL if flops is unknown
-- column gflops_per_device REAL [GFLOP/s]: flops divided by the step's duration and by the number
--   of GPUs or TensorCores with work; NULL if flops is NULL
-- column peak_gflops REAL [GFLOP/s]: peak FLOP rate of one device; NULL if unknown
-- column utilization_percent REAL [percent]: gflops_per_device as a share of peak_gflops (hardware
--   FLOPS utilization, HFU); above 100 if the file overestimates the operations; NULL if either is
--   unknown
-- column model_utilization_percent REAL [percent]: utilization_percent computed from model_flops
--   (model FLOPS utilization, MFU); NULL if either is unknown
WITH device AS MATERIALIZED (
    SELECT d.run, count(*) AS n, max(d.peak_flops_per_second) AS peak,
           iif(min(t.kind) = max(t.kind), max(t.kind), NULL) AS kind -- NULL: GPUs and TPUs
    FROM temp.devices(:source) AS d JOIN temp.device_time(:source) AS t ON t.run = d.run
         AND t.plane_id = d.plane_id
    WHERE t.kind IN ('tensorcore', 'gpu') AND t.busy_ps IS NOT NULL -- devices with work
    GROUP BY d.run
), program AS MATERIALIZED (
    SELECT run, program_id, flops_by, hardware_flops / occurrences AS flops,
           model_flops / occurrences AS model_flops, op_ms * unlisted_percent * 1e7 AS unlisted_ps
    FROM temp.program_flops(:source)
    WHERE run IN (SELECT run FROM device WHERE kind = 'gpu')
), op AS MATERIALIZED ( -- one row for each instruction of a program
    SELECT run, program_id, hlo_op, flops_actual / occurrences AS flops,
           iif(rematerialization = 'No', model_flops_actual, 0) / occurrences AS model_flops
    FROM temp.hlo_ops(:source)
    WHERE rank > 0 AND model_flops_actual > 0 AND run IN (SELECT run FROM program)
), kernel AS MATERIALIZED (
    SELECT e.run, e.host, e.step AS group_id, e.program_id, e.hlo_op, count(*) AS n
    -- without FLOPs the events are not read
    FROM (SELECT 1 FROM program WHERE flops > 0 LIMIT 1) CROSS JOIN temp.trace_events(:source) AS e
    WHERE e.plane_kind = 'gpu' AND NOT e.derived AND e.step IS NOT NULL AND e.hlo_op IS NOT NULL
    GROUP BY e.run, e.host, e.step, e.program_id, e.hlo_op
), work AS MATERIALIZED (
    SELECT run, CAST(record AS INTEGER) AS step, flops_actual AS flops,
           model_flops_actual AS model_flops
    FROM temp.roofline(:source)
    WHERE rank = 0 AND include_infeed_outfeed AND record NOT IN ('Total', 'Average')
      AND run IN (SELECT run FROM device WHERE kind = 'tensorcore')
    UNION ALL
    SELECT k.run, h.step,
           sum(k.n * CASE p.flops_by WHEN 'program' THEN p.flops WHEN 'ops' THEN op.flops END),
           sum(k.n * CASE p.flops_by WHEN 'program' THEN p.model_flops
                                     WHEN 'ops' THEN op.model_flops END)
    FROM kernel AS k JOIN program AS p ON p.run = k.run AND p.program_id = k.program_id
         LEFT JOIN op ON op.run = k.run AND op.program_id = k.program_id AND op.hlo_op = k.hlo_op
         JOIN temp.host_steps(:source) AS h ON h.run = k.run AND h.host = k.host
             AND h.group_id = k.group_id
    WHERE h.step IS NOT NULL
    GROUP BY k.run, h.step
), unknown AS MATERIALIZED ( -- runs in which kernels of unknown operations take too much time
    SELECT run
    FROM program AS p
    WHERE flops_by IS NOT 'program'
    GROUP BY run
    HAVING sum(unlisted_ps) > 0.1 * (SELECT sum(1.0 * t.busy_ps)
                                     FROM temp.device_time(:source) AS t
                                     WHERE t.run = p.run AND t.kind IN ('tensorcore', 'gpu'))
), step AS (
    SELECT s.rowid AS place, s.run, s.step, s.name, s.duration_ms, nullif(w.flops, 0) AS flops,
           nullif(w.model_flops, 0) AS model_flops, d.peak, d.n
    FROM temp.steps(:source) AS s JOIN device AS d ON d.run = s.run
         LEFT JOIN work AS w ON w.run = s.run AND w.step = s.step
                                AND w.run NOT IN (SELECT run FROM unknown)
    WHERE NOT s.dropped
)
SELECT run, step, name, duration_ms, flops, model_flops,
       CASE WHEN duration_ms > 0 THEN flops / n / duration_ms / 1e6 END, peak / 1e9,
       CASE WHEN duration_ms > 0 AND peak > 0 THEN
            100.0 * flops / n / (duration_ms / 1e3) / peak END,
       CASE WHEN duration_ms > 0 AND peak > 0 THEN
            100.0 * model_flops / n / (duration_ms / 1e3) / peak END
FROM step
ORDER BY run, place
