-- SPDX-License-Identifier: Apache-2.0
-- How long did each step take, and on what? One text bar per step
-- parameter source = NULL: label of an attached run, or path of a file, run folder or log dir; if
--   NULL, all attached runs
-- parameter width [1 to 1000] = 60: number of characters of the longest step's bar
-- needs: events steps
-- nothing: every step was dropped (host_steps lists the reasons)
-- column run TEXT: name of the run
-- column step INTEGER: number of the step, as in the table steps
-- column name TEXT: name of the step; NULL if it has no name
-- column duration_ms REAL [ms]: duration of the step
-- column graph TEXT: bar of the step, one letter per activity. C: computing on devices, A:
--   collectives, D: copies between devices, I: input, O: output, H: host, L: launching kernels, X:
--   compiling, dot: the rest (no known activity, copies within the host, and time after a core
--   finished before the longest). Parts beyond the step's duration are cut off
-- column bottleneck TEXT: category with the largest share of the step (steps.bottleneck)
-- column dropped INTEGER [0 or 1]: 1: the step is the first or last of more than five, so it may be
--   incomplete, and averages exclude it
WITH step AS MATERIALIZED (
    SELECT rowid AS place, run, step, name, duration_ms, bottleneck, dropped,
           device_compute_ms_actual AS c, device_collectives_ms_actual AS a,
           device_to_device_ms_actual AS d, input_ms_actual AS i, output_ms_actual AS o,
           host_compute_ms_actual AS h, kernel_launch_ms_actual AS l, compilation_ms_actual AS x
    FROM temp.steps(:source)
), scaled AS (
    SELECT *, coalesce(:width, 60) / max(1e-12, max(duration_ms) OVER (PARTITION BY run)) AS scale
    FROM step
), sums AS (
    SELECT *, round(duration_ms * scale) AS n, c AS to_c, c + a AS to_a, c + a + d AS to_d,
           c + a + d + i AS to_i, c + a + d + i + o AS to_o,
           c + a + d + i + o + h AS to_h, c + a + d + i + o + h + l AS to_l,
           c + a + d + i + o + h + l + coalesce(x, 0) AS to_x
    FROM scaled
), ends AS ( -- ops that overlap, or start before their step, add up to more than it lasts
    SELECT place, run, step, name, duration_ms, bottleneck, dropped, n,
           min(n, round(to_c * scale)) AS c, min(n, round(to_a * scale)) AS a,
           min(n, round(to_d * scale)) AS d, min(n, round(to_i * scale)) AS i,
           min(n, round(to_o * scale)) AS o, min(n, round(to_h * scale)) AS h,
           min(n, round(to_l * scale)) AS l, min(n, round(to_x * scale)) AS x
    FROM sums
)
SELECT run, step, name, duration_ms,
       replace(hex(zeroblob(c)), '00', 'C') || replace(hex(zeroblob(a - c)), '00', 'A')
       || replace(hex(zeroblob(d - a)), '00', 'D') ||
       replace(hex(zeroblob(i - d)), '00', 'I') || replace(hex(zeroblob(o - i)), '00', 'O')
           || replace(hex(zeroblob(h - o)), '00', 'H') ||
       replace(hex(zeroblob(l - h)), '00', 'L') || replace(hex(zeroblob(x - l)), '00', 'X')
           || replace(hex(zeroblob(n - x)), '00', '.'),
       bottleneck, dropped
FROM ends
ORDER BY run, place
