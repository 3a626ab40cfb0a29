// SPDX-License-Identifier: Apache-2.0
/* xspace.c: XSpace files into planes, lines and packed events.
 *
 * XSpace          1 planes*  2 errors*  3 warnings*  4 hostnames*
 *
 * XPlane          1 id  2 name  3 lines*  4 event_metadata* {1 key 2 value}
 *                 5 stat_metadata* {1 key 2 value}  6 stats*
 *
 * XLine           1 id  2 name  3 timestamp_ns  4 events*  9 duration_ps  10 display_id
 *                 11 display_name
 *
 * XEvent          1 metadata_id  2 offset_ps | 5 num_occurrences  3 duration_ps  4 stats*
 *
 * XEventMetadata  1 id  2 name  3 metadata  4 display_name  5 stats*  6 child_id*
 *
 * XStatMetadata   1 id  2 name  3 description
 *
 * XStat           1 metadata_id  2 double | 3 uint64 | 4 int64 | 5 str | 6 bytes | 7 ref
 *
 * Fields come in any order: real writers put metadata behind the lines. What lies outside events is
 * read field by field through a Cursor, which never loads a payload that nobody asked for; events
 * go through a loop over the window. */
#include "xspace.h"

#include "cursor.h"
#include "foreign.h"
#include "xspace_parts.h"

#include <stdio.h>

void xspace_lost(Host *host, const void *where, uint64_t offset, uint64_t n_bytes, const char *what)
{
    host_issue_in_file(host, "error", "damaged", offset, n_bytes, where,
                       "%s: bytes that are not part of a valid XSpace were skipped", what);
}

void xspace_cut(Host *host, const void *where, uint64_t offset, uint64_t missing, const char *what)
{
    host_issue_in_file(
        host, "error", "truncated", offset, 0, where,
        "%s claims %llu bytes more than the file has; the bytes that exist were read", what,
        (unsigned long long)missing);
}

const Text *xspace_text(Host *host, Window *window, Span span, ProfErr *err)
{
    const uint8_t *bytes = cursor_payload(window, span, err);
    if (!bytes) return NULL;
    const Text *text = host_text(host, bytes, (size_t)span.n_bytes, err);
    if (!text) return NULL;
    if (text->repaired)
        host_issue_in_file(
            host, "warning", "invalid_utf8", span.offset, 0, &host->texts,
            "a name is not valid UTF-8 and was repaired; XProf rejects the entire file for it");
    if (text->has_nul)
        host_issue_in_file(host, "warning", "nul_in_name", span.offset, 0, &host->texts,
                           "a name contains NUL bytes; shells print it only up to the first");
    return text;
}

/* Memory for a line: in an array that may have grown by half, in run->lines, and in the reading
 * order. */
enum { LINE_COST = sizeof(Line) * 3 / 2 + 2 * sizeof(Line *) };

/* Returns whether the file is large enough for the memory that its structure takes. If not, the
 * rest of it is not read. */
static bool affordable(Host *host, const void *where, uint64_t offset, uint64_t n_bytes,
                       uint64_t cost)
{
    if (host->structure_bytes + cost > host->file.n_bytes + host->file.n_bytes / 4 + (44 << 20)) {
        host_issue_in_file(
            host, "error", "too_many", offset, n_bytes, where,
            "some planes, lines or metadata entries were left out: they need too much "
            "memory for the file's size");
        return false;
    }
    host->structure_bytes += cost;
    return true;
}

/* ---- structure ---- */

static enum KnownStat known_stat(const Text *name)
{
    for (int i = 1; i < N_KNOWN_STATS; i++)
        if (*name->text == *known_stat_names[i] && !strcmp(name->text, known_stat_names[i]))
            return (enum KnownStat)i;
    return STAT_UNKNOWN;
}

/* Appends a part of a map entry's value to file->merged, if it is a message by itself. */
static enum Step merge_part(File *file, Window *window, Span part, ProfErr *err)
{
    Cursor c = {window, part.offset, part.offset + part.n_bytes};
    FileField f = {0};
    enum Step step;
    while ((step = cursor_next(&c, &f, err)) == STEP_FIELD)
        if (f.type == WIRE_BYTES && f.clipped) return STEP_DAMAGED;
    const uint8_t *bytes = step == STEP_END ? cursor_payload(window, part, err) : NULL;
    if (bytes && !file_merge(file, bytes, (size_t)part.n_bytes)) prof_nomem(err);
    return err->code ? STEP_FAILED : step;
}

