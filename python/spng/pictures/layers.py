# SPDX-License-Identifier: Apache-2.0
"""Layers of pictures: the waveforms of files and frames by their roles, event by event."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import cast

import numpy as np
from wirecell_profile.path_names import readable
from wirecell_profile.terminal import visible

from ..arguments import seen
from ..errors import Error
from ..frame import Frame, SparseSamples, Traces, require_frame
from ..frame_files import read_frames
from .compact import compact

ADC, CHARGE, TRUTH = "adc", "charge", "truth"
LABELS = {ADC: "ADC", CHARGE: "signal", TRUTH: "truth"}
UNITS = {ADC: "ADC counts", CHARGE: "electrons per tick", TRUTH: "electrons per tick"}
RAW_TAGS = ("raw", "orig")  # first letters of the tags of the Wire-Cell Toolkit for waveforms in ADC counts

Input = Frame | Iterable[Frame] | str | PathLike[str]


@dataclass(frozen=True)
class Layer:
    """The waveforms of one tag of one event.

    label   unique in the event
    role    adc, charge or truth
    file    path, or empty
    """

    label: str
    role: str
    file: str
    traces: Traces

    @property
    def unit(self) -> str:
        """Return the unit of the samples."""
        return UNITS[self.role]

    @property
    def samples(self) -> np.ndarray | SparseSamples:
        """Return the samples, int16 or float32, without those that are 0 if these are the most."""
        return cast("np.ndarray | SparseSamples", self.traces.samples)


@dataclass
class Event:
    """The layers of one event.

    masks  by name: (n, 3): channel id, begin [us], end [us]
    notes  (file or label, key, value)
    """

    ident: int
    layers: list[Layer] = field(default_factory=list)
    masks: dict[str, np.ndarray] = field(default_factory=dict)
    notes: list[tuple[str, str, str]] = field(default_factory=list)

    @property
    def channels(self) -> np.ndarray:
        """Return the ascending channel ids of all layers."""
        return np.unique(np.concatenate([layer.traces.channels for layer in self.layers]))

    def of_role(self, role: str) -> Layer | None:
        """Return the first layer of a role."""
        return next((layer for layer in self.layers if layer.role == role), None)


@dataclass(frozen=True)
class Source:
    """Frames of one program.

    label, role  empty: guessed from the tag, the type of the samples and the name of the file
    tag          "*": all tags
    """

    frames: Iterable[Frame]
    file: str = ""
    label: str = ""
    role: str = ""
    tag: str = "*"

    def layers_of(self, frame: Frame) -> Iterator[Layer]:
        """Yield the layers of a frame."""
        for tag, traces in frame.traces.items():
            if self.tag not in ("*", tag):
                continue
            role = self.role or guess_role(traces, Path(self.file).name)
            names = visible(self.label), role, readable(self.file)
            yield Layer(*names, replace(traces, samples=compact(traces.samples)))


def guess_role(traces: Traces, name: str = "") -> str:
    """Return the role of traces. Integers are ADC counts; "truth" in the tag or in the name of the file means truth."""
    if "truth" in traces.tag or ("truth" in name and traces.tag in ("", "*")):
        return TRUTH
    samples = traces.samples
    dtype = samples.values.dtype if isinstance(samples, SparseSamples) else samples.dtype
    is_integer = str(dtype).removeprefix("torch.").startswith("int")
    return ADC if is_integer or traces.tag.startswith(RAW_TAGS) else CHARGE


def source_of(given: Input, label: str = "", role: str = "") -> Source:
    """Return the source of a frame, of frames, or of a file, which may be written FILE:TAG."""
    if isinstance(given, Frame):
        return Source([require_frame(given)], "", label, role)
    if not isinstance(given, (str, PathLike)):
        if not isinstance(given, Iterable):
            raise Error(
                "Usage",
                "a layer has the wrong type",
                label,
                seen(given),
                "a frame, several frames, or a file",
            )
        return Source(map(require_frame, given), "", label, role)
    path, tag = str(given), "*"
    if not Path(path).exists() and ":" in path:
        path, _, tag = path.rpartition(":")
    return Source(read_frames(path, [tag]), path, label, role, tag)


def source_of_text(text: str) -> Source:
    """Return the source of an argument FILE, FILE:TAG or LABEL=FILE[:TAG]."""
    label, equals, rest = text.partition("=")
    return source_of(text) if Path(text).exists() or not equals else source_of(rest, label)


def sources_of(
    given: Iterable[Input], layers: Mapping[str, Input], roles: Mapping[str, Input | None]
) -> list[Source]:
    """Return the sources of unnamed inputs, of inputs by label, and of inputs by role."""
    sources = [source_of(value) for value in given]
    sources += [source_of(value, label) for label, value in layers.items()]
    return with_roles(sources, roles)


def with_roles(sources: list[Source], roles: Mapping[str, Input | None]) -> list[Source]:
    """Return the sources with those of inputs by role, which come first; the truth comes last."""
    named = {role: source_of(value, role=role) for role, value in roles.items() if value is not None}
    truth = [named.pop(TRUTH)] if TRUTH in named else []
    return [*named.values(), *sources, *truth]


def events_of(sources: list[Source], count: int | None = None) -> list[Event]:
    """Return the events of the first source, with the layers of all.

    Frames belong to the event of their ident, or, if a source shares no ident with the first, to that of their position.

    @param count  read at most this many events
    @throws Error if there is no frame or no trace
    """
    if not sources:
        raise Error("Usage", "there is nothing to show", expected="at least one frame or file")
    first, *others = sources
    frames = [_compacted(first, frame) for _, frame in zip(_counter(count), first.frames)]
    events = [Event(frame.ident) for frame, _ in frames]
    if len({event.ident for event in events}) < len(events):
        events = [Event(position) for position in range(len(events))]
    for event, (frame, layers) in zip(events, frames):
        _add(event, first, frame, layers)
    for source in others:
        for event, (frame, layers) in _matched(source, events):
            _add(event, source, frame, layers)
    if not any(event.layers for event in events):
        raise Error(
            "Input", "no frame has a trace", ", ".join(filter(None, (source.file for source in sources)))
        )
    events = [event for event in events if event.layers]
    for event in events:
        event.layers = _labelled(sorted(event.layers, key=lambda layer: list(LABELS).index(layer.role)))
    return events


def _counter(count: int | None) -> Iterable[int]:
    return range(count if count is not None else 2**31)


def _compacted(source: Source, frame: Frame) -> tuple[Frame, list[Layer]]:
    """Return the frame without its samples, and its layers."""
    layers = list(source.layers_of(frame))
    timing = {
        tag: replace(traces, samples=np.empty((0, 0), np.int16)) for tag, traces in frame.traces.items()
    }
    return replace(frame, traces=timing), layers


def _matched(source: Source, events: list[Event]) -> Iterator[tuple[Event, tuple[Frame, list[Layer]]]]:
    """Yield each event that the source has, with the frame and the layers of the source."""
    by_ident = {event.ident: event for event in events}
    found: dict[int, tuple[Frame, list[Layer]]] = {}
    in_order: list[tuple[Frame, list[Layer]]] = []
    for position, frame in enumerate(source.frames):
        if frame.ident in by_ident or position < len(events):
            entry = _compacted(source, frame)
            if frame.ident in by_ident:
                found.setdefault(frame.ident, entry)
            if position < len(events):
                in_order.append(entry)
        if len(found) == len(events):
            break
    if found:
        yield from ((by_ident[ident], entry) for ident, entry in found.items())
    else:
        yield from zip(events, in_order)


def _add(event: Event, source: Source, frame: Frame, layers: list[Layer]) -> None:
    """Add layers, masks and notes of a frame to an event."""
    event.layers += layers
    event.notes += [
        (readable(source.file) or visible(source.label), key, text) for key, text in frame.notes.items()
    ]
    timing = next(iter(frame.traces.values()), None)
    if timing is None:
        return
    for name, mask in frame.masks.items():
        ranges = np.asarray(mask, np.float64).reshape(-1, 3).copy()
        ranges[:, 1:] = (timing.start_ns + ranges[:, 1:] * timing.tick_ns) / 1e3
        event.masks[name] = np.unique(np.concatenate([event.masks.get(name, ranges[:0]), ranges]), axis=0)


def _labelled(layers: list[Layer]) -> list[Layer]:
    """Give each layer a unique label: the given one, else its role, its tag, the name of its file, its position."""
    roles = Counter(layer.role for layer in layers if not layer.label)
    labels: list[str] = []
    for layer in layers:
        tag, file = layer.traces.tag.strip("*"), Path(layer.file).name
        stem = file.partition(".")[0]
        if layer.label:
            ranked = [layer.label, f"{layer.label} {tag}"]
        else:
            ranked = [LABELS[layer.role] if roles[layer.role] == 1 else "", tag, stem, f"{stem} {tag}"]
        ranked += [f"{ranked[0] or LABELS[layer.role]} {index}" for index in range(2, len(layers) + 2)]
        labels.append(next(label for label in ranked if label and label not in labels))
    return [replace(layer, label=label) for layer, label in zip(layers, labels)]
