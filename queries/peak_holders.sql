-- SPDX-License-Identifier: Apache-2.0
-- Which allocations or buffers make up the memory peak, and since when do they exist?
-- example: SELECT peak_of, kind, tf_op, size_mib, percent FROM peak_holders WHERE n = 10
-- parameter source = NULL: label of an attached run, or path of a file, run folder, log dir or HLO
--   dump; if NULL, all attached runs
-- parameter n INTEGER = NULL: number of rows of each run, in the order of rank; NULL for all
-- parameter space = 0: memory space of the programs: 0 is the device's main memory, 1 is TPU
--   VMEM; an error if no program uses it
-- nothing: the run has neither an allocation event that records a number of bytes nor an HLO
--   program with buffers in this memory space
-- column run TEXT: name of the run
-- column rank INTEGER: rank within the run: peaks that an allocator recorded come first, then those
--   that the compiler planned; of each kind, the largest peak first, and for each peak, the largest
--   holder first
-- column host TEXT: name of the host; the first, if several hosts have the program
-- column peak_of TEXT: name of the allocator, or of the program (HLO module), whose peak it is
-- column recorded_by TEXT: allocator: the peak happened during the capture; compiler: the peak of
--   the program's plan for one device, which an execution reaches if it gets that far
-- column program_id TEXT: id of the program, decimal; NULL for allocators
-- column peak_mib REAL [MiB]: memory in use at the peak; the holders of a peak add up to it
-- column kind TEXT: for an allocator: allocation (made during the capture), earlier (made before
--   the allocator's first event and not freed since), stack (reserved in addition to the heap, for
--   example for TPU programs) or unknown (the rest of the heap). For a program: parameter, output
--   or constant (live during the entire program), temporary, or unknown (the rest of the peak)
-- column hlo_op TEXT: HLO instruction whose result is held, with the index of the part; NULL for
--   allocators and unknown
-- column tf_op TEXT: framework op that requested the memory, or that the instruction comes from;
--   NULL if unknown
-- column source_line TEXT: source file and line of the instruction's innermost stack frame, which
--   may be in a library; NULL for allocators and if unknown
-- column region_type TEXT: kind of memory region, as in memory_events; NULL for programs and if
--   unknown
-- column data_type TEXT: element type of the tensors, as in memory_events; NULL for programs, if
--   unknown and for type 0, INVALID
-- column shape TEXT: shape of the tensor, for programs with its layout; NULL if unknown
-- column holders INTEGER: number of allocations (equal in kind, tf_op, region_type, data_type and
--   shape) or buffers that the row combines; NULL for earlier, stack and unknown
-- column size_bytes INTEGER [bytes]: size of the row's allocations or buffers, padding included;
--   buffers of 0 bytes are left out; negative for kind unknown if the allocator reports less memory
--   than its live allocations have
-- column size_mib REAL [MiB]: size_bytes in MiB; negative if size_bytes is negative
-- column percent REAL [percent]: size_bytes as a share of the peak; negative if size_bytes is
--   negative; NULL if the peak is 0
-- column since_us REAL [us]: time at which the oldest of the allocations was made, from the session
--   start; NULL for other kinds and for programs
-- column held_us REAL [us]: time from since_us to the peak; NULL if since_us is NULL
-- column since_op TEXT: HLO instruction at which the storage of a temporary is allocated; NULL for
--   other kinds and for allocators
-- column hosts INTEGER [hosts]: number of hosts that have this program (content_hash of
--   hlo_modules); 1 for allocators
WITH allocator AS MATERIALIZED (
    SELECT run, host, allocator, profile_peak_bytes AS peak, peak_time_ps, stack_bytes_at_peak,
           earlier_bytes_at_peak, unknown_bytes_at_peak
    FROM temp.memory_allocators(:source)
), allocation AS (
    SELECT e.run, e.host, e.allocator, a.peak, 'allocation' AS kind,
           nullif(e.tf_op, '(null)') AS tf_op, nullif(e.region_type, '(null)') AS region_type,
           nullif(e.data_type, 'INVALID') AS data_type, e.shape, count(*) AS holders,
           CAST(total(e.allocation_bytes) AS INTEGER) AS bytes, min(e.time_ps) AS since_ps,
           a.peak_time_ps
    FROM allocator AS a CROSS JOIN temp.memory_events(:source) AS e
         ON e.run = a.run AND e.host = a.host AND e.allocator = a.allocator
    WHERE e.live_at_peak
    GROUP BY e.run, e.host, e.allocator, 6, 7, 8, e.shape
), rest AS (
    SELECT a.run, a.host, a.allocator, a.peak, k.column1 AS kind,
           CASE k.column1 WHEN 'earlier' THEN earlier_bytes_at_peak
                          WHEN 'stack' THEN stack_bytes_at_peak ELSE unknown_bytes_at_peak
           END AS bytes
    FROM allocator AS a JOIN (VALUES ('earlier'), ('stack'), ('unknown')) AS k
), program AS MATERIALIZED (
    SELECT p.run, min(p.host) AS host, p.program_id, p.hlo_module, p.memory_space,
           CAST(round(p.peak_heap_mib * 1048576) AS INTEGER) AS peak, count(*) AS hosts
    FROM temp.memory_peaks(:source) AS p
         JOIN temp.hlo_modules(:source) AS m USING (run, host, program_id)
    WHERE p.memory_space = coalesce(:space, 0) AND p.peak_heap_mib > 0
    GROUP BY p.run, p.program_id, p.hlo_module, m.content_hash
), buffer AS MATERIALIZED (
    SELECT p.run, p.host, p.program_id, p.hlo_module, p.peak, p.hosts, b.kind,
           b.hlo_op || coalesce(b.shape_index, '') AS op, b.tf_op,
           b.source_file || ':' || b.source_line AS line, b.shape_actual AS shape, b.size_bytes,
           b.storage_start_event AS event
    FROM program AS p
         JOIN temp.buffer_allocations(:source) AS b USING (run, host, program_id, memory_space)
    WHERE b.live_at_peak
), start AS MATERIALIZED (
    SELECT run, host, program_id, event, hlo_op
    FROM temp.heap_timeline(:source)
    WHERE memory_space = coalesce(:space, 0)
), planned AS (
    SELECT b.run, b.host, b.program_id, b.hlo_module, b.peak, b.hosts, b.kind, b.op, b.tf_op,
           b.line, b.shape, 1 AS holders, b.size_bytes AS bytes, s.hlo_op AS since_op
    FROM buffer AS b LEFT JOIN start AS s USING (run, host, program_id, event)
    UNION ALL
    SELECT p.run, p.host, p.program_id, p.hlo_module, p.peak, p.hosts, 'unknown', NULL, NULL, NULL,
           NULL, NULL, p.peak - CAST(total(b.size_bytes) AS INTEGER), NULL
    FROM program AS p JOIN buffer AS b USING (run, host, program_id)
    GROUP BY p.run, p.host, p.program_id
), holder AS (
    SELECT run, host, allocator AS peak_of, 'allocator' AS recorded_by, NULL AS program_id, peak,
           kind, NULL AS hlo_op, tf_op, NULL AS line, region_type, data_type, shape, holders, bytes,
           since_ps / 1e6 AS since_us, (peak_time_ps - since_ps) / 1e6 AS held_us, NULL AS since_op,
           1 AS hosts
    FROM allocation
    UNION ALL
    SELECT run, host, allocator, 'allocator', NULL, peak, kind, NULL, NULL, NULL, NULL, NULL, NULL,
           NULL, bytes, NULL, NULL, NULL, 1
    FROM rest
    WHERE bytes <> 0
    UNION ALL
    SELECT run, host, hlo_module, 'compiler', program_id, peak, kind, op, tf_op, line, NULL, NULL,
           shape, holders, bytes, NULL, NULL, since_op, hosts
    FROM planned
    WHERE bytes <> 0
), ranked AS (
    SELECT *, row_number() OVER (PARTITION BY run
                                 ORDER BY recorded_by, peak DESC, host, peak_of, program_id,
                                          bytes DESC, kind, hlo_op, tf_op, shape, region_type,
                                          data_type) AS rank
    FROM holder
), answer AS (
    SELECT run, rank, host, peak_of, recorded_by, program_id, peak / 1048576.0, kind, hlo_op, tf_op,
           line, region_type, data_type, shape, holders, bytes, bytes / 1048576.0,
           100.0 * bytes / peak, since_us, held_us, since_op, hosts
    FROM ranked
    WHERE rank <= coalesce(:n, rank)
    ORDER BY run, rank
)
SELECT * FROM answer
UNION ALL
SELECT prof_error('peak_holders: ' || coalesce(:source || ': ', '')
                  || 'no program uses memory space ' || :space || '; spaces in use: ' || spaces),
       NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
       NULL, NULL, NULL, NULL, NULL, NULL
FROM (SELECT group_concat(DISTINCT memory_space) AS spaces, max(memory_space = :space) AS there
      FROM temp.memory_peaks(:source))
WHERE :space IS NOT NULL AND NOT there
