// SPDX-License-Identifier: Apache-2.0
/* op_metadata.h: fills an op from an event metadata of a TPU core: names, costs of one occurrence,
 * fused children. Internal to op metrics. */
#ifndef PROF_OP_METADATA_H
#define PROF_OP_METADATA_H

#include "op_build.h"

/* Reads the event metadata of a plane. */
typedef struct {
    OpBuild *build;
    Plane *plane;
    StatFilter filter;
    size_t n_children; /* number of children read; limits what a hostile file can ask for */
} MetadataReader;
/* Prepares a reader for the metadata of a plane. Close it in any case. */
int metadata_reader_open(MetadataReader *reader, OpBuild *build, Plane *plane, ProfErr *err);
void metadata_reader_close(MetadataReader *reader);

/* What identifies an op in its program, and which costs are known. */
typedef struct {
    bool has_symbol;
    /* The metadata has the cost of one occurrence, even if that is 0. */
    bool has_flops, has_bytes;
    uint64_t symbol_id;
} OpKey;
/* Fills in an empty op and its key. */
int metadata_read(MetadataReader *reader, const EventMeta *meta, OpMetrics *op, OpKey *key,
                  ProfErr *err);

#endif
