// SPDX-License-Identifier: Apache-2.0
/* hlo.c: the table of a host's HLO programs, and their modules on first use; see hlo.h.
 *
 *   XPlane "/host:metadata"   4 event_metadata* {1 key 2 XEventMetadata}
 *   XEventMetadata            1 id  2 name "module(program id)"  5 stats*
 *   XStat                     1 metadata_id  6 bytes: the HloProto, if the stat is "Hlo Proto"
 *   HloProto                  1 hlo_module {1 name ...}  3 buffer_assignment */
#define _GNU_SOURCE
#include "hlo.h"

#include "../base/interrupt.h"
#include "../memo.h"
#include "../source.h"
#include "cursor.h"
#include "hlo_parts.h"
#include "xspace.h"

/* The result of the analysis `programs`. */
typedef struct {
    HloProgramList list;
    HloPrograms all;
    bool all_made;
    size_t capacity;
    HashTable by_id; /* of the list: the first program of each id */
    Arena arena;
    pthread_mutex_t lock;   /* for the states and `all`; see hold() */
    unsigned n_held, depth; /* how often it is held, and interrupt_depth() at that time */
    pthread_mutex_t
        /* for the states' results; recursive, because an analysis may ask for another */
        results_lock;
} Programs;

/* ---- the table ---- */

/* Splits "module(123)" into the number and the length of the text before it. */
static bool id_of_name(const char *name, size_t n_bytes, uint64_t *id, size_t *stem)
{
    if (n_bytes < 3 || name[n_bytes - 1] != ')') return false;
    size_t digits = n_bytes - 1;
    while (digits > 0 && name[digits - 1] >= '0' && name[digits - 1] <= '9') digits--;
    if (digits == n_bytes - 1 || !digits || name[digits - 1] != '(') return false;
    uint64_t value = 0;
    for (size_t i = digits; i < n_bytes - 1; i++)
        if (__builtin_mul_overflow(value, (uint64_t)10, &value) ||
            __builtin_add_overflow(value, (uint64_t)(name[i] - '0'), &value))
            return false;
    *id = value, *stem = digits - 1;
    return true;
}

bool hlo_program_id(const Text *name, uint64_t *id)
{
    size_t stem;
    return id_of_name(name->text, name->n_bytes, id, &stem);
}

const Text *hlo_program_entry(const Host *host, uint64_t program_id)
{
    for (size_t i = 0; i < host->n_planes; i++) {
        const Plane *plane = &host->planes[i];
        int64_t k = plane->prefix == PREFIX_METADATA && plane->is_prefix
                        ? id_find(&plane->event_ids, plane->event_metas, sizeof(EventMeta),
                                  (int64_t)program_id)
                        : -1;
        uint64_t named;
        if (k >= 0)
            return hlo_program_id(plane->event_metas[k].name, &named) && named != program_id
                       ? NULL
                       : plane->event_metas[k].name;
    }
    return NULL;
}

/* What is known of a program without parsing it: HloProto.hlo_module.{name, id}. */
typedef struct {
    const Text *name; /* NULL if it has none */
    uint64_t id;
    bool is_program; /* it has a module with computations, and every field of proto and module is
                        complete */
} Header;

