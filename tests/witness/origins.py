# SPDX-License-Identifier: Apache-2.0
"""Which columns the witnesses compare, found while they run: the values of a row know the table and
column that they come from, also after sums and quotients, and agree() hands in what was equal.

A value that is NULL, 0 or empty in every comparison shows nothing, and neither does one that is
compared with itself (an order with the sorted order, say)."""
import collections
import functools
import json
import re

MOST = 8 << 20  # bytes of answers that are kept
compared = set()  # in the check that runs


class Known:
    """A value with origins, {(table, column)}; what is computed from it has them too."""
    __slots__, origins = (), frozenset()


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


Integer, Real, Text = (type(name, (Known, base),
                            {'__slots__': (), **(arithmetic(base) if base is not str else {})})
                       for name, base in (('Integer', int), ('Real', float), ('Text', str)))
KINDS = {int: Integer, float: Real, str: Text}


@functools.cache
def kind(of_value, origins):
    """The class of values with these origins."""
    base = next((k for plain, k in KINDS.items() if issubclass(of_value, plain)), None)
    if not base or of_value is bool or not origins:
        return lambda value: value
    return type(base.__name__, (base,), {'__slots__': (), 'origins': origins})


def of(value, origins):
    return kind(type(value), origins)(value)


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


def is_of_a_file(sql):
    """Whether a query has the same answer each time: not what changes the connection, and issues
    are found when tables are asked."""
    return '{x}' in sql and 'prof_issues' not in sql


def rows_of(script, printed):
    try:
        return json.loads(printed or '[]')
    except ValueError:
        raise RuntimeError('no rows: %r, of %s' % (printed[:200], script)) from None


class Reader:
    """Rows of queries, whose values know their origins. A shell with `.stats stmt` names the
    origins of each column; it is asked once for each query. An answer that several witnesses ask
    for is kept."""

    def __init__(self, shell):
        self.shell, self.columns_of, self.known = shell, {}, {}
        self.kept, self.size = {}, 0  # {script: (rows, origins of columns)}
        self.forget_check()
        self.wrong = None  # (script, row, column, value): what it is given instead of the answer
        self.knows = False  # whether values know their origins
        self.again = False  # the check runs again: it gets the answers that it had

    def forget_check(self):
        """Before a check, in which `used` is {script: answer}, and `changes`
        whether a question had several answers."""
        self.used, self.changes = {}, False

    def ask(self, queries, x):
        """Rows of each query, in which the text x stands for {x}."""
        scripts = [sql.replace('{x}', x) for sql in queries]
        known = self.used if self.again else self.kept
        new = {script: sql for sql, script in zip(queries, scripts) if script not in known}
        answers = self.asked(new) if new else {}
        return [self.rows(script, answers[script] if script in answers else known[script])
                for script in scripts]

    def asked(self, scripts):
        """The answer to each script, {script: its query}: its rows, and the origins of columns."""
        unknown = {script for script, sql in scripts.items()
                   if self.knows and sql not in self.known}
        printed = dict(zip(scripts, self.shell.ask(*(
            '.stats stmt\n%s;\n.stats off\n' % script if script in unknown else script
            for script in scripts))))
        answers = {}
        for script, sql in scripts.items():
            if script in unknown:
                printed[script], columns = self.statement(printed[script])
                self.known[sql] = self.origins(sql, columns)
            rows, known = rows_of(script, printed[script]), self.known.get(sql, ())
            for row in rows if self.knows else ():
                for column, kinds in known:
                    value = row[column]
                    if value is not None:
                        row[column] = kinds[type(value)](value)
            answers[script] = rows, known
            if is_of_a_file(sql):
                self.keep(script, answers[script], len(printed[script]))
        return answers

    def keep(self, script, answer, size):
        self.size += size
        if self.size > MOST:
            self.kept, self.size = {}, size
        self.kept[script] = answer

    def rows(self, script, answer):
        """A copy, with which the witness may do what it wants."""
        found = [dict(row) for row in answer[0]]
        if self.again:
            if self.wrong and self.wrong[0] == script:
                _, row, column, value = self.wrong
                found[row][column] = value
        elif self.knows:
            self.changes |= script in self.used and self.used[script][0] != answer[0]
            self.used[script] = answer
        return found

    def origins(self, sql, columns):
        """[(column, {type: the class of its values})] of those with origins; columns: what the
        shell knows of them."""
        if not self.columns_of:
            self.columns_of = collections.defaultdict(set)
            for r in json.loads(*self.shell.ask('SELECT table_name AS t, "column" AS c '
                                                'FROM prof_columns')):
                self.columns_of[r['t']].add(r['c'])
        guessed = of_expressions(sql, self.columns_of)
        if len(guessed) != len(columns):
            guessed = [()] * len(columns)
        of_name = {name: o or frozenset(guess) for (name, o), guess in zip(columns, guessed)}
        return [(name, {plain: kind(plain, o) for plain in KINDS}) for name, o in of_name.items()
                if o]

    @staticmethod
    def statement(printed):
        """(rows, [[column, origins]]) of a statement."""
        rows, columns, table = [], [], None
        for line in printed.split('\n'):
            if line.startswith(('[', '{')):
                rows.append(line)
            elif found := re.match(r'Column \d+ (\w+) name: +(.*)', line):
                what, value = found.groups()
                if what == 'table':
                    table = value
                elif what == 'origin' and table != '(null)':
                    columns[-1][1] = frozenset([(table, value)])
            elif found := re.match(r'Column \d+ name: +(.*)', line):
                columns.append([found.group(1), frozenset()])
        return '\n'.join(rows), columns


# ---- what was compared ----

def origins_in(x, empty_too=False):
    """The origins of the values that x is or holds."""
    found, rest = set(), [[x]]
    while rest:
        for one in rest.pop():
            if isinstance(one, Known):
                if one or empty_too:
                    found.add(one.origins)
            elif isinstance(one, dict):
                rest += one, one.values()
            elif isinstance(one, (list, tuple, set, frozenset)):
                rest.append(one)
    return found


def note(got, want):
    """Got was equal to want."""
    new = frozenset().union(*origins_in(got)) - compared
    if new:
        compared.update(new.difference(*origins_in(want, True)))
