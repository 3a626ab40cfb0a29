#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What many tables repeat: of which plane, line, event, program and instruction a row is, and what
these are called. The ids count through the files of a run. Also the nesting and the stats that
trace_events shows of each event, from the bytes of each profile."""
import collections
import re
import sys

sys.dont_write_bytecode = True
from compare import agree, agree_one_of, ask, in_parts, main, numbered, tried  # noqa: E402

# Their rows are those of trace_events, they have no source, or are asked with arguments.
LEFT_OUT = {'events', 'timeline', 'xprof_events', 'event_stats', 'hlo_text', 'live_at'}
LINE_KINDS = {'Steps': 'steps', 'Sparse Core Steps': 'steps', 'XLA Modules': 'modules',
              'Sparse Core Modules': 'modules', 'XLA Ops': 'ops', 'Sparse Core Ops': 'ops',
              'Async XLA Ops': 'async_ops', 'Framework Name Scope': 'name_scope',
              'TensorFlow Name Scope': 'name_scope', 'Framework Ops': 'framework_ops',
              'TensorFlow Ops': 'framework_ops', 'Source code': 'source',
              'Launch Stats': 'launch_stats', '_counters_': 'counters'}


def tables():
    """{table of a run: its columns}"""
    found, of_runs = collections.defaultdict(list), set()
    for r in ask('SELECT table_name AS t, "column" AS c, type FROM prof_columns'):
        if r['type'].endswith('HIDDEN'):
            of_runs |= {r['t']} if r['c'] == 'source' else set()
        else:
            found[r['t']].append(r['c'])
    return {t: c for t, c in found.items() if t in of_runs - LEFT_OUT and not t.startswith('prof')}


TABLES = tables()


def plane_kind(plane):
    for prefix, kind in (('/host:metadata', 'metadata'), ('/device:CUSTOM:', 'custom'),
                         ('/custom:', 'custom')):
        if plane.name.startswith(prefix):
            return kind
    return plane.kind


def line_kind(line):
    kind = line.plane.kind
    return 'thread' if kind == 'host' else LINE_KINDS.get(
        line.name, 'stream' if kind == 'gpu' and not line.derived else 'other')


class Names:
    """What the ids of a run stand for: {kind of id: facts by id}."""

    def __init__(self, run):
        self.plane_id, self.line_id, self.event_id, place = [], [], [], {}
        for host, planes in run.hosts.items():
            for plane in planes:
                of_plane = {'host': host, 'plane': plane.name, 'plane_kind': plane_kind(plane)}
                for line in plane.lines:
                    place[id(line)] = {**of_plane, 'plane_id': len(self.plane_id),
                                       'line': line.display or line.name,
                                       'line_id': len(self.line_id), 'line_kind': line_kind(line),
                                       'derived': int(line.derived)}
                    self.line_id.append(place[id(line)])
                self.plane_id.append(of_plane)
        for _, _, _, line, e in numbered(run):
            self.event_id.append({**place[id(line)], 'start_ps': e.start_ps,
                                  'duration_ps': e.duration_ps, 'name': e.name})


# Tables whose column `name` is the name of the event that the id refers to.
EVENT_NAMES = {'launch_delays', 'trace_events', 'perf_counters', 'graph_kernels'}
OTHER_EVENTS = {('launch_delays', 'launch_event_id'): {'launch_name': 'name',
                                                      'launch_start_ps': 'start_ps',
                                                      'launch_duration_ps': 'duration_ps'},
                ('launch_delays', 'annotation_event_id'): {'annotation': 'name', 'host': 'host'},
                ('async_ops', 'start_event_id'): {'start_ps': 'start_ps', 'host': 'host',
                                                  'plane': 'plane', 'plane_id': 'plane_id'},
                ('memory_allocators', 'peak_event_id'): {'peak_time_ps': 'start_ps',
                                                         'host': 'host'}}
# Columns that describe the row itself, not the plane or line that its id names.
APART = {('memory_events', 'duration_ps'), ('dcn_messages', 'start_ps'),
         ('dcn_messages', 'duration_ps'), ('perf_counters', 'name')}


def repeats(run, names, table, column):
    facts = getattr(names, column, names.event_id)
    of = OTHER_EVENTS.get((table, column)) or {
        c: c for c in (facts or [{}])[0] if c in TABLES[table] and (table, c) not in APART
        and (c != 'name' or table in EVENT_NAMES)}
    rows = run.ask('SELECT %s FROM %s({x}) WHERE %s IS NOT NULL' % (
        ', '.join([column, *of]), table, column))
    agree('what %s of %s names' % (column, table), [[r[c] for c in of] for r in rows],
          [[facts[r[column]][known] for known in of.values()] for r in rows])
    in_parts(*[r[column] for r in rows])


def ids_of_tables():
    """(table, column) of each column that is an id of a plane, line or event."""
    return [(table, c) for table, columns in TABLES.items()
            for c in ('event_id', 'line_id', 'plane_id') if c in columns] + [
        key for key in OTHER_EVENTS if key[0] in TABLES]


# ---- trace_events ----

def nested(events):
    """{event id: (depth, parent, self time)} of a line: events in order of start, the longer first;
    the parent is the last before it that includes it."""
    found, open_events = {}, []
    for number, e in sorted(events, key=lambda x: (x[1].start_ps, -x[1].duration_ps, x[0])):
        while open_events and open_events[-1][1].end_ps < e.end_ps:
            open_events.pop()
        parent = open_events[-1][0] if open_events else None
        found[number] = [len(open_events), parent, e.duration_ps]
        if parent is not None:
            found[parent][2] -= e.duration_ps
        open_events.append((number, e))
    return found


def whole(value):
    return value if isinstance(value, int) else None


def amount(value):
    return int(value) if isinstance(value, (int, float)) else None


def word(value):
    return value if isinstance(value, str) else None


def place_of(source):
    """Of 'file:line'."""
    file, colon, line = (word(source) or '').rpartition(':')
    is_line = colon and file and line.isdigit()
    return {'source_file': (file if is_line else word(source)) or None,
            'source_line': int(line) if is_line else None}


def launch_of(e, details):
    found = {}
    for name in ('block', 'grid'):
        size = re.search(r'(?:^|[ \n])%s:([0-9]+,[0-9]+,[0-9]+)(?![0-9,])' % name,
                         word(details) or '')
        is_possible = size and all(0 < int(n) < 2**32 for n in size.group(1).split(','))
        found[name + '_dim'] = size.group(1) if is_possible else None
    return found


def program_of(e):
    """The op's name is the last part, without % and {i,j}; without the stat on the op lines of
    TPUs that for display, else the start of the HLO text. An id can be a text."""
    program, plane = e.stats.get('program_id'), e.line.plane
    name = word(e.stats.get('hlo_op'))
    if name is None and plane.kind in ('tensorcore', 'sparsecore') and LINE_KINDS.get(
            e.line.name) in ('ops', 'async_ops'):
        name = e.meta.display or e.name.partition(' = ')[0]
    name = re.sub(r'\{[0-9,]*\}$', '', (name or '').rpartition('::')[2].removeprefix('%'))
    return {'program_id': str(program % 2**64) if isinstance(program, int) else word(program),
            'hlo_op': name or None}


def stats_of(e):
    """Columns that are stats of the event or of its metadata."""
    s = e.stats
    return {'group_id': whole(s.get('group_id')), 'category': word(s.get('hlo_category')),
            'flops': amount(s.get('flops')), 'bytes_accessed': amount(s.get('bytes_accessed')),
            'shape': word(s.get('shape_with_layout', s.get('shape'))),
            'is_async': whole(s.get('_a')),
            'device_start_ps': whole(s.get('device_offset_ps')),
            'device_duration_ps': whole(s.get('device_duration_ps')),
            'correlation_id': whole(s.get('correlation_id')), **place_of(s.get('source')),
            **launch_of(e, s.get('kernel_details')), **program_of(e),
            'display_name': e.meta.display or None}


def events(run):
    by_line, want = collections.defaultdict(list), {}
    for number, _, _, line, e in numbered(run):
        by_line[id(line)].append((number, e))
        want[number] = stats_of(e)
    for of in by_line.values():
        for number, (depth, parent, own) in nested(of).items():
            want[number].update(depth=depth, parent_id=parent, self_ps=own)
    for r in run.ask('SELECT event_id, %s FROM trace_events({x})' % ', '.join(
            want[0] if want else ['name'])):
        number = r.pop('event_id')
        of = want[number]
        if r != of:
            agree('event %d' % number, r, of)
        in_parts(r)


# ---- what queries say of an instruction, op or buffer ----

def place(r):
    return '%s:%s' % (r['source_file'], r['source_line']) if r['source_file'] else None


def label(r):
    return r['hlo_op'] and r['hlo_op'] + (r.get('shape_index') or '')


INSTRUCTION = {c: lambda r, c=c: r[c] for c in (
    'category', 'opcode', 'user_file', 'user_line', 'shape', 'tf_op', 'scope', 'owner_tf_op')}
INSTRUCTION.update(source_line=place, flops=lambda r: r['model_flops_actual'],
                   bytes_accessed=lambda r: r['bytes_accessed_actual'])
OP = {**INSTRUCTION, 'tf_op': lambda r: r['tf_op'].rstrip(':') or None}
BUFFER = {**INSTRUCTION, 'shape': lambda r: r['shape_actual'], 'kind': lambda r: r['kind'],
          'live_at_peak': lambda r: r['live_at_peak'],
          'start_event': lambda r: r['storage_start_event'],
          'end_event': lambda r: r['storage_end_event'],
          'expansion': lambda r: r['size_bytes'] / r['unpadded_bytes_actual']
          if r['unpadded_bytes_actual'] else None}
# query: (the table whose rows it shows, their keys, the columns that it shows)
SHOWN = {
    'top_hlo_ops': ('hlo_ops', OP, 'tf_op source_line user_file user_line'),
    'top_wasted': ('hlo_ops', OP, 'tf_op source_line'),
    'fusion_breakdown': ('hlo_instructions', INSTRUCTION,
                         'category flops bytes_accessed tf_op source_line user_file user_line'),
    'remat_candidates': ('buffer_allocations', BUFFER,
                         'opcode shape tf_op source_line user_file user_line'),
    'padding_waste': ('buffer_allocations', BUFFER,
                      'live_at_peak shape tf_op source_line user_file user_line'),
    'largest_buffers': ('buffer_allocations', BUFFER, 'kind shape expansion tf_op source_line '
                        'user_file user_line scope owner_tf_op'),
    'live_at': ('buffer_allocations', BUFFER, 'kind shape expansion start_event end_event tf_op '
                'source_line user_file user_line scope owner_tf_op')}


def shown(run):
    bases = {name: run.ask('SELECT * FROM %s({x})' % name)
             for name in sorted({base for base, _, _ in SHOWN.values()})}
    peaks = collections.defaultdict(list)
    for p in run.ask('SELECT * FROM memory_peaks({x}) WHERE memory_space = 0'):
        peaks[p['program_id']].append(p['peak_event'])
    ran = {(r['program_id'], r['hlo_op']) for r in run.ask(
        'SELECT DISTINCT program_id, hlo_op FROM scope_ops({x}) '
        "WHERE plane_kind IN ('gpu', 'host')")}
    unlisted = [i for i in bases['hlo_instructions'] if (i['program_id'], i['hlo_op']) in ran]
    for query, (base, of, columns) in SHOWN.items():
        rows, hosts, of_graphs = (collections.defaultdict(kind) for kind in (list, set, list))
        columns = columns.split()
        for b in bases[base]:
            if b.get('rank', 1) > 0:
                values = [b['program_id'], b['hlo_module']] + [of[c](b) for c in columns]
                rows[b['program_id'], label(b)].append(values)
                if 'host' in b:
                    hosts[b['program_id'], label(b)].add(b['host'])
        for i in unlisted if base == 'hlo_ops' else ():
            if not rows.get((i['program_id'], i['hlo_op'])):
                of_graphs[i['program_id'], i['hlo_op']].append(
                    [i['program_id'], i['hlo_module']] + [INSTRUCTION[c](i) for c in columns])
        for r in run.ask('SELECT * FROM %s({x}%s)' % (
                query, '' if query == 'live_at' else ', 1000000')):
            agree_one_of('%s of %s' % (query, r['hlo_op']),
                         [r['program_id'], r['hlo_module']] + [r[c] for c in columns],
                         rows[r['program_id'], r['hlo_op']]
                         or of_graphs[r['program_id'], r['hlo_op']]
                         or [[p, None] + [None] * len(columns) for p, op in ran
                             if op == r['hlo_op']])
            if 'hosts' in r:
                agree_one_of('hosts of %s' % r['hlo_op'], r['hosts'], range(1, 1 + len(
                    hosts[r['program_id'], r['hlo_op']])))
            if query == 'live_at':
                agree_one_of('event of %s' % r['hlo_op'], r['at_event'], peaks[r['program_id']])


# ---- ranks, short names ----

RANKED = {'exposed_communication': '', 'kernel_time_by_op': ', 1000000',
          'slowest_steps': ', 1000000',
          'slow_step_ops': ', NULL, NULL', 'step_variance': ', NULL', 'stragglers': ', 1000000',
          'top_device_ops': '', 'top_kernels': ', 1000000', 'top_ops': ', 1000000'}
NAMED = {'launch_delays': ('name', ''), 'graph_kernels': ('name', ''),
         'launch_latency': ('kernel', ', 1000000'), 'range_kernels': ('kernel', ''),
         'slow_step_ops': ('name', ', NULL, NULL'), 'step_variance': ('name', ', NULL'),
         'tensorcore_missed': ('kernel_name', ', 1000000'),
         'top_kernels': ('kernel_name', ', 1000000'), 'top_ops': ('operation', ', 1000000'),
         'idle_gaps': ('before', ', 1000000'), 'compare_ops': ('operation', ', {x}'),
         'compare_kernels': ('kernel_name', ', {x}')}


def ranks(run):
    for table, more in RANKED.items():
        rows = run.ask('SELECT rank FROM %s({x}%s)' % (table, more))
        agree('ranks of ' + table, [r['rank'] for r in rows], list(range(1, len(rows) + 1)))


def short_names(run):
    """As trace_events has them (short_names.py): by name, and by display name."""
    known = collections.defaultdict(set)
    for r in run.ask('SELECT DISTINCT name, display_name, short_name FROM trace_events({x})'):
        for name in (r['name'], r['display_name'] or r['name']):
            known[name].add(r['short_name'])
    for table, (name, more) in NAMED.items():
        short = 'before_short_name' if name == 'before' else 'short_name'
        for r in run.ask('SELECT %s AS name, %s AS short FROM %s({x}%s) WHERE %s IS NOT NULL' % (
                name, short, table, more, name)):
            agree_one_of('%s.%s of %s' % (table, short, r['name']), r['short'], known[r['name']])
    for r in run.ask('SELECT after, after_short_name FROM idle_gaps({x}, 1000000) '
                     'WHERE after IS NOT NULL'):
        agree_one_of('after %s' % r['after'], r['after_short_name'], known[r['after']])


def each(run):
    names = Names(run)
    for table, column in ids_of_tables():
        tried('%s of %s, %s' % (column, table, run.path), repeats, run, names, table, column)
    for check in (shown, ranks, short_names, events):
        tried('%s %s' % (check.__name__, run.path), check, run)


if __name__ == '__main__':
    main(each)
