// SPDX-License-Identifier: Apache-2.0
/* user_code.h: the part of an instruction's Python stack that the user wrote: the line of the
 * user's program, and the modules in whose calls it was executed. The rules are in
 * docs/semantics.md. */
#ifndef PROF_USER_CODE_H
#define PROF_USER_CODE_H

#include "../../base/text_buffer.h"
#include "../../format/hlo.h"

/* of a stack that are examined: the index of a damaged program may be circular */
enum { MOST_FRAMES = 1000 };

/* Returns whether one of the folders in a file's path has this name. */
bool file_is_in(const char *file, const char *folder);
/* Returns the number of the file of a frame, from 1; 0 if it is unknown. */
int32_t frame_file(const HloModule *module, int32_t frame_id);
/* Finds the innermost frame of the user's program: in the stack, else the source line in the
 * metadata if that is the user's. False if there is none, or with err set. */
bool hlo_user_frame(const HloModule *module, const Xla__HloInstructionProto *op, HloFrame *frame,
                    ProfErr *err);
/* Appends the path of the modules on the stack, outermost first: "Net/Block:12/Linear:40". Nothing
 * if there is none. False with err set. */
bool hlo_module_path(const HloModule *module, const Xla__HloInstructionProto *op, TextBuffer *path,
                     ProfErr *err);

#endif
