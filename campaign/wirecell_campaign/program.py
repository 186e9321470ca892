"""The program that a campaign runs: where it is, what it is, and whether it takes the job."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

from .errors import CampaignError, WrongUse, indented

HOME = Path(__file__).resolve().parents[2]  # the checkout, or the bundle, that this package is part of
PLACES = ("build/bin", "bin")  # of the program in there
PROGRAM = "wire-cell"
PATIENCE = 300  # seconds for --version and --check; the first start over a slow file system takes its time


def find(given: str | None, bundle: str | None) -> Path:
    """The program: as given, of a bundle, of the checkout or bundle of this package, or of PATH, in this order. WrongUse when there
    is none."""
    if given and bundle:
        raise WrongUse("--program and --bundle both say which program", expected="one of them")
    if given or bundle:
        path = Path(given or Path(bundle) / "bin" / PROGRAM).absolute()
        if not (path.is_file() and os.access(path, os.X_OK)):
            raise WrongUse("the program cannot be run", str(path), "no executable file")
        return path
    found = shutil.which(PROGRAM, path=":".join(str(HOME / place) for place in PLACES)) or shutil.which(
        PROGRAM
    )
    if not found:
        raise WrongUse(
            f"no {PROGRAM} was found",
            expected=f"in {HOME} or in PATH",
            hint="build it (./wcb), or --program FILE or --bundle DIR",
        )
    return Path(found).absolute()


def identity(program: Path) -> dict[str, str]:
    """Version and commit, as --version says them. CampaignError when the program does not run here."""
    done = ask([str(program), "--version"])
    version = re.search(r"^wire-cell (.+)$", done.stdout, re.MULTILINE)
    commit = re.search(r"^  commit +(\S+)", done.stdout, re.MULTILINE)
    if done.returncode or not version or not commit:
        raise CampaignError(
            "the program does not run on this machine",
            f"{program} --version",
            f"exit status {done.returncode}: {(done.stderr or done.stdout).strip()}",
        )
    return {"version": version[1], "commit": commit[1]}


def check_job(program: Path, words: list[str]) -> None:
    """`wire-cell --check` with the campaign's arguments. WrongUse with the program's own block when it refuses them."""
    done = ask([str(program), "--check", *words])
    if done.returncode:
        raise WrongUse(
            "the program refuses the job; nothing was started",
            seen=indented(done.stderr.strip()) or f"exit status {done.returncode}",
        )


def ask(command: list[str]) -> subprocess.CompletedProcess:
    """Run a short command."""
    try:
        return subprocess.run(
            command, capture_output=True, text=True, errors="replace", timeout=PATIENCE, check=False
        )
    except OSError as error:
        raise CampaignError("the program cannot be run", command[0], error.strerror or str(error)) from None
    except subprocess.TimeoutExpired:
        raise CampaignError(
            "the program does not answer", " ".join(command), f"nothing in {PATIENCE} s"
        ) from None
