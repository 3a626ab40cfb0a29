-- Rows that break a rule between tables, on the run attached as x: there must be none. "(true
-- files)": the rule does not apply to files with nonsense in them

-- totals equal the sums over the events
SELECT 1 FROM event_totals('x') AS t
    LEFT JOIN (SELECT line_id, metadata_id, count(*) AS n, total(duration_ps) AS ps,
               total(self_ps) AS self, min(duration_ps) AS least,
 max(duration_ps) AS most FROM trace_events('x') GROUP BY 1, 2) AS e USING (line_id, metadata_id)
 WHERE t.metadata_id IS NOT NULL -- undeclared ids share a row
 AND (n IS NOT occurrences OR ps <> total_ps + 0.0 OR self <> self_ps + 0.0 OR least <> min_ps
      OR most <> max_ps);

-- lines, planes and hosts count their events
SELECT 1 FROM lines('x') AS l WHERE event_count <> (SELECT count(*) FROM trace_events('x') AS e
                                                    WHERE e.line_id = l.line_id) UNION ALL
SELECT 1 FROM planes('x') AS p WHERE line_count <> (SELECT count(*) FROM lines('x') AS l
                                                    WHERE l.plane_id = p.plane_id)
 OR event_count <> (SELECT total(event_count) FROM lines('x') AS l WHERE l.plane_id = p.plane_id)
  UNION ALL
SELECT 1 FROM hosts('x') AS h WHERE event_count <> (SELECT total(event_count) FROM planes('x') AS p
                                                    WHERE p.host = h.host);

-- an event is within its parent, one level below it
SELECT 1 FROM trace_events('x') AS e LEFT JOIN trace_events('x') AS p ON p.event_id = e.parent_id
 WHERE (e.depth = 0) <> (e.parent_id IS NULL) OR e.parent_id IS NOT NULL
 AND (p.event_id IS NULL OR p.line_id <> e.line_id OR p.depth <> e.depth - 1
      OR p.start_ps > e.start_ps OR p.end_ps < e.end_ps) OR e.self_ps > e.duration_ps;

-- metadata counts its events and stats
SELECT 1 FROM event_metadata('x') LEFT JOIN (SELECT plane_id, metadata_id, count(*) AS n
                                             FROM trace_events('x') GROUP BY 1,
                                                 2) USING (plane_id, metadata_id)
 WHERE event_count <> coalesce(n, 0) UNION ALL
SELECT 1 FROM event_metadata('x') LEFT JOIN (SELECT plane_id, metadata_id, count(*) AS n
                                             FROM event_metadata_stats('x') GROUP BY 1,
                                                 2) USING (plane_id, metadata_id)
 WHERE stat_count <> coalesce(n, 0);

-- ops sum up to the totals of their side
SELECT 1 FROM op_metrics_totals('x')
    JOIN (SELECT side, count(*) AS n, total(self_ps) FILTER (WHERE name <> 'IDLE') AS ops,
          total(self_ps) AS ps
 FROM op_metrics('x') WHERE parent_id IS NULL GROUP BY side) USING (side)
  WHERE (op_count <> n OR abs(total_op_ps - ops) > 1 + 1e-12 * ops
         OR abs(total_ps - ps) > 1 + 1e-12 * ps)
 AND NOT EXISTS (SELECT 1 FROM op_metrics('x') WHERE category = 'IDLE' AND name <> 'IDLE');

-- framework ops are those of the op metrics
SELECT 1 FROM (SELECT host_or_device, count(*) AS n, total(self_ps) AS self, total(time_ps) AS ps
               FROM tf_ops('x', 1, 0) GROUP BY 1)
 LEFT JOIN (SELECT CASE side WHEN 'host' THEN 'Host' ELSE 'Device' END AS host_or_device,
            count(*) AS m, total(self_ps) AS self2, total(time_ps) AS ps2
 FROM op_metrics('x') WHERE side IN ('host', 'framework') AND parent_id IS NULL
  GROUP BY 1) USING (host_or_device) WHERE n IS NOT m OR abs(self - self2) > 1e-9 * self
  OR abs(ps - ps2) > 1e-9 * ps;

-- HLO ops are those of the op metrics
SELECT 1 FROM (SELECT count(*) AS n, total(self_ps) AS self, total(time_ps) AS ps FROM hlo_ops('x')
               WHERE rank > 0),
 (SELECT count(*) AS m, total(self_ps) AS self2, total(time_ps) AS ps2 FROM op_metrics('x')
  WHERE side = 'device' AND name <> 'IDLE' AND parent_id IS NULL)
 WHERE n <> m OR abs(self - self2) > 1e-9 * self OR abs(ps - ps2) > 1e-9 * ps;

-- the root of the op profile is the devices' time; its ops make it up, and those that are no nodes
-- because others ran inside (true files)
SELECT 1 FROM op_profile('x', 'program', 1, 0), op_metrics_totals('x') WHERE node_id = 0
    AND side = 'device' AND abs(raw_time_ps - total_ps) > 1 + 1e-9 * total_ps UNION ALL
SELECT 1 FROM (SELECT total(self_time_ps) AS nodes FROM op_profile('x', 'program', 1, 0)
               WHERE kind = 'op'),
 (SELECT total(self_ps) AS others, min(rank) AS least FROM hlo_ops('x') WHERE time_ps > self_ps
  OR rank = 0),
 op_metrics_totals('x') WHERE side = 'device' AND least IS NOT 0
 AND abs(nodes + others - total_ps) > 1 + 1e-9 * total_ps;

-- trees are consistent
SELECT 1 FROM op_profile('x') WHERE parent_id IS NOT NULL
    AND parent_id NOT IN (SELECT node_id FROM op_profile('x')) UNION ALL
SELECT 1 FROM op_metrics('x') WHERE parent_id IS NOT NULL
    AND (side, parent_id) NOT IN (SELECT side, op_id FROM op_metrics('x'));

-- kernels that took time are those of the events (true files)
SELECT 1 FROM (SELECT total(total_duration_us) AS us FROM kernel_stats('x', 0)),
       (SELECT total(duration_ps / 1000) / 1e3 AS us2 FROM trace_events('x')
 WHERE plane_kind = 'gpu' AND NOT derived AND event_id IN (SELECT event_id FROM event_stats('x')
                                                           WHERE name = 'kernel_details'))
  WHERE us2 > 0 AND abs(us - us2) > 1e-6 * us2;

-- kernels by op are those of kernel_stats
SELECT 1 FROM (SELECT host, kernel_name, total(total_duration_us) AS us, total(occurrences) AS n
               FROM kernel_stats('x', 0) GROUP BY 1, 2)
 LEFT JOIN (SELECT host, kernel_name, total(total_duration_us) AS us2, total(occurrences) AS m
            FROM kernel_ops('x') GROUP BY 1, 2) USING (host, kernel_name) WHERE m IS NOT n
                OR abs(us - us2) > 1e-9 * us;

-- the average of a kernel is between its shortest and longest duration
SELECT 1 FROM kernel_stats('x', 0) WHERE min_duration_us > avg_duration_us + 0.001
    OR max_duration_us < avg_duration_us OR total_duration_us < max_duration_us;

-- steps are the same in every table of steps
SELECT step FROM step_breakdown('x') WHERE step IS NOT NULL
    AND step NOT IN (SELECT step FROM steps('x')) UNION ALL
SELECT step FROM core_steps('x') WHERE step IS NOT NULL
    AND step NOT IN (SELECT step FROM steps('x')) UNION ALL
SELECT step FROM steps('x')
 WHERE step NOT IN (SELECT step FROM core_steps('x') WHERE step IS NOT NULL) UNION ALL
SELECT step FROM steps('x')
 WHERE range_ms IS NOT (SELECT max(range_ps) / 1e9 FROM host_steps('x') AS h
                        WHERE h.step = steps.step) AND NOT dropped UNION ALL
SELECT step FROM host_steps('x') WHERE step IS NOT NULL
    AND step NOT IN (SELECT step FROM steps('x')) UNION ALL
