// SPDX-License-Identifier: Apache-2.0
/* hlo_writer.h: internals shared by the files that write HLO text; hlo_text.h is the public
 * part. */
#ifndef PROF_HLO_WRITER_H
#define PROF_HLO_WRITER_H

#include "hlo_opcode.h"
#include "hlo_text.h"

/* A computation that is being written at the place where it is called (HLO_TEXT_CANONICAL). */
typedef struct HloBody {
    const Xla__HloComputationProto *computation;
    size_t first;            /* position of its first instruction in the module */
    const uint32_t *numbers; /* by instruction, from `first` on: its number in the text + 1 */
    int depth;               /* number of computations that enclose it in the text */
} HloBody;

/* Where text is written to, and what its style includes. */
typedef struct {
    const HloModule *module;
    TextBuffer *out;
    bool percent;        /* % before names */
    bool operand_shapes; /* the shape before each operand */
    bool cut_shapes;     /* cut long shapes */
    bool all_constants;  /* constants of any size */
    bool index_comments; /* a comment with its index before every fifth operand */
    bool control;        /* control-predecessors */
    bool configs;        /* backend_config, infeed_config and outfeed_config */
    bool canonical;      /* numbers instead of names, called computations written in full */
    /* canonical: the computation that the instruction is written in; NULL if it is written alone */
    const HloBody *body;
} HloWriter;

/* Returns a writer for a style. It borrows the module and the buffer. */
HloWriter hlo_writer(const HloModule *module, enum HloTextStyle style, TextBuffer *out);
/* Appends an instruction. */
void hlo_write_instruction(const HloWriter *w, const Xla__HloInstructionProto *op);

/* Appends ", name=". */
void hlo_write_key(const HloWriter *w, const char *name);
/* Appends a computation at the place where it is called: "{\n  tmp_0 = ...\n}"
 * (HLO_TEXT_CANONICAL). */
void hlo_write_body(const HloWriter *w, const Xla__HloComputationProto *computation);
/* Appends the instruction's number in the enclosing body; nothing if it is written alone. */
void hlo_write_number(const HloWriter *w, const Xla__HloInstructionProto *op);

/* Lists the instructions of a computation in the order of the text. The caller sets module,
 * computation, base, and allocates state and to; it frees state, stack and to with prof_free(). */
typedef struct {
    const HloModule *module;
    const Xla__HloComputationProto *computation;
    uint8_t *state; /* by position in the module minus `base`; zeroed before the walk */
    size_t base;
    uint32_t *stack; /* allocated by the walk; the caller frees it */
    size_t depth, capacity;
    /* the result; room for all instructions of the computation */
    const Xla__HloInstructionProto **to;
    size_t n;
} HloWalk;
/* Appends the instruction of this id to the list, unless it is listed already or is in another
 * computation. */
void hlo_walk_list(HloWalk *w, int64_t id);
/* Lists all instructions, the n from position `first` on, operands before their users. */
int hlo_walk_all(HloWalk *w, size_t first, size_t n, ProfErr *err);

/* Append a shape or a literal. message_unpack() limits how deep tuples, literals and shardings
 * nest. */
void hlo_write_shape(TextBuffer *out, const Xla__ShapeProto *shape, bool layout);
void hlo_write_literal(TextBuffer *out, const Xla__LiteralProto *literal);
/* Appends only the values that make programs differ in what they do: 0, 1 and integers. {...}
 * stands for all others. */
void hlo_write_essential_literal(TextBuffer *out, const Xla__LiteralProto *literal);
/* Returns the number of elements of an array's shape; -1 if a dimension is negative or the number
 * exceeds int64. */
int64_t hlo_element_count(const Xla__ShapeProto *shape);

/* Appends a sharding. */
void hlo_write_sharding(TextBuffer *out, const Xla__OpSharding *sharding);
/* Appends ", replica_groups=..." of a collective; canonical text lists every id. */
void hlo_write_replica_groups(const HloWriter *w, const Xla__HloInstructionProto *op);

/* Appends the attributes that follow the operands, each with a leading ", ". */
void hlo_write_attributes(const HloWriter *w, const Xla__HloInstructionProto *op);
/* Appends the attributes that any instruction may have. They include ", backend_config=...". */
void hlo_write_common_attributes(const HloWriter *w, const Xla__HloInstructionProto *op);
void hlo_write_backend_config(const HloWriter *w, const Xla__HloInstructionProto *op);
void hlo_write_frontend_attributes(TextBuffer *out, const Xla__FrontendAttributes *attributes);

/* Appends "1,2,3". */
void hlo_write_integers(TextBuffer *out, const int64_t *values, size_t n);
/* Returns the computation that an async-start, -update or -done runs. NULL if there is none, or if
 * it is more than one instruction over parameters: that instruction is then not written in its
 * place. */
const Xla__HloComputationProto *hlo_async_single(const HloModule *module,
                                                 const Xla__HloInstructionProto *op);
/* Returns the root instruction of a computation; NULL if it has none. */
const Xla__HloInstructionProto *hlo_root(const Xla__HloComputationProto *computation);

#endif
