-- SPDX-License-Identifier: Apache-2.0
-- Which single calls of an op took much longer than its other calls?
-- example: SELECT name, duration_us, median_us, plane, start_us FROM slow_calls WHERE n = 10
-- parameter source = NULL: label of an attached run, or path of a file, run folder or log dir; if
--   NULL, all attached runs
-- parameter op TEXT = NULL: part of the op's name, such as AllReduce, ignoring case; NULL for all
--   ops
-- parameter n INTEGER = NULL: number of calls of each run, largest over_median_us first; NULL for
--   all
-- needs: events device
-- nothing: no op on a device ran three times or more and longer than its median, or none has this
--   name
-- column run TEXT: name of the run
-- column rank INTEGER: rank by over_median_us within the run
-- column host TEXT: name of the host
-- column plane TEXT: name of the device
-- column line TEXT: name of the stream or row of the device
-- column name TEXT: name of the op, kernel or copy
-- column short_name TEXT: readable name: for events of GPUs without namespaces, template arguments
--   and parameters, unique in the run (docs/semantics.md); for others the display name, else name
-- column hlo_module TEXT: HLO module of the op; NULL if the file does not record it
-- column step INTEGER: step of the call; NULL if it is in none
-- column start_us REAL [us]: start of the call, from the session start
-- column duration_us REAL [us]: duration of the call
-- column median_us REAL [us]: median duration of the calls with this name and program id, on all
--   planes of this kind in the run. Calls that are not longer than it have no row, nor do names
--   with fewer than three calls
-- column over_median_us REAL [us]: duration_us - median_us
-- column ratio REAL [ratio]: duration_us divided by median_us; NULL if the median is 0
-- column calls INTEGER [events]: number of calls in the median
WITH call AS MATERIALIZED (
    SELECT run, host, plane_kind, plane, line, name, short_name, program_id, hlo_module, step,
           start_ps, duration_ps
    FROM temp.trace_events(:source)
    WHERE plane_kind IN ('gpu', 'tensorcore', 'sparsecore') AND NOT derived
        AND occurrences IS NULL
        AND line_kind IN ('stream', 'ops', 'async_ops')
        AND (:op IS NULL OR instr(lower(name), lower(:op)))
), usual AS MATERIALIZED (
    SELECT run, plane_kind, program_id, name, median(duration_ps) AS median_ps, count(*) AS calls
    FROM call
    GROUP BY run, plane_kind, program_id, name
    HAVING count(*) > 2
), ranked AS (
    SELECT c.*, u.median_ps, u.calls,
           row_number() OVER (PARTITION BY c.run
                              ORDER BY c.duration_ps - u.median_ps DESC, c.start_ps, c.host,
                                  c.plane, c.line, c.name) AS rank
    FROM call AS c
         JOIN usual AS u ON u.run = c.run AND u.plane_kind = c.plane_kind AND u.name = c.name
                            AND u.program_id IS c.program_id
    WHERE c.duration_ps > u.median_ps
)
SELECT run, rank, host, plane, line, name, short_name, hlo_module, step, start_ps / 1e6,
       duration_ps / 1e6, median_ps / 1e6, (duration_ps - median_ps) / 1e6,
       duration_ps / median_ps, calls
FROM ranked
WHERE (:n IS NULL OR rank <= :n)
ORDER BY run, rank
