// SPDX-License-Identifier: Apache-2.0
/* convert.c: converts a spool to a profile; see convert.h.
 *
 * There are three sorts, with files if memory is not sufficient: ranges and API calls by thread and
 * time, to find the ranges around each call; calls and device work by correlation id, to join them;
 * everything by line and time, for timeline.c. */
#define _GNU_SOURCE
#include "convert.h"
#include "converter.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { GROUP_CALLS = 8, DEEPEST_PATH = 64 };

/* ---- orders ---- */

int by_line_and_time(const void *a, const void *b)
{
    const Item *x = a, *y = b;
    int d = ORDER(x->line, y->line);
    if (!d) d = ORDER(x->start, y->start);
    if (!d) d = ORDER(y->end, x->end);
    return d ? d : ORDER(x->order, y->order);
}

static int group_rank(const Item *item)
{
    switch (item->kind) {
    case REC_RUNTIME: return 0;
    case REC_DRIVER: return 1;
    case REC_EVENT:
    case REC_EXTERNAL: return 2;
    default: return 3;
    }
}

/* Sorts by correlation id: calls (runtime calls before the driver calls inside them), facts about
 * them, and the work that they caused. */
static int by_group(const void *a, const void *b)
{
    const Item *x = a, *y = b;
    int d = ORDER(x->correlation, y->correlation);
    if (!d) d = group_rank(x) - group_rank(y);
    if (!d) d = ORDER(x->start, y->start);
    return d ? d : ORDER(x->order, y->order);
}

/* ---- ranges around calls ---- */

typedef struct {
    uint64_t end;
    uint32_t name, path;
} Around;

/* Numbers steps by the range's payload if that is an integer, else in the order of their starts. In
 * a window of steps, one that did not end in the window does not count. */
static void number_step(Converter *c, Item *item)
{
    size_t low = steps_before(&c->t.steps, item->start);
    bool beyond = c->t.n_steps_asked && low >= c->t.n_steps_asked;
    bool numbered = item->detail == 1 || item->detail == 2 || item->detail == 4 ||
                    item->detail == 5; /* integer payloads of NVTX */
    if (c->by_steps && (beyond || item->flags & ITEM_UNFINISHED)) return;
    c->t.n_steps++;
    StepRange *step = steps_find(&c->t.steps, item);
    if (step) step->is_root = true;
    item->amount = (numbered ? item->node : c->t.first_step + low) + 1;
}

/* Assigns ranges to calls, which go to their groups; ranges go to their lines. */
static void sweep_threads(Converter *c)
{
    Timeline *t = &c->t;
    Around *stack = NULL;
    size_t depth = 0, capacity = 0;
    uint64_t line = UINT64_MAX;
    bool has_steps = false;
    const Item *next;
    steps_close(&t->steps, t->err);
    while ((next = sorter_next(c->threads, t->err))) {
        Item item = *next;
        if (item.line != line)
            depth = 0, line = item.line, has_steps = steps_on_line(&t->steps, line);
        while (depth && stack[depth - 1].end <= item.start && stack[depth - 1].end < item.end)
            depth--;
        if (item.kind == REC_PUSH || item.kind == REC_MARK) {
            if (item.flags & ITEM_STEP) number_step(c, &item);
            if (item.kind == REC_PUSH && item.line < SPECIAL_LINE && item.name) {
                const char *text = name_text(&t->names, item.name),
                           *outer = depth ? name_text(&t->names, stack[depth - 1].path) : "";
                uint32_t path = item.name;
                if (depth >= DEEPEST_PATH)
                    path = stack[depth - 1].path;
                else if (depth)
                    path = name_id_format(&t->names, t->err, "%s/%s", outer, text);
                if (!GROW(stack, depth, capacity)) {
                    prof_nomem(t->err);
                    break;
                }
                stack[depth++] = (Around){item.end, item.name, path};
            }
            sorter_add(t->events, &item, t->err);
        } else {
            if (depth) item.range = stack[depth - 1].name, item.path = stack[depth - 1].path;
            StepRange *step = has_steps ? NULL : steps_only(&t->steps, item.start, item.start);
            if (step) step->has_work = true;
            sorter_add(c->groups, &item, t->err);
        }
    }
    prof_free(stack);
}

/* ---- calls and the work that they caused ---- */

/* Writes a group's calls. Only the outermost keeps the correlation id, because readers join with
 * the last host event that has it. */
