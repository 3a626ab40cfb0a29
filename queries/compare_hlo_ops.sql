-- How do the HLO ops of two runs differ?
-- parameter a: the first run: a label, file, run folder or log dir
-- parameter b: the second run
-- needs: events device
-- nothing: no event of a device belongs to an op of an HLO program
-- column hlo_module TEXT: module of the op, all its programs together; NULL: the file does not hold it
-- column hlo_op TEXT: name of the instruction; compilers may give it to another one in the other run
-- column category TEXT: kind of op
-- column change TEXT: both: it ran in both; appeared: only in the second; vanished: only in the first
-- column occurrences_a INTEGER: how often it ran in the first run; 0 when it did not
-- column occurrences_b INTEGER: how often it ran in the second
-- column self_time_us_a REAL [us]: its time without nested ops in the first run
-- column self_time_us_b REAL [us]: the same in the second
-- column delta_us REAL [us]: the second's self time less the first's: positive is slower
-- column delta_percent REAL [percent]: delta as share of the first's self time; NULL when that is 0
-- column avg_self_time_us_a REAL [us]: self time of one in the first run; NULL when it did not run
-- column avg_self_time_us_b REAL [us]: the same in the second; NULL when it did not run
-- column avg_ratio REAL: the second's average over the first's: above 1 is slower; NULL when it did not run in both
WITH both_runs AS (
    SELECT hlo_module, hlo_op, category, 1 AS in_a, 0 AS in_b, occurrences AS n_a, total_self_time_us AS us_a, 0 AS n_b, 0.0 AS us_b
    FROM temp.hlo_ops(:a) WHERE rank > 0
    UNION ALL
    SELECT hlo_module, hlo_op, category, 0, 1, 0, 0.0, occurrences, total_self_time_us FROM temp.hlo_ops(:b) WHERE rank > 0
), ops AS (
    SELECT hlo_module, hlo_op, category, max(in_a) AS in_a, max(in_b) AS in_b, CAST(sum(1.0 * n_a) AS INTEGER) AS n_a, sum(us_a) AS us_a,
           CAST(sum(1.0 * n_b) AS INTEGER) AS n_b, sum(us_b) AS us_b
    FROM both_runs
    GROUP BY hlo_module, hlo_op, category
)
SELECT hlo_module, hlo_op, category, CASE WHEN in_a AND in_b THEN 'both' WHEN in_b THEN 'appeared' ELSE 'vanished' END, n_a, n_b, us_a, us_b, us_b - us_a,
       100.0 * (us_b - us_a) / nullif(us_a, 0), us_a / nullif(n_a, 0), us_b / nullif(n_b, 0), (us_b / nullif(n_b, 0)) / nullif(us_a / nullif(n_a, 0), 0)
FROM ops
ORDER BY abs(us_b - us_a) DESC, max(us_a, us_b) DESC, hlo_module, hlo_op, category
