-- Memory profile: XProf's own test vector, what is true beside XProf's numbers, and the queries.
.bail off
SELECT prof_attach('tests/data/memory_odd', 'odd');

-- the vector: 3 events of GPU_0_bfc
SELECT 'allocator', lifetime_peak_bytes = 9500, profile_peak_bytes = 7000,
       peak_line_time_ps = 70000, capacity_bytes = 10000, heap_bytes_at_peak = 5000,
       stack_bytes_at_peak = 2000, free_bytes_at_peak = 3000, fragmentation_at_peak_fraction = 0.25,
       allocation_count = 2, free_count = 1, unmatched_free_count = 0
  FROM memory_allocators('odd/vector') WHERE allocator = 'GPU_0_bfc';
SELECT 'all are sampled', count(*) = 3, sum(sampled) = 3 FROM memory_events('odd/vector');
SELECT 'a free knows its op', tf_op = 'foo/bar', data_type = 'INVALID', region_type IS NULL,
       live_until_ps IS NULL FROM memory_events('odd/vector') WHERE activity = 'DEALLOCATION';
SELECT 'an allocation knows its free', live_until_ps = 50000, match_event_id = event_id + 1
    FROM memory_events('odd/vector') WHERE tf_op = 'foo/bar' AND activity = 'ALLOCATION';
SELECT rank, tf_op, allocation_bytes, requested_bytes, occurrences, region_type, data_type, shape,
       special, step FROM memory_active('odd/vector');
SELECT 'live at the peak', group_concat(tf_op) = 'mul_grad/Sum', sum(allocated_bytes) = 300
    FROM live_allocations('odd/vector') WHERE kind = 'allocation';
SELECT 'made before the capture and beside the heap', group_concat(kind || ' ' || allocated_bytes)
    = 'earlier 4700,stack 2000,allocation 300' FROM live_allocations('odd/vector');
SELECT 'live at the first', group_concat(tf_op) = 'foo/bar', sum(allocated_bytes) = 256,
       oldest_us = 0
  FROM live_allocations('odd/vector', (SELECT event_id FROM memory_events('odd/vector')
                                       WHERE time_ps = 40000)) WHERE kind = 'allocation';
SELECT 'nothing is live when it is freed', count(*) = 0
    FROM live_allocations('odd/vector', (SELECT event_id FROM memory_events('odd/vector')
                                         WHERE time_ps = 50000)) WHERE kind = 'allocation';
SELECT tf_op, allocations, allocated_bytes, largest_bytes, freed, avg_life_us, rounding_percent
    FROM allocation_churn('odd/vector');

-- unknown is NULL, XProf's zeros are kept and said so
SELECT 'nothing but a name', tf_op IS NULL, region_type IS NULL, data_type IS NULL, shape IS NULL,
       group_id IS NULL, requested_bytes = 0, address = '0'
  FROM memory_events('odd/types') WHERE allocator = '' AND line_time_ps = 3;
SELECT 'the last name counts', count(*) FILTER (WHERE allocator = '3') = 1,
       count(*) FILTER (WHERE allocator = '4') = 1, count(*) FILTER (WHERE allocator = 'last') = 1
    FROM memory_events('odd/types');
SELECT 'sums below zero have no peak', profile_peak_bytes = 0, peak_time_ps IS NULL,
       peak_event_id IS NULL FROM memory_allocators('odd/types') WHERE allocator = 'negative';
SELECT 'one group of events with a peak', allocator, peak_time_ps - peak_line_time_ps
    FROM memory_allocators('odd/order') WHERE allocator IN ('peak of equals', 'freed early');
SELECT 'lifetime', lifetime_peak_bytes = -20, lifetime_peak_bytes_actual = 9
    FROM memory_allocators('odd/order') WHERE allocator = 'peak of equals';

-- samples
SELECT 'XProf draws 1000', count(*) = 2, min(n) = 1000, max(n) = 1000
    FROM (SELECT sum(sampled) AS n FROM memory_events('odd/samples') GROUP BY allocator);
SELECT 'others draw others', min(n) = 7, max(n) = 7
    FROM (SELECT sum(sampled) AS n FROM memory_events('odd/samples', 7) GROUP BY allocator);
SELECT 'the largest is among them', count(*) = 2, sum(largest = heap_bytes_at_peak) = 2
  FROM memory_allocators('odd/samples')
      JOIN (SELECT allocator, max(heap_bytes) AS largest FROM memory_events('odd/samples', 7)
            WHERE sampled GROUP BY allocator) USING (allocator);
SELECT 'none', sum(sampled) = 0 FROM memory_events('odd/samples', 0);
SELECT 'looked up as walked', count(*) = 3101,
       sum(a.sampled IS NOT b.sampled OR a.time_ps IS NOT b.time_ps
           OR a.allocator IS NOT b.allocator) = 0
  FROM memory_events('odd/samples', 100) AS a CROSS JOIN memory_events('odd/samples', 100) AS b
      USING (run, event_id);
EXPLAIN QUERY PLAN SELECT time_ps FROM memory_events('odd') WHERE event_id = 7;

-- what is not shown, or not known, is said
SELECT count(*), group_concat(allocator) FROM memory_allocators('odd/elsewhere');
SELECT host, severity, code, count, message FROM prof_issues('odd')
    WHERE code IN ('memory_events_elsewhere', 'free_without_allocation')
        AND host IN ('elsewhere', 'types', 'vector');
SELECT 'a parameter of the wrong type', samples FROM memory_events('odd', 'many');
