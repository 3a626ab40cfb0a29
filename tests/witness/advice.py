#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What each rule of advice costs, as docs/semantics.md defines it: idle time, exposed time, small
kernels and the time of the run from the bytes of each profile, the others from all rows of tables
that are compared elsewhere (tests/parity, other witnesses).

A cost is a list of parts (ms, name), or None if the run lacks what it is measured with."""
import collections
import re
import statistics
import sys

sys.dont_write_bytecode = True
from compare import agree, checking, finish, runs  # noqa: E402
from device_time import devices, ends, own_times, work_lines  # noqa: E402
from idle_causes import causes  # noqa: E402

ALL = 1000000000
ORDER = ('finding', 'checked', 'not checked')
IDLE = {'launching': ('launching',), 'input': ('input',), 'waiting': ('waiting',),
        'queued': ('queued',), 'unknown': ('unknown',), 'compiling': ('compiling', 'tracing'),
        'host': ('host', 'python'), 'copying': ('copy',)}
MOVES = ('data formatting', 'copy', 'transpose', 'reshape', 'pad', 'slice', 'concatenate')
OWN_EVIDENCE = ('input', 'imbalance', 'exposed_communication', 'exposed_transfer')


class Facts:
    """What the costs of a run start from."""

    def __init__(self, run):
        mine = [d for d in devices(run) if d.events]
        self.run = run
        self.main = [d for d in mine if d.kind != 'sparsecore'] or mine
        self.n_devices, self.n_hosts = len(self.main), len(run.hosts)
        self.has_gpu = any(d.kind == 'gpu' for d in self.main)
        self.has_host_events = any(l.events for planes in run.hosts.values() for p in planes
                                   if p.kind == 'host' for l in p.lines)
        ranges = collections.defaultdict(list)
        for d in mine:
            ranges[d.host, d.kind] += [(e.start_ps, ends(e)) for e in d.events]
        spans = {k: max(e for _, e in v) - min(s for s, _ in v) for k, v in ranges.items()}
        self.spans = [spans[d.host, d.kind] for d in self.main]
        self.times = [d.times(span) for d, span in zip(self.main, self.spans)]
        self.idle = causes(run)

    def rows(self, sql):
        return self.run.ask(sql)

    def mean(self, time):
        return sum(t[time] for t in self.times) / self.n_devices / 1e9

    def run_ms(self):
        if self.spans:
            return statistics.mean(self.spans) / 1e9
        duration = self.rows('SELECT duration_ps FROM prof_runs({x})')[0]['duration_ps']
        if duration is not None:
            return duration / 1e9
        events = [e for planes in self.run.hosts.values() for p in planes for l in p.lines
                  if not l.derived for e in l.events]
        return (max(e.end_ps for e in events) - min(e.start_ps for e in events)) / 1e9


# ---- costs ----

def idle_costs(f):
    known, found = f.n_devices or f.idle, {}
    for rule, of in IDLE.items():
        lacks = not known or not (f.has_host_events or rule == 'unknown') or (rule == 'queued'
                                                                              and not f.has_gpu)
        found['idle_' + rule] = None if lacks else [(row[3] / 1e3, row[2] or row[1])
                                                    for row in f.idle if row[0] in of]
    found['idle_at_ends'] = [(max(0.0, f.mean('idle_ps') - sum(row[3] for row in f.idle) / 1e3),
                              None)] if f.n_devices else None
    return found


def step_costs(f):
    cores = f.rows('SELECT * FROM core_steps({x}) WHERE NOT dropped')
    n_cores = len({(c['host'], c['core_id']) for c in cores})
    steps = [(s['duration_ms'], s['step']) for s in f.rows('SELECT * FROM steps({x})')
             if not s['dropped']]
    median = statistics.median(ms for ms, _ in steps) if steps else None
    return {'input': [((c['input_us_actual'] or 0) / 1e3 / n_cores, None)
                      for c in cores] if steps else None,
            'slow_steps': [(ms - median, 'step %d' % step) for ms, step in steps
                           if ms > 1.2 * median] if steps else None}


def device_costs(f):
    if not f.n_devices:
        return dict.fromkeys(('exposed_communication', 'exposed_transfer', 'imbalance', 'padding',
                              'small_kernels', 'tensorcore_missed', 'recomputing', 'data_movement',
                              'outside_compilation', 'low_utilization'))
    n, found = f.n_devices, {'exposed_' + what: [(f.mean('exposed_%s_ps' % what), None)]
                             for what in ('communication', 'transfer')}
    waits = [(c['global_wait_ps'] if c['global_wait_ps'] is not None else c['wait_ps'])
             for c in f.rows('SELECT * FROM collectives({x})')]
    known = [w for w in waits if w is not None]
    found['imbalance'] = [(w / 1e9 / n, None) for w in known] if known or not waits else None
    found['padding'] = [((p['padding_time_us'] or 0) / 1e3 / n, p['hlo_op'])
                        for p in f.rows('SELECT * FROM padding_waste({x}, %d)' % ALL)] if f.rows(
        'SELECT 1 FROM hlo_modules({x})') else None
    ops = f.rows('SELECT * FROM hlo_ops({x}) WHERE rank > 0')

    def sum_of(is_one):
        return [(o['event_self_ps'] / 1e9 / n, o['hlo_op'])
                for o in ops if is_one(o)] if ops else None
    found['recomputing'] = sum_of(lambda o: o['rematerialization'] == 'Yes')
    found['outside_compilation'] = sum_of(lambda o: o['outside_compilation'] == 'Yes')
    found['data_movement'] = sum_of(lambda o: o['category'] in MOVES)
    wasted = f.rows('SELECT * FROM top_wasted({x}, %d)' % ALL)
    found['low_utilization'] = [(w['wasted_time_us'] / 1e3 / n, w['hlo_op'])
                                for w in wasted] or None
    found['tensorcore_missed'] = [
        (t['total_duration_us'] / 1e3 / n, t['op_name'])
        for t in f.rows('SELECT * FROM tensorcore_missed({x}, %d)' % ALL)] if f.has_gpu else None
    found['small_kernels'] = small_kernels(f) if f.has_gpu else None
    return found


def small_kernels(f):
    of_name = collections.defaultdict(lambda: [0, 0])
    for d in f.main:
        for line in work_lines(d.plane) if d.kind == 'gpu' else ():
            for e in own_times(line):
                of_name[e.name][0] += e.duration_ps
                of_name[e.name][1] += 1
    return [(ps / 1e9 / f.n_devices, name) for name, (ps, n) in of_name.items() if ps < 5e6 * n]


def host_costs(f):
    stalls = f.rows('SELECT * FROM dcn_collectives({x})')
    return {'retracing': [(t['self_time_ps'] / 1e9 / f.n_hosts, t['name'])
                          for t in f.rows("SELECT * FROM tf_functions({x}) "
                                          "WHERE mode = 'TRACED'")]
            if f.has_host_events else None,
            'stall_between_slices': [(s['total_stall_ms'] / f.n_hosts, s['rendezvous_name'])
                                     for s in stalls] or None}


# ---- rows ----

def check_row(r, parts, run_ms, least):
    rule = r['rule']
    if parts is None:
        agree('%s is not checked' % rule,
              [r['status'], r['cost_ms'], r['cost_percent'], r['finding'], r['evidence'],
               r['missing'] is None], ['not checked', None, None, None, None, False])
        return
    ms = sum(part for part, _ in parts)
    percent = 100 * ms / run_ms if run_ms else None
    agree(rule, [r['cost_ms'], r['cost_percent'], r['missing']], [ms, percent, None], rel=1e-6,
          abs_tol=1e-6)
    if percent is None or abs(percent - least) > 1e-6:
        agree('status of %s' % rule, r['status'], 'finding' if percent is not None
              and percent >= least else 'checked')
    said = re.search(r'([0-9.]+) ms', r['finding'])
    agree('%s as a sentence' % rule, float(said.group(1)), ms, abs_tol=0.00051)
    if rule in OWN_EVIDENCE:
        return
    most = max((part for part, _ in parts), default=0)
    names = [name for part, name in parts if part >= most - 1e-9]
    if not ms or None in names:
        agree('evidence of %s' % rule, r['evidence'] if not ms or set(names) == {None} else None,
              None)
    else:
        name, _, length = r['evidence'].rpartition(': ')
        agree('largest part of %s' % rule, [name in names, abs(float(length.removesuffix(' ms'))
                                                               - most) < 0.00051], [True, True])


# Columns of the queries of rules whose rows add up to the cost, and what they count in a ms.
ADDS_UP = {'small_kernels': ('total_ms', 1), 'recomputing': ('self_ms', 1),
           'data_movement': ('self_ms', 1), 'outside_compilation': ('self_ms', 1),
           'imbalance': ('wait_ms', 1), 'tensorcore_missed': ('total_duration_us', 1e3)}


def check_query(facts, r):
    """What the query of a row shows is what the cost consists of. It shows 20 rows of
    tensorcore_missed."""
    column, per_ms = ADDS_UP[r['rule']]
    rows = facts.rows(r['query'])
    if len(rows) < 20 or r['rule'] != 'tensorcore_missed':
        agree('query of %s' % r['rule'], sum(row[column] or 0 for row in rows) / per_ms
              / facts.n_devices, r['cost_ms'], rel=1e-6, abs_tol=1e-6)


def check(run):
    if not any(l.events for planes in run.hosts.values() for p in planes for l in p.lines):
        agree('advice without events', run.ask('SELECT * FROM advice({x})'), [])
        return
    facts = Facts(run)
    costs = {**idle_costs(facts), **step_costs(facts), **device_costs(facts), **host_costs(facts)}
    for least in (5, 0.5):
        rows = run.ask('SELECT * FROM advice({x}, %r)' % least)
        agree('rules', sorted(r['rule'] for r in rows), sorted(costs))
        agree('ranks', [r['rank'] for r in rows], list(range(1, len(rows) + 1)))
        order = [(ORDER.index(r['status']), -(r['cost_ms'] or 0)) for r in rows]
        agree('order', order, sorted(order))
        for r in rows:
            check_row(r, costs[r['rule']], facts.run_ms(), least)
            if least == 5 and r['rule'] in ADDS_UP and r['cost_ms'] is not None:
                check_query(facts, r)
    if facts.n_devices:
        idle = [part for rule, parts in costs.items() if rule.startswith('idle')
                for part, _ in parts or ()]
        agree('idle rules together', sum(idle), facts.mean('idle_ps'), abs_tol=1e-6)


if __name__ == '__main__':
    for one in runs():
        with checking('advice ' + one.path):
            check(one)
    finish()
