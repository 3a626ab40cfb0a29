-- What memory was allocated and not yet freed at an event, or at each allocator's peak?
-- parameter source = NULL: a label, file, run folder or log dir; all attached runs without it
-- parameter event INTEGER = NULL: event_id of a row of memory_events, an error where it is of none: all allocators of its host at that time; NULL: each allocator at its own peak
-- parameter n = 20: how many rows, the most memory first
-- needs: events allocations
-- nothing: none found: nothing was live
-- column run TEXT: the run
-- column host TEXT: the host
-- column allocator TEXT: the allocator
-- column tf_op TEXT: op that asked for it; NULL when unknown
-- column region_type TEXT: temp, output, persist/dynamic...; NULL when unknown
-- column data_type TEXT: element type; NULL when unknown
-- column shape TEXT: shape of the tensor; NULL when unknown
-- column allocations INTEGER [allocations]: how many of them were live
-- column allocated_bytes INTEGER [bytes]: what they took together
-- column requested_bytes INTEGER [bytes]: what was asked for together
-- column oldest_us REAL [us]: how long before the moment the first of them was made
-- What was allocated before the profile began is not in it: heap_bytes of memory_events less the sum of these rows.
WITH moments AS MATERIALIZED (
    SELECT a.run, a.host, a.allocator, e.time_ps, e.event_id
    FROM temp.memory_allocators(:source) AS a CROSS JOIN temp.memory_events(:source) AS e ON e.run = a.run AND e.host = a.host AND e.event_id = coalesce(:event, a.peak_event_id)
), answer AS (
    SELECT m.run, m.host, m.allocator, e.tf_op, e.region_type, e.data_type, e.shape, count(*), CAST(total(e.allocation_bytes) AS INTEGER), CAST(total(e.requested_bytes) AS INTEGER),
           max(m.time_ps - e.time_ps) / 1e6
    FROM moments AS m JOIN temp.memory_events(:source) AS e ON e.run = m.run AND e.host = m.host AND e.allocator = m.allocator
    WHERE e.activity = 'ALLOCATION' AND (e.time_ps, e.event_id) <= (m.time_ps, m.event_id)
      AND (e.live_until_ps IS NULL OR e.live_until_ps > m.time_ps OR (e.live_until_ps = m.time_ps AND e.match_event_id > m.event_id))
    GROUP BY m.run, m.host, m.allocator, e.tf_op, e.region_type, e.data_type, e.shape
    ORDER BY total(e.allocation_bytes) DESC, m.run, m.host, m.allocator, e.tf_op, e.shape
    LIMIT coalesce(:n, 20)
)
SELECT * FROM answer
UNION ALL
SELECT prof_error('live_allocations: ' || coalesce(:source || ': ', '') || coalesce('event ' || :event || ' is no row of memory_events; their event_id is ' || first || ' to ' || last, 'memory_events has no rows')), NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
FROM (SELECT max(event_id = :event) AS there, min(event_id) AS first, max(event_id) AS last FROM temp.memory_events(:source))
WHERE :event IS NOT NULL AND NOT coalesce(there, 0)
