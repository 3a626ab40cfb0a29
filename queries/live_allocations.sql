-- SPDX-License-Identifier: Apache-2.0
-- Which memory was allocated and not yet freed at an event, or at each allocator's peak?
-- parameter source = NULL: label of an attached run, or path of a file, run folder or log dir; if
--   NULL, all attached runs
-- parameter event INTEGER = NULL: event_id of a row of memory_events: shows all allocators of its
--   host at that time (an error if no row has it); NULL: shows each allocator at its own peak
-- parameter n INTEGER = NULL: number of rows of each run, most memory first; NULL for all
-- needs: events allocations
-- nothing: none found: no memory was live
-- column run TEXT: name of the run
-- column host TEXT: name of the host
-- column allocator TEXT: name of the allocator
-- column kind TEXT: allocation: made during the capture; earlier: other heap memory, allocated
--   before the capture or not recorded; stack: reserved in addition to the heap, for example for
--   TPU programs
-- column tf_op TEXT: op that requested the memory; NULL if unknown
-- column region_type TEXT: kind of memory region: temp, output, persist/dynamic and others; NULL if
--   unknown
-- column data_type TEXT: element type of the tensor; NULL if unknown
-- column shape TEXT: shape of the tensor; NULL if unknown
-- column allocations INTEGER [allocations]: number of live allocations that the row combines; NULL
--   if kind is not allocation
-- column allocated_bytes INTEGER [bytes]: total bytes of the row's allocations, or of its earlier
--   or stack memory; the rows of an allocator add up to heap_bytes + stack_bytes in its last row of
--   memory_events at the event or peak
-- column requested_bytes INTEGER [bytes]: total bytes requested for the row's allocations; NULL if
--   kind is not allocation
-- column oldest_us REAL [us]: age of the row's oldest allocation at the event or peak; NULL if kind
--   is not allocation
WITH moment AS MATERIALIZED (
    SELECT a.run, a.host, a.allocator, e.time_ps, e.event_id, e.allocator = a.allocator AS is_own
    FROM temp.memory_allocators(:source) AS a CROSS JOIN temp.memory_events(:source) AS e
         ON e.run = a.run AND e.host = a.host AND e.event_id = coalesce(:event, a.peak_event_id)
), live AS MATERIALIZED (
    SELECT e.run, e.host, e.allocator, 'allocation' AS kind, nullif(e.tf_op, '(null)') AS tf_op,
           nullif(e.region_type, '(null)') AS region_type,
           nullif(e.data_type, 'INVALID') AS data_type, e.shape, count(*) AS allocations,
           CAST(total(e.allocation_bytes) AS INTEGER) AS allocated_bytes,
           CAST(total(e.requested_bytes) AS INTEGER) AS requested_bytes,
           max(m.time_ps - e.time_ps) / 1e6 AS oldest_us
    FROM moment AS m CROSS JOIN temp.memory_events(:source) AS e
         ON e.run = m.run AND e.host = m.host AND e.allocator = m.allocator
    WHERE e.activity = 'ALLOCATION' AND (e.time_ps, e.event_id) <= (m.time_ps, m.event_id)
        AND (e.live_until_ps IS NULL
             OR (e.live_until_ps, e.live_until_event_id) > (m.time_ps, m.event_id))
    GROUP BY 1, 2, 3, 5, 6, 7, 8
), newest AS MATERIALIZED ( -- time of the allocator's last event until then
    SELECT m.*, iif(is_own, m.time_ps,
                    (SELECT max(e.time_ps) FROM temp.memory_events(:source) AS e
                     WHERE e.run = m.run AND e.host = m.host AND e.allocator = m.allocator
                         AND (e.time_ps, e.event_id) <= (m.time_ps, m.event_id))) AS newest_ps
    FROM moment AS m
), level AS (
    SELECT n.run, n.host, n.allocator, e.heap_bytes, e.stack_bytes
    FROM newest AS n CROSS JOIN temp.memory_events(:source) AS e
         ON e.run = n.run AND e.host = n.host
            AND e.event_id = iif(is_own, n.event_id,
                                 (SELECT max(l.event_id) FROM temp.memory_events(:source) AS l
                                  WHERE l.run = n.run AND l.host = n.host
                                      AND l.allocator = n.allocator AND l.time_ps = n.newest_ps
                                      AND (l.time_ps, l.event_id) <= (n.time_ps, n.event_id)))
), rest AS MATERIALIZED (
    SELECT p.run, p.host, p.allocator, p.heap_bytes - coalesce(l.bytes, 0) AS earlier_bytes,
           p.stack_bytes
    FROM level AS p
         LEFT JOIN (SELECT run, host, allocator, CAST(total(allocated_bytes) AS INTEGER) AS bytes
                    FROM live GROUP BY run, host, allocator) AS l USING (run, host, allocator)
), part AS (
    SELECT * FROM live
    UNION ALL
    SELECT run, host, allocator, 'earlier', NULL, NULL, NULL, NULL, NULL, earlier_bytes, NULL, NULL
    FROM rest WHERE earlier_bytes > 0
    UNION ALL
    SELECT run, host, allocator, 'stack', NULL, NULL, NULL, NULL, NULL, stack_bytes, NULL, NULL
    FROM rest WHERE stack_bytes > 0
), ranked AS (
    SELECT *, row_number() OVER (PARTITION BY run
                                 ORDER BY allocated_bytes DESC, host, allocator, kind, tf_op, shape,
                                          region_type, data_type) AS rank
    FROM part
), answer AS (
    SELECT run, host, allocator, kind, tf_op, region_type, data_type, shape, allocations,
           allocated_bytes,
           requested_bytes, oldest_us
    FROM ranked
    WHERE (:n IS NULL OR rank <= :n)
    ORDER BY run, rank
)
SELECT * FROM answer
UNION ALL
SELECT prof_error('live_allocations: ' || coalesce(:source || ': ', '')
                  || coalesce('event ' || :event
                              || ' is not in memory_events; its event_id values are '
                              || first || ' to ' || last, 'memory_events has no rows')),
       NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
FROM (SELECT max(event_id = :event) AS there, min(event_id) AS first, max(event_id) AS last
      FROM temp.memory_events(:source))
WHERE :event IS NOT NULL AND NOT coalesce(there, 0)
