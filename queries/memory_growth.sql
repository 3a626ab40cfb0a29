-- SPDX-License-Identifier: Apache-2.0
-- Does the memory in use grow from step to step (a leak)?
-- example: SELECT allocator, steps, growth_mib, growing_steps FROM memory_growth
-- parameter source = NULL: label of an attached run, or path of a file, run folder or log dir; if
--   NULL, all attached runs
-- needs: events
-- nothing: no allocator recorded events in two steps: nothing was allocated or freed in them, or it
--   was not recorded (host_tracer_level = 2 records the allocators of JAX and TensorFlow)
-- column run TEXT: name of the run
-- column host TEXT: name of the host
-- column allocator TEXT: name of the allocator, as in memory_allocators
-- column steps INTEGER [steps]: number of steps (memory_events.step) in which the allocator
--   recorded events; allocators with fewer than two have no row
-- column first_step INTEGER: number of the first of these steps, in order of their first events
-- column last_step INTEGER: number of the last of these steps
-- column first_mib REAL [MiB]: memory in use, heap and stack, after the last event of the first
--   step
-- column last_mib REAL [MiB]: memory in use after the last event of the last step
-- column growth_mib REAL [MiB]: last_mib - first_mib; below 0 if the memory in use fell
-- column growth_per_step_mib REAL [MiB]: growth_mib per step from the first to the last;
--   below 0 as growth_mib
-- column growing_steps INTEGER [steps]: number of steps that ended with more memory in use than the
--   step before them; with a leak, nearly all do
-- column most_growth_step INTEGER: number of the step in which the memory in use grew most; NULL if
--   it grew in none
WITH event AS MATERIALIZED (
    SELECT run, host, allocator, step, time_ps, max(heap_bytes + stack_bytes, 0) AS bytes,
           first_of_step, last_of_step
    FROM temp.memory_events(:source)
    WHERE (first_of_step OR last_of_step) AND step IS NOT NULL
), level AS (
    SELECT l.*, l.bytes - lag(l.bytes) OVER steps AS growth, row_number() OVER steps AS nth,
           count(*) OVER (PARTITION BY run, host, allocator) AS n
    FROM event AS l JOIN event AS f USING (run, host, allocator, step)
    WHERE l.last_of_step AND f.first_of_step
    WINDOW steps AS (PARTITION BY run, host, allocator ORDER BY f.time_ps, step)
), most AS (
    SELECT *, row_number() OVER (PARTITION BY run, host, allocator
                                 ORDER BY growth DESC NULLS LAST, nth) AS rank
    FROM level
), grown AS (
    SELECT run, host, allocator, max(n) AS n, max(iif(nth = 1, step, NULL)) AS first_step,
           max(iif(nth = n, step, NULL)) AS last_step,
           sum(iif(nth = 1, bytes, 0)) / 1048576.0 AS first,
           sum(iif(nth = n, bytes, 0)) / 1048576.0 AS last, total(growth > 0) AS growing,
           max(iif(rank = 1 AND growth > 0, step, NULL)) AS most_step
    FROM most
    GROUP BY run, host, allocator
    HAVING max(n) > 1
)
SELECT run, host, allocator, n, first_step, last_step, first, last, last - first,
       (last - first) / (n - 1), CAST(growing AS INTEGER), most_step
FROM grown
ORDER BY run, last - first DESC, host, allocator
