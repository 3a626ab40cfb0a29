# SPDX-License-Identifier: Apache-2.0
"""The tables and canned queries of the extension as methods, made from its own documentation.

catalog.pyi declares the same methods for editors and type checkers; `make docs` writes it."""

from __future__ import annotations

import collections
import inspect
import keyword
import os
import re
from dataclasses import dataclass, field
from typing import Any, Callable, Dict, List

from .driver import Driver

# Parameters that name what to read. A method of a run gives its own run.
OWN_RUN = ("source", "a")
OTHER_RUN = ("b", "dir")


@dataclass
class Column:
    name: str
    type: str  # TEXT, INTEGER, REAL, BLOB; empty if the type differs from row to row
    unit: str | None
    description: str

    @property
    def may_be_null(self) -> bool:
        """Whether the documentation allows NULL (a test of the extension holds it to that)."""
        return not self.type or bool(re.search("NULL|^as |^the value", self.description))


@dataclass
class Parameter(Column):
    default: str | None = None  # SQL; None if it has none, or the table decides

    @property
    def is_own_run(self) -> bool:
        return self.name in OWN_RUN

    @property
    def is_run(self) -> bool:
        return self.name in OWN_RUN + OTHER_RUN


@dataclass
class Table:
    """A table or canned query."""

    name: str
    about: str  # the question that it answers, or what one of its rows is
    is_query: bool
    columns: List[Column] = field(default_factory=list)
    parameters: List[Parameter] = field(default_factory=list)

    @property
    def row_name(self) -> str:
        """Name of the class of its rows: TopOps for top_ops."""
        return "".join(part[:1].upper() + part[1:] for part in self.name.split("_"))

    def row_type(self) -> Any:
        return row_type(self.row_name, [column.name for column in self.columns])

    def signature(self) -> inspect.Signature:
        """As a method: first the other run, then parameters with defaults, then the own run."""
        kinds = inspect.Parameter
        first = [kinds(p.name, kinds.POSITIONAL_OR_KEYWORD) for p in self.parameters
                 if p.name in OTHER_RUN]
        then = [kinds(p.name, kinds.POSITIONAL_OR_KEYWORD, default=None) for p in self.parameters
                if not p.is_run]
        last = [kinds(p.name, kinds.KEYWORD_ONLY, default=None) for p in self.parameters
                if p.is_own_run]
        return inspect.Signature(
            [kinds("self", kinds.POSITIONAL_OR_KEYWORD)] + first + then + last)

    def documentation(self) -> str:
        """Question or row, parameters and columns."""
        lines = [self.about if self.is_query else "One row: %s." % self.about]
        if self.parameters:
            lines += ["", "Parameters:"]
        for parameter in self.parameters:
            about = parameter.description
            if parameter.is_own_run:
                about = "run to read instead of this one: a run, label/host or path"
            elif parameter.name == "b":
                about = "the other run: a run or a path"
            lines.append("    %s: %s" % (parameter.name, about))
        lines += ["", "Columns:"]
        for column in self.columns:
            unit = " [%s]" % column.unit if column.unit else ""
            lines.append("    %s %s%s: %s" % (
                column.name, column.type.lower() or "of any type", unit, column.description))
        return "\n".join(lines)


def row_type(name: str, columns: List[str]) -> Any:
    """A named tuple with these fields; a column whose name cannot be one is _0, _1, ..."""
    made = collections.namedtuple(name, columns, rename=True)
    made.__reduce__ = lambda row: (  # type: ignore[method-assign,assignment]
        _unpickled, (name, columns, tuple(row)))
    return made


def _unpickled(name: str, columns: List[str], values: Any) -> Any:
    """A row that was pickled; other processes make its type anew."""
    return row_type(name, columns)._make(values)


def field_names(columns: List[str]) -> List[str]:
    """The fields of a named tuple of these columns."""
    seen: set[str] = set()
    names = []
    for i, name in enumerate(columns):
        bad = not name.isidentifier() or keyword.iskeyword(name) or name.startswith("_")
        names.append("_%d" % i if bad or name in seen else name)
        seen.add(name)
    return names


def read(driver: Driver) -> Dict[str, Table]:
    """All tables and canned queries, by name."""
    tables = {}
    signatures = {}
    for name, about, is_query, signature in driver.rows(
            "SELECT name, row_is, 0, signature FROM temp.prof_tables UNION ALL "
            "SELECT name, question, 1, signature FROM temp.prof_queries"):
        tables[name] = Table(name, about, bool(is_query))
        arguments = signature.partition("(")[2].rstrip(")")
        signatures[name] = dict(re.findall(r"(\w+)(?: = ([^,]*))?", arguments))
    for name, column, type_, unit, description in driver.rows(
            'SELECT table_name, "column", type, unit, description FROM temp.prof_columns'):
        words = type_.split()
        hidden = "HIDDEN" in words
        kind = words[0] if words and words[0] != "HIDDEN" else ""
        if not hidden:
            tables[name].columns.append(Column(column, kind, unit, description))
        elif column in signatures[name]:
            tables[name].parameters.append(Parameter(
                column, kind, unit, description, signatures[name][column] or None))
    return tables


class Catalog:
    """What the extension has, with the methods made of it."""

    def __init__(self, driver: Driver) -> None:
        self.tables = read(driver)

    def type_of(self, column: str, query: str) -> str:
        """Type that the tables of a query declare for a column of this name; empty if none has
        it, or they do not agree."""
        names = set(re.findall(r"\w+", query)) & set(self.tables)
        types = {c.type for name in names for c in self.tables[name].columns if c.name == column}
        return types.pop() if len(types) == 1 else ""


class Tables:
    """Base of a run: a method for each table and canned query."""

    def _query(self, table: Table, arguments: Dict[str, Any]) -> Any:
        raise NotImplementedError


def add_methods(catalog: Catalog) -> None:
    """Makes the methods of Tables."""
    for table in catalog.tables.values():
        setattr(Tables, table.name, _method(table))


def _method(table: Table) -> Callable[..., Any]:
    signature = table.signature()

    def method(self: Tables, *args: Any, **named: Any) -> Any:
        try:
            arguments = signature.bind(self, *args, **named).arguments
        except TypeError as error:
            of = str(signature).replace("(self, ", "(").replace("(self)", "()")
            raise TypeError("%s: call %s%s" % (error, table.name, of)) from None
        del arguments["self"]
        return self._query(table, arguments)

    method.__name__ = table.name
    method.__qualname__ = "Run." + table.name
    method.__doc__ = table.documentation()
    method.__signature__ = signature  # type: ignore[attr-defined]
    return method


def argument(value: Any) -> Any:
    """A parameter's value as SQLite takes it: paths are expanded, runs are their path."""
    if isinstance(value, Tables):
        return getattr(value, "path")
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    return os.path.expanduser(value) if isinstance(value, str) else value
