-- SPDX-License-Identifier: Apache-2.0
-- What does XProf's framework op stats say (and its CSV export hold)?
-- parameter source = NULL: a label, file, run folder or log dir; the attached run without it, an
--   error if there are several
-- needs: events
-- nothing: no event of a device or of a host thread is a framework op
-- column "Rank" INTEGER: 1 and on, device ops by self time, then host ops
-- column "Host/device" TEXT: Device or Host
-- column "Operation Type" TEXT: type of the op
-- column "Operation Name" TEXT: name of the op
-- column "#Occurrences" INTEGER: how often it ran
-- column "Total time (us)" REAL [us]: time from begin to end, nested ops included
-- column "Avg. time (us)" REAL [us]: total time by occurrences
-- column "Total self-time (us)" REAL [us]: time without nested ops
-- column "Avg. self-time (us)" REAL [us]: self time by occurrences
-- column "Total self-time on Device (%)" REAL [fraction 0..1]: share of the devices' time, whatever
--   the label says
-- column "Cumulative total-self time on Device (%)" REAL [fraction 0..1]: the same of all rows down
--   to this
-- column "Total self-time on Host (%)" REAL [fraction 0..1]: share of the threads' time
-- column "Cumulative total-self time on Host (%)" REAL [fraction 0..1]: the same of all rows down
--   to this
-- column "Normalized FLOP Rate (FLOPs/s)" REAL [GFLOP/s]: rate while it ran, whatever the label
--   says
-- column "Model FLOP Rate (GFLOP/s)" REAL [GFLOP/s]: rate of the operations that the model has
-- column "Measured Memory BW (GBytes/Sec)" REAL [GiB/s]: bytes read and written while it ran,
--   whatever the label says
-- column "Operational Intensity (FLOPs/Byte)" REAL [FLOP/byte]: operations a byte
-- column "GPU TensorCore utilization" REAL [fraction 0..1]: share of its kernels' time on tensor
--   cores; NULL: not a GPU, where XProf leaves the column out
-- column "Bound by" TEXT: the resource that it uses most
-- column "Execution mode" TEXT: Eager or Function
SELECT rank, host_or_device, type, operation, occurrences, total_time_us, avg_time_us, total_self_time_us, avg_self_time_us, device_self_time_fraction,
       device_cumulative_self_time_fraction, host_self_time_fraction, host_cumulative_self_time_fraction, normalized_gflops, model_gflops, memory_bw_gibps,
       operational_intensity, tensorcore_utilization_fraction, bound_by, execution_mode
FROM temp.tf_ops(:source)
UNION ALL
SELECT prof_error('tf_stats: ' || n || ' runs are attached; give one of them: ' || labels), NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
       NULL, NULL, NULL
FROM (SELECT count(*) AS n, group_concat(run, ', ') AS labels FROM temp.prof_runs)
WHERE :source IS NULL AND n > 1