/* Reads the key and the value of an entry {1 key 2 value} of a metadata map. A value in several
 * parts is their concatenation: protobuf reads that, although no known writer produces it. */
static enum Step map_entry(Host *host, Window *window, Span span, int64_t *key, Span *value,
                           ProfErr *err)
{
    Cursor c = {window, span.offset, span.offset + span.n_bytes};
    FileField f;
    enum Step step;
    size_t n_parts = 0;
    *key = 0, *value = (Span){span.offset, 0};
    while ((step = cursor_next(&c, &f, err)) == STEP_FIELD) {
        if (f.number == 1 && f.type == WIRE_VARINT) *key = (int64_t)f.value;
        if (f.number == 2 && f.type == WIRE_BYTES && f.payload.n_bytes)
            n_parts++, *value = f.payload;
        if (f.number == 2 && f.type == WIRE_BYTES && f.clipped) return STEP_DAMAGED;
    }
    if (step != STEP_END || n_parts < 2) return step;
    *value = (Span){FILE_MERGED + host->file.n_merged, 0};
    if (!affordable(host, host, span.offset, span.n_bytes, 2 * span.n_bytes)) return STEP_END;
    c.at = span.offset;
    while (step == STEP_END && cursor_next(&c, &f, err) == STEP_FIELD)
        if (f.number == 2 && f.type == WIRE_BYTES)
            step = merge_part(&host->file, window, f.payload, err);
    value->n_bytes = FILE_MERGED + host->file.n_merged - value->offset;
    return err->code ? STEP_FAILED : step;
}

static int read_event_meta(Plane *plane, Window *window, Span span, ProfErr *err)
{
    Host *host = plane->host;
    int64_t id;
    Span value;
    enum Step step = map_entry(host, window, span, &id, &value, err);
    if (step == STEP_FAILED) return err->code;
    EventMeta meta = {.id = id, .name = empty_text, .display_name = empty_text, .span = value};
    Cursor c = {window, value.offset, value.offset + value.n_bytes};
    FileField f;
    enum Step inner = STEP_END;
    while (step == STEP_END && (inner = cursor_next(&c, &f, err)) == STEP_FIELD) {
        if (f.type != WIRE_BYTES) continue;
        if (f.clipped) {
            inner = STEP_DAMAGED;
            break;
        }
        if (f.number == 5) meta.has_stats = true;
        if (f.number == 6) { /* packed child ids: checked now, read when they are needed */
            const uint8_t *p = cursor_payload(window, f.payload, err),
                          *end = p ? p + f.payload.n_bytes : NULL;
            uint64_t id;
            while (p && p < end) p = wire_varint(p, end, &id);
            if (err->code) return err->code;
            if (!p)
                xspace_lost(host, plane, f.payload.offset, f.payload.n_bytes,
                            "a list of child ids");
        }
        if (f.number != 2 && f.number != 4) continue;
        const Text *text = xspace_text(host, window, f.payload, err);
        if (!text) return err->code;
        *(f.number == 2 ? &meta.name : &meta.display_name) = text;
    }
    if (inner == STEP_FAILED) return err->code;
    if (step == STEP_DAMAGED || inner == STEP_DAMAGED)
        xspace_lost(host, plane, span.offset, span.n_bytes, "an event metadata entry");
    if (!meta.span.n_bytes) meta.span.offset = span.offset;
    int64_t known = id_find(&plane->event_ids, plane->event_metas, sizeof meta, id);
    if (known >= 0) {
        plane->event_metas[known] = meta;
        return PROF_OK;
    } /* the last entry of a key counts */
    if (!affordable(host, plane, span.offset, span.n_bytes, sizeof meta * 3 / 2 + 12))
        return PROF_OK;
    if (!GROW(plane->event_metas, plane->n_event_metas, plane->event_meta_capacity))
        return prof_nomem(err);
    plane->event_metas[plane->n_event_metas] = meta;
    if (!id_add(&plane->event_ids, plane->event_metas, sizeof meta, plane->n_event_metas))
        return prof_nomem(err);
    plane->n_event_metas++;
    return PROF_OK;
}

