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
-- column occurrences INTEGER [events]: how often it ran on the line
-- column total_time_us REAL [us]: time from begin to end, nested operations included
-- column self_time_us REAL [us]: time of its own; below 0 where operations inside overlap each other
-- column line_percent REAL [percent]: share of the line's self time, which operations that overlap make negative; NULL when all are 0
WITH ranked AS (
    SELECT *, row_number() OVER (PARTITION BY run, line_id ORDER BY self_ps DESC, name) AS rank,
           total(self_ps) OVER (PARTITION BY run, line_id) AS line_ps
    FROM temp.event_totals(:source)
)
SELECT run, host, plane, line, rank, display_name, occurrences, total_ps / 1e6, self_ps / 1e6, CASE WHEN line_ps > 0 THEN 100.0 * self_ps / line_ps END
FROM ranked
WHERE rank <= coalesce(:n, 5)
ORDER BY run, line_id, rank
