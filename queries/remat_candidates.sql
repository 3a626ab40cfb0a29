-- SPDX-License-Identifier: Apache-2.0
-- Which large values stay in memory across the peak although they are cheap to recompute?
-- parameter source = NULL: label of an attached run, or path of a file, run folder, log dir or HLO
--   dump; if NULL, all attached runs
-- parameter n INTEGER = NULL: number of values of each run, ordered by size_mib x lived_percent,
--   largest first; NULL for all
-- parameter max_flops_per_byte = 16.0: omit values that take more floating-point operations than
--   this to recompute, per byte of their size
-- parameter space = 0: memory space: 0 is the device's main memory (HBM), 1 is TPU VMEM
-- needs: programs
-- nothing: none found: no temporary in this memory space that is cheap to recompute is live across
--   the peak
-- column run TEXT: name of the run
-- column program_id TEXT: id of the program, decimal
-- column hlo_module TEXT: name of the program's HLO module
-- column hlo_op TEXT: HLO instruction whose result the value is, with the index of the part; later
--   values may reuse its storage
-- column opcode TEXT: opcode of the instruction
-- column size_mib REAL [MiB]: size of the value: memory that recomputing it would save at the peak
-- column peak_percent REAL [percent 0..100]: size of the value as a share of the program's peak
-- column lived_percent REAL [percent 0..100]: share of the heap trace's events between allocation
--   and release of the value's storage
-- column flops INTEGER [FLOP]: floating-point operations to recompute the value
--   (hlo_instructions.model_flops_actual). Values without a row: those whose operations are unknown
--   (for a custom call, also if they are 0), communication, asynchronous copies, tuples, results of
--   loops and calls, values with which a loop starts (it stores its results in their place), values
--   of the instruction at which the peak is reached, and values that are already recomputed (named
--   .remat by XLA, or in a rematted_computation of JAX)
-- column flops_per_byte REAL [FLOP/byte]: floating-point operations to recompute the value, per
--   byte saved
-- column shape TEXT: shape of the value, with layout
-- column tf_op TEXT: framework op that the instruction comes from; NULL if unknown
-- column source_line TEXT: source file and line of the innermost stack frame, which may be in a
--   library; NULL if unknown
-- column user_file TEXT: source file of the user's own program, not of a library or framework
--   (docs/semantics.md, User line); NULL if unknown
-- column user_line INTEGER: line number in user_file; NULL if user_file is NULL
-- column hosts INTEGER [hosts]: number of hosts that have this program with these values
WITH peak AS MATERIALIZED (
    SELECT run, host, program_id, memory_space, peak_event, peak_heap_mib
    FROM temp.memory_peaks(:source)
    WHERE memory_space = coalesce(:space, 0)
), program AS MATERIALIZED ( -- those that have a heap trace
    SELECT run, host, program_id, memory_space, peak_event, peak_heap_mib, max(event) AS n,
           max(hlo_op) FILTER (WHERE event = peak_event) AS peak_op
    FROM temp.heap_timeline(:source) JOIN peak USING (run, host, program_id, memory_space)
    GROUP BY run, host, program_id, memory_space
), started AS MATERIALIZED ( -- operands of loops
    SELECT run, host, program_id, o.operand AS hlo_op
    FROM temp.hlo_instructions(:source) AS i
         JOIN temp.hlo_operands(:source) AS o USING (run, host, program_id, hlo_op)
    WHERE i.opcode = 'while'
), state AS MATERIALIZED ( -- and of the tuples that are operands of loops
    SELECT * FROM started
    UNION
    SELECT run, host, program_id, o.operand
    FROM started JOIN temp.hlo_instructions(:source) AS i USING (run, host, program_id, hlo_op)
         JOIN temp.hlo_operands(:source) AS o USING (run, host, program_id, hlo_op)
    WHERE i.opcode = 'tuple'
), crossing AS MATERIALIZED (
    SELECT b.run, b.host, b.program_id, b.hlo_module, b.hlo_op, b.opcode, b.buffer_id,
           b.hlo_op || coalesce(b.shape_index, '') AS value, b.size_bytes,
           b.shape_actual AS shape, b.tf_op, b.source_file || ':' || b.source_line AS line,
           b.user_file, b.user_line,
           100.0 * (b.storage_end_event - b.storage_start_event) / p.n AS lived, p.peak_heap_mib
    FROM program AS p
         JOIN temp.buffer_allocations(:source) AS b USING (run, host, program_id, memory_space)
         LEFT JOIN state AS s ON s.run = b.run AND s.host = b.host
             AND s.program_id = b.program_id AND s.hlo_op = b.hlo_op
    WHERE b.kind = 'temporary' AND b.hlo_op IS NOT p.peak_op
          AND b.storage_start_event < p.peak_event AND b.storage_end_event > p.peak_event
          AND b.hlo_op NOT GLOB '*.remat*'
          AND coalesce(b.tf_op, '') NOT LIKE '%rematted_computation%'
          AND s.run IS NULL
), candidate AS (
    SELECT c.*, i.model_flops_actual AS flops, min(c.host) AS first_host,
           count(DISTINCT c.host) AS hosts
    FROM crossing AS c
         JOIN temp.hlo_instructions(:source) AS i USING (run, host, program_id, hlo_op)
    WHERE 1.0 * i.model_flops_actual / c.size_bytes <= coalesce(:max_flops_per_byte, 16)
          AND NOT (i.opcode GLOB '*-start' OR i.opcode GLOB '*-done' OR i.opcode GLOB 'async-*'
                   OR i.opcode GLOB 'all-*' OR i.opcode GLOB 'collective-*'
                   OR i.opcode GLOB 'ragged-all-*'
                   OR i.opcode IN ('reduce-scatter', 'send', 'recv', 'infeed', 'outfeed', 'tuple',
                                   'get-tuple-element', 'while', 'conditional', 'call')
                   OR (i.opcode = 'custom-call' AND i.model_flops_actual = 0))
    GROUP BY c.run, c.program_id, c.hlo_module, c.buffer_id, c.value, c.size_bytes, c.lived,
             c.peak_heap_mib, i.model_flops_actual
), ranked AS (
    SELECT *, row_number() OVER (PARTITION BY run ORDER BY size_bytes * lived DESC, hlo_module,
                                                           program_id, value, first_host) AS rank
    FROM candidate
)
SELECT run, program_id, hlo_module, value, opcode, size_bytes / 1048576.0,
       100 * size_bytes / 1048576.0 / peak_heap_mib, lived, flops, 1.0 * flops / size_bytes, shape,
       tf_op, line, user_file, user_line, hosts
FROM ranked
WHERE (:n IS NULL OR rank <= :n)
ORDER BY run, rank
