// SPDX-License-Identifier: Apache-2.0
/* command.c: profsql-capture: runs a program with the capture library in it, and converts its
 * spools to profiles. */
#define _GNU_SOURCE
#include "../base/beside.h"
#include "../base/option_help.h"
#include "../remote/command/command.h"
#include "control.h"
#include "convert.h"
#include "options.h"
#include "summary.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef CAPTURE_VERSION
#define CAPTURE_VERSION "unknown"
#endif
typedef struct {
    CaptureOptions options;
    const char *send, *convert;
    bool preload, summary;
    struct timespec started;
    char **program;
} Command;

static void report(const Command *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void report(const Command *c, const char *format, ...)
{
    va_list ap;
    if (c->options.quiet) return;
    fputs("profsql-capture: ", stderr);
    va_start(ap, format);
    vfprintf(stderr, format, ap);
    va_end(ap);
    fputc('\n', stderr);
}

/* ---- files ---- */

static bool is_file(const char *path) { return !access(path, R_OK); }

/* ---- profiles out of spools ---- */

static void summarize(const char *source)
{
    char why[512];
    if (!summary_print(source, why, sizeof why))
        fprintf(stderr, "profsql-capture: no summary of %s: %s\n", source, why);
}

static int convert_one(const Command *c, const char *path)
{
    char written[4096];
    ProfErr err = {0};
    if (convert_spool(path, &c->options, written, sizeof written, &err)) {
        const char *advice =
            c->convert ? "" : "; profsql-capture --convert makes the profile of it";
        fprintf(stderr, "profsql-capture: %s: %s. The spool is kept%s.\n", path, err.text, advice);
        return 1;
    }
    report(c, "wrote %s", written);
    if (c->summary && c->convert && strcmp(c->convert, path) == 0) summarize(written);
    return 0;
}

/* Converts the spools of a run; if there is a token, only those of the program that we ran. *n_seen
 * counts them. Returns how many could not be converted. */
static int convert_run(const Command *c, const char *run, int *n_seen)
{
    char folder[4096], path[8192];
    int n_bad = 0;
    if (snprintf(folder, sizeof folder, "%s/.spool", run) >= (int)sizeof folder) return 0;
    struct dirent **entries;
    int n = scandir(folder, &entries, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        bool ours = has_suffix(entries[i]->d_name, ".spool") &&
                    (!*c->options.token || convert_is_of(path, c->options.token));
        if (ours && !c->convert && convert_is_kept(path)) ours = false, ++*n_seen;
        if (ours) n_bad += convert_one(c, path), ++*n_seen;
        free(entries[i]);
    }
    if (n >= 0) free(entries);
    return n_bad;
}

static bool is_later(struct timespec a, struct timespec b)
{
    return a.tv_sec != b.tv_sec ? a.tv_sec > b.tv_sec : a.tv_nsec > b.tv_nsec;
}

/* Returns when the last profile of a run was written; 0 if it has none. */
static struct timespec last_profile(const char *run)
{
    struct timespec last = {0};
    struct dirent **entries;
    int n = scandir(run, &entries, NULL, NULL);
    for (int i = 0; i < n; i++) {
        char path[8192 + 256];
        struct stat st;
        snprintf(path, sizeof path, "%s/%s", run, entries[i]->d_name);
        if (has_suffix(entries[i]->d_name, ".xplane.pb") && !stat(path, &st) &&
            is_later(st.st_mtim, last))
            last = st.st_mtim;
        free(entries[i]);
    }
    if (n >= 0) free(entries);
    return last;
}

static int convert_path(const Command *c)
{
    struct stat st;
    int n_seen = 0;
    if (stat(c->convert, &st)) {
        fprintf(stderr, "profsql-capture: %s: %s\n", c->convert, strerror(errno));
        return 1;
    }
    if (!S_ISDIR(st.st_mode)) return convert_one(c, c->convert);
    int n_bad = convert_run(c, c->convert, &n_seen);
    if (!n_seen)
        fprintf(stderr,
                "profsql-capture: %s holds no .spool folder with spools; give a run folder or a "
                "spool\n",
                c->convert);
    if (c->summary && n_seen > n_bad) summarize(c->convert);
    return n_bad || !n_seen;
}

static bool is_run_of(const char *run, const char *name)
{
    size_t n = strlen(run);
    return !strncmp(name, run, n) &&
           (!name[n] ||
            (name[n] == '_' && name[n + 1] && !name[n + 1 + strspn(name + n + 1, "0123456789")]));
}

/* Returns whether the profile can be written. If not, the library has reported the reason, if the
 * program loaded it. */
static bool is_writable(const char *folder)
{
    char path[4096];
    struct stat st;
    snprintf(path, sizeof path, "%s", folder);
    for (char *slash; stat(path, &st) && (slash = strrchr(path, '/')) && slash != path;) *slash = 0;
    return !stat(path, &st) && S_ISDIR(st.st_mode) && !access(path, W_OK);
}

/* Returns how many runs have a profile that was written after the program started; *last is the
 * last one. */
static int find_written(const Command *c, const char *folder, char last[8192])
{
    char run[8192];
    struct timespec when = c->started;
    int n_runs = 0;
    struct dirent **entries;
    int n = scandir(folder, &entries, NULL, alphasort);
    *last = 0;
    for (int i = 0; i < n; i++) {
        snprintf(run, sizeof run, "%s/%s", folder, entries[i]->d_name);
        struct timespec written = is_run_of(c->options.run, entries[i]->d_name)
                                      ? last_profile(run)
                                      : (struct timespec){0};
        n_runs += is_later(written, c->started);
        if (is_later(written, when)) when = written, memcpy(last, run, sizeof run);
        free(entries[i]);
    }
    if (n >= 0) free(entries);
    return n_runs;
}

/* Prints the summary of the last profile: with several windows, only that of the last window. */
static void summarize_last(int n_written, const char *last)
{
    if (n_written > 1)
        fprintf(stderr, "profsql-capture: %d runs were written; the last one:\n", n_written);
    if (n_written) summarize(last);
}

/* Converts the program's spools after it has ended. Its windows are separate runs, RUN, RUN_2, ...
 * Other commands may write to them too. */
static void convert_all(const Command *c, bool ran)
{
    char folder[4096], run[8192], last[8192];
    int n_seen = 0;
    snprintf(folder, sizeof folder, "%s/plugins/profile", c->options.logdir);
    struct dirent **entries;
    int n = scandir(folder, &entries, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        if (is_run_of(c->options.run, entries[i]->d_name)) {
            snprintf(run, sizeof run, "%s/%s", folder, entries[i]->d_name);
            convert_run(c, run, &n_seen);
        }
        free(entries[i]);
    }
    if (n >= 0) free(entries);
    int n_written = find_written(c, folder, last); /* the library writes those of windows */
    if (c->summary) summarize_last(n_written, last);
    if (n_seen || n_written || !ran) return;
    if (c->options.by_steps)
        report(c, "nothing was recorded: the program did not reach the first step, or could not be "
                  "injected");
    else if (is_writable(c->options.logdir))
        report(c, "nothing was recorded: the program made no CUDA call and no NVTX range, or could "
                  "not be injected");
    else
        report(c, "%s: cannot be written; name another folder with --logdir", c->options.logdir);
}

/* ---- running ---- */

static bool find_library(char *out, size_t n)
{
    const char *given = getenv("PROFSQL_CAPTURE_LIBRARY");
    if (given) {
        snprintf(out, n, "%s", given);
        return is_file(out);
    }
    return find_library_beside("libprofsql_capture.so", out, n);
}

static void set_variable(const Command *c, const char *name, const char *library)
{
    const char *old = getenv(name);
    if (old && *old && strcmp(old, library) && strcmp(old, "none"))
        report(c, "%s is already set to %s and is left unchanged, so the capture cannot use it",
               name, old);
    else if (!old || strcmp(old, "none"))
        setenv(name, library, 1);
}

static pid_t child;

static void pass_on(int number)
{
    if (child > 0) kill(child, number);
}

/* Handles signals that would end this command, because the program has to end first. The signal
 * that starts and stops recording is passed on to the program. */
static void catch_signals(const Command *c)
{
    static const int passed[] = {SIGTERM,   SIGHUP,  SIGUSR1, SIGUSR2, SIGALRM,
                                 SIGVTALRM, SIGPROF, SIGIO,   SIGXCPU, SIGXFSZ};
    for (size_t i = 0; i < COUNT(passed); i++)
        signal(passed[i], passed[i] == c->options.signal ? SIG_IGN : pass_on);
    signal(SIGINT, SIG_IGN),
        signal(SIGQUIT, SIG_IGN); /* the terminal also sends it to the program */
}

/* Makes a name for this command, which the spools of its program contain. */
static void make_token(Command *c)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    snprintf(c->options.token, sizeof c->options.token, "%d.%lld.%ld", (int)getpid(),
             (long long)now.tv_sec, now.tv_nsec);
    setenv(option_specs[OPT_TOKEN].variable, c->options.token, 1);
}

