// SPDX-License-Identifier: Apache-2.0
/* derived_build.c: builds derived events from the events that they cover; see derived_parts.h.
 *
 * A line has nested levels. At each level, the open event is extended while the next one has the
 * same name and group. Otherwise it is closed with all levels below it, and a new one is opened. */
#include "derived_parts.h"

/* ---- names ---- */

static uint32_t find_name(const NameTable *t, uint64_t hash, const char *text, size_t n_bytes)
{
    HASH_EACH(i, &t->by_name, hash) {
        const Text *name = t->metas.items[i].name;
        if (name->n_bytes == n_bytes && !memcmp(name->text, text, n_bytes)) return (uint32_t)i;
    }
    return NO_META;
}

/* Adds a name that the table does not have. Of equal names, the first counts. */
static uint32_t add_name(NameTable *t, DerivedMeta meta)
{
    uint64_t hash = text_hash(meta.name->text, meta.name->n_bytes);
    uint32_t known = find_name(t, hash, meta.name->text, meta.name->n_bytes);
    DerivedMeta *made = PUSH(t->metas);
    if (!made) return NO_META;
    *made = meta;
    if (known != NO_META) return known;
    return hash_add(&t->by_name, hash, t->metas.n - 1) ? (uint32_t)t->metas.n - 1 : NO_META;
}

bool names_open(NameTable *t, const Plane *plane)
{
    t->plane = plane;
    bool memory = hash_reserve(&t->by_name, plane->n_declared);
    for (size_t i = 0; i < plane->n_declared && memory; i++) {
        EventMeta *file = &plane->event_metas[i];
        memory = add_name(t, (DerivedMeta){file->name, file->display_name, file}) != NO_META;
    }
    return memory;
}

void names_close(NameTable *t)
{
    prof_free(t->metas.items);
    hash_free(&t->by_name);
}

uint32_t names_find(Derivation *d, NameTable *t, const char *text, size_t n_bytes)
{
    uint32_t known = find_name(t, text_hash(text, n_bytes), text, n_bytes);
    if (known != NO_META) return known;
    const Text *name = text_intern(&d->texts, &d->arena, text, n_bytes);
    return name ? add_name(t, (DerivedMeta){name, empty_text, NULL}) : NO_META;
}

bool names_display(Derivation *d, NameTable *t, uint32_t at, const char *text, size_t n_bytes)
{
    DerivedMeta *meta = &t->metas.items[at];
    if (meta->display_name->n_bytes || !n_bytes) return true;
    const Text *display = text_intern(&d->texts, &d->arena, text, n_bytes);
    if (display) meta->display_name = display;
    return display != NULL;
}

bool op_metas(Derivation *d, NameTable *names, Slice full_name, OpMetas *metas, ProfErr *err)
{
    TfOp op = tf_op_parse(full_name);
    *metas = (OpMetas){.op = names_find(d, names, full_name.text, full_name.n),
                       .has_scopes = op.category == OP_TENSORFLOW || op.category == OP_JAX};
    if (metas->op == NO_META) {
        prof_nomem(err);
        return false;
    }
    size_t n = 0;
    for (size_t i = 0; i < op.name.n && metas->has_scopes; i++) n += op.name.text[i] == '/';
    if (n && !(metas->scopes = arena_alloc(&d->arena, n * sizeof *metas->scopes))) {
        prof_nomem(err);
        return false;
    }
    for (size_t i = 0, from = 0; i < op.name.n && metas->n_scopes < n; i++) {
        if (op.name.text[i] != '/') continue;
        uint32_t scope = metas->scopes[metas->n_scopes++] =
            names_find(d, names, op.name.text + from, i - from);
        if (scope == NO_META) {
            prof_nomem(err);
            return false;
        }
        from = i + 1;
    }
    bool is_iterator;
    Slice display = tf_op_display(&op, &is_iterator);
    char *shown = prof_alloc(display.n + sizeof "Iterator::");
    if (!shown) {
        prof_nomem(err);
        return false;
    }
    size_t n_prefix = is_iterator ? strlen("Iterator::") : 0;
    memcpy(shown, "Iterator::", n_prefix);
    if (display.n) memcpy(shown + n_prefix, display.text, display.n);
    bool set = names_display(d, names, metas->op, shown, n_prefix + display.n);
    prof_free(shown);
    return set ? true : (prof_nomem(err), false);
}

/* ---- a line ---- */

void line_open(LineMaker *m, Plane *plane, int64_t id, const char *name, enum LineKind kind)
{
    *m = (LineMaker){.line = {.plane = plane, .id = id, .name = name, .kind = kind, .stream = -1},
                     .is_gpu = plane->kind == PLANE_GPU};
}

static int64_t end_of(const DerivedEvent *e) { return add_saturated(e->start_ps, e->duration_ps); }

