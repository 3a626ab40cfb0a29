// SPDX-License-Identifier: Apache-2.0
/* inference_rows.h: shared by the tables of model servers: inference_models, inference_requests,
 * inference_batches, inference_percentiles, inference_tensor_patterns and inference_latency. */
#ifndef PROF_INFERENCE_ROWS_H
#define PROF_INFERENCE_ROWS_H

#include "../loader/analysis/serving/inference.h"
#include "prof.h"

#define MODEL_DOC                                                                                  \
    "model", "TEXT", NULL,                                                                         \
        "name of the model, as requests give it; ALL if no request names a model",                 \
        "inference_profile model_name"

/* State of tables with the requests, batches or patterns of one model after another. */
typedef struct {
    const Inference *all;
    size_t model, nth; /* nth: in the model; model n_models: rows without a model */
    uint64_t row;
} ModelAt;

/* Moves to the next item; `count` returns how many a model has (NULL: those without a model). */
bool next_of_models(RowCursor *c, size_t (*count)(const Inference *, size_t model));
/* Returns the current model; NULL for items without a model. */
const InferenceModel *model_at(const ModelAt *at);

void result_ms(sqlite3_context *ctx, uint64_t ps);
void result_signed_ms(sqlite3_context *ctx, int64_t ps);
void result_host(sqlite3_context *ctx, const Host *host);
/* Writes ids as a JSON array. */
void result_ids(sqlite3_context *ctx, const int64_t *ids, size_t n);

#endif
