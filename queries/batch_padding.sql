-- SPDX-License-Identifier: Apache-2.0
-- How much of a model server's batches is padding?
-- example: SELECT model, batches, padding_percent FROM batch_padding
-- parameter source = NULL: label of an attached run, or path of a file, run folder or log dir; if
--   NULL, all attached runs
-- needs: events
-- nothing: no batch of a model server with a known size is in the run
-- column run TEXT: name of the run
-- column model TEXT: model of the batches; NULL for batches whose model is unknown
-- column batches INTEGER [batches]: number of batches whose size is known
-- column padded_batches INTEGER [batches]: number of these batches that have padding
-- column batch_size REAL: average size of a batch, padding included
-- column padding REAL: average size of the padding in a batch
-- column padding_percent REAL [percent]: padding of all batches, as a share of their sizes
-- column device_compute_us REAL [us]: time that devices computed for these batches
-- column padding_compute_us REAL [us]: part of device_compute_us spent on padding, if the time of
--   a batch is proportional to its size
SELECT run, model, count(*), sum(padding_amount > 0), avg(batch_size_after_padding),
       avg(padding_amount), 100.0 * sum(padding_amount) / sum(batch_size_after_padding),
       sum(device_compute_ps_actual) / 1e6,
       sum(1e-6 * device_compute_ps_actual * padding_amount / batch_size_after_padding)
FROM temp.inference_batches(:source)
WHERE batch_size_after_padding > 0
GROUP BY run, model
ORDER BY run, 7 DESC, model
