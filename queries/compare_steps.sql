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
WITH step AS MATERIALIZED (
    SELECT 'a' AS of, * FROM temp.steps(:a) WHERE :a IS NOT NULL AND NOT dropped
    UNION ALL
    SELECT 'b', * FROM temp.steps(:b) WHERE :b IS NOT NULL AND NOT dropped
), category(n, name) AS (
    VALUES (0, 'Step time'), (1, 'Device compute'), (2, 'Device to device'),
           (3, 'Device collective communication'), (4, 'Host compute'), (5, 'Kernel launch'),
           (6, 'Input'), (7, 'Output'), (8, 'Compilation'), (9, 'All others')
), spent AS (
    SELECT c.n, c.name, of,
           CASE c.n WHEN 0 THEN duration_ms WHEN 1 THEN device_compute_ms_actual
                WHEN 2 THEN device_to_device_ms_actual
                WHEN 3 THEN device_collectives_ms_actual WHEN 4 THEN host_compute_ms_actual
                WHEN 5 THEN kernel_launch_ms_actual
                WHEN 6 THEN input_ms_actual WHEN 7 THEN output_ms_actual
                WHEN 8 THEN compilation_ms_actual ELSE all_others_ms_actual END AS ms
    FROM category AS c JOIN step
), averages AS (
    SELECT n, name, avg(ms) FILTER (WHERE of = 'a') AS a, avg(ms) FILTER (WHERE of = 'b') AS b,
           stddev(ms) FILTER (WHERE of = 'a') AS a_deviation,
           stddev(ms) FILTER (WHERE of = 'b') AS b_deviation,
           count(*) FILTER (WHERE of = 'a') AS a_steps, count(*) FILTER (WHERE of = 'b') AS b_steps
    FROM spent
    GROUP BY n
)
SELECT (SELECT max(run) FROM temp.hosts(:a)), (SELECT max(run) FROM temp.hosts(:b)), name, a, b,
       b - a, CASE WHEN a > 0 THEN b / a END, a_deviation, b_deviation, a_steps, b_steps
FROM averages
ORDER BY n
