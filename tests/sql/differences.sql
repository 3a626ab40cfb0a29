-- The list of known differences: every _actual column is in it, and all that it names is there.
SELECT 'every _actual column is listed', count(*) FROM prof_columns AS c WHERE "column" GLOB '*_actual'
 AND NOT EXISTS (SELECT 1 FROM prof_differences AS d WHERE d.table_name = c.table_name AND d.actual = c."column");
SELECT 'the columns are there', count(*) FROM prof_differences AS d
 WHERE NOT EXISTS (SELECT 1 FROM prof_columns AS c WHERE c.table_name = d.table_name AND c."column" = d."column");
SELECT 'what is right is there', count(*) FROM prof_differences AS d WHERE actual IS NOT NULL AND NOT EXISTS (
 SELECT 1 FROM prof_columns AS c WHERE d.actual IN (c."column", c.table_name || '.' || c."column") AND (instr(d.actual, '.') > 0 OR c.table_name = d.table_name));
SELECT 'no words missing', count(*) FROM prof_differences WHERE xprof = '' OR truth = '' OR xprof IS NULL OR truth IS NULL;
-- The README's table: a line for the columns of a table of which the same is said. These are its lines.
CREATE TEMP VIEW readme AS
WITH all_of AS (SELECT rowid AS nth, table_name, "column", xprof,
  CASE WHEN actual = "column" || '_actual' THEN 'the same with `_actual`' WHEN actual IS NULL THEN 'none' ELSE '`' || actual || '`' END AS actual FROM prof_differences)
SELECT '| `' || table_name || '`: `' || group_concat("column", '`, `') || '` | ' || actual || ' | ' || xprof || ' |' AS line
FROM (SELECT * FROM all_of ORDER BY nth) GROUP BY table_name, xprof, actual ORDER BY min(nth);
SELECT 'the README has them all', count(*) FROM readme WHERE instr(CAST(readfile('README.md') AS TEXT), char(10) || line || char(10)) = 0;
