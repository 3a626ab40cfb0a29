# SPDX-License-Identifier: Apache-2.0
"""Comparisons of two runs, of which each has several programs with instructions of one name."""
from lib.cases import case, same
from lib.hlo import F32, computation, instruction, module, proto, shape
from lib.shell import rows
from lib.wire import L, Plane, US, space

A, B, C = shape(F32, 2), shape(F32, 3), shape(F32, 5)  # of results: what fingerprints differ by
MODULES = {1: 'm', 2: 'm', 3: 'n'}  # of programs


def run(*ops):
    """A GPU that runs ops (program's id, instruction, shape of its result)."""
    kernels, metadata = [], Plane('/host:metadata', 9)
    for i, (program_id, name, _) in enumerate(ops):
        kernels.append(('k', 2 * i * US, US, {
            'tf_op': {'str': 'f:'}, 'hlo_op': {'str': name},
            'hlo_module': {'str': MODULES[program_id]}, 'program_id': {'uint64': program_id},
            'kernel_details': {'str': 'regs:32 grid:1,1,1 block:32,1,1'}
        }))
    for program_id in sorted({op[0] for op in ops}):
        made = [
            instruction(i + 1, name, 'custom-call', result)
            for i, (_, name, result) in enumerate(op for op in ops if op[0] == program_id)
        ]
        main, name = computation(1, 'main', made, root=1), MODULES[program_id]
        program = proto(module(name, main, id=program_id, more=L(4)))
        metadata.meta('%s(%d)' % (name, program_id), stats={'Hlo Proto': {'bytes': program}},
                      key=program_id)
    return space(Plane('/device:GPU:0').line(1, 'Stream #1', kernels).bytes(), metadata.bytes())


def compared(a, b):
    return rows(
        "SELECT hlo_op, name_b, matched_by, change, occurrences_a, occurrences_b"
        " FROM compare_hlo_ops('{a}', '{b}') ORDER BY 1, 2 IS NULL",
        a=a,
        b=b)


@case
def fingerprints_of_programs():
    """A fingerprint is of one program; equal ops of programs of one name are one op."""
    a = run((1, 'x', A), (2, 'y', B))
    same(compared(a, run((1, 'z', A), (2, 'y', B))), [('x', 'z', 'fingerprint', 'both', 1, 1),
                                                      ('y', None, 'name', 'both', 1, 1)])
    same(compared(run((1, 'x', A), (2, 'x', A)), run((1, 'z', A))),
         [('x', 'z', 'fingerprint', 'both', 2, 1)])
    same(compared(run((1, 'x', A), (3, 'x', B)), run((1, 'z', A), (3, 'x', B))),
         [('x', 'z', 'fingerprint', 'both', 1, 1), ('x', None, 'name', 'both', 1, 1)])
    for shape_of_z in (A, B):  # x is two different instructions: which of them z is, is not known
        same(compared(run((1, 'x', A), (2, 'x', B)), run((1, 'z', shape_of_z))),
             [('x', None, None, 'vanished', 2, 0), ('z', None, None, 'appeared', 0, 1)])
    hosts = [run((1, 'x', A), (2, 'x', B)), run((2, 'x', C))]  # nor what x is in program 2
    same(compared(hosts, run((1, 'z', A))),
         [('x', None, None, 'vanished', 3, 0), ('z', None, None, 'appeared', 0, 1)])
    same(
        compared(run((1, 'x', A), (1, 'w', A)), run((1, 'z', A))),  # two have it: none is the one
        [('w', None, None, 'vanished', 1, 0), ('x', None, None, 'vanished', 1, 0),
         ('z', None, None, 'appeared', 0, 1)])


@case
def hlo_ops_of_another_category():
    """The name of an op counts, not its category, but where two ops of a name are told apart by
    it."""
    def categories(*ops):
        plane = Plane('/device:TPU:0')
        keys = [plane.meta('%%%s = f32[1] op()' % name, name, {
            'program_id': {'uint64': 1}, 'symbol_id': {'uint64': i + 1},
            'hlo_category': {'str': category}
        }) for i, (name, category) in enumerate(ops)]
        return space(plane.line(1, 'XLA Ops',
                                [(key, 2 * i * US, US) for i, key in enumerate(keys)]).bytes())
    query = ("SELECT hlo_op, category, matched_by, change FROM compare_hlo_ops('{a}', '{b}')"
             " ORDER BY 1, 2")
    same(rows(query, a=categories(('f.1', 'loop fusion'), ('f.2', 'convolution')),
              b=categories(('f.1', 'input fusion'), ('f.2', 'copy'))),
         [('f.1', 'loop fusion', 'name', 'both'), ('f.2', 'convolution', 'name', 'both')])


@case
def places():
    """What ran on threads is not what ran on a device, and a TensorCore's op is not a SparseCore's,
    whatever their names."""
    def core(plane, line):
        return space(Plane(plane).line(1, line, [('f.1', 0, 4 * US)]).bytes())
    query = ("SELECT type, operation, change, per_device_step_us_a, per_device_step_us_b"
             " FROM compare_ops('{a}', '{b}') ORDER BY 3")
    tensorcore = core('/device:TPU:0', 'XLA Ops')
    for plane, line, place in (('/host:CPU', 'main', 'host'),
                               ('/device:TPU:0 SparseCore 0', 'Sparse Core Ops', 'sparsecore')):
        same(rows(query, a=tensorcore, b=core(plane, line)),
             [(place, 'f.1', 'appeared', 0.0, 4.0), ('device', 'f.1', 'vanished', 4.0, 0.0)])


@case
def names_before_fingerprints_before_similar_names():
    """A name decides before a fingerprint, and a fingerprint before a similar name."""
    same(compared(run((1, 'x', A), (1, 'f.1', B)), run((1, 'x', B), (1, 'f.2', C))),
         [('f.1', 'f.2', 'similar name', 'both', 1, 1), ('x', None, 'name', 'both', 1, 1)])
    same(compared(run((1, 'f.1', A), (1, 'g.1', B)), run((1, 'f.2', B), (1, 'g.2', A))),
         [('f.1', 'g.2', 'fingerprint', 'both', 1, 1), ('g.1', 'f.2', 'fingerprint', 'both', 1, 1)])
    same(compared(run((1, 'f.1', A), (1, 'f.2', B)), run((1, 'f.3', C))),
         [('f.1', None, None, 'vanished', 1, 0), ('f.2', None, None, 'vanished', 1, 0),
          ('f.3', None, None, 'appeared', 0, 1)])


@case
def ops_of_one_run_on_hosts():
    """What only one run has is shared by its hosts, where host threads ran it."""
    def on_hosts(*names):
        return [space(Plane('/host:CPU').line(1, 'main', [(name, 0, 4 * US)]).bytes())
                for name in names]
    query = ("SELECT operation, change, type, per_device_step_us_a, per_device_step_us_b"
             " FROM compare_ops('{a}', '{b}') ORDER BY 1")
    same(rows(query, a=on_hosts('old', 'old'), b=on_hosts('new', 'new', 'new', 'new')),
         [('new', 'appeared', 'host', 0.0, 4.0), ('old', 'vanished', 'host', 4.0, 0.0)])
    framework = query.replace("'{b}')", "'{b}', 'framework') WHERE operation <> 'IDLE'")
    same(rows(framework, a=on_hosts('old:Old', 'old:Old'), b=on_hosts('new:New', 'new:New')),
         [('new', 'appeared', 'New', 0.0, 4.0), ('old', 'vanished', 'Old', 4.0, 0.0)])
