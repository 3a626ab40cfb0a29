#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the table timeline with XProf's trace viewer, event by event: start, duration, name,
line and every argument.

    tests/parity/timeline.py PROFILES ANSWERS...  two folders with the same layout (see run_tools);
                                                  more pairs may follow
    tests/parity/timeline.py --shared             all profiles and answers below ../shared
                                                  (SHARED); SKIP without it
    tests/parity/timeline.py --kept               the profiles in tests/data against
                                                  tests/data/timeline
    tests/parity/timeline.py --keep ANSWERS       writes tests/data/timeline from XProf's answers
                                                  to tests/data
    options: --only TEXT (part of the name), --show N examples (5), -q no line for equal answers

XProf's answer is the trace viewer's JSON of one host (trace_viewer.csv). Of the hosts' planes, it
draws only the first /host:CPU, no custom planes and no line `Async XLA Ops`; our rows of the others
are left out. Ids of flows are XProf's own hashes: the comparison only checks that there is a flow.
Events are multisets, because XProf draws them in no order. The last line is `N passed, N failed,
N skipped`."""

import argparse
import collections
import csv
import gc
import gzip
import io
import json
import os
import sys

sys.dont_write_bytecode = True
gc.disable()  # rows hold no cycles; looking for some takes a quarter of the time
import answers  # noqa: E402
import excuses  # noqa: E402
import library  # noqa: E402
import live  # noqa: E402

DATA = os.path.join(library.ROOT, "tests", "data")
KEPT = os.path.join(DATA, "timeline")
BUILD = os.path.join(library.ROOT, "build", "parity")
csv.field_size_limit(1 << 30)

# Files whose times are not compared.
NO_TIMES = {"edge_timestamp_extreme": "times beyond int64 picoseconds: XProf's wrap, "
            "ours are held at the end"}
LOOPS = excuses.UNJUDGED[0]
ASKS = 8            # how often XProf is asked again where something differs


def theirs(text):
    """(events, {(pid, tid): thread name}) of a trace_viewer.csv."""
    events, threads = collections.Counter(), {}
    for row in csv.DictReader(io.StringIO(text, newline="")):
        args = json.loads(row["args"]) if row["args"] else {}
        if row["ph"] == "M" and row["name"] == "thread_name":
            threads[int(row["pid"]), int(row["tid"])] = args["name"]
        if row["ph"] in ("X", "i"):
            flow = args.pop("flow", None) is not None
            args = json.dumps(args, sort_keys=True)
            events[int(row["pid"]), int(row["tid"]), float(row["ts"]), float(row["dur"] or 0),
                   row["name"], flow, args] += 1
    return events, threads


def ours(path):
    """The same of our table; of each thread all names of its lines."""
    events, threads = collections.Counter(), collections.defaultdict(set)
    columns = ["pid", "tid", "start_ps", "duration_ps", "shown_name", "args", "line"]
    where = ("FROM timeline(%s) WHERE (pid < 501 OR pid = 701 OR pid > 4000000000 "
             "OR plane_kind IN ('gpu', 'tensorcore', 'sparsecore')) AND line <> 'Async XLA Ops'")
    for _, (pid, tid, start, duration, name, args,
            line) in library.ask({"timeline": (columns, where % library.quoted(path))}):
        args = json.loads(args)
        flow = args.pop("flow", None) is not None
        # XProf writes start times as unsigned numbers.
        events[pid, tid, start % (1 << 64) / 1e6, duration / 1e6, name, flow,
               json.dumps(args, sort_keys=True)] += 1
        threads[pid, tid].add(line)
    return events, threads


def timeless(events):
    """Events without their times."""
    counts = collections.Counter()
    for event, n in events.items():
        counts[event[:2] + (0.0, 0.0) + event[4:]] += n
    return counts


def ungrouped(events):
    """Events without the number of their group."""
    counts = collections.Counter()
    for event, n in events.items():
        stats = json.loads(event[6])
        stats.pop("group_id", None)
        counts[event[:6] + (json.dumps(stats, sort_keys=True),)] += n
    return counts


def explain(missing, surplus, show):
    """Lines about what differs; events at one place and time are shown side by side."""
    lines = []
    for event in sorted(missing)[:show]:
        like = [e for e in surplus if e[:3] == event[:3]] or [e for e in surplus
                                                              if e[2] == event[2]]
        lines.append("    XProf: %s" % (event,))
        lines += ["    ours:  %s" % (e,) for e in sorted(like)[:2]]
    return lines + ["    only ours: %s" % (e,) for e in sorted(surplus)[:0 if missing else show]]


def compare(name, path, text, args):
    """'passed', 'failed' or 'skipped'; prints what differs."""
    want, their_threads = theirs(text)
    try:
        have, our_threads = ours(path)
    except library.Refused as error:
        print("FAIL %s: %s" % (name, error))
        return "failed"
    without_times = next((reason for part, reason in NO_TIMES.items() if part in name), None)
    if without_times:
        want, have = (timeless(side) for side in (want, have))
    missing, surplus = want - have, have - want
    threads = [(k, n, sorted(our_threads.get(k, ()))) for k, n in their_threads.items()
               if k in our_threads and n not in our_threads[k]]
    n, bad = sum(want.values()), max(sum(missing.values()), sum(surplus.values())) + len(threads)
    if bad and not threads:
        # XProf's answers about some events vary. An event counts as different only if it differs
        # from all answers.
        for further in live.asked_again(BUILD, path, ["trace_viewer"], ASKS):
            again, _ = theirs(further.text("trace_viewer.csv"))
            missing, surplus = missing & (again - have), surplus & (have - again)
            if not missing and not surplus:
                print("SKIP %s: %d events, %d differ: XProf itself gives several answers when it "
                      "is asked again, ours among them" % (name, n, bad))
                totals[2] += bad
                return "skipped"
        bad = max(sum(missing.values()), sum(surplus.values()))
        if bad and LOOPS.cause(path) and ungrouped(missing) == ungrouped(surplus):
            print("SKIP %s: %d events, %d differ in group_id alone: "
                  "%s" % (name, n, bad, LOOPS.reason))
            totals[2] += bad
            return "skipped"
    if without_times and not bad:
        print("%s: compared without times: %s" % (name, without_times))
    if bad or not args.q:
        print("%s %s: %d events, %d differ" % ("FAIL" if bad else "ok  ", name, n, bad))
    for line in (explain(missing, surplus, args.show) + [
        "    thread %s: XProf %r, ours %s" % t for t in threads[:args.show]]) if bad else ():
        print(line[:700])
    sys.stdout.flush()
    totals[0] += n
    totals[1] += bad
    return "failed" if bad else "passed"


def of_pairs(pairs):
    for profiles, folder, prefix in pairs:
        for name, path, answer in answers.sources(profiles, answers.unpack(folder, BUILD)):
            if path.endswith(answers.XSPACE) and "trace_viewer.csv" in answer.names:
                yield prefix + name, path, lambda answer=answer: answer.text("trace_viewer.csv")


def kept_file(path):
    return os.path.join(KEPT, os.path.relpath(path, DATA)[:-len(answers.XSPACE)].replace(
        os.sep, "__") + ".csv.gz")


def of_kept():
    for base, folders, files in os.walk(DATA):
        folders.sort()
        for name in sorted(f for f in files if f.endswith(answers.XSPACE)):
            path = os.path.join(base, name)
            if os.path.exists(kept_file(path)):
                yield os.path.relpath(path, DATA), path, lambda path=path: gzip.open(
                    kept_file(path), "rt", encoding="utf-8", newline="").read()


def keep(folder):
    """Answers without what is not compared, in an order of their own: the same bytes whatever
    XProf's hashes are."""
    os.makedirs(KEPT, exist_ok=True)
    for name, path, text in of_pairs([(DATA, folder, "")]):
        rows = []
        for row in csv.DictReader(io.StringIO(text(), newline="")):
            args = json.loads(row["args"]) if row["args"] else {}
            if "flow" in args:
                args["flow"] = "1"
            if row["name"] in ("process_name", "process_sort_index", "thread_sort_index"):
                continue
            rows.append([row["ph"], row["pid"], row["tid"], row["name"], row["ts"], row["dur"],
                         json.dumps(args, sort_keys=True)])
        out = io.StringIO(newline="")
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(["ph", "pid", "tid", "name", "ts", "dur", "args"])
        writer.writerows(sorted(rows))
        with open(kept_file(path), "wb") as raw, gzip.GzipFile("", "wb", 9, raw, 0) as fh:
            fh.write(out.getvalue().encode("utf-8"))
        print("%s: %d rows" % (name, len(rows)))
    return 0


