#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every table and canned query, and every column of them, has a second source: XProf, the reading
of the same file by another reader, or a witness. Lists those that have none.

A witness covers the tables that its document names and its code asks for, and the columns that it
was seen to compare (origins.py) and in which it noticed a wrong cell (falsified.py), for which
tests/witness/run runs this program last. Columns
without a second source are those of not_witnessed.py, which can only become fewer. That this
program fails when a witness, a column, an entry or a reason goes is tried on copies of the
tests."""
import collections
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
                                'parity'))
import rows as reader  # noqa: E402
import tools  # noqa: E402
from compare import PROFSQL, ROOT, agree, ask, counts, finish, tried  # noqa: E402
from not_witnessed import NOT_WITNESSED  # noqa: E402

# Tables without a second source, each with the reason.
EXCEPTIONS = {
    'events': 'trace_events under a shorter name: tests/sql',
    'hlo_text': 'compared with the text that XLA prints: tests/parity/hlo_text.py',
    'timeline': 'compared with a second computation: tests/parity/timeline.py',
    'overview_page': 'the rows of overview, top_device_ops and recommendations, '
    'which are compared with XProf, in one list',
    'profsql_live': 'lists live profilers, no profile', 'prof_tables': 'documentation',
    'prof_columns': 'documentation', 'prof_queries': 'documentation',
    'prof_functions': 'documentation', 'prof_help': 'searches the documentation',
    'prof_differences': 'documentation', 'prof_find': 'searches folders',
    'prof_runs': 'lists what is attached: tests/sql',
    'prof_capture': 'what a server in a running program sends: tests/remote',
    'prof_monitor': 'a service\'s own numbers, or those of kpi and steps: tests/remote',
}

# Witnesses that start from rows of other tables, and what they witness. A table that they start
# from needs a source of its own: XProf, or a witness that reads the file.
FROM_TABLES = {'two_runs.py': {'compare_ops', 'compare_hlo_ops', 'compare_kernels',
                               'compare_tf_ops', 'compare_steps', 'compare_slower_ops'},
               'input_pipeline.py': {'input_pipeline', 'recommendations'},
               'queries.py': {'top_hlo_ops', 'top_wasted', 'eager_ops', 'tensorcore_missed',
                              'input_bound', 'gpu_samples', 'mfu', 'async_op_totals',
                              'time_by_pass'},
               'program_flops.py': {'program_flops'},
               'remat.py': {'remat_candidates'},
               'compiling.py': {'compile_time', 'compile_passes', 'compiler_events'},
               'groups.py': {'compare_groups'},
               'units.py': {'input_ops', 'roofline', 'program_gaps', 'mfu', 'op_time_by_line',
                            'tf_stats', 'overview', 'roofline_properties'},
               'hosts_apart.py': set(),
               'rows.py': set(),
               'sums.py': set()}


def source(*parts):
    with open(os.path.join(ROOT, 'tests', *parts)) as f:
        return f.read()


def covered():
    found = set(re.findall(r'\bEntry\("[^"]+"(?: % \([^)]*\))?,\s*"(\w+)"',
                           source('parity', 'tools.py')))
    found |= ({'hosts', 'planes', 'lines', 'trace_events', 'event_stats', 'event_metadata',
               'event_metadata_stats', 'stat_metadata', 'plane_stats'} & ({'trace_events'} | set(
                   re.findall(r'self\.row\("(\w+)"', source('parity', 'reader.py')))))
    for path in glob.glob(os.path.join(ROOT, 'tests', 'witness', '*.py')):
        if os.access(path, os.X_OK) and os.path.basename(path) != 'covered.py':
            _, document, code = source('witness', os.path.basename(path)).split('"""', 2)
            named = set(re.findall(r'\w+', document)) & set(re.findall(r"\b(\w+)(?:\(|')", code))
            found |= named & FROM_TABLES.get(os.path.basename(path), named)
    return found


def reads_files(path):
    """Whether a witness looks at planes, lines or events."""
    return bool(re.search(r'\.hosts\b|\bnumbered\(|\bprograms_of\(|\bxspace\b',
                          source('witness', os.path.basename(path))))


def check():
    ours = {r['name'] for r in ask('SELECT table_name AS name FROM prof_columns UNION SELECT name '
                                   'FROM prof_queries')}
    second = covered()
    agree('without a second source or a reason', sorted(ours - second - set(EXCEPTIONS)), [])
    programs = [p for p in glob.glob(os.path.join(ROOT, 'tests', 'witness', '*.py'))
                if os.access(p, os.X_OK) and os.path.basename(p) != 'covered.py']
    agree('witnesses that are among FROM_TABLES and read files, or do neither',
          [p for p in map(os.path.basename, programs) if reads_files(p) == (p in FROM_TABLES)], [])
    agree('witnesses that run and end when another imports them', [
        p for p in map(os.path.basename, programs)
        if "if __name__ == '__main__':" not in source('witness', p)], [])
    for name, own in FROM_TABLES.items():
        asked = set(re.findall(r'\bFROM (\w+)\(\{x\}', source('witness', name)))
        agree('%s starts from tables' % name, bool(asked - own), True)
        agree('tables that %s starts from, without a source of their own' % name,
              sorted(asked - own - second), [])
    agree('exceptions that no table is, or that have a second source',
          sorted(k for k in EXCEPTIONS if k not in ours or k in second), [])


# ---- columns ----

READERS = {'events': 'trace_events'}  # what the other reader calls our tables


