# SPDX-License-Identifier: Apache-2.0
"""Answers as Arrow streams, which the extension makes; see ext/profsql_arrow.h."""

from __future__ import annotations

import ctypes
import functools
import json
from typing import Any, Callable, Dict, Mapping, Sequence, Tuple

from . import library
from .driver import Driver, Error

_NAME = b"arrow_array_stream"


class _Stream(ctypes.Structure):
    """struct ArrowArrayStream."""

    _fields_ = [(name, ctypes.c_void_p) for name in
                ("get_schema", "get_next", "get_last_error", "release", "private_data")]


class _Options(ctypes.Structure):
    """ProfsqlArrowOptions."""

    _fields_ = [("columns", ctypes.POINTER(ctypes.c_char_p)), ("n_columns", ctypes.c_int),
                ("plane", ctypes.c_char_p), ("line", ctypes.c_char_p), ("name", ctypes.c_char_p),
                ("has_range", ctypes.c_int), ("from_ps", ctypes.c_int64),
                ("to_ps", ctypes.c_int64)]


@functools.lru_cache(None)
def _library() -> ctypes.CDLL:
    lib = ctypes.CDLL(library.loadable_path())
    pointer, text = ctypes.c_void_p, ctypes.c_char_p
    lib.profsql_connection.restype = pointer
    lib.profsql_connection.argtypes = [ctypes.c_int64]
    lib.profsql_arrow_query.argtypes = [pointer, text, text, pointer, pointer]
    lib.profsql_arrow_stream.argtypes = [pointer, text, text, pointer, pointer, pointer]
    return lib


# ---- capsules ----

_new_capsule = ctypes.pythonapi.PyCapsule_New
_new_capsule.restype = ctypes.py_object
_new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
_capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_capsule_pointer.restype = ctypes.c_void_p
_capsule_pointer.argtypes = [ctypes.c_void_p, ctypes.c_char_p]

# The streams that capsules point to, by address.
_held: Dict[int, _Stream] = {}


@ctypes.PYFUNCTYPE(None, ctypes.c_void_p)
def _end_capsule(capsule: int) -> None:
    """Whoever takes a stream out of its capsule leaves one without release."""
    address = _capsule_pointer(capsule, _NAME)
    stream = _held.pop(address)
    if stream.release:
        ctypes.CFUNCTYPE(None, ctypes.c_void_p)(stream.release)(address)


def _capsule(call: Callable[[ctypes.CDLL, int, Any], int], driver: Driver) -> Any:
    """A capsule of the stream that the call opens."""
    lib = _library()
    stream, message = _Stream(), ctypes.c_void_p()
    [(number,)] = driver.rows("SELECT prof_connection()")
    db = lib.profsql_connection(number)
    code = call(lib, db, (ctypes.byref(stream), ctypes.byref(message)))
    if code:
        text = ctypes.string_at(message.value).decode() if message.value else (
            "SQLite error %d" % code)
        if code == _SQLITE_INTERRUPT:
            raise KeyboardInterrupt
        raise driver.error(text)  # the message stays: SQLite's allocator is not ours to call
    address = ctypes.addressof(stream)
    _held[address] = stream
    return _new_capsule(address, _NAME, ctypes.cast(_end_capsule, ctypes.c_void_p))


_SQLITE_INTERRUPT = 9


def of_query(driver: Driver, sql: str, parameters: Any) -> Any:
    """Capsule of the rows of a query. Parameters are numbers, texts and None."""
    values: Any = dict(parameters) if isinstance(parameters, Mapping) else list(parameters)
    try:
        given = json.dumps(values).encode() if values else None
    except TypeError as error:
        raise Error("an Arrow stream takes numbers, texts and None as values for ? and :name: %s"
                    % error) from None
    return _capsule(lambda lib, db, out: int(lib.profsql_arrow_query(
        db, sql.encode(), given, *out)), driver)


class Events:
    """Events of a run for DuckDB, Polars, pyarrow and other readers of Arrow: they take it as it
    is, and each reads a stream of its own."""

    def __init__(self, driver: Callable[[], Driver], source: str, columns: Sequence[str],
                 plane: str | None, line: str | None, name: str | None,
                 between_ps: Tuple[int, int] | None) -> None:
        self._driver = driver
        self._source = source.encode()
        texts = (ctypes.c_char_p * len(columns))(*(column.encode() for column in columns))
        try:
            low, high = (0, 0) if between_ps is None else between_ps
        except (TypeError, ValueError):
            raise TypeError("between_ps is (from, to), in picoseconds, not %r"
                            % (between_ps,)) from None
        if low > high:
            raise ValueError("between_ps: %r is after %r" % (low, high))
        self._columns = ", ".join(columns)
        self._options = _Options(
            texts, len(columns),
            *(None if text is None else text.encode() for text in (plane, line, name)),
            between_ps is not None, low, high)

    def __repr__(self) -> str:
        return "<profsql.Events %r: %s; for pyarrow.table(), polars.DataFrame() or DuckDB>" % (
            self._source.decode(), self._columns)

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return _capsule(lambda lib, db, out: int(lib.profsql_arrow_stream(
            db, self._source, b"trace_events", ctypes.byref(self._options), *out)),
            self._driver())
