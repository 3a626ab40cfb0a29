# SPDX-License-Identifier: Apache-2.0
"""Data frames of rows. A column has the type that its table declares, also if all its values are
NULL. If there is none, or a value is of another type, the values decide."""

from __future__ import annotations

import importlib
from typing import Any, Callable, FrozenSet, Iterable, List, Sequence, Tuple

from .catalog import Column

# What a column can be. MIXED has values of several types.
NULL, INT, FLOAT, STR, BYTES, MIXED = "null", "int", "float", "str", "bytes", "mixed"
_DECLARED = {"INTEGER": INT, "REAL": FLOAT, "TEXT": STR, "BLOB": BYTES}
_SINGLE = {frozenset([int]): INT, frozenset([float]): FLOAT, frozenset([int, float]): FLOAT,
           frozenset([str]): STR, frozenset([bytes]): BYTES}


def kind_of(found: FrozenSet[type], declared: str) -> str:
    """Kind of a column whose values, apart from NULL, have these types."""
    wanted = _DECLARED.get(declared, NULL)
    if not found or (wanted == FLOAT and found <= {int, float}):
        return wanted
    return _SINGLE.get(found, MIXED)


def _alike(kind: str, values: Sequence[Any]) -> Sequence[Any]:
    """Values as a column of one type can have them: mixed ones are text."""
    if kind == FLOAT:
        return [None if value is None else float(value) for value in values]
    if kind == MIXED:
        return [value if value is None or isinstance(value, str) else
                value.hex() if isinstance(value, bytes) else str(value) for value in values]
    return values


def _columns(columns: List[Column], chunks: Iterable[List[Any]],
             make: Callable[[str, Sequence[Any]], Any], values_of: Callable[[Any], List[Any]],
             ) -> List[Tuple[str, List[Any]]]:
    """Kind and pieces of each column. make(kind, values) makes a piece, values_of() is its
    inverse. A piece for each chunk of rows takes less memory than all rows at once."""
    pieces: List[List[Any]] = [[] for _ in columns]
    kinds: List[List[str]] = [[] for _ in columns]
    found: List[FrozenSet[type]] = [frozenset() for _ in columns]
    for rows in chunks:
        for i, values in enumerate(zip(*rows)):
            types = frozenset(map(type, values)) - {type(None)}
            found[i] |= types
            kinds[i].append(kind_of(types, columns[i].type))
            pieces[i].append(make(kinds[i][-1], values))
    answer = []
    for i, column in enumerate(columns):
        kind = kind_of(found[i], column.type)
        answer.append((kind, [
            piece if kinds[i][k] == kind else make(kind, values_of(piece))
            for k, piece in enumerate(pieces[i])] or [make(kind, [])]))
    return answer


def _needs(module: str, method: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError:
        raise ImportError(".%s() needs %s: pip install %s" % (method, module, module)) from None


def _unique(names: List[str]) -> List[str]:
    """Names of columns without repetition: the second `x` is `x_2`."""
    seen: set[str] = set()
    for i, name in enumerate(names):
        number = 1
        while name in seen:
            number += 1
            name = "%s_%d" % (names[i], number)
        seen.add(name)
        names[i] = name
    return names


def pandas_frame(columns: List[Column], chunks: Iterable[List[Any]]) -> Any:
    pd = _needs("pandas", "df")
    text = "str" if int(pd.__version__.split(".")[0]) >= 3 else object
    types = {INT: "Int64", FLOAT: "float64", STR: text}

    def join(kind: str, pieces: List[Any]) -> Any:
        whole = pieces[0] if len(pieces) == 1 else pd.concat(pieces, ignore_index=True)
        return whole.astype("int64") if kind == INT and not whole.hasnans else whole

    made = _columns(columns, chunks,
                    lambda kind, values: pd.Series(values, dtype=types.get(kind, object)),
                    lambda piece: [None if value is pd.NA else value for value in piece])
    series = [join(kind, pieces) for kind, pieces in made]
    frame = pd.concat(series, axis=1) if series else pd.DataFrame()
    frame.columns = [column.name for column in columns]
    return frame


def polars_frame(columns: List[Column], chunks: Iterable[List[Any]]) -> Any:
    pl = _needs("polars", "pl")
    types = {NULL: pl.Null, INT: pl.Int64, FLOAT: pl.Float64, STR: pl.String, BYTES: pl.Binary,
             MIXED: pl.String}
    made = _columns(columns, chunks,
                    lambda kind, values: pl.Series("", _alike(kind, values), dtype=types[kind]),
                    lambda piece: piece.to_list())
    names = _unique([column.name for column in columns])
    return pl.DataFrame([pl.concat(pieces).alias(name) for name, (_, pieces) in zip(names, made)])


def arrow_table(columns: List[Column], chunks: Iterable[List[Any]]) -> Any:
    pa = _needs("pyarrow", "arrow")
    types = {NULL: pa.null(), INT: pa.int64(), FLOAT: pa.float64(), STR: pa.string(),
             BYTES: pa.binary(), MIXED: pa.string()}
    made = _columns(columns, chunks,
                    lambda kind, values: pa.array(_alike(kind, values), type=types[kind]),
                    lambda piece: piece.to_pylist())
    arrays = [pa.chunked_array(pieces, type=types[kind]) for kind, pieces in made]
    return pa.Table.from_arrays(arrays, names=[column.name for column in columns])
