-- SPDX-License-Identifier: Apache-2.0
-- How do the GPU kernels of two runs differ?
-- parameter a: the first run: a label, file, run folder or log dir
-- parameter b: the second run
-- needs: events gpu
-- nothing: no event on a GPU is a kernel
-- column kernel_name TEXT: the kernel
-- column op_name TEXT: the framework op that it ran for; NULL when not known
-- column change TEXT: both: it ran in both; appeared: only in the second; vanished: only in the
--   first
-- column occurrences_a INTEGER [kernels]: how often it ran in the first run; 0 when it did not
-- column occurrences_b INTEGER [kernels]: how often it ran in the second
-- column total_duration_us_a REAL [us]: sum of its durations in the first run
-- column total_duration_us_b REAL [us]: sum of its durations in the second
-- column delta_us REAL [us]: the second's total less the first's: positive is slower
-- column delta_percent REAL [percent]: delta as share of the first's total; NULL when that is 0
-- column avg_duration_us_a REAL [us]: average of one in the first run; NULL when it did not run
-- column avg_duration_us_b REAL [us]: average of one in the second; NULL when it did not run
-- column avg_ratio REAL: the second's average over the first's: above 1 is slower; NULL when it did
--   not run in both
-- column matched_by TEXT: how the two were found to be one: name; similar name: equal without .kd,
--   jit(main)/ and numbers at the end; NULL unless both
-- column name_b TEXT: name in the second run if it differs; NULL otherwise
-- column per_device_step_us_a REAL [us]: total_duration_us_a by the number of GPUs and TensorCores
--   that compute, and by all its steps, dropped ones too, if both runs have steps
-- column per_device_step_us_b REAL [us]: the same in the second
-- column delta_per_device_step_us REAL [us]: per_device_step_us_b less per_device_step_us_a: what
--   runs of different length and size can be compared by; the rows are in order of its size
SELECT operation, type, change, occurrences_a, occurrences_b, time_us_a, time_us_b, delta_us,
       delta_percent, avg_us_a, avg_us_b, avg_ratio, matched_by, name_b, per_device_step_us_a,
       per_device_step_us_b, delta_per_device_step_us
FROM temp.compare_ops(:a, :b, 'kernel')
ORDER BY abs(delta_per_device_step_us) DESC,
         max(per_device_step_us_a, per_device_step_us_b) DESC, 1, 2
