// SPDX-License-Identifier: Apache-2.0
/* op_metadata.c: fills in an op from an XEventMetadata; see op_metadata.h. */
#include "op_metadata.h"

#include "../../format/wire.h"

static const enum KnownStat wanted[] = {
    STAT_PROGRAM_ID,
    STAT_SYMBOL_ID,
    STAT_HLO_CATEGORY,
    STAT_TF_OP,
    STAT_FLOPS,
    STAT_MODEL_FLOPS,
    STAT_BYTES_ACCESSED,
    STAT_MEMORY_BREAKDOWN,
    STAT_DEDUPLICATED_NAME,
    STAT_SOURCE,
    STAT_SOURCE_STACK,
};

int metadata_reader_open(MetadataReader *reader, OpBuild *build, Plane *plane, ProfErr *err)
{
    *reader = (MetadataReader){.build = build, .plane = plane};
    return stat_filter_open(&reader->filter, plane, wanted, COUNT(wanted), err);
}

void metadata_reader_close(MetadataReader *reader) { stat_filter_close(&reader->filter); }

/* Reads {1: repeated {1 operation, 2 memory space, 3 bytes}}. If it is damaged, nothing of it
 * counts. */
static int read_breakdown(OpMetrics *op, Arena *arena, const Stat *stat, ProfErr *err)
{
    const uint8_t *p = stat->bytes, *end = p + stat->n_bytes;
    op->n_memory = 0;
    while (p < end) {
        Field entry, f;
        if (!(p = wire_field(p, end, &entry))) {
            op->n_memory = 0;
            return PROF_OK;
        }
        if (entry.number != 1 || entry.type != WIRE_BYTES) continue;
        uint64_t values[4] = {0};
        for (const uint8_t *q = entry.bytes, *q_end = q + entry.value; q < q_end;) {
            if (!(q = wire_field(q, q_end, &f))) {
                op->n_memory = 0;
                return PROF_OK;
            }
            if (f.number < COUNT(values) && f.type == WIRE_VARINT) values[f.number] = f.value;
        }
        if (!op_add_memory(op, arena, (uint32_t)values[1], values[2], values[3]))
            return prof_nomem(err);
    }
    return PROF_OK;
}

/* Reads "file:line", cut at the first colon. */
static int read_source(OpBuild *build, OpMetrics *op, Slice source, ProfErr *err)
{
    const char *colon = source.n ? memchr(source.text, ':', source.n) : NULL;
    if (!colon) return PROF_OK;
    Slice file = {source.text, (size_t)(colon - source.text)},
          line = {colon + 1, source.n - file.n - 1};
    int64_t number;
    if (!slice_integer(line, &number) || number > INT32_MAX || number < INT32_MIN) return PROF_OK;
    const Text *name = op_text(build, file, err);
    if (name) op->has_source = true, op->source_file = name, op->source_line = (int32_t)number;
    return err->code;
}

static int read_stat(MetadataReader *r, OpMetrics *op, OpKey *key, unsigned known, const Stat *stat,
                     ProfErr *err)
{
    const Text **text = NULL;
    switch (known) {
    case STAT_PROGRAM_ID: op->has_program = true, op->program_id = stat_int_or_uint(stat); break;
    case STAT_SYMBOL_ID: key->has_symbol = true, key->symbol_id = stat_int_or_uint(stat); break;
    case STAT_FLOPS:
        key->has_flops = stat_is_integer(stat), op->flops = (double)stat_int_or_uint(stat);
        break;
    case STAT_MODEL_FLOPS: op->model_flops = (double)stat_int_or_uint(stat); break;
    case STAT_BYTES_ACCESSED:
        key->has_bytes = stat_is_integer(stat), op->bytes_accessed = stat_int_or_uint(stat);
        break;
    case STAT_HLO_CATEGORY: text = &op->category; break;
    case STAT_TF_OP: text = &op->provenance; break;
    case STAT_DEDUPLICATED_NAME: text = &op->deduplicated_name; break;
    case STAT_SOURCE_STACK: text = &op->source_stack, op->has_source = true; break;
    case STAT_SOURCE: return read_source(r->build, op, stat_text(r->plane, stat), err);
    case STAT_MEMORY_BREAKDOWN:
        if (stat->type == TYPE_BYTES) return read_breakdown(op, &r->build->stats->arena, stat, err);
        break;
    default: break;
    }
    if (text) {
        const Text *t = op_text(r->build, stat_text(r->plane, stat), err);
        if (t) *text = t;
    }
    return err->code;
}

