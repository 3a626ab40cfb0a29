// SPDX-License-Identifier: Apache-2.0
/* cursor.h: walks the fields of a protobuf message in a file, without loading payloads that are not
 * needed.
 *
 *   Cursor c = {&window, span.offset, span.offset + span.n_bytes};
 *   FileField f;
 *   enum Step step;
 *   while ((step = cursor_next(&c, &f, err)) == STEP_FIELD) ...
 *   if (step == STEP_DAMAGED) ...   the bytes from c.at on are not a field
 *   if (step == STEP_FAILED) ...    err is set */
#ifndef PROF_CURSOR_H
#define PROF_CURSOR_H

#include "../run.h"
#include "wire.h"

/* The bytes of a message that have not been read yet. */
typedef struct {
    Window *window;
    uint64_t at, end;
} Cursor;
enum Step { STEP_END, STEP_FIELD, STEP_DAMAGED, STEP_FAILED };

/* A field of a message in the file. */
typedef struct {
    uint32_t number;
    uint8_t type;
    uint64_t value;   /* value of varint and fixed-size fields */
    Span payload;     /* place of a WIRE_BYTES payload in the file */
    bool clipped;     /* the payload was cut at the message's end */
    uint64_t missing; /* payload bytes that the field claims beyond the message's end */
} FileField;

/* Reads the next field into *f and moves after it. */
enum Step cursor_next(Cursor *c, FileField *f, ProfErr *err);
/* Returns the bytes of a payload, valid until the next use of the window. NULL only on failure: an
 * empty payload has an address too. */
const uint8_t *cursor_payload(Window *window, Span span, ProfErr *err);

#endif
