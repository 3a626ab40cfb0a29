# SPDX-License-Identifier: Apache-2.0
"""mfu: model and hardware FLOPS utilization of runs, steps and programs."""
from lib.cases import case, near, same
from lib.hlo import F32, computation, instruction, ints, module, proto, shape
from lib.shell import ask, attached, rows
from lib.wire import L, V, Plane, space

PEAK = {'peak_teraflops_per_second': {'double': 1.0}}  # 1 FLOP/ps


def core(number, *ops, stats=PEAK, steps=()):
    """A TensorCore that runs program 7: ops are (name, start, length, flops[, stats])."""
    plane = Plane('/device:TPU:%d' % number, number + 1, stats)
    events = []
    for symbol, (name, start, length, flops, *more) in enumerate(ops):
        meta = plane.meta('%%%s = f32[1] op()' % name, name, {
            'program_id': {'uint64': 7}, 'symbol_id': {'uint64': symbol + 1},
            'hlo_category': {'str': 'fusion'}, 'flops': {'uint64': flops}, **dict(*more)})
        events.append((meta, start, length))
    plane.line(1, 'XLA Ops', events)
    plane.line(2, 'XLA Modules', [('jit_f(7)', 0, 400), ('jit_f(7)', 500, 100), ('odd', 0, 9)])
    plane.line(3, 'Steps', [(str(i), start, length) for i, (start, length) in enumerate(steps)])
    return plane.bytes()


@case
def run_steps_and_programs():
    """A device of 1 FLOP/ps does 500 FLOP in a span of 1000 ps, 100 of which again.

    The second device does 100 in 190 ps, and nothing in 10 ps of the same span. MFU of the run: 500
    of 2000 FLOP."""
    again = {'tf_op': {'str': 'rematted_computation/g:G'}}
    x = space(core(0, ('f', 0, 300, 400), ('f.remat', 300, 100, 60), ('g', 900, 100, 40, again),
                   steps=((0, 500), (500, 500))),
              core(1, ('f', 0, 190, 100), ('h', 900, 10, 0), steps=((0, 500), (500, 500))))
    want = [('run', None, None, 2, 500.0, 600.0, 1000, 350, 25.0, 71.4286, 30.0),
            ('step', 0, None, 2, 500.0, 560.0, 500, None, 50.0, None, 56.0),
            ('step', 1, None, 2, None, 40.0, 500, None, None, None, 4.0),
            ('program', None, '7', 2, 500.0, 600.0, 500, 350, 50.0, 71.4286, 60.0)]
    columns = ('scope, step, program_id, device_count, model_flops, hardware_flops,'
               ' round(span_ms * 1e9), round(busy_ms * 1e9), round(mfu_percent, 4),'
               ' round(mfu_busy_percent, 4), round(hfu_percent, 4)')
    same(rows("SELECT %s FROM mfu('{x}')" % columns, x=x), want)
    same(rows("SELECT DISTINCT peak_flops, device_type FROM mfu('{x}')", x=x), [(1e12, None)])
    same(rows("SELECT scope, missing FROM mfu('{x}') WHERE missing IS NOT NULL", x=x),
         [('step', 'operations: no op that ran is known to need any')])
    same(rows("SELECT mfu_percent FROM mfu('{x}', 2e12) LIMIT 1", x=x), [(12.5,)], 'given peak')
    same(rows("SELECT round(model_utilization_percent, 4), round(utilization_percent, 4)"
              " FROM flops_utilization_by_step('{x}')", x=x), [(50.0, 56.0), (None, 4.0)])
    same(rows("SELECT mfu_percent, round(flops_utilization_percent, 4) FROM kpi('{x}')", x=x),
         [(25.0, 30.0)])


