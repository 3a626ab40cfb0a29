// SPDX-License-Identifier: Apache-2.0
/* hlo_attributes.c: writes the attributes of an instruction as in HLO text, after its operands.
 *
 * The attributes of its opcode come first, in XLA's order. They are in this file. Those that any
 * instruction may have follow: hlo_common_attributes.c. */
#include "hlo_writer.h"

#include "hlo_type.h"

enum { MAX_LABELS = 64 }; /* most dimensions of a convolution */

/* ---- pieces ---- */

static void list(const HloWriter *w, const char *name, const int64_t *values, size_t n)
{
    hlo_write_key(w, name);
    text_add_char(w->out, '{');
    hlo_write_integers(w->out, values, n);
    text_add_char(w->out, '}');
}
#define LIST(w, name, message, field) list(w, name, (message)->field, (message)->n_##field)

static void list_if_any(const HloWriter *w, const char *name, const int64_t *values, size_t n)
{
    if (n) list(w, name, values, n);
}
#define LIST_IF_ANY(w, name, message, field)                                                       \
    list_if_any(w, name, (message)->field, (message)->n_##field)

static void number(const HloWriter *w, const char *name, int64_t value)
{
    hlo_write_key(w, name);
    text_add_integer(w->out, value);
}

static void flag(const HloWriter *w, const char *name, bool value)
{
    if (!value) return;
    hlo_write_key(w, name);
    text_add(w->out, "true");
}

static void word(const HloWriter *w, const char *name, const char *value)
{
    hlo_write_key(w, name);
    text_add(w->out, value);
}

/* Appends the word for a number of an enum; "unknown" if the enum has no such number. */
static void choice(const HloWriter *w, const char *name, const char *const *words, size_t n,
                   int value)
{
    word(w, name, value >= 0 && (size_t)value < n ? words[value] : "unknown");
}
#define CHOICE(w, name, words, value) choice(w, name, words, COUNT(words), value)

static void quoted(const HloWriter *w, const char *name, const char *bytes, size_t n)
{
    hlo_write_key(w, name);
    text_add_char(w->out, '"');
    text_add_escaped(w->out, bytes, n);
    text_add_char(w->out, '"');
}

static void shape_list(const HloWriter *w, const char *name, Xla__ShapeProto *const *shapes,
                       size_t n)
{
    hlo_write_key(w, name);
    text_add_char(w->out, '{');
    for (size_t i = 0; i < n; i++) {
        if (i) text_add(w->out, ", ");
        hlo_write_shape(w->out, shapes[i], true);
    }
    text_add_char(w->out, '}');
}

static void aliasing(const HloWriter *w, const Xla__HloInstructionProto *op)
{
    if (!op->more->rare->n_output_operand_aliasing) return;
    hlo_write_key(w, "output_to_operand_aliasing");
    text_add_char(w->out, '{');
    for (size_t i = 0; i < op->more->rare->n_output_operand_aliasing; i++) {
        const Xla__OutputOperandAliasing *a = op->more->rare->output_operand_aliasing[i];
        text_add(w->out, i ? ", {" : "{");
        hlo_write_integers(w->out, a->output_shape_index, a->n_output_shape_index);
        text_add_format(w->out, "}: (%lld, {", (long long)a->operand_index);
        hlo_write_integers(w->out, a->operand_shape_index, a->n_operand_shape_index);
        text_add(w->out, "})");
    }
    text_add_char(w->out, '}');
}

/* ---- convolutions and dots ---- */

/* Appends one row of a window, such as " stride=2x2", if a dimension differs from the default. */
static void window_row(TextBuffer *out, const Xla__Window *window, const char *name, size_t offset,
                       int64_t usual)
{
    bool any = false;
    for (size_t i = 0; i < window->n_dimensions; i++)
        any |= *(const int64_t *)((const char *)window->dimensions[i] + offset) != usual;
    if (!any) return;
    text_add(out, name);
    for (size_t i = 0; i < window->n_dimensions; i++) {
        if (i) text_add_char(out, 'x');
        text_add_integer(out, *(const int64_t *)((const char *)window->dimensions[i] + offset));
    }
}

static void write_window(const HloWriter *w, const Xla__Window *window)
{
    if (!window || !window->n_dimensions) return;
    bool padded = false, reversed = false;
    for (size_t i = 0; i < window->n_dimensions; i++) {
        padded |= window->dimensions[i]->padding_low || window->dimensions[i]->padding_high;
        reversed |= window->dimensions[i]->window_reversal;
    }
    hlo_write_key(w, "window");
    text_add(w->out, "{size=");
    for (size_t i = 0; i < window->n_dimensions; i++) {
        if (i) text_add_char(w->out, 'x');
        text_add_integer(w->out, window->dimensions[i]->size);
    }
    window_row(w->out, window, " stride=", offsetof(Xla__WindowDimension, stride), 1);
    for (size_t i = 0; padded && i < window->n_dimensions; i++)
        text_add_format(w->out, "%s%lld_%lld",
                        i ? "x" : " pad=", (long long)window->dimensions[i]->padding_low,
                        (long long)window->dimensions[i]->padding_high);
    window_row(w->out, window, " lhs_dilate=", offsetof(Xla__WindowDimension, base_dilation), 1);
    window_row(w->out, window, " rhs_dilate=", offsetof(Xla__WindowDimension, window_dilation), 1);
    for (size_t i = 0; reversed && i < window->n_dimensions; i++)
        text_add_format(w->out, "%s%d",
                        i ? "x" : " rhs_reversal=", window->dimensions[i]->window_reversal);
    text_add_char(w->out, '}');
}

/* Appends the role of each dimension of an operand, such as "b01f"; ? for one without a role. */
static void labels(TextBuffer *out, int64_t first, char first_role, int64_t second,
                   char second_role, const int64_t *spatial, size_t n_spatial)
{
    char roles[MAX_LABELS];
    size_t n = 0;
    memset(roles, '?', sizeof roles);
#define ROLE(at, role)                                                                             \
    if ((at) >= 0 && (at) < MAX_LABELS)                                                            \
    roles[at] = (role), n = (size_t)(at) + 1 > n ? (size_t)(at) + 1 : n
    ROLE(first, first_role);
    ROLE(second, second_role);
    for (size_t i = 0; i < n_spatial; i++) ROLE(spatial[i], (char)('0' + i % 10));
#undef ROLE
    text_add_bytes(out, roles, n);
}

static void dim_labels(const HloWriter *w, const Xla__ConvolutionDimensionNumbers *d)
{
    if (!d) return;
    hlo_write_key(w, "dim_labels");
    labels(w->out, d->input_batch_dimension, 'b', d->input_feature_dimension, 'f',
           d->input_spatial_dimensions, d->n_input_spatial_dimensions);
    text_add_char(w->out, '_');
    labels(w->out, d->kernel_input_feature_dimension, 'i', d->kernel_output_feature_dimension, 'o',
           d->kernel_spatial_dimensions, d->n_kernel_spatial_dimensions);
    text_add(w->out, "->");
    labels(w->out, d->output_batch_dimension, 'b', d->output_feature_dimension, 'f',
           d->output_spatial_dimensions, d->n_output_spatial_dimensions);
}

static void precision(const HloWriter *w, const Xla__PrecisionConfig *p)
{
    static const char *const names[] = {"default", "high", "highest"};
    bool any = false;
    for (size_t i = 0; p && i < p->n_operand_precision; i++) any |= p->operand_precision[i] != 0;
    if (!any) return;
    hlo_write_key(w, "operand_precision");
    text_add_char(w->out, '{');
    for (size_t i = 0; i < p->n_operand_precision; i++) {
        if (i) text_add_char(w->out, ',');
        text_add(w->out, p->operand_precision[i] >= 0 && p->operand_precision[i] < (int)COUNT(names)
                             ? names[p->operand_precision[i]]
                             : "unknown");
    }
    text_add_char(w->out, '}');
}

static void convolution(const HloWriter *w, const Xla__HloInstructionProto *op)
{
    write_window(w, op->more->rare->window);
    dim_labels(w, op->more->rare->convolution_dimension_numbers);
    if (op->more->rare->feature_group_count > 1)
        number(w, "feature_group_count", op->more->rare->feature_group_count);
    if (op->more->rare->batch_group_count > 1)
        number(w, "batch_group_count", op->more->rare->batch_group_count);
    precision(w, op->more->rare->precision_config);
}

static void dot(const HloWriter *w, const Xla__DotDimensionNumbers *d,
                const Xla__PrecisionConfig *p)
{
    static const char *const algorithms[] = {"unset",
                                             "dot_any_f8_any_f8_f32",
                                             "dot_any_f8_any_f8_f32_fast_accum",
                                             "dot_f16_f16_f16",
                                             "dot_f16_f16_f32",
                                             "dot_bf16_bf16_bf16",
                                             "dot_bf16_bf16_f32",
                                             "dot_bf16_bf16_f32_x3",
                                             "dot_bf16_bf16_f32_x6",
                                             "dot_tf32_tf32_f32",
                                             "dot_tf32_tf32_f32_x3",
                                             "dot_f32_f32_f32",
                                             "dot_f64_f64_f64",
                                             "dot_bf16_bf16_f32_x9",
                                             "dot_bf16_bf16_fp8x3",
                                             "dot_bf16_bf16_fp8x4"};
    if (d) {
        LIST_IF_ANY(w, "lhs_batch_dims", d, lhs_batch_dimensions);
        LIST(w, "lhs_contracting_dims", d, lhs_contracting_dimensions);
        LIST_IF_ANY(w, "rhs_batch_dims", d, rhs_batch_dimensions);
        LIST(w, "rhs_contracting_dims", d, rhs_contracting_dimensions);
    }
    precision(w, p);
    if (p && p->algorithm) CHOICE(w, "algorithm", algorithms, p->algorithm);
}

/* ---- slices, gathers ---- */

static void slice(const HloWriter *w, const Xla__HloInstructionProto *op)
{
    bool strided = false;
    for (size_t i = 0; i < op->more->rare->n_slice_dimensions; i++)
        strided |= op->more->rare->slice_dimensions[i]->stride != 1;
    hlo_write_key(w, "slice");
    text_add_char(w->out, '{');
    for (size_t i = 0; i < op->more->rare->n_slice_dimensions; i++) {
        const Xla__HloInstructionProto__SliceDimensions *d = op->more->rare->slice_dimensions[i];
        text_add_format(w->out, "%s[%lld:%lld", i ? ", " : "", (long long)d->start,
                        (long long)d->limit);
        if (strided) text_add_format(w->out, ":%lld", (long long)d->stride);
        text_add_char(w->out, ']');
    }
    text_add_char(w->out, '}');
}

static void padding(const HloWriter *w, const Xla__PaddingConfig *p)
{
    bool interior = false;
    if (!p) return;
    for (size_t i = 0; i < p->n_dimensions; i++)
        interior |= p->dimensions[i]->interior_padding != 0;
    hlo_write_key(w, "padding");
    for (size_t i = 0; i < p->n_dimensions; i++) {
        const Xla__PaddingConfigDimension *d = p->dimensions[i];
        text_add_format(w->out, "%s%lld_%lld", i ? "x" : "", (long long)d->edge_padding_low,
                        (long long)d->edge_padding_high);
        if (interior) text_add_format(w->out, "_%lld", (long long)d->interior_padding);
    }
}

static void gather(const HloWriter *w, const Xla__HloInstructionProto *op)
{
    const Xla__GatherDimensionNumbers *d = op->more->rare->gather_dimension_numbers;
    if (d) {
        LIST(w, "offset_dims", d, offset_dims);
        LIST(w, "collapsed_slice_dims", d, collapsed_slice_dims);
        LIST(w, "start_index_map", d, start_index_map);
        LIST_IF_ANY(w, "operand_batching_dims", d, operand_batching_dims);
        LIST_IF_ANY(w, "start_indices_batching_dims", d, start_indices_batching_dims);
        number(w, "index_vector_dim", d->index_vector_dim);
    }
    LIST(w, "slice_sizes", op->more->rare, gather_slice_sizes);
    flag(w, "indices_are_sorted", op->more->rare->indices_are_sorted);
}

static void scatter(const HloWriter *w, const Xla__HloInstructionProto *op)
{
    const Xla__ScatterDimensionNumbers *d = op->more->rare->scatter_dimension_numbers;
    if (d) {
        LIST(w, "update_window_dims", d, update_window_dims);
        LIST(w, "inserted_window_dims", d, inserted_window_dims);
        LIST(w, "scatter_dims_to_operand_dims", d, scatter_dims_to_operand_dims);
        LIST_IF_ANY(w, "input_batching_dims", d, input_batching_dims);
        LIST_IF_ANY(w, "scatter_indices_batching_dims", d, scatter_indices_batching_dims);
        number(w, "index_vector_dim", d->index_vector_dim);
    }
    flag(w, "indices_are_sorted", op->more->rare->indices_are_sorted);
    flag(w, "unique_indices", op->more->rare->unique_indices);
}

/* ---- transfers ---- */

static void channel(const HloWriter *w, const Xla__HloInstructionProto *op)
{
    int64_t id = op->more->rare->all_reduce_id > 0 ? op->more->rare->all_reduce_id
                                                   : op->more->rare->channel_id;
    if (id > 0) number(w, "channel_id", id);
}

static void collective(const HloWriter *w, const Xla__HloInstructionProto *op,
                       enum HloOpcode opcode)
{
    channel(w, op);
    if (opcode == HLO_COLLECTIVE_PERMUTE || opcode == HLO_COLLECTIVE_PERMUTE_START) {
        hlo_write_key(w, "source_target_pairs");
        text_add_char(w->out, '{');
        for (size_t i = 0; i < op->more->rare->n_source_target_pairs; i++)
            text_add_format(w->out, "%s{%lld,%lld}", i ? "," : "",
                            (long long)op->more->rare->source_target_pairs[i]->source,
                            (long long)op->more->rare->source_target_pairs[i]->target);
        text_add_char(w->out, '}');
        return;
    }
    hlo_write_replica_groups(w, op);
    flag(w, "constrain_layout", op->more->rare->constrain_layout);
    bool gathers = opcode == HLO_ALL_GATHER || opcode == HLO_ALL_GATHER_START;
    if (gathers) LIST(w, "dimensions", op->more, dimensions);
    bool reduces = opcode == HLO_ALL_REDUCE || opcode == HLO_ALL_REDUCE_START ||
                   opcode == HLO_REDUCE_SCATTER || opcode == HLO_COLLECTIVE_REDUCE;
    if (gathers || reduces) flag(w, "use_global_device_ids", op->more->rare->use_global_device_ids);
    if (opcode == HLO_REDUCE_SCATTER) LIST(w, "dimensions", op->more, dimensions);
    if (opcode == HLO_ALL_TO_ALL || opcode == HLO_RAGGED_ALL_TO_ALL)
        LIST_IF_ANY(w, "dimensions", op->more, dimensions);
    if (opcode == HLO_COLLECTIVE_BROADCAST || opcode == HLO_COLLECTIVE_REDUCE)
        word(w, "has_dynamic_root", op->more->rare->has_dynamic_root ? "true" : "false");
}

static void custom_call(const HloWriter *w, const Xla__HloInstructionProto *op)
{
    static const char *const paddings[] = {NULL, "PADDING_VALID", "PADDING_SAME"};
    static const char *const schedules[] = {NULL, "SCHEDULE_LATEST", "SCHEDULE_EARLIEST"};
    static const char *const versions[] = {
        "API_VERSION_UNSPECIFIED", NULL, "API_VERSION_STATUS_RETURNING",
        "API_VERSION_STATUS_RETURNING_UNIFIED", "API_VERSION_TYPED_FFI"};
    convolution(w, op);
    if (op->more->rare->padding_type > 0)
        CHOICE(w, "padding_type", paddings, op->more->rare->padding_type);
    quoted(w, "custom_call_target", op->more->custom_call_target,
           strlen(op->more->custom_call_target));
    if (op->more->rare->constrain_layout)
        shape_list(w, "operand_layout_constraints", op->more->rare->operand_shapes_with_layout,
                   op->more->rare->n_operand_shapes_with_layout);
    flag(w, "custom_call_has_side_effect", op->more->rare->custom_call_has_side_effect);
    if (op->more->literal && op->more->literal->shape) {
        hlo_write_key(w, "literal");
        hlo_write_shape(w->out, op->more->literal->shape, true);
        text_add_char(w->out, ' ');
        hlo_write_literal(w->out, op->more->literal);
    }
    aliasing(w, op);
    if (op->more->rare->custom_call_schedule > 0)
        CHOICE(w, "schedule", schedules, op->more->rare->custom_call_schedule);
    if (op->more->rare->custom_call_api_version != 1)
        CHOICE(w, "api_version", versions, op->more->rare->custom_call_api_version);
}

static void async_start(const HloWriter *w, const Xla__HloInstructionProto *op)
{
    if (*op->more->rare->async_execution_thread &&
        strcmp(op->more->rare->async_execution_thread, "main") != 0)
        quoted(w, "async_execution_thread", op->more->rare->async_execution_thread,
               strlen(op->more->rare->async_execution_thread));
    const Xla__HloComputationProto *single = hlo_async_single(w->module, op);
    if (!single) return;
    /* The wrapped instruction is written in place of the call. Its own frontend attributes are used
     * only if the start has none. */
    Xla__HloInstructionProto wrapped = *hlo_root(single);
    if (hlo_opcode(wrapped.opcode) == HLO_ASYNC_START)
        return; /* an instruction that starts itself */
    Xla__HloInstructionMore more = *wrapped.more;
    if (op->more->frontend_attributes && op->more->frontend_attributes->n_map)
        more.frontend_attributes = NULL;
    wrapped.more = &more;
    hlo_write_attributes(w, &wrapped);
}

/* ---- by opcode ---- */

static bool has_result_accuracy(enum HloOpcode opcode)
{
    switch (opcode) {
    case HLO_ACOS:
    case HLO_ACOSH:
    case HLO_ASIN:
    case HLO_ASINH:
    case HLO_ATANH:
    case HLO_CBRT:
    case HLO_COSH:
    case HLO_COSINE:
    case HLO_ERF:
    case HLO_EXPONENTIAL:
    case HLO_EXPONENTIAL_MINUS_ONE:
    case HLO_LOG:
    case HLO_LOG_PLUS_ONE:
    case HLO_LOGISTIC:
    case HLO_RSQRT:
    case HLO_SINE:
    case HLO_SINH:
    case HLO_SQRT:
    case HLO_TAN:
    case HLO_TANH: return true;
    default: return false;
    }
}

static void result_accuracy(const HloWriter *w, const Xla__ResultAccuracy *accuracy)
{
    if (!accuracy) return;
    const Xla__ResultAccuracy__Tolerance *t = accuracy->tolerance;
    if (!t && accuracy->mode != 1) return;
    hlo_write_key(w, "result_accuracy");
    if (!t) {
        text_add(w->out, "{mode=highest}");
        return;
    }
    text_add(w->out, "{tolerance={atol=");
    text_add_real(w->out, t->atol, 6);
    text_add(w->out, ",rtol=");
    text_add_real(w->out, t->rtol, 6);
    text_add_format(w->out, ",ulps=%lld}}", (long long)t->ulps);
}

static void compare(const HloWriter *w, const Xla__HloInstructionProto *op)
{
    word(w, "direction", op->more->comparison_direction);
    if (!strcmp(op->more->comparison_type, "TOTALORDER")) word(w, "order", "TOTAL");
}

static void random_numbers(const HloWriter *w, const Xla__HloInstructionProto *op,
                           enum HloOpcode opcode)
{
    static const char *const distributions[] = {"rng_invalid", "rng_uniform", "rng_normal"};
    static const char *const algorithms[] = {"rng_default", "rng_three_fry", "rng_philox"};
    if (opcode == HLO_RNG)
        CHOICE(w, "distribution", distributions, op->more->rare->distribution);
    else if (opcode == HLO_RNG_BIT_GENERATOR)
        CHOICE(w, "algorithm", algorithms, op->more->rare->rng_algorithm);
    else
        number(w, "delta", op->more->rare->delta);
}

static void linear_algebra(const HloWriter *w, const Xla__HloInstructionProto *op,
                           enum HloOpcode opcode)
{
    static const char *const transposes[] = {"TRANSPOSE_INVALID", "NO_TRANSPOSE", "TRANSPOSE",
                                             "ADJOINT"};
    static const char *const transforms[] = {"FFT", "IFFT", "RFFT", "IRFFT"};
    const Xla__TriangularSolveOptions *solve = op->more->rare->triangular_solve_options;
    if (opcode == HLO_FFT) {
        CHOICE(w, "fft_type", transforms, op->more->rare->fft_type);
        LIST(w, "fft_length", op->more->rare, fft_length);
    } else if (opcode == HLO_CHOLESKY) {
        flag(w, "lower",
             op->more->rare->cholesky_options && op->more->rare->cholesky_options->lower);
    } else if (solve) {
        flag(w, "left_side", solve->left_side);
        flag(w, "lower", solve->lower);
        flag(w, "unit_diagonal", solve->unit_diagonal);
        CHOICE(w, "transpose_a", transposes, solve->transpose_a);
    }
}

static void feed(const HloWriter *w, const Xla__HloInstructionProto *op, enum HloOpcode opcode)
{
    if (opcode == HLO_OUTFEED && op->more->rare->outfeed_shape) {
        hlo_write_key(w, "outfeed_shape");
        hlo_write_shape(w->out, op->more->rare->outfeed_shape, true);
    }
    if (!w->configs) return;
    if (opcode == HLO_OUTFEED && op->more->rare->outfeed_config.len)
        quoted(w, "outfeed_config", (const char *)op->more->rare->outfeed_config.data,
               op->more->rare->outfeed_config.len);
    if (opcode == HLO_INFEED && op->more->rare->infeed_config.len)
        quoted(w, "infeed_config", (const char *)op->more->rare->infeed_config.data,
               op->more->rare->infeed_config.len);
}

static void domain(const HloWriter *w, const Xla__HloInstructionProto *op)
{
    static const Xla__OpSharding none = XLA__OP_SHARDING__INIT;
    /* XLA writes the field `exit` as entry, and the field `entry` as exit */
    text_add(w->out, ", domain={kind=\"sharding\", entry=");
    hlo_write_sharding(w->out, op->more->rare->domain_exit_sharding
                                   ? op->more->rare->domain_exit_sharding
                                   : &none);
    text_add(w->out, ", exit=");
    hlo_write_sharding(w->out, op->more->rare->domain_entry_sharding
                                   ? op->more->rare->domain_entry_sharding
                                   : &none);
    text_add_char(w->out, '}');
}

static void parameter(const HloWriter *w, const Xla__ParameterReplication *replication)
{
    if (w->canonical || !replication || !replication->n_replicated_at_leaf_buffers) return;
    hlo_write_key(w, "parameter_replication");
    for (size_t i = 0; i < replication->n_replicated_at_leaf_buffers; i++) {
        text_add_char(w->out, i ? ',' : '{');
        text_add(w->out, replication->replicated_at_leaf_buffers[i] ? "true" : "false");
    }
    text_add_char(w->out, '}');
}

static void scan(const HloWriter *w, const Xla__HloInstructionProto *op)
{
    LIST(w, "dimensions", op->more, dimensions);
    number(w, "num_carries", op->more->rare->num_carries);
    flag(w, "is_reverse", op->more->rare->is_reverse);
    if (op->more->rare->is_associative == 1 || op->more->rare->is_associative == 2)
        word(w, "is_associative", op->more->rare->is_associative == 1 ? "true" : "false");
}

static void shuffle(const HloWriter *w, const Xla__HloInstructionProto *op)
{
    const Xla__ShuffleMode *mode = op->more->rare->shuffle_mode;
    LIST(w, "dimensions", op->more, dimensions);
    word(w, "mode", mode && mode->rotate ? "rotate" : "invalid");
    if (mode && mode->rotate) LIST(w, "shifts", mode->rotate, shifts);
}

static void sort(const HloWriter *w, const Xla__HloInstructionProto *op)
{
    LIST(w, "dimensions", op->more, dimensions);
    flag(w, "is_stable", op->more->rare->is_stable);
}

static void ragged_dot(const HloWriter *w, const Xla__HloInstructionProto *op)
{
    const Xla__RaggedDotDimensionNumbers *d = op->more->rare->ragged_dot_dimension_numbers;
    dot(w, d ? d->dot_dimension_numbers : NULL, op->more->rare->precision_config);
    if (!d) return;
    LIST(w, "lhs_ragged_dims", d, lhs_ragged_dimensions);
    LIST(w, "rhs_group_dims", d, rhs_group_dimensions);
}

static void fusion(const HloWriter *w, const Xla__HloInstructionProto *op)
{
    word(w, "kind", op->more->fusion_kind);
    aliasing(w, op);
}

static void send_or_receive(const HloWriter *w, const Xla__HloInstructionProto *op)
{
    channel(w, op);
    flag(w, "is_host_transfer", op->more->rare->is_host_transfer);
}

static void batch_norm(const HloWriter *w, const Xla__HloInstructionProto *op)
{
    hlo_write_key(w, "epsilon");
    text_add_real(w->out, (double)op->more->rare->epsilon, 6);
    number(w, "feature_index", op->more->rare->feature_index);
}

static void top_k(const HloWriter *w, const Xla__HloInstructionProto *op)
{
    number(w, "k", op->more->rare->k);
    word(w, "largest", op->more->rare->largest ? "true" : "false");
    word(w, "is_stable", op->more->rare->is_stable ? "true" : "false");
}

static void reduce_precision(const HloWriter *w, const Xla__HloInstructionProto *op)
{
    number(w, "exponent_bits", op->more->rare->exponent_bits);
    number(w, "mantissa_bits", op->more->rare->mantissa_bits);
}

static void copy_start(const HloWriter *w, const Xla__HloInstructionProto *op)
{
    if (op->more->rare->cross_program_prefetch_case ==
        XLA__HLO_INSTRUCTION_RARE__CROSS_PROGRAM_PREFETCH_CROSS_PROGRAM_PREFETCH_INDEX)
        number(w, "cross_program_prefetch_index", op->more->rare->cross_program_prefetch_index);
}

static void attributes_of(const HloWriter *w, const Xla__HloInstructionProto *op,
                          enum HloOpcode opcode)
{
    switch (opcode) {
    case HLO_BROADCAST:
    case HLO_TRANSPOSE:
    case HLO_REVERSE:
    case HLO_CONCATENATE:
    case HLO_REDUCE:
    case HLO_MAP:
    case HLO_GET_DIMENSION_SIZE:
    case HLO_SET_DIMENSION_SIZE: LIST(w, "dimensions", op->more, dimensions); break;
    case HLO_SORT: sort(w, op); break;
    case HLO_SCAN: scan(w, op); break;
    case HLO_SHUFFLE: shuffle(w, op); break;
    case HLO_IOTA:
        number(w, "iota_dimension", op->more->n_dimensions ? op->more->dimensions[0] : 0);
        break;
    case HLO_GET_TUPLE_ELEMENT: number(w, "index", op->more->tuple_index); break;
    case HLO_COMPARE: compare(w, op); break;
    case HLO_SLICE: slice(w, op); break;
    case HLO_DYNAMIC_SLICE:
        LIST(w, "dynamic_slice_sizes", op->more->rare, dynamic_slice_sizes);
        break;
    case HLO_PAD: padding(w, op->more->rare->padding_config); break;
    case HLO_DOT:
    case HLO_SCALED_DOT:
        dot(w, op->more->rare->dot_dimension_numbers, op->more->rare->precision_config);
        break;
    case HLO_RAGGED_DOT: ragged_dot(w, op); break;
    case HLO_CONVOLUTION: convolution(w, op); break;
    case HLO_REDUCE_WINDOW:
    case HLO_SELECT_AND_SCATTER: write_window(w, op->more->rare->window); break;
    case HLO_FUSION: fusion(w, op); break;
    case HLO_GATHER: gather(w, op); break;
    case HLO_SCATTER: scatter(w, op); break;
    case HLO_ALL_REDUCE:
    case HLO_ALL_REDUCE_START:
    case HLO_REDUCE_SCATTER:
    case HLO_ALL_GATHER:
    case HLO_ALL_GATHER_START:
    case HLO_ALL_TO_ALL:
    case HLO_RAGGED_ALL_TO_ALL:
    case HLO_COLLECTIVE_BROADCAST:
    case HLO_COLLECTIVE_REDUCE:
    case HLO_COLLECTIVE_PERMUTE:
    case HLO_COLLECTIVE_PERMUTE_START: collective(w, op, opcode); break;
    case HLO_SEND:
    case HLO_RECV:
    case HLO_SEND_DONE:
    case HLO_RECV_DONE: send_or_receive(w, op); break;
    case HLO_INFEED:
    case HLO_OUTFEED: feed(w, op, opcode); break;
    case HLO_CUSTOM_CALL: custom_call(w, op); break;
    case HLO_FFT:
    case HLO_CHOLESKY:
    case HLO_TRIANGULAR_SOLVE: linear_algebra(w, op, opcode); break;
    case HLO_RNG:
    case HLO_RNG_BIT_GENERATOR:
    case HLO_RNG_GET_AND_UPDATE_STATE: random_numbers(w, op, opcode); break;
    case HLO_BATCH_NORM_GRAD:
    case HLO_BATCH_NORM_INFERENCE:
    case HLO_BATCH_NORM_TRAINING: batch_norm(w, op); break;
    case HLO_TOPK: top_k(w, op); break;
    case HLO_REDUCE_PRECISION: reduce_precision(w, op); break;
    case HLO_PARAMETER: parameter(w, op->more->rare->parameter_replication); break;
    case HLO_DOMAIN: domain(w, op); break;
    case HLO_COPY_START: copy_start(w, op); break;
    case HLO_ASYNC_START: async_start(w, op); break;
    default: break;
    }
    if (has_result_accuracy(opcode)) result_accuracy(w, op->more->rare->result_accuracy);
}

void hlo_write_attributes(const HloWriter *w, const Xla__HloInstructionProto *op)
{
    attributes_of(w, op, hlo_opcode(op->opcode));
    hlo_write_common_attributes(w, op);
}
