-- SPDX-License-Identifier: Apache-2.0
-- Which buffers waste the most memory and time on padding, and what shape would fit?
-- parameter source = NULL: a label, file, run folder, log dir or HLO dump; all attached runs
--   without it
-- parameter n = 10: how many of each run, the most padding first
-- needs: programs
-- nothing: none found: no buffer is padded
-- column run TEXT: the run
-- column program_id TEXT: the program
-- column hlo_module TEXT: its module
-- column hlo_op TEXT: instruction whose result it is, and which part of it
-- column memory_space INTEGER: 0 the device's main memory
-- column padding_mib REAL [MiB]: what holds no data
-- column size_mib REAL [MiB]: size, padding included
-- column expansion REAL [ratio]: size by the size without padding
-- column live_at_peak INTEGER [0 or 1]: 1: it counts in the program's peak; NULL: not known
-- column shape TEXT: shape with layout; the first T(...) is what the fastest dimensions are rounded
--   up to
-- column tf_op TEXT: framework op that it comes from; NULL: not known
-- column source_line TEXT: file and line of the innermost stack frame, which may be in a library;
--   NULL: not known
-- column self_time_us REAL [us]: time of the instruction's own, all executions on all hosts
--   together; NULL where none was measured, or where other hosts have another op of this name in
--   their program of this id
-- column padding_time_us REAL [us]: of it what went into the padding, if its time goes with the
--   bytes of its results; NULL as self_time_us
-- column hosts INTEGER [hosts]: how many hosts have this program with these numbers
WITH device_time AS MATERIALIZED (
    SELECT run, program_id, hlo_op, sum(total_self_time_us) AS self_us
    FROM temp.hlo_ops(:source)
    GROUP BY run, program_id, hlo_op
), time AS MATERIALIZED ( -- in a run without a device the ops are events of host threads
    SELECT * FROM device_time
    UNION ALL
    SELECT e.run, e.program_id, e.hlo_op, total(e.self_ps) / 1e6
    FROM (SELECT DISTINCT run FROM temp.hosts(:source)
          WHERE run NOT IN (SELECT run FROM device_time)) AS r
         CROSS JOIN temp.trace_events(:source) AS e ON e.run = r.run
    WHERE e.hlo_op IS NOT NULL
    GROUP BY e.run, e.program_id, e.hlo_op
), named AS MATERIALIZED ( -- hosts whose program of this id has an op of this name
    SELECT run, program_id, hlo_op, count(DISTINCT host) AS hosts
    FROM temp.hlo_instructions(:source)
    GROUP BY run, program_id, hlo_op
), buffer AS (
    SELECT run, min(host) AS host, program_id, hlo_module, hlo_op, shape_index, memory_space,
           padding_bytes_actual AS padding, size_bytes AS size, unpadded_bytes_actual AS data,
           live_at_peak, shape_actual AS shape, tf_op, source_file || ':' || source_line AS line,
           buffer_id, count(DISTINCT host) AS hosts
    FROM temp.buffer_allocations(:source)
    WHERE padding_bytes_actual > 0
    GROUP BY run, program_id, hlo_module, buffer_id, hlo_op, shape_index, memory_space,
             padding_bytes_actual, size_bytes, live_at_peak
), ranked AS MATERIALIZED (
    SELECT *, row_number() OVER (PARTITION BY run
                                 ORDER BY padding DESC, hlo_module, program_id, buffer_id,
                                     host) AS rank
    FROM buffer
)
SELECT b.run, b.program_id, b.hlo_module, b.hlo_op || coalesce(b.shape_index, ''), b.memory_space,
       b.padding / 1048576.0, b.size / 1048576.0, 1.0 * b.size / nullif(b.data, 0), b.live_at_peak,
       b.shape, b.tf_op, b.line, t.self_us, t.self_us * min(1.0, 1.0 * b.padding / i.padded_bytes),
       b.hosts
FROM ranked AS b
     LEFT JOIN named AS n ON n.run = b.run AND n.program_id = b.program_id AND n.hlo_op = b.hlo_op
     LEFT JOIN time AS t ON t.run = b.run AND t.program_id = b.program_id AND t.hlo_op = b.hlo_op
                            AND b.hosts = n.hosts
     LEFT JOIN temp.hlo_instructions(:source) AS i
               ON i.run = b.run AND i.host = b.host AND i.program_id = b.program_id
                   AND i.hlo_op = b.hlo_op
WHERE b.rank <= coalesce(:n, 10)
ORDER BY b.run, b.rank
