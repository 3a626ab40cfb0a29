-- SPDX-License-Identifier: Apache-2.0
-- What is the MFU of the run, of each step and of each program (model FLOPS utilization)?
-- example: SELECT model_flops, span_ms, mfu_percent, hfu_percent FROM mfu LIMIT 1
-- parameter source = NULL: label of an attached run, or path of a file, run folder or log dir; if
--   NULL, all attached runs
-- parameter peak REAL [FLOP/s] = NULL: peak rate of one device, for devices whose peak is
--   unknown or for another data type; NULL for devices.peak_flops_per_second (16-bit types)
-- needs: events device
-- nothing: no GPU or TensorCore has work
-- column run TEXT: name of the run
-- column scope TEXT: what the row describes: run, step (a complete step) or program (all executions
--   of one HLO program); the row of the run is first
-- column step INTEGER: number of the step, as in the table steps; NULL for other scopes
-- column program_id TEXT: id of the HLO program; NULL for other scopes
-- column name TEXT: name of the step or of the HLO module; NULL for the run and if unknown
-- column device_type TEXT: type of the devices, as in the table devices; NULL if they are of
--   several types or no type is known
-- column device_count INTEGER: number of GPUs or TensorCores with work
-- column model_flops REAL [FLOP]: operations on all devices that the model needs, without those
--   that are computed again (program_flops.model_flops). Ops with unknown operations count as 0;
--   NULL if the operations of all ops are unknown, and if kernels of unknown operations take more
--   than a tenth of the busy time (docs/semantics.md, FLOPS utilization)
-- column hardware_flops REAL [FLOP]: operations that the devices carried out, those computed again
--   included (program_flops.hardware_flops), in which 8-bit operations count as a half and 4-bit
--   ones as a quarter; NULL if model_flops is unknown, or the operations are 0
-- column span_ms REAL [ms]: available time, averaged over the devices: for the run, the device's
--   span; for a step, its duration; for a program, the total duration of its executions
--   (program_runs); NULL if these are unknown
-- column busy_ms REAL [ms]: time spent, averaged over the devices: for the run, the time in which
--   the device is busy; for a program, the self time of its ops (simultaneous kernels on several
--   streams add up); NULL for steps
-- column peak_flops REAL [FLOP/s]: peak rate of one device (average if they differ): the parameter
--   peak, else that of the table devices; NULL if unknown
-- column mfu_percent REAL [percent]: model FLOPS utilization: model_flops as a share of what the
--   devices' peak allows in their span_ms; above 100 if the file overestimates the operations or
--   the peak is too low; NULL if one of them is unknown
-- column mfu_busy_percent REAL [percent]: model_flops as a share of what the devices' peak allows
--   in their busy_ms; NULL if one of them is unknown
-- column hfu_percent REAL [percent]: hardware FLOPS utilization: hardware_flops as a share of what
--   the devices' peak allows in their span_ms; NULL if one of them is unknown
-- column missing TEXT: what mfu_percent and mfu_busy_percent lack if both are NULL: operations, or
--   the peak; NULL if neither is missing
WITH device AS MATERIALIZED (
    SELECT d.run, d.device_type AS type, t.kind, t.span_ps, t.busy_ps,
           nullif(coalesce(:peak, d.peak_flops_per_second), 0) AS peak
    FROM temp.devices(:source) AS d
         JOIN temp.device_time(:source) AS t ON t.run = d.run AND t.plane_id = d.plane_id
    WHERE t.kind IN ('tensorcore', 'gpu') AND t.busy_ps IS NOT NULL -- devices with work
), fleet AS MATERIALIZED ( -- peaks are known for all devices or not at all
    SELECT run, count(*) AS n, min(kind) <> max(kind) AS is_mixed, sum(1.0 * span_ps) AS span,
           sum(1.0 * busy_ps) AS busy, iif(count(DISTINCT type) = 1, max(type), NULL) AS type,
           iif(count(peak) = count(*), avg(peak), NULL) AS peak,
           iif(count(peak) = count(*), sum(peak * span_ps), NULL) AS span_peak,
           iif(count(peak) = count(*), sum(peak * busy_ps), NULL) AS busy_peak
    FROM device
    GROUP BY run
), program AS MATERIALIZED (
    SELECT run, program_id, hlo_module AS name, op_ms * 1e9 AS busy, model_flops AS model,
           hardware_flops AS hardware, unlisted_percent / 100 AS unlisted, flops_by
    FROM temp.program_flops(:source)
    WHERE run IN (SELECT run FROM fleet)
), execution AS MATERIALIZED (
    SELECT run, program_id, sum(total_us) * 1e6 AS span
    FROM temp.program_totals(:source)
    GROUP BY run, program_id
), unknown AS MATERIALIZED ( -- share of the busy time in kernels of unknown operations
    SELECT f.run, sum(p.busy * p.unlisted) / f.busy AS unknown
    FROM program AS p JOIN fleet AS f ON f.run = p.run
    WHERE p.flops_by IS NOT 'program'
    GROUP BY f.run
), part AS (
    SELECT f.run, 1 AS place, 'run' AS scope, NULL AS step, NULL AS program_id, NULL AS name,
           sum(p.model) AS model, sum(p.hardware) AS hardware, f.span, f.busy, f.span_peak,
           f.busy_peak, (SELECT unknown FROM unknown AS u WHERE u.run = f.run) AS unknown
    FROM fleet AS f LEFT JOIN program AS p ON p.run = f.run
    GROUP BY f.run
    UNION ALL
    SELECT f.run, 2, 'step', s.step, NULL, s.name, s.model_flops, s.flops,
           s.duration_ms * 1e9 * f.n, NULL, s.duration_ms * 1e9 * f.n * f.peak, NULL,
           (SELECT unknown FROM unknown AS u WHERE u.run = f.run)
    FROM temp.flops_utilization_by_step(:source) AS s JOIN fleet AS f ON f.run = s.run
    UNION ALL
    SELECT f.run, 3, 'program', NULL, p.program_id, p.name, p.model, p.hardware, e.span, p.busy,
           e.span * f.peak, p.busy * f.peak, iif(p.flops_by IS NULL, p.unlisted, 0)
    FROM program AS p JOIN fleet AS f ON f.run = p.run
         LEFT JOIN execution AS e ON e.run = p.run AND e.program_id = p.program_id
    WHERE p.program_id IS NOT NULL
), known AS (
    SELECT *, unknown > 0.1 AS is_unknown, iif(unknown > 0.1, NULL, nullif(model, 0)) AS flops,
           iif(unknown > 0.1, NULL, nullif(hardware, 0)) AS hardware_flops
    FROM part
)
SELECT p.run, p.scope, p.step, p.program_id, p.name, f.type, f.n, p.flops, p.hardware_flops,
       p.span / f.n / 1e9, p.busy / f.n / 1e9, f.peak, 100.0 * p.flops / (p.span_peak / 1e12),
       100.0 * p.flops / (p.busy_peak / 1e12), 100.0 * p.hardware_flops / (p.span_peak / 1e12),
       CASE WHEN p.is_unknown THEN 'operations: ' || min(CAST(100 * p.unknown AS INTEGER), 100)
                || ' % of the busy time is in kernels that record no instruction, such as those '
                || 'of CUDA graphs, and the file does not say how many operations their programs '
                || 'need; see program_flops'
            WHEN p.scope = 'step' AND f.is_mixed THEN
                'operations: those of a step are not counted in a run of GPUs and TPUs'
            WHEN p.flops IS NULL THEN 'operations: no op that ran is known to need any'
            WHEN f.peak IS NULL THEN 'peak: unknown for these devices; give it to mfu(source, peak)'
       END
FROM known AS p JOIN fleet AS f ON f.run = p.run
ORDER BY p.run, p.place, p.step, p.busy DESC, p.program_id
