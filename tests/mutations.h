// SPDX-License-Identifier: Apache-2.0
/* mutations.h: random changes of an XSpace that know what its fields are; for tests alone.
 *
 * The draws come from `state`: the same state and the same profile make the same changes. */
#ifndef MUTATIONS_H
#define MUTATIONS_H

#include "message_tree.h"

#include <stdio.h>

static uint64_t state;

static uint64_t any(void) /* splitmix64 */
{
    uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}
static size_t below(size_t n) { return n ? any() % n : 0; }
static bool one_in(size_t n) { return below(n) == 0; }

typedef struct {
    Node **nodes, **parents;
    size_t n, room;
} List;
static List lists[K_COUNT];

static void add(List *list, Node *node, Node *parent)
{
    if (list->n == list->room) {
        size_t room = list->room ? 2 * list->room : 1024;
        Node **nodes = take(2 * room * sizeof *nodes);
        if (list->n)
            memcpy(nodes, list->nodes, list->n * sizeof *nodes),
                memcpy(nodes + room, list->parents, list->n * sizeof *nodes);
        list->nodes = nodes, list->parents = nodes + room, list->room = room;
    }
    list->nodes[list->n] = node, list->parents[list->n++] = parent;
}

static void collect(Node *parent)
{
    for (Node *node = parent->child; node; node = node->next) {
        add(&lists[node->kind], node, parent);
        if (node->kind != K_LEAF) collect(node);
    }
}

static void collect_all(Node *root)
{
    for (int k = 0; k < K_COUNT; k++) lists[k].n = 0;
    collect(root);
}

/* A leaf of messages of a kind that is drawn first: events have most leaves, and are not most of
 * what can go wrong. */
static Node *any_leaf(void)
{
    static const Kind kinds[] = {K_SPACE,       K_PLANE,      K_LINE,           K_EVENT,
                                 K_STAT,        K_STAT,       K_EVENT_METADATA, K_STAT_METADATA,
                                 K_EVENT_ENTRY, K_STAT_ENTRY, K_GUESSED};
    const List *leaves = &lists[K_LEAF];
    for (int tries = 0; tries < 20 && leaves->n; tries++) {
        Kind kind = kinds[below(sizeof kinds / sizeof *kinds)];
        size_t at = below(leaves->n);
        for (size_t i = 0; i < leaves->n; i++)
            if (leaves->nodes[(at + i) % leaves->n]->parent == kind)
                return leaves->nodes[(at + i) % leaves->n];
    }
    return NULL;
}

/* A leaf like this one, of the same field of another message. */
static Node *leaf_like(const Node *leaf)
{
    const List *leaves = &lists[K_LEAF];
    size_t at = below(leaves->n);
    for (size_t i = 0; i < leaves->n; i++) {
        Node *other = leaves->nodes[(at + i) % leaves->n];
        if (other != leaf && other->parent == leaf->parent && other->field == leaf->field &&
            other->wire == leaf->wire)
            return other;
    }
    return NULL;
}

static uint64_t any_number(uint64_t now)
{
    static const uint64_t extremes[] = {0,
                                        1,
                                        2,
                                        3,
                                        7,
                                        64,
                                        1000,
                                        UINT64_MAX,
                                        INT64_MAX,
                                        (uint64_t)INT64_MAX + 1,
                                        INT64_MAX - 1,
                                        UINT32_MAX,
                                        (uint64_t)UINT32_MAX + 1,
                                        INT32_MAX,
                                        (uint64_t)INT32_MAX + 1,
                                        UINT64_MAX - 1,
                                        UINT64_MAX / 1000,
                                        INT64_MAX / 1000,
                                        INT64_MAX / 1000 + 1,
                                        (uint64_t)INT64_MIN + 1,
                                        (uint64_t)-1000};
    switch (below(6)) {
    case 0: return any();
    case 1: return now + 1;
    case 2: return now - 1;
    case 3: return now << below(64);
    default: return extremes[below(sizeof extremes / sizeof *extremes)];
    }
}

