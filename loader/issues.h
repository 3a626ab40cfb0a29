// SPDX-License-Identifier: Apache-2.0
/* issues.h: records what was lost, repaired or doubtful in a host's file, as rows of prof_issues.
 * All calls are thread-safe. */
#ifndef PROF_ISSUES_H
#define PROF_ISSUES_H

#include "base/base.h"

typedef struct Host Host;
typedef struct Run Run;

typedef struct {
    const char *severity; /* error: bytes are lost; warning: repaired or doubtful; info */
    const char *code;
    uint64_t offset, count, lost_bytes; /* offset: of the first occurrence */
    char *message;
    const void *where; /* what the issue is about; repetitions of one code at one place are counted
                          in one issue */
} Issue;

/* Records a loss or repair. Repetitions of one code at one place add to its counts. */
void host_issue(Host *host, const char *severity, const char *code, const void *where,
                const char *format, ...) __attribute__((format(printf, 5, 6)));
/* The same of a place in the file, where bytes may be lost. */
void host_issue_in_file(Host *host, const char *severity, const char *code, uint64_t offset,
                        uint64_t lost_bytes, const void *where, const char *format, ...)
    __attribute__((format(printf, 7, 8)));
/* Records something that has no count: repeated calls change nothing. */
void host_remark(Host *host, const char *severity, const char *code, const void *where,
                 const char *message);
/* Copies issue i; its texts are valid as long as the run. Returns false after the last, or with err
 * set if an issue was lost because there was no memory. */
bool host_issue_at(Host *host, size_t i, Issue *issue, ProfErr *err);
/* Returns whether an issue was lost since run->n_issues_lost was `before`. If so, err is set, and
 * the caller drops what it has made: making it again records the issue, so prof_issues works again.
 * With two callers at once, both drop theirs. */
bool run_issue_lost_since(Run *run, unsigned before, ProfErr *err);
/* Returns whether parts of the run's files, or of the file of its host `only`, could not be read.
 */
bool run_has_losses(Run *run, Host *only);

#endif
