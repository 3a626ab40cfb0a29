-- SPDX-License-Identifier: Apache-2.0
-- Which operations allocate the most memory over and over?
-- parameter source = NULL: a label, file, run folder or log dir; all attached runs without it
-- parameter n = 10: how many rows of each run, the most memory first
-- needs: events allocations
-- nothing: none found: what the allocators reported are frees alone
-- column run TEXT: the run
-- column host TEXT: the host
-- column allocator TEXT: the allocator
-- column tf_op TEXT: op that asked for it; NULL when unknown
-- column allocations INTEGER [allocations]: how many it made
-- column allocated_bytes INTEGER [bytes]: what they took together
-- column largest_bytes INTEGER [bytes]: the largest of them
-- column freed INTEGER [allocations]: how many of them were freed in the profile
-- column avg_life_us REAL [us]: how long those lived; NULL when none was freed
-- column rounding_percent REAL [percent 0..100]: what was taken beyond what was asked for
WITH op AS (
    SELECT run, host, allocator, nullif(tf_op, '(null)') AS op, count(*) AS allocations,
           total(allocation_bytes) AS bytes, max(allocation_bytes) AS largest,
           count(match_event_id) AS freed,
           avg(CASE WHEN match_event_id IS NOT NULL
               THEN live_until_ps - time_ps END) / 1e6 AS life_us,
           100 * (total(allocation_bytes) - total(requested_bytes))
           / nullif(total(allocation_bytes), 0) AS rounding
    FROM temp.memory_events(:source)
    WHERE activity = 'ALLOCATION'
    GROUP BY run, host, allocator, nullif(tf_op, '(null)')
), ranked AS (
    SELECT *, row_number() OVER (PARTITION BY run ORDER BY bytes DESC, host, allocator, op) AS rank
    FROM op
)
SELECT run, host, allocator, op, allocations, CAST(bytes AS INTEGER), largest, freed, life_us,
       rounding
FROM ranked
WHERE rank <= coalesce(:n, 10)
ORDER BY run, rank
