// SPDX-License-Identifier: Apache-2.0
/* shape.c: sizes of HLO shapes, from protos and from text; see shape.h. */
#include "shape.h"

#include <math.h>

const PrimitiveType primitive_types[N_HLO_TYPES] = {
    {"invalid", 0},    {"pred", 8},     {"s8", 8},       {"s16", 16},          {"s32", 32},
    {"s64", 64},       {"u8", 8},       {"u16", 16},     {"u32", 32},          {"u64", 64},
    {"f16", 16},       {"f32", 32},     {"f64", 64},     {"tuple", 0},         {"opaque", 0},
    {"c64", 64},       {"bf16", 16},    {"token", 0},    {"c128", 128},        {"f8e5m2", 8},
    {"f8e4m3fn", 8},   {"s4", 4},       {"u4", 4},       {"f8e4m3b11fnuz", 8}, {"f8e5m2fnuz", 8},
    {"f8e4m3fnuz", 8}, {"s2", 2},       {"u2", 2},       {"f8e4m3", 8},        {"f8e3m4", 8},
    {"s1", 1},         {"u1", 1},       {"f4e2m1fn", 4}, {"f8e8m0fnu", 8},     {"b", 0},
    {"f6e3m2fn", 6},   {"f6e2m3fn", 6},
};

const char *primitive_name(int type)
{
    return type >= 0 && type < N_HLO_TYPES ? primitive_types[type].name : NULL;
}

int primitive_bits(int type)
{
    return type >= 0 && type < N_HLO_TYPES ? primitive_types[type].bits : 0;
}

int primitive_bytes(int type) { return (primitive_bits(type) + 7) / 8; }

int primitive_by_name(const char *name, size_t n_bytes)
{
    for (int i = 1; i < N_HLO_TYPES; i++)
        if (!strncmp(primitive_types[i].name, name, n_bytes) && !primitive_types[i].name[n_bytes])
            return i;
    return -1;
}

double shape_efficiency(const ShapeSizes *sizes)
{
    return sizes->known && sizes->padded_bytes > 0
               ? (double)sizes->useful_bytes / (double)sizes->padded_bytes
               : NAN;
}

/* ---- one array ---- */

enum { POINTER_BYTES = 8 };

typedef struct {
    int64_t dimension;
    const int64_t *indices; /* where the parts start, ascending, without 0 */
    size_t n_indices;
} Split;

typedef struct {
    int element_type;
    const int64_t *dimensions, *minor_to_major, *tile; /* tile: most-major first */
    size_t rank, n_order, n_tile;
    int64_t element_bits, tail_alignment; /* 0: not set */
    const Split *splits;
    size_t n_splits;
} Array;

static bool multiply(int64_t *a, int64_t b) { return !__builtin_mul_overflow(*a, b, a); }

static bool round_up(int64_t *n, int64_t to)
{
    int64_t rest = *n % to;
    return !rest || !__builtin_add_overflow(*n, to - rest, n);
}

/* Returns the size of the i-th fastest dimension; -1 if its splits are invalid. */
static int64_t size_in_order(const Array *a, size_t i)
{
    int64_t dimension = a->n_order ? a->minor_to_major[i] : (int64_t)(a->rank - 1 - i);
    int64_t size = a->dimensions[dimension];
    for (size_t k = 0; k < a->n_splits; k++) {
        const Split *split = &a->splits[k];
        if (split->dimension != dimension) continue;
        int64_t before = 0, largest = 0;
        for (size_t s = 0; s < split->n_indices; s++) {
            int64_t at = split->indices[s];
            if (at < before || at > size) return -1;
            if (at - before > largest) largest = at - before;
            before = at;
        }
        return size - before > largest ? size - before : largest;
    }
    return size;
}

enum { MAX_RANK = 64 };

/* Returns whether the layout orders each dimension once. One without any order is the default
 * layout. */
static bool is_ordered(const Array *a)
{
    uint64_t seen = 0;
    if (a->n_order && (a->n_order != a->rank || a->rank > MAX_RANK)) return false;
    for (size_t i = 0; i < a->n_order; i++) {
        if ((uint64_t)a->minor_to_major[i] >= a->rank || seen >> a->minor_to_major[i] & 1)
            return false;
        seen |= (uint64_t)1 << a->minor_to_major[i];
    }
    return true;
}

