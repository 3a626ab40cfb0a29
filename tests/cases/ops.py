# SPDX-License-Identifier: Apache-2.0
"""op_metrics, tf_ops and hlo_ops of several hosts and of odd files; the queries about them; hosts
in memory one at a time."""
import glob
import os
import shutil
import subprocess

from lib.cases import case, near, same
from lib.made import host_of
from lib.shell import DIR, PROFSQL, ROOT, SQLITE3, ask
from lib.wire import L, Plane, US, V, event, event_metadata, line, space, stat, stat_metadata


def metrics(data, side, columns='name, occurrences, time_ps, self_ps', where=''):
    return [tuple(row.values()) for row in ask("SELECT %s FROM op_metrics('{x}') WHERE side = '%s' "
                                               "%s" % (columns, side, where), x=data)]


def totals(data, side, columns='total_ps, total_op_ps'):
    return tuple(ask("SELECT %s FROM op_metrics_totals('{x}') WHERE side = '%s'" % (columns, side),
                     x=data)[0].values())


def hlo_program(program_id, *instructions, module_name='m'):
    """HloProto of a program of parameterless instructions (name, opcode)."""
    shape = V(2, 11) + L(3, b'\x04') + L(5, L(1, b'\x00'))
    made = [L(2, L(1, name), L(2, opcode), L(3, shape), V(35, i + 1))
            for i, (name, opcode) in enumerate(instructions)]
    module = L(1, module_name) + L(2, 'main') + L(3, L(1, 'main'), *made, V(5, 1),
                                                  V(6, len(made))) + L(4) + V(5, program_id) + V(6,
                                                                                                 1)
    return L(1, module)


def hlo_plane(program_id, *instructions, module_name='m', also=None):
    """/host:metadata with one such program."""
    plane = Plane('/host:metadata')
    if also:
        plane.names[also] = 99
    plane.meta('%s(%d)' % (module_name, program_id), stats={'Hlo Proto': {
        'bytes': hlo_program(program_id, *instructions, module_name=module_name)}}, key=program_id)
    return plane.bytes()


def tpu_op(plane, name, program=1, symbol=1, display='', children=(), **stats):
    stats = {k: v for k, v in stats.items()}
    if program is not None:
        stats['program_id'] = {'uint64': program}
    if symbol is not None:
        stats['symbol_id'] = {'uint64': symbol}
    return plane.meta(name, display, stats, children)


@case
def queries():
    """What the canned queries make of the tables."""
    def run(first, second):
        plane = Plane('/device:TPU:0', stats={'peak_teraflops_per_second': {'double': 1.0},
                                              'peak_hbm_bw_gigabytes_per_second': {'double': 1.0}})
        busy = tpu_op(plane, 'busy', symbol=1, hlo_category={'str': 'fusion'},
                      flops={'uint64': 900000}, tf_op={'str': 'f/busy:Busy'})
        lazy = tpu_op(plane, 'lazy', symbol=2, hlo_category={'str': 'copy'}, flops={'uint64': 1000},
                      tf_op={'str': 'f/lazy:Lazy'})
        other = tpu_op(plane, second, symbol=3, hlo_category={'str': 'copy'})
        plane.line(1, 'XLA Ops', [(busy, 0, first), (lazy, first, US), (other, first + US, US)])
        return space(plane.bytes())
    a, b = run(2 * US, 'old'), run(4 * US, 'new')
    same([(r['hlo_op'], r['percent']) for r in ask("SELECT * FROM top_hlo_ops('{a}', 2)", a=a)],
         [('busy', 50.0), ('lazy', 25.0)])
    rows = ask("SELECT * FROM top_wasted('{a}')", a=a)
    same([(r['rank'], r['hlo_op']) for r in rows], [(1, 'busy'), (2, 'lazy')])
    near(rows[0]['wasted_time_us'], 2 - 2 * 0.45)
    near(rows[1]['wasted_time_us'], 1 - 0.001)
    both = ("CREATE TABLE attached AS SELECT prof_attach('{a}', 'a'), prof_attach('{b}', 'b'); "
            "SELECT run, rank, hlo_op, round(%s, 6) AS percent FROM %s WHERE n = 2")
    same([tuple(r.values()) for r in ask(both % ('percent', 'top_hlo_ops'), a=a, b=b)],
         [('a', 1, 'busy', 50.0), ('a', 2, 'lazy', 25.0), ('b', 1, 'busy', 66.666667),
          ('b', 2, 'lazy', 16.666667)])
    same([tuple(r.values()) for r in ask(both % ('wasted_percent', 'top_wasted'), a=a, b=b)],
         [('a', 1, 'busy', 27.5), ('a', 2, 'lazy', 24.975),
          ('b', 1, 'busy', round(100 * (4 - 0.9) / 6, 6)), ('b', 2, 'lazy', round(99.9 / 6, 6))])
    same([tuple(r.values())[1:7] for r in ask("SELECT * FROM op_time_by_category('{a}') "
                                              "WHERE host_or_device = 'Device'", a=a)],
         [('Device', 'copy', 2, 2, 2.0, 50.0), ('Device', 'fusion', 1, 1, 2.0, 50.0),
          ('Device', 'IDLE', 1, 0, 0.0, 0.0)])
    same([(r['hlo_op'], r['change'], r['delta_us'], r['delta_percent'], r['avg_ratio'])
          for r in ask("SELECT * FROM compare_hlo_ops('{a}', '{b}')", a=a, b=b)],
         [('busy', 'both', 2.0, 100.0, 2.0), ('new', 'appeared', 1.0, None, None),
          ('old', 'vanished', -1.0, -100.0, None), ('lazy', 'both', 0.0, 0.0, 1.0)])
    same([(r['operation'], r['change'], r['delta_us'])
          for r in ask("SELECT * FROM compare_tf_ops('{a}', '{b}') WHERE delta_us <> 0", a=a, b=b)],
         [('f/busy', 'both', 2.0), ('new', 'appeared', 1.0), ('old', 'vanished', -1.0)])
    data = space(Plane('/host:CPU').line(
        1, 't', [('A:A', 0, 10, {'is_eager': {'int64': 1}, 'group_id': {'int64': 0}}),
                 ('B:B', 10, 10, {'is_eager': {'int64': 0}})]).bytes())
    same(ask("SELECT operation, percent FROM eager_ops('{x}')", x=data),
         [{'operation': 'A', 'percent': 50.0}])
    same(list(ask("SELECT * FROM tf_stats('{x}')", x=data)[0])[:5],
         ['Rank', 'Host/device', 'Operation Type', 'Operation Name', '#Occurrences'])


