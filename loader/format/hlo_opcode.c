// SPDX-License-Identifier: Apache-2.0
/* hlo_opcode.c: names of operations; see hlo_opcode.h. */
#include "hlo_opcode.h"

#include "../base/search.h"

static const struct {
    const char *name;
    bool elementwise;
    int8_t arity;
    bool plain;
} opcodes[] = {
#define HLO_ENTRY(id, ...) {__VA_ARGS__},
    HLO_OPCODES(HLO_ENTRY)
#undef HLO_ENTRY
};

enum HloOpcode hlo_opcode(const char *name)
{
    size_t at = LOWER_BOUND(i, 0, COUNT(opcodes), strcmp(opcodes[i].name, name) < 0);
    return at < COUNT(opcodes) && !strcmp(opcodes[at].name, name) ? (enum HloOpcode)at
                                                                  : HLO_UNKNOWN;
}

bool hlo_is_elementwise(enum HloOpcode opcode)
{
    return opcode != HLO_UNKNOWN && opcodes[opcode].elementwise;
}

int hlo_arity(enum HloOpcode opcode) { return opcode == HLO_UNKNOWN ? -1 : opcodes[opcode].arity; }

bool hlo_is_plain(enum HloOpcode opcode) { return opcode != HLO_UNKNOWN && opcodes[opcode].plain; }
