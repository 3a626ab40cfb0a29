// SPDX-License-Identifier: Apache-2.0
/* idle_parts.h: internals shared by the files of idle_causes.h.
 *
 *   idle_gaps.c     when devices are idle, and the threads that launch the next work
 *   idle_threads.c  what these threads did then
 *   idle_causes.c   rows of all hosts
 *   all_others.c    rows about other times than idle gaps */
#ifndef PROF_IDLE_PARTS_H
#define PROF_IDLE_PARTS_H

#include "../../base/list.h"
#include "../device/cover.h"
#include "idle_causes.h"

/* A part of one or more gaps that is attributed to one thread. */
typedef struct {
    Line *line; /* NULL: the host's main thread */
    int64_t start, end;
    int64_t weight; /* number of idle devices */
    int64_t launch; /* start time of the launch */
    /* No event of the line encloses the launch: a driver's calls are on a line of their own, and
     * the thread that made them has another line. */
    bool bare;
} IdleStretch;
typedef LIST(IdleStretch) IdleStretches;
typedef LIST(const Text *) IdleNames; /* texts of a host, compared by address */

/* A path of open events, from the outermost to the one that it ends with. */
typedef struct {
    uint32_t parent; /* index + 1; 0: none */
    uint32_t cause;  /* enum IdleCause of the times whose path ends here */
    const Text *text;
    uint64_t own_ps, all_ps; /* all_ps: including the paths that continue this one */
} IdleNode;

typedef struct {
    LIST(IdleNode) nodes;
    HashTable by_path;
    TextTable names; /* of all hosts */
    Arena arena;
    uint64_t queued_ps, unknown_ps;
    size_t n_devices;
} IdleTree;

enum IdleClass { CLASS_DEVICES, CLASS_SPARSECORES, CLASS_HOSTS, N_IDLE_CLASSES };
/* Lists the gaps of the host's devices of this class in `out`, which is empty, and adds the number
 * of devices to tree->n_devices. Gaps whose next work was launched before only add to
 * tree->queued_ps. Adds the names of the work of GPUs. */
int idle_gaps_of_host(Host *host, enum IdleClass which, IdleStretches *out, IdleNames *kernels,
                      IdleTree *tree, ProfErr *err);
/* Adds what the threads did in these stretches. A host event named like a kernel is a launch. */
int idle_threads_of_host(Host *host, IdleStretches *stretches, const IdleNames *kernels,
                         IdleTree *tree, ProfErr *err);
/* Makes the rows of a tree, which it frees. NULL with err set; the tree is also freed if err is set
 * before. */
IdleCauses *idle_tree_rows(IdleTree *tree, ProfErr *err);
void idle_causes_free(IdleCauses *causes);
#endif
