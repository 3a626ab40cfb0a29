-- SPDX-License-Identifier: Apache-2.0
-- Which kinds of ops take the time, on the devices and on the host?
-- parameter source = NULL: label of an attached run, or path of a file, run folder or log dir; if
--   NULL, all attached runs
-- needs: events
-- nothing: no event is an op of a framework or of a device
-- column run TEXT: name of the run
-- column host_or_device TEXT: where the op ran: Device or Host
-- column category TEXT: category of HLO ops, or type of framework ops; on GPUs, for events with
--   neither: copy, memset or collective; IDLE: time without any op (on GPUs idle_ps of
--   device_time); NULL if unknown. Ops of unknown category that take no time have no row
-- column op_count INTEGER [ops]: number of different ops in the category; kernels without an op
--   count by kernel name
-- column occurrences INTEGER: number of times that the category's ops ran
-- column self_time_us REAL [us]: total time of the category's ops without nested ops, summed over
--   devices, streams or threads
-- column percent REAL [percent 0..100]: self time as a share of the side's time (Device or Host),
--   IDLE included; overlapping streams each count; NULL if that is 0
-- column percent_of_ops REAL [percent 0..100]: self time as a share of the side's time in ops; NULL
--   for IDLE
-- column flops REAL [FLOP]: floating-point operations of the category's ops (model_flops_actual of
--   hlo_ops; on host threads, of hlo_instructions); NULL if none or unknown
-- column bytes_accessed REAL [bytes]: bytes that the category's ops read and wrote
--   (bytes_accessed_actual of hlo_ops; on host threads, bytes_accessed of hlo_instructions); NULL
--   if none or unknown
WITH gpu_event AS MATERIALIZED (
    SELECT run, program_id, hlo_op, tf_op, name, count(*) AS n, sum(1.0 * duration_ps) AS ps
    FROM temp.trace_events(:source)
    WHERE plane_kind = 'gpu' AND line_kind = 'stream' AND occurrences IS NULL AND duration_ps >= 0
    GROUP BY run, program_id, hlo_op, tf_op, name
), metric AS MATERIALIZED (
    SELECT run, side, program_id, name, category, occurrences, CAST(self_ps AS REAL) AS self_ps,
           side = 'device' AND core_type IS NULL AS of_gpu,
           model_flops_actual AS flops, CAST(bytes_accessed_actual AS REAL) AS bytes
    FROM temp.op_metrics(:source)
    WHERE side <> 'framework' AND parent_id IS NULL
), gpu_op AS (
    SELECT e.run, e.n, e.ps, coalesce(e.program_id, '') || ' '
           || coalesce(e.hlo_op, e.tf_op, e.name) AS op,
           CASE WHEN e.hlo_op IS NOT NULL THEN coalesce(m.category, 'unknown')
                WHEN e.tf_op LIKE '%_:_%' THEN substr(e.tf_op, instr(e.tf_op, ':') + 1)
                WHEN e.name LIKE 'nccl%' OR e.name LIKE 'rccl%' THEN 'collective'
                WHEN e.name LIKE 'memcpy%' OR e.name GLOB 'Copy*To*'
                     OR e.name GLOB '__amd_rocclr_copy*' THEN 'copy'
                WHEN e.name LIKE 'memset%' OR e.name GLOB '__amd_rocclr_fill*'
                    THEN 'memset' END AS category
    FROM gpu_event AS e LEFT JOIN metric AS m ON m.run = e.run AND m.side = 'device'
                                                 AND m.program_id = e.program_id
                                                 AND m.name = e.hlo_op
), cost AS MATERIALIZED (
    SELECT run, category, sum(flops) AS flops, sum(bytes) AS bytes
    FROM metric
    WHERE of_gpu
    GROUP BY run, category
), op_run AS MATERIALIZED (
    SELECT run FROM metric WHERE side <> 'host' OR category IS NOT 'IDLE'
    UNION
    SELECT run FROM gpu_event
), host_op AS MATERIALIZED ( -- HLO ops that host threads run, in runs without framework ops
    SELECT e.run, e.host, e.program_id, e.hlo_op, count(*) AS n, sum(1.0 * e.self_ps) AS ps
    FROM (SELECT DISTINCT run FROM temp.hosts(:source) WHERE run NOT IN op_run) AS r
         CROSS JOIN temp.trace_events(:source) AS e ON e.run = r.run
    WHERE e.plane_kind = 'host' AND e.hlo_op IS NOT NULL
    GROUP BY e.run, e.host, e.program_id, e.hlo_op
), kinds AS (
    SELECT run, side, category, count(*) AS ops,
           CAST(sum(1.0 * occurrences) AS INTEGER) AS occurrences,
           sum(self_ps) AS self, sum(flops) AS flops, sum(bytes) AS bytes
    FROM metric
    WHERE NOT (of_gpu AND run IN (SELECT run FROM gpu_event))
          AND NOT (side = 'host' AND run IN (SELECT run FROM host_op))
    GROUP BY run, side, category
    UNION ALL
    SELECT o.run, 'device', o.category, count(DISTINCT o.op), sum(o.n), sum(o.ps), c.flops, c.bytes
    FROM gpu_op AS o LEFT JOIN cost AS c ON c.run = o.run AND c.category = o.category
    GROUP BY o.run, o.category
    UNION ALL
    SELECT run, 'device', 'IDLE', 1, 0, sum(1.0 * idle_ps), NULL, NULL
    FROM temp.device_time(:source)
    WHERE kind = 'gpu' AND span_ps IS NOT NULL
    GROUP BY run
    UNION ALL
    SELECT o.run, 'host', i.category, count(*), sum(o.n), sum(o.ps),
           sum(1.0 * o.n * i.model_flops_actual)
               FILTER (WHERE i.opcode NOT IN ('while', 'conditional', 'call')), -- these run others
           sum(1.0 * o.n * i.bytes_accessed)
               FILTER (WHERE i.opcode NOT IN ('while', 'conditional', 'call'))
    FROM host_op AS o
         LEFT JOIN temp.hlo_instructions(:source) AS i ON i.run = o.run AND i.host = o.host
                                                          AND i.program_id = o.program_id
                                                          AND i.hlo_op = o.hlo_op
    GROUP BY o.run, i.category
), merged AS ( -- GPUs and TensorCores of one run
    SELECT run, side, category, sum(ops) AS ops, sum(occurrences) AS occurrences, sum(self) AS self,
           sum(flops) AS flops, sum(bytes) AS bytes
    FROM kinds
    GROUP BY run, side, category
), shares AS (
    SELECT *, sum(self) OVER side_of AS all_self,
           sum(CASE WHEN category IS 'IDLE' THEN 0.0 ELSE self END) OVER side_of AS op_self
    FROM merged
    WINDOW side_of AS (PARTITION BY run, side)
)
SELECT run, CASE side WHEN 'host' THEN 'Host' ELSE 'Device' END, category, ops, occurrences,
       self / 1e6,
       100.0 * self / all_self,
       CASE WHEN category IS NOT 'IDLE' THEN 100.0 * self / op_self END,
       nullif(flops, 0), nullif(bytes, 0)
FROM shares
WHERE all_self > 0 AND (self > 0 OR category IS NOT NULL)
ORDER BY run, side, self DESC, category
