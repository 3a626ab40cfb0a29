// SPDX-License-Identifier: Apache-2.0
/* page.c: writes the page; see report.h. */
#define _GNU_SOURCE
#include "page.h"

#include "../../loader/chart/svg.h"
#include "../new_file.h"
#include "files.h"
#include "report.h"
#include "report/script_hash.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* ---- queries ---- */

static const char *sql_of(const Figure *f) { return f->chart ? f->chart->sql : f->sql; }
static const char *title_of(const Figure *f) { return f->chart ? f->chart->title : f->title; }

/* Reads the rows of a figure for one of the runs, at most `n`. */
static bool read_rows(Page *page, const Figure *figure, int run, int n, ChartRows *rows)
{
    *rows = (ChartRows){0};
    sqlite3_stmt *stmt = ask(page->d, sql_of(figure), page->d->runs[run].label, NULL);
    if (!stmt) return false;
    if (sqlite3_bind_parameter_count(stmt) > 1) sqlite3_bind_int(stmt, 2, n);
    int rc = chart_rows_read(stmt, rows);
    if (rc != SQLITE_OK) complain_of_query(page->d);
    sqlite3_finalize(stmt);
    return rc == SQLITE_OK;
}

bool figure_rows_read(Page *page, const Figure *figure, FigureRows *rows)
{
    *rows = (FigureRows){0};
    bool ok = read_rows(page, figure, 0, figure->rows, &rows->shown);
    if (page->n_runs < 2) return ok;
    if (figure->shape == SHAPE_TABLE) ok = ok && read_rows(page, figure, 0, ALL_ROWS, &rows->all);
    return ok && read_rows(page, figure, 1, ALL_ROWS, &rows->base);
}

void figure_rows_free(FigureRows *rows)
{
    chart_rows_free(&rows->shown);
    chart_rows_free(&rows->all);
    chart_rows_free(&rows->base);
}

/* Writes where the numbers of the baseline come from. */
static void write_base_sql(Page *page, const Figure *f)
{
    char *base = sqlite3_mprintf("%Q", page->d->runs[1].given);
    fputs("<p>Baseline: the same SQL with ", page->out);
    html_text(page->out, base ? base : "?1");
    fputs(".", page->out);
    if (strstr(sql_of(f), "?2"))
        fprintf(page->out,
                " Rows that are not among the first %d of their run: with %d instead of %d.",
                f->rows, ALL_ROWS, f->rows);
    fputs("</p>", page->out);
    sqlite3_free(base);
}

void html_sql(Page *page, const Figure *f)
{
    char *run = sqlite3_mprintf("%Q", page->d->runs[0].given);
    fputs("<details class=sql><summary>SQL</summary><pre>", page->out);
    for (const char *p = sql_of(f); *p; p++) {
        if (p[0] == '?' && p[1] == '1') {
            html_text(page->out, run ? run : "?1");
            p++;
        } else if (p[0] == '?' && p[1] == '2') {
            fprintf(page->out, "%d", f->rows);
            p++;
        } else if (!strncmp(p, "temp.", 5)) {
            p += 4;
        } else {
            html_text_n(page->out, p, 1);
        }
    }
    fputs("</pre>", page->out);
    if (page->n_runs > 1) write_base_sql(page, f);
    fputs("</details>\n", page->out);
    sqlite3_free(run);
}

void html_query(Page *page, int run, const char *query)
{
    char *label = sqlite3_mprintf("%Q", page->d->runs[run].label);
    char *given = sqlite3_mprintf("%Q", page->d->runs[run].given);
    size_t n = label ? strlen(label) : 0;
    fputs("<details class=sql><summary>Query</summary><pre>", page->out);
    for (const char *at; given && n && (at = strstr(query, label)); query = at + n) {
        html_text_n(page->out, query, (size_t)(at - query));
        html_text(page->out, given);
    }
    html_text(page->out, query);
    fputs("</pre></details>\n", page->out);
    sqlite3_free(label);
    sqlite3_free(given);
}

