#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Requests and batches of model servers: what inference_requests, inference_batches,
inference_models, inference_percentiles, inference_latency and inference_tensor_patterns show that
XProf does not, from the events of each request and batch. Without work of a GPU the columns with it
are those that are compared with XProf (tests/parity)."""
import collections
import json
import sys

sys.dont_write_bytecode = True
from compare import agree, agree_one_of, main, numbered, tried  # noqa: E402

LAYOUTS = ('Linearize', 'Delinearize', 'TransferBufferFromDevice-FastPath')
PARTS = ('batch_formation_ps', 'host_preprocess_ps', 'host_runtime_ps', 'write_to_device_ps',
         'read_from_device_ps', 'device_compute_ps', 'host_postprocess_ps', 'idle_ps')
LATENCY = ('total_ms', 'device_ms', 'communication_ms', 'host_ms')
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
        known = {(b['host'], b['batch_id']) for b in batches}
        for r in requests:
            # XProf counts the events of a batch that is none to inference_batches, too, which can
            # be after the request.
            if {(r['host'], b) for b in json.loads(r['batch_ids'])} - known:
                continue
            # The end that XProf sees moves the times after it; idle is the rest (see parts).
            same = PARTS[:-1] if r['duration_ps'] == r['duration_ps_actual'] else PARTS[:-2]
            agree('without GPUs', [r[c + '_actual'] for c in same], [r[c] for c in same])
        for r in batches:
            agree('without GPUs', r['device_compute_ps_actual'], r['device_compute_ps'])
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
                ends = [e.end_ps for e in of] + [b['start_ps'] + b['duration_ps'] for b in batches
                                                 if b['host'] == r['host']
                                                 and b['batch_id'] in json.loads(r['batch_ids'])]
                agree('end of ' + what, r['start_ps'] + r['duration_ps_actual'], max(ends))
                agree('latency of ' + what, r['latency_ms_actual'], r['duration_ps_actual'] / 1e9)
                agree('parts of ' + what, sum(r[c + '_actual'] for c in PARTS),
                      r['duration_ps_actual'])
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
    latencies([r for r in requests if r['shown_by_xprof']], run.ask(
        'SELECT * FROM inference_latency({x})'))


def latencies(requests, rows):
    """The percentile of n requests is number n x p / 100 in order, from 0 and rounded down."""
    requests.sort(key=lambda r: r['duration_ps_actual'])
    of = []
    for r in requests:
        device = r['device_compute_ps_actual']
        moved = r['write_to_device_ps_actual'] + r['read_from_device_ps_actual']
        total = r['duration_ps_actual']
        of.append([x / 1e9 for x in (total, device, moved, total - device - moved)])
    for row in rows:
        found = [row[c + '_actual'] for c in LATENCY]
        what = 'actual latency, ' + row['percentile']
        agree(what, [row['min_ms_actual'], row['max_ms_actual']], [of[0][0], of[-1][0]], rel=1e-9)
        if row['percentile'] == 'Avg':
            agree(what, found, [sum(x) / len(of) for x in zip(*of)], rel=1e-9)
            continue
        nth = int(len(of) * float(row['percentile'].rstrip('%')) / 100)
        tied = [x for x in of if x[0] == of[nth][0]]
        agree_one_of(what, [round(x, 9) for x in found], [[round(y, 9) for y in x] for x in tied])


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
