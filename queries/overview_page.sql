-- SPDX-License-Identifier: Apache-2.0
-- What does XProf's overview page show for the run?
-- parameter source = NULL: label of an attached run, or path of a file, run folder or log dir; if
--   NULL, all attached runs
-- needs: events
-- column run TEXT: name of the run
-- column section TEXT: section of the page: Performance, Environment, Top ops or Recommendation
-- column item TEXT: label on the page, name of the operation, or subject of the recommendation
-- column value TEXT: value as the page prints it; for ops, the share of the devices' time; for
--   recommendations, their text; NULL if unknown
-- column unit TEXT: unit of the value; NULL if it has none
WITH label(place, section, name, item) AS (
    VALUES (1, 'input_pipeline', 'steptime_ms_average', 'Average step time'),
           (2, 'input_pipeline', 'steptime_ms_standard_deviation', 'Deviation of step time'),
           (3, 'input_pipeline', 'other_time_ms_avg', 'All others time'),
           (4, 'input_pipeline', 'compile_time_ms_avg', 'Compilation time'),
           (5, 'input_pipeline', 'outfeed_time_ms_avg', 'Output time'),
           (6, 'input_pipeline', 'infeed_time_ms_avg', 'Input time'),
           (7, 'input_pipeline', 'kernel_launch_time_ms_avg', 'Kernel launch time'),
           (8, 'input_pipeline', 'host_compute_time_ms_avg', 'Host compute time'),
           (9, 'input_pipeline', 'device_collectives_time_ms_avg',
            'Device collective communication time'),
           (10, 'input_pipeline', 'device_to_device_time_ms_avg', 'Device to device time'),
           (11, 'input_pipeline', 'device_compute_time_ms_avg', 'Device compute time'),
           (12, 'input_pipeline', 'tc_idle_ms_average', 'Idle time'),
           (13, 'input_pipeline', 'tc_infeed_ms_average', 'Input time'),
           (14, 'input_pipeline', 'tc_compute_ms_average', 'Compute time'),
           (15, 'top_ops', 'mxu_utilization_percent', 'FLOPS utilization of the matrix units'),
           (16, 'top_ops', 'device_duty_cycle_percent', 'TPU duty cycle'),
           (17, 'top_ops', 'hbm_utilization_percent', 'HBM bandwidth utilization'),
           (18, 'top_ops', 'host_tf_op_percent', 'Framework ops on the host'),
           (19, 'top_ops', 'device_tf_op_percent', 'Framework ops on devices'),
           (20, 'top_ops', 'host_op_time_eager_percent', 'Eager execution on the host'),
           (21, 'top_ops', 'device_op_time_eager_percent', 'Eager execution on devices'),
           (22, 'not_shown', 'device_op_time_outside_compilation_percent',
            'Outside of the compiled program'),
           (23, 'top_ops', 'device_compute_16bit_percent', 'Computing with 16 bit'),
           (24, 'top_ops', 'device_compute_32bit_percent', 'Computing with 32 bit'),
           (25, 'run_environment', 'host_count', 'Hosts'),
           (26, 'run_environment', 'task_count', 'Tasks'),
           (27, 'run_environment', 'device_type', 'Device type'),
           (28, 'run_environment', 'device_core_count', 'Device cores'),
           (29, 'run_environment', 'is_training', 'Training')
), line AS (
    SELECT o.run, l.place, 0 AS nth,
           iif(l.section = 'run_environment', 'Environment', 'Performance') AS section, l.item,
           iif(l.place <= 14 AND i.step_count = 0, NULL, o.value) AS value,
           iif(instr(o.value, '%'), NULL, o.unit) AS unit
    FROM temp.overview(:source) AS o JOIN label AS l ON l.section = o.section AND l.name = o.name
         JOIN temp.input_pipeline(:source) AS i ON i.run = o.run
    WHERE l.name <> 'device_duty_cycle_percent' OR i.hardware = 'TPU'
    UNION ALL
    SELECT run, 100, rank, 'Top ops', operation, printf('%.1f%%', 100 * self_time_fraction), NULL
    FROM temp.top_device_ops(:source)
    UNION ALL
    SELECT run, 200, rowid, 'Recommendation', code, statement, NULL
    FROM temp.recommendations(:source)
    WHERE section = 'overview_page' AND tip_type IS NULL
)
SELECT run, section, item, value, unit
FROM line
ORDER BY run, place, nth