/* Computes how many elements the layout stores. */
static bool padded_elements(const Array *a, int64_t *n)
{
    if (!is_ordered(a)) return false;
    *n = 1;
    for (size_t i = 0; i < a->rank || i < a->n_tile;) {
        int64_t size = i < a->rank ? size_in_order(a, i) : 1;
        int64_t alignment = i < a->n_tile ? a->tile[a->n_tile - 1 - i] : 1;
        for (i++; i < a->n_tile && a->tile[a->n_tile - 1 - i] == INT64_MIN; i++) {
            int64_t merged = i < a->rank ? size_in_order(a, i) : 1;
            if (size < 0 || merged < 0 || !multiply(&size, merged)) return false;
        }
        if (size < 0 || alignment <= 0 || !round_up(&size, alignment) || !multiply(n, size))
            return false;
    }
    return true;
}

static bool bits_to_bytes(int64_t n, int64_t bits, int64_t *bytes)
{
    if (__builtin_mul_overflow(n, bits, bytes)) return false;
    *bytes = *bytes / 8 + (*bytes % 8 != 0);
    return true;
}

static ShapeSizes array_sizes(const Array *a)
{
    static const ShapeSizes unknown = {0};
    ShapeSizes s = {.known = true};
    if (a->element_type == XLA_TOKEN) return s;
    if (a->element_type == XLA_OPAQUE)
        return (ShapeSizes){true, 0, POINTER_BYTES, POINTER_BYTES, POINTER_BYTES};
    int width = primitive_bytes(a->element_type);
    if (!width || a->element_bits < 0 || a->tail_alignment < 0) return unknown;
    s.elements = 1;
    for (size_t i = 0; i < a->rank; i++)
        if (a->dimensions[i] < 0 || !multiply(&s.elements, a->dimensions[i])) return unknown;
    s.bytes = s.elements;
    int64_t stored = s.elements;
    if (!multiply(&s.bytes, width) || (a->n_tile && !padded_elements(a, &stored))) return unknown;
    if (a->tail_alignment > 1 && a->n_tile && !round_up(&stored, a->tail_alignment)) return unknown;
    if (!bits_to_bytes(stored, a->element_bits ? a->element_bits : 8 * width, &s.padded_bytes))
        return unknown;
    s.useful_bytes = s.bytes;
    if (a->element_bits && a->element_bits < 8 * width &&
        !bits_to_bytes(s.elements, a->element_bits, &s.useful_bytes))
        return unknown;
    return s;
}

static void add_sizes(ShapeSizes *sum, const ShapeSizes *s)
{
    sum->known &= s->known && !__builtin_add_overflow(sum->elements, s->elements, &sum->elements) &&
                  !__builtin_add_overflow(sum->bytes, s->bytes, &sum->bytes) &&
                  !__builtin_add_overflow(sum->padded_bytes, s->padded_bytes, &sum->padded_bytes) &&
                  !__builtin_add_overflow(sum->useful_bytes, s->useful_bytes, &sum->useful_bytes);
}

/* ---- protos ---- */

enum { MAX_SPLITS = 16 };

ShapeSizes shape_sizes(const Xla__ShapeProto *shape)
{
    if (shape->element_type == XLA_TUPLE || shape->element_type == XLA_BUFFER) {
        ShapeSizes sum = {.known = true};
        for (size_t i = 0; i < shape->n_tuple_shapes && sum.known; i++) {
            ShapeSizes part = shape_sizes(shape->tuple_shapes[i]);
            add_sizes(&sum, &part);
        }
        return sum;
    }
    Array a = {.element_type = shape->element_type,
               .dimensions = shape->dimensions,
               .rank = shape->n_dimensions};
    Split splits[MAX_SPLITS];
    const Xla__LayoutProto *layout = shape->layout;
    if (layout) {
        a.minor_to_major = layout->minor_to_major, a.n_order = layout->n_minor_to_major;
        if (layout->n_tiles)
            a.tile = layout->tiles[0]->dimensions, a.n_tile = layout->tiles[0]->n_dimensions;
        a.element_bits = layout->element_size_in_bits,
        a.tail_alignment = layout->tail_padding_alignment_in_elements;
        for (size_t i = 0; i < layout->n_split_configs; i++) {
            const Xla__SplitConfigProto *split = layout->split_configs[i];
            if (i == MAX_SPLITS) return (ShapeSizes){0};
            splits[a.n_splits++] =
                (Split){split->dimension, split->split_indices, split->n_split_indices};
        }
        a.splits = splits;
    }
    return array_sizes(&a);
}

