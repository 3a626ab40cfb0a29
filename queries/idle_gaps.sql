-- When was a device idle, and what ran before and after?
-- parameter source = NULL: a label, file, run folder or log dir; all attached runs without it
-- parameter n = 10: how many gaps, the longest first
-- column run TEXT: the run
-- column host TEXT: the host
-- column plane TEXT: the device; the host's threads when the run has no device
-- column start_ps INTEGER [ps]: begin of the gap
-- column duration_us REAL [us]: length of the gap
-- column before TEXT: the operation that ended last
-- column after TEXT: the operation that begins next
WITH plane AS MATERIALIZED (
    SELECT run, plane_id, kind, event_count FROM temp.planes(:source)
), device AS MATERIALIZED (
    SELECT count(*) > 0 AS present FROM plane WHERE kind IN ('tensorcore', 'gpu') AND event_count > 0
), busy AS MATERIALIZED (
    SELECT l.run, l.host, l.plane_id, l.line_id
    FROM device CROSS JOIN temp.lines(:source) AS l CROSS JOIN plane AS p ON p.run = l.run AND p.plane_id = l.plane_id
    WHERE NOT l.derived AND l.event_count > 0
      AND CASE WHEN present THEN p.kind = 'gpu' OR (p.kind = 'tensorcore' AND l.kind = 'ops') ELSE p.kind = 'host' END
), spans AS (
    SELECT e.run, e.host, e.plane_id, e.plane, e.start_ps, e.end_ps, coalesce(e.display_name, e.name) AS operation
    FROM busy AS b CROSS JOIN temp.trace_events(:source) AS e ON e.run = b.run AND e.line_id = b.line_id
    WHERE e.duration_ps > 0 AND e.depth = 0
), reached AS (
    SELECT *, max(end_ps) OVER earlier AS busy_until, row_number() OVER (PARTITION BY run, plane_id ORDER BY start_ps, end_ps) AS nth,
           lag(operation) OVER (PARTITION BY run, plane_id ORDER BY start_ps, end_ps) AS previous
    FROM spans
    WINDOW earlier AS (PARTITION BY run, plane_id ORDER BY start_ps, end_ps ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
)
SELECT run, host, plane, busy_until, (start_ps - busy_until) / 1e6, previous, operation
FROM reached
WHERE start_ps > busy_until
ORDER BY start_ps - busy_until DESC, run, plane_id, start_ps
LIMIT coalesce(:n, 10)
