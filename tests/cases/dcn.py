# SPDX-License-Identifier: Apache-2.0
"""Messages between slices: dcn_messages, dcn_bursts."""
from lib.cases import case, must, same
from lib.hlo import computation, instruction, module, proto
from lib.made import host_of
from lib.shell import rows
from lib.wire import L, Plane, US, V, space


RECEIVED = 'MegaScale: Communication Transport Receive'


def message(end_us, duration_us, n_bytes, slices=(2, 1), devices=(3, 3), label='collective',
            **more):
    stats = dict(zip(('dcn_source_slice_id', 'dcn_destination_slice_id',
                      'dcn_source_per_slice_device_id', 'dcn_destination_per_slice_device_id'),
                     slices + devices))
    stats.update(more, duration_us=duration_us, payload_size_bytes=n_bytes)
    stats = {name: {'int64': value} for name, value in stats.items() if value is not None}
    if label:
        stats['dcn_label'] = {'str': label}
    return (RECEIVED, end_us * US, 0, stats)


MESSAGES = ("SELECT start_ps / 1000, ifnull(duration_ps, 0) / 1000, bytes, chunk, loop_index, "
            "validity, burst, straggler FROM dcn_messages('{x}')")
BURSTS = ("SELECT start_ps / 1000, (start_ps + duration_ps) / 1000, message_count, bytes, "
          "max_overlap FROM dcn_bursts('{x}')")


@case
def received_messages():
    """Three messages of one burst; a message begins its duration before the event."""
    data = host_of([message(100, 50, 32768, dcn_chunk=0, dcn_loop_index=24),
                    message(175, 50, 1, dcn_chunk=1, dcn_loop_index=24), message(150, 75, 10)])
    same(rows(MESSAGES, data),
         [(50000, 50000, 32768, 0, 24, 'VALID', 1, 3), (125000, 50000, 1, 1, 24, 'VALID', 1, 1),
          (75000, 75000, 10, None, None, 'VALID', 1, 2)])
    same(rows(BURSTS, data), [(50000, 175000, 3, 32779, 2)])
    same(rows("SELECT label, source_slice, source_device, destination_slice, destination_device "
              "FROM dcn_messages('{x}') LIMIT 1", data), [('collective', 2, 3, 1, 3)])
    same(rows("SELECT bytes_per_second, bandwidth, utilization_fraction FROM dcn_bursts('{x}')",
              data), [(32779 / 125e-6, 'Low', 32779 / 125e-6 / 12.5e9)])


@case
def invalid_messages():
    """Messages from a slice to itself, without a duration, or without a sender are shown, but
    belong to no burst."""
    data = host_of([message(5000, 1000, 1, slices=(2, 2)), message(5000, 0, 1),
                    message(5000, 10, 1, slices=(None, None), label=''),
                    message(5000, 0, 1, slices=(2, 2))])
    same(rows(MESSAGES, data), [(4000000, 1000000, 1, None, None, 'LOOPBACK', None, None),
                                (5000000, 0, 1, None, None, 'CLOCK_SKEW', None, None),
                                (4990000, 10000, 1, None, None, 'BAD_KEY', None, None),
                                (5000000, 0, 1, None, None, 'CLOCK_SKEW', None, None)])
    same(rows("SELECT label, source_slice, destination_slice FROM dcn_messages('{x}') "
              "WHERE validity = 'BAD_KEY'", data), [(None, None, None)])
    same(rows(BURSTS, data), [])


@case
def stats_of_messages():
    """Of several stats of a name the first counts; a text is no number."""
    name, end, duration, stats = message(5000, 1000, 10, dcn_chunk=3)
    found = []
    for more in ([('dcn_chunk', {'int64': 4})], [('dcn_loop_index', {'str': '7'})],
                 [('dcn_loop_index', {'uint64': 7}), ('dcn_loop_index', {'int64': 8})]):
        data = host_of([(name, end, duration, list(stats.items()) + more)])
        found += rows("SELECT chunk, loop_index, validity FROM dcn_messages('{x}')", data)
    same(found, [(3, None, 'VALID'), (3, None, 'VALID'), (3, 7, 'VALID')])


@case
def bursts_of_messages():
    """A message that starts when another ends continues its burst; four stragglers; numbers of
    other types and sizes."""
    data = host_of([message(10 * i + 10, 10, 2**33) for i in range(6)]
                   + [message(100, 10, -5), message(200, 2**62, 1), message(300, -7, 2**63 - 1)])
    same(rows(BURSTS, data), [(0, 60000, 6, 6 * 2**33, 2), (90000, 100000, 1, 0, 1)])
    same(rows("SELECT straggler FROM dcn_messages('{x}') WHERE burst = 1", data),
         [(None,), (None,), (4,), (3,), (2,), (1,)])
    same(rows("SELECT validity FROM dcn_messages('{x}') WHERE burst IS NULL", data),
         [('CLOCK_SKEW',), ('CLOCK_SKEW',)])
    same(rows("SELECT bandwidth FROM dcn_bursts('{x}')", data), [('High',), ('Low',)])
    for n_bytes, found in ((4169999999, 'Low'), (4170000000, 'Medium'), (8339999999, 'Medium'),
                           (8340000000, 'High')):
        same(rows("SELECT bandwidth FROM dcn_bursts('{x}')",
                  host_of([message(1000000, 1000000, n_bytes)])), [(found,)], n_bytes)


