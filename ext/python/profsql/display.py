# SPDX-License-Identifier: Apache-2.0
"""How a result is shown in a terminal and in a notebook."""

from __future__ import annotations

import html as escape
import shutil
import textwrap
from typing import Any, Callable, List, Sequence

from .catalog import Column

TEXT_ROWS = 10
HTML_ROWS = 20
_CELL_WIDTH = 40
_SHORTENED = {"kernel_name", "kernel", "operation", "name"}
_HTML_CELL_WIDTH = 80
_WIDTH = 100  # if the output is not a terminal

WhyEmpty = Callable[[], "str | None"]


def _cell(value: Any, width: int) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return "%.6g" % value if abs(value) < 1e6 else "%.1f" % value
    text = "%d bytes" % len(value) if isinstance(value, bytes) else str(value)
    text = " ".join(text.split())
    return text if len(text) <= width else text[: width - 3] + "..."


def _no_rows(why_empty: WhyEmpty) -> str:
    return why_empty() or "no rows"


def text(columns: List[Column], rows: Sequence[Sequence[Any]], why_empty: WhyEmpty) -> str:
    """The first rows, and as many columns as fit in the terminal. Columns without a value, the run
    if it is one, and names that short_name shortens are left out first."""
    if not rows:
        return _no_rows(why_empty)
    left = shutil.get_terminal_size((_WIDTH, 24)).columns
    shown: List[List[str]] = []
    hidden: List[str] = []
    has_short = any(column.name == "short_name" for column in columns)
    for i, column in enumerate(columns):
        values = [row[i] for row in rows[:TEXT_ROWS]]
        cells = [column.name] + [_cell(value, _CELL_WIDTH) for value in values]
        width = max(map(len, cells))
        dull = set(values) == {None} or (column.name == "run" and len(set(values)) == 1)
        dull = dull or (has_short and column.name in _SHORTENED)
        if (dull and len(columns) > 1) or (shown and width > left):
            hidden.append(column.name)
            continue
        left -= width + 2
        number = all(isinstance(value, (int, float, type(None))) for value in values)
        shown.append(["-" * width if k == 1 else cell.rjust(width) if number else
                      cell.ljust(width) for k, cell in enumerate([cells[0], ""] + cells[1:])])
    answer = ["  ".join(line).rstrip() for line in zip(*shown)]
    more = ["more rows"] if len(rows) > TEXT_ROWS else []
    if hidden:
        more.append("%d more column%s: %s" % (len(hidden), "s"[: len(hidden) != 1],
                                              ", ".join(hidden)))
    if more:
        answer += textwrap.wrap("... and " + " and ".join(more), _WIDTH)
    return "\n".join(answer)


def html(columns: List[Column], rows: Sequence[Sequence[Any]], why_empty: WhyEmpty) -> str:
    """The first rows with all columns; the documentation appears over a column's name."""
    if not rows:
        return "<p>%s</p>" % escape.escape(_no_rows(why_empty))
    head = "".join('<th title="%s">%s</th>' % (
        escape.escape(" ".join(filter(None, [c.description, c.unit and "[%s]" % c.unit]))),
        escape.escape(c.name)) for c in columns)
    body = "".join("<tr>%s</tr>" % "".join(map(_html_cell, row)) for row in rows[:HTML_ROWS])
    more = "<p>... and more rows</p>" if len(rows) > HTML_ROWS else ""
    return "<table><thead><tr>%s</tr></thead><tbody>%s</tbody></table>%s" % (head, body, more)


def _html_cell(value: Any) -> str:
    text = _cell(value, _HTML_CELL_WIDTH)
    title = ' title="%s"' % escape.escape(str(value)) if text.endswith("...") else ""
    align = "right" if isinstance(value, (int, float)) else "left"
    return '<td style="text-align:%s"%s>%s</td>' % (align, title, escape.escape(text))
