-- SPDX-License-Identifier: Apache-2.0
-- How long, and in which calls, does the host wait for a device?
-- example: SELECT name, line, calls, total_us FROM host_waits LIMIT 10
-- parameter source = NULL: label of an attached run, or path of a file, run folder or log dir; if
--   NULL, all attached runs
-- needs: events
-- nothing: no event of a host thread is a wait for a device by its name
-- column run TEXT: name of the run
-- column host TEXT: name of the host
-- column line TEXT: name of the thread
-- column name TEXT: name of the waiting event: one that idle_causes counts as waiting, such as
--   cudaStreamSynchronize or block_until_ready (docs/semantics.md), or a Python frame whose name
--   ends in item or tolist, after a blank or a dot. Waits for threads of XLA's CPU executor, (wait
--   for completion) and ThreadPool::Await, do not count. A wait inside another wait is not counted
--   again
-- column called_by TEXT: name of the event around the longest of these waits on the thread
--   (trace_events.parent_id); NULL if there is none
-- column calls INTEGER [events]: number of waits
-- column total_us REAL [us]: sum of the durations of the waits
-- column average_us REAL [us]: average duration of a wait
-- column longest_us REAL [us]: duration of the longest wait
-- column longest_start_us REAL [us]: start of the longest wait, from the session start
-- column longest_step INTEGER: step of the longest wait; NULL if it is in none
WITH wait AS MATERIALIZED ( -- names are fewer than events
    SELECT run, host, line_id, line, name, start_ps, end_ps, duration_ps, parent_id, step, event_id
    FROM temp.trace_events(:source)
    WHERE plane_kind = 'host' AND NOT derived AND occurrences IS NULL
        AND name IN (
            SELECT name
            FROM temp.event_metadata(:source)
            WHERE NOT (name LIKE 'IteratorGetNext%' OR name GLOB 'Iterator::*')
                AND (instr(name, 'Synchronize') OR instr(name, 'block_until_ready')
                     OR instr(name, 'BlockUntilReady') OR instr(name, 'BlockHostUntilReady')
                     OR (instr(name, 'Await') AND NOT instr(name, 'ThreadPool::'))
                     OR instr(name, 'Acquire semaphore') OR instr(name, 'np.asarray(jax.Array)')
                     OR name GLOB '$*[ .]item' OR name GLOB '$*[ .]tolist'))
), placed AS (
    SELECT *, max(end_ps) OVER (PARTITION BY run, host, line_id
                                ORDER BY start_ps, duration_ps DESC, event_id
                                ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before_ps
    FROM wait
), outermost AS (
    SELECT *
    FROM placed
    WHERE before_ps IS NULL OR start_ps >= before_ps
), waits AS MATERIALIZED ( -- the longest of each is the first
    SELECT run, host, line_id, max(line) OVER each_name AS line, name,
           count(*) OVER each_name AS calls, total(duration_ps) OVER each_name AS total_ps,
           duration_ps AS longest_ps, start_ps, step, parent_id,
           row_number() OVER (PARTITION BY run, host, line_id, name
                              ORDER BY duration_ps DESC, start_ps, event_id) AS nth
    FROM outermost
    WINDOW each_name AS (PARTITION BY run, host, line_id, name)
)
SELECT w.run, w.host, w.line, w.name,
       (SELECT e.name FROM temp.trace_events(:source) AS e
        WHERE e.run = w.run AND e.host = w.host AND e.line_id = w.line_id
            AND e.event_id = w.parent_id),
       w.calls, w.total_ps / 1e6, w.total_ps / 1e6 / w.calls, w.longest_ps / 1e6,
       w.start_ps / 1e6, w.step
FROM waits AS w
WHERE w.nth = 1
ORDER BY w.run, w.total_ps DESC, w.host, w.line_id, w.name
