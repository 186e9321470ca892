# SPDX-License-Identifier: Apache-2.0
"""The page of the results."""

from __future__ import annotations

import re
from collections.abc import Sequence

from scripts.output import Table
from scripts.wcb.checkout import ROOT

from .row import Row, Verdict
from .store import Result

FOLDERS = "wcb-reliability-"  # of the files of a row, while it is measured
HEAD = """# Reliability

Twenty targets, each with its figure, the command that measures it, date and commit.
Written by `./wcb reliability`; do not edit.
"""
EXPLANATION = """"met": the figure is within the bar.
"short": it is not, and the row says by how much.
"in part": what was measured is within the bar, and the row says what was not.
"not run": the row says why.
Times of a machine that others use are upper limits; processor time is that of all threads and processes of the row.
RMS is that of the expected values; in some rows of the samples in ROIs (regions of interest), which are fewer and larger.
"""


def cell(text: str) -> str:
    """Return text for a cell of a table of Markdown, without the folders of this machine."""
    relative = re.sub(rf"{re.escape(str(ROOT))}/|/\S*/{FOLDERS}\w+/", "", text)
    return relative.replace("|", "\\|").replace("\n", " ")


def missing(row: Row, stored: Result | None, commit: str) -> Result:
    """Return the result of a row that was not run at this commit."""
    reason = "not run: ./wcb reliability was called for other rows"
    if stored is not None:
        reason = f"not run at commit {commit}: the stored figure is of {stored.commit}"
    return Result(
        row=row.name,
        figure="",
        verdict=Verdict.NOT_RUN.value,
        gap=reason,
        note="",
        command=command_of(row),
        date="",
        commit="",
        program="",
        machine="",
        load="",
        processor_s=0.0,
        wall_s=0.0,
        is_quick=False,
    )


def command_of(row: Row) -> str:
    """Return the command that reproduces a row alone."""
    return row.command or f"./wcb reliability --only {row.name}"


def chosen(
    rows: Sequence[Row], stored: dict[str, Result], new: set[str], commit: str, keep: bool
) -> list[Result]:
    """Return a result for each row: measured now, carried over from the same commit (keep: from any), or not run."""
    found = []
    for row in rows:
        result = stored.get(row.name)
        if result is None or not (row.name in new or keep or result.commit == commit):
            result = missing(row, result, commit)
        found.append(result)
    return found


def overview(rows: Sequence[Row], results: Sequence[Result]) -> Table:
    """Return the table of all rows."""
    lines = []
    for row, result in zip(rows, results, strict=True):
        has_verdict = result.gap.startswith(result.verdict)
        verdict = result.gap if has_verdict else result.verdict + (f": {result.gap}" if result.gap else "")
        quick = " (quick)" if result.is_quick else ""
        lines.append(
            [
                row.name,
                cell(row.target),
                cell(result.figure + quick if result.figure else ""),
                cell(verdict),
                f"`{result.command}`",
                result.date[:10],
                result.commit,
            ]
        )
    return Table("Targets", ["", "target", "figure", "verdict", "command", "date", "commit"], lines, words=7)


def section(row: Row, result: Result) -> str:
    """Return the details of a row."""
    parts = [f"## {row.name}: {row.title}"]
    about = [result.note] if result.note else []
    if result.processor_s:
        about.append(
            f"{result.processor_s:.0f} s of processor time in {result.wall_s:.0f} s on {result.machine}, while {result.load}."
        )
    parts += ["\n".join(about)] if about else []
    for table in result.tables:
        rows = [[cell(word) for word in line] for line in table.rows]
        parts.append(f"{table.title}:\n\n" + Table(table.title, table.heads, rows, table.words).markdown())
    return "\n\n".join(parts)


def page(rows: Sequence[Row], results: Sequence[Result]) -> str:
    """Return the page."""
    counts = {verdict: sum(result.verdict == verdict.value for result in results) for verdict in Verdict}
    summary = ", ".join(f"{count} {verdict.value}" for verdict, count in counts.items() if count)
    programs = sorted({f"`{result.program}`" for result in results if result.program})
    parts = [
        HEAD,
        f"Program: {', '.join(programs) or 'none'}.\nOf {len(rows)} rows: {summary}.\n",
        EXPLANATION,
        overview(rows, results).markdown() + "\n",
        *(section(row, result) + "\n" for row, result in zip(rows, results, strict=True)),
    ]
    return "\n".join(parts)
