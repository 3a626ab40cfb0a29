// SPDX-License-Identifier: Apache-2.0
/* cost_graph.h: what the files of the cost analysis share; see cost.h for what others call. */
#ifndef PROF_COST_GRAPH_H
#define PROF_COST_GRAPH_H

#include "../format/hlo_opcode.h"
#include "../format/hlo_type.h"
#include "cost.h"

#define COST_NONE UINT32_MAX

/* What an instruction moves of one part of a tuple. Fusions and transfers to and from the host know it, and through them the
 * calls around them; all other operations see a tuple as its table of pointers. */
typedef struct {
    uint64_t path;    /* the part: cost_path() of its indices, from 0 on */
    uint32_t operand; /* its number; COST_NONE: the output */
    uint32_t order;
    float bytes;
} CostLeaf;
typedef struct {
    const CostLeaf *leaves; /* by operand and path, each once */
    uint32_t n;
} CostLeaves;

/* An instruction with its figures: the bytes that it reads of each operand, and writes of its output. Its operands stand in
 * CostGraph.operands. A call has the figures of all operand numbers that its callee has, even without such operands itself. */
typedef struct {
    const Xla__HloInstructionProto *op;
    const Xla__ShapeProto *shape; /* never NULL */
    uint32_t first_operand, n_operands;
    uint32_t computation;
    uint16_t opcode;
    bool visited, unknown;
    bool used; /* by an instruction of its computation */
    float flops, bytes, output;
    float reread;   /* of its first operand, what a use of all of its output needs: below 1 for slices; of a reduce: of its initial values */
    float *figures; /* by number of the operand */
    uint32_t n_figures;
    CostLeaves leaves;
} CostNode;

/* What the instructions of a computation sum to. */
typedef struct {
    float flops, bytes, output;
    float *operands; /* by number of the operand, over all instructions */
    uint32_t n_operands;
    CostLeaves leaves;
} CostSum;

typedef struct {
    const Xla__HloComputationProto *proto;
    uint32_t first, n, root; /* nodes; root COST_NONE: it has none */
    uint32_t *order;         /* as it was visited */
    uint32_t n_order;
    enum { COST_NEW, COST_OPEN, COST_DONE } state;
    CostSum sum;
} CostComputation;

typedef struct {
    const HloModule *module;
    CostNode *nodes; /* as module->ops */
    uint32_t n_nodes, n_operands;
    CostComputation *computations; /* as in the file */
    size_t n_computations;
    uint32_t *by_id; /* computations by their id, open addressing; position + 1 */
    size_t n_slots;
    uint32_t *operands; /* positions of nodes, COST_NONE: the program has no such instruction */
    uint8_t *marks;     /* scratch, one for each node */
    CostLeaf *pending;  /* parts that were added and not taken yet */
    size_t n_pending, pending_capacity;
    uint32_t *stack;
    size_t stack_capacity;
    uint64_t budget; /* steps left for what a hostile program could make endless */
    bool failed;     /* the program makes no sense: nothing of it has a cost */
    Arena arena;
    ProfErr *err;
} CostGraph;

static inline CostNode *cost_operand(const CostGraph *g, const CostNode *node, uint32_t i)
{
    uint32_t at = i < node->n_operands ? g->operands[node->first_operand + i] : COST_NONE;
    return at == COST_NONE ? NULL : &g->nodes[at];
}

/* The computation that an instruction calls, NULL: none. */
CostComputation *cost_called(const CostGraph *g, const CostNode *node, size_t i);
/* Costs its instructions, callees first, and sums them; depth counts the calls on the way. NULL: the graph has failed. */
const CostSum *cost_computation(CostGraph *g, CostComputation *c, int depth);
/* The instructions of a computation, operands before users: as XLA visits them, or as it lists them (from all that nobody
 * uses, in order of the file). `to` holds c->n positions; returns how many it has written. */
uint32_t cost_order(CostGraph *g, const CostComputation *c, bool listed, uint32_t *to);
/* Takes n from the budget; false when it is spent: the graph has failed. */
bool cost_spend(CostGraph *g, uint64_t n);

/* Costs one instruction, whose operands are costed. */
void cost_instruction(CostGraph *g, CostNode *node, int depth);
void cost_fusion(CostGraph *g, CostNode *node, int depth);
void cost_convolution(CostGraph *g, CostNode *node, const Xla__ShapeProto *result);
void cost_custom_call(CostGraph *g, CostNode *node);

/* Operations of one execution, exactly; -1: not known. Of a convolution by the shapes that its dimension numbers describe. */
int64_t cost_dot_operations(const CostGraph *g, const CostNode *node);
int64_t cost_convolution_operations(CostGraph *g, const CostNode *node, const Xla__ShapeProto *input, const Xla__ShapeProto *kernel,
                                    const Xla__ShapeProto *output);
int64_t cost_sort_operations(const CostGraph *g, const CostNode *node);
int64_t cost_fft_operations(const CostGraph *g, const CostNode *node);
int64_t cost_reduce_window_applications(const CostNode *node); /* of the computation */
int64_t cost_window_elements(const Xla__Window *window);

/* What one execution needs; see HloCost. */
typedef struct {
    double model_flops, flops;
    int64_t library_bytes; /* -1: no call of a library */
} CostNeed;
/* Of each node. NULL: err is set. */
CostNeed *cost_needs(CostGraph *g);

/* ---- parts of tuples (cost_leaves.c) ---- */

uint64_t cost_path(uint64_t path, size_t i);
void cost_add_leaf(CostGraph *g, uint32_t operand, uint64_t path, float bytes);
void cost_add_leaves(CostGraph *g, const CostLeaves *leaves);
/* What was added since the last call; equal parts summed in order, or the largest of them. */
CostLeaves cost_take_leaves(CostGraph *g, bool largest);
float cost_leaf(const CostLeaves *leaves, uint32_t operand, uint64_t path); /* 0: there is none */

/* ---- shapes (cost_shapes.c); numbers stop at the ends of int64 ---- */

int64_t cost_multiply(int64_t a, int64_t b);
int64_t cost_add(int64_t a, int64_t b);
/* Bytes as XLA counts them for GPUs: of an array without layout 0, of a tuple its table of pointers. */
int64_t cost_size(const Xla__ShapeProto *shape);
int64_t cost_leaf_sizes(const Xla__ShapeProto *shape); /* of all arrays in it */
int64_t cost_elements(const Xla__ShapeProto *shape);   /* of an array; 0 for others */
int64_t cost_all_elements(const Xla__ShapeProto *shape);
const Xla__ShapeProto *cost_array(const Xla__ShapeProto *shape);                         /* the shape, or the first element of a tuple */
int64_t cost_dimension(const Xla__ShapeProto *shape, int64_t i);                         /* -1: it has none of this number */
int64_t cost_product(const Xla__ShapeProto *shape, const int64_t *dimensions, size_t n); /* of these sizes; -1: it lacks one */
bool cost_in_main_memory(const Xla__ShapeProto *shape);                                  /* of an array: its layout names no other memory space */
int cost_bits(int type);                                                                 /* of an element; pred 1 */
int64_t cost_integer(float value);                                                       /* truncated, saturated; NaN is 0 */

/* Operations of an elementwise instruction on one element. */
int64_t cost_cycles(enum HloOpcode opcode, int type);

#endif
