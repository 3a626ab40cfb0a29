// SPDX-License-Identifier: Apache-2.0
/* op_metadata.h: what an event metadata of a TPU core says of its op: names, costs of one occurrence, fused children.
 *
 * Internal to op metrics. */
#ifndef PROF_OP_METADATA_H
#define PROF_OP_METADATA_H

#include "op_build.h"

typedef struct {
    OpBuild *build;
    Plane *plane;
    StatFilter filter;
    size_t n_children; /* made so far: what a hostile file may ask for is bounded */
} MetadataReader;
int metadata_reader_open(MetadataReader *reader, OpBuild *build, Plane *plane, ProfErr *err);
void metadata_reader_close(MetadataReader *reader);

typedef struct {
    bool has_program, has_symbol;
    bool has_flops, has_bytes; /* it says what one occurrence costs, even if that is 0 */
    uint64_t symbol_id;        /* the program's is the op's */
} OpKey;
/* Fills an empty op. On failure err is set. */
int metadata_read(MetadataReader *reader, const EventMeta *meta, OpMetrics *op, OpKey *key, ProfErr *err);

#endif
