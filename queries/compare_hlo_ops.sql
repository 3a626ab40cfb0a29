-- SPDX-License-Identifier: Apache-2.0
-- How do the HLO ops of two runs differ?
-- parameter a: first run: label of an attached run, or path of a file, run folder or log dir
-- parameter b: second run: label of an attached run, or path of a file, run folder or log dir
-- needs: events
-- nothing: no event belongs to an op of an HLO program
-- column run_a TEXT: name of the first run
-- column run_b TEXT: name of the second run
-- column hlo_module TEXT: HLO module of the op; programs with the same module name are combined;
--   NULL if the file does not contain the program
-- column hlo_op TEXT: name of the HLO instruction: its name in the first run, or in the second if
--   it ran only there
-- column category TEXT: HLO category of the op
-- column change TEXT: whether it ran in both runs (both), only in the second run (appeared) or only
--   in the first (vanished)
-- column occurrences_a INTEGER: number of times that it ran in the first run; 0 if it did not run
-- column occurrences_b INTEGER: number of times that it ran in the second run; 0 if it did not run
-- column self_time_us_a REAL [us]: self time (time without nested ops) in the first run
-- column self_time_us_b REAL [us]: self time in the second run
-- column delta_us REAL [us]: self time in the second run minus that in the first; positive if the
--   second run is slower, negative if it is faster
-- column delta_percent REAL [percent]: delta_us as a share of the self time in the first run; NULL
--   if that is 0
-- column avg_self_time_us_a REAL [us]: average self time of one execution in the first run; NULL if
--   the op did not run
-- column avg_self_time_us_b REAL [us]: average self time of one execution in the second run; NULL
--   if the op did not run
-- column avg_ratio REAL: average self time in the second run divided by that in the first; above 1
--   if the second run is slower; NULL if the op did not run in both runs, or has no self time in
--   the first
-- column matched_by TEXT: how the operations of the two runs were matched. name: same name;
--   fingerprint: same fingerprint of the HLO instruction; similar name: same name without .kd,
--   jit(main)/ and trailing numbers; NULL if change is not both
-- column name_b TEXT: name in the second run if it differs from the first; NULL otherwise
-- column per_device_step_us_a REAL [us]: self time in the first run divided by the number of its
--   GPUs and TensorCores that compute (of its hosts, if it has none) and, if both runs have steps,
--   by the number of all its steps, dropped ones included
-- column per_device_step_us_b REAL [us]: per_device_step_us_a for the second run
-- column delta_per_device_step_us REAL [us]: per_device_step_us_b minus per_device_step_us_a
--   (negative if the second run is faster). Use it to compare runs of different length and size.
--   Rows are ordered by its absolute value
SELECT run_a, run_b, scope, operation, type, change, occurrences_a, occurrences_b, time_us_a,
       time_us_b, delta_us,
       delta_percent, avg_us_a, avg_us_b, avg_ratio, matched_by, name_b, per_device_step_us_a,
       per_device_step_us_b, delta_per_device_step_us
FROM temp.compare_ops(:a, :b, 'hlo')
ORDER BY abs(delta_per_device_step_us) DESC,
         max(per_device_step_us_a, per_device_step_us_b) DESC, 3, 4, 5
