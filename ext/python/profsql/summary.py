# SPDX-License-Identifier: Apache-2.0
"""One screen about a run: what took the time, how well it did, and what to do about it."""

from __future__ import annotations

import html as escape
import textwrap
from typing import Any, List, Sequence, Tuple

from .driver import Driver

_WIDTH = 100
_OPS = 6
_ADVICE = 5


def facts(driver: Driver, label: str) -> str:
    """Devices, hosts, events and time of a run."""
    [(device, devices, hosts, events, seconds, others)] = driver.rows(
        "SELECT device_type, device_count, host_count, event_count, duration_ps / 1e12, "
        "other_runs FROM temp.prof_runs(?)", [label])
    parts = ["%d %s" % (devices, device) if devices else device,
             "%d host%s" % (hosts, "" if hosts == 1 else "s"), "%d events" % events,
             "%.3g s" % seconds if seconds is not None else None,
             "the newest of %d runs" % (others + 1) if others else None]
    return ", ".join(filter(None, parts))


def _ops(driver: Driver, label: str) -> List[Tuple[Any, ...]]:
    return driver.rows("SELECT self_time_percent, self_time_us / 1e3, occurrences, short_name "
                       "FROM temp.top_ops(?, ?) ORDER BY rank", [label, _OPS])


def _indicators(driver: Driver, label: str) -> List[Tuple[str, str]]:
    cursor = driver.execute("SELECT * FROM temp.kpi(?)", [label])
    return [(name, "%.4g" % value if isinstance(value, float) else str(value))
            for row in cursor.fetch(1) for name, value in zip(cursor.columns, row)
            if value is not None and name != "run"]


def _advice(driver: Driver, label: str) -> List[str]:
    rows = driver.rows(
        "SELECT finding || coalesce(' (' || evidence || ')', '') || ' ' || action "
        "FROM temp.advice(?) WHERE status = 'finding' ORDER BY rank LIMIT ?", [label, _ADVICE])
    return [statement for statement, in rows]


def text(driver: Driver, label: str, path: str) -> str:
    lines = [path, facts(driver, label)]
    ops = _ops(driver, label)
    if ops:
        lines += ["", "What took the time"]
    for percent, ms, occurrences, operation in ops:
        line = "  %5.1f %% %11.3f ms %9d x  %s" % (percent or 0, ms, occurrences, operation)
        lines.append(line if len(line) <= _WIDTH else line[: _WIDTH - 3] + "...")
    indicators = _indicators(driver, label)
    if indicators:
        lines += ["", "How well it did"]
    lines += ["  %-30s %s" % pair for pair in indicators]
    advice = _advice(driver, label)
    if advice:
        lines += ["", "What to do about it"]
    for statement in advice:
        lines += textwrap.wrap(statement, _WIDTH, initial_indent="- ", subsequent_indent="  ")
    return "\n".join(lines)


def html(driver: Driver, label: str, path: str) -> str:
    def rows(cells: Sequence[Tuple[str, ...]]) -> str:
        return "<table>%s</table>" % "".join("<tr>%s</tr>" % "".join(
            '<td style="text-align:left">%s</td>' % escape.escape(cell) for cell in row)
            for row in cells)

    parts = ["<p><b>%s</b><br>%s</p>" % (escape.escape(path), escape.escape(facts(driver, label)))]
    ops = [("%.1f %%" % (percent or 0), "%.3f ms" % ms, "%d x" % occurrences, operation[:80])
           for percent, ms, occurrences, operation in _ops(driver, label)]
    if ops:
        parts += ["<h4>What took the time</h4>", rows(ops)]
    indicators = _indicators(driver, label)
    if indicators:
        parts += ["<h4>How well it did</h4>", rows(indicators)]
    advice = _advice(driver, label)
    if advice:
        parts.append("<h4>What to do about it</h4><ul>%s</ul>" % "".join(
            "<li>%s</li>" % escape.escape(statement) for statement in advice))
    return "".join(parts)