int64_t shape_unpadded_bytes(const Xla__ShapeProto *shape)
{
    switch (shape->element_type) {
    case XLA_TUPLE: return POINTER_BYTES * (int64_t)shape->n_tuple_shapes;
    case XLA_TOKEN: return 0;
    case XLA_OPAQUE: return POINTER_BYTES;
    case XLA_BUFFER:
        return shape->n_tuple_shapes ? shape_unpadded_bytes(shape->tuple_shapes[0]) : -1;
    default: break;
    }
    int64_t n = 1, bytes, width = primitive_bytes(shape->element_type),
            bits = shape->layout ? shape->layout->element_size_in_bits : 0;
    if (!width || bits < 0) return -1;
    for (size_t i = 0; i < shape->n_dimensions; i++)
        if (shape->dimensions[i] < 0 || !multiply(&n, shape->dimensions[i])) return -1;
    return bits_to_bytes(n, bits ? bits : 8 * width, &bytes) ? bytes : -1;
}

bool shape_memory_space(const Xla__ShapeProto *shape, int64_t *space)
{
    if (shape->element_type != XLA_TUPLE && shape->element_type != XLA_BUFFER) {
        if (shape->layout) *space = shape->layout->memory_space;
        return shape->layout != NULL;
    }
    for (size_t i = 0; i < shape->n_tuple_shapes; i++) {
        int64_t part;
        if (!shape_memory_space(shape->tuple_shapes[i], &part) || (i && part != *space))
            return false;
        *space = part;
    }
    return shape->n_tuple_shapes > 0;
}

/* ---- text ----
 *
 *   shape   = "(" [shape {"," shape}] ")" | "b(" shape ")"
 *           | type "[" [size {"," size}] "]" ["{" layout "}"]
 *   size    = ["<="] number | "?"
 *   layout  = [number {"," number}] [":" {property}]
 *   property= "T" {"(" tile ")"} | "E(" bits ")" | "L(" alignment ")"
 *           | "SC" {"(" dimension ":" index {"," index} ")"}
 *           | "D(...)" | "S(...)" | "M(...)" | "P(...)" | "#(...)" | "*(...)"
 *
 * The properties in the last line do not change the size. Blanks and comments may separate parts.
 */

enum { MAX_NESTING = 100 };

typedef struct {
    const char *start, *p, *end;
    ProfErr *err;
} ShapeText;

typedef struct {
    int64_t values[MAX_RANK];
    size_t n;
} Numbers;

/* Returns how many bytes of a text to show, without splitting a character. */
static int shown(const char *p, const char *end, int most)
{
    int n = 0;
    while (p + n < end && n < most && (unsigned char)p[n] < 0x80) n++;
    return n;
}

#define LOOKS_LIKE "; write it as f32[2,3] or f32[2,3]{1,0:T(8,128)}"

static bool expected(ShapeText *t, const char *what)
{
    size_t at = (size_t)(t->p - t->start);
    int n = shown(t->start, t->end, 200);
    if (t->p < t->end)
        prof_fail(
            t->err, PROF_FORMAT, at,
            "'%.*s' is not an HLO shape: at character %zu, '%.*s', %s was expected" LOOKS_LIKE, n,
            t->start, at + 1, shown(t->p, t->end, 20), t->p, what);
    else
        prof_fail(t->err, PROF_FORMAT, at,
                  "'%.*s' is not an HLO shape: it ends where %s was expected" LOOKS_LIKE, n,
                  t->start, what);
    return false;
}

