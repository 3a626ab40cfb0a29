# SPDX-License-Identifier: Apache-2.0
"""Monitor, continuous profiling, series of runs, and the analysis service of TPU pods."""
import os
import signal
import time

from lib.cases import case, must, same
from lib.shell import DATA, path
from remote.client import (DONE, EMPTY, FAILED, INTERRUPTED, NO_GRPC, TOO_LATE, UNIMPLEMENTED,
                           UNREACHABLE, Done, fields, files, message, run, start)
from remote.http2 import Server

XSPACE = b'a profile' * 20
PROFILE = message((8, XSPACE))
LEVEL_1 = ('Timestamp: 12:34:56\nTPU type: TPU v2\n'
           'Utilization of TPU Matrix Units (higher is better): 10.4%\n')
LEVEL_2 = LEVEL_1 + 'Step time: 90.8ms (avg), 89.8ms (min), 92.2ms (max)'
PLANES = os.path.join(DATA, 'jax_train_mlp')


def profile_of(folder):
    for where, _, names in os.walk(folder):
        for name in names:
            if name.endswith('.xplane.pb'):
                with open(os.path.join(where, name), 'rb') as f:
                    return f.read()


# ---- Monitor ----

@case
def monitor():
    """The service's own words, and its request at both levels."""
    for level, text in ((1, LEVEL_1), (2, LEVEL_2)):
        result = message((1, 2 * level - 1), (3, 10.4))
        with Server(lambda call: call.answer(message((1, text), (10, result)))) as server:
            done = run(server, '--monitor', str(level), '--duration', '200')
        same((done.status, done.out), (DONE, text.rstrip('\n') + '\n'), done)
        same((server.calls[0].path, server.calls[0].message),
             ('/tensorflow.ProfilerService/Monitor', message((1, 200), (2, level), (3, 1))))


@case
def monitor_again_and_again():
    with Server(lambda call: call.answer(message((1, 'fine\n')))) as server:
        done = run(server, '--monitor', '1', '--num-queries', '3')
    same((done.status, len(server.calls)), (DONE, 3), done)
    same(done.out, '\n'.join('Cloud TPU Monitoring Results (Sample %d):\n\n'
                             'fine\n' % i for i in range(3)))


@case
def monitor_fails():
    for script, status in ((lambda call: call.status(14, 'away'), UNREACHABLE),
                           (lambda call: call.answer(b'\xff\xff'), NO_GRPC),
                           (lambda call: call.answer(message((1, b'\xff\xfe'), (10, b'\x0f'))),
                            NO_GRPC),
                           (lambda call: time.sleep(9), TOO_LATE)):
        with Server(script) as server:
            done = run(server, '--monitor', '1',
                       *(['--timeout', '1'] if status == TOO_LATE else []))
        same((done.status, done.out, len(done.err.splitlines())), (status, '', 1), done)


@case
def monitor_by_a_profile():
    """A server that does not monitor is profiled; the numbers are our tables', and marked so."""
    def script(call):
        if call.path.endswith('/Monitor'):
            call.status(12, 'unimplemented.')
        else:
            call.answer(message((8, profile_of(PLANES))))
    with Server(script) as server:
        short = run(server, '--monitor', '1', '--duration', '300', env={'TMPDIR': path('')})
        long = run(server, '--monitor', '2', env={'TMPDIR': path('')})
    same((short.status, long.status), (DONE, DONE), (short, long))
    same(short.out, 'From a profile of 300 ms by libprofsql; this server does not monitor.\n'
                    'Hardware: CPU_ONLY\n'
                    "Utilization of the devices' peak (higher is better): unknown\n")
    same(long.out, 'From a profile of 1000 ms by libprofsql; this server does not monitor.\n'
                   'Hardware: CPU_ONLY\n'
                   'Device idle time (lower is better): unknown\n'
                   "Utilization of the devices' peak (higher is better): unknown\n"
                   'Step time: 1.29ms (avg), 0.931ms (min), 1.73ms (max)\n'
                   'Input percentage: 0.000% (avg)\n')
    same(os.listdir(path('')), [], 'a temporary folder is left')


# ---- continuous profiling ----

@case
def continuous():
    with Server(lambda call: call.answer(PROFILE if 'Snapshot' in call.path else b'')) as server:
        started = run(server, '--start-continuous', '--duration', '2s')
        snapshot = run(server, '--snapshot', '--run', 's')
        stopped = run(server, '--stop-continuous')
    same([d.status for d in (started, snapshot, stopped)], [DONE] * 3, (started, snapshot, stopped))
    same([call.path.rsplit('/')[-1] for call in server.calls],
         ['StartContinuousProfiling', 'GetSnapshot', 'StopContinuousProfiling'])
    same([call.message for call in server.calls[1:]], [b'', b''])
    must('has started' in started.err and 'has stopped' in stopped.err, (started, stopped))
    same(list(files()), ['plugins/profile/s/%s.xplane.pb' % server.address.replace(':', '_')])


