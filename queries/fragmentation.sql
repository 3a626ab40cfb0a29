-- SPDX-License-Identifier: Apache-2.0
-- How much memory do programs allocate for temporaries and never fill?
-- parameter source = NULL: a label, file, run folder, log dir or HLO dump; all attached runs
--   without it
-- parameter n = 10: how many programs and memory spaces of each run, the most unused memory first
-- needs: programs
-- nothing: none found: every program fills all that it allocates for temporaries, or holds no
--   buffer assignment
-- column run TEXT: the run
-- column host TEXT: the host, the first of several with equal numbers
-- column program_id TEXT: the program
-- column hlo_module TEXT: its module
-- column memory_space INTEGER: 0 the device's main memory
-- column allocated_mib REAL [MiB]: allocations of temporaries
-- column peak_mib REAL [MiB]: most of them in use at once
-- column unused_mib REAL [MiB]: what even the peak leaves unused; programs that fill all have no
--   row
-- column unused_percent REAL [percent 0..100]: share of the allocations
-- column hosts INTEGER [hosts]: how many hosts have this program with these numbers
WITH program AS (
    SELECT run, min(host) AS host, program_id, hlo_module, memory_space,
           total_allocation_mib - indefinite_mib AS allocated,
           peak_heap_mib - indefinite_mib AS peak,
           total_allocation_mib - peak_heap_mib AS unused,
           100 * fragmentation_fraction AS percent, count(*) AS hosts
    FROM temp.memory_peaks(:source)
    WHERE total_allocation_mib > peak_heap_mib
    GROUP BY run, program_id, hlo_module, memory_space, total_allocation_mib, indefinite_mib,
        peak_heap_mib
), ranked AS (
    SELECT *, row_number() OVER (PARTITION BY run
                                 ORDER BY unused DESC, hlo_module, program_id, memory_space,
                                          host) AS rank
    FROM program
)
SELECT run, host, program_id, hlo_module, memory_space, allocated, peak, unused, percent, hosts
FROM ranked
WHERE rank <= coalesce(:n, 10)
ORDER BY run, rank
