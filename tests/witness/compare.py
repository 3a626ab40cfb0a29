# SPDX-License-Identifier: Apache-2.0
"""What the witnesses share: the profiles that they look at, questions to libprofsql, and the count
of what agrees.

A witness computes an answer again, from the bytes of the file (xspace.py) and from what
docs/semantics.md and prof_columns say, by another way than libprofsql's, and compares. It looks at
the profiles kept in tests/data, the smallest first.

    def busy(run):
        agree('busy', run.ask("SELECT ..."), mine(run.hosts))

    def each(run):              # what is asked of every profile
        tried('busy ' + run.path, busy, run)

    if __name__ == '__main__':
        main(each)

all.py calls each() of all witnesses for one profile after the other, which is read once, and then
made() of those that make profiles."""
import gc
import math
import os
import random
import sys
import tempfile

import falsified
import origins
import xspace

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, 'tests'))
from lib.standing import Shell  # noqa: E402

PROFSQL = os.environ.get('PROFSQL', os.path.join(ROOT, 'build', 'libprofsql'))
SQLITE3 = os.environ.get('SQLITE3', 'sqlite3')
os.environ['PROFSQL_WARNINGS'] = '0'  # the line about a damaged file is for people
# Once there was a second thread, the shell locks for each character that it prints, and takes two
# thirds longer.
os.environ['PROFSQL_THREADS'] = '1'
# bytes of a run: a reader in Python takes seconds for more
LARGEST = int(os.environ.get('WITNESS_LARGEST', 4 << 20))
too_large = set()  # runs that are left out, and were named
counts = {'passed': 0, 'failed': 0, 'skipped': 0}
LOOKS_AT_SOME = []  # words that the paths of the profiles have
reader = origins.Reader(Shell(SQLITE3, '.load %s' % PROFSQL))
# Answers and profiles that were read are a million objects. To look for circles among them as often
# as Python does takes a sixth of the time.
gc.set_threshold(1 << 20)


def ask(sql):
    """Rows as dicts; an error of the shell is a failure of the witness."""
    return ask_all(sql)[0]


def ask_all(*queries, x=''):
    """Rows of each of several queries; {x} stands for the text x."""
    return reader.ask(queries, x)


class Run:
    """The files of one run: {host: planes} in order of their names."""

    def __init__(self, path, files):
        self.path, self.files, self._hosts = path, sorted(files, key=os.fsencode), None

    @property
    def hosts(self):
        if self._hosts is None:
            self._hosts = {os.path.basename(f).split('.xplane.pb')[0]: xspace.read(f)
                           for f in self.files}
        return self._hosts

    def size(self):
        """Bytes of its files."""
        return sum(map(os.path.getsize, self.files))

    def forget(self):
        """What was read, which is read again if someone asks."""
        self._hosts = None

    def ask(self, sql):
        """{x} stands for the run, as an SQL text."""
        return self.ask_all(sql)[0]

    def ask_all(self, *queries):
        return ask_all(*queries, x="'%s'" % self.path.replace("'", "''"))


def is_intact(run):
    """Files without a byte are an error to libprofsql, and no profiles; times that libprofsql holds
    at the ends of int64 go on in Python."""
    return all(map(os.path.getsize, run.files)) and not run.ask("SELECT 1 FROM prof_issues({x}) "
                                                                "WHERE severity = 'error' "
                                                                "OR lost_bytes > 0 "
                                                                "OR code = 'time_overflow'")


def runs(only):
    """Every run folder below tests/data, or below ../shared with WITNESS_SHARED, or below
    WITNESS_DATA, whose files are intact, and not too large for Python; only those that have one of
    the words in their path, if there are any. The smallest first."""
    found = []
    shared = os.path.join(os.path.dirname(ROOT), 'shared')
    tops = [os.path.join(shared, d) for d in ('samples', 'data')] if os.environ.get(
        'WITNESS_SHARED') else [os.path.join(ROOT, 'tests', 'data')]
    for top in [os.environ['WITNESS_DATA']] if os.environ.get('WITNESS_DATA') else tops:
        for folder, folders, names in sorted(os.walk(top)):
            files = [os.path.join(folder, n) for n in names
                     if n.endswith(('.xplane.pb', '.xplane.pb.gz'))]
            if not files or (only and not any(word in folder for word in only)):
                continue
            size = sum(map(os.path.getsize, files))
            if size > LARGEST:
                if folder not in too_large:
                    print('# left out: %s, %d bytes; WITNESS_LARGEST=%d is the limit' %
                          (os.path.relpath(folder, top), size, LARGEST))
                too_large.add(folder)
                continue
            is_run = os.path.basename(os.path.dirname(folder)) == 'profile'
            found += [Run(folder, files)] if is_run else [Run(f, [f]) for f in files]
    for run in sorted(found, key=lambda run: (run.size(), run.path)):
        reader.knows = falsified.FILE and run.size() <= falsified.LARGEST
        if is_intact(run):
            yield run
    reader.knows = bool(falsified.FILE)


