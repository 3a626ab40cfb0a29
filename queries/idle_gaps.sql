-- SPDX-License-Identifier: Apache-2.0
-- When was a device idle, and what ran before and after?
-- example: SELECT * FROM idle_gaps WHERE n = 10
-- parameter source = NULL: label of an attached run, or path of a file, run folder or log dir; if
--   NULL, all attached runs
-- parameter n INTEGER = NULL: number of gaps of each run, longest first; NULL for all
-- needs: events
-- nothing: none found: no device (in a run without devices, no process) is idle between two ops
-- column run TEXT: name of the run
-- column host TEXT: name of the host
-- column plane TEXT: name of the device: GPU or TensorCore, or SparseCore if no GPU or TensorCore
--   of the run has work; if the run has no device, name of the process, which is idle when none of
--   its threads runs an op
-- column start_ps INTEGER [ps]: start of the gap. Until then the device is busy; ops that wait,
--   such as copy-done, count as busy
-- column start_us REAL [us]: start_ps in microseconds
-- column duration_us REAL [us]: duration of the gap
-- column before TEXT: name of the op that ends at the start of the gap; if there are several, the
--   one that started first, then the first in the file
-- column before_short_name TEXT: readable form of before, as trace_events.short_name
-- column after TEXT: name of the op that starts at the end of the gap; if there are several on one
--   line, the one that contains the others (longest, then first in the file); if there are several
--   lines, the one that ends first
-- column after_short_name TEXT: readable form of after, as trace_events.short_name
WITH longest AS MATERIALIZED ( -- read only with n: gaps() also has those as long as the last
    SELECT gap, row_number() OVER (PARTITION BY run ORDER BY duration_ps DESC, plane_id, start_ps)
                AS rank
    FROM (SELECT rowid AS gap, run, duration_ps, plane_id, start_ps FROM temp.gaps(:source, :n))
)
SELECT run, host, plane, start_ps, start_us, duration_us, before, before_short_name, after,
       after_short_name
FROM temp.gaps(:source, :n) AS g
WHERE :n IS NULL OR g.rowid IN (SELECT gap FROM longest WHERE rank <= :n)
ORDER BY run, duration_ps DESC, plane_id, start_ps
