# SPDX-License-Identifier: Apache-2.0
"""An empty answer has a reason."""
from lib.cases import case, same
from lib.shell import ask, tables_of_a_run
from lib.wire import L, Plane, space
from cases.steps import gpu_host, group, issues, kernels, op


@case
def nothing_to_show():
    """No steps, markers without events, events without markers, steps of no length: no rows, and a
    reason."""
    for data in (space(Plane('/host:CPU').line(1, 'main', [('x', 0, 5)]).bytes()),
                 space(Plane('/host:CPU').line(1, 'main', [('train', 0, 5, group(0))]).bytes()),
                 space(Plane('/host:CPU').line(1, 'main', [('x', 0, 5, group(0))]).bytes()),
                 space(Plane('/host:CPU').line(1, 'main', [('train', 0, 0, group(0)),
                                                           ('x', 0, 0, group(0))]).bytes()),
                 space(Plane('/device:GPU:0').line(1, 's', [('k', 0, 5, group(0))]).line(
                     0xdeadbeef, 'Steps', [('0', 0, 5, group(0))]).bytes())):
        for table in ('steps', 'step_breakdown', 'core_steps', 'step_time_graph', 'slowest_steps',
                      'stragglers', 'host_bound'):
            same(ask("SELECT * FROM %s('{x}')" % table, x=data), [], table)
        same('no_steps' in issues(data), True)


def one_tpu(steps=1, length=100, marks=True, work=True):
    plane = Plane('/device:TPU:0', 1)
    if marks:
        plane.line(11, 'Steps', [(str(i), i * length, length, group(i)) for i in range(steps)])
    if work:
        plane.line(10, 'XLA Ops',
                   [(op(plane, 'op', 'fusion', 1), i * length, 50, group(i)) for i in range(steps)])
    return plane.bytes()


STEP_TABLES = ('steps', 'step_breakdown', 'core_steps', 'host_steps', 'input_steps',
               'step_time_graph', 'slowest_steps', 'stragglers', 'host_bound',
               'flops_utilization_by_step')
ONE_ROW = ('input_pipeline', 'input_breakdown', 'overview', 'recommendations', 'inference_models',
           'inference_percentiles', 'input_bound', 'kpi', 'overview_page')


@case
def every_empty_answer_has_a_reason():
    """Profiles without steps, with one, with steps that never end, hosts that do not overlap, whose
    clocks differ, groups without markers, very many steps: each table and query has rows, or
    prof_issues has the reason."""
    host = lambda *events: Plane('/host:CPU', 9).line(1, 'main', list(events)).bytes()  # noqa: E731
    gpu = lambda *events, steps=((0, 5),): Plane('/device:GPU:0').line(1, 's', list(events)).line(
        0xdeadbeef, 'Steps', [('0', at, ps, group(0)) for at, ps in steps]).bytes()  # noqa: E731
    number = {'correlation_id': {'int64': 1}}
    profiles = {
        'no planes': space(), 'no events': space(host()),
        'texts alone': L(2, 'e') + L(3, 'w') + L(4, 'h'),
        'no steps on a CPU': space(host(('x', 0, 5))),
        'no steps on a GPU': space(gpu(('k', 0, 5, number), steps=())),
        'no steps on a TPU': space(one_tpu(marks=False)),
        'markers without work': space(one_tpu(work=False)),
        'a marker alone': space(host(('train', 0, 5, group(0)))),
        'groups without markers': space(host(('x', 0, 5, group(0)))),
        'one step of a GPU': kernels(('k', 0, 400, {})), 'one step of a TPU': space(one_tpu()),
        'no end on a CPU': space(host(('train', 0, 0, group(0)), ('MatMul', 5, 10, group(0)))),
        'no end on a GPU': space(gpu(('k', 0, 0, group(0, correlation_id=1)), steps=((0, 0),))),
        'no end on a TPU': space(one_tpu(length=0)),
        'copies alone': space(gpu(('MEMCPYHtoD', 0, 5, group(0, correlation_id=1)))),
        'Keras without end': space(host(('Profiled batch', 0, 0), ('x', 0, 5))),
        'Keras beside a TPU': space(host(('Profiled batch', 0, 10)), one_tpu(marks=False)),
        'hosts apart': [gpu_host(0, 3, 0), gpu_host(0, 3, 10 ** 9)], 'a chain of '
        'hosts': [gpu_host(0, 5, 0), gpu_host(0, 5, 300, length=79), gpu_host(0, 5, 700)],
        'a host without steps': [gpu_host(0, 3, 0), space(gpu(('k', 0, 5), steps=()))], 'a host '
        'that is none': [gpu_host(0, 3, 0), b'no profile'], 'many steps': gpu_host(0, 20000, 0)}
    every = tables_of_a_run(but=['prof_runs', 'prof_issues'])
    for name, data in profiles.items():
        tables = {t: ['source'] for t in STEP_TABLES + ONE_ROW} if name == 'many steps' else every
        count = "SELECT '%s' AS t, (SELECT count(*) FROM %s(%s)) AS n"
        asked = ask("WITH asked AS MATERIALIZED (%s), said AS (SELECT sum(n) AS n FROM asked) "
                    "SELECT t, n, NULL AS code, NULL AS message FROM asked UNION ALL "
                    "SELECT NULL, NULL, i.code, i.message FROM said CROSS "
                    "JOIN prof_issues('{x}') AS i WHERE said.n >= 0" % ' '
                    'UNION ALL '.join(count % (t, t, ', '.join(["'{x}'"] * len(tables[t])))
                                      for t in tables), x=data)
        empty = {row['t'] for row in asked if row['t'] and not row['n']}
        codes = {row['code'] for row in asked}
        said = {row['message'].split(' has no rows: ')[0] for row in asked
                if row['code'] == 'nothing_to_show'}
        same(empty & set(ONE_ROW), set(), name)
        same(empty - said, set(), name)
        if empty & set(STEP_TABLES):
            same(bool(codes & {'no_steps', 'no_common_steps', 'host_without_steps',
                               'steps_without_cores'}), True, (name, empty))


@case
def a_number_of_rows_is_no_reason():
    """Unless it is 0. Another parameter may be the reason."""
    data = space(Plane('/device:GPU:0').line(1, 's', [('k', 0, 5)]).bytes())
    for argument, want in (('', 1), (', 3', 1), (', 0', 0), (', NULL', 1)):
        same(ask("SELECT count(*) AS n FROM prof_issues('{x}'), "
                 "(SELECT count(*) FROM top_hlo_ops('{x}'%s)) WHERE code = 'nothing_to_show'"
                 % argument, x=data), [{'n': want}], argument)
    same(ask("SELECT count(*) AS n FROM prof_issues('{x}'), (SELECT count(*) FROM "
             "compile_time('{x}')) WHERE code = 'nothing_to_show'", x=data), [{'n': 1}])
