/* Profiles whose messages were changed at random, read through every table and every canned query under the address sanitizer and the undefined behaviour
 * sanitizer.
 *
 *     mutants [-n COUNT] [-s FIRST_SEED] [-k] FOLDER...        each a run folder, a file a host; -k keeps the mutants that fail
 *
 * A mutant is a sound XSpace whose fields lie, and one in six has changed bytes too. It is made and read in a process of its own, from its seed and the folders
 * alone. A query may end with an error that names the source; what may not be is a finding of a sanitizer, a crash, a leak, text that is no UTF-8, invalid
 * JSON, more than MOST_SECONDS of CPU or MOST_MIB of memory (both as the sanitizers have them, which cost several times the library's own). */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "message_tree.h"

int sqlite3_profsql_init(sqlite3 *db, char **err, const void *api);
const char *__asan_default_options(void);
const char *__asan_default_options(void) { return "quarantine_size_mb=8:allocator_may_return_null=1:max_allocation_size_mb=512:detect_leaks=1"; }

enum { MOST_SECONDS = 60, MOST_MIB = 700, MOST_STATEMENTS = 200, MOST_FILES = 500, MOST_OPS = 16 };

/* ---- what changes ---- */

typedef struct {
    uint8_t *bytes;
    size_t n;
    int folder;
    char name[256];
} File;

static File files[MOST_FILES];
static int n_files, n_folders;
static uint64_t state;

static uint64_t any(void) /* splitmix64 */
{
    uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}
static size_t below(size_t n) { return n ? any() % n : 0; }
static bool one_in(size_t n) { return below(n) == 0; }

typedef struct {
    Node **nodes, **parents;
    size_t n, room;
} List;
static List lists[K_COUNT];

static void add(List *list, Node *node, Node *parent)
{
    if (list->n == list->room) {
        size_t room = list->room ? 2 * list->room : 1024;
        Node **nodes = take(2 * room * sizeof *nodes);
        if (list->n) memcpy(nodes, list->nodes, list->n * sizeof *nodes), memcpy(nodes + room, list->parents, list->n * sizeof *nodes);
        list->nodes = nodes, list->parents = nodes + room, list->room = room;
    }
    list->nodes[list->n] = node, list->parents[list->n++] = parent;
}

static void collect(Node *parent)
{
    for (Node *node = parent->child; node; node = node->next) {
        add(&lists[node->kind], node, parent);
        if (node->kind != K_LEAF) collect(node);
    }
}

static void collect_all(Node *root)
{
    for (int k = 0; k < K_COUNT; k++) lists[k].n = 0;
    collect(root);
}

/* A leaf of messages of a kind that is drawn first: events have most leaves, and are not most of what can go wrong. */
static Node *any_leaf(void)
{
    static const Kind kinds[] = {K_SPACE, K_PLANE, K_LINE, K_EVENT, K_STAT, K_STAT, K_EVENT_METADATA, K_STAT_METADATA, K_EVENT_ENTRY, K_STAT_ENTRY, K_GUESSED};
    const List *leaves = &lists[K_LEAF];
    for (int tries = 0; tries < 20 && leaves->n; tries++) {
        Kind kind = kinds[below(sizeof kinds / sizeof *kinds)];
        size_t at = below(leaves->n);
        for (size_t i = 0; i < leaves->n; i++)
            if (leaves->nodes[(at + i) % leaves->n]->parent == kind) return leaves->nodes[(at + i) % leaves->n];
    }
    return NULL;
}

/* A leaf like this one, of the same field of another message. */
static Node *leaf_like(const Node *leaf)
{
    const List *leaves = &lists[K_LEAF];
    size_t at = below(leaves->n);
    for (size_t i = 0; i < leaves->n; i++) {
        Node *other = leaves->nodes[(at + i) % leaves->n];
        if (other != leaf && other->parent == leaf->parent && other->field == leaf->field && other->wire == leaf->wire) return other;
    }
    return NULL;
}

