-- SPDX-License-Identifier: Apache-2.0
-- Which operations allocate the most memory over and over?
-- parameter source = NULL: label of an attached run, or path of a file, run folder or log dir; if
--   NULL, all attached runs
-- parameter n INTEGER = NULL: number of rows of each run, most freed memory first; NULL for all
-- needs: events allocations
-- nothing: none found: no allocation of the profile was freed in it
-- column run TEXT: name of the run
-- column host TEXT: name of the host
-- column allocator TEXT: name of the allocator
-- column tf_op TEXT: op that requested the memory; NULL if unknown
-- column allocations INTEGER [allocations]: number of allocations that the op made
-- column allocated_bytes INTEGER [bytes]: total bytes of the op's allocations
-- column largest_bytes INTEGER [bytes]: bytes of the op's largest allocation
-- column freed INTEGER [allocations]: number of the op's allocations that were freed during the
--   profile; ops without any have no row (live_allocations lists what is kept)
-- column freed_bytes INTEGER [bytes]: total bytes of the op's freed allocations
-- column avg_life_us REAL [us]: average time from allocation to free, over the op's freed
--   allocations
-- column rounding_percent REAL [percent 0..100]: share of allocated_bytes that was not requested;
--   NULL if allocated_bytes is 0
WITH op AS (
    SELECT run, host, allocator, nullif(tf_op, '(null)') AS op, count(*) AS allocations,
           total(allocation_bytes) AS bytes, max(allocation_bytes) AS largest,
           count(match_event_id) AS freed,
           total(CASE WHEN match_event_id IS NOT NULL THEN allocation_bytes END) AS freed_bytes,
           avg(CASE WHEN match_event_id IS NOT NULL
               THEN live_until_ps - time_ps END) / 1e6 AS life_us,
           100 * (total(allocation_bytes) - total(requested_bytes))
           / total(allocation_bytes) AS rounding
    FROM temp.memory_events(:source)
    WHERE activity = 'ALLOCATION'
    GROUP BY run, host, allocator, nullif(tf_op, '(null)')
), ranked AS (
    SELECT *, row_number() OVER (PARTITION BY run ORDER BY freed_bytes DESC, bytes DESC, host,
                                                           allocator, op) AS rank
    FROM op
    WHERE freed > 0
)
SELECT run, host, allocator, op, allocations, CAST(bytes AS INTEGER), largest, freed,
       CAST(freed_bytes AS INTEGER), life_us, rounding
FROM ranked
WHERE (:n IS NULL OR rank <= :n)
ORDER BY run, rank
