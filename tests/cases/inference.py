# SPDX-License-Identifier: Apache-2.0
"""Requests to servers, their batches and models; steps of decoding."""
from lib.cases import case, near, same
from lib.made import host_of
from lib.shell import rows
from lib.wire import Plane, US, space


def request(begin, end, size, batch, name='BatchingSessionRun'):
    return [(name, begin, end - begin), ('ScheduleWithSplit', begin + 1000, 1000, {
        'batching_input_task_size': {'int64': size}, '_pt': {'int64': 4}, '_p': {'uint64': batch}})]


def batch(begin, end, number, padding, size):
    return [('ProcessBatch', begin, end - begin, {'_ct': {'int64': 4}, '_c': {'uint64': number}}),
            ('MergeInputTensors', begin + 1000, 1000,
             {'padding_amount': {'int64': padding}, 'batch_size_after_padding': {'int64': size}}),
            ('SessionRun', begin + 2000, end - begin - 2000, {'model_id': {'str': 'model:1'}})]


SERVER = [request(10000, 30000, 200, 1), request(10000, 40000, 100, 2),
          request(10000, 50000, 300, 3),
          batch(22000, 32000, 1, 20, 32) + batch(41000, 61000, 3, 30, 64),
          batch(21000, 41000, 2, 10, 16)]


@case
def batched_requests():
    """A request ends with its batch, and waits for it from its begin on."""
    data = host_of(*SERVER)
    same(rows("SELECT duration_ps, batching_request_size, batching_delay_ps "
              "FROM inference_requests('{x}')", data),
         [(22000, 200, 12000), (31000, 100, 11000), (51000, 300, 31000)])
    same(rows("SELECT batching_request_size FROM inference_requests('{x}') "
              "ORDER BY batching_request_size", data), [(100,), (200,), (300,)])
    same(rows("SELECT batching_delay_ps FROM inference_requests('{x}') ORDER BY batching_delay_ps",
              data), [(11000,), (12000,), (31000,)])
    same(rows("SELECT model, duration_ps, padding_amount, batch_size_after_padding, "
              "batching_delay_ps, batching_efficiency_fraction FROM inference_batches('{x}') "
              "ORDER BY padding_amount", data),
         [('model:1', 20000, 10, 16, 11000, 0.375), ('model:1', 10000, 20, 32, 12000, 0.375),
          ('model:1', 20000, 30, 64, 31000, 0.53125)])
    same(rows("SELECT percentile, latency_ms FROM inference_percentiles('{x}') "
              "WHERE kind = 'request' AND request_id <> 'N/A'", data),
         [('0.000', 22e-6), ('33.333', 31e-6), ('66.667', 51e-6)])
    same(rows("SELECT model, request_count, batch_count FROM inference_models('{x}')", data),
         [('model:1', 3, 3)])
    near(rows("SELECT request_throughput FROM inference_models('{x}')", data)[0][0], 3 / 51e-9,
         'throughput')
    same(rows("SELECT percentile, total_ms FROM inference_latency('{x}') WHERE percentile <> 'Avg'",
              data)[0], ('50.0%', 31e-6))


@case
def batch_without_request():
    """A batch to which no request points has a row, without a model; XProf has none."""
    data = host_of(*SERVER, batch(70000, 75000, 9, 4, 8) + batch(80000, 82000, 8, 1, 4))
    same(rows("SELECT model, rank, duration_ps, padding_amount, request_ids "
              "FROM inference_batches('{x}') WHERE NOT shown_by_xprof", data),
         [(None, 1, 2000, 1, '[]'), (None, 2, 5000, 4, '[]')])
    same(rows("SELECT count(*), count(model) FROM inference_batches('{x}') WHERE shown_by_xprof",
              data), [(3, 3)])
    same(rows("SELECT batch_count FROM inference_models('{x}')", data), [(3,)])


@case
def request_without_a_model():
    """A request that names no model has a row although others name one; XProf has none."""
    data = host_of(*SERVER, request(70000, 79000, 5, 8), batch(72000, 78000, 8, 1, 4)[:2],
                   request(80000, 87000, 6, 9), batch(82000, 86000, 9, 1, 4)[:2])
    same(rows("SELECT model, rank, duration_ps FROM inference_requests('{x}') "
              "WHERE NOT shown_by_xprof", data), [(None, 1, 7000), (None, 2, 9000)])
    same(rows("SELECT count(*), count(DISTINCT model) FROM inference_requests('{x}') "
              "WHERE shown_by_xprof", data), [(3, 1)])
    same(rows("SELECT request_count FROM inference_models('{x}')", data), [(3,)])


