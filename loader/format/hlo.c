/* hlo.c: the table of a host's HLO programs, and their modules on first use; see hlo.h.
 *
 *   XPlane "/host:metadata"   4 event_metadata* {1 key 2 XEventMetadata}
 *   XEventMetadata            1 id  2 name "module(program id)"  5 stats*
 *   XStat                     1 metadata_id  6 bytes: the HloProto, when the stat is called "Hlo Proto"
 *   HloProto                  1 hlo_module {1 name ...}  3 buffer_assignment */
#include "hlo.h"

#include "cursor.h"
#include "message.h"
#include "xspace.h"

struct HloProgramState {
    HloModule *module; /* NULL: not tried, or it cannot be parsed */
    MessageMemory memory;
    HloProgram *first, *next;   /* of the same id */
    HloProgram *untried, *best; /* in the state of the first of an id: the next to parse, and the one that counts */
};

/* The result of the analysis. */
typedef struct {
    HloProgramList list;
    HloPrograms all;
    bool all_made;
    size_t capacity;
    HloProgram **by_id; /* the first of each id, open addressing */
    size_t n_slots;
    Arena arena;
    pthread_mutex_t lock; /* of the states and of `all` */
} Programs;

/* ---- the table ---- */

/* "module(123)": the number, and the length of what stands before it. */
static bool id_of_name(const Text *name, uint64_t *id, size_t *stem)
{
    const char *end = name->text + name->n_bytes, *p = end - 1;
    if (!name->n_bytes || *p != ')') return false;
    while (p > name->text && p[-1] >= '0' && p[-1] <= '9') p--;
    if (p == end - 1 || p == name->text || p[-1] != '(') return false;
    *stem = (size_t)(p - 1 - name->text), *id = 0;
    for (; *p != ')'; p++)
        if (__builtin_mul_overflow(*id, (uint64_t)10, id) || __builtin_add_overflow(*id, (uint64_t)(*p - '0'), id)) return false;
    return true;
}

static const Text *host_text(Host *host, const uint8_t *bytes, size_t n_bytes, ProfErr *err)
{
    pthread_mutex_lock(&host->lock);
    const Text *text = text_intern(&host->texts, &host->arena, bytes, n_bytes);
    pthread_mutex_unlock(&host->lock);
    if (!text) prof_nomem(err);
    return text;
}

/* The module's name as the proto has it: HloProto.hlo_module.name. NULL: it has none, or err is set. */
static const Text *name_in_proto(Host *host, Window *window, Span span, ProfErr *err)
{
    FileField f;
    Cursor outer = {window, span.offset, span.offset + span.n_bytes};
    while (cursor_next(&outer, &f, err) == STEP_FIELD) {
        if (f.number != 1 || f.type != WIRE_BYTES || f.clipped) continue;
        Cursor module = {window, f.payload.offset, f.payload.offset + f.payload.n_bytes};
        while (cursor_next(&module, &f, err) == STEP_FIELD) {
            if (f.number != 1 || f.type != WIRE_BYTES || f.clipped) continue;
            const uint8_t *bytes = cursor_payload(window, f.payload, err);
            return bytes ? host_text(host, bytes, (size_t)f.payload.n_bytes, err) : NULL;
        }
    }
    return NULL;
}

/* What the stats of an event metadata say of the program that it holds. */
typedef struct {
    Span proto;
    bool has_proto, has_id;
    uint64_t id;
} ProgramStats;

static int read_stat(const Plane *plane, Window *window, Span span, ProgramStats *stats, ProfErr *err)
{
    FileField f;
    Cursor c = {window, span.offset, span.offset + span.n_bytes};
    const StatMeta *meta = NULL;
    Span bytes = {0};
    bool is_bytes = false, is_integer = false;
    uint64_t integer = 0;
    while (cursor_next(&c, &f, err) == STEP_FIELD) {
        if (f.number == 1 && f.type == WIRE_VARINT) meta = stat_meta(plane, (int64_t)f.value);
        if (f.number == 6 && f.type == WIRE_BYTES && !f.clipped) is_bytes = true, bytes = f.payload;
        if ((f.number == 3 || f.number == 4) && f.type == WIRE_VARINT) is_integer = true, integer = f.value;
    }
    if (err->code || !meta) return err->code;
    if (is_bytes && !stats->has_proto && (!strcmp(meta->name->text, "Hlo Proto") || !strcmp(meta->name->text, "HLO Proto")))
        stats->has_proto = true, stats->proto = bytes;
    if (is_integer && !stats->has_id && meta->known == STAT_PROGRAM_ID) stats->has_id = true, stats->id = integer;
    return PROF_OK;
}

