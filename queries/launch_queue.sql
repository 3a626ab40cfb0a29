-- SPDX-License-Identifier: Apache-2.0
-- How long are the launch queues of GPU streams, and is the host blocked because one is full?
-- example: SELECT plane, line, longest_queue, median_delay_us FROM launch_queue
-- parameter source = NULL: label of an attached run, or path of a file, run folder or log dir; if
--   NULL, all attached runs
-- needs: events gpu
-- nothing: no event on a GPU has the correlation_id of a host call (host_tracer_level = 0 records
--   no host calls)
-- column run TEXT: name of the run
-- column host TEXT: name of the host
-- column plane TEXT: name of the GPU
-- column line TEXT: name of the stream
-- column launches INTEGER [events]: number of events on the stream whose launch is known and
--   starts before them
-- column longest_queue INTEGER [events]: largest number of events that were launched and had not
--   started, counted from the start of the launch call; CUDA blocks a launch when about 1024 are
--   queued
-- column longest_start_us REAL [us]: when the queue was first that long, from the session start
-- column average_queue REAL [events]: average number of events in the queue when one is added,
--   this one included
-- column empty_launches INTEGER [events]: number of launches that found an empty queue: a stream
--   whose queue is always empty runs no faster than the host launches
-- column median_delay_us REAL [us]: median time from the start of a launch call to the start on
--   the stream
-- column longest_launch_us REAL [us]: duration of the longest launch call; it grows to that of
--   kernels if the host is blocked by a full queue
WITH launch AS MATERIALIZED (
    SELECT run, host, plane_id, plane, line_id, start_ps, launch_start_ps AS launched_ps, delay_ps,
           launch_duration_us
    FROM temp.launch_delays(:source)
    WHERE delay_ps > 0
), change AS ( -- at equal times an event leaves before another comes
    SELECT run, host, plane_id, line_id, launched_ps AS time_ps, 1 AS change FROM launch
    UNION ALL
    SELECT run, host, plane_id, line_id, start_ps, -1 FROM launch
), level AS (
    SELECT *, sum(change) OVER (PARTITION BY run, host, plane_id, line_id
                                ORDER BY time_ps, change ROWS UNBOUNDED PRECEDING) AS queued
    FROM change
), longest AS (
    SELECT *, row_number() OVER (PARTITION BY run, host, plane_id, line_id
                                 ORDER BY queued DESC, time_ps) AS rank
    FROM level
    WHERE change = 1
), queue AS (
    SELECT run, host, plane_id, line_id, max(queued) AS longest,
           min(iif(rank = 1, time_ps, NULL)) AS time_ps, avg(queued) AS average,
           sum(queued = 1) AS empty
    FROM longest
    GROUP BY run, host, plane_id, line_id
), stream AS (
    SELECT run, host, plane_id, line_id, max(plane) AS plane, count(*) AS launches,
           median(delay_ps) / 1e6 AS delay, max(launch_duration_us) AS launch
    FROM launch
    GROUP BY run, host, plane_id, line_id
)
SELECT q.run, q.host, s.plane, l.name, s.launches, q.longest, q.time_ps / 1e6, q.average, q.empty,
       s.delay, s.launch
FROM queue AS q
     JOIN stream AS s USING (run, host, plane_id, line_id)
     JOIN temp.lines(:source) AS l
          ON l.run = q.run AND l.host = q.host AND l.plane_id = q.plane_id AND l.line_id = q.line_id
ORDER BY q.run, q.longest DESC, q.host, q.plane_id, q.line_id
