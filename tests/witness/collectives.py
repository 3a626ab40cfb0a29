#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Waiting in collectives: collectives and the waits of stragglers from the bytes of each profile,
as docs/semantics.md defines them.

Groups are written out as lists of ids, and every occurrence is compared with those of all its
peers."""
import collections
import functools
import itertools
import math
import re
import sys

sys.dont_write_bytecode = True
from compare import agree, main, tried  # noqa: E402
from device_time import COLLECTIVE, devices, ends, op_name, opcode  # noqa: E402
from xspace import fields, program_id, signed, text, varint  # noqa: E402

KINDS = ('all-reduce', 'all-gather', 'reduce-scatter', 'collective-permute', 'collective-broadcast',
         'ragged-all-to-all', 'all-to-all')
KERNELS = (('AllReduce', 'all-reduce'), ('AllGather', 'all-gather'),
           ('ReduceScatter', 'reduce-scatter'), ('Broadcast', 'collective-broadcast'),
           ('SendRecv', 'collective-permute'), ('AllToAll', 'all-to-all'), ('Reduce', 'reduce'))


def kind_in(word):
    return next((k for k in KINDS if word.startswith(k)), None)


# ---- programs ----

def numbers(value):
    """Of a repeated integer: packed, or one alone."""
    if isinstance(value, int):
        return [signed(value)]
    found, at = [], 0
    while at < len(value):
        n, at = varint(value, at)
        found.append(signed(n))
    return found


@functools.lru_cache(maxsize=1 << 14)
def parsed(message):
    found = collections.defaultdict(list)
    for number, value in fields(message):
        found[number].append(value)
    return dict(found)


def all_of(message, number):
    return parsed(message).get(number, [])


def repeated(message, number):
    return [x for v in all_of(message, number) for x in numbers(v)]


def last(message, number, default=None):
    return (all_of(message, number) or [default])[-1]


class Program:
    def __init__(self, module):
        self.module, self.instructions, self.roots = module, {}, {}
        for computation in all_of(module, 3):
            self.roots[last(computation, 5, 0)] = last(computation, 6, 0)
            for message in all_of(computation, 2):
                self.instructions.setdefault(text(last(message, 1, b'')), message)
        self.by_id = {last(m, 35, 0): m for m in self.instructions.values()}
        assigned = last(module, 15)
        self.assignment = None if assigned is None else [repeated(m, 1)
                                                         for m in all_of(assigned, 3)]

    def find(self, name):
        found = self.instructions.get(name)
        if found and text(last(found, 2, b'')).startswith('async-') and repeated(found, 38):
            found = self.by_id.get(self.roots.get(repeated(found, 38)[0]))
        return found


def programs_of(planes):
    found = {}
    for plane in planes:
        if plane.name == '/host:metadata':
            for key, meta in plane.metas.items():
                for value in meta.stats.values():
                    if isinstance(value, bytes) and all_of(value, 1):
                        found.setdefault(program_id(key, meta), Program(all_of(value, 1)[0]))
    return found


WIDTHS = {1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 1, 7: 2, 8: 4, 9: 8, 10: 2, 11: 4, 12: 8, 15: 8, 16: 2,
          18: 16, 19: 1, 20: 1, 23: 1, 24: 1, 25: 1, 28: 1, 29: 1, 33: 1}


def shape_bytes(shape):
    """Of an array without padding, or of the parts of a tuple."""
    if last(shape, 2, 0) == 13:
        return sum(map(shape_bytes, all_of(shape, 4)))
    return math.prod(repeated(shape, 3)) * WIDTHS.get(last(shape, 2, 0), 0)


def given_bytes(program, message):
    return sum(shape_bytes(last(program.by_id[i], 3, b'')) for i in repeated(message, 36))


# ---- groups ----

def iota(shape, order, size):
    """Rows of `size` of the array of this shape, its axes in another order: by walking it index by
    index."""
    strides = [1] * len(shape)
    for i in range(len(shape) - 1, 0, -1):
        strides[i - 1] = strides[i] * shape[i]
    flat = [0]
    for axis in order:
        flat = [x + i * strides[axis] for x in flat for i in range(shape[axis])]
    return [flat[i:i + size] for i in range(0, len(flat), size)]


def along_axes(mesh, refs):
    """Groups of the devices of a mesh that are at the same place along all that `refs` do not
    name: axes (number, None), or parts of them (number, (size of the parts before, size))."""
    sizes = [last(a, 2, 0) for a in all_of(mesh, 1)]
    order, places = last(mesh, 3), list(itertools.product(*map(range, sizes)))
    ids = repeated(mesh, 2) or list(range(len(places)))
    if order is not None:
        shape = repeated(order, 1)
        ids = iota(shape, repeated(order, 2), len(places))[0]
    # The pieces of each axis that no name covers: start and end of each.
    left = [[(1, size)] for size in sizes]
    for axis, part in refs:
        start, of = part or (1, sizes[axis])
        left[axis] = [piece for a, b in left[axis] for piece in (
            [(a, start), (start * of, b)] if a <= start and start * of <= b else [(a, b)])]
    groups = {}
    for place, device in zip(places, ids):
        apart = [at // (size // b) % (b // a) for size, at, pieces in zip(sizes, place, left)
                 for a, b in pieces]
        groups.setdefault(tuple(apart), []).append(device)
    return list(groups.values())


def group_size(groups):
    """Devices in a group; None: unknown, or groups of several sizes."""
    sizes, assigned = {len(m) for m in groups.members or []}, groups.assignment
    if groups.pairs is not None or not groups.known:
        return None
    if groups.members is None:
        return {'replica': len(assigned[0]), 'partition': len(assigned)}.get(
            groups.ids, sum(map(len, assigned))) if assigned else None
    return sizes.pop() * (len(assigned) if groups.ids == 'both' and assigned
                          else 1) if len(sizes) == 1 else None


class Groups:
    """members: lists of ids; pairs: of source and target; neither: all devices. known: False:
    nothing says them."""

    def __init__(self, kind, channel, is_global):
        self.members = self.pairs = self.assignment = None
        self.known = True
        reduces = kind in ('all-reduce', 'all-gather', 'reduce-scatter')
        self.ids = ('replica' if not channel else 'partition' if not reduces else 'device'
                    if is_global else 'both')

    def n_devices(self):
        if self.assignment:
            return sum(map(len, self.assignment))
        ids = [i for m in (self.members or self.pairs or []) for i in m]
        return max(ids, default=-1) + 1

    def place(self, device):
        """(id, what has to be equal) of a device; None: unknown."""
        if not self.assignment:
            return None if device is None else (device, 0)
        for p, replicas in enumerate(self.assignment):
            if device in replicas:
                r = replicas.index(device)
                return {'replica': (r, p), 'partition': (p, r), 'both': (r, 0),
                        'device': (r * len(self.assignment) + p, 0)}[self.ids]
        return None

    def peers(self, a, b):
        if not self.known or (self.members is None and self.pairs is None and not self.assignment):
            return True
        a, b = self.place(a), self.place(b)
        if not a or not b or a[1] != b[1]:
            return False
        if self.pairs is not None:
            return (a[0], b[0]) in self.pairs or (b[0], a[0]) in self.pairs
        return self.members is None or any(a[0] in m and b[0] in m for m in self.members)


def groups_of_text(line, kind):
    def attribute(key):
        found = re.search(r'[ ,]%s=(\{(?:\{[^{}]*\},?)*\}|\[[^ ]*|[^ ,]*)' % key, line)
        return found.group(1).rstrip(',') if found else ''
    g = Groups(kind, attribute('channel_id'), attribute('use_global_device_ids') == 'true')
    groups, pairs = attribute('replica_groups'), attribute('source_target_pairs')
    if pairs:
        g.pairs = [tuple(map(int, p.split(','))) for p in re.findall(r'\{(\d+,\d+)\}', pairs)]
    elif groups.startswith('['):
        head, _, rest = groups.partition('<=')
        shape, order = (re.findall(r'\d+', part) for part in (rest + 'T').split('T')[:2])
        g.members = iota(list(map(int, shape)), list(map(int, order)) or range(len(shape)),
                         int(re.findall(r'\d+', head)[1]))
    elif groups:
        g.members = [list(map(int, m.split(',')))
                     for m in re.findall(r'\{([\d,]+)\}', groups)] or None
    else:
        g.known = False
    return g


def groups_of_program(program, message, kind):
    g = Groups(kind, last(message, 26, 0), last(message, 71, 0))
    g.assignment = program.assignment
    nested = last(message, 87, b'')
    lists = all_of(message, 49) or all_of(nested, 1)
    rows = last(message, 92) or last(nested, 2)
    if kind == 'collective-permute':
        g.pairs = [(last(m, 1, 0), last(m, 2, 0)) for m in all_of(message, 52)]
    elif lists:
        g.members = [repeated(m, 1) for m in lists]
    elif rows is not None:
        shape = repeated(rows, 3)
        g.members = iota(shape, repeated(rows, 4) or range(len(shape)), last(rows, 2, 0))
    elif all_of(message, 93):
        mesh = last(last(message, 93), 1, b'')
        g.members = along_axes(mesh, [
            (last(ref, 1, 0), part and (last(part, 1, 0), last(part, 2, 0)))
            for ref in all_of(last(message, 93), 2) for part in [last(ref, 2)]])
    return g


# ---- collectives ----

def number_of(device, run, same_kind, groups):
    details = device.plane.stats.get('core_details')
    if isinstance(details, bytes):
        return last(details, 6, 0)
    name = re.search(r':(\d+)$', device.plane.name)
    return int(name.group(1)) if name and len(
        run.hosts) == 1 and groups.n_devices() <= same_kind else None


def occurrences(run, mine):
    """{(host, program, op, instruction): {device: [(start, duration)]}, ...} with the kind and an
    event of each."""
    found = collections.defaultdict(lambda: collections.defaultdict(list))
    about = {}
    for d in mine:
        spans = [(s, e) for s, e in d.asynchronous if e] + [(e, e) for e in d.synchronous()]
        for start, done in spans:
            if d.kind_of(start) != COLLECTIVE:
                continue
            if d.kind == 'gpu':
                kind = next((k for part, k in KERNELS if part in start.name), None)
                name, instruction, program = start.name, str(start.stats.get(
                    'hlo_op', '')).rpartition('::')[2], start.stats.get('program_id')
            else:
                category = start.meta.stats.get('hlo_category', '')
                name = d.op(start, done) if (start, done) in d.asynchronous else op_name(start)
                kind = kind_in(category) or kind_in(opcode(start.name)) or kind_in(name)
                instruction, program = name, start.meta.stats.get('program_id')
            if kind:
                program = program % 2**64 if isinstance(program, int) else None
                key = (d.host, program, name, instruction)
                found[key][d].append((start.start_ps, max(ends(done) - start.start_ps, 0)))
                about[key, d] = (kind, start)
    return found, about


def waits_over_hosts(d, times, everywhere, run, mine, groups, starts):
    """(time, whether over hosts) that a device waits for its peers on all hosts."""
    def number(x):
        return number_of(x, run, sum(1 for y in mine if y.kind == x.kind and y.host == x.host),
                         groups)
    here = number(d)
    peers = [(x, of_peer) for x, of_peer in everywhere if x is not d
             and groups.peers(here, number(x))]
    over = any(x.host != d.host for x, _ in peers)
    if not peers or any(len(of_peer) != len(times) for _, of_peer in peers) or (
        over and any(not starts[x.host] for x in [d] + [x for x, _ in peers])):
        return None, None
    shifts = [((starts[x.host] - starts[d.host]) * 1000 if over else 0, of_peer)
              for x, of_peer in peers]
    return sum(min(max([start] + [of_peer[k][0] + shift for shift, of_peer in shifts]) - start,
                   duration) for k, (start, duration) in enumerate(times)), int(over)


def check(run):
    mine = devices(run)
    found, about = occurrences(run, mine)
    programs = {host: programs_of(planes) for host, planes in run.hosts.items()}
    want, starts = {}, {r['host']: r['start_unix_ns']
                        for r in run.ask('SELECT host, start_unix_ns FROM hosts({x})')}
    for times in (times for of_devices in found.values() for times in of_devices.values()):
        times.sort()
    for (host, program, name, instruction), of_devices in found.items():
        for d, times in of_devices.items():
            kind, event = about[(host, program, name, instruction), d]
            known = programs[host].get(program)
            message = known.find(instruction) if known else None
            of_program = message and kind_in(text(last(message, 2, b'')))
            groups = groups_of_program(known, message,
                                       of_program) if of_program else groups_of_text(event.name,
                                                                                     kind)
            same_kind = sum(1 for x in mine if x.kind == d.kind and x.host == host)
            ids = {x: number_of(x, run, same_kind, groups) for x in of_devices}
            peers = [x for x in of_devices if x is not d and groups.peers(ids[d], ids[x])]
            wait = None
            if peers and all(len(of_devices[x]) == len(times) for x in peers):
                wait = sum(min(max([start] + [of_devices[x][k][0] for x in peers]) - start,
                               duration) for k, (start, duration) in enumerate(times))
            size = group_size(groups)
            everywhere = [(x, times) for key, of_host in found.items()
                          if key[1:3] == (program, name)
                          and (key[3] == instruction or not key[3] or not instruction)
                          for x, times in of_host.items()]
            want[host, d.plane.name, str(program) if program is not None else None, name,
                 instruction or None] = (
                     of_program or kind, len(times), sum(t for _, t in times),
                     min(t for _, t in times), max(t for _, t in times), wait,
                     size) + waits_over_hosts(d, times, everywhere, run, mine, groups, starts)
    got = run.ask('SELECT host, plane, program_id, name, hlo_op, kind, occurrences, total_ps, '
                  'min_ps, max_ps, wait_ps, group_size, global_wait_ps, spans_hosts '
                  'FROM collectives({x})')
    agree('collectives', {tuple(r.values())[:5]: tuple(r.values())[5:] for r in got}, want)
    for r in run.ask('SELECT * FROM collectives({x})'):
        n, size, time = r['group_size'], r['bytes'], r['total_ps'] / r['occurrences'] / 1e12
        if r['kind'] == 'ragged-all-to-all' or (r['kind'] == 'all-gather' and n is None):
            size = None
        elif size is not None and r['kind'] == 'all-gather':
            size *= n
        factor = {'all-reduce': 2, 'all-gather': 1, 'reduce-scatter': 1,
                  'all-to-all': 1}.get(r['kind'])
        speed = size / time / 2**30 if size is not None and time else None
        bus = speed if factor is None or speed is None else factor * (
            n - 1) / n * speed if n else None
        given = r['bytes'] / time / 2**30 if r['bytes'] is not None and time else None
        agree('bandwidth of %s' % r, [r['message_bytes'], r['algorithm_gibps'], r['bus_gibps'],
                                      r['bandwidth_gibps']], [size, speed, bus, given])
        known = programs[r['host']].get(int(r['program_id'] or -1))
        message = known.find(r['hlo_op']) if known and r['hlo_op'] else None
        if message:
            agree('bytes of %s' % r, r['bytes'], given_bytes(known, message))
    waited = collections.defaultdict(dict)
    for (host, plane, *_), (_, _, _, _, _, wait, *_) in want.items():
        if wait is not None:
            waited[host][plane] = waited[host].get(plane, 0) + wait
    steps = {(row['host'], row['core_id']): row['n']
             for row in run.ask('SELECT host, core_id, count(DISTINCT start_ps) AS n '
                                'FROM core_steps({x}) GROUP BY host, core_id')}
    for row in run.ask('SELECT host, core_id, plane, waited_ms FROM stragglers({x}, 1000)'):
        of_host = waited[row['host']]
        wait = of_host.get(row['plane']) if row['plane'] else sum(of_host.values()) / len(
            of_host) if of_host else None
        agree('waited %s' % row, row['waited_ms'], wait / 1e9 / steps[row['host'], row['core_id']]
              if wait is not None else None)


def each(run):
    tried('collectives ' + run.path, check, run)


if __name__ == '__main__':
    main(each)
