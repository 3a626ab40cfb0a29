# SPDX-License-Identifier: Apache-2.0
"""Profile: what is asked, several hosts, attempts, Ctrl-C, the files that are left."""
import os
import pty
import signal
import subprocess
import threading
import time

from lib.cases import Skip, case, must, same
from lib.shell import ROOT, path
from remote.client import (COMMAND, DONE, EMPTY, FAILED, IN_THE_WAY, INTERRUPTED, NO_GRPC, PARTLY,
                           UNREACHABLE, Done, field, fields, files, message, need_libcurl, run,
                           start)
from remote.http2 import Server, message_frame

XSPACE = bytes(range(256)) * 9
PROFILE = message((8, XSPACE))
NOTHING = message((7, 1))
TOOLS = ('trace_viewer op_profile input_pipeline kernel_stats memory_viewer memory_profile '
         'overview_page pod_viewer tensorflow_stats xplane.pb').split()
RECORDED = os.path.join(ROOT, '..', 'shared', 'samples', 'recorded', 'rpc')


def host(server):
    return server.address.replace(':', '_')


def request_of(server):
    """{field: [values]} of the one request, and of its options."""
    def by_number(data):
        found = {}
        for number, value in fields(data):
            found.setdefault(number, []).append(value)
        return found
    call, = server.calls
    request = by_number(call.message)
    return request, by_number(request.get(4, [b''])[0])


@case
def the_request():
    """Every byte, but for the time: the fields in the order of their numbers, as all writers of
    protobuf do it, and none that is zero."""
    with Server(lambda call: call.answer(PROFILE)) as server:
        before = time.time_ns()
        done = run(server, '--run', 'r', '--duration', '200', '--delay', '1s', '-o', path('logs'))
        after = time.time_ns()
    same(done.status, DONE, done)
    request, options = request_of(server)
    start_ns, = options[8]
    must(before + 10**9 <= start_ns <= after + 10**9, 'starts at %d' % start_ns)
    logs = path('logs')
    wanted_options = message((1, 1), (2, 2), (3, 1), (5, 1), (7, 1), (8, start_ns), (9, 200),
                             (10, logs))
    wanted = message((1, 200), (2, 1000000), *((3, tool) for tool in TOOLS), (4, wanted_options),
                     (5, logs + '/plugins/profile'), (6, 'r'), (7, server.address), (9, 1))
    same(server.calls[0].message, wanted)
    same(server.calls[0].headers['grpc-timeout'], '61000m')


@case
def recorded_requests():
    """The bytes that the clients of XProf and TensorFlow sent, but for the time."""
    need_libcurl()
    for name, options in (
            ('proxy_jax_server/001_ProfilerService_Profile', ['--server-writes']),
            ('proxy_jax_server/006_ProfilerService_Profile', ['--server-writes']),
            ('proxy_tf_server/001_ProfilerService_Profile', ['--server-writes']),
            ('proxy_continuous/002_ProfilerService_StartContinuousProfiling', [
                '--start-continuous', '--option', 'include_dataset_ops=0', '--option',
                'host_tracer_level=0', '--option', 'advanced.tpu_circular_buffer_tracing=true'])):
        try:
            with open(os.path.join(RECORDED, name + '.request.bin'), 'rb') as f:
                recorded = f.read()
        except OSError:
            raise Skip('needs ../shared/samples/recorded/rpc')
        theirs = dict(fields(recorded))
        their_options = dict(fields(theirs[4]))
        if 10 in their_options:
            options = options + ['--repository', their_options[10].decode()]
        try:
            server = Server(lambda call: call.answer(), port=int(theirs[7].decode().split(':')[1]))
        except OSError:
            raise Skip('needs the port of %s' % theirs[7].decode())
        with server:
            done = run(server, '--duration', str(theirs[1]), '--run', theirs[6].decode(), *options)
        same(done.status, DONE, done)
        ours = server.calls[0].message
        our_time = dict(fields(dict(fields(ours))[4])).get(8)
        if our_time:
            ours = ours.replace(field(8, our_time), field(8, their_options[8]))
        same(ours, recorded, name)


