#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The calls of tf.data pipelines (tf_data_pipelines, tf_data_calls, tf_data_iterators), from the
bytes of each profile and of random ones: iterators that nest, overlap, start or end together and
produce for each other on several threads (SEED=1 RANDOM_RUNS=60)."""
import collections
import os
import random
import re
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from compare import (Run, agree, agree_one_of, in_parts, integer, main,  # noqa: E402
                     numbered, seeds, tried)
from lib.wire import Plane, space  # noqa: E402

ASYNC = {'Prefetch', 'ParallelInterleave', 'ParallelMap', 'ParseExample', 'MapAndBatch',
         'DataService', 'LegacyParallelInterleave', 'ParallelBatch'}
JOINED = ('Prefetch', 'ParallelInterleave', 'ParallelMap', 'MapAndBatch', 'ParseExample',
          'ParallelBatch')
SLOW_PS = 50000000
# By the last part of an iterator's name: the kind of suggestion.
SUGGESTIONS = {name: kind for kind, names in {
    'slow source': 'TFRecord SSTable RecordIO Spanner TFColumn SleepwalkRemoteDataset TextLine '
    'StitchedTimelineDataset DateKeyDataset CapacitorProto LMDB ExternalDataset PearModel '
    'FixedLengthRecordV2 FromTensor TensorSlice Generator SyntheticDatasetOp',
    'slow remote source': 'GuzzlerDataGuzzlerRemoteDataset ReverbDataset DatasetSampleGame Courier '
    'ReverbEpisodeDataset', 'data service': 'DataService',
    'transformation with a parallel version': 'Map Interleave',
    'transformation without a parallel version': 'Filter Batch Unbatch'}.items()
    for name in names.split()}


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


def last_part(long_name):
    return long_name.rpartition('::')[2]


def is_ahead(name):
    """Of the list, with or without a version."""
    return int(re.sub(r'V[0-9]+$', '', name) in ASYNC)


def pipelines_of(want):
    """{(host, id of the outermost iterator): name}, counted by the first call in the file."""
    names, counts = {}, collections.Counter()
    for _, (host, root, _, _, of_device) in sorted(want.items()):
        kind = 'Device' if of_device else 'Host'
        if (host, root) not in names:
            names[host, root] = '%s:%d' % (kind, counts[host, kind])
            counts[host, kind] += 1
    return names


def bottleneck(r, stats, what):
    """Of the blocking iterators that took time one that took the longest."""
    most = max([x[1] for x in stats.values() if x[2]] + [0])
    agree('time of the bottleneck of ' + what, r['bottleneck_ps'], most)
    agree_one_of('bottleneck of ' + what, [
        r[c] for c in ('bottleneck_id', 'bottleneck', 'bottleneck_long_name', 'suggestion')], [
        [str(id), last_part(x[5]), x[5], SUGGESTIONS.get(last_part(x[5]), 'other')]
        for id, x in stats.items() if x[2] and x[1] == most] if most else [[None] * 4])


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
    asked = run.ask('SELECT * FROM tf_data_iterators({x})')
    in_parts(*[r[c] for r in asked for c in ('call', 'iterator_id', 'pipeline')])
    by_pipeline = collections.defaultdict(list)
    iterators = collections.defaultdict(dict)
    for r in asked:
        iterators[r['host'], r['pipeline'], r['call']][int(r['iterator_id'])] = [
            r[c] for c in ('duration_ps', 'self_ps', 'blocking', 'calls', 'start_ps', 'long_name',
                           'parent_id', 'name', 'is_async', 'is_async_actual', 'suggestion')]
    names, groups = pipelines_of(want), {r['event_id']: r['step'] for r in run.ask(
        'SELECT event_id, step FROM trace_events({x}) WHERE step IS NOT NULL')} if want else {}
    for event_id, (host, root, duration, stats, of_device) in want.items():
        r = got[event_id]
        by_pipeline[host, root].append((r, duration, of_device))
        agree('call %d' % event_id, [r['duration_ps'], r['pipeline'], r['group_id']],
              [duration, names[host, root], groups.get(event_id)])
        agree('iterators of call %d' % event_id, iterators[host, r['pipeline'], r['call']],
              {key: x + [last_part(x[5]), int(last_part(x[5]) in ASYNC), is_ahead(last_part(x[5])),
                         SUGGESTIONS.get(last_part(x[5]), 'other')] for key, x in stats.items()})
        bottleneck(r, stats, 'call %d' % event_id)
    pipelines = {(r['host'], int(r['iterator_id'])): r
                 for r in run.ask('SELECT * FROM tf_data_pipelines({x})')}
    in_parts(*[r['iterator_id'] for r in pipelines.values()])
    agree('pipelines', sorted(pipelines), sorted(by_pipeline))
    for key, of in by_pipeline.items():
        r, times = pipelines[key], [d for _, d, _ in of]
        agree('pipeline %s' % (key,),
              [r[c] for c in ('calls', 'slow_calls', 'avg_latency_ps', 'min_latency_ps',
                              'max_latency_ps', 'is_input_bound')],
              [len(of), sum(t > SLOW_PS for t in times), sum(times) // len(times), min(times),
               max(times), int(max(times) > SLOW_PS and not of[0][2])])
        agree('name of it', [r['pipeline'], r['kind']],
              [names[key], names[key].partition(':')[0].upper()])
        agree('longest call first', sorted((x['call'], d) for x, d, _ in of),
              list(enumerate(sorted(times, reverse=True), 1)))
        bottleneck(r, next(want[x['event_id']][3] for x, _, _ in of if x['call'] == 1),
                   'the longest')


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
NAMES = 4 * NAMES + sorted(SUGGESTIONS)
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


def each(run):
    tried('tf_data ' + run.path, tf_data, run)


def made():
    with tempfile.TemporaryDirectory() as top:
        for seed in seeds(60):
            run = random_run(random.Random(seed), os.path.join(top, 'plugins/profile/%d' % seed))
            note(run)
            tried('tf_data of seed %d' % seed, tf_data, run)
    tried('random runs meet all ways', lambda: agree(
        'ways', [w for w in ('call', 'of a device', 'several iterators', 'negative self time',
                             'not blocking', 'called again') if not met[w]], []))


if __name__ == '__main__':
    main(each, made)
