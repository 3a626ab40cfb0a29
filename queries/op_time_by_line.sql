-- SPDX-License-Identifier: Apache-2.0
-- How much time does each timeline spend in each operation?
-- parameter source = NULL: label of an attached run, or path of a file, run folder or log dir; if
--   NULL, all attached runs
-- parameter n INTEGER = NULL: number of operations of each line; NULL for all
-- needs: events
-- nothing: no line has an event
-- column run TEXT: name of the run
-- column host TEXT: name of the host
-- column plane TEXT: name of the plane: a device or the host's threads
-- column line TEXT: name of the line: a thread, a stream or a row of a device
-- column rank INTEGER: rank of the operation by self time on its line; 1 is the longest
-- column operation TEXT: short name of the operation
-- column hlo_module TEXT: HLO module of the operation on a TPU; NULL elsewhere, because there a row
--   combines all events of the same name of all programs
-- column occurrences INTEGER [events]: number of times that the operation ran on the line
-- column total_time_us REAL [us]: sum of the durations on the event clock, nested operations
--   included
-- column self_time_us REAL [us]: sum of the durations without the operations nested directly in
--   this one; below 0 if these overlap each other
-- column line_percent REAL [percent]: self time of the operation as a share of the line's self
--   time; negative if self_time_us is negative; NULL if all self times are 0
WITH names AS ( -- several metadata of a plane may have one name
    SELECT run, host, plane, line_id, line, name, display_name, hlo_module,
           CAST(total(occurrences) AS INTEGER) AS occurrences, total(total_ps) AS total_ps,
           total(self_ps) AS self_ps
    FROM temp.event_totals(:source)
    GROUP BY run, line_id, name, display_name, hlo_module
), ranked AS (
    SELECT *, row_number() OVER (PARTITION BY run, line_id ORDER BY self_ps DESC, name, hlo_module,
                                 display_name) AS rank,
           total(self_ps) OVER (PARTITION BY run, line_id) AS line_ps
    FROM names
)
SELECT run, host, plane, line, rank, display_name, hlo_module, occurrences, total_ps / 1e6,
       self_ps / 1e6, CASE WHEN line_ps > 0 THEN 100.0 * self_ps / line_ps END
FROM ranked
WHERE (:n IS NULL OR rank <= :n)
ORDER BY run, line_id, rank
