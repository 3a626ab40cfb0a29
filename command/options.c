// SPDX-License-Identifier: Apache-2.0
/* options.c: parses the command line; see options.h. The parameters of all tables are options too.
 * Which of them a table has is checked when the table is known. */
#define _GNU_SOURCE
#include "options.h"

#include "nearest.h"

#include <getopt.h>
#include <string.h>
#include <strings.h>

enum {
    KEY_WHERE = 1000,
    KEY_ORDER,
    KEY_COLUMNS,
    KEY_LIMIT,
    KEY_TABLES,
    KEY_FORCE,
    KEY_FROM,
    KEY_TO,
    KEY_LINES,
    KEY_AGAINST,
    KEY_PARAMETER
};
enum { MAX_OPTIONS = 256 };

static const struct option own_options[] = {
    {"format", required_argument, NULL, 'f'},
    {"output", required_argument, NULL, 'o'},
    {"where", required_argument, NULL, KEY_WHERE},
    {"order-by", required_argument, NULL, KEY_ORDER},
    {"columns", required_argument, NULL, KEY_COLUMNS},
    {"limit", required_argument, NULL, KEY_LIMIT},
    {"tables", required_argument, NULL, KEY_TABLES},
    {"force", no_argument, NULL, KEY_FORCE},
    {"from", required_argument, NULL, KEY_FROM},
    {"to", required_argument, NULL, KEY_TO},
    {"lines", required_argument, NULL, KEY_LINES},
    {"against", required_argument, NULL, KEY_AGAINST},
    {"quiet", no_argument, NULL, 'q'},
    {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, 'V'},
};

/* The options for getopt_long(): our own, then every parameter of a table, with underscores and
 * with dashes. */
typedef struct {
    struct option list[MAX_OPTIONS + 1];
    const char *parameters[MAX_OPTIONS];
    int n, n_parameters;
} OptionList;

static void add_parameter(OptionList *options, const char *name)
{
    for (int i = 0; i < options->n_parameters; i++)
        if (!strcmp(options->parameters[i], name)) return;
    if (options->n + 2 > MAX_OPTIONS) return;
    int key = KEY_PARAMETER + options->n_parameters;
    options->parameters[options->n_parameters++] = name;
    options->list[options->n++] = (struct option){name, required_argument, NULL, key};
    if (!strchr(name, '_')) return;
    char *dashed = keep_text("%s", name);
    for (char *p = dashed; (p = strchr(p, '_'));) *p = '-';
    options->list[options->n++] = (struct option){dashed, required_argument, NULL, key};
}

static OptionList *list_options(const Catalog *catalog)
{
    OptionList *options = keep_alloc(sizeof *options);
    memcpy(options->list, own_options, sizeof own_options);
    options->n = (int)COUNT(own_options);
    for (int i = 0; i < catalog->n; i++)
        for (int k = 0; k < catalog->entries[i].n_parameters; k++)
            add_parameter(options, catalog->entries[i].parameters[k]);
    return options;
}

/* Returns the parameters of the table or query among the words; "" if there is none. */
static const char *parameters_there(const Catalog *catalog, int argc, char **argv)
{
    const Entry *entry = NULL;
    for (int i = 1; i < argc; i++)
        if (catalog_find(catalog, argv[i])) entry = catalog_find(catalog, argv[i]);
    if (!entry) return "";
    return keep_text("; the parameters of %s: %s", entry->name, entry_options(entry));
}

static bool unknown_option(const OptionList *options, const char *word, const char *parameters)
{
    const char *name = keep_text("%.*s", (int)strcspn(word, "="), word + strspn(word, "-"));
    name = keep_text("%.*s", (int)strcspn(name, "="), name);
    Nearest nearest = {.word = name};
    for (int i = 0; i < options->n; i++) nearest_try(&nearest, options->list[i].name);
    for (int i = 0; i < nearest.n; i++) nearest.names[i] = keep_text("--%s", nearest.names[i]);
    complain("%s: no such option, or short for several%s%s; profsql --help lists the options, "
             "profsql tables NAME the parameters of a table; columns are compared in --where",
             word, nearest_text(&nearest), parameters);
    return false;
}

