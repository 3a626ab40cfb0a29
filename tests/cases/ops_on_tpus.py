# SPDX-License-Identifier: Apache-2.0
"""Ops of TPU cores: aggregated events, nesting, SparseCores, fused instructions, duty cycle."""
from lib.cases import case, near, same
from lib.made import host_of
from lib.shell import ask, rows
from lib.wire import L, Plane, US, V, space
from cases.ops import metrics, totals, tpu_op


DEVICE_COLUMNS = ('name, occurrences, time_ps, self_ps, min_ps, normalized_ps, flops, model_flops, '
                  'bytes_accessed')


@case
def tpu_aggregated_op():
    """An aggregated event on the Framework Ops line, at half of the default clock's speed."""
    plane = Plane('/device:TPU:0')
    op = tpu_op(plane, 'MatMul', tf_op={'str': 'while:MatMul'}, hlo_category={'str': 'MatMul'},
                flops={'uint64': 34})
    plane.line(1, 'Framework Ops',
               [(op, None, 10000, {'Time Scale Multiplier': {'double': 2.0}}, 2)])
    data = space(plane.bytes())
    same(metrics(data, 'device', DEVICE_COLUMNS),
         [('MatMul', 2, 10000, 10000, 10000, 20000, 68.0, 68.0, 0),
          ('IDLE', 0, 0, 0, None, None, 0.0, 0.0, 0)])
    same(totals(data, 'device', 'total_ps, total_op_ps, normalized_total_op_ps'),
         (10000, 10000, 20000))


@case
def tpu_ops_by_symbol():
    """An op is identified by program and symbol; without both it is left out."""
    plane = Plane('/device:TPU:0')
    a, b, c, d = tpu_op(plane, 'a'), tpu_op(plane, 'b', symbol=2), tpu_op(
        plane, 'c', program=None), tpu_op(plane, 'd', symbol=0)

    def at(op, start, scale, energy):
        return op, start, 100, {'Time Scale Multiplier': {'double': scale},
                                'vdd_energy_j': {'double': energy}}
    plane.line(1, 'XLA Ops', [at(a, 0, 0.5, 10.0), at(a, 100, 1.0, 20.0), at(b, 200, 2.0, 1.0),
                              at(c, 300, 1.0, 1.0), at(d, 400, 1.0, 1.0)])
    data = space(plane.bytes())
    same(metrics(data, 'device', 'name, occurrences, time_ps, normalized_ps, vdd_energy_j'),
         [('a', 2, 200, 150, 30.0), ('b', 1, 100, 200, 1.0), ('IDLE', 0, 200, None, None)])
    same(totals(data, 'device', 'total_ps, total_op_ps, normalized_total_op_ps'), (500, 300, 350))


@case
def several_metadata_of_a_symbol():
    """Events whose metadata share program and symbol are one op, with the first's name and, as in
    XProf, its costs. The corrected costs are those of each event's own metadata; unknown if one of
    them has none."""
    plane = Plane('/device:TPU:0')
    a = tpu_op(plane, 'a', flops={'uint64': 100}, bytes_accessed={'uint64': 10})
    b = tpu_op(plane, 'b', flops={'uint64': 1000}, model_flops={'uint64': 2000},
               bytes_accessed={'uint64': 20})
    unknown = tpu_op(plane, 'c', symbol=1)
    own = {'flops': {'uint64': 7}}
    query = ("SELECT hlo_op, occurrences, flops, bytes_accessed, flops_actual, "
             "model_flops_actual, bytes_accessed_actual FROM hlo_ops('{x}') WHERE rank > 0")
    ops = [(a, 0, 100), (b, 100, 100), (a, 200, 100), (b, 300, 100, own)]
    same(rows(query, space(plane.line(1, 'XLA Ops', ops).bytes())),
         [('a', 4, 400.0, 40, 1207.0, 2207.0, 60)])
    plane.lines.clear()
    plane.line(1, 'XLA Ops', ops + [(unknown, 400, 100, own)])
    same(rows(query, space(plane.bytes())), [('a', 5, 500.0, 50, 1214.0, 2214.0, None)])
    plane.lines.clear()
    plane.line(1, 'XLA Ops', ops + [(unknown, 400, 100)])
    same(rows(query, space(plane.bytes())), [('a', 5, 500.0, 50, None, None, None)])


