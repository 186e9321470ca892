# SPDX-License-Identifier: Apache-2.0
"""Layers of a picture: the waveforms of one tag of one file, event by event."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np

from ..conversion import numpy_array
from ..errors import input_error
from ..frame import Frame, Traces
from ..frame_files import read_frames

Kind = Literal["adc", "charge", "mask"]
TRUTH_TAGS = ("truth",)
MASK_TAGS = ("roi", "mp2", "mp3")
Source = str | os.PathLike[str] | Frame | Iterable[Frame]


@dataclass(frozen=True)
class Layer:
    """One tag of one source.

    kind   adc: counts around a baseline; charge: electrons; mask: 0 or 1
    frames by position in the source: (ident, traces, masks of the event, notes)
    """

    label: str
    kind: Kind
    events: list[tuple[int, Traces, Mapping[str, np.ndarray], Mapping[str, str]]] = field(default_factory=list)


def layers_of(sources: Mapping[str, Source], tags: Mapping[str, str], max_events: int) -> list[Layer]:
    """Read the first events of each source, one layer for each of its tags.

    sources  by label: a file, a frame or an iterable of frames
    tags     by label: the only tag to take

    Raise spng.Error for a file that cannot be read, or a tag that is in no event.
    """
    layers: list[Layer] = []
    for label, source in sources.items():
        by_tag: dict[str, Layer] = {}
        wanted = tags.get(label)
        seen: dict[str, None] = {}
        for index, frame in enumerate(_frames(source)):
            if index == max_events:
                break
            seen.update(dict.fromkeys(frame.traces))
            for tag, traces in frame.traces.items():
                if wanted is None or tag == wanted:
                    layer = by_tag.setdefault(tag, Layer(label, kind_of(traces)))
                    layer.events.append((frame.ident, traces, frame.masks, frame.notes))
        if not by_tag:
            raise input_error(
                "no event has the tag" if wanted else "there is no event",
                where=label,
                seen="tags " + ", ".join(map(repr, seen)) if seen else "no events",
                expected=repr(wanted) if wanted else "an event",
            )
        named = len(by_tag) > 1
        layers += [
            Layer(f"{label} {tag}" if named else label, layer.kind, layer.events) for tag, layer in by_tag.items()
        ]
    return layers


def _frames(source: Source) -> Iterable[Frame]:
    if isinstance(source, Frame):
        return [source]
    return read_frames(source) if isinstance(source, (str, os.PathLike)) else source


def kind_of(traces: Traces) -> Kind:
    """Return the kind of waveforms: integers are ADC counts unless their tag is one of a mask, real numbers are charge."""
    if traces.tag in MASK_TAGS:
        return "mask"
    return "adc" if numpy_array(traces.dense()).dtype.kind in "iu" else "charge"


def label_of(path: str | os.PathLike[str]) -> str:
    """Return the name of a file without its endings."""
    name = Path(path).name
    for ending in (".tar.gz", ".tar.bz2", ".npz", ".tar", ".h5", ".hdf5", ".zarr"):
        name = name.removesuffix(ending)
    return name
