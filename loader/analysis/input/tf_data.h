// SPDX-License-Identifier: Apache-2.0
/* tf_data.h: input pipelines of tf.data: what each request for an element spent its time on, by
 * XProf's bottleneck analysis.
 *
 * Iterators of a pipeline call each other, on one thread or, if one prefetches or maps in parallel,
 * on several. An element that one thread produces and another consumes is matched by its number. A
 * call of the outermost iterator is a call of the pipeline. An iterator blocks the call while all
 * iterators between the two wait. */
#ifndef PROF_TF_DATA_H
#define PROF_TF_DATA_H

#include "../../base/list.h"
#include "../../run.h"

/* An iterator of a pipeline. */
typedef struct {
    int64_t id; /* as in the file, the bits of a uint64 */
    int64_t parent_id;
    bool has_parent, is_async, is_async_actual; /* is_async: by the names in XProf's list */
    const Text *long_name;
    const char *name; /* last part of long_name */
} TfDataIterator;

/* An iterator's share of one call of the pipeline. */
typedef struct {
    uint32_t iterator; /* index in TfData.iterators */
    int64_t start_ps, duration_ps, self_ps;
    uint64_t calls;
    bool blocking;
} TfDataPart;

/* A call of a pipeline: one request for an element. */
typedef struct {
    uint64_t event;                       /* event of the outermost iterator */
    int64_t start_ps, duration_ps, group; /* group: -1 if none */
    size_t first_part, n_parts;
    int64_t bottleneck; /* index of an iterator; -1: none blocks */
    int64_t bottleneck_ps;
} TfDataCall;

/* A pipeline and its calls. */
typedef struct {
    uint32_t iterator;          /* index of the outermost iterator */
    bool is_device;             /* it feeds the pipeline of a device */
    uint32_t number;            /* number among the pipelines of its kind, in file order */
    size_t first_call, n_calls; /* its calls, the longest first */
    int64_t avg_ps, min_ps, max_ps;
    size_t n_slow; /* calls longer than 50 us */
} TfDataPipeline;

typedef struct {
    LIST(TfDataIterator) iterators;
    LIST(TfDataPipeline) pipelines;
    LIST(TfDataCall) calls;
    LIST(TfDataPart) parts;
} TfData;

/* Returns the pipelines of one host. */
const TfData *host_tf_data(Host *host, ProfErr *err);

/* Returns advice for an iterator with this name, as a static text. */
const char *tf_data_suggestion(const char *name);

#endif
