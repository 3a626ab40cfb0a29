#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Columns that are another unit, share, name or count of what is compared elsewhere: of input_ops,
roofline, utilization, kernel_utilization, program_gaps, input_breakdown, op_metrics_totals,
op_profile, op_time_by_line, time_breakdown and mfu; tf_stats from tf_ops; units of overview and
roofline_properties from the names."""
import collections
import itertools
import re
import sys

sys.dont_write_bytecode = True
from compare import agree, agree_one_of, main, tried  # noqa: E402

GIB = 2**30


def share(part, whole):
    return part / whole if part is not None and whole else None


# table: {column: its value, computed from the row's other columns}
OF_ROW = {
    'input_ops': {'time_ps': lambda r: r['total_time_ms'] * 1e9,
                  'self_ps': lambda r: r['total_self_time_ms'] * 1e9},
    'roofline': {'flops': lambda r: r['normalized_gflops'] * r['total_time_us'] * 1e3,
                 'bytes_accessed': lambda r: r['memory_bw_gibps'] * GIB * r['total_time_us'] / 1e6,
                 'hbm_bytes': lambda r: r['hbm_bw_gibps'] * GIB * r['total_time_us'] / 1e6},
    'utilization': {'utilization_fraction': lambda r: share(r['achieved'], r['peak'])},
    'program_gaps': {'idle_percent': lambda r: share(100 * r['idle_ps'], r['duration_ps'])},
}
# Names of the rows of lines and planes that an id names.
NAMES = {('utilization', 'kernel'): ('line_id', 'name'),
         ('kernel_utilization', 'kernel_name_actual'): ('line_id', 'name'),
         ('kernel_utilization', 'sample'): ('line_id', 'proto_id')}


def of_rows(run):
    for table, columns in OF_ROW.items():
        # rank 0: the program, all cores
        for r in run.ask('SELECT * FROM %s({x})%s' % (table, ' WHERE rank > 0' if table
                                                      == 'roofline' else '')):
            for column, of in columns.items():
                agree('%s of %s' % (column, table), r[column], of(r) or r[column] and 0,
                      rel=1e-6, abs_tol=0.6)


def names(run):
    lines = {r['line_id']: r for r in run.ask('SELECT * FROM lines({x})')}
    types = {r['plane_id']: r['device_type'] for r in run.ask('SELECT * FROM devices({x})')}
    for (table, column), (id, name) in NAMES.items():
        for r in run.ask('SELECT * FROM %s({x})' % table):
            known = lines[r[id]][name]
            agree('%s of %s' % (column, table), r[column] if r[column] is not None else '',
                  int(known) if name == 'proto_id' else known)
    for r in run.ask('SELECT * FROM utilization({x})'):
        agree('device type', r['device_type'], types[lines[r['line_id']]['plane_id']])
    for r in run.ask('SELECT DISTINCT line_id, line FROM time_breakdown({x}, 0, 1)'):
        agree('line of time_breakdown', [r['line_id'] + 0, r['line']],
              [r['line_id'], lines[r['line_id']]['display_name'] or lines[r['line_id']]['name']])
        agree_one_of('id of the line', r['line_id'], [i for i, l in lines.items() if r['line'] in (
            l['display_name'], l['name'])])


def ranked_lines(run):
    """Of each line its operations, the longest first."""
    shown = collections.Counter((r['host'], r['plane'], r['display_name'] or r['name'])
                                for r in run.ask('SELECT * FROM lines({x})'))
    rows = collections.defaultdict(list)
    for r in run.ask('SELECT * FROM op_time_by_line({x})'):
        agree_one_of('line', (r['host'], r['plane'], r['line']), shown)
        rows[r['host'], r['plane'], r['line']].append((r['rank'], -r['self_time_us']))
    for key, of in rows.items():
        if shown[key] == 1:
            agree('ranks of %s' % (key,), sorted(of), [(i + 1, x) for i, x in enumerate(
                sorted(x for _, x in of))], abs_tol=1e-6)


def input_parts(run):
    rows = run.ask('SELECT * FROM input_breakdown({x})')
    everything = sum(r['time_us'] for r in rows)
    for r in rows:
        agree('share of %s' % r['category'], r['fraction'], share(r['time_us'], everything))


def op_counts(run):
    sides = collections.Counter(r['side'] for r in run.ask('SELECT side FROM op_metrics({x}) '
                                                   'WHERE parent_id IS NULL'))
    for r in run.ask('SELECT * FROM op_metrics_totals({x})'):
        agree('ops of %s' % r['side'], r['op_count'], sides[r['side']])


def profile(run):
    """Paths and shares of the tree's nodes, which come in preorder."""
    path, root = [], None
    for r in run.ask('SELECT * FROM op_profile({x})'):
        del path[max(r['depth'] - 1, 0):]
        if r['depth']:
            path.append(r['name'])
        else:
            root = r['raw_time_ps']
        agree('path', r['path'] or '', '/'.join(path))
        agree('share of %s' % r['path'], r['time_fraction'], share(r['raw_time_ps'], root),
              rel=1e-6)
        agree('wasted by %s' % r['path'], r['wasted_time_fraction'], r['time_fraction'] * (
            1 - max(r['flops_utilization'] or 0, r['hbm_utilization']))
              if r['hbm_utilization'] else None, rel=1e-6)


