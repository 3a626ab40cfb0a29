// SPDX-License-Identifier: Apache-2.0
/* hlo_text.h: HLO programs as text, byte for byte as XProf shows them.
 *
 * Texts end up in a buffer of the caller; each function says that memory ended by the buffer's no_memory. Instructions that a
 * program does not have (a damaged file) are left out of the text. */
#ifndef PROF_HLO_TEXT_H
#define PROF_HLO_TEXT_H

#include "../text_buffer.h"
#include "hlo.h"

enum HloTextStyle {
    HLO_TEXT_LONG,      /* XProf's long_txt: % before names, all constants, control predecessors */
    HLO_TEXT_SHORT,     /* XProf's short_txt: no %, constants of more than 10 elements as {...} */
    HLO_TEXT_LONG_NAME, /* long_name of op metrics: % before names, shapes of operands, no configurations, no ROOT */
    HLO_TEXT_CANONICAL, /* what XProf's fingerprints are of: no names, but the computations that are called, whole */
};
enum { HLO_LONG_NAME_MAX = 1000000 }; /* characters that XProf keeps of a long_name */

/* Appends "%name = SHAPE opcode(operands), attributes". Returns out's text, NULL when memory ended. */
char *hlo_instruction_text(const HloModule *module, const Xla__HloInstructionProto *op, enum HloTextStyle style, TextBuffer *out);
/* Appends "f32[4,2]{1,0:T(8,128)}", or without layouts "f32[4,2]". */
char *hlo_shape_text(const Xla__ShapeProto *shape, bool layout, TextBuffer *out);

/* XProf's fingerprint of an instruction: of its canonical text, kept with the module. False: it has none, since a damaged program
 * has that text call itself or grow beyond all bounds; or err is set. */
bool hlo_fingerprint(const HloModule *module, const Xla__HloInstructionProto *op, uint64_t *fingerprint, ProfErr *err);

/* XProf's category of an instruction; the same text for the same category, except that of an opcode that XLA does not know:
 * then it is the proto's own text. Never NULL. */
const char *hlo_category(const HloModule *module, const Xla__HloInstructionProto *op);

/* The lines of a program's text, each made when it is asked for. A line may hold line feeds of its own (configurations). */
typedef struct HloListing HloListing;
const HloListing *hlo_listing(const HloModule *module, ProfErr *err); /* kept with the module; NULL: err is set */
size_t hlo_listing_count(const HloListing *listing);
/* Appends a line, counted from 0, without its line feed. */
void hlo_listing_line(const HloListing *listing, size_t line, enum HloTextStyle style, TextBuffer *out);
/* The instruction of a line, NULL: the line is none's. */
const Xla__HloInstructionProto *hlo_listing_instruction(const HloListing *listing, size_t line);

#endif
