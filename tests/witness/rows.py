#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Columns that follow from the rows of other tables by what their descriptions say:
memory_by_source_line, peak_memory, fragmentation and padding_waste from buffers and programs;
memory_events, memory_allocators and live_allocations from the events of allocators;
fusion_breakdown, op_profile, op_time_by_category, roofline, roofline_properties and
flops_utilization_by_step from ops; steps, input_steps, input_pipeline, step_breakdown, stragglers,
kpi and mfu from steps, devices and programs; dcn_messages, inference_requests and
inference_batches from each other."""
import collections
import itertools
import json
import re
import sys

sys.dont_write_bytecode = True
from compare import agree, agree_one_of, ask, in_parts, main, tried  # noqa: E402
from flops import names_by_symbol  # noqa: E402
from program_flops import are_operations_unknown, programs_that_ran  # noqa: E402

MIB = 1048576.0


def percent(part, whole):
    return 100 * part / whole if whole else None


def by_key(rows, *columns):
    found = collections.defaultdict(list)
    for r in rows:
        found[tuple(r[c] for c in columns)].append(r)
    return found


def alike(of_hosts):
    """{content: its hosts}: programs of several hosts with equal numbers are one."""
    found = collections.defaultdict(list)
    for host, content in of_hosts:
        found[content].append(host)
    return found


# ---- memory of programs ----

def lines_of(buffers):
    """Of one program on one host: (file, line), buffers, MiB, padding, share, largest buffers."""
    lines, everything = by_key(buffers, 'user_file', 'user_line'), sum(b['size_bytes']
                                                                       for b in buffers)
    found = []
    for (file, line), of in lines.items():
        size = sum(b['size_bytes'] for b in of)
        padding = [b['padding_bytes_actual'] for b in of if b['padding_bytes_actual'] is not None]
        largest = max(b['size_bytes'] for b in of)
        found.append((file, line, len(of), size / MIB, sum(padding) / MIB,
                      percent(size, everything), frozenset(
                          (b['hlo_op'], b['shape_actual'], b['tf_op'] or b['owner_tf_op'])
                          for b in of if b['size_bytes'] == largest)))
    return frozenset(found)


def memory_by_source_line(run):
    buffers = by_key(run.ask('SELECT * FROM buffer_allocations({x}) WHERE live_at_peak '
                             'AND memory_space = 0'), 'host', 'program_id', 'hlo_module')
    want = {}
    for (program, module), hosts in itertools.groupby(sorted(buffers, key=lambda key: key[1:]),
                                                      lambda key: key[1:]):
        for content, of in alike((key[0], lines_of(buffers[key])) for key in hosts).items():
            for row in content:
                want.setdefault((program, module, row[0], row[1]), []).append((row, len(of)))
    got = run.ask('SELECT * FROM memory_by_source_line({x})')
    agree('lines', len(got), sum(map(len, want.values())))
    for r in got:
        rows = want[r['program_id'], r['hlo_module'], r['user_file'], r['user_line']]
        agree_one_of('memory of line %s' % r['user_line'], [
            round(r[c], 9) if isinstance(r[c], float) else r[c]
            for c in ('user_file', 'user_line', 'buffers', 'size_mib', 'padding_mib', 'percent',
                      'largest_op', 'shape', 'tf_op', 'hosts')],
            [[round(x, 9) if isinstance(x, float) else x for x in row[:6]] + list(of) + [hosts]
             for row, hosts in rows for of in row[6]])
        agree('program of line', [[r['program_id'], r['hlo_module']]],
              [[p, m] for p, m, *_ in want if (p, m) == (r['program_id'], r['hlo_module'])][:1])
    for rows in by_key(got, 'program_id', 'hlo_module').values():
        sizes = [r['size_mib'] for r in rows]
        agree('order', sizes, sorted(sizes, reverse=True))


def programs(run):
    """peak_memory and fragmentation: padding, the instruction at the peak, and hosts."""
    peaks = by_key(run.ask('SELECT * FROM memory_peaks({x})'), 'host', 'program_id', 'hlo_module',
                   'memory_space')
    events = {(e['host'], e['program_id'], e['hlo_module'], e['memory_space'], e['event']):
              e['hlo_op'] for e in run.ask('SELECT * FROM heap_timeline({x})')}
    buffers = by_key(run.ask("SELECT * FROM buffer_allocations({x}) WHERE live_at_peak "
                             "AND kind = 'temporary'"), 'host', 'program_id', 'hlo_module',
                     'memory_space')
    n_hosts = run.ask('SELECT count(*) AS n FROM hosts({x})')[0]['n']
    for r in run.ask('SELECT * FROM peak_memory({x})'):
        key = r['host'], r['program_id'], r['hlo_module'], 0
        p, = peaks[key] if len(peaks[key]) == 1 else [None]
        if not p:
            continue
        padding = sum(b['padding_bytes_actual'] or 0 for b in buffers[key]) / MIB
        agree('peak of %s' % r['hlo_module'], [r['padding_mib'], r['peak_op']], [
            padding, events.get((*key, p['peak_event'])) if r['temporaries_mib'] else None],
            abs_tol=1e-6)
        if n_hosts == 1:
            agree('hosts', r['hosts'], 1)
    for r in run.ask('SELECT * FROM fragmentation({x})'):
        agree_one_of('memory space', r['memory_space'], {key[3] for key in peaks if key[:3] == (
            r['host'], r['program_id'], r['hlo_module'])})
        if n_hosts == 1:
            agree('hosts', r['hosts'], 1)


OF_OPS = ("SELECT program_id, hlo_op, total_self_time_us AS us, occurrences_actual AS n "
          "FROM hlo_ops({x}) WHERE core_type <> '' UNION ALL "
          "SELECT program_id, hlo_op, self_us, executions FROM scope_ops({x}) "
          "WHERE plane_kind IN ('gpu', 'host') AND hlo_op IS NOT NULL")


def of_ops(run):
    """{(program, op): us}, and the executions of the op"""
    times, executions = collections.Counter(), collections.Counter()
    for o in run.ask(OF_OPS):
        key = o['program_id'], o['hlo_op']
        times[key] += o['us']
        if o['n'] is not None:
            executions[key] += o['n']
    return times, executions


def equal_on_hosts(rows, *columns):
    """{(program, op): whether these columns of its rows are equal on all hosts that have it}"""
    of_hosts = collections.defaultdict(set)
    for (program, op, _), of in by_key(rows, 'program_id', 'hlo_op', 'host').items():
        of_hosts[program, op].add(tuple(sorted((tuple(r[c] for c in columns) for r in of),
                                               key=repr)))
    return {key: len(of) == 1 for key, of in of_hosts.items()}


def padding_waste(run):
    """Time of an instruction in proportion to the bytes of its results that are padding."""
    got = run.ask('SELECT * FROM padding_waste({x})')
    if not got:
        return
    buffers = [b for b in run.ask('SELECT * FROM buffer_allocations({x})')
               if b['offset_bytes'] is not None]
    results = {(i['program_id'], i['hlo_op']): i['padded_bytes'] for i in run.ask(
        'SELECT program_id, hlo_op, padded_bytes FROM hlo_instructions({x})')}
    are_equal = equal_on_hosts(buffers, 'shape_index', 'memory_space', 'size_bytes',
                               'padding_bytes_actual')
    times, _ = of_ops(run)
    for r in got:
        key = r['program_id'], r['hlo_op'].partition('{')[0]
        time = times.get(key) if are_equal[key] else None
        agree('time of %s' % r['hlo_op'], r['self_time_us'], time)
        agree('time of its padding', r['padding_time_us'], None if time is None
              else time * r['padding_mib'] * MIB / results[key], rel=1e-6)


def fusions(run):
    """Time and executions of a fusion, whose numbers are equal on all hosts."""
    got = run.ask('SELECT * FROM fusion_breakdown({x})')
    if not got:
        return
    times, executions = of_ops(run)
    are_equal = {key: len(of) == 1 for key, of in by_key(got, 'program_id', 'hlo_op').items()}
    for r in got:
        key = r['program_id'], r['hlo_op']
        agree('time and executions of %s' % r['hlo_op'], [r['self_time_us'], r['occurrences']],
              [times.get(key), executions.get(key)] if are_equal[key] else [None, None])


# ---- memory of allocators ----

def allocators(run):
    events = by_key(run.ask('SELECT * FROM memory_events({x})'), 'host', 'allocator')
    held = by_key(run.ask("SELECT * FROM peak_holders({x}) WHERE recorded_by = 'allocator'"),
                  'host', 'peak_of', 'kind')
    for r in run.ask('SELECT * FROM memory_allocators({x})'):
        of = events[r['host'], r['allocator']]
        agree('lifetime of %s' % r['allocator'], r['lifetime_peak_bytes_actual'],
              max(e['peak_bytes_in_use'] for e in of))
        if r['peak_event_id'] is None:
            continue
        for kind in ('earlier', 'unknown'):
            rows = held[r['host'], r['allocator'], kind]
            agree('%s memory of %s' % (kind, r['allocator']), r[kind + '_bytes_at_peak'],
                  rows[0]['size_bytes'] if rows else 0)
        at_peak = [e for e in of if e['heap_bytes'] + e['stack_bytes'] == r['profile_peak_bytes']]
        latest = max(e['line_time_ps'] for e in at_peak)
        agree_one_of('step of the peak of %s' % r['allocator'], r['peak_step'],
                     {e['step'] for e in at_peak if e['line_time_ps'] == latest})


def is_at_peak(e, of, peak):
    """Allocated until the peak and neither freed nor allocated again until then."""
    until = [x for x in of if (x['time_ps'], x['event_id']) <= (peak['time_ps'], peak['event_id'])]
    last = [x for x in until if x['address'] == e['address']][-1:]
    return int(bool(last) and last[0] is e and e['activity'] == 'ALLOCATION')


def memory_events(run):
    peaks = {(r['host'], r['allocator']): r['peak_event_id']
             for r in run.ask('SELECT * FROM memory_allocators({x})')}
    allocators = by_key(run.ask('SELECT * FROM memory_events({x}) ORDER BY time_ps, event_id'),
                        'host', 'allocator')
    about = {r['event_id']: r for r in run.ask(
        "SELECT event_id, start_ps FROM trace_events({x}) "
        "WHERE plane_kind = 'host'")} if allocators else {}
    for key, of in allocators.items():
        peak = next((e for e in of if e['event_id'] == peaks[key]), None)
        for e in of if len(of) < 500 else of[::len(of) // 200]:
            if peak:
                agree('at peak %d' % e['event_id'], e['live_at_peak'], is_at_peak(e, of, peak))
            agree('event %d' % e['event_id'], e['time_ps'], about[e['event_id']]['start_ps'])
            if len(of) <= 1000:
                agree('all are shown', e['sampled'], 1)


def samples(run):
    """Of five parts each shows the event with the most memory in use, of several the first; the
    last parts have one event more if they cannot be equal."""
    for of in by_key(run.ask('SELECT * FROM memory_events({x}, 5) ORDER BY line_time_ps'),
                     'host', 'allocator').values():
        n = len(of)
        times = [e['line_time_ps'] for e in of]
        agree('samples', sum(e['sampled'] for e in of), min(n, 5))
        if n > 5 and len(set(times)) == n:
            at = 0
            for i in range(5):
                part = of[at:at + n // 5 + (i >= 5 - n % 5)]
                used = [e['heap_bytes'] + e['stack_bytes'] for e in part]
                agree('sample %d' % i, [e['sampled'] for e in part],
                      [int(k == used.index(max(used))) for k in range(len(part))])
                at += len(part)


def named(text):
    return None if text in ('(null)', '') else text


def live_allocations(run):
    """At each allocator's peak: the allocations that are live then."""
    want = collections.Counter()
    for e in run.ask('SELECT * FROM memory_events({x}) WHERE live_at_peak'):
        data_type = None if e['data_type'] == 'INVALID' else e['data_type']
        want[e['host'], e['allocator'], named(e['tf_op']), named(e['region_type']), data_type,
             named(e['shape'])] += e['allocation_bytes']
    got = [[r['host'], r['allocator'], r['tf_op'], r['region_type'], r['data_type'], r['shape'],
            r['allocated_bytes']] for r in run.ask(
                "SELECT * FROM live_allocations({x}) WHERE kind = 'allocation'")]
    agree('live_allocations', sorted(got, key=repr), sorted(([*key, n] for key, n in want.items()),
                                                            key=repr))


