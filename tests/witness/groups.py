#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whether two groups of runs differ by more than noise: compare_groups, of kept runs, of recorded
ones where ../shared has them, and of made runs of few different lengths.

The steps of each run come from the table steps (tests/witness/steps.py). Medians, Welch's t and the
probability of a t that is as large by chance (Student's distribution by its continued fraction, not
by quantiles) are worked out here."""
import collections
import glob
import math
import os
import random
import statistics
import sys
import tempfile
from fractions import Fraction

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from compare import ROOT, Run, agree, ask_all, looks_at_all, main, seeds, tried  # noqa: E402
from lib.wire import Plane, space  # noqa: E402
from two_runs import CATEGORIES  # noqa: E402

met = collections.Counter()


# ---- Student's distribution ----

def fraction(a, b, x):
    """The continued fraction of the incomplete beta function, by Lentz."""
    tiny, c, d = 1e-300, 1.0, 1 - (a + b) * x / (a + 1)
    d = 1 / (d or tiny)
    value = d
    for m in range(1, 500):
        for step in (m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
                     -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))):
            d, c = 1 / (1 + step * d or tiny), 1 + step / c or tiny
            value *= d * c
        if abs(d * c - 1) < 1e-15:
            break
    return value


def beta(a, b, x):
    """The regularized incomplete beta function."""
    if x in (0, 1):
        return x
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x)
                     + b * math.log1p(-x))
    return front * fraction(a, b, x) / a if x < (a + 1) / (a + b + 2) else (
        1 - front * fraction(b, a, 1 - x) / b)


def by_chance(t, freedom):
    """Probability that chance alone makes a t this far from 0, on either side."""
    return beta(freedom / 2, 0.5, freedom / (freedom + t * t))


# ---- two groups ----

def variance(values):
    """Sample variance, without rounding."""
    exact = [Fraction(x) for x in values]
    mean = sum(exact) / len(exact)
    return float(sum((x - mean)**2 for x in exact) / (len(exact) - 1))


def quantile(freedom):
    """The t that chance exceeds in 5 % of all cases."""
    low, high = 0.0, 1000.0
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if by_chance(middle, freedom) > 0.05 else (low, middle)
    return low


def rounded_down(freedom):
    """Degrees of freedom as tables have them: the verdict is noise rather than a difference."""
    return max(x for x in (1, 1.25, 1.5, 1.75, 2, 2.5, *range(3, 11), 12, 15, 20, 30, 60, 120, 1000)
               if x <= max(freedom + 1e-9, 1))


def judged(a, b):
    """(verdict, t, probability that it is chance)"""
    if min(len(a), len(b)) < 2:
        return 'unknown', None, None
    if len(set(a + b)) == 1:
        return 'identical', None, None
    difference = statistics.fmean(b) - statistics.fmean(a)
    way = 'slower' if difference > 0 else 'faster'
    errors = [variance(x) / len(x) for x in (a, b)]
    if not sum(errors):
        return way, None, None
    t = difference / math.sqrt(sum(errors))
    freedom = sum(errors)**2 / sum(e**2 / (len(x) - 1) for e, x in zip(errors, (a, b)))
    p = by_chance(t, rounded_down(freedom))
    met['t', 'nearly'] += by_chance(t, freedom) < 0.05 <= p
    return way if p < 0.05 else 'noise', t, p


def averages(steps, column):
    """Of each run with complete steps and a known time, its average: of equal steps it is equal,
    whatever their number. 1e-12 ms is less than any clock tells."""
    found = []
    for of in steps:
        known = [s[column] for s in of if not s['dropped'] and s[column] is not None]
        if known:
            found.append(round(statistics.fmean(known), 12))
    return found


def wanted(a, b):
    for category, column in CATEGORIES.items():
        row, sides, middles = {'category': category}, [averages(x, column) for x in (a, b)], []
        for letter, values in zip('ab', sides):
            middles.append(statistics.median(values) if values else None)
            row.update({letter + '_ms': middles[-1], letter + '_runs': len(values),
                        letter + '_min_ms': min(values, default=None),
                        letter + '_max_ms': max(values, default=None)})
        difference = None if None in middles else middles[1] - middles[0]
        row.update(difference_ms=difference, difference_percent=100 * difference / middles[0]
                   if difference is not None and middles[0] else None)
        row['verdict'], row['t'], p = judged(*sides)
        yield row, p


def check(a, b):
    """a, b: runs of the two groups, not both empty. Runs of neither are attached too. A pattern
    that no run fits is an error."""
    labels = ['a%d' % i for i in range(len(a))] + ['b%d' % i for i in range(len(b))] + ['A', 'ca']
    paths = [r.path.replace("'", "''") for r in a + b + (a + b)[:1] * 2]
    try:
        rows = ask_all(*["SELECT prof_attach('%s', '%s')" % x for x in zip(paths, labels)],
                       "SELECT * FROM compare_groups('a*', 'b*')",
                       *["SELECT prof_detach('%s')" % label for label in labels])[len(labels)]
    except RuntimeError as error:
        if a and b or 'runs_%s: no attached run is called like' % 'ba'[not a] not in str(error):
            raise
        met['error', 'ba'[not a]] += 1
        return
    steps = [steps_of(r) for r in a + b]
    want = list(wanted(steps[:len(a)], steps[len(a):]))
    agree('categories', [r['category'] for r in rows],
          [r['category'] for r, _ in want] if any(steps) else [])
    for got, (row, p) in zip(rows, want):
        met['t' if row['t'] is not None else 'no t', row['verdict']] += 1
        agree('%s, of %s by chance' % (row['category'], p), got, row, rel=1e-6)


known_steps = {}


def steps_of(run):
    if run.path not in known_steps:
        known_steps[run.path] = run.ask('SELECT * FROM steps({x})')
    return known_steps[run.path]


# ---- runs ----

def made_run(folder, lengths):
    """A run of steps of so many picoseconds each."""
    events, at = [], 0
    for i, length in enumerate(lengths):
        events += [('train', at, length, {'step_num': {'int64': i}, '_r': {'int64': 1}}),
                   ('work', at + 1, length // 2)]
        at += length + 10
    path = os.path.join(folder, 'made_%s.xplane.pb' % '_'.join(map(str, lengths)))
    with open(path, 'wb') as f:
        f.write(space(Plane('/host:CPU').line(5, 'main', events).bytes()))
    return Run(path, [path])


def random_group(dice, folder):
    """Runs of lengths that are near each other, so that all verdicts are met."""
    first, spread = dice.choice([10**8, 101 * 10**6, 11 * 10**7]), dice.choice([0, 0, 10**6, 10**7])
    return [made_run(folder, [first + spread * dice.randint(0, 3)
                          for _ in range(dice.choice([0, 1, 1, 2, 3, 7]))])
            for _ in range(dice.choice([0, 1, 2, 2, 3, 4, 5, 8]))]


def recorded(letters):
    top = os.path.join(os.path.dirname(ROOT), 'shared', 'samples', 'recorded')
    for folder in sorted(glob.glob(os.path.join(top, 'ab_*'))):
        yield os.path.basename(folder), [[Run(x, glob.glob(os.path.join(
            x, '**', '*.xplane.pb'), recursive=True)) for x in sorted(glob.glob(os.path.join(
                folder, letter + '*')))] for letter in letters]


def near_5_percent(top):
    for a, b in ([1000, 1010], [1036, 1042]), ([1000, 1010], [964, 958]):
        check(*([made_run(top, [10**5 * x]) for x in lengths] for lengths in (a, b)))


def tabulated(top):
    for n in (2, 3, 4, 5, 6, 7, 11):
        for spread in (10**6, 7 * 10**5 + 3, 1234567, 333333):
            lengths = [10**9 + spread * (i % 3 - 1) for i in range(n)]
            low, high = (quantile(rounded_down(2 * n - x)) for x in (2, 2.5))
            shift = round((low + high) / 2 * math.sqrt(2 * variance(lengths) / n))
            check(*([made_run(top, [x + more]) for x in lengths] for more in (0, shift)))


def near_the_limit(top):
    for freedom in (*range(1, 11), 12, 15, 20, 30):
        lengths = [10**9 + 10**7 * (i % 2) for i in range(freedom + 1)]
        middle = sum(lengths) / len(lengths)
        for part in (0.998, 1.002):
            more = part * quantile(freedom) * math.sqrt(variance(lengths) / len(lengths))
            other = made_run(top, [round(middle + more)])
            check([made_run(top, [x]) for x in lengths], [other, other])


def verdicts():
    ways = [('t', x) for x in ('faster', 'nearly', 'noise', 'slower')] + [
        ('no t', x) for x in ('faster', 'identical', 'slower', 'unknown')] + [
        ('error', 'b')]
    agree('verdicts', [w for w in ways if not met[w]], [])


kept = []


def each(run):
    kept.append(run)


def made():
    dice = random.Random(int(os.environ.get('SEED', 1)))
    small = [r for r in kept if sum(map(os.path.getsize, r.files)) < 1 << 20]
    for one in kept:
        first, second = ([dice.choice(small) for _ in range(dice.randint(0, 4))] for _ in 'ab')
        tried('groups with %s' % one.path, check, first + [one], second)
    for letters in ('ab', 'ac', 'bc'):
        for name, (first, second) in recorded(letters):
            if first and second:
                tried('groups %s of %s' % (letters, name), check, first, second)
                tried('groups %s in %s' % (letters, name), check, first[:5], first[5:])
    with tempfile.TemporaryDirectory() as top:
        for seed in seeds(40):
            dice = random.Random(seed)
            first, second = random_group(dice, top), random_group(dice, top)
            tried('groups of seed %d' % seed, check, first,
                  second if first else second + [made_run(top, [10**8])])
        tried('groups near 5 %', near_5_percent, top)
        tried('groups of as many degrees of freedom as a table has', tabulated, top)
        tried('groups just below and above the limit', near_the_limit, top)
    if looks_at_all():
        tried('groups meet all verdicts', verdicts)


if __name__ == '__main__':
    main(each, made)
