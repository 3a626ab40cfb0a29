-- interval_overlap, interval_union, self_time, percentile, median, stddev: each against a naive
-- definition in SQL.
-- A line that ends in 0 is a failure. Random numbers come from a fixed generator.

SELECT 'overlap part', interval_overlap(0, 10, 4, 20) IS 6;
SELECT 'overlap other way', interval_overlap(4, 20, 0, 10) IS 6;
SELECT 'overlap inside', interval_overlap(0, 100, 10, 5) IS 5;
SELECT 'overlap touching', interval_overlap(0, 10, 10, 5) IS 0;
SELECT 'overlap apart', interval_overlap(0, 10, 50, 5) IS 0;
SELECT 'overlap same', interval_overlap(3, 7, 3, 7) IS 7;
SELECT 'overlap empty', interval_overlap(0, 0, 0, 10) IS 0;
SELECT 'overlap negative', interval_overlap(5, -3, 0, 10) IS 0;
SELECT 'overlap negative second', interval_overlap(0, 10, 5, -3) IS 0;
SELECT 'overlap null', interval_overlap(0, 10, NULL, 5) IS NULL;
SELECT 'overlap text number', interval_overlap('0', '10', 4, 20) IS 6;
SELECT 'overlap real', interval_overlap(0, 10.5, 4, 20) IS 6.5;
SELECT 'overlap real type', typeof(interval_overlap(0, 10.0, 50, 5)) IS 'real';
SELECT 'overlap end past int64', interval_overlap(9223372036854775800, 100, 9223372036854775805,
                                                  200) IS 95;
SELECT 'overlap widest', interval_overlap(-9223372036854775807 - 1, 9223372036854775807, -2,
                                          9223372036854775807) IS 1;
SELECT 'overlap farthest', interval_overlap(-9223372036854775807 - 1, 5, 9223372036854775807, 5)
    IS 0;
SELECT 'overlap open end', interval_overlap(10, 9e999, 0, 15) IS 5.0;
SELECT 'overlap unknown', interval_overlap(-9e999, 9e999, 0, 15) IS NULL;

CREATE TEMP TABLE random(id INTEGER PRIMARY KEY, a INTEGER, b INTEGER);
WITH RECURSIVE lcg(id, x, y) AS (
    SELECT 1, 20240601, 42
    UNION ALL
    SELECT id + 1, (x * 1103515245 + 12345) & 0x7fffffff, (y * 1664525 + 1013904223) & 0x7fffffff
        FROM lcg WHERE id < 4000
)
INSERT INTO random SELECT id, x >> 12, y >> 12 FROM lcg;

-- track 1: short, many duplicates and empty ones; 2: overlapping; 3: nested (aligned powers of
-- two); 4: one start;
-- 5: sparse, with gaps of every small width
CREATE TEMP TABLE slices(id INTEGER PRIMARY KEY, track INTEGER, start INTEGER, dur INTEGER);
INSERT INTO slices SELECT id, 1, a % 50, b % 12 FROM random WHERE id <= 250;
INSERT INTO slices SELECT id, 2, a % 1000, b % 300 FROM random WHERE id BETWEEN 251 AND 500;
INSERT INTO slices SELECT id, 3, (a % (128 >> (b % 7))) << (b % 7), 1 << (b % 7) FROM random
    WHERE id BETWEEN 501 AND 800;
INSERT INTO slices SELECT id, 4, 7, b % 20 FROM random WHERE id BETWEEN 801 AND 840;
INSERT INTO slices SELECT id, 5, a % 1000, b % 5 FROM random WHERE id BETWEEN 841 AND 1100;

SELECT 'overlap random', count(*) IS 90000
    AND sum(x.start < y.start + y.dur AND y.start < x.start + x.dur) > 1000
    AND sum(interval_overlap(x.start, x.dur, y.start, y.dur)
        IS NOT max(0, min(x.start + x.dur, y.start + y.dur) - max(x.start, y.start))) IS 0
    FROM slices x, slices y WHERE x.track = 3 AND y.track = 3;

SELECT 'union two', interval_union(column1, column2) IS 17 FROM (VALUES (0, 10), (5, 10), (40, 2));
SELECT 'union touching', interval_union(column1, column2) IS 15 FROM (VALUES (10, 5), (0, 10));
SELECT 'union gap of one', interval_union(column1, column2) IS 15 FROM (VALUES (0, 10), (11, 5));
SELECT 'union inside', interval_union(column1, column2) IS 100
    FROM (VALUES (0, 100), (10, 5), (99, 1));
SELECT 'union no rows', interval_union(start, dur) IS NULL FROM slices WHERE 0;
SELECT 'union only nulls', interval_union(column1, column2) IS NULL
    FROM (VALUES (NULL, 10), (5, NULL));
