# SPDX-License-Identifier: Apache-2.0
"""Counters of TPUs: perf_counters, utilization, kernel_utilization."""
from lib.cases import case, near, same
from lib.shell import rows
from lib.wire import Plane, space


def counters(kind, *values):
    plane = Plane('/device:TPU:0', 2,
                  {'device_type_string': {'str': kind}, 'device_id': {'uint64': 0}})
    plane.line(0, 'Kernel', [('counter %d' % number, 0, 0, {'performance_counter_id': {
        'uint64': number}, 'counter_value': {k: v}}) for number, (k, v) in values])
    return space(plane.bytes())


UTILIZATION = "SELECT achieved, peak, unit FROM utilization('{x}') WHERE node = 0 AND name = '%s'"


@case
def utilization():
    """Half of one of two scalar units; a quarter of one of four slots."""
    data = counters('TPU v7x', (2847490056, ('uint64', 1000)), (2791874648, ('uint64', 500)),
                    (2791876256, ('uint64', 250)))
    same(rows(UTILIZATION % 'Scalar Unit', data), [(500, 2000, 'instructions')])
    same(rows(UTILIZATION % 'VPU Utilization', data), [(250, 4000, 'instructions')])
    same(rows("SELECT value FROM kernel_utilization('{x}') WHERE metric = 'Scalar Unit'", data),
         [(12.5,)], 'over both cores, with the cycles of the one')
    data = counters('TPU v6 Lite', (3257466888, ('uint64', 1000)), (3257468576, ('uint64', 250)))
    same(rows(UTILIZATION % 'VPU Utilization', data), [(250, 4000, 'instructions')])


@case
def chips():
    """global_chip_id is the chip, wherever it stands and whatever other numbers the plane has;
    without it device_id is. The first of a name counts."""
    for stats, want in (([('other', 9), ('device_id', 3), ('global_chip_id', 5)], 5),
                        ([('global_chip_id', 5), ('device_id', 3), ('global_chip_id', 6)], 5),
                        ([('other', 9), ('device_id', 3), ('device_id', 4)], 3),
                        ([('other', 9)], None)):
        plane = Plane('/device:TPU:0', 2, [(name, {'uint64': n}) for name, n in stats])
        plane.line(0, 'Kernel', [('counter 1', 0, 0, {'performance_counter_id': {'uint64': 1},
                                                      'counter_value': {'uint64': 2}})])
        same(rows("SELECT DISTINCT chip FROM perf_counters('{x}')", space(plane.bytes())),
             [(want,)], stats)


@case
def odd_counters():
    """Values beyond all numbers, and below 0."""
    data = counters('TPU v6 Lite', (3257466888, ('double', 1e300)), (3257467408, ('int64', -1)),
                    (3257467416, ('double', float('nan'))), (3257467400, ('double', -3.5)))
    same(rows("SELECT count(*), sum(value_actual IS NULL) FROM perf_counters('{x}')", data),
         [(4, 1)])
    near(rows(UTILIZATION % '1 MXU Busy', data)[0][0], 2.0**64, 'a negative counter')
    near(rows(UTILIZATION % '1 MXU Busy', data)[0][1], 2.0**64, 'cycles')
    rows("SELECT * FROM kernel_utilization('{x}')", data)
