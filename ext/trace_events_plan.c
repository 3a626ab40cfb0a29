// SPDX-License-Identifier: Apache-2.0
/* trace_events_plan.c: decides which parts of a query on trace_events are pushed down.
 *
 * idxStr: two characters for each term, the column's letter and = < or >; s* for all sources of an
 * IN
 * (...). SQLite checks every term again, so a bound may be wider than the term. With PLAN_UNITS,
 * then a | and two characters for each key, the column's letter and + or -. */
#include "../loader/base/sort.h"
#include "trace_events.h"
SQLITE_EXTENSION_INIT3

#include <math.h>

enum Pushed { NOT_PUSHED, TEXT_IS, RANGE };
enum Level {
    OF_EVENT,
    OF_LINE,
    OF_GROUP
}; /* what has only one value of the column: OF_LINE a line, OF_GROUP a LineGroup */

/* The columns that plans use. */
static const struct {
    int column;
    char letter;
    enum Pushed pushed;
    enum Level level;
    size_t field;  /* offset in EventsCursor: char * or Range */
    bool equality; /* for a RANGE: only equality is pushed down */
    size_t values; /* offset in Counts: number of different values of the column */
    double
        /* an equality leaves 1 / values of all rows, times this; 0: it leaves all */
        each;
} known[] = {
    {EV_SOURCE, 's', NOT_PUSHED, OF_LINE, 0, false, 0, 0}, /* an argument */
    {EV_RUN, 'r', TEXT_IS, OF_LINE, offsetof(EventsCursor, run_is), false, offsetof(Counts, runs),
     1},
    {EV_HOST, 'h', TEXT_IS, OF_LINE, offsetof(EventsCursor, host_is), false,
     offsetof(Counts, hosts), 1},
    {EV_PLANE, 'p', TEXT_IS, OF_LINE, offsetof(EventsCursor, plane_is), false,
     offsetof(Counts, planes), 1},
    {EV_LINE, 'l', TEXT_IS, OF_LINE, offsetof(EventsCursor, line_is), false,
     offsetof(Counts, lines), 1},
    {EV_NAME, 'n', TEXT_IS, OF_GROUP, offsetof(EventsCursor, name_is), false,
     offsetof(Counts, metadata), 1},
    {EV_PLANE_ID, 'P', RANGE, OF_LINE, offsetof(EventsCursor, plane_id), false,
     offsetof(Counts, planes), 1},
    {EV_LINE_ID, 'L', RANGE, OF_LINE, offsetof(EventsCursor, line_id), false,
     offsetof(Counts, lines), 1},
    {EV_ID, 'E', RANGE, OF_EVENT, offsetof(EventsCursor, event_id), false, offsetof(Counts, events),
     1},
    {EV_START, 'S', RANGE, OF_EVENT, offsetof(EventsCursor, start), false, offsetof(Counts, events),
     10},
    {EV_END, 'N', RANGE, OF_EVENT, offsetof(EventsCursor, end), false, offsetof(Counts, events),
     10},
    {EV_DURATION, 'D', RANGE, OF_EVENT, offsetof(EventsCursor, duration), false,
     offsetof(Counts, metadata), 1},
    {EV_START_US, 'T', RANGE, OF_EVENT, offsetof(EventsCursor, start), false,
     offsetof(Counts, events), 10},
    {EV_DURATION_US, 'U', RANGE, OF_EVENT, offsetof(EventsCursor, duration), false,
     offsetof(Counts, metadata), 1},
    {EV_PARENT, 'A', RANGE, OF_EVENT, offsetof(EventsCursor, parent_id), true,
     offsetof(Counts, events), 10},
    {EV_CORRELATION, 'C', RANGE, OF_EVENT, offsetof(EventsCursor, correlation_id), true,
     offsetof(Counts, events), 3},
    /* The chunks that have such a value are found by the range of each; a hundredth is a guess. */
    {EV_STEP, 'Z', RANGE, OF_EVENT, offsetof(EventsCursor, step), false, offsetof(Counts, metadata),
     10},
    {EV_GROUP, 'G', RANGE, OF_EVENT, offsetof(EventsCursor, group), false,
     offsetof(Counts, metadata), 10},
    /* Events may have them themselves. Then SQLite compares them, so a lookup may read all events.
     */
    {EV_HLO_OP, 'o', TEXT_IS, OF_EVENT, offsetof(EventsCursor, hlo_op_is), false, 0, 0},
    {EV_PROGRAM, 'q', TEXT_IS, OF_EVENT, offsetof(EventsCursor, program_is), false, 0, 0},
    {EV_METADATA_ID, 'M', NOT_PUSHED, OF_GROUP, 0, false, 0, 0},
    {EV_DISPLAY_NAME, 'd', NOT_PUSHED, OF_GROUP, 0, false, 0, 0},
    /* a third of the events has one of the usual kinds */
    {EV_PLANE_KIND, 'K', TEXT_IS, OF_LINE, offsetof(EventsCursor, plane_kind_is), false,
     offsetof(Counts, runs), 0.3},
    {EV_LINE_KIND, 'k', TEXT_IS, OF_LINE, offsetof(EventsCursor, line_kind_is), false,
     offsetof(Counts, runs), 0.3},
    {EV_DERIVED, 'v', NOT_PUSHED, OF_LINE, 0, false, 0, 0},
};

