# SPDX-License-Identifier: Apache-2.0
"""Show the progress of a campaign, also while it runs, and its failures."""

from __future__ import annotations

import argparse

from wirecell_profile.terminal import visible
from wirecell_profile.units import counted

from .. import lock, report
from ..input_warnings import as_lines
from ..progress import shortened

NAME = "status"
HELP = "show the progress of a campaign"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", metavar="DIR", help="the output folder")


def run(arguments: argparse.Namespace) -> int:
    layout = report.open_folder(arguments.folder)
    now = report.read_status(layout)
    done = sum(name in now.records for name in now.names)
    print(f"{done} of {len(now.names)} done, {len(now.failures)} failed, {len(now.left)} left")
    holder = lock.holder(layout.lock)
    begun = shortened(report.begun(layout, now)) or "no file yet"
    print(f"running: {holder}: {begun}" if holder else "not running")
    warnings = {name: lines for name in now.names if (lines := now.records.get(name, {}).get("warnings"))}
    if warnings:
        print("\n".join([f"\n{counted(len(warnings), 'file')} with warnings:", *as_lines(warnings)]))
    for failure in now.failures:
        print(f"\n{visible(failure['name'])}, attempts: {failure['attempts']}\n{failure['block']}")
    return 0
