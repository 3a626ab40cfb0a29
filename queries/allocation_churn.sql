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
WITH ranked AS (
    SELECT *, row_number() OVER (PARTITION BY run ORDER BY freed_bytes DESC, allocated_bytes DESC,
                                                           host, allocator, tf_op) AS rank
    FROM temp.memory_ops(:source)
    WHERE freed > 0
)
SELECT run, host, allocator, tf_op, allocations, allocated_bytes, largest_bytes, freed, freed_bytes,
       avg_life_us, 100.0 * (allocated_bytes - requested_bytes) / nullif(allocated_bytes, 0)
FROM ranked
WHERE (:n IS NULL OR rank <= :n)
ORDER BY run, rank
