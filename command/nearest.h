// SPDX-License-Identifier: Apache-2.0
/* nearest.h: the names that a misspelt word may mean, as text for a message. */
#ifndef COMMAND_NEAREST_H
#define COMMAND_NEAREST_H

#include "../loader/base/nearest.h"

/* Returns "; nearest: a, b or c", or "" if no name is near. Kept memory. */
const char *nearest_text(const Nearest *nearest);

#endif