static const struct {
    const char *name, *suffix;
} formats[] = {
    [FORMAT_TABLE] = {"table", ".txt"},      [FORMAT_CSV] = {"csv", ".csv"},
    [FORMAT_JSON] = {"json", ".json"},       [FORMAT_JSONL] = {"jsonl", ".jsonl"},
    [FORMAT_MARKDOWN] = {"markdown", ".md"},
};

/* Sets the format. Formats of traces are only for `export`. */
static bool set_format(Options *options, const char *name)
{
    static const char *const traces[] = {"perfetto", "chrome"};
    for (size_t i = 0; i < COUNT(traces); i++)
        if (!strcasecmp(traces[i], name)) {
            options->used |= TAKES_TRACE;
            options->trace = traces[i];
            return true;
        }
    options->used |= TAKES_FORMAT;
    for (size_t i = 0; i < COUNT(formats); i++)
        if (!strcasecmp(formats[i].name, name)) {
            options->format = (enum Format)i;
            return true;
        }
    complain("--format cannot be '%s': it is table, csv, json, jsonl or markdown; of export, "
             "perfetto or chrome; a report is always HTML",
             name);
    return false;
}

/* Files that other commands write: the words before and after their name. */
static const struct {
    const char *suffix, *before, *after;
} other_files[] = {
    {".db", "export RUN", " writes a database"},
    {".sqlite", "export RUN", " writes a database"},
    {".html", "report RUN --output", " writes a report"},
    {".pftrace", "export RUN", " --format perfetto writes a trace"},
    {".perfetto-trace", "export RUN", " --format perfetto writes a trace"},
};

static bool format_of_output(Options *options)
{
    const char *slash = strrchr(options->output, '/'), *suffix = strrchr(options->output, '.');
    bool is_device = !strcmp(options->output, "-") || !strncmp(options->output, "/dev/", 5);
    if (is_device || !suffix || (slash && suffix < slash)) return true;
    for (size_t i = 0; i < COUNT(formats); i++)
        if (!strcasecmp(formats[i].suffix, suffix)) {
            options->format = (enum Format)i;
            return true;
        }
    const char *remedy = "";
    for (size_t i = 0; i < COUNT(other_files); i++)
        if (!strcasecmp(other_files[i].suffix, suffix))
            remedy = keep_text("; profsql %s %s%s", other_files[i].before,
                               shell_word(options->output), other_files[i].after);
    complain("--output %s: %s is the suffix of no format; the suffixes are .txt (table), .csv, "
             ".json, .jsonl and .md, or choose with --format%s",
             options->output, suffix, remedy);
    return false;
}

static bool set_parameter(Options *options, const char *name, const char *value)
{
    for (int i = 0; i < options->n_given; i++)
        if (!strcmp(options->given[i].name, name)) {
            options->given[i].value = value;
            return true;
        } /* the last one counts */
    if (options->n_given == MAX_PARAMETERS) {
        complain("too many parameters");
        return false;
    }
    options->given[options->n_given++] = (Given){name, value};
    return true;
}

static bool set_limit(Options *options, const char *value)
{
    size_t n = strspn(value, "0123456789");
    options->limit = value;
    options->used |= TAKES_SELECTION;
    if ((n && !value[n] && n < 19) || !strcmp(value, "all")) return true;
    complain("--limit cannot be '%s': it is a number of rows, of at most 18 digits, or all", value);
    return false;
}

static bool set_option(Options *options, const OptionList *list, int key, char *value)
{
    switch (key) {
    case 'f': return set_format(options, value);
    case 'o':
        options->used |= TAKES_OUTPUT;
        options->output = value;
        if (!*value) complain("--output needs the name of a file, or - for standard output");
        return *value;
    case 'n': return set_parameter(options, "n", value);
    case 'q': return options->quiet = true;
    case 'h': return options->help = true;
    case 'V': return options->version = true;
    case KEY_FORCE: options->used |= TAKES_FORCE; return options->force = true;
    case KEY_TABLES:
        options->used |= TAKES_TABLES;
        options->tables = value;
        return true;
    case KEY_LIMIT: return set_limit(options, value);
    case KEY_FROM:
        options->used |= TAKES_TRACE;
        options->from = value;
        return true;
    case KEY_TO:
        options->used |= TAKES_TRACE;
        options->to = value;
        return true;
    case KEY_LINES:
        options->used |= TAKES_TRACE;
        options->lines = value;
        return true;
    case KEY_AGAINST:
        options->used |= TAKES_AGAINST;
        options->against = value;
        return true;
    default: break;
    }
    if (key >= KEY_PARAMETER)
        return set_parameter(options, list->parameters[key - KEY_PARAMETER], value);
    options->used |= TAKES_SELECTION;
    if (!value[strspn(value, " \t\r\n")]) {
        complain("--where, --order-by and --columns need SQL: --where 'duration_us > 100'");
        return false;
    }
    if (key == KEY_WHERE) options->where = value;
    if (key == KEY_ORDER) options->order_by = value;
    if (key == KEY_COLUMNS) options->columns = value;
    return true;
}

