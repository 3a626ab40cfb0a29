# SPDX-License-Identifier: Apache-2.0
"""Connections on which SQL opens no path: what they answer, and what no SQL text gets out of
them."""
import json
import os
import shutil
import sqlite3
import subprocess
import tempfile

from lib.cases import case, must, same
from lib.shell import DATA, DIR, PROFSQL, SQLITE3, quoted, tables, tables_of_a_run

GPU = os.path.join(DATA, 'gpu_train_38')
TWO_HOSTS = os.path.join(DATA, 'jax_two_hosts')
PROFILE = os.path.join(GPU, 'plugins/profile/gpu_train_38/gpu-worker.xplane.pb')
NO_RUN = ': no run of this name; this connection serves the runs that its program chose'


def serve(sql, database=':memory:', entry='sqlite3_profsql_nofile_init', **environment):
    """Rows as dicts of each statement, and what is printed on standard error."""
    done = subprocess.run([SQLITE3, '-batch', '-json', '-init', os.devnull, database],
                          capture_output=True, text=True, errors='replace',
                          input='.load %s %s\n%s\n' % (PROFSQL, entry, sql),
                          env={**os.environ, **environment})
    return [json.loads(part + ']') for part in done.stdout.split(']\n') if part], done.stderr


def rows(sql, **how):
    got, error = serve(sql, **how)
    same(error, '', sql)
    return got[-1] if got else []


def refused(sql, **how):
    """The error text of a statement, without the shell's words in front of it."""
    got, error = serve(sql, **how)
    same(got, [], sql)
    return error.split(': ', 1)[1].strip()


def make_root(*names):
    """A folder with runs of these names, as realpath() has it."""
    root = os.path.realpath(tempfile.mkdtemp(dir=DIR))
    for name in names:
        put_run(root, name)
    return root


def put_run(root, name, profile=PROFILE, host='worker'):
    folder = os.path.join(root, os.path.dirname(name), 'plugins', 'profile', os.path.basename(name))
    os.makedirs(folder, exist_ok=True)
    shutil.copy(profile, os.path.join(folder, host + '.xplane.pb'))
    return folder


@case
def runs_of_a_folder():
    """PROFSQL_ROOT: runs have the names that prof_find lists; a host is one more part of the
    name."""
    root = make_root('a', 'train/b', 'validation/b')
    same([(row['path'], row['name'], row['host_count'], row['size_bytes'])
          for row in rows('SELECT * FROM prof_find;', PROFSQL_ROOT=root)],
         [(name, name, 1, os.path.getsize(PROFILE)) for name in ('a', 'train/b', 'validation/b')])
    same(rows("SELECT f.name, h.run, h.host, h.path, h.source_path FROM prof_find AS f, "
              "hosts(f.path) AS h;".replace(', h.source_path', ''), PROFSQL_ROOT=root),
         [{'name': name, 'run': name, 'host': 'worker', 'path': name + '/worker.xplane.pb'}
          for name in ('a', 'train/b', 'validation/b')])
    same(rows("SELECT run, occurrences FROM top_kernels('train/b/worker') "
              "LIMIT 1;", PROFSQL_ROOT=root), [{'run': 'train/b', 'occurrences': 19}])
    same(rows("SELECT run, path FROM prof_runs('train/b/');", PROFSQL_ROOT=root),
         [{'run': 'train/b', 'path': 'train/b'}])
    must('the run has no host x' in refused("SELECT * FROM hosts('train/b/x');", PROFSQL_ROOT=root),
         'a host that is not there')
    must('no run is named and none is attached' in refused('SELECT * FROM kpi;', PROFSQL_ROOT=root),
         'no source')