/* Reads a program's header. With name_only it stops at the name, which writers put first. */
static int read_header(Host *host, Window *window, Span span, bool name_only, Header *header,
                       ProfErr *err)
{
    *header = (Header){0};
    FileField f;
    enum Step step, inner = STEP_END;
    bool clipped = false, computations = false;
    Cursor outer = {window, span.offset, span.offset + span.n_bytes};
    while (inner == STEP_END && (step = cursor_next(&outer, &f, err)) == STEP_FIELD) {
        clipped |= f.clipped;
        if (f.number != 1 || f.type != WIRE_BYTES) continue;
        Cursor module = {window, f.payload.offset, f.payload.offset + f.payload.n_bytes};
        while ((inner = cursor_next(&module, &f, err)) == STEP_FIELD) {
            clipped |= f.clipped;
            if (f.number == 5 && f.type == WIRE_VARINT) header->id = f.value;
            if (f.number == 3 && f.type == WIRE_BYTES) computations = true;
            if (f.number != 1 || f.type != WIRE_BYTES || f.clipped) continue;
            const uint8_t *bytes = cursor_payload(window, f.payload, err);
            header->name = bytes ? host_text(host, bytes, (size_t)f.payload.n_bytes, err) : NULL;
            if (name_only || err->code) return err->code;
        }
    }
    header->is_program =
        inner == STEP_END && step == STEP_END && !clipped && computations && header->name;
    return err->code;
}

/* What the stats of an event metadata say about the program in it. */
typedef struct {
    Span proto;
    bool has_proto, has_id, respelled;
    uint64_t id;
} ProgramStats;

static int read_stat(const Plane *plane, Window *window, Span span, ProgramStats *stats,
                     ProfErr *err)
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
        if ((f.number == 3 || f.number == 4) && f.type == WIRE_VARINT)
            is_integer = true, integer = f.value;
    }
    if (err->code || !meta) return err->code;
    bool respelled = !strcmp(meta->name->text, "HLO Proto");
    if (is_bytes && !stats->has_proto && (respelled || !strcmp(meta->name->text, "Hlo Proto")))
        stats->has_proto = true, stats->proto = bytes, stats->respelled = respelled;
    if (is_integer && !stats->has_id && meta->known == STAT_PROGRAM_ID)
        stats->has_id = true, stats->id = integer;
    return PROF_OK;
}

static int add_program(Programs *programs, HloProgram program, ProfErr *err)
{
    if (!GROW(programs->list.programs, programs->list.n, programs->capacity))
        return prof_nomem(err);
    program.state = arena_alloc(&programs->arena, sizeof *program.state);
    if (!program.state) return prof_nomem(err);
    programs->list.programs[programs->list.n++] = program;
    return PROF_OK;
}

static HloProgram *first_of(const Programs *programs, uint64_t id)
{
    uint64_t hash = hash64(id);
    HASH_EACH(i, &programs->by_id, hash)
        if (programs->list.programs[i].program_id == id) return &programs->list.programs[i];
    return NULL;
}

/* Links the programs of each id, once the list is complete. */
static int index_programs(Programs *programs, ProfErr *err)
{
    for (size_t i = 0; i < programs->list.n; i++) {
        HloProgram *program = &programs->list.programs[i],
                   *first = first_of(programs, program->program_id);
        if (first) /* add it after the last program with this id */
            first->state->untried->state->next = program;
        else if (!hash_add(&programs->by_id, hash64(program->program_id), i))
            return prof_nomem(err);
        (first ? first : program)->state->untried = program;
    }
    for (size_t i = 0; i < programs->list.n; i++) {
        HloProgram *first = &programs->list.programs[i];
        if (first->state->first) continue; /* in the chain of an earlier program */
        for (HloProgram *p = first; p; p = p->state->next) {
            p->state->first = first, p->state->untried = p;
            if (p == first) continue;
            host_issue_in_file(
                p->host, "info", "duplicate_program", p->span.offset, 0, programs,
                "several HLO modules have the same program id (%llu: %.200s); only the "
                "first is used",
                (unsigned long long)p->program_id, p->name->text);
        }
    }
    return PROF_OK;
}

