-- SPDX-License-Identifier: Apache-2.0
-- What did each step spend its time on, one row for each step and category?
-- example: SELECT category, avg(ms) AS ms FROM step_times WHERE NOT dropped GROUP BY place
-- parameter source = NULL: label of an attached run, or path of a file, run folder or log dir; if
--   NULL, all attached runs
-- needs: events steps
-- nothing: every step was dropped (host_steps lists the reasons)
-- column run TEXT: name of the run
-- column step INTEGER: number of the step, as in the table steps
-- column place INTEGER: number of the category: 0 for Step time, which is the duration of the step,
--   and 1 to 9 for what the step spends its time on
-- column category TEXT: Step time, Device compute, Device to device, Device collective
--   communication, Host compute, Kernel launch, Input, Output, Compilation or All others
-- column ms REAL [ms]: time of the category in the step: duration_ms of the table steps, or the
--   column of the category that ends in _actual; NULL if that is NULL
-- column dropped INTEGER [0 or 1]: 1: XProf drops the step as possibly incomplete (see steps)
WITH category(place, name) AS (
    VALUES (0, 'Step time'), (1, 'Device compute'), (2, 'Device to device'),
           (3, 'Device collective communication'), (4, 'Host compute'), (5, 'Kernel launch'),
           (6, 'Input'), (7, 'Output'), (8, 'Compilation'), (9, 'All others')
), step AS MATERIALIZED (
    SELECT rowid AS at, * FROM temp.steps(:source)
)
SELECT s.run, s.step, c.place, c.name,
       CASE c.place WHEN 0 THEN duration_ms WHEN 1 THEN device_compute_ms_actual
            WHEN 2 THEN device_to_device_ms_actual WHEN 3 THEN device_collectives_ms_actual
            WHEN 4 THEN host_compute_ms_actual WHEN 5 THEN kernel_launch_ms_actual
            WHEN 6 THEN input_ms_actual WHEN 7 THEN output_ms_actual
            WHEN 8 THEN compilation_ms_actual ELSE all_others_ms_actual END,
       dropped
FROM step AS s CROSS JOIN category AS c
ORDER BY s.run, s.at, c.place