/* A child is an entry of its own and belongs to one op. Only hostile files refer to more children
 * than there are entries; a reference takes two bytes. */
enum { MAX_DEPTH = 64, MAX_STRAY_CHILDREN = 1 << 15 };

/* An entry whose children are being read, and the entry whose child it is. */
typedef struct Parent {
    const struct Parent *parent;
    const EventMeta *meta;
    int depth;
} Parent;

static int read_below(MetadataReader *r, const EventMeta *meta, const Parent *parent, OpMetrics *op,
                      OpKey *key, ProfErr *err);

static bool is_readable(MetadataReader *r, const EventMeta *meta, const Parent *parent)
{
    bool good =
        parent->depth < MAX_DEPTH && r->n_children < r->plane->n_event_metas + MAX_STRAY_CHILDREN;
    for (const Parent *p = parent; p && good; p = p->parent) good = p->meta != meta;
    if (!good)
        host_issue_in_file(
            r->build->host, "warning", "too_many_children", r->plane->span.offset, 0, r->plane,
            "fused children of ops contain each other, or far outnumber the metadata; some "
            "were left out");
    return good;
}

static int add_child(MetadataReader *r, OpMetricsDb *children, int64_t id, const Parent *parent,
                     ProfErr *err)
{
    static const EventMeta undeclared = {0};
    int64_t i =
        id_find(&r->plane->event_ids, r->plane->event_metas, sizeof *r->plane->event_metas, id);
    const EventMeta *meta = i < 0 ? &undeclared : &r->plane->event_metas[i];
    if (!is_readable(r, meta, parent)) return PROF_OK;
    OpMetrics *child = op_db_append(children);
    if (!child) return prof_nomem(err);
    r->n_children++;
    OpKey key;
    child->occurrences = 1;
    return i < 0 ? PROF_OK : read_below(r, meta, parent, child, &key, err);
}

static int read_below(MetadataReader *r, const EventMeta *meta, const Parent *parent, OpMetrics *op,
                      OpKey *key, ProfErr *err)
{
    *key = (OpKey){0};
    bool named = meta->display_name->n_bytes;
    op->name = named ? meta->display_name : meta->name;
    if (named) op->long_name = meta->name;
    if (!meta->span.n_bytes) return PROF_OK;
    Parent self = {parent, meta, parent ? parent->depth + 1 : 0};
    OpMetricsDb children = {0};
    MetaBytes bytes = {0};
    meta_bytes_read(&bytes, r->build->host, meta, err);
    StatIter stats = stat_iter_of_meta(&bytes);
    Stat stat;
    unsigned known;
    while (!err->code && stat_iter_next_wanted(&stats, &r->filter, &known, &stat))
        read_stat(r, op, key, known, &stat, err);
    ChildIter child_ids = child_iter_of_meta(&bytes);
    int64_t id;
    while (!err->code && child_iter_next(&child_ids, &id)) add_child(r, &children, id, &self, err);
    if (!err->code && children.n_ops &&
        !(op->children = op_db_keep(&children, &r->build->stats->arena)))
        prof_nomem(err);
    op_db_free(&children);
    meta_bytes_free(&bytes);
    return err->code;
}

int metadata_read(MetadataReader *reader, const EventMeta *meta, OpMetrics *op, OpKey *key,
                  ProfErr *err)
{
    return read_below(reader, meta, NULL, op, key, err);
}
