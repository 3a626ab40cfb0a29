# SPDX-License-Identifier: Apache-2.0
"""Which run a source means, and the error for a wrong source."""
import gzip
import os
import shutil
import subprocess
import tarfile
import tempfile
import zipfile

from lib.cases import case, same
from lib.shell import DIR, PROFSQL, ROOT, SQLITE3
from lib.wire import L, V

PROFILE = os.path.join(ROOT,
                       'tests/data/gpu_train_38/plugins/profile/gpu_train_38/gpu-worker.xplane.pb')


def shell(sql, **environment):
    """Rows as texts, and what is printed on standard error."""
    settings = {k: v for k, v in os.environ.items() if k != 'PROFSQL_WARNINGS'}
    done = subprocess.run([SQLITE3, '-batch', '-init', os.devnull, '-cmd', '.load ' + PROFSQL,
                           ':memory:'], input=sql, capture_output=True, text=True,
                          env={**settings, **environment})
    return [line.split('|') for line in done.stdout.splitlines()], done.stderr


def rows(sql):
    got, error = shell(sql)
    same(error, '', sql)
    return got


def error(sql):
    got, text = shell(sql)
    same(got, [], sql)
    return text


def make_run(*parts):
    folder = os.path.join(*parts)
    os.makedirs(folder)
    shutil.copy(PROFILE, os.path.join(folder, 'worker.xplane.pb'))
    return folder


@case
def newest_by_name():
    """The run with the greatest name is taken, whatever the times of the files are."""
    folder = tempfile.mkdtemp(dir=DIR)
    profile = os.path.join(folder, 'logs', 'plugins', 'profile')
    for name in ('2026_11_21_08_44_41', '2026_11_21_08_05_20', '2025_12_31_23_59_59'):
        make_run(profile, name)
    os.utime(os.path.join(profile, '2026_11_21_08_44_41', 'worker.xplane.pb'), (1, 1))
    logs = os.path.join(folder, 'logs')
    same(rows("SELECT DISTINCT run FROM top_ops('%s');" % logs), [['2026_11_21_08_44_41']])
    same(rows("SELECT run, other_runs FROM prof_runs('%s');" % logs),
         [['2026_11_21_08_44_41', '2']])
    told = "SELECT severity, count, message FROM prof_issues%s WHERE code = 'newest_run';"
    found = rows(told % ("('%s')" % logs))
    same(found[0][:2], ['info', '2'])
    same('2026_11_21_08_44_41 is the newest by name of 3 runs' in found[0][2], True, found[0][2])
    same(rows("SELECT prof_attach('%s', 'x');\nSELECT other_runs "
              "FROM prof_runs;\n" % logs + told % ''), [['x'], ['2'], found[0]])
    run = os.path.join(profile, '2026_11_21_08_05_20')
    same(rows("SELECT run, other_runs FROM prof_runs('%s');\n" % run + told % ("('%s')" % run)),
         [['2026_11_21_08_05_20', '0']], 'a run folder is itself')


@case
def newest_of_several_folders():
    """The run with the greatest name in train/ and validation/ is read; of equal names, the one
    with the greater path."""
    folder = tempfile.mkdtemp(dir=DIR)
    for part, name in (('train', '2026_11_21'), ('validation', '2026_11_20'),
                       ('validation', '2026_11_19')):
        make_run(folder, part, 'plugins', 'profile', name)
    same(rows("SELECT run, path LIKE '%%/train/%%', other_runs FROM prof_runs('%s');" % folder),
         [['2026_11_21', '1', '2']])
    make_run(folder, 'validation', 'plugins', 'profile', '2026_11_21')
    same(rows("SELECT run, path LIKE '%%/validation/%%', other_runs "
              "FROM prof_runs('%s');" % folder), [['2026_11_21', '1', '3']])


