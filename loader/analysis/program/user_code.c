// SPDX-License-Identifier: Apache-2.0
/* user_code.c: finds the user's frames in a stack; see user_code.h. Whether a file belongs to a
 * library is decided once for each file name of a program. */
#include "user_code.h"

#include "../../base/tf_op.h"

#include <stdlib.h>

/* ---- files ---- */

static const char *const frameworks[] = {"jax",     "jaxlib",    "flax",     "optax",      "haiku",
                                         "equinox", "keras",     "tf_keras", "tensorflow", "torch",
                                         "orbax",   "torch_xla", "torchax",  "chex",       "numpy"};

static bool is_separator(char c) { return c == '/' || c == '\\'; }

/* Returns the next component of a path from *at on; empty at its end. */
static Slice next_component(const char *path, size_t *at)
{
    while (is_separator(path[*at])) ++*at;
    size_t start = *at;
    while (path[*at] && !is_separator(path[*at])) ++*at;
    return (Slice){path + start, *at - start};
}

static bool is_python(Slice s)
{
    return slice_starts(s, "python") && s.n > 6 && s.text[6] >= '0' && s.text[6] <= '9';
}

static bool is_framework(Slice s)
{
    for (size_t i = 0; i < COUNT(frameworks); i++)
        if (slice_is(s, frameworks[i])) return true;
    return false;
}

/* Returns whether a file is in a folder of packages, of the standard library, or of a framework.
 * The file's own name does not count. */
static bool is_in_library(const char *file)
{
    size_t at = 0;
    Slice before = {"", 0};
    for (Slice s; (s = next_component(file, &at)).n && file[at]; before = s) {
        if (slice_is(s, "site-packages") || slice_is(s, "dist-packages") || is_framework(s))
            return true;
        if (is_python(s) && (slice_is(before, "lib") || slice_is(before, "lib64"))) return true;
    }
    return false;
}

static bool is_in_folder(const char *file, Slice folder)
{
    size_t at = 0;
    for (Slice s; (s = next_component(file, &at)).n && file[at];)
        if (s.n == folder.n && !memcmp(s.text, folder.text, s.n)) return true;
    return false;
}

/* Returns whether an entry of the setting matches the file. An entry with a slash is the start of a
 * path; any other is the name of a folder. */
static bool entry_matches(Slice entry, const char *file)
{
    if (memchr(entry.text, '/', entry.n))
        return strlen(file) >= entry.n && !memcmp(file, entry.text, entry.n);
    return is_in_folder(file, entry);
}

bool file_is_in(const char *file, const char *folder)
{
    return is_in_folder(file, slice_of_string(folder));
}

/* Returns whether a source file belongs to Python, an installed package or a framework, and not to
 * the user's program. The environment variable PROFSQL_LIBRARIES adds to the rules. */
static bool source_is_library(const char *file)
{
    const char *more = getenv("PROFSQL_LIBRARIES");
    if (!*file) return true;
    bool library = *file == '<' ? !starts_with(file, "<stdin>") && !starts_with(file, "<ipython-")
                                : is_in_library(file);
    for (const char *p = more; p && *p; p += *p == ':') {
        Slice entry = {p, strcspn(p, ":")};
        bool own = slice_starts(entry, "!");
        p += entry.n;
        if (own) entry = (Slice){entry.text + 1, entry.n - 1};
        if (entry.n && entry_matches(entry, file)) library = !own;
    }
    return library;
}

/* ---- frames ---- */

/* Computes which file names of a module's stacks belong to libraries. */
static void *libraries_make(const HloModule *module, ProfErr *err)
{
    const Xla__StackFrameIndexProto *index = module->proto->hlo_module->stack_frame_index;
    size_t n = index ? index->n_file_names : 0;
    bool *library = prof_alloc(n + 1);
    if (!library) {
        prof_nomem(err);
        return NULL;
    }
    for (size_t i = 0; i < n; i++) library[i] = source_is_library(index->file_names[i]);
    return library;
}

int32_t frame_file(const HloModule *m, int32_t frame_id)
{
    const Xla__StackFrameIndexProto *index = m->proto->hlo_module->stack_frame_index;
    int32_t location = index->stack_frames[frame_id - 1]->file_location_id;
    if (location < 1 || (size_t)location > index->n_file_locations) return 0;
    int32_t file = index->file_locations[location - 1]->file_name_id;
    return file < 1 || (size_t)file > index->n_file_names ? 0 : file;
}

static bool in_library(const HloModule *m, const bool *library, int32_t frame_id)
{
    int32_t file = frame_file(m, frame_id);
    return !file || library[file - 1];
}

