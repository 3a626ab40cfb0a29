# SPDX-License-Identifier: Apache-2.0
"""timeline: the lines that XProf derives from kernels."""
import itertools

from lib.cases import case, same
from lib.shell import rows
from lib.wire import L, Plane, US, V, space, stat, stat_metadata


def stream(*kernels, lines='% - from #7'):
    """Kernels (begin, end, group, {stat: value}) on a stream of a GPU: {(line, name): [(begin,
    duration)]} of what is derived from them on these lines, times in ps."""
    events, launches = [], [('TraceContext', 1000 * n, 900,
                             {'_r': {'int64': 1}, 'step_num': {'int64': n}})
                            for n in {kernel[2] for kernel in kernels}]
    for n, (begin, end, number, stats) in enumerate(kernels):
        stats = {k: {'str' if isinstance(v, str) else 'int64': v}
                 for k, v in dict(stats, kernel_details='regs:1', correlation_id=n).items()}
        events.append(('op%d' % n, begin, end - begin, stats))
        launches.append(('launch', 1000 * number + 10 + n, 1, {'correlation_id': {'int64': n}}))
    found = {}
    for line, name, begin, ps in rows(
        "SELECT line, name, start_ps, duration_ps FROM timeline('{x}') "
        "WHERE plane LIKE '%%GPU%%' AND line LIKE '%s' ORDER BY 1, 3, 4 DESC" % lines,
        space(Plane('/host:CPU').line(1, 'main', sorted(launches, key=lambda e: e[1])).bytes(),
              Plane('/device:GPU:0', 2).line(7, 'Stream #7', events).bytes())):
        found.setdefault((line.split(' - ')[0], name), []).append((begin, ps))
    return found


@case
def derived_lines():
    """Kernels of one program, one op, one scope in a row are one event of it; of another group or
    scope range another."""
    module = {'hlo_module': 'a_module', 'program_id': 5}
    same(stream((0, 100, 0, module), (200, 500, 0, module)),
         {('XLA Modules', 'a_module(5)'): [(0, 500)]})
    same(stream((0, 100, 0, dict(module, scope_range_id=10)),
                (200, 500, 0, dict(module, scope_range_id=20))),
         {('XLA Modules', 'a_module(5)'): [(0, 100), (200, 300)]})
    same(stream((0, 100, 0, {}), (200, 500, 0, {})), {})
    op = {'tf_op': 'mul:Mul'}
    same(stream((0, 100, 0, op), (200, 500, 0, op), (500, 600, 0, op)),
         {('Framework Ops', 'mul:Mul'): [(0, 600)]})
    same(stream((0, 100, 0, op), (200, 500, 1, op)),
         {('Framework Ops', 'mul:Mul'): [(0, 100), (200, 300)]})
    op = {'tf_op': 'scope1/scope2/mul:Mul'}
    same(stream((0, 100, 0, op), (200, 500, 0, op)),
         {('Framework Name Scope', 'scope1'): [(0, 500)], ('Framework Name Scope', 'scope2'): [
             (0, 500)], ('Framework Ops', 'scope1/scope2/mul:Mul'): [(0, 500)]})


@case
def derived_from_kernels_in_any_order():
    """What is derived does not depend on the order of kernels in the file."""
    first, second = {'tf_op': 's/mul:Mul'}, {'tf_op': 's/add:Add'}
    kernels = [(0, 100, 0, first), (200, 300, 0, first), (400, 500, 0, second),
               (600, 700, 0, first)]
    want = {('Framework Name Scope', 's'): [(0, 700)],
            ('Framework Ops', 's/mul:Mul'): [(0, 300), (600, 100)],
            ('Framework Ops', 's/add:Add'): [(400, 100)]}
    for order in itertools.permutations(kernels):
        same(stream(*order), want, order)
        same(stream(*order, lines='Steps'), {('Steps', '0'): [(0, 700)]}, order)


