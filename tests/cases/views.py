# SPDX-License-Identifier: Apache-2.0
"""prof_views() and names that the user's tables have too."""
import os

from lib.cases import case, must, same
from lib.shell import DATA, lines, quoted, rows, run, tables, tables_of_a_run

GPU, TPU = (os.path.join(DATA, name) for name in ('gpu_train_38', 'tpu_train_54'))
MAKE = 'CREATE TABLE answer AS SELECT 1; SELECT 1 WHERE prof_views(%s) IS NULL; '


@case
def each_table_answers_as_with_the_source():
    """The temporary table of each table and query has the rows that it has with the source as
    argument."""
    one = [name for name, hidden in tables_of_a_run().items() if hidden == ['source']]
    must(len(one) > 90, '%d tables' % len(one))
    count = 'SELECT %s, count(*) FROM "%s"%s;'
    for source in (GPU, TPU):
        got = lines(MAKE % quoted(source) + ''.join(count % (quoted(name), name, '') for name in one
                                                    if name != 'prof_issues'))
        same(got, lines(''.join(count % (quoted(name), name, '(%s)' % quoted(source))
                                for name in one if name != 'prof_issues')))


@case
def every_table_is_listed():
    """Each name is a temporary table, with the columns that it has without; hidden ones and
    arguments too."""
    names = sorted(tables())
    same(lines(MAKE % quoted(GPU) + 'SELECT name FROM temp.sqlite_schema ORDER BY 1;'), names)
    listed = lines(MAKE % quoted(GPU) + '\n.tables')
    same(sorted(' '.join(listed).replace('temp.', '').split()), sorted(names + ['answer']))
    columns = ("SELECT t.name, x.name, x.type, x.hidden FROM (SELECT DISTINCT table_name AS name "
               "FROM prof_columns) AS t, pragma_table_xinfo(t.name%s) AS x;")
    same(rows(MAKE % quoted(GPU) + columns % ", 'temp'"), rows(columns % ''))
    same(rows(MAKE % quoted(GPU) + "SELECT count(*) > 0 AND count(*) = count(stats) "
              "FROM trace_events;"), [(1,)])


@case
def arguments_still_work():
    """A call with arguments reads these, and prof_views() again replaces the source."""
    make = MAKE % quoted(GPU)
    same(rows(make + 'SELECT occurrences FROM top_kernels(%s, 1);' % quoted(GPU)), [(19,)])
    same(rows(make + 'SELECT DISTINCT run FROM top_ops(%s);' % quoted(TPU)), [('tpu_train_54',)])
    same(rows(make + 'SELECT run, rank FROM top_ops WHERE n = 1;'), [('gpu_train_38', 1)])
    same(rows(make + MAKE.split('; ')[1] % quoted(TPU) + '; SELECT run FROM kpi;'),
         [('tpu_train_54',)])
    same(rows("SELECT 1 WHERE prof_attach(%s, 'it''s') IS NULL; SELECT 1 "
              "WHERE prof_views('it''s') IS NULL; SELECT run FROM kpi;" % quoted(GPU)), [("it's",)])
    attach = ("SELECT 1 WHERE prof_attach(%s, 'g') || prof_attach(%s, "
              "'t') || prof_views() IS NULL; " % (quoted(GPU), quoted(TPU)))
    same(rows(attach + 'SELECT run FROM kpi;'), [('g',), ('t',)])
    same(rows(attach + 'SELECT count(*) > 0 FROM compare_kernels;'), [(1,)],
         'a comparison of the two attached runs')
    must('needs b (second run' in run(attach + "SELECT * FROM compare_kernels('g');").stderr,
         'one of two given')
    same(rows(attach + "SELECT count(*) > 0 FROM (SELECT * FROM compare_kernels EXCEPT SELECT * "
              "FROM compare_kernels('g', 't'));"), [(0,)])


@case
def why_nothing():
    """An empty answer of such a table has its reason where it has it with the argument."""
    reason = ("SELECT message LIKE 'hlo_modules has no rows%%' FROM prof_issues%s "
              "WHERE code = 'nothing_to_show' AND message LIKE 'hlo_modules%%';")
    same(rows(MAKE % quoted(GPU) + 'SELECT count(*) '
              'FROM hlo_modules; '.replace('SELECT', 'CREATE TABLE x AS SELECT') + reason % ''),
         [(1,)])
    same(rows(MAKE % quoted(GPU) + 'CREATE TABLE x AS SELECT count(*) '
              'FROM largest_buffers; ' + "SELECT count(*) FROM prof_issues "
              "WHERE message LIKE 'largest_buffers has no rows%';"), [(1,)])


@case
def names_of_the_user():
    """A table or view of the user keeps its name, and canned queries do not notice it, whatever it
    is called."""
    same(lines("CREATE TABLE steps (a); CREATE TEMP VIEW hosts AS SELECT 1; SELECT prof_views(%s); "
               "SELECT prof_views(%s);" % (quoted(GPU), quoted(GPU))),
         ['%d tables read %s; you have others called hosts, steps' % (len(tables()) - 2, GPU)] * 2)
    asked = [name for name, hidden in tables_of_a_run().items() if hidden == ['source']]
    canned = [name for name, in rows('SELECT name FROM prof_queries') if name in asked
              and name not in ('gpu_samples', 'eager_ops')]
    hide = ''.join('CREATE TEMP VIEW "%s" AS SELECT 1 AS a;' % name for name in tables()
                   if name not in canned)
    call = ''.join('SELECT %s, count(*) FROM "%s"(%s);' % (quoted(name), name, quoted(GPU))
                   for name in canned)
    same(lines(hide + call), lines(call))


@case
def wrong_turns():
    """What cannot be done is refused and leaves no table, and databases keep nothing of it."""
    def refused(sql, words):
        done = run(sql + '\nSELECT count(*) FROM temp.sqlite_schema;')
        must(words in done.stderr and done.stdout.split()[-1:] == ['0'],
             (sql, done.stderr, done.stdout))
    refused("SELECT prof_views('no/such');", 'no such file or folder')
    refused("SELECT prof_views('a' || char(0) || 'b');", 'NUL byte')
    refused('CREATE TABLE x AS SELECT prof_views();', 'in a SELECT of its own')
    refused("CREATE VIRTUAL TABLE x USING \"profsql.kpi\"('/etc/passwd');",
            'makes temporary tables')
    refused('CREATE VIRTUAL TABLE x USING \"profsql.kpi\";', 'makes temporary tables')
    refused("CREATE VIRTUAL TABLE temp.x USING \"profsql.kpi\"('a', 'b');",
            'makes temporary tables')
    refused("SELECT 1 WHERE prof_serve() IS NOT NULL; SELECT prof_views();",
            'this connection serves')
    same(rows('SELECT prof_views(NULL) AS x, (SELECT count(*) FROM temp.sqlite_schema) AS n;'),
         [(None, 0)])
    same(lines("BEGIN; CREATE TABLE u (a); INSERT INTO u VALUES (1); SELECT 1 "
               "WHERE prof_views(%s) IS NULL; INSERT INTO u VALUES (2); COMMIT; SELECT count(*) "
               "FROM u;" % quoted(GPU)), ['2'])