SELECT step FROM input_steps('x') WHERE step NOT IN (SELECT step FROM steps('x') WHERE NOT dropped)
 UNION ALL
SELECT step FROM steps('x') WHERE NOT dropped AND NOT outside_xprof
    AND step NOT IN (SELECT step FROM input_steps('x')) AND EXISTS (SELECT 1 FROM input_steps('x'))
 UNION ALL
SELECT step FROM steps('x') WHERE NOT dropped
    AND step NOT IN (SELECT step FROM host_steps('x') WHERE step IS NOT NULL) UNION ALL
SELECT 1 FROM input_pipeline('x'), (SELECT count(*) AS n, avg(duration_ms) AS ms FROM steps('x')
                                    WHERE NOT dropped AND NOT outside_xprof)
 WHERE step_count > 0 AND n <> step_count OR (SELECT max(tc_compute_ms) FROM steps('x')) IS NULL
     AND abs(ms - step_time_ms_average) > 1e-6 * ms;

-- compilations are events of their threads; none is within another of its line; those of a module
-- make up its times; in a step, nothing compiles longer than they do
SELECT 1 FROM compilations('x') AS c LEFT JOIN trace_events('x') AS e USING (event_id)
 WHERE e.name IS NOT c.name OR e.start_ps <> c.start_ps OR e.line_id <> c.line_id
     OR max(e.duration_ps, 0) <> c.duration_ps
 OR e.plane_kind <> 'host' OR e.step IS NOT c.step UNION ALL
SELECT 1 FROM compilations('x') AS a JOIN compilations('x') AS b USING (line_id)
 WHERE a.event_id <> b.event_id AND a.start_ps >= b.start_ps
     AND a.start_ps + a.duration_ps < b.start_ps + b.duration_ps UNION ALL
SELECT 1 FROM compilations('x') AS c WHERE (parameter_shapes IS NULL) > (program_id IS NULL)
    OR program_id IS NOT NULL
    AND (host, program_id, hlo_module) NOT IN (SELECT host, program_id, hlo_module
                                               FROM hlo_modules('x')) UNION ALL
SELECT 1 FROM (SELECT r.*, count(c.event_id) AS n, sum(c.duration_us) AS us,
                      sum(c.tracing_us) AS traced, sum(c.lowering_us) AS lowered
                 FROM recompilations('x') AS r LEFT JOIN compilations('x') AS c
                   ON c.host = r.host AND (c.hlo_module = r.hlo_module
                      OR substr(c.hlo_module, 1, length(r.hlo_module) + 1) = r.hlo_module || '.'
                         AND ltrim(substr(c.hlo_module, length(r.hlo_module) + 2), '0123456789')
                             = '')
                GROUP BY r.host, r.hlo_module)
 WHERE n <> compilation_count OR abs(us - duration_us) > 1e-9 * us
     OR (us IS NULL) <> (duration_us IS NULL) OR abs(traced - tracing_us) > 1e-9 * traced
     OR abs(lowered - lowering_us) > 1e-9 * lowered
 OR compilation_count < 2 AND program_count < 2 UNION ALL
SELECT 1 FROM core_steps('x') AS s
 WHERE compilation_us_actual > 1e-6
     + (SELECT total(interval_overlap(s.start_ps, CAST(s.total_us * 1e6 AS INTEGER), c.start_ps,
                                      c.duration_ps)) / 1e6 FROM compilations('x') AS c
 WHERE c.host = s.host);

-- compiler_events: one row for each name, thread and function; compile_passes has the same events
SELECT 1 FROM compiler_events('x') GROUP BY host, line_id, name, function HAVING count(*) > 1
 UNION ALL
SELECT 1 FROM compiler_events('x') WHERE occurrences < 1 OR line_id NOT IN
 (SELECT line_id FROM lines('x') WHERE event_count >= occurrences) UNION ALL
SELECT 1 FROM (SELECT total(occurrences) AS n FROM compiler_events('x')),
              (SELECT total(occurrences) AS passes FROM compile_passes('x')) WHERE n <> passes;

-- causes of idle time add up to the idle gaps of the devices (aggregated events, which have no
-- times, end gaps of idle_gaps)
SELECT 1 FROM (SELECT total(idle_us) AS us, max(device_count) AS n, total(idle_percent) AS percent,
               count(*) AS causes FROM idle_causes('x')),
               (SELECT total(duration_us) AS gaps FROM idle_gaps('x'))
 WHERE (causes > 0 AND abs(percent - 100) > 1e-6)
     OR EXISTS (SELECT 1 FROM device_time('x') WHERE busy_ps > 0)
     AND abs(us * coalesce(n, 1) - gaps) > 1e-6 * gaps + 1e-6
 AND NOT EXISTS (SELECT 1 FROM trace_events('x') WHERE occurrences IS NOT NULL
                 AND plane_kind <> 'host') UNION ALL
SELECT 1 FROM idle_causes('x') WHERE device_count <> (SELECT count(*) FROM device_time('x')
                                                      WHERE is_main AND busy_ps > 0)
                                                          AND EXISTS (SELECT 1 FROM device_time('x')
                                                                      WHERE busy_ps > 0);

-- what is in All others adds up to it
SELECT 1 FROM (SELECT run, sum(all_others_ms) AS ms, sum(percent) AS percent, max(step_count) AS n
               FROM all_others('x') GROUP BY run)
 JOIN (SELECT run, avg(coalesce(all_others_ms, all_others_ms_actual)) AS others, count(*) AS steps
       FROM steps('x') WHERE NOT dropped GROUP BY run) USING (run)
 WHERE abs(ms - others) > 1e-9 + 1e-9 * others OR abs(percent - 100) > 1e-6 OR n <> steps;

-- the duration of a step is that of its longest core
SELECT 1 FROM steps('x') JOIN (SELECT step, max(total_us) / 1e3 AS ms FROM core_steps('x')
                               GROUP BY 1) USING (step) WHERE abs(duration_ms - ms) > 1e-6 * ms;

-- categories of a core make up its step (true files)
SELECT 1 FROM core_steps('x') AS c JOIN (SELECT step, core_id, host, total(duration_ps) / 1e6 AS us
                                         FROM step_breakdown('x') GROUP BY 1, 2,
                                             3) USING (step, core_id, host)
 WHERE NOT c.outside_xprof AND abs(total_us - us) > 1e-6 * total_us + 1e-5;

-- programs count their parts, operands are theirs, names are unique
SELECT 1 FROM hlo_modules('x') AS m
 WHERE instruction_count <> (SELECT count(*) FROM hlo_instructions('x') AS i WHERE i.host = m.host
                             AND i.program_id = m.program_id)
 OR computation_count <> (SELECT count(*) FROM hlo_computations('x') AS c WHERE c.host = m.host
                          AND c.program_id = m.program_id) UNION ALL
SELECT 1 FROM hlo_computations('x') JOIN (SELECT host, program_id, computation_id, count(*) AS n
                                          FROM hlo_instructions('x') GROUP BY 1, 2,
                                              3) USING (host, program_id, computation_id)
 WHERE n <> instruction_count UNION ALL
SELECT 1 FROM hlo_operands('x') WHERE operand IS NULL
    OR (host, program_id, instruction_id) NOT IN (SELECT host, program_id, instruction_id
                                                  FROM hlo_instructions('x')) UNION ALL
SELECT 1 FROM hlo_instructions('x') GROUP BY host, program_id, hlo_op HAVING count(*) > 1;

-- ops of programs are instructions of these programs
SELECT 1 FROM hlo_ops('x') WHERE hlo_module IS NOT NULL
    AND program_id NOT IN (SELECT program_id FROM hlo_modules('x')) UNION ALL
SELECT 1 FROM buffer_allocations('x') WHERE hlo_op IS NOT NULL
    AND (host, program_id, hlo_op) NOT IN (SELECT host, program_id, hlo_op
                                           FROM hlo_instructions('x')) UNION ALL
SELECT 1 FROM trace_events('x') AS e JOIN hlo_modules('x') AS m USING (host, program_id)
 WHERE e.hlo_module <> m.hlo_module;

