#!/usr/bin/env python3
"""Compares the table Events with XProf's Events DB, cell by cell.

    tests/parity/events.py [GOLDEN | --kept] [--only TEXT] [--all] [--grouped] [--show N]

GOLDEN (default ../shared/golden) holds XProf's answers: xplane/**/events_db.csv[.gz] for the files of ../data/xplane,
samples/*.tar.gz for ../samples/recorded, forge/*.tar.gz for the cases that ../forge/cases.py writes. SKIP without it.
--kept: the answers that tests/data/xprof keeps for the profiles of tests/data. Without --grouped what XProf's grouping adds is left
out on both sides: steps of rows that are not ops of a TensorCore, and the stats GROUPING in trace_args.
Rows are multisets keyed by device, stream, thread, start, end and kernel name, since XProf's order means nothing. The columns
of NOT_YET are counted only with --all. The last line is `N passed, N failed, N skipped`, one per file.
"""

import argparse
import gzip
import os
import re
import subprocess
import sys
import tarfile
import tempfile

sys.dont_write_bytecode = True
import library  # noqa: E402
from rows import escape, spell  # noqa: E402

KEY = ("device", "stream_id", "thread_id", "start_ns", "end_ns", "kernel_name")
NOT_YET = ("tf_op_name", "tf_op_type", "input_tensors", "output_tensors", "hlo_fingerprint")
KNOWN = {  # profiles that differ, and why
    "edge_names/": "SQLite has no negative zero to print",
    "edge_timestamp_extreme/": "XProf takes Unix times of lines through double",
    "edge_huge_device_duration/": "XProf takes times beyond 2^53 ps through double",
}
GROUPING = re.compile(r"(?:^|,)(?:is_eager|group_id|step_name|selected_group_ids|_ct|_c|_pt|_p|_r)=[^,]*")
NUMBERS = {"stream_id", "thread_id", "correlation_id", "start_ns", "end_ns", "self_time_ns", "flops", "memory_accessed",
           "hlo_fingerprint", "flow", "dcn_src_slice_id", "dcn_dst_slice_id", "dcn_src_logical_device_id",
           "dcn_dst_logical_device_id", "dcn_duration_us", "dcn_payload_size_bytes"}
FIELD = re.compile(r'(?:"((?:[^"]|"")*)"|([^",\n]*))(,|\n|\Z)')


def golden_rows(data):
    """(header, rows) of a CSV in which an empty field is NULL and "" is an empty text, which the csv module cannot tell apart."""
    text = data.decode("utf-8", "replace")
    table, row, at = [], [], 0
    while at < len(text):
        m = FIELD.match(text, at)
        if not m:
            raise ValueError("not CSV at character %d" % at)
        row.append(m.group(1).replace('""', '"') if m.group(1) is not None else m.group(2) or None)
        at = m.end()
        if m.group(3) != ",":
            table.append(row)
            row = []
    header = table[0] if table else []
    numbers = [name in NUMBERS for name in header]
    return header, [tuple(int(v) if v is not None and is_number else v for v, is_number in zip(r, numbers)) for r in table[1:]]


def text_number(value):
    """A uint64 above INT64_MAX comes from SQL as decimal text."""
    return int(value) if isinstance(value, str) and value.isdigit() else value


def library_rows(path, header):
    columns = ['"%s"' % name for name in header]
    numbers = [name in NUMBERS for name in header]
    for _, values in library.ask({"Events": (columns, "FROM Events(%s)" % library.quoted(path))}):
        yield tuple(text_number(v) if is_number else v for v, is_number in zip(values, numbers))


def without_grouping(header, rows):
    step, args, device, stream = (header.index(name) for name in ("step", "trace_args", "device", "stream_id"))
    for row in rows:
        row = list(row)
        if row[args] is not None:
            row[args] = GROUPING.sub("", row[args]).strip(",") or None
        if not (row[device].startswith("TPU:") and row[stream] == 3):
            row[step] = None
        yield tuple(row)


