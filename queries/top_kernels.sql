-- Which GPU kernels take the most time?
-- parameter source = NULL: a label, file, run folder or log dir; all attached runs without it
-- parameter n = 10: how many rows
-- needs: events gpu
-- nothing: no event of a GPU is a kernel
-- column rank INTEGER: 1 is the largest total
-- column kernel_name TEXT: the kernel
-- column occurrences INTEGER [kernels]: how often it ran
-- column total_duration_us REAL [us]: sum of its durations
-- column percent REAL [percent 0..100]: share of all kernels' time; NULL when all are 0
-- column cumulative_percent REAL [percent 0..100]: share of this kernel and those above; NULL when all are 0
-- column avg_duration_us REAL [us]: average of one
-- column min_duration_us REAL [us]: the shortest
-- column max_duration_us REAL [us]: the longest
-- column op_count INTEGER [ops]: framework ops that it ran for; 0 when none is known
-- column op_name TEXT: one of them, the one with the most time; NULL when none is known
-- column uses_tensorcore INTEGER [0 or 1]: 1: it runs on tensor cores, by its name
WITH reports AS MATERIALIZED (
    SELECT kernel_name, op_name_actual AS op_name, occurrences, total_duration_us, min_duration_us, max_duration_us, kernel_uses_tensorcore_actual AS uses_tensorcore
    FROM temp.kernel_stats(:source, 0)
), kernels AS (
    SELECT kernel_name, CAST(sum(1.0 * occurrences) AS INTEGER) AS occurrences, sum(total_duration_us) AS total_us, min(min_duration_us) AS min_us, max(max_duration_us) AS max_us,
           max(uses_tensorcore) AS uses_tensorcore, count(DISTINCT op_name) AS op_count
    FROM reports
    GROUP BY kernel_name
), ranked AS (
    SELECT row_number() OVER (ORDER BY total_us DESC, kernel_name) AS rank, sum(total_us) OVER () AS all_us,
           sum(total_us) OVER (ORDER BY total_us DESC, kernel_name ROWS UNBOUNDED PRECEDING) AS so_far_us, *
    FROM kernels
)
SELECT rank, kernel_name, occurrences, total_us, CASE WHEN all_us > 0 THEN 100.0 * total_us / all_us END,
       CASE WHEN all_us > 0 THEN 100.0 * so_far_us / all_us END, total_us / occurrences, min_us, max_us, op_count,
       (SELECT r.op_name FROM reports AS r WHERE r.kernel_name = ranked.kernel_name AND r.op_name IS NOT NULL ORDER BY r.total_duration_us DESC, r.op_name LIMIT 1),
       uses_tensorcore
FROM ranked
WHERE rank <= coalesce(:n, 10)
ORDER BY rank
