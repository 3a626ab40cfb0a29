-- SPDX-License-Identifier: Apache-2.0
-- Which problems cost the most time, and what can be done about them?
-- example: SELECT rule, cost_percent, finding, action FROM advice WHERE status = 'finding'
-- parameter source = NULL: label of an attached run, or path of a file, run folder or log dir; if
--   NULL, all attached runs
-- parameter least_percent REAL [percent 0..100] = 5: lowest cost_percent of a finding
-- needs: events
-- nothing: the source has no events
-- column run TEXT: name of the run
-- column rank INTEGER: rank within the run: findings first, then rules that were checked, then
--   those that could not be checked; each of these by cost_ms
-- column rule TEXT: name of the rule; docs/semantics.md defines the cost of each
-- column status TEXT: finding: cost_percent is at least least_percent; checked: it is less; not
--   checked: the cost is unknown, for the reason in column missing
-- column cost_ms REAL [ms]: time that the problem takes, averaged over the run's main devices (over
--   its processes in a run without devices): an upper bound of what can be saved. Costs of
--   different rules can overlap, except those of rules whose names start with idle; NULL if unknown
-- column cost_percent REAL [percent]: cost_ms as a share of the time of the run: the average span
--   of its main devices (device_time); without devices its duration (prof_runs), or the time from
--   its first to its last event if that is unknown. Above 100 if the cost arises on several streams
--   or threads at the same time; NULL if unknown
-- column finding TEXT: the cost as a sentence; NULL if the rule was not checked
-- column evidence TEXT: largest part of the cost, with its own time (the SQL in query shows the
--   others); for exposed_communication and exposed_transfer the longest op of
--   exposed_communication, averaged over the devices; for input the longest input op; for imbalance
--   the device that waits least. NULL if the cost is 0 or unknown, or its parts have no names
-- column action TEXT: what to try (for input, the advice of input_bound if it has one)
-- column query TEXT: SQL that shows the parts of the cost, ready to run
-- column missing TEXT: why the rule was not checked; NULL if it was
WITH rule(rule, place, says, action, query) AS (
    VALUES
    ('idle_launching', 1, 'Devices are idle for %s while the host launches their work.',
     'Launch fewer and larger pieces: compile more ops into one program (jit, tf.function, XLA), '
     || 'run several steps per call (scan), or use CUDA graphs.',
     'SELECT * FROM idle_causes(%s) WHERE cause = ''launching'''),
    ('idle_compiling', 2, 'Devices are idle for %s while programs are traced and compiled.',
     'Keep shapes, types and static arguments of compiled functions (jit, tf.function) the same: '
     || 'compilations shows what differs. Trace and compile before the loop, and set a compilation '
     || 'cache directory.',
     'SELECT * FROM idle_causes(%s) WHERE cause IN (''compiling'', ''tracing'')'),
    ('idle_input', 3, 'Devices are idle for %s while the host waits for input.',
     'Load and prepare the next batch while the devices work: prefetch, more parallel calls, less '
     || 'work per element.',
     'SELECT * FROM idle_causes(%s) WHERE cause = ''input'''),
    ('idle_host', 4, 'Devices are idle for %s while the host runs other code.',
     'Move this work out of the loop, to another thread, or into the compiled program.',
     'SELECT * FROM idle_causes(%s) WHERE cause IN (''host'', ''python'')'),
    ('idle_waiting', 5, 'Devices are idle for %s while the host waits for results.',
     'Read results (block_until_ready, float(), print, synchronize) less often, or one step later.',
     'SELECT * FROM idle_causes(%s) WHERE cause = ''waiting'''),
    ('idle_copying', 6, 'Devices are idle for %s while the host copies data.',
     'Keep data on the devices, and copy in fewer and larger pieces, ahead of time, from pinned '
     || 'memory.',
     'SELECT * FROM idle_causes(%s) WHERE cause = ''copy'''),
    ('idle_queued', 7, 'Devices are idle for %s although their next work was already launched.',
     'The work waits for another stream, another device or a copy, or starts slowly: look at what '
     || 'ends right before it starts.',
     'SELECT * FROM idle_gaps(%s, 20)'),
    ('idle_unknown', 8, 'Devices are idle for %s, and no host thread shows why.',
     'Record more of the host: host_tracer_level = 2 and python_tracer_level = 1 (JAX, '
     || 'TensorFlow), or on NVIDIA GPUs NVTX ranges (profsql-capture).',
     'SELECT * FROM idle_causes(%s) WHERE cause = ''unknown'''),
    ('idle_at_ends', 9, 'Devices have no work for %s before their first or after their last op, '
     || 'while others of their host work.',
     'Start and end the devices'' work together; capture a window in which all of them work.',
     'SELECT host, plane, idle_ps / 1e9 AS idle_ms FROM device_time(%s) ORDER BY idle_ps DESC'),
    ('input', 10, 'Steps spend %s on input.',
     'Find the slowest part of the input pipeline, make it parallel, cache or prefetch it.',
     'SELECT * FROM input_bound(%s)'),
    ('retracing', 11, 'Calls of tf.functions that trace take %s.',
     'Call the function with tensors of the same types and shapes (input_signature), not with '
     || 'Python numbers.',
     'SELECT * FROM tf_functions(%s) WHERE expensive_call_percent > 0'),
    ('slow_steps', 12, 'Steps that are more than 20 %% longer than the median step take %s more '
     || 'than it.',
     'See what takes longer in the slow steps: often a compilation, a checkpoint, an evaluation '
     || 'or late input.',
     'SELECT * FROM slow_step_ops(%s, NULL, 20)'),
    ('exposed_communication', 13, 'Collectives run for %s while the device does not compute.',
     'Overlap communication with computation (asynchronous collectives, XLA''s latency-hiding '
     || 'scheduler, larger buckets), send less (sharding, 16 bit), or balance the work.',
     'SELECT * FROM exposed_communication(%s) WHERE kind = ''collective'''),
    ('exposed_transfer', 14, 'Copies and transfers run for %s while the device does not compute.',
     'Keep data on the device, prefetch, and copy asynchronously from pinned memory.',
     'SELECT * FROM exposed_communication(%s) WHERE kind = ''transfer'''),
    ('imbalance', 15, 'Devices wait in collectives for %s until the last one arrives.',
     'Give all devices the same work, and look for the device or host that the others wait for.',
     'SELECT plane, host, sum(coalesce(global_wait_ps, wait_ps)) / 1e9 AS wait_ms '
     || 'FROM collectives(%s) GROUP BY host, plane ORDER BY wait_ms'),
    ('stall_between_slices', 16, 'Programs stall for %s on transfers between slices.',
     'Start transfers earlier or use their result later, and send less between slices.',
     'SELECT * FROM dcn_collectives(%s)'),
    ('recomputing', 17, 'Devices recompute values (rematerialization) for %s.',
     'If memory is free at the peak, save more values: another checkpoint policy, or less remat.',
     'SELECT hlo_op, tf_op, event_self_time_us FROM top_hlo_ops(%s) '
     || 'WHERE is_recomputed ORDER BY event_self_time_us DESC'),
    ('data_movement', 18, 'Ops that only move data (copies, transposes, and fusions of nothing '
     || 'else) take %s.',
     'Choose layouts and orders of dimensions that neighbouring ops share. layout_ops names the op '
     || 'that needs each result.',
     'SELECT hlo_op, shape, operand_shape, self_us, needed_by FROM layout_ops(%s)'),
    ('padding', 19, 'Ops spend %s on padding, if their time is proportional to their bytes.',
     'Use sizes that are multiples of the tile, as the query suggests.',
     'SELECT * FROM padding_waste(%s, 20) ORDER BY padding_time_us DESC'),
    ('low_utilization', 20, 'Computing ops would be %s shorter if they used the peak rate of '
     || 'compute units or memory.',
     'Use larger batches and matrices, 16-bit types, and ops that fuse; write hot ops as one '
     || 'kernel.',
     'SELECT * FROM top_wasted(%s, 20)'),
    ('tensorcore_missed', 21, 'Kernels that could run on tensor cores run without them for %s.',
     'Use 16-bit types or TF32, and sizes that are multiples of 8.',
     'SELECT * FROM tensorcore_missed(%s, 20)'),
    ('small_kernels', 22, 'Kernels that take less than 5 us on average take %s.',
     'Fuse small ops (jit, XLA, torch.compile), batch them, or use CUDA graphs.',
     'SELECT name, sum(occurrences) AS n, sum(total_ps) / 1e3 / sum(occurrences) AS avg_ns, '
     || 'sum(total_ps) / 1e9 AS total_ms FROM event_totals(%s) WHERE plane_kind = ''gpu'' '
     || 'AND line_kind = ''stream'' AND name NOT IN (SELECT hlo_op FROM async_op_totals(%s, 1) '
     || 'WHERE hlo_op IS NOT NULL) '
     || 'GROUP BY name HAVING sum(total_ps) < 5e6 * sum(occurrences) ORDER BY total_ms DESC'),
    ('outside_compilation', 23, 'Ops that the program runs on the host take %s of device time.',
     'Avoid host callbacks, tf.summary, tf.print and debug prints in the compiled program.',
     'SELECT hlo_op, tf_op, event_self_ps / 1e9 AS self_ms FROM hlo_ops(%s) '
     || 'WHERE outside_compilation = ''Yes'' ORDER BY event_self_ps DESC')
), device AS MATERIALIZED (
    SELECT run, count(*) AS n, max(kind = 'gpu') AS has_gpu,
           max(kind = 'sparsecore') AS is_sparse,
           avg(span_ps) / 1e9 AS span_ms,
           avg(exposed_communication_ps) / 1e9 AS communication_ms,
           avg(exposed_transfer_ps) / 1e9 AS transfer_ms, avg(idle_ps) / 1e9 AS idle_ms
    FROM temp.device_time(:source)
    WHERE is_main AND span_ps IS NOT NULL
    GROUP BY run
), base AS MATERIALIZED (
    SELECT r.run, coalesce(d.n, 0) AS devices, coalesce(d.has_gpu, 0) AS has_gpu, d.is_sparse,
           d.communication_ms, d.transfer_ms, d.idle_ms,
           coalesce(d.span_ms, r.duration_ps / 1e9,
                    (SELECT (max(1.0 * e.end_ps) - min(1.0 * e.start_ps)) / 1e9
                     FROM temp.trace_events(:source) AS e WHERE e.run = r.run AND NOT e.derived))
           AS ms, r.host_count AS hosts,
           r.event_count AS events
    FROM temp.prof_runs(:source) AS r LEFT JOIN device AS d ON d.run = r.run
), idle AS MATERIALIZED (
    SELECT run, CASE WHEN cause IN ('compiling', 'tracing') THEN 'idle_compiling'
                     WHEN cause IN ('host', 'python') THEN 'idle_host'
                     WHEN cause = 'copy' THEN 'idle_copying' ELSE 'idle_' || cause END AS rule,
           idle_us / 1e3 AS ms, coalesce(python_frame, name) AS what
    FROM temp.idle_causes(:source)
), step AS MATERIALIZED (
    SELECT run, step, duration_ms, dropped, start_ps / 1e9 AS start_ms
    FROM temp.steps(:source)
), core AS MATERIALIZED (
    SELECT run, sum(input_us_actual) / 1e3 / count(DISTINCT core_id) AS input_ms
    FROM temp.core_steps(:source)
    WHERE NOT dropped
    GROUP BY run
), median_step AS MATERIALIZED (
    SELECT run, median(duration_ms) AS ms, count(*) AS n FROM step WHERE NOT dropped GROUP BY run
), slow AS MATERIALIZED ( -- alone_ms: without the time of slow steps that begin before it
    SELECT s.run, s.step, s.duration_ms - m.ms AS ms,
           s.start_ms + s.duration_ms
           - max(s.start_ms, coalesce(max(s.start_ms + s.duration_ms) OVER earlier, s.start_ms))
               AS alone_ms
    FROM step AS s JOIN median_step AS m ON m.run = s.run
    WHERE NOT s.dropped AND s.duration_ms > 1.2 * m.ms
    WINDOW earlier AS (PARTITION BY s.run ORDER BY s.start_ms, s.step
                       ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
), op AS MATERIALIZED (
    SELECT o.run, hlo_op, is_recomputed AS again, event_self_time_us / 1e3 / b.devices AS ms
    FROM temp.top_hlo_ops(:source) AS o JOIN base AS b ON b.run = o.run
    WHERE b.devices > 0
), wait AS MATERIALIZED (
    SELECT c.run, c.host, c.plane,
           sum(1.0 * coalesce(global_wait_ps, wait_ps)) / 1e9 AS own_ms,
           sum(1.0 * coalesce(global_wait_ps, wait_ps)) / 1e9 / b.devices AS ms
    FROM temp.collectives(:source) AS c JOIN base AS b ON b.run = c.run
    WHERE coalesce(global_wait_ps, wait_ps) IS NOT NULL AND b.devices > 0
    GROUP BY c.run, c.host, c.plane
), kernel AS MATERIALIZED (
    SELECT run, name, sum(1.0 * total_ps) / 1e9 / devices AS ms,
           sum(1.0 * total_ps) < 5e6 * sum(occurrences) AS is_small
    FROM base AS b CROSS JOIN temp.event_totals(:source) AS e USING (run)
    WHERE b.has_gpu AND e.line_kind = 'stream'
      AND (run, name) NOT IN (SELECT run, hlo_op FROM temp.async_op_totals(:source, 1)
                              WHERE hlo_op IS NOT NULL)
    GROUP BY run, name
), loader AS MATERIALIZED (
    SELECT run, top_operation, top_operation_ms, advice FROM temp.input_bound(:source)
), remark(run, rule, evidence) AS MATERIALIZED ( -- instead of the largest part
    SELECT run, 'imbalance', plane || ' of ' || host || ' waits least, '
                             || printf('%.3f ms', min(own_ms)) || ': the others wait for it'
    FROM wait
    GROUP BY run
    UNION ALL
    SELECT run, 'input', 'longest input op of host threads: ' || top_operation
                         || printf(', %.3f ms', top_operation_ms)
    FROM loader
    UNION ALL
    SELECT c.run, iif(kind = 'transfer', 'exposed_transfer', 'exposed_communication'),
           'longest ' || kind || ', with its hidden part: ' || op
           || printf(', %.3f ms', max(total_us) / 1e3 / b.devices)
    FROM temp.exposed_communication(:source) AS c JOIN base AS b USING (run)
    WHERE b.devices > 0 AND (c.device = 'sparsecore') = b.is_sparse
    GROUP BY c.run, kind
), part(run, rule, ms, what) AS ( -- the parts of costs
    SELECT run, rule, ms, what FROM idle
    UNION ALL
    SELECT run, 'idle_at_ends', max(0.0, b.idle_ms - (SELECT total(i.ms) FROM idle AS i
                                                      WHERE i.run = b.run)), NULL
    FROM base AS b
    WHERE b.devices > 0
    UNION ALL
    SELECT run, 'input', input_ms, NULL FROM core
    UNION ALL
    SELECT f.run, 'retracing', f.self_time_ps / 1e9 / b.hosts, f.name
    FROM temp.tf_functions(:source) AS f JOIN base AS b ON b.run = f.run
    WHERE f.mode = 'TRACED'
    UNION ALL
    SELECT run, 'slow_steps', max(0.0, min(ms, alone_ms)), 'step ' || step
    FROM slow
    UNION ALL
    SELECT run, 'imbalance', ms, plane FROM wait
    UNION ALL
    SELECT c.run, 'stall_between_slices', c.total_stall_ms / b.hosts, c.rendezvous_name
    FROM temp.dcn_collectives(:source) AS c JOIN base AS b ON b.run = c.run
    UNION ALL
    SELECT run, 'recomputing', ms, hlo_op FROM op WHERE again
    UNION ALL
    SELECT o.run, 'outside_compilation', event_self_ps / 1e9 / b.devices, hlo_op
    FROM temp.hlo_ops(:source) AS o JOIN base AS b ON b.run = o.run
    WHERE o.rank > 0 AND b.devices > 0 AND outside_compilation = 'Yes'
    UNION ALL
    SELECT l.run, 'data_movement', l.self_us / 1e3 / b.devices, l.hlo_op
    FROM temp.layout_ops(:source) AS l JOIN base AS b ON b.run = l.run
    WHERE b.devices > 0
    UNION ALL
    SELECT p.run, 'padding', p.padding_time_us / 1e3 / b.devices, p.hlo_op
    FROM temp.padding_waste(:source) AS p JOIN base AS b ON b.run = p.run
    WHERE b.devices > 0
    UNION ALL
    SELECT w.run, 'low_utilization', w.wasted_time_us / 1e3 / b.devices, w.hlo_op
    FROM temp.top_wasted(:source) AS w JOIN base AS b ON b.run = w.run
    UNION ALL
    SELECT t.run, 'tensorcore_missed', t.total_duration_us / 1e3 / b.devices,
           coalesce(t.op_name, t.short_name)
    FROM temp.tensorcore_missed(:source) AS t JOIN base AS b ON b.run = t.run
    UNION ALL
    SELECT run, 'small_kernels', ms, name FROM kernel WHERE is_small
), largest AS ( -- SQLite takes what from the row with the largest ms
    SELECT run, rule, total(ms) AS ms, max(ms) AS most, what FROM part GROUP BY run, rule
), fact AS MATERIALIZED (
    SELECT b.run, b.ms, b.devices > 0 AS has_device, b.has_gpu,
           EXISTS (SELECT 1 FROM temp.planes(:source) AS p
                   WHERE p.run = b.run AND p.kind = 'host' AND p.event_count > 0) AS has_host,
           EXISTS (SELECT 1 FROM idle AS i WHERE i.run = b.run) AS has_idle,
           EXISTS (SELECT 1 FROM median_step AS m WHERE m.run = b.run) AS has_step,
           EXISTS (SELECT 1 FROM op AS o WHERE o.run = b.run) AS has_op,
           EXISTS (SELECT 1 FROM part AS p WHERE p.run = b.run AND p.rule = 'low_utilization')
               AS has_rates,
           EXISTS (SELECT 1 FROM part AS p WHERE p.run = b.run AND p.rule = 'stall_between_slices')
               AS has_slices,
           EXISTS (SELECT 1 FROM temp.hlo_modules(:source) AS p WHERE p.run = b.run) AS has_program,
           EXISTS (SELECT 1 FROM temp.collectives(:source) AS c WHERE c.run = b.run)
               AND NOT EXISTS (SELECT 1 FROM wait AS w WHERE w.run = b.run) AS lacks_wait,
           b.communication_ms, b.transfer_ms
    FROM base AS b
    WHERE b.events > 0
), judged AS (
    SELECT f.run, r.*, f.ms AS run_ms, f.has_device,
           coalesce(e.evidence, l.what || printf(': %.3f ms', l.most)) AS evidence,
           CASE r.rule WHEN 'exposed_communication' THEN f.communication_ms
                       WHEN 'exposed_transfer' THEN f.transfer_ms ELSE coalesce(l.ms, 0.0)
           END AS ms,
           CASE WHEN r.rule LIKE 'idle%' AND NOT has_device AND NOT has_idle
                THEN 'no device has work, and no op on a host thread leaves a gap'
                WHEN r.rule = 'idle_queued' AND NOT has_gpu THEN 'no GPU has work'
                WHEN NOT has_host AND r.rule <> 'idle_unknown' AND r.rule <> 'idle_at_ends'
                     AND (r.rule LIKE 'idle%' OR r.rule = 'retracing')
                THEN 'no host thread has an event'
                WHEN r.rule IN ('input', 'slow_steps') AND NOT has_step
                THEN 'no complete step was found'
                WHEN (r.rule LIKE 'exposed%' OR r.rule IN ('idle_at_ends', 'padding', 'imbalance'))
                     AND NOT has_device THEN 'no device has work'
                WHEN r.rule IN ('recomputing', 'data_movement', 'outside_compilation')
                     AND NOT has_op THEN 'no HLO op is recorded on a device'
                WHEN r.rule IN ('tensorcore_missed', 'small_kernels') AND NOT has_gpu
                THEN 'no GPU has work'
                WHEN r.rule IN ('padding', 'data_movement') AND NOT has_program
                THEN 'the file has no HLO program'
                WHEN r.rule = 'low_utilization' AND NOT has_rates
                THEN 'the operations and bytes of ops, or the devices'' peak rates, are unknown'
                WHEN r.rule = 'imbalance' AND lacks_wait
                THEN 'it is unknown which collectives of the devices belong together'
                WHEN r.rule = 'stall_between_slices' AND NOT has_slices
                THEN 'no transfer between slices is recorded'
           END AS missing
    FROM fact AS f CROSS JOIN rule AS r
         LEFT JOIN largest AS l ON l.run = f.run AND l.rule = r.rule
         LEFT JOIN remark AS e ON e.run = f.run AND e.rule = r.rule
), answer AS (
    SELECT run, rule, place, query, missing,
           coalesce(iif(rule = 'input',
                        (SELECT l.advice FROM loader AS l WHERE l.run = j.run), NULL), action)
           AS action, iif(missing IS NULL, ms, NULL) AS ms,
           iif(missing IS NULL, 100.0 * ms / run_ms, NULL) AS percent, evidence,
           iif(has_device, says, replace(says, 'Devices are idle', 'No op runs')) AS says
    FROM judged AS j
), ordered AS (
    SELECT *, CASE WHEN missing IS NOT NULL THEN 'not checked'
                   WHEN percent >= coalesce(:least_percent, 5) THEN 'finding' ELSE 'checked' END
              AS status
    FROM answer
)
SELECT run, row_number() OVER (PARTITION BY run
                               ORDER BY missing IS NOT NULL, status = 'checked', ms DESC, place),
       rule, status, ms, percent,
       iif(missing IS NULL,
           printf(says, printf('%.3f ms', ms)
                        || iif(percent IS NULL, '', printf(' (%.1f %% of the run)', percent))),
           NULL),
       iif(ms > 0, evidence, NULL),
       action, printf(query, quote(coalesce(:source, run)), quote(coalesce(:source, run))), missing
FROM ordered
ORDER BY run, 2