@case
def kernel_time_by_op():
    """Kernels by op: by today's stat, by the program's instruction, by those of files until 2023,
    and those that name none."""
    details = {'kernel_details': {'str': 'regs:1'}}
    plane = Plane('/device:GPU:0', stats={'device_vendor': {'str': 'Nvidia'}})
    plane.line(1, 'Stream #1',
               [('h884', 0, 30, {'tf_op': {'str': 'a/MatMul:MatMul'}, **details}),
                ('split', 40, 10, {'level 0': {'str': 'a/MatMul:MatMul'}, **details}),
                ('k', 60, 5, {'hlo_op': {'str': 'x::dot.1'}, 'program_id': {'uint64': 1},
                              'tf_op': {'str': 'XlaModule:'}, **details}),
                ('k', 70, 5, {'hlo_op': {'str': 'lost'}, 'program_id': {'uint64': 1},
                              'tf_op': {'str': 'XlaModule:'}, **details}),
                ('MemcpyH2D', 80, 20, {'annotation': {'str': 'MakeTensorFromProto'}}),
                ('k', 110, 4, {'tf_op': {'str': 'jit(f)/add:'}, **details}),
                ('k', 120, 1, details)])
    shape = V(2, 11) + L(3, b'\x04') + L(5, L(1, b'\x00'))
    dot = L(2, L(1, 'dot.1'), L(2, 'dot'), L(3, shape), V(35, 1),
            L(7, L(1, 'dot_general'), L(2, 'jit(f)/dot_general')))
    module = L(1, 'm') + L(2, 'main') + L(3, L(1, 'main'), dot, V(5, 1),
                                          V(6, 1)) + L(4) + V(5, 1) + V(6, 1)
    programs = Plane('/host:metadata', 2)
    programs.meta('m(1)', stats={'Hlo Proto': {'bytes': L(1, module)}}, key=1)
    data = space(plane.bytes(), programs.bytes())
    same([tuple(r.values()) for r in ask("SELECT rank, type, operation, occurrences, kernel_count, "
                                         "round(total_time_us * 1e6, 6), round(percent, 6), "
                                         "tensorcore_utilization_fraction "
                                         "FROM kernel_time_by_op('{x}')", x=data)],
         [(1, 'MatMul', 'a/MatMul', 2, 2, 40.0, round(4000 / 75, 6), 0.75),
          (2, None, 'MakeTensorFromProto', 1, 1, 20.0, round(2000 / 75, 6), None),
          (3, 'dot_general', 'jit(f)/dot_general', 1, 1, 5.0, round(500 / 75, 6), 0.0),
          (4, None, 'lost', 1, 1, 5.0, round(500 / 75, 6), 0.0),
          (5, None, 'jit(f)/add', 1, 1, 4.0, round(400 / 75, 6), 0.0),
          (6, None, None, 1, 1, 1.0, round(100 / 75, 6), 0.0)])
    same(len(ask("SELECT * FROM kernel_time_by_op('{x}', 2)", x=data)), 2)


