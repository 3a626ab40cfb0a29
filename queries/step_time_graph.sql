-- How long did each step take, and what for? A bar a step, drawn in text
-- parameter source = NULL: a label, file, run folder or log dir; all attached runs without it
-- parameter width [1 to 1000] = 60: how many characters the longest step gets
-- column run TEXT: the run
-- column step INTEGER: number of the step
-- column name TEXT: its name; NULL when it has none
-- column duration_ms REAL [ms]: how long it took
-- column graph TEXT: C computing on devices, A collectives, D copies between devices, I input, O output, H host, L launching kernels, X compiling, . nothing known
-- column bottleneck TEXT: what took most
WITH step AS MATERIALIZED (
    SELECT rowid AS place, run, step, name, duration_ms, bottleneck,
           device_compute_ms_actual AS c, device_collectives_ms_actual AS a, device_to_device_ms_actual AS d, input_ms_actual AS i, output_ms_actual AS o,
           host_compute_ms_actual AS h, kernel_launch_ms_actual AS l, compilation_ms_actual AS x
    FROM temp.steps(:source)
), scaled AS (
    SELECT *, coalesce(:width, 60) / max(1e-12, max(duration_ms) OVER (PARTITION BY run)) AS scale
    FROM step
), ends AS ( -- parts of a step may exceed it in files whose times lie
    SELECT place, run, step, name, duration_ms, bottleneck, min(1000, round(c * scale)) AS c, min(1000, round((c + a) * scale)) AS a,
           min(1000, round((c + a + d) * scale)) AS d, min(1000, round((c + a + d + i) * scale)) AS i, min(1000, round((c + a + d + i + o) * scale)) AS o,
           min(1000, round((c + a + d + i + o + h) * scale)) AS h, min(1000, round((c + a + d + i + o + h + l) * scale)) AS l,
           min(1000, round((c + a + d + i + o + h + l + x) * scale)) AS x, round(duration_ms * scale) AS n
    FROM scaled
)
SELECT run, step, name, duration_ms,
       replace(hex(zeroblob(c)), '00', 'C') || replace(hex(zeroblob(a - c)), '00', 'A') || replace(hex(zeroblob(d - a)), '00', 'D') ||
       replace(hex(zeroblob(i - d)), '00', 'I') || replace(hex(zeroblob(o - i)), '00', 'O') || replace(hex(zeroblob(h - o)), '00', 'H') ||
       replace(hex(zeroblob(l - h)), '00', 'L') || replace(hex(zeroblob(x - l)), '00', 'X') || replace(hex(zeroblob(n - x)), '00', '.'),
       bottleneck
FROM ends
ORDER BY run, place
