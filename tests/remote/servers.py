# SPDX-License-Identifier: Apache-2.0
"""Servers in JAX and TensorFlow: training loops on the CPU, with one process and with three.

REMOTE_PYTHON is a Python that has jax, tensorflow or both; it or ORACLE_PYTHON has xprof. Without
them the cases are skipped. tests/remote/wheels makes one."""
import atexit
import glob
import os
import socket
import subprocess
import sys
import time

from lib.cases import Skip, case, must, same
from lib.shell import DIR, ask, path
from remote.client import (DONE, EMPTY, FAILED, IN_THE_WAY, PARTLY, UNREACHABLE, Done,
                           need_libcurl, run, start)

PROGRAMS = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'programs')
PYTHON = os.environ.get('REMOTE_PYTHON', sys.executable)
ORACLE = os.environ.get('ORACLE_PYTHON', PYTHON)
found = {}


def need(module, python=PYTHON, variable='REMOTE_PYTHON'):
    key = module, python
    if key not in found:
        found[key] = bool(python) and subprocess.run(
            [python, '-c', 'import importlib.util as u, sys; sys.exit(not u.find_spec(%r))'
             % module],
            cwd=DIR, capture_output=True).returncode == 0
    if not found[key]:
        raise Skip('needs %s, a Python that has %s' % (variable, module))
    need_libcurl()


class Program:
    """One that runs until it is closed: a training loop with a server at .address."""

    def __init__(self, name, *options):
        with socket.create_server(('127.0.0.1', 0)) as free:
            port = free.getsockname()[1]
        self.address = 'localhost:%d' % port
        self.process = subprocess.Popen(
            [PYTHON, os.path.join(PROGRAMS, name), str(port), *options], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            env=dict(os.environ, JAX_PLATFORMS='cpu', TF_CPP_MIN_LOG_LEVEL='3'))
        atexit.register(self.close)

    def wait(self):
        line = self.process.stdout.readline()
        must(line == 'ready\n', 'the program does not start: %r' % line)
        return self

    def kill(self):
        self.process.kill()
        self.process.wait()

    def close(self):
        if self.process.poll() is None:
            self.process.stdin.close()
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                self.kill()


running = {}


def program(name, *options):
    """The program, which all cases share."""
    if (name, options) not in running:
        running[name, options] = Program(name, *options).wait()
    return running[name, options]


def jax():
    need('jax')
    return program('jax_train.py')


def tensorflow():
    need('tensorflow')
    return program('tf_train.py')


def profile(server, *options, run_name='r', status=DONE):
    done = run(server, '--run', run_name, '--duration', '500', *options, timeout=240)
    same(done.status, status, done)
    return path('logs/plugins/profile/' + run_name)


def steps_of(folder):
    return ask("SELECT count(*) AS n FROM steps('%s')" % folder)[0]['n']


# ---- profiles ----

@case
def one_process():
    """The profile has the loop's steps."""
    for server in (jax, tensorflow):
        folder = profile(server(), '--duration', '2s', run_name=server.__name__)
        must(steps_of(folder) > 3, '%s: %d steps' % (server.__name__, steps_of(folder)))
        kpi, = ask("SELECT hardware, step_time_ms > 0 AS timed FROM kpi('%s')" % folder)
        same((kpi['hardware'], kpi['timed']), ('CPU_ONLY', 1), server.__name__)


def three(name, module):
    need(module)
    programs = [Program(name) for _ in range(3)]
    try:
        addresses = [p.wait().address for p in programs]
        folder = profile(','.join(addresses), '--duration', '2s', run_name=module)
        hosts = ask("SELECT host, event_count > 100 AS full FROM hosts('%s') ORDER BY host"
                    % folder)
        same([(h['host'], h['full']) for h in hosts],
             [(a.replace(':', '_'), 1) for a in sorted(addresses)])
        programs[0].kill()  # the profiles of the other servers are still written
        profile(','.join(addresses), run_name=module + '_two', status=PARTLY)
        same(len(glob.glob(path('logs/plugins/profile/%s_two/*' % module))), 2)
    finally:
        for p in programs:
            p.close()


@case
def three_jax_processes():
    three('jax_train.py', 'jax')


@case
def three_tensorflow_processes():
    three('tf_train.py', 'tensorflow')


@case
def options_are_honoured():
    """The Python tracer on and off, and no host events."""
    server = jax()
    python = "SELECT count(*) AS n FROM trace_events('%s') WHERE name LIKE '$%%'"
    with_tracer = profile(server, '--option', 'python_tracer_level=1', run_name='on')
    without = profile(server, '--option', 'python_tracer_level=0', run_name='off')
    must(ask(python % with_tracer)[0]['n'] > 10, 'no call of Python')
    same(ask(python % without)[0]['n'], 0)
    none = run(server, '--attempts', '1', '--option', 'host_tracer_level=0', '--duration', '300')
    same(none.status, EMPTY, none)


@case
def a_second_capture():
    """While one runs, another is refused and leaves nothing; the first is not disturbed."""
    server = jax()
    first = start(server, '--run', 'first', '--duration', '6s')
    time.sleep(2)
    second = run(server, '--run', 'second', '--duration', '300', '--attempts', '1')
    done = Done(first, 120)
    same((second.status, done.status), (IN_THE_WAY, DONE), (second, done))
    must('Another profiling session active' in second.err, second)
    same(os.listdir(path('logs/plugins/profile')), ['first'])


