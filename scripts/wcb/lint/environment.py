# SPDX-License-Identifier: Apache-2.0
"""The folder with the tools of ./wcb lint: made from requirements-lint.txt on first use, apart from .venv."""

from __future__ import annotations

import hashlib
import shutil
import sys
from pathlib import Path

from .. import hashes
from ..checkout import ROOT, STATE, fail, one_at_a_time, run, say

REQUIREMENTS = ROOT / "requirements-lint.txt"
FOLDER = STATE / "lint"
STAMP = FOLDER / "requirements.sha256"


def pins() -> list[str]:
    """Return name==version of each tool."""
    lines = REQUIREMENTS.read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line.strip() and not line.startswith("#")]


def fingerprint() -> str:
    """Return the digest of the list and of the Python that runs the tools."""
    return hashlib.sha256(REQUIREMENTS.read_bytes() + sys.version.encode()).hexdigest()


def is_ready() -> bool:
    """Tell whether the tools of the present list are installed."""
    return STAMP.exists() and STAMP.read_text(encoding="utf-8") == fingerprint()


def ensure() -> None:
    """Install the tools if the list has changed since the last time."""
    if is_ready():
        return
    with one_at_a_time("lint-setup"):
        if is_ready():
            return
        say(f"Lint tools: installing {REQUIREMENTS.name} into {FOLDER} (60 MB to download)")
        shutil.rmtree(FOLDER, ignore_errors=True)
        if run([getattr(sys, "_base_executable", sys.executable), "-m", "venv", str(FOLDER)]):
            fail(
                "the environment of the lint tools could not be made (on Debian: apt-get install python3-venv)",
                1,
            )
        if hashes.install(FOLDER / "bin" / "python", pins(), "--quiet"):
            fail("pip failed; see its message above. Run the same command again to continue", 1)
        STAMP.write_text(fingerprint(), encoding="utf-8")


def tool(name: str) -> str:
    """Return the path of a tool."""
    return str(FOLDER / "bin" / name)


def system_tool(name: str) -> str | None:
    """Return the path of a tool of the system, None where it is not installed."""
    path = shutil.which(name)
    return str(Path(path)) if path else None