@case
def runs_of_a_list():
    """PROFSQL_RUNS: they are attached, with labels or under their names; also beside a folder."""
    runs = 'g=%s,%s' % (GPU, TWO_HOSTS)
    name = os.listdir(os.path.join(TWO_HOSTS, 'plugins/profile'))[0]
    same([row['name'] for row in rows('SELECT name FROM prof_find;', PROFSQL_RUNS=runs)],
         ['g', name])
    same(rows('SELECT run, host_count, path FROM prof_runs;', PROFSQL_RUNS=runs),
         [{'run': 'g', 'host_count': 1, 'path': 'g'}, {'run': name, 'host_count': 2, 'path': name}])
    same(rows('SELECT DISTINCT run FROM hosts;', PROFSQL_RUNS=runs), [{'run': 'g'}, {'run': name}])
    root = make_root('g', 'h')
    same([row['name'] for row in rows('SELECT name FROM prof_find;', PROFSQL_RUNS=runs,
                                      PROFSQL_ROOT=root)], ['g', name, 'g (2)', 'h'])
    same([row['run'] for row in rows("SELECT run FROM hosts WHERE source IN ('g', 'g (2)', 'h');",
                                     PROFSQL_RUNS=runs, PROFSQL_ROOT=root)], ['g', 'g (2)', 'h'])
    for setting in ({'PROFSQL_RUNS': 'g=%s,x=/no/such/run' % GPU},
                    {'PROFSQL_ROOT': '/no/such/run'}):
        got, error = serve('SELECT 1 FROM prof_tables;', **setting)
        told, hidden = error.splitlines()[0], error.splitlines()[1]
        must(told.startswith('libprofsql: ' + list(setting)[0]) and '/no/such/run' in told, error)
        must('cannot be read' in hidden and '/no' not in hidden, error)
    for entry in ('=', '=' + GPU, 'g='):
        must("PROFSQL_RUNS: '%s': give label=path" % entry in serve('SELECT 1 FROM prof_tables;',
                                                                    PROFSQL_RUNS=entry)[1], entry)


def plan_lines(sql, **environment):
    done = subprocess.run([SQLITE3, '-batch', '-init', os.devnull, ':memory:'], capture_output=True,
                          text=True, input='.load %s sqlite3_profsql_nofile_init\n'
                          '%s\n' % (PROFSQL, sql), env={**os.environ, **environment})
    same(done.stderr, '', sql)
    return done.stdout


PROBES = ['/etc/passwd', '/etc/no-such-file', PROFILE, PROFILE + 'x', GPU, '{root}', '{root}/a',
          '{root}/x', '{root}/plugins/profile/a/worker.xplane.pb', 'a/../a', './a', '../a', 'a/.',
          'a/worker.xplane.pb', 'plugins/profile/a', '', '/', '.', '..', '~', 'file://' + PROFILE,
          'gs://a', '/proc/self/environ', '/dev/zero', 'A', 'a\\', "a' --", '%', 'passwd',
          'etc/passwd', 'x' * 5000]


@case
def no_path_is_opened():
    """No source of any table or function is used as a path: the answer is the same whether it
    exists or not."""
    root = make_root('a')
    os.symlink('/etc', os.path.join(root, 'etc'))
    taking = {table: hidden for table, hidden in tables().items() if hidden}
    must(len(taking) > 100, 'tables: %d' % len(taking))
    for table, hidden in taking.items():
        where = [' AND '.join('"%s" = %s' % (column, quoted(text.format(root=root))
                                             if column == tried else "'a'") for column in hidden)
                 for tried in hidden for text in PROBES]
        got, error = serve('\n'.join('SELECT 1 FROM "%s" WHERE %s;' % (table, w) for w in where),
                           PROFSQL_ROOT=root)
        texts = [line.split(': ', 1)[1] for line in error.splitlines() if ': ' in line]
        same((got, len(texts)), ([], len(where)), table)
        for text, probe in zip(texts, PROBES * len(hidden)):
            asked = probe.format(root=root)
            if table in ('prof_find', 'profsql_live'):
                same(text.startswith(table + ': this connection serves'), True, text)
            elif asked in ('a/.', 'a/worker.xplane.pb'):
                same(text.startswith('a: the run has no host ' + asked[2:]), True, text)
            else:
                same(text[:len(asked) + len(NO_RUN)], (asked + NO_RUN)[:len(text)], table)
    for call in ('prof_attach(%s)', "prof_attach(%s, 'x')", 'prof_attach_by_host(%s)',
                 "prof_attach_by_host(%s, 'x')", 'prof_serve(%s)', 'prof_detach(%s)',
                 'peak_flops(%s)'):
        texts = {refused('SELECT %s;' % (call % quoted(probe)), PROFSQL_ROOT=root).replace(probe,
                                                                                           '')
                 for probe in ('/etc/passwd', '/etc/no-such-file', PROFILE, root)}
        same(len(texts), 1, (call, texts))
    same(rows('SELECT count(*) AS n FROM prof_runs;', PROFSQL_ROOT=root), [{'n': 0}])


