// SPDX-License-Identifier: Apache-2.0
/* flops.c: functions for utilization, intensity and roofline, and the peak of a run's devices.
 *
 *   SELECT flops_utilization(2.5e9, 50000000, 100e12);
 *     -- 0.5: 2.5 GFLOP in 50 us, on a device of 100 TFLOP/s
 *   SELECT roofline_flops(50, 312e12, 1.5e12) / 1e12;        -- 75.0: 50 FLOP/byte at 1.5 TB/s
 *
 * Dividing by a time, a peak or a number of bytes of 0 gives NULL. */
#include "../loader/analysis/device/devices.h"

#include "prof.h"
SQLITE_EXTENSION_INIT3

#include <math.h>

/* Reads all arguments as numbers. False if one is NULL, or not a number (then with an error). */
static bool read_numbers(sqlite3_context *ctx, const char *name, int argc, sqlite3_value **argv,
                         double *out)
{
    for (int i = 0; i < argc; i++)
        if (sqlite3_value_type(argv[i]) == SQLITE_NULL) return false;
    for (int i = 0; i < argc; i++) {
        int type = sqlite3_value_numeric_type(argv[i]);
        if (type != SQLITE_INTEGER && type != SQLITE_FLOAT) {
            function_error(ctx, "input to %s() is not numeric", name);
            return false;
        }
        out[i] = sqlite3_value_double(argv[i]);
    }
    return true;
}

/* The result may be NaN (infinity / infinity), which SQLite stores as NULL. */
static void utilization(sqlite3_context *ctx, const char *name, int argc, sqlite3_value **argv)
{
    double x[3];
    if (!read_numbers(ctx, name, argc, argv, x) || x[0] < 0 || !(x[1] > 0) || !(x[2] > 0)) return;
    sqlite3_result_double(ctx, x[0] / (x[1] / 1e12) / x[2]);
}

static void flops_utilization(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
    utilization(ctx, "flops_utilization", argc, argv);
}
static void bandwidth_utilization(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
    utilization(ctx, "bandwidth_utilization", argc, argv);
}

static void arithmetic_intensity(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
    double x[2];
    if (!read_numbers(ctx, "arithmetic_intensity", argc, argv, x) || x[0] < 0 || !(x[1] > 0))
        return;
    sqlite3_result_double(ctx, x[0] / x[1]);
}

static void roofline_flops(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
    double x[3];
    if (!read_numbers(ctx, "roofline_flops", argc, argv, x) || x[0] < 0 || !(x[1] > 0) ||
        !(x[2] > 0))
        return;
    sqlite3_result_double(ctx, x[0] * x[2] < x[1] ? x[0] * x[2] : x[1]);
}

static void peak_flops(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
    (void)argc;
    const char *source = (const char *)sqlite3_value_text(argv[0]);
    if (!source) return;
    Prof *prof = sqlite3_user_data(ctx);
    SourceRun *list = NULL;
    int n = 0, rc = SQLITE_ERROR;
    char *message = NULL;
    Statement s;
    statement_open(&s, prof->db);
    if (has_nul(argv[0]))
        message = sqlite3_mprintf(SOURCE_WITH_NUL, source);
    else
        rc = prof_open(prof, source, true, &list, &n, &message);
    if (rc == SQLITE_OK && n) {
        ProfErr err = {0};
        const DeviceCapabilities *devices = run_devices(list[0].run, list[0].only, &err);
        if (!devices)
            rc = prof_error(prof, &err, &message);
        else if (devices_peak_flops(devices) > 0)
            sqlite3_result_double(ctx, devices_peak_flops(devices));
    }
    rc = statement_close(&s, rc);
    prof_release(list, n);
    if (message) sqlite3_result_error(ctx, message, -1);
    if (rc != SQLITE_OK) sqlite3_result_error_code(ctx, rc);
    sqlite3_free(message);
}

#define SCALAR(name_, n, flags_, f, signature_, unit_, description_, origin_, example_)            \
    {                                                                                              \
        .name = name_, .n_args = n, .kind = FUNCTION_SCALAR, .flags = flags_, .xFunc = f,          \
        .signature = signature_, .unit = unit_, .description = description_, .origin = origin_,    \
        .since = "0.1.0", .example = example_                                                      \
    }

const FunctionDef flops_functions[] = {
    SCALAR("flops_utilization", 3, FUNCTION_PURE, flops_utilization,
           "flops_utilization(flops, duration_ps, peak_flops_per_second)", "fraction 0..1",
           "Rate of these operations over duration_ps, as a fraction of the peak rate; NULL if "
           "the time or the peak is not above 0.",
           "computed", "SELECT flops_utilization(1e12, 4000000000, 312e12)"),
    SCALAR("bandwidth_utilization", 3, FUNCTION_PURE, bandwidth_utilization,
           "bandwidth_utilization(bytes, duration_ps, peak_bytes_per_second)", "fraction 0..1",
           "Rate of these bytes over duration_ps, as a fraction of the peak rate; NULL if the "
           "time or the peak is not above 0.",
           "computed", "SELECT bandwidth_utilization(8e9, 10000000000, 1555e9)"),
    SCALAR("arithmetic_intensity", 2, FUNCTION_PURE, arithmetic_intensity,
           "arithmetic_intensity(flops, bytes)", "FLOP/byte",
           "Operations per byte; NULL if bytes is not above 0.", "computed",
           "SELECT arithmetic_intensity(2e9, 1e7)"),
    SCALAR("roofline_flops", 3, FUNCTION_PURE, roofline_flops,
           "roofline_flops(intensity, peak_flops, peak_bytes_per_second)", "FLOP/s",
           "Highest rate that a device can reach at this intensity: the smaller of its peak rate "
           "and intensity x peak bandwidth; NULL if a peak is not above 0.",
           "computed", "SELECT roofline_flops(arithmetic_intensity(2e9, 1e7), 312e12, 1555e9)"),
    SCALAR("peak_flops", 1, SQLITE_UTF8 | SQLITE_DIRECTONLY, peak_flops, "peak_flops(source)",
           "FLOP/s",
           "Peak rate of one device (a GPU or TensorCore) of a source, as XProf uses it for "
           "utilizations; NULL if unknown.",
           "devices", "SELECT peak_flops('logs')"),
};
const int n_flops_functions = COUNT(flops_functions);
