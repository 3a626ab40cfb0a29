-- Plans of trace_events: the letters are those of ext/trace_events_plan.c. What comes sorted needs
-- no B-tree.
EXPLAIN QUERY PLAN SELECT name, count(*) FROM trace_events('x') GROUP BY name;
EXPLAIN QUERY PLAN SELECT name, count(*) FROM trace_events GROUP BY name ORDER BY name DESC;
EXPLAIN QUERY PLAN SELECT metadata_id, count(*) FROM trace_events('x') GROUP BY metadata_id;
EXPLAIN QUERY PLAN SELECT run, host, plane_id, metadata_id, count(*) FROM trace_events GROUP BY run,
    host, plane_id, metadata_id;
EXPLAIN QUERY PLAN SELECT plane, line, count(*) FROM trace_events GROUP BY plane, line;
EXPLAIN QUERY PLAN SELECT category, count(*) FROM trace_events('x') GROUP BY category;
EXPLAIN QUERY PLAN SELECT DISTINCT name FROM trace_events('x') WHERE line_id = 3;
EXPLAIN QUERY PLAN SELECT start_ps FROM trace_events('x') WHERE line_id = 3 ORDER BY start_ps;
EXPLAIN QUERY PLAN SELECT start_ps FROM trace_events WHERE line_id = 3 ORDER BY start_ps;
EXPLAIN QUERY PLAN SELECT start_ps FROM trace_events(?1) WHERE line_id = 3 ORDER BY start_ps;
EXPLAIN QUERY PLAN SELECT b.name FROM trace_events('x') AS a
    JOIN trace_events('x') AS b ON b.step = a.step WHERE a.event_id = 3;
EXPLAIN QUERY PLAN SELECT name FROM trace_events('x') WHERE group_id = 3 AND plane_kind = 'gpu';
