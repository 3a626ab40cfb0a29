# SPDX-License-Identifier: Apache-2.0
"""The rows that both sides of a parity check write, how a value is spelled in them, and how they
are compared.

A dump is lines of tab-separated fields: the table's name, then its columns in the order of TABLES.
The first `keys` columns name a row. A value is spelled so that its type shows: 12, 12.0, NULL,
"text and x:hex; a long text or blob gives its beginning, its size and its SHA-256, which is enough
to tell two apart and keeps kept answers small.
"""

import hashlib

LONG = 160          # a longer text (characters) or blob (bytes) is spelled by its digest

# name: (columns, how many of them are the key). `n` numbers the stats of one owner in stored order.
TABLES = {
    "hosts": (("host", "size_bytes", "event_count"), 1),
    "planes": (("plane_id", "host", "proto_id", "name", "line_count", "event_count"), 1),
    "lines": (("line_id", "host", "plane_id", "proto_id", "name", "display_name", "display_id",
               "timestamp_ns", "duration_ps", "event_count"), 1),
    "events": (("event_id", "host", "plane_id", "line_id", "metadata_id", "name", "start_ps",
                "duration_ps",
                "occurrences"), 1),
    "event_stats": (("event_id", "n", "stat_id", "name", "type", "value"), 2),
    "inherited_stats": (("event_id", "stat_count"), 1),
    "event_metadata": (("plane_id", "metadata_id", "name", "display_name", "metadata", "child_ids",
                        "stat_count",
                        "event_count"), 2),
    "event_metadata_stats": (("plane_id", "metadata_id", "n", "stat_id", "name", "type", "value"),
                             3),
    "stat_metadata": (("plane_id", "metadata_id", "name", "description"), 2),
    "plane_stats": (("plane_id", "n", "stat_id", "name", "type", "value"), 2),
}


def spell(value):
    """One field: `value` is None, int, float, str or bytes."""
    if value is None:
        return "NULL"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, bytes):
        if len(value) > LONG:
            return "x:%s...%d bytes %s" % (value[:16].hex(), len(value),
                                           hashlib.sha256(value).hexdigest()[:32])
        return "x:" + value.hex()
    if len(value) > LONG:
        data = value.encode("utf-8", "backslashreplace")
        return '"%s...%d bytes %s' % (escape(value[:40]), len(data),
                                      hashlib.sha256(data).hexdigest()[:32])
    return '"' + escape(value)


def escape(text):
    for raw, spelled in (("\\", "\\\\"), ("\t", "\\t"), ("\n", "\\n"), ("\r", "\\r"),
                         ("\0", "\\0")):
        text = text.replace(raw, spelled)
    return text


def parse(lines):
    """{table: {key: fields}} of a dump."""
    tables = {name: {} for name in TABLES}
    for line in lines:
        name, _, rest = line.rstrip("\n").partition("\t")
        fields = tuple(rest.split("\t"))
        columns, keys = TABLES[name]
        if len(fields) != len(columns):
            raise ValueError("%s: %d fields instead of %d: "
                             "%r" % (name, len(fields), len(columns), line[:200]))
        if fields[:keys] in tables[name]:
            raise ValueError("%s: two rows %r" % (name, fields[:keys]))
        tables[name][fields[:keys]] = fields
    return tables


def compare(expected, got, show=3):
    """(rows, mismatches, lines to print) of two parse() results; a missing or surplus row is one
    mismatch."""
    total_rows = total_bad = 0
    report = []
    for name, (columns, _) in TABLES.items():
        want, have = expected[name], got[name]
        examples, bad = [], 0
        if want != have:
            for key in want.keys() | have.keys():
                a, b = want.get(key), have.get(key)
                if a is None or b is None:
                    bad += 1
                    examples.append((key, "row", "absent" if a is None else "present",
                                     "absent" if b is None else "present"))
                    continue
                for column, x, y in zip(columns, a, b):
                    if x != y:
                        bad += 1
                        examples.append((key, column, x, y))
        total_rows += len(want)
        total_bad += bad
        report.append("    %-22s %8d rows %6d mismatches" % (name, len(want), bad))
        examples.sort(key=lambda e: (e[1], [len(k) for k in e[0]], e[0]))
        last, shown = None, 0
        for key, column, x, y in examples:
            shown = shown + 1 if column == last else 1
            last = column
            if shown <= show:
                report.append("        %s(%s).%s: expected %s, "
                              "got %s" % (name, ", ".join(key), column, x[:300], y[:300]))
    return total_rows, total_bad, report
