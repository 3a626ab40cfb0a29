-- The list of known differences: every _actual column is in it, and all that it names is there.
SELECT 'every _actual column is listed', count(*) FROM prof_columns AS c
    WHERE "column" GLOB '*_actual'
 AND NOT EXISTS (SELECT 1 FROM prof_differences AS d WHERE d.table_name = c.table_name
                 AND d.actual = c."column");
SELECT 'the columns are there', count(*) FROM prof_differences AS d
 WHERE NOT EXISTS (SELECT 1 FROM prof_columns AS c WHERE c.table_name = d.table_name
                   AND c."column" = d."column");
SELECT 'what is right is there', count(*) FROM prof_differences AS d WHERE actual IS NOT NULL
    AND NOT EXISTS (
 SELECT 1 FROM prof_columns AS c WHERE d.actual IN (c."column", c.table_name || '.' || c."column")
     AND (instr(d.actual, '.') > 0 OR c.table_name = d.table_name));
SELECT 'no words missing', count(*) FROM prof_differences WHERE xprof = '' OR truth = ''
    OR xprof IS NULL OR truth IS NULL;
SELECT 'there are differences', count(*) > 0 FROM prof_differences;
