# SPDX-License-Identifier: Apache-2.0
"""Compare the checksums of all files of the output folder with its manifest. Exit status 1 for any difference."""

from __future__ import annotations

import argparse

from wirecell_profile.terminal import visible

from .. import manifest, report

NAME = "verify"
HELP = "compare all outputs with the checksums of the manifest"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", metavar="DIR", help="the output folder")


def run(arguments: argparse.Namespace) -> int:
    layout = report.open_folder(arguments.folder)
    verdict = manifest.verify(layout)
    for what, names in (
        ("missing", verdict.missing),
        ("differs from the manifest", verdict.damaged),
        ("not in the manifest", verdict.unknown),
    ):
        for name in names:
            print(f"{what}: {visible(name)}")
    wrong = len(verdict.missing) + len(verdict.damaged)
    print(f"{verdict.checked - wrong} of {verdict.checked} files agree with the manifest")
    return 0 if verdict.is_good else 1
