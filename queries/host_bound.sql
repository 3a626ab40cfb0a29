-- Does the host hold the devices up, and with what?
-- parameter source = NULL: a label, file, run folder or log dir; all attached runs without it
-- needs: events steps
-- nothing: no step is complete
-- column run TEXT: the run
-- column what TEXT: input, output, host compute, kernel launch, compilation, all others (nothing known: often Python), idle (TPU: neither working nor fed); devices: what they do themselves
-- column ms_per_step REAL [ms]: time of a step that goes to it, on average of the complete steps
-- column percent REAL [percent 0..100]: its share of the steps' time
-- column bound TEXT: of the run: yes when devices themselves take less than half of the steps, no; without devices NULL
WITH step AS MATERIALIZED (
    SELECT run, count(*) AS n, sum(duration_ms) AS duration, sum(tc_compute_ms) IS NOT NULL AS is_tpu,
           sum(coalesce(device_compute_ms_actual, device_compute_ms) + coalesce(device_to_device_ms_actual, device_to_device_ms) +
               coalesce(device_collectives_ms_actual, device_collectives_ms)) AS devices,
           sum(coalesce(input_ms_actual, input_ms)) AS input, sum(coalesce(output_ms_actual, output_ms)) AS output,
           sum(coalesce(host_compute_ms_actual, host_compute_ms)) AS host, sum(coalesce(kernel_launch_ms_actual, kernel_launch_ms)) AS launch,
           sum(coalesce(compilation_ms_actual, compilation_ms)) AS compilation, sum(coalesce(all_others_ms_actual, all_others_ms)) AS others,
           sum(tc_compute_ms + coalesce(scv0_compute_ms, 0)) AS tc_devices, sum(tc_infeed_ms + coalesce(scv0_infeed_ms, 0)) AS tc_input,
           sum(tc_outfeed_ms) AS tc_output, sum(tc_idle_ms) AS tc_idle
    FROM temp.steps(:source)
    WHERE NOT dropped
    GROUP BY run
), part AS (
    SELECT run, n, duration, CASE WHEN is_tpu THEN tc_devices ELSE devices END AS at_work, p.what,
           CASE p.what WHEN 'devices' THEN iif(is_tpu, tc_devices, devices) WHEN 'input' THEN iif(is_tpu, tc_input, input) WHEN 'output' THEN iif(is_tpu, tc_output, output)
                       WHEN 'idle' THEN iif(is_tpu, tc_idle, NULL) WHEN 'host compute' THEN iif(is_tpu, NULL, host) WHEN 'kernel launch' THEN iif(is_tpu, NULL, launch)
                       WHEN 'compilation' THEN iif(is_tpu, NULL, compilation) ELSE iif(is_tpu, NULL, others) END AS ms
    FROM step JOIN (SELECT column1 AS what FROM (VALUES ('devices'), ('input'), ('output'), ('idle'), ('host compute'), ('kernel launch'), ('compilation'), ('all others'))) AS p
)
SELECT run, what, ms / n, CASE WHEN duration > 0 THEN 100.0 * ms / duration END,
       CASE WHEN EXISTS (SELECT 1 FROM temp.devices(:source) AS d WHERE d.run = part.run) THEN iif(at_work < 0.5 * duration, 'yes', 'no') END
FROM part
WHERE ms IS NOT NULL
ORDER BY run, ms DESC, what
