// SPDX-License-Identifier: Apache-2.0
/* launch_times.h: how long the work of GPUs waits for its start, by name, and how much of it is
 * queued, by stream. */
#ifndef PROF_LAUNCH_TIMES_H
#define PROF_LAUNCH_TIMES_H

#include "launches.h"

/* The launched work of one name on all GPUs of a run. Times in ps. */
typedef struct {
    const Text *name; /* of a metadata of a GPU plane */
    uint64_t n;
    double total_delay, median_delay, total_launch, total_work; /* totals: for averages */
    int64_t max_delay;
} LaunchLatency;

typedef struct {
    LaunchLatency *names; /* the largest total_delay first */
    size_t n;
} LaunchLatencies;

/* The queue of one stream: work that was launched and has not started. Only work that starts after
 * its launch counts. Times in ps. */
typedef struct {
    const Line *line;
    uint64_t n, longest, n_empty; /* n_empty: launches that find an empty queue */
    int64_t longest_start;        /* when the queue was first that long */
    double average;               /* length when work is added, this included */
    double median_delay;
    int64_t longest_launch;
} LaunchQueue;

typedef struct {
    LaunchQueue *streams; /* the longest queue first */
    size_t n;
} LaunchQueues;

/* Return the times of a run, or of one of its hosts. */
const LaunchLatencies *run_launch_latencies(Run *run, Host *only, ProfErr *err);
const LaunchQueues *run_launch_queues(Run *run, Host *only, ProfErr *err);

#endif
