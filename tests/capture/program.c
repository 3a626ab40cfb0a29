// SPDX-License-Identifier: Apache-2.0
/* program.c: a program that "uses CUDA": starts up as the driver does, plays a script through the
 * fake CUPTI, makes NVTX ranges as the NVTX header does, and ends in one of many ways.
 *
 *   program FAKE_CUPTI SCRIPT [threads=N] [times=N] [steps=N [inside=1] [helper=1] [teams=N]]
 * [end=exit|_exit|abort|kill|segv|fork|forkexec|unload|hold|closefds] [seconds=S] [soak=RATE]
 * [ranges=N] [until=FILE: _exit, abort, kill, segv, hold and closefds wait for it, for S seconds at
 * most] [around=NAME;NAME...: ranges that the script is played in]
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- the driver's part ---- */

static void (*driver_gone)(void);
static void driver_ends(void)
{
    if (driver_gone) driver_gone();
}

static void cu_init(void)
{
    const char *path = getenv("CUDA_INJECTION64_PATH");
    void *library = path && strcmp(path, "none") ? dlopen(path, RTLD_NOW) : NULL;
    int (*inject)(void) = NULL;
    if (path && !library) fprintf(stderr, "program: %s\n", dlerror());
    void *symbol = library ? dlsym(library, "InitializeInjection") : NULL;
    memcpy(&inject, &symbol, sizeof symbol);
    if (symbol && !inject()) fprintf(stderr, "program: the injection failed\n");
    atexit(driver_ends); /* after the injection's own: it runs before */
}

/* ---- NVTX's part: what its header does ---- */

typedef void Function(void);
static Function *functions[2][16], **tables[2][17];

static int get_table(int module, Function ****table, unsigned *size)
{
    int t = module == 1 ? 0 : module == 5 ? 1 : -1;
    if (t < 0) return 0;
    for (int i = 0; i < 16; i++) tables[t][i] = &functions[t][i];
    *table = tables[t], *size = 16;
    return 1;
}

static const void *export_table(uint32_t id)
{
    static const struct {
        size_t size;
        int (*get)(int, Function ****, unsigned *);
    } callbacks = {sizeof callbacks, get_table};
    return id == 1 ? &callbacks : NULL;
}

static void nvtx_init(void)
{
    const char *path = getenv("NVTX_INJECTION64_PATH");
    void *library = path ? dlopen(path, RTLD_LAZY) : NULL,
         *symbol = library ? dlsym(library, "InitializeInjectionNvtx2") : NULL;
    int (*inject)(const void *(*)(uint32_t));
    memcpy(&inject, &symbol, sizeof symbol);
    if (symbol) inject(export_table);
}

typedef struct {
    uint16_t version, size;
    uint32_t category;
    int32_t color_type;
    uint32_t color;
    int32_t payload_type, reserved;
    int64_t payload;
    int32_t message_type;
    const void *message;
} Attributes;

static void push(const char *name)
{
    if (functions[0][9]) ((int (*)(const char *))functions[0][9])(name);
}
static void pop(void)
{
    if (functions[0][11]) ((int (*)(void))functions[0][11])();
}
static void push_in_domain(void *domain, const char *name, int64_t payload)
{
    Attributes a = {.version = 3,
                    .size = sizeof a,
                    .payload_type = 2,
                    .payload = payload,
                    .message_type = 1,
                    .message = name};
    if (functions[1][4]) ((int (*)(void *, const Attributes *))functions[1][4])(domain, &a);
}
static void pop_in_domain(void *domain)
{
    if (functions[1][5]) ((int (*)(void *))functions[1][5])(domain);
}
static void *make_domain(const char *name)
{
    return functions[1][12] ? ((void *(*)(const char *))functions[1][12])(name) : NULL;
}
static uint64_t start_range(const char *name)
{
    return functions[0][5] ? ((uint64_t(*)(const char *))functions[0][5])(name) : 0;
}
static void end_range(uint64_t id)
{
    if (functions[0][7]) ((void (*)(uint64_t))functions[0][7])(id);
}
static void mark(const char *name)
{
    if (functions[0][2]) ((void (*)(const char *))functions[0][2])(name);
}