# ---- ops ----

def rooflines(run):
    ops = by_key(run.ask('SELECT * FROM hlo_ops({x}) WHERE rank > 0'), 'program_id', 'hlo_op')
    columns = ('flops_actual', 'model_flops_actual')
    for r in run.ask("SELECT * FROM roofline({x}) WHERE record = 'Total' AND rank > 0"):
        of = ops[r['program_id'], r['operation']]
        if len(of) == 1:
            agree('operations of %s' % r['operation'], [r[c] for c in columns],
                  [of[0][c] for c in columns])


def roofline_properties(run):
    """The number as the page writes it, with all its digits."""
    for r in run.ask('SELECT * FROM roofline_properties({x}) WHERE exact IS NOT NULL'):
        if not isinstance(r['value'], str) or re.fullmatch('[0-9.e+-]+', r['value']):
            agree('exact %s' % r['name'], r['exact'], float(r['value']), rel=1e-5)


def op_profile(run):
    ops = by_key(run.ask("SELECT * FROM op_metrics({x}) WHERE side = 'device' "
                         "AND parent_id IS NULL"), 'program_id', 'name')
    kinds = {}
    for r in run.ask('SELECT * FROM op_profile({x})'):
        kind = ('op' if r['name'] == 'IDLE' else 'root' if not r['depth'] else 'duplicates'
                if r['name'].endswith(' and its duplicate(s)') else 'program'
                if r['depth'] == 1 and not r['category'] else 'category'
                if r['depth'] == 2 else 'op')
        kinds[r['node_id']] = kind
        agree('kind of %s' % r['path'], r['kind'], kind)
        weighted = r['weighted_flops_utilization_uncapped']
        agree('use of compute units by %s' % r['path'], r['flops_utilization'],
              weighted / r['time_fraction'] if r['time_fraction'] and (
                  weighted or r['flops_utilization'] is not None) else None, rel=1e-6)
        of = ops[r['program_id'], r['name']]
        if kind == 'op' and len(of) == 1 and kinds.get(r['parent_id']) != 'op':
            agree('self time of %s' % r['path'], r['self_time_ps'], of[0]['self_ps'])


