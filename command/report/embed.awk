# SPDX-License-Identifier: Apache-2.0
# Turns the files of a page into C: each becomes the text page_NAME, such as page_css for page.css.
FNR == 1 {
    if (name) print ";"
    else print "/* Made by command/report/embed.awk. */\nextern const char page_css[], page_js[];"
    name = FILENAME
    sub(/.*\//, "", name)
    sub(/\./, "_", name)
    printf "const char %s[] =\n", name
}
{
    gsub(/\\/, "\\\\\\\\")
    gsub(/"/, "\\\"")
    printf "    \"%s\\n\"\n", $0
}
END { print ";" }
