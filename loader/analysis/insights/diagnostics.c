// SPDX-License-Identifier: Apache-2.0
#include "diagnostics.h"
#include "../../base/sort.h"
#include "../steps/steps.h"

/* XProf's words. */
#define NO_STEPS                                                                                   \
    "No step marker observed and hence the step time is unknown. This may happen if (1) training " \
    "steps are not instrumented (e.g., if you are not using "                                      \
    "Keras) or (2) the profiling duration is shorter than the step time. For (1), you need to "    \
    "add step instrumentation; for (2), you may try to profile "                                   \
    "longer."
#define NO_COMMON_STEPS                                                                            \
    "Although there are steps observed on some host(s), the intersection of the steps over all "   \
    "hosts is empty (because the differences among individual "                                    \
    "host's step sequences are too big). Consequently, the overall step time is unknown."

/* Diagnostics of one code by their texts, which are interned. */
typedef struct {
    Diagnostic *list;
    size_t n, capacity, first; /* first: of the code */
    size_t *slots;             /* numbers in list from 1 on */
    size_t n_slots;
} Said;

static size_t *slot_of(const Said *s, const char *message)
{
    size_t i = (size_t)hash64((uintptr_t)message) & (s->n_slots - 1);
    while (s->slots[i] && s->list[s->slots[i] - 1].message != message)
        i = (i + 1) & (s->n_slots - 1);
    return &s->slots[i];
}

static int grow_slots(Said *s, ProfErr *err)
{
    prof_free(s->slots);
    s->n_slots = s->n_slots ? 2 * s->n_slots : 16;
    if (!(s->slots = prof_alloc(s->n_slots * sizeof *s->slots))) return prof_nomem(err);
    for (size_t i = s->first; i < s->n; i++) *slot_of(s, s->list[i].message) = i + 1;
    return PROF_OK;
}

static int by_text(const void *a, const void *b)
{
    const Diagnostic *x = a, *y = b;
    int c = memcmp(x->message, y->message, x->n_bytes < y->n_bytes ? x->n_bytes : y->n_bytes);
    return c ? c : (x->n_bytes > y->n_bytes) - (x->n_bytes < y->n_bytes);
}

static int add_all(Said *s, const Text *const *texts, size_t n_texts, const char *severity,
                   const char *code, ProfErr *err)
{
    s->first = s->n;
    s->n_slots = 0;
    for (size_t i = 0; i < n_texts; i++) {
        if (2 * (s->n - s->first) >= s->n_slots && grow_slots(s, err)) return err->code;
        size_t *slot = slot_of(s, texts[i]->text);
        if (!*slot) {
            if (!GROW(s->list, s->n, s->capacity)) return prof_nomem(err);
            s->list[s->n++] = (Diagnostic){severity, code, texts[i]->text, texts[i]->n_bytes, 0};
            *slot = s->n;
        }
        s->list[*slot - 1].count++;
    }
    if (s->n > s->first) sort_array(s->list + s->first, s->n - s->first, sizeof *s->list, by_text);
    return PROF_OK;
}

static int add_steps(Said *s, Run *run, Host *only, ProfErr *err)
{
    const StepDb *steps = run_steps(run, only, err);
    if (!steps || steps->n_steps) return err->code;
    const char *message = steps->empty_intersect ? NO_COMMON_STEPS : NO_STEPS;
    if (!GROW(s->list, s->n, s->capacity)) return prof_nomem(err);
    s->list[s->n++] = (Diagnostic){"warning", "xprof_steps", message, strlen(message), 1};
    return PROF_OK;
}

static bool is_first(const Host *host)
{
    const Run *run = host->run;
    size_t first = 0;
    while (first < run->n_hosts &&
           (!run->hosts[first].readable || run->hosts[first].reader->is_program))
        first++;
    return first < run->n_hosts && host == &run->hosts[first];
}

bool host_diagnostics(Host *host, Host *only, Diagnostic **list, size_t *n, ProfErr *err)
{
    Said s = {0};
    bool for_run = host->readable && !host->reader->is_program && (only || is_first(host));
    if (!add_all(&s, host->errors, host->n_errors, "error", "xprof_error", err) &&
        !add_all(&s, host->warnings, host->n_warnings, "warning", "xprof_warning", err) && for_run)
        add_steps(&s, host->run, only, err);
    prof_free(s.slots);
    *list = s.list, *n = s.n;
    return !err->code;
}