static int read_entry(Programs *programs, const Plane *plane, const EventMeta *meta, Window *window,
                      ProfErr *err)
{
    ProgramStats stats = {0};
    FileField f;
    Cursor c = {window, meta->span.offset, meta->span.offset + meta->span.n_bytes};
    uint64_t own_id = 0;
    while (!err->code && cursor_next(&c, &f, err) == STEP_FIELD) {
        if (f.number == 5 && f.type == WIRE_BYTES && !f.clipped)
            read_stat(plane, window, f.payload, &stats, err);
        if (f.number == 1 && f.type == WIRE_VARINT) own_id = f.value;
    }
    if (err->code || !stats.has_proto) return err->code;
    uint64_t id = (uint64_t)meta->id;
    size_t stem = meta->name->n_bytes;
    bool named = id_of_name(
        meta->name->text, meta->name->n_bytes, &id,
        &stem); /* the name counts first, because libtpu's metadata ids are not program ids */
    if (stats.has_id) id = stats.id;
    Header header;
    read_header(plane->host, window, stats.proto, true, &header, err);
    const Text *name = header.name;
    if (!name && !err->code)
        name = named ? host_text(plane->host, (const uint8_t *)meta->name->text, stem, err)
                     : meta->name;
    if (err->code) return err->code;
    return add_program(programs,
                       (HloProgram){.host = plane->host,
                                    .program_id = id,
                                    .name = name,
                                    .path = plane->host->file.path,
                                    .span = stats.proto,
                                    .plane = plane->name,
                                    .repaired = stats.respelled || (!stats.has_id && own_id != id),
                                    .extra = !plane->is_prefix},
                       err);
}

static void programs_free(void *result)
{
    Programs *programs = result;
    for (size_t i = 0; i < programs->list.n; i++) {
        struct HloProgramState *state = programs->list.programs[i].state;
        while (state->results) {
            HloResult *r = state->results;
            state->results = r->next;
            r->analysis->release(r->result);
            prof_free(r);
        }
        if (state->module) hlo_module_free(state->module);
        arena_free(&state->arena);
    }
    prof_free(programs->list.programs);
    hash_free(&programs->by_id);
    arena_free(&programs->arena);
    pthread_mutex_destroy(&programs->lock);
    pthread_mutex_destroy(&programs->results_lock);
    prof_free(programs);
}

/* ---- files of one program ---- */

/* Reads the header of an open file, and the program id: from the file name, such as
 * "jit_step(12).hlo_proto.pb", else from the module. */
static int file_header(Host *host, const File *file, Header *header, bool *named, ProfErr *err)
{
    Window window = {.file = file};
    read_header(host, &window, (Span){0, file->n_bytes}, false, header, err);
    window_free(&window);
    if (!err->code && !header->is_program)
        prof_fail(
            err, PROF_FORMAT, 0,
            "%s: is not a complete HloProto; give a *.hlo.pb from an XLA dump or a *.hlo_proto.pb",
            file->path);
    const char *slash = strrchr(file->path, '/'), *name = slash ? slash + 1 : file->path;
    size_t stem;
    *named = id_of_name(name, program_name_length(name), &header->id, &stem);
    return err->code;
}

/* Checks that the file is an HloProto, without reading all of it, and completes host->file. */
static int check_file(Host *host, ProfErr *err)
{
    Header header;
    bool named;
    File file;
    if (file_reopen(&host->file, &file, err)) return err->code;
    if (!file_header(host, &file, &header, &named, err))
        host->file.n_bytes = file.n_bytes, host->file.gzipped = file.gzipped;
    file_close(&file);
    return err->code;
}

/* Adds the program of a host that is a file of a dump. */
static int add_host_file(Programs *programs, Host *host, ProfErr *err)
{
    Header header;
    bool named;
    File file;
    if (!host->readable || file_reopen(&host->file, &file, err)) return err->code;
    if (!file_header(host, &file, &header, &named, err))
        add_program(programs,
                    (HloProgram){.host = host,
                                 .program_id = header.id,
                                 .name = header.name,
                                 .path = host->file.path,
                                 .span = {0, file.n_bytes}},
                    err);
    file_close(&file);
    return err->code;
}

static Programs *programs_of(Host *host, ProfErr *err);

/* Returns whether a plane of the run contains this program: one with its id or, if its file has no
 * id, with its name. */
