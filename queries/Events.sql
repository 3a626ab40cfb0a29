-- What does XProf's Events DB hold for this run?
-- parameter source = NULL: a label, file, run folder or log dir; all attached runs without it
-- column device TEXT: cpu:0, gpu: and the plane's id, the plane's name without /device: of TPUs, the whole name of /device:CUSTOM planes
-- column stream_id INTEGER: line id modulo 2^32; NULL on host rows
-- column thread_id INTEGER: line id modulo 2^32; NULL on device rows
-- column thread_name TEXT: name of the thread; NULL on device rows
-- column correlation_id INTEGER: stat correlation_id modulo 2^32, 0 where it is no uint64 (on GPU rows: no integer); NULL on TPU rows
-- column kernel_name TEXT: name of the event; steps and modules of a TensorCore carry step: or HLO Module: before it; NULL on other TPU planes
-- column kernel_details TEXT: stat kernel_details of GPU rows
-- column tf_op_name TEXT: NULL: needs the op names that are read with the HLO programs
-- column tf_op_type TEXT: NULL: needs the op names that are read with the HLO programs
-- column hlo_op TEXT: HLO instruction of GPU kernels and TensorCore ops; empty where XProf gives an empty text
-- column hlo_module TEXT: HLO module; of TensorCore ops the name of the module's event that includes it
-- column start_ns INTEGER [ns]: start, cut to whole ns; a time before the session is decimal TEXT, 2^64 too large, as XProf has it
-- column end_ns INTEGER [ns]: start_ns and the duration cut to whole ns
-- column self_time_ns INTEGER [ns]: duration; on TPU planes without what nests directly inside, in whole ns and stored order: XProf subtracts no nesting elsewhere
-- column step TEXT: of TensorCore ops the step's event that includes it; NULL on other rows: needs the grouping of events into steps
-- column category TEXT: host, device, or the line's name on TPU and custom planes
-- column flops INTEGER [FLOP]: stat flops of TPU and custom rows, 0 where it is no integer
-- column memory_accessed INTEGER [bytes]: stat bytes_accessed, as flops
-- column input_tensors TEXT: NULL: needs the operands of the HLO programs
-- column output_tensors TEXT: NULL: needs the shapes of the HLO programs
-- column trace_args TEXT: the remaining stats, name=value; on TPU and custom rows the metadata's too, and first
-- column hlo_fingerprint TEXT: NULL: XProf's hash is not known
-- column flow TEXT: stat flow of host rows
-- column source_line TEXT: stat source; NULL on GPU rows
-- column dcn_src_slice_id INTEGER: slice that sent it, of a MegaScale receive event of the host that has these stats
-- column dcn_dst_slice_id INTEGER: slice that received it, of a MegaScale receive event of the host that has these stats
-- column dcn_src_logical_device_id INTEGER: device of the slice that sent it, of a MegaScale receive event of the host that has these stats
-- column dcn_dst_logical_device_id INTEGER: device of the slice that received it, of a MegaScale receive event of the host that has these stats
-- column dcn_collective_name TEXT: collective, of a MegaScale receive event of the host that has these stats
-- column dcn_duration_us INTEGER [us]: time on the way, of a MegaScale receive event of the host that has these stats
-- column dcn_payload_size_bytes INTEGER [bytes]: size, of such an event; 0 where it does not say
WITH cpu AS MATERIALIZED ( -- of several planes of this name, the last
    SELECT run, host, max(plane_id) AS plane_id FROM temp.planes(:source) WHERE name = '/host:CPU' GROUP BY run, host
), shown AS MATERIALIZED (
    SELECT l.run, l.line_id, CAST(l.proto_id AS INTEGER) & 4294967295 AS id, l.name AS line_name,
           CASE WHEN c.plane_id IS NOT NULL THEN 'host' WHEN p.kind = 'gpu' THEN 'gpu' WHEN p.name GLOB '/device:CUSTOM:*' THEN 'custom'
                WHEN p.kind <> 'tensorcore' THEN 'tpu' WHEN l.proto_id = '1' THEN 'step' WHEN l.proto_id = '2' THEN 'module' ELSE 'op' END AS place,
           CASE WHEN c.plane_id IS NOT NULL THEN 'cpu:0' WHEN p.kind = 'gpu' THEN 'gpu:' || p.proto_id
                WHEN p.name GLOB '/device:CUSTOM:*' THEN p.name ELSE substr(p.name, 9) END AS device
    FROM temp.lines(:source) AS l JOIN temp.planes(:source) AS p ON p.run = l.run AND p.plane_id = l.plane_id
         LEFT JOIN cpu AS c ON c.run = p.run AND c.plane_id = p.plane_id
    WHERE CASE WHEN c.plane_id IS NOT NULL OR p.kind = 'gpu' THEN NOT l.derived
               WHEN p.kind = 'tensorcore' THEN l.proto_id IN ('1', '2', '3') ELSE p.name GLOB '/device:TPU:*' OR p.name GLOB '/device:CUSTOM:*' END
), dcn AS MATERIALIZED (
    SELECT e.run, e.event_id, max(CASE WHEN t.name = 'dcn_label' THEN value END) AS label,
           max(CASE WHEN t.name = 'dcn_source_slice_id' THEN iif(type = 'int64', value, 0) END) AS src_slice,
           max(CASE WHEN t.name = 'dcn_destination_slice_id' THEN iif(type = 'int64', value, 0) END) AS dst_slice,
           max(CASE WHEN t.name = 'dcn_source_per_slice_device_id' THEN iif(type = 'int64', value, 0) END) AS src_device,
           max(CASE WHEN t.name = 'dcn_destination_per_slice_device_id' THEN iif(type = 'int64', value, 0) END) AS dst_device,
           max(CASE WHEN t.name = 'duration_us' THEN iif(type IN ('int64', 'uint64'), value, 0) END) AS duration_us,
           coalesce(max(CASE WHEN t.name = 'payload_size_bytes' THEN iif(type = 'int64', value, 0) END), 0) AS size_bytes
    FROM cpu AS c CROSS JOIN temp.trace_events(:source) AS e ON e.run = c.run AND e.plane_id = c.plane_id
         CROSS JOIN temp.event_stats(:source) AS t ON t.run = e.run AND t.event_id = e.event_id
    WHERE e.name = 'MegaScale: Communication Transport Receive' AND origin = 'event'
    GROUP BY e.run, e.event_id
    HAVING count(DISTINCT CASE WHEN t.name IN ('dcn_label', 'dcn_source_slice_id', 'dcn_destination_slice_id', 'dcn_source_per_slice_device_id',
                                               'dcn_destination_per_slice_device_id', 'duration_us') THEN t.name END) = 6
), events AS (
    SELECT e.event_id, e.name, e.display_name, e.start_ps / 1000 AS start_ns, e.duration_ps / 1000 AS duration_ns, e.step_event_id, e.module_event_id, s.*,
           CASE WHEN place IN ('host', 'gpu', 'custom') THEN e.duration_ps / 1000 ELSE max(e.self_ns, 0) END AS self_ns,
           CASE WHEN place IN ('host', 'gpu') THEN 'event' END AS only_origin -- XProf reads the metadata's stats on TPU and custom planes only
    FROM shown AS s CROSS JOIN temp.trace_events(:source) AS e ON e.run = s.run AND e.line_id = s.line_id
), told AS ( -- of several stats of a name the last one counts
    SELECT *,
           (SELECT group_concat(name || '=' || text, ',')
            FROM (SELECT name, CASE type WHEN 'bytes' THEN '<opaque bytes>' WHEN 'double' THEN CASE WHEN value IS NULL THEN 'nan' WHEN abs(value) < 2.2250738585072014e-308 THEN '0' ELSE lower(printf('%g', value)) END
                                         ELSE coalesce(value, '') END AS text
                  FROM temp.event_stats(:source) AS t
                  WHERE t.run = e.run AND t.event_id = e.event_id AND coalesce(origin = only_origin, 1)
                    AND CASE place WHEN 'host' THEN name NOT IN ('correlation_id', 'flow', 'group_id', 'source')
                                   WHEN 'gpu' THEN name NOT IN ('correlation_id', 'kernel_details', 'tf_op', 'hlo_op', 'hlo_module', 'program_id', 'shape', 'group_id')
                                   ELSE name NOT IN ('flops', 'bytes_accessed', 'source', 'tf_op') END
                  ORDER BY origin DESC)) AS args,
           CASE WHEN place IN ('host', 'gpu') THEN
               (SELECT iif(type = 'uint64' OR (type = 'int64' AND place = 'gpu'), value & 4294967295, 0) FROM temp.event_stats(:source) AS t
                WHERE t.run = e.run AND t.event_id = e.event_id AND t.name = 'correlation_id' AND origin = 'event' ORDER BY t.rowid DESC LIMIT 1) END AS correlation,
           CASE WHEN place NOT IN ('host', 'gpu') THEN
               (SELECT iif(type IN ('int64', 'uint64'), iif(typeof(value) = 'integer' AND value < 0, printf('%u', value), value), 0) FROM temp.event_stats(:source) AS t
                WHERE t.run = e.run AND t.event_id = e.event_id AND t.name = 'flops' ORDER BY origin, t.rowid DESC LIMIT 1) END AS flops,
           CASE WHEN place NOT IN ('host', 'gpu') THEN
               (SELECT iif(type IN ('int64', 'uint64'), iif(typeof(value) = 'integer' AND value < 0, printf('%u', value), value), 0) FROM temp.event_stats(:source) AS t
                WHERE t.run = e.run AND t.event_id = e.event_id AND t.name = 'bytes_accessed' ORDER BY origin, t.rowid DESC LIMIT 1) END AS bytes,
           CASE WHEN place <> 'gpu' THEN
               (SELECT value FROM temp.event_stats(:source) AS t WHERE t.run = e.run AND t.event_id = e.event_id AND t.name = 'source'
                AND coalesce(origin = only_origin, 1) ORDER BY origin, t.rowid DESC LIMIT 1) END AS source_line,
           CASE WHEN place = 'host' THEN
               (SELECT value FROM temp.event_stats(:source) AS t WHERE t.run = e.run AND t.event_id = e.event_id AND t.name = 'flow'
                AND origin = 'event' ORDER BY t.rowid DESC LIMIT 1) END AS flow,
           CASE WHEN place = 'gpu' THEN
               (SELECT value FROM temp.event_stats(:source) AS t WHERE t.run = e.run AND t.event_id = e.event_id AND t.name = 'kernel_details'
                AND origin = 'event' ORDER BY t.rowid DESC LIMIT 1) END AS details,
           CASE WHEN place = 'gpu' THEN
               (SELECT value FROM temp.event_stats(:source) AS t WHERE t.run = e.run AND t.event_id = e.event_id AND t.name = 'hlo_op'
                AND type IN ('str', 'ref') AND origin = 'event' ORDER BY t.rowid DESC LIMIT 1) END AS gpu_op,
           CASE WHEN place = 'gpu' THEN
               (SELECT value FROM temp.event_stats(:source) AS t WHERE t.run = e.run AND t.event_id = e.event_id AND t.name = 'hlo_module'
                AND type IN ('str', 'ref') AND origin = 'event' ORDER BY t.rowid DESC LIMIT 1) END AS gpu_module
    FROM events AS e
)
SELECT device, CASE WHEN place <> 'host' THEN id END, CASE WHEN place = 'host' THEN id END, CASE WHEN place = 'host' THEN line_name END,
       correlation,
       CASE place WHEN 'module' THEN 'HLO Module:' || name WHEN 'step' THEN 'step:' || name WHEN 'tpu' THEN NULL ELSE name END,
       details, NULL, NULL,
       CASE place WHEN 'gpu' THEN replace(coalesce(gpu_op, iif(gpu_module IS NULL, NULL, '')), rtrim(gpu_op, replace(gpu_op, ':', '')), '')
                  WHEN 'op' THEN coalesce(display_name, '') END,
       CASE place WHEN 'gpu' THEN coalesce(gpu_module, iif(gpu_op IS NULL, NULL, ''))
                  WHEN 'op' THEN (SELECT m.name FROM temp.trace_events(:source) AS m WHERE m.run = told.run AND m.event_id = told.module_event_id) END,
       iif(start_ns < 0, printf('%u', start_ns), start_ns), iif(start_ns + duration_ns < 0, printf('%u', start_ns + duration_ns), start_ns + duration_ns), self_ns,
       (SELECT 'step:' || m.name FROM temp.trace_events(:source) AS m WHERE m.run = told.run AND m.event_id = told.step_event_id),
       CASE place WHEN 'host' THEN 'host' WHEN 'gpu' THEN 'device' ELSE line_name END,
       flops, bytes, NULL, NULL, args, NULL, flow, source_line,
       dcn.src_slice, dcn.dst_slice, dcn.src_device, dcn.dst_device, dcn.label, dcn.duration_us, dcn.size_bytes
FROM told LEFT JOIN dcn ON dcn.run = told.run AND dcn.event_id = told.event_id
