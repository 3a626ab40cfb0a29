// SPDX-License-Identifier: Apache-2.0
/* unit.c: parts of the capture by themselves: occupancy, the sorter beyond its memory, buffers
 * between threads, samples of GPUs, fields of records, the spool, work that steps share. */
#define _GNU_SOURCE
#include "pauses.h"

#include "../../loader/capture/buffers.c"
#include "../../loader/capture/samples.c"
#include "../../loader/capture/occupancy.h"
#include "../../loader/capture/sorter.h"
#include "../../loader/capture/spool.h"
#include "../../loader/capture/timeline.h"
#include "fake_records.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static int n_passed, n_failed;

static void check(bool ok, const char *what)
{
    printf("%s %s\n", ok ? "ok" : "not ok", what);
    *(ok ? &n_passed : &n_failed) += 1;
}

/* Values of NVIDIA's occupancy calculator and of XLA's formula, from the documentation of both. */
static void test_occupancy(void)
{
    static const SmLimits hopper = {9, 0, 32, 64, 32, 65536, 233472, 1024, 65536},
                          ampere = {8, 0, 32, 64, 32, 65536, 167936, 1024, 65536},
                          turing = {7, 5, 32, 32, 16, 65536, 65536, 1024, 65536},
                          blackwell = {12, 0, 32, 48, 24, 65536, 102400, 1024, 65536};
    static const struct {
        const SmLimits *sm;
        uint64_t threads;
        BlockNeeds needs;
        double percent;
    } cases[] = {{&hopper, 256, {32, 0}, 100},
                 {&hopper, 384, {168, 208 << 10}, 18.75},
                 {&hopper, 128, {255, 0}, 12.5},
                 {&hopper, 100, {40, 0}, 58.59375},
                 {&ampere, 256, {64, 0}, 50},
                 {&turing, 256, {64, 0}, 100},
                 {&blackwell, 256, {64, 0}, 100 * 2 / 3.0},
                 {&hopper, 256, {32, 8192}, 100}};
    bool ok = true;
    for (size_t i = 0; i < COUNT(cases); i++) {
        double got = occupancy_percent(cases[i].sm, cases[i].threads, cases[i].needs);
        if (fabs(got - cases[i].percent) > 1e-9)
            ok = false, printf("# case %zu: %g instead of %g\n", i, got, cases[i].percent);
    }
    check(ok, "occupancy of the calculator's cases");
    check(occupancy_percent(&hopper, 0, cases[0].needs) < 0 &&
              occupancy_percent(&(SmLimits){0}, 256, cases[0].needs) < 0,
          "no occupancy without threads or limits");
}

static int by_first(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    if (x[0] != y[0]) return x[0] < y[0] ? -1 : 1;
    return x[1] < y[1] ? -1 : x[1] > y[1];
}

static void test_sorter(size_t n)
{
    ProfErr err = {0};
    enum { WORDS = 12 };
    uint64_t element[WORDS] = {0}, seed = 7, sum = 0, got_sum = 0, last[2] = {0, 0};
    Sorter *s = sorter_new(sizeof element, by_first, "/tmp");
    for (size_t i = 0; i < n && !err.code; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        element[0] = seed >> 50, element[1] = i, sum += element[0] * (i + 1);
        sorter_add(s, element, &err);
    }
    size_t got = 0;
    bool ordered = true;
    for (const uint64_t *e; (e = sorter_next(s, &err)); got++) {
        if (got && (e[0] < last[0] || (e[0] == last[0] && e[1] <= last[1]))) ordered = false;
        last[0] = e[0], last[1] = e[1], got_sum += e[0] * (e[1] + 1);
    }
    check(!err.code && got == n && ordered && sum == got_sum,
          n > 1000000 ? "sorting more than memory holds" : "sorting in memory");
    sorter_free(s);
}

enum { BUFFER = 4096, ROUNDS = 20000, THREADS = 4 };
static Buffers buffers;
static _Atomic uint64_t n_filled, n_done;

static void *fill(void *unused)
{
    (void)unused;
    for (int i = 0; i < ROUNDS; i++) {
        int32_t b = buffers_take(&buffers);
        if (b == NO_BUFFER) continue;
        buffers.all[b].bytes[0]++; /* two owners at once would be seen here */
        if (buffers.all[b].bytes[0] != 1) printf("# a buffer with two owners\n"), n_failed++;
        atomic_fetch_add(&n_filled, 1);
        buffers_fill(&buffers, b, 1);
    }
    atomic_fetch_add(&n_done, 1);
    return NULL;
}

