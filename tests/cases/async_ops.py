# SPDX-License-Identifier: Apache-2.0
"""async_ops: pairs of starts and ends, lines of asynchronous ops, bytes moved."""
import os
import random

from lib.cases import case, same
from lib.shell import DIR, ask
from lib.wire import L, Plane, space
from cases.kernels import kernels
from cases.op_profile import PEAKS


def tensorcore(events, async_events=(), plane_id=0, categories=True):
    """events: (name, start_ps, duration_ps) of the line XLA Ops; a done names its start in its HLO
    text."""
    def text(name):
        base, _, number = name.partition('.')
        number = '.' + number if number else ''
        opcode, operand = base, '%p'
        if base.endswith('-done'):
            operand = '%' + base[:-5] + ('' if base[:-5] in ('send', 'recv') else '-start') + number
        return '%%%s = f32[8]{0} %s((f32[8]{0}, u32[]) %s)' % (name, opcode, operand)

    def category(name):
        return name.partition('.')[0]

    p = Plane('/device:TPU:%d' % plane_id, plane_id + 1)
    meta = lambda name: p.meta(text(name), name, (('hlo_category', {'str': category(name)}),)
                               if categories else ())
    p.line(1, 'XLA Ops', [(meta(n), s, d, ()) for n, s, d in events])
    if async_events:
        p.line(2, 'Async XLA Ops',
               [(p.meta(text(n), 'async'), s, d, ()) for n, s, d in async_events])
    return p


ASYNC = ("SELECT hlo_op, done_op, start_ps, duration_ps, exposed_ps, hidden_ps, overlapped_by, "
         "wait_ps FROM async_ops('{x}')")


@case
def async_pairs():
    """Spans worked out by hand: starts and dones by name, in order; containers and waiting hide
    nothing."""
    rows = ask(ASYNC, x=space(tensorcore([
        ('while.1', 0, 1000), ('copy-start.1', 0, 10), ('fusion.1', 10, 30),
        ('copy-start.1', 40, 10), ('copy-done.1', 50, 50), ('fusion.2', 100, 100),
        ('copy-done.1', 200, 20), ('send', 300, 5), ('infeed', 305, 20), ('send-done', 325, 5),
        ('all-gather-start.7', 400, 1), ('add', 401, 9)]).bytes()))
    same([tuple(r.values()) for r in rows], [
        # 0..100: fusion.1 hides 30
        ('copy-start.1', 'copy-done.1', 0, 100, 70, 30, 'fusion.1', 50),
        # 40..220: fusion.2 hides 100
        ('copy-start.1', 'copy-done.1', 40, 180, 80, 100, 'fusion.2', 20),
        # infeed is waiting too
        ('send', 'send-done', 300, 30, 30, 0, None, 5),
        # the profile ends before it is done
        ('all-gather-start.7', None, 400, None, None, None, None, None)])
    row, = ask(ASYNC, x=space(tensorcore([('copy-done.1', 0, 10), ('copy-start.1', 20, 2),
                                          ('copy-done.1', 30, 5)], categories=False).bytes()))
    same((row['start_ps'], row['duration_ps'], row['exposed_ps']), (20, 15, 15),
         'a done without start is none')
    lossy = tensorcore([('copy-start', 0, 1), ('copy-start', 100, 1), ('copy-done', 110, 5),
                        ('copy-start', 115, 1), ('copy-start', 120, 1), ('copy-done', 130, 1),
                        ('copy-done', 140, 1)])
    lossy.line(3, 'XLA Modules', [('jit_f(1)', 0, 90, ()), ('jit_f(1)', 100, 90, ())])
    rows = ask(ASYNC, x=space(lossy.bytes()))
    same([(r['start_ps'], r['duration_ps']) for r in rows],
         [(0, None), (100, 15), (115, 16), (120, 21)],
         'a lost done is not made up for in the next run')


@case
def async_lines():
    """Spans that the file also has as events are not reported twice."""
    ops, spans = [('copy-start', 0, 2), ('add', 2, 8),
                  ('copy-done', 10, 5)], [('copy-start', 2, 13), ('slice-start', 3, 9)]
    rows = ask(ASYNC, x=space(tensorcore(ops, spans).bytes()))
    same([tuple(r.values()) for r in rows],
         [('copy-start', 'copy-done', 0, 15, 7, 8, 'add', 5),
          ('slice-start', 'slice-start', 3, 9, 2, 7, 'add', None)])


