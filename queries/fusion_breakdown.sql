-- SPDX-License-Identifier: Apache-2.0
-- Which instructions are in the fusions, slowest fusion first?
-- parameter source = NULL: label of an attached run, or path of a file, run folder, log dir or HLO
--   dump; if NULL, all attached runs
-- parameter n INTEGER = NULL: number of fusions of each run, slowest first; NULL for all
-- needs: programs
-- nothing: none found: no readable program contains a fusion
-- column run TEXT: name of the run
-- column program_id TEXT: id of the program, decimal
-- column hlo_module TEXT: name of the program's HLO module
-- column hlo_op TEXT: name of the fusion
-- column category TEXT: kind of the fusion
-- column self_time_us REAL [us]: total self time of the fusion, over all executions on all hosts:
--   on TPUs of the ops in hlo_ops, else of those in scope_ops. NULL if no time was measured, or if
--   other hosts have a different op with this name and program id
-- column occurrences INTEGER: executions of the fusion on all cores (on TPUs
--   hlo_ops.occurrences_actual, else scope_ops.executions); NULL if self_time_us is NULL
-- column flops INTEGER [FLOP]: floating-point operations of one execution
--   (hlo_instructions.model_flops_actual); NULL if unknown
-- column bytes_accessed INTEGER [bytes]: bytes read and written by one execution
--   (hlo_instructions.bytes_accessed_actual); NULL if unknown
-- column instructions INTEGER [instructions]: number of instructions in the fusion, without
--   parameters; fusions that contain only parameters have no row
-- column opcodes TEXT: opcodes of the fusion's instructions with their counts, most frequent first
-- column tf_op TEXT: framework op of the fusion's root; NULL if unknown
-- column source_line TEXT: source file and line of the innermost stack frame, which may be in a
--   library; NULL if unknown
-- column user_file TEXT: source file of the user's own program, not of a library or framework
--   (docs/semantics.md, User line); NULL if unknown
-- column user_line INTEGER: line number in user_file; NULL if user_file is NULL
-- column hosts INTEGER [hosts]: number of hosts that have this program with these values
WITH inside AS (
    SELECT run, host, program_id, computation, opcode, count(*) AS n
    FROM temp.hlo_instructions(:source)
    WHERE opcode <> 'parameter'
    GROUP BY run, host, program_id, computation, opcode
), body AS MATERIALIZED (
    SELECT run, host, program_id, computation, sum(n) AS instructions,
           group_concat(opcode || ' ' || n, ', ') AS opcodes
    FROM (SELECT * FROM inside ORDER BY n DESC, opcode)
    GROUP BY run, host, program_id, computation
), fusion AS MATERIALIZED (
    SELECT f.run, min(f.host) AS host, f.program_id, f.hlo_module, f.hlo_op, f.category,
           f.model_flops_actual AS flops, f.bytes_accessed_actual AS bytes_accessed,
           b.instructions, b.opcodes, f.tf_op,
           f.source_file || ':' || f.source_line AS line, f.user_file, f.user_line,
           count(DISTINCT f.host) AS hosts
    FROM temp.hlo_instructions(:source) AS f
         CROSS JOIN body AS b ON b.run = f.run AND b.host = f.host AND b.program_id = f.program_id
                                 AND b.computation = f.called_computations
    WHERE f.opcode = 'fusion'
    GROUP BY f.run, f.program_id, f.hlo_module, f.hlo_op, f.model_flops_actual, b.opcodes, line
), time AS MATERIALIZED (
    SELECT run, program_id, hlo_op, sum(total_self_time_us) AS self_us,
           CAST(sum(1.0 * occurrences_actual) AS INTEGER) AS occurrences
    FROM temp.hlo_ops(:source)
    WHERE core_type <> ''
    GROUP BY run, program_id, hlo_op
    UNION ALL
    SELECT run, program_id, hlo_op, sum(self_us), CAST(sum(1.0 * executions) AS INTEGER)
    FROM temp.scope_ops(:source)
    WHERE plane_kind IN ('gpu', 'host') AND hlo_op IS NOT NULL
    GROUP BY run, program_id, hlo_op
), named AS MATERIALIZED ( -- hosts whose program of this id has an op of this name
    SELECT run, program_id, hlo_op, count(DISTINCT host) AS hosts
    FROM temp.hlo_instructions(:source)
    GROUP BY run, program_id, hlo_op
), ranked AS (
    SELECT f.*, t.self_us, t.occurrences,
           row_number() OVER (PARTITION BY f.run
                              ORDER BY t.self_us IS NULL, t.self_us DESC, f.bytes_accessed DESC,
                                       f.hlo_module, f.program_id, f.hlo_op, f.host) AS rank
    FROM fusion AS f
         JOIN named AS n ON n.run = f.run AND n.program_id = f.program_id AND n.hlo_op = f.hlo_op
         LEFT JOIN time AS t ON t.run = f.run AND t.program_id = f.program_id
             AND t.hlo_op = f.hlo_op
                                AND f.hosts = n.hosts
)
SELECT run, program_id, hlo_module, hlo_op, category, self_us, occurrences, flops, bytes_accessed,
       instructions, opcodes, tf_op, line, user_file, user_line, hosts
FROM ranked
WHERE (:n IS NULL OR rank <= :n)
ORDER BY run, rank
