-- SPDX-License-Identifier: Apache-2.0
-- What does XProf's framework op stats page, and its CSV export, show?
-- parameter source = NULL: label of an attached run, or path of a file, run folder or log dir; if
--   NULL, the attached run (an error if several are attached)
-- needs: events
-- nothing: no event on a device or host thread is a framework op
-- column "Rank" INTEGER: rank of the op, from 1: device ops by self time, then host ops by self
--   time
-- column "Host/device" TEXT: where the op ran: Device or Host
-- column "Operation Type" TEXT: type of the op
-- column "Operation Name" TEXT: name of the op
-- column "#Occurrences" INTEGER: number of times that the op ran
-- column "Total time (us)" REAL [us]: total time from start to end of the op, nested ops included
-- column "Avg. time (us)" REAL [us]: total time divided by occurrences
-- column "Total self-time (us)" REAL [us]: total time of the op without nested ops
-- column "Avg. self-time (us)" REAL [us]: total self time divided by occurrences
-- column "Total self-time on Device (%)" REAL [fraction 0..1]: self time of the op divided by the
--   devices' time: a fraction, although XProf's label says percent
-- column "Cumulative total-self time on Device (%)" REAL [fraction 0..1]: sum of the device self
--   time fractions of this row and the rows before it
-- column "Total self-time on Host (%)" REAL [fraction 0..1]: self time of the op divided by the
--   host threads' time: a fraction, although XProf's label says percent
-- column "Cumulative total-self time on Host (%)" REAL [fraction 0..1]: sum of the host self time
--   fractions of this row and the rows before it
-- column "Normalized FLOP Rate (FLOPs/s)" REAL [GFLOP/s]: FLOP rate while the op ran, in GFLOP/s,
--   although XProf's label says FLOPs/s
-- column "Model FLOP Rate (GFLOP/s)" REAL [GFLOP/s]: FLOP rate while the op ran, with operations as
--   the model defines them
-- column "Measured Memory BW (GBytes/Sec)" REAL [GiB/s]: bytes read and written per second while
--   the op ran, in GiB/s, although XProf's label says GBytes/Sec
-- column "Operational Intensity (FLOPs/Byte)" REAL [FLOP/byte]: operations per byte accessed
-- column "GPU TensorCore utilization" REAL [fraction 0..1]: share of the op's kernel time in
--   kernels on tensor cores; NULL if not on GPU, where XProf omits the column
-- column "Bound by" TEXT: resource that the op uses closest to its peak
-- column "Execution mode" TEXT: how the op ran: Eager or Function
SELECT rank, host_or_device, type, operation, occurrences, total_time_us, avg_time_us,
       total_self_time_us, avg_self_time_us, device_self_time_fraction,
       device_cumulative_self_time_fraction, host_self_time_fraction,
       host_cumulative_self_time_fraction, normalized_gflops, model_gflops, memory_bw_gibps,
       operational_intensity, tensorcore_utilization_fraction, bound_by, execution_mode
FROM temp.tf_ops(:source)
UNION ALL
SELECT prof_error('tf_stats: ' || n || ' runs are attached; give one of them: ' || labels), NULL,
       NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
       NULL, NULL, NULL
FROM (SELECT count(*) AS n, group_concat(run, ', ') AS labels FROM temp.prof_runs)
WHERE :source IS NULL AND n > 1
