// SPDX-License-Identifier: Apache-2.0
/* op_stats.c: computes the op metrics of a host and of all hosts of a run; see op_metrics.h. */
#include "../../format/hlo.h"
#include "../../base/sort.h"
#include "op_build.h"

const Text *op_text(OpBuild *build, Slice text, ProfErr *err)
{
    pthread_mutex_lock(&build->lock);
    const Text *t = text_intern(&build->stats->texts, &build->stats->arena, text.text, text.n);
    pthread_mutex_unlock(&build->lock);
    if (!t) prof_nomem(err);
    return t;
}

const Grouping *op_grouping(OpBuild *build, ProfErr *err)
{
    if (!build->grouping) build->grouping = host_grouping(build->host, err);
    return build->grouping;
}

/* Returns whether every plane of a host or device declares the stat. */
static bool is_grouped(const Host *host)
{
    for (size_t i = 0; i < host->n_planes; i++)
        if (is_host_or_device(&host->planes[i]) && !plane_declares(&host->planes[i], STAT_GROUP_ID))
            return false;
    return true;
}

static void op_stats_free(void *result)
{
    OpStats *stats = result;
    op_db_free(&stats->host);
    op_db_free(&stats->device);
    op_db_free(&stats->framework);
    prof_free(stats->renamed);
    hash_free(&stats->renamed_by_meta);
    text_table_free(&stats->texts);
    arena_free(&stats->arena);
    prof_free(stats);
}

static OpStats *op_stats_new(ProfErr *err)
{
    OpStats *stats = prof_alloc(sizeof *stats);
    if (stats) stats->idle = text_intern(&stats->texts, &stats->arena, "IDLE", 4);
    if (stats && stats->idle) return stats;
    prof_nomem(err);
    if (stats) op_stats_free(stats);
    return NULL;
}

/* Returns whether ops may be eager. If not, grouping is not needed. */
static bool may_be_eager(const Host *host)
{
    for (size_t i = 0; i < host->n_planes; i++) {
        const Plane *plane = &host->planes[i];
        if (plane_declares(plane, STAT_IS_EAGER)) return true;
        for (size_t k = 0; k < plane->n_event_metas; k++)
            if (!strcmp(plane->event_metas[k].name->text, "EagerExecute")) return true;
    }
    return false;
}

static int build_host(OpStats *stats, Host *host, ProfErr *err)
{
    OpBuild build = {.host = host, .stats = stats, .grouped = is_grouped(host)};
    pthread_mutex_init(&build.lock, NULL);
    if (!build.grouped && may_be_eager(host)) op_grouping(&build, err);
    if (!err->code && !host_ops_build(&build, err)) {
        bool any_tpu = false;
        for (size_t i = 0; i < host->n_planes; i++) any_tpu |= is_tpu(&host->planes[i]);
        if (any_tpu)
            tpu_ops_build(&build, err);
        else
            gpu_ops_build(&build, err);
    }
    pthread_mutex_destroy(&build.lock);
    return err->code;
}

typedef struct {
    uint64_t program_id;
    Host *host;
    const Text *name;
} NamedProgram;

ORDER_BY_TWO(by_program, NamedProgram, program_id, host)

/* Reports hosts that use one program id for different programs, because ops are identified by
 * program id. */
static int report_mixed_programs(Run *run, ProfErr *err)
{
    NamedProgram *all = NULL;
    size_t n = 0, capacity = 0;
    for (size_t h = 0; h < run->n_hosts && !err->code; h++) {
        const HloProgramList *list =
            run->hosts[h].readable ? hlo_program_list(&run->hosts[h], err) : NULL;
        for (size_t i = 0; list && i < list->n; i++) {
            if (list->programs[i].extra) continue;
            if (!GROW(all, n, capacity)) {
                prof_nomem(err);
                break;
            }
            all[n++] = (NamedProgram){list->programs[i].program_id, &run->hosts[h],
                                      list->programs[i].name};
        }
    }
    sort_array(all, n, sizeof *all, by_program);
    for (size_t i = 1; i < n && !err->code; i++)
        if (all[i].program_id == all[i - 1].program_id && all[i].host != all[i - 1].host &&
            strcmp(all[i].name->text, all[i - 1].name->text) != 0)
            host_issue(all[i].host, "warning", "programs_mixed", all[i].host,
                       "program %llu is %.300s here and %.300s on host %.200s; rows that combine "
                       "hosts may mix them, as in XProf; query a single host instead",
                       (unsigned long long)all[i].program_id, all[i].name->text,
                       all[i - 1].name->text, all[i - 1].host->name);
    prof_free(all);
    return err->code;
}

static int merge_hosts(OpStats *stats, Run *run, ProfErr *err)
{
    for (size_t h = 0; h < run->n_hosts && !err->code; h++) {
        const OpStats *one = run->hosts[h].readable ? run_op_stats(run, &run->hosts[h], err) : NULL;
        if (!one) continue;
        if (!op_db_merge(&stats->host, &one->host, &stats->arena, false) ||
            !op_db_merge(&stats->device, &one->device, &stats->arena, true))
            prof_nomem(err);
    }
    return err->code ? err->code : report_mixed_programs(run, err);
}

static void *op_stats_make(Run *run, Host *only, ProfErr *err)
{
    OpStats *stats = op_stats_new(err);
    if (!stats) return NULL;
    if (only || run->n_hosts == 1)
        build_host(stats, only ? only : &run->hosts[0], err);
    else
        merge_hosts(stats, run, err);
    if (!err->code) framework_ops_build(stats, err);
    if (!err->code) return stats;
    op_stats_free(stats);
    return NULL;
}

static const Text *renamed(const OpStats *stats, const EventMeta *meta)
{
    uint64_t hash = hash64((uintptr_t)meta);
    HASH_EACH(i, &stats->renamed_by_meta, hash)
        if (stats->renamed[i].meta == meta) return stats->renamed[i].name;
    return NULL;
}

const Text *op_stats_name(const OpStats *stats, const EventMeta *meta, const Text *name)
{
    const Text *other = renamed(stats, meta);
    return other ? other : name;
}

bool op_stats_rename(OpStats *stats, const EventMeta *meta, const Text *name)
{
    if (renamed(stats, meta)) return true;
    if (!GROW(stats->renamed, stats->n_renamed, stats->renamed_capacity) ||
        !hash_add(&stats->renamed_by_meta, hash64((uintptr_t)meta), stats->n_renamed))
        return false;
    stats->renamed[stats->n_renamed++] = (RenamedOp){meta, name};
    return true;
}

const OpStats *run_op_stats(Run *run, Host *only, ProfErr *err)
{
    static const Analysis analysis = {op_stats_make, op_stats_free, NEEDS_ONE_HOST_AT_A_TIME};
    return run_analysis(run, only, &analysis, err);
}
