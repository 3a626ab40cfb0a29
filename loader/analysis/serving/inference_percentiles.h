// SPDX-License-Identifier: Apache-2.0
/* inference_percentiles.h: requests and batches of a model server at percentiles of their duration,
 * and their averages, as on XProf's pages. */
#ifndef PROF_INFERENCE_PERCENTILES_H
#define PROF_INFERENCE_PERCENTILES_H

#include "inference.h"

/* One request or batch, or an average over several. Averages are truncated to integers. */
typedef struct {
    const InferenceModel *model;
    const InferenceSum *sum; /* the sum that is averaged; NULL for a sample */
    bool is_batch;
    size_t number;                   /* of the row within its model and kind, from 1 */
    double percentile;               /* for a sample */
    double throughput;               /* per second, for an average; NAN if unknown */
    const InferenceRequest *request; /* the sample, or NULL */
    const InferenceBatch *batch;     /* the sample, or NULL */
    uint64_t latency_ps, device_ps, times[N_REQUEST_TIMES];
    int64_t size, delay_ps, padding;
    double efficiency; /* for batches */
    /* program ids of the batches of one size, in order of their first batch */
    const uint64_t *programs;
    size_t n_programs;
} InferencePercentile;

typedef struct {
    InferencePercentile *rows; /* for each model its requests, then its batches */
    size_t n;
    Arena arena;
} InferencePercentiles;
/* Returns the rows of all hosts together, or of `only`. */
const InferencePercentiles *run_inference_percentiles(Run *run, Host *only, ProfErr *err);

/* Returns the share of a batch that is not padding; 0 for an empty one. */
double batch_efficiency(int64_t padding, int64_t size);

/* Times of a request, or averages over requests. */
typedef struct {
    double total_us, device_us, communication_us;
} InferenceLatency;
/* Returns the times of the request at a percentile above 0 and below 100. `actual`: including the
 * work of GPUs, and until the last batch ends. */
InferenceLatency inference_latency_at(const Inference *all, double percentile, bool actual);
InferenceLatency inference_latency_average(const Inference *all, bool actual);
InferenceLatency inference_latency_of(const InferenceRequest *request, bool actual);

#endif
