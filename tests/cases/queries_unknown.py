# SPDX-License-Identifier: Apache-2.0
"""What is not known is NULL or has no row, and what is known has one."""
import os

from lib.cases import case, same
from lib.made import host
from lib.shell import ROOT, rows
from lib.wire import L, Plane, US, V, space


def kept(name):
    return os.path.join(ROOT, 'tests', 'data', name)


@case
def unknown_is_null():
    """Hardware that nothing names, the type of an allocation without one, an op's origin."""
    kpi = "SELECT hardware, device_count, step_count, active_device_count FROM kpi('%s')"
    for name in ('jax_dump_sharded', 'edge_empty'):
        same(rows(kpi % kept(name)), [(None,) * 4], name)
    same(rows(kpi % kept('jax_train_mlp'))[0][:2], ('CPU_ONLY', 0))
    untyped = kept('tf_fit_input_bound')
    invalid = "WHERE data_type = 'INVALID'"
    same(rows("SELECT count(*) > 0 FROM memory_events('%s') %s" % (untyped, invalid)), [(1,)])
    same(rows("SELECT count(*) FROM live_allocations('%s') %s" % (untyped, invalid)), [(0,)])
    plane = Plane('/device:TPU:0', stats={'peak_teraflops_per_second': {'double': 1.0}})
    known = {'program_id': {'uint64': 1}, 'flops': {'uint64': 9}, 'hlo_category': {'str': 'c'}}
    origins = ({}, {'tf_op': {'str': 'jit(f)/add:'}}, {'tf_op': {'str': 'x/Add:Add'}})
    ops = [plane.meta('%%%s = f32[] add()' % name, name,
                      {**known, **tf_op, 'symbol_id': {'uint64': ord(name)}})
           for name, tf_op in zip('abc', origins)]
    plane.line(1, 'XLA Ops', [(op, i * 9 * US, (9 - i) * US) for i, op in enumerate(ops)])
    for query in ('top_hlo_ops', 'top_wasted'):
        same(rows("SELECT hlo_op, program_id, tf_op FROM %s('{x}')" % query,
                  x=space(plane.bytes())),
             [('a', '1', None), ('b', '1', 'jit(f)/add'), ('c', '1', 'x/Add:Add')], query)


@case
def nothing_ran():
    """Programs alone have no overview and nothing to recommend, and prof_issues has the reason."""
    dump = kept('jax_dump_sharded')
    for name in ('overview', 'overview_page', 'recommendations'):
        same(rows("SELECT * FROM %s('%s')" % (name, dump)), [], name)
        same(rows("SELECT count(*) FROM (SELECT count(*) FROM %s('%s')) "
                  "CROSS JOIN prof_issues('%s') WHERE message LIKE '%s has no rows: "
                  "the source is an HLO program%%'"
                  % (name, dump, dump, name)), [(1,)], name)


@case
def no_row_of_nothing():
    """Ops without category and time have none, nor has a program that fills what it allocates."""
    nothing = "SELECT * FROM op_time_by_category('%s') WHERE category IS NULL AND self_time_us = 0"
    for path, in rows("SELECT path FROM prof_find('%s')" % kept('memory_odd')):
        same(rows(nothing % path), [], path)
    for name in ('tpu_train_54', 'jax_train_mlp'):
        same(rows("SELECT count(*) > 0, min(unused_mib) > 0, min(unused_percent) > 0 "
                  "FROM fragmentation('%s', 1000)" % kept(name)), [(1, 1, 1)], name)


@case
def work_of_a_category():
    """What host threads compute is what the instructions need, not a model of one GPU."""
    got = rows("SELECT category, flops FROM op_time_by_category('%s')" % kept('jax_train_mlp'))
    want = rows("SELECT i.category, nullif(total(i.model_flops_actual), 0) "
                "FROM trace_events('{0}') AS e JOIN hlo_instructions('{0}') AS i "
                "USING (host, program_id, hlo_op) WHERE i.opcode NOT IN ('while', 'conditional', "
                "'call') AND NOT e.derived GROUP BY 1"
                .replace('{0}', kept('jax_train_mlp')))
    same({category: flops for category, flops in got if flops}, {c: f for c, f in want if f})