static int read_stat_meta(Plane *plane, Window *window, Span span, ProfErr *err)
{
    Host *host = plane->host;
    int64_t id;
    Span value;
    enum Step step = map_entry(host, window, span, &id, &value, err);
    if (step == STEP_FAILED) return err->code;
    StatMeta meta = {.id = id, .name = empty_text, .description = empty_text};
    Cursor c = {window, value.offset, value.offset + value.n_bytes};
    FileField f;
    enum Step inner = STEP_END;
    while (step == STEP_END && (inner = cursor_next(&c, &f, err)) == STEP_FIELD) {
        if (f.type != WIRE_BYTES || (f.number != 2 && f.number != 3)) continue;
        if (f.clipped) {
            inner = STEP_DAMAGED;
            break;
        }
        const Text *text = xspace_text(host, window, f.payload, err);
        if (!text) return err->code;
        *(f.number == 2 ? &meta.name : &meta.description) = text;
    }
    if (inner == STEP_FAILED) return err->code;
    if (step == STEP_DAMAGED || inner == STEP_DAMAGED)
        xspace_lost(host, plane, span.offset, span.n_bytes, "a stat metadata entry");
    meta.known = (uint8_t)known_stat(meta.name);
    int64_t known = id_find(&plane->stat_ids, plane->stat_metas, sizeof meta, id);
    if (known >= 0) {
        plane->stat_metas[known] = meta;
        return PROF_OK;
    }
    if (!affordable(host, plane, span.offset, span.n_bytes, sizeof meta * 3 / 2 + 28))
        return PROF_OK;
    if (!GROW(plane->stat_metas, plane->n_stat_metas, plane->stat_meta_capacity))
        return prof_nomem(err);
    plane->stat_metas[plane->n_stat_metas] = meta;
    if (!id_add(&plane->stat_ids, plane->stat_metas, sizeof meta, plane->n_stat_metas))
        return prof_nomem(err);
    plane->n_stat_metas++;
    return PROF_OK;
}

/* Lists the metadata of known stats: others, such as texts that stats refer to, can be many. */
static int list_known_stats(Plane *plane, ProfErr *err)
{
    size_t n = 0;
    for (size_t i = 0; i < plane->n_stat_metas; i++) n += plane->stat_metas[i].known != 0;
    if (!(plane->known_metas = prof_buffer(n * sizeof *plane->known_metas))) return prof_nomem(err);
    for (size_t i = 0; i < plane->n_stat_metas; i++) {
        if (!plane->stat_metas[i].known) continue;
        stat_set_add(&plane->declared, plane->stat_metas[i].known);
        plane->known_metas[plane->n_known_metas++] = (uint32_t)i;
    }
    return PROF_OK;
}

/* Returns the bound of the ids that an array by id has: it stays `room` times as long as the n
 * entries. */
static uint64_t array_ids(uint64_t room, size_t n)
{
    uint64_t most = room * n + 64;
    return most < UINT32_MAX ? most : UINT32_MAX;
}

/* Fills known_of_id. Writers number stats from 1 on, or nearly so; larger ids stay in stat_ids. */
static int index_known_stats(Plane *plane, ProfErr *err)
{
    uint64_t most = array_ids(16, plane->n_stat_metas);
    for (size_t i = 0; i < plane->n_stat_metas; i++) {
        uint64_t id = (uint64_t)plane->stat_metas[i].id;
        if (id < most && id >= plane->n_known_ids) plane->n_known_ids = (uint32_t)id + 1;
    }
    if (!(plane->known_of_id = prof_alloc(plane->n_known_ids))) {
        plane->n_known_ids = 0;
        return prof_nomem(err);
    }
    for (size_t i = 0; i < plane->n_stat_metas; i++)
        if ((uint64_t)plane->stat_metas[i].id < plane->n_known_ids)
            plane->known_of_id[plane->stat_metas[i].id] = plane->stat_metas[i].known;
    return PROF_OK;
}

/* Fills meta_of_id in the same way. */
static int index_event_metas(Plane *plane, ProfErr *err)
{
    uint64_t most = array_ids(4, plane->n_event_metas);
    for (size_t i = 0; i < plane->n_event_metas; i++) {
        uint64_t id = (uint64_t)plane->event_metas[i].id;
        if (id < most && id >= plane->n_meta_ids) plane->n_meta_ids = (uint32_t)id + 1;
    }
    if (!(plane->meta_of_id = prof_alloc(plane->n_meta_ids * sizeof *plane->meta_of_id))) {
        plane->n_meta_ids = 0;
        return prof_nomem(err);
    }
    for (size_t i = 0; i < plane->n_event_metas; i++) {
        uint64_t id = (uint64_t)plane->event_metas[i].id;
        if (id < plane->n_meta_ids) plane->meta_of_id[id] = (uint32_t)i + 1;
    }
    return PROF_OK;
}

