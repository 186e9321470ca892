# SPDX-License-Identifier: Apache-2.0
"""Search of a checkout for the source lines that open ranges, and for the sources of kernels."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

from ..model.nodes import type_of

SOURCES = {".cxx", ".cc", ".cpp", ".cu", ".h", ".hpp", ".cuh"}
SCRIPTS = {".py"}
KERNELS = {".cu", ".cuh"}
# Types at the end of a kernel's name, which macros append.
TYPES = re.compile(r"(_(float|double|int|uint)\d*)+$")
# In the same line, directly before the text: a call that opens a range, or the registration of a node's type.
OPENING = re.compile(r"((RANGE|range|push|annotate|label)\w*\(|\.type = )$")
SKIPPED = {".git", ".venv", "build", "tests", "out", "node_modules"}


def find_checkout(start: Path) -> Path | None:
    """Return the nearest folder, from `start` upwards, with the sources of wire-cell;

    None if there is none.
    """
    return next(
        (
            folder
            for folder in (start, *start.parents)
            if (folder / "spng").is_dir() and (folder / "wcb").exists()
        ),
        None,
    )


class Sources:
    """Source files of a checkout, read on first use."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._locations: dict[str, str] = {}

    @cached_property
    def _files(self) -> list[tuple[str, str]]:
        found = []
        for folder, folders, files in os.walk(self.root):
            folders[:] = sorted(set(folders) - SKIPPED)
            for path in (Path(folder) / file for file in sorted(files)):
                if path.suffix in SOURCES | SCRIPTS:
                    found.append(
                        (str(path.relative_to(self.root)), path.read_text(encoding="utf-8", errors="replace"))
                    )
        return found

    def location(self, name: str) -> str:
        """Return file:line of the call that opens the range, else of any string with its text in C++; empty for none.

        The executor opens the ranges Type:instance of nodes; for these return the line that registers the
        type.
        """
        if name not in self._locations:
            wanted = [name] if "::" in name else [name, type_of(name)]
            found = [location for text in wanted for location in self._find(text)]
            found.sort(key=lambda location: not location[1])  # stable
            self._locations[name] = found[0][0] if found else ""
        return self._locations[name]

    def kernel_folder(self, name: str) -> Path | None:
        """Return the folder of the file that defines a kernel with C linkage; None for other kernels."""
        if not re.fullmatch(r"\w+", name):
            return None
        stem = re.compile(rf"\b{TYPES.sub('', name)}(\b|_)")
        files = (file for file, body in self._files if Path(file).suffix in KERNELS and stem.search(body))
        return next((self.root / Path(file).parent for file in files), None)

    def _find(self, text: str) -> Iterator[tuple[str, bool]]:
        """Find a string: in C++ anywhere, in scripts where it opens a range.

        :return: file:line, and whether it opens a range there
        """
        for file, body in self._files:
            for match in re.finditer(f'"{re.escape(text)}"', body):
                before = body[body.rfind("\n", 0, match.start()) + 1 : match.start()]
                opens = OPENING.search(before) is not None
                if opens or Path(file).suffix in SOURCES:
                    yield f"{file}:{body.count(chr(10), 0, match.start()) + 1}", opens
