-- SPDX-License-Identifier: Apache-2.0
-- What were the power, clock rates, load and temperature of the GPUs over time?
-- parameter source = NULL: label of an attached run, or path of a file, run folder or log dir; if
--   NULL, all attached runs
-- needs: events gpu
-- nothing: no GPU has samples (line _counters_): profsql-capture --gpu-samples MS records them
--   on NVIDIA GPUs
-- column run TEXT: name of the run
-- column host TEXT: name of the host
-- column plane TEXT: name of the GPU's plane
-- column start_ps INTEGER [ps]: time of the sample, from the start of the session; if a name has
--   several values at this time, the row has the largest
-- column start_us REAL [us]: start_ps in microseconds
-- column power_w REAL [W]: power that the board draws (most GPUs average it over a second); NULL
--   if not in this sample
-- column sm_clock_mhz INTEGER [MHz]: clock rate of the multiprocessors; NULL if not in this sample
-- column memory_clock_mhz INTEGER [MHz]: clock rate of the memory; NULL if not in this sample
-- column gpu_utilization_percent REAL [percent 0..100]: share of the driver's last sample period
--   (up to a second) in which a kernel of any process ran; NULL if not in this sample
-- column memory_utilization_percent REAL [percent 0..100]: share of the driver's last sample
--   period (up to a second) in which memory was read or written; NULL if not in this sample
-- column temperature_c INTEGER [degrees Celsius]: temperature of the GPU; NULL if not in this
--   sample
-- column memory_used_bytes INTEGER [bytes]: memory in use by all processes and the driver; NULL if
--   not in this sample
WITH sample AS (
    SELECT run, host, plane_id, plane, start_ps, name, stats ->> '$.counter_value' AS value
    FROM temp.trace_events(:source)
    WHERE plane_kind = 'gpu' AND name IN ('power_mw', 'sm_clock_mhz', 'memory_clock_mhz',
          'gpu_utilization_percent', 'memory_utilization_percent', 'gpu_temp_c',
          'memory_used_bytes')
          AND line_id IN (SELECT line_id FROM temp.lines(:source) WHERE name = '_counters_')
)
SELECT run, host, plane, start_ps, start_ps / 1e6,
       max(CASE name WHEN 'power_mw' THEN value END) / 1e3,
       max(CASE name WHEN 'sm_clock_mhz' THEN value END),
       max(CASE name WHEN 'memory_clock_mhz' THEN value END),
       max(CASE name WHEN 'gpu_utilization_percent' THEN value END) + 0.0,
       max(CASE name WHEN 'memory_utilization_percent' THEN value END) + 0.0,
       max(CASE name WHEN 'gpu_temp_c' THEN value END),
       max(CASE name WHEN 'memory_used_bytes' THEN value END)
FROM sample
WHERE value IS NOT NULL
GROUP BY run, plane_id, start_ps
ORDER BY run, plane_id, start_ps
