-- Which kernels could run on tensor cores and do not?
-- parameter source = NULL: a label, file, run folder or log dir; all attached runs without it
-- parameter n = 20: how many rows
-- needs: events gpu
-- nothing: none found: no kernel of an op that tensor cores can run runs without them
-- column rank INTEGER: 1 is the largest total
-- column op_name TEXT: the framework op, which by its name is one that tensor cores run
-- column kernel_name TEXT: the kernel that runs it, which by its name does not use them
-- column occurrences INTEGER [kernels]: how often it ran
-- column total_duration_us REAL [us]: sum of its durations
-- column percent REAL [percent 0..100]: share of all kernels' time
-- column avg_duration_us REAL [us]: average of one
WITH reports AS MATERIALIZED (
    SELECT op_name_actual AS op_name, kernel_name, occurrences, total_duration_us, op_is_tensorcore_eligible_actual AND NOT kernel_uses_tensorcore_actual AS missed
    FROM temp.kernel_stats(:source, 0)
), kernels AS (
    SELECT op_name, kernel_name, CAST(sum(1.0 * occurrences) AS INTEGER) AS occurrences, sum(total_duration_us) AS total_us
    FROM reports
    WHERE missed
    GROUP BY op_name, kernel_name
)
SELECT row_number() OVER (ORDER BY total_us DESC, op_name, kernel_name), op_name, kernel_name, occurrences, total_us,
       100.0 * total_us / (SELECT nullif(sum(total_duration_us), 0) FROM reports), total_us / occurrences
FROM kernels
ORDER BY 1
LIMIT coalesce(:n, 20)
