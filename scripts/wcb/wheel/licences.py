# SPDX-License-Identifier: Apache-2.0
"""Licences of third-party libraries, from the package manager of Debian, Enterprise Linux or pip."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Licence:
    """The terms of a package of the build machine."""

    package: str
    text: Path


def licence_of(library: Path) -> Licence | None:
    """Return the licence of the package that installed a library, or None if no package did or it has none."""
    return of_dpkg(library) or of_rpm(library) or of_pip(library)


def of_dpkg(library: Path) -> Licence | None:
    """Return the licence of Debian's package."""
    # With a merged /usr the package manager may list a file by its path without /usr.
    for path in (str(library), str(library).removeprefix("/usr")):
        owner = query("dpkg-query", "--search", path).split(":", 1)[0]
        text = Path("/usr/share/doc") / owner / "copyright"
        if owner and text.is_file():
            return Licence(owner, text)
    return None


def of_rpm(library: Path, licences: Path = Path("/usr/share/licenses")) -> Licence | None:
    """Return the licence of Enterprise Linux's package, which may be in the folder of the main package."""
    owner = query("rpm", "--query", "--queryformat", "%{NAME}\n", "--file", str(library))
    for folder in (licences / owner, licences / owner.rpartition("-")[0]) if owner else ():
        if texts := sorted(path for path in folder.glob("*") if path.is_file()):
            return Licence(owner, texts[0])
    return None


def of_pip(library: Path) -> Licence | None:
    """Return the licence of the package of a virtual environment that lists a library of its folder lib."""
    for record in library.parent.glob("python3*/site-packages/*.dist-info/RECORD"):
        if f"../../{library.name}," in record.read_text(encoding="utf-8"):
            texts = sorted(path for path in record.parent.rglob("*LICEN*") if path.is_file())
            return Licence(record.parent.name.partition("-")[0], texts[0]) if texts else None
    return None


def query(*command: str) -> str:
    """Return the command's output, empty if it fails or does not exist."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
