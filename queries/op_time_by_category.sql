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
--   hlo_ops; on GPUs and host threads, flops of scope_ops); NULL if none or unknown
-- column bytes_accessed REAL [bytes]: bytes that the category's ops read and wrote
--   (bytes_accessed_actual of hlo_ops; on GPUs and host threads, bytes_accessed of scope_ops);
--   NULL if none or unknown
WITH metric AS MATERIALIZED (
    SELECT run, side, program_id, name, category, occurrences, CAST(self_ps AS REAL) AS self_ps,
           side = 'device' AND core_type IS NULL AS of_gpu,
           model_flops_actual AS flops, CAST(bytes_accessed_actual AS REAL) AS bytes
    FROM temp.op_metrics(:source)
    WHERE side <> 'framework' AND parent_id IS NULL
), gpu_work AS MATERIALIZED (
    SELECT run, host, program_id, hlo_op, hlo_module, tf_op, name, occurrences, self_us, flops,
           bytes_accessed
    FROM temp.scope_ops(:source)
    WHERE plane_kind = 'gpu'
), instruction AS MATERIALIZED (
    SELECT i.run, i.host, i.program_id, i.hlo_op, i.category
    FROM (SELECT 1 FROM gpu_work WHERE hlo_module IS NOT NULL LIMIT 1)
         CROSS JOIN temp.hlo_instructions(:source) AS i
), gpu_op AS (
    SELECT w.run, w.occurrences AS n, w.self_us * 1e6 AS ps, w.flops, w.bytes_accessed AS bytes,
           coalesce(w.program_id, '') || ' ' || coalesce(w.hlo_op, w.tf_op, w.name) AS op,
           CASE WHEN i.category IS NOT NULL THEN i.category
                WHEN w.name LIKE 'nccl%' OR w.name LIKE 'rccl%' THEN 'collective'
                WHEN w.name LIKE 'memcpy%' OR w.name GLOB 'Copy*To*'
                     OR w.name GLOB '__amd_rocclr_copy*' THEN 'copy'
                WHEN w.name GLOB 'Unified memory*' OR w.name IN ('GPU page faults', 'Thrashing',
                                                                 'Throttling', 'Remote map')
                    THEN 'copy'
                WHEN w.name LIKE 'memset%' OR w.name GLOB '__amd_rocclr_fill*'
                    THEN 'memset'
                WHEN w.hlo_op IS NOT NULL THEN coalesce(m.category, 'unknown')
                WHEN w.tf_op LIKE '%_:_%' THEN substr(w.tf_op, instr(w.tf_op, ':') + 1)
                END AS category
    FROM gpu_work AS w
         LEFT JOIN instruction AS i ON i.run = w.run AND i.host = w.host
                                       AND i.program_id = w.program_id AND i.hlo_op = w.hlo_op
         LEFT JOIN metric AS m ON m.run = w.run AND m.side = 'device'
                                  AND m.program_id = w.program_id AND m.name = w.hlo_op
), op_run AS MATERIALIZED (
    SELECT run FROM metric WHERE side <> 'host' OR category IS NOT 'IDLE'
    UNION
    SELECT run FROM gpu_work
), host_op AS MATERIALIZED ( -- HLO ops that host threads run, in runs without framework ops
    SELECT run, host, program_id, hlo_op, sum(occurrences) AS n, sum(self_us) * 1e6 AS ps,
           sum(flops) AS flops, sum(bytes_accessed) AS bytes
    FROM temp.scope_ops(:source)
    WHERE plane_kind = 'host' AND hlo_op IS NOT NULL AND run NOT IN op_run
    GROUP BY run, host, program_id, hlo_op
), kinds AS (
    SELECT run, side, category, count(*) AS ops,
           CAST(sum(1.0 * occurrences) AS INTEGER) AS occurrences,
           sum(self_ps) AS self, sum(flops) AS flops, sum(bytes) AS bytes
    FROM metric
    WHERE NOT (of_gpu AND run IN (SELECT run FROM gpu_work))
          AND NOT (side = 'host' AND run IN (SELECT run FROM host_op))
    GROUP BY run, side, category
    UNION ALL
    SELECT run, 'device', category, count(DISTINCT op), sum(n), sum(ps), sum(flops), sum(bytes)
    FROM gpu_op
    GROUP BY run, category
    UNION ALL
    SELECT run, 'device', 'IDLE', 1, 0, sum(1.0 * idle_ps), NULL, NULL
    FROM temp.device_time(:source)
    WHERE kind = 'gpu' AND span_ps IS NOT NULL
    GROUP BY run
    UNION ALL
    SELECT o.run, 'host', i.category, count(*), sum(o.n), sum(o.ps), sum(o.flops), sum(o.bytes)
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