def columns():
    """{table: its columns}, without the arguments, the run's label and what is no profile."""
    found = collections.defaultdict(list)
    for r in ask('SELECT table_name AS t, "column" AS c FROM prof_columns '
                 "WHERE type NOT LIKE '%HIDDEN' AND \"column\" NOT IN ('run', 'run_a', 'run_b')"):
        if r['t'] not in EXCEPTIONS:
            found[r['t']].append(r['c'])
    return found


def elsewhere(ours):
    """Columns with another second source than a witness: XProf, another reader, for the other hosts
    of a run its files alone (hosts_apart.py), for microseconds the picoseconds (tests/columns)."""
    found = {(e.table, word) for e in tools.TOOLS for id, expression in e.columns.items()
             if id not in e.left_out for word in re.findall(r'\w+', expression)}
    # A row whose section is wrong is one too many among those of a page, or lacks there.
    found |= {(e.table, 'section') for e in tools.TOOLS
              if not e.among and "({source}) WHERE section = '" in e.call}
    for name, (names, _) in reader.TABLES.items():
        found |= {(READERS.get(name, name), c) for c in names}
    for table, names in ours.items():
        found |= {(table, c) for c in names if c == 'host' or c in (
            'start_us', 'duration_us', 'time_us') and c[:-3] + '_ps' in names}
    return found


def witnessed():
    with open(os.environ['WITNESS_COMPARED']) as f:
        return {tuple(line.rstrip('\n').split(' ', 2)[1:]) for line in f}


def unseen(ours, compared, listed):
    """(columns that nothing compares and that are not listed, columns listed in vain)"""
    every, second = {(t, c) for t, of in ours.items() for c in of}, elsewhere(ours)
    return sorted(every - second - compared - listed), sorted(
        c for c in listed if c in second | compared or c not in every)


def check_columns():
    ours, compared = columns(), witnessed()
    every, second = {(t, c) for t, of in ours.items() for c in of}, elsewhere(ours)
    listed = {(t, c) for tables in NOT_WITNESSED.values() for t, of in tables.items()
              for c in (of.split() if of != '*' else ours[t]) if of != '*' or (t, c) not in second}
    agree('columns that nothing compares and not_witnessed.py does not list, and the reverse',
          unseen(ours, compared, listed), ([], []))
    print('# columns: %d; XProf or another reader compares %d, only witnesses %d, nothing %d' % (
        len(every), len(every & second), len((every & compared) - second), len(listed)))
    for one in sorted((compared - second) & every)[::97]:
        agree('not compared: %s.%s' % one, unseen(ours, compared - {one}, listed), ([one], []))
        agree('listed too: %s.%s' % one, unseen(ours, compared, listed | {one}), ([], [one]))
    agree('a new column', unseen({**ours, 'new': ['column']}, compared, listed),
          ([('new', 'column')], []))
    gone = sorted(listed)[len(listed) // 2]
    agree('no longer listed', unseen(ours, compared, listed - {gone}), ([gone], []))


def of_a_copy(part, name, change):
    """What this program prints in a copy of the tests in which a file's text is another; None: the
    file is gone."""
    with tempfile.TemporaryDirectory() as copy:
        for folder in ('witness', 'parity', 'lib'):
            os.makedirs(os.path.join(copy, 'tests', folder))
            for path in glob.glob(os.path.join(ROOT, 'tests', folder, '*.py')):
                shutil.copy(path, os.path.join(copy, 'tests', folder))
        path = os.path.join(copy, 'tests', part, name)
        text = change(source(part, name))
        if text is None:
            os.remove(path)
        else:
            with open(path, 'w') as f:
                f.write(text)
        done = subprocess.run([sys.executable, os.path.join(copy, 'tests', 'witness', 'covered.py'),
                               '--once'], env={**os.environ, 'PROFSQL': PROFSQL},
                              capture_output=True, text=True, timeout=60)
        return done.stdout


def check_failures():
    without = {
        'allocation_churn': ('witness', 'memory.py', lambda text: None),
        'idle_gaps': ('witness', 'gaps.py', lambda text: text.replace('idle_gaps, ', '', 1)),
        'kernel_utilization': ('parity', 'tools.py', lambda text: text.replace(
            'Entry("kernel_utilization", "kernel_utilization"',
            'Entry("kernel_utilization", "no_table"', 1)),
        'stat_metadata': ('parity', 'reader.py', lambda text: text.replace(
            'self.row("stat_metadata"', 'self.no_row("stat_metadata"')),
        'async_ops': ('witness', 'device_time.py', lambda text: None),
        'advice': ('witness', 'advice.py', lambda text: None),
        'queries.py': ('witness', 'covered.py',
                       lambda text: text.replace("'queries.py': {", "'no_witness.py': {", 1)),
        'overview_page': ('witness', 'covered.py',
                          lambda text: text.replace("'overview_page': ", "'no_table': ", 1)),
        'top_ops': ('witness', 'covered.py', lambda text: text.replace(
            "EXCEPTIONS = {", "EXCEPTIONS = {'top_ops': 'no reason', ", 1)),
    }
    for table, (part, name, change) in without.items():
        printed = of_a_copy(part, name, change)
        agree('without what covers %s' % table, ['not ok' in printed, table in printed],
              [True, True])
    agree('an unchanged copy', of_a_copy('witness', 'covered.py', lambda text: text),
          '1 passed, 0 failed, 0 skipped\n')


if __name__ == '__main__':
    tried('covered', check)
    if '--once' not in sys.argv:
        tried('covered without', check_failures)
        if os.environ.get('WITNESS_COMPARED'):
            tried('columns', check_columns)
        else:
            print('skip columns: which are compared is known after all witnesses alone '
                  '(tests/witness/run)')
            counts['skipped'] += 1
    finish()
