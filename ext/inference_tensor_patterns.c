// SPDX-License-Identifier: Apache-2.0
/* inference_tensor_patterns.c: the table inference_tensor_patterns: patterns of tensors that were
 * converted between host and device layout. */
#include "inference_rows.h"
SQLITE_EXTENSION_INIT3

#define PATTERNS_COLUMNS(C)                                                                        \
    C(IT_RUN, RUN_DOC)                                                                             \
    C(IT_MODEL, MODEL_DOC)                                                                         \
    C(IT_ID, "pattern_id", "INTEGER", NULL,                                                        \
      "ordinal of the pattern within the model, from 0, ordered by pattern (XProf's order comes "  \
      "from a hash table)",                                                                        \
      "inference_profile id")                                                                      \
    C(IT_PATTERN, "pattern", "TEXT", NULL,                                                         \
      "names of the conversion events with shape and layout of their tensors, separated by <br>",  \
      "inference_profile tensor_pattern")                                                          \
    C(IT_COUNT, "occurrences", "INTEGER", NULL,                                                    \
      "number of requests and batches that have the pattern", "inference_profile count")           \
    C(IT_TEXT, "percentiles", "TEXT", NULL,                                                        \
      "the percentiles of the following columns as one text, in XProf's format",                   \
      "inference_profile percentile")                                                              \
    C(IT_P50, "p50_ms", "REAL", "ms",                                                              \
      "time to convert the tensors, at percentile 50 of the occurrences",                          \
      "inference_profile percentile")                                                              \
    C(IT_P75, "p75_ms", "REAL", "ms",                                                              \
      "time to convert the tensors, at percentile 75 of the occurrences",                          \
      "inference_profile percentile")                                                              \
    C(IT_P90, "p90_ms", "REAL", "ms",                                                              \
      "time to convert the tensors, at percentile 90 of the occurrences",                          \
      "inference_profile percentile")                                                              \
    C(IT_P95, "p95_ms", "REAL", "ms",                                                              \
      "time to convert the tensors, at percentile 95 of the occurrences",                          \
      "inference_profile percentile")                                                              \
    C(IT_P99, "p99_ms", "REAL", "ms",                                                              \
      "time to convert the tensors, at percentile 99 of the occurrences",                          \
      "inference_profile percentile")                                                              \
    C(IT_P999, "p999_ms", "REAL", "ms",                                                            \
      "time to convert the tensors, at percentile 99.9 of the occurrences",                        \
      "inference_profile percentile")                                                              \
    C(IT_SOURCE, SOURCE_DOC)
enum { PATTERNS_COLUMNS(COLUMN_ENUM) };
static const Column patterns_columns[] = {PATTERNS_COLUMNS(COLUMN_DOC)};
static const double pattern_percentiles[] = {50, 75, 90, 95, 99, 99.9};

static size_t count_patterns(const Inference *all, size_t model)
{
    return model < all->n_models ? all->models[model].n_patterns : 0;
}

static bool patterns_next(RowCursor *c) { return next_of_models(c, count_patterns); }

static double pattern_ms(const TensorPattern *p, int percentile)
{
    return (double)p->times[(size_t)(pattern_percentiles[percentile] / 100 * (double)p->n)] / 1e9;
}

static void patterns_column(RowCursor *c, sqlite3_context *ctx, int column)
{
    const ModelAt *at = c->state;
    const InferenceModel *model = model_at(at);
    const TensorPattern *p = &model->patterns[at->nth];
    switch (column) {
    case IT_MODEL: result_static(ctx, model->name); break;
    case IT_ID: sqlite3_result_int64(ctx, (sqlite3_int64)at->nth); break;
    case IT_PATTERN: result_text(ctx, p->pattern); break;
    case IT_COUNT: sqlite3_result_int64(ctx, (sqlite3_int64)p->n); break;
    case IT_TEXT: {
        sqlite3_str *out = sqlite3_str_new(NULL);
        for (int i = 0; i < (int)COUNT(pattern_percentiles); i++) {
            char room[400];
            print_real(room, sizeof room, "%.2f%%: %.6fms", pattern_percentiles[i],
                       pattern_ms(p, i));
            sqlite3_str_appendf(out, "%s%s", i ? "<br>" : "", room);
        }
        result_built(ctx, out);
        break;
    }
    default:
        if (column >= IT_P50 && column <= IT_P999)
            sqlite3_result_double(ctx, pattern_ms(p, column - IT_P50));
        break;
    }
}

static const RowSource patterns_rows = {
    .next = patterns_next,
    .state_bytes = sizeof(ModelAt),
    .column = patterns_column,
    .per_run = true,
    .nothing = "no request or batch converted tensors whose shape and layout are known",
    .needs = NEED_EVENTS | NEED_HOST};
const Table inference_tensor_patterns_table = {
    "inference_tensor_patterns",
    "one pattern of tensors that requests and batches converted between host and device layout, "
    "with the time that took",
    patterns_columns,
    COUNT(patterns_columns),
    &row_table_module,
    &patterns_rows,
    10,
    "0.1.0",
    "SELECT model, pattern, occurrences, p99_ms FROM inference_tensor_patterns"};
