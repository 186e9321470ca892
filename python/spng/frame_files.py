# SPDX-License-Identifier: Apache-2.0
"""Read and write frame files: .npz, .tar, .tar.gz and .tar.bz2, dense and sparse; HDF5 and Zarr by their endings."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from wirecell_profile.path_names import readable

from .arguments import checked
from .errors import Error
from .formats.output import require_own_kind
from .frame import Frame

if TYPE_CHECKING:
    from . import _core

# Endings of spng.formats, whose libraries are imported at first use.
OTHER_FORMATS = (".h5", ".hdf5", ".zarr")
ENDINGS = (
    ".npz",
    ".zip",
    ".tar",
    ".tar.gz",
    ".tgz",
    ".tar.bz2",
    ".tbz2",
)  # of spng/io/archive/archive_writer.cxx
FORMS = ("dense", "sparse")


@checked
def read_frames(
    path: str | PathLike[str],
    tags: str | Sequence[str] = ("*",),
    idents: Collection[int] | None = None,
) -> Iterator[Frame]:
    """Return the events of a file one by one; no more than one is in memory. Other threads run while it reads.

    @param tags    tags to read; "*" means all. Others are skipped unread.
    @param idents  events to read, in file order; None: all. Others are skipped unread.
    @return samples are int16 or float32; a sparse file gives SparseSamples
    @throws Error if there is no such file, it is no frame file, or, after the events before it, an event is unusable or
            absent
    """
    path, tags = Path(path), [tags] if isinstance(tags, str) else list(tags)
    wanted = None if idents is None else set(idents)
    if path.suffix in OTHER_FORMATS:
        from . import formats

        return _wanted(formats.read(path, tags), wanted, path)
    from .native import core

    return _wanted(_events(core.FrameReader(str(path), tags, wanted)), wanted, path)


def _events(reader: _core.FrameReader) -> Iterator[Frame]:
    while (frame := reader.next()) is not None:
        yield frame


def _wanted(frames: Iterator[Frame], wanted: set[int] | None, path: Path) -> Iterator[Frame]:
    """Yield the wanted events. Raise Error if one is absent."""
    if wanted is None:
        yield from frames
        return
    absent = set(wanted)
    while absent:
        frame = next(frames, None)
        if frame is None:
            raise Error(
                "Input",
                "the file lacks events",
                where=str(path),
                seen=f"no event {', '.join(map(str, sorted(absent)))}",
                expected="events of the file",
            )
        if frame.ident in absent:
            absent.remove(frame.ident)
            yield frame


@checked
def write_frames(
    path: str | PathLike[str],
    frames: Frame | Iterable[Frame],
    form: str = "dense",
    level: int | None = None,
    overwrite: bool = False,
) -> None:
    """Write events; the ending of the path chooses the format. Equal events give equal bytes.

    The file appears under its name when it is complete: after an error there is none, and a former one is unchanged.

    @param frames  one event, or several with different idents. Samples that are neither int16 nor float32 become int16
                   if all are integers that fit, else float32
    @param form    dense, or sparse: only the samples that are not 0 (docs/sparse-frames.md)
    @param level   of compression, 0 to 9; None: the default of the format
    @param overwrite  replace an existing file that holds no frames, or a Zarr folder with other files, too
    @throws Error naming event, tag and value for an event that cannot be written, or if writing fails
    """
    path = Path(path)
    if form not in FORMS:
        raise Error(
            "Input", "unknown form of a frame file", str(path), repr(form), " or ".join(map(repr, FORMS))
        )
    events = _distinct([frames] if isinstance(frames, Frame) else frames, path)
    if path.suffix in OTHER_FORMATS:
        from . import formats

        if level is not None:
            raise Error("Input", "the format has no level of compression", str(path), repr(level), "None")
        formats.write(path, events, form, overwrite)
        return
    from .native import core

    if not path.name.endswith(ENDINGS):
        expected = ", ".join((*ENDINGS, *OTHER_FORMATS))
        raise Error(
            "Configuration", "unknown ending of the output file", readable(path), path.suffix, expected
        )
    if not overwrite:
        require_own_kind(
            path,
            lambda file: core.is_archive_of_events(str(file)),
            "an archive of events (<name>_<ident>.npy)",
        )
    writer = core.FrameWriter(str(path), level, form == "sparse")
    try:
        for frame in events:
            writer.write(frame)
        writer.close()
    except BaseException:  # whose traceback keeps the writer alive
        writer.discard()
        raise


def _distinct(frames: Iterable[Frame], path: Path) -> Iterator[Frame]:
    """Yield the events. Raise Error if there is none, or if two have one ident."""
    idents: set[int] = set()
    for frame in frames:
        yield frame  # first, because the writer checks that it is one
        if frame.ident in idents:
            raise Error(
                "Input",
                "two events have the same ident",
                where=f"{path}, event {len(idents)} of those given",
                seen=f"ident {frame.ident} again",
                expected="a different ident in each event",
                hint="dataclasses.replace(frame, ident=...) returns the event with another ident",
            )
        idents.add(frame.ident)
    if not idents:
        raise Error(
            "Input", "there is no event to write", where=str(path), expected="at least one spng.Frame"
        )
