# SPDX-License-Identifier: Apache-2.0
"""The repository cites only what a clone contains: no specification files, and shared data in tests only."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SPECIFICATIONS = re.compile(r"\b(spng|design|models)\.md\b|shared/docs\b|\bprofiling\.md \d")
SHARED_DATA = re.compile(r"(?<![\w/])\.\./shared\b|(?<![\w/.])shared/data\b")
SECTION = re.compile(r"\bdocs/([\w/-]+\.md)#([\w-]+)")
USERS_OF_SHARED_DATA = ("tests/", "profiling/tests/")  # they skip where the data are absent
OWN = "tests/checks/test_citations.py"


def lines() -> list[tuple[str, int, str]]:
    """Return path, line number and text of every line of a tracked text file."""
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True)
    found = []
    for path in tracked.stdout.splitlines():
        if path == OWN or not (ROOT / path).is_file():
            continue
        try:
            text = (ROOT / path).read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        found += [(path, index, line) for index, line in enumerate(text.splitlines(), 1)]
    return found


def test_no_citation_of_specifications() -> None:
    """No file cites a specification: formulas and definitions are in docs/physics-notes.md and
    docs/profiling-reports.md.
    """
    assert not [f"{path}:{index}" for path, index, line in lines() if SPECIFICATIONS.search(line)]


def test_headings_exist_that_sources_name() -> None:
    """Headings that comments name as docs/NAME.md#heading exist."""
    missing = []
    for path, index, line in lines():
        for name, anchor in SECTION.findall(line):
            page = ROOT / "docs" / name
            headings = (
                re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
                if page.is_file()
                else []
            )
            if anchor not in {re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-") for text in headings}:
                missing.append(f"{path}:{index}: docs/{name}#{anchor}")
    assert not missing


def test_shared_data_in_tests_only() -> None:
    assert not [
        f"{path}:{index}"
        for path, index, line in lines()
        if SHARED_DATA.search(line) and not path.startswith(USERS_OF_SHARED_DATA)
    ]