static const bool *libraries(const HloModule *module, ProfErr *err)
{
    static const HloAnalysis analysis = {libraries_make, prof_free};
    return hlo_analysis(module, &analysis, err);
}

bool hlo_user_frame(const HloModule *m, const Xla__HloInstructionProto *op, HloFrame *frame,
                    ProfErr *err)
{
    if (!op->metadata) return false;
    int32_t id = op->metadata->stack_frame_id;
    bool has_stack = hlo_frame(m, id, frame);
    const bool *library = has_stack ? libraries(m, err) : NULL;
    if (has_stack && !library) return false;
    for (int n = 0; n < MOST_FRAMES && hlo_frame(m, id, frame); n++, id = frame->parent_id)
        if (!in_library(m, library, id)) return true;
    *frame = (HloFrame){
        .file = op->metadata->source_file, .function = "", .line = op->metadata->source_line};
    return *frame->file && !source_is_library(frame->file);
}

/* ---- modules ---- */

/* Base classes. Their calls lead to those of the classes that are shown. */
static const char *const base_classes[] = {"Module",     "Layer", "Operation",
                                           "Functional", "Model", "Sequential"};
static const char *const module_folders[] = {"nn", "linen", "layers", "nets"};

/* Returns the class in `outer.<locals>.Class.__call__`; empty if it is not the call of a module. */
static Slice module_class(const char *function)
{
    static const char *const calls[] = {".__call__", ".forward", ".call"};
    Slice s = {function, strlen(function)};
    size_t end = s.n;
    for (size_t i = 0; i < COUNT(calls); i++)
        if (slice_ends(s, calls[i])) end = s.n - strlen(calls[i]);
    if (end == s.n) return (Slice){"", 0};
    size_t start = end;
    while (start && s.text[start - 1] != '.') start--;
    Slice class = {s.text + start, end - start};
    for (size_t i = 0; i < COUNT(base_classes); i++)
        if (slice_is(class, base_classes[i])) return (Slice){"", 0};
    return *class.text == '<' ? (Slice){"", 0} : class;
}

/* Returns whether classes of a library file are modules: if it is in a folder of such classes. */
static bool has_modules(const char *file)
{
    size_t at = 0;
    for (Slice s; (s = next_component(file, &at)).n && file[at];)
        for (size_t i = 0; i < COUNT(module_folders); i++)
            if (slice_is(s, module_folders[i])) return true;
    return false;
}

/* The call of a module, and the line that made it. */
typedef struct {
    Slice class;
    const char *caller; /* file; NULL if there is no outer frame */
    int32_t line;
} ModuleCall;

enum { MOST_MODULES = 32 };

static bool same_call(const ModuleCall *a, const ModuleCall *b)
{
    if (a->class.n != b->class.n || memcmp(a->class.text, b->class.text, a->class.n)) return false;
    return a->line == b->line && !a->caller == !b->caller &&
           (!a->caller || !strcmp(a->caller, b->caller));
}

/* Lists the calls from the innermost on. Loops repeat the frames around their body, but a call
 * counts once. */
static size_t module_calls(const HloModule *m, const bool *library, int32_t id,
                           ModuleCall calls[MOST_MODULES])
{
    HloFrame frame, around;
    size_t n_calls = 0;
    for (int n = 0; n < MOST_FRAMES && n_calls < MOST_MODULES && hlo_frame(m, id, &frame);
         n++, id = frame.parent_id) {
        ModuleCall call = {.class = module_class(frame.function)};
        if (!call.class.n || (in_library(m, library, id) && !has_modules(frame.file))) continue;
        if (hlo_frame(m, frame.parent_id, &around))
            call.caller = around.file, call.line = around.line;
        size_t i = 0;
        while (i < n_calls && !same_call(&calls[i], &call)) i++;
        if (i == n_calls) calls[n_calls++] = call;
    }
    return n_calls;
}

bool hlo_module_path(const HloModule *m, const Xla__HloInstructionProto *op, TextBuffer *path,
                     ProfErr *err)
{
    HloFrame frame;
    int32_t id = op->metadata ? op->metadata->stack_frame_id : 0;
    if (!hlo_frame(m, id, &frame)) return true;
    const bool *library = libraries(m, err);
    if (!library) return false;
    ModuleCall calls[MOST_MODULES];
    size_t n = module_calls(m, library, id, calls);
    for (size_t i = n; i-- > 0;) {
        if (i + 1 < n) text_add_char(path, '/');
        text_add_bytes(path, calls[i].class.text, calls[i].class.n);
        if (i + 1 < n) text_add_format(path, ":%d", calls[i].line);
    }
    return true;
}
