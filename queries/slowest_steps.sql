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
WITH spent AS MATERIALIZED (
    SELECT * FROM temp.step_times(:source)
), typical AS MATERIALIZED (
    SELECT run, place, median(ms) AS ms FROM spent WHERE NOT dropped GROUP BY run, place
), excess AS MATERIALIZED (
    SELECT run, step, category, s.ms - t.ms AS ms
    FROM spent AS s JOIN typical AS t USING (run, place)
    WHERE place > 0 AND s.ms > t.ms
), step AS MATERIALIZED (
    SELECT *, row_number() OVER (PARTITION BY run ORDER BY duration_ms DESC, step) AS rank
    FROM temp.steps(:source)
)
SELECT s.run, s.rank, s.step, s.name, s.duration_ms, s.duration_ms - t.ms,
       (SELECT e.category FROM excess AS e WHERE e.run = s.run AND e.step = s.step
        ORDER BY e.ms DESC, e.category LIMIT 1),
       (SELECT max(e.ms) FROM excess AS e WHERE e.run = s.run AND e.step = s.step),
       (SELECT group_concat(printf('%s +%.3f ms', category, ms), ', ')
        FROM (SELECT e.category, e.ms FROM excess AS e WHERE e.run = s.run AND e.step = s.step
              ORDER BY e.ms DESC, e.category)),
       s.dropped
FROM step AS s JOIN typical AS t ON t.run = s.run AND t.place = 0
WHERE (:n IS NULL OR s.rank <= :n)
ORDER BY s.run, s.rank
