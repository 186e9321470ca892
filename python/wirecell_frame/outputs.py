# SPDX-License-Identifier: Apache-2.0
"""Outputs of the commands: no output replaces an input, and none a file of another kind without --overwrite."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path

from wirecell_profile.commands._options import add_overwrite as add_option
from wirecell_profile.output_kind import PDF, PNG, SVG, Kind, check_outputs

from spng import Error

PICTURES = {".png": PNG, ".pdf": PDF, ".svg": SVG}


def add_overwrite(parser: argparse.ArgumentParser) -> None:
    """Add the option that lets outputs replace files of other kinds."""
    add_option(parser)


def check(
    arguments: argparse.Namespace, inputs: Iterable[str | Path], *outputs: tuple[str, Path | None, Kind]
) -> None:
    """Check outputs (option, file, kind) before anything is written. None, and "-" of --json: standard output."""
    given = [
        (option, path, kind)
        for option, path, kind in outputs
        if path is not None and (option, str(path)) != ("--json", "-")
    ]
    paths = [Path(path) for path in inputs]
    for option, path, _ in given:
        require_outside(option, path, paths)
    check_outputs(given, paths, arguments.overwrite)


def require_outside(option: str, output: Path, inputs: Iterable[Path]) -> None:
    """Raise Error if an output is an input, in the folder of one, or a folder with one."""
    for path in inputs:
        inner, outer = output.resolve(), path.resolve()
        is_same = output.exists() and path.exists() and output.samefile(path)
        if is_same or inner in outer.parents or (path.is_dir() and outer in inner.parents):
            raise Error(
                "Usage",
                "an output would overwrite an input",
                option,
                f"{output} and {path}",
                "separate files",
                "choose another name",
            )