@case
def chains_of_scope_ranges():
    """Ranges whose chain is as long as the op's: a level is one event while its range is the same.
    As XProf 2.24.2 draws them."""
    def found(parents):
        kernels = [('k', begin, ps, {'kernel_details': {'str': 'regs:1'}, 'hlo_op': {
            'str': 'outer::inner'}, 'hlo_module': {'str': 'm'}, 'program_id': {'int64': 5},
                                     'scope_range_id': {'int64': scope}})
                   for begin, ps, scope in ((0, 100, 10), (200, 300, 20), (600, 100, 20))]
        gpu = Plane('/device:GPU:0').line(7, 'Stream #7', kernels)
        tree = V(1, 3) + L(2, '/host:__ScopeRangeCallStack__') + b''.join(stat_metadata(
            child, str(child)) + L(6, stat(child, int64=parent)) for child, parent in parents)
        return rows("SELECT name, start_ps, duration_ps FROM timeline('{x}') "
                    "WHERE line LIKE '% - from #7' ORDER BY 1, 2", space(gpu.bytes(), tree))
    whole = [('5/inner', 0, 700), ('5/outer', 0, 700), ('m(5)', 0, 700)]
    same(found(((10, 1), (20, 1))), [('5/inner', 0, 100), ('5/inner', 200, 500), *whole[1:]])
    same(found(((10, 5), (20, 5), (5, 1))), whole)


@case
def endless_chains_of_scope_ranges():
    """A range that is its own ancestor, or that has more than 255, counts as none: kernels of such
    ranges are one event."""
    def found(parents):
        kernels = [('k', 10 * i, 10, {'kernel_details': {'str': 'regs:1'}, 'hlo_op': {
            'str': 'op'}, 'hlo_module': {'str': 'm'}, 'program_id': {'int64': 5},
                                      'scope_range_id': {'int64': scope}})
                   for i, scope in enumerate((10, 20))]
        tree = V(1, 3) + L(2, '/host:__ScopeRangeCallStack__') + b''.join(stat_metadata(
            child, str(child)) + L(6, stat(child, int64=parent)) for child, parent in parents)
        return rows("SELECT name, start_ps, duration_ps FROM timeline('{x}') "
                    "WHERE line = 'XLA Modules - from #7' ORDER BY 2",
                    space(Plane('/device:GPU:0').line(7, 'Stream #7', kernels).bytes(), tree))
    apart, together = [('m(5)', 0, 10), ('m(5)', 10, 10)], [('m(5)', 0, 20)]
    same(found([(10, 11), (20, 21)]), apart)
    same(found([(10, 11), (11, 10), (20, 21), (21, 20)]), together)
    for length, drawn in ((256, apart), (257, together)):
        links = []
        for first in (10, 20):
            chain = [first, *range(1000 * first, 1000 * first + length - 1)]
            links += zip(chain, chain[1:])
        same(found(links), drawn, length)


@case
def equal_kernels():
    """Kernels that start and end together come in the order of std::sort, which decides how many
    ops in a row they are.

    XProf 2.24.2 draws 12 for 17 of them in this order; in the order of the file they would be
    13."""
    names = 'acababbbcbaababbc'
    plane = Plane('/device:GPU:0').line(7, 'Stream #7', [
        ('k%d' % i, 10 * US, 5 * US,
         {'kernel_details': {'str': 'regs:1'}, 'tf_op': {'str': 's/%s:Op' % name}})
        for i, name in enumerate(names)])
    same(rows("SELECT count(*) FROM timeline('{x}') WHERE line = 'Framework Ops - from #7'",
              space(plane.bytes())), [(12,)])
    same(1 + sum(a != b for a, b in zip(names, names[1:])), 13)


@case
def equal_kernels_of_steps():
    """Kernels of 8 streams that start and end together, each of another step than the one before:
    among more than 16 kernels, std::sort moves the first to the last, which is of the same step. So
    XProf 2.24.2 draws 7 parts of steps, not 8."""
    steps = [('TraceContext', 1000 * n * US, 900 * US, {'_r': {'int64': 1}, 'step_num': {
        'int64': n}}) for n in range(3)]
    gpu = Plane('/device:GPU:0', 2)
    for i, step in enumerate((0, 1, 2, 1, 2, 1, 2, 0)):
        steps.append(('launch', (1000 * step + 10 + i) * US, US, {'correlation_id': {'int64': i}}))
        kernels = [('k', 5000 * US, 5 * US, {'correlation_id': {'int64': i}})]
        later = [('l', (6000 + 10 * n) * US, US, {}) for n in range(0 if i else 12)]
        gpu.line(i + 1, 'Stream #%d' % (i + 1), [
            (name, at, ps, dict(stats, kernel_details={'str': 'regs:1'}))
            for name, at, ps, stats in kernels + later])
    host = Plane('/host:CPU').line(1, 'main', sorted(steps, key=lambda e: e[1]))
    same(rows("SELECT name, count(*), max(duration_ps) FROM timeline('{x}') WHERE line = 'Steps' "
              "GROUP BY 1", space(host.bytes(), gpu.bytes())),
         [('0', 1, 5 * US), ('1', 3, 1111 * US), ('2', 3, 5 * US)])


