// SPDX-License-Identifier: Apache-2.0
/* cost_graph.h: internals shared by the files of the cost analysis; cost.h is the public part. */
#ifndef PROF_COST_GRAPH_H
#define PROF_COST_GRAPH_H

#include "../../format/hlo_opcode.h"
#include "../../format/hlo_type.h"
#include "cost.h"

#define COST_NONE UINT32_MAX

/* What one execution needs; see the `_actual` fields of HloCost. */
typedef struct {
    double model_flops, bytes; /* NaN: unknown */
} CostNeed;

/* Bytes that an instruction moves of one part of a tuple. Fusions, transfers to and from the host,
 * and calls around these have them. All other operations treat a tuple as its table of pointers. */
typedef struct {
    uint64_t path;    /* which part: cost_path() of its indices, starting from 0 */
    uint32_t operand; /* number of the operand; COST_NONE: the output */
    uint32_t order;
    float bytes;
} CostLeaf;
typedef struct {
    const CostLeaf *leaves; /* sorted by operand and path, each once */
    uint32_t n;
} CostLeaves;

/* An instruction with its figures: the bytes that it reads of each operand and writes of its
 * output. Its operands are in CostGraph.operands. A call or fusion has figures for all operand
 * numbers of its callee, even if it lacks such operands itself: callers sum them. */
typedef struct {
    const Xla__HloInstructionProto *op;
    const Xla__ShapeProto *shape; /* never NULL */
    float *figures;               /* by operand number */
    const CostLeaves *leaves;     /* NULL: none */
    uint32_t first_operand, n_operands, n_figures;
    uint16_t opcode;
    bool visited : 1, unknown : 1;
    bool used : 1; /* an instruction of its computation uses it */
    union {
        struct {
            float flops, bytes, output;
            /* Part of its first operand that a use of its entire output reads: below 1 for slices.
             * For a reduce: of its initial values. */
            float reread;
        };
        CostNeed need; /* after cost_needs() */
    };
} CostNode;

/* Sums over the instructions of a computation. */
typedef struct {
    float flops, bytes, output;
    float *operands; /* by operand number, over all instructions */
    uint32_t n_operands;
    const CostLeaves *leaves;
} CostSum;

/* A computation and what its instructions sum to. */
typedef struct {
    const Xla__HloComputationProto *proto;
    uint32_t first, n, root; /* positions of nodes; root: COST_NONE if there is none */
    uint32_t *order;         /* the nodes in the order of the visit */
    uint32_t n_order;
    enum { COST_NEW, COST_OPEN, COST_DONE } state;
    CostSum sum;
} CostComputation;

/* All instructions of a program, with their costs so far. */
typedef struct {
    const HloModule *module;
    CostNode *nodes; /* by position of the instruction in the module */
    uint32_t n_nodes, n_operands;
    CostComputation *computations; /* in file order */
    size_t n_computations;
    uint32_t *operands; /* positions of nodes; COST_NONE: the program lacks the instruction */
    uint8_t *marks;     /* scratch, one byte per node */
    CostLeaf *pending;  /* parts that were added since the last cost_take_leaves() */
    size_t n_pending, pending_capacity;
    uint32_t *stack;
    size_t stack_capacity;
    uint64_t budget;     /* steps that are left; limits the work for a hostile program */
    uint64_t most_bytes; /* limit of the arena, also for a hostile program */
    bool failed;         /* the program contradicts itself: none of its instructions has a cost */
    bool too_large;      /* failed because of most_bytes */
    Arena arena;
    ProfErr *err;
} CostGraph;

/* Returns the node of the i-th operand; NULL if there is none. */
static inline CostNode *cost_operand(const CostGraph *g, const CostNode *node, uint32_t i)
{
    uint32_t at = i < node->n_operands ? g->operands[node->first_operand + i] : COST_NONE;
    return at == COST_NONE ? NULL : &g->nodes[at];
}

/* Returns the i-th computation that an instruction calls; NULL if there is none. */
CostComputation *cost_called(const CostGraph *g, const CostNode *node, size_t i);
/* Computes the cost of a computation's instructions, callees first, and returns their sums. `depth`
 * is the number of nested calls. NULL if the graph has failed. */
const CostSum *cost_computation(CostGraph *g, CostComputation *c, int depth);
/* Writes the positions of a computation's instructions to `to`, operands before users: in XLA's
 * order of visits or, if `listed`, in XLA's order of lists, which starts from all unused
 * instructions in file order. `to` has room for c->n positions. Returns how many it wrote. */