static bool in_planes(Run *run, const Programs *programs, size_t n, const Header *header,
                      bool named, ProfErr *err)
{
    for (size_t h = 0; h < run->n_hosts && !err->code; h++) {
        const Programs *other = h ? programs_of(&run->hosts[h], err) : programs;
        for (size_t i = 0; other && i < (h ? other->list.n : n); i++) {
            const HloProgram *p = &other->list.programs[i];
            if (p->extra) continue;
            if (named ? p->program_id == header->id
                      : p->name == header->name || !strcmp(p->name->text, header->name->text))
                return true;
        }
    }
    return false;
}

static int add_files_beside(Programs *programs, Run *run, ProfErr *err)
{
    Host *host = &run->hosts[0];
    size_t n_in_planes = programs->list.n;
    for (size_t i = 0; i < run->n_programs && !err->code; i++) {
        Header header;
        bool named;
        File file;
        ProfErr why = {0};
        uint64_t size;
        int64_t mtime;
        if (!file_identity(run->programs[i], &size, &mtime) || !size)
            continue; /* NO_MODULE.hlo_proto.pb is an empty marker file */
        if (!file_open(&file, run->programs[i], &why)) {
            if (!file_header(host, &file, &header, &named, &why) &&
                !in_planes(run, programs, n_in_planes, &header, named, err))
                add_program(programs,
                            (HloProgram){.host = host,
                                         .program_id = header.id,
                                         .name = header.name,
                                         .path = run->programs[i],
                                         .span = {0, file.n_bytes},
                                         .beside = true,
                                         .extra = true},
                            err);
            file_close(&file);
        }
        if (is_fault_of_none(why.code))
            *err = why;
        else if (why.code)
            host_issue_in_file(host, "error", "unreadable_program", 0, size, run->programs[i], "%s",
                               why.text);
    }
    return err->code;
}

/* ---- the analysis ---- */

/* Adds the programs in planes of the host itself (own) or of its sub-processes. Ids of
 * sub-processes may be in use already: then the earlier program counts. */
static void add_planes(Programs *programs, Host *host, bool own, Window *window, ProfErr *err)
{
    for (size_t i = 0; i < host->n_planes && !err->code; i++) {
        const Plane *plane = &host->planes[i];
        size_t before = programs->list.n;
        if (plane->kind != PLANE_METADATA || plane->is_prefix != own) continue;
        for (size_t k = 0; k < plane->n_declared && !err->code; k++)
            if (plane->event_metas[k].has_stats)
                read_entry(programs, plane, &plane->event_metas[k], window, err);
        if (!own && programs->list.n > before)
            host_issue_in_file(
                host, "info", "programs_of_subprocesses", plane->span.offset, 0, plane,
                "XProf does not show the %zu programs of %.200s; those with the id of a "
                "program of the host are not shown here either",
                programs->list.n - before, plane->name->text);
    }
}

/* Divides the memory that programs may take beyond twice their size. Programs that compilers write
 * for TPUs take 1 to 3 times their size, those for GPUs and CPUs up to 5 times, but an empty
 * message of two bytes becomes a struct of 64 to 500. So a file may take SPARE bytes more, and one
 * for each of its bytes that is no program, of which each program gets its share. */
static void divide_spare_bytes(Programs *programs, const Host *host)
{
    enum { SPARE = 60 << 20 };
    uint64_t all = 0, file = host->file.n_bytes;
    for (size_t i = 0; i < programs->list.n; i++)
        if (programs->list.programs[i].plane) all += programs->list.programs[i].span.n_bytes;
    double spare = SPARE + (double)(file > all ? file - all : 0);
    for (size_t i = 0; i < programs->list.n; i++) {
        HloProgram *p = &programs->list.programs[i];
        bool shares = p->plane && all;
        p->spare_bytes = shares ? (uint64_t)(spare / (double)all * (double)p->span.n_bytes) : SPARE;
    }
}

