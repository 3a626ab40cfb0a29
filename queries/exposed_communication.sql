-- SPDX-License-Identifier: Apache-2.0
-- How much of the communication and copying is not hidden by computation?
-- parameter source = NULL: label of an attached run, or path of a file, run folder or log dir; if
--   NULL, all attached runs
-- parameter by_device [0 to 1] = 0: 1: one row for each device; 0: devices of the same kind are
--   combined
-- needs: events device
-- nothing: none found: no transfer or collective ran on a device
-- column run TEXT: name of the run
-- column rank INTEGER: rank by exposed time within the run; 1 is the longest
-- column device TEXT: kind of the devices: gpu, tensorcore or sparsecore; with by_device = 1, the
--   device as host/plane
-- column op TEXT: op that starts the communication; on a GPU, the collective's kernel, the copy or
--   the memset
-- column kind TEXT: kind of the op: collective or transfer
-- column category TEXT: HLO category of the op; on a GPU, collective, copy or memset; NULL if
--   unknown
-- column is_synchronous INTEGER [0 or 1]: 1: the TensorCore waits while the op runs and computes
--   nothing; always 0 on a GPU
-- column occurrences INTEGER: number of times that the op ran on these devices
-- column total_us REAL [us]: time from start to done, summed over occurrences; overlapping
--   occurrences count separately
-- column exposed_us REAL [us]: part of total_us in which the device of the op does not compute
-- column exposed_percent REAL [percent 0..100]: exposed_us as a share of total_us; NULL if that is
--   0
-- column exposed_span_percent REAL [percent]: exposed_us as a share of the spans of these devices,
--   summed over the devices with work; above 100 if several ops run at once; NULL if the spans are
--   0
-- column wait_us REAL [us]: duration of the done ops, in which devices wait; NULL on a GPU and for
--   a synchronous op
-- column bytes INTEGER [bytes]: bytes moved by all occurrences; NULL if unknown for one of them
-- column gibps REAL [GiB/s]: bytes divided by total_us; NULL if unknown
-- column overlapped_by TEXT: op that most often hides most of an occurrence; NULL if no op does
-- column kind_exposed_us REAL [us]: exposed time of all ops of this kind on these devices;
--   simultaneous ops count once. For exposed collective time by step, see
--   steps.device_collectives_ms_actual
-- column kind_exposed_span_percent REAL [percent 0..100]: kind_exposed_us as a share of the spans
--   of these devices; NULL if the spans are 0
-- column total_exposed_us REAL [us]: time in which any collective or transfer of these devices is
--   exposed; simultaneous ops count once. Equal in all rows of these devices
-- column total_exposed_span_percent REAL [percent 0..100]: total_exposed_us as a share of the spans
--   of these devices; NULL if the spans are 0
WITH device AS MATERIALIZED (
    SELECT run, plane_id, iif(coalesce(:by_device, 0), host || '/' || plane, kind) AS name, span_ps,
           exposed_communication_ps, exposed_transfer_ps, exposed_ps AS any_exposed_ps
    FROM temp.device_time(:source)
), total AS MATERIALIZED (
    SELECT run, name, sum(1.0 * span_ps) AS span_ps,
           sum(1.0 * exposed_communication_ps) AS collective_ps,
           sum(1.0 * exposed_transfer_ps) AS transfer_ps, sum(1.0 * any_exposed_ps) AS any_ps
    FROM device
    GROUP BY run, name
), part AS MATERIALIZED (
    SELECT run, plane_id, hlo_op AS op, kind, category, is_synchronous, overlapped_by,
           sum(occurrences) AS n, sum(1.0 * duration_ps) AS total_ps,
           sum(1.0 * exposed_ps) AS exposed_ps, sum(1.0 * wait_ps) AS wait_ps,
           total(occurrences * (bytes IS NOT NULL)) AS n_bytes,
           sum(1.0 * bytes * occurrences) AS bytes
    FROM temp.async_op_totals(:source, 1)
    GROUP BY plane_id, hlo_op, overlapped_by, category, kind, is_synchronous, run
), placed AS MATERIALIZED (
    SELECT *, (SELECT d.name FROM device AS d WHERE d.run = p.run AND d.plane_id = p.plane_id)
                  AS device
    FROM part AS p
), cover AS (
    SELECT run, device, op, kind, category, is_synchronous, overlapped_by, sum(n) AS n,
           sum(total_ps) AS total_ps, sum(exposed_ps) AS exposed_ps, sum(wait_ps) AS wait_ps,
           sum(n_bytes) AS n_bytes, sum(bytes) AS bytes
    FROM placed
    WHERE device IS NOT NULL
    GROUP BY run, device, op, kind, category, is_synchronous, overlapped_by
), ordered AS (
    SELECT *, row_number() OVER (PARTITION BY run, device, op, kind, category, is_synchronous
                                 ORDER BY overlapped_by IS NULL, n DESC, overlapped_by) AS nth
    FROM cover
), op AS (
    SELECT run, device, op, kind, category, is_synchronous, sum(n) AS n,
           sum(total_ps) AS total_ps, sum(exposed_ps) AS exposed_ps, sum(wait_ps) AS wait_ps,
           CASE WHEN sum(n_bytes) = sum(n) THEN CAST(sum(bytes) AS INTEGER) END AS bytes,
           max(iif(nth = 1, overlapped_by, NULL)) AS overlapped_by
    FROM ordered
    GROUP BY run, device, op, kind, category, is_synchronous
), spanned AS (
    SELECT o.*, t.span_ps, t.any_ps,
           iif(o.kind = 'collective', t.collective_ps, t.transfer_ps) AS kind_exposed_ps
    FROM op AS o JOIN total AS t ON t.run = o.run AND t.name = o.device
), ranked AS (
    SELECT *, row_number() OVER (PARTITION BY run ORDER BY exposed_ps DESC, op, kind, category,
                                                           is_synchronous, device) AS rank
    FROM spanned
)
SELECT run, rank, device, op, kind, category, is_synchronous, n, total_ps / 1e6, exposed_ps / 1e6,
       100.0 * exposed_ps / total_ps, 100.0 * exposed_ps / span_ps, wait_ps / 1e6, bytes,
       bytes / 1073741824.0 / (total_ps / 1e12), overlapped_by, kind_exposed_ps / 1e6,
       100.0 * kind_exposed_ps / span_ps, any_ps / 1e6, 100.0 * any_ps / span_ps
FROM ranked
ORDER BY run, rank