-- the peak is the heap's highest, and the buffers that live at it
SELECT 1 FROM memory_peaks('x') JOIN (SELECT host, program_id, memory_space, max(heap_mib) AS mib
                                      FROM heap_timeline('x') GROUP BY 1, 2,
                                          3) USING (host, program_id, memory_space)
 WHERE abs(mib - peak_heap_mib) > 1e-6 * mib UNION ALL
SELECT 1 FROM memory_peaks('x')
    JOIN (SELECT host, program_id, memory_space, total(size_bytes) / 1048576 AS mib
          FROM buffer_allocations('x') WHERE live_at_peak GROUP BY 1, 2, 3)
 USING (host, program_id, memory_space) WHERE abs(mib - peak_heap_mib) > 1e-6 * mib + 1e-6 UNION ALL
SELECT 1 FROM memory_peaks('x')
    JOIN (SELECT host, program_id, memory_space, total(allocation_bytes) / 1048576 AS mib
          FROM (SELECT DISTINCT host, program_id, memory_space,
 allocation_id, allocation_bytes FROM buffer_allocations('x') WHERE kind <> 'thread-local')
  GROUP BY 1, 2, 3) USING (host, program_id, memory_space)
 WHERE abs(mib - total_allocation_mib) > 1e-6 * mib + 1e-6;

-- allocators count their events
SELECT 1 FROM memory_allocators('x')
    LEFT JOIN (SELECT host, allocator, total(activity = 'ALLOCATION') AS made,
               total(activity = 'DEALLOCATION') AS freed,
 total(activity = 'DEALLOCATION' AND match_event_id IS NULL) AS unmatched FROM memory_events('x')
  GROUP BY 1, 2) USING (host, allocator)
 WHERE made IS NOT allocation_count OR freed IS NOT free_count
     OR unmatched IS NOT unmatched_free_count UNION ALL
SELECT 1 FROM memory_events('x') AS a WHERE match_event_id IS NOT NULL
 AND NOT EXISTS (SELECT 1 FROM memory_events('x') AS b WHERE b.event_id = a.match_event_id
                 AND b.match_event_id = a.event_id);

-- the allocators' peak is that of their events (true files)
SELECT 1 FROM memory_allocators('x')
    JOIN (SELECT host, allocator, max(heap_bytes + stack_bytes) AS most FROM memory_events('x')
          GROUP BY 1, 2) USING (host, allocator)
 WHERE most <> profile_peak_bytes OR heap_bytes_at_peak + stack_bytes_at_peak <> profile_peak_bytes
     OR capacity_bytes <> profile_peak_bytes + free_bytes_at_peak;

-- device_time by step adds up to the device, by line to the span of each line; it has the sums of
-- time_breakdown, and waiting is part of busy
SELECT 1 FROM device_time('x') AS d JOIN (SELECT plane_id, sum(span_ps) AS a, sum(busy_ps) AS b,
 sum(idle_ps) AS c, sum(computing_ps) AS e, sum(communicating_ps) AS f,
 sum(exposed_communication_ps) AS g, sum(transferring_ps) AS h, sum(exposed_transfer_ps) AS i,
 sum(exposed_ps) AS j, sum(waiting_ps) AS k FROM device_time('x', 1) GROUP BY 1) USING (plane_id)
 WHERE a <> span_ps OR b <> busy_ps OR c <> idle_ps OR e <> computing_ps OR f <> communicating_ps
 OR g <> exposed_communication_ps OR h <> transferring_ps OR i <> exposed_transfer_ps
 OR j <> exposed_ps OR k IS NOT waiting_ps UNION ALL
SELECT 1 FROM (SELECT plane_id, sum(span_ps) AS a, max(busy_ps) AS b FROM device_time('x', 1, 1)
 GROUP BY plane_id, line_id) JOIN device_time('x') USING (plane_id)
 WHERE a <> span_ps OR b > busy_ps UNION ALL
SELECT 1 FROM (SELECT plane_id, line_id, sum(waiting_ps) AS a, sum(idle_ps) AS b
 FROM time_breakdown('x', 0, 1) GROUP BY 1, 2)
 FULL JOIN (SELECT plane_id, line_id, waiting_ps, idle_ps FROM device_time('x', 0, 1))
 USING (plane_id, line_id) WHERE a IS NOT waiting_ps OR b IS NOT idle_ps UNION ALL
SELECT 1 FROM device_time('x', 1, 1) WHERE waiting_ps > busy_ps OR busy_ps + idle_ps <> span_ps
 OR computing_ps > busy_ps OR exposed_ps > exposed_communication_ps + exposed_transfer_ps
 OR computing_ps + exposed_ps > span_ps OR line_id IS NULL OR start_ps IS NOT NULL;

-- the idle rules of advice make up the devices' idle time, and exposed time is that of device_time;
-- findings come first, the most expensive ones before (true files)
WITH given AS MATERIALIZED (SELECT * FROM advice('x'))
SELECT 1 FROM (SELECT total(cost_ms) FILTER (WHERE rule LIKE 'idle%') AS idle,
 max(iif(rule = 'exposed_communication', cost_ms, NULL)) AS communicating,
 max(iif(rule = 'exposed_transfer', cost_ms, NULL)) AS transferring FROM given)
 JOIN (SELECT avg(idle_ps) / 1e9 AS idle2, avg(exposed_communication_ps) / 1e9 AS communicating2,
 avg(exposed_transfer_ps) / 1e9 AS transferring2 FROM device_time('x') WHERE is_main
 AND span_ps IS NOT NULL)
 WHERE abs(idle - idle2) > 1e-9 * idle2 + 1e-6 OR communicating IS NOT communicating2
 OR transferring IS NOT transferring2 UNION ALL
SELECT 1 FROM given WHERE (status = 'not checked') <> (missing IS NOT NULL)
 OR (status = 'finding') IS NOT (missing IS NULL AND coalesce(cost_percent >= 5, 0))
 OR (cost_ms IS NULL) <> (missing IS NOT NULL) OR cost_ms < 0 UNION ALL
SELECT 1 FROM (SELECT status, cost_ms, lag(status) OVER w AS s, lag(cost_ms) OVER w AS ms
 FROM given WINDOW w AS (ORDER BY rank))
 WHERE (status = s AND cost_ms > ms) OR status < s AND status = 'finding';

-- what is live at an allocator's peak, what was there earlier, stack and the rest make up the peak;
-- live_allocations has the same (true files)
SELECT 1 FROM memory_allocators('x') LEFT JOIN (SELECT host, allocator,
 sum(allocation_bytes) AS live FROM memory_events('x') WHERE live_at_peak GROUP BY 1, 2)
 USING (host, allocator)
 WHERE coalesce(live, 0) + earlier_bytes_at_peak + unknown_bytes_at_peak <> heap_bytes_at_peak
UNION ALL
SELECT 1 FROM (SELECT host, allocator, sum(allocated_bytes) AS a FROM live_allocations('x')
 WHERE kind = 'allocation' GROUP BY 1, 2)
 FULL JOIN (SELECT host, peak_of AS allocator, sum(size_bytes) AS b FROM peak_holders('x')
 WHERE recorded_by = 'allocator' AND kind = 'allocation' GROUP BY 1, 2) USING (host, allocator)
 WHERE a IS NOT b UNION ALL
SELECT 1 FROM memory_events('x') AS e JOIN memory_allocators('x') AS a USING (host, allocator)
 WHERE live_at_peak AND (activity <> 'ALLOCATION' OR e.time_ps > a.peak_time_ps
 OR e.live_until_ps < a.peak_time_ps);

-- what ends an allocation is at its address, and each step has one first and one last event
SELECT 1 FROM memory_events('x') AS e LEFT JOIN memory_events('x') AS n
 ON n.event_id = e.live_until_event_id
 WHERE e.live_until_ps IS NOT n.time_ps OR e.address <> n.address OR e.allocator <> n.allocator
 OR e.match_event_id <> e.live_until_event_id UNION ALL