static void emit_calls(Converter *c, Item *calls, size_t n, const Item *work)
{
    Timeline *t = &c->t;
    for (size_t i = 0; i < n; i++) {
        Item *call = &calls[i];
        const char *api = name_text(&t->names, call->api);
        if (i) call->correlation = 0;
        if (work) call->device = work->device;
        if (!i && work && work->graph && strstr(api, "GraphLaunch"))
            call->name =
                name_id_format(&t->names, t->err, "cuGraphLaunch (CudaGraph:%u)", work->graph);
        else if (!i && work && work->kind == REC_KERNEL && strstr(api, "Launch") &&
                 !strstr(api, "GraphLaunch"))
            call->name =
                /* XLA names launches like this, and XProf's launch statistics expect it */
                work->name;
        sorter_add(t->events, call, t->err);
    }
}

static void join_groups(Converter *c)
{
    Timeline *t = &c->t;
    Item calls[GROUP_CALLS], work = {0};
    size_t n_calls = 0;
    bool has_work = false;
    const Item *next;
    while ((next = sorter_next(c->groups, t->err))) {
        Item item = *next;
        if (n_calls && calls[0].correlation != item.correlation)
            emit_calls(c, calls, n_calls, has_work ? &work : NULL), n_calls = 0;
        if (!n_calls) has_work = false;
        if (item.kind == REC_RUNTIME || item.kind == REC_DRIVER) {
            if (!item.correlation || n_calls == GROUP_CALLS) {
                item.correlation = 0;
                sorter_add(t->events, &item, t->err);
            } else {
                calls[n_calls++] = item;
            }
            continue;
        }
        if (item.kind == REC_EVENT || item.kind == REC_EXTERNAL) {
            if (n_calls && item.kind == REC_EVENT)
                calls[0].detail = item.detail, calls[0].graph = item.graph;
            if (n_calls && item.kind == REC_EXTERNAL)
                calls[0].node = item.node, calls[0].flags |= ITEM_EXTERNAL;
            continue;
        }
        if (n_calls) {
            item.range = calls[0].range, item.path = calls[0].path;
            if (!has_work) work = item, has_work = true;
        }
        sorter_add(t->events, &item, t->err);
    }
    if (n_calls && !t->err->code) emit_calls(c, calls, n_calls, has_work ? &work : NULL);
}

/* ---- files ---- */