static void *programs_make(Run *run, Host *only, ProfErr *err)
{
    /* `only` is NULL for the host of a single-host run */
    Host *host = only ? only : &run->hosts[0];
    Programs *programs = prof_alloc(sizeof *programs);
    if (!programs) {
        prof_nomem(err);
        return NULL;
    }
    pthread_mutexattr_t recursive;
    pthread_mutexattr_init(&recursive);
    pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&programs->lock, &recursive);
    pthread_mutex_init(&programs->results_lock, &recursive);
    pthread_mutexattr_destroy(&recursive);
    Window window = {.file = &host->file};
    add_planes(programs, host, true, &window, err);
    if (!err->code && host->reader->is_program) add_host_file(programs, host, err);
    if (!err->code && host == &run->hosts[0]) add_files_beside(programs, run, err);
    add_planes(programs, host, false, &window, err);
    window_free(&window);
    divide_spare_bytes(programs, host);
    if (!err->code && !index_programs(programs, err)) return programs;
    programs_free(programs);
    return NULL;
}

static const Analysis programs_analysis = {programs_make, programs_free, NEEDS_NO_EVENTS};

static Programs *programs_of(Host *host, ProfErr *err)
{
    return (Programs *)run_analysis(host->run, host, &programs_analysis,
                                    err); /* changed only under its lock */
}

const HloProgramList *hlo_program_list(Host *host, ProfErr *err)
{
    const Programs *programs = programs_of(host, err);
    return programs ? &programs->list : NULL;
}

HloProgram *hlo_find_program(Host *host, uint64_t program_id, ProfErr *err)
{
    const Programs *programs = programs_of(host, err);
    return programs ? first_of(programs, program_id) : NULL;
}

HloProgram *hlo_next_of_id(const HloProgram *program) { return program->state->next; }

/* Takes the lock. False with err set for a statement that runs in a progress handler while this
 * thread reads a program: that program is not there yet. */
static bool hold(Programs *programs, Host *host, ProfErr *err)
{
    if (!interrupt_lock(&programs->lock, err)) return false;
    if (programs->n_held && interrupt_depth() > programs->depth) {
        pthread_mutex_unlock(&programs->lock);
        run_is_busy(host->run, err);
        return false;
    }
    if (!programs->n_held++) programs->depth = interrupt_depth();
    return true;
}

static void let_go(Programs *programs)
{
    programs->n_held--;
    pthread_mutex_unlock(&programs->lock);
}

/* ---- modules on first use ---- */

/* Passes a program to its judge, parsed only for that if it is not parsed yet. False if it cannot
 * be parsed. */
static bool be_judged(HloProgram *program, HloJudge *judge, ProfErr *err)
{
    struct HloProgramState *state = program->state;
    bool kept = state->module;
    if ((!kept && hlo_parse_program(program, err)) || !state->module) return false;
    unsigned lost_before = program->host->run->n_issues_lost;
    judge(state->module, err);
    run_issue_lost_since(program->host->run, lost_before, err);
    if (!kept) {
        hlo_module_free(state->module);
        arena_free(&state->arena);
        state->module = NULL;
    }
    return !err->code;
}

int hlo_check_programs(Host *host, HloJudge *judge, ProfErr *err)
{
    Programs *programs = programs_of(host, err);
    if (!programs || !hold(programs, host, err)) return err->code;
    for (size_t i = 0; i < programs->list.n && !interrupt_poll(16, err); i++) {
        HloProgram *program = &programs->list.programs[i], *first = program->state->first;
        if (!host->reader->is_program && !first->extra && !first->state->judged)
            first->state->judged = be_judged(program, judge, err);
        else
            hlo_check_program(program, err);
    }
    let_go(programs);
    return err->code;
}