SELECT 1 FROM memory_events('x') GROUP BY run, host, allocator, step
 HAVING sum(first_of_step) <> 1 OR sum(last_of_step) <> 1
 OR max(iif(first_of_step, time_ps, NULL)) <> min(time_ps)
 OR max(iif(last_of_step, time_ps, NULL)) <> max(time_ps);

-- the holders of a peak make it up, and those of a program are the buffers that are live at its
-- peak (true files)
SELECT 1 FROM (SELECT peak_mib, sum(size_bytes) / 1048576.0 AS held FROM peak_holders('x')
 GROUP BY host, recorded_by, peak_of, program_id, peak_mib) WHERE abs(peak_mib - held) > 1e-6
 UNION ALL
SELECT 1 FROM peak_holders('x') WHERE recorded_by = 'compiler' AND kind = 'unknown' UNION ALL
SELECT 1 FROM (SELECT program_id, count(*) AS n, max(size_mib) AS most FROM largest_buffers('x')
 WHERE size_mib > 0 GROUP BY 1) FULL JOIN (SELECT program_id, count(*) AS m, max(size_mib) AS most2
 FROM peak_holders('x') WHERE recorded_by = 'compiler' GROUP BY 1) USING (program_id)
 WHERE (n IS NOT m OR most IS NOT most2) AND (SELECT count(*) FROM hosts('x')) = 1;

-- memory_ops: one row for each op of an allocator; their sums are those of memory_events
SELECT 1 FROM memory_ops('x') GROUP BY host, allocator, tf_op HAVING count(*) > 1 UNION ALL
SELECT 1 FROM memory_ops('x') WHERE allocations < 1 OR freed > allocations
 OR (freed = 0) <> (avg_life_us IS NULL) UNION ALL
SELECT 1 FROM (SELECT host, allocator, sum(allocations) AS n, sum(freed) AS freed,
 sum(1.0 * allocated_bytes) AS bytes, max(largest_bytes) AS most
 FROM memory_ops('x') GROUP BY 1, 2) AS o FULL JOIN (SELECT host, allocator, count(*) AS m,
 count(match_event_id) AS f, sum(1.0 * allocation_bytes) AS b, max(allocation_bytes) AS largest
 FROM memory_events('x') WHERE activity = 'ALLOCATION' GROUP BY 1, 2) USING (host, allocator)
 WHERE n IS NOT m OR freed IS NOT f OR abs(bytes - b) > 1e-9 * abs(b) OR most IS NOT largest;

-- wait_totals: one row for each thread and name of waits; the longest wait is an event of them
SELECT 1 FROM wait_totals('x') GROUP BY line_id, name HAVING count(*) > 1 UNION ALL
SELECT 1 FROM wait_totals('x') AS w LEFT JOIN trace_events('x') AS e ON event_id = longest_event_id
 WHERE e.line_id IS NOT w.line_id OR e.line IS NOT w.line OR e.name IS NOT w.name
     OR e.host IS NOT w.host OR e.start_us IS NOT w.longest_start_us
     OR e.duration_us IS NOT w.longest_us OR w.calls < 1
     OR (w.total_us < w.longest_us - 1e-6 AND w.longest_us > 0);

-- the levels of an allocator's memory follow each other, make up the time of its events and end at
-- its peak (true files)
SELECT 1 FROM (SELECT host, allocator, sum(duration_ps) AS ps, max(most_bytes) AS most,
 max(first_ps) AS last, max(at_least_percent) AS share, max(mean_bytes) AS mean
 FROM memory_time('x') GROUP BY 1, 2) FULL JOIN (SELECT host, allocator,
 max(time_ps) - min(time_ps) AS span, max(time_ps) AS last_ps, max(heap_bytes + stack_bytes) AS peak
 FROM memory_events('x') GROUP BY 1, 2) USING (host, allocator)
 WHERE ps IS NOT span OR most <> peak OR last > last_ps OR abs(share - 100) > 1e-9 OR mean > peak
 OR (ps > 0) <> (mean IS NOT NULL) UNION ALL
SELECT 1 FROM (SELECT least_bytes, level, lag(most_bytes) OVER w AS below, lag(level) OVER w AS l
 FROM memory_time('x', 1000) WINDOW w AS (PARTITION BY host, allocator ORDER BY level))
 WHERE least_bytes <= below OR l >= level OR (l = level - 1 AND least_bytes <> below + 1);
-- the parts of an allocator's time follow each other and hold its events and its peak (true files)
SELECT 1 FROM (SELECT host, allocator, sum(duration_ps) AS ps, max(most_bytes) AS most,
 sum(event_count) AS n, min(start_ps) AS first, min(least_bytes) AS least
 FROM memory_over_time('x') GROUP BY 1, 2) FULL JOIN (SELECT host, allocator,
 max(time_ps) - min(time_ps) + 1 AS span, min(time_ps) AS first_ps, count(*) AS events,
 max(heap_bytes + stack_bytes) AS peak, min(heap_bytes + stack_bytes) AS trough
 FROM memory_events('x') GROUP BY 1, 2) USING (host, allocator)
 WHERE ps IS NOT span OR most <> peak OR n <> events OR first <> first_ps OR least <> trough
UNION ALL
SELECT 1 FROM (SELECT *, lag(start_ps + duration_ps) OVER w AS ended, lag(part) OVER w AS p,
 lag(end_bytes) OVER w AS before FROM memory_over_time('x', 1000)
 WINDOW w AS (PARTITION BY host, allocator ORDER BY part))
 WHERE start_ps <> ended OR part <= p OR before NOT BETWEEN least_bytes AND most_bytes
 OR end_bytes NOT BETWEEN least_bytes AND most_bytes OR duration_ps < 1
 OR (event_count = 0 AND (least_bytes <> before OR most_bytes <> before));
-- each owner has a name, and an instruction with a name is its own; each scope says where it comes
-- from; a user's line has a file
SELECT 1 FROM hlo_instructions('x')
 WHERE (owner_tf_op IS NULL) <> (owner_by IS NULL) OR (owner_hlo_op IS NULL) <> (owner_by IS NULL)
     OR (tf_op IS NOT NULL) <> (coalesce(owner_by, '') = 'own')
     OR (owner_by = 'own' AND (owner_tf_op <> tf_op OR owner_hlo_op <> hlo_op))
     OR (scope IS NULL) <> (scope_by IS NULL) OR (pass IS NULL) <> (owner_by IS NULL)
     OR (scope_by = 'name') <> (op_scope(owner_tf_op) IS NOT NULL AND scope_by IS NOT NULL)
     OR (scope_by = 'name' AND scope <> op_scope(owner_tf_op))
     OR (hlo_op NOT LIKE '%.remat%' AND pass <> op_pass(owner_tf_op))
     OR (user_file IS NULL) <> (user_line IS NULL);

-- ops have the time of the work on devices, by scope and by line; those of an HLO op are its
-- instruction's
SELECT 1 FROM scope_ops('x')
 WHERE (hlo_op IS NULL) + (tf_op IS NULL) + (name IS NULL) < 1
     OR (name IS NOT NULL) <> (hlo_op IS NULL AND tf_op IS NULL)
        AND (name IS NULL OR plane_kind <> 'gpu' OR hlo_op IS NULL OR hlo_module IS NOT NULL)
     OR occurrences < 0 OR occurrences = 0 AND self_us = 0
     OR (plane_kind = 'host' AND EXISTS (SELECT 1 FROM device_time('x') WHERE busy_ps > 0))
UNION ALL
SELECT 1 FROM (SELECT total(self_us) AS a FROM scope_ops('x')),
 (SELECT total(self_us) AS b, total(forward_us + backward_us + recomputed_us
                                           + unknown_us) AS c
    FROM time_by_scope('x')),
 (SELECT total(self_us) AS d FROM time_by_source_line('x'))
 WHERE abs(a - b) > 1e-6 * abs(a) OR abs(a - c) > 1e-6 * abs(a) OR abs(a - d) > 1e-6 * abs(a)
