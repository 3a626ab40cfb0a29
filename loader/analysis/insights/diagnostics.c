// SPDX-License-Identifier: Apache-2.0
#include "diagnostics.h"
#include "../../base/hash_table.h"
#include "../../base/sort.h"
#include "../steps/steps.h"

/* XProf's texts. */
#define NO_STEPS                                                                                   \
    "No step marker observed and hence the step time is unknown. This may happen if (1) training " \
    "steps are not instrumented (e.g., if you are not using Keras) or (2) the profiling duration " \
    "is shorter than the step time. For (1), you need to add step instrumentation; for (2), you "  \
    "may try to profile longer."
#define NO_COMMON_STEPS                                                                            \
    "Although there are steps observed on some host(s), the intersection of the steps over all "   \
    "hosts is empty (because the differences among individual host's step sequences are too "      \
    "big). Consequently, the overall step time is unknown."

/* Diagnostics with one code, by their texts, which are interned. */
typedef struct {
    Diagnostic *list;
    size_t n, capacity, first; /* first: of this code */
    HashTable by_message;
} Said;

/* Returns the diagnostic with this code and message. NULL if memory runs out. */
static Diagnostic *said(Said *s, const Text *message, const char *severity, const char *code)
{
    uint64_t hash = hash64((uintptr_t)message);
    HASH_EACH(i, &s->by_message, hash)
        if (s->list[i].message == message->text) return &s->list[i];
    if (!GROW(s->list, s->n, s->capacity) || !hash_add(&s->by_message, hash, s->n)) return NULL;
    Diagnostic *made = &s->list[s->n++];
    *made = (Diagnostic){severity, code, message->text, message->n_bytes, 0};
    return made;
}

static int by_text(const void *a, const void *b)
{
    const Diagnostic *x = a, *y = b;
    return slice_order((Slice){x->message, x->n_bytes}, (Slice){y->message, y->n_bytes});
}

static int add_all(Said *s, const Text *const *texts, size_t n_texts, const char *severity,
                   const char *code, ProfErr *err)
{
    s->first = s->n;
    hash_clear(&s->by_message);
    for (size_t i = 0; i < n_texts; i++) {
        Diagnostic *d = said(s, texts[i], severity, code);
        if (!d) return prof_nomem(err);
        d->count++;
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
    hash_free(&s.by_message);
    *list = s.list, *n = s.n;
    return !err->code;
}
