-- SPDX-License-Identifier: Apache-2.0
-- How long is a step in steady state, without warm-up and compilation?
-- example: SELECT steps, median_ms, all_steps_ms FROM steady_steps
-- parameter source = NULL: label of an attached run, or path of a file, run folder or log dir; if
--   NULL, all attached runs
-- needs: steps
-- nothing: in every step something was compiled, or it was dropped
-- column run TEXT: name of the run
-- column steps INTEGER [steps]: number of steady steps. A step is clean if XProf does not drop it
--   and nothing was compiled in it. If more clean steps start before the last step with a
--   compilation than after it, all clean steps are steady; otherwise only those after it
-- column left_out INTEGER [steps]: number of the run's other steps
-- column compiling_steps INTEGER [steps]: number of steps in which something was compiled: a
--   compilation belongs to the step, or (in a run of one host) starts during it, or
--   steps.compilation_ms_actual is above 0
-- column first_step INTEGER: lowest number of the steady steps
-- column median_ms REAL [ms]: median duration of the steady steps
-- column average_ms REAL [ms]: average duration of the steady steps
-- column shortest_ms REAL [ms]: duration of the shortest steady step
-- column longest_ms REAL [ms]: duration of the longest steady step
-- column deviation_ms REAL [ms]: sample standard deviation of the steady steps; NULL for one step
-- column all_steps_ms REAL [ms]: average duration of all steps of the run
WITH numbered AS MATERIALIZED (
    SELECT run, host, group_id, step FROM temp.host_steps(:source)
), compilation AS MATERIALIZED (
    SELECT c.run, c.start_ps, r.n AS hosts,
           iif(r.n = 1, c.step, h.step) AS step -- merged hosts: renumbered
    FROM temp.compilations(:source) AS c
         JOIN (SELECT run, count(*) AS n FROM temp.hosts(:source) GROUP BY run) AS r USING (run)
         LEFT JOIN numbered AS h ON h.run = c.run AND h.host = c.host AND h.group_id = c.step
), timed AS MATERIALIZED ( -- steps and, in a run of one host, the starts of compilations
    SELECT run, step, start_ps, duration_ms, dropped,
           coalesce(compilation_ms_actual, 0) > 0 AS compiled, NULL AS compiled_ps
    FROM temp.steps(:source)
    UNION ALL
    SELECT run, NULL, start_ps, NULL, NULL, NULL, start_ps FROM compilation WHERE hosts = 1
), following AS ( -- the first compilation that starts during a step or later
    SELECT *, min(compiled_ps) OVER (PARTITION BY run ORDER BY start_ps DESC) AS next_ps
    FROM timed
), step AS MATERIALIZED (
    -- By time, too: compilations of a thread without steps; on a GPU also those of the next step,
    -- because the kernels that the compiler tries belong to the step before.
    SELECT f.run, f.step, f.start_ps, f.duration_ms, f.dropped,
           f.compiled OR coalesce(f.next_ps < f.start_ps + f.duration_ms * 1e9, 0)
           OR coalesce((f.run, f.step) IN (SELECT run, step FROM compilation
                                           WHERE step IS NOT NULL), 0) AS compiles
    FROM following AS f
    WHERE f.compiled_ps IS NULL
), placed AS MATERIALIZED (
    SELECT *, NOT dropped AND NOT compiles AS clean,
           start_ps > coalesce(max(iif(compiles, start_ps, NULL)) OVER (PARTITION BY run),
                               start_ps - 1) AS is_after
    FROM step
), chosen AS ( -- after the warm-up; a compilation between steps keeps those on both sides
    SELECT *, clean AND (is_after OR sum(clean AND NOT is_after) OVER (PARTITION BY run)
                                     > sum(clean AND is_after) OVER (PARTITION BY run)) AS steady
    FROM placed
)
SELECT run, sum(steady), sum(NOT steady), sum(compiles),
       min(iif(steady, step, NULL)), median(iif(steady, duration_ms, NULL)),
       avg(iif(steady, duration_ms, NULL)), min(iif(steady, duration_ms, NULL)),
       max(iif(steady, duration_ms, NULL)), stddev(iif(steady, duration_ms, NULL)),
       avg(duration_ms)
FROM chosen
GROUP BY run
HAVING max(steady)
ORDER BY run
