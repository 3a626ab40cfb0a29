#!/usr/bin/env python3
"""What steps of GPUs and of hosts without devices spend their time on, from the bytes of each
profile: the actual columns of core_steps and steps; the marks, copies and collectives of
host_steps.

Which steps there are and when they run is compared with XProf elsewhere (tests/parity). At each
moment of a step the most important activity of its events counts, as docs/semantics.md orders them.
Which step an event is of comes from trace_events.step, which is compared with the bytes here where
the file contains groups, and of events on TPUs that have groups of their own."""
import collections
import os
import re
import sys

sys.dont_write_bytecode = True
from compare import agree, agree_one_of, looks_at_all, main, numbered, tried  # noqa: E402
from device_time import COLLECTIVE, TRANSFER, kind_of_stream_event, work_lines  # noqa: E402
from xspace import Stats  # noqa: E402

ORDER = ['device_compute', 'output', 'device_to_device', 'wait', 'device_collectives', 'input',
         'host_copies', 'compilation', 'kernel_launch', 'host_compute']


def of_gpu(e, detailed):
    kind = kind_of_stream_event(e.name, id(e.meta) in detailed)
    if kind == COLLECTIVE:
        return 'device_collectives'
    if kind == TRANSFER:
        text = e.name
        if re.search('DtoH|D2H|DeviceToHost', text, re.I):
            return 'output'
        if re.search('DtoD|D2D|P2P|PtoP|DeviceToDevice', text, re.I):
            return 'device_to_device'
        if re.search('HtoD|H2D|HostToDevice', text, re.I):
            return 'input'
        if re.search('HtoH|H2H|HostToHost', text, re.I):
            return 'host_copies'
        return 'device_to_device'
    return 'device_compute'


def is_compiling(name):
    return bool(re.match('backend_compile|XlaCompile', name)
                or re.search('::Compile|Compiler::Run', name))


def integer(value):
    """A stat without a value is 0."""
    return value if isinstance(value, int) else 0 if value is None else -1


def is_marker(name):
    return name.startswith(('train', 'test', 'TraceContext')) and '/' not in name


def of_thread(e, step_name, has_device):
    """None: an event that only surrounds others."""
    name = e.name
    if is_marker(name) or 'step_name' in e.stats or (
        e.stats.get('_r') and (step_name or '').startswith(name + ' ')) or name.startswith(
            ('EagerExecute', 'EagerLocalExecute', 'EagerKernelExecute', 'FunctionRun')):
        return None
    if re.match('MemcpyHtoD', name, re.I) or name.partition(':')[2].startswith('InfeedEnqueue'):
        return 'input'
    if re.match('MemcpyHtoH', name, re.I):
        return 'host_copies'
    if is_compiling(name):
        return 'compilation'
    if has_device and (integer(e.stats.get('correlation_id', -1)) >= 0
                       or name.startswith('ExecutorState::Process')):
        return 'kernel_launch'
    if name.startswith('IteratorGetNext'):
        return 'wait'
    return 'host_compute'


def swept(spans, start, end):
    """{activity: ps} between two moments, the most important at each."""
    moments = collections.defaultdict(list)
    for first, last, what in spans:
        first, last = max(first, start), min(last, end)
        if first < last:
            moments[first].append((what, 1))
            moments[last].append((what, -1))
    sums, running, since = collections.Counter(), collections.Counter(), start
    for moment in sorted(moments):
        most = next((what for what in ORDER if running[what]), None)
        if most:
            sums[most] += moment - since
        for what, n in moments[moment]:
            running[what] += n
        since = moment
    return sums


def has_groups(planes):
    """Whether the file contains groups, so that XProf groups nothing."""
    return all('group_id' in p.stat_names.values() for p in planes
               if p.name.startswith(('/host:', '/device:')))


def groups_others(plane, line):
    """Whether the line may group the events of its plane, so that its own groups do not count."""
    steps = any('Steps' in other.name and other.events for other in plane.lines)
    return 'Steps' in line.name or not steps and 'Modules' in line.name


def first_number(e):
    """The first group_id of the event; 0 if it is no integer."""
    group = Stats(e.line.plane, e.messages).get('group_id')
    return group if isinstance(group, int) else 0


