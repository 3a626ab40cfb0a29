-- SPDX-License-Identifier: Apache-2.0
-- What did the GPUs draw, at which clocks, how loaded and how hot were they, over time?
-- parameter source = NULL: a label, file, run folder or log dir; all attached runs without it
-- needs: events gpu
-- nothing: no GPU has samples (line _counters_): profsql-capture --gpu-samples MS records them
-- column run TEXT: the run
-- column host TEXT: the host
-- column plane TEXT: the GPU
-- column start_ps INTEGER [ps]: when the sample was taken, from the session's start
-- column power_w REAL [W]: power that the board draws; most GPUs average it over a second. NULL, as
--   all that follow: not in this sample
-- column sm_clock_mhz INTEGER [MHz]: clock of the multiprocessors; NULL: not in this sample
-- column memory_clock_mhz INTEGER [MHz]: clock of the memory; NULL: not in this sample
-- column gpu_utilization_percent REAL [percent 0..100]: share of the driver's last sample period
--   (up to a second) in which a kernel of any process ran; NULL: not in this sample
-- column memory_utilization_percent REAL [percent 0..100]: share of that period in which memory was
--   read or written; NULL: not in this sample
-- column temperature_c INTEGER [degrees Celsius]: of the GPU; NULL: not in this sample
-- column memory_used_bytes INTEGER [bytes]: memory in use by all processes and the driver; NULL:
--   not in this sample
WITH sample AS (
    SELECT run, host, plane_id, plane, start_ps, name, stats ->> '$.counter_value' AS value
    FROM temp.trace_events(:source)
    WHERE plane_kind = 'gpu' AND name IN ('power_mw', 'sm_clock_mhz', 'memory_clock_mhz',
          'gpu_utilization_percent', 'memory_utilization_percent', 'gpu_temp_c',
          'memory_used_bytes')
          AND line_id IN (SELECT line_id FROM temp.lines(:source) WHERE name = '_counters_')
)
SELECT run, host, plane, start_ps,
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