@case
def most_models():
    """1000 models have names; requests of further ones have none, and an issue says that parts are
    missing."""
    for n, known in ((1000, 1000), (1001, 1000)):
        requests, batches = [], []
        for i in range(n):
            at = 100000 * i
            requests += request(at + 10000, at + 20000, 8, i)
            batches += batch(at + 22000, at + 32000, i, 0, 8)[:2] + [
                ('SessionRun', at + 24000, 8000, {'model_id': {'str': 'm%d:1' % i}})]
        same(rows("SELECT count(*), count(model), count(DISTINCT model), (SELECT count(*) "
                  "FROM prof_issues('{x}') WHERE code = 'inference_cut') "
                  "FROM inference_requests('{x}')", host_of(requests, batches)),
             [(n, known, known, n - known)], '%d models' % n)


@case
def model_of_a_users_request():
    """A user's request that names no model has that of its batches, unless they differ: so XProf
    2.24.2 answers."""
    def user(*batches):
        return [('ModelServerRequest_Predict', 10000, 20000, {'_r': {'int64': 1}})] + [
            ('ScheduleWithSplit', 11000 + 10 * i, 5,
             {'batching_input_task_size': {'int64': 7}, '_pt': {'int64': 4}, '_p': {'uint64': b}})
            for i, b in enumerate(batches)]

    def of_model(begin, number, model):
        return [*batch(begin, begin + 9000, number, 1, 8)[:2],
                ('SessionRun', begin + 2000, 7000, {'model_id': {'str': model}})]
    data = host_of(user(1), user(2, 3), user(4, 5),
                   of_model(22000, 1, 'a:1') + of_model(42000, 2, 'a:1'),
                   of_model(22000, 3, 'b:1') + of_model(42000, 4, 'b:1'), of_model(22000, 5, 'b:1'))
    same(rows("SELECT model, count(*) FROM inference_requests('{x}') GROUP BY 1", data),
         [(None, 1), ('a:1', 1), ('b:1', 1)])


@case
def time_of_a_request():
    """Of what goes on at once the last of formation, runtime, transfers and device counts."""
    events = [('TfrtModelRun', 10000, 100000, {'_r': {'int64': 1}}),
              ('tpu::System::Execute', 20000, 80000), ('WriteHbm', 25000, 10000),
              ('DoEnqueueProgram', 40000, 1000),
              ('ReadHbm', 70000, 10000), ('CompleteCallbacks', 90000, 1000)]
    same(rows("SELECT host_preprocess_ps, host_runtime_ps, write_to_device_ps, "
              "read_from_device_ps, host_postprocess_ps, idle_ps FROM inference_requests('{x}')",
              host_of(events)),
         [(10000, 10000, 10000, 10000, 20000, 40000)])


@case
def server_with_a_gpu():
    """XProf treats every server's device as a TPU; other columns have the time of GPUs."""
    gpu = Plane('/device:GPU:0', 2)
    number = lambda n: {'correlation_id': {'int64': n}}  # noqa: E731
    gpu.line(7, 'Stream #7', [('MemcpyH2D', 107 * US, 8 * US, number(4)),
                              ('my_kernel', 113 * US, 50 * US, number(5)),
                              ('MemcpyD2H', 182 * US, 10 * US, number(6))])
    cpu = Plane('/host:CPU')
    cpu.line(10, 'thread', [('SessionRun', 100 * US, 100 * US, {'_r': {'int64': 1}}),
                            ('cuMemcpyHtoDAsync', 104 * US, 2 * US, number(4)),
                            ('cuLaunchKernel', 110 * US, 2 * US, number(5)),
                            ('cuMemcpyDtoHAsync', 180 * US, 2 * US, number(6))])
    data = space(cpu.bytes(), gpu.bytes())
    same(rows("SELECT duration_ps, write_to_device_ps, device_compute_ps, read_from_device_ps "
              "FROM inference_requests('{x}')", data), [(100 * US, 0, 0, 0)])
    # the kernel begins 2 us before the copy to the device ends: at once the device counts
    same(rows("SELECT write_to_device_ps_actual, device_compute_ps_actual, "
              "read_from_device_ps_actual FROM inference_requests('{x}')", data),
         [(6 * US, 50 * US, 10 * US)])
    same(rows("SELECT host_ms, device_ms, communication_ms, host_ms_actual, device_ms_actual, "
              "communication_ms_actual FROM inference_latency('{x}') LIMIT 1", data),
         [(0.1, 0, 0, 0.034, 0.05, 0.016)])