@case
def hosts():
    """Hosts are summed in order; idle time is one row."""
    data = [host_of([('A:A', 0, 10), ('B:B', 20, 10)]), host_of([('B:B', 0, 5), ('C:C', 10, 5)])]
    same(metrics(data, 'host'),
         [('A', 1, 10, 10), ('B', 2, 15, 15), ('IDLE', 0, 15, 15), ('C', 1, 5, 5)])
    same(totals(data, 'host'), (45, 30))


@case
def programs_of_hosts():
    """Hosts that use one id for different programs: their ops mix, and that is said."""
    def one(name):
        kernel = {'hlo_op': {'str': 'add'}, 'program_id': {'uint64': 1}}
        return space(Plane('/device:GPU:0').line(1, 's', [('k', 0, 10, kernel)]).bytes(),
                     hlo_plane(1, ('add', 'custom-call'), module_name=name))
    rows = ask("SELECT o.name, o.occurrences, o.time_ps, i.code FROM op_metrics('{x}') AS o CROSS "
               "JOIN prof_issues('{x}') AS i WHERE o.name = 'add' AND side = 'device' "
               "AND code <> 'no_steps' AND code NOT LIKE 'xprof%'",
               x=[one('f'), one('g')])
    same([tuple(r.values()) for r in rows], [('add', 2, 20, 'programs_mixed')])
    same(ask("SELECT i.code FROM op_metrics('{x}') AS o CROSS JOIN prof_issues('{x}') AS i "
             "WHERE i.code = 'programs_mixed'", x=[one('f'), one('f')]), [])


@case
def many_programs():
    """A hundred thousand programs, each with one op."""
    n = 100000
    gpu, metadata = Plane('/device:GPU:0'), Plane('/host:metadata', 2)
    shape = V(2, 11) + L(3, b'\x04') + L(5, L(1, b'\x00'))
    names = {name: gpu.names.setdefault(name, i + 1)
             for i, name in enumerate(('hlo_op', 'program_id', 'add'))}
    op = stat(names['hlo_op'], ref=names['add'])
    events = [event(1, i * 10, 5, [op, stat(names['program_id'], uint64=i)]) for i in range(n)]
    gpu.meta('kernel')
    gpu.lines.append(line(1, 'Stream #1', events))
    head = L(1, 'm') + L(2, 'main') + L(3, L(1, 'main'), L(2, L(1, 'add'), L(2, 'iota'),
                                                           L(3, shape), V(14, 0), V(35, 1)),
                                        V(5, 1), V(6, 1)) + L(4)
    entries = [event_metadata(i, 'm(%d)' % i, stats=[stat(1, bytes=L(1, head, V(5, i), V(6, 1)))])
               for i in range(n)]
    hlo = V(1, 2) + L(2, '/host:metadata') + b''.join(entries) + stat_metadata(1, 'Hlo Proto')
    same(metrics(space(gpu.bytes(), hlo), 'device', 'count(*), sum(occurrences), sum(time_ps), '
                 'sum(flops), sum(bytes_accessed)', "AND name = 'add'"),
         [(n, n, 5 * n, 0.0, 16 * n)])


@case
def odd_values():
    """Negative times, huge durations and numbers that do not fit anywhere end in a row and not in a
    crash."""
    plane = Plane('/device:TPU:0')
    op = tpu_op(plane, 'a', flops={'uint64': 2**64 - 1}, bytes_accessed={'int64': -1},
                source={'str': 'f:99999999999'})
    other = tpu_op(plane, 'b', symbol=2, flops={'double': 1e300}, source={'str': ':'})
    plane.line(1, 'XLA Ops', [(op, -5, -7, {'Time Scale Multiplier': {'double': float('nan')}}),
                              (op, 2**62, 2**62), (other, 0, 0),
                              (other, 10, 5, {'Time Scale Multiplier': {'double': 1e300},
                                              'min_duration_ps': {'int64': -1}}, None),
                              (other, None, 5, {}, 2**40)])
    gpu = Plane('/device:GPU:0', 2).line(1, 's',
                                         [('k', -10, -10, {'tf_op': {'str': ':'}}),
                                          ('k', 2**63 - 1, 2**63 - 1, {'hlo_op': {'str': ''}})])
    cpu = Plane('/host:CPU',
                3).line(1, 't', [('A:A', 2**63 - 1, 2**63 - 1), ('A:A', -2**63, -1), ('B:B', 0, 0)])
    data = space(plane.bytes(), gpu.bytes(), cpu.bytes())
    for table in ('op_metrics', 'op_metrics_totals', 'tf_ops', 'hlo_ops'):
        same(ask("SELECT count(*) > 0 AS n FROM %s('{x}')" % table, x=data), [{'n': 1}], table)


