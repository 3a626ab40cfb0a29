# SPDX-License-Identifier: Apache-2.0
"""launch_delays and range_kernels: launches of kernels, and what the host was doing."""
from lib.cases import case, same
from lib.made import gpu
from lib.shell import ask, rows
from lib.wire import Plane, US, space


def us(*events):
    """Events (name, start, length[, correlation id]) in microseconds."""
    return [(name, start * US, length * US, {'correlation_id': {'int64': id[0]}} if id else {})
            for name, start, length, *id in events]


def profile(kernels, *threads, streams=()):
    device, host = gpu(*us(*kernels)), Plane('/host:CPU', 2)
    for i, events in enumerate(streams):
        device.line(20 + i, 'Stream #%d' % (20 + i), us(*events))
    for i, events in enumerate(threads):
        host.line(i + 1, 'thread %d' % i, us(*events))
    return space(device.bytes(), host.bytes())


@case
def delays_and_queues():
    """A kernel waits for the earlier ones of its stream, not for those of others."""
    x = profile([('a', 10, 20, 1), ('b', 30, 5, 2), ('copy', 36, 2), ('c', 50, 5, 3),
                 ('d', 60, 1, 9)],
                [('launch', 0, 4, 1), ('launch', 12, 4, 2), ('launch', 37, 4, 3),
                 ('launch', 58, 4, 4)],
                streams=[[('e', 40, 1, 4), ('early', 50, 1, 3)]])
    same(rows("SELECT name, launch_start_us, delay_us, queued_us, launch_duration_us"
              " FROM launch_delays('{x}')", x=x),
         [('a', 0.0, 10.0, 0.0, 4.0), ('b', 12.0, 18.0, 18.0, 4.0), ('c', 37.0, 13.0, 1.0, 4.0),
          ('e', 58.0, -18.0, 0.0, 4.0), ('early', 37.0, 13.0, 4.0, 4.0)])
    same(ask("SELECT count(*) AS n, sum(delay_ps) AS ps FROM launch_delays('{x}')", x=x),
         ask("SELECT sum(launches) AS n, CAST(sum(launches * avg_latency_us) * 1e6 AS INTEGER) "
             "AS ps"
             " FROM launch_latency('{x}')", x=x))


@case
def launches_without_work():
    """Calls that launched work before and go on after the end of all work are an issue: their work
    is not recorded. Others have no work for reasons of their own. Calls of one id are one."""
    kernels, calls = [('a', 10, 20, 1), ('b', 30, 10, 2)], [
        ('launch', 0, 4, 1), ('launch', 12, 4, 2), ('launch', 20, 4, 3), ('wait', 50, 9, 4),
        ('memcpy', 60, 1, 5)]
    issue = "SELECT severity, message FROM prof_issues('{x}') WHERE code = 'launches_without_work'"
    same(rows(issue, x=profile(kernels, calls)), [])
    same(rows(issue, x=profile([('a', 10, 20)], calls)), [])
    for late, words in (([('launch', 45, 2, 6)], 'the last 1 launch started'),
                        ([('launch', 45, 3, 6), ('launch', 46, 1, 6)], 'the last 1 launch started'),
                        ([('launch', 41, 2, 6), ('launch', 45, 2, 7)], 'the last 2 launches')):
        (severity, message), = rows(issue, x=profile(kernels, calls, late))
        same((severity, words in message, '0.005 ms long' in message), ('warning', True, True),
             message)
    same(rows(issue, x=profile(kernels, calls, [('launch', 40, 2, 6)])), [])


