#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Requests and batches of model servers: what inference_requests, inference_batches,
inference_models, inference_percentiles, inference_latency and inference_tensor_patterns show that
XProf does not, from the events of each request and batch. Without work of a GPU the columns with it
are those that are compared with XProf (tests/parity)."""
import collections
import sys

sys.dont_write_bytecode = True
from compare import agree, main, numbered, tried  # noqa: E402

LAYOUTS = ('Linearize', 'Delinearize', 'TransferBufferFromDevice-FastPath')
ACTUAL = {'inference_requests': ('write_to_device_ps', 'read_from_device_ps', 'device_compute_ps'),
          'inference_batches': ('device_compute_ps',),
          'inference_latency': ('host_ms', 'device_ms', 'communication_ms')}
PERCENTILES = {'p50_ms': 50, 'p75_ms': 75, 'p90_ms': 90, 'p95_ms': 95, 'p99_ms': 99,
               'p999_ms': 99.9}


def events_of(run):
    """{(host, group): events of threads}"""
    group = {r['event_id']: r['step'] for r in run.ask(
        'SELECT event_id, step FROM trace_events({x}) WHERE step IS NOT NULL')}
    found = collections.defaultdict(list)
    for number, host, plane, line, e in numbered(run):
        if plane.kind == 'host' and not line.derived and number in group:
            found[host, group[number]].append(e)
    return found


def converted(events):
    """(time, pattern) of the tensors whose layout these events convert; None: unknown."""
    of = [e for e in events if e.name in LAYOUTS]
    texts = [(e.name, e.stats.get('shape'), e.stats.get('layout')) for e in of]
    known = all(isinstance(x, str) and x for t in texts for x in t)
    return sum(e.duration_ps for e in of), '<br>'.join(
        sorted(' '.join(t) for t in texts)) if texts and known else None


def ranks(rows):
    """Of a model, the shortest first."""
    models = collections.defaultdict(list)
    for r in rows:
        models[r['model']].append(r)
    for model, of in models.items():
        agree('ranks of %s' % model, [r['rank'] for r in of], list(range(1, len(of) + 1)))
        durations = [r['duration_ps'] for r in of]
        agree('order of %s' % model, durations, sorted(durations))


def check(run):
    requests = run.ask('SELECT * FROM inference_requests({x})')
    batches = run.ask('SELECT * FROM inference_batches({x})')
    if not requests and not batches:
        return
    events = events_of(run)
    if all(p.kind != 'gpu' for planes in run.hosts.values() for p in planes):
        for table, columns in ACTUAL.items():
            for r in run.ask('SELECT * FROM %s({x})' % table):
                agree('without GPUs %s' % table, [r[c + '_actual'] for c in columns],
                      [r[c] for c in columns])
    for rows, id, kind in ((requests, 'request_id', 'request'), (batches, 'batch_id', 'batch')):
        ranks(rows)
        for r in rows:
            of = events[r['host'], r[id]]
            what = '%s %s of %s' % (kind, r[id], r['host'])
            agree('duration of ' + what, r['duration_ps'], r['latency_ms'] * 1e9, rel=1e-6)
            agree('tensors of ' + what, [r['tensor_ps'], r['tensor_pattern']], list(converted(of)))
            if kind == 'batch':
                e = [e for e in of if 'ProcessBatch' in e.name]
                agree('times of ' + what, [r['start_ps'], r['duration_ps']],
                      [e[0].start_ps, e[0].duration_ps])
            else:
                agree('start of ' + what, r['start_ps'], min(e.start_ps for e in of))
    named = any(r['model'] not in (None, 'ALL') for r in requests)
    for r in requests + batches:
        agree('shown', r['shown_by_xprof'], int(r['model'] is not None or not named))
    counts = collections.Counter(r['model'] for r in requests)
    for r in run.ask('SELECT * FROM inference_models({x})'):
        agree('requests of %s' % r['model'], r['request_count'], counts[r['model']])
    for r in run.ask('SELECT * FROM inference_percentiles({x})'):
        agree('kind of row', r['kind'], 'request' if r['request_id'] is not None else 'batch')
    spans = collections.defaultdict(list)
    for r in requests:
        if r['shown_by_xprof']:
            spans[r['model']].append((r['start_ps'], r['start_ps'] + r['duration_ps']))
    durations = [(end - start) / 1e9 for of in spans.values() for start, end in of]
    rate = sum(len(of) / (max(x[1] for x in of) - min(x[0] for x in of)) * 1e12
               for of in spans.values() if max(x[1] for x in of) > min(x[0] for x in of))
    for r in run.ask('SELECT * FROM inference_latency({x})'):
        agree('latency', [r['min_ms'], r['max_ms'], r['requests_per_second']],
              [min(durations), max(durations), rate], rel=1e-6)


def patterns(run):
    """Times of the requests and batches that have a pattern; the percentile of n is number
    n x p / 100 in order, from 0 and rounded down."""
    times, models = collections.defaultdict(list), collections.defaultdict(set)
    for table in ('inference_requests', 'inference_batches'):
        for r in run.ask('SELECT * FROM %s({x}) WHERE tensor_pattern IS NOT NULL '
                         'AND shown_by_xprof' % table):
            times[r['model'], r['tensor_pattern']].append(r['tensor_ps'] / 1e9)
            models[r['model']].add(r['tensor_pattern'])
    for r in run.ask('SELECT * FROM inference_tensor_patterns({x})'):
        of = sorted(times[r['model'], r['pattern']])
        agree('pattern %s' % r['pattern'], r['pattern_id'],
              sorted(models[r['model']]).index(r['pattern']))
        agree('percentiles of %s' % r['pattern'], [r[c] for c in PERCENTILES],
              [of[int(len(of) * p / 100)] for p in PERCENTILES.values()], rel=1e-6)


def each(run):
    for check_one in (check, patterns):
        tried('serving ' + run.path, check_one, run)


if __name__ == '__main__':
    main(each)