def models(run):
    """Devices with work and their type."""
    busy = {r['plane_id'] for r in run.ask(
        'SELECT plane_id FROM device_time({x}) WHERE busy_ps IS NOT NULL '
        "AND kind <> 'sparsecore'")}
    types = {r['device_type'] for r in run.ask('SELECT * FROM devices({x})')
             if r['plane_id'] in busy and r['device_type']}
    for r in run.ask("SELECT * FROM mfu({x}) WHERE scope = 'run'"):
        agree('devices of mfu', [r['device_count'], r['device_type']],
              [len(busy), types.pop() if len(types) == 1 else None])


# ---- properties ----

UNITS = (('_time_us_avg$', 'us'), ('_ps$', 'ps'), ('_percent($|_)|_utilization_', 'percent'),
         ('(_|^step)time_(ms_)?(average|standard|minimum|maximum|avg|sdv)', 'ms'),
         ('_ms_(average|avg|sdv)|steptime_', 'ms'), ('_ridge_point$', 'FLOP/byte'),
         ('_bw$', 'GiB/s'), ('_flop_rate$', 'GFLOP/s'), ('_multiplier$', 'ratio'))


def units(run):
    for table in ('overview', 'roofline_properties'):
        for r in run.ask('SELECT name, unit FROM %s({x})' % table):
            agree('unit of ' + r['name'], r['unit'], next(
                (unit for pattern, unit in UNITS if re.search(pattern, r['name'])), None))


# ---- tf_stats ----

SAME = ('host_or_device', 'type', 'operation', 'occurrences', 'total_time_us',
        'total_self_time_us', 'device_self_time_fraction', 'host_self_time_fraction',
        'normalized_gflops', 'model_gflops', 'memory_bw_gibps', 'operational_intensity',
        'tensorcore_utilization_fraction', 'bound_by', 'execution_mode')
LABELS = ('Host/device', 'Operation Type', 'Operation Name', '#Occurrences', 'Total time (us)',
          'Total self-time (us)', 'Total self-time on Device (%)', 'Total self-time on Host (%)',
          'Normalized FLOP Rate (FLOPs/s)', 'Model FLOP Rate (GFLOP/s)',
          'Measured Memory BW (GBytes/Sec)', 'Operational Intensity (FLOPs/Byte)',
          'GPU TensorCore utilization', 'Bound by', 'Execution mode')


def framework_ops(run):
    """Averages and running sums are computed again."""
    got, ops = run.ask_all('SELECT * FROM tf_stats({x})', 'SELECT * FROM tf_ops({x})')
    agree('ops', [[r[label] for label in LABELS] for r in got], [[r[c] for c in SAME] for r in ops])
    agree('ranks', [r['Rank'] for r in got], list(range(1, len(ops) + 1)))
    for total, average in (('Total time', 'Avg. time'), ('Total self-time', 'Avg. self-time')):
        agree(average, [r[average + ' (us)'] for r in got],
              [r[total + ' (us)'] / r['#Occurrences'] if r['#Occurrences'] else 0 for r in got],
              rel=1e-6, abs_tol=1e-6)
    for side in ('Device', 'Host'):
        share, label = 'Total self-time on %s (%%)' % side, 'Cumulative total-self time on %s (%%)'
        sums = itertools.accumulate(r[share] for r in got)
        agree('sums on ' + side, [r[label % side] for r in got],
              [x if r['Host/device'] == side else 0 for x, r in zip(sums, got)],
              rel=1e-6, abs_tol=1e-9)


def each(run):
    for check in (framework_ops, units, of_rows, names, ranked_lines, input_parts, op_counts,
                  profile, models):
        tried('%s %s' % (check.__name__, run.path), check, run)


if __name__ == '__main__':
    main(each)
