-- SPDX-License-Identifier: Apache-2.0
-- How much time does each timeline spend in each operation?
-- parameter source = NULL: a label, file, run folder or log dir; all attached runs without it
-- parameter n = 5: how many operations a line
-- needs: events
-- nothing: no line has an event
-- column run TEXT: the run
-- column host TEXT: the host
-- column plane TEXT: device or host plane
-- column line TEXT: thread, stream or row of a device
-- column rank INTEGER: 1 is the largest self time of the line
-- column operation TEXT: the operation's short name
-- column hlo_module TEXT: HLO module of the operation on a TPU; NULL elsewhere, where a row has the
--   events of one name of all programs
-- column occurrences INTEGER [events]: how often it ran on the line
-- column total_time_us REAL [us]: sum of the durations on the event clock, nested operations
--   included
-- column self_time_us REAL [us]: the same without the operations that nest directly in it; below 0
--   where those overlap each other
-- column line_percent REAL [percent]: share of the line's self time, which operations that overlap
--   make negative; NULL when all are 0
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
WHERE rank <= coalesce(:n, 5)
ORDER BY run, line_id, rank