/* Returns the program that counts for an id. The caller holds the lock. */
static HloProgram *best_of(HloProgram *first, ProfErr *err)
{
    struct HloProgramState *id = first->state;
    while (!id->best && id->untried && !hlo_parse_program(id->untried, err)) {
        if (id->untried->state->module) id->best = id->untried;
        id->untried = id->untried->state->next;
    }
    return id->best;
}

const HloModule *hlo_open(HloProgram *program, ProfErr *err)
{
    Programs *programs = programs_of(program->host, err);
    if (!programs || !hold(programs, program->host, err)) return NULL;
    bool best = best_of(program->state->first, err) == program;
    let_go(programs);
    return best ? program->state->module : NULL;
}

const HloModule *hlo_program(Host *host, uint64_t program_id, ProfErr *err)
{
    Programs *programs = programs_of(host, err);
    HloProgram *first = programs ? first_of(programs, program_id) : NULL;
    if (!first || first->extra || !hold(programs, host, err)) return NULL;
    const HloProgram *best = best_of(first, err);
    let_go(programs);
    return best ? best->state->module : NULL;
}

const HloPrograms *hlo_programs(Host *host, ProfErr *err)
{
    Programs *programs = programs_of(host, err);
    if (!programs || !hold(programs, host, err)) return NULL;
    if (!programs->all_made) {
        const HloModule **modules =
            arena_alloc(&programs->arena, programs->list.n * sizeof *modules);
        size_t n = 0;
        if (!modules) prof_nomem(err);
        for (size_t i = 0; i < programs->list.n && !programs->list.programs[i].extra && !err->code;
             i++) {
            HloProgram *program = &programs->list.programs[i];
            if (best_of(program->state->first, err) == program)
                modules[n++] = program->state->module;
        }
        if (!err->code) programs->all = (HloPrograms){modules, n}, programs->all_made = true;
    }
    let_go(programs);
    return err->code ? NULL : &programs->all;
}

static void *make_result(const HloModule *module, const HloAnalysis *analysis, ProfErr *err)
{
    Run *run = module->host->run;
    unsigned lost_before = run->n_issues_lost;
    void *made = analysis->make(module, err);
    if (result_is_incomplete(run, lost_before, err) && made) analysis->release(made), made = NULL;
    return made;
}

const void *hlo_analysis(const HloModule *module, const HloAnalysis *analysis, ProfErr *err)
{
    Programs *programs = programs_of(module->host, err);
    if (!programs || !interrupt_lock(&programs->results_lock, err)) return NULL;
    const void *result = NULL;
    for (const HloResult *r = module->state->results; r && !result; r = r->next)
        if (r->analysis == analysis) result = r->result;
    if (!result) {
        HloResult *kept = prof_alloc(sizeof *kept);
        void *made = kept ? make_result(module, analysis, err) : (prof_nomem(err), NULL);
        if (made)
            *kept = (HloResult){module->state->results, analysis, made},
            module->state->results = kept, result = made;
        else
            prof_free(kept);
    }
    pthread_mutex_unlock(&programs->results_lock);
    return result;
}

/* ---- looking up ---- */

int64_t hlo_position(const HloModule *m, int64_t id)
{
    uint64_t hash = hash64((uint64_t)id);
    SMALL_EACH(i, &m->by_id, hash)
        if (hlo_op(m, i).instruction->id == id) return (int64_t)i;
    return -1;
}

const Xla__HloInstructionProto *hlo_instruction(const HloModule *m, int64_t id)
{
    int64_t position = hlo_position(m, id);
    return position < 0 ? NULL : hlo_op(m, position).instruction;
}

int64_t hlo_find_position(const HloModule *m, const char *name, size_t n_bytes)
{
    uint64_t hash = text_hash(name, n_bytes);
    SMALL_EACH(i, &m->by_name, hash) {
        const char *found = hlo_op(m, i).instruction->name;
        if (!strncmp(found, name, n_bytes) && !found[n_bytes]) return (int64_t)i;
    }
    return -1;
}

