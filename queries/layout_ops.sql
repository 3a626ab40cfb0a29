-- SPDX-License-Identifier: Apache-2.0
-- How much time do copies and transposes take, and which op needs them?
-- example: SELECT hlo_op, shape, self_us, percent, needed_by FROM layout_ops WHERE n = 10
-- parameter source = NULL: label of an attached run, or path of a file, run folder or log dir; if
--   NULL, all attached runs
-- parameter n INTEGER = NULL: number of ops of each run, most self time first; NULL for all
-- needs: events programs
-- nothing: no op that ran is a copy or transpose, or a fusion of these alone
-- column run TEXT: name of the run
-- column rank INTEGER: rank by self time within the run
-- column plane_kind TEXT: kind of the planes on which the op ran: gpu, tensorcore or sparsecore;
--   host in a run without devices
-- column hlo_module TEXT: name of the program's HLO module
-- column hlo_op TEXT: HLO instruction: a copy, a transpose, or a fusion that contains nothing but
--   these, reshapes and bitcasts. Copies inside other fusions have no time of their own
-- column opcode TEXT: opcode of the instruction
-- column shape TEXT: shape of the instruction's result, with layout
-- column operand_shape TEXT: shape of the instruction's first operand, with layout
-- column occurrences INTEGER [events]: number of events; equal programs of several hosts are
--   combined
-- column self_us REAL [us]: self time
-- column percent REAL [percent]: self time as a share of the self time of all ops on these planes;
--   NULL if that is 0
-- column all_percent REAL [percent]: percent of all rows of this run and plane_kind together; n
--   does not change it
-- column needed_by TEXT: instruction that uses the result (the one with the lowest instruction_id,
--   if there are several); NULL if none does (an output)
-- column owner_tf_op TEXT: framework op that the instruction belongs to (docs/semantics.md,
--   Owner); NULL if there is none
-- column user_file TEXT: source file of the user's own program (docs/semantics.md, User line);
--   NULL if unknown
-- column user_line INTEGER: line number in user_file; NULL if user_file is NULL
WITH layout_only AS MATERIALIZED ( -- computations that do nothing else
    SELECT run, host, program_id, computation
    FROM temp.hlo_instructions(:source)
    GROUP BY run, host, program_id, computation
    HAVING min(opcode IN ('parameter', 'copy', 'transpose', 'bitcast', 'reshape')) = 1
        AND max(opcode IN ('copy', 'transpose')) = 1
), layout AS MATERIALIZED (
    SELECT i.run, i.host, i.program_id, i.hlo_op, i.opcode, i.shape
    FROM temp.hlo_instructions(:source) AS i
         LEFT JOIN layout_only AS l ON l.run = i.run AND l.host = i.host
                                       AND l.program_id = i.program_id
                                       AND l.computation = i.called_computations
    WHERE i.opcode IN ('copy', 'transpose') OR (i.opcode = 'fusion' AND l.run IS NOT NULL)
), operand AS MATERIALIZED ( -- the first of each
    SELECT l.run, l.host, l.program_id, l.hlo_op, p.shape
    FROM layout AS l
         JOIN temp.hlo_operands(:source) AS o
              ON o.run = l.run AND o.host = l.host AND o.program_id = l.program_id
                 AND o.hlo_op = l.hlo_op AND o.operand_index = 0
         JOIN temp.hlo_instructions(:source) AS p
              ON p.run = o.run AND p.host = o.host AND p.program_id = o.program_id
                 AND p.hlo_op = o.operand
), user AS MATERIALIZED (
    SELECT l.run, l.host, l.program_id, l.hlo_op, min(o.instruction_id), o.hlo_op AS user
    FROM layout AS l
         JOIN temp.hlo_operands(:source) AS o
              ON o.run = l.run AND o.host = l.host AND o.program_id = l.program_id
                 AND o.operand = l.hlo_op
    GROUP BY l.run, l.host, l.program_id, l.hlo_op
), op AS MATERIALIZED (
    SELECT run, host, plane_kind, program_id, hlo_module, hlo_op, sum(occurrences) AS occurrences,
           total(self_us) AS self_us, max(owner_tf_op) AS owner_tf_op, max(user_file) AS user_file,
           max(user_line) AS user_line
    FROM temp.scope_ops(:source)
    GROUP BY run, host, plane_kind, program_id, hlo_module, hlo_op
), every AS (
    SELECT run, plane_kind, total(self_us) AS self_us FROM op GROUP BY run, plane_kind
), summed AS ( -- over hosts that have the same program
    SELECT o.run, o.plane_kind, o.program_id, o.hlo_module, o.hlo_op, min(o.host) AS host,
           max(l.opcode) AS opcode, max(l.shape) AS shape, sum(o.occurrences) AS occurrences,
           total(o.self_us) AS self_us, max(o.owner_tf_op) AS owner_tf_op,
           max(o.user_file) AS user_file, max(o.user_line) AS user_line
    FROM layout AS l
         JOIN op AS o ON o.run = l.run AND o.host = l.host AND o.program_id = l.program_id
                         AND o.hlo_op = l.hlo_op
         LEFT JOIN temp.hlo_modules(:source) AS m
                   ON m.run = o.run AND m.host = o.host AND m.program_id = o.program_id
    GROUP BY o.run, o.plane_kind, o.program_id, m.content_hash, o.hlo_op
), placed AS ( -- before the rank, because SQLite takes what is ranked for few rows
    SELECT s.*, e.self_us AS every_us, o.shape AS operand_shape, u.user
    FROM summed AS s
         JOIN every AS e ON e.run = s.run AND e.plane_kind = s.plane_kind
         LEFT JOIN operand AS o ON o.run = s.run AND o.host = s.host
                                   AND o.program_id = s.program_id AND o.hlo_op = s.hlo_op
         LEFT JOIN user AS u ON u.run = s.run AND u.host = s.host
                                AND u.program_id = s.program_id AND u.hlo_op = s.hlo_op
), ranked AS (
    SELECT *, 100.0 * self_us / every_us AS percent,
           100.0 * total(self_us) OVER (PARTITION BY run, plane_kind) / every_us AS all_percent,
           row_number() OVER (PARTITION BY run
                              ORDER BY self_us DESC, plane_kind, program_id, hlo_op) AS rank
    FROM placed
)
SELECT run, rank, plane_kind, hlo_module, hlo_op, opcode, shape, operand_shape, occurrences,
       self_us, percent, all_percent, user, owner_tf_op, user_file, user_line
FROM ranked
WHERE (:n IS NULL OR rank <= :n)
ORDER BY run, rank