def of_events(run):
    """{(host, program, op): model operations of one event}: those of the op, divided evenly over
    its events (on TPUs, over those of its host; host None: of all); None: several ops have the
    name."""
    found = {}
    files = [(r['host'], f) for r, f in zip(run.ask('SELECT host FROM hosts({x})'), run.files)]
    ops = [(None if o['core_type'] == '' else 'of its host', o) for o in run.ask(OPS)]
    if any(host for host, _ in ops):
        ops = [x for x in ops if not x[0]] + [
            (host, o) for host, f in files for o in ask(OPS.replace('{x}', "'%s'" % f.replace(
                "'", "''"))) if o['core_type'] != '']
    for host, o in ops:
        key = host, o['program_id'], o['hlo_op']
        found[key] = None if key in found else 0 if o['rematerialization'] == 'Yes' else (
            o['model_flops_actual'] or 0) / o['occurrences']
    return found


OPS = 'SELECT * FROM hlo_ops({x}) WHERE rank > 0'
KERNELS = """
    SELECT NULL AS host, host AS at, step, program_id, hlo_op, count(*) AS n
    FROM trace_events({x})
    WHERE plane_kind = 'gpu' AND line_kind = 'stream' AND NOT derived AND hlo_op IS NOT NULL
    GROUP BY 2, 3, 4, 5"""
