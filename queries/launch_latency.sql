-- How long does a kernel wait between its launch on the host and its start on the device?
-- parameter source = NULL: a label, file, run folder or log dir; all attached runs without it
-- parameter n = 10: how many kernels, the largest total wait first
-- needs: events gpu
-- nothing: no event of a GPU has the correlation_id of a call on the host (host_tracer_level = 0 records none)
-- column kernel TEXT: the device event
-- column launches INTEGER [events]: launches with a matching device event
-- column avg_latency_us REAL [us]: from the begin of the launch call to the begin on the device
-- column median_latency_us REAL [us]: the same, median
-- column max_latency_us REAL [us]: the same, longest
-- column avg_launch_us REAL [us]: length of the launch call on the host
-- column avg_kernel_us REAL [us]: length on the device
WITH launch AS MATERIALIZED (
    SELECT run, host, correlation_id, min(start_ps) AS start_ps, max(duration_ps) AS duration_ps
    FROM temp.trace_events(:source)
    WHERE plane_kind = 'host' AND correlation_id IS NOT NULL
    GROUP BY 1, 2, 3
), kernel AS MATERIALIZED (
    SELECT run, host, correlation_id, name, start_ps, duration_ps
    FROM temp.trace_events(:source)
    WHERE plane_kind = 'gpu' AND NOT derived AND correlation_id IS NOT NULL
)
SELECT k.name, count(*), avg(k.start_ps - l.start_ps) / 1e6, median(k.start_ps - l.start_ps) / 1e6, max(k.start_ps - l.start_ps) / 1e6,
       avg(l.duration_ps) / 1e6, avg(k.duration_ps) / 1e6
FROM kernel AS k JOIN launch AS l ON l.correlation_id = k.correlation_id AND l.run = k.run AND l.host = k.host
GROUP BY k.name
ORDER BY total(k.start_ps - l.start_ps) DESC, k.name
LIMIT coalesce(:n, 10)