static int add_program(Programs *programs, Host *host, uint64_t id, const Text *name, Span span, ProfErr *err)
{
    if (!GROW(programs->list.programs, programs->list.n, programs->capacity)) return prof_nomem(err);
    struct HloProgramState *state = arena_alloc(&programs->arena, sizeof *state);
    if (!state) return prof_nomem(err);
    programs->list.programs[programs->list.n++] = (HloProgram){host, id, name, span, state};
    return PROF_OK;
}

/* When the list is complete: chains the programs of each id. */
static int index_programs(Programs *programs, ProfErr *err)
{
    programs->n_slots = 16;
    while (programs->n_slots < 2 * programs->list.n) programs->n_slots *= 2;
    programs->by_id = prof_alloc(programs->n_slots * sizeof *programs->by_id);
    if (!programs->by_id) return prof_nomem(err);
    for (size_t i = programs->list.n; i-- > 0;) {
        HloProgram *program = &programs->list.programs[i], **slot;
        size_t at = mix64(program->program_id) & (programs->n_slots - 1);
        while (*(slot = &programs->by_id[at]) && (*slot)->program_id != program->program_id) at = (at + 1) & (programs->n_slots - 1);
        program->state->next = *slot;
        program->state->untried = *slot = program;
    }
    for (size_t i = 0; i < programs->n_slots; i++)
        for (HloProgram *first = programs->by_id[i], *p = first; p; p = p->state->next) {
            p->state->first = first;
            if (p == first) continue;
            host_issue(p->host, "info", "duplicate_program", p->span.offset, 0, programs,
                       "one program id stands for several HLO modules (%llu: %.200s); the first counts", (unsigned long long)p->program_id, p->name->text);
        }
    return PROF_OK;
}

static HloProgram *first_of(const Programs *programs, uint64_t id)
{
    for (size_t at = mix64(id) & (programs->n_slots - 1); programs->by_id[at]; at = (at + 1) & (programs->n_slots - 1))
        if (programs->by_id[at]->program_id == id) return programs->by_id[at];
    return NULL;
}

static int read_entry(Programs *programs, const Plane *plane, const EventMeta *meta, Window *window, ProfErr *err)
{
    ProgramStats stats = {0};
    FileField f;
    Cursor c = {window, meta->span.offset, meta->span.offset + meta->span.n_bytes};
    while (!err->code && cursor_next(&c, &f, err) == STEP_FIELD)
        if (f.number == 5 && f.type == WIRE_BYTES && !f.clipped) read_stat(plane, window, f.payload, &stats, err);
    if (err->code || !stats.has_proto) return err->code;
    uint64_t id = (uint64_t)meta->id;
    size_t stem = meta->name->n_bytes;
    bool named = id_of_name(meta->name, &id, &stem); /* libtpu's metadata ids are not program ids: the name counts before them */
    if (stats.has_id) id = stats.id;
    const Text *name = name_in_proto(plane->host, window, stats.proto, err);
    if (!name && !err->code) name = named ? host_text(plane->host, (const uint8_t *)meta->name->text, stem, err) : meta->name;
    if (err->code) return err->code;
    return add_program(programs, plane->host, id, name, stats.proto, err);
}

static void programs_free(void *result)
{
    Programs *programs = result;
    for (size_t i = 0; i < programs->list.n; i++) {
        struct HloProgramState *state = programs->list.programs[i].state;
        if (state->module) prof_free(state->module->by_id), prof_free(state->module->by_name);
        message_memory_free(&state->memory);
    }
    prof_free(programs->list.programs);
    prof_free(programs->by_id);
    arena_free(&programs->arena);
    pthread_mutex_destroy(&programs->lock);
    prof_free(programs);
}

static void *programs_make(Run *run, Host *only, ProfErr *err)
{
    Host *host = only ? only : &run->hosts[0]; /* only is NULL for the host of a single-host run */
    Programs *programs = prof_alloc(sizeof *programs);
    if (!programs) return prof_nomem(err), NULL;
    pthread_mutex_init(&programs->lock, NULL);
    Window window = {.file = &host->file};
    for (size_t i = 0; i < host->n_planes && !err->code; i++) {
        const Plane *plane = &host->planes[i];
        if (strcmp(plane->name->text, "/host:metadata") != 0) continue;
        for (size_t k = 0; k < plane->n_declared && !err->code; k++)
            if (plane->event_metas[k].has_stats) read_entry(programs, plane, &plane->event_metas[k], &window, err);
    }
    window_free(&window);
    if (!err->code && !index_programs(programs, err)) return programs;
    programs_free(programs);
    return NULL;
}

