-- SPDX-License-Identifier: Apache-2.0
-- How much memory does each compiled program need at its peak, and what for?
-- parameter source = NULL: a label, file, run folder, log dir or HLO dump; all attached runs
--   without it
-- parameter n = 10: how many programs of each run, the hungriest first
-- parameter space = 0: memory space: 0 the device's main memory, 1 TPU VMEM ...; an error where no
--   program has the one given
-- needs: programs
-- nothing: no HLO program holds a buffer in this memory space (programs dumped before optimization
--   have no buffer assignment)
-- column run TEXT: the run
-- column host TEXT: the host, the first of several with equal numbers
-- column program_id TEXT: the program
-- column hlo_module TEXT: its module
-- column peak_mib REAL [MiB]: most memory in use at once
-- column parameters_mib REAL [MiB]: of it arguments of the program
-- column outputs_mib REAL [MiB]: allocations that the program may return; one that is also an argument
--   counts in both columns
-- column temporaries_mib REAL [MiB]: temporaries live at the peak
-- column padding_mib REAL [MiB]: of the temporaries, what is padding
-- column fragmentation_mib REAL [MiB]: allocated for temporaries, but unused even at the peak; NULL
--   if the peak exceeds the allocations
-- column allocated_mib REAL [MiB]: all allocations together
-- column peak_op TEXT: instruction at which the peak is reached; NULL without temporaries
-- column hosts INTEGER [hosts]: how many hosts have this program with these numbers
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
                   AND t.memory_space = p.memory_space AND t.event = p.peak_event),
           hosts
    FROM ranked AS p
    WHERE rank <= coalesce(:n, 10)
    ORDER BY run, rank
)
SELECT * FROM answer
UNION ALL
SELECT prof_error('peak_memory: ' || coalesce(:source || ': ', '') || 'no program has memory space '
                  || :space || '; there are ' || spaces),
       NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
FROM (SELECT group_concat(DISTINCT memory_space) AS spaces, max(memory_space = :space) AS there
      FROM temp.memory_peaks(:source))
WHERE :space IS NOT NULL AND NOT there