SELECT 'union skips nulls', interval_union(column1, column2) IS 3 FROM (VALUES (NULL, 10), (5, 3));
SELECT 'union empty', interval_union(column1, column2) IS 0 FROM (VALUES (0, 0), (5, -3));
SELECT 'union end past int64', interval_union(column1, column2) IS 100
    FROM (VALUES (9223372036854775800, 10), (9223372036854775805, 95));
SELECT 'union widest', interval_union(column1, column2) IS 9223372036854775807
    FROM (VALUES (9223372036854775806, 7), (-9223372036854775807 - 1, 9223372036854775800));
SELECT 'union real', interval_union(column1, column2) IS 10.5
    FROM (VALUES (5, 5), (0, 5.5), (3, 2), (100, 0.5));
SELECT 'union negative', interval_union(column1, column2) IS 20
    FROM (VALUES (-10, 5), (-35, 10), (-20, 5));
SELECT 'union real negative', interval_union(column1, column2) IS 2.0
    FROM (VALUES (-1, 0.5), (-3.5, 1), (-2, 0.5));
SELECT 'union turns real', interval_union(column1, column2) IS 22.5
    FROM (VALUES (50, 10), (0, 10), (5, 5), (20, 2.5), (21, -1));
CREATE TEMP TABLE union_naive AS
    WITH RECURSIVE point(x) AS (SELECT 0 UNION ALL SELECT x + 1 FROM point WHERE x < 1400)
    SELECT track, count(*) AS covered FROM (SELECT DISTINCT track FROM slices) t, point
    WHERE EXISTS (SELECT 1 FROM slices s WHERE s.track = t.track AND s.start <= x
                  AND x < s.start + s.dur)
    GROUP BY track;
SELECT 'union random', count(*) IS 5 AND sum(u IS covered) IS 5
    FROM union_naive JOIN (SELECT track, interval_union(start, dur) AS u FROM slices GROUP BY track)
        USING (track);
SELECT 'union random sorted', sum(u IS covered) IS 5 FROM union_naive JOIN
    (SELECT track, interval_union(start, dur) AS u FROM (SELECT * FROM slices ORDER BY track, start)
     GROUP BY track) USING (track);
SELECT 'union random backwards', sum(u IS covered) IS 5 FROM union_naive JOIN
    (SELECT track, interval_union(start, dur) AS u
     FROM (SELECT * FROM slices ORDER BY track, start DESC) GROUP BY track) USING (track);
SELECT 'union random real', sum(u IS covered / 2.0) IS 5 FROM union_naive JOIN
    (SELECT track, interval_union(start / 2.0, dur / 2.0) AS u FROM slices GROUP BY track)
        USING (track);
SELECT 'union many apart', interval_union((id * 1009 % 4001) * 10, 5) IS 20000 FROM random;
SELECT 'union late row when full', interval_union(start, 5) IS 320 FROM
    (SELECT * FROM (SELECT id * 10 AS start FROM random WHERE id <= 64 ORDER BY id)
     UNION ALL SELECT 10);
SELECT 'union many covered', interval_union(start, dur) IS 40015 FROM
    (SELECT (id * 1009 % 4001) * 10 AS start, 5 AS dur FROM random UNION ALL SELECT 0, 40015
     UNION ALL SELECT (id * 1013 % 4001) * 10, 3 FROM random);

CREATE TEMP TABLE ordered AS
    SELECT *, start + dur AS stop, row_number() OVER (PARTITION BY track ORDER BY start, dur DESC,
                                                      id) AS o FROM slices;
CREATE INDEX temp.ordered_o ON ordered(track, o);
-- closed: the first later row that is not contained. A parent is the last earlier row that is still
-- open.
CREATE TEMP TABLE open_rows AS
    SELECT *, ifnull((SELECT min(k.o) FROM ordered k WHERE k.track = r.track AND k.o > r.o
                      AND NOT (k.start >= r.start AND k.stop <= r.stop)), 1 << 40) AS closed
                          FROM ordered r;
CREATE INDEX temp.open_rows_o ON open_rows(track, o);
CREATE TEMP TABLE nesting AS
    SELECT id, track, dur, o, (SELECT max(r.o) FROM open_rows r WHERE r.track = e.track
                               AND r.o < e.o AND r.closed > e.o) AS parent
    FROM open_rows e;
CREATE INDEX temp.nesting_parent ON nesting(track, parent);
CREATE TEMP TABLE self_naive AS
    SELECT id, track,
           dur - ifnull((SELECT sum(c.dur) FROM nesting c WHERE c.track = n.track
                         AND c.parent = n.o), 0) AS self
    FROM nesting n;
