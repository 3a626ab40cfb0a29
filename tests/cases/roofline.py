# SPDX-License-Identifier: Apache-2.0
"""roofline: rates of ops and programs against the peaks of the device."""
import os

from lib.cases import case, near, same
from lib.shell import DIR, ROOT, ask, rows
from lib.wire import Plane, US, space
from cases.op_profile import PEAKS, access, tpu_ops


@case
def roofline_numbers():
    """The same op on the roofline: half of the peak, four fifths of the bandwidth."""
    data = tpu_ops(('a', 500, {'hlo_category': 'fused', 'flops': 2500, 'bytes_accessed': 40,
                               'memory_access_breakdown': access(1, 1, 40)}),
                   ('feed', 100, {'hlo_category': 'infeed'}), device_type_string='TPU v9', **PEAKS)
    rows = ask("SELECT * FROM roofline('{x}') WHERE record = 'Total'", x=data)
    same([(r['operation'], r['rank'], r['include_infeed_outfeed']) for r in rows],
         [('Program', 0, 1), ('a', 1, 1), ('feed', 2, 1), ('Program', 0, 0), ('a', 1, 0)])
    op = rows[1]
    for column, want in [('normalized_gflops', 5000), ('compute_efficiency_fraction', 0.5),
                         ('max_memory_bw_utilization_fraction', 0.8),
                         ('roofline_efficiency_fraction', 0.8),
                         ('optimal_gflops', 6250), ('operational_intensity', 62.5),
                         ('hbm_bw_gibps', 80 / 1.073741824), ('self_time_fraction', 0.5),
                         ('total_time_fraction', 0.5)]:
        near(op[column], want, column)
    same(op['bound_by'], 'HBM')
    near(rows[4]['self_time_fraction'], 500 / 900, 'without the feed')
    same(rows[3]['total_time_us'], 0.0009)
    same(ask("SELECT time_scale_multiplier AS x FROM devices('{x}')", x=data)[0]['x'], 1.0)
    got = dict((r['name'], r['value'])
               for r in ask("SELECT name, value FROM roofline_properties('{x}')", x=data))
    same([got[k] for k in ('device_type', 'peak_flop_rate', 'peak_hbm_bw', 'hbm_ridge_point',
                           'has_cmem')], ['TPU v9', '10000', '93.1323', '100', '0'])
    same(ask("SELECT count(*) AS n FROM roofline('{x}')", x=space(Plane('/host:CPU').bytes())),
         [{'n': 0}], 'no device')


@case
def first_thousand_ops():
    """The model has the first thousand ops by self time, those that feed the device among them;
    time without an op is one of them, which has no row."""
    for n, idle, last in ((1000, 0, 'op999'), (1001, 0, 'op999'), (1001, 5000, 'op998')):
        ops = [('op%d' % i, 3000 - i, {'hlo_category': 'infeed' if i == 7 else 'fused'})
               for i in range(n)]
        data = tpu_ops(*ops, span=sum(op[1] for op in ops) + idle, device_type_string='TPU v9',
                       **PEAKS)
        same([list(row.values()) for row in ask(
            "SELECT include_infeed_outfeed, operation, max(rank) FROM roofline('{x}') "
            "WHERE record = 'Total' AND rank > 0 GROUP BY 1 ORDER BY 1 DESC", x=data)],
             [[1, last, int(last[2:]) + 1], [0, last, int(last[2:])]], (n, idle))


@case
def gpu_steps_have_flops():
    """A kernel belongs to the step of its launch, also where the file has no group ids: its op's
    operations count there."""
    data = os.path.join(ROOT, 'tests', 'data', 'gpu_train_latency')
    kernels = ask("SELECT step, sum(i.model_flops_actual) AS flops FROM trace_events('%s') e "
                  "JOIN hlo_instructions('%s') i USING (run, host, program_id, hlo_op) "
                  "WHERE e.plane_kind = 'gpu' AND e.group_id IS NULL AND i.model_flops_actual > 0 "
                  "GROUP BY step ORDER BY step" % (data, data))
    use = ask("SELECT step, flops, duration_ms AS ms, peak_gflops AS peak, utilization_percent "
              "AS use FROM flops_utilization_by_step('%s') ORDER BY step" % data)
    same([(r['step'], r['flops']) for r in use], [(r['step'], r['flops']) for r in kernels])
    same(len(use), 3)
    for r in use:
        near(r['use'], 100 * r['flops'] / (r['ms'] / 1e3) / (r['peak'] * 1e9))
    kpi = ask("SELECT flops_utilization_percent AS use FROM kpi('%s')" % data)
    near(kpi[0]['use'], sum(r['use'] * r['ms'] for r in use) / sum(r['ms'] for r in use))


