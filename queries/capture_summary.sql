-- SPDX-License-Identifier: Apache-2.0
-- What does a profile contain, on one screen: time, steps, devices, kernels, copies, losses?
-- parameter source = NULL: label of an attached run, or path of a file, run folder or log dir; if
--   NULL, all attached runs
-- needs: events
-- column run TEXT: name of the run
-- column topic TEXT: subject of the line: recorded, steps, the name of a GPU or TPU core, kernels,
--   kernel (for each of the five longest), copies (for each name of the transfers of GPUs in
--   async_ops, without memsets), or lost
-- column text TEXT: text of the line. The percentage of a kernel is - if it is unknown, because all
--   kernels take no time
WITH copies AS (
    SELECT c.run, c.hlo_op AS name, sum(c.occurrences) AS n,
           total(c.duration_ps) / 1e12 AS seconds, sum(1.0 * c.bytes * c.occurrences) AS bytes
    FROM temp.async_op_totals(:source, 1) AS c
         JOIN temp.planes(:source) AS p ON p.run = c.run AND p.plane_id = c.plane_id
    WHERE p.kind = 'gpu' AND c.category = 'copy'
    GROUP BY c.run, c.hlo_op
), device AS MATERIALIZED (
    SELECT *, row_number() OVER (PARTITION BY run ORDER BY host, plane_id) AS number,
           count(*) OVER (PARTITION BY run) AS devices
    FROM temp.device_time(:source)
    WHERE is_main AND span_ps > 0
), step AS MATERIALIZED (
    SELECT run, count(*) AS n, avg(duration_ms) AS ms, avg(range_ms) AS range_ms
    FROM temp.steps(:source)
    WHERE NOT dropped
    GROUP BY run
), loss AS MATERIALIZED (
    SELECT run, host, message FROM temp.prof_issues(:source) WHERE code GLOB 'capture_*'
        OR severity = 'error'
), line(run, place, number, topic, text) AS (
    SELECT run, 1, 0, 'recorded', printf('%s, %d %s, %d events',
           CASE WHEN duration_ps IS NULL THEN 'unknown time'
           ELSE printf('%.3f s', duration_ps / 1e12) END,
           host_count, CASE host_count WHEN 1 THEN 'file' ELSE 'files' END, event_count)
    FROM temp.prof_runs(:source)
    UNION ALL
    SELECT r.run, 2, 0, 'steps', CASE WHEN s.n IS NULL THEN 'none'
           ELSE printf('%d complete, %.3f ms each', s.n, s.ms)
               || iif(s.range_ms IS NULL, '',
                      printf(', %.3f ms as marked by the program', s.range_ms)) END
    FROM temp.prof_runs(:source) AS r LEFT JOIN step AS s USING (run)
    UNION ALL
    SELECT run, 3, number,
           CASE WHEN number < 8 OR devices = 8 THEN replace(plane, '/device:', '')
           WHEN kind = 'gpu' THEN 'GPUs' ELSE 'devices' END,
           CASE WHEN number = 8 AND devices > 8 THEN printf('%d more', devices - 7)
           ELSE printf('busy %.1f %% of %.3f ms: computing %.1f %%, collectives %.1f %%, '
                       || '%s %.1f %% (host %s)', busy_percent, span_ps / 1e9,
                       computing_percent, communicating_percent,
                       CASE kind WHEN 'gpu' THEN 'copies' ELSE 'transfers' END,
                       transferring_percent, host) END
    FROM device
    WHERE number <= 8
    UNION ALL
    SELECT run, 3, 0, 'GPUs', 'none did any work'
    FROM temp.prof_runs(:source)
    WHERE run NOT IN (SELECT run FROM device)
    UNION ALL
    SELECT run, 4, 0, 'kernels', printf('%d with %d names, %.3f ms', sum(occurrences),
           count(DISTINCT kernel_name), sum(total_duration_us) / 1e3)
    FROM temp.kernel_stats(:source, 0)
    GROUP BY run
    UNION ALL
    SELECT run, 5, rank, 'kernel', printf('%5s %%  %.3f ms  %d x  %s',
           iif(percent IS NULL, '-', printf('%.1f', percent)), total_duration_us / 1e3,
           occurrences, substr(kernel_name, 1, 60))
    FROM temp.top_kernels(:source, 5)
    UNION ALL
    SELECT run, 6, 0, 'copies', printf('%s: %d, %.3f ms', name, n, seconds * 1e3)
           || CASE WHEN bytes > 0 AND seconds > 0
              THEN printf(', %.3f MB, %.3f GB/s', bytes / 1e6, bytes / seconds / 1e9) ELSE '' END
    FROM copies
    UNION ALL
    SELECT r.run, 7, 0, 'lost', CASE WHEN l.message IS NULL THEN 'nothing'
           ELSE printf('%s (host %s)', l.message, l.host) END
    FROM temp.prof_runs(:source) AS r LEFT JOIN loss AS l USING (run)
)
SELECT run, topic, text FROM line ORDER BY run, place, number, text