@case
def files_beside_the_runs_of_a_log_dir():
    """Files in a log dir itself are no newest run, but those in a run folder are the run."""
    folder = tempfile.mkdtemp(dir=DIR)
    logs = os.path.join(folder, 'logs')
    make_run(logs, 'plugins', 'profile', '2026_11_21')
    shutil.copy(PROFILE, os.path.join(logs, 'copied.xplane.pb'))
    for path in (logs, logs + '/', logs + '//', folder + '/./logs'):
        same(rows("SELECT run, other_runs FROM prof_runs('%s');" % path), [['2026_11_21', '1']])
    same(rows("SELECT name FROM prof_find('%s') ORDER BY 1;" % logs), [['2026_11_21'], ['logs']])
    run = make_run(folder, 'run')
    make_run(run, 'zzz', 'plugins', 'profile', 'zzz')
    same(rows("SELECT run, other_runs FROM prof_runs('%s');" % run), [['run', '0']])


@case
def runs_that_are_links():
    """A run that is a link into a log dir is one of its runs; what it leads to may be absent."""
    folder = tempfile.mkdtemp(dir=DIR)
    profile = os.path.join(folder, 'logs', 'plugins', 'profile')
    make_run(profile, 'a')
    os.symlink(make_run(folder, 'elsewhere'), os.path.join(profile, 'b'))
    os.symlink(os.path.join(folder, 'absent'), os.path.join(profile, 'c'))
    logs = os.path.join(folder, 'logs')
    same(sorted(rows("SELECT name, host_count FROM prof_find('%s');" % logs)),
         [['a', '1'], ['b', '1']])
    same(rows("SELECT run, other_runs FROM prof_runs('%s');" % logs), [['b', '1']])
    both = os.path.join(folder, 'both')
    os.makedirs(both)
    os.symlink(logs, os.path.join(both, 'link'))
    same(sorted(rows("SELECT name FROM prof_find('%s');" % both)), [['link/a'], ['link/b']])


@case
def hosts_in_folders_of_their_own():
    """A pattern joins the hosts of runs that it matches. Two profiles of one host are two runs."""
    folder = tempfile.mkdtemp(dir=DIR)
    hosts = os.path.join(ROOT, 'tests/data/hosts_tied/plugins/profile/hosts_tied')
    for i in range(3):
        run = os.path.join(folder, '2026_11_21_08_44_4%d' % i)
        os.makedirs(run)
        shutil.copy(os.path.join(hosts, 'host-0%d.xplane.pb' % i), run)
    slow = "SELECT host, own_ms, z_score FROM stragglers('%s');"
    pattern = os.path.join(folder, '2026_11_21_08_44_*')
    same(rows(slow % pattern), rows(slow % hosts))
    same(rows("SELECT run, path, host_count FROM prof_runs('%s');" % pattern),
         [['2026_11_21_08_44_40', pattern, '3']])
    same(rows("SELECT prof_attach('%s', 'x');\n" % pattern + slow % 'x'),
         [['x']] + rows(slow % hosts), 'attached')
    some = os.path.join(folder, '*[01]', '*.pb')
    same(rows("SELECT host FROM hosts('%s');" % some), [['host-00'], ['host-01']], 'files')
    for name in ('notes.txt', 'm.hlo_proto.pb'):
        with open(os.path.join(run, name), 'w') as file:
            file.write('x')
    inside = rows("SELECT host, event_count > 0 FROM hosts('%s');" % os.path.join(run, '*'))
    same(inside, [['host-02', '1']], 'other files are no hosts')
    notes = error("SELECT * FROM kpi('%s');" % os.path.join(run, '*.txt'))
    same('is neither a folder nor a file named' in notes, True, notes)
    os.remove(os.path.join(run, 'm.hlo_proto.pb'))
    none = os.path.join(folder, '2025*')
    same('no such file or folder' in error("SELECT * FROM kpi('%s');" % none), True)
    shutil.copytree(run, os.path.join(folder, '2026_11_21_08_44_49'))
    twice = error("SELECT * FROM kpi('%s');" % pattern)
    same('matches two profiles of the host host-02' in twice, True, twice)
    literal = os.path.join(folder, 'a[b]')
    shutil.copytree(run, literal)
    same(rows("SELECT run FROM prof_runs('%s');" % literal), [['a[b]']], 'a path of this name')


