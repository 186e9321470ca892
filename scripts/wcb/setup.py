# SPDX-License-Identifier: Apache-2.0
"""./wcb setup: system packages and the virtual environment."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from pathlib import Path

from . import system_packages, virtual_environment
from .checkout import VENV, fail, one_at_a_time, say


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of setup, which demo and test accept too."""
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument(
        "--full",
        dest="mode",
        action="store_const",
        const="full",
        help="all Python packages, CUDA's too: 2.8 GB to download, 5.1 GB on disk (default with an NVIDIA driver, and for test)",
    )
    choice.add_argument(
        "--slim",
        dest="mode",
        action="store_const",
        const="slim",
        help="without packages that only a GPU or Python's torch needs: 0.6 GB, 0.9 GB; their tests skip (default without a driver)",
    )
    choice.add_argument(
        "--without-torch",
        dest="mode",
        action="store_const",
        const="without-torch",
        help="without torch; build with ./wcb configure --with-libtorch=DIR (70 MB, 0.3 GB)",
    )
    parser.add_argument("--no-system", action="store_true", help="do not check the system packages")


def add_build_option(parser: argparse.ArgumentParser) -> None:
    """Add the option of a command that run_in_environment() starts."""
    about = "use the programs of this build folder, without set-up and build"
    parser.add_argument("--build", type=Path, metavar="FOLDER", help=about)


def make_parser(command: str, description: str | None) -> argparse.ArgumentParser:
    """Make the parser of a command that does the set-up first. The caller adds its options, then those of add_options."""
    return argparse.ArgumentParser(
        prog=f"wcb {command}",
        description=description,
        allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def ensure(mode: str | None, no_system: bool = False, quiet: bool = False, for_tests: bool = False) -> None:
    """Do the missing steps of the set-up.

    @param quiet      print nothing if the environment is complete
    @param for_tests  also install packages that only tests need
    """
    if quiet and not for_tests and virtual_environment.is_ready(mode):
        return
    with one_at_a_time("setup"):
        if not no_system:
            system_packages.ensure(for_tests)
        virtual_environment.ensure(mode, for_tests)


def enter(mode: str | None, no_system: bool) -> None:
    """Do the missing steps of the set-up, and continue in the virtual environment, whose packages can be imported after this.

    Replace this process by the environment's Python with the same module and arguments, unless that Python runs already
    and found a complete environment: packages that are linked into it after its start are not on its path.
    """
    # Do not use sys.prefix: PYTHONHOME changes it, and the new process would replace itself without end.
    is_inside = Path(sys.executable).parent == VENV / "bin" and virtual_environment.is_ready(mode)
    ensure(mode, no_system, quiet=True)
    if not is_inside:
        python = str(VENV / "bin" / "python")
        sys.stdout.flush()
        os.execv(python, [python, *sys.orig_argv[1:]])


def run_in_environment(module: str, options: argparse.Namespace) -> int:
    """Return the exit status of main(options) of a module that needs the environment's packages.

    With options.build, the folder of a finished build, do no set-up: this Python must have the packages. Print an error of the
    package spng as its block.
    """
    if options.build is None:
        enter(options.mode, options.no_system)
    else:
        os.environ.setdefault("SPNG_BUILD", str(options.build.resolve()))
    try:
        command = importlib.import_module(module)  # imported here: a fresh checkout had no NumPy before
        from spng import Error
    except ModuleNotFoundError as missing:
        fail(f"{missing}; --build does no set-up. To fix: ./wcb setup")
    try:
        return command.main(options)
    except Error as error:
        sys.stdout.flush()
        print(error, file=sys.stderr)
        return 1


def main(arguments: list[str]) -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="wcb setup", description=__doc__, allow_abbrev=False)
    add_options(parser)
    options = parser.parse_args(arguments)
    ensure(options.mode, options.no_system)
    say(
        "\nNext: ./wcb configure --prefix=DIR --with-nvtx && ./wcb, or ./wcb demo, which does both and runs the main job"
    )
    return 0
