# SPDX-License-Identifier: Apache-2.0
"""Whether a witness can fail: of each column that it compares (origins.py) one cell of an answer
gets another value, or becomes NULL, and where it is NULL gets a value; the witness must not agree.

This is tried in the first profiles, which are the smallest, in which a check compares the column,
until it was noticed. `survivors` are the changes that were not. With WITNESS_COMPARED each witness
adds to this file the columns that it compares, a line `witness table column` for each."""
import collections
import os
import re
import sys

import origins
from not_witnessed import NULLS_NOT_NOTICED

FILE = os.environ.get('WITNESS_COMPARED')
LARGEST = 1 << 17  # bytes of the profiles in which this is tried: checks of others take long
TRIES = int(os.environ.get('WITNESS_TRIES', 5))  # checks in which a change is tried
seen = set()  # (witness, table, column, change) that a witness noticed
unseen = collections.Counter()  # in how many checks it did not
places = {}  # where it was tried last
now = ['']  # the witness that runs


def others(value):
    """Of a text that is compared by its parts not every letter may count."""
    if not isinstance(value, str):
        return [value * 3 + 1]
    return list(dict.fromkeys([value + 'x', 'x' + value, re.sub(r'([0-9])', r'\g<1>3', value)]))


NULL = 'a value instead of NULL'
CHANGES = {'another value': (lambda value: value is not None, others),
           'NULL instead of a value': (lambda value: value is not None, lambda value: [None]),
           NULL: (lambda value: value is None, lambda value: [7])}


def start(witness):
    now[0] = witness


def cells(used, column, is_meant):
    """(script, row, column, value) of cells of a column: of each answer one in the middle, the
    first and the last, then others between: some witnesses look at a part of the rows."""
    for script, (rows, known) in used.items():
        for name, kinds in known:
            if column in kinds[int].origins:
                at = [i for i, r in enumerate(rows) if is_meant(r[name])]
                for i in dict.fromkeys(at[len(at) // 2:][:1] + at[:1] + at[-1:]
                                       + at[::len(at) // 8 + 1]):
                    yield script, i, name, rows[i][name]


def is_noticed(reader, cell, values, check):
    for value in values:
        reader.wrong = (*cell, value)
        try:
            check()
        except Exception:
            return True
        finally:
            reader.wrong = None
    return False


def check(reader, again):
    """Tries the columns that a check has just compared. Again runs the check once more."""
    if not reader.knows or reader.changes:
        return
    left = [(column, change) for column in sorted(origins.compared) for change in CHANGES
            if (now[0], *column, change) not in seen
            and unseen[(now[0], *column, change)] < TRIES]
    reader.again = True
    try:
        agrees = False
        for column, change in left:
            is_meant, changed = CHANGES[change]
            key, found = (now[0], *column, change), None
            for *cell, value in cells(reader.used, column, is_meant):
                if not agrees:
                    again()
                    agrees = True
                found = is_noticed(reader, cell, changed(value), again)
                if found:
                    seen.add(key)
                    break
                places[key] = cell
            unseen[key] += found is False
    finally:
        reader.again = False


def survivors(of_all):
    """What was not noticed and is not listed; of all witnesses also what is listed in vain."""
    listed = {(witness, table, column, NULL) for witness, of in NULLS_NOT_NOTICED.items()
              for table, columns in of.items() for column in columns.split()}
    left = {key for key in unseen if unseen[key] and key not in seen}
    return ['%s: %s.%s can have %s unnoticed, as in row %d of %s' % (
        *key, places[key][1], places[key][0]) for key in sorted(left - listed)] + [
        '%s: %s.%s is listed in NULLS_NOT_NOTICED in vain' % key[:3]
        for key in sorted(listed - left if of_all else ())]


def save():
    if FILE:
        with open(FILE, 'a') as f:
            f.writelines('%s %s %s\n' % key for key in sorted(
                {key[:3] for key in seen if key[3] == 'another value'}))
