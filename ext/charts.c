// SPDX-License-Identifier: Apache-2.0
/* charts.c: SQL functions that draw charts as SVG.
 *
 *   SELECT writefile('steps.svg', step_time_chart('logs'));
 *
 * A chart consists of a query, which users can run themselves, and a function of loader/chart that
 * draws its rows. Nothing is computed here. */
#include "prof.h"

#include "charts.h"
#include "functions.h"

#include "../loader/base/list.h"

#include <math.h>
SQLITE_EXTENSION_INIT3

/* ---- the charts ---- */

const Chart step_chart = {
    "step_time_chart", "Time of each step, by activity", chart_steps, chart_steps_most,
    "WITH s AS MATERIALIZED (\n"
    "    SELECT * FROM temp.steps(?1) ORDER BY start_ps, step LIMIT 2000\n"
    "), m AS (SELECT median(duration_ms) AS middle FROM s WHERE dropped = 0)\n"
    "SELECT CASE WHEN (SELECT count(DISTINCT name) = count(*) FROM s) THEN name ELSE step END AS "
    "step, duration_ms AS total,\n"
    "    CASE dropped WHEN 0 THEN duration_ms > 1.3 * m.middle ELSE 2 END\n"
    "    AS \"1: outlier, 2: dropped\",\n"
    "    coalesce(device_compute_ms_actual, 0) AS \"computing\",\n"
    "    coalesce(device_collectives_ms_actual, 0) AS \"collectives\",\n"
    "    coalesce(device_to_device_ms_actual, 0) AS \"copies\",\n"
    "    coalesce(input_ms_actual, 0) AS \"input\",\n"
    "    coalesce(output_ms_actual, 0) AS \"output\",\n"
    "    coalesce(kernel_launch_ms_actual, 0) AS \"launch\",\n"
    "    coalesce(host_compute_ms_actual, 0) AS \"host\",\n"
    "    coalesce(compilation_ms_actual, 0) AS \"compiling\",\n"
    "    coalesce(all_others_ms_actual, 0) AS \"other\"\n"
    "FROM s, m"};

const Chart roofline_chart = {
    "roofline_chart", "Rate of each op over its intensity, below the roofs of the device",
    chart_roofline, NULL,
    "WITH p AS MATERIALIZED (\n"
    "    SELECT max(exact) FILTER (WHERE name = 'peak_flop_rate') * 1e9 AS flops,\n"
    "        max(exact) FILTER (WHERE name = 'peak_hbm_bw') * 1073741824.0 AS bytes\n"
    "    FROM temp.roofline_properties(?1)\n"
    "), o AS (\n"
    "    SELECT operation, category, hbm_operational_intensity AS intensity,\n"
    "        model_gflops * 1e9 AS rate, total_self_time_us AS us\n"
    "    FROM temp.roofline(?1)\n"
    "    WHERE record = 'Total' AND rank > 0 AND include_infeed_outfeed = 1\n"
    "        AND hbm_operational_intensity > 0 AND model_gflops > 0\n"
    "    ORDER BY total_self_time_us DESC LIMIT 300\n"
    ")\n"
    "SELECT 'roof' AS kind, 'peak' AS name, NULL AS category, bytes AS x, flops AS y,\n"
    "    0 AS us FROM p WHERE flops > 0 AND bytes > 0 AND EXISTS (SELECT 1 FROM o)\n"
    "UNION ALL SELECT 'op', operation, category, intensity, rate, us FROM o"};

const Chart memory_chart = {
    "memory_chart", "Memory in use over time, by allocator", chart_memory, chart_memory_most,
    "WITH p AS MATERIALIZED (\n"
    "    SELECT * FROM temp.memory_over_time(?1, 600)\n"
    "), m AS (\n"
    "    SELECT host, allocator FROM p GROUP BY host, allocator\n"
    "    ORDER BY max(most_bytes) DESC, host, allocator LIMIT 6\n"
    "), c AS (\n"
    "    SELECT host, allocator, part, start_ps AS ps, most_bytes AS bytes FROM p\n"
    "    UNION ALL SELECT host, allocator, max(part) + 1, start_ps + duration_ps - 1, end_bytes\n"
    "    FROM p GROUP BY host, allocator\n"
    "), d AS (\n"
    "    SELECT *, lag(bytes) OVER w IS NOT bytes OR lead(part) OVER w IS NULL AS shown FROM c\n"
    "    WINDOW w AS (PARTITION BY host, allocator ORDER BY part)\n"
    ")\n"
    "SELECT host || ' ' || allocator AS series, ps / 1e9 AS \"time (ms)\", bytes\n"
    "FROM d WHERE shown AND (host, allocator) IN m ORDER BY host, allocator, part"};

