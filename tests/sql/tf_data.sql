-- One job whose pipeline sleeps 30 ms for each element, and the same with prefetch: who waits for
-- whom, and for what.
.bail off
SELECT 'every element is waited for', pipeline, kind, calls, slow_calls, min_latency_ps > 30e9,
       is_input_bound, bottleneck, bottleneck_ps > 30e9, suggestion
  FROM tf_data_pipelines('tests/data/tf_input_slow');
SELECT 'prefetch makes most before', calls, avg_latency_ps < 5e9, max_latency_ps < 30e9, bottleneck
    FROM tf_data_pipelines('tests/data/tf_input_prefetched');
SELECT 'what sleeps', run, name, blocking, count(*), min(self_ps) > 30e9
    FROM tf_data_iterators('tests/data/tf_input_slow') WHERE name = 'Map' GROUP BY run, blocking;
SELECT 'what sleeps', run, name, blocking, count(*), min(self_ps) > 30e9
    FROM tf_data_iterators('tests/data/tf_input_prefetched') WHERE name = 'Map' GROUP BY run,
        blocking;
SELECT 'calls are of steps', count(*), count(DISTINCT group_id)
    FROM tf_data_calls('tests/data/tf_input_slow') JOIN host_steps('tests/data/tf_input_slow')
        USING (run, host, group_id);
SELECT 'a call''s times', count(*) = 0 FROM tf_data_calls('tests/data/tf_input_slow') c
    JOIN trace_events('tests/data/tf_input_slow') e USING (run, event_id)
 WHERE (c.start_ps, c.duration_ps) IS NOT (e.start_ps, e.duration_ps);
SELECT 'verdict of the steps', run, input_verdict, input_percent > 20, input_percent < 5
    FROM input_pipeline('tests/data/tf_input_slow');
SELECT 'verdict of the steps', run, input_verdict, input_percent > 20, input_percent < 5
    FROM input_pipeline('tests/data/tf_input_prefetched');
SELECT 'all pipelines of another recording', pipeline, calls, slow_calls, bottleneck
    FROM tf_data_pipelines('tests/data/tf_fit_input_bound');
