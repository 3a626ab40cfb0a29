#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What trace_events says of an event beyond its own stats: the module and framework op that it
belongs to, its self time on the device clock, the step and module around an op of a TensorCore,
the name of its step, and whether it ran eagerly; from the bytes of each profile.

Which step an event belongs to (trace_events.step) is compared with XProf and in activities.py."""
import collections
import re
import sys

sys.dont_write_bytecode = True
from compare import agree, agree_one_of, integer, main, numbered, tried  # noqa: E402
from hlo import Message  # noqa: E402
from ops import op_text, plain_module  # noqa: E402
from xspace import Stats, fields, program_id, signed  # noqa: E402

TPU_CORES = ('tensorcore', 'sparsecore')
NO_NAME = ('XlaModule:', 'XlaModule')


def texts(value):
    return value if isinstance(value, str) and value else None


# ---- modules and framework ops ----

class Programs:
    """Of a host: module names and framework ops of instructions by program id."""

    def __init__(self, planes):
        self.modules, self.ops = {}, {}
        for plane in planes:
            for key, meta in plane.metas.items() if plane.name == '/host:metadata' else ():
                self.modules[key] = plain_module(meta.name) or None
                proto = meta.stats.get('Hlo Proto', meta.stats.get('HLO Proto'))
                module = Message(proto).sub(1) if isinstance(proto, bytes) else None
                for computation in map(Message, module.all(3)) if module else ():
                    for op in map(Message, computation.all(2)):
                        metadata = op.sub(7)
                        self.ops.setdefault((program_id(key, meta), op.text(1)),
                                            metadata.text(2) if metadata else '')

    def module(self, plane, line, e):
        name = texts(e.stats.get('hlo_module'))
        if name or plane.kind not in TPU_CORES:
            return plain_module(name) or None if name else None
        if line.name in ('XLA Modules', 'Sparse Core Modules'):
            return plain_module(e.name) or None
        program = integer(e.meta.stats.get('program_id'))
        return self.modules.get(program if program is None else signed(program % 2**64))

    def framework_op(self, plane, e):
        if plane.kind != 'gpu':
            return texts(e.stats.get('tf_op'))
        text = op_text(e.stats)
        program, name = integer(e.stats.get('program_id')), texts(e.stats.get('hlo_op'))
        if text is None and e.stats.get('tf_op') in NO_NAME and program is not None and name:
            name = name.rpartition('::')[2].removeprefix('%')
            text = self.ops.get((program % 2**64, name)) or None
        return text


def programs(run):
    of_host = {host: Programs(planes) for host, planes in run.hosts.items()}
    want = {number: [of_host[host].module(plane, line, e), of_host[host].framework_op(plane, e)]
            for number, host, plane, line, e in numbered(run)}
    for r in run.ask('SELECT event_id, hlo_module, tf_op FROM trace_events({x})'):
        agree('module and framework op of event %d' % r['event_id'], [r['hlo_module'], r['tf_op']],
              want[r['event_id']])


# ---- device clock, steps and modules of cores ----

def on_device(e):
    """(start, end) on the device clock, or without it of the event. A stat of the event's own that
    is no integer, or has no value, is 0."""
    own = Stats(e.line.plane, e.messages)
    start, length = ((integer(own[name]) or 0) if name in own else None
                     for name in ('device_offset_ps', 'device_duration_ps'))
    return (e.start_ps, e.end_ps) if start is None or length is None else (start, start + length)


def device_selfs(events):
    """{event id: self time} in order of the events' own start, the longer first: what does not
    include the next event is over."""
    found, inside = {}, []
    for number, e in sorted(events, key=lambda x: (x[1].start_ps, -x[1].duration_ps, x[0])):
        start, end = on_device(e)
        while inside and not (inside[-1][0] <= start and end <= inside[-1][1]):
            inside.pop()
        if inside:
            found[inside[-1][2]] -= end - start
        inside.append((start, end, number))
        found[number] = end - start
    return found


def device_clock(run):
    lines = collections.defaultdict(list)
    for number, _, plane, line, e in numbered(run):
        if plane.kind in TPU_CORES:
            lines[line].append((number, e))
    want = {}
    for of in lines.values():
        found = device_selfs(of)
        want.update({n: found[n] if {'device_offset_ps', 'device_duration_ps'} <= set(Stats(
            e.line.plane, e.messages)) else None for n, e in of})
    for r in run.ask("SELECT event_id, device_self_ps FROM trace_events({x}) "
                     "WHERE plane_kind IN ('tensorcore', 'sparsecore')") if want else ():
        agree('self time of event %d on the device clock' % r['event_id'], r['device_self_ps'],
              want[r['event_id']])


def around(ops, others):
    """{event id: id of the event around it}: both are gone through as they are stored, by one
    forward search each time that the event in hand does not include the op."""
    found, rest, in_hand = {}, list(others), None

    def includes(e):
        return in_hand and in_hand[1].start_ps <= e.start_ps and e.end_ps <= in_hand[1].end_ps
    for number, e in ops:
        if not includes(e):
            at = next((i for i, x in enumerate(rest) if x[1].end_ps >= e.start_ps), None)
            if at is not None and rest[at][1].start_ps <= e.end_ps:
                in_hand, rest = rest[at], rest[at + 1:]
        found[number] = in_hand[0] if includes(e) else None
    return found


def parents(run):
    lines = collections.defaultdict(dict)
    for number, _, plane, line, e in numbered(run):
        if plane.kind == 'tensorcore':
            lines[plane].setdefault(line.id, []).append((number, e))
    want = {}
    for of in lines.values():
        steps, modules = (around(of.get(3, ()), of.get(id, ())) for id in (1, 2))
        want.update({number: [steps[number], modules[number]] for number in steps})
    for r in run.ask("SELECT event_id, step_event_id, module_event_id FROM trace_events({x}) "
                     "WHERE plane_kind = 'tensorcore'") if lines else ():
        agree('step and module around event %d' % r['event_id'], [
            r['step_event_id'], r['module_event_id']], want.get(r['event_id'], [None, None]))


# ---- what comes from what ----

class Node:
    __slots__ = ('e', 'number', 'parents')

    def __init__(self, number, e):
        self.number, self.e, self.parents = number, e, []


def ancestors(node):
    """The event itself, then those that it comes from, the nearest first."""
    seen, level = {node.number}, [node]
    while level:
        yield from level
        below, level = level, []
        for x in below:
            for parent in x.parents:
                if parent.number not in seen:
                    seen.add(parent.number)
                    level.append(parent)


def graph(host_nodes):
    """Nests the events of each line as they are stored, and links launches with kernels and
    producers with consumers."""
    launches, producers, consumers = {}, collections.defaultdict(list), []
    for plane, lines in host_nodes:
        for nodes in lines:
            inside = []
            for node in nodes:
                e = node.e
                if integer(e.stats.get('_a')):
                    continue
                while inside and not (inside[-1].e.start_ps <= e.start_ps
                                      and e.end_ps <= inside[-1].e.end_ps):
                    inside.pop()
                node.parents += inside[-1:]
                inside.append(node)
            for node in nodes:
                s = node.e.stats
                if plane.name == '/host:CPU' and integer(s.get('correlation_id')) is not None:
                    launches[s['correlation_id']] = node
                if '_pt' in s and '_p' in s:
                    producers[s['_pt'], s['_p']].append(node)
                if '_ct' in s and '_c' in s:
                    consumers.append(((s['_ct'], s['_c']), node))
    for key, node in consumers:
        node.parents += producers[key]
    for plane, lines in host_nodes:
        for node in (n for nodes in lines for n in nodes if plane.name != '/host:CPU'):
            launch = launches.get(node.e.stats.get('correlation_id'))
            node.parents += [launch] if launch else []


def nodes_of(run):
    """(planes, [(plane, nodes by line)]) of each host."""
    number = 0
    for planes in run.hosts.values():
        nodes = []
        for plane in planes:
            lines = []
            for line in plane.lines:
                lines.append([Node(number + i, e) for i, e in enumerate(line.events)])
                number += len(line.events)
            nodes.append((plane, lines))
        graph(nodes)
        yield planes, nodes


# ---- steps ----

LOOPS = {'WhileOp-EvalCond', 'WhileOp-StartBody', 'ForOp', 'ParallelForOp', 'ForeverOp'}
IMPLICIT = ('FunctionRun', 'SessionRun', 'RunGraph', 'ExecutorState::Process')
SERVERS = ('ProcessBatch', 'OrbaxServing::ProcessBatch', 'BatchingSessionRun')


def is_grouped(planes):
    return all('group_id' in p.stat_names.values() for p in planes
               if p.name.startswith(('/host:', '/device:')))


def is_looping(planes):
    """XProf groups nothing in a file that declares these events."""
    return any(m.name in LOOPS for p in planes for m in p.metas.values())


def is_root(e):
    return '_r' in e.stats or e.name in ('TraceContext', 'ExecutorState::Process') + SERVERS


def int64_in(e, name):
    """As XProf reads a number: 0 if the stat is of another type."""
    for message in e.messages:
        if name in Stats(e.line.plane, [message]):
            return next((signed(x) for number, x in fields(message) if number == 4), 0)
    return None


def name_of_root(node, group):
    """The kind of graph or the event's own name, and the nearest number."""
    nearest = collections.defaultdict(lambda: None)
    for a in ancestors(node):
        for name in ('iter_num', 'step_num'):
            if nearest[name] is None:
                nearest[name] = int64_in(a.e, name)
        nearest['graph'] = nearest['graph'] or texts(a.e.stats.get('graph_type'))
    number = next((nearest[n] for n in ('iter_num', 'step_num') if nearest[n] is not None), group)
    first = nearest['graph'] or (None if node.e.name in IMPLICIT else node.e.name)
    return '%s %d' % (first, number) if first else str(number)


