# SPDX-License-Identifier: Apache-2.0
"""The native module (python/bindings). Use the functions of the package instead."""

from os import PathLike

from .frame import Frame

class FrameReader:
    """See spng/io/frame_reader.h."""

    def __init__(self, path: str | PathLike[str], tags: list[str], idents: set[int] | None) -> None: ...
    def next(self) -> Frame | None: ...
    @property
    def other_members(self) -> list[str]: ...

class FrameWriter:
    """See spng/io/frame_writer.h."""

    def __init__(self, path: str | PathLike[str], level: int | None, is_sparse: bool) -> None: ...
    def write(self, frame: Frame) -> None: ...
    def close(self) -> None: ...

def checked(frame: Frame, where: str) -> Frame:
    """Return the event as a file would have it: samples are int16 or float32. Raise Error if it is unusable."""