@case
def contexts_of_launches():
    """The call is on a line of its own: what contains it in time is sought on all lines.

    Of several the last to start, then the shortest, then the last in the file is the innermost."""
    python = [('$main.py:1 main', 0, 100), ('$main.py:9 step', 10, 40), ('train', 12, 30),
              ('$a.py:5 f', 14, 20), ('inner', 15, 4), ('$a.py:7 g', 60, 1)]
    calls = [('cuLaunch', 16, 2, 1), ('cuLaunch', 18, 4, 2), ('cuLaunch', 36, 20, 3),
             ('cuLaunch', 200, 1, 4), ('cuLaunch', 0, 1, 5), ('cudaLaunch', 90, 3, 6)]
    other = [('pool', 17, 10), ('late', 40, 30), ('first', 80, 20), ('second', 80, 20),
             ('short', 80, 15), ('cuLaunch', 91, 1, 6)]
    x = profile([('k%d' % i, 300 + i, 1, i) for i in range(1, 7)], calls, python, other)
    same(rows("SELECT name, launch_name, annotation, python_frame, python_stack"
              " FROM launch_delays('{x}')", x=x),
         [('k1', 'cuLaunch', 'inner', '$a.py:5 f', '$a.py:5 f\n$main.py:9 step\n$main.py:1 main'),
          ('k2', 'cuLaunch', 'pool', '$a.py:5 f', '$a.py:5 f\n$main.py:9 step\n$main.py:1 main'),
          ('k3', 'cuLaunch', None, '$main.py:1 main', '$main.py:1 main'),
          ('k4', 'cuLaunch', None, None, None),
          ('k5', 'cuLaunch', None, '$main.py:1 main', '$main.py:1 main'),
          ('k6', 'cudaLaunch', 'short', '$main.py:1 main', '$main.py:1 main')])
    x = profile([('k', 300, 1, 1)], [('call', 5, 1, 1)], [('one', 0, 9), ('two', 0, 9)])
    same(rows("SELECT annotation FROM launch_delays('{x}')", x=x), [('two',)])
    x = profile([('k', 300, 1, 1)], [('call', 16, 2, 1)], [('with it', 16, 4), ('after', 17, 4)])
    same(rows("SELECT annotation FROM launch_delays('{x}')", x=x), [('with it',)])


@case
def calls_of_one_id():
    """The first to start is the launch, of several at once the longest, on whatever line. Work of
    TPUs has no launch."""
    threads = [[('first', 20, 1, 1), ('long', 40, 3, 2), ('late', 60, 9, 3), ('call', 80, 1, 4)],
               [('second', 21, 5, 1), ('short', 40, 2, 2), ('early', 59, 1, 3)]]
    for calls in (threads, threads[::-1]):
        x = profile([('k%d' % i, 100 * i, 1, i) for i in range(1, 5)], *calls)
        same(rows("SELECT name, launch_name FROM launch_delays('{x}')", x=x),
             [('k1', 'first'), ('k2', 'long'), ('k3', 'early'), ('k4', 'call')])
    core = Plane('/device:TPU:0', 3).line(3, 'XLA Ops', us(('op', 500, 1, 4))).bytes()
    same(rows("SELECT name FROM launch_delays('{x}')", x=x + space(core, hostname='')),
         [('k1',), ('k2',), ('k3',), ('k4',)])


@case
def the_own_line_first():
    """Where the call's line has what contains it, ranges of other threads are not its context;
    frames are sought on other lines only without one of its own."""
    calls = [('op', 0, 50), ('call', 10, 2, 1), ('$own.py:1 f', 60, 20), ('call', 65, 2, 2),
             ('call', 90, 2, 3)]
    x = profile([('k%d' % i, 300 + i, 1, i) for i in range(1, 4)], calls,
                [('other', 5, 200), ('$main.py:2 g', 8, 100)])
    same(rows("SELECT name, annotation, python_frame FROM launch_delays('{x}')", x=x),
         [('k1', 'op', '$main.py:2 g'), ('k2', None, '$own.py:1 f'),
          ('k3', 'other', '$main.py:2 g')])


@case
def kernels_under_a_range():
    """Each launch counts once, whichever thread called it; one that ends after the range is out."""
    ranges = [('step', 0, 50), ('step', 10, 20), ('other', 60, 20), ('step', 100, 10)]
    calls = [('call', 0, 4, 1), ('call', 15, 5, 2), ('call', 45, 6, 3), ('call', 65, 1, 4),
             ('call', 101, 1, 5)]
    kernels = [('a', 200, 6, 1), ('b', 210, 3, 2), ('a', 220, 5, 3), ('b', 230, 5, 4),
               ('a', 240, 3, 5)]
    x = profile(kernels, calls, ranges)
    same(rows("SELECT kernel, short_name, launches, total_us, avg_us, percent, avg_delay_us"
              " FROM range_kernels('{x}', 'step')", x=x),
         [('a', 'a', 2, 9.0, 4.5, 75.0, 169.5), ('b', 'b', 1, 3.0, 3.0, 25.0, 195.0)])
    same(rows("SELECT kernel, launches FROM range_kernels('{x}', 'none such')", x=x), [])
    same(rows("SELECT kernel, launches FROM range_kernels('{x}', 'other')", x=x), [('b', 1)])
    same(rows("SELECT range_name, kernel, launches, total_us, percent FROM range_kernels('{x}')",
              x=x),
         [('step', 'a', 2, 9.0, 75.0), ('other', 'b', 1, 5.0, 100.0), ('step', 'b', 1, 3.0, 25.0)])


