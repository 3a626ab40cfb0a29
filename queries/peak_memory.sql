-- SPDX-License-Identifier: Apache-2.0
-- How much memory does each compiled program need at its peak, and for what?
-- parameter source = NULL: label of an attached run, or path of a file, run folder, log dir or HLO
--   dump; if NULL, all attached runs
-- parameter n INTEGER = NULL: number of programs of each run, largest peak first; NULL for all
-- parameter space = 0: memory space: 0 is the device's main memory, 1 is TPU VMEM; an error if no
--   program uses it
-- needs: programs
-- nothing: no HLO program has a buffer in this memory space (programs dumped before optimization
--   have no buffer assignment)
-- column run TEXT: name of the run
-- column host TEXT: name of the host; the first, if several hosts have equal values
-- column program_id TEXT: id of the program, decimal
-- column hlo_module TEXT: name of the program's HLO module
-- column peak_mib REAL [MiB]: largest memory in use at one time
-- column parameters_mib REAL [MiB]: size of the arguments of the program, part of the peak
-- column outputs_mib REAL [MiB]: size of the allocations that the program may return; an allocation
--   that is also an argument counts in both columns
-- column temporaries_mib REAL [MiB]: size of the temporaries that are live at the peak
-- column padding_mib REAL [MiB]: part of temporaries_mib that is padding
-- column fragmentation_mib REAL [MiB]: memory allocated for temporaries that is unused even at the
--   peak; NULL if the peak exceeds the allocations
-- column allocated_mib REAL [MiB]: size of all allocations
-- column peak_op TEXT: instruction at which the peak is reached; NULL if temporaries_mib is 0
-- column hosts INTEGER [hosts]: number of hosts that have this program with these values
WITH program AS (
    SELECT run, min(host) AS host, program_id, hlo_module, memory_space, peak_heap_mib,
           parameters_mib,
           maybe_live_out_mib, indefinite_mib, peak_unpadded_mib, total_allocation_mib, peak_event,
           count(*) AS hosts
    FROM temp.memory_peaks(:source)
    WHERE memory_space = coalesce(:space, 0) AND total_allocation_mib > 0
    GROUP BY run, program_id, hlo_module, peak_heap_mib, peak_unpadded_mib, parameters_mib,
             maybe_live_out_mib, indefinite_mib, total_allocation_mib, peak_event
), ranked AS (
    SELECT *, row_number() OVER (PARTITION BY run
                                 ORDER BY peak_heap_mib DESC, hlo_module, program_id, host) AS rank
    FROM program
), answer AS (
    SELECT run, host, program_id, hlo_module, peak_heap_mib, parameters_mib, maybe_live_out_mib,
           peak_heap_mib - indefinite_mib, peak_heap_mib - peak_unpadded_mib,
           CASE WHEN total_allocation_mib >= peak_heap_mib
               THEN total_allocation_mib - peak_heap_mib END,
           total_allocation_mib,
           (SELECT t.hlo_op FROM temp.heap_timeline(:source) AS t
             WHERE t.run = p.run AND t.host = p.host AND t.program_id = p.program_id
                   AND t.memory_space = p.memory_space AND t.event = p.peak_event
                   AND p.peak_heap_mib > p.indefinite_mib),
           hosts
    FROM ranked AS p
    WHERE (:n IS NULL OR rank <= :n)
    ORDER BY run, rank
)
SELECT * FROM answer
UNION ALL
SELECT prof_error('peak_memory: ' || coalesce(:source || ': ', '')
                  || 'no program uses memory space ' || :space || '; spaces in use: ' || spaces),
       NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
FROM (SELECT group_concat(DISTINCT memory_space) AS spaces, max(memory_space = :space) AS there
      FROM temp.memory_peaks(:source))
WHERE :space IS NOT NULL AND NOT there
