# SPDX-License-Identifier: Apache-2.0
"""What holds for every canned query: it uses the documented defaults, n takes the first rows,
and a run's answer does not depend on what else is attached."""
import json
import os
import re

from lib.cases import case, same
from lib.shell import ROOT, lines, run, tables_of_a_run

RUNS = ['gpu_train_38', 'tpu_train_54', 'multi_host_111', 'jax_train_mlp', 'jax_two_hosts',
        'memory_odd', 'tf_fit_input_bound', 'gpu_dropped_steps', 'megascale_small']
PROGRAMS_ONLY = ['jax_dump_sharded']  # a folder of programs
PAIRS = [('gpu_train_38', 'gpu_dropped_steps'), ('cpu_tf_82', 'tf_calls_two_hosts'),
         ('tf_calls_two_hosts', 'cpu_tf_82'), ('hosts_tied', 'inference_models'),
         ('inference_batches', 'inference_models'), ('jax_recompiles', 'jax_recompiles'),
         ('h100_jax', 'h100_torch'), ('h100_kinds', 'h100_kinds'),
         *zip(RUNS, RUNS[1:] + PROGRAMS_ONLY)]
ALL = 1000000  # more rows than any query has


def shell(script):
    """What the shell prints for a script, as JSON."""
    return '\n'.join(lines(script, '-json', folder=ROOT))


def queries():
    """{name: {parameter: its description}} of those that take a source."""
    found = {}
    for row in json.loads(shell("SELECT q.name, c.\"column\", c.description FROM prof_queries AS q"
                                " JOIN prof_columns AS c ON c.table_name = q.name"
                                " WHERE c.type LIKE '%HIDDEN' ORDER BY q.name, c.origin;")):
        found.setdefault(row['name'], {})[row['column']] = row['description']
    return {name: given for name, given in found.items() if 'source' in given}


def answers(attach, asked):
    """{key: rows} of asked = {key: a FROM term}."""
    attached = ', '.join("prof_attach('tests/data/%s', '%s')" % pair for pair in attach)
    script = 'SELECT %s;\n' % attached
    for key, term in asked.items():
        script += "SELECT '%s' AS answer_of;\nSELECT * FROM %s;\n" % (key, term)
    found, decoder, text, at = {}, json.JSONDecoder(), shell(script), 0
    while at < len(text):
        rows, at = decoder.raw_decode(text, at)
        at += len(text[at:]) - len(text[at:].lstrip())
        if 'answer_of' in rows[0]:
            key = rows[0]['answer_of']
            found[key] = []
        elif found:
            found[key] = rows
    return found


def limited(name, given, n=None):
    """The query over all attached runs, with n rows if n is given and the query takes it."""
    return '%s%s' % (name, ' WHERE n = %d' % n if n and 'n' in given else '')


@case
def documented_defaults():
    """The default that a query's text uses is the one that its head documents."""
    folder, checked = os.path.join(ROOT, 'queries'), 0
    for file in sorted(os.listdir(folder)):
        if not file.endswith('.sql'):
            continue
        with open(os.path.join(folder, file)) as f:
            text = f.read()
        heads = re.findall(r"^-- parameter (\w+).* = (?!NULL)([^:]+):", text, re.M)
        body = re.sub('^--.*$', '', text, flags=re.M)
        for parameter, default in heads:
            used = re.findall(r'coalesce\(:%s, ([^)]+)\)' % parameter, body)
            checked += len(used)
            wrong = [u for u in used if u != default and float(u) != float(default)]
            same(wrong, [], '%s: default of %s, %s' % (file, parameter, default))
            same(len(used) > 0, True, '%s uses %s' % (file, parameter))
    same(checked > 8, True)


@case
def first_rows():
    """n takes the first rows of each run, or of each line; without it, there are all of them."""
    known = {name: given for name, given in queries().items() if 'n' in given}
    same([name for name, given in known.items() if 'of each run' not in given['n']
          and 'of each line' not in given['n']], [])
    several = set()
    for runs in (RUNS[:5], RUNS[4:] + PROGRAMS_ONLY):
        attach = [(profile, profile) for profile in runs]
        asked = {name: limited(name, given) for name, given in known.items()}
        every = answers(attach, asked)
        for n in (1, 2, ALL):
            some = answers(attach, {name: limited(name, given, n) for name, given in known.items()})
            for name, given in known.items():
                places, seen = [], {}
                for row in every[name]:
                    seen[row['run']] = seen.get(row['run'], 0) + 1
                    places.append(row['rank'] if 'of each line' in given['n'] else seen[row['run']])
                want = [row for row, place in zip(every[name], places) if place <= n]
                same(some[name], want, '%s, n = %d' % (name, n))
                several |= {name} if len(every[name]) > len(want) and n < ALL else set()
    same(sorted(set(known) - several), [], 'no run has more than two rows')