uint32_t cost_order(CostGraph *g, const CostComputation *c, bool listed, uint32_t *to);
/* Subtracts n from the budget. False if it is used up: the graph has then failed. */
bool cost_spend(CostGraph *g, uint64_t n);

/* Makes room for figures of n operand numbers, and sets them to 0, unless there is room. False if
 * memory runs out. */
bool cost_has_room(CostGraph *g, CostNode *node, uint32_t n);
/* Compute the cost of one instruction whose operands already have theirs. */
void cost_instruction(CostGraph *g, CostNode *node, int depth);
void cost_fusion(CostGraph *g, CostNode *node, int depth);
void cost_convolution(CostGraph *g, CostNode *node, const Xla__ShapeProto *result);
void cost_custom_call(CostGraph *g, CostNode *node);

/* Return the exact number of operations of one execution; -1 if unknown. A convolution counts the
 * shapes that its dimension numbers describe. */
int64_t cost_dot_operations(const CostGraph *g, const CostNode *node);
int64_t cost_convolution_operations(CostGraph *g, const CostNode *node,
                                    const Xla__ShapeProto *input, const Xla__ShapeProto *kernel,
                                    const Xla__ShapeProto *output);
int64_t cost_sort_operations(const CostGraph *g, const CostNode *node);
int64_t cost_fft_operations(const CostGraph *g, const CostNode *node);
int64_t cost_reduce_window_applications(const CostNode *node); /* of the computation */
int64_t cost_window_elements(const Xla__Window *window);

/* Computes the need of each node, in the memory of its figures. False if memory runs out. */
bool cost_needs(CostGraph *g);
/* Returns how much an operation counts in flops_actual: less than 1 if its operands are narrow. */
double cost_weight(const CostGraph *g, const CostNode *node);

/* ---- parts of tuples (cost_leaves.c) ---- */

/* Returns the path of the i-th part below `path`. */
uint64_t cost_path(uint64_t path, size_t i);
/* Add bytes of one part, or all parts of `leaves`, to those that cost_take_leaves() returns. */
void cost_add_leaf(CostGraph *g, uint32_t operand, uint64_t path, float bytes);
void cost_add_leaves(CostGraph *g, const CostLeaves *leaves);
/* What counts where a part was added more than once: the sum, in the order of adding, and so on. */
enum CostRule { COST_SUM_OF, COST_LARGEST_OF, COST_LAST_OF };
/* Returns the parts that were added since the last call. NULL if there are none. */
const CostLeaves *cost_take_leaves(CostGraph *g, enum CostRule rule);
float cost_leaf(const CostLeaves *leaves, uint32_t operand, uint64_t path); /* 0 if there is none */

/* ---- shapes (cost_shapes.c); results are limited to int64 ---- */

/* Return product and sum. */
int64_t cost_multiply(int64_t a, int64_t b);
int64_t cost_add(int64_t a, int64_t b);
/* Returns bytes as XLA counts them for GPUs: 0 for an array without layout, the table of pointers
 * for a tuple. */
int64_t cost_size(const Xla__ShapeProto *shape);
int64_t cost_leaf_sizes(const Xla__ShapeProto *shape); /* of all arrays in the shape */
/* Elements of an array; 0 for other shapes. */
int64_t cost_elements(const Xla__ShapeProto *shape);
/* Returns the number of elements of an operand; 0 if there is none. */
static inline int64_t operand_elements(const CostGraph *g, const CostNode *node, uint32_t i)
{
    const CostNode *operand = cost_operand(g, node, i);
    return operand ? cost_elements(operand->shape) : 0;
}
int64_t cost_all_elements(const Xla__ShapeProto *shape);
/* The shape itself, or the first element of a tuple. */
const Xla__ShapeProto *cost_array(const Xla__ShapeProto *shape);
/* -1 if there is no such dimension. */
int64_t cost_dimension(const Xla__ShapeProto *shape, int64_t i);
/* Product of these dimensions; -1 if one is missing. */
int64_t cost_product(const Xla__ShapeProto *shape, const int64_t *dimensions, size_t n);
/* For an array: its layout names no other memory space. */
bool cost_in_main_memory(const Xla__ShapeProto *shape);
int cost_bits(int type);           /* bits of an element; 1 for pred */
int64_t cost_integer(float value); /* truncated, limited to int64; 0 for NaN */

/* Returns the operations of an elementwise instruction for one element. */
int64_t cost_cycles(enum HloOpcode opcode, int type);

#endif