static uint64_t any_double(void)
{
    static const double extremes[] = {0.0,    -0.0,    1.0,    -1.0,  1e308, -1e308, 5e-324,
                                      9.3e18, -9.3e18, 1.9e19, 1e300, 0.1,   1e15,   4294967296.0};
    static const uint64_t bits[] = {0x7ff0000000000000u, 0xfff0000000000000u, 0x7ff8000000000000u,
                                    0xfff8000000000001u};
    uint64_t x;
    if (one_in(3)) return bits[below(4)];
    if (one_in(6)) return any();
    memcpy(&x, &extremes[below(sizeof extremes / sizeof *extremes)], sizeof x);
    return x;
}

static void set_text(Node *leaf, const void *text, size_t n)
{
    uint8_t *made = take(n ? n : 1);
    memcpy(made, text, n);
    leaf->bytes = made, leaf->n = n, leaf->kind = K_LEAF, leaf->child = NULL;
}

static void change_text(Node *leaf)
{
    static const char *const words[] = {"",
                                        "#",
                                        "::",
                                        "/",
                                        "%",
                                        "=",
                                        ":",
                                        ";",
                                        "(",
                                        "()",
                                        "a#step_num=-1#",
                                        "train#step_num=99999999999999999999,_r=1#",
                                        "x#id=1,=,,#y#",
                                        "f32[",
                                        "f32[99999999999,99999999999]{1,0:T(8,128)}",
                                        "%x = (f32[2]{0}, ()) fusion(",
                                        "\xff\xfe",
                                        "\"",
                                        "\\",
                                        "\n",
                                        "/host:CPU",
                                        "/device:GPU:0",
                                        "/device:TPU:0",
                                        "/device:TPU:0 SparseCore 0",
                                        "/host:metadata",
                                        "Steps",
                                        "XLA Ops",
                                        "XLA Modules",
                                        "Async XLA Ops",
                                        "9223372036854775808",
                                        "-9223372036854775808",
                                        "1e999",
                                        "nan",
                                        "regs:-1 grid:9999999999,1,1 block:0,0,0 occ_pct:inf"};
    uint8_t text[512];
    Node *other = leaf_like(leaf);
    size_t n = leaf->n < sizeof text ? leaf->n : sizeof text;
#ifdef OWN_TEXT_CHANGE /* OWN_TEXT_CHANGE(bytes, n, room) changes a text in place and returns its  \
                          new length */
    if (one_in(2)) {
        memcpy(text, leaf->bytes, n);
        return set_text(leaf, text, OWN_TEXT_CHANGE(text, n, sizeof text));
    }
#endif
    switch (below(8)) {
    case 0: leaf->n = 0; break;
    case 6:
        memcpy(text, leaf->bytes, n);
        for (size_t i = 0; i < n; i++)
            if (one_in(4)) text[i] |= 0x80;
        set_text(leaf, text, n);
        break;
    case 1: {
        const char *word = words[below(sizeof words / sizeof *words)];
        set_text(leaf, word, strlen(word));
        break;
    }
    case 2: set_text(leaf, leaf->bytes, below(leaf->n + 1)); break;
    case 3: {
        uint8_t *twice = take(2 * leaf->n + 1);
        memcpy(twice, leaf->bytes, leaf->n);
        memcpy(twice + leaf->n, leaf->bytes, leaf->n);
        leaf->bytes = twice, leaf->n *= 2;
        break;
    }
    case 4:
        memcpy(text, leaf->bytes, n);
        if (n) text[below(n)] = (uint8_t)any();
        set_text(leaf, text, n);
        break;
    case 5: {
        size_t many = 1 + below(20000);
        uint8_t *same = take(many);
        memset(same, "a#,=/:({\"\x80 9"[below(12)], many);
        leaf->bytes = same, leaf->n = many;
        break;
    }
    default:
        if (other) leaf->bytes = other->bytes, leaf->n = other->n;
    }
}

static void change_leaf(Node *leaf)
{
    Node *other = one_in(4) ? leaf_like(leaf) : NULL;
    if (other)
        leaf->value = other->value, leaf->bytes = other->bytes, leaf->n = other->n;
    else if (leaf->wire == 0)
        leaf->value = any_number(leaf->value);
    else if (leaf->wire == 2)
        change_text(leaf);
    else
        leaf->value = any_double();
}

