// SPDX-License-Identifier: Apache-2.0
/* steps.c: sweeping, categories, bottlenecks, alignment and summaries of steps: vectors worked out
 * by hand or published in XProf's own unit tests. */
#include "../../loader/analysis/steps/step_align.h"
#include "../../loader/analysis/steps/step_parts.h"
#include "check.h"

#include <math.h>
#include <stdlib.h>

static SpanRef span(int64_t begin, int64_t end, enum StepType type)
{
    return (SpanRef){begin, end - begin, 0,
                     (uint32_t)type | (uint32_t)type << SPAN_ACTUAL_SHIFT | SPAN_COUNTS};
}

static SweepResult swept(const SpanRef *spans, size_t n, uint64_t duration)
{
    SweepResult r;
    ProfErr err = {0};
    step_sweep(spans, n, false, 0, duration, &r, NULL, &err);
    check(!err.code, "sweep");
    return r;
}

static void sweeping(void)
{
    const SpanRef nested[] = {span(0, 100, TIME_HOST_COMPUTE), span(20, 60, TIME_COMPUTE_32),
                              span(50, 80, TIME_DEVICE_TO_HOST)};
    SweepResult r = swept(nested, 3, 100);
    check(r.type_ps[TIME_HOST_COMPUTE] == 40 && r.type_ps[TIME_COMPUTE_32] == 40 &&
              r.type_ps[TIME_DEVICE_TO_HOST] == 20,
          "the highest type counts");
    const SpanRef gap[] = {span(0, 10, TIME_WAIT_INPUT), span(5, 15, TIME_COLLECTIVES),
                           span(20, 30, TIME_COMPUTE_16)};
    r = swept(gap, 3, 40);
    check(r.type_ps[TIME_WAIT_INPUT] == 10 && r.type_ps[TIME_COLLECTIVES] == 5 &&
              r.type_ps[TIME_COMPUTE_16] == 10,
          "spans that cross");
    check(r.type_ps[TIME_UNKNOWN] == 15 && r.all_ps[TIME_UNKNOWN] == 5,
          "gaps and what is behind the last span");
    const SpanRef empty[] = {span(10, 10, TIME_COMPUTE_32), span(30, 40, TIME_COLLECTIVES)};
    r = swept(empty, 2, 50);
    check(r.type_ps[TIME_COMPUTE_32] == 30,
          "a span of no length stays on top until one of its type ends"); /* as XProf has it */
    r = swept(NULL, 0, 7);
    check(r.types == 1 && r.type_ps[TIME_UNKNOWN] == 7, "no spans");
}

/* The same for steps that overlap each other; time that no span tells of is unknown, a span without
 * length is nothing. */
static void sweeping_by_time(void)
{
    static const struct {
        int64_t begin, end;
        enum StepType type;
    } spans[] = {{0, 100, TIME_HOST_COMPUTE},
                 {20, 60, TIME_COMPUTE_32},
                 {50, 80, TIME_DEVICE_TO_HOST},
                 {90, 90, TIME_COMPUTE_16}};
    Cover covers[N_STEP_TYPES] = {0}, none[N_STEP_TYPES] = {0};
    for (size_t i = 0; i < 4; i++)
        if (!cover_add(&covers[spans[i].type], spans[i].begin, spans[i].end)) abort();
    const Marker steps[] = {{0, 100, true}, {30, 40, true}, {80, 70, true}, {200, 5, true}};
    uint64_t ps[4][N_STEP_TYPES];
    ProfErr err = {0};
    check(!step_sweep_by_time(covers, steps, 4, ps[0], &err), "sweep by time");
    check(ps[0][TIME_HOST_COMPUTE] == 40 && ps[0][TIME_COMPUTE_32] == 40 &&
              ps[0][TIME_DEVICE_TO_HOST] == 20,
          "all of it");
    check(ps[1][TIME_COMPUTE_32] == 30 && ps[1][TIME_DEVICE_TO_HOST] == 10 &&
              !ps[1][TIME_HOST_COMPUTE],
          "a step inside the other");
    check(ps[2][TIME_HOST_COMPUTE] == 20 && ps[2][TIME_UNKNOWN] == 50 && !ps[2][TIME_COMPUTE_16],
          "a step that goes on");
    check(ps[3][TIME_UNKNOWN] == 5, "a step behind all spans");
    check(!step_sweep_by_time(none, steps, 1, ps[0], &err) && ps[0][TIME_UNKNOWN] == 100,
          "no spans");
    for (int t = 0; t < N_STEP_TYPES; t++) cover_free(&covers[t]);
}

static void pod_stats(void)
{
    uint64_t type_ps[N_STEP_TYPES], ps[N_STEP_CATEGORIES];
    const uint64_t want[N_STEP_CATEGORIES] = {100, 100, 350, 50, 50, 150, 50, 50, 50};
    for (int t = 0; t < N_STEP_TYPES; t++) type_ps[t] = t == TIME_COLLECTIVES ? 350 : 50;
    const StepCore core = {.core_id = 1001, .duration_ps = 1000, .type_ps = type_ps};
    step_categories(&core, ps);
    check(!memcmp(ps, want, sizeof want), "categories of types");
    check(step_bottleneck(ps) == STEP_COLLECTIVES, "bottleneck");
    memset(ps, 0, sizeof ps);
    check(step_bottleneck(ps) == STEP_OUTPUT, "bottleneck of nothing: the last label by name");
}