/* ---- the program ---- */

static const char *option(int argc, char **argv, const char *key, const char *otherwise)
{
    size_t n = strlen(key);
    for (int i = 3; i < argc; i++)
        if (!strncmp(argv[i], key, n) && argv[i][n] == '=') return argv[i] + n + 1;
    return otherwise;
}

/* A million ranges: CPU ns for each, or 0 where NVTX leads nowhere. */
static double ranges(long n)
{
    struct timespec a, b;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &a);
    for (long i = 0; i < n; i++) {
        push("a range"), pop();
        if (i % 1000 == 999) usleep(500); /* as fast as a program would, not as fast as it can */
    }
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &b);
    return ((double)(b.tv_sec - a.tv_sec) * 1e9 + (double)(b.tv_nsec - a.tv_nsec)) / (double)n;
}

static void *end_other(void *id)
{
    end_range(*(uint64_t *)id);
    return NULL;
}

static int (*play)(const char *, int, int);

/* A thread that has a part of each step: as PyTorch's for the backward pass, it has ranges of its
 * own and calls outside of them, but no step. */
typedef struct {
    pthread_barrier_t given, done;
    const char *script;
    int n;
} Helper;

static void *helper_main(void *argument)
{
    Helper *helper = argument;
    for (int i = 0; i < helper->n; i++) {
        pthread_barrier_wait(&helper->given);
        play(helper->script, 1, 1);
        usleep(500); /* what is played takes as long: a range starts after it */
        push("backward");
        play(helper->script, 1, 1);
        usleep(500);
        pop();
        pthread_barrier_wait(&helper->done);
    }
    return NULL;
}

/* Each step gives the helper its part when all teams' steps are open, and waits for it. */
static void start_helper(Helper *helper, pthread_t *thread, int n_steps, int n_teams,
                         const char *script)
{
    pthread_barrier_init(&helper->given, NULL, 1 + (unsigned)n_teams);
    pthread_barrier_init(&helper->done, NULL, 1 + (unsigned)n_teams);
    helper->script = script, helper->n = n_steps;
    pthread_create(thread, NULL, helper_main, helper);
}

/* With a script each step plays it, on this thread. */
static void steps(int n, const char *script, Helper *helper)
{
    void *domain = make_domain("data");
    for (int i = 0; i < n; i++) {
        push("step");
        push_in_domain(domain, "load", i);
        mark("loaded");
        pop_in_domain(domain);
        push("forward");
        if (play && script) play(script, 1, 1);
        usleep(1000);
        if (helper) pthread_barrier_wait(&helper->given), pthread_barrier_wait(&helper->done);
        pop();
        pop();
    }
    uint64_t id = start_range("across threads");
    pthread_t thread;
    if (n && !pthread_create(&thread, NULL, end_other, &id)) pthread_join(thread, NULL);
}

/* Threads with steps of their own. */
typedef struct {
    int n;
    const char *script;
    Helper *helper;
} Team;
static void *team_main(void *argument)
{
    const Team *team = argument;
    steps(team->n, team->script, team->helper);
    return NULL;
}

static void teams(int n_teams, int n, const char *script, Helper *helper)
{
    enum { MOST = 16 };
    pthread_t threads[MOST];
    Team team = {n, script, helper};
    for (int i = 0; i < n_teams && i < MOST; i++)
        pthread_create(&threads[i], NULL, team_main, &team);
    for (int i = 0; i < n_teams && i < MOST; i++) pthread_join(threads[i], NULL);
}

