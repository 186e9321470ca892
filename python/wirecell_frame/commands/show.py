# SPDX-License-Identifier: Apache-2.0
"""Make one self-contained page of frames: planes side by side at full resolution, zoom and pan, the waveform of a channel on a
click, layers of several files over each other or as a difference, several events.

wirecell-frame show adc.npz signal.npz truth=truth.npz osp=osp.tar:gauss0 -o frames.html
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from spng.pictures import frames_page
from wirecell_profile.output_file import output_file

from . import _sources

NAME = "show"
HELP = "make a page to look at: pictures, waveforms, differences"
LARGE = 100e6  # bytes, from which a browser is slow


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    _sources.add_source_arguments(parser)
    parser.add_argument("-o", "--output", type=Path, default=Path("frames.html"), help="page to write (default frames.html)")
    parser.add_argument("--events", type=int, default=3, metavar="N", help="events of each file (default 3)")
    parser.add_argument("--title", help="title of the page (default: the names of the files)")


def run(arguments: argparse.Namespace) -> int:
    """Write the page."""
    layers = _sources.layers_from(arguments, max(1, arguments.events))
    title = arguments.title or "Frames of " + ", ".join(dict.fromkeys(layer.label for layer in layers))
    page = frames_page(layers, _sources.planes_from(arguments), title)
    with output_file(arguments.output) as partial:
        partial.write_text(page, encoding="utf-8")
    print(f"{arguments.output}: {len(page) / 1e6:.1f} MB, open it in a browser")
    if len(page) > LARGE:
        print("the page is large; --events 1 or fewer files make it smaller", file=sys.stderr)
    return 0
