// SPDX-License-Identifier: Apache-2.0
/* device_steps.c: the table device_steps: how long each device communicates and transfers in each
 * step.
 *
 *   SELECT step, plane, exposed_communication_ps FROM device_steps('logs') ORDER BY 3 DESC; */
#include "../loader/analysis/communication/device_steps.h"

#include "prof.h"
SQLITE_EXTENSION_INIT3

#define OUTSIDE "; NULL if step is NULL"
#define DEVICE_STEPS_COLUMNS(C)                                                                    \
    C(DS_RUN, RUN_DOC)                                                                             \
    C(DS_HOST, HOST_DOC)                                                                           \
    C(DS_PLANE_ID, PLANE_ID_DOC)                                                                   \
    C(DS_PLANE, PLANE_DOC)                                                                         \
    C(DS_KIND, "kind", "TEXT", NULL, "kind of device: gpu or tensorcore", "libprofsql")            \
    C(DS_STEP, "step", "INTEGER", NULL,                                                            \
      "number of the step, as in steps; NULL for the time of the device that belongs to no step",  \
      "steps")                                                                                     \
    C(DS_START, "start_ps", "INTEGER", "ps",                                                       \
      "start of the step on the core, from the session start of the host" OUTSIDE, "core_steps")   \
    C(DS_START_US, START_US_DOC)                                                                   \
    C(DS_DURATION, "duration_ps", "INTEGER", "ps",                                                 \
      "duration of the step on the core; for a GPU, on all GPUs of its host" OUTSIDE,              \
      "core_steps")                                                                                \
    C(DS_DURATION_US, DURATION_US_DOC)                                                             \
    C(DS_COMMUNICATING, "communicating_ps", "INTEGER", "ps",                                       \
      "part of device_time.communicating_ps that belongs to the step", "libprofsql")               \
    C(DS_EXPOSED_COMMUNICATION, "exposed_communication_ps", "INTEGER", "ps",                       \
      "part of communicating_ps in which the device does not compute (for any step); the rest is " \
      "hidden",                                                                                    \
      "libprofsql")                                                                                \
    C(DS_TRANSFERRING, "transferring_ps", "INTEGER", "ps",                                         \
      "part of device_time.transferring_ps that belongs to the step", "libprofsql")                \
    C(DS_EXPOSED_TRANSFER, "exposed_transfer_ps", "INTEGER", "ps",                                 \
      "part of transferring_ps in which the device does not compute (for any step); the rest is "  \
      "hidden",                                                                                    \
      "libprofsql")                                                                                \
    C(DS_SOURCE, SOURCE_DOC)
enum { DEVICE_STEPS_COLUMNS(COLUMN_ENUM) };
static const Column device_steps_columns[] = {DEVICE_STEPS_COLUMNS(COLUMN_DOC)};

static void device_steps_list(RowCursor *c, RowList *list)
{
    const DeviceSteps *all = run_device_steps(c->from->run, c->from->only, &c->err);
    if (all) *list = ROW_LIST(all->rows, all->n_rows);
}

static const Plane *device_steps_plane(const void *item)
{
    return ((const DeviceStep *)item)->plane;
}

static void device_steps_column(RowCursor *c, sqlite3_context *ctx, int column)
{
    const DeviceStep *row = c->row;
    switch (column) {
    case DS_PLANE_ID: sqlite3_result_int64(ctx, row->plane->plane_id); break;
    case DS_PLANE: result_text(ctx, row->plane->name); break;
    case DS_KIND: result_static(ctx, plane_kind_names[row->plane->kind]); break;
    case DS_STEP:
        if (row->step) sqlite3_result_int64(ctx, row->step->number);
        break;
    case DS_START:
    case DS_START_US:
        if (row->step) result_time(ctx, (int64_t)row->core->begin_ps, column == DS_START_US);
        break;
    case DS_DURATION:
    case DS_DURATION_US:
        if (row->step) result_span(ctx, row->core->duration_ps, column == DS_DURATION_US);
        break;
    case DS_COMMUNICATING: result_u64(ctx, row->communicating.ps); break;
    case DS_EXPOSED_COMMUNICATION: result_u64(ctx, row->communicating.exposed_ps); break;
    case DS_TRANSFERRING: result_u64(ctx, row->transferring.ps); break;
    case DS_EXPOSED_TRANSFER: result_u64(ctx, row->transferring.exposed_ps); break;
    default: break;
    }
}

static const RowSource device_steps_rows = {
    .list = device_steps_list,
    .plane = device_steps_plane,
    .column = device_steps_column,
    .needs = NEED_EVENTS | NEED_DEVICE | NEED_STEPS,
    .nothing = "no collective or transfer ran on a GPU or TensorCore"};
const Table device_steps_table = {
    "device_steps",
    "one GPU or TensorCore in one step: its time communicating and transferring, and the parts "
    "that computing does not hide",
    device_steps_columns,
    COUNT(device_steps_columns),
    &row_table_module,
    &device_steps_rows,
    100,
    "0.1.0",
    "SELECT plane, step, duration_us, exposed_communication_ps FROM device_steps"};