/* Fills stat_of_id in the same way. */
static int index_stat_metas(Plane *plane, ProfErr *err)
{
    uint64_t most = array_ids(4, plane->n_stat_metas);
    for (size_t i = 0; i < plane->n_stat_metas; i++) {
        uint64_t id = (uint64_t)plane->stat_metas[i].id;
        if (id < most && id >= plane->n_stat_ids) plane->n_stat_ids = (uint32_t)id + 1;
    }
    if (!(plane->stat_of_id = prof_alloc(plane->n_stat_ids * sizeof *plane->stat_of_id))) {
        plane->n_stat_ids = 0;
        return prof_nomem(err);
    }
    for (size_t i = 0; i < plane->n_stat_metas; i++) {
        uint64_t id = (uint64_t)plane->stat_metas[i].id;
        if (id < plane->n_stat_ids) plane->stat_of_id[id] = (uint32_t)i + 1;
    }
    return PROF_OK;
}

static int read_plane(Host *host, Window *window, Span span, ProfErr *err)
{
    if (!affordable(host, host, span.offset, span.n_bytes, sizeof(Plane) * 3 / 2)) return PROF_OK;
    if (!GROW(host->planes, host->n_planes, host->plane_capacity)) return prof_nomem(err);
    Plane *plane = &host->planes[host->n_planes++];
    *plane = (Plane){.host = host, .name = empty_text, .span = span, .first_line = host->n_lines};
    Cursor c = {window, span.offset, span.offset + span.n_bytes};
    FileField f;
    enum Step step;
    uint64_t field_at = c.at;
    while ((step = cursor_next(&c, &f, err)) == STEP_FIELD) {
        static const uint8_t expected[] = {0,          WIRE_VARINT, WIRE_BYTES, WIRE_BYTES,
                                           WIRE_BYTES, WIRE_BYTES,  WIRE_BYTES};
        bool fits = f.number < sizeof expected && f.type == expected[f.number];
        if (f.number < sizeof expected && !fits) {
            host->odd_fields |= 1u << f.number;
            host_issue_in_file(host, "warning", "wrong_wire_type", field_at, c.at - field_at, plane,
                               "a field of an XPlane has the wrong wire type and was skipped");
        }
        if (fits && f.clipped) {
            xspace_cut(host, plane, field_at, f.missing,
                       f.number == 3 ? "a line" : "a field of a plane");
            if (f.number != 3) fits = false;
        }
        if (fits) switch (f.number) {
            case 1: plane->proto_id = (int64_t)f.value; break;
            case 2: plane->name = xspace_text(host, window, f.payload, err); break;
            case 3:
                if (!affordable(host, plane, field_at, f.payload.n_bytes,
                                LINE_COST + (f.payload.n_bytes ? sizeof(Chunk) : 0)))
                    break;
                if (!GROW(host->lines, host->n_lines, host->line_capacity)) return prof_nomem(err);
                host->lines[host->n_lines++] = (Line){.name = empty_text,
                                                      .display_name = empty_text,
                                                      .span = f.payload,
                                                      .ordered = true};
                plane->n_lines++;
                break;
            case 4: read_event_meta(plane, window, f.payload, err); break;
            case 5: read_stat_meta(plane, window, f.payload, err); break;
            case 6:
                if (!affordable(host, plane, field_at, f.payload.n_bytes, 12)) break;
                if (!GROW(plane->stat_offsets, plane->n_stats, plane->stat_capacity))
                    return prof_nomem(err);
                plane->stat_offsets[plane->n_stats++] = field_at;
                break;
            default: break;
            }
        if (err->code) return err->code;
        field_at = c.at;
    }
    if (step == STEP_DAMAGED) xspace_lost(host, plane, c.at, c.end - c.at, "a plane");
    if (step == STEP_FAILED) return err->code;
    plane_classify(plane);
    if (list_known_stats(plane, err) || index_known_stats(plane, err) ||
        index_event_metas(plane, err))
        return err->code;
    return index_stat_metas(plane, err);
}

