// SPDX-License-Identifier: Apache-2.0
/* inference_parts.h: internals shared by the files that find a host's requests; inference.h is the
 * public part.
 *
 *   inference_host.c        reads the host's threads; creates requests and batches with their
 * events inference_times.c       what each request spent its time on, and its tensors
 *   inference_parameters.c  how the server forms batches */
#ifndef PROF_INFERENCE_PARTS_H
#define PROF_INFERENCE_PARTS_H

#include "../grouping/grouping.h"
#include "inference.h"
#include "../../base/tf_op.h"

/* Kinds of events by name, in the order in which XProf processes them. */
enum Kind {
    KIND_BATCHING_RUN,
    KIND_TFRT_RUN,
    KIND_SERVING_RUN,
    KIND_SESSION_RUN,
    KIND_RUN_GRAPH,
    KIND_BATCH,
    KIND_ORBAX_BATCH,
    KIND_SCHEDULE,
    KIND_READ = KIND_SCHEDULE + 4,
    KIND_WRITE = KIND_READ + 2,
    KIND_WRITE_BEGIN = KIND_WRITE + 3,
    KIND_WRITE_DONE,
    KIND_READ_BEGIN,
    KIND_READ_DONE,
    KIND_EXECUTE,
    KIND_LAUNCH = KIND_EXECUTE + 4,
    KIND_CALLBACK = KIND_LAUNCH + 2,
    KIND_CONCAT,
    KIND_TENSOR = KIND_CONCAT + 4,
    KIND_OTHER = KIND_TENSOR + 3,
    N_KINDS,
};
/* Which stats an event has. */
enum Said {
    SAID_MODEL = 1,
    SAID_SIZE = 2,
    SAID_PADDING = 4,
    SAID_PADDED = 8,
    SAID_CONTEXT = 16,
    SAID_SHAPE = 32,
    SAID_LAYOUT = 64,
    SAID_ROOT = 128
};
/* An event that matters, with its stats. */
typedef struct {
    int64_t group;
    uint64_t start_ps, end_ps, event;
    int64_t size, padding, padded, context;
    const Text *name, *model, *shape, *layout;
    uint8_t kind, said;
    bool user_root;
} Seen;

/* A group of the host. request and batch are its index + 1; 0 if it is not one. */
typedef struct {
    int64_t id;
    uint64_t begin_ps, end_ps;
    uint32_t request, batch;
    bool is_batch;
    const Text *model;
} GroupSpan;

/* Moments of a request, with the group of the event. */
enum Moment { AT_SCHEDULE, AT_CONCAT, AT_EXECUTE, AT_LAUNCH, AT_CALLBACK, N_MOMENTS };
typedef struct {
    uint32_t request;
    int64_t group;
    uint64_t ps;
    uint32_t turn;
    uint8_t moment;
} MomentOf;

/* Time that a request or batch spends on something. */
typedef struct {
    uint32_t owner; /* index of the request or batch */
    uint8_t type;   /* enum RequestTime */
    bool unseen;    /* XProf does not count it: work of a GPU, or after the end that XProf sees */
    uint64_t begin_ps, end_ps;
} SpanOf;

typedef struct {
    uint32_t owner;
    const Seen *seen;
} TensorOf;

/* The result, while it is built. */
typedef struct {
    HostInference *result;
    Host *host;
    const Grouping *grouping;
    HashTable ids;
    LIST(GroupSpan) groups;
    size_t last_group;
    LIST(Seen) seen; /* sorted by kind after reading */
    size_t first[N_KINDS + 1];
    LIST(MomentOf) moments;
    LIST(SpanOf) spans, batch_spans;
    LIST(TensorOf) tensors, batch_tensors;
    /* Limits the events that are assigned to requests, because many requests in one batch could
     * multiply them without bound. */
    uint64_t budget;
} InferenceBuilder;

/* Returns the first event of this kind or a later one; NULL if there are no events at all. */
static inline const Seen *seen_from(const InferenceBuilder *m, size_t kind)
{
    return m->seen.n ? m->seen.items + m->first[kind] : NULL;
}

/* Loops over the events of the kinds from `from` up to but excluding `to`. */
#define EACH_SEEN(s, from, to)                                                                     \
    for (const Seen *s = seen_from(m, from), *s##_end = seen_from(m, to);                          \
         s < s##_end && !err->code; s++)

/* Returns a group of the host; NULL if no event has it. Valid until another group is added. */
GroupSpan *inference_group(InferenceBuilder *m, int64_t id);
/* Returns a text that is interned in the result. */
const Text *inference_intern(InferenceBuilder *m, Slice text, ProfErr *err);

/* inference_add_spans() adds the spans between moments. inference_sum_times() then sums the
 * spans of each request and batch: at each moment the most important type counts. */
void inference_add_spans(InferenceBuilder *m, ProfErr *err);
void inference_sum_times(InferenceBuilder *m, ProfErr *err);
void inference_find_patterns(InferenceBuilder *m, ProfErr *err);
/* Reads the batching parameters of each model into the result. */
void inference_read_parameters(InferenceBuilder *m, ProfErr *err);

#endif
