-- SPDX-License-Identifier: Apache-2.0
-- Which operations take more time in the second run than in the first?
-- example: SELECT * FROM compare_slower_ops LIMIT 10
-- parameter a: first run: label of an attached run, or path of a file, run folder or log dir
-- parameter b: second run: label of an attached run, or path of a file, run folder or log dir
-- parameter kind = 'operation': which operations to compare, as in compare_ops: operation, hlo,
--   framework or kernel
-- needs: events
-- nothing: no operation takes more time in the second run
-- column run_a TEXT: name of the first run
-- column run_b TEXT: name of the second run
-- column rank INTEGER: rank by grew_us; 1 is what grew most
-- column type TEXT: type of the operation, as in compare_ops
-- column operation TEXT: name of the operation: its name in the first run, or in the second if it
--   ran only there. Only those with grew_us above 0 have a row, and none of type IDLE of kind
--   framework
-- column short_name TEXT: readable form of operation, as in compare_ops
-- column change TEXT: whether it ran in both runs (both) or only in the second (appeared)
-- column grew_us REAL [us]: how much more time it takes, for each device and step:
--   compare_ops.delta_per_device_step_us
-- column grew_percent REAL [percent]: grew_us as a share of its time in the first run; NULL if that
--   is 0 or it did not run there
-- column cumulative_percent REAL [percent 0..100]: sum of grew_us over this row and those before it
--   as a share of the sum over all rows
-- column by_count_us REAL [us]: part of grew_us that comes from more executions: change of the
--   occurrences for each device and step, times the average time in the first run; below 0 if the
--   operation runs less often; NULL if it ran in one run only
-- column by_time_us REAL [us]: the rest of grew_us, because each execution takes longer; NULL if it
--   ran in one run only
WITH grown AS MATERIALIZED (
    SELECT *, row_number() OVER () AS place
    FROM temp.compare_ops(:a, :b, coalesce(:kind, 'operation'))
    WHERE delta_per_device_step_us > 0 AND (:kind IS NOT 'framework' OR type IS NOT 'IDLE')
), split AS (
    SELECT *, sum(delta_per_device_step_us) OVER (ORDER BY place) AS until_here,
           sum(delta_per_device_step_us) OVER () AS all_us,
           iif(change = 'both', per_device_step_us_b / avg_us_b * avg_us_a - per_device_step_us_a,
               NULL) AS by_count_us
    FROM grown
)
SELECT run_a, run_b, place, type, operation, short_name, change, delta_per_device_step_us,
       100.0 * delta_per_device_step_us / per_device_step_us_a, 100.0 * until_here / all_us,
       by_count_us, delta_per_device_step_us - by_count_us
FROM split
ORDER BY place
