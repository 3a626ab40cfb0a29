-- SPDX-License-Identifier: Apache-2.0
-- Which GPU kernels take the most time?
-- parameter source = NULL: a label, file, run folder or log dir; all attached runs without it
-- parameter n = 10: how many rows of each run
-- column run TEXT: the run
-- column rank INTEGER: 1 is the largest total of the run
-- column kernel_name TEXT: the kernel
-- column occurrences INTEGER [kernels]: how often it ran
-- column total_duration_us REAL [us]: sum of its durations on the event clock
-- column percent REAL [percent 0..100]: share of the time of all kernels of the run; NULL when all
--   are 0
-- column cumulative_percent REAL [percent 0..100]: share of this kernel and those above; NULL when
--   all are 0
-- column avg_duration_us REAL [us]: average of one
-- column min_duration_us REAL [us]: the shortest
-- column max_duration_us REAL [us]: the longest
-- column op_count INTEGER [ops]: framework ops that it ran for; 0 when none is known
-- column op_name TEXT: one of them, the one with the most time; NULL when none is known
-- column uses_tensorcore INTEGER [0 or 1]: 1: it runs on tensor cores, by its name
-- needs: events gpu
-- nothing: no event on a GPU is a kernel
WITH ops AS MATERIALIZED (
    SELECT run, kernel_name, op_name, CAST(total(occurrences) AS INTEGER) AS occurrences, sum(total_duration_us) AS total_us, min(min_duration_us) AS min_us,
           max(max_duration_us) AS max_us, max(kernel_uses_tensorcore) AS uses_tensorcore
    FROM temp.kernel_ops(:source)
    GROUP BY run, kernel_name, op_name
), kernels AS (
    SELECT run, kernel_name, sum(occurrences) AS occurrences, sum(total_us) AS total_us, min(min_us) AS min_us, max(max_us) AS max_us,
           max(uses_tensorcore) AS uses_tensorcore, count(op_name) AS op_count
    FROM ops
    GROUP BY run, kernel_name
), ranked AS (
    SELECT row_number() OVER heaviest AS rank, sum(total_us) OVER (PARTITION BY run) AS all_us, sum(total_us) OVER heaviest AS so_far_us, *
    FROM kernels
    WINDOW heaviest AS (PARTITION BY run ORDER BY total_us DESC, kernel_name ROWS UNBOUNDED PRECEDING)
)
SELECT run, rank, kernel_name, occurrences, total_us, 100.0 * total_us / nullif(all_us, 0), 100.0 * so_far_us / nullif(all_us, 0), total_us / occurrences, min_us, max_us, op_count,
       (SELECT o.op_name FROM ops AS o WHERE o.run = ranked.run AND o.kernel_name = ranked.kernel_name AND o.op_name IS NOT NULL ORDER BY o.total_us DESC, o.op_name LIMIT 1),
       uses_tensorcore
FROM ranked
WHERE rank <= coalesce(:n, 10)
ORDER BY run, rank
