# SPDX-License-Identifier: Apache-2.0
"""What the command writes, where it writes it, and with which status it ends. Numbers are compared
with those that SQLite's shell gives for the same table."""
import array
import csv
import fcntl
import gzip
import io
import json
import os
import pty
import re
import shutil
import signal
import sqlite3
import subprocess
import termios
import time

from lib.cases import case, must, same
from lib.shell import DIR, PROFSQL, ROOT, SQLITE3, path, put, put_source
from lib.wire import US, Plane, space

COMMAND = os.environ.get('COMMAND', os.path.join(ROOT, 'build', 'profsql'))
GPU = 'tests/data/gpu_train_38'
TPU = 'tests/data/tpu_train_54'
BEFORE, AFTER = 'tests/data/tf_fit_input_bound', 'tests/data/tf_fit_prefetched'
DUMP = 'tests/data/jax_dump_sharded'
PROFILE = os.path.join(ROOT, GPU, 'plugins/profile/gpu_train_38/gpu-worker.xplane.pb')


def run(*words, status=0, text=True, **how):
    """What it writes to standard output and error; it must end with the status."""
    environment = {**os.environ, 'HOME': DIR, **how.pop('env', {})}
    done = subprocess.run([COMMAND, *words], capture_output='stdout' not in how,
                          stdin=subprocess.DEVNULL, text=text, cwd=ROOT, env=environment,
                          timeout=300, **how)
    same(done.returncode, status, 'status of %s: %s' % (' '.join(words), done.stderr))
    return done.stdout, done.stderr


def interrupted(*words):
    """What it still writes to a pipe if Ctrl-C comes once the pipe is full."""
    outside, inside = os.pipe()
    size = fcntl.fcntl(inside, fcntl.F_SETPIPE_SZ, 4096)
    command = subprocess.Popen([COMMAND, *words], stdin=subprocess.DEVNULL, stdout=inside,
                               stderr=subprocess.PIPE, cwd=ROOT)
    os.close(inside)
    n = array.array('i', [0])
    while n[0] < size and command.poll() is None:
        time.sleep(0.001)
        fcntl.ioctl(outside, termios.FIONREAD, n)
    command.send_signal(signal.SIGINT)
    with open(outside, 'rb') as pipe:
        out = pipe.read()
    _, error = command.communicate()
    same((command.returncode, error), (-signal.SIGINT, b''), 'end of ' + ' '.join(words))
    return out


def answer(*words):
    """Standard output of a command that has nothing else to say."""
    out, notes = run(*words)
    same(notes, '', 'notes of ' + ' '.join(words))
    return out


def shell(sql):
    """Rows as the shell of SQLite has them."""
    done = subprocess.run([SQLITE3, '-batch', '-init', os.devnull, '-json', '-cmd',
                           '.load ' + PROFSQL, ':memory:'], input=sql, capture_output=True,
                          text=True, cwd=ROOT)
    must(not done.stderr, done.stderr)
    return json.loads(done.stdout) if done.stdout else []


def names(kind):
    """{name: its hidden parameters} of the tables or canned queries that take one run."""
    rows = shell("SELECT t.name, c.\"column\" AS parameter FROM %s AS t JOIN prof_columns AS c ON "
                 "c.table_name = t.name WHERE c.type LIKE '%%HIDDEN'" % kind)
    found = {}
    for row in rows:
        found.setdefault(row['name'], set()).add(row['parameter'])
    return {name: parameters for name, parameters in found.items() if 'source' in parameters}


def make_logs():
    """A log dir with three runs, of which the newest by name has the oldest file."""
    for i, name in enumerate(('2026_11_21_08_44_41', '2026_11_21_08_05_20', '2025_12_31_23_59_59')):
        folder = os.path.join(DIR, 'logs', 'plugins', 'profile', name)
        os.makedirs(folder)
        shutil.copy(PROFILE, folder)
        os.utime(os.path.join(folder, os.path.basename(PROFILE)), (i + 1, i + 1))
    return os.path.join(DIR, 'logs')


