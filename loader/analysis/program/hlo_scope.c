// SPDX-License-Identifier: Apache-2.0
/* hlo_scope.c: finds the scope of an instruction; see hlo_scope.h. */
#include "hlo_scope.h"

#include "torch_pass.h"
#include "user_code.h"

const char *const scope_by_names[] = {NULL, "name", "stack"};

bool hlo_scope(const HloModule *module, const Xla__HloInstructionProto *op, TextBuffer *text,
               HloScope *scope, ProfErr *err)
{
    size_t before = text->n_bytes;
    OpOwner owner = hlo_owner(module, op, err);
    *scope = (HloScope){.has_pass = owner.by != OWNER_NONE};
    if (err->code) return false;
    if (owner.by) {
        Slice name = slice_of_string(owner.instruction->metadata->op_name);
        scope->pass = op_scope(name, text);
        if (scope->pass == PASS_BY_STACK)
            scope->pass = torch_pass(module, owner.instruction->metadata->stack_frame_id, err);
        if (err->code) return false;
        if (strstr(op->name, ".remat")) scope->pass = PASS_RECOMPUTED;
        if (text->n_bytes > before) scope->by = SCOPE_BY_NAME;
    }
    if (text->n_bytes == before && !text->no_memory) {
        if (!hlo_module_path(module, owner.by ? owner.instruction : op, text, err)) return false;
        if (text->n_bytes > before) scope->by = SCOPE_BY_STACK;
    }
    /* a missing text would look like an instruction without scope */
    if (text->no_memory) prof_nomem(err);
    return !err->code;
}
