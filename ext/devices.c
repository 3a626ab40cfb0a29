// SPDX-License-Identifier: Apache-2.0
/* devices.c: the table devices: what each GPU and TPU core is and can do.
 *
 *   SELECT name, device_type, peak_flops_per_second / 1e12 AS tflops
 *     FROM devices('logs');   -- /device:GPU:0|Nvidia GPU (Ampere)|311.86944 */
#include "../loader/analysis/device/devices.h"
#include "../loader/analysis/ops/op_metrics.h"

#include "prof.h"
SQLITE_EXTENSION_INIT3

#include <math.h>

#define DEVICES_COLUMNS(C)                                                                         \
    C(DV_RUN, RUN_DOC)                                                                             \
    C(DV_HOST, HOST_DOC)                                                                           \
    C(DV_PLANE_ID, PLANE_ID_DOC)                                                                   \
    C(DV_NAME, "name", "TEXT", NULL, "name of the plane", "XPlane.name")                           \
    C(DV_TYPE, "device_type", "TEXT", NULL,                                                        \
      "model of the device, named as in XProf: for a GPU from vendor and compute capability (GPU " \
      "if there is no vendor); NULL if a TPU's plane does not record it",                          \
      "device_type_string; device_vendor, compute_cap_major")                                      \
    C(DV_VENDOR, "vendor", "TEXT", NULL,                                                           \
      "vendor of the device: Nvidia or AMD; NULL if the plane does not record it",                 \
      "device_vendor")                                                                             \
    C(DV_CORES, "core_count", "INTEGER", "cores",                                                  \
      "number of multiprocessors or compute units of a GPU; NULL if unknown", "core_count")        \
    C(DV_CLOCK, "clock_khz", "INTEGER", "kHz", "clock rate of a GPU; NULL if unknown",             \
      "clock_rate")                                                                                \
    C(DV_MEMORY, "memory_bytes", "INTEGER", "bytes", "memory size of a GPU; NULL if unknown",      \
      "memory_size")                                                                               \
    C(DV_CAPABILITY, "compute_capability", "TEXT", NULL,                                           \
      "compute capability of a GPU, major.minor; NULL if unknown",                                 \
      "compute_cap_major, compute_cap_minor")                                                      \
    C(DV_FLOPS, "peak_flops_per_second", "REAL", "FLOP/s",                                         \
      "peak FLOP rate: the value in the plane or, for a GPU without one, cores x clock x the "     \
      "best dense FP32 or FP16 rate of its generation; NULL if unknown",                           \
      "peak_teraflops_per_second; libprofsql")                                                     \
    C(DV_HBM, "peak_hbm_bytes_per_second", "REAL", "bytes/s",                                      \
      "peak bandwidth of the main memory; NULL if unknown",                                        \
      "peak_hbm_bw_gigabytes_per_second; memory_bandwidth")                                        \
    C(DV_SRAM_READ, "peak_sram_read_bytes_per_second", "REAL", "bytes/s",                          \
      "peak read bandwidth of on-chip memory (GPU: shared memory); NULL if unknown",               \
      "peak_sram_rd_bw_gigabytes_per_second; libprofsql")                                          \
    C(DV_SRAM_WRITE, "peak_sram_write_bytes_per_second", "REAL", "bytes/s",                        \
      "peak write bandwidth of on-chip memory (GPU: shared memory); NULL if unknown",              \
      "peak_sram_wr_bw_gigabytes_per_second; libprofsql")                                          \
    C(DV_CMEM_READ, "peak_cmem_read_bytes_per_second", "REAL", "bytes/s",                          \
      "peak read bandwidth of CMEM; NULL if unknown, or the device has no CMEM",                   \
      "peak_cmem_rd_bw_gigabytes_per_second")                                                      \
    C(DV_CMEM_WRITE, "peak_cmem_write_bytes_per_second", "REAL", "bytes/s",                        \
      "peak write bandwidth of CMEM; NULL if unknown, or the device has no CMEM",                  \
      "peak_cmem_wr_bw_gigabytes_per_second")                                                      \
    C(DV_VMEM_READ, "peak_vmem_read_bytes_per_second", "REAL", "bytes/s",                          \
      "peak read bandwidth of VMEM; NULL if unknown, or the device has no VMEM",                   \
      "peak_vmem_rd_bw_gigabytes_per_second")                                                      \
    C(DV_VMEM_WRITE, "peak_vmem_write_bytes_per_second", "REAL", "bytes/s",                        \
      "peak write bandwidth of VMEM; NULL if unknown, or the device has no VMEM",                  \
      "peak_vmem_wr_bw_gigabytes_per_second")                                                      \
    C(DV_HBM_RIDGE, "hbm_ridge_point", "REAL", "FLOP/byte",                                        \
      "arithmetic intensity above which the peak FLOP rate is the limit, not the bandwidth of "    \
      "the main memory; NULL if a peak is unknown",                                                \
      "libprofsql")                                                                                \
    C(DV_SRAM_READ_RIDGE, "sram_read_ridge_point", "REAL", "FLOP/byte",                            \
      "arithmetic intensity above which the peak FLOP rate is the limit, not the read bandwidth "  \
      "of on-chip memory; NULL if a peak is unknown",                                              \
      "libprofsql")                                                                                \
    C(DV_SRAM_WRITE_RIDGE, "sram_write_ridge_point", "REAL", "FLOP/byte",                          \
      "arithmetic intensity above which the peak FLOP rate is the limit, not the write bandwidth " \
      "of on-chip memory; NULL if a peak is unknown",                                              \
      "libprofsql")                                                                                \
    C(DV_CMEM_READ_RIDGE, "cmem_read_ridge_point", "REAL", "FLOP/byte",                            \
      "arithmetic intensity above which the peak FLOP rate is the limit, not the read bandwidth "  \
      "of CMEM; NULL if a peak is unknown",                                                        \
      "libprofsql")                                                                                \
    C(DV_CMEM_WRITE_RIDGE, "cmem_write_ridge_point", "REAL", "FLOP/byte",                          \
      "arithmetic intensity above which the peak FLOP rate is the limit, not the write bandwidth " \
      "of CMEM; NULL if a peak is unknown",                                                        \
      "libprofsql")                                                                                \
    C(DV_VMEM_READ_RIDGE, "vmem_read_ridge_point", "REAL", "FLOP/byte",                            \
      "arithmetic intensity above which the peak FLOP rate is the limit, not the read bandwidth "  \
      "of VMEM; NULL if a peak is unknown",                                                        \
      "libprofsql")                                                                                \
    C(DV_VMEM_WRITE_RIDGE, "vmem_write_ridge_point", "REAL", "FLOP/byte",                          \
      "arithmetic intensity above which the peak FLOP rate is the limit, not the write bandwidth " \
      "of VMEM; NULL if a peak is unknown",                                                        \
      "libprofsql")                                                                                \
    C(DV_HAS_CMEM, "has_cmem", "INTEGER", "0 or 1",                                                \
      "1: the plane records a peak bandwidth of CMEM; NULL on a GPU", "libprofsql")                \
    C(DV_MERGED_VMEM, "has_merged_vmem", "INTEGER", "0 or 1",                                      \
      "1: VMEM replaces CMEM; NULL if unknown", "has_merged_vmem")                                 \
    C(DV_MEGACORE, "megacore", "INTEGER", "0 or 1",                                                \
      "1: two TensorCores work as one; NULL if unknown", "has_megacore")                           \
    C(DV_CORE_HOST, "core_hostname", "TEXT", NULL,                                                 \
      "name of the core's host, as the core records it; NULL if it does not", "core_details")      \
    C(DV_ORDINAL, "device_ordinal", "INTEGER", NULL,                                               \
      "number of the device on its host; NULL if unknown", "core_details")                         \
    C(DV_CORE_NUM, "core_num", "INTEGER", NULL, "number of the core on its chip; NULL if unknown", \
      "core_details")                                                                              \
    C(DV_LOCAL_CHIP, "local_chip_id", "INTEGER", NULL,                                             \
      "number of the chip on its host; NULL if unknown", "core_details")                           \
    C(DV_GLOBAL_CHIP, "global_chip_id", "INTEGER", NULL,                                           \
      "number of the chip in the system; NULL if unknown", "core_details")                         \
    C(DV_GLOBAL_CORE, "global_core_id", "INTEGER", NULL,                                           \
      "number of the core in the system; NULL if unknown", "core_details")                         \
    C(DV_TIME_SCALE, "time_scale_multiplier", "REAL", "ratio",                                     \
      "clock rate of the source's TPUs divided by their default clock rate, averaged over the "    \
      "time of their ops; NULL on a GPU, and if there are no ops",                                 \
      "Time Scale Multiplier")                                                                     \
    C(DV_UUID, "uuid", "TEXT", NULL,                                                               \
      "UUID of the GPU, as profsql-capture records it. Rows with one UUID are one GPU that "       \
      "several processes use: each counts as a device. NULL if unknown",                           \
      "uuid")                                                                                      \
    C(DV_SOURCE, SOURCE_DOC)
