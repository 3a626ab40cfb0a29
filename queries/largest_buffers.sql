-- SPDX-License-Identifier: Apache-2.0
-- Which buffers use the most memory at the peak?
-- example: SELECT * FROM largest_buffers WHERE n = 10
-- parameter source = NULL: label of an attached run, or path of a file, run folder, log dir or HLO
--   dump; if NULL, all attached runs
-- parameter n INTEGER = NULL: number of buffers of each run, largest first; NULL for all
-- parameter space = 0: memory space: 0 is the device's main memory, 1 is TPU VMEM; an error if no
--   program uses it
-- needs: programs
-- nothing: no HLO program has a buffer in this memory space (programs dumped before optimization
--   have no buffer assignment)
-- column run TEXT: name of the run
-- column program_id TEXT: id of the program, decimal
-- column hlo_module TEXT: name of the program's HLO module
-- column hlo_op TEXT: HLO instruction whose result the buffer contains, with the index of the part
-- column kind TEXT: kind of the buffer: parameter, output, constant or temporary
-- column size_mib REAL [MiB]: size of the buffer, padding included
-- column peak_percent REAL [percent 0..100]: size of the buffer as a share of the program's peak
-- column expansion REAL [ratio]: size of the buffer divided by its size without padding
-- column shape TEXT: shape of the buffer, with layout
-- column tf_op TEXT: framework op that the instruction comes from; NULL if unknown
-- column source_line TEXT: source file and line of the innermost stack frame, which may be in a
--   library; NULL if unknown
-- column user_file TEXT: source file of the user's own program, not of a library or framework
--   (docs/semantics.md, User line); NULL if unknown
-- column user_line INTEGER: line number in user_file; NULL if user_file is NULL
-- column scope TEXT: layer, module or named scope of the owner (docs/semantics.md, Scope); NULL if
--   it has none
-- column owner_tf_op TEXT: framework op that the buffer belongs to: tf_op, else that of the
--   instruction's owner (docs/semantics.md, Owner); NULL if it has none
-- column hosts INTEGER [hosts]: number of hosts that have this program with these values
WITH buffer AS (
    SELECT b.run, b.program_id, b.hlo_module, b.hlo_op || coalesce(b.shape_index, '') AS op, b.kind,
           b.size_bytes, b.unpadded_bytes_actual AS data_bytes, p.peak_heap_mib,
           b.shape_actual AS shape,
           b.tf_op, b.source_file || ':' || b.source_line AS line, b.user_file,
           b.user_line, b.scope, b.owner_tf_op, b.size_rank,
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
           100 * size_bytes / 1048576.0 / peak_heap_mib,
           1.0 * size_bytes / data_bytes, shape, tf_op, line, user_file,
           user_line, scope, owner_tf_op, hosts
    FROM ranked
    WHERE (:n IS NULL OR rank <= :n)
    ORDER BY run, rank
)
SELECT * FROM answer
UNION ALL
SELECT prof_error('largest_buffers: ' || coalesce(:source || ': ', '')
                  || 'no program uses memory space '
                  || :space || '; spaces in use: ' || spaces),
       NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
FROM (SELECT group_concat(DISTINCT memory_space) AS spaces, max(memory_space = :space) AS there
      FROM temp.memory_peaks(:source))
WHERE :space IS NOT NULL AND NOT there