static void no_pause(void) {}

static void test_buffers(void)
{
    pause_hook = no_pause; /* 80,000 turns at full speed */
    pthread_t threads[THREADS];
    uint64_t n_taken = 0;
    buffers_init(&buffers, BUFFER, 16);
    buffers_keep_ready(&buffers, 16);
    for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, fill, NULL);
    for (bool last = false;;) {
        int32_t next;
        for (int32_t b = buffers_take_all_filled(&buffers); b != NO_BUFFER; b = next, n_taken++)
            next = atomic_load(&buffers.all[b].next), buffers_give(&buffers, b);
        if (last) break;
        last = atomic_load(&n_done) == THREADS;
    }
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    pause_hook = NULL;
    check(n_taken == atomic_load(&n_filled) && atomic_load(&buffers.n_free) == 16,
          "buffers between threads: none lost, none twice");
}

/* One call comes between any two atomic operations of another. Each number that is given out is
 * marked in `given`. */
enum { LIMIT = 4 };
static Buffers made;
static _Atomic int given[MAX_BUFFERS];
static int pauses_left;

static int32_t make_and_mark(bool beyond_limit)
{
    int32_t i = buffers_make(&made, beyond_limit);
    if (i != NO_BUFFER) given[i]++;
    return i;
}

static void make_between(void)
{
    if (!pauses_left || --pauses_left) return;
    pause_hook = NULL;
    make_and_mark(true);
}

static void free_made(void)
{
    for (int i = 0; i < MAX_BUFFERS; i++) {
        if (made.all[i].bytes) munmap(made.all[i].bytes - LABEL_BYTES, LABEL_BYTES + BUFFER);
        made.all[i].bytes = NULL, given[i] = 0;
    }
    atomic_store(&made.n_made, 0);
    buffers_init(&made, BUFFER, LIMIT);
}

/* Numbers 0 to n - 1 are each given out once, and n_made is n. */
static bool given_once(void)
{
    bool ok = true;
    int n = made.n_made;
    for (int i = 0; i < MAX_BUFFERS; i++)
        if (given[i] != (i < n))
            ok = false, printf("# number %d was given out %d times, of %d\n", i, given[i], n);
    return ok;
}

static void test_numbers_with_a_call_between(void)
{
    bool ok = true;
    int n_between = 0;
    for (int n_before = 0; n_before <= LIMIT + 1; n_before++)
        for (int at = 1;; at++) { /* the pause in which the other call runs */
            free_made();
            for (int i = 0; i < n_before; i++) make_and_mark(true);
            pauses_left = at, pause_hook = make_between;
            make_and_mark(false);
            bool ran = !pause_hook;
            pause_hook = NULL;
            for (int i = 0; i < 3; i++) make_and_mark(true);
            ok &= given_once();
            if (!ran) break;
            n_between++;
        }
    check(ok && n_between > LIMIT,
          "a call between two steps of another: each buffer number is given out once");
    free_made();
}

static void *make_many(void *unused)
{
    (void)unused;
    for (int i = 0; i < 60; i++)
        if (make_and_mark(false) == NO_BUFFER && i % 6 == 0) make_and_mark(true);
    return NULL;
}

static void test_numbers_between_threads(void)
{
    bool ok = true;
    for (int round = 0; round < 20 && ok; round++) {
        pthread_t threads[THREADS];
        free_made();
        for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, make_many, NULL);
        for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
        ok = given_once();
    }
    check(ok, "buffers made by several threads beyond the limit: each number is given out once");
    free_made();
}

/* A GPU that is known just before the end is sampled, whenever the sampling thread looks. */
static void end_with_a_gpu(void)
{
    if (!pauses_left || --pauses_left) return;
    pause_hook = NULL;
    samples_of(0, 1, 1);
    atomic_store(&quit, true);
    sem_post(&g.wake);
}