enum { DEVICES_COLUMNS(COLUMN_ENUM) };
static const Column devices_columns[] = {DEVICES_COLUMNS(COLUMN_DOC)};

static void devices_list(RowCursor *c, RowList *list)
{
    const DeviceCapabilities *all = run_devices(c->from->run, c->from->only, &c->err);
    if (all) *list = ROW_LIST(all->devices, all->n_devices);
}

static const Plane *devices_plane(const void *item) { return ((const Device *)item)->plane; }

/* Writes XProf's value for the entire source: the time of the ops at the default clock divided by
 * their actual time. */
static void result_time_scale(RowCursor *c, sqlite3_context *ctx)
{
    const OpStats *stats = run_op_stats(c->from->run, c->from->only, &c->err);
    if (stats && stats->device.normalized_total_ps)
        sqlite3_result_double(ctx, safe_div((double)stats->device.normalized_total_ps,
                                            (double)stats->device.total_op_ps));
}

static void devices_column(RowCursor *c, sqlite3_context *ctx, int column)
{
    const Device *d = c->row;
    switch (column) {
    case DV_PLANE_ID: sqlite3_result_int64(ctx, d->plane->plane_id); break;
    case DV_NAME: result_text(ctx, d->plane->name); break;
    case DV_TYPE: result_text(ctx, d->type); break;
    case DV_VENDOR: result_text(ctx, d->vendor); break;
    case DV_UUID: result_text(ctx, d->uuid); break;
    case DV_CORES: result_nonnegative(ctx, d->core_count); break;
    case DV_CLOCK: result_nonnegative(ctx, d->clock_khz); break;
    case DV_MEMORY: result_nonnegative(ctx, d->memory_bytes); break;
    case DV_CAPABILITY:
        if (d->compute_major >= 0 && d->compute_minor >= 0)
            result_owned(ctx, sqlite3_mprintf("%lld.%lld", (long long)d->compute_major,
                                              (long long)d->compute_minor));
        break;
    case DV_FLOPS: sqlite3_result_double(ctx, d->peak_flops); break; /* SQLite stores NaN as NULL */
    case DV_HBM:
    case DV_SRAM_READ:
    case DV_SRAM_WRITE:
    case DV_CMEM_READ:
    case DV_CMEM_WRITE:
    case DV_VMEM_READ:
    case DV_VMEM_WRITE:
        sqlite3_result_double(ctx, d->peak_bytes[MEMORY_HBM + column - DV_HBM]);
        break;
    case DV_HBM_RIDGE:
    case DV_SRAM_READ_RIDGE:
    case DV_SRAM_WRITE_RIDGE:
    case DV_CMEM_READ_RIDGE:
    case DV_CMEM_WRITE_RIDGE:
    case DV_VMEM_READ_RIDGE:
    case DV_VMEM_WRITE_RIDGE:
        sqlite3_result_double(ctx,
                              d->peak_flops / d->peak_bytes[MEMORY_HBM + column - DV_HBM_RIDGE]);
        break;
    case DV_HAS_CMEM:
        if (d->plane->kind != PLANE_GPU)
            sqlite3_result_int(ctx, !isnan(d->peak_bytes[MEMORY_CMEM_READ]) ||
                                        !isnan(d->peak_bytes[MEMORY_CMEM_WRITE]));
        break;
    case DV_MERGED_VMEM: result_nonnegative(ctx, d->merged_vmem); break;
    case DV_MEGACORE: result_nonnegative(ctx, d->megacore); break;
    case DV_CORE_HOST: result_text(ctx, d->core_hostname); break;
    case DV_ORDINAL: result_nonnegative(ctx, d->device_ordinal); break;
    case DV_CORE_NUM: result_nonnegative(ctx, d->core_num); break;
    case DV_LOCAL_CHIP: result_nonnegative(ctx, d->local_chip_id); break;
    case DV_GLOBAL_CHIP: result_nonnegative(ctx, d->global_chip_id); break;
    case DV_GLOBAL_CORE: result_nonnegative(ctx, d->global_core_id); break;
    case DV_TIME_SCALE:
        if (d->plane->kind != PLANE_GPU) result_time_scale(c, ctx);
        break;
    default: break;
    }
}

static const RowSource devices_rows = {.list = devices_list,
                                       .plane = devices_plane,
                                       .column = devices_column,
                                       .needs = NEED_EVENTS,
                                       .nothing =
                                           "no plane is a GPU, TensorCore or SparseCore: the run "
                                           "used only the CPU, or the profiler recorded no device"};
const Table devices_table = {
    "devices",
    "one GPU, TensorCore or SparseCore: its model, and the peak rates of its compute units and "
    "memories",
    devices_columns,
    COUNT(devices_columns),
    &row_table_module,
    &devices_rows,
    8,
    "0.1.0",
    "SELECT name, device_type, memory_bytes, peak_flops_per_second FROM devices"};
