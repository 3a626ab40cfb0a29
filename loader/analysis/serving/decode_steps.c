// SPDX-License-Identifier: Apache-2.0
/* decode_steps.c: counts the decode steps of a language model; see decode_steps.h. */
#include "decode_steps.h"

#include "../../plane.h"

/* Returns whether the host's first plane of threads has an event with this name. Names that no
 * event uses do not count. */
static bool serves(Host *host, ProfErr *err)
{
    bool known = false;
    const Plane *plane = host_find_plane(host, PREFIX_HOST_THREADS);
    for (size_t i = 0; plane && i < plane->n_event_metas && !known; i++)
        known = starts_with(plane->event_metas[i].name->text, "WizServable");
    if (known) host_load_only(host, err);
    for (size_t i = 0; known && i < plane->n_lines && !err->code; i++) {
        Line *line = &host->lines[plane->first_line + i];
        const LineTotals *totals = line_totals(line, err);
        if (!totals) return false;
        for (size_t k = 0; k < totals->n; k++)
            if (totals->items[k].count &&
                starts_with(plane->event_metas[totals->items[k].meta].name->text, "WizServable"))
                return true;
    }
    return false;
}

static void add_line(Line *line, uint64_t *n, uint64_t *ps, ProfErr *err)
{
    const LineTotals *totals = line_totals(line, err);
    for (size_t i = 0; totals && i < totals->n; i++) {
        const LineTotal *t = &totals->items[i];
        if (!starts_with(line->plane->event_metas[t->meta].name->text, "jit_generate")) continue;
        *n += (uint64_t)t->count, *ps += (uint64_t)t->total_ps;
    }
}

int run_decode_steps(Run *run, Host *only, DecodeSteps *steps, ProfErr *err)
{
    *steps = (DecodeSteps){0};
    for (size_t h = 0; h < run->n_hosts && !err->code; h++) {
        Host *host = &run->hosts[h];
        uint64_t n = 0, ps = 0;
        if ((only && only != host) || !serves(host, err)) continue;
        for (size_t i = 0; i < host->n_planes; i++) {
            const Plane *plane = &host->planes[i];
            for (size_t k = 0; (plane->kind == PLANE_TENSORCORE || plane->kind == PLANE_GPU) &&
                               k < plane->n_lines && !err->code;
                 k++)
                if (line_name_starts(&host->lines[plane->first_line + k], NAME_MODULES))
                    add_line(&host->lines[plane->first_line + k], &n, &ps, err);
        }
        if (n) steps->n += n, steps->total_ps += (double)(ps / n) * (double)n;
    }
    return err->code;
}
