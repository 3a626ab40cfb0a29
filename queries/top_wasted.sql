-- SPDX-License-Identifier: Apache-2.0
-- Which HLO ops waste the most device time: ran long and used neither the compute units nor the memory?
-- parameter source = NULL: a label, file, run folder or log dir; all attached runs without it
-- parameter n = 10: how many rows of each run
-- needs: events device
-- nothing: none found: no op of an HLO program took time on a device whose peak is known
-- column run TEXT: the run
-- column rank INTEGER: 1 wastes the most of the run; ops that run others (while, call) and ops
--   whose use of both is unknown have no row
-- column hlo_op TEXT: name of the instruction
-- column category TEXT: kind of op
-- column program_id TEXT: its program; NULL: the file names none
-- column hlo_module TEXT: the module of that; NULL: the file does not hold it
-- column occurrences INTEGER: executions on all cores: hlo_ops.occurrences_actual
-- column self_time_us REAL [us]: time without nested ops, by the device clock
-- column wasted_time_us REAL [us]: of it what a perfect use of the better used resource would save
-- column wasted_percent REAL [percent 0..100]: wasted time as share of the time in all ops of the
--   run
-- column flops_utilization REAL [fraction]: of the device's peak; NULL: no operations, or not known
-- column hbm_utilization REAL [fraction]: of the device's peak; NULL: no bytes, or not known
-- column bound_by TEXT: the resource that it uses most; on GPUs Compute or HBM by the two columns
--   before
-- column tf_op TEXT: framework op that it comes from, with its type if the file has it; NULL: not
--   known
-- column source_line TEXT: file and line of the innermost stack frame, which may be in a library;
--   NULL: not known
WITH ops AS MATERIALIZED (
    SELECT *, CAST(self_ps AS REAL) AS self, sum(CAST(self_ps AS REAL))
           OVER (PARTITION BY run) AS all_self,
           max(0.0, 1.0 - max(coalesce(flops_utilization, 0.0),
                              coalesce(hbm_utilization, 0.0))) AS unused
    FROM temp.hlo_ops(:source)
    WHERE rank > 0
), known AS (
    SELECT row_number() OVER (PARTITION BY run ORDER BY self * unused DESC, hlo_op,
                              program_id) AS nth, *
    FROM ops
    WHERE NOT is_container AND coalesce(flops_utilization, hbm_utilization) IS NOT NULL
)
SELECT run, nth, hlo_op, category, program_id, hlo_module, occurrences_actual, total_self_time_us,
       total_self_time_us * unused, 100.0 * self * unused / nullif(all_self, 0), flops_utilization,
       hbm_utilization,
       CASE WHEN core_type <> '' THEN bound_by
            WHEN coalesce(flops_utilization, hbm_utilization) IS NULL THEN 'Unknown'
            WHEN coalesce(flops_utilization, 0) >= coalesce(hbm_utilization, 0) THEN 'Compute'
            ELSE 'HBM' END,
       nullif(rtrim(tf_op, ':'), ''), source_file || ':' || source_line
FROM known
WHERE nth <= coalesce(:n, 10)
ORDER BY run, nth
