// SPDX-License-Identifier: Apache-2.0
/* op_profile.h: XProf's op profile: the device's ops as a tree, by program, category or provenance.
 *
 * Every node has sums and shares of the whole. XProf sorts the children of a node and keeps a hundred of them below a certain
 * depth; ops that are copies of each other hang below a node of their own. */
#ifndef PROF_OP_PROFILE_H
#define PROF_OP_PROFILE_H

#include "devices.h"
#include "op_metrics.h"

enum ProfileGroup { PROFILE_BY_PROGRAM, PROFILE_BY_CATEGORY, PROFILE_BY_PROVENANCE };
enum ProfileKind { PROFILE_ROOT, PROFILE_PROGRAM, PROFILE_PROVENANCE, PROFILE_CATEGORY, PROFILE_DUPLICATES, PROFILE_OP };
extern const char *const profile_kind_names[];

typedef struct {
    enum ProfileGroup group;
    bool include_idle;
    uint64_t n_children; /* kept of a node; 0: all, also in the upper levels */
} ProfileOptions;

typedef struct ProfileNode ProfileNode;
struct ProfileNode {
    ProfileNode *parent, **children, *next, *first_added, *last_added; /* the last three while the tree grows */
    size_t n_children, n_added, place;                                 /* place: in preorder */
    enum ProfileKind kind;
    unsigned depth;
    Slice name;            /* of PROFILE_DUPLICATES: of the first of them; " and its duplicate(s)" goes behind it */
    const OpMetrics *op;   /* whose texts the node shows; NULL: none */
    uint64_t program_id;   /* of PROFILE_PROGRAM */
    uint64_t num_children; /* before pruning */
    uint64_t time_ps, self_ps, normalized_ps, occurrences;
    double flops, model_flops;
    uint64_t hbm_read_bytes, hbm_write_bytes, chip_read_bytes, chip_write_bytes;
};

typedef struct {
    ProfileNode **nodes; /* in preorder; nodes[0] is the root */
    size_t n_nodes;
    uint64_t total_ps;                 /* of the whole: with or without IDLE */
    double peak_gflops, peak_gibps[3]; /* HBM, on-chip read and write; 0: unknown */
    Arena arena;
} OpProfile;

/* The tree of all hosts, or of one; to be freed with op_profile_free(). It borrows from the run. NULL with err set. */
OpProfile *op_profile_make(Run *run, Host *only, const ProfileOptions *options, ProfErr *err);
void op_profile_free(void *profile);

/* What XProf shows of a node. Rates are capped at 1 where XProf caps them. */
typedef struct {
    double flops, uncapped_flops; /* utilization x share of time */
    double bandwidth[3];          /* fractions: HBM, on-chip read, on-chip write */
    double bytes[3];              /* of the same; XProf's way through a rate and back */
    double avg_time_ps;
} ProfileMetrics;
ProfileMetrics profile_metrics(const OpProfile *profile, const ProfileNode *node);

#endif