def damaged():
    path = os.path.join(DIR, 'cut.xplane.pb')
    with open(PROFILE, 'rb') as f, open(path, 'wb') as to:
        whole = f.read()
        to.write(whole[:len(whole) * 9 // 10])
    return path


@case
def issues_of_hosts():
    """The screen says which hosts have an issue, unless all have it or it is one of the run; equal
    issues are one line."""
    steps = space(Plane('/host:CPU', 1).line(1, 'main', [
        ('train', 0, 9 * US, {'_r': {'int64': 1}, 'step_num': {'int64': 3}})]).bytes())
    none = space(Plane('/host:CPU', 1).line(1, 'main', [('work', 0, 9)]).bytes())
    for hosts, start in (([none, none], ''), ([steps, none], 'host1: '),
                         ([none, steps, none], '2 of 3 hosts: ')):
        out, _ = run(put_source('some', hosts))
        same(re.findall('^- (.*)no event belongs to a step', out, re.M), [start], out)
    out, _ = run(put_source('some', [none, none]))
    same(re.findall('^- (.*)No step marker observed', out, re.M), [''], out)


@case
def one_screen():
    """The screen of a run has its parts, for every kind of run, with numbers of the tables."""
    for source in (GPU, TPU, BEFORE, DUMP, 'tests/data/multi_host_111'):
        out, _ = run(source)
        for title in ('What is missing or doubtful', 'More'):
            must('\n%s\n' % title in out, '%s: no %s in %s' % (source, title, out))
        must(out.startswith('run '), out[:200])
        must('\x1b' not in out, 'colour without a terminal')
        lines = out.replace(COMMAND, 'profsql').split('\n')  # a checkout may have a long path
        must(max(map(len, lines)) <= 100, 'a line of more than 100 columns')
    out = answer(GPU)
    top = shell("SELECT printf('%%.1f %%%%', self_time_percent) AS percent, printf('%%.3f ms', "
                "self_time_us / 1e3) AS ms FROM top_ops('%s') LIMIT 3" % GPU)
    for row in top:
        must(any(row['percent'] in line and row['ms'] in line for line in out.split('\n')),
             '%s is not in %s' % (row, out))
    kpi = shell("SELECT printf('%%.3f ms', step_time_ms) AS step, printf('%%.1f %%%%', "
                "input_percent) AS input FROM kpi('%s')" % GPU)[0]
    must(kpi['step'] in out and kpi['input'] in out, '%s is not in %s' % (kpi, out))


@case
def every_table_and_query():
    """Every table and canned query answers by its name, with as many rows as in SQL; what has none
    says why."""
    for kind in ('prof_tables', 'prof_queries'):
        for name in names(kind):
            if name in ('profsql_live', 'prof_capture', 'prof_monitor'):
                continue
            out, notes = run(BEFORE, name, '--format', 'jsonl', '--limit', 'all')
            rows = [json.loads(line) for line in out.splitlines()]
            same(len(rows), shell("SELECT count(*) AS n FROM %s('%s')" % (name, BEFORE))[0]['n'],
                 name)
            must(rows or 'no row' in notes, '%s is empty without a word: %s' % (name, notes))


@case
def formats():
    """The same rows in all formats."""
    columns = ['run', 'rank', 'operation', 'hlo_module', 'self_time_us']
    rows = shell("SELECT %s FROM top_ops('%s') LIMIT 5" % (', '.join(columns), GPU))
    for row in rows:
        row['run'] = 'gpu_train_38'
    asked = [GPU, 'top_ops', '--limit', '5', '--columns', ','.join(columns), '--format']
    same(json.loads(answer(*asked, 'json')), rows)
    same([json.loads(line) for line in answer(*asked, 'jsonl').splitlines()], rows)
    found = list(csv.DictReader(io.StringIO(answer(*asked, 'csv'), newline='')))
    same([{k: v for k, v in row.items() if k != 'self_time_us'} for row in found],
         [{k: '' if v is None else str(v) for k, v in row.items() if k != 'self_time_us'}
          for row in rows])
    same([float(row['self_time_us']) for row in found], [row['self_time_us'] for row in rows])
    lines = answer(*asked, 'markdown').splitlines()
    same([cell.strip().replace('\\_', '_') for cell in lines[0].strip('|').split('|')], columns)
    same((len(lines), set(lines[1]) <= set('|:- ')), (7, True), 'markdown')
    lines = answer(*asked, 'table').splitlines()
    same((lines[0].split(), len(lines)), (columns, 7))
    lines = answer(GPU, 'top_ops', '--limit', '5', '--columns', 'self_time_us,operation',
                   '--format', 'table').splitlines()
    cells = [re.match(r' *(\S+)( +)', line) for line in lines[2:]]
    must(len({len(cell[1]) for cell in cells}) > 1, 'all numbers are of one length')
    same({(cell.end(1), cell[2]) for cell in cells}, {(len('self_time_us'), '  ')},
         'numbers end where their column ends')
    nothing = answer(GPU, 'SELECT flops, tf_op FROM trace_events WHERE flops IS NULL '
                     'AND tf_op IS NULL LIMIT 2', '--format', 'table').splitlines()
    same(nothing, ['flops  tf_op', '-----  -----', '    -  -', '    -  -'],
         'columns of numbers and of text, NULL throughout')
    for word in ('xml', '', 'CSVX'):
        must('format' in run(*asked, word, status=2)[1], 'an unknown format')


@case
def a_number_of_threads_that_is_none():
    for setting in '0', '-1', '3x', 'many', '99999999999999999999':
        _, said = run(GPU, TPU, 'kpi', env={'PROFSQL_THREADS': setting})
        same(said, "libprofsql: PROFSQL_THREADS is '%s', which is no number of threads, and is "
             'ignored\n' % setting)
    for setting in '', '1', '1000':
        same(run(GPU, 'kpi', env={'PROFSQL_THREADS': setting})[1], '', setting)


@case
def awkward_texts():
    """Quotes, commas, line ends, control characters and bytes that are no UTF-8 survive each
    format."""
    sql = ("SELECT 'a,\"b\"' AS x, 'c' || char(10) || 'd|e' AS y, char(1, 27, 8232, 128512) AS z, "
           "NULL AS n, 1e999 AS i, CAST(x'41ff42' AS TEXT) AS bad, 9007199254740993 AS big")
    row = json.loads(answer(sql, '--format', 'json'))[0]
    same((row['x'], row['y'], row['z'], row['n'], row['big']),
         ('a,"b"', 'c\nd|e', '\x01\x1b\u2028\U0001f600', None, 9007199254740993))
    must(row['bad'].startswith('A') and row['bad'].endswith('B') and len(row['bad']) == 3,
         repr(row['bad']))
    found = next(csv.DictReader(io.StringIO(
        run(sql, '--format', 'csv', text=False)[0].decode('utf-8', 'replace'), newline='')))
    same((found['x'], found['y'], found['n']), ('a,"b"', 'c\nd|e', ''))
    must('\x1b' not in answer(sql), 'a table lets control characters through')
    same(len(answer(sql, '--format', 'markdown').splitlines()), 3, 'lines of markdown')


@case
def characters_that_are_not_shown():
    """Controls, and marks that turn the direction of a text, are shown as numbers in a table; their
    neighbours are shown as they are."""
    hidden = [0x01, 0x1f, 0x7f, 0x80, 0x9f, 0x61c, 0x200e, 0x200f, 0x202a, 0x202e, 0x2066, 0x2069]
    shown = [0x21, 0x7e, 0xa1, 0x61b, 0x61e, 0x2010, 0x2027, 0x2030]
    sql = 'SELECT ' + ' UNION ALL SELECT '.join("'<' || char(%d) || '>' AS x" % c
                                              for c in hidden + shown)
    out, _ = run(sql, env={'LC_ALL': 'C.UTF-8'})
    got = [line.strip() for line in out.splitlines() if '<' in line]
    same(got, ['<%s>' % ('\\x%02x' % c if c < 0x80 else '\\u%04x' % c) for c in hidden]
         + ['<%s>' % chr(c) for c in shown])


@case
def selection():
    """--where, --order-by, --columns, --limit and parameters are those of SQL."""
    got = json.loads(answer(GPU, 'top_kernels', '--where', 'occurrences > 2', '--order-by',
                            'occurrences DESC, rank', '--columns', 'rank, occurrences AS times',
                            '--limit', '3', '-f', 'json'))
    same(got, shell("SELECT rank, occurrences AS times FROM top_kernels('%s') "
                    "WHERE occurrences > 2 ORDER BY occurrences DESC, rank LIMIT 3" % GPU))
    same(len(json.loads(answer(GPU, 'top_kernels', '--n', '4', '-f', 'json'))), 4)
    same(len(json.loads(answer(GPU, 'top_kernels', '-n', '4', '-f', 'json'))), 4)
    same(json.loads(answer(GPU, 'exposed_communication', '--by-device', '1', '-f', 'json')),
         json.loads(answer(GPU, 'exposed_communication', '--by_device=1', '-f', 'json')))
    for order in (['--order-by', '-depth'], ['--order-by=-depth'], ['--order-by', '-host']):
        answer(GPU, 'trace_events', *order, '-f', 'csv')
    for words in (['--where', 'nonsense > 1'], ['--order-by', ')'], ['--columns', 'no_such'],
                  ['--n', 'many']):
        out, error = run(GPU, 'top_kernels', *words, status=1)
        must(not out and words[1].split()[0].strip(')') in error, '%s: %s' % (words, error))


@case
def sql():
    """SQL sees the runs as :a and :b, and tables without a source those that are attached."""
    same(json.loads(answer(GPU, 'SELECT count(*) AS n FROM trace_events(:a)', '-f', 'json')),
         [{'n': 477}])
    same(json.loads(answer(GPU, 'SELECT count(*) AS n FROM trace_events', '-f', 'json')),
         [{'n': 477}])
    two = json.loads(answer(BEFORE, AFTER, 'SELECT (SELECT count(*) FROM steps(:a)) AS a, '
                            '(SELECT count(*) FROM steps(:b)) AS b', '-f', 'json'))
    same(two, shell("SELECT (SELECT count(*) FROM steps('%s')) AS a, (SELECT count(*) "
                    "FROM steps('%s')) AS b" % (BEFORE, AFTER)))
    for text, words in (('SELECT nonsense', 'nonsense'), ('SELECT * FROM top_op(:a)', 'top_ops'),
                        ('SELECT 1 +', 'incomplete')):
        must(words in run(GPU, text, status=1)[1], text)


@case
def newest_run():
    """A log dir stands for its newest run by name, and the command says so."""
    logs = make_logs()
    screen = ' '.join(run(logs)[0].split())  # a long path wraps
    must(screen.startswith('run 2026_11_21_08_44_41, the newest of 3 in ' + logs), screen)
    must('by name of 3 runs in the log dir; the others: ' in screen, screen)
    must('profsql list %s ' % logs in screen, screen)
    must('prof_find' not in screen, screen)
    out, notes = run(logs, 'kpi', '-f', 'json')
    same(json.loads(out)[0]['run'], '2026_11_21_08_44_41')
    must('run 2026_11_21_08_44_41, the newest of 3 in ' + logs in notes, notes)
    same(run(logs, 'kpi', '-f', 'json', '--quiet')[1], '')
    listed = json.loads(answer('list', logs, '-f', 'json'))
    same(sorted(os.path.basename(row['path']) for row in listed),
         ['2025_12_31_23_59_59', '2026_11_21_08_05_20', '2026_11_21_08_44_41'])
    must('no *.xplane.pb' in run('list', os.path.join(ROOT, 'tests/sql'))[1], 'an empty list')


@case
def two_runs():
    """diff has the numbers of compare_steps and compare_ops; a query of two runs takes them in
    order."""
    out = answer('diff', BEFORE, AFTER)
    step = shell("SELECT printf('%%.3f', a_ms) AS a, printf('%%.3f', b_ms) AS b "
                 "FROM compare_steps('%s', '%s') LIMIT 1" % (BEFORE, AFTER))[0]
    line = next(line for line in out.split('\n') if 'Step time' in line)
    must(line.split()[2:4] == [step['a'], step['b']] and 'more than noise' in line, line)
    must('vanished EagerPyFunc' in out, out)
    must('in microseconds for each device (a run has no steps)' in
         answer('diff', 'tests/data/h100_jax', 'tests/data/h100_kinds'), 'a run without steps')
    must('in microseconds for each device and step' in answer('diff', GPU, GPU), 'runs with steps')
    must('A is GPU with 1 device, B is unknown.' in run('diff', GPU, DUMP)[0],
         'hardware that is not known')
    same_run = answer('diff', BEFORE, BEFORE)
    must('more than noise' not in same_run and 'vanished' not in same_run, same_run)
    rows = json.loads(answer(BEFORE, AFTER, 'compare_steps', '-f', 'json'))
    same(rows, shell("SELECT * FROM compare_steps('%s', '%s')" % (BEFORE, AFTER)))


@case
def export():
    """A database of plain tables has every row, hidden results too, and is never overwritten by
    chance."""
    out = os.path.join(DIR, 'x.db')
    must('wrote ' + out in run('export', GPU, out)[1], 'the note')
    db = sqlite3.connect(out)
    same(db.execute('PRAGMA integrity_check').fetchone(), ('ok', ))
    tables = [name for name, in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    must(len(tables) > 50, tables)
    same(set(tables) & {'events', 'timeline', 'event_stats', 'xprof_events'}, set(),
         'tables that show the events again')
    for name in ('trace_events', 'top_ops', 'kernel_stats', 'hosts', 'lines', 'devices', 'steps'):
        n, = db.execute('SELECT count(*) FROM "%s"' % name).fetchone()
        same(n, shell("SELECT count(*) AS n FROM %s('%s')" % (name, GPU))[0]['n'], name)
    columns = [row[1] for row in db.execute('PRAGMA table_info(trace_events)')]
    must('stats' in columns and 'source' not in columns, columns)
    same(db.execute("SELECT count(*) FROM sqlite_master WHERE sql LIKE '%VIRTUAL%'").fetchone(),
         (0, ))
    db.close()
    with open(out, 'rb') as f:
        before = f.read()
    must('--force' in run('export', TPU, out, status=1)[1], 'overwriting')
    with open(out, 'rb') as f:
        same(f.read() == before, True, 'the file was kept')
    run('export', BEFORE, out, '--force', '--tables', 'kpi,steps')
    same(sorted(name for name, in sqlite3.connect(out).execute("SELECT name FROM sqlite_master "
                                                               "WHERE type = 'table'")),
         ['kpi', 'steps'])
    must('no/such' in run('export', GPU, os.path.join(DIR, 'no/such/x.db'), status=1)[1],
         'a folder that is not there')
    same([f for f in os.listdir(DIR) if f != 'x.db'], [], 'left behind')


@case
def a_shell():
    """The shell of SQLite has the extension, the run and a temporary table for each table; SQLITE3
    names another."""
    done = subprocess.run([COMMAND, 'shell', GPU], input='SELECT count(*) FROM trace_events;\n'
                          'SELECT count(*) FROM top_ops;\n.tables kp%\n', capture_output=True,
                          text=True, cwd=ROOT, env={**os.environ, 'HOME': DIR})
    same(done.returncode, 0)
    must('477' in done.stdout
         and 'temp.kpi' in subprocess.run([COMMAND, 'shell', GPU], input='.tables\n',
                                          capture_output=True, text=True, cwd=ROOT).stdout,
         done.stdout + done.stderr)
    installed_in = {'as_built': 'bin', 'as_installed': 'lib',
                    'as_by_pip': 'lib/python3.10/site-packages/profsql', 'nowhere': 'share'}
    for name, folder in installed_in.items():
        put('%s/bin/profsql' % name)
        shutil.copy(COMMAND, path('%s/bin/profsql' % name))
        put('%s/%s/libprofsql.so' % (name, folder))
        shutil.copy(PROFSQL + '.so', path('%s/%s/libprofsql.so' % (name, folder)))
        done = subprocess.run([path('%s/bin/profsql' % name), 'shell', GPU],
                              input='SELECT count(*) FROM trace_events;\n', capture_output=True,
                              text=True, cwd=ROOT)
        same(('477' in done.stdout, done.returncode), (name != 'nowhere', int(name == 'nowhere')),
             name + done.stderr)
        must(name != 'nowhere' or 'libprofsql.so: no such file' in done.stderr, done.stderr)
    alone = subprocess.run([path('nowhere/bin/profsql'), 'capture', '--', 'true'],
                           capture_output=True, text=True, env={**os.environ, 'PATH': '/no/such'})
    same(alone.returncode, 127)
    must('profsql-capture is not installed' in alone.stderr and 'make install' in alone.stderr,
         alone.stderr)
    must('no_such_shell' in run('shell', GPU, env={'SQLITE3': 'no_such_shell'}, status=127)[1],
         'a shell that is not there')


# Wrong words, the status, and what is said: it says what is wrong and what to type instead.
WRONG_TURNS = [
    ([], 2, 'usage: profsql RUN'),
    (['no/such'], 1, 'no/such: no such file or folder; a run is'),
    ([''], 1, 'the path of the run is empty'), (['top_kernels'], 2, 'profsql RUN top_kernels'),
    (['SELECT * FROM top_ops'], 1, "profsql RUN 'SELECT"),
    (['top_kernels', GPU], 2, 'the run comes first'),
    ([GPU, 'topkernels'], 2, 'nearest: top_kernels'),
    ([GPU, 'SELECT straggler_ FROM planes'], 1, 'nearest: straggler; profsql tables NAME'),
    ([GPU, 'SELECT core_hostname FROM planes'], 1, 'it is in other tables, such as devices'),
    ([GPU, 'top_kernels', '--m', '3'], 2, '--m: no such option'),
    ([GPU, TPU], 2, 'profsql diff'), (['dif', GPU, TPU], 2, 'diff'),
    (['diff', GPU], 2, 'diff compares two runs'),
    (['export', GPU], 2, 'profsql export RUN out.db'), (['shell'], 2, 'which run'),
    ([GPU, 'kpi', '--format'], 2, 'format'),
    ([GPU, 'kpi', '--limit', 'x'], 2, 'limit'), ([GPU, 'kpi', '--columns', ' '], 2, 'need SQL'),
    ([GPU, 'kernls'], 2, 'nearest: kernel_stats'),
    ([GPU, '--where', '1'], 2, 'parts are tables'), ([GPU, 'compare_ops'], 2, 'compare_ops'),
    (['tests/sql'], 1, 'no *.xplane.pb'),
    (['README.md'], 1, 'is not an XSpace'),
    ([GPU, 'kpi', '--output', os.path.join(DIR, 'no/such/x.csv')], 1, 'no/such')]
WHAT_PEOPLE_TYPE = [
    (['compare', BEFORE, AFTER], 2, 'profsql diff A B'),
    (['ls', BEFORE], 2, 'profsql list'),
    (['version'], 2, 'profsql --version'),
    (['nothere', BEFORE], 2, 'nothere: no such file or folder; a run'),
    ([BEFORE, 'top_ops limit 3'], 2,
     "profsql %s 'SELECT * FROM top_ops limit 3'" % BEFORE),
    (['no_such_run_at_all'], 1, 'profsql list FOLDER'),
    (['export', GPU, path('x.csv')], 2,
     'x.csv: export writes a database of SQLite: name it FILE.db')]
OTHER_COMPLAINTS = [
    (['list', 'a', 'b'], 2, 'searches one folder'), (['list', '--force'], 2, 'list does not take'),
    (['tables', 'a', 'b'], 2, 'one word'), (['tables', '--force'], 2, 'tables does not take'),
    (['tables', 'xyzzyq'], 1, 'no table, query or column matches xyzzyq'),
    ([GPU, '--limit', '3'], 2, 'the screen of a run does not take --where'),
    ([GPU, '--n', '3'], 2, '--n is a parameter of tables'),
    (['diff', GPU, TPU, '--limit', '3'], 2, 'diff does not take --where'),
    (['diff', GPU, 'no/such'], 1, 'no/such: no such file'),
    (['diff', 'no/such', GPU], 1, 'no/such: no such file'),
    (['shell', GPU, '--limit', '3'], 2, 'shell does not take --where'),
    (['shell', 'no/such'], 1, 'no/such: no such file'),
    (['report'], 2, 'report is about one run'), (['report', GPU, TPU], 2, 'about one run'),
    (['report', GPU, '--limit', '3'], 2, 'report does not take --where'),
    (['report', 'no/such'], 1, 'no/such: no such file'),
    (['report', GPU, '--against', 'no/such'], 1, 'no/such: no such file'),
    (['export', 'no/such', path('x.db')], 1, 'no/such: no such file'),
    (['export', GPU, path('x.db'), '--limit', '3'], 2, 'export does not take --where'),
    (['export', GPU, path('x.db'), '--from', '1ms'], 2, 'choose events of a trace'),
    (['export', GPU, path('x.db'), '--tables', 'kpi,topops'], 2,
     "'topops' is not a table or query"),
    (['export', GPU, GPU, path('x'), '-f', 'chrome'], 2, 'a trace is of one run'),
    (['export', GPU, path('x'), '-f', 'chrome', '--from', '1 day'], 2, "cannot be '1 day'"),
    (['export', GPU, 'no/such/x', '-f', 'chrome'], 1, 'no/such/x: cannot be written'),
    (['export', GPU, 'tests'], 1, 'tests is a folder; give a file name'),
    (['export', GPU, path('pipe')], 1, 'is not a regular file, and is not replaced'),
    (['export', GPU, path('there')], 1, 'exists; --force'),
    (['no/such', 'kpi'], 1, 'no/such: no such file'),
    ([GPU, 'no/such', 'kpi'], 1, 'no/such: no such file'),
    (['no/such', 'SELECT 1'], 1, 'no/such: no such file'),
    ([GPU, TPU, 'prof_find'], 2, 'prof_find takes one folder'),
    (65 * [GPU] + ['kpi'], 1, 'at most 64 runs'),
    ([GPU, 'kpi', '--lmit', '3'], 2, '--lmit: no such option, or short for several; nearest: '
     '--limit'),
    ([GPU, 'kpi', '--lmit=3'], 2, '--lmit=3: no such option, or short for several; nearest: '
     '--limit'),
    ([GPU, 'kpi', '--limit', ''], 2, "--limit cannot be ''"),
    ([GPU, 'kpi', '--range', 'x'], 2, 'kpi has no parameter range; it has none'),
    ([GPU, 'kpi', '--force'], 2, 'kpi does not take --force'),
    ([GPU, 'kpi', '-f', 'xml'], 2, "--format cannot be 'xml'"),
    ([GPU, 'kpi', '-o', path('x.c')], 2, '.c is the suffix of no format'),
    (['export', GPU, '-o', 'x.db'], 2, 'profsql export RUN x.db writes a database'),
    ([GPU, 'kpi', '-o', 'it is.html'], 2, "profsql report RUN --output 'it is.html' writes"),
    ([GPU, '-o', 'x.pftrace'], 2, 'profsql export RUN x.pftrace --format perfetto writes'),
    ([GPU, 'kpi', '-o', 'tests'], 1, 'tests: cannot be written: Is a directory'),
    ([GPU, 'SELECT 1', '--force'], 2, 'SQL does not take --force'),
    ([GPU, 'SELECT 1 WHERE :c'], 2, 'nothing is bound to :c'),
    ([GPU, 'SELECT 1; SELECT 2'], 2, 'only the last statement'),
    ([GPU, 'SELECT top_op(1)'], 1, 'no such function: top_op'),
    ([GPU, 'SELECT * FROM top_op'], 1, 'no such table: top_op; nearest: top_ops')]
LINES_LISTS_THEM = "no line has the name 'nosuch': profsql %s lines lists them" % GPU
WRONG_ORDER = [
    ([GPU, 'kpi', TPU], 2, 'the runs come first: profsql %s %s kpi' % (GPU, TPU)),
    ([GPU, 'top_ops', '3'], 2, '3: only options follow the table or query: profsql %s top_ops '
     '--limit 3' % GPU),
    ([GPU, 'top_ops', 'kpi'], 2, 'one table or query at a time: profsql %s top_ops, then '
     'profsql %s kpi' % (GPU, GPU)),
    ([GPU, 'select', 'README.md', 'from', 'top_ops'], 2,
     "only in quotes: profsql %s 'SELECT ...'" % GPU),
    (['select', 'run', 'from', 'kpi'], 2, "only in quotes: profsql RUN 'SELECT"),
    (['select'], 2, "only in quotes: profsql RUN 'SELECT"),
    ([GPU, '@my file.sql'], 2, "profsql shell %s < 'my file.sql'" % GPU),
    ([GPU, 'tests/sql/surface.sql'], 2, 'profsql shell %s < tests/sql/surface.sql' % GPU),
    ([GPU, '-'], 2, 'profsql shell %s < FILE.sql' % GPU),
    ([GPU, ''], 2, 'the name of the table or query is empty'),
    (['-'], 1, '-: runs are not read from standard input; save the profile to a file'),
    (['-', 'kpi'], 1, '-: runs are not read from standard input'),
    ([GPU, 'report'], 2, 'report comes first: profsql report ' + GPU),
    ([GPU, 'diff', TPU], 2, 'diff comes first: profsql diff %s %s' % (GPU, TPU)),
    ([GPU, 'export', 'it is.db'], 2, "export comes first: profsql export %s 'it is.db'" % GPU),
    (['list', 'tests/dta'], 1, 'tests/dta: no such file or folder; a run is'),
    (['list', 'tests/dta'], 1, 'nearest: tests/data'),
    (['list', 'tests/dta/tpu_train_54/plugins'], 1, 'nearest: tests/data'),
    (['list', 'gs://b/logs'], 1, 'paths of gs:// are not read'),
    (['list', '~/logs'], 1, 'only a shell expands ~'),
    ([GPU, '.tables'], 2, 'for profsql shell ' + GPU),
    (['help', 'topops'], 2, 'topops: no such table, query or command; nearest: top_ops')]
WRONG_OPTIONS = [
    ([GPU, 'top_ops', '-limit', '3'], 2, '-limit: this option has two dashes: --limit'),
    ([GPU, 'top_ops', '-format=csv'], 2, '-format=csv: this option has two dashes: --format'),
    ([GPU, 'top_ops', '-x', '3'], 2, '-x: no such option'),
    ([GPU, 'top_ops', '-qx'], 2, '-qx: no such option'),
    ([GPU, 'kpi', '-o', ''], 2, '--output needs the name of a file'),
    ([GPU, 'kpi', '--where', 'nosuch = 1'], 1, "--where: kpi has no column nosuch; a text needs "
     "quotes: 'nosuch'; profsql tables kpi lists its columns"),
    ([GPU, 'kpi', '--where', 'rnu = 1'], 1, '--where: kpi has no column rnu; nearest: run'),
    ([GPU, 'kpi', '--columns', 'straggler'], 1, '--columns: kpi has no column straggler; it is in '
     'other tables, such as '),
    ([GPU, 'kpi', '--order-by', 'kpi.nosuch'], 1, '--order-by: kpi has no column nosuch; profsql '),
    ([GPU, 'kpi', '--order-by', 'run,'], 1, 'incomplete input in --order-by run,'),
    ([GPU, 'kpi', '--limit', 19 * '9'], 2, 'it is a number of rows, of at most 18 digits, or all'),
    ([GPU, 'kpi', '-f', 'html'], 2, 'a report is always HTML'),
    ([GPU, 'SELECT 1', '--limit', '3'], 2, "SQL has WHERE, ORDER BY and LIMIT itself: 'SELECT"),
    ([GPU, 'idle_gaps', '--rows', '3'], 2, 'the parameters of idle_gaps: --n'),
    ([GPU, 'kpi', '--rows', '3'], 2, 'the parameters of kpi: none'),
    ([GPU, 'kpi', '--where', "run = 'x"], 1, "a quote (') is not closed: 'x\n"),
    ([GPU, 'kpi', '--where', 'run = nccl*'], 1, "syntax error in --where 'run = nccl*'\n"),
    ([GPU, 'kpi', '--columns', 'run,', '--order-by', 'run x'], 1,
     "syntax error in --order-by 'run x' or --columns run,"),
    ([GPU, 'trace_events', '--plane', 'x'], 2, 'columns are compared in --where'),
    ([GPU, 'kpi', '--where', 'run = \u201cx\u201d'], 1, 'SQL has straight quotes'),
    ([GPU, 'SELECT \u2018x\u2019'], 1, 'SQL has straight quotes'),
    ([GPU, 'DELETE FROM kpi'], 1, 'table kpi may not be modified'),
    (['export', GPU, '-'], 2, 'which standard output cannot be'),
    (['export', GPU, path('x.pftrace')], 2, 'export writes a database of SQLite'),
    (['export', GPU, path('x.db'), '-f', 'perfetto'], 2, 'writes a trace: name it FILE.pftrace'),
    (['export', GPU, path('x.csv'), '-f', 'chrome'], 2, 'writes a trace: name it FILE.json'),
    (['export', GPU, path('x.json'), '-f', 'chrome', '--from', '5ms', '--to', '1ms'], 2,
     '--from 5ms is after --to 1ms'),
    (['report', GPU, '-o', path('x.pdf')], 2, 'x.pdf: report writes a page of HTML')]
# Starts of complaints that need a fault of the system, and of those in other cases.
ELSEWHERE = ('too many parameters', 'the events cannot be read', 'out of memory',
             '%s: a view or trigger', 'profsql-capture is not installed',
             "SQLite's shell is missing", 'standard output: cannot be written', 'the first ',
             '%s: no such file, nor is it next to')


def complaints():
    """The formats of all complaints in the command's sources."""
    for folder, _, files in os.walk(os.path.join(ROOT, 'command')):
        for name in files if 'made' not in folder else ():
            with open(os.path.join(folder, name), encoding='utf-8') as f:
                for found in re.findall(r'complain\(\s*((?:"[^"]*"\s*)+)', f.read()):
                    text = ''.join(re.findall(r'"([^"]*)"', found))
                    if re.search('[a-z]{3}', text) and not text.startswith(ELSEWHERE):
                        yield text


@case
def every_complaint():
    """A wrong command line ends with status 2, a failure with 1 (docs/command.md), with nothing on
    standard output; no message of the sources is missing here."""
    errors = []
    os.mkfifo(path('pipe'))
    put('there', b'')
    for words, status, say in (WRONG_TURNS + WHAT_PEOPLE_TYPE + OTHER_COMPLAINTS
                               + WRONG_ORDER + WRONG_OPTIONS):
        out, error = run(*words, status=status)
        must(not out and say in error, '%s: %s %s' % (words, out, error))
        errors.append(error)
    same(sorted(os.listdir(DIR)), ['pipe', 'there'], 'files')
    formats = set(complaints())
    must(len(formats) > 35, formats)
    for text in formats:
        like = '.*'.join(map(re.escape, re.split(r'%(?:\.\*|ll)?[sd]', text)))
        must(any(re.search(like, error) for error in errors), 'nothing provokes: ' + text)


@case
def wrong_turns():
    """Errors say how to allow what is not allowed, and contain no words of the internal SQL."""
    database = os.path.join(DIR, 'views.db')
    db = sqlite3.connect(database)
    db.execute('CREATE VIEW kernels AS SELECT occurrences FROM top_kernels LIMIT 1')
    db.close()
    attach = "ATTACH '%s' AS views; " % database
    error = run(GPU, attach + 'SELECT * FROM kernels', status=1)[1]
    must('unsafe use of virtual table "top_kernels": a view' in error and 'prof_serve()' in error
         and 'trusted_schema' in error, error)
    same(run(GPU, attach + 'CREATE TEMP TABLE served AS SELECT prof_serve(); SELECT * FROM kernels',
             '--format', 'csv')[0], 'occurrences\n19\n', 'what the error says works')
    trace = os.path.join(DIR, 'x.json')
    with open(trace, 'w') as f:
        f.write('{"traceEvents": []}')
    same(run(trace, status=1)[1].count('JSON'), 1, 'one error for one mistake')
    for wrong in ('no/such', 'tests/data/gpu_train_3', '~/logs', 'gs://bucket/logs', ''):
        error = run(wrong, status=1)[1]
        must(not any(word in error for word in ('label', 'SELECT', 'prof_')),
             '%s: %s' % (wrong, error))
    for name in (BEFORE, AFTER):
        must('run %s: kernel_stats has no rows: no GPU has an event' % os.path.basename(
            run('list', name, '-f', 'csv')[0].strip()) in run(BEFORE, AFTER, 'kernel_stats')[1],
             'an empty table of two runs')


@case
def remarks_that_are_true():
    """A remark about nothing to show has the reason: the selection, the time, the lines."""
    same(run('list', 'tests/data', '--where', 'hosts > 99')[1],
         'profsql: no run matches --where hosts > 99\n')
    same(run('SELECT 1 WHERE 0')[1], 'profsql: no rows\n')
    same(run(GPU, 'kpi', '--where', '0')[1],
         'profsql: run gpu_train_38: no row of kpi matches --where 0\n')
    same(run(GPU, 'top_hlo_ops', '--n', '3')[1].split(': no event')[0],
         'profsql: run gpu_train_38: top_hlo_ops has no rows')
    same(run(GPU, 'range_kernels', '--range', 'none')[1],
         'profsql: run gpu_train_38: no row of range_kernels for these parameters\n')
    same(run(GPU, 'top_kernels', '--n', '0')[1],
         'profsql: run gpu_train_38: no row of top_kernels for these parameters\n')
    same(run(TPU, 'memory_over_time', '--parts', '7')[1].split(' (')[0], 'profsql: run '
         'tpu_train_54: memory_over_time has no rows: no allocator reported an allocation')
    same(run('export', GPU, path('x.db'), '--tables', 'kpi')[1].split(': ')[2].split(' rows, ')[0],
         '1 table, 1')
    must('; 1 empty\n' in run('export', GPU, path('y.db'), '--tables', 'hlo_modules')[1],
         'a reason')
    must('; 1 empty, prof_issues has why' in run('export', GPU, path('z.db'), '--tables',
                                                 'hlo_modules,prof_issues')[1], 'no reason')
    same(run('prof_find', '--columns', 'name', '-f', 'csv'),
         run('.', 'prof_find', '--columns', 'name', '-f', 'csv'))
    for options, say in ((['--from', '100s'], 'no event of the run is in this time; the run has '
                          'events from 2.23792ms to 26.4608ms'),
                         (['--to', '-1', '--lines', '*'], 'no event of such lines is in this time'),
                         (['--lines', 'nosuch'], LINES_LISTS_THEM)):
        notes = run('export', GPU, '-', '-f', 'chrome', *options)[1]
        must(say in notes and ('the name' in say or 'the name' not in notes), notes)
    notes = run(GPU, GPU, 'kpi', '-f', 'jsonl')
    same((len(notes[0].splitlines()), notes[1]),
         (1, 'profsql: run gpu_train_38 is given twice\n'))
    must('step time is unknown' not in run(BEFORE)[0], 'steps that XProf does not have')
    only = run(put_source('one', [space(Plane('/host:CPU', 1).line(1, 'main', [('work', 0, 9)])
                                        .bytes())]))[0]
    must('  1 rule was checked; all of them:\n' in only, only)


@case
def sql_without_rows():
    """Tables that SQL makes are lost unless it says where they go, and a remark says so."""
    must("ATTACH 'FILE.db' keeps it" in run(GPU, 'CREATE TABLE x AS SELECT 1')[1], 'lost')
    kept = path('kept.db')
    same(run(GPU, "ATTACH '%s' AS kept; CREATE TABLE kept.x AS SELECT run FROM kpi" % kept),
         ('', ''))
    same(sqlite3.connect(kept).execute('SELECT run FROM x').fetchall(), [('gpu_train_38',)])


@case
def links():
    """A link that leads nowhere is no missing file, and a link to a run is the run."""
    os.symlink('nowhere', path('broken'))
    os.symlink('loop', path('loop'))
    os.symlink(PROFILE, path('good.xplane.pb'))
    same(run(path('broken'), status=1)[1].count('is a link to nowhere, which does not exist'), 1)
    must('symbolic links' in run(path('loop'), status=1)[1], 'a loop')
    must('Not a directory' in run(path('good.xplane.pb/x'), status=1)[1], 'a file as a folder')
    same(run(path('good.xplane.pb'), 'kpi', '--columns', 'run', '-f', 'csv')[0].splitlines()[1],
         'good')


@case
def sql_of_files():
    """SQL as files have it: comments first, and line ends of Windows."""
    for text in ('-- the run\nSELECT run FROM kpi', '--x\r\nSELECT run\r\nFROM kpi;\r\n',
                 '/* a\nb */ -- c\n select run from kpi -- d'):
        same(answer(GPU, text, '-f', 'csv').split(), ['run', 'gpu_train_38'], text)


@case
def what_people_type():
    """Words of other programs and runs that are missing lead on; commands that are printed can be
    copied."""
    same(answer('help'), answer('--help'))
    same(answer('help', 'top_ops'), answer('tables', 'top_ops'))
    folder = path("it's a long folder/" + 90 * 'x')
    os.makedirs(folder)
    shutil.copy(PROFILE, folder)
    odd = path('new\nline \u00fc "q"')
    shutil.copytree(folder, odd)
    for there in (folder, odd):
        line = next(line for line in answer(there).split('\n')
                    if line.startswith('  %s ' % COMMAND) and 'top_ops' in line)
        copied = subprocess.run(['bash', '-c', line.replace('--n 50', '--n 1 -f jsonl')],
                                capture_output=True, text=True)
        same(json.loads(copied.stdout)['rank'], 1, copied.stderr)
    found = subprocess.run(['profsql', GPU], capture_output=True, text=True, cwd=ROOT,
                           env={**os.environ, 'PATH': os.path.dirname(COMMAND)}).stdout
    must('\n  profsql %s top_ops' % GPU in found, 'a command of PATH')
    nearest = run(GPU, 'top_ops', '--columns', 'rnk', status=1)[1]
    must('nearest: rank' in nearest and 'Rank' not in nearest, nearest)


@case
def short_names_first():
    """A terminal without room for all columns leaves out the names that short_name shortens."""
    for name in ('kernel_stats', 'top_kernels', 'top_ops', 'trace_events'):
        words = run(GPU, name, '--limit', '1')[0].split()
        names = ('kernel_name', 'kernel', 'operation', 'name')
        long, = [word for word in names if word in words]
        head = run(GPU, name, '--limit', '2', env={'COLUMNS': '100'})[0].split('\n')[0]
        must('short_name' in head and ' %s ' % long not in head, head)
        head = answer(GPU, name, '--limit', '2', '-f', 'csv').split('\n')[0]
        must(head.index(long) < head.index('short_name'), head)


@case
def ops_of_one_name():
    """On the screen, the module tells ops of one name apart."""
    screen = run('tests/data/inference_models')[0]
    for line in ('4 x  add_multiply_fusion of jit_serve_2\n', '6 x  convolution.1\n'):
        must(line in screen, line)


@case
def names_without_arguments():
    """A name that is too wide loses arguments of C++ functions, but never what a program remarks in
    brackets, such as that an event is a wait."""
    for name, shown in (
            ('void a::f<int, b::c<8, true> >(int, float const*, b::c<8, true>)', 'a::f<>'),
            ('void copy<unsigned char, int>(unsigned char*, long, int)', 'copy<>'),
            ('gpu::(anonymous namespace)::DelayKernel(gpu::Semaphore volatile*)',
             'gpu::(..)::DelayKernel'),
            ('ThunkExecutor::Execute (wait for completion)',
             'ThunkExecutor::Execute (...for completion)'),
            ('[1] CommonPjRtLoadedExecutable::Execute (jit_step)',
             '[1] CommonPjRtLoadedExec...cute (jit_step)'),
            ('PjRtCApiClient::CompileAndLoad(jit_train_step)',
             'PjRtCApiClient::CompileA...jit_train_step)'),
            ('PjRtCApiClient::BufferFromHost(f32[64,64,64])',
             'PjRtCApiClient::BufferFr...(f32[64,64,64])')):
        host = Plane('/host:CPU', 1).line(1, 'main', [(name, 0, 9, {'hlo_op': {'str': 'x'}})])
        found = run(put_source('some', [space(host.bytes())]), env={'COLUMNS': '80'})[0]
        must(' x  %s\n' % shown in found, found)


@case
def a_narrow_screen():
    """A screen of 40 columns loses the ends of lines, never a number of the run."""
    def columns(width):
        return run(GPU, env={'COLUMNS': str(width)})[0].split('\n')
    for line in columns(40):
        must(len(line) <= 40 or COMMAND in line, line)
    must(max(len(line) for line in columns(5) if COMMAND not in line) < 40, 'a very narrow one')
    wide = columns(100)  # paragraphs follow, which are wrapped
    numbers = [re.match(r'.*?[0-9.]+ (%|ms|MiB)', line)
               for line in wide[:wide.index('What to do about it')]]
    must(len(numbers) > 10, wide)
    narrow = '\n'.join(columns(40))
    for found in [n.group(0) for n in numbers if n and n.group(0).startswith('  ')]:
        must(found in narrow, '%r is not in %s' % (found, narrow))
    cut = path('cut.xplane.pb.gz')
    with open(PROFILE, 'rb') as f, open(cut, 'wb') as to:
        to.write(gzip.compress(f.read(), mtime=0)[:3000])
    must(' x  (no name)\n' in run(cut)[0], 'an op whose name is lost')


@case
def closed_folders():
    """A folder that may not be read is not an empty one."""
    private = path('private/plugins')
    os.makedirs(private + '/profile/r')
    shutil.copy(PROFILE, private + '/profile/r')
    os.chmod(private, 0)
    without_rights = ['setpriv', '--bounding-set=-all', '--inh-caps=-all']
    call = without_rights if os.geteuid() == 0 else []
    try:
        for words in ([path('private')], ['list', path('private')]):
            done = subprocess.run(call + [COMMAND, *words], capture_output=True, text=True)
            same((done.returncode, done.stdout), (1, ''))
            must('plugins: cannot open the folder: Permission denied' in done.stderr, done.stderr)
        os.makedirs(path('private/s/plugins/profile/open'))
        shutil.copy(PROFILE, path('private/s/plugins/profile/open'))
        done = subprocess.run(call + [COMMAND, 'list', path('private'), '-f', 'csv'],
                              capture_output=True, text=True)
        same((done.returncode, done.stdout.count('\n')), (0, 2), 'a run beside it is found')
    finally:
        os.chmod(private, 0o700)


@case
def damage():
    """A damaged file answers, with one line about it."""
    cut = damaged()
    out, notes = run(cut, 'top_ops', '-f', 'json')
    must(json.loads(out) and 'bytes more than the file has' in notes and notes.count('\n') == 1,
         notes)
    must('bytes more than the file has' in run(cut)[0], 'the screen')


def on_a_terminal(*words, **environment):
    """What the command writes to a terminal."""
    here, there = pty.openpty()
    run(*words, stdout=there, stderr=subprocess.DEVNULL, env={'TERM': 'xterm', **environment})
    os.close(there)
    out = b''
    while True:
        try:
            more = os.read(here, 65536)
        except OSError:  # the other end is closed
            break
        if not more:
            break
        out += more
    os.close(here)
    return out.decode()


@case
def colours():
    """On a terminal, headings are bold, errors red and warnings yellow; remarks have no colour."""
    host = Plane('/host:CPU', 1).line(1, 'main', [('work', 0, 9)])
    seen = set()
    for source in (damaged(), put('host.xplane.pb', space(host.bytes())), TPU):
        out = on_a_terminal(source, COLUMNS='100').replace('\r', '')
        must('\n\x1b[1mMore\x1b[0m\n' in out, out)
        severity = {issue['start']: issue['severity'] for issue in shell(
            "SELECT severity, substr(message, 1, 20) AS start FROM prof_issues('%s')" % source)}
        for colour, start in re.findall('^(?:\x1b\\[(\\d+)m)?- (?:\x1b\\[0m)?(.{20})', out, re.M):
            if start in severity:
                same(colour, {'error': '31', 'warning': '33'}.get(severity[start], ''), start)
                seen.add(severity[start])
        must('\x1b' not in on_a_terminal(source, NO_COLOR='1'), 'NO_COLOR')
    same(seen, {'error', 'warning', 'info'})


@case
def outputs():
    """--output chooses the format by the suffix; an output that cannot be written is a failure, a
    closed pipe is not."""
    run(GPU, 'kpi', '--output', path('x.csv'))
    with open(path('x.csv')) as f:
        same(f.readline().startswith('run,hardware,'), True)
    for name, start in (('x.txt', 'event_id  '), ('x', 'event_id  '), ('X.JSONL', '{"'),
                        ('x.md', '| ')):
        out, notes = run(GPU, 'trace_events', '--columns', 'event_id,plane', '-o', path(name))
        with open(path(name)) as f:
            lines = f.read().split('\n')
        must(lines[0].startswith(start) and len(lines) - 1 >= 477,
             '%s: %d lines, %s' % (name, len(lines), lines[0]))
        same((out, notes), ('', ''))
    for name in ('x.tsv', 'x.c', 'a.csv/x.parquet'):
        must('.csv, .json, .jsonl and .md' in run(GPU, 'kpi', '-o', path(name), status=2)[1], name)
    run(GPU, 'kpi', '-o', path('x.tsv'), '-f', 'csv')
    must('the first 20 rows' in run(GPU, 'trace_events', '-q')[1], 'a cut is never silent')
    with open('/dev/full', 'w') as full:
        must('cannot be written' in run(GPU, 'kpi', status=1, stdout=full,
                                        stderr=subprocess.PIPE)[1], 'a full disk')
    first = subprocess.Popen([COMMAND, GPU, 'trace_events', '--limit', 'all', '-f', 'csv'],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT)
    first.stdout.close()
    same((first.wait(60) in (-13, 141), first.stderr.read()), (True, b''))


@case
def help_of_everything():
    """Every table and query has its help, with its parameters and columns; --version is that of the
    extension."""
    same(answer('--version').split(),
         ['profsql', shell('SELECT prof_version() AS v')[0]['v'].split()[0]])
    version = shell('SELECT prof_version() AS v')[0]['v']
    same(answer('capture', '--version').split(), ['profsql-capture', version.split()[0]])
    must(answer('--help').startswith('usage: profsql RUN'), 'help')
    for name, parameters in list(names('prof_queries').items()) + [('trace_events', set()),
                                                                   ('steps', set())]:
        text = answer('tables', name)
        for parameter in parameters - {'source'}:
            must('--' + parameter in text.replace('-by-', '-by_'),
                 '%s: no %s in %s' % (name, parameter, text))
        same(answer(GPU, name, '--help'), text)
    found = answer('tables', 'idle', '-f', 'csv')
    must('idle_gaps' in found and 'device_time' in found, found)
    found = list(csv.DictReader(io.StringIO(answer('tables', 'OOM', '-f', 'csv'))))
    same([row['name'] for row in found][:2], ['peak_holders', 'peak_memory'])
    same({row['matched'] for row in found}, {'synonym', 'column peak_memory_mib'})
    found = list(csv.DictReader(io.StringIO(answer('tables', '-f', 'csv'))))
    same({row['name'] for row in found},
         {row['name'] for row in shell('SELECT name FROM prof_tables UNION SELECT name '
                                       'FROM prof_queries')})
    same(len({row['name'] for row in found}), len(found))
    must('similar to retracing' in answer('tables', 'retracign'), 'a misspelt word')
    same(run('tables', 'xyzzyq', status=1), ('', 'profsql: no table, query or column matches '
                                             'xyzzyq; profsql tables lists all\n'))


@case
def made_files_are_current():
    """The manual page and the completions are what command/generate writes."""
    before = {}
    folder = os.path.join(ROOT, 'command', 'made')
    for name in os.listdir(folder):
        with open(os.path.join(folder, name)) as f:
            before[name] = f.read()
    subprocess.run([os.path.join(ROOT, 'command', 'generate'), DIR], check=True, cwd=ROOT)
    for name, text in before.items():
        with open(os.path.join(DIR, name)) as f:
            must(f.read() == text, name + ' is not current; run make docs')
    must(len(before) >= 4, before)
