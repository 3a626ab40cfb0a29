# SPDX-License-Identifier: Apache-2.0
"""prof_help(): what it finds for a word, and in which order. Examples of tables and queries."""
import collections
import os
import re

from lib.cases import case, must, same
from lib.shell import DATA, quoted, rows, run

# Runs that are attached: the first, or both for comparisons. Some tables have rows only for runs of
# one kind.
EXAMPLE_RUNS = [('tf_fit_input_bound', 'tf_fit_prefetched'), ('gpu_train_38', 'gpu_train_latency'),
                ('tpu_train_54', 'jax_train_mlp'), ('inference_batches', 'inference_320'),
                ('megascale_small', 'perf_counters_large'), ('tf_xla_jit', 'memory_odd'),
                ('cpu_tf_82',), ('jax_recompiles',), ('perf_counters_large',),
                ('h100_jax',), ('h100_kinds',)]


def found(word, columns='kind, name'):
    return rows('SELECT %s FROM prof_help(%s) '
                'ORDER BY rank;' % (columns, word if word == 'NULL' else quoted(word)))


def synonyms():
    return [(words.split(', '), targets.split(', ')) for words, targets in rows(
        "SELECT name, description FROM prof_help WHERE kind = 'synonym';")]


@case
def every_name_is_found_first():
    """The name of each table, query and function is its own best match, whatever the case of its
    letters, with - or a blank for _."""
    names = rows("SELECT 'table', name FROM prof_tables UNION ALL SELECT 'query', name "
                 "FROM prof_queries UNION ALL SELECT DISTINCT 'function', name "
                 "FROM prof_functions;")
    must(len(names) > 120, len(names))
    for changed in (str, str.upper, lambda name: name.replace('_', '-'),
                    lambda name: ' %s? ' % name.replace('_', ' ')):
        asked = ' UNION ALL '.join('SELECT * FROM (SELECT kind, name, matched, rank '
                                   'FROM prof_help(%s) ORDER BY rank '
                                   'LIMIT 1)' % quoted(changed(name)) for _, name in names[::5])
        same(rows(asked + ';'), [(kind, name, 'name', 1) for kind, name in names[::5]])


@case
def every_column_is_found():
    """The name of a column finds it in each table that has it."""
    for column in ('self_ps', 'wait_ps', 'GPU TensorCore utilization', 'hlo_op'):
        got = rows("SELECT table_name, name FROM prof_help(%s) WHERE kind = 'column' "
                   "AND matched = 'name';" % quoted(column))
        same(sorted(got), sorted(rows('SELECT table_name, "column" FROM prof_columns '
                                      'WHERE "column" = %s;' % quoted(column))))
        must(got, column)


@case
def synonyms_lead_to_what_there_is():
    """Each target exists, once in its list; each word is in one list, and finds the targets in the
    list's order."""
    there = {name for name, in rows('SELECT name FROM prof_tables UNION SELECT name '
                                    'FROM prof_queries UNION SELECT name FROM prof_functions UNION '
                                    'SELECT table_name || \'.\' || "column" FROM prof_columns;')}
    lists = synonyms()
    must(len(lists) > 30, len(lists))
    counts = collections.Counter(word.lower() for words, _ in lists for word in words)
    same([word for word, n in counts.items() if n > 1], [])
    for words, targets in lists:
        same(sorted(set(targets) - there), [], words)
        same(len(set(targets)), len(targets), words)
        for word in words:
            got = rows("SELECT iif(table_name IS NULL, '', table_name || '.') || name, matched "
                       "FROM prof_help(%s) WHERE matched IN ('name', 'part of the name', "
                       "'synonym') ORDER BY rank;" % quoted(word))
            by_synonym = [name for name, matched in got if matched == 'synonym']
            same(by_synonym, [t for t in targets if t in by_synonym], word)
            same(sorted(set(targets) - {name for name, _ in got}), [], word)


