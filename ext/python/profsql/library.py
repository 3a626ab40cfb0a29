# SPDX-License-Identifier: Apache-2.0
"""The SQLite extension itself: where it is, its version, and how to load it into a connection."""

from __future__ import annotations

import os
import re
import sys
from importlib import metadata
from typing import Any, Mapping, Union

_PACKAGE = os.path.dirname(os.path.abspath(__file__))
_CHECKOUT = os.path.normpath(os.path.join(_PACKAGE, "..", "..", ".."))


def loadable_path() -> str:
    """Path of the extension, for `.load` of the sqlite3 shell and for other programs.

    It is part of the package. In a checkout it is what `make` built.
    """
    places = [os.path.join(_PACKAGE, "libprofsql.so"),
              os.path.join(_CHECKOUT, "build", "libprofsql.so")]
    for place in places:
        if os.path.exists(place):
            return place
    raise FileNotFoundError("libprofsql.so is neither in %s nor in %s; run `make` in the checkout"
                            % tuple(map(os.path.dirname, places)))


def version() -> str:
    """Version of the package, which is that of the extension."""
    header = os.path.join(_CHECKOUT, "ext", "prof.h")
    if os.path.exists(header):
        with open(header, encoding="utf-8") as file:
            found = re.search(r'PROFSQL_VERSION "(.*)"', file.read())
        if found:
            return found.group(1)
    return metadata.version("profsql")


_SERVING = "sqlite3_profsql_nofile_init"

Serve = Union[bool, str, "os.PathLike[str]", Mapping[str, str]]


def load(connection: Any, serve: Serve = False) -> None:
    """Loads the extension into a connection of sqlite3, APSW or SQLAlchemy.

    Its tables, canned queries and functions are available in this connection from then on.

    serve is for connections that run other people's SQL, which then opens no path. It reads
    - the runs {label: path},
    - or those in a folder and below it,
    - or with True those of the environment variables PROFSQL_RUNS and PROFSQL_ROOT.
    """
    raw = _driver_connection(connection)
    if hasattr(raw, "enable_load_extension"):
        enable = raw.enable_load_extension
    elif hasattr(raw, "enableloadextension"):
        enable = raw.enableloadextension
    elif hasattr(raw, "execute"):
        raise AttributeError(
            "the sqlite3 module of this Python cannot load extensions (it was built without "
            "--enable-loadable-sqlite-extensions); use profsql.connect(), which takes APSW then, "
            "or another Python")
    else:
        raise TypeError("not a connection of sqlite3, APSW or SQLAlchemy: %r" % (connection,))
    cursor = raw.cursor()
    enable(True)
    try:
        path, entry = loadable_path(), _SERVING if serve is True else None
        if hasattr(raw, "loadextension"):  # APSW
            raw.loadextension(path, entry)
        elif entry is None or sys.version_info >= (3, 12):
            raw.load_extension(path, **({} if entry is None else {"entrypoint": entry}))
        else:
            cursor.execute("SELECT load_extension(?, ?)", (path, entry)).fetchall()
    finally:
        enable(False)
    if serve is False or serve is True:
        return
    try:
        if isinstance(serve, Mapping):
            for label, path in serve.items():
                cursor.execute("SELECT prof_attach(?, ?)", (os.fspath(path), label)).fetchall()
        else:
            cursor.execute("SELECT prof_serve(?)", (os.fspath(serve),)).fetchall()
    finally:  # whoever goes on after an error has no other paths either
        cursor.execute("SELECT prof_serve()").fetchall()


def _driver_connection(connection: Any) -> Any:
    """Connection of the driver that a connection of SQLAlchemy or of its pool wraps."""
    for _ in range(3):
        inner = getattr(connection, "driver_connection", None)
        if inner is None and not hasattr(connection, "enable_load_extension"):
            inner = getattr(connection, "connection", None)
        if inner is None or inner is connection:
            break
        connection = inner
    return connection
