# SPDX-License-Identifier: Apache-2.0
"""An open run: its tables and canned queries as methods, SQL, and a summary."""

from __future__ import annotations

import os
import re
import warnings
from typing import Any, Dict, List, Sequence, Tuple, Union

from . import catalog, plot, stream, summary
from .driver import RUN_IS_CLOSED, Driver, Error, connect
from .result import Result

Path = Union[str, "os.PathLike[str]"]

_SHOWN_WARNINGS = 5
_EVENT_COLUMNS = ("plane", "line", "name", "start_ps", "duration_ps")
_catalog: catalog.Catalog | None = None


class ProfileWarning(UserWarning):
    """A profile that was opened has lost or doubtful data."""


class Run(catalog.Tables):
    """A run that is open: each table and canned query of libprofsql is a method of it."""

    def __init__(self) -> None:
        self._driver: Driver | None = None
        self._closed = False
        self._path = ""
        self._label = ""

    # ---- opening and closing ----

    def _open(self, path: Path, label: str | None, by_host: bool, check: bool,
              stacklevel: int) -> None:
        if not isinstance(path, (str, bytes, os.PathLike)):
            raise TypeError("the path of a run is a str or a path, not %r" % (path,))
        driver = Driver(connect())
        try:
            function = "prof_attach_by_host" if by_host else "prof_attach"
            arguments = [catalog.argument(path)] + ([label] if label is not None else [])
            [(self._label,)] = driver.rows(
                "SELECT %s(%s)" % (function, ", ".join("?" * len(arguments))), arguments)
            [(self._path,)] = driver.rows("SELECT path FROM temp.prof_runs(?)", [self._label])
            _make_methods(driver)
            if check:
                self._warn(driver, stacklevel + 1)
        except BaseException:
            driver.raw.close()
            raise
        self._driver = driver

    def _warn(self, driver: Driver, stacklevel: int) -> None:
        """The pages of XProf that have no steps are no damage."""
        issues = driver.rows(
            "SELECT coalesce(path, ?1), message FROM temp.prof_issues(?1) "
            "WHERE severity IN ('error', 'warning') AND code <> 'xprof_steps'", [self._label])
        for path, message in issues[:_SHOWN_WARNINGS]:
            warnings.warn("%s: %s" % (path, message), ProfileWarning, stacklevel + 1)
        if len(issues) > _SHOWN_WARNINGS:
            warnings.warn("%s: %d more issues: see run.prof_issues()" % (
                self._path, len(issues) - _SHOWN_WARNINGS), ProfileWarning, stacklevel + 1)

    def close(self) -> None:
        """Closes the run. Results that were not read can no longer be."""
        if self._driver is not None:
            self._driver.close()
        self._driver, self._closed = None, True

    def __enter__(self) -> Run:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def _opened(self) -> Driver:
        if self._driver is None:
            raise Error(RUN_IS_CLOSED if self._closed else
                        "the run is being recorded; query it after the with block")
        return self._driver

    def __reduce__(self) -> Any:
        raise TypeError("a run cannot be pickled or copied: open it where it is needed, with "
                        "profsql.open(%r)" % self._path)

    # ---- what it is ----

    @property
    def path(self) -> str:
        """Run folder or file that was read; the newest run of a log dir."""
        return self._path

    @property
    def label(self) -> str:
        """Name of the run: column `run` of its tables, and its name as a source in SQL."""
        return self._label

    @property
    def connection(self) -> Any:
        """Connection of sqlite3 (or APSW) in which the run is attached."""
        return self._opened().raw

    @property
    def plot(self) -> plot.Plot:
        """Charts of the run: `run.plot.steps()` in a notebook, `.save("steps.svg")` elsewhere."""
        return plot.Plot(self._opened, self._label)

    # ---- queries ----

    def sql(self, query: str, parameters: Any = (), **named: Any) -> Result[Any]:
        """The answer to an SQL query. Tables that are given no source read this run.

        Values for `?` are a sequence, those for `:name` a mapping or keyword arguments.
        """
        driver = self._opened()
        if named:
            parameters = {**dict(parameters), **named}

        def describe(column: str) -> catalog.Column:
            assert _catalog is not None
            return catalog.Column(column, _catalog.type_of(column, query), None, "")

        def why_empty() -> List[str]:
            words = set(re.findall(r"\w+", query))
            return [reason for name, reason in self._reasons(self._label)
                    if name in words]

        return Result(lambda: driver.execute(query, parameters), None, describe, why_empty, "Row",
                      lambda: stream.of_query(driver, query, parameters))

    def arrow_events(self, columns: str | Sequence[str] = _EVENT_COLUMNS, *,
                     plane: str | None = None, line: str | None = None, name: str | None = None,
                     between_ps: Tuple[int, int] | None = None) -> stream.Events:
        """Events for DuckDB, Polars, pyarrow and other readers of Arrow.

        columns: one or several of trace_events. Those that are no stats are read on all
        processors, without SQL.
        plane, line, name: only events with this value.
        between_ps: only events that overlap this time, both ends included.
        """
        columns = [columns] if isinstance(columns, str) else columns
        return stream.Events(self._opened, self._label, columns, plane, line, name, between_ps)

    def _query(self, table: catalog.Table, arguments: Dict[str, Any]) -> Result[Any]:
        driver = self._opened()
        given, values = [], []
        for parameter in table.parameters:
            value = catalog.argument(arguments.get(parameter.name))
            if value is None and parameter.is_own_run:
                value = self._label
            if value is not None:
                given.append(parameter)
                values.append(value)
        query = 'SELECT * FROM temp."%s"' % table.name
        if given:
            query += " WHERE " + " AND ".join('"%s" = ?' % p.name for p in given)

        def why_empty() -> List[str]:
            sources = [value for parameter, value in zip(given, values) if parameter.is_run]
            return [reason for source in sources for name, reason in self._reasons(source)
                    if name == table.name][:1]

        return Result(lambda: driver.execute(query, values), table.columns, lambda _: _unknown,
                      why_empty, table.row_name,
                      lambda: stream.of_query(driver, query, values))

    def _reasons(self, source: str) -> List[Tuple[str, str]]:
        """Tables that had no rows, and why."""
        rows = self._opened().rows("SELECT DISTINCT message FROM temp.prof_issues(?) "
                                   "WHERE code = 'nothing_to_show'", [source])
        return [(message.split(" ")[0], message) for message, in rows]

    # ---- how it is shown ----

    def __repr__(self) -> str:
        if self._driver is None:
            return "<profsql.Run: %s>" % ("closed" if self._closed else "being recorded")
        return "<profsql.Run %r: %s>" % (self._path, summary.facts(self._driver, self._label))

    def __str__(self) -> str:
        if self._driver is None:
            return repr(self)
        return summary.text(self._driver, self._label, self._path)

    def _repr_html_(self) -> str | None:
        if self._driver is None:
            return None
        return summary.html(self._driver, self._label, self._path)