@case
def tpu_metadata():
    """What the metadata says of an op."""
    plane = Plane('/device:TPU:0')
    op = tpu_op(plane, 'metadata', display='display_name', flops={'uint64': 3},
                model_flops={'uint64': 4}, bytes_accessed={'uint64': 5},
                source={'str': 'my_file.py:123'}, source_stack={'str': 'my_file.py:123\nmain.py:1'},
                deduplicated_name={'str': 'other'})
    plane.line(1, 'XLA Ops', [(op, 0, 100)])
    same(metrics(space(plane.bytes()), 'device', DEVICE_COLUMNS + ', expression, source_file, '
                 'source_line, source_stack, deduplicated_name')[0],
         ('display_name', 1, 100, 100, 100, 100, 3.0, 4.0, 5, 'metadata', 'my_file.py', 123,
          'my_file.py:123\nmain.py:1', 'other'))


@case
def tpu_memory():
    """Memory by space and direction, times the occurrences."""
    plane = Plane('/device:TPU:0')
    breakdown = b''.join(L(1, V(1, o), V(2, s), V(3, n))
                         for o, s, n in ((1, 1, 100), (2, 1, 10), (1, 3, 7), (0, 2, 5), (1, 1, 1)))
    op = tpu_op(plane, 'a', memory_access_breakdown={'bytes': breakdown},
                bytes_accessed={'uint64': 1000})
    plane.line(1, 'XLA Ops', [(op, 0, 100), (op, 100, 100)])
    data = space(plane.bytes())
    same(metrics(data, 'device', 'hbm_read_bytes, hbm_write_bytes, cmem_read_bytes, '
                 'vmem_read_bytes, bytes_accessed', "AND name = 'a'"),
         [(202, 20, 0, 14, 2000)])
    same(ask("SELECT hbm_bytes FROM hlo_ops('{x}')", x=data), [{'hbm_bytes': 222}])


@case
def tpu_nesting():
    """Time in nested ops, by the device's clock where an event has it, and by the profiler's."""
    plane = Plane('/device:TPU:0')
    outer, inner = tpu_op(plane, 'while', hlo_category={'str': 'while'}), tpu_op(plane, 'add',
                                                                                 symbol=2)

    def clock(start, duration):
        return {'device_offset_ps': {'uint64': start}, 'device_duration_ps': {'uint64': duration}}
    plane.line(1, 'XLA Ops',
               [(outer, 0, 1000, clock(5000, 900)), (inner, 100, 200, clock(5100, 190)),
                (inner, 400, 100, clock(5400, 95))])
    same(metrics(space(plane.bytes()), 'device', 'name, time_ps, self_ps, event_time_ps, '
                 'event_self_ps'),
         [('while', 900, 615, 1000, 700), ('add', 285, 285, 300, 300), ('IDLE', 0, 0, 0, 0)])


@case
def tpu_nesting_without_order():
    """Events that a line has in no order: of two that start together, the longer one is around."""
    plane = Plane('/device:TPU:0')
    outer, inner, first = (tpu_op(plane, name, symbol=at + 1)
                           for at, name in enumerate(('while', 'add', 'first')))
    plane.line(1, 'XLA Ops', [(inner, 100, 200), (outer, 100, 1000), (first, 0, 50)])
    same(metrics(space(plane.bytes()), 'device', 'name, time_ps, self_ps'),
         [('first', 50, 50), ('while', 1000, 800), ('add', 200, 200), ('IDLE', 50, 50)])


