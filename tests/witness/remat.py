#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which values a program could compute again instead of keeping them: remat_candidates from its
buffers, instructions and heap, which are compared elsewhere."""
import collections
import sys

sys.dont_write_bytecode = True
from compare import agree, main, tried  # noqa: E402

MIB, ALL = 1048576.0, 1000000
NOT_COMPUTED = {
    'communication': ('all-reduce', 'all-gather', 'all-to-all', 'reduce-scatter', 'collective-',
                      'ragged-all-to-all', 'send', 'recv', 'infeed', 'outfeed'),
    'asynchronous': ('async-', 'copy-start', 'copy-done', 'slice-start', 'slice-done'),
    'no value of its own': ('tuple', 'get-tuple-element'),
    'a loop or a call': ('while', 'conditional', 'call')}
CODES = {code for codes in NOT_COMPUTED.values() for code in codes}


def is_computed(opcode):
    return not (opcode in CODES or opcode.endswith(('-start', '-done'))
                or opcode.startswith(tuple(c for c in CODES if c.endswith('-')))
                or opcode.startswith(('all-reduce', 'all-gather')))


def operations(op):
    """None: unknown. That a custom call has 0 says nothing."""
    return None if op['opcode'] == 'custom-call' and not op['model_flops_actual'] \
        else op['model_flops_actual']


def start_loops(run):
    """{(host, program, op)}: values that a loop takes, alone or in a tuple"""
    opcodes = {(i['host'], i['program_id'], i['hlo_op']): i['opcode']
               for i in run.ask('SELECT * FROM hlo_instructions({x})')}
    users = collections.defaultdict(set)
    for o in run.ask('SELECT * FROM hlo_operands({x})'):
        users[o['host'], o['program_id'], o['operand']].add(
            (o['host'], o['program_id'], o['hlo_op']))
    return {key for key, of in users.items() if any(
        opcodes[user] == 'while' or opcodes[user] == 'tuple' and any(
            opcodes[x] == 'while' for x in users.get(user, ())) for user in of)}


def is_again(op):
    return '.remat' in op['hlo_op'] or 'rematted_computation' in (op['tf_op'] or '').split('/')


def candidates(run, space, most):
    """(host, program, module, value, opcode, bytes, shares of the peak and of events, operations,
    shape)"""
    ops = {(i['host'], i['program_id'], i['hlo_op']): i
           for i in run.ask('SELECT * FROM hlo_instructions({x})')}
    peaks = {(p['host'], p['program_id']): p for p in run.ask('SELECT * FROM memory_peaks({x})')
             if p['memory_space'] == space and p['peak_event'] is not None}
    events = collections.defaultdict(dict)
    for e in run.ask('SELECT * FROM heap_timeline({x})') if peaks else ():
        if e['memory_space'] == space:
            events[e['host'], e['program_id']][e['event']] = e['hlo_op']
    started = start_loops(run)
    for b in run.ask('SELECT * FROM buffer_allocations({x})') if peaks else ():
        key = b['host'], b['program_id']
        op = ops.get((*key, b['hlo_op']))
        if b['kind'] != 'temporary' or b['memory_space'] != space or key not in peaks or not op \
                or b['storage_start_event'] is None or not b['size_bytes']:
            continue
        at, n = peaks[key]['peak_event'], len(events[key]) - 1
        lives = b['storage_start_event'] <= at < b['storage_end_event']
        flops = operations(op)
        if lives and flops is not None and flops <= most * b['size_bytes'] and is_computed(
                op['opcode']) and not is_again(op) and (*key, b['hlo_op']) not in started \
                and events[key].get(at) != b['hlo_op']:
            yield (b['host'], b['program_id'], b['hlo_module'],
                   b['hlo_op'] + (b['shape_index'] or ''), b['opcode'], b['size_bytes'],
                   100 * b['size_bytes'] / MIB / peaks[key]['peak_heap_mib'],
                   100 * (b['storage_end_event'] - b['storage_start_event']) / n, flops,
                   b['shape_actual'])


def check(run, space=0, most=16.0):
    hosts = collections.defaultdict(list)
    for host, *value in candidates(run, space, most):
        hosts[tuple(value)].append(host)
    got = run.ask('SELECT * FROM remat_candidates({x}, %d, %r, %d)' % (ALL, most, space))
    columns = ('program_id', 'hlo_module', 'hlo_op', 'opcode')
    agree('values to compute again', sorted([
        *(r[c] for c in columns), r['size_mib'] * MIB, r['peak_percent'], r['lived_percent'],
        r['flops'], r['shape'], r['hosts'], r['flops_per_byte']] for r in got), sorted([
            *value, len(of), value[7] / value[4]] for value, of in hosts.items()), rel=1e-6)
    products = [r['size_mib'] * r['lived_percent'] for r in got]
    agree('their order', products, sorted(products, reverse=True))


def each(run):
    if run.ask('SELECT 1 FROM memory_peaks({x}) LIMIT 1'):
        for space in (0, 1):
            tried('remat %d %s' % (space, run.path), check, run, space)
        tried('cheap remat ' + run.path, check, run, 0, 0.3)


if __name__ == '__main__':
    main(each)
