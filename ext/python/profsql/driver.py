# SPDX-License-Identifier: Apache-2.0
"""Connections with the extension loaded, of Python's sqlite3 or of APSW, and what differs between
the two."""

from __future__ import annotations

import difflib
import itertools
import os
import re
import sqlite3
from typing import Any, Callable, Iterator, List, Mapping, Sequence, Tuple, Union

from . import library

Parameters = Union[Sequence[Any], Mapping[str, Any]]

# SQLite calls the progress handler after this many steps of its virtual machine. While the
# extension works, it executes about 2,000 steps each time that it looks for interrupts.
_STEPS = 1000
_OLDEST_SQLITE = (3, 38, 0)
_NAMES = {"table": "SELECT name FROM prof_tables UNION SELECT name FROM prof_queries",
          "column": 'SELECT DISTINCT "column" FROM prof_columns'}


class Error(Exception):
    """What SQLite or libprofsql answers to a query that cannot be answered."""


RUN_IS_CLOSED = "the run is closed"

_COMMENTS = re.compile(r"--[^\n]*|/\*.*?\*/|[\s;]", re.S)


def _why_not_sqlite3() -> str | None:
    if not hasattr(sqlite3.Connection, "enable_load_extension"):
        return "the sqlite3 module of this Python cannot load extensions"
    if sqlite3.sqlite_version_info < _OLDEST_SQLITE:
        return "the sqlite3 module of this Python has SQLite %s, older than 3.38" % (
            sqlite3.sqlite_version)
    return None


def connect(database: str = ":memory:", serve: library.Serve = False) -> Any:
    """A connection with libprofsql loaded: of sqlite3 if that can load extensions, else of APSW.

    serve: see load().

    Ctrl-C ends its queries, also while a profile is read.
    """
    if os.path.isdir(database) or str(database).endswith((".xplane.pb", ".xplane.pb.gz")):
        raise Error("%s: connect() opens a database of SQLite; open() reads a run" % database)
    reason = _why_not_sqlite3()
    raw: Any
    if reason is None:
        # SQLite is compiled for use from several threads where sqlite3.threadsafety is 3.
        same_thread = getattr(sqlite3, "threadsafety", 1) < 3
        raw = sqlite3.connect(database, isolation_level=None, check_same_thread=same_thread)
        raw.set_progress_handler(_let_signals_in, _STEPS)
    else:
        try:
            import apsw
        except ImportError:
            raise ImportError("%s, and APSW is not installed, which can: pip install apsw"
                              % reason) from None
        raw = apsw.Connection(database)
        raw.setprogresshandler(_let_signals_in, _STEPS)
    library.load(raw, serve)
    return raw


def _with_advice(message: str, names: Callable[[str], List[str]]) -> str:
    """SQLite refuses views of a database before the extension is asked, which so cannot say why.
    `names` returns the names that a query of one column lists."""
    missing = re.match(r"no such (table|column): (?:\w+\.)?(\w+)$", message)
    if missing:
        kind, word = missing.groups()
        near = difflib.get_close_matches(word.lower(), names(_NAMES[kind]), 3)
        return "%s; nearest: %s" % (message, " or ".join(near)) if near else message
    if not message.startswith("unsafe use of virtual table"):
        return message
    return message + (
        ": a view or trigger saved in a database reads runs only where SQL can open no path. "
        "First SELECT prof_serve() or profsql.load(connection, serve=...), which leaves SQL the "
        "attached runs alone, and keep PRAGMA trusted_schema on")


def _let_signals_in() -> bool:
    """Python handles signals when it enters this: a query that takes long can be interrupted."""
    return False


class Driver:
    """Executes queries on a raw connection."""

    def __init__(self, raw: Any) -> None:
        self.raw = raw
        self._closed = False
        self._apsw = not isinstance(raw, sqlite3.Connection)
        # Python 3.10 raises a Warning for several statements
        self._errors: Tuple[type[Exception], ...] = (sqlite3.Error, sqlite3.Warning)
        if self._apsw:
            import apsw
            self._errors = (apsw.Error,)

    def close(self) -> None:
        self.raw.close()
        self._closed = True

    def execute(self, sql: str, parameters: Parameters = ()) -> Cursor:
        """Executes a statement up to its first row, where an error of its arguments shows."""
        if self._closed:
            raise Error(RUN_IS_CLOSED)
        cursor = self.raw.cursor()
        if not self._apsw:
            self._guard(lambda: cursor.execute(sql, parameters))
            return Cursor(self, cursor, [column[0] for column in cursor.description or ()])
        columns: List[str] = []
        statements = 0

        def start(cursor: Any, statement: str, *_: Any) -> bool:
            nonlocal statements
            statements += bool(_COMMENTS.sub("", statement))
            if statements > 1:  # its rows would follow those of the first
                raise Error("one statement at a time: this SQL has several")
            columns[:] = columns or [column[0] for column in cursor.getdescription()]
            return True

        # APSW does not know the columns of an answer without rows once it has it.
        cursor.setexectrace(start)
        try:
            self._guard(lambda: cursor.execute(sql, parameters or None))
        except KeyError as error:
            raise Error("no value is given for :%s" % error.args[0]) from None
        return Cursor(self, cursor, columns)

    def rows(self, sql: str, parameters: Parameters = ()) -> List[Tuple[Any, ...]]:
        """All rows of a query."""
        return self.execute(sql, parameters).fetch(None)

    def _guard(self, call: Callable[[], Any]) -> Any:
        try:
            return call()
        except self._errors as error:
            if self._closed:
                raise Error(RUN_IS_CLOSED) from None
            # sqlite3 drops the exception that a signal raised in the progress handler.
            if not self._apsw and str(error) == "interrupted":
                raise KeyboardInterrupt from None
            raise self.error(str(error)) from None

    def error(self, message: str) -> Error:
        """The error with a message of SQLite, and what to do about it."""
        return Error(_with_advice(message, self._names))

    def _names(self, query: str) -> List[str]:
        return [name for name, in self.raw.cursor().execute(query)]


class Cursor:
    """A statement that is being executed."""

    def __init__(self, driver: Driver, cursor: Any, columns: List[str]) -> None:
        self.columns = columns
        self._driver = driver
        self._rows: Iterator[Tuple[Any, ...]] = iter(cursor)

    def fetch(self, n: int | None) -> List[Tuple[Any, ...]]:
        """The next n rows; fewer at the end; all that are left if n is None."""
        rows: List[Tuple[Any, ...]] = self._driver._guard(
            lambda: list(itertools.islice(self._rows, n)))
        return rows
