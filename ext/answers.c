// SPDX-License-Identifier: Apache-2.0
/* answers.c: rows of kept answers, and the questions that they answer; see answers.h.
 *
 * A row is encoded as its place (8 bytes) and its values: a byte of their type and, unless NULL, 8
 * bytes of a number, or 4 bytes of length, the bytes of a text or blob and a NUL byte. JSON is a
 * type of its own, since json_array() and others quote a text that is not marked as JSON. */
#define _GNU_SOURCE
#include "answers.h"
#include "attached.h"
SQLITE_EXTENSION_INIT3

#include "../loader/issues.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { MOST_BYTES = 8 << 20, JSON = 6, JSON_SUBTYPE = 'J' };

struct Answer {
    TextBuffer bytes;
    uint64_t n_rows, at_row;
    size_t at; /* of the next row */
    uint64_t place;
    int n_columns;
    size_t cells[]; /* where the values of the row start */
};

/* ---- rows ---- */

Answer *answer_new(int n_columns)
{
    Answer *answer = sqlite3_malloc64(sizeof *answer + (size_t)n_columns * sizeof *answer->cells);
    if (answer) *answer = (Answer){.n_columns = n_columns, .bytes.limit = MOST_BYTES};
    return answer;
}

void answer_free(Answer *answer)
{
    if (answer) text_free(&answer->bytes);
    sqlite3_free(answer);
}

static void add_value(TextBuffer *out, sqlite3_value *value)
{
    int type = sqlite3_value_type(value);
    bool is_json = type == SQLITE_TEXT && sqlite3_value_subtype(value) == JSON_SUBTYPE;
    text_add_char(out, (char)(is_json ? JSON : type));
    if (type == SQLITE_INTEGER) {
        sqlite3_int64 number = sqlite3_value_int64(value);
        text_add_bytes(out, (const char *)&number, sizeof number);
    } else if (type == SQLITE_FLOAT) {
        double number = sqlite3_value_double(value);
        text_add_bytes(out, (const char *)&number, sizeof number);
    } else if (type != SQLITE_NULL) {
        const void *text = type == SQLITE_TEXT ? (const void *)sqlite3_value_text(value)
                                               : sqlite3_value_blob(value);
        uint32_t n = (uint32_t)sqlite3_value_bytes(value);
        if (!text && n) out->no_memory = true;
        text_add_bytes(out, (const char *)&n, sizeof n);
        if (text) text_add_bytes(out, text, n);
        text_add_char(out, 0);
    }
}

bool answer_add(Answer *answer, uint64_t place, sqlite3_stmt *stmt, int first_column)
{
    size_t before = answer->bytes.n_bytes;
    text_add_bytes(&answer->bytes, (const char *)&place, sizeof place);
    for (int i = 0; i < answer->n_columns; i++)
        add_value(&answer->bytes, sqlite3_column_value(stmt, first_column + i));
    if (answer->bytes.cut || answer->bytes.no_memory) {
        answer->bytes.n_bytes = before;
        return false;
    }
    answer->n_rows++;
    return true;
}

uint64_t answer_n_rows(const Answer *answer) { return answer->n_rows; }

int answer_n_columns(const Answer *answer) { return answer->n_columns; }

const TextBuffer *answer_bytes(const Answer *answer) { return &answer->bytes; }

void answer_rewind(Answer *answer) { answer->at = 0, answer->at_row = 0; }

/* Returns the size of an encoded value; 0 if it is none. */
static size_t size_of_value(const TextBuffer *bytes, size_t at)
{
    size_t left = bytes->n_bytes - at, size = 1;
    uint32_t n;
    if (!left) return 0;
    switch (bytes->text[at]) {
    case SQLITE_NULL: break;
    case SQLITE_INTEGER:
    case SQLITE_FLOAT: size += 8; break;
    case SQLITE_TEXT:
    case JSON:
    case SQLITE_BLOB:
        if (left < 1 + sizeof n) return 0;
        memcpy(&n, bytes->text + at + 1, sizeof n);
        size += sizeof n + n + 1;
        break;
    default: return 0;
    }
    return size <= left ? size : 0;
}

bool answer_next(Answer *answer)
{
    const TextBuffer *bytes = &answer->bytes;
    if (answer->at_row == answer->n_rows) return false;
    if (bytes->n_bytes - answer->at < sizeof answer->place) return false;
    memcpy(&answer->place, bytes->text + answer->at, sizeof answer->place);
    answer->at += sizeof answer->place;
    for (int i = 0; i < answer->n_columns; i++) {
        size_t size = size_of_value(bytes, answer->at);
        if (!size) return false;
        answer->cells[i] = answer->at;
        answer->at += size;
    }
    answer->at_row++;
    return true;
}

