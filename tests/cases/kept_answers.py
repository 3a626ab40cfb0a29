# SPDX-License-Identifier: Apache-2.0
"""Answers that PROFSQL_CACHE keeps in files: equal to those of the run, and never those of another
question, of files that have changed, or of files that were tampered with."""
import glob
import os
import resource
import shutil
import signal
import subprocess

from lib import wire
from lib.cases import Skip, case, must, same
from lib.shell import DATA, PROFSQL, ROOT, SQLITE3, path, put, quoted, tables_of_a_run

RUNS = ['gpu_train_38', 'tpu_train_54', 'tf_fit_input_bound']
COUNT = "SELECT sum(event_count) FROM hosts(%s);"
# Tables with a row for each event, whose answers are not kept
OF_EVENTS = {'trace_events', 'timeline', 'xprof_events', 'event_stats', 'events'}
# Tables for which no rows need no reason
UNEXPLAINED = {'prof_issues'}
# Facts about how this process has read the run
OF_READING = {'prof_runs'}


def start(sql, folder, library=PROFSQL, preexec_fn=None, **environment):
    """A shell that keeps answers in a folder and says "reading" when it reads a run."""
    child = subprocess.Popen([SQLITE3, '-batch', '-init', os.devnull, ':memory:'],
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             preexec_fn=preexec_fn,
                             env={**os.environ, 'PROFSQL_CACHE': folder,
                                  'PROFSQL_PROGRESS': '1', **environment})
    child.stdin.write(('.load %s\n.mode quote\n%s\n' % (library, sql)).encode())
    child.stdin.close()
    child.stdin = None
    return child


def end(child):
    """What it printed, whether it read a run, and the rest of its standard error."""
    out, err = (part.decode(errors='replace') for part in child.communicate())
    err = err.split('\r')
    rest = ''.join(part for part in err if not part.startswith('libprofsql: reading'))
    return out, len(err) > 1, rest.replace('\033[K', '')


def ask(sql, folder, library=PROFSQL, **options):
    return end(start(sql, folder, library, **options))


def answers(folder):
    return sorted(glob.glob(os.path.join(folder, '*')))


def copied(name, to):
    shutil.rmtree(path(to), ignore_errors=True)
    return shutil.copytree(os.path.join(DATA, name), path(to))


def one_host(name, n_events):
    return put(name, wire.space(wire.plane(1, '/host:CPU', [wire.line(
        1, 't', [wire.event(1, i * 10, 5) for i in range(n_events)])],
        wire.event_metadata(1, 'step'))))


def sql_of(table, sources, run):
    return 'SELECT * FROM %s(%s);' % (table, ', '.join([quoted(run)] * len(sources)))


def check_all(run, folder):
    """All tables without kept answers, when they are kept, and when they are read."""
    n_read = 0
    for table, sources in tables_of_a_run(OF_EVENTS).items():
        sql = sql_of(table, sources, run)
        plain = ask(sql, '')
        first, then = ask(sql, folder), ask(sql, folder)
        if table not in OF_READING:
            same(first, plain, table)
            same(then[::2], plain[::2], table)
        must(plain[1], '%s does not read the run' % table)
        same(then[1], not plain[0] and table not in UNEXPLAINED, '%s reads the run again' % table)
        n_read += not then[1]
    must(n_read > 60, 'only %d answers were kept' % n_read)


@case
def all_tables_of_a_gpu_run():
    check_all(os.path.join(DATA, RUNS[0]), path('kept_gpu'))


@case
def all_tables_of_a_tpu_run():
    check_all(os.path.join(DATA, RUNS[1]), path('kept_tpu'))


@case
def all_tables_of_a_run_without_devices():
    check_all(os.path.join(DATA, RUNS[2]), path('kept_cpu'))


@case
def nothing_is_kept_without_the_variable():
    before = set(os.listdir(DATA))
    run = one_host('unkept/x.xplane.pb', 3)
    ask(COUNT % quoted(run), '')
    same(set(os.listdir(DATA)), before)
    same(os.listdir(path('unkept')), ['x.xplane.pb'])


