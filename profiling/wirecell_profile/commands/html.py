# SPDX-License-Identifier: Apache-2.0
"""Make a self-contained page of a profile or nsys export: zoomable timeline, charts, tables, findings.

wirecell-profile html run.sqlite                    writes run.html beside it
wirecell-profile html run.sqlite --event 3 -o third.html
"""

from __future__ import annotations

import argparse

from ..html.page import html_page
from ..model import selection
from ..model.profile import Profile
from ..output import write
from ..output_kind import HTML
from ..terminal import visible
from ._options import add_output, add_profile, check_outputs

NAME = "html"
HELP = "make one self-contained page: timeline, charts, tables, findings"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    add_profile(parser)
    add_output(parser, "page to write (default: the file's name with .html)")
    selection.add_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Write the page and print its path."""
    path = arguments.output or arguments.file.with_suffix(".html")
    check_outputs(arguments, ("--output", path, HTML))
    with Profile.open(arguments.file) as profile:
        scope = selection.Scope(profile, selection.from_arguments(arguments))
        page = html_page(scope)
    write(page, path)
    print(f"{visible(str(path))}: {path.stat().st_size / 1e6:.2f} MB")
    return 0