/* Makes the path absolute, because the program may change its current folder. A name without folder
 * is a local file, or found by the loader. False if there is no such file. */
static bool find_cupti(Command *c)
{
    char absolute[4096];
    const char *given = c->options.cupti;
    if (!*given || (!strchr(given, '/') && !is_file(given))) return true;
    if (!realpath(given, absolute)) {
        fprintf(stderr, "profsql-capture: --cupti %s: %s\n", given, strerror(errno));
        return false;
    }
    setenv(option_specs[OPT_CUPTI].variable, absolute, 1);
    return true;
}

static int run_program(Command *c)
{
    char library[4096], absolute[4096];
    clock_gettime(CLOCK_REALTIME_COARSE, &c->started); /* the clock of file times */
    if (!find_library(library, sizeof library)) {
        fprintf(stderr,
                "profsql-capture: %s: no such file, nor is it next to this command; build it with "
                "make capture\n",
                library);
        return 127;
    }
    if (!realpath(library, absolute)) {
        perror("profsql-capture");
        return 127;
    }
    if (!find_cupti(c)) return 2;
    set_variable(c, "CUDA_INJECTION64_PATH", absolute);
    set_variable(c, "NVTX_INJECTION64_PATH", absolute);
    if (c->preload) {
        char list[8192];
        const char *old = getenv("LD_PRELOAD");
        snprintf(list, sizeof list, "%s%s%s", absolute, old && *old ? ":" : "", old ? old : "");
        setenv("LD_PRELOAD", list, 1);
    }
    char logdir[sizeof c->options.logdir]; /* absolute, because the program may change its current
                                              folder */
    if (c->options.logdir[0] != '/') {
        if (!getcwd(absolute, sizeof absolute)) {
            perror("profsql-capture");
            return 127;
        }
        if (snprintf(logdir, sizeof logdir, "%.2048s/%.1000s", absolute, c->options.logdir) >=
            (int)sizeof logdir)
            return 127;
        memcpy(c->options.logdir, logdir, sizeof logdir);
    }
    setenv(option_specs[OPT_LOGDIR].variable, c->options.logdir, 1);
    setenv(option_specs[OPT_RUN].variable, c->options.run, 1);
    setenv(option_specs[OPT_LATER].variable, "1", 1);
    make_token(c);
    int said[2]; /* closed by a successful exec; anything that arrives is an error */
    if (pipe2(said, O_CLOEXEC)) {
        perror("profsql-capture: pipe");
        return 127;
    }
    child = fork();
    if (child < 0) {
        perror("profsql-capture: fork");
        return 127;
    }
    if (!child) {
        execvp(c->program[0], c->program);
        fprintf(stderr, "profsql-capture: %s: %s\n", c->program[0], strerror(errno));
        if (write(said[1], "", 1) != 1) perror("profsql-capture");
        _exit(127);
    }
    catch_signals(c);
    close(said[1]);
    char byte;
    ssize_t n_said;
    while ((n_said = read(said[0], &byte, 1)) < 0 && errno == EINTR) continue;
    close(said[0]);
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
    if (WIFSIGNALED(status))
        report(c, "the program was ended by signal %d (%s)", WTERMSIG(status),
               strsignal(WTERMSIG(status)));
    convert_all(c, n_said != 1);
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* Sends a word to a process, or to the first process below it that is being recorded: the number
 * may be that of a command or of a shell. */
static bool send_to_any(pid_t pid, const char *word, char *answer, size_t n, int depth)
{
    enum { DEEPEST = 8 };
    char path[64], children[4096];
    if (control_send(pid, word, answer, n)) return true;
    int error = errno;
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)pid, (int)pid);
    FILE *f = depth < DEEPEST ? fopen(path, "r") : NULL;
    bool sent = false;
    if (f && fgets(children, sizeof children, f))
        for (char *p = children, *end; !sent; p = end) {
            long one = strtol(p, &end, 10);
            if (end == p) break;
            sent = send_to_any((pid_t)one, word, answer, n, depth + 1);
        }
    if (f) fclose(f);
    errno = error;
    return sent;
}

