// SPDX-License-Identifier: Apache-2.0
/* tf_data.h: input pipelines of tf.data: what each call for an element spent its time on, by XProf's bottleneck analysis.
 *
 * Iterators of a pipeline call each other, on one thread or, where one prefetches or maps in parallel, on several: an element
 * that a thread produced is told by its number when another consumes it. A call of the outermost iterator is a call of the
 * pipeline; an iterator blocks it while all that lies between them waits. */
#ifndef PROF_TF_DATA_H
#define PROF_TF_DATA_H

#include "../list.h"
#include "../run.h"

typedef struct {
    int64_t id; /* as the file has it, bits of a uint64 */
    int64_t parent_id;
    bool has_parent, is_async, is_async_actual; /* is_async: by the names that XProf has */
    const Text *long_name;
    const char *name; /* its last part */
} TfDataIterator;

/* What an iterator did in one call of the pipeline. */
typedef struct {
    uint32_t iterator; /* index */
    int64_t start_ps, duration_ps, self_ps;
    uint64_t calls;
    bool blocking;
} TfDataPart;

typedef struct {
    uint64_t event;                       /* of the outermost iterator */
    int64_t start_ps, duration_ps, group; /* group -1: none */
    size_t first_part, n_parts;
    int64_t bottleneck; /* index of an iterator, -1: none blocks */
    int64_t bottleneck_ps;
} TfDataCall;

typedef struct {
    uint32_t iterator;          /* the outermost */
    bool is_device;             /* it feeds a device's pipeline */
    uint32_t number;            /* among those of its kind, in order of the file */
    size_t first_call, n_calls; /* the longest first */
    int64_t avg_ps, min_ps, max_ps;
    size_t n_slow; /* calls longer than 50 us */
} TfDataPipeline;

typedef struct {
    LIST(TfDataIterator) iterators;
    LIST(TfDataPipeline) pipelines;
    LIST(TfDataCall) calls;
    LIST(TfDataPart) parts;
} TfData;

/* The pipelines of one host. Lives as long as the run. NULL with err set. */
const TfData *host_tf_data(Host *host, ProfErr *err);

/* What to do about an iterator, by its name. */
const char *tf_data_suggestion(const char *name);

#endif
