-- SPDX-License-Identifier: Apache-2.0
-- Does the host hold the devices up, and with what?
-- parameter source = NULL: a label, file, run folder or log dir; all attached runs without it
-- needs: events steps
-- nothing: no step is complete
-- column run TEXT: the run
-- column what TEXT: devices: what they do themselves, collectives and copies between devices
--   included; input, output; of GPUs and hosts without devices: host compute, kernel launch,
--   compilation (if host threads are recorded), host copies (within the host, if any), all others
--   (nothing known: often Python); of TensorCores: idle (neither working nor fed)
-- column ms_per_step REAL [ms]: time that goes to it in a complete step, on average of the cores: a
--   TensorCore, all GPUs of a host, or its threads
-- column percent REAL [percent 0..100]: share of the complete steps' time, which all cores spend
--   together; the parts add up to 100; NULL if the steps have no length
-- column bound TEXT: of the run: yes if devices themselves take less than half of the steps, no;
--   NULL without devices
WITH core AS MATERIALIZED (
    SELECT run, plane_id IS NOT NULL AS is_tpu, total_us AS total, device_compute_us_actual + device_to_device_us_actual + device_collectives_us_actual AS devices,
           input_us_actual AS input, output_us_actual AS output, host_compute_us_actual AS host, kernel_launch_us_actual AS launch,
           compilation_us_actual AS compilation, all_others_us_actual AS others
    FROM temp.core_steps(:source)
    WHERE NOT dropped
), step AS MATERIALIZED (
    SELECT run, count(*) AS n, sum(total) AS total, sum(devices) AS devices, sum(input) AS input, sum(output) AS output,
           sum(CASE WHEN NOT is_tpu THEN host END) AS host, sum(CASE WHEN NOT is_tpu THEN launch END) AS launch, sum(compilation) AS compilation,
           sum(CASE WHEN NOT is_tpu THEN others END) AS others, sum(CASE WHEN is_tpu THEN others END) AS idle,
           sum(CASE WHEN NOT is_tpu THEN total - devices - input - output - host - launch - coalesce(compilation, 0) - others END) AS copies
    FROM core
    GROUP BY run
), part AS (
    SELECT s.run, n, total, devices, p.what,
           CASE p.what WHEN 'devices' THEN devices WHEN 'input' THEN input WHEN 'output' THEN output WHEN 'host compute' THEN host WHEN 'kernel launch' THEN launch
                       WHEN 'compilation' THEN compilation WHEN 'host copies' THEN CASE WHEN copies > 1e-9 * total THEN copies END
                       WHEN 'all others' THEN others ELSE idle END AS us
    FROM step AS s JOIN (SELECT column1 AS what FROM (VALUES ('devices'), ('input'), ('output'), ('host compute'), ('kernel launch'), ('compilation'),
                                                             ('host copies'), ('all others'), ('idle'))) AS p
), device AS MATERIALIZED (
    SELECT DISTINCT run FROM temp.devices(:source)
)
SELECT run, what, us / n / 1000, 100.0 * us / nullif(total, 0), CASE WHEN run IN (SELECT run FROM device) THEN iif(devices < 0.5 * total, 'yes', 'no') END
FROM part
WHERE us IS NOT NULL
ORDER BY run, us DESC, what
