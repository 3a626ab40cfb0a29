-- SPDX-License-Identifier: Apache-2.0
-- Which lines of my program use the most memory of a compiled program at its peak?
-- parameter source = NULL: label of an attached run, or path of a file, run folder, log dir or HLO
--   dump; if NULL, all attached runs
-- parameter n INTEGER = NULL: number of source lines of each run, most memory first; NULL for all
-- parameter space = 0: memory space: 0 is the device's main memory, 1 is TPU VMEM; an error if no
--   program uses it
-- needs: programs
-- nothing: no HLO program has a buffer in this memory space (programs dumped before optimization
--   have no buffer assignment)
-- column run TEXT: name of the run
-- column program_id TEXT: id of the program, decimal
-- column hlo_module TEXT: name of the program's HLO module
-- column user_file TEXT: source file of the user's own program, not of a library or framework
--   (docs/semantics.md, User line); NULL for buffers that come from none
-- column user_line INTEGER: line number in user_file; NULL if user_file is NULL
-- column buffers INTEGER [buffers]: number of the line's buffers that are live at the peak
-- column size_mib REAL [MiB]: total size of the line's live buffers, padding included
-- column padding_mib REAL [MiB]: part of size_mib that is padding
-- column percent REAL [percent 0..100]: size_mib as a share of all buffers that are live at the
--   program's peak
-- column largest_op TEXT: HLO instruction of the line's largest live buffer
-- column shape TEXT: shape of the line's largest live buffer
-- column tf_op TEXT: framework op of the line's largest live buffer, or of its owner
--   (docs/semantics.md, Owner); NULL if unknown
-- column hosts INTEGER [hosts]: number of hosts that have this program with these values
WITH live AS (
    SELECT run, host, program_id, hlo_module, user_file, user_line, size_bytes,
           max(padding_bytes_actual, 0) AS padding_bytes, hlo_op, shape_actual AS shape,
           owner_tf_op AS tf_op
    FROM temp.buffer_allocations(:source)
    WHERE live_at_peak AND memory_space = coalesce(:space, 0)
), line AS ( -- op, shape and tf_op are those of the row with the largest size
    SELECT run, host, program_id, hlo_module, user_file, user_line, count(*) AS buffers,
           CAST(total(size_bytes) AS INTEGER) AS size,
           CAST(total(padding_bytes) AS INTEGER) AS padding,
           max(size_bytes), hlo_op, shape, tf_op
    FROM live
    GROUP BY run, host, program_id, user_file, user_line
), share AS (
    SELECT *, total(size) OVER (PARTITION BY run, host, program_id) AS all_size FROM line
), same AS (
    SELECT *, min(host) AS first_host, count(*) AS hosts
    FROM share
    GROUP BY run, program_id, hlo_module, user_file, user_line, buffers, size, padding, all_size,
             hlo_op
), ranked AS (
    SELECT *, row_number() OVER (PARTITION BY run
                                 ORDER BY size DESC, hlo_module, program_id, user_file,
                                          user_line, first_host) AS rank
    FROM same
), answer AS (
    SELECT run, program_id, hlo_module, user_file, user_line, buffers, size / 1048576.0,
           padding / 1048576.0,
           100.0 * size / all_size, hlo_op, shape, tf_op, hosts
    FROM ranked
    WHERE (:n IS NULL OR rank <= :n)
    ORDER BY run, rank
)
SELECT * FROM answer
UNION ALL
SELECT prof_error('memory_by_source_line: ' || coalesce(:source || ': ', '')
                  || 'no program uses memory space ' || :space || '; spaces in use: ' || spaces),
       NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
FROM (SELECT group_concat(DISTINCT memory_space) AS spaces, max(memory_space = :space) AS there
      FROM temp.memory_peaks(:source))
WHERE :space IS NOT NULL AND NOT there
