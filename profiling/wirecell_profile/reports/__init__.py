"""The reports of `wirecell-profile stats`: nsys's by their names and meanings, a family per module.

A module lists its reports in REPORTS; all modules of this folder are found by themselves. Where a file lacks what a report
needs, the report raises MissingData and never shows a zero. Definitions: shared/docs/profiling.md 2.2.
"""

from __future__ import annotations

import difflib
import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass

from ..errors import UsageError
from ..model.selection import Scope
from ..output import Result


@dataclass(frozen=True)
class Report:
    """One report. `run(scope, options)` makes it; `options` are those of its `options` that were asked for."""

    name: str
    about: str
    run: Callable[[Scope, frozenset[str]], Result]
    aliases: tuple[str, ...] = ()  # names it had in earlier versions of nsys
    options: tuple[str, ...] = ()


def all_reports() -> dict[str, Report]:
    """name -> report, in order of the names."""
    modules = (
        importlib.import_module(f"{__name__}.{module.name}") for module in pkgutil.iter_modules(__path__)
    )
    found = [report for module in modules for report in getattr(module, "REPORTS", ())]
    return {report.name: report for report in sorted(found, key=lambda report: report.name)}


def find(text: str) -> tuple[Report, frozenset[str]]:
    """The report and options that 'name:option:option' stands for. UsageError for an unknown one."""
    reports = all_reports()
    names = reports | {alias: report for report in reports.values() for alias in report.aliases}
    name, *options = text.split(":")
    if name not in names:
        near = difflib.get_close_matches(name, names, n=3)
        raise UsageError(
            "there is no such report",
            "--report",
            name,
            hint=f"nearest: {', '.join(near)}" if near else "--list shows all",
        )
    report = names[name]
    for option in options:
        if option not in report.options:
            known = ", ".join(report.options) or "no options"
            raise UsageError(f"report {report.name} has no such option", "--report", text, known)
    return report, frozenset(options)