static const Analysis programs_analysis = {programs_make, programs_free};

static Programs *programs_of(Host *host, ProfErr *err)
{
    return (Programs *)run_analysis(host->run, host, &programs_analysis, err); /* changed under its lock only */
}

const HloProgramList *hlo_program_list(Host *host, ProfErr *err)
{
    const Programs *programs = programs_of(host, err);
    return programs ? &programs->list : NULL;
}

/* ---- parsing ---- */

static uint64_t hash_name(const char *name, size_t n_bytes)
{
    uint64_t h = n_bytes;
    for (size_t i = 0; i < n_bytes; i++) h = (h ^ (uint8_t)name[i]) * 0x100000001b3u;
    return mix64(h);
}

static int index_ops(HloModule *m, ProfErr *err)
{
    m->n_slots = 16;
    while (m->n_slots < 2 * m->n_ops) m->n_slots *= 2;
    m->by_id = prof_alloc(m->n_slots * sizeof *m->by_id);
    m->by_name = prof_alloc(m->n_slots * sizeof *m->by_name);
    if (!m->by_id || !m->by_name) return prof_nomem(err);
    for (size_t i = 0; i < m->n_ops; i++) {
        const Xla__HloInstructionProto *op = m->ops[i].instruction;
        size_t slot = mix64((uint64_t)op->id) & (m->n_slots - 1);
        while (m->by_id[slot] && m->ops[m->by_id[slot] - 1].instruction->id != op->id) slot = (slot + 1) & (m->n_slots - 1);
        if (!m->by_id[slot]) m->by_id[slot] = (uint32_t)i + 1;
        slot = hash_name(op->name, strlen(op->name)) & (m->n_slots - 1);
        while (m->by_name[slot] && strcmp(m->ops[m->by_name[slot] - 1].instruction->name, op->name) != 0) slot = (slot + 1) & (m->n_slots - 1);
        if (!m->by_name[slot]) m->by_name[slot] = (uint32_t)i + 1;
    }
    return PROF_OK;
}

static HloModule *module_make(const HloProgram *program, const Xla__HloProto *proto, ProfErr *err)
{
    Arena *arena = &program->state->memory.arena;
    const Xla__HloModuleProto *hlo = proto->hlo_module;
    HloModule *m = arena_alloc(arena, sizeof *m);
    if (!m) return prof_nomem(err), NULL;
    *m = (HloModule){.host = program->host, .program_id = program->program_id, .name = hlo->name, .proto = proto, .n_bytes = program->span.n_bytes};
    for (size_t i = 0; i < hlo->n_computations; i++) m->n_ops += hlo->computations[i]->n_instructions;
    HloOp *ops = arena_alloc(arena, m->n_ops * sizeof *ops);
    if (!ops) return prof_nomem(err), NULL;
    m->ops = ops;
    for (size_t i = 0; i < hlo->n_computations; i++)
        for (size_t k = 0; k < hlo->computations[i]->n_instructions; k++) *ops++ = (HloOp){hlo->computations[i]->instructions[k], hlo->computations[i]};
    if (index_ops(m, err)) {
        prof_free(m->by_id);
        prof_free(m->by_name);
        return NULL;
    }
    m->held_bytes = arena->n_bytes + 2 * m->n_slots * sizeof *m->by_id;
    return m;
}

static void unreadable(const HloProgram *program, const char *why, size_t at)
{
    host_issue(program->host, "error", "unreadable_program", program->span.offset + at, program->span.n_bytes, program,
               "the HLO program %.200s(%llu) cannot be read: %s; its tables and costs are absent", program->name->text, (unsigned long long)program->program_id,
               why);
}

static int parse(HloProgram *program, ProfErr *err)
{
    static const char *const why[] = {[MESSAGE_DAMAGED] = "its bytes are no HloProto",
                                      [MESSAGE_DEEP] = "its messages are nested deeper than 100",
                                      [MESSAGE_COSTLY] = "it needs far more memory than its size can pay for"};
    struct HloProgramState *state = program->state;
    uint8_t *bytes = prof_alloc((size_t)program->span.n_bytes);
    if (!bytes) return prof_nomem(err);
    MessageResult result = {0};
    enum MessageState read = MESSAGE_DAMAGED;
    if (!file_read(&program->host->file, program->span.offset, bytes, (size_t)program->span.n_bytes, err))
        read = message_unpack(&xla__hlo_proto__descriptor, bytes, (size_t)program->span.n_bytes, &state->memory, &result);
    prof_free(bytes);
    const Xla__HloProto *proto = result.message;
    if (err->code || read == MESSAGE_NO_MEMORY) {
        prof_nomem(err);
    } else if (read != MESSAGE_READ) {
        unreadable(program, why[read], result.at);
    } else if (!proto->hlo_module) {
        unreadable(program, "it holds no module", 0);
    } else {
        if (result.repaired)
            host_issue(program->host, "warning", "invalid_utf8", program->span.offset, 0, program,
                       "%zu texts of the HLO program %.200s are not UTF-8 and were repaired; XProf leaves such a program out", result.repaired,
                       program->name->text);
        state->module = module_make(program, proto, err);
    }
    if (!state->module) message_memory_free(&state->memory);
    return err->code;
}

