# SPDX-License-Identifier: Apache-2.0
"""Results for the pages of continuous integration: Markdown, and JUnit's XML."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from .output import Result, bodies, grouped
from .terminal import HIDDEN_IN_LINES, visible

NOT_IN_XML = HIDDEN_IN_LINES | {code: f"\\u{code:04x}" for code in (*range(0xD800, 0xE000), 0xFFFE, 0xFFFF)}
MEANS_SOMETHING = re.compile(r"([\\`*_{}\[\]<>&|~#])")  # in Markdown


@dataclass(frozen=True)
class Check:
    """A check of a report: failed or skipped for a reason, of which the first line is the message, or passed."""

    name: str
    failure: str = ""
    skipped: str = ""
    text: str = ""  # of a check that passed


def junit(suites: Sequence[tuple[str, str, Sequence[Check]]]) -> str:
    """Return JUnit's XML of suites (name, text, checks)."""
    root = Element("testsuites")
    for name, text, checks in suites:
        failed, skipped = (
            sum(bool(getattr(check, state)) for check in checks) for state in ("failure", "skipped")
        )
        counts = {"tests": len(checks), "failures": failed, "errors": 0, "skipped": skipped}
        suite = SubElement(
            root, "testsuite", {"name": name} | {key: str(count) for key, count in counts.items()}
        )
        for check in checks:
            case = SubElement(suite, "testcase", classname=name, name=check.name, time="0")
            if check.failure:
                SubElement(case, "failure", message=check.failure.split("\n")[0]).text = check.failure
            elif check.skipped:
                SubElement(case, "skipped", message=check.skipped.split("\n")[0])
            elif check.text:
                SubElement(case, "system-out").text = check.text
        if text:
            SubElement(suite, "system-out").text = text
    indent(root)
    body = tostring(root, encoding="unicode").translate(NOT_IN_XML)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{body}\n'


def markdown(text: str) -> str:
    """Return a text that Markdown shows as it is, on one line."""
    return MEANS_SOMETHING.sub(r"\\\1", visible(text))


def markdown_table(heads: Sequence[str], rows: Sequence[Sequence[str]], is_text: Sequence[bool]) -> str:
    """Return a table; columns that are no text are aligned to the right."""
    rule = ["---" if text else "---:" for text in is_text]
    lines = [[*map(markdown, heads)], rule, *([*map(markdown, row)] for row in rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def as_markdown(result: Result) -> str:
    """Return a result as a table with grouped digits."""
    heads = [column.name for column in result.columns]
    return markdown_table(heads, [*zip(*bodies(result, grouped))], result.text_columns())