@case
def all_options():
    given = {'include_dataset_ops': 'false', 'host_tracer_level': '3', 'device_tracer_level': '0',
             'python_tracer_level': '1', 'version': '2', 'device_type': '3',
             'enable_hlo_proto': 'off', 'raise_error_on_start_failure': 'yes', 'session_id': 'sid',
             'override_hostname': 'me', 'jax_version': 'j', 'jaxlib_version': 'l',
             'host_traceme_filter_mask': str(2**64 - 1), 'advanced.a_text': 'words=here',
             'advanced.a_flag': 'true', 'advanced.a_number': '-5', 'advanced.a_quoted': '"12"',
             'advanced.a_flag_again': 'false'}
    options = [word for key, value in given.items() for word in ('--option', key + '=' + value)]
    with Server(lambda call: call.answer(PROFILE)) as server:
        done = run(server, *options, '--option', 'host_tracer_level=1', '--option',
                   'advanced.a_text=x')
    same(done.status, DONE, done)
    _, got = request_of(server)
    wanted = {2: [1], 4: [1], 5: [2], 6: [3], 11: [message((1, 2**64 - 1))], 13: [1],
              14: [b'sid'], 15: [b'me'], 16: [b'j'], 17: [b'l']}
    same({number: got.get(number) for number in wanted}, wanted)
    must(not {1, 3, 7} & set(got), 'zeros are sent')
    advanced = {entry[1]: entry[2] for entry in (dict(fields(value)) for value in got[12])}
    same(advanced, {b'a_text': message((1, 'x')), b'a_flag': message((2, 1)),
                    b'a_number': message((3, 2**64 - 5)), b'a_quoted': message((1, '12')),
                    b'a_flag_again': message((2, 0))})


# ---- several hosts ----

def several(scripts, *options):
    """Servers that play a script each, asked at once."""
    servers = [Server(script) for script in scripts]
    done = run(','.join(s.address for s in servers), '--run', 'r', *options)
    for server in servers:
        with server:
            pass
    return servers, done


@case
def three_hosts_at_once():
    """All are asked before one answers; they share the run and the moment at which they start."""
    barrier = threading.Barrier(3)

    def script(call):
        barrier.wait(20)
        call.answer(message((8, call.headers[':authority'])))
    servers, done = several([script] * 3)
    same(done.status, DONE, done)
    same(files(), {'plugins/profile/r/%s.xplane.pb' % host(s): s.address.encode() for s in servers})
    starts = {request_of(s)[1][8][0] for s in servers}
    same(len(starts), 1, starts)


@case
def some_of_the_hosts():
    """One profile is enough: the others are named, and not asked again."""
    servers, done = several([lambda call: call.answer(PROFILE),
                             lambda call: call.status(13, 'oh no'),
                             lambda call: call.answer(NOTHING)])
    same(done.status, PARTLY, done)
    same(list(files().values()), [XSPACE])
    same([len(s.calls) for s in servers], [1, 1, 1])
    must('%s: INTERNAL: oh no' % servers[1].address in done.err, done)
    must('%s: no event was recorded' % servers[2].address in done.err, done)


# ---- attempts ----

def answers(*one_after_the_other):
    rest = list(one_after_the_other)
    return lambda call: rest.pop(0)(call)


def attempts_of(done):
    return [line.split(': ', 1)[1] for line in done.err.splitlines() if 'attempt ' in line]


@case
def another_attempt():
    """After UNAVAILABLE, ALREADY_EXISTS, a removed stream and an empty trace; a line for each."""
    script = answers(lambda call: call.status(14, 'not yet'), lambda call: call.status(6, 'taken'),
                     lambda call: call.status(2, 'Stream removed'),
                     lambda call: call.answer(NOTHING),
                     lambda call: call.answer(PROFILE))
    with Server(script) as server:
        done = run(server, '--attempts', '7')
    same((done.status, list(files().values()), len(server.calls)), (DONE, [XSPACE], 5), done)
    same([line.partition('; before: ')[2] for line in attempts_of(done)],
         ['', 'UNAVAILABLE: not yet', 'ALREADY_EXISTS: taken', 'UNKNOWN: Stream removed',
          'no event was recorded'])
    must(all(line.startswith('attempt %d of 7: 1 host, 1000 ms' % (i + 1))
             for i, line in enumerate(attempts_of(done))), done)
    starts = [dict(fields(dict(fields(call.message))[4]))[8] for call in server.calls]
    must(starts == sorted(set(starts)), 'each attempt has its own time: %s' % starts)


