"""Where libraries of other projects come from: package, version, licence, as Debian's package manager knows them."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Origin:
    """A package of the build machine; licence is None where its text is not on the machine."""

    package: str
    version: str
    licence: Path | None


def origin(library: Path) -> Origin | None:
    """The package that installed a library, or None for one that no package did."""
    # With a merged /usr the package manager may know a file by its path without /usr.
    for path in (str(library), str(library).removeprefix("/usr")):
        owner = query("dpkg-query", "--search", path).split(":", 1)[0]
        if owner:
            licence = Path("/usr/share/doc") / owner / "copyright"
            version = query("dpkg-query", "--show", "--showformat=${Version}\n", owner).splitlines()[0]
            return Origin(owner, version, licence if licence.is_file() else None)
    return None


def query(*command: str) -> str:
    """The command's output; empty when it fails or does not exist."""
    try:
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    except FileNotFoundError:
        return ""