@case
def no_run_attached():
    """Without a source and an attached run, every table but the list of attached runs is an
    error."""
    tables = [name for name, in rows("SELECT DISTINCT t.name FROM prof_tables AS t "
                                     "JOIN prof_columns AS c ON c.table_name = t.name "
                                     "WHERE c.\"column\" = 'source' UNION "
                                     "SELECT q.name FROM prof_queries AS q JOIN prof_columns AS c "
                                     "ON c.table_name = q.name WHERE c.\"column\" = 'source';")]
    same(len(tables) > 90, True, '%d tables' % len(tables))
    for name in tables:
        if name in ('prof_runs', 'profsql_live', 'gpu_samples'):
            continue
        text = error("SELECT * FROM %s;" % name)
        same('no run is attached' in text and 'prof_attach' in text, True, '%s: %s' % (name, text))
    same(rows('SELECT count(*) FROM prof_runs;'), [['0']])
    same(rows("SELECT prof_attach('%s') AS a;\nSELECT count(*) > 0 FROM top_ops;" % PROFILE),
         [['gpu-worker'], ['1']])


@case
def spaces_without_planes():
    """The texts of an XSpace alone are one that opens. Fields that it does not have are ignored
    next to a plane; without one the file is another message, such as XProf's own results."""
    path = os.path.join(DIR, 'texts.xplane.pb')
    def put(data):
        with open(path, 'wb') as f:
            f.write(data)
        return path
    def issues(data):
        return rows("SELECT code FROM prof_issues('%s') ORDER BY code;" % put(data))
    for field, code in ((2, [['xprof_error']]), (3, [['xprof_warning']]), (4, [])):
        same(issues(L(field, 'text')), [['no_steps']] + sorted(code + [['xprof_steps']]), field)
    other = L(9, 'text') + V(10, 1)
    same(issues(L(1, L(2, '/host:CPU')) + other), [['no_steps'], ['xprof_steps']])
    text = error("SELECT * FROM kpi('%s');" % put(L(4, 'host') + other))
    same('is another protobuf message' in text, True, text)


@case
def wrong_files():
    """The error for a file of another kind names that kind."""
    folder = tempfile.mkdtemp(dir=DIR)
    def put(name, data):
        path = os.path.join(folder, name)
        with open(path, 'wb') as f:
            f.write(data)
        return path
    trace = b' {"displayTimeUnit": "ns", "traceEvents": []}'
    given = {
        put('host.trace.json', trace): 'is JSON, as Chrome traces are',
        put('host.trace.json.gz', gzip.compress(trace)): 'is JSON, as Chrome traces are',
        put('list.json', b'[\n {"ph": "X"}]'): 'is JSON',
        # "\n{" starts a plane of 123 bytes
        put('k.pt.trace.json', b'\n{\n  "schemaVersion": 1,\n  "traceEvents": [\n' + trace * 9):
        'is JSON',
        put('memory_timeline.raw', b'[[1695835535, 3], [4, 5]]'): 'is JSON',
        put('host.overview_page.pb', L(2, L(3, V(1, 0) + b'\x29' + bytes(8)) * 9)): 'is another '
        'protobuf message',
        put('host.input_pipeline.pb', L(2) + L(3) + L(5, b'text')): 'is another protobuf message',
        put('local.trace', L(1, V(1, 0) + L(2, L(1, '/host:CPU') + V(2, 7))) * 2): 'is another '
        'protobuf message',
        put('events.out.tfevents.1.host', b'\x18' + bytes(7) + b'abcd\x1a\x0dbrain.Event:2'): 'is '
        'a summary file of TensorBoard',
        put('r.nsys-rep', b'anything else'): 'is a report of Nsight Systems',
        put('x.zst', b'\x28\xb5\x2f\xfd1234567'): 'is compressed with zstd',
        put('x.xz', b'\xfd7zXZ\0abcdef'): 'is compressed with xz',
        put('x.db', b'SQLite format 3\0' + bytes(100)): 'is an SQLite database',
        put('text.pb', b'neither of these, but a text'): 'is not an XSpace',
    }
    path = os.path.join(folder, 'x.zip')
    with zipfile.ZipFile(path, 'w') as archive:
        archive.write(PROFILE)
    given[path] = 'is a zip archive'
    for name, mode in (('x.tar', 'w'), ('x.tgz', 'w:gz')):
        path = os.path.join(folder, name)
        with tarfile.open(path, mode) as archive:
            archive.add(PROFILE, 'x.xplane.pb')
        given[path] = 'is a tar archive'
    for path, words in given.items():
        text = error("SELECT * FROM kpi('%s');" % path)
        same('%s: %s' % (path, words) in text, True, text)