static uint64_t any_number(uint64_t now)
{
    static const uint64_t extremes[] = {0,
                                        1,
                                        2,
                                        3,
                                        7,
                                        64,
                                        1000,
                                        UINT64_MAX,
                                        INT64_MAX,
                                        (uint64_t)INT64_MAX + 1,
                                        INT64_MAX - 1,
                                        UINT32_MAX,
                                        (uint64_t)UINT32_MAX + 1,
                                        INT32_MAX,
                                        (uint64_t)INT32_MAX + 1,
                                        UINT64_MAX - 1,
                                        UINT64_MAX / 1000,
                                        INT64_MAX / 1000,
                                        INT64_MAX / 1000 + 1,
                                        (uint64_t)INT64_MIN + 1,
                                        (uint64_t)-1000};
    switch (below(6)) {
    case 0: return any();
    case 1: return now + 1;
    case 2: return now - 1;
    case 3: return now << below(64);
    default: return extremes[below(sizeof extremes / sizeof *extremes)];
    }
}

static uint64_t any_double(void)
{
    static const double extremes[] = {0.0, -0.0, 1.0, -1.0, 1e308, -1e308, 5e-324, 9.3e18, -9.3e18, 1.9e19, 1e300, 0.1, 1e15, 4294967296.0};
    static const uint64_t bits[] = {0x7ff0000000000000u, 0xfff0000000000000u, 0x7ff8000000000000u, 0xfff8000000000001u};
    uint64_t x;
    if (one_in(3)) return bits[below(4)];
    if (one_in(6)) return any();
    memcpy(&x, &extremes[below(sizeof extremes / sizeof *extremes)], sizeof x);
    return x;
}

static void set_text(Node *leaf, const void *text, size_t n)
{
    uint8_t *made = take(n ? n : 1);
    memcpy(made, text, n);
    leaf->bytes = made, leaf->n = n, leaf->kind = K_LEAF, leaf->child = NULL;
}

static void change_text(Node *leaf)
{
    static const char *const words[] = {"",
                                        "#",
                                        "::",
                                        "/",
                                        "%",
                                        "=",
                                        ":",
                                        ";",
                                        "(",
                                        "()",
                                        "a#step_num=-1#",
                                        "train#step_num=99999999999999999999,_r=1#",
                                        "x#id=1,=,,#y#",
                                        "f32[",
                                        "f32[99999999999,99999999999]{1,0:T(8,128)}",
                                        "%x = (f32[2]{0}, ()) fusion(",
                                        "\xff\xfe",
                                        "\"",
                                        "\\",
                                        "\n",
                                        "/host:CPU",
                                        "/device:GPU:0",
                                        "/device:TPU:0",
                                        "/device:TPU:0 SparseCore 0",
                                        "/host:metadata",
                                        "Steps",
                                        "XLA Ops",
                                        "XLA Modules",
                                        "Async XLA Ops",
                                        "9223372036854775808",
                                        "-9223372036854775808",
                                        "1e999",
                                        "nan",
                                        "regs:-1 grid:9999999999,1,1 block:0,0,0 occ_pct:inf"};
    uint8_t text[512];
    Node *other = leaf_like(leaf);
    size_t n = leaf->n < sizeof text ? leaf->n : sizeof text;
    switch (below(8)) {
    case 0: leaf->n = 0; break;
    case 6:
        memcpy(text, leaf->bytes, n);
        for (size_t i = 0; i < n; i++)
            if (one_in(4)) text[i] |= 0x80;
        set_text(leaf, text, n);
        break;
    case 1: {
        const char *word = words[below(sizeof words / sizeof *words)];
        set_text(leaf, word, strlen(word));
        break;
    }
    case 2: set_text(leaf, leaf->bytes, below(leaf->n + 1)); break;
    case 3: {
        uint8_t *twice = take(2 * leaf->n + 1);
        memcpy(twice, leaf->bytes, leaf->n);
        memcpy(twice + leaf->n, leaf->bytes, leaf->n);
        leaf->bytes = twice, leaf->n *= 2;
        break;
    }
    case 4:
        memcpy(text, leaf->bytes, n);
        if (n) text[below(n)] = (uint8_t)any();
        set_text(leaf, text, n);
        break;
    case 5: {
        size_t many = 1 + below(20000);
        uint8_t *same = take(many);
        memset(same, "a#,=/:({\"\x80 9"[below(12)], many);
        leaf->bytes = same, leaf->n = many;
        break;
    }
    default:
        if (other) leaf->bytes = other->bytes, leaf->n = other->n;
    }
}

