-- A parameter of the wrong type: the message names the table, the parameter, the value and what is
-- wanted.
.bail off
SELECT * FROM top_ops('tests/data/tpu_train_54', 'text');
SELECT * FROM top_ops('tests/data/tpu_train_54', 2.5);
SELECT * FROM top_ops('tests/data/tpu_train_54', x'00');
SELECT * FROM top_ops(17);
SELECT * FROM idle_gaps('tests/data/tpu_train_54',
                        'ein sehr langer Text, der größer als vierzig Zeichen ist');
SELECT count(*) FROM top_ops('tests/data/tpu_train_54', 3);
SELECT count(*) FROM top_ops('tests/data/tpu_train_54', NULL);
SELECT count(*) FROM top_ops('tests/data/tpu_train_54') WHERE n = 3;
SELECT count(*), source, n FROM top_ops('tests/data/tpu_train_54', 3) WHERE rank = 1
    OR occurrences > 0;
SELECT "column", type FROM prof_columns WHERE table_name = 'top_ops' AND type LIKE '%HIDDEN';
-- Numbers out of range.
SELECT * FROM top_ops('tests/data/tpu_train_54', -1);
SELECT count(*) FROM top_ops('tests/data/tpu_train_54', 0);
SELECT * FROM step_time_graph('tests/data/tpu_train_54', 0);
SELECT * FROM step_time_graph('tests/data/tpu_train_54', -3);
SELECT * FROM step_time_graph('tests/data/tpu_train_54', 1001);
SELECT max(length(graph)) FROM step_time_graph('tests/data/tpu_train_54', 1000);
SELECT max(length(graph)) FROM step_time_graph('tests/data/tpu_train_54', 1);
SELECT * FROM remat_candidates('tests/data/tpu_train_54', 5, -0.5);
SELECT * FROM tf_ops('tests/data/tpu_train_54', 2);
SELECT * FROM tf_ops('tests/data/tpu_train_54', 1, -3);
SELECT * FROM kernel_stats('tests/data/gpu_train_38', -3);
SELECT * FROM op_profile('tests/data/tpu_train_54', 'program', -1);
SELECT * FROM op_profile('tests/data/tpu_train_54', 'program', 1, -9);
SELECT * FROM op_profile('tests/data/tpu_train_54', 'nosuch');
SELECT * FROM buffer_allocations('tests/data/tpu_train_54', -5);
SELECT * FROM memory_events('tests/data/gpu_train_38', -5);
SELECT DISTINCT table_name, "column", unit FROM prof_columns WHERE type LIKE '%HIDDEN'
    AND (unit LIKE '% to %' OR unit LIKE '% or %');
-- What is not there.
SELECT * FROM live_allocations('tests/data/tf_fit_input_bound', 668);
SELECT count(*) > 0 FROM live_allocations('tests/data/tf_fit_input_bound', 669);
SELECT * FROM live_allocations('tests/data/gpu_train_38', 1);
SELECT * FROM compare_steps('tests/data/tpu_train_54', NULL);
SELECT * FROM compare_tf_ops(NULL, 'tests/data/tpu_train_54');
SELECT prof_error('why'), 1;
SELECT prof_error(NULL), 1;
SELECT * FROM prof_find('README.md');
SELECT * FROM prof_find('');
SELECT * FROM prof_find('/dev/null');
SELECT path, name, host_count
    FROM prof_find('tests/data/gpu_train_38/plugins/profile/gpu_train_38/gpu-worker.xplane.pb');
SELECT * FROM profsql_live('');
-- Where SQLite takes an OR apart it tests arguments again, and a NULL equals nothing: that is said,
-- not an answer without rows.
SELECT count(*) FROM trace_events(NULL) WHERE event_id = 1 OR parent_id = 2;
SELECT count(*) > 0, count(*) = (SELECT count(*) FROM buffer_allocations('tests/data/tpu_train_54')
                                 WHERE memory_space = 0)
    FROM buffer_allocations('tests/data/tpu_train_54', NULL) WHERE hlo_op = 'a' OR memory_space = 0;
SELECT count(*) FROM trace_events('tests/data/tpu_train_54') WHERE event_id = 1 OR parent_id = 2;
-- An argument that is read must be given in each part of the query, else rows would get lost in
-- silence.
SELECT count(*) FROM lines WHERE source = 'tests/data/gpu_train_38'
    OR source = 'tests/data/tpu_train_54';
SELECT count(*) FROM lines WHERE source = 'tests/data/gpu_train_38' OR run = 'x';
SELECT count(*) FROM lines WHERE +source = 'tests/data/gpu_train_38';
SELECT source FROM lines;
SELECT source FROM lines WHERE source IS NULL;
SELECT count(*) FROM top_ops('tests/data/tpu_train_54') WHERE n > 3;
SELECT count(*) FROM lines('tests/data/gpu_train_38' || char(0) || 'x');
SELECT prof_attach('tests/data/gpu_train_38' || char(0));
SELECT prof_attach('tests/data/gpu_train_38', 'a' || char(0));
SELECT count(*) FROM prof_find('tests' || char(0));
SELECT peak_flops('tests' || char(0));
SELECT * FROM prof_capture('no-port');
SELECT * FROM prof_monitor('localhost:9012', 0);
