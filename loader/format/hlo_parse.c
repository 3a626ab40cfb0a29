// SPDX-License-Identifier: Apache-2.0
/* hlo_parse.c: parses the module of an HLO program; see hlo_parts.h. */
#include "hlo_parts.h"

#include "../base/interrupt.h"
#include "message.h"
#include "wire.h"

static int index_ops(HloModule *m, ProfErr *err)
{
    if (!small_reserve(&m->by_id, m->n_ops) || !small_reserve(&m->by_name, m->n_ops))
        return prof_nomem(err);
    m->unique = true;
    for (size_t i = 0; i < m->n_ops; i++) {
        if (i % 1024 == 0 && interrupt_poll(1024, err)) return err->code;
        const Xla__HloInstructionProto *op = hlo_op(m, i).instruction;
        size_t n_bytes = strlen(op->name);
        bool new_id = hlo_position(m, op->id) < 0,
             new_name = hlo_find_position(m, op->name, n_bytes) < 0;
        m->unique &= new_id && new_name;
        if (new_id) small_add(&m->by_id, hash64((uint64_t)op->id), i);
        if (new_name) small_add(&m->by_name, text_hash(op->name, n_bytes), i);
    }
    return PROF_OK;
}

static int index_computations(HloModule *m, bool *is_fusion, ProfErr *err)
{
    const Xla__HloModuleProto *hlo = m->proto->hlo_module;
    if (!small_reserve(&m->computation_by_id, hlo->n_computations)) return prof_nomem(err);
    for (size_t i = 0; i < hlo->n_computations; i++) {
        int64_t id = hlo->computations[i]->id;
        is_fusion[i] = hlo->computations[i]->is_fusion_computation;
        if (hlo_computation_position(m, id) < 0)
            small_add(&m->computation_by_id, hash64((uint64_t)id), i);
    }
    for (size_t i = 0; i < m->n_ops; i++) { /* older files do not mark fusions */
        const Xla__HloInstructionProto *op = hlo_op(m, i).instruction;
        if (strcmp(op->opcode, "fusion") != 0) continue;
        for (size_t k = 0; k < op->more->n_called_computation_ids; k++) {
            int64_t body = hlo_computation_position(m, op->more->called_computation_ids[k]);
            if (body >= 0) is_fusion[body] = true;
        }
    }
    m->is_fusion = is_fusion;
    return PROF_OK;
}

void hlo_module_free(HloModule *m)
{
    small_free(&m->by_id);
    small_free(&m->by_name);
    small_free(&m->computation_by_id);
}

static HloModule *module_make(const HloProgram *program, const Xla__HloProto *proto, ProfErr *err)
{
    Arena *arena = &program->state->arena;
    const Xla__HloModuleProto *hlo = proto->hlo_module;
    HloModule *m = arena_alloc(arena, sizeof *m);
    if (!m) {
        prof_nomem(err);
        return NULL;
    }
    *m = (HloModule){.host = program->host,
                     .program_id = program->program_id,
                     .name = hlo->name,
                     .proto = proto,
                     .n_bytes = program->span.n_bytes,
                     .repaired = program->repaired,
                     .state = program->state};
    m->first_op = arena_buffer(arena, hlo->n_computations * sizeof *m->first_op);
    for (size_t i = 0; m->first_op && i < hlo->n_computations; i++)
        m->first_op[i] = (uint32_t)m->n_ops, m->n_ops += hlo->computations[i]->n_instructions;
    m->computation_of = arena_buffer(arena, m->n_ops * sizeof *m->computation_of);
    if (!m->first_op || !m->computation_of) {
        prof_nomem(err);
        return NULL;
    }
    for (size_t i = 0; i < hlo->n_computations; i++)
        for (size_t k = 0; k < hlo->computations[i]->n_instructions; k++)
            m->computation_of[m->first_op[i] + k] = (uint32_t)i;
    bool *is_fusion = arena_alloc(arena, hlo->n_computations * sizeof *is_fusion);
    if (!is_fusion) {
        prof_nomem(err);
        return NULL;
    }
    if (index_ops(m, err) || index_computations(m, is_fusion, err)) {
        hlo_module_free(m);
        return NULL;
    }
    return m;
}

/* Copies the proto's bytes to the arena. NULL with err set. */
static uint8_t *program_bytes(const HloProgram *program, Arena *arena, ProfErr *err)
{
    const Host *host = program->host;
    size_t n_bytes = (size_t)program->span.n_bytes;
    File own = {0};
    if (program->beside)
        file_open(&own, program->path, err);
    else if (host->reader->is_program)
        file_reopen(&host->file, &own, err);
    if (err->code) return NULL;
    uint8_t *bytes = arena_buffer(arena, n_bytes);
    if (!bytes)
        prof_nomem(err);
    else
        file_read(own.path ? &own : &host->file, program->span.offset, bytes, n_bytes, err);
    if (own.path) file_close(&own);
    return err->code ? NULL : bytes;
}

/* Records the issue of reading a program, once. If there is no memory for the issue, err is set,
 * and the program counts as not yet read. */
