-- SPDX-License-Identifier: Apache-2.0
-- Which GPU kernels take the most time?
-- example: SELECT rank, short_name, total_duration_us, percent FROM top_kernels WHERE n = 10
-- parameter source = NULL: label of an attached run, or path of a file, run folder or log dir; if
--   NULL, all attached runs
-- parameter n INTEGER = NULL: number of rows of each run; NULL for all
-- column run TEXT: name of the run
-- column rank INTEGER: rank by total duration within the run; 1 is the longest
-- column kernel_name TEXT: name of the kernel
-- column short_name TEXT: name of the kernel without namespaces, template arguments and
--   parameters, unique in the run (docs/semantics.md)
-- column occurrences INTEGER [kernels]: number of times that the kernel ran
-- column total_duration_us REAL [us]: sum of the kernel's durations on the event clock
-- column percent REAL [percent 0..100]: total_duration_us as a share of the time of all kernels of
--   the run; NULL if all durations are 0
-- column cumulative_percent REAL [percent 0..100]: sum of percent of this kernel and the kernels
--   before it; NULL if all durations are 0
-- column avg_duration_us REAL [us]: average duration of one execution
-- column min_duration_us REAL [us]: shortest duration of the kernel
-- column max_duration_us REAL [us]: longest duration of the kernel
-- column op_count INTEGER [ops]: number of framework ops that the kernel ran for; 0 if none is
--   known
-- column op_name TEXT: name of the framework op with the most time in the kernel; NULL if none is
--   known
-- column uses_tensorcore INTEGER [0 or 1]: 1: the kernel runs on tensor cores, judged by its
--   HLO op and its name
-- needs: events gpu
-- nothing: no event on a GPU is a kernel
WITH ops AS MATERIALIZED (
    SELECT run, kernel_name, max(short_name) AS short_name, op_name,
           CAST(total(occurrences) AS INTEGER) AS occurrences, sum(total_duration_us) AS total_us,
           min(min_duration_us) AS min_us,
           max(max_duration_us) AS max_us, max(kernel_uses_tensorcore) AS uses_tensorcore
    FROM temp.kernel_ops(:source)
    GROUP BY run, kernel_name, op_name
), kernels AS (
    SELECT run, kernel_name, max(short_name) AS short_name, sum(occurrences) AS occurrences,
           sum(total_us) AS total_us, min(min_us) AS min_us, max(max_us) AS max_us,
           max(uses_tensorcore) AS uses_tensorcore, count(op_name) AS op_count
    FROM ops
    GROUP BY run, kernel_name
), ranked AS (
    SELECT row_number() OVER heaviest AS rank, sum(total_us) OVER (PARTITION BY run) AS all_us,
           sum(total_us) OVER heaviest AS so_far_us, *
    FROM kernels
    WINDOW heaviest AS (PARTITION BY run ORDER BY total_us DESC,
                        kernel_name ROWS UNBOUNDED PRECEDING)
)
SELECT run, rank, kernel_name, short_name, occurrences, total_us,
       100.0 * total_us / all_us, 100.0 * so_far_us / all_us,
       total_us / occurrences, min_us, max_us, op_count,
       (SELECT o.op_name FROM ops AS o WHERE o.run = ranked.run
        AND o.kernel_name = ranked.kernel_name AND o.op_name IS NOT NULL ORDER BY o.total_us DESC,
        o.op_name LIMIT 1),
       uses_tensorcore
FROM ranked
WHERE (:n IS NULL OR rank <= :n)
ORDER BY run, rank