static void skip_blanks(ShapeText *t)
{
    for (;;) {
        while (t->p < t->end && (*t->p == ' ' || *t->p == '\n' || *t->p == '\t' || *t->p == '\r'))
            t->p++;
        if (t->end - t->p < 4 || t->p[0] != '/' || t->p[1] != '*') return;
        const char *q = t->p + 2;
        while (q + 1 < t->end && (q[0] != '*' || q[1] != '/')) q++;
        if (q + 1 >= t->end) return;
        t->p = q + 2;
    }
}

static bool accept(ShapeText *t, char c)
{
    skip_blanks(t);
    if (t->p == t->end || *t->p != c) return false;
    t->p++;
    return true;
}

static bool number(ShapeText *t, int64_t *value)
{
    skip_blanks(t);
    if (t->p == t->end || *t->p < '0' || *t->p > '9') return expected(t, "a number");
    const char *first = t->p;
    for (*value = 0; t->p < t->end && *t->p >= '0' && *t->p <= '9'; t->p++)
        if (__builtin_mul_overflow(*value, (int64_t)10, value) ||
            __builtin_add_overflow(*value, (int64_t)(*t->p - '0'), value)) {
            t->p = first;
            return expected(t, "a number below 2^63");
        }
    return true;
}

/* Reads numbers up to a closing character. `tile` allows "*", `bounds` allows "<=" and "?". */
static bool numbers(ShapeText *t, char close, bool tile, bool bounds, Numbers *out)
{
    out->n = 0;
    skip_blanks(t);
    if (t->p < t->end && *t->p == close) return true;
    do {
        if (out->n == MAX_RANK) return expected(t, "a list of at most 64 numbers");
        int64_t *value = &out->values[out->n];
        skip_blanks(t);
        if (bounds && t->end - t->p >= 2 && t->p[0] == '<' && t->p[1] == '=') t->p += 2;
        if ((bounds && accept(t, '?')) || (tile && accept(t, '*')))
            *value = INT64_MIN;
        else if (!number(t, value))
            return false;
        out->n++;
    } while (accept(t, ','));
    return true;
}

/* Skips "(...)" with anything in it, with parentheses in pairs. */
static bool skip_group(ShapeText *t)
{
    int depth = 0;
    do {
        if (t->p == t->end) return expected(t, "')'");
        depth += (*t->p == '(') - (*t->p == ')');
        t->p++;
    } while (depth);
    return true;
}

typedef struct {
    Numbers dimensions, order, tile;
    Split splits[MAX_SPLITS];
    Numbers split_indices[MAX_SPLITS];
    size_t n_splits;
    int64_t element_bits, tail_alignment;
} ParsedArray;

static bool one_number(ShapeText *t, int64_t *value)
{
    return accept(t, '(') ? number(t, value) && (accept(t, ')') || expected(t, "')'"))
                          : expected(t, "'('");
}

static bool tiles(ShapeText *t, ParsedArray *a)
{
    Numbers tile;
    for (size_t i = 0; accept(t, '('); i++) {
        const char *first = t->p;
        if (!numbers(t, ')', true, false, &tile) || (!accept(t, ')') && !expected(t, "',' or ')'")))
            return false;
        for (size_t k = 0; k < tile.n; k++)
            if (!tile.values[k]) {
                t->p = first;
                return expected(t, "a tile without zeros");
            }
        if (!i) a->tile = tile;
    }
    return true;
}

static bool splits(ShapeText *t, ParsedArray *a)
{
    while (accept(t, '(')) {
        if (a->n_splits == MAX_SPLITS) return expected(t, "at most 16 split dimensions");
        Numbers *indices = &a->split_indices[a->n_splits];
        Split *split = &a->splits[a->n_splits++];
        if (!number(t, &split->dimension) || (!accept(t, ':') && !expected(t, "':'")) ||
            !numbers(t, ')', false, false, indices))
            return false;
        if (!accept(t, ')')) return expected(t, "',' or ')'");
        split->indices = indices->values, split->n_indices = indices->n;
    }
    return true;
}

