-- SPDX-License-Identifier: Apache-2.0
-- Which buffers does a compiled program hold at one moment of its plan?
-- parameter source = NULL: a label, file, run folder, log dir or HLO dump; all attached runs
--   without it
-- parameter event INTEGER = NULL: event of heap_timeline, an error if no program has it; a program
--   that does not have it has no rows; NULL: the peak of each program
-- parameter module = NULL: the program, by its module's name or by its id; an error if there is none;
--   NULL: all programs
-- parameter n = 20: how many rows of each run, the largest buffers first
-- parameter space = 0: memory space: 0 the device's main memory, 1 TPU VMEM ...; an error where no
--   program has the one given
-- needs: programs
-- nothing: no HLO program holds a buffer in this memory space (programs dumped before optimization
--   have no buffer assignment)
-- column run TEXT: the run
-- column program_id TEXT: the program
-- column hlo_module TEXT: its module
-- column at_event INTEGER: the moment: what the event allocates is there already, what it frees is
--   still there; NULL: the peak of a program without temporaries
-- column hlo_op TEXT: instruction whose result the buffer holds, and which part of it
-- column kind TEXT: parameter, output or constant, which live throughout, or temporary
-- column size_mib REAL [MiB]: size, padding included
-- column expansion REAL [ratio]: size by the size without padding
-- column start_event INTEGER: event that allocates its storage; NULL: it lives throughout
-- column end_event INTEGER: event that frees its storage, when the last of the buffers that share
--   it is freed; NULL: it lives throughout
-- column shape TEXT: shape with layout
-- column tf_op TEXT: framework op that it comes from; NULL: not known
-- column source_line TEXT: file and line of the innermost stack frame, which may be in a library;
--   NULL: not known
-- column hosts INTEGER [hosts]: how many hosts have this program with these numbers
WITH moments AS MATERIALIZED (
    SELECT run, host, program_id, memory_space,
           CASE WHEN :event IS NULL THEN peak_event
                ELSE (SELECT t.event FROM temp.heap_timeline(:source) AS t
                       WHERE t.run = p.run AND t.host = p.host AND t.program_id = p.program_id
                             AND t.memory_space = p.memory_space AND t.event = :event) END AS event
    FROM temp.memory_peaks(:source) AS p
    WHERE memory_space = coalesce(:space, 0)
          AND (:module IS NULL OR :module IN (hlo_module, program_id))
), live AS (
    SELECT b.run, b.program_id, b.hlo_module, m.event, b.hlo_op
           || coalesce(b.shape_index, '') AS op,
           b.kind, b.size_bytes, b.unpadded_bytes_actual AS data_bytes, b.storage_start_event,
           b.storage_end_event, b.shape_actual AS shape, b.tf_op,
           b.source_file || ':' || b.source_line AS line, b.buffer_id, min(b.host) AS host,
           count(DISTINCT b.host) AS hosts
    FROM moments AS m
         JOIN temp.buffer_allocations(:source) AS b USING (run, host, program_id, memory_space)
    WHERE m.event BETWEEN b.storage_start_event AND b.storage_end_event
          OR (b.start_event IS NULL AND b.offset_bytes IS NOT NULL AND b.live_at_peak
              AND (m.event IS NOT NULL OR :event IS NULL))
    GROUP BY b.run, b.program_id, b.hlo_module, m.event, b.buffer_id, b.hlo_op, b.shape_index,
             b.size_bytes, b.unpadded_bytes_actual, b.storage_start_event, b.storage_end_event
), ranked AS (
    SELECT *, row_number() OVER (PARTITION BY run
                                 ORDER BY size_bytes DESC, hlo_module, program_id, buffer_id,
                                          host) AS rank
    FROM live
), answer AS (
    SELECT run, program_id, hlo_module, event, op, kind, size_bytes / 1048576.0,
           1.0 * size_bytes / nullif(data_bytes, 0), storage_start_event, storage_end_event, shape,
           tf_op,
           line, hosts
    FROM ranked
    WHERE rank <= coalesce(:n, 20)
    ORDER BY run, rank
), wrong(message) AS (
    SELECT 'no program is called ''' || :module
           || '''; SELECT DISTINCT hlo_module FROM hlo_modules lists them'
    WHERE :module IS NOT NULL
          AND NOT EXISTS (SELECT 1 FROM temp.hlo_modules(:source)
                          WHERE :module IN (hlo_module, program_id))
    UNION ALL
    SELECT 'no program has memory space ' || :space || '; there are ' || spaces
    FROM (SELECT group_concat(DISTINCT memory_space) AS spaces, max(memory_space = :space) AS there
          FROM temp.memory_peaks(:source)
          WHERE :module IS NULL OR :module IN (hlo_module, program_id))
    WHERE :space IS NOT NULL AND NOT there
    UNION ALL
    SELECT coalesce('no event ' || :event || ': there are ' || first || ' to ' || last, 'no events')
    FROM (SELECT count(*) AS programs, count(m.event) AS found, min(t.event) AS first,
          max(t.event) AS last
          FROM moments AS m LEFT JOIN temp.heap_timeline(:source) AS t
               ON t.run = m.run AND t.host = m.host AND t.program_id = m.program_id
                  AND t.memory_space = m.memory_space)
    WHERE :event IS NOT NULL AND programs > 0 AND found = 0
)
SELECT * FROM answer
UNION ALL
SELECT prof_error('live_at: ' || coalesce(:source || ': ', '') || message),
       NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
FROM wrong