CORE_OPS = """
    SELECT event_id, host, host AS at, step, program_id, 1 AS n
    FROM trace_events({x})
    WHERE line IN ('XLA Ops', 'Sparse Core Ops')
          AND plane_id IN (SELECT plane_id FROM core_steps({x}))
          AND NOT derived AND hlo_op IS NOT NULL"""


def events_with_ops(run):
    """Kernels by their own op; those of a TPU core by the first metadata of their symbol."""
    of_cores = run.ask(CORE_OPS)
    names = names_by_symbol(run) if of_cores else {}
    return run.ask(KERNELS) + [dict(e, hlo_op=names.get(e['event_id'])) for e in of_cores]


def model_flops(run):
    """Operations of a step's events, or of its kernels in CUDA graphs a part of the program's."""
    shown = run.ask('SELECT * FROM flops_utilization_by_step({x})')
    kinds = {r['kind'] for r in run.ask('SELECT kind FROM device_time({x}) WHERE busy_ps > 0')}
    if not shown or run.ask(TWO_OP_LINES):
        return
    if {'gpu', 'tensorcore'} <= kinds:  # XProf has no ops of the steps of such a run
        agree('operations of steps', [r['model_flops'] for r in shown], [None] * len(shown))
        return
    each, ran, sums = of_events(run), programs_that_ran(run), collections.Counter()
    steps = {(r['host'], r['group_id']): r['step'] for r in run.ask('SELECT * FROM host_steps({x})')
             } if len(run.files) > 1 else None
    for e in events_with_ops(run):
        of = ran.get(e['program_id'])
        one = of.done[0] / of.events if of and of.by == 'program' else each.get((
            e['host'], e['program_id'], e['hlo_op']))
        step = steps.get((e['at'], e['step'])) if steps else e['step']
        sums[step] += e['n'] * (one or 0)
    if are_operations_unknown(run, ran):
        sums.clear()
    for r in shown if None not in each.values() else ():
        agree('model operations of step %s' % r['step'], r['model_flops'], sums[r['step']] or None,
              rel=1e-6)