static void wait_until(double seconds, const char *file)
{
    for (int i = 0; i < seconds * 20 && access(file, F_OK); i++)
        usleep(50000); /* signals cut a sleep short */
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: program FAKE_CUPTI SCRIPT [threads=N] [times=N] [steps=N "
                        "[inside=1]] [end=HOW] [seconds=S] [soak=RATE] [ranges=N]\n");
        return 2;
    }
    const char *how = option(argc, argv, "end", "exit"), *until = option(argc, argv, "until", "");
    double seconds = atof(option(argc, argv, "seconds", "1")),
           rate = atof(option(argc, argv, "soak", "0"));
    int n_steps = atoi(option(argc, argv, "steps", "0"));
    long n_ranges = atol(option(argc, argv, "ranges", "0"));
    if (n_steps || n_ranges || *option(argc, argv, "around", "")) nvtx_init();
    if (strcmp(argv[1], "-")) cu_init();
    void *cupti =
             strcmp(argv[1], "-") ? dlopen(argv[1], RTLD_NOW | (rate > 0 ? 0 : RTLD_NOLOAD)) : NULL,
         *symbol;
    unsigned long (*soak)(double, double, double *) = NULL;
    if (cupti) {
        symbol = dlsym(cupti, "fake_play"), memcpy(&play, &symbol, sizeof symbol);
        symbol = dlsym(cupti, "fake_soak"), memcpy(&soak, &symbol, sizeof symbol);
        symbol = dlsym(cupti, "fake_driver_gone"), memcpy(&driver_gone, &symbol, sizeof symbol);
    }
    if (!strcmp(how, "closefds")) { /* as daemons do; the numbers are then files of the program */
        char name[4096];
        for (int fd = 3; fd < 256; fd++) close(fd);
        for (int i = 0; i < 40; i++) {
            snprintf(name, sizeof name, "%s.%d", option(argc, argv, "files", "/tmp/closefds"), i);
            FILE *f = fopen(name, "w+");
            if (f) fputs("the program's own\n", f), fflush(f);
        }
        wait_until(seconds, until);
    }
    if (getenv("FAKE_CUDA") && cupti) { /* the driver's library, as the loader knows it */
        void *cuda = dlopen(getenv("FAKE_CUDA"), RTLD_NOW);
        void (*of)(void (*)(void)), (*finish)(void);
        symbol = cuda ? dlsym(cuda, "fake_cuda_of") : NULL, memcpy(&of, &symbol, sizeof symbol);
        symbol = dlsym(cupti, "fake_finish"), memcpy(&finish, &symbol, sizeof symbol);
        if (of && finish) of(finish);
    }
    bool inside = atoi(option(argc, argv, "inside", "0"));
    int n_teams = atoi(option(argc, argv, "teams", "0"));
    const char *script = inside ? argv[2] : NULL;
    Helper helper,
        *helps = play && script && atoi(option(argc, argv, "helper", "0")) ? &helper : NULL;
    pthread_t thread;
    if (helps) start_helper(helps, &thread, n_steps, n_teams ? n_teams : 1, script);
    if (n_teams) teams(n_teams, n_steps, script, helps);
    if (n_steps && !n_teams) steps(n_steps, script, helps);
    if (helps) pthread_join(thread, NULL);
    char around[1000], *rest = around;
    snprintf(around, sizeof around, "%s", option(argc, argv, "around", ""));
    for (char *name; (name = strsep(&rest, ";")) && *name;) push(name);
    if (play && !inside && strcmp(argv[2], "-") &&
        play(argv[2], atoi(option(argc, argv, "threads", "1")),
             atoi(option(argc, argv, "times", "1"))))
        return 3;
    if (soak && rate > 0) {
        double ns_each = 0;
        unsigned long n = soak(rate, seconds, &ns_each);
        printf("%lu %.2f\n", n, ns_each);
    }
    if (n_ranges) printf("%.2f\n", ranges(n_ranges));
    fflush(stdout);
    if (!strcmp(how, "exit") || !strcmp(how, "closefds")) return 42;
    if (strchr("_aksh", *how)) wait_until(seconds, until);
    if (!strcmp(how, "_exit")) _exit(42);
    if (!strcmp(how, "abort")) abort();
    if (!strcmp(how, "kill")) kill(getpid(), SIGKILL);
    if (!strcmp(how, "segv")) raise(SIGSEGV);
    if (!strcmp(how, "unload") && cupti) dlclose(cupti);
    if (!strncmp(how, "fork", 4)) {
        pid_t pid = fork();
        if (!pid) {
            push("in the child"), pop();
            if (!strcmp(how, "forkexec")) execl("/bin/true", "true", (char *)NULL);
            exit(7);
        }
        int status = 0;
        waitpid(pid, &status, 0);
        return WIFEXITED(status) ? 42 : 9;
    }
    return 42;
}