static int add_text(Host *host, Window *window, Span span, const Text ***array, size_t *n,
                    size_t *capacity, ProfErr *err)
{
    if (!affordable(host, host, span.offset, span.n_bytes, 12)) return PROF_OK;
    const Text *text = xspace_text(host, window, span, err);
    if (!text) return err->code;
    if (!prof_grow(array, *n, capacity, sizeof **array)) return prof_nomem(err);
    (*array)[(*n)++] = text;
    return PROF_OK;
}

/* Adds the entry after the declared ones, which stands for every id that the plane's events use
 * although it is not declared. */
static int add_undeclared_metas(Host *host, ProfErr *err)
{
    for (size_t i = 0; i < host->n_planes; i++) {
        Plane *plane = &host->planes[i];
        plane->n_declared = plane->n_event_metas;
        if (!plane->n_lines) continue;
        if (!GROW(plane->event_metas, plane->n_event_metas, plane->event_meta_capacity))
            return prof_nomem(err);
        plane->event_metas[plane->n_event_metas++] =
            (EventMeta){.name = empty_text, .display_name = empty_text};
    }
    return PROF_OK;
}

/* Fails if the file is of a kind that is recognised. A text can have bytes that are planes, but no
 * bytes that are lines. */
static void refuse_foreign(const Host *host, ProfErr *err)
{
    const char *advice = host->n_lines || host->plausible ? NULL : foreign_advice(&host->file);
    if (advice) prof_fail(err, PROF_FORMAT, 0, "%s: %s", host->file.path, advice);
}

/* Returns whether one of the texts has a control character, as the bytes of a message have. */
static bool is_binary(const Text *const *texts, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < texts[i]->n_bytes; k++) {
            unsigned char c = (unsigned char)texts[i]->text[k];
            if (c < ' ' && !memchr("\t\n\r", c, 3)) return true;
        }
    return false;
}

/* Returns whether the file is another message: several fields of its planes have other wire types;
 * or it has no plane, but fields that an XSpace does not have; or it has no line, and messages
 * where an XSpace has names. XProf's own results are of this kind. */
static bool is_other_message(const Host *host, bool has_other_fields)
{
    if (host->plausible) return false;
    if (host->odd_fields & (host->odd_fields - 1)) return true;
    if (!host->n_planes && has_other_fields) return true;
    bool binary = is_binary(host->errors, host->n_errors) ||
                  is_binary(host->warnings, host->n_warnings) ||
                  is_binary(host->hostnames, host->n_hostnames);
    for (size_t i = 0; i < host->n_planes && !binary; i++)
        binary = is_binary(&host->planes[i].name, 1);
    return binary && !host->n_lines;
}

static int read_structure(Host *host, ProfErr *err)
{
    Window window = {.file = &host->file};
    Cursor c = {&window, 0, host->file.n_bytes};
    FileField f;
    enum Step step;
    uint64_t field_at = 0, n_good = 0;
    bool has_other_fields = false;
    while ((step = cursor_next(&c, &f, err)) == STEP_FIELD) {
        has_other_fields |= f.number < 1 || f.number > 4;
        if (f.type == WIRE_BYTES && f.number >= 1 && f.number <= 4) {
            if (f.clipped)
                xspace_cut(host, host, field_at, f.missing, f.number == 1 ? "a plane" : "a text");
            switch (f.number) {
            case 1: read_plane(host, &window, f.payload, err); break;
            case 2:
                add_text(host, &window, f.payload, &host->errors, &host->n_errors,
                         &host->error_capacity, err);
                break;
            case 3:
                add_text(host, &window, f.payload, &host->warnings, &host->n_warnings,
                         &host->warning_capacity, err);
                break;
            default:
                add_text(host, &window, f.payload, &host->hostnames, &host->n_hostnames,
                         &host->hostname_capacity, err);
                break;
            }
            n_good++;
        } else if (f.type == WIRE_BYTES && f.clipped) {
            step = STEP_DAMAGED;
            c.at = field_at;
            break;
        }
        if (err->code) break;
        field_at = c.at;
    }
    if (step == STEP_DAMAGED) xspace_lost(host, host, c.at, c.end - c.at, "the file");
    const char *path = host->file.path;
    if (!err->code) refuse_foreign(host, err);
    if (!err->code && (!n_good || (!host->plausible && step == STEP_DAMAGED)))
        prof_fail(err, PROF_FORMAT, c.at,
                  "%s: is not an XSpace (byte %llu starts none of its fields); give the "
                  "*.xplane.pb that the profiler wrote",
                  path, (unsigned long long)c.at);
    if (!err->code && is_other_message(host, has_other_fields))
        prof_fail(err, PROF_FORMAT, 0,
                  "%s: is another protobuf message, not an XSpace; give the *.xplane.pb that the "
                  "profiler wrote",
                  path);
    window_free(&window);
    if (!err->code) add_undeclared_metas(host, err);
    if (!err->code && !GROW(host->lines, host->n_lines, host->line_capacity))
        /* not NULL, even if there are no lines, because pointers are computed from it */
        prof_nomem(err);
    if (err->code) return err->code;
    for (size_t i = 0; i < host->n_planes; i++)
        for (size_t k = 0; k < host->planes[i].n_lines; k++)
            host->lines[host->planes[i].first_line + k].plane = &host->planes[i];
    return PROF_OK;
}

