#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Transfers between slices: what dcn_collectives shows beside XProf's columns (group_size,
recv_stall_ms_actual, host_stall_ms, shown_by_xprof), from the ops of the first TensorCore in the
bytes of each profile."""
import collections
import re
import statistics
import sys

sys.dont_write_bytecode = True
from compare import agree, integer, main, tried  # noqa: E402
from flops import programs_of  # noqa: E402
from hlo import Message  # noqa: E402

ATTRIBUTES, CHANNEL = 68, 26  # fields of an instruction


def attributes_of(op):
    found = op.sub(ATTRIBUTES)
    pairs = map(Message, found.all(1) if found else ())
    return {p.text(1): p.text(2) for p in pairs}


class Programs:
    def __init__(self, planes):
        self.protos, self.read = programs_of(planes), {}

    def instruction(self, id, name):
        if id not in self.read:
            module = Message(self.protos.get(id, b'')).sub(1) or Message()
            self.read[id] = {op.text(1): op for c in map(Message, module.all(3))
                             for op in map(Message, c.all(2))}
        return self.read[id].get(name)


def group_size(info):
    """Of a DcnCollectiveInfoProto."""
    m = Message(info) if isinstance(info, bytes) else None
    if not m:
        return None
    if m.all(3):
        return 1
    return len(Message(m.all(2)[0]).all(1)) if m.all(2) else None


class Transfer:
    def __init__(self):
        self.last, self.sizes, self.instances = {}, None, []


def transfers_of(planes):
    """{rendezvous: Transfer} of the first TensorCore; an instance is complete with its
    recv-done."""
    found, meetings, programs = collections.defaultdict(Transfer), {}, Programs(planes)
    lines = {line.name: line.events for p in planes if p.name == '/device:TPU:0'
             for line in p.lines}
    for e in lines.get('XLA Ops', ()):
        category = e.stats.get('hlo_category')
        code = re.search(r'[ )](send|send-done|recv|recv-done)\(', e.name)
        if not isinstance(category, str) or not re.search('host (send|recv)', category) \
                or not code:
            continue
        around = [m for m in lines.get('XLA Modules', ())
                  if m.start_ps <= e.start_ps and e.end_ps <= m.end_ps]
        id = re.search(r'\((\d+)\)$', around[-1].name) if around else None
        op = programs.instruction(int(id.group(1)), e.short_name) if id else None
        if not op:
            continue
        channel = id.group(1), op.int(CHANNEL)
        name = attributes_of(op).get('_xla_host_transfer_rendezvous') or meetings.get(channel)
        meetings[channel] = name
        if name:
            of, what = found[name], code.group(1)
            of.last[what] = e
            if what == 'send':
                of.last.pop('recv', None)
                of.sizes = group_size(e.stats.get('dcn_collective_info'))
            elif what == 'recv-done' and 'send' in of.last:
                of.instances.append((of.last.get('recv'), of.last['send'], e))
    return {name: of for name, of in found.items() if of.instances}


def host_stall(planes, name, instances):
    """Average over instances of the end of the host's event less the start of the recv-done, in
    whole nanoseconds. The first core's number ends in 00000."""
    events = sorted((e.start_ps // 1000, e.end_ps // 1000) for p in planes if p.kind == 'host'
                    for line in p.lines for e in line.events
                    if re.fullmatch(r'device_([0-9]*0000)?0_gid_' + re.escape(name), e.name))
    found = []
    for _, send, done in instances:
        of = [end for start, end in events
              if send.start_ps // 1000 <= start <= done.end_ps // 1000]
        if of:
            found.append((of[0] - done.start_ps // 1000) / 1e6)
    return statistics.mean(found) if found else None


def check(run):
    rows = run.ask('SELECT * FROM dcn_collectives({x})')
    want = {}
    for planes in run.hosts.values():
        for name, of in transfers_of(planes).items():
            recv = sum(r.duration_ps for r, _, _ in of.instances if r)
            want[name] = [len(of.instances), of.sizes, recv / len(of.instances) / 1e9]
    if len(run.hosts) == 1:
        agree('transfers', {r['rendezvous_name']: [
            r['occurrences'], r['group_size'], r['recv_stall_ms_actual']] for r in rows}, want)
        planes, = run.hosts.values()
        for r in rows:
            of = transfers_of(planes)[r['rendezvous_name']]
            agree('host in ' + r['rendezvous_name'], r['host_stall_ms'],
                  host_stall(planes, r['rendezvous_name'], of.instances), rel=1e-6)
    is_shown = all(any(m.name.startswith('MegaScale:') for p in planes for m in p.metas.values())
                   for planes in run.hosts.values())
    agree('shown', [r['shown_by_xprof'] for r in rows], [int(is_shown)] * len(rows))


def each(run):
    tried('slices ' + run.path, check, run)


if __name__ == '__main__':
    main(each)