@case
def decode_steps():
    """Steps of several hosts that serve a model in parts; a host that serves none does not
    count."""
    def serving(name, module, duration, n):
        cpu, tpu = Plane('/host:CPU'), Plane('/device:TPU:0', 2)
        cpu.meta('WizServable::Unused')
        cpu.line(1, 'other', [('f', 0, 5)])
        return space(cpu.line(2, 'thread', [('f', 0, 5), (name, 5, 5)]).bytes(),
                     tpu.line(2, 'XLA Modules',
                              [(module, 2 * i * duration, duration) for i in range(n)]).bytes())
    found = ("SELECT name, CAST(value AS REAL) FROM overview('{x}') "
             "WHERE section = 'disaggregated_serving'")
    hosts = [serving('WizServable::Predict', 'jit_generate(7)', 100 * US, 10),
             serving('WizServable', 'jit_generate_more(8)', 200 * US, 20),
             serving('Other', 'jit_generate(7)', US, 99)]
    same(rows(found, hosts), [('decode_step_time_us_avg', 166.666666667), ('num_decode_steps', 30)])
    same(rows(found, hosts[2]), [])
    same(rows(found, serving('WizServable', 'my_jit_generate(7)', US, 1)), [])
    # asked of XProf 2.24.2: of a GPU the line counts that the file has, one that XProf would derive
    # from kernels does not
    cpu, number = Plane('/host:CPU').line(1, 'thread', [('WizServable', 0, 5)]).bytes(), {
        'correlation_id': {'int64': 1}, 'hlo_module': {'str': 'jit_generate'},
        'program_id': {'uint64': 3}}
    gpu = Plane('/device:GPU:0', 2).line(7, 'Stream #7', [('k', 0, 10 * US, number)])
    same(rows(found, space(cpu, gpu.bytes())), [])
    gpu.line(0xdeadbeef + 4, 'XLA Modules',
             [('jit_generate(3)', US, 49 * US), ('jit_generate(3)', 100 * US, 51 * US)])
    same(rows(found, space(cpu, gpu.bytes())),
         [('decode_step_time_us_avg', 50.0), ('num_decode_steps', 2.0)])


@case
def a_hundred_requests():
    """Requests of 0, 10, ... 990 ns, a tenth of which the device computes and a tenth goes to it:
    percentiles by place, and their average."""
    ns, gap = 1000, 2 * US
    events, modules = [], []
    for i in range(100):
        begin, grouped = i * gap, {'group_id': {'int64': i}}
        # a request of no time at all is none, so the first takes a picosecond
        events += [('TfrtModelRun', begin, max(10 * i * ns, 1), dict(grouped, _r={'int64': 1})),
                   ('WriteHbm', begin, i * ns, grouped)]
        modules.append(('jit_predict(7)', begin + 5 * i * ns, i * ns, grouped))
    cpu = Plane('/host:CPU').line(1, 'thread', events)
    data = space(cpu.bytes(), Plane('/device:TPU:0', 2).line(2, 'XLA Modules', modules).bytes())
    same(rows("SELECT percentile, round(total_ms * 1e3, 9), round(host_ms * 1e3, 9), "
              "round(device_ms * 1e3, 9), round(communication_ms * 1e3, 9) "
              "FROM inference_latency('{x}') "
              "WHERE percentile IN ('50.0%', '99.9%')", data),
         [('50.0%', 0.5, 0.4, 0.05, 0.05), ('99.9%', 0.99, 0.792, 0.099, 0.099)])
    same(rows("SELECT round(avg(latency_ms) * 1e3, 6), round(avg(device_compute_ps) / 1e6, 6), "
              "round(avg(write_to_device_ps) / 1e6, 6) FROM inference_requests('{x}')", data),
         [(0.495, 0.0495, 0.0495)])