@case
def sparsecore():
    """The ops of an offloaded program stand below the op that offloaded it."""
    sparse = Plane('/device:TPU:0 SparseCore 0', 2)
    key = {'offload_core_id': {'uint64': 0}, 'tc_offload_start_id': {'uint64': 0}}
    sparse.line(1, 'Sparse Core Modules', [('module', 1000, 100000, key)])
    op = tpu_op(sparse, 'Fusion', flops={'uint64': 20})
    sparse.line(2, 'Sparse Core Ops', [(op, 2000, 10000, {}, None), (op, 500000, 10000)])
    tensor = Plane('/device:TPU:0')
    call = tpu_op(tensor, 'call')
    tensor.line(1, 'XLA Ops', [(call, 0, 200000, key)])
    data = space(tensor.bytes(), sparse.bytes())
    same(metrics(data, 'device', 'name, parent, occurrences, time_ps, normalized_ps, flops, '
                 'core_type'),
         [('call', None, 1, 200000, 200000, 0.0, 'TensorCore'),
          ('Fusion', 'call', 1, 10000, None, 20.0, 'SparseCore'),
          ('IDLE', 'call', 0, 90000, None, 0.0, None), ('IDLE', None, 0, 0, None, 0.0, None)])
    same([tuple(r.values()) for r in ask("SELECT rank, hlo_op, parent_op, core_type, "
                                         "self_time_percent FROM hlo_ops('{x}')", x=data)],
         [(1, 'call', '', 'TensorCore', 100.0), (0, 'Fusion', 'call', 'SparseCore', 0.0)])
    same([r['hlo_op'] for r in ask("SELECT hlo_op FROM top_hlo_ops('{x}')", x=data)], ['call'])
    same([r['hlo_op'] for r in ask("SELECT hlo_op FROM compare_hlo_ops('{x}', '{x}')", x=data)],
         ['call'])
    same([r['model_flops'] for r in ask("SELECT model_flops FROM mfu('{x}') WHERE scope = 'run'",
                                        x=data)], [None])


@case
def sparsecore_mix():
    """XProf takes the programs of one core id for one, those of the last plane, for the ops with
    start id 0: asked of XProf 2.24.2."""
    def key(core, start, kind):
        return {'offload_core_id': {kind: core}, 'tc_offload_start_id': {'int64': start}}

    def children(calls, cores, kind='uint64'):
        tensor = Plane('/device:TPU:0')
        call = tpu_op(tensor, 'call')
        tensor.line(1, 'XLA Ops',
                    [(call, i * 1000, 200, key(*c, kind)) for i, c in enumerate(calls)])
        planes = [tensor.bytes()]
        for i, modules in enumerate(cores):
            sparse = Plane('/device:TPU:0 SparseCore %d' % i, i + 2)
            op = tpu_op(sparse, 'scop')
            sparse.line(2, 'Sparse Core Modules',
                        [('module', k * 1000, 100, key(*m, kind)) for k, m in enumerate(modules)])
            sparse.line(3, 'Sparse Core Ops',
                        [(op, k * 1000 + 10, 20 + i) for k in range(len(modules))])
            planes.append(sparse.bytes())
        return metrics(space(*planes), 'device', 'name, occurrences, self_ps',
                       "AND parent = 'call'")
    one = [('scop', 1, 20), ('IDLE', 0, 80)]
    same(children([(0, 0)], [[(0, 5)]]), one)
    same(children([(0, 5)], [[(0, 0)]]), [])
    same(children([(1, 0)], [[(0, 0)]]), [])
    same(children([(1, 0)], [[(0, 0)]], 'int64'), one)
    same(children([(0, 0), (0, 0)], [[(0, 0), (0, 0)]]), [('scop', 2, 40), ('IDLE', 0, 160)])
    same(children([(0, 0)], [[(0, 1)], [(0, 2), (0, 7)]]), [('scop', 2, 42), ('IDLE', 0, 158)])
    same(children([(0, 0)], [[(0, 0)], []]), one)
    same(children([(0, 0), (1, 0)], [[(0, 3)], [(1, 4)], [(1, 5)]]), one)


