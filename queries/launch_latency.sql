-- SPDX-License-Identifier: Apache-2.0
-- How long does a kernel wait between its launch on the host and its start on the device?
-- parameter source = NULL: a label, file, run folder or log dir; all attached runs without it
-- parameter n = 10: how many kernels of each run, the largest total wait first
-- column run TEXT: the run
-- column kernel TEXT: kernel, copy or other event on the device
-- column launches INTEGER [events]: device events of this name whose launch is known: the call on
--   the host with the same correlation_id
-- column avg_latency_us REAL [us]: from the start of the launch call to the start on the device;
--   the call itself is part of it; below 0 if the two clocks disagree
-- column median_latency_us REAL [us]: median of the latencies, interpolated
-- column max_latency_us REAL [us]: longest latency
-- column avg_launch_us REAL [us]: average length of the launch call on the host
-- column avg_kernel_us REAL [us]: average length on the device
-- needs: events gpu
-- nothing: no event of a GPU has the correlation_id of a call on the host (host_tracer_level = 0
--   records none)
WITH launch AS MATERIALIZED (
    SELECT run, host, correlation_id, min(start_ps) AS start_ps, max(duration_ps) AS duration_ps
    FROM temp.trace_events(:source)
    WHERE plane_kind = 'host' AND correlation_id IS NOT NULL
    GROUP BY 1, 2, 3
), kernel AS MATERIALIZED (
    SELECT run, host, correlation_id, name, start_ps, duration_ps
    FROM temp.trace_events(:source)
    WHERE plane_kind = 'gpu' AND NOT derived AND correlation_id IS NOT NULL
), latency AS (
    SELECT k.run, k.name, count(*) AS launches, avg(k.start_ps - l.start_ps) / 1e6 AS avg_latency, median(k.start_ps - l.start_ps) / 1e6 AS median_latency,
           max(k.start_ps - l.start_ps) / 1e6 AS max_latency, avg(l.duration_ps) / 1e6 AS avg_launch, avg(k.duration_ps) / 1e6 AS avg_kernel,
           row_number() OVER (PARTITION BY k.run ORDER BY total(k.start_ps - l.start_ps) DESC, k.name) AS rank
    FROM kernel AS k JOIN launch AS l ON l.correlation_id = k.correlation_id AND l.run = k.run AND l.host = k.host
    GROUP BY k.run, k.name
)
SELECT run, name, launches, avg_latency, median_latency, max_latency, avg_launch, avg_kernel
FROM latency
WHERE rank <= coalesce(:n, 10)
ORDER BY run, rank