def names_of_groups(planes, nodes, step_of):
    """{group: possible names}, from its root; and the names of roots that bring groups of their
    own, which may be another's."""
    names, own = collections.defaultdict(set), set()
    for node in (n for _, lines in nodes for of in lines for n in of):
        group, e = step_of[node.number], node.e
        if group is None:
            continue
        if is_root(e):
            names[group].add(name_of_root(node, group))
            own |= {name_of_root(node, group), None} if 'group_id' in e.stats else set()
    return names, own


def step_names(run):
    rows = {r['event_id']: r for r in run.ask('SELECT event_id, step, step_name '
                                              'FROM trace_events({x})')}
    step_of = {number: r['step'] for number, r in rows.items()}
    for planes, nodes in nodes_of(run):
        names, own = names_of_groups(planes, nodes, step_of)
        numbered_alone = not is_grouped(planes) and any(p.kind == 'tensorcore' for p in planes)
        for node in (n for _, lines in nodes for of in lines for n in of):
            group = step_of[node.number]
            allowed = {None} if group is None else names[group] or {
                str(group) if numbered_alone else None}
            if is_grouped(planes):
                said = node.e.stats.get('step_name') if group is not None else None
                agree('step name of event %d' % node.number, rows[node.number]['step_name'],
                      said if texts(said) else None)
                continue
            agree_one_of('step name of event %d' % node.number, rows[node.number]['step_name'],
                         allowed | (own if group is not None else set()))