/* Only in reports. Of programs with the same name, the one with the most memory in use. */
const Chart heap_chart = {
    "memory", "Memory of programs' buffers from their first instruction to the last", chart_memory,
    chart_memory_most,
    "WITH h AS MATERIALIZED (\n"
    "    SELECT * FROM temp.heap_timeline(?1)\n"
    "), p AS (\n"
    "    SELECT host, program_id, hlo_module, memory_space, max(heap_mib) AS most FROM h\n"
    "    GROUP BY hlo_module, memory_space\n"
    "    ORDER BY most DESC, hlo_module, memory_space LIMIT 6\n"
    "), e AS (\n"
    "    SELECT h.*, max(event) OVER (PARTITION BY hlo_module, memory_space) AS last\n"
    "    FROM p JOIN h USING (host, program_id, hlo_module, memory_space)\n"
    "), s AS (\n"
    "    SELECT hlo_module || CASE memory_space WHEN 0 THEN '' ELSE\n"
    "        ', memory space ' || memory_space END AS series,\n"
    "        coalesce(event * 300 / last, 0) AS part, last, min(event) AS event,\n"
    "        max(heap_mib) AS mib FROM e GROUP BY series, part, last\n"
    ")\n"
    "SELECT series, coalesce(100.0 * event / last, 0) AS \"place (%)\", mib * 1048576 AS bytes\n"
    "FROM s ORDER BY series, event"};

/* Kernels and copies that belong to no op, which op_profile leaves out. */
#define WITHOUT_OP                                                                                 \
    "temp.scope_ops(?1)\n"                                                                         \
    "    WHERE plane_kind <> 'host' AND hlo_op IS NULL AND tf_op IS NULL AND self_us > 0"

/* Ops of devices by category or, without devices, ops of host threads by program. */
const Chart op_treemap = {
    "op_treemap", "Self time of ops, by category", chart_treemap, NULL,
    "WITH d AS MATERIALIZED (\n"
    "    SELECT coalesce(category, 'unknown') AS category, name, self_time_ps / 1e6 AS us\n"
    "    FROM temp.op_profile(?1) WHERE kind = 'op' AND self_time_ps > 0 AND name <> 'IDLE'\n"
    "), n AS (\n"
    "    SELECT 'without an op', name, sum(self_us) FROM " WITHOUT_OP "\n"
    "        AND EXISTS (SELECT 1 FROM d)\n"
    "    GROUP BY name\n"
    "), t AS (\n"
    "    SELECT coalesce(hlo_module, place), short_name, self_time_us FROM temp.top_ops(?1, 150)\n"
    "    WHERE NOT EXISTS (SELECT 1 FROM d)\n"
    ")\n"
    "SELECT * FROM (SELECT * FROM d UNION ALL SELECT * FROM n UNION ALL SELECT * FROM t)\n"
    "ORDER BY us DESC LIMIT 200"};