/* Returns why a run has no such figure: the reason in prof_issues if its table has no rows. */
static const char *reason_of(Page *page, int run, const Figure *f)
{
    const char *reason = f->none;
    sqlite3_stmt *stmt = ask(page->d,
                             "SELECT message FROM prof_issues(?1) WHERE code = 'nothing_to_show' "
                             "AND message LIKE ?2 || ' %' LIMIT 1",
                             page->d->runs[run].label, f->table, NULL);
    if (next_row(page->d, stmt)) reason = column_text(stmt, 0);
    sqlite3_finalize(stmt);
    return reason ? reason : keep_text("%s has no rows for this figure", f->table);
}

/* ---- figures ---- */

static bool draw_chart(Page *page, const Figure *f, const ChartData *data, double most,
                       const char *title)
{
    TextBuffer svg = {0};
    ChartOptions options = {.title = title, .most = most};
    bool any = f->chart->draw(data, &options, &svg) && !svg.no_memory;
    if (any) {
        fputs("<div class=wide tabindex=0 role=region aria-label=\"", page->out);
        html_text(page->out, title);
        fputs("\">", page->out);
        fwrite(svg.text, 1, svg.n_bytes, page->out);
        fputs("</div>\n", page->out);
    }
    text_free(&svg);
    return any;
}

static void write_chart_rows(Page *page, const ChartData *data, const char *summary,
                             const char *title)
{
    enum { MOST = 300 };
    ChartData part = *data;
    if (part.n_rows > MOST) part.n_rows = MOST;
    fprintf(page->out, "<details><summary>%s</summary>\n", summary);
    html_rows(page, &(Figure){.title = title}, &part);
    if (part.n_rows < data->n_rows)
        fprintf(page->out, "<p class=soft>The first %d of %zu rows.</p>", MOST, data->n_rows);
    fputs("</details>\n", page->out);
}

static bool has_shape(const Figure *f, const ChartData *data)
{
    TextBuffer svg = {0};
    ChartOptions options = {.title = ""};
    bool known = false;
    for (size_t i = 0; i < data->n_rows * data->n_columns; i++)
        known |= data->cells[i].text != NULL;
    if (!known || f->shape != SHAPE_CHART) return known;
    bool any = f->chart->draw(data, &options, &svg);
    text_free(&svg);
    return any;
}

/* Writes that one of the runs has no such figure, and the reason. */
static void write_absent(Page *page, int run, const Figure *f)
{
    fputs(run ? "<p class=soft>None in the baseline: " : "<p class=soft>None in this run: ",
          page->out);
    html_text(page->out, reason_of(page, run, f));
    fputs("</p>\n", page->out);
}

/* Writes a chart. Both runs get the same axis. */
static void write_chart(Page *page, const Figure *f, const FigureRows *rows)
{
    const ChartData *data = &rows->shown.data, *base = &rows->base.data;
    const char *base_title = keep_text("%s, baseline", title_of(f));
    double most = f->chart->most ? f->chart->most(data) : 0;
    if (page->n_runs > 1 && f->chart->most) most = fmax(most, f->chart->most(base));
    fputs("<figure><figcaption>", page->out);
    html_text(page->out, title_of(f));
    fputs("</figcaption>\n", page->out);
    if (!draw_chart(page, f, data, most, title_of(f))) write_absent(page, 0, f);
    if (page->n_runs > 1) {
        fputs("<figcaption>Baseline</figcaption>\n", page->out);
        if (!draw_chart(page, f, base, most, base_title)) write_absent(page, 1, f);
    }
    fputs("<div class=more>", page->out);
    if (data->n_rows) write_chart_rows(page, data, "Data", title_of(f));
    html_sql(page, f);
    if (base->n_rows) write_chart_rows(page, base, "Data of the baseline", base_title);
    fputs("</div></figure>\n", page->out);
}

/* Returns whether a column with this in its name has a number above `most`. */
static bool is_above(const ChartData *data, const char *name, double most)
{
    for (size_t i = 0; i < data->n_rows * data->n_columns; i++)
        if (data->cells[i].number > most && strstr(data->columns[i % data->n_columns], name))
            return true;
    return false;
}

