# SPDX-License-Identifier: Apache-2.0
"""The rules by which the Wire-Cell Toolkit reads frame and depo files, for tests of our outputs.

Written from a reading of WCT's sources (github.com/WireCell/wire-cell-toolkit): sio/src/FrameFileSource.cxx and DepoFileSource.cxx
(names, events, shapes), util/inc/WireCellUtil/custard/pigenc*.hpp (.npy), custard_boost.hpp and custard.hpp (containers). Where WCT
throws, logs an error or ends the stream early, these functions raise Rejected.
"""

from __future__ import annotations

import json
import re
import struct
import tarfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

HEADER = 512  # bytes of a tar header
NAME, SIZE = slice(0, 100), slice(124, 136)  # the only fields of it that count; the type is not looked at
UNTAGGED = ("", "*")


class Rejected(Exception):
    """WCT does not read the file, or not all of it."""


@dataclass
class Npy:
    """A .npy member."""

    dtype: str
    shape: tuple[int, ...]
    fortran: bool
    data: bytes

    def load(self, dtype: str, what: str) -> np.ndarray:
        """Return the array if it has exactly this type. A null pointer to data counts as another type."""
        if self.dtype != dtype or not self.data:
            raise Rejected(f"{what}: {self.dtype} {self.shape}, not {dtype} with elements")
        return np.frombuffer(self.data, dtype).reshape(self.shape, order="F" if self.fortran else "C")

    def vector(self, dtype: str, what: str) -> np.ndarray:
        """Return all elements in the order of the file."""
        return self.load(dtype, what).ravel(order="F" if self.fortran else "C")

    def matrix(self, dtype: str, what: str) -> np.ndarray:
        """Return an array with two axes."""
        if len(self.shape) != 2:
            raise Rejected(f"{what}: shape {self.shape}, not two axes")
        return self.load(dtype, what)


@dataclass
class Tagged:
    """The traces of a tag."""

    samples: np.ndarray | None = None
    channels: np.ndarray | None = None
    tickinfo: np.ndarray | None = None
    summary: np.ndarray | None = None


@dataclass
class Event:
    """A frame."""

    ident: int
    tags: dict[str, Tagged] = field(default_factory=dict)
    masks: dict[str, dict[int, list[tuple[int, int]]]] = field(default_factory=dict)
    passed_over: list[str] = field(default_factory=list)


def has(name: str, endings: str) -> bool:
    """Return whether WCT finds one of the endings anywhere in a path."""
    return re.search(rf"[_.]({endings})\b", name) is not None


def members(path: Path) -> Iterator[tuple[str, bytes]]:
    """Yield names and contents in the order in which WCT reads them."""
    name = str(path)
    if has(name, "tar|tar.gz|tgz|tar.bz2|tbz|tbz2"):
        yield from tar_members(path)
    elif has(name, "zip|npz"):
        with zipfile.ZipFile(path) as archive:
            for item in archive.infolist():  # miniz too goes by the directory
                if (
                    item.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
                    or item.flag_bits & 0x2041
                ):
                    raise Rejected(f"{item.filename}: miniz cannot unpack it")
                yield item.filename, archive.read(item)
    else:
        raise Rejected(f"{name}: no known ending")


