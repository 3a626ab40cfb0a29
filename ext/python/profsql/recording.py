# SPDX-License-Identifier: Apache-2.0
"""Recording a profile with the profiler of JAX or TensorFlow, and opening it."""

from __future__ import annotations

import contextlib
import os
import sys
import types
from typing import Any, Dict, Iterator, Set, Tuple

from .driver import Error
from .run import Path, Run, find


def _imports(scope: Dict[str, Any], framework: str) -> bool:
    """Whether a module has the framework, or a part of it (jax.numpy), as a variable."""
    return any(isinstance(value, types.ModuleType)
               and value.__name__.partition(".")[0] == framework for value in scope.values())


def _choose(scope: Dict[str, Any]) -> str | None:
    """The framework that the caller or the program imports. Keras imports JAX too, whose profiler
    does not record TensorFlow."""
    loaded = [name for name in ("jax", "tensorflow") if name in sys.modules]
    if len(loaded) < 2:
        return None
    scopes = [scope, vars(sys.modules["__main__"])]
    used = [name for name in loaded if any(_imports(each, name) for each in scopes)]
    if len(used) != 1:
        raise Error("JAX and TensorFlow are both imported, and the profiler of one does not record "
                    "the other: call trace(logdir, profiler='jax') or profiler='tensorflow'")
    return used[0]


def _profiler(name: str | None) -> Tuple[Any, Any]:
    """How to start and to stop the profiler of the framework, or of the only one imported."""
    jax = sys.modules.get("jax")
    tensorflow = sys.modules.get("tensorflow")
    if name not in (None, "jax", "tensorflow"):
        raise ValueError("profiler cannot be %r: it is 'jax' or 'tensorflow'" % (name,))
    if jax is not None and name != "tensorflow":
        return jax.profiler.start_trace, jax.profiler.stop_trace
    if tensorflow is not None and name != "jax":
        return tensorflow.profiler.experimental.start, tensorflow.profiler.experimental.stop
    raise Error("trace() records with the profiler of JAX or TensorFlow; import %s first"
                % (name or "one of them"))


def _runs(folder: str) -> Set[Tuple[Any, ...]]:
    if not os.path.isdir(folder):
        return set()
    return {(run.path, run.size_bytes, run.modified_unix_ns) for run in find(folder)}


def trace(logdir: Path, *, profiler: str | None = None) -> contextlib.AbstractContextManager[Run]:
    """Records what runs in the with block, and opens the profile at its end:

        with profsql.trace("logs") as run:
            train_step(state, batch)
        run.top_ops()

    profiler: 'jax' or 'tensorflow'; default: the one that the caller or the program imports.
    If the block fails, the profile is written and opened all the same.
    """
    return _trace(logdir, profiler or _choose(sys._getframe(1).f_globals))


@contextlib.contextmanager
def _trace(logdir: Path, profiler: str | None) -> Iterator[Run]:
    folder = os.path.expanduser(os.fspath(logdir))
    start, stop = _profiler(profiler)
    before = _runs(folder)
    run = Run()
    start(folder)
    try:
        yield run
    except BaseException:
        with contextlib.suppress(Exception):
            stop()
            _open_new(run, folder, before)
        raise
    stop()
    _open_new(run, folder, before)


def _open_new(run: Run, folder: str, before: Set[Tuple[Any, ...]]) -> None:
    new = sorted(path for path, _, _ in _runs(folder) - before)
    if not new:
        raise Error("%s: the profiler wrote no profile; its messages may say why" % folder)
    run._open(new[-1], None, by_host=False, check=True, stacklevel=4)