@case
def lines_of_the_same_spans():
    """A span of several lines is one op, wherever its name and its start are among the others."""
    paired = (2, 4, 6, 8)
    p = tensorcore([event for i in paired for event in [
        ('copy-start.%d' % i, 100 * i, 2), ('copy-done.%d' % i, 100 * i + 40, 10)]])
    for line, numbers in enumerate(((1, 5, 9), (1, 2, 3, 7), range(10), (0, 9, 4, 7, 1, 3)), 2):
        p.line(line, 'Async XLA Ops',
               [(p.meta('%%copy-start.%d = f32[8] copy-start(%%p)' % i, 'async'), 100 * i + 1, 49)
                for i in numbers])
    rows = ask(ASYNC, x=space(p.bytes()))
    same([(r['hlo_op'], r['start_ps'], r['duration_ps']) for r in rows],
         [('copy-start.%d' % i, 100 * i, 50) if i in paired else
          ('copy-start.%d' % i, 100 * i + 1, 49) for i in range(10)])


@case
def async_on_gpu():
    """Collectives and copies against the kernels of all streams of the device."""
    p = kernels(('gemm', 100, 'regs:1', {}))                                       # 0..100 ns
    # 50..150 ns
    p.line(7, 'Stream #7(Compute)',
           [('relu', 50000, 100000, [('kernel_details', {'ref': 'regs:1'})])])
    # 40..180 ns
    p.line(8, 'Stream #8',
           [('ncclDevKernel_AllReduce', 40000, 140000, ()), ('MemcpyH2D', 200000, 10000, ())])
    other = kernels(('gemm', 1000, 'regs:1', {}), plane='/device:GPU:1')
    rows = ask(ASYNC, x=space(p.bytes(), other.bytes()))
    same([(r['hlo_op'], r['duration_ps'], r['exposed_ps'], r['overlapped_by']) for r in rows],
         [('ncclDevKernel_AllReduce', 140000, 30000, 'gemm'), ('MemcpyH2D', 10000, 10000, None)])
    # copies by what profilers of ROCm and CUDA call them, or by their details; bytes by either
    # spelling
    p = kernels(('gemm', 100, 'regs:1', {}))
    p.line(8, 'Stream #8', [
        ('CopyDeviceToHost', 40000, 10000,
         [('memcpy_details', {'ref': 'kind:Unknown size:655360 dest:2 async:1'})]),
        ('MEMCPYHtoD', 60000, 10000, [('memcpy_details', {'str': 'kind:H2D\nnum_bytes:4096\n'})]),
        ('CopyDeviceToDevice', 80000, 10000, ()),
        ('peer', 95000, 10000, [('memcpy_details', {'ref': 'dest:2 size:'})]),
        ('Memset', 300000, 10000, [('memset_details', {'ref': 'num_bytes:4'})]),
        ('CopyKernel', 400000, 10000, [('kernel_details', {'ref': 'regs:1'})])])
    same([tuple(r.values()) for r in ask("SELECT hlo_op, category, bytes, exposed_ps "
                                         "FROM async_ops('{x}')", x=space(p.bytes()))],
         [('CopyDeviceToHost', 'copy', 655360, 0), ('MEMCPYHtoD', 'copy', 4096, 0),
          ('CopyDeviceToDevice', 'copy', None, 0), ('peer', 'copy', None, 5000),
          ('Memset', 'memset', None, 10000)])
    same([tuple(r.values()) for r in ask("SELECT op, bytes, round(gibps * 1073741824) AS rate "
                                         "FROM exposed_communication('{x}') "
                                         "WHERE op = 'MEMCPYHtoD'", x=space(p.bytes()))],
         [('MEMCPYHtoD', 4096, 4096 * 1e8)])


@case
def async_kinds():
    """Only compute hides an op. An op that the core executes itself is compute, whatever words its
    name contains."""
    span = ('copy-start', 0, 0), ('copy-done', 100, 10)
    hidden = lambda *ops, **how: ask(ASYNC, x=space(tensorcore(list(span) + list(ops),
                                                               **how).bytes()))[0]['hidden_ps']
    same(hidden(('dynamic-update-slice.3', 10, 20)), 20, 'a slice is updated by the core')
    same(hidden(('all-reduce.1', 10, 20)), 0, 'a collective does not compute')
    same(hidden(('dynamic-update-slice.3', 10, 20), ('all-gather.1', 30, 20), ('copy.2', 50, 5),
                categories=False), 25, 'by name')
    same(hidden(('while.1', 10, 60), ('all-reduce.1', 20, 30), ('add', 50, 5)), 30,
         'the innermost op decides: the loop itself computes')
    p = Plane('/device:GPU:0')
    p.line(1, 'Stream #1',
           [('a kernel of a graph', 0, 50, ()), ('__amd_rocclr_copyBuffer.kd', 60, 10, ())]).line(
               2, 'Stream #2', [('ncclDevKernel_AllReduce', 20, 100, ())])
    same([tuple(r.values()) for r in ask("SELECT hlo_op, category, hidden_ps FROM async_ops('{x}')",
                                         x=space(p.bytes()))],
         [('ncclDevKernel_AllReduce', 'collective', 30), ('__amd_rocclr_copyBuffer.kd', 'copy', 0)])


