// SPDX-License-Identifier: Apache-2.0
/* op_scope.c: finds scopes in the names of framework ops. A name is a path of components. Each is a
 * scope of the model, or added by the framework around scopes. */
#include "op_scope.h"

const char *const op_pass_names[] = {"forward", "backward", "recomputed", NULL, NULL};

/* ---- components ---- */

/* Returns the position of the first of `c` outside of brackets, from `at` on; s.n if there is none.
 */
static size_t find_outside(Slice s, size_t at, char c)
{
    size_t depth = 0;
    for (; at < s.n; at++) {
        char x = s.text[at];
        if (x == c && !depth) break;
        if (x == '(' || x == '[' || x == '{') depth++;
        if ((x == ')' || x == ']' || x == '}') && depth) depth--;
    }
    return at;
}

static Slice part(Slice s, size_t start, size_t end)
{
    return (Slice){s.text + start, end - start};
}

/* Splits W(X), where the last bracket closes the first. */
static bool split_call(Slice s, Slice *wrapper, Slice *inner)
{
    const char *open = s.n ? memchr(s.text, '(', s.n) : NULL;
    if (!open || s.text[s.n - 1] != ')') return false;
    size_t at = (size_t)(open - s.text), depth = 0;
    for (size_t i = at; i < s.n; i++) {
        depth += s.text[i] == '(';
        if (s.text[i] == ')' && !--depth && i + 1 < s.n) return false;
    }
    if (depth) return false;
    *wrapper = part(s, 0, at), *inner = part(s, at + 1, s.n - 1);
    return true;
}

static const char *const functions[] = {"jit", "pjit", "pmap", "xmap"};
static const char *const transformations[] = {"jvp",        "transpose",  "vmap",  "vjp",
                                              "linearize",  "checkpoint", "remat", "custom_jvp",
                                              "custom_vjp", "shard_map"};
static const char *const fillers[] = {"checkpoint",
                                      "remat",
                                      "remat2",
                                      "rematted_computation",
                                      "closed_call",
                                      "core_call",
                                      "core_closed_call",
                                      "eval_jaxpr",
                                      "named_call",
                                      "custom_jvp_call",
                                      "custom_vjp_call",
                                      "custom_vjp_call_jaxpr",
                                      "shard_map",
                                      "pjit",
                                      "jit",
                                      "xla_call",
                                      "while",
                                      "gradient_tape",
                                      "PartitionedCall",
                                      "StatefulPartitionedCall"};

/* Returns whether a component is a branch of a conditional, such as branch_1_fun. */
static bool is_branch(Slice s)
{
    if (!slice_starts(s, "branch_") || !slice_ends(s, "_fun") || s.n < 12) return false;
    for (size_t i = 7; i < s.n - 4; i++)
        if (s.text[i] < '0' || s.text[i] > '9') return false;
    return true;
}

/* Returns whether a component is TensorFlow 1's first scope of gradients: gradients, gradients_1.
 */
static bool is_gradients(Slice s)
{
    if (!slice_starts(s, "gradients")) return false;
    if (s.n == 9) return true;
    if (s.n == 10 || s.text[9] != '_') return false;
    for (size_t i = 10; i < s.n; i++)
        if (s.text[i] < '0' || s.text[i] > '9') return false;
    return true;
}

/* Returns whether a component is an operator of PyTorch, such as aten__mul, or PyTorch/XLA's scope
 * of one that consists of several, such as aten__mul.3. */
static bool is_operator(Slice s)
{
    return slice_starts(s, "aten__") || slice_starts(s, "prim__") || slice_starts(s, "xla__");
}

/* ---- a name ---- */

typedef struct {
    TextBuffer *scope;
    enum OpPass pass;
    size_t n;         /* number of components until now */
    bool after_while; /* the component before is `while` */
    bool after_cond;  /* the component before is `cond`, which is added if no branch follows */
    bool of_torch;    /* the op is an operator of PyTorch */
} Scope;

static void keep(Scope *s, Slice component)
{
    if (s->scope && s->n) text_add_char(s->scope, '/');
    if (s->scope) text_add_bytes(s->scope, component.text, component.n);
    s->n++;
}

static void set_pass(Scope *s, enum OpPass pass)
{
    if (pass > s->pass) s->pass = pass;
}

/* around one component; the time for each grows with the text inside */
enum { MOST_WRAPPERS = 64 };

/* Removes the wrappers of a component. False if nothing is left. */
static bool unwrap(Scope *s, Slice *c)
{
    Slice wrapper, inner;
    for (int i = 0; i < MOST_WRAPPERS && split_call(*c, &wrapper, &inner); i++) {
        if (slice_is_any(wrapper, functions, COUNT(functions))) return false;
        if (!slice_is_any(wrapper, transformations, COUNT(transformations))) break;
        if (slice_is(wrapper, "transpose")) set_pass(s, PASS_BACKWARD);
        *c = inner;
    }
    return c->n > 0;
}