def around(x, y):
    """Both values as text, long ones from shortly before their first difference."""
    at = 0
    if isinstance(x, str) and isinstance(y, str):
        at = max(0, len(os.path.commonprefix((x, y))) - 60)
        x, y = x[at:at + 200], y[at:at + 200]
    return tuple(("..." if at else "") + escape(v) if isinstance(v, str) else spell(v) for v in (x, y))


def sort_key(row):
    return tuple(("", "") if v is None else (type(v).__name__, v) for v in row)


def compare(header, want, have, skipped):
    """({column: (cells, mismatches)}, absent, surplus, examples): `want` and `have` paired within each key."""
    key_at = [header.index(k) for k in KEY]
    counted = [i for i, name in enumerate(header) if name not in skipped and name not in KEY]
    groups = {}
    for side, table in enumerate((want, have)):
        for row in table:
            groups.setdefault(tuple(row[i] for i in key_at), ([], []))[side].append(tuple(row[i] for i in counted))
    cells = absent = surplus = 0
    bad = dict.fromkeys(counted, 0)
    examples = {}
    for key, (a, b) in groups.items():
        n = min(len(a), len(b))
        absent, surplus, cells = absent + len(a) - n, surplus + len(b) - n, cells + n
        if len(a) != len(b):
            examples.setdefault("row", (key, "%d times" % len(a), "%d times" % len(b)))
        if a == b:
            continue
        rest = list(b)                        # equal rows pair up first, the others in order
        odd = []
        for row in a:
            if row in rest:
                rest.remove(row)
            else:
                odd.append(row)
        for x, y in zip(sorted(odd, key=sort_key), sorted(rest, key=sort_key)):
            for i, p, q in zip(counted, x, y):
                if p != q:
                    bad[i] += 1
                    examples.setdefault(header[i], (key, *around(p, q)))
    columns = {header[i]: (cells, bad[i]) for i in counted}
    columns.update({k: (cells + absent, absent + surplus) for k in KEY})
    return columns, absent, surplus, examples


def kept(only):
    """Yields (name, profile file, CSV bytes) of the answers kept in tests/data/xprof."""
    data = os.path.join(library.ROOT, "tests", "data")
    for archive in sorted(os.listdir(os.path.join(data, "xprof"))):
        with tarfile.open(os.path.join(data, "xprof", archive)) as tar:
            for member in tar:
                name = os.path.dirname(member.name)
                if os.path.basename(member.name) == "events_db.csv" and only in name:
                    yield name, os.path.join(data, name) + ".xplane.pb", tar.extractfile(member).read()


