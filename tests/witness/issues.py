#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What prof_issues says of cut files and of launches whose work is missing, and hosts.damage, from
the bytes of each profile."""
import collections
import os
import random
import re
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from compare import ROOT, Run, agree, integer, main, numbered, seeds, tried  # noqa: E402
from lib.wire import Plane, space  # noqa: E402
from xspace import varint  # noqa: E402


# ---- cut files ----

PLANE, LINE, EVENT = 1, 3, 4
INSIDE = {'the file': {PLANE: 'a plane'}, 'a plane': {LINE: 'a line'},
          'a line': {EVENT: 'an event'}}


def field_at(data, at):
    """(number, start of the content, its end) of a field; None: it has no content of its own, or
    its start is cut."""
    try:
        tag, at = varint(data, at)
        length, at = varint(data, at) if tag & 7 == 2 else (0, at)
    except IndexError:
        return None
    return (tag >> 3, at, at + length) if tag & 7 == 2 else (tag >> 3, at, skip(data, at, tag & 7))


def skip(data, at, kind):
    try:
        return varint(data, at)[1] if kind == 0 else at + {1: 8, 5: 4}[kind]
    except IndexError:
        return None


def of_cut(data, cut):
    """[(code, place, lost bytes, words of the message)] of a file that ends at `cut`."""
    found, what, at = [], 'the file', 0
    while at < cut:
        start, field = at, field_at(data[:cut], at)
        if not field or field[2] is None:  # what it is is cut
            return found + [('damaged', start, cut - start, '')]
        number, content, at = field
        if at > cut:
            inner = INSIDE.get(what, {}).get(number)
            found.append(('truncated', start, 0, '%s claims %d bytes more' % (
                inner or 'a field of ' + what, at - cut)))
            if what == 'a line':  # of a plane's other fields what there is is read
                return found + [('damaged', start, cut - start, '')]
            what, at = inner, content
            if not inner:
                return found
    return found


def check_cut(run, data, cut):
    want = of_cut(data, cut)
    got = run.ask("SELECT * FROM prof_issues({x}) WHERE severity = 'error'")
    agree('issues of a file cut at %d' % cut, [
        (r['code'], r['byte_offset'], r['lost_bytes'], r['count'], r['path']) for r in got], [
            (code, at or None, lost, 1, run.files[0]) for code, at, lost, _ in want])
    for r, (_, _, _, words) in zip(got, want):
        agree('words of %s' % r['message'], words in r['message'], True)


def check_damage(run):
    """The messages of errors, which are read first."""
    errors = collections.defaultdict(list)
    for r in run.ask("SELECT host, message FROM prof_issues({x}) WHERE severity = 'error'"):
        errors[r['host']].append(r['message'])
    for h in run.ask('SELECT * FROM hosts({x})'):
        agree('damage of ' + h['host'], h['damage'], '; '.join(errors[h['host']]) or None)


# ---- launches without work ----

class Launches:
    """Of a host: its calls, and what ran on its GPUs."""

    def __init__(self):
        self.calls, self.ran, self.end_ps = {}, set(), None

    def add(self, plane, line, e):
        id = integer(e.stats.get('correlation_id'))
        if plane.kind == 'host' and id is not None:
            call = e.start_ps, -e.duration_ps, e.name  # of several the first is the launch
            if call[:2] < self.calls.get(id % 2**64, (float('inf'), 0))[:2]:
                self.calls[id % 2**64] = call
        elif plane.kind == 'gpu':
            self.ran |= {id % 2**64} if id is not None else set()
            end = e.start_ps + max(e.duration_ps, 0)
            self.end_ps = end if self.end_ps is None else max(self.end_ps, end)

    def late(self):
        """(number, time from the end of all work to the last) of calls that start later, have no
        work, and whose name is that of a call that has."""
        names = {name for id, (_, _, name) in self.calls.items() if id in self.ran}
        late = [start for id, (start, _, name) in self.calls.items() if name in names
                and id not in self.ran and self.end_ps is not None and start > self.end_ps]
        return (len(late), '%.3f' % ((max(late) - self.end_ps) / 1e9)) if late else None


def check_launches(run):
    hosts = collections.defaultdict(Launches)
    for _, host, plane, line, e in numbered(run):
        if not line.derived and e.occurrences is None and plane.kind in ('host', 'gpu'):
            hosts[host].add(plane, line, e)
    got = {r['host']: re.search(r'the last (\d+) launch\D+([0-9.]+) ms long', r['message']).groups()
           for r in run.ask("SELECT host, message FROM prof_issues({x}) "
                            "WHERE code = 'launches_without_work'")}
    want = {host: of.late() for host, of in hosts.items() if of.late()}
    agree('launches without work', {host: (int(n), ms) for host, (n, ms) in got.items()}, want)


def random_launches(dice):
    """Calls and kernels at random; ids of some are lost."""
    n, calls, kernels, at = dice.randrange(3, 12), [], [], 0
    lost = dice.randrange(n) if dice.random() < 0.7 else n
    for id in range(1, n + 1):
        at += dice.randrange(1, 9) * 10**6
        name = dice.choice(('cuLaunchKernel', 'cuMemcpyAsync', 'cuStreamSynchronize'))
        calls.append((name, at, 10**6, {'correlation_id': {'uint64': id}}))
        if name != 'cuStreamSynchronize' and id <= lost and dice.random() < 0.9:
            kernels.append(('k', at + dice.randrange(1, 5) * 10**6, 10**6,
                            {'correlation_id': {'uint64': id}}))
    return space(Plane('/device:GPU:0').line(1, 'Stream #1', kernels).bytes(),
                 Plane('/host:CPU', 2).line(5, 'main', calls).bytes())


def made():
    for seed in seeds(40):
        with tempfile.NamedTemporaryFile(suffix='.xplane.pb') as f:
            f.write(random_launches(random.Random(seed)))
            f.flush()
            tried('launches of seed %d' % seed, check_launches, Run(f.name, [f.name]))
    folder = os.path.join(ROOT, 'tests', 'data')
    for seed, name in zip(seeds(24), ('gpu_train_38', 'tpu_infer_78', 'cpu_tf_82') * 1000):
        top = os.path.join(folder, name, 'plugins', 'profile', name)
        with open(os.path.join(top, sorted(os.listdir(top))[0]), 'rb') as f:
            data = f.read()
        with tempfile.NamedTemporaryFile(suffix='.xplane.pb') as f:
            cut = random.Random(seed).randrange(2, len(data))
            f.write(data[:cut])
            f.flush()
            run = Run(f.name, [f.name])
            tried('%s cut at %d' % (name, cut), check_cut, run, data, cut)
            tried('damage of %s cut at %d' % (name, cut), check_damage, run)


def each(run):
    tried('damage of ' + run.path, check_damage, run)
    tried('launches of ' + run.path, check_launches, run)


if __name__ == '__main__':
    main(each, made)