/* A stat's value, or any leaf, as one of another type. */
static void retype(Node *leaf)
{
    static const uint8_t wires[] = {
        0, 0, 1, 0,
        0, 2, 2, 0}; /* by field of XStat: 2 double, 3 uint64, 4 int64, 5 str, 6 bytes, 7 ref */
    uint32_t field = (uint32_t)(2 + below(6));
    if (leaf->parent == K_STAT && leaf->field == 1) return;
    leaf->field = field, leaf->wire = wires[field];
    if (leaf->wire == 2 && !leaf->bytes) {
        char text[32];
        snprintf(text, sizeof text, "%lld", (long long)leaf->value);
        set_text(leaf, text, strlen(text));
    }
    if (leaf->wire == 0 && one_in(2))
        leaf->value = one_in(2) ? below(200) : any_number(leaf->value);
    if (leaf->wire == 1) leaf->value = any_double();
    leaf->kind = K_LEAF, leaf->child = NULL;
}

static Node *field_of(Node *message, uint32_t field)
{
    for (Node *n = message->child; n; n = n->next)
        if (n->field == field) return n;
    return NULL;
}

static Node *any_of(Kind kind, Node **parent)
{
    List *list = &lists[kind];
    if (!list->n) return NULL;
    size_t i = below(list->n);
    if (parent) *parent = list->parents[i];
    return list->nodes[i];
}

static Kind any_kind(void)
{
    static const Kind kinds[] = {K_PLANE,          K_LINE,       K_LINE,          K_EVENT,
                                 K_EVENT,          K_STAT,       K_STAT,          K_EVENT_ENTRY,
                                 K_EVENT_METADATA, K_STAT_ENTRY, K_STAT_METADATA, K_GUESSED};
    return kinds[below(sizeof kinds / sizeof *kinds)];
}

static void unlink_node(Node *parent, Node *node)
{
    for (Node **at = &parent->child; *at; at = &(*at)->next)
        if (*at == node) {
            *at = node->next;
            return;
        }
}

static void move_or_copy(void)
{
    Node *from, *to;
    Kind kind = any_kind();
    Node *node = any_of(kind, &from);
    if (!node || !any_of(kind, &to)) return;
    switch (below(5)) {
    case 0: unlink_node(from, node); break;
    case 1: node->child = NULL; break;
    case 2: {
        size_t most = kind == K_PLANE ? 2 : 1 + below(20);
        for (size_t i = 0; i < most; i++) {
            Node *made = copy(node, false);
            made->next = node->next, node->next = made;
        }
        break;
    }
    case 3: {
        Node *made = copy(node, false);
        made->next = to->child, to->child = made;
        break;
    }
    default: {
        Node *other = any_of(kind, NULL), *child = other->child;
        other->child = node->child, node->child = child;
    }
    }
}

/* Two messages of a kind trade one field: names of stats and events, ids, durations. */
static void trade(void)
{
    static const struct {
        Kind kind;
        uint32_t field;
    } traded[] = {{K_STAT_METADATA, 2},  {K_STAT_METADATA, 2}, {K_EVENT_METADATA, 2},
                  {K_EVENT_METADATA, 4}, {K_LINE, 2},          {K_PLANE, 2},
                  {K_EVENT, 1},          {K_EVENT, 3},         {K_EVENT, 2},
                  {K_EVENT_METADATA, 3}, {K_STAT, 1},          {K_STAT_ENTRY, 1},
                  {K_EVENT_ENTRY, 1},    {K_LINE, 3}};
    size_t i = below(sizeof traded / sizeof *traded);
    Node *a = any_of(traded[i].kind, NULL), *b = any_of(traded[i].kind, NULL);
    Node *x = a ? field_of(a, traded[i].field) : NULL, *y = b ? field_of(b, traded[i].field) : NULL;
    if (!x || !y || x->wire != y->wire || x->kind != K_LEAF || y->kind != K_LEAF) return;
    Node t = *x;
    x->value = y->value, x->bytes = y->bytes, x->n = y->n;
    y->value = t.value, y->bytes = t.bytes, y->n = t.n;
}