const Xla__HloInstructionProto *hlo_find(const HloModule *m, const char *name, size_t n_bytes)
{
    int64_t position = hlo_find_position(m, name, n_bytes);
    return position < 0 ? NULL : hlo_op(m, position).instruction;
}

int64_t hlo_computation_position(const HloModule *m, int64_t id)
{
    Xla__HloComputationProto *const *computations = m->proto->hlo_module->computations;
    uint64_t hash = hash64((uint64_t)id);
    SMALL_EACH(i, &m->computation_by_id, hash)
        if (computations[i]->id == id) return (int64_t)i;
    return -1;
}

const Xla__HloComputationProto *hlo_computation(const HloModule *m, int64_t id)
{
    int64_t position = hlo_computation_position(m, id);
    return position < 0 ? NULL : m->proto->hlo_module->computations[position];
}

const Xla__HloComputationProto *hlo_entry(const HloModule *m)
{
    const Xla__HloModuleProto *hlo = m->proto->hlo_module;
    const Xla__HloComputationProto *by_id = hlo_computation(m, hlo->entry_computation_id);
    if (by_id) return by_id;
    for (size_t i = 0; i < hlo->n_computations; i++)
        if (!strcmp(hlo->computations[i]->name, hlo->entry_computation_name))
            return hlo->computations[i];
    return NULL;
}

const uint8_t *hlo_backend_config(const HloModule *m, const Xla__HloInstructionProto *op,
                                  size_t *n_bytes)
{
    const Xla__HloModuleProto *hlo = m->proto->hlo_module;
    const Xla__HloInstructionProto__BackendConfigPayload *payload =
        op->more->backend_config_payload;
    ProtobufCBinaryData config = op->more->backend_config;
    if (payload && payload->value.len)
        config = payload->value;
    else if (payload && payload->id >= 0 && (uint64_t)payload->id < hlo->n_payloads)
        config = hlo->payloads[payload->id];
    *n_bytes = config.len;
    return config.len ? config.data : (const uint8_t *)"";
}

bool hlo_frame(const HloModule *m, int32_t id, HloFrame *frame)
{
    const Xla__StackFrameIndexProto *index = m->proto->hlo_module->stack_frame_index;
    if (!index || id < 1 || (size_t)id > index->n_stack_frames) return false;
    const Xla__StackFrameIndexProto__StackFrame *f = index->stack_frames[id - 1];
    *frame = (HloFrame){.file = "", .function = "", .parent_id = f->parent_frame_id};
    if (f->file_location_id < 1 || (size_t)f->file_location_id > index->n_file_locations)
        return true;
    const Xla__StackFrameIndexProto__FileLocation *at =
        index->file_locations[f->file_location_id - 1];
    frame->line = at->line, frame->column = at->column;
    if (at->file_name_id >= 1 && (size_t)at->file_name_id <= index->n_file_names)
        frame->file = index->file_names[at->file_name_id - 1];
    if (at->function_name_id >= 1 && (size_t)at->function_name_id <= index->n_function_names)
        frame->function = index->function_names[at->function_name_id - 1];
    return true;
}

bool hlo_source(const HloModule *m, const Xla__HloInstructionProto *op, const char **file,
                int32_t *line)
{
    HloFrame frame;
    if (!op->metadata) return false;
    *file = op->metadata->source_file, *line = op->metadata->source_line;
    if (!**file && hlo_frame(m, op->metadata->stack_frame_id, &frame))
        *file = frame.file, *line = frame.line;
    return **file != 0;
}

/* ---- the format ---- */

static const char *const suffixes[] = {".hlo_proto.pb.gz", ".hlo.pb.gz", ".hlo_proto.pb", ".hlo.pb",
                                       NULL};
const Reader hlo_reader = {
    .name = "hlo", .suffixes = suffixes, .is_program = true, .read_structure = check_file};
