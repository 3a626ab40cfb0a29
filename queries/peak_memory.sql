-- How much memory does each compiled program need at its peak, and what for?
-- parameter source = NULL: a label, file, run folder, log dir or HLO dump; all attached runs without it
-- parameter n = 10: how many programs, the hungriest first
-- parameter space = 0: memory space: 0 the device's main memory, 1 TPU VMEM ...; an error where no program has the one given
-- needs: programs
-- nothing: no HLO program holds a buffer in this memory space (programs dumped before optimization have no buffer assignment)
-- column run TEXT: the run
-- column host TEXT: the host, the first of several with equal numbers
-- column program_id TEXT: the program
-- column hlo_module TEXT: its module
-- column peak_mib REAL [MiB]: most memory in use at once
-- column parameters_mib REAL [MiB]: of it arguments of the program
-- column outputs_mib REAL [MiB]: allocations that the program may return; one that is an argument too stands in both
-- column temporaries_mib REAL [MiB]: temporaries live at the peak
-- column padding_mib REAL [MiB]: of the temporaries, what is padding
-- column fragmentation_mib REAL [MiB]: allocated for temporaries, but unused even at the peak
-- column allocated_mib REAL [MiB]: all allocations together
-- column peak_op TEXT: instruction at which the peak is reached; NULL without temporaries
-- column hosts INTEGER [hosts]: how many hosts have this program with these numbers
WITH answer AS (
    SELECT p.run, min(p.host), p.program_id, p.hlo_module, peak_heap_mib, parameters_mib, maybe_live_out_mib, peak_heap_mib - indefinite_mib,
           peak_heap_mib - peak_unpadded_mib, total_allocation_mib - peak_heap_mib, total_allocation_mib,
           (SELECT t.hlo_op FROM temp.heap_timeline(:source) AS t
             WHERE t.run = p.run AND t.host = p.host AND t.program_id = p.program_id AND t.memory_space = p.memory_space AND t.event = p.peak_event), count(*)
    FROM temp.memory_peaks(:source) AS p
    WHERE memory_space = coalesce(:space, 0) AND total_allocation_mib > 0
    GROUP BY p.run, p.program_id, p.hlo_module, peak_heap_mib, peak_unpadded_mib, parameters_mib, maybe_live_out_mib, indefinite_mib, total_allocation_mib, peak_event
    ORDER BY peak_heap_mib DESC, p.run, p.hlo_module, p.program_id, min(p.host)
    LIMIT coalesce(:n, 10)
)
SELECT * FROM answer
UNION ALL
SELECT prof_error('peak_memory: ' || coalesce(:source || ': ', '') || 'no program has memory space ' || :space || '; there are ' || spaces), NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
FROM (SELECT group_concat(DISTINCT memory_space) AS spaces, max(memory_space = :space) AS there FROM temp.memory_peaks(:source))
WHERE :space IS NOT NULL AND NOT there