def folders(golden, only, temp):
    """Yields (name, profile file or None, CSV bytes)."""
    shared = os.path.dirname(os.path.abspath(golden))

    def unpacked(name, data):
        return gzip.decompress(data) if name.endswith(".gz") else data

    root = os.path.join(golden, "xplane")
    for folder, subfolders, files in os.walk(root, followlinks=True):
        subfolders.sort()
        for f in files:
            if f in ("events_db.csv", "events_db.csv.gz") and only in folder:
                profile = os.path.join(shared, "data", "xplane", os.path.relpath(folder, root)) + ".xplane.pb"
                with open(os.path.join(folder, f), "rb") as fh:
                    yield os.path.relpath(folder, golden), profile, unpacked(f, fh.read())
    cases = os.path.join(shared, "forge", "cases.py")
    for kind, base in (("samples", os.path.join(shared, "samples", "recorded")), ("forge", os.path.join(temp, "plugins", "profile"))):
        folder = os.path.join(golden, kind)
        archives = sorted(f for f in os.listdir(folder) if f.endswith(".tar.gz")) if os.path.isdir(folder) else []
        archives = [f for f in archives if "/" in only or only in "%s/%s" % (kind, f)]
        if kind == "forge" and archives and os.path.exists(cases):
            subprocess.run([sys.executable, cases, os.path.join(os.path.dirname(cases), "cases.tsv"), "--out", temp,
                            "--only", ",".join(f[:-len(".tar.gz")] for f in archives)], stdout=subprocess.DEVNULL, check=True)
        for f in archives:
            with tarfile.open(os.path.join(folder, f)) as tar:
                for member in sorted((m for m in tar if re.search(r"/events_db\.csv(\.gz)?$", m.name)), key=lambda m: m.name):
                    name = os.path.dirname(member.name)
                    if only in "%s/%s %s" % (kind, name, f):
                        yield "%s/%s" % (kind, name), os.path.join(base, name) + ".xplane.pb", unpacked(member.name, tar.extractfile(member).read())


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("golden", nargs="?", default=os.path.join(library.ROOT, "..", "shared", "golden"))
    p.add_argument("--only", default="")
    p.add_argument("--all", action="store_true")
    p.add_argument("--kept", action="store_true")
    p.add_argument("--grouped", action="store_true")
    p.add_argument("--show", type=int, default=8)
    args = p.parse_args()
    why = library.missing()
    if why:
        print("FAIL %s\n0 passed, 1 failed, 0 skipped" % why)
        return 1
    if not args.kept and not os.path.isdir(args.golden):
        why = "no folder of XProf's answers at %s (give it as the first argument)" % args.golden
    if not why:
        have = [v[0] for _, v in library.ask({"columns": (["name"], "FROM pragma_table_info('Events')")})]
        if not have:
            why = "this library has no table Events"
    if why:
        print("SKIP %s\n0 passed, 0 failed, 1 skipped" % why)
        return 0
    passed = failed = skipped = 0
    totals = {}
    not_yet = () if args.all else NOT_YET
    with tempfile.TemporaryDirectory() as temp:
        for name, profile, data in kept(args.only) if args.kept else folders(args.golden, args.only, temp):
            if not os.path.exists(profile):
                skipped += 1
                print("SKIP %s: no such profile beside the answers" % name)
                continue
            why = next((why for part, why in KNOWN.items() if part in name), None)
            if why and not args.all:
                skipped += 1
                print("SKIP %s: %s" % (name, why))
                continue
            header, want = golden_rows(data)
            problems = [] if header == have else ["columns: expected %s, got %s" % (header, have)]
            try:
                sides = (want, list(library_rows(profile, header)))
                if not args.grouped:
                    sides = tuple(list(without_grouping(header, side)) for side in sides)
                columns, absent, surplus, examples = compare(header, *sides, not_yet)
            except library.Refused as error:
                columns, absent, surplus, examples = {}, 0, 0, {}
                problems.append(str(error))
            for column, (cells, bad) in columns.items():
                total = totals.setdefault(column, [0, 0])
                total[0], total[1] = total[0] + cells, total[1] + bad
            n_bad = sum(bad for column, (_, bad) in columns.items() if column not in KEY)
            bad = bool(problems or n_bad or absent or surplus)
            passed, failed = passed + (not bad), failed + bad
            print("%s %s: %d rows, %d absent, %d surplus, %d cells differ" % ("FAIL" if bad else "ok  ", name, len(want), absent, surplus, n_bad))
            for line in problems:
                print("    " + line)
            for column, (key, x, y) in list(examples.items())[:args.show]:
                n = "" if column == "row" else " (%d of %d)" % (columns[column][1], columns[column][0])
                print("    %s%s at %s: expected %s, got %s" % (column, n, key, x, y))
            sys.stdout.flush()
    print("\n%-28s %9s %9s" % ("column", "cells", "differ"))
    for column in have:
        if column in totals:
            print("%-28s %9d %9d" % (column, *totals[column]))
        elif column in not_yet:
            print("%-28s not yet" % column)
    print("%d passed, %d failed, %d skipped" % (passed, failed, skipped))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
