// SPDX-License-Identifier: Apache-2.0
/* hlo_origin.c: columns of several tables with the place of an instruction in the user's program:
 * owner, scope and user line; see hlo_rows.h. */
#include "../loader/analysis/program/hlo_scope.h"
#include "../loader/analysis/program/user_code.h"
#include "hlo_rows.h"
SQLITE_EXTENSION_INIT3

static void owner_column(RowCursor *c, sqlite3_context *ctx, const HloModule *module,
                         const Xla__HloInstructionProto *op, enum OriginColumn column)
{
    OpOwner owner = hlo_owner(module, op, &c->err);
    if (owner.by == OWNER_NONE) return;
    if (column == ORIGIN_OWNER_TF_OP)
        result_static(ctx, owner.instruction->metadata->op_name);
    else if (column == ORIGIN_OWNER_BY)
        result_static(ctx, owner_by_names[owner.by]);
    else
        result_static(ctx, owner.instruction->name);
}

static void scope_column(RowCursor *c, sqlite3_context *ctx, const HloModule *module,
                         const Xla__HloInstructionProto *op, enum OriginColumn column)
{
    TextBuffer text = {0};
    HloScope scope;
    bool ok = hlo_scope(module, op, &text, &scope, &c->err);
    if (ok && column == ORIGIN_SCOPE) {
        result_buffer(ctx, &text);
        return;
    }
    text_free(&text);
    if (!ok) return;
    if (column == ORIGIN_SCOPE_BY)
        result_static(ctx, scope_by_names[scope.by]);
    else if (scope.has_pass)
        result_static(ctx, op_pass_names[scope.pass]);
}

static bool has_source(const Xla__HloInstructionProto *op)
{
    return op->metadata && (op->metadata->stack_frame_id || *op->metadata->source_file);
}

static void user_column(RowCursor *c, sqlite3_context *ctx, const HloModule *module,
                        const Xla__HloInstructionProto *op, enum OriginColumn column)
{
    HloFrame frame;
    OpOwner owner = has_source(op) ? (OpOwner){op, OWNER_OWN} : hlo_owner(module, op, &c->err);
    if (!owner.by || !hlo_user_frame(module, owner.instruction, &frame, &c->err)) return;
    if (column == ORIGIN_USER_LINE)
        sqlite3_result_int(ctx, frame.line);
    else
        result_proto_text(ctx, column == ORIGIN_USER_FILE ? frame.file : frame.function);
}

void result_origin(RowCursor *c, sqlite3_context *ctx, const HloModule *module,
                   const Xla__HloInstructionProto *op, enum OriginColumn column)
{
    switch (column) {
    case ORIGIN_OWNER_TF_OP:
    case ORIGIN_OWNER_BY:
    case ORIGIN_OWNER_HLO_OP: owner_column(c, ctx, module, op, column); break;
    case ORIGIN_SCOPE:
    case ORIGIN_SCOPE_BY:
    case ORIGIN_PASS: scope_column(c, ctx, module, op, column); break;
    case ORIGIN_USER_FILE:
    case ORIGIN_USER_LINE:
    case ORIGIN_USER_FUNCTION: user_column(c, ctx, module, op, column); break;
    }
}

void result_name_origin(sqlite3_context *ctx, const Text *tf_op, Slice hlo_op,
                        enum OriginColumn column)
{
    TextBuffer scope = {0};
    if (!tf_op->n_bytes) return;
    enum OpPass pass = op_scope(slice_of(tf_op), &scope);
    switch (column) {
    case ORIGIN_OWNER_TF_OP: result_text(ctx, tf_op); break;
    case ORIGIN_OWNER_BY: result_static(ctx, owner_by_names[OWNER_OWN]); break;
    case ORIGIN_OWNER_HLO_OP:
        if (hlo_op.n) result_slice(ctx, hlo_op);
        break;
    case ORIGIN_SCOPE_BY:
        if (scope.no_memory) sqlite3_result_error_nomem(ctx);
        if (scope.n_bytes) result_static(ctx, scope_by_names[SCOPE_BY_NAME]);
        break;
    case ORIGIN_PASS: result_static(ctx, op_pass_names[pass]); break;
    case ORIGIN_SCOPE: result_buffer(ctx, &scope); return;
    default: break;
    }
    text_free(&scope);
}
