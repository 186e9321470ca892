# SPDX-License-Identifier: Apache-2.0
"""The command line: wirecell-campaign COMMAND ..."""

from __future__ import annotations

import argparse
import os
import sys

from wirecell_profile.cli import parser_of
from wirecell_profile.stop_signals import Stopped, stop_signals_raise
from wirecell_profile.terminal import visible_output

from . import __version__, utf8_mode
from .commands import run, status, summary, verify
from .errors import CampaignError, UsageError, disk_error
from .interrupts import STOP_SIGNALS

ABOUT = """Run wire-cell over the files of a list, on this machine or on a batch farm. Every file is processed once; after an
interruption the same command continues.

Exit status: 0 done; 1 files failed, or the campaign could not continue; 2 usage error; 128 + N stopped by signal
N: SIGINT, SIGTERM, SIGQUIT, SIGHUP, SIGUSR1 or SIGXCPU."""


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of all commands."""
    return parser_of("wirecell-campaign", __version__, ABOUT, [run, status, verify, summary])


def main(words: list[str] | None = None) -> int:
    """Run a command; return the exit status. Print errors that the user can correct as one block.

    words: default: those of this process.
    """
    if words is None:
        utf8_mode.require()
    with visible_output():
        return run_command(words)


def run_command(words: list[str] | None) -> int:
    """Run a command; return the exit status."""
    arguments = make_parser().parse_args(words)
    try:
        with stop_signals_raise(STOP_SIGNALS):
            return arguments.run(arguments)
    except CampaignError as error:
        print(error, file=sys.stderr)
        return 2 if isinstance(error, UsageError) else 1
    except BrokenPipeError:  # the reader, such as head, has closed the pipe
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        print(disk_error("a file operation failed", error), file=sys.stderr)
        return 1
    except KeyboardInterrupt as stop:
        print("stopped; the same command continues from here", file=sys.stderr)
        return stop.exit_status if isinstance(stop, Stopped) else 130