@case
def steps_of_a_server():
    """With a line Steps, which the launch of a program gives its group, the program and what
    touches it are of the request, as in XProf (12 ns of request 0)."""
    ns = 1000
    launch = {k: {'int64': v} for k, v in (('run_id', 7), ('queue_id', 0), ('core_type', 0))}
    cpu = Plane('/host:CPU').line(1, 'thread', [
        ('BatchingSessionRun', 90 * ns, 54 * ns),
        ('DoEnqueueProgram', 105 * ns, ns, dict(launch, device_ordinal={'int64': 1}))])
    tpu = Plane('/device:TPU:1', 2).line(1, 'Steps', [('4', 113 * ns, 8 * ns),
                                                      ('5', 121 * ns, 5 * ns)])
    tpu.line(2, 'XLA Modules', [('m(1)', 113 * ns, 7 * ns, launch),
                                ('m(1)', 121 * ns, 5 * ns, dict(launch, run_id={'int64': 9}))])
    same(rows("SELECT device_compute_ps, device_compute_ps_actual FROM inference_requests('{x}')",
              space(cpu.bytes(), tpu.bytes())), [(12 * ns, 12 * ns)])


@case
def programs_after_their_request():
    """The actual times of a request are those in it, and add up to its duration."""
    grouped = {'group_id': {'int64': 0}}
    cpu = Plane('/host:CPU').line(1, 'thread', [
        ('WriteHbm', 3000, 4000, grouped),
        ('TfrtModelRun', 10000, 20000, dict(grouped, _r={'int64': 1}))])
    tpu = Plane('/device:TPU:0', 2).line(2, 'XLA Modules', [('m(1)', 25000, 9000, grouped),
                                                            ('m(1)', 36000, 1000, grouped)])
    same(rows("SELECT start_ps, duration_ps_actual, device_compute_ps, device_compute_ps_actual, "
              "write_to_device_ps_actual, idle_ps_actual FROM inference_requests('{x}')",
              space(cpu.bytes(), tpu.bytes())), [(3000, 27000, 10000, 5000, 4000, 18000)])


@case
def crowded_batch():
    """Very many requests of one batch with very many events: linear in time and memory, and said
    so."""
    n = 3000
    lines = [sum([request(10000 + 10 * i, 10000 + 10 * i + 5, 1, 1) for i in range(n)], [])]
    lines.append([('ProcessBatch', 10**9, 10**9, {'_ct': {'int64': 4}, '_c': {'uint64': 1}})]
                 + [('WriteHbm', 10**9 + 100 * i, 50) for i in range(n)])
    same(rows("SELECT count(*) > 0 FROM inference_requests('{x}')", host_of(*lines)), [(1,)])


@case
def odd_times():
    """Times before the session and beyond all numbers."""
    data = host_of([('SessionRun', -5000, 10000, {'_r': {'int64': 1}}),
                    ('tpu::System::Execute', 2**62, 2**62),
                    ('SessionRun', 2**63 - 1, 2**63 - 1, {'_r': {'int64': -1}})])
    same(rows("SELECT start_ps, duration_ps FROM inference_requests('{x}') ORDER BY 1", data),
         [(-5000, 10000), (2**63 - 1, 2**63 - 1)])
    longest = (2**63 - 1) / 1e9
    same(rows("SELECT count(*), min(latency_ms) > 0, max(latency_ms) <= %r "
              "FROM inference_percentiles('{x}')" % (longest * (1 + 1e-12)), data), [(3, 1, 1)])
    same(rows("SELECT count(*), min(total_ms) > 0, max(total_ms) <= %r "
              "FROM inference_latency('{x}')" % (longest * (1 + 1e-12)), data), [(6, 1, 1)])