@case
def a_server_that_goes_away():
    need('jax')
    server = Program('jax_train.py').wait()
    process = start(server, '--run', 'r', '--duration', '60s', '--attempts', '1')
    time.sleep(2)
    server.kill()
    done = Done(process, 120)
    same(done.status, UNREACHABLE, done)
    must('the connection broke' in done.err, done)
    same(os.path.exists(path('logs')), False)


@case
def an_idle_process():
    """Nothing is recorded, three times."""
    need('jax')
    done = run(program('jax_train.py', 'idle'), '--duration', '200', '--option',
               'host_tracer_level=1')
    same(done.status, EMPTY, done)
    same(done.err.count('attempt '), 3, done)
    must('no event was recorded' in done.err, done)
    same(os.path.exists(path('logs')), False)


@case
def more_than_100_mb():
    """With bounded memory, and read by our tables."""
    need('jax')
    busy = Program('jax_train.py', 'busy').wait()
    process = start(busy, '--run', 'r', '--duration', '10s', '--timeout', '5m')
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    busy.close()
    done = Done(process)
    same(done.status, DONE, done)
    file, = glob.glob(path('logs/plugins/profile/r/*.xplane.pb'))
    must(os.path.getsize(file) > 100e6, '%d bytes' % os.path.getsize(file))
    must(used.ru_maxrss < 100 << 10, '%d KiB of memory' % used.ru_maxrss)
    must(ask("SELECT sum(event_count) AS n FROM hosts('%s')" % file)[0]['n'] > 10000, 'few events')


@case
def continuous_profiling():
    server = tensorflow()
    same(run(server, '--snapshot').status, FAILED)
    same(run(server, '--start-continuous').status, DONE)
    try:
        same(run(server, '--start-continuous').status, IN_THE_WAY)
        time.sleep(3)
        same(run(server, '--snapshot', '--run', 's').status, DONE)
    finally:
        same(run(server, '--stop-continuous').status, DONE)
    hosts = ask("SELECT event_count > 100 AS full FROM hosts('%s')"
                % path('logs/plugins/profile/s'))
    same([h['full'] for h in hosts], [1])


@case
def monitoring():
    done = run(jax(), '--monitor', '2', '--duration', '1s')
    same(done.status, DONE, done)
    lines = done.out.splitlines()
    same(lines[:2], ['From a profile of 1000 ms by libprofsql; this server does not monitor.',
                     'Hardware: CPU_ONLY'])
    must('ms (avg), ' in lines[4], done)


# ---- XProf beside us ----

STRUCTURE = """
    SELECT 'plane' AS what, name FROM planes('{0}') WHERE event_count > 0
    UNION SELECT 'stat of ' || plane, name FROM stat_metadata('{0}') AS s
        WHERE plane = '/host:CPU' AND name IN ('_r', 'step_num', 'step_name', 'hlo_op', 'iter_num',
                                               'hlo_module', 'program_id', 'run_id')
    UNION SELECT 'event', name FROM trace_events('{0}') WHERE name IN ('{1}') ORDER BY 1, 2"""
EVENTS = ('train', 'dot.3', 'TfrtCpuExecutable::Execute', 'PjitFunction(train_step)',
          'KernelAndDeviceFunc::Run', 'MatMul', 'Iterator::Prefetch')


def structure(folder):
    return [tuple(row.values()) for row in ask(STRUCTURE.format(folder, "', '".join(EVENTS)))]


def by_xprof(address, logs):
    """The profile that XProf's client gets."""
    need('xprof', ORACLE, 'ORACLE_PYTHON')
    script = ("import sys\nfrom xprof.convert import _pywrap_profiler_plugin as p\n"
              "p.trace(sys.argv[1], sys.argv[2], '', True, 1500, 3, "
              "{'host_tracer_level': 2, 'device_tracer_level': 1, 'python_tracer_level': 0})\n")
    subprocess.run([ORACLE, '-c', script, address, logs], check=True, capture_output=True)
    return glob.glob(logs + '/plugins/profile/*')[0]


@case
def the_same_as_xprof_gets():
    """Planes, stats and kinds of events of the same loop; the profile opens in XProf."""
    for server in (jax, tensorflow):
        theirs = by_xprof(server().address, path('xprof_' + server.__name__))
        ours = profile(server(), '--duration', '1500', run_name=server.__name__)
        same(structure(ours), structure(theirs), server.__name__)
        must(len(structure(ours)) > 4, structure(ours))
        same([os.path.basename(f) for f in glob.glob(ours + '/*')],
             [os.path.basename(f) for f in glob.glob(theirs + '/*')])
        script = ("import sys\nfrom xprof.convert import raw_to_tool_data as r\n"
                  "data, _ = r.xspace_to_tool_data([sys.argv[1]], 'overview_page', {})\n"
                  "print(len(data))\n")
        opened = subprocess.run([ORACLE, '-c', script, glob.glob(ours + '/*.xplane.pb')[0]],
                                capture_output=True, text=True)
        must(opened.returncode == 0 and int(opened.stdout.split()[-1]) > 1000, opened)


@case
def the_same_as_tensorflow_gets():
    server = tensorflow()
    script = ("import sys, tensorflow as tf\n"
              "tf.profiler.experimental.client.trace('grpc://' + sys.argv[1], sys.argv[2], 1500)\n")
    subprocess.run([PYTHON, '-c', script, server.address, path('theirs')], check=True,
                   capture_output=True)
    theirs, = glob.glob(path('theirs/plugins/profile/*'))
    ours = profile(server, '--duration', '1500')
    same(structure(ours), structure(theirs))