def gpus(stats, *more):
    """Two executions of an op of 8 FLOP, and one that is computed again."""
    made = [instruction(1, 'a', 'custom-call', shape(F32, 8)),
            instruction(2, 'n', 'negate', shape(F32, 8), (1,)),
            instruction(3, 'n.remat', 'negate', shape(F32, 8), (1,))]
    program = proto(module('m', computation(1, 'main', made, root=2), more=L(4)))
    metadata = Plane('/host:metadata', 9)
    metadata.meta('m(1)', stats={'Hlo Proto': {'bytes': program}}, key=1)
    of = lambda op: {'hlo_op': {'str': op}, 'hlo_module': {'str': 'm'}, 'program_id': {'uint64': 1}}
    plane = Plane('/device:GPU:0', stats=stats)
    plane.line(1, 'Stream #1',
               [('k', 0, 2, of('n')), ('r', 2, 2, of('n.remat')), ('k', 6, 2, of('n'))]
               + [('k', start, length, of('command_buffer_1')) for start, length in more])
    return space(plane.bytes(), metadata.bytes())


@case
def programs_on_gpus():
    """Without a peak the operations are there, and what is missing; a peak can be given."""
    x = gpus({'device_vendor': {'str': 'None such'}})
    columns = 'scope, model_flops, hardware_flops, mfu_percent, mfu_busy_percent, hfu_percent'
    same(rows("SELECT %s, missing FROM mfu('{x}')" % columns, x=x),
         [(scope, 16.0, 24.0, None, None, None,
           'peak: unknown for these devices; give it to mfu(source, peak)')
          for scope in ('run', 'program')])
    got = ask("SELECT * FROM mfu('{x}', 4e12)", x=x)
    same([(r['span_ms'], r['peak_flops'], r['missing']) for r in got],
         [(8e-9, 4e12, None), (6e-9, 4e12, None)])
    for r, want in zip(got, ((50, 16 / 24 * 100, 75), (16 / 24 * 100, 16 / 24 * 100, 100))):
        for column, value in zip(('mfu_percent', 'mfu_busy_percent', 'hfu_percent'), want):
            near(r[column], value, column)
    same(rows("SELECT missing FROM mfu('{x}', 0) LIMIT 1", x=x),
         [('peak: unknown for these devices; give it to mfu(source, peak)',)])


@case
def kernels_of_graphs():
    """Kernels of CUDA graphs record no op. The program's instructions tell what an execution
    needs: of two, each 8 FLOP, and 8 that are computed again."""
    x = gpus({'device_vendor': {'str': 'Nvidia'}}, (100, 1))
    columns = 'scope, model_flops, hardware_flops, round(mfu_busy_percent, 6), missing'
    same(rows("SELECT %s FROM mfu('{x}', 4e12)" % columns, x=x),
         [(scope, 16.0, 32.0, round(100 * 16 / 28, 6), None) for scope in ('run', 'program')])
    same(rows("SELECT count(*) FROM missing('{x}') WHERE tables GLOB 'mfu,*'", x=x), [(0,)])


@case
def nothing_to_compute():
    """Ops that need no operation leave those of the run and of the program unknown."""
    same(rows("SELECT scope, model_flops, hardware_flops, missing IS NULL FROM mfu('{x}')",
              space(core(0, ('f', 0, 100, 0)))),
         [('run', None, None, 0), ('program', None, None, 0)])