/* ---- stats ---- */

bool stat_parse(const uint8_t *p, const uint8_t *end, Stat *stat)
{
    *stat = (Stat){0};
    Field f = {0};
    while (p < end) {
        p = wire_field(p, end, &f);
        if (!p) return false;
        if (f.number == 1 && f.type == WIRE_VARINT) stat->id = (int64_t)f.value;
        if (f.number == 2 && f.type == WIRE_FIXED64) stat->type = TYPE_DOUBLE, stat->u64 = f.value;
        enum StatType varint = varint_type((uint64_t)f.number << 3 | f.type);
        if (varint) stat->type = varint, stat->u64 = f.value;
        if ((f.number == 5 || f.number == 6) && f.type == WIRE_BYTES)
            stat->type = f.number == 5 ? TYPE_STR : TYPE_BYTES, stat->bytes = f.bytes,
            stat->n_bytes = (size_t)f.value;
    }
    return true;
}

const uint8_t *stat_next(const uint8_t *p, const uint8_t *end, uint32_t stat_field, Stat *stat)
{
    Field f;
    while (p && p < end) {
        p = wire_field(p, end, &f);
        if (!p || f.number != stat_field || f.type != WIRE_BYTES) continue;
        const uint8_t *id = f.bytes, *stat_end = id + f.value;
        /* nearly all: an id below 128, then a number or a short text */
        if ((f.value > 3 && *id == (1 << 3 | WIRE_VARINT) && id[1] < 0x80 &&
             (stat_number(id + 2, stat_end, id[1], stat) ||
              stat_short_text(id + 2, stat_end, id[1], stat))) ||
            stat_parse(id, stat_end, stat))
            return p;
    }
    return NULL;
}

/* ---- after all lines ---- */

/* Records issues that our own capture wrote into the profile: lost records, and an abnormal end. */
static void capture_issue(Host *host, const char *name, const Stat *stat, uint64_t offset)
{
    size_t n = host->n_issues;
    if (!stat->u64) return;
    if (!strcmp(name, "capture_dropped_records")) {
        host_issue_in_file(
            host, "error", "capture_dropped", offset, 0, &host->start_unix_ns,
            "%llu records were lost during the capture; the warnings in the table session say why",
            (unsigned long long)stat->u64);
        if (host->n_issues > n) host->issues[n].count = stat->u64;
    } else if (!strcmp(name, "capture_missing_steps")) {
        host_issue_in_file(
            host, "warning", "capture_missing_steps", offset, 0, &host->n_events,
            "%llu of the requested steps are missing; the warnings in the table session say why",
            (unsigned long long)stat->u64);
        if (host->n_issues > n) host->issues[n].count = stat->u64;
    } else if (!strcmp(name, "capture_ended_abruptly")) {
        host_issue_in_file(
            host, "warning", "capture_ended_abruptly", offset, 0, &host->stop_unix_ns,
            "the program was killed during the capture; the contents of its last buffers "
            "are missing");
    }
}

/* ---- start times of lines ---- */

/* Returns whether a line's time counts from 1970, not from the session's start: no session lasts
 * that long. */
static bool counts_from_1970(int64_t timestamp_ns) { return timestamp_ns > INT64_MAX / 1000; }

