# SPDX-License-Identifier: Apache-2.0
"""Read and write frame files: .npz, .tar, .tar.gz and .tar.bz2 of the Wire-Cell Toolkit, HDF5 and Zarr."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Literal

from . import _core, formats
from .conversion import frame_of, numpy_array, ranges_of
from .errors import input_error
from .frame import Frame, SparseSamples, Traces

Form = Literal["dense", "sparse"]


def read_frames(path: str | os.PathLike[str], tags: Sequence[str] | str = ("*",)) -> Iterator[Frame]:
    """Yield the events of a file in its order; at most one is in memory.

    tags  the tags to read; "*" reads all. Others are skipped unread

    Samples are int16 or float32, and SparseSamples where the file is sparse. Raise spng.Error for a file that cannot be read, and
    for a damaged event: the iterator has ended then.
    """
    path = Path(path)
    wanted = [tags] if isinstance(tags, str) else list(tags)
    return formats.read(path, wanted) if formats.is_ours(path) else _read(path, wanted)


def read_frame(path: str | os.PathLike[str], ident: int | None = None) -> Frame:
    """Return one event of a file: that of the ident, or the first. Raise spng.Error if the file has no such event."""
    idents = []
    for frame in read_frames(path):
        if ident is None or frame.ident == ident:
            return frame
        idents.append(str(frame.ident))
    raise input_error(
        "the file has no such event", where=str(path), seen="events " + ", ".join(idents), expected=f"event {ident}"
    )


def write_frames(
    path: str | os.PathLike[str], frames: Frame | Iterable[Frame], form: Form = "dense", level: int | None = None
) -> None:
    """Write events to a file, whose ending names the format. It appears when it is complete.

    frames  one event, or an iterable of events, which may be a generator
    form    of the samples in the file, whatever their form in the frames
    level   of compression, 0 to 9; None: a fast one for the format

    Samples of other types than int16 and float32 become int16 if all values fit, else float32. Raise spng.Error for frames that
    contradict themselves, and if writing fails; then no file remains.
    """
    path = Path(path)
    if form not in ("dense", "sparse"):
        raise input_error("unknown form of frames", seen=repr(form), expected="'dense' or 'sparse'")
    events = [frames] if isinstance(frames, Frame) else frames
    if formats.is_ours(path):
        formats.write(path, events, form)
        return
    writer = _core.FrameFileWriter(str(path), level, form == "sparse")
    for frame in events:
        if not frame.traces:
            raise input_error("the frame has no traces", where=f"{path}, event {frame.ident}", expected="one tag or more")
        traces = [_given(each) for each in frame.traces.values()]
        writer.write(frame.ident, traces, ranges_of(frame.masks), dict(frame.notes))
    writer.close()


def _read(path: Path, tags: list[str]) -> Iterator[Frame]:
    reader = _core.FrameFileReader(str(path), tags)
    while (event := reader.next()) is not None:
        yield frame_of(event)


def _given(traces: Traces) -> _core.GivenTraces:
    samples, runs, shape = traces.samples, None, ()
    if isinstance(samples, SparseSamples):
        samples, runs, shape = samples.values, numpy_array(samples.runs), samples.shape
    summary = None if traces.summary is None else numpy_array(traces.summary)
    return _core.GivenTraces(
        traces.tag,
        numpy_array(samples),
        runs,
        list(shape),
        numpy_array(traces.channels),
        traces.start_ns,
        traces.tick_ns,
        traces.first_tick,
        summary,
    )
