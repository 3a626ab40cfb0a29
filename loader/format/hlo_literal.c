// SPDX-License-Identifier: Apache-2.0
/* hlo_literal.c: writes the values of constants as in HLO text.
 *
 * A literal stores its elements in the order of its layout, in the list of its type; types of less
 * than a byte take a byte each. The text has them in logical order: 1.5, {1, 2}, { {7}, {8} }, { {
 * 1, 2
 * }, { 3, 4 } }. From rank 4 on, each part that contains parts starts with a comment, its index:
 * i0=0. Tuples are ( 1.5, {1, 2} ). */
#include "hlo_writer.h"

#include "shape.h"
#include "hlo_type.h"

#include <math.h>
#include <stdio.h>

enum { MAX_RANK = 64, MAX_EMPTY_GROUPS = 1 << 16 };

/* What the encodings of floats of up to 16 bits have. */
enum FloatKind {
    FLOAT_IEEE,
    FLOAT_ONE_NAN /* no infinity; only all ones is NaN */,
    FLOAT_NO_ZERO_SIGN /* no -0: its bits are NaN */,
    FLOAT_FINITE,
    FLOAT_EXPONENT /* an exponent and nothing else */
};
typedef struct {
    uint8_t exponent_bits, mantissa_bits, digits;
    int16_t bias;
    enum FloatKind kind;
} SmallFloat;

typedef struct {
    int type;
    const void *values;
    size_t n, width; /* number of elements, and bytes of each */
    bool is_float, is_signed, is_complex;
    const SmallFloat *small;
} Values;

static const SmallFloat f16 = {5, 10, 5, 15, FLOAT_IEEE}, bf16 = {8, 7, 4, 127, FLOAT_IEEE},
                        f8e5m2 = {5, 2, 2, 15, FLOAT_IEEE}, f8e4m3 = {4, 3, 3, 7, FLOAT_IEEE},
                        f8e3m4 = {3, 4, 3, 3, FLOAT_IEEE}, f8e4m3fn = {4, 3, 3, 7, FLOAT_ONE_NAN},
                        f8e4m3b11fnuz = {4, 3, 3, 11, FLOAT_NO_ZERO_SIGN},
                        f8e5m2fnuz = {5, 2, 2, 16, FLOAT_NO_ZERO_SIGN},
                        f8e4m3fnuz = {4, 3, 3, 8, FLOAT_NO_ZERO_SIGN},
                        f4e2m1fn = {2, 1, 2, 1, FLOAT_FINITE},
                        f6e3m2fn = {3, 2, 2, 3, FLOAT_FINITE},
                        f6e2m3fn = {2, 3, 3, 1, FLOAT_FINITE},
                        f8e8m0fnu = {8, 0, 2, 127, FLOAT_EXPONENT};

