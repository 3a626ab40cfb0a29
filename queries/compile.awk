# SPDX-License-Identifier: Apache-2.0
# compile.awk: queries/*.sql into the C array prof_queries (see ext/prof.h).
#
# A query file starts with the license (an SPDX line) and its head:
#   -- The question, in one line?
#   -- parameter NAME TYPE [unit] = DEFAULT: what it is
#      (without TYPE: that of the default; without default: the argument is required;
#      a unit such as [1 to 1000] is the range of a number; without it, 0 or more)
#   -- column NAME TYPE [unit]: what it is        (a NAME with spaces is in double quotes)
#   -- needs: WORD ...      (what its rows need: names of enum Need in ext/empty.h, in lower case)
#   -- nothing: why there may be no rows although a run has all of that; without it there are always rows
#   -- since: VERSION       (the first version that has it; default 0.1.0)
#   -- example: SQL         (on the attached runs; default SELECT * FROM NAME)
#   --  A line that starts with two or more spaces continues the previous one.
# and then contains one SELECT whose columns are the declared ones, in order.
function text(s) { gsub(/\\/, "\\\\", s); gsub(/"/, "\\\"", s); return "\"" s "\"" }
# A parameter without a type has that of its default, or TEXT if that is NULL.
function type_of(value) {
    return value ~ /^-?[0-9]+$/ ? "INTEGER" : value ~ /^-?[0-9.]+$/ ? "REAL" : "TEXT"
}
function in_brackets(head) {
    if (!sub(/^[^[]*\[/, "", head)) return "NULL"
    sub(/\].*/, "", head)
    return text(head)
}
function after_colon(line) { sub(/^[^:]*: */, "", line); return line }
function flush_query() {
    if (name == "") return
    for (i = 1; i <= n_parameters; i++)
        columns = columns sprintf("    {%s, \"%s HIDDEN\", %s, %s, \"argument %d\"},\n", text(parameter[i]), \
            parameter_type[i], parameter_unit[i], \
            text(parameter_doc[i] (parameter_default[i] == "" ? "" : "; default " parameter_default[i])), i)
    printf "static const QueryParameter %s_parameters[] = {\n", name
    for (i = 1; i <= n_parameters; i++)
        printf "    {%s, %s, %s},\n", text(parameter[i]), text(parameter_default[i]), text(parameter_doc[i])
    printf "};\nstatic const Column %s_columns[] = {\n%s};\n", name, columns
    list = list "    {" text(name) ", " text(question) ",\n" sql "     , " text(since) ", " text(example) ", 0" needs ", " nothing ", " name "_parameters, " \
        n_parameters ", " name "_columns, " n_columns + n_parameters "},\n" # mawk's sprintf has a limit
}
function add_parameter(line,    head, value, n_parts, part) {
    n_parameters++
    head = value = line
    sub(/:.*/, "", head); sub(/:.*/, "", value); sub(/ =.*/, "", head)
    parameter_unit[n_parameters] = in_brackets(head)
    sub(/ *\[.*/, "", head)
    n_parts = split(head, part, " ")
    if (!sub(/^[^=]*= */, "", value)) value = ""
    parameter[n_parameters] = part[1]
    parameter_doc[n_parameters] = after_colon(line)
    parameter_default[n_parameters] = value
    parameter_type[n_parameters] = n_parts > 1 ? part[2] : type_of(value)
}
function add_column(line,    head, quoted, part) {
    n_columns++
    head = line; sub(/:.*/, "", head)
    if (head ~ /^"/) {
        quoted = substr(head, 2); sub(/".*/, "", quoted)
        sub(/^"[^"]*" */, "", head)
        split(quoted "\n" head, part, "\n"); sub(/ .*/, "", part[2])
    } else
        split(head, part, " ")
    columns = columns sprintf("    {%s, %s, %s, %s, \"queries/%s.sql\"},\n", text(part[1]), text(part[2]), \
        in_brackets(head), text(after_colon(line)), name)
}
function add_head() {
    if (held ~ /^-- needs: /) {
        n_words = split(toupper(substr(held, 11)), word, " ")
        for (i = 1; i <= n_words; i++) needs = needs " | NEED_" word[i]
    } else if (held ~ /^-- nothing: /) nothing = text(substr(held, 13))
    else if (held ~ /^-- since: /) since = substr(held, 11)
    else if (held ~ /^-- example: /) example = substr(held, 13)
    else if (held ~ /^-- parameter /) add_parameter(substr(held, 14))
    else if (held ~ /^-- column /) add_column(substr(held, 11))
    held = ""
}
BEGIN { print "// Made from the files of queries/ by queries/compile.awk.\n#include \"../ext/prof.h\"\n" }
FNR == 1 {
    flush_query()
    name = FILENAME; sub(/.*\//, "", name); sub(/\.sql$/, "", name)
    n_parameters = n_columns = 0; question = columns = sql = needs = held = ""; nothing = "NULL"
    since = "0.1.0"; example = "SELECT * FROM " name
}
/^-- SPDX-/ { next }
question == "" { question = $0; sub(/^-- */, "", question); next }
held != "" && /^--  / { sub(/^-- +/, ""); held = held " " $0; next }
{ add_head() }
/^--/ { held = $0; next }
NF { sql = sql "     " text($0 "") " \"\\n\"\n" }
END {
    flush_query()
    printf "const Query prof_queries[] = {\n%s};\nconst int n_prof_queries = COUNT(prof_queries);\n", list
}