/* Puts a space before SQL that starts with a comment, because getopt_long() would see an option. */
static void keep_comments(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (!strncmp(argv[i], "--", 2) && strchr(argv[i], '\n') &&
            argv[i][strcspn(argv[i], " \t\r\n=")] != '=')
            argv[i] = keep_text(" %s", argv[i]);
}

/* Rejects a long option with one dash, which getopt_long() reads as several short ones. */
static bool check_dashes(const OptionList *list, int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        bool is_value = argv[i - 1][0] == '-'; /* as in --order-by -step */
        const char *word = argv[i][0] == '-' && !is_value ? argv[i] + 1 : "";
        size_t n = strcspn(word, "=");
        for (int k = 0; n > 1 && k < list->n; k++)
            if (strlen(list->list[k].name) == n && !strncmp(list->list[k].name, word, n)) {
                complain("-%s: this option has two dashes: --%s", word, list->list[k].name);
                return false;
            }
    }
    return true;
}

/* Returns the word with the option that getopt_long() did not recognize: it may be within a word of
 * short options. */
static const char *unknown_word(int argc, char **argv)
{
    for (int i = 1; optopt && i < argc; i++)
        if (argv[i][0] == '-' && argv[i][1] != '-' && strchr(argv[i] + 1, optopt)) return argv[i];
    return argv[optind - 1];
}

bool options_parse(Options *options, const Catalog *catalog, int argc, char **argv)
{
    const OptionList *list = list_options(catalog);
    *options = (Options){0};
    opterr = 0;
    keep_comments(argc, argv);
    if (!check_dashes(list, argc, argv)) return false;
    for (int key; (key = getopt_long(argc, argv, ":f:o:n:qhV", list->list, NULL)) != -1;) {
        if (key == '?')
            return unknown_option(list, unknown_word(argc, argv),
                                  parameters_there(catalog, argc, argv));
        if (key == ':') {
            complain("%s needs a value after it", argv[optind - 1]);
            return false;
        }
        if (!set_option(options, list, key, optarg)) return false;
    }
    /* HTML, whatever the name of the file */
    bool is_report = optind < argc && !strcmp(argv[optind], "report");
    if (options->output && !is_report && !(options->used & (TAKES_FORMAT | TAKES_TRACE)) &&
        !format_of_output(options))
        return false;
    if (options->output && !is_report && !strcmp(options->output, "-")) options->output = NULL;
    options->words = argv + optind;
    options->n_words = argc - optind;
    return true;
}

bool options_allow(const Options *options, unsigned allowed, bool parameters, const char *use)
{
    static const struct {
        unsigned bit;
        const char *names;
    } kinds[] = {
        {TAKES_FORMAT, "--format"},
        {TAKES_OUTPUT, "--output"},
        {TAKES_SELECTION, "--where, --order-by, --columns and --limit"},
        {TAKES_FORCE, "--force"},
        {TAKES_TABLES, "--tables"},
        {TAKES_AGAINST, "--against"},
        {TAKES_TRACE, "--format perfetto or chrome, --from, --to and --lines"},
    };
    for (size_t i = 0; i < COUNT(kinds); i++)
        if (options->used & kinds[i].bit & ~allowed) {
            complain("%s does not take %s", use, kinds[i].names);
            return false;
        }
    if (!parameters && options->n_given) {
        complain("--%s is a parameter of tables and queries: %s has none; profsql RUN NAME --%s %s",
                 options->given[0].name, use, options->given[0].name, options->given[0].value);
        return false;
    }
    return true;
}