def looks_at_all():
    """Whether this is about all kept profiles, and the usual random ones."""
    return not LOOKS_AT_SOME and not {'SEED', 'RANDOM_RUNS', 'WITNESS_DATA',
                                      'WITNESS_SHARED'} & os.environ.keys()


def seeds(n):
    """Of the random runs that a witness makes."""
    first = int(os.environ.get('SEED', 1))
    return range(first, first + int(os.environ.get('RANDOM_RUNS', n)))


def integer(value):
    return value if isinstance(value, int) else None


def numbered(run):
    """(event id, host, plane, line, event) of the run: ids count through all files."""
    event_id = 0
    for host, planes in run.hosts.items():
        for plane in planes:
            for line in plane.lines:
                for e in line.events:
                    yield event_id, host, plane, line, e
                    event_id += 1


def agree(what, got, want, rel=1e-9, abs_tol=1e-9):
    """Same structure, same texts and integers, numbers that differ by rounding at most."""
    def same(a, b):
        if isinstance(a, dict) and isinstance(b, dict):
            return a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
        if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
            return len(a) == len(b) and all(map(same, a, b))
        if isinstance(a, int) and isinstance(b, int):
            return a == b
        if isinstance(a, (int, float)) and isinstance(b, (int, float)):
            return a == b or math.isclose(a, b, rel_tol=rel, abs_tol=abs_tol)
        return a == b
    if got == want or same(got, want):
        note(got, want)
        return
    if isinstance(got, dict) and isinstance(want, dict):
        keys = [k for k in list(got) + [k for k in want if k not in got]
                if not same(got.get(k), want.get(k)) or (k in got) != (k in want)]
        got, want = {k: got.get(k, 'absent') for k in keys[:3]}, {k: want.get(k, 'absent')
                                                                  for k in keys[:3]}
    raise AssertionError('%s: libprofsql has %.600r, the witness %.600r' % (what, got, want))


def tried(name, check, *args):
    """One check: counts it, and prints what did not agree. One that agrees is asked again with
    wrong answers (falsified.py), so it asks all that it compares itself, and does the same each
    time."""
    reader.forget_check()
    origins.compared.clear()
    try:
        check(*args)
        counts['passed'] += 1
    except Exception as error:
        counts['failed'] += 1
        print('not ok %s: %s: %s' % (os.path.relpath(name, ROOT) if os.path.isabs(name) else name,
                                     type(error).__name__, error))
        return
    try:
        falsified.check(reader, lambda: check(*args))
    except Exception as error:
        counts['failed'] += 1
        print('not ok %s: not when it is asked once more: %s' % (name, error))


def note(got, want):
    if reader.knows and not reader.again:
        origins.note(got, want)


def in_parts(*cells):
    """These cells were compared by what they are made of: parts of a text, keys of rows."""
    note(cells, None)


def check_random(name, n, random_run, check, what, ways, met):
    """Checks n runs that random_run(dice, folder) writes. Unless only some are asked for, they must
    have met all ways; `what` says of what these are."""
    met.clear()
    with tempfile.TemporaryDirectory() as top:
        for seed in seeds(n):
            run = random_run(random.Random(seed), os.path.join(top, 'plugins/profile/%d' % seed))
            tried('%s of seed %d' % (name, seed), check, run)
    if looks_at_all():
        tried('random %s have all ways' % what, lambda: agree(
            'ways', [way for way in ways if not met[way]], []))


def agree_one_of(what, got, allowed):
    """A value, where several are right."""
    if got not in allowed:
        agree(what, got, list(allowed)[:5])
    note(got, None)


def nothing(*args):
    pass


def main(each=nothing, made=nothing):
    """A witness alone, on all profiles or those whose paths have one of the words given."""
    LOOKS_AT_SOME.extend(sys.argv[1:])
    falsified.start(os.path.basename(sys.argv[0]))
    for run in runs(sys.argv[1:]):
        each(run)
    made()
    finish()


def finish(of_all=False):
    for survivor in falsified.survivors(of_all):
        counts['failed'] += 1
        print('not ok %s' % survivor)
    falsified.save()
    print('%(passed)d passed, %(failed)d failed, %(skipped)d skipped' % counts)
    sys.exit(1 if counts['failed'] or not counts['passed'] else 0)