/* Profilers write times from the session's start. Some write Unix times, which do not fit into
 * picoseconds: the session's start is subtracted from those, even if they are earlier; if the file
 * does not have it, the earliest of them. */
static void rebase_lines(Host *host)
{
    int64_t first = INT64_MAX;
    for (size_t i = 0; i < host->n_lines; i++)
        if (counts_from_1970(host->lines[i].timestamp_ns) && host->lines[i].timestamp_ns < first)
            first = host->lines[i].timestamp_ns;
    if (first == INT64_MAX) return;
    if (host->start_unix_ns > 0 && first - host->start_unix_ns <= INT64_MAX / 1000 &&
        host->start_unix_ns - first <= INT64_MAX / 1000)
        first = host->start_unix_ns;
    else
        host->start_unix_ns = first;
    for (size_t i = 0; i < host->n_lines; i++)
        if (counts_from_1970(host->lines[i].timestamp_ns)) host->lines[i].epoch_ns = first;
    host_issue(host, "info", "unix_times", host,
               "lines have Unix times: the times of their events are shown relative to %lld ns, "
               "the session start",
               (long long)first);
}

static void place_line(Line *line)
{
    Host *host = line->plane->host;
    int64_t from_start = line->timestamp_ns - line->epoch_ns, unused;
    if (__builtin_mul_overflow(from_start, (int64_t)1000, &line->start_ps)) {
        line->start_ps = from_start < 0 ? INT64_MIN : INT64_MAX;
        host_issue_in_file(host, "warning", "time_overflow", line->span.offset, 0, line,
                           "times outside the range of int64 picoseconds were set to its limits");
        return;
    }
    for (size_t i = 0; i < line->n_chunks; i++) {
        const Chunk *k = &line->chunks[i];
        if (__builtin_add_overflow(line->start_ps, k->max_offset, &unused) ||
            __builtin_add_overflow(line->start_ps, k->max_end, &unused) ||
            k->max_end == INT64_MAX || __builtin_add_overflow(line->start_ps, k->min_end, &unused))
            host_issue_in_file(
                host, "warning", "time_overflow", k->span.offset, 0, line,
                "times outside the range of int64 picoseconds were set to its limits");
    }
}

static int finish(Host *host, ProfErr *err)
{
    host->start_unix_ns = host->stop_unix_ns = -1, host->n_events = 0;
    Window window = {.file = &host->file};
    for (size_t i = 0; i < host->n_planes && !err->code; i++) {
        Plane *plane = &host->planes[i];
        plane->n_events = 0;
        for (size_t k = 0; k < plane->n_lines; k++) {
            Line *line = &host->lines[plane->first_line + k];
            plane->n_events += line->n_events;
            if ((line->proto_id == 1 || line->proto_id == 2) &&
                !plane->core_lines[line->proto_id - 1])
                plane->core_lines[line->proto_id - 1] = line;
        }
        bool session = !strcmp(plane->name->text, "Task Environment");
        for (size_t k = 0; k < plane->n_stats && (session || plane->process_id < 0) && !err->code;
             k++) {
            size_t n;
            Stat stat;
            const uint8_t *p = event_message(&window, plane->stat_offsets[k], &n, err);
            if (!p || !stat_parse(p, p + n, &stat)) continue;
            const StatMeta *meta = stat_meta(plane, stat.id);
            if (!meta || (stat.type != TYPE_UINT64 && stat.type != TYPE_INT64)) continue;
            if (session && meta->known == STAT_PROFILE_START_TIME)
                host->start_unix_ns = stat.integer;
            if (session && meta->known == STAT_PROFILE_STOP_TIME) host->stop_unix_ns = stat.integer;
            if (session) capture_issue(host, meta->name->text, &stat, plane->stat_offsets[k]);
            if (meta->known == STAT_PROCESS_ID) plane->process_id = stat.integer;
        }
        host->n_events += plane->n_events;
    }
    window_free(&window);
    rebase_lines(host);
    for (size_t i = 0; i < host->n_lines; i++) place_line(&host->lines[i]);
    return err->code;
}

static const char *const suffixes[] = {".xplane.pb.gz", ".xplane.pb", NULL};
const Reader xspace_reader = {.name = "xspace",
                              .suffixes = suffixes,
                              .read_structure = read_structure,
                              .read_line = xspace_read_line,
                              .finish = finish};