static int send_word(const Command *c)
{
    char answer[5000], *end;
    long pid = c->program && c->program[0] ? strtol(c->program[0], &end, 10) : 0;
    if (pid <= 0 || *end) {
        fprintf(stderr, "profsql-capture: --send %s wants a process id\n", c->send);
        return 2;
    }
    if (!send_to_any((pid_t)pid, c->send, answer, sizeof answer, 0)) {
        fprintf(stderr,
                "profsql-capture: process %ld cannot be reached: %s; is it running under "
                "profsql-capture, and has it used CUDA or NVTX?\n",
                pid, strerror(errno));
        return 1;
    }
    fputs(answer, stdout);
    return starts_with(answer, "error");
}

/* ---- the command line ---- */

enum { KEY_HELP = 1000, KEY_VERSION, KEY_SEND, KEY_CONVERT, KEY_PRELOAD, KEY_SUMMARY, KEY_OPTION };
static const OptionSpec own_options[] = {
    {"preload", KEY_PRELOAD, NULL, NULL,
     "load the library into every process at its start (LD_PRELOAD)"},
    {"summary", KEY_SUMMARY, NULL, NULL,
     "at the end, print what the profile contains, on one screen (needs libsqlite3 and "
     "libprofsql)"},
    {"convert", KEY_CONVERT, "PATH", NULL,
     "make the profile from a spool that a killed program left, or from all spools in a run "
     "folder"},
    {"send", KEY_SEND, "WORD", NULL, "command for a running process: start, stop or status"},
    {"help", KEY_HELP, NULL, NULL, "print this list"},
    {"version", KEY_VERSION, NULL, NULL, "print the version"},
};

