-- The surface: what is promised is there, documented, and survives the user's own tables of the
-- same names.
.bail off
SELECT 'every table is documented', count(*) > 30,
       sum(replace(name, 'profsql.', '') NOT IN (SELECT table_name FROM prof_columns))
    FROM pragma_module_list
 WHERE NOT (name GLOB 'fts*' OR name GLOB 'rtree*' OR name GLOB 'json_*' OR name GLOB 'sqlite_*'
            OR name IN ('zipfile', 'completion', 'fsdir', 'generate_series', 'dbstat', 'geopoly',
                        'bytecode', 'tables_used', 'pragma_module_list'));
SELECT 'no column without words', count(*) = 0 FROM prof_columns
    WHERE coalesce(description, '') = '' OR coalesce(origin, '') = '' OR type IS NULL;
SELECT 'no function without words', count(*) = 0 FROM prof_functions
    WHERE coalesce(description, '') = '' OR coalesce(signature, '') = '';
SELECT 'units are in the names', count(*) = 0 FROM prof_columns WHERE "column" GLOB '*_ps'
    AND unit IS NOT 'ps' OR "column" GLOB '*_us' AND unit IS NOT 'us' OR "column" GLOB '*_bytes'
    AND unit IS NOT 'bytes';
SELECT 'starts and durations are in us too', count(*) = 0 FROM prof_columns AS p
 WHERE "column" IN ('start_ps', 'duration_ps')
     AND NOT EXISTS (SELECT 1 FROM prof_columns AS u WHERE u.table_name = p.table_name
                     AND u."column" = replace(p."column", '_ps', '_us'));
SELECT 'columns are those of the tables', count(*) = 0 FROM prof_columns AS c
 WHERE NOT EXISTS (SELECT 1 FROM pragma_table_xinfo(c.table_name) AS x WHERE x.name = c."column");
SELECT 'tables are those of prof_columns', count(*) = 0
    FROM (SELECT DISTINCT table_name AS t FROM prof_columns) JOIN pragma_table_xinfo(t) AS x
 WHERE NOT EXISTS (SELECT 1 FROM prof_columns AS c WHERE c.table_name = t AND c."column" = x.name);
SELECT 'tables and queries are those of prof_columns',
       (SELECT group_concat(name)
        FROM (SELECT name FROM prof_tables UNION SELECT name FROM prof_queries))
 = (SELECT group_concat(table_name)
    FROM (SELECT table_name FROM prof_columns UNION SELECT table_name FROM prof_columns));
SELECT 'arguments of a table are its hidden columns', count(*) = 0 FROM prof_tables AS t,
       pragma_table_xinfo(t.name) AS x
 WHERE x.hidden = 1 AND x.name = 'source' AND t.signature NOT GLOB '*(source*';
SELECT 'no table without words', count(*) = 0 FROM prof_tables
    WHERE coalesce(row_is, '') NOT GLOB 'one *' AND name <> 'roofline' AND name <> 'heap_timeline';
SELECT 'queries name our tables so that the user''s do not hide them', count(*) = 0
    FROM prof_queries WHERE sql NOT LIKE '%temp.%';
SELECT prof_version() GLOB '[0-9]*.[0-9]*.[0-9]*', prof_debug() LIKE '%commit%';

-- attaching and comparing
SELECT prof_attach('tests/data/jax_two_hosts', 'before'),
       prof_attach('tests/data/tf_two_workers', 'after');
SELECT run, host_count, event_count, device_type FROM prof_runs;
SELECT run, host, host_source, event_count FROM hosts;
SELECT count(*) FROM lines('before/worker-0.ml.example.com');
SELECT run, count(*) FROM trace_events GROUP BY run ORDER BY run;
SELECT a.operation, a.occurrences, b.occurrences FROM top_ops('before', 3) AS a
    LEFT JOIN top_ops('after', 1000) AS b USING (operation);

-- the user's own tables of our names
CREATE TABLE steps(x);
CREATE TABLE hosts(x);
CREATE TABLE lines(x);
INSERT INTO lines VALUES (1);
SELECT 'shadowed', count(*) FROM lines;
SELECT 'queries are unharmed', count(*) > 10 FROM top_ops('before');
SELECT 'queries are unharmed', count(*) > 0 FROM op_time_by_line('before');
SELECT 'queries are unharmed', count(*) > 0 FROM idle_gaps('before');
SELECT 'queries are unharmed', count(*) FROM launch_latency('before');
DROP TABLE hosts;
DROP TABLE lines;

-- plans
EXPLAIN QUERY PLAN SELECT count(*) FROM trace_events('x') WHERE line_id = 3 ORDER BY start_ps;
EXPLAIN QUERY PLAN SELECT name, count(*) FROM trace_events('x') GROUP BY name;
EXPLAIN QUERY PLAN SELECT * FROM trace_events('x') ORDER BY event_id LIMIT 3;
EXPLAIN QUERY PLAN SELECT p.name, c.name FROM trace_events('before') AS c
    JOIN trace_events('before') AS p ON p.event_id = c.parent_id;
EXPLAIN QUERY PLAN SELECT e.name, s.value FROM trace_events('before') AS e
    JOIN event_stats('before') AS s USING (event_id) WHERE e.name = 'x';
EXPLAIN QUERY PLAN SELECT l.name, k.name FROM trace_events('before') AS l
    JOIN trace_events('before') AS k USING (correlation_id) WHERE l.name = 'cuLaunchKernel';

-- errors say which file, what, and what to do
SELECT * FROM lines('no/such/file');
SELECT * FROM lines('tests/sql');
SELECT * FROM lines('tests/data/README.md');
SELECT * FROM lines('before/worker-9');
SELECT prof_attach('tests/data/tf_two_workers', 'before');
SELECT prof_detach('nobody');
SELECT prof_attach('tests/data/tf_two_workers', '');
SELECT count(*) FROM compare_steps('before');
SELECT count(*) FROM compare_steps('before', NULL);
SELECT * FROM prof_find;
SELECT 'a label with a slash behind it', count(*) FROM hosts('before/');
SELECT prof_detach('before');
SELECT count(*) FROM prof_runs;
SELECT name, host_count FROM prof_find('tests/data') WHERE name GLOB '*tf_*' ORDER BY name;
SELECT count(*), count(trace_args) > 0, sum(self_time_ns) > 0
    FROM xprof_events('tests/data/tpu_train_54');
-- names ignore case: events is trace_events, until a temporary view gives XProf's table its name
SELECT 'events', count(*)
    FROM (SELECT *, stats FROM events('tests/data/tpu_train_54') EXCEPT SELECT *, stats
          FROM trace_events('tests/data/tpu_train_54'));
SELECT 'Events', count(*), count(DISTINCT plane), max(duration_ps) > 0
    FROM Events('tests/data/tpu_train_54');
CREATE TEMP VIEW Events AS SELECT * FROM xprof_events('tests/data/tpu_train_54');
SELECT category, count(*), sum(self_time_ns) FROM Events GROUP BY category;
SELECT 'trace_events', count(*), count(DISTINCT plane), max(duration_ps) > 0
    FROM trace_events('tests/data/tpu_train_54');
DROP VIEW Events;
SELECT 'events', count(*), count(DISTINCT plane), max(duration_ps) > 0
    FROM events('tests/data/tpu_train_54');
SELECT count(*) FROM xprof_events('tests/data/tpu_train_54');
