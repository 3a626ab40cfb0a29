-- SPDX-License-Identifier: Apache-2.0
-- Which buffers fill the memory when it is fullest?
-- parameter source = NULL: a label, file, run folder, log dir or HLO dump; all attached runs
--   without it
-- parameter n = 10: how many buffers of each run, the largest first
-- parameter space = 0: memory space: 0 the device's main memory, 1 TPU VMEM ...; an error where no
--   program has the one given
-- needs: programs
-- nothing: no HLO program holds a buffer in this memory space (programs dumped before optimization
--   have no buffer assignment)
-- column run TEXT: the run
-- column program_id TEXT: the program
-- column hlo_module TEXT: its module
-- column hlo_op TEXT: instruction whose result it is, and which part of it
-- column kind TEXT: parameter, output, constant or temporary
-- column size_mib REAL [MiB]: size, padding included
-- column peak_percent REAL [percent 0..100]: share of the program's peak
-- column expansion REAL [ratio]: size by the size without padding
-- column shape TEXT: shape with layout
-- column tf_op TEXT: framework op that it comes from; NULL: not known
-- column source_line TEXT: file and line of the innermost stack frame, which may be in a library;
--   NULL: not known
-- column hosts INTEGER [hosts]: how many hosts have this program with these numbers
WITH buffer AS (
    SELECT b.run, b.program_id, b.hlo_module, b.hlo_op || coalesce(b.shape_index, '') AS op, b.kind,
           b.size_bytes, b.unpadded_bytes_actual AS data_bytes, p.peak_heap_mib,
           b.shape_actual AS shape,
           b.tf_op, b.source_file || ':' || b.source_line AS line, b.size_rank,
           min(b.host) AS host, count(DISTINCT b.host) AS hosts
    FROM temp.buffer_allocations(:source) AS b
         JOIN temp.memory_peaks(:source) AS p USING (run, host, program_id, memory_space)
    WHERE b.live_at_peak AND b.memory_space = coalesce(:space, 0)
    GROUP BY b.run, b.program_id, b.hlo_module, b.buffer_id, b.hlo_op, b.shape_index, b.size_bytes,
             b.unpadded_bytes_actual, p.peak_heap_mib
), ranked AS (
    SELECT *, row_number() OVER (PARTITION BY run
                                 ORDER BY size_bytes DESC, hlo_module, program_id, size_rank,
                                          host) AS rank
    FROM buffer
), answer AS (
    SELECT run, program_id, hlo_module, op, kind, size_bytes / 1048576.0,
           100 * size_bytes / 1048576.0 / nullif(peak_heap_mib, 0),
           1.0 * size_bytes / nullif(data_bytes, 0), shape, tf_op, line, hosts
    FROM ranked
    WHERE rank <= coalesce(:n, 10)
    ORDER BY run, rank
)
SELECT * FROM answer
UNION ALL
SELECT prof_error('largest_buffers: ' || coalesce(:source || ': ', '')
                  || 'no program has memory space '
                  || :space || '; there are ' || spaces),
       NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
FROM (SELECT group_concat(DISTINCT memory_space) AS spaces, max(memory_space = :space) AS there
      FROM temp.memory_peaks(:source))
WHERE :space IS NOT NULL AND NOT there
