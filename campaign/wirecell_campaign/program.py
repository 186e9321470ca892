# SPDX-License-Identifier: Apache-2.0
"""The program of a campaign: its path, its version, and its check of the job."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

from .errors import CampaignError, UsageError
from .process import run_limited

FOLDERS = ("build/bin", "bin")  # of the program in HOME
PROGRAM = "wire-cell"


def home(package: Path) -> Path:
    """Return the checkout, the installed tree or the environment that a package is part of."""
    in_packages = package.parent.name == "site-packages"  # PREFIX/lib/python3.X/site-packages
    return package.parents[3 if in_packages else 1]


PACKAGES = Path(__file__).resolve().parents[1]
HOME = home(PACKAGES / "wirecell_campaign")
TIMEOUT = 300.0  # s for --version and --check; the first start from a slow file system takes long


def find(given: str | None) -> Path:
    """Return the program: the given one, that beside this package, or of PATH, in this order.

    Raise UsageError if there is none.
    """
    if given:
        path = Path(given).absolute()
        if not (path.is_file() and os.access(path, os.X_OK)):
            raise UsageError("cannot run the program", str(path), "not an executable file")
        return path
    found = shutil.which(PROGRAM, path=":".join(str(HOME / folder) for folder in FOLDERS)) or shutil.which(
        PROGRAM
    )
    if not found:
        raise UsageError(
            f"no {PROGRAM} was found",
            expected=f"in {HOME} or in PATH",
            hint="build it (./wcb), or give --program FILE",
        )
    return Path(found).absolute()


def identity(program: Path, limit: float = TIMEOUT) -> dict[str, str]:
    """Return version and commit from --version, which may take `limit` [s]. Raise CampaignError if the program does not run here."""
    done = ask([str(program), "--version"], limit)
    version = re.search(r"^wire-cell (.+)$", done.stdout, re.MULTILINE)
    commit = re.search(r"^  commit +(\S+)", done.stdout, re.MULTILINE)
    if done.returncode or not version or not commit:
        raise CampaignError(
            "the program does not run on this machine",
            f"{program} --version",
            f"exit status {done.returncode}: {(done.stderr or done.stdout).strip()}",
        )
    return {"version": version[1], "commit": commit[1]}


def check_job(program: Path, words: list[str], limit: float = TIMEOUT) -> None:
    """Run `wire-cell --check` with the campaign's arguments and an empty list of files, for at most `limit` [s]. Raise UsageError with the program's
    error block if it rejects them.
    """
    done = ask([str(program), "--check", "--files", "-", *words], limit)
    if done.returncode:
        raise UsageError(
            "the program rejects the job; nothing was started",
            seen=done.stderr.strip() or f"exit status {done.returncode}",
        )


def ask(command: list[str], limit: float, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run a short command, in this folder, for at most `limit` [s]. Raise CampaignError if it takes longer."""
    try:
        return run_limited(command, limit, folder)
    except OSError as error:
        raise CampaignError("cannot run the program", command[0], error.strerror or str(error)) from None
    except subprocess.TimeoutExpired:
        raise CampaignError(
            "the program does not answer",
            shlex.join(command),
            f"no end in {limit:g} s; it was stopped",
            hint="for a longer limit: --timeout TIME",
        ) from None