@case
def fused_children():
    """Fused instructions of the metadata, below each other; a circle of them ends and is
    reported."""
    plane = Plane('/device:TPU:0')
    leaf = plane.meta('leaf', stats={'flops': {'uint64': 7}})
    middle = plane.meta('middle', children=[leaf, leaf])
    op = tpu_op(plane, 'fusion', children=[middle])
    plane.line(1, 'XLA Ops', [(op, 0, 10)])
    same(metrics(space(plane.bytes()), 'device', 'name, parent, occurrences, flops'),
         [('fusion', None, 1, 0.0), ('middle', 'fusion', 1, 0.0), ('leaf', 'middle', 1, 7.0),
          ('leaf', 'middle', 1, 7.0), ('IDLE', None, 0, 0.0)])
    plane = Plane('/device:TPU:0')
    op = tpu_op(plane, 'fusion', children=[1, 1])
    plane.line(1, 'XLA Ops', [(op, 0, 10)])
    data = space(plane.bytes())
    same(metrics(data, 'device', 'name'), [('fusion',), ('IDLE',)])
    same([r['code'] for r in ask("SELECT code FROM op_metrics('{x}') CROSS JOIN prof_issues('{x}') "
                                 "WHERE name = 'IDLE' AND side = 'device' AND code <> 'no_steps' "
                                 "AND code NOT LIKE 'xprof%'", x=data)], ['too_many_children'])
    plane = Plane('/device:TPU:0')
    for i in range(1, 24):
        plane.meta('level%d' % i, children=[i + 1, i + 1])
    op = tpu_op(plane, 'fusion', children=[1])
    plane.line(1, 'XLA Ops', [(op, 0, 10)])
    same(metrics(space(plane.bytes()), 'device', 'count(*) < 2000000'), [(1,)])


@case
def fused_instructions():
    """The program's instructions inside a fusion, in order of their ids, without parameters. The
    first program of a process has the id 0, which XProf 2.24.2 treats like any other."""
    shape = V(2, 11) + L(3, b'\x04') + L(5, L(1, b'\x00'))

    def instruction(name, opcode, id, *rest):
        return L(2, L(1, name), L(2, opcode), L(3, shape), V(35, id), *rest)
    fused = L(3, L(1, 'fused'), instruction('p', 'parameter', 3),
              instruction('mul', 'multiply', 5, V(36, 3), V(36, 3),
                          L(7, L(1, 'Mul'), L(2, 'f/mul'))),
              instruction('one', 'constant', 4),
              instruction('again', 'fusion', 6, L(11, 'kLoop'), V(38, 3)), V(5, 2), V(6, 6))
    inner = L(3, L(1, 'inner'), instruction('deep', 'constant', 9), V(5, 3), V(6, 9))
    entry = L(3, L(1, 'main'), instruction('loop', 'fusion', 1, L(11, 'kLoop'), V(38, 2)), V(5, 1),
              V(6, 1))
    module = L(1, 'm') + L(2, 'main') + inner + fused + entry + L(4) + V(6, 1)
    for program in (1, 0):
        metadata = Plane('/host:metadata', 2)
        metadata.meta('m(%d)' % program, key=1,
                      stats={'Hlo Proto': {'bytes': L(1, module, V(5, program))}})
        plane = Plane('/device:TPU:0')
        plane.line(1, 'XLA Ops', [(tpu_op(plane, 'loop', program), 0, 10),
                                  (tpu_op(plane, 'lost', program, symbol=2), 10, 10)])
        data = space(plane.bytes(), metadata.bytes())
        same(metrics(data, 'device', 'name, parent, category, provenance, occurrences, time_ps',
                     "AND name <> 'IDLE'"),
             [('loop', None, None, None, 1, 10),
              ('one', 'loop', 'non-fusion elementwise', ':', 1, 0),
              ('mul', 'loop', 'non-fusion elementwise', 'f/mul:Mul', 1, 0),
              ('again', 'loop', 'loop fusion', ':', 1, 0),
              ('deep', 'again', 'non-fusion elementwise', ':', 1, 0),
              ('lost', None, None, None, 1, 10)], 'program %d' % program)
        same(ask("SELECT hlo_op, program_id, hlo_module FROM hlo_ops('{x}') WHERE rank > 0",
                 x=data),
             [{'hlo_op': op, 'program_id': str(program), 'hlo_module': 'm'}
              for op in ('loop', 'lost')])


