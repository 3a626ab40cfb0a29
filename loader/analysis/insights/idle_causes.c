// SPDX-License-Identifier: Apache-2.0
/* idle_causes.c: sums what host threads did while devices were idle, over all hosts; see
 * idle_causes.h. */
#include "../../base/interrupt.h"
#include "../../base/sort.h"
#include "idle_parts.h"

const char *const idle_cause_names[N_IDLE_CAUSES] = {"unknown",   "host",     "python", "queued",
                                                     "launching", "waiting",  "copy",   "input",
                                                     "tracing",   "compiling"};

/* A path is shown in full as far as its share of the idle time is at least this part; its longer
 * ends are too many. */
enum { SHARE_OF_A_NAME = 10 };

/* Sums the times of each path and of the paths that continue it, which come later in the list. */
static void sum_paths(IdleTree *tree)
{
    for (size_t i = tree->nodes.n; i-- > 0;) {
        IdleNode *node = &tree->nodes.items[i];
        node->all_ps += node->own_ps;
        if (node->parent) tree->nodes.items[node->parent - 1].all_ps += node->all_ps;
    }
}

static bool is_frame(const Text *text) { return *text->text == '$'; }

/* Sets the names of a path: those of its innermost event and frame with a large enough share, else
 * of the outermost. */
static void name_row(const IdleTree *tree, const IdleNode *node, uint64_t least, IdleRow *row)
{
    while (node->parent && node->all_ps < least) node = &tree->nodes.items[node->parent - 1];
    for (;; node = &tree->nodes.items[node->parent - 1]) {
        const Text **name = is_frame(node->text) ? &row->python_frame : &row->name;
        if (!*name) *name = node->text;
        if (!node->parent || (row->name && row->python_frame)) return;
    }
}

static int by_names(const void *a, const void *b)
{
    const IdleRow *x = a, *y = b;
    if (x->cause != y->cause) return ORDER(x->cause, y->cause);
    if (x->name != y->name) return ORDER((uintptr_t)x->name, (uintptr_t)y->name);
    return ORDER((uintptr_t)x->python_frame, (uintptr_t)y->python_frame);
}

static int compare_texts(const Text *x, const Text *y)
{
    return strcmp(x ? x->text : "", y ? y->text : "");
}

static int longest_first(const void *a, const void *b)
{
    const IdleRow *x = a, *y = b;
    if (x->idle_ps != y->idle_ps) return ORDER(y->idle_ps, x->idle_ps);
    if (x->cause != y->cause) return ORDER(y->cause, x->cause);
    int order = compare_texts(x->name, y->name);
    return order ? order : compare_texts(x->python_frame, y->python_frame);
}

static int list_rows(const IdleTree *tree, IdleCauses *out, ProfErr *err)
{
    size_t n = 0;
    IdleRow *rows = arena_alloc(&out->arena, (tree->nodes.n + 2) * sizeof *rows);
    if (!rows) return prof_nomem(err);
    out->idle_ps = tree->queued_ps + tree->unknown_ps;
    for (size_t i = 0; i < tree->nodes.n; i++) out->idle_ps += tree->nodes.items[i].own_ps;
    for (size_t i = 0; i < tree->nodes.n && !interrupt_poll(1, err); i++) {
        const IdleNode *node = &tree->nodes.items[i];
        if (!node->own_ps) continue;
        rows[n] = (IdleRow){.cause = (enum IdleCause)node->cause, .idle_ps = node->own_ps};
        name_row(tree, node, out->idle_ps / SHARE_OF_A_NAME, &rows[n++]);
    }
    if (tree->queued_ps) rows[n++] = (IdleRow){.cause = IDLE_QUEUED, .idle_ps = tree->queued_ps};
    if (tree->unknown_ps) rows[n++] = (IdleRow){.cause = IDLE_UNKNOWN, .idle_ps = tree->unknown_ps};
    sort_array(rows, n, sizeof *rows, by_names);
    for (size_t i = 0; i < n; i++)
        if (out->n && !by_names(&rows[out->n - 1], &rows[i]))
            rows[out->n - 1].idle_ps += rows[i].idle_ps;
        else
            rows[out->n++] = rows[i];
    sort_array(rows, out->n, sizeof *rows, longest_first);
    out->rows = rows, out->n_devices = tree->n_devices;
    return err->code;
}

void idle_causes_free(IdleCauses *causes)
{
    arena_free(&causes->arena);
    arena_free(&causes->names);
    prof_free(causes);
}

IdleCauses *idle_tree_rows(IdleTree *tree, ProfErr *err)
{
    IdleCauses *out = prof_alloc(sizeof *out);
    if (out)
        out->names = tree->arena;
    else
        arena_free(&tree->arena), prof_nomem(err);
    if (!err->code) {
        sum_paths(tree);
        list_rows(tree, out, err);
    }
    text_table_free(&tree->names);
    prof_free(tree->nodes.items);
    hash_free(&tree->by_path);
    if (out && err->code) idle_causes_free(out);
    return err->code ? NULL : out;
}

/* Reads the hosts of a run. Each run is judged separately: the first class of devices with work
 * counts. */
static int read_hosts(Run *run, Host *only, IdleTree *tree, ProfErr *err)
{
    for (int which = 0; which < N_IDLE_CLASSES && !tree->n_devices && !err->code; which++)
        for (size_t h = 0; h < run->n_hosts && !err->code; h++) {
            Host *host = &run->hosts[h];
            IdleStretches stretches = {0};
            IdleNames kernels = {0};
            if ((only && only != host) || host_load_only(host, err)) continue;
            idle_gaps_of_host(host, (enum IdleClass)which, &stretches, &kernels, tree, err);
            if (stretches.n && !err->code)
                idle_threads_of_host(host, &stretches, &kernels, tree, err);
            prof_free(stretches.items);
            prof_free(kernels.items);
        }
    return err->code;
}

static void idle_causes_release(void *result) { idle_causes_free(result); }

static void *idle_causes_make(Run *run, Host *only, ProfErr *err)
{
    IdleTree tree = {0};
    read_hosts(run, only, &tree, err);
    return idle_tree_rows(&tree, err);
}

const IdleCauses *run_idle_causes(Run *run, Host *only, ProfErr *err)
{
    static const Analysis analysis = {idle_causes_make, idle_causes_release,
                                      NEEDS_ONE_HOST_AT_A_TIME};
    return run_analysis(run, only, &analysis, err);
}
