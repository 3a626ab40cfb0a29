# SPDX-License-Identifier: Apache-2.0
"""What JAX, arithmetic and the clock say of programs on a GPU, and what the tables say of their
profiles: tests/gpu/jax_facts.py recorded both.

    JAX_FACTS=FOLDER tests/run jax_facts     a folder that it has just written"""
import json
import os
from lib.cases import case, must, near, same
from lib.shell import DATA, rows

ELSEWHERE = os.environ.get('JAX_FACTS')
MIB = 1 << 20


def recorded(name):
    """(facts, a function that asks the profile, '{x}')"""
    folder = os.path.join(ELSEWHERE, name) if ELSEWHERE else os.path.join(DATA, 'h200_' + name)
    with open(os.path.join(folder, 'facts.json')) as f:
        facts = json.load(f)
    return facts, lambda sql: rows(sql.replace('{x}', folder.replace("'", "''")))


def within(got, least, most, what):
    must(got is not None and least <= got <= most,
         '%s: got %s, not %s to %s' % (what, got, least, most))


def check_steps(facts, tell):
    """The ranges of steps are a little shorter than what the program measured around them, and
    start at the time since 1970 that it read before."""
    steps = tell("""SELECT range_ps / 1e6, start_unix_ns + range_start_ps / 1000
                    FROM host_steps('{x}') JOIN hosts('{x}') USING (host)
                    ORDER BY range_start_ps""")
    same(len(steps), len(facts['steps_us']))
    for i, (us, unix_ns) in enumerate(steps):
        within(facts['steps_us'][i] - us, 0, 250, 'step %d, us outside of its range' % i)
        within(unix_ns - facts['steps_unix_ns'][i], -20000, 250000, 'step %d, ns to its start' % i)


@case
def operations():
    """The operations of matrix products, of which all others are less than a hundredth; with CUDA
    graphs and without them the same, in the same scopes."""
    scopes = {}
    for name in 'net', 'kernels':
        facts, tell = recorded(name)
        check_steps(facts, tell)
        n = len(facts['steps_us'])
        (executions, model, hardware), = tell(
            "SELECT executions, model_flops, hardware_flops FROM program_flops('{x}')")
        same((executions, model), (n, hardware), name)
        within(model / n / facts['matmul_flops'], 1, 1.01, name)
        each = tell("SELECT model_flops FROM mfu('{x}') WHERE scope = 'step'")
        same(len(each), n - 2, 'complete steps')
        for flops, in each:
            near(flops, model / n, name)
        scopes[name] = {scope: (flops, us) for scope, flops, us in tell(
            "SELECT scope, flops, self_us FROM time_by_scope('{x}')")}
    same(set(scopes['net']), {'layer%d' % i for i in range(4)} | {'optimizer'})
    same(set(scopes['kernels']), set(scopes['net']))
    for scope, (flops, us) in scopes['net'].items():
        same(scopes['kernels'][scope][0], flops, scope)
        within(scopes['kernels'][scope][1] / us, 0.8, 1.25, scope)


@case
def memory_of_a_program():
    """Bytes of arguments, of donated arguments and of temporaries, as the compiler tells JAX, and
    the allocator's own counts."""
    facts, tell = recorded('net')
    memory = facts['memory']
    (program, parameters), = tell("""SELECT program_id, parameter_bytes FROM hlo_modules('{x}')
                                     WHERE hlo_module = 'jit_train'""")
    same(parameters, memory['argument'])
    same(tell("""SELECT count(*), sum(size_mib) FROM donation('{x}')
                 WHERE program_id = %s AND donated""" % program),
         [(facts['donated'], memory['alias'] / MIB)])
    (allocated, ), = tell("""SELECT allocated_mib FROM peak_memory('{x}')
                             WHERE program_id = %s""" % program)
    within(allocated * MIB - memory['argument'] - memory['temp'] -
           (memory['output'] - memory['alias']), 0, 1024, 'bytes beyond arguments, temporaries')
    (peak, events), = tell("""SELECT lifetime_peak_bytes_actual, allocation_count
                              FROM memory_allocators('{x}') WHERE allocator = 'GPU_0_bfc'""")
    same((peak, events), (facts['after']['peak_bytes_in_use'],
                          facts['after']['num_allocs'] - facts['before']['num_allocs']))
    (before, ), = tell("""SELECT heap_bytes - allocation_bytes FROM memory_events('{x}')
                          WHERE allocator = 'GPU_0_bfc' ORDER BY time_ps LIMIT 1""")
    same(before, facts['before']['bytes_in_use'])


