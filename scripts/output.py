# SPDX-License-Identifier: Apache-2.0
"""Output of benchmarks and studies: tables of strings, parts of Markdown pages, and files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from wirecell_profile.output import aligned
from wirecell_profile.output_file import output_file

from scripts.wcb.checkout import ROOT, fail, say

HAND_WRITTEN = "\n---\n"  # a page keeps the part below this line


@dataclass(frozen=True)
class Table:
    """A table of strings. words: number of leading columns with words; the others have numbers."""

    title: str
    heads: list[str]
    rows: list[list[str]]
    words: int = 1

    def text(self) -> str:
        """Return the table in aligned columns."""
        return "\n".join(
            aligned([self.heads, *self.rows], [index >= self.words for index in range(len(self.heads))])
        )

    def markdown(self) -> str:
        """Return the table as Markdown."""
        rule = ["---"] * self.words + ["---:"] * (len(self.heads) - self.words)
        return "\n".join(
            f"| {' | '.join(word.strip() for word in line)} |" for line in [self.heads, rule, *self.rows]
        )


def cell(text: str) -> str:
    """Return text that does not break a row of Markdown."""
    return text.replace("|", "\\|").replace("\n", " ").replace("<", "\\<")


def page_path(given: Path) -> Path:
    """Return the path of a page that an option names: relative to the checkout."""
    return given if given.is_absolute() else ROOT / given


def hand_written(path: Path) -> str:
    """Return the part of a page that people wrote, with the line before it; empty if there is none."""
    old = path.read_text(encoding="utf-8") if path.exists() else ""
    _, line, below = old.partition(HAND_WRITTEN)
    return line + below


def write(path: Path, text: str) -> None:
    """Write a file completely or not at all and print its path; make its folder if needed. End with a message on failure."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with output_file(path) as partial:
            partial.write_text(text, encoding="utf-8")
    except OSError as problem:
        fail(f"cannot write {path}: {problem.strerror or problem}", 1)
    say(f"Written: {path}")
