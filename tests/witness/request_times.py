#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the time of each request to a model server was spent on: the columns of inference_requests
that divide up duration_ps_actual, and batch_formation_ps, from the bytes of each profile, as
docs/semantics.md defines them (Requests to a model server).

Which group an event has (trace_events.step), and the start, length and batches of each request are
the program's: they are compared with XProf (tests/parity) and by serving.py. Random servers have
GPUs, split requests, odd transfers and events that come several times; a way that none of them has
is a failure."""
import collections
import json
import os
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from activities import events_of, has_groups, of_gpu  # noqa: E402
from compare import Run, agree, check_random, main, tried  # noqa: E402
from device_time import ends  # noqa: E402
from lib.wire import Plane, space  # noqa: E402

# The later in this list, the more important.
ACTIVITIES = ['idle', 'host_preprocess', 'host_postprocess', 'batch_formation', 'host_runtime',
              'write_to_device', 'read_from_device', 'device_compute']
EXECUTE = ('TPUPartitionedCallOp-ExecuteLocal', 'TPUPartitionedCallOp-ExecuteRemote',
           'TPUPartitionedCallOp-InitializeVarOnTPU', 'tpu::System::Execute')
CALLBACK = ('CompleteCallbacks',)
FORMED = ('ConcatInputTensors', 'OrbaxServing::ConcatInputBuffers', 'MergeInputTensors',
          'BrainSessionRun')
SCHEDULE = ('ScheduleWithSplit', 'ScheduleWithoutSplit', 'ScheduleWithEagerSplit',
            'ASBSQueue::Schedule')
ENQUEUE = ('DoEnqueueProgram', 'DoEnqueueContinuationProgram')
SPANS = {'WriteHbm': 'write_to_device', 'TransferH2DRequest': 'write_to_device',
         'TransferPreprocessedH2DRequest': 'write_to_device', 'ReadHbm': 'read_from_device',
         'TransferD2HRequest': 'read_from_device'}
OF_GPU = {'input': 'write_to_device', 'output': 'read_from_device'}
TRANSFERS = {'tpu::System::TransferToDevice=>IssueEvent': 'write_to_device',
             'tpu::System::TransferFromDevice=>IssueEvent': 'read_from_device'}
DONE = '=>Done'
RUN_IDS = 1 << 27  # a launch has more bits than the execution
met = collections.Counter()  # what the random servers have


class Group:
    """Events of a group on a host: starts of events of threads by name, in the order of the file,
    ends of executions, and spans that are one activity, those of GPUs apart."""

    def __init__(self):
        self.starts, self.ends = collections.defaultdict(list), []
        self.spans, self.of_gpus = [], []

    def chosen(self, names):
        """Of several starts the last in the file, of the last of these names that there is."""
        return ([self.starts[name][-1] for name in names if name in self.starts] or [None])[-1]


class Transfers:
    """Starts and ends of a host's transfers: {(name of the start, _c): event, the last in the
    file}."""

    def __init__(self):
        self.starts, self.ends = {}, {}

    def add(self, group, e):
        id = e.stats.get('_c')
        if e.name in TRANSFERS:
            self.starts[e.name, id] = (group, e)
        elif e.name.endswith(DONE) and e.name[:-len(DONE)] in TRANSFERS:
            self.ends[e.name[:-len(DONE)], id] = (group, e)

    def pairs(self):
        """(group, activity, start, end)"""
        for (name, id), (group, start) in self.starts.items():
            of_end, end = self.ends.get((name, id), (None, None))
            if id is not None and end is not None and end.start_ps > start.start_ps:
                met['transfer to another group'] += of_end != group
                yield group, TRANSFERS[name], start.start_ps, ends(end)


def is_execution(at, e):
    return at.kind == 'tensorcore' and e.line.name == 'XLA Modules'


def launch_key(e, device):
    """What an execution on a device has in common with the event that launches it; None: nothing,
    if one of these is missing."""
    queue, run = e.stats.get('queue_id'), e.stats.get('run_id')
    if device is None or not isinstance(queue, int) or not isinstance(run, int):
        return None
    return device, queue, run % RUN_IDS, e.stats.get('core_type', 0)


def launches_of(run):
    """{event id: id of the event that launches it, None if nothing does} of executions on cores
    without steps, in files without groups."""
    grouped = {host for host, planes in run.hosts.items() if has_groups(planes)}
    launches, found, with_steps = {}, {}, set()
    for event_id, at, e in events_of(run):
        if at.on_threads and e.name == ENQUEUE[0]:
            launches[at.host, launch_key(e, e.stats.get('device_ordinal'))] = event_id
        elif e.line.name == 'Steps':
            with_steps.add(e.line.plane)
    for event_id, at, e in events_of(run):
        if is_execution(at, e) and e.line.plane not in with_steps and at.host not in grouped:
            key = launch_key(e, int(e.line.plane.name.rpartition(':')[2]))
            found[event_id] = launches.get((at.host, key)) if key else None
    return found


def groups_of(run):
    """{(host, group): Group}"""
    group_of = {r['event_id']: r['step'] for r in run.ask(
        'SELECT event_id, step FROM trace_events({x}) WHERE step IS NOT NULL')}
    found, transfers = collections.defaultdict(Group), collections.defaultdict(Transfers)
    launches = launches_of(run)
    for event_id, at, e in events_of(run):
        group = group_of.get(launches.get(event_id, event_id))
        if group is None:
            continue
        of, span = found[at.host, group], (e.start_ps, ends(e))
        if at.is_work and e.occurrences is None:
            of.of_gpus.append((OF_GPU.get(of_gpu(e, at.detailed), 'device_compute'), *span))
        elif is_execution(at, e):
            of.spans.append(('device_compute', *span))
            of.ends.append(ends(e))
        elif at.on_threads and not e.line.derived:
            of.starts[e.name].append(e.start_ps)
            transfers[at.host].add(group, e)
            if e.name in SPANS:
                of.spans.append((SPANS[e.name], *span))
    for host, of in transfers.items():
        for group, *span in of.pairs():
            found[host, group].spans.append(tuple(span))
    return found


def spans_of(groups, start, end):
    """(activity, start, end) of a request with the events of these groups, in order of their
    numbers, without those of GPUs."""
    found = [span for g in groups for span in g.spans]
    executed, called, scheduled, formed = ([
        at for at in (g.chosen(names) for g in groups) if at is not None]
        for names in (EXECUTE, CALLBACK, SCHEDULE, FORMED))
    completed = called or [at for g in groups for at in g.ends]
    if executed:
        found.append(('host_preprocess', start, min(executed)))
    if completed:
        found.append(('host_postprocess', max(completed), end))
    if scheduled and formed:
        found.append(('batch_formation', scheduled[0], min(formed)))
    for g in groups:
        launched = [at for name in ENQUEUE for at in g.starts.get(name, [])]
        if launched and g.chosen(EXECUTE) is not None:
            found.append(('host_runtime', g.chosen(EXECUTE), min(launched)))
    return found


def divided(spans, start, end):
    """{activity: ps}: each piece between two moments is of the most important activity."""
    moments = sorted({start, end} | {m for _, first, last in spans for m in (first, last)
                                     if start < m < end})
    sums = dict.fromkeys(ACTIVITIES, 0)
    for first, last in zip(moments, moments[1:]):
        running = [a for a, since, until in spans if since <= first and until >= last]
        sums[max(running, key=ACTIVITIES.index, default='idle')] += last - first
        met['activities at once'] += len(set(running)) > 3
    return sums


def check(run):
    requests = run.ask('SELECT * FROM inference_requests({x})')
    groups = groups_of(run) if requests else {}
    for r in requests:
        numbers = sorted({r['request_id'], *json.loads(r['batch_ids'])})
        of = [groups[r['host'], n] for n in numbers]
        start, end = r['start_ps'], r['start_ps'] + r['duration_ps_actual']
        on_host = spans_of(of, start, end)
        want = divided(on_host + [x for g in of for x in g.of_gpus], start, end)
        what = 'request %s of %s' % (r['request_id'], r['host'])
        agree('times of ' + what, {a: r[a + '_ps_actual'] for a in ACTIVITIES}, want)
        # XProf counts some of the spans that end before they start, or are not in the request.
        if all(start <= first < last <= end for _, first, last in on_host):
            agree('batch formation of ' + what, r['batch_formation_ps'],
                  divided(on_host, start, end)['batch_formation'])
        note(of, want, r)


def note(of, want, r):
    """What the random servers are for."""
    met.update(a for a in ACTIVITIES if want[a])
    met['split'] += len(of) > 2
    end = r['start_ps'] + r['duration_ps_actual']
    met['longer than the request'] += any(x[2] > end for g in of for x in g.spans + g.of_gpus)
    met['longer than to XProf'] += r['duration_ps_actual'] > r['duration_ps']
    met['work of a GPU'] += any(g.of_gpus for g in of)
    met['copy of a GPU'] += any(x[0] in OF_GPU.values() for g in of for x in g.of_gpus)
    met['no callback'] += bool(want['host_postprocess']) and not any(
        g.starts.get(name) for g in of for name in CALLBACK)
    for names in (EXECUTE, CALLBACK, SCHEDULE, FORMED, ENQUEUE):
        met['several ' + names[0]] += any(
            sum(len(g.starts.get(name, [])) for name in names) > 1 for g in of)


# ---- random servers ----

COPIES = ['MemcpyHtoD', 'MemcpyH2D', 'MEMCPYDtoH', 'MemcpyD2H', 'MemcpyDtoD', 'Memset',
          'ncclKernel', 'gemm', 'CopyHostToDevice']
OTHERS = ['SessionRun', 'DoEnqueueProgramX', 'tpu::System::Executed', 'WriteHbmx']
CALLS = (EXECUTE * 2 + FORMED * 2 + ENQUEUE * 3 + CALLBACK * 4 + SCHEDULE + tuple(SPANS) * 2
         + tuple(OTHERS) + tuple(x + y for x in TRANSFERS for y in ('', DONE)) * 3)


WAYS = ACTIVITIES + [
    'split', 'longer than to XProf', 'longer than the request', 'work of a GPU', 'copy of a GPU',
    'no callback', 'activities at once', 'transfer to another group'] + [
        'several ' + names[0] for names in (EXECUTE, CALLBACK, SCHEDULE, FORMED, ENQUEUE)]


def number(value):
    return {'int64': value}


class Server:
    """A host with requests, batches, streams of a GPU and TensorCores, whose work can go on
    after the request. The grid of time is coarse, so many times are equal."""

    def __init__(self, dice):
        self.dice, self.kernels, self.runs, self.batches = dice, [], [], []
        self.calls = dice.choice([CALLS, CALLS, [c for c in CALLS if c not in CALLBACK],
                                  CALLBACK + EXECUTE + FORMED + ENQUEUE])
        at = dice.randint(5, 40)
        for _ in range(dice.randint(1, 4)):
            end = at + dice.randint(1, 40)
            self.batches.append((at, end))
            at = end + dice.randint(0, 9)

    def call(self, name, start, end, id):
        """An event, whose transfers are those of a batch or a request of this id."""
        dice, stats = self.dice, {}
        first = dice.randint(start, end)
        last = dice.choice([first, dice.randint(first, end), min(first + 1, end)])
        if name in ENQUEUE and dice.random() < 0.9:
            self.runs.append((first, end))
            stats = {'run_id': number(len(self.runs) + RUN_IDS * dice.choice([0, 0, 5]))}
            stats.update({k: number(dice.choice([0, 0, 1])) for k in (
                'queue_id', 'device_ordinal', 'core_type') if dice.random() < 0.9})
        if 'IssueEvent' in name and dice.random() < 0.95:
            stats = {'_c': number(id * 10 + dice.randint(1, 2)), '_ct': number(7)}
        return name, first * 1000, (last - first) * 1000, stats

    def work(self, start, end, id):
        dice, found = self.dice, []
        for _ in range(dice.choice([0, 1, 3, 8, 16])):
            found.append(self.call(dice.choice(self.calls), start, end, id))
        for _ in range(dice.choice([0, 0, 1, 4])):
            name, first, *_ = self.call('cuLaunchKernel', start, end, id)
            self.kernels.append((first // 1000, end))
            found.append((name, first, 0, {'correlation_id': number(len(self.kernels))}))
        return found

    def batch_thread(self):
        found = []
        for i, (start, end) in enumerate(self.batches, 1):
            found.append(('ProcessBatch', start * 1000, (end - start) * 1000, {
                '_ct': number(4), '_c': number(1000 + i)}))
            found += self.work(start, end, i)
        return by_start(found)

    def request_thread(self, id):
        """Requests that are in no batch, in one or in several, some of which nobody runs. Some
        start transfers that end in their batch."""
        dice, at, found = self.dice, self.dice.randint(1, 10), []
        for id in range(id, id + dice.randint(1, 3)):
            end = at + dice.randint(1, 60)
            found.append(('BatchingSessionRun', at * 1000, (end - at) * 1000, {}))
            for _ in range(dice.choice([0, 1, 1, 2, 3])):
                name, first, duration, _ = self.call(dice.choice(SCHEDULE), at, end, id)
                batch = dice.choice([i for i, (start, _) in enumerate(self.batches, 1)
                                     if start * 1000 > first] or [len(self.batches) + 1])
                found.append((name, first, duration, {
                    'batching_input_task_size': number(3), '_pt': number(4),
                    '_p': number(1000 + batch)}))
                if dice.random() < 0.3:
                    found.append(self.call(dice.choice(list(TRANSFERS)), at, end, batch))
            found += self.work(at, end, id)
            at = end + dice.randint(0, 9)
        return by_start(found)

    def idle_thread(self):
        """Events that are of no request and of no batch."""
        ids = [1, 2, 200, 201]
        return by_start([self.call(self.dice.choice(self.calls), 0, 90, self.dice.choice(ids))
                         for _ in range(self.dice.choice([0, 3, 12]))])

    def line(self, launched, names, id):
        """What a stream or a core runs of {id: (launch, end)}, one after the other, sometimes
        without a pause."""
        dice, found, free = self.dice, [], 0
        for key, (start, end) in sorted(launched.items(), key=lambda x: x[1]):
            first = max(free, start + dice.choice([0, 1, 8]))
            last = first + dice.randint(0, 9)
            if dice.random() < 0.1:  # it goes on after what launched it
                last += dice.randint(0, end)
            if dice.random() < 0.9:
                stats = {k: number(dice.choice([0, 0, 1])) for k in ('queue_id', 'core_type')
                         if dice.random() < 0.9}
                found.append((dice.choice(names), first * 1000, (last - first) * 1000,
                              {id: number(key), **stats}))
                free = last + dice.choice([0, 1, 1])
        return found

    def core(self, id, number_of_core):
        plane = Plane('/device:TPU:%d' % number_of_core, id)
        runs = self.line(dict(enumerate(self.runs, 1)), ['m(1)'], 'run_id')
        if self.dice.random() < 0.5:
            plane.line(1, 'Steps', [(str(i), start, duration + self.dice.choice([0, 1000]), {})
                                    for i, (_, start, duration, _) in enumerate(runs)])
        return plane.line(2, 'XLA Modules', runs)


def by_start(events):
    return sorted(events, key=lambda e: (e[1], -e[2]))


def random_server(dice):
    server, plane = Server(dice), Plane('/host:CPU')
    plane.line(1, 'batches', server.batch_thread())
    for i in range(2, dice.randint(2, 4) + 1):
        plane.line(i, 'requests %d' % i, server.request_thread(100 * i))
    plane.line(9, 'idle', server.idle_thread())
    gpu, tpus = Plane('/device:GPU:0', 2), [server.core(3, 0), server.core(4, 1)]
    for i in range(2):
        gpu.line(i + 7, 'Stream #%d' % (i + 7), server.line(
            {k: v for k, v in enumerate(server.kernels, 1) if k % 2 == i}, COPIES,
            'correlation_id'))
    hosts = [plane, Plane('/host:CPU', 9).line(1, 'requests 9', server.request_thread(900))]
    devices = dice.choice([[gpu], tpus[:1], tpus, [gpu, *tpus], []])
    return space(*[p.bytes() for p in devices + hosts[:1 + (dice.random() < 0.3)]])


def random_run(dice, folder):
    os.makedirs(folder)
    path = os.path.join(folder, 'host.xplane.pb')
    with open(path, 'wb') as f:
        f.write(random_server(dice))
    return Run(folder, [path])


def each(run):
    tried('request_times ' + run.path, check, run)


def made():
    check_random('request_times', 60, random_run, check, 'servers', WAYS, met)


if __name__ == '__main__':
    main(each, made)
