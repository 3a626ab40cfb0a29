-- SPDX-License-Identifier: Apache-2.0
-- Which buffers of a compiled program are live at one moment of its memory plan?
-- parameter source = NULL: label of an attached run, or path of a file, run folder, log dir or HLO
--   dump; if NULL, all attached runs
-- parameter event INTEGER = NULL: event of heap_timeline (an error if no program has it; programs
--   without it have no rows); NULL: the peak of each program
-- parameter module = NULL: name of the program's HLO module, or id of the program (an error if
--   there is no such program); NULL: all programs
-- parameter n INTEGER = NULL: number of rows of each run, largest buffers first; NULL for all
-- parameter space = 0: memory space: 0 is the device's main memory, 1 is TPU VMEM; an error if no
--   program uses it
-- needs: programs
-- nothing: no HLO program has a buffer in this memory space (programs dumped before optimization
--   have no buffer assignment)
-- column run TEXT: name of the run
-- column program_id TEXT: id of the program, decimal
-- column hlo_module TEXT: name of the program's HLO module
-- column at_event INTEGER: event at which the buffers are live; what it allocates is already live,
--   and what it frees is still live; NULL for the peak of a program without temporaries
-- column hlo_op TEXT: HLO instruction whose result the buffer contains, with the index of the part
-- column kind TEXT: kind of the buffer: parameter, output or constant (live during the entire
--   program), or temporary
-- column size_mib REAL [MiB]: size of the buffer, padding included
-- column expansion REAL [ratio]: size of the buffer divided by its size without padding
-- column start_event INTEGER: event that allocates the buffer's storage; NULL if it is live during
--   the entire program
-- column end_event INTEGER: event that frees the buffer's storage, after the last buffer that
--   shares it is freed; NULL if it is live during the entire program
-- column shape TEXT: shape of the buffer, with layout
-- column tf_op TEXT: framework op that the instruction comes from; NULL if unknown
-- column source_line TEXT: source file and line of the innermost stack frame, which may be in a
--   library; NULL if unknown
-- column user_file TEXT: source file of the user's own program, not of a library or framework
--   (docs/semantics.md, User line); NULL if unknown
-- column user_line INTEGER: line number in user_file; NULL if user_file is NULL
-- column scope TEXT: layer, module or named scope of the owner (docs/semantics.md, Scope); NULL if
--   it has none
-- column owner_tf_op TEXT: framework op that the buffer belongs to: tf_op, else that of the
--   instruction's owner (docs/semantics.md, Owner); NULL if it has none
-- column hosts INTEGER [hosts]: number of hosts that have this program with these values
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
           b.source_file || ':' || b.source_line AS line, b.user_file, b.user_line, b.scope,
           b.owner_tf_op, b.buffer_id, min(b.host) AS host,
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
           1.0 * size_bytes / data_bytes, storage_start_event, storage_end_event, shape,
           tf_op, line, user_file, user_line, scope, owner_tf_op, hosts
    FROM ranked
    WHERE (:n IS NULL OR rank <= :n)
    ORDER BY run, rank
), wrong(message) AS (
    SELECT 'no program is called ''' || :module
           || '''; SELECT DISTINCT hlo_module FROM hlo_modules lists them'
    WHERE :module IS NOT NULL
          AND NOT EXISTS (SELECT 1 FROM temp.hlo_modules(:source)
                          WHERE :module IN (hlo_module, program_id))
    UNION ALL
    SELECT 'no program uses memory space ' || :space || '; spaces in use: ' || spaces
    FROM (SELECT group_concat(DISTINCT memory_space) AS spaces, max(memory_space = :space) AS there
          FROM temp.memory_peaks(:source)
          WHERE :module IS NULL OR :module IN (hlo_module, program_id))
    WHERE :space IS NOT NULL AND NOT there
    UNION ALL
    SELECT coalesce('there is no event ' || :event || '; events are ' || first || ' to ' || last,
                    'there are no events')
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
       NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
       NULL, NULL
FROM wrong
