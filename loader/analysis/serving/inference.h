// SPDX-License-Identifier: Apache-2.0
/* inference.h: requests to a model server and the batches that they ran in, as in XProf's inference
 * profile.
 *
 * A request is a group of events (grouping.h) whose root is a known kind of request, or an event
 * that the user marked as a root. A batch is a group whose root is a batch scheduler's
 * ProcessBatch. The parents of a batch are its requests. */
#ifndef PROF_INFERENCE_H
#define PROF_INFERENCE_H

#include "../../base/list.h"
#include "../../run.h"

/* What a request spends its time on. If several occur at the same time, the last in this list
 * counts. */
enum RequestTime {
    REQUEST_IDLE, /* between its start and end, none of the others */
    REQUEST_PREPROCESS,
    REQUEST_POSTPROCESS,
    REQUEST_BATCH_FORMATION,
    REQUEST_RUNTIME,
    REQUEST_WRITE, /* writes to the device */
    REQUEST_READ,  /* reads from the device */
    REQUEST_DEVICE,
    N_REQUEST_TIMES,
};

/* A request, or the sum of several. */
typedef struct {
    const Host *host;
    int64_t id; /* id of the group */
    /* Index in HostInference.models or, from run_inference(), in Inference.models; -1 if none. */
    int model;
    uint64_t start_ps, end_ps;
    uint64_t actual_end_ps; /* of its last batch, if it was split over several; not in sums */
    int64_t delay_ps;       /* from its start to that of its first batch; 0: no batch */
    int64_t size;           /* batch size that the scheduler records; 0: none */
    const int64_t *batches;
    size_t n_batches;
    uint64_t times[N_REQUEST_TIMES];
    uint64_t actual[N_REQUEST_TIMES]; /* until actual_end_ps, including the work of GPUs, which
                                         XProf leaves out */
    const Text *pattern; /* of the tensors that it linearizes itself; NULL if unknown */
    uint64_t tensor_ps;
} InferenceRequest;

/* A batch, or the sum of several. */
typedef struct {
    const Host *host;
    int64_t id;
    int model; /* as in InferenceRequest; the model of its first request */
    uint64_t start_ps, end_ps;
    /* From the start of its earliest request; 0: no request is known. */
    int64_t delay_ps;
    int64_t padding, size;                /* size: including padding; 0 if unknown */
    uint64_t device_ps, actual_device_ps; /* actual_device_ps: including the work of GPUs */
    uint64_t program_id;
    bool has_program;
    const int64_t *requests;
    size_t n_requests;
    const Text *pattern;
    uint64_t tensor_ps;
} InferenceBatch;

/* Parameters of a batch scheduler. */
typedef struct {
    const Text *model; /* as the scheduler names it, without version */
    int64_t threads, timeout_us, max_batch_size, max_enqueued;
    const Text *allowed_sizes;
} BatchingParameters;

/* The requests and batches of a host. */
typedef struct {
    LIST(InferenceRequest) requests; /* by duration, the shortest first */
    LIST(InferenceBatch) batches;
    LIST(const Text *) models;
    LIST(BatchingParameters) parameters;
    bool cut;
    Arena arena;
    TextTable texts;
} HostInference;
/* Returns the requests and batches of one host. */
const HostInference *host_inference(Host *host, ProfErr *err);

/* Durations in ps of the requests and batches with one pattern of tensors. */
typedef struct {
    const Text *pattern;
    const uint64_t *times; /* sorted */
    size_t n;
} TensorPattern;

/* Sums over requests and batches of one size; batch_size -1: of all sizes. */
typedef struct {
    int64_t batch_size;
    InferenceRequest request; /* each number is a sum */
    InferenceBatch batch;
    uint64_t n_requests, n_batches;
} InferenceSum;

/* A model that the server runs. */
typedef struct {
    const char *name;
    const BatchingParameters *parameters; /* NULL if unknown */
    InferenceRequest *const *requests;    /* of all hosts, the shortest first */
    InferenceBatch *const *batches;
    size_t n_requests, n_batches;
    double request_throughput, batch_throughput; /* per second; 0 if there are none */
    double request_latency_us, batch_latency_us; /* averages */
    InferenceSum all;
    const InferenceSum *by_size; /* by batch size */
    size_t n_by_size;
    const TensorPattern *patterns;
    size_t n_patterns;
} InferenceModel;

/* The models of a run. */
typedef struct {
    InferenceModel *models; /* sorted by name */
    size_t n_models;
    InferenceRequest **requests;     /* of all models, the shortest first */
    InferenceRequest **actual_order; /* the same, by actual_end_ps - start_ps */
    size_t n_requests;
    /* Requests without a model although others have one, the shortest first. */
    InferenceRequest *const *other_requests;
    size_t n_other_requests;
    InferenceBatch *const *others; /* batches without a model: those whose requests have none */
    size_t n_others;
    double throughput; /* of all models together */
    bool has_batches;  /* some model has batches */
    /* The run trains and has requests: XProf's overview then shows no latencies. */
    bool trains;
} Inference;
/* Returns the models of all hosts together, or of `only`. */
const Inference *run_inference(Run *run, Host *only, ProfErr *err);

/* Returns whether XProf shows the i-th of n: all if there are at most 60, otherwise some around
 * certain percentiles. */
bool inference_sampled(size_t i, size_t n);

#endif
