# SPDX-License-Identifier: Apache-2.0
"""Which checks can see a fault: those that run its line of C, or that ask its canned query.

A check is a part of a suite that can be run alone: a case, a script, a witness, the kept answers of
a run. A suite without such parts is one check. What each runs is recorded once, with a copy that
clang instruments (reached.c), and kept in reach.json. Lines are known by file and text, so that a
record outlives most changes; checks that are newer than the record are asked of every line."""
import collections
import json
import os
import re
import shutil
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.dirname(HERE))
from lib.asked import asks  # noqa: E402

CASES = ["cases", "hostile", "command"]
PARTS = {"sql": "tests/sql/*.sql", "witness": "tests/witness/*.py",
         "kept_queries": "tests/kept_queries/answers/*.tsv",
         "kept_tables": "tests/kept_tables/answers/*.tsv"}
WHOLE = ["self", "hlo_text", "flows", "export", "kept", "timeline", "tools", "encodings",
         "columns", "empty", "arguments", "twin", "metamorphic", "docs", "kept_mutants"]
BUILT = ["unit", "oom", "mutants", "prefix"]  # programs of their own, which are not recorded
# Other suites that are not recorded, by the sources that they are about.
ABOUT = {"ext/arrow": "python", "ext/host.c": "python", "ext/profsql_live.c": "capture",
         "ext/remote.c": "remote"}
INSTRUMENTED = ["CC=ccache clang", "WARN=-w", "CFLAGS=-O1 -gline-tables-only "
                "-fsanitize-coverage=edge,no-prune,inline-8bit-counters,pc-table"]
INSTRUMENTED_FILES = ["libprofsql.so", "profsql", "libprofsql_capture.so", "profsql-capture"]

# command: what to run, with names of cases after it; seconds: on the clock, when it was recorded
Check = collections.namedtuple("Check", "name command seconds")


def read(root, *path):
    with open(os.path.join(root, *path)) as f:
        return f.read()


def commands():
    """{suite: its command}, as tests/run has them."""
    text = read(ROOT, "tests", "run").split('suites="\n')[1].split('"')[0]
    return {words[0]: words[1:] for words in map(str.split, text.split("\n")) if words}


def program(suite):
    return commands()[suite][:1]


def parts(root, suite):
    folder, _, pattern = PARTS[suite].rpartition("/")
    names = sorted(os.listdir(os.path.join(root, folder)))
    return [name[:-len(pattern) + 1] for name in names if name.endswith(pattern[1:])
            and (suite != "witness" or os.access(os.path.join(root, folder, name), os.X_OK))]


def cases(root, suite, *words):
    return subprocess.run(program(suite) + ["--list", *words], cwd=root, capture_output=True,
                          text=True, check=True).stdout.split()


def units_of(root, file):
    """Checks of the unit tests that include the header of a source."""
    header = '/%s.h"' % os.path.splitext(os.path.basename(file))[0]
    return [Check("unit " + name[:-2], program("unit") + [name[:-2]], 1)
            for name in sorted(os.listdir(os.path.join(root, "tests", "unit")))
            if name.endswith(".c") and header in read(root, "tests", "unit", name)]


def all_checks(root):
    """{name: command} of the checks that are recorded."""
    found = {"%s %s" % (suite, part): program(suite) + [part]
             for suite in PARTS for part in parts(root, suite)}
    found.update({"%s %s" % (suite, case): program(suite) + [case]
                  for suite in CASES for case in cases(root, suite)})
    found.update({suite: commands()[suite] for suite in WHOLE})
    return found


# ---- recording ----

def run_checks(copy, folder):
    """Runs them all; yields the name and seconds of each that passes."""
    env = dict(os.environ, REACHED=folder, PYTHONUNBUFFERED="1", PYTHONDONTWRITEBYTECODE="1")
    for suite in CASES:
        child = subprocess.Popen(program(suite), cwd=copy, env=env, stdout=subprocess.PIPE,
                                 text=True, errors="replace")
        began = time.monotonic()
        for line in child.stdout:
            now = time.monotonic()
            if line.startswith("ok "):
                yield "%s %s" % (suite, line.split()[1]), line.split()[1], now - began
            began = now
        child.wait()
    for name, command in all_checks(copy).items():
        if name.split()[0] in CASES:
            continue
        began = time.monotonic()
        key = name.replace(" ", "_")
        done = subprocess.run(command, cwd=copy, env=dict(env, CASE=key), capture_output=True)
        if done.returncode == 0:
            yield name, key, time.monotonic() - began


def lines_of_blocks(copy, folder, library):
    """Of each block of a library its line, FILE:NUMBER."""
    with open(os.path.join(folder, library + ".blocks"), "rb") as f:
        data = f.read()
    addresses = [int.from_bytes(data[i:i + 8], "little") for i in range(0, len(data), 8)]
    out = subprocess.run(["llvm-symbolizer", "--obj", os.path.join(copy, "recorded", library),
                          "--no-inlines", "--functions=none", "--output-style=GNU"],
                         input="\n".join(map(hex, addresses)), capture_output=True, text=True,
                         check=True).stdout
    return [line.split(" ")[0] for line in out.splitlines() if line]