@case
def no_continuous():
    with Server(lambda call: call.status(5, 'No continuous profiling session found.')) as server:
        done = run(server, '--snapshot')
    same((done.status, files()), (FAILED, {}), done)
    must('start it with --start-continuous' in done.err, done)
    with Server(lambda call: call.answer(message((7, 1)))) as server:
        done = run(server, '--snapshot')
    same((done.status, files()), (EMPTY, {}), done)
    with Server(lambda call: call.status(12)) as server:
        done = run(server, '--start-continuous')
    same(done.status, UNIMPLEMENTED, done)


# ---- series ----

@case
def a_series():
    """Runs one after the other; one without a profile does not end it; the last are kept."""
    turns = [0]

    def script(call):
        turns[0] += 1
        if turns[0] == 2:
            call.status(13, 'a bad moment')
        else:
            call.answer(message((8, b'%d' % turns[0])))
    with Server(script) as server:
        process = start(server, '--every', '1s', '--keep', '2', '--duration', '100')
        deadline = time.monotonic() + 40
        while turns[0] < 5 and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        done = Done(process)
    must(done.status in (DONE, INTERRUPTED), done)
    must('a bad moment' in done.err, done)
    same(sorted(files().values()), [b'4', b'5'], done)
    same(len(os.listdir(path('logs/plugins/profile'))), 2)


# ---- TPU pods ----

@case
def new_session():
    """Asked of the master, on the port of its analysis service if none or its runtime's is
    given."""
    script = [lambda call: call.answer(message((2, 1))), lambda call: call.answer(b'')]
    with Server(lambda call: script.pop(0)(call)) as server:
        done = run(server, '--worker-list', '10.0.0.2,10.0.0.3', '--repository', 'gs://b/logs',
                   '--run', 'r', '--duration', '500')
    same(done.status, DONE, done)
    must('attempt 2 of 3: 2 workers, 500 ms; before: no event was recorded' in done.err, done)
    must('wrote the profiles of 2 hosts below gs://b/logs/plugins/profile/r' in done.err, done)
    same([call.path for call in server.calls], ['/tensorflow.ProfileAnalysis/NewSession'] * 2)
    got = fields(server.calls[0].message)
    same(got[1:], [(2, b'gs://b/logs/plugins/profile'), (3, b'10.0.0.2'), (3, b'10.0.0.3'),
                   (4, b'r')])
    request = dict(fields(got[0][1]))
    same((request[1], request[6]), (500, b'r'))
    same(files(), {})
    for address in ('master.invalid', 'master.invalid:8470'):
        done = run(address, '--worker-list', '10.0.0.2', '--attempts', '1')
        same(done.status, UNREACHABLE, done)
        must('master.invalid:8466' in done.err, done)


@case
def new_session_fails():
    for script, status, words in (
            (lambda call: call.answer(message((1, 'no such worker'))), FAILED, 'no such worker'),
            (lambda call: call.answer(message((2, 1))), EMPTY, 'no event was recorded'),
            (lambda call: call.answer(b'\x0a\xff'), NO_GRPC, 'is not a NewProfileSessionResponse'),
            (lambda call: call.status(12), UNIMPLEMENTED, 'UNIMPLEMENTED')):
        with Server(script) as server:
            done = run(server, '--worker-list', 'w', '--attempts', '2')
        same(done.status, status, done)
        must(words in done.err.splitlines()[-1], done)


@case
def sessions():
    answer = message((2, message((1, 'run_a'), (2, 'overview_page'), (2, 'trace_viewer'))),
                     (2, message((1, 'run_b'))))
    with Server(lambda call: call.answer(answer)) as server:
        done = run(server, '--list', '--repository', 'gs://b/logs')
    same((done.status, done.out), (DONE, 'run_a\toverview_page,trace_viewer\nrun_b\n'), done)
    same(server.calls[0].message, message((1, 'gs://b/logs')))
    with Server(lambda call: call.answer(message((1, 'no such folder')))) as server:
        done = run(server, '--list')
    same((done.status, done.out), (FAILED, ''), done)
    must('no such folder' in done.err, done)


@case
def tool_data():
    with Server(lambda call: call.answer(message((2, 'json'), (3, b'{"rows": []}')))) as server:
        done = run(server, '--fetch', 'run_a', '--tool', 'overview_page', '--from', 'w:1',
                   '--repository', '/r')
    same(done.status, DONE, done)
    same(files(), {'plugins/profile/run_a/w_1.overview_page': b'{"rows": []}'})
    same(server.calls[0].path, '/tensorflow.ProfileAnalysis/GetSessionToolData')
    same(server.calls[0].message,
         message((1, '/r'), (2, 'run_a'), (3, 'overview_page'), (5, 'w:1')))


@case
def no_tool_data():
    for answer, status, words in ((message((1, 'no such tool')), FAILED, 'no such tool'),
                                  (b'', FAILED, 'no data of this tool'),
                                  (b'\x1a\x7f', NO_GRPC, 'is not tool data')):
        with Server(lambda call: call.answer(answer)) as server:
            done = run(server, '--fetch', 'r')
        same((done.status, files()), (status, {}), done)
        must(words in done.err, done)