@case
def a_file_that_changes_is_read_again():
    folder = path('changes')
    for n_events in (3, 5, 4, 4):  # the last is the same again, in a file of another time
        run = one_host('x/changes.xplane.pb', n_events)
        same(ask(COUNT % quoted(run), folder)[:2], ('%d\n' % n_events, True))
        same(ask(COUNT % quoted(run), folder)[:2], ('%d\n' % n_events, False))


@case
def a_file_with_the_size_and_time_of_another_is_read_again():
    folder, run = path('replaced'), one_host('x/replaced.xplane.pb', 7)
    other = put('x/other.xplane.pb', open(run, 'rb').read().replace(b'step', b'jump'))
    shutil.copystat(run, other)
    names = "SELECT name FROM event_metadata(%s);" % quoted(run)
    same(ask(names, folder)[0], "'step'\n")
    os.rename(other, run)
    same(ask(names, folder)[0], "'jump'\n")


@case
def a_newer_run_of_a_log_dir_counts():
    logs = path('logs_kept')
    for name, n_events in (('2026_01_01', 2), ('2026_01_02', 6)):
        one_host('logs_kept/plugins/profile/%s/h.xplane.pb' % name, n_events)
        same(ask(COUNT % quoted(logs), path('newer'))[0], '%d\n' % n_events)
    same(ask(COUNT % quoted(logs), path('newer'))[1], False)


@case
def each_argument_has_its_answer():
    run, folder = quoted(os.path.join(DATA, 'gpu_train_38')), path('arguments_kept')
    for _ in range(2):
        for n in (2, 3):
            same(ask('SELECT count(*) FROM top_ops(%s, %d);' % (run, n), folder)[0], '%d\n' % n)
    wrong = "SELECT * FROM top_ops(%s, '2');" % run
    same(ask(wrong, folder), ask(wrong, ''))


@case
def what_belongs_to_libraries_has_its_answer():
    run = quoted(os.path.join(DATA, 'tpu_train_54'))
    sql = 'SELECT group_concat(DISTINCT user_file) FROM hlo_ops(%s);' % run
    want = {libraries: ask(sql, '', PROFSQL_LIBRARIES=libraries)[0] for libraries in ('', '/')}
    must(want[''] != want['/'], want)
    for libraries in ('', '/', '', '/'):
        same(ask(sql, path('libraries_kept'), PROFSQL_LIBRARIES=libraries)[0], want[libraries])


@case
def a_limit_keeps_the_whole_answer():
    run, folder = quoted(os.path.join(DATA, 'gpu_train_38')), path('limits')
    ask('SELECT * FROM top_ops(%s) LIMIT 1;' % run, folder)
    same(ask('SELECT count(*) FROM top_ops(%s);' % run, folder)[:2],
         (ask('SELECT count(*) FROM top_ops(%s);' % run, '')[0], False))


@case
def a_long_answer_is_complete():
    """It exceeds what is kept, in a canned query and in a table."""
    line = [wire.event(i % 50 + 1, i * 100, 50) for i in range(150000)]
    run = quoted(put('long.xplane.pb', wire.space(wire.plane(
        1, '/device:GPU:0', [wire.line(1, 'Stream #1', line)],
        b''.join(wire.event_metadata(i + 1, 'kernel_%d_%s' % (i, 'x' * 60)) for i in range(50))))))
    for table in ('idle_gaps', 'gaps'):
        sql = 'SELECT count(*), sum(start_ps), max(length(source)) FROM %s(%s);' % (table, run)
        want = ask(sql, '')
        must(int(want[0].split(',')[0]) > 100000, '%s is too short: %s' % (table, want[0]))
        for _ in range(2):
            same(ask(sql, path('long_kept')), want, table)


