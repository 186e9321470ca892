# SPDX-License-Identifier: Apache-2.0
"""Reports of `wirecell-profile stats`, with nsys's names and definitions, one family per module.

Modules of this folder are discovered automatically. They register functions with @report, or variations of one
function with add(). A report raises MissingData if the file lacks its data; it never shows a zero instead.
Definitions: docs/profiling-reports.md.
"""

from __future__ import annotations

import difflib
import importlib
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from ..errors import UsageError
from ..model.grouping import Groups, by_total, percent, summarise
from ..model.identity import pid_of, tid_of
from ..model.profile import Profile
from ..model.selection import Scope
from ..model.table import NULL, Labels
from ..output import Result, columns

TIMES = "Avg (ns), Med (ns), Min (ns), Max (ns), StdDev (ns)"

Run = Callable[[Scope, frozenset[str]], Result]
Cells = np.ndarray | Labels | list  # a column of a list of events


@dataclass(frozen=True)
class Report:
    """A report. `run(scope, options)` makes it with the requested ones of its `options`."""

    name: str
    about: str
    run: Run
    aliases: tuple[str, ...] = ()  # names in earlier versions of nsys
    options: tuple[str, ...] = ()  # "name=" for an option with an integer


_registered: dict[str, Report] = {}


def add(name: str, about: str, run: Run, aliases: str = "", options: tuple[str, ...] = ()) -> None:
    """Register a report. `aliases`: its names in earlier versions of nsys, separated by blanks."""
    _registered[name] = Report(name, about, run, tuple(aliases.split()), options)


def report(about: str, aliases: str = "", options: tuple[str, ...] = ()) -> Callable[[Run], Run]:
    """Register the decorated function as the report of its name."""

    def decorate(run: Run) -> Run:
        add(run.__name__, about, run, aliases, options)
        return run

    return decorate


def sum_of_times(
    durations: np.ndarray,
    groups: Groups,
    count: str,
    keys: Mapping[str, Callable[[int], str]],
    *ties: np.ndarray,
) -> Result:
    """Summarise durations by group, the largest total first, groups with equal totals by the columns `ties`.

    `count`: head of the counts. `keys`: heads of the last columns, with the functions from a row to their cells.
    """
    summary = summarise(durations, groups.of_row, len(groups))
    whole = int(summary.total.sum())
    rows = [
        (percent(total, whole), total, int(summary.count[i]), *summary.cells(i), *cells)
        for i in by_total(summary, groups, *ties)
        for total in [int(summary.total[i])]
        for cells in [[text(groups.first[i]) for text in keys.values()]]
    ]
    return Result(columns("Time (%), Total Time (ns)", count, TIMES, *keys), rows)


def list_of(order: np.ndarray, cells: Mapping[str, Cells]) -> Result:
    """Return one row per event, in an order of their indices, with columns given by their heads."""
    return Result(columns(*cells), list(zip(*(listed(column, order) for column in cells.values()))))


def listed(column: Cells, rows: np.ndarray) -> list:
    """Return some rows of a column as a list, None for NULL and for rows without text."""
    if isinstance(column, list):
        return [column[row] for row in rows.tolist()]
    chosen = column.take(rows) if isinstance(column, Labels) else column[rows]
    if isinstance(chosen, Labels):
        return [None if code < 0 else chosen.names[code] for code in chosen.codes.tolist()]
    values = chosen.tolist()
    if chosen.dtype == np.int64 and (chosen == NULL).any():
        return [None if value == NULL else value for value in values]
    return values


def threads_of(profile: Profile, thread: np.ndarray) -> dict[str, Cells]:
    """Return the columns of process, thread, and the thread's priority and name."""
    return {
        "Pid": pid_of(thread),
        "Tid": tid_of(thread),
        "T-Pri": [*map(profile.thread_priorities.get, thread.tolist())],
        "Thread Name": [*map(profile.thread_names.get, thread.tolist())],
    }


def option_value(options: frozenset[str], name: str, default: int) -> int:
    """Return N of the option 'name=N', the default without it."""
    return next(
        (int(option.partition("=")[2]) for option in options if option.startswith(f"{name}=")), default
    )


def all_reports() -> dict[str, Report]:
    """Return name -> report, in order of the names."""
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")
    return dict(sorted(_registered.items()))


def find(text: str) -> tuple[Report, frozenset[str]]:
    """Parse 'name:option:option=value' to a report and its options. Raise UsageError for unknown ones."""
    reports = all_reports()
    names = reports | {alias: report for report in reports.values() for alias in report.aliases}
    name, *options = text.split(":")
    if name not in names:
        near = difflib.get_close_matches(name, names, n=3)
        raise UsageError(
            "no such report",
            "--report",
            name,
            hint=f"nearest: {', '.join(near)}" if near else "--list shows all",
        )
    report = names[name]
    for option in options:
        name, given, value = option.partition("=")
        if name + given not in report.options or (given and not value.isdecimal()):
            known = ", ".join(report.options) or "no options"
            raise UsageError(f"report {report.name} has no such option", "--report", text, known)
    return report, frozenset(options)