@case
def roofline_steps():
    """Rows of the steps, and their average: times divided by their number, rates of the sum."""
    def core(number, offset):
        p = Plane('/device:TPU:%d' % number, number + 1,
                  [(k, {'double': v}) for k, v in PEAKS.items()])
        meta = p.meta('%a = f32[1] op()', 'a',
                      (('program_id', {'int64': 1}), ('symbol_id', {'int64': 1}),
                       ('flops', {'int64': 100}), ('hlo_category', {'str': 'fused'})))
        feed = p.meta('%f = f32[1] infeed()', 'f',
                      (('program_id', {'int64': 1}), ('symbol_id', {'int64': 2}),
                       ('hlo_category', {'str': 'infeed'})))
        p.line(1, 'XLA Ops', [(meta, offset + 10, 50, ()), (feed, offset + 60, 20, ()),
                              (meta, offset + 110, 30, ()), (meta, offset + 150, 20, ())])
        p.line(2, 'Steps', [('0', offset, 100, ()), ('1', offset + 100, 80, ())])
        return p.bytes()
    got = ask("SELECT record, include_infeed_outfeed AS feeds, total_time_us AS us, "
              "normalized_gflops AS rate FROM roofline('{x}') WHERE record <> 'Total'",
              x=space(core(0, 0), core(1, 5)))
    same([(r['record'], r['feeds'], round(r['us'] * 1e6, 6)) for r in got],
         [('Average', 1, 180), ('0', 1, 200), ('1', 1, 160), ('Average', 0, 160), ('0', 0, 160),
          ('1', 0, 160)])
    near(got[0]['rate'], 600 / 0.36, 'all flops over all time')
    near(got[4]['rate'], 200 / 0.16, 'of a step without its feeds')
    use = ask("SELECT step, flops, utilization_percent AS use "
              "FROM flops_utilization_by_step('{x}')", x=space(core(0, 0), core(1, 5)))
    same([(r['step'], r['flops']) for r in use], [(0, 200), (1, 400)])
    near(use[0]['use'], 100 * 200 / 2 / 100 / 10, 'two cores of 10 FLOP/ps for 100 ps')
    # what XProf 2.24.2 answers: of cores of one number the last counts, from a million on none; of
    # op and step lines the last
    def numbered(number, plane_id, flops, more=()):
        p = Plane('/device:TPU:%d' % number, plane_id,
                  [(k, {'double': v}) for k, v in PEAKS.items()])
        meta = p.meta('%a = f32[1] op()', 'a',
                      (('program_id', {'int64': 1}), ('symbol_id', {'int64': 1}),
                       ('flops', {'int64': flops}), ('hlo_category', {'str': 'fused'})))
        p.line(1, 'XLA Ops', [(meta, 10, 50, ()), (meta, 110, 30, ()), (meta, 150, 20, ())]).line(
            2, 'Steps', [('0', 0, 100, ()), ('1', 100, 80, ())])
        for name, begin, ps in more:
            p.line(5, name, [(meta, begin, ps, ())])
        return p.bytes()
    for planes, want in [
        ([numbered(0, 2, 100), numbered(1, 2, 1000)], [(90, 1500), (100, 1000), (80, 2000)]),
        ([numbered(0, 2, 100), numbered(1, 3, 1000)], [(180, 1650), (200, 1100), (160, 2200)]),
        ([numbered(0, (1 << 32) + 5, 100), numbered(1, 5, 1000)],
         [(90, 1500), (100, 1000), (80, 2000)]),
        ([numbered(0, 999999, 100)], [(90, 150), (100, 100), (80, 200)]),
        ([numbered(0, 1000000, 100)], [(0, 0)] * 3),
        ([numbered(0, 2, 100, [('XLA Ops', 20, 10)])], [(100, 100)] * 2),
        ([numbered(0, 2, 100, [('Framework Ops', 20, 10)])], [(100, 100)] * 2),
        ([numbered(0, 2, 100, [('Steps', 0, 60)])], [(60, 100)] * 2)]:
        got = ask("SELECT total_time_us AS us, normalized_gflops AS rate FROM roofline('{x}') "
                  "WHERE record <> 'Total' AND include_infeed_outfeed", x=space(*planes))
        same([(round(r['us'] * 1e6, 6), round(r['us'] * r['rate'] * 1e3, 6)) for r in got], want)
    folder = os.path.join(DIR, 'hosts')
    os.mkdir(folder)
    for name, offset in (('a', 0), ('b', 100)):  # the second step of a goes with the first of b
        with open(os.path.join(folder, name + '.xplane.pb'), 'wb') as f:
            f.write(space(core(0, offset)))
    got = ask("SELECT record, total_time_us AS us FROM roofline('%s') WHERE record <> 'Total' "
              "AND include_infeed_outfeed" % folder)
    same([(r['record'], round(r['us'] * 1e6, 6)) for r in got], [('Average', 180), ('0', 180)])


