# SPDX-License-Identifier: Apache-2.0
"""How a cell of XProf's answer is compared with ours, and a table with a table."""

import math

from answers import Num


def same(want, got, tolerance, real=False):
    """`want` as answers.py types it, `got` as SQLite gives it. Integers and text equal, other
    numbers to a relative tolerance."""
    if want is None or got is None:
        # SQLite has no NaN: NULL
        return want is got or (isinstance(want, Num)
                               and "nan" in want.lower()) or (real and want == "NaN")
    if isinstance(want, bool):
        return isinstance(got, int) and got == want
    if not isinstance(want, Num):
        return got == want
    # ids beyond int64 are decimal text
    if isinstance(got, str):
        return got == want and got.lstrip("-").isdigit()
    if not isinstance(got, (int, float)):
        return False
    if not real and want.lstrip("-").isdigit():
        return got == int(want)
    number = float(want)
    if math.isinf(number) or isinstance(got, float) and math.isinf(got):
        return got == number
    return abs(number - got) <= tolerance * max(abs(number), abs(got))


class Number(dict):
    """{Num: the number that SQLite gives for it}"""

    def __missing__(self, num):
        try:
            value = int(num) if num.lstrip("-").isdigit() else float(num)
        except ValueError:
            value = num
        self[num] = value
        return value


def rounded(value):
    """A cell for sorting rows with equal keys: both sides' spellings of one value sort alike."""
    if value is None:
        return (0, "")
    if isinstance(value, (bool, int, float, Num)):
        try:
            return (1, "%.6g" % float(value))
        except (ValueError, OverflowError):
            return (1, str(value))
    return (2, str(value))


def key_of(value):
    """A cell as part of a key: 1, 1.0 and true are the same key, and so is the text "1"."""
    text = "" if value is None else str(int(value)) if isinstance(value, bool) else str(value)
    if isinstance(value, float) or isinstance(value, Num) and not text.lstrip("-").isdigit():
        number = float(text)
        return str(int(number)) if math.isfinite(number) and number == int(number) else repr(number)
    return text


def grouped(columns, rows, key):
    """{key: [(position, row)]}"""
    groups, known = {}, {}

    def part(value):
        of_type = known.setdefault(value.__class__, {})
        if value not in of_type:
            of_type[value] = key_of(value)
        return of_type[value]

    parts = [map(part, [row[columns.index(k)] for row in rows]) for k in key]
    for position, name in enumerate(zip(*parts) if key else ((i,) for i in range(len(rows)))):
        groups.setdefault(name, []).append((position, rows[position]))
    return groups


class Difference:
    """A cell that differs. A row that only one side has is a difference in each of its columns;
    "place" is the column of a row's place in the order.

    at      what names the cell: the row's key, which of the rows with this key, the column
    want    XProf's value and `got` ours; `want_row` and `got_row` are the rows as {column: value},
    None if the side has no such row
    """

    def __init__(self, at, want, got, want_row, got_row, text):
        self.at, self.column, self.want, self.got, self.want_row, self.got_row, self.text = at, at[
            2], want, got, want_row, got_row, text


class Result:
    """What a comparison found: how many cells it compared, and the differences."""

    def __init__(self):
        self.cells, self.differences = 0, []

    def wrong(self, at, text, want=None, got=None, want_row=None, got_row=None):
        self.differences.append(Difference(at, want, got, want_row, got_row, text if len(text) < 600
                                           else text[:600] + "..."))


def compare(want, got, key=(), order=False, tolerance=1e-9, real=(), absent=None):
    """Compares (columns, rows) of XProf with {column: place} and rows of ours. `absent`: {column
    that ours lacks: why}."""
    columns, want_rows = want
    places, got_rows = got
    result = Result()
    here = [c for c in columns if c in places]
    for c in columns:
        if c not in places:
            result.cells += len(want_rows)
            for n in range(max(1, len(want_rows))):
                result.wrong(((), n, c), "column %s: "
                             "%s" % (c, (absent or {}).get(c, "no entry says where ours is")))
    of_theirs, of_ours = [columns.index(c) for c in here], [places[c] for c in here]
    theirs = grouped(here, [[row[i] for i in of_theirs] for row in want_rows], key)
    ours = grouped(here, [[row[i] for i in of_ours] for row in got_rows], key)
    width, number = max(1, len(here)), Number()
    strict = real or any(v.__class__ is bool for row in want_rows for v in row)

    def alike(left, right):
        """Are the rows equal as they stand? Most are, and then each cell is the same. `same` is
        stricter about truth values and knows what `real` allows."""
        return not strict and len(left) == len(right) and all(
            [number[v] if v.__class__ is Num else v for v in row] == mine
            for (_, row), (_, mine) in zip(left, right))

    matched = []
    for name in list(theirs) + [n for n in ours if n not in theirs]:
        left, right = theirs.get(name, []), ours.get(name, [])
        if not order and max(len(left), len(right)) > 1 and not alike(left, right):
            left, right = (sorted(side, key=lambda item: [rounded(v) for v in item[1]])
                           for side in (left, right))
        result.cells += width * max(len(left), len(right))
        for n, ((at, row), (place, mine)) in enumerate(zip(left, right)):
            matched.append((at, place, name, n))
            if alike([(at, row)], [(place, mine)]):
                continue
            wrong = [i for i, c in enumerate(here)
                     if not same(row[i], mine[i], tolerance, c in real)]
            if wrong:
                want_row, got_row = dict(zip(here, row)), dict(zip(here, mine))
                for i in wrong:
                    result.wrong((name, n, here[i]), "%s %s: XProf %r, "
                                 "ours %r" % (label(name, key), here[i], row[i], mine[i]), row[i],
                                 mine[i], want_row, got_row)
        for n in range(min(len(left), len(right)), max(len(left), len(right))):
            row = dict(zip(here, (left if n < len(left) else right)[n][1]))
            text = "%s: only %s has it: %s" % (label(name, key),
                                               "XProf" if n < len(left) else "ours", row)
            sides = (row, None) if n < len(left) else (None, row)
            for c in here or ["row"]:
                result.wrong((name, n, c), text, *(side and side.get(c) for side in sides), *sides)
    if order:
        last = -1
        result.cells += len(matched)
        for at, place, name, n in sorted(matched):
            if place < last:
                result.wrong((name, n, "place"), "%s: place %d in XProf's order, "
                             "%d in ours" % (label(name, key), at, place))
            last = max(last, place)
    return result


def label(name, key):
    return ", ".join("%s=%s" % pair for pair in zip(key, name)) if key else "row %d" % name[0]
