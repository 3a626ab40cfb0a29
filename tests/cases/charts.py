# SPDX-License-Identifier: Apache-2.0
"""SVG charts: they are XML, draw each row of a table to scale, and a name cannot become markup."""
import itertools
import os
import math
import re
import xml.etree.ElementTree as xml

from lib.cases import case, must, near, same
from lib.shell import ROOT, rows
from lib.wire import Plane, space
from cases.queries_allocations import pool
from cases.steps import group

MS = 10**9
PEAKS = {'peak_teraflops_per_second': {'double': 10.0},
         'peak_hbm_bw_gigabytes_per_second': {'double': 100.0}}
SVG = '{http://www.w3.org/2000/svg}'
HOSTILE = '</title></svg><script>alert(1)</script>"\'&\x01'
TPU = os.path.join(ROOT, 'tests', 'data', 'tpu_train_54')
TORCH = os.path.join(ROOT, 'tests', 'data', 'h100_torch')
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
    check_places(image)
    return image


def check_places(image):
    """Nothing is outside of the image."""
    _, _, width, height = map(float, image.get('viewBox').split())
    for e in image.iter():
        part = e.tag[len(SVG):]
        if part not in ('rect', 'circle', 'text') or e.get('x') is e.get('cx') is None:
            continue
        x, y = (number(e, 'cx'), number(e, 'cy')) if part == 'circle' else (number(e, 'x'),
                                                                          number(e, 'y'))
        right, down = (x, y) if part != 'rect' else (x + number(e, 'width'),
                                                     y + number(e, 'height'))
        must(-.1 <= x and right <= width + .1 and -.1 <= y and down <= height + .1,
             '%s is outside of %g x %g' % (e.attrib, width, height))


def elements(image, kind, word=''):
    return [e for e in image.iter(SVG + kind) if word in e.get('class', '').split() or not word]


def number(element, name):
    return float(element.get(name))


@case
def bars_of_steps():
    """Each step has a bar with the height of its time, and each part of it the height of its own
    time."""
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
        check_stacks(bars)
        ground, per_ms = levels(chart('step_time_chart', source), 'ms')
        near(per_ms, scale, 'the scale of the axis', rel=1e-3)
        last = list(bars[0].iter(SVG + 'rect'))[0]
        near(number(last, 'y') + number(last, 'height'), ground, 'the ground', rel=1e-3)


def levels(image, unit):
    """The position of 0 on a vertical axis and the length of one unit, from its labels."""
    at = {}
    parts = list(image)
    for path, text in zip(parts, parts[1:]):
        if path.get('class') in ('axis', 'rule') and text.get('class') == 'end':
            level = float(path.get('d')[1:].split('L')[0].split()[1])
            must(2 <= number(text, 'y') - level <= 6, 'a label that is not at its line')
            at[float(text.text.replace(unit, ''))] = level
    must(len(at) > 2 and 0 in at, at)
    per = (at[0] - at[max(at)]) / max(at)
    for value, level in at.items():
        must(abs(at[0] - level - per * value) < .11, 'a line at the wrong place: %s' % at)
    return at[0], per


def check_stacks(bars):
    """The parts of a bar are stacked; all bars start on one line, side by side."""
    places = [[(number(r, 'x'), number(r, 'y'), number(r, 'width'), number(r, 'height'))
               for r in bar.iter(SVG + 'rect')] for bar in bars]
    ground = places[0][0][1] + places[0][0][3]
    for bar in places:
        below = ground
        for x, y, width, height in bar:
            same((x, width), (bar[0][0], bar[0][2]), 'a part beside its bar')
            must(abs(y + height - below) < .11, 'a gap below %s: %s' % (y, bar))
            below = y
    for left, right in zip(places, places[1:]):
        must(left[0][0] + left[0][2] <= right[0][0] + .11, 'bars overlap: %s %s' % (left, right))


