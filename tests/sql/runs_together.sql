-- Several runs asked together: each is judged alone, so a run without a device has the rows that it
-- has by itself beside a run with one.
.bail on
SELECT prof_attach('tests/data/jax_train_mlp', 'cpu'),
       prof_attach('tests/data/tpu_train_54', 'tpu');
SELECT 'idle_gaps', run, count(*) > 0,
       count(*) = (SELECT count(*) FROM idle_gaps(together.run, 100000))
    FROM idle_gaps(NULL, 100000) AS together GROUP BY run;
SELECT 'fusion_breakdown', run, count(self_time_us) > 0,
       sum(self_time_us) = (SELECT sum(self_time_us) FROM fusion_breakdown(together.run, 100000)),
       sum(occurrences) = (SELECT sum(occurrences) FROM fusion_breakdown(together.run, 100000))
FROM fusion_breakdown(NULL, 100000) AS together GROUP BY run;
