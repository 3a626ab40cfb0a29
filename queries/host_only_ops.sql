-- SPDX-License-Identifier: Apache-2.0
-- Which framework ops ran on the host only, without any work on a device?
-- example: SELECT operation, type, occurrences, self_time_us FROM host_only_ops WHERE n = 10
-- parameter source = NULL: label of an attached run, or path of a file, run folder or log dir; if
--   NULL, all attached runs
-- parameter n INTEGER = NULL: number of ops of each run, most self time first; NULL for all
-- needs: events
-- nothing: no framework op is recorded on host threads, or each has work on a device
-- column run TEXT: name of the run
-- column rank INTEGER: rank by self time within the run
-- column operation TEXT: name of the op; in a run of several hosts, it has no work on a device of
--   any host, neither in tf_ops nor in kernel_time_by_op. Names without a type, as in records of
--   allocators, and XlaModule, under which XLA launches kernels, are no framework ops
-- column type TEXT: type of the op, such as ConcatV2; Dataset for an iterator of an input pipeline
-- column execution_mode TEXT: whether the op ran eagerly, as in tf_ops
-- column occurrences INTEGER [events]: number of times that it ran on the hosts; as in tf_ops,
--   records of allocators that name the op count too
-- column total_time_us REAL [us]: sum of its durations on host threads
-- column self_time_us REAL [us]: part of total_time_us without ops nested directly in it
-- column percent REAL [percent]: self time as a share of the self time of all framework ops on the
--   hosts, ops with work on a device included; NULL if that is 0
WITH on_device AS MATERIALIZED (
    SELECT run, operation FROM temp.tf_ops(:source, 0, 0) WHERE host_or_device = 'Device'
    UNION
    SELECT run, operation FROM temp.kernel_time_by_op(:source) -- older files name ops otherwise
), on_host AS (
    SELECT run, operation, type, execution_mode, occurrences, total_time_us, total_self_time_us,
           total(total_self_time_us) OVER (PARTITION BY run) AS all_us
    FROM temp.tf_ops(:source, 0, 0)
    WHERE host_or_device = 'Host' AND type <> '' AND operation <> 'XlaModule'
), ranked AS (
    SELECT h.*, row_number() OVER (PARTITION BY h.run
                                   ORDER BY total_self_time_us DESC, h.operation, type) AS rank
    FROM on_host AS h LEFT JOIN on_device AS d ON d.run = h.run AND d.operation = h.operation
    WHERE d.run IS NULL
)
SELECT run, rank, operation, type, execution_mode, occurrences, total_time_us, total_self_time_us,
       100.0 * total_self_time_us / all_us
FROM ranked
WHERE (:n IS NULL OR rank <= :n)
ORDER BY run, rank