@case
def sql_changes_nothing():
    """A pooled connection answers its next user the same: SQL attaches, detaches and closes no
    run."""
    for call in ("prof_attach('%s')" % GPU, "prof_detach('g')", 'prof_clear()', "prof_serve('/')"):
        text = refused('SELECT %s;' % call, PROFSQL_RUNS='g=' + GPU)
        must('this connection serves the runs' in text, text)
        same(rows('SELECT run FROM prof_runs;', PROFSQL_RUNS='g=' + GPU), [{'run': 'g'}])
    same(rows('SELECT prof_serve() AS x; SELECT run FROM prof_runs;', PROFSQL_RUNS='g=' + GPU),
         [{'run': 'g'}])


@case
def plans_do_not_tell():
    """A plan is the same for the path of an open run and for a path that does not exist."""
    root = make_root('a')
    plan = (".mode list\nSELECT count(*) FROM trace_events('a');\nEXPLAIN QUERY PLAN SELECT * "
            "FROM hosts AS h, planes(%s) AS p WHERE p.host = h.host AND h.source = 'a';")
    folder = os.path.join(root, 'plugins/profile/a')
    same(*[plan_lines(plan % quoted(path), PROFSQL_ROOT=root) for path in (folder, folder + 'x')])


@case
def links_that_lead_out():
    """Links that lead out of a served folder are treated as absent: folders, runs, files,
    programs."""
    root, outside = make_root('a'), make_root('secret')
    run = os.path.join(outside, 'plugins', 'profile', 'secret')
    os.symlink(outside, os.path.join(root, 'out'))
    os.symlink(run, os.path.join(root, 'plugins', 'profile', 'b'))
    os.makedirs(os.path.join(root, 'c'))
    os.symlink('/etc/passwd', os.path.join(root, 'c', 'x.xplane.pb'))
    os.symlink(os.path.join(run, 'worker.xplane.pb'),
               os.path.join(root, 'plugins', 'profile', 'a', 'other.xplane.pb'))
    os.symlink('/etc/passwd', os.path.join(root, 'plugins', 'profile', 'a', 'p.hlo_proto.pb'))
    os.symlink(os.path.join(run, 'absent'),
               os.path.join(root, 'plugins', 'profile', 'a', 'absent.xplane.pb'))
    os.symlink('plugins', os.path.join(root, 'inside'))
    same([row['name'] for row in rows('SELECT name FROM prof_find;', PROFSQL_ROOT=root)], ['a'])
    same(rows("SELECT host FROM hosts('a');", PROFSQL_ROOT=root), [{'host': 'worker'}])
    same(rows("SELECT count(*) AS n FROM prof_issues('a') WHERE message LIKE '%passwd%' "
              "OR message LIKE '%p.hlo%';", PROFSQL_ROOT=root), [{'n': 0}])
    for name in ('b', 'out', 'c', 'out/secret', 'secret', 'a/other'):
        text = refused("SELECT * FROM hosts('%s');" % name, PROFSQL_ROOT=root)
        must(NO_RUN in text or 'has no host' in text, text)
    link = os.path.join(DIR, 'link')
    os.symlink(root, link)
    same([row['name'] for row in rows('SELECT name FROM prof_find;', PROFSQL_ROOT=link)], ['a'],
         'the folder itself may be a link')
    same(rows("SELECT host FROM hosts('a');", PROFSQL_ROOT=link), [{'host': 'worker'}])


@case
def files_that_are_no_profile():
    """SQL learns nothing about a file in the folder that is named like a profile but is not one;
    the program's log has the reason."""
    root = make_root('a')
    folder = put_run(root, 'bad', '/etc/passwd')
    for data in (b'root:x:0:0', b'{"traceEvents": []}', b'PK\3\4', b''):
        with open(os.path.join(folder, 'worker.xplane.pb'), 'wb') as f:
            f.write(data)
        got, error = serve("SELECT * FROM kpi('bad');", PROFSQL_ROOT=root)
        log, told = error.splitlines()
        same(log.startswith('libprofsql: bad: ' + folder), True, log)
        same(told.split(': ', 1)[1], 'bad: cannot be read; '
             'the program that serves it has the reason on its standard error', data)
    shutil.copy('/etc/passwd', os.path.join(root, 'plugins/profile/a/bad.xplane.pb'))
    same([(row['offset'], row['message'])
          for row in rows("SELECT byte_offset AS \"offset\", message FROM prof_issues('a') "
                          "WHERE host = 'bad' AND code <> 'nothing_to_show';", PROFSQL_ROOT=root)],
         [(None, 'the file cannot be read as a profile')])
    same(rows("SELECT damage FROM hosts('a') WHERE host = 'bad';", PROFSQL_ROOT=root),
         [{'damage': 'the file cannot be read as a profile'}])


