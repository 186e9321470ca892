# SPDX-License-Identifier: Apache-2.0
"""The command line: wirecell-frame COMMAND ..."""

from __future__ import annotations

import importlib
import os
import pkgutil
import sys

from wirecell_profile.cli import parser_of
from wirecell_profile.errors import ProfileError
from wirecell_profile.stop_signals import Stopped, stop_signals_raise

import spng

from . import commands

ABOUT = """Look at, compare and convert frame files: .npz, .tar, .tar.gz, .tar.bz2, .h5, .zarr.

Exit status: 0 done; 1 failed, or frames differ; 2 usage error; 128 + N stopped by signal N."""


def main(words: list[str] | None = None) -> int:
    """Run a command and return the exit status. Print an error as one block."""
    names = sorted(module.name for module in pkgutil.iter_modules(commands.__path__))
    modules = [importlib.import_module(f"{commands.__name__}.{name}") for name in names if name[0] != "_"]
    arguments = parser_of("wirecell-frame", spng.__version__, ABOUT, modules).parse_args(words)
    try:
        with stop_signals_raise():
            return arguments.run(arguments)
    except spng.Error as error:
        print(error, file=sys.stderr)
        return 2 if error.kind in ("Usage", "Configuration") else 1
    except ProfileError as error:
        print(error, file=sys.stderr)
        return 1
    except OSError as error:
        if isinstance(error, BrokenPipeError):  # the reader, such as head, closed the pipe
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 0
        print(f"error: {error.strerror}\n  where:    {error.filename}", file=sys.stderr)
        return 1
    except KeyboardInterrupt as stop:
        return stop.exit_status if isinstance(stop, Stopped) else 130
