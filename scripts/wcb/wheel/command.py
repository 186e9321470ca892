# SPDX-License-Identifier: Apache-2.0
"""The command ./wcb wheel."""

from __future__ import annotations

import argparse
import subprocess
import tempfile
from pathlib import Path

from ..checkout import OUT, ROOT, lock_name, one_at_a_time, say, wcb
from . import archive, build_facts, contents

EARLIEST = 315532800  # 1980, the first year of zip archives, where the commit's date is not known


def main(arguments: list[str]) -> int:
    """Build, collect the files in a temporary folder, pack them."""
    parser = argparse.ArgumentParser(
        prog="wcb wheel",
        description="Make a wheel of wire-cell and the Python packages, for this Python, to copy to other machines. "
        "It needs the wheels of torch and numpy. See docs/packages.md.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "--out", metavar="DIR", type=Path, default=OUT / "wheel", help="folder (default out/wheel)"
    )
    parser.add_argument(
        "--no-build", action="store_true", help="pack the present build without building changes"
    )
    options = parser.parse_args(arguments)

    if not options.no_build:
        wcb("build", "--notests")
    facts = build_facts.read()
    options.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=options.out) as folder:
        stage = Path(folder) / "stage"
        with one_at_a_time(lock_name().lstrip(".")):  # no build may change the files meanwhile
            contents.fill(stage, facts)
        tag = archive.tag_of(contents.native_module(facts), stage)
        target = options.out.resolve() / archive.file_name(facts, tag)
        partial = Path(folder) / target.name
        archive.pack(stage, archive.add_metadata(stage, facts, tag), partial, commit_time())
        partial.replace(target)
    say(f"Wheel   {target}: {target.stat().st_size / 1e6:.1f} MB")
    say(f"Next    pip install {target}   (it needs torch {facts.torch_release} and numpy)")
    return 0


def commit_time() -> int:
    """Return the time of the checked-out commit, so that equal builds make equal wheels."""
    answer = subprocess.run(
        ["git", "log", "-1", "--format=%ct"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return int(answer.stdout) if answer.stdout.strip().isdigit() else EARLIEST