@case
def launches_of_other_threads():
    """Own launches are on the line of the range, or on a line where nothing contains their call:
    there the thread is unknown. Another thread's own range is not the one asked about."""
    threads = [[('step', 0, 100), ('call', 10, 2, 1)],
               [('work', 0, 90), ('call', 20, 2, 2), ('step', 200, 50), ('call', 210, 2, 5)],
               [('$f.py:1 f', 0, 90), ('step', 25, 10), ('call', 30, 2, 3), ('call', 40, 2, 6)],
               [('call', 50, 2, 4), ('call', 300, 1, 7)]]
    x = profile([('k%d' % i, 300 + 10 * i, i, i) for i in range(1, 8)], *threads)
    same(rows("SELECT kernel, launches, own_launches, total_us, own_us "
              "FROM range_kernels('{x}', 'step') ORDER BY kernel", x=x),
         [('k1', 1, 1, 1.0, 1.0), ('k2', 1, 0, 2.0, 0.0), ('k3', 1, 1, 3.0, 3.0),
          ('k4', 1, 1, 4.0, 4.0), ('k5', 1, 1, 5.0, 5.0), ('k6', 1, 0, 6.0, 0.0)])
    same(rows("SELECT kernel, launches, own_launches, own_us FROM range_kernels('{x}', 'call') "
              "WHERE kernel IN ('k2', 'k6')", x=x), [('k6', 1, 1, 6.0), ('k2', 1, 1, 2.0)])
    same(rows("SELECT DISTINCT launches = own_launches, total_us = own_us "
              "FROM range_kernels('{x}')", x=x), [(1, 1)])
    same(rows("SELECT d.name, context_is_own, launch_line_id = e.line_id FROM launch_delays('{x}') "
              "AS d JOIN trace_events('{x}') AS e ON e.event_id = launch_event_id "
              "ORDER BY d.name", x=x),
         [('k1', 1, 1), ('k2', 1, 1), ('k3', 1, 1), ('k4', 0, 1), ('k5', 1, 1), ('k6', 1, 1),
          ('k7', None, 1)])


@case
def subprocesses_and_odd_launches():
    """No launch is known without a call; an id of the event counts before the one of its
    metadata."""
    same(rows("SELECT count(*) FROM launch_delays('{x}')",
              x=profile([('k', 0, 1, 1)], [('call', 0, 1, 2)])), [(0,)])
    device = Plane('/device:GPU:0', 1)
    meta = device.meta('k', stats={'correlation_id': {'uint64': 7}})
    device.line(1, 'Stream #1', [(meta, 50, 1), (meta, 60, 1, {'correlation_id': {'int64': 8}})])
    x = space(device.bytes(), Plane('/host:CPU', 2).line(1, 't', [
        ('seven', 10, 1, {'correlation_id': {'int64': 7}}),
        ('eight', 20, 1, {'correlation_id': {'int64': 8}})]).bytes())
    same(rows("SELECT start_ps, launch_name FROM launch_delays('{x}')", x=x),
         [(50, 'seven'), (60, 'eight')])


@case
def ids_of_metadata():
    """A kernel has the correlation_id of its metadata, and none if that has other stats only."""
    device = Plane('/device:GPU:0', 1)
    known = device.meta('known', stats={'correlation_id': {'uint64': 5}})
    other = device.meta('other', stats={'flops': {'uint64': 9}})
    device.line(1, 'Stream #1', [
        (known, 10, 10), (other, 30, 10), (known, 50, 10), ('none', 70, 10),
        (other, 90, 10, {'correlation_id': {'uint64': 6}})])
    host = Plane('/host:CPU', 2).line(1, 'main', [
        ('first', 0, 5, {'correlation_id': {'uint64': 5}}),
        ('second', 6, 5, {'correlation_id': {'uint64': 6}})])
    same(rows("SELECT name, start_ps, launch_name FROM launch_delays('{x}') ORDER BY start_ps",
              x=space(device.bytes(), host.bytes())),
         [('known', 10, 'first'), ('known', 50, 'first'), ('other', 90, 'second')])
