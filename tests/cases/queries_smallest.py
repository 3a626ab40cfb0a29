# SPDX-License-Identifier: Apache-2.0
"""Runs in which everything is one: one picosecond, operation or byte. Shares of it are known."""
from lib.cases import case, same
from lib.hlo import (ALLOC, FREE, U8, allocation, assignment, buffer, computation, instruction,
                     module, proto, shape, trace)
from lib.made import gpu
from lib.shell import rows
from lib.wire import L, Plane, US, V, space

PEAKS = {
    'peak_teraflops_per_second': {'double': 1e-12},
    'peak_hbm_bw_gigabytes_per_second': {'double': 1e-9}
}


def tpu(*spans, number=0):
    """A TensorCore whose peaks are one operation and one byte a second; an op and a step a span."""
    plane = Plane('/device:TPU:%d' % number, number + 1, PEAKS)
    op = plane.meta(
        '%a = f32[1] op()', 'a', {
            'program_id': {'uint64': 1}, 'symbol_id': {'uint64': 1}, 'flops': {'uint64': 1},
            'bytes_accessed': {'uint64': 1}, 'hlo_category': {'str': 'c'}
        })
    plane.line(1, 'XLA Ops', [(op, start, length) for start, length in spans])
    plane.line(2, 'Steps', [(str(i), start, length) for i, (start, length) in enumerate(spans)])
    return plane.bytes()


def answer(query, columns, x, where='1'):
    """The only row that a query has in a run."""
    found = rows("SELECT %s FROM %s('{x}') WHERE %s" % (columns, query, where), x=x)
    same(len(found), 1, query)
    return found[0]


@case
def one_picosecond_on_a_tpu():
    """An op of one operation takes a step of one picosecond: 1e12 operations a second."""
    x = space(tpu((0, 1)))
    same(answer('top_hlo_ops', 'percent, cumulative_percent', x), (100.0, 100.0))
    same(answer('top_wasted', 'wasted_percent', x), (0.0, ))
    same(answer('top_ops', 'self_time_percent', x), (100.0, ))
    same(answer('op_time_by_line', 'line_percent', x, "line = 'XLA Ops'"), (100.0, ))
    same(
        answer('op_time_by_category', 'percent, percent_of_ops, flops, bytes_accessed', x,
               "category = 'c'"), (100.0, 100.0, 1.0, 1.0))
    same(
        answer(
            'flops_utilization_by_step', 'flops, model_flops, round(gflops_per_device, 6),'
            ' round(peak_gflops * 1e9, 6), round(utilization_percent / 1e14, 6),'
            ' round(model_utilization_percent / 1e14, 6)', x), (1.0, 1.0, 1000.0, 1.0, 1.0, 1.0))
    same(
        answer(
            'kpi', 'round(flops_utilization_percent / 1e14, 6), duty_cycle_percent,'
            ' device_busy_percent', x), (1.0, 100.0, 100.0))
    for ps in (1, US):
        same(rows("SELECT what, percent FROM host_bound('{x}') WHERE percent > 0",
                  x=space(tpu((0, ps)))), [('devices', 100.0)])
    same(rows("SELECT start_ps, duration_us FROM idle_gaps('{x}')", x=space(tpu((0, 1), (2, 1)))),
         [(1, 1e-6)])


@case
def one_picosecond_without_a_category():
    """A kernel of no known category has a row if it takes any time."""
    for ps, want in ((1, [(None, 1e-6)]), (0, [])):
        same(rows("SELECT category, self_time_us FROM op_time_by_category('{x}') "
                  "WHERE category IS NOT 'IDLE'", x=space(gpu(('k', 0, ps, {})).bytes())), want)


@case
def two_devices_of_one_picosecond():
    """The time of an op is shared by the devices that compute."""
    one, two = space(tpu((0, 1))), space(tpu((0, 1)), tpu((0, 1), number=1))
    same(
        rows(
            "SELECT round(per_device_step_us_a * 1e6, 6), round(per_device_step_us_b * 1e6, 6)"
            " FROM compare_ops('{a}', '{b}')",
            a=one,
            b=two), [(1.0, 1.0)])
    same(
        rows(
            "SELECT round(per_device_step_us_a * 1e6, 6), round(per_device_step_us_b * 1e6, 6)"
            " FROM compare_ops('{a}', '{b}')",
            a=two,
            b=one), [(1.0, 1.0)])


@case
def one_microsecond_on_a_gpu():

    def kernel(ps):
        return space(gpu(('gemv', 0, ps, {'tf_op': {'str': 'a/MatMul:MatMul'}})).bytes())

    same(answer('top_kernels', 'percent, cumulative_percent', kernel(US)), (100.0, 100.0))
    same(answer('tensorcore_missed', 'percent', kernel(US)), (100.0, ))
    same(answer('kernel_time_by_op', 'percent, tensorcore_utilization_fraction', kernel(1)),
         (100.0, 0.0))
    same(answer('top_ops', 'self_time_percent', kernel(1)), (100.0, ))
    columns = 'delta_percent, avg_us_a, avg_us_b, avg_ratio'
    same(rows("SELECT %s FROM compare_ops('{a}', '{b}')" % columns, a=kernel(US), b=kernel(2 * US)),
         [(100.0, 1.0, 2.0, 2.0)])
    copy = {'memcpy_details': {'str': 'kind_src:pageable kind_dst:device size:1073741824 dest:0'}}
    for ps, rate in ((1, 1e12), (10**12, 1.0)):
        x = space(gpu(('MemcpyH2D', 0, ps, copy)).bytes())
        same(answer('exposed_communication', 'exposed_percent, exposed_span_percent, gibps', x),
             (100.0, 100.0, rate))


@case
def one_byte():
    """Two bytes at the peak; a lives across it, c is padded by a byte and has a plan of its own."""

    def plan(*buffers, size):
        made = [
            instruction(1, 'a', 'negate', shape(U8, 1), more=L(7, L(3, 'x.py'), V(4, 1))),
            instruction(2, 'b', 'negate', shape(U8, 1), (1, )),
            instruction(3, 'c', 'negate', shape(U8, 1, tile=(2, )), (2, ))
        ]
        placed = [(b, i, size // len(buffers)) for i, b in enumerate(buffers)]
        events = [(ALLOC, b, 'abc'[b - 1]) for b in buffers]
        traced = trace(*events, *[(FREE, b, 'abc'[b - 1]) for b in reversed(buffers)])
        logical = [buffer(b, size // len(buffers), b) for b in buffers]
        return proto(module('m', computation(1, 'main', made, root=3)),
                     assignment(logical, [allocation(0, size, placed)], [traced]))

    two, padded = plan(1, 2, size=2), plan(3, size=2)
    same(rows("SELECT hlo_op, peak_percent, expansion FROM largest_buffers('{x}')", x=two),
         [('a', 50.0, 1.0), ('b', 50.0, 1.0)])
    same(rows("SELECT hlo_op, expansion FROM live_at('{x}')", x=two), [('a', 1.0), ('b', 1.0)])
    same(rows("SELECT user_file || ':' || user_line, percent "
              "FROM memory_by_source_line('{x}')", x=two),
         [(None, 50.0), ('x.py:1', 50.0)])
    same(rows("SELECT hlo_op, peak_percent, flops_per_byte FROM remat_candidates('{x}')", x=two),
         [('a', 50.0, 1.0)])
    same(answer('peak_memory', 'peak_mib * 1048576', two), (2.0, ))
    same(answer('padding_waste', 'hlo_op, padding_mib * 1048576, expansion', padded),
         ('c', 1.0, 2.0))
