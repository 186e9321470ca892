# SPDX-License-Identifier: Apache-2.0
"""Draw the first event as a picture: the planes of all layers side by side, or waveforms.

wirecell-frame plot adc.npz signal.npz truth.npz -o planes.png
wirecell-frame plot adc.npz signal.npz --plane U -o u-plane.pdf
wirecell-frame plot adc.npz signal.npz --channel 523,1100 -o waveforms.png

Files are as in wirecell-frame show. The ending of the picture gives its format: .png, .pdf, .svg.
"""

from __future__ import annotations

import argparse
import io
from pathlib import Path
from typing import Literal

from spng.formats.output import replaced_file
from spng.pictures.plots import figure_of
from wirecell_profile.terminal import visible

from spng import Error

from .. import outputs, picture_arguments

NAME = "plot"
HELP = "draw planes or waveforms of one event"
DPI = 130


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    picture_arguments.add_arguments(parser)
    parser.add_argument(
        "--channel",
        type=waveforms,
        metavar="N[,N...]",
        help="draw the waveforms of these channels in place of the planes; auto: of two channels of each plane",
    )
    parser.add_argument(
        "--time",
        type=float,
        nargs=2,
        metavar=("FROM", "TO"),
        help="show these times only [us] (default: all, or for waveforms 220 us around the largest pulse)",
    )
    parser.add_argument(
        "-o", "--output", type=Path, default=Path("frames.png"), help="picture to write (default frames.png)"
    )
    outputs.add_overwrite(parser)


def waveforms(text: str) -> list[int] | Literal["auto"]:
    """Return the channels of "523,1100", or "auto"."""
    if text == "auto":
        return "auto"
    if not all(item.isdecimal() for item in text.split(",")):
        raise argparse.ArgumentTypeError(f"{text!r} is neither a list of channels such as 523,1100 nor auto")
    return [int(item) for item in text.split(",")]


def run(arguments: argparse.Namespace) -> int:
    """Write the picture and print its path."""
    path = arguments.output
    kind = outputs.PICTURES.get(path.suffix)
    if kind is None:
        raise Error("Usage", "unknown format of a picture", str(path), expected=", ".join(outputs.PICTURES))
    (event, *_), planes = picture_arguments.read(arguments, 1, kind)
    figure = figure_of(event, planes, arguments.channel, arguments.time and tuple(arguments.time))
    content = io.BytesIO()  # Matplotlib fails in several ways on a full disk
    figure.savefig(content, format=path.suffix[1:], dpi=DPI)
    with replaced_file(path) as partial:
        partial.write_bytes(content.getbuffer())
    print(visible(str(path)))
    return 0
