# compile.awk: queries/*.sql into the C array prof_queries (see ext/prof.h).
#
# A query file opens with its head:
#   -- The question, in one line?
#   -- parameter NAME TYPE [unit] = DEFAULT: what it is    (TYPE: that of the default where it is left out; without default: it must be given;
#      a unit as [1 to 1000] is the range of a number, which is from 0 on without it)
#   -- column NAME TYPE [unit]: what it is            (a NAME with blanks stands in double quotes)
#   -- needs: WORD ...                               (what its rows are made of, of enum Need in ext/empty.h, in small letters)
#   -- nothing: why there may be no rows although a run has all of that; without it there always are some
# and then holds one SELECT whose columns are the declared ones, in order.
function text(s) { gsub(/\\/, "\\\\", s); gsub(/"/, "\\\"", s); return "\"" s "\"" }
# A parameter that names no type is of its default's, a text where that is NULL.
function type_of(value) { return value ~ /^-?[0-9]+$/ ? "INTEGER" : value ~ /^-?[0-9.]+$/ ? "REAL" : "TEXT" }
function flush_query() {
    if (name == "") return
    for (i = 1; i <= n_parameters; i++)
        columns = columns "    {" text(parameter[i]) ", \"" parameter_type[i] " HIDDEN\", " parameter_unit[i] ", " text(parameter_doc[i] (parameter_default[i] == "" ? "" : "; default " parameter_default[i])) ", \"argument " i "\"},\n"
    printf "static const QueryParameter %s_parameters[] = {\n", name
    for (i = 1; i <= n_parameters; i++) printf "    {%s, %s, %s},\n", text(parameter[i]), text(parameter_default[i]), text(parameter_doc[i])
    printf "};\nstatic const Column %s_columns[] = {\n%s};\n", name, columns
    list = list "    {" text(name) ", " text(question) ",\n" sql "     , 0" needs ", " nothing ", " name "_parameters, " n_parameters ", " name "_columns, " n_columns + n_parameters "},\n"
}
BEGIN { print "// Made from the files of queries/ by queries/compile.awk.\n#include \"../ext/prof.h\"\n" }
FNR == 1 {
    flush_query()
    name = FILENAME; sub(/.*\//, "", name); sub(/\.sql$/, "", name)
    question = $0; sub(/^-- */, "", question)
    n_parameters = n_columns = 0; columns = sql = needs = ""; nothing = "NULL"
    next
}
/^-- parameter / {
    n_parameters++
    rest = $0; sub(/^-- parameter /, "", rest)
    head = value = rest; sub(/:.*/, "", head); sub(/:.*/, "", value)
    sub(/ =.*/, "", head)
    unit = head
    if (sub(/^[^[]*\[/, "", unit)) sub(/\].*/, "", unit); else unit = ""
    sub(/ *\[.*/, "", head); n_parts = split(head, part, " ")
    parameter[n_parameters] = part[1]
    parameter_unit[n_parameters] = unit == "" ? "NULL" : text(unit)
    doc = rest; sub(/^[^:]*: */, "", doc); parameter_doc[n_parameters] = doc
    if (!sub(/^[^=]*= */, "", value)) value = ""
    parameter_default[n_parameters] = value
    parameter_type[n_parameters] = n_parts > 1 ? part[2] : type_of(value)
    next
}
/^-- needs: / {
    n_words = split(toupper(substr($0, 11)), word, " ")
    for (i = 1; i <= n_words; i++) needs = needs " | NEED_" word[i]
    next
}
/^-- nothing: / { nothing = text(substr($0, 13)); next }
/^-- column / {
    n_columns++
    doc = $0; sub(/^[^:]*: */, "", doc)
    head = $0; sub(/^-- column /, "", head); sub(/:.*/, "", head)
    unit = head
    if (head ~ /^"/) { quoted = substr(head, 2); sub(/".*/, "", quoted); sub(/^"[^"]*" */, "", head); split(head, part, " "); part[2] = part[1]; part[1] = quoted; unit = head }
    else split(head, part, " ")
    if (unit ~ /\[/) { sub(/^[^[]*\[/, "", unit); sub(/\].*/, "", unit); unit = text(unit) } else unit = "NULL"
    columns = columns "    {" text(part[1]) ", " text(part[2]) ", " unit ", " text(doc) ", \"queries/" name ".sql\"},\n"
    next
}
/^--/ { next }
NF { sql = sql "     " text($0 "") " \"\\n\"\n" }
END {
    flush_query()
    printf "const Query prof_queries[] = {\n%s};\nconst int n_prof_queries = COUNT(prof_queries);\n", list
}
