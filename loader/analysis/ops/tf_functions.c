// SPDX-License-Identifier: Apache-2.0
/* tf_functions.c: sums calls of tf.function; see tf_functions.h.
 *
 * A call is an event of a host thread with the stat tf_function_call. Calls nest on their thread.
 * Starts and ends are processed by time alone; at equal times, in std::sort's order. */
#include "tf_functions.h"

#include "../../base/search.h"
#include "../../base/std_sort.h"
#include "../../store/event_stats.h"
#include "../../store/events.h"
#include "op_metrics.h"

const char *const function_mode_names[] = {"INVALID", "EAGER", "TRACED", "NOT_TRACED", "CONCRETE"};
const char *const function_compiler_names[] = {"INVALID", "OTHER", "MIXED", "XLA"};

static const struct {
    const char *text;
    enum FunctionMode mode;
    enum FunctionCompiler compiler;
} calls[] = {
    {"eager", MODE_EAGER, COMPILER_INVALID},
    {"concrete", MODE_CONCRETE, COMPILER_INVALID},
    {"traced-xla", MODE_TRACED, COMPILER_XLA},
    {"traced-nonXla", MODE_TRACED, COMPILER_OTHER},
    {"notTraced-xla", MODE_NOT_TRACED, COMPILER_XLA},
    {"notTraced-nonXla", MODE_NOT_TRACED, COMPILER_OTHER},
};

typedef struct {
    TfFunctions result;
    TfFunction *functions;
    size_t capacity;
} TfFunctionsBuilder;

static enum FunctionCompiler combined(enum FunctionCompiler a, enum FunctionCompiler b)
{
    if (a == COMPILER_INVALID || a == b) return b;
    return b == COMPILER_INVALID ? a : COMPILER_MIXED;
}

/* Returns the function of a name. Names of several hosts are compared by content. */
static TfFunction *function_of(TfFunctionsBuilder *m, const Text *name)
{
    size_t low = LOWER_BOUND(i, 0, m->result.n, strcmp(m->functions[i].name->text, name->text) < 0);
    if (low < m->result.n && !strcmp(m->functions[low].name->text, name->text))
        return &m->functions[low];
    if (!GROW(m->functions, m->result.n, m->capacity)) return NULL;
    memmove(&m->functions[low + 1], &m->functions[low], (m->result.n - low) * sizeof *m->functions);
    m->result.n++;
    m->functions[low] = (TfFunction){.name = name};
    return &m->functions[low];
}

/* ---- one thread ---- */

typedef struct {
    const Text *name;
    enum FunctionMode mode;
    enum FunctionCompiler compiler;
    int64_t tracing_count;
    uint64_t duration_ps, children_ps;
} Call;

typedef struct {
    uint64_t ps;
    size_t call;
    bool is_end;
} Border;

typedef struct {
    Call *calls;
    size_t n_calls, call_capacity;
    Border *borders;
    size_t n_borders, border_capacity;
} Thread;

static bool add_call(Thread *t, const EventAt *e, Slice how, int64_t tracing_count)
{
    Call call = {.name = e->meta->name,
                 .tracing_count = tracing_count,
                 .duration_ps = (uint64_t)e->duration_ps};
    for (size_t i = 0; i < COUNT(calls); i++)
        if (slice_is(how, calls[i].text))
            call.mode = calls[i].mode, call.compiler = calls[i].compiler;
    for (int is_end = 0; is_end < 2; is_end++) {
        if (!GROW(t->borders, t->n_borders, t->border_capacity)) return false;
        t->borders[t->n_borders++] = (Border){
            (uint64_t)e->start_ps + (is_end ? (uint64_t)e->duration_ps : 0), t->n_calls, is_end};
    }
    if (!GROW(t->calls, t->n_calls, t->call_capacity)) return false;
    t->calls[t->n_calls++] = call;
    return true;
}

static int read_thread(Thread *t, Line *line, const StatFilter *filter, ProfErr *err)
{
    EventReader reader;
    EventAt e;
    event_reader_open_for(&reader, line, &filter->wanted, err);
    while (event_reader_next(&reader, &e)) {
        Slice how = {0};
        int64_t tracing_count = 0;
        Stat stat;
        unsigned known;
        StatIter stats = stat_iter_of_event(&e);
        while (stat_iter_next_wanted(&stats, filter, &known, &stat))
            if (known == STAT_TF_FUNCTION_CALL)
                how = stat_text(line->plane, &stat);
            else
                tracing_count = stat_int(&stat);
        if (how.n && !add_call(t, &e, how, tracing_count)) prof_nomem(err);
    }
    event_reader_close(&reader);
    return err->code;
}