@case
def idle_fraction():
    """Share of the measured time in no op."""
    for total, busy, want in ((100 * US, 60 * US, 0.4), (200 * US, 150 * US, 0.25)):
        plane = Plane('/device:TPU:0')
        plane.line(1, 'Steps', [('step', 0, total)])
        plane.line(2, 'XLA Ops', [(tpu_op(plane, 'a'), 0, busy)])
        near(totals(space(plane.bytes()), 'device', 'idle_fraction')[0], want)
    same(totals(host_of(), 'device', 'idle_fraction'), (1.0,))


@case
def rates():
    """A core that ran at half its clock could have done twice as much."""
    for scale, want in ((2.0, 0.5), (1.0, 1.0)):
        plane = Plane('/device:TPU:0', stats={'peak_teraflops_per_second': {'double': 10.0}})
        op = tpu_op(plane, 'a', flops={'uint64': 1000})
        plane.line(1, 'XLA Ops', [(op, 0, 100, {'Time Scale Multiplier': {'double': scale}})])
        row = ask("SELECT normalized_gflops, flops_utilization FROM hlo_ops('{x}')",
                  x=space(plane.bytes()))[0]
        near(row['normalized_gflops'], 10000.0)
        near(row['flops_utilization'], want)


@case
def duty_cycle():
    """A chip is busy while one of its cores is; what an infeed inside an op takes is idle."""
    def core(i, chip, spans):
        plane = Plane('/device:TPU:%d' % i, i + 1, stats={'core_details': {'bytes': V(4, chip)}})
        on, off = tpu_op(plane, 'on',
                         hlo_category={'str': 'fusion'}), tpu_op(plane, 'off', symbol=2,
                                                                 hlo_category={'str': 'infeed'})
        plane.line(1, 'XLA Ops',
                   [(on if active else off, begin, end - begin) for active, begin, end in spans])
        return plane.bytes()

    def busy_idle(*cores):
        return totals(space(*cores), 'device', 'busy_ps, idle_ps')
    a, b = [(1, 10, 20), (0, 20, 30)], [(0, 10, 20), (1, 20, 30)]
    same(busy_idle(core(0, 1, a), core(1, 1, b)), (20, 0), 'two cores of a chip')
    same(busy_idle(core(0, 1, a), core(1, 2, a)), (20, 20), 'two chips')
    same(busy_idle(core(0, 1, a), core(1, 1, b), core(2, 2, [(0, 10, 30), (1, 15, 25)])), (30, 10),
         'both')
    same(busy_idle(core(0, 1, [(1, 0, 100), (0, 20, 50), (1, 30, 40)])), (80, 20),
         'the innermost op counts')


@case
def sure_duty():
    """XProf's high confidence leaves out custom calls without operations, of whose count it reads
    32 bits: asked of XProf 2.24.2."""
    for category, metadata, own, sure in (
        ('custom-call', {}, {}, 0), ('custom-call', {'flops': 7}, {}, 100),
        ('custom-call', {'model_flops': 7}, {}, 100), ('custom-call', {'flops': -7}, {}, 0),
        ('custom-call', {'flops': 2**31 - 1}, {}, 100), ('custom-call', {'flops': 2**31}, {}, 0),
        ('custom-call', {'flops': 2**32, 'model_flops': 2**32}, {}, 0),
        ('custom-call', {'flops': 2**32 + 5}, {}, 100), ('custom-call', {}, {'flops': 7}, 100),
        ('custom-call', {'flops': 7}, {'flops': 0}, 0),
        ('custom-call', {'flops': -7}, {'flops': 7}, 100),
        ('custom-call', {'flops': 7}, {'model_flops': -7}, 100), ('custom fusion', {}, {}, 100)):
        plane = Plane('/device:TPU:0')
        op = tpu_op(plane, 'a', hlo_category={'str': category},
                    **{k: {'int64': v} for k, v in metadata.items()})
        plane.line(1, 'XLA Ops', [(op, 0, 100, {k: {'int64': v} for k, v in own.items()})])
        same(totals(space(plane.bytes()), 'device', 'busy_ps, busy_high_confidence_ps, '
                    'idle_high_confidence_ps'), (100, sure, 100 - sure), (category, metadata, own))
