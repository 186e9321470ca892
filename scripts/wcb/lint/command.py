# SPDX-License-Identifier: Apache-2.0
"""./wcb lint: run formatters, linters, type checker and the word list on the files that this branch changes.

Exit with status 0 if all are clean, 1 if one has findings.
"""

from __future__ import annotations

import argparse
import time

from ..checkout import ROOT, fail, say
from . import environment, files
from .checks import CHECKS


def main(arguments: list[str]) -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="wcb lint", description=__doc__, allow_abbrev=False)
    parser.add_argument("files", nargs="*", metavar="FILE", help="check these files and no others")
    parser.add_argument(
        "--all", action="store_true", help="check all files of the checkout (clang-tidy: 30 minutes)"
    )
    parser.add_argument("--fix", action="store_true", help="correct what the tools can correct")
    parser.add_argument(
        "--only",
        metavar="CHECK",
        action="append",
        choices=[check.name for check in CHECKS],
        help="run only this check",
    )
    parser.add_argument("--quick", action="store_true", help="leave clang-tidy out")
    options = parser.parse_args(arguments)
    for name in options.files:
        if not (ROOT / name).is_file():
            fail(f"{name}: no such file. Names are relative to {ROOT}")

    environment.ensure()
    paths = (
        files.existing(options.files) if options.files else files.every() if options.all else files.changed()
    )
    chosen = [
        check
        for check in CHECKS
        if (not options.only or check.name in options.only) and (check.is_quick or not options.quick)
    ]
    failed = []
    for check in chosen:
        selected = check.select(paths)
        if not selected:
            continue
        start = time.monotonic()
        result = check.run(selected, options.fix)
        outcome = "skipped: " + result.skipped if result.skipped else "clean" if result.is_clean else "FAILED"
        say(f"{check.name:13} {len(selected):4} files  {time.monotonic() - start:5.1f} s  {outcome}")
        if not result.is_clean:
            failed.append(check.name)
            say(result.text)
    say(f"\n{'failed: ' + ', '.join(failed) if failed else 'clean'} ({len(paths)} files)")
    return 1 if failed else 0