_unknown = catalog.Column("", "", None, "")


def _make_methods(driver: Driver) -> None:
    global _catalog
    if _catalog is None:
        _catalog = catalog.Catalog(driver)
        catalog.add_methods(_catalog)


def open(path: Path, *, label: str | None = None, by_host: bool = False,
         check: bool = True) -> Run:
    """Opens a run: a profile (*.xplane.pb), a run folder, a log dir (its newest run), an HLO
    program or a folder of them.

    label: the name of the run in the column `run`; default: the name of its folder or file.
    by_host: keeps the events of only one host at a time in memory, for runs of many hosts.
    check: warns of damaged files, for which the stats of all events are read once.
    """
    run = Run()
    run._open(path, label, by_host, check, stacklevel=2)
    return run


def find(folder: Path) -> Result[Any]:
    """The runs in a folder and below it: path, name, host_count, size_bytes, ..."""
    driver = Driver(connect())
    _make_methods(driver)
    assert _catalog is not None
    table = _catalog.tables["prof_find"]
    return Result(lambda: driver.execute("SELECT * FROM temp.prof_find(?)",
                                         [catalog.argument(folder)]),
                  table.columns, lambda _: _unknown,
                  lambda: ["no *.xplane.pb and no HLO program in %s or below; give the log dir "
                           "that the profiler wrote to" % os.fsdecode(folder)], table.row_name,
                  lambda: stream.of_query(driver, "SELECT * FROM temp.prof_find(?)",
                                          [catalog.argument(folder)]))