def renamed(row, label):
    """The row with the label `one`, also in SQL that it contains (advice.query)."""
    return {c: v.replace("('%s'" % label, "('one'") if isinstance(v, str) else v
            for c, v in {**row, 'run': 'one'}.items()}


@case
def same_run_twice():
    """Two runs of one file under two labels: each has the rows, in the order, that it has alone."""
    known = queries()
    for profile in RUNS + PROGRAMS_ONLY:
        asked = {name: limited(name, given) for name, given in known.items() if name != 'tf_stats'}
        alone = answers([(profile, 'one')], asked)
        both = answers([(profile, 'one'), (profile, 'two')], asked)
        for name in asked:
            for label in ('one', 'two'):
                own = [renamed(row, label) for row in both[name] if row['run'] == label]
                same(own, alone[name], '%s of %s' % (name, profile))


@case
def each_run_alone():
    """Every query names the run of a row. Of two runs each has the rows that it has alone, one run
    after the other."""
    columns = {}
    for row in json.loads(shell("SELECT q.name, c.\"column\" FROM prof_queries AS q "
                                "JOIN prof_columns AS c ON c.table_name = q.name;")):
        columns.setdefault(row['name'], []).append(row['column'])
    nameless = [name for name, of in columns.items() if 'run' not in of
                and not name.startswith('compare_')]
    same(nameless, ['tf_stats'], 'queries without the name of the run')
    refused = run("SELECT prof_attach('%s/tests/data/%s', 'a'), prof_attach('%s/tests/data/%s', "
                  "'b');\nSELECT * FROM tf_stats;\n"
                  % (ROOT, RUNS[0], ROOT, RUNS[1])).stderr
    same('tf_stats: 2 runs are attached; give one of them: a, b' in refused, True, refused)
    known, answered = queries(), set()
    for pair in PAIRS:
        asked = {name: limited(name, given) for name, given in known.items() if name != 'tf_stats'}
        both = answers([(pair[1], 'b'), (pair[0], 'a')], asked)
        alone = [answers([(profile, label)], asked) for profile, label in zip(pair, 'ab')]
        for name in asked:
            same(both[name], alone[0][name] + alone[1][name],
                 '%s of %s' % (name, ' and '.join(pair)))
            answered |= {name} if alone[0][name] and alone[1][name] else set()
    same(sorted(set(known) - answered), ['tf_stats'], 'never both runs have rows')


def of_each(names, path, after=''):
    """{table: the lines of its rows}"""
    script = ''.join(".print = %s\nSELECT * FROM %s('%s');\n%s" % (name, name, path, after)
                     for name in names)
    found = ('\n' + '\n'.join(lines(script, '-quote', folder=ROOT))).split('\n= ')[1:]
    return {name: rows for name, _, rows in (part.partition('\n') for part in found)}


@case
def each_table_alone():
    """A table's answer does not depend on what was asked before, and any table may be the only one
    that was asked when a run is closed. Issues are those that were met until then."""
    names = [name for name, sources in tables_of_a_run(but=['prof_issues', 'prof_runs']).items()
             if sources == ['source']]
    path = 'tests/data/tpu_infer_78'
    alone = of_each(['prof_issues'] + names, path, "SELECT prof_clear() <> 1;\n")
    together = of_each(names[::-1], path)
    for name in names:
        same(alone[name].splitlines()[:-1], together[name].splitlines(), name)


@case
def nothing_is_left():
    """Once a run is closed, the memory that SQLite counts is what it was before: a table that is
    asked again leaves no byte more. What a column allocates counts too."""
    names = [name for name, sources in tables_of_a_run().items() if sources == ['source']]
    for path in ('gpu_train_38', 'cores_odd', 'inference_batches'):
        ask = ".output /dev/null\nSELECT * FROM %%s('tests/data/%s');\n" % path
        ask += ".output stdout\nSELECT prof_clear() = 1;\n.stats\n"
        shown = '\n'.join(lines(''.join(".print = %s\n%s" % (name, 2 * (ask % name))
                                        for name in names), folder=ROOT))
        for part in shown.split('= ')[1:]:
            used = re.findall(r'^Memory Used: +(\d+)', part, re.M)
            same(used, 2 * used[:1], '%s of %s' % (part.split('\n')[0], path))
