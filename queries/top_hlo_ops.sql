-- SPDX-License-Identifier: Apache-2.0
-- Which HLO ops take the most device time?
-- parameter source = NULL: a label, file, run folder or log dir; all attached runs without it
-- parameter n = 10: how many rows of each run
-- needs: events device
-- nothing: no event of a device belongs to an op of an HLO program
-- column run TEXT: the run
-- column rank INTEGER: 1 is the largest self time of the run
-- column hlo_op TEXT: name of the instruction
-- column category TEXT: kind of op
-- column program_id TEXT: its program; NULL: the file names none
-- column hlo_module TEXT: the module of that; NULL: the file does not hold it
-- column occurrences INTEGER: executions on all cores: hlo_ops.occurrences_actual
-- column self_time_us REAL [us]: time without nested ops, by the device clock; top_ops has event
--   times, which on TPUs differ by some percent
-- column percent REAL [percent 0..100]: share of the time in all ops of the run
-- column cumulative_percent REAL [percent 0..100]: share of this op and those above
-- column avg_self_time_us REAL [us]: self time of one execution
-- column flops_utilization REAL [fraction]: of the device's peak; NULL: not known
-- column hbm_utilization REAL [fraction]: of the device's peak; may pass 1 where a cost is
--   overestimated, far for the start and done of asynchronous transfers; NULL: not known
-- column bound_by TEXT: the resource that it uses most; on GPUs Compute or HBM by the two columns
--   before; Unknown: neither is known
-- column tf_op TEXT: framework op that it comes from, with its type if the file has it; NULL: not
--   known
-- column source_line TEXT: file and line of the innermost stack frame, which may be in a library;
--   NULL: not known
WITH ops AS MATERIALIZED (
    SELECT row_number() OVER (PARTITION BY run ORDER BY self_ps DESC, hlo_op, program_id) AS nth,
           CAST(self_ps AS REAL) AS self, sum(CAST(self_ps AS REAL))
               OVER (PARTITION BY run) AS all_self, *
    FROM temp.hlo_ops(:source)
    WHERE rank > 0
)
SELECT run, nth, hlo_op, category, program_id, hlo_module, occurrences_actual, total_self_time_us,
       100.0 * self / nullif(all_self, 0),
       100.0 * sum(self) OVER (PARTITION BY run
                               ORDER BY nth ROWS UNBOUNDED PRECEDING) / nullif(all_self, 0),
       total_self_time_us / occurrences_actual, flops_utilization, hbm_utilization,
       CASE WHEN core_type <> '' THEN bound_by
            WHEN coalesce(flops_utilization, hbm_utilization) IS NULL THEN 'Unknown'
            WHEN coalesce(flops_utilization, 0) >= coalesce(hbm_utilization, 0) THEN 'Compute'
            ELSE 'HBM' END,
       nullif(rtrim(tf_op, ':'), ''), source_file || ':' || source_line
FROM ops
WHERE nth <= coalesce(:n, 10)
ORDER BY run, nth