CREATE TEMP TABLE self_fast AS
    SELECT id, self_time(start, dur) OVER w AS self,
           self_time(start / 4.0, dur / 4.0) OVER w AS self_real,
        self_time(start, iif(id % 10 = 0, NULL, dur)) OVER w AS self_nulls FROM slices
    WINDOW w AS (PARTITION BY track ORDER BY start, dur DESC, id ROWS BETWEEN CURRENT ROW
                 AND UNBOUNDED FOLLOWING);
SELECT 'self_time random track ' || track, count(*) > 30 AND sum(f.self IS NOT n.self) IS 0
    AND sum(f.self IS NOT dur) > 20
    FROM self_naive n JOIN self_fast f USING (id) JOIN slices USING (id, track) GROUP BY track;
SELECT 'self_time random real', count(*) IS 1100 AND sum(f.self_real IS NOT n.self / 4.0) IS 0
    FROM self_naive n JOIN self_fast f USING (id);
SELECT 'self_time null rows', sum((id % 10 = 0) IS NOT (self_nulls IS NULL)) IS 0 FROM self_fast;
SELECT 'self_time null rows are no children', sum(a.self_nulls IS NOT b.self) IS 0 FROM self_fast a
    JOIN
    (SELECT id, self_time(start, dur) OVER (PARTITION BY track ORDER BY start, dur DESC, id
        ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) AS self FROM slices
            WHERE id % 10) b USING (id);
-- where intervals only nest, a child is what is contained in the row and in no other row between
SELECT 'self_time nested', sum(f.self IS NOT r.dur - ifnull((SELECT sum(c.dur) FROM ordered c
        WHERE c.track = 3 AND c.o > r.o AND c.start >= r.start AND c.stop <= r.stop
        AND NOT EXISTS (SELECT 1 FROM ordered m WHERE m.track = 3 AND m.o > r.o AND m.o < c.o
            AND m.start >= r.start AND m.stop <= r.stop AND c.start >= m.start
                AND c.stop <= m.stop)), 0)) IS 0
    FROM ordered r JOIN self_fast f USING (id) WHERE r.track = 3;
-- and the self times of what nests add up to the time covered
SELECT 'self_time adds up', sum(self) IS (SELECT covered FROM union_naive WHERE track = 3)
    FROM self_fast JOIN slices USING (id) WHERE track = 3;
SELECT 'self_time other frame end', sum(a.self IS NOT b.self) IS 0 FROM self_fast a JOIN
    (SELECT id, self_time(start, dur) OVER (PARTITION BY track ORDER BY start, dur DESC, id
        ROWS BETWEEN CURRENT ROW AND 400 FOLLOWING) AS self FROM slices) b USING (id);
SELECT 'self_time turns real', group_concat(s, ' ') IS '4.5 2.5 3.0'
    FROM (SELECT self_time(column1, column2) OVER (
    ORDER BY column1, column2 DESC ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) AS s
        FROM (VALUES (0, 10), (1, 5.5), (2, 3)));
SELECT 'self_time negative', group_concat(s, ' ') IS '10 0'
    FROM (SELECT self_time(column1, column2) OVER (
    ORDER BY column1, column2 DESC ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) AS s
        FROM (VALUES (0, 10), (1, -5)));
SELECT 'self_time end past int64', group_concat(s, ' ') IS '92 5 3'
    FROM (SELECT self_time(column1, column2) OVER (
    ORDER BY column1, column2 DESC ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) AS s
    FROM (VALUES (9223372036854775800, 100), (9223372036854775805, 8), (9223372036854775806, 3)));
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 99999)
SELECT 'self_time deep', count(*) IS 100000 AND sum(s) IS 200000 AND min(s) IS 2 AND max(s) IS 2
    FROM (SELECT self_time(i, 200000 - 2 * i)
    OVER (ORDER BY i ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) AS s FROM n);

SELECT 'percentile', percentile(column1, 50) IS 3.0 FROM (VALUES (1), (2), (4), (8));
SELECT 'percentile least', percentile(column1, 0) IS 1.0 FROM (VALUES (8), (2), (1), (4));
SELECT 'percentile most', percentile(column1, 100) IS 8.0 FROM (VALUES (1), (8), (2), (4));
SELECT 'percentile one row', percentile(7, 33) IS 7.0;
SELECT 'percentile no rows', percentile(a, 50) IS NULL FROM random WHERE 0;
SELECT 'percentile only nulls', percentile(NULL, 50) IS NULL;
SELECT 'percentile skips nulls', percentile(column1, 50) IS 2.0 FROM (VALUES (1), (NULL), (3));
SELECT 'percentile text fraction', percentile(column1, '50') IS 2.0 FROM (VALUES (1), (3));
SELECT 'percentile nearly same fraction', percentile(column1, column2) IS 2.0
    FROM (VALUES (1, 50), (3, 50.0005));
