// SPDX-License-Identifier: Apache-2.0
/* hlo_common_attributes.c: writes the attributes that any instruction may have: called
 * computations, sharding, frontend attributes, control predecessors, statistics, the origin of its
 * value, and the backend's configuration. */
#include "hlo_writer.h"

#include "../base/sort.h"
#include "hlo_type.h"

/* ---- called computations ---- */

void hlo_write_key(const HloWriter *w, const char *name)
{
    text_add(w->out, ", ");
    text_add(w->out, name);
    text_add_char(w->out, '=');
}

static void name_of(const HloWriter *w, const char *name)
{
    if (w->percent) text_add_char(w->out, '%');
    text_add(w->out, name);
}

static void called(const HloWriter *w, const Xla__HloComputationProto *c)
{
    if (!w->canonical) {
        name_of(w, c->name);
        return;
    }
    text_add_char(w->out, '\n');
    hlo_write_body(w, c);
}

static void computation(const HloWriter *w, const char *name, const Xla__HloInstructionProto *op,
                        size_t i)
{
    const Xla__HloComputationProto *c =
        i < op->more->n_called_computation_ids
            ? hlo_computation(w->module, op->more->called_computation_ids[i])
            : NULL;
    if (!c) return;
    hlo_write_key(w, name);
    called(w, c);
}

static void computations(const HloWriter *w, const char *name, const Xla__HloInstructionProto *op)
{
    hlo_write_key(w, name);
    text_add_char(w->out, '{');
    for (size_t i = 0; i < op->more->n_called_computation_ids; i++) {
        const Xla__HloComputationProto *c =
            hlo_computation(w->module, op->more->called_computation_ids[i]);
        if (i) text_add(w->out, w->canonical ? "," : ", ");
        if (c) called(w, c);
    }
    if (w->canonical) text_add_char(w->out, '\n');
    text_add_char(w->out, '}');
}

/* Appends the computations that an instruction of an unknown opcode calls, for canonical text. */
static void all_calls(const HloWriter *w, const Xla__HloInstructionProto *op)
{
    hlo_write_key(w, "calls");
    text_add_char(w->out, '\n');
    for (size_t i = 0; i < op->more->n_called_computation_ids; i++) {
        const Xla__HloComputationProto *c =
            hlo_computation(w->module, op->more->called_computation_ids[i]);
        if (i) text_add(w->out, ", ");
        if (c) hlo_write_body(w, c);
    }
}

static void called_computations(const HloWriter *w, const Xla__HloInstructionProto *op,
                                enum HloOpcode opcode)
{
    if (!op->more->n_called_computation_ids) return;
    switch (opcode) {
    case HLO_WHILE:
        computation(w, "condition", op, 1);
        computation(w, "body", op, 0);
        break;
    case HLO_SELECT_AND_SCATTER:
        computation(w, "select", op, 0);
        computation(w, "scatter", op, 1);
        break;
    case HLO_CONDITIONAL: {
        const Xla__HloInstructionProto *index =
            op->n_operand_ids ? hlo_instruction(w->module, op->operand_ids[0]) : NULL;
        if (index && index->shape && index->shape->element_type == XLA_PRED) {
            computation(w, "true_computation", op, 0);
            computation(w, "false_computation", op, 1);
        } else {
            computations(w, "branch_computations", op);
        }
        break;
    }
    case HLO_CALL:
    case HLO_MAP:
    case HLO_REDUCE:
    case HLO_REDUCE_WINDOW:
    case HLO_ALL_REDUCE:
    case HLO_ALL_REDUCE_START:
    case HLO_COLLECTIVE_REDUCE:
    case HLO_SCATTER:
    case HLO_SORT:
    case HLO_TOPK: computation(w, "to_apply", op, 0); break;
    case HLO_REDUCE_SCATTER:
    case HLO_SCAN:
        if (w->canonical)
            all_calls(w, op);
        else
            computation(w, "to_apply", op, 0);
        break;
    case HLO_CUSTOM_CALL: computations(w, "called_computations", op); break;
    case HLO_ASYNC_START:
        if (w->canonical || !hlo_async_single(w->module, op)) computation(w, "calls", op, 0);
        break;
    case HLO_ASYNC_UPDATE:
    case HLO_ASYNC_DONE: break;
    default: computation(w, "calls", op, 0); break;
    }
    if (opcode == HLO_CALL && op->more->rare->is_composite) text_add(w->out, ", is_composite=true");
}

