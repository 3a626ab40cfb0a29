-- SPDX-License-Identifier: Apache-2.0
-- Which large values live long across the peak although they are cheap to compute again?
-- parameter source = NULL: a label, file, run folder, log dir or HLO dump; all attached runs
--   without it
-- parameter n = 10: how many of each run, the most memory for the longest time first
-- parameter max_flops_per_byte = 16.0: leave out what takes more operations to compute than this
--   for each byte of its size
-- parameter space = 0: which memory: 0 is the main memory, HBM on a device
-- needs: programs
-- nothing: none found: no temporary of this memory that is cheap to compute again lives across the
--   peak
-- column run TEXT: the run
-- column program_id TEXT: the program
-- column hlo_module TEXT: its module
-- column hlo_op TEXT: instruction whose result it is; later values may take over its storage
-- column opcode TEXT: what it does
-- column size_mib REAL [MiB]: memory that the peak would save
-- column peak_percent REAL [percent 0..100]: share of the program's peak
-- column lived_percent REAL [percent 0..100]: share of the heap trace's events between allocation
--   and release of the storage
-- column flops INTEGER [floating operations]: to compute it again:
--   hlo_instructions.model_flops_actual; left out are values whose operations are not known, what
--   communicates or copies asynchronously, tuples, results of loops and calls, and values that are
--   computed again already (named .remat by XLA, or in a rematted_computation of JAX)
-- column flops_per_byte REAL [FLOP/byte]: the same for each byte saved
-- column shape TEXT: shape with layout
-- column tf_op TEXT: framework op that it comes from; NULL: not known
-- column source_line TEXT: file and line of the innermost stack frame, which may be in a library;
--   NULL: not known
-- column hosts INTEGER [hosts]: how many hosts have this program with these numbers
WITH events AS MATERIALIZED (
    SELECT run, host, program_id, memory_space, max(event) AS n
    FROM temp.heap_timeline(:source)
    GROUP BY run, host, program_id, memory_space
), crossing AS MATERIALIZED (
    SELECT b.run, b.host, b.program_id, b.hlo_module, b.hlo_op, b.opcode, b.size_bytes,
           b.shape_actual AS shape, b.tf_op, b.source_file || ':' || b.source_line AS line,
           100.0 * (b.storage_end_event - b.storage_start_event) / e.n AS lived, p.peak_heap_mib
    FROM temp.memory_peaks(:source) AS p
         JOIN events AS e USING (run, host, program_id, memory_space)
         JOIN temp.buffer_allocations(:source) AS b USING (run, host, program_id, memory_space)
    WHERE p.memory_space = coalesce(:space, 0) AND b.kind = 'temporary' AND b.size_bytes > 0
          AND b.storage_start_event < p.peak_event AND b.storage_end_event > p.peak_event
          AND b.hlo_op NOT GLOB '*.remat*'
          AND coalesce(b.tf_op, '') NOT LIKE '%rematted_computation%'
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
    GROUP BY c.run, c.program_id, c.hlo_module, c.hlo_op, c.size_bytes, c.lived, c.peak_heap_mib,
             i.model_flops_actual
), ranked AS (
    SELECT *, row_number() OVER (PARTITION BY run ORDER BY size_bytes * lived DESC, hlo_module,
                                                           program_id, hlo_op, first_host) AS rank
    FROM candidate
)
SELECT run, program_id, hlo_module, hlo_op, opcode, size_bytes / 1048576.0,
       100 * size_bytes / 1048576.0 / peak_heap_mib, lived, flops, 1.0 * flops / size_bytes, shape,
       tf_op, line, hosts
FROM ranked
WHERE rank <= coalesce(:n, 10)
ORDER BY run, rank