/* Finds the list of a literal's type. False if it is not the type of an array. */
static bool literal_values(const Xla__LiteralProto *l, Values *v)
{
#define LIST(of, name, size) v->values = (of)->name, v->n = (of)->n_##name, v->width = (size)
#define BYTES(of, name, size)                                                                      \
    v->values = (of)->name.data, v->n = (of)->name.len / (size), v->width = (size)
    const Xla__LiteralRare *rare = l->rare;
    *v = (Values){.type = l->shape->element_type};
    switch (v->type) {
    case XLA_PRED: LIST(l, preds, sizeof(protobuf_c_boolean)); break;
    case XLA_S1: BYTES(rare, s1s, 1), v->is_signed = true; break;
    case XLA_S2: BYTES(rare, s2s, 1), v->is_signed = true; break;
    case XLA_S4: BYTES(rare, s4s, 1), v->is_signed = true; break;
    case XLA_S8: BYTES(rare, s8s, 1), v->is_signed = true; break;
    case XLA_S16: BYTES(rare, s16s, 2), v->is_signed = true; break;
    case XLA_S32: LIST(l, s32s, 4), v->is_signed = true; break;
    case XLA_S64: LIST(rare, s64s, 8), v->is_signed = true; break;
    case XLA_U1: BYTES(rare, u1s, 1); break;
    case XLA_U2: BYTES(rare, u2s, 1); break;
    case XLA_U4: BYTES(rare, u4s, 1); break;
    case XLA_U8: BYTES(rare, u8s, 1); break;
    case XLA_U16: BYTES(rare, u16s, 2); break;
    case XLA_U32: LIST(rare, u32s, 4); break;
    case XLA_U64: LIST(rare, u64s, 8); break;
    case XLA_F32: LIST(l, f32s, 4), v->is_float = true; break;
    case XLA_F64: LIST(rare, f64s, 8), v->is_float = true; break;
    case XLA_C64: LIST(rare, c64s, 4), v->is_float = true, v->is_complex = true; break;
    case XLA_C128: LIST(rare, c128s, 8), v->is_float = true, v->is_complex = true; break;
    case XLA_F16: BYTES(rare, f16s, 2), v->small = &f16; break;
    case XLA_BF16: BYTES(l, bf16s, 2), v->small = &bf16; break;
    case XLA_F8E5M2: BYTES(rare, f8e5m2s, 1), v->small = &f8e5m2; break;
    case XLA_F8E4M3: BYTES(rare, f8e4m3s, 1), v->small = &f8e4m3; break;
    case XLA_F8E3M4: BYTES(rare, f8e3m4s, 1), v->small = &f8e3m4; break;
    case XLA_F8E4M3FN: BYTES(rare, f8e4m3fns, 1), v->small = &f8e4m3fn; break;
    case XLA_F8E4M3B11FNUZ: BYTES(rare, f8e4m3b11fnuzs, 1), v->small = &f8e4m3b11fnuz; break;
    case XLA_F8E5M2FNUZ: BYTES(rare, f8e5m2fnuzs, 1), v->small = &f8e5m2fnuz; break;
    case XLA_F8E4M3FNUZ: BYTES(rare, f8e4m3fnuzs, 1), v->small = &f8e4m3fnuz; break;
    case XLA_F8E8M0FNU: BYTES(rare, f8e8m0fnus, 1), v->small = &f8e8m0fnu; break;
    case XLA_F4E2M1FN: BYTES(rare, f4e2m1fns, 1), v->small = &f4e2m1fn; break;
    case XLA_F6E3M2FN: BYTES(rare, f6e3m2fns, 1), v->small = &f6e3m2fn; break;
    case XLA_F6E2M3FN: BYTES(rare, f6e2m3fns, 1), v->small = &f6e2m3fn; break;
    default: return false;
    }
#undef LIST
#undef BYTES
    if (v->is_complex) v->n /= 2;
    return true;
}

/* ---- one element ---- */

/* Appends a NaN with its sign, and with its payload unless that is the usual one. */
static void add_nan(TextBuffer *out, bool negative, uint64_t payload, uint64_t usual)
{
    text_add(out, negative ? "-nan" : "nan");
    if (payload != usual) text_add_format(out, "(0x%llx)", (unsigned long long)payload);
}

static void add_float(TextBuffer *out, float value)
{
    char digits[40];
    if (isnan(value)) {
        uint32_t bits;
        memcpy(&bits, &value, sizeof bits);
        add_nan(out, bits >> 31, bits & 0x7fffff, 0x400000);
        return;
    }
    snprintf(digits, sizeof digits, "%.6g", (double)value);
    text_add_real(out, (double)value, strtof(digits, NULL) == value ? 6 : 9);
}

static void add_double(TextBuffer *out, double value)
{
    char digits[40];
    if (isnan(value)) {
        uint64_t bits;
        memcpy(&bits, &value, sizeof bits);
        add_nan(out, bits >> 63, bits & 0xfffffffffffff, 0x8000000000000);
        return;
    }
    snprintf(digits, sizeof digits, "%.15g", value);
    text_add_real(out, value, strtod(digits, NULL) == value ? 15 : 17);
}