static bool earlier(const void *a, const void *b)
{
    return ((const Border *)a)->ps < ((const Border *)b)->ps;
}

/* Nests the calls. An end closes what was opened last, which is another call if calls partly
 * overlap. */
static int nest(Thread *t, ProfErr *err)
{
    void **order = prof_alloc(t->n_borders * sizeof *order);
    size_t *stack = prof_alloc(t->n_borders * sizeof *stack), depth = 0;
    if (!order || !stack) prof_nomem(err);
    for (size_t i = 0; i < t->n_borders && !err->code; i++) order[i] = &t->borders[i];
    if (!err->code) std_sort(order, t->n_borders, earlier);
    for (size_t i = 0; i < t->n_borders && !err->code; i++) {
        const Border *b = order[i];
        if (!b->is_end) {
            stack[depth++] = b->call;
        } else {
            depth -= depth > 0;
            if (depth) t->calls[stack[depth - 1]].children_ps += t->calls[b->call].duration_ps;
        }
    }
    prof_free(order);
    prof_free(stack);
    return err->code;
}

static int add_thread(TfFunctionsBuilder *m, Line *line, const StatFilter *filter, ProfErr *err)
{
    Thread t = {0};
    if (!read_thread(&t, line, filter, err)) nest(&t, err);
    for (size_t i = 0; i < t.n_calls && !err->code; i++) {
        const Call *call = &t.calls[i];
        TfFunction *f = function_of(m, call->name);
        if (!f) {
            prof_nomem(err);
            break;
        }
        if (call->tracing_count > f->tracing_count) f->tracing_count = call->tracing_count;
        f->compiler = combined(f->compiler, call->compiler);
        f->modes[call->mode].count++,
            f->modes[call->mode].self_ps += call->duration_ps - call->children_ps;
    }
    prof_free(t.calls);
    prof_free(t.borders);
    return err->code;
}

/* ---- hosts ---- */

static int add_host(TfFunctionsBuilder *m, Host *host, ProfErr *err)
{
    static const enum KnownStat wanted[] = {STAT_TF_FUNCTION_CALL, STAT_TRACING_COUNT};
    Plane *plane = host_find_plane(host, PREFIX_HOST_THREADS);
    if (!plane || host_load_only(host, err)) return err->code;
    StatFilter filter;
    if (!stat_filter_open(&filter, plane, wanted, COUNT(wanted), err) && filter.any)
        for (size_t i = 0; i < plane->n_lines && !err->code; i++)
            add_thread(m, &host->lines[plane->first_line + i], &filter, err);
    stat_filter_close(&filter);
    return err->code;
}

static void tf_functions_release(void *result)
{
    TfFunctionsBuilder *m = result;
    prof_free(m->functions);
    prof_free(m);
}

static void *tf_functions_make(Run *run, Host *only, ProfErr *err)
{
    TfFunctionsBuilder *m = prof_alloc(sizeof *m);
    if (!m) {
        prof_nomem(err);
        return NULL;
    }
    for (size_t h = 0; h < run->n_hosts && !err->code; h++)
        if (!only || only == &run->hosts[h]) add_host(m, &run->hosts[h], err);
    m->result.functions = m->functions;
    if (!err->code) return m;
    tf_functions_release(m);
    return NULL;
}

const TfFunctions *run_tf_functions(Run *run, Host *only, ProfErr *err)
{
    static const Analysis analysis = {tf_functions_make, tf_functions_release,
                                      NEEDS_ONE_HOST_AT_A_TIME};
    const TfFunctionsBuilder *m = run_analysis(run, only, &analysis, err);
    return m ? &m->result : NULL;
}

double tf_function_expensive_percent(const TfFunction *f)
{
    uint64_t all = 0;
    for (int i = 0; i < N_FUNCTION_MODES; i++) all += f->modes[i].self_ps;
    return safe_div(100.0 * (double)(f->modes[MODE_TRACED].self_ps + f->modes[MODE_EAGER].self_ps),
                    (double)all);
}