UNION ALL
SELECT 1 FROM scope_ops('x') AS s JOIN hlo_instructions('x') AS i USING (host, program_id, hlo_op)
 WHERE s.scope IS NOT i.scope OR s.pass IS NOT i.pass OR s.user_line IS NOT i.user_line
     OR s.owner_tf_op IS NOT i.owner_tf_op;

-- models count their requests and batches
SELECT 1 FROM inference_models('x') AS m
 WHERE request_count <> (SELECT count(*) FROM inference_requests('x') AS r WHERE r.model = m.model)
 OR batch_count <> (SELECT count(*) FROM inference_batches('x') AS b WHERE b.model = m.model);

-- bursts count their messages, pipelines their calls
SELECT 1 FROM dcn_bursts('x') AS b
    LEFT JOIN (SELECT host, burst, count(*) AS n, total(bytes) AS bytes FROM dcn_messages('x')
               GROUP BY 1, 2) AS m USING (host, burst)
 WHERE n IS NOT message_count OR b.bytes <> m.bytes UNION ALL
SELECT 1 FROM tf_data_pipelines('x')
    LEFT JOIN (SELECT host, pipeline, count(*) AS n, total(duration_ps > 50000000) AS slow,
               max(duration_ps) AS most FROM tf_data_calls('x') GROUP BY 1, 2)
 USING (host, pipeline) WHERE n IS NOT calls OR slow <> slow_calls OR most <> max_latency_ps;

-- a device is busy or idle, computing is busy, and no more is exposed than there is
SELECT 1 FROM device_time('x') WHERE busy_ps + idle_ps <> span_ps OR computing_ps > busy_ps
    OR busy_ps > computing_ps + communicating_ps + transferring_ps
 OR exposed_communication_ps > communicating_ps OR exposed_transfer_ps > transferring_ps
     OR exposed_communication_ps + computing_ps > span_ps
 OR exposed_ps < max(exposed_communication_ps, exposed_transfer_ps)
     OR exposed_ps > exposed_communication_ps + exposed_transfer_ps
     OR exposed_ps + computing_ps > span_ps
 OR abs(busy_percent + idle_percent - 100) > 1e-9 UNION ALL
SELECT 1 FROM device_time('x') AS t WHERE kind = 'gpu'
    AND (busy_ps IS NULL) <> NOT EXISTS (SELECT 1 FROM lines('x')
                                         JOIN trace_events('x') USING (line_id)
 WHERE lines.plane_id = t.plane_id AND kind = 'stream' AND NOT lines.derived
     AND occurrences IS NULL);

-- combinations of activities add up to the activities, by step and by line too; a device is idle if
-- nothing runs, and does not compute while it waits
SELECT 1 FROM device_time('x') AS d JOIN (SELECT plane_id, sum(duration_ps) AS a, sum(idle_ps) AS b,
                                          sum(duration_ps * (activity LIKE '%computing%')) AS c,
                                          sum(duration_ps * (activity LIKE '%communicating%')) AS e,
 sum(duration_ps * (activity LIKE 'communicating%')) AS f,
 sum(duration_ps * (activity LIKE '%transferring')) AS g,
 sum(duration_ps * (activity LIKE '%transferring' AND activity NOT LIKE 'computing%')) AS h
 FROM time_breakdown('x') GROUP BY 1) USING (plane_id) WHERE a <> span_ps OR b <> idle_ps
     OR c <> computing_ps OR e <> communicating_ps OR f <> exposed_communication_ps
     OR g <> transferring_ps OR h <> exposed_transfer_ps UNION ALL
SELECT 1 FROM (SELECT plane_id, activity, sum(duration_ps) AS a, sum(waiting_ps) AS b,
               sum(idle_ps) AS c FROM time_breakdown('x', 1) GROUP BY 1, 2)
 FULL JOIN time_breakdown('x') USING (plane_id, activity) WHERE a IS NOT duration_ps
     OR b IS NOT waiting_ps OR c IS NOT idle_ps UNION ALL
SELECT 1 FROM (SELECT plane_id, sum(duration_ps) AS a FROM time_breakdown('x', 1, 1)
               GROUP BY plane_id, line_id) JOIN device_time('x') USING (plane_id) WHERE a <> span_ps
 UNION ALL
SELECT 1 FROM time_breakdown('x', 1) WHERE duration_ps <= 0 OR waiting_ps + idle_ps > duration_ps
    OR (waiting_ps > 0 AND activity LIKE 'computing%')
    OR (activity = 'none' AND idle_ps <> duration_ps)
 OR (step IS NOT NULL AND step NOT IN (SELECT step FROM steps('x'))) UNION ALL
SELECT 1 FROM device_time('x') WHERE span_ps > 0
    AND plane_id NOT IN (SELECT plane_id FROM time_breakdown('x'));

-- what a device does in steps and outside adds up to what it does; the query of steps repeats the
-- table
SELECT 1 FROM device_steps('x') WHERE exposed_communication_ps > communicating_ps
    OR exposed_transfer_ps > transferring_ps OR (step IS NULL) <> (duration_ps IS NULL) UNION ALL
SELECT 1 FROM (SELECT plane_id, sum(communicating_ps) AS a, sum(exposed_communication_ps) AS b,
               sum(transferring_ps) AS c, sum(exposed_transfer_ps) AS d FROM device_steps('x')
 GROUP BY 1)
 JOIN device_time('x') USING (plane_id) WHERE a <> communicating_ps OR b <> exposed_communication_ps
     OR c <> transferring_ps OR d <> exposed_transfer_ps UNION ALL
SELECT 1 FROM device_time('x') WHERE kind <> 'sparsecore' AND communicating_ps + transferring_ps > 0
    AND EXISTS (SELECT 1 FROM steps('x'))
 AND plane_id NOT IN (SELECT plane_id FROM device_steps('x')) UNION ALL
SELECT 1 FROM device_steps('x') WHERE step NOT IN (SELECT step FROM steps('x')) UNION ALL
SELECT 1 FROM (SELECT count(*) AS n, total(communicating_ps) / 1e9 AS a,
               total(exposed_transfer_ps) / 1e9 AS b FROM device_steps('x')),
 (SELECT count(*) AS m, total(communicating_ms) AS c, total(exposed_transfer_ms) AS d
  FROM exposed_communication_by_step('x')) WHERE n <> m OR abs(a - c) > 1e-6 OR abs(b - d) > 1e-6;

-- what a transfer exposes and what is hidden make up its duration
SELECT 1 FROM async_ops('x') WHERE exposed_ps + hidden_ps <> duration_ps OR exposed_ps < 0
    OR hidden_ps < 0 UNION ALL
SELECT 1 FROM (SELECT total(exposed_us) AS us FROM exposed_communication('x')),
       (SELECT total(exposed_ps) / 1e6 AS us2 FROM async_ops('x', 1))
 WHERE abs(us - us2) > 1e-6 * us2 + 1e-6 UNION ALL
SELECT 1 FROM collectives('x') WHERE min_ps > max_ps OR total_ps < max_ps OR wait_ps > total_ps
    OR wait_ps < 0 OR global_wait_ps > total_ps OR global_wait_ps < wait_ps
 OR global_wait_ps <> wait_ps AND NOT spans_hosts
     OR (global_wait_ps IS NULL) <> (spans_hosts IS NULL) OR message_bytes < bytes
     OR bus_gibps >= 2 * algorithm_gibps;

-- events that tables refer to exist
SELECT 1 FROM async_ops('x') WHERE start_event_id NOT IN (SELECT event_id FROM trace_events('x'))
    OR done_event_id IS NOT NULL AND done_event_id NOT IN (SELECT event_id FROM trace_events('x'))
 UNION ALL
SELECT 1 FROM perf_counters('x') WHERE event_id IS NOT NULL
    AND event_id NOT IN (SELECT event_id FROM trace_events('x')) UNION ALL
SELECT 1 FROM tf_data_calls('x') WHERE event_id NOT IN (SELECT event_id FROM trace_events('x'))
 UNION ALL
SELECT 1 FROM memory_events('x') WHERE event_id NOT IN (SELECT event_id FROM trace_events('x'))
 UNION ALL