def steps_of_events(run):
    want, several = {}, 0
    grouped = {host: has_groups(planes) for host, planes in run.hosts.items()}
    for event_id, host, plane, line, e in numbered(run):
        own = [Stats(plane, [m]).get('group_id') for m in e.messages]
        n = len(own) - own.count(None)
        if grouped[host]:
            last_counts = plane.kind == 'host' or plane.kind == 'gpu' and not line.derived
            group = Stats(plane, reversed(e.messages) if last_counts else e.messages).get(
                'group_id') if n else -1
            group = group if isinstance(group, int) else 0
            want[event_id] = group if group >= 0 else None
            several += n > 1
        elif n and plane.name.startswith('/device:TPU:') and not groups_others(plane, line):
            group = first_number(e)
            want.update({event_id: group} if group >= 0 else {})
            several += n > 1
    if want:
        got = {r['event_id']: r['step']
               for r in run.ask('SELECT event_id, step FROM trace_events({x})')}
        agree('group of each event', {key: got[key] for key in want}, want)
    return several


# Where an event is: whether its host has a GPU, whether its line is a thread of the host or work of
# a GPU, and the names of the plane's copies that have details.
Place = collections.namedtuple('Place', 'host kind has_device on_threads is_work detailed')


def events_of(run):
    """(event id, Place, event) of each event."""
    event_id = 0
    for host, planes in run.hosts.items():
        has_device = any(p.kind == 'gpu' for p in planes)
        threads = next((p for p in planes if p.name == '/host:CPU'), None)
        for plane in planes:
            work = work_lines(plane) if plane.kind == 'gpu' else []
            detailed = {id(e.meta) for l in work for e in l.events
                        if any(k == 'memcpy_details' for k in e.stats)}
            for line in plane.lines:
                place = Place(host, plane.kind, has_device, plane is threads, line in work,
                              detailed)
                for e in line.events:
                    yield event_id, place, e
                    event_id += 1


def check(run):
    cores = [r for r in run.ask('SELECT * FROM core_steps({x}) WHERE plane_id IS NULL '
                                'AND step IS NOT NULL')]
    if not cores:
        return
    # If only the framework marks the steps, an event belongs to the step during which it runs.
    by_time = any(r['outside_xprof'] for r in cores)
    steps = {(r['host'], r['group_id']): r['step']
             for r in run.ask('SELECT host, group_id, step FROM host_steps({x}) '
                              'WHERE group_id IS NOT NULL AND step IS NOT NULL')}
    dropped = {r['step'] for r in run.ask('SELECT step FROM steps({x}) WHERE dropped')}
    events = run.ask('SELECT event_id, step, step_name FROM trace_events({x}) '
                     'WHERE step IS NOT NULL')
    groups, names = {r['event_id']: r['step'] for r in events}, {r['event_id']: r['step_name']
                                                                 for r in events}
    spans, of_no_step = collections.defaultdict(list), collections.defaultdict(list)
    for event_id, at, e in events_of(run):
        group = groups.get(event_id)
        step = steps.get((at.host, group), group if group in dropped else None)
        if e.duration_ps <= 0:
            continue
        if by_time:
            what = of_gpu(e, at.detailed) if at.is_work else of_thread(
                e, names.get(event_id), at.has_device) if at.on_threads else None
            if what:
                of_no_step[at.host].append((e.start_ps, e.end_ps, what))
            continue
        if group is None and not at.has_device and at.on_threads and isinstance(
            e.stats.get('hlo_op'), str) and e.stats['hlo_op']:
            of_no_step[at.host].append((e.start_ps, e.end_ps, 'host_compute'))
        if step is None:
            continue
        if at.is_work:
            spans[at.host, step].append((e.start_ps, e.end_ps, of_gpu(e, at.detailed)))
        elif at.on_threads:
            what = of_thread(e, names[event_id], at.has_device)
            if what:
                spans[at.host, step].append((e.start_ps, e.end_ps, what))
    # The regions that XProf adds to threads between StartRegion and StopRegion also count as
    # computing on the host.
    with_threads = {host for host, planes in run.hosts.items() for p in planes
                    if p.name == '/host:CPU' and any(l.events for l in p.lines)}
    with_regions = {host for host, planes in run.hosts.items() for p in planes
                    if any(m.name == 'ThreadpoolListener::StartRegion' for m in p.metas.values())}
    for r in cores:
        start, total = r['start_ps'], round(r['total_us'] * 1e6)
        sums = swept(spans[r['host'], r['step']] + of_no_step[r['host']], start, start + total)
        want = {c: sums[c] / 1e6 for c in ('device_compute', 'output', 'device_to_device',
                                           'device_collectives', 'kernel_launch', 'host_compute')}
        want['input'] = (sums['wait'] + sums['input']) / 1e6
        want['compilation'] = sums['compilation'] / 1e6 if r['host'] in with_threads else None
        want['all_others'] = (total - sum(sums.values())) / 1e6
        if r['host'] in with_regions:
            want.pop('host_compute'), want.pop('all_others')
        agree('step %s of %s' % (r['step'], r['host']), {c: r[c + '_us_actual'] for c in want},
              want, abs_tol=1e-6 + 2**-52 * r['total_us'])


