// SPDX-License-Identifier: Apache-2.0
/* memory_ops.c: the table memory_ops: what each op allocated, and how much of that was freed.
 *
 *   SELECT tf_op, allocations, freed_bytes FROM memory_ops('logs') ORDER BY freed_bytes DESC; */
#include "../loader/analysis/memory/memory_ops.h"

#include "prof.h"
SQLITE_EXTENSION_INIT3

#define MEMORY_OPS_COLUMNS(C)                                                                      \
    C(MO_RUN, RUN_DOC)                                                                             \
    C(MO_HOST, HOST_DOC)                                                                           \
    C(MO_ALLOCATOR, "allocator", "TEXT", NULL, "name of the allocator, as in memory_allocators",   \
      "memory_profile memoryId")                                                                   \
    C(MO_TF_OP, "tf_op", "TEXT", NULL,                                                             \
      "op that requested the memory; NULL if unknown, also where the profiler wrote the text "     \
      "(null)",                                                                                    \
      "memory_profile tfOpName")                                                                   \
    C(MO_ALLOCATIONS, "allocations", "INTEGER", "allocations",                                     \
      "number of allocations that the op made", "libprofsql")                                      \
    C(MO_ALLOCATED, "allocated_bytes", "INTEGER", "bytes",                                         \
      "total bytes of the op's allocations (allocation_bytes of memory_events)", "libprofsql")     \
    C(MO_REQUESTED, "requested_bytes", "INTEGER", "bytes",                                         \
      "total bytes that were requested for them", "libprofsql")                                    \
    C(MO_LARGEST, "largest_bytes", "INTEGER", "bytes", "bytes of the op's largest allocation",     \
      "libprofsql")                                                                                \
    C(MO_FREED, "freed", "INTEGER", "allocations",                                                 \
      "number of the op's allocations whose free is in the profile (match_event_id of "            \
      "memory_events)",                                                                            \
      "libprofsql")                                                                                \
    C(MO_FREED_BYTES, "freed_bytes", "INTEGER", "bytes",                                           \
      "total bytes of the op's freed allocations", "libprofsql")                                   \
    C(MO_LIFE, "avg_life_us", "REAL", "us",                                                        \
      "average time from allocation to free, over the op's freed allocations; NULL if none was "   \
      "freed",                                                                                     \
      "libprofsql")                                                                                \
    C(MO_SOURCE, SOURCE_DOC)
enum { MEMORY_OPS_COLUMNS(COLUMN_ENUM) };
static const Column memory_ops_columns[] = {MEMORY_OPS_COLUMNS(COLUMN_DOC)};

static void memory_ops_list(RowCursor *c, RowList *list)
{
    const MemoryOps *all = host_memory_ops(c->host, &c->err);
    if (!all) return;
    *list = ROW_LIST(all->rows, all->n);
    list->first_place = place_pair(c->at_host, 32, 0);
}

/* Writes a sum, or the end of int64 that is nearest. */
static void result_sum(sqlite3_context *ctx, ByteSum sum)
{
    ByteSum above = sum < INT64_MIN ? INT64_MIN : sum;
    sqlite3_result_int64(ctx, (sqlite3_int64)(above > INT64_MAX ? INT64_MAX : above));
}

static void memory_ops_column(RowCursor *c, sqlite3_context *ctx, int column)
{
    const MemoryOp *row = c->row;
    switch (column) {
    case MO_ALLOCATOR: result_text(ctx, row->allocator->name); break;
    case MO_TF_OP: result_nonempty(ctx, row->tf_op); break;
    case MO_ALLOCATIONS: result_u64(ctx, row->n); break;
    case MO_ALLOCATED: result_sum(ctx, row->allocation_bytes); break;
    case MO_REQUESTED: result_sum(ctx, row->requested_bytes); break;
    case MO_LARGEST: sqlite3_result_int64(ctx, row->largest_bytes); break;
    case MO_FREED: result_u64(ctx, row->n_freed); break;
    case MO_FREED_BYTES: result_sum(ctx, row->freed_bytes); break;
    case MO_LIFE:
        if (row->n_freed) sqlite3_result_double(ctx, row->life_ps / (double)row->n_freed / 1e6);
        break;
    default: break;
    }
}

static const RowSource memory_ops_rows = {
    .list = memory_ops_list,
    .column = memory_ops_column,
    .needs = NEED_EVENTS | NEED_ALLOCATIONS,
    .nothing = "no allocation event records a number of bytes, or all are frees"};
const Table memory_ops_table = {
    "memory_ops",
    "one op that allocated memory from one allocator: how often, how much, and how much of that "
    "was freed; in the order of the allocators' names and of the first allocation in "
    "memory_events",
    memory_ops_columns,
    COUNT(memory_ops_columns),
    &row_table_module,
    &memory_ops_rows,
    500,
    "0.1.0",
    "SELECT tf_op, allocations, allocated_bytes, freed FROM memory_ops ORDER BY allocated_bytes "
    "DESC"};
