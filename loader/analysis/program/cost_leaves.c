// SPDX-License-Identifier: Apache-2.0
/* cost_leaves.c: bytes of the parts of tuples; see CostLeaf in cost_graph.h. */
#include "cost_graph.h"
#include "../../base/search.h"

#include "../../base/sort.h"

uint64_t cost_path(uint64_t path, size_t i) { return mix64(path * 0x9e3779b97f4a7c15u + i + 1); }

void cost_add_leaf(CostGraph *g, uint32_t operand, uint64_t path, float bytes)
{
    if (g->failed) return;
    if (g->n_pending * sizeof *g->pending >= g->most_bytes / 8) {
        g->failed = g->too_large = true;
    } else if (GROW(g->pending, g->n_pending, g->pending_capacity)) {
        g->pending[g->n_pending] = (CostLeaf){
            .path = path, .operand = operand, .order = (uint32_t)g->n_pending, .bytes = bytes};
        g->n_pending++;
    } else {
        prof_nomem(g->err);
        g->failed = true;
    }
}

void cost_add_leaves(CostGraph *g, const CostLeaves *leaves)
{
    if (!leaves || !cost_spend(g, leaves->n)) return;
    for (uint32_t i = 0; i < leaves->n; i++)
        cost_add_leaf(g, leaves->leaves[i].operand, leaves->leaves[i].path,
                      leaves->leaves[i].bytes);
}

static int by_key(const CostLeaf *x, const CostLeaf *y)
{
    if (x->operand != y->operand) return ORDER(x->operand, y->operand);
    return ORDER(x->path, y->path);
}

/* Keeps equal parts in the order in which they were added, which determines the digits of their
 * sum. */
static int by_place(const void *a, const void *b)
{
    const CostLeaf *x = a, *y = b;
    int order = by_key(x, y);
    if (order) return order;
    return ORDER(x->order, y->order);
}

static CostLeaves *room_for(CostGraph *g, size_t n)
{
    size_t n_bytes = sizeof(CostLeaves) + n * sizeof(CostLeaf);
    bool fits = g->arena.n_bytes + n_bytes <= g->most_bytes;
    CostLeaves *leaves = fits ? arena_buffer(&g->arena, n_bytes) : NULL;
    if (fits && !leaves) prof_nomem(g->err);
    g->failed |= !leaves, g->too_large |= !fits;
    return leaves;
}

const CostLeaves *cost_take_leaves(CostGraph *g, enum CostRule rule)
{
    size_t n = g->n_pending, kept = 0;
    g->n_pending = 0;
    if (!n || g->failed) return NULL;
    sort_array(g->pending, n, sizeof *g->pending, by_place);
    for (size_t i = 0; i < n; i++) kept += !i || by_key(&g->pending[i - 1], &g->pending[i]);
    CostLeaves *result = room_for(g, kept);
    CostLeaf *leaves = result ? (CostLeaf *)(result + 1) : NULL;
    if (!leaves) return NULL;
    kept = 0;
    for (size_t i = 0; i < n; i++) {
        CostLeaf *last = kept ? &leaves[kept - 1] : NULL;
        if (!last || by_key(last, &g->pending[i]))
            leaves[kept++] = g->pending[i];
        else if (rule == COST_SUM_OF)
            last->bytes += g->pending[i].bytes;
        else if (rule == COST_LAST_OF || last->bytes < g->pending[i].bytes)
            last->bytes = g->pending[i].bytes;
    }
    *result = (CostLeaves){leaves, (uint32_t)kept};
    return result;
}

float cost_leaf(const CostLeaves *leaves, uint32_t operand, uint64_t path)
{
    CostLeaf wanted = {.path = path, .operand = operand};
    if (!leaves) return 0;
    size_t low = LOWER_BOUND(i, 0, leaves->n, by_key(&leaves->leaves[i], &wanted) < 0);
    return low < leaves->n && !by_key(&leaves->leaves[low], &wanted) ? leaves->leaves[low].bytes
                                                                     : 0;
}