@case
def wrong_paths():
    """The error says what to type instead of a wrong path."""
    folder = tempfile.mkdtemp(dir=DIR)
    make_run(folder, 'logs', 'plugins', 'profile', 'a')
    for path, words in (('~/logs', 'only a shell expands ~'),
                        ('gs://bucket/logs', 'paths of gs:// are not read'),
                        ('s3://bucket/logs', 'paths of s3:// are not read'),
                        (folder + '/logs/b', "prof_find('%s/logs') lists the runs" % folder),
                        ('no/such', 'no such file or folder')):
        text = error("SELECT * FROM kpi('%s');" % path)
        same(path in text and words in text, True, text)


@case
def damage_is_told():
    """Reading a damaged file prints one line, once; PROFSQL_WARNINGS=0 switches it off. Where no
    event is left, an empty table is an error."""
    folder = tempfile.mkdtemp(dir=DIR)
    with open(PROFILE, 'rb') as f:
        whole = f.read()
    cut = os.path.join(folder, 'cut.xplane.pb')
    with open(cut, 'wb') as f:
        f.write(whole[:len(whole) * 9 // 10])
    twice = ("SELECT count(*) > 0 FROM top_ops('{0}');\n"
             "SELECT count(*) > 0 FROM trace_events('{0}');\n"
             "SELECT count(prof_attach('{0}', x)) FROM (SELECT 'a' AS x UNION SELECT 'b');\n"
             "SELECT max(code = 'truncated') FROM prof_issues('{0}');".format(cut))
    got, text = shell(twice)
    same(got, [['1'], ['1'], ['2'], ['1']])
    same((text.count('\n'), cut in text, "prof_issues('%s')" % cut in text), (1, True, True), text)
    same(shell(twice, PROFSQL_WARNINGS='0'), (got, ''))
    same(shell(twice.replace(cut, PROFILE))[1], '', 'a whole file')
    with open(cut, 'wb') as f:
        # a plane's name and a stat's, of 8 KB
        f.write(b'\x0a\x80\x40\x12\x09/host:CPU' + b'\x2a\x06\x08\x01\x12\x02\x08\x01')
    got, text = shell("SELECT count(*) FROM top_ops('{0}');\n"
                      "SELECT count(*) FROM trace_events('{0}');\nSELECT count(*) > 0 "
                      "FROM prof_issues('{0}');".format(cut), PROFSQL_WARNINGS='0')
    same((got, text.count('damaged or cut off, and what is left has no events'),
          'top_ops would have no rows' in text, 'trace_events would have no rows' in text),
         ([['1']], 2, True, True), text)


@case
def arguments_are_among_the_first_63_columns():
    """SQLite reports for each of these whether a query reads it, and for all others together."""
    tables = ('SELECT name FROM prof_tables UNION SELECT name FROM prof_queries')
    late = ('SELECT t.name, x.name FROM (%s) AS t, pragma_table_xinfo(t.name) AS x '
            'WHERE x.hidden AND x.cid >= 63;' % tables)
    same(rows(late), [])


@case
def arguments_that_need_each_other():
    """A join in which each table's argument comes from the other one has no plan: SQLite refuses
    it, instead of reading a table without its argument."""
    arguments = rows("SELECT table_name, \"column\" FROM prof_columns WHERE type LIKE '%HIDDEN' "
                     "AND \"column\" NOT IN ('stats', 'args', 'fields');")  # these are answers
    got, text = shell(''.join(
        'EXPLAIN SELECT 1 FROM temp.%s AS x JOIN temp.%s AS y ON x."%s" = y."%s";\n'
        % (table, table, column, column) for table, column in arguments))
    same((got, text.count('no query solution')), ([], len(arguments)), text[:300])
