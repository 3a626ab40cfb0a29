# SPDX-License-Identifier: Apache-2.0
"""Rules of XProf's smart suggestions, at their limits: recommendations."""
from lib.cases import case, same
from lib.shell import ask
from lib.wire import Plane, space


def rules(mxu=None, hbm=None, **ps):
    """Rules that apply to a TensorCore whose ops take so many ps of each category, on a host that
    records these utilizations of matrix units and HBM."""
    stats = {name: {'double': value} for name, value in (
        ('matrix_unit_utilization_percent', mxu), ('hbm_utilization_percent', hbm))
        if value is not None}
    core, ops, at = Plane('/device:TPU:0', 1, stats), [], 0
    for i, (category, length) in enumerate(ps.items()):
        meta = core.meta('%%op%d = f32[1] x()' % i, 'op%d' % i, {
            'program_id': {'uint64': 7}, 'symbol_id': {'uint64': i + 1},
            'hlo_category': {'str': category.replace('_', '-')}})
        ops.append((meta, at, length))
        at += length
    core.line(3, 'XLA Ops', ops)
    return [row['code'] for row in ask("SELECT code FROM recommendations('{x}') "
                                       "WHERE code LIKE '%Rule'", x=space(core.bytes()))]


@case
def shares_of_ops():
    """Collectives and moving data are much from 30 % of the ops' time on; waiting for asynchronous
    ops above 10 %, if HBM is used to less than 50 %."""
    for category, rule in (('all_reduce', 'CollectiveBoundRule'), ('copy', 'DataShuffleBoundRule'),
                           ('collective_permute', 'CollectiveBoundRule'),
                           ('pad', 'DataShuffleBoundRule')):
        same(rules(**{category: 30, 'fusion': 70}), [rule])
        same(rules(**{category: 29, 'fusion': 71}), [], category)
    same(rules(hbm=49.5, async_done=11, fusion=89), ['SparseCoreOffloadRule'])
    for hbm, done in ((49.5, 10), (50.0, 11), (None, 11)):
        same(rules(hbm=hbm, async_done=done, fusion=100 - done), [], (hbm, done))


@case
def utilizations():
    """The matrix units or HBM limit the speed above 70 %, while the other is used to less than
    50 %."""
    for mxu, hbm, found in ((70.5, 49.5, ['ComputeBoundRule']), (49.5, 70.5, ['MemoryBoundRule']),
                            (70.0, 49.5, []), (49.5, 70.0, []), (70.5, 50.0, []), (50.0, 70.5, []),
                            (70.5, None, []), (None, 70.5, [])):
        same(rules(mxu, hbm, fusion=100), found, (mxu, hbm))