SELECT 1 FROM dcn_messages('x') WHERE event_id NOT IN (SELECT event_id FROM trace_events('x'))
 UNION ALL
SELECT 1 FROM devices('x') WHERE plane_id NOT IN (SELECT plane_id FROM planes('x'));

-- values of columns with a list of words are among those that prof_columns lists
SELECT 1 FROM planes('x') WHERE kind NOT IN ('host', 'tensorcore', 'sparsecore', 'gpu', 'metadata',
                                             'custom', 'other') UNION ALL
SELECT 1 FROM lines('x')
 WHERE instr((SELECT description FROM prof_columns WHERE table_name = 'lines'
              AND "column" = 'kind'), kind) = 0 UNION ALL
SELECT 1 FROM prof_issues('x') WHERE severity NOT IN ('error', 'warning', 'info')
    OR instr((SELECT description FROM prof_columns WHERE table_name = 'prof_issues'
              AND "column" = 'code'), code) = 0 UNION ALL
SELECT 1 FROM op_profile('x', 'provenance')
 WHERE kind NOT IN ('root', 'program', 'provenance', 'category', 'duplicates', 'op') UNION ALL
SELECT 1 FROM overview('x')
 WHERE instr((SELECT description FROM prof_columns WHERE table_name = 'overview'
              AND "column" = 'section'), section) = 0 UNION ALL
SELECT 1 FROM input_pipeline('x')
 WHERE hardware NOT IN ('UNKNOWN_HARDWARE', 'CPU_ONLY', 'GPU', 'TPU')
     OR input_verdict NOT IN ('host', 'both', 'device', 'unknown') UNION ALL
SELECT 1 FROM tf_data_iterators('x')
 WHERE instr((SELECT description FROM prof_columns WHERE table_name = 'tf_data_iterators'
              AND "column" = 'suggestion'), suggestion) = 0 UNION ALL
SELECT 1 FROM roofline('x')
 WHERE instr((SELECT description FROM prof_columns WHERE table_name = 'roofline'
              AND "column" = 'bound_by'), bound_by) = 0 UNION ALL
SELECT 1 FROM recommendations('x') WHERE severity NOT IN ('error', 'warning', 'info')
    OR tip_type NOT IN ('faq', 'host', 'device', 'doc')
    OR section NOT IN ('overview_page', 'input_pipeline_analyzer', 'smart_suggestion',
                       'more_suggestions', 'libprofsql');


-- shares of a whole add up to 100 (true files)
SELECT 1 FROM (SELECT total(self_time_percent) AS p, max(self_time_percent) AS most
               FROM top_ops('x', 1000000) GROUP BY run, place) WHERE most IS NOT NULL
                   AND abs(p - 100) > 1e-6 UNION ALL
SELECT 1 FROM (SELECT total(percent) AS p, max(percent) AS most FROM op_time_by_category('x')
               GROUP BY run, host_or_device) WHERE most IS NOT NULL AND abs(p - 100) > 1e-6
 UNION ALL
SELECT 1 FROM (SELECT total(percent_of_ops) AS p, max(percent_of_ops) AS most
               FROM op_time_by_category('x') GROUP BY run, host_or_device) WHERE most IS NOT NULL
                   AND abs(p - 100) > 1e-6 UNION ALL
SELECT 1 FROM (SELECT total(line_percent) AS p, max(line_percent) AS most
               FROM op_time_by_line('x', 1000000) GROUP BY run, host, plane, line)
 WHERE most IS NOT NULL AND abs(p / 100 - round(p / 100)) > 1e-6 UNION ALL
SELECT 1 FROM (SELECT total(percent) AS p, max(percent) AS most FROM host_bound('x') GROUP BY run)
 WHERE most IS NOT NULL AND abs(p - 100) > 1e-6;

-- kpi sums up devices and steps as their tables have them
WITH given AS MATERIALIZED (SELECT * FROM kpi('x'))
SELECT 1 FROM given AS k
    JOIN (SELECT run, count(span_ps) AS n, 100.0 * sum(busy_ps) / sum(span_ps) AS busy,
          100.0 * sum(computing_ps) / sum(span_ps) AS computing,
 100.0 * sum(communicating_ps) / sum(span_ps) AS communicating,
 100.0 * sum(exposed_communication_ps) / sum(span_ps) AS exposed FROM device_time('x') WHERE is_main
  GROUP BY 1) USING (run)
 WHERE active_device_count <> n OR abs(busy - device_busy_percent) > 1e-9
     OR abs(computing - compute_percent) > 1e-9 OR abs(communicating - collectives_percent) > 1e-9
 OR abs(exposed - exposed_communication_percent) > 1e-9 UNION ALL
SELECT 1 FROM device_time('x')
 WHERE is_main <> (kind <> 'sparsecore'
                   OR NOT EXISTS (SELECT 1 FROM device_time('x') WHERE span_ps IS NOT NULL
                                  AND kind <> 'sparsecore')) UNION ALL
SELECT 1 FROM given AS k JOIN (SELECT run, count(*) AS n FROM steps('x') WHERE NOT dropped
                               GROUP BY 1) USING (run) WHERE step_count <> n UNION ALL
SELECT 1 FROM given WHERE compute_percent + exposed_communication_percent > device_busy_percent
    + 100 * 1e-9 AND hardware = 'GPU';

-- idle time within the work of a device is in its gaps (true files)
SELECT 1 FROM (SELECT run, plane_id, plane, busy_ps, own FROM device_time('x')
               JOIN (SELECT plane_id, max(end_ps) - min(start_ps) AS own FROM trace_events('x') JOIN
 (SELECT line_id FROM lines('x') WHERE kind IN ('stream', 'ops') AND NOT derived) USING (line_id)
  WHERE occurrences IS NULL AND duration_ps >= 0 GROUP BY 1) USING (plane_id)
  WHERE kind IN ('gpu', 'tensorcore'))
 LEFT JOIN (SELECT plane, total(duration_us) * 1e6 AS gaps FROM idle_gaps('x', 1000000) GROUP BY 1)
     USING (plane)
 WHERE (SELECT count(*) FROM hosts('x')) = 1 AND abs(own - busy_ps - coalesce(gaps, 0)) > 1
     + 1e-9 * own;

-- time by op, by line and by device is the events' time (true files)
SELECT 1 FROM (SELECT total(self_time_us) AS us FROM top_ops('x', 1000000)),
       (SELECT total(self_ps) / 1e6 AS us2 FROM trace_events('x') WHERE NOT derived AND CASE
 WHEN EXISTS (SELECT 1 FROM trace_events('x') WHERE NOT derived
              AND plane_kind IN ('gpu', 'tensorcore', 'sparsecore'))
 THEN plane_kind = 'gpu' OR plane_kind IN ('tensorcore', 'sparsecore') AND line_kind = 'ops'
     ELSE plane_kind = 'host' END) WHERE abs(us - us2) > 1e-9 * us2 UNION ALL
SELECT 1 FROM (SELECT total(self_time_us) AS us FROM op_time_by_line('x', 1000000)),
       (SELECT total(self_ps) / 1e6 AS us2 FROM trace_events('x') WHERE NOT derived)
 WHERE abs(us - us2) > 1e-9 * us2 UNION ALL
SELECT 1 FROM (SELECT total(total_time_us) AS us, total(occurrences) AS n
               FROM kernel_time_by_op('x', 1000000)),
                   (SELECT total(duration_ps) / 1e6 AS us2, count(*) AS m FROM trace_events('x')
 WHERE plane_kind = 'gpu' AND NOT derived AND line_kind = 'stream')
  WHERE abs(us - us2) > 1e-9 * us2;

-- a launch comes with its kernel, and ranks follow the times
SELECT 1 FROM (SELECT total(launches) AS n FROM launch_latency('x', 1000000)),
       (SELECT count(*) AS m FROM trace_events('x') AS k WHERE plane_kind = 'gpu' AND NOT derived
        AND correlation_id IS NOT NULL
 AND EXISTS (SELECT 1 FROM trace_events('x') AS l WHERE l.correlation_id = k.correlation_id
             AND l.host = k.host AND l.plane_kind = 'host')) WHERE n <> m UNION ALL
