-- SPDX-License-Identifier: Apache-2.0
-- Is the difference between two groups of runs more than noise?
-- example: SELECT category, a_ms, b_ms, verdict FROM compare_groups('before*', 'after*')
-- parameter runs_a = NULL: pattern (GLOB) of the labels of the first group's attached runs, such as
--   'before*'; NULL: no run
-- parameter runs_b = NULL: pattern (GLOB) of the labels of the second group's attached runs; NULL:
--   no run
-- needs: events steps
-- nothing: no patterns of labels are given (runs_a, runs_b), or no run of a group has a complete
--   step
-- column category TEXT: Step time, or a category of what steps spend their time on
-- column a_ms REAL [ms]: median over the first group's runs of the average time per complete step;
--   NULL if no run of the group has complete steps, or the time in the category is unknown
-- column b_ms REAL [ms]: median over the second group's runs of the average time per complete step;
--   NULL if no run of the group has complete steps, or the time in the category is unknown
-- column difference_ms REAL [ms]: b_ms minus a_ms, negative if the second group is faster; NULL if
--   either is NULL
-- column difference_percent REAL [percent]: difference_ms as a share of a_ms; NULL if either is
--   NULL or a_ms is 0
-- column verdict TEXT: slower or faster: the two groups differ by more than the variation within
--   the groups explains (Welch's t-test at 95 %); noise: they do not; identical: no two runs
--   differ, to 1e-12 ms; unknown: a group has fewer than two runs. The degrees of freedom are
--   rounded down to 1, 1.25, 1.5, 1.75, 2, 2.5, 3 to 10, 12, 15, 20, 30, 60, 120 or 1000, so that
--   doubtful differences count as noise
-- column t REAL: Welch's t: difference of the groups' means divided by its standard error; NULL if
--   the verdict is unknown or identical, or no two runs of a group differ
-- column a_runs INTEGER: number of runs of the first group with complete steps and a known time
-- column b_runs INTEGER: number of runs of the second group with complete steps and a known time
-- column a_min_ms REAL [ms]: smallest value of the first group's runs; NULL if a_ms is NULL
-- column a_max_ms REAL [ms]: largest value of the first group's runs; NULL if a_ms is NULL
-- column b_min_ms REAL [ms]: smallest value of the second group's runs; NULL if b_ms is NULL
-- column b_max_ms REAL [ms]: largest value of the second group's runs; NULL if b_ms is NULL
WITH spent AS MATERIALIZED (
    SELECT 'a' AS side, * FROM temp.step_times WHERE run GLOB :runs_a AND NOT dropped
    UNION ALL
    SELECT 'b', * FROM temp.step_times WHERE run GLOB :runs_b AND NOT dropped
), averages AS MATERIALIZED (
    SELECT place, category, side, run, round(avg(ms), 12) AS ms
    FROM spent
    GROUP BY place, side, run
), groups AS (
    SELECT place, category, count(ms) FILTER (WHERE side = 'a') AS a_runs,
           count(ms) FILTER (WHERE side = 'b') AS b_runs,
           median(ms) FILTER (WHERE side = 'a') AS a_ms,
           median(ms) FILTER (WHERE side = 'b') AS b_ms,
           avg(ms) FILTER (WHERE side = 'a') AS a_mean, avg(ms) FILTER (WHERE side = 'b') AS b_mean,
           stddev(ms) FILTER (WHERE side = 'a') AS a_deviation,
           stddev(ms) FILTER (WHERE side = 'b') AS b_deviation,
           min(ms) FILTER (WHERE side = 'a') AS a_min, max(ms) FILTER (WHERE side = 'a') AS a_max,
           min(ms) FILTER (WHERE side = 'b') AS b_min, max(ms) FILTER (WHERE side = 'b') AS b_max
    FROM averages
    GROUP BY place
), errors AS ( -- squares of the standard errors
    SELECT *, a_deviation * a_deviation / a_runs AS a_error,
           b_deviation * b_deviation / b_runs AS b_error
    FROM groups
), tested AS ( -- by Welch and Satterthwaite
    SELECT *, (b_mean - a_mean) / sqrt(a_error + b_error) AS t,
           (a_error + b_error) * (a_error + b_error)
           / (a_error * a_error / (a_runs - 1) + b_error * b_error / (b_runs - 1))
               AS freedom
    FROM errors
), student(freedom, least) AS ( -- 97.5 % of Student's distribution lie below `least`
    VALUES (1, 12.7062), (1.25, 8.028), (1.5, 6.0167), (1.75, 4.9488), (2, 4.3027), (2.5, 3.5747),
           (3, 3.1824), (4, 2.7764), (5, 2.5706), (6, 2.4469), (7, 2.3646), (8, 2.306), (9, 2.2622),
           (10, 2.2281), (12, 2.1788), (15, 2.1314), (20, 2.086), (30, 2.0423), (60, 2.0003),
           (120, 1.9799), (1000, 1.9623)
), pattern(parameter, glob) AS (
    VALUES ('runs_a', :runs_a), ('runs_b', :runs_b)
), answer AS (
    SELECT category, a_ms, b_ms, b_ms - a_ms, 100 * (b_ms - a_ms) / a_ms,
           CASE WHEN a_runs < 2 OR b_runs < 2 THEN 'unknown'
                WHEN t IS NULL AND a_min = b_min THEN 'identical'
                WHEN t IS NULL OR abs(t) > (SELECT min(least) FROM student AS s
                                            WHERE s.freedom <= t.freedom + 1e-9)
                     THEN iif(b_mean > a_mean, 'slower', 'faster')
                ELSE 'noise' END,
           t, a_runs, b_runs, a_min, a_max, b_min, b_max
    FROM tested AS t
    ORDER BY place
)
SELECT prof_error('compare_groups: ' || parameter || ': no attached run is called like '''
                  || glob || '''; prof_runs lists them'),
       NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
FROM pattern
WHERE glob IS NOT NULL AND NOT EXISTS (SELECT 1 FROM temp.prof_runs WHERE run GLOB glob)
UNION ALL
SELECT * FROM answer
