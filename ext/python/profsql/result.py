# SPDX-License-Identifier: Apache-2.0
"""The answer to a query: rows, data frames, and how it is shown."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, Callable, Dict, Generic, Iterator, List, TypeVar

from . import display, frames
from .catalog import Column, row_type
from .driver import Cursor

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

Row = TypeVar("Row")

# An answer of at most so many rows is kept, so that it is not computed again.
_KEPT_ROWS = 10000
_CHUNK_ROWS = 65536


class Result(Generic[Row]):
    """Rows of a table, a canned query or an SQL query.

    Iterating yields named tuples. The query is executed up to its first row when the result is
    made, and the other rows are read when they are needed: a result of any size can be iterated.
    """

    def __init__(self, execute: Callable[[], Cursor], columns: List[Column] | None,
                 describe: Callable[[str], Column], why_empty: Callable[[], List[str]],
                 name: str, capsule: Callable[[], Any]) -> None:
        self._execute = execute
        self._capsule = capsule
        self._cursor: Cursor | None = execute()
        self._kept: List[Any] = []
        self._complete = False
        self._why_empty = why_empty
        names = self._cursor.columns
        self._columns = columns or [describe(column) for column in names]
        self._row = row_type(name, names)

    @property
    def columns(self) -> List[str]:
        """Names of the columns."""
        return [column.name for column in self._columns]

    # ---- rows ----

    def _fill(self, n: int) -> List[Any]:
        """The first rows: n, or all if there are fewer; keeps them."""
        if not self._complete and self._cursor is None:
            self._cursor = self._execute()
        if self._cursor is not None and len(self._kept) < n:
            self._kept += self._cursor.fetch(n - len(self._kept))
            if len(self._kept) < n:
                self._cursor, self._complete = None, True
        return self._kept[:n]

    def _chunks(self) -> Iterator[List[Any]]:
        """All rows. Those of a large answer are not kept: it is executed again for the next
        reader."""
        yield self._fill(_KEPT_ROWS)
        if self._complete:
            return
        cursor, self._cursor, self._kept = self._cursor, None, []
        assert cursor is not None
        while rows := cursor.fetch(_CHUNK_ROWS):
            yield rows

    def __reduce__(self) -> Any:
        raise TypeError("a result cannot be pickled or copied: its rows can, list(result), and its "
                        "data frame, result.df()")

    def __iter__(self) -> Iterator[Row]:
        return map(self._row._make, itertools.chain.from_iterable(self._chunks()))

    def __bool__(self) -> bool:
        """Whether there is a row."""
        return bool(self._fill(1))

    def first(self) -> Row | None:
        """The first row; None if there is none."""
        rows = self._fill(1)
        return self._row._make(rows[0]) if rows else None

    def dicts(self) -> Iterator[Dict[str, Any]]:
        """The rows as dictionaries."""
        names = self.columns
        for rows in self._chunks():
            for row in rows:
                yield dict(zip(names, row))

    def why_empty(self) -> str | None:
        """Why there is no row, as prof_issues explains it; None if there are rows, or the reason
        is not known."""
        if self:
            return None
        return "; ".join(self._why_empty()) or None

    # ---- data frames ----

    def df(self) -> pandas.DataFrame:
        """A pandas data frame. INTEGER columns with NULLs have the type Int64."""
        return frames.pandas_frame(self._columns, self._chunks())

    def pl(self) -> polars.DataFrame:
        """A Polars data frame."""
        return frames.polars_frame(self._columns, self._chunks())

    def arrow(self) -> pyarrow.Table:
        """An Arrow table."""
        return frames.arrow_table(self._columns, self._chunks())

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """Arrow stream of the rows, executed anew: DuckDB, Polars, pyarrow and others read a
        result as it is."""
        return self._capsule()

    # ---- how it is shown ----

    def __repr__(self) -> str:
        rows = self._fill(display.TEXT_ROWS + 1)
        return display.text(self._columns, rows, self.why_empty)

    def _repr_html_(self) -> str:
        rows = self._fill(display.HTML_ROWS + 1)
        return display.html(self._columns, rows, self.why_empty)
