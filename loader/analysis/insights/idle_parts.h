// SPDX-License-Identifier: Apache-2.0
/* idle_parts.h: internals shared by the files of idle_causes.h.
 *
 *   idle_gaps.c     when devices are idle, and the thread that launches what comes next
 *   idle_threads.c  what these threads did then
 *   idle_causes.c   rows of all hosts */
#ifndef PROF_IDLE_PARTS_H
#define PROF_IDLE_PARTS_H

#include "../../base/list.h"
#include "../device/cover.h"
#include "idle_causes.h"

/* A part of gaps in which one thread is asked. */
typedef struct {
    Line *line; /* NULL: the host's main thread */
    int64_t start, end;
    int64_t weight; /* number of devices that are idle */
    int64_t launch; /* start of the launch */
    /* No event of the line goes on around the launch: a driver's calls are on a line of their own,
     * and the thread that made it has another. */
    bool bare;
} IdleStretch;
typedef LIST(IdleStretch) IdleStretches;
typedef LIST(const Text *) IdleNames; /* of a host's texts, by address */

/* A path of open events, outermost first: the event that it ends with, in its parent. */
typedef struct {
    uint32_t parent; /* index + 1; 0: none */
    uint32_t cause;  /* enum IdleCause of moments that end here */
    const Text *text;
    uint64_t own_ps, all_ps; /* all: with the paths that go on */
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
/* Adds the gaps of the host's devices of this class, and their number to tree->n_devices. Of gaps
 * whose next work was launched before, only tree->queued_ps. Adds the names of the work of GPUs. */
int idle_gaps_of_host(Host *host, enum IdleClass which, IdleStretches *out, IdleNames *kernels,
                      IdleTree *tree, ProfErr *err);
/* Adds what the threads did in these stretches. A host event with the name of a kernel launches. */
int idle_threads_of_host(Host *host, IdleStretches *stretches, const IdleNames *kernels,
                         IdleTree *tree, ProfErr *err);
#endif