totals = [0, 0, 0]


def main():
    p = argparse.ArgumentParser(description=__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("folders", nargs="*")
    p.add_argument("--shared", action="store_true")
    p.add_argument("--kept", action="store_true")
    p.add_argument("--keep")
    p.add_argument("--only", default="")
    p.add_argument("--show", type=int, default=5)
    p.add_argument("-q", action="store_true")
    args = p.parse_args()
    if args.keep:
        return keep(args.keep)
    if len(args.folders) % 2 or not (args.folders or args.shared or args.kept):
        p.error("give pairs of folders, --shared or --kept")
    why = library.missing()
    if why:
        print("FAIL %s\n0 passed, 1 failed, 0 skipped" % why)
        return 1
    pairs = [(a, b, "") for a, b in zip(args.folders[::2], args.folders[1::2])]
    if args.shared:
        try:
            pairs += live.shared(BUILD)
        except live.Absent as absent:
            print("SKIP timeline: %s\n0 passed, 0 failed, 1 skipped" % absent)
            return 0
    count = collections.Counter()
    for name, path, text in (of_kept() if args.kept else of_pairs(pairs)):
        if args.only in name:
            count[compare(name, path, text(), args)] += 1
    if not count:
        print("FAIL no answer of the trace viewer found")
        count["failed"] = 1
    print("%d events compared, %d differ, %d more excused" % tuple(totals))
    print("%d passed, %d failed, %d skipped" % (count["passed"], count["failed"], count["skipped"]))
    return 1 if count["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