@case
def compilations():
    """What JAX measured of each compilation. Its measure of lowering leaves out what prepares it,
    the others have the little around the event besides."""
    facts, tell = recorded('compiles')
    check_steps(facts, tell)
    told = [{}, {}]
    for i, one in enumerate(facts['compiled']):
        told[i // 3][one['event'].split('/')[-1]] = one['us']
    found = tell("""SELECT function, step, parameter_shapes, tracing_us, lowering_us, duration_us
                    FROM compilations('{x}') ORDER BY start_ps""")
    same([one[:3] for one in found],
         [('grow', 2 * i, 'f32[%d,%d]' % tuple(shape)) for i, shape in enumerate(facts['shapes'])])
    for (*_, tracing, lowering, us), jax in zip(found, told):
        within(jax['jaxpr_trace_duration'] - tracing, 0, 200, 'us of tracing')
        within(lowering - jax['jaxpr_to_mlir_module_duration'], 0, 1000, 'us of lowering')
        within(jax['backend_compile_duration'] - us, 0, 3000, 'us of compiling')
    same(tell("SELECT program_count, compilation_count FROM recompilations('{x}') "
              "WHERE function = 'grow'"), [(3, 2)])


@case
def memory_of_arrays():
    """The allocator's bytes in use after each array came or went, and what lives at the end."""
    facts, tell = recorded('memory')
    check_steps(facts, tell)
    heap = [bytes for bytes, in tell("""SELECT heap_bytes FROM memory_events('{x}')
                                        WHERE allocator = 'GPU_0_bfc' ORDER BY time_ps""")]
    for told in facts['in_use']:
        while heap and heap[0] != told['bytes_in_use']:
            heap.pop(0)
        must(heap, 'no moment with %d bytes in use' % told['bytes_in_use'])
    (last, ), = tell("SELECT max(event_id) FROM memory_events('{x}')")
    (live, ), = tell("""SELECT sum(allocated_bytes) FROM live_allocations('{x}', %d)
                        WHERE allocator = 'GPU_0_bfc'""" % last)
    same(live, facts['live_bytes'])
    same(tell("SELECT lifetime_peak_bytes_actual FROM memory_allocators('{x}') "
              "WHERE allocator = 'GPU_0_bfc'"), [(facts['in_use'][-1]['peak_bytes_in_use'],)])


@case
def bytes_of_copies():
    """Each copy of a known size, by the program itself or by a program that keeps values in the
    host's memory."""
    for name in 'copies', 'offload':
        facts, tell = recorded(name)
        for op, told in ('MemcpyH2D', 'to_device'), ('MemcpyD2H', 'to_host'):
            same(tell("SELECT occurrences, bytes FROM exposed_communication('{x}') WHERE op = '%s'"
                      % op), [(len(facts[told]), sum(facts[told]))], name)
    same(tell("""SELECT sum(size_bytes) FROM buffer_allocations('{x}')
                 WHERE hlo_module = 'jit_program' AND memory_space = 5"""),
         [(facts['to_device'][0] + facts['to_host'][0],)], 'in the memory of the host')


@case
def idle_time():
    """The GPU idles while the host sleeps, between steps or in Python that the program calls. It
    is idle until its last work: what is slept after that is not seen."""
    facts, tell = recorded('idle')
    check_steps(facts, tell)
    slept = "SELECT name, idle_us FROM idle_causes('{x}') WHERE cause = 'python' " \
        "AND python_frame LIKE '%time sleep'"
    (name, us), = tell(slept)
    same(name, 'wait_for_data')
    within(us / sum(facts['slept_us'][:-1]), 0.99, 1, 'asleep between steps')
    facts, tell = recorded('callback')
    check_steps(facts, tell)
    (name, us), = tell(slept)
    must(name.endswith('ExecuteThunks'), name)
    within(us / sum(facts['slept_us']), 0.99, 1, 'asleep in callbacks')


@case
def programs_of_threads():
    """How often each thread ran its program, by the kernels that only it has."""
    facts, tell = recorded('threads')
    times = facts['executions']
    same(tell("SELECT count(*) FROM program_runs('{x}')"), [(sum(times.values()),)])
    kernels = dict(tell("SELECT kernel, launches FROM range_kernels('{x}')"))
    same((kernels['loop_multiply_fusion'], kernels['gemm_fusion_dot']),
         (times['first'], times['second']))
    same([n for kernel, n in kernels.items() if kernel.startswith('sort')], [times['third']])


@case
def kernels_of_pallas():
    """A kernel that a user wrote is found by its name and by its scope."""
    facts, tell = recorded('pallas')
    same(tell("SELECT occurrences FROM kernel_stats('{x}') WHERE kernel_name = 'add_rows'"),
         [(facts['launches'],)])
    same(tell("SELECT occurrences FROM time_by_scope('{x}') WHERE scope LIKE 'written%'"),
         [(facts['launches'],)])