static int known_column(int column)
{
    for (size_t i = 0; i < COUNT(known); i++)
        if (known[i].column == column) return (int)i;
    return -1;
}

static int known_letter(char letter)
{
    for (size_t i = 0; i < COUNT(known); i++)
        if (known[i].letter == letter) return (int)i;
    return -1;
}

/* ---- the plan ---- */

enum { MAX_TERMS = 64, MAX_KEYS = 16 };

typedef struct {
    char text[2 * MAX_TERMS + 1 + 2 * MAX_KEYS + 1]; /* idxStr */
    int n_terms;
    Counts counts;
    double rows;
    bool many_sources, one_run, one_line, one_event,
        looked_up; /* share of rows that the terms leave; looked_up: events are found without a walk
                    */
} Draft;

static char term_operator(unsigned char op)
{
    switch (op) {
    case SQLITE_INDEX_CONSTRAINT_EQ: return '=';
    case SQLITE_INDEX_CONSTRAINT_GT:
    case SQLITE_INDEX_CONSTRAINT_GE: return '>';
    case SQLITE_INDEX_CONSTRAINT_LT:
    case SQLITE_INDEX_CONSTRAINT_LE: return '<';
    default: return 0;
    }
}

/* Returns whether a term is a literal. Only then a source is known to be one run: a parameter may
 * be NULL, which means all attached runs. */
static bool is_literal(sqlite3_index_info *info, int term)
{
    sqlite3_value *value = NULL;
    return sqlite3_vtab_rhs_value(info, term, &value) == SQLITE_OK && value &&
           sqlite3_value_type(value) != SQLITE_NULL;
}

/* Returns the share of rows that an equality leaves. */
static double share_of(int k, const Counts *counts)
{
    double values;
    memcpy(&values, (const char *)counts + known[k].values, sizeof values);
    double share = known[k].each / (values > 1 ? values : 1);
    return known[k].each == 0 || share > 1 ? 1 : share;
}

static void add_term(Draft *draft, sqlite3_index_info *info, int term, char letter, char op,
                     bool omit)
{
    draft->text[2 * draft->n_terms] = letter, draft->text[2 * draft->n_terms + 1] = op;
    info->aConstraintUsage[term].argvIndex = ++draft->n_terms;
    info->aConstraintUsage[term].omit = omit;
}

static void add_source(Draft *draft, sqlite3_index_info *info, int term)
{
    bool list = sqlite3_vtab_in(info, term, 1);
    draft->one_run = !list && is_literal(info, term);
    draft->many_sources = list; /* several paths may have runs of the same name */
    add_term(draft, info, term, 's', list ? '*' : '=', true);
}

