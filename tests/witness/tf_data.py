#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The calls of tf.data pipelines (tf_data_pipelines, tf_data_calls, tf_data_iterators), from the
bytes of each profile and of random ones: iterators that nest, overlap, start or end together and
produce for each other on several threads (SEED=1 RANDOM_RUNS=60)."""
import collections
import os
import random
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from compare import Run, agree, checking, finish, integer, numbered, runs  # noqa: E402
from lib.wire import Plane, space  # noqa: E402

ASYNC = {'Prefetch', 'ParallelInterleave', 'ParallelMap', 'ParseExample', 'MapAndBatch',
         'DataService', 'LegacyParallelInterleave', 'ParallelBatch'}
JOINED = ('Prefetch', 'ParallelInterleave', 'ParallelMap', 'MapAndBatch', 'ParseExample',
          'ParallelBatch')
SLOW_PS = 50000000


class Call:
    """An event of a host thread, the one that it nests in, and what it includes."""

    def __init__(self, event_id, e):
        self.event_id, self.e, self.name, self.inside, self.parent = event_id, e, e.name, [], None
        self.calls_iterator = self.name.startswith('Iterator::')
        self.iterator = self.calls_iterator and integer(e.stats.get('id')) is not None


def calls_of(events):
    """Nests the events of one thread: an event is in the last one before it that includes it and no
    event before which ended; of equal ones the later in the file."""
    open_calls, found = [], []
    for event_id, e in sorted(events, key=lambda x: (x[1].start_ps, -x[1].end_ps, x[0])):
        call = Call(event_id, e)
        while open_calls and open_calls[-1].e.end_ps < e.end_ps:
            open_calls.pop()
        if open_calls:
            call.parent = open_calls[-1]
            call.parent.inside.append(call)
        open_calls.append(call)
        found.append(call)
    return found


def iterators_in(call):
    return [x for x in call.inside if x.calls_iterator]


def number_of(e, stat):
    """An id, which tables write without sign; None: no integer."""
    value = integer(e.stats.get(stat))
    return None if value is None else value % 2**64


def overlap(a, b):
    return max(0, min(a.e.end_ps, b.e.end_ps) - max(a.e.start_ps, b.e.start_ps))


class Endless(Exception):
    """An iterator that produces for itself."""


def calls_in(run):
    """{event id: (host, id, duration, {iterator id: what it did}, feeds a device)} of the calls of
    all pipelines."""
    want = {}
    for host, planes in run.hosts.items():
        by_line, threads = collections.defaultdict(list), next((p for p in planes
                                                                if p.name == '/host:CPU'), None)
        for event_id, of, plane, line, e in numbered(run):
            if of == host and plane is threads:
                by_line[id(line)].append((event_id, e))
        calls = [c for events in by_line.values() for c in calls_of(events)]
        produced, joined = collections.defaultdict(list), collections.defaultdict(list)
        for c in calls:
            if c.name in [kind + 'Produce'
                          for kind in JOINED] and number_of(c.e, 'element_id') is not None:
                for x in iterators_in(c):
                    produced[number_of(c.e, 'element_id'), number_of(x.e, 'parent_id')].append(x)
        for c in calls:
            if c.name in [kind + 'Consume' for kind in JOINED] and c.parent and c.parent.iterator:
                joined[c.parent.event_id] += produced[number_of(c.e, 'element_id'),
                                                      number_of(c.parent.e, 'id')]
        devices = {number_of(c.e, 'parent_id') for c in calls if c.iterator
                   and c.name == 'Iterator::Prefetch::Generator'}
        described = {}  # by the first event of an id
        for c in sorted(calls, key=lambda c: c.event_id):
            if c.iterator:
                caller = number_of(c.e, 'parent_id')
                described.setdefault(number_of(c.e, 'id'),
                                     [c.name, None if caller is None else str(caller)])
        for c in calls:
            if c.iterator and c.name.count('::') == 1:
                stats = {}
                visit(c, joined, stats, True, ())
                for number, x in stats.items():
                    x += described[number]
                want[c.event_id] = (host, number_of(c.e, 'id'), c.e.duration_ps, stats,
                                    number_of(c.e, 'id') in devices)
    return want


def tf_data(run):
    cut = bool(run.ask("SELECT 1 FROM (SELECT count(*) AS n FROM tf_data_calls({x})) AS t CROSS "
                       "JOIN prof_issues({x}) AS i WHERE t.n >= 0 AND i.code = 'tf_data_cut'"))
    try:
        want = calls_in(run)
    except Endless:
        want = None
    agree('cut off', cut, want is None)
    if want is None:
        return
    got = {r['event_id']: r for r in run.ask('SELECT * FROM tf_data_calls({x})')}
    agree('calls', sorted(got), sorted(want))
    by_pipeline = collections.defaultdict(list)
    iterators = collections.defaultdict(dict)
    for r in run.ask('SELECT * FROM tf_data_iterators({x})'):
        iterators[r['host'], r['pipeline'], r['call']][int(r['iterator_id'])] = [
            r[c] for c in ('duration_ps', 'self_ps', 'blocking', 'calls', 'start_ps', 'long_name',
                           'parent_id', 'name', 'is_async')]
    for event_id, (host, root, duration, stats, of_device) in want.items():
        r = got[event_id]
        by_pipeline[host, root].append((r, duration, of_device))
        agree('call %d' % event_id, [r['duration_ps'], r['pipeline'].partition(':')[0]],
              [duration, 'Device' if of_device else 'Host'])
        agree('iterators of call %d' % event_id, iterators[host, r['pipeline'], r['call']],
              {key: x + [x[5].rpartition('::')[2], int(x[5].rpartition('::')[2] in ASYNC)]
               for key, x in stats.items()})
        blocking = [x[1] for x in stats.values() if x[2] and x[1] > 0]
        agree('bottleneck of call %d' % event_id,
              [r['bottleneck_ps'], r['bottleneck_id'] is not None],
              [max(blocking, default=0), bool(blocking)])
        if blocking:
            agree('its time', stats[int(r['bottleneck_id'])][1], max(blocking))
    pipelines = {(r['host'], int(r['iterator_id'])): r
                 for r in run.ask('SELECT * FROM tf_data_pipelines({x})')}
    agree('pipelines', sorted(pipelines), sorted(by_pipeline))
    for key, of in by_pipeline.items():
        r, times = pipelines[key], [d for _, d, _ in of]
        agree('pipeline %s' % (key,),
              [r[c] for c in ('calls', 'slow_calls', 'avg_latency_ps', 'min_latency_ps',
                              'max_latency_ps', 'is_input_bound')],
              [len(of), sum(t > SLOW_PS for t in times), sum(times) // len(times), min(times),
               max(times), int(max(times) > SLOW_PS and not of[0][2])])
        agree('longest call first', [d for x, d, _ in sorted(of, key=lambda x: x[0]['call'])],
              sorted(times, reverse=True))
        agree('bottleneck of the longest', r['bottleneck_ps'],
              next(x['bottleneck_ps'] for x, _, _ in of if x['call'] == 1))


def visit(call, joined, stats, blocking, around):
    """Adds up iterators of a call: [duration, self time, blocking, calls, earliest start]. One
    without an id only takes time off its caller."""
    if not call.iterator:
        return
    if call.event_id in around:
        raise Endless
    below = iterators_in(call) + joined[call.event_id]
    entry = stats.setdefault(number_of(call.e, 'id'), [0, 0, 0, 0, call.e.start_ps])
    entry[4] = min(entry[4], call.e.start_ps)
    entry[0] += call.e.duration_ps
    entry[1] += call.e.duration_ps - sum(overlap(call, x) for x in below)
    entry[2] |= int(blocking)
    entry[3] += 1
    for x in below:
        visit(x, joined, stats, blocking and overlap(call, x) > 0, around + (call.event_id,))


# ---- random runs ----

NAMES = ['Prefetch', 'ParallelMapV2', 'MapAndBatch', 'Range', 'TFRecord', 'Generator', 'Model']
KINDS = ['Prefetch', 'ParallelMap', 'ParallelBatch']
met = collections.Counter()


def random_iterators(dice):
    """{id: (name, id of the caller or None)}, as a program has them: an id belongs to one
    iterator."""
    found = {}
    for id in [1, 2, 3, 4, 5, -7, 2**63 + 5]:
        caller = dice.choice([None] + list(found)) if found else None
        above = found[caller][0] if caller else 'Iterator'
        found[id] = (above + '::' + dice.choice(NAMES), caller)
        if dice.random() < 0.2:
            found[id] = ('Iterator::' + dice.choice(NAMES), caller)
    if dice.random() < 0.3:
        found[5] = ('Iterator::Prefetch::Generator', dice.choice([1, 2]))
    return found


def number_stat(number):
    return {'uint64': number} if number >= 2**63 else {'int64': number}


def random_event(dice, wide, iterators):
    """Times of a small grid, so that many are equal."""
    start = dice.randint(0, 30)
    length = dice.choice([0, 1, 2, 3, 8]) if dice.random() < 0.6 else dice.randint(0, wide)
    at = (start * 10**7, length * 10**7)
    what = dice.random()
    if what < 0.1:
        return ('anything',) + at
    if what < 0.35:
        number = dice.choice([{'int64': dice.randint(1, 3)}, {'uint64': dice.randint(1, 3)},
                              {'str': '1'}] + 5 * [{'int64': 1}])
        return (dice.choice(KINDS) + dice.choice(['Produce', 'Consume']),) + at + (
            {'element_id': number} if dice.random() < 0.95 else {},)
    id = dice.choice([1, 1, 2, 2] + list(iterators))
    name, caller = iterators[id]
    stats = {} if caller is None else {'parent_id': number_stat(caller)}
    if dice.random() < 0.95:
        stats['id'] = number_stat(id) if dice.random() < 0.95 else {'str': '3'}
    return (name,) + at + (stats,)


def random_run(dice, folder):
    os.makedirs(folder)
    files = []
    for i in range(dice.randint(1, 2)):
        plane, iterators = Plane('/host:CPU'), random_iterators(dice)
        for number in range(dice.randint(1, 4)):
            events = [random_event(dice, dice.choice([5, 20, 40]), iterators)
                      for _ in range(dice.randint(1, 24))]
            if dice.random() < 0.5:
                events.sort(key=lambda e: (e[1], -e[2]))
            plane.line(number + 1, 'thread%d' % number, events,
                       timestamp_ns=dice.choice([0, 0, 10000]))
        planes = [plane.bytes()]
        if dice.random() < 0.1:
            planes.append(Plane('/host:CPU', 2).line(1, 'of another plane',
                                                     [random_event(dice, 9, iterators)]).bytes())
        files.append(os.path.join(folder, 'host%d.xplane.pb' % i))
        with open(files[-1], 'wb') as f:
            f.write(space(*planes))
    return Run(folder, files)


def note(run):
    """What the random runs are for."""
    try:
        calls = calls_in(run)
    except Endless:
        met['endless'] += 1
        return
    for _, _, _, stats, of_device in calls.values():
        met['call'] += 1
        met['of a device'] += of_device
        met['several iterators'] += len(stats) > 2
        met['negative self time'] += any(x[1] < 0 for x in stats.values())
        met['not blocking'] += any(not x[2] for x in stats.values())
        met['called again'] += any(x[3] > 1 for x in stats.values())


if __name__ == '__main__':
    for one in runs():
        with checking('tf_data ' + one.path):
            tf_data(one)
    first = int(os.environ.get('SEED', 1))
    with tempfile.TemporaryDirectory() as top:
        for seed in range(first, first + int(os.environ.get('RANDOM_RUNS', 60))):
            made = random_run(random.Random(seed), os.path.join(top, 'plugins/profile/%d' % seed))
            note(made)
            with checking('tf_data of seed %d' % seed):
                tf_data(made)
    with checking('random runs meet all ways'):
        agree('ways', [w for w in ('call', 'of a device', 'several iterators', 'negative self time',
                                   'not blocking', 'called again') if not met[w]], [])
    finish()