Answer *answer_of_bytes(TextBuffer *bytes, uint64_t n_rows, int n_columns)
{
    Answer *answer = answer_new(n_columns);
    if (!answer) {
        text_free(bytes);
        return NULL;
    }
    answer->bytes = *bytes, answer->n_rows = n_rows;
    *bytes = (TextBuffer){0};
    while (answer_next(answer)) {
    }
    bool whole = answer->at_row == n_rows && answer->at == answer->bytes.n_bytes;
    answer_rewind(answer);
    if (whole) return answer;
    answer_free(answer);
    return NULL;
}

uint64_t answer_place(const Answer *answer) { return answer->place; }

void answer_result(const Answer *answer, sqlite3_context *ctx, int column)
{
    const char *cell = answer->bytes.text + answer->cells[column];
    sqlite3_int64 integer;
    double real;
    uint32_t n = 0;
    int type = (unsigned char)*cell++;
    memcpy(&n, cell, type == SQLITE_TEXT || type == JSON || type == SQLITE_BLOB ? sizeof n : 0);
    switch (type) {
    case SQLITE_INTEGER:
        memcpy(&integer, cell, sizeof integer);
        sqlite3_result_int64(ctx, integer);
        break;
    case SQLITE_FLOAT:
        memcpy(&real, cell, sizeof real);
        sqlite3_result_double(ctx, real);
        break;
    case JSON:
    case SQLITE_TEXT: sqlite3_result_text(ctx, cell + sizeof n, (int)n, SQLITE_TRANSIENT); break;
    case SQLITE_BLOB: sqlite3_result_blob(ctx, cell + sizeof n, (int)n, SQLITE_TRANSIENT); break;
    default: break;
    }
    if (type == JSON) sqlite3_result_subtype(ctx, JSON_SUBTYPE);
}

const char *answer_text(const Answer *answer, int column)
{
    const char *cell = answer->bytes.text + answer->cells[column];
    return *cell == SQLITE_TEXT ? cell + 1 + sizeof(uint32_t) : NULL;
}

sqlite3_int64 answer_integer(const Answer *answer, int column)
{
    const char *cell = answer->bytes.text + answer->cells[column];
    sqlite3_int64 number = 0;
    if (*cell == SQLITE_INTEGER) memcpy(&number, cell + 1, sizeof number);
    return number;
}

/* ---- what is asked ---- */

