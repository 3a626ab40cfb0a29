#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Steps: what TensorCores spend them on, from the bytes of each profile, and from there the queries
that summarize steps: step_times, slowest_steps, step_time_graph, stragglers, host_bound and
compare_steps.
Where a step starts and how long it lasts is compared with XProf elsewhere (tests/parity)."""
import collections
import statistics
import sys

sys.dont_write_bytecode = True
from compare import agree, agree_one_of, ask, in_parts, main, tried  # noqa: E402
from device_time import COLLECTIVE, COMPUTE, devices, innermost, own_times, work_lines  # noqa: E402

CATEGORIES = {'device_compute': 'Device compute', 'device_to_device': 'Device to device',
              'device_collectives': 'Device collective communication',
              'host_compute': 'Host compute', 'kernel_launch': 'Kernel launch', 'input': 'Input',
              'output': 'Output', 'compilation': 'Compilation',
              'all_others': 'All others'}
LETTERS = {'device_compute': 'C', 'device_collectives': 'A', 'device_to_device': 'D', 'input': 'I',
           'output': 'O', 'host_compute': 'H', 'kernel_launch': 'L',
           'compilation': 'X', 'all_others': '.'}
WIDTH = 97


def by_category(row, unit):
    return {c: row['%s_%s_actual' % (c, unit)] for c in CATEGORIES}


# ---- TensorCores, from the bytes ----

def category_of(kind, meta_text):
    """Of an op of a TensorCore."""
    if kind == COMPUTE:
        return 'device_compute'
    if kind == COLLECTIVE:
        return 'device_collectives'
    of_host = 'is_host_transfer=true' in meta_text or 'host ' in meta_text
    if 'infeed' in meta_text or (of_host and 'recv' in meta_text):
        return 'input'
    if 'outfeed' in meta_text or (of_host and 'send' in meta_text):
        return 'output'
    return 'device_to_device'


def tensor_cores(run):
    """The innermost ops of each core in each of its steps. What no op covers is idle, or input if
    XProf says so: together they are the rest."""
    cores = [r for r in run.ask('SELECT * FROM core_steps({x}) WHERE plane_id IS NOT NULL')]
    if not cores:
        return
    place, planes = 0, {}
    for host in run.hosts.values():
        for plane in host:
            planes[place] = plane
            place += 1
    mine = {id(d.plane): d for d in devices(run) if d.kind == 'tensorcore'}
    pieces = {}
    for r in cores:
        if r['plane_id'] not in pieces:
            d = mine[id(planes[r['plane_id']])]
            pieces[r['plane_id']] = [
                (s, e, category_of(d.kind_of(op), '%s %s' % (op.meta.stats.get('hlo_category', ''),
                                                             op.name)))
                for s, e, op in innermost([x for l in work_lines(d.plane) for x in own_times(l)])]
        start, end = r['start_ps'], r['start_ps'] + round(r['total_us'] * 1e6)
        want = collections.Counter()
        for s, e, category in pieces[r['plane_id']]:
            want[category] += max(0, min(e, end) - max(s, start))
        got = by_category(r, 'us')
        for c in ('device_compute', 'device_collectives', 'device_to_device', 'output'):
            agree('%s of step %s of core %s' % (c, r['step'], r['core_id']), got[c], want[c] / 1e6)
        agree('the rest', got['input'] + got['all_others'],
              (end - start - sum(want.values()) + want['input']) / 1e6)
        agree('input at least', got['input'] >= want['input'] / 1e6 - 1e-9, True)


# ---- single steps ----

def step_times(run):
    want = []
    for s in run.ask('SELECT * FROM steps({x})'):
        times = [('Step time', s['duration_ms'])]
        times += [(label, s['%s_ms_actual' % c]) for c, label in CATEGORIES.items()]
        want += [(s['step'], place, label, ms, s['dropped'])
                 for place, (label, ms) in enumerate(times)]
    agree('step_times', [tuple(r.values()) for r in run.ask(
        'SELECT step, place, category, ms, dropped FROM step_times({x})')], want)


def slowest_steps(run):
    steps = run.ask('SELECT * FROM steps({x})')
    complete = [s for s in steps if not s['dropped']]
    medians = {c: [s['%s_ms_actual' % c] for s in complete if s['%s_ms_actual' % c] is not None]
               for c in CATEGORIES}
    medians = {c: statistics.median(v) for c, v in medians.items() if v}
    length = statistics.median(s['duration_ms'] for s in complete) if complete else None
    got = run.ask('SELECT * FROM slowest_steps({x}, 1000000)')
    agree('steps', sorted((r['step'], r['dropped']) for r in got),
          sorted((s['step'], s['dropped']) for s in steps))
    agree('ranks', [r['rank'] for r in sorted(got, key=lambda r: -r['duration_ms'])],
          list(range(1, len(got) + 1)))
    of_step = {s['step']: s for s in steps}
    for r in got:
        s = of_step[r['step']]
        agree('of step %d' % r['step'], [r['name'], r['duration_ms'], r['over_median_ms']],
              [s['name'], s['duration_ms'], s['duration_ms'] - length if complete else None],
              abs_tol=1e-6)
        more = {label: s['%s_ms_actual' % c] - medians[c] for c, label in CATEGORIES.items()
                if c in medians and s['%s_ms_actual' % c] is not None}
        more = {label: x for label, x in more.items() if x > 1e-9}
        agree_one_of('spent_on of step %d' % r['step'], r['spent_on'], [
            label for label, x in more.items() if x > max(more.values()) - 1e-6] or [None])
        agree('spent_on_ms of step %d' % r['step'], r['spent_on_ms'],
              max(more.values()) if more else None, abs_tol=1e-6)
        listed = [part.rsplit(' +', 1) for part in r['more'].split(', ')] if r['more'] else []
        agree('more of step %d' % r['step'], {label: x for label, x in more.items() if x > 0.001
                                              and label not in dict(listed)}, {})
        for label, ms in listed:
            agree('%s of step %d' % (label, r['step']), float(ms.removesuffix(' ms')),
                  more.get(label, 0), abs_tol=0.00051)
        in_parts(r['more'])
        agree('order of more',
              sorted((float(ms.removesuffix(' ms')) for _, ms in listed), reverse=True),
              [float(ms.removesuffix(' ms')) for _, ms in listed])


def step_time_graph(run):
    steps = run.ask('SELECT * FROM steps({x})')
    got = {r['step']: r for r in run.ask('SELECT * FROM step_time_graph({x}, %d)' % WIDTH)}
    agree('steps', sorted(got), sorted(s['step'] for s in steps))
    longest = max(s['duration_ms'] for s in steps)
    for s in steps:
        agree('of step %s' % s['step'], [got[s['step']][c] for c in ('name', 'duration_ms',
                                                                     'dropped')],
              [s['name'], s['duration_ms'], s['dropped']])
        graph, bar = got[s['step']]['graph'], WIDTH * s['duration_ms'] / longest if longest else 0
        parts = by_category(s, 'ms')
        letters = ''.join(dict.fromkeys(graph))
        agree('letters of %s' % graph, letters, ''.join(c for c in LETTERS.values() if c in graph))
        agree('length of %s' % graph, len(graph) <= bar + 1, True)
        room = bar
        for c, letter in LETTERS.items():
            want = min(WIDTH * (parts[c] or 0) / longest if longest else 0,
                       room) if c != 'all_others' else room
            room -= want
            agree('%s in %s' % (letter, graph), graph.count(letter), want, abs_tol=1)
        in_parts(got[s['step']]['graph'])
        known = {c: x for c, x in parts.items() if x is not None}
        if known and max(known.values()) > 0:
            agree_one_of('bottleneck', got[s['step']]['bottleneck'], [
                CATEGORIES[c] for c, x in known.items() if x == max(known.values())])


# ---- cores ----

def alone(r):
    """Time of a step of a core that no other can hold up: copies of a TensorCore are its own."""
    return r['total_us'] - (r['device_collectives_us_actual'] or 0) - (
        (r['device_to_device_us_actual'] or 0) if r['plane_id'] is None else 0)


def stragglers(run):
    cores = collections.defaultdict(list)
    for r in run.ask('SELECT * FROM core_steps({x}) WHERE NOT dropped AND step IS NOT NULL'):
        cores[r['host'], r['core_id']].append(r)
    own = {k: statistics.mean(alone(r) for r in rows) / 1e3 for k, rows in cores.items()}
    median = statistics.median(own.values()) if own else None
    deviation = statistics.median(abs(x - median) for x in own.values()) if own else 0
    got = {(r['host'], r['core_id']): r for r in run.ask('SELECT * FROM stragglers({x}, 1000000)')}
    agree('cores', sorted(got), sorted(cores))
    for key, rows in cores.items():
        r = got[key]
        over = own[key] - median
        scale = max(deviation, median / 1000)
        z = 0.6745 * over / scale if len(cores) > 2 and scale else None
        agree('straggler %s' % (key,), [r['step_count'], r['step_ms'], r['own_ms'],
                                        r['over_median_ms'], r['z_score'], r['straggler']],
              [len(rows), statistics.mean(x['total_us'] for x in rows) / 1e3, own[key], over, z,
               None if len(cores) < 3 else 'yes' if (z or 0) > 3.5 else 'no'], rel=1e-6,
              abs_tol=1e-6)
    ranked = [own[r['host'], r['core_id']] for r in sorted(got.values(), key=lambda r: r['rank'])]
    agree('order of stragglers', ranked, sorted(ranked, reverse=True))


def host_bound(run):
    cores = run.ask('SELECT * FROM core_steps({x}) WHERE NOT dropped AND step IS NOT NULL')
    got = {r['what']: r for r in run.ask('SELECT * FROM host_bound({x})')}
    if not cores:
        agree('without steps', got, {})
        return
    sums, total = collections.Counter(), sum(r['total_us'] for r in cores)
    for r in cores:
        for c, us in by_category(r, 'us').items():
            sums[c] += us or 0
    want = {'devices': sums['device_compute'] + sums['device_collectives']
            + sums['device_to_device'], 'input': sums['input'], 'output': sums['output']}
    tensor, others = [r for r in cores if r['plane_id'] is not None], [r for r in cores
                                                                       if r['plane_id'] is None]
    if tensor:
        want['idle'] = sum(r['all_others_us_actual'] for r in tensor)
    if others:
        want.update({what: sum(r[c + '_us_actual'] for r in others) for what,
                     c in (('host compute', 'host_compute'), ('kernel launch', 'kernel_launch'),
                           ('all others', 'all_others'))})
        if any(r['compilation_us_actual'] is not None for r in others):
            want['compilation'] = sums['compilation']
        if 'host copies' in got:
            want['host copies'] = total - sum(sums.values())
    agree('host_bound', {k: [r['ms_per_step'], r['percent']] for k, r in got.items()},
          {k: [us / 1e3 / len(cores), 100 * us / total if total else None]
           for k, us in want.items()}, rel=1e-6, abs_tol=1e-6)
    has_devices = run.ask("SELECT count(*) AS n FROM device_time({x}) "
                          "WHERE busy_ps IS NOT NULL")[0]['n'] > 0
    agree('bound', {r['bound'] for r in got.values()},
          {('yes' if want['devices'] < total / 2 else 'no') if has_devices else None})
    input_percent = run.ask('SELECT input_percent FROM kpi({x})')[0]['input_percent']
    agree('input of kpi', input_percent, got['input']['percent'])


# ---- two runs ----

def averages(steps):
    complete = [s for s in steps if not s['dropped']]
    found = {}
    for label, column in [('Step time', 'duration_ms')] + [(label, '%s_ms_actual' % c)
                                                           for c, label in CATEGORIES.items()]:
        values = [s[column] for s in complete if s[column] is not None]
        found[label] = (statistics.mean(values) if values else None,
                        statistics.stdev(values) if len(values) > 1 else None)
    return found, len(complete)


def compare_steps(a, b):
    of_a, n_a = averages(a.ask('SELECT * FROM steps({x})'))
    of_b, n_b = averages(b.ask('SELECT * FROM steps({x})'))
    want = {}
    for label, (mean_a, deviation_a) in of_a.items():
        mean_b, deviation_b = of_b[label]
        known = mean_a is not None and mean_b is not None
        want[label] = [mean_a, mean_b, mean_b - mean_a if known else None, mean_b / mean_a if known
                       and mean_a else None, deviation_a, deviation_b, n_a, n_b]
    rows = ask("SELECT category, a_ms, b_ms, difference_ms, ratio, a_deviation_ms, b_deviation_ms, "
               "a_steps, b_steps FROM compare_steps('%s', '%s')" % (a.path, b.path))
    agree('%s and %s' % (a.path, b.path), {r['category']: list(r.values())[1:] for r in rows}, want,
          rel=1e-6, abs_tol=1e-6)


before = []


def each(run):
    for check in (tensor_cores, stragglers, host_bound):
        tried('%s %s' % (check.__name__, run.path), check, run)
    if run.ask('SELECT * FROM steps({x})'):
        for check in (step_times, slowest_steps, step_time_graph):
            tried('%s %s' % (check.__name__, run.path), check, run)
        if before:
            tried('compare_steps ' + run.path, compare_steps, before[0], run)
        before[:] = [run]


if __name__ == '__main__':
    main(each)