@case
def batching_parameters():
    """Parameters of batch schedulers are those of the last of two snapshots, by the label
    model_name, wherever it is among the labels. 10000 models have some."""
    def snapshot(at, *labels):
        names = {'num_batch_threads': {'int64': at + 1}, 'batch_timeout_micros': {'int64': at + 2},
                 'max_batch_size': {'int64': at + 3}, 'max_enqueued_batches': {'int64': at + 4},
                 'allowed_batch_sizes': {'str': '%d,8' % at}}
        return ('snapshot', at, 1, {
            '/tensorflow/serving/batching/%s{%s}' % (name, of): value
            for name, value in names.items() for of in labels})

    def found(*snapshots):
        threads = Plane('/host:CPU', 2)
        for i in range(3):
            at = 100000 * i
            events = request(at, at + 20000, 8, i), batch(at + 22000, at + 32000, i, 0, 8)[:2] + [
                ('SessionRun', at + 24000, 8000, {'model_id': {'str': 'abc'[i]}})]
            for k, line in enumerate(events):
                threads.line(2 * i + k, 'thread', line)
        counters = Plane('/host:tfstreamz', 3).line(1, 'counters', list(snapshots))
        return rows("SELECT model, batching_threads, batch_timeout_us, max_batch_size, "
                    "max_enqueued_batches, allowed_batch_sizes FROM inference_models('{x}')",
                    x=space(threads.bytes(), counters.bytes()))
    unknown = [(model, *[None] * 5) for model in 'abc']
    first = snapshot(10, 'model_name=a, op=x', 'op=x, model_name=b', 'model_name=c')
    last = snapshot(20, 'op=x, model_name=b', 'model_name=a, op=x', 'op=x, name=c',
                    'model_names=c', 'model_name=c=c')
    same(found(first, last), [('a', 21, 22, 23, 24, '20,8'), ('b', 21, 22, 23, 24, '20,8'),
                              ('c', *[None] * 5)])
    same(found(last), unknown)
    same(found(first, last, first), unknown)
    many = [('/tensorflow/serving/batching/num_batch_threads{model_name=m%d}' % i, {'int64': 1})
            for i in range(10000)]
    (threads_of_b, *rest_of_b), of_a = (snapshot(20, 'model_name=' + name)[3].items()
                                        for name in 'ba')
    for others, known_a in ((many[2:], ('a', 21, 22, 23, 24, '20,8')), (many[1:], unknown[0])):
        stats = dict([threads_of_b, *others, *of_a, *rest_of_b])
        same(found(first, ('snapshot', 20, 1, stats))[:2],
             [known_a, ('b', 21, 22, 23, 24, '20,8')])


@case
def stats_of_metadata():
    """What an event's metadata records counts for the event, unless the event records it itself."""
    def answers(in_metadata):
        threads = Plane('/host:CPU')
        for i, thread in enumerate(SERVER):
            events = []
            for name, start, length, *stats in thread:
                stats = dict(*stats)
                moved = {k: v for k, v in stats.items() if k in in_metadata}
                own = {k: v for k, v in stats.items() if k not in in_metadata}
                events.append((threads.meta(name, stats=moved) if moved else name, start, length,
                               own))
            threads.line(10 * i + 10, 'thread%d' % i, events)
        data = space(threads.bytes())
        return [rows("SELECT * FROM %s('{x}')" % table, data)
                for table in ('inference_requests', 'inference_batches', 'inference_models')]
    want = answers(())
    for names in (('batching_input_task_size',), ('padding_amount', 'batch_size_after_padding'),
                  ('model_id',), ('model_id', 'padding_amount', 'batching_input_task_size')):
        same(answers(names), want, names)
    twice = Plane('/host:CPU')
    meta = twice.meta('ScheduleWithSplit', stats={'batching_input_task_size': {'int64': 999}})
    for i, thread in enumerate(SERVER):
        twice.line(10 * i + 10, 'thread%d' % i, [
            (meta if e[0] == 'ScheduleWithSplit' else e[0], *e[1:]) for e in thread])
    same(rows("SELECT * FROM inference_requests('{x}')", space(twice.bytes())), want[0])


@case
def requests_at_percentiles():
    """Up to 60 requests all have a row. Of more, those at and after six percentiles have one: half
    a percent of them after 99, a whole one after those below, at most 10. So XProf 2.24.2
    answers."""
    def found(n):
        events = [('TfrtModelRun', 10**7 * i, 1000 * ((7 * i) % n + 10), {'_r': {'int64': 1}})
                  for i in range(n)]
        got = rows("SELECT percentile FROM inference_percentiles('{x}') "
                   "WHERE percentile <> 'Average'", host_of(events))
        return [percentile for percentile, in got]
    same(found(60), ['%.3f' % (100 * i / 60) for i in range(60)])
    same(found(61), ['50.820', '75.410', '90.164'])
    same(found(1000), ['%.3f' % (first + i / 10) for first, n in (
        (50, 10), (75, 10), (90, 10), (99, 5), (99.9, 1)) for i in range(n)])
    same(found(2500), ['%.3f' % (100 * (first + i) / 2500) for first, n in (
        (1250, 10), (1875, 10), (2250, 10), (2475, 10), (2498, 1)) for i in range(n)])
