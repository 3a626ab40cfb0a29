#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every table and canned query has a second source: XProf, the reading of the same file by another reader, or a witness. Lists those that have none.

A witness covers what its document names and its code asks for."""
import glob
import os
import re
import sys

sys.dont_write_bytecode = True
from compare import ROOT, agree, ask, checking, finish  # noqa: E402

# Tables without a second source, each with the reason.
EXCEPTIONS = {
    'hlo_text': 'compared with the text that XLA prints: tests/parity/hlo_text.py',
    'timeline': 'compared with a second computation: tests/parity/timeline.py',
    'host_steps': 'the marks of steps on single hosts: checked by hand-made profiles in tests/steps',
    'overview_page': 'the rows of overview, top_device_ops and recommendations, which are compared with XProf, in one list',
    'capture_summary': 'rows of prof_runs, steps, device_time, kernel_stats, top_kernels and prof_issues, as text: tests/queries, tests/capture',
    'compare_hlo_ops': 'compare_ops of one kind', 'compare_kernels': 'compare_ops of one kind', 'compare_tf_ops': 'compare_ops of one kind',
    'profsql_live': 'lists live profilers, no profile', 'prof_tables': 'documentation', 'prof_columns': 'documentation', 'prof_queries': 'documentation', 'prof_functions': 'documentation',
    'prof_differences': 'documentation', 'prof_find': 'searches the documentation', 'prof_runs': 'lists what is attached: tests/sql',
}


def source(*parts):
    with open(os.path.join(ROOT, 'tests', *parts)) as f:
        return f.read()


def covered():
    found = {word for line in re.findall(r'Entry\((.*)', source('parity', 'tools.py')) for word in re.findall(r'"(\w+)"', line)}
    found |= {'hosts', 'planes', 'lines', 'trace_events', 'event_stats', 'event_metadata', 'event_metadata_stats', 'stat_metadata', 'plane_stats'} & \
        ({'trace_events'} | set(re.findall(r'self\.row\("(\w+)"', source('parity', 'reader.py'))))
    for path in glob.glob(os.path.join(ROOT, 'tests', 'witness', '*.py')):
        if os.access(path, os.X_OK) and os.path.basename(path) != 'covered.py':
            _, document, code = source('witness', os.path.basename(path)).split('"""', 2)
            found |= set(re.findall(r'\w+', document)) & set(re.findall(r'\w+', code))
    return found


with checking('covered'):
    ours = {r['name'] for r in ask('SELECT table_name AS name FROM prof_columns UNION SELECT name FROM prof_queries')}
    second = covered()
    agree('without a second source or a reason', sorted(ours - second - set(EXCEPTIONS)), [])
    agree('exceptions that no table is, or that have a second source', sorted(k for k in EXCEPTIONS if k not in ours or k in second), [])
finish()
