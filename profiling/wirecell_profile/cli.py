# SPDX-License-Identifier: Apache-2.0
"""The command line: wirecell-profile COMMAND ..."""

from __future__ import annotations

import argparse
import importlib
import os
import pkgutil
import sys
from types import ModuleType

from . import __version__, commands
from .errors import ProfileError, UsageError
from .stop_signals import Stopped, stop_signals_raise
from .terminal import visible_output

ABOUT = """Reports, comparisons and pictures from profiles that wire-cell --record wrote, or Nsight Systems exported:
  nsys export --type sqlite REPORT.nsys-rep

Exit status: 0 done; 1 failed, or a check did not pass; 2 usage error; 128 + N stopped by signal N."""


def load_commands() -> list[ModuleType]:
    """Import all modules of commands/, in order of their names, except those whose name begins with _."""
    names = sorted(
        module.name for module in pkgutil.iter_modules(commands.__path__) if not module.name.startswith("_")
    )
    return [importlib.import_module(f"{commands.__name__}.{name}") for name in names]


def make_parser(modules: list[ModuleType]) -> argparse.ArgumentParser:
    """Make the parser of all commands."""
    return parser_of("wirecell-profile", __version__, ABOUT, modules)


def parser_of(program: str, version: str, about: str, modules: list[ModuleType]) -> argparse.ArgumentParser:
    """Make the parser of a program with these modules as commands."""
    parser = argparse.ArgumentParser(
        prog=program,
        description=about,
        allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"{program} {version}")
    chosen = parser.add_subparsers(metavar="COMMAND", required=True)
    for module in modules:
        sub = chosen.add_parser(
            module.NAME,
            help=module.HELP,
            description=module.__doc__,
            allow_abbrev=False,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        module.add_arguments(sub)
        sub.set_defaults(run=module.run)
    return parser


def main(words: list[str] | None = None) -> int:
    """Run a command and return the exit status. Print a ProfileError as one block."""
    with visible_output():
        return _run(words)


def _run(words: list[str] | None) -> int:
    arguments = make_parser(load_commands()).parse_args(words)
    try:
        with stop_signals_raise():
            return arguments.run(arguments)
    except ProfileError as error:
        print(error, file=sys.stderr)
        return 2 if isinstance(error, UsageError) else 1
    except BrokenPipeError:  # the reader, such as head, closed the pipe
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt as stop:
        return stop.exit_status if isinstance(stop, Stopped) else 130
