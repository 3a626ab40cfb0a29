// SPDX-License-Identifier: Apache-2.0
/* padding.c: functions of HLO shapes: shape_bytes(), shape_elements(), padded_bytes() and
 * padding_efficiency().
 *
 *   SELECT shape_bytes('f32[128,3]{1,0:T(8,128)}');         -- 1536
 *   SELECT padded_bytes('f32[128,3]{1,0:T(8,128)}');        -- 65536
 *   SELECT padding_efficiency('f32[128,3]{1,0:T(8,128)}');  -- 0.0234375
 *   SELECT padding_efficiency(16, 128, 3, 8);               -- 0.046875
 *
 * A size is NULL if the shape does not determine it (an unbounded dimension) or if it exceeds
 * int64. */
#include "functions.h"

#include "../loader/format/shape.h"
SQLITE_EXTENSION_INIT3

#include <math.h>

/* Returns the sizes of the first argument. False if the result is set: NULL, or an error. */
static bool sizes_of(sqlite3_context *ctx, sqlite3_value *value, const char *function,
                     ShapeSizes *sizes)
{
    if (sqlite3_value_type(value) == SQLITE_NULL) return false;
    const char *text = (const char *)sqlite3_value_text(value);
    if (!text) {
        sqlite3_result_error_nomem(ctx);
        return false;
    }
    ProfErr err = {0};
    *sizes = shape_text_sizes(text, (size_t)sqlite3_value_bytes(value), &err);
    if (!err.code) return sizes->known;
    char *message = sqlite3_mprintf("%s: %s", function, err.text);
    if (message)
        sqlite3_result_error(ctx, message, -1);
    else
        sqlite3_result_error_nomem(ctx);
    sqlite3_free(message);
    return false;
}

static void shape_bytes(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
    (void)argc;
    ShapeSizes sizes;
    if (sizes_of(ctx, argv[0], "shape_bytes", &sizes)) sqlite3_result_int64(ctx, sizes.bytes);
}

static void padded_bytes(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
    (void)argc;
    ShapeSizes sizes;
    if (sizes_of(ctx, argv[0], "padded_bytes", &sizes))
        sqlite3_result_int64(ctx, sizes.padded_bytes);
}

static void shape_elements(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
    (void)argc;
    ShapeSizes sizes;
    if (sizes_of(ctx, argv[0], "shape_elements", &sizes)) sqlite3_result_int64(ctx, sizes.elements);
}

/* Multiplies size / (alignment * ceil(size / alignment)) over all pairs. An alignment of 0 means no
 * padding. */
static void efficiency_of_pairs(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
    double product = 1;
    for (int i = 0; i < argc; i++) {
        if (sqlite3_value_type(argv[i]) == SQLITE_NULL) return;
        if (sqlite3_value_numeric_type(argv[i]) != SQLITE_INTEGER ||
            sqlite3_value_int64(argv[i]) < 0) {
            sqlite3_result_error(ctx,
                                 "padding_efficiency: sizes and alignments must be integers of 0 "
                                 "or more: padding_efficiency(16, 128, 3, 8)",
                                 -1);
            return;
        }
    }
    for (int i = 0; i < argc; i += 2) {
        int64_t size = sqlite3_value_int64(argv[i]), alignment = sqlite3_value_int64(argv[i + 1]);
        if (!size) return; /* nothing is stored */
        if (alignment)
            product *= (double)size /
                       ((double)alignment * (double)(size / alignment + (size % alignment != 0)));
    }
    sqlite3_result_double(ctx, product);
}

static void padding_efficiency(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
    ShapeSizes sizes;
    if (argc > 0 && argc % 2 == 0) {
        efficiency_of_pairs(ctx, argc, argv);
    } else if (argc != 1) {
        sqlite3_result_error(
            ctx, "padding_efficiency: give a shape, or pairs of size and alignment", -1);
    } else if (sizes_of(ctx, argv[0], "padding_efficiency", &sizes)) {
        double efficiency = shape_efficiency(&sizes);
        sqlite3_result_double(ctx, efficiency);
    }
}

const FunctionDef padding_functions[] = {
    {.name = "shape_bytes",
     .n_args = 1,
     .flags = FUNCTION_PURE,
     .xFunc = shape_bytes,
     .signature = "shape_bytes(shape)",
     .unit = "bytes",
     .description = "Size of the data of an HLO shape without padding, at least one byte per "
                    "element. For a tuple, the sum over its arrays, without the tuple's own "
                    "pointer table. NULL if the shape has an unbounded dimension.",
     .origin = "computed",
     .since = "0.1.0",
     .example = "SELECT shape_bytes('f32[100,100]')"},
    {.name = "padded_bytes",
     .n_args = 1,
     .flags = FUNCTION_PURE,
     .xFunc = padded_bytes,
     .signature = "padded_bytes(shape)",
     .unit = "bytes",
     .description =
         "Size that an HLO shape takes in memory with its layout: tiles, bits per element, split "
         "dimensions, and the tail padding of a tiled shape (XLA ignores the tail padding of "
         "other shapes). Like all functions of shapes, it fails the query if the text is not a "
         "shape.",
     .origin = "as XLA sizes buffers",
     .since = "0.1.0",
     .example = "SELECT padded_bytes('f32[100,100]{1,0:T(8,128)}')"},
    {.name = "shape_elements",
     .n_args = 1,
     .flags = FUNCTION_PURE,
     .xFunc = shape_elements,
     .signature = "shape_elements(shape)",
     .unit = "elements",
     .description = "Number of elements of an HLO shape. For a tuple, the sum over its arrays. A "
                    "dynamic dimension counts with its bound.",
     .origin = "computed",
     .since = "0.1.0",
     .example = "SELECT shape_elements('f32[100,100]')"},
    {.name = "padding_efficiency",
     .n_args = -1,
     .flags = FUNCTION_PURE,
     .xFunc = padding_efficiency,
     .signature = "padding_efficiency(shape), padding_efficiency(size, alignment, ...)",
     .unit = "fraction 0..1",
     .description = "Share of the stored bytes that contain data. For a shape: size of its data "
                    "(packed elements count as packed) divided by padded_bytes. For pairs: product "
                    "of size / (alignment * ceil(size / alignment)); an alignment of 0 means no "
                    "padding. NULL if the stored size is 0.",
     .origin = "computed",
     .since = "0.1.0",
     .example = "SELECT padding_efficiency('f32[100,100]{1,0:T(8,128)}')"},
};
const int n_padding_functions = sizeof padding_functions / sizeof padding_functions[0];
