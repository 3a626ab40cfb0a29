-- SPDX-License-Identifier: Apache-2.0
-- Which cores or hosts slow the others down?
-- example: SELECT rank, plane, own_ms, waited_ms FROM stragglers ORDER BY rank
-- parameter source = NULL: label of an attached run, or path of a file, run folder or log dir; if
--   NULL, all attached runs
-- parameter n INTEGER = NULL: number of cores of each run, slowest first; NULL for all
-- needs: events steps
-- nothing: no step is complete
-- column run TEXT: name of the run
-- column rank INTEGER: rank of the core by own_ms; 1 is the slowest
-- column host TEXT: name of the host
-- column core_id INTEGER: number of the core, as in core_steps: all GPUs of a host are one core,
--   and so are the threads of a host without devices
-- column plane TEXT: name of the TensorCore's plane; NULL if the core is not a single device
-- column step_count INTEGER: number of complete steps
-- column step_ms REAL [ms]: average duration of a complete step on the core
-- column own_ms REAL [ms]: average part of a complete step outside of collectives and, on GPUs,
--   outside of copies between devices: time in which the core cannot wait for another device
-- column over_median_ms REAL [ms]: own_ms minus the median of all cores; below 0 if the core is
--   faster
-- column z_score REAL: modified z-score of own_ms: 0.6745 x over_median_ms / median absolute
--   deviation of all cores (at least 0.1% of the median); NULL for fewer than three cores, or if
--   the median is 0
-- column straggler TEXT: yes if z_score is above 3.5, else no; NULL if z_score is NULL
-- column waited_ms REAL [ms]: average time per step that the core waits in collectives for others
--   of its group and host (collectives.wait_ps), dropped steps included; for GPUs, the average of
--   the host's GPUs. The core that others wait for waits least. NULL if unknown
WITH step AS MATERIALIZED ( -- a TensorCore's copies are its own
    SELECT run, host, core_id, plane_id, sum(NOT dropped) AS n, count(DISTINCT start_ps) AS all_n,
           avg(total_us) FILTER (WHERE NOT dropped) / 1000 AS step_ms,
           avg(total_us - device_collectives_us_actual
               - iif(plane_id IS NULL, device_to_device_us_actual, 0))
               FILTER (WHERE NOT dropped) / 1000 AS own_ms
    FROM temp.core_steps(:source)
    GROUP BY run, core_id
    HAVING sum(NOT dropped) > 0
), typical AS MATERIALIZED (
    SELECT run, count(*) AS n, median(own_ms) AS own_ms FROM step GROUP BY run
), spread AS MATERIALIZED (
    SELECT run, t.n, t.own_ms AS median_ms,
           max(median(abs(s.own_ms - t.own_ms)), 0.001 * t.own_ms) AS deviation
    FROM step AS s JOIN typical AS t USING (run)
    GROUP BY run
), wait AS MATERIALIZED (
    SELECT run, host, plane_id, sum(1.0 * wait_ps) / 1e9 AS ms
    FROM temp.collectives(:source)
    GROUP BY run, host, plane_id
), host_wait AS MATERIALIZED (
    SELECT run, host, avg(ms) AS ms FROM wait GROUP BY run, host
), score AS (
    SELECT s.*, own_ms - median_ms AS over_ms,
           CASE WHEN d.n > 2
                THEN 0.6745 * (own_ms - median_ms) / deviation END AS z,
           row_number() OVER (PARTITION BY run ORDER BY own_ms DESC, core_id) AS rank
    FROM step AS s JOIN spread AS d USING (run)
)
SELECT s.run, s.rank, s.host, s.core_id, p.name, s.n, s.step_ms, s.own_ms, s.over_ms, s.z,
       CASE WHEN s.z > 3.5 THEN 'yes' WHEN s.z IS NOT NULL THEN 'no' END,
       CASE WHEN s.plane_id IS NULL THEN h.ms ELSE w.ms END / s.all_n
FROM score AS s LEFT JOIN temp.planes(:source) AS p ON p.run = s.run AND p.plane_id = s.plane_id
     LEFT JOIN wait AS w ON w.run = s.run AND w.plane_id = s.plane_id
     LEFT JOIN host_wait AS h ON h.run = s.run AND h.host = s.host
WHERE (:n IS NULL OR s.rank <= :n)
ORDER BY s.run, s.rank