/* Appends which build this is: the file of the library, or of the program that it is part of. */
static bool add_build(TextBuffer *out)
{
    static const char part_of_it;
    Dl_info info;
    struct stat st;
    if (!dladdr(&part_of_it, &info) || !info.dli_fname) return false;
    const char *path = strchr(info.dli_fname, '/') ? info.dli_fname : "/proc/self/exe";
    if (stat(path, &st)) return false;
    text_add_format(out, "libprofsql %s, %lld bytes of %lld.%09ld, SQLite %s\n", PROFSQL_VERSION,
                    (long long)st.st_size, (long long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec,
                    sqlite3_libversion());
    return true;
}

/* Appends a length and the bytes, so that no two lists of texts look the same. */
static void add_text(TextBuffer *out, const char *bytes, size_t n)
{
    text_add_format(out, "%zu ", n);
    text_add_bytes(out, bytes, n);
    text_add_char(out, '\n');
}

/* False for a blob, and for a text with a NUL byte, which would end the key. */
static bool add_argument(TextBuffer *out, sqlite3_value *value)
{
    int type = value ? sqlite3_value_type(value) : SQLITE_NULL;
    if (type == SQLITE_BLOB || (type == SQLITE_TEXT && has_nul(value))) return false;
    const char *text = type == SQLITE_TEXT ? (const char *)sqlite3_value_text(value) : "";
    text_add_format(out, "%d ", type);
    if (type == SQLITE_FLOAT) text_add_format(out, "%a ", sqlite3_value_double(value));
    if (type == SQLITE_INTEGER) text_add_format(out, "%lld ", sqlite3_value_int64(value));
    if (text) add_text(out, text, strlen(text));
    return text;
}

/* Appends a file with what changes when it is written. */
static bool add_file(TextBuffer *out, const char *path)
{
    struct stat st;
    if (stat(path, &st)) return false;
    text_add_format(out, "%lld bytes of %lld.%09ld %lld.%09ld, %llu:%llu ", (long long)st.st_size,
                    (long long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec, (long long)st.st_ctim.tv_sec,
                    st.st_ctim.tv_nsec, (unsigned long long)st.st_dev,
                    (unsigned long long)st.st_ino);
    add_text(out, path, strlen(path));
    return true;
}

static bool add_files(TextBuffer *out, char *const *paths, size_t n)
{
    bool ok = true;
    text_add_format(out, "%zu files\n", n);
    for (size_t i = 0; i < n && ok; i++) ok = add_file(out, paths[i]);
    return ok;
}

/* Appends the run that a path stands for now. */
static bool add_path(TextBuffer *out, const char *path)
{
    Source source = {0};
    ProfErr err = {0};
    if (source_resolve(path, NULL, &source, &err)) return false;
    add_text(out, source.path, strlen(source.path));
    add_text(out, source.name, strlen(source.name));
    text_add_format(out, "%zu others\n", source.n_others);
    bool ok = add_files(out, source.files, source.n_files) &&
              add_files(out, source.programs, source.n_programs);
    source_free(&source);
    return ok;
}

static bool add_attached(TextBuffer *out, const NamedRun *named)
{
    if (named->streaming) return false;
    add_text(out, named->label, strlen(named->label));
    text_add_format(out, "attached, %zu others\n", named->n_others);
    return add_path(out, named_path(named));
}

/* Appends the run of a source that is a path, although an attached run may have it as its label. */
static bool add_path_only(TextBuffer *out, Prof *prof, const char *source)
{
    (void)prof;
    return source && add_path(out, source);
}

/* Appends the runs that a source names; NULL: all attached runs. */
static bool add_source(TextBuffer *out, Prof *prof, const char *source)
{
    const char *host;
    const NamedRun *named = source ? prof_attached(prof, source, &host) : NULL;
    bool ok = source || prof->n_attached;
    if (named) return add_attached(out, named);
    if (source) return add_path(out, source);
    for (int i = 0; i < prof->n_attached && ok; i++) ok = add_attached(out, &prof->attached[i]);
    return ok;
}

static bool is_given(const Question *question, int i)
{
    return question->sources >> i & 1 && question->values[i] &&
           sqlite3_value_type(question->values[i]) != SQLITE_NULL;
}

/* Calls a function with each source; with NULL if there is none. Stops when it returns false. */
static bool each_source(Prof *prof, const Question *question,
                        bool (*each)(TextBuffer *, Prof *, const char *), TextBuffer *out)
{
    bool ok = true, any = false;
    for (int i = 0; i < question->n_values && ok; i++) {
        if (!is_given(question, i)) continue;
        const char *source = (const char *)sqlite3_value_text(question->values[i]);
        any = true;
        ok = source && each(out, prof, source);
    }
    return ok && (any || each(out, prof, NULL));
}

char *answer_key(Prof *prof, const Question *question)
{
    const char *folder = getenv("PROFSQL_CACHE");
    TextBuffer key = {0};
    if (!folder || !*folder || prof->serving) return NULL;
    const char *libraries = getenv("PROFSQL_LIBRARIES"); /* loader/analysis/program/user_code.c */
    bool ok = add_build(&key);
    add_text(&key, libraries ? libraries : "", libraries ? strlen(libraries) : 0);
    add_text(&key, question->name, strlen(question->name));
    for (int i = 0; i < question->n_values && ok; i++) ok = add_argument(&key, question->values[i]);
    ok = ok && each_source(prof, question, question->by_path ? add_path_only : add_source, &key) &&
         !key.no_memory;
    char *text = ok ? sqlite3_mprintf("%s", key.text) : NULL;
    text_free(&key);
    return text;
}

bool answer_key_differs(Prof *prof, const Question *question, const char *key)
{
    char *now = answer_key(prof, question);
    bool differs = !now || strcmp(now, key);
    sqlite3_free(now);
    return differs;
}

/* ---- the runs ---- */

static bool is_whole(TextBuffer *out, Prof *prof, const char *source)
{
    (void)out;
    SourceRun *runs = NULL;
    char *message = NULL;
    int n = 0;
    bool whole = prof_open(prof, source, true, &runs, &n, &message) == SQLITE_OK;
    for (int i = 0; i < n && whole; i++) whole = !run_has_losses(runs[i].run, NULL);
    prof_release(runs, n);
    sqlite3_free(message);
    return whole;
}

void answer_keep(Prof *prof, const Question *question, const Answer *answer, const char *key)
{
    if ((answer->n_rows || !question->explained) && each_source(prof, question, is_whole, NULL) &&
        !answer_key_differs(prof, question, key))
        answer_write(answer, key);
}
