// SPDX-License-Identifier: Apache-2.0
/* cursor.c: walks the fields of a message in a file; see cursor.h. */
#include "cursor.h"

static enum Step cursor_next_at(Cursor *c, FileField *f, int depth, ProfErr *err)
{
    if (c->at >= c->end) return STEP_END;
    uint64_t left = c->end - c->at;
    size_t there;
    const uint8_t *start = window_at(c->window, c->at, left < 20 ? (size_t)left : 20, &there, err),
                  *p = start;
    if (!p) return STEP_FAILED;
    const uint8_t *end = p + (there < left ? there : (size_t)left);
    uint64_t tag;
    p = wire_varint(p, end, &tag);
    if (!p || tag < 8 || tag > UINT32_MAX) return STEP_DAMAGED;
    *f = (FileField){.number = (uint32_t)tag >> 3, .type = tag & 7};
    switch (f->type) {
    case WIRE_VARINT: p = wire_varint(p, end, &f->value); break;
    case WIRE_FIXED64: p = end - p >= 8 ? (memcpy(&f->value, p, 8), p + 8) : NULL; break;
    case WIRE_FIXED32: p = end - p >= 4 ? p + 4 : NULL; break;
    case WIRE_BYTES: {
        uint64_t n;
        p = wire_varint(p, end, &n);
        if (!p) return STEP_DAMAGED;
        f->payload.offset = c->at + (uint64_t)(p - start);
        uint64_t room = c->end - f->payload.offset;
        f->clipped = n > room;
        f->missing = f->clipped ? n - room : 0;
        f->payload.n_bytes = f->clipped ? room : n;
        c->at = f->payload.offset + f->payload.n_bytes;
        return STEP_FIELD;
    }
    case WIRE_GROUP: {
        if (depth == WIRE_MAX_DEPTH) return STEP_DAMAGED;
        Cursor inside = {c->window, c->at + (uint64_t)(p - start), c->end};
        uint32_t number = f->number;
        for (;;) {
            enum Step step = cursor_next_at(&inside, f, depth + 1, err);
            if (step == STEP_FAILED) return step;
            if (step != STEP_FIELD || (f->type == WIRE_BYTES && f->clipped)) return STEP_DAMAGED;
            if (f->type == WIRE_GROUP_END) break;
        }
        if (f->number != number) return STEP_DAMAGED;
        f->type = WIRE_GROUP;
        c->at = inside.at;
        return STEP_FIELD;
    }
    case WIRE_GROUP_END:
        if (!depth) return STEP_DAMAGED;
        break;
    default: return STEP_DAMAGED;
    }
    if (!p) return STEP_DAMAGED;
    c->at += (uint64_t)(p - start);
    return STEP_FIELD;
}

enum Step cursor_next(Cursor *c, FileField *f, ProfErr *err)
{
    return cursor_next_at(c, f, 0, err);
}

const uint8_t *cursor_payload(Window *window, Span span, ProfErr *err)
{
    size_t there;
    static const uint8_t nothing[1];
    return span.n_bytes ? window_at(window, span.offset, (size_t)span.n_bytes, &there, err)
                        : nothing;
}