static void test_last_sample(void)
{
    bool ok = true;
    enum { MOST_PAUSES = 12 };
    for (int at = 1; at <= MOST_PAUSES; at++) {
        pthread_once(&wake_once, make_wake);
        g.interval_ns = NS_PER_MS, g.n_gpus = 0, *g.problems = 0;
        atomic_store(&quit, false);
        pauses_left = at, pause_hook = end_with_a_gpu;
        samples_main(NULL);
        ok &= *g.problems != 0; /* there is no NVML here, which only an attempt can find out */
        if (!*g.problems) printf("# no sample of a GPU that came at pause %d\n", at);
    }
    check(ok, "a GPU that is known just before the end is sampled");
}

/* The system's time, as far ahead as is said here: what is waited for by it comes then. */
static time_t ahead_s;
int clock_gettime(clockid_t clock, struct timespec *t)
{
    long rc = syscall(SYS_clock_gettime, clock, t);
    t->tv_sec += clock == CLOCK_REALTIME ? ahead_s : 0;
    return (int)rc;
}

static void *wait_for_word(void *word)
{
    sem_wait(word);
    return NULL;
}

/* A clock that is stepped back an hour does not make waits an hour longer: an alarm would end this
 * test. */
static void test_waits_without_the_clock(void)
{
    sem_t word;
    pthread_t thread;
    sem_init(&word, 0, 0);
    pthread_create(&thread, NULL, wait_for_word, &word);
    ahead_s = 3600;
    alarm(120);
    wait_ns(&word, 1000000);
    bool ended = false;
#ifndef __SANITIZE_THREAD__ /* see system.c */
    ended = join_within(thread, 1000000);
#endif
    alarm(0);
    ahead_s = 0;
    sem_post(&word);
    pthread_join(thread, NULL);
    check(!ended, "waits do not depend on the system's time");
}

/* What is read of a record lies inside it, in every version of CUPTI. */
static void test_fields_are_in_records(void)
{
    bool ok = true;
    for (uint32_t v = API_11_0; v < API_11_0 + 22; v++) {
        uint32_t version = v <= 28 ? v : API_13_0 + (v - 29) * 100; /* 28 is the last of CUDA 12 */
        for (int k = 0; k < N_RECORD_KINDS; k++) {
            size_t n = fake_record_size(record_kinds[k].number, version);
            for (int i = 0; n && i < record_kinds[k].n_fields; i++) {
                const FieldSpec *f = &record_kinds[k].fields[i];
                size_t at = record_offset((enum RecordKind)k, f, version);
                if (f->since > version || at + f->bytes <= n) continue;
                ok = false, printf("# version %u: %s is read at %zu, of %zu bytes\n", version,
                                   record_kinds[k].name, at, n);
            }
        }
    }
    check(ok, "fields that are read lie inside their records");
}

/* Records of every kind, with every bit pattern that a field may have, come back as they were; and
 * after any cut nothing else does. */
static void test_spool(void)
{
    char path[] = "/tmp/spool-test-XXXXXX";
    ProfErr err = {0};
    int fd = mkstemp(path);
    close(fd), unlink(path);
    SpoolWriter *w = spool_create(path, "version=2\nhost=h\n", 1 << 30, &err);
    enum { RECORDS = 30000 };
    uint64_t seed = 1;
    Record *written = calloc(RECORDS, sizeof *written);
    char name[64];
    for (int i = 0; i < RECORDS && w && written; i++) {
        Record *r = &written[i];
        r->kind = (enum RecordKind)(i % N_RECORD_KINDS);
        for (int f = 0; f < record_kinds[r->kind].n_fields; f++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            r->values[f] = field_is_fixed(&record_kinds[r->kind].fields[f]) ? seed >> 61
                                                                            : seed >> (seed >> 58);
            if (record_kinds[r->kind].fields[f].role == TEXT) {
                snprintf(name, sizeof name, "text %d", i % 5000);
                r->values[f] = spool_text(w, name, strlen(name));
            }
        }
        spool_append(w, r);
    }
    spool_close(w, true);
    SpoolReader reader;
    Record r;
    int n = 0;
    bool same = !spool_open(&reader, path, &err);
    for (; same && spool_next(&reader, &r, &err); n++)
        same =
            n < RECORDS && r.kind == written[n].kind &&
            !memcmp(r.values, written[n].values, record_kinds[r.kind].n_fields * sizeof *r.values);
    check(same && n == RECORDS && !reader.damaged && reader.status.state == SPOOL_ENDED &&
              reader.status.n_records == RECORDS,
          "a spool gives its records back");
    uint64_t size = reader.n_bytes;
    spool_reader_close(&reader);
    bool ok = true;
    for (uint64_t cut = size; cut > 0 && ok; cut = cut > 50021 ? cut - 50021 : 0) {
        if (truncate(path, (off_t)cut)) ok = false;
        err = (ProfErr){0};
        if (spool_open(&reader, path, &err)) {
            ok = cut < BLOCKS_AT + 200;
            continue;
        }
        for (n = 0; spool_next(&reader, &r, &err); n++)
            ok &= n < RECORDS && !memcmp(r.values, written[n].values,
                                         record_kinds[r.kind].n_fields * sizeof *r.values);
        spool_reader_close(&reader);
    }
    check(ok, "a spool that is cut gives what is whole");
    unlink(path);
    free(written);
}

