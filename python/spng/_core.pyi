# SPDX-License-Identifier: Apache-2.0
"""The native module (python/bindings). Use the functions of the package instead."""

from collections.abc import Callable
from os import PathLike
from typing import Any

from .frame import Frame

class FrameReader:
    """See spng/io/frame_reader.h."""

    def __init__(self, path: str | PathLike[str], tags: list[str], idents: set[int] | None) -> None: ...
    def next(self) -> Frame | None: ...

class FrameAssembly:
    """See spng/io/frame_assembly.h. Names of members have no ident and no ending: "frame_signal"."""

    def __init__(self, file: str | PathLike[str], ident: int, tags: list[str]) -> None: ...
    def is_member(self, name: str) -> bool: ...
    def wants(self, name: str) -> bool: ...
    def add(self, name: str, array: object) -> None: ...
    def frame(self) -> Frame: ...

LARGEST_ARRAY_BYTES: int

class FrameWriter:
    """See spng/io/frame_writer.h."""

    def __init__(self, path: str | PathLike[str], level: int | None, is_sparse: bool) -> None: ...
    def write(self, frame: Frame) -> None: ...
    def close(self) -> None: ...
    def discard(self) -> None:
        """Remove the unfinished file."""

class PipelineOptions:
    """See WireCellSpng/Pipeline.h."""

    anodes: list[int]
    sparse: bool
    results_on_device: bool
    queue_size: int

    def set_strings(
        self,
        detector: str,
        model: str | PathLike[str],
        device: str,
        configuration: str | PathLike[str],
        tags: list[str],
        changes: list[str],
        arguments: dict[str, str],
    ) -> None: ...

class Pending:
    """The result of a queued frame."""

    def wait(self, seconds: float) -> bool: ...
    def result(self) -> Frame: ...

class Pipeline:
    """See WireCellSpng/Pipeline.h."""

    def __init__(self, options: PipelineOptions) -> None: ...
    def submit(
        self,
        samples: Any,
        channels: list[int],
        ident: int,
        start_ns: float,
        tick_ns: float,
        first_tick: int,
        masks: dict[str, list[tuple[int, int, int]]],
    ) -> Pending: ...
    def close(self) -> None: ...
    def is_of_other_process(self) -> bool: ...
    def is_closed(self) -> bool: ...
    def devices(self) -> list[str]: ...
    def tick_ns(self) -> float: ...
    def planes(self) -> list[tuple[int, int, list[int]]]: ...
    def timing_json(self) -> str: ...
    def timing_text(self, width: int) -> str: ...

class Simulation:
    """See spng/pipeline/simulation.h."""

    def __init__(self, detector: str, anode: int, arguments: dict[str, str]) -> None: ...
    def process(self, depositions: Any, ident: int) -> Frame: ...

def set_log_handler(handler: Callable[[str, str, str], None] | None, level: str) -> None: ...
def set_strict(strict: bool) -> None: ...
def is_archive_of_events(path: str | PathLike[str]) -> bool:
    """See spng/io/output_kind.h."""

def checked(frame: Frame, where: str | PathLike[str]) -> Frame:
    """Return the event as a file would have it: samples are int16 or float32. Raise Error if it is unusable."""
