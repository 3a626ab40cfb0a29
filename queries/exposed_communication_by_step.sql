-- SPDX-License-Identifier: Apache-2.0
-- How much communication and copying was exposed in each step of each device?
-- parameter source = NULL: label of an attached run, or path of a file, run folder or log dir; if
--   NULL, all attached runs
-- needs: events device steps
-- nothing: no collective or transfer ran on a GPU or TensorCore
-- column run TEXT: name of the run
-- column step INTEGER: number of the step; NULL for communication outside of all steps. Rows of a
--   device add up to its times in device_time
-- column name TEXT: name of the step; NULL if it has no name
-- column dropped INTEGER [0 or 1]: 1: XProf drops the step as possibly incomplete; NULL outside of
--   all steps
-- column host TEXT: name of the device's host
-- column plane TEXT: name of the device
-- column step_ms REAL [ms]: duration of the step on the device's core; NULL outside of all steps
-- column communicating_ms REAL [ms]: time in which a collective of the step ran on the device
-- column exposed_communication_ms REAL [ms]: part of communicating_ms in which the device did not
--   compute
-- column exposed_communication_percent REAL [percent 0..100]: exposed_communication_ms as a share
--   of communicating_ms; NULL if that is 0
-- column exposed_communication_step_percent REAL [percent]: exposed_communication_ms as a share of
--   step_ms; NULL if that is 0 or NULL
-- column transferring_ms REAL [ms]: time in which a transfer of the step ran on the device
-- column exposed_transfer_ms REAL [ms]: part of transferring_ms in which the device did not compute
-- column exposed_transfer_percent REAL [percent 0..100]: exposed_transfer_ms as a share of
--   transferring_ms; NULL if that is 0
-- column exposed_transfer_step_percent REAL [percent]: exposed_transfer_ms as a share of step_ms;
--   NULL if that is 0 or NULL
WITH part AS MATERIALIZED (
    SELECT rowid AS place, run, host, plane_id, plane, step, duration_ps / 1e9 AS step_ms,
           communicating_ps / 1e9 AS communicating_ms,
           exposed_communication_ps / 1e9 AS exposed_communication_ms,
           transferring_ps / 1e9 AS transferring_ms,
           exposed_transfer_ps / 1e9 AS exposed_transfer_ms
    FROM temp.device_steps(:source)
), step AS MATERIALIZED (
    SELECT run, step, name, dropped FROM temp.steps(:source)
)
SELECT p.run, p.step, s.name, s.dropped, host, plane, step_ms,
       communicating_ms, exposed_communication_ms,
       100.0 * exposed_communication_ms / communicating_ms,
       100.0 * exposed_communication_ms / step_ms,
       transferring_ms, exposed_transfer_ms,
       100.0 * exposed_transfer_ms / transferring_ms,
       100.0 * exposed_transfer_ms / step_ms
FROM part AS p LEFT JOIN step AS s ON s.run = p.run AND s.step = p.step
ORDER BY p.run, plane_id, place
