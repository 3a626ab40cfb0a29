-- When was a device idle, and what ran before and after?
-- parameter source = NULL: a label, file, run folder or log dir; all attached runs without it
-- parameter n = 10: how many gaps, the longest first
-- needs: events
-- nothing: none found: the devices (or threads) work without a pause from their first op to their last
-- column run TEXT: the run
-- column host TEXT: the host
-- column plane TEXT: the device (GPU, TensorCore, SparseCore); the process, with all its threads, if the run has no device
-- column start_ps INTEGER [ps]: start of the gap: the device is busy until then (ops that wait, such as copy-done, count as busy)
-- column duration_us REAL [us]: length of the gap
-- column before TEXT: the op whose end is the start of the gap; of several, the one that started first
-- column after TEXT: the op that starts at the end of the gap; of several, the one that ends first
WITH work AS MATERIALIZED ( -- each run is judged alone: its devices, or without any its threads
    SELECT l.run, l.host, l.plane_id, l.line_id, p.kind = 'host' AS is_host, min(p.kind = 'host') OVER (PARTITION BY l.run) AS no_device
    FROM temp.lines(:source) AS l CROSS JOIN temp.planes(:source) AS p ON p.run = l.run AND p.plane_id = l.plane_id
    WHERE NOT l.derived AND l.event_count > 0 AND
          CASE p.kind WHEN 'gpu' THEN l.kind = 'stream' WHEN 'host' THEN 1 ELSE p.kind IN ('tensorcore', 'sparsecore') AND l.kind = 'ops' END
), spans AS (
    SELECT e.run, e.host, e.plane_id, e.plane, e.start_ps, e.end_ps, e.event_id, coalesce(e.display_name, e.name) AS operation
    FROM work AS w CROSS JOIN temp.trace_events(:source) AS e ON e.run = w.run AND e.line_id = w.line_id
    WHERE w.is_host = w.no_device AND e.duration_ps > 0 AND e.depth = 0
), reached AS (
    SELECT *, max(end_ps) OVER (PARTITION BY run, plane_id ORDER BY start_ps, end_ps, event_id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS busy_until
    FROM spans
), later AS ( -- each ends after all before it, so the one before it is the one that ended last
    SELECT *, lag(operation) OVER (PARTITION BY run, plane_id ORDER BY start_ps, end_ps) AS before
    FROM reached
    WHERE busy_until IS NULL OR end_ps > busy_until
)
SELECT run, host, plane, busy_until, (start_ps - busy_until) / 1e6, before, operation
FROM later
WHERE start_ps > busy_until
ORDER BY start_ps - busy_until DESC, run, plane_id, start_ps
LIMIT coalesce(:n, 10)
