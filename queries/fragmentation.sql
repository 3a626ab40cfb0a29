-- SPDX-License-Identifier: Apache-2.0
-- How much memory do programs allocate for temporaries but never use?
-- parameter source = NULL: label of an attached run, or path of a file, run folder, log dir or HLO
--   dump; if NULL, all attached runs
-- parameter n INTEGER = NULL: number of programs and memory spaces of each run, most unused memory
--   first; NULL for all
-- needs: programs
-- nothing: none found: every program uses all memory that it allocates for temporaries, or has no
--   buffer assignment
-- column run TEXT: name of the run
-- column host TEXT: name of the host; the first, if several hosts have equal values
-- column program_id TEXT: id of the program, decimal
-- column hlo_module TEXT: name of the program's HLO module
-- column memory_space INTEGER: memory space: 0 is the device's main memory
-- column allocated_mib REAL [MiB]: size of the allocations for temporaries
-- column peak_mib REAL [MiB]: largest part of allocated_mib in use at one time
-- column unused_mib REAL [MiB]: part of allocated_mib that is unused even at the peak; programs
--   that use all of it have no row
-- column unused_percent REAL [percent 0..100]: unused_mib as a share of allocated_mib
-- column hosts INTEGER [hosts]: number of hosts that have this program with these values
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
WHERE (:n IS NULL OR rank <= :n)
ORDER BY run, rank
