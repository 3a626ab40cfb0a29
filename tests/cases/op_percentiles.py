# SPDX-License-Identifier: Apache-2.0
"""op_percentiles: how the durations of ops, programs and steps spread."""
from lib import hlo
from lib.cases import case, near, same
from lib.hlo import F32, shape
from lib.shell import ask
from lib.wire import Plane, space


def spread(data, columns, where='1'):
    return [tuple(r.values()) for r in ask("SELECT %s FROM op_percentiles('{x}') "
                                           "WHERE %s" % (columns, where), x=data)]


@case
def percentiles():
    """Interpolated as by percentile(); lines and planes of one kind together, the longest total
    first."""
    first = Plane('/device:GPU:0').line(1, 'Stream #1', [('k', 0, 1000000), ('k', 0, 2000000), (
        'one', 0, 500000)]).line(2, 'Stream #2', [('k', 0, 4000000)])
    second = Plane('/device:GPU:1').line(1, 'Stream #1', [('k', 0, 8000000)])
    host = Plane('/host:CPU').line(1, 'main', [('k', 0, 7000000)])
    data = space(first.bytes(), second.bytes(), host.bytes())
    same(spread(data, 'plane_kind, line_kind, name, occurrences, total_us, avg_us, min_us, p50_us, '
                'max_us'),
         [('gpu', 'stream', 'k', 4, 15.0, 3.75, 1.0, 3.0, 8.0),
          ('host', 'thread', 'k', 1, 7.0, 7.0, 7.0, 7.0, 7.0),
          ('gpu', 'stream', 'one', 1, 0.5, 0.5, 0.5, 0.5, 0.5)])
    (p90, p99, deviation), = spread(data, 'p90_us, p99_us, stddev_us',
                                    "plane_kind = 'gpu' AND name = 'k'")
    near(p90, 6.8, 'p90')
    near(p99, 7.88, 'p99')
    near(deviation, 3.09569593683445, 'as stddev()')
    same(spread(data, 'stddev_us', "name = 'one'"), [(None,)])
    short = Plane('/host:CPU').line(1, 'main', [('k', 0, ps) for ps in (1, 2, 3)])
    (deviation,), = spread(space(short.bytes()), '1e6 * stddev_us')
    near(deviation, 1, 'of 1, 2 and 3 ps')


@case
def lines_and_events_left_out():
    """Aggregated events have no durations of their own; derived lines repeat others."""
    plane = Plane('/device:GPU:0').line(1, 'Stream #1', [('k', 0, 5)]).line(0xdeadbeef - (1 << 32),
                                                                            'derived',
                                                                            [('d', 0, 5)])
    plane.line(2, 'Stream #2', [('total', None, 100, {}, 7)])
    same(spread(space(plane.bytes()), 'name, occurrences'), [('k', 1)])


@case
def programs_and_shapes():
    """Runs of programs are rows of modules lines. An op of two programs is two rows; its shape is
    in its HLO text, else in the program."""
    tpu = Plane('/device:TPU:0').line(2, 'XLA Modules',
                                      [('jit_f(3)', 0, 2000000), ('jit_f(3)', 9000000, 4000000)])
    tpu.meta('%add.1 = (f32[2]{0}, s32[]) add(f32[2]{0} %p)', stats={'program_id': {'uint64': 3}},
             key=77)
    tpu.line(3, 'XLA Ops', [(77, 0, 1000000)])
    same(spread(space(tpu.bytes()), 'line_kind, hlo_op, shape, program_id, hlo_module, '
                'occurrences, p50_us'),
         [('modules', None, None, '3', 'jit_f', 2, 3.0),
          ('ops', 'add.1', '(f32[2]{0}, s32[])', '3', None, 1, 1.0)])
    made = hlo.computation(1, 'main', [hlo.instruction(1, 'add', 'add', shape(F32, 4))], root=1)
    meta = Plane('/host:metadata', 9)
    meta.meta('jit_f(3)',
              stats={'Hlo Proto': {'bytes': hlo.proto(hlo.module('jit_f', made, id=3))}}, key=3)
    gpu = Plane('/device:GPU:0').line(1, 'Stream #1', [('k', 0, 3, {'hlo_op': {'str': 'add'},
                                                                    'program_id': {'uint64': id}})
                                                       for id in (3, 4, 3)] + [('k', 0, 1)])
    same(spread(space(gpu.bytes(), meta.bytes()), 'name, hlo_op, shape, program_id, hlo_module, '
                'occurrences', "plane_kind = 'gpu'"),
         [('k', 'add', 'f32[4]{0}', '3', 'jit_f', 2), ('k', 'add', None, '4', None, 1),
          ('k', None, None, None, None, 1)])


@case
def modules_of_numbered_programs():
    """JAX numbers the entries of programs from 1, whatever the programs' ids are."""
    first, second = (hlo.proto(hlo.module(name, hlo.computation(1, 'main', [
        hlo.instruction(1, 'a', 'negate', shape(F32))]))) for name in ('first', 'second'))
    plane = Plane('/host:metadata')
    plane.meta('first(0)', stats={'Hlo Proto': {'bytes': first}}, key=2)
    plane.meta('second(2)', stats={'Hlo Proto': {'bytes': second}}, key=1)
    op = {'hlo_op': {'str': 'a'}, 'program_id': {'uint64': 2}}
    data = space(plane.bytes(), Plane('/host:CPU').line(1, 'main', [('a', 0, 5, op)]).bytes(),
                 Plane('/device:TPU:0').line(3, 'XLA Ops', [('a', 0, 5, op)]).bytes())
    same(spread(data, 'plane_kind, program_id, hlo_module'),
         [('host', '2', 'second'), ('tensorcore', '2', 'second')])
    same([tuple(r.values()) for r in ask("SELECT plane_kind, hlo_module FROM trace_events('{x}') "
                                         "WHERE name = 'a' ORDER BY plane_kind", x=data)],
         [('host', None), ('tensorcore', None)])
