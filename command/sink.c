// SPDX-License-Identifier: Apache-2.0
/* sink.c: writes an answer to a file or to standard output; see sink.h. */
#define _GNU_SOURCE
#include "sink.h"

#include <errno.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NARROWEST = 20 }; /* columns of a terminal; narrower ones wrap the lines */

static bool fail(const Sink *sink, const char *what)
{
    complain("%s: %s: %s", sink->name, what, strerror(errno));
    return false;
}

/* Returns whether a path can be replaced at the end: only a regular file can; pipes and devices are
 * written directly. */
static bool is_replaceable(const char *path)
{
    struct stat st;
    return stat(path, &st) || S_ISREG(st.st_mode);
}

static bool open_file(Sink *sink, const char *path)
{
    *sink = (Sink){.file = stdout, .name = path ? path : "standard output"};
    if (!path) return true;
    if (!is_replaceable(path)) {
        sink->file = fopen(path, "w");
        return sink->file || fail(sink, "cannot be written");
    }
    char *part = keep_text("%s.XXXXXX", path);
    int fd = mkstemp(part);
    if (fd < 0) return fail(sink, "cannot be written");
    mode_t mask = umask(0);
    umask(mask);
    fchmod(fd, 0666 & ~mask);
    sink->path = path, sink->part = part;
    sink->file = fdopen(fd, "w");
    if (sink->file) return true;
    unlink(part);
    return fail(sink, "cannot be written");
}

bool sink_open(Sink *sink, const char *path)
{
    if (!open_file(sink, path)) return false;
    __fsetlocking(sink->file, FSETLOCKING_BYCALLER); /* one thread writes; locks cost more */
    return true;
}

bool sink_close(Sink *sink, bool keep)
{
    bool written = !ferror(sink->file);
    written = !fflush(sink->file) && written;
    int error = errno;
    if (sink->file != stdout) written = !fclose(sink->file) && written;
    if (sink->part && (!keep || !written)) unlink(sink->part);
    if (!written) {
        errno = error ? error : EIO;
        return fail(sink, "cannot be written");
    }
    if (!sink->part || !keep) return true;
    if (!rename(sink->part, sink->path)) return true;
    fail(sink, "cannot be replaced");
    unlink(sink->part);
    return false;
}

int sink_width(const Sink *sink)
{
    const char *given = getenv("COLUMNS");
    long columns = given ? strtol(given, NULL, 10) : 0;
    struct winsize size;
    if (sink->file != stdout) return 0;
    if (columns < 1 || columns > 10000) {
        if (!isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size)) return 0;
        columns = size.ws_col;
    }
    return (int)(columns && columns < NARROWEST ? NARROWEST : columns);
}

bool sink_has_colour(const Sink *sink)
{
    const char *no = getenv("NO_COLOR"), *terminal = getenv("TERM");
    return sink->file == stdout && isatty(STDOUT_FILENO) && !(no && *no) && terminal &&
           strcmp(terminal, "dumb") != 0;
}