/* Finds the terms that can be pushed down. */
static void plan_terms(sqlite3_index_info *info, Draft *draft)
{
    for (int i = 0; i < info->nConstraint && draft->n_terms < MAX_TERMS; i++) {
        const struct sqlite3_index_constraint *c = &info->aConstraint[i];
        char op = term_operator(c->op);
        int k = op ? known_column(c->iColumn) : -1;
        if (k < 0 || known[k].pushed == NOT_PUSHED || !c->usable) continue;
        if (op != '=' && (known[k].pushed == TEXT_IS || known[k].equality)) continue;
        if (known[k].pushed == TEXT_IS &&
            sqlite3_stricmp(sqlite3_vtab_collation(info, i), "BINARY"))
            continue;
        if (op == '=') {
            draft->one_run |= c->iColumn == EV_RUN && !draft->many_sources;
            draft->one_line |= c->iColumn == EV_LINE_ID;
            draft->one_event |= c->iColumn == EV_ID;
            draft->looked_up |= c->iColumn == EV_ID || known[k].equality;
            draft->rows *= share_of(k, &draft->counts);
        } else {
            draft->rows *= c->iColumn == EV_ID ? 0.3 : 0.4;
        }
        add_term(draft, info, i, known[k].letter, op, false);
    }
}

/* Returns whether the wanted order is file order or, with *by_start, each line by start. */
static bool in_file_order(const sqlite3_index_info *info, const Draft *draft, bool *by_start)
{
    bool one_line = draft->one_line;
    *by_start = false;
    for (int i = 0; i < info->nOrderBy; i++) {
        const struct sqlite3_index_orderby *by = &info->aOrderBy[i];
        if (by->iColumn == EV_RUN) continue; /* there is only one */
        if (by->desc) return false;
        if (by->iColumn == EV_ID) return true; /* nothing is left to sort */
        if (by->iColumn == EV_START && one_line && !*by_start && !draft->looked_up) {
            *by_start = true;
        } else if (*by_start || (by->iColumn != EV_PLANE_ID && by->iColumn != EV_LINE_ID)) {
            return false;
        }
        one_line |= by->iColumn == EV_LINE_ID;
    }
    return true;
}

/* Returns whether all wanted columns have one value for each unit. Then adds their keys to the
 * text, and sets *groups to which units they are of. */
static bool by_units(const sqlite3_index_info *info, Draft *draft, bool *groups)
{
    char *key = draft->text + 2 * draft->n_terms;
    *groups = false;
    if (draft->looked_up || info->nOrderBy > MAX_KEYS) return false;
    for (int i = 0; i < info->nOrderBy; i++) {
        int k = known_column(info->aOrderBy[i].iColumn);
        if (k < 0 || known[k].level == OF_EVENT) return false;
        *groups |= known[k].level == OF_GROUP;
    }
    *key++ = '|';
    for (int i = 0; i < info->nOrderBy; i++) {
        *key++ = known[known_column(info->aOrderBy[i].iColumn)].letter;
        *key++ = info->aOrderBy[i].desc ? '-' : '+';
    }
    return true;
}

/* Returns whether the events of a unit are equal in all columns that the query reads. */
static bool reads_only_units(const sqlite3_index_info *info, bool groups)
{
    for (int column = 0; column < N_EVENTS_COLUMNS; column++) {
        int k = known_column(column);
        bool of_unit =
            k >= 0 && (known[k].level == OF_LINE || (groups && known[k].level == OF_GROUP));
        if (!of_unit && info->colUsed >> column & 1) return false;
    }
    return true;
}