/* Steps of 2e9 ps, each after the other by `stride` of them, from step `first` on. */
enum { MOST = 16 };
static const uint64_t step_ps = 2000000000;
typedef struct {
    StepSpan steps[MOST];
    HostSpans host;
} TestHost;

static HostSpans make_host(TestHost *h, size_t n, uint64_t begin_ps, uint64_t stride_ps,
                           uint64_t shorter)
{
    for (size_t i = 0; i < n; i++) {
        h->steps[i].begin_ps = begin_ps + i * stride_ps;
        h->steps[i].end_ps = h->steps[i].begin_ps + step_ps - (i + 1 == n ? shorter : 0);
    }
    return h->host = (HostSpans){.spans = h->steps, .n = n};
}

static void alignment(void)
{
    TestHost h[4];
    HostSpans hosts[4];
    ProfErr err = {0};
    bool empty;
    for (size_t i = 0; i < 4; i++) hosts[i] = make_host(&h[i], 10, i * step_ps, step_ps, i == 0);
    check(steps_align(hosts, 4, &empty, &err) == 7 && hosts[0].first == 3 && hosts[3].first == 0 &&
              !empty,
          "each host a step later");
    for (size_t i = 0; i < 4; i++) hosts[i] = make_host(&h[i], 10, i * 100, step_ps, i == 0);
    check(steps_align(hosts, 4, &empty, &err) == 10 && !hosts[0].first && !hosts[3].first,
          "each host 100 ps later");
    check(steps_align(hosts, 1, &empty, &err) == 10 && !empty, "one host");
    for (size_t i = 0; i < 4; i++) hosts[i].n = 0;
    check(steps_align(hosts, 4, &empty, &err) == 0 && !empty, "no steps");
    hosts[0] = make_host(&h[0], 10, 0, step_ps, 1),
    hosts[1] = make_host(&h[1], 5, 8 * step_ps, step_ps, 0),
    hosts[2] = make_host(&h[2], 10, 11 * step_ps, step_ps, 0);
    check(steps_align(hosts, 3, &empty, &err) == 0 && empty, "a chain without a step in common");
    hosts[0] = make_host(&h[0], 5, 0, step_ps, 1), hosts[1] = make_host(&h[1], 10, 0, step_ps, 0);
    check(steps_align(hosts, 2, &empty, &err) == 5 && !empty, "five and ten");
    hosts[1].n = 0;
    check(steps_align(hosts, 2, &empty, &err) == 0 && !empty, "five and none");
    for (size_t i = 0; i < 2; i++) hosts[i] = make_host(&h[i], 5, 0, 2 * step_ps, i == 0);
    check(steps_align(hosts, 2, &empty, &err) == 5, "gaps between steps");
    hosts[0] = make_host(&h[0], 1, 0, step_ps, 0);
    hosts[0].spans = (const StepSpan[]){{0, 0}};
    check(steps_align(hosts, 1, &empty, &err) == 1, "a step without cores");
    hosts[0] = make_host(&h[0], 3, 0, step_ps, 1),
    hosts[1] = make_host(&h[1], 3, 1000 * step_ps, step_ps, 0);
    check(steps_align(hosts, 2, &empty, &err) == 3 && !empty && !hosts[0].first && !hosts[1].first,
          "no overlap: by number");
    check(hosts[1].apart && !hosts[0].apart, "and it is said");
}

/* ---- two hosts, compared with all pairs of their steps ---- */

static uint64_t random_state = 1;
static uint64_t below(uint64_t n)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (random_state >> 33) % n;
}

/* Up to 6 steps that do not overlap, some of no length, in memory that has no more place. */
static HostSpans random_host(void)
{
    size_t n = 1 + (size_t)below(6);
    StepSpan *spans = malloc(n * sizeof *spans);
    uint64_t at = below(40);
    for (size_t i = 0; spans && i < n; i++) {
        spans[i].begin_ps = at += below(3) * below(9);
        spans[i].end_ps = at += below(8) * (below(4) > 0);
    }
    return (HostSpans){.spans = spans, .n = n};
}

static uint64_t length(const HostSpans *h)
{
    uint64_t begin = UINT64_MAX, end = 0;
    for (size_t i = 0; i < h->n; i++)
        if (h->spans[i].begin_ps < h->spans[i].end_ps) {
            if (begin == UINT64_MAX) begin = h->spans[i].begin_ps;
            end = h->spans[i].end_ps;
        }
    return end ? end - begin : 0;
}

/* Returns the shift at which the two hosts' steps overlap longest: step i of the leader then lies
 * beside step i - shift of the other host. If several are equal, the first one tried counts: 0, 1,
 * 2, ..., then -1, -2, ... */
