-- SPDX-License-Identifier: Apache-2.0
-- Which kernels were launched under a range, such as a TraceAnnotation or a Python function?
-- example: SELECT range_name, short_name, launches, total_us FROM range_kernels
-- parameter source = NULL: label of an attached run, or path of a file, run folder or log dir; if
--   NULL, all attached runs
-- parameter range TEXT = NULL: name of host events, as in trace_events: a launch belongs to the
--   range if such an event, on any thread of the host, contains the launch call in time (see
--   own_launches); if NULL, each launch belongs to its innermost range (launch_delays.annotation)
-- needs: events gpu
-- nothing: no event of the host with this name contains the launch call of an event on a GPU
--   (launch_delays has the calls, event_totals the names)
-- column run TEXT: name of the run
-- column range_name TEXT: name of the range: the parameter, else the innermost annotation
-- column kernel TEXT: name of the kernel, copy or other event on the device
-- column short_name TEXT: name of the kernel without namespaces, template arguments and parameters,
--   unique in the run (docs/semantics.md); for copies and other events the name
-- column launches INTEGER [events]: number of its launches under the range; each counts once, also
--   in ranges that nest
-- column total_us REAL [us]: time on the device of the launched work
-- column avg_us REAL [us]: total_us divided by launches
-- column percent REAL [percent 0..100]: total_us as a share of the time of all work that was
--   launched under the range in this run; NULL if that is 0
-- column avg_delay_us REAL [us]: average launch latency (launch_delays.delay_us)
-- column own_launches INTEGER [events]: launches without those of other threads: the call is on the
--   line of a range that contains it, or on a line where only calls contain it, as drivers can
--   record calls on lines of their own. Equals launches if the parameter range is NULL
-- column own_us REAL [us]: time on the device of the work of own_launches
WITH moment AS ( -- short_name is NULL in rows of a range
    SELECT run, host, line_id, start_ps, end_ps, NULL AS short_name, NULL AS event_id,
           NULL AS duration_ps, NULL AS delay_ps, NULL AS of_thread
    FROM temp.trace_events(:source)
    WHERE plane_kind = 'host' AND NOT derived AND name = :range
    UNION ALL
    SELECT run, host, launch_line_id, launch_start_ps, launch_start_ps + launch_duration_ps,
           short_name, event_id, duration_ps, delay_ps, context_is_own
    FROM temp.launch_delays(:source)
    WHERE :range IS NOT NULL
), reached AS ( -- ranges come before the launches that start with them
    SELECT *, max(iif(short_name IS NULL, end_ps, NULL))
              OVER (PARTITION BY run, host ORDER BY start_ps, short_name IS NOT NULL
                    ROWS UNBOUNDED PRECEDING) AS range_end_ps,
           max(iif(short_name IS NULL, end_ps, NULL))
           OVER (PARTITION BY run, line_id ORDER BY start_ps, short_name IS NOT NULL
                 ROWS UNBOUNDED PRECEDING) AS own_end_ps
    FROM moment
), under AS (
    SELECT *, of_thread IS NOT 1 OR (own_end_ps IS NOT NULL AND own_end_ps >= end_ps) AS is_own
    FROM reached
    WHERE short_name IS NOT NULL AND range_end_ps >= end_ps
), kernel AS MATERIALIZED ( -- names can be long: short ones are as unique
    SELECT run, :range AS range_name, short_name, max(event_id) AS event_id, count(*) AS n,
           sum(1.0 * duration_ps) AS ps, avg(delay_ps) AS delay_ps, sum(is_own) AS n_own,
           total(iif(is_own, duration_ps, NULL)) AS own_ps
    FROM under
    GROUP BY run, short_name
    UNION ALL
    SELECT run, annotation, short_name, max(event_id), count(*), sum(1.0 * duration_ps),
           avg(delay_ps), count(*), sum(1.0 * duration_ps)
    FROM temp.launch_delays(:source)
    WHERE :range IS NULL AND annotation IS NOT NULL
    GROUP BY run, annotation, short_name
)
SELECT k.run, range_name, e.name, k.short_name, n, ps / 1e6, ps / n / 1e6,
       100.0 * ps / sum(ps) OVER (PARTITION BY k.run, range_name), delay_ps / 1e6,
       n_own, own_ps / 1e6
FROM kernel AS k JOIN temp.trace_events(:source) AS e ON e.run = k.run AND e.event_id = k.event_id
ORDER BY k.run, ps DESC, range_name, e.name