@case
def an_error_comes_after_the_rows_before_it():
    attach = ', '.join('prof_attach(%s)' % quoted(os.path.join(DATA, name)) for name in RUNS[:2])
    sql = 'SELECT %s; SELECT "Operation" FROM tf_stats;' % attach
    want = ask(sql, '')
    must(want[0].count('\n') > 10 and 'give one of them' in want[2], want)
    for _ in range(2):
        same(ask(sql, path('error_kept'))[::2], want[::2])


@case
def a_damaged_answer_is_not_used():
    folder = path('damaged_kept')
    run = one_host('x/damaged_kept.xplane.pb', 3)
    sql = 'SELECT name, event_count FROM event_metadata(%s);' % quoted(run)
    want = ask(sql, folder)
    file, = [name for name in answers(folder)]
    whole = open(file, 'rb').read()
    kinds = [whole[:n] for n in range(0, len(whole), 37)] + [whole + b'x', b'']
    kinds += [whole[:n] + bytes((whole[n] ^ 1 << n % 8,)) + whole[n + 1:]
              for n in range(0, len(whole), 29)]
    for data in kinds:
        put(file, data)
        same(ask(sql, folder), want, '%d bytes' % len(data))
    same(ask(sql, folder)[:2], (want[0], False))


@case
def an_answer_of_another_key_is_not_used():
    """Not even under the name that this key gives."""
    folder = path('renamed_kept')
    for name, n_events in (('one', 3), ('two', 4)):
        run = one_host('x/%s.xplane.pb' % name, n_events)
        ask(COUNT % quoted(run), folder)
    one, two = answers(folder)
    shutil.copy(two, one)
    for name, n_events in (('one', 3), ('two', 4)):
        same(ask(COUNT % quoted(path('x/%s.xplane.pb' % name)), folder)[0], '%d\n' % n_events)


@case
def an_answer_of_another_user_is_not_used():
    if os.geteuid():
        raise Skip('only root can give a file to another user')
    folder = path('foreign_kept')
    run = one_host('x/foreign.xplane.pb', 3)
    ask(COUNT % quoted(run), folder)
    file, = answers(folder)
    os.chown(file, 65534, 65534)
    same(ask(COUNT % quoted(run), folder)[:2], ('3\n', True))


@case
def another_build_reads_the_run():
    folder, library = path('builds'), path('another_build.so')
    shutil.copy(PROFSQL + '.so', library)
    run = one_host('x/builds.xplane.pb', 3)
    ask(COUNT % quoted(run), folder)
    same(ask(COUNT % quoted(run), folder, library[:-3] + ' sqlite3_profsql_init')[:2],
         ('3\n', True))


@case
def a_damaged_run_is_read_each_time():
    whole = open(one_host('x/whole.xplane.pb', 300), 'rb').read()
    run = put('x/cut.xplane.pb', whole[:-700])
    for _ in range(2):
        out, reads, err = ask(COUNT % quoted(run), path('cut_kept'), PROFSQL_WARNINGS='1')
        must(reads and 'parts of it are damaged' in err, err)


@case
def an_empty_answer_says_why_each_time():
    run = quoted(one_host('x/no_steps.xplane.pb', 3))
    sql = ("SELECT * FROM steps(%s); SELECT count(*) FROM prof_issues(%s) "
           "WHERE code = 'nothing_to_show';" % (run, run))
    for _ in range(2):
        same(ask(sql, path('empty_kept'))[0], '1\n')


@case
def reasons_are_those_of_the_process():
    run, folder = quoted(one_host('x/reasons.xplane.pb', 3)), path('reasons_kept')
    count = "SELECT count(*) FROM prof_issues(%s) WHERE code = 'nothing_to_show';" % run
    same(ask(count, folder)[:2], ('0\n', True))
    same(ask('SELECT * FROM steps(%s); SELECT * FROM devices(%s);' % (run, run) + count,
             folder)[0], '2\n')
    same(ask(count, folder)[:2], ('0\n', False))


