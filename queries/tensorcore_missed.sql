-- SPDX-License-Identifier: Apache-2.0
-- Which kernels could run on tensor cores but do not?
-- parameter source = NULL: label of an attached run, or path of a file, run folder or log dir; if
--   NULL, all attached runs
-- parameter n INTEGER = NULL: number of rows of each run; NULL for all
-- column run TEXT: name of the run
-- column rank INTEGER: rank by total duration within the run; 1 is the longest
-- column op_name TEXT: name of the framework op; tensor cores can run ops with this name
-- column kernel_name TEXT: name of the kernel, which does not use tensor cores, judged by its HLO
--   op and its name (docs/semantics.md, Kernel on tensor cores). These kernels have no row: those
--   of Fourier transforms and complex products, which tensor cores cannot run, those of HLO ops
--   without a product, and helpers of a kernel on tensor cores (kernel_ops.is_helper)
-- column short_name TEXT: name of the kernel without namespaces, template arguments and
--   parameters, unique in the run (docs/semantics.md)
-- column occurrences INTEGER [kernels]: number of times that the kernel ran for the op
-- column total_duration_us REAL [us]: sum of the kernel's durations on the event clock
-- column percent REAL [percent 0..100]: total_duration_us as a share of the time of all kernels of
--   the run
-- column avg_duration_us REAL [us]: average duration of one kernel
-- needs: events gpu
-- nothing: none found: no op that tensor cores can run has a kernel that does not use them
WITH kernel AS (
    SELECT run, op_name, kernel_name, max(short_name) AS short_name,
           CAST(total(occurrences) AS INTEGER) AS occurrences,
           total(total_duration_us) AS us,
           op_is_tensorcore_eligible AND NOT kernel_uses_tensorcore AND NOT is_helper AS missed
    FROM temp.kernel_ops(:source)
    GROUP BY run, op_name, kernel_name, missed
), share AS (
    SELECT *, sum(us) OVER (PARTITION BY run) AS all_us FROM kernel
), ranked AS (
    SELECT *, row_number() OVER (PARTITION BY run ORDER BY us DESC, op_name, kernel_name) AS rank
    FROM share
    WHERE missed AND NOT (lower(kernel_name) GLOB '*fft*' OR lower(kernel_name) GLOB '*cgemm*'
                          OR lower(kernel_name) GLOB '*zgemm*')
)
SELECT run, rank, op_name, kernel_name, short_name, occurrences, us, 100.0 * us / all_us,
       us / occurrences
FROM ranked
WHERE (:n IS NULL OR rank <= :n)
ORDER BY run, rank
