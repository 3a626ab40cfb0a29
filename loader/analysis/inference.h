// SPDX-License-Identifier: Apache-2.0
/* inference.h: requests to a model server, the batches that they ran in, and what XProf's inference profile makes of them.
 *
 * A request is a group of events (grouping.h) whose root is a known kind of request, or a root that the user marked; a batch
 * is a group of a batch scheduler's ProcessBatch. Parents of a batch are its requests. */
#ifndef PROF_INFERENCE_H
#define PROF_INFERENCE_H

#include "../list.h"
#include "../run.h"

/* What a request spends its time on; at each moment the last of these that is going on counts. */
enum RequestTime {
    REQUEST_IDLE, /* between its begin and end as its parts show them: none of the others */
    REQUEST_PREPROCESS,
    REQUEST_POSTPROCESS,
    REQUEST_BATCH_FORMATION,
    REQUEST_RUNTIME,
    REQUEST_WRITE, /* to the device */
    REQUEST_READ,  /* from the device */
    REQUEST_DEVICE,
    N_REQUEST_TIMES,
};

typedef struct {
    const Host *host;
    int64_t id; /* the group */
    int model;  /* index into the host's models, then into Inference.models; -1: none */
    uint64_t start_ps, end_ps;
    int64_t delay_ps; /* of its first batch after its begin; 0: no batch */
    int64_t size;     /* as the scheduler says; 0: it does not */
    const int64_t *batches;
    size_t n_batches;
    uint64_t times[N_REQUEST_TIMES];
    uint64_t actual[N_REQUEST_TIMES]; /* the same with what GPUs do, which XProf leaves out */
    const Text *pattern;              /* of the tensors that it turned around itself, NULL: none known */
    uint64_t tensor_ps;
} InferenceRequest;

typedef struct {
    const Host *host;
    int64_t id;
    int model; /* as of a request: that of its first request */
    uint64_t start_ps, end_ps;
    int64_t delay_ps;                     /* after the begin of its earliest request; 0: no request is known */
    int64_t padding, size;                /* size: with padding; 0: unknown */
    uint64_t device_ps, actual_device_ps; /* actual: with GPUs */
    uint64_t program_id;
    bool has_program;
    const int64_t *requests;
    size_t n_requests;
    const Text *pattern;
    uint64_t tensor_ps;
} InferenceBatch;

/* Parameters of a batch scheduler. */
typedef struct {
    const Text *model; /* as the scheduler names it: without version */
    int64_t threads, timeout_us, max_batch_size, max_enqueued;
    const Text *allowed_sizes;
} BatchingParameters;

typedef struct {
    LIST(InferenceRequest) requests; /* the shortest first */
    LIST(InferenceBatch) batches;
    LIST(const Text *) models;
    LIST(BatchingParameters) parameters;
    bool cut;
    Arena arena;
    TextTable texts;
} HostInference;
/* Of one host. NULL with err set. */
const HostInference *host_inference(Host *host, ProfErr *err);

typedef struct {
    const Text *pattern;
    const uint64_t *times; /* ascending */
    size_t n;
} TensorPattern;

/* Sums of requests and batches; batch_size -1: of all. */
typedef struct {
    int64_t batch_size;
    InferenceRequest request; /* sums */
    InferenceBatch batch;
    uint64_t n_requests, n_batches;
} InferenceSum;

typedef struct {
    const char *name;
    const BatchingParameters *parameters; /* NULL: not known */
    InferenceRequest *const *requests;    /* of all hosts, the shortest first */
    InferenceBatch *const *batches;
    size_t n_requests, n_batches;
    double request_throughput, batch_throughput; /* per second; 0: none */
    double request_latency_us, batch_latency_us; /* on average */
    InferenceSum all;
    const InferenceSum *by_size; /* by batch size */
    size_t n_by_size;
    const TensorPattern *patterns;
    size_t n_patterns;
} InferenceModel;

typedef struct {
    InferenceModel *models; /* by name */
    size_t n_models;
    InferenceRequest **requests; /* of all models, the shortest first */
    size_t n_requests;
    InferenceRequest *const *other_requests; /* of no model although others have one, the shortest first */
    size_t n_other_requests;
    InferenceBatch *const *others; /* batches of no model: no request with a model points to them */
    size_t n_others;
    double throughput; /* of all models */
    bool has_batches;  /* a model has */
    bool trains;       /* and has requests: XProf's overview then shows no latencies */
} Inference;
/* Of all hosts together, or of one. Lives as long as the run. NULL with err set. */
const Inference *run_inference(Run *run, Host *only, ProfErr *err);

/* XProf shows all of up to 60, else some around certain percentiles. Is the i-th of n shown? */
bool inference_sampled(size_t i, size_t n);

#endif
