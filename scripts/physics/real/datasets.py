# SPDX-License-Identifier: Apache-2.0
"""The public files of real data: names, checksums, origin and terms.

FOLDER of the command is a folder with the files, or sigproc/test of a clone of the Wire-Cell Toolkit, where they are.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from spng import Frame, Traces, read_frames

TOOLKIT = "https://github.com/WireCell/wire-cell-toolkit"
TERMS = "LGPL-3.0-or-later"

RUN = 3493
TICKS, TICK_NS = 9594, 500.0
GROUP_CHANNELS = 48


class DataMissing(Exception):
    """A study lacks a file; the text names it."""


@dataclass(frozen=True)
class PublicFile:
    """A file, where it lies in the toolkit's repository, and what it holds."""

    name: str
    sha256: str
    origin: str
    what: str


@dataclass(frozen=True)
class Group:
    """48 consecutive channels of MicroBooNE. header: its array in the toolkit's tests."""

    name: str
    first: int
    header: str

    @property
    def channels(self) -> np.ndarray:
        """Return the channel ids (48,)."""
        return np.arange(self.first, self.first + GROUP_CHANNELS, dtype=np.int32)

    def file(self, sha256: str) -> PublicFile:
        """Return the file of the array."""
        what = f"MicroBooNE run {RUN}: raw ADC of channels {self.first} to {self.channels[-1]}, {TICKS} ticks of {TICK_NS:g} ns"
        return PublicFile(self.header, sha256, f"sigproc/test/{self.header}", what)


NOISY = Group("noisy", 624, "example-noisy-48.h")
CHIRPING = Group("chirping", 720, "example-chirping-48.h")
RCRC = Group("rcrc", 7728, "example-rcrc-48.h")
GROUPS = (NOISY, CHIRPING, RCRC)
MISCONFIGURED = Group("misconfigured", 2016, "example-misconfig-48.h")  # may be absent

MICROBOONE = PublicFile(
    "microboone-run3493-raw.npz",
    "d4bcdb1c92dbe9caacd51c11fa50c16fb3f99bd646cf50ff72cda149fb429271",
    "sigproc/test/example-{noisy,chirping,rcrc}-48.h",
    "MicroBooNE run 3493: raw ADC of channels 624 to 671 and 720 to 767 (U) and 7728 to 7775 (W), 9594 ticks of 500 ns",
)
HEADERS = (
    NOISY.file("d0d11f190267892f1a19260abd02eaa69b4a0d69af4abfc7bdd658f0e65111e9"),
    CHIRPING.file("c15ccd1cecf67c8604ffe523a98f7269771e499f2f529907279f22b85e6f5501"),
    RCRC.file("91dbe3069bdab3eee33cdd5918848803e4657d65e99aa29de3a5b9a718e07ebc"),
)
MISCONFIGURED_HEADER = MISCONFIGURED.file("9721549573b0f5339c96fe7ead1f28c03cd17a3afd8cb24e192229a9e9ca029c")
PDHD = PublicFile(
    "protodunehd-sp-frames-anode1.tar.bz2",
    "a2583fdcb84e96ae7e532303f6f7dc2f77f1610caf27f1ecd9db2dae11dc1943",
    "sigproc/test/data/protodunehd-sp-frames-anode1.tar.bz2",
    "ProtoDUNE-HD run 27409, event 40896, anode 1: charge found by the Wire-Cell Toolkit (noise filter, OmnibusSigProc, L1SPFilterPD)",
)
PDVD = PublicFile(
    "protodunevd-sp-frames-anode0.tar.bz2",
    "397bf44293bf0de75b61b209e910a78c6e51674faf72d857c8674c34698c305b",
    "sigproc/test/data/protodunevd-sp-frames-anode0.tar.bz2",
    "ProtoDUNE-VD run 39324, event 339850, anode 0: charge found by the same programs",
)
PDVD_TOP = PublicFile(
    "protodunevd-sp-frames-anode7.tar.bz2",
    "df25f999fe97eaa07eee15b0991ddd7b5e1be6cdb2bea75742228feb7bfb6493",
    "sigproc/test/data/protodunevd-sp-frames-anode7.tar.bz2",
    "ProtoDUNE-VD run 39324, event 339850, anode 7: the same",
)
FILES = (MICROBOONE, *HEADERS, MISCONFIGURED_HEADER, PDHD, PDVD, PDVD_TOP)
VD_FRAMES = "protodunevd-sp-frames-anode*.tar.bz2"


@dataclass(frozen=True)
class Folder:
    """The folder of the command; files may also lie in its folder `data`."""

    path: Path

    def find(self, name: str) -> Path | None:
        """Return the path of a file, or None."""
        paths = (self.path / name, self.path / "data" / name)
        return next((path for path in paths if path.is_file()), None)

    def need(self, name: str) -> Path:
        """Return the path of a file. Raise DataMissing if it is absent."""
        found = self.find(name)
        if found is None:
            raise DataMissing(f"{name} is not in {self.path}")
        return found

    def every(self, pattern: str) -> list[Path]:
        """Return the files that match a pattern, by name."""
        found = [*self.path.glob(pattern), *(self.path / "data").glob(pattern)]
        return sorted(found, key=lambda path: path.name)

    def is_published(self, file: PublicFile) -> bool | None:
        """Return whether the file has the checksum above; None if it is absent."""
        found = self.find(file.name)
        return None if found is None else hashlib.sha256(found.read_bytes()).hexdigest() == file.sha256

    def files(self) -> tuple[PublicFile, ...]:
        """Return the files that the studies read: the headers of GROUPS only without the file MICROBOONE."""
        unread = HEADERS if self.find(MICROBOONE.name) else (MICROBOONE,)
        return tuple(file for file in FILES if file not in unread)

    def microboone(self, group: Group) -> np.ndarray:
        """Return the raw samples (48, 9594) int16 [ADC] of a group. Raise DataMissing if they are absent."""
        path = self.find(MICROBOONE.name)
        if path is not None and group in GROUPS:
            return np.asarray(next(read_frames(path)).only().rows(group.channels))
        header = self.find(group.header)
        if header is None:
            absent = (
                f"neither {MICROBOONE.name} nor {group.header} is"
                if group in GROUPS
                else f"{group.header} is not"
            )
            raise DataMissing(f"{absent} in {self.path}")
        return read_initialisers(header)


def read_initialisers(path: Path) -> np.ndarray:
    """Return the waveforms of a C++ source with one braced list of numbers for each channel: (48, 9594) int16 [ADC].

    @throws DataMissing for another count of channels or ticks
    """
    lists = re.findall(r"=\s*\{([^{}]*)\}", path.read_text(encoding="utf-8"))
    rows = [np.array(text.replace(",", " ").split(), dtype=np.float64) for text in lists]
    if len(rows) != GROUP_CHANNELS or {len(row) for row in rows} != {TICKS}:
        raise DataMissing(f"{path} has {len(rows)} lists of numbers, expected {GROUP_CHANNELS} of {TICKS}")
    return np.stack(rows).astype(np.int16)


def raw_frame(rows: dict[int, np.ndarray], ident: int = RUN, tick_ns: float = TICK_NS) -> Frame:
    """Return a frame of raw waveforms. rows: first channel -> (channel, tick) [ADC] of consecutive channels."""
    channels = np.concatenate([np.arange(first, first + len(part)) for first, part in rows.items()])
    traces = Traces("*", np.concatenate(list(rows.values())), channels.astype(np.int32), tick_ns)
    return Frame({"*": traces}, ident)
