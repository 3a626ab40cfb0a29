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
WITH longest AS MATERIALIZED (
    SELECT w.*, e.parent_id, e.step
    FROM temp.wait_totals(:source) AS w CROSS JOIN temp.trace_events(:source) AS e
         ON e.run = w.run AND e.event_id = w.longest_event_id
)
SELECT l.run, l.host, l.line, l.name,
       (SELECT e.name FROM temp.trace_events(:source) AS e
        WHERE e.run = l.run AND e.event_id = l.parent_id),
       l.calls, l.total_us, l.total_us / l.calls, l.longest_us, l.longest_start_us, l.step
FROM longest AS l
ORDER BY l.run, l.total_us DESC, l.host, l.line_id, l.name
