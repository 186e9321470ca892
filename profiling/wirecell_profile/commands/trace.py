# SPDX-License-Identifier: Apache-2.0
"""Write a Chrome trace: a timeline for ui.perfetto.dev or chrome://tracing, with arrows from launch to
kernel.

Both open the file locally. It has ranges, marks, API calls, device operations, queues of the graph, and
samples.
"""

from __future__ import annotations

import argparse
import gzip
from pathlib import Path
from typing import TextIO

from ..export.chrome_trace import trace
from ..model import selection
from ..model.profile import Profile
from ..output import written
from ..output_kind import JSON, JSON_GZ
from ..terminal import visible
from ._options import add_output, add_profile, check_outputs

NAME = "trace"
HELP = "write Chrome/Perfetto JSON: threads, ranges, streams, arrows from launch to kernel, counters"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    add_profile(parser)
    add_output(parser, "default: the profile's name with .trace.json; .gz at the end compresses")
    selection.add_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Run the command."""
    path = arguments.output or arguments.file.with_suffix(".trace.json")
    check_outputs(arguments, ("--output", path, JSON_GZ if path.suffix == ".gz" else JSON))
    with Profile.open(arguments.file) as profile:
        scope = selection.Scope(profile, selection.from_arguments(arguments))
        parts = trace(scope)
        beginning = next(parts)  # raises MissingData before a file is created
        with written(path) as partial, _open(partial, path.suffix == ".gz") as file:
            file.write(beginning)
            file.writelines(parts)
    print(visible(str(path)))
    return 0


def _open(path: Path, compressed: bool) -> TextIO:
    return gzip.open(path, "wt", encoding="utf-8") if compressed else path.open("w", encoding="utf-8")
