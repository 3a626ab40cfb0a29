// SPDX-License-Identifier: Apache-2.0
/* shape.h: sizes of HLO shapes: of data as they are, and as a layout with tiles, packed elements and tail padding stores them.
 *
 * The rule is XLA's: only the first tile of a layout pads. With order mu from the fastest dimension on, tile t_1 .. t_m:
 *   N = prod(i < m: size(mu_i) rounded up to t_(m-i)) * prod(m <= i < rank: size(mu_i)), rounded up to the tail alignment;
 *   bytes = N * element width, or ceil(N * bits / 8) where the layout sets the bits of an element.
 * A dimension split over memories counts with its largest part. A `*` in a tile merges its dimension with the next faster one. */
#ifndef PROF_SHAPE_H
#define PROF_SHAPE_H

#include "../base.h"
#include "../format/hlo_type.h"
#include "schema/xla_data.pb-c.h"

typedef struct {
    const char *name; /* as in HLO text: f32, pred; NULL: no type of this number */
    uint8_t bits;     /* of one element; pred is stored in 8. 0: no array's */
} PrimitiveType;
extern const PrimitiveType primitive_types[N_HLO_TYPES];
/* NULL: no type of this number. */
const char *primitive_name(int type);
/* Of one element; 0 when the type is no array's, or unknown. Bytes in the default layout. */
int primitive_bits(int type);
int primitive_bytes(int type);
/* The number of a name, -1. */
int primitive_by_name(const char *name, size_t n_bytes);

/* Sums over the arrays of a shape; the pointer table of a tuple is not counted, a token is empty, an opaque is a pointer. */
typedef struct {
    bool known;           /* false: unbounded dimensions, types of no size, a layout that does not fit, sizes beyond int64 */
    int64_t elements;     /* of dynamic dimensions the bound */
    int64_t bytes;        /* in the default layout: no padding, at least a byte an element */
    int64_t padded_bytes; /* as the layout stores it; what XLA's buffers hold */
    int64_t useful_bytes; /* of padded_bytes: bytes, or less where elements are packed */
} ShapeSizes;
ShapeSizes shape_sizes(const Xla__ShapeProto *shape);
/* useful / padded; NAN when the sizes are not known or there is nothing. */
double shape_efficiency(const ShapeSizes *sizes);

/* Size without tiles as XProf's memory viewer has it: elements of the bits that the layout gives them, a tuple is its table of
 * 8-byte pointers. -1: unknown. */
int64_t shape_unpadded_bytes(const Xla__ShapeProto *shape);

/* The memory space that all arrays of a shape lie in; false when they lie in several, or there is no layout. */
bool shape_memory_space(const Xla__ShapeProto *shape, int64_t *space);

/* Sizes of a shape in HLO text, "f32[128,3]{1,0:T(8,128)}", a tuple "(f32[2], s32[])". On text that is no shape err is set:
 * what is wrong, and in err->offset at which byte. */
ShapeSizes shape_text_sizes(const char *text, size_t n_bytes, ProfErr *err);

#endif
