# SPDX-License-Identifier: Apache-2.0
"""Arguments that name frame files as layers of a picture."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path

import numpy as np

import spng
from spng.pictures.layers import Layer, Source, label_of, layers_of


def add_source_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the files, and what divides their channels into planes."""
    parser.add_argument(
        "files",
        metavar="[LABEL=]FILE[:TAG]",
        nargs="+",
        help="frame file; LABEL names it in the picture (default: the name of the file), TAG takes one tag only",
    )
    parser.add_argument(
        "--planes",
        default="",
        metavar="U:800,V:800,W:960",
        help="channels of each plane in an anode, by ascending id (default: of ProtoDUNE-HD if the ids fit, else one plane)",
    )
    parser.add_argument(
        "--detector", metavar="NAME", help="take the planes from this detector (see cfg/detectors) and --anode"
    )
    parser.add_argument("--anode", default="0", metavar="N[,N]", help="anodes of the detector (default 0)")


def layers_from(arguments: argparse.Namespace, max_events: int) -> list[Layer]:
    """Read the files. Raise spng.Error if one cannot be read."""
    sources: dict[str, Source] = {}
    tags: dict[str, str] = {}
    for word in arguments.files:
        label, path, tag = _parts(word)
        unique = label if label not in sources else f"{label} ({len(sources)})"
        sources[unique] = path
        if tag is not None:
            tags[unique] = tag
    return layers_of(sources, tags, max_events)


def _parts(word: str) -> tuple[str, Path, str | None]:
    """Return (label, path, tag) of [LABEL=]FILE[:TAG]. The name of an existing file is taken whole."""
    if Path(word).exists():
        return label_of(word), Path(word), None
    label, has_label, rest = word.partition("=")
    if not has_label or "/" in label:
        label, rest = "", word
    tag = None
    if not Path(rest).exists() and ":" in rest:
        rest, _, tag = rest.rpartition(":")
    return label or label_of(rest), Path(rest), tag


def planes_from(arguments: argparse.Namespace) -> Mapping[str, np.ndarray] | str:
    """Return the planes of the detector, or the text that divides channels."""
    if arguments.detector is None:
        return arguments.planes
    return spng.planes(arguments.detector, [int(anode) for anode in arguments.anode.split(",")])
