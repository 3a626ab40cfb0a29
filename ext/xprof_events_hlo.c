// SPDX-License-Identifier: Apache-2.0
/* xprof_events_hlo.c: HLO instructions for the table xprof_events; see xprof_events_hlo.h. */
#include "xprof_events_hlo.h"

#include "../loader/format/hlo_text.h"
SQLITE_EXTENSION_INIT3

static bool add_shape(sqlite3_str *json, const Xla__ShapeProto *shape)
{
    TextBuffer text = {0};
    text_add(&text, "");
    bool memory = hlo_shape_text(shape, false, &text) != NULL;
    if (memory) json_text(json, text.text, text.n_bytes);
    text_free(&text);
    return memory;
}

static char *shapes_of(const HloModule *module, const Xla__HloInstructionProto *op, bool operands,
                       ProfErr *err)
{
    sqlite3_str *json = sqlite3_str_new(NULL);
    bool memory = true;
    sqlite3_str_appendchar(json, 1, '[');
    for (size_t i = 0; operands && i < op->n_operand_ids && memory; i++) {
        const Xla__HloInstructionProto *operand = hlo_instruction(module, op->operand_ids[i]);
        if (!operand) continue;
        if (sqlite3_str_length(json) > 1) sqlite3_str_appendchar(json, 1, ',');
        memory = add_shape(json, operand->shape);
    }
    if (!operands) memory = add_shape(json, op->shape);
    bool none = sqlite3_str_length(json) == 1;
    sqlite3_str_appendchar(json, 1, ']');
    memory &= sqlite3_str_errcode(json) == SQLITE_OK;
    char *text = sqlite3_str_finish(json);
    if (!memory) prof_nomem(err);
    if (memory && !none) return text;
    sqlite3_free(text);
    return NULL;
}

static void detail_free(HloDetail *d)
{
    if (!d) return;
    sqlite3_free(d->provenance);
    sqlite3_free(d->inputs);
    sqlite3_free(d->outputs);
    prof_free(d);
}

const HloDetail *hlo_detail(HloDetails *all, const HloModule *module,
                            const Xla__HloInstructionProto *op, ProfErr *err)
{
    uint64_t hash = hash64((uintptr_t)op);
    HASH_EACH(i, &all->by_op, hash)
        if (all->details.items[i]->op == op) return all->details.items[i];
    HloDetail *d = prof_alloc(sizeof *d);
    if (!d) {
        prof_nomem(err);
        return NULL;
    }
    const Xla__OpMetadata *metadata = op->metadata;
    bool named = metadata && (*metadata->op_name || *metadata->op_type);
    *d = (HloDetail){.op = op,
                     .provenance =
                         named ? sqlite3_mprintf("%s:%s", metadata->op_name, metadata->op_type)
                               : sqlite3_mprintf("")};
    d->inputs = shapes_of(module, op, true, err);
    d->outputs = shapes_of(module, op, false, err);
    d->has_fingerprint = hlo_fingerprint(module, op, &d->fingerprint, err);
    if (!d->provenance) prof_nomem(err);
    HloDetail **place = err->code ? NULL : PUSH_KEYED(all->details, &all->by_op, hash);
    if (place) return *place = d;
    prof_nomem(err);
    detail_free(d);
    return NULL;
}

void hlo_details_free(HloDetails *all)
{
    for (size_t i = 0; i < all->details.n; i++) detail_free(all->details.items[i]);
    prof_free(all->details.items);
    hash_free(&all->by_op);
}
