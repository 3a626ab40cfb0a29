#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The share of all-reduces in the steps of TPUs (input_pipeline), which XProf takes from the ops
that have a number of their own among the all-reduces, from the bytes of each profile."""
import collections
import sys

sys.dont_write_bytecode = True
from compare import agree, main, numbered, tried  # noqa: E402

PARTS = ('tc_compute_ms', 'scv0_compute_ms', 'tc_infeed_ms', 'scv0_infeed_ms', 'tc_outfeed_ms',
         'tc_idle_ms')


def all_reduces(run):
    """{step: {core: ms}}, on the device's clock."""
    about = {r['event_id']: r for r in run.ask(
        'SELECT event_id, host, step, coalesce(device_duration_ps, duration_ps) AS ps '
        "FROM trace_events({x}) WHERE plane_kind = 'tensorcore' AND line = 'XLA Ops' "
        'AND occurrences IS NULL')}
    steps = {(r['host'], r['group_id']): r['step'] for r in run.ask('SELECT * FROM host_steps({x})')
             } if len(run.files) > 1 else None
    found = collections.defaultdict(collections.Counter)
    for id, _, plane, _, e in numbered(run):
        if id in about and 'all_reduce_unique_id' in e.stats:
            r = about[id]
            step = steps.get((r['host'], r['step'])) if steps else r['step']
            found[step][r['host'], plane.name] += r['ps'] / 1e9
    return found


def share(run):
    """Of each step the core with the most counts."""
    shown = run.ask('SELECT * FROM input_pipeline({x})')
    if not shown or shown[0]['hardware'] != 'TPU':
        return
    steps = run.ask('SELECT * FROM steps({x}) WHERE NOT dropped AND NOT outside_xprof')
    of_steps = all_reduces(run) if steps else {}
    reducing = sum(max(of_steps[s['step']].values(), default=0) for s in steps)
    length = reducing + sum(s[c] or 0 for s in steps for c in PARTS)
    agree('share of all-reduces', shown[0]['collectives_percent'],
          100 * reducing / length if length else None)


def each(run):
    tried('all-reduces of ' + run.path, share, run)


if __name__ == '__main__':
    main(each)
