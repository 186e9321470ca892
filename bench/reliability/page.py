# SPDX-License-Identifier: Apache-2.0
"""The page of the results."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from scripts.output import Table, cell
from scripts.wcb.checkout import ROOT

from .rows import Row

if TYPE_CHECKING:
    from .command import Outcome, Result

MET, SHORT, PART, NOT_RUN = "met", "short", "in part", "not run"
HEAD = """# Reliability

Twenty targets, each with its figures, the command that runs its tests, date and commit.
Written by `./wcb reliability`; do not edit.
"""
EXPLANATION = f""""{MET}": all tests of the target passed.
"{SHORT}": a test failed, and the row says which.
"{PART}": all tests that ran passed, and the row says what did not run or has no test.
"{NOT_RUN}": the row says why.
A figure is the largest of all cases that noted it.
Times of a machine that others use are upper limits.
RMS is that of the expected values; in some tests of the samples in ROIs (regions of interest), which are fewer and larger.
"""


def figures_of(tests: Sequence[Outcome]) -> str:
    """Return the figures that the tests noted: of numbers the largest, of other values each."""
    found: dict[str, list[float | str]] = {}
    for test in tests:
        for name, values in test.figures.items():
            found.setdefault(name, []).extend(values)
    parts = []
    for name, values in found.items():
        numbers = [value for value in values if isinstance(value, float)]
        words = [f"{max(numbers):.3g}"] if numbers else []
        words += dict.fromkeys(value for value in values if isinstance(value, str))
        parts.append(f"{name} {', '.join(words)}")
    return "; ".join(parts)


def verdict(row: Row, tests: Sequence[Outcome]) -> tuple[str, str]:
    """Return the verdict and its reason."""
    failed = [f"{short(test.name)}: {reason}" for test in tests for reason in test.failed]
    skipped = Counter(reason for test in tests for reason in test.skipped)
    reasons = [*failed, *(f"{count} skipped: {reason}" for reason, count in skipped.items())]
    if failed:
        return SHORT, "; ".join(reasons)
    if not any(test.passed for test in tests):
        return NOT_RUN, "; ".join(reasons) or "no test"
    gap = "; ".join([*reasons, row.gap] if row.gap else reasons)
    return (PART, gap) if gap else (MET, "")


def short(name: str) -> str:
    """Return the name of a test without its folders."""
    return re.sub(r"^tests\.(\w+\.)*?(?=test_\w+\.)", "", name)


def command_of(row: Row) -> str:
    """Return the command that runs the tests of a row alone."""
    return f"./wcb reliability --only {row.name}"


def overview(rows: Sequence[Row], results: Mapping[str, Result]) -> Table:
    """Return the table of all rows."""
    lines = []
    for row in rows:
        result = results.get(row.name)
        line = [row.name, row.target, "", f"{NOT_RUN}: no result of this commit"]
        if result is not None:
            passed = sum(test.passed for test in result.tests)
            figures = "; ".join(filter(None, (f"{passed} cases passed", figures_of(result.tests))))
            line[2] = figures + (" (quick)" if result.is_quick else "")
            line[3] = ": ".join(filter(None, verdict(row, result.tests)))
        about = [result.date[:10], result.commit] if result else ["", ""]
        lines.append([*map(clean, line), f"`{command_of(row)}`", *about])
    return Table("Targets", ["", "target", "figures", "verdict", "command", "date", "commit"], lines, words=7)


def clean(text: str) -> str:
    """Return text for a cell without the folders of this machine."""
    return cell(re.sub(rf"{re.escape(str(ROOT))}/|/tmp/\S*/", "", text))


def section(row: Row, result: Result | None) -> str:
    """Return the details of a row."""
    parts = [f"## {row.name}: {row.title}\n"]
    about = [row.note] if row.note else []
    if result is not None:
        seconds = sum(test.seconds for test in result.tests)
        about.append(f"{seconds:.0f} s on {result.machine}, while {result.load}.")
    if about:
        parts.append("\n".join(about) + "\n")
    if result is not None:
        lines = [
            [short(test.name), str(test.passed), f"{test.seconds:.1f}", clean(figures_of([test]))]
            for test in result.tests
        ]
        heads = ["test", "cases passed", "time [s]", "figures"]
        parts.append(Table(row.title, heads, lines).markdown() + "\n")
    return "\n".join(parts)


def page(rows: Sequence[Row], results: Mapping[str, Result]) -> str:
    """Return the page."""
    verdicts = Counter(
        verdict(row, results[row.name].tests)[0] if row.name in results else NOT_RUN for row in rows
    )
    summary = ", ".join(
        f"{count} {name}" for name in (MET, SHORT, PART, NOT_RUN) if (count := verdicts[name])
    )
    programs = sorted({f"`{result.program}`" for result in results.values()})
    parts = [
        HEAD,
        f"Program: {', '.join(programs) or 'none'}.\nOf {len(rows)} rows: {summary}.\n",
        EXPLANATION,
        overview(rows, results).markdown() + "\n",
        *(section(row, results.get(row.name)) for row in rows),
    ]
    return "\n".join(parts)