SELECT 1 FROM launch_latency('x', 1000000) WHERE avg_latency_us > max_latency_us + 1e-9
    OR median_latency_us > max_latency_us + 1e-9 UNION ALL
SELECT 1 FROM slowest_steps('x', 1000000) AS a JOIN slowest_steps('x', 1000000) AS b USING (run)
 WHERE a.rank < b.rank AND a.duration_ms < b.duration_ms UNION ALL
SELECT 1 FROM top_ops('x', 1000000) WHERE min_time_us > max_time_us
    OR avg_time_us NOT BETWEEN min_time_us - 1e-6 AND max_time_us + 1e-6;

-- rows come in this order without an ORDER BY, for whoever reads the first ones (true files)
SELECT 'collectives'
 FROM (SELECT nth, row_number() OVER (ORDER BY plane_id, total_ps DESC, program_id, name,
                                      nth) AS wanted
 FROM (SELECT plane_id, total_ps, program_id, name, row_number() OVER () AS nth
       FROM collectives('x'))) WHERE nth <> wanted UNION ALL
SELECT 'device_steps'
 FROM (SELECT nth, row_number() OVER (ORDER BY plane_id, step NULLS LAST, nth) AS wanted
       FROM (SELECT plane_id, step, row_number() OVER () AS nth FROM device_steps('x')))
 WHERE nth <> wanted UNION ALL
SELECT 'async_ops'
 FROM (SELECT nth, row_number() OVER (ORDER BY plane_id, start_ps, start_event_id, nth) AS wanted
       FROM (SELECT plane_id, start_ps, start_event_id, row_number() OVER () AS nth
             FROM async_ops('x'))) WHERE nth <> wanted UNION ALL
SELECT 'memory_events'
 FROM (SELECT nth, row_number() OVER (ORDER BY host, allocator, line_time_ps, event_id,
                                      nth) AS wanted
 FROM (SELECT host, allocator, line_time_ps, event_id, row_number() OVER () AS nth
       FROM memory_events('x'))) WHERE nth <> wanted UNION ALL
SELECT 'inference_requests'
 FROM (SELECT nth, row_number() OVER (ORDER BY shown_by_xprof DESC, model, rank, nth) AS wanted
       FROM (SELECT shown_by_xprof, model, rank, row_number() OVER () AS nth
             FROM inference_requests('x'))) WHERE nth <> wanted UNION ALL
SELECT 'steps' FROM (SELECT nth, row_number() OVER (ORDER BY step, nth) AS wanted
                     FROM (SELECT step, row_number() OVER () AS nth FROM steps('x')))
 WHERE nth <> wanted UNION ALL
SELECT 'kernel_stats' FROM (SELECT nth, row_number() OVER (ORDER BY rank, nth) AS wanted
                            FROM (SELECT rank, row_number() OVER () AS nth FROM kernel_stats('x')))
 WHERE nth <> wanted UNION ALL
SELECT 'kernel_ops'
 FROM (SELECT nth, row_number() OVER (ORDER BY total_duration_us DESC, kernel_name, op_name, host,
                                      nth) AS wanted
 FROM (SELECT total_duration_us, kernel_name, op_name, host, row_number() OVER () AS nth
       FROM kernel_ops('x'))) WHERE nth <> wanted UNION ALL
SELECT 'hlo_ops' FROM (SELECT nth, row_number() OVER (ORDER BY rank = 0, rank, nth) AS wanted
                       FROM (SELECT rank, row_number() OVER () AS nth FROM hlo_ops('x')))
 WHERE nth <> wanted UNION ALL
SELECT 'tf_ops' FROM (SELECT nth, row_number() OVER (ORDER BY rank, nth) AS wanted
                      FROM (SELECT rank, row_number() OVER () AS nth FROM tf_ops('x')))
 WHERE nth <> wanted UNION ALL
SELECT 'input_ops'
 FROM (SELECT nth, row_number() OVER (ORDER BY total_self_time_ms DESC, operation, nth) AS wanted
       FROM (SELECT total_self_time_ms, operation, row_number() OVER () AS nth FROM input_ops('x')))
 WHERE nth <> wanted;

-- a kernel has one short name in all tables, and no other kernel has it (true files)
SELECT 1 FROM (SELECT kernel_name AS name, short_name FROM kernel_stats('x', 0)
               UNION SELECT kernel_name, short_name FROM kernel_ops('x') UNION SELECT kernel_name,
               short_name FROM top_kernels('x')
 UNION SELECT kernel_name, short_name FROM tensorcore_missed('x') UNION SELECT kernel, short_name
  FROM launch_latency('x') UNION SELECT name, short_name FROM event_totals('x')
  WHERE plane_kind = 'gpu'
 UNION SELECT name, short_name FROM trace_events('x') WHERE plane_kind = 'gpu') GROUP BY name
  HAVING count(*) > 1 UNION ALL
SELECT 1 FROM (SELECT name, short_name FROM event_totals('x') WHERE plane_kind = 'gpu'
               UNION SELECT kernel_name, short_name FROM kernel_stats('x', 0)) GROUP BY short_name
 HAVING count(*) > 1;

-- queries show the short names of the events that they name
WITH events AS MATERIALIZED (SELECT DISTINCT display_name, short_name, 1 AS known
                             FROM event_totals('x')),
     kernels AS MATERIALIZED (SELECT DISTINCT kernel_name, short_name, 1 AS known
                              FROM kernel_ops('x')),
     compared AS MATERIALIZED (SELECT * FROM compare_kernels('x', 'x'))
SELECT 1 FROM idle_gaps('x')
    LEFT JOIN events AS e ON e.display_name = before AND e.short_name = before_short_name
    LEFT JOIN events AS f ON f.display_name = after AND f.short_name = after_short_name
 WHERE e.known IS NULL OR f.known IS NULL UNION ALL
SELECT 1 FROM top_ops('x') AS o
    LEFT JOIN events AS e ON e.display_name = operation AND e.short_name = o.short_name
 WHERE e.known IS NULL UNION ALL
SELECT 1 FROM compare_ops('x', 'x', 'operation') AS o
    LEFT JOIN events AS e ON e.display_name = operation AND e.short_name = o.short_name
 WHERE e.known IS NULL UNION ALL
SELECT 1 FROM compare_ops('x', 'x', 'kernel') AS o
    LEFT JOIN kernels AS e ON e.kernel_name = operation AND e.short_name = o.short_name
 WHERE e.known IS NULL UNION ALL
SELECT 1 FROM compared AS o LEFT JOIN kernels AS e USING (kernel_name, short_name)
 WHERE e.known IS NULL UNION ALL
SELECT 1 FROM compared WHERE run_a <> 'x' OR run_b <> 'x';

-- MFU: steps as in flops_utilization_by_step, the run as in kpi; no more operations are needed than
-- are executed, except with 8-bit types; busy time is part of the span
WITH given AS MATERIALIZED (SELECT * FROM mfu('x')),
     by_step AS MATERIALIZED (SELECT * FROM flops_utilization_by_step('x'))
SELECT 1 FROM (SELECT run, step, mfu_percent, hfu_percent, model_flops FROM given
               WHERE scope = 'step') AS m
 JOIN by_step AS f USING (run, step) WHERE f.model_flops IS NOT m.model_flops
 OR (mfu_percent IS NULL) <> (model_utilization_percent IS NULL)
     OR (hfu_percent IS NULL) <> (utilization_percent IS NULL)
 OR abs(mfu_percent - model_utilization_percent) > 1e-9 * mfu_percent
     OR abs(hfu_percent - utilization_percent) > 1e-9 * hfu_percent UNION ALL
SELECT 1 FROM given AS m JOIN kpi('x') AS k USING (run) WHERE scope = 'run'
    AND m.mfu_percent IS NOT k.mfu_percent UNION ALL
SELECT 1 FROM (SELECT count(*) AS n FROM given WHERE scope = 'step'),
       (SELECT count(*) AS m FROM by_step) WHERE n <> m
       AND EXISTS (SELECT 1 FROM given) UNION ALL
