// SPDX-License-Identifier: Apache-2.0
/* hlo.h: the HLO programs of a host, parsed when they are asked for.
 *
 * A profile carries its programs in the plane /host:metadata: each event metadata with a bytes stat `Hlo Proto` is one, named
 * `module(program id)`. Files of one HloProto each lie beside a run (XProf leaves them there) or in a dump of XLA. The table of programs is read without
 * touching the protos; a program is parsed on first use and stays as long as the Run. All calls are thread-safe.
 *
 * Ids of the protos (computations, instructions) are opaque: small integers in older files, (computation << 32 | local) in
 * newer ones. */
#ifndef PROF_HLO_H
#define PROF_HLO_H

#include "../run.h"
#include "schema/hlo.pb-c.h"

/* An instruction and where it stands. */
typedef struct {
    const Xla__HloInstructionProto *instruction;
    const Xla__HloComputationProto *computation;
} HloOp;

typedef struct HloModule {
    Host *host;
    uint64_t program_id;
    const char *name;            /* of the module, without the id */
    const Xla__HloProto *proto;  /* its hlo_module is never NULL */
    size_t n_ops;                /* instructions; hlo_op() has them in order of the file */
    uint32_t *computation_of;    /* of each instruction: position in hlo_module->computations */
    uint32_t *first_op;          /* of each computation */
    uint64_t n_bytes;            /* of the proto in the file */
    uint64_t content_hash;       /* of the proto's bytes */
    const bool *is_fusion;       /* of each computation: by its mark, or because a fusion calls it */
    bool repaired;               /* see HloProgram */
    bool unique;                 /* no two instructions have one name or one id, as it should be */
    uint32_t *by_id, *by_name;   /* open addressing; position of the instruction + 1 */
    uint32_t *computation_by_id; /* position in hlo_module->computations + 1 */
    size_t n_slots, n_computation_slots;
    struct HloProgramState *state;
} HloModule;

static inline HloOp hlo_op(const HloModule *m, size_t i)
{
    const Xla__HloComputationProto *c = m->proto->hlo_module->computations[m->computation_of[i]];
    return (HloOp){c->instructions[i - m->first_op[m->computation_of[i]]], c};
}

/* What the table of programs knows of one without parsing it. */
typedef struct HloProgram {
    Host *host;
    uint64_t program_id;
    const Text *name;  /* of the module */
    const char *path;  /* of the file that holds the proto */
    Span span;         /* of the HloProto in it */
    bool beside;       /* the file is a *.hlo_proto.pb beside the run's profiles, whose planes do not hold this program */
    const Text *plane; /* that holds it; NULL: it has a file of its own */
    bool extra;        /* XProf's map of programs does not have it: it lies beside the run, or in the plane of a sub-process */
    bool repaired;     /* XProf finds it only after a repair of the file, which its Events DB skips: another spelling of the stat (libtpu 0.0.37), or
                          metadata whose own id is not the program's */
    struct HloProgramState *state;
} HloProgram;
typedef struct {
    HloProgram *programs; /* in order of the file, then those beside the run (with its first host) and those of sub-processes; several may
                             have one id: the first that can be parsed counts */
    size_t n;
} HloProgramList;
/* NULL: err is set. */
const HloProgramList *hlo_program_list(Host *host, ProfErr *err);
/* The module of a listed program, parsed now if it was not before. NULL without err set: it cannot be parsed (an issue of
 * the host says why), or an earlier program of the list has its id. */
const HloModule *hlo_open(HloProgram *program, ProfErr *err);

/* The id in module(id), as modules are named in the plane of programs and on devices' lines. False: there is none. */
bool hlo_program_id(const Text *name, uint64_t *id);
/* Looks through the programs that were not parsed yet, so that prof_issues can say which of them cannot be. Those of a profile that
 * hlo_program() gives go to a judge, each once: a module that was parsed for that alone is gone afterwards and has no hlo_analysis(). */
typedef void HloJudge(const HloModule *module, ProfErr *err);
int hlo_check_programs(Host *host, HloJudge *judge, ProfErr *err);

/* XProf's own map of programs, without the extra ones. */
/* The program of a host. NULL without err set: there is none, or it cannot be parsed. */
const HloModule *hlo_program(Host *host, uint64_t program_id, ProfErr *err);
/* All programs of a host that can be parsed, in order of the file. NULL: err is set. */
typedef struct {
    const HloModule *const *modules;
    size_t n;
} HloPrograms;
const HloPrograms *hlo_programs(Host *host, ProfErr *err);

/* What is derived from a module on first use and kept as long as it, like run_analysis(). */
typedef struct {
    void *(*make)(const HloModule *module, ProfErr *err); /* NULL: err is set */
    void (*release)(void *result);
} HloAnalysis;
const void *hlo_analysis(const HloModule *module, const HloAnalysis *analysis, ProfErr *err);

/* Checks that the host's file is an HloProto, without reading it whole, and completes host->file. On failure err is set. */
int hlo_check_file(Host *host, ProfErr *err);

/* NULL: the module has none. Of several of one name or id the first in the file. */
const Xla__HloInstructionProto *hlo_find(const HloModule *module, const char *name, size_t n_bytes);
const Xla__HloInstructionProto *hlo_instruction(const HloModule *module, int64_t id);
const Xla__HloComputationProto *hlo_computation(const HloModule *module, int64_t id);
/* Its position in the module, -1: none. */
int64_t hlo_computation_position(const HloModule *module, int64_t id);
/* The entry computation; NULL when the module names none that it has. */
const Xla__HloComputationProto *hlo_entry(const HloModule *module);
/* The backend config, JSON text on GPU and TPU, wherever its generation keeps it; *n_bytes 0: none. Never NULL. */
const uint8_t *hlo_backend_config(const HloModule *module, const Xla__HloInstructionProto *instruction, size_t *n_bytes);
/* A frame of the module's stack frame index, and the id of its caller. False: there is none of this id. */
typedef struct {
    const char *file, *function; /* empty: unknown */
    int32_t line, column, parent_id;
} HloFrame;
bool hlo_frame(const HloModule *module, int32_t frame_id, HloFrame *frame);
/* Where an instruction comes from: its metadata's file and line, else its innermost frame's. False: it does not say. */
bool hlo_source(const HloModule *module, const Xla__HloInstructionProto *instruction, const char **file, int32_t *line);

/* Position of an instruction's id or name, -1: none. */
int64_t hlo_position(const HloModule *module, int64_t id);
int64_t hlo_find_position(const HloModule *module, const char *name, size_t n_bytes);

#endif