@case
def no_other_attempt():
    for status, words in ((2, 'no stream'), (13, 'Another profiling session active.'), (3, ''),
                          (4, '')):
        with Server(lambda call: call.status(status, words)) as server:
            done = run(server)
        same(len(server.calls), 1, done)
        same(len(attempts_of(done)), 1, done)
    with Server(lambda call: call.answer(b'\xff' * 20)) as server:
        done = run(server)
    same((done.status, len(server.calls)), (NO_GRPC, 1), done)


@case
def all_attempts():
    for script, status in ((lambda call: call.answer(NOTHING), EMPTY),
                           (lambda call: call.status(14), UNREACHABLE),
                           (lambda call: call.status(6), IN_THE_WAY)):
        with Server(script) as server:
            done = run(server)
        same((done.status, len(server.calls), len(attempts_of(done))), (status, 3, 3), done)
        same((files(), os.path.exists(path('logs'))), ({}, False), 'what was made is left')


@case
def planes_without_events():
    """An empty trace with an XSpace is no profile."""
    with Server(lambda call: call.answer(PROFILE + NOTHING)) as server:
        done = run(server, '--attempts', '1')
    same((done.status, files()), (EMPTY, {}), done)


# ---- files ----

@case
def data_of_tools():
    """Kept beside the profile, under names that stay in the folder; the name may come last."""
    tools = [message((1, 'overview_page'), (2, b'one')), message((2, b'two'), (1, '../a/b\x1b')),
             message((1, 'empty')), message((1, 'none'), (2, b''))]
    with Server(lambda call: call.answer(message(*((6, t) for t in tools), (8, XSPACE)))) as server:
        done = run(server, '--run', 'r')
    same(done.status, DONE, done)
    start = 'plugins/profile/r/%s.' % host(server)
    same(files(), {start + 'xplane.pb': XSPACE, start + 'overview_page': b'one',
                   start + '.._a_b_': b'two', start + 'none': b''})


@case
def a_profile_among_the_tools():
    """Servers of old return it as data of a tool."""
    with Server(lambda call: call.answer(
        message((6, message((1, 'xplane.pb'), (2, XSPACE)))))) as server:
        done = run(server, '--run', 'r')
    same(done.status, DONE, done)
    same(files(), {'plugins/profile/r/%s.xplane.pb' % host(server): XSPACE})


@case
def many_tools():
    """A server cannot fill the folder."""
    with Server(lambda call: call.answer(message((6, message((1, 't'), (2, b'x'))))
                                         * 1000)) as server:
        done = run(server)
    same((done.status, files()), (NO_GRPC, {}), done)
    must('more than 64' in done.err, done)


@case
def the_server_writes():
    """On its own machine, or on ours; the command says where."""
    def there(call):
        call.answer()

    def here(call):
        request = dict(fields(call.message))
        folder = os.path.join(request[5].decode(), request[6].decode())
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, call.headers[':authority'].replace(':', '_') + '.xplane.pb'),
                  'wb') as f:
            f.write(XSPACE)
        call.answer()
    with Server(there) as server:
        done = run(server, '--run', 'r', '--repository', 'gs://bucket/logs', '--server-writes')
        same(done.status, DONE, done)
        must('the server wrote gs://bucket/logs/plugins/profile/r/%s.xplane.pb on its own machine'
             % host(server) in done.err, done)
        request, options = request_of(server)
        same((request[5], options[10], request.get(9)),
             ([b'gs://bucket/logs/plugins/profile'], [b'gs://bucket/logs'], None))
    same(files(), {})
    with Server(here) as server:
        done = run(server, '--run', 'r')
        same(done.status, DONE, done)
        must('the server wrote %s/plugins/profile/r/' % path('logs') in done.err, done)
        must('own machine' not in done.err, done)
    same(list(files().values()), [XSPACE])


