-- SPDX-License-Identifier: Apache-2.0
-- Which TensorFlow ops ran eagerly, outside any tf.function?
-- parameter source = NULL: label of an attached run, or path of a file, run folder or log dir; if
--   NULL, all attached runs
-- needs: events
-- nothing: none found: no TensorFlow op ran eagerly
-- column run TEXT: name of the run
-- column host_or_device TEXT: where the op ran: Device or Host
-- column type TEXT: type of the op
-- column operation TEXT: name of the op
-- column occurrences INTEGER: number of times that the op ran
-- column self_time_us REAL [us]: total time of the op without nested ops
-- column avg_self_time_us REAL [us]: average self time of one execution
-- column percent REAL [percent 0..100]: self time of the op as a share of the time in ops on its
--   side (Device or Host)
SELECT run, host_or_device, type, operation, occurrences, total_self_time_us, avg_self_time_us,
       100.0 * max(device_self_time_fraction, host_self_time_fraction)
FROM temp.tf_ops(:source, 0, 0)
WHERE execution_mode = 'Eager'
ORDER BY run, total_self_time_us DESC, operation, host_or_device, type
