# SPDX-License-Identifier: Apache-2.0
"""Show the progress of a campaign, also while it runs, and its failures."""

from __future__ import annotations

import argparse

from .. import lock, report

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
    print(f"running: {holder}" if holder else "not running")
    for failure in now.failures:
        print(f"\n{failure['name']}, attempts: {failure['attempts']}\n{failure['block']}")
    return 0