COPIES = {'input': 'host_to_device', 'output': 'device_to_host',
          'device_to_device': 'device_to_device'}
LEVELS = {'ProcessBatch': 2, 'OrbaxServing::ProcessBatch': 2, 'BatchingSessionRun': 1}
IMPLICIT = ('FunctionRun', 'SessionRun', 'RunGraph', 'ExecutorState::Process')


class HostStep:
    """What the events of a group on a host are."""

    def __init__(self):
        self.markers, self.openers, self.copies = [], [], collections.defaultdict(list)
        self.collectives = self.waits = self.on_threads = self.on_gpus = 0

    def add_on_threads(self, e, what):
        level = LEVELS.get(e.name, e.stats.get('_r'))
        if is_marker(e.name):
            self.markers.append(e)
        elif isinstance(level, int):
            self.openers.append((-level, e.start_ps, len(self.openers), e))
        self.on_threads += what is not None
        if e.duration_ps > 0 and what in ('wait', 'input'):
            self.waits += e.duration_ps

    def add_on_gpu(self, e, what):
        self.on_gpus += 1
        if integer(e.stats.get('correlation_id', -1)) < 0:
            return
        self.collectives += what == 'device_collectives'
        if what in COPIES and re.search('[HDP](to|2)[HDP]', e.name, re.I):
            size = re.search('(?:size|num_bytes):([0-9]+)',
                             str(e.stats.get('memcpy_details', '')))
            self.copies[what].append(int(size.group(1)) if size else None)

    @property
    def opener(self):
        """The event that opens the group, if it marks it."""
        e = min(self.openers)[3] if self.openers else None
        return e if e and e.name not in IMPLICIT else None

    @property
    def range(self):
        """[start, length] of the longest marker."""
        found = self.markers + [self.opener] * (self.opener is not None)
        e = max(found, key=lambda e: (e.duration_ps, -e.start_ps), default=None)
        return [e.start_ps, e.duration_ps] if e else [None, None]


def read_steps(run):
    """{(host, group): HostStep}, and the ranges of each host that only the framework marks."""
    found, outside = collections.defaultdict(HostStep), collections.defaultdict(list)
    groups = {r['event_id']: r['step'] for r in run.ask(
        'SELECT event_id, step FROM trace_events({x}) WHERE step IS NOT NULL')}
    for event_id, at, e in events_of(run):
        group, number = groups.get(event_id), e.stats.get('step_num')
        if e.name == 'Profiled batch' and (group is None or not e.stats.get('_r')):  # of Keras 3
            outside[at.host].append([number, e.name, *[e.start_ps, e.duration_ps] * 2, None])
        if group is None:
            continue
        of = found[at.host, group]
        if at.on_threads:
            of.add_on_threads(e, of_thread(e, None, at.has_device))
        if at.is_work:
            of.add_on_gpu(e, of_gpu(e, at.detailed))
    return found, outside


