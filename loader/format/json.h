// SPDX-License-Identifier: Apache-2.0
/* json.h: reads what is asked for in JSON text, and passes over the rest unchecked: the configurations that compilers leave with their instructions. Damaged
 * text ends the reading early, and no more. */
#ifndef PROF_JSON_H
#define PROF_JSON_H

#include "../base.h"

typedef struct {
    const char *p, *end;
} Json;

/* Moves behind a character; false: blanks aside, another stands here. */
bool json_take(Json *j, char c);
/* Moves behind the value that begins here. */
void json_skip(Json *j);
/* Moves to the value of a member of the object that begins here. The key may be spelled as_here or asHere: protobuf takes both. False: it is no object, or
 * has no such member; j stands somewhere in it then. */
bool json_enter(Json *j, const char *name);
/* Moves behind a whole number from 0 on, bare or in quotes; false: it is none, or beyond int64. */
bool json_integer(Json *j, int64_t *value);

#endif
