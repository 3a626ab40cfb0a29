// SPDX-License-Identifier: Apache-2.0
/* trace_events_match.c: which metadata of a line may have events with the wanted name, instruction
 * and program; see trace_events.h. SQLite checks the events of these. */
#include "trace_events.h"

#include "../loader/base/interrupt.h"

#include <stdio.h>

/* ---- instructions ---- */

Slice hlo_op_in(Slice text)
{
    const char *s = text.text;
    size_t n = text.n;
    for (size_t i = n; i >= 2; i--)
        if (s[i - 1] == ':' && s[i - 2] == ':') {
            s += i, n -= i;
            break;
        }
    if (n && *s == '%') s++, n--;
    if (n && s[n - 1] == '}') { /* {i,j}: a part of a tuple */
        size_t k = n;
        while (k && s[k - 1] != '{') k--;
        if (k) n = k - 1;
    }
    return (Slice){s, n};
}

bool line_has_hlo_ops(const Line *line)
{
    enum PlaneKind kind = line->plane->kind;
    return (kind == PLANE_TENSORCORE || kind == PLANE_SPARSECORE) &&
           (line->kind == LINE_OPS || line->kind == LINE_ASYNC_OPS);
}

Slice hlo_op_of_meta(const EventMeta *meta)
{
    if (meta->display_name->n_bytes) return hlo_op_in(slice_of(meta->display_name));
    Slice name = slice_of(meta->name);
    const char *end = strstr(name.text, " = ");
    if (end) name.n = (size_t)(end - name.text);
    return hlo_op_in(name);
}

/* ---- metadata ---- */

/* Returns whether events of the metadata can have other values of a stat than the metadata. */
static bool events_differ(const EventMeta *meta, enum KnownStat known)
{
    StatSet set = {0};
    stat_set_add(&set, known);
    return meta_events_have(meta, &set);
}

static const StatValue *fact_of(const EventMeta *meta, enum KnownStat known)
{
    static const StatValue none;
    for (uint16_t i = 0; i < meta->n_facts; i++)
        if (meta->facts[i].known == known) return &meta->facts[i].fact;
    return &none;
}

static bool is_slice(const char *wanted, Slice text)
{
    return strlen(wanted) == text.n && !memcmp(wanted, text.text, text.n);
}

static bool has_hlo_op(const EventsCursor *c, const Line *line, const EventMeta *meta)
{
    if (events_differ(meta, STAT_HLO_OP)) return true;
    const StatValue *f = fact_of(meta, STAT_HLO_OP);
    if (f->type == TYPE_STR) return is_slice(c->hlo_op_is, hlo_op_in(slice_of(f->text)));
    return line_has_hlo_ops(line) && is_slice(c->hlo_op_is, hlo_op_of_meta(meta));
}

static bool has_program(const EventsCursor *c, const EventMeta *meta)
{
    int64_t id;
    char digits[24];
    if (events_differ(meta, STAT_PROGRAM_ID)) return true;
    const StatValue *f = fact_of(meta, STAT_PROGRAM_ID);
    if (f->type == TYPE_STR) return is_slice(c->program_is, slice_of(f->text));
    if (!stat_value_integer(f, &id)) return false;
    snprintf(digits, sizeof digits, "%llu", (unsigned long long)id);
    return !strcmp(digits, c->program_is);
}

static bool is_wanted(EventsCursor *c, const Line *line, EventMeta *meta)
{
    if (c->name_is && strcmp(meta->name->text, c->name_is) != 0) return false;
    if (!c->hlo_op_is && !c->program_is) return true;
    if (event_meta_values(line->plane, meta, &c->err)) return false;
    return (!c->hlo_op_is || has_hlo_op(c, line, meta)) && (!c->program_is || has_program(c, meta));
}

bool events_match_metas(const EventsCursor *c)
{
    return c->name_is || c->hlo_op_is || c->program_is;
}

const uint8_t *events_matches(EventsCursor *c, const Line *line)
{
    const Plane *plane = line->plane;
    bool ops = line_has_hlo_ops(line);
    if (c->match_plane == plane && c->match_ops == ops) return c->match;
    prof_free(c->match);
    c->match_plane = NULL;
    c->match = prof_alloc(plane->n_event_metas);
    if (!c->match) prof_nomem(&c->err);
    for (size_t i = 0; i < plane->n_event_metas && !interrupt_poll(1, &c->err); i++)
        c->match[i] = is_wanted(c, line, &plane->event_metas[i]);
    if (c->err.code) return NULL;
    c->match_plane = plane, c->match_ops = ops;
    return c->match;
}
