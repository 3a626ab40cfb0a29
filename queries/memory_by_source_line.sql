-- SPDX-License-Identifier: Apache-2.0
-- Which source lines hold the memory of programs when it is fullest?
-- parameter source = NULL: a label, file, run folder, log dir or HLO dump; all attached runs
--   without it
-- parameter n = 20: how many lines of each run, the most memory first
-- parameter space = 0: memory space: 0 the device's main memory, 1 TPU VMEM ...; an error where no
--   program has the one given
-- needs: programs
-- nothing: no HLO program holds a buffer in this memory space (programs dumped before optimization
--   have no buffer assignment)
-- column run TEXT: the run
-- column program_id TEXT: the program
-- column hlo_module TEXT: its module
-- column source_line TEXT: file and line of the innermost stack frame, which is often in a library
--   (hlo_instructions.source_stack has the frames around it); NULL: buffers without one
-- column buffers INTEGER [buffers]: how many live at the peak
-- column size_mib REAL [MiB]: their size
-- column padding_mib REAL [MiB]: of it padding
-- column percent REAL [percent 0..100]: share of the buffers that live at the program's peak
-- column largest_op TEXT: instruction of the largest
-- column shape TEXT: its shape
-- column tf_op TEXT: its framework op; NULL: not known
-- column hosts INTEGER [hosts]: how many hosts have this program with these numbers
WITH live AS (
    SELECT run, host, program_id, hlo_module, source_file || ':' || source_line AS line, size_bytes,
           max(padding_bytes_actual, 0) AS padding_bytes, hlo_op, shape_actual AS shape, tf_op
    FROM temp.buffer_allocations(:source)
    WHERE live_at_peak AND memory_space = coalesce(:space, 0)
), line AS ( -- op, shape and tf_op are those of the row with the largest size
    SELECT run, host, program_id, hlo_module, line, count(*) AS buffers,
           CAST(total(size_bytes) AS INTEGER) AS size,
           CAST(total(padding_bytes) AS INTEGER) AS padding,
           max(size_bytes), hlo_op, shape, tf_op
    FROM live
    GROUP BY run, host, program_id, line
), share AS (
    SELECT *, total(size) OVER (PARTITION BY run, host, program_id) AS all_size FROM line
), same AS (
    SELECT *, min(host) AS first_host, count(*) AS hosts
    FROM share
    GROUP BY run, program_id, hlo_module, line, buffers, size, padding, all_size, hlo_op
), ranked AS (
    SELECT *, row_number() OVER (PARTITION BY run
                                 ORDER BY size DESC, hlo_module, program_id, line,
                                          first_host) AS rank
    FROM same
), answer AS (
    SELECT run, program_id, hlo_module, line, buffers, size / 1048576.0, padding / 1048576.0,
           100.0 * size / nullif(all_size, 0), hlo_op, shape, tf_op, hosts
    FROM ranked
    WHERE rank <= coalesce(:n, 20)
    ORDER BY run, rank
)
SELECT * FROM answer
UNION ALL
SELECT prof_error('memory_by_source_line: ' || coalesce(:source || ': ', '')
                  || 'no program has memory space ' || :space || '; there are ' || spaces),
       NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
FROM (SELECT group_concat(DISTINCT memory_space) AS spaces, max(memory_space = :space) AS there
      FROM temp.memory_peaks(:source))
WHERE :space IS NOT NULL AND NOT there
