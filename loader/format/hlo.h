// SPDX-License-Identifier: Apache-2.0
/* hlo.h: the HLO programs of a host, parsed on first use.
 *
 * A profile stores its programs in the plane /host:metadata: each event metadata with a bytes stat
 * `Hlo Proto` is one, named `module(program id)`. Other programs are files of one HloProto each,
 * stored next to a run's profiles (XProf writes them there) or in a dump of XLA. The list of
 * programs is read without touching the protos; a program is parsed on first use and lives as long
 * as the Run. All functions may be called from several threads.
 *
 * Ids of computations and instructions are opaque: small integers in older files, (computation <<
 * 32 | local) in newer ones. A position counts from 0 in file order: over the module's
 * computations, or over the instructions of all its computations. */
#ifndef PROF_HLO_H
#define PROF_HLO_H

#include "../run.h"
#include "schema/hlo.pb-c.h"

/* An instruction and the computation that contains it. */
typedef struct {
    const Xla__HloInstructionProto *instruction;
    const Xla__HloComputationProto *computation;
} HloOp;

/* A parsed program. */
typedef struct HloModule {
    Host *host;
    uint64_t program_id;
    const char *name;           /* module name, without the program id */
    const Xla__HloProto *proto; /* its hlo_module is never NULL */
    size_t n_ops;               /* number of instructions; hlo_op() returns them by position */
    uint32_t *computation_of;   /* by instruction position: position of its computation */
    uint32_t *first_op;         /* by computation position: position of its first instruction */
    uint64_t n_bytes;           /* size of the proto in the file */
    uint64_t content_hash;      /* hash_bytes() of the proto */
    uint64_t spare_bytes;       /* memory that its size allows its costs to take */
    /* whether it is marked as a fusion or called by one, by computation position */
    const bool *is_fusion;
    bool repaired;             /* as HloProgram.repaired */
    bool unique;               /* all instructions have different names and ids, as they should */
    SmallTable by_id, by_name; /* of instructions, by position; of equal ones only the first */
    SmallTable computation_by_id; /* the same for computations */
    struct HloProgramState *state;
} HloModule;

/* Returns the i-th instruction of the module. */
static inline HloOp hlo_op(const HloModule *m, size_t i)
{
    const Xla__HloComputationProto *c = m->proto->hlo_module->computations[m->computation_of[i]];
    return (HloOp){c->instructions[i - m->first_op[m->computation_of[i]]], c};
}

/* A program in the list, whether or not it has been parsed. */
typedef struct HloProgram {
    Host *host;
    uint64_t program_id;
    const Text *name;     /* module name, without the program id */
    const char *path;     /* path of the file that contains the proto */
    Span span;            /* place of the HloProto in that file */
    uint64_t spare_bytes; /* memory that the program may take beyond twice its size */
    /* The program is a *.hlo_proto.pb file next to the run's profiles, and no plane contains it. */
    bool beside;
    const Text *plane; /* name of the plane that contains it; NULL: it has a file of its own */
    /* XProf's map of programs lacks it: it is a file next to the run, or in the plane of a
     * sub-process. */
    bool extra;
    /* XProf finds the program only after repairing the file, which its Events DB does not do: the
     * stat's name is spelt differently (libtpu 0.0.37), or no stat has the program's id and the
     * metadata has another one. */
    bool repaired;
    struct HloProgramState *state;
} HloProgram;
typedef struct {
    /* Programs in file order, then those next to the run (listed with its first host), then those
     * of sub-processes. If several have the same id, the first that can be parsed counts. */
    HloProgram *programs;
    size_t n;
} HloProgramList;
/* Returns the list of a host's programs, without parsing them. */
const HloProgramList *hlo_program_list(Host *host, ProfErr *err);
/* Returns the first listed program with this id, whether or not it can be parsed. NULL without err
 * set if there is none. */
