// SPDX-License-Identifier: Apache-2.0
/* hlo_text.h: writes HLO programs as text, byte for byte as XProf shows them.
 *
 * Text is appended to the caller's buffer. If memory runs out, the buffer's no_memory is set.
 * Instructions that are referred to but missing (in a damaged file) are left out. */
#ifndef PROF_HLO_TEXT_H
#define PROF_HLO_TEXT_H

#include "../base/text_buffer.h"
#include "hlo.h"

enum HloTextStyle {
    HLO_TEXT_LONG,  /* XProf's long_txt: % before names, all constants, control predecessors */
    HLO_TEXT_SHORT, /* XProf's short_txt: no %; constants of more than 10 elements as {...} */
    /* long_name of op metrics: % before names, operand shapes, no backend configs, no ROOT */
    HLO_TEXT_LONG_NAME,
    /* like HLO_TEXT_LONG_NAME, but with at most 1000 bytes of an operand's shape, then "...":
       otherwise the texts of the instructions that take single elements out of a tuple would grow
       with the square of its size */
    HLO_TEXT_BRIEF,
    /* what XProf's fingerprint hashes: no names, called computations written in full */
    HLO_TEXT_CANONICAL,
};
enum { HLO_LONG_NAME_MAX = 1000000 }; /* XProf cuts a long_name here */

/* Appends "%name = SHAPE opcode(operands), attributes". Returns out->text, NULL if memory ran
 * out. */
char *hlo_instruction_text(const HloModule *module, const Xla__HloInstructionProto *op,
                           enum HloTextStyle style, TextBuffer *out);
/* Appends "f32[4,2]{1,0:T(8,128)}", or "f32[4,2]" without `layout`. Returns out->text. */
char *hlo_shape_text(const Xla__ShapeProto *shape, bool layout, TextBuffer *out);

/* Computes XProf's fingerprint of an instruction from its canonical text, and keeps it with the
 * module. False without err set if there is none: in a damaged program that text would contain
 * itself or grow without bound. */
bool hlo_fingerprint(const HloModule *module, const Xla__HloInstructionProto *op,
                     uint64_t *fingerprint, ProfErr *err);

/* Returns XProf's category of an instruction, never NULL. Equal categories are the same pointer,
 * except for an opcode that XLA does not have: then the result is the proto's own text. */
const char *hlo_category(const HloModule *module, const Xla__HloInstructionProto *op);

/* A program's text by line. A line is written when it is asked for. It may contain line feeds
 * itself, from backend configs. */
typedef struct HloListing HloListing;
/* Returns the listing of a module, computed on first use and kept with it. */
const HloListing *hlo_listing(const HloModule *module, ProfErr *err);
/* Returns the number of lines. */
size_t hlo_listing_count(const HloListing *listing);
/* Appends a line, counted from 0, without the line feed at its end. */
void hlo_listing_line(const HloListing *listing, size_t line, enum HloTextStyle style,
                      TextBuffer *out);
/* Returns the instruction on a line. NULL if there is none, as on a computation's first line. */
const Xla__HloInstructionProto *hlo_listing_instruction(const HloListing *listing, size_t line);

#endif