@case
def nothing():
    """Files without devices, without ops, without anything."""
    same(metrics(space(Plane('/host:CPU').bytes()), 'host'), [])
    same(ask("SELECT * FROM hlo_ops('{x}')", x=space(Plane('/host:CPU').bytes())), [])
    same(metrics(space(Plane('/device:TPU:0').bytes()), 'device'), [('IDLE', 0, 1, 1)])
    same(metrics(space(Plane('/device:GPU:0').bytes()), 'device'), [('IDLE', 0, 0, 0)])
    same([r['operation'] for r in ask("SELECT operation FROM tf_ops('{x}')",
                                      x=space(Plane('/device:GPU:0').bytes()))], ['IDLE'])
    same(ask("SELECT operation FROM tf_ops('{x}', 0)", x=space(Plane('/device:GPU:0').bytes())), [])


BY_HOST = ['op_metrics', 'op_metrics_totals', 'tf_ops', 'hlo_ops', 'kernel_stats', 'op_profile',
           'roofline', 'roofline_properties', 'devices', 'host_steps', 'steps',
           'step_breakdown', 'core_steps', 'input_pipeline', 'input_steps', 'input_ops',
           'input_breakdown', 'overview', 'top_device_ops', 'recommendations',
           'inference_models', 'inference_requests', 'inference_batches', 'inference_percentiles',
           'inference_tensor_patterns', 'inference_latency', 'tf_functions',
           'dcn_collectives']
WHOLE = ['prof_issues', 'event_totals', 'lines', 'trace_events', 'event_totals', 'event_metadata',
         'async_ops', 'device_time', 'device_steps', 'collectives']


def answers(attach, folder, tables):
    """What a shell prints of the tables; of a run attached with the function."""
    queries = ''.join("SELECT '%s', * FROM %s;" % (t.replace("'", ''),
                                                   t if '(' in t else t + "('x')") for t in tables)
    done = subprocess.run([SQLITE3, '-batch', ':memory:', '-cmd', '.load %s' % PROFSQL, "SELECT "
                           "%s('%s', 'x');" % (attach, folder) + queries], capture_output=True,
                          text=True)
    same(done.stderr, '', folder)
    return done.stdout


@case
def by_host():
    """A run whose hosts are in memory one at a time answers as one that is there whole: in whatever
    order tables are asked, and when a table of events makes it whole. What is lost of a host counts
    once, however often it is read."""
    cut = os.path.join(DIR, 'cut', 'plugins', 'profile', 'run')
    os.makedirs(cut)
    plane = Plane('/device:TPU:0')
    plane.line(2, 'XLA Ops', [('op.%d' % i, i * US, US) for i in range(50)])
    whole = space(plane.bytes())
    for name, data in ('a', whole), ('b', whole[:-40]), ('c', whole):
        with open(os.path.join(cut, name + '.xplane.pb'), 'wb') as f:
            f.write(data)
    servers = os.path.join(DIR, 'servers', 'plugins', 'profile', 'run')
    os.makedirs(servers)
    for host, name in ('a', 'inference_batches'), ('b', 'tpu_infer_78'), ('c', 'megascale_small'), (
        'd', 'tf_fit_input_bound'):
        shutil.copy(glob.glob(os.path.join(ROOT, 'tests', 'data', name, '**', '*.xplane.pb'),
                              recursive=True)[0], os.path.join(servers, host + '.xplane.pb'))
    for folder in [cut,
                   servers] + [os.path.join(ROOT, 'tests', 'data', name)
                               for name in ('multi_host_111', 'jax_two_hosts', 'tf_two_workers')]:
        host = ask("SELECT host FROM hosts('%s') ORDER BY 1 DESC" % folder)[0]['host']
        one = ["op_metrics('x/%s')" % host, "host_steps('x/%s')" % host]
        for tables in (BY_HOST + WHOLE + BY_HOST, one + BY_HOST[::-1] + one + WHOLE,
                       WHOLE + BY_HOST):
            same(answers('prof_attach_by_host', folder, tables),
                 answers('prof_attach', folder, tables), folder)
