// SPDX-License-Identifier: Apache-2.0
/* hlo_rows.h: tables of HLO programs: rows of one program after the other, keyed by (run, host,
 * program_id). */
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
        "source file that the instruction was compiled from; NULL if the program does not "        \
        "record it",                                                                               \
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
/* These tables begin with the columns run, host, program_id, hlo_module. */
enum { HLO_PROGRAM_ID = 2, HLO_MODULE_NAME };

/* The state of these tables, or its first member. */
typedef struct {
    const HloModule *module; /* of the row; NULL before the first */
    size_t n_programs;       /* of the host that were looked at */
    uint64_t first_program;  /* number of the host's first program in the run, at most */
    size_t op;               /* row_next_op(): position of the instruction in the module */
    bool keyed;              /* row_next_op(): a key gave the instruction, the only one */
} HloAt;

/* Moves to the next program of the host that the plan leaves in. NULL: there is none, or c->err is
 * set. */
const HloModule *row_next_module(RowCursor *c);
/* Moves to the next instruction that the plan leaves in. False: there is none, or c->err is set. */
bool row_next_op(RowCursor *c);
/* The program of the row. */
const HloProgram *row_program(const RowCursor *c);
/* A place for the n-th row of the program. */
uint64_t row_place(const RowCursor *c, uint64_t n);
/* program_id and hlo_module; false for another column. */
bool row_program_column(const RowCursor *c, sqlite3_context *ctx, int column);

/* A proto's text, NULL where it is empty; it lives as long as the run. */
void result_proto_text(sqlite3_context *ctx, const char *text);
/* A text that was put together, repaired where it is not UTF-8; the buffer is freed. NULL where it
 * is empty. */
void result_buffer(sqlite3_context *ctx, TextBuffer *text);
void result_source_file(sqlite3_context *ctx, const HloModule *module,
                        const Xla__HloInstructionProto *op);
void result_source_line(sqlite3_context *ctx, const HloModule *module,
                        const Xla__HloInstructionProto *op);
void result_source_stack(sqlite3_context *ctx, const HloModule *module,
                         const Xla__HloInstructionProto *op);

#endif