@case
def reasons_of_a_path_show_under_its_label():
    run, folder = quoted(one_host('x/label.xplane.pb', 3)), path('label_kept')
    sql = ("SELECT * FROM kernel_stats(%s); SELECT prof_attach(%s, 'b'); SELECT count(*) FROM "
           "prof_issues WHERE code = 'nothing_to_show';" % (run, run))
    want = ask(sql, '')[0]
    must(want.endswith('1\n'), want)
    ask("SELECT prof_attach(%s, 'b'); SELECT count(*) FROM prof_issues;" % run, folder)
    for _ in range(2):
        same(ask(sql, folder)[0], want)


@case
def reasons_last_as_long_as_the_run_is_attached():
    run, folder = quoted(one_host('x/lasting.xplane.pb', 3)), path('lasting_kept')
    attach, empty = "SELECT prof_attach(%s, 'b');" % run, 'SELECT * FROM kernel_stats(%s);' % run
    rest = ("SELECT prof_clear() >= 0; SELECT count(*) FROM prof_issues "
            "WHERE code = 'nothing_to_show';")
    for sql in (attach + empty + rest, empty + attach + rest):
        same(ask(sql, '')[0], "'b'\n1\n1\n")
        for _ in range(2):
            same(ask(sql, folder)[0], "'b'\n1\n1\n", sql)


@case
def an_attached_run_is_read_when_needed():
    run = quoted(one_host('x/attached.xplane.pb', 3))
    folder = path('attached_kept')
    sql = ("SELECT prof_attach(%s, 'a'); SELECT prof_attach(%s, 'b'); "
           "SELECT run, event_count FROM hosts; SELECT event_count FROM hosts('a/attached');"
           % (run, run))
    want = "'a'\n'b'\n'a',3\n'b',3\n3\n"
    same(ask(sql, folder)[:2], (want, True))
    same(ask(sql, folder)[:2], (want, False))
    again = sql + "SELECT count(*) FROM trace_events('b'); SELECT prof_detach('a'), count(*) " \
                  "FROM trace_events; SELECT label FROM (SELECT run AS label FROM hosts);"
    same(ask(again, folder)[:2], (want + "3\n'a',6\n'b'\n", True))


@case
def a_run_that_vanishes_is_an_error():
    run = one_host('x/vanishes.xplane.pb', 3)
    attach = "SELECT prof_attach(%s, 'a');" % quoted(run)
    ask(attach, path('vanish_kept'))
    out, _, err = ask(attach + '\n.shell rm %s\nSELECT count(*) FROM hosts;' % run,
                      path('vanish_kept'))
    same(out, "'a'\n")
    must('no such file' in err, err)


@case
def an_attached_run_can_be_served():
    run = quoted(one_host('x/served.xplane.pb', 3))
    sql = ("SELECT prof_attach(%s, 'a'); SELECT prof_serve() IS NULL; "
           "SELECT path, event_count FROM hosts('a'); SELECT name FROM prof_find;" % run)
    want = ask(sql, '')
    must("'a',3" in want[0], want)
    for _ in range(2):
        same(ask(sql, path('served_kept')), want)


@case
def rows_of_an_or_are_merged():
    """One arm of it asks for all rows, the other for those of a plane."""
    run = quoted(os.path.join(DATA, 'gpu_train_38'))
    sql = ("SELECT count(*), count(DISTINCT line_id) FROM lines(%s) "
           "WHERE plane_id = 1 OR line_id >= 0 OR name GLOB '*';" % run)
    want = ask(sql, '')[0]
    for _ in range(2):
        same(ask(sql, path('or_kept'))[0], want)


@case
def a_join_reads_the_inner_table_by_its_keys():
    run = quoted(os.path.join(DATA, 'gpu_train_38'))
    sql = ("SELECT count(*), sum(l.event_count) FROM planes(%s) AS p JOIN lines(%s) AS l "
           "USING (plane_id); SELECT count(*) FROM lines(%s) AS a, lines(%s) AS b "
           "WHERE a.line_id = b.line_id;" % (run, run, run, run))
    want = ask(sql, '')[0]
    for _ in range(2):
        same(ask(sql, path('join_kept'))[0], want)