/* Writes what is below a figure of rows: the remark on its limit, and the SQL. */
static void write_below(Page *page, const Figure *f, const FigureRows *rows)
{
    if (f->limit && (is_above(&rows->shown.data, f->limit, 100.05) ||
                     is_above(&rows->base.data, f->limit, 100.05)))
        fprintf(page->out, "<p class=soft>%s</p>\n", f->above_limit);
    html_sql(page, f);
}

static void write_table(Page *page, const Figure *f, const FigureRows *rows)
{
    fputs("<figure><figcaption>", page->out);
    html_text(page->out, f->title);
    fputs("</figcaption>\n", page->out);
    if (!has_shape(f, &rows->shown.data)) write_absent(page, 0, f);
    if (page->n_runs > 1 && !has_shape(f, &rows->base.data)) write_absent(page, 1, f);
    html_table(page, f, rows);
    write_below(page, f, rows);
    fputs("</figure>\n", page->out);
}

static void write_figure(Page *page, const Figure *f, const FigureRows *rows)
{
    switch (f->shape) {
    case SHAPE_CHART: write_chart(page, f, rows); return;
    case SHAPE_TABLE: write_table(page, f, rows); return;
    case SHAPE_CARDS: html_cards(page, rows); break;
    case SHAPE_ADVICE: html_advice(page, f, rows); break;
    }
    write_below(page, f, rows);
}

/* Notes that a figure is not drawn. */
static void miss(Page *page, const char *section, const Figure *f)
{
    page->missing =
        keep_text("%s\1%s: %s\2%s", page->missing, section, title_of(f), reason_of(page, 0, f));
}

/* Writes a section: the figures that one of the runs has. Returns whether there is one. */
static bool write_section(Page *page, const Section *s)
{
    FigureRows answers[MAX_FIGURES] = {0};
    bool shown[MAX_FIGURES] = {0};
    int n_shown = 0, n = 0;
    for (; n < MAX_FIGURES && (s->figures[n].sql || s->figures[n].chart); n++) {
        const Figure *f = &s->figures[n];
        if (!figure_rows_read(page, f, &answers[n])) page->failed = true;
        shown[n] = has_shape(f, &answers[n].shown.data) || has_shape(f, &answers[n].base.data);
        n_shown += shown[n];
        if (!shown[n]) miss(page, s->title, f);
    }
    if (n_shown) {
        fprintf(page->out, "<section id=%s>\n<h2>", s->id);
        html_text(page->out, s->title);
        fputs("</h2>\n", page->out);
        if (s->about) fprintf(page->out, "<p class=soft>%s</p>\n", s->about);
        for (int i = 0; i < n; i++)
            if (shown[i]) write_figure(page, &s->figures[i], &answers[i]);
        fputs("</section>\n", page->out);
    }
    for (int i = 0; i < n; i++) figure_rows_free(&answers[i]);
    return n_shown > 0;
}

/* ---- the page ---- */

/* Returns one value of a query about a run as text; "" for NULL. */
static const char *fact(Page *page, int run, const char *sql)
{
    sqlite3_stmt *stmt = ask(page->d, sql, page->d->runs[run].label, NULL);
    const char *text = next_row(page->d, stmt) ? column_text(stmt, 0) : "";
    sqlite3_finalize(stmt);
    return text;
}

static void write_what_run(Page *page, int run)
{
    char room[SVG_ROOM];
    sqlite3_stmt *stmt =
        ask(page->d,
            "SELECT printf('%s%s, %d host%s, %,d events', CASE WHEN device_count > 0 THEN "
            "device_count || ' ' ELSE '' END, coalesce(device_type, 'no device'), host_count, CASE "
            "host_count WHEN 1 THEN '' ELSE 's' END, event_count), duration_ps / 1e6, ', ' || "
            "datetime(start_unix_ns / 1000000000, 'unixepoch') || ' UTC' FROM prof_runs(?1)",
            page->d->runs[run].label, NULL);
    if (next_row(page->d, stmt)) {
        html_text(page->out, column_text(stmt, 0));
        if (sqlite3_column_type(stmt, 1) != SQLITE_NULL)
            fprintf(page->out, " in %s", svg_time(room, sqlite3_column_double(stmt, 1)));
        html_text(page->out, column_text(stmt, 2));
    }
    sqlite3_finalize(stmt);
}

