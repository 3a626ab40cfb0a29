-- SPDX-License-Identifier: Apache-2.0
-- Which HLO ops take the most device time?
-- example: SELECT * FROM top_hlo_ops WHERE n = 10
-- parameter source = NULL: label of an attached run, or path of a file, run folder or log dir; if
--   NULL, all attached runs
-- parameter n INTEGER = NULL: number of rows of each run; NULL for all
-- needs: events device
-- nothing: no event on a device belongs to an op of an HLO program
-- column run TEXT: name of the run
-- column rank INTEGER: rank by self time within the run; 1 is the longest
-- column hlo_op TEXT: name of the HLO instruction
-- column category TEXT: HLO category of the op
-- column program_id TEXT: id of the program, decimal; NULL if the file does not name it
-- column hlo_module TEXT: name of the program's HLO module; NULL if the file does not contain the
--   program
-- column occurrences INTEGER: executions of the op on all cores (hlo_ops.occurrences_actual)
-- column self_time_us REAL [us]: total time of the op without nested ops, on the device clock;
--   top_ops uses the event clock, which on TPUs differs by some percent
-- column percent REAL [percent 0..100]: self time of the op as a share of the time in all ops of
--   the run
-- column cumulative_percent REAL [percent 0..100]: sum of percent of this op and the ops before it
-- column avg_self_time_us REAL [us]: average self time of one execution
-- column flops_utilization REAL [fraction]: FLOP rate of the op divided by the device's peak rate;
--   NULL if unknown
-- column hbm_utilization REAL [fraction]: HBM bandwidth of the op divided by the device's peak
--   bandwidth; above 1 if a cost is overestimated, far above 1 for the start and done of
--   asynchronous transfers; NULL if unknown
-- column bound_by TEXT: resource that the op uses closest to its peak; on GPUs, Compute or HBM, the
--   larger of the two preceding columns; Unknown if neither is known
-- column tf_op TEXT: framework op that the instruction comes from, with its type if the file has
--   it; NULL if unknown
-- column source_line TEXT: source file and line of the innermost stack frame, which may be in a
--   library; NULL if unknown
-- column user_file TEXT: source file of the user's own program, not of a library or framework
--   (docs/semantics.md, User line); NULL if unknown
-- column user_line INTEGER: line number in user_file; NULL if user_file is NULL
WITH ops AS MATERIALIZED (
    SELECT row_number() OVER (PARTITION BY run ORDER BY self_ps DESC, hlo_op, program_id) AS nth,
           CAST(self_ps AS REAL) AS self, sum(CAST(self_ps AS REAL))
               OVER (PARTITION BY run) AS all_self, *
    FROM temp.hlo_ops(:source)
    WHERE rank > 0
)
SELECT run, nth, hlo_op, category, program_id, hlo_module, occurrences_actual, total_self_time_us,
       100.0 * self / all_self,
       100.0 * sum(self) OVER (PARTITION BY run
                               ORDER BY nth ROWS UNBOUNDED PRECEDING) / all_self,
       total_self_time_us / occurrences_actual, flops_utilization, hbm_utilization,
       CASE WHEN core_type <> '' THEN bound_by
            WHEN coalesce(flops_utilization, hbm_utilization) IS NULL THEN 'Unknown'
            WHEN coalesce(flops_utilization, 0) >= coalesce(hbm_utilization, 0) THEN 'Compute'
            ELSE 'HBM' END,
       nullif(rtrim(tf_op, ':'), ''), source_file || ':' || source_line, user_file, user_line
FROM ops
WHERE (:n IS NULL OR nth <= :n)
ORDER BY run, nth
