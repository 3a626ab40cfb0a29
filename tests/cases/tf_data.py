# SPDX-License-Identifier: Apache-2.0
"""tf.data: pipelines, calls and iterators."""
from lib.cases import case, same
from lib.made import host_of
from lib.shell import rows
from lib.wire import US


def iterator(name, id, begin, end, parent=None):
    stats = {'id': {'int64': id}}
    if parent is not None:
        stats['parent_id'] = {'int64': parent}
    return (name, begin * US, (end - begin) * US, stats)


def element(name, number, begin, end):
    return (name, begin * US, (end - begin) * US, {'element_id': {'int64': number}})


PIPELINES = ("SELECT pipeline, kind, avg_latency_ps / 1000000, min_latency_ps / 1000000, "
             "max_latency_ps / 1000000, calls, slow_calls, is_input_bound "
             "FROM tf_data_pipelines('{x}')")
CALLS = "SELECT call, bottleneck_id, bottleneck_ps / 1000000 FROM tf_data_calls('{x}')"
PARTS = ("SELECT call, iterator_id, duration_ps / 1000000, self_ps / 1000000, blocking, calls "
         "FROM tf_data_iterators('{x}') ORDER BY call, CAST(iterator_id AS INT)")


@case
def prefetch():
    """An iterator prefetches on its own thread: elements made before they are requested block
    nothing."""
    data = host_of(
        [iterator('Iterator::Prefetch', 123, 0, 100), element('PrefetchConsume', 100, 80, 100),
         iterator('Iterator::Prefetch', 123, 200, 220), element('PrefetchConsume', 200, 210, 220)],
        [element('PrefetchProduce', 100, 0, 80),
         iterator('Iterator::Prefetch::Range', 456, 0, 80, 123),
         element('PrefetchProduce', 200, 100, 180),
         iterator('Iterator::Prefetch::Range', 456, 100, 180, 123)])
    same(rows(PIPELINES, data), [('Host:0', 'HOST', 60, 20, 100, 2, 1, 1)])
    same(rows(CALLS, data), [(1, '456', 80), (2, '123', 20)])
    same(rows(PARTS, data), [(1, '123', 100, 20, 1, 1), (1, '456', 80, 80, 1, 1),
                             (2, '123', 20, 20, 1, 1), (2, '456', 80, 80, 0, 1)])
    same(rows("SELECT bottleneck, bottleneck_long_name, bottleneck_ps / 1000000 "
              "FROM tf_data_pipelines('{x}')", data), [('Range', 'Iterator::Prefetch::Range', 80)])
    same(rows("SELECT name, is_async, parent_id FROM tf_data_iterators('{x}') WHERE call = 1 "
              "ORDER BY name", data), [('Prefetch', 1, None), ('Range', 0, '123')])


@case
def slow_calls():
    """A call of 50 us is not slow yet; a pipeline without a slow call limits nothing."""
    def call(ps):
        return ('Iterator::Root', 0, ps, {'id': {'int64': 1}})
    for ps, slow in ((50 * US, 0), (50 * US + 1, 1)):
        same(rows("SELECT calls, slow_calls, is_input_bound FROM tf_data_pipelines('{x}')",
                  host_of([call(ps)])), [(1, slow, slow)], ps)


@case
def device_pipeline():
    """The iterator that a Prefetch::Generator works for feeds a device."""
    data = host_of([iterator('Iterator::Prefetch', 123, 0, 30), iterator(
        'Iterator::Prefetch', 123, 100, 200), element('PrefetchConsume', 100, 180, 200)],
                   [element('PrefetchProduce', 100, 100, 180),
                    iterator('Iterator::Prefetch::Generator', 456, 100, 180, 123)])
    same(rows(PIPELINES, data), [('Device:0', 'DEVICE', 65, 30, 100, 2, 1, 0)])
    same(rows(CALLS, data), [(1, '456', 80), (2, '123', 30)])


@case
def later_versions_work_ahead():
    """XProf knows ParallelMap, not ParallelMapV2 and the like, which work ahead as well."""
    for name, xprof, actual in (('ParallelMap', 1, 1), ('ParallelMapV2', 0, 1),
                                ('ParallelInterleaveV4', 0, 1), ('MapV2', 0, 0), ('V2', 0, 0),
                                ('ParallelMapV', 0, 0)):
        data = host_of([iterator('Iterator::' + name, 123, 0, 100)])
        same(rows("SELECT DISTINCT is_async, is_async_actual FROM tf_data_iterators('{x}')", data),
             [(xprof, actual)], name)


