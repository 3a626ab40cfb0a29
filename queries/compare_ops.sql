-- SPDX-License-Identifier: Apache-2.0
-- How do the operations of two runs differ, on devices, or on host threads if no run has a device?
-- example: SELECT * FROM compare_ops LIMIT 10
-- parameter a: first run: label of an attached run, or path of a file, run folder or log dir
-- parameter b: second run: label of an attached run, or path of a file, run folder or log dir
-- parameter kind = 'operation': which operations to compare: operation (those of top_ops), hlo
--   (those of top_hlo_ops), framework (those of tf_ops) or kernel (those of kernel_ops)
-- needs: events
-- nothing: neither run has operations of this kind
-- column run_a TEXT: name of the first run
-- column run_b TEXT: name of the second run
-- column scope TEXT: what contains the operation: the HLO module for kind operation or hlo, Device
--   or Host for framework; NULL if unknown
-- column type TEXT: type of the operation. operation: device, sparsecore or host (top_ops.place);
--   hlo: HLO category (that of the first run if they differ); framework: type of the op; kernel:
--   framework op; NULL if unknown
-- column operation TEXT: name of the operation: its name in the first run, or in the second if it
--   ran only there
-- column short_name TEXT: readable form of operation: for kernels and operations of GPUs without
--   namespaces, template arguments and parameters (docs/semantics.md); for others the same as
--   operation
-- column change TEXT: whether it ran in both runs (both), only in the second run (appeared) or only
--   in the first (vanished)
-- column matched_by TEXT: how the operations of the two runs were matched. name: same name in the
--   same HLO module and place (kind framework: of the same type; kind kernel: of the same framework
--   op). fingerprint: same fingerprint of the HLO instruction. similar name: same name without .kd
--   and jit(main)/ or, if that matches none, without trailing numbers too. A rule only matches what
--   is unique among the operations of each run that are still unmatched. NULL if change is not both
-- column name_b TEXT: name in the second run if it differs from the first; NULL otherwise
-- column occurrences_a INTEGER: number of times that it ran in the first run; 0 if it did not run
-- column occurrences_b INTEGER: number of times that it ran in the second run; 0 if it did not run
-- column time_us_a REAL [us]: self time in the first run, over all devices and steps; for kind
--   kernel, the sum of the durations
-- column time_us_b REAL [us]: self time in the second run, over all devices and steps; for kind
--   kernel, the sum of the durations
-- column delta_us REAL [us]: time_us_b minus time_us_a; positive if the second run is slower,
--   negative if it is faster
-- column delta_percent REAL [percent]: delta_us as a share of time_us_a; NULL if that is 0
-- column avg_us_a REAL [us]: average time of one execution in the first run; NULL if the operation
--   did not run
-- column avg_us_b REAL [us]: average time of one execution in the second run; NULL if the operation
--   did not run
-- column avg_ratio REAL: avg_us_b divided by avg_us_a; above 1 if the second run is slower; NULL if
--   the operation did not run in both runs, or avg_us_a is 0
-- column per_device_step_us_a REAL [us]: time_us_a divided by the number of GPUs and TensorCores
--   that compute (of SparseCores for operations on SparseCores, of hosts for operations on hosts
--   and in a run without devices) and, if both runs have steps, by the number of all steps of the
--   run, dropped ones included
-- column per_device_step_us_b REAL [us]: per_device_step_us_a for the second run
-- column delta_per_device_step_us REAL [us]: per_device_step_us_b minus per_device_step_us_a
--   (negative if the second run is faster). Use it to compare runs of different length and size.
--   Rows are ordered by its absolute value; rows of type IDLE (kind framework) are last
WITH asked AS MATERIALIZED (
    SELECT coalesce(:kind, 'operation') AS kind
), instruction AS MATERIALIZED ( -- one row each: hosts can have different programs of one id
    SELECT side, program_id, hlo_op,
           CASE WHEN min(fingerprint) = max(fingerprint) THEN min(fingerprint) END AS fingerprint
    FROM (SELECT 'a' AS side, program_id, hlo_op, fingerprint
          FROM asked CROSS JOIN temp.hlo_instructions(:a) WHERE kind = 'hlo'
          UNION ALL
          SELECT 'b', program_id, hlo_op, fingerprint
          FROM asked CROSS JOIN temp.hlo_instructions(:b) WHERE kind = 'hlo')
    GROUP BY side, program_id, hlo_op
), op(side, scope, type, name, short, fingerprint, n, us) AS (
    SELECT 'a', hlo_module, place, operation, short_name, NULL, occurrences, self_time_us
    FROM asked CROSS JOIN temp.top_ops(:a, 1000000000) WHERE kind = 'operation'
    UNION ALL
    SELECT 'a', o.hlo_module, o.category, o.hlo_op, o.hlo_op, i.fingerprint, o.occurrences,
           o.self_time_us
    FROM asked CROSS JOIN temp.top_hlo_ops(:a) AS o
         LEFT JOIN instruction AS i ON i.side = 'a' AND i.program_id = o.program_id
                                       AND i.hlo_op = o.hlo_op
    WHERE kind = 'hlo'
    UNION ALL
    SELECT 'a', host_or_device, type, operation, operation, NULL, occurrences, total_self_time_us
    FROM asked CROSS JOIN temp.tf_ops(:a, 1, 0) WHERE kind = 'framework'
    UNION ALL
    SELECT 'a', NULL, op_name, kernel_name, short_name, NULL, occurrences, total_duration_us
    FROM asked CROSS JOIN temp.kernel_ops(:a) WHERE kind = 'kernel'
    UNION ALL
    SELECT 'b', hlo_module, place, operation, short_name, NULL, occurrences, self_time_us
    FROM asked CROSS JOIN temp.top_ops(:b, 1000000000) WHERE kind = 'operation'
    UNION ALL
    SELECT 'b', o.hlo_module, o.category, o.hlo_op, o.hlo_op, i.fingerprint, o.occurrences,
           o.self_time_us
    FROM asked CROSS JOIN temp.top_hlo_ops(:b) AS o
         LEFT JOIN instruction AS i ON i.side = 'b' AND i.program_id = o.program_id
                                       AND i.hlo_op = o.hlo_op
    WHERE kind = 'hlo'
    UNION ALL
    SELECT 'b', host_or_device, type, operation, operation, NULL, occurrences, total_self_time_us
    FROM asked CROSS JOIN temp.tf_ops(:b, 1, 0) WHERE kind = 'framework'
    UNION ALL
    SELECT 'b', NULL, op_name, kernel_name, short_name, NULL, occurrences, total_duration_us
    FROM asked CROSS JOIN temp.kernel_ops(:b) WHERE kind = 'kernel'
), named AS (
    SELECT side, scope, type, name, max(short) AS short,
           CASE WHEN min(fingerprint) = max(fingerprint) AND count(fingerprint) = count(*)
                THEN min(fingerprint) END AS fingerprint,
           CAST(total(n) AS INTEGER) AS n, total(us) AS us, row_number() OVER () AS id,
           quote(scope) || quote(type) || quote(name) AS exact,
           quote(scope) || quote(name) || iif(kind = 'hlo', '', quote(type)) AS plain,
           CASE WHEN name GLOB '*.kd' THEN substr(name, 1, length(name) - 3)
                ELSE replace(name, 'jit(main)/', '') END AS cleaned,
           quote(scope) || CASE kind WHEN 'hlo' THEN ''
                                     WHEN 'kernel' THEN quote(replace(type, 'jit(main)/', ''))
                                     ELSE quote(type) END AS place
    FROM op, asked
    GROUP BY side, scope, type, name
), p1 AS ( -- p1 to p5: a number that the rows of a pair share
    SELECT *, CASE WHEN min(side) OVER w < max(side) OVER w THEN min(id) OVER w END AS p1
    FROM named
    WINDOW w AS (PARTITION BY exact)
), p2 AS ( -- of the rest, if one row of each side has it; HLO ops of two categories
    SELECT *, CASE WHEN total(side = 'a') OVER w = 1 AND total(side = 'b') OVER w = 1
                   THEN min(id) OVER w END AS p2
    FROM p1
    WINDOW w AS (PARTITION BY p1, plain)
), p3 AS (
    SELECT *, CASE WHEN fingerprint IS NOT NULL AND total(side = 'a') OVER w = 1
                        AND total(side = 'b') OVER w = 1 THEN min(id) OVER w END AS p3
    FROM p2
    WINDOW w AS (PARTITION BY p2, fingerprint)
), p4 AS (
    SELECT *, CASE WHEN total(side = 'a') OVER w = 1 AND total(side = 'b') OVER w = 1
                   THEN min(id) OVER w END AS p4
    FROM p3
    WINDOW w AS (PARTITION BY coalesce(p2, p3), place, cleaned)
), p5 AS (
    SELECT *, CASE WHEN total(side = 'a') OVER w = 1 AND total(side = 'b') OVER w = 1
                   THEN min(id) OVER w END AS p5
    FROM p4
    WINDOW w AS (PARTITION BY coalesce(p2, p3, p4), place, rtrim(cleaned, '0123456789._'))
), result AS (
    SELECT coalesce(max(scope) FILTER (WHERE side = 'a'), max(scope)) AS scope,
           coalesce(max(type) FILTER (WHERE side = 'a'), max(type)) AS type,
           coalesce(max(name) FILTER (WHERE side = 'a'), max(name)) AS name,
           coalesce(max(short) FILTER (WHERE side = 'a'), max(short)) AS short,
           CASE WHEN min(side) = 'b' THEN 'appeared' WHEN max(side) = 'a' THEN 'vanished'
                ELSE 'both' END AS change,
           CASE WHEN p2 THEN 'name' WHEN p3 THEN 'fingerprint'
                WHEN coalesce(p4, p5) THEN 'similar name' END AS how,
           CASE WHEN min(name) <> max(name) THEN max(name) FILTER (WHERE side = 'b') END AS name_b,
           coalesce(max(n) FILTER (WHERE side = 'a'), 0) AS n_a,
           coalesce(max(n) FILTER (WHERE side = 'b'), 0) AS n_b,
           total(us) FILTER (WHERE side = 'a') AS us_a, total(us) FILTER (WHERE side = 'b') AS us_b,
           CASE kind WHEN 'operation' THEN max(type) WHEN 'framework' THEN lower(max(scope))
                     ELSE 'device' END AS place
    FROM p5, asked
    GROUP BY coalesce(p2, p3, p4, p5, id)
), size(side, devices, sparsecores, hosts, steps) AS MATERIALIZED (
    SELECT 'a', count(*) FILTER (WHERE kind <> 'sparsecore'),
           count(*) FILTER (WHERE kind = 'sparsecore'),
           (SELECT count(*) FROM temp.hosts(:a)), (SELECT count(*) FROM temp.steps(:a))
    FROM temp.device_time(:a) WHERE computing_ps > 0
    UNION ALL
    SELECT 'b', count(*) FILTER (WHERE kind <> 'sparsecore'),
           count(*) FILTER (WHERE kind = 'sparsecore'),
           (SELECT count(*) FROM temp.hosts(:b)), (SELECT count(*) FROM temp.steps(:b))
    FROM temp.device_time(:b) WHERE computing_ps > 0
), shared AS (
    SELECT r.*,
           us_a / max(1, CASE place WHEN 'host' THEN s.hosts WHEN 'sparsecore' THEN s.sparsecores
                                    ELSE coalesce(nullif(s.devices, 0), s.hosts) END)
           / iif(s.steps > 0 AND t.steps > 0, s.steps, 1) AS share_a,
           us_b / max(1, CASE place WHEN 'host' THEN t.hosts WHEN 'sparsecore' THEN t.sparsecores
                                    ELSE coalesce(nullif(t.devices, 0), t.hosts) END)
           / iif(s.steps > 0 AND t.steps > 0, t.steps, 1) AS share_b
    FROM result AS r, size AS s, size AS t
    WHERE s.side = 'a' AND t.side = 'b'
), answer AS (
    SELECT (SELECT max(run) FROM temp.hosts(:a)), (SELECT max(run) FROM temp.hosts(:b)), scope,
           type,
           name, short, change, how, name_b, n_a, n_b, us_a, us_b, us_b - us_a,
           100.0 * (us_b - us_a) / us_a, us_a / n_a, us_b / n_b,
           (us_b / n_b) / (us_a / n_a), share_a, share_b,
           share_b - share_a
    FROM shared, asked
    ORDER BY kind = 'framework' AND type IS 'IDLE', abs(share_b - share_a) DESC,
             max(share_a, share_b) DESC, scope, name, type
)
SELECT * FROM answer
UNION ALL
SELECT prof_error('compare_ops: kind cannot be ''' || kind
                  || ''': it must be operation, hlo, framework or kernel'),
       NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
       NULL, NULL, NULL, NULL, NULL
FROM asked
WHERE kind NOT IN ('operation', 'hlo', 'framework', 'kernel')