def tar_members(path: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the members of a tar; every header whose size is not 0 begins a file, also those of pax and of
    links.
    """
    name = str(path)
    mode = "r:gz" if has(name, "gz|tgz") else "r:bz2" if has(name, "bz2|tbz|tbz2") else "r:"
    with tarfile.open(path, mode) as archive:
        stream = archive.fileobj
        stream.seek(0)
        while header := stream.read(HEADER):
            if len(header) < HEADER:
                raise Rejected("a header that is cut")
            digits = header[SIZE].split(b"\0")[0].strip()
            size = int(digits, 8) if digits else 0
            if size:
                yield header[NAME].split(b"\0")[0].decode("ascii"), stream.read(size)
                stream.read(-size % HEADER)


def parse_npy(content: bytes, name: str) -> Npy:
    """Parse a .npy member: replacements turn the header into JSON, and its size fields must agree with the
    member's size.
    """
    version = content[6]
    begin, size = (
        (10, struct.unpack("<H", content[8:10])[0])
        if version == 1
        else (12, struct.unpack("<I", content[8:12])[0])
    )
    text = content[begin : begin + size].decode("latin-1")
    for old, new in (("'", '"'), ("(", "["), (")", "]"), ("True", "true"), ("False", "false")):
        text = text.replace(old, new)
    try:
        header = json.loads(re.sub(r",\s?([}\]])", r"\1", text))
    except ValueError as problem:
        raise Rejected(f"{name}: header {text!r}: {problem}") from None
    shape, dtype = tuple(header["shape"]), header["descr"]
    item = int(re.sub(r"^\D*", "", dtype) or 0)
    data = content[begin + size :]
    if not isinstance(dtype, str) or len(data) != item * int(np.prod(shape, dtype=np.int64)):
        raise Rejected(
            f"{name}: {len(data)} bytes for {dtype} {shape}, so that the next member would not be found"
        )
    return Npy(dtype, shape, header["fortran_order"], data)


def split(text: str, at: str) -> list[str]:
    """Split a text; repeated separators count as one."""
    return re.split(f"{re.escape(at)}+", text)


def parse_name(name: str) -> tuple[str, str, int]:
    """Return type, tag and event id."""
    parts = split(name, "_")
    last = split(parts[-1], ".")
    if len(parts) < 3 or len(last) < 2:
        raise Rejected(f"{name}: not <type>_<tag>_<ident>.<ext>")
    digits = re.match(r"\s*[+-]?\d+", last[0])
    ident = int(digits[0]) if digits else 0
    if ident < 0 or f"{'_'.join(parts[:-1])}_{ident}.{last[1]}" != name:
        raise Rejected(f"{name}: read as {parts}, event {ident}")
    return parts[0], "_".join(parts[1:-1]), ident


def take(event: Event, kind: str, tag: str, npy: Npy, name: str, tags: tuple[str, ...]) -> None:
    """Put a member into the event."""
    if kind == "chanmask":
        ranges: dict[int, list[tuple[int, int]]] = {}
        rows = npy.matrix("<i4", name)
        if rows.shape[1] != 3:
            raise Rejected(f"{name}: {rows.shape[1]} columns")
        for channel, begin, end in rows.tolist():
            ranges.setdefault(channel, []).append((begin, end))
        event.masks[tag] = ranges
        return
    if kind not in ("frame", "channels", "tickinfo", "summary") or (tag not in tags and tag not in UNTAGGED):
        event.passed_over.append(name)
        return
    part = event.tags.setdefault(tag, Tagged())
    if kind == "frame":
        part.samples = npy.matrix("<i2" if npy.dtype in ("<i2", "i2") else "<f4", name).astype(np.float32)
    elif kind == "channels":
        part.channels = npy.vector("<i4", name)
    else:
        setattr(part, kind, npy.vector("<f8", name))


def complete(event: Event) -> Event:
    """Check the conditions of WCT for an event at its end."""
    if not event.tags:
        raise Rejected(f"event {event.ident}: no accepted tag, which ends the stream")
    for tag, part in event.tags.items():
        if part.samples is None or part.channels is None or len(part.samples) != len(part.channels):
            raise Rejected(f"event {event.ident}, tag {tag}: samples and channels differ")
        if part.tickinfo is None or len(part.tickinfo) < 3:
            raise Rejected(f"event {event.ident}, tag {tag}: no tick information")
        if part.summary is not None and len(part.summary) not in (0, len(part.channels)):
            raise Rejected(f"event {event.ident}, tag {tag}: {len(part.summary)} values in the summary")
    return event


def read_frames(path: Path, tags: tuple[str, ...] = ()) -> list[Event]:
    """Return the events that a FrameFileSource with these tags gives. An event ends where another id begins."""
    events: list[Event] = []
    for name, content in members(path):
        kind, tag, ident = parse_name(name)
        if not events or events[-1].ident != ident:
            if any(event.ident == ident for event in events):
                raise Rejected(f"{name}: event {ident} comes twice")
            events.append(Event(ident))
        take(events[-1], kind, tag, parse_npy(content, name), name, tags)
    return [complete(event) for event in events]


def read_depos(path: Path) -> list[tuple[int, np.ndarray, np.ndarray]]:
    """Return event id, data (n, 7) and info (n, 4) of each event that a DepoFileSource gives: members in
    pairs.
    """
    found = list(members(path))
    if len(found) % 2:
        raise Rejected("an odd number of members")
    events = []
    for first, second in zip(found[::2], found[1::2]):
        names = [split(name, "_") for name, _ in (first, second)]
        if [len(parts) for parts in names] != [3, 3] or {parts[1] for parts in names} != {"data", "info"}:
            raise Rejected(f"{first[0]}, {second[0]}: not depo_data_<ident>.npy and depo_info_<ident>.npy")
        idents = [parse_name(name)[2] for name, _ in (first, second)]
        arrays = {
            parts[1]: parse_npy(content, name) for parts, (name, content) in zip(names, (first, second))
        }
        data, info = arrays["data"].matrix("<f4", first[0]), arrays["info"].matrix("<i4", second[0])
        if idents[0] != idents[1] or data.shape != (len(info), 7) or info.shape[1] != 4:
            raise Rejected(f"events {idents}, shapes {data.shape} and {info.shape}")
        events.append((idents[0], data, info))
    return events