static void add_small_float(TextBuffer *out, const SmallFloat *f, unsigned bits)
{
    unsigned mantissa_all = (1u << f->mantissa_bits) - 1,
             exponent_all = (1u << f->exponent_bits) - 1,
             sign_bit = f->exponent_bits + f->mantissa_bits;
    unsigned mantissa = bits & mantissa_all, exponent = bits >> f->mantissa_bits & exponent_all;
    bool negative = bits >> sign_bit & 1, top = exponent == exponent_all;
    double value;
    if (f->kind == FLOAT_EXPONENT) {
        if (top) {
            add_nan(out, false, 0, 0);
            return;
        }
        value = ldexp(1, (int)exponent - f->bias);
    } else if (f->kind == FLOAT_IEEE && top && mantissa) {
        add_nan(out, negative, mantissa, (mantissa_all + 1) / 2);
        return;
    } else if ((f->kind == FLOAT_ONE_NAN && top && mantissa == mantissa_all) ||
               (f->kind == FLOAT_NO_ZERO_SIGN && negative && !exponent && !mantissa)) {
        add_nan(out, negative, 0, 0);
        return;
    } else if (f->kind == FLOAT_IEEE && top) {
        value = INFINITY;
    } else {
        int scale = (exponent ? (int)exponent : 1) - f->bias - f->mantissa_bits;
        value = ldexp((exponent ? mantissa_all + 1 : 0) + mantissa, scale);
    }
    text_add_real(out, negative ? -value : value, f->digits);
}

static void add_real(TextBuffer *out, const Values *v, size_t i)
{
    if (v->width == 4)
        add_float(out, ((const float *)v->values)[i]);
    else
        add_double(out, ((const double *)v->values)[i]);
}

static void add_element(TextBuffer *out, const Values *v, size_t i, bool scalar)
{
    if (v->is_complex) {
        text_add_char(out, '(');
        add_real(out, v, 2 * i);
        text_add(out, ", ");
        add_real(out, v, 2 * i + 1);
        text_add_char(out, ')');
        return;
    }
    if (v->is_float) {
        add_real(out, v, i);
        return;
    }
    if (v->type == XLA_PRED) {
        bool value = ((const protobuf_c_boolean *)v->values)[i];
        const char *word = value ? "true" : "false", *digit = value ? "1" : "0";
        text_add(out, scalar ? word : digit);
        return;
    }
    uint64_t bits = 0;
    memcpy(&bits, (const uint8_t *)v->values + i * v->width, v->width);
    if (v->small) {
        add_small_float(out, v->small, (unsigned)bits);
        return;
    }
    if (v->is_signed) {
        unsigned unused = 64 - primitive_types[v->type].bits;
        text_add_integer(out, (int64_t)(bits << unused) >> unused);
    } else {
        text_add_format(out, "%llu", (unsigned long long)bits);
    }
}

/* ---- arrays ---- */

typedef struct {
    TextBuffer *out;
    const Values *values;
    size_t rank;
    int64_t dimensions[MAX_RANK], strides[MAX_RANK]; /* strides in elements */
} Array;

static void add_part(const Array *a, size_t depth, size_t at, int64_t index)
{
    if (depth == a->rank) {
        add_element(a->out, a->values, at, !a->rank);
        return;
    }
    bool innermost = depth + 1 == a->rank,
         spaces = a->rank > 1 && (!innermost || a->dimensions[depth] > 1);
    text_add_char(a->out, '{');
    if (!innermost && depth && a->rank > 3)
        text_add_format(a->out, " /*i%zu=%lld*/", depth - 1, (long long)index);
    if (spaces) text_add_char(a->out, ' ');
    for (int64_t i = 0; i < a->dimensions[depth] && !a->out->no_memory && !a->out->cut; i++) {
        if (i) text_add(a->out, ", ");
        add_part(a, depth + 1, at + (size_t)(i * a->strides[depth]), i);
    }
    if (spaces) text_add_char(a->out, ' ');
    text_add_char(a->out, '}');
}

int64_t hlo_element_count(const Xla__ShapeProto *shape)
{
    int64_t n = 1;
    bool empty = false, beyond = false;
    for (size_t i = 0; i < shape->n_dimensions; i++) {
        if (shape->dimensions[i] < 0) return -1;
        empty |= !shape->dimensions[i];
        beyond |= __builtin_mul_overflow(n, shape->dimensions[i], &n);
    }
    if (empty) return 0;
    return beyond ? -1 : n;
}