@case
def calls_of_libraries():
    """Attention is two products over 2 x 3 x 8 x 10 scores, backwards four; keys have 16 numbers,
    values 32. Solving a triangle of 5 rows for 5 x 7 unknowns is 2 x 5 x 35, Cholesky n^3 / 3. A
    Pallas kernel needs what its author declares."""
    shapes = [(2, 3, 8, 16), (2, 3, 10, 16), (2, 3, 10, 32), (5, 5), (5, 7), (6, 6)]
    made = [instruction(i + 1, 'p%d' % i, 'parameter', shape(F32, *dimensions), more=V(9, i))
            for i, dimensions in enumerate(shapes)]
    scores = ('{"cudnn_fmha_backend_config":{"bmm1_dot_dimension_numbers":'
              '{"lhs_contracting_dimensions":["3"],"rhs_contracting_dimensions":["3"]},'
              '"intermediate_tensor_shape":{"dimensions":["2","3","8","10"]}}}')
    operations = [('__cudnn$fmhaSoftmax', (2, 3, 8, 32), [1, 2, 3], 46080),
                  ('__cudnn$fmhaSoftmaxBackward', (2, 3, 8, 16), [1, 2, 3], 61440),
                  ('__cublas$triangularSolve', (5, 7), [4, 5], 350),
                  ('__cusolver$cholesky', (6, 6), [6], 72), ('tpu_custom_call', (6, 6), [6], 1234)]
    pallas = ('{"custom_call_config":{"body":"x","cost_estimate":'
              '{"transcendentals":5,"flops":1234,"bytes_accessed":7}}}')
    for i, (target, result, operands, _) in enumerate(operations):
        config = scores if 'fmha' in target else pallas if target == 'tpu_custom_call' else ''
        more = L(28, target) + (L(43, config) if config else b'')
        made.append(instruction(10 + i, target, 'custom-call', shape(F32, *result), operands,
                                more=more))
    made += [instruction(20, 'solve', 'triangular-solve', shape(F32, 5, 7), [4, 5]),
             instruction(21, 'factor', 'cholesky', shape(F32, 6, 6), [6])]
    data = proto(module('m', computation(1, 'main', made, root=21)))
    same(rows("SELECT hlo_op, model_flops_actual FROM hlo_instructions('{x}') "
              "WHERE opcode <> 'parameter'", data),
         [(target, flops) for target, _, _, flops in operations] + [('solve', 350), ('factor', 72)])


@case
def products_of_groups():
    """Each row of a ragged product belongs to one group: the dimensions of groups do not count, two
    for each pair of the others does."""
    def found(result, n_groups):
        numbers = L(1, ints(1, 1), ints(2, 0)) + ints(2, 0) + (ints(3, *range(n_groups))
                                                              if n_groups else b'')
        ops = [instruction(1, 'a', 'parameter', shape(F32, 7, 5)),
               instruction(2, 'b', 'parameter', shape(F32, 5, 6), more=V(9, 1)),
               instruction(3, 'r', 'ragged-dot', shape(F32, *result), (1, 2),
                           more=L(90, numbers))]
        data = proto(module('m', computation(1, 'main', ops, root=3)))
        return rows("SELECT model_flops_actual FROM hlo_instructions('{x}') WHERE hlo_op = 'r'",
                    data)[0][0]
    same([found((7, 6), 0), found((3, 7, 6), 1), found((2, 3, 4, 6), 2)],
         [2 * 7 * 6 * 5, 2 * 7 * 6 * 5, 2 * 4 * 6 * 5])


@case
def devices_of_two_peaks():
    """Each device counts with its own peak; without one of them the run's is unknown."""
    fast = {'peak_teraflops_per_second': {'double': 3.0}}
    op = ('f', 0, 100, 200)
    both = space(core(0, op), core(1, op, stats=fast))
    columns = 'run, scope, peak_flops, mfu_percent'
    got = attached('SELECT %s FROM mfu' % columns, one=both,
                   two=space(core(0, op), core(1, op, stats={})))
    same([r for r in got if r[1] == 'run'],
         [('one', 'run', 2e12, 100.0), ('two', 'run', None, None)])


@case
def steps_of_gpus_and_tpus():
    """Operations of steps are counted for runs of GPUs or of TPUs. Of both, mfu says so."""
    gpu = Plane('/device:GPU:0', 9, PEAK).line(1, 'Stream #1', [('k', 0, 100)])
    x = space(core(0, ('f', 0, 300, 400), steps=((0, 500),)), gpu.bytes())
    same(rows("SELECT scope, model_flops, missing LIKE '%a run of GPUs and TPUs' FROM mfu('{x}')",
              x=x), [('run', 400.0, None), ('step', None, 1), ('program', 400.0, None)])
