// SPDX-License-Identifier: Apache-2.0
/* plane.c: kinds of planes and lines, and the stats that a plane declares; see plane.h. */
#include "plane.h"

#include <stdio.h>

/* ---- planes by name ---- */

/* The first prefix that matches counts, so a prefix of other prefixes comes after them. */
static const struct {
    const char *text;
    enum PlaneKind kind;
} prefixes[N_PLANE_PREFIXES] = {
    [PREFIX_NONE] = {"", PLANE_OTHER},
    [PREFIX_HOST_THREADS] = {"/host:CPU", PLANE_HOST},
    [PREFIX_HOST_CPUS] = {"Host CPUs", PLANE_HOST},
    [PREFIX_TFSTREAMZ] = {"/host:tfstreamz", PLANE_HOST},
    [PREFIX_METADATA] = {"/host:metadata", PLANE_METADATA},
    [PREFIX_SYSCALLS] = {"Syscalls", PLANE_HOST},
    [PREFIX_PYTHON_TRACER] = {"/host:python-tracer", PLANE_HOST},
    [PREFIX_CUPTI] = {"/host:CUPTI", PLANE_HOST},
    [PREFIX_SCOPE_TREE] = {"/host:__ScopeRangeCallStack__", PLANE_HOST},
    [PREFIX_TPU] = {"/device:TPU:", PLANE_TENSORCORE}, /* or a SparseCore, or neither */
    [PREFIX_GPU] = {"/device:GPU:", PLANE_GPU},
    [PREFIX_CUSTOM] = {"/device:CUSTOM:", PLANE_CUSTOM},
    [PREFIX_OTHER_DEVICE] = {"/device", PLANE_OTHER},
    [PREFIX_CHIP] = {"#Chip", PLANE_OTHER},
    [PREFIX_LEGACY_CUSTOM] = {"/custom:", PLANE_CUSTOM},
    [PREFIX_OTHER_HOST] = {"/host:", PLANE_HOST},
};

/* Returns the end of the digits at s. NULL if there are none, or if the number does not fit an int.
 */
static const char *after_number(const char *s)
{
    size_t n = strspn(s, "0123456789");
    long long number = n ? strtoll(s, NULL, 10) : -1;
    return number >= 0 && number <= INT32_MAX ? s + n : NULL;
}

/* XProf recognises cores named /device:TPU:N, with or without the number, and /device:TPU:N
 * SparseCore K. Other planes of TPUs have ops at most. */
static enum PlaneKind kind_of_core(Plane *plane)
{
    static const char sparse[] = " SparseCore ";
    const char *number = plane->name->text + strlen(prefixes[PREFIX_TPU].text),
               *end = after_number(number), *after = number + strspn(number, "0123456789");
    plane->is_numbered = end && !*end;
    if (!*after) return PLANE_TENSORCORE;
    end =
        after > number && starts_with(after, sparse) ? after_number(after + strlen(sparse)) : NULL;
    return end && !*end ? PLANE_SPARSECORE : PLANE_OTHER;
}

void plane_classify(Plane *plane)
{
    const char *name = plane->name->text, *bracket = strrchr(name, '[');
    int consumed = 0;
    long long pid;
    plane->process_id = -1;
    if (bracket && bracket > name && bracket[-1] == ' ' &&
        sscanf(bracket, "[%lld]%n", &pid, &consumed) == 1 && consumed && !bracket[consumed])
        plane->process_id = pid;
    int p = PREFIX_NONE + 1;
    while (p < N_PLANE_PREFIXES && !starts_with(name, prefixes[p].text)) p++;
    plane->prefix = p < N_PLANE_PREFIXES ? (enum PlanePrefix)p : PREFIX_NONE;
    plane->is_prefix = !strcmp(name, prefixes[plane->prefix].text);
    plane->kind = is_tpu(plane) ? kind_of_core(plane) : prefixes[plane->prefix].kind;
    if (*name == '/' || *name == '#' || plane->kind != PLANE_OTHER ||
        !strcmp(name, "Task Environment"))
        plane->host->plausible = true;
}

