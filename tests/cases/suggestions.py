# SPDX-License-Identifier: Apache-2.0
"""Rules of XProf's smart suggestions, at their limits: recommendations."""
from lib.cases import case, same
from lib.shell import ask
from lib.wire import Plane, space
from cases.steps import group


def rules(mxu=None, hbm=None, step=0, busy=0, host=(), **ps):
    """Rules that apply to a TensorCore whose ops take so many ps of each category, on a host that
    records these utilizations of matrix units and HBM. Its step takes so long, a SparseCore is busy
    so long, and the host has these events."""
    stats = {name: {'double': value} for name, value in (
        ('matrix_unit_utilization_percent', mxu), ('hbm_utilization_percent', hbm))
        if value is not None}
    core, ops, at = Plane('/device:TPU:0', 1, stats), [], 0
    for i, (category, length) in enumerate(ps.items()):
        meta = core.meta('%%op%d = f32[1] x()' % i, 'op%d' % i, {
            'program_id': {'uint64': 7}, 'symbol_id': {'uint64': i + 1},
            'hlo_category': {'str': category.replace('_', '-')}})
        ops.append((meta, at, length, group(1) if step else {}))
        at += length
    core.line(10, 'XLA Ops', ops)
    if step:
        core.line(11, 'Steps', [('1', 0, step, group(1))])
    known = {'group_id': {'int64': 0}}  # or all events would be grouped anew
    sparse = Plane('/device:TPU:0 SparseCore 0', 2, known)
    sparse.line(10, 'Sparse Core Ops', [('s', 0, busy)])
    threads = Plane('/host:CPU', 3, known).line(1, 'main', list(host))
    planes = [core] + [sparse] * (busy > 0) + [threads] * (len(host) > 0)
    return [row['code'] for row in ask("SELECT code FROM recommendations('{x}') "
                                       "WHERE code LIKE '%Rule'",
                                       x=space(*[plane.bytes() for plane in planes]))]


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


@case
def cores_that_idle():
    """SparseCores that are busy, or TensorCores that are idle, for more than 10 % of the steps,
    while neither the matrix units nor HBM are used to 50 %."""
    def found(idle, busy, mxu, hbm):
        return [code for code in rules(mxu, hbm, step=1000, busy=busy, fusion=1000 - idle)
                if code in ('SparseCoreBoundRule', 'TensorCoreIdleRule')]
    for ps, of in ((100, []), (105, [True]), (110, [True])):
        same(found(ps, 0, 49.5, 49.5), ['TensorCoreIdleRule'] * len(of), ps)
        same(found(0, ps, 49.5, 49.5), ['SparseCoreBoundRule'] * len(of), ps)
    for mxu, hbm in ((50.0, 49.5), (49.5, 50.0), (None, 49.5), (49.5, None)):
        same(found(110, 110, mxu, hbm), [], (mxu, hbm))


@case
def waiting_for_input():
    """What the host does for input, if the steps wait for it for more than 10 % of their time:
    sending takes 30 % of that, or reading and preprocessing 50 %, or nothing is known of it."""
    def found(infeed, *host):
        return [code for code in rules(step=1000, infeed=infeed, fusion=1000 - infeed, host=host)
                if code not in ('CollectiveBoundRule', 'DataShuffleBoundRule')]
    sends, reads = 'DataTransferBoundRule', 'HostProcessingBoundRule'
    for infeed, codes in ((100, []), (105, ['InputBoundRule']), (110, ['InputBoundRule'])):
        same(found(infeed), codes, infeed)
    for sending, codes in ((300, [sends, reads]), (295, [reads]), (305, [sends, reads]),
                           (500, [sends, reads]), (505, [sends]), (1000, [sends]), (0, [reads])):
        same(found(110, ('enqueue:InfeedEnqueue', 0, sending), (
            'Iterator::Map', sending, 1000 - sending, {'step_name': {'str': 'Map'}})), codes,
             sending)