@case
def outliers_are_marked():
    """Complete steps of more than 1.3 times the median have a mark, and no other."""
    for name in ('jax_train_mlp', 'jax_subprocess', 'tpu_train_54'):
        source = os.path.join(ROOT, 'tests', 'data', name)
        steps = rows("SELECT duration_ms FROM steps('%s') WHERE dropped = 0 ORDER BY 1" % source)
        middle = (steps[(len(steps) - 1) // 2][0] + steps[len(steps) // 2][0]) / 2
        image = chart('step_time_chart', source)
        marks = elements(image, 'path', 'outlier')
        same(len(marks), sum(ms > 1.3 * middle for ms, in steps), name)
        tops = [(number(r, 'x') + number(r, 'width') / 2, number(r, 'y'))
                for r in (list(bar.iter(SVG + 'rect'))[-1]
                          for bar in elements(image, 'g', 'bar'))]
        for mark in marks:
            x, y = map(float, re.match('M([0-9.]+) ([0-9.]+)l', mark.get('d')).groups())
            must(any(abs(x - at) < .2 and 0 < top - y < 6 for at, top in tops),
                 'a mark that is on no bar: %s' % mark.get('d'))


@case
def dropped_steps_do_not_flatten_the_others():
    """The first step takes 247 ms, the others 3 to 5 ms: it is pale and ends with the axis."""
    image = chart('step_time_chart', TORCH)
    bars = elements(image, 'g', 'bar')
    same([i for i, bar in enumerate(bars) if 'dropped' in bar.get('class')], [0, len(bars) - 1])
    must('left out of the statistics' in bars[0].find(SVG + 'title').text, 'no reason')
    heights = [sum(number(r, 'height') for r in bar.iter(SVG + 'rect')) for bar in bars]
    must(max(heights[1:]) > heights[0] / 3, heights)
    must(any(e.text == '\u2191 247 ms' for e in elements(image, 'text', 'strong')), 'no time')
    same(elements(image, 'path', 'outlier'), [])


@case
def the_rest_of_a_step():
    """What no part of a bar shows is in the legend and in the title of the bar."""
    for name, words in (('multi_host_111', ['rest']), ('tpu_train_54', [])):
        image = chart('step_time_chart', os.path.join(ROOT, 'tests', 'data', name))
        same([e.text for e in elements(image, 'text') if e.text == 'rest'], words)
        same([len(elements(bar, 'rect', 'rest')) for bar in elements(image, 'g', 'bar')].count(1),
             len(words), 'bars with a rest')
        must(('rest 128' in ''.join(image.itertext())) == bool(words), 'its time')


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
    low, high = (min(range(len(ops)), key=lambda i: ops[i][1]),
                 max(range(len(ops)), key=lambda i: ops[i][1]))
    per = (number(points[high], 'cy') - number(points[low], 'cy')) / log10(
        ops[high][1] / ops[low][1])
    must(per < 0, 'high rates are low')
    for point, (_, y) in zip(points, ops):
        must(abs(number(point, 'cy') - number(points[low], 'cy') - per * log10(y / ops[low][1]))
             < .2, 'a point at the wrong height')
    same(chart('roofline_chart', CPU), None)


@case
def legend_of_the_roofline():
    """No two entries have the same colour, kinds of fusions have different ones, each op has the
    colour of an entry, and no circle is outside of the frame."""
    image = chart('roofline_chart', TPU)
    parts = list(image)
    legend = {a.get('class'): b.text for a, b in zip(parts, parts[1:]) if a.tag == SVG + 'rect'}
    same(len(legend), len(elements(image, 'rect')), 'entries of the same colour')
    for names in legend.values():
        must(names.count('fusion') < 2 or 'put fusion' not in names, names)
    dots = elements(image, 'circle', 'dot')
    same({dot.get('class').split()[1] for dot in dots}, set(legend))
    rules = [list(map(float, re.findall('[0-9.]+', e.get('d'))))
             for e in elements(image, 'path', 'rule')]
    for dot in dots:
        for of, i in (('cx', 0), ('cy', 1)):
            at, r = number(dot, of), number(dot, 'r')
            places = [rule[k] for rule in rules for k in (i, i + 2)]
            must(min(places) <= at - r and at + r <= max(places), 'a dot on the frame: %s' % at)
    must('all-reduce fusion' in ''.join(e.text for e in image.iter(SVG + 'title')), 'no category')


def check_roof(image, *at):
    """The roof starts where it enters the frame, climbs a decade of rates for each of intensities,
    and is level from the ridge on: (x, y) of an op are known, and (FLOP per byte, FLOP/s) of it and
    of the ridge."""
    rules = [list(map(float, re.findall('[0-9.]+', e.get('d'))))
             for e in elements(image, 'path', 'rule')]
    x_rules = sorted({r[0] for r in rules if r[0] == r[2]})
    y_rules = sorted({r[1] for r in rules if r[1] == r[3]})
    per_x, per_y = ((r[-1] - r[0]) / (len(r) - 1) for r in (x_rules, y_rules))
    [roof] = elements(image, 'path', 'roof')
    x, y, ridge, top, right, end = map(float, re.findall('[0-9.]+', roof.get('d')))
    must(abs(x - x_rules[0]) < .2 or abs(y - y_rules[-1]) < .2, 'starts at %g, %g' % (x, y))
    must(x > x_rules[0] - .2 and y < y_rules[-1] + .2, 'starts outside, at %g, %g' % (x, y))
    must(abs((ridge - x) / per_x - (y - top) / per_y) < .01, 'of another slope')
    same(top, end)
    must(right > ridge, 'ridge at %g' % ridge)
    for (px, py), op, peak in at:
        must(abs(ridge - px - per_x * math.log10(peak[0] / op[0])) < .2, 'ridge at %g' % ridge)
        must(abs(py - top - per_y * math.log10(peak[1] / op[1])) < .2, 'top at %g' % top)


@case
def roofs():
    """The roof has the device's peaks: 1 TFLOP/s and 1 GB/s."""
    check_roof(chart('roofline_chart', TPU))
    peaks = {'peak_teraflops_per_second': {'double': 1.0},
             'peak_hbm_bw_gigabytes_per_second': {'double': 1.0}}
    for flops, n_bytes in ((10**6, 10**4), (10**9, 10**4), (10**4, 10**8)):
        core = Plane('/device:TPU:0', 1, peaks)
        meta = core.meta('%a = f32[1] x()', 'a', {
            'program_id': {'uint64': 7}, 'symbol_id': {'uint64': 1}, 'flops': {'uint64': flops},
            'hlo_category': {'str': 'fusion'}, 'bytes_accessed': {'uint64': n_bytes}})
        x = space(core.line(4, 'XLA Ops', [(meta, 0, MS)]).bytes())
        image = chart('roofline_chart', data=x)
        [dot] = elements(image, 'circle', 'dot')
        check_roof(image, ((number(dot, 'cx'), number(dot, 'cy')),
                           (flops / n_bytes, flops / (MS / 1e12)), (1e12 / 1e9, 1e12)))


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
def kernels_without_an_op_in_the_treemap():
    """What op_profile leaves out is a group: its area is its share of the time of devices."""
    cells = elements(chart('op_treemap', TORCH), 'rect', 'cell')
    areas = {}
    for cell in cells:
        colour = cell.get('class')
        areas[colour] = areas.get(colour, 0) + number(cell, 'width') * number(cell, 'height')
    [(with_op, both)] = rows("SELECT (SELECT sum(self_time_ps) FROM op_profile('{0}') WHERE kind = "
                             "'op' AND name <> 'IDLE') / 1e6, sum(self_us) FROM scope_ops('{0}')"
                             .format(TORCH))
    near(areas['cell c0'] / sum(areas.values()), 1 - with_op / both, 'grey', rel=.01)


@case
def cells_of_the_treemap_are_apart():
    """No cell is drawn over another."""
    for source in (TPU, CPU):
        boxes = [[number(cell, of) for of in ('x', 'y', 'width', 'height')]
                 for cell in elements(chart('op_treemap', source), 'rect', 'cell')]
        must(len(boxes) > 9, len(boxes))
        for a, b in itertools.combinations(boxes, 2):
            common = [min(a[i] + a[i + 2], b[i] + b[i + 2]) - max(a[i], b[i]) for i in (0, 1)]
            must(min(common) < .11, '%s lies over %s' % (a, b))


@case
def memory_over_time():
    """The top of the curve is the allocator's peak."""
    image = chart('memory_chart', CPU)
    [edge] = elements(image, 'path', 'edge')
    [title] = [e.text for e in image.iter(SVG + 'title') if 'mklcpu' in e.text]
    [(peak,)] = rows("SELECT max(heap_bytes + stack_bytes) FROM memory_events('%s')" % CPU)
    must('%.2f MiB' % (peak / 2**20) in title, title)
    must(edge.get('d').count('H') > 10, edge.get('d'))
    ground, per_mib = levels(image, 'MiB')
    top = min(map(float, re.findall('V([0-9.]+)', edge.get('d'))))
    must(abs(ground - top - per_mib * peak / 2**20) < .11, 'the peak is at %s' % top)
    same(chart('memory_chart', TPU), None)
    odd = chart('memory_chart', os.path.join(ROOT, 'tests', 'data', 'memory_odd'))
    same([e.text for e in elements(odd, 'text') if e.text.startswith('-0')], [])
    for heap, text in ((1, '1 B'), (1000, '1000 B'), (1024, '1.00 KiB'), (1536, '1.50 KiB'),
                       (99 << 20, '99.0 MiB'), (100 << 30, '100 GiB')):
        plane = Plane('/host:CPU').line(1, 'main', pool((0, 1, 1, 1, heap, 'f'), stack=0))
        image = chart('memory_chart', data=space(plane.bytes()))
        same([e.text for e in image.iter(SVG + 'title') if 'at most' in e.text],
             ['x pool: at most ' + text])


@case
def a_short_peak_in_the_chart():
    """After a peak that is shorter than a part, the curve is where the memory is, also if nothing
    happens then."""
    events = pool((0, 1, 8, 8, 1 << 20, 'f'), (1, 2, 8, 8, 99 << 20, 'f'), (2, 2, 8, 8, 1 << 20),
                  (99999, 3, 8, 8, 2 << 20, 'f'), stack=0)
    image = chart('memory_chart', data=space(Plane('/host:CPU').line(1, 'main', events).bytes()))
    [edge] = elements(image, 'path', 'edge')
    ground, per_mib = levels(image, 'MiB')
    steps = [tuple(map(float, p)) for p in re.findall('H([0-9.]+)V([0-9.]+)', edge.get('d'))]
    near = [round((ground - y) / per_mib) for _, y in steps]
    same(near, [99, 1, 2, 2])
    must(steps[1][0] - steps[0][0] < 2, 'the peak ends at %s' % steps[1][0])


@case
def the_first_row_counts():
    """The first step, event or op can be the largest or the only one."""
    for lengths in ((9,), (90, 30, 50)):
        marks = [('TraceContext', 100 * i * MS, n * MS, group(i)) for i, n in enumerate(lengths)]
        work = [('MatMul', 100 * i * MS, n * MS, group(i)) for i, n in enumerate(lengths)]
        image = chart('step_time_chart', data=space(
            Plane('/host:CPU').line(1, 'main', marks).line(2, 'pool', work).bytes()))
        ground, per_ms = levels(image, 'ms')
        same([round((ground - min(number(r, 'y') for r in bar.iter(SVG + 'rect'))) / per_ms)
              for bar in elements(image, 'g', 'bar')], list(lengths))
    for heaps in ((5,), (5, 1), (5, 1, 3)):
        events = pool(*((100 * i, i + 1, 8, 8, n * 2**20, 'op') for i, n in enumerate(heaps)),
                      stack=0)
        image = chart('memory_chart', data=space(
            Plane('/host:CPU').line(1, 'main', events).bytes()))
        [edge] = elements(image, 'path', 'edge')
        ground, per_mib = levels(image, 'MiB')
        first = float(re.match('M[0-9.]+ ([0-9.]+)', edge.get('d')).group(1))
        must(abs(ground - first - 5 * per_mib) < .11, edge.get('d'))
    core = Plane('/device:TPU:0', 1, PEAKS).line(3, 'XLA Ops', [])
    meta = core.meta('%a = f32[1] x()', 'a', {
        'program_id': {'uint64': 7}, 'symbol_id': {'uint64': 1}, 'flops': {'uint64': 10**6},
        'hlo_category': {'str': 'fusion'}, 'bytes_accessed': {'uint64': 10**4}})
    image = chart('roofline_chart', data=space(core.line(4, 'XLA Ops', [(meta, 0, MS)]).bytes()))
    same(len(elements(image, 'circle', 'dot')), 1)


@case
def hostile_names_in_charts():
    """A name with markup stays a text."""
    host = Plane('/host:CPU')
    host.line(1, HOSTILE, [(HOSTILE, 0, 10**6, {'tf_op': {'str': HOSTILE + ':' + HOSTILE}})])
    image = chart('op_treemap', data=space(host.bytes()))
    must('<script>' in ''.join(image.itertext()), 'the name is missing')


@case
def no_chart():
    """NULL for NULL and for a run without anything to draw; an error for an invalid source."""
    for function in ('step_time_chart', 'roofline_chart', 'memory_chart', 'op_treemap'):
        same(rows('SELECT %s(NULL)' % function), [(None,)])
        same(chart(function, data=space(Plane('/host:CPU').bytes())), None)