@case
def no_answer_has_a_path():
    """No cell of any table shows where the folder is, even if files are damaged or gone."""
    root = make_root('a', 'b')
    put_run(root, 'a', os.path.join(TWO_HOSTS, 'plugins/profile',
                                    os.listdir(TWO_HOSTS + '/plugins/profile')[0],
                                    'worker-0.ml.example.com.xplane.pb'), 'jax')
    shutil.copy('/etc/passwd', os.path.join(root, 'plugins/profile/a/bad.xplane.pb'))
    with open(os.path.join(root, 'plugins/profile/a/cut.xplane.pb'),
              'wb') as cut, open(PROFILE, 'rb') as whole:
        cut.write(whole.read()[:20000])
    sql = ''.join('SELECT * FROM "%s" WHERE %s;\n' % (table, ' AND '.join(
        '"%s" = %s' % (column, quoted(name)) for column, name in zip(hidden, 'ab')))
                  for table, hidden in sorted(tables_of_a_run().items())
                  + [('prof_issues', ['source'])])
    for label in ('a', 'b'):
        got, error = serve(sql.replace("'a'", quoted(label)), PROFSQL_ROOT=root)
        must(len(got) > 50, 'answers: %d' % len(got))
        text = json.dumps(got) + error
        at = text.find(root)
        same(at, -1, text[max(at - 200, 0):at + 200])
    got, error = serve("SELECT count(*) FROM hosts('a');\n.shell rm -r '%s/plugins/profile/a'\n"
                       "SELECT * FROM kpi('a');\nSELECT name FROM prof_find;\n"
                       "SELECT * FROM kpi('a');" % root, PROFSQL_ROOT=root)
    same(got[1:], [[{'name': 'b'}]])
    told = [line for line in error.splitlines() if not line.startswith('libprofsql: ')]
    same((len(told), 'cannot be read' in told[0], NO_RUN in told[1], root in ''.join(told)),
         (2, True, True, False), error)


@case
def names_that_are_odd():
    """Names of folders with quotes, newlines, blanks and bytes that are no text can be asked by the
    names that are listed."""
    names = ['a b', "it's", 'x=y,z', 'new\nline', '%s%n', 'worker', 'é',
             b'\xff'.decode('utf8', 'surrogateescape'), 'plugins']
    root = make_root(*names)
    put_run(root, 'deep/plugins')
    os.makedirs(os.path.join(root, 'deep2', 'r'))
    shutil.copy(PROFILE, os.path.join(root, 'deep2', 'r', 'w.xplane.pb'))
    put_run(root, 'deep2/r')
    got = rows('SELECT f.name, h.run FROM prof_find AS f, hosts(f.path) AS h;', PROFSQL_ROOT=root)
    same(len(got), len(names) + 3)
    same([row['name'] for row in got], [row['run'] for row in got])
    same(len({row['name'] for row in got}), len(got), 'labels are different')
    must({'\ufffd', 'deep2/r', 'deep2/r (2)', 'new\nline'} <= {row['name'] for row in got}, got)


@case
def runs_that_come_later():
    """A run that is recorded while a connection is open can be asked on it."""
    root, later = make_root('a'), make_root('b')
    got, error = serve("SELECT count(*) AS n FROM hosts('a');\n.shell cp -r '%s/plugins/profile/b' "
                       "'%s/plugins/profile/'\nSELECT count(*) AS n FROM hosts('b');\n"
                       "SELECT count(*) AS n FROM prof_find;" % (later, root), PROFSQL_ROOT=root)
    same((got, error), ([[{'n': 1}], [{'n': 1}], [{'n': 2}]], ''))


@case
def both_entries():
    """Whichever entry point comes first, the serving one restricts the connection, and the other
    does not undo it."""
    load = "SELECT load_extension('%s', '%s') AS x;\n"
    for first, second in (('sqlite3_profsql_init', 'sqlite3_profsql_nofile_init'),
                          ('sqlite3_profsql_nofile_init', 'sqlite3_profsql_init')):
        got, error = serve(load % (PROFSQL, second) + "SELECT * FROM kpi('%s');" % GPU, entry=first)
        same((got, NO_RUN in error), ([[{'x': None}]], True), error)


