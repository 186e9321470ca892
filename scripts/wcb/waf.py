# SPDX-License-Identifier: Apache-2.0
"""Run waf, which is the package waflib of the virtual environment."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import nullcontext

from . import virtual_environment
from .checkout import ROOT, VENV, fail, lock_name, one_at_a_time
from .child import wait_for
from .help_text import spng_options

COMMANDS = ("configure", "build", "install", "uninstall", "clean", "distclean", "list", "clangdb")

# Runs in the checkout's root with the caller's folder as the first argument: ./wcb behaves the same in every folder, and
# relative paths in options such as --prefix are relative to the caller's folder.
ENTRY = """
import os, signal, sys, waflib
from waflib import Context, Options, Scripting
signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # "./wcb | head" ends without an error
caller = sys.argv.pop(1)
sanitize = Options.OptionsContext.sanitize_path
Options.OptionsContext.sanitize_path = lambda self, path, cwd=None: sanitize(self, path, cwd or caller)
Context.WAFNAME = "wcb"
Scripting.waf_entry_point(os.getcwd(), Context.WAFVERSION, os.path.dirname(os.path.dirname(waflib.__file__)))
"""


def find_python(use_venv: bool) -> str:
    """Return a Python that can import waflib: the virtual environment's, else the present one."""
    candidates = ([str(VENV / "bin" / "python")] if use_venv else []) + [sys.executable]
    for python in candidates:
        if (
            os.path.exists(python)
            and subprocess.run(
                [python, "-c", "import waflib.Scripting"], env=environment(), capture_output=True, check=False
            ).returncode
            == 0
        ):
            return python
    if use_venv:
        waf = next(item for item in virtual_environment.read_requirements() if item.name == "waflib")
        fail(
            "waf is not installed. To fix: ./wcb setup (see ./wcb setup --help for its sizes), or install\n"
            f"  waflib=={waf.version} for {sys.executable} and give --no-venv"
        )
    fail(f"--no-venv: {sys.executable} cannot import waflib")


def environment() -> dict[str, str]:
    """Return the variables of a Python that imports no file of the current folder and stores no bytecode."""
    return dict(os.environ, PYTHONSAFEPATH="1", PYTHONDONTWRITEBYTECODE="1")


def with_values(arguments: list[str]) -> list[str]:
    """Write --with-NAME as --with-NAME=yes, --with-NAME DIR as --with-NAME=DIR, and other such options likewise.

    Otherwise waf would take the command after an option without a value for its value.
    """
    result: list[str] = []
    for argument in arguments:
        open_option = bool(result) and spng_options.takes_optional_value(result[-1]) and "=" not in result[-1]
        if open_option and not argument.startswith("-") and argument not in COMMANDS:
            result[-1] += "=" + argument
            continue
        if open_option:
            result[-1] += "=yes"
        result.append(argument)
    if result and spng_options.takes_optional_value(result[-1]) and "=" not in result[-1]:
        result[-1] += "=yes"
    return result


def main(arguments: list[str]) -> int:
    """Run waf's commands; return its exit status."""
    use_venv = "--no-venv" not in arguments
    python = find_python(use_venv)
    command = [python, "-c", ENTRY, os.getcwd()] + with_values(
        [argument for argument in arguments if argument != "--no-venv"]
    )
    is_question = "--version" in arguments  # which changes nothing
    with nullcontext() if is_question else one_at_a_time(lock_name().lstrip(".")):
        return wait_for(command, cwd=ROOT, env=environment() | {"WAFLOCK": lock_name()})
