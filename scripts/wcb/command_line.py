# SPDX-License-Identifier: Apache-2.0
"""Dispatch of the commands of ./wcb."""

from __future__ import annotations

import difflib
import os
import shlex
import sys
from pathlib import Path

from . import setup, waf
from .checkout import ROOT, VENV, build_folder, fail, run
from .help_text import help_text

# Commands with a module of their own; after the set-up the virtual environment's Python runs it.
MODULES = {
    "demo": "scripts.wcb.demo",
    "test": "scripts.wcb.run_tests",
    "bench": "bench",
    "harden": "scripts.harden",
    "physics": "scripts.physics",
    "reliability": "bench.reliability",
}
OWN = ("setup", "env", "shell", "wheel", "lint", *MODULES)


def main(arguments: list[str]) -> int:
    """Run one of our commands, or pass all arguments to waf."""
    first = arguments[0] if arguments else ""
    if first in MODULES:
        return run_module(MODULES[first], arguments[1:])
    if first == "wheel":
        from .wheel import (
            command as wheel,
        )  # imported here only: the other commands run with an older Python too

        return wheel.main(arguments[1:])
    if first == "lint":
        from .lint import command as lint

        return lint.main(arguments[1:])
    if "-h" in arguments or "--help" in arguments:
        if first == "setup":
            return setup.main(arguments[1:])
        print(help_text(), end="")
        return 0
    if first == "setup":
        return setup.main(arguments[1:])
    if first == "env":
        print(environment_lines(), end="")
        return 0
    if first == "shell":
        return run_shell()
    reject_unknown_command(arguments)
    return waf.main(arguments)


def reject_unknown_command(arguments: list[str]) -> None:
    """End with status 2 and the nearest command's name. Pass a word after an option to waf, since it may be its value."""
    known = OWN + waf.COMMANDS
    for before, word in zip([""] + arguments, arguments):
        if word not in known and not word.startswith("-") and not before.startswith("-"):
            near = difflib.get_close_matches(word, known, n=1)
            fail(f"unknown command {word}. " + (f"Did you mean {near[0]}?" if near else "See ./wcb --help."))


def run_module(name: str, arguments: list[str]) -> int:
    """Run a module with the virtual environment's Python, or with this one before the set-up."""
    python = VENV / "bin" / "python"
    return run([str(python) if python.exists() else sys.executable, "-m", name, *arguments])


def environment() -> dict[str, str]:
    """Return the variables that put `wire-cell` and the Python packages of this checkout on the paths."""
    folder = build_folder() or ROOT / "build"
    path = os.pathsep.join([str(folder / "bin"), str(VENV / "bin"), os.environ.get("PATH", "")])
    given = [os.environ["WIRECELL_PATH"]] if os.environ.get("WIRECELL_PATH") else []
    configuration = os.pathsep.join([str(ROOT / "cfg"), str(ROOT / "data"), *given])
    return {"PATH": path, "WIRECELL_PATH": configuration, "VIRTUAL_ENV": str(VENV)}


def environment_lines() -> str:
    """Return shell lines for: eval "$(./wcb env)"."""
    return "".join(f"export {name}={shlex.quote(value)}\n" for name, value in environment().items())


def run_shell() -> int:
    """Replace this process by the user's shell with the variables of environment()."""
    shell = os.environ.get("SHELL", "/bin/sh")
    os.execve(shell, [Path(shell).name], {**os.environ, **environment()})