def marks(run, rows):
    """Ranges and input of host threads, and which steps have no times."""
    found, outside = read_steps(run)
    for r in rows:
        of = found[r['host'], r['group_id']]
        what = 'step %s of %s' % (r['group_id'], r['host'])
        span, times = [r['start_ps'], r['duration_ps']], [r['range_start_ps'], r['range_ps']]
        if r['group_id'] is None:
            agree_one_of('marked by the framework', [r['step'], r['name'], *span, *times,
                                                     r['host_input_ps']], outside[r['host']])
            continue
        agree('range of ' + what, times, of.range)
        recorded = of.on_threads - (of.opener is not None
                                    and of_thread(of.opener, None, False) is not None)
        kinds = {p.kind for p in run.hosts[r['host']]}
        if not kinds & {'tensorcore', 'sparsecore'}:
            agree('input of ' + what, r['host_input_ps'], of.waits if recorded else None)
        if not kinds & {'gpu', 'tensorcore', 'sparsecore'}:
            agree('times of ' + what, span, of.range)


def host_steps(run):
    rows = run.ask('SELECT * FROM host_steps({x})')
    if rows:
        marks(run, rows)
    if not rows or any(p.kind == 'tensorcore' for planes in run.hosts.values() for p in planes):
        return
    has_gpu = {host: any(p.kind == 'gpu' for p in planes) for host, planes in run.hosts.items()}
    found, _ = read_steps(run)
    begin = {r['step']: (r['start_ps'], r['duration_ms'] * 1e9, r['name'])
             for r in run.ask('SELECT * FROM steps({x}) WHERE NOT outside_xprof')}
    for r in rows:
        of = found[r['host'], r['group_id']]
        what = 'step %s of %s' % (r['group_id'], r['host'])
        if has_gpu[r['host']] and r['group_id'] is not None:
            agree('work of ' + what, [r['collective_count']] + [
                r['%s_count' % c] for c in COPIES.values()] + [r['%s_bytes' % c]
                                                             for c in COPIES.values()],
                  [of.collectives] + [len(of.copies[c]) for c in COPIES]
                  + [None if None in of.copies[c] else sum(of.copies[c]) for c in COPIES])
        if len(run.hosts) == 1 and r['group_id'] is not None:
            agree('number of ' + what, r['step'], None if r['dropped'] else r['group_id'])
        if len(run.hosts) == 1 and r['step'] in begin:
            agree('times of ' + what, [r['group_id'], r['start_ps'], r['duration_ps'],
                                       r['name']], [r['step'], *begin[r['step']]])


AT_ENDS = 'first or last of more than five steps: may be incomplete'


def marks_of_steps(run):
    """Of a host's groups that are steps, the first and the last of more than five are dropped, but
    not on a TPU; steps without a group are those that only the framework marks."""
    hosts = collections.defaultdict(list)
    for r in run.ask('SELECT * FROM host_steps({x}) ORDER BY host, coalesce(group_id, start_ps)'):
        hosts[r['host']].append(r)
    ends, outside = set(), {}
    for host, of in hosts.items():
        steps = [r for r in of if r['group_id'] is not None
                 and r['dropped'] in (None, AT_ENDS)]
        on_tpu = any(p.name.startswith('/device:TPU:') for p in run.hosts[host])
        for i, r in enumerate(steps):
            at_ends = not on_tpu and len(steps) > 5 and i in (0, len(steps) - 1)
            agree('whether step %s of %s is dropped' % (r['group_id'], host), r['dropped'],
                  AT_ENDS if at_ends else None)
            if at_ends:
                ends.add(r['group_id'])
        outside[host] = not steps
    if len(run.hosts) != 1:  # merged steps exclude dropped ones
        return
    for table in ('steps', 'core_steps', 'step_breakdown'):
        for r in run.ask('SELECT DISTINCT step, dropped, outside_xprof FROM %s({x})' % table):
            agree('marks of step %s in %s' % (r['step'], table), [r['dropped'], r['outside_xprof']],
                  [int(r['step'] in ends and not outside[host]), int(outside[host])])


several = []


def each(run):
    for one in (check, host_steps, marks_of_steps):
        tried('%s %s' % (one.__name__, run.path), one, run)
    tried('steps of events ' + run.path, lambda: several.append(steps_of_events(run)))


def made():
    if looks_at_all():
        tried('events with several groups', agree, 'there are some', any(several), True)


if __name__ == '__main__':
    main(each, made)