# ---- eager ops ----

TF_OP = re.compile(r'[A-Za-z0-9.][A-Za-z0-9_./>-]*:[A-Z_][A-Za-z0-9_]*')


def is_eager(node, planes):
    if is_grouped(planes) or is_looping(planes):
        return integer(node.e.stats.get('is_eager'))
    first = next((a.e for a in ancestors(node) if a.e.name == 'EagerExecute'), None)
    return int(first is not None and first.stats.get('is_func') == 0)


def eager(run):
    """Of ops on threads of the host and of kernels; where the file has its groups, of all."""
    got = {r['event_id']: r['is_eager'] for r in run.ask('SELECT event_id, is_eager '
                                                         'FROM trace_events({x})')}
    for planes, nodes in nodes_of(run):
        for plane, node in ((p, n) for p, lines in nodes for of in lines for n in of):
            is_op = TF_OP.fullmatch(node.e.name) if plane.name == '/host:CPU' else (
                plane.kind == 'gpu' and 'correlation_id' in node.e.stats)
            if is_op or is_grouped(planes):
                agree('whether event %d, %s, is eager' % (node.number, node.e.name),
                      got[node.number], is_eager(node, planes))


def each(run):
    for check in (programs, device_clock, parents, step_names, eager):
        tried('%s %s' % (check.__name__, run.path), check, run)


if __name__ == '__main__':
    main(each)
