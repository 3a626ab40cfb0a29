-- SPDX-License-Identifier: Apache-2.0
-- Which ops make the step times vary?
-- example: SELECT name, variance_percent, stddev_us FROM step_variance LIMIT 10
-- parameter source = NULL: label of an attached run, or path of a file, run folder or log dir; if
--   NULL, all attached runs
-- parameter n INTEGER = NULL: number of rows of each run, largest share first; NULL for all
-- needs: events steps
-- nothing: fewer than two steps are complete, or all are equally long
-- column run TEXT: name of the run
-- column rank INTEGER: rank by variance_percent within the run; what belongs to the steps only by
--   time (in_group = 0) comes after the others, the remainder last
-- column plane_kind TEXT: where the op ran: host (threads), gpu, tensorcore or sparsecore; NULL
--   for the remainder
-- column name TEXT: name of the op or host event; NULL for the remainder: time of the steps that
--   no op explains, less what ops that run at the same time explain twice
-- column short_name TEXT: readable name: for events of GPUs without namespaces, template arguments
--   and parameters, unique in the run (docs/semantics.md); for others the display name, else name;
--   if there are several, the last in byte order; NULL for the remainder
-- column in_group INTEGER [0 or 1]: 1: the events have the steps' groups; 0: they belong to the
--   steps by their time, and may only run at the same time as them; NULL for the remainder
-- column steps INTEGER [steps]: number of complete steps in which it ran; for the remainder, of all
--   complete steps
-- column avg_us REAL [us]: average self time per complete step, 0 in a step in which it did not
--   run; for the remainder, average duration of the complete steps; below 0 if events nested in it
--   overlap each other
-- column stddev_us REAL [us]: sample standard deviation of the op's self time per complete step;
--   for the remainder, that of the steps' durations
-- column variance_percent REAL [percent]: covariance of the op's self time per step with the step's
--   duration, as a share of the variance of the duration. Negative if the op takes longer in
--   shorter steps; above 100 if other ops vary in the opposite direction or run at the same time.
--   All rows of a run add up to 100
WITH part AS MATERIALIZED (
    SELECT run, plane_kind, name, short_name, in_group, steps, avg_us, stddev_us,
           variance_percent AS percent
    FROM temp.step_op_spread(:source)
    WHERE steps > 0
), total AS (
    SELECT run, count(*) AS n, avg(duration_us) AS avg_us, stddev(duration_us) AS stddev_us
    FROM temp.steps(:source)
    WHERE NOT dropped
    GROUP BY run
    HAVING count(*) > 1 AND max(duration_us) > min(duration_us)
), ranked AS (
    SELECT *, row_number() OVER (PARTITION BY run
                                 ORDER BY name IS NULL, in_group DESC, percent DESC, plane_kind,
                                          name) AS rank
    FROM (SELECT * FROM part WHERE percent IS NOT NULL
          UNION ALL
          SELECT t.run, NULL, NULL, NULL, NULL, n, t.avg_us, t.stddev_us,
                 100.0 - coalesce((SELECT sum(percent) FROM part AS p WHERE p.run = t.run), 0)
          FROM total AS t)
)
SELECT run, rank, plane_kind, name, short_name, in_group, steps, avg_us, stddev_us, percent
FROM ranked
WHERE rank <= coalesce(:n, rank)
ORDER BY run, rank