static void report(const HloProgram *program, enum MessageState read, const MessageResult *result,
                   ProfErr *err)
{
    Run *run = program->host->run;
    unsigned lost_before = run->n_issues_lost;
    static const char *const why[] = {[MESSAGE_DAMAGED] = "its bytes are not an HloProto",
                                      [MESSAGE_DEEP] = "its messages are nested deeper than 100",
                                      [MESSAGE_COSTLY] = "it needs too much memory for its size"};
    struct HloProgramState *state = program->state;
    if (read == MESSAGE_NO_MEMORY || (state->checked && (state->bad || read == MESSAGE_READ)))
        return;
    state->checked = true;
    state->bad = read != MESSAGE_READ;
    if (state->bad)
        host_issue_in_file(
            program->host, "error", "unreadable_program", program->span.offset + result->at,
            program->span.n_bytes, program,
            "the HLO program %.200s(%llu) cannot be read: %s; its rows and costs are missing",
            program->name->text, (unsigned long long)program->program_id, why[read]);
    else if (result->repaired)
        host_issue_in_file(
            program->host, "warning", "invalid_utf8", program->span.offset, 0, program,
            "%zu texts of the HLO program %.200s are not valid UTF-8 and were repaired; "
            "XProf leaves this program out",
            result->repaired, program->name->text);
    if (run_issue_lost_since(run, lost_before, err)) state->checked = state->bad = false;
}

_Static_assert(sizeof(Xla__HloInstructionMore) + sizeof(Xla__HloInstructionRare) <=
                       MESSAGE_PARTS_BYTES &&
                   sizeof(Xla__LiteralRare) <= MESSAGE_PARTS_BYTES,
               "parts");

/* Returns the most memory that a program may take, with all results computed from it. */
static uint64_t most_bytes(const HloProgram *program)
{
    enum { FREE = 16 << 10 };
    return FREE + 2 * program->span.n_bytes + program->spare_bytes;
}

/* Returns the most memory that a program's indexes, text and heap results take. Its costs are not
 * included. */
static uint64_t result_bytes(const Xla__HloProto *proto)
{
    enum { OP = 31, COMPUTATION = 60, LOGICAL = 8, ALLOCATION = 96, ASSIGNED = 144, EVENT = 40 };
    const Xla__HloModuleProto *hlo = proto->hlo_module;
    uint64_t n = hlo->n_computations * COMPUTATION;
    for (size_t i = 0; i < hlo->n_computations; i++) n += hlo->computations[i]->n_instructions * OP;
    const Xla__BufferAssignmentProto *buffers = proto->buffer_assignment;
    if (!buffers) return n;
    n += buffers->n_logical_buffers * LOGICAL + buffers->n_buffer_allocations * ALLOCATION;
    for (size_t i = 0; i < buffers->n_buffer_allocations; i++)
        n += buffers->buffer_allocations[i]->n_assigned * ASSIGNED;
    for (size_t i = 0; i < buffers->n_heap_simulator_traces; i++)
        n += buffers->heap_simulator_traces[i]->n_events * EVENT;
    return n;
}

int hlo_parse_program(HloProgram *program, ProfErr *err)
{
    struct HloProgramState *state = program->state;
    Arena arena = {0};
    uint8_t *bytes = state->bad ? NULL : program_bytes(program, &arena, err);
    if (!bytes) {
        arena_free(&arena);
        return err->code;
    }
    uint64_t content_hash = hash_bytes(bytes, (size_t)program->span.n_bytes);
    MessageResult result;
    uint64_t most = most_bytes(program), taken = 0;
    enum MessageState read =
        message_unpack(&xla__hlo_proto__descriptor, bytes, (size_t)program->span.n_bytes, most,
                       &state->arena, &result);
    arena_free(&arena);
    const Xla__HloProto *proto = result.message;
    if (read == MESSAGE_READ && !proto->hlo_module) read = MESSAGE_DAMAGED;
    if (read == MESSAGE_READ) taken = state->arena.n_bytes + result_bytes(proto);
    if (taken > most) read = MESSAGE_COSTLY;
    report(program, read, &result, err);
    if (read == MESSAGE_NO_MEMORY) prof_nomem(err);
    if (read == MESSAGE_READ && !err->code) state->module = module_make(program, proto, err);
    if (state->module)
        state->module->content_hash = content_hash, state->module->spare_bytes = most - taken;
    else
        arena_free(&state->arena);
    return err->code;
}

static bool has_module(const uint8_t *p, size_t n_bytes)
{
    const uint8_t *end = p + n_bytes;
    for (Field f; p && p < end;) {
        p = wire_field(p, end, &f);
        if (p && f.number == 1) return true;
    }
    return false;
}

void hlo_check_program(const HloProgram *program, ProfErr *err)
{
    Arena arena = {0};
    uint8_t *bytes = program->state->checked ? NULL : program_bytes(program, &arena, err);
    if (bytes) {
        MessageResult result;
        enum MessageState read = message_check(&xla__hlo_proto__descriptor, bytes,
                                               (size_t)program->span.n_bytes, &result);
        if (read == MESSAGE_READ && !has_module(bytes, (size_t)program->span.n_bytes))
            read = MESSAGE_DAMAGED;
        report(program, read, &result, err);
    }
    arena_free(&arena);
}
