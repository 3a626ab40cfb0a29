# SPDX-License-Identifier: Apache-2.0
"""Comparisons of two runs, of which each has several programs with instructions of one name."""
from lib.cases import case, near, refused, same
from lib.hlo import F32, computation, instruction, module, proto, shape
from lib.shell import attached, rows
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
    """The name of an op counts, not its category, unless two ops of one name differ only by
    category."""
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


@case
def groups_of_runs():
    """Medians of the runs' averages, and Welch's test: the critical value belongs to the degrees
    of freedom."""
    def steps(*ms):
        start, events = 0, []
        for i, length in enumerate(ms):
            events.append((str(i), start, int(length * 1000 * US), {'group_id': {'int64': i}}))
            start += int(length * 1000 * US)
        ops = [('op', e[1], e[2] // 2, e[3]) for e in events]
        return space(Plane('/device:TPU:0').line(1, 'Steps', events).line(3, 'XLA Ops',
                                                                          ops).bytes())
    query = ("SELECT category, a_ms, b_ms, difference_ms, difference_percent, verdict, t, a_runs, "
             "b_runs, a_min_ms, a_max_ms, b_min_ms, b_max_ms FROM compare_groups('%s', '%s') "
             "ORDER BY category = 'Step time' DESC LIMIT 1")

    def compare(b, **runs):
        return attached(query % ('a*', b), **{name: steps(*ms) for name, ms in runs.items()})[0]
    group = {'a1': (9, 11), 'a2': (12, 12), 'a3': (14, 14)}  # averages 10, 12, 14: variance 4
    got = compare('b*', **group, b1=(20,), b2=(22,), b3=(24,), b4=(22,), other=(1,))
    same(got[:6] + got[7:], ('Step time', 12.0, 22.0, 10.0, 100 * 10 / 12, 'slower', 3, 4, 10.0,
                             14.0, 20.0, 24.0))
    near(got[6], 10 / (4 / 3 + (8 / 3) / 4)**0.5)
    same(compare('b*', **group, b1=(2,), b2=(4,), b3=(3,))[5], 'faster')
    # both variances 4, 3 runs each: 4 degrees of freedom, 2.776; t is 3 / 1.633 and 5 / 1.633
    same(compare('b*', **group, b1=(13,), b2=(15,), b3=(17,))[5], 'noise')
    same(compare('b*', **group, b1=(15,), b2=(17,), b3=(19,))[5], 'slower')
    # runs of one group are equal: 2 degrees of freedom, 4.303; t is 4 / 1.155 and 5 / 1.155
    same(compare('b*', **group, b1=(16,), b2=(16,), b3=(16,))[5], 'noise')
    same(compare('b*', **group, b1=(17,), b2=(17,), b3=(17,))[5], 'slower')
    same(compare('b*', **group, b1=(15,))[5:7], ('unknown', None))
    same(compare('a*', a1=(5,), a2=(5,))[5:7], ('identical', None))
    same(compare('b*', a1=(5,), a2=(5,), b1=(6,), b2=(6,))[5:7], ('slower', None))
    # a rounded average of three equal numbers can be another number than that of two
    for ms in (0.1, 0.3, 0.7, 0.101):
        same(compare('b*', a1=(ms,), a2=(ms,), **{'b%d' % i: (ms,) for i in range(3)})[5:7],
             ('identical', None))
    refused("runs_b: no attached run is called like 'c*'", compare, 'c*', a1=(5,))
    same(attached("SELECT * FROM compare_groups('a', 'b')", a=space(), b=space()), [])
    no_steps = space(Plane('/host:CPU').line(1, 'main', [('work', 0, 5)]).bytes())
    same(attached("SELECT run, message LIKE '%%has no rows: %%step%%' FROM prof_issues, "
                  "(SELECT count(*) FROM compare_groups('a', 'b')) "
                  "WHERE code = 'nothing_to_show'", a=no_steps, b=no_steps), [('a', 1), ('b', 1)])


def times(*ops):
    """A GPU that runs kernels of framework ops (name, durations in us)."""
    events, at = [], 0
    for name, *durations in ops:
        for duration in durations:
            events.append((name, at, duration * US, {'tf_op': {'str': name + ':'}}))
            at += duration * US
    return space(Plane('/device:GPU:0').line(1, 'Stream #1', events).bytes())


@case
def operations_that_grew():
    """f: 3 x 12 us after 2 x 10 us: 10 us more because it runs more often, 6 because it takes
    longer. g: fewer and longer ones. h is new, i is faster, j the same."""
    a = times(('f', 10, 10), ('g', 3, 3, 3), ('i', 7), ('j', 1))
    b = times(('f', 12, 12, 12), ('g', 10), ('h', 2), ('i', 6), ('j', 1))
    got = rows("SELECT rank, operation, change, grew_us, grew_percent,"
               " round(cumulative_percent, 4), by_count_us, by_time_us"
               " FROM compare_slower_ops('{a}', '{b}')", a=a, b=b)
    same(got, [(1, 'f', 'both', 16.0, 80.0, 84.2105, 10.0, 6.0),
               (2, 'h', 'appeared', 2.0, None, 94.7368, None, None),
               (3, 'g', 'both', 1.0, 100.0 / 9, 100.0, -6.0, 7.0)])
    same(rows("SELECT rank, operation FROM compare_slower_ops('{a}', '{b}', 'framework')", a=a,
              b=b),
         [(1, 'f'), (2, 'h'), (3, 'g')])
    same(rows("SELECT count(*) FROM compare_slower_ops('{a}', '{a}')", a=a), [(0,)])
    refused("kind cannot be 'x'", rows,
            "SELECT * FROM compare_slower_ops('{a}', '{b}', 'x')", a=a, b=b)
