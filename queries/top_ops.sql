-- Which operations take the most time of their own?
-- parameter source = NULL: a label, file, run folder or log dir; all attached runs without it
-- parameter n = 10: how many rows
-- needs: events
-- nothing: no thread and no device has an op
-- column rank INTEGER: 1 is the largest self time
-- column operation TEXT: the operation's short name
-- column place TEXT: device or host: device planes where the run has any, else host threads
-- column occurrences INTEGER [events]: how often it ran
-- column total_time_us REAL [us]: time from begin to end, nested operations included
-- column self_time_us REAL [us]: time of its own
-- column self_time_percent REAL [percent 0..100]: share of all operations' self time; NULL when all are 0
-- column avg_time_us REAL [us]: total time of one
-- column min_time_us REAL [us]: the shortest
-- column max_time_us REAL [us]: the longest
WITH device AS MATERIALIZED (
    SELECT EXISTS (SELECT 1 FROM temp.event_totals(:source) WHERE NOT derived AND plane_kind IN ('tensorcore', 'sparsecore', 'gpu')) AS present
), ops AS (
    SELECT display_name AS operation, CASE WHEN plane_kind = 'host' THEN 'host' ELSE 'device' END AS place,
           CAST(total(occurrences) AS INTEGER) AS occurrences, total(total_ps) AS total_ps, total(self_ps) AS self_ps, min(min_ps) AS min_ps, max(max_ps) AS max_ps
    FROM device CROSS JOIN temp.event_totals(:source)
    WHERE NOT derived AND CASE WHEN present THEN plane_kind = 'gpu' OR (plane_kind IN ('tensorcore', 'sparsecore') AND line_kind = 'ops') ELSE plane_kind = 'host' END
    GROUP BY 1, 2
)
SELECT row_number() OVER (ORDER BY self_ps DESC, operation), operation, place, occurrences, total_ps / 1e6, self_ps / 1e6,
       CASE WHEN total(self_ps) OVER () > 0 THEN 100.0 * self_ps / total(self_ps) OVER () END,
       total_ps / 1e6 / occurrences, min_ps / 1e6, max_ps / 1e6
FROM ops
ORDER BY 1
LIMIT coalesce(:n, 10)
