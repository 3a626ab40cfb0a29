#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The instruction of each kernel of a CUDA graph: graph_kernels, from the bytes of each profile and
of its programs, kernel by kernel."""
import sys

sys.dont_write_bytecode = True
from compare import agree, main, numbered, tried  # noqa: E402
from places import in_graphs  # noqa: E402
from programs import programs_of  # noqa: E402
import scopes  # noqa: E402
from short_names import of_gpus  # noqa: E402

COLUMNS = ('event_id', 'host', 'name', 'short_name', 'duration_ps', 'program_id', 'hlo_module',
           'graph', 'hlo_op', 'found_by', 'is_execution', 'tf_op') + scopes.OWNER


def check(run, programs):
    want, graphs = {}, in_graphs(run)
    short = of_gpus(run) if graphs else {}
    for number, host, _, _, e in numbered(run):
        of = graphs.get(id(e))
        if of:
            id_of = str(e.stats['program_id'] % 2**64)
            program = programs[host, id_of]
            op = program.by_id[of.op.id] if of.op else None
            want[number] = [number, host, e.name, short[e.name], e.duration_ps, id_of, program.name,
                            e.stats['hlo_op'].rpartition('::')[2], op and op.name, of.by,
                            of.is_execution] + ([op.tf_op or None] + program.origin(op)
                                                if op else [None] * (1 + len(scopes.OWNER)))
    got = {r['event_id']: r for r in run.ask('SELECT * FROM graph_kernels({x})')}
    for number, row in want.items():
        if number in got:
            agree('kernel %d' % number, {c: got[number][c] for c in COLUMNS},
                  dict(zip(COLUMNS, row)))
            agree('its time in us', got[number]['duration_us'], row[4] / 1e6)
    agree('kernels of graphs', sorted(got), sorted(want))


def each(run):
    tried('graph_kernels ' + run.path, check, run, programs_of(run, scopes.Program))


if __name__ == '__main__':
    main(each)
