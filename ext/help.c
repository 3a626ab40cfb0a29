// SPDX-License-Identifier: Apache-2.0
/* help.c: the table prof_help, which searches the names and descriptions of everything in SQL.
 *
 *   SELECT kind, name, description FROM prof_help('MFU'); */
#include "../loader/base/nearest.h"
#include "help_words.h"
#include "prof.h"
SQLITE_EXTENSION_INIT3

#include <ctype.h>
#include <stdlib.h>

#define HELP_COLUMNS(C)                                                                            \
    C(HE_RANK, "rank", "INTEGER", NULL, "1 for the best match", "libprofsql")                      \
    C(HE_KIND, "kind", "TEXT", NULL,                                                               \
      "kind of the row: table, query, function or column; synonym: search words and the names "    \
      "that they lead to, only if no word is given; nothing: the only row if nothing matches",     \
      "libprofsql")                                                                                \
    C(HE_NAME, "name", "TEXT", NULL,                                                               \
      "name of the table, query, function or column; for a synonym, its words; for nothing, the "  \
      "word that was given",                                                                       \
      "libprofsql")                                                                                \
    C(HE_TABLE, "table_name", "TEXT", NULL,                                                        \
      "table or query that has the column; NULL for other kinds", "libprofsql")                    \
    C(HE_DESCRIPTION, "description", "TEXT", NULL,                                                 \
      "what one row of the table is, the question that the query answers, or what the function "   \
      "or column means; for a synonym, the tables, queries, functions and columns that it leads "  \
      "to; for nothing, what to do next",                                                          \
      "libprofsql")                                                                                \
    C(HE_MATCHED, "matched", "TEXT", NULL,                                                         \
      "why it is listed: name, part of the name, synonym, description, or similar to a name or "   \
      "synonym; NULL if no word is given or nothing matches",                                      \
      "libprofsql")                                                                                \
    C(HE_WORD, "word", "TEXT HIDDEN", NULL,                                                        \
      "one or more words to search for; NULL or empty lists everything except columns",            \
      "argument 1")
enum { HELP_COLUMNS(COLUMN_ENUM) };
static const Column help_columns[] = {HELP_COLUMNS(COLUMN_DOC)};

enum Kind { KIND_TABLE, KIND_QUERY, KIND_FUNCTION, KIND_COLUMN, KIND_SYNONYM, KIND_NOTHING };

/* How something matches, best first. Of similar names, those with fewer wrong letters come first.
 */
enum Match {
    MATCH_NAME,
    MATCH_PART,
    MATCH_SYNONYM,
    MATCH_COLUMN_NAME,
    MATCH_COLUMN_PART,
    MATCH_DESCRIPTION,
    MATCH_COLUMN_DESCRIPTION,
    MATCH_SIMILAR,
    MATCH_NONE = 1000
};

typedef struct {
    enum Kind kind;
    const char *name, *table, *description;
    int match;    /* enum Match of the word that matches worst */
    int target;   /* for MATCH_SYNONYM: position in its targets */
    int n_words;  /* number of words that match */
    Slice like;   /* for MATCH_SIMILAR: the name or synonym */
    size_t order; /* position in the catalog */
} Hit;

typedef struct {
    Hit *hits;
    size_t n, capacity;
} Hits;

/* The word of a list of synonyms that is most similar to a searched one. */
typedef struct {
    int match; /* MATCH_NONE: none is similar */
    Slice like;
} Near;

/* A searched word, or all of them as one phrase. */
typedef struct {
    Slice text;
    const char *targets; /* those of its list of synonyms; NULL: it is in none */
    Near *near;          /* by list of synonyms */
} Word;

enum { LONGEST_WORD = 200, MOST_WORDS = LONGEST_WORD / 2 + 1 };

typedef struct {
    Word words[MOST_WORDS], phrase;
    int n;
    Near *near; /* of all words, the phrase last */
} Words;

/* ---- words ---- */

#define BETWEEN_WORDS " \t\r\n,;?!/'\""

