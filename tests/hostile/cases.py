# SPDX-License-Identifier: Apache-2.0
"""Tests that write small XSpaces and ask the sqlite3 shell about them: the cases, the comparisons, and a writer of planes.

    @case
    def something():
        same(ask("SELECT ... FROM planes('{x}')", x=space(Plane('/host:CPU').bytes())), [...])

    main()"""
import json
import math
import os
import resource
import shutil
import subprocess
import sys
import tempfile

from wire import event, event_metadata, line, plane, stat, stat_metadata

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROFSQL = os.environ.get('PROFSQL', os.path.join(ROOT, 'build', 'libprofsql'))
SQLITE3 = os.environ.get('SQLITE3', 'sqlite3')
DIR = tempfile.mkdtemp(prefix='cases.')
CASES = []
CPU_SECONDS = 120  # of one shell: what is not linear in its input takes more


class Bad(Exception):
    pass


def case(f):
    CASES.append(f)
    return f


def ask(sql, **sources):
    """Rows as dicts; {name} in the statement stands for the path of the XSpace given under that name, or of a run folder if a list
    of XSpaces is given."""
    paths = {}
    for name, data in sources.items():
        paths[name] = os.path.join(DIR, name)
        shutil.rmtree(paths[name], ignore_errors=True)
        if isinstance(data, list):
            paths[name] = os.path.join(DIR, name, 'plugins', 'profile', 'run')
            os.makedirs(paths[name])
        for i, one in enumerate(data if isinstance(data, list) else [data]):
            with open(os.path.join(paths[name], 'host%d.xplane.pb' % i) if isinstance(data, list) else paths[name], 'wb') as f:
                f.write(one)
    done = subprocess.run([SQLITE3, '-batch', '-json', ':memory:', '-cmd', '.load %s' % PROFSQL, sql.format(**paths)], capture_output=True, text=True,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS)))
    for name, data in sources.items():
        if not isinstance(data, list):
            os.remove(paths[name])
    if done.returncode or done.stderr:
        raise Bad('%s\n%s' % (sql, done.stderr))
    return json.loads(done.stdout or '[]')


def same(got, want, what=''):
    if got != want:
        raise Bad('%s: got %r, not %r' % (what, got, want))


def near(got, want, what='', rel=1e-12):
    if got is None or not math.isclose(got, want, rel_tol=rel):
        raise Bad('%s: got %r, not %r' % (what, got, want))


class Plane:
    """A plane whose metadata is declared as it is used. Stats are {name: {type: value}}."""

    def __init__(self, name, id=1, stats=None):
        self.name, self.id, self.names, self.metas, self.lines = name, id, {}, {}, []
        self.stats = self.stats_of(stats or {})

    def stats_of(self, stats):
        out = []
        for name, value in stats.items():
            value = dict(value)
            if 'ref' in value:
                value['ref'] = self.names.setdefault(value['ref'], len(self.names) + 1)
            out.append(stat(self.names.setdefault(name, len(self.names) + 1), **value))
        return out

    def meta(self, name, display='', stats=None, children=(), key=None):
        """The key of an event metadata of this content."""
        known = (name, display, repr(stats), repr(children))
        if known not in self.metas:
            key = key or len(self.metas) + 1
            rest = b''.join(b'\x30' + bytes([child]) for child in children)
            self.metas[known] = (key, event_metadata(key, name, display, self.stats_of(stats or {}), rest))
        return self.metas[known][0]

    def line(self, id, name, events, timestamp_ns=0):
        """events: (metadata key or name, start_ps, duration_ps[, stats[, occurrences]])"""
        made = []
        for e in events:
            m, start, duration, stats, occurrences = tuple(e) + (None,) * (5 - len(e))
            made.append(event(m if isinstance(m, int) else self.meta(m), start, duration, self.stats_of(stats or {}), occurrences))
        self.lines.append(line(id, name, made, timestamp_ns))
        return self

    def bytes(self):
        metadata = b''.join(m for _, m in self.metas.values()) + b''.join(stat_metadata(k, n) for n, k in self.names.items())
        return plane(self.id, self.name, self.lines, metadata, self.stats)


def main():
    words = sys.argv[1:]
    passed = failed = 0
    for f in CASES:
        if words and not any(w in f.__name__ for w in words):
            continue
        try:
            f()
            passed += 1
            print('ok %s' % f.__name__)
        except (Bad, subprocess.TimeoutExpired, KeyError, IndexError, TypeError, ValueError) as error:
            failed += 1
            print('not ok %s: %s: %s' % (f.__name__, type(error).__name__, error))
    shutil.rmtree(DIR)
    print('%d passed, %d failed, 0 skipped' % (passed, failed))
    sys.exit(1 if failed or not passed else 0)
