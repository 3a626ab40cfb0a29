-- The list of known differences: every _actual column is in it, and all that it names is there.
SELECT 'every _actual column is listed', count(*) FROM prof_columns AS c WHERE "column" GLOB '*_actual'
 AND NOT EXISTS (SELECT 1 FROM prof_differences AS d WHERE d.table_name = c.table_name AND d.actual = c."column");
SELECT 'the columns are there', count(*) FROM prof_differences AS d
 WHERE NOT EXISTS (SELECT 1 FROM prof_columns AS c WHERE c.table_name = d.table_name AND c."column" = d."column");
SELECT 'what is right is there', count(*) FROM prof_differences AS d WHERE actual IS NOT NULL AND NOT EXISTS (
 SELECT 1 FROM prof_columns AS c WHERE d.actual IN (c."column", c.table_name || '.' || c."column") AND (instr(d.actual, '.') > 0 OR c.table_name = d.table_name));
SELECT 'no words missing', count(*) FROM prof_differences WHERE xprof = '' OR truth = '' OR xprof IS NULL OR truth IS NULL;
-- The README's table: a line for all columns of which the same is said, tables apart by semicolons, many columns by the first and the last. These are its lines.
CREATE TEMP VIEW readme AS
WITH differ AS (SELECT rowid AS nth, *, CASE WHEN actual = "column" || '_actual' THEN '`..._actual`' WHEN actual IS NULL THEN 'none' ELSE '`' || actual || '`' END AS right FROM prof_differences),
of_table AS (SELECT xprof, right GLOB '*_actual`' OR right = 'none' AS short, min(nth) AS nth, max(right) AS right,
  table_name || CASE WHEN count(*) > 8 THEN ': ' || min("column") FILTER (WHERE first) || ' ... ' || min("column") FILTER (WHERE last)
  ELSE ': ' || group_concat("column", ', ') END AS columns, group_concat(DISTINCT right) AS rights
  FROM (SELECT *, nth = min(nth) OVER w AS first, nth = max(nth) OVER w AS last FROM differ WINDOW w AS (PARTITION BY table_name, xprof) ORDER BY nth) GROUP BY xprof, table_name)
SELECT '| ' || xprof || ' | ' || group_concat(columns, '; ') || ' | ' || CASE WHEN min(short) THEN max(right) ELSE group_concat(DISTINCT rights) END || ' |' AS line
FROM (SELECT * FROM of_table ORDER BY nth) GROUP BY xprof ORDER BY min(nth);
SELECT 'the README has them all', count(*) FROM readme WHERE instr(CAST(readfile('README.md') AS TEXT), char(10) || line || char(10)) = 0;
