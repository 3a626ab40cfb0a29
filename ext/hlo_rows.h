// SPDX-License-Identifier: Apache-2.0
/* hlo_rows.h: tables of HLO programs: rows of one program after the other, keyed by (run, host, program_id). */
#ifndef PROF_HLO_ROWS_H
#define PROF_HLO_ROWS_H

#include "../loader/format/hlo_text.h"
#include "prof.h"

#define PROGRAM_ID_DOC "program_id", "TEXT", NULL, "the program, decimal; with run and host its key", "stat program_id, or the name of the HLO's file"
#define HLO_MODULE_DOC "hlo_module", "TEXT", NULL, "name of the module, without (id)", "HloModuleProto.name"
#define HLO_OP_DOC "hlo_op", "TEXT", NULL, "name of the instruction, unique in the module", "HloInstructionProto.name"
#define TF_OP_DOC "tf_op", "TEXT", NULL, "framework op that the instruction comes from; NULL when it does not say", "OpMetadata.op_name"
#define SOURCE_FILE_DOC                                                                                                                                        \
    "source_file", "TEXT", NULL, "file of the user's program that the instruction comes from; NULL when it does not say",                                      \
        "OpMetadata.source_file, else its innermost stack frame"
#define SOURCE_LINE_DOC                                                                                                                                        \
    "source_line", "INTEGER", NULL, "line in source_file; NULL when the program does not say", "OpMetadata.source_line, else its innermost stack frame"
#define SOURCE_STACK_DOC                                                                                                                                       \
    "source_stack", "TEXT", NULL, "the call stack as lines of file:line:column, the innermost first; NULL when the program has none",                          \
        "HloModuleProto.stack_frame_index"
/* These tables begin with the columns run, host, program_id, hlo_module. */
enum { HLO_PROGRAM_ID = 2, HLO_MODULE_NAME };

/* Moves to the next program of the host that the plan leaves in, and sets c->item to its module. NULL: there is none, or
 * c->err is set. Uses c->i and c->first_place. */
const HloModule *row_next_module(RowCursor *c);
/* Moves c->j to the next instruction that the plan leaves in, in c->item. False: there is none, or c->err is set. Uses c->part. */
bool row_next_op(RowCursor *c);
/* The program that c->item came from. */
const HloProgram *row_program(const RowCursor *c);
/* A place for the n-th row of the program. */
uint64_t row_place(const RowCursor *c, uint64_t n);
/* program_id and hlo_module; false for another column. */
bool row_program_column(const RowCursor *c, sqlite3_context *ctx, int column);

/* A proto's text, NULL where it is empty; it lives as long as the run. */
void result_proto_text(sqlite3_context *ctx, const char *text);
/* A text that was put together, repaired where it is not UTF-8; the buffer is freed. NULL where it is empty. */
void result_buffer(sqlite3_context *ctx, TextBuffer *text);
void result_source_file(sqlite3_context *ctx, const HloModule *module, const Xla__HloInstructionProto *op);
void result_source_line(sqlite3_context *ctx, const HloModule *module, const Xla__HloInstructionProto *op);
void result_source_stack(sqlite3_context *ctx, const HloModule *module, const Xla__HloInstructionProto *op);

#endif