def record(folder):
    """Builds the instrumented copy, runs the checks in it and writes reach.json."""
    copy, reached = os.path.join(folder, "instrumented"), os.path.join(folder, "reached")
    for old in (copy, reached):
        shutil.rmtree(old, ignore_errors=True)
    os.makedirs(reached)
    subprocess.run(["git", "clone", "-q", ROOT, copy], check=True)
    runtime = os.path.join(folder, "reached.o")
    subprocess.run(["cc", "-O1", "-fPIC", "-c", "-o", runtime, os.path.join(HERE, "reached.c")],
                   check=True)
    subprocess.run(["make", "-s", "loadable", "capture", "build/profsql", "LDFLAGS=" + runtime]
                   + INSTRUMENTED, cwd=copy, check=True, stdout=subprocess.DEVNULL)
    os.makedirs(os.path.join(copy, "recorded"))
    for name in INSTRUMENTED_FILES:  # the suite docs builds them anew
        shutil.copy(os.path.join(copy, "build", name), os.path.join(copy, "recorded"))
    seconds = {name: (key, took) for name, key, took in run_checks(copy, reached)}
    write(copy, folder, reached, seconds)


def write(copy, folder, reached, seconds):
    """reach.json: all lines, and of each check its seconds and lines, as the bits of a number."""
    numbers, blocks, source = {}, {}, {}
    for name in os.listdir(reached):
        if name.endswith(".blocks"):
            library = name[:-len(".blocks")]
            blocks[library] = [numbers.setdefault(key, len(numbers)) for key in (
                known_line(copy, place, source)
                for place in lines_of_blocks(copy, reached, library))]
    checks = {}
    for name, (key, took) in seconds.items():
        bits = 0
        for library, of_block in blocks.items():
            path = os.path.join(reached, "%s.%s" % (key, library))
            if os.path.exists(path):
                with open(path, "rb") as f:
                    for line in {of_block[i] for i, ran in enumerate(f.read()) if ran}:
                        bits |= 1 << line
        checks[name] = [took, hex(bits)]
    with open(os.path.join(folder, "reach.json"), "w") as f:
        json.dump({"lines": list(numbers), "checks": checks}, f)


def known_line(copy, place, source):
    """FILE:NUMBER as "FILE: text"."""
    path, _, number = place.rpartition(":")
    file = os.path.relpath(path, copy) if os.path.isabs(path) else os.path.normpath(path)
    if file not in source:
        try:
            with open(os.path.join(copy, file)) as f:
                source[file] = f.read().split("\n")
        except OSError:
            source[file] = []
    of_file = source[file]
    at = int(number) if number.isdigit() else 0
    return "%s: %s" % (file, of_file[at - 1].strip() if 0 < at <= len(of_file) else "")


# ---- choosing ----

class Reach:
    """The record of a folder, and the checks that a copy of the sources has."""

    def __init__(self, folder, root):
        kept = json.loads(read(folder, "reach.json"))
        self.root, self.known = root, all_checks(root)
        self.numbers = {line: i for i, line in enumerate(kept["lines"])}
        self.checks = {name: (took, int(bits, 16)) for name, (took, bits)
                       in kept["checks"].items()}

    def bits_of(self, file, lines, number):
        """The block that the line is in, and the one before, where its condition may be: a record
        has the line of what a block does first. The whole file if the line is in no function."""
        bits = n_blocks = 0
        for at in range(number, -1, -1):
            if lines[at] == "}" or n_blocks == 2:
                break
            key = "%s: %s" % (file, lines[at].strip())
            if key in self.numbers:
                bits |= 1 << self.numbers[key]
                n_blocks += 1
        return bits or sum(1 << i for line, i in self.numbers.items()
                           if line.startswith(file + ": "))

    def of_line(self, file, lines, number):
        """Checks that run the line: its unit tests and kept sums, which see most faults, then those
        that take little time and run few others first."""
        at, known = self.bits_of(file, lines, number), self.known
        run = sorted((took * (bits.bit_count() or 1), Check(name, known[name], took))
                     for name, (took, bits) in self.checks.items() if bits & at and name in known)
        run.sort(key=lambda pair: not pair[1].name.startswith("kept_tables"))
        newer = [Check(name, known[name], 1) for name in known if name not in self.checks]
        about = [suite for start, suite in ABOUT.items() if file.startswith(start)]
        return units_of(self.root, file) + [check for _, check in run] + newer + [
            Check(suite, commands()[suite], 100) for suite in about + BUILT]


def with_users(root, name):
    """A canned query and those that are made of it."""
    found, texts = [name], {file[:-len(".sql")]: read(root, "queries", file)
                            for file in os.listdir(os.path.join(root, "queries"))
                            if file.endswith(".sql")}
    for of in found:
        found += [user for user in sorted(texts) if user not in found
                  and re.search(r"\btemp\.%s\b" % of, texts[user])]
    return found


def of_query(root, name):
    """Checks that ask a canned query, and the suites that ask all of them."""
    def check(suite, *words):
        return Check(suite, program(suite) + list(words), 60)
    names = with_users(root, name)
    scripts = [part for part in parts(root, "sql") if any(
        asks(os.path.join(root, "tests", "sql", part + ".sql"), of) for of in names)]
    witnesses = [part for part in parts(root, "witness") if any(
        re.search(r"\b%s\b" % of, read(root, "tests", "witness", part + ".py")) for of in names)]
    documents = ["README.md"] + ["docs/" + file for file in os.listdir(os.path.join(root, "docs"))
                                 if file.endswith(".md") and name in read(root, "docs", file)]
    slow = [case for case in cases(root, "cases", *names) if case.startswith("empty_answers.")]
    quick = [case for case in cases(root, "cases", *names) if case not in slow]
    return [check(suite, *words) for suite, words in (
        ("kept_queries", names), ("cases", quick), ("sql", scripts),
        ("cases", ["queries_every"] + slow), ("witness", witnesses), ("docs", documents)) if words
            ] + [check(suite) for suite in ("empty", "columns", "command", "metamorphic")]
