-- SPDX-License-Identifier: Apache-2.0
-- Which computing HLO ops waste the most device time, using neither compute nor memory well?
-- parameter source = NULL: label of an attached run, or path of a file, run folder or log dir; if
--   NULL, all attached runs
-- parameter n INTEGER = NULL: number of rows of each run; NULL for all
-- needs: events device
-- nothing: none found: no op of an HLO program took time on a device whose peak rates are known
-- column run TEXT: name of the run
-- column rank INTEGER: rank by wasted time within the run; 1 wastes the most. Collectives and
--   transfers such as infeed (see exposed_communication), ops that contain other ops (while, call)
--   and ops whose utilization is unknown have no row
-- column hlo_op TEXT: name of the HLO instruction
-- column category TEXT: HLO category of the op
-- column program_id TEXT: id of the program, decimal; NULL if the file does not name it
-- column hlo_module TEXT: name of the program's HLO module; NULL if the file does not contain the
--   program
-- column occurrences INTEGER: executions of the op on all cores (top_hlo_ops.occurrences)
-- column self_time_us REAL [us]: total time of the op without nested ops, on the device clock
-- column wasted_time_us REAL [us]: part of self_time_us that would be saved if the better utilized
--   resource were at its peak
-- column wasted_percent REAL [percent 0..100]: wasted_time_us as a share of the time in all ops of
--   the run
-- column flops_utilization REAL [fraction]: FLOP rate of the op divided by the device's peak rate;
--   NULL if it has no operations or they are unknown
-- column hbm_utilization REAL [fraction]: HBM bandwidth of the op divided by the device's peak
--   bandwidth; NULL if it has no bytes or they are unknown
-- column bound_by TEXT: resource that the op uses closest to its peak; on GPUs, Compute or HBM, the
--   larger of the two preceding columns
-- column tf_op TEXT: framework op that the instruction comes from, with its type if the file has
--   it; NULL if unknown
-- column source_line TEXT: source file and line of the innermost stack frame, which may be in a
--   library; NULL if unknown
WITH op AS MATERIALIZED (
    SELECT *, max(0.0, 1.0 - max(coalesce(flops_utilization, 0.0),
                                 coalesce(hbm_utilization, 0.0))) AS unused
    FROM temp.top_hlo_ops(:source)
), known AS (
    SELECT row_number() OVER (PARTITION BY run ORDER BY self_time_us * unused DESC, hlo_op,
                              program_id) AS nth, *
    FROM op
    WHERE NOT is_container AND work_kind = 'compute'
      AND coalesce(flops_utilization, hbm_utilization) IS NOT NULL
)
SELECT run, nth, hlo_op, category, program_id, hlo_module, occurrences, self_time_us,
       self_time_us * unused, percent * unused, flops_utilization, hbm_utilization, bound_by, tf_op,
       source_line
FROM known
WHERE (:n IS NULL OR nth <= :n)
ORDER BY run, nth