static void add_component(Scope *s, Slice c, bool is_op)
{
    bool left = unwrap(s, &c), branch = left && !is_op && is_branch(c);
    bool after_while = s->after_while;
    if (s->after_cond && !branch) keep(s, slice_of_string("cond"));
    s->after_while = s->after_cond = false;
    if (!left) return;
    if (is_op) {
        s->of_torch = is_operator(c);
        if (s->of_torch && slice_contains(c, "_backward")) set_pass(s, PASS_BACKWARD);
        return;
    }
    if (slice_is(c, "rematted_computation")) set_pass(s, PASS_RECOMPUTED);
    if (slice_is(c, "gradient_tape")) set_pass(s, PASS_BACKWARD);
    if (!s->n && is_gradients(c)) {
        set_pass(s, PASS_BACKWARD);
    } else if (slice_is(c, "while")) {
        s->after_while = true;
    } else if (slice_is(c, "cond")) {
        s->after_cond = !after_while;
    } else if (!branch && !slice_is_any(c, fillers, COUNT(fillers)) && !slice_starts(c, "eqx.") &&
               !is_operator(c) && !(after_while && slice_is(c, "body"))) {
        keep(s, c);
    }
}

static enum OpPass pass_of(const Scope *s)
{
    return s->of_torch && s->pass == PASS_FORWARD ? PASS_BY_STACK : s->pass;
}

/* ---- merged names ----
 *
 * An op that XLA combines of several, such as the all-reduce of several gradients, has a name
 * merged of theirs: what they have in common until a `/`, then the rests:
 * "jit(step)/(a/add:b/mul)". */

enum { MOST_MERGED = 8 }; /* levels of merged names in merged names; each reads the text again */

/* Finds the rests in the last component of a name. */
static bool split_merged(Slice last, Slice *rests)
{
    Slice wrapper;
    return split_call(last, &wrapper, rests) && !wrapper.n &&
           find_outside(*rests, 0, ':') < rests->n;
}

/* Backward comes first: its work remains if nothing is recomputed. */
static int rank_of(const Scope *s)
{
    static const int ranks[] = {
        [PASS_FORWARD] = 0, [PASS_BY_STACK] = 1, [PASS_RECOMPUTED] = 2, [PASS_BACKWARD] = 3};
    return ranks[pass_of(s)];
}

/* Returns the length of the components that two scopes start with. */
static size_t common_components(Slice a, Slice b)
{
    size_t n = 0;
    for (size_t at = 0; at <= a.n && at <= b.n; at = n + 1) {
        size_t end = find_outside(a, at, '/');
        if (find_outside(b, at, '/') != end || memcmp(a.text + at, b.text + at, end - at)) break;
        n = end;
    }
    return n;
}

static void cut_text(TextBuffer *text, size_t n_bytes)
{
    if (text->n_bytes > n_bytes) text->text[text->n_bytes = n_bytes] = 0;
}

static void add_path(Scope *s, Slice path, int level);

/* Continues a scope with several rests. The result has the pass that comes first, and what the
 * scopes of this pass have in common. */
static void add_merged(Scope *s, Slice rests, int level)
{
    TextBuffer *text = s->scope;
    Scope result = *s;
    size_t start = text ? text->n_bytes : 0;
    for (size_t at = 0, end; at <= rests.n; at = end + 1) {
        end = find_outside(rests, at, ':');
        Scope next = *s;
        size_t before = text ? text->n_bytes : 0;
        add_path(&next, part(rests, at, end), level + 1);
        int order = at ? rank_of(&next) - rank_of(&result) : 1;
        if (order > 0) result = next;
        if (!text || !text->text || text->no_memory) continue;
        Slice kept = {text->text + start, before - start},
              added = {text->text + before, text->n_bytes - before};
        if (order > 0) {
            memmove(text->text + start, added.text, added.n);
            cut_text(text, start + added.n);
        } else {
            cut_text(text, order ? before : start + common_components(kept, added));
        }
    }
    *s = result;
}

static void add_path(Scope *s, Slice path, int level)
{
    for (size_t at = 0, end; at <= path.n; at = end + 1) {
        end = find_outside(path, at, '/');
        Slice component = part(path, at, end), rests;
        if (end == path.n && level < MOST_MERGED && split_merged(component, &rests))
            add_merged(s, rests, level);
        else
            add_component(s, component, end == path.n);
    }
}

/* ---- the entire name ---- */

/* Returns the name without the op's type, and without other names that follow it. */
static Slice plain_name(Slice name)
{
    name.n = find_outside(name, 0, ';');
    size_t colon = name.n;
    for (size_t at = find_outside(name, 0, ':'); at < name.n; at = find_outside(name, at + 1, ':'))
        colon = at;
    if (colon < name.n && !memchr(name.text + colon, '/', name.n - colon)) name.n = colon;
    return name;
}

enum OpPass op_scope(Slice name, TextBuffer *scope)
{
    Scope s = {.scope = scope};
    Slice whole = part(name, 0, find_outside(name, 0, ';'));
    name = plain_name(name);
    bool is_range = whole.n > name.n && slice_is(part(whole, name.n, whole.n), ":NVTX");
    add_path(&s, name, 0);
    return is_range ? PASS_UNKNOWN : pass_of(&s);
}

Slice op_scope_prefix(Slice scope, int64_t depth)
{
    size_t end = 0;
    for (int64_t i = 0; i < depth && end < scope.n; i++)
        end = find_outside(scope, i ? end + 1 : 0, '/');
    return part(scope, 0, end);
}