@case
def rowids():
    """A row has one rowid, whichever rows are asked for."""
    op = {'tf_op': {'str': 's/mul:Mul'}, 'kernel_details': {'str': 'regs:1'}}
    gpu = Plane('/device:GPU:0')
    for i in (7, 8):
        gpu.line(i, 'Stream #%d' % i, [('k', 10 * n, 5, op) for n in range(3)])
    data = space(gpu.bytes())
    found = rows("SELECT line, rowid FROM timeline('{x}')", data)
    lines = {line for line, _ in found}
    same((len(lines), len({rowid for _, rowid in found})), (6, len(found)))
    for line in lines:
        same(rows("SELECT line, rowid FROM timeline('{x}') WHERE line = '%s' ORDER BY 2" % line,
                  data), sorted(row for row in found if row[0] == line), line)


@case
def launch_statistics():
    """Launches of a step for a GPU are one event from the first start to the last end: 2 launches
    of 5 and 10 us from 10 to 40 us."""
    def launch(begin, length, n):
        return 'launch', begin * US, length * US, {'correlation_id': {'int64': n},
                                                   'device_id': {'int64': 0}}
    host = Plane('/host:CPU').line(1, 'main', [('TraceContext', 0, 100 * US,
                                                {'_r': {'int64': 1}, 'step_num': {'int64': 3}}),
                                               launch(10, 5, 1), launch(30, 10, 2)])
    gpu = Plane('/device:GPU:0', 2).line(7, 'Stream #7',
                                         [('k', (50 + n) * US, US, {'correlation_id': {'int64': n}})
                                          for n in (1, 2)])
    same(
        rows("SELECT name, start_ps, duration_ps, args FROM timeline('{x}') "
             "WHERE line = 'Launch Stats'", space(host.bytes(), gpu.bytes())),
        [('Launch Stats for TraceContext 3', 10 * US, 30 * US,
          '{"avg_launch_time_us":"7.5","group_id":"0","max_launch_time_us":"10",'
          '"num_launches":"2"}')])


@case
def lines_derived_from_two_streams():
    """Each line that is derived from a stream has an id of its own, and the lines of one stream
    follow each other."""
    plane = Plane('/device:GPU:0')
    for stream in (7, 8, 9):
        plane.line(stream, 'Stream #%d' % stream,
                   [('k%d' % stream, stream * US, US, {k: {'str': v} for k, v in (
                       ('kernel_details', 'regs:1'), ('tf_op', 's/a:A'), ('hlo_module', 'm'),
                       ('hlo_op', 'o'))})])
    found = rows("SELECT line, tid FROM timeline('{x}')", space(plane.bytes()))
    same([line for line, _ in found if ' - ' in line],
         ['XLA %s - from #%d' % (what, stream) for stream in (7, 8, 9)
          for what in ('Modules', 'Ops')])
    same(len({tid for _, tid in found}), 9)


@case
def flows_of_stats():
    """The stat flow has 2 bits of direction (1: in, 2: out), 56 of the flow's number and 6 of its
    category (XProf's XFlow)."""
    numbers, events = (1, 2, (1 << 55) + 5, (1 << 56) - 1), []
    for number in numbers:
        for direction in range(4):
            flow = 63 << 58 | number << 2 | direction
            events.append(('f', 1000 * len(events), 10, {'flow': {'uint64': flow}}))
    same(rows("SELECT flow_in, flow_out FROM timeline('{x}') WHERE name = 'f' ORDER BY start_ps",
              space(Plane('/host:CPU').line(1, 'main', events).bytes())),
         [(n if direction & 1 else None, n if direction & 2 else None)
          for n in numbers for direction in range(4)])


