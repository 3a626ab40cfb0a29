// SPDX-License-Identifier: Apache-2.0
/* hlo_rows.h: shared by the tables of HLO programs: rows program by program, with the key (run,
 * host, program_id). */
#ifndef PROF_HLO_ROWS_H
#define PROF_HLO_ROWS_H

#include "../loader/format/hlo_text.h"
#include "prof.h"

#define PROGRAM_ID_DOC                                                                             \
    "program_id", "TEXT", NULL, "id of the program, decimal; unique in a run and host",            \
        "stat program_id, or the name of the HLO file"
#define HLO_MODULE_DOC                                                                             \
    "hlo_module", "TEXT", NULL, "name of the HLO module, without (id)", "HloModuleProto.name"
#define HLO_OP_DOC                                                                                 \
    "hlo_op", "TEXT", NULL, "name of the HLO instruction, unique in its module",                   \
        "HloInstructionProto.name"
#define TF_OP_DOC                                                                                  \
    "tf_op", "TEXT", NULL,                                                                         \
        "framework op that the instruction was compiled from; NULL if the program does not "       \
        "record it",                                                                               \
        "OpMetadata.op_name"
#define SOURCE_FILE_DOC                                                                            \
    "source_file", "TEXT", NULL,                                                                   \
        "source file that the instruction was compiled from; NULL if the program does not record " \
        "it",                                                                                      \
        "OpMetadata.source_file, else the innermost stack frame"
#define SOURCE_LINE_DOC                                                                            \
    "source_line", "INTEGER", NULL,                                                                \
        "line number in source_file; NULL if the program does not record it",                      \
        "OpMetadata.source_line, else the innermost stack frame"
#define SOURCE_STACK_DOC                                                                           \
    "source_stack", "TEXT", NULL,                                                                  \
        "call stack of the instruction, one file:line:column per line, innermost frame first; "    \
        "NULL if the program does not record it",                                                  \
        "HloModuleProto.stack_frame_index"
#define OWNER_TF_OP_DOC                                                                            \
    "owner_tf_op", "TEXT", NULL,                                                                   \
        "framework op that the instruction belongs to: its own, or that of the instruction "       \
        "owner_hlo_op if the program records none (docs/semantics.md, Owner); NULL if there is "   \
        "no owner",                                                                                \
        "OpMetadata.op_name"
#define OWNER_BY_DOC                                                                               \
    "owner_by", "TEXT", NULL,                                                                      \
        "how the owner was found: own (the instruction itself), fused (an instruction that it "    \
        "runs), user (the nearest instruction that uses its result), producer (the nearest that "  \
        "makes its operands) or caller (the one that runs its computation); NULL if there is no "  \
        "owner",                                                                                   \
        "libprofsql"
#define OWNER_HLO_OP_DOC                                                                           \
    "owner_hlo_op", "TEXT", NULL,                                                                  \
        "HLO instruction that records owner_tf_op; NULL if there is no owner",                     \
        "HloInstructionProto.name"
#define SCOPE_DOC                                                                                  \
    "scope", "TEXT", NULL,                                                                         \
        "path of the layer, module or named scope of owner_tf_op, without transformations such "   \
        "as jit(), jvp() and transpose(); if the name has none, the modules on the Python stack "  \
        "(docs/semantics.md, Scope); NULL if there is neither",                                    \
        "libprofsql"
#define SCOPE_BY_DOC                                                                               \
    "scope_by", "TEXT", NULL, "where scope comes from: name or stack; NULL if scope is NULL",      \
        "libprofsql"
#define PASS_DOC                                                                                   \
    "pass", "TEXT", NULL,                                                                          \
        "pass of the op: backward (computes gradients), recomputed (computes values again for "    \
        "the gradients) or forward (everything else, including the optimizer); NULL without an "   \
        "owner_tf_op, for NVTX ranges, which have no pass, and for operators of PyTorch/XLA in "   \
        "a program without stack frames",                                                          \
        "libprofsql"
#define USER_FILE_DOC                                                                              \
    "user_file", "TEXT", NULL,                                                                     \
        "source file of the innermost frame of the user's own program on the Python stack: the "   \
        "first outside Python, installed packages and frameworks (docs/semantics.md, User line); " \
        "if the instruction has no stack, on the owner's stack; NULL if there is none",            \
        "HloModuleProto.stack_frame_index, else OpMetadata.source_file"
#define USER_LINE_DOC                                                                              \
    "user_line", "INTEGER", NULL, "line number in user_file; NULL if user_file is NULL",           \
        "HloModuleProto.stack_frame_index, else OpMetadata.source_line"
#define USER_FUNCTION_DOC                                                                          \
    "user_function", "TEXT", NULL,                                                                 \
        "function of the frame in user_file and user_line; NULL if the program does not record "   \
        "it",                                                                                      \
        "StackFrameIndexProto.function_names"
/* The columns with an instruction's place in the user's program. */
enum OriginColumn {
    ORIGIN_OWNER_TF_OP,
    ORIGIN_OWNER_BY,
    ORIGIN_OWNER_HLO_OP,
    ORIGIN_SCOPE,
    ORIGIN_SCOPE_BY,
    ORIGIN_PASS,
    ORIGIN_USER_FILE,
    ORIGIN_USER_LINE,
    ORIGIN_USER_FUNCTION
};
/* These tables begin with the columns run, host, program_id, hlo_module. */
enum { HLO_PROGRAM_ID = 2, HLO_MODULE_NAME };

/* The state of these tables, or its first member. */
typedef struct {
    const HloModule *module; /* of the current row; NULL before the first */
    size_t n_programs;       /* programs of the host that were visited */
    uint64_t first_program;  /* upper bound of the number of the host's first program in the run */
    size_t op;               /* row_next_op(): position of the instruction in the module */
    bool keyed;              /* row_next_op(): a key selects a single instruction */
} HloAt;

/* Moves to the next program of the host that the plan wants. NULL if there is none, or with c->err
 * set. */
const HloModule *row_next_module(RowCursor *c);
/* Moves to the next instruction that the plan wants. False if there is none, or with c->err set. */
bool row_next_op(RowCursor *c);
/* Returns the program of the current row. */
const HloProgram *row_program(const RowCursor *c);
/* Returns the place of the n-th row of the program. */
uint64_t row_place(const RowCursor *c, uint64_t n);
/* Writes program_id or hlo_module; false for other columns. */
bool row_program_column(const RowCursor *c, sqlite3_context *ctx, int column);

/* Writes a text of the proto, which lives as long as the run; NULL if it is empty. */
void result_proto_text(sqlite3_context *ctx, const char *text);
void result_source_file(sqlite3_context *ctx, const HloModule *module,
                        const Xla__HloInstructionProto *op);
void result_source_line(sqlite3_context *ctx, const HloModule *module,
                        const Xla__HloInstructionProto *op);
void result_source_stack(sqlite3_context *ctx, const HloModule *module,
                         const Xla__HloInstructionProto *op);

/* Writes a column of an instruction's place in the user's program. result_name_origin() is for an
 * op whose instruction is not in the file: it uses the op's framework op (empty if unknown). */
void result_origin(RowCursor *c, sqlite3_context *ctx, const HloModule *module,
                   const Xla__HloInstructionProto *op, enum OriginColumn column);
void result_name_origin(sqlite3_context *ctx, const Text *tf_op, Slice hlo_op,
                        enum OriginColumn column);

#endif
