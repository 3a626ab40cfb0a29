-- SPDX-License-Identifier: Apache-2.0
-- Which framework ops do GPU kernels and copies run for, in profiler files of any age?
-- parameter source = NULL: label of an attached run, or path of a file, run folder or log dir; if
--   NULL, all attached runs
-- parameter n INTEGER = NULL: number of rows of each run; NULL for all
-- column run TEXT: name of the run
-- column rank INTEGER: rank by total time within the run; 1 is the longest
-- column type TEXT: type of the op; NULL if the file does not record it
-- column operation TEXT: name of the framework op; name of the HLO op if the program names no
--   framework op; name of the CUDA graph if the instruction of its kernel is unknown; NULL if the
--   file names no op
-- column occurrences INTEGER: number of kernels and copies that ran for the op
-- column kernel_count INTEGER [kernels]: number of different names among the op's kernels and
--   copies
-- column total_time_us REAL [us]: sum of the durations of the op's kernels and copies on the event
--   clock
-- column avg_time_us REAL [us]: average duration of one of the op's kernels and copies
-- column percent REAL [percent 0..100]: total_time_us as a share of the time of all kernels and
--   copies of the run; NULL if all durations are 0
-- column tensorcore_utilization_fraction REAL [fraction 0..1]: share of the op's kernel time in
--   kernels on tensor cores, judged by their names; NULL without kernels
-- needs: events gpu
-- nothing: no event on a GPU is a kernel or copy
WITH graph_kernel AS MATERIALIZED (
    SELECT run, host, event_id, program_id, graph, hlo_op, tf_op, name, duration_ps
    FROM temp.graph_kernels(:source)
), in_graph AS ( -- by the instruction that the kernels run
    SELECT run, host, program_id, graph, hlo_op, tf_op, name, count(*) AS n,
           sum(1.0 * duration_ps) AS ps
    FROM graph_kernel
    GROUP BY run, host, program_id, graph, hlo_op, tf_op, name
), launched AS MATERIALIZED ( -- numbers in the place of names: less to sort
    SELECT e.run, e.program_id, e.hlo_op, e.tf_op, min(e.event_id) AS event_id, count(*) AS n,
           sum(1.0 * e.duration_ps) AS ps
    FROM temp.trace_events(:source) AS e
         LEFT JOIN graph_kernel AS g ON g.run = e.run AND g.event_id = e.event_id
    WHERE e.plane_kind = 'gpu' AND NOT e.derived AND g.run IS NULL
    GROUP BY e.plane_id, e.metadata_id, e.program_id, e.hlo_op, e.tf_op, e.run
), event AS MATERIALIZED (
    SELECT l.run, e.host, l.program_id, l.hlo_op, l.tf_op, e.name, l.n, l.ps
    FROM launched AS l CROSS JOIN temp.trace_events(:source) AS e
         ON e.run = l.run AND e.event_id = l.event_id
    UNION ALL
    SELECT run, host, program_id, coalesce(hlo_op, graph), tf_op, name, n, ps
    FROM in_graph
), instruction AS MATERIALIZED (
    SELECT run, host, program_id, hlo_op, tf_op, op_type
    FROM temp.hlo_instructions(:source)
    WHERE tf_op <> '' AND EXISTS (SELECT 1 FROM event WHERE hlo_op IS NOT NULL)
), kernel AS MATERIALIZED (
    SELECT run, kernel_name AS name, max(kernel_uses_tensorcore_actual) AS tensorcore
    FROM temp.kernel_stats(:source, 0)
    GROUP BY run, kernel_name
), named AS (
    SELECT e.run, e.n, e.ps, e.name, k.tensorcore,
           CASE WHEN e.hlo_op IS NOT NULL THEN coalesce(i.tf_op, e.hlo_op)
                WHEN e.tf_op GLOB '?*:*' AND e.tf_op NOT GLOB 'Iterator:*' THEN
                     substr(e.tf_op, 1, instr(e.tf_op, ':') - 1)
                ELSE e.tf_op END AS operation,
           CASE WHEN e.hlo_op IS NOT NULL THEN nullif(i.op_type, '')
                ELSE nullif(substr(e.tf_op, nullif(instr(e.tf_op, ':'), 0) + 1), '') END AS type
    FROM event AS e LEFT JOIN instruction AS i ON i.run = e.run AND i.host = e.host
         AND i.program_id = e.program_id AND i.hlo_op = e.hlo_op
         LEFT JOIN kernel AS k ON k.run = e.run AND k.name = e.name
), op AS (
    SELECT run, type, operation, sum(n) AS n, count(DISTINCT name) AS kernels, sum(ps) AS ps,
           sum(CASE WHEN tensorcore THEN ps ELSE 0 END) AS tensorcore,
           sum(CASE WHEN tensorcore IS NOT NULL THEN ps END) AS kernel_ps
    FROM named
    GROUP BY run, type, operation
), ranked AS (
    SELECT *, row_number() OVER (PARTITION BY run ORDER BY ps DESC, operation, type) AS rank,
           sum(ps) OVER (PARTITION BY run) AS all_ps FROM op
)
SELECT run, rank, type, operation, n, kernels, ps / 1e6, ps / 1e6 / n,
       100.0 * ps / all_ps, tensorcore / kernel_ps
FROM ranked
WHERE (:n IS NULL OR rank <= :n)
ORDER BY run, rank
