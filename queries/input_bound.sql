-- Is the run waiting for its input, and for which part of it?
-- parameter source = NULL: a label, file, run folder or log dir; all attached runs without it
-- column run TEXT: the run
-- column verdict TEXT: host: input bound, both: partly or perhaps, device: not, unknown: no steps
-- column input_percent REAL [percent 0..100]: time of the steps that goes to input; NULL without steps
-- column statement TEXT: what that means
-- column largest_part TEXT: Enqueue, Demanded file read, Advanced file read, Preprocessing or Unclassified: where most of the host's input time goes; NULL without any
-- column part_percent REAL [percent 0..100]: its share of the host's input time; NULL without any
-- column top_operation TEXT: the input op with the longest self time; NULL: there is none
-- column top_operation_ms REAL [ms]: that time, of all threads; NULL: no input op
-- column advice TEXT: what to try against the largest part; NULL where the run is known to wait for nothing, or nothing is known of its input
WITH part AS MATERIALIZED (
    SELECT run, category, fraction, advice, row_number() OVER (PARTITION BY run ORDER BY time_us DESC, category) AS rank
    FROM temp.input_breakdown(:source)
    WHERE time_us > 0
), op AS MATERIALIZED (
    SELECT run, operation, total_self_time_ms, row_number() OVER (PARTITION BY run ORDER BY total_self_time_ms DESC, operation) AS rank
    FROM temp.input_ops(:source)
)
SELECT i.run, i.input_verdict_actual, i.input_percent_actual, i.input_statement, p.category, 100 * p.fraction, o.operation, o.total_self_time_ms,
       CASE WHEN i.input_verdict_actual <> 'device' THEN p.advice END
FROM temp.input_pipeline(:source) AS i LEFT JOIN part AS p ON p.run = i.run AND p.rank = 1 LEFT JOIN op AS o ON o.run = i.run AND o.rank = 1
ORDER BY i.run