static void change_leaf(Node *leaf)
{
    Node *other = one_in(4) ? leaf_like(leaf) : NULL;
    if (other)
        leaf->value = other->value, leaf->bytes = other->bytes, leaf->n = other->n;
    else if (leaf->wire == 0)
        leaf->value = any_number(leaf->value);
    else if (leaf->wire == 2)
        change_text(leaf);
    else
        leaf->value = any_double();
}

/* A stat's value, or any leaf, as one of another type. */
static void retype(Node *leaf)
{
    static const uint8_t wires[] = {0, 0, 1, 0, 0, 2, 2, 0}; /* by field of XStat: 2 double, 3 uint64, 4 int64, 5 str, 6 bytes, 7 ref */
    uint32_t field = (uint32_t)(2 + below(6));
    if (leaf->parent == K_STAT && leaf->field == 1) return;
    leaf->field = field, leaf->wire = wires[field];
    if (leaf->wire == 2 && !leaf->bytes) {
        char text[32];
        snprintf(text, sizeof text, "%lld", (long long)leaf->value);
        set_text(leaf, text, strlen(text));
    }
    if (leaf->wire == 0 && one_in(2)) leaf->value = one_in(2) ? below(200) : any_number(leaf->value);
    if (leaf->wire == 1) leaf->value = any_double();
    leaf->kind = K_LEAF, leaf->child = NULL;
}

static Node *field_of(Node *message, uint32_t field)
{
    for (Node *n = message->child; n; n = n->next)
        if (n->field == field) return n;
    return NULL;
}

static Node *any_of(Kind kind, Node **parent)
{
    List *list = &lists[kind];
    if (!list->n) return NULL;
    size_t i = below(list->n);
    if (parent) *parent = list->parents[i];
    return list->nodes[i];
}

static Kind any_kind(void)
{
    static const Kind kinds[] = {K_PLANE, K_LINE,        K_LINE,           K_EVENT,      K_EVENT,         K_STAT,
                                 K_STAT,  K_EVENT_ENTRY, K_EVENT_METADATA, K_STAT_ENTRY, K_STAT_METADATA, K_GUESSED};
    return kinds[below(sizeof kinds / sizeof *kinds)];
}

static void unlink_node(Node *parent, Node *node)
{
    for (Node **at = &parent->child; *at; at = &(*at)->next)
        if (*at == node) {
            *at = node->next;
            return;
        }
}

static void move_or_copy(void)
{
    Node *from, *to;
    Kind kind = any_kind();
    Node *node = any_of(kind, &from);
    if (!node || !any_of(kind, &to)) return;
    switch (below(5)) {
    case 0: unlink_node(from, node); break;
    case 1: node->child = NULL; break;
    case 2: {
        size_t most = kind == K_PLANE ? 2 : 1 + below(20);
        for (size_t i = 0; i < most; i++) {
            Node *made = copy(node, false);
            made->next = node->next, node->next = made;
        }
        break;
    }
    case 3: {
        Node *made = copy(node, false);
        made->next = to->child, to->child = made;
        break;
    }
    default: {
        Node *other = any_of(kind, NULL), *child = other->child;
        other->child = node->child, node->child = child;
    }
    }
}

/* Two messages of a kind trade one field: names of stats and events, ids, durations. */
static void trade(void)
{
    static const struct {
        Kind kind;
        uint32_t field;
    } traded[] = {{K_STAT_METADATA, 2}, {K_STAT_METADATA, 2}, {K_EVENT_METADATA, 2}, {K_EVENT_METADATA, 4}, {K_LINE, 2},       {K_PLANE, 2},       {K_EVENT, 1},
                  {K_EVENT, 3},         {K_EVENT, 2},         {K_EVENT_METADATA, 3}, {K_STAT, 1},           {K_STAT_ENTRY, 1}, {K_EVENT_ENTRY, 1}, {K_LINE, 3}};
    size_t i = below(sizeof traded / sizeof *traded);
    Node *a = any_of(traded[i].kind, NULL), *b = any_of(traded[i].kind, NULL);
    Node *x = a ? field_of(a, traded[i].field) : NULL, *y = b ? field_of(b, traded[i].field) : NULL;
    if (!x || !y || x->wire != y->wire || x->kind != K_LEAF || y->kind != K_LEAF) return;
    Node t = *x;
    x->value = y->value, x->bytes = y->bytes, x->n = y->n;
    y->value = t.value, y->bytes = t.bytes, y->n = t.n;
}

