#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a file says of its capture, hosts, planes, lines, devices and stats: hosts, session, planes,
lines, devices, event_totals, event_stats and perf_counters from the bytes of each profile, and
gpu_counters, a blind second reading of its text."""
import collections
import gzip
import math
import re
import sys

sys.dont_write_bytecode = True
import xspace  # noqa: E402
from compare import agree, main, numbered, tried  # noqa: E402
from hlo import Message  # noqa: E402
from repeated import line_kind, plane_kind  # noqa: E402

DEVICES = ('gpu', 'tensorcore', 'sparsecore')


def whole(value):
    return value if isinstance(value, int) else None


def shown(value):
    """As SQL has it: numbers above int64 as texts, NaN as NULL."""
    if isinstance(value, float) and math.isnan(value):
        return None
    return str(value) if isinstance(value, int) and value >= 2**63 else value


# ---- the capture ----

def texts_of(path):
    """Texts of a file beside its planes: errors, warnings and host names."""
    with open(path, 'rb') as f:
        data = f.read()
    data = gzip.decompress(data) if data[:2] == b'\x1f\x8b' else data
    found = collections.defaultdict(list)
    for number, x in xspace.fields(data):
        if number in (2, 3, 4):
            found[number].append(xspace.text(x))
    return found


def hosts(run):
    got, session = run.ask('SELECT * FROM hosts({x})'), collections.defaultdict(list)
    for r in run.ask("SELECT host, name, value FROM session({x}) "
                     "WHERE typeof(value) <> 'blob'"):
        session[r['host']].append((r['name'], r['value']))
    for r, path, (host, planes) in zip(got, run.files, run.hosts.items()):
        texts = texts_of(path)
        stats = [(k, shown(v)) for p in planes if p.name == 'Task Environment'
                 for k, v in p.every_stat if not isinstance(v, bytes)]
        known = dict(stats)
        start = min((line.timestamp_ns for p in planes for line in p.lines
                     if line.timestamp_ns > xspace.LONGEST_NS), default=None)
        agree('host ' + host, [r['path'], r['host_source'], r['format'], r['hostname'] or None], [
            path, path, 'xspace.gz' if path.endswith('.gz') else 'xspace',
            (texts[4] or [None])[0] or None])
        agree('times of ' + host, [r['start_unix_ns'], r['stop_unix_ns']],
              [whole(known.get('profile_start_time')) or start,
               whole(known.get('profile_stop_time')) or None])
        want = [('hostname', t) for t in texts[4]] + [('error', t) for t in texts[2]] + [
            ('warning', t) for t in texts[3]] + stats
        agree('session of ' + host, sorted(session[host], key=repr), sorted(want, key=repr))


# ---- planes, lines and devices ----

def kinds(run):
    planes, lines = [], []
    for of in run.hosts.values():
        for p in of:
            pid = re.search(r' \[([0-9]+)\]$', p.name)
            planes.append([plane_kind(p), whole(p.stats.get('process_id', pid and int(pid.group(
                1))))])
            lines += [line_kind(line) for line in p.lines]
    agree('planes', [[r['kind'], r['process_id']] for r in run.ask(
        'SELECT kind, process_id FROM planes({x}) ORDER BY plane_id')], planes)
    agree('lines', [r['kind'] for r in run.ask('SELECT kind FROM lines({x}) ORDER BY line_id')],
          lines)


def ridge(r, memory):
    peak, rate = r['peak_flops_per_second'], r['peak_%s_bytes_per_second' % memory]
    return peak / rate if peak and rate else None


def core_details(plane):
    details = plane.stats.get('core_details')
    try:
        return Message(details) if isinstance(details, bytes) else None
    except IndexError:  # cut off
        return None


def devices(run):
    planes = [p for of in run.hosts.values() for p in of]
    for r in run.ask('SELECT * FROM devices({x})'):
        p = planes[r['plane_id']]
        gpu, version = p.kind == 'gpu', [whole(p.stats.get('compute_cap_' + x))
                                         for x in ('major', 'minor')]
        core = core_details(p)
        megacore = p.stats.get('has_megacore')
        want = dict(
            vendor=p.stats.get('device_vendor') or None,
            uuid=p.stats.get('uuid') or None,
            core_count=whole(p.stats.get('core_count')) if gpu else None,
            clock_khz=whole(p.stats.get('clock_rate')) if gpu else None,
            memory_bytes=whole(p.stats.get('memory_size')) if gpu else None,
            compute_capability='%d.%d' % tuple(version) if gpu and None not in version else None,
            megacore=whole(megacore) if megacore is not None else None,
            core_hostname=core.text(1) or None if core else None)
        want.update({memory + '_ridge_point': ridge(r, memory) for memory in (
            'sram_read', 'sram_write', 'cmem_read', 'cmem_write', 'vmem_read', 'vmem_write')})
        agree('device %s' % p.name, {k: r[k] for k in want}, want)
    for r in run.ask('SELECT plane_id, chip_id_actual FROM core_steps({x}) '
                     'WHERE plane_id IS NOT NULL'):
        core = core_details(planes[r['plane_id']])
        agree('chip of core', r['chip_id_actual'], core.int(4) if core else None)
    for r in run.ask('SELECT plane_id, kind FROM device_steps({x})'):
        agree('kind of device', r['kind'], planes[r['plane_id']].kind)


# ---- events and their stats ----

def event_totals(run):
    want, lines = collections.Counter(), 0
    for of in run.hosts.values():
        for p in of:
            keys = {id(m): key for key, m in p.metas.items()}
            for line in p.lines:
                for e in line.events:
                    want[lines, keys.get(id(e.meta)), e.short_name] += 1
                lines += 1
    agree('event_totals', {(r['line_id'], r['metadata_id'], r['display_name']): r['occurrences']
                           for r in run.ask('SELECT * FROM event_totals({x})')}, dict(want))


def event_stats(run, most=300):
    """Where the stats of the first events are from."""
    want = {}
    for number, _, plane, _, e in numbered(run):
        if number == most:
            break
        own = [m for m in e.messages]
        want[number] = ['event'] * len(own) + ['metadata'] * e.meta.n_stats
    got = {number: [] for number in want}
    for r in run.ask('SELECT event_id, origin FROM event_stats({x}) WHERE event_id < %d' % most):
        got[r['event_id']].append(r['origin'])
    agree('origins of stats', got, want)


def perf_counters(run):
    rows = run.ask('SELECT * FROM perf_counters({x})')
    events = {number: e for number, _, _, _, e in numbered(run)} if rows else {}
    for r in rows:
        e = events[r['event_id']]
        keys = {id(m): key for key, m in e.line.plane.metas.items()}
        value = e.stats.get('counter_value')
        agree('counter %d' % r['event_id'],
              [r['value_actual'], r['counter_id'], r['description'], r['counter_set']],
              [shown(value) if isinstance(value, (int, float)) else None,
               e.stats.get('performance_counter_id', keys.get(id(e.meta))),
               e.stats.get('performance_counter_description') or None,
               e.stats.get('performance_counter_sets') or None])


def gpu_counters(run):
    """Of each counter of a plane in order of time; of samples at one time the first in the file is
    the one before."""
    want, samples = [], collections.defaultdict(list)
    for _, host, plane, line, e in numbered(run):
        if plane.kind == 'gpu' and line.name == '_counters_' and not line.derived:
            values = list((xspace.Stats(plane, e.messages[:1]) or e.meta.stats).values())
            value = values[0] if values and isinstance(values[0], (int, float)) else None
            samples[host, plane.name, e.name].append((e.start_ps, shown(value)))
    for (host, plane, name), of in samples.items():
        times = sorted({start for start, _ in of})
        before = dict(zip(times[1:], times))
        want += [[host, plane, name, start, (start - before[start]) / 1e6 if start in before
                  else None, value] for start, value in of]
    agree('gpu_counters', sorted((list(r.values()) for r in run.ask(
        'SELECT host, plane, name, start_ps, interval_us, value FROM gpu_counters({x})')),
        key=repr), sorted(want, key=repr))


def each(run):
    for check in (hosts, kinds, devices, event_totals, event_stats, perf_counters, gpu_counters):
        tried('%s %s' % (check.__name__, run.path), check, run)


if __name__ == '__main__':
    main(each)
