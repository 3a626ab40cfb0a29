// SPDX-License-Identifier: Apache-2.0
/* control.c: starts and stops recording from outside; see control.h. */
#define _GNU_SOURCE
#include "control.h"

#include "session.h"
#include "system.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdatomic.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { LOOK_MS = 200, ANSWER_MS = 3000, END_WAIT_NS = 2000000000 };

static struct {
    pthread_t thread;
    _Atomic bool begun, quit, has_stopped;
    sem_t wake; /* not a file descriptor, because programs close unknown ones */
    int socket;
    struct sigaction old_action;
    _Atomic int n_signals;
} ctl = {.socket = -1};

bool control_has_stopped(void) { return atomic_load(&ctl.has_stopped); }

static double now_s(void) { return (double)clock_ns(CLOCK_MONOTONIC) / 1e9; }

/* ---- the socket ---- */

static socklen_t address_of(struct sockaddr_un *address, pid_t pid)
{
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    int n = snprintf(address->sun_path + 1, sizeof address->sun_path - 1, "profsql-capture.%d",
                     (int)pid);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
}

static int listen_socket(void)
{
    struct sockaddr_un address;
    socklen_t n = address_of(&address, getpid());
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) return -1;
    if (bind(fd, (struct sockaddr *)&address, n) || listen(fd, 4)) {
        close(fd);
        return -1;
    }
    return fd;
}

bool control_send(pid_t pid, const char *word, char *answer, size_t n)
{
    struct sockaddr_un address;
    socklen_t length = address_of(&address, pid);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) return false;
    size_t got = 0;
    bool ok = !connect(fd, (struct sockaddr *)&address, length) &&
              send(fd, word, strlen(word), MSG_NOSIGNAL) == (ssize_t)strlen(word);
    shutdown(fd, SHUT_WR);
    while (ok && got < n - 1) {
        ssize_t k = recv(fd, answer + got, n - 1 - got, 0);
        if (k < 0 && errno == EINTR) continue;
        if (k <= 0) break;
        got += (size_t)k;
    }
    answer[got] = 0;
    int error = errno;
    close(fd);
    errno = error;
    return ok;
}

/* ---- commands ---- */

static void do_start(char *answer, size_t n)
{
    ProfErr err = {0};
    if (session_is_on())
        snprintf(answer, n, "error: recording already");
    else if (session_start(true, &err))
        snprintf(answer, n, "error: %s", err.text);
    else
        session_regain_cuda(), session_describe(answer, n);
}

static void do_stop(char *answer, size_t n)
{
    ProfErr err = {0};
    char written[4096];
    if (!session_is_on()) {
        snprintf(answer, n, "error: not recording");
        return;
    }
    atomic_store(&ctl.has_stopped, true);
    session_wait_for_gpus();
    session_stop(true, written, sizeof written, &err);
    if (err.code)
        snprintf(answer, n, "error: %s", err.text);
    else
        snprintf(answer, n, "wrote %s", written);
}

/* Returns whether the descriptor is still our socket. False if the program has closed it; the
 * number may then be one of its own files. */
static bool still_ours(int fd)
{
    struct sockaddr_un ours, there = {0};
    socklen_t n = address_of(&ours, getpid()), k = sizeof there;
    return !getsockname(fd, (struct sockaddr *)&there, &k) && k == n && !memcmp(&ours, &there, n);
}

static void serve(void)
{
    if (ctl.socket >= 0 && !still_ours(ctl.socket)) ctl.socket = listen_socket();
    struct pollfd asked = {.fd = ctl.socket, .events = POLLIN};
    if (ctl.socket < 0 || poll(&asked, 1, 0) <= 0) return;
    int fd = accept4(ctl.socket, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0) return;
    struct ucred who;
    socklen_t length = sizeof who;
    char word[32] = "", answer[5000] = "error: not your process";
    size_t n = 0;
    if (!getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &length) &&
        (who.uid == geteuid() || !who.uid)) {
        struct pollfd ready = {.fd = fd, .events = POLLIN};
        while (n < sizeof word - 1 && poll(&ready, 1, ANSWER_MS) > 0) {
            ssize_t k = recv(fd, word + n, sizeof word - 1 - n, 0);
            if (k <= 0) break;
            n += (size_t)k;
        }
        word[n] = 0, word[strcspn(word, "\r\n")] = 0;
        if (!strcmp(word, "start"))
            do_start(answer, sizeof answer);
        else if (!strcmp(word, "stop"))
            do_stop(answer, sizeof answer);
        else if (!strcmp(word, "status"))
            session_describe(answer, sizeof answer);
        else
            snprintf(answer, sizeof answer, "error: say start, stop or status");
    }
    n = strlen(answer);
    answer[n++] = '\n';
    if (send(fd, answer, n, MSG_NOSIGNAL) < 0) n = 0; /* the sender has gone */
    close(fd);
}

static void by_signal(void)
{
    char answer[5000];
    if (session_is_on())
        do_stop(answer, sizeof answer);
    else
        do_start(answer, sizeof answer);
    if (!session_options()->quiet || starts_with(answer, "error")) session_say("%s", answer);
}