@case
def steps_of_renamed_ops():
    """Steps divide the operations of the op to which hlo_ops adds the events, whatever name their
    own metadata has."""
    def core(number, events, more=()):
        p = Plane('/device:TPU:%d' % number, number + 1,
                  [(k, {'double': v}) for k, v in PEAKS.items()])
        metas = {name: p.meta('%%%s = f32[1] op()' % name, name,
                              (('program_id', {'int64': 1}), ('symbol_id', {'int64': 1}),
                               ('flops', {'int64': flops}), ('hlo_category', {'str': category})))
                 for name, flops, category in (('a', 100, 'fused'), ('b', 1000, 'fused'),
                                               ('w', 10000, 'while'))}
        for at, line in enumerate([('Framework Ops', more)] * bool(more) + [('XLA Ops', events)]):
            p.line(3 + at, line[0], [(metas[name], begin, 20, ()) for name, begin in line[1]])
        p.line(2, 'Steps', [('0', 0, 100, ()), ('1', 100, 80, ())])
        return p.bytes()
    steps = "SELECT step, flops FROM flops_utilization_by_step('{x}')"
    ops = "SELECT hlo_op, flops_actual FROM hlo_ops('{x}') WHERE rank > 0 ORDER BY hlo_op"
    total = ("SELECT flops_actual FROM roofline('{x}') WHERE record = 'Total' AND rank = 0 "
             "AND include_infeed_outfeed")
    both = core(0, [('a', 10), ('b', 50), ('b', 110)])
    for planes, want_ops, want_steps in [
        ([both], [('a', 2100.0)], [(0, 1400.0), (1, 700.0)]),
        # the other core's b is an op of its own
        ([both, core(1, [('b', 50), ('b', 110)])], [('a', 2100.0), ('b', 2000.0)],
         [(0, 2400.0), (1, 1700.0)]),
        # an event before the steps names the op, on a line that steps do not show
        ([core(0, [('b', 50), ('b', 110), ('b', 130)], [('a', 0)])], [('a', 3100.0)],
         [(0, 775.0), (1, 1550.0)]),
        # loops have no operations, but they may name the op in hlo_ops or in a step
        ([core(0, [('w', 10), ('b', 50), ('w', 110), ('b', 130)])], [('w', 2000.0)],
         [(0, 1000.0), (1, 1000.0)])]:
        data = space(*planes)
        same([tuple(r.values()) for r in ask(ops, x=data)], want_ops)
        same([tuple(r.values()) for r in ask(steps, x=data)], want_steps)
        same([r['flops_actual'] for r in ask(total, x=data)], [sum(x[1] for x in want_ops)])


@case
def shares_of_the_peak():
    """Of the better of two peaks that the intensity allows, and of the memory's: 50 % and 50 % each
    time."""
    share = ("SELECT 100 * flops_utilization({f}, {ps}, roofline_flops(arithmetic_intensity({f}, "
             "{b}), {peak}, {bytes})) AS f, 100 * bandwidth_utilization({b}, {ps}, {bytes}) AS b")
    for flops, n_bytes, ps, bandwidth in ((1000, 1000, US, 2e9), (2000, 2000, 2 * US, 2e9),
                                          (500, 2000, US, 4e9)):
        same(ask(share.format(f=flops, b=n_bytes, ps=ps, peak=2e9, bytes=bandwidth)),
             [{'f': 50.0, 'b': 50.0}])


@case
def shares_of_ops():
    """The same from a profile: two convolutions; a while loop around them and an op that did not
    run do not count."""
    plane = Plane('/device:TPU:0', stats={'peak_teraflops_per_second': {'double': 2e-3},
                                          'peak_hbm_bw_gigabytes_per_second': {'double': 2.0}})

    def op(name, category, symbol, flops, n_bytes):
        return plane.meta(name,
                          stats={'program_id': {'uint64': 1}, 'symbol_id': {'uint64': symbol},
                                 'hlo_category': {'str': category}, 'flops': {'uint64': flops},
                                 'bytes_accessed': {'uint64': n_bytes}})
    loop, work, none = op('while.1', 'while',
                          1, 10 ** 6, 10 ** 6), op('convolution.1', 'convolution', 2, 1000,
                                                   1000), op('convolution.2', 'convolution', 3,
                                                             10 ** 6, 10 ** 6)
    step = {'group_id': {'int64': 1}}
    plane.line(11, 'Steps', [('1', 0, 2 * US, step)]).line(
        10, 'XLA Ops', [(loop, 0, 2 * US, step), (work, 0, US, step), (work, US, US, step)])
    data = space(plane.bytes())
    for record, convolution in ('Total', [('convolution.1', 2, 50.0, 50.0)]), ('Average', []):
        same(rows("SELECT operation, occurrences, round(100 * roofline_efficiency_fraction, 6), "
                  "round(100 * max_memory_bw_utilization_fraction, 6) FROM roofline('{x}') "
                  "WHERE include_infeed_outfeed AND record = '%s' AND category IN ('Program', "
                  "'convolution')" % record, data), [('Program', 1, 50.0, 50.0)] + convolution,
             record)
