-- SPDX-License-Identifier: Apache-2.0
-- Why is compilation slow: which pass of the compiler takes the time?
-- example: SELECT pass, self_ms, percent, occurrences FROM compile_passes LIMIT 10
-- parameter source = NULL: label of an attached run, or path of a file, run folder or log dir; if
--   NULL, all attached runs
-- needs: events
-- nothing: no program was compiled during the capture, or no thread of the compiler is recorded
-- column run TEXT: name of the run
-- column rank INTEGER: rank by self time within the run; 1 is the longest
-- column pass TEXT: name of a pass, or of another event of the compiler. Rows count the events that
--   start and end within a compilation of their host (compilations), on threads of the compiler.
--   These are the threads with such an event named ...::Compile..., ...Compiler::..., ...Pass,
--   XlaPass:#...# or XlaPassPipeline:#...# (the last two are ranges with which XLA marks passes for
--   other profilers). The pass is NAME for events XlaPass:#name=NAME# and
--   XlaPass:#name=NAME,module=...#, and TITLE for other events named TITLE:#...#. Aggregated events
--   and lines that XProf derives do not count
-- column occurrences INTEGER [events]: number of events
-- column self_ms REAL [ms]: sum of the events' durations without directly nested events, over all
--   threads
-- column percent REAL [percent 0..100]: self_ms as a share of the self time of all rows of the run;
--   NULL if that is 0
-- column total_ms REAL [ms]: sum of the events' durations, nested events included
-- column threads INTEGER: number of threads on which the events ran
-- column top_function TEXT: function whose compilations spend the most self time in the pass, else
--   the HLO module; NULL if neither is known. An event during several compilations counts for the
--   one that started last
WITH event AS (
    SELECT *, name GLOB 'XlaPass:#*' OR name GLOB 'XlaPassPipeline:#*' AS is_pass,
           substr(name, 1, instr(name, ':#') - 1) AS title,
           substr(name, instr(name, ':#') + 2) AS arguments
    FROM temp.compiler_events(:source)
), part AS MATERIALIZED ( -- the pass in an event's name
    SELECT run, line_id, occurrences, duration_ps, self_ps, function AS what,
           CASE WHEN is_pass AND arguments GLOB 'name=?*'
                THEN substr(arguments, 6, instr(replace(arguments, ',module=', '#') || '#', '#')
                                          - 6)
                WHEN title > '' THEN title
                ELSE name END AS name
    FROM event
), pass AS (
    SELECT run, name, what, sum(occurrences) AS n, total(self_ps) / 1e9 AS self_ms,
           total(duration_ps) / 1e9 AS total_ms
    FROM part
    GROUP BY run, name, what
), threads AS MATERIALIZED (
    SELECT run, name, count(DISTINCT line_id) AS n
    FROM part
    GROUP BY run, name
), summed AS ( -- `what` is from the row with the most self time
    SELECT run, name, sum(n) AS n, total(self_ms) AS self_ms, total(total_ms) AS total_ms,
           max(self_ms), what
    FROM pass
    GROUP BY run, name
)
SELECT s.run, row_number() OVER (PARTITION BY s.run ORDER BY self_ms DESC, s.name), s.name, s.n,
       self_ms, 100 * self_ms / total(self_ms) OVER (PARTITION BY s.run), total_ms, t.n,
       what
FROM summed AS s JOIN threads AS t ON t.run = s.run AND t.name = s.name
ORDER BY s.run, 2