@case
def steps_that_hosts_align_otherwise():
    """Steps that the pod viewer puts together otherwise are in core_steps too."""
    run = kept('ops_odd/plugins/profile/apart')
    columns = 'step, core_id, pod_step, dropped'
    same(rows("SELECT %s FROM core_steps('%s') ORDER BY dropped, core_id" % (columns, run)),
         [(0, 1, None, 0), (0, 1001, None, 0), (None, 1, 0, 1), (None, 1001, 0, 1)])
    same(rows("SELECT what, percent, bound FROM host_bound('%s') WHERE percent > 0" % run),
         [('all others', 50.0, 'no'), ('devices', 50.0, 'no')])
    same(rows("SELECT host, step_count FROM stragglers('%s') ORDER BY host" % run),
         [('a', 1), ('b', 1)])


@case
def advice_for_maps():
    """What maps in parallel already is not advised to do so."""
    def advice(*names):
        stages = [('Iterator::' + name, 0, (9 - i) * US, {'id': {'int64': i}})
                  for i, name in enumerate(names)]
        row, = rows("SELECT largest_part, advice FROM input_bound('{x}')",
                    x=space(host(*stages).bytes()))
        same(row[0], 'Preprocessing')
        return row[1].split(',')[0].split('.')[0]
    parallel, serial = ('Preprocessing already runs in parallel',
                        'Map in parallel (num_parallel_calls)')
    same([advice('Root::Prefetch', 'Root::Prefetch::ParallelMapV2'), advice('Root::MapAndBatch')],
         [parallel] * 2)
    same([advice('Root::Map'), advice('Root::ParallelMapV2::Map'), advice('Root::Shuffle'),
          advice('Root::Map::ParallelMap::Range'),
          advice('Root::ParallelMapV2', 'Root::ParallelMapV2::Map')], [serial] * 5)


def fused(n_adds, name='f'):
    """A program 1 whose fusion has this many additions, and a host thread that runs it for 1 us."""
    shape = V(2, 11) + L(3, b'\x04') + L(5, L(1, b'\x00'))

    def instruction(i, name, opcode, *more):
        return L(2, L(1, name), L(2, opcode), L(3, shape), V(35, i), *more)
    signature = L(1, shape) + L(2, shape)
    body = [instruction(1, 'p', 'parameter')]
    body += [instruction(i + 2, 'a%d' % i, 'add', L(36, bytes([i + 1, i + 1])))
             for i in range(n_adds)]
    main = [instruction(10, 'q', 'parameter'),
            instruction(11, name, 'fusion', L(36, b'\x0a'), L(38, b'\x01'), L(11, 'kLoop'))]
    module = L(1, 'm') + L(2, 'main') + L(4, signature) + V(5, 1) + V(6, 2)
    module += L(3, L(1, 'body'), *body, L(4, signature), V(5, 1), V(6, n_adds + 1))
    module += L(3, L(1, 'main'), *main, L(4, signature), V(5, 2), V(6, 11))
    plane = Plane('/host:metadata', 9)
    plane.meta('m(1)', stats={'Hlo Proto': {'bytes': L(1, module)}}, key=1)
    stats = {'hlo_op': {'str': name}, 'program_id': {'uint64': 1}}
    return space(host((name, 0, US, stats)).bytes(), plane.bytes())


@case
def programs_of_one_id():
    """Hosts with different programs of one id: of which the time is, is not known."""
    columns = ("SELECT program_id, opcodes, self_time_us, occurrences, hosts "
               "FROM fusion_breakdown('{x}')")
    same(rows(columns, x=[fused(2), fused(2)]), [('1', 'add 2', 2.0, 2, 2)])
    same(sorted(rows(columns, x=[fused(1), fused(2)])),
         [('1', 'add 1', None, None, 1), ('1', 'add 2', None, None, 1)])
    same(sorted(rows(columns, x=[fused(1), fused(2, 'g')])),
         [('1', 'add 1', 1.0, 1, 1), ('1', 'add 2', 1.0, 1, 1)])