@case
def words_that_people_search_for():
    """The first results for words that are in no name."""
    for word, first in (('MFU', 'mfu'), ('hfu', 'mfu'), ('OOM', 'peak_holders'),
                        ('bubble', 'idle_gaps'),
                        ('nccl', 'collectives'), ('AllReduce', 'collectives'),
                        ('all reduce', 'collectives'), ('straggler', 'stragglers'),
                        ('retracing', 'tf_functions'), ('recompile', 'recompilations'),
                        ('layer', 'time_by_scope'), ('my code', 'time_by_source_line'),
                        ('h2d', 'device_time'),
                        ('tf.data', 'tf_data_pipelines'), ('idle', 'idle_causes'),
                        ('bottleneck', 'host_bound')):
        same(found(word, 'name')[0], (first,), word)


@case
def order_of_matches():
    """Names before parts of names, synonyms, columns and descriptions; the rank counts from 1."""
    places = ['name', 'part of the name', 'synonym', 'column name', 'column', 'description',
              'column description']
    for word in ('padding', 'steps', 'idle', 'kernel', 'memory', 'roofline'):
        got = found(word, 'rank, kind, matched')
        same([rank for rank, _, _ in got], list(range(1, len(got) + 1)), word)
        kinds = [matched if kind != 'column' or matched == 'synonym'
                 else {'name': 'column name', 'description': 'column '
                       'description'}.get(matched, 'column') for _, kind, matched in got]
        same([places.index(kind) for kind in kinds], sorted(places.index(kind) for kind in kinds),
             word)
        must(len(set(kinds)) > 2, kinds)


@case
def descriptions_are_searched_by_word():
    """A word matches words of a description that start with it, not the middle of a word; each
    match is listed."""
    for word in ('preorder', 'reorder', 'quantile', 'slices', 'op'):
        texts = rows("SELECT description FROM prof_help(%s) "
                     "WHERE matched = 'description';" % quoted(word))
        must(all(re.search(r'(?i)(?<![a-z0-9])' + word, text) for text, in texts), texts)
    same(found('preorder', 'kind, name, matched'),
         [('table', 'op_profile', 'description'), ('column', 'node_id', 'description')])
    must(('column', 'node_id') not in found('reorder', 'kind, name'), found('reorder'))


@case
def several_words():
    """Results that match most of the words come first. All words in one name rank higher than in
    several texts."""
    for name, description in rows("SELECT name, description FROM prof_help('kernel latency') "
                                  "WHERE kind <> 'column';"):
        must(re.search('kernel', name + description, re.I), name)
    same(found('time step')[0], ('query', 'step_time_graph'))
    same(found('step time')[0], ('query', 'step_time_graph'))
    same(found('collectives xyzzyq'), found('collectives'))
    must(('query', 'slowest_steps') in found('step, slowest?'), found('step, slowest?'))


@case
def misspelt_words():
    """A word that matches nothing finds similar names and synonyms, and shows which."""
    for word, name, like in (('top_krnels', 'top_kernels', 'top_kernels'),
                             ('colectives', 'collectives', 'collectives'),
                             ('retracign', 'tf_functions', 'retracing'),
                             ('stragler', 'stragglers', 'straggler'),
                             ('pading_wast', 'padding_waste', 'padding_waste'),
                             ('bubbel', 'idle_gaps', 'bubble'), ('medain', 'median', 'median')):
        got = found(word, 'name, matched')
        must((name, 'similar to ' + like) in got[:4], '%s: %s' % (word, got[:5]))
        must(all(matched.startswith('similar to ') for _, matched in got), got)


@case
def without_a_match():
    """One row reports that nothing matches. Without a word, everything except columns is listed.
    There is always a row."""
    text = 'no name, description or synonym matches the word; SELECT * FROM prof_help lists all'
    for word in ('xyzzyq', 'qqqqqq wwwwww', '\U0001d11e'):
        same(found(word, 'rank, kind, name, table_name, description, matched'),
             [(1, 'nothing', word, None, text, None)])
    counts = [(kind, n) for kind, n in rows("SELECT kind, count(*) FROM prof_help GROUP BY 1 "
                                            "ORDER BY 1;") if kind != 'synonym']
    same(counts, rows("SELECT 'function', count(DISTINCT name) FROM prof_functions UNION ALL "
                      "SELECT 'query', count(*) FROM prof_queries UNION ALL "
                      "SELECT 'table', count(*) FROM prof_tables;"))
    for word in ('NULL', '', '  ', '?'):
        same(found(word), rows('SELECT kind, name FROM prof_help ORDER BY rank;'), word)
    for word in ('%', '_', "'", 'a' * 200, '"; DROP', '-', '.'):
        must(found(word), word)
    must('longer than 200 bytes' in run("SELECT * FROM prof_help('%s');" % ('a' * 201)).stderr,
         'too long')


