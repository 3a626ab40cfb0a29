-- SPDX-License-Identifier: Apache-2.0
-- How much time did the job spend compiling?
-- example: SELECT compilations, elapsed_ms, total_ms, longest_function FROM compile_time
-- parameter source = NULL: label of an attached run, or path of a file, run folder or log dir; if
--   NULL, all attached runs
-- needs: events
-- nothing: no program was compiled during the capture
-- column run TEXT: name of the run
-- column host TEXT: name of the host, longest elapsed_ms first; a host that compiled nothing has no
--   row
-- column compilations INTEGER: number of compilations (rows of compilations)
-- column elapsed_ms REAL [ms]: time in which at least one thread of the host compiles; threads that
--   compile at the same time count once. Tracing and lowering do not count
-- column total_ms REAL [ms]: compiling_ms + tracing_ms + lowering_ms; unknown parts count as 0
-- column compiling_ms REAL [ms]: sum of the durations of the compilations, over all threads
-- column tracing_ms REAL [ms]: time that threads spent tracing functions before the compilations;
--   NULL if no event records it
-- column lowering_ms REAL [ms]: time that threads spent lowering functions to programs before the
--   compilations; NULL if no event records it
-- column in_steps INTEGER: number of compilations that belong to a step
-- column longest_function TEXT: function of the longest compilation, else its HLO module; NULL if
--   neither is known
-- column longest_ms REAL [ms]: duration of the longest compilation
WITH compilation AS MATERIALIZED (
    SELECT run, host, coalesce(function, hlo_module) AS what, start_ps,
           start_ps + duration_ps AS end_ps, duration_ps, tracing_us, lowering_us, step,
           max(start_ps + duration_ps) OVER (PARTITION BY run, host
                                             ORDER BY start_ps, duration_ps, event_id
                                             ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
               AS until_ps
    FROM temp.compilations(:source)
), summed AS ( -- `what` is from the longest one
    SELECT run, host, count(*) AS n,
           total(max(0, end_ps - max(start_ps, coalesce(until_ps, start_ps)))) / 1e9 AS elapsed,
           total(duration_ps) / 1e9 AS compiling, sum(tracing_us) / 1e3 AS tracing,
           sum(lowering_us) / 1e3 AS lowering, count(step) AS in_steps,
           max(duration_ps) / 1e9 AS longest, what
    FROM compilation
    GROUP BY run, host
)
SELECT run, host, n, elapsed, compiling + coalesce(tracing, 0) + coalesce(lowering, 0), compiling,
       tracing, lowering, in_steps, what, longest
FROM summed
ORDER BY run, elapsed DESC, host