@case
def streams_with_derived_lines():
    """The 16 with the most kernels, as XProf 2.24.2 draws them: stream 24 has 18, stream 7 one."""
    plane = Plane('/device:GPU:0')
    for i in range(18):
        plane.line(i + 7, 'Stream #%d' % (i + 7), [
            ('k%d' % (i + 7), k * US, US, {name: {'str': text} for name, text in (
                ('kernel_details', 'regs:1'), ('hlo_module', 'm'), ('hlo_op', 'o'))})
            for k in range(i + 1)])
    found = rows("SELECT line FROM timeline('{x}') WHERE line LIKE 'XLA Ops - from #%'",
                 space(plane.bytes()))
    same({line.rpartition('#')[2] for line, in found}, {str(i) for i in range(9, 25)})


@case
def transfers_to_the_hosts_memory():
    """Transfers at once are on rows of their own, of which there are 41: more are on the last one.
    Later ones take the row that is free for longest. As XProf 2.24.2 draws them."""
    core, ops = Plane('/device:TPU:0'), []
    for what, first, numbers, step in (('start', 0, range(44), 10), ('done', 1000, range(44), 10),
                                       ('start', 3000, range(50, 52), 1),
                                       ('done', 3100, range(50, 52), 1)):
        for i, number in enumerate(numbers):
            ops.append((core.meta('%%copy-%s.%d = f32[8]{0:S(5)} copy-%s(f32[8]{0} %%p)' % (
                what, number, what), 'copy-%s.%d' % (what, number)), first + step * i, 5))
    core.line(3, 'XLA Ops', ops)
    found = rows("SELECT CAST(substr(line, 22) AS INTEGER), display_name, start_ps, duration_ps "
                 "FROM timeline('{x}') WHERE line LIKE 'Host Offload Ops row %' ORDER BY 3",
                 space(core.bytes()))
    same(found, [(min(i, 40), 'offload-copy.%d' % i, 10 * i, 1005) for i in range(44)]
         + [(i, 'offload-copy.%d' % (50 + i), 3000 + i, 105) for i in range(2)])


@case
def transfers_that_end_in_another_order():
    """A transfer has its own stats, also on a row whose transfers end in another order than they
    start. As XProf 2.24.2 draws them."""
    core, ops = Plane('/device:TPU:0'), []
    for what, first, numbers in (('start', 0, range(44)), ('done', 1000, range(43, -1, -1))):
        for i, number in enumerate(numbers):
            ops.append((core.meta('%%copy-%s.%d = f32[8]{0:S(5)} copy-%s(f32[8]{0} %%p)' % (
                what, number, what), 'copy-%s.%d' % (what, number),
                {'raw_bytes_accessed': {'int64': 100 + number}}), first + 10 * i, 5))
    core.line(3, 'XLA Ops', ops)
    found = rows("SELECT CAST(substr(line, 22) AS INTEGER), start_ps, duration_ps, "
                 "args ->> 'raw_bytes_accessed' FROM timeline('{x}') "
                 "WHERE line LIKE 'Host Offload Ops row %' ORDER BY 2", space(core.bytes()))
    same(found, [(min(43 - i, 40), 10 * i, 1435 - 20 * i, str(100 + i)) for i in range(44)])


@case
def derived_events_that_start_together():
    """The longer one is around the shorter one, in whichever order they end in the file."""
    for last in ((41, 42), (42, 41)):
        core, ops = Plane('/device:TPU:0'), []
        times = [('start', i, 10 * min(i, 41)) for i in range(43)]
        times += [('done', i, 1000 + 10 * i) for i in range(41)]
        times += [('done', number, 2000 + 1000 * i) for i, number in enumerate(last)]
        for what, i, at in times:
            ops.append((core.meta('%%copy-%s.%d = f32[8]{0:S(5)} copy-%s(f32[8]{0} %%p)' % (
                what, i, what), 'copy-%s.%d' % (what, i)), at, 0))
        core.line(3, 'XLA Ops', ops)
        found = rows("SELECT display_name, duration_ps, self_ps, depth FROM timeline('{x}') "
                     "WHERE line = 'Host Offload Ops row 40' AND start_ps = 410 ORDER BY depth",
                     space(core.bytes()))
        same(found, [('offload-copy.%d' % last[1], 2590, 1000, 0),
                     ('offload-copy.%d' % last[0], 1590, 1590, 1)])


