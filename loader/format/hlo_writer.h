// SPDX-License-Identifier: Apache-2.0
/* hlo_writer.h: what the files that write HLO text share; see hlo_text.h for what others call. */
#ifndef PROF_HLO_WRITER_H
#define PROF_HLO_WRITER_H

#include "hlo_opcode.h"
#include "hlo_text.h"

/* A computation whose instructions are being written where it is called, HLO_TEXT_CANONICAL. */
typedef struct HloBody {
    const Xla__HloComputationProto *computation;
    size_t first;            /* position in module->ops of its first instruction */
    const uint32_t *numbers; /* of its instructions, from `first` on: their place in the text + 1 */
    int depth;               /* of computations that contain it */
} HloBody;

/* Text in the making: where it goes, and what its style prints. */
typedef struct {
    const HloModule *module;
    TextBuffer *out;
    bool percent;        /* % before names */
    bool operand_shapes; /* the shape before each operand */
    bool all_constants;  /* constants of any size */
    bool index_comments; /* before every fifth operand */
    bool control;        /* control-predecessors */
    bool configs;        /* backend_config, infeed_config, outfeed_config */
    bool canonical;      /* numbers for names, and computations in the place where they are called */
    const HloBody *body; /* canonical: what the instruction stands in; NULL: it stands alone */
} HloWriter;

HloWriter hlo_writer(const HloModule *module, enum HloTextStyle style, TextBuffer *out);
void hlo_write_instruction(const HloWriter *w, const Xla__HloInstructionProto *op);

/* "{\n  tmp_0 = ...\n}": a computation as it stands where it is called, HLO_TEXT_CANONICAL. */
void hlo_write_body(const HloWriter *w, const Xla__HloComputationProto *computation);
/* The name of an instruction there; none where it stands alone. */
void hlo_write_number(const HloWriter *w, const Xla__HloInstructionProto *op);

/* The instructions of a computation in their order. */
typedef struct {
    const HloModule *module;
    const Xla__HloComputationProto *computation;
    uint8_t *state; /* zeroed, by position in module->ops, from `base` on */
    size_t base;
    uint32_t *stack; /* to be freed */
    size_t depth, capacity;
    const Xla__HloInstructionProto **to; /* room for all */
    size_t n;
} HloWalk;
/* Lists the instruction of this id, unless it is listed already or another computation's. */
void hlo_walk_list(HloWalk *w, int64_t id);
/* Lists all instructions, `n` from position `first` on: operands before users. */
int hlo_walk_all(HloWalk *w, size_t first, size_t n, ProfErr *err);

/* Nesting of tuples, literals and shardings is bounded by the reader of messages. */
void hlo_write_shape(TextBuffer *out, const Xla__ShapeProto *shape, bool layout);
void hlo_write_literal(TextBuffer *out, const Xla__LiteralProto *literal);
/* Only what tells programs apart that do different things: 0, 1 and integers; {...} for other values. */
void hlo_write_essential_literal(TextBuffer *out, const Xla__LiteralProto *literal);
/* The number of elements of an array's shape; -1 when a dimension is negative or they pass int64. */
int64_t hlo_element_count(const Xla__ShapeProto *shape);

void hlo_write_sharding(TextBuffer *out, const Xla__OpSharding *sharding);
/* ", replica_groups=..." of a collective. */
void hlo_write_replica_groups(TextBuffer *out, const Xla__HloInstructionProto *op);

/* The attributes behind the operands, each with its ", ". */
void hlo_write_attributes(const HloWriter *w, const Xla__HloInstructionProto *op);
/* Those that any instruction may have, and ", backend_config=...". */
void hlo_write_common_attributes(const HloWriter *w, const Xla__HloInstructionProto *op);
void hlo_write_backend_config(const HloWriter *w, const Xla__HloInstructionProto *op);
void hlo_write_frontend_attributes(TextBuffer *out, const Xla__FrontendAttributes *attributes);

/* "1,2,3" */
void hlo_write_integers(TextBuffer *out, const int64_t *values, size_t n);
/* The computation that an async-start, -update or -done runs; NULL when there is none or it is not one instruction over parameters. */
const Xla__HloComputationProto *hlo_async_single(const HloModule *module, const Xla__HloInstructionProto *op);
const Xla__HloInstructionProto *hlo_root(const Xla__HloComputationProto *computation);

#endif