/* The program of an id that counts, with the lock held. */
static HloProgram *best_of(HloProgram *first, ProfErr *err)
{
    struct HloProgramState *id = first->state;
    while (!id->best && id->untried && !parse(id->untried, err)) {
        if (id->untried->state->module) id->best = id->untried;
        id->untried = id->untried->state->next;
    }
    return id->best;
}

const HloModule *hlo_open(HloProgram *program, ProfErr *err)
{
    Programs *programs = programs_of(program->host, err);
    if (!programs) return NULL;
    pthread_mutex_lock(&programs->lock);
    bool best = best_of(program->state->first, err) == program;
    pthread_mutex_unlock(&programs->lock);
    return best ? program->state->module : NULL;
}

const HloModule *hlo_program(Host *host, uint64_t program_id, ProfErr *err)
{
    Programs *programs = programs_of(host, err);
    HloProgram *first = programs ? first_of(programs, program_id) : NULL;
    if (!first) return NULL;
    pthread_mutex_lock(&programs->lock);
    const HloProgram *best = best_of(first, err);
    pthread_mutex_unlock(&programs->lock);
    return best ? best->state->module : NULL;
}

const HloPrograms *hlo_programs(Host *host, ProfErr *err)
{
    Programs *programs = programs_of(host, err);
    if (!programs) return NULL;
    pthread_mutex_lock(&programs->lock);
    if (!programs->all_made) {
        const HloModule **modules = arena_alloc(&programs->arena, programs->list.n * sizeof *modules);
        size_t n = 0;
        if (!modules) prof_nomem(err);
        for (size_t i = 0; i < programs->list.n && !err->code; i++) {
            HloProgram *program = &programs->list.programs[i];
            if (best_of(program->state->first, err) == program) modules[n++] = program->state->module;
        }
        if (!err->code) programs->all = (HloPrograms){modules, n}, programs->all_made = true;
    }
    pthread_mutex_unlock(&programs->lock);
    return err->code ? NULL : &programs->all;
}

/* ---- looking up ---- */

int64_t hlo_position(const HloModule *m, int64_t id)
{
    for (size_t slot = mix64((uint64_t)id) & (m->n_slots - 1); m->by_id[slot]; slot = (slot + 1) & (m->n_slots - 1))
        if (m->ops[m->by_id[slot] - 1].instruction->id == id) return m->by_id[slot] - 1;
    return -1;
}

const Xla__HloInstructionProto *hlo_instruction(const HloModule *m, int64_t id)
{
    int64_t position = hlo_position(m, id);
    return position < 0 ? NULL : m->ops[position].instruction;
}

const Xla__HloInstructionProto *hlo_find(const HloModule *m, const char *name, size_t n_bytes)
{
    for (size_t slot = hash_name(name, n_bytes) & (m->n_slots - 1); m->by_name[slot]; slot = (slot + 1) & (m->n_slots - 1)) {
        const Xla__HloInstructionProto *op = m->ops[m->by_name[slot] - 1].instruction;
        if (!strncmp(op->name, name, n_bytes) && !op->name[n_bytes]) return op;
    }
    return NULL;
}

const Xla__HloComputationProto *hlo_computation(const HloModule *m, int64_t id)
{
    const Xla__HloModuleProto *hlo = m->proto->hlo_module;
    for (size_t i = 0; i < hlo->n_computations; i++)
        if (hlo->computations[i]->id == id) return hlo->computations[i];
    return NULL;
}

const Xla__HloComputationProto *hlo_entry(const HloModule *m)
{
    const Xla__HloModuleProto *hlo = m->proto->hlo_module;
    const Xla__HloComputationProto *by_id = hlo_computation(m, hlo->entry_computation_id);
    if (by_id) return by_id;
    for (size_t i = 0; i < hlo->n_computations; i++)
        if (!strcmp(hlo->computations[i]->name, hlo->entry_computation_name)) return hlo->computations[i];
    return NULL;
}
