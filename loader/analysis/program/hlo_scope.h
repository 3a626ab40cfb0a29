// SPDX-License-Identifier: Apache-2.0
/* hlo_scope.h: the scope of an HLO instruction: the part of the model that it belongs to. */
#ifndef PROF_HLO_SCOPE_H
#define PROF_HLO_SCOPE_H

#include "op_scope.h"
#include "owners.h"

enum ScopeBy { SCOPE_BY_NONE, SCOPE_BY_NAME, SCOPE_BY_STACK };
extern const char *const scope_by_names[]; /* NULL for SCOPE_BY_NONE */

typedef struct {
    enum ScopeBy by;
    bool has_pass; /* it or its owner has a name */
    enum OpPass pass;
} HloScope;

/* Appends the scope of an instruction: from its owner's name, else from the modules on the owner's
 * stack. False with err set. The caller checks the flags of the buffer. */
bool hlo_scope(const HloModule *module, const Xla__HloInstructionProto *op, TextBuffer *text,
               HloScope *scope, ProfErr *err);

#endif