/* Returns whether XLA's lexer accepts the text as one JSON object: braces in balance outside of
 * strings, then only blanks and comments. */
static bool is_json_object(const char *p, const char *end)
{
    while (p < end && (*p == ' ' || *p == '\t' || *p == '\n' || *p == '\r')) p++;
    if (p == end || *p != '{') return false;
    size_t depth = 0;
    do {
        char c = *p++;
        if (c == '{') depth++;
        if (c == '}') depth--;
        if (c != '"') continue;
        while (p < end && *p != '"')
            p += *p == '\\' && p + 1 < end && (p[1] == '\\' || p[1] == '"') ? 2 : 1;
        if (p < end) p++;
    } while (depth && p < end);
    if (depth) return false;
    while (p < end) {
        const char *close;
        if (*p == ' ' || *p == '\t' || *p == '\n' || *p == '\r') {
            p++;
        } else if (end - p > 1 && p[0] == '/' && p[1] == '*') {
            for (close = p + 2; end - close > 1 && (close[0] != '*' || close[1] != '/');) close++;
            if (end - close < 2) return false;
            p = close + 2;
        } else if (end - p > 1 && p[0] == '/' && p[1] == '/') {
            while (p < end && *p != '\n' && *p != '\r') p++;
        } else {
            return false;
        }
    }
    return true;
}

static void raw_or_quoted(TextBuffer *out, const char *bytes, size_t n)
{
    if (is_json_object(bytes, bytes + n)) {
        text_add_bytes(out, bytes, n);
        return;
    }
    text_add_char(out, '"');
    text_add_escaped(out, bytes, n);
    text_add_char(out, '"');
}

static int by_key(const void *a, const void *b)
{
    return strcmp((*(Xla__FrontendAttributes__MapEntry *const *)a)->key,
                  (*(Xla__FrontendAttributes__MapEntry *const *)b)->key);
}

void hlo_write_frontend_attributes(TextBuffer *out, const Xla__FrontendAttributes *attributes)
{
    if (!attributes || !attributes->n_map) return;
    Xla__FrontendAttributes__MapEntry **sorted = prof_alloc(attributes->n_map * sizeof *sorted);
    if (!sorted) {
        out->no_memory = true;
        return;
    }
    memcpy(sorted, attributes->map, attributes->n_map * sizeof *sorted);
    sort_array(sorted, attributes->n_map, sizeof *sorted, by_key);
    text_add(out, ", frontend_attributes={");
    for (size_t i = 0; i < attributes->n_map; i++) {
        if (i) text_add_char(out, ',');
        text_add(out, sorted[i]->key);
        text_add_char(out, '=');
        raw_or_quoted(out, sorted[i]->value, strlen(sorted[i]->value));
    }
    text_add_char(out, '}');
    prof_free(sorted);
}

static void control_predecessors(const HloWriter *w, const Xla__HloInstructionProto *op)
{
    if (!w->control || !op->more->n_control_predecessor_ids) return;
    hlo_write_key(w, "control-predecessors");
    for (size_t i = 0; i < op->more->n_control_predecessor_ids; i++) {
        const Xla__HloInstructionProto *before =
            hlo_instruction(w->module, op->more->control_predecessor_ids[i]);
        text_add(w->out, i ? ", " : "{");
        if (before) name_of(w, before->name);
    }
    text_add_char(w->out, '}');
}

static void statistics(const HloWriter *w, const Xla__StatisticsViz *s)
{
    if (!s || !s->n_statistics) return;
    hlo_write_key(w, "statistics");
    text_add_format(w->out, "{visualizing_index=%lld", (long long)s->stat_index_to_visualize);
    for (size_t i = 0; i < s->n_statistics; i++) {
        text_add_char(w->out, ',');
        text_add(w->out, s->statistics[i]->stat_name);
        text_add_char(w->out, '=');
        text_add_real(w->out, s->statistics[i]->stat_val, 6);
    }
    text_add_char(w->out, '}');
}

/* ---- where a value comes from ---- */

