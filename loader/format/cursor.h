// SPDX-License-Identifier: Apache-2.0
/* cursor.h: the fields of a protobuf message that lies in a file, one after the other, without loading a payload that nobody
 * asked for.
 *
 *   Cursor c = {&window, span.offset, span.offset + span.n_bytes};
 *   FileField f;
 *   while ((step = cursor_next(&c, &f, err)) == STEP_FIELD) ...
 *   if (step == STEP_DAMAGED) the bytes from c.at on are no field; STEP_FAILED: err is set */
#ifndef PROF_CURSOR_H
#define PROF_CURSOR_H

#include "../run.h"
#include "wire.h"

typedef struct {
    Window *window;
    uint64_t at, end;
} Cursor;
enum Step { STEP_END, STEP_FIELD, STEP_DAMAGED, STEP_FAILED };

typedef struct {
    uint32_t number;
    uint8_t type;
    uint64_t value; /* varint and fixed types */
    Span payload;   /* WIRE_BYTES; clipped: it claims more than its message has */
    bool clipped;
    uint64_t missing; /* bytes claimed and not there */
} FileField;

enum Step cursor_next(Cursor *c, FileField *f, ProfErr *err);
/* The bytes of a payload, all in the window, until its next use; never NULL but on failure. */
const uint8_t *cursor_payload(Window *window, Span span, ProfErr *err);

#endif
