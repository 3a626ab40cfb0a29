-- SPDX-License-Identifier: Apache-2.0
-- In which element types do the ops compute, and how long do conversions between them take?
-- example: SELECT element_type, self_us, percent, product_us, convert_us FROM time_by_type
-- parameter source = NULL: label of an attached run, or path of a file, run folder or log dir; if
--   NULL, all attached runs
-- needs: events programs
-- nothing: no instruction of the run's programs ran
-- column run TEXT: name of the run
-- column rank INTEGER: rank by self time within the run and plane_kind
-- column plane_kind TEXT: kind of the planes on which the ops ran: gpu, tensorcore or sparsecore;
--   host in a run without devices
-- column element_type TEXT: element type such as f32 or bf16: for a matrix product or convolution,
--   or a fusion that contains one, the type of its first operand; for other ops, the type of the
--   result; tuple for several results; NULL for ops whose instruction is not in the file
-- column ops INTEGER [instructions]: number of instructions that ran; those of equal programs of
--   several hosts count once
-- column occurrences INTEGER [events]: number of events of these instructions
-- column self_us REAL [us]: self time of these instructions
-- column percent REAL [percent]: self_us as a share of the self time of all ops on these planes;
--   NULL if that is 0
-- column product_us REAL [us]: part of self_us in matrix products and convolutions: alone (dot,
--   ragged-dot, scaled-dot, convolution), in fusions, and in library calls: custom calls whose
--   target has gemm, matmul, $conv or $fmha (attention) in its name, in any case of letters, unless
--   it contains reorder
-- column convert_us REAL [us]: part of self_us in conversions to this type that are instructions
--   or fusions of their own (of nothing but convert, copy, reshape and bitcast); conversions inside
--   other fusions have no time of their own
WITH instruction AS MATERIALIZED (
    SELECT run, host, program_id, instruction_id, hlo_op, opcode, computation, element_type,
           called_computations,
           iif(opcode = 'custom-call', substr(expression, instr(expression, 'custom_call_target="')
                                                          + 20), '') AS target
    FROM temp.hlo_instructions(:source)
), library AS MATERIALIZED ( -- library calls that are products
    SELECT run, host, program_id, instruction_id
    FROM (SELECT *, substr(target, 1, instr(target, '"')) AS name FROM instruction)
    WHERE (name LIKE '%gemm%' OR name LIKE '%matmul%' OR name LIKE '%$conv%' OR name LIKE '%$fmha%')
        AND name NOT LIKE '%reorder%'
), product AS MATERIALIZED ( -- the first in each computation, and the type of its first operand
    SELECT i.run, i.host, i.program_id, i.hlo_op, i.computation, p.element_type,
           row_number() OVER (PARTITION BY i.run, i.host, i.program_id, i.computation
                              ORDER BY i.instruction_id) AS nth
    FROM instruction AS i
         JOIN temp.hlo_operands(:source) AS o
              ON o.run = i.run AND o.host = i.host AND o.program_id = i.program_id
                 AND o.instruction_id = i.instruction_id AND o.operand_index = 0
         JOIN instruction AS p
              ON p.run = o.run AND p.host = o.host AND p.program_id = o.program_id
                 AND p.hlo_op = o.operand
    WHERE i.opcode IN ('dot', 'ragged-dot', 'scaled-dot', 'convolution')
        OR (i.run, i.host, i.program_id, i.instruction_id) IN library
), conversion AS MATERIALIZED ( -- computations that do nothing else
    SELECT run, host, program_id, computation
    FROM instruction
    GROUP BY run, host, program_id, computation
    HAVING min(opcode IN ('parameter', 'convert', 'bitcast', 'copy', 'reshape')) = 1
        AND max(opcode = 'convert') = 1
), typed AS MATERIALIZED (
    SELECT i.run, i.host, i.program_id, i.hlo_op,
           coalesce(a.element_type, b.element_type, i.element_type) AS element_type,
           a.run IS NOT NULL OR b.run IS NOT NULL AS is_product,
           i.opcode = 'convert' OR c.run IS NOT NULL AS converts
    FROM instruction AS i
         LEFT JOIN product AS a ON a.run = i.run AND a.host = i.host
                                   AND a.program_id = i.program_id AND a.hlo_op = i.hlo_op
         LEFT JOIN product AS b ON b.run = i.run AND b.host = i.host
                                   AND b.program_id = i.program_id AND i.opcode = 'fusion'
                                   AND b.computation = i.called_computations AND b.nth = 1
         LEFT JOIN conversion AS c ON c.run = i.run AND c.host = i.host
                                      AND c.program_id = i.program_id AND i.opcode = 'fusion'
                                      AND c.computation = i.called_computations
), op AS MATERIALIZED (
    SELECT s.run, s.plane_kind, s.hlo_op, t.element_type,
           coalesce(t.is_product, 0) AS is_product, coalesce(t.converts, 0) AS converts,
           sum(s.occurrences) AS occurrences, total(s.self_us) AS self_us
    FROM temp.scope_ops(:source) AS s
         LEFT JOIN typed AS t ON t.run = s.run AND t.host = s.host
                                 AND t.program_id = s.program_id AND t.hlo_op = s.hlo_op
         LEFT JOIN temp.hlo_modules(:source) AS m
                   ON m.run = s.run AND m.host = s.host AND m.program_id = s.program_id
    GROUP BY s.run, s.plane_kind, s.program_id, m.content_hash, s.hlo_op, t.element_type,
             t.is_product, t.converts
), type AS (
    SELECT run, plane_kind, element_type,
           CAST(total(hlo_op IS NOT NULL AND element_type IS NOT NULL) AS INTEGER) AS ops,
           sum(occurrences) AS occurrences, total(self_us) AS self_us,
           total(is_product * self_us) AS product_us, total(converts * self_us) AS convert_us
    FROM op
    GROUP BY run, plane_kind, element_type
), ranked AS (
    SELECT *, total(self_us) OVER (PARTITION BY run, plane_kind) AS all_us,
           max(element_type) OVER (PARTITION BY run) AS known,
           row_number() OVER (PARTITION BY run, plane_kind
                              ORDER BY self_us DESC, element_type) AS rank
    FROM type
)
SELECT run, rank, plane_kind, element_type, ops, occurrences, self_us, 100.0 * self_us / all_us,
       product_us, convert_us
FROM ranked
WHERE known IS NOT NULL
ORDER BY run, plane_kind, rank
