-- SPDX-License-Identifier: Apache-2.0
-- Which TensorFlow ops ran eagerly, outside any tf.function?
-- parameter source = NULL: a label, file, run folder or log dir; all attached runs without it
-- needs: events
-- nothing: none found: no TensorFlow op ran eagerly
-- column run TEXT: the run
-- column host_or_device TEXT: Device or Host
-- column type TEXT: type of the op
-- column operation TEXT: name of the op
-- column occurrences INTEGER: how often it ran
-- column self_time_us REAL [us]: time without nested ops
-- column avg_self_time_us REAL [us]: self time of one
-- column percent REAL [percent 0..100]: share of the side's time in ops
SELECT run, host_or_device, type, operation, occurrences, total_self_time_us, avg_self_time_us,
       100.0 * max(device_self_time_fraction, host_self_time_fraction)
FROM temp.tf_ops(:source, 0, 0)
WHERE execution_mode = 'Eager'
ORDER BY total_self_time_us DESC, operation, run, host_or_device, type