/* Returns the next word and moves *text to its end. n is 0 if there is none. */
static Slice next_word(const char **text)
{
    const char *start = *text + strspn(*text, BETWEEN_WORDS);
    size_t n = strcspn(start, BETWEEN_WORDS);
    *text = start + n;
    return (Slice){start, n};
}

/* Returns all words, without what surrounds them. */
static Slice phrase_of(const char *text)
{
    Slice phrase = {text + strspn(text, BETWEEN_WORDS), 0};
    phrase.n = strlen(phrase.text);
    while (phrase.n && strchr(BETWEEN_WORDS, phrase.text[phrase.n - 1])) phrase.n--;
    return phrase;
}

/* Returns the next item of a list with ", " between items. n is 0 at the end. */
static Slice next_item(const char **list)
{
    Slice item = {*list, strcspn(*list, ",")};
    *list += item.n;
    *list += strspn(*list, ", ");
    return item;
}

static bool is_same(Slice a, const char *b)
{
    return strlen(b) == a.n && begins_with_word(b, a.text, a.n);
}

/* Returns whether a word of the text starts with this one. */
static bool has_word(const char *text, Slice word)
{
    for (const char *p = text; (p = find_word(p, word.text, word.n)); p++)
        if (p == text || !isalnum((unsigned char)p[-1])) return true;
    return false;
}

/* ---- searching ---- */

/* Returns the position in the list of targets, from 1; 0 if it is not one of them. */
static int target_place(const Hit *hit, const char *targets)
{
    size_t n = hit->table ? strlen(hit->table) : 0;
    int place = 1;
    for (Slice t; (t = next_item(&targets)).n; place++) {
        if (!n && is_same(t, hit->name)) return place;
        if (n && t.n > n && !strncmp(t.text, hit->table, n) && t.text[n] == '.' &&
            is_same((Slice){t.text + n + 1, t.n - n - 1}, hit->name))
            return place;
    }
    return 0;
}

static const char *synonym_targets(Slice word)
{
    for (int i = 0; i < n_help_words; i++) {
        const char *words = help_words[i].words;
        for (Slice w; (w = next_item(&words)).n;)
            if (w.n == word.n && begins_with_word(w.text, word.text, word.n))
                return help_words[i].targets;
    }
    return NULL;
}

static int match_word(Hit *hit, const Word *searched)
{
    Slice word = searched->text;
    bool is_column = hit->kind == KIND_COLUMN;
    if (is_same(word, hit->name)) return is_column ? MATCH_COLUMN_NAME : MATCH_NAME;
    bool is_part = word.n > 1 && find_word(hit->name, word.text, word.n);
    if (is_part && !is_column) return MATCH_PART;
    hit->target = searched->targets ? target_place(hit, searched->targets) : 0;
    if (hit->target) return MATCH_SYNONYM;
    if (is_part) return MATCH_COLUMN_PART;
    if (has_word(hit->description, word))
        return is_column ? MATCH_COLUMN_DESCRIPTION : MATCH_DESCRIPTION;
    return MATCH_NONE;
}

static void try_similar(Slice word, Slice with, Near *best)
{
    char name[100];
    sqlite3_snprintf(sizeof name, name, "%.*s", (int)with.n, with.text);
    int distance = near_distance(word.text, word.n, name);
    int match = distance < 0 ? MATCH_NONE : MATCH_SIMILAR + 2 * distance;
    if (match < best->match) *best = (Near){match, with};
}

static void find_similar_synonyms(Word *word)
{
    for (int i = 0; i < n_help_words; i++) {
        const char *words = help_words[i].words;
        word->near[i] = (Near){.match = MATCH_NONE};
        for (Slice w; (w = next_item(&words)).n;) try_similar(word->text, w, &word->near[i]);
    }
}

static int match_similar(Hit *hit, const Word *word)
{
    Near best = {MATCH_NONE, hit->like};
    try_similar(word->text, slice_of_string(hit->name), &best);
    for (int i = 0; i < n_help_words; i++)
        if (word->near[i].match < best.match && target_place(hit, help_words[i].targets))
            best = word->near[i];
    hit->like = best.like;
    return best.match == MATCH_NONE ? MATCH_NONE : best.match + (hit->kind == KIND_COLUMN);
}

