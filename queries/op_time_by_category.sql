-- Which kinds of ops does the time go to, on the devices and on the host?
-- parameter source = NULL: a label, file, run folder or log dir; all attached runs without it
-- needs: events
-- nothing: no event is an op of a framework or of a device
-- column run TEXT: the run
-- column host_or_device TEXT: Device or Host
-- column category TEXT: category of HLO ops, type of framework ops; IDLE: time in no op; NULL: none is known
-- column op_count INTEGER [ops]: different ops
-- column occurrences INTEGER: how often they ran
-- column self_time_us REAL [us]: time without nested ops
-- column percent REAL [percent 0..100]: share of the side's time, IDLE included; NULL without any
-- column percent_of_ops REAL [percent 0..100]: share of the side's time in ops; NULL for IDLE
-- column flops REAL [floating operations]: what they computed; NULL: none or not known
-- column bytes_accessed REAL [bytes]: what they read and wrote; NULL: none or not known
WITH kinds AS (
    SELECT run, side, category, count(*) AS ops, CAST(sum(1.0 * occurrences) AS INTEGER) AS occurrences, sum(CAST(self_ps AS REAL)) AS self, sum(1.0 * flops) AS flops,
           sum(CAST(bytes_accessed AS REAL)) AS bytes
    FROM temp.op_metrics(:source)
    WHERE side <> 'framework' AND parent_id IS NULL
    GROUP BY run, side, category
), shares AS (
    SELECT *, sum(self) OVER side_of AS all_self, sum(CASE WHEN category IS 'IDLE' THEN 0.0 ELSE self END) OVER side_of AS op_self
    FROM kinds
    WINDOW side_of AS (PARTITION BY run, side)
)
SELECT run, CASE side WHEN 'host' THEN 'Host' ELSE 'Device' END, category, ops, occurrences, self / 1e6, 100.0 * self / nullif(all_self, 0),
       CASE WHEN category IS NOT 'IDLE' THEN 100.0 * self / nullif(op_self, 0) END, nullif(flops, 0), nullif(bytes, 0)
FROM shares
ORDER BY run, side, self DESC, category
