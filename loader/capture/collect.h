// SPDX-License-Identifier: Apache-2.0
/* collect.h: converts what the writer thread gets, CUPTI's buffers and the threads' rings, into
 * records of the spool. */
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
    /* text ids of runtime and driver calls; 0: not looked up yet */
    uint32_t api_names[2][MAX_CBIDS];
    uint32_t threads[THREAD_SLOTS]; /* threads whose names are written */
    uint32_t n_threads;
    uint64_t devices; /* bits of the devices that CUPTI has described */
    uint64_t used;    /* bits of the devices that have a context */
    uint64_t uuids[64][2];
} Collector;

/* Reads a buffer that CUPTI filled. */
void collect_buffer(Collector *c, uint8_t *bytes, size_t n_valid);
/* Writes a range event; for rings_drain(). context is the Collector. */
void collect_range(void *context, const RangeEvent *event, const char *text);
void collect_clock(Collector *c);
/* Writes a sample of NVML; for samples_drain(). */
void collect_sample(void *context, const GpuSample *sample);
/* Returns whether CUPTI has described a device. */
bool collect_knows_device(const Collector *c, uint32_t device);
void collect_device(Collector *c, Record *r, const char *name);
/* Counts the records of a buffer that will not be read, and frees the memory that they own. */
uint64_t collect_count(const Cupti *cupti, uint8_t *bytes, size_t n_valid);

#endif
