// SPDX-License-Identifier: Apache-2.0
/* instruction_text.c: parses the text of an HLO instruction; see instruction_text.h. */
#define _GNU_SOURCE
#include "instruction_text.h"

#include "../../format/shape.h"

/* Returns the first of some characters outside of brackets, or an unmatched closing bracket; the
 * end if there is neither. */
static const char *skip_to(const char *at, const char *end, const char *stops)
{
    for (int depth = 0; at < end; at++) {
        if (!depth && strchr(stops, *at)) return at;
        depth += *at == '(' || *at == '{' || *at == '[';
        depth -= *at == ')' || *at == '}' || *at == ']';
        if (depth < 0) return at;
    }
    return end;
}

static Slice slice_between(const char *start, const char *end)
{
    return (Slice){start, (size_t)(end - start)};
}

Slice instruction_name(Slice text)
{
    if (slice_starts(text, "ROOT ")) text.text += 5, text.n -= 5;
    const char *equals = text.n ? memmem(text.text, text.n, " = ", 3) : NULL;
    Slice name = {text.text, equals ? (size_t)(equals - text.text) : text.n};
    if (name.n && *name.text == '%') name.text++, name.n--;
    return name;
}

static Slice result_shape(Slice text)
{
    const char *equals = text.n ? memmem(text.text, text.n, " = ", 3) : NULL,
               *end = text.text + text.n;
    return equals ? slice_between(equals + 3, skip_to(equals + 3, end, " ")) : (Slice){"", 0};
}

Slice instruction_opcode(Slice text)
{
    Slice shape = result_shape(text);
    const char *end = text.text + text.n, *opcode = shape.text + shape.n + 1;
    if (!shape.n || opcode >= end) return (Slice){"", 0};
    const char *paren = memchr(opcode, '(', (size_t)(end - opcode));
    return paren ? slice_between(opcode, paren) : (Slice){"", 0};
}

Slice instruction_attribute(Slice text, const char *key)
{
    const char *end = text.text + text.n;
    size_t n_key = strlen(key);
    for (const char *at = text.text, *found;
         at < end && (found = memmem(at, (size_t)(end - at), key, n_key)); at = found + n_key) {
        const char *equals = found + n_key;
        if (found == text.text || (found[-1] != ' ' && found[-1] != ',') || equals >= end ||
            *equals != '=')
            continue;
        return slice_between(equals + 1, skip_to(equals + 1, end, ", "));
    }
    return (Slice){"", 0};
}

static int64_t shape_bytes(Slice shape)
{
    ProfErr err = {0};
    ShapeSizes sizes = shape.n ? shape_text_sizes(shape.text, shape.n, &err) : (ShapeSizes){0};
    return sizes.known && !err.code ? sizes.bytes : -1;
}

int64_t instruction_result_bytes(Slice text) { return shape_bytes(result_shape(text)); }

int64_t instruction_operand_bytes(Slice text, int which)
{
    Slice opcode = instruction_opcode(text);
    const char *end = text.text + text.n;
    int64_t sum = 0;
    int n = 0;
    if (!opcode.n) return -1;
    for (const char *at = opcode.text + opcode.n; at < end && *at != ')'; n++) {
        const char *start = at + 1;
        while (start < end && *start == ' ') start++;
        at = skip_to(start, end, ",");
        if (at == start) break;
        if (which != ALL_OPERANDS && which != n) continue;
        int64_t bytes = shape_bytes(slice_between(start, skip_to(start, at, " ")));
        if (bytes < 0) return -1;
        sum = add_saturated(sum, bytes);
    }
    return which < n && n ? sum : -1;
}
