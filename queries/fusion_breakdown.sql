-- What do the fusions consist of, the slowest first?
-- parameter source = NULL: a label, file, run folder, log dir or HLO dump; all attached runs without it
-- parameter n = 10: how many fusions
-- needs: programs
-- nothing: none found: no program that can be read has a fusion
-- column run TEXT: the run
-- column hlo_module TEXT: the program
-- column hlo_op TEXT: the fusion
-- column category TEXT: kind of fusion
-- column self_time_us REAL [us]: time of its own, all executions on all hosts together; NULL where none was measured
-- column occurrences INTEGER: how often it ran; NULL where none was measured
-- column flops INTEGER [floating operations]: of one execution: hlo_instructions.model_flops_actual; NULL: not known
-- column bytes_accessed INTEGER [bytes]: of one execution; NULL: not known
-- column instructions INTEGER [instructions]: in it, parameters left out; fusions of parameters alone have no row
-- column opcodes TEXT: which, the most frequent first, with their number
-- column tf_op TEXT: framework op of its root; NULL: not known
-- column source_line TEXT: file and line of the user's program; NULL: not known
-- column hosts INTEGER [hosts]: how many hosts have this program with these numbers
WITH inside AS (
    SELECT run, host, program_id, computation, opcode, count(*) AS n FROM temp.hlo_instructions(:source) WHERE opcode <> 'parameter' GROUP BY 1, 2, 3, 4, 5
), bodies AS MATERIALIZED (
    SELECT run, host, program_id, computation, sum(n) AS instructions, group_concat(opcode || ' ' || n, ', ') AS opcodes
    FROM (SELECT * FROM inside ORDER BY n DESC, opcode)
    GROUP BY run, host, program_id, computation
), fusions AS MATERIALIZED (
    SELECT f.run, f.host, f.program_id, f.hlo_module, f.hlo_op, f.category, f.model_flops_actual AS flops, f.bytes_accessed, b.instructions, b.opcodes, f.tf_op, f.source_file || ':' || f.source_line AS line
    FROM temp.hlo_instructions(:source) AS f CROSS JOIN bodies AS b ON b.run = f.run AND b.host = f.host AND b.program_id = f.program_id AND b.computation = f.called_computations
    WHERE f.opcode = 'fusion'
), device_times AS MATERIALIZED (
    SELECT run, program_id, hlo_op, sum(total_self_time_us) AS self_us, CAST(sum(1.0 * occurrences) AS INTEGER) AS occurrences FROM temp.hlo_ops(:source) GROUP BY 1, 2, 3
), no_device AS MATERIALIZED (
    SELECT DISTINCT run FROM temp.hosts(:source) WHERE run NOT IN (SELECT run FROM device_times)
), times AS MATERIALIZED ( -- in a run without a device the ops are events of host threads
    SELECT * FROM device_times
    UNION ALL
    SELECT e.run, e.program_id, e.hlo_op, total(e.self_ps) / 1e6, count(*)
    FROM no_device AS r CROSS JOIN temp.trace_events(:source) AS e ON e.run = r.run
    WHERE e.hlo_op IS NOT NULL
    GROUP BY 1, 2, 3
)
SELECT f.run, f.hlo_module, f.hlo_op, f.category, t.self_us, t.occurrences, f.flops, f.bytes_accessed, f.instructions, f.opcodes, f.tf_op, f.line, count(DISTINCT f.host)
FROM fusions AS f LEFT JOIN times AS t ON t.run = f.run AND t.program_id = f.program_id AND t.hlo_op = f.hlo_op
GROUP BY f.run, f.program_id, f.hlo_module, f.hlo_op, f.flops, f.bytes_accessed, f.opcodes, f.line
ORDER BY t.self_us IS NULL, t.self_us DESC, f.bytes_accessed DESC, f.run, f.hlo_module, f.program_id, f.hlo_op, min(f.host)
LIMIT coalesce(:n, 10)