@case
def map_and_batch():
    """Two calls of one iterator for one element."""
    data = host_of([iterator('Iterator::MapAndBatch', 123, 0, 100),
                    element('MapAndBatchConsume', 1, 80, 100)],
                   [element('MapAndBatchProduce', 1, 0, 30),
                    iterator('Iterator::MapAndBatch::Range', 456, 0, 30, 123),
                    element('MapAndBatchProduce', 1, 40, 70),
                    iterator('Iterator::MapAndBatch::Range', 456, 40, 70, 123)])
    same(rows(CALLS, data), [(1, '456', 60)])
    same(rows(PARTS, data), [(1, '123', 100, 40, 1, 1), (1, '456', 60, 60, 1, 2)])


@case
def parallel_batch():
    """A batch requests each of its elements: all of them belong to the call, whereas XProf counts
    only the first."""
    data = host_of([iterator('Iterator::ParallelBatch', 123, 0, 100),
                    element('ParallelBatchConsume', 1, 80, 100)],
                   [element('ParallelBatchProduce', 1, 0, 70),
                    iterator('Iterator::ParallelBatch::Map', 456, 0, 10, 123),
                    iterator('Iterator::ParallelBatch::Map', 456, 20, 60, 123)])
    same(rows(PARTS, data), [(1, '123', 100, 50, 1, 1), (1, '456', 50, 50, 1, 2)])


@case
def nested_iterators():
    """On one thread only what an iterator directly includes is its child."""
    data = host_of([
        iterator('Iterator::Root', 1, 0, 100), iterator('Iterator::Root::Map', 2, 10, 90),
        ('something else', 20 * US, 60 * US), iterator('Iterator::Root::Map::TFRecord', 3, 30, 70)])
    same(rows(PARTS, data), [(1, '1', 100, 20, 1, 1), (1, '2', 80, 80, 1, 1)])
    same(rows("SELECT bottleneck, suggestion FROM tf_data_pipelines('{x}')", data),
         [('Map', 'transformation with a parallel version')])


@case
def iterators_of_one_id():
    """The first event of an id in the file describes the iterator: names and caller are of that
    event."""
    described = "SELECT long_name, parent_id FROM tf_data_iterators('{x}')"
    first, second = iterator('Iterator::Root', 1, 0, 100), iterator('Iterator::Root::Map', 1, 10,
                                                                    90, 7)
    same(rows(described, host_of([first, second])), [('Iterator::Root', None)])
    same(rows(described, host_of([second, first])), [('Iterator::Root::Map', '7')])


@case
def iterator_of_itself():
    """An iterator that makes its own elements: no end, but the limit of depth."""
    events, made = [], []
    for i in range(40):
        events += [iterator('Iterator::Root', 1, 10 * i, 10 * i + 9),
                   element('PrefetchConsume', 7, 10 * i + 5, 10 * i + 6)]
        made += [element('PrefetchProduce', 7, 10 * i, 10 * i + 9),
                 iterator('Iterator::Root', 1, 10 * i + 1, 10 * i + 8, 1),
                 element('PrefetchConsume', 7, 10 * i + 3, 10 * i + 4)]
    data = host_of(events, made)
    same(rows("SELECT (SELECT sum(calls) > 0 FROM tf_data_iterators('{x}')), (SELECT count(*) "
              "FROM prof_issues('{x}') WHERE code = 'tf_data_cut')", data), [(1, 1)])


@case
def produces_for_itself():
    """An iterator that calls itself can be followed for 100 levels only, which an issue says; 90
    iterators in each other are no reason for one."""
    def has_issue(data):
        return rows("SELECT calls > 0, EXISTS (SELECT 1 FROM prof_issues('{x}') WHERE "
                    "code = 'tf_data_cut') FROM tf_data_pipelines('{x}')", data)
    same(has_issue(host_of(
        [iterator('Iterator::Root', 1, 0, 100), element('PrefetchConsume', 1, 10, 20)],
        [element('PrefetchProduce', 1, 0, 90), iterator('Iterator::Root::Loop', 1, 10, 80, 1),
         element('PrefetchConsume', 1, 20, 30)])), [(1, 1)])
    same(has_issue(host_of([iterator('Iterator::Root' + '::Map' * (i > 0), i, i, 300 - i)
                            for i in range(90)])), [(1, 0)])
