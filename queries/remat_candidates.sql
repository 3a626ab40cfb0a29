-- Which large values live long across the peak although they are cheap to compute again?
-- parameter source = NULL: a label, file, run folder, log dir or HLO dump; all attached runs without it
-- parameter n = 10: how many, the most memory for the longest time first
-- parameter max_flops_per_byte = 16.0: leave out what takes more operations to compute than this for each byte of its size
-- parameter space = 0: which memory: 0 is the main memory, HBM on a device
-- needs: programs
-- nothing: none found: no temporary of this memory that is cheap to compute again lives across the peak
-- column run TEXT: the run
-- column hlo_module TEXT: the program
-- column hlo_op TEXT: instruction whose result it is; later values may take over its storage
-- column opcode TEXT: what it does
-- column size_mib REAL [MiB]: memory that the peak would save
-- column peak_percent REAL [percent 0..100]: share of the program's peak
-- column lived_percent REAL [percent 0..100]: share of the heap trace's events between allocation and release of the storage
-- column flops INTEGER [floating operations]: to compute it again: hlo_instructions.model_flops_actual; left out are values whose operations are not known, and what communicates or copies asynchronously
-- column flops_per_byte REAL [FLOP/byte]: the same for each byte saved
-- column shape TEXT: shape with layout
-- column tf_op TEXT: framework op that it comes from; NULL: not known
-- column source_line TEXT: file and line of the user's program; NULL: not known
-- column hosts INTEGER [hosts]: how many hosts have this program with these numbers
WITH events AS MATERIALIZED (
    SELECT run, host, program_id, memory_space, max(event) AS n FROM temp.heap_timeline(:source) GROUP BY run, host, program_id, memory_space
), crossing AS MATERIALIZED (
    SELECT b.run, b.host, b.program_id, b.hlo_module, b.hlo_op, b.opcode, b.size_bytes, b.shape_actual AS shape, b.tf_op, b.source_file || ':' || b.source_line AS line,
           100.0 * (b.storage_end_event - b.storage_start_event) / e.n AS lived, p.peak_heap_mib
    FROM temp.memory_peaks(:source) AS p JOIN events AS e USING (run, host, program_id, memory_space)
    JOIN temp.buffer_allocations(:source) AS b USING (run, host, program_id, memory_space)
    WHERE p.memory_space = coalesce(:space, 0) AND b.kind = 'temporary' AND b.storage_start_event < p.peak_event AND b.storage_end_event > p.peak_event AND b.size_bytes > 0
)
SELECT c.run, c.hlo_module, c.hlo_op, c.opcode, c.size_bytes / 1048576.0, 100 * c.size_bytes / 1048576.0 / c.peak_heap_mib, c.lived, i.model_flops_actual,
       1.0 * i.model_flops_actual / c.size_bytes, c.shape, c.tf_op, c.line, count(DISTINCT c.host)
FROM crossing AS c JOIN temp.hlo_instructions(:source) AS i USING (run, host, program_id, hlo_op)
WHERE 1.0 * i.model_flops_actual / c.size_bytes <= coalesce(:max_flops_per_byte, 16) AND
      NOT (i.opcode GLOB '*-start' OR i.opcode GLOB '*-done' OR i.opcode GLOB 'async-*' OR i.opcode GLOB 'all-*' OR i.opcode GLOB 'collective-*' OR i.opcode GLOB 'ragged-*' OR
           i.opcode IN ('reduce-scatter', 'send', 'recv', 'infeed', 'outfeed') OR (i.opcode = 'custom-call' AND i.model_flops_actual = 0))
GROUP BY c.run, c.program_id, c.hlo_module, c.hlo_op, c.size_bytes, c.lived, c.peak_heap_mib, i.model_flops_actual
ORDER BY c.size_bytes * c.lived DESC, c.run, c.hlo_module, c.program_id, c.hlo_op, min(c.host)
LIMIT coalesce(:n, 10)
