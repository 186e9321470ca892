# SPDX-License-Identifier: Apache-2.0
"""The command ./wcb wheel."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from ..bundle import build_facts
from ..bundle.command import commit_time, reject_local_paths
from ..checkout import OUT, lock_name, one_at_a_time, say, wcb
from . import archive, contents


def main(arguments: list[str]) -> int:
    """Build, collect the files in a temporary folder, pack them."""
    parser = argparse.ArgumentParser(
        prog="wcb wheel",
        description="Make a wheel of the Python packages spng, wirecell_frame and wirecell_profile with the native library, for "
        "this Python and machine. It needs the wheels of torch and numpy. See docs/python.md.",
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
    tag = archive.tag_of(contents.native_module(facts))
    options.out.mkdir(parents=True, exist_ok=True)
    target = options.out.resolve() / archive.file_name(facts, tag)
    with tempfile.TemporaryDirectory(dir=options.out) as folder:
        stage, partial = Path(folder) / "stage", Path(folder) / target.name
        stage.mkdir()
        with one_at_a_time(lock_name().lstrip(".")):  # no build may change the files meanwhile
            contents.fill(stage, facts)
        metadata = archive.add_metadata(stage, facts, tag)
        reject_local_paths(stage, facts.folders())
        archive.pack(stage, metadata, partial, commit_time())
        partial.replace(target)
    say(f"Wheel   {target}: {target.stat().st_size / 1e6:.1f} MB")
    say(f"Next    pip install {target}   (it needs torch {facts.torch_release} and numpy)")
    return 0
