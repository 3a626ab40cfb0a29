#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the table hlo_text, byte for byte, with the text of each HLO program in XProf's graph
viewer.

    tests/parity/hlo_text.py PROFILES ANSWERS...  two folders with the same layout, as for
                                                  run_tools; more pairs may follow
    tests/parity/hlo_text.py --shared             everything in ../shared (SHARED): third-party
                                                  profiles, HLO dumps, recordings
    tests/parity/hlo_text.py --kept               the profiles in tests/data that have texts in
                                                  tests/data/xprof
    options: --show N examples (5), -q no line for each file

Prints how many programs and lines were compared, then `N passed, N failed, N skipped` in programs
(of both styles)."""

import argparse
import os
import re
import sys

sys.dont_write_bytecode = True
import answers  # noqa: E402
import library  # noqa: E402

BUILD = os.path.join(library.ROOT, "build", "parity")
DATA = os.path.join(library.ROOT, "tests", "data")
STYLES = {"long": ".long.txt", "short": ".short.txt"}


def file_name(module):
    """A program's name as the answers name files."""
    return re.sub(r"[^A-Za-z0-9._()+-]", "_", module)


def our_texts(path, style):
    """{file name of the program: the texts of all programs of this name}, and an error or None.
    XProf keeps one of these, in the order of a hash."""
    columns = ["hlo_module || '(' || program_id || ')'", "text", "line_number"]
    rows, error = library.ask_each({"text": (columns, "FROM hlo_text(%s, NULL, "
                                             "'%s')" % (library.quoted(path), style))})["text"]
    texts = {}
    for module, text, line in rows:
        programs = texts.setdefault(file_name(module), [])
        if line == 1:
            programs.append([])
        programs[-1].append(text + "\n")
    return {module: ["".join(lines) for lines in programs]
            for module, programs in texts.items()}, error


def wrong_lines(ours, theirs):
    if ours == theirs:
        return []
    return [i for i in range(max(len(ours), len(theirs))) if i >= len(ours) or i >= len(theirs)
            or ours[i] != theirs[i]]


def compare(name, path, answer, style, show):
    """[programs, lines, programs that differ, lines that differ] of one profile."""
    end = STYLES[style]
    files = answer.matching("graph_viewer/*" + end)
    counts = [0, 0, 0, 0]
    if not files:
        return counts
    texts, error = our_texts(path, style)
    if error:
        print("FAIL %s: %s" % (name, error))
    only = list(texts.values())[0] if len(texts) == 1 and path.endswith(answers.HLO) else None
    for f in files:
        module = f[len("graph_viewer/"):-len(end)]
        theirs = answer.text(f).encode("utf-8",
                                       "surrogateescape").decode("utf-8",
                                                                 "backslashreplace").split("\n")
        programs = [text.split("\n") for text in only or texts.get(module, [""])]
        ours = min(programs, key=lambda text: len(wrong_lines(text, theirs)))
        wrong = wrong_lines(ours, theirs)
        counts[0] += 1
        counts[1] += len(theirs)
        counts[2] += bool(wrong)
        counts[3] += len(wrong)
        for i in wrong[:show]:
            print("  %s %s %s line %d\n    XProf %s\n    ours  "
                  "%s" % (name, module, style, i + 1, theirs[i][:2000] if i < len(theirs) else None,
                          ours[i][:2000] if i < len(ours) else None))
    return counts


def main():
    p = argparse.ArgumentParser(description=__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("folders", nargs="*")
    p.add_argument("--shared", action="store_true")
    p.add_argument("--kept", action="store_true")
    p.add_argument("--show", type=int, default=5)
    p.add_argument("-q", action="store_true")
    args = p.parse_args()
    shared = os.environ.get("SHARED", os.path.join(library.ROOT, "..", "shared"))
    pairs = list(zip(args.folders[::2], args.folders[1::2]))
    if args.shared:
        pairs += [(os.path.join(shared, a), os.path.join(shared, b))
                  for a, b in (("data", "golden"), ("samples/recorded", "golden/samples"))]
    if args.kept:
        pairs.append((DATA, os.path.join(DATA, "xprof")))
    why = library.missing() or next(("%s is absent; put the shared folder beside the checkout, "
                                     "or name it in SHARED" % f
                                     for pair in pairs for f in pair if not os.path.isdir(f)), None)
    if why:
        print("SKIP parity of HLO text: " + why)
        print("0 passed, 0 failed, 1 skipped")
        return 0
    total = [0, 0, 0, 0]
    for profiles, given in pairs:
        for name, path, answer in answers.sources(profiles, answers.unpack(given, BUILD)):
            counts = [sum(pair) for pair in zip(*(compare(name, path, answer, style, args.show)
                                                  for style in STYLES))]
            total = [a + b for a, b in zip(total, counts)]
            if counts[0] and not args.q:
                print("%-90s %6d programs %8d lines %6d lines differ" % (name, counts[0], counts[1],
                                                                         counts[3]))
    print("HLO text: %d programs, %d lines compared, %d programs differ in %d lines" % tuple(total))
    print("%d passed, %d failed, 0 skipped" % (total[0] - total[2], total[2]))
    return 1 if total[2] else 0


if __name__ == "__main__":
    sys.exit(main())
