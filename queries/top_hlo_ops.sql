-- SPDX-License-Identifier: Apache-2.0
-- Which HLO ops take the most time on the devices, or on the host in a run without devices?
-- example: SELECT * FROM top_hlo_ops WHERE n = 10
-- parameter source = NULL: label of an attached run, or path of a file, run folder or log dir; if
--   NULL, all attached runs
-- parameter n INTEGER = NULL: number of rows of each run; NULL for all
-- needs: events
-- nothing: no event belongs to an op of an HLO program (top_ops shows kernels and framework ops)
-- column run TEXT: name of the run
-- column rank INTEGER: rank by self time within the run; 1 is the longest
-- column hlo_op TEXT: name of the HLO instruction; for kernels of a CUDA graph whose instructions
--   are unknown, name of the graph
-- column category TEXT: HLO category of the op
-- column program_id TEXT: id of the program, decimal; NULL if the file does not name it
-- column hlo_module TEXT: name of the program's HLO module; NULL if the file does not contain the
--   program
-- column occurrences INTEGER: executions of the op on all cores (hlo_ops.occurrences_actual; on
--   GPUs and host threads scope_ops.executions, or if these are unknown, the number of kernels)
-- column self_time_us REAL [us]: total time of the op without nested ops, on the device clock;
--   top_ops uses the event clock, which on TPUs differs by some percent
-- column percent REAL [percent 0..100]: self time of the op as a share of the time in all ops of
--   the run
-- column cumulative_percent REAL [percent 0..100]: sum of percent of this op and the ops before it
-- column avg_self_time_us REAL [us]: average self time of one execution
-- column flops_utilization REAL [fraction]: FLOP rate of the op divided by the device's peak rate;
--   NULL if unknown
-- column hbm_utilization REAL [fraction]: HBM bandwidth of the op divided by the device's peak
--   bandwidth; above 1 if a cost is overestimated, far above 1 for the start and done of
--   asynchronous transfers; NULL if unknown
-- column bound_by TEXT: resource that the op uses closest to its peak; on GPUs, Compute or HBM, the
--   larger of the two preceding columns; Unknown if neither is known
-- column tf_op TEXT: framework op that the instruction comes from, with its type if the file has
--   it; NULL if unknown
-- column source_line TEXT: source file and line of the innermost stack frame, which may be in a
--   library; NULL if unknown
-- column user_file TEXT: source file of the user's own program, not of a library or framework
--   (docs/semantics.md, User line); NULL if unknown
-- column user_line INTEGER: line number in user_file; NULL if user_file is NULL
-- column work_kind TEXT: compute, collective or transfer: the kind of the op's work
--   (docs/semantics.md)
-- column is_container INTEGER [0 or 1]: 1: the op runs other ops (hlo_ops.is_container)
-- column is_recomputed INTEGER [0 or 1]: 1: the op computes values again for the gradients
--   (rematerialization)
-- column event_self_time_us REAL [us]: self_time_us on the event clock, on which steps and spans
--   are measured; the same on GPUs
WITH listed AS MATERIALIZED (
    SELECT run, program_id, hlo_op, hlo_module, category, occurrences_actual AS n,
           total_self_time_us AS us, flops_utilization, hbm_utilization,
           iif(core_type <> '', bound_by, NULL) AS bound_by, core_type, tf_op, source_file,
           source_line, user_file, user_line, work_kind, is_container,
           rematerialization = 'Yes' AS again,
           event_self_ps / 1e6 AS event_us
    FROM temp.hlo_ops(:source)
    WHERE rank > 0
), scoped AS MATERIALIZED ( -- hlo_ops lacks the kernels of CUDA graphs, and host threads; on GPUs
                            -- its time of an op can be that of other programs
    SELECT run, program_id, hlo_op, max(hlo_module) AS hlo_module, min(host) AS host,
           sum(coalesce(executions, occurrences)) AS n, sum(self_us) AS us, sum(flops) AS flops,
           sum(bytes_accessed) AS bytes
    FROM temp.scope_ops(:source)
    WHERE plane_kind IN ('gpu', 'host') AND hlo_op IS NOT NULL
    GROUP BY run, program_id, hlo_op
), unlisted AS MATERIALIZED (
    SELECT g.*
    FROM scoped AS g LEFT JOIN listed AS l ON l.run = g.run AND l.program_id IS g.program_id
                                           AND l.hlo_op = g.hlo_op
    WHERE l.run IS NULL OR g.n <> l.n OR abs(g.us - l.us) > l.us * 1e-9
), instruction AS MATERIALIZED (
    SELECT i.run, i.host, i.program_id, i.hlo_op, i.opcode, i.category, i.work_kind,
           coalesce(1.0 * i.flops_actual / i.model_flops_actual, 1) AS weight,
           i.tf_op, i.source_file, i.source_line, i.user_file, i.user_line
    FROM (SELECT 1 FROM unlisted LIMIT 1) CROSS JOIN temp.hlo_instructions(:source) AS i
), peak AS MATERIALIZED (
    SELECT run, avg(peak_flops_per_second) / 1e6 AS flops,
           avg(peak_hbm_bytes_per_second) / 1e6 AS bytes
    FROM (SELECT 1 FROM unlisted LIMIT 1) CROSS JOIN temp.devices(:source)
    GROUP BY run
), op AS (
    SELECT l.*
    FROM listed AS l LEFT JOIN unlisted AS u ON u.run = l.run AND u.program_id IS l.program_id
                                                AND u.hlo_op = l.hlo_op
         LEFT JOIN scoped AS s ON s.run = l.run AND s.program_id IS l.program_id
                                  AND s.hlo_op = l.hlo_op
    WHERE u.run IS NULL AND (l.core_type <> '' OR s.run IS NOT NULL) -- XProf's page lists kernels
                                                                     -- of framework ops too
    UNION ALL
    SELECT u.run, u.program_id, u.hlo_op, u.hlo_module, coalesce(i.category, 'unknown'), u.n, u.us,
           nullif(u.flops, 0) * i.weight / u.us / p.flops,
           nullif(u.bytes, 0) / u.us / p.bytes,
           NULL, NULL, i.tf_op, i.source_file, i.source_line, i.user_file, i.user_line,
           coalesce(i.work_kind, 'compute'),
           i.opcode IN ('while', 'conditional', 'call'),
           instr(u.hlo_op, '.remat') OR instr(coalesce(i.tf_op, ''), 'rematted_computation'),
           u.us
    FROM unlisted AS u
         LEFT JOIN instruction AS i ON i.run = u.run AND i.host = u.host
                                       AND i.program_id = u.program_id AND i.hlo_op = u.hlo_op
         LEFT JOIN peak AS p ON p.run = u.run
), ranked AS MATERIALIZED (
    SELECT *, row_number() OVER (PARTITION BY run ORDER BY us DESC, hlo_op, program_id) AS nth,
           sum(us) OVER (PARTITION BY run) AS all_us
    FROM op
)
SELECT run, nth, hlo_op, category, program_id, hlo_module, n, us, 100.0 * us / all_us,
       100.0 * sum(us) OVER (PARTITION BY run ORDER BY nth ROWS UNBOUNDED PRECEDING) / all_us,
       us / n, flops_utilization, hbm_utilization,
       CASE WHEN bound_by IS NOT NULL THEN bound_by
            WHEN coalesce(flops_utilization, hbm_utilization) IS NULL THEN 'Unknown'
            WHEN coalesce(flops_utilization, 0) >= coalesce(hbm_utilization, 0) THEN 'Compute'
            ELSE 'HBM' END,
       nullif(rtrim(tf_op, ':'), ''), source_file || ':' || source_line, user_file, user_line,
       work_kind, coalesce(is_container, 0), coalesce(again, 0), event_us
FROM ranked
WHERE (:n IS NULL OR nth <= :n)
ORDER BY run, nth
