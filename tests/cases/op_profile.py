# SPDX-License-Identifier: Apache-2.0
"""op_profile: the tree of programs, categories and ops."""
from lib.cases import case, near, refused, same
from lib.shell import Bad, ask
from lib.wire import L, Plane, V, space


def access(operation, memory_space, n):
    return L(1, V(1, operation), V(2, memory_space), V(3, n))


def tpu_ops(*ops, span=1000, **device):
    """ops: (name, duration_ps, {stat: value}) one after the other on a TensorCore; span: how long
    the step is."""
    types = {int: 'int64', str: 'str', float: 'double', bytes: 'bytes'}
    p = Plane('/device:TPU:0', 1, [(k, {types[type(v)]: v}) for k, v in device.items()])
    at, events = 0, []
    for number, (name, duration, stats) in enumerate(ops):
        told = dict({'program_id': 1, 'symbol_id': number + 1}, **stats)
        meta = p.meta('%%%s = f32[1] op()' % name, name,
                      tuple((k, {types[type(v)]: v}) for k, v in told.items()))
        events.append((meta, at, duration, ()))
        at += duration
    p.line(1, 'XLA Ops', events)
    p.line(2, 'Steps', [('0', 0, span, ())])
    return space(p.bytes())


def profile(data, group='program', idle=1, limit=100):
    return ask("SELECT * FROM op_profile('{x}', '%s', %d, %d)" % (group, idle, limit), x=data)


def shape(rows):
    return [(r['depth'], r['name'], r['raw_time_ps']) for r in rows]


PEAKS = {'peak_teraflops_per_second': 10.0, 'peak_hbm_bw_gigabytes_per_second': 100.0,
         'peak_sram_rd_bw_gigabytes_per_second': 100.0,
         'peak_sram_wr_bw_gigabytes_per_second': 100.0}


@case
def profile_structure():
    """By category two nodes; by provenance the scopes of the names, below an unknown program."""
    ops = [('a', 500, {'hlo_category': 'convolution', 'tf_op': 'layer1/block1/conv1:Conv2D'}),
           ('b', 300, {'hlo_category': 'fused', 'tf_op': 'layer1/block1/conv2:Conv2D'}),
           ('c', 100, {'hlo_category': 'fused', 'tf_op': 'layer2/dense1:MatMul'})]
    same(shape(profile(tpu_ops(*ops), 'category')),
         [(0, 'by_category', 1000), (1, 'convolution', 500), (2, 'a', 500), (1, 'fused', 400),
          (2, 'b', 300), (2, 'c', 100), (1, 'IDLE', 100)])
    same(shape(profile(tpu_ops(*ops), 'provenance', 0)), [
        (0, 'by_provenance', 900), (1, 'main', 900), (2, 'layer1', 800), (3, 'block1', 800),
        (4, 'conv1', 500), (5, 'convolution', 500), (6, 'a', 500),
        (4, 'conv2', 300), (5, 'fused', 300), (6, 'b', 300), (2, 'layer2', 100), (3, 'dense1', 100),
        (4, 'fused', 100), (5, 'c', 100)])
    rows = profile(tpu_ops(*ops))
    same([r['path'] for r in rows[:3]], ['', 'main', 'main/convolution'])
    same([(r['node_id'], r['parent_id'], r['kind']) for r in rows[:4]],
         [(0, None, 'root'), (1, 0, 'program'), (2, 1, 'category'), (3, 2, 'op')])
    same([r['num_children'] for r in rows], [2, 2, 1, 0, 2, 0, 0, 0])


@case
def profile_numbers():
    """10 TFLOP/s and 100 GB/s; 2500 FLOP and 40 bytes of HBM in 500 of 1000 ps."""
    rows = profile(tpu_ops(('a', 500, {'hlo_category': 'fused', 'flops': 2500,
                                       'memory_access_breakdown': access(1, 1, 40)}), **PEAKS))
    op = [r for r in rows if r['name'] == 'a'][0]
    for column, want in [('weighted_flops_utilization', 0.25),
                         ('weighted_flops_utilization_uncapped', 0.25), ('time_fraction', 0.5),
                         ('flops_utilization', 0.5),
                         ('hbm_utilization', 0.8), ('hbm_bytes', 40), ('wasted_time_fraction', 0.1),
                         ('bf16_flops', 2500), ('avg_time_ps', 500)]:
        near(op[column], want, column)
    same((rows[0]['raw_time_ps'], rows[0]['occurrences'], rows[0]['time_fraction']), (1000, 0, 1.0))
    fast = profile(tpu_ops(('a', 500, {'hlo_category': 'fused', 'flops': 25000}), **PEAKS))[-2]
    near(fast['weighted_flops_utilization'], 0.5, 'capped')
    near(fast['weighted_flops_utilization_uncapped'], 2.5, 'not capped')
    unknown = profile(tpu_ops(('a', 500, {'hlo_category': 'fused', 'flops': 2500})))[-2]
    same((unknown['weighted_flops_utilization'], unknown['flops_utilization'],
          unknown['wasted_time_fraction']), (0.0, None, None), 'no peaks')


@case
def profile_duplicates():
    """Copies of an op hang below a group named after the longest; an op alone below its
    category."""
    ops = [('x.1', 100, {'hlo_category': 'fused', 'deduplicated_name': 'x'}),
           ('x.2', 300, {'hlo_category': 'fused', 'deduplicated_name': 'x'}),
           ('y', 50, {'hlo_category': 'fused'})]
    same(shape(profile(tpu_ops(*ops, span=450), 'category', 0)),
         [(0, 'by_category', 450), (1, 'fused', 450), (2, 'x.2 and its duplicate(s)', 400),
          (3, 'x.2', 300), (3, 'x.1', 100), (2, 'y', 50)])
    same(shape(profile(tpu_ops(('only', 0, {}), span=0), 'category', 1))[0][1], 'by_category')


@case
def profile_limits():
    """A hundred children are kept below the upper levels, all where row_limit is 0."""
    ops = [('op%d' % i, 1000 - i, {'hlo_category': 'fused'}) for i in range(250)]
    data = tpu_ops(*ops, span=300000)
    same([len(profile(data, 'category', 0, limit)) for limit in (100, 7, 0)], [102, 9, 252])
    same(len(ask("SELECT name FROM op_profile('{x}', 'category', 0)", x=data)), 102, 'default')
    same(profile(data, 'category', 0, 7)[1]['num_children'], 250)
    same([r['name'] for r in profile(data, 'category', 0, 3)],
         ['by_category', 'fused', 'op0', 'op1', 'op2'])
    deep = tpu_ops(('a', 10, {'hlo_category': 'fused', 'tf_op': '/'.join('s' * 200000) + ':Op'}))
    same(max(r['depth'] for r in profile(deep, 'provenance')), 1 + 500 + 2, 'scopes end')
    many = tpu_ops(*[('op%d' % i, 10, {'hlo_category': 'fused', 'tf_op': '/'.join(
        ['%x' % i] + ['s'] * 498) + ':Op'}) for i in range(700)])
    refused("its op profile has more than", profile, many, 'provenance')
    same(profile(many, 'category')[0]['name'], 'by_category', 'which has fewer nodes')
    for sql in ("op_profile('{x}', 'color')", "op_profile('{x}', 'category', 'x')"):
        try:
            ask('SELECT * FROM ' + sql, x=data)
        except Bad:
            continue
        raise Bad('%s is no error' % sql)
