# SPDX-License-Identifier: Apache-2.0
"""The command line: wirecell-frame COMMAND ..."""

from __future__ import annotations

import argparse
import importlib
import os
import pkgutil
import sys
from types import ModuleType

from wirecell_profile import __version__
from wirecell_profile.cli import parser_of
from wirecell_profile.errors import ProfileError, UsageError, system_error
from wirecell_profile.stop_signals import Stopped, stop_signals_raise
from wirecell_profile.terminal import visible_output

from spng import Error

from . import commands

ABOUT = """Look at frame files, compare and convert them: .npz, .tar, .tar.gz, .tar.bz2, HDF5 and Zarr.

Exit status: 0 done; 1 failed, or the files differ; 2 usage error; 128 + N stopped by signal N."""


def load_commands() -> list[ModuleType]:
    """Import all modules of commands/, in order of their names."""
    names = sorted(module.name for module in pkgutil.iter_modules(commands.__path__))
    return [importlib.import_module(f"{commands.__name__}.{name}") for name in names]


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of all commands."""
    return parser_of("wirecell-frame", __version__, ABOUT, load_commands())


def main(words: list[str] | None = None) -> int:
    """Run a command; return the exit status. Print errors that the user can correct as one block."""
    with visible_output():
        return _run(words)


def _run(words: list[str] | None) -> int:
    arguments = make_parser().parse_args(words)
    try:
        with stop_signals_raise():
            status = arguments.run(arguments)
            sys.stdout.flush()
            return status
    except (Error, ProfileError) as error:
        print(error, file=sys.stderr)
        is_usage = isinstance(error, UsageError) or getattr(error, "kind", "") in ("Usage", "Configuration")
        return 2 if is_usage else 1
    except BrokenPipeError:  # the reader, such as head, has closed the pipe
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:  # inputs and outputs raise Error
        print(system_error("cannot write to standard output", "", error), file=sys.stderr)
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt as stop:
        return stop.exit_status if isinstance(stop, Stopped) else 130
