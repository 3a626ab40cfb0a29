-- How do the GPU kernels of two runs differ?
-- parameter a: the first run: a label, file, run folder or log dir
-- parameter b: the second run
-- needs: events gpu
-- nothing: no event of a GPU is a kernel
-- column kernel_name TEXT: the kernel
-- column op_name TEXT: the framework op that it ran for; NULL when not known
-- column change TEXT: both: it ran in both; appeared: only in the second; vanished: only in the first
-- column occurrences_a INTEGER [kernels]: how often it ran in the first run; 0 when it did not
-- column occurrences_b INTEGER [kernels]: how often it ran in the second
-- column total_duration_us_a REAL [us]: sum of its durations in the first run
-- column total_duration_us_b REAL [us]: sum of its durations in the second
-- column delta_us REAL [us]: the second's total less the first's: positive is slower
-- column delta_percent REAL [percent]: delta as share of the first's total; NULL when that is 0
-- column avg_duration_us_a REAL [us]: average of one in the first run; NULL when it did not run
-- column avg_duration_us_b REAL [us]: average of one in the second; NULL when it did not run
-- column avg_ratio REAL: the second's average over the first's: above 1 is slower; NULL when it did not run in both
WITH both_runs AS (
    SELECT kernel_name, op_name_actual AS op_name, occurrences AS n_a, total_duration_us AS us_a, 0 AS n_b, 0.0 AS us_b FROM temp.kernel_stats(:a, 0)
    UNION ALL
    SELECT kernel_name, op_name_actual, 0, 0.0, occurrences, total_duration_us FROM temp.kernel_stats(:b, 0)
), kernels AS (
    SELECT kernel_name, op_name, CAST(sum(1.0 * n_a) AS INTEGER) AS n_a, CAST(sum(1.0 * n_b) AS INTEGER) AS n_b, sum(us_a) AS us_a, sum(us_b) AS us_b
    FROM both_runs
    GROUP BY kernel_name, op_name
)
SELECT kernel_name, op_name, CASE WHEN n_a AND n_b THEN 'both' WHEN n_b THEN 'appeared' ELSE 'vanished' END, n_a, n_b, us_a, us_b, us_b - us_a,
       100.0 * (us_b - us_a) / nullif(us_a, 0), us_a / nullif(n_a, 0), us_b / nullif(n_b, 0), (us_b / nullif(n_b, 0)) / nullif(us_a / nullif(n_a, 0), 0)
FROM kernels
ORDER BY abs(us_b - us_a) DESC, max(us_a, us_b) DESC, kernel_name, op_name