/* One field of all messages of a kind, or the value of all stats of one name. */
static void change_everywhere(void)
{
    const List *stats = &lists[K_STAT];
    Node *leaf = any_leaf();
    size_t share = one_in(3) ? 1 : 1 + below(8), how = below(4);
    if (!leaf) return;
    if (one_in(2) && stats->n) {
        Node *entry = one_in(2) ? any_of(K_STAT_ENTRY, NULL) : NULL, *key = field_of(entry ? entry : any_of(K_STAT, NULL), 1); /* or a rare one */
        if (!key) return;
        uint64_t id = key->value;
        for (size_t i = 0; i < stats->n; i++) {
            Node *at = field_of(stats->nodes[i], 1), *value = at == stats->nodes[i]->child ? at ? at->next : NULL : stats->nodes[i]->child;
            if (!at || at->value != id || !value || !one_in(share)) continue;
            if (how == 0) retype(value);
            if (how != 0 || one_in(4)) change_leaf(value);
            if (how == 1) change_leaf(value);
        }
        return;
    }
    uint64_t same = any_number(leaf->value), step = any_number(1);
    Node like = *leaf;
    size_t n = 0;
    for (size_t i = 0; i < lists[K_LEAF].n; i++) {
        Node *other = lists[K_LEAF].nodes[i];
        if (other->parent != like.parent || other->field != like.field || other->wire != like.wire || !one_in(share)) continue;
        if (other->wire != 0 || how == 0)
            change_leaf(other);
        else
            other->value = how == 1 ? same : how == 2 ? same + step * n++ : other->value * step;
    }
}

/* Where the events of a line, or of all lines, are. */
static void change_times(void)
{
    Node *line = one_in(3) ? NULL : any_of(K_LINE, NULL);
    uint64_t at = any_number(1000), step = any_number(1000000), share = one_in(2) ? 1 : 1 + below(8);
    size_t how = below(7), n = 0;
    for (size_t i = 0; i < lists[K_EVENT].n; i++) {
        Node *event = lists[K_EVENT].nodes[i], *offset = field_of(event, 2), *duration = field_of(event, 3);
        if ((line && lists[K_EVENT].parents[i] != line) || !one_in(share)) continue;
        n++;
        if (duration && how != 1)
            duration->value = how == 0 ? 0 : how == 2 ? (uint64_t)INT64_MAX - n : how == 3 ? at : how == 4 ? step * n : how == 5 ? any() : duration->value;
        if (offset && offset->field == 2 && how != 0)
            offset->value = how == 1 ? at : how == 2 ? n : how == 3 ? at + step * n : how == 5 ? any() : how == 6 ? at - offset->value : offset->value;
    }
}

/* A part of another profile. */
static void graft(void)
{
    const File *file = &files[below((size_t)n_files)];
    Node other = {0}, *to;
    static const Kind kinds[] = {K_PLANE, K_LINE, K_EVENT_ENTRY, K_STAT_ENTRY, K_STAT, K_EVENT};
    Kind kind = kinds[below(sizeof kinds / sizeof *kinds)];
    if (!any_of(kind, &to) || !parse(file->bytes, file->n, K_SPACE, 0, &other.child)) return;
    List mine = lists[kind];
    for (int k = 0; k < K_COUNT; k++) lists[k] = (List){0};
    collect(&other);
    Node *node = any_of(kind, NULL);
    if (node) {
        Node *made = copy(node, false);
        made->next = to->child, to->child = made;
        if (kind == K_LINE || kind == K_PLANE) { /* with the names that it needs */
            for (size_t i = 0; i < lists[K_STAT_ENTRY].n && kind == K_LINE && one_in(2); i++) {
                Node *entry = copy(lists[K_STAT_ENTRY].nodes[i], false);
                entry->next = to->child, to->child = entry;
            }
        }
    }
    lists[kind] = mine;
}

static void change_bytes(uint8_t *bytes, size_t *n)
{
    size_t most = 1 + below(6);
    for (size_t i = 0; i < most && *n; i++) switch (below(4)) {
        case 0: bytes[below(*n)] = (uint8_t)any(); break;
        case 1: bytes[below(*n)] ^= (uint8_t)(1u << below(8)); break;
        case 2: bytes[below(*n)] = one_in(2) ? 0xff : 0; break;
        default: {
            size_t at = below(*n), gone = below(*n - at < 40 ? *n - at : 40);
            memmove(bytes + at, bytes + at + gone, *n - at - gone);
            *n -= gone;
        }
        }
    if (one_in(8)) *n = below(*n);
}

