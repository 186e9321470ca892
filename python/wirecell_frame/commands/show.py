# SPDX-License-Identifier: Apache-2.0
"""Make one self-contained page of frames: images of the planes to zoom, waveforms, differences, charge per plane.

wirecell-frame show adc.npz signal.npz truth.npz          writes frames.html
wirecell-frame show signal.npz OSP=osp.npz:gauss0 -o both.html
wirecell-frame show run.tar.bz2 --events 3 --plane U --channels 100-300

FILE is a file with all its tags, FILE:TAG one tag of it; LABEL= names it on the page. Integers are taken as ADC counts,
tags and files with "truth" in their name as the true charge, others as signals. Events of files belong together by
ident; if a file shares no ident with the first file, by order.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
from spng.pictures.layers import Event
from spng.pictures.page import page_of
from spng.pictures.planes import title
from spng.pictures.statistics import table
from wirecell_profile.output import aligned
from wirecell_profile.output_kind import HTML
from wirecell_profile.terminal import visible

from .. import outputs, picture_arguments

NAME = "show"
HELP = "make one self-contained page: images, waveforms, differences"
LARGE = 100_000_000  # bytes; browsers open larger pages slowly


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    picture_arguments.add_arguments(parser)
    parser.add_argument(
        "--events", type=picture_arguments.count, metavar="N", help="show the first N events only"
    )
    parser.add_argument(
        "-o", "--output", type=Path, default=Path("frames.html"), help="page to write (default frames.html)"
    )
    outputs.add_overwrite(parser)


def run(arguments: argparse.Namespace) -> int:
    """Write the page; print charge and noise of each event, and the path."""
    events, planes = picture_arguments.read(arguments, arguments.events, HTML)
    path = page_of(events, planes).save(arguments.output, overwrite=arguments.overwrite)
    size = path.stat().st_size
    for event in events:
        print(_table(event, planes))
    print(f"{visible(str(path))}: {size / 1e6:.1f} MB, {len(events)} event{'s' if len(events) > 1 else ''}")
    if size > LARGE:
        print(
            "warning: browsers open a page of this size slowly; --events N, --plane NAME and --channels A-B make it smaller",
            file=sys.stderr,
        )
    return 0


def _table(event: Event, planes: dict[str, np.ndarray]) -> str:
    """Return charge and noise per plane as aligned text."""
    head = [f"event {event.ident}", *map(title, planes), "all"]
    rows = [[name, *cells] for name, cells in table(event, planes)]
    return "\n".join(map(visible, aligned([head, *rows], [False] + [True] * (len(head) - 1))))
