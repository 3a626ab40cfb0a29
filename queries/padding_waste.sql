-- Which buffers waste the most memory on padding, and what shape would fit?
-- parameter source = NULL: a label, file, run folder, log dir or HLO dump; all attached runs without it
-- parameter n = 10: how many, the most padding first
-- column run TEXT: the run
-- column hlo_module TEXT: the program
-- column hlo_op TEXT: instruction whose result it is, and which part of it
-- column memory_space INTEGER: 0 the device's main memory
-- column padding_mib REAL [MiB]: what holds no data
-- column size_mib REAL [MiB]: size, padding included
-- column expansion REAL [ratio]: size by the size without padding
-- column live_at_peak INTEGER [0 or 1]: 1: it counts in the program's peak; NULL: not known
-- column shape TEXT: shape with layout; the first T(...) is what the fastest dimensions are rounded up to
-- column tf_op TEXT: framework op that it comes from
-- column source_line TEXT: file and line of the user's program
SELECT run, hlo_module, hlo_op || coalesce(shape_index, ''), memory_space, padding_bytes_actual / 1048576.0, size_bytes / 1048576.0,
       CASE WHEN unpadded_bytes_actual > 0 THEN 1.0 * size_bytes / unpadded_bytes_actual END, live_at_peak, shape_actual, tf_op,
       source_file || ':' || source_line
FROM temp.buffer_allocations(:source)
WHERE padding_bytes_actual > 0
ORDER BY padding_bytes_actual DESC, run, hlo_module, buffer_id
LIMIT coalesce(:n, 10)