@case
def processes_can_share_a_folder():
    run = os.path.join(DATA, 'gpu_train_38')
    names = ['top_ops', 'kpi', 'hosts', 'top_kernels', 'steps', 'advice']
    sql = '\n'.join('SELECT * FROM %s(%s);' % (name, quoted(run)) for name in names)
    want = ask(sql, '')[0]
    children = [start(sql, path('shared_kept')) for _ in range(12)]
    for child in children:
        same(end(child)[0], want)
    same(ask(sql, path('shared_kept'))[:2], (want, False))


@case
def the_folder_has_a_size():
    folder, run = path('size_kept'), quoted(os.path.join(DATA, 'gpu_train_38'))
    sql = '\n'.join('SELECT count(*) FROM top_ops(%s, %d);' % (run, n) for n in range(1, 700))
    mine = put('size_kept/notes.txt', b'x' * 100)
    ask(sql, folder, PROFSQL_CACHE_MIB='1')
    n_bytes = sum(os.stat(name).st_blocks * 512 for name in answers(folder))
    must(1 << 19 < n_bytes < (1 << 20) + 64 * 8192, 'the folder has %d bytes' % n_bytes)
    same(ask('SELECT count(*) FROM top_ops(%s, 699);' % run, folder)[1], False)
    same(ask('SELECT count(*) FROM top_ops(%s, 1);' % run, folder)[1], True)
    must(os.path.exists(mine), 'a file of the user is gone')


@case
def the_file_used_longest_ago_goes_first():
    folder, run = path('use_kept'), quoted(os.path.join(DATA, 'gpu_train_38'))
    count = 'SELECT count(*) FROM top_ops(%s, %d);'
    ask(count % (run, 1), folder)
    ask(count % (run, 2), folder)
    for i, name in enumerate(answers(folder)):
        os.utime(name, (i, i))
    ask(count % (run, 1), folder)
    ask(count % (run, 3), folder, PROFSQL_CACHE_MIB='0')
    same(ask(count % (run, 3), folder)[1], True)


@case
def a_folder_that_cannot_be_written():
    run, folder = one_host('x/readonly.xplane.pb', 3), put('x/no_folder', b'')
    out, _, err = ask(COUNT % quoted(run) * 2, folder)
    same(out, '3\n3\n')
    same(err.count('so answers are not kept'), 1, err)


@case
def a_size_that_is_no_number():
    run = one_host('x/size.xplane.pb', 3)
    out, _, err = ask(COUNT % quoted(run), path('wrong_size'), PROFSQL_CACHE_MIB='1G')
    same(out, '3\n')
    same(err.count("PROFSQL_CACHE_MIB is '1G', which is no number of MiB"), 1, err)


@case
def the_command_needs_no_run():
    """Its screen is made of kept answers."""
    profsql, folder = os.path.join(ROOT, 'build', 'profsql'), path('screen_kept')
    if not os.path.exists(profsql):
        raise Skip('build/profsql is not built')
    run = path('x/screen.xplane.pb')
    os.makedirs(os.path.dirname(run), exist_ok=True)
    shutil.copy(glob.glob(os.path.join(DATA, 'tpu_train_54/plugins/profile/*/*.xplane.pb'))[0], run)
    env = {**os.environ, 'PROFSQL_CACHE': folder, 'PROFSQL_PROGRESS': '1'}
    plain, first, then = (subprocess.run(
        [profsql, run], capture_output=True,
        env={**env, 'PROFSQL_CACHE': folder if nth else ''}) for nth in range(3))
    same(first.stdout, plain.stdout)
    same(then.stdout, plain.stdout)
    must(b'reading' in first.stderr, 'the progress does not tell')
    must(b'reading' not in then.stderr, then.stderr)


