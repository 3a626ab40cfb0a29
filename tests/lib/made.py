# SPDX-License-Identifier: Apache-2.0
"""Small profiles that cases of several subjects ask about."""
from lib.wire import L, Plane, V, space


def host_of(*threads):
    """An XSpace of a host with these threads, each a list of events as for Plane.line()."""
    plane = Plane('/host:CPU')
    for i, events in enumerate(threads):
        plane.line(10 * i + 10, 'thread%d' % i, events)
    return space(plane.bytes())


def programs(program_id, *instructions):
    """/host:metadata with one program of parameterless instructions (name, opcode, op_name)."""
    shape = V(2, 11) + L(3, b'\x04') + L(5, L(1, b'\x00'))
    made = [L(2, L(1, name), L(2, opcode), L(3, shape), V(35, i + 1), L(7, L(2, op_name)))
            for i, (name, opcode, op_name) in enumerate(instructions)]
    module = L(1, 'm') + L(2, 'main') + L(3, L(1, 'main'), *made, V(5, 1),
                                          V(6, len(made))) + L(4) + V(5, program_id) + V(6, 1)
    plane = Plane('/host:metadata', 9)
    plane.meta('m(%d)' % program_id, stats={'Hlo Proto': {'bytes': L(1, module)}}, key=program_id)
    return plane.bytes()


def gpu(*kernels, plane_stats=None):
    """Kernels (name, start_ps, duration_ps, stats) on one stream, with launch details."""
    plane = Plane('/device:GPU:0', stats=plane_stats or {'device_vendor': {'str': 'Nvidia'}})
    return plane.line(1, 'Stream #1',
                      [(name, start, duration,
                        {'kernel_details': {'str': 'regs:32 grid:1,1,1 block:32,1,1'}, **stats})
                       for name, start, duration, stats in kernels])


def host(*events):
    return Plane('/host:CPU', 2).line(5, 'main', events)
