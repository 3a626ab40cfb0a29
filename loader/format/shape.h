// SPDX-License-Identifier: Apache-2.0
/* shape.h: sizes of HLO shapes: of the data itself, and as a layout with tiles, packed elements and
 * tail padding stores it.
 *
 * The rule is XLA's: only the first tile of a layout pads. With order mu, starting from the fastest
 * dimension, and tile t_1 .. t_m:
 *   N = prod(i < m: size(mu_i) rounded up to t_(m-i)) * prod(m <= i < rank: size(mu_i)),
 *       rounded up to the tail alignment;
 *   bytes = N * element width, or ceil(N * bits / 8) if the layout sets the bits of an element.
 * A dimension that is split over memories counts with its largest part. A `*` in a tile merges its
 * dimension with the next faster one. */
#ifndef PROF_SHAPE_H
#define PROF_SHAPE_H

#include "../base/base.h"
#include "hlo_type.h"
#include "schema/xla_data.pb-c.h"

/* An element type of arrays. */
typedef struct {
    const char *name; /* as in HLO text: f32, pred; NULL: no type has this number */
    /* Bits of one element; 8 for pred. 0: not a type of arrays. */
    uint8_t bits;
} PrimitiveType;
extern const PrimitiveType primitive_types[N_HLO_TYPES];
/* Returns the name of a type; NULL if no type has this number. */
const char *primitive_name(int type);
/* Return the size of one element, bytes in the default layout. 0 if the type is unknown or not one
 * of arrays. */
int primitive_bits(int type);
int primitive_bytes(int type);
/* Returns the number of the type with this name; -1 if there is none. */
int primitive_by_name(const char *name, size_t n_bytes);

/* Sums over the arrays of a shape. The pointer table of a tuple is not counted, a token is empty,
 * an opaque is a pointer. */
typedef struct {
    /* False for unbounded dimensions, types without size, a layout that does not fit, sizes beyond
     * int64. */
    bool known;
    int64_t elements;     /* dynamic dimensions count with their bound */
    int64_t bytes;        /* in the default layout: no padding, at least a byte per element */
    int64_t padded_bytes; /* as the layout stores it, which is the size of XLA's buffers */
    int64_t useful_bytes; /* data in padded_bytes: `bytes`, or less if elements are packed */
} ShapeSizes;
/* Returns the sizes of a shape. */
ShapeSizes shape_sizes(const Xla__ShapeProto *shape);
/* Returns useful_bytes / padded_bytes; NAN if the sizes are unknown or 0. */
double shape_efficiency(const ShapeSizes *sizes);

/* Returns the size without tiles, as in XProf's memory viewer: elements have the bits that the
 * layout gives them, a tuple is its table of 8-byte pointers. -1: unknown. */
int64_t shape_unpadded_bytes(const Xla__ShapeProto *shape);

/* Reads the memory space of all arrays of a shape. False if they are in several or there is no
 * layout. */
bool shape_memory_space(const Xla__ShapeProto *shape, int64_t *space);

/* Returns the sizes of a shape in HLO text, such as "f32[128,3]{1,0:T(8,128)}" or the tuple
 * "(f32[2], s32[])". If the text is not a shape, err says what is wrong, with its byte in
 * err->offset. */
ShapeSizes shape_text_sizes(const char *text, size_t n_bytes, ProfErr *err);

#endif
