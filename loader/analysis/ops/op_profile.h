// SPDX-License-Identifier: Apache-2.0
/* op_profile.h: XProf's op profile: the device's ops as a tree, by program, category or
 * provenance.
 *
 * Each node has sums and shares of the total. XProf sorts the children of a node and keeps a
 * hundred of them below a certain depth. Ops that are copies of each other are children of a
 * PROFILE_DUPLICATES node. */
#ifndef PROF_OP_PROFILE_H
#define PROF_OP_PROFILE_H

#include "../device/devices.h"
#include "op_metrics.h"

enum ProfileGroup { PROFILE_BY_PROGRAM, PROFILE_BY_CATEGORY, PROFILE_BY_PROVENANCE };
enum ProfileKind {
    PROFILE_ROOT,
    PROFILE_PROGRAM,
    PROFILE_PROVENANCE,
    PROFILE_CATEGORY,
    PROFILE_DUPLICATES,
    PROFILE_OP
};
extern const char *const profile_kind_names[];

/* How the tree is built. */
typedef struct {
    enum ProfileGroup group;
    bool include_idle;
    uint64_t n_children; /* children that a node keeps; 0: all, also in the upper levels */
} ProfileOptions;

typedef struct ProfileNode ProfileNode;
/* A node of the tree. */
struct ProfileNode {
    /* The last three are used while the tree is built. */
    ProfileNode *parent, **children, *next, *first_added, *last_added;
    size_t n_children, n_added, place; /* place: index in OpProfile.nodes */
    enum ProfileKind kind;
    unsigned depth;
    /* PROFILE_DUPLICATES: name of the first of them, to which " and its duplicate(s)" is added. */
    Slice name;
    const OpMetrics *op;   /* op whose texts the node shows; NULL: none */
    uint64_t program_id;   /* PROFILE_PROGRAM: id of the program */
    uint64_t num_children; /* children before pruning */
    uint64_t time_ps, self_ps, normalized_ps, occurrences;
    double flops, model_flops;
    uint64_t hbm_read_bytes, hbm_write_bytes, chip_read_bytes, chip_write_bytes;
};

/* The tree of the op profile. */
typedef struct {
    ProfileNode **nodes; /* in preorder; nodes[0] is the root */
    size_t n_nodes;
    uint64_t total_ps; /* of the root, with or without IDLE */
    /* peak_gibps: HBM, on-chip read, on-chip write; 0: unknown */
    double peak_gflops, peak_gibps[3];
    Arena arena;
} OpProfile;

/* Builds the tree of all hosts, or of `only`. It borrows from the run. Freed with
 * op_profile_free(). */
OpProfile *op_profile_make(Run *run, Host *only, const ProfileOptions *options, ProfErr *err);
void op_profile_free(void *profile);

/* Values that XProf shows for a node. Rates are capped at 1 if XProf caps them. */
typedef struct {
    double flops, uncapped_flops; /* utilization x share of the time */
    double bandwidth[3];          /* fractions of the peaks: HBM, on-chip read, on-chip write */
    double bytes[3];              /* bytes of these, computed from a rate as in XProf */
    double avg_time_ps;
} ProfileMetrics;
/* Returns the values of a node. */
ProfileMetrics profile_metrics(const OpProfile *profile, const ProfileNode *node);

#endif
