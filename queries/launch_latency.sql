-- SPDX-License-Identifier: Apache-2.0
-- How long does a kernel wait between its launch on the host and its start on the device?
-- example: SELECT short_name, launches, median_latency_us FROM launch_latency WHERE n = 10
-- parameter source = NULL: label of an attached run, or path of a file, run folder or log dir; if
--   NULL, all attached runs
-- parameter n INTEGER = NULL: number of kernels of each run, largest total wait first; NULL for all
-- column run TEXT: name of the run
-- column kernel TEXT: name of the kernel, copy or other event on the device
-- column short_name TEXT: name of the kernel without namespaces, template arguments and parameters,
--   unique in the run (docs/semantics.md); for copies and other events the name
-- column launches INTEGER [events]: number of device events with this name whose launch is known
--   (the host call with the same correlation_id)
-- column avg_latency_us REAL [us]: average time from the start of the launch call to the start on
--   the device, the call included; below 0 if the two clocks disagree
-- column median_latency_us REAL [us]: median time from the start of the launch call to the start on
--   the device, interpolated
-- column max_latency_us REAL [us]: longest time from the start of the launch call to the start on
--   the device
-- column avg_launch_us REAL [us]: average duration of the launch call on the host (the first call
--   with the correlation_id; the longest of those that start together)
-- column avg_kernel_us REAL [us]: average duration on the device
-- needs: events gpu
-- nothing: no event on a GPU has the correlation_id of a host call (host_tracer_level = 0 records
--   no host calls)
WITH latency AS (
    SELECT run, name, max(short_name) AS short_name, count(*) AS launches,
           avg(delay_ps) / 1e6 AS avg_latency, median(delay_ps) / 1e6 AS median_latency,
           max(delay_ps) / 1e6 AS max_latency, avg(launch_duration_ps) / 1e6 AS avg_launch,
           avg(duration_ps) / 1e6 AS avg_kernel,
           row_number() OVER (PARTITION BY run ORDER BY total(delay_ps) DESC, name) AS rank
    FROM temp.launch_delays(:source)
    GROUP BY run, name
)
SELECT run, name, short_name, launches, avg_latency, median_latency, max_latency, avg_launch,
       avg_kernel
FROM latency
WHERE (:n IS NULL OR rank <= :n)
ORDER BY run, rank