static uint8_t *mutate(const File *file, size_t *n)
{
    Node root = {0};
    if (!parse(file->bytes, file->n, K_SPACE, 0, &root.child)) root.child = NULL;
    collect_all(&root);
    size_t most = 1 + below(MOST_OPS);
    for (size_t i = 0; i < most; i++) {
        Node *leaf = any_leaf();
        switch (below(11)) {
        case 0:
        case 1:
            if (leaf) change_leaf(leaf);
            break;
        case 2: {
            Node *stat = any_of(K_STAT, NULL);
            for (Node *value = stat ? stat->child : NULL; value; value = value->next) retype(value);
            break;
        }
        case 3: move_or_copy(); break;
        case 4:
        case 5: trade(); break;
        case 6:
        case 7: change_everywhere(); break;
        case 8:
        case 9: change_times(); break;
        default: graft();
        }
        collect_all(&root);
    }
    *n = message_size(root.child);
    uint8_t *bytes = take(*n + 1);
    if (put_message(bytes, root.child) != bytes + *n) abort();
    if (one_in(6)) change_bytes(bytes, n);
    return bytes;
}

/* ---- reading ---- */

static sqlite3 *db;
static sqlite3_stmt *statements[MOST_STATEMENTS], *attach;
static int n_statements;
static char folder[500];

/* What the process of a mutant tells the one that waits for it. */
static volatile struct {
    int statement, n_errors;
    char why[300];
} * told;

static sqlite3_stmt *prepare(const char *sql)
{
    sqlite3_stmt *stmt = NULL;
    if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL)) {
        fprintf(stderr, "%s: %s\n", sql, sqlite3_errmsg(db));
        exit(2);
    }
    return stmt;
}

/* Every column of every table, the hidden ones too but for arguments that are not given, and all that every query gives. */
static void prepare_all(void)
{
    static const char *const more[] = {
        "SELECT name, metadata_id, count(*), max(start_ps), sum(self_ps + 0.0) FROM trace_events(?1) GROUP BY name, metadata_id",
        "SELECT count(*) FROM trace_events(?1) AS a JOIN trace_events(?1) AS b ON b.event_id = a.parent_id",
        "SELECT 1 / (sum(json_valid(stats)) = count(*)) IS NULL AND count(*) > 0 FROM trace_events(?1)",
        "SELECT * FROM op_profile(?1, 'category', 1, 5)",
        "SELECT * FROM op_profile(?1, 'provenance', 0)",
        "SELECT * FROM hlo_text(?1, NULL, 'short')",
        "SELECT * FROM buffer_allocations(?1, 64)",
        "SELECT * FROM memory_events(?1, 0)",
        "SELECT * FROM live_allocations(?1)",
        "SELECT * FROM live_at(?1)",
        "SELECT * FROM tf_ops(?1, 0, 3)",
    };
    if (sqlite3_open(":memory:", &db) || sqlite3_profsql_init(db, NULL, NULL)) exit(2);
    sqlite3_stmt *list =
        prepare("SELECT 'SELECT ' || group_concat('\"' || \"column\" || '\"') || ' FROM temp.\"' || table_name || '\"(?1'"
                " || CASE WHEN table_name LIKE 'compare%' THEN ', ?1' WHEN table_name LIKE 'live%' THEN ', 5' ELSE '' END || ')' FROM prof_columns"
                " WHERE table_name IN (SELECT table_name FROM prof_columns WHERE \"column\" IN ('source', 'a'))"
                " AND (type NOT LIKE '%HIDDEN' OR \"column\" IN ('source', 'a', 'b', 'stats', 'args')) GROUP BY table_name");
    while (sqlite3_step(list) == SQLITE_ROW && n_statements < MOST_STATEMENTS) statements[n_statements++] = prepare((const char *)sqlite3_column_text(list, 0));
    sqlite3_finalize(list);
    for (size_t i = 0; i < sizeof more / sizeof *more && n_statements < MOST_STATEMENTS; i++) statements[n_statements++] = prepare(more[i]);
    attach = prepare("SELECT prof_attach_by_host(?1, 'by host')");
}

