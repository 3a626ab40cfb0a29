// SPDX-License-Identifier: Apache-2.0
/* issues.c: recording issues of a host; see issues.h. */
#include "run.h"

enum { MAX_ISSUES = 10000 };

static void record(Host *host, const char *severity, const char *code, uint64_t offset,
                   uint64_t n_bytes, const void *where, const char *format, va_list ap)
{
    if (offset >= FILE_MERGED) offset = 0; /* joined parts have no single place */
    pthread_mutex_lock(&host->lock);
    size_t first = host->n_issues > 64 ? host->n_issues - 64 : 0;
    Issue *issue = NULL;
    for (size_t i = first; i < host->n_issues && !issue; i++)
        if (host->issues[i].where == where && !strcmp(host->issues[i].code, code))
            issue = &host->issues[i];
    if (!issue && host->n_issues >= MAX_ISSUES) {
        issue = &host->issues[host->n_issues - 1];
        issue->code = "more", issue->message = "further issues were only counted";
    }
    if (issue) {
        issue->count++, issue->lost_bytes += n_bytes;
    } else {
        char text[1200];
        print_utf8(text, sizeof text, format, ap);
        char *message = arena_alloc(&host->arena, strlen(text) + 1);
        if (message && GROW(host->issues, host->n_issues, host->issue_capacity))
            host->issues[host->n_issues++] =
                (Issue){severity, code, offset, 1, n_bytes, strcpy(message, text), where};
        else
            host->run->n_issues_lost++;
    }
    pthread_mutex_unlock(&host->lock);
}

void host_issue(Host *host, const char *severity, const char *code, const void *where,
                const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    record(host, severity, code, 0, 0, where, format, ap);
    va_end(ap);
}

void host_issue_in_file(Host *host, const char *severity, const char *code, uint64_t offset,
                        uint64_t n_bytes, const void *where, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    record(host, severity, code, offset, n_bytes, where, format, ap);
    va_end(ap);
}

void host_remark(Host *host, const char *severity, const char *code, const void *where,
                 const char *message)
{
    bool there = false;
    pthread_mutex_lock(&host->lock);
    for (size_t i = 0; i < host->n_issues && !there; i++)
        there = host->issues[i].where == where && !strcmp(host->issues[i].code, code);
    pthread_mutex_unlock(&host->lock);
    if (!there) host_issue(host, severity, code, where, "%s", message);
}

bool host_issue_at(Host *host, size_t i, Issue *issue, ProfErr *err)
{
    pthread_mutex_lock(&host->lock);
    bool lost = host->run->n_losses_told < host->run->n_issues_lost;
    bool there = i < host->n_issues && !lost;
    if (there) *issue = host->issues[i];
    if (lost) prof_nomem(err);
    pthread_mutex_unlock(&host->lock);
    return there;
}

bool run_issue_lost_since(Run *run, unsigned before, ProfErr *err)
{
    unsigned lost = run->n_issues_lost;
    if (lost == before) return false;
    if (run->n_losses_told >= before) run->n_losses_told = lost;
    prof_nomem(err);
    return true;
}

static bool is_loss(const Issue *issue)
{
    static const char *const codes[] = {"damaged",        "truncated",  "too_many",
                                        "gzip_cut_short", "unreadable", "unreadable_program"};
    for (size_t i = 0; i < COUNT(codes); i++)
        if (!strcmp(issue->code, codes[i])) return !strcmp(issue->severity, "error");
    return false;
}

bool run_has_losses(Run *run, Host *only)
{
    Issue issue;
    ProfErr lost = {0}; /* ignored: only losses have to be recorded */
    EACH_HOST(host, run, only)
        for (size_t i = 0; host_issue_at(host, i, &issue, &lost); i++)
            if (is_loss(&issue)) return true;
    return false;
}