/* Sets how many words of the text match, and how well. One phrase of all words is better than
 * separate words. */
static void match_hit(Hit *hit, const Words *words)
{
    int (*match_of)(Hit *, const Word *) = words->near ? match_similar : match_word;
    int worst = 0;
    hit->n_words = 0;
    for (int i = 0; i < words->n; i++) {
        int match = match_of(hit, &words->words[i]);
        if (match == MATCH_NONE) continue;
        hit->n_words++;
        if (match > worst) worst = match;
    }
    int match = match_of(hit, &words->phrase);
    if (match == MATCH_NONE)
        match = worst;
    else
        hit->n_words = words->n + (words->n > 1);
    hit->match = match;
}

static int compare_hits(const void *a, const void *b)
{
    const Hit *x = a, *y = b;
    if (x->match != y->match) return ORDER(x->match, y->match);
    if (x->match == MATCH_SYNONYM && x->target != y->target) return x->target < y->target ? -1 : 1;
    if (x->kind != y->kind) return ORDER(x->kind, y->kind);
    return ORDER(x->order, y->order);
}

/* ---- the catalog ---- */

static bool add(Hits *hits, Hit hit)
{
    if (!GROW(hits->hits, hits->n, hits->capacity)) return false;
    hit.order = hits->n;
    hits->hits[hits->n++] = hit;
    return true;
}

static bool add_columns(Hits *hits, const char *table, const Column *columns, int n)
{
    bool ok = true;
    for (int i = 0; i < n && ok; i++)
        ok = add(hits, (Hit){.kind = KIND_COLUMN,
                             .name = columns[i].name,
                             .table = table,
                             .description = columns[i].description});
    return ok;
}

static bool add_all(Hits *hits, const Prof *prof)
{
    bool ok = true;
    for (int i = 0; i < n_tables_of(prof) && ok; i++) {
        const Table *t = prof_tables[i];
        ok = add(hits, (Hit){.kind = KIND_TABLE, .name = t->name, .description = t->description}) &&
             add_columns(hits, t->name, t->columns, t->n_columns);
    }
    for (int i = 0; i < n_prof_queries && ok; i++) {
        const Query *q = &prof_queries[i];
        ok = add(hits, (Hit){.kind = KIND_QUERY, .name = q->name, .description = q->question}) &&
             add_columns(hits, q->name, q->columns, q->n_columns);
    }
    for (int l = 0; l < n_prof_function_lists && ok; l++)
        for (int i = 0; i < *prof_function_lists[l].n && ok; i++) {
            const FunctionDef *f = &prof_function_lists[l].functions[i];
            bool again = i && !strcmp(f->name, f[-1].name); /* with another number of arguments */
            ok = again ||
                 add(hits,
                     (Hit){.kind = KIND_FUNCTION, .name = f->name, .description = f->description});
        }
    for (int i = 0; i < n_help_words && ok; i++)
        ok = add(hits, (Hit){.kind = KIND_SYNONYM,
                             .name = help_words[i].words,
                             .description = help_words[i].targets});
    return ok;
}

static void read_words(Words *words, const char *text)
{
    words->phrase.text = phrase_of(text);
    words->phrase.targets = synonym_targets(words->phrase.text);
    for (Slice word; (word = next_word(&text)).n;)
        words->words[words->n++] = (Word){word, synonym_targets(word), NULL};
}

static bool read_similar(Words *words)
{
    size_t n = (size_t)n_help_words;
    if (!(words->near = prof_alloc(((size_t)words->n + 1) * n * sizeof *words->near))) return false;
    for (int i = 0; i < words->n; i++) {
        words->words[i].near = words->near + (size_t)i * n;
        find_similar_synonyms(&words->words[i]);
    }
    words->phrase.near = words->near + (size_t)words->n * n;
    find_similar_synonyms(&words->phrase);
    return true;
}