@case
def prof_serve_restricts():
    """In any host program: attach, then serve. Runs opened by path before are gone, and so are
    prepared plans."""
    got, error = serve("SELECT count(*) AS n FROM hosts('%s');\n"
                       "SELECT prof_attach('%s', 'two') AS x, prof_serve() AS y;\n"
                       "SELECT count(*) AS n FROM hosts('two');\nSELECT count(*) AS n FROM hosts;\n"
                       "SELECT * FROM hosts('%s');\nSELECT prof_attach('%s');"
                       % (GPU, TWO_HOSTS, GPU, GPU), entry='sqlite3_profsql_init')
    same(got, [[{'n': 1}], [{'x': 'two', 'y': None}], [{'n': 2}], [{'n': 2}]])
    same((error.count('\n'), NO_RUN in error, 'prof_attach: this connection serves' in error),
         (2, True, True), error)
    root = make_root('a')
    got, error = serve("SELECT prof_serve('%s') AS x;\nSELECT name FROM prof_find;\n"
                       "SELECT prof_serve('/');" % root, entry='sqlite3_profsql_init')
    same((got, 'prof_serve: this connection serves' in error),
         ([[{'x': None}], [{'name': 'a'}]], True), error)
    got, error = serve("SELECT prof_attach('%s', 'one') AS x, prof_attach('%s', 'two') AS y, "
                       "prof_serve('%s') AS z;\nSELECT path, name, host_count AS n FROM prof_find;"
                       % (GPU, TWO_HOSTS, root), entry='sqlite3_profsql_init')
    same((got[1], error), ([{'path': name, 'name': name, 'n': n} for name, n in (
        ('one', 1), ('two', 2), ('a', 1))], ''), 'attached ones first')
    text = refused("SELECT prof_serve('%s/x');" % root, entry='sqlite3_profsql_init')
    must('is not a folder' in text, text)
    same(rows("SELECT prof_serve(NULL) AS x; SELECT count(*) AS n FROM hosts('%s');" % GPU,
              entry='sqlite3_profsql_init'), [{'n': 1}], 'NULL has no effect')


@case
def saved_views():
    """Views that a database has saved work on a connection that serves, if the schema is trusted,
    and on no other."""
    database = os.path.join(DIR, 'views.db')
    db = sqlite3.connect(database)
    db.executescript("CREATE VIEW kernels AS SELECT run, occurrences FROM top_kernels "
                     "WHERE rank = 1; CREATE VIEW of_g AS SELECT host FROM hosts('g');"
                     "CREATE VIEW stolen AS SELECT * FROM kpi('%s'); CREATE VIEW attaching AS "
                     "SELECT prof_attach('%s') AS x;"
                     "CREATE TABLE t (a); CREATE TRIGGER inserted AFTER INSERT ON t BEGIN "
                     "SELECT prof_attach('%s'); END; CREATE TRIGGER counted AFTER UPDATE ON t "
                     "BEGIN INSERT INTO t SELECT count(*) FROM hosts('g'); END;"
                     % (GPU, GPU, GPU))
    db.close()
    runs = {'database': database, 'PROFSQL_RUNS': 'g=' + GPU}
    same(rows('SELECT * FROM kernels;', **runs), [{'run': 'g', 'occurrences': 19}])
    same(rows('SELECT * FROM of_g;', **runs), [{'host': 'gpu-worker'}])
    same(rows('SELECT 1 FROM hosts; PRAGMA trusted_schema = 1; SELECT * FROM of_g;', **runs),
         [{'host': 'gpu-worker'}])
    must(NO_RUN in refused('SELECT * FROM stolen;', **runs), 'a path in a view')
    must('unsafe use of prof_attach' in refused('SELECT * FROM attaching;', **runs),
         'prof_attach in a view')
    must('unsafe use of prof_attach' in refused('INSERT INTO t VALUES (1);', **runs),
         'prof_attach in a trigger')
    for table in ('kernels', 'of_g', 'stolen'):
        text = refused('PRAGMA trusted_schema = 0; SELECT * FROM %s;' % table, **runs)
        must('unsafe use of virtual table' in text, text)
        for trusted in '01':
            text = refused('PRAGMA trusted_schema = %s; SELECT * FROM %s;' % (trusted, table),
                           database=database, entry='sqlite3_profsql_init')
            must('unsafe use of virtual table' in text, text)
    same(rows("SELECT count(*) FROM top_kernels('%s'); SELECT prof_attach('%s', 'g') AS x, "
              "prof_serve(); SELECT * FROM kernels;" % (GPU, GPU), database=database,
              entry='sqlite3_profsql_init'),
         [{'run': 'g', 'occurrences': 19}], 'a table that was in use before')
    text = refused('SELECT * FROM kernels;', database=database)
    must('none is attached' in text, text)
