// SPDX-License-Identifier: Apache-2.0
/* inference_parameters.c: reads how a model server forms batches, from the counters that it exports
 * (tfstreamz); see inference.h. */
#include "inference_parts.h"

#include "../../store/event_stats.h"
#include "../../store/events.h"

/* Returns the value of model_name in name{label=value, ...}; n is 0 if there is none. */
static Slice labelled_model(const char *name)
{
    const char *open = strchr(name, '{'), *close = strrchr(name, '}');
    if (!open || !close || close <= open) return (Slice){0};
    for (const char *p = open + 1; p < close;) {
        const char *end = strstr(p, ", ");
        if (!end || end > close) end = close;
        const char *equals = memchr(p, '=', (size_t)(end - p));
        if (equals && !memchr(equals + 1, '=', (size_t)(end - equals - 1)) && equals - p == 10 &&
            !memcmp(p, "model_name", 10))
            return (Slice){equals + 1, (size_t)(end - equals - 1)};
        p = end < close ? end + 2 : close;
    }
    return (Slice){0};
}

/* Returns the parameters of a model, added if they are new. NULL for too many models, or with err
 * set. */
static BatchingParameters *parameters_of(InferenceBuilder *m, Slice model, ProfErr *err)
{
    enum { MOST_MODELS = 10000 };
    const Text *name = inference_intern(m, model, err);
    if (!name) return NULL;
    for (size_t i = 0; i < m->result->parameters.n; i++)
        if (m->result->parameters.items[i].model == name) return &m->result->parameters.items[i];
    if (m->result->parameters.n == MOST_MODELS) return NULL;
    BatchingParameters *place = PUSH(m->result->parameters);
    if (!place) {
        prof_nomem(err);
        return NULL;
    }
    *place = (BatchingParameters){.model = name, .allowed_sizes = empty_text};
    return place;
}

static void read_parameter(InferenceBuilder *m, const Plane *plane, const char *name,
                           const Stat *stat, ProfErr *err)
{
    static const char prefix[] = "/tensorflow/serving/batching/";
    if (strncmp(name, prefix, sizeof prefix - 1)) return;
    Slice model = labelled_model(name += sizeof prefix - 1);
    BatchingParameters *p = model.text ? parameters_of(m, model, err) : NULL;
    if (!p) return;
    if (starts_with(name, "num_batch_threads"))
        p->threads = stat_int(stat);
    else if (starts_with(name, "batch_timeout_micros"))
        p->timeout_us = stat_int(stat);
    else if (starts_with(name, "max_batch_size"))
        p->max_batch_size = stat_int(stat);
    else if (starts_with(name, "max_enqueued_batches"))
        p->max_enqueued = stat_int(stat);
    else if (starts_with(name, "allowed_batch_sizes"))
        p->allowed_sizes = inference_intern(m, stat_text(plane, stat), err);
}

/* Reads the second of exactly two snapshots, like XProf. */
void inference_read_parameters(InferenceBuilder *m, ProfErr *err)
{
    const Plane *plane = host_find_plane(m->host, PREFIX_TFSTREAMZ);
    if (!plane || !plane->n_lines || m->host->lines[plane->first_line].n_events != 2) return;
    EventReader reader;
    EventAt at;
    event_reader_open(&reader, &m->host->lines[plane->first_line], EVENT_STATS, err);
    for (int i = 0; !err->code && event_reader_next(&reader, &at); i++) {
        StatIter stats = stat_iter_of_event(&at);
        Stat stat;
        while (i == 1 && !err->code && stat_iter_next(&stats, &stat)) {
            const StatMeta *meta = stat_meta(plane, stat.id);
            if (meta) read_parameter(m, plane, meta->name->text, &stat, err);
        }
    }
    event_reader_close(&reader);
}
