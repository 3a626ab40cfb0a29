-- SPDX-License-Identifier: Apache-2.0
-- What does a step of one run spend more time on than a step of another run?
-- parameter a: first run: label of an attached run, or path of a file, run folder or log dir
-- parameter b: second run: label of an attached run, or path of a file, run folder or log dir
-- needs: events steps
-- nothing: no step is complete
-- column run_a TEXT: name of the first run
-- column run_b TEXT: name of the second run
-- column category TEXT: Step time, or a category of what steps spend their time on
-- column a_ms REAL [ms]: average time of the category per complete step of run a; NULL if run a has
--   no complete step, or its time in the category is unknown
-- column b_ms REAL [ms]: average time of the category per complete step of run b; NULL if run b has
--   no complete step, or its time in the category is unknown
-- column difference_ms REAL [ms]: b_ms minus a_ms, negative if run b is faster; NULL if either is
--   NULL
-- column ratio REAL: b_ms divided by a_ms; NULL if either is NULL or a_ms is 0
-- column a_deviation_ms REAL [ms]: standard deviation over the complete steps of run a; NULL for
--   fewer than two steps
-- column b_deviation_ms REAL [ms]: standard deviation over the complete steps of run b; NULL for
--   fewer than two steps
-- column a_steps INTEGER [steps]: number of complete steps of run a (steps that XProf does not
--   drop)
-- column b_steps INTEGER [steps]: number of complete steps of run b (steps that XProf does not
--   drop)
WITH spent AS MATERIALIZED (
    SELECT 'a' AS of, * FROM temp.step_times(:a) WHERE :a IS NOT NULL AND NOT dropped
    UNION ALL
    SELECT 'b', * FROM temp.step_times(:b) WHERE :b IS NOT NULL AND NOT dropped
), averages AS (
    SELECT place, category, avg(ms) FILTER (WHERE of = 'a') AS a,
           avg(ms) FILTER (WHERE of = 'b') AS b,
           stddev(ms) FILTER (WHERE of = 'a') AS a_deviation,
           stddev(ms) FILTER (WHERE of = 'b') AS b_deviation,
           count(*) FILTER (WHERE of = 'a') AS a_steps, count(*) FILTER (WHERE of = 'b') AS b_steps
    FROM spent
    GROUP BY place
)
SELECT (SELECT max(run) FROM temp.hosts(:a)), (SELECT max(run) FROM temp.hosts(:b)), category, a,
       b, b - a, CASE WHEN a > 0 THEN b / a END, a_deviation, b_deviation, a_steps, b_steps
FROM averages
ORDER BY place