/* Only in reports, where a script zooms them. */
const Chart scope_icicle = {
    "icicle", "Time by layer and named scope", chart_icicle, NULL,
    "WITH s AS MATERIALIZED (\n"
    "    SELECT scope, self_us,\n"
    "        coalesce(length(scope) - length(replace(scope, '/', '')), 0) + 1 AS n\n"
    "    FROM temp.time_by_scope(?1, 8) WHERE self_us > 0\n"
    "), d AS (SELECT value AS depth FROM json_each('[1,2,3,4,5,6,7,8]')),\n"
    "t AS (\n"
    "    SELECT depth, scope_prefix(scope, depth) AS path, sum(self_us) AS us\n"
    "    FROM s JOIN d ON depth <= n GROUP BY depth, path\n"
    ")\n"
    "SELECT depth, coalesce(CASE depth WHEN 1 THEN path ELSE\n"
    "        substr(path, length(scope_prefix(path, depth - 1)) + 2) END, '(no scope)') AS name,\n"
    "    us AS \"time (µs)\", scope_prefix(path, 1) AS layer\n"
    "FROM t WHERE us >= (SELECT sum(self_us) / 2000 FROM s)\n"
    "    AND EXISTS (SELECT 1 FROM s WHERE scope IS NOT NULL)\n"
    "ORDER BY replace(path, '/', char(1))"};

const Chart op_icicle = {
    "icicle", "Time of devices by program, category and op", chart_icicle, NULL,
    "WITH p AS MATERIALIZED (\n"
    "    SELECT node_id, depth, name, raw_time_ps / 1e6 AS us,\n"
    "        CASE WHEN depth > 1 THEN coalesce(category, name) ELSE 'program' END AS category\n"
    "    FROM temp.op_profile(?1) WHERE depth BETWEEN 1 AND 6 AND name <> 'IDLE'\n"
    "), w AS (\n"
    "    SELECT sum(self_us) AS us FROM " WITHOUT_OP "\n"
    "), n AS (\n"
    "    SELECT * FROM p UNION ALL SELECT NULL, 1, 'without an op', us, NULL FROM w\n"
    "    WHERE us > 0 AND EXISTS (SELECT 1 FROM p)\n"
    ")\n"
    "SELECT depth, name, us AS \"time (µs)\", category FROM n\n"
    "WHERE us >= (SELECT sum(us) / 1000 FROM n WHERE depth = 1)\n"
    "ORDER BY node_id"};

/* ---- rows ---- */

typedef LIST(ChartCell) Cells;

static bool read_cell(ChartRows *rows, sqlite3_stmt *stmt, int column, Cells *cells)
{
    ChartCell *cell = PUSH(*cells);
    if (!cell) return false;
    int type = sqlite3_column_type(stmt, column);
    *cell = (ChartCell){.number = NAN};
    if (type == SQLITE_NULL) return true;
    if (type == SQLITE_INTEGER || type == SQLITE_FLOAT)
        cell->number = sqlite3_column_double(stmt, column);
    const char *text = (const char *)sqlite3_column_text(stmt, column);
    size_t n = (size_t)sqlite3_column_bytes(stmt, column);
    char *copy = text ? arena_buffer(&rows->arena, 3 * n + 1) : NULL;
    if (!copy) return false;
    n = utf8_repair((const uint8_t *)text, n, copy);
    copy[n] = 0;
    cell->text = copy, cell->n_bytes = n;
    return true;
}

static bool read_names(ChartRows *rows, sqlite3_stmt *stmt, int n)
{
    const char **names = arena_alloc(&rows->arena, (size_t)n * sizeof *names);
    for (int i = 0; names && i < n; i++) {
        const char *name = sqlite3_column_name(stmt, i);
        char *copy = name ? arena_buffer(&rows->arena, strlen(name) + 1) : NULL;
        if (!copy) return false;
        names[i] = strcpy(copy, name);
    }
    rows->data.columns = names, rows->data.n_columns = (size_t)n;
    return names != NULL;
}

