// SPDX-License-Identifier: Apache-2.0
/* collect.h: what the writer thread does with what it gets: CUPTI's buffers and the threads' rings
 * become records of the spool. */
#ifndef PROF_CAPTURE_COLLECT_H
#define PROF_CAPTURE_COLLECT_H

#include "cupti.h"
#include "rings.h"
#include "samples.h"
#include "spool.h"

enum { MAX_CBIDS = 4096, THREAD_SLOTS = 4096 };
typedef struct {
    SpoolWriter *spool;
    const Cupti *cupti;
    uint32_t api_names[2][MAX_CBIDS]; /* text id of a runtime and a driver call; 0: not asked yet */
    uint32_t threads[THREAD_SLOTS];   /* whose names were written */
    uint32_t n_threads;
    uint64_t devices; /* bits of those that CUPTI has described */
    uint64_t used;    /* and of those that have a context */
    uint64_t uuids[64][2];
} Collector;

/* Reads a buffer that CUPTI filled. */
void collect_buffer(Collector *c, uint8_t *bytes, size_t n_valid);
/* A range event, as rings_drain() wants it; context is the Collector. */
void collect_range(void *context, const RangeEvent *event, const char *text);
void collect_clock(Collector *c);
/* A sample of NVML, as samples_drain() wants it. */
void collect_sample(void *context, const GpuSample *sample);
/* A device that CUPTI has not described, from elsewhere. */
bool collect_knows_device(const Collector *c, uint32_t device);
void collect_device(Collector *c, Record *r, const char *name);
/* Counts the records of a buffer that will not be read, and frees what they own. */
uint64_t collect_count(const Cupti *cupti, uint8_t *bytes, size_t n_valid);

#endif