@case
def the_file_is_there():
    """A run that has this host's profile is left alone, and no server is asked."""
    with Server(lambda call: call.answer(PROFILE)) as server:
        same(run(server, '--run', 'r').status, DONE)
        done = run(server, '--run', 'r')
        same((done.status, len(server.calls)), (IN_THE_WAY, 1), done)
        must('exists already; give another --run' in done.err, done)
        name = 'logs/plugins/profile/s/%s.xplane.pb' % host(server)

        def comes_meanwhile(call):
            os.makedirs(os.path.dirname(path(name)), exist_ok=True)
            with open(path(name), 'wb') as f:
                f.write(b'of another')
            call.answer(PROFILE)
        server.script = comes_meanwhile
        done = run(server, '--run', 's')
    same(done.status, IN_THE_WAY, done)
    same(files()['plugins/profile/s/' + os.path.basename(name)], b'of another')
    same(len(files()), 2)


@case
def nothing_half_written():
    """While the answer arrives there is no file that a reader takes; another host's is there."""
    arrived, go_on = threading.Event(), threading.Event()

    def slow(call):
        call.head()
        call.data(message_frame(PROFILE)[:500])
        arrived.set()
        go_on.wait(20)
        call.close()
    with Server(slow) as server:
        process = start(server, '--run', 'r', '--attempts', '1')
        must(arrived.wait(20), 'no call')
        deadline = time.monotonic() + 20
        while not any(files().values()) and time.monotonic() < deadline:
            time.sleep(0.01)
        names = list(files())
        go_on.set()
        done = Done(process)
    same(names, ['plugins/profile/r/.%s.xplane.pb.part' % host(server)])
    same((done.status, files()), (UNREACHABLE, {}), done)


# ---- Ctrl-C ----

class Stoppable(Server):
    """Answers Profile when Terminate has come for its session."""

    def __init__(self, answers_it=True):
        self.started, self.terminated, self.answers_it = (threading.Event(), threading.Event(),
                                                          answers_it)
        super().__init__(self.serve_call)

    def serve_call(self, call):
        if call.path.endswith('Terminate'):
            self.ended_session = dict(fields(call.message))[1]
            call.answer()
            self.terminated.set()
            return
        self.started.set()
        self.terminated.wait(30)
        time.sleep(0 if self.answers_it else 30)
        call.answer(PROFILE)


@case
def control_c():
    """Ends the session, and what it has is kept; SIGTERM does the same."""
    for number in (signal.SIGINT, signal.SIGTERM):
        with Stoppable() as server:
            process = start(server, '--run', 'r%d' % number, '--duration', '30s')
            must(server.started.wait(20), 'no call')
            process.send_signal(number)
            done = Done(process)
        same((done.status, server.ended_session), (INTERRUPTED, b'r%d' % number), done)
        must('asking the servers to end the session' in done.err and 'wrote ' in done.err, done)
    same(sorted(files().values()), [XSPACE, XSPACE])


@case
def control_c_twice():
    """Ends at once, without a profile."""
    with Stoppable(answers_it=False) as server:
        process = start(server, '--run', 'r', '--duration', '30s')
        must(server.started.wait(20), 'no call')
        process.send_signal(signal.SIGINT)
        must(server.terminated.wait(20), 'Terminate did not come')
        process.send_signal(signal.SIGINT)
        done = Done(process, 9)
    same((done.status, files()), (INTERRUPTED, {}), done)


@case
def progress():
    """On a terminal a line that changes; the log of a short profile has none."""
    def slow(call):
        time.sleep(0.5)
        call.answer(PROFILE)
    with Server(slow) as server:
        done = run(server, '--run', 'quiet', '-q')
        same((done.status, done.err), (DONE, ''), done)
        same(done.out.strip(), 'logs/plugins/profile/quiet/%s.xplane.pb' % host(server))
        ours, theirs = pty.openpty()
        process = subprocess.Popen([COMMAND, '--host', server.address, '--run', 't', '-o',
                                    path('l')],
                                   stderr=theirs)
        process.wait(20)
        os.close(theirs)
        said = os.read(ours, 10000).decode()
    must('of 1.0 s' in said and '\r\x1b[K' in said, repr(said))
