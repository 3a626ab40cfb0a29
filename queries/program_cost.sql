-- SPDX-License-Identifier: Apache-2.0
-- How many FLOPs does each program need, how large is it, and how long did it take to compile?
-- example: SELECT hlo_module, instructions, flops, compile_ms FROM program_cost WHERE n = 10
-- parameter source = NULL: label of an attached run, or path of a file, run folder, log dir or HLO
--   dump; if NULL, all attached runs
-- parameter n INTEGER = NULL: number of programs of each run, in the order of the rows; NULL for
--   all
-- needs: programs
-- nothing: the run has no HLO program
-- column run TEXT: name of the run
-- column rank INTEGER: rank within the run: programs that compiled during the capture first, those
--   that compiled longest before the others, then by FLOPs
-- column program_id TEXT: id of the program, decimal
-- column hlo_module TEXT: name of the program's HLO module
-- column instructions INTEGER [instructions]: number of instructions in all computations; a Python
--   loop that JAX unrolls adds its body for each iteration, a scan adds it once
-- column computations INTEGER [computations]: number of computations
-- column loops INTEGER [instructions]: number of while loops in the program
-- column flops REAL: operations of one execution, as XLA's compiled.cost_analysis() counts them,
--   library calls included; custom calls as the metadata of a TPU's events counts them. Each loop
--   counts one iteration. NULL if unknown for one instruction
-- column bytes_accessed REAL [bytes]: bytes read plus bytes written by the instructions of the
--   entry computation in one execution (hlo_instructions.bytes_accessed_actual), library calls
--   included. Each loop counts one iteration. NULL if unknown for one instruction
-- column parameter_mib REAL [MiB]: size of the program's parameters; NULL if unknown
-- column peak_mib REAL [MiB]: peak memory of the program, parameters and outputs included; NULL if
--   unknown
-- column compile_ms REAL [ms]: time that it took to compile the program during the capture (the
--   longest, if several hosts did); NULL if it was compiled before
-- column executions INTEGER [executions]: number of executions on all devices of these hosts; NULL
--   if the run records no execution of any program, as without devices
-- column hosts INTEGER [hosts]: number of hosts that have this program with these values
WITH cost AS (
    SELECT i.run, i.host, i.program_id, total(i.opcode = 'while') AS loops,
           CASE WHEN max(i.computation = m.entry_computation
                         AND coalesce(i.model_flops_actual, i.metadata_flops) IS NULL) = 0
                THEN total(iif(i.computation = m.entry_computation,
                               coalesce(i.model_flops_actual, i.metadata_flops), 0)) END AS flops,
           CASE WHEN max(i.computation = m.entry_computation
                         AND i.bytes_accessed_actual IS NULL) = 0
                THEN total(iif(i.computation = m.entry_computation,
                               i.bytes_accessed_actual, 0)) END AS bytes
    FROM temp.hlo_modules(:source) AS m
         JOIN (SELECT *, iif(cost_source = 'metadata', model_flops, NULL) AS metadata_flops
               FROM temp.hlo_instructions(:source)) AS i
              ON i.run = m.run AND i.host = m.host AND i.program_id = m.program_id
    GROUP BY i.run, i.host, i.program_id
), compiled AS MATERIALIZED (
    SELECT run, host, program_id, total(duration_ps) AS ps
    FROM temp.compilations(:source)
    WHERE program_id IS NOT NULL
    GROUP BY run, host, program_id
), executed AS MATERIALIZED (
    SELECT run, host, program_id, total(executions) AS n
    FROM temp.program_totals(:source)
    GROUP BY run, host, program_id
), program AS (
    SELECT m.run, m.program_id, m.hlo_module, m.instruction_count, m.computation_count, c.loops,
           c.flops, c.bytes, m.parameter_bytes, m.peak_heap_bytes, count(DISTINCT m.host) AS hosts,
           max(d.ps) AS ps,
           iif(m.run IN (SELECT run FROM executed), CAST(total(e.n) AS INTEGER), NULL) AS n
    FROM temp.hlo_modules(:source) AS m
         LEFT JOIN cost AS c ON c.run = m.run AND c.host = m.host AND c.program_id = m.program_id
         LEFT JOIN compiled AS d
                   ON d.run = m.run AND d.host = m.host AND d.program_id = m.program_id
         LEFT JOIN executed AS e
                   ON e.run = m.run AND e.host = m.host AND e.program_id = m.program_id
    GROUP BY m.run, m.program_id, m.hlo_module, m.instruction_count, m.computation_count, c.loops,
             c.flops, c.bytes, m.parameter_bytes, m.peak_heap_bytes
), ranked AS (
    SELECT *, row_number() OVER (PARTITION BY run ORDER BY ps DESC, flops DESC, hlo_module,
                                                           program_id) AS rank
    FROM program
)
SELECT run, rank, program_id, hlo_module, instruction_count, computation_count,
       CAST(loops AS INTEGER), flops, bytes, parameter_bytes / 1048576.0,
       peak_heap_bytes / 1048576.0, ps / 1e9, n, hosts
FROM ranked
WHERE (:n IS NULL OR rank <= :n)
ORDER BY run, rank
