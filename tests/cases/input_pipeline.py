# SPDX-License-Identifier: Apache-2.0
"""Where a step waits for input: input_pipeline, input_breakdown, host_bound, stages of
pipelines."""
from lib.cases import case, same
from lib.shell import ask
from lib.wire import Plane, space
from cases.steps import dropped, group, op, shares


@case
def advice_without_verdicts():
    """Devices that are idle half of the time, and compiling in a twentieth of the steps' time, are
    reported even without a verdict of XProf's."""
    own = "SELECT code FROM recommendations('{x}') WHERE section = 'libprofsql'"
    for gap, found in ((900, ['device_idle']), (500, ['device_idle']), (498, []), (400, [])):
        same(ask(own, x=space(Plane('/device:GPU:0').line(1, 'Stream #1', [
            ('k', 0, 500 - gap // 2), ('k', 500 + gap // 2, 500 - gap // 2)]).bytes())),
             [{'code': code} for code in found], gap)
    for name, ps, found in (('backend_compile_and_load', 60, ['compilation']), ('MatMul', 60, []),
                            ('backend_compile_and_load', 5, ['compilation']),
                            ('backend_compile_and_load', 4, [])):
        same(ask(own, x=space(Plane('/host:CPU').line(1, 'main', [
            ('TraceContext', 0, 100, group(0)), (name, 10, ps, group(0))]).bytes())),
             [{'code': code} for code in found], ps)


MS = 10 ** 9


def tpu_step(length, *host, reduce=None, **ms):
    """A step of so many ms, with ops that take so many ms of each category; events of a host."""
    plane, ops, at = Plane('/device:TPU:0', 1), [], 0
    for i, (category, n) in enumerate(ms.items()):
        name = category.replace('_', '-')
        ops.append((op(plane, name, name, i + 1), at * MS, n * MS,
                    dict(group(1), **(reduce or {}) if name == 'all-reduce' else group(1))))
        at += n
    plane.line(10, 'XLA Ops', ops).line(11, 'Steps', [('1', 0, length * MS, group(1))])
    threads = [Plane('/host:CPU', 2).line(1, 'main', list(host)).bytes()] if host else []
    return space(plane.bytes(), *threads)


def gpu_step(launch=0, **ms):
    """A step of 1000 ms, with work of a GPU that takes so many ms, and a launch after it."""
    work, at = [], 0
    for i, (name, n) in enumerate(ms.items()):
        work.append((name, at * MS, n * MS, group(1, correlation_id=i + 1)))
        at += n
    device = Plane('/device:GPU:0', 1).line(1, 'Stream #1', work)
    host = Plane('/host:CPU', 2).line(1, 'main', [
        ('TraceContext', 0, 1000 * MS, group(1)),
        ('cudaLaunchKernel', at * MS, launch * MS, group(1, correlation_id=1))])
    device.line(0xdeadbeef, 'Steps', [('1', 0, 1000 * MS, group(1))])
    return space(device.bytes(), host.bytes())


def judged(data, column):
    """A verdict of input_pipeline and the severity of its finding, None if there is none."""
    row, = ask("SELECT %s AS verdict, (SELECT severity FROM recommendations('{x}') WHERE code = "
               "'%s') AS severity FROM input_pipeline('{x}')" % (
                   column, column.partition('_verdict')[0]), x=data)
    return row['verdict'], row['severity']


@case
def verdicts_on_tpus():
    """From 20 % on, input and output are much, from 5 % on some; idle time counts from 3 % on, and
    collectives if they are 6 points above input."""
    for part, column in (('infeed', 'input_verdict'), ('outfeed', 'output_verdict')):
        for n, verdict, severity in ((200, 'host', 'error'), (199, 'both', 'warning'),
                                     (50, 'both', 'warning'), (49, 'device', 'info')):
            if part == 'outfeed' and severity == 'info':
                severity = None
            same(judged(tpu_step(1000, **{part: n, 'fusion': 1000 - n}), column),
                 (verdict, severity), (part, n))
    for n, found in ((30, ('yes', 'error')), (29, ('no', None))):
        same(judged(tpu_step(1000, fusion=1000 - n), 'idle_verdict'), found, n)
    # XProf adds the time of ops that name their all-reduce to the step's
    named = {'all_reduce_unique_id': {'uint64': 7}}
    for n, infeed, verdict in ((60, 0, 'yes'), (59, 0, 'no'), (120, 60, 'yes'), (119, 60, 'no')):
        data = tpu_step(1000 - n, reduce=named, infeed=infeed, all_reduce=n,
                        fusion=1000 - 2 * n - infeed)
        same(judged(data, 'collectives_verdict')[0], verdict, n)
    for n, infeed, severity in ((60, 0, 'error'), (59, 0, None), (110, 50, 'error'),
                                (109, 50, None)):
        data = tpu_step(1000, infeed=infeed, all_reduce=n, fusion=1000 - n - infeed)
        same(judged(data, 'collectives_verdict'), ('no', severity), n)


@case
def verdicts_on_gpus():
    """Input and output as on TPUs. Collectives, launches and unknown time are much from 15 % on,
    some from 3 % on; unknown time may be waiting for input, and then has no verdict of its own."""
    for name, column in (('MEMCPYHtoD', 'input_verdict'), ('MEMCPYDtoH', 'output_verdict')):
        for n, verdict, severity in ((200, 'host', 'error'), (199, 'both', 'warning'),
                                     (50, 'both', 'warning'), (49, 'device', 'info')):
            if name == 'MEMCPYDtoH' and severity == 'info':
                severity = None
            same(judged(gpu_step(**{name: n, 'k': 1000 - n}), column), (verdict, severity), n)
    shares_of = ((150, 'high', 'error'), (149, 'moderate', 'warning'), (30, 'moderate', 'warning'),
                 (29, 'no', None))
    for n, verdict, severity in shares_of:
        same(judged(gpu_step(ncclAllReduce=n, k=1000 - n), 'collectives_verdict'),
             (verdict, severity), n)
        same(judged(gpu_step(MEMCPYHtoD=50, k=950 - n), 'all_others_verdict'),
             (verdict, severity), n)
        found = judged(gpu_step(launch=n, k=1000 - n), 'kernel_launch_verdict_actual')
        same(found, (verdict, severity), n)
    for n, found in ((30, 'both'), (29, 'device')):
        data = gpu_step(k=1000 - n)
        same((judged(data, 'input_verdict')[0], judged(data, 'input_verdict_actual')[0],
              judged(data, 'all_others_verdict')), (found, found, ('no', None)), n)
    for n, found in ((100, []), (99, ['Only 9.9%'])):  # few numbers of 16 bits: below 10 %
        same([row['said'] for row in ask(
            "SELECT substr(statement, 1, 9) AS said FROM recommendations('{x}') "
            "WHERE code = 'precision_16bit'", x=gpu_step(half_kernel=n, k=1000 - n))], found, n)


@case
def loaders():
    """A Python function gets no advice to run it in parallel; without input ops the advice says
    that nothing is known."""
    marks = [('TraceContext', 0, 100, group(0)), ('IteratorGetNext', 0, 80, group(0)),
             ('MatMul', 80, 10, group(0))]
    for name, ps, word in (('EagerPyFunc:EagerPyFunc', 75, 'Python function'),
                           ('EagerPyFunc:EagerPyFunc', 27, 'Python function'),  # of 54 itself
                           ('EagerPyFunc:EagerPyFunc', 26, 'num_parallel_calls'),
                           ('DecodeJpeg:DecodeJpeg', 75, 'num_parallel_calls')):
        host = Plane('/host:CPU').line(1, 'main', marks).line(2, 'pool', [
            ('Iterator::Root::Map', 0, 81, {'step_name': {'str': 'Map'}}), (name, 0, ps)])
        row = ask("SELECT verdict, largest_part, top_operation, advice, python_ms "
                  "FROM input_bound('{x}')", x=space(host.bytes()))[0]
        same((row['verdict'], row['largest_part'], row['top_operation'], word in row['advice'],
              row['python_ms']),
             ('host', 'Preprocessing', 'Iterator::Root::Map', True,
              ps / 1e9 if 'Py' in name else None), (name, ps))
        same('in parallel (num_parallel_calls)' in row['advice'], 'Py' not in word)
    row = ask("SELECT top_operation, advice FROM input_bound('{x}')", x=space(
        Plane('/host:CPU').line(1, 'main', [marks[0], ('MatMul', 0, 60, group(0))]).bytes()))[0]
    same((row['top_operation'], 'does not show' in row['advice']), (None, True))
    # XProf scales all parts to 0 if copies to devices take time and no op enqueues
    row = ask("SELECT verdict, largest_part, top_operation, advice, next_step "
              "FROM input_bound('tests/data/gpu_train_38') AS b, "
              "input_pipeline('tests/data/gpu_train_38') AS p")[0]
    same((row['verdict'], row['largest_part'], row['top_operation'], row['advice'][:15],
          row['next_step'][:15]),
         ('host', None, 'Iterator::Prefetch', 'Map in parallel', 'Query input_ops'))


@case
def loaders_that_no_op_shows():
    """Without an input op, 5 % of the steps idle because of other host code may be input; not if
    the host copies, or if input ops tell that they take no time."""
    query = ("SELECT b.verdict, k.input_verdict, b.statement "
             "FROM input_bound('{x}') AS b, kpi('{x}') AS k")

    def run_of(gap, *events, unit=1):
        steps = [(str(i), 1000 * i, 1000, group(i)) for i in range(2)]
        ops = [('op', 0, 1500, group(0)), ('op', 1500 + gap, 500 - gap, group(1))]
        tpu, host = Plane('/device:TPU:0', 1), Plane('/host:CPU', 2)
        for plane, id, name, of in ((tpu, 1, 'Steps', steps), (tpu, 3, 'XLA Ops', ops),
                                    (host, 1, 'main', events)):
            plane.line(id, name, [(e[0], unit * e[1], unit * e[2], *e[3:]) for e in of])
        answer, = ask(query, x=space(tpu.bytes(), host.bytes()))
        same(answer['verdict'], answer['input_verdict'])
        return answer['verdict'], (answer['statement'] or '')[:10]
    same(run_of(100, ('load', 0, 2000)), ('both', 'Perhaps in'))
    same(run_of(100, ('load', 0, 2000), unit=10**9), ('both', 'Perhaps in'), 'exact numbers')
    same(run_of(98, ('load', 0, 2000)), ('device', 'Not input '))
    same(run_of(100, ('load', 0, 1510), ('MemcpyH2D', 1510, 400)), ('device', 'Not input '))
    same(run_of(100, ('load', 0, 2000), ('Iterator::Root', 10, 1, {'step_name': {'str': 'Root'}})),
         ('device', 'Not input '))
    for name, verdict in (('jax_accumulates', 'both'), ('jax_recompiles', 'device')):
        answer, = ask("SELECT verdict FROM input_bound('tests/data/%s')" % name)
        same(answer['verdict'], verdict, name)


@case
def parts_of_several_hosts():
    """Hosts whose steps differ in length: the parts add up to 100; so do copies within the host."""
    hosts = [space(Plane('/host:CPU').line(1, 'main', [('TraceContext', 0, n, group(1)), (
        'MatMul', 0, work, group(1)), ('MemcpyHToH', work, 20, group(1))]).bytes(),
                   hostname='h%d' % n)
             for n, work in ((100, 80), (300, 120))]
    same({row['what']: round(row['percent'] * 4) for row in ask("SELECT what, percent "
                                                                "FROM host_bound('{x}')", x=hosts)},
         {'devices': 0, 'input': 0, 'output': 0, 'host compute': 200, 'kernel launch': 0,
          'compilation': 0, 'host copies': 40, 'all others': 160})


@case
def input_stages():
    """A stage of an input pipeline waits for input unless it is part of another, on its thread or
    by what it consumes."""
    def stage(**more):
        return dict(group(0, **more), _ipl_stage_name={'str': 's'})
    main_thread = [('train', 0, 100, group(0)), ('read_data', 0, 100, group(0)),
                   ('next', 1, 90, stage(_pt=1, _p=5)), ('inner', 2, 80, stage()),
                   ('deep', 3, 70, group(0))]
    worker = [('work', 5, 40, stage(_ct=1, _c=5)), ('nested', 6, 10, stage())]
    data = space(Plane('/host:CPU').line(1, 'main', main_thread).line(2, 'worker', worker).bytes())
    same(shares(data), {(0, 1): {'HOST_WAIT_INPUT': 90, 'HOST_COMPUTE': 10}})


@case
def input_stages_of_grain():
    """XProf's own test: a batch asks stages on its thread and, by what they consume, on five
    others; the outermost alone waits for input. What computes beside it makes a step of it: 90 ps
    of waiting, 2 of computing."""
    def stage(**more):
        return dict({k: {'int64': v} for k, v in more.items()}, _ipl_stage_name={'str': 'stage'})
    main_thread = [('read_data', 0, 100, {'_r': {'int64': 1}}),
                   ('_BatchDatasetIterator.__next__', 1, 90, stage()),
                   ('_MapDatasetIterator.__next__', 2, 88, stage()),
                   ('_FilterDatasetIterator.__next__', 3, 86, stage())]
    main_thread += [('_PrefetchDatasetIterator.__next__', 4 + 10 * i, 9, stage(_pt=9999, _p=i))
                    for i in range(5)]
    workers = [[('Worker.getitem', 4 + 10 * i, 8, stage(_ct=9999, _c=i)),
                ('decode', 5 + 10 * i, 6, stage())][:2 if i < 2 else 1] for i in range(5)]
    plane = Plane('/host:CPU').line(1, 'main', main_thread)
    for i, events in enumerate(workers):
        plane.line(2 + i, 'worker %d' % i, events)
    data = space(plane.bytes())
    same(ask("SELECT start_ps, duration_ps, host_input_ps FROM host_steps('{x}')", x=data),
         [{'start_ps': 0, 'duration_ps': 100, 'host_input_ps': 90}])
    same(ask("SELECT count(*) AS n FROM trace_events('{x}') WHERE step = 0 AND name <> 'read_data'",
             x=data), [{'n': 15}])
    same(dropped(data), [(0, None, 'no computation ran in it')])
    plane.line(9, 'other', [('MatMul', 95, 2, {'_ct': {'int64': 9999}, '_c': {'int64': 0}})])
    same(shares(space(plane.bytes())),
         {(0, 1): {'HOST_WAIT_INPUT': 90, 'HOST_COMPUTE': 2, 'UNKNOWN_TIME': 8}})


def input_case(cores, infeed=0):
    """Cores with (id, begin, duration, {category: ps}), and a host that waits 210 ps for input in
    step 1."""
    us = 1000
    planes = []
    for core, begin, duration, parts in cores:
        plane, at, events = Plane('/device:TPU:%d' % core, core), begin * us, []
        for n, (category,
                ps) in enumerate(dict(parts, **({'infeed': infeed} if infeed else {})).items()):
            events.append((op(plane, 'op%d' % n, category, n + 1), at, ps * us, group(1)))
            at += ps * us
        planes.append(plane.line(10, 'XLA Ops', events).line(
            11, 'Steps', [('1', begin * us, duration * us, group(1))]))
    host = Plane('/host:CPU', 99).line(1, 'main', [('IteratorGetNext', 50 * us, 50 * us, group(1)),
                                                   ('MEMCPYHtoD', 110 * us, 90 * us, group(1)),
                                                   ('MEMCPYHtoD', 430 * us, 70 * us, group(1))])
    # of no step
    host.line(2, 'pool', [('op', i, us, {'hlo_op': {'str': 'op'}}) for i in range(1000)])
    found = shares(space(*[p.bytes() for p in planes + [host]]))
    return {core: {k: v / us for k, v in found[1, core].items() if k in ('IDLE', 'infeed')}
            for _, core in found}


@case
def input_attribution():
    """Idle time is the host's waiting for input where no op brings any: XProf's own numbers."""
    rest = {'multiply': 300, 'all-gather': 300, 'async-start': 50, 'async-done': 50}
    other = {'multiply': 300, 'all-gather': 250, 'async-start': 50, 'async-done': 50}
    same(input_case([(2, 40, 1000, rest)]), {2: {'IDLE': 90, 'infeed': 210}})
    # both cores have the longer step; the least computing is 650, so 210 of 350 idle are input
    same(input_case([(2, 40, 1000, rest), (1, 40, 900, other)]),
         {2: {'IDLE': 120, 'infeed': 180}, 1: {'IDLE': 140, 'infeed': 210}})
    same(input_case([(2, 40, 1000, rest)], infeed=50), {2: {'IDLE': 250, 'infeed': 50}})
    # the host waits for longer than the core is idle: all of that is input
    same(input_case([(2, 40, 1000, dict(rest, multiply=400))]), {2: {'IDLE': 0, 'infeed': 200}})


@case
def occurrences_that_wrap():
    """An op that was seen a multiple of 2^32 times begins anew with its next event: asked of XProf
    2.24.2."""
    plane = Plane('/device:TPU:0', 1)
    a = op(plane, 'op', 'infeed', 1)
    plane.line(10, 'XLA Ops', [(a, 0, 50, group(1), 2 ** 32), (a, 50, 30, group(1), 7),
                               (a, 80, 5, group(1))]).line(11, 'Steps', [('1', 0, 100, group(1))])
    same(shares(space(plane.bytes())), {(1, 1): {'infeed': 35, 'IDLE': 65}})


@case
def all_reduces_twice():
    """XProf adds to a TPU's step the ops that name their all-reduce, of whatever category: asked of
    XProf 2.24.2 (24.3 % then, else 29.0 %)."""
    def shares_of_input(**more):
        plane, ms = Plane('/device:TPU:0', 1), 10 ** 9
        infeed, reduce, fusion = op(plane, 'inf', 'infeed', 1), op(plane, 'ar', 'all-gather',
                                                                   2), op(plane, 'f', 'fusion', 3)
        events = [e for n in range(2) for e in ((infeed, n * ms, 300 * ms // 1000, group(n)), (
            reduce, n * ms + 300 * ms // 1000, 200 * ms // 1000, dict(group(n), **more)),
                                                (fusion, n * ms + 500 * ms // 1000,
                                                 300 * ms // 1000, group(n)))]
        plane.line(10, 'XLA Ops', events).line(11, 'Steps',
                                               [(str(n), n * ms, ms, group(n)) for n in range(2)])
        return [tuple(row.values())
                for row in ask("SELECT round(input_percent, 6), round(input_percent_actual, 6) "
                               "FROM input_pipeline('{x}')", x=space(plane.bytes()))]
    same(shares_of_input(), [(30.0, 30.0)])
    same(shares_of_input(all_reduce_unique_id={'uint64': 7}), [(25.0, 30.0)])


@case
def ops_outside_of_the_program():
    """The share of the devices' time in ops that run on the host: 5 + 10 + 7 of 82 ps, by the type
    of the framework op or as a transfer to the host that is done. Asked of XProf 2.24.2. A
    twentieth of the time is not worth a recommendation."""
    def share(*ops):
        plane = Plane('/device:TPU:0')
        stats = [{'program_id': {'uint64': 7}, 'symbol_id': {'uint64': i + 1},
                  'hlo_category': {'str': 'fusion'}, 'tf_op': {'str': tf_op}}
                 for i, (_, tf_op, _) in enumerate(ops)]
        plane.line(3, 'XLA Ops',
                   [(plane.meta('%%%s = f32[1] %s(), is_host_transfer=true' % (name, name), name,
                                stats[i]), 100 * i, ps) for i, (name, _, ps) in enumerate(ops)])
        return [r['share'] for r in ask("SELECT substr(statement, 1, 6) AS share FROM "
                                        "recommendations('{x}') WHERE code = "
                                        "'outside_compilation'", x=space(plane.bytes()))]
    same(share(('op1', 'a:MatMul', 60), ('op2', 'f:XlaSendToHost', 5),
               ('op3', 'g:XlaRecvFromHost', 10), ('send-done', 's:x', 7)), ['26.8% '])
    same(share(('op1', 'a:MatMul', 95), ('op2', 'f:XlaSendToHost', 5)), [])
    same(share(('op1', 'a:MatMul', 94), ('op2', 'f:XlaSendToHost', 6)), ['6.0% o'])