int events_plan(sqlite3_vtab *vtab, sqlite3_index_info *info, bool in_order)
{
    static const Counts typical = {
        .runs = 2, .hosts = 2, .planes = 10, .lines = 33, .metadata = 1000, .events = 1e6};
    Draft draft = {.counts = typical};
    ArgumentTerms arguments;
    if (!prof_plan_arguments(info, EV_SOURCE, 1, &arguments)) return SQLITE_CONSTRAINT;
    bool missing = arguments.missing >= 0, by_start = false, groups = false;
    if (missing || !prof_counts(((ProfTable *)vtab)->prof, info, arguments.term[0], &draft.counts))
        draft.counts = typical;
    draft.rows = draft.counts.events;
    if (arguments.term[0] >= 0) add_source(&draft, info, arguments.term[0]);
    plan_terms(info, &draft);
    info->idxNum = 0;
    if (in_order && info->nOrderBy && draft.one_run && in_file_order(info, &draft, &by_start)) {
        info->orderByConsumed = 1;
        info->idxNum = PLAN_FILE_ORDER | (by_start ? PLAN_BY_START : 0);
    } else if (in_order && info->nOrderBy && by_units(info, &draft, &groups)) {
        info->orderByConsumed = 1;
        info->idxNum = PLAN_UNITS | (groups ? PLAN_GROUPS : 0);
    }
    if (info->orderByConsumed && sqlite3_vtab_distinct(info)) info->idxNum |= PLAN_COMPARED;
    if (info->orderByConsumed && sqlite3_vtab_distinct(info) >= 2 && reads_only_units(info, groups))
        info->idxNum |= PLAN_ONE;
    if (missing) info->idxNum |= PLAN_MISSING;
    if (arguments.twice) info->idxNum |= PLAN_TWICE;
    info->idxStr = sqlite3_mprintf("%s", draft.text);
    if (!info->idxStr) return SQLITE_NOMEM;
    info->needToFreeIdxStr = 1;
    if (draft.rows < 1) draft.rows = 1;
    if (draft.one_event && draft.one_run)
        info->idxFlags |= SQLITE_INDEX_SCAN_UNIQUE, draft.rows = 1;
    info->estimatedRows = (sqlite3_int64)draft.rows;
    info->estimatedCost = draft.rows * 2 + 20;
    /* A part of an OR is first planned without the source next to it. If that part looks events up,
     * its cost stays low. */
    if (missing && !draft.looked_up) info->estimatedCost = COST_OF_MISSING;
    return SQLITE_OK;
}

int events_best_index(sqlite3_vtab *vtab, sqlite3_index_info *info)
{
    return events_plan(vtab, info, true);
}

/* ---- terms ---- */

/* Narrows a range by a term. If the bound is not a number, SQLite checks it. A bound in us is
 * converted to ps, widened by more than both rounding errors. */
static void narrow(Range *r, char op, sqlite3_value *value, bool in_us)
{
    int64_t low, high;
    int type = sqlite3_value_type(value);
    if (type == SQLITE_INTEGER && !in_us) {
        low = high = sqlite3_value_int64(value);
    } else if (type == SQLITE_INTEGER || type == SQLITE_FLOAT) {
        double x = sqlite3_value_double(value) * (in_us ? 1e6 : 1),
               slack = in_us ? fabs(x) / 1e12 : 0;
        if (!(x > -9e18 && x < 9e18)) return;
        low = (int64_t)(x - slack) - 1, high = (int64_t)(x + slack) + 1;
    } else {
        return;
    }
    if (op != '<' && low > r->low) r->low = low;
    if (op != '>' && high < r->high) r->high = high;
}