/* Times at which a call on `line` belongs to a step, as "start:step", with the step's start. */
static void list_work(const Steps *s, uint64_t line, char *out, size_t n)
{
    *out = 0;
    for (uint64_t time = 0; time < 100; time += 10) {
        uint64_t joined_until = 0;
        Item call = {.kind = REC_RUNTIME, .line = line, .start = time, .end = time + 5};
        Description d = {.stats = {.n = 0}};
        const StepRange *step = steps_only(s, time, time);
        steps_describe(s, &call, &joined_until, &d);
        if (joined_until && step && d.stats.n)
            snprintf(out + strlen(out), n - strlen(out), " %d:%d", (int)time, (int)step->start);
    }
}

/* Threads 1 to 3 have steps, some of them at once. */
static void test_steps(void)
{
    static const Item ranges[] = {
        {.line = 1, .start = 10, .end = 31},
        {.line = 1, .start = 15, .end = 25}, /* inside of the first, of another domain */
        {.line = 2, .start = 40, .end = 61},
        {.line = 3, .start = 50, .end = 71},
        {.line = 3, .start = 55, .end = 55},
        {.line = SPECIAL_LINE + HOST_RANGES, .start = 80, .end = 95}};
    Steps s = {.n = 0};
    ProfErr err = {0};
    char found[128];
    for (size_t i = COUNT(ranges); i--;) steps_add(&s, &ranges[i], &err);
    steps_close(&s, &err);
    for (size_t i = 0; i < s.n; i++) s.ranges[i].is_root = s.ranges[i].has_work = true;
    list_work(&s, 9, found, sizeof found);
    check(!strcmp(found, " 10:10 20:10 30:10 40:40 70:50 80:80 90:80"),
          "a call belongs to the step that alone is open");
    list_work(&s, 2, found, sizeof found);
    check(!*found, "no call of a thread with steps joins another's");
    for (size_t i = 0; i < s.n; i++) s.ranges[i].is_root = s.ranges[i].start != 80;
    list_work(&s, 9, found, sizeof found);
    check(!strcmp(found, " 10:10 20:10 30:10 40:40 70:50"), "nor one that is beyond the window");
    check(steps_before(&s, 50) == 3 && steps_before(&s, 0) == 0, "steps are counted as they start");

    Item range = {.kind = REC_PUSH, .line = 9, .start = 12, .end = 30},
         call = {.kind = REC_DRIVER, .line = 9, .start = 29, .end = 40};
    Description d = {.stats = {.n = 0}};
    uint64_t joined_until = 0;
    steps_describe(&s, &range, &joined_until, &d);
    check(d.stats.n && joined_until == 30, "a range inside of a step");
    d.stats.n = 0;
    steps_describe(&s, &call, &joined_until, &d);
    check(!d.stats.n, "what is inside of that range needs no stats");
    range.end = 32, joined_until = 0;
    steps_describe(&s, &range, &joined_until, &d);
    check(!d.stats.n && !joined_until, "a range that goes beyond the step");
    steps_describe(&s, &call, &joined_until, &d);
    check(d.stats.n && joined_until == 40, "but a call of it");
    steps_free(&s);
}

int main(void)
{
    test_occupancy();
    test_sorter(1000);
    test_sorter(1200000);
    test_buffers();
    test_numbers_with_a_call_between();
    test_numbers_between_threads();
    test_last_sample();
    test_waits_without_the_clock();
    test_fields_are_in_records();
    test_spool();
    test_steps();
    printf("%d passed, %d failed, 0 skipped\n", n_passed, n_failed);
    return n_failed != 0;
}
