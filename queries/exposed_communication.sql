-- How much of the communication and copying is not hidden behind computing?
-- parameter source = NULL: a label, file, run folder or log dir; all attached runs without it
-- needs: events device
-- nothing: none found: no transfer or collective ran on a device
-- column rank INTEGER: 1 has the most exposed time
-- column op TEXT: the op that starts it, or on a GPU the collective's kernel or the copy
-- column category TEXT: HLO category, or collective or copy; NULL when the file does not say
-- column occurrences INTEGER: how often, on all devices
-- column total_us REAL [us]: from start to done, summed
-- column exposed_us REAL [us]: of it while nothing else computes on the device
-- column exposed_percent REAL [percent 0..100]: exposed over total
-- column wait_us REAL [us]: how long devices waited in the done op; NULL on a GPU
-- column bytes INTEGER [bytes]: moved; NULL when the file does not say
-- column gibps REAL [2^30 bytes/s]: bytes over total time; NULL when unknown
-- column overlapped_by TEXT: what hides it, the op that is found most often; NULL when nothing does
WITH spans AS MATERIALIZED (
    SELECT hlo_op AS op, category, duration_ps, exposed_ps, wait_ps, bytes, overlapped_by FROM temp.async_ops(:source) WHERE duration_ps IS NOT NULL
), ops AS (
    SELECT op, category, count(*) AS n, sum(1.0 * duration_ps) AS total_ps, sum(1.0 * exposed_ps) AS exposed_ps, sum(1.0 * wait_ps) AS wait_ps,
           CAST(sum(1.0 * bytes) AS INTEGER) AS bytes
    FROM spans
    GROUP BY op, category
)
SELECT row_number() OVER (ORDER BY exposed_ps DESC, op), op, category, n, total_ps / 1e6, exposed_ps / 1e6, 100.0 * exposed_ps / nullif(total_ps, 0), wait_ps / 1e6,
       bytes, bytes / 1073741824.0 / nullif(total_ps / 1e12, 0),
       (SELECT s.overlapped_by FROM spans AS s WHERE s.op = ops.op AND s.category IS ops.category AND s.overlapped_by IS NOT NULL
        GROUP BY s.overlapped_by ORDER BY count(*) DESC, s.overlapped_by LIMIT 1)
FROM ops
ORDER BY 1
