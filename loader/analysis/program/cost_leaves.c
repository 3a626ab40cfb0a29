// SPDX-License-Identifier: Apache-2.0
/* cost_leaves.c: bytes of the parts of tuples; see CostLeaf in cost_graph.h. */
#include "cost_graph.h"
#include "../../base/search.h"

#include "../../base/sort.h"

uint64_t cost_path(uint64_t path, size_t i) { return mix64(path * 0x9e3779b97f4a7c15u + i + 1); }

void cost_add_leaf(CostGraph *g, uint32_t operand, uint64_t path, float bytes)
{
    if (g->failed) return;
    if (GROW(g->pending, g->n_pending, g->pending_capacity)) {
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
    if (!cost_spend(g, leaves->n)) return;
    for (uint32_t i = 0; i < leaves->n; i++)
        cost_add_leaf(g, leaves->leaves[i].operand, leaves->leaves[i].path,
                      leaves->leaves[i].bytes);
}

static int by_key(const CostLeaf *x, const CostLeaf *y)
{
    if (x->operand != y->operand) return x->operand < y->operand ? -1 : 1;
    return x->path < y->path ? -1 : x->path > y->path;
}

/* Equal parts stay in the order in which they came: it decides on the digits of their sum. */
static int by_place(const void *a, const void *b)
{
    const CostLeaf *x = a, *y = b;
    int order = by_key(x, y);
    return order ? order : x->order < y->order ? -1 : x->order > y->order;
}

CostLeaves cost_take_leaves(CostGraph *g, bool largest)
{
    size_t n = g->n_pending, kept = 0;
    g->n_pending = 0;
    CostLeaf *leaves = n && !g->failed ? arena_alloc(&g->arena, n * sizeof *leaves) : NULL;
    if (n && !g->failed && !leaves) prof_nomem(g->err), g->failed = true;
    if (!leaves) return (CostLeaves){0};
    sort_array(g->pending, n, sizeof *g->pending, by_place);
    for (size_t i = 0; i < n; i++) {
        CostLeaf *last = kept ? &leaves[kept - 1] : NULL;
        if (!last || by_key(last, &g->pending[i]))
            leaves[kept++] = g->pending[i];
        else if (!largest)
            last->bytes += g->pending[i].bytes;
        else if (last->bytes < g->pending[i].bytes)
            last->bytes = g->pending[i].bytes;
    }
    return (CostLeaves){leaves, (uint32_t)kept};
}

float cost_leaf(const CostLeaves *leaves, uint32_t operand, uint64_t path)
{
    CostLeaf wanted = {.path = path, .operand = operand};
    size_t low = LOWER_BOUND(i, 0, leaves->n, by_key(&leaves->leaves[i], &wanted) < 0);
    return low < leaves->n && !by_key(&leaves->leaves[low], &wanted) ? leaves->leaves[low].bytes
                                                                     : 0;
}