HloProgram *hlo_find_program(Host *host, uint64_t program_id, ProfErr *err);
/* Returns the next listed program with the id of this one; NULL if there is none. */
HloProgram *hlo_next_of_id(const HloProgram *program);
/* Returns the module of a listed program, parsed now if it has not been before. NULL without err
 * set if it cannot be parsed (the host then has an issue with the reason), or if another program of
 * the list counts for its id. */
const HloModule *hlo_open(HloProgram *program, ProfErr *err);

/* Reads the program id from a name `module(id)`, as in the plane of programs and on device lines.
 * False if the name has none. */
bool hlo_program_id(const Text *name, uint64_t *id);
/* Returns the name `module(id)` of the program in the host's plane /host:metadata whose entry has
 * its id as key, as on TPUs. NULL if there is none, or its name has another id: JAX numbers the
 * entries of GPUs and hosts from 1. */
const Text *hlo_program_entry(const Host *host, uint64_t program_id);
/* Checks all programs of a host, so that prof_issues lists those that cannot be parsed. Each
 * program of a profile that hlo_program() can return is passed to `judge` once. A module that is
 * parsed only for that is freed afterwards, so the judge must not call hlo_analysis() on it. */
typedef void HloJudge(const HloModule *module, ProfErr *err);
int hlo_check_programs(Host *host, HloJudge *judge, ProfErr *err);

/* Returns the program of an id. hlo_program() and hlo_programs() use XProf's own map of programs,
 * without those marked `extra`. NULL without err set if there is none or it cannot be parsed. */
const HloModule *hlo_program(Host *host, uint64_t program_id, ProfErr *err);
/* All programs of a host that can be parsed, in file order, without those marked `extra`. */
typedef struct {
    const HloModule *const *modules;
    size_t n;
} HloPrograms;
/* Returns the programs of a host, parsed now if they have not been before. */
const HloPrograms *hlo_programs(Host *host, ProfErr *err);

/* A result that is computed from a module on first use and kept with it, like run_analysis().
 * `make` returns NULL with err set on failure. */
typedef struct {
    void *(*make)(const HloModule *module, ProfErr *err); /* returns the result to keep */
    void (*release)(void *result);
} HloAnalysis;
/* Returns the result of an analysis of a module. Analyses are identified by their address. */
const void *hlo_analysis(const HloModule *module, const HloAnalysis *analysis, ProfErr *err);

/* Find an instruction or computation by name or id. NULL if the module has none. If several have
 * it, the first in the file is returned. */
const Xla__HloInstructionProto *hlo_find(const HloModule *module, const char *name, size_t n_bytes);
const Xla__HloInstructionProto *hlo_instruction(const HloModule *module, int64_t id);
const Xla__HloComputationProto *hlo_computation(const HloModule *module, int64_t id);
/* Returns the position of the computation with this id; -1 if there is none. */
int64_t hlo_computation_position(const HloModule *module, int64_t id);
/* Returns the entry computation. NULL if the module names none or does not contain it. */
const Xla__HloComputationProto *hlo_entry(const HloModule *module);
/* Returns the instruction's backend config: JSON text on GPU and TPU, from whichever field the
 * program's version stores it in. Never NULL; *n_bytes is 0 if there is none. */
const uint8_t *hlo_backend_config(const HloModule *module,
                                  const Xla__HloInstructionProto *instruction, size_t *n_bytes);
/* Reads a frame of the module's stack frame index, with the id of its caller's frame. False if the
 * index has no frame of this id. */
typedef struct {
    const char *file, *function; /* empty if unknown */
    int32_t line, column, parent_id;
} HloFrame;
bool hlo_frame(const HloModule *module, int32_t frame_id, HloFrame *frame);
/* Reads the source file and line of an instruction: from its metadata, else from its innermost
 * stack frame. False if neither names a file. */
bool hlo_source(const HloModule *module, const Xla__HloInstructionProto *instruction,
                const char **file, int32_t *line);

/* Return the position of the instruction with this id or name; -1 if there is none. */
int64_t hlo_position(const HloModule *module, int64_t id);
int64_t hlo_find_position(const HloModule *module, const char *name, size_t n_bytes);

#endif