# XProf reads the steps of a plane from the last of these lines, and the ops from both.
TWO_OP_LINES = """
    SELECT 1 FROM lines({x}) JOIN planes({x}) AS p USING (plane_id)
    WHERE p.kind = 'tensorcore' AND lines.name IN ('XLA Ops', 'Sparse Core Ops')
    GROUP BY plane_id HAVING count(DISTINCT lines.name) > 1 LIMIT 1"""


def categories(run):
    """On GPUs the ops of scope_ops, by the category of their instruction, or unknown."""
    names, kinds = collections.defaultdict(set), {}
    on_gpus = run.ask("SELECT program_id, hlo_op FROM scope_ops({x}) WHERE plane_kind = 'gpu' "
                      'AND hlo_op IS NOT NULL')
    if on_gpus:
        kinds = {(i['program_id'], i['hlo_op']): i['category'] for i in run.ask(
            'SELECT program_id, hlo_op, category FROM hlo_instructions({x})')}
    for r in on_gpus:
        key = r['program_id'], r['hlo_op']
        names['Device', kinds.get(key, 'unknown')].add(key)
    for r in run.ask("SELECT * FROM op_metrics({x}) WHERE parent_id IS NULL "
                     "AND side IN ('device', 'host')"):
        if not on_gpus or r['side'] == 'host' or not r['program_id']:
            names[r['side'].capitalize(), r['category']].add((r['program_id'], r['name']))
    for r in run.ask('SELECT * FROM op_time_by_category({x})'):
        of = names.get((r['host_or_device'], r['category']), ())
        if of and r['category'] != 'IDLE' and (r['host_or_device'] == 'Host' or all(
            program for program, _ in of)):
            agree('ops of %s' % r['category'], r['op_count'], len(of))


# ---- steps ----

def steps(run):
    """Marks of steps from the hosts' ranges; what other tables repeat of a step."""
    marks = by_key(run.ask('SELECT * FROM host_steps({x}) WHERE step IS NOT NULL'), 'step')
    with_steps = {r['host'] for of in marks.values() for r in of}
    hosts = [r['host'] for r in run.ask('SELECT host FROM hosts({x})') if r['host'] in with_steps]
    rows = run.ask('SELECT * FROM steps({x})')
    for s in rows:
        of = marks[s['step'], ]
        lengths = [r['range_ps'] for r in of if r['range_ps'] is not None]
        first = [r for r in of if r['host'] == hosts[0]]
        if not s['dropped'] and of:
            agree('range of step %d' % s['step'], [s['range_ms'], s['range_start_ps']],
                  [max(lengths) / 1e9 if lengths else None,
                   first[0]['range_start_ps'] if first else None])
        if first:
            agree('name of step %d' % s['step'], s['name'], first[0]['name'])
    shown = by_key(run.ask('SELECT * FROM input_steps({x})'), 'step')
    for s in rows:
        for r in shown.pop((s['step'], ), []) if (s['step'], ) in shown else []:
            agree('input of step', [r['step'], r['name']], [s['step'], s['name']])
            if r['tc_compute_ms'] is not None:
                agree('its all-reduces', r['all_reduce_ms'], s['all_reduce_ms'])
    agree('steps with input of no step', list(shown), [])