static bool write_profile(Converter *c, const char *folder, char *written, size_t n)
{
    Timeline *t = &c->t;
    char part[4096];
    if (snprintf(part, sizeof part, "%s/.%s.%lld.xplane.pb.part", folder, t->host,
                 (long long)t->pid) >= (int)sizeof part) {
        prof_fail(t->err, PROF_IO, 0, "the path of %s is too long", folder);
        return false;
    }
    int fd = open(part, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (fd < 0) {
        prof_fail(t->err, PROF_IO, 0, "cannot create %s: %s", part, strerror(errno));
        return false;
    }
    timeline_write(t, fd);
    if (close(fd)) prof_fail(t->err, PROF_IO, 0, "cannot write %s: %s", part, strerror(errno));
    bool named = false;
    for (int with_pid = 0; with_pid < 2 && !named && !t->err->code; with_pid++) {
        char process[32] = "";
        if (with_pid) snprintf(process, sizeof process, ".%lld", (long long)t->pid);
        if (snprintf(written, n, "%s/%s%s.xplane.pb", folder, t->host, process) >= (int)n) break;
        named = !link(part,
                      /* unlike rename(), it does not replace the profile of another process */
                      written);
        if (!named && errno != EEXIST) named = access(written, F_OK) && !rename(part, written);
    }
    if (!named)
        prof_fail(t->err, PROF_IO, 0, "cannot name the profile %s: %s", written, strerror(errno));
    unlink(part);
    return named;
}

static void read_header(Converter *c)
{
    char number[32];
    Timeline *t = &c->t;
    spool_header_value(&t->reader, "host", t->host, sizeof t->host);
    if (!*t->host || strchr(t->host, '/')) strcpy(t->host, "localhost");
    spool_header_value(&t->reader, "pid", number, sizeof number);
    t->pid = strtoll(number, NULL, 10);
    spool_header_value(&t->reader, "start_unix_ns", number, sizeof number);
    t->start_ns = t->first_ns = t->stop_ns = strtoull(number, NULL, 10);
    spool_header_value(&t->reader, "step_range", c->step_range, sizeof c->step_range);
    spool_header_value(&t->reader, "first_step", number, sizeof number);
    c->by_steps = *number != 0, t->first_step = strtoull(number, NULL, 10);
    spool_header_value(&t->reader, "n_steps", number, sizeof number);
    t->n_steps_asked = strtoull(number, NULL, 10);
    t->api_version = t->reader.status.api_version;
    if (t->start_ns > INT64_MAX / 2)
        prof_fail(t->err, PROF_FORMAT, 0, "the spool's header has no time");
}

static void converter_free(Converter *c)
{
    sorter_free(c->threads);
    sorter_free(c->groups);
    sorter_free(c->t.events);
    sorter_free(c->t.memory);
    prof_free(c->name_of_text);
    prof_free(c->open);
    steps_free(&c->t.steps);
    prof_free(c->launch_slots);
    prof_free(c->t.launches);
    prof_free(c->t.devices);
    prof_free(c->t.threads);
    prof_free(c->t.links);
    names_free(&c->t.names);
    spool_reader_close(&c->t.reader);
    prof_free(c);
}

/* Locks the spool, because two processes that convert it would write one file. */
static void lock_spool(Converter *c, const char *path)
{
    struct stat st;
    if (flock(c->t.reader.fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK)
        prof_fail(c->t.err, PROF_IO, 0,
                  "%s is still being written or converted; stop its process first, or query it "
                  "with profsql_live",
                  path);
    else if (!fstat(c->t.reader.fd, &st) && !st.st_nlink)
        prof_fail(c->t.err, PROF_NOTFOUND, 0, "%s was converted meanwhile", path);
}

#define KEPT_TAIL ".kept.spool"
bool convert_is_kept(const char *path)
{
    size_t n = strlen(path), n_tail = strlen(KEPT_TAIL);
    return n > n_tail && !strcmp(path + n - n_tail, KEPT_TAIL);
}

bool convert_is_of(const char *spool_path, const char *token)
{
    SpoolReader reader;
    ProfErr err = {0};
    char found[64];
    if (spool_open(&reader, spool_path, &err)) return false;
    spool_header_value(&reader, "token", found, sizeof found);
    spool_reader_close(&reader);
    return !strcmp(found, token);
}

/* Renames the spool to NAME.kept.spool, which says that it is converted. */
static void keep_spool(const char *path)
{
    char kept[4096];
    size_t n = strlen(path), n_tail = strlen(".spool");
    if (convert_is_kept(path) || n <= n_tail || strcmp(path + n - n_tail, ".spool")) return;
    if (snprintf(kept, sizeof kept, "%.*s" KEPT_TAIL, (int)(n - n_tail), path) < (int)sizeof kept)
        rename(path, kept);
}

int convert_spool(const char *spool_path, const CaptureOptions *options, char *written, size_t n,
                  ProfErr *err)
{
    char folder[4096], profile[4096];
    Converter *c = prof_alloc(sizeof *c);
    if (!c) return prof_nomem(err);
    c->t.err = err, c->t.folder = folder, c->t.reader.fd = -1;
    if (snprintf(folder, sizeof folder, "%s", spool_path) >= (int)sizeof folder)
        prof_fail(err, PROF_IO, 0, "the path of the spool is too long");
    for (int up = 0; up < 2; up++) { /* from <run>/.spool/<file> to <run> */
        char *slash = strrchr(folder, '/');
        if (slash)
            *slash = 0;
        else
            strcpy(folder, up ? ".." : ".");
    }
    if (!err->code) spool_open(&c->t.reader, spool_path, err);
    if (!err->code) lock_spool(c, spool_path);
    if (!err->code) read_header(c);
    c->threads = sorter_new(sizeof(Item), by_line_and_time, folder),
    c->groups = sorter_new(sizeof(Item), by_group, folder);
    c->t.events = sorter_new(sizeof(Item), by_line_and_time, folder),
    c->t.memory = sorter_new(sizeof(Item), by_line_and_time, folder);
    if (!c->threads || !c->groups || !c->t.events || !c->t.memory) prof_nomem(err);
    if (!err->code) convert_records(c);
    if (!err->code) sweep_threads(c);
    if (!err->code) join_groups(c);
    if (!err->code && write_profile(c, folder, profile, sizeof profile)) {
        if (options->keep_spool) {
            keep_spool(spool_path);
        } else {
            char *slash;
            unlink(spool_path);
            snprintf(folder, sizeof folder, "%s", spool_path);
            if ((slash = strrchr(folder, '/')))
                *slash = 0, rmdir(folder); /* succeeds for the last spool */
        }
        if (n) snprintf(written, n, "%s", profile);
    }
    converter_free(c);
    return err->code;
}