SELECT 'percentile far apart', percentile(column1, 50) IS 0.0 FROM (VALUES (-1.7e308), (1.7e308));
SELECT 'median', median(column1) IS 2.5 FROM (VALUES (1), (2), (3), (9));
SELECT 'median integer', typeof(median(column1)) IS 'real' FROM (VALUES (1), (2), (3));
SELECT 'median no rows', median(a) IS NULL FROM random WHERE 0;

-- 1: random; 2: few values; 3: rising; 4: up and down; 5: all the same
CREATE TEMP TABLE samples AS
    SELECT 1 AS kind, a * 1.0 AS x FROM random UNION ALL SELECT 2, a % 7 FROM random WHERE id <= 999
    UNION ALL SELECT 3, id FROM random WHERE id <= 1000 UNION ALL SELECT 4, abs(id - 500)
        FROM random WHERE id <= 1000
    UNION ALL SELECT 5, 3 FROM random WHERE id <= 100;
CREATE TEMP TABLE ranked AS
    SELECT kind, x, row_number() OVER (PARTITION BY kind ORDER BY x) - 1 AS i,
           count(*) OVER (PARTITION BY kind) AS n FROM samples;
CREATE INDEX temp.ranked_i ON ranked(kind, i);
CREATE TEMP TABLE percents AS SELECT DISTINCT kind, n, column1 AS p,
    column1 * (n - 1) / 100.0 AS place
    FROM ranked, (VALUES (0), (1), (5.5), (25), (33.3), (50), (75), (90), (99.9), (100));
SELECT 'percentile random', count(*) IS 50
    AND sum(got IS low.x + (ifnull(high.x, low.x) - low.x) * (place - low.i)) IS 50
    FROM (SELECT *, (SELECT percentile(x, p) FROM samples s WHERE s.kind = q.kind) AS got
          FROM percents q) q
    JOIN ranked low ON low.kind = q.kind AND low.i = CAST(place AS INTEGER)
    LEFT JOIN ranked high ON high.kind = q.kind AND high.i = low.i + 1;
SELECT 'percentile window', count(*) IS 300
    AND sum(w IS (SELECT percentile(iif(r.id % 9, r.a % 100, NULL), 30) FROM random r
        WHERE r.id BETWEEN v.id - 7 AND v.id + 3 AND r.id <= 300)) IS 300
    FROM (SELECT id,
          percentile(iif(id % 9, a % 100, NULL), 30) OVER (ORDER BY id ROWS BETWEEN 7 PRECEDING
                                                           AND 3 FOLLOWING) AS w
          FROM random WHERE id <= 300) v;
SELECT 'median window', sum(w IS (SELECT median(r.a) FROM random r WHERE r.id <= v.id)) IS 300
    FROM (SELECT id, median(a) OVER (ORDER BY id) AS w FROM random WHERE id <= 300) v;

SELECT 'stddev', stddev(column1) IS sqrt(32.0 / 7)
    FROM (VALUES (2), (4), (4), (4), (5), (5), (7), (9));
SELECT 'stddev one row', stddev(5) IS NULL;
SELECT 'stddev no rows', stddev(a) IS NULL FROM random WHERE 0;
SELECT 'stddev skips nulls', stddev(column1) IS 1.0 FROM (VALUES (1), (NULL), (2), (3));
SELECT 'stddev one null', stddev(column1) IS NULL FROM (VALUES (1), (NULL));
SELECT 'stddev same', stddev(0.1) IS 0.0 FROM random;
SELECT 'stddev large integers', stddev(column1) IS 1.0
    FROM (VALUES (4611686018427387905), (4611686018427387906), (4611686018427387907));
SELECT 'stddev extremes', stddev(column1) BETWEEN 1.3e19 AND 1.31e19
    FROM (VALUES (9223372036854775807), (-9223372036854775807 - 1));
SELECT 'stddev mixed', stddev(column1) IS 1.0
    FROM (VALUES (1000000000001), (1000000000002.0), (1000000000003));
SELECT 'stddev mixed real first', stddev(column1) IS 1.0
    FROM (VALUES (1000000000001.0), (1000000000002), (1000000000003.0));
SELECT 'stddev random', abs(stddev(a) / sqrt(sum((a - m) * (a - m)) / (count(*) - 1)) - 1) < 1e-12
    FROM random, (SELECT avg(a) AS m FROM random);
