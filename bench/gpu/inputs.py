# SPDX-License-Identifier: Apache-2.0
"""Inputs of the jobs, made from the first event of a frame file: each event is that event, rotated in time."""

from __future__ import annotations

import tarfile
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
from wirecell_profile.output_file import output_file

from bench.gpu.frame_files import Frame, FrameFile, add_frame

SHIFT_TICKS = 97  # between events
CHANNELS_OF_AN_ANODE = 2560  # of ProtoDUNE-HD, whose anodes follow each other


def first_frame(path: Path) -> Frame:
    """Return the first event of a frame file, as it is stored."""
    with FrameFile(path) as file:
        tag = file.tags()[0]
        return file.frame(tag, file.idents(tag)[0])


def write_events(path: Path, frames: Iterable[Frame]) -> Path:
    """Write events as a tar without compression, unless the file exists; return its path."""
    if not path.exists():
        with (
            output_file(path) as partial,
            tarfile.open(partial, "w", format=tarfile.USTAR_FORMAT) as archive,
        ):
            for ident, frame in enumerate(frames):
                add_frame(archive, ident, frame)
    return path


def rotated(frame: Frame, count: int) -> Iterator[Frame]:
    """Yield `count` different events of equal length."""
    for index in range(count):
        yield replace(
            frame, samples=np.ascontiguousarray(np.roll(frame.samples, SHIFT_TICKS * index, axis=1))
        )


def of_two_lengths(frame: Frame, count: int) -> Iterator[Frame]:
    """Yield events that have in turn all ticks and two thirds of them."""
    short = frame.samples.shape[1] * 2 // 3 // 4 * 4
    for index, event in enumerate(rotated(frame, count)):
        cut = event.samples if index % 2 == 0 else event.samples[:, :short]
        yield replace(event, samples=np.ascontiguousarray(cut))


def long_readout(frame: Frame, ticks: int) -> Frame:
    """Return the event repeated up to a length."""
    repeats = -(-ticks // frame.samples.shape[1])
    return replace(frame, samples=np.ascontiguousarray(np.tile(frame.samples, (1, repeats))[:, :ticks]))


def of_anodes(frame: Frame, anodes: int, count: int) -> Iterator[Frame]:
    """Yield events of several anodes of ProtoDUNE-HD; each anode has the samples rotated by another time."""
    for index in range(count):
        parts = [np.roll(frame.samples, SHIFT_TICKS * (index + 5 * anode), axis=1) for anode in range(anodes)]
        channels = [frame.channels + CHANNELS_OF_AN_ANODE * anode for anode in range(anodes)]
        yield replace(frame, samples=np.concatenate(parts), channels=np.concatenate(channels))