def parts_of_tpu_steps(run):
    """All-reduces of the TensorCore with most of them, and the work of SparseCores, which
    have the steps of their host's TensorCores."""
    cores = by_key(run.ask('SELECT step, core_id, category, duration_ps FROM step_breakdown({x}) '
                           'WHERE duration_ps IS NOT NULL'), 'step', 'core_id')
    for s in run.ask('SELECT * FROM steps({x}) WHERE NOT dropped AND NOT outside_xprof'):
        of = [{r['category']: r['duration_ps'] / 1e9 for r in rows}
              for (step, _), rows in cores.items() if step == s['step']]
        sparse = [core for core in of if 'sc_idle_ps' in core]
        agree('SparseCores in step %d' % s['step'],
              [s['sc_step_ms'], s['sc_compute_ms'], s['sc_idle_ms']], [
                  mean([core['sc_idle_ps'] + core['sc_busy_ps'] for core in sparse]),
                  min((core['sc_compute_ps'] for core in sparse), default=None),
                  mean([core['sc_idle_ps'] for core in sparse])])
        if s['tc_compute_ms'] is not None:
            agree('all-reduces of step %d' % s['step'], s['all_reduce_ms'], max(
                (sum(core.get(c, 0) for c in REDUCING) for core in of), default=0))


REDUCING = ('all-reduce', 'all-reduce fusion', 'all-to-all')


def mean(numbers):
    return sum(numbers) / len(numbers) if numbers else None


def said(what, statement, percent):
    """The number of a sentence, rounded as it is printed."""
    found = re.search(r'([0-9.]+)%', statement)
    agree('%s: %s' % (what, statement), float(found.group(1)) if found else None, percent,
          abs_tol=0.0501)
    in_parts(statement)


def of_tpus(run, shown):
    """XProf divides by the parts of steps and all-reduces, which are in computing once more."""
    steps = run.ask('SELECT * FROM steps({x}) WHERE NOT dropped AND NOT outside_xprof')
    parts = {c: sum(s[c + '_ms'] or 0 for s in steps) for c in (
        'tc_compute', 'scv0_compute', 'tc_infeed', 'scv0_infeed', 'tc_outfeed', 'tc_idle')}
    length = sum(parts.values()) / (1 - (shown['collectives_percent'] or 0) / 100)
    idle, others = [percent(n, length) for n in (parts['tc_idle'], parts['tc_infeed']
                                                 + parts['scv0_infeed'] + parts['tc_outfeed'])]
    return idle, None if idle is None else max(0, 100 - others - idle)


def of_the_first_host(run, shown):
    """XProf takes the core 1, which is the first host's; other hosts have other cores. It finds no
    parts of a step of a TensorCore that has this number."""
    steps = run.ask('SELECT * FROM core_steps({x}) WHERE core_id = 1 AND NOT dropped '
                    'AND NOT outside_xprof')
    computing = percent(sum(s['device_compute_us'] for s in steps if s['plane_id'] is None),
                        sum(s['total_us'] for s in steps))
    return None if computing is None else max(0, 100 - computing - sum(
        shown[c + '_percent'] for c in ('input', 'output', 'collectives'))), computing


def idle_on_tpus(run):
    """Percent of the steps' time on their cores that is nothing known."""
    cores = run.ask('SELECT * FROM core_steps({x}) WHERE NOT dropped')
    return percent(sum(r['all_others_us_actual'] or 0 for r in cores),
                   sum(r['total_us'] for r in cores))


def input_pipeline(run):
    for r in run.ask('SELECT * FROM input_pipeline({x})'):
        is_tpu = r['hardware'] == 'TPU'
        agree('idle and computing', [r['idle_percent'], r['compute_percent']],
              of_tpus(run, r) if is_tpu else of_the_first_host(run, r), rel=1e-6, abs_tol=1e-6)
        agree('verdict', r['idle_verdict'], None if not is_tpu else 'yes' if (
            r['idle_percent'] or 0) >= 3 else 'no')
        share = {what: r[what + '_percent_actual'] or 0 for what in (
            'input', 'output', 'kernel_launch', 'collectives', 'all_others')}
        share['idle'] = idle_on_tpus(run) or 0
        verdicts = {'input': True, 'output': share['output'] >= 5,
                    'kernel_launch': r['kernel_launch_verdict_actual'] in ('high', 'moderate'),
                    'collectives': share['collectives'] >= (share['input'] + 6 if is_tpu else 3),
                    'all_others': share['all_others'] >= 3 and (
                        share['input'] >= 5 or r['input_verdict_actual'] != 'both'),
                    'idle': is_tpu and share['idle'] >= 3}
        for what, says in verdicts.items():
            statement = r[what + '_statement']
            agree('whether there is something to say of %s: %s' % (what, statement),
                  statement is not None, says)
            if says and not statement.startswith(('Perhaps', 'Unknown')):
                said(what, statement, share[what])