def tried(examples):
    """{name: [numbers of rows of its example on kept runs until there are some; None for an
    error]}"""
    answers = collections.defaultdict(list)
    for folders in EXAMPLE_RUNS:
        left = {name: sql for name, sql in examples.items() if not any(answers[name])}
        for two in (False, True):
            attach = "SELECT 1 WHERE prof_attach(%s, '%s') IS NULL;\n"
            script = ''.join(attach % (quoted(os.path.join(DATA, folder)), folder)
                             for folder in folders[:1 + two])
            def here(sql):
                for word, name in (("'logs'", DATA), ("'before*'", folders[0]),
                                   ("'after*'", folders[-1])):
                    sql = sql.replace(word, quoted(name))
                return sql
            script += ''.join(".print == %s\nSELECT count(*) FROM (%s);\n" % (name, here(sql))
                              for name, sql in left.items() if name.startswith('compare_') == two)
            for part in run(script).stdout.split('== ')[1:]:
                name, count = part.split('\n')[:2]
                answers[name].append(int(count) if count else None)
    return answers


@case
def every_example_runs():
    """The example of each table and query runs without an error on attached runs, and has rows for
    one of them. Those of profsql_live, prof_capture and prof_monitor need a program that is
    running: tests/capture and tests/remote ask them."""
    examples = dict(rows("SELECT name, example FROM prof_tables WHERE name NOT IN "
                         "('profsql_live', 'prof_capture', 'prof_monitor') "
                         "UNION ALL SELECT name, example FROM prof_queries;"))
    must(len(examples) > 110 and len(set(examples.values())) == len(examples), len(examples))
    for name, sql in examples.items():
        must(re.search(r'\bFROM %s\b' % name, sql), '%s: %s' % (name, sql))
    answers = tried(examples)
    same({name: sql for name, sql in examples.items() if None in answers[name]
          or not any(answers[name])}, {})


@case
def every_example_of_a_function_runs():
    """The example of each function calls it and has a result that is not NULL, apart from those
    that return NULL or end a query."""
    functions = rows("SELECT signature, name, since, example FROM prof_functions;")
    must(len(functions) > 25 and len({f[3] for f in functions}) == len(functions), functions)
    for signature, name, since, example in functions:
        here = quoted(os.path.join(DATA, {'roofline_chart': 'tpu_train_54', 'memory_chart':
                                          'tf_fit_input_bound'}.get(name, 'gpu_train_38')))
        must(re.fullmatch(r'\d+\.\d+\.\d+', since) and name + '(' in example, signature)
        done = run("SELECT 1 WHERE prof_attach(%s, 'before') IS NULL;\n.nullvalue nothing\n%s;"
                   % (here, example.replace("'logs'", here)))
        same(done.stderr, '', signature)
        last = (done.stdout.splitlines() or ['nothing'])[-1].split('|')[-1]
        same(last == 'nothing', name in ('prof_error', 'prof_serve'), signature)


@case
def a_broken_example_is_found():
    """The case above can fail: an unknown column and an answer without rows are detected."""
    answers = tried({'steps': 'SELECT no_such FROM steps', 'kpi': 'SELECT * FROM kpi WHERE 0'})
    same((set(answers['steps']), set(answers['kpi'])), ({None}, {0}))


@case
def versions():
    """Each table and query has the first version that has it, which is not a future one."""
    def number(version):
        must(re.fullmatch(r'\d+\.\d+\.\d+', version), version)
        return tuple(map(int, version.split('.')))
    newest = number(rows('SELECT prof_version();')[0][0])
    since = rows('SELECT name, since FROM prof_tables UNION ALL SELECT name, since '
                 'FROM prof_queries;')
    same([(name, version) for name, version in since if number(version) > newest], [])
