-- SPDX-License-Identifier: Apache-2.0
-- How busy were the parts of the GPUs over time, according to their hardware counters?
-- example: SELECT plane, name, start_us, value FROM gpu_counters WHERE name GLOB 'dram__*'
-- parameter source = NULL: label of an attached run, or path of a file, run folder or log dir; if
--   NULL, all attached runs
-- needs: events gpu
-- nothing: no GPU has samples of counters (line _counters_); on NVIDIA GPUs, JAX
--   records them with advanced_configuration gpu_pm_sample_counters, and profsql-capture
--   --gpu-samples MS records clocks, power and temperature
-- column run TEXT: name of the run
-- column host TEXT: name of the host
-- column plane TEXT: name of the GPU's plane
-- column name TEXT: name of the counter: NVIDIA's name of the metric, which says what it counts
--   and in which unit (sm__cycles_active.sum, dram__bytes_read.sum), or profsql-capture's
--   (power_mw)
-- column start_ps INTEGER [ps]: time of the sample, from the start of the session
-- column start_us REAL [us]: start_ps in microseconds
-- column interval_us REAL [us]: time since the previous sample of this counter on this plane; the
--   value of a counter that is a sum belongs to this time; NULL for the first sample. Samples with
--   equal times are in file order
-- column value REAL: value of the counter, in its unit: the first stat of the event, or of its
--   metadata if it has none; NULL if that is not a number
WITH line AS MATERIALIZED (
    SELECT run, line_id FROM temp.lines(:source) WHERE name = '_counters_'
), sample AS (
    SELECT e.run, host, plane_id, plane, name, start_ps, event_id,
           (SELECT CASE WHEN typeof(atom) IN ('integer', 'real') THEN atom END
            FROM json_each(e.stats) LIMIT 1) AS value
    FROM line AS l CROSS JOIN temp.trace_events(:source) AS e
    WHERE e.run = l.run AND e.line_id = l.line_id AND e.plane_kind = 'gpu'
)
SELECT run, host, plane, name, start_ps, start_ps / 1e6,
       (start_ps - lag(start_ps) OVER before) / 1e6, value + 0.0
FROM sample
WINDOW before AS (PARTITION BY run, plane_id, name ORDER BY start_ps, event_id)
ORDER BY run, plane_id, start_ps, name, event_id
