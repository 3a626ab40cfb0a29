-- SPDX-License-Identifier: Apache-2.0
-- Is the run waiting for its input, and for which part of it?
-- parameter source = NULL: a label, file, run folder or log dir; all attached runs without it
-- column run TEXT: the run
-- column verdict TEXT: host: input bound, both: partly or perhaps, device: not, unknown: no steps
-- column input_percent REAL [percent 0..100]: time of the steps that goes to input; NULL without
--   steps
-- column statement TEXT: what that means
-- column largest_part TEXT: Enqueue, Demanded file read, Advanced file read, Preprocessing or
--   Unclassified: where most of the host's input time goes; NULL without any
-- column part_percent REAL [percent 0..100]: its share of the host's input time; NULL without any
-- column top_operation TEXT: the input op with the longest self time; NULL if the trace has no ops
--   of an input pipeline (tf.data, infeed): another loader is not seen, and advice says so
-- column top_operation_ms REAL [ms]: that time, of all threads; NULL: no input op
-- column advice TEXT: what to try against the largest part; NULL if the run is known to wait for
--   nothing, or has input ops but no time of theirs
-- column python_ms REAL [ms]: time of Python functions that the input pipeline calls (EagerPyFunc,
--   PyFunc), of all threads; Python runs one of them at a time; NULL: none
WITH part AS MATERIALIZED (
    SELECT run, category, fraction, advice,
           row_number() OVER (PARTITION BY run ORDER BY time_us DESC, category) AS rank
    FROM temp.input_breakdown(:source)
    WHERE time_us > 0
), op AS MATERIALIZED (
    SELECT run, operation, total_self_time_ms AS ms,
           operation GLOB '*::Map' OR operation GLOB '*::Map::*' AS maps_serially,
           operation GLOB '*::ParallelMap*' OR operation GLOB '*::MapAndBatch*' AS maps_in_parallel,
           row_number() OVER (PARTITION BY run ORDER BY total_self_time_ms DESC, operation) AS rank
    FROM temp.input_ops(:source)
), parallel AS MATERIALIZED (
    SELECT run FROM op GROUP BY run HAVING max(maps_in_parallel) AND NOT max(maps_serially)
), python AS MATERIALIZED (
    SELECT run, sum(1.0 * total_ps) / 1e9 AS ms
    FROM temp.event_totals(:source)
    WHERE plane_kind = 'host'
          AND (name GLOB '*:EagerPyFunc' OR name GLOB '*:PyFunc' OR name GLOB '*:PyFuncStateless')
    GROUP BY run
)
SELECT i.run, i.input_verdict_actual, i.input_percent_actual, i.input_statement, p.category,
       100 * p.fraction, o.operation, o.ms,
       CASE WHEN i.input_verdict_actual = 'device' THEN NULL
            WHEN o.operation IS NULL AND i.input_verdict_actual IN ('host', 'both') THEN
                 'The trace has no ops of an input pipeline (tf.data, infeed), so what loads the data '
                 || 'is not known. If Python does, record it with the Python tracer and look for the '
                 || 'loader in op_time_by_line.'
            WHEN p.category = 'Preprocessing' AND y.ms >= 0.5 * o.ms THEN
                 'Most of it is a Python function, which never runs twice at once, whatever '
                 || 'num_parallel_calls is. Write it with TensorFlow ops, do it once before training, '
                 || 'cache its results, or run it in other processes (tf.data service).'
            WHEN p.category = 'Preprocessing' AND i.run IN (SELECT run FROM parallel) THEN
                 'It maps in parallel already. Make the mapped function cheaper, batch before '
                 || 'mapping, cache, do it once before training, or use more processors (tf.data service).'
            ELSE p.advice END,
       y.ms
FROM temp.input_pipeline(:source) AS i LEFT JOIN part AS p ON p.run = i.run AND p.rank = 1
     LEFT JOIN op AS o ON o.run = i.run AND o.rank = 1 LEFT JOIN python AS y ON y.run = i.run
ORDER BY i.run
