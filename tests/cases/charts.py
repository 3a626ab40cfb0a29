# SPDX-License-Identifier: Apache-2.0
"""SVG charts: they are XML, draw each row of a table to scale, and a name cannot become markup."""
import os
import xml.etree.ElementTree as xml

from lib.cases import case, must, near, same
from lib.shell import ROOT, rows
from lib.wire import Plane, space

SVG = '{http://www.w3.org/2000/svg}'
HOSTILE = '</title></svg><script>alert(1)</script>"\'&\x01'
TPU = os.path.join(ROOT, 'tests', 'data', 'tpu_train_54')
CPU = os.path.join(ROOT, 'tests', 'data', 'tf_fit_input_bound')


def chart(function, source=None, data=None):
    """The image as XML; None if it is NULL."""
    [(text,)] = rows("SELECT %s('%s')" % (function, source or '{x}'), data)
    if text is None:
        return None
    image = xml.fromstring(text)
    same(image.tag, SVG + 'svg')
    must(not [e for e in image.iter() if e.tag in (SVG + 'script', SVG + 'a', SVG + 'image')],
         'an element that a chart does not have')
    must(not [name for e in image.iter() for name in e.attrib if name.startswith('on')],
         'an attribute with a script')
    return image


def elements(image, kind, word=''):
    return [e for e in image.iter(SVG + kind) if word in e.get('class', '').split() or not word]


def number(element, name):
    return float(element.get(name))


@case
def bars_of_steps():
    """Each step has a bar, as high as its time, whose parts are as high as theirs."""
    for source in (TPU, CPU):
        steps = rows("SELECT duration_ms, device_compute_ms_actual, device_collectives_ms_actual, "
                     "device_to_device_ms_actual, input_ms_actual, output_ms_actual, "
                     "kernel_launch_ms_actual, host_compute_ms_actual, compilation_ms_actual, "
                     "all_others_ms_actual FROM steps('%s') ORDER BY start_ps" % source)
        bars = elements(chart('step_time_chart', source), 'g', 'bar')
        same(len(bars), len(steps))
        heights = [[number(r, 'height') for r in bar.iter(SVG + 'rect')] for bar in bars]
        scale = sum(map(sum, heights)) / sum(s[0] for s in steps)
        for bar, step in zip(heights, steps):
            must(abs(sum(bar) - step[0] * scale) < .1, 'a bar of %s for %s' % (bar, step))
            parts = [p * scale for p in step[1:] if p]
            must(all(abs(a - b) < .02 for a, b in zip(bar, parts)), '%s, not %s' % (bar, parts))


@case
def outliers_are_marked():
    """Complete steps of more than 1.3 times the median have a mark, and no other."""
    for name in ('jax_train_mlp', 'jax_subprocess', 'tpu_train_54'):
        source = os.path.join(ROOT, 'tests', 'data', name)
        steps = rows("SELECT duration_ms FROM steps('%s') WHERE dropped = 0 ORDER BY 1" % source)
        middle = (steps[(len(steps) - 1) // 2][0] + steps[len(steps) // 2][0]) / 2
        same(len(elements(chart('step_time_chart', source), 'path', 'outlier')),
             sum(ms > 1.3 * middle for ms, in steps), name)


@case
def points_of_the_roofline():
    """The points are the ops that have a rate and an intensity, at the logarithms of them."""
    ops = rows("SELECT hbm_operational_intensity, model_gflops FROM roofline('%s') WHERE rank > 0 "
               "AND record = 'Total' AND include_infeed_outfeed = 1 AND model_gflops > 0 "
               "AND hbm_operational_intensity > 0 ORDER BY total_self_time_us DESC" % TPU)
    image = chart('roofline_chart', TPU)
    points = elements(image, 'circle', 'dot')
    same(len(points), len(ops))
    same(len(elements(image, 'path', 'roof')), 1)
    from math import log10
    low, high = (min(range(len(ops)), key=lambda i: ops[i][0]),
                 max(range(len(ops)), key=lambda i: ops[i][0]))
    per = (number(points[high], 'cx') - number(points[low], 'cx')) / log10(
        ops[high][0] / ops[low][0])
    for point, (x, _) in zip(points, ops):
        must(abs(number(point, 'cx') - number(points[low], 'cx') - per * log10(x / ops[low][0]))
             < .2, 'a point at the wrong place')
    same(chart('roofline_chart', CPU), None)


@case
def areas_of_the_treemap():
    """Areas are in proportion to time within a group."""
    image = chart('op_treemap', CPU)
    cells = elements(image, 'rect', 'cell')
    times = rows("SELECT self_time_us FROM top_ops('%s', 5) ORDER BY self_time_us DESC" % CPU)
    areas = [number(c, 'width') * number(c, 'height') for c in cells[:5]]
    for (time,), area in zip(times, areas):
        near(area / areas[0], time / times[0][0], 'area', rel=1e-3)


@case
def memory_over_time():
    """The top of the curve is the allocator's peak."""
    image = chart('memory_chart', CPU)
    [edge] = elements(image, 'path', 'edge')
    [title] = [e.text for e in image.iter(SVG + 'title') if 'mklcpu' in e.text]
    [(peak,)] = rows("SELECT max(heap_bytes + stack_bytes) FROM memory_events('%s')" % CPU)
    must('%.2f MiB' % (peak / 2**20) in title, title)
    must(edge.get('d').count('H') > 10, edge.get('d'))
    same(chart('memory_chart', TPU), None)


@case
def hostile_names_in_charts():
    """A name with markup stays a text."""
    host = Plane('/host:CPU')
    host.line(1, HOSTILE, [(HOSTILE, 0, 10**6, {'tf_op': {'str': HOSTILE + ':' + HOSTILE}})])
    image = chart('op_treemap', data=space(host.bytes()))
    must('<script>' in ''.join(image.itertext()), 'the name is missing')


@case
def no_chart():
    """NULL for NULL, and for a run that has nothing to draw; an error for a source that is none."""
    for function in ('step_time_chart', 'roofline_chart', 'memory_chart', 'op_treemap'):
        same(rows('SELECT %s(NULL)' % function), [(None,)])
        same(chart(function, data=space(Plane('/host:CPU').bytes())), None)
