# SPDX-License-Identifier: Apache-2.0
"""Draw one event as PNG, PDF or SVG: the planes of each file side by side, or waveforms of channels.

wirecell-frame plot adc.npz signal.npz truth=truth.npz -o planes.png
wirecell-frame plot adc.npz signal.npz --channel 145,1200 -o waveforms.pdf
"""

from __future__ import annotations

import argparse
from pathlib import Path

from spng import Error
from spng.pictures.plots import plot_planes, plot_waveforms
from wirecell_profile.output_file import output_file

from . import _sources

NAME = "plot"
HELP = "draw planes or waveforms as PNG, PDF or SVG"
ENDINGS = (".png", ".pdf", ".svg")
DPI = 130


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    _sources.add_source_arguments(parser)
    parser.add_argument("-o", "--output", type=Path, required=True, help="picture to write: .png, .pdf or .svg")
    parser.add_argument("--event", type=int, default=0, metavar="N", help="position of the event in the files (default 0)")
    parser.add_argument(
        "--waveforms", action="store_true", help="draw the channel with most charge of each plane, not the planes"
    )
    parser.add_argument("--channel", metavar="N[,N]", help="draw the waveforms of these channels")


def run(arguments: argparse.Namespace) -> int:
    """Write the picture."""
    if arguments.output.suffix.lower() not in ENDINGS:
        raise Error(
            "Usage",
            "the picture has an unknown ending",
            "-o",
            str(arguments.output),
            "a name with " + ", ".join(ENDINGS),
        )
    layers = _sources.layers_from(arguments, arguments.event + 1)
    planes = _sources.planes_from(arguments)
    if arguments.channel or arguments.waveforms:
        channels = [int(each) for each in arguments.channel.split(",")] if arguments.channel else None
        figure = plot_waveforms(layers, channels, planes, arguments.event)
    else:
        figure = plot_planes(layers, planes, arguments.event)
    with output_file(arguments.output) as partial:
        figure.savefig(partial, dpi=DPI)
    print(arguments.output)
    return 0
