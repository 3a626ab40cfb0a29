# SPDX-License-Identifier: Apache-2.0
"""The tables prof_capture and prof_monitor."""
import os
import subprocess

from lib.cases import case, must, refused, same
from lib.shell import ask, path
from lib.shell import run as shell
from remote.client import files, message, need_libcurl
from remote.http2 import Server
from remote.services import LEVEL_1, PLANES, profile_of


def file_of(server):
    return server.address.replace(':', '_') + '.xplane.pb'


@case
def prof_capture():
    """Its row names the new run, which other tables take."""
    need_libcurl()
    profile = profile_of(PLANES)
    with Server(lambda call: call.answer(message((8, profile)))) as server:
        row, = ask("SELECT c.*, (SELECT step_count FROM kpi(c.run_path)) AS steps "
                   "FROM prof_capture('%s', 250, '%s') AS c" % (server.address, path('logs')))
    run, = os.listdir(path('logs/plugins/profile'))
    run = path('logs/plugins/profile/' + run)
    same(row, {'run_path': run, 'host': file_of(server)[:-10], 'path': run + '/' + file_of(server),
               'size_bytes': len(profile), 'error': None, 'steps': 4})
    must(b'\x48\xfa\x01' in server.calls[0].message, 'the duration is not 250 ms')


@case
def prof_capture_of_several():
    """Hosts without a profile have the reason; a run without any is an error."""
    need_libcurl()
    with Server(lambda call: call.answer(message((8, b'x')))) as good, \
            Server(lambda call: call.status(13, 'no luck')) as bad:
        got = ask("SELECT host, path IS NULL AS without, error "
                  "FROM prof_capture('%s,%s', 100, '%s')"
                  % (good.address, bad.address, path('logs')))
        same([(row['without'], row['error']) for row in got], [(0, None), (1, 'INTERNAL: no luck')])
        refused('%s: INTERNAL: no luck' % bad.address, ask,
                "SELECT * FROM prof_capture('%s', 100, '%s')" % (bad.address, path('logs')))
    same(len(files()), 1)


@case
def wrong_arguments():
    for table in ('prof_capture', 'prof_monitor'):
        refused('%s needs the address of a profiler server' % table, ask,
                'SELECT * FROM %s' % table)
        for address in ('', 'x', 'h:0', 'h:1/x', 'h:1,'):
            refused('is not the address of a server', ask,
                    "SELECT * FROM %s('%s')" % (table, address))
        refused('duration_ms', ask, "SELECT * FROM %s('h:1', 0)" % table)
        refused('duration_ms cannot be', ask, "SELECT * FROM %s('h:1', 'x')" % table)
    refused('level cannot be 3', ask, "SELECT * FROM prof_monitor('h:1', 100, 3)")
    refused('one address', ask, "SELECT * FROM prof_monitor('h:1,h:2')")


@case
def prof_monitor():
    """The service's numbers, as many as its answer has."""
    need_libcurl()
    numbers = [(2, 36.9), (3, 10.4), (4, 90.8), (5, 89.8), (6, 92.2), (7, 1.5), (8, 1.0), (9, 2.0)]
    for kind, wanted in ((0, [None] * 6), (1, [None, 10.4] + [None] * 4),
                         (2, [36.9, 10.4] + [None] * 4), (3, [36.9, 10.4, 90.8, 89.8, 92.2, 1.5])):
        answer = message((1, LEVEL_1), (10, message((1, kind), *numbers)))
        with Server(lambda call: call.answer(answer)) as server:
            row, = ask("SELECT * FROM prof_monitor('%s', 200, 1)" % server.address)
        same(list(row.values()), ['service', LEVEL_1, None] + wanted)
        same(server.calls[0].message, message((1, 200), (2, 1)))


@case
def prof_monitor_by_a_profile():
    """The numbers of kpi and steps; level 1 has the utilization alone."""
    need_libcurl()

    def script(call):
        if call.path.endswith('/Monitor'):
            call.status(12, 'unimplemented.')
        else:
            call.answer(message((8, profile_of(PLANES))))
    with Server(script) as server:
        row, = ask("SELECT * FROM prof_monitor('%s', 300)" % server.address)
        brief, = ask("SELECT * FROM prof_monitor('%s', 300, 1)" % server.address)
    kpi, = ask("SELECT step_time_ms, input_percent FROM kpi('%s')" % PLANES)
    same((row['measured_by'], row['hardware'], row['idle_percent'], row['step_time_ms'],
          row['input_percent']),
         ('profile', 'CPU_ONLY', None, kpi['step_time_ms'], kpi['input_percent']))
    same((row['step_time_min_ms'], row['step_time_max_ms']), (0.930588, 1.731693))
    must(row['text'].startswith('From a profile of 300 ms by libprofsql'), row)
    same((brief['measured_by'], brief['step_time_ms'], brief['input_percent']),
         ('profile', None, None))
    with Server(lambda call: call.status(14, 'away')) as server:
        refused('UNAVAILABLE: away', ask, "SELECT * FROM prof_monitor('%s')" % server.address)


@case
def not_for_other_peoples_sql():
    """A connection that serves has neither table, by either name, nor a word about them."""
    for entry in ('', ' sqlite3_profsql_nofile_init'):
        serve = 'SELECT prof_serve();' if not entry else ''
        for table in ('prof_capture', 'prof_monitor', '"profsql.prof_capture"'):
            done = subprocess.run(
                ['sqlite3', '-batch', '-init', os.devnull, ':memory:'], capture_output=True,
                text=True, input='.load build/libprofsql%s\n%s\nSELECT * FROM %s(\'h:1\');\n'
                % (entry, serve, table), env=dict(os.environ, PROFSQL_RUNS='', PROFSQL_ROOT=''))
            must('no such table' in done.stderr, done)
        done = subprocess.run(
            ['sqlite3', '-batch', '-init', os.devnull, ':memory:'], capture_output=True, text=True,
            input='.load build/libprofsql%s\n%s\n' % (entry, serve) + """
            SELECT count(*) FROM prof_tables WHERE name IN ('prof_capture', 'prof_monitor');
            SELECT count(*) FROM prof_columns WHERE table_name IN ('prof_capture', 'prof_monitor');
            SELECT count(*) FROM prof_help('prof_monitor') WHERE kind IN ('table', 'column');
            SELECT count(*) > 9 FROM prof_columns WHERE table_name = 'kpi';
            """, env=dict(os.environ, PROFSQL_RUNS='', PROFSQL_ROOT=''))
        same((done.stdout.split(), done.stderr), (['0', '0', '0', '1'], ''), done)


@case
def a_view_of_somebody():
    """They open connections, so that a view or trigger of a database cannot use them."""
    for table in ('prof_capture', 'prof_monitor'):
        done = shell("CREATE VIEW v AS SELECT * FROM %s('h:1'); SELECT * FROM v;" % table)
        must('unsafe use of virtual table' in done.stderr, done)


@case
def without_libcurl():
    os.makedirs(path('lib'))
    for name in ('libcurl.so.4', 'libcurl-gnutls.so.4', 'libcurl.so'):
        with open(path('lib/' + name), 'w') as f:
            f.write('not a library')
    done = subprocess.run(['sqlite3', '-batch', '-init', os.devnull, ':memory:'],
                          capture_output=True, text=True,
                          env=dict(os.environ, LD_LIBRARY_PATH=path('lib')),
                          input=".load build/libprofsql\nSELECT count(*) > 50 FROM prof_tables;\n"
                                "SELECT * FROM prof_capture('h:1');\n")
    same(done.stdout, '1\n')
    must('libcurl.so.4 cannot be loaded' in done.stderr, done)
