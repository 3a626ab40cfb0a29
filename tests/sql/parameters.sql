-- A parameter of the wrong type: the message names the table, the parameter, the value and what is wanted.
.bail off
SELECT * FROM top_ops('tests/data/tpu_train_54', 'text');
SELECT * FROM top_ops('tests/data/tpu_train_54', 2.5);
SELECT * FROM top_ops('tests/data/tpu_train_54', x'00');
SELECT * FROM top_ops(17);
SELECT * FROM idle_gaps('tests/data/tpu_train_54', 'ein sehr langer Text, der größer als vierzig Zeichen ist');
SELECT count(*) FROM top_ops('tests/data/tpu_train_54', 3);
SELECT count(*) FROM top_ops('tests/data/tpu_train_54', NULL);
SELECT count(*) FROM top_ops('tests/data/tpu_train_54') WHERE n = 3;
SELECT count(*), source, n FROM top_ops('tests/data/tpu_train_54', 3) WHERE rank = 1 OR occurrences > 0;
SELECT "column", type FROM prof_columns WHERE table_name = 'top_ops' AND type LIKE '%HIDDEN';
-- Where SQLite takes an OR apart it tests arguments again, and a NULL equals nothing: that is said, not an answer without rows.
SELECT count(*) FROM trace_events(NULL) WHERE event_id = 1 OR parent_id = 2;
SELECT count(*) FROM buffer_allocations('tests/data/tpu_train_54', NULL) WHERE hlo_op = 'a' OR memory_space = 0;
SELECT count(*) > 0 FROM buffer_allocations('tests/data/tpu_train_54', NULL) WHERE hlo_op = 'a' OR +memory_space = 0;
SELECT count(*) FROM trace_events('tests/data/tpu_train_54') WHERE event_id = 1 OR parent_id = 2;
