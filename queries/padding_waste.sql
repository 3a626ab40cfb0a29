-- SPDX-License-Identifier: Apache-2.0
-- Which buffers waste the most memory and time on padding, and which shape would fit?
-- example: SELECT hlo_op, shape, padding_mib, expansion FROM padding_waste WHERE n = 10
-- parameter source = NULL: label of an attached run, or path of a file, run folder, log dir or HLO
--   dump; if NULL, all attached runs
-- parameter n INTEGER = NULL: number of buffers of each run, most padding first; NULL for all
-- needs: programs
-- nothing: none found: no buffer is padded
-- column run TEXT: name of the run
-- column program_id TEXT: id of the program, decimal
-- column hlo_module TEXT: name of the program's HLO module
-- column hlo_op TEXT: HLO instruction whose result the buffer contains, with the index of the part
-- column memory_space INTEGER: memory space: 0 is the device's main memory
-- column padding_mib REAL [MiB]: part of the buffer that contains no data
-- column size_mib REAL [MiB]: size of the buffer, padding included
-- column expansion REAL [ratio]: size of the buffer divided by its size without padding
-- column live_at_peak INTEGER [0 or 1]: 1: the buffer counts in the program's peak; NULL if unknown
-- column shape TEXT: shape of the buffer, with layout; the first T(...) is the tile to which the
--   fastest-varying dimensions are rounded up
-- column tf_op TEXT: framework op that the instruction comes from; NULL if unknown
-- column source_line TEXT: source file and line of the innermost stack frame, which may be in a
--   library; NULL if unknown
-- column user_file TEXT: source file of the user's own program, not of a library or framework
--   (docs/semantics.md, User line); NULL if unknown
-- column user_line INTEGER: line number in user_file; NULL if user_file is NULL
-- column self_time_us REAL [us]: total self time of the instruction, over all executions on all
--   hosts: on TPUs of the ops in hlo_ops, else of those in scope_ops. NULL if no time was measured,
--   or if other hosts have a different op with this name and program id
-- column padding_time_us REAL [us]: part of self_time_us spent on the padding of this buffer, if
--   the instruction's time is proportional to the bytes of all of its results; NULL if self_time_us
--   is NULL
-- column hosts INTEGER [hosts]: number of hosts that have this program with these values
WITH time AS MATERIALIZED (
    SELECT run, program_id, hlo_op, sum(total_self_time_us) AS self_us
    FROM temp.hlo_ops(:source)
    WHERE core_type <> ''
    GROUP BY run, program_id, hlo_op
    UNION ALL
    SELECT run, program_id, hlo_op, sum(self_us)
    FROM temp.scope_ops(:source)
    WHERE plane_kind IN ('gpu', 'host') AND hlo_op IS NOT NULL
    GROUP BY run, program_id, hlo_op
), named AS MATERIALIZED ( -- hosts whose program of this id has an op of this name
    SELECT run, program_id, hlo_op, count(DISTINCT host) AS hosts
    FROM temp.hlo_instructions(:source)
    GROUP BY run, program_id, hlo_op
), buffer AS MATERIALIZED (
    SELECT run, min(host) AS host, program_id, hlo_module, hlo_op, shape_index, memory_space,
           padding_bytes_actual AS padding, size_bytes AS size, unpadded_bytes_actual AS data,
           live_at_peak, shape_actual AS shape, tf_op, source_file || ':' || source_line AS line,
           user_file, user_line, buffer_id, count(DISTINCT host) AS hosts
    FROM temp.buffer_allocations(:source)
    WHERE padding_bytes_actual > 0
    GROUP BY run, program_id, hlo_module, buffer_id, hlo_op, shape_index, memory_space,
             padding_bytes_actual, size_bytes, live_at_peak
), timed AS ( -- before the rank, because SQLite takes what is ranked for few rows
    SELECT b.*, t.self_us, i.padded_bytes
    FROM buffer AS b
         LEFT JOIN named AS n ON n.run = b.run AND n.program_id = b.program_id
                                 AND n.hlo_op = b.hlo_op
         LEFT JOIN time AS t ON t.run = b.run AND t.program_id = b.program_id
                                AND t.hlo_op = b.hlo_op AND b.hosts = n.hosts
         LEFT JOIN temp.hlo_instructions(:source) AS i
                   ON i.run = b.run AND i.host = b.host AND i.program_id = b.program_id
                      AND i.hlo_op = b.hlo_op
), ranked AS (
    SELECT *, row_number() OVER (PARTITION BY run
                                 ORDER BY padding DESC, hlo_module, program_id, buffer_id,
                                     host) AS rank
    FROM timed
)
SELECT run, program_id, hlo_module, hlo_op || coalesce(shape_index, ''), memory_space,
       padding / 1048576.0, size / 1048576.0, 1.0 * size / data, live_at_peak, shape, tf_op, line,
       user_file, user_line, self_us, self_us * min(1.0, 1.0 * padding / padded_bytes), hosts
FROM ranked
WHERE (:n IS NULL OR rank <= :n)
ORDER BY run, rank