@case
def messages_at_the_ends_of_time():
    """A message whose start would be below int64 starts at its lower limit."""
    data = host_of([(RECEIVED, at, 0, dict(message(0, 2**42, 1)[3]))
                    for at in (-2**63 + 1, 2**63 - 1, 0)])
    ps = 2**42 * US
    same(rows("SELECT start_ps, duration_ps, validity FROM dcn_messages('{x}') ORDER BY 1", data),
         [(-2**63, 1, 'VALID'), (-ps, ps, 'VALID'), (2**63 - 1 - ps, ps, 'VALID')])
    same(rows("SELECT start_ps, start_ps + duration_ps, message_count FROM dcn_bursts('{x}') ORDER "
              "BY 1", data), [(-2**63, -2**63 + 1, 1), (-ps, 0, 1), (2**63 - 1 - ps, 2**63 - 1, 1)])


def transfer_after(n_ops, n_modules, info=None):
    """A module in which one transfer begins and ends. Before it, ops in none of n_modules modules,
    which are over by then. info: the send's DcnCollectiveInfoProto."""
    to = L(68, *(L(1, L(1, name), L(2, value)) for name, value in (
        ('_xla_host_transfer_rendezvous', 'r'), ('_xla_megascale_transfer_type', 'ONE_TO_ONE'))))
    names = ['send', 'recv-done']
    ops = [instruction(i + 1, name, name, more=V(26, 1) + to) for i, name in enumerate(names)]
    programs = Plane('/host:metadata', 9)
    programs.meta('m(1)', key=1, stats={'Hlo Proto': {'bytes': proto(module(
        'm', computation(1, 'main', ops, root=2)))}})
    core = Plane('/device:TPU:0')
    group = {} if info is None else {'dcn_collective_info': {'bytes': info}}
    send, done = (core.meta('%' + name, name, {'hlo_category': {'str': 'host ' + name}, **group})
                  for name in names)
    core.line(2, 'XLA Modules', [('before', 0, 10)] * n_modules
              + [(core.meta('m(1)'), 10 * US, 50 * US)])
    core.line(3, 'XLA Ops', [('other', 5 * US, 10)] * n_ops
              + [(send, 10 * US, 10 * US), (done, 30 * US, 10 * US)])
    return space(core.bytes(), programs.bytes())


@case
def sizes_of_groups():
    """The endpoints of the first group; 1 for transfers from one to one; else unknown."""
    def found(*groups):
        return rows("SELECT group_size FROM dcn_collectives('{x}')",
                    transfer_after(0, 0, b''.join(groups)))[0][0]
    two, three = (L(2, *[L(1, V(1, i)) for i in range(n)]) for n in (2, 3))
    to_one = L(3, L(1, V(1, 0)), L(2, V(1, 1)))
    same([found(two), found(three), found(two, three), found(three, two, V(4, 7)), found(to_one),
          found(to_one, two), found(two, to_one), found()], [2, 3, 2, 3, 1, 1, 1, None])
    same(rows("SELECT group_size FROM dcn_collectives('{x}')", transfer_after(0, 0)), [(None,)])


@case
def host_events_of_transfers():
    """The host event of a transfer may be in any plane of the host, the first one too. It ends 5 us
    after the recv-done starts, or 20 us before."""
    for end_us, stall in ((35, 5e-3), (10, -2e-2), (9, None)):
        host = host_of([('device_100000_gid_r', 0 if end_us < 10 else 10 * US,
                         (end_us - 10) * US if end_us >= 10 else 9 * US)])
        for planes in ([host, transfer_after(0, 0)], [transfer_after(0, 0), host]):
            same(rows("SELECT round(host_stall_ms, 9) FROM dcn_collectives('{x}')",
                      b''.join(planes)), [(stall,)], (end_us, len(planes[0])))


@case
def module_limit():
    """The search for the module of each op ends after a million modules and 64 for each; later ops
    are in none, and prof_issues has dcn_cut."""
    ask = ("SELECT i.code, max(i.message), max(rendezvous_name), max(observed_duration_ms) "
           "FROM prof_issues('{x}') AS i LEFT JOIN dcn_collectives('{x}') "
           "WHERE i.code IN ('dcn_cut', 'nothing_to_show', 'no_steps') GROUP BY 1")
    n_modules, most = 2000, 1000000 + 64 * 2001
    n_ops = most // 2001 - 1
    same([r[0:1] + r[2:] for r in rows(ask, transfer_after(n_ops, n_modules))],
         [('no_steps', 'r', 0.03)])
    cut = rows(ask, transfer_after(n_ops + 1, n_modules))
    same([r[0:1] + r[2:] for r in cut],
         [(code, None, None) for code in ('dcn_cut', 'no_steps', 'nothing_to_show')])
    must('some network transfers are not listed' in cut[0][1]
         and 'found no send or recv op' in cut[2][1], cut)