enum { MAX_SHAPE_INDEX = 32, MAX_SEARCHES = 1 << 20 };

typedef struct {
    const Xla__OriginalValueProto *value;
    size_t next, searches; /* elements come in order of the shape: the next one, and how often it
                              was another */
    int64_t index[MAX_SHAPE_INDEX];
} Origin;

static const Xla__OriginalValueElementProto *origin_at(Origin *o, size_t depth)
{
    for (size_t i = 0; i < o->value->n_elements && o->searches < MAX_SEARCHES; i++) {
        const Xla__OriginalValueElementProto *e =
            o->value->elements[(o->next + i) % o->value->n_elements];
        if (e->n_shape_index == depth &&
            (!depth || !memcmp(e->shape_index, o->index, depth * sizeof *o->index))) {
            o->next += i + 1;
            return e;
        }
        o->searches++;
    }
    return NULL;
}

/* Appends the original arrays of a shape's leaves, nested like the shape. */
static void origin_part(const HloWriter *w, Origin *o, const Xla__ShapeProto *shape, size_t depth)
{
    if (shape->element_type == XLA_TUPLE && depth < MAX_SHAPE_INDEX) {
        text_add_char(w->out, '(');
        for (size_t i = 0; i < shape->n_tuple_shapes; i++) {
            if (i) text_add(w->out, ", ");
            o->index[depth] = (int64_t)i;
            origin_part(w, o, shape->tuple_shapes[i], depth + 1);
        }
        {
            text_add_char(w->out, ')');
            return;
        }
    }
    const Xla__OriginalValueElementProto *e = origin_at(o, depth);
    if (!e) {
        text_add(w->out, "()");
        return;
    }
    text_add_char(w->out, '{');
    if (e->original_array) {
        text_add_char(w->out, '"');
        text_add(w->out, e->original_array->instruction_name);
        text_add_char(w->out, '"');
        if (e->original_array->n_shape_index) {
            text_add(w->out, " {");
            hlo_write_integers(w->out, e->original_array->shape_index,
                               e->original_array->n_shape_index);
            text_add_char(w->out, '}');
        }
    }
    text_add_char(w->out, '}');
}

static void origin(const HloWriter *w, const Xla__HloInstructionProto *op)
{
    Origin o = {.value = op->more->rare->original_value};
    if (!o.value || !op->shape) return;
    hlo_write_key(w, "origin");
    text_add_char(w->out, '{');
    origin_part(w, &o, op->shape, 0);
    if (*o.value->call_hierarchy) {
        text_add(w->out, ",[\"");
        text_add(w->out, o.value->call_hierarchy);
        text_add(w->out, "\"]");
    }
    text_add_char(w->out, '}');
}

void hlo_write_common_attributes(const HloWriter *w, const Xla__HloInstructionProto *op)
{
    called_computations(w, op, hlo_opcode(op->opcode));
    if (op->more->sharding) {
        hlo_write_key(w, "sharding");
        hlo_write_sharding(w->out, op->more->sharding);
    }
    hlo_write_frontend_attributes(w->out, op->more->frontend_attributes);
    control_predecessors(w, op);
    statistics(w, op->more->statistics_viz);
    origin(w, op);
}

/* Parts that XLA removes from every backend_config. */
static const char queues[] = "\"wait_on_operation_queues\":[],";

void hlo_write_backend_config(const HloWriter *w, const Xla__HloInstructionProto *op)
{
    size_t n;
    const char *p = (const char *)hlo_backend_config(w->module, op, &n), *end = p + n;
    if (!w->configs || !n) return;
    TextBuffer kept = {0};
    for (const char *plain = p;; p++) {
        size_t left = (size_t)(end - p);
        bool cut = left >= sizeof queues - 1 && !memcmp(p, queues, sizeof queues - 1);
        if (left && !cut) continue;
        text_add_bytes(&kept, plain, (size_t)(p - plain));
        if (!left) break;
        p += sizeof queues - 2, plain = p + 1;
    }
    hlo_write_key(w, "backend_config");
    if (!kept.no_memory) raw_or_quoted(w->out, kept.text, kept.n_bytes);
    w->out->no_memory |= kept.no_memory;
    text_free(&kept);
}