static void on_signal(int number, siginfo_t *info, void *context)
{
    int error = errno;
    atomic_fetch_add(&ctl.n_signals, 1);
    sem_post(&ctl.wake);
    if (ctl.old_action.sa_flags & SA_SIGINFO) {
        if (ctl.old_action.sa_sigaction) ctl.old_action.sa_sigaction(number, info, context);
    } else if (ctl.old_action.sa_handler != SIG_DFL && ctl.old_action.sa_handler != SIG_IGN) {
        ctl.old_action.sa_handler(number);
    }
    errno = error;
}

/* ---- the thread ---- */

static void say_window(const char *what)
{
    char line[5000];
    session_describe(line, sizeof line);
    if (!session_options()->quiet) session_say("%s: %s", what, line);
}

/* Sleeps until a time of CLOCK_MONOTONIC, or until it is woken. */
static void sleep_until(double moment_s)
{
    double left = moment_s - now_s();
    if (left > 0) wait_ns(&ctl.wake, (int64_t)(left * 1e9));
}

/* When recording starts by itself, in CLOCK_MONOTONIC; INFINITY: never again. */
typedef struct {
    double at;
    uint64_t unix_s; /* for a repeated window: its time; 0: for a single one */
} NextStart;

/* Windows of --every start at multiples of it since 1970, so that all processes start together. */
static NextStart next_start(const CaptureOptions *o, double delay_s, bool is_first)
{
    double realtime = (double)clock_ns(CLOCK_REALTIME) / 1e9;
    if (o->every_s > 0) {
        double start = ceil((realtime + delay_s) / o->every_s) * o->every_s;
        return (NextStart){now_s() + start - realtime, (uint64_t)start};
    }
    return (NextStart){is_first && delay_s > 0 && !o->wait ? now_s() + delay_s : INFINITY, 0};
}

static void start_by_time(const NextStart *start)
{
    ProfErr err = {0};
    if (session_is_on()) return;
    if (start->unix_s)
        session_start_window(start->unix_s, &err);
    else
        session_start(true, &err);
    if (err.code)
        session_say("%s. Nothing is recorded.", err.text);
    else
        session_regain_cuda();
    if (!err.code && !start->unix_s) say_window("after the delay");
}

static void *control_main(void *unused)
{
    (void)unused;
    pthread_setname_np(pthread_self(), "profsql-control");
    const CaptureOptions *o = session_options();
    NextStart start = next_start(o, o->delay_s, true);
    double stop_at = INFINITY, window_end = INFINITY, tick_at = 0;
    bool was_on = false;
    while (!atomic_load(&ctl.quit)) {
        double now = now_s();
        if (now >= start.at) {
            window_end = start.unix_s ? start.at + o->duration_s : INFINITY;
            if (now < window_end)
                start_by_time(&start); /* later if the profile of the last one took long */
            start = next_start(o, 0, false);
        }
        bool on = session_is_on();
        if (on && !was_on && o->duration_s > 0) stop_at = fmin(window_end, now + o->duration_s);
        was_on = on;
        if (on && now >= stop_at) {
            char answer[5000];
            do_stop(answer, sizeof answer);
            if (!o->quiet || starts_with(answer, "error")) session_say("%s", answer);
            stop_at = INFINITY, was_on = false;
            continue;
        }
        if (now >= tick_at) session_tick(), tick_at = now + 1;
        sleep_until(fmin(fmin(start.at, stop_at), now_s() + LOOK_MS / 1000.0));
        if (atomic_exchange(&ctl.n_signals, 0) && !atomic_load(&ctl.quit)) by_signal();
        serve();
        session_convert_left();
    }
    return NULL;
}

void control_begin(void)
{
    if (atomic_exchange(&ctl.begun, true)) return;
    sem_init(&ctl.wake, 0, 0);
    const CaptureOptions *o = session_options();
    if (o->signal) {
        struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART};
        sigemptyset(&action.sa_mask);
        sigaction(o->signal, &action, &ctl.old_action);
    }
    ctl.socket = listen_socket(); /* before the signal, because whoever can reach the socket may
                                     also send it */
    if (start_thread(&ctl.thread, control_main))
        session_say("cannot start a thread: no delay, duration, signal or socket");
}

void control_wake(void)
{
    if (atomic_load(&ctl.begun)) sem_post(&ctl.wake);
}

void control_end(void)
{
    if (!atomic_load(&ctl.begun) || atomic_exchange(&ctl.quit, true)) return;
    sem_post(&ctl.wake);
    /* with a timeout, because the thread may be inside a driver that hangs */
    join_within(ctl.thread, END_WAIT_NS);
}

void control_child(void)
{
    if (ctl.socket >= 0) close(ctl.socket);
    ctl.socket = -1;
    atomic_store(&ctl.begun, false);
    atomic_store(&ctl.quit, false);
    atomic_store(&ctl.has_stopped, false);
}
