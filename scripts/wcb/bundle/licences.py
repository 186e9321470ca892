# SPDX-License-Identifier: Apache-2.0
"""Origin of third-party libraries: package, version and licence, from the package manager of Debian, Enterprise Linux or pip."""

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
    return of_dpkg(library) or of_rpm(library) or of_pip(library)


def of_dpkg(library: Path) -> Origin | None:
    """Return the package of Debian."""
    # With a merged /usr the package manager may list a file by its path without /usr.
    for path in (str(library), str(library).removeprefix("/usr")):
        owner = query("dpkg-query", "--search", path).split(":", 1)[0]
        if owner:
            licence = Path("/usr/share/doc") / owner / "copyright"
            version = query("dpkg-query", "--show", "--showformat=${Version}\n", owner).splitlines()[0]
            return Origin(owner, version, licence if licence.is_file() else None)
    return None


def of_rpm(library: Path, licences: Path = Path("/usr/share/licenses")) -> Origin | None:
    """Return the package of Enterprise Linux, whose licence may be in the folder of the main package."""
    answer = query(
        "rpm", "--query", "--queryformat", "%{NAME}\t%{VERSION}-%{RELEASE}\n", "--file", str(library)
    )
    owner, _, version = answer.partition("\n")[0].partition("\t")
    if not version:  # rpm reports a file without a package on standard output
        return None
    folders = (licences / owner, licences / owner.rpartition("-")[0])
    found = next((path for folder in folders for path in sorted(folder.glob("*")) if path.is_file()), None)
    return Origin(owner, version, found)


def of_pip(library: Path) -> Origin | None:
    """Return the package of a virtual environment that lists a library of its folder lib."""
    for record in library.parent.glob("python3*/site-packages/*.dist-info/RECORD"):
        if f"../../{library.name}," in record.read_text(encoding="utf-8"):
            owner, _, version = record.parent.name.removesuffix(".dist-info").partition("-")
            licences = sorted(path for path in record.parent.rglob("*") if "LICEN" in path.name.upper())
            return Origin(owner, version, next((path for path in licences if path.is_file()), None))
    return None


def query(*command: str) -> str:
    """Return the command's output, empty if it fails or does not exist."""
    try:
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    except FileNotFoundError:
        return ""