static const char *const verdict =
    "WITH a AS MATERIALIZED (SELECT * FROM advice(?1)) SELECT CASE WHEN EXISTS (SELECT 1 FROM a "
    "WHERE status = 'finding') THEN (SELECT finding FROM a WHERE status = 'finding' ORDER BY rank "
    "LIMIT 1) WHEN EXISTS (SELECT 1 FROM a WHERE status <> 'not checked') THEN 'No rule of advice "
    "found a cost of 5 % of the time.' ELSE 'What costs time is unknown: no rule of advice could "
    "be checked.' END";

/* Writes the verdict, and the baseline's if it differs. */
static void write_verdict(Page *page)
{
    const char *text = fact(page, 0, verdict);
    const char *base = page->n_runs > 1 ? fact(page, 1, verdict) : text;
    fputs("<p class=verdict>", page->out);
    html_text(page->out, text);
    fputs("</p>\n", page->out);
    if (!strcmp(text, base)) return;
    fputs("<p class=soft>Baseline: ", page->out);
    html_text(page->out, base);
    fputs("</p>\n", page->out);
}

static void write_head(Page *page)
{
    FILE *out = page->out;
    const char *name = strrchr(page->d->runs[0].path, '/');
    name = name ? name + 1 : page->d->runs[0].path;
    fputs("<!doctype html>\n<html lang=en>\n<head>\n<meta charset=utf-8>\n"
          "<meta http-equiv=Content-Security-Policy content=\"default-src 'none'; style-src "
          "'unsafe-inline'; script-src 'sha256-" PAGE_JS_HASH "'; img-src data:\">\n"
          "<meta name=viewport content=\"width=device-width, initial-scale=1\">\n"
          "<meta name=generator content=profsql>\n<link rel=icon href=\"data:,\">\n<title>",
          out);
    html_text(out, name);
    fprintf(out, " - profile report</title>\n<style>\n%s%s</style>\n</head>\n<body>\n", page_css,
            chart_style);
    fputs("<header>\n<h1>", out);
    html_text(out, name);
    fputs("</h1>\n<p class=soft>", out);
    write_what_run(page, 0);
    fputs("</p>\n", out);
    if (page->n_runs > 1) {
        fputs("<p class=soft>Baseline: ", out);
        html_text(out, page->d->runs[1].path);
        fputs(", ", out);
        write_what_run(page, 1);
        fputs("</p>\n", out);
    }
    write_verdict(page);
    fputs("</header>\n", out);
}

static void write_nav(Page *page)
{
    fputs("<nav aria-label=Sections><ul>\n", page->out);
    for (const char *p = page->shown; *p; p += strcspn(p, "\n") + 1) {
        int i = atoi(p);
        fprintf(page->out, "<li><a href=\"#%s\">%s</a></li>\n",
                i < n_sections ? sections[i].id : "timeline",
                i < n_sections ? sections[i].title : "Timeline");
    }
    fputs("</ul></nav>\n<main>\n", page->out);
}

static void write_missing(Page *page)
{
    if (page->failed || !*page->missing) return;
    fputs("<section id=missing>\n<h2>Not in this file</h2>\n<ul class=missing>\n", page->out);
    for (const char *p = page->missing; *p == 1;) {
        size_t n = strcspn(p + 1, "\2");
        fputs("<li>", page->out);
        html_text_n(page->out, p + 1, n);
        p += 1 + n + 1;
        n = strcspn(p, "\1");
        fputs("<br><span class=soft>", page->out);
        html_text_n(page->out, p, n);
        fputs("</span></li>\n", page->out);
        p += n;
    }
    fputs("</ul>\n</section>\n", page->out);
}

static void write_foot(Page *page)
{
    fputs("</main>\n<footer><p>Made by profsql report. Every number is a cell of a table or query "
          "of libprofsql; the SQL is below each figure. ",
          page->out);
    html_text(page->out, page->d->runs[0].path);
    fprintf(page->out, "</p></footer>\n<script>%s</script>\n</body>\n</html>\n", page_js);
}