/* Sets the distance of neighbours in each dimension, by the layout if it is valid. */
static void set_strides(Array *a, const Xla__LayoutProto *layout)
{
    bool seen[MAX_RANK] = {false}, ordered = layout && layout->n_minor_to_major == a->rank;
    for (size_t i = 0; ordered && i < a->rank; i++) {
        int64_t d = layout->minor_to_major[i];
        ordered = d >= 0 && (uint64_t)d < a->rank && !seen[d];
        if (ordered) seen[d] = true;
    }
    int64_t stride = 1;
    for (size_t i = 0; i < a->rank; i++) {
        size_t d = ordered ? (size_t)layout->minor_to_major[i] : a->rank - 1 - i;
        a->strides[d] = stride;
        if (a->dimensions[d])
            stride *=
                a->dimensions[d]; /* cannot overflow: the product of all is the number of values */
    }
}

static void add_array(TextBuffer *out, const Xla__LiteralProto *literal)
{
    Values values;
    const Xla__ShapeProto *shape = literal->shape;
    int64_t n = hlo_element_count(shape), groups = 1;
    bool whole = shape->n_dimensions <= MAX_RANK && literal_values(literal, &values) && n >= 0 &&
                 (uint64_t)n == values.n;
    /* Without elements the dimensions alone determine the length of the text. */
    for (size_t i = 0; whole && !n && i + 1 < shape->n_dimensions && shape->dimensions[i]; i++)
        whole = !__builtin_mul_overflow(groups, shape->dimensions[i], &groups) &&
                groups <= MAX_EMPTY_GROUPS;
    if (!whole) {
        text_add(out, "{...}");
        return;
    }
    Array a = {.out = out, .values = &values, .rank = shape->n_dimensions};
    if (a.rank) memcpy(a.dimensions, shape->dimensions, a.rank * sizeof *a.dimensions);
    if (n) set_strides(&a, shape->layout);
    add_part(&a, 0, 0, 0);
}

void hlo_write_literal(TextBuffer *out, const Xla__LiteralProto *literal)
{
    if (!literal->shape) {
        text_add(out, "{...}");
        return;
    }
    if (literal->shape->element_type == XLA_TOKEN) {
        text_add(out, "token");
        return;
    }
    if (literal->shape->element_type != XLA_TUPLE) {
        add_array(out, literal);
        return;
    }
    text_add(out, "( ");
    for (size_t i = 0; i < literal->n_tuple_literals; i++) {
        if (i) text_add(out, ", ");
        hlo_write_literal(out, literal->tuple_literals[i]);
    }
    text_add(out, " )");
}

/* ---- all elements alike ---- */

static bool small_float_is(const SmallFloat *f, unsigned bits, int value)
{
    unsigned sign = 1u << (f->exponent_bits + f->mantissa_bits);
    if (value) return bits == (unsigned)f->bias << f->mantissa_bits; /* 1 */
    return f->kind != FLOAT_EXPONENT && (!bits || (bits == sign && f->kind != FLOAT_NO_ZERO_SIGN));
}

static bool element_is(const Values *v, size_t i, int value)
{
    if (v->is_float) {
        size_t at = v->is_complex ? 2 * i : i;
        if (v->width == 4)
            return ((const float *)v->values)[at] == (float)value &&
                   (!v->is_complex || ((const float *)v->values)[at + 1] == 0);
        return ((const double *)v->values)[at] == value &&
               (!v->is_complex || ((const double *)v->values)[at + 1] == 0);
    }
    if (v->type == XLA_PRED) return ((const protobuf_c_boolean *)v->values)[i] == (value != 0);
    uint64_t bits = 0;
    memcpy(&bits, (const uint8_t *)v->values + i * v->width, v->width);
    return v->small ? small_float_is(v->small, (unsigned)bits, value) : bits == (uint64_t)value;
}

static bool is_all(const Values *v, int value)
{
    for (size_t i = 0; i < v->n; i++)
        if (!element_is(v, i, value)) return false;
    return true;
}

void hlo_write_essential_literal(TextBuffer *out, const Xla__LiteralProto *literal)
{
    enum { MOST_ELEMENTS = 500000 };
    Values v;
    bool array = literal && literal->shape && literal_values(literal, &v);
    if (array && is_all(&v, 0)) {
        text_add_char(out, '0');
        return;
    }
    if (array && is_all(&v, 1)) {
        text_add_char(out, '1');
        return;
    }
    if (array && !v.is_float && !v.small && v.type != XLA_PRED && v.n <= MOST_ELEMENTS) {
        hlo_write_literal(out, literal);
        return;
    }
    text_add(out, "{...}");
}
