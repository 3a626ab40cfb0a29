-- Which buffers fill the memory when it is fullest?
-- parameter source = NULL: a label, file, run folder, log dir or HLO dump; all attached runs without it
-- parameter n = 10: how many buffers, the largest first
-- parameter space = 0: memory space: 0 the device's main memory, 1 TPU VMEM ...; an error where no program has the one given
-- needs: programs
-- nothing: no HLO program holds a buffer in this memory space (programs dumped before optimization have no buffer assignment)
-- column run TEXT: the run
-- column hlo_module TEXT: the program
-- column hlo_op TEXT: instruction whose result it is, and which part of it
-- column kind TEXT: parameter, output, constant or temporary
-- column size_mib REAL [MiB]: size, padding included
-- column peak_percent REAL [percent 0..100]: share of the program's peak
-- column expansion REAL [ratio]: size by the size without padding
-- column shape TEXT: shape with layout
-- column tf_op TEXT: framework op that it comes from; NULL: not known
-- column source_line TEXT: file and line of the innermost stack frame, which may be in a library; NULL: not known
-- column hosts INTEGER [hosts]: how many hosts have this program with these numbers
WITH answer AS (
    SELECT b.run, b.hlo_module, b.hlo_op || coalesce(b.shape_index, ''), b.kind, b.size_bytes / 1048576.0,
           CASE WHEN p.peak_heap_mib > 0 THEN 100 * b.size_bytes / 1048576.0 / p.peak_heap_mib END,
           CASE WHEN b.unpadded_bytes_actual > 0 THEN 1.0 * b.size_bytes / b.unpadded_bytes_actual END, b.shape_actual, b.tf_op,
           b.source_file || ':' || b.source_line, count(DISTINCT b.host)
    FROM temp.buffer_allocations(:source) AS b JOIN temp.memory_peaks(:source) AS p USING (run, host, program_id, memory_space)
    WHERE b.live_at_peak AND b.memory_space = coalesce(:space, 0)
    GROUP BY b.run, b.program_id, b.hlo_module, b.buffer_id, b.hlo_op, b.shape_index, b.size_bytes, b.unpadded_bytes_actual, p.peak_heap_mib
    ORDER BY b.size_bytes DESC, b.run, b.hlo_module, b.program_id, b.size_rank, min(b.host)
    LIMIT coalesce(:n, 10)
)
SELECT * FROM answer
UNION ALL
SELECT prof_error('largest_buffers: ' || coalesce(:source || ': ', '') || 'no program has memory space ' || :space || '; there are ' || spaces), NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
FROM (SELECT group_concat(DISTINCT memory_space) AS spaces, max(memory_space = :space) AS there FROM temp.memory_peaks(:source))
WHERE :space IS NOT NULL AND NOT there