static int best_shift(const HostSpans *leader, const HostSpans *other, bool *apart)
{
    uint64_t most = 0;
    int best = 0;
    for (int order = 0; order < (int)(leader->n + other->n) - 1; order++) {
        int shift = order < (int)leader->n ? order : (int)leader->n - 1 - order;
        uint64_t overlap = 0;
        for (int i = 0; i < (int)leader->n; i++) {
            int k = i - shift;
            if (k < 0 || k >= (int)other->n) continue;
            StepSpan a = leader->spans[i], b = other->spans[k];
            uint64_t from = a.begin_ps > b.begin_ps ? a.begin_ps : b.begin_ps,
                     to = a.end_ps < b.end_ps ? a.end_ps : b.end_ps;
            overlap += to > from ? to - from : 0;
        }
        if (overlap > most) most = overlap, best = shift;
    }
    *apart = !most;
    return best;
}

static void alignment_of_all_pairs(void)
{
    size_t n_wrong = 0;
    for (int n = 0; n < 3000; n++) {
        HostSpans hosts[] = {random_host(), random_host()};
        bool empty, apart;
        ProfErr err = {0};
        if (!hosts[0].spans || !hosts[1].spans) abort();
        size_t found = steps_align(hosts, 2, &empty, &err),
               leader = length(&hosts[1]) < length(&hosts[0]);
        HostSpans *a = &hosts[leader], *b = &hosts[!leader];
        int shift = best_shift(a, b, &apart), first = shift > 0 ? shift : 0,
            of_other = first - shift, left = (int)b->n - of_other;
        int common = (int)a->n - first < left ? (int)a->n - first : left;
        n_wrong += err.code || found != (size_t)common || a->first != (size_t)first ||
                   b->first != (size_t)of_other || b->apart != apart || a->apart;
        free((void *)hosts[0].spans);
        free((void *)hosts[1].spans);
    }
    check(!n_wrong, "two hosts are aligned as all pairs of their steps say");
}

static void summaries(void)
{
    const double one = 0, same[] = {5, 5}, two[] = {1, 3};
    StepSummary s = step_summary(&one, 1);
    check(s.deviation == 0 && isnan(s.xprof_deviation) && s.xprof_maximum > 0 && s.maximum == 0,
          "a single zero");
    s = step_summary(same, 2);
    check(s.average == 5 && s.deviation == 0 && s.xprof_deviation == 0, "equal values");
    s = step_summary(two, 2);
    check(s.average == 2 && s.minimum == 1 && s.maximum == 3 && fabs(s.deviation - sqrt(2)) < 1e-12,
          "two values");
    s = step_summary(two, 0);
    check(s.average == 0 && s.maximum == 0 && s.deviation == 0, "no values");
}

static Text *text(const char *s)
{
    Text *t = calloc(1, sizeof *t + strlen(s) + 1);
    t->n_bytes = (uint32_t)strlen(s);
    memcpy(t->text, s, strlen(s));
    return t;
}

/* XProf's own numbers for what idle time is before some of it is taken for input, and for
 * SparseCores. */
static void tpu_times(void)
{
    Text *names[] = {text("IDLE"), text("all-gather"), text("async-done"), text("async-start"),
                     text("multiply")};
    const StepShare a[] = {
        {names[0], 300}, {names[1], 300}, {names[2], 50}, {names[3], 50}, {names[4], 300}};
    const StepShare b[] = {
        {names[0], 250}, {names[1], 250}, {names[2], 50}, {names[3], 50}, {names[4], 300}};
    StepCore cores[] = {{.core_id = 1,
                         .kind = STEP_CORE_TENSOR,
                         .begin_ps = 45,
                         .duration_ps = 900,
                         .shares = b,
                         .n_shares = 5},
                        {.core_id = 2,
                         .kind = STEP_CORE_TENSOR,
                         .begin_ps = 40,
                         .duration_ps = 1000,
                         .shares = a,
                         .n_shares = 5}};
    TpuStep t = tpu_step(&(Step){.cores = cores, .n_cores = 2});
    check(t.tc_compute_ps == 650 && t.tc_idle_ps == 250 && t.n_tensorcores == 2,
          "the least that a core computes, what it leaves of the shortest step");
    const uint64_t ms = 1000000000;
    StepCore sparse = {.core_id = 1000001,
                       .kind = STEP_CORE_SPARSE,
                       .duration_ps = 1000 * ms,
                       .busy_ps = 800 * ms};
    t = tpu_step(&(Step){.cores = &sparse, .n_cores = 1});
    check(!t.tc_compute_ps && !t.tc_infeed_ps && !t.tc_outfeed_ps && !t.tc_idle_ps &&
              t.tc_idle_ms == 0 && !t.n_tensorcores,
          "no TensorCore");
    check(t.sc_step_ps == 1000 * ms && t.sc_compute_ps == 800 * ms && t.sc_idle_ps == 200 * ms,
          "a SparseCore alone");
    for (size_t i = 0; i < COUNT(names); i++) free(names[i]);
}

int main(void)
{
    sweeping();
    sweeping_by_time();
    pod_stats();
    alignment();
    alignment_of_all_pairs();
    summaries();
    tpu_times();
    return finish();
}