static bool is_utf8(const uint8_t *p, size_t n)
{
    for (size_t i = 0; i < n;) {
        int more = p[i] < 0x80 ? 0 : p[i] < 0xc2 ? -1 : p[i] < 0xe0 ? 1 : p[i] < 0xf0 ? 2 : p[i] < 0xf5 ? 3 : -1;
        if (more < 0 || n - i <= (size_t)more) return false;
        for (int k = 1; k <= more; k++)
            if ((p[i + (size_t)k] & 0xc0) != 0x80) return false;
        i += 1 + (size_t)more;
    }
    return true;
}

static int fail(const char *what, const char *detail)
{
    snprintf((char *)told->why, sizeof told->why, "%s: %.200s", what, detail);
    return 1;
}

static int read_one(sqlite3_stmt *stmt, const char *source)
{
    int rc, bad = 0;
    sqlite3_bind_text(stmt, 1, source, -1, SQLITE_STATIC);
    while ((rc = sqlite3_step(stmt)) == SQLITE_ROW && !bad)
        for (int c = 0; c < sqlite3_column_count(stmt); c++) {
            if (sqlite3_column_type(stmt, c) != SQLITE_TEXT) continue;
            const uint8_t *text = sqlite3_column_text(stmt, c);
            if (text && !is_utf8(text, (size_t)sqlite3_column_bytes(stmt, c))) bad = fail("not UTF-8 in column", sqlite3_column_name(stmt, c));
        }
    if (rc != SQLITE_DONE && !bad) {
        const char *message = sqlite3_errmsg(db);
        told->n_errors++;
        if (getenv("VERBOSE")) fprintf(stderr, "error: %s\n", message);
        if (rc != SQLITE_ERROR || !strstr(message, source)) bad = fail("error", message);
    }
    sqlite3_reset(stmt);
    return bad;
}

static void write_file(const char *name, const void *bytes, size_t n)
{
    char path[1000];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(bytes, 1, n, f) != n || fclose(f)) exit(2);
}

/* Makes the mutant of a seed in folder and reads it; the exit status of its process. */
static int be_mutant(uint64_t seed)
{
    state = seed * 0x2545f4914f6cdd1du;
    int of = (int)below((size_t)n_folders), n_hosts = 0;
    for (int i = 0; i < n_files; i++) n_hosts += files[i].folder == of;
    int changed = (int)below((size_t)n_hosts);
    for (int i = 0, host = 0; i < n_files; i++) {
        if (files[i].folder != of) continue;
        size_t n = files[i].n;
        const uint8_t *bytes = host++ == changed || one_in(2) ? mutate(&files[i], &n) : files[i].bytes;
        write_file(files[i].name, bytes, n);
    }
    const char *source = folder;
    if (one_in(4)) {
        sqlite3_bind_text(attach, 1, folder, -1, SQLITE_STATIC);
        if (sqlite3_step(attach) == SQLITE_ROW) source = "by host";
        sqlite3_reset(attach);
    }
    int bad = 0;
    for (int i = 0; i < n_statements && !bad; i++) {
        told->statement = i;
        bad = read_one(statements[i], source);
    }
    for (int i = 0; i < n_statements; i++) sqlite3_finalize(statements[i]);
    sqlite3_finalize(attach);
    if (sqlite3_close(db) && !bad) bad = fail("close", sqlite3_errmsg(db));
    return bad;
}

/* ---- one after the other ---- */

static void load_folder(const char *path)
{
    DIR *dir = opendir(path);
    if (!dir) {
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
        exit(2);
    }
    int before = n_files;
    for (struct dirent *entry; (entry = readdir(dir)) && n_files < MOST_FILES;) {
        char full[1000];
        struct stat st;
        snprintf(full, sizeof full, "%s/%s", path, entry->d_name);
        File *file = &files[n_files];
        FILE *in = strstr(entry->d_name, ".xplane.pb") ? fopen(full, "rb") : NULL;
        if (!in) continue;
        if (!fstat(fileno(in), &st) && (file->bytes = malloc((size_t)st.st_size + 1))) {
            file->n = fread(file->bytes, 1, (size_t)st.st_size, in), file->folder = n_folders;
            snprintf(file->name, sizeof file->name, "%s", entry->d_name);
            n_files++;
        }
        fclose(in);
    }
    closedir(dir);
    n_folders += n_files > before;
}

