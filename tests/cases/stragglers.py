# SPDX-License-Identifier: Apache-2.0
"""Devices that hold others up: waiting at barriers, stragglers, late cores."""
from lib.cases import case, same
from lib.shell import ask
from lib.wire import Plane, space
from cases.steps import barrier_host, clocked, group, op, suggestions


@case
def waiting_at_barriers():
    """Shares of steps in events of a name: XProf's own numbers, and its choice of steps."""
    def barriers(*events, **more):
        said = suggestions(barrier_host(*events, **more)).get('BarrierCoresRule')
        return said and said.split('%')[0].split()[-1]
    same(barriers([(0, 0), (100, 1250), (2000, 5000)]), '50.0',
         'those that nobody waits at do not count')
    same(barriers([(0, 900)]), None, 'less than a tenth')
    same(barriers([(0, 1000)]), '10.0')
    many = [(10000 * i, 10000) for i in range(4)]
    same(barriers([(0, 9000), (10000, 2000), (20000, 4000), (30000, 9000)], steps=many), '30.0',
         'neither the first nor the last of many')
    same(barriers([(0, 9000), (10000, 2000), (20000, 9000)], steps=many[:3]), '20.0')
    same(barriers([(10000, 2000), (20000, 4000)], [(20000, 6000)], steps=many), '40.0',
         'over the steps of all cores; of two steps both')
    same(barriers([(0, 1), (10000, 2000)], steps=((0, 99), (10000, 10000))), '20.0',
         'of two not the one that is far shorter')
    twice = Plane('/device:TPU:0', 1).line(11, 'Steps', [
        ('0', 0, ps, dict(clocked(0, ps), **group(0))) for ps in (2000, 9000, 1000)])
    barrier = ('barrier-cores', 0, 900, dict(clocked(0, 900), **group(0)))
    twice.line(10, 'XLA TraceMe', [barrier] * 2)
    same('20.0%' in suggestions(space(twice.bytes()))['BarrierCoresRule'], True,
         'the sum of its events, of its longest step')
    same([row['section'] for row in ask("SELECT section FROM recommendations('{x}') WHERE code = "
                                        "'BarrierCoresRule'", x=barrier_host([(0, 5000)]))],
         ['smart_suggestion'])
    printing = barrier_host([(0, 200), (300, 100)], steps=((0, 1000),), name='debug_print')
    same('30.0%' in suggestions(printing)['DebugPrintRule'], True)
    for ps, found in ((50, True), (49, False)):
        same('DebugPrintRule' in suggestions(barrier_host([(0, ps)], steps=((0, 1000),),
                                                          name='debug_print')), found, ps)
    own_clock = Plane('/device:TPU:0').line(11, 'Steps', [('0', 0, 1000, group(0))]).line(
        10, 'XLA TraceMe', [('barrier-cores', 0, 500, group(0))])
    same(suggestions(space(own_clock.bytes())), {}, 'without the time of the device')


@case
def stragglers_at_barriers():
    """Of five hosts the one that waits least is named."""
    hosts = [barrier_host([(0, ps)]) for ps in (3000, 3010, 2990, 3005, 1000)]
    said = suggestions(hosts)
    same(sorted(said), ['BarrierCoresRule', 'StragglerRule'])
    same('host4 (10.0%)' in said['StragglerRule'] and 'host0' not in said['StragglerRule'], True)
    same('host2 (10.0%)' in suggestions(hosts[2:])['StragglerRule'], True, 'of three hosts')
    same('StragglerRule' in suggestions(hosts[3:]), False, 'of two hosts none is far from both')


def working_core(i, own, collective, wait=0):
    """Two steps of 1000 ps: work, then a collective in which the rest is waited for."""
    plane = Plane('/device:TPU:%d' % i, i + 1)
    f, r = op(plane, 'f', 'fusion', 1), op(plane, 'all-reduce.1', 'all-reduce', 2)
    plane.line(10, 'XLA Ops',
               [e for n in range(2)
                for e in ((f, 1000 * n, own, group(n)), (r, 1000 * n + own, collective, group(n)))])
    return plane.line(11, 'Steps', [(str(n), 1000 * n, 1000, group(n)) for n in range(2)]).bytes()


@case
def late_core():
    """The core that the others wait for in their collectives."""
    data = space(*[working_core(i, own, 900 - own)
                   for i, own in enumerate((500, 500, 501, 800, 499))])
    got = ask("SELECT rank, core_id, plane, step_count, round(own_ms * 1e9) AS own, "
              "round(over_median_ms * 1e9) AS over, z_score > 3.5 AS z, straggler "
              "FROM stragglers('{x}', 2)", x=data)
    same(got, [{'rank': 1, 'core_id': 4, 'plane': '/device:TPU:3', 'step_count': 2, 'own': 900,
                'over': 300, 'z': 1, 'straggler': 'yes'},
               {'rank': 2, 'core_id': 3, 'plane': '/device:TPU:2', 'step_count': 2, 'own': 601,
                'over': 1, 'z': 0, 'straggler': 'no'}])
    waited = {row['plane'][-1]: row['w'] for row in ask("SELECT plane, round(waited_ms * 1e9) AS w "
                                                        "FROM stragglers('{x}')", x=data)}
    same((waited['3'], waited['0']), (0, 300))
    seven = [Plane('/device:GPU:%d' % i, i + 1).line(1, 'Stream #1', [e for n in range(7) for e in (
        ('gemm', 1000 * n, own, group(n, correlation_id=2 * n)),
        ('ncclDevKernel_AllReduce', 1000 * n + own, 900 - own,
         group(n, correlation_id=2 * n + 1)))])
             .line(0xdeadbeef, 'Steps',
                   [(str(n), 1000 * n, 1000, group(n)) for n in range(7)]).bytes()
             for i, own in enumerate((500, 800))]
    # two steps are dropped
    same([(row['n'], row['w']) for row in ask("SELECT step_count AS n, round(waited_ms * 1e9) AS w "
                                              "FROM stragglers('{x}')", x=space(*seven))],
         [(5, 300 / 2)])
    two = space(working_core(0, 500, 400), working_core(1, 800, 100))
    same([(row['core_id'], row['straggler']) for row in ask("SELECT core_id, straggler "
                                                            "FROM stragglers('{x}')", x=two)],
         [(2, None), (1, None)])
