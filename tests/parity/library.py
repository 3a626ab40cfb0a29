# SPDX-License-Identifier: Apache-2.0
"""The same rows from libprofsql, through the sqlite3 shell (many Python builds cannot load
extensions)."""

import contextlib
import fcntl
import fnmatch
import json
import os
import re
import struct
import subprocess

from rows import TABLES, spell

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LIBRARY = os.environ.get("PROFSQL", os.path.join(ROOT, "build", "libprofsql"))
SHELL = os.environ.get("SQLITE3", "sqlite3")


@contextlib.contextmanager
def alone(folder):
    """No other process makes files in this folder meanwhile."""
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, ".lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def missing():
    """Why the library cannot be asked, or None."""
    if not any(os.path.exists(LIBRARY + end) for end in ("", ".so", ".dylib")):
        return "no %s.so (make; or PROFSQL=path without .so)" % os.path.relpath(LIBRARY)
    try:
        for _ in ask({"version": (["prof_version()"], "")}):
            pass
    except OSError:
        return "no sqlite3 shell (apt install sqlite3; or SQLITE3=path)"
    except Refused as error:
        return str(error)
    return None


def typed(column):
    """SQL that spells a value with its type and without a character that the shell could change."""
    return ("CASE typeof({0}) WHEN 'null' THEN 'n' WHEN 'integer' THEN 'i'||{0} WHEN 'real' "
            "THEN 'r'||hex(ieee754_to_blob({0}))"
            " WHEN 'text' THEN 't'||hex({0}) ELSE 'b'||hex({0}) END").format(column)


def untyped(field):
    kind, rest = field[:1], field[1:]
    if kind == "i":
        return int(rest)
    if kind == "r":
        return struct.unpack(">d", bytes.fromhex(rest))[0]
    if kind == "t":
        return bytes.fromhex(rest).decode("utf-8", "backslashreplace")
    return bytes.fromhex(rest) if kind == "b" else None


class Untyped(dict):
    """{spelled field: its value}: most fields of a table repeat."""

    def __missing__(self, field):
        value = self[field] = untyped(field)
        return value


def quoted(text):
    return "'" + text.replace("'", "''") + "'"


class Refused(Exception):
    """The library said no; the text is SQLite's message."""


def ask(queries):
    """Yields (name, [values]) for each row of each query of {name: (list of columns, rest of the
    SELECT)}."""
    script = ['.load "%s"' % LIBRARY.replace("\\", "\\\\").replace('"', '\\"'), ".mode list",
              '.separator "\\t" "\\n"', ".headers off"]
    for name, (columns, rest) in queries.items():
        script += ["SELECT '@%s';" % name, "SELECT %s %s;" % (", ".join(map(typed, columns)), rest)]
    process = subprocess.Popen([SHELL, "-batch", "-bail", "-init", os.devnull, ":memory:"],
                               stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="ascii",
                               errors="backslashreplace")
    process.stdin.buffer.write("\n".join(script).encode("utf-8", "surrogateescape") + b"\n")
    process.stdin.close()
    name, read = None, Untyped()
    for line in process.stdout:
        line = line.rstrip("\n")
        if line.startswith("@"):
            name = line[1:]
        else:
            yield name, [read[field] for field in line.split("\t")]
    message = process.stderr.read()
    if process.wait() or message:
        raise Refused("sqlite3 ended with %d: %s" % (process.returncode, message.strip()))


NEAR_LINE = re.compile(r"near line (\d+): (.*)")


def typed_select(columns, rest):
    """A SELECT of the columns, spelled. An expression is evaluated once, not for each mention."""
    if all(re.fullmatch(r'\w+|"[^"]*"', column) for column in columns):
        return "SELECT %s %s;" % (", ".join(map(typed, columns)), rest)
    named = ", ".join("%s AS c%d" % (column, i) for i, column in enumerate(columns))
    return "WITH asked AS MATERIALIZED (SELECT %s %s) SELECT %s FROM asked;" % (
        named, rest, ", ".join(typed("c%d" % i) for i in range(len(columns))))


def ask_each(queries, timeout=600):
    """{name: ([rows], error or None)} for {name: (list of columns, rest of the SELECT)}: one shell
    for all, each query on its own."""
    names, script = [], ['.load "%s"' % LIBRARY.replace("\\", "\\\\").replace('"', '\\"'),
                         ".mode list", '.separator "\\t" "\\n"', ".headers off"]
    line_of = {}
    for name, (columns, rest) in queries.items():
        script.append("SELECT '@%d';" % len(names))
        script.append(" ".join(typed_select(columns, rest).splitlines()))
        line_of[len(script)] = name
        names.append(name)
    answers = {name: ([], None) for name in names}
    process = subprocess.Popen([SHELL, "-batch", "-init", os.devnull, ":memory:"],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE)
    try:
        out, err = process.communicate("\n".join(script).encode("utf-8", "surrogateescape") + b"\n",
                                       timeout)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return {name: ([], "no answer within %d s" % timeout) for name in names}
    rows, values = None, Untyped()
    for line in out.decode("ascii", "backslashreplace").splitlines():
        if line.startswith("@"):
            rows = answers[names[int(line[1:])]][0]
        else:
            rows.append([values[field] for field in line.split("\t")])
    message = err.decode("utf-8", "replace")
    blamed = False
    for number, text in NEAR_LINE.findall(message):
        if int(number) in line_of:
            name, blamed = line_of[int(number)], True
            answers[name] = (answers[name][0], text)
    if process.returncode < 0 or message and not blamed:
        why = "sqlite3 ended with %d: %s" % (process.returncode, message.strip()[-300:])
        answers = {name: (found, error or why) for name, (found, error) in answers.items()}
    return answers


STAT = ["stat_id", "name", "type", "value"]


def dump_queries(source):
    """What to ask() for the dump of one source (a file or a run folder)."""
    call = "(%s)" % quoted(source)
    columns = {name: [c for c in TABLES[name][0] if c != "n"] for name in TABLES}
    columns["inherited_stats"] = ["event_id", "count(*)"]
    # proto3 has no presence: an absent text or blob is an empty one.
    columns["event_metadata"][2:5] = ["ifnull(name, '')", "ifnull(display_name, '')",
                                      "ifnull(metadata, x'')"]
    columns["stat_metadata"][2:] = ["ifnull(name, '')", "ifnull(description, '')"]
    columns["lines"][4:6] = ["ifnull(name, '')", "ifnull(display_name, '')"]
    table = {"events": "trace_events", "inherited_stats": "event_stats"}
    where = {"event_stats": " WHERE origin = 'event'",
             "inherited_stats": " WHERE origin = 'metadata' GROUP BY event_id"}
    return {name: (columns[name], "FROM %s%s%s" % (table.get(name, name), call,
                                                   where.get(name, ""))) for name in TABLES}


def dump_lines(answer):
    """The dump's lines from (name, [values]) of each row."""
    seen = {}
    for name, values in answer:
        if name == "event_metadata" and values[5] is not None:
            values[5] = json.dumps(json.loads(values[5]), separators=(",", ":"))
        keys = TABLES[name][1]
        if "n" in TABLES[name][0]:
            owner = (name,) + tuple(values[:keys - 1])
            n = seen[owner] = seen.get(owner, -1) + 1
            values.insert(keys - 1, n)
        yield name + "\t" + "\t".join(map(spell, values))


def dump(source):
    """The dump's lines for one source."""
    return dump_lines(ask(dump_queries(source)))
