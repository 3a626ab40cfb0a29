-- SPDX-License-Identifier: Apache-2.0
-- Which operations take the most self time?
-- example: SELECT * FROM top_ops WHERE n = 10
-- parameter source = NULL: label of an attached run, or path of a file, run folder or log dir; if
--   NULL, all attached runs
-- parameter n INTEGER = NULL: number of rows of each run; NULL for all
-- column run TEXT: name of the run
-- column rank INTEGER: rank by self time within the run; 1 is the longest
-- column operation TEXT: name of the operation: its display name, else its name
-- column short_name TEXT: readable name: for events of GPUs without namespaces, template arguments
--   and parameters, unique in the run (docs/semantics.md); for others the same as operation
-- column hlo_module TEXT: HLO module of the operation; NULL if it has none, and on GPUs, where a
--   row is a kernel of all programs
-- column place TEXT: where the operation ran: device (GPU or TensorCore), sparsecore, or host (the
--   threads of a run without GPUs, TensorCores and SparseCores)
-- column occurrences INTEGER [events]: number of times that the operation ran
-- column total_time_us REAL [us]: sum of the durations on the event clock, nested operations
--   included; hlo_ops uses the device clock of TPUs
-- column self_time_us REAL [us]: sum of the durations without the operations nested directly in
--   this one
-- column self_time_percent REAL [percent 0..100]: self time of the operation as a share of the self
--   time of all operations of the run in this place; NULL if all self times are 0
-- column avg_time_us REAL [us]: average duration of one execution
-- column min_time_us REAL [us]: shortest duration of the operation
-- column max_time_us REAL [us]: longest duration of the operation
-- needs: events
-- nothing: no host thread and no device has an op
WITH device AS MATERIALIZED (
    SELECT run, display_name, short_name, hlo_module, iif(plane_kind = 'sparsecore', 'sparsecore',
                                              'device') AS place,
           occurrences, total_ps, self_ps, min_ps, max_ps
    FROM temp.event_totals(:source)
    WHERE NOT derived AND (plane_kind = 'gpu'
                           OR (plane_kind IN ('tensorcore', 'sparsecore') AND line_kind = 'ops'))
), without_device AS MATERIALIZED (
    SELECT DISTINCT run FROM temp.hosts(:source) EXCEPT SELECT run FROM device
), of_modules AS MATERIALIZED ( -- host planes whose events may name their module
    SELECT s.run, s.plane_id
    FROM without_device CROSS JOIN temp.stat_metadata(:source) AS s USING (run)
         CROSS JOIN temp.planes(:source) AS p ON p.run = s.run AND p.plane_id = s.plane_id
    WHERE s.name = 'hlo_module' AND p.kind = 'host'
), part(run, operation, short_name, hlo_module, place, occurrences, total_ps, self_ps, min_ps,
        max_ps) AS (
    SELECT run, display_name, short_name, hlo_module, place, occurrences, total_ps, self_ps, min_ps,
           max_ps
           FROM device
    UNION ALL
    SELECT t.run, t.display_name, t.short_name, NULL, 'host', t.occurrences, t.total_ps, t.self_ps,
           t.min_ps,
           t.max_ps
    FROM without_device CROSS JOIN temp.event_totals(:source) AS t USING (run)
    WHERE NOT t.derived AND t.plane_kind = 'host' AND (t.run, t.plane_id) NOT IN of_modules
    UNION ALL
    SELECT e.run, coalesce(e.display_name, e.name), e.short_name, e.hlo_module, 'host', count(*),
           total(e.duration_ps),
           total(e.self_ps), min(e.duration_ps), max(e.duration_ps)
    FROM of_modules AS o
         CROSS JOIN temp.trace_events(:source) AS e ON e.run = o.run AND e.plane_id = o.plane_id
    GROUP BY 1, 2, 4
), op AS (
    SELECT run, operation, max(short_name) AS short_name, hlo_module, place,
           CAST(total(occurrences) AS INTEGER) AS occurrences,
           total(total_ps) AS total_ps, total(self_ps) AS self_ps, min(min_ps) AS min_ps,
           max(max_ps) AS max_ps
    FROM part
    GROUP BY run, operation, hlo_module, place
), ranked AS (
    SELECT *, total(self_ps) OVER (PARTITION BY run, place) AS all_ps,
           row_number() OVER (PARTITION BY run
                              ORDER BY self_ps DESC, operation, hlo_module, place) AS rank
    FROM op
)
SELECT run, rank, operation, short_name, hlo_module, place, occurrences, total_ps / 1e6,
       self_ps / 1e6,
       CASE WHEN all_ps > 0 THEN 100.0 * self_ps / all_ps END, total_ps / 1e6 / occurrences,
       min_ps / 1e6, max_ps / 1e6
FROM ranked
WHERE (:n IS NULL OR rank <= :n)
ORDER BY run, rank
