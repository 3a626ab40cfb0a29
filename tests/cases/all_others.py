# SPDX-License-Identifier: Apache-2.0
"""all_others: what the host did in the time of its steps that XProf calls All others."""
from lib.cases import case, same
from lib.shell import ask
from lib.wire import Plane, space

US = 1000000
COLUMNS = 'cause, name, python_frame, 1e3 * all_others_ms, step_count'


def marks(*starts):
    """Events of a thread: steps of 10 us, each with a call of 1 us that counts."""
    return [e for i, start in enumerate(starts) for e in (
        ('train', start * US, 10 * US, {'_r': {'int64': 1}, 'step_num': {'int64': i}}),
        ('call', start * US, US))]


def host(*threads):
    plane = Plane('/host:CPU', 9)
    for i, events in enumerate(threads):
        plane.line(10 * i + 10, 'thread%d' % i, events)
    return plane.bytes()


def others(data, columns=COLUMNS):
    return [tuple(r.values()) for r in ask("SELECT %s FROM all_others('{x}')" % columns, x=data)]


@case
def only_the_step_goes_on():
    """Two steps of 10 us, of which the calls take 1 us and a half."""
    data = space(host(marks(0, 20)))
    same(others(data), [('host', 'train', None, 9.0, 2)])
    same(others(data, 'percent, step_percent'), [(100.0, 90.0)])
    same(others(data, 'all_others_ms'), [tuple(r.values()) for r in ask(
        "SELECT avg(all_others_ms) FROM steps('{x}')", x=data)])


@case
def the_main_thread_decides():
    """It calls compiled functions, so it is the main thread, though the steps are on another. It
    has no group, so XProf does not count what it does. Of 18 us it launches for 4, in which Python
    runs for 3, waits for 2 and has no event for 12."""
    other = [('PjitFunction(f)', 2 * US, 4 * US), ('$a.py:1 g', 3 * US, 3 * US),
             ('Await', 25 * US, 2 * US), ('call', 12 * US, 5 * US), ('x', 20 * US, US)]
    same(others(space(host(marks(0, 20), other))),
         [('unknown', None, None, 6.0, 2), ('launching', 'PjitFunction(f)', None, 2.0, 2),
          ('waiting', 'Await', None, 1.0, 2)])


@case
def python_frames():
    """Frames of the main thread without a group, by which nothing else is named."""
    other = [('$a.py:1 g', 0, 9 * US), ('$b.py:2 sleep', 4 * US, 5 * US), ('$a.py:1 g', 20 * US,
                                                                          10 * US)]
    same(others(space(host(marks(0, 20), other))),
         [('python', None, '$a.py:1 g', 6.0, 2), ('python', None, '$b.py:2 sleep', 2.5, 2),
          ('unknown', None, None, 0.5, 2)])


@case
def another_thread_waits_for_input():
    """For 3 us of the first step, while its own thread only has the step."""
    same(others(space(host(marks(0, 20), [('IteratorGetNext', 4 * US, 3 * US)]))),
         [('host', 'train', None, 7.5, 2), ('input', 'IteratorGetNext', None, 1.5, 2)])


@case
def dropped_steps_do_not_count():
    """Of six steps XProf drops the first and the last, which have no call of 5 us."""
    calls = [e for i in range(1, 5) for e in [('call', (20 * i + 1) * US, 5 * US)]]
    data = space(host(sorted(marks(*range(0, 120, 20)) + calls, key=lambda e: (e[1], -e[2]))))
    same(others(data), [('host', 'train', None, 4.0, 4)])


@case
def beside_a_gpu():
    """What threads do beside a GPU does not count for XProf: while no kernel runs, the thread
    launches for 20 ps, runs an executor for 10 and has nothing for the other 10. A kernel without a
    correlation id does not count either."""
    def id(n):
        return {'correlation_id': {'int64': n}, 'group_id': {'int64': 0}}
    group = {'group_id': {'int64': 0}}
    thread = [('train', 0, 90, dict(group, step_name={'str': '0'})),
              ('cuLaunchKernel', 0, 5, id(1)), ('cuLaunchKernel', 30, 20, id(2)),
              ('Executor', 50, 10, group)]
    kernels = [('gemm', 10, 20, id(1)), ('gemm', 70, 30, id(2)), ('memset', 32, 8, group)]
    data = space(Plane('/device:GPU:0', 1).line(7, 'Stream #7', kernels).line(
        0xdeadbeef, 'Steps', [('0', 10, 90, group)]).bytes(), host(thread))
    same(others(data, 'cause, name, 1e9 * all_others_ms, step_count'),
         [('launching', 'cuLaunchKernel', 20.0, 1), ('host', 'Executor', 10.0, 1),
          ('host', 'train', 10.0, 1)])
    same([tuple(r.values()) for r in ask("SELECT 1e9 * all_others_ms FROM steps('{x}')", x=data)],
         [(40.0,)])


@case
def events_without_duration():
    """Before an event of duration 0, XProf ends it, so the activity goes on until the next event of
    its kind ends: from 2 to 6 us. The last event ends all."""
    events = [('train', 0, 10 * US, {'_r': {'int64': 1}, 'step_num': {'int64': 0}}),
              ('call', 2 * US, 0), ('call', 5 * US, US)]
    data = space(host(events))
    same(others(data), [('host', 'train', None, 6.0, 1)])
    same([tuple(r.values()) for r in ask("SELECT 1e3 * all_others_ms FROM steps('{x}')", x=data)],
         [(6.0,)])


@case
def steps_of_two_hosts():
    """The average of both: 9 and 5 us of 10."""
    second = sorted(marks(0, 20) + [('call', 2 * US, 4 * US), ('call', 22 * US, 4 * US)],
                    key=lambda e: (e[1], -e[2]))
    same(others([space(host(marks(0, 20))), space(host(second))]),
         [('host', 'train', None, 7.0, 2)])


@case
def steps_that_keras_marks():
    """XProf does not recognize them, so the times count in which no event of any thread runs: 3 to
    10 us, and 20 to 30. Python's frames are no activity, but make their thread the main one."""
    thread = [('Profiled batch', start * US, 10 * US, {'step_num': {'int64': i}})
              for i, start in enumerate((0, 20))]
    work = [('call', 0, 3 * US), ('$a.py:1 f', 22 * US, 2 * US)]
    same(others(space(host(thread, work))),
         [('unknown', None, None, 7.5, 2), ('python', None, '$a.py:1 f', 1.0, 2)])


@case
def nothing_is_left():
    """Known activities take all of the step; a TPU; no steps."""
    full = [('train', 0, 10, {'_r': {'int64': 1}, 'step_num': {'int64': 0}}), ('call', 0, 10)]
    same(others(space(host(full))), [])
    for data, reason in ((space(host(full)), 'no complete step is on a host without TPUs'),
                         (space(host([('call', 0, 10)])), 'no step was found')):
        same([r['n'] for r in ask("SELECT count(*) AS n FROM (SELECT 1 FROM all_others('{x}')) "
                                  "UNION ALL SELECT count(*) FROM prof_issues('{x}') WHERE "
                                  "code = 'nothing_to_show' AND message LIKE "
                                  "'all_others has no rows: %s%%'" % reason, x=data)], [0, 1],
             reason)
    same(ask("SELECT * FROM all_others('tests/data/tpu_train_54')"), [])