SELECT 1 FROM given WHERE scope = 'run'
    AND (busy_ms > span_ms * (1 + 1e-9) OR mfu_busy_percent < mfu_percent * (1 - 1e-9)) UNION ALL
SELECT 1 FROM given WHERE (mfu_percent IS NULL AND mfu_busy_percent IS NULL)
    <> (missing IS NOT NULL) AND span_ms > 0;

-- launches are those of launch_latency; a kernel waits in its queue for no longer than its delay; a
-- stack starts with its frame (true files)
SELECT 1 FROM launch_latency('x') AS l
    LEFT JOIN (SELECT run, name, count(*) AS n, total(delay_ps) AS ps FROM launch_delays('x')
               GROUP BY 1, 2) AS d
 ON l.run = d.run AND l.kernel = d.name WHERE d.n IS NOT l.launches
     OR abs(ps - l.launches * avg_latency_us * 1e6) > 1e-6 * abs(ps) + 1 UNION ALL
SELECT 1 FROM (SELECT count(DISTINCT name) AS n FROM launch_delays('x')),
       (SELECT count(*) AS m FROM launch_latency('x')) WHERE n <> m UNION ALL
SELECT 1 FROM launch_delays('x') WHERE queued_ps < 0 OR queued_ps > max(delay_ps, 0)
    OR (python_frame IS NULL) <> (python_stack IS NULL)
 OR substr(python_stack || char(10), 1, length(python_frame) + 1) <> python_frame || char(10)
     OR (annotation IS NULL) <> (annotation_event_id IS NULL);

-- programs within the span, those at once counted once, and the gaps between them add up to the
-- span; a gap is idle where the device is, and busy in the rest
SELECT 1 FROM (SELECT plane_id, sum(duration_ps) AS gaps, sum(idle_ps) AS idle,
               count(before_program_id) AS n FROM program_gaps('x') GROUP BY 1)
               JOIN device_time('x') AS d USING (plane_id)
 LEFT JOIN (SELECT plane_id, sum(end_ps - start_ps) AS runs
            FROM (SELECT plane_id, max(start_ps, reached) AS start_ps, min(end_ps, until) AS end_ps
  FROM (SELECT p.plane_id, t.start_ps + t.span_ps AS until, p.start_ps + p.duration_ps AS end_ps,
        p.start_ps,
   coalesce(max(t.start_ps,
                max(p.start_ps + p.duration_ps) OVER (
                    PARTITION BY p.plane_id ORDER BY p.start_ps, p.duration_ps DESC
                    ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)), t.start_ps) AS reached
   FROM program_runs('x') AS p JOIN device_time('x') AS t USING (plane_id))) WHERE end_ps > start_ps
    GROUP BY 1) USING (plane_id)
 WHERE gaps + coalesce(runs, 0) <> span_ps OR d.idle_ps < idle UNION ALL
SELECT 1 FROM program_gaps('x') WHERE duration_ps <= 0 OR idle_ps < 0 OR idle_ps > duration_ps
 UNION ALL
SELECT 1 FROM (SELECT count(*) AS n FROM program_runs('x') AS p JOIN planes('x') USING (plane_id)
               WHERE kind <> 'gpu'),
 (SELECT count(*) AS m FROM trace_events('x') WHERE line_kind = 'modules' AND NOT derived
  AND occurrences IS NULL AND plane_kind IN ('tensorcore', 'sparsecore')) WHERE n <> m;

-- program_totals: the executions of program_runs
SELECT 1 FROM (SELECT plane_id, program_id, hlo_module, sum(executions) AS n, sum(total_us) AS us,
 min(min_us) AS least, max(max_us) AS most FROM program_totals('x') GROUP BY 1, 2, 3) AS t
 FULL JOIN (SELECT plane_id, program_id, hlo_module, count(*) AS n, sum(duration_us) AS us,
 min(duration_us) AS least, max(duration_us) AS most FROM program_runs('x') GROUP BY 1, 2, 3) AS r
 ON r.plane_id = t.plane_id AND r.program_id IS t.program_id AND r.hlo_module IS t.hlo_module
 WHERE t.n IS NOT r.n OR abs(t.us - r.us) > 1e-9 * r.us OR t.least IS NOT r.least
     OR t.most IS NOT r.most;

-- op_percentiles: every event with a duration of its own counts once, in the row of its name
SELECT 1 FROM (SELECT host, plane_kind, line_kind, name, sum(occurrences) AS n,
               sum(total_us) AS total, min(min_us) AS low, max(max_us) AS high
 FROM op_percentiles('x') GROUP BY 1, 2, 3, 4) AS p
 FULL JOIN (SELECT host, plane_kind, line_kind, name, count(*) AS n, sum(duration_us) AS total,
            min(duration_us) AS low, max(duration_us) AS high
            FROM trace_events('x') WHERE NOT derived AND occurrences IS NULL GROUP BY 1, 2, 3,
                4) AS t
 USING (host, plane_kind, line_kind, name) WHERE p.n IS NOT t.n
     OR abs(p.total - t.total) > 1e-9 * abs(t.total) OR p.low IS NOT t.low OR p.high IS NOT t.high
  UNION ALL
SELECT 1 FROM op_percentiles('x')
 WHERE NOT (min_us <= p50_us AND p50_us <= p90_us AND p90_us <= p99_us AND p99_us <= max_us)
     OR (stddev_us IS NULL) <> (occurrences = 1);

-- step_ops: one row for each name in a step, of steps that are shown; self time nests in the total
-- (true files)
SELECT 1 FROM step_ops('x') GROUP BY run, host, step, plane_kind, name, in_group HAVING count(*) > 1
 UNION ALL
SELECT 1 FROM step_ops('x') WHERE occurrences < 1
    OR (run, step) NOT IN (SELECT run, step FROM steps('x')) UNION ALL
SELECT 1 FROM (SELECT host, plane_kind, name, sum(occurrences) AS n FROM step_ops('x') GROUP BY 1,
               2, 3) AS s
 LEFT JOIN (SELECT host, plane_kind, name, count(*) AS n FROM trace_events('x') WHERE NOT derived
            AND occurrences IS NULL GROUP BY 1, 2, 3) AS t
 ON s.host = t.host AND s.plane_kind = t.plane_kind AND s.name = t.name WHERE t.n IS NULL
     OR t.n < s.n;

-- step_op_spread: one row for each op of a complete or the longest step; it did not run in more
-- steps than there are, and varies if it ran in some of them only
SELECT 1 FROM step_op_spread('x') GROUP BY run, plane_kind, name, in_group HAVING count(*) > 1
 UNION ALL
SELECT 1 FROM step_op_spread('x') AS o
 WHERE steps > (SELECT count(*) FROM steps('x') WHERE NOT dropped) OR other_steps > steps
    OR steps + occurrences = 0 OR step <> (SELECT step FROM steps('x') ORDER BY duration_us DESC,
                                            step LIMIT 1)
    OR occurrences <> (SELECT total(occurrences) FROM step_ops('x') AS s WHERE s.step = o.step
                       AND s.plane_kind = o.plane_kind AND s.name = o.name
                       AND s.in_group = o.in_group);

-- step_variance: what the ops explain and the remainder are all of the variance
SELECT 1 FROM step_variance('x', NULL) GROUP BY run
 HAVING abs(sum(variance_percent) - 100) > 1e-6 * total(abs(variance_percent))
 OR sum(name IS NULL) <> 1;

-- hlo_ops.time_ps_actual is known of all ops, and differs from time_ps on GPUs only
SELECT 1 FROM hlo_ops('x') WHERE (time_ps_actual IS NULL) <> (category = 'IDLE')
    OR (core_type <> '' AND time_ps_actual <> time_ps);

-- no two ops with a rank in hlo_ops are one instruction of one program on GPUs
SELECT 1 FROM hlo_ops('x') WHERE rank > 0 AND core_type = ''
 GROUP BY run, program_id, hlo_op HAVING count(*) > 1;
