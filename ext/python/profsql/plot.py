# SPDX-License-Identifier: Apache-2.0
"""Charts of a run, as SVG that notebooks show."""

from __future__ import annotations

import os
from typing import Callable, Union

from .driver import Driver


_OTHER_PICTURES = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".pdf")


class Chart:
    """A chart: notebooks show it, `str(chart)` is its SVG."""

    def __init__(self, svg: str) -> None:
        self._svg = svg

    def __str__(self) -> str:
        return self._svg

    def __repr__(self) -> str:
        return "<profsql.Chart: %d bytes of SVG>" % len(self._svg)

    def _repr_svg_(self) -> str:
        return self._svg

    def save(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Writes the SVG to a file."""
        suffix = os.path.splitext(os.fspath(path))[1].lower()
        if suffix in _OTHER_PICTURES:
            raise ValueError("%s: a chart is SVG: name it FILE.svg; browsers and Inkscape save it "
                             "as %s" % (os.fspath(path), suffix[1:].upper()))
        with open(path, "w", encoding="utf-8") as f:
            f.write(self._svg)


class Plot:
    """The charts of a run. Each is None if the run has nothing to draw."""

    def __init__(self, opened: Callable[[], Driver], label: str) -> None:
        self._opened, self._label = opened, label

    def _chart(self, function: str) -> Chart | None:
        [(svg,)] = self._opened().rows("SELECT %s(?)" % function, [self._label])
        return None if svg is None else Chart(svg)

    def steps(self) -> Chart | None:
        """Time of each step, by activity."""
        return self._chart("step_time_chart")

    def roofline(self) -> Chart | None:
        """Rate of each HLO op over its intensity, below the roofs of the device."""
        return self._chart("roofline_chart")

    def memory(self) -> Chart | None:
        """Memory in use over time, by allocator."""
        return self._chart("memory_chart")

    def ops(self) -> Chart | None:
        """Treemap of the self time of ops."""
        return self._chart("op_treemap")
