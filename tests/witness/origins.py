# SPDX-License-Identifier: Apache-2.0
"""Which columns the witnesses compare, found while they run: the values of a row know the table and
column that they come from, also after sums and quotients, and agree() hands in what was equal.

With WITNESS_COMPARED each witness adds to this file what it compared, a line `witness table column`
for each column. A value that is NULL, 0 or empty in every comparison shows nothing, and neither
does one that is compared with itself (an order with the sorted order, say)."""
import json
import os
import re
import sys

FILE = os.environ.get('WITNESS_COMPARED')
compared = set()


class Known:
    """A value with origins, {(table, column)}; what is computed from it has them too."""
    origins = frozenset()


def arithmetic(base):
    def with_origins(name):
        plain = getattr(base, name)

        def call(self, *others):
            result = plain(self, *others)
            origins = self.origins.union(*(getattr(x, 'origins', ()) for x in others))
            return result if result is NotImplemented else of(result, origins)
        return call
    names = 'add radd sub rsub mul rmul truediv rtruediv floordiv mod neg abs round'.split()
    return {n: with_origins(n) for n in map('__%s__'.__mod__, names) if hasattr(base, n)}


Integer, Real, Text = (type(name, (Known, base), arithmetic(base) if base is not str else {})
                       for name, base in (('Integer', int), ('Real', float), ('Text', str)))
KINDS = {int: Integer, Integer: Integer, float: Real, Real: Real, str: Text, Text: Text}


def of(value, origins):
    kind = KINDS.get(type(value))
    if not kind or not origins:
        return value
    value = kind(value)
    value.origins = origins
    return value


# ---- what a query's columns are ----

def top_level(text):
    """Parts of a list between the commas outside of brackets."""
    parts, depth = [''], 0
    for c in re.sub(r"'[^']*'", "''", text):
        depth += (c == '(') - (c == ')')
        if c == ',' and not depth:
            parts.append('')
        else:
            parts[-1] += c
    return parts


def of_expressions(sql, columns_of):
    """Of each column of a plain SELECT the columns of the tables it asks that its expression
    names."""
    found = re.match(r'\s*SELECT\s+(?:DISTINCT\s+)?(.*?)\s+FROM\s+(.*)', sql, re.S | re.I)
    if not found or 'UNION' in sql or '(SELECT' in sql:
        return []
    tables = [t for t in re.findall(r'\w+', found.group(2)) if t in columns_of]
    return [frozenset((t, word) for word in re.findall(r'\w+', part) for t in tables
                      if word in columns_of[t]) for part in top_level(found.group(1))]


class Reader:
    """Rows from what a shell with `.stats stmt` prints, which names the origins of each column."""

    def __init__(self):
        self.columns_of = {}

    def read(self, printed, queries, ask_plain):
        if not self.columns_of:
            for r in ask_plain('SELECT table_name AS t, "column" AS c FROM prof_columns'):
                self.columns_of.setdefault(r['t'], set()).add(r['c'])
        answers = []
        for sql, (rows, origins) in zip(queries, self.statements(printed)):
            guessed = of_expressions(sql, self.columns_of)
            names = [name for name, _ in origins]
            known = [o or (frozenset(guessed[i]) if len(guessed) == len(origins) else frozenset())
                     for i, (_, o) in enumerate(origins)]
            by_name = dict(zip(names, known))
            answers.append([{c: of(x, by_name.get(c)) for c, x in row.items()} for row in rows])
        return answers

    @staticmethod
    def statements(printed):
        """(rows, [(column, origins)]) of each statement."""
        text, columns, table = [], [], None
        for line in printed.split('\n'):
            if line.startswith(('[', '{')):
                text.append(line)
            elif line.startswith('Number of output columns'):
                columns = []
            elif found := re.match(r'Column \d+ (\w+) name: +(.*)', line):
                what, value = found.groups()
                if what == 'table':
                    table = value
                elif what == 'origin' and table != '(null)':
                    columns[-1][1] = frozenset([(table, value)])
            elif found := re.match(r'Column \d+ name: +(.*)', line):
                columns.append([found.group(1), frozenset()])
            elif line.startswith('Memory used by prepared'):
                yield json.loads('\n'.join(text) or '[]'), columns
                text, columns = [], []


# ---- what was compared ----

def values(x):
    if isinstance(x, dict):
        for pair in x.items():
            yield from values(pair)
    elif isinstance(x, (list, tuple, set, frozenset)):
        for one in x:
            yield from values(one)
    else:
        yield x


def note(got, want):
    """Got was equal to want."""
    own = {o for x in values(want) for o in getattr(x, 'origins', ())}
    compared.update(o for x in values(got) if x for o in getattr(x, 'origins', ()) if o not in own)


def save():
    if FILE:
        witness = os.path.basename(sys.argv[0])
        with open(FILE, 'a') as f:
            f.writelines('%s %s %s\n' % (witness, *o) for o in sorted(compared))