/* One field of all messages of a kind, or the value of all stats of one name. */
static void change_everywhere(void)
{
    const List *stats = &lists[K_STAT];
    Node *leaf = any_leaf();
    size_t share = one_in(3) ? 1 : 1 + below(8), how = below(4);
    if (!leaf) return;
    if (one_in(2) && stats->n) {
        Node *entry = one_in(2) ? any_of(K_STAT_ENTRY, NULL) : NULL,
             *key = field_of(entry ? entry : any_of(K_STAT, NULL), 1); /* or a rare one */
        if (!key) return;
        uint64_t id = key->value;
        for (size_t i = 0; i < stats->n; i++) {
            Node *at = field_of(stats->nodes[i], 1), *value = at == stats->nodes[i]->child
                                                                  ? at ? at->next : NULL
                                                                  : stats->nodes[i]->child;
            if (!at || at->value != id || !value || !one_in(share)) continue;
            if (how == 0) retype(value);
            if (how != 0 || one_in(4)) change_leaf(value);
            if (how == 1) change_leaf(value);
        }
        return;
    }
    uint64_t same = any_number(leaf->value), step = any_number(1);
    Node like = *leaf;
    size_t n = 0;
    for (size_t i = 0; i < lists[K_LEAF].n; i++) {
        Node *other = lists[K_LEAF].nodes[i];
        if (other->parent != like.parent || other->field != like.field ||
            other->wire != like.wire || !one_in(share))
            continue;
        if (other->wire != 0 || how == 0)
            change_leaf(other);
        else
            other->value = how == 1 ? same : how == 2 ? same + step * n++ : other->value * step;
    }
}

/* Where the events of a line, or of all lines, are. */
static void change_times(void)
{
    Node *line = one_in(3) ? NULL : any_of(K_LINE, NULL);
    uint64_t at = any_number(1000), step = any_number(1000000),
             share = one_in(2) ? 1 : 1 + below(8);
    size_t how = below(7), n = 0;
    for (size_t i = 0; i < lists[K_EVENT].n; i++) {
        Node *event = lists[K_EVENT].nodes[i], *offset = field_of(event, 2),
             *duration = field_of(event, 3);
        if ((line && lists[K_EVENT].parents[i] != line) || !one_in(share)) continue;
        n++;
        if (duration && how != 1)
            duration->value = how == 0   ? 0
                              : how == 2 ? (uint64_t)INT64_MAX - n
                              : how == 3 ? at
                              : how == 4 ? step * n
                              : how == 5 ? any()
                                         : duration->value;
        if (offset && offset->field == 2 && how != 0)
            offset->value = how == 1   ? at
                            : how == 2 ? n
                            : how == 3 ? at + step * n
                            : how == 5 ? any()
                            : how == 6 ? at - offset->value
                                       : offset->value;
    }
}

/* A part of another profile. */
static void graft(const uint8_t *bytes, size_t n_bytes)
{
    Node other = {0}, *to;
    static const Kind kinds[] = {K_PLANE, K_LINE, K_EVENT_ENTRY, K_STAT_ENTRY, K_STAT, K_EVENT};
    Kind kind = kinds[below(sizeof kinds / sizeof *kinds)];
    if (!any_of(kind, &to) || !parse(bytes, n_bytes, K_SPACE, 0, &other.child)) return;
    List mine = lists[kind];
    for (int k = 0; k < K_COUNT; k++) lists[k] = (List){0};
    collect(&other);
    Node *node = any_of(kind, NULL);
    if (node) {
        Node *made = copy(node, false);
        made->next = to->child, to->child = made;
        if (kind == K_LINE || kind == K_PLANE) { /* with the names that it needs */
            for (size_t i = 0; i < lists[K_STAT_ENTRY].n && kind == K_LINE && one_in(2); i++) {
                Node *entry = copy(lists[K_STAT_ENTRY].nodes[i], false);
                entry->next = to->child, to->child = entry;
            }
        }
    }
    lists[kind] = mine;
}

/* One random change of the tree. donor: a profile from which a part may be copied. */
static void change(Node *root, const uint8_t *donor, size_t n_donor)
{
    collect_all(root);
    Node *leaf = any_leaf();
    switch (below(11)) {
    case 0:
    case 1:
        if (leaf) change_leaf(leaf);
        break;
    case 2: {
        Node *stat = any_of(K_STAT, NULL);
        for (Node *value = stat ? stat->child : NULL; value; value = value->next) retype(value);
        break;
    }
    case 3: move_or_copy(); break;
    case 4:
    case 5: trade(); break;
    case 6:
    case 7: change_everywhere(); break;
    case 8:
    case 9: change_times(); break;
    default: graft(donor, n_donor);
    }
}

#endif
