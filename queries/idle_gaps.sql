-- SPDX-License-Identifier: Apache-2.0
-- When was a device idle, and what ran before and after?
-- example: SELECT * FROM idle_gaps WHERE n = 10
-- parameter source = NULL: label of an attached run, or path of a file, run folder or log dir; if
--   NULL, all attached runs
-- parameter n INTEGER = NULL: number of gaps of each run, longest first; NULL for all
-- needs: events
-- nothing: none found: the devices (or threads) work without a gap from their first to their last
--   op
-- column run TEXT: name of the run
-- column host TEXT: name of the host
-- column plane TEXT: name of the device: GPU or TensorCore, or SparseCore if no GPU or TensorCore
--   of the run has work; if the run has no device, name of the process, with all its threads
-- column start_ps INTEGER [ps]: start of the gap. Until then the device is busy; ops that wait,
--   such as copy-done, count as busy
-- column start_us REAL [us]: start_ps in microseconds
-- column duration_us REAL [us]: duration of the gap
-- column before TEXT: name of the op that ends at the start of the gap; of several, the one that
--   started first
-- column before_short_name TEXT: readable form of before, as trace_events.short_name
-- column after TEXT: name of the op that starts at the end of the gap; of several, the one that
--   ends first
-- column after_short_name TEXT: readable form of after, as trace_events.short_name
WITH kind(kind, class) AS (
    VALUES ('gpu', 1), ('tensorcore', 1), ('sparsecore', 2), ('host', 3)
), work AS MATERIALIZED ( -- each run is judged alone: it has gaps of the first class that has work
    SELECT l.run, l.line_id, k.class, min(k.class) OVER (PARTITION BY l.run) AS first_class
    FROM temp.lines(:source) AS l
         CROSS JOIN temp.planes(:source) AS p ON p.run = l.run AND p.plane_id = l.plane_id
         JOIN kind AS k ON k.kind = p.kind
    WHERE NOT l.derived AND l.event_count > 0
          AND CASE p.kind WHEN 'gpu' THEN l.kind = 'stream' WHEN 'host' THEN 1
              ELSE l.kind = 'ops' END
), spans AS (
    SELECT e.run, e.host, e.plane_id, e.plane, e.start_ps, e.end_ps, e.event_id,
           coalesce(e.display_name, e.name) AS operation, e.short_name
    FROM work AS w CROSS JOIN temp.trace_events(:source) AS e ON e.run = w.run
        AND e.line_id = w.line_id
    WHERE w.class = w.first_class AND e.duration_ps > 0 AND e.depth = 0
), reached AS (
    SELECT *, max(end_ps) OVER (PARTITION BY run, plane_id ORDER BY start_ps, end_ps, event_id
                                ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS busy_until
    FROM spans
), later AS ( -- each ends after all before it, so the one before it is the one that ended last
    SELECT *, lag(operation) OVER w AS before, lag(short_name) OVER w AS before_short_name
    FROM reached
    WHERE busy_until IS NULL OR end_ps > busy_until
    WINDOW w AS (PARTITION BY run, plane_id ORDER BY start_ps, end_ps)
), ranked AS (
    SELECT *, row_number() OVER (PARTITION BY run
                                 ORDER BY start_ps - busy_until DESC, plane_id, start_ps) AS rank
    FROM later
    WHERE start_ps > busy_until
)
SELECT run, host, plane, busy_until, busy_until / 1e6, (start_ps - busy_until) / 1e6, before,
       before_short_name, operation, short_name
FROM ranked
WHERE (:n IS NULL OR rank <= :n)
ORDER BY run, rank
