# SPDX-License-Identifier: Apache-2.0
"""Steps of runs with several hosts: which steps they have in common, and by whose clock."""
from lib.cases import case, same
from lib.shell import ask
from lib.wire import Plane, space
from cases.steps import gpu_host, group, issues, op


@case
def hosts_are_aligned():
    """Hosts that start one step apart show the steps that both have, numbered from 0; core ids
    identify the host."""
    data = [gpu_host(10, 4, 0), gpu_host(20, 4, 100, length=79)]
    same([(row['step'], row['core_id'], row['start_ps'])
          for row in ask("SELECT step, core_id, start_ps FROM core_steps('{x}')", x=data)],
         [(0, 1, 100), (0, 1001, 100), (1, 1, 200), (1, 1001, 200), (2, 1, 300), (2, 1001, 300)])
    same([(row['host'], row['group_id'], row['step'])
          for row in ask("SELECT host, group_id, step FROM host_steps('{x}') WHERE host = 'host1'",
                         x=data)],
         [('host1', 20, 0), ('host1', 21, 1), ('host1', 22, 2), ('host1', 23, None)])


@case
def first_of_common_steps():
    """XProf's own test: four hosts, each a step later, have 7 of 10 steps in common, from the first
    host's fourth on. XProf's tools ask for all of them; LIMIT takes the first."""
    def hosts(shift):
        planes = [Plane('/device:TPU:0', 1) for _ in range(4)]
        for i, plane in enumerate(planes):
            work = op(plane, 'op', 'fusion', 1)
            steps = [(shift * i + 2000 * n, 2000 - (not i and n == 9), group(n)) for n in range(10)]
            plane.line(11, 'Steps', [(str(n),) + step for n, step in enumerate(steps)]).line(
                10, 'XLA Ops', [(work, begin, 5, stats) for begin, _, stats in steps])
        return [space(plane.bytes()) for plane in planes]
    data = hosts(2000)
    same([(row['step'], row['start_ps']) for row in ask("SELECT step, start_ps FROM steps('{x}') "
                                                        "LIMIT 3", x=data)],
         [(0, 6000), (1, 8000), (2, 10000)])
    same(ask("SELECT max(step) AS last, count(*) - 3 AS dropped FROM steps('{x}')", x=data),
         [{'last': 6, 'dropped': 4}])
    same(ask("SELECT count(*) - 3 AS dropped FROM steps('{x}')", x=hosts(100)), [{'dropped': 7}])


@case
def hosts_without_overlap():
    """Hosts that never overlap are aligned by number; a chain without common steps is reported."""
    apart = [gpu_host(0, 3, 0), gpu_host(0, 3, 10 ** 9)]
    same(len(ask("SELECT * FROM steps('{x}')", x=apart)), 3)
    same('steps_apart' in issues(apart, 'steps'), True)
    same('steps_apart' in issues([gpu_host(0, 3, 0), gpu_host(0, 3, 40)], 'steps'), False)
    chain = [gpu_host(0, 5, 0), gpu_host(0, 5, 300, length=79), gpu_host(0, 5, 700)]
    same(ask("SELECT * FROM steps('{x}')", x=chain), [])
    same('no_common_steps' in issues(chain, 'steps'), True)


@case
def a_host_without_steps():
    """XProf has no steps if one of the hosts has none; a host without a device is ignored if others
    have one."""
    without = [gpu_host(0, 3, 0), space(Plane('/device:GPU:0').line(1, 's', [('k', 0, 5)]).bytes())]
    same(len(ask("SELECT * FROM steps('{x}')", x=without)), 0)
    same('host_without_steps' in issues(without, 'steps'), True)
    coordinator = space(Plane('/host:CPU').line(1, 'main', [('train', 0, 5, group(0)),
                                                            ('x', 1, 2, group(0))]).bytes())
    same([row['core_id'] for row in ask("SELECT core_id FROM core_steps('{x}') WHERE step = 0",
                                        x=[coordinator, gpu_host(0, 3, 0)])], [1001])


@case
def clocks_that_differ():
    """Hosts that were recorded at different times, by their clocks, are aligned anyway, and this is
    reported."""
    def at(second):
        times = Plane('Task Environment', 9,
                      {'profile_start_time': {'uint64': second * 10 ** 9},
                       'profile_stop_time': {'uint64': (second + 1) * 10 ** 9}})
        plane = Plane('/device:GPU:0').line(1, 's',
                                            [('k', 0, 80, group(0, correlation_id=0))]).line(
                                                0xdeadbeef, 'Steps', [('0', 0, 80, group(0))])
        return space(plane.bytes(), times.bytes())
    for later, said in ((0, False), (5, True)):
        data = [at(1000), at(1000 + later)]
        same(len(ask("SELECT * FROM steps('{x}')", x=data)), 1)
        same('clocks_differ' in issues(data, 'steps'), said)