OF_CATEGORY = {'DEVICE_COMPUTE_16': 'device_compute', 'DEVICE_COMPUTE_32': 'device_compute',
               'DEVICE_TO_DEVICE': 'device_to_device', 'DEVICE_WAIT_DEVICE': 'device_to_device',
               'DEVICE_COLLECTIVES': 'device_collectives', 'HOST_COMPUTE': 'host_compute',
               'HOST_PREPARE': 'kernel_launch', 'HOST_TO_DEVICE': 'input',
               'HOST_WAIT_INPUT': 'input', 'DEVICE_WAIT_HOST': 'input', 'DEVICE_TO_HOST': 'output',
               'HOST_COMPILE': 'compilation', 'UNKNOWN_TIME': 'all_others'}


def breakdown(run):
    """What core_steps says of the step."""
    cores = by_key(run.ask('SELECT * FROM core_steps({x}) WHERE plane_id IS NULL'), 'step',
                   'core_id', 'host')
    for key, rows in by_key(run.ask('SELECT * FROM step_breakdown({x})'), 'step', 'core_id',
                            'host').items():
        if key not in cores or len(cores[key]) > 1 or key[0] is None:
            continue
        sums, core = collections.Counter(), cores[key][0]
        for r in rows:
            ps = r['duration_ps_actual']
            sums[OF_CATEGORY.get(r['category'], r['category'])] += r['duration_ps'] or 0 \
                if ps is None else ps
        agree('parts of step %s' % (key,), {c: sums[c] / 1e6 for c in set(OF_CATEGORY.values())},
              {c: core[c + '_us_actual'] or 0 for c in set(OF_CATEGORY.values())}, abs_tol=1e-5)
        in_parts(*[r['duration_ps_actual'] for r in rows])
        agree('length of step %s' % (key,), sum(r['duration_ps_actual'] if r['duration_ps_actual']
                                                is not None else r['duration_ps'] or 0
                                                for r in rows) / 1e6, core['total_us'],
              abs_tol=1e-5)


def precision(run):
    """Computing in steps, where the steps have all of it: XProf's columns tell."""
    names = ('compute_16bit_ps', 'compute_32bit_ps')
    parts = collections.defaultdict(lambda: [0, 0])
    for r in run.ask('SELECT category, duration_ps, duration_ps_actual FROM step_breakdown({x})'):
        for i, column in enumerate(('duration_ps', 'duration_ps_actual')):
            parts[r['category']][i] += r[column] or 0
    narrow, narrow_actual = parts['DEVICE_COMPUTE_16']
    wide, wide_actual = parts['DEVICE_COMPUTE_32']
    has_gpu = run.ask("SELECT 1 FROM planes({x}) WHERE kind = 'gpu' LIMIT 1")
    for r in run.ask('SELECT * FROM op_metrics_totals({x})'):
        got = [r[c + '_actual'] for c in names]
        if r['side'] != 'device' or not has_gpu:
            agree('precision of ' + r['side'], got, [None, None])
        elif [r[c] for c in names] == [narrow, wide] != [0, 0]:
            agree('precision of GPUs', got, [narrow_actual, wide_actual])


def cores(run):
    planes = {r['plane_id']: r['name'] for r in run.ask('SELECT * FROM planes({x})')}
    of = {(r['host'], r['core_id']): planes.get(r['plane_id'])
          for r in run.ask('SELECT * FROM core_steps({x}) WHERE step IS NOT NULL')}
    for r in run.ask('SELECT * FROM stragglers({x})'):
        agree('plane of core %s' % r['core_id'], r['plane'], of[r['host'], r['core_id']])


