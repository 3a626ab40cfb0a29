-- SPDX-License-Identifier: Apache-2.0
-- How long did each step take, and what for? A bar a step, drawn in text
-- parameter source = NULL: a label, file, run folder or log dir; all attached runs without it
-- parameter width [1 to 1000] = 60: how many characters the longest step gets
-- needs: events steps
-- nothing: no step is left over
-- column run TEXT: the run
-- column step INTEGER: number of the step
-- column name TEXT: its name; NULL when it has none
-- column duration_ms REAL [ms]: how long it took
-- column graph TEXT: C computing on devices, A collectives, D copies between devices, I input, O
--   output, H host, L launching kernels, X compiling, . the rest: nothing known, copies within the
--   host, and the time that some cores have finished before the longest; parts beyond the step's
--   length are cut off
-- column bottleneck TEXT: the category that took most, as in steps
-- column dropped INTEGER [0 or 1]: 1: first or last of more than five steps, perhaps incomplete:
--   averages leave it out
WITH step AS MATERIALIZED (
    SELECT rowid AS place, run, step, name, duration_ms, bottleneck, dropped,
           device_compute_ms_actual AS c, device_collectives_ms_actual AS a, device_to_device_ms_actual AS d, input_ms_actual AS i, output_ms_actual AS o,
           host_compute_ms_actual AS h, kernel_launch_ms_actual AS l, compilation_ms_actual AS x
    FROM temp.steps(:source)
), scaled AS (
    SELECT *, coalesce(:width, 60) / max(1e-12, max(duration_ms) OVER (PARTITION BY run)) AS scale
    FROM step
), sums AS (
    SELECT *, round(duration_ms * scale) AS n, c AS to_c, c + a AS to_a, c + a + d AS to_d, c + a + d + i AS to_i, c + a + d + i + o AS to_o,
           c + a + d + i + o + h AS to_h, c + a + d + i + o + h + l AS to_l, c + a + d + i + o + h + l + coalesce(x, 0) AS to_x
    FROM scaled
), ends AS ( -- ops that overlap, or begin before their step, add up to more than it lasts
    SELECT place, run, step, name, duration_ms, bottleneck, dropped, n, min(n, round(to_c * scale)) AS c, min(n, round(to_a * scale)) AS a,
           min(n, round(to_d * scale)) AS d, min(n, round(to_i * scale)) AS i, min(n, round(to_o * scale)) AS o, min(n, round(to_h * scale)) AS h,
           min(n, round(to_l * scale)) AS l, min(n, round(to_x * scale)) AS x
    FROM sums
)
SELECT run, step, name, duration_ms,
       replace(hex(zeroblob(c)), '00', 'C') || replace(hex(zeroblob(a - c)), '00', 'A') || replace(hex(zeroblob(d - a)), '00', 'D') ||
       replace(hex(zeroblob(i - d)), '00', 'I') || replace(hex(zeroblob(o - i)), '00', 'O') || replace(hex(zeroblob(h - o)), '00', 'H') ||
       replace(hex(zeroblob(l - h)), '00', 'L') || replace(hex(zeroblob(x - l)), '00', 'X') || replace(hex(zeroblob(n - x)), '00', '.'),
       bottleneck, dropped
FROM ends
ORDER BY run, place
