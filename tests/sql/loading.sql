-- Loaded again, with or without a statement open, the library leaves its tables and the attached
-- runs alone.
SELECT prof_attach('tests/data/gpu_train_38', 'g');
SELECT load_extension('build/libprofsql') IS NULL;
SELECT count(*) FROM lines;
.load build/libprofsql
SELECT run, count(*) FROM lines GROUP BY run;
SELECT prof_attach('tests/data/tpu_train_54', 't'),
       load_extension('build/libprofsql', 'sqlite3_profsql_nofile_init') IS NULL;
SELECT count(*) FROM lines;
-- The entry for programs that run other people's SQL restricts the connection, and the other entry
-- leaves it so.
.open :memory:
SELECT load_extension('build/libprofsql', 'sqlite3_profsql_nofile_init') IS NULL;
SELECT count(*) FROM lines('tests/data/gpu_train_38');
SELECT interval_overlap(0, 2, 1, 2), load_extension('build/libprofsql') IS NULL;
SELECT count(*) FROM lines('tests/data/gpu_train_38');
SELECT prof_attach('tests/data/gpu_train_38', 'again'), interval_overlap(0, 2, 1, 2);
