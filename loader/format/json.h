// SPDX-License-Identifier: Apache-2.0
/* json.h: finds members in JSON text, such as the backend configs that compilers store with
 * instructions. It does not check what it skips. Damaged text ends the search early and does no
 * harm. */
#ifndef PROF_JSON_H
#define PROF_JSON_H

#include "../base/base.h"

/* JSON text that has not been read yet. */
typedef struct {
    const char *p, *end;
} Json;

/* Skips blanks and then the character c. False if another character follows; j is then after the
 * blanks. */
bool json_accept(Json *j, char c);
/* Skips the value that starts here. */
void json_skip(Json *j);
/* Moves to the value of a member of the object that starts here. `name` is in snake_case; a key in
 * camelCase matches too, as in protobuf. False if this is not an object or has no such member; j is
 * then somewhere inside it. */
bool json_enter(Json *j, const char *name);
/* Reads a non-negative integer, bare or in quotes, and moves after it. False if there is none or it
 * exceeds int64. */
bool json_integer(Json *j, int64_t *value);

#endif