static void print_option(const OptionSpec *o)
{
    print_option_help(o->name, o->letter < KEY_HELP ? o->letter : 0, o->argument, o->help);
}

static void print_help(void)
{
    puts("Usage: profsql-capture [OPTION...] -- PROGRAM [ARGUMENT...]\n"
         "  or:  profsql-capture [OPTION...] --send WORD PID\n"
         "  or:  profsql-capture [OPTION...] --convert PATH\n"
         "  or:  profsql-capture --host HOST:PORT[,...] [OPTION...]\n"
         "Runs a CUDA program, unmodified, and writes a profile of it that XProf,\n"
         "TensorBoard and libprofsql read. With --host HOST:PORT and without a program it\n"
         "profiles JAX, TensorFlow and TPU programs that run a profiler server.\n");
    for (int i = 0; i < N_CAPTURE_OPTIONS; i++)
        if (option_specs[i].name) print_option(&option_specs[i]);
    for (size_t i = 0; i < COUNT(own_options); i++) print_option(&own_options[i]);
    remote_print_help();
}

static int wrong_usage(void)
{
    fputs("profsql-capture: profsql-capture --help lists the options\n", stderr);
    return 2;
}

/* Handles an option. Returns 0, or the status to exit with. */
static int set_option(Command *c, int key, const char *value)
{
    ProfErr err = {0};
    switch (key) {
    case KEY_SEND: c->send = value; return 0;
    case KEY_CONVERT: c->convert = value; return 0;
    case KEY_PRELOAD: c->preload = true; return 0;
    case KEY_SUMMARY: c->summary = true; return 0;
    default: break;
    }
    for (int i = 0; i < N_CAPTURE_OPTIONS; i++) {
        if (!option_specs[i].name || (key != option_specs[i].letter && key != KEY_OPTION + i))
            continue;
        if (options_set(&c->options, (enum CaptureOption)i, value ? value : "1", &err)) {
            fprintf(stderr, "profsql-capture: %s\n", err.text);
            return 2;
        }
        setenv(option_specs[i].variable, value ? value : "1", 1);
        return 0;
    }
    return wrong_usage(); /* getopt_long() has printed an error */
}

