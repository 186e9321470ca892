# SPDX-License-Identifier: Apache-2.0
"""No function of the product in C++ has more than 60 lines, from its first line to its closing brace."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MAX_LINES = 60
FOLDERS = ("spng", "adapters", "profiling", "python", "bench")
# clang-format puts the closing brace below the first character of the definition.
OPENING = re.compile(
    r"^( *)(?!namespace\b|class\b|struct\b|enum\b|union\b|extern\b|\}|//|#)\S.*[^=,(\s] ?\{$"
)


def functions(path: Path) -> Iterator[tuple[int, int]]:
    """Give the line and the length of definitions: a block with a parenthesis in its head, at the depth of files and classes."""
    lines = path.read_text(encoding="utf-8").splitlines()
    for index, line in enumerate(lines):
        opening = OPENING.match(line)
        if not opening or len(opening[1]) > 4:
            continue
        end = next((i for i in range(index, len(lines)) if re.match(rf"^{opening[1]}\}}", lines[i])), index)
        head = index
        while head > 0 and re.match(r"^ +\S", lines[head]) and "(" not in lines[head]:
            head -= 1
        if "(" in "".join(lines[head : index + 1]):
            yield index + 1, end - head + 1


def test_functions_are_short() -> None:
    files = [
        path
        for folder in FOLDERS
        for path in (ROOT / folder).rglob("*.[ch]*")
        if path.suffix in {".cxx", ".h"}
    ]
    found = [
        (path.relative_to(ROOT), line, size)
        for path in files
        if "tests" not in path.parts
        for line, size in functions(path)
    ]
    assert len(found) > 3000, "definitions are recognised"
    assert not [entry for entry in found if entry[2] > MAX_LINES]