int events_read_terms(EventsCursor *c, const char *plan, int argc, sqlite3_value **argv,
                      const char **keys)
{
    static const Range all = {INT64_MIN, INT64_MAX};
    for (size_t k = 0; k < COUNT(known); k++)
        if (known[k].pushed == RANGE) memcpy((char *)c + known[k].field, &all, sizeof all);
    *keys = plan + 2 * argc + (plan[2 * argc] == '|');
    bool nothing = false;
    for (int i = 0; i < argc; i++) {
        int k = known_letter(plan[2 * i]), type = sqlite3_value_type(argv[i]);
        if (known[k].column == EV_SOURCE) {
            bool list = plan[2 * i + 1] == '*';
            if (type == SQLITE_NULL && !list && c->plan & PLAN_TWICE)
                return prof_null_in_or(c->base.pVtab);
            int rc = source_names_read(&c->asked, c->base.pVtab, argv[i], list);
            if (rc != SQLITE_OK) return rc;
            continue;
        }
        nothing |= type == SQLITE_NULL;
        if (known[k].pushed == RANGE) {
            narrow((Range *)((char *)c + known[k].field), plan[2 * i + 1], argv[i],
                   known[k].column == EV_START_US || known[k].column == EV_DURATION_US);
            continue;
        }
        char **text = (char **)((char *)c + known[k].field);
        if (*text || type != SQLITE_TEXT) continue;
        const char *s = (const char *)sqlite3_value_text(argv[i]);
        if (s && strlen(s) != (size_t)sqlite3_value_bytes(argv[i]))
            continue; /* contains NUL bytes: SQLite compares it */
        if (!s || !(*text = sqlite3_mprintf("%s", s))) return SQLITE_NOMEM;
    }
    c->narrow = events_match_metas(c) || !is_all(c->event_id) || !is_all(c->start) ||
                !is_all(c->end) || !is_all(c->duration) || !is_all(c->step) || !is_all(c->group);
    return nothing ? SQLITE_DONE : SQLITE_OK;
}

/* ---- the order of units ---- */

static int compare_numbers(int64_t a, int64_t b) { return ORDER(a, b); }

static int compare_key(const EventUnit *a, const EventUnit *b, int column)
{
    const Line *x = a->line, *y = b->line;
    const Plane *p = x->plane, *q = y->plane;
    switch (column) {
    case EV_RUN: return strcmp(a->from->label, b->from->label);
    case EV_HOST: return strcmp(p->host->name, q->host->name);
    case EV_PLANE: return text_order(p->name, q->name);
    case EV_LINE: return text_order(line_label(x), line_label(y));
    case EV_NAME:
        return text_order(p->event_metas[a->group->meta].name, q->event_metas[b->group->meta].name);
    case EV_DISPLAY_NAME:
        return text_order(p->event_metas[a->group->meta].display_name,
                          q->event_metas[b->group->meta].display_name);
    case EV_METADATA_ID: return compare_numbers(a->group->id, b->group->id);
    case EV_PLANE_ID: return compare_numbers(p->plane_id, q->plane_id);
    case EV_LINE_ID: return compare_numbers(x->line_id, y->line_id);
    case EV_PLANE_KIND: return strcmp(plane_kind_names[p->kind], plane_kind_names[q->kind]);
    case EV_LINE_KIND: return strcmp(line_kind_names[x->kind], line_kind_names[y->kind]);
    case EV_DERIVED: return compare_numbers(x->derived, y->derived);
    case EV_SOURCE:
        return a->from->source && b->from->source ? strcmp(a->from->source, b->from->source)
                                                  : 0; /* all are NULL or none is */
    default: return 0;
    }
}

typedef struct {
    SourceRun *sources;
    const char *keys;
} UnitOrder;

static int compare_units(const void *a, const void *b, void *context)
{
    const UnitOrder *by = context;
    EventUnit x = unit_of(by->sources, a), y = unit_of(by->sources, b);
    for (const char *key = by->keys; *key; key += 2) {
        int c = compare_key(&x, &y, known[known_letter(key[0])].column);
        if (c) return key[1] == '-' ? -c : c;
    }
    if (x.from != y.from) return ORDER(x.from, y.from);
    if (x.line != y.line) return compare_numbers(x.line->line_id, y.line->line_id);
    return x.group && y.group ? compare_numbers(x.group->end, y.group->end) : 0;
}

void units_sort(KeptUnit *units, size_t n, SourceRun *sources, const char *keys)
{
    sort_in_place_by(units, n, sizeof *units, compare_units, &(UnitOrder){sources, keys});
}