@case
def async_at_once():
    """A done that starts when its start does, and is listed first."""
    ops = [('copy-done.5', 0, 10), ('copy-start.5', 0, 0), ('copy-start.5', 50, 0),
           ('copy-done.5', 60, 7), ('copy-done.5', 100, 9), ('copy-start.5', 100, 1)]
    rows = ask(ASYNC, x=space(tensorcore(ops).bytes()))
    same([(r['start_ps'], r['duration_ps'], r['wait_ps']) for r in rows],
         [(0, 10, 10), (50, 17, 7), (100, 9, 9)])
    rows = ask(ASYNC, x=space(tensorcore(ops[::-1]).bytes()))
    same([(r['start_ps'], r['duration_ps'], r['wait_ps']) for r in rows],
         [(0, 10, 10), (50, 17, 7), (100, 9, 9)], 'in any order of the file')


@case
def bytes_moved():
    """Bytes moved are those that arrive or are given, not those read plus those written."""
    p = Plane('/device:TPU:0')
    texts = [('copy-start', 'copy-start = (f32[1024]{0}, f32[1024]{0:S(5)}, '
              'u32[]) copy-start(f32[1024]{0:S(5)} %p)', 8192),
             ('copy-done', 'copy-done = f32[1024]{0} copy-done((f32[1024]{0}) %copy-start)', 4096),
             ('all-gather-start', 'all-gather-start = (f32[2,8]{1,0:T(8,128)}, '
              'f32[16]{0}) all-gather-start(f32[2,8]{1,0:T(8,128)} %a)', None),
             ('all-gather-done', 'all-gather-done = f32[16]{0} all-gather-done((f32[2,8]{1,0}, '
              'f32[16]{0}) %all-gather-start)', None),
             ('slice-start', 'slice-start = ((f32[100]{0}), '
              'f32[10]{0}, s32[]) async-start(f32[100]{0} %b), calls=%c', 440),
             ('slice-done', 'slice-done = f32[10]{0} async-done(((f32[100]{0}), f32[10]{0}, '
              's32[]) %slice-start)', None),
             ('dynamic-update-slice-start', 'dynamic-update-slice-start = ((f32[100]{0}, '
              'f32[10]{0}, s32[]), f32[100]{0}, u32[]) async-start(f32[100]{0} %b, '
              'f32[10]{0} %u, s32[] %i), calls=%c', None),
             ('dynamic-update-slice-done', 'dynamic-update-slice-done = f32[100]{0} async-done((('
              'f32[100]{0}, f32[10]{0}, s32[]), f32[100]{0}, u32[]) %dynamic-update-slice-start)',
              None),
             ('all-reduce', 'all-reduce = (bf16[8]{0}, f32[2]{0}) all-reduce(bf16[8]{0} %x, '
              'f32[2]{0} %y), replica_groups={}', 48)]
    p.line(1, 'XLA Ops',
           [(p.meta('%' + text, name, (('bytes_accessed', {'int64': n}),) if n else ()), 10 * i, 10,
             ()) for i, (name, text, n) in enumerate(texts)])
    same([tuple(r.values()) for r in ask("SELECT hlo_op, bytes, bytes_accessed "
                                         "FROM async_ops('{x}', 1)", x=space(p.bytes()))],
         [('copy-start', 4096, 8192), ('all-gather-start', 64, None), ('slice-start', 40, 440),
          ('dynamic-update-slice-start', 40, None), ('all-reduce', 24, 48)])


@case
def async_against_naive():
    """Random ops: the same as adding up every picosecond."""
    rng = random.Random(5)
    for _ in range(20):
        events, at, open_starts = [], 0, []
        for _ in range(rng.randrange(5, 120)):
            at += rng.choice((0, 0, 0, 3, 11))
            kind, length = rng.randrange(10), rng.randrange(0, 40)
            if kind == 0:
                open_starts.append(rng.randrange(3))
                events.append(('copy-start.%d' % open_starts[-1], at, length))
            elif kind == 1 and open_starts:
                events.append(('copy-done.%d' % open_starts.pop(rng.randrange(len(open_starts))),
                               at, length))
            else:
                events.append(('%s.%d' % (rng.choice(('fusion', 'add', 'outfeed')),
                                          rng.randrange(5)), at, length))
            at += length
        busy = set()
        for name, start, length in events:
            if name.startswith(('fusion', 'add')):
                busy.update(range(start, start + length))
        want, waiting = [], {}
        for name, start, length in events:
            number = name.rpartition('.')[2]
            if name.startswith('copy-start'):
                waiting.setdefault(number, []).append(start)
            elif name.startswith('copy-done') and waiting.get(number):
                begin = waiting[number].pop(0)
                hidden = len(busy.intersection(range(begin, start + length)))
                want.append((begin, start + length - begin, hidden))
        rows = ask(ASYNC, x=space(tensorcore(events).bytes()))
        same(sorted((r['start_ps'], r['duration_ps'], r['hidden_ps']) for r in rows
                    if r['done_op']), sorted(want))
        for r in rows:
            if r['overlapped_by']:
                most = max(min(s + d, r['start_ps'] + r['duration_ps']) - max(s, r['start_ps'])
                           for n, s, d in events if n.startswith(('fusion', 'add')))
                best = max(min(s + d, r['start_ps'] + r['duration_ps']) - max(s, r['start_ps'])
                           for n, s, d in events if n == r['overlapped_by'])
                same(best, most, 'the op that hides most')


