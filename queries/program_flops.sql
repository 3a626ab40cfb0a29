-- SPDX-License-Identifier: Apache-2.0
-- How many FLOPs did each HLO program carry out on devices, and how is that known?
-- example: SELECT hlo_module, executions, model_flops, flops_by FROM program_flops
-- parameter source = NULL: label of an attached run, or path of a file, run folder or log dir; if
--   NULL, all attached runs
-- needs: events device
-- nothing: no op of a program ran on a GPU or TensorCore
-- column run TEXT: name of the run
-- column program_id TEXT: id of the HLO program, decimal; NULL for ops of no program
-- column hlo_module TEXT: name of the HLO module; NULL if unknown
-- column executions INTEGER [executions]: number of executions on all devices (program_runs); NULL
--   if none is recorded
-- column occurrences INTEGER [events]: number of events of its ops
-- column op_ms REAL [ms]: self time of its ops on all devices (simultaneous kernels on several
--   streams add up)
-- column unlisted_percent REAL [percent]: share of op_ms that hlo_ops lacks: of kernels that record
--   no instruction, as in CUDA graphs, and of programs that XLA rejects; 0 on TPUs; NULL if op_ms
--   is 0
-- column flops_by TEXT: how model_flops and hardware_flops are found. ops: sums over hlo_ops.
--   program: operations that the program's instructions need in one execution, times
--   program_totals.shown_executions; used if hlo_ops lacks some of the time. NULL if unknown
-- column model_flops REAL [FLOP]: operations that the model needs, without those that are computed
--   again: sum of hlo_ops.model_flops_actual, or of hlo_instructions.model_flops_actual times
--   runs_per_execution. Ops with unknown operations count as 0. NULL if hlo_ops lacks more than a
--   tenth of op_ms, and how often the program's instructions run is unknown too
-- column hardware_flops REAL [FLOP]: operations that the devices carried out, those computed again
--   included: the same sum of flops_actual; NULL if model_flops is NULL
WITH listed AS MATERIALIZED ( -- what hlo_ops knows of each program
    SELECT run, iif(program_id = '0' AND hlo_module IS NULL, NULL, program_id) AS program_id,
           max(hlo_module) AS name, sum(occurrences) AS n, sum(1.0 * event_self_ps) AS ps,
           sum(iif(rematerialization = 'No', model_flops_actual, 0.0)) AS model,
           sum(flops_actual) AS hardware
    FROM temp.hlo_ops(:source)
    WHERE rank > 0
    GROUP BY 1, 2
), kernel AS MATERIALIZED ( -- kernels of programs on GPUs
    SELECT run, program_id, max(hlo_module) AS name, sum(occurrences) AS n, sum(self_us) * 1e6 AS ps
    FROM temp.scope_ops(:source)
    WHERE plane_kind = 'gpu' AND hlo_op IS NOT NULL
    GROUP BY run, program_id
), execution AS MATERIALIZED (
    SELECT run, program_id, sum(executions) AS n, sum(shown_executions) AS shown
    FROM temp.program_totals(:source)
    GROUP BY run, program_id
), counted AS ( -- hlo_ops lacks kernels with an hlo_op and no program_id
    SELECT l.run, l.program_id, coalesce(l.name, k.name) AS name,
           coalesce(k.n, 0) + iif(k.run IS NULL OR l.program_id IS NULL, l.n, 0) AS n,
           coalesce(k.ps, 0) + iif(k.run IS NULL OR l.program_id IS NULL, l.ps, 0) AS ps,
           coalesce(k.ps, 0) - iif(l.program_id IS NULL, 0, l.ps) AS lacks, l.model, l.hardware
    FROM listed AS l LEFT JOIN kernel AS k ON k.run = l.run AND k.program_id IS l.program_id
    UNION ALL
    SELECT run, program_id, name, n, ps, ps, NULL, NULL
    FROM kernel AS k
    WHERE NOT EXISTS (SELECT 1 FROM listed AS l
                      WHERE l.run = k.run AND l.program_id IS k.program_id)
), program AS MATERIALIZED (
    SELECT *, iif(lacks > 1e-6 * ps, lacks / ps, 0.0) AS unlisted
    FROM counted
), instruction AS MATERIALIZED ( -- those that do not run others, of programs that hlo_ops lacks
    SELECT i.run, i.host, i.program_id, i.runs_per_execution AS n,
           coalesce(i.model_flops_actual, 0.0) AS model, coalesce(i.flops_actual, 0.0) AS hardware,
           instr(i.hlo_op, '.remat') OR instr(coalesce(i.tf_op, ''), 'rematted_computation')
               AS again
    FROM (SELECT 1 FROM program WHERE unlisted > 0 LIMIT 1)
         CROSS JOIN temp.hlo_instructions(:source) AS i
    WHERE (i.run, i.program_id) IN (SELECT run, program_id FROM program WHERE unlisted > 0)
      AND i.opcode NOT IN ('while', 'call', 'conditional', 'async-start')
), cost AS ( -- of one execution on a host
    SELECT run, host, program_id, total(iif(again, 0, n * model)) AS model,
           total(n * hardware) AS hardware, max(n IS NULL AND hardware > 0) AS is_unknown
    FROM instruction
    GROUP BY run, host, program_id
), known AS ( -- hosts can have different programs of one id
    SELECT run, program_id, max(model) AS model, max(hardware) AS hardware
    FROM cost
    GROUP BY run, program_id
    HAVING max(is_unknown) = 0 AND min(model) = max(model) AND min(hardware) = max(hardware)
), answer AS (
    SELECT p.run, p.program_id, p.name, e.n AS executions, p.n, p.ps,
           iif(p.ps > 0, 100.0 * p.unlisted, NULL) AS unlisted,
           CASE WHEN k.run IS NOT NULL AND e.n > 0 THEN 'program'
                WHEN p.unlisted > 0.1 OR p.model IS NULL THEN NULL ELSE 'ops' END AS how,
           p.model AS listed_model, p.hardware AS listed_hardware, e.shown * k.model AS model,
           e.shown * k.hardware AS hardware
    FROM program AS p
         LEFT JOIN execution AS e ON e.run = p.run AND e.program_id = p.program_id
         LEFT JOIN known AS k ON k.run = p.run AND k.program_id = p.program_id
)
SELECT run, program_id, name, executions, n, ps / 1e9, unlisted, how,
       CASE how WHEN 'program' THEN model WHEN 'ops' THEN listed_model END,
       CASE how WHEN 'program' THEN hardware WHEN 'ops' THEN listed_hardware END
FROM answer
ORDER BY run, ps DESC, program_id
