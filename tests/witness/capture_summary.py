#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What capture_summary says: copies and how much was recorded from the bytes of each profile, the
rest from rows of tables that are compared elsewhere.

Words and numbers of a text are compared separately, numbers with the precision with which they are
printed."""
import collections
import re
import sys

sys.dont_write_bytecode = True
from compare import agree, in_parts, main, numbered, tried  # noqa: E402
from device_time import TRANSFER, devices as all_devices  # noqa: E402

SHOWN = 8  # devices


def recorded(run):
    length = run.ask('SELECT duration_ps FROM prof_runs({x})')[0]['duration_ps']
    files = len(run.files)
    yield 'recorded', '%s, %d file%s, %d events' % (
        'unknown time' if length is None else '%.3f s' % (length / 1e12), files,
        '' if files == 1 else 's', sum(1 for _ in numbered(run)))


def steps(run):
    rows = run.ask('SELECT duration_ms, range_ms FROM steps({x}) WHERE NOT dropped')
    ranges = [r['range_ms'] for r in rows if r['range_ms'] is not None]
    text = '%d complete, %.3f ms each' % (
        len(rows), sum(r['duration_ms'] for r in rows) / len(rows)) if rows else 'none'
    yield 'steps', text + (', %.3f ms as marked by the program' % (sum(ranges) / len(ranges))
                           if ranges else '')


def devices(run):
    rows = run.ask('SELECT * FROM device_time({x}) WHERE is_main AND span_ps > 0')
    for r in rows[:SHOWN - 1 if len(rows) > SHOWN else SHOWN]:
        parts = [100 * r[c + '_ps'] / r['span_ps'] for c in (
            'computing', 'communicating', 'transferring')]
        yield r['plane'].replace('/device:', ''), (
            'busy %.1f %% of %.3f ms: computing %.1f %%, collectives %.1f %%, %s %.1f %% (host %s)'
            % (100 * r['busy_ps'] / r['span_ps'], r['span_ps'] / 1e9, *parts[:2],
               'copies' if r['kind'] == 'gpu' else 'transfers', parts[2], r['host']))
    if len(rows) > SHOWN:
        yield 'GPUs' if rows[SHOWN - 1]['kind'] == 'gpu' else 'devices', '%d more' % (
            len(rows) - SHOWN + 1)
    if not rows:
        yield 'GPUs', 'none did any work'


def kernels(run):
    rows = run.ask('SELECT kernel_name, occurrences, total_duration_us FROM kernel_stats({x}, 0)')
    if rows:
        yield 'kernels', '%d with %d names, %.3f ms' % (
            sum(r['occurrences'] for r in rows), len({r['kernel_name'] for r in rows}),
            sum(r['total_duration_us'] for r in rows) / 1e3)
    for r in run.ask('SELECT * FROM top_kernels({x}, 5)'):
        share = '-' if r['percent'] is None else '%.1f' % r['percent']
        yield 'kernel', '%5s %%  %.3f ms  %d x  %s' % (
            share, r['total_duration_us'] / 1e3, r['occurrences'], r['kernel_name'][:60])


def copies(run):
    """Of the transfers of GPUs those that are no memsets, by their names."""
    found = collections.defaultdict(list)
    for d in all_devices(run):
        for e in d.events if d.kind == 'gpu' else ():
            if d.kind_of(e) == TRANSFER and d.category(e) != 'memset':
                found[e.name].append((max(e.duration_ps, 0) / 1e12, d.bytes(e, e) or 0))
    lines = []
    for name, of in found.items():
        seconds, size = (sum(x) for x in zip(*of))
        lines.append('%s: %d, %.3f ms' % (name, len(of), seconds * 1e3) + (
            ', %.3f MB, %.3f GB/s' % (size / 1e6, size / seconds / 1e9)
            if size > 0 and seconds > 0 else ''))
    yield from (('copies', text) for text in sorted(lines))


def lost(run):
    rows = run.ask("SELECT host, message FROM prof_issues({x}) WHERE code GLOB 'capture_*' "
                   "OR severity = 'error'")
    lines = sorted('%s (host %s)' % (r['message'], r['host']) for r in rows)
    yield from (('lost', text) for text in lines or ['nothing'])


NUMBER = r'-?[0-9]+(?:\.[0-9]+)?'


def words(text):
    return re.sub(NUMBER, '#', text)


def numbers(text):
    return re.findall(NUMBER, text)


def check(run):
    got = run.ask('SELECT topic, text FROM capture_summary({x})')
    want = [line for part in (recorded, steps, devices, kernels, copies, lost)
            for line in part(run)]
    agree('lines', [(r['topic'], words(r['text'])) for r in got],
          [(topic, words(text)) for topic, text in want])
    for r, (_, text) in zip(got, want):
        for mine, theirs in zip(numbers(text), numbers(r['text'])):
            agree('%s for %s' % (r['text'], text), float(theirs), float(mine), rel=0,
                  abs_tol=1.01 * 10**-len(mine.partition('.')[2]) if '.' in mine else 0)
        in_parts(r['topic'], r['text'])


def each(run):
    tried('capture_summary ' + run.path, check, run)


if __name__ == '__main__':
    main(each)
