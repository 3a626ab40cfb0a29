# SPDX-License-Identifier: Apache-2.0
"""Questions to the sqlite3 shell with the extension loaded, and the folder of a test's files.

    PROFSQL=path/to/libprofsql SQLITE3=sqlite3   the extension and the shell
    KEEP=1                                       leaves the folder, and prints its path"""
import atexit
import json
import os
import resource
import shutil
import subprocess
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DATA = os.path.join(ROOT, 'tests', 'data')
PROFSQL = os.path.abspath(os.environ.get('PROFSQL', os.path.join(ROOT, 'build', 'libprofsql')))
os.environ.setdefault('PROFSQL_WARNINGS', '0')  # the line about a damaged file is for people
SQLITE3 = os.environ.get('SQLITE3', 'sqlite3')
SHELL = [SQLITE3, '-batch', '-init', os.devnull, ':memory:']
CPU_SECONDS = 120  # of one shell: only a query that is not linear in its input needs more
DIR = tempfile.mkdtemp(prefix='profsql-tests.')


@atexit.register
def remove_folder():
    if os.environ.get('KEEP'):
        print('# files are in', DIR)
    else:
        shutil.rmtree(DIR, ignore_errors=True)


class Bad(Exception):
    """A case fails: an answer is wrong, or a query is refused."""


def path(name):
    return os.path.join(DIR, name)


def put(name, *data):
    """Writes a file below the test's folder; returns its path."""
    os.makedirs(os.path.dirname(path(name)), exist_ok=True)
    with open(path(name), 'wb') as f:
        for part in data:
            f.write(part)
    return path(name)


def quoted(text):
    """An SQL literal."""
    return "'" + text.replace("'", "''") + "'"


def run(script, *options, folder=None, limited=False):
    """Runs a script with the extension loaded. Returns the process: stdout, stderr, returncode."""
    child = subprocess.Popen(SHELL[:1] + list(options) + SHELL[1:], cwd=folder, text=True,
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if limited:  # before it has a script; a preexec_fn would copy the tables of all our memory
        resource.prlimit(child.pid, resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    out, err = child.communicate('.load %s\n%s\n' % (PROFSQL, script))
    return subprocess.CompletedProcess(child.args, child.returncode, out, err)


def lines(script, *options, **how):
    """Lines that a script prints; an error fails the test."""
    done = run(script, *options, **how)
    if done.returncode or done.stderr:
        raise Bad('%s\n%s' % (script[:2000], done.stderr or 'exit status %d' % done.returncode))
    return done.stdout.splitlines()


def put_source(name, data):
    """Writes an XSpace, or a run folder with an XSpace of each host if it is a list."""
    if os.path.isdir(path(name)):
        shutil.rmtree(path(name))
    if not isinstance(data, list):
        return put(name, data)
    if os.path.exists(path(name)):
        os.remove(path(name))
    folder = os.path.join(name, 'plugins', 'profile', 'run')
    for i, one in enumerate(data):
        put(os.path.join(folder, 'host%d.xplane.pb' % i), one)
    return path(folder)


def answer(sql, sources):
    """The shell's JSON. {name} in the statement is the path of the source of that name."""
    if sources:
        sql = sql.format(**{name: put_source(name, data) for name, data in sources.items()})
    return '\n'.join(lines(sql + ';', '-json', limited=True)) or '[]'


def ask(sql, **sources):
    """Rows as dicts: ask("SELECT name FROM planes('{x}')", x=space(...)), where a source is the
    bytes of an XSpace or a list of them, one for each host."""
    return json.loads(answer(sql, sources))


def rows(sql, data=None, **sources):
    """Rows as tuples; data is the source {x}."""
    if data is not None:
        sources['x'] = data
    return json.loads(answer(sql, sources),
                      object_pairs_hook=lambda pairs: tuple(value for _, value in pairs))


def attached(sql, **sources):
    """Rows of a query over all the sources, attached as runs of their names."""
    attach = ', '.join("prof_attach('{%s}', '%s')" % (name, name) for name in sources)
    return rows("CREATE TABLE attached AS SELECT %s; %s" % (attach, sql), **sources)


def tables():
    """{table: its hidden columns that name a source: source, dir, or a and b}, canned queries
    too."""
    found = {}
    for table, column, hidden in (line.split('|') for line in lines(
            "SELECT table_name, \"column\", type LIKE '%HIDDEN' FROM prof_columns;")):
        found.setdefault(table, [])
        if hidden == '1' and column in ('source', 'dir', 'a', 'b'):
            found[table].append(column)
    return found


def tables_of_a_run(but=()):
    """Those of tables() that show a run, or compare two. The others are documentation, find runs,
    or list programs that are being recorded."""
    return {table: sources for table, sources in tables().items()
            if sources in (['source'], ['a', 'b']) and table not in {'profsql_live', *but}}
