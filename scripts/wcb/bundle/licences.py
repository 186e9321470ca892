# SPDX-License-Identifier: Apache-2.0
"""Origin of third-party libraries: package, version and licence, from Debian's package manager."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Origin:
    """A package of the build machine; licence is None if the machine lacks its text."""

    package: str
    version: str
    licence: Path | None


def origin(library: Path) -> Origin | None:
    """Return the package that installed a library, or None if no package did."""
    # With a merged /usr the package manager may list a file by its path without /usr.
    for path in (str(library), str(library).removeprefix("/usr")):
        owner = query("dpkg-query", "--search", path).split(":", 1)[0]
        if owner:
            licence = Path("/usr/share/doc") / owner / "copyright"
            version = query("dpkg-query", "--show", "--showformat=${Version}\n", owner).splitlines()[0]
            return Origin(owner, version, licence if licence.is_file() else None)
    return None


def query(*command: str) -> str:
    """Return the command's output, empty if it fails or does not exist."""
    try:
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    except FileNotFoundError:
        return ""
