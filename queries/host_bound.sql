-- SPDX-License-Identifier: Apache-2.0
-- Does the host slow the devices down, and what does it do?
-- example: SELECT what, ms_per_step, percent FROM host_bound
-- parameter source = NULL: label of an attached run, or path of a file, run folder or log dir; if
--   NULL, all attached runs
-- needs: events steps
-- nothing: no step is complete
-- column run TEXT: name of the run
-- column what TEXT: activity. devices: work of the devices themselves, collectives and copies
--   between devices included; input; output. On GPUs and hosts without devices also: host compute,
--   kernel launch, compilation (if host threads are recorded), host copies (within the host, if
--   any), all others (no known activity, often Python). On TensorCores also: idle
-- column ms_per_step REAL [ms]: average time of the activity per complete step and core (a
--   TensorCore, all GPUs of a host, or the threads of a host)
-- column percent REAL [percent 0..100]: time of the activity as a share of the duration of all
--   complete steps, summed over all cores; the rows of a run add up to 100; NULL if the steps have
--   no duration
-- column bound TEXT: whether the run is host bound: yes if the devices take less than half of the
--   step time, else no; NULL without devices
WITH core AS MATERIALIZED (
    SELECT run, plane_id IS NOT NULL AS is_tpu, total_us AS total,
           device_compute_us_actual + device_to_device_us_actual
           + device_collectives_us_actual AS devices,
           input_us_actual AS input, output_us_actual AS output, host_compute_us_actual AS host,
           kernel_launch_us_actual AS launch,
           compilation_us_actual AS compilation, all_others_us_actual AS others
    FROM temp.core_steps(:source)
    WHERE NOT dropped
), step AS MATERIALIZED (
    SELECT run, count(*) AS n, sum(total) AS total, sum(devices) AS devices, sum(input) AS input,
           sum(output) AS output,
           sum(CASE WHEN NOT is_tpu THEN host END) AS host,
           sum(CASE WHEN NOT is_tpu THEN launch END) AS launch, sum(compilation) AS compilation,
           sum(CASE WHEN NOT is_tpu THEN others END) AS others,
           sum(CASE WHEN is_tpu THEN others END) AS idle,
           sum(CASE WHEN NOT is_tpu THEN total - devices - input - output - host - launch
               - coalesce(compilation, 0) - others END) AS copies
    FROM core
    GROUP BY run
), part AS (
    SELECT s.run, n, total, devices, p.what,
           CASE p.what WHEN 'devices' THEN devices WHEN 'input' THEN input WHEN 'output' THEN output
                WHEN 'host compute' THEN host WHEN 'kernel launch' THEN launch
                WHEN 'compilation' THEN compilation
                WHEN 'host copies' THEN CASE WHEN copies > 1e-9 * total THEN copies END
                WHEN 'all others' THEN others ELSE idle END AS us
    FROM step AS s
         JOIN (SELECT column1 AS what
               FROM (VALUES ('devices'), ('input'), ('output'), ('host compute'), ('kernel launch'),
                            ('compilation'), ('host copies'), ('all others'), ('idle'))) AS p
), device AS MATERIALIZED (
    SELECT DISTINCT run FROM temp.devices(:source)
)
SELECT run, what, us / n / 1000, 100.0 * us / total,
       CASE WHEN run IN (SELECT run FROM device) THEN iif(devices < 0.5 * total, 'yes', 'no') END
FROM part
WHERE us IS NOT NULL
ORDER BY run, us DESC, what