static int by_name(const void *a, const void *b)
{
    const File *x = a, *y = b;
    return x->folder != y->folder ? x->folder - y->folder : strcmp(x->name, y->name);
}

static void empty_folder(void)
{
    DIR *dir = opendir(folder);
    char path[1000];
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        unlink(path);
    }
    if (dir) closedir(dir);
}

/* What the mutant's process wrote, from the first line that tells of an error. */
static void print_log(int log)
{
    static char text[8000];
    ssize_t n = pread(log, text, sizeof text - 1, 0);
    text[n > 0 ? n : 0] = 0;
    char *from = strstr(text, "rror");
    while (from && from > text && from[-1] != 10) from--;
    for (char *line = strtok(from ? from : text, "\n"); line; line = strtok(NULL, "\n")) printf("#   %s\n", line);
}

static bool run_mutant(uint64_t seed, int log)
{
    memset((void *)told, 0, sizeof *told);
    if (ftruncate(log, 0) || lseek(log, 0, SEEK_SET)) exit(2);
    fflush(stdout);
    pid_t pid = fork();
    if (pid < 0) exit(2);
    if (!pid) {
        struct rlimit limit = {MOST_SECONDS, MOST_SECONDS + 1};
        setrlimit(RLIMIT_CPU, &limit);
        alarm(MOST_SECONDS * 10);
        dup2(log, 1), dup2(log, 2);
        exit(be_mutant(seed));
    }
    int status;
    struct rusage use;
    while (wait4(pid, &status, 0, &use) < 0)
        if (errno != EINTR) exit(2);
    long mib = use.ru_maxrss / 1024;
    double seconds = (double)use.ru_utime.tv_sec + (double)use.ru_utime.tv_usec / 1e6;
    if (getenv("VERBOSE")) {
        printf("# seed %llu: %.1f s, %ld MiB, %d errors\n", (unsigned long long)seed, seconds, mib, told->n_errors);
        print_log(log);
    }
    if (WIFEXITED(status) && !WEXITSTATUS(status) && mib <= MOST_MIB) return true;
    const char *sql = told->statement < n_statements ? sqlite3_sql(statements[told->statement]) : "";
    const char *table = strstr(sql, "FROM ");
    printf("not ok seed %llu: %s %d, %.1f s, %ld MiB; %s; %s\n", (unsigned long long)seed, WIFSIGNALED(status) ? "signal" : "status",
           WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status), seconds, mib, told->why, table ? table : sql);
    print_log(log);
    return false;
}

int main(int argc, char **argv)
{
    uint64_t first = 1, n = 100;
    bool keep = false;
    int option, passed = 0, failed = 0;
    while ((option = getopt(argc, argv, "n:s:k")) != -1) {
        if (option == 'n') n = strtoull(optarg, NULL, 10);
        if (option == 's') first = strtoull(optarg, NULL, 10);
        if (option == 'k') keep = true;
    }
    for (int i = optind; i < argc; i++) load_folder(argv[i]);
    if (!n_folders) return 2;
    qsort(files, (size_t)n_files, sizeof *files, by_name);
    snprintf(folder, sizeof folder, "%s/mutants.%ld", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp", (long)getpid());
    told = mmap(NULL, sizeof *told, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int log = memfd_create("log", 0);
    if (mkdir(folder, 0700) || told == MAP_FAILED || log < 0) return 2;
    prepare_all();
    for (uint64_t seed = first; seed < first + n; seed++) {
        if (run_mutant(seed, log)) {
            passed++;
        } else {
            failed++;
            if (keep) {
                char command[2000];
                snprintf(command, sizeof command, "rm -rf '%s.%llu' && cp -r '%s' '%s.%llu'", folder, (unsigned long long)seed, folder, folder,
                         (unsigned long long)seed);
                if (!system(command)) printf("# kept in %s.%llu\n", folder, (unsigned long long)seed);
            }
        }
        empty_folder();
    }
    rmdir(folder);
    for (int i = 0; i < n_statements; i++) sqlite3_finalize(statements[i]);
    sqlite3_finalize(attach);
    sqlite3_close(db);
    for (int i = 0; i < n_files; i++) free(files[i].bytes);
    close(log);
    printf("%d passed, %d failed, 0 skipped\n", passed, failed);
    return failed != 0;
}
