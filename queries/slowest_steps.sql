-- SPDX-License-Identifier: Apache-2.0
-- Which steps took longest, and what did they spend more time on than the median complete step?
-- example: SELECT step, duration_ms, over_median_ms, spent_on FROM slowest_steps WHERE n = 5
-- parameter source = NULL: label of an attached run, or path of a file, run folder or log dir; if
--   NULL, all attached runs
-- parameter n INTEGER = NULL: number of steps of each run, slowest first; NULL for all
-- needs: events steps
-- nothing: every step was dropped (host_steps lists the reasons)
-- column run TEXT: name of the run
-- column rank INTEGER: rank of the step by duration within the run; 1 is the longest
-- column step INTEGER: number of the step, as in the table steps
-- column name TEXT: name of the step; NULL if it has no name
-- column duration_ms REAL [ms]: duration of the step
-- column over_median_ms REAL [ms]: duration of the step minus the median of the run's complete
--   steps; below 0 if the step is shorter
-- column spent_on TEXT: category in which the step exceeds the median of the complete steps most;
--   NULL if it exceeds none
-- column spent_on_ms REAL [ms]: excess of the step over the median in spent_on; NULL if spent_on is
--   NULL
-- column more TEXT: all categories in which the step exceeds the median, largest excess first; NULL
--   if it exceeds none
-- column dropped INTEGER [0 or 1]: 1: the step is the first or last of more than five, so it may be
--   incomplete, and the medians exclude it
WITH step AS MATERIALIZED (
    SELECT *, row_number() OVER (PARTITION BY run ORDER BY duration_ms DESC, step) AS rank
    FROM temp.steps(:source)
), typical AS MATERIALIZED (
    SELECT run, median(duration_ms) AS duration, median(device_compute_ms_actual) AS compute,
           median(device_to_device_ms_actual) AS copies,
           median(device_collectives_ms_actual) AS collectives,
           median(host_compute_ms_actual) AS host, median(kernel_launch_ms_actual) AS launch,
           median(input_ms_actual) AS input, median(output_ms_actual) AS output,
           median(compilation_ms_actual) AS compilation,
           median(all_others_ms_actual) AS others
    FROM step
    WHERE NOT dropped
    GROUP BY run
), category(n, name) AS (
    VALUES (1, 'Device compute'), (2, 'Device to device'), (3, 'Device collective communication'),
           (4, 'Host compute'), (5, 'Kernel launch'), (6, 'Input'),
           (7, 'Output'), (8, 'Compilation'), (9, 'All others')
), excess AS MATERIALIZED (
    SELECT s.run, s.step, c.name,
           CASE c.n WHEN 1 THEN device_compute_ms_actual - compute
                WHEN 2 THEN device_to_device_ms_actual - copies
                    WHEN 3 THEN device_collectives_ms_actual - collectives
                    WHEN 4 THEN host_compute_ms_actual - host
                    WHEN 5 THEN kernel_launch_ms_actual - launch WHEN 6 THEN input_ms_actual - input
                    WHEN 7 THEN output_ms_actual - output
                    WHEN 8 THEN compilation_ms_actual - compilation
                    ELSE all_others_ms_actual - others END AS ms
    FROM step AS s JOIN typical AS t USING (run) JOIN category AS c
    WHERE (:n IS NULL OR s.rank <= :n)
)
SELECT s.run, s.rank, s.step, s.name, s.duration_ms, s.duration_ms - t.duration,
       (SELECT e.name FROM excess AS e WHERE e.run = s.run AND e.step = s.step AND e.ms > 0
        ORDER BY e.ms DESC, e.name LIMIT 1),
       (SELECT max(e.ms) FROM excess AS e WHERE e.run = s.run AND e.step = s.step AND e.ms > 0),
       (SELECT group_concat(printf('%s +%.3f ms', name, ms), ', ')
        FROM (SELECT e.name, e.ms FROM excess AS e WHERE e.run = s.run AND e.step = s.step
              AND e.ms > 0 ORDER BY e.ms DESC, e.name)),
       s.dropped
FROM step AS s JOIN typical AS t USING (run)
WHERE (:n IS NULL OR s.rank <= :n)
ORDER BY s.run, s.rank
