# SPDX-License-Identifier: Apache-2.0
"""Arguments of the commands that make pictures, and the events that they name."""

from __future__ import annotations

import argparse

import numpy as np
from spng.channel_planes import PDHD, planes_of
from spng.pictures.layers import ADC, CHARGE, TRUTH, Event, events_of, source_of_text, with_roles
from spng.pictures.planes import choose
from wirecell_profile.output_kind import Kind

from . import outputs

ROLES = {
    "adc": (ADC, "waveforms in ADC counts"),
    "signal": (CHARGE, "charge"),
    "truth": (TRUTH, "the true charge"),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add files and the choice of planes and channels."""
    parser.add_argument(
        "files", nargs="*", metavar="[LABEL=]FILE[:TAG]", help="frame file whose role is guessed"
    )
    for name, (_, about) in ROLES.items():
        parser.add_argument(f"--{name}", metavar="FILE[:TAG]", help=f"frame file with {about}")
    parser.add_argument(
        "--planes",
        metavar="NAME:COUNT,...",
        help=f"planes and their channels in ascending order (default: {PDHD} for 2560 consecutive channels, else one)",
    )
    parser.add_argument(
        "--plane", action="append", metavar="NAME", help="this plane only; may be given several times"
    )
    parser.add_argument("--channels", type=channel_range, metavar="A-B", help="channels A to B only")


def channel_range(text: str) -> tuple[int, int]:
    """Return the first and the last channel of "A-B" or "A"."""
    first, dash, last = text.partition("-")
    if not first.isdecimal() or (dash and not last.isdecimal()) or int(last or first) < int(first):
        raise argparse.ArgumentTypeError(f"{text!r} is no range of channels; an example: 100-300")
    return int(first), int(last or first)


def count(text: str) -> int:
    """Return a number of at least 1."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of at least 1")
    return int(text)


def read(
    arguments: argparse.Namespace, max_events: int | None, kind: Kind
) -> tuple[list[Event], dict[str, np.ndarray]]:
    """Return at most `max_events` events and the chosen channels by plane.

    kind: of the output. Raise an error if it would replace an input or a file of another kind.
    """
    roles = {role: getattr(arguments, name) for name, (role, _) in ROLES.items()}
    sources = with_roles([source_of_text(text) for text in arguments.files], roles)
    outputs.check(arguments, [source.file for source in sources], ("--output", arguments.output, kind))
    events = events_of(sources, max_events)
    return events, choose(
        planes_of(events[0].channels, arguments.planes), arguments.plane, arguments.channels
    )
