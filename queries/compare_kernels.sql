-- SPDX-License-Identifier: Apache-2.0
-- How do the GPU kernels of two runs differ?
-- example: SELECT * FROM compare_kernels LIMIT 10
-- parameter a: first run: label of an attached run, or path of a file, run folder or log dir
-- parameter b: second run: label of an attached run, or path of a file, run folder or log dir
-- needs: events gpu
-- nothing: no event on a GPU is a kernel
-- column run_a TEXT: name of the first run
-- column run_b TEXT: name of the second run
-- column kernel_name TEXT: name of the kernel
-- column short_name TEXT: name of the kernel without namespaces, template arguments and
--   parameters, unique in its run (docs/semantics.md)
-- column op_name TEXT: name of the framework op that the kernel ran for; NULL if unknown
-- column change TEXT: whether it ran in both runs (both), only in the second run (appeared) or only
--   in the first (vanished)
-- column occurrences_a INTEGER [kernels]: number of times that it ran in the first run; 0 if it did
--   not run
-- column occurrences_b INTEGER [kernels]: number of times that it ran in the second run; 0 if it
--   did not run
-- column total_duration_us_a REAL [us]: sum of the kernel's durations in the first run
-- column total_duration_us_b REAL [us]: sum of the kernel's durations in the second run
-- column delta_us REAL [us]: total duration in the second run minus that in the first; positive if
--   the second run is slower, negative if it is faster
-- column delta_percent REAL [percent]: delta_us as a share of the total duration in the first run;
--   NULL if that is 0
-- column avg_duration_us_a REAL [us]: average duration of one execution in the first run; NULL if
--   the kernel did not run
-- column avg_duration_us_b REAL [us]: average duration of one execution in the second run; NULL if
--   the kernel did not run
-- column avg_ratio REAL: average duration in the second run divided by that in the first; above 1
--   if the second run is slower; NULL if the kernel did not run in both runs, or has no duration in
--   the first
-- column matched_by TEXT: how the operations of the two runs were matched. name: same name; similar
--   name: same name without .kd, jit(main)/ and trailing numbers; NULL if change is not both
-- column name_b TEXT: name in the second run if it differs from the first; NULL otherwise
-- column per_device_step_us_a REAL [us]: total duration in the first run divided by the number of
--   its GPUs and TensorCores that compute and, if both runs have steps, by the number of all its
--   steps, dropped ones included
-- column per_device_step_us_b REAL [us]: per_device_step_us_a for the second run
-- column delta_per_device_step_us REAL [us]: per_device_step_us_b minus per_device_step_us_a
--   (negative if the second run is faster). Use it to compare runs of different length and size.
--   Rows are ordered by its absolute value
SELECT run_a, run_b, operation, short_name, type, change, occurrences_a, occurrences_b, time_us_a,
       time_us_b, delta_us,
       delta_percent, avg_us_a, avg_us_b, avg_ratio, matched_by, name_b, per_device_step_us_a,
       per_device_step_us_b, delta_per_device_step_us
FROM temp.compare_ops(:a, :b, 'kernel')
ORDER BY abs(delta_per_device_step_us) DESC,
         max(per_device_step_us_a, per_device_step_us_b) DESC, 3, 5
