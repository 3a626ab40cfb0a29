-- SPDX-License-Identifier: Apache-2.0
-- What took longer in a slow step than in the median step?
-- example: SELECT step, name, difference_us, other_steps FROM slow_step_ops LIMIT 10
-- parameter source = NULL: label of an attached run, or path of a file, run folder or log dir; if
--   NULL, all attached runs
-- parameter of_step INTEGER = NULL: number of the step, as in the table steps; NULL for the longest
--   step of each run
-- parameter n INTEGER = NULL: number of rows of each run, largest difference first; NULL for all
-- needs: events steps
-- nothing: the run has no step of this number, or no event is in its steps
-- column run TEXT: name of the run
-- column rank INTEGER: rank by difference_us within the run, 1 for the largest; what belongs to the
--   step only by time (in_group = 0) comes last
-- column step INTEGER: number of the step
-- column over_median_us REAL [us]: duration of the step minus the median duration of the other
--   complete steps; NULL if there are none
-- column plane_kind TEXT: where the op ran: host (threads), gpu, tensorcore or sparsecore
-- column name TEXT: name of the op or host event
-- column short_name TEXT: readable name: for events of GPUs without namespaces, template arguments
--   and parameters, unique in the run (docs/semantics.md); for others the display name, else name;
--   if there are several, the last in byte order
-- column in_group INTEGER [0 or 1]: 1: the events have the step's group; 0: they belong to the step
--   by their time, and may only run at the same time as it
-- column occurrences INTEGER [events]: number of times that it ran in the step
-- column self_us REAL [us]: self time in the step, summed over threads, devices and hosts; below 0
--   if events nested in it overlap each other
-- column median_us REAL [us]: median of its self time over the other complete steps, 0 in a step in
--   which it did not run; below 0 as self_us; NULL if there are no other complete steps
-- column difference_us REAL [us]: self_us - median_us; below 0 if the op took less time in the step
--   than in the median; NULL if median_us is NULL
-- column other_steps INTEGER [steps]: number of other complete steps in which it ran; 0 if it ran
--   only in this step, as a compilation may
WITH ranked AS (
    SELECT *, row_number() OVER (PARTITION BY run
                                 ORDER BY in_group DESC,
                                          coalesce(self_us - median_us, self_us) DESC, plane_kind,
                                          name) AS rank
    FROM temp.step_op_spread(:source, :of_step)
    WHERE occurrences > 0 OR median_us <> 0
)
SELECT run, rank, step, over_median_us, plane_kind, name, short_name, in_group, occurrences,
       self_us, median_us, self_us - median_us, other_steps
FROM ranked
WHERE rank <= coalesce(:n, rank)
ORDER BY run, rank