@case
def an_attached_path_is_not_a_label():
    """The path of a log dir is also the label of another run."""
    folder, logs = path('path_kept'), path('path_logs')
    other = one_host('x/path.xplane.pb', 3)
    sql = ("SELECT prof_attach(%s, %s) IS NULL; SELECT prof_attach(%s, 'z'); "
           "SELECT event_count FROM hosts('z');" % (quoted(other), quoted(logs), quoted(logs)))
    for n_events in (2, 6):
        one_host('path_logs/plugins/profile/2026_01_0%d/h.xplane.pb' % n_events, n_events)
        want = "0\n'z'\n%d\n" % n_events
        same(ask(sql, folder)[:2], (want, True))
        same(ask(sql, folder)[:2], (want, False))


@case
def a_run_whose_label_is_its_path_is_attached_unread():
    run = quoted(one_host('x/own_label.xplane.pb', 3))
    attach = 'SELECT prof_attach(%s, %s) IS NULL;' % (run, run)
    same(ask(attach, path('own_label_kept'))[:2], ('0\n', True))
    same(ask(attach, path('own_label_kept'))[:2], ('0\n', False))


@case
def json_stays_json():
    run = quoted(os.path.join(DATA, 'tpu_train_54'))
    sql = ('SELECT json_array(child_ids) FROM event_metadata(%s) '
           'WHERE child_ids IS NOT NULL LIMIT 1;' % run)
    want = ask(sql, '')[0]
    must(want.startswith("'[["), want)
    for _ in range(2):
        same(ask(sql, path('json_kept'))[0], want)


@case
def rows_of_several_runs_have_rowids():
    attach = ''.join('SELECT prof_attach(%s);' % quoted(os.path.join(DATA, name))
                     for name in RUNS[:2])
    for table in ('xprof_events', 'planes', 'ops'):
        sql = attach + 'SELECT count(*), count(DISTINCT rowid) FROM %s;' % table
        want = ask(sql, '')[0]
        for _ in range(2):
            same(ask(sql, path('rowids_kept'))[0], want, table)


@case
def a_run_without_rows_says_why_beside_others():
    attach = ''.join('SELECT prof_attach(%s);' % quoted(os.path.join(DATA, name))
                     for name in RUNS[:2])
    sql = attach + ("SELECT count(*) FROM hlo_instructions; SELECT message FROM prof_issues "
                    "WHERE code = 'nothing_to_show';")
    want = ask(sql, '')[0]
    must('hlo_instructions has no rows' in want, want)
    for _ in range(2):
        same(ask(sql, path('beside_kept'))[0], want)


@case
def the_folders_above_are_made():
    run, folder = one_host('x/parents.xplane.pb', 3), path('parents/of/kept')
    same(ask(COUNT % quoted(run), folder), ('3\n', True, ''))
    same(ask(COUNT % quoted(run), folder), ('3\n', False, ''))
    same(os.stat(path('parents')).st_mode & 0o777, 0o700)


@case
def a_limit_on_the_size_of_files():
    """Writing beyond it would end the process."""
    run, limit = one_host('x/limit.xplane.pb', 3), resource.getrlimit(resource.RLIMIT_FSIZE)
    out, _, err = ask(COUNT % quoted(run), path('limit_kept'), preexec_fn=lambda: (
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL),
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, limit[1]))))
    same(out, '3\n')
    must('File too large' in err, err)


@case
def a_process_of_another_container_has_the_same_number():
    """Its file, which is not finished yet, is not touched."""
    run, folder = one_host('x/number.xplane.pb', 3), path('number_kept')
    ask(COUNT % quoted(run), folder)
    file, = answers(folder)
    os.remove(file)

    def make():
        with open(file.replace('.answer', '.%d-0.answer' % os.getpid()), 'wb'):
            pass
    same(ask(COUNT % quoted(run), folder, preexec_fn=make), ('3\n', True, ''))
    same(len(answers(folder)), 2)