static bool property(ShapeText *t, ParsedArray *a)
{
    char letter = *t->p++;
    switch (letter) {
    case 'T': return (t->p < t->end && *t->p == '(') ? tiles(t, a) : expected(t, "'('");
    case 'E': return one_number(t, &a->element_bits);
    case 'L': return one_number(t, &a->tail_alignment);
    case 'S':
        if (accept(t, 'C')) return splits(t, a);
        break;
    case 'D':
    case 'M':
    case 'P':
    case '#':
    case '*': break;
    default:
        t->p--;
        return expected(t, "a property of a layout (T, E, L, S, SC, D, M, P, #, *) or '}'");
    }
    return t->p < t->end && *t->p == '(' ? skip_group(t) : expected(t, "'('");
}

static bool layout(ShapeText *t, ParsedArray *a)
{
    skip_blanks(t);
    const char *first = t->p;
    if (!(t->p < t->end && *t->p == ':') && !numbers(t, '}', false, false, &a->order)) return false;
    if (accept(t, ':'))
        for (skip_blanks(t); t->p < t->end && *t->p != '}'; skip_blanks(t))
            if (!property(t, a)) return false;
    if (!accept(t, '}')) return expected(t, "'}'");
    Array array = {
        .minor_to_major = a->order.values, .n_order = a->order.n, .rank = a->dimensions.n};
    if (a->order.n != a->dimensions.n || !is_ordered(&array)) {
        t->p = first;
        return expected(t, "each dimension's number once");
    }
    return true;
}

static ShapeSizes parse(ShapeText *t, int depth);

static ShapeSizes parse_tuple(ShapeText *t, int depth)
{
    ShapeSizes sum = {.known = true};
    if (accept(t, ')')) return sum;
    do {
        ShapeSizes part = parse(t, depth + 1);
        add_sizes(&sum, &part);
    } while (!t->err->code && accept(t, ','));
    if (!t->err->code && !accept(t, ')')) expected(t, "',' or ')'");
    return sum;
}

static ShapeSizes parse_array(ShapeText *t, int type)
{
    ParsedArray a = {0};
    if (!numbers(t, ']', false, true, &a.dimensions) ||
        (!accept(t, ']') && !expected(t, "',' or ']'")))
        return (ShapeSizes){0};
    if (accept(t, '{') && !layout(t, &a)) return (ShapeSizes){0};
    Array array = {.element_type = type,
                   .dimensions = a.dimensions.values,
                   .rank = a.dimensions.n,
                   .minor_to_major = a.order.values,
                   .n_order = a.order.n,
                   .tile = a.tile.values,
                   .n_tile = a.tile.n,
                   .element_bits = a.element_bits,
                   .tail_alignment = a.tail_alignment,
                   .splits = a.splits,
                   .n_splits = a.n_splits};
    return array_sizes(&array);
}

static ShapeSizes parse(ShapeText *t, int depth)
{
    static const ShapeSizes unknown = {0};
    if (depth > MAX_NESTING) {
        expected(t, "a shape that is nested less than 100 deep");
        return unknown;
    }
    if (accept(t, '(')) return parse_tuple(t, depth);
    const char *name = t->p;
    while (t->p < t->end && ((*t->p >= 'a' && *t->p <= 'z') || (*t->p >= '0' && *t->p <= '9')))
        t->p++;
    int type = primitive_by_name(name, (size_t)(t->p - name));
    if (type == XLA_BUFFER) {
        if (!accept(t, '(')) {
            expected(t, "'('");
            return unknown;
        }
        ShapeSizes inside = parse(t, depth + 1);
        if (!t->err->code && !accept(t, ')')) expected(t, "')'");
        return inside;
    }
    if (type < 0 || type == XLA_TUPLE) {
        t->p = name;
        expected(t, "an element type (f32, bf16, s8, pred, ...) or '('");
        return unknown;
    }
    if (!accept(t, '[')) {
        expected(t, "'['");
        return unknown;
    }
    return parse_array(t, type);
}

ShapeSizes shape_text_sizes(const char *text, size_t n_bytes, ProfErr *err)
{
    ShapeText t = {text, text, text + n_bytes, err};
    ShapeSizes sizes = parse(&t, 0);
    skip_blanks(&t);
    if (!err->code && t.p < t.end) expected(&t, "the end");
    if (err->code) sizes.known = false;
    return sizes;
}