@case
def transfers_of_host_memory():
    """A transfer lasts from a start to the end of its done. Two starts at the same time make the
    walk over the ops start again; a transfer that was open then is still one."""
    plane = Plane('/device:TPU:0')
    ops = [plane.meta('%%copy-%s.%d = f32[] S(5)' % (end, n), 'copy-%s.%d' % (end, n))
           for n in (1, 2, 3) for end in ('start', 'done')]
    plane.line(1, 'XLA Ops', [(ops[i], begin * US, US) for i, begin in (
        (0, 0), (2, 5), (4, 5), (1, 10), (5, 20), (3, 30), (1, 40))])
    same(rows("SELECT line, start_ps / 1000000, duration_ps / 1000000 FROM timeline('{x}') "
              "WHERE line LIKE 'Host Offload%' ORDER BY 1", space(plane.bytes())),
         [('Host Offload Ops row 0', 0, 11), ('Host Offload Ops row 1', 5, 16),
          ('Host Offload Ops row 2', 5, 26)])


@case
def names_from_ops():
    """An entry of a TPU's metadata that is named like the op of another gets the op's name, whether
    the metadata or an event records the op, and whether one event is asked for or all are."""
    core = Plane('/device:TPU:0')
    of_metadata = core.meta('a/b/mul:Mul')
    of_event = core.meta('c/add:Add')
    unknown = core.meta('d/sub:Sub')
    ops = [core.meta('%fusion.1 = f32[8] fusion()', 'fusion.1', {'tf_op': {'str': 'a/b/mul:Mul'}}),
           core.meta('%fusion.2 = f32[8] fusion()', 'fusion.2')]
    core.line(3, 'XLA Ops', [(of_metadata, 0, 5), (of_event, 10, 5), (unknown, 20, 5),
                             (ops[0], 30, 5), (ops[1], 40, 5, {'tf_op': {'str': 'c/add:Add'}})])
    sql = ("SELECT event_id, shown_name, args ->> 'long_name' FROM timeline('{x}') "
           "WHERE event_id %s ORDER BY 1")
    found = rows(sql % "IS NOT NULL AND derived = 0", space(core.bytes()))
    same(found, [(0, 'Mul', 'a/b/mul:Mul'), (1, 'Add', 'c/add:Add'), (2, 'd/sub:Sub', None),
                 (3, 'fusion.1', '%fusion.1 = f32[8] fusion()'),
                 (4, 'fusion.2', '%fusion.2 = f32[8] fusion()')])
    for row in found:
        same(rows(sql % '= %d' % row[0], space(core.bytes())), [row])


@case
def numbers_of_launched_programs():
    """Of several stats of a name the last is shown, whichever of the names that count is repeated.
    As XProf 2.24.2 draws them."""
    def found(*more):
        numbers = [(name, {'int64': number}) for name, number in (
            ('run_id', 5), ('queue_id', 0), ('core_type', 1))]
        host = Plane('/host:CPU').line(1, 'main', [
            ('DoEnqueueProgram', 1000, 500, numbers + [(name, {'int64': 9}) for name in more])])
        core = Plane('/device:TPU:0', 2).line(2, 'XLA Modules', [
            ('m(1)', 2000, 100, {'run_id': {'int64': 7}, 'queue_id': {'int64': 0}})])
        return rows("SELECT args FROM timeline('{x}') WHERE name = 'DoEnqueueProgram'",
                    space(host.bytes(), core.bytes()))[0][0]
    args = '{"core_type":"%d","queue_id":"%d","run_id":"%d"}'
    same([found(), found('run_id'), found('queue_id'), found('core_type')],
         [args % (1, 0, 5), args % (1, 0, 9), args % (1, 9, 5), args % (9, 0, 5)])
