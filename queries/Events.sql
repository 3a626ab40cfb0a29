-- What does XProf's Events DB hold for this run?
-- parameter source = NULL: a label, file, run folder or log dir; all attached runs without it
-- column device TEXT: cpu:0, gpu:N or TPU:N
-- column stream_id INTEGER: line id modulo 2^32; NULL on host rows
-- column thread_id INTEGER: line id modulo 2^32; NULL on device rows
-- column thread_name TEXT: name of the thread; NULL on device rows
-- column correlation_id INTEGER: stat correlation_id; NULL on TPU rows
-- column kernel_name TEXT: name of the event; TPU modules carry HLO Module: before it
-- column kernel_details TEXT: stat kernel_details of GPU rows
-- column tf_op_name TEXT: NULL: needs the op names that are read with the HLO programs
-- column tf_op_type TEXT: NULL: needs the op names that are read with the HLO programs
-- column hlo_op TEXT: HLO instruction of GPU kernels and TPU ops
-- column hlo_module TEXT: HLO module; of TPU ops with its (program_id)
-- column start_ns INTEGER [ns]: start, cut to whole ns
-- column end_ns INTEGER [ns]: start_ns and the duration cut to whole ns
-- column self_time_ns INTEGER [ns]: duration; of TPU ops without their direct children: XProf subtracts no nesting elsewhere
-- column step TEXT: NULL: needs the grouping of events into steps
-- column category TEXT: host, device, or the line's name on TPU
-- column flops INTEGER [FLOP]: stat flops
-- column memory_accessed INTEGER [bytes]: stat bytes_accessed
-- column input_tensors TEXT: NULL: needs the operands of the HLO programs
-- column output_tensors TEXT: NULL: needs the shapes of the HLO programs
-- column trace_args TEXT: the remaining stats, name=value, the metadata's first
-- column hlo_fingerprint TEXT: NULL: XProf's hash is not known
-- column flow TEXT: NULL, as in every answer of XProf seen
-- column source_line TEXT: stat source
-- column dcn_src_slice_id INTEGER: NULL, as in every answer of XProf seen
-- column dcn_dst_slice_id INTEGER: NULL, as in every answer of XProf seen
-- column dcn_src_logical_device_id INTEGER: NULL, as in every answer of XProf seen
-- column dcn_dst_logical_device_id INTEGER: NULL, as in every answer of XProf seen
-- column dcn_collective_name TEXT: NULL, as in every answer of XProf seen
-- column dcn_duration_us REAL [us]: NULL, as in every answer of XProf seen
-- column dcn_payload_size_bytes INTEGER [bytes]: NULL, as in every answer of XProf seen
WITH shown AS MATERIALIZED (
    SELECT l.run, l.host, l.line_id, CAST(l.proto_id AS INTEGER) & 4294967295 AS id, l.name AS line_name, p.name AS plane_name,
           CASE WHEN p.name = '/host:CPU' THEN 'host' WHEN p.kind = 'gpu' THEN 'gpu' ELSE l.name END AS place
    FROM temp.lines(:source) AS l JOIN temp.planes(:source) AS p ON p.run = l.run AND p.plane_id = l.plane_id
    WHERE CASE WHEN p.name = '/host:CPU' OR p.kind = 'gpu' THEN NOT l.derived ELSE p.kind = 'tensorcore' AND l.name IN ('Steps', 'XLA Modules', 'XLA Ops') END
), stats AS (
    SELECT e.*, s.*,
           (SELECT group_concat(name || '=' || value, ',')
            FROM (SELECT name, CASE type WHEN 'bytes' THEN '<opaque bytes>' ELSE value END AS value
                  FROM temp.event_stats(:source) AS t
                  WHERE t.run = e.run AND t.event_id = e.event_id AND type <> 'none' AND name NOT IN ('flow', 'source')
                    AND CASE place WHEN 'host' THEN name NOT IN ('correlation_id', 'group_id')
                                   WHEN 'gpu' THEN name NOT IN ('correlation_id', 'kernel_details', 'tf_op', 'hlo_op', 'hlo_module', 'program_id',
                                                                'flops', 'bytes_accessed', 'shape', 'group_id')
                                   ELSE name NOT IN ('flops', 'bytes_accessed', 'tf_op') END
                  ORDER BY origin DESC)) AS args
    FROM shown AS s CROSS JOIN temp.trace_events(:source) AS e ON e.run = s.run AND e.line_id = s.line_id
)
SELECT CASE place WHEN 'host' THEN 'cpu:0' WHEN 'gpu' THEN 'gpu:' || substr(plane_name, 13) ELSE 'TPU:' || substr(plane_name, 13) END,
       CASE WHEN place <> 'host' THEN id END,
       CASE WHEN place = 'host' THEN id END,
       CASE WHEN place = 'host' THEN line_name END,
       CASE WHEN place IN ('host', 'gpu') THEN correlation_id END,
       CASE place WHEN 'XLA Modules' THEN 'HLO Module:' ELSE '' END || name,
       CASE WHEN place = 'gpu' THEN (SELECT value FROM temp.event_stats(:source) AS t WHERE t.run = stats.run AND t.event_id = stats.event_id AND t.name = 'kernel_details' LIMIT 1) END,
       NULL, NULL,
       CASE place WHEN 'gpu' THEN hlo_op WHEN 'XLA Ops' THEN coalesce(display_name, hlo_op) END,
       CASE place WHEN 'gpu' THEN hlo_module WHEN 'XLA Ops' THEN hlo_module || '(' || program_id || ')' END,
       start_ps / 1000, start_ps / 1000 + duration_ps / 1000,
       duration_ps / 1000 - CASE WHEN place = 'XLA Ops' THEN
           coalesce((SELECT sum(c.duration_ps / 1000) FROM temp.trace_events(:source) AS c WHERE c.run = stats.run AND c.parent_id = stats.event_id), 0) ELSE 0 END,
       NULL,
       CASE place WHEN 'host' THEN 'host' WHEN 'gpu' THEN 'device' ELSE line_name END,
       flops, bytes_accessed, NULL, NULL, args, NULL, NULL,
       CASE WHEN source_file IS NOT NULL THEN source_file || coalesce(':' || source_line, '') END,
       NULL, NULL, NULL, NULL, NULL, NULL, NULL
FROM stats
