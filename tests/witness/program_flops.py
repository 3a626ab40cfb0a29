#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How many operations programs carried out: program_flops from the rows of ops, instructions and
executions, which are compared elsewhere. Other witnesses ask it what the kernels of CUDA graphs,
which hlo_ops lacks, did."""
import collections
import sys

sys.dont_write_bytecode = True
from compare import agree, main, tried  # noqa: E402

RUN_OTHERS = {'while', 'call', 'conditional', 'async-start'}
NO_PROGRAM = None


def of_one_execution(instructions):
    """(model operations, hardware operations) of instructions; None: not known."""
    model = hardware = 0
    for i in instructions:
        if i['opcode'] in RUN_OTHERS or not i['model_flops_actual']:
            continue
        if i['runs_per_execution'] is None:
            return None
        hardware += i['flops_actual'] * i['runs_per_execution']
        if '.remat' not in i['hlo_op'] and 'rematted_computation' not in (i['tf_op'] or ''):
            model += i['model_flops_actual'] * i['runs_per_execution']
    return model, hardware


class Ran:
    """What is known of a program that ran: times in ps, [model, hardware] operations."""

    def __init__(self):
        self.module, self.events, self.listed, self.on_gpus, self.elsewhere = None, 0, 0, 0, 0
        self.flops, self.executions, self.shown, self.one, self.n_known = [0, 0], 0, 0, None, 0

    @property
    def time(self):
        return self.on_gpus + self.elsewhere

    @property
    def lacks(self):
        return max(self.on_gpus - self.listed, 0)

    @property
    def sum(self):
        return [x * self.shown for x in self.one] if self.one and self.executions else None

    @property
    def by(self):
        if self.lacks and self.sum:
            return 'program'
        return 'ops' if self.n_known and self.lacks <= 0.1 * self.time else None

    @property
    def done(self):
        return {'program': self.sum, 'ops': self.flops, None: [None, None]}[self.by]


def programs_that_ran(run):
    """{program id: Ran}"""
    ops, scope_ops, instructions, executions = run.ask_all(
        'SELECT program_id, hlo_module, core_type, rematerialization, occurrences, event_self_ps, '
        'flops_actual, model_flops_actual FROM hlo_ops({x}) WHERE rank > 0',
        "SELECT program_id, hlo_module, occurrences, self_us FROM scope_ops({x}) "
        "WHERE plane_kind = 'gpu' AND hlo_op IS NOT NULL",
        'SELECT host, program_id, hlo_op, opcode, tf_op, runs_per_execution, flops_actual, '
        'model_flops_actual FROM hlo_instructions({x})',
        'SELECT program_id, executions, shown_executions FROM program_totals({x})')
    found = collections.defaultdict(Ran)
    for o in ops:
        ran = found[o['program_id'] if o['program_id'] != '0' or o['hlo_module'] else NO_PROGRAM]
        ran.module = ran.module or o['hlo_module']
        if o['core_type'] or o['program_id'] == '0' and not o['hlo_module']:
            ran.elsewhere += o['event_self_ps']
            ran.events += o['occurrences']
        else:
            ran.listed += o['event_self_ps']
        if o['model_flops_actual'] is not None:
            ran.n_known += 1
            ran.flops[0] += o['model_flops_actual'] if o['rematerialization'] != 'Yes' else 0
            ran.flops[1] += o['flops_actual']
    for o in scope_ops:
        ran = found[o['program_id']]
        ran.module = ran.module or o['hlo_module']
        ran.on_gpus += round(o['self_us'] * 1e6)
        ran.events += o['occurrences']
    of_host = collections.defaultdict(list)
    for i in instructions:
        of_host[i['program_id'], i['host']].append(i)
    sums = collections.defaultdict(list)
    for (program, _), of in of_host.items():
        sums[program].append(of_one_execution(of))
    for r in executions:
        if r['program_id'] is not None and r['program_id'] in found:
            found[r['program_id']].executions += r['executions']
            found[r['program_id']].shown += r['shown_executions']
    for program, ran in found.items():
        ran.one = sums[program][0] if len(set(sums[program])) == 1 else None
    return found


def are_operations_unknown(run, ran=None):
    busy = run.ask("SELECT total(busy_ps) AS ps FROM device_time({x}) "
                   "WHERE kind IN ('gpu', 'tensorcore')")[0]['ps']
    ran = ran or programs_that_ran(run)
    return sum(r.lacks for r in ran.values() if not r.sum) > 0.1 * busy > 0


def check(run):
    want = {program: [r.module, r.executions or None, r.events, r.time / 1e9,
                      100 * r.lacks / r.time if r.time else None, r.by, *r.done]
            for program, r in programs_that_ran(run).items()}
    got = run.ask('SELECT program_id, hlo_module, executions, occurrences, op_ms, '
                  'unlisted_percent, flops_by, model_flops, hardware_flops '
                  'FROM program_flops({x})')
    agree('program_flops', {r['program_id']: list(r.values())[1:] for r in got}, want, rel=1e-7)


def each(run):
    tried('program_flops ' + run.path, check, run)


if __name__ == '__main__':
    main(each)
