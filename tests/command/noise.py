# SPDX-License-Identifier: Apache-2.0
"""What `profsql diff` says of a difference: within or more than noise. Computed a second time from
the lengths of the steps: Welch's t with the statistics module, its probability by integrating the
density of Student's t."""
import math
import random
import statistics

from command.profsql import answer
from lib.cases import case, must, same
from lib.shell import put
from lib.wire import Plane, space


def run_of(name, lengths_ms):
    """A GPU whose complete steps have these lengths. XProf drops the first and last of more than
    five steps."""
    lengths = [round(ms * 1e9) for ms in ([1.0] + list(lengths_ms) + [1.0] if len(lengths_ms) > 3
                                          else lengths_ms)]
    starts, group = [sum(lengths[:i])
                     for i in range(len(lengths))], lambda i: {'group_id': {'int64': i}}
    plane = Plane('/device:GPU:0').line(1, 'Stream #1',
                                        [('k', s, n, {'correlation_id': {'int64': i}, **group(i)})
                                         for i, (s, n) in enumerate(zip(starts, lengths))])
    plane.line(0xdeadbeef, 'Steps',
               [(str(i), s, n, group(i)) for i, (s, n) in enumerate(zip(starts, lengths))])
    return put(name + '.xplane.pb', space(plane.bytes()))


def welch(a, b):
    """t and its degrees of freedom."""
    va, vb = statistics.variance(a) / len(a), statistics.variance(b) / len(b)
    return abs(statistics.fmean(a) - statistics.fmean(b)) / math.sqrt(va + vb), (va + vb) ** 2 / (
        va ** 2 / (len(a) - 1) + vb ** 2 / (len(b) - 1))


def probability(t, degrees, n=2000):
    """Of a |t| at least so large: Simpson's rule over the angle x of t = sqrt(degrees) tan x, where
    the density is cos(x) ** (degrees - 1)."""
    def integral(start, end):
        width = (end - start) / n
        return width / 3 * sum((1 if i in (0, n) else 4 if i % 2 else 2)
                               * math.cos(start + i * width) ** (degrees - 1) for i in range(n + 1))
    angle = math.atan(t / math.sqrt(degrees))
    return integral(angle, math.pi / 2 - 1e-12) / integral(0, math.pi / 2 - 1e-12)


def verdict(a, b):
    """What diff says of the step time, and its averages and difference."""
    line = next(line for line in answer('diff', run_of('a', a), run_of('b', b)).split('\n')
                if 'Step time' in line)
    words = line.split()
    return ' '.join(words[5:]), [float(word) for word in words[2:5]]


@case
def published_examples():
    """Three pairs of samples from the literature on Welch's test, with the probabilities published
    with them."""
    first = [27.5, 21.0, 19.0, 23.6, 17.0, 17.9, 16.9, 20.1, 21.9, 22.6, 23.1, 19.6, 19.0, 21.7,
             21.4]
    samples = (
        (first, [27.1, 22.0, 20.8, 23.4, 23.4, 23.5, 25.8, 22.0, 24.8, 20.2, 21.9, 22.1, 22.9, 20.5,
                 24.4], 0.021, 'more than noise'),
        ([17.2, 20.9, 22.6, 18.1, 21.7, 21.4, 23.5, 24.2, 14.7, 21.8],
         [21.5, 22.8, 21.0, 23.0, 21.6, 23.6, 22.5, 20.7, 23.4, 21.8, 20.7, 21.7, 21.5, 22.5, 23.6,
          21.5, 22.5, 23.5, 21.5, 21.8], 0.149, 'within noise'),
        ([19.8, 20.4, 19.6, 17.8, 18.5, 18.9, 18.3, 18.9, 19.5, 22.0],
         [28.2, 26.6, 20.1, 23.3, 25.2, 22.1, 17.7, 27.6, 20.6, 13.7, 23.2, 17.5, 20.6, 18.0, 23.9,
          21.6, 24.3, 20.4, 24.0, 13.2], 0.036, 'more than noise'))
    for a, b, published, want in samples:
        same(round(probability(*welch(a, b)), 3), published, 'the second computation')
        said, (average_a, average_b, difference) = verdict(a, b)
        same(said, want)
        must(abs(average_a - statistics.fmean(a)) < 6e-4
             and abs(average_b - statistics.fmean(b)) < 6e-4, 'averages')
        must(abs(difference - (statistics.fmean(b) - statistics.fmean(a))) < 6e-4, 'difference')


@case
def both_sides_of_the_limit():
    """Samples of 2 to 60 steps, moved to where t is 3 % below and above what has a probability of 5
    %."""
    chance = random.Random(16)
    for n_a, n_b in ((2, 3), (3, 3), (5, 4), (4, 12), (9, 9), (25, 8), (30, 40), (60, 60)):
        a = [chance.gauss(50, 2) for _ in range(n_a)]
        b = [chance.gauss(50, chance.choice((0.5, 3))) for _ in range(n_b)]
        shift, (t, degrees) = statistics.fmean(a) - statistics.fmean(b), welch(a,
                                                                               [x + 10 for x in b])
        error = abs(shift - 10) / t
        low, high = 0.0, 100.0
        for _ in range(60):
            low, high = ((low + high) / 2,
                         high) if probability((low + high) / 2,
                                              degrees) > 0.05 else (low, (low + high) / 2)
        for factor, want in ((0.97, 'within noise'), (1.03, 'more than noise')):
            moved = [x + shift + factor * low * error for x in b]
            same(verdict(a, moved)[0], want, 'verdict on %d and %d steps, %.2f degrees of freedom, '
                 'at %.2f of the limit' % (n_a, n_b, degrees, factor))


@case
def what_no_test_decides():
    """One step alone, equal steps, and steps that do not vary."""
    same(verdict([50.0], [50.0, 51.0])[0], 'too few steps')
    same(verdict([50.0, 50.0], [50.0, 50.0])[0], 'equal')
    same(verdict([50.0, 50.0], [51.0, 51.0])[0], 'more than noise')
