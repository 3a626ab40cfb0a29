-- SPDX-License-Identifier: Apache-2.0
-- Which parameters of programs are donated, so that outputs reuse their memory, and which could be?
-- example: SELECT hlo_op, shape, size_mib, donated, could_be FROM donation WHERE n = 10
-- parameter source = NULL: label of an attached run, or path of a file, run folder, log dir or HLO
--   dump; if NULL, all attached runs
-- parameter n INTEGER = NULL: number of parameters of each run: programs with the most parameter
--   memory first, in a program parameters that could be donated first, then the largest; NULL for
--   all
-- needs: programs
-- nothing: no program has a buffer assignment with parameters
-- column run TEXT: name of the run
-- column program_id TEXT: id of the program, decimal
-- column hlo_module TEXT: name of the program's HLO module
-- column hlo_op TEXT: parameter in the main memory; for a part of a tuple, with its index
-- column shape TEXT: shape of the parameter, with layout
-- column size_mib REAL [MiB]: size of the parameter's memory
-- column donated INTEGER [0 or 1]: 1: an output of the program is stored in the parameter's memory
--   (donate_argnums in JAX); 0: no output reuses the parameter's memory
-- column could_be INTEGER [0 or 1]: 1: the parameter is not donated, although an output of the same
--   shape and layout, which has memory of its own (an allocation for outputs), could reuse the
--   parameter's memory. Each output counts for one parameter only, the one with the lowest
--   allocation_id. Whether the caller needs the parameter again is not recorded
-- column output TEXT: instruction whose result is the output in the parameter's memory (for a call
--   whose result has no buffer, the root of the called computation); if none is found, the last
--   instruction that writes all of this memory; NULL if the parameter is not donated, or is the
--   output itself
-- column could_save_mib REAL [MiB]: memory that donating all parameters with could_be = 1 would
--   save in the program
-- column hosts INTEGER [hosts]: number of hosts that have this program with these values
WITH buffer AS MATERIALIZED (
    SELECT run, host, program_id, hlo_module, allocation_id, allocation_bytes, attributes,
           hlo_op || coalesce(shape_index, '') AS hlo_op, opcode, shape_actual AS shape,
           output_shape, buffer_id, size_bytes,
           instr(attributes, 'entry computation parameter') > 0 AS given,
           instr(attributes, 'may-be live out') > 0 AS lives_out
    FROM temp.buffer_allocations(:source)
    WHERE allocation_id IS NOT NULL AND memory_space = 0
), parameter AS (
    SELECT *, row_number() OVER (PARTITION BY run, host, program_id, lives_out, shape
                                 ORDER BY allocation_id) AS nth
    FROM buffer
    WHERE given AND opcode = 'parameter' AND size_bytes = allocation_bytes
    GROUP BY run, host, program_id, allocation_id
), own_memory AS ( -- of outputs; what a loop passes through has no output_shape
    SELECT DISTINCT run, host, program_id, allocation_id,
           coalesce(max(output_shape) OVER (PARTITION BY run, host, program_id, allocation_id),
                    shape) AS shape
    FROM buffer
    WHERE lives_out AND NOT given AND size_bytes = allocation_bytes AND opcode <> 'tuple'
), output AS (
    SELECT run, host, program_id, shape, count(*) AS n
    FROM own_memory
    GROUP BY run, host, program_id, shape
), in_place AS ( -- the output, else the last instruction that writes all of the memory
    SELECT run, host, program_id, allocation_id,
           max(iif(output_shape IS NULL, 0, 1 << 62) + buffer_id), hlo_op
    FROM buffer
    WHERE given AND lives_out AND opcode <> 'parameter' AND size_bytes = allocation_bytes
    GROUP BY run, host, program_id, allocation_id
), found AS (
    SELECT p.run, p.host, p.program_id, p.hlo_module, p.hlo_op, p.shape, p.size_bytes,
           p.lives_out AS donated, NOT p.lives_out AND p.nth <= coalesce(o.n, 0) AS could_be,
           i.hlo_op AS output, p.allocation_id
    FROM parameter AS p
         LEFT JOIN output AS o ON o.run = p.run AND o.host = p.host
                                  AND o.program_id = p.program_id AND o.shape = p.shape
         LEFT JOIN in_place AS i ON i.run = p.run AND i.host = p.host
                                    AND i.program_id = p.program_id
                                    AND i.allocation_id = p.allocation_id
), program AS (
    SELECT *, total(could_be * size_bytes) OVER one AS could_save,
           total(size_bytes) OVER one AS all_bytes
    FROM found
    WINDOW one AS (PARTITION BY run, host, program_id)
), ranked AS (
    SELECT *, count(*) AS hosts,
           row_number() OVER (PARTITION BY run
                              ORDER BY all_bytes DESC, hlo_module, program_id, could_be DESC,
                                  size_bytes DESC, allocation_id, min(host)) AS rank
    FROM program
    GROUP BY run, program_id, hlo_module, allocation_id, hlo_op, shape, size_bytes, donated,
             could_be, output, could_save, all_bytes
)
SELECT run, program_id, hlo_module, hlo_op, shape, size_bytes / 1048576.0, donated, could_be,
       output, could_save / 1048576.0, hosts
FROM ranked
WHERE (:n IS NULL OR rank <= :n)
ORDER BY run, rank
