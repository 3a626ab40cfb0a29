#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What each rule of advice costs, summed from the rows of the tables that docs/semantics.md
(Advice) names, which have second sources of their own. Each profile is looked at alone and as the
two hosts of a run, which what is divided by hosts must notice."""
import collections
import os
import re
import statistics
import sys
import tempfile

sys.dont_write_bytecode = True
from compare import Run, agree, agree_one_of, in_parts, main, tried  # noqa: E402

IDLE = {'idle_launching': ['launching'], 'idle_input': ['input'], 'idle_waiting': ['waiting'],
        'idle_queued': ['queued'], 'idle_unknown': ['unknown'],
        'idle_compiling': ['compiling', 'tracing'], 'idle_host': ['host', 'python'],
        'idle_copying': ['copy']}
OF_GPUS, OF_DEVICES = ('idle_queued', 'tensorcore_missed', 'small_kernels'), (
    'idle_at_ends', 'exposed_communication', 'exposed_transfer', 'imbalance', 'padding')
TABLES = {
    'devices': 'device_time({x}) WHERE is_main AND busy_ps IS NOT NULL',
    'run': 'prof_runs({x})', 'causes': 'idle_causes({x})', 'cores': 'core_steps({x})',
    'functions': 'tf_functions({x})', 'steps': 'steps({x})', 'collectives': 'collectives({x})',
    'slices': 'dcn_collectives({x})', 'ops': 'top_hlo_ops({x}, 1000000000)',
    'listed': 'hlo_ops({x}) WHERE rank > 0',
    'padding': 'padding_waste({x}, 1000000)', 'wasted': 'top_wasted({x}, 1000000)',
    'missed': 'tensorcore_missed({x}, 1000000)', 'totals': 'event_totals({x})',
    'planes': "planes({x}) WHERE kind = 'host' AND event_count > 0", 'input_ops': 'input_ops({x})',
    'programs': 'hlo_modules({x})', 'exposed': 'exposed_communication({x})',
    'apart': 'async_ops({x}, 1)', 'layouts': 'layout_ops({x})'}
# Why rules are not checked: {reason: (whether it is true, the rules that need this)}
EVERY_IDLE = {*IDLE, 'idle_at_ends'}
OPS = {'recomputing', 'outside_compilation', 'data_movement'}
REASONS = {
    'no device has work': (lambda f: not f.devices, {*OF_DEVICES} | OPS | {
        'low_utilization', 'tensorcore_missed', 'small_kernels'}),
    'no device has work, and no op on a host thread leaves a gap': (
        lambda f: not f.devices and not f.causes, EVERY_IDLE),
    'no GPU has work': (lambda f: not f.has_gpu, {*OF_GPUS}),
    'no HLO op is recorded on a device': (lambda f: not f.ops or not f.devices, OPS),
    'no host thread has an event': (lambda f: not f.planes, EVERY_IDLE | {'retracing'} - {
        'idle_unknown', 'idle_at_ends'}),
    'no complete step was found': (lambda f: not f.complete, {'input', 'slow_steps'}),
    'the file has no HLO program': (lambda f: not f.programs, {'padding', 'data_movement'}),
    "the operations and bytes of ops, or the devices' peak rates, are unknown": (
        lambda f: not is_any_known(f.ops), {'low_utilization'}),
    'it is unknown which collectives of the devices belong together': (
        lambda f: f.collectives and all(c['wait_ps'] is None and c['global_wait_ps'] is None
                                        for c in f.collectives), {'imbalance'}),
    'no transfer between slices is recorded': (lambda f: not f.slices, {'stall_between_slices'})}
# What a rule's query shows of its cost: {rule: (column, its units in a ms, whether of all devices)}
SHOWN = {
    **{rule: ('idle_us', 1e3, False) for rule in IDLE
       if rule != 'idle_queued'},
    'recomputing': ('event_self_time_us', 1e3, True), 'data_movement': ('self_us', 1e3, True),
    'outside_compilation': ('self_ms', 1, True),
    'small_kernels': ('total_ms', 1, True), 'padding': ('padding_time_us', 1e3, True),
    'low_utilization': ('wasted_time_us', 1e3, True),
    'tensorcore_missed': ('total_duration_us', 1e3, True)}


class Facts:
    def __init__(self, run):
        names = list(TABLES)
        answers = run.ask_all(*('SELECT * FROM ' + TABLES[name] for name in names),
                              'SELECT min(start_ps) AS first, max(start_ps + max(duration_ps, 0)) '
                              'AS last FROM trace_events({x}) WHERE NOT derived AND occurrences '
                              'IS NULL')
        self.__dict__.update(zip(names + ['events'], answers))
        self.hosts, self.n = self.run[0]['host_count'], len(self.devices)
        self.has_gpu = any(d['kind'] == 'gpu' for d in self.devices)
        self.complete = [s for s in self.steps if not s['dropped']]

    def time_ms(self):
        """Time of the run."""
        if self.devices:
            return sum(d['span_ps'] for d in self.devices) / self.n / 1e9
        ps = self.run[0]['duration_ps']
        if ps is None and self.events[0]['first'] is not None:
            ps = self.events[0]['last'] - self.events[0]['first']
        return ps and ps / 1e9


def known(values):
    """The values that are not NULL; None if all are NULL."""
    values = [v for v in values if v is not None]
    return values or None


def is_any_known(ops):
    return any(o['flops_utilization'] is not None or o['hbm_utilization'] is not None for o in ops)


def slow_steps(f, median):
    """Of steps that overlap no moment counts twice."""
    found, end = [], None
    for s in sorted((s for s in f.complete if s['duration_ms'] > 1.2 * median),
                    key=lambda s: (s['start_ps'], s['step'])):
        start, stop = s['start_ps'] / 1e9, s['start_ps'] / 1e9 + s['duration_ms']
        alone = stop - start if end is None else max(0, stop - max(start, end))
        found.append((s['step'], min(s['duration_ms'] - median, alone)))
        end = stop if end is None else max(end, stop)
    return found


def parts(f):
    """{rule: [(name of a part, ms)]}; None for what the run cannot be measured with."""
    found, n = {}, max(f.n, 1)
    for rule, causes in IDLE.items():
        found[rule] = [(r['python_frame'] or r['name'], r['idle_us'] / 1e3) for r in f.causes
                       if r['cause'] in causes]
    found['idle_at_ends'] = [(None, max(0, sum(d['idle_ps'] for d in f.devices) / n / 1e9
                                        - sum(r['idle_us'] for r in f.causes) / 1e3))]
    cores = [c for c in f.cores if not c['dropped']]
    waits = known(c['input_us_actual'] for c in cores)
    found['input'] = waits and [(None, sum(waits) / 1e3 / len({(c['host'], c['core_id'])
                                                               for c in cores}))]
    found['retracing'] = [(r['name'], r['self_time_ps'] / 1e9 / f.hosts) for r in f.functions
                          if r['mode'] == 'TRACED']
    lengths = [s['duration_ms'] for s in f.complete]
    median = statistics.median(lengths) if lengths else 0
    found['slow_steps'] = slow_steps(f, median) if lengths else None
    for what in ('communication', 'transfer'):
        found['exposed_' + what] = [(None, d['exposed_%s_ps' % what] / n / 1e9) for d in f.devices]
    waits = [c['wait_ps'] if c['global_wait_ps'] is None else c['global_wait_ps']
             for c in f.collectives]
    found['imbalance'] = [(None, w / n / 1e9) for w in known(waits) or []] if known(
        waits) or not waits else None
    found['stall_between_slices'] = [(r['rendezvous_name'], r['total_stall_ms'] / f.hosts)
                                     for r in f.slices] or None
    found['recomputing'] = [(o['hlo_op'], o['event_self_time_us'] / n / 1e3) for o in f.ops
                            if o['is_recomputed']] if f.ops and f.devices else None
    found['data_movement'] = [(o['hlo_op'], o['self_us'] / n / 1e3) for o in f.layouts
                              ] if f.ops and f.devices else None
    found['outside_compilation'] = [
        (o['hlo_op'], o['event_self_ps'] / n / 1e9) for o in f.listed
        if o['outside_compilation'] == 'Yes'] if f.ops and f.devices else None
    found['padding'] = [(r['hlo_op'], r['padding_time_us'] / n / 1e3) for r in f.padding
                        if r['padding_time_us'] is not None]
    found['low_utilization'] = [(r['hlo_op'], r['wasted_time_us'] / n / 1e3)
                                for r in f.wasted] if is_any_known(f.ops) else None
    found['tensorcore_missed'] = [(r['op_name'] if r['op_name'] is not None else r['short_name'],
                                   r['total_duration_us'] / n / 1e3) for r in f.missed]
    kernels = collections.defaultdict(lambda: [0, 0])
    apart = {r['hlo_op'] for r in f.apart}
    for t in f.totals:
        if t['plane_kind'] == 'gpu' and t['line_kind'] == 'stream' and t['name'] not in apart:
            of = kernels[t['name']]
            of[0], of[1] = of[0] + t['occurrences'], of[1] + t['total_ps']
    found['small_kernels'] = [(name, ps / n / 1e9) for name, (times, ps) in kernels.items()
                              if ps < 5e6 * times]
    lacking = set(OF_GPUS if not f.has_gpu else ()) | set(OF_DEVICES if not f.devices else ())
    if not f.devices and not f.causes:
        lacking |= {*IDLE}
    if not f.planes:
        lacking |= {*IDLE, 'retracing'} - {'idle_unknown'}
    if not f.programs:
        lacking |= {'padding', 'data_movement'}
    return {rule: None if rule in lacking else of for rule, of in found.items()}


def beside(rule, f):
    """Evidence that is no part of the cost: (words before it, the candidates and their times)."""
    if rule == 'input':
        return 'longest input op of host threads: ', [(o['operation'], o['total_self_time_ms'])
                                                      for o in f.input_ops]
    kind = 'transfer' if rule == 'exposed_transfer' else 'collective'
    main = {d['kind'] for d in f.devices}
    return 'longest %s, with its hidden part: ' % kind, [
        (r['op'], r['total_us'] / f.n / 1e3) for r in f.exposed
        if r['kind'] == kind and r['device'] in main]


def least_waiting(f):
    waits = collections.Counter()
    for c in f.collectives:
        ps = c['wait_ps'] if c['global_wait_ps'] is None else c['global_wait_ps']
        if ps is not None:
            waits['%s of %s' % (c['plane'], c['host'])] += ps / 1e9
    least = min(waits.values(), default=0)
    return ['%s waits least, %.3f ms: the others wait for it' % (name, ms)
            for name, ms in waits.items() if ms <= least + 1e-9]


def advice(run, least=None):
    got = run.ask('SELECT * FROM advice({x}%s)' % ('' if least is None else ', %g' % least))
    f = Facts(run)
    want, time_ms = parts(f) if f.run[0]['event_count'] else {}, f.time_ms()
    agree('rules', sorted(r['rule'] for r in got), sorted(want))
    order = {'finding': 0, 'checked': 1, 'not checked': 2}
    agree('ranks', [r['rank'] for r in got], list(range(1, len(got) + 1)))
    places = [(order[r['status']], -(r['cost_ms'] or 0)) for r in got]
    agree('order', places, sorted(places))
    for r in got:
        rule, of = r['rule'], want[r['rule']]
        cost = None if of is None else sum(ms for _, ms in of)
        agree('cost of ' + rule, r['cost_ms'], cost, rel=1e-6, abs_tol=1e-9)
        percent = None if cost is None or not time_ms else 100 * cost / time_ms
        agree('percent of ' + rule, r['cost_percent'], percent, rel=1e-6, abs_tol=1e-9)
        if percent is None or abs(percent - (5 if least is None else least)) > 1e-6:
            agree('status of ' + rule, r['status'], 'not checked' if cost is None else 'finding'
                  if (percent or 0) >= (5 if least is None else least) else 'checked')
        agree_one_of('what is missing for ' + rule, r['missing'], [None] if of is not None else [
            text for text, (is_true, rules) in REASONS.items() if rule in rules and is_true(f)])
        if cost is None:
            agree('of a rule that is not checked', [r['finding'], r['evidence']], [None, None])
            continue
        said = re.search(r'(\d+\.\d+) ms', r['finding'])
        agree('%s says' % rule, float(said.group(1)) if said else None, cost, rel=0, abs_tol=5.1e-4)
        said = re.search(r'(\d+\.\d+) %', r['finding'])
        agree('%s says a percentage' % rule, float(said.group(1)) if said else None, percent,
              rel=0, abs_tol=0.051)
        in_parts(r['finding'])
        evidence(rule, r['evidence'], of, f)
    return got


def evidence(rule, said, of, f):
    """The largest part of the cost by its name, with its time."""
    named, before, between = [(name, ms) for name, ms in of if name is not None], '', ': '
    if rule == 'slow_steps':
        before = 'step '
    elif rule in ('input', 'exposed_communication', 'exposed_transfer'):
        (before, named), between = beside(rule, f), ', '
    if not sum(ms for _, ms in of):
        agree('evidence of ' + rule, said, None)
    elif rule == 'imbalance':
        agree_one_of('evidence of ' + rule, said, least_waiting(f))
    elif not named:
        agree('evidence of ' + rule, said, None)
    else:
        most = max(ms for _, ms in named)
        agree_one_of('evidence of ' + rule, said, [
            '%s%s%s%.3f ms' % (before, name, between, ms + d) for name, ms in named
            for d in (0, 1e-9, -1e-9) if ms >= most - 1e-6])


def queries_run(run, got):
    """Each query can be run as it is, and shows the cost, if it shows all parts."""
    n = max(len(run.ask('SELECT * FROM ' + TABLES['devices'])), 1)
    for r in got:
        rows = run.ask(r['query'])
        if r['cost_ms'] and r['rule'] != 'slow_steps':  # a step can have no op
            agree('rows of %s' % r['query'], bool(rows), True)
        column, units, of_all = SHOWN.get(r['rule'], (None, 1, False))
        if r['cost_ms'] is not None and column and (len(rows) < 20 or ', 20)' not in r['query']):
            agree('what %s shows' % r['query'], sum(x[column] or 0 for x in rows) / units
                  / (n if of_all else 1), r['cost_ms'], rel=1e-12, abs_tol=1e-12)
        in_parts(r['query'])


def twice(run, folder):
    """The first file of a run as two hosts."""
    files = []
    for name in ('one', 'two'):
        files.append(os.path.join(folder, name + '.xplane.pb'
                                  + ('.gz' if run.files[0].endswith('.gz') else '')))
        os.link(run.files[0], files[-1]) if os.stat(run.files[0]).st_dev == os.stat(
            folder).st_dev else os.symlink(run.files[0], files[-1])
    return Run(folder, files)


def with_its_queries(run):
    queries_run(run, advice(run))
    advice(run, 0.5)


def each(run):
    tried('advice ' + run.path, with_its_queries, run)
    with tempfile.TemporaryDirectory() as top:
        folder = os.path.join(top, 'plugins', 'profile', 'run')
        os.makedirs(folder)
        tried('advice of two hosts ' + run.path, advice, twice(run, folder))


if __name__ == '__main__':
    main(each)
