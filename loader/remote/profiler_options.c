// SPDX-License-Identifier: Apache-2.0
/* profiler_options.c: --option NAME=VALUE: the fields of ProfileOptions that a client may choose.
 */
#include "profiler_options.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>

enum FieldType { FLAG, NUMBER32, NUMBER64, TEXT };
#define FIELD(name, type)                                                                          \
    {                                                                                              \
#name, type, offsetof(ProfilerOptions, message.name)                                       \
    }
static const struct {
    const char *name;
    enum FieldType type;
    size_t offset;
} fields[] = {
    FIELD(include_dataset_ops, FLAG),
    FIELD(host_tracer_level, NUMBER32),
    FIELD(device_tracer_level, NUMBER32),
    FIELD(python_tracer_level, NUMBER32),
    FIELD(version, NUMBER32),
    FIELD(device_type, NUMBER32),
    FIELD(enable_hlo_proto, FLAG),
    FIELD(raise_error_on_start_failure, FLAG),
    FIELD(session_id, TEXT),
    FIELD(override_hostname, TEXT),
    FIELD(jax_version, TEXT),
    FIELD(jaxlib_version, TEXT),
    {"host_traceme_filter_mask", NUMBER64,
     offsetof(ProfilerOptions, trace.host_traceme_filter_mask)},
};
static const char advanced[] = "advanced.";

ProfilerOptions *profiler_options_new(void)
{
    ProfilerOptions *o = prof_alloc(sizeof *o);
    if (!o) return NULL;
    tensorflow__profile_options__init(&o->message);
    tensorflow__profile_options__trace_options__init(&o->trace);
    o->message.include_dataset_ops = true;
    o->message.host_tracer_level = 2;
    o->message.device_tracer_level = 1;
    o->message.version = 1;
    o->message.enable_hlo_proto = true;
    return o;
}

void profiler_options_free(ProfilerOptions *o)
{
    if (!o) return;
    prof_free(o->entries);
    arena_free(&o->memory);
    prof_free(o);
}

static char *copy(ProfilerOptions *o, const char *text, size_t n, ProfErr *err)
{
    char *copied = arena_alloc(&o->memory, n + 1);
    if (!copied) {
        prof_nomem(err);
        return NULL;
    }
    memcpy(copied, text, n);
    return copied;
}

/* Returns 1 for 1, true, yes and on; 0 for 0, false, no and off; -1 for anything else. */
static int flag_of(const char *value)
{
    static const char *const words[] = {"0", "1", "false", "true", "no", "yes", "off", "on"};
    for (size_t i = 0; i < COUNT(words); i++)
        if (!strcmp(value, words[i])) return (int)i % 2;
    return -1;
}

static bool number_of(const char *value, uint64_t most, uint64_t *number)
{
    char *end;
    errno = 0;
    *number = strtoull(value, &end, 0);
    return isdigit((unsigned char)*value) && !*end && !errno && *number <= most;
}

static bool set_field(ProfilerOptions *o, size_t i, const char *value, ProfErr *err)
{
    char *to = (char *)o + fields[i].offset;
    uint64_t number = 0;
    int flag = flag_of(value);
    if (fields[i].type == TEXT) {
        char *copied = copy(o, value, strlen(value), err);
        if (copied) memcpy(to, &copied, sizeof copied);
        return copied;
    }
    if (fields[i].type == FLAG
            ? flag < 0
            : !number_of(value, fields[i].type == NUMBER32 ? UINT32_MAX : UINT64_MAX, &number)) {
        prof_fail(err, PROF_FORMAT, 0, "--option %s=%s: give %s", fields[i].name, value,
                  fields[i].type == FLAG ? "true or false" : "a number from 0 on");
        return false;
    }
    uint32_t number32 = (uint32_t)number;
    if (fields[i].type == FLAG)
        memcpy(to, &flag, sizeof flag); /* protobuf_c_boolean is an int */
    else if (fields[i].type == NUMBER32)
        memcpy(to, &number32, sizeof number32);
    else
        memcpy(to, &number, sizeof number), o->message.trace_options = &o->trace;
    return true;
}

/* Sets a value: true and false are bool, numbers are int64, everything else is text, also anything
 * in quotes. */
static bool set_value(ProfilerOptions *o, Tensorflow__ProfileOptions__AdvancedValue *v,
                      const char *value, ProfErr *err)
{
    size_t n = strlen(value);
    char *end;
    errno = 0;
    long long number = strtoll(value, &end, 10);
    if (!strcmp(value, "true") || !strcmp(value, "false")) {
        v->value_case = TENSORFLOW__PROFILE_OPTIONS__ADVANCED_VALUE__VALUE_BOOL_VALUE;
        v->bool_value = *value == 't';
    } else if (n && !*end && !errno && !isspace((unsigned char)*value)) {
        v->value_case = TENSORFLOW__PROFILE_OPTIONS__ADVANCED_VALUE__VALUE_INT64_VALUE;
        v->int64_value = number;
    } else {
        bool quoted = n >= 2 && *value == '"' && value[n - 1] == '"';
        v->value_case = TENSORFLOW__PROFILE_OPTIONS__ADVANCED_VALUE__VALUE_STRING_VALUE;
        v->string_value = copy(o, value + quoted, n - 2 * quoted, err);
    }
    return !err->code;
}

static bool set_advanced(ProfilerOptions *o, const char *name, size_t n_name, const char *value,
                         ProfErr *err)
{
    Tensorflow__ProfileOptions__AdvancedValue *v = arena_alloc(&o->memory, sizeof *v);
    AdvancedEntry *entry = arena_alloc(&o->memory, sizeof *entry);
    if (!v || !entry || !GROW(o->entries, o->n_entries, o->entries_capacity)) {
        prof_nomem(err);
        return false;
    }
    tensorflow__profile_options__advanced_value__init(v);
    tensorflow__profile_options__advanced_configuration_entry__init(entry);
    entry->value = v;
    if (!(entry->key = copy(o, name, n_name, err)) || !set_value(o, v, value, err)) return false;
    size_t at = 0; /* a repeated option replaces the earlier one */
    while (at < o->n_entries && strcmp(o->entries[at]->key, entry->key) != 0) at++;
    o->entries[at] = entry;
    o->n_entries += at == o->n_entries;
    o->message.advanced_configuration = o->entries;
    o->message.n_advanced_configuration = o->n_entries;
    return true;
}

static bool unknown_option(const char *name, size_t n_name, ProfErr *err)
{
    char names[600] = "";
    for (size_t i = 0, at = 0; i < COUNT(fields) && at < sizeof names; i++)
        at += (size_t)snprintf(names + at, sizeof names - at, "%s ", fields[i].name);
    prof_fail(err, PROF_FORMAT, 0,
              "--option %.*s: there is no such option; there are %sand advanced.NAME", (int)n_name,
              name, names);
    return false;
}

bool profiler_options_set(ProfilerOptions *o, const char *assignment, ProfErr *err)
{
    size_t n = strcspn(assignment, "="), n_advanced = sizeof advanced - 1;
    if (!n || !assignment[n]) {
        prof_fail(err, PROF_FORMAT, 0, "--option %s: give NAME=VALUE", assignment);
        return false;
    }
    const char *value = assignment + n + 1;
    if (!strncmp(assignment, advanced, n_advanced) && n > n_advanced)
        return set_advanced(o, assignment + n_advanced, n - n_advanced, value, err);
    for (size_t i = 0; i < COUNT(fields); i++)
        if (strlen(fields[i].name) == n && !memcmp(fields[i].name, assignment, n))
            return set_field(o, i, value, err);
    return unknown_option(assignment, n, err);
}
