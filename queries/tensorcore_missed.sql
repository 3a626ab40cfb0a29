-- SPDX-License-Identifier: Apache-2.0
-- Which kernels could run on tensor cores and do not?
-- parameter source = NULL: a label, file, run folder or log dir; all attached runs without it
-- parameter n = 20: how many rows of each run
-- column run TEXT: the run
-- column rank INTEGER: 1 is the largest total of the run
-- column op_name TEXT: framework op, which by its name is one that tensor cores can run
-- column kernel_name TEXT: kernel that runs it, which by its name does not use them; left out are
--   kernels of Fourier transforms and of complex products, which no tensor core runs, of HLO ops
--   without a product in them, and helpers of a kernel on tensor cores (kernel_ops.is_helper)
-- column occurrences INTEGER [kernels]: how often it ran
-- column total_duration_us REAL [us]: sum of its durations on the event clock
-- column percent REAL [percent 0..100]: share of the time of all kernels of the run
-- column avg_duration_us REAL [us]: average of one
-- needs: events gpu
-- nothing: none found: no kernel of an op that tensor cores can run runs without them
WITH kernel AS (
    SELECT run, op_name, kernel_name, CAST(total(occurrences) AS INTEGER) AS occurrences,
           total(total_duration_us) AS us,
           op_is_tensorcore_eligible AND NOT kernel_uses_tensorcore AND NOT is_helper
           AND NOT (lower(kernel_name) GLOB '*fft*'
                    OR lower(kernel_name) GLOB '*[cz]gemm*') AS missed
    FROM temp.kernel_ops(:source)
    GROUP BY run, op_name, kernel_name, missed
), share AS (
    SELECT *, sum(us) OVER (PARTITION BY run) AS all_us FROM kernel
), ranked AS (
    SELECT *, row_number() OVER (PARTITION BY run ORDER BY us DESC, op_name, kernel_name) AS rank
    FROM share
    WHERE missed
)
SELECT run, rank, op_name, kernel_name, occurrences, us, 100.0 * us / nullif(all_us, 0),
       us / occurrences
FROM ranked
WHERE rank <= coalesce(:n, 20)
ORDER BY run, rank