int chart_rows_read(sqlite3_stmt *stmt, ChartRows *rows)
{
    Cells cells = {0};
    int n = sqlite3_column_count(stmt), rc;
    *rows = (ChartRows){0};
    bool memory = read_names(rows, stmt, n);
    while ((rc = sqlite3_step(stmt)) == SQLITE_ROW && memory) {
        for (int i = 0; i < n && memory; i++) memory = read_cell(rows, stmt, i, &cells);
        rows->data.n_rows++;
    }
    rows->data.cells = cells.items;
    if (!memory) return SQLITE_NOMEM;
    return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

void chart_rows_free(ChartRows *rows)
{
    prof_free((void *)(uintptr_t)rows->data.cells);
    arena_free(&rows->arena);
    *rows = (ChartRows){0};
}

/* ---- SQL functions ---- */

static void draw(sqlite3_context *ctx, const Chart *chart, const ChartRows *rows)
{
    TextBuffer out = {0};
    ChartOptions options = {.title = chart->title, .standalone = true};
    if (chart->draw(&rows->data, &options, &out) || out.no_memory) result_buffer(ctx, &out);
    text_free(&out);
}

static void chart_of(sqlite3_context *ctx, sqlite3_value *source, const Chart *chart)
{
    sqlite3 *db = sqlite3_context_db_handle(ctx);
    sqlite3_stmt *stmt = NULL;
    ChartRows rows = {0};
    int rc = sqlite3_prepare_v2(db, chart->sql, -1, &stmt, NULL);
    if (rc == SQLITE_OK) rc = sqlite3_bind_value(stmt, 1, source);
    if (rc == SQLITE_OK) rc = chart_rows_read(stmt, &rows);
    if (rc == SQLITE_OK)
        draw(ctx, chart, &rows);
    else if (rc == SQLITE_NOMEM)
        sqlite3_result_error_nomem(ctx);
    else
        sqlite3_result_error(ctx, sqlite3_errmsg(db), -1), sqlite3_result_error_code(ctx, rc);
    sqlite3_finalize(stmt);
    chart_rows_free(&rows);
}

#define CHART(name_)                                                                               \
    static void name_##_function(sqlite3_context *ctx, int argc, sqlite3_value **argv)             \
    {                                                                                              \
        (void)argc;                                                                                \
        if (sqlite3_value_type(argv[0]) != SQLITE_NULL) chart_of(ctx, argv[0], &name_);            \
    }
CHART(step_chart)
CHART(roofline_chart)
CHART(memory_chart)
CHART(op_treemap)

#define SVG " Returns the text of an SVG image, which follows the reader's light or dark mode. "
#define FUNCTION(name_, function_, description_, origin_)                                          \
    {                                                                                              \
        .name = name_, .n_args = 1, .kind = FUNCTION_SCALAR,                                       \
        .flags = SQLITE_UTF8 | SQLITE_DIRECTONLY, .xFunc = function_,                              \
        .signature = name_ "(source)", .unit = "SVG", .description = description_,                 \
        .origin = origin_, .since = "0.1.0", .example = "SELECT " name_ "('logs')"                 \
    }

const FunctionDef chart_functions[] = {
    FUNCTION(
        "step_time_chart", step_chart_function,
        "Chart of the time of each step, stacked by activity (the `_actual` columns of steps). "
        "The rest is time in none of them: activities are averages of the cores, and a step is as "
        "long as on its longest core. Marks each step that takes more than 1.3 times the median of "
        "the complete steps. Dropped steps (steps.dropped) are pale; one that takes more than 1.5 "
        "times the longest complete step can be cut at the end of the axis." SVG
        "NULL if source is NULL or the run has no step.",
        "steps"),
    FUNCTION("roofline_chart", roofline_chart_function,
             "Chart of up to 300 HLO ops of devices: FLOP rate over operational intensity of HBM, "
             "on logarithmic axes, with the device's roofs. The area of a point grows with the "
             "op's self time." SVG "NULL if source is NULL or no op has a rate and an intensity.",
             "roofline, roofline_properties"),
    FUNCTION("memory_chart", memory_chart_function,
             "Chart of memory in use (heap plus stack) over time, for up to 6 allocators. The time "
             "of each is divided into 600 parts, each with its largest value." SVG
             "NULL if source is NULL or the run has no allocation event.",
             "memory_over_time"),
    FUNCTION("op_treemap", op_treemap_function,
             "Treemap of up to 200 ops: area is self time. Ops of devices are grouped by category, "
             "with a group `without an op` for kernels and copies that belong to none; in runs "
             "without devices, up to 150 ops of host threads are grouped by program." SVG
             "NULL if source is NULL or no op takes time.",
             "op_profile, scope_ops, top_ops"),
};
const int n_chart_functions = COUNT(chart_functions);