/* The timeline, which a thread with a connection of its own writes while the sections are written:
 * many of their answers use one processor. */
typedef struct {
    Page page;
    Database d;
    pthread_t thread;
    bool beside, ok; /* beside: there is a thread */
    char *text;
    size_t n_bytes;
} Beside;

static void *write_beside(void *context)
{
    Beside *b = context;
    b->ok = timeline_write(&b->page);
    return NULL;
}

static bool begin_timeline(const Page *page, Beside *b)
{
    *b = (Beside){.page = *page};
    if (!(b->page.out = open_memstream(&b->text, &b->n_bytes))) return false;
    if (!database_open_beside(&b->d, page->d)) return true;
    b->page.d = &b->d;
    b->beside = !pthread_create(&b->thread, NULL, write_beside, b);
    if (b->beside) return true;
    database_close_beside(&b->d);
    b->page.d = page->d;
    return true;
}

static void end_timeline(Page *page, Beside *b)
{
    if (b->beside) {
        pthread_join(b->thread, NULL);
        database_close_beside(&b->d);
    } else {
        write_beside(b);
    }
    if (fclose(b->page.out) || !b->ok || b->page.failed || b->d.failed) page->failed = true;
    if (b->n_bytes)
        page->shown = keep_text("%s%d\n", page->shown, n_sections);
    else
        miss(page, "Timeline", &timeline_events);
    fwrite(b->text, 1, b->n_bytes, page->out);
    free(b->text);
}

/* Writes the sections to memory, because the list of sections precedes them. */
static bool write_sections(Page *page)
{
    FILE *file = page->out;
    char *text = NULL;
    size_t n = 0;
    Beside timeline;
    if (!(page->out = open_memstream(&text, &n)) || !begin_timeline(page, &timeline)) {
        if (page->out) fclose(page->out);
        free(text);
        page->out = file;
        return false;
    }
    for (int i = 0; i < n_sections; i++)
        if (write_section(page, &sections[i])) page->shown = keep_text("%s%d\n", page->shown, i);
    end_timeline(page, &timeline);
    write_missing(page);
    bool ok = !fclose(page->out);
    page->out = file;
    write_nav(page);
    ok = ok && fwrite(text, 1, n, file) == n;
    free(text);
    return ok;
}

static bool write_page(Page *page)
{
    bool ok = page->n_runs < 2 || hosts_paired(page);
    write_head(page);
    ok = write_sections(page) && ok;
    write_foot(page);
    chart_rows_free(&page->hosts);
    return ok && !page->failed && !page->d->failed;
}

static bool check_name(const char *path)
{
    static const char *const others[] = {".pdf", ".png",  ".svg", ".db", ".csv",
                                         ".txt", ".json", ".md",  NULL};
    if (!new_file_has_suffix(path, others)) return true;
    complain("%s: report writes a page of HTML: name it FILE.html; a browser prints it or saves it "
             "as PDF",
             path);
    return false;
}

int report(Database *d, const char *path, bool force)
{
    NewFile file = {0};
    Page page = {.d = d, .n_runs = d->n_runs, .missing = "", .shown = ""};
    path = path ? path : "report.html";
    bool named = strcmp(path, "-") != 0;
    if (!check_name(path)) return STATUS_USAGE;
    if (named && !new_file_open(&file, path, force)) return STATUS_FAILED;
    page.out = named ? fopen(file.part, "w") : stdout;
    bool ok = page.out && write_page(&page);
    if (page.out && (ferror(page.out) || fflush(page.out))) ok = false, page.failed = false;
    if (!page.out || (!ok && !page.failed && !d->failed))
        complain("%s: cannot be written: %s", path, strerror(errno));
    if (named && page.out) fclose(page.out);
    double megabytes = named ? new_file_megabytes(&file) : 0;
    if (named) ok = new_file_close(&file, ok);
    if (ok && named) note("wrote %s: %.2f MB", path, megabytes);
    return ok ? STATUS_OK : STATUS_FAILED;
}