def rates(run):
    totals = run.ask("SELECT busy_ps, idle_ps FROM op_metrics_totals({x}) WHERE side = 'device'")
    for r in run.ask("SELECT duty_cycle_percent FROM kpi({x}) WHERE hardware = 'TPU'"):
        busy, idle = (totals[0][c] if totals else None for c in ('busy_ps', 'idle_ps'))
        agree('duty cycle', r['duty_cycle_percent'],
              None if busy is None or not busy + idle else percent(busy, busy + idle), rel=1e-6)


def clock_rates(run):
    """Time of ops at the default clock rate over their time, of all TPUs."""
    totals = run.ask("SELECT normalized_total_op_ps, total_op_ps FROM op_metrics_totals({x}) "
                     "WHERE side = 'device'")
    at_default, ps = (float(x or 0) for x in totals[0].values()) if totals else (0, 0)
    for d in run.ask('SELECT d.*, p.kind FROM devices({x}) AS d '
                     'JOIN planes({x}) AS p USING (plane_id)'):
        agree('clock rate of device %s' % d['plane_id'], d['time_scale_multiplier'],
              None if d['kind'] == 'gpu' or not ps else at_default / ps, rel=1e-6)


def mfu(run):
    steps = {r['step']: r['name'] for r in run.ask('SELECT step, name FROM steps({x})')}
    modules = by_key(run.ask('SELECT program_id, hlo_module FROM hlo_modules({x})'), 'program_id')
    for r in run.ask('SELECT * FROM mfu({x})'):
        names = {'run': [None], 'step': [steps.get(r['step'])],
                 'program': [m['hlo_module'] for m in modules[r['program_id'], ]]}[r['scope']]
        if names:
            agree_one_of('name of %s %s' % (r['scope'], r['program_id']), r['name'], names)
        lacks = [] if (r['mfu_percent'], r['mfu_busy_percent']) != (None, None) else [
            what for what, value in (('operations', r['model_flops']), ('peak', r['peak_flops']))
            if not value]
        agree('whether %s lacks something' % r['scope'], r['missing'] is not None, bool(lacks))
        for what in lacks[:1]:
            agree('what %s lacks' % r['scope'], r['missing'].partition(':')[0], what)
            in_parts(r['missing'])


# ---- model servers, slices ----

def related(run):
    """A request has a batch that has the request."""
    asked = run.ask_all(
        'SELECT host, request_id AS id, batch_ids AS ids FROM inference_requests({x})',
        'SELECT host, batch_id AS id, request_ids AS ids FROM inference_batches({x})')
    known = [{r['id'] for r in rows} for rows in asked]
    pairs = [{(r['host'], other, r['id']) if rows is asked[0] else (r['host'], r['id'], other)
              for r in rows for other in json.loads(r['ids'])} for rows in asked]
    in_parts(*[r[c] for rows in asked for r in rows for c in ('id', 'ids')])
    agree('batches of requests and requests of batches', *[sorted(
        (host, batch, request) for host, batch, request in of if request in known[0]
        and batch in known[1]) for of in pairs])


def latency(run):
    """XProf shows none of a run that trains."""
    trains = [r['value'] == 'true' for r in run.ask(
        "SELECT value FROM overview({x}) WHERE name = 'is_training'")]
    for r in run.ask('SELECT * FROM inference_latency({x})'):
        agree('whether XProf shows percentile ' + r['percentile'], [r['shown_by_xprof']],
              [int(not t) for t in trains])


def bursts(run):
    """The last four messages of a burst to arrive."""
    for of in by_key(run.ask("SELECT * FROM dcn_messages({x})"), 'host', 'burst').values():
        if of[0]['burst'] is None:
            agree('places without a burst', [r['straggler'] for r in of], [None] * len(of))
            continue
        ends = sorted({r['start_ps'] + r['duration_ps'] for r in of}, reverse=True)
        if len(ends) == len(of):
            for r in of:
                place = ends.index(r['start_ps'] + r['duration_ps']) + 1
                agree('place of message %d' % r['event_id'], r['straggler'],
                      place if place <= 4 else None)


CHECKS = (memory_by_source_line, programs, padding_waste, fusions, allocators, memory_events,
          samples, live_allocations, rooflines, roofline_properties, op_profile, model_flops,
          categories, steps, parts_of_tpu_steps, input_pipeline, breakdown, precision, cores, rates,
          clock_rates, mfu, related, latency, bursts)


def each(run):
    for check in CHECKS:
        tried('%s %s' % (check.__name__, run.path), check, run)


if __name__ == '__main__':
    main(each)
