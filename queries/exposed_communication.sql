-- How much of the communication and copying is not hidden behind computing?
-- parameter source = NULL: a label, file, run folder or log dir; all attached runs without it
-- needs: events device
-- nothing: none found: no transfer or collective ran on a device
-- column run TEXT: the run
-- column rank INTEGER: 1 has the most exposed time of the run
-- column op TEXT: op that starts it, or on a GPU the collective's kernel, the copy or the memset
-- column kind TEXT: collective or transfer
-- column category TEXT: HLO category, on a GPU collective, copy or memset; NULL if unknown
-- column is_synchronous INTEGER [0 or 1]: 1: the TensorCore waits while it runs, and computes nothing; 0 on a GPU
-- column occurrences INTEGER: how often it ran, on all devices
-- column total_us REAL [us]: from start to done, summed over occurrences, also where they overlap; device_time has totals by device in which overlaps count once
-- column exposed_us REAL [us]: part of total_us in which the op's device does not compute
-- column exposed_percent REAL [percent 0..100]: exposed_us of total_us; NULL if that is 0
-- column exposed_span_percent REAL [percent]: exposed_us of the spans of all devices with work, summed; above 100 if several run at once; NULL if these are 0
-- column wait_us REAL [us]: duration of the done ops, in which devices waited; NULL on a GPU and for a synchronous op
-- column bytes INTEGER [bytes]: bytes moved by all occurrences; NULL if unknown for one of them
-- column gibps REAL [2^30 bytes/s]: bytes over total_us; NULL if unknown
-- column overlapped_by TEXT: op that hides most of an occurrence most often; NULL if none does
WITH spans AS MATERIALIZED (
    SELECT run, hlo_op AS op, kind, category, is_synchronous, duration_ps, exposed_ps, wait_ps, bytes, overlapped_by
    FROM temp.async_ops(:source, 1) WHERE duration_ps IS NOT NULL
), ops AS (
    SELECT run, op, kind, category, is_synchronous, count(*) AS n, sum(1.0 * duration_ps) AS total_ps, sum(1.0 * exposed_ps) AS exposed_ps,
           sum(1.0 * wait_ps) AS wait_ps, CASE WHEN count(bytes) = count(*) THEN CAST(sum(1.0 * bytes) AS INTEGER) END AS bytes
    FROM spans
    GROUP BY run, op, kind, category, is_synchronous
), covers AS (
    SELECT run, op, kind, category, is_synchronous, overlapped_by,
           row_number() OVER (PARTITION BY run, op, kind, category, is_synchronous ORDER BY count(*) DESC, overlapped_by) AS nth
    FROM spans WHERE overlapped_by IS NOT NULL
    GROUP BY run, op, kind, category, is_synchronous, overlapped_by
), device AS (
    SELECT run, sum(1.0 * span_ps) AS span_ps FROM temp.device_time(:source) GROUP BY run
)
SELECT o.run, row_number() OVER (PARTITION BY o.run ORDER BY exposed_ps DESC, o.op, o.kind, o.category, o.is_synchronous), o.op, o.kind, o.category, o.is_synchronous, n, total_ps / 1e6, exposed_ps / 1e6,
       100.0 * exposed_ps / nullif(total_ps, 0), 100.0 * exposed_ps / nullif(span_ps, 0), wait_ps / 1e6, bytes,
       bytes / 1073741824.0 / nullif(total_ps / 1e12, 0), c.overlapped_by
FROM ops AS o JOIN device AS d USING (run)
     LEFT JOIN covers AS c ON c.run = o.run AND c.op = o.op AND c.kind = o.kind AND c.category IS o.category AND c.is_synchronous = o.is_synchronous AND c.nth = 1
ORDER BY 1, 2