Plane *host_find_plane(const Host *host, enum PlanePrefix prefix)
{
    for (size_t i = 0; i < host->n_planes; i++)
        if (host->planes[i].prefix == prefix && host->planes[i].is_prefix) return &host->planes[i];
    return NULL;
}

int64_t plane_core_number(const Plane *plane)
{
    return strtoll(plane->name->text + strlen(prefixes[PREFIX_TPU].text), NULL, 10);
}

Plane *host_first_core(const Host *host)
{
    for (size_t i = 0; i < host->n_planes; i++)
        if (!strcmp(host->planes[i].name->text, "/device:TPU:0")) return &host->planes[i];
    return NULL;
}

/* ---- lines by name ---- */

static const struct {
    const char *text;
    enum LineKind kind; /* kind of the line, except on host planes */
} line_names[N_LINE_NAMES] = {
    [NAME_STEPS] = {"Steps", LINE_STEPS},
    [NAME_SPARSE_STEPS] = {"Sparse Core Steps", LINE_STEPS},
    [NAME_MODULES] = {"XLA Modules", LINE_MODULES},
    [NAME_SPARSE_MODULES] = {"Sparse Core Modules", LINE_MODULES},
    [NAME_OPS] = {"XLA Ops", LINE_OPS},
    [NAME_SPARSE_OPS] = {"Sparse Core Ops", LINE_OPS},
    [NAME_ASYNC_OPS] = {"Async XLA Ops", LINE_ASYNC_OPS},
    [NAME_NAME_SCOPE] = {"Framework Name Scope", LINE_NAME_SCOPE},
    [NAME_TF_NAME_SCOPE] = {"TensorFlow Name Scope", LINE_NAME_SCOPE},
    [NAME_FRAMEWORK_OPS] = {"Framework Ops", LINE_FRAMEWORK_OPS},
    [NAME_TF_OPS] = {"TensorFlow Ops", LINE_FRAMEWORK_OPS},
    [NAME_SOURCE] = {"Source code", LINE_SOURCE},
    [NAME_LAUNCH_STATS] = {"Launch Stats", LINE_LAUNCH_STATS},
    [NAME_COUNTERS] = {"_counters_", LINE_COUNTERS},
};

void line_classify(Line *line)
{
    /* XProf numbers the lines that it derives from 0xdeadbeef on. */
    enum { DERIVED_FIRST = -559038737, DERIVED_LAST = DERIVED_FIRST + 389 };
    line->derived = line->proto_id >= DERIVED_FIRST && line->proto_id <= DERIVED_LAST;
    line->named = NAME_OTHER;
    for (int i = NAME_OTHER + 1; i < N_LINE_NAMES; i++)
        if (!strcmp(line->name->text, line_names[i].text)) line->named = (enum LineName)i;
    line->kind = LINE_OTHER;
    if (line->plane->kind == PLANE_HOST)
        line->kind = LINE_THREAD;
    else if (line->named)
        line->kind = line_names[line->named].kind;
    else if (line->plane->kind == PLANE_GPU && !line->derived)
        line->kind = LINE_STREAM;
}

bool line_name_starts(const Line *line, enum LineName name)
{
    return starts_with(line->name->text, line_names[name].text);
}

/* ---- stats ---- */

const StatMeta *stat_meta(const Plane *plane, int64_t id)
{
    int64_t i = (uint64_t)id < plane->n_stat_ids
                    ? (int64_t)plane->stat_of_id[id] - 1
                    : id_find(&plane->stat_ids, plane->stat_metas, sizeof *plane->stat_metas, id);
    return i < 0 ? NULL : &plane->stat_metas[i];
}

enum KnownStat stat_known_by_table(const Plane *plane, int64_t id)
{
    const StatMeta *meta = stat_meta(plane, id);
    return meta ? (enum KnownStat)meta->known : STAT_UNKNOWN;
}

bool plane_declares(const Plane *plane, enum KnownStat known)
{
    return stat_set_has(&plane->declared, known);
}

const Text *stat_ref_text(const Plane *plane, uint64_t ref)
{
    const StatMeta *meta = stat_meta(plane, (int64_t)ref);
    return meta ? meta->name : empty_text;
}