@case
def diagnostics():
    """The warnings that XProf 2.24.2 shows above its pages for the same files."""
    def core(n, offset=0, ps=100):
        p = Plane('/device:TPU:0', 2, [(k, {'double': v}) for k, v in PEAKS.items()])
        meta = p.meta('%a = f32[1] op()', 'a',
                      (('program_id', {'int64': 1}), ('symbol_id', {'int64': 1}),
                       ('hlo_category', {'str': 'fused'})))
        p.line(1, 'XLA Ops', [(meta, offset + 100 * i + 10, 50, ()) for i in range(4)])
        return space((p.line(2, 'Steps', [(str(i), offset + 100 * i, ps, ()) for i in range(n)])
                      if n else p).bytes())
    def said(errors, warnings):
        return b''.join(L(2, t) for t in errors) + b''.join(L(3, t) for t in warnings)
    sql = ("SELECT host, severity, code, count, substr(message, 1, 15) AS message "
           "FROM prof_issues('{x}') WHERE code LIKE 'xprof%'")
    got = ask(sql, x=core(4) + said([b'b', b'a', b'b', b''], [b'w2', b'w1', b'w2', b'']))
    same([tuple(r.values())[1:] for r in got],
         [('error', 'xprof_error', 1, ''), ('error', 'xprof_error', 1, 'a'),
          ('error', 'xprof_error', 2, 'b'),
          ('warning', 'xprof_warning', 1, ''), ('warning', 'xprof_warning', 1, 'w1'),
          ('warning', 'xprof_warning', 2, 'w2')])
    none, other = ('warning', 'xprof_steps', 1, 'No step marker '), ('warning', 'xprof_steps', 1,
                                                                     'Although there ')
    for data in (core(0), space(Plane('/host:CPU').bytes())):
        same([tuple(r.values())[1:] for r in ask(sql, x=data)], [none])
    for what, want, hosts in [('each overlaps the first, not the other', other,
                               (core(4, 300, 90), core(4, 0), core(4, 600))),
                              ('one has none', none, (core(4), core(0)))]:
        run = os.path.join(DIR, what)
        os.makedirs(run)
        for i, data in enumerate(hosts):
            with open(os.path.join(run, 'h%d.xplane.pb' % i), 'wb') as f:
                f.write(data)
        same([tuple(r.values()) for r in ask(sql.replace('{x}', run))], [('h0',) + want], what)
        same(ask(sql.replace('{x}', run + '/h0.xplane.pb')), [], what)
    many = ask("SELECT count(*) AS n, sum(count) AS all_of_them FROM prof_issues('{x}') WHERE code "
               "LIKE 'xprof_e%'", x=said([b'%d' % (i % 5000) for i in range(20000)], []) + core(4))
    same(many, [{'n': 5000, 'all_of_them': 20000}])


@case
def hostile_async():
    """Times at the ends of int64, and many spans over many ops, end in time."""
    end = (1 << 63) - 1
    ask(ASYNC, x=space(tensorcore([('copy-start', -end, 5), ('add', -end, end),
                                   ('copy-done', end - 3, end), ('copy-done', 5, -7),
                                   ('copy-start', end, end), ('copy-done', -5, 2)]).bytes()))
    n = 20000
    events = [('copy-start', i, 1) for i in range(n)] + [('add.%d' % (
        i % 9), n + 2 * i, 1) for i in range(n)] + [('copy-done', 3 * n + i, 1) for i in range(n)]
    row, = ask("SELECT count(*) AS n, min(hidden_ps) AS least, max(hidden_ps) AS most, "
               "count(overlapped_by) AS covered FROM async_ops('{x}')",
               x=space(tensorcore(events).bytes()))
    same(row, {'n': n, 'least': n, 'most': n, 'covered': n})