/* Returns how many words match in the hit with the most. */
static int match_all(Hits *hits, const Words *words)
{
    int most = 0;
    for (size_t i = 0; i < hits->n; i++) {
        Hit *hit = &hits->hits[i];
        if (hit->kind != KIND_SYNONYM) match_hit(hit, words);
        if (hit->n_words > most) most = hit->n_words;
    }
    return most;
}

/* Keeps the hits with the most matching words; without any word, those of all kinds except columns.
 * Returns false if memory runs out. */
static bool search(Hits *hits, const char *text)
{
    Words words = {.n = 0};
    bool ok = true;
    read_words(&words, text);
    int most = words.n ? match_all(hits, &words) : 0;
    if (words.n && !most && (ok = read_similar(&words))) most = match_all(hits, &words);
    prof_free(words.near);
    size_t n = 0;
    for (size_t i = 0; i < hits->n; i++)
        if (words.n ? most && hits->hits[i].n_words == most : hits->hits[i].kind != KIND_COLUMN)
            hits->hits[n++] = hits->hits[i];
    hits->n = n;
    if (n) qsort(hits->hits, n, sizeof *hits->hits, compare_hits);
    return ok;
}

/* ---- the table ---- */

static void help_list(RowCursor *c, RowList *list)
{
    Hits *hits = c->state;
    const char *word = row_source(c) ? row_source(c) : "";
    if (strlen(word) > LONGEST_WORD) {
        prof_fail(&c->err, PROF_LIMIT, 0, "prof_help: the word is longer than %d bytes",
                  LONGEST_WORD);
        return;
    }
    bool ok = add_all(hits, row_prof(c));
    ok = ok && search(hits, word);
    if (ok && !hits->n)
        ok = add(hits, (Hit){.kind = KIND_NOTHING,
                             .name = word,
                             .description = "no name, description or synonym matches the word; "
                                            "SELECT * FROM prof_help lists all"});
    if (!ok) prof_nomem(&c->err);
    *list = ROW_LIST(hits->hits, hits->n);
}

static void help_close(void *state) { prof_free(((Hits *)state)->hits); }

static void help_matched(sqlite3_context *ctx, const Hit *hit)
{
    static const char *const why[] = {[MATCH_NAME] = "name",
                                      [MATCH_PART] = "part of the name",
                                      [MATCH_SYNONYM] = "synonym",
                                      [MATCH_COLUMN_NAME] = "name",
                                      [MATCH_COLUMN_PART] = "part of the name",
                                      [MATCH_DESCRIPTION] = "description",
                                      [MATCH_COLUMN_DESCRIPTION] = "description"};
    if (!hit->n_words) return;
    if (hit->match < MATCH_SIMILAR)
        result_static(ctx, why[hit->match]);
    else
        result_owned(ctx, sqlite3_mprintf("similar to %.*s", (int)hit->like.n, hit->like.text));
}

static void help_column(RowCursor *c, sqlite3_context *ctx, int column)
{
    static const char *const kinds[] = {"table",  "query",   "function",
                                        "column", "synonym", "nothing"};
    const Hit *hit = c->row;
    switch (column) {
    case HE_RANK: sqlite3_result_int64(ctx, (sqlite3_int64)c->at_row + 1); break;
    case HE_KIND: result_static(ctx, kinds[hit->kind]); break;
    case HE_NAME: sqlite3_result_text(ctx, hit->name, -1, SQLITE_TRANSIENT); break;
    case HE_TABLE: result_static(ctx, hit->table); break;
    case HE_DESCRIPTION: result_static(ctx, hit->description); break;
    case HE_MATCHED: help_matched(ctx, hit); break;
    default: break;
    }
}

static const RowSource help_rows = {.list = help_list,
                                    .state_bytes = sizeof(Hits),
                                    .close = help_close,
                                    .column = help_column,
                                    .without_source = true};
const Table prof_help_table = {"prof_help",
                               "one table, query, function or column that matches a word, best "
                               "match first; without a word, all except columns",
                               help_columns,
                               COUNT(help_columns),
                               &row_table_module,
                               &help_rows,
                               50,
                               "0.1.0",
                               "SELECT kind, name, description FROM prof_help('MFU')"};