/* Reads the options up to the first other word. Returns -1, or the status to exit with. */
static int read_options(Command *c, int argc, char **argv)
{
    struct option options[N_CAPTURE_OPTIONS + COUNT(own_options) + 1] = {0};
    char letters[2 * N_CAPTURE_OPTIONS + 2] = "+", *letter = letters + 1;
    struct option *next = options;
    for (int i = 0; i < N_CAPTURE_OPTIONS; i++) {
        const OptionSpec *o = &option_specs[i];
        if (!o->name) continue;
        *next++ = (struct option){o->name, o->argument ? required_argument : no_argument, NULL,
                                  o->letter ? o->letter : KEY_OPTION + i};
        if (!o->letter) continue;
        *letter++ = (char)o->letter;
        if (o->argument) *letter++ = ':';
    }
    for (size_t i = 0; i < COUNT(own_options); i++)
        *next++ = (struct option){own_options[i].name,
                                  own_options[i].argument ? required_argument : no_argument, NULL,
                                  own_options[i].letter};
    for (int key, status; (key = getopt_long(argc, argv, letters, options, NULL)) != -1;) {
        if (key == KEY_HELP) {
            print_help();
            return 0;
        }
        if (key == KEY_VERSION) {
            puts("profsql-capture " CAPTURE_VERSION);
            return 0;
        }
        if ((status = set_option(c, key, optarg))) return status;
    }
    if (optind < argc) c->program = argv + optind;
    if (c->program || c->convert) return -1;
    fputs("profsql-capture: which program? give it after the options: profsql-capture -o logs -- "
          "python train.py; or --host HOST:PORT for a profiler server that runs\n",
          stderr);
    return wrong_usage();
}

int main(int argc, char **argv)
{
    Command c = {0};
    ProfErr err = {0};
    if (remote_is_wanted(argc, argv)) return remote_command(argc, argv);
    if (options_from_environment(&c.options, &err))
        fprintf(stderr, "profsql-capture: %s\n", err.text);
    int status = read_options(&c, argc, argv);
    if (status >= 0) return status;
    if (options_check(&c.options, &err)) {
        fprintf(stderr, "profsql-capture: %s\n", err.text);
        return 2;
    }
    if (c.send) return send_word(&c);
    if (c.convert) return convert_path(&c);
    return run_program(&c);
}
