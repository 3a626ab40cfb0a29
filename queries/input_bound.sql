-- SPDX-License-Identifier: Apache-2.0
-- Is the run waiting for its input, and for which part of the input pipeline?
-- parameter source = NULL: label of an attached run, or path of a file, run folder or log dir; if
--   NULL, all attached runs
-- column run TEXT: name of the run
-- column verdict TEXT: host: input bound, both: partly or perhaps input bound, device: not input
--   bound, unknown: no steps. Equal to input_pipeline.input_verdict_actual, except that it is both
--   instead of device if the run has no input op and no input time, and host code of unknown
--   purpose (causes host and python of idle_causes) leaves the devices idle for 5% or more of the
--   complete steps' time
-- column input_percent REAL [percent 0..100]: share of step time spent on input; NULL without steps
-- column statement TEXT: the verdict as a sentence
-- column largest_part TEXT: part of the host's input time that takes longest: Enqueue, Demanded
--   file read, Advanced file read, Preprocessing or Unclassified; NULL without input time
-- column part_percent REAL [percent 0..100]: time of largest_part as a share of the host's input
--   time; NULL without input time
-- column top_operation TEXT: input op with the longest self time; NULL if the trace has no ops of
--   an input pipeline (tf.data, infeed). Other data loaders are not recognized; advice then says so
-- column top_operation_ms REAL [ms]: self time of top_operation, over all threads; NULL without an
--   input op
-- column advice TEXT: what to try to speed up the largest part (input_breakdown.advice); without a
--   largest part, the part that top_operation is in. For Preprocessing, the advice depends on the
--   pipeline: on whether python_ms is at least half of top_operation_ms, and on whether all its
--   maps are parallel. NULL if the run is not input bound, or if that is unknown and its input ops
--   take no time
-- column suspect TEXT: what the host does longest while the devices are idle, other than compiling,
--   launching, copying or waiting (causes host and python of idle_causes); often the data loader.
--   The name is that of the annotation or event around this activity (idle_causes.name), or of the
--   Python frame if there is no annotation, or only the step's own (steps.name without a number at
--   its end). NULL unless the run may be input bound and has no input op
-- column suspect_ms REAL [ms]: idle time of suspect, the sum of its rows of idle_causes; NULL
--   without suspect
-- column python_ms REAL [ms]: time of Python functions that the input pipeline calls (EagerPyFunc,
--   PyFunc, PyFuncStateless), over all threads; Python runs one of them at a time; NULL if there
--   are none
WITH every_part AS MATERIALIZED (
    SELECT run, category, time_us, fraction, advice FROM temp.input_breakdown(:source)
), part AS MATERIALIZED (
    SELECT run, category, fraction,
           row_number() OVER (PARTITION BY run ORDER BY time_us DESC, category) AS rank
    FROM every_part
    WHERE time_us > 0
), op AS MATERIALIZED (
    SELECT run, operation, total_self_time_ms AS ms,
           iif(category = 'Unknown', 'Unclassified', category) AS category,
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
), step AS MATERIALIZED (
    SELECT run, step, name, duration_ms, dropped FROM temp.steps(:source)
), marker AS MATERIALIZED ( -- the name of the step's event
    SELECT DISTINCT run, rtrim(rtrim(name, '0123456789')) AS name FROM step
), code AS MATERIALIZED ( -- host code of unknown purpose while devices are idle
    SELECT run, iif(name IS NULL OR (run, name) IN (SELECT run, name FROM marker), python_frame,
                    name) AS name, total(idle_us) / 1e3 AS ms
    FROM temp.idle_causes(:source)
    WHERE cause IN ('host', 'python')
    GROUP BY 1, 2
), unknown_code AS MATERIALIZED (
    SELECT run, total(ms) AS ms FROM code GROUP BY run
), suspect AS MATERIALIZED (
    SELECT run, name, ms, row_number() OVER (PARTITION BY run ORDER BY ms DESC, name) AS rank
    FROM code
    WHERE name IS NOT NULL
), input AS MATERIALIZED (
    SELECT run, input_verdict_actual AS verdict, input_percent_actual AS percent,
           input_statement AS statement,
           CASE WHEN input_verdict_actual = 'device' AND input_percent_actual = 0
                     AND run NOT IN (SELECT run FROM op)
                THEN (SELECT ms FROM unknown_code AS c WHERE c.run = i.run) END AS unknown_ms
    FROM temp.input_pipeline(:source) AS i
), perhaps AS MATERIALIZED (
    SELECT *,
           coalesce(unknown_ms >= 0.05 * (SELECT sum(duration_ms) FROM step AS s
                                          WHERE s.run = i.run AND NOT dropped), 0) AS may_be_input
    FROM input AS i
), judged AS MATERIALIZED ( -- known input ops need no suspect
    SELECT *, (may_be_input OR verdict IN ('host', 'both'))
              AND run NOT IN (SELECT run FROM op) AS has_suspect
    FROM perhaps
)
SELECT i.run, iif(may_be_input, 'both', verdict), percent,
       iif(may_be_input, printf('Perhaps input bound: no input op is recorded, and for %.3f ms no '
                                || 'op runs while the host runs other code, which idle_causes '
                                || 'names.', unknown_ms), statement),
       p.category, 100 * p.fraction, o.operation, o.ms,
       CASE WHEN verdict = 'device' AND NOT may_be_input THEN NULL
            WHEN o.operation IS NULL AND verdict <> 'unknown' THEN
                 'The trace has no ops of an input pipeline (tf.data, infeed), so it does not show '
                 || 'what loads the data. If Python does, record with the Python tracer and look '
                 || 'for the loader in op_time_by_line.'
            WHEN e.category = 'Preprocessing' AND y.ms >= 0.5 * o.ms THEN
                 'Most of this time is a Python function. Python runs one call at a time, whatever '
                 || 'num_parallel_calls is. Write it with TensorFlow ops, do it once before '
                 || 'training, cache its results, or run it in other processes (tf.data service).'
            WHEN e.category = 'Preprocessing' AND i.run IN (SELECT run FROM parallel) THEN
                 'Preprocessing already runs in parallel. Make the mapped function cheaper, batch '
                 || 'before mapping, cache, preprocess once before training, or use more CPUs '
                 || '(tf.data service).'
            ELSE e.advice END,
       CASE WHEN has_suspect THEN
            (SELECT name FROM suspect AS u WHERE u.run = i.run AND u.rank = 1) END,
       CASE WHEN has_suspect THEN
            (SELECT ms FROM suspect AS u WHERE u.run = i.run AND u.rank = 1) END,
       y.ms
FROM judged AS i LEFT JOIN part AS p ON p.run = i.run AND p.rank = 1
     LEFT JOIN op AS o ON o.run = i.run AND o.rank = 1 LEFT JOIN python AS y ON y.run = i.run
     LEFT JOIN every_part AS e ON e.run = i.run AND e.category = coalesce(
         p.category, iif(o.ms > 0, o.category, NULL))
ORDER BY i.run
