/* op_metadata.c: an XEventMetadata as an op; see op_metadata.h. */
#include "op_metadata.h"

static const enum KnownStat wanted[] = {
    STAT_PROGRAM_ID,     STAT_SYMBOL_ID,        STAT_HLO_CATEGORY,      STAT_TF_OP,  STAT_FLOPS,        STAT_MODEL_FLOPS,
    STAT_BYTES_ACCESSED, STAT_MEMORY_BREAKDOWN, STAT_DEDUPLICATED_NAME, STAT_SOURCE, STAT_SOURCE_STACK,
};

int metadata_reader_open(MetadataReader *reader, OpBuild *build, Plane *plane, ProfErr *err)
{
    *reader = (MetadataReader){.build = build, .plane = plane};
    return stat_filter_open(&reader->filter, plane, wanted, COUNT(wanted), err);
}

void metadata_reader_close(MetadataReader *reader) { stat_filter_close(&reader->filter); }

/* {1: repeated {1 operation, 2 memory space, 3 bytes}}; damaged: none of it counts. */
static int read_breakdown(OpMetrics *op, Arena *arena, const Stat *stat, ProfErr *err)
{
    const uint8_t *p = stat->bytes, *end = p + stat->n_bytes;
    op->n_memory = 0;
    while (p < end) {
        Field entry, f;
        if (!(p = wire_field(p, end, &entry))) return op->n_memory = 0, PROF_OK;
        if (entry.number != 1 || entry.type != WIRE_BYTES) continue;
        uint64_t values[4] = {0};
        for (const uint8_t *q = entry.bytes, *q_end = q + entry.value; q < q_end;) {
            if (!(q = wire_field(q, q_end, &f))) return op->n_memory = 0, PROF_OK;
            if (f.number < COUNT(values) && f.type == WIRE_VARINT) values[f.number] = f.value;
        }
        if (!op_add_memory(op, arena, (uint32_t)values[1], values[2], values[3])) return prof_nomem(err);
    }
    return PROF_OK;
}

/* "file:line", cut at the first colon. */
static int read_source(OpBuild *build, OpMetrics *op, Slice source, ProfErr *err)
{
    const char *colon = source.n ? memchr(source.text, ':', source.n) : NULL;
    if (!colon) return PROF_OK;
    Slice file = {source.text, (size_t)(colon - source.text)}, line = {colon + 1, source.n - file.n - 1};
    int64_t number;
    if (!slice_integer(line, &number) || number > INT32_MAX || number < INT32_MIN) return PROF_OK;
    const Text *name = op_text(build, file, err);
    if (name) op->source_file = name, op->source_line = (int32_t)number;
    return err->code;
}

static int read_stat(MetadataReader *r, OpMetrics *op, OpKey *key, unsigned known, const Stat *stat, ProfErr *err)
{
    const Text **text = NULL;
    switch (known) {
    case STAT_PROGRAM_ID: key->has_program = true, op->program_id = stat_int_or_uint(stat); break;
    case STAT_SYMBOL_ID: key->has_symbol = true, key->symbol_id = stat_int_or_uint(stat); break;
    case STAT_FLOPS: op->flops = (double)stat_int_or_uint(stat); break;
    case STAT_MODEL_FLOPS: op->model_flops = (double)stat_int_or_uint(stat); break;
    case STAT_BYTES_ACCESSED: op->bytes_accessed = stat_int_or_uint(stat); break;
    case STAT_HLO_CATEGORY: text = &op->category; break;
    case STAT_TF_OP: text = &op->provenance; break;
    case STAT_DEDUPLICATED_NAME: text = &op->deduplicated_name; break;
    case STAT_SOURCE_STACK: text = &op->source_stack; break;
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

enum { MAX_DEPTH = 64, MAX_CHILDREN = 1 << 20 };

static int read_at_depth(MetadataReader *r, const EventMeta *meta, OpMetrics *op, OpKey *key, int depth, ProfErr *err);

static int add_child(MetadataReader *r, OpMetricsDb *children, int64_t id, int depth, ProfErr *err)
{
    int64_t i = id_find(&r->plane->event_ids, r->plane->event_metas, sizeof *r->plane->event_metas, id);
    if (depth == MAX_DEPTH || r->n_children == MAX_CHILDREN) {
        host_issue(r->build->host, "warning", "too_many_children", r->plane->span.offset, 0, r->plane,
                   "the fused children of an op contain each other, or are more than a million: the rest was left out");
        return PROF_OK;
    }
    OpMetrics *child = op_db_append(children);
    if (!child) return prof_nomem(err);
    r->n_children++;
    child->occurrences = 1;
    OpMetrics filled = *child;
    OpKey key;
    if (i >= 0) read_at_depth(r, &r->plane->event_metas[i], &filled, &key, depth + 1, err);
    children->ops[children->n_ops - 1] = filled;
    return err->code;
}

static int read_children(MetadataReader *r, OpMetricsDb *children, const Field *f, int depth, ProfErr *err)
{
    if (f->type == WIRE_VARINT) return add_child(r, children, (int64_t)f->value, depth, err);
    if (f->type != WIRE_BYTES) return PROF_OK;
    uint64_t id;
    for (const uint8_t *p = f->bytes, *end = p + f->value; p < end && (p = wire_varint(p, end, &id)) && !err->code;)
        add_child(r, children, (int64_t)id, depth, err);
    return err->code;
}

static int read_at_depth(MetadataReader *r, const EventMeta *meta, OpMetrics *op, OpKey *key, int depth, ProfErr *err)
{
    *key = (OpKey){0};
    bool named = meta->display_name->n_bytes;
    op->name = named ? meta->display_name : meta->name;
    if (named) op->long_name = meta->name;
    if (!meta->span.n_bytes) return PROF_OK;
    Window window = {.file = &r->build->host->file}; /* one a depth: children are read in between */
    OpMetricsDb children = {0};
    size_t there;
    const uint8_t *p = window_at(&window, meta->span.offset, (size_t)meta->span.n_bytes, &there, err), *end = p ? p + meta->span.n_bytes : NULL;
    Field f;
    Stat stat;
    while (p && p < end && !err->code) {
        if (!(p = wire_field(p, end, &f))) break;
        if (f.number == 6) read_children(r, &children, &f, depth, err);
        if (f.number != 5 || f.type != WIRE_BYTES || !stat_parse(f.bytes, f.bytes + f.value, &stat)) continue;
        unsigned known = stat_filter_known(&r->filter, stat.id);
        if (known) read_stat(r, op, key, known, &stat, err);
    }
    if (!err->code && children.n_ops && !(op->children = op_db_keep(&children, &r->build->stats->arena))) prof_nomem(err);
    op_db_free(&children);
    window_free(&window);
    return err->code;
}

int metadata_read(MetadataReader *reader, const EventMeta *meta, OpMetrics *op, OpKey *key, ProfErr *err)
{
    return read_at_depth(reader, meta, op, key, 0, err);
}