int64_t span_between(int64_t start_ps, int64_t end_ps)
{
    int64_t duration_ps;
    if (end_ps <= start_ps) return 0;
    return __builtin_sub_overflow(end_ps, start_ps, &duration_ps) ? INT64_MAX : duration_ps;
}

void span_extend(int64_t *start_ps, int64_t *duration_ps, int64_t by_start_ps,
                 int64_t by_duration_ps)
{
    int64_t end = add_saturated(*start_ps, *duration_ps),
            by_end = add_saturated(by_start_ps, by_duration_ps);
    if (!by_start_ps && !by_duration_ps) return;
    if (by_start_ps < *start_ps || (!*start_ps && !*duration_ps)) *start_ps = by_start_ps;
    *duration_ps = span_between(*start_ps, by_end > end ? by_end : end);
}

/* Shortens nested open events that end together, so that they can be distinguished: each ends 1 ns
 * before the one around it, as long as at least 1 ns of the innermost remains. */
static void shorten(LineMaker *m, size_t level)
{
    size_t innermost = level;
    while (innermost + 1 < m->levels.n && m->levels.items[innermost + 1].open) innermost++;
    if (level >= m->levels.n || !m->levels.items[level].open || innermost == level) return;
    int64_t most_ns = m->levels.items[innermost].event.duration_ps / 1000 - 1, shrink_ns = 0;
    DerivedEvent outer = {.start_ps = -1, .duration_ps = -1};
    for (size_t i = level; i <= innermost; i++) {
        Level *at = &m->levels.items[i];
        const DerivedEvent was = at->event;
        if (i > level && shrink_ns < most_ns && outer.start_ps == was.start_ps &&
            outer.duration_ps == was.duration_ps)
            shrink_ns++;
        at->event.duration_ps =
            span_between(was.start_ps, add_saturated(end_of(&was), -1000 * shrink_ns));
        at->changed |= at->event.duration_ps != was.duration_ps;
        outer = was;
    }
}

void line_close(LineMaker *m, size_t level)
{
    shorten(m, level);
    for (size_t i = level; i < m->levels.n; i++) {
        level_write(m, &m->levels.items[i]);
        m->levels.items[i].open = false;
    }
    for (size_t i = 0; i < COUNT(m->dependents) && !level; i++)
        if (m->dependents[i]) line_close(m->dependents[i], 0);
}

/* Returns whether the open event of a level continues: the next one has the same name and group.
 * Without groups, a gap of more than twice the event's duration ends it, except on GPUs. */
static bool continues(const LineMaker *m, const Level *level, uint32_t meta, const CoverSpan *span,
                      const int64_t *scope)
{
    if (!level->open) return false;
    const DerivedEvent *e = &level->event;
    if (e->meta != meta || e->group != span->group) return false;
    if (scope && level->has_scope && *scope != level->scope) return false;
    return m->is_gpu || span->group >= 0 ||
           add_saturated(end_of(e), add_saturated(e->duration_ps, e->duration_ps)) >=
               span->start_ps;
}

static bool cover_level(Derivation *d, LineMaker *m, size_t at, uint32_t meta,
                        const CoverSpan *span, ProfErr *err)
{
    if (at == m->levels.n) {
        Level *level = PUSH(m->levels);
        if (!level) {
            prof_nomem(err);
            return false;
        }
        *level = (Level){0};
    }
    Level *level = &m->levels.items[at];
    const int64_t *scope = span->scopes ? &span->scopes[at] : NULL;
    if (continues(m, level, meta, span, scope)) {
        span_extend(&level->event.start_ps, &level->event.duration_ps, span->start_ps,
                    span->duration_ps);
        level->changed = true;
        return true;
    }
    line_close(m, at);
    if (!d->events_left) return true;
    d->events_left--;
    *level = (Level){.event = {span->start_ps, span->duration_ps, span->group, meta},
                     .open = true,
                     .has_scope = scope != NULL,
                     .scope = scope ? *scope : 0};
    level->place = line_add(m, &level->event);
    return m->events.no_memory ? (prof_nomem(err), false) : true;
}

bool line_cover(Derivation *d, LineMaker *m, const uint32_t *metas, size_t n_levels,
                const CoverSpan *span, ProfErr *err)
{
    for (size_t i = 0; i < n_levels; i++)
        if (!cover_level(d, m, i, metas[i], span, err)) return false;
    line_close(m, n_levels);
    return true;
}

bool line_cover_op(Derivation *d, LineMaker *name_scope, LineMaker *framework_ops,
                   const OpMetas *op, const CoverSpan *span, ProfErr *err)
{
    if (op->n_scopes && !line_cover(d, name_scope, op->scopes, op->n_scopes, span, err))
        return false;
    return line_cover(d, framework_ops, &op->op, 1, span, err);
}
