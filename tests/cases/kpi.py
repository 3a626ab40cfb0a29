# SPDX-License-Identifier: Apache-2.0
"""kpi: shares of the devices that work."""
from lib.cases import case, same
from lib.shell import ask
from lib.wire import Plane, space


@case
def devices_without_work():
    """Shares are of the devices that work, by the span from the first start to the last end on any
    of them; all are counted."""
    planes = [Plane('/device:GPU:0', 1).line(1, 'Stream #1',
                                             [('k', 0, 50), ('ncclAllReduce', 40, 30)]),
              Plane('/device:GPU:1', 2).line(1, 'Stream #1', [('k', 90, 10)]),
              Plane('/device:GPU:2', 3, {'device_type_string': {'str': 'NVIDIA'}})]
    same([tuple(row.values())
          for row in ask("SELECT device_count, active_device_count, compute_percent, "
                         "collectives_percent, exposed_communication_percent, device_busy_percent "
                         "FROM kpi('{x}')", x=space(*[p.bytes() for p in planes]))],
         [(3, 2, 30.0, 15.0, 10.0, 40.0)])


@case
def devices_without_events():
    """A device tells the hardware even if nothing was recorded of it."""
    for name, hardware in (('/device:GPU:0', 'GPU'), ('/device:TPU:0', 'TPU')):
        got, = ask("SELECT hardware, device_count, active_device_count, step_count "
                   "FROM kpi('{x}')", x=space(Plane(name, 1).bytes()))
        same(tuple(got.values()), (hardware, 1, None, None))


@case
def work_in_steps():
    """What comes before the first step is in the share of the span, not in that of the steps: 52.7
    of 4232.9 ms, but 1.48 of 3.57 ms."""
    got, = ask("SELECT round(device_busy_percent, 2) AS run, "
               "round(step_device_percent, 1) AS steps FROM kpi('tests/data/h100_torch')")
    same(tuple(got.values()), (1.25, 41.5))
    got, = ask("SELECT step_device_percent FROM kpi('tests/data/tf_fit_input_bound')")
    same(tuple(got.values()), (None,), 'no device')
